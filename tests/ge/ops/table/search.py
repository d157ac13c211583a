"""Searching, counting and choosing by value, and scatters that reduce."""

import numpy as np
from cases import b, case, const, distinct, f, i, t, v

HALF = ("float16",)
ALL = ["float16", "int32", "int64", "int8", "bool"]


def strided(x, size, stride, offset=0):
    flat = np.ascontiguousarray(x).ravel()[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, [one * flat.itemsize for one in stride])


case("AsStrided", "", {"x": f(3, 4), "size": t([2, 3]), "stride": t([4, 1]), "storage_offset": t([1])}, lambda x, s, d, o: strided(x, [2, 3], [4, 1], 1), types=ALL)
case("AsStrided", "overlapping", {"x": f(6), "size": t([4, 3], "int64"), "stride": t([1, 1], "int64")}, lambda x, s, d: strided(x, [4, 3], [1, 1]))
VALUES = v([-1.0, 0.0, 0.5, 1.0, 9.0])
for right in (True, False):
    side = "right" if right else "left"
    case("Bucketize", side, {"x": VALUES}, lambda x, side=side: np.searchsorted([0.0, 1.0, 5.0], x, side), {"boundaries": [0.0, 1.0, 5.0], "right": right, "dtype": "int64"}, out="int64")
    case("BucketizeV2", side, {"x": VALUES, "boundaries": v([0.0, 1.0, 5.0])}, lambda x, e, side=side: np.searchsorted(e, x, side), {"right": right}, out="int64")
    case("SearchSorted", side, {"sorted_sequence": v([0.0, 1.0, 1.0, 5.0]), "values": v([[1.0, -1.0], [5.0, 6.0]])}, lambda s, x, side=side: np.searchsorted(s, x, side), {"right": right}, types=["float64"], out="int64")
case("BucketizeV2", "short indexes", {"x": v([3, 9]), "boundaries": v([1, 3, 5])}, lambda x, e: np.searchsorted(e, x), {"out_int32": True}, dtype="int32", out="int32")
case("SearchSorted", "row by row", {"sorted_sequence": v([[1, 3, 5], [2, 4, 6]]), "values": v([[3, 6], [1, 5]])}, lambda s, x: np.stack([np.searchsorted(a, c) for a, c in zip(s, x)]), {"dtype": "int32"}, dtype="int32", types=["int64"], out="int32")
case("CompareAndBitpack", "", {"x": f(2, 16), "threshold": v(0)}, lambda x, z: np.packbits(x > 0, axis=-1), types=["float16", "float64", "int8", "int16", "int32", "int64"], out="uint8")
case("Cross", "", {"x1": f(4, 3), "x2": f(4, 3)}, np.cross, types=["float16", "float64", "int32", "int64"])
case("Cross", "an axis", {"x1": f(3, 3), "x2": f(3, 3)}, lambda a, b: np.cross(a, b, axis=1), {"dim": -1})


def running(x, axis, exclusive=False, reverse=False):
    x = np.flip(x, axis) if reverse else x
    y = np.logaddexp.accumulate(x, axis)
    if exclusive:
        # The logarithm of no element is the lowest number of the type.
        least = np.full_like(np.take(x, [0], axis), np.finfo(np.float32).min)
        y = np.concatenate([least, np.delete(y, -1, axis)], axis)
    return np.flip(y, axis) if reverse else y


case("CumulativeLogsumexp", "", {"x": f(3, 5, lo=-9, hi=9), "axis": t([1])}, lambda x, a: running(x, 1), types=["float16", "float64"])
case("CumulativeLogsumexp", "exclusive and in reverse", {"x": f(3, 5), "axis": t([0])}, lambda x, a: running(x, 0, True, True), {"exclusive": True, "reverse": True})
case("CumulativeLogsumexp", "large", {"x": v([500.0, 501.0, 499.0]), "axis": t([0])}, lambda x, a: running(x - 500, 0) + 500)
case("CumulativeLogsumexp", "small in front of large", {"x": v([-200.0, 0.0, 1.0, -300.0]), "axis": t([0])}, lambda x, a: running(x, 0))
case("DataFormatDimMap", "", {"x": v([0, 1, 2, 3, -1, -4])}, lambda x: np.array([0, 2, 3, 1])[x % 4], dtype="int32", types=["int64"])
case("DataFormatDimMap", "back", {"x": v([0, 1, 2, 3])}, lambda x: np.array([0, 3, 1, 2])[x], {"src_format": "NCHW", "dst_format": "NHWC"}, dtype="int32")
case("FillV2", "", {"dims": t([2, 3])}, lambda d: np.full((2, 3), 1.5), {"value": 1.5}, out="float32")
case("GetShape", "", {"x": [f(2, 3), f(4)]}, lambda x: np.array([2, 3, 4]), types=["int32"], out="int32")
case("HistogramFixedWidth", "", {"x": v([-5.0, 0.1, 0.3, 1.9, 5.0]), "range": v([0.0, 2.0]), "nbins": t([4])}, lambda x, r, n: np.array([3, 0, 0, 2]), types=["float64"], out="int32")
case("HistogramV2", "", {"x": v([-5.0, 0.1, 0.3, 1.9, 2.0, 5.0]), "min": v([0.0]), "max": v([2.0])}, lambda x, a, c: np.histogram(x, 4, (0, 2))[0], {"bins": 4}, out="int32")
case("HistogramV2", "bounds of the elements", {"x": f(5, 7), "min": v([0.0]), "max": v([0.0])}, lambda x, a, c: np.histogram(x, 5)[0], {"bins": 5}, out="int32")
case("HistogramV2", "equal elements", {"x": v([2.0, 2.0, 2.0]), "min": v([0.0]), "max": v([0.0])}, lambda x, a, c: np.histogram(x, 5, (1, 3))[0], {"bins": 5}, out="int32")
case("Histogram", "", {"x": v([-5.0, 0.1, 0.3, 1.9, 2.0, 5.0])}, lambda x: np.histogram(x, 4, (0, 2))[0], {"bins": 4, "min": 0.0, "max": 2.0}, types=["float16"], out="float32")
case("Histogram", "bounds of the elements", {"x": f(5, 7)}, lambda x: np.histogram(x, 100)[0], out="float32")
for kind in ["int8", "int16", "int32", "int64", "uint8"]:
    case("Histogram", "of integers", {"x": v([1, 2, 2, 9])}, lambda x: np.histogram(x, 5, (0, 10))[0], {"bins": 5, "min": 0.0, "max": 10.0}, dtype=kind, out=kind)
case("HistogramV2", "of integers", {"x": v([1, 2, 2, 9]), "min": v([0]), "max": v([10])}, lambda x, a, c: np.histogram(x, 5, (0, 10))[0], {"bins": 5}, dtype="int32", out="int32")


def added(x, rows, v, sign):
    y = x.copy()
    np.add.at(y, rows, sign * v)
    return y


ROWS = {"indices": v([3, 1], "int32"), "v": f(2, 3)}
case("InplaceAdd", "", {"x": f(4, 3), **ROWS}, lambda x, n, u: added(x, n, u, 1), types=["float16", "int32"])
case("InplaceSub", "", {"x": f(4, 3), **ROWS}, lambda x, n, u: added(x, n, u, -1), types=["float16", "int32"])
case("InvertPermutation", "", {"x": v([3, 0, 2, 1])}, np.argsort, dtype="int32", types=["int64"])
case("PopulationCount", "", {"x": v([0, 1, 255, -1, -32768])}, lambda x: np.array([bin(int(one) & 0xFFFF).count("1") for one in x]), dtype="int16", out="uint8")
case("PopulationCount", "without a sign", {"x": v([0, 1, 255, 65535])}, lambda x: np.array([bin(int(one)).count("1") for one in x]), dtype="uint16", out="uint8")
case("SliceLastDim", "", {"x": f(3, 7)}, lambda x: x[..., 1:6:2], {"start": 1, "end": 6, "stride": 2}, types=["float16", "float64", "int8", "int16", "int32", "int64"])


def ordered(x, index, axis, descending):
    at = np.argsort(-x if descending else x, axis, kind="stable")
    return [np.take_along_axis(x, at, axis), np.take_along_axis(index, at, axis).astype(np.int32)]


case("SortWithIndex", "", {"x": distinct(3, 5), "index": i(3, 5, hi=99)}, lambda x, n: ordered(x, n, -1, False), types=HALF)
case("SortWithIndex", "descending, another axis", {"x": distinct(3, 5), "index": i(3, 5, hi=99)}, lambda x, n: ordered(x, n, 0, True), {"axis": 0, "descending": True})


def dense(positions, shape, values, default):
    y = np.full((2, 3), default)
    for position, value in zip(positions, np.broadcast_to(values, len(positions))):
        y[tuple(position)] = value
    return y


case("SparseToDense", "", {"indices": v([[0, 1], [1, 2]], "int64"), "output_shape": t([2, 3], "int64"), "values": v([5, 7]), "default_value": v(1)}, dense, types=["int32", "int64"])
case("SparseToDense", "one value", {"indices": v([[0, 1], [1, 2]], "int32"), "output_shape": t([2, 3]), "values": v(5), "default_value": v(0)}, dense)
case("SqueezeV2", "", {"x": f(1, 3, 1)}, lambda x: x[:, :, 0], {"axis": [2]}, types=["float16", "int32", "int64", "int8", "uint8", "bool"])
case("SqueezeV2", "all", {"x": f(1, 3, 1)}, np.squeeze)
case("UnsqueezeV2", "", {"x": f(3)}, lambda x: x[None, :, None], {"axis": [0, 2]}, types=["float16", "int32", "int64", "int8", "uint8", "bool"])
case("StridedSliceV3", "", {"x": f(4, 6), "begin": t([1, 0]), "end": t([3, 5])}, lambda x, *a: x[1:3, 0:5], types=ALL)
case("StridedSliceV3", "axes and steps", {"x": f(4, 6), "begin": t([5], "int64"), "end": t([0], "int64"), "axes": t([1], "int64"), "strides": t([-2], "int64")}, lambda x, *a: x[:, 5:0:-2])
case("TileWithAxis", "", {"x": f(2, 3)}, lambda x: np.tile(x, (1, 2)), {"tiles": 2}, types=["float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
case("TileWithAxis", "from behind", {"x": f(2, 3)}, lambda x: np.tile(x, (3, 1)), {"axis": -2, "tiles": 3})


def segments(x, ids, count, how, start):
    y = np.full((4, *x.shape[1:]), start, x.dtype)
    for one, row in zip(ids, x):
        if 0 <= one < 4:
            y[one] = how(y[one], row)
    return y


# The id 7 has no segment, and neither has -1.
IDS = {"segment_ids": v([3, 0, 1, 3, -1, 7, 2], "int32"), "num_segments": t(4)}
for op, how, start, types in [("UnsortedSegmentMax", np.maximum, -99, ("float16", "int32")), ("UnsortedSegmentMin", np.minimum, 99, ("float16", "int32")), ("UnsortedSegmentProd", np.multiply, 1, ("float16", "int32"))]:
    case(op, "", {"x": f(7, 3), **IDS}, lambda x, n, c, how=how, start=start: segments(x, n, c, how, start), types=types)
case("UnsortedSegmentMax", "an empty segment", {"x": v([1.0, 2.0]), "segment_ids": v([0, 2], "int64"), "num_segments": t(3, "int64")}, lambda x, n, c: np.array([1.0, np.finfo(np.float32).min, 2.0]))
case("UnsortedSegmentMin", "an empty segment of integers", {"x": v([1, 2]), "segment_ids": v([0, 2], "int32"), "num_segments": t(3)}, lambda x, n, c: np.array([1, np.iinfo(np.int32).max, 2]), dtype="int32")
BLOCKS = f(1, 4, 4, 2)
case("SpaceToBatch", "", {"x": BLOCKS, "paddings": t([[0, 0], [0, 0]])}, lambda x, p: x.reshape(1, 2, 2, 2, 2, 2).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 2, 2), {"block_size": 2}, types=HALF)
case("BatchToSpace", "", {"x": f(4, 2, 2, 2), "crops": t([[0, 1], [0, 0]])}, lambda x, c: x.reshape(2, 2, 1, 2, 2, 2).transpose(2, 3, 0, 4, 1, 5).reshape(1, 4, 4, 2)[:, :3], {"block_size": 2}, types=HALF)
for op, sign in [("InplaceAddD", 1), ("InplaceSubD", -1)]:
    case(op, "", {"x": f(4, 3), "v": f(2, 3)}, lambda x, u, sign=sign: added(x, np.array([2, 0]), u, sign), {"indices": [2, 0]}, types=["float16", "int32"])


def looked_up(table, indices, offset):
    at = indices - int(offset)
    inside = (at >= 0) & (at < len(table))
    return np.where(inside.reshape(inside.shape + (1,) * (table.ndim - 1)), table[np.where(inside, at, 0)], 0)


case("EmbeddingLookup", "", {"param": f(4, 2), "indices": v([[5, 2], [8, 5]], "int32"), "offset": t(4, "int64")}, looked_up, types=["float16", "int32"])
case("EmbeddingLookup", "of matrices", {"param": f(4, 2, 3), "indices": v([0, 9, 3], "int64"), "offset": t(0)}, looked_up)


def lowest(x, axis):
    y = np.minimum.accumulate(x, axis)
    index = np.zeros(x.shape, np.int64)
    for at in np.ndindex(*x.shape):
        # The last one of equal elements.
        before = [x[tuple(k if a == axis else i for a, i in enumerate(at))] for k in range(at[axis] + 1)]
        index[at] = max(k for k, value in enumerate(before) if value == min(before))
    return [y, index]


case("Cummin", "", {"x": f(3, 5)}, lambda x: lowest(x, 1), {"axis": -1}, types=["float16", "int32", "int8"], out=[None, "int32"])


def index_added(var, indices, updates, axis, alpha=1):
    y = var.copy()
    np.add.at(np.moveaxis(y, axis, 0), indices, alpha * np.moveaxis(updates, axis, 0))
    return y


for axis, size in [(0, (3, 5)), (-1, (4, 3))]:
    case("InplaceIndexAdd", f"axis {axis}", {"var": f(4, 5), "indices": v([1, 0, 1], "int32"), "updates": f(*size)}, lambda a, n, u, axis=axis: index_added(a, n, u, axis), {"axis": axis},
         types=["int32", "float16"])
case("InplaceIndexAdd", "a factor", {"var": f(4, 5), "indices": v([1, 0, 1], "int64"), "updates": f(3, 5), "alpha": v([3])}, lambda a, n, u, alpha: index_added(a, n, u, 0, alpha), {"axis": 0})
