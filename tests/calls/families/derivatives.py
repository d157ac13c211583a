"""Gradients of norms, pooling, padding and sampling; statistics in parts; and operators of images, boxes and before attention."""

import itertools
import math

import numpy as np

from device import Written
from maker import FLOATS, near, wide

from . import Family
from .activations import sigmoid
from .further import reflected_at
from .networks import optional, softmax
from .others import low
from .windows import convolve, resized_out


def small(call, name, dtype, shape, domain="small"):
    return wide(call.tensor(name, dtype, shape, domain, False))


def slopes(f, inputs, upstream, wanted):
    """The gradients of `f` by some of its inputs, by differences in double precision. Inputs are not read near a kink."""
    made = []
    for number in wanted:
        slope = np.zeros(inputs[number].shape)
        for index in np.ndindex(slope.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [one.copy() for one in inputs]
                moved[number][index] += step
                ends.append((f(*moved) * upstream).sum())
            slope[index] = (ends[0] - ends[1]) / 2e-6
        made.append(slope)
    return made


def close(dtype, scale=1.0, more=1.0):
    """A gradient: within the precision of its type, and of float32 times the size of its terms."""
    return near(16, 0, 2e-5 * scale)


# Norms.

def layer_norm_grad(call, deep):
    dtype = call.float_type()
    rows, n = call.choose((1, 3, 17, 130)), call.choose((1, 5, 16, 65, 300, 1025))
    dy = small(call, "dy", dtype, (rows, n))
    one, two = (small(call, name, dtype, (rows, n)) for name in (("x", "gx") if deep else ("x1", "x2")))
    alpha = call.set("alpha", 0.75) if deep else 1.0
    s = alpha * one + two
    mean = wide(call.tensor("mean", "float32", values=s.mean(-1, keepdims=True)))
    rstd = wide(call.tensor("rstd", "float32", values=1 / np.sqrt(s.var(-1, keepdims=True) + 1e-2)))
    gamma = small(call, "gamma", dtype, (n,))
    more = optional(call, "dsumOptional", dtype, (rows, n)) if not deep else None
    h, g = (s - mean) * rstd, dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - h * (g * h).mean(-1, keepdims=True))
    size = rstd * (np.abs(g) + np.abs(g).mean(-1, keepdims=True) + np.abs(h) * np.abs(g * h).mean(-1, keepdims=True))
    check = close(dtype, size + (0 if more is None else np.abs(more)))
    if deep:
        call.out("dxOut", dtype, alpha * dx, check), call.out("dgxOut", dtype, dx, check)
    else:
        call.out("dxOut", dtype, dx + (0 if more is None else more), check)
    call.out("dgammaOut", "float32", (dy * h).sum(0), near(8, 0, 1e-5 * (np.abs(dy) * (1 + np.abs(h))).sum(0)))
    call.out("dbetaOut", "float32", dy.sum(0), near(8, 0, 1e-5 * np.abs(dy).sum(0)))


def channels(call, dtype, name="input"):
    shape = (call.choose((2, 3, 5)), call.choose((1, 2, 5)), *([] if call.chance(40) else [call.choose((1, 4, 9))]))
    x = small(call, name, dtype, shape)
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    view = lambda v: v.reshape(-1, *[1] * (x.ndim - 2))  # noqa: E731
    return x, axes, view


def statistics(call, x, axes, names=("mean", "invstd"), e=1e-3):
    return [wide(call.tensor(name, "float32", values=one)) for name, one in zip(names, (x.mean(axes), 1 / np.sqrt(x.var(axes) + e)))]


def norm_sums(call):
    dtype = call.float_type()
    x, axes, _ = channels(call, dtype, "x")
    call.out("sum", "float32", x.sum(axes), near(4, 0, 4e-6 * np.abs(x).sum(axes))), call.out("squareSum", "float32", (x * x).sum(axes), near(16))


def norm_sums_backward(call):
    dtype = call.float_type()
    x, axes, view = channels(call, dtype)
    g = small(call, "gradOut", dtype, x.shape)
    mean, rstd = statistics(call, x, axes)
    call.tensor("weight", dtype, mean.shape, "small", False)
    for name in ("inputG", "weightG", "biasG"):
        call.set(name, True)
    along = g * (x - view(mean))
    size, total = np.abs(along).sum(axes) + np.abs(g).sum(axes) * 1e-2, np.abs(g).sum(axes)
    call.out("sumDy", "float32", g.sum(axes), near(8, 0, 1e-5 * total)), call.out("sumDyXmu", "float32", along.sum(axes), near(8, 0, 1e-5 * size))
    call.out("gradWeight", dtype, along.sum(axes) * rstd, close(dtype, size * rstd)), call.out("gradBias", dtype, g.sum(axes), close(dtype, total))


def norm_element_backward(call):
    dtype = call.float_type()
    x, axes, view = channels(call, dtype)
    g = small(call, "gradOut", dtype, x.shape)
    mean, rstd = statistics(call, x, axes)
    w = optional(call, "weight", dtype, mean.shape)
    by, along = small(call, "sumDy", "float32", mean.shape), small(call, "sumDyXmu", "float32", mean.shape)
    count = x.size // x.shape[1]
    call.tensor("counter", "int32", values=np.array([count - 1, 1] if call.chance(50) else [count]))
    centred, inv = x - view(mean), view(rstd)
    slope = inv * (1 if w is None else view(w))
    dx = (g - view(by) / count - centred * inv**2 * view(along) / count) * slope
    size = (np.abs(g) + np.abs(view(by)) / count + (np.abs(centred) + 0.1) * inv**2 * np.abs(view(along)) / count) * np.abs(slope)
    call.out("gradInput", dtype, dx, close(dtype, size))


def norm_gather(call):
    parts, c = call.between(1, 4), call.choose((1, 3, 17, 130))
    means, rstds = small(call, "mean", "float32", (parts, c)), wide(call.tensor("invstd", "float32", values=0.5 + wide(call.some("float32", (parts, c), "prob", False))))
    counts = wide(call.tensor("counts", "float32", values=2.0 + np.arange(parts) * 3))
    call.tensor("input", "float32", (2, c, 3), "small", False)
    e, momentum = call.set("eps", 1e-3), call.set("momentum", call.choose((0.25, 0.0)))
    n = counts.sum()
    mean = (means * counts[:, None]).sum(0) / n
    square = ((1 / rstds**2 - e + (means - mean) ** 2) * counts[:, None]).sum(0)
    scale = (1 / rstds**2 + means**2 + mean**2).max(0)
    if call.chance(70):
        running = small(call, "runningMean", "float32", (c,)), small(call, "runningVar", "float32", (c,), "inner")
        call.update("runningMean", running[0] * (1 - momentum) + momentum * mean, near(8, 0, 1e-5 * scale))
        call.update("runningVar", running[1] * (1 - momentum) + momentum * square / (n - 1), near(8, 0, 1e-5 * scale * n / (n - 1)))
    call.out("meanAll", "float32", mean, near(8, 0, 1e-5 * np.abs(means).max(0))), call.out("invstdAll", "float32", 1 / np.sqrt(square / n + e), near(64, 0, 1e-5))


def batch_norm_backward(call):
    dtype = call.float_type()
    x, axes, view = channels(call, dtype)
    g = small(call, "gradOut", dtype, x.shape)
    training = call.set("training", call.chance(60))
    e = call.set("eps", 1e-3)
    running = small(call, "runningMean", "float32", (x.shape[1],)), small(call, "runningVar", "float32", (x.shape[1],), "inner")
    saved = statistics(call, x, axes, ("saveMean", "saveInvstd"), e)
    mean, rstd = saved if training else (running[0], 1 / np.sqrt(running[1] + e))
    w = optional(call, "weight", dtype, mean.shape)
    mask = call.set("outputMask", [True, w is not None, w is not None])
    h, gw = (x - view(mean)) * view(rstd), g * (1 if w is None else view(w))
    over = lambda v: v.mean(axes, keepdims=True)  # noqa: E731
    dx = view(rstd) * (gw - over(gw) - h * over(gw * h)) if training else gw * view(rstd)
    size = view(rstd) * (np.abs(gw) + over(np.abs(gw)) + (np.abs(h) + 0.1) * over(np.abs(gw * h) + np.abs(gw)))
    call.out("gradInput", dtype, dx, close(dtype, size))
    if mask[1]:
        call.out("gradWeight", dtype, (g * h).sum(axes), close(dtype, (np.abs(g) * (np.abs(h) + 0.1)).sum(axes)))
        call.out("gradBias", dtype, g.sum(axes), close(dtype, np.abs(g).sum(axes)))


def group_norm_swish_grad(call):
    dtype = call.float_type()
    n, groups, each, space = call.between(1, 2), call.between(1, 2), call.between(1, 2), call.choose((1, 3, 4))
    c = groups * each
    x, dy = small(call, "x", dtype, (n, c, space + 1)), small(call, "dy", dtype, (n, c, space + 1))
    gamma, beta = small(call, "gamma", dtype, (c,)), small(call, "beta", dtype, (c,))
    flat = x.reshape(n, groups, -1)
    mean, rstd = flat.mean(2), 1 / np.sqrt(flat.var(2) + 1e-2)
    call.tensor("mean", "float32", values=mean), call.tensor("rstd", "float32", values=rstd)
    scale = call.set("swishScale", call.choose((1.0, 1.5)))
    call.set("numGroups", groups), call.set("dataFormatOptional", "NCHW"), call.set("dgammaIsRequire", True), call.set("dbetaIsRequire", True)

    def forward(x, gamma, beta):
        flat = x.reshape(n, groups, -1)
        h = ((flat - flat.mean(2, keepdims=True)) / np.sqrt(flat.var(2, keepdims=True) + 1e-2)).reshape(x.shape)
        y = h * gamma[:, None] + beta[:, None]
        return y * sigmoid(scale * y)

    made = slopes(forward, [x, gamma, beta], dy, (0, 1, 2))
    top = (1 + np.abs(dy).max()) * (1 + np.abs(gamma).max()) * (1 + rstd.max())
    for name, one in zip(("dxOut", "dgammaOut", "dbetaOut"), made):
        call.out(name, dtype, one, close(dtype, top * (1 if name == "dxOut" else 4), 2))


def instance_norm(call):
    dtype = call.float_type()
    n, c, space = call.between(1, 3), call.choose((1, 3)), (call.choose((1, 4, 5)), call.choose((2, 5)))
    last = call.set("dataFormat", call.choose(("NCHW", "NHWC"))) == "NHWC"
    x = small(call, "x", dtype, (n, *space, c) if last else (n, c, *space))
    gamma, beta = small(call, "gamma", dtype, (c,)), small(call, "beta", dtype, (c,))
    e = call.set("eps", 1e-2)
    axes = (1, 2) if last else (2, 3)
    view = (lambda v: v) if last else (lambda v: v[:, None, None])
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    y = (x - mean) / np.sqrt(var + e) * view(gamma) + view(beta)
    call.out("y", dtype, y, close(dtype, (1 + np.abs(y - view(beta)) + np.abs(view(gamma)) * (1 + np.abs(x)) / np.sqrt(var + e)) + np.abs(view(beta)), 0.5))
    call.out("mean", dtype, mean, close(dtype, 1 + np.abs(mean))), call.out("variance", dtype, var, close(dtype, 1 + var))


NORMS = Family("gradients of norms, statistics in parts", "ops/normalization")
NORMS.add("AddLayerNormGrad", layer_norm_grad, deep=False)
NORMS.add("DeepNormGrad", layer_norm_grad, deep=True)
NORMS.add("BatchNormReduce", norm_sums)
NORMS.add("BatchNormReduceBackward", norm_sums_backward)
NORMS.add("BatchNormElemtBackward", norm_element_backward)
NORMS.add("BatchNormGatherStatsWithCounts", norm_gather)
NORMS.add("BatchNormBackward", batch_norm_backward)
NORMS.add("GroupNormSwishGrad", group_norm_swish_grad)
NORMS.add("InstanceNorm", instance_norm)


# Pooling, sampling, padding.

def images(call, dims):
    return (call.between(1, 2), call.between(1, 2), *(call.choose((2, 3, 5)) for _ in range(dims)))


def pool_back(call, dims, unpool=False):
    """Gradients of what was chosen by indices."""
    dtype = call.float_type()
    shape, outs = images(call, dims), [call.choose((1, 2, 3)) for _ in range(dims)]
    small_, large = (shape[:2] + tuple(min(o, s) for o, s in zip(outs, shape[2:]))), shape
    count, area = math.prod(small_[2:]), math.prod(large[2:])
    at = np.argsort(call.some("float32", (*shape[:2], area), "normal", False), -1, kind="stable")[..., :count].reshape(small_)
    if not unpool:
        g, x = small(call, "gradOutput", dtype, small_), small(call, "self", dtype, large)
        call.tensor("indices", "int64" if dims == 2 else "int32", values=at)
        made = np.zeros((*shape[:2], area))
        np.put_along_axis(made, at.reshape(*shape[:2], -1), g.reshape(*shape[:2], -1), -1)
        return call.out("gradInput", dtype, made.reshape(x.shape))
    call.tensor("indices", "int64", values=at)
    call.set("outputSize", list(large[2:]))
    if dims == 3:
        call.set("stride", [1, 1, 1]), call.set("padding", [0, 0, 0])
    if unpool == "backward":
        g = small(call, "gradOutput", dtype, large)
        call.tensor("self", dtype, small_, "small", False)
        return call.out("out", dtype, np.take_along_axis(g.reshape(*shape[:2], -1), at.reshape(*shape[:2], -1), -1).reshape(small_))
    x = small(call, "self", dtype, small_)
    made = np.zeros((*shape[:2], area))
    np.put_along_axis(made, at.reshape(*shape[:2], -1), x.reshape(*shape[:2], -1), -1)
    call.tensor("outRef", dtype, values=np.zeros(large))
    call.update("outRef", made.reshape(large))


def with_odd(call, name, dtype, shape):
    """Elements of which at times some are not finite."""
    return wide(call.tensor(name, dtype, shape, "small", call.chance(30)))


def max_pool(call):
    dtype = call.float_type()
    kernel, stride = [call.choose((1, 2, 3)) for _ in range(2)], [call.choose((1, 2)) for _ in range(2)]
    pads = [call.below(k) for k in kernel * 2]
    ceil = call.choose((0, 1))
    x = with_odd(call, "self", dtype, (call.between(1, 2), call.between(1, 2), *(k + call.choose((0, 1, 4)) for k in kernel)))
    for name, value in (("kernelShape", kernel), ("strides", stride), ("autoPad", 0), ("pads", pads), ("dilations", call.choose(([], [1, 1]))), ("ceilMode", ceil)):
        call.set(name, value)
    padded = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2] + 4 * ceil), (pads[1], pads[3] + 4 * ceil)), constant_values=-np.inf)
    view = np.lib.stride_tricks.sliding_window_view(padded, kernel, (2, 3))[:, :, ::stride[0], ::stride[1]]
    if ceil:
        # As many windows as begin in the image or before it, the last of them at times beyond the padding.
        outs = [-(-(size + pads[axis] + pads[axis + 2] - kernel[axis]) // stride[axis]) + 1 for axis, size in enumerate(x.shape[2:])]
        outs = [out - 1 if (out - 1) * stride[axis] >= x.shape[2 + axis] + pads[axis] else out for axis, out in enumerate(outs)]
        view = view[:, :, : outs[0], : outs[1]]
    call.out("out", dtype, view.max((-1, -2)))


def grid_at(v, size, aligned, padding):
    at = (v + 1) / 2 * (size - 1) if aligned else ((v + 1) * size - 1) / 2
    return np.clip(at, 0, size - 1) if padding == 1 else reflected_at(at, size, aligned) if padding == 2 else at


def sampled(x, grid, aligned, padding):
    """Interpolates between the neighbours of positions; `grid` has them as x, y (, z)."""
    dims = x.ndim - 2
    at = [grid_at(grid[..., dims - 1 - axis], x.shape[2 + axis], aligned, padding) for axis in range(dims)]
    low_ = [np.floor(one) for one in at]
    out = 0
    n = np.arange(x.shape[0]).reshape(-1, *[1] * dims)
    for corner in itertools.product((0, 1), repeat=dims):
        index = [(one + step).astype(int) for one, step in zip(low_, corner)]
        weight = math.prod(1 - np.abs(one - i) for one, i in zip(at, index))
        inside = np.logical_and.reduce([(i >= 0) & (i < size) for i, size in zip(index, x.shape[2:])])
        part = x[(n, slice(None), *(np.clip(i, 0, size - 1) for i, size in zip(index, x.shape[2:])))]
        out = out + np.moveaxis(part * (weight * inside)[..., None], -1, 1)
    return out


def grid(call, dims, backward=False):
    n, c = call.between(1, 2), call.between(1, 2)
    size, own = [call.choose((2, 3)) for _ in range(dims)], [call.between(1, 2) for _ in range(dims)]
    x = wide(call.some("float32", (n, c, *size), "small", False))
    # Positions that are not where the interpolation has a kink.
    at = np.round(wide(call.some("float32", (n, *own, dims), "within", False)) * 16) / 16 * 0.9 + 0.013
    aligned, padding = call.chance(50), call.choose((0, 1, 2))
    if padding == 1:
        at = at * 0.4
    elif padding == 2 and not backward:
        at = at * 1.6
    elif padding == 2:
        at = at * 0.4
    call.set("interpolationMode", 0), call.set("paddingMode", padding), call.set("alignCorners", aligned)
    x, at = wide(call.tensor("input", "float32", values=x)), wide(call.tensor("grid", "float32", values=at))
    y = sampled(x, at, aligned, padding)
    top = 1 + np.abs(x).max()
    if not backward:
        return call.out("out", "float32", y, near(8, 0, 1e-5 * top))
    g = small(call, "gradOutput", "float32", y.shape)
    call.set("outputMask", [True, True])
    by_x, by_grid = slopes(lambda x, at: sampled(x, at, aligned, padding), [x, at], g, (0, 1))
    call.out("inputGrad", "float32", by_x, near(8, 0, 2e-5 * (1 + np.abs(g).sum())))
    kinks = np.zeros(at.shape, bool)
    for axis in range(dims):
        where = grid_at(at[..., dims - 1 - axis], size[axis], aligned, 0)
        kinks[..., dims - 1 - axis] = (np.abs(where - np.rint(where)) < 1e-4) | (padding >= 1) & ((np.abs(where) < 1e-4) | (np.abs(where - size[axis] + 1) < 1e-4))
    check = near(8, 0, 2e-4 * top * (1 + np.abs(g).max()))
    call.out("gridGrad", "float32", by_grid, lambda found, wanted: check(np.where(kinks, wanted, found).astype(np.float32), wanted))


def circular(call, dims, backward=False):
    dtype = call.float_type()
    shape = (call.between(1, 2), call.between(1, 2), *(call.choose((2, 3, 5)) for _ in range(dims)))
    widths, pads = [(0, 0)] * len(shape), []
    for index in range(dims):
        most = shape[-1 - index]
        widths[-1 - index] = pair = (call.between(0, most), call.between(0, most))
        pads += pair
    at = np.pad(np.arange(math.prod(shape)).reshape(shape), widths, mode="wrap")
    call.set("padding", pads)
    if not backward:
        x = small(call, "self", dtype, shape)
        return call.out("out", dtype, x.reshape(-1)[at])
    g = small(call, "gradOutput", dtype, at.shape)
    call.tensor("self", dtype, shape, "small", False)
    made, size = (np.bincount(at.reshape(-1), one.reshape(-1), math.prod(shape)).reshape(shape) for one in (g, np.abs(g)))
    call.out("gradInput", dtype, made, close(dtype, size))


def scaled_resize(call):
    dtype = call.float_type()
    shape = (call.between(1, 2), call.between(1, 2), call.choose((1, 3, 4)), call.choose((2, 4, 5)))
    scales = [call.choose((0.5, 1.0, 1.5, 2.0, 3.0)) for _ in range(2)]
    outs = [max(int(size * scale), 1) for size, scale in zip(shape[2:], scales)]
    if any(int(size * scale) < 1 for size, scale in zip(shape[2:], scales)):
        scales, outs = [1.0, 1.0], list(shape[2:])
    x = small(call, "self", dtype, shape)
    call.set("scales", [1.0, 1.0, *scales])
    linear = call.set("mode", call.choose(("nearest", "bilinear"))) == "bilinear"
    ways = []
    for size, out, scale in zip(shape[2:], outs, scales):
        made = np.zeros((out, size))
        for i in range(out):
            if linear:
                at = max((i + 0.5) / scale - 0.5, 0)
                made[i, min(int(at), size - 1)] += 1 - (at - int(at))
                made[i, min(int(at) + 1, size - 1)] += at - int(at)
            else:
                made[i, min(int(i / scale), size - 1)] = 1
        ways.append(made)
    resized_out(call, "out", dtype, lambda v, ms: np.einsum("nchw,ih,jw->ncij", v, *ms), x, ways, 1e-6, not linear)


def deformed(x, w, right, down, factor, bias, kernel, stride, pad, dilation, groups, sharing):
    """A convolution whose taps read beside their positions. Returns the result, and what each tap reads."""
    n, c, h, wide_ = x.shape
    size = [(s + 2 * p - (k - 1) * d - 1) // st + 1 for s, p, k, d, st in zip((h, wide_), pad, kernel, dilation, stride)]
    tiles = np.zeros((n, c, *kernel, *size))
    taps = kernel[0] * kernel[1]
    views = [one.reshape(n, sharing, taps, *size) for one in (right, down, factor)]
    for b, ch, ky, kx, oy, ox in np.ndindex(tiles.shape):
        group, tap = ch // (c // sharing), ky * kernel[1] + kx
        px = ox * stride[1] - pad[1] + kx * dilation[1] + views[0][b, group, tap, oy, ox]
        py = oy * stride[0] - pad[0] + ky * dilation[0] + views[1][b, group, tap, oy, ox]
        value = 0.0
        for y in (math.floor(py), math.floor(py) + 1):
            for z in (math.floor(px), math.floor(px) + 1):
                if 0 <= y < h and 0 <= z < wide_:
                    value += x[b, ch, y, z] * (1 - abs(py - y)) * (1 - abs(px - z))
        tiles[b, ch, ky, kx, oy, ox] = value * views[2][b, group, tap, oy, ox]
    outs, per = w.shape[0], c // groups
    parts = [np.einsum("ncyxpq,ocyx->nopq", tiles[:, g * per:(g + 1) * per], w[g * outs // groups:(g + 1) * outs // groups]) for g in range(groups)]
    made = np.concatenate(parts, 1) + (0 if bias is None else bias[:, None, None])
    return made, tiles.transpose(0, 1, 4, 2, 5, 3).reshape(n, c, size[0] * kernel[0], size[1] * kernel[1])


def deformable(call, backward=False):
    dtype = call.float_type() if not backward else "float32"
    groups, sharing = call.choose(((1, 1), (2, 1), (1, 2)))
    c, outs, n = 2, groups * call.between(1, 2), 1 if backward else call.between(1, 2)
    kernel, stride, pad, dilation = ([call.choose(options) for _ in range(2)] for options in ((1, 2), (1, 2), (0, 1), (1,)))
    image_ = [call.choose((2, 3)) + k - 1 for k in kernel]
    size = [(s + 2 * p - (k - 1) * d - 1) // st + 1 for s, p, k, d, st in zip(image_, pad, kernel, dilation, stride)]
    taps = kernel[0] * kernel[1]
    # Distances whose fractions are not 0: where a position is an integer, the gradient by it is one of two.
    between_ = lambda: (call.some("int32", (n, sharing * taps, *size), "any", False).astype(np.int64) % 13 - 6) / 4 + 1 / 8  # noqa: E731
    x, w = wide(call.some(dtype, (n, c, *image_), "small", False)), wide(call.some(dtype, (outs, c // groups, *kernel), "small", False))
    right, down, factor = between_(), between_(), wide(call.some(dtype, (n, sharing * taps, *size), "small", False))
    bias = wide(call.some(dtype, (outs,), "small", False)) if backward or call.chance(50) else None
    f = lambda *own: deformed(*own, kernel, stride, pad, dilation, groups, sharing)  # noqa: E731
    y, tiles = f(x, w, right, down, factor, bias)
    call.tensor("input" if backward else "x", dtype, values=x), call.tensor("weight", dtype, values=w), call.tensor("offset", dtype, values=np.concatenate([right, down, factor], 1))
    for name, value in (("kernelSize", kernel), ("stride", [1, 1, *stride]), ("padding", [pad[0], pad[0], pad[1], pad[1]]), ("dilation", [1, 1, *dilation]), ("groups", groups), ("deformableGroups", sharing), ("modulated", True)):
        call.set(name, value)
    names = ["input" if backward else "x", "weight", "offset"]
    size = f(np.abs(x), np.abs(w), right, down, np.abs(factor), None if bias is None else np.abs(bias))[0]
    if not backward:
        if bias is not None:
            call.tensor("biasOptional", dtype, values=bias)
        call.out("out", dtype, y, close(dtype, size + 1e-2))
        if call.chance(50):
            call.out("deformOutOptional", dtype, tiles, close(dtype, 1e-2 + np.abs(tiles) + np.abs(x).max() * np.abs(factor).max()))
            names.append("deformOutOptional")
        names.append("out")
    else:
        g = small(call, "gradOutput", dtype, y.shape)
        call.tensor("offsetOut", dtype, values=tiles)
        names += ["gradOutput", "offsetOut"]
        by = slopes(lambda *own: f(*own)[0], [x, w, right, down, factor, bias], g, range(6))
        top = 1 + np.abs(g).sum() * (1 + np.abs(x).max()) * (1 + np.abs(w).max()) * (1 + np.abs(factor).max())
        for name, one in (("gradInput", by[0]), ("gradWeight", by[1]), ("gradOffset", np.concatenate(by[2:5], 1)), ("gradBias", by[5])):
            call.out(name, dtype, one, near(8, 0, 1e-5 * top))
        names += ["gradInput", "gradWeight", "gradOffset"]
    for name in names:
        one = call.given[name]
        (one.array if isinstance(one, Written) else one).format = 0


def conv_tbc_backward(call):
    dtype = "float32"
    t, b, c, o, k = call.choose((2, 4)), call.between(1, 2), call.between(1, 3), call.between(1, 3), call.between(1, 2)
    x, w, bias = small(call, "input", dtype, (t, b, c)), small(call, "weight", dtype, (k, c, o)), small(call, "bias", dtype, (o,))
    pad = call.set("pad", call.choose((0, 1)))
    call.set("cubeMathType", 0)
    f = lambda one, two, three: convolve(one.transpose(1, 2, 0), two.transpose(2, 1, 0), [1], [pad], [1], 1).transpose(2, 0, 1) + three  # noqa: E731
    g = small(call, "self", dtype, f(x, w, bias).shape)
    size = 1 + np.abs(g).sum() * (1 + np.abs(x).max() + np.abs(w).max())
    for name, one in zip(("gradInput", "gradWeight", "gradBias"), slopes(f, [x, w, bias], g, (0, 1, 2))):
        call.out(name, dtype, one, near(8, 0, 1e-5 * size))


SAMPLED = Family("gradients of pooling, sampling, padding", "ops/window")
SAMPLED.add("AdaptiveMaxPool2dBackward", pool_back, dims=2)
SAMPLED.add("AdaptiveMaxPool3dBackward", pool_back, dims=3)
SAMPLED.add("MaxUnpool2dBackward", pool_back, dims=2, unpool="backward")
SAMPLED.add("MaxUnpool3dBackward", pool_back, dims=3, unpool="backward")
SAMPLED.add("MaxUnpool3d", pool_back, dims=3, unpool=True)
SAMPLED.add("MaxPool", max_pool)
SAMPLED.add("GridSampler3D", grid, dims=3)
SAMPLED.add("GridSampler2DBackward", grid, dims=2, backward=True)
SAMPLED.add("GridSampler3DBackward", grid, dims=3, backward=True)
for number in (2, 3):
    SAMPLED.add(f"CircularPad{number}d", circular, dims=number)
    SAMPLED.add(f"CircularPad{number}dBackward", circular, dims=number, backward=True)
SAMPLED.add("Resize", scaled_resize)
SAMPLED.add("ConvTbcBackward", conv_tbc_backward)
SAMPLED.add("DeformableConv2d", deformable)
SAMPLED.add("DeformableConv2dBackward", deformable, backward=True)


# Before attention, over segments, over rows.

def exp_segsum(x):
    total = x.cumsum(-1)
    with np.errstate(all="ignore"):
        return np.where(np.tri(x.shape[-1], dtype=bool), np.exp(total[..., :, None] - total[..., None, :]), 0)


def segments(call, backward=False):
    dtype = call.float_type() if not backward else "float32"
    x = wide(call.some(dtype, (*call.shape(0, 2, 6, empty=False), call.choose((1, 2, 5, 7))), "unit", False))
    y = exp_segsum(x)
    if not backward:
        call.tensor("self", dtype, values=x)
        return call.out("out", dtype, y, near(16, 0, (1e-5 + 0) * y))
    g = small(call, "gradOutput", dtype, y.shape)
    call.tensor("gradSelf", dtype, values=x)
    (made,) = slopes(exp_segsum, [x], g, (0,))
    call.out("gradInput", dtype, made, near(16, 0, 2e-5 * (1 + np.abs(g * y).sum())))


def modulate(call, backward=False):
    dtype = call.float_type()
    batch, rows, width = call.between(1, 3), call.choose((1, 3, 17, 130)), call.choose((1, 4, 33))
    if not backward:
        x = small(call, "self", dtype, (batch, rows, width))
        scale = optional(call, "scaleOptional", dtype, (batch, width))
        shift = optional(call, "shiftOptional", dtype, (batch, width)) if scale is not None else small(call, "shiftOptional", dtype, (batch, width))
        part = x * (1 if scale is None else 1 + scale[:, None])
        y = part + (0 if shift is None else shift[:, None])
        return call.out("out", dtype, y, close(dtype, np.abs(part) + np.abs(x) + (0 if shift is None else np.abs(shift[:, None]))))
    g, x = small(call, "grad_output", dtype, (batch, rows, width)), small(call, "input", dtype, (batch, rows, width))
    scale = small(call, "scale", dtype, (batch, width))
    call.tensor("shift", dtype, (batch, width), "small", False)
    call.out("grad_input", dtype, g * (1 + scale[:, None]), close(dtype, np.abs(g) * (1 + np.abs(scale[:, None]))))
    call.out("grad_scale", dtype, (g * x).sum(1), close(dtype, np.abs(g * x).sum(1))), call.out("grad_shift", dtype, g.sum(1), close(dtype, np.abs(g).sum(1)))


def channel_scale(call):
    dtype = call.float_type()
    a, b, c = call.between(1, 3), call.choose((1, 3)), call.choose((1, 4, 9))
    x, factor = small(call, "x", dtype, (a, b, c)), small(call, "scale", dtype, (b, c))
    bias = optional(call, "bias", dtype, (b, c))
    call.set("axis", call.choose((1, -2))), call.set("numAxes", call.choose((-1, 2))), call.set("scaleFromBlob", True)
    call.out("y", dtype, x * factor + (0 if bias is None else bias), near(4, 0, 2e-6 * (np.abs(x * factor) + (0 if bias is None else np.abs(bias)))))


def split_qkv(call):
    dtype = call.float_type()
    b, t, heads, d = call.between(1, 2), call.choose((1, 3, 17, 130)), call.between(1, 3), call.choose((1, 4, 16))
    x, bias = small(call, "qkv", dtype, (b, t, 3 * heads * d)), small(call, "qkvBias", dtype, (3 * heads * d,))
    call.set("numHeads", heads)
    parts = (x + bias).reshape(b, t, 3, heads, d).transpose(2, 0, 3, 1, 4)
    for name, one in zip(("qOut", "kOut", "vOut"), (parts[0] / math.sqrt(d), parts[1], parts[2])):
        call.out(name, dtype, one, near(4, 0, 1e-6 * (1 + np.abs(one))))


def biased_softmax(call):
    dtype = call.float_type()
    b, w, heads, s, t = call.between(1, 2), call.between(1, 3), call.between(1, 2), call.choose((1, 4, 17, 130)), call.choose((1, 5, 33))
    x, bias = small(call, "x", dtype, (b, w, heads, s, t)), small(call, "relativePosBias", dtype, (heads, s, t))
    mask = optional(call, "attenMaskOptional", dtype, (w, s, t))
    scale = call.set("scaleValue", call.choose((1.0, 0.5)))
    call.set("innerPrecisionMode", 0)
    made = softmax(x * scale + bias[None, None] + (0 if mask is None else mask[None, :, None]))
    call.out("out", dtype, made, near(32, 0, 1e-6))


def fused_product(call):
    dtype = call.float_type()
    m, k, n = call.choose((1, 3, 17, 130)), call.choose((1, 8, 65, 300)), call.choose((1, 5, 33))
    kind = call.set("fusedOpType", call.choose(("", "add", "mul", "relu", "gelu_tanh")))
    x, y = small(call, "x1", dtype, (m, k)), small(call, "x2", dtype, (k, n))
    made, size = x @ y, np.abs(x) @ np.abs(y)
    if kind in ("add", "relu") and call.chance(50):
        bias = small(call, "bias", dtype, (n,))
        made, size = made + bias, size + np.abs(bias)
    if kind in ("add", "mul"):
        other = small(call, "x3", dtype, (m, n))
        made, size = (made + other, size + np.abs(other)) if kind == "add" else (made * other, size * (np.abs(other) + 1e-3))
    if kind == "relu":
        made = np.maximum(made, 0)
    if kind == "gelu_tanh":
        made = 0.5 * made * (1 + np.tanh(math.sqrt(2 / math.pi) * (made + 0.044715 * made**3)))
    call.set("cubeMathType", 0)
    call.out("y", dtype, made, near(4, 0, 4e-6 * (size + 1e-2)))


def sgd(call):
    momentum, dampening = call.set("momentum", call.choose((0.0, 0.5, 1.0))), call.set("dampening", call.choose((0.0, 0.25, 1.0)))
    nesterov = call.set("nesterov", momentum > 0 and dampening == 0 and call.chance(50))
    maximize, first, decay = call.set("maximize", call.chance(40)), call.set("isFirstStep", call.chance(40)), call.set("weightDecay", call.choose((0.0, 0.125, 1.0)))
    rate, scale = call.set("lr", call.choose((0.125, 0.0, 1.0, 0.0078125))), 1.0
    if call.chance(50):
        scale = float(wide(call.tensor("gradScaleOptional", "float32", values=np.array([call.choose((2.0, 0.5, 1024.0))])))[0])
    count = call.between(1, 3)
    groups = {name: [] for name in ("paramsRef", "gradsRef", "momentumBufferListOptionalRef")}
    for _ in range(count):
        shape = call.shape(0, 2, 200, empty=False)
        arrays = [call.tensor(name, "float32", shape, "small", False, repeat=False, listed=True) for name in groups]
        value, gradient, buffer = (wide(one.values) for one in arrays)
        unscaled = gradient / scale
        slope = (-unscaled if maximize else unscaled) + decay * value
        after, step = buffer, slope
        if momentum:
            after = slope if first else momentum * buffer + (1 - dampening) * slope
            step = slope + momentum * after if nesterov else after
        size = np.abs(value) + np.abs(unscaled) + np.abs(buffer)
        for name, array, wanted in zip(groups, arrays, (value - rate * step, unscaled, after)):
            groups[name].append(written(array, wanted, near(8, 0, 1e-6 * size)))
    if not momentum:
        del groups["momentumBufferListOptionalRef"]
    for name, members in groups.items():
        call.list(name, members)


def written(array, wanted, check):
    """A member of a list that is read and written."""
    return Written(array, wanted, check, None, True)


def filters(call):
    dtype = call.float_type()
    rows, n = call.choose((1, 4)), call.choose((2, 17, 65))
    order = np.argsort(call.some("float32", (rows, n), "normal", False), 1, kind="stable")
    x = wide(call.tensor("logits", dtype, values=(order - n // 2) / 8))
    both = call.below(3)
    made = x.copy()
    if both != 1:
        k = call.tensor("k", "int32", values=np.array([call.between(1, n) for _ in range(rows)]))
        made = np.where(made >= np.take_along_axis(np.sort(x, 1), (n - k.astype(int))[:, None], 1), made, -np.inf)
    if both != 2:
        p = wide(call.tensor("p", dtype, values=np.array([call.choose((0.9, 0.5, 0.01)) for _ in range(rows)])))
        index = np.argsort(made, 1, kind="stable")
        line = np.take_along_axis(made, index, 1)
        share = np.exp(line - line.max(1, keepdims=True))
        share = (share / share.sum(1, keepdims=True)).cumsum(1)
        cut = share <= 1 - p[:, None]
        cut[:, -1] = False
        unsure = np.zeros(made.shape, bool)
        near_ = np.abs(share - (1 - p[:, None])) < 1e-5 + 0
        near_[:, -1] = False
        np.put_along_axis(unsure, index, near_, 1)
        np.put_along_axis(made, index, np.where(cut, -np.inf, line), 1)
    else:
        unsure = np.zeros(made.shape, bool)
    call.out("out", dtype, made, lambda found, wanted: near(0)(np.where(unsure, wanted, found).astype(found.dtype), wanted))


def merge(prev, cur):
    """Joins two parts of attention by their largest scores and sums."""
    most = np.maximum(prev[1], cur[1])
    one, two = prev[2] * np.exp(prev[1] - most), cur[2] * np.exp(cur[1] - most)
    return (prev[0] * (one / (one + two))[..., None] + cur[0] * (two / (one + two))[..., None], most, one + two)


def ring(call):
    dtype = call.float_type()
    s, b, n, d = call.choose((1, 3, 17, 130)), call.between(1, 2), call.between(1, 3), call.choose((8, 16))
    held = []
    for side in ("prev", "cur"):
        out = small(call, f"{side}AttnOut", dtype, (s, b, n * d))
        most, total = small(call, f"{side}SoftmaxMax", "float32", (b, n, s)), wide(call.tensor(f"{side}SoftmaxSum", "float32", values=np.repeat((0.5 + wide(call.some("float32", (b, n, s), "prob", False)))[..., None], 8, -1)))
        most = wide(call.tensor(f"{side}SoftmaxMax", "float32", values=np.repeat(most[..., None], 8, -1)))
        held.append((out.reshape(s, b, n, d).transpose(1, 2, 0, 3), most[..., 0], total[..., 0]))
    if "inputLayoutOptional" in call.kinds:
        call.set("inputLayoutOptional", "SBH")
    if "inputSoftmaxLayoutOptional" in call.kinds:
        call.set("inputSoftmaxLayoutOptional", "")
    out, most, total = merge(*held)
    back = out.transpose(2, 0, 1, 3).reshape(s, b, n * d)
    call.out("attnOutOut", dtype, back, close(dtype, 1 + np.abs(back)))
    for name, one in (("softmaxMaxOut", most), ("softmaxSumOut", total)):
        call.out(name, "float32", np.repeat(one[..., None], 8, -1), near(16, 0, 1e-6))


def attention_update(call):
    dtype = call.float_type()
    count, rows, d = call.between(1, 4), call.choose((1, 5, 17, 130)), call.choose((8, 16, 64))
    lse = [call.tensor("lse", "float32", (rows,), "small", False, listed=True) for _ in range(count)]
    outs = [call.tensor("localOut", dtype, (rows, d), "small", False, listed=True) for _ in range(count)]
    call.list("lse", lse), call.list("localOut", outs)
    weights = np.stack([wide(one.values) for one in lse])
    most = weights.max(0)
    total = most + np.log(np.exp(weights - most).sum(0))
    made = sum(wide(one.values) * np.exp(weight - total)[:, None] for one, weight in zip(outs, weights))
    if call.set("updateType", call.choose((0, 1))):
        call.out("lseOut", "float32", total, near(16, 0, 1e-6 * (1 + np.abs(most))))
    call.out("out", dtype, made, close(dtype, 1 + np.abs(made)))


def compressed(call, backward=False):
    dtype = call.float_type() if not backward else "float32"
    block, stride = 4, 2
    rows, heads, d = call.choose((4, 7, 12)), call.between(1, 2), call.choose((1, 3))
    cut = call.between(0, rows)
    ends = [cut, rows] if call.chance(60) else [rows]
    x, w = wide(call.some(dtype, (rows, heads, d), "small", False)), wide(call.some(dtype, (block, heads), "small", False))

    def forward(x, w):
        made, start = [], 0
        for end in ends:
            made += [(x[first:first + block] * w[:, :, None]).sum(0) for first in range(start, end - block + 1, stride)]
            start = end
        return np.stack(made) if made else np.zeros((0, heads, d))

    y = forward(x, w)
    if not len(y):
        ends[:] = [rows]
        y = forward(x, w)
    call.tensor("input", dtype, values=x), call.tensor("weight", dtype, values=w)
    call.set("compressBlockSize", block), call.set("compressStride", stride), call.set("actSeqLenType", 0)
    if not backward:
        call.set("actSeqLenOptional", ends), call.set("layoutOptional", "TND")
        return call.out("output", dtype, y, close(dtype, forward(np.abs(x), np.abs(w))))
    g = small(call, "outputGrad", dtype, y.shape)
    call.set("actSeqLenOptionalOptional", ends), call.set("layoutOptionalOptional", "TND")
    for name, one in zip(("inputGradOut", "weightGradOut"), slopes(forward, [x, w], g, (0, 1))):
        call.out(name, dtype, one, near(8, 0, 1e-5 * (1 + np.abs(g).sum() * (1 + np.abs(x).max() + np.abs(w).max()))))


BEFORE = Family("segments, rows, parts of attention", "ops/fused")
BEFORE.add("ExpSegsum", segments)
BEFORE.add("ExpSegsumBackward", segments, backward=True)
BEFORE.add("Modulate", modulate)
BEFORE.add("ModulateBackward", modulate, backward=True)
BEFORE.add("Scale", channel_scale)
BEFORE.add("TransformBiasRescaleQkv", split_qkv)
BEFORE.add("MaskedSoftmaxWithRelPosBias", biased_softmax)
BEFORE.add("FusedMatmul", fused_product)
BEFORE.add("FusedSgd", sgd)
BEFORE.add("ApplyTopKTopP ApplyTopKTopPCustom", filters)
BEFORE.add("RingAttentionUpdate RingAttentionUpdateV2", ring)
BEFORE.add("AttentionUpdate", attention_update)
BEFORE.add("NsaCompress", compressed)
BEFORE.add("NsaCompressGrad", compressed, backward=True)

FAMILIES = [NORMS, SAMPLED, BEFORE]
