"""Choosing elements by index, and putting them back."""

import numpy as np

from cases import b, case, const, distinct, f, i, refused, t, v
from reference import ort

ANY = ["float16", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]
SOME = ["float16", "int32"]

case("GatherV2", "", {"x": f(5, 3), "indices": v([[0, 4], [2, 2]], "int32"), "axis": t(0)}, lambda x, n, a: x[n], types=ANY)
case("GatherV2", "an axis", {"x": f(2, 5, 3), "indices": v([4, 0], "int64"), "axis": t(1, "int64")}, lambda x, n, a: x[:, n])
case("GatherV2", "batches", {"x": f(2, 5, 3), "indices": v([[4, 0], [1, 1]], "int32"), "axis": t([1])}, lambda x, n, a: np.stack([x[0][n[0]], x[1][n[1]]]), {"batch_dims": 1})
case("GatherV2", "from the end", {"x": f(5, 3), "indices": v([-1, 0, -5], "int32"), "axis": t(0)}, lambda x, n, a: x[n], {"negative_index_support": True})
case("Gather", "", {"x": f(5, 3), "indices": v([[0, 4], [2, 2]], "int32")}, lambda x, n: x[n], types=SOME)
case("Gather", "batches", {"x": f(2, 5, 3), "indices": v([[4, 0], [1, 1]], "int32")}, lambda x, n: np.stack([x[0][n[0]], x[1][n[1]]]), {"batch_dims": 1})
case("GatherElements", "", {"x": f(3, 4), "index": v([[0, 2, 1, 0], [1, 1, 1, 1]], "int64")}, lambda x, n: np.take_along_axis(x, n, 0), types=ANY)
case("GatherElements", "an axis", {"x": f(3, 4), "index": v([[3], [0], [-1]], "int32")}, lambda x, n: np.take_along_axis(x, n, 1), {"dim": 1})
case("GatherNd", "", {"x": f(3, 4, 5), "indices": v([[0, 3], [2, 1]], "int32")}, lambda x, n: x[n[:, 0], n[:, 1]], types=ANY)
case("GatherNd", "elements", {"x": f(3, 4), "indices": v([[[0, 3]], [[2, 1]]], "int64")}, lambda x, n: x[n[..., 0], n[..., 1]])
case("ScatterElements", "", {"data": f(3, 4), "indices": v([[1, 0, 2, 0]], "int32"), "updates": f(1, 4)},
     lambda x, n, u: (lambda y: (np.put_along_axis(y, n, u, 0), y)[1])(x.copy()), types=["float16", "float64", "int32", "int64", "int8", "uint8"])


def added(x, n, u, how=np.add):
    y = x.copy()
    how.at(y, (n, np.arange(x.shape[1])[None]), u)
    return y


case("ScatterElements", "added", {"data": f(3, 4), "indices": v([[1, 0, 2, 0], [1, 1, 1, 1]], "int64"), "updates": f(2, 4)}, added, {"reduction": "add"})
case("ScatterElements", "an axis", {"data": f(3, 4), "indices": v([[1, 0], [3, 2], [0, 1]], "int64"), "updates": f(3, 2)},
     lambda x, n, u: (lambda y: (np.put_along_axis(y, n, u, 1), y)[1])(x.copy()), {"axis": 1})
case("TensorScatterUpdate", "", {"x": f(4, 3), "indices": v([[1], [3]], "int32"), "updates": f(2, 3)},
     lambda x, n, u: (lambda y: (y.__setitem__(n[:, 0], u), y)[1])(x.copy()), types=ANY)
case("TensorScatterUpdate", "elements", {"x": f(4, 3), "indices": v([[1, 2], [3, 0]], "int64"), "updates": f(2)},
     lambda x, n, u: (lambda y: (y.__setitem__((n[:, 0], n[:, 1]), u), y)[1])(x.copy()))

case("OneHot", "", {"x": v([1, 0, 3], "int32"), "depth": t(4), "on_value": const(v(1)), "off_value": const(v(0))}, lambda x, d, on, off: np.eye(4)[x], types=SOME)
case("OneHot", "in front", {"x": v([[1, 0], [3, 2]], "int64"), "depth": t(4, "int64"), "on_value": const(v(2.5)), "off_value": const(v(-1.0))},
     lambda x, d, on, off: np.moveaxis(np.eye(4)[x] * 3.5 - 1, -1, 0), {"axis": 0})
for kind in ["int32", "int64"]:
    case("OneHot", f"a negative index, {kind}", {"x": v([[0, 2], [1, -1]], kind), "depth": t(3), "on_value": const(v(10)), "off_value": const(v(4))},
         lambda x, d, on, off: np.where(x[..., None] == np.arange(3), 10.0, 4.0))
case("OneHotD", "a negative index", {"x": v([1, -1, -3], "int32"), "on_value": const(v(1)), "off_value": const(v(0))}, lambda x, on, off: (x[:, None] == np.arange(3)).astype(float), {"depth": 3})
case("OneHot", "beyond the depth", {"x": v([1, 7, 2], "uint8"), "depth": t(3), "on_value": const(v(1)), "off_value": const(v(0))}, lambda x, d, on, off: (x[:, None] == np.arange(3)).astype(float))
for op, names in [("SelectV2", ("condition", "then", "else")), ("Select", ("condition", "x1", "x2"))]:
    case(op, "", dict(zip(names, [b(2, 3), f(2, 3), f(2, 3)])), np.where, types=["bfloat16", *ANY])
case("SelectV2", "broadcasting", {"condition": b(2, 1), "then": f(3), "else": f(2, 3)}, np.where)

case("NonZero", "", {"x": v([[1, 0, 2], [0, 0, 3]])}, np.argwhere, types=ANY, out="int64")
case("NonZero", "turned, int32", {"x": v([[1, 0, 2], [0, 0, 3]])}, lambda x: np.argwhere(x).T, {"transpose": True, "dtype": "int32"}, out="int32")
case("NonZero", "of nothing", {"x": v([[0, 0], [0, 0]])}, np.argwhere)
case("Where", "", {"x": v([[True, False, True], [False, False, True]])}, np.argwhere, dtype="bool", out="int64")


def top(x, k, axis=-1, largest=True):
    order = np.argsort(-x.astype(float) if largest else x, axis, kind="stable")
    order = np.take(order, np.arange(k), axis)
    return [np.take_along_axis(x, order, axis), order.astype(np.int32)]


HELP = {"assist_seq": v(np.arange(8), "float16")}
case("TopKV2D", "", {"x": distinct(3, 6), "k": t(3), **HELP}, lambda x, k, a: top(x, 3), types=["float16", "float64", "int32"], out=[None, "int32"])
case("TopKV2D", "the least, along an axis", {"x": distinct(3, 6), "k": t(2), **HELP}, lambda x, k, a: top(x, 2, 0, False), {"largest": False, "dim": 0}, out=[None, "int32"])
for op in ["TopK", "TopKV2"]:
    case(op, "", {"x": distinct(3, 6), "k": t(3)}, lambda x, k: top(x, 3), types=["float16", "float64", "int32", "int64"], out=[None, "int32"])
    case(op, "the least, along an axis", {"x": distinct(3, 6), "k": t(2)}, lambda x, k: top(x, 2, 0, False), {"largest": False, "dim": 0})
case("TopK", "equals", {"x": v([[1.0, 3.0, 3.0, 2.0]]), "k": t([2])}, lambda x, k: top(x, 2))

case("UniqueWithCountsAndSorting", "", {"x": v([3, 1, 2, 1, 3, 3])}, lambda x: np.unique(x, return_inverse=True, return_counts=True),
     {"return_inverse": True, "return_counts": True}, types=["float16", "int32", "int64", "float64"], out=[None, "int64", "int64"])
case("UniqueWithCountsAndSorting", "values alone", {"x": v([[3, 1], [2, 1]])}, lambda x: [np.unique(x), None, None])

case("Tril", "", {"x": f(2, 4, 5)}, np.tril, types=SOME)
case("Tril", "above", {"x": f(4, 5)}, lambda x: np.tril(x, 1), {"diagonal": 1})
case("Triu", "", {"x": f(2, 4, 5)}, np.triu, types=SOME)
case("Triu", "below", {"x": f(4, 5)}, lambda x: np.triu(x, -2), {"diagonal": -2})


def overlap(a, b, center):
    if center:
        a, b = ([m[0] - m[2] / 2, m[1] - m[3] / 2, m[0] + m[2] / 2, m[1] + m[3] / 2] for m in (a, b))
    a, b = ([min(m[0], m[2]), min(m[1], m[3]), max(m[0], m[2]), max(m[1], m[3])] for m in (a, b))
    inner = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    whole = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inner
    return inner / whole if whole > 0 else 0


def suppressed(boxes, scores, most=None, limit=0.0, least=None, center=False):
    most = boxes.shape[1] if most is None else int(np.ravel(most)[0])
    chosen = []
    for batch in range(scores.shape[0]):
        for kind in range(scores.shape[1]):
            own = []
            for box in np.argsort(-scores[batch, kind], kind="stable"):
                if len(own) == most or (least is not None and scores[batch, kind, box] <= np.ravel(least)[0]):
                    break
                if all(overlap(boxes[batch, box], boxes[batch, other], center) <= np.ravel(limit)[0] for other in own):
                    own.append(box)
            chosen += [[batch, kind, box] for box in own]
    return np.array(chosen, np.int32).reshape(-1, 3)


corners = [[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]]
centers = [[[0.5, 0.5, 1, 1], [0.5, 0.6, 1, 1], [0.5, 0.4, 1, 1], [0.5, 10.5, 1, 1], [0.5, 10.6, 1, 1], [0.5, 100.5, 1, 1]]]
points = [[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3], [0.1, 0.8, 0.2, 0.3, 0.45, 0.55]]]
limits = {"max_output_size": t([3]), "iou_threshold": t([0.5], "float32"), "score_threshold": t([0.35], "float32")}
case("NonMaxSuppressionV6", "", {"boxes": v(corners, "float32"), "scores": v(points, "float32"), **limits}, suppressed, {"max_boxes_size": 6}, out="int32")
case("NonMaxSuppressionV6", "by centres", {"boxes": v(centers, "float32"), "scores": v(points, "float32"), **limits},
     lambda *a: suppressed(*a, center=True), {"center_point_box": 1, "max_boxes_size": 6}, out="int32")
case("NonMaxSuppressionV6", "two images", {"boxes": v(np.repeat(corners, 2, 0), "float32"), "scores": v([points[0], points[0][::-1]], "float32"), "max_output_size": t(2), "iou_threshold": t(0.3, "float32")},
     suppressed, {"max_boxes_size": 6}, out="int32")

case("ArgMaxWithValue", "", {"x": distinct(3, 4)}, lambda x: [x.argmax(1).astype(np.int32), x.max(1)], {"dimension": 1}, out=["int32", None], types=SOME)
case("ArgMaxWithValue", "kept", {"x": distinct(3, 4)}, lambda x: [x.argmax(0)[None].astype(np.int32), x.max(0)[None]], {"dimension": 0, "keep_dims": True}, out=["int32", None])
case("GatherV2D", "", {"x": f(2, 5), "indices": v([[4, 0], [1, 1]], "int32")}, lambda x, n: x[:, n], {"axis": 1}, types=SOME)
case("InplaceUpdate", "", {"x": f(4, 3), "indices": v([3, 0], "int32"), "v": f(2, 3)}, lambda x, n, u: (lambda y: (y.__setitem__(n, u), y)[1])(x.copy()), types=SOME)
case("MaskedFill", "", {"x": f(2, 3), "mask": b(2, 3), "value": const(v(7))}, lambda x, m, value: np.where(m, 7, x), types=SOME)
case("MatrixBandPart", "", {"x": f(2, 4, 5), "num_lower": t(1), "num_upper": t(2)}, lambda x, *_: np.triu(np.tril(x, 2), -1), types=SOME)
case("MatrixBandPart", "all above", {"x": f(4, 4), "num_lower": t(0, "int64"), "num_upper": t(-1, "int64")}, lambda x, *_: np.triu(x))
case("NonMaxSuppressionV3", "", {"boxes": v(corners[0], "float32"), "scores": v(points[0][0], "float32"), "max_output_size": t(3), "iou_threshold": t(0.5, "float32"), "score_threshold": t(0.35, "float32")},
     lambda boxes, scores, most, limit, least: suppressed(boxes[None], scores[None, None], most, limit, least)[:, 2], out="int32")
for pad in (False, True):
    for most in (2, 5):
        case("NonMaxSuppressionV4", f"{most} at most, pad {pad}", {"boxes": v(corners[0], "float32"), "scores": v(points[0][0], "float32"), "max_output_size": t(most), "iou_threshold": t(0.5, "float32"), "score_threshold": t(0.35, "float32")},
             lambda boxes, scores, most, limit, least, pad=pad: (lambda y: [np.pad(y, (0, int(most) - len(y) if pad else 0)), np.int32(len(y))])(suppressed(boxes[None], scores[None, None], most, limit, least)[:, 2]),
             {"pad_to_max_output_size": pad}, out=["int32", "int32"])
case("NonMaxSuppressionV7", "", {"boxes": v(corners, "float32"), "scores": v(points, "float32"), **limits}, suppressed, {"max_boxes_size": 6}, out="int32")
case("OneHotD", "", {"x": v([1, 0, 3], "int32"), "on_value": const(v(1)), "off_value": const(v(0))}, lambda x, on, off: np.eye(4)[x], {"depth": 4}, types=SOME)
case("ScatterNd", "", {"indices": v([[1], [3], [1]], "int32"), "x": f(3, 2), "shape": t([5, 2])}, lambda n, u, s: (lambda y: (np.add.at(y, n[:, 0], u), y)[1])(np.zeros((5, 2), u.dtype)), types=SOME)
case("Sort", "", {"x": distinct(3, 6)}, lambda x: [np.sort(x), np.argsort(x).astype(np.int32)], out=[None, "int32"], types=SOME)
case("Sort", "downwards, an axis", {"x": distinct(3, 6)}, lambda x: [-np.sort(-x, 0), np.argsort(-x, 0).astype(np.int32)], {"axis": 0, "descending": True}, out=[None, "int32"])
case("TopKD", "", {"x": distinct(3, 6), "assist_seq": const(v(np.arange(12), "float16"))}, lambda x, a: top(x, 3), {"k": 3}, types=["float16"], out=[None, "int32"])
case("Trilu", "", {"x": f(2, 4, 5), "k": t(1, "int64")}, lambda x, k: np.tril(x, 1), types=SOME)
case("Trilu", "upper", {"x": f(4, 5)}, np.triu, {"upper": 1})
case("UnsortedSegmentSum", "", {"x": f(4, 3), "segment_ids": v([2, 0, 2, 1], "int32"), "num_segments": t(4)}, lambda x, n, c: (lambda y: (np.add.at(y, n, x), y)[1])(np.zeros((4, 3), x.dtype)), types=SOME)
def segments(x, ids, count):
    """Ids outside of the segments add to none."""
    y = np.zeros((count, *x.shape[ids.ndim:]), x.dtype)
    inside = (ids >= 0) & (ids < count)
    np.add.at(y, ids[inside], x[inside])
    return y


case("UnsortedSegmentSum", "ids outside", {"x": f(6, 3), "segment_ids": v([2, -1, 7, 1, 2, -9], "int32"), "num_segments": t(3)}, lambda x, n, c: segments(x, n, 3))
case("UnsortedSegmentSum", "of elements", {"x": f(2, 3), "segment_ids": v([[2, 0, 2], [1, 1, 1]], "int64"), "num_segments": t([3])}, lambda x, n, c: (lambda y: (np.add.at(y, n, x), y)[1])(np.zeros(3)))


def put(x, rows, indices, add):
    y = x.copy()
    if add:
        np.add.at(y, indices, rows)
    else:
        y[indices] = rows
    return y


BASIC = ["float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
case("IndexPut", "", {"x1": f(5, 3), "x2": f(2, 3)}, lambda x, u: put(x, u, [3, 0], False), {"indices": [3, 0]}, types=[*BASIC, "complex64", "complex128"])
case("IndexPut", "added, twice the same, from the back", {"x1": f(5, 3), "x2": f(3, 3)}, lambda x, u: put(x, u, [3, -2, -5], True), {"indices": [3, -2, -5], "accumulate": 1}, types=BASIC)
case("IndexPut", "one row for all, broadcast", {"x1": f(4, 2, 3), "x2": f(1, 3)}, lambda x, u: put(x, u, [1, 2], False), {"indices": [1, 2]})
case("IndexPut", "elements", {"x1": f(6), "x2": f(1)}, lambda x, u: put(x, u, [5, 1], True), {"indices": [5, 1], "accumulate": 1})
refused("IndexPut", "an index past the end", {"x1": f(5, 3), "x2": f(1, 3)}, "indices has 5", {"indices": [5]})
refused("IndexPut", "how", {"x1": f(5, 3), "x2": f(1, 3)}, "accumulate is 2", {"indices": [0], "accumulate": 2})


def masked(boxes, limit):
    """Boxes in their own order: one stays if it overlaps with none before it that stays."""
    kept = []
    for at, box in enumerate(boxes):
        if all(overlap(box, boxes[other], False) <= limit for other in kept):
            kept.append(at)
    mask = np.zeros(len(boxes), np.int64)
    mask[kept] = 1
    return [boxes[:, :5], np.arange(len(boxes)), mask]


# The overlaps are 0, 1/3, 1/2, 3/5, 1 and numbers far from the limits. The scores rise, and do not count.
SCORED = np.array([[0, 0, 8, 8, 0.125], [0, 4, 8, 12, 0.25], [0, 2, 8, 10, 0.375], [20, 20, 24, 28, 0.5], [20, 20, 24, 28, 0.625], [40, 0, 41, 8, 0.75], [20, 24, 24, 28, 0.875]])
OUT = [None, "int32", "uint8"]
case("NMSWithMask", "", {"box_scores": v(SCORED)}, lambda x: masked(x, 0.5), types=["float16", "bfloat16"], out=OUT)
case("NMSWithMask", "eight columns, another limit", {"box_scores": v(np.pad(SCORED, ((0, 0), (0, 3)), constant_values=1))}, lambda x: masked(x, 0.25), {"iou_threshold": 0.25}, out=OUT)
case("NMSWithMask", "many", {"box_scores": v(np.concatenate([SCORED + [shift, shift, shift, shift, 0] for shift in (0, 1, 3, 60, 61)]))}, lambda x: masked(x, 0.4), {"iou_threshold": 0.4}, out=OUT)
refused("NMSWithMask", "six columns", {"box_scores": f(3, 6)}, "[boxes, 5] or [boxes, 8]")
refused("NMSWithMask", "limit", {"box_scores": f(3, 5)}, "iou_threshold is 2", {"iou_threshold": 2.0})
