"""Python functions that C calls."""

import ctypes
import gc
import sys
import threading
import weakref

import pytest

import acl


@pytest.fixture
def reports():
    """Runs process_report in a loop until the test stops it, as every program does."""
    stop = threading.Event()

    def loop(arguments):
        while not stop.is_set():
            acl.rt.process_report(20)

    number, ret = acl.util.start_thread(loop, [])
    assert ret == 0
    yield number
    stop.set()
    assert acl.util.stop_thread(number) == 0


def test_a_callback_gets_the_very_object_on_the_thread_of_the_reports(fake, reports):
    seen = []
    data = ["data"]

    def callback(given):
        given.append("changed")
        seen.append((given is data, threading.get_ident()))

    assert acl.rt.subscribe_report(reports, 7) == 0
    assert acl.rt.launch_callback(callback, data, 1, 7) == 0
    assert fake.arguments == [1, 7]
    assert acl.rt.synchronize_stream(7) == 0
    assert seen == [(True, reports)]
    assert data == ["data", "changed"]
    assert acl.rt.unsubscribe_report(reports, 7) == 0


def test_a_callback_that_is_called_again_runs_once_and_says_so(fake, reports, monkeypatch):
    seen, said = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: said.append(str(error.exc_value)))
    repeats = ctypes.c_int.in_dll(fake.library, "fake_repeats")
    repeats.value = 3
    try:
        assert acl.rt.launch_callback(seen.append, "data", 1, 7) == 0
    finally:
        repeats.value = 1
    assert acl.rt.synchronize_stream(7) == 0
    assert seen == ["data"]
    assert len(said) == 2 and "called again" in said[0]


WAITING = {
    "synchronize_stream": lambda: acl.rt.synchronize_stream(1),
    "synchronize_device": lambda: acl.rt.synchronize_device(),
    "synchronize_event": lambda: acl.rt.synchronize_event(1),
    "destroy_stream": lambda: acl.rt.destroy_stream(1),
    "reset_device": lambda: acl.rt.reset_device(0),
    "finalize": lambda: acl.finalize(),
    "unload": lambda: acl.mdl.unload(1),
    "execute": lambda: acl.mdl.execute(1, 2, 3),
    "execute_async": lambda: acl.mdl.execute_async(1, 2, 3, 4),
    "memcpy_async": lambda: acl.rt.memcpy_async(1, 2, 3, 4, 5, 6),
    "record_event": lambda: acl.rt.record_event(1, 2),
    "stream_wait_event": lambda: acl.rt.stream_wait_event(1, 2),
}


@pytest.mark.parametrize("call", WAITING.values(), ids=WAITING)
def test_a_call_that_waits_lets_callbacks_run(fake, reports, call):
    # With the interpreter held, the call would wait for the callback and the callback for the interpreter.
    seen = []
    for number in range(5):
        assert acl.rt.launch_callback(seen.append, number, 0, 1) == 0
    assert call() == 0
    assert seen == [0, 1, 2, 3, 4]


def test_an_exception_in_a_callback_ends_with_it(fake, reports, monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: shown.append(args.exc_value))

    def callback(given):
        raise ValueError(given)

    assert acl.rt.launch_callback(callback, "why", 1, 1) == 0
    assert acl.rt.launch_callback(shown.append, "next", 1, 1) == 0
    assert acl.rt.synchronize_stream(1) == 0
    assert [str(s) for s in shown] == ["why", "next"]


def test_what_is_no_function_is_refused(fake):
    with pytest.raises(TypeError, match="^acl.rt.launch_callback args parse failed(\n|$)"):
        acl.rt.launch_callback(1, [], 0, 1)
    assert fake.name == ""


class Data:
    pass


@pytest.mark.parametrize("code", [0, 107015])
def test_a_callback_is_released_when_it_has_run_or_was_refused(fake, reports, code):
    data = Data()
    gone = weakref.ref(data)
    functions = [lambda given: None]
    function_gone = weakref.ref(functions[0])
    fake.answer(code)
    assert acl.rt.launch_callback(functions[0], data, 0, 1) == code
    fake.answer(0)
    del data
    functions.clear()
    acl.rt.synchronize_stream(1)
    gc.collect()
    assert gone() is None and function_gone() is None


def test_calls_from_within_a_callback(fake, reports):
    seen = []

    def callback(given):
        seen.append(acl.rt.memset(1, 2, 3, 4))
        seen.append(acl.rt.launch_callback(seen.append, "inner", 0, 1))

    assert acl.rt.launch_callback(callback, None, 0, 1) == 0
    assert acl.rt.synchronize_stream(1) == 0
    assert seen == [0, 0, "inner"]


def test_exception_info(fake, monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: shown.append(str(args.exc_value)))
    seen = []
    assert acl.rt.set_exception_info_callback(seen.append) == 0
    assert fake.arguments == [1]
    fake.exception(0x99)
    assert seen == [0x99]

    def raising(info):
        seen.append("raised")
        raise ValueError("why")

    assert acl.rt.set_exception_info_callback(raising) == 0  # the last one wins
    fake.exception(1)
    fake.exception(2)  # one that raised is not called again
    assert seen == [0x99, "raised"] and shown == ["why"]
    assert acl.rt.set_exception_info_callback(seen.append) == 0
    assert acl.rt.set_exception_info_callback(None) == 0
    assert fake.arguments == [0]
    fake.exception(3)
    assert acl.rt.set_exception_info_callback() == 0
    assert fake.arguments == [0]
    assert seen == [0x99, "raised"]
    with pytest.raises(TypeError, match="^acl.rt.set_exception_info_callback args parse failed(\n|$)"):
        acl.rt.set_exception_info_callback(1)


def test_the_exception_callback_stays_when_another_is_refused(fake):
    seen = []
    assert acl.rt.set_exception_info_callback(seen.append) == 0
    fake.answer(5)
    assert acl.rt.set_exception_info_callback(print) == 5
    fake.answer(0)
    fake.exception(4)
    assert seen == [4]
    acl.rt.set_exception_info_callback(None)


def test_dump_chunks(fake, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda args: None)
    seen = []

    def callback(chunk):
        seen.append(dict(chunk, data=acl.util.ptr_to_bytes(chunk.pop("data_buf"), chunk["buf_len"])))
        return "ignored"

    assert acl.mdl.dump_reg_callback(callback, 3) == 0
    assert fake.arguments == [3]
    assert fake.dump() == 0
    assert seen[0].pop("data_buf", 0) is not None
    assert {key: seen[0][key] for key in ("file_name", "buf_len", "is_last_chunk", "offset", "flag", "data")} == {
        "file_name": "dump/layer.bin", "buf_len": 5, "is_last_chunk": 1, "offset": 70, "flag": 3, "data": b"12345"}
    assert acl.mdl.dump_reg_callback(lambda chunk: 1 / 0, 3) == 0
    assert fake.dump() == -1
    assert acl.mdl.dump_unreg_callback() is None
    assert fake.dump() == -2


def test_video_frames_carry_any_object(fake, reports):
    seen = []
    done = threading.Event()
    data = Data()

    def decoded(input_desc, output_desc, user_data):
        seen.append((input_desc, output_desc, user_data is data))

    def encoded(input_desc, output_desc, user_data):
        seen.append((input_desc, output_desc, user_data))
        done.set()

    assert acl.media.vdec_set_channel_desc_callback(0x10, decoded) == 0
    assert acl.media.venc_set_channel_desc_callback(0x20, encoded) == 0
    assert acl.media.vdec_send_frame(0x10, 1, 2, 3, data) == 0
    assert fake.arguments == [0x10, 1, 2, 3]
    assert acl.media.venc_send_frame(0x20, 4, 0, 5, None) == 0
    assert done.wait(30)
    assert seen == [(1, 2, True), (4, 0x5550000, None)]
    assert acl.media.vdec_get_channel_desc_callback(0x10) is decoded
    assert acl.media.venc_get_channel_desc_callback(0x20) is encoded
    assert acl.media.vdec_destroy_channel_desc(0x10) == 0
    assert acl.media.venc_destroy_channel_desc(0x20) == 0
    assert acl.media.vdec_get_channel_desc_callback(0x10) is None
    assert acl.media.venc_get_channel_desc_callback(0x20) is None


def test_the_end_of_a_video_releases_the_object_of_its_send(fake):
    end = 0xE05
    assert acl.media.dvpp_get_stream_desc_eos(end) == acl.media.venc_get_frame_config_eos(end) == 1
    for send in (
        lambda given: acl.media.vdec_send_frame(0x10, end, 0, 0, given),
        lambda given: acl.media.venc_send_frame(0x20, 0, 0, end, given),
    ):
        data = Data()
        alive = weakref.ref(data)
        assert send(data) == 0
        del data
        gc.collect()
        assert alive() is None


def test_threads_run_while_a_call_waits(fake):
    """process_report does not hold the GIL: another thread continues, and can end it."""
    went_on = threading.Event()

    def other():
        went_on.set()
        acl.rt.launch_callback(lambda given: None, None, 0, 1)

    thread = threading.Thread(target=other)
    thread.start()
    assert acl.rt.process_report(30000) == 0
    assert went_on.is_set()
    thread.join()
