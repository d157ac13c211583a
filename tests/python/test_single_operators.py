"""`acl.op` and `acl.blas`: operators by their types, handles, shapes, products; compared with NumPy."""

import ctypes

import numpy as np
import pytest

import acl

FLOAT, FLOAT16, INT8, INT32, INT64, ND = 0, 1, 2, 3, 9, 2
TYPES = {np.float32: FLOAT, np.float16: FLOAT16, np.int8: INT8, np.int32: INT32, np.int64: INT64}
NOT_FOUND, INVALID, COMPILE = 100024, 100000, 500002


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p).value


class Tensor:
    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        size = max(self.array.nbytes, 1)
        self.data, ret = acl.rt.malloc(size, 0)
        assert ret == 0
        assert acl.rt.memcpy(self.data, size, address(self.array), self.array.nbytes, 1) == 0
        self.desc = acl.create_tensor_desc(TYPES[self.array.dtype.type], list(self.array.shape), ND)
        self.buffer = acl.create_data_buffer(self.data, self.array.nbytes)

    def get(self):
        got = np.empty_like(self.array)
        assert acl.rt.memcpy(address(got), got.nbytes, self.data, got.nbytes, 2) == 0
        return got

    def release(self):
        acl.destroy_tensor_desc(self.desc)
        assert acl.destroy_data_buffer(self.buffer) == 0
        assert acl.rt.free(self.data) == 0


@pytest.fixture
def tensors(device):
    made = []

    def make(array):
        made.append(Tensor(array))
        return made[-1]

    yield make
    for one in made:
        one.release()


def test_a_conversion_and_its_handle(tensors):
    x, y = tensors(np.array([1.5, -2.5, 300], np.float32)), tensors(np.zeros(3, np.int32))
    assert acl.op.cast(x.desc, x.buffer, y.desc, y.buffer, 0, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert (y.get() == x.array.astype(np.int32)).all()
    handle, ret = acl.op.create_handle_for_cast(x.desc, y.desc, 0)
    assert ret == 0
    assert acl.op.execute_with_handle(handle, [x.buffer], [y.buffer], 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    acl.op.destroy_handle(handle)
    assert acl.op.execute_with_handle(handle, [x.buffer], [y.buffer], 0) != 0


def test_an_operator_that_was_not_compiled_is_not_found(tensors):
    x = tensors(np.ones(4, np.float32))
    attr = acl.op.create_attr()
    assert acl.op.set_attr_list_list_int(attr, "lists", [[1], [2, 3]]) == 0
    assert acl.op.set_attr_list_string(attr, "texts", ["a", "b"]) == 0
    assert acl.op.execute_v2("Tanh", [x.desc], [x.buffer], [x.desc], [x.buffer], attr, 0) == NOT_FOUND
    assert "Tanh was neither compiled nor loaded" in acl.get_recent_err_msg()
    handle, ret = acl.op.create_handle("Tanh", [x.desc], [x.desc], attr)
    assert (handle, ret) == (0, NOT_FOUND)
    acl.op.destroy_attr(attr)


def test_shapes_are_inferred(tensors):
    x, y = tensors(np.ones((3, 1), np.float32)), tensors(np.ones(4, np.float32))
    to = acl.create_tensor_desc(FLOAT, [1], ND)
    attr = acl.op.create_attr()
    nothing = acl.create_data_buffer(0, 0)
    assert acl.op.infer_shape("Mul", [x.desc, y.desc], [nothing, nothing], 1, [to], attr) == 0
    assert acl.get_tensor_desc_num_dims(to) == 2
    assert [acl.get_tensor_desc_dim_v2(to, axis) for axis in (0, 1)] == [(3, 0), (4, 0)]
    assert acl.op.infer_shape("NoSuchOperator", [x.desc], [nothing], 1, [to], attr) == COMPILE
    acl.op.destroy_attr(attr)
    acl.destroy_tensor_desc(to)
    assert acl.destroy_data_buffer(nothing) == 0


@pytest.mark.parametrize("turned", [0, 1])
def test_products(tensors, turned):
    rng = np.random.default_rng(3)
    a, b = rng.integers(-9, 9, (3, 5)).astype(np.int8), rng.integers(-9, 9, (5, 4)).astype(np.int8)
    c = rng.integers(-9, 9, (3, 4)).astype(np.int32)
    want = 2 * (a.astype(np.int64) @ b) + 3 * c
    on = tensors(a.T if turned else a), tensors(b), tensors(c), tensors(np.array([2], np.int32)), tensors(np.array([3], np.int32))
    left, right, to, alpha, beta = (one.data for one in on)
    assert acl.blas.s8gemm(turned, 0, 0, 3, 4, 5, alpha, left, -1, right, -1, beta, to, -1, 0, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert (on[2].get() == want).all()
    assert acl.blas.s8gemm(turned, 0, 0, 0, 4, 5, alpha, left, -1, right, -1, beta, to, -1, 0, 0) == INVALID


def test_a_product_of_halves_rounds_once(tensors):
    rng = np.random.default_rng(4)
    a, x, y = rng.normal(size=(3, 50)).astype(np.float16), rng.normal(size=50).astype(np.float16), rng.normal(size=3).astype(np.float16)
    want = (0.5 * (a.astype(np.float64) @ x) + y).astype(np.float16)
    on = [tensors(one) for one in (a, x, y, np.array([0.5], np.float16), np.array([1], np.float16))]
    matrix, vector, to, alpha, beta = (one.data for one in on)
    handle, ret = acl.blas.create_handle_for_hgemv(0, 3, 50, 0)
    assert ret == 0
    assert acl.op.execute_with_handle(handle, [one.buffer for one in on], [on[2].buffer], 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    # The sum of float32 may differ from that of float64 in its last digit, and so the rounded result by one of its steps.
    assert np.abs(on[2].get().astype(np.float64) - want).max() <= np.spacing(np.abs(want).max())
    acl.op.destroy_handle(handle)
    assert acl.blas.hgemv(0, 3, 50, alpha, matrix, -1, vector, 1, beta, to, -1, 0, 0) == INVALID
