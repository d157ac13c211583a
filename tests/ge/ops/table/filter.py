"""Convolutions, forwards and backwards."""

import numpy as np

from cases import case, const, f, form, i, t
from reference import conv, conv_filter, conv_input, first, last

HALF = {"types": ["float16"]}


def hwcn(w):
    """A filter of format HWCN as [O, I, H, W]."""
    return np.transpose(w, (3, 2, 0, 1))


case("Conv2D", "channels first", {"x": f(2, 3, 7, 8), "filter": const(f(4, 3, 3, 3), "NCHW")},
     lambda x, w: conv(x, w, pads=[(1, 1), (1, 1)]), {"strides": [1, 1, 1, 1], "pads": [1, 1, 1, 1], "data_format": "NCHW"},
     types=["float16", "bfloat16"])
case("Conv2D", "channels first, exactly", {"x": f(2, 3, 7, 8), "filter": const(f(4, 3, 3, 3), "NCHW"), "bias": const(f(4))},
     lambda x, w, bias: conv(x, w, bias, pads=[(1, 1), (1, 1)]), {"strides": [1, 1, 1, 1], "pads": [1, 1, 1, 1], "data_format": "NCHW"})
case("Conv2D", "strides, dilations and uneven pads", {"x": f(1, 3, 9, 10), "filter": const(f(2, 3, 3, 2), "NCHW")},
     lambda x, w: conv(x, w, strides=[2, 1], pads=[(1, 2), (0, 3)], dilations=[1, 2]),
     {"strides": [1, 1, 2, 1], "pads": [1, 2, 0, 3], "dilations": [1, 1, 1, 2], "data_format": "NCHW"})
case("Conv2D", "groups", {"x": f(1, 4, 5, 5), "filter": const(f(6, 2, 3, 3), "NCHW")},
     lambda x, w: conv(x, w, groups=2), {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "groups": 2, "data_format": "NCHW"})
case("Conv2D", "channels last when not said", {"x": f(2, 7, 8, 3), "filter": const(f(3, 3, 3, 4), "HWCN")},
     lambda x, w: last(conv(first(x), hwcn(w), strides=[2, 2], pads=[(1, 1), (1, 1)])),
     {"strides": [1, 2, 2, 1], "pads": [1, 1, 1, 1]})
case("Conv2D", "channels last, filter first", {"x": f(2, 7, 8, 3), "filter": const(f(4, 3, 3, 3), "NCHW")},
     lambda x, w: last(conv(first(x), w)), {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "data_format": "NHWC"})
case("Conv2D", "filter that is given", {"x": f(1, 3, 6, 6), "filter": form("NCHW", f(4, 3, 3, 3))},
     lambda x, w: conv(x, w), {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "data_format": "NCHW"})

case("DepthwiseConv2D", "", {"x": f(2, 3, 6, 7), "filter": const(f(2, 3, 3, 3), "NCHW")},
     lambda x, w: conv(x, w.transpose(1, 0, 2, 3).reshape(6, 1, 3, 3), pads=[(1, 1), (1, 1)], groups=3),
     {"strides": [1, 1, 1, 1], "pads": [1, 1, 1, 1], "data_format": "NCHW"})
case("DepthwiseConv2D", "channels last", {"x": f(2, 6, 7, 3), "filter": const(f(3, 3, 3, 1), "HWCN")},
     lambda x, w: last(conv(first(x), w.transpose(2, 3, 0, 1), strides=[2, 2], groups=3)),
     {"strides": [1, 2, 2, 1], "pads": [0, 0, 0, 0]})

case("Conv3D", "", {"x": f(1, 2, 4, 5, 6), "filter": const(f(3, 2, 2, 3, 3), "NCDHW")},
     lambda x, w: conv(x, w, pads=[(0, 1), (1, 1), (1, 0)]),
     {"strides": [1, 1, 1, 1, 1], "pads": [0, 1, 1, 1, 1, 0], "data_format": "NCDHW"})
case("Conv3D", "strides, groups and a bias", {"x": f(2, 4, 4, 5, 6), "filter": const(f(4, 2, 2, 2, 2), "NCDHW"), "bias": const(f(4))},
     lambda x, w, bias: conv(x, w, bias, strides=[1, 2, 2], groups=2),
     {"strides": [1, 1, 1, 2, 2], "pads": [0] * 6, "groups": 2, "data_format": "NCDHW"})
case("Conv3D", "channels last when not said", {"x": f(1, 4, 5, 6, 2), "filter": const(f(2, 3, 3, 2, 3), "DHWCN")},
     lambda x, w: last(conv(first(x), w.transpose(4, 3, 0, 1, 2))), {"strides": [1, 1, 1, 1, 1], "pads": [0] * 6})
case("Conv3D", "half", {"x": f(1, 2, 4, 5, 6, lo=-1, hi=1), "filter": const(f(3, 2, 2, 2, 2, lo=-1, hi=1), "NCDHW")},
     conv, {"strides": [1, 1, 1, 1, 1], "pads": [0] * 6, "data_format": "NCDHW"}, dtype="float16")

for op in ["Conv2DTranspose", "Conv2DTransposeD", "Conv2DBackpropInput", "Conv2DBackpropInputD"]:
    inner = "x" if "Transpose" in op else "out_backprop"

    def add(name, dims, filter_dims, size, want, attrs, op=op, inner=inner, **rest):
        fmt = "NCHW" if attrs.get("data_format") == "NCHW" else "HWCN"
        given = {inner: f(*dims), "filter": const(f(*filter_dims), fmt)}
        if op.endswith("D"):
            attrs = {**attrs, "input_size": size}
            reference = want if inner == "x" else want
        else:
            given = {"input_size": t(size, "int32"), **given}
            if inner == "out_backprop":
                given = {"input_size": given["input_size"], "filter": given["filter"], inner: given[inner]}
                reference = lambda s, w, x: want(x, w)
            else:
                reference = lambda s, x, w: want(x, w)
        if op == "Conv2DBackpropInputD":
            given = {"filter": given["filter"], inner: given[inner]}
            reference = lambda w, x: want(x, w)
        case(op, name, given, reference, attrs, **rest)

    from cases import PROTOTYPES

    if op not in PROTOTYPES:
        continue
    add("stride 2", (2, 4, 4, 4), (4, 3, 3, 3), [2, 3, 9, 9], lambda x, w: conv_input(x, w, (2, 3, 9, 9), strides=[2, 2]),
        {"strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0], "data_format": "NCHW"})
    add("a size that the window does not reach", (1, 4, 4, 4), (4, 3, 3, 3), [1, 3, 8, 8],
        lambda x, w: conv_input(x, w, (1, 3, 8, 8), strides=[2, 2], pads=[(1, 1), (1, 1)]),
        {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "data_format": "NCHW"})
    add("channels last when not said", (1, 4, 4, 4), (3, 3, 3, 4), [1, 9, 9, 3],
        lambda x, w: last(conv_input(first(x), hwcn(w), (1, 3, 9, 9), strides=[2, 2])),
        {"strides": [1, 2, 2, 1], "pads": [0, 0, 0, 0]})
    add("groups", (1, 4, 3, 3), (4, 3, 3, 3), [1, 6, 5, 5], lambda x, w: conv_input(x, w, (1, 6, 5, 5), groups=2),
        {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "groups": 2, "data_format": "NCHW"})
    add("dilations", (1, 2, 3, 4), (2, 3, 2, 3), [1, 3, 5, 8], lambda x, w: conv_input(x, w, (1, 3, 5, 8), dilations=[2, 2]),
        {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "dilations": [1, 1, 2, 2], "data_format": "NCHW"})

case("Conv2DTranspose", "a bias and more behind", {"input_size": t([0, 0, 0, 0]), "x": f(1, 4, 3, 3), "filter": const(f(4, 2, 3, 3), "NCHW"), "bias": const(f(2))},
     lambda s, x, w, bias: conv_input(x, w, (1, 2, 8, 8), strides=[2, 2]) + bias[:, None, None],
     {"strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0], "output_padding": [0, 0, 1, 1], "data_format": "NCHW"})
case("Conv3DTranspose", "", {"input_size": t([1, 2, 5, 5, 5]), "x": f(1, 3, 2, 2, 2), "filter": const(f(3, 2, 3, 3, 3), "NCDHW")},
     lambda s, x, w: conv_input(x, w, (1, 2, 5, 5, 5), strides=[2, 2, 2]),
     {"strides": [1, 1, 2, 2, 2], "pads": [0] * 6, "data_format": "NCDHW"})
case("Conv3DTransposeD", "", {"x": f(1, 3, 2, 2, 2), "filter": const(f(3, 2, 3, 3, 3), "NCDHW")},
     lambda x, w: conv_input(x, w, (1, 2, 5, 5, 5), strides=[2, 2, 2]),
     {"input_size": [1, 2, 5, 5, 5], "strides": [1, 1, 2, 2, 2], "pads": [0] * 6, "data_format": "NCDHW"})
case("Conv3DTranspose", "channels last when not said", {"input_size": t([1, 5, 5, 5, 2]), "x": f(1, 2, 2, 2, 3), "filter": const(f(3, 3, 3, 2, 3), "DHWCN")},
     lambda s, x, w: last(conv_input(first(x), w.transpose(4, 3, 0, 1, 2), (1, 2, 5, 5, 5), strides=[2, 2, 2])),
     {"strides": [1, 2, 2, 2, 1], "pads": [0] * 6})
for op in ("Conv3DBackpropInput", "Conv3DBackpropInputD"):
    for name, size, grad, weights, fmt, want, attrs in [
        ("", [1, 2, 5, 5, 5], f(1, 3, 2, 2, 2), f(3, 2, 3, 3, 3), "NCDHW",
         lambda w, x: conv_input(x, w, (1, 2, 5, 5, 5), strides=[2, 2, 2]), {"strides": [1, 1, 2, 2, 2], "pads": [0] * 6, "data_format": "NCDHW"}),
        ("channels last when not said", [1, 5, 5, 5, 2], f(1, 2, 2, 2, 3), f(3, 3, 3, 2, 3), "DHWCN",
         lambda w, x: last(conv_input(first(x), w.transpose(4, 3, 0, 1, 2), (1, 2, 5, 5, 5), strides=[2, 2, 2])), {"strides": [1, 2, 2, 2, 1], "pads": [0] * 6}),
        ("groups", [1, 4, 3, 4, 5], f(1, 4, 2, 3, 4), f(4, 2, 2, 2, 2), "NCDHW",
         lambda w, x: conv_input(x, w, (1, 4, 3, 4, 5), groups=2), {"strides": [1] * 5, "pads": [0] * 6, "groups": 2, "data_format": "NCDHW"}),
    ]:
        given = {"filter": const(weights, fmt), "out_backprop": grad}
        if op.endswith("D"):
            case(op, name, given, want, {**attrs, "input_size": size})
        else:
            case(op, name, {"input_size": t(size, "int32"), **given}, lambda s, w, x, want=want: want(w, x), attrs)
case("Deconvolution", "", {"x": f(1, 3, 4, 4), "filter": const(f(3, 2, 3, 3), "NCHW")},
     lambda x, w: conv_input(x, w, (1, 2, 8, 8), strides=[2, 2], pads=[(1, 0), (0, 1)]),
     {"strides": [2, 2], "pads": [1, 0, 0, 1]})
case("Deconvolution", "as it is", {"x": f(1, 3, 4, 4), "filter": const(f(3, 2, 3, 3), "NCHW"), "bias": const(f(2))},
     lambda x, w, bias: conv_input(x, w, (1, 2, 6, 6)) + bias[:, None, None])


def filter_cases(op):
    def add(name, x, dy, size, want, attrs, **rest):
        if op.endswith("D"):
            case(op, name, {"x": f(*x), "out_backprop": f(*dy)}, want, {**attrs, "filter_size": size}, **rest)
        else:
            case(op, name, {"x": f(*x), "filter_size": t(size), "out_backprop": f(*dy)}, lambda x, s, dy: want(x, dy), attrs, **rest)

    add("", (2, 3, 7, 7), (2, 4, 5, 5), [4, 3, 3, 3], lambda x, dy: conv_filter(x, dy, (4, 3, 3, 3)),
        {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "data_format": "NCHW"}, form="NCHW", out="float32")
    add("stride 2 and pads", (2, 3, 8, 8), (2, 4, 4, 4), [4, 3, 3, 3],
        lambda x, dy: conv_filter(x, dy, (4, 3, 3, 3), strides=[2, 2], pads=[(1, 1), (1, 1)]),
        {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "data_format": "NCHW"}, form="NCHW")
    add("dilations", (1, 2, 7, 7), (1, 3, 3, 3), [3, 2, 3, 3],
        lambda x, dy: conv_filter(x, dy, (3, 2, 3, 3), dilations=[2, 2]),
        {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "dilations": [1, 1, 2, 2], "data_format": "NCHW"}, form="NCHW")
    add("groups", (2, 4, 5, 5), (2, 6, 3, 3), [6, 2, 3, 3],
        lambda x, dy: conv_filter(x, dy, (6, 2, 3, 3), groups=2),
        {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "groups": 2, "data_format": "NCHW"}, form="NCHW")
    add("channels last when not said", (2, 7, 7, 3), (2, 5, 5, 4), [3, 3, 3, 4],
        lambda x, dy: conv_filter(first(x), first(dy), (4, 3, 3, 3)).transpose(2, 3, 1, 0),
        {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0]}, form="HWCN")
    add("half", (1, 2, 5, 5), (1, 3, 3, 3), [3, 2, 3, 3], lambda x, dy: conv_filter(x, dy, (3, 2, 3, 3)),
        {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "data_format": "NCHW"}, form="NCHW", dtype="float16", out="float32")


filter_cases("Conv2DBackpropFilter")
filter_cases("Conv2DBackpropFilterD")

# --- int8: sums of products, which are int32 ---------------------------------------------------------

ONE = {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "data_format": "NCHW"}
EIGHT = {"dtype": "int8", "out": "int32"}
SUMMED = i(4, lo=-9999, hi=9999)
case("Conv2D", "8-bit integers", {"x": f(2, 3, 7, 8), "filter": const(f(4, 3, 3, 3), "NCHW"), "bias": const(SUMMED)}, conv, ONE, **EIGHT)
case("DepthwiseConv2D", "8-bit integers", {"x": f(2, 4, 6, 7), "filter": const(f(1, 4, 3, 3), "NCHW"), "bias": const(SUMMED)},
     lambda x, w, bias: conv(x, w.transpose(1, 0, 2, 3), bias, groups=4), ONE, **EIGHT)
case("Conv3D", "8-bit integers", {"x": f(1, 2, 4, 5, 6), "filter": const(f(4, 2, 2, 2, 2), "NCDHW"), "bias": const(SUMMED)}, conv,
     {"strides": [1] * 5, "pads": [0] * 6, "data_format": "NCDHW"}, **EIGHT)


def spread_out(x, w, bias):
    return conv_input(x, w, (1, 4, 9, 9), strides=[2, 2]) + bias[:, None, None]


TWO = {"strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0], "data_format": "NCHW"}
WIDE = {"x": f(1, 3, 4, 4), "filter": const(f(3, 4, 3, 3), "NCHW"), "bias": const(SUMMED)}
case("Conv2DTranspose", "8-bit integers", {"input_size": t([1, 4, 9, 9]), **WIDE}, lambda s, *a: spread_out(*a), TWO, **EIGHT)
case("Conv2DTransposeD", "8-bit integers", WIDE, spread_out, {**TWO, "input_size": [1, 4, 9, 9]}, **EIGHT)
case("Deconvolution", "8-bit integers", WIDE, spread_out, {"strides": [2, 2]}, **EIGHT)
