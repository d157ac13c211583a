"""`import jumar`: devices, streams, events, arrays, graphs, errors."""

import array as array_module
import asyncio
import ctypes
import gc
import pickle
import sys
import threading

import numpy as np
import pytest

import acl
import jumar

DTYPES = ["float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]


def values(dtype, shape=(3, 4)):
    rng = np.random.default_rng(7)
    return (rng.standard_normal(shape) * 50).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_go_to_the_device_and_back(dtype):
    source = values(dtype)
    host = jumar.array(source)
    assert (host.shape, host.dtype, host.nbytes) == (source.shape, dtype, source.nbytes)
    assert np.array_equal(host.to_device().numpy(), source)
    assert host.tolist() == source.tolist()


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (5, 1, 7)])
def test_shapes_of_every_kind(shape):
    source = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    host = jumar.array(source)
    assert host.shape == shape
    assert host.tolist() == source.tolist()
    assert host.to_device().to_host().numpy().shape == shape


def test_array_interface_shares_memory_and_keeps_it_alive():
    host = jumar.zeros((2, 3))
    view = np.asarray(host)
    view[1, 2] = 5
    assert host.tolist()[1][2] == 5
    del host
    gc.collect()
    again = jumar.zeros((2, 3))
    assert view[1, 2] == 5 and again.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_dlpack_shares_memory_both_ways():
    host = jumar.array([[1.0, 2.0], [3.0, 4.0]])
    view = np.from_dlpack(host)
    host.memoryview()[0, 0] = 9.0
    assert view[0, 0] == 9.0

    class Exporter:
        def __init__(self, inner):
            self.inner = inner

        def __dlpack__(self, **_):
            return self.inner.__dlpack__()

        def __dlpack_device__(self):
            return self.inner.__dlpack_device__()

    assert jumar.array(Exporter(values("int32"))).tolist() == values("int32").tolist()
    with pytest.raises(ValueError, match="contiguous"):
        jumar.array(Exporter(values("int32").T))


def test_a_capsule_that_nobody_takes_gives_its_memory_back():
    from jumar import _dlpack

    gc.collect()
    before = len(_dlpack._out)
    for _ in range(10):
        jumar.zeros(4).__dlpack__()
    gc.collect()
    assert len(_dlpack._out) == before


def test_the_buffer_protocol():
    host = jumar.array([[1, 2, 3]])
    view = host.memoryview()
    assert (view.format, view.shape, view.readonly) == ("q", (1, 3), False)
    if sys.version_info >= (3, 11):
        assert bytes(host) == bytes(view)
        held = memoryview(host)
        del host
        gc.collect()
        held[0, 0] = 7
        assert held.tolist() == [[7, 2, 3]]
    assert jumar.array(array_module.array("d", [1.5, 2.5])).tolist() == [1.5, 2.5]
    assert jumar.array(b"ab").tolist() == [97, 98]


def test_what_is_no_array_is_refused_with_a_reason():
    with pytest.raises(ValueError, match="different lengths"):
        jumar.array([[1, 2], [3]])
    with pytest.raises(TypeError, match="or a number"):
        jumar.array(["a"])
    with pytest.raises(TypeError, match="float64, not float32"):
        jumar.array(np.zeros(3), "float32")
    with pytest.raises(TypeError, match="not an element type"):
        jumar.zeros(3, "complex256")
    with pytest.raises(ValueError, match="negative"):
        jumar.zeros((2, -1))
    with pytest.raises(ValueError, match="does not fit into uint8"):
        jumar.array([300], "uint8")
    with pytest.raises(TypeError):
        jumar.array(np.array(["x"]))


def test_bfloat16_travels_as_opaque_elements():
    bits = np.array([0x3F80, 0x4000], np.uint16)
    host = jumar.array(bits, "bfloat16")
    assert (host.dtype, host.nbytes) == ("bfloat16", 4)
    assert bytes(host.to_device().to_host().memoryview()) == bits.tobytes()
    with pytest.raises(TypeError, match="bfloat16"):
        host.tolist()


def test_a_closed_array_says_so():
    host = jumar.zeros(2)
    host.close()
    host.close()
    with pytest.raises(ValueError, match="closed"):
        host.memoryview()
    assert "closed" in repr(host)


def test_streams_events_and_time():
    with jumar.Stream() as first, jumar.Stream(priority=3) as second:
        start = first.record()
        pinned = jumar.array(values("float32", (1000,)))
        on_device = pinned.to_device(first)
        ready = first.record()
        second.wait(ready)
        back = on_device.to_host(second)
        second.synchronize(timeout=10.0)
        assert ready.done
        assert np.array_equal(back.numpy(), pinned.numpy())
        assert ready.elapsed(start) >= 0
    assert first.closed and second.closed


class Gate:
    """Holds streams until it is opened: an event that is a level, for which streams can wait before it is recorded."""

    def __init__(self):
        self.handle, code = acl.rt.create_event_with_flag(1)
        assert code == 0

    def hold(self, stream):
        assert acl.rt.stream_wait_event(stream.handle, self.handle) == 0

    def open(self, stream):
        assert acl.rt.record_event(self.handle, stream.handle) == 0


def test_an_event_recorded_again_stands_for_the_newer_record():
    gate, event = Gate(), jumar.Event()
    with jumar.Stream() as opener, jumar.Stream() as held, jumar.Stream() as waiting:
        opener.record(event)
        opener.synchronize(timeout=10.0)
        gate.hold(held)
        held.record(event)
        waiting.wait(event)
        with pytest.raises(jumar.WaitTimeoutError):
            waiting.synchronize(timeout=0.01)
        gate.open(opener)
        waiting.synchronize(timeout=10.0)


def test_a_wait_with_a_limit_ends():
    gate = Gate()
    with jumar.Stream() as opener, jumar.Stream() as held:
        gate.hold(held)
        with pytest.raises(jumar.WaitTimeoutError) as caught:
            held.synchronize(timeout=0.01)
        assert isinstance(caught.value, TimeoutError)
        gate.open(opener)
        held.synchronize(timeout=10.0)


def test_devices_and_contexts():
    device = jumar.Device(0)
    assert jumar.current_device() == device
    free, total = device.memory()
    assert 0 < free <= total
    outer, _ = acl.rt.get_context()
    context = jumar.Context()
    with context:
        inner, _ = acl.rt.get_context()
        assert inner == context.handle != outer
        stream = jumar.Stream()
    assert acl.rt.get_context()[0] == outer
    # A stream knows its own context.
    stream.record().synchronize()
    stream.close()
    context.close()
    with pytest.raises(IndexError, match="device 99 does not exist"):
        jumar.Device(99)


def test_an_argument_of_another_type_is_named_in_a_note():
    if sys.version_info < (3, 11):
        pytest.skip("exceptions have notes from Python 3.11 on")
    for arguments, note in (
        ((16, "huge"), "argument 2 (policy) is 'huge', of type str, and cannot be converted to the type of the parameter"),
        (([16], 0), "argument 1 (size) is of type list, and cannot be converted to the type of the parameter"),
        ((16,), "it takes 2 arguments, and 1 was given"),
    ):
        with pytest.raises(TypeError, match="^acl.rt.malloc args parse failed(\n|$)") as caught:
            acl.rt.malloc(*arguments)
        assert str(caught.value) == "acl.rt.malloc args parse failed"
        assert caught.value.__notes__ == [note]


def test_errors_name_code_kind_and_fix():
    with pytest.raises(jumar.OutOfMemoryError) as caught:
        jumar.DeviceArray((1 << 50,), "uint8")
    error = caught.value
    assert isinstance(error, MemoryError)
    assert (error.code, error.kind, error.function) == (207001, "ACL_ERROR_RT_MEMORY_ALLOCATION", "acl.rt.malloc")
    assert error.fix and error.fix in str(error)
    assert str(error).splitlines()[0].startswith("aclrtMalloc: ")


def test_a_device_error_of_the_module_acl_is_the_same_runtime():
    stream = jumar.Stream()
    assert acl.rt.synchronize_stream(stream.handle) == 0
    assert acl.rt.destroy_stream(stream.handle) == 0
    with pytest.raises(jumar.InvalidValueError) as caught:
        stream.synchronize()
    error = caught.value
    assert error.code == 107017
    assert error.object == f"stream {stream.handle:#x}" and error.object.removeprefix("stream ") in error.sentence
    # The text goes with the exception.
    assert acl.get_recent_err_msg() is None
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.sentence, copy.object, copy.fix, str(copy)) == (error.sentence, error.object, error.fix, str(error))
    with pytest.raises(jumar.Error):
        stream.close()


def test_an_error_is_not_taken_from_its_text(tmp_path):
    # A sentence that looks like the lines below it.
    name = tmp_path / "a. Code: 5 (FIVE) Solution: none.om"
    name.write_bytes(b"not a model")
    with pytest.raises(jumar.Error) as caught:
        jumar.load(name)
    error = caught.value
    assert error.kind.startswith("ACL_ERROR_") and error.kind != "FIVE"
    assert not error.fix.startswith("none")


def test_a_graph_is_captured_once_and_launched_often():
    source = jumar.array(values("float32", (64,)))
    target = jumar.DeviceArray((64,))
    with jumar.Stream() as stream:
        with jumar.Graph.capture(stream) as graph:
            target.copy_from(source, stream)
        for number in range(3):
            np.asarray(source)[:] = number
            graph.launch()
            stream.synchronize()
            assert set(target.tolist()) == {number}
        graph.close()


def test_a_failed_capture_leaves_the_stream_usable():
    with jumar.Stream() as stream:
        with pytest.raises(KeyError):
            with jumar.Graph.capture(stream):
                raise KeyError("the program's own")
        stream.record().synchronize()
    with pytest.raises(ValueError, match="not a capture mode"):
        jumar.Graph.capture(stream, "sometimes")


def test_an_exception_of_the_program_is_not_replaced_by_one_of_the_end_of_its_block():
    class Own(Exception):
        pass

    class Run:
        released = 0

        def release(self):
            Run.released += 1
            raise ValueError("the memory is gone already")

    stream = jumar.Stream()
    with pytest.raises(Own):
        with jumar.Graph.capture(stream) as graph:
            graph._runs += [Run(), Run()]
            raise Own
    assert Run.released == 2
    stream.record().synchronize()
    # A stream cannot be closed while it is captured; that it is refused is the exception of the block.
    with pytest.raises(ValueError, match="the stream is being captured"):
        with jumar.Graph.capture(stream):
            stream.close()
    stream.record().synchronize()
    # A stream cannot be closed whose handle the program has destroyed.
    stream = jumar.Stream()
    with pytest.raises(Own):
        with stream:
            assert acl.rt.destroy_stream(stream.handle) == 0
            raise Own


def test_forgotten_objects_are_released():
    gc.collect()
    before = jumar.Device(0).memory()[0]
    for _ in range(20):
        block = jumar.DeviceArray((1 << 20,), "uint8")
        jumar.Stream().record()
        del block
    gc.collect()
    assert jumar.Device(0).memory()[0] == before


def test_memory_of_forgotten_arrays_stays_until_the_stream_has_used_it():
    gate = Gate()
    with jumar.Stream() as opener, jumar.Stream() as held:
        gate.hold(held)
        # Both arrays between are forgotten before anything of it has run.
        back = jumar.array(np.full(256, 7.0, np.float32)).to_device(held).to_host(held)
        for _ in range(8):
            jumar.array(np.zeros(256, np.float32)).to_device()
        gate.open(opener)
        held.synchronize(timeout=10.0)
        assert set(back.tolist()) == {7.0}
        assert not held._deferred


def test_no_reference_is_left_behind():
    source = values("float32", (16,))

    def once():
        with jumar.Stream() as stream:
            on_device = jumar.array(source).to_device(stream)
            on_device.to_host(stream)
            stream.record().synchronize()
            stream.synchronize()
        np.from_dlpack(jumar.array([1.0]))
        try:
            jumar.DeviceArray((1 << 50,), "uint8")
        except jumar.Error:
            pass

    for _ in range(20):
        once()
    gc.collect()
    counts = sys.getrefcount(source), len(gc.get_objects())
    for _ in range(200):
        once()
    gc.collect()
    # A handful of objects come and go in the interpreter's own caches.
    assert sys.getrefcount(source) == counts[0]
    assert len(gc.get_objects()) - counts[1] < 50


def test_sixteen_threads_with_streams_and_callbacks():
    problems = []
    turning = True

    def report(_):
        while turning:
            acl.rt.process_report(10)

    def work(number):
        try:
            device = jumar.Device(0).use()
            with jumar.Stream() as stream:
                thread, code = acl.util.start_thread(report, [number])
                assert code == 0
                assert acl.rt.subscribe_report(thread, stream.handle) == 0
                called = []
                for turn in range(30):
                    wanted = np.full(256, number * 1000 + turn, np.float32)
                    host = jumar.array(wanted)
                    back = host.to_device(stream).to_host(stream)
                    assert acl.rt.launch_callback(called.append, turn, 1, stream.handle) == 0
                    stream.synchronize()
                    assert np.array_equal(back.numpy(), wanted)
                assert called == list(range(30))
                assert acl.rt.unsubscribe_report(thread, stream.handle) == 0
            assert device.number == 0
        except BaseException as problem:  # noqa: BLE001 - reported by the test's thread
            problems.append((number, repr(problem)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    turning = False
    assert not problems
    assert not any(thread.is_alive() for thread in threads)


def test_pretty_printing_for_notebooks():
    assert "Ascend" in jumar.Device(0)._repr_html_()
    assert "pinned" in jumar.zeros((2, 2))._repr_html_()
    assert repr(jumar.array([1.0, 2.0])) == "<jumar.Array float32 (2,) [1.0, 2.0]>"


def test_the_timeline_of_a_program(tmp_path, run_python):
    script = """
import jumar, sys
timeline = jumar.trace(sys.argv[1])
with jumar.Stream() as stream:
    jumar.array([1.0] * 1000).to_device(stream)
    stream.synchronize()
names = [slice.name for slice in timeline.slices() if slice.track.startswith("device 0")]
image = timeline._repr_html_()
assert image.startswith("<svg") and "host to device" in image
print(names)
try:
    jumar.trace()
except RuntimeError as error:
    print(error)
"""
    printed = run_python(script, tmp_path / "t.json")
    assert "copy host to device" in printed
    assert "has to come before" in printed


def test_waiting_leaves_other_threads_running():
    gate = Gate()
    turns = []
    with jumar.Stream() as opener, jumar.Stream() as held:
        gate.hold(held)

        def open_later():
            jumar.Device(0).use()
            for turn in range(1000):
                turns.append(turn)
            gate.open(opener)

        thread = threading.Thread(target=open_later)
        thread.start()
        held.synchronize(timeout=30.0)
        thread.join()
    assert len(turns) == 1000


def test_the_interpreter_may_end_with_everything_alive(run_python):
    script = """
import jumar
stream = jumar.Stream()
host = jumar.array([1.0] * 100000)
device = host.to_device(stream)
event = stream.record()
context = jumar.Context()
print("end")
"""
    assert run_python(script) == "end"


def test_addresses_are_those_of_the_module_acl():
    host = jumar.array([1, 2, 3], "int32")
    assert (ctypes.c_int32 * 3).from_address(host.address)[1] == 2
    assert asyncio.iscoroutinefunction(jumar.load) is False
