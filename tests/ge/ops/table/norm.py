"""Normalisation, losses, and what has a state over time."""

import numpy as np

from cases import case, const, f, form, i, refused, t, v
from reference import first, last, moments, ort, softmax



def normal(x, axes, epsilon):
    mean, variance = moments(x, axes)
    return (x - mean) / np.sqrt(variance + np.float64(np.float32(epsilon))), mean, variance


def along(vector, x, channel):
    shape = [1] * x.ndim
    shape[channel] = -1
    return np.reshape(vector, shape)


def inference(x, scale, offset, mean, variance, channel=-1, epsilon=1e-4):
    scale, offset, mean, variance = (along(one, x, channel) for one in (scale, offset, mean, variance))
    return scale * (x - mean) / np.sqrt(variance + np.float64(np.float32(epsilon))) + offset


def five(*dims, channels):
    return {"x": f(*dims), "scale": const(f(channels, lo=0.5, dtype="float32")), "offset": const(f(channels, dtype="float32")),
            "mean": const(f(channels, dtype="float32")), "variance": const(f(channels, lo=0.5, dtype="float32"))}


def trained(x, scale, offset, *before, channel=-1, epsilon=1e-4, factor=1.0):
    axes = tuple(axis for axis in range(x.ndim) if axis != channel % x.ndim)
    y, mean, variance = normal(x, axes, epsilon)
    count = x.size // x.shape[channel]
    mean, variance = mean.ravel(), variance.ravel()
    now = [mean, variance * count / (count - 1)]
    if before:
        now = [(1 - factor) * old + factor * new for old, new in zip(before, now)]
    return [y * along(scale, x, channel) + along(offset, x, channel), *now, mean, variance, mean]


# Five outputs are about channels: their types are those of the scale. The last one repeats the mean.
MOMENTS = [None] + ["float32"] * 5
case("BatchNorm", "inference, channels last when not said", five(2, 4, 5, 3, channels=3),
     lambda *a: [inference(*a), *a[3:], *a[3:], a[3]], {"is_training": False}, types=["float16"], out=MOMENTS)
case("BatchNorm", "inference, channels first", five(2, 3, 4, 5, channels=3),
     lambda *a: [inference(*a, channel=1, epsilon=0.01), *a[3:], *a[3:], a[3]],
     {"is_training": False, "data_format": "NCHW", "epsilon": 0.01})
case("BatchNorm", "training when not said", {key: fill for key, fill in five(2, 4, 5, 3, channels=3).items() if key in ("x", "scale", "offset")},
     lambda *a: trained(*a), types=["float16", "bfloat16"], out=MOMENTS)
case("BatchNorm", "training, channels first, with what was before", five(2, 3, 4, 5, channels=3),
     lambda *a: trained(*a, channel=1, epsilon=0.01, factor=np.float64(np.float32(0.1))),
     {"data_format": "NCHW", "epsilon": 0.01, "exponential_avg_factor": 0.1})


def named(fills):
    return {f"input_{key}": fill for key, fill in fills.items()}


case("BatchNormExt2", "inference, channels last when not said", named(five(2, 4, 5, 3, channels=3)),
     lambda *a: [inference(*a), *a[3:], *a[3:]], {"is_training": False}, types=["float16"], out=MOMENTS[:5])
case("BatchNormExt2", "inference, channels first", named(five(2, 3, 4, 5, channels=3)),
     lambda *a: [inference(*a, channel=1, epsilon=0.01), *a[3:], *a[3:]], {"is_training": False, "data_format": "NCHW", "epsilon": 0.01})
case("BatchNormExt2", "training when not said", named({key: fill for key, fill in five(2, 4, 5, 3, channels=3).items() if key in ("x", "scale", "offset")}),
     lambda *a: trained(*a)[:5], types=["float16"], out=MOMENTS[:5])
case("BatchNormExt2", "training, channels first by the description", named({"x": form("NCHW", f(2, 3, 4, 5)), "scale": const(f(3, lo=0.5, dtype="float32")), "offset": const(f(3, dtype="float32"))}),
     lambda *a: trained(*a, channel=1)[:5], out=MOMENTS[:5])
refused("BatchNormExt2", "inference without a variance", {"input_x": f(2, 4, 5, 3), "input_scale": f(3), "input_offset": f(3), "input_mean": f(3)}, "input_variance is missing", {"is_training": False})
case("BNInference", "", {"x": f(2, 3, 4, 5), "mean": const(f(3)), "variance": const(f(3, lo=0.5)), "momentum": const(v([1.0])),
                         "scale": const(f(3)), "offset": const(f(3))},
     lambda x, mean, variance, momentum, scale, offset: inference(x, scale, offset, mean, variance, 1, 1e-5))
case("BNInference", "mean and variance alone", {"x": f(2, 3, 4, 5), "mean": const(f(3)), "variance": const(f(3, lo=0.5)), "momentum": const(v([1.0]))},
     lambda x, mean, variance, momentum: inference(x, np.ones(3), np.zeros(3), mean, variance, 1, 0.01), {"epsilon": 0.01})


def layer(x, gamma, beta, axis=0, epsilon=1e-7, third=lambda variance, epsilon: variance):
    y, mean, variance = normal(x, tuple(range(axis % x.ndim, x.ndim)), epsilon)
    return [y * gamma + beta, mean, third(variance, np.float64(np.float32(epsilon)))]


def rstd(variance, epsilon):
    return 1 / np.sqrt(variance + epsilon)


case("LayerNorm", "everything when not said", {"x": f(3, 4), "gamma": const(f(3, 4)), "beta": const(f(3, 4))}, layer)
case("LayerNorm", "the last axis", {"x": f(2, 3, 8), "gamma": const(f(8)), "beta": const(f(8))}, lambda *a: layer(*a, axis=-1, epsilon=1e-5),
     {"begin_norm_axis": -1, "begin_params_axis": -1, "epsilon": 1e-5}, types=["float16", "bfloat16"])
case("LayerNorm", "equal values", {"x": v(np.full((2, 5), 0.3), "float32"), "gamma": const(f(5)), "beta": const(f(5))},
     lambda x, gamma, beta: [np.broadcast_to(beta, x.shape), np.full((2, 1), 0.3), np.zeros((2, 1))], {"begin_norm_axis": 1, "begin_params_axis": 1})
case("LayerNorm", "two axes", {"x": f(2, 3, 8), "gamma": const(f(3, 8)), "beta": const(f(3, 8))}, lambda *a: layer(*a, axis=1),
     {"begin_norm_axis": 1, "begin_params_axis": 1})
case("LayerNormV3", "", {"x": f(2, 3, 8), "gamma": const(f(8)), "beta": const(f(8))}, lambda *a: layer(*a, axis=2, epsilon=1e-5, third=rstd),
     {"begin_norm_axis": 2, "begin_params_axis": 2}, out=[None, "float32", "float32"])
case("LayerNormV4", "", {"x": f(2, 3, 8), "normalized_shape": t([8]), "gamma": f(8), "beta": f(8)},
     lambda x, shape, gamma, beta: layer(x, gamma, beta, axis=2, epsilon=1e-5, third=rstd), out=[None, "float32", "float32"])
case("LayerNormV4", "two axes", {"x": f(2, 3, 8), "normalized_shape": t([3, 8], "int64"), "gamma": f(3, 8), "beta": f(3, 8)},
     lambda x, shape, gamma, beta: layer(x, gamma, beta, axis=1, epsilon=0.01, third=rstd), {"epsilon": 0.01})
case("LayerNormV4", "neither gamma nor beta", {"x": f(2, 3, 8), "normalized_shape": t([8])},
     lambda x, shape: layer(x, 1, 0, axis=2, epsilon=1e-5, third=rstd), types=["float16", "bfloat16"], out=[None, "float32", "float32"])
case("LayerNormV4", "gamma alone, of a wider type", {"x": f(2, 3, 8), "normalized_shape": t([8]), "gamma": f(8, dtype="float32")},
     lambda x, shape, gamma: layer(x, gamma, 0, axis=2, epsilon=1e-5, third=rstd), dtype="float16", out=[None, "float32", "float32"])


def instance(x, gamma, beta, epsilon=1e-6):
    """Channels first."""
    y, mean, variance = normal(x, tuple(range(2, x.ndim)), epsilon)
    return [y * along(gamma, x, 1) + along(beta, x, 1), mean, variance]


case("InstanceNorm", "channels last when not said", {"x": f(2, 3, 4, 5, 6), "gamma": const(f(6)), "beta": const(f(6))},
     lambda x, g, b: [last(part) for part in instance(first(x), g, b)])
case("InstanceNorm", "channels first", {"x": f(2, 3, 4, 5), "gamma": const(f(3)), "beta": const(f(3))}, lambda *a: instance(*a, epsilon=0.01),
     {"data_format": "NCHW", "epsilon": 0.01}, types=["float16"])


def group(x, gamma, beta, groups, epsilon=1e-4):
    """Channels first."""
    parts = x.reshape(x.shape[0], groups, -1)
    y, mean, variance = normal(parts, (2,), epsilon)
    return [y.reshape(x.shape) * along(gamma, x, 1) + along(beta, x, 1), mean.ravel(), variance.ravel()]


case("GroupNorm", "channels first", {"x": f(2, 6, 4, 5), "gamma": const(f(6)), "beta": const(f(6))},
     lambda *a: group(*a, 3, 0.01), {"num_groups": 3, "data_format": "NCHW", "eps": 0.01}, types=["float16"])
case("GroupNorm", "channels last when not said", {"x": f(2, 4, 5, 6), "gamma": const(f(6)), "beta": const(f(6))},
     lambda x, g, b: [last(part) if part.ndim > 1 else part for part in group(first(x), g, b, 2)], {"num_groups": 2})


def rms(x, gamma, axes=(-1,), epsilon=1e-6):
    factor = 1 / np.sqrt((x**2).mean(axes, keepdims=True) + np.float64(np.float32(epsilon)))
    return [x * factor * gamma, factor]


case("RmsNorm", "", {"x": f(2, 3, 8), "gamma": const(f(8))}, rms, types=["float16", "bfloat16"], out=[None, "float32"])
case("RmsNorm", "two axes", {"x": f(2, 3, 8), "gamma": const(f(3, 8))}, lambda x, g: rms(x, g, (-2, -1), 0.01), {"epsilon": 0.01})


def lrn(x, radius=5, bias=1.0, alpha=1.0, beta=0.5):
    out = np.empty_like(x)
    for channel in range(x.shape[1]):
        near = x[:, max(0, channel - radius) : channel + radius + 1]
        out[:, channel] = x[:, channel] / (bias + alpha * (near**2).sum(1)) ** beta
    return out


case("LRN", "", {"x": f(2, 13, 3, 4)}, lrn, types=["float16"])
case("LRN", "all attributes", {"x": f(2, 7, 3, 4)}, lambda x: lrn(x, 2, 2.0, 0.125, 0.75), {"depth_radius": 2, "bias": 2.0, "alpha": 0.125, "beta": 0.75})
case("LRN", "as ONNX has it", {"x": f(2, 7, 3, 4)}, lambda x: ort("LRN", 13, attrs={"size": 5, "bias": 2.0, "alpha": 0.625, "beta": 0.75})(x)[0].astype(float),
     {"depth_radius": 2, "bias": 2.0, "alpha": 0.125, "beta": 0.75}, least="float32", why="ONNX Runtime in float32")


def mvn(x, axes=(0, 2, 3), epsilon=1e-9):
    mean, variance = moments(x, axes)
    return (x - mean) / (np.sqrt(variance) + epsilon)


case("MVNV2", "", {"x": f(2, 3, 4, 5)}, mvn, types=["float16"])
case("MVNV2", "other axes", {"x": f(2, 3, 4, 5)}, lambda x: mvn(x, (1, 2), 0.5), {"axes": [1, 2], "eps": 0.5})
case("L2Normalize", "", {"x": f(2, 3, 4)}, lambda x: x / np.maximum(np.sqrt((x**2).sum(1, keepdims=True)), 1e-4), {"axis": [1]}, types=["float16"])
case("L2Normalize", "of almost nothing", {"x": v([[1e-6, 2e-6], [3.0, 4.0]])}, lambda x: x / np.maximum(np.sqrt((x**2).sum(1, keepdims=True)), 0.01), {"axis": [1], "eps": 0.01})


def picked(scores, labels):
    log = np.log(softmax(scores, 1))
    return log, -np.take_along_axis(log, np.expand_dims(labels, 1), 1).squeeze(1)


def loss(scores, labels, weights=None, reduction="mean", ignore=0):
    log, terms = picked(scores, labels)
    weights = np.ones(scores.shape[1]) if weights is None else weights
    each = np.where(labels == ignore, 0, weights[labels])
    terms = terms * each
    total = {"mean": terms.sum() / each.sum(), "sum": terms.sum(), "none": terms}[reduction]
    return [np.asarray(total), log]


for reduction in ["mean", "sum", "none"]:
    case("SoftmaxCrossEntropyLoss", f"{reduction}, weights", {"scores": f(6, 5), "labels": i(6, hi=5), "weights": const(f(5, lo=0.5))},
         lambda s, l, w, reduction=reduction: loss(s, l, w, reduction), {"reduction": reduction})
case("SoftmaxCrossEntropyLoss", "label 0 is ignored when not said", {"scores": f(6, 5), "labels": v([0, 1, 2, 0, 3, 4], "int64")}, loss, types=["float16", "float64", "bfloat16"])
case("SoftmaxCrossEntropyLoss", "images", {"scores": f(2, 5, 3, 3), "labels": i(2, 3, 3, hi=5)}, lambda s, l: loss(s, l, ignore=-1), {"ignore_index": -1})
case("SoftmaxCrossEntropyWithLogits", "", {"features": f(4, 5), "labels": f(4, 5, lo=0, hi=1)},
     lambda x, y: [-(y * np.log(softmax(x))).sum(1), softmax(x) - y], types=["float16"])
case("SoftmaxCrossEntropyWithLogits", "classes", {"features": f(4, 5), "labels": v(np.eye(5)[[1, 0, 4, 2]])}, lambda x, y: [-(y * np.log(softmax(x))).sum(1), softmax(x) - y])


def nll(x, target, weight=None, reduction="mean", ignore=-100):
    weight = np.ones(x.shape[1]) if weight is None else weight
    each = np.where(target == ignore, 0, weight[target % x.shape[1]])
    terms = -each * np.take_along_axis(x, (target % x.shape[1])[:, None], 1)[:, 0]
    return [np.asarray({"mean": terms.sum() / each.sum(), "sum": terms.sum(), "none": terms}[reduction]), np.asarray(each.sum())]


case("NLLLoss", "", {"x": f(4, 5), "target": i(4, hi=5), "weight": const(f(5, lo=0.5))}, nll)
case("NLLLoss", "sum", {"x": f(4, 5), "target": v([1, 2, 2, 4], "int32"), "weight": const(f(5, lo=0.5))}, lambda x, t, w: nll(x, t, w, "sum", 2), {"reduction": "sum", "ignore_index": 2})
case("NLLLoss", "each", {"x": f(4, 5), "target": i(4, hi=5)}, lambda x, t: [nll(x, t, None, "none")[0], None], {"reduction": "none"})

# --- over time ---------------------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, r, b=None, h=None, c=None, reverse=False):
    """One direction: x [T, N, I], w [4H, I], r [4H, H], b [8H]; gates in the order i, o, f, c."""
    hidden = r.shape[1]
    h = np.zeros((x.shape[1], hidden)) if h is None else h
    c = np.zeros((x.shape[1], hidden)) if c is None else c
    out = np.zeros((x.shape[0], x.shape[1], hidden))
    for time in range(x.shape[0])[:: -1 if reverse else 1]:
        gates = x[time] @ w.T + h @ r.T + (0 if b is None else b[: 4 * hidden] + b[4 * hidden :])
        i, o, f, g = np.split(gates, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out[time] = h
    return out, h, c


def gru(x, w, r, b=None, h=None, reverse=False, before=False):
    """One direction; gates in the order z, r, h."""
    hidden = r.shape[1]
    h = np.zeros((x.shape[1], hidden)) if h is None else h
    b = np.zeros(6 * hidden) if b is None else b
    wb, rb = np.split(b, 2)
    out = np.zeros((x.shape[0], x.shape[1], hidden))
    cut = [hidden, 2 * hidden]
    for time in range(x.shape[0])[:: -1 if reverse else 1]:
        wz, wr, wh = np.split(x[time] @ w.T + wb, cut, 1)
        rz, rr, rh = np.split(r, cut, 0)
        bz, br, bh = np.split(rb, cut)
        z, reset = sigmoid(wz + h @ rz.T + bz), sigmoid(wr + h @ rr.T + br)
        new = np.tanh(wh + reset * (h @ rh.T + bh)) if before else np.tanh(wh + (reset * h) @ rh.T + bh)
        h = (1 - z) * new + z * h
        out[time] = h
    return out, h


def stacked(parts):
    """The outputs of directions as one: y is [T, D, N, H], states are [D, N, H]."""
    ys, *states = zip(*parts)
    return [np.stack(ys, 1), *(np.stack(state) for state in states)]


case("CommonLSTM", "", {"x": f(4, 2, 3), "w": const(f(1, 20, 3)), "r": const(f(1, 20, 5))}, lambda x, w, r: stacked([lstm(x, w[0], r[0])]), {"hidden_size": 5})
case("CommonLSTM", "both directions, bias, states",
     {"x": f(4, 2, 3), "w": const(f(2, 20, 3)), "r": const(f(2, 20, 5)), "b": const(f(2, 40)), "initial_h": f(2, 2, 5), "initial_c": f(2, 2, 5)},
     lambda x, w, r, b, h, c: stacked([lstm(x, w[d], r[d], b[d], h[d], c[d], d == 1) for d in range(2)]), {"hidden_size": 5, "direction": "bidirectional"})
case("CommonLSTM", "peepholes and lengths, as ONNX has it",
     {"x": f(4, 2, 3), "w": const(f(1, 20, 3)), "r": const(f(1, 20, 5)), "b": const(f(1, 40)), "sequence_lens": v([4, 2], "int32"),
      "initial_h": f(1, 2, 5), "initial_c": f(1, 2, 5), "p": const(f(1, 15))},
     lambda x, w, r, b, n, h, c, p: ort("LSTM", 14, 3, {"hidden_size": 5})(x, w, r, b, n.astype(np.int32), h, c, p), {"hidden_size": 5})
case("CommonLSTM", "half", {"x": f(2, 2, 3, lo=-1, hi=1), "w": const(f(1, 16, 3, lo=-1, hi=1)), "r": const(f(1, 16, 4, lo=-1, hi=1))},
     lambda x, w, r: stacked([lstm(x, w[0], r[0])]), {"hidden_size": 4}, dtype="float16")
for before in [0, 1]:
    case("CommonGRU", "reset before the product" if not before else "reset behind the product",
         {"x": f(4, 2, 3), "w": const(f(1, 15, 3)), "r": const(f(1, 15, 5)), "b": const(f(1, 30))},
         lambda x, w, r, b, before=before: stacked([gru(x, w[0], r[0], b[0], before=before)]), {"hidden_size": 5, "linear_before_reset": before})
case("CommonGRU", "both directions, states", {"x": f(4, 2, 3), "w": const(f(2, 15, 3)), "r": const(f(2, 15, 5)), "initial_h": f(2, 2, 5)},
     lambda x, w, r, h: stacked([gru(x, w[d], r[d], None, h[d], d == 1) for d in range(2)]), {"hidden_size": 5, "direction": "bidirectional"})
case("CommonGRU", "backwards, lengths, as ONNX has it", {"x": f(4, 2, 3), "w": const(f(1, 15, 3)), "r": const(f(1, 15, 5)), "sequence_lens": v([4, 2], "int32")},
     lambda x, w, r, n: ort("GRU", 14, 2, {"hidden_size": 5, "direction": "reverse"})(x, w, r, None, n.astype(np.int32)), {"hidden_size": 5, "direction": "reverse"})
case("CommonGRU", "half", {"x": f(2, 2, 3, lo=-1, hi=1), "w": const(f(1, 12, 3, lo=-1, hi=1)), "r": const(f(1, 12, 4, lo=-1, hi=1))},
     lambda x, w, r: stacked([gru(x, w[0], r[0])]), {"hidden_size": 4}, dtype="float16")

case("AddRmsNorm", "", {"x1": f(2, 3, 8), "x2": f(2, 3, 8), "gamma": const(f(8))}, lambda a, b, g: [*rms(a + b, g), a + b], types=["float16"], out=[None, "float32", None],
     least="own", why="the sum is rounded to its type before the squares")
case("BNInfer", "", five(2, 3, 4, 5, channels=3), lambda *a: inference(*a, channel=1, epsilon=0.01), {"epsilon": 0.01})


def silu(x, gamma, beta, groups=3, epsilon=1e-5):
    y, mean, variance = group(x, gamma, beta, groups, epsilon)
    shape = (x.shape[0], groups)
    return [y * sigmoid(y), mean.reshape(shape), 1 / np.sqrt(variance + np.float64(np.float32(epsilon))).reshape(shape)]


case("GroupNormSilu", "", {"x": f(2, 6, 4, 5), "gamma": const(f(6)), "beta": const(f(6))}, silu, {"num_groups": 3})
case("GroupNormSilu", "neither factor nor activation", {"x": f(2, 6, 4)}, lambda x: [group(x, np.ones(6), np.zeros(6), 2, 0.01)[0], None, None], {"num_groups": 2, "eps": 0.01, "activate_silu": False})
case("ReduceStd", "", {"x": f(2, 3, 4)}, lambda x: [np.asarray(x.std(ddof=1)), np.asarray(x.mean())], types=["float16"])
case("ReduceStd", "axes, kept, of all", {"x": f(2, 3, 4)}, lambda x: [x.std((0, 2), keepdims=True), x.mean((0, 2), keepdims=True)], {"dim": [0, -1], "unbiased": False, "keepdim": True})
case("LpNorm", "", {"x": f(2, 3, 4)}, lambda x: np.sqrt((x**2).sum(1)), {"axes": [1]}, types=["float16"])
case("LpNorm", "third power", {"x": f(2, 3, 4)}, lambda x: (np.abs(x) ** 3).sum(2, keepdims=True) ** (1 / 3), {"p": 3, "axes": [2], "keepdim": True})
case("RotaryMul", "", {"x": f(2, 3, 2, 8), "r1": f(1, 3, 1, 8), "r2": f(1, 3, 1, 8)}, lambda x, a, b: x * a + np.concatenate([-x[..., 4:], x[..., :4]], -1) * b, types=["float16"])
