"""Sparse tensors, sums of the rows of segments, and counts, by the rules that TensorFlow documents for operators of these names."""

import numpy as np

from cases import case, const, f, refused, t, v


def bins(rows, values, weights, count, size, binary=False):
    y = np.zeros((count, size))
    for at, (row, value) in enumerate(zip(rows, values)):
        if value < size:
            y[row, value] += 1 if binary or not weights.size else weights.ravel()[at]
    return (y > 0).astype(float) if binary else y


def ragged(splits, values, size, weights, binary=False):
    rows = np.searchsorted(splits[1:], np.arange(values.size), "right")
    return bins(rows, values.ravel(), weights, len(splits) - 1, int(size), binary)


RAGGED = {"splits": v([0, 3, 3, 7], "int64"), "values": v([1, 0, 1, 3, 5, 3, 2], "int32"), "size": t(4)}
KINDS = ["float64", "int32", "int64"]
case("RaggedBinCount", "", {**RAGGED, "weights": v(np.zeros(0))}, ragged, types=KINDS)
case("RaggedBinCount", "weights", {**RAGGED, "weights": v([1, 2, 3, 4, 5, 6, 7])}, ragged)
case("RaggedBinCount", "whether at all", {**RAGGED, "weights": v(np.zeros(0))}, lambda *a: ragged(*a, binary=True), {"binary_output": True})
refused("RaggedBinCount", "too few weights", {**RAGGED, "weights": v([1, 2])}, "it must have 7 elements, or none")


def sparse(indices, values, shape, size, weights, binary=False):
    rows = indices[:, 0] if len(shape) == 2 else np.zeros(len(values), int)
    y = bins(rows, values, weights, shape[0] if len(shape) == 2 else 1, int(size), binary)
    return y if len(shape) == 2 else y[0]


MATRIX = {"indices": v([[0, 1], [0, 2], [1, 0], [2, 3]], "int64"), "values": v([1, 1, 3, 9], "int32"), "dense_shape": t([3, 4], "int64"), "size": t(4)}
case("SparseBincount", "", {**MATRIX, "weights": v(np.zeros(0))}, sparse, types=KINDS)
case("SparseBincount", "weights", {**MATRIX, "weights": v([2, 3, 4, 5])}, sparse)
case("SparseBincount", "whether at all", {**MATRIX, "weights": v([2, 3, 4, 5])}, lambda *a: sparse(*a, binary=True), {"binary_output": True})
case("SparseBincount", "of a vector", {**MATRIX, "indices": v([[0], [2], [3], [5]], "int64"), "dense_shape": t([6], "int64"), "weights": v(np.zeros(0))}, sparse)
refused("SparseBincount", "three dimensions", {**MATRIX, "dense_shape": t([3, 4, 5], "int64"), "weights": v(np.zeros(0))}, "1 or 2 dimensions are required")


def segment_sums(x, indices, ids, mean=False):
    y = np.zeros((ids.max() + 1, *x.shape[1:]), x.dtype)
    for segment in range(len(y)):
        chosen = x[indices[ids == segment]]
        if len(chosen):
            y[segment] = chosen.mean(0) if mean else chosen.sum(0)
    return y


CHOSEN = {"indices": v([0, 2, 4, 2], "int32"), "segment_ids": t([0, 0, 2, 2])}
case("SparseSegmentSum", "", {"x": f(5, 3), **CHOSEN}, segment_sums, types=["float16", "int32"])
case("SparseSegmentMean", "", {"x": f(5, 3), **CHOSEN}, lambda *a: segment_sums(*a, mean=True), types=["float16", "bfloat16", "float64"])
refused("SparseSegmentSum", "ids that descend", {"x": f(5, 3), "indices": v([0, 2], "int32"), "segment_ids": t([1, 0])}, "the ids must ascend from 0")


def segment_gradients(grad, indices, ids, rows, mean=False):
    y = np.zeros((int(rows), *grad.shape[1:]), grad.dtype)
    for index, segment in zip(indices, ids):
        y[index] += grad[segment] / ((ids == segment).sum() if mean else 1)
    return y


BACK = {"indices": v([0, 2, 4, 2], "int32"), "segment_ids": v([0, 0, 2, 2], "int32"), "output_dim0": t(6)}
case("SparseSegmentSumGrad", "", {"grad": f(3, 2), **BACK}, segment_gradients, types=["float16", "bfloat16", "float64"])
case("SparseSegmentMeanGrad", "", {"x": f(3, 2), **BACK}, lambda *a: segment_gradients(*a, mean=True), types=["float16", "bfloat16", "float64"])
refused("SparseSegmentMeanGrad", "a negative number of rows", {"x": f(3, 2), **BACK, "output_dim0": t(-1)}, "it must not be negative")


def reshaped(indices, shape, new):
    new = np.where(new == -1, np.prod(shape) // -np.prod(new), new) if -1 in new else new
    return [np.stack(np.unravel_index(np.ravel_multi_index(indices.T, shape), new), 1), new]


WHERE = v([[0, 1, 2], [1, 0, 3], [1, 2, 0]])
case("SparseReshape", "", {"indices": WHERE, "shape": const(v([2, 3, 4])), "new_shape": const(v([6, -1]))}, reshaped, dtype="int64", types=["int32"])
case("SparseReshape", "all dimensions", {"indices": WHERE, "shape": const(v([2, 3, 4])), "new_shape": const(v([4, 2, 3, 1]))}, reshaped, dtype="int64")
refused("SparseReshape", "another number of elements", {"indices": WHERE, "shape": const(v([2, 3, 4])), "new_shape": const(v([5, 5]))}, "the number of elements must stay", dtype="int64")


def product(indices, values, shape, other, a=False, b=False):
    dense = np.zeros(tuple(shape), values.dtype)
    np.add.at(dense, tuple(indices.T), values)
    return (np.conj(dense).T if a else dense) @ (np.conj(other).T if b else other)


CELLS = {"x1_indices": v([[0, 1], [2, 3], [1, 0], [0, 1]], "int64"), "x1_values": f(4), "x1_shape": t([3, 4], "int64")}
case("SparseTensorDenseMatMul", "", {**CELLS, "x2": f(4, 2)}, product, types=["float16", "float64", "int32", "int64"], loose=2, why="sums of products")
case("SparseTensorDenseMatMul", "both transposed", {**CELLS, "x2": f(2, 3)}, lambda *x: product(*x, a=True, b=True), {"adjoint_a": True, "adjoint_b": True}, types=["complex64"])
refused("SparseTensorDenseMatMul", "indices of three axes", {**CELLS, "x1_indices": v([[0, 1, 0]], "int64"), "x1_values": f(1), "x2": f(4, 2)}, "[elements, 2] is required")


def filled(indices, values, shape, default):
    rows = [(index[0], at, list(index), value) for at, (index, value) in enumerate(zip(indices, values))]
    empty = np.array([row not in indices[:, 0] for row in range(shape[0])])
    rows += [(row, len(values), [row] + [0] * (len(shape) - 1), default) for row in np.flatnonzero(empty)]
    rows.sort(key=lambda one: one[:2])
    positions = {at: position for position, (_, at, _, _) in enumerate(rows)}
    return [np.array([one[2] for one in rows]), np.array([one[3] for one in rows]), empty, np.array([positions[at] for at in range(len(values))])]


HOLES = {"indices": v([[3, 0], [1, 2], [1, 1], [5, 3]], "int64"), "values": f(4), "dense_shape": t([7, 4], "int64"), "default_value": v(1)}
case("SparseFillEmptyRows", "", HOLES, filled, types=["float16", "int32", "bool"], out=["int64", None, "bool", "int64"])
case("SparseFillEmptyRows", "nothing empty", {"indices": v([[0, 1], [1, 2]], "int64"), "values": f(2), "dense_shape": t([2, 4], "int64"), "default_value": v(1)}, filled, out=["int64", None, "bool", "int64"])
refused("SparseFillEmptyRows", "another number of values", {**HOLES, "values": f(3)}, "[elements, 2] and [elements] are required")
