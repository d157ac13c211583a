"""Sums and moments along channels, as training takes normalisation apart."""

import numpy as np

from cases import case, f, form, refused, v

HALVES = ["float16", "bfloat16"]
EPS = np.float64(np.float32(1e-4))


def along(vector, x, channel):
    shape = [1] * x.ndim
    shape[channel] = -1
    return vector.reshape(shape)


def vector(lo=-2.0, hi=2.0, count=3):
    return f(count, lo=lo, hi=hi, dtype="float32")


for name, grads, channel in [("channels first when not said", f(2, 3, 4, 5), 1), ("channels last", form("NHWC", f(2, 4, 5, 3)), 3)]:
    case("BNInferGrad", name, {"grads": grads, "scale": vector(), "batch_variance": vector(0.5)},
         lambda g, s, var, channel=channel: g * along(s / np.sqrt(var + EPS), g, channel), types=HALVES)


def sums(x, channel):
    axes = tuple(axis for axis in range(x.ndim) if axis != channel)
    return [x.sum(axes), (x * x).sum(axes)]


for op, dims, last, name in [("BNTrainingReduce", (2, 3, 2, 3), (2, 2, 3, 3), "NHWC"), ("BN3DTrainingReduce", (2, 3, 2, 1, 2), (2, 2, 1, 2, 3), "NDHWC")]:
    case(op, "channels first when not said", {"x": f(*dims)}, lambda x: sums(x, 1), types=HALVES, out="float32")
    case(op, "channels last", {"x": form(name, f(*last))}, lambda x: sums(x, x.ndim - 1), out="float32")


def normal(x, mean, variance, channel):
    return (x - along(mean, x, channel)) / np.sqrt(along(variance, x, channel) + EPS)


def parameter_gradients(g, x, mean, variance, channel=1):
    axes = tuple(axis for axis in range(x.ndim) if axis != channel)
    return [(g * normal(x, mean, variance, channel)).sum(axes), g.sum(axes)]


def input_gradient(g, x, scales, offsets, scale, mean, variance, channel=1):
    count = x.size / x.shape[channel]
    rest = g - along(offsets, x, channel) / count - normal(x, mean, variance, channel) * along(scales, x, channel) / count
    return rest * along(scale / np.sqrt(variance + EPS), x, channel)


for name, dims, layout, channel in [("channels first when not said", (2, 3, 4, 5), None, 1), ("channels last", (2, 4, 5, 3), "NHWC", 3)]:
    laid = (lambda layout: lambda x: form(layout, x) if layout else x)(layout)
    moments = {"batch_mean": vector(), "batch_variance": vector(0.5)}
    case("BNTrainingUpdateGrad", name, {"grads": laid(f(*dims)), "x": laid(f(*dims)), **moments},
         lambda *a, channel=channel: parameter_gradients(*a, channel=channel), types=HALVES, out="float32")
    case("BNTrainingReduceGrad", name, {"grads": laid(f(*dims)), "x": laid(f(*dims)), "diff_scale": vector(), "diff_offset": vector(), "scale": vector(), **moments},
         lambda *a, channel=channel: input_gradient(*a, channel=channel), types=HALVES)


def update(x, total, squares, scale, offset, channel=1, again=False):
    count = x.size / x.shape[channel]
    mean = total / count
    variance = squares / count - mean**2
    y = along(scale / np.sqrt(variance + 0.25), x, channel) * (x - along(mean, x, channel)) + along(offset, x, channel)
    return [y, mean, variance] + [mean, variance] * again


SUMS = {"sum": vector(-10, 10), "square_sum": vector(100, 200), "scale": vector(), "offset": vector()}
for op, again in [("BNTrainingUpdateV2", False), ("BNTrainingUpdateV3", True)]:
    case(op, "", {"x": f(2, 3, 4, 5), **SUMS}, lambda *a, again=again: update(*a, again=again), {"epsilon": 0.25}, types=HALVES, out=[None] + ["float32"] * 4)
    case(op, "channels last", {"x": form("NHWC", f(2, 4, 5, 3)), **SUMS}, lambda *a, again=again: update(*a, channel=3, again=again), {"epsilon": 0.25}, out=[None] + ["float32"] * 4)

case("INTrainingReduceV2", "", {"x": f(2, 3, 2, 3)}, lambda x: [x.sum((2, 3), keepdims=True), (x * x).sum((2, 3), keepdims=True)], types=["float16"], out="float32")
case("INTrainingReduceV2", "channels last", {"x": form("NHWC", f(2, 2, 3, 3))}, lambda x: [x.sum((1, 2), keepdims=True), (x * x).sum((1, 2), keepdims=True)], out="float32")


def instance(dy, x, variance, mean, axes=(2, 3, 4)):
    normal = (x - mean) / np.sqrt(variance + 1e-6)
    return [(dy * normal).sum(axes, keepdims=True), dy.sum(axes, keepdims=True)]


case("INTrainingUpdateGrad", "", {"dy": f(2, 3, 2, 1, 2), "x": f(2, 3, 2, 1, 2), "variance": f(2, 3, 1, 1, 1, lo=0.5, dtype="float32"), "mean": f(2, 3, 1, 1, 1, dtype="float32")},
     instance, types=["float16"], out="float32")
case("INTrainingUpdateGrad", "channels last", {"dy": form("NDHWC", f(2, 2, 1, 2, 3)), "x": form("NDHWC", f(2, 2, 1, 2, 3)), "variance": f(2, 1, 1, 1, 3, lo=0.5, dtype="float32"), "mean": f(2, 1, 1, 1, 3, dtype="float32")},
     lambda *a: instance(*a, axes=(1, 2, 3)), out="float32")
case("BiasAddGrad", "channels last when not said", {"x": f(2, 2, 3, 3)}, lambda x: x.sum((0, 1, 2)), types=["float16", "int32"])
case("BiasAddGrad", "channels first", {"x": f(2, 3, 2, 3)}, lambda x: x.sum((0, 2, 3)), {"data_format": "NCHW"})
case("BiasAddGrad", "of a matrix", {"x": f(4, 3)}, lambda x: x.sum(0))


def grouped(grad, ends):
    return np.stack([grad[begin:end].sum(0) for begin, end in zip([0, *ends[:-1]], ends)])


case("GroupedBiasAddGrad", "equal groups", {"grad_y": f(2, 4, 3)}, lambda g: g.sum(1), types=HALVES)
case("GroupedBiasAddGrad", "ends", {"grad_y": f(5, 3), "group_idx": v([2, 2, 5], "int32")}, grouped, types=HALVES)
case("GroupedBiasAddGrad", "sizes", {"grad_y": f(5, 3), "group_idx": v([1, 3, 1], "int64")}, lambda g, n: grouped(g, np.cumsum(n)), {"group_idx_type": 1})
refused("GroupedBiasAddGrad", "two dimensions without groups", {"grad_y": f(5, 3)}, "must have 3")
refused("GroupedBiasAddGrad", "a kind of groups that is not known", {"grad_y": f(5, 3), "group_idx": v([5], "int32")}, "it must be 0 (ends) or 1 (sizes)", {"group_idx_type": 2})
refused("BNTrainingReduce", "a vector", {"x": f(3)}, "2 at least are required")
