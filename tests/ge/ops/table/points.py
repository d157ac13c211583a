"""Points: coordinates, boxes, polygons and balls around centres."""

import numpy as np

from cases import case, f, i, refused, v

HALF = ("float16",)
case("Coordinates1DTo2D", "", {"x": v([13]), "shape": v([1, 2, 3, 5])}, lambda x, s: [x // s[3], x % s[3], s[3]], dtype="int32", types=["int64", "uint64"])
case("Coordinates1DTo2D", "several", {"x": v([0, 4, 5, 14]), "shape": v([1, 2, 3, 5])}, lambda x, s: [x // s[3], x % s[3], s[3]], dtype="int32")
refused("Coordinates1DTo2D", "three dimensions", {"x": v([13]), "shape": v([2, 3, 5])}, "4 numbers are required", dtype="int32")

SIZES = v([[10, 20, 3], [30, 40, 3]], "int32")


def normalised(boxes, sizes, axis=-1):
    sizes = np.concatenate([sizes[:, :2], sizes[:, :2]], 1).astype(float)
    shape = [1] * boxes.ndim
    shape[0], shape[axis] = len(sizes), 4
    return boxes / sizes.reshape(shape)


case("NormalizeBBox", "", {"boxes": f(2, 3, 4, lo=0, hi=9), "shape_hw": SIZES}, normalised, types=HALF)
case("NormalizeBBox", "coordinates first", {"boxes": f(2, 4, 3, lo=0, hi=9), "shape_hw": SIZES}, lambda b, s: normalised(b, s, 1), {"reversed_box": True})
refused("NormalizeBBox", "two numbers of a size", {"boxes": f(2, 3, 4), "shape_hw": v([[10, 20], [30, 40]], "int32")}, "must have 3 numbers")


def inside(points, polygons):
    """By the sum of the angles under which a point sees the edges: a full turn inside, none outside."""
    y = np.zeros((len(points), len(polygons)))
    for row, point in enumerate(points):
        for column, polygon in enumerate(polygons):
            corners = (polygon.reshape(4, 2) - point) @ np.array([1, 1j])
            y[row, column] = abs(np.angle(np.roll(corners, -1) / corners).sum()) > 3
    return y


POLYGONS = v([[-1, -1, 1, -1, 1, 1, -1, 1], [0, -1.5, 1.5, 0, 0, 1.5, -1.5, 0], [0.2, 0.1, 1.9, 0.3, 1.6, 1.8, 0.1, 1.2], [-2, -2, -2, -1, -1, -1, -1, -2]])
case("PointsInPolygons", "", {"points": f(24, 2), "polygons": POLYGONS}, inside)
refused("PointsInPolygons", "triangles", {"points": f(4, 2), "polygons": f(3, 6)}, "[N, 2] and [M, 8] are required")


def ball(points, centres, least, most, samples):
    y = np.zeros((*centres.shape[:2], samples), np.int32)
    for batch, centre in np.ndindex(*centres.shape[:2]):
        distance = ((points[batch] - centres[batch, centre]) ** 2).sum(-1)
        found = [at for at, one in enumerate(distance) if one == 0 or least**2 <= one < most**2][:samples]
        y[batch, centre] = found + found[:1] * (samples - len(found)) if found else 0
    return y


CLOUD = {"xyz": f(2, 12, 3), "center_xyz": f(2, 4, 3)}
for name, least, most, samples in [("a ball", 0.0, 2.0, 3), ("a layer", 1.0, 2.0, 5), ("more samples than points", 0.0, 1.5, 15), ("nothing near", 0.0, 0.015625, 2)]:
    case("BallQuery", name, CLOUD, lambda x, c, a=(least, most, samples): ball(x, c, *a), {"min_radius": least, "max_radius": most, "sample_num": samples}, types=HALF, out="int32")
refused("BallQuery", "points of two coordinates", {"xyz": f(2, 12, 2), "center_xyz": f(2, 4, 2)}, "[B, N, 3] and [B, M, 3] are required", {"min_radius": 0.0, "max_radius": 1.0, "sample_num": 2})



def stacked(points, centres, counts, owned, radius, samples):
    y, ends, starts = np.zeros((len(centres), samples), np.int32), np.cumsum(owned), np.cumsum([0, *counts])
    for at, centre in enumerate(centres):
        own = int(np.searchsorted(ends, at, "right"))
        near = ((points[starts[own] : starts[own + 1]] - centre) ** 2).sum(-1)
        found = [index for index, one in enumerate(near) if one < radius**2][:samples]
        y[at] = found + found[:1] * (samples - len(found)) if found else [-1] + [0] * (samples - 1)
    return y


SETS = {"xyz": f(13, 3), "center_xyz": f(6, 3), "xyz_batch_cnt": v([5, 8], "int32"), "center_xyz_batch_cnt": v([4, 2], "int32")}
for name, radius, samples in [("", 2.0, 3), ("more samples than points", 1.5, 15), ("nothing near", 0.015625, 2)]:
    case("StackBallQuery", name, SETS, lambda *a, o=(radius, samples): stacked(*a, *o), {"max_radius": radius, "sample_num": samples}, types=HALF, out="int32")
refused("StackBallQuery", "batches of points", {**SETS, "xyz": f(2, 13, 3)}, "[N, 3] and [M, 3] are required", {"max_radius": 1.0, "sample_num": 2})


def groups(features, counts, indices, owned):
    begins = np.repeat(np.cumsum([0, *counts[:-1]]), owned)
    return features[indices + begins[:, None]].transpose(0, 2, 1)


case("StackGroupPoints", "", {"features": f(7, 3), "features_batch_cnt": v([4, 3], "int32"), "indices": i(5, 2, lo=0, hi=3), "indices_batch_cnt": v([2, 3], "int32")}, groups, types=HALF)
refused("StackGroupPoints", "a list of features", {"features": f(7), "features_batch_cnt": v([4, 3], "int32"), "indices": i(5, 2, lo=0, hi=3), "indices_batch_cnt": v([2, 3], "int32")}, "2 dimensions each are required")


def flags(boxes, height, width, step_x, step_y, anchors):
    y = np.zeros((height, width, anchors))
    for box in boxes:
        column, row = int((box[0] + box[2]) / 2 // step_x), int((box[1] + box[3]) / 2 // step_y)
        if 0 <= row < height and 0 <= column < width:
            y[row, column] = 1
    return y.ravel()


case("AnchorResponseFlags", "", {"gt_bboxes": v([[3, 4, 13, 9], [30, 2, 34, 30], [-9, 0, 3, 3], [2, 60, 4, 70]])}, lambda x: flags(x, 5, 3, 16, 8, 2), {"featmap_size": [5, 3], "strides": [16, 8], "num_base_anchors": 2}, out="uint8")
refused("AnchorResponseFlags", "one stride", {"gt_bboxes": f(2, 4)}, "2 numbers each are required", {"featmap_size": [5, 3], "strides": [16], "num_base_anchors": 2})
