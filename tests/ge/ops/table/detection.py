"""Detectors: boxes from their distances to others, regions that are proposed, and the boxes that stay. All of it is done one box after
the other, as the papers say it."""

import math

import numpy as np

from cases import case, const, f, refused, v

HALF = ("float16",)
RNG = np.random.default_rng(7)


def overlap(one, two, edge=0.0):
    """The shared part of two boxes; `edge` is 1 where their ends are pixels that belong to them."""
    def area(left, top, right, bottom):
        return max(right - left + edge, 0.0) * max(bottom - top + edge, 0.0)

    shared = area(max(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), min(one[3], two[3]))
    both = area(*one) + area(*two) - shared
    return shared / both if both > 0 else 0.0


def staying(boxes, scores, limit, before, edge=0.0, least=None):
    """The indices of the boxes that no better one puts out, best first."""
    order = [at for at in sorted(range(len(scores)), key=lambda at: -scores[at]) if least is None or scores[at] > least]
    stay = []
    for at in order[:before]:
        shares = [overlap(boxes[at], boxes[other], edge) for other in stay]
        # A case must not hang on a rounding.
        assert all(abs(share - limit) > 2e-5 for share in shares)
        if all(share <= limit for share in shares):
            stay.append(at)
    return stay


def detected(boxes, scores, limit, before, after, least, without=None):
    """Of all classes the best: (class, score, box), by class and then by score."""
    found = []
    for kind, own in enumerate(scores):
        if kind == without:
            continue
        for at in staying(boxes[kind], own, limit, before, least=least):
            found.append((own[at], kind, at))
    best = sorted(found, key=lambda one: (-one[0], one[1]))[:after]
    return [(kind, score, boxes[kind][at]) for score, kind, at in sorted(best, key=lambda one: (one[1], -one[0]))]


def distinct(*dims):
    """Scores between 0 and 1 of which no two are equal, not even as float16."""
    count = math.prod(dims)
    return (RNG.permutation(count).reshape(dims) + 1) / (count + 1)


# --- DecodeBbox ---


def decoded(deltas, anchors, clip):
    out = np.zeros_like(anchors)
    for at in np.ndindex(anchors.shape[:-1]):
        (ty, tx, th, tw), (top, left, bottom, right) = deltas[at], anchors[at]
        tall, wide = bottom - top, right - left
        if clip:
            th, tw = min(th, clip), min(tw, clip)
        y, x, h, w = ty * tall + top + tall / 2, tx * wide + left + wide / 2, math.exp(th) * tall, math.exp(tw) * wide
        out[at] = y - h / 2, x - w / 2, y + h / 2, x + w / 2
    return out


CORNERS = v([[1, 2, 3, 4], [0, 0, 9, 4], [2.5, 1, 3, 8]])
case("DecodeBbox", "", {"box_predictions": f(3, 4), "anchors": CORNERS}, lambda d, a: decoded(d, a, 0), {"decode_clip": 0.0}, dtype="float16")
case("DecodeBbox", "a bound of the sizes", {"box_predictions": f(2, 3, 4), "anchors": f(2, 3, 4, lo=0)}, lambda d, a: decoded(d, a, 0.5), {"decode_clip": 0.5}, dtype="float16")
refused("DecodeBbox", "another number of anchors", {"box_predictions": f(3, 4), "anchors": f(2, 4)}, "one shape with 4 in the last axis", {"decode_clip": 0.0}, dtype="float16")
refused("DecodeBbox", "five numbers", {"box_predictions": f(3, 5), "anchors": f(3, 5)}, "one shape with 4 in the last axis", {"decode_clip": 0.0}, dtype="float16")
refused("DecodeBbox", "a negative bound", {"box_predictions": f(3, 4), "anchors": f(3, 4)}, "decode_clip is -1; it must not be negative", {"decode_clip": -1.0}, dtype="float16")


# --- Proposal ---


def around(base, ratios, scales):
    """The anchors of py-faster-rcnn."""
    for ratio in ratios:
        w = np.round(np.sqrt(base * base / ratio))
        h = np.round(w * ratio)
        for scale in scales:
            middle = 0.5 * (base - 1)
            yield [middle - 0.5 * (w * scale - 1), middle - 0.5 * (h * scale - 1), middle + 0.5 * (w * scale - 1), middle + 0.5 * (h * scale - 1)]


def proposed(probabilities, deltas, info, stride=16.0, base=16.0, least=16.0, ratios=(0.5, 1, 2), scales=(8, 16, 32), before=3000, after=304, limit=0.7):
    own = list(around(base, ratios, scales))
    batch, _, tall, wide = probabilities.shape
    columns = -(-after // 16) * 16
    rois, numbers = np.zeros((batch, 5, columns)), np.zeros((batch, 8), np.int32)
    for image in range(batch):
        height, width = np.reshape(info, (batch, -1))[image][:2]
        boxes, scores = [], []
        for y in range(tall):
            for x in range(wide):
                for at, (left, top, right, bottom) in enumerate(own):
                    dx, dy, dw, dh = deltas[image, 4 * at : 4 * at + 4, y, x]
                    w, h = right - left + 1, bottom - top + 1
                    cx, cy = left + x * stride + 0.5 * w + dx * w, top + y * stride + 0.5 * h + dy * h
                    w, h = math.exp(dw) * w, math.exp(dh) * h
                    box = np.clip([cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h], 0, [width - 1, height - 1] * 2)
                    sides = box[2] - box[0] + 1, box[3] - box[1] + 1
                    assert all(abs(side - least) > 1e-3 or side == least for side in sides)
                    if min(sides) >= least:
                        boxes.append(box)
                        scores.append(probabilities[image, len(own) + at, y, x])
        stay = staying(boxes, scores, limit, before, edge=1.0)[:after]
        for column, at in enumerate(stay):
            rois[image, :, column] = [image, *boxes[at]]
        numbers[image, 0] = len(stay)
    return rois, numbers


SMALL = {"feat_stride": 8.0, "base_size": 8.0, "min_size": 6.0, "ratio": [0.5, 1.5], "scale": [1.0, 2.0, 3.0]}
REGIONS = {"cls_prob": v(distinct(2, 12, 3, 4)), "bbox_delta": v(RNG.uniform(-0.75, 0.75, (2, 24, 3, 4))), "im_info": v([[24, 32], [20, 40]])}
WRITTEN = [None, "int32"]


def small(p, d, i, **more):
    return proposed(p, d, i, **{"stride": 8.0, "base": 8.0, "least": 6.0, "ratios": (0.5, 1.5), "scales": (1, 2, 3), **more})


case("Proposal", "", {"cls_prob": v(distinct(1, 18, 2, 3)), "bbox_delta": f(1, 36, 2, 3, lo=-0.5, hi=0.5), "im_info": v([[375, 1240]])}, proposed, out=WRITTEN)
case("Proposal", "two images", REGIONS, lambda p, d, i: small(p, d, i, after=32), {**SMALL, "post_nms_topn": 32}, types=HALF, out=WRITTEN)
case("Proposal", "few regions before and after", REGIONS, lambda p, d, i: small(p, d, i, before=20, after=5, limit=0.3),
     {**SMALL, "pre_nms_topn": 20, "post_nms_topn": 5, "iou_threshold": 0.3, "output_actual_rois_num": True}, out=WRITTEN)
case("Proposal", "a scale behind the sizes", {**REGIONS, "im_info": v([[24, 32, 2], [20, 40, 3]])}, lambda p, d, i: small(p, d, i, after=32), {**SMALL, "post_nms_topn": 32}, out=WRITTEN)
case("Proposal", "all regions too small", REGIONS, lambda p, d, i: small(p, d, i, least=64.0, after=16), {**SMALL, "min_size": 64.0, "post_nms_topn": 16}, out=WRITTEN)
refused("Proposal", "anchors that are not there", {**REGIONS, "cls_prob": f(2, 18, 3, 4)}, "with 6 anchors [batch, 12, h, w] and [batch, 24, h, w]", SMALL)
refused("Proposal", "one size", {**REGIONS, "im_info": f(2, 1)}, "[2, 2] or more, are required", SMALL)
refused("Proposal", "no regions", REGIONS, "post_nms_topn is 0; it must be from 1", {**SMALL, "post_nms_topn": 0})
refused("Proposal", "no stride", REGIONS, "feat_stride is 0; it must be positive", {**SMALL, "feat_stride": 0.0})
refused("Proposal", "a negative scale", REGIONS, "ratio and scale are [0.5, 1.5] and [1.0, -2.0]; positive", {**SMALL, "scale": [1.0, -2.0]})
refused("Proposal", "an overlap above 1", REGIONS, "iou_threshold is 1.5; it must be from 0 to 1", {**SMALL, "iou_threshold": 1.5})


# --- SSDDetectionOutput ---


def ssd(deltas, scores, anchors, classes=2, shared=True, background=0, limit=0.3, before=200, encoded=False, code=1, after=-1, least=0.0):
    batch = len(scores)
    scores = scores.reshape(batch, -1, classes)
    count = scores.shape[1]
    deltas = deltas.reshape(batch, count, 1 if shared else classes, 4)
    most = after if after > 0 else (classes - (background >= 0)) * min(before, count)
    y, numbers = np.zeros((batch, -(-most // 128) * 128, 8)), np.zeros((batch, 8), np.int32)
    for image in range(batch):
        rows = anchors[image % len(anchors)]
        boxes = []
        for kind in range(classes):
            boxes.append([])
            for at in range(count):
                left, top, right, bottom = prior = rows[0, 4 * at : 4 * at + 4]
                variance = np.ones(4) if encoded else rows[1, 4 * at : 4 * at + 4]
                delta = deltas[image, at, 0 if shared else kind] * variance
                w, h = right - left, bottom - top
                if code == 1:
                    box = prior + delta
                elif code == 3:
                    box = prior + delta * [w, h, w, h]
                else:
                    cx, cy = delta[0] * w + (left + right) / 2, delta[1] * h + (top + bottom) / 2
                    w, h = math.exp(delta[2]) * w, math.exp(delta[3]) * h
                    box = np.array([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2])
                boxes[kind].append(box)
        found = detected(boxes, scores[image].T, limit, before, most, least, background if background >= 0 else None)
        for row, (kind, score, box) in enumerate(found):
            y[image, row, :7] = [image, kind, score, *box]
        numbers[image, 0] = len(found)
    return numbers, y


def priors(batch, count, rows=2):
    """Boxes in an image of 1 x 1 that overlap here and there."""
    corner, size = RNG.uniform(0, 0.6, (batch, count, 2)), RNG.uniform(0.15, 0.4, (batch, count, 2))
    boxes = np.concatenate([corner, corner + size], 2).reshape(batch, 1, -1)
    return np.concatenate([boxes, np.resize([0.1, 0.1, 0.2, 0.2], boxes.shape)], 1)[:, :rows]


BOXES = {"bbox_delta": f(2, 20 * 4), "score": v(distinct(2, 20 * 3)), "anchors": v(priors(1, 20))}
NUMBERS = ["int32", None]
THREE = {"num_classes": 3}
case("SSDDetectionOutput", "", {"bbox_delta": f(1, 12 * 4), "score": v(distinct(1, 12 * 2)), "anchors": v(priors(1, 12))}, ssd, types=HALF, out=NUMBERS)
for code, name in [(1, "corners"), (2, "centres"), (3, "corners in sizes")]:
    case("SSDDetectionOutput", f"three classes, {name}", BOXES, lambda d, s, a, code=code: ssd(d, s, a, 3, code=code, after=10, limit=0.45),
         {**THREE, "code_type": code, "keep_top_k": 10, "iou_threshold": 0.45}, types=HALF, out=NUMBERS)
case("SSDDetectionOutput", "boxes of each class", {**BOXES, "bbox_delta": f(2, 20 * 3 * 4), "anchors": v(priors(2, 20))},
     lambda d, s, a: ssd(d, s, a, 3, shared=False, code=2, after=200, before=7, least=0.25), {**THREE, "share_location": False, "code_type": 2, "keep_top_k": 200, "top_k": 7, "confidence_threshold": 0.25}, out=NUMBERS)
case("SSDDetectionOutput", "no background, variances in the distances", {**BOXES, "bbox_delta": f(2, 20 * 4, lo=-0.2, hi=0.2), "anchors": v(priors(2, 20, 1))},
     lambda d, s, a: ssd(d, s, a, 3, background=-1, encoded=True, code=2), {**THREE, "background_label_id": -1, "variance_encoded_in_target": True, "code_type": 2}, out=NUMBERS)
case("SSDDetectionOutput", "another background, none is likely", BOXES, lambda d, s, a: ssd(d, s, a, 3, background=2, least=1.0, after=130),
     {**THREE, "background_label_id": 2, "confidence_threshold": 1.0, "keep_top_k": 130}, out=NUMBERS)
refused("SSDDetectionOutput", "another number of boxes", {**BOXES, "bbox_delta": f(2, 19 * 4)}, "[batch, boxes * 4], [batch, boxes * 3] and [batch or 1, 2, boxes * 4]", THREE)
refused("SSDDetectionOutput", "no variances", {**BOXES, "anchors": v(priors(1, 20, 1))}, "[batch or 1, 2, boxes * 4] are required", THREE)
refused("SSDDetectionOutput", "an unknown code", BOXES, "code_type is 4; it must be from 1 to 3", {**THREE, "code_type": 4})
refused("SSDDetectionOutput", "a background that is not there", BOXES, "background_label_id is 3; it must be from -1 to 2", {**THREE, "background_label_id": 3})
refused("SSDDetectionOutput", "nothing kept", BOXES, "keep_top_k is 0; it must be -1 or from 1 to 1024", {**THREE, "keep_top_k": 0})
refused("SSDDetectionOutput", "nothing looked at", BOXES, "top_k is 0; it must be from 1 to 1024", {**THREE, "top_k": 0})
refused("SSDDetectionOutput", "a falling threshold", BOXES, "its attribute eta is Float(0.5), which is not supported", {**THREE, "eta": 0.5})
refused("SSDDetectionOutput", "one class", {**BOXES, "score": f(2, 20)}, "2 or more are required where background_label_id is 0", {"num_classes": 1})


# --- Yolo ---


def long(count):
    return (2 * count + 63) // 32 * 32 // 2


def logistic(x):
    return 1 / (1 + np.exp(-x))


def yolo(x, boxes=3, classes=80, version="V3", softmax=False, background=False):
    batch, _, tall, wide = x.shape
    pixels = tall * wide
    coords = np.zeros((batch, 4 * boxes, long(pixels)))
    objects, kinds = np.zeros((batch, long(boxes * pixels))), np.zeros((batch, classes, long(boxes * pixels)))
    softmax, background = softmax and version == "V2", background and version == "V2"
    for image, box, pixel in np.ndindex(batch, boxes, pixels):
        column = x[image, box::boxes].reshape(5 + classes, pixels)[:, pixel]
        at = box * pixels + pixel
        coords[image, box::boxes, pixel] = [*logistic(column[:2]), column[3], column[2]]
        heights = np.exp(column[4:])
        if softmax and background:
            objects[image, at], kinds[image, :, at] = heights[0] / heights.sum(), heights[1:] / heights.sum()
        else:
            objects[image, at] = column[4] if background else logistic(column[4])
            kinds[image, :, at] = heights[1:] / heights[1:].sum() if softmax else logistic(column[5:])
    return coords, objects, kinds


case("Yolo", "", {"x": f(1, 3 * 85, 2, 2)}, yolo, types=HALF)
MODE = {"boxes": 2, "classes": 5}
for version, softmax, background in [("V2", False, False), ("V2", True, False), ("V2", False, True), ("V2", True, True), ("V3", True, True)]:
    case("Yolo", f"{version}, softmax {softmax}, background {background}", {"x": f(2, 20, 3, 5)},
         lambda x, mode=(version, softmax, background): yolo(x, 2, 5, *mode), {**MODE, "yolo_version": version, "softmax": softmax, "background": background}, types=HALF)
refused("Yolo", "channels", {"x": f(2, 21, 3, 5)}, "[n, 20, h, w] without an empty axis is required for 2 boxes and 5 classes", MODE)
refused("Yolo", "three dimensions", {"x": f(2, 20, 3)}, "[n, c, h, w] is required", MODE)
refused("Yolo", "an unknown version", {"x": f(2, 20, 3, 5)}, 'yolo_version is "V5"; "V2" or "V3" is required', {**MODE, "yolo_version": "V5"})
refused("Yolo", "five coordinates", {"x": f(2, 20, 3, 5)}, "coords is 5; it must be 4", {**MODE, "coords": 5})
refused("Yolo", "no classes", {"x": f(2, 10, 3, 5)}, "classes is 0; it must be from 1 to 1024", {**MODE, "classes": 0})
refused("Yolo", "a tree", {"x": f(2, 20, 3, 5)}, "softmaxtree", {**MODE, "softmaxtree": True})


# --- the detections of YOLO ---


def found(layers, info, biases, boxes, classes, alpha=None, stretched=False, object_least=0.5, least=0.5, limit=0.45, before=512, after=512):
    """Darknet, with its boxes in pixels of the image: `layers` are what the network says."""
    batch = len(info)
    out, numbers = np.zeros((batch, 6 * after)), np.zeros((batch, 8), np.int32)
    for image in range(batch):
        net_h, net_w, real_h, real_w = info[image]
        new_w, new_h = net_w, net_h
        if not stretched:
            if net_w / real_w < net_h / real_h:
                new_h = real_h * net_w // real_w
            else:
                new_w = real_w * net_h // real_h
        corners, scores = [], [[] for _ in range(classes)]
        for number, x in enumerate(layers):
            tall, wide = x.shape[2:]
            for box, row, column in np.ndindex(boxes, tall, wide):
                tx, ty, tw, th, to, *kinds = x[image, box::boxes, row, column]
                pw, ph = biases[2 * (number * boxes + box) :][:2]
                if alpha is None:
                    bx, by, bw, bh = logistic(tx), logistic(ty), math.exp(tw) * pw, math.exp(th) * ph
                else:
                    bx, by = (logistic(one) * alpha - (alpha - 1) / 2 for one in (tx, ty))
                    bw, bh = ((logistic(one) * alpha) ** 2 * side for one, side in ((tw, pw), (th, ph)))
                bx, by, bw, bh = (bx + column) / wide, (by + row) / tall, bw / net_w, bh / net_h
                bx, by = (bx - (net_w - new_w) / 2 / net_w) / (new_w / net_w), (by - (net_h - new_h) / 2 / net_h) / (new_h / net_h)
                bw, bh = bw * net_w / new_w, bh * net_h / new_h
                corners.append([(bx - bw / 2) * real_w, (by - bh / 2) * real_h, (bx + bw / 2) * real_w, (by + bh / 2) * real_h])
                sure = logistic(to)
                assert abs(sure - object_least) > 1e-3
                for kind, one in enumerate(kinds):
                    scores[kind].append(sure * logistic(one) if sure > object_least else -1.0)
                    assert abs(scores[kind][-1] - least) > 1e-3
        stay = detected([corners] * classes, scores, limit, before, after, least)
        table = np.array([[*box, score, kind] for kind, score, box in stay]).reshape(-1, 6)
        out[image, : 6 * len(stay)] = table.T.ravel()
        numbers[image, 0] = len(stay)
    return out, numbers


def in_rows(outputs):
    """The first of the outputs with a dimension for its rows."""
    table, numbers = outputs
    return table.reshape(len(table), 6, -1), numbers


def detector(op, layers, attrs):
    """C++: Yolo for each layer, and what detects."""
    lines = [f'ge::op::{op} op("op");', f"op.create_dynamic_input_x({3 * layers + 1});"]
    for at in range(layers):
        lines += [f'ge::op::Yolo layer{at}("layer{at}");', f"layer{at}.set_input_x(c.in({at}));", f"layer{at}.set_attr_boxes({attrs['boxes']}).set_attr_classes({attrs['classes']});"]
        for part, name in enumerate(["coord_data", "obj_prob", "classes_prob"]):
            lines.append(f'op.set_dynamic_input_x({part * layers + at}, layer{at}, "{name}");')
    lines.append(f"op.set_dynamic_input_x({3 * layers}, c.in({layers}));")
    for name, value in attrs.items():
        text = "{%s}" % ", ".join(f"{one}f" for one in value) if isinstance(value, list) else str(value).lower()
        lines.append(f"op.set_attr_{name}(std::vector<float>{text});" if isinstance(value, list) else f"op.set_attr_{name}({text});")
    return "\n".join([*lines, "c.out(op);"])


def biases(count):
    return [float(one) for one in RNG.integers(8, 40, 2 * count)]


def layers(*sizes, batch=1, boxes=2, classes=3):
    """What networks say of so many pixels, far from the thresholds."""
    made = {}
    for number, (tall, wide) in enumerate(sizes):
        x = RNG.uniform(-0.6, 0.6, (batch, 5 + classes, boxes, tall, wide))
        x[:, 4] = RNG.choice([-2.0, 1.5, 2.5], x[:, 4].shape) + RNG.uniform(-0.2, 0.2, x[:, 4].shape)
        x[:, 5:] = RNG.choice([-2.0, 1.5, 3.0], x[:, 5:].shape) + RNG.uniform(-0.2, 0.2, x[:, 5:].shape)
        made[f"layer{number}"] = v(x.reshape(batch, -1, tall, wide))
    return made


THREE_LAYERS = [(2, 3), (4, 6), (8, 12)]
PIXELS = [[64.0, 96.0, 60.0, 120.0], [64.0, 96.0, 100.0, 90.0]]
# Scores that rounding to float16 does not bring into another order.
SPREAD = RNG.uniform(-0.6, 0.6, (6, 2, 6))
SPREAD[4:] = np.stack([np.full(12, 3.0), RNG.permutation(np.linspace(0.5, 4.0, 12))]).reshape(2, 2, 6)
SPREAD = SPREAD.reshape(1, 12, 2, 3)
WHY = "probabilities are rounded to their type between two operators"
for op, alpha in [("YoloV3DetectionOutputV2", None), ("YoloV5DetectionOutput", 2.0)]:
    own = {"boxes": 2, "classes": 3}
    attrs = {**own, "biases": biases(6)}
    case(op, "", {**layers(*THREE_LAYERS), "info": v(PIXELS[:1])}, lambda a, b, c, info, attrs=attrs, alpha=alpha: in_rows(found([a, b, c], info, attrs["biases"], 2, 3, alpha)),
         code=detector(op, 3, attrs), out=WRITTEN)
    attrs = {"boxes": 2, "classes": 1, "biases": biases(2)}
    case(op, "scores far from each other", {"layer": v(SPREAD), "info": v(PIXELS[:1])}, lambda a, info, attrs=attrs, alpha=alpha: in_rows(found([a], info, attrs["biases"], 2, 1, alpha)),
         code=detector(op, 1, attrs), types=HALF, out=WRITTEN, loose=8, why=WHY)
    attrs = {**own, "biases": biases(4), "out_box_dim": 2, "post_nms_topn": 40, "pre_nms_topn": 9, "iou_threshold": 0.25, "score_threshold": 0.25, "obj_threshold": 0.3}
    case(op, "two layers, two images, flat", {**layers(*THREE_LAYERS[:2], batch=2), "info": v(PIXELS)},
         lambda a, b, info, attrs=attrs, alpha=alpha: found([a, b], info, attrs["biases"], 2, 3, alpha, False, 0.3, 0.25, 0.25, 9, 40),
         code=detector(op, 2, attrs), out=WRITTEN)
    attrs = {**attrs, "biases": biases(2), "post_nms_topn": 5, "resize_origin_img_to_net": True}
    if alpha:
        attrs["alpha"], alpha = 1.5, 1.5
    case(op, "a stretched image, more boxes than rows", {**layers(THREE_LAYERS[1], batch=2), "info": v(PIXELS)},
         lambda a, info, attrs=attrs, alpha=alpha: found([a], info, attrs["biases"], 2, 3, alpha, True, 0.3, 0.25, 0.25, 9, 5),
         code=detector(op, 1, attrs), out=WRITTEN)
    refused(op, "layers that Yolo did not make", {"x": [f(1, 8, 32), f(1, 32), f(1, 3, 32), f(1, 4)]}, "x0 is not the output coord_data of a Yolo operator", {**own, "biases": biases(2)})
    refused(op, "two inputs for a layer", {"x": [f(1, 8, 32), f(1, 32), f(1, 4)]}, "it has 3 inputs x", {**own, "biases": biases(2)})
    refused(op, "too few biases", {"x": [f(1, 8, 32), f(1, 32), f(1, 3, 32), f(1, 4)]}, "its attribute biases has 2 numbers; 4 are required for 1 layers of 2 boxes", {**own, "biases": [1.0, 2.0]})
    refused(op, "absolute boxes", {"x": [f(1, 8, 32), f(1, 32), f(1, 3, 32), f(1, 4)]}, "relative", {**own, "biases": biases(2), "relative": False})
    refused(op, "one dimension", {"x": [f(1, 8, 32), f(1, 32), f(1, 3, 32), f(1, 4)]}, "out_box_dim is 1; it must be from 2 to 3", {**own, "biases": biases(2), "out_box_dim": 1})
    refused(op, "sizes of another number of images", {**layers(THREE_LAYERS[0], batch=2), "info": v(PIXELS[:1])}, "the sizes of the images, has the shape [1, 4]; [2, 4] is required",
            code=detector(op, 1, {**own, "biases": biases(2)}))


# --- AscendWeightQuant ---

NO_OFFSET = const(v([0, 0, 0], "int8"))
case("AscendWeightQuant", "", {"x": f(2, 3), "offset": NO_OFFSET}, lambda x, offset: x, dtype="int8")
refused("AscendWeightQuant", "an offset", {"x": f(2, 3), "offset": const(v([0, 1, 0], "int8"))}, "its input offset has numbers other than 0", dtype="int8")
refused("AscendWeightQuant", "four bits", {"x": f(2, 3), "offset": NO_OFFSET}, "the data type int4 is not supported", {"dst_type": 29}, dtype="int8")
