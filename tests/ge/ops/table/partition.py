"""Parts of tensors by numbers of parts, their inverses, lists of tensors, and comparisons of neighbours."""

import numpy as np

from cases import case, const, f, refused, t, v

SOME = ["float16", "int32", "bool"]


def partition(x, numbers, count=3):
    return [x[numbers == at] for at in range(count)]


case("DynamicPartition", "", {"x": f(6, 2), "partitions": v([0, 2, 0, 1, 2, 2], "int32")}, partition, {"num_partitions": 3}, outs=3, types=SOME)
case("DynamicPartition", "elements, one part empty", {"x": f(2, 3), "partitions": v([[0, 2, 0], [0, 2, 2]], "int32")}, partition, {"num_partitions": 3}, outs=3)
case("DynamicPartition", "numbers beyond the parts", {"x": f(4), "partitions": v([0, 5, -1, 1], "int32")}, lambda x, p: partition(x, p, 2), {"num_partitions": 2}, outs=2)
refused("DynamicPartition", "shapes that do not fit", {"x": f(4), "partitions": v([0, 1], "int32")}, "the first must begin with the second", {"num_partitions": 2}, outs=2)


def stitch(indices, x):
    rest = x[0].shape[indices[0].ndim:]
    y = np.zeros((max(index.max() for index in indices) + 1, *rest), x[0].dtype)
    for index, rows in zip(indices, x):
        y[index.ravel()] = rows.reshape(-1, *rest)
    return y


case("DynamicStitch", "", {"indices": [v([0, 3], "int32"), v([1, 2, 4], "int32")], "x": [f(2, 2), f(3, 2)]}, stitch, {"N": 2}, types=SOME)
case("DynamicStitch", "the last one stays, and a gap", {"indices": [const(v([[0, 3], [1, 0]], "int32")), const(v([3, 5], "int32"))], "x": [f(2, 2, 2), f(2, 2)]}, stitch, {"N": 2})
case("DynamicStitch", "one row each", {"indices": [v([1], "int32"), v([0], "int32")], "x": [f(1, 3), f(1, 3)]}, stitch, {"N": 2})
refused("DynamicStitch", "rows that differ", {"indices": [v([0], "int32"), v([1], "int32")], "x": [f(1, 2), f(1, 3)]}, "continue as the others do", {"N": 2})


def repeated(feeds, times, size=6):
    y = np.repeat(feeds, times, axis=0)
    return np.concatenate([y, np.zeros((size - len(y), *feeds.shape[1:]), feeds.dtype)])


case("FeedsRepeat", "", {"feeds": f(3, 2), "feeds_repeat_times": v([0, 1, 2], "int32")}, repeated, {"output_feeds_size": 6}, types=["float16", "bfloat16", "int32"])
case("FeedsRepeat", "nothing behind them", {"feeds": f(3), "feeds_repeat_times": const(v([3, 1, 2], "int64"))}, repeated, {"output_feeds_size": 6})
refused("FeedsRepeat", "more rows than the output has", {"feeds": f(2), "feeds_repeat_times": const(v([3, 4], "int64"))}, "nor together more than that", {"output_feeds_size": 6})


def row_ranges(x, src, indices):
    return np.stack([row + src[begin:end].sum(0) if 0 <= begin < end else row for row, (begin, end) in zip(x, indices)])


RANGES = v([[0, 2], [-1, -1], [1, 4], [3, 1], [0, 5]], "int32")
case("AddRowRanges", "", {"x": f(5, 3), "src": f(5, 3), "indices": RANGES}, row_ranges, types=["float16"])
refused("AddRowRanges", "rows of other sizes", {"x": f(5, 3), "src": f(5, 2), "indices": RANGES}, "[M, N], [K, N] and [M, 2] are required")
case("GetDynamicDims", "", {"input": [v([4, 3, 5]), v([2, 7])]}, lambda x: np.array([3, 2, 7]), {"shape_info": [3, 4, -1, 5, 2, -1, -1], "N": 2}, dtype="int32", types=["int64"])
refused("GetDynamicDims", "entries that are missing", {"input": [v([4, 3, 5])]}, "shape_info", {"shape_info": [3, 4, -1], "N": 1}, dtype="int32")


def axes(a, b):
    rank = max(len(a), len(b))
    return [np.array([axis for axis, size in enumerate([1] * (rank - len(one)) + list(one)) if size == 1], np.int64) for one in (a, b)]


case("BroadcastGradientArgs", "", {"x1": v([2, 1, 4, 1, 6]), "x2": v([2, 3, 1, 5, 1])}, axes, dtype="int32", types=["int64"])
case("BroadcastGradientArgs", "of two ranks", {"x1": v([4, 1, 6]), "x2": v([2, 3, 4, 5, 6])}, axes, dtype="int64")
case("BroadcastGradientArgs", "of equal shapes", {"x1": const(v([4, 6])), "x2": const(v([4, 6]))}, axes, dtype="int32")
refused("BroadcastGradientArgs", "matrices", {"x1": v([[4, 6]]), "x2": v([4, 6])}, "must have 1 dimension", dtype="int32")


def differs(x):
    flat = x.ravel()
    return np.concatenate([[0], flat[1:] != flat[:-1]]).astype(np.int64).reshape(x.shape)


RUNS = v([[1, 1, 2, 2], [2, 3, 3, 1]])
case("AdjacentDifference", "", {"x": RUNS}, differs, types=["float16", "int32", "int64"], out="int32")
case("AdjacentDifference", "int64", {"x": RUNS}, differs, {"y_dtype": "int64"}, out="int64")
case("AdjacentDifference", "one element", {"x": v([7])}, differs, out="int32")
LEFT, RIGHT = v([1.0, 2.0, 3.0, 100.0, 0.0]), v([1.0, 2.25, 3.001, 101.0, 0.5])


def far(a, b, atol=1e-5, rtol=1e-3):
    return np.array(float((np.abs(a - b) > atol + rtol * np.abs(b)).sum()))


case("DataCompare", "", {"x1": LEFT, "x2": RIGHT}, far, types=["float16", "bfloat16"], out="float32")
case("DataCompare", "of integers", {"x1": v([1, 5, 9]), "x2": v([1, 7, 9])}, far, dtype="int32", out="float32")
case("DataCompare", "other limits", {"x1": LEFT, "x2": RIGHT}, lambda a, b: far(a, b, 0.3, 0.005), {"atol": 0.3, "rtol": 0.005}, out="float32")
case("StrideAdd", "", {"x1": f(2, 3, 2, 2, 4), "x2": f(2, 4, 2, 2, 4)}, lambda a, b: a[:, 1:3] + b[:, 2:4], {"x1_c1_offset": 1, "x2_c1_offset": 2, "c1_len": 2}, types=["float16", "bfloat16"])
refused("StrideAdd", "beyond the end", {"x1": f(2, 3, 2, 2, 4), "x2": f(2, 4, 2, 2, 4)}, "2 blocks from 2 on", {"x1_c1_offset": 2, "x2_c1_offset": 2, "c1_len": 2})

THREE = {"x1": [f(2, 3), f(4)], "x2": [f(2, 3), f(4)], "x3": [f(2, 3), f(4)]}
case("ForeachAddcmulList", "", {**THREE, "scalars": v([2, -1])}, lambda a, b, c, s: [one + two * three * factor for one, two, three, factor in zip(a, b, c, s)],
     outs=2, types=["float16", "bfloat16", "int32"], loose=2, why="three roundings")
refused("ForeachAddcmulList", "one number for two tensors", {**THREE, "scalars": v([2])}, "2 numbers are required", outs=2)
for code, (name, function) in enumerate([("sums", np.add), ("differences", np.subtract), ("products", np.multiply), ("quotients", np.divide)]):
    case("ForeachBinaryOp", name, {"x1": [f(2, 3), f(4)], "x2": [f(2, 3, lo=0.5), f(4, lo=0.5)]}, lambda a, b, function=function: [function(one, two) for one, two in zip(a, b)],
         {"op_code": code}, outs=2, types=["float16", "bfloat16"])
case("ForeachBinaryOp", "quotients of integers", {"x1": [v([7, -7, 5])], "x2": [v([2, 2, 0])]}, lambda a, b: [np.array([3, -3, 0])], {"op_code": 3}, outs=1, dtype="int32")
refused("ForeachBinaryOp", "a code that is not known", {"x1": [f(2)], "x2": [f(2)]}, "it must be 0 (add), 1 (sub), 2 (mul) or 3 (div)", {"op_code": 4}, outs=1)
