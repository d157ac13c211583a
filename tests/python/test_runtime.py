"""The module over the real library: what programs do with it, and what they do wrong."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy
import pytest

import acl
from fake import build

H2H, H2D, D2H, D2D = range(4)
SUCCESS = 0
INVALID_HANDLE = 107001


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """What a call leaves in the folder that the program runs in, as profiles are, stays with the test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def context(device):
    context, ret = acl.rt.create_context(device)
    assert ret == SUCCESS
    yield context
    assert acl.rt.destroy_context(context) == SUCCESS
    assert acl.rt.set_device(device) == SUCCESS


@pytest.fixture
def stream(context):
    stream, ret = acl.rt.create_stream()
    assert ret == SUCCESS
    yield stream
    assert acl.rt.destroy_stream(stream) == SUCCESS


class Memory:
    """Some device memory."""

    def __init__(self, size):
        self.size = size
        self.pointer, ret = acl.rt.malloc(size, 0)
        assert ret == SUCCESS

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert acl.rt.free(self.pointer) == SUCCESS

    def write(self, data):
        assert acl.rt.memcpy(self.pointer, self.size, acl.util.bytes_to_ptr(data), len(data), H2D) == SUCCESS

    def read(self):
        data = bytes(self.size)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), self.size, self.pointer, self.size, D2H) == SUCCESS
        return data


def test_a_device_and_its_memory(context):
    assert acl.rt.get_device() == (0, SUCCESS)
    assert acl.rt.get_context() == (context, SUCCESS)
    assert acl.rt.get_run_mode() == (1, SUCCESS)
    count, ret = acl.rt.get_device_count()
    assert ret == SUCCESS and count >= 1
    assert acl.get_soc_name().startswith("Ascend")
    free, total, ret = acl.rt.get_mem_info(1)
    assert ret == SUCCESS and 0 < free <= total


def test_bytes_are_copied_there_and_back_and_written_where_they_lie(context):
    with Memory(1000) as memory:
        data = bytes(i * 7 % 256 for i in range(1000))
        memory.write(data)
        assert memory.read() == data


def test_interior_pointers(context):
    with Memory(64) as memory:
        memory.write(bytes(64))
        assert acl.rt.memset(memory.pointer + 16, 48, 0xAB, 8) == SUCCESS
        assert memory.read() == bytes(16) + b"\xab" * 8 + bytes(40)


def test_arrays_and_their_addresses(context):
    source = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
    target = numpy.empty_like(source)
    with Memory(source.nbytes) as memory:
        with pytest.warns(Warning):
            pointer = acl.util.numpy_to_ptr(source)
        assert acl.rt.memcpy(memory.pointer, source.nbytes, pointer, source.nbytes, H2D) == SUCCESS
        assert acl.rt.memcpy(target.ctypes.data, target.nbytes, memory.pointer, target.nbytes, D2H) == SUCCESS
    assert (source == target).all()


def test_host_memory_as_an_array(context):
    pointer, ret = acl.rt.malloc_host(64)
    assert ret == SUCCESS and pointer % 64 == 0
    with pytest.warns(Warning):
        view = acl.util.ptr_to_numpy(pointer, (4, 4), 11)
    view[:] = 2.5
    assert acl.util.ptr_to_bytes(pointer, 64) == numpy.full(16, 2.5, dtype=numpy.float32).tobytes()
    del view
    assert acl.rt.free_host(pointer) == SUCCESS


def test_asynchronous_copies_on_a_stream(stream):
    host, ret = acl.rt.malloc_host(4096)
    assert ret == SUCCESS
    data = bytes(i * 11 % 256 for i in range(4096))
    ctypes.memmove(host, data, 4096)
    with Memory(4096) as memory:
        assert acl.rt.memcpy_async(memory.pointer, 4096, host, 4096, H2D, stream) == SUCCESS
        assert acl.rt.memset_async(memory.pointer, 4096, 7, 16, stream) == SUCCESS
        assert acl.rt.synchronize_stream(stream) == SUCCESS
        assert memory.read() == b"\x07" * 16 + data[16:]
    assert acl.rt.free_host(host) == SUCCESS


def test_events_order_streams(context, stream):
    other, ret = acl.rt.create_stream()
    assert ret == SUCCESS
    event, ret = acl.rt.create_event()
    assert ret == SUCCESS
    with Memory(64) as memory:
        assert acl.rt.memset_async(memory.pointer, 64, 1, 64, stream) == SUCCESS
        assert acl.rt.record_event(event, stream) == SUCCESS
        assert acl.rt.stream_wait_event(other, event) == SUCCESS
        assert acl.rt.memset_async(memory.pointer, 64, 2, 64, other) == SUCCESS
        assert acl.rt.synchronize_stream(other) == SUCCESS
        assert acl.rt.synchronize_event(event) == SUCCESS
        status, ret = acl.rt.query_event_status(event)
        assert (status, ret) == (1, SUCCESS)
        assert memory.read() == b"\x02" * 64
    assert acl.rt.destroy_event(event) == SUCCESS
    assert acl.rt.destroy_stream(other) == SUCCESS


@pytest.fixture
def reports(context):
    stop = threading.Event()

    def loop(arguments):
        assert acl.rt.set_context(arguments[0]) == SUCCESS
        while not stop.is_set():
            acl.rt.process_report(20)

    number, ret = acl.util.start_thread(loop, [context])
    assert ret == SUCCESS
    yield number
    stop.set()
    assert acl.util.stop_thread(number) == SUCCESS


def test_callbacks_in_the_order_of_the_samples(stream, reports):
    seen = []
    data = [1, 2]

    def callback(given):
        seen.append((given is data, threading.get_ident() == reports))

    assert acl.rt.subscribe_report(reports, stream) == SUCCESS
    for block in (1, 0, 1):
        assert acl.rt.launch_callback(callback, data, block, stream) == SUCCESS
    assert acl.rt.synchronize_stream(stream) == SUCCESS
    assert acl.rt.unsubscribe_report(reports, stream) == SUCCESS
    assert seen == [(True, True)] * 3


def test_a_callback_may_block_the_tasks_behind_it(stream, reports):
    with Memory(4) as memory:
        memory.write(b"aaaa")
        seen = []

        def callback(given):
            assert acl.rt.set_context(acl.rt.get_context()[0]) == SUCCESS
            seen.append(memory.read())

        assert acl.rt.subscribe_report(reports, stream) == SUCCESS
        assert acl.rt.launch_callback(callback, None, 1, stream) == SUCCESS
        assert acl.rt.memset_async(memory.pointer, 4, ord("b"), 4, stream) == SUCCESS
        assert acl.rt.synchronize_stream(stream) == SUCCESS
        assert acl.rt.unsubscribe_report(reports, stream) == SUCCESS
        assert seen == [b"aaaa"]
        assert memory.read() == b"bbbb"


def test_callbacks_are_released(stream, reports):
    class Data:
        pass

    data = Data()
    gone = weakref.ref(data)
    assert acl.rt.launch_callback(lambda given: None, data, 0, stream) == 107015  # no thread is subscribed
    assert acl.rt.subscribe_report(reports, stream) == SUCCESS
    assert acl.rt.launch_callback(lambda given: None, data, 1, stream) == SUCCESS
    assert acl.rt.synchronize_stream(stream) == SUCCESS
    assert acl.rt.unsubscribe_report(reports, stream) == SUCCESS
    del data
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("block", [0, 1])
def test_callbacks_of_a_stream_that_is_destroyed_by_force_are_released(block):
    class Data:
        pass

    stream, ret = acl.rt.create_stream()
    assert ret == SUCCESS
    # No thread with this number processes reports, so that the callbacks never run.
    assert acl.rt.subscribe_report(1, stream) == SUCCESS
    seen, gone = [], []
    for _ in range(5):
        data = Data()
        gone.append(weakref.ref(data))
        assert acl.rt.launch_callback(seen.append, data, block, stream) == SUCCESS
    del data
    assert acl.rt.destroy_stream_force(stream) == SUCCESS
    # A worker drops the last tasks of the stream at a moment of its own.
    for _ in range(100_000):
        if not any(one() for one in gone):
            break
        assert acl.rt.synchronize_device() == SUCCESS
    assert [one() for one in gone] == [None] * 5
    assert seen == []


def test_many_threads_share_the_device(context):
    failures = []

    def body(arguments):
        seed, = arguments
        failures.append(acl.rt.set_context(context))
        stream, ret = acl.rt.create_stream()
        failures.append(ret)
        data = bytes([seed]) * 512
        for _ in range(50):
            pointer, ret = acl.rt.malloc(512, 0)
            failures.append(ret)
            back = bytes(512)
            failures.append(acl.rt.memcpy_async(pointer, 512, acl.util.bytes_to_ptr(data), 512, H2D, stream))
            failures.append(acl.rt.memcpy_async(acl.util.bytes_to_ptr(back), 512, pointer, 512, D2H, stream))
            failures.append(acl.rt.synchronize_stream(stream))
            failures.append(int(back != data))
            failures.append(acl.rt.free(pointer))
        failures.append(acl.rt.destroy_stream(stream))

    threads = [acl.util.start_thread(body, [seed])[0] for seed in range(1, 6)]
    for thread in threads:
        assert acl.util.stop_thread(thread) == SUCCESS
    assert set(failures) == {SUCCESS}


def test_misuse_is_a_code_with_a_sentence(stream):
    with Memory(64) as memory:
        assert acl.rt.memcpy(memory.pointer, 64, acl.util.bytes_to_ptr(bytes(65)), 65, H2D) != SUCCESS
        assert "aclrtMemcpy" in acl.get_recent_err_msg()
        pointer = memory.pointer
    assert acl.rt.free(pointer) != SUCCESS
    assert acl.rt.malloc(0, 0)[0] == 0
    assert acl.rt.malloc(-1, 0)[0] == 0
    for call in (acl.rt.synchronize_stream, acl.rt.destroy_stream, acl.rt.destroy_event, acl.rt.destroy_context):
        for handle in (-1, 12345, id(object)):
            assert call(handle) != SUCCESS
    assert acl.destroy_data_buffer(stream) != SUCCESS
    with pytest.raises(TypeError):
        acl.destroy_data_buffer(None)


def test_tensor_descriptions(device):
    desc = acl.create_tensor_desc(0, [2, 3, 4], 2)
    assert desc != 0
    assert acl.get_tensor_desc_num_dims(desc) == 3
    assert acl.get_tensor_desc_dim_v2(desc, 1) == (3, SUCCESS)
    assert acl.get_tensor_desc_element_count(desc) == 24
    assert acl.get_tensor_desc_size(desc) == 96
    assert acl.get_tensor_desc_type(desc) == 0
    assert acl.get_tensor_desc_format(desc) == 2
    acl.set_tensor_desc_name(desc, "größe")
    assert acl.get_tensor_desc_name(desc) == "größe"
    assert acl.destroy_tensor_desc(desc) is None
    assert acl.data_type_size(0) == 4
    assert acl.float16_to_float(0x3C00) == 1.0
    assert acl.float_to_float16(1.0) == 0x3C00


def test_data_buffers_and_datasets(device):
    buffer = acl.create_data_buffer(0x1000, 64)
    assert acl.get_data_buffer_addr(buffer) == 0x1000
    assert acl.get_data_buffer_size(buffer) == acl.get_data_buffer_size_v2(buffer) == 64
    assert acl.update_data_buffer(buffer, 0x2000, 32) == SUCCESS
    assert (acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size(buffer)) == (0x2000, 32)
    dataset = acl.mdl.create_dataset()
    assert acl.mdl.add_dataset_buffer(dataset, buffer) == (dataset, SUCCESS)
    assert acl.mdl.get_dataset_num_buffers(dataset) == 1
    assert acl.mdl.get_dataset_buffer(dataset, 0) == buffer
    assert acl.mdl.get_dataset_buffer(dataset, 1) == 0
    assert acl.mdl.get_dataset_buffer(dataset, -1) == 0
    assert acl.mdl.destroy_dataset(dataset) == SUCCESS
    assert acl.destroy_data_buffer(buffer) == SUCCESS


UNFINISHED = """
import acl, threading
assert acl.init() == 0 and acl.rt.set_device(0) == 0
context, ret = acl.rt.create_context(0)
stream, ret = acl.rt.create_stream()
ready = threading.Barrier(3)
def reports():
    acl.rt.set_context(context)
    ready.wait()
    while True: acl.rt.process_report(1)
def works():
    acl.rt.set_context(context)
    stream, ret = acl.rt.create_stream()
    pointer, ret = acl.rt.malloc(1024, 0)
    ready.wait()
    while True:
        acl.rt.memset_async(pointer, 1024, 1, 1024, stream)
        acl.rt.synchronize_stream(stream)
thread, ret = acl.util.start_thread(reports, None)
acl.util.start_thread(works, None)
ready.wait()
assert acl.rt.subscribe_report(thread, stream) == 0
for i in range(200):
    assert acl.rt.launch_callback(lambda given: None, None, i % 2, stream) == 0
"""


def test_a_program_may_end_with_everything_under_way():
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", UNFINISHED], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")


# Calls that end or begin what the others need, or that wait; and those that take addresses of Python alone.
APART = ("acl.init", "acl.finalize", "acl.finalize_reference", "acl.util.", "acl.app_log", "acl.get_recent_err_msg")

ARGUMENTS = {
    "int": 0, "SupportsIndex": 0, "float": 0.0, "str": "", "list[int]": [], "list[float]": [], "list[str]": [],
    "list[list[int]]": [], "dict[str, Any]": {}, "list[dict[str, Any]]": [], "Callable[..., object]": print,
    "Callable[..., object] | None": None, "int | str": 0, "object": None, "dict[str, Any] | None": None,
    "list[list[int]] | None": None,
}
# Dicts that the functions can read.
DICTS = {
    "prop": {"handleType": 0, "allocationType": 0, "memAttr": 0, "location": {"id": 0, "type": 0}, "reserve": 0},
    "dims": {"dimCount": 0, "dims": []},
}


def nulls(params):
    """An argument for each parameter: zero, an empty text or list, and a dict that fits."""
    return [DICTS.get(name, {}) if kind == "dict[str, Any]" else ARGUMENTS[kind] for name, kind, _ in params]


EVERYTHING = """
import sys
import acl
from fake import build
from test_runtime import APART, nulls

def everything():
    for name, (params, _) in sorted(build.stubs().items()):
        if name.startswith(APART):
            continue
        function = acl
        for part in name.split(".")[1:]:
            function = getattr(function, part)
        print(name, file=sys.stderr, flush=True)
        try:
            function(*nulls(params))
        except RuntimeError:
            assert name == "acl.rt.get_group_info_detail", name

everything()
assert acl.init() == 0
assert acl.rt.set_device(0) == 0
everything()
acl.finalize()
everything()
print("done")
"""


def test_every_function_answers_nulls_in_every_state():
    """Before init, with a device, and after finalize: a code or a null, and never a crash."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(build.HERE.parent), os.environ.get("PYTHONPATH", "")]))
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", EVERYTHING], env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout.endswith("done\n")


def unfinished():
    """Functions whose C function the data marks as not implemented, and which return a code."""
    stubs = set()
    for path in sorted((build.ROOT / "api").glob("*.toml")):
        for name, entry in build.tomllib.loads(path.read_text(encoding="utf-8")).items():
            if isinstance(entry, dict) and entry.get("status") == "stub" and entry.get("ret") == "aclError":
                stubs.add(name)
    return sorted(n for n, e in build.called_functions().items() if e.get("c") in stubs and not e.get("unsupported"))


@pytest.mark.parametrize("name", unfinished())
def test_what_is_not_there_yet_says_so(name, device):
    params, _ = build.stubs()[name]
    arguments = nulls(params)
    function = acl
    for part in name.split(".")[1:]:
        function = getattr(function, part)
    while acl.get_recent_err_msg() is not None:
        pass
    if name == "acl.rt.get_group_info_detail":
        with pytest.raises(RuntimeError, match="200001"):
            function(*arguments)
        return
    result = function(*arguments)
    assert (result[-1] if isinstance(result, tuple) else result) == 200001
    assert build.called_functions()[name]["c"] in acl.get_recent_err_msg()
