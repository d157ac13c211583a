"""acl.util: addresses and threads."""

import subprocess
import sys
import threading
import warnings

import pytest

import acl

numpy = pytest.importorskip("numpy")


def test_bytes_to_ptr_is_the_address_of_the_object_itself():
    data = bytes(range(1, 9))
    pointer = acl.util.bytes_to_ptr(data)
    assert pointer == acl.util.bytes_to_ptr(data) == numpy.frombuffer(data, dtype=numpy.uint8).ctypes.data
    assert acl.util.ptr_to_bytes(pointer, 8) == data
    before = sys.getrefcount(data)
    acl.util.bytes_to_ptr(data)
    assert sys.getrefcount(data) == before


@pytest.mark.parametrize("wrong", [bytearray(4), memoryview(b"1234"), "text", 1, None, numpy.zeros(2)])
def test_bytes_to_ptr_refuses_other_objects(wrong):
    with pytest.raises(ValueError):
        acl.util.bytes_to_ptr(wrong)


def test_ptr_to_bytes_copies():
    data = numpy.arange(4, dtype=numpy.uint8)
    copy = acl.util.ptr_to_bytes(data.ctypes.data, 4)
    data[:] = 9
    assert copy == b"\x00\x01\x02\x03"
    assert acl.util.ptr_to_bytes(0, 0) == b""
    with pytest.raises(ValueError):
        acl.util.ptr_to_bytes(0, 1)
    with pytest.raises(ValueError):
        acl.util.ptr_to_bytes(16, -1)


def test_numpy_to_ptr_warns_and_gives_the_base():
    array = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    before = sys.getrefcount(array)
    with pytest.warns(Warning):
        assert acl.util.numpy_to_ptr(array) == array.ctypes.data
    assert sys.getrefcount(array) == before
    for wrong in ([1], b"1", 1, None):
        with pytest.raises(ValueError):
            acl.util.numpy_to_ptr(wrong)


def test_numpy_to_ptr_of_an_array_with_gaps_prints_a_hint(capfd):
    array = numpy.arange(12).reshape(3, 4)[:, ::2]
    with pytest.warns(Warning):
        assert acl.util.numpy_to_ptr(array) == array.__array_interface__["data"][0]
    assert "not contiguous" in capfd.readouterr().err


def test_numpy_contiguous_to_ptr():
    array = numpy.arange(12).reshape(3, 4)
    with pytest.warns(Warning):
        pointer, same = acl.util.numpy_contiguous_to_ptr(array)
    assert same is array and pointer == array.ctypes.data
    with pytest.warns(Warning):
        pointer, copy = acl.util.numpy_contiguous_to_ptr(array.T)
    assert pointer == copy.ctypes.data and copy.flags.c_contiguous and (copy == array.T).all()


@pytest.mark.parametrize("number, kind", [
    (1, numpy.int8), (2, numpy.uint8), (5, numpy.int32), (7, numpy.int64), (11, numpy.float32), (12, numpy.float64),
    (23, numpy.float16), (0, numpy.bool_), (9, numpy.longlong),
])
def test_ptr_to_numpy_is_a_view_of_the_type_that_numpy_numbers(number, kind):
    array = numpy.arange(6).astype(kind)
    with pytest.warns(Warning):
        view = acl.util.ptr_to_numpy(array.ctypes.data, (2, 3), number)
    assert view.dtype.num == number and view.shape == (2, 3)
    assert view.ctypes.data == array.ctypes.data
    assert not view.flags.owndata and view.flags.writeable
    view[1, 2] = 1
    assert array[5] == 1


def test_ptr_to_numpy_refusals():
    array = numpy.zeros(4, dtype=numpy.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shape in ([4], 4, None, (1.5,), (-1,), (2**62, 4)):
            with pytest.raises(ValueError):
                acl.util.ptr_to_numpy(array.ctypes.data, shape, 2)
        for number in (17, 18, 99, -1):  # object, text, and none at all
            with pytest.raises(ValueError):
                acl.util.ptr_to_numpy(array.ctypes.data, (4,), number)
        with pytest.raises(ValueError):
            acl.util.ptr_to_numpy(0, (4,), 2)
        assert acl.util.ptr_to_numpy(0, (0,), 2).shape == (0,)
        assert acl.util.ptr_to_numpy(array.ctypes.data, (), 2).shape == ()


def test_deprecated_functions_raise_when_warnings_are_errors():
    array = numpy.zeros(4, dtype=numpy.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda: acl.util.numpy_to_ptr(array),
            lambda: acl.util.numpy_contiguous_to_ptr(array),
            lambda: acl.util.ptr_to_numpy(array.ctypes.data, (4,), 2),
        ):
            with pytest.raises(Warning):
                call()


def test_nothing_needs_numpy_to_be_imported():
    code = "import sys, acl\n" \
           "assert 'numpy' not in sys.modules\n" \
           "try: acl.util.numpy_to_ptr([1])\n" \
           "except ValueError: pass\n" \
           "assert 'numpy' not in sys.modules\n"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_thread_gets_the_list_itself_and_its_own_number():
    seen = []
    arguments = [1, 2]

    def body(given):
        seen.append((given is arguments, threading.get_ident()))

    number, ret = acl.util.start_thread(body, arguments)
    assert ret == 0
    assert acl.util.stop_thread(number) == 0
    assert seen == [(True, number)]


def test_a_thread_without_arguments():
    seen = []
    number, ret = acl.util.start_thread(lambda *given: seen.append(given), None)
    assert (ret, acl.util.stop_thread(number), seen) == (0, 0, [()])


def test_a_thread_that_raised(capfd):
    def body():
        raise KeyError("the reason")

    number, _ = acl.util.start_thread(body, None)
    with pytest.raises(RuntimeError):
        acl.util.stop_thread(number)
    shown = capfd.readouterr().err
    assert "Traceback" in shown and "the reason" in shown


def test_a_thread_that_exits_does_not_end_the_process(capfd):
    number, _ = acl.util.start_thread(sys.exit, [3])
    with pytest.raises(RuntimeError):
        acl.util.stop_thread(number)
    capfd.readouterr()


def test_start_thread_keeps_the_words_of_the_interpreter():
    with pytest.raises(TypeError, match="exactly 2 arguments"):
        acl.util.start_thread(print)
    with pytest.raises(TypeError, match="callable"):
        acl.util.start_thread(1, [])


def test_stopping_what_is_no_thread():
    assert acl.util.stop_thread(12345) == 100000
    assert "12345" in acl.get_recent_err_msg()
    number, _ = acl.util.start_thread(print, [""])
    assert acl.util.stop_thread(number) == 0
    assert acl.util.stop_thread(number) == 100000
