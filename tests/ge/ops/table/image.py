"""Images and positions in them."""
import colorsys

import numpy as np

from cases import case, const, f, form, i, refused, t, v
from reference import last, first, ort

ORT = {"least": "float32", "why": "ONNX Runtime in float32"}


def grid(size, to, corners, centers):
    """Where the pixels of an axis are read, in pixels of the source."""
    at = np.arange(to, dtype=np.float64)
    if corners:
        return at * (size - 1) / (to - 1) if to > 1 else at * 0
    if centers:
        return (at + 0.5) * size / to - 0.5
    return at * size / to


def nearest(x, size, corners=False, centers=False):
    """Channels first."""
    rows, columns = [], []
    for out, axis in ((rows, 0), (columns, 1)):
        own, to = x.shape[2 + axis], size[axis]
        at = np.arange(to)
        if corners:
            position = np.floor(at * (own - 1) / max(to - 1, 1) + 0.5)
        elif centers:
            position = np.floor((at + 0.5) * own / to)
        else:
            position = np.floor(at * own / to)
        out.extend(np.minimum(position, own - 1).astype(int))
    return x[:, :, rows][:, :, :, columns]


def bilinear(x, size, corners=False, centers=False):
    """Channels first."""
    for axis in (0, 1):
        own = x.shape[2 + axis]
        position = np.clip(grid(own, size[axis], corners, centers), 0, own - 1)
        low = np.floor(position).astype(int)
        high = np.minimum(low + 1, own - 1)
        share = (position - low).reshape([-1 if other == axis else 1 for other in (0, 1)])
        x = np.take(x, low, 2 + axis) * (1 - share) + np.take(x, high, 2 + axis) * share
    return x


WAYS = [("", {}), ("corners", {"align_corners": True}), ("centres", {"half_pixel_centers": True})]
for name, attrs in WAYS:
    ways = attrs.get("align_corners", False), attrs.get("half_pixel_centers", False)
    for to in ([7, 9], [3, 2]):
        label = f"{name} {'up' if to[0] > 4 else 'down'}".strip()
        case("ResizeNearestNeighborV2", label, {"x": form("NCHW", f(2, 3, 4, 5)), "size": t(to)}, lambda x, s, to=to, ways=ways: nearest(x, to, *ways), attrs,
             types=["float16", "bfloat16", "int8", "uint8", "int32"] if label == "up" else [])
        case("ResizeNearestNeighborV2D", label, {"x": form("NCHW", f(2, 3, 4, 5))}, lambda x, to=to, ways=ways: nearest(x, to, *ways), {**attrs, "size": to})
        case("ResizeBilinearV2", label, {"x": form("NCHW", f(2, 3, 4, 5)), "size": t(to)}, lambda x, s, to=to, ways=ways: bilinear(x, to, *ways), attrs, out="float32", least="float32", why="positions in float32")
        case("ResizeBilinearV2D", label, {"x": form("NCHW", f(2, 3, 4, 5))}, lambda x, to=to, ways=ways: bilinear(x, to, *ways), {**attrs, "size": to}, least="float32", why="positions in float32")
case("ResizeBilinearV2D", "half to float", {"x": form("NCHW", f(1, 2, 4, 5))}, lambda x: bilinear(x, [8, 10]), {"size": [8, 10]}, dtype="float16", out="float32")
case("ResizeBilinearV2", "channels last", {"x": form("NHWC", f(1, 4, 5, 3)), "size": t([8, 10])}, lambda x, s: last(bilinear(first(x), [8, 10])), least="float32", why="positions in float32")
case("ResizeNearestNeighborV2", "channels last", {"x": form("NHWC", f(1, 4, 5, 3)), "size": t([8, 10])}, lambda x, s: last(nearest(first(x), [8, 10])))

scales = np.array([1, 1, 2.5, 1.5], np.float32)
sizes = np.array([2, 3, 7, 3])
for mode in ["nearest", "linear", "cubic"]:
    for way in ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]:
        attrs = {"mode": mode, "coordinate_transformation_mode": way}
        # Where corners meet, versions of ONNX differ about scales that give no whole size.
        width = 6 if way == "align_corners" else 5
        case("Resize", f"{mode} {way} scales", {"x": f(2, 3, 4, width), "scales": t(scales, "float32")},
             lambda x, s, attrs=attrs: ort("Resize", 13, attrs=attrs)(x, None, s.astype(np.float32)), attrs, **ORT)
        case("Resize", f"{mode} {way} sizes", {"x": f(2, 3, 4, 5), "sizes": t(sizes, "int64")},
             lambda x, s, attrs=attrs: ort("Resize", 13, attrs=attrs)(x, None, None, s), attrs, **ORT)
case("Resize", "half_pixel and nearest when not said", {"x": f(2, 3, 4, 5), "scales": t(scales, "float32")}, lambda x, s: ort("Resize", 13)(x, None, s.astype(np.float32)), types=["float16"])
case("Resize", "integer scales", {"x": f(2, 3, 4, 5), "scales": t(scales, "float32")}, lambda x, s: ort("Resize", 13)(x.astype(float), None, s.astype(np.float32)),
     dtype="int8", types=["int16", "int32", "int64", "uint8", "uint16"])
for how in ["floor", "ceil", "round_prefer_ceil"]:
    case("Resize", how, {"x": f(1, 2, 4, 5), "scales": t(scales, "float32")},
         lambda x, s, how=how: ort("Resize", 13, attrs={"nearest_mode": how})(x, None, s.astype(np.float32)), {"nearest_mode": how})
case("Resize", "cubic, outside excluded", {"x": f(1, 2, 4, 5), "scales": t(scales, "float32")},
     lambda x, s: ort("Resize", 13, attrs={"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1})(x, None, s.astype(np.float32)),
     {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}, **ORT)

for mode in ["bilinear", "nearest", "bicubic"]:
    for padding in ["zeros", "border", "reflection"]:
        for corners in [False, True]:
            attrs = {"mode": mode, "padding_mode": padding, "align_corners": int(corners)}
            case("GridSampler2D", f"{mode} {padding}{' corners' if corners else ''}", {"x": f(1, 2, 4, 5), "grid": f(1, 3, 4, 2, lo=-1.2, hi=1.2)},
                 lambda x, g, attrs=attrs: ort("GridSample", 16, attrs=attrs)(x, g), {"interpolation_mode": mode, "padding_mode": padding, "align_corners": corners}, least="float32", why="ONNX Runtime in float32")
case("GridSampler2D", "when not said", {"x": f(1, 2, 4, 5), "grid": f(1, 3, 4, 2, lo=-1, hi=1)}, lambda x, g: ort("GridSample", 16)(x, g), types=["float64"], **ORT)


def affine(theta, size, corners):
    n, c, h, w = size
    axes = []
    for count in (h, w):
        at = np.arange(count)
        axes.append(at * 2 / max(count - 1, 1) - 1 if corners else (2 * at + 1) / count - 1)
    y, x = np.meshgrid(*axes, indexing="ij")
    return np.einsum("hwk,nik->nhwi", np.stack([x, y, np.ones_like(x)], -1), theta)


case("AffineGrid", "", {"theta": f(2, 2, 3), "output_size": t([2, 3, 4, 5])}, lambda a, s: affine(a, [2, 3, 4, 5], False), types=["float16", "bfloat16"])
case("AffineGrid", "corners", {"theta": f(2, 2, 3), "output_size": t([2, 3, 4, 5])}, lambda a, s: affine(a, [2, 3, 4, 5], True), {"align_corners": True})


def col2im(x, size, kernel, stride, padding, dilation):
    n, rows, positions = x.shape
    channels = rows // (kernel[0] * kernel[1])
    counts = [(size[a] + 2 * padding[a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in (0, 1)]
    x = x.reshape(n, channels, *kernel, *counts)
    out = np.zeros((n, channels, size[0] + 2 * padding[0], size[1] + 2 * padding[1]))
    for a in range(kernel[0]):
        for b in range(kernel[1]):
            top, left = a * dilation[0], b * dilation[1]
            out[:, :, top : top + stride[0] * counts[0] : stride[0], left : left + stride[1] * counts[1] : stride[1]] += x[:, :, a, b]
    return out[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]


case("Col2ImV2", "", {"x": f(1, 18, 12), "output_size": t([5, 6]), "kernel_size": t([3, 3])}, lambda x, s, k: col2im(x, [5, 6], [3, 3], [1, 1], [0, 0], [1, 1]),
     {"dilation": [1, 1], "padding": [0, 0], "stride": [1, 1]}, types=["float16"])
case("Col2ImV2", "strides, padding, dilation", {"x": f(2, 8, 12), "output_size": t([6, 5]), "kernel_size": t([2, 2])},
     lambda x, s, k: col2im(x, [6, 5], [2, 2], [2, 1], [1, 0], [1, 2]),
     {"dilation": [1, 2], "padding": [1, 0], "stride": [2, 1]})

boxes = [[0, 1.0, 0.5, 6.3, 5.1], [1, 0.0, 0.0, 3.0, 7.9], [0, 2.2, 2.1, 2.9, 6.6]]


def roi_align(x, rois, more, **attrs):
    return ort("RoiAlign", 16, attrs=attrs)(x, rois[:, 1:] + np.array([0, 0, more, more]), rois[:, 0].astype(np.int64))[0].astype(np.float64)


# Regions of less than a pixel become as large as one where the last pixel is not part of them, and stay as small as they are otherwise.
for end, way, more in [(0, "output_half_pixel", 0), (1, "output_half_pixel", 1), (2, "half_pixel", 0)]:
    case("ROIAlign", f"ends {end}", {"features": f(2, 3, 8, 9), "rois": v(boxes)},
         lambda x, r, way=way, more=more: roi_align(x, r, more, coordinate_transformation_mode=way, output_height=3, output_width=2, sampling_ratio=2, spatial_scale=0.75),
         {"spatial_scale": 0.75, "pooled_height": 3, "pooled_width": 2, **({} if end == 1 else {"roi_end_mode": end})}, **ORT)
case("ROIAlign", "the number is ignored", {"features": f(2, 3, 8, 9), "rois": v(boxes), "rois_n": v([3], "int32")},
     lambda x, r, n: roi_align(x, r, 1, coordinate_transformation_mode="output_half_pixel", output_height=3, output_width=2, sampling_ratio=2, spatial_scale=0.75),
     {"spatial_scale": 0.75, "pooled_height": 3, "pooled_width": 2}, **ORT)
case("ROIAlign", "most, samples by size", {"features": f(2, 3, 8, 9), "rois": v(boxes)},
     lambda x, r: roi_align(x, r, 0, coordinate_transformation_mode="half_pixel", mode="max", output_height=2, output_width=2, sampling_ratio=0, spatial_scale=1.0),
     {"spatial_scale": 1.0, "pooled_height": 2, "pooled_width": 2, "sample_num": 0, "roi_end_mode": 2, "pool_mode": "max"}, **ORT)


def roi_pool(x, rois, size, scale):
    out = np.zeros((len(rois), x.shape[1], *size))
    for row, roi in enumerate(rois):
        # Halves away from nothing, as the operator's first form in C has it.
        x1, y1, x2, y2 = (int(np.floor(side * scale + 0.5)) for side in roi[1:])
        height, width = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for py in range(size[0]):
            for px in range(size[1]):
                top = np.clip(int(np.floor(py * height / size[0])) + y1, 0, x.shape[2])
                bottom = np.clip(int(np.ceil((py + 1) * height / size[0])) + y1, 0, x.shape[2])
                left = np.clip(int(np.floor(px * width / size[1])) + x1, 0, x.shape[3])
                right = np.clip(int(np.ceil((px + 1) * width / size[1])) + x1, 0, x.shape[3])
                if bottom > top and right > left:
                    out[row, :, py, px] = x[int(roi[0]), :, top:bottom, left:right].max((1, 2))
    return out


case("ROIPooling", "", {"x": f(2, 3, 8, 9), "rois": v([[0, 1, 0, 6, 5], [1, 0, 0, 3, 7], [0, 2, 2, 4, 6]])}, lambda x, r: roi_pool(x, r, (3, 2), 1.0),
     {"pooled_h": 3, "pooled_w": 2, "spatial_scale_h": 1.0, "spatial_scale_w": 1.0}, types=["float16"])
case("ROIPooling", "the number is ignored", {"x": f(2, 3, 8, 9), "rois": v([[0, 1, 0, 6, 5], [1, 0, 0, 3, 7]]), "roi_actual_num": v([2], "int32")},
     lambda x, r, n: roi_pool(x, r, (3, 2), 1.0), {"pooled_h": 3, "pooled_w": 2, "spatial_scale_h": 1.0, "spatial_scale_w": 1.0})
case("ROIPooling", "scaled", {"x": f(2, 3, 8, 9), "rois": v([[0, 2, 0, 12, 10], [1, 0, 0, 6, 14]])}, lambda x, r: roi_pool(x, r, (2, 2), 0.5),
     {"pooled_h": 2, "pooled_w": 2, "spatial_scale_h": 0.5, "spatial_scale_w": 0.5})

case("Upsample", "twice when not said", {"x": f(2, 3, 4, 5)}, lambda x: x.repeat(2, 2).repeat(2, 3), types=["float16"])
case("Upsample", "each axis by its own", {"x": f(1, 2, 3, 4)}, lambda x: x.repeat(3, 2).repeat(2, 3), {"stride_h": 3, "stride_w": 2})
case("Upsample", "halved", {"x": f(1, 2, 3, 4)}, lambda x: x.repeat(2, 2).repeat(2, 3) / 2, {"scale": 0.5})


def warp(img, positions):
    x, y = (positions[:, at : at + 1] % 1 for at in (0, 1))
    a, b, c, d = (img[:, at] for at in range(4))
    return (1 - y) * ((1 - x) * a + x * b) + y * ((1 - x) * c + x * d)


case("IMGWarpResize", "", {"img": f(2, 4, 3, 5, 6), "warp_index": f(2, 2, 5, 6, lo=-9, hi=9, dtype="float32")}, warp, types=["float16"])
refused("IMGWarpResize", "two corners", {"img": f(2, 2, 3, 5, 6), "warp_index": f(2, 2, 5, 6, dtype="float32")}, "[n, 4, c, h, w] and [n, 2, h, w] are required")


def looked_up(img, table):
    """Linear along each of three axes, one after the other."""
    position = img.reshape(-1, 3) * (len(table) - 1) / 255.0
    low, high, share = np.floor(position).astype(int), np.ceil(position).astype(int), position - np.floor(position)
    y = []
    for a, b, s in zip(low, high, share):
        cube = table[np.ix_(*([one, other] for one, other in zip(a, b)))].astype(float)
        for part in s:
            cube = cube[0] * (1 - part) + cube[1] * part
        y.append(cube)
    return np.reshape(y, img.shape)


case("LUT3D", "", {"img": f(4, 5, 3, lo=0, hi=255), "lut_table": f(17, 17, 17, 3, lo=0, hi=255)}, looked_up)
case("LUT3D", "bytes", {"img": i(2, 4, 5, 3, lo=0, hi=256, dtype="uint8"), "lut_table": i(5, 5, 5, 3, lo=0, hi=256, dtype="uint8")}, looked_up, out="float32")
refused("LUT3D", "a table of two axes", {"img": f(4, 5, 3), "lut_table": f(17, 17, 3)}, "a table [n, n, n, 3] are required")

# ONNX Runtime weighs by the exact position; the table of TensorFlow has 1024 steps between two pixels. Both agree where positions
# are multiples of such a step. Half a pixel asks for the kernel of Keys, and pixels outside of the image do not count.
BICUBIC = [
    ("", {}, {"coordinate_transformation_mode": "asymmetric", "cubic_coeff_a": -0.75}),
    ("corners", {"align_corners": True}, {"coordinate_transformation_mode": "align_corners", "cubic_coeff_a": -0.75}),
    ("centres", {"half_pixel_centers": True}, {"coordinate_transformation_mode": "half_pixel", "cubic_coeff_a": -0.5, "exclude_outside": 1}),
]
PIXELS = ["float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "int64"]


def bicubic(x, to, way):
    sizes = np.array([*x.shape[:2], *to], np.int64)
    return ort("Resize", attrs={"mode": "cubic", **way})(x.astype(np.float32), None, None, sizes)


for name, attrs, way in BICUBIC:
    for to in ([9, 17], [3, 3]) if name == "corners" else ([8, 20], [2, 1]):
        own = (5, 5) if name == "corners" else (4, 5)
        label = f"{name} {'up' if to[0] > 4 else 'down'}".strip()
        case("ResizeBicubic", label, {"images": form("NCHW", f(2, 3, *own)), "size": t(to)}, lambda x, s, to=to, way=way: bicubic(x, to, way), attrs, types=PIXELS if label == "up" else [], out="float32", loose=4, **ORT)
case("ResizeBicubic", "channels last when not said", {"images": f(2, 4, 5, 3), "size": t([8, 10])}, lambda x, s: last(bicubic(first(x), [8, 10], BICUBIC[0][2])[0]), loose=4, **ORT)
case("ResizeBicubic", "one pixel", {"images": form("NCHW", f(2, 3, 1, 1)), "size": t([3, 2])}, lambda x, s: np.broadcast_to(x, (2, 3, 3, 2)), {"half_pixel_centers": True}, loose=4, **ORT)


def table_of_steps(x, to):
    """The bicubic kernel at positions that are rounded to steps of 1/1024, along the last axis."""
    own = x.shape[-1]
    y = np.zeros((*x.shape[:-1], to))
    for at in range(to):
        position = float(np.float32(at) * (np.float32(own) / np.float32(to)))
        low = int(np.floor(position))
        part = np.rint((position - low) * 1024) / 1024
        for pixel in range(low - 1, low + 3):
            away = abs(low + part - pixel)
            weight = 1.25 * away**3 - 2.25 * away**2 + 1 if away <= 1 else -0.75 * (away**3 - 5 * away**2 + 8 * away - 4)
            y[..., at] += weight * x[..., min(max(pixel, 0), own - 1)]
    return y


case("ResizeBicubic", "steps between the pixels", {"images": form("NCHW", f(1, 2, 3, 7)), "size": t([3, 11])}, lambda x, s: table_of_steps(x, 11), loose=4, least="float32", why="weights in float32")
refused("ResizeBicubic", "both ways", {"images": f(1, 4, 4, 1), "size": t([2, 2])}, "exclude each other", {"align_corners": True, "half_pixel_centers": True})
refused("ResizeBicubic", "bytes", {"images": f(1, 4, 4, 1), "size": t([2, 2])}, "dtype is uint8", {"dtype": "uint8"})
refused("ResizeBicubic", "three sizes", {"images": f(1, 4, 4, 1), "size": t([2, 2, 2])}, "[height, width]")
refused("ResizeBicubic", "no pixels", {"images": f(1, 4, 4, 1), "size": t([0, 2])}, "1 or more")
case("Col2im", "", {"x": f(2, 2, 4, 12), "output_size": t([6, 5])}, lambda x, s: col2im(x.reshape(2, 8, 12), [6, 5], [2, 2], [2, 1], [1, 0], [1, 2]),
     {"kernel_size": [2, 2], "dilation": [1, 2], "padding": [1, 0], "stride": [2, 1]}, types=["float16"])
refused("Col2im", "three dimensions", {"x": f(2, 8, 12), "output_size": t([6, 5])}, "elements of a window and windows are required",
        {"kernel_size": [2, 2], "dilation": [1, 1], "padding": [0, 0], "stride": [1, 1]})


def linear_row(x, size):
    """Interpolation along the last axis, whose first and last elements stay where they are."""
    at = np.linspace(0, x.shape[-1] - 1, size)
    return np.apply_along_axis(lambda row: np.interp(at, np.arange(x.shape[-1]), row), -1, x)


case("ResizeD", "a line as an image of one row", {"x": f(2, 3, 1, 4)}, lambda x: linear_row(x, 7), {"sizes": [7], "mode": "linear", "coordinate_transformation_mode": "align_corners"}, types=["float16"])

# --- colours -----------------------------------------------------------------------------------------------------------------


def by_pixel(function):
    """Changes each pixel by its hue, saturation and value, as Python's library of colours has them."""

    def all_pixels(x, number):
        largest = np.abs(x).max()
        pixels = [colorsys.hsv_to_rgb(*function(*colorsys.rgb_to_hsv(*(pixel / largest)), float(number))) for pixel in x.reshape(-1, 3)]
        return np.array(pixels).reshape(x.shape) * largest

    return all_pixels


turned_hue, more_saturated = by_pixel(lambda h, s, v, number: ((h + number) % 1, s, v)), by_pixel(lambda h, s, v, number: (h, min(max(s * number, 0), 1), v))
for op, name, function, numbers in [("AdjustHue", "delta", turned_hue, [0.2, -0.7]), ("AdjustSaturation", "scale", more_saturated, [0.5, 3.0, 0.0])]:
    for number in numbers:
        case(op, f"by {number}", {"images": f(2, 3, 4, 3, lo=0, hi=1), name: const(v(number, "float32"))}, function, types=["float16"], loose=4, why="hues are differences divided by differences")
    case(op, "channels first", {"images": f(3, 3, 4, lo=0, hi=1), name: const(v(numbers[0]))}, lambda x, n, function=function: np.moveaxis(function(np.moveaxis(x, 0, -1), n), -1, 0),
         {"data_format": "CHW"}, loose=4, why="hues are differences divided by differences")
    case(op, "greys", {"images": v([[[0.5, 0.5, 0.5], [0, 0, 0]]]), name: const(v(numbers[0]))}, function)
    refused(op, "four channels", {"images": f(2, 3, 4), name: const(v(0.5))}, "three channels are required")
