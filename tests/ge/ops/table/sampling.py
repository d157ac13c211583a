"""Images that are read between their pixels, and what windows find in them."""

import numpy as np

from cases import case, f, form, i, refused, t, v

HALF = ("float16",)
MIXED = ["uint8", "uint16", "int8", "int16", "int32", "int64", "float16", "float64"]


def cropped(x, boxes, owners, size, method="bilinear", outside=0.0):
    batch, height, width, channels = x.shape
    y = np.full((len(boxes), *size, channels), outside)
    for at, (y0, x0, y1, x1) in enumerate(boxes):
        for row, column in np.ndindex(*size):
            down = y0 * (height - 1) + row * (y1 - y0) * (height - 1) / (size[0] - 1) if size[0] > 1 else 0.5 * (y0 + y1) * (height - 1)
            over = x0 * (width - 1) + column * (x1 - x0) * (width - 1) / (size[1] - 1) if size[1] > 1 else 0.5 * (x0 + x1) * (width - 1)
            if not (0 <= down <= height - 1 and 0 <= over <= width - 1):
                continue
            image = x[owners[at]].astype(float)
            if method == "nearest":
                y[at, row, column] = image[int(down + 0.5), int(over + 0.5)]
                continue
            top, left, bottom, right = int(np.floor(down)), int(np.floor(over)), int(np.ceil(down)), int(np.ceil(over))
            a = image[top, left] + (image[top, right] - image[top, left]) * (over - left)
            b = image[bottom, left] + (image[bottom, right] - image[bottom, left]) * (over - left)
            y[at, row, column] = a + (b - a) * (down - top)
    return y


CROPS = {"boxes": v([[0.125, 0.25, 0.75, 1.0], [0, 0, 1, 1], [0.75, -0.5, 0.25, 1.25]], "float32"), "box_index": v([1, 0, 1], "int32")}
case("CropAndResize", "", {"x": f(2, 5, 7, 3), **CROPS, "crop_size": t([4, 3])}, cropped, types=MIXED, out="float32", least="float32", why="positions are float32")
case("CropAndResize", "the nearest pixel", {"x": f(2, 5, 7, 3), **CROPS, "crop_size": t([4, 5])}, lambda *a: cropped(*a, "nearest", 0.5), {"method": "nearest", "extrapolation_value": 0.5})
case("CropAndResize", "one sample", {"x": f(2, 5, 7, 3), **CROPS, "crop_size": t([1, 3])}, cropped)
case("CropAndResize", "half boxes", {"x": f(2, 5, 7, 3), "boxes": v([[0.125, 0.25, 0.75, 1.0]], "float16"), "box_index": v([1], "int32"), "crop_size": t([4, 3])}, cropped, dtype="float16")
refused("CropAndResize", "another method", {"x": f(2, 5, 7, 3), **CROPS, "crop_size": t([4, 3])}, "it must be bilinear or nearest", {"method": "cubic"})


def reflected(at, size):
    """(d c b a | a b c d | d c b a)"""
    if size == 1:
        return 0 * at
    at = np.mod(at, 2 * size) if at >= 0 else np.mod(-at - 1, 2 * size)
    return np.clip(2 * size - 1 - at if at >= size else at, 0, size - 1)


def projected(x, transforms, size, nearest, fill="CONSTANT"):
    batch, height, width, channels = x.shape
    y = np.zeros((batch, *size, channels))

    def read(image, row, column):
        row, column = int(row), int(column)
        return image[row, column] if 0 <= row < height and 0 <= column < width else np.zeros(channels)

    for image, row, column in np.ndindex(batch, *size):
        a, b, c, d, e, g, p, q = transforms[image if len(transforms) > 1 else 0]
        depth = p * column + q * row + 1
        over, down = (a * column + b * row + c) / depth, (d * column + e * row + g) / depth
        if fill == "REFLECT":
            over, down = reflected(over, width), reflected(down, height)
        if nearest:
            y[image, row, column] = read(x[image], *(np.sign(at) * np.floor(abs(at) + 0.5) for at in (down, over)))
            continue
        top, left = np.floor(down), np.floor(over)
        for line, share in ((top, 1 - (down - top)), (top + 1, down - top)):
            for across, part in ((left, 1 - (over - left)), (left + 1, over - left)):
                y[image, row, column] += read(x[image], line, across) * share * part
    return y


# Numbers that float32 holds exactly, so that positions are the same in every type.
TURN = [[0.5, 0.25, -0.75, -0.25, 0.5, 1.25, 0, 0], [1.5, 0, -1, 0.25, 1.25, -2, 0, 0]]
SIZES = {"output_shape": t([6, 5])}
case("ImageProjectiveTransform", "the nearest pixel", {"images": f(2, 5, 7, 3), "transforms": v(TURN, "float32"), **SIZES}, lambda x, m, s: projected(x, m, s, True), {"interpolation": "NEAREST"}, types=["uint8", "int32", "int64", "float16", "float64"])
case("ImageProjectiveTransform", "between pixels", {"images": f(2, 5, 7, 3), "transforms": v(TURN, "float32"), **SIZES}, lambda x, m, s: projected(x, m, s, False), {"interpolation": "BILINEAR"}, types=["float16", "float64"])
case("ImageProjectiveTransform", "one transform with a perspective", {"images": f(2, 5, 7, 3), "transforms": v([[1, 0, 0, 0, 1, 0, 0.125, 0.0625]], "float32"), **SIZES}, lambda x, m, s: projected(x, m, s, False), {"interpolation": "BILINEAR"})
case("ImageProjectiveTransform", "mirrored", {"images": f(1, 3, 4, 2), "transforms": v([[2, 0, -9.25, 0.5, 2, -7.5, 0, 0]], "float32"), "output_shape": t([9, 11])}, lambda x, m, s: projected(x, m, s, False, "REFLECT"), {"interpolation": "BILINEAR", "fill_mode": "REFLECT"})
refused("ImageProjectiveTransform", "another filling", {"images": f(1, 3, 4, 2), "transforms": v([[1, 0, 0, 0, 1, 0, 0, 0]], "float32"), **SIZES}, "it must be CONSTANT, REFLECT or WRAP", {"interpolation": "NEAREST", "fill_mode": "MAGIC"})


def wrapped(x, m, s):
    """(a b c d | a b c d | a b c d), for a transform that only moves by whole pixels."""
    rows, columns = np.arange(s[0]) + int(m[0][5]), np.arange(s[1]) + int(m[0][2])
    return x[:, np.mod(rows, x.shape[1])][:, :, np.mod(columns, x.shape[2])]


case("ImageProjectiveTransform", "repeated", {"images": f(1, 3, 4, 2), "transforms": v([[1, 0, -3, 0, 1, 2, 0, 0]], "float32"), "output_shape": t([3, 6])}, wrapped, {"interpolation": "NEAREST", "fill_mode": "WRAP"})

KERNELS = {
    **{f"lanczos{r}": lambda x, r=r: np.where(x > r, 0, np.sinc(x) * np.sinc(x / r)) for r in (1, 3, 5)},
    "gaussian": lambda x: np.where(x < 1.5, np.exp(-2 * x**2), 0),
    "box": lambda x: np.where(x < 0.5, 1, np.where(x == 0.5, 0.5, 0)),
    "triangle": lambda x: np.maximum(1 - x, 0),
    "keyscubic": lambda x: np.where(x >= 2, 0, np.where(x >= 1, ((-0.5 * x + 2.5) * x - 4) * x + 2, (1.5 * x - 2.5) * x * x + 1)),
    "mitchellcubic": lambda x: np.where(x >= 2, 0, np.where(x >= 1, ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9, (7 / 6 * x - 2) * x * x + 8 / 9)),
}


def weights(own, target, scale, shift, kernel, smooth):
    sample = (np.arange(target)[:, None] + 0.5 - shift) / scale
    spread = max(1 / scale, 1) if smooth else 1
    all_ = KERNELS[kernel](np.abs(np.arange(own)[None] + 0.5 - sample) / spread)
    total = all_.sum(1, keepdims=True)
    return np.where((np.abs(total) > 1e-30) & (sample >= 0) & (sample <= own), all_ / np.where(total == 0, 1, total), 0)


def scaled(x, size, scale, shift, kernel="lanczos3", smooth=True):
    a, b = (weights(x.shape[1 + at], size[at], scale[at], shift[at], kernel, smooth) for at in range(2))
    return np.einsum("ij,njkc,lk->nilc", a, x.astype(float), b)


MOVE = {"size": t([4, 9]), "scale": v([0.625, 1.5], "float32"), "translation": v([0.25, -1.5], "float32")}
case("ScaleAndTranslate", "", {"images": f(2, 6, 5, 3), **MOVE}, scaled, types=["int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "float64"], out="float32", least="float32", loose=4, why="weights in float32")
for kernel in KERNELS:
    if kernel != "lanczos3":
        case("ScaleAndTranslate", kernel, {"images": f(2, 6, 5, 3), **MOVE}, lambda *a, k=kernel: scaled(*a, k), {"kernel_type": kernel}, loose=4, why="weights in float32")
case("ScaleAndTranslate", "not smoothed", {"images": f(2, 6, 5, 3), **MOVE}, lambda *a: scaled(*a, smooth=False), {"antialias": False}, loose=4, why="weights in float32")
refused("ScaleAndTranslate", "another kernel", {"images": f(2, 6, 5, 3), **MOVE}, "its attribute kernel_type is sharp", {"kernel_type": "sharp"})


def transformed(x, theta, size, corners=False):
    batch, channels, height, width = x.shape
    theta = np.asarray(theta, float).reshape(batch, 2, 3)
    y = np.zeros((batch, channels, *size))

    def base(count):
        return np.linspace(-1, 1, count) if corners else (2 * np.arange(count) + 1) / count - 1

    for image, row, column in np.ndindex(batch, *size):
        over, down = theta[image] @ [base(size[1])[column], base(size[0])[row], 1]
        over, down = (((at + 1) * (own - 1) / 2 if corners else ((at + 1) * own - 1) / 2) for at, own in ((over, width), (down, height)))
        top, left = int(np.floor(down)), int(np.floor(over))
        for line, share in ((top, 1 - (down - top)), (top + 1, down - top)):
            for across, part in ((left, 1 - (over - left)), (left + 1, over - left)):
                if 0 <= line < height and 0 <= across < width:
                    y[image, :, row, column] += x[image, :, line, across] * share * part
    return y


THETA = [[0.75, 0.25, 0.125, -0.25, 0.5, -0.25], [1, 0, 0.5, 0, 1.25, 0]]
case("SpatialTransformer", "", {"x": f(2, 3, 5, 6), "theta": v(THETA, "float32")}, lambda x, m: transformed(x, m, (5, 6)), types=["float16", "float64"], loose=2, why="positions have several roundings")
case("SpatialTransformer", "another size, corners on corners", {"x": f(2, 3, 5, 6), "theta": v(THETA, "float32")}, lambda x, m: transformed(x, m, (4, 7), True), {"output_size": [4, 7], "align_corners": True})
case("SpatialTransformer", "some defaults", {"x": f(2, 3, 5, 6), "theta": v([[0.75, 0.125], [0.5, -0.25]], "float32")},
     lambda x, m: transformed(x, [[a, 0.25, b, -0.25, 0.5, 0.0] for a, b in m], (5, 6)), {"use_default_theta": [0, 1, 0, 1, 1, 1], "default_theta": [0.25, -0.25, 0.5, 0.0]})
case("SpatialTransformer", "all defaults", {"x": f(2, 3, 5, 6)}, lambda x: transformed(x, [THETA[0]] * 2, (5, 6)), {"use_default_theta": [1] * 6, "default_theta": THETA[0]})
case("SpatialTransformer", "integers", {"x": f(1, 2, 3, 3), "theta": v([[1, 0, 0, 0, 1, 0]], "int32")}, lambda x, m: transformed(x, m, (3, 3)))
refused("SpatialTransformer", "no numbers", {"x": f(2, 3, 5, 6)}, "its input theta is missing")

# --- windows -------------------------------------------------------------------------------------------------------------


def dilated(x, filter, strides, rates, pads):
    """The maximum of each window with the pixel and the tap that make it; channels last."""
    batch, height, width, channels = x.shape
    rows = (height + sum(pads[:2]) - (filter.shape[0] - 1) * rates[0] - 1) // strides[0] + 1
    columns = (width + sum(pads[2:]) - (filter.shape[1] - 1) * rates[1] - 1) // strides[1] + 1
    y, found = np.zeros((batch, rows, columns, channels), x.dtype), {}
    for at in np.ndindex(*y.shape):
        best = None
        for tap in np.ndindex(*filter.shape[:2]):
            row, column = at[1] * strides[0] - pads[0] + tap[0] * rates[0], at[2] * strides[1] - pads[2] + tap[1] * rates[1]
            if 0 <= row < height and 0 <= column < width:
                value = x[at[0], row, column, at[3]] + filter[(*tap, at[3])]
                if best is None or value > best:
                    best, found[at] = value, ((at[0], row, column, at[3]), (*tap, at[3]))
        y[at] = best
    return y, found


def gradients(x, filter, grad, *sizes):
    _, found = dilated(x, filter, *sizes)
    by_x, by_filter = np.zeros_like(x), np.zeros_like(filter)
    for at, (pixel, tap) in found.items():
        by_x[pixel] += grad[at]
        by_filter[tap] += grad[at]
    return by_x, by_filter


INTS = ["int32", "int64", "uint8", "int16", "int8", "uint16"]
for name, attrs, sizes, result in [
    ("VALID", {"padding_mode": "VALID"}, ((2, 1), (1, 2), (0, 0, 0, 0)), (2, 2)),
    ("SAME", {"padding_mode": "SAME"}, ((2, 1), (1, 2), (0, 1, 1, 1)), (3, 4)),
    ("pads", {"padding_mode": "CALCULATED", "pads": [1, 1, 0, 1]}, ((2, 1), (1, 2), (1, 1, 0, 1)), (3, 3)),
    ("pads, the last windows over the border", {"padding_mode": "CALCULATED", "pads": [0, 0, 0, 1], "ceil_mode": True}, ((2, 1), (1, 2), (0, 1, 0, 1)), (3, 3)),
]:
    attrs = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], **attrs}
    types = ["float16", "float64", *INTS] if name == "SAME" else []
    given = {"x": f(2, 5, 4, 3, lo=0, hi=2), "filter": f(2, 2, 3, lo=0, hi=1)}
    case("Dilation2D", name, given, lambda x, w, s=sizes: dilated(x, w, *s)[0], attrs, types=types)
    given = {**given, "out_backprop": f(2, *result, 3, lo=0, hi=2)}
    case("Dilation2DBackpropInput", name, given, lambda *a, s=sizes: gradients(*a, *s)[0], attrs, types=types)
    case("Dilation2DBackpropFilter", name, given, lambda *a, s=sizes: gradients(*a, *s)[1], attrs, types=types, loose=4, why="a sum of many gradients")
FIRST = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding_mode": "VALID", "data_format": "NCHW"}
case("Dilation2D", "channels first", {"x": f(2, 3, 5, 4), "filter": f(3, 2, 2)}, lambda x, w: dilated(x.transpose(0, 2, 3, 1), w.transpose(1, 2, 0), (1, 1), (1, 1), (0, 0, 0, 0))[0].transpose(0, 3, 1, 2), FIRST)
case("Dilation2DBackpropFilter", "channels first", {"x": f(2, 3, 5, 4), "filter": f(3, 2, 2), "out_backprop": f(2, 3, 4, 3)},
     lambda x, w, g: gradients(x.transpose(0, 2, 3, 1), w.transpose(1, 2, 0), g.transpose(0, 2, 3, 1), (1, 1), (1, 1), (0, 0, 0, 0))[1].transpose(2, 0, 1), FIRST)
refused("Dilation2D", "a filter of other channels", {"x": f(2, 5, 4, 3), "filter": f(2, 2, 2)}, "2 channels", {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1]})


def largest(x, kernel, strides, before, size, last=True):
    """The maxima of windows, and where they are among an image's elements, or a channel's where channels are first."""
    x = x if last else x.transpose(0, 2, 3, 1)
    batch, height, width, channels = x.shape
    y, across = np.zeros((batch, *size, channels), x.dtype), np.zeros((batch, *size, channels), np.int64)
    for at in np.ndindex(*y.shape):
        best = None
        for row in range(at[1] * strides[0] - before[0], at[1] * strides[0] - before[0] + kernel[0]):
            for column in range(at[2] * strides[1] - before[1], at[2] * strides[1] - before[1] + kernel[1]):
                if 0 <= row < height and 0 <= column < width and (best is None or x[at[0], row, column, at[3]] > best):
                    best = x[at[0], row, column, at[3]]
                    y[at], across[at] = best, (row * width + column) * (channels if last else 1) + (at[3] if last else 0)
    return [y, across] if last else [y.transpose(0, 3, 1, 2), across.transpose(0, 3, 1, 2)]


WIDE = ["float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
case("MaxPoolWithArgmax", "", {"x": f(2, 5, 6, 3)}, lambda x: largest(x, (2, 3), (2, 2), (0, 0), (3, 3)), {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME", "Targmax": 9}, types=WIDE, out=[None, "int64"])
case("MaxPoolWithArgmax", "int32, no padding", {"x": f(2, 5, 6, 3)}, lambda x: largest(x, (2, 3), (2, 2), (0, 0), (2, 2)), {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "VALID", "Targmax": 3}, out=[None, "int32"])
case("MaxPoolWithArgmax", "channels first", {"x": form("NCHW", f(2, 3, 5, 6))}, lambda x: largest(x, (2, 3), (2, 2), (0, 0), (2, 2), False), {"ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 2], "padding": "VALID"}, out=[None, "int64"])
refused("MaxPoolWithArgmax", "another padding", {"x": f(2, 5, 6, 3)}, "it must be SAME or VALID", {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "FULL"})


def again(x, grad, at, last=True):
    rows = grad.reshape(len(grad), -1) if last else grad.reshape(-1, grad.shape[2] * grad.shape[3])
    return np.take_along_axis(rows, at.reshape(len(rows), -1), 1).reshape(at.shape)


TAKE = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
case("MaxPoolGradGradWithArgmax", "", {"x": f(2, 4, 6, 3), "grad": f(2, 4, 6, 3), "argmax": i(2, 2, 3, 3, lo=0, hi=72, dtype="int64")}, again, TAKE, types=WIDE)
case("MaxPoolGradGradWithArgmax", "channels first, int32", {"x": form("NCHW", f(2, 3, 4, 6)), "grad": form("NCHW", f(2, 3, 4, 6)), "argmax": i(2, 3, 2, 3, lo=0, hi=24, dtype="int32")}, lambda *a: again(*a, last=False), TAKE)
refused("MaxPoolGradGradWithArgmax", "a gradient of another shape", {"x": f(2, 4, 6, 3), "grad": f(2, 4, 5, 3), "argmax": i(2, 2, 3, 3, dtype="int64")}, "x and grad must have the same", TAKE)

# --- positions that move -------------------------------------------------------------------------------------------------


def reads(x, offsets, kernel, strides, pads, dilations, groups):
    """For each pixel of the result, group and tap: the pixels that are read with their shares, and how these change; channels last."""
    batch, height, width, channels = x.shape
    parts = offsets.reshape(*offsets.shape[:3], 3, groups, kernel[0] * kernel[1])
    for at in np.ndindex(*parts.shape[:3], groups, kernel[0] * kernel[1]):
        image, row, column, group, tap = at
        over, down, factor = parts[image, row, column, :, group, tap]
        down += row * strides[0] - pads[0] + tap // kernel[1] * dilations[0]
        over += column * strides[1] - pads[2] + tap % kernel[1] * dilations[1]
        top, left = int(np.floor(down)), int(np.floor(over))
        found = []
        for line, share, by_y in ((top, top + 1 - down, -1), (top + 1, down - top, 1)):
            for across, part, by_x in ((left, left + 1 - over, -1), (left + 1, over - left, 1)):
                if 0 <= line < height and 0 <= across < width:
                    found.append((line, across, share * part, by_y * part, by_x * share))
        yield at, factor, found


def moved(x, offsets, kernel, strides, pads, dilations, groups):
    batch, _, _, channels = x.shape
    rows, columns, each = *offsets.shape[1:3], channels // groups
    y = np.zeros((batch, rows * kernel[0], columns * kernel[1], channels))
    for (image, row, column, group, tap), factor, found in reads(x, offsets, kernel, strides, pads, dilations, groups):
        own = slice(group * each, (group + 1) * each)
        for line, across, share, _, _ in found:
            y[image, row * kernel[0] + tap // kernel[1], column * kernel[1] + tap % kernel[1], own] += factor * share * x[image, line, across, own]
    return y


def moved_gradient(grad, x, offsets, kernel, strides, pads, dilations, groups):
    each = x.shape[3] // groups
    by_x, by_offsets = np.zeros_like(x), np.zeros((*offsets.shape[:3], 3, groups, kernel[0] * kernel[1]))
    for (image, row, column, group, tap), factor, found in reads(x, offsets, kernel, strides, pads, dilations, groups):
        own = slice(group * each, (group + 1) * each)
        g = grad[image, row * kernel[0] + tap // kernel[1], column * kernel[1] + tap % kernel[1], own]
        for line, across, share, by_y, by_right in found:
            by_x[image, line, across, own] += factor * share * g
            seen = (g * x[image, line, across, own]).sum()
            by_offsets[image, row, column, :, group, tap] += np.array([factor * by_right, factor * by_y, share]) * seen
    return [by_x, by_offsets.reshape(offsets.shape)]


DEFORM = {"strides": [1, 2, 1, 1], "pads": [1, 1, 0, 1], "ksize": [2, 3], "dilations": [1, 1, 2, 1], "data_format": "NHWC", "deformable_groups": 2}
ROLE = ((2, 3), (2, 1), (1, 1, 0, 1), (1, 2), 2)
MANY = ["float16", "bfloat16"]
case("DeformableOffsets", "", {"x": f(2, 5, 6, 4), "offsets": f(2, 3, 3, 36)}, lambda x, o: moved(x, o, *ROLE), DEFORM, types=MANY, loose=2, why="positions are float32")
case("DeformableOffsetsGrad", "", {"grad": f(2, 6, 9, 4), "x": f(2, 5, 6, 4), "offsets": f(2, 3, 3, 36)}, lambda *a: moved_gradient(*a, *ROLE), DEFORM, types=MANY, loose=4, why="sums of many products")
PLAIN = {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "ksize": [2, 2], "data_format": "NCHW"}
case("DeformableOffsets", "channels first", {"x": f(1, 2, 4, 5), "offsets": f(1, 12, 3, 4)},
     lambda x, o: moved(x.transpose(0, 2, 3, 1), o.transpose(0, 2, 3, 1), (2, 2), (1, 1), (0,) * 4, (1, 1), 1).transpose(0, 3, 1, 2), PLAIN)


def deformed(x, w, o, bias=0.0, role=ROLE, groups=1):
    """x and o with channels last, w [out, in / groups, high, wide]: the tiles that were read, each multiplied with the filter."""
    tiles = moved(x, o, *role)
    batch, rows, columns, channels = *o.shape[:3], x.shape[3]
    tiles = tiles.reshape(batch, rows, role[0][0], columns, role[0][1], groups, channels // groups)
    filters = w.reshape(groups, -1, *w.shape[1:])
    return np.einsum("nyhxwgc,gochw->nyxgo", tiles, filters).reshape(batch, rows, columns, -1) + bias


FILTER = {"x": f(2, 5, 6, 4), "filter": form("NCHW", f(6, 4, 2, 3)), "offsets": f(2, 3, 3, 36)}
DEFORMED = {name: value for name, value in DEFORM.items() if name != "ksize"}
case("DeformableConv2D", "", FILTER, deformed, DEFORMED, types=["float16"], loose=4, why="positions are float32")
case("DeformableConv2D", "a bias, groups", {**FILTER, "filter": form("NCHW", f(6, 2, 2, 3)), "bias": f(6)}, lambda *a: deformed(*a, groups=2), {**DEFORMED, "groups": 2}, loose=4, why="positions are float32")
case("DeformableConv2D", "channels first", {"x": f(1, 2, 4, 5), "filter": f(3, 2, 2, 2), "offsets": f(1, 12, 3, 4)},
     lambda x, w, o: deformed(x.transpose(0, 2, 3, 1), w, o.transpose(0, 2, 3, 1), role=((2, 2), (1, 1), (0,) * 4, (1, 1), 1)).transpose(0, 3, 1, 2),
     {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "data_format": "NCHW"}, loose=4, why="positions are float32")
refused("DeformableConv2D", "offsets of another size", {**FILTER, "offsets": f(2, 3, 4, 36)}, "[2, 3, 3, 36] is required", DEFORMED)
refused("DeformableConv2D", "without factors", FILTER, "its attribute modulated is false", {**DEFORMED, "modulated": False})
refused("DeformableOffsets", "offsets of another size", {"x": f(2, 5, 6, 4), "offsets": f(2, 3, 4, 36)}, "[2, 3, 3, 36] is required", DEFORM)
refused("DeformableOffsets", "without factors", {"x": f(2, 5, 6, 4), "offsets": f(2, 3, 3, 36)}, "its attribute modulated is false", {**DEFORM, "modulated": False})

# --- sizes ---------------------------------------------------------------------------------------------------------------


def resized(x, size, mode):
    y = x
    for axis, target in ((2, size[0]), (3, size[1])):
        own = y.shape[axis]
        at = (np.arange(target) + 0.5) * own / target - 0.5
        if mode == "nearest":
            y = np.take(y, np.clip(np.ceil(at - 0.5).astype(int), 0, own - 1), axis)
            continue
        a = -0.75
        near = np.floor(at).astype(int)
        total = 0
        for tap in range(-1, 3):
            way = np.abs(at - near - tap)
            cubic = np.where(way <= 1, (a + 2) * way**3 - (a + 3) * way**2 + 1, a * way**3 - 5 * a * way**2 + 8 * a * way - 4 * a)
            weight = cubic if mode == "cubic" else np.maximum(1 - way, 0)
            shape = [1] * 4
            shape[axis] = target
            total = total + np.take(y, np.clip(near + tap, 0, own - 1), axis) * weight.reshape(shape)
        y = total
    return y


for mode in ["nearest", "linear", "cubic"]:
    case("ResizeD", mode, {"x": f(2, 3, 4, 5)}, lambda x, m=mode: resized(x, (6, 9), m), {"sizes": [6, 9], "mode": mode}, types=HALF, least="float32" if mode != "nearest" else None, why="positions are float32" if mode != "nearest" else None)
refused("ResizeD", "three sizes", {"x": f(2, 3, 4, 5)}, "a size for each axis after the channels", {"sizes": [6, 9, 9]})
