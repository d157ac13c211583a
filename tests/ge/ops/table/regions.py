"""Regions of images, pooled by position."""

import numpy as np

from cases import case, f, refused, v


def by_position(x, rois, out, group, scale):
    """R-FCN, one cell after the other: the mean of the pixels of the cell's own channel; nothing outside of the image."""
    scale, regions = np.float32(scale), rois.transpose(0, 2, 1).reshape(-1, 5)
    y = np.zeros((len(regions), out, group, group))
    height, width = x.shape[2:]
    for number, (image, *corners) in enumerate(regions):
        left, top, right, bottom = (np.float32(np.floor(corner + 0.5)) for corner in corners)
        left, top, right, bottom = left * scale, top * scale, (right + 1) * scale, (bottom + 1) * scale
        tall, wide = (np.maximum(length, np.float32(0.1)) / np.float32(group) for length in (bottom - top, right - left))
        for row in range(group):
            rows = range(max(int(np.floor(row * tall + top)), 0), min(int(np.ceil((row + 1) * tall + top)), height))
            for column in range(group):
                columns = range(max(int(np.floor(column * wide + left)), 0), min(int(np.ceil((column + 1) * wide + left)), width))
                if len(rows) == 0 or len(columns) == 0:
                    continue
                for channel in range(out):
                    plane = x[int(image), (channel * group + row) * group + column]
                    y[number, channel, row, column] = plane[np.ix_(rows, columns)].mean()
    return y


# Inside, up to the edges, smaller than a pixel, past the right end, beyond the image.
REGIONS = np.array([[0, 2, 3, 13, 11], [1, 0, 0, 19, 15], [1, 4.4, 5.6, 4.4, 5.6], [0, 12, 9, 40, 30], [0, 60, 60, 70, 70]], np.float32).T[None]
SIZES = {"output_dim": 2, "group_size": 3, "spatial_scale": 0.5}
for op in ["PSROIPooling", "PSROIPoolingV2"]:
    case(op, "", {"x": f(2, 18, 8, 10), "rois": v(REGIONS)}, lambda x, rois: by_position(x, rois, 2, 3, 0.5), SIZES, types=["float16"])
    case(op, "regions in two lists, one cell", {"x": f(2, 3, 8, 10), "rois": v(np.concatenate([REGIONS[:, :, :2], REGIONS[:, :, 2:4]]))}, lambda x, rois: by_position(x, rois, 3, 1, 0.25),
         {"output_dim": 3, "group_size": 1, "spatial_scale": 0.25})
    refused(op, "channels", {"x": f(2, 17, 8, 10), "rois": v(REGIONS)}, "17 channels", SIZES)
    refused(op, "four numbers", {"x": f(2, 18, 8, 10), "rois": v(REGIONS[:, :4])}, "[batch, 5, regions]", SIZES)
    refused(op, "no cells", {"x": f(2, 18, 8, 10), "rois": v(REGIONS)}, "group_size are 2 and 0", {**SIZES, "group_size": 0})


def priors(x, img, least, most, listed, flip=True, clip=False, image=None, step=None, offset=0.5, variance=(0.1,)):
    """The layer of SSD: around each pixel a square, one between both sizes, and the ratios other than 1."""
    (rows, columns), (tall, wide) = x.shape[2:], image or img.shape[2:]
    down, across = step or (tall / rows, wide / columns)
    ratios = []
    for ratio in listed:
        if ratio != 1 and ratio not in ratios:
            ratios += [ratio, 1 / ratio] if flip else [ratio]
    boxes = []
    for row in range(rows):
        for column in range(columns):
            for at, own in enumerate(least):
                shapes = [(own, own)] + [(np.sqrt(own * one),) * 2 for one in most[at : at + 1]] + [(own * np.sqrt(r), own / np.sqrt(r)) for r in ratios]
                for w, h in shapes:
                    cx, cy = (column + offset) * across, (row + offset) * down
                    boxes += [(cx - w / 2) / wide, (cy - h / 2) / tall, (cx + w / 2) / wide, (cy + h / 2) / tall]
    boxes = np.clip(boxes, 0, 1) if clip else np.array(boxes)
    return np.stack([boxes, np.resize(variance, len(boxes))])[None]


IMAGE = {"x": f(1, 2, 3, 4), "img": f(1, 3, 48, 80)}
case("PriorBox", "", IMAGE, lambda x, img: priors(x, img, [16], [25], [2]), {"min_size": [16.0], "max_size": [25.0], "aspect_ratio": [2.0]}, types=["float16"])
case("PriorBox", "sizes and steps that are given", IMAGE,
     lambda x, img: priors(x, img, [10, 20], [30, 40], [1, 2, 3, 2], flip=False, clip=True, image=(60, 100), step=(8, 16), offset=0.25, variance=(0.1, 0.1, 0.2, 0.2)),
     {"min_size": [10.0, 20.0], "max_size": [30.0, 40.0], "aspect_ratio": [1.0, 2.0, 3.0, 2.0], "flip": False, "clip": True, "img_h": 60, "img_w": 100, "step_h": 8.0, "step_w": 16.0,
      "offset": 0.25, "variance": [0.1, 0.1, 0.2, 0.2]})
case("PriorBox", "no largest sizes", IMAGE, lambda x, img: priors(x, img, [16, 8], [], [2]), {"min_size": [16.0, 8.0], "max_size": [], "aspect_ratio": [2.0]})
refused("PriorBox", "two variances", IMAGE, "1 or 4 numbers", {"min_size": [16.0], "max_size": [], "aspect_ratio": [2.0], "variance": [0.1, 0.2]})
refused("PriorBox", "sizes the wrong way round", IMAGE, "a larger max_size", {"min_size": [16.0], "max_size": [8.0], "aspect_ratio": [2.0]})
