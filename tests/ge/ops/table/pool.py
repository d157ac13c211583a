"""Pooling."""

import numpy as np

from cases import case, distinct, f, refused, t
from reference import first, last, pool, same_pads

HALF = {"types": ["float16"]}
NONE = [(0, 0), (0, 0)]

case("MaxPoolV3", "", {"x": f(2, 3, 6, 7)}, lambda x: pool(x, [2, 3], [2, 2], NONE, "max"),
     {"ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 2]}, types=["float16", "float64", "int32", "int64", "int16", "int8", "uint8", "uint16"])
case("MaxPoolV3", "pads", {"x": f(1, 2, 6, 7, lo=-3, hi=-1)}, lambda x: pool(x, [3, 3], [2, 2], [(1, 1), (0, 1)], "max"),
     {"ksize": [1, 1, 3, 3], "strides": [1, 1, 2, 2], "pads": [1, 1, 0, 1]})
case("MaxPoolV3", "ceil", {"x": f(1, 2, 6, 6)}, lambda x: pool(x, [3, 3], [2, 2], NONE, "max", ceil=True),
     {"ksize": [1, 1, 3, 3], "strides": [1, 1, 2, 2], "ceil_mode": True})
case("MaxPoolV3", "same", {"x": f(1, 2, 6, 5)}, lambda x: pool(x, [3, 2], [2, 2], [same_pads(6, 3, 2), same_pads(5, 2, 2)], "max"),
     {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "padding_mode": "SAME"})
case("MaxPoolV3", "valid", {"x": f(1, 2, 6, 5)}, lambda x: pool(x, [3, 2], [2, 2], NONE, "max"),
     {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "padding_mode": "VALID", "pads": [1, 1, 1, 1]})
case("MaxPoolV3", "global", {"x": f(2, 3, 4, 5)}, lambda x: x.max((2, 3), keepdims=True),
     {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "global_pooling": True})
case("MaxPoolV3", "channels last", {"x": f(2, 6, 7, 3)}, lambda x: last(pool(first(x), [2, 3], [2, 1], NONE, "max")),
     {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "data_format": "NHWC"})


def line(x, kernel, stride, before, after, counted=False, ceil=False):
    """Means along the last axis. Padding counts where it is said; what lies beyond it, because of `ceil`, never does."""
    size = x.shape[-1]
    steps = (size + before + after - kernel) / stride
    count = int(np.ceil(steps) if ceil else np.floor(steps)) + 1
    if ceil and (count - 1) * stride >= size + before:
        count -= 1
    y = []
    for at in range(count):
        begin, end = at * stride - before, min(at * stride - before + kernel, size + after)
        inside = x[..., max(begin, 0) : min(end, size)]
        y.append(inside.sum(-1) / (end - begin if counted else inside.shape[-1]))
    return np.stack(y, -1)


case("AvgPool1D", "", {"x": f(2, 3, 9)}, lambda x: line(x, 3, 2, 0, 0), {"ksize": 3, "strides": 2, "pads": [0, 0]}, **HALF)
case("AvgPool1D", "pads", {"x": f(2, 3, 9)}, lambda x: line(x, 3, 2, 1, 1), {"ksize": 3, "strides": 2, "pads": [1, 1]})
case("AvgPool1D", "pads that count, and an axis of one", {"x": f(2, 3, 1, 9)}, lambda x: line(x, 4, 3, 1, 2, counted=True), {"ksize": 4, "strides": 3, "pads": [1, 2], "count_include_pad": True})
case("AvgPool1D", "ceil", {"x": f(2, 3, 10)}, lambda x: line(x, 3, 2, 0, 0, ceil=True), {"ksize": 3, "strides": 2, "pads": [0, 0], "ceil_mode": True})
refused("AvgPool1D", "one pad", {"x": f(2, 3, 9)}, "2 numbers are required", {"ksize": 3, "strides": 2, "pads": [1]})
case("MaxPoolV2", "", {"x": f(2, 6, 7, 3), "ksize": t([1, 2, 3, 1]), "strides": t([1, 2, 1, 1])}, lambda x, k, s: last(pool(first(x), [2, 3], [2, 1], NONE, "max")),
     {"padding": "VALID"}, dtype="float16")
case("MaxPoolV2", "channels first, same", {"x": f(1, 2, 6, 5), "ksize": t([1, 1, 3, 2]), "strides": t([1, 1, 2, 2])},
     lambda x, k, s: pool(x, [3, 2], [2, 2], [same_pads(6, 3, 2), same_pads(5, 2, 2)], "max"), {"padding": "SAME", "data_format": "NCHW"}, dtype="float16")
refused("MaxPoolV2", "a window of three numbers", {"x": f(2, 6, 7, 3), "ksize": t([1, 2, 3]), "strides": t([1, 2, 1, 1])}, "ksize", {"padding": "VALID"}, dtype="float16")

def with_argmax(name, dims, kernel, strides, pad=(0, 0), dilation=(1, 1), ceil=False):
    """The lists of the attributes have the spatial entries in the middle, though channels come first. The second output, a
    mask in the order of the accelerator's memory, is not read."""
    ksize, steps, pads, spread = ("{1, %d, %d, 1}" % pair for pair in (kernel, strides, pad, dilation))
    case("MaxPoolWithArgmaxV1", name, {"x": f(*dims, lo=-3, hi=-1, form="NCHW")},
         lambda x: pool(x, kernel, strides, [(one, one) for one in pad], "max", dilations=dilation, ceil=ceil), **HALF, code=f"""\
ge::op::MaxPoolWithArgmaxV1 op("op");
op.set_input_x(c.in(0));
op.set_attr_ksize({ksize}).set_attr_strides({steps}).set_attr_pads({pads}).set_attr_dilation({spread}).set_attr_ceil_mode({str(ceil).lower()});
c.out(op, {{0}});""")


with_argmax("", (2, 3, 6, 7), (2, 3), (2, 1))
with_argmax("pads", (1, 2, 6, 7), (3, 2), (2, 2), pad=(1, 0))
with_argmax("dilation", (1, 2, 7, 8), (2, 3), (1, 2), dilation=(2, 3))
with_argmax("ceil", (1, 2, 6, 6), (3, 3), (2, 2), pad=(1, 1), ceil=True)

case("AvgPoolV2", "", {"x": f(2, 3, 6, 7)}, lambda x: pool(x, [2, 3], [2, 2], NONE, "avg", whole="own"),
     {"ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 2]}, types=["float16", "float64"])
case("AvgPoolV2", "pads that do not count", {"x": f(1, 2, 6, 7)}, lambda x: pool(x, [3, 3], [2, 2], [(1, 1), (0, 1)], "avg", whole="own"),
     {"ksize": [1, 1, 3, 3], "strides": [1, 1, 2, 2], "pads": [1, 1, 0, 1]})
case("AvgPoolV2", "pads that count", {"x": f(1, 2, 6, 7)}, lambda x: pool(x, [3, 3], [2, 2], [(1, 1), (0, 1)], "avg", whole="padded"),
     {"ksize": [1, 1, 3, 3], "strides": [1, 1, 2, 2], "pads": [1, 1, 0, 1], "exclusive": False})
case("AvgPoolV2", "a divisor", {"x": f(1, 2, 6, 6)}, lambda x: pool(x, [3, 3], [3, 3], NONE, "avg", whole=5),
     {"ksize": [1, 1, 3, 3], "strides": [1, 1, 3, 3], "divisor_override": 5})
case("AvgPoolV2", "global", {"x": f(2, 3, 4, 5)}, lambda x: x.mean((2, 3), keepdims=True),
     {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "global_pooling": True})
case("AvgPoolV2", "same", {"x": f(1, 2, 6, 5)}, lambda x: pool(x, [3, 2], [2, 2], [same_pads(6, 3, 2), same_pads(5, 2, 2)], "avg", whole="own"),
     {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "padding_mode": "SAME"})
case("AvgPoolV2", "ceil", {"x": f(1, 2, 6, 6)}, lambda x: pool(x, [3, 3], [2, 2], NONE, "avg", ceil=True, whole="own"),
     {"ksize": [1, 1, 3, 3], "strides": [1, 1, 2, 2], "ceil_mode": True})
case("AvgPoolV2", "channels last", {"x": f(2, 6, 7, 3)}, lambda x: last(pool(first(x), [2, 3], [2, 1], NONE, "avg", whole="own")),
     {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "data_format": "NHWC"})

for op, how in [("MaxPool", "max"), ("AvgPool", "avg")]:
    case(op, "channels last when not said", {"x": f(2, 6, 5, 3)},
         lambda x, how=how: last(pool(first(x), [3, 2], [2, 2], [same_pads(6, 3, 2), same_pads(5, 2, 2)], how, whole="own")),
         {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}, **HALF)
    case(op, "valid", {"x": f(2, 3, 6, 5)}, lambda x, how=how: pool(x, [3, 2], [2, 2], NONE, how, whole="own"),
         {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW"})

THREE = [(0, 0)] * 3
case("MaxPool3D", "", {"x": f(1, 2, 4, 5, 6)}, lambda x: pool(x, [2, 2, 3], [2, 2, 2], THREE, "max"),
     {"ksize": [1, 1, 2, 2, 3], "strides": [1, 1, 2, 2, 2], "padding": "VALID", "data_format": "NCDHW"}, types=["float16", "float64"])
case("MaxPool3D", "channels last when not said, same", {"x": f(1, 4, 5, 6, 2)},
     lambda x: last(pool(first(x), [2, 2, 3], [2, 2, 2], [same_pads(4, 2, 2), same_pads(5, 2, 2), same_pads(6, 3, 2)], "max")),
     {"ksize": [1, 2, 2, 3, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"})
case("MaxPool3D", "pads, ceil and dilations", {"x": f(1, 2, 5, 6, 7)},
     lambda x: pool(x, [2, 2, 2], [2, 2, 2], [(1, 0), (0, 1), (1, 1)], "max", dilations=[1, 2, 1], ceil=True),
     {"ksize": [1, 1, 2, 2, 2], "strides": [1, 1, 2, 2, 2], "padding": "CALCULATED", "pads": [1, 0, 0, 1, 1, 1],
      "dilation": [1, 1, 1, 2, 1], "ceil_mode": 1, "data_format": "NCDHW"})
case("AvgPool3D", "", {"x": f(1, 2, 4, 5, 6)}, lambda x: pool(x, [2, 2, 3], [2, 2, 2], [(0, 0), (1, 1), (1, 1)], "avg", whole="padded"),
     {"ksize": [1, 1, 2, 2, 3], "strides": [1, 1, 2, 2, 2], "pads": [0, 0, 1, 1, 1, 1], "data_format": "NCDHW"}, types=["float16", "bfloat16"])
case("AvgPool3D", "channels last when not said, pads that do not count", {"x": f(1, 4, 5, 6, 2)},
     lambda x: last(pool(first(x), [2, 2, 3], [2, 2, 2], [(0, 0), (1, 1), (1, 1)], "avg", whole="own")),
     {"ksize": [1, 2, 2, 3, 1], "strides": [1, 2, 2, 2, 1], "pads": [0, 0, 1, 1, 1, 1], "count_include_pad": False})
case("AvgPool3D", "a divisor", {"x": f(1, 2, 4, 4, 4)}, lambda x: pool(x, [2, 2, 2], [2, 2, 2], THREE, "avg", whole=3),
     {"ksize": [1, 1, 2, 2, 2], "strides": [1, 1, 2, 2, 2], "pads": [0] * 6, "divisor_override": 3, "data_format": "NCDHW"})

case("GlobalAveragePool", "", {"x": f(2, 3, 4, 5)}, lambda x: x.mean((2, 3), keepdims=True), types=["float16", "float64"])
case("GlobalAveragePool", "three axes", {"x": f(2, 3, 2, 4, 5)}, lambda x: x.mean((2, 3, 4), keepdims=True))
case("GlobalLpPool", "", {"x": f(2, 3, 4, 5)}, lambda x: np.sqrt((x**2).sum((2, 3), keepdims=True)), **HALF)
case("GlobalLpPool", "third power", {"x": f(2, 3, 4, 5)}, lambda x: (np.abs(x) ** 3).sum((2, 3), keepdims=True) ** (1 / 3), {"p": 3.0})


for mode, how in enumerate(["max", "avg"]):
    kinds = {"max": ["float16"], "avg": ["float16"]}[how]
    case("Pooling", f"{how}", {"x": f(2, 3, 6, 7)}, lambda x, how=how: pool(x, [2, 3], [2, 1], NONE, how, whole="padded"), {"mode": mode, "window": [2, 3], "stride": [2, 1]}, types=kinds)
    case("Pooling", f"{how}, pads, upwards when not said", {"x": f(1, 2, 6, 7, lo=1, hi=3)}, lambda x, how=how: pool(x, [3, 3], [2, 2], [(1, 0), (0, 1)], how, ceil=True, whole="padded"),
         {"mode": mode, "window": [3, 3], "stride": [2, 2], "pad": [1, 0, 0, 1]})
    case("Pooling", f"{how}, pads, downwards", {"x": f(1, 2, 6, 6, lo=1, hi=3)}, lambda x, how=how: pool(x, [3, 2], [2, 3], [(1, 1), (0, 1)], how, whole="padded"),
         {"mode": mode, "window": [3, 2], "stride": [2, 3], "pad": [1, 1, 0, 1], "ceil_mode": 1})
    case("Pooling", f"{how}, global, channels last", {"x": f(2, 4, 5, 3)}, lambda x, how=how: getattr(x, {"max": "max", "avg": "mean"}[how])((1, 2), keepdims=True),
         {"mode": mode, "global_pooling": True, "window": [2, 2], "data_format": "NHWC"})
case("Pooling", "maximum of bytes", {"x": f(2, 3, 6, 7)}, lambda x: pool(x, [2, 3], [2, 1], NONE, "max"), {"window": [2, 3], "stride": [2, 1]}, dtype="int8", out="int32")
refused("Pooling", "mean of bytes", {"x": f(2, 3, 6, 7)}, "int8 is not supported", {"mode": 1, "window": [2, 3]}, dtype="int8")
refused("Pooling", "another mode", {"x": f(2, 3, 6, 7)}, "mode is 2", {"mode": 2})
refused("Pooling", "dilation", {"x": f(2, 3, 6, 7)}, "dilation", {"window": [2, 2], "dilation": [2, 2, 2, 2]})
refused("Pooling", "two pads", {"x": f(2, 3, 6, 7)}, "4 entries", {"window": [2, 2], "pad": [1, 1]})
refused("Pooling", "rounding", {"x": f(2, 3, 6, 7)}, "ceil_mode is 2", {"window": [2, 2], "ceil_mode": 2})
