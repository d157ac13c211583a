"""Boxes and regions: codes, choices and the means of what lies in them."""

import numpy as np

from cases import PROTOTYPES, case, f, refused, t, v

HALF = ("float16",)
(OWN, _), (OTHER, _) = PROTOTYPES["BoundingBoxEncode"]["inputs"]
ANCHORS = v([[1, 2, 3, 4], [3, 4, 5, 6], [0, 0, 9, 4]])
# The numbers of the adapter's documentation, and a box that is its anchor.
TARGET = v([[5, 6, 7, 8], [7, 8, 9, 10], [0, 0, 9, 4]])


def sides(boxes):
    low, high = boxes[:, :2], boxes[:, 2:]
    return (low + high) / 2, high - low + 1


def encode(anchors, target, means=0.0, stds=1.0):
    (centre, size), (own, large) = sides(anchors), sides(target)
    return (np.concatenate([(own - centre) / size, np.log(large / size)], 1) - means) / stds


def decode(rois, deltas, shape, clip, means=0.0, stds=1.0):
    centre, size = sides(rois)
    deltas = deltas * stds + means
    most = abs(np.log(clip))
    centre = centre + size * deltas[:, :2]
    size = size * np.exp(np.clip(deltas[:, 2:], -most, most))
    boxes = np.concatenate([centre - size / 2 + 0.5, centre + size / 2 - 0.5], 1)
    return np.clip(boxes, 0, np.array([shape[1], shape[0]] * 2) - 1)


CODE = {"means": [0.0, 0.0, 0.25, 0.5], "stds": [0.5, 0.5, 0.25, 2.0]}
case("BoundingBoxEncode", "", {OWN: ANCHORS, OTHER: TARGET}, encode, types=HALF)
case("BoundingBoxEncode", "means and deviations", {OWN: ANCHORS, OTHER: TARGET}, lambda a, b: encode(a, b, np.array(CODE["means"]), np.array(CODE["stds"])), CODE)
refused("BoundingBoxEncode", "five columns", {OWN: f(3, 5), OTHER: TARGET}, "[boxes, 4] is required")
DOCUMENTED = np.array([[2.5, 6.5, 9, 9], [9, 9, 9, 9]])
case("BoundingBoxDecode", "as documented", {"rois": v([[1, 2, 3, 4], [3, 4, 5, 6]]), "deltas": v([[5, 6, 7, 8], [7, 8, 9, 6]])}, lambda r, d: DOCUMENTED, {"max_shape": [10, 10], "wh_ratio_clip": 0.1}, types=HALF)
case("BoundingBoxDecode", "", {"rois": ANCHORS, "deltas": f(3, 4)}, lambda r, d: decode(r, d, (12, 20), 0.25, np.array(CODE["means"]), np.array(CODE["stds"])), {"max_shape": [12, 20], "wh_ratio_clip": 0.25, **CODE})
refused("BoundingBoxDecode", "another number of boxes", {"rois": ANCHORS, "deltas": f(2, 4)}, "that of rois", {"max_shape": [9, 9]})

SIZE = v([10, 20, 3, 3], "int32")
case("ToAbsoluteBBox", "", {"normalized_boxes": f(2, 5, 4, lo=0, hi=1), "shape_hw": SIZE}, lambda b, s: b * s[[0, 1, 0, 1]], types=HALF)
case("ToAbsoluteBBox", "coordinates first", {"normalized_boxes": f(2, 4, 5, lo=0, hi=1), "shape_hw": SIZE}, lambda b, s: b * s[[0, 1, 0, 1], None], {"reversed_box": True})
refused("ToAbsoluteBBox", "two numbers of a size", {"normalized_boxes": f(2, 5, 4), "shape_hw": v([10, 20], "int32")}, "and 4 numbers, are required")


def overlap(one, two):
    def area(box):
        return (box[2] - box[0]) * (box[3] - box[1])

    high, wide = (max(min(one[2 + at], two[2 + at]) - max(one[at], two[at]), 0) for at in range(2))
    return high * wide / (area(one) + area(two) - high * wide)


def suppress(boxes, scores, most, limit, least):
    """Returns the positions of boxes that are kept, the best score first."""
    kept = []
    for at in np.argsort(-scores, kind="stable"):
        if scores[at] > least and len(kept) < most and all(overlap(boxes[at], boxes[one]) <= limit for one in kept):
            kept.append(at)
    return kept


def combined(boxes, scores, each, total, limit, least, pad=False, clip=True):
    batch, count, classes = scores.shape
    rows = min(int(total), int(each) * classes) if pad else int(total)
    table, best, kinds, valid = np.zeros((batch, rows, 4)), np.zeros((batch, rows)), np.zeros((batch, rows)), np.zeros(batch, np.int32)
    for image in range(batch):
        found = []
        for kind in range(classes):
            own = boxes[image, :, kind if boxes.shape[2] > 1 else 0]
            found += [(-scores[image, at, kind], kind, at) for at in suppress(own, scores[image, :, kind], each, limit, least)]
        for row, (score, kind, at) in enumerate(sorted(found)[:rows]):
            own = boxes[image, at, kind if boxes.shape[2] > 1 else 0]
            table[image, row] = np.clip(own, 0, 1) if clip else own
            best[image, row], kinds[image, row], valid[image] = -score, kind, row + 1
    return [table, best, kinds, valid]


def corners(*dims):
    """Boxes whose corners are in order."""
    low = f(*dims, 2, lo=-0.2, hi=0.7)
    return type(low)(lambda rng, own: (lambda start, size: np.concatenate([start, start + size], -1))(rng.uniform(-0.2, 0.7, (*dims, 2)), rng.uniform(0.2, 0.5, (*dims, 2))))


def scores(*dims):
    """Scores of which no two are equal."""
    return type(f(1))(lambda rng, own: (rng.permutation(int(np.prod(dims))).reshape(dims) + 1) / 128)


LIMITS = {"iou_threshold": v(0.3, "float32"), "score_threshold": v(0.1, "float32")}
SOME = {"max_output_size_per_class": t(4), "max_total_size": t(7)}
case("CombinedNonMaxSuppression", "one box for all classes", {"boxes": corners(2, 12, 1), "scores": scores(2, 12, 3), **SOME, **LIMITS}, combined, types=HALF, out=[None, None, None, "int32"])
case("CombinedNonMaxSuppression", "a box for each class", {"boxes": corners(2, 10, 3), "scores": scores(2, 10, 3), **SOME, **LIMITS}, lambda *a: combined(*a, clip=False), {"clip_boxes": False}, out=[None, None, None, "int32"])
case("CombinedNonMaxSuppression", "a table for all classes", {"boxes": corners(1, 6, 1), "scores": scores(1, 6, 2), "max_output_size_per_class": t(2), "max_total_size": t(50), **LIMITS}, lambda *a: combined(*a, pad=True), {"pad_per_class": True}, out=[None, None, None, "int32"])
refused("CombinedNonMaxSuppression", "boxes of two classes, scores of three", {"boxes": corners(2, 10, 2), "scores": scores(2, 10, 3), **SOME, **LIMITS}, "do not fit each other")


BATCH = {"score_threshold": 0.1, "iou_threshold": 0.3, "max_size_per_class": 4, "max_total_size": 7}
case("BatchMultiClassNonMaxSuppression", "", {"boxes": corners(2, 12, 1), "scores": scores(2, 12, 3)}, lambda b, s: combined(b, s, 4, 7, np.float32(0.3), np.float32(0.1), clip=False), BATCH, types=HALF, out=[None, None, None, "int32"])
case("BatchMultiClassNonMaxSuppression", "some boxes, one for each class", {"boxes": corners(2, 12, 3), "scores": scores(2, 12, 3), "num_valid_boxes": v([9, 4], "int32")},
     lambda b, s, n: combined(b, np.where(np.arange(12)[None, :, None] < n[:, None, None], s, -1), 4, 7, np.float32(0.3), np.float32(0.1), clip=False), BATCH, out=[None, None, None, "int32"])


def sorted_choice(boxes, scores, order, most, limit, least):
    return order[suppress(boxes[order], scores, int(most), limit, least)].astype(np.int32)


ORDER = {"sorted_scores": v(np.arange(12, 0, -1) / 16), "input_indices": v([3, 1, 4, 11, 5, 9, 2, 6, 8, 7, 10, 0], "int32")}
case("SortedNMS", "", {"boxes": corners(12), **ORDER, "max_output_size": v(5, "int32"), "iou_threshold": v(0.25), "score_threshold": v(0.125)}, sorted_choice, types=HALF, out="int32")
case("SortedNMS", "scores that are too small", {"boxes": corners(12), **ORDER, "max_output_size": t(12), "iou_threshold": v(0.5), "score_threshold": v(0.375)}, sorted_choice, out="int32")
refused("SortedNMS", "an offset", {"boxes": corners(12), **ORDER, "max_output_size": t(5), "iou_threshold": v(0.25), "score_threshold": v(0.25)}, "its attribute offset is", {"offset": 1})

# --- regions -------------------------------------------------------------------------------------------------------------


def pixels(y, x, height, width):
    """The four pixels around a position with their shares, as RoIAlign has them."""
    if y < -1 or y > height or x < -1 or x > width:
        return []
    found = []
    for at, size in ((max(y, 0), height), (max(x, 0), width)):
        low = int(at)
        low, high, share = (size - 1, size - 1, 0.0) if low >= size - 1 else (low, low + 1, at - low)
        found.append(((low, 1 - share), (high, share)))
    return [(row, column, a * b) for row, a in found[0] for column, b in found[1]]


def samples(size, count):
    return count if count > 0 else int(np.ceil(size))


def straight(roi, scale, pooled, count, mode):
    """The positions that make each cell of a region."""
    half = 0.5 if mode in (2, 3) else 0.0
    x0, y0, x1, y1 = (np.array(roi[1:5]) + [0, 0, mode == 1, mode == 1]) * scale - half
    wide, high = x1 - x0, y1 - y0
    if mode == 0:
        wide, high = max(wide, 1), max(high, 1)
    cell_y, cell_x = high / pooled[0], wide / pooled[1]
    down, over = samples(cell_y, count), samples(cell_x, count)
    for row, column in np.ndindex(*pooled):
        yield row, column, [(y0 + (row + (i + 0.5) / down) * cell_y, x0 + (column + (j + 0.5) / over) * cell_x) for i in range(down) for j in range(over)]


def turned(roi, scale, pooled, count, aligned, clockwise):
    centre_x, centre_y = np.array(roi[1:3]) * scale - (0.5 if aligned else 0)
    wide, high = np.array(roi[3:5]) * scale
    if not aligned:
        wide, high = max(wide, 1), max(high, 1)
    angle = -roi[5] if clockwise else roi[5]
    cell_y, cell_x = high / pooled[0], wide / pooled[1]
    down, over = samples(cell_y, count), samples(cell_x, count)
    for row, column in np.ndindex(*pooled):
        found = []
        for i, j in np.ndindex(down, over):
            y = (row + (i + 0.5) / down) * cell_y - high / 2
            x = (column + (j + 0.5) / over) * cell_x - wide / 2
            found.append((y * np.cos(angle) - x * np.sin(angle) + centre_y, y * np.sin(angle) + x * np.cos(angle) + centre_x))
        yield row, column, found


def forward(image, rois, pooled, cells):
    y = np.zeros((len(rois), image.shape[1], *pooled))
    for at, roi in enumerate(rois):
        for row, column, found in cells(roi):
            for position in found:
                for line, across, share in pixels(*position, *image.shape[2:]):
                    y[at, :, row, column] += image[int(roi[0]), :, line, across] * share / len(found)
    return y


def backward(grad, rois, shape, cells):
    y = np.zeros(shape)
    for at, roi in enumerate(rois):
        for row, column, found in cells(roi):
            for position in found:
                for line, across, share in pixels(*position, *shape[2:]):
                    y[int(roi[0]), :, line, across] += grad[at, :, row, column] * share / len(found)
    return y


ROIS = v([[0, 1.0, 2.0, 11.0, 9.0], [1, 0.0, 0.0, 15.5, 13.0], [1, 6.0, 5.0, 7.0, 5.5], [0, 3.2, 4.1, 3.2, 4.1]])
ROIS3 = v([[0, 1.0, 2.0, 11.0, 9.0], [1, 0.0, 0.0, 15.5, 13.0], [1, 6.0, 5.0, 7.0, 5.5]])
# MindSpore's CPU: a region that ends at its first pixel has the size of that pixel in mode 1, and is at least a pixel of the map in mode 0.
case("ROIAlign", "a region of one pixel", {"features": v([[[[1.0, 2.0], [3.0, 4.0]]]]), "rois": v([[0, 0.2, 0.3, 0.2, 0.3]])},
     lambda x, r: np.array([[[[1.775, 2.025], [2.275, 2.525]]]]), {"spatial_scale": 0.5, "pooled_height": 2, "pooled_width": 2})
for mode in range(4):
    case("ROIAlign", f"small regions, mode {mode}", {"features": f(2, 2, 7, 8), "rois": ROIS}, lambda x, r, m=mode: forward(x, r, (2, 3), lambda roi: straight(roi, 0.5, (2, 3), 2, m)),
         {"pooled_width": 3, "pooled_height": 2, "spatial_scale": 0.5, "roi_end_mode": mode})
    for count in [0, 2] if mode == 1 else [2]:
        case("ROIAlignGrad", f"mode {mode}, {count} samples", {"ydiff": f(4, 2, 2, 3), "rois": ROIS},
             lambda g, r, m=mode, c=count: backward(g, r, (2, 2, 7, 8), lambda roi: straight(roi, 0.5, (2, 3), c, m)),
             {"xdiff_shape": [2, 2, 7, 8], "pooled_width": 3, "pooled_height": 2, "spatial_scale": 0.5, "sample_num": count, "roi_end_mode": mode})
refused("ROIAlignGrad", "a gradient of another size", {"ydiff": f(3, 2, 2, 2), "rois": ROIS3}, "[3, 2, 2, 3] is required", {"xdiff_shape": [2, 2, 7, 8], "pooled_width": 3, "pooled_height": 2, "spatial_scale": 0.5})
ROTATED = v([[0, 6.0, 7.0, 9.0, 5.0, 0.5], [1, 9.0, 6.0, 12.0, 11.0, -1.25], [1, 2.0, 2.5, 1.0, 0.5, 3.0]])
for name, aligned, clockwise, count in [("", True, False, 2), ("clockwise, all samples", True, True, 0), ("not aligned", False, False, 3)]:
    attrs = {"pooled_h": 2, "pooled_w": 3, "spatial_scale": 0.5, "sampling_ratio": count, "aligned": aligned, "clockwise": clockwise}
    cells = lambda roi, o=(count, aligned, clockwise): turned(roi, 0.5, (2, 3), *o)  # noqa: E731
    case("RoiAlignRotated", name, {"x": f(2, 2, 7, 8), "rois": ROTATED}, lambda x, r, c=cells: forward(x, r, (2, 3), c), attrs)
    case("RoiAlignRotatedGrad", name, {"x_grad": f(3, 2, 2, 3), "rois": ROTATED}, lambda g, r, c=cells: backward(g, r, (2, 2, 7, 8), c), {**attrs, "y_grad_shape": [2, 2, 7, 8]})
refused("RoiAlignRotated", "regions of five numbers", {"x": f(2, 2, 7, 8), "rois": ROIS}, "6 numbers", {"pooled_h": 2, "pooled_w": 3, "spatial_scale": 0.5})


# --- overlaps ------------------------------------------------------------------------------------------------------------


def iou(one, two, mode="iou", eps=1.0, aligned=False):
    # The other rectangles are the rows of the result.
    one, two = (one[None], two[:, None]) if not aligned else (one, two)
    high, wide = (np.maximum(np.minimum(one[..., 2 + at], two[..., 2 + at]) - np.maximum(one[..., at], two[..., at]) + eps, 0) for at in range(2))
    areas = [(box[..., 2] - box[..., 0] + eps) * (box[..., 3] - box[..., 1] + eps) for box in (one, two)]
    shared = high * wide
    y = shared / (areas[1] if mode == "iof" else areas[0] + areas[1] - shared)
    return y[:, None] if aligned else y


case("Iou", "", {"bboxes": corners(5), "gtboxes": corners(4)}, iou, types=HALF)
case("Iou", "by the other alone", {"bboxes": corners(5), "gtboxes": corners(4)}, lambda a, b: iou(a, b, "iof", 0.0), {"mode": "iof", "eps": 0.0})
case("Iou", "rectangles that touch", {"bboxes": v([[0, 0, 10, 10], [10, 10, 20, 20], [32, 32, 38, 42]], "float32"), "gtboxes": v([[0, 0, 10, 20], [10, 10, 20, 20]], "float32")},
     lambda a, b: np.array([[0.5, 0, 0], [0, 1, 0]]), {"eps": 0.01})
case("Iou", "pairs", {"bboxes": corners(5), "gtboxes": corners(5)}, lambda a, b: iou(a, b, aligned=True), {"aligned": True})
refused("Iou", "another mode", {"bboxes": corners(5), "gtboxes": corners(4)}, "mode", {"mode": "giou"})


def complete(one, two, centred=False):
    if centred:
        one, two = (np.concatenate([box[:2] - box[2:] / 2, box[:2] + box[2:] / 2]) for box in (one, two))
    (own, other) = ((box[2] - box[0], box[3] - box[1]) for box in (one, two))
    shared = np.prod([np.maximum(np.minimum(one[2 + at], two[2 + at]) - np.maximum(one[at], two[at]), 0) for at in range(2)], 0)
    share = shared / (own[0] * own[1] + other[0] * other[1] - shared)
    way = sum((one[at] + one[2 + at] - two[at] - two[2 + at]) ** 2 / 4 for at in range(2))
    around = sum((np.maximum(one[2 + at], two[2 + at]) - np.minimum(one[at], two[at])) ** 2 for at in range(2))
    angle = np.arctan(other[0] / other[1]) - np.arctan(own[0] / own[1])
    aspect = 4 / np.pi**2 * angle**2
    return [(share - way / around - aspect / (1 - share + aspect) * aspect)[None], angle[None]]


def columns(count):
    own = corners(count)
    return type(own)(lambda rng, dtype: own.make(rng, dtype).T)


case("Iou", "pairs that lie in columns", {"bboxes": columns(5), "gtboxes": columns(5)}, lambda a, b: iou(a.T, b.T, aligned=True), {"aligned": True})
case("CIoU", "", {"bboxes": columns(1024), "gtboxes": columns(1024)}, complete, {"is_cross": False, "atan_sub_flag": True}, types=HALF)
case("CIoU", "centres and sizes", {"bboxes": f(4, 1024, lo=0.5, hi=2), "gtboxes": f(4, 1024, lo=0.5, hi=2)}, lambda a, b: complete(a, b, True), {"is_cross": False, "trans": True})
refused("CIoU", "all pairs", {"bboxes": columns(1024), "gtboxes": columns(1024)}, "isCross")
case("CheckValid", "", {"bbox_tensor": v([[0, 0, 2, 5], [0, 0, 2.25, 5], [0, 0, 2, 5.25], [-0.25, 0, 1, 1], [0, -0.25, 1, 1], [0.5, 0, 1, 1]]), "img_metas": v([2, 1, 3])},
     lambda b, m: ((b[:, :2] >= 0).all(1) & (b[:, 2] <= m[1] * m[2] - 1) & (b[:, 3] <= m[0] * m[2] - 1))[:, None], types=["float16"], out="int8")
refused("CheckValid", "boxes of five numbers", {"bbox_tensor": f(3, 5), "img_metas": v([2, 1, 3])}, "four numbers for each box")
