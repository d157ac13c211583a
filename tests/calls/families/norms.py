"""Normalisations and losses, with their gradients."""

import math

import numpy as np

from maker import EPS, FLOATS, LOW, near, wide

from . import Family
from .activations import sigmoid, softplus

SIZES = (1, 2, 3, 5, 8, 16, 17, 33, 64, 65, 127, 128, 129, 256, 257, 1024, 1025, 4097, 8193)


def close(dtype, scale=1.0, ulps=8):
    """Sums of normalised rows: in units of the type's precision, and of float32 times the size of the terms."""
    return near(ulps, 0, (4e-6 if dtype != "float64" else 1e-12) * scale)


def rows(call, low=0, high=3, most=4000):
    """Leading dimensions, and those that are normalised."""
    lead = call.shape(low, high, 40, empty=False)
    most = max(most, 10 * math.prod(lead))
    left = most // max(math.prod(lead), 1)
    tail = (call.choose([size for size in SIZES if size <= left] or [1]),)
    if call.chance(25):
        tail = (call.choose((1, 2, 3)), min(tail[0], 300))
    return lead, tail


def optional(call, name, dtype, shape, domain="small"):
    """A tensor that may be left out: its elements, or `None`."""
    if call.chance(25):
        call.features.add("optional argument left out")
        return None
    return wide(call.tensor(name, dtype, shape, domain, False))


def layer_norm(call):
    dtype = call.float_type()
    lead, tail = rows(call)
    x = wide(call.tensor("input", dtype, lead + tail, "small", False))
    call.set("normalizedShape", list(tail))
    w, b = optional(call, "weightOptional", dtype, tail), optional(call, "biasOptional", dtype, tail)
    e = call.set("eps", call.choose((2.0**-17, 2.0**-10, 1e-5, 1e-3, 1.0, 100.0)))
    axes = tuple(range(len(lead), len(lead) + len(tail)))
    mean = x.mean(axes, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axes, keepdims=True) + e)
    y = (x - mean) * rstd * (1 if w is None else w) + (0 if b is None else b)
    scale = (1 + np.abs(x) * rstd) * (1 if w is None else 1 + np.abs(w)) + (0 if b is None else np.abs(b))
    call.out("out", dtype, y, close(dtype, scale * (1 + rstd / 10)))
    if call.chance(70):
        held = dtype if call.chance(50) else "float32"
        call.out("meanOutOptional", held, mean, close(held, 1 + np.abs(x).mean(axes, keepdims=True)))
        call.out("rstdOutOptional", held, rstd, near(64, 1e-4 if held == "float32" else 0))


def layer_norm_backward(call):
    dtype = call.float_type()
    lead, tail = rows(call)
    g = wide(call.tensor("gradOut", dtype, lead + tail, "small", False))
    x = wide(call.tensor("input", dtype, lead + tail, "small", False))
    call.set("normalizedShape", list(tail))
    axes = tuple(range(len(lead), len(lead) + len(tail)))
    mean = wide(call.tensor("mean", "float32", values=x.mean(axes, keepdims=True)))
    rstd = wide(call.tensor("rstd", "float32", values=1 / np.sqrt(x.var(axes, keepdims=True) + 1e-5)))
    w = optional(call, "weightOptional", dtype, tail)
    if w is not None:
        call.tensor("biasOptional", dtype, tail, "small", False)
    mask = [call.chance(80) or w is None, w is not None and call.chance(80), w is not None and call.chance(80)]
    call.set("outputMask", mask)
    h = (x - mean) * rstd
    gw = g * (1 if w is None else w)
    n = math.prod(tail)
    dx = rstd * (gw - gw.mean(axes, keepdims=True) - h * (gw * h).mean(axes, keepdims=True))
    size = rstd * (np.abs(gw) + np.abs(gw).mean(axes, keepdims=True) + np.abs(h) * (np.abs(gw * h)).mean(axes, keepdims=True))
    over = tuple(range(len(lead)))
    if mask[0]:
        call.out("gradInputOut", dtype, dx, close(dtype, size * 2))
    if mask[1]:
        call.out("gradWeightOut", dtype, (g * h).sum(over), close(dtype, 2 * np.abs(g * h).sum(over) + 1e-3))
    if mask[2]:
        call.out("gradBiasOut", dtype, g.sum(over), close(dtype, np.abs(g).sum(over)))


def rms_norm(call, add=False, gemma=False, in_place=False, bias=False):
    dtype = call.float_type()
    lead, tail = rows(call, 1 if not add else 1)
    names = (("x1Ref", "x2Ref") if in_place else ("x1", "x2")) if add else ("x",)
    x = wide(call.tensor(names[0], dtype, lead + tail, "small", False))
    total = x
    if add:
        total = x + wide(call.tensor(names[1], dtype, lead + tail, "small", False))
    gamma = wide(call.tensor("gamma", dtype, tail, "small", False))
    e = call.set("epsilon", call.choose((1e-6, 1e-3, 1.0, 100.0, 0.0)))
    axes = tuple(range(len(lead), len(lead) + len(tail)))
    rstd = 1 / np.sqrt((total * total).mean(axes, keepdims=True) + e)
    y = total * rstd * ((1 + gamma) if gemma else gamma)
    size = np.abs(y)
    beta = optional(call, "betaOptional", dtype, tail) if bias else None
    if beta is not None:
        y, size = y + beta, size + np.abs(beta)
    low = 0
    check = near(16, low, 1e-6 * (1 + size) + (low * np.abs(rstd) * np.abs(gamma + gemma) * (0.5 if add else 0)))
    call.out("rstdOut", "float32", rstd, near(64, low if add else 0))
    if in_place:
        call.update("x1Ref", y, check)
        call.update("x2Ref", total, near(2, 0, 1e-6 * np.abs(x)))
        return
    call.out("yOut", dtype, y, check)
    if add:
        call.out("xOut", dtype, total, near(2, 0, 1e-6 * np.abs(x)))


def rms_norm_grad(call):
    dtype = call.float_type()
    lead, tail = rows(call, 1)
    g = wide(call.tensor("dy", dtype, lead + tail, "small", False))
    x = wide(call.tensor("x", dtype, lead + tail, "small", False))
    axes = tuple(range(len(lead), len(lead) + len(tail)))
    rstd = wide(call.tensor("rstd", "float32", values=1 / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-5)))
    gamma = wide(call.tensor("gamma", dtype, tail, "small", False))
    h, gw = x * rstd, g * gamma
    dx = rstd * (gw - h * (gw * h).mean(axes, keepdims=True))
    size = rstd * (np.abs(gw) + np.abs(h) * np.abs(gw * h).mean(axes, keepdims=True))
    over = tuple(range(len(lead)))
    call.out("dxOut", dtype, dx, close(dtype, 2 * size))
    call.out("dgammaOut", "float32", (g * h).sum(over), close("float32", 2 * np.abs(g * h).sum(over)))


def add_layer_norm(call, deep=False):
    dtype = call.float_type()
    lead = call.shape(1, 3, 40, empty=False)
    tail = (call.choose(SIZES),)
    one, two = (wide(call.tensor(name, dtype, lead + tail, "small", False)) for name in (("x", "gx") if deep else ("x1", "x2")))
    beta, gamma = wide(call.tensor("beta", dtype, tail, "small", False)), wide(call.tensor("gamma", dtype, tail, "small", False))
    alpha = call.set("alpha", call.choose((0.3, 1.0, 2.0, -0.5, 0.0))) if deep else 1
    e = call.set("epsilon", call.choose((1e-5, 1e-3, 1.0)))
    bias = None
    if not deep:
        bias = optional(call, "biasOptional", dtype, tail if call.chance(50) else lead + tail)
        more = call.set("additionalOutput", call.chance(60))
    x = alpha * one + two + (0 if bias is None else bias)
    mean, rstd = x.mean(-1, keepdims=True), 1 / np.sqrt(x.var(-1, keepdims=True) + e)
    y = (x - mean) * rstd * gamma + beta
    size = (1 + np.abs(x) * rstd) * (1 + np.abs(gamma)) + np.abs(beta)
    low = 0
    check = near(8, 2 * low, 4e-6 * size + (low * rstd * (np.abs(x) + np.abs(one)) * np.abs(gamma) if low else 0))
    call.out("yOut", dtype, y, check)
    call.out("meanOut", "float32", mean, near(8, low, 4e-6 * (1 + np.abs(x).mean(-1, keepdims=True)) + low))
    call.out("rstdOut", "float32", rstd, near(256, 1e-4 + 2 * low * (1 + np.abs(mean) * rstd)) if low == 0 else near(256, 0, np.abs(rstd) * 4 * low * (1 + rstd * np.abs(x).max(-1, keepdims=True))))
    if not deep:
        call.out("xOut", dtype, x if more else None, near(2, low, 1e-6 * (np.abs(one) + np.abs(two))), shape=x.shape)


def channels(call):
    """Batch, channels in groups, and what is behind them."""
    groups = call.choose((1, 2, 3, 4))
    shape = (call.between(1, 3), groups * call.between(1, 4), *(call.choose((1, 2, 5, 8, 17)) for _ in range(call.choose((2, 1, 0, 3)))))
    way = call.below(16)
    if way == 14:
        # More elements of a channel, or more channels, than a block has.
        shape = (call.between(1, 2), groups * call.between(1, 2), call.choose((1023, 1025, 2049, 9001)))
    elif way == 15:
        shape = (call.choose((1, 5, 17)), groups * call.choose((17, 33)), call.choose((1, 3)))
    return groups, shape


def group_norm(call, form="plain"):
    dtype = call.float_type()
    groups, shape = channels(call)
    n, c, size = shape[0], shape[1], math.prod(shape[2:])
    swish = form == "swish"
    x = wide(call.tensor("x" if swish else "self", dtype, shape, "small", False))
    if form == "plain":
        gamma, beta = optional(call, "gamma", dtype, (c,)), optional(call, "beta", dtype, (c,))
        call.set("N", n), call.set("C", c), call.set("HxW", size)
    else:
        gamma, beta = (optional(call, name, dtype, (c,)) if not swish else wide(call.tensor(name, dtype, (c,), "small", False)) for name in ("gamma", "beta"))
    call.set("numGroups" if swish else "group", groups)
    e = call.set("eps", call.choose((1e-5, 1e-3, 1.0, 100.0)))
    act = 1
    if swish:
        call.set("dataFormatOptional", "NCHW")
        act = int(call.set("activateSwish", call.chance(60)))
        factor = call.set("swishScale", call.choose((1.0, 2.0, -1.0, 0.0, 0.5)))
    elif form == "V2":
        act = int(call.set("activateSilu", call.chance(60)))
    flat = x.reshape(n, groups, -1)
    mean, rstd = flat.mean(-1), 1 / np.sqrt(flat.var(-1) + e)
    h = ((flat - mean[..., None]) * rstd[..., None]).reshape(n, c, -1)
    size_of = ((1 + np.abs(flat) * rstd[..., None])).reshape(n, c, -1)
    w, b = (np.ones(c) if gamma is None else gamma), (np.zeros(c) if beta is None else beta)
    y = h * w[:, None] + b[:, None]
    size_of = size_of * (1 + np.abs(w[:, None])) + np.abs(b[:, None])
    if form != "plain" and act:
        k = factor if swish else 1
        y = y * sigmoid(k * y)
    low = 0
    call.out("yOut" if swish else "out", dtype, y.reshape(shape), near(8, 2 * low, (4e-6 + (low if form != "plain" else 0)) * size_of.reshape(shape)))
    call.out("meanOut", dtype, mean, close(dtype, 1 + np.abs(flat).mean(-1)))
    call.out("rstdOut", dtype, rstd, near(256, 1e-4 + low))


def group_norm_backward(call):
    dtype = call.float_type()
    groups, shape = channels(call)
    n, c, size = shape[0], shape[1], math.prod(shape[2:])
    g = wide(call.tensor("gradOut", dtype, shape, "small", False))
    x = wide(call.tensor("input", dtype, shape, "small", False))
    flat = x.reshape(n, groups, -1)
    mean = wide(call.tensor("mean", dtype, values=flat.mean(-1)))
    rstd = wide(call.tensor("rstd", dtype, values=1 / np.sqrt(flat.var(-1) + 1e-3)))
    gamma = wide(call.tensor("gamma", dtype, (c,), "small", False))
    call.set("N", n), call.set("C", c), call.set("HxW", size), call.set("group", groups)
    mask = call.set("outputMask", [call.chance(80), True, call.chance(80)])
    h = ((flat - mean[..., None]) * rstd[..., None])
    gw = (g.reshape(n, c, -1) * gamma[:, None]).reshape(n, groups, -1)
    dx = rstd[..., None] * (gw - gw.mean(-1, keepdims=True) - h * (gw * h).mean(-1, keepdims=True))
    size_of = rstd[..., None] * (np.abs(gw) + np.abs(gw).mean(-1, keepdims=True) + np.abs(h) * np.abs(gw * h).mean(-1, keepdims=True))
    over = h.reshape(n, c, -1) * g.reshape(n, c, -1)
    if mask[0]:
        call.out("gradInput", dtype, dx.reshape(shape), close(dtype, 3 * size_of.reshape(shape)))
    if mask[1]:
        call.out("gradGammaOut", dtype, over.sum((0, 2)), close(dtype, 2 * np.abs(over).sum((0, 2)) + 2 * (np.abs(g.reshape(n, c, -1)).sum(2) * np.repeat(np.abs(mean * rstd), c // groups, 1)).sum(0)))
    if mask[2]:
        call.out("gradBetaOut", dtype, g.sum((0, *range(2, len(shape)))), close(dtype, np.abs(g).sum((0, *range(2, len(shape))))))


def batch_norm(call):
    dtype = call.float_type()
    _, shape = channels(call)
    c = shape[1]
    x = wide(call.tensor("input", dtype, shape, "small", False))
    training = call.chance(60)
    w, b = (np.full(c, default) if (one := optional(call, name, dtype, (c,))) is None else one for name, default in (("weight", 1.0), ("bias", 0.0)))
    rm, rv = wide(call.tensor("runningMean", dtype, (c,), "small", False)), wide(call.tensor("runningVar", dtype, (c,), "inner", False))
    call.set("training", training)
    momentum, e = call.set("momentum", call.choose((0.1, 0.5, 0.0, 1.0))), call.set("eps", call.choose((1e-5, 1e-3, 1.0)))
    axes = (0, *range(2, len(shape)))
    count = x.size // c
    spread = lambda v: v.reshape([1, c] + [1] * (len(shape) - 2))  # noqa: E731
    if training and count > 1:
        mean, var = x.mean(axes), x.var(axes)
        low = 0
        call.update("runningMean", (1 - momentum) * rm + momentum * mean, near(8, low, 1e-6))
        call.update("runningVar", (1 - momentum) * rv + momentum * var * count / (count - 1), near(16, low, 1e-6))
    else:
        training = False
        call.set("training", False)
        mean, var = rm, rv
        call.update("runningMean", rm), call.update("runningVar", rv)
    rstd = 1 / np.sqrt(var + e)
    y = (x - spread(mean)) * spread(rstd * w) + spread(b)
    call.out("output", dtype, y, close(dtype, 2 * ((1 + np.abs(x - spread(mean)) + np.abs(x)) * spread((rstd + 1) * (1 + np.abs(w))) + np.abs(spread(b)))))
    if training:
        held = "float32"
        call.out("saveMean", held, mean, close(held, 1 + np.abs(x).mean(axes)))
        call.out("saveInvstd", held, rstd, near(512, 1e-4))
    else:
        call.out("saveMean", "float32", None, shape=(c,)), call.out("saveInvstd", "float32", None, shape=(c,))


def batch_stats(call):
    dtype = call.float_type()
    _, shape = channels(call)
    x = wide(call.tensor("input", dtype, shape, "small", False))
    e = call.set("eps", call.choose((1e-5, 1e-3, 1.0)))
    axes = (0, *range(2, len(shape)))
    call.out("mean", "float32", x.mean(axes), close("float32", 1 + np.abs(x).mean(axes)))
    call.out("invstd", "float32", 1 / np.sqrt(x.var(axes) + e), near(512, 1e-3))


def loss(call, f, slope=None, domains=("small", "small"), numbers=None, names=("self", "target"), optional_weight=None, positive=None):
    """An elementwise loss with its reduction; `slope` makes it the gradient."""
    dtype = call.float_type()
    shape = call.shape(0, 5, 3000)
    reduction = call.set("reduction", call.choose((0, 1, 2)))
    if slope:
        g = wide(call.tensor(next(n for n in call.inputs if n.startswith("grad")), dtype, shape if reduction == 0 or call.chance(30) else (), "small", False))
    x = wide(call.tensor(names[0], dtype, shape, domains[0], False))
    t = wide(call.tensor(names[1], dtype, shape, domains[1], False))
    given = {name: call.set(name, call.choose(options)) for name, options in (numbers or {}).items()}
    w = 1
    if optional_weight:
        found = optional(call, optional_weight, dtype, shape, "inner")
        w = 1 if found is None else found
    low = 0
    if positive and call.chance(40):
        # How much the positive classes count.
        p = wide(call.tensor("posWeightOptional", dtype, call.choose((shape, shape[-1:])), "inner", False)) * 2
        p = p / 2
        f = (lambda x, t: (1 - t) * x + (1 + (p - 1) * t) * (np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0))) if f else None
        slope = slope and positive(p)
    # Products of infinities with zeros depend on how a formula is written.
    unsure = ~np.isfinite(x) | ~np.isfinite(t) if name_of(call) in INFINITE and call.odd else np.zeros(x.shape, bool)
    if unsure.any() and (slope or reduction == 0):
        judged = near
        near_ = lambda *bounds: lambda found, want: judged(*bounds)(np.where(unsure, want, found).astype(found.dtype), want)  # noqa: E731
    else:
        near_ = near
    if slope:
        part = slope(x, t, **given) * w
        wanted = g * part / (max(x.size, 1) if reduction == 1 else 1)
        bound = 2e-6 * np.abs(g) * (1 + np.abs(x) + np.abs(t)) / (max(x.size, 1) if reduction == 1 else 1)
        call.out(call.results[0], dtype, wanted, near_(16, 0, bound))
        return
    part = np.asarray(f(x, t, **given) * w)
    size = np.abs(part)
    if reduction == 0:
        call.out(call.results[0], dtype, part, near_(16, 0, 2e-6 * (1 + size)))
        return
    if unsure.any():
        return call.out(call.results[0], dtype, None, shape=())
    with np.errstate(all="ignore"):
        total, size = (part.mean() if part.size else np.nan, size.mean() if part.size else 0) if reduction == 1 else (part.sum(), size.sum())
    call.out(call.results[0], dtype, np.asarray(total), near(16, 0, 1e-5 * size + 1e-6))


#: Losses that have a logarithm or an exponential function.
INFINITE = ("BinaryCrossEntropyWithLogits", "SoftMarginLoss", "BinaryCrossEntropyWithLogitsBackward", "BinaryCrossEntropyWithLogitsTargetBackward", "SoftMarginLossBackward")


def name_of(call):
    return call.operator.removeprefix("aclnn")


def smooth(x, t, beta):
    d = np.abs(x - t)
    return d if beta == 0 else np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)


def smooth_slope(x, t, beta):
    d = x - t
    return np.sign(d) if beta == 0 else np.where(np.abs(d) < beta, d / beta, np.sign(d))


def bce(x, t):
    return -(t * np.maximum(np.log(x), -100) + (1 - t) * np.maximum(np.log1p(-x), -100))


def kl(x, t, logTarget):
    return np.exp(t) * (t - x) if logTarget else np.where(t > 0, t * np.log(np.where(t > 0, t, 1)), np.where(np.isnan(t), np.nan, 0)) - t * x


def nll(call, dims=False, backward=False):
    dtype = call.float_type()
    c = call.choose((1, 2, 5, 17, 129))
    shape = (call.between(1, 3), c, call.between(1, 4), call.between(1, 5)) if dims else (call.choose((1, 3, 17, 65, 300)), c)
    if dims and call.below(10) == 9:
        c = min(c, 17)
        shape = (2, c, call.choose((17, 33)), call.choose((31, 65)))
    x = -np.abs(wide(call.some(dtype, shape, "small", False)))
    reduction = call.choose((0, 1, 2))
    rest = (shape[0], *shape[2:])
    t = np.abs(call.some("int32", rest, "any", False).astype(np.int64)) % c
    w = np.abs(wide(call.some(dtype, (c,), "inner", False)))
    ignore = call.choose((-100, 0, c - 1, c + 5))
    held = w[t] * (t != ignore)
    total = held.sum()
    if backward:
        g = wide(call.tensor("gradOutput", dtype, rest if reduction == 0 else (), "small", False))
    x = wide(call.tensor("self", dtype, values=x))
    call.tensor("target", "int64", values=t)
    call.tensor("weight", dtype, values=w)
    call.set("reduction", reduction), call.set("ignoreIndex", ignore)
    low = 0
    pick = -np.take_along_axis(x, np.expand_dims(t, 1), 1).squeeze(1) * held
    with np.errstate(all="ignore"):
        if backward:
            call.tensor("totalWeight", dtype, values=np.asarray(total), plain=True)
            total = wide(np.asarray(total).astype(call.given["totalWeight"].values.dtype))
            part = -held * g / (total if reduction == 1 else 1)
            part = np.where(t == ignore, 0, part)
            wanted = np.zeros(shape)
            np.put_along_axis(wanted, np.expand_dims(t, 1), np.expand_dims(part, 1), 1)
            if total == 0 and reduction == 1:
                wanted = None
            call.out("out", dtype, wanted, near(16, 0, 0), shape=shape)
            return
        if reduction == 0:
            call.out("out", dtype, pick, near(8, 0))
        else:
            value = pick.sum() / total if reduction == 1 else pick.sum()
            call.out("out", dtype, np.asarray(value), near(32, 0))
        call.out("totalWeightOut", dtype, np.asarray(total) if reduction else None, near(16, 0), shape=())


def cross_entropy(call):
    dtype = call.float_type()
    n, c = call.choose((1, 3, 17, 65)), call.choose((2, 5, 17, 129, 1025, 4097))
    n = min(n, 3) if c > 2000 else n
    x = wide(call.tensor("input", dtype, (n, c), "small", False))
    t = np.abs(call.some("int32", (n,), "any", False).astype(np.int64)) % c
    w = optional(call, "weightOptional", "float32", (c,), "inner")
    # Null stands for the mean.
    reduction = call.choose(("mean", "sum", "none", None))
    if reduction is None:
        call.features.add("optional argument left out")
        reduction = "mean"
    else:
        call.set("reductionOptional", reduction)
    ignore, smooth = call.choose((-100, 0, 1, c - 1)), call.choose((0.0, 0.0, 0.125, 0.5, 1.0))
    if call.chance(20) and ignore < 0:
        t[0] = ignore
    t = call.tensor("target", "int64", values=t)
    call.set("ignoreIndex", ignore), call.set("labelSmoothing", smooth), call.set("lseSquareScaleForZloss", 0.0), call.set("returnZloss", False)
    logp = x - x.max(1, keepdims=True)
    logp = logp - np.log(np.exp(logp).sum(1, keepdims=True))
    used = t != ignore
    weights = np.where(used, 1.0 if w is None else w[np.where(used, t, 0)], 0.0)
    certain = -np.take_along_axis(logp, np.where(used, t, 0)[:, None], 1)[:, 0] * weights
    certain = np.where(used, certain, 0)
    spread = np.where(used, -(logp * (1.0 if w is None else w)).sum(1), 0.0)
    total = weights.sum()
    with np.errstate(all="ignore"):
        per = certain * (1 - smooth) + spread * smooth / c if smooth else certain
        value = per if reduction == "none" else per.sum().reshape(1) / (total if reduction == "mean" else 1)
        size = (np.abs(certain) + np.abs(spread) * smooth / c + 1)
        size = size if reduction == "none" else size.sum().reshape(1) / (max(total, 1e-6) if reduction == "mean" else 1)
    low = 0
    call.out("lossOut", dtype, value, near(32, 0, 1e-5 * size), shape=(n,) if reduction == "none" else (1,))
    call.out("logProbOut", dtype, logp, near(16, 0, 4e-6 * (1 + np.abs(x))))
    call.out("zlossOut", dtype, None, shape=(n,) if reduction == "none" else (1,)), call.out("lseForZlossOut", dtype, None, shape=(n,))


NORMS = Family("normalisation", "ops/normalization/mod.rs")
NORMS.add("LayerNorm FastLayerNorm", layer_norm)
NORMS.add("LayerNormBackward", layer_norm_backward)
NORMS.add("RmsNorm", rms_norm)
NORMS.add("GemmaRmsNorm", rms_norm, gemma=True)
NORMS.add("AddRmsNorm", rms_norm, add=True)
NORMS.add("AddRmsNormBias", rms_norm, add=True, bias=True)
NORMS.makers["aclnnInplaceAddRmsNorm"] = lambda call: rms_norm(call, add=True, in_place=True)
NORMS.add("RmsNormGrad", rms_norm_grad)
NORMS.add("AddLayerNorm", add_layer_norm)
NORMS.add("DeepNorm", add_layer_norm, deep=True)
NORMS.add("GroupNorm", group_norm)
NORMS.add("GroupNormSilu", group_norm, form="silu")
NORMS.add("GroupNormSiluV2", group_norm, form="V2")
NORMS.add("GroupNormSwish", group_norm, form="swish")
NORMS.add("GroupNormBackward", group_norm_backward)
NORMS.add("BatchNorm", batch_norm)
NORMS.add("BatchNormStats", batch_stats)

LOSSES = Family("losses", "ops/loss/mod.rs")
for names, function, row in (
    ("MseLoss", lambda x, t: (x - t) ** 2, {}),
    ("L1Loss", lambda x, t: np.abs(x - t), {}),
    ("SmoothL1Loss", smooth, dict(numbers=dict(beta=(1.0, 0.5, 2.0, 0.0, 0.125, 8.0)))),
    ("SoftMarginLoss", lambda x, t: softplus(-x * t), {}),
    ("KlDiv", kl, dict(numbers=dict(logTarget=(False, True)), domains=("small", "inner"))),
    ("BinaryCrossEntropy", bce, dict(domains=("inner", "inner"), optional_weight="weight")),
    ("BinaryCrossEntropyWithLogits", lambda x, t: np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x))), dict(domains=("small", "inner"), optional_weight="weightOptional", positive=True)),
):
    LOSSES.add(names, loss, f=function, **row)
for names, function, row in (
    ("MseLossBackward", lambda x, t: 2 * (x - t), {}),
    ("L1LossBackward", lambda x, t: np.nan_to_num(np.sign(x - t)), {}),
    ("SmoothL1LossBackward", smooth_slope, dict(numbers=dict(beta=(1.0, 0.5, 2.0, 0.0, 0.125, 8.0)))),
    ("SoftMarginLossBackward", lambda x, t: -t * sigmoid(-x * t), {}),
    ("KlDivBackward", lambda x, t, logTarget: -np.exp(t) if logTarget else -t, dict(numbers=dict(logTarget=(False, True)), domains=("small", "inner"))),
    ("BinaryCrossEntropyBackward", lambda x, t: (x - t) / np.maximum(x * (1 - x), 1e-12), dict(domains=("inner", "inner"), optional_weight="weightOptional")),
    ("BinaryCrossEntropyWithLogitsBackward", lambda x, t: sigmoid(x) - t, dict(domains=("small", "inner"), optional_weight="weightOptional", positive=lambda p: lambda x, t: (p * t + 1 - t) * sigmoid(x) - p * t)),
    ("BinaryCrossEntropyWithLogitsTargetBackward", lambda x, t: -x, dict(domains=("small", "inner"), optional_weight="weightOptional", positive=lambda p: lambda x, t: p * softplus(-x) - softplus(x))),
):
    LOSSES.add(names, loss, f=None, slope=function, **row)
LOSSES.add("NLLLoss", nll)
LOSSES.add("NLLLossBackward", nll, backward=True)
LOSSES.add("NLLLoss2d", nll, dims=True)
LOSSES.add("NLLLoss2dBackward", nll, dims=True, backward=True)
LOSSES.add("CrossEntropyLoss", cross_entropy)

FAMILIES = [NORMS, LOSSES]
