"""Operators beside those of the larger families: gradients, quantising forms, routing of experts, cells, sampling."""

import itertools
import math

import numpy as np

from maker import FLOATS, bits, near, to, wide

from . import Family
from .activations import sigmoid
from .elementwise import divided_by, extent, slack
from .movement import bound, span
from .others import low, turned
from .products import blocks
from .windows import FORMATS, convolve, image, spread


def flat_axes(x, axis):
    return tuple(a for a in range(x.ndim) if a != axis)


def convolution_backward(call):
    dims = call.choose((2, 1, 3))
    dtype = call.float_type()
    groups = call.choose((1, 1, 2))
    ins, outs = groups * call.between(1, 4), groups * call.between(1, 5)
    kernel, stride, dilation = ([call.choose(options) for _ in range(dims)] for options in ((1, 2, 3), (1, 2, 3), (1, 1, 2)))
    pad = [call.choose((0, 1, 2)) for _ in range(dims)]
    size = [max(call.choose((3, 5, 8)), d * (k - 1) + 1) for d, k in zip(dilation, kernel)]
    way = call.below(10)
    if way == 8:
        # More pixels than a block has.
        size = [call.choose({1: (600, 1025), 2: (27, 33), 3: (9, 10)}[dims]) for _ in range(dims)]
        ins, outs = groups * min(ins // groups, 2), groups * min(outs // groups, 2)
        call.features.add("boundary sizes")
    elif way == 9:
        # More channels than a block has.
        ins, outs = groups * call.choose((17, 33, 65)), groups * call.choose((17, 33, 64, 70))
        call.features.add("boundary sizes")
    x = wide(call.some(dtype, (call.between(1, 2), ins, *size), "small", False))
    w = wide(call.some(dtype, (outs, ins // groups, *kernel), "small", False))
    y = convolve(x, w, stride, pad, dilation, groups)
    outer = [size_ + 2 * p - d * (k - 1) - 1 - (o - 1) * s for size_, p, d, k, o, s in zip(size, pad, dilation, kernel, y.shape[2:], stride)]
    transposed = call.set("transposed", call.chance(30))
    g = wide(call.tensor("input" if transposed else "gradOutput", dtype, y.shape, "small", False))
    call.tensor("gradOutput" if transposed else "input", dtype, values=x), call.tensor("weight", dtype, values=w)
    call.set("biasSizes", [ins if transposed else outs])
    for name, value in (("stride", stride), ("padding", pad), ("dilation", dilation), ("outputPadding", outer if transposed else [0] * dims)):
        call.set(name, value)
    call.set("groups", groups), call.set("cubeMathType", 0)
    mask = call.set("outputMask", [call.chance(75), True, call.chance(75)])
    # What the filter moves over is the result of a transposed convolution, and the input of another.
    back = (lambda a, b: convolve(a, b, stride, pad, dilation, groups)) if transposed else (lambda a, b: spread(a, b, stride, pad, dilation, groups, outer))
    upstream = x if transposed else g

    def weights(a, b):
        made = np.zeros(w.shape)
        padded = np.pad(b, ((0, 0), (0, 0), *((p, p) for p in pad)))
        own, per = ins // groups, outs // groups
        for position in itertools.product(*(range(k) for k in kernel)):
            cut = tuple(slice(i * d, i * d + s * (o - 1) + 1, s) for i, d, s, o in zip(position, dilation, stride, y.shape[2:]))
            for group in range(groups):
                part = padded[(slice(None), slice(group * own, (group + 1) * own), *cut)].reshape(b.shape[0], own, -1)
                made[(slice(group * per, (group + 1) * per), slice(None), *position)] = np.einsum("nop,ncp->oc", a[:, group * per:(group + 1) * per].reshape(b.shape[0], per, -1), part)
        return made

    if mask[0]:
        call.out("gradInput", dtype, back(upstream, w), near(4, 0, 1e-5 * (back(np.abs(upstream), np.abs(w)) + 1e-3)))
    call.out("gradWeight", dtype, weights(g, x), near(4, 0, 1e-5 * (weights(np.abs(g), np.abs(x)) + 1e-3)))
    if mask[2]:
        call.out("gradBias", dtype, upstream.sum(flat_axes(g, 1)), near(4, 0, 1e-5 * np.abs(upstream).sum(flat_axes(g, 1))))
    for name in ("gradOutput", "input", "weight"):
        call.given[name].format = FORMATS[dims]
    for name in ("gradInput", "gradWeight"):
        if name in call.given:
            call.given[name].array.format = FORMATS[dims]


def adaptive_max(call, dims):
    dtype = call.float_type()
    shape = image(call, dims)
    outs = [call.choose((1, 2, 3)) for _ in range(dims)]
    count = math.prod(shape)
    order = np.argsort(call.some("float32", (count,), "normal", False), kind="stable") % 240
    x = wide(call.tensor("self", dtype, values=order.reshape(shape).astype(float)))
    call.set("outputSize", outs)
    best = np.zeros((*shape[:2], *outs))
    for position in itertools.product(*(range(out) for out in outs)):
        cut = tuple(slice(i * size // out, -(-(i + 1) * size // out)) for i, size, out in zip(position, shape[2:], outs))
        best[(slice(None), slice(None), *position)] = x[(slice(None), slice(None), *cut)].reshape(*shape[:2], -1).max(-1)

    def names(found, wanted):
        lines = x.reshape(*shape[:2], -1)
        if (found < 0).any() or (found >= lines.shape[-1]).any():
            return "an index is outside of the image"
        return bits(np.take_along_axis(lines, found.reshape(*shape[:2], -1).astype(np.int64), -1).reshape(best.shape), best)

    call.out("outputOut", dtype, best), call.out("indicesOut", "int64" if dims == 2 else "int32", best, names)


def unpool(call):
    dtype = call.choose((*FLOATS, "int32"))
    shape = (call.between(1, 2), call.between(1, 3), call.choose((1, 2, 4)), call.choose((1, 3, 5)))
    outs = (shape[2] * 2, shape[3] * 2)
    x = call.tensor("self", dtype, shape, "small", False)
    rank = np.argsort(call.some("float32", (*shape[:2], outs[0] * outs[1]), "normal", False), -1, kind="stable")
    at = rank[..., : shape[2] * shape[3]].reshape(shape)
    call.tensor("indices", "int64", values=at)
    call.set("outputSize", list(outs))
    wanted = np.zeros((*shape[:2], outs[0] * outs[1]), wide(x).dtype)
    np.put_along_axis(wanted, at.reshape(*shape[:2], -1), wide(x).reshape(*shape[:2], -1), -1)
    call.out("out", dtype, wanted.reshape(*shape[:2], *outs))


def axpy(call):
    dtype = call.choose(("float32", "float16", "bfloat16"))
    shape = extent(call)
    x, y = (wide(call.tensor(name, dtype, call.part_of(shape), "small", False)) for name in ("self", "other"))
    a = wide(call.tensor("alpha", dtype, (1,), "small", False))
    call.out("out", dtype, x + a * y, near(2, 0, slack(dtype, x, a * y)))


def equal(call):
    dtype = call.choose(("float32", "int32", "float16", "bool"))
    shape = call.shape(0, 5, 3000)
    x = call.tensor("self", dtype, shape, "small", False)
    same = call.chance(50)
    y = call.tensor("other", dtype, values=x) if same else call.tensor("other", dtype, shape, "small", False)
    call.out("out", "bool", np.asarray([np.array_equal(x, y)]))


def leaky_relu_backward(call):
    dtype = call.float_type()
    shape = extent(call)
    g, x = wide(call.tensor("gradOutput", dtype, shape, "small", False)), wide(call.tensor("self", dtype, shape, "small", False))
    slope = float(call.scalar("negativeSlope", "float32", call.choose((0.25, 0.0, 0.5, 2.0))))
    call.set("selfIsResult", call.chance(50))
    call.out("out", dtype, np.where(x > 0, g, g * slope), near(2))


def kl_target(call):
    dtype = call.float_type()
    shape = call.shape(0, 4, 2000, empty=False)
    reduction = call.set("reduction", call.choose((0, 1, 2)))
    log = call.set("logTarget", call.chance(50))
    g = wide(call.tensor("gradOutput", dtype, shape if reduction == 0 else (), "small", False))
    x, t = wide(call.tensor("self", dtype, shape, "small", False)), wide(call.tensor("target", dtype, shape, "inner", False))
    part = np.exp(t) * (t - x + 1) if log else np.log(t) + 1 - x
    wanted = g * part / (x.size if reduction == 1 else 1)
    call.out("gradTarget", dtype, wanted, near(16, 0, 4e-6 * np.abs(g) * (3 + np.abs(x)) * 3 / (x.size if reduction == 1 else 1)))


def mean_v2(call):
    dtype = call.float_type()
    shape = call.shape(0, 5, 3000, empty=False)
    x = wide(call.tensor("self", dtype, shape, "small", False))
    axes = [axis for axis in range(len(shape)) if call.chance(50)]
    call.set("dim", [axis - len(shape) if call.chance(30) else axis for axis in axes])
    keep, none = call.set("keepDim", call.chance(50)), call.set("noopWithEmptyAxes", call.chance(50))
    if not axes and none:
        return call.out("out", dtype, x)
    over = tuple(axes) if axes else tuple(range(len(shape)))
    call.out("out", dtype, x.mean(over, keepdims=keep), near(2, 0, 2e-6 * np.abs(x).mean(over, keepdims=keep)))


def scaled_masked_softmax(call, backward=False):
    dtype = call.float_type()
    shape = (call.between(1, 2), call.between(1, 3), call.choose((32, 64, 96)), call.choose((32, 64, 128)))
    mask_shape = (shape[0] if call.chance(50) else 1, shape[1] if call.chance(50) else 1, *shape[2:])
    first = wide(call.tensor("gradOutput" if backward else "x", dtype, shape, "small", False))
    y = wide(call.tensor("y", dtype, shape, "prob", False)) if backward else None
    mask = call.some("bool", mask_shape).copy()
    mask[..., 0] = False
    call.tensor("mask", "bool", values=mask)
    scale = call.set("scale", call.choose((1.0, 0.5, -1.0, 0.0, 2.0)))
    call.set("fixTriuMask" if backward else "fixedTriuMask", False)
    if backward:
        total = (first * y).sum(-1, keepdims=True)
        wanted = np.where(mask, 0, scale * y * (first - total))
        return call.out("out", dtype, wanted, near(4, 0, 4e-6 * np.abs(first * y).sum(-1, keepdims=True)))
    x = np.where(mask, -10000.0, first * scale)
    x = np.exp(x - x.max(-1, keepdims=True))
    call.out("y", dtype, x / x.sum(-1, keepdims=True), near(8, 0, 1e-6))


def rotary_grad(call):
    dtype = call.float_type()
    mode = call.set("mode", call.choose((0, 1, 2)))
    shape = (call.between(1, 2), call.choose((1, 3, 17, 130)), call.between(1, 3), call.choose((4, 8, 64)))
    angles = (1, shape[1], 1, shape[3])
    g, x = wide(call.tensor("dy", dtype, shape, "small", False)), wide(call.tensor("xOptional", dtype, shape, "small", False))
    cos, sin = wide(call.tensor("cos", dtype, angles, "small", False)), wide(call.tensor("sin", dtype, angles, "small", False))
    turn = np.stack([turned(row, mode) for row in np.eye(shape[3])])
    back = lambda v: v @ turn.T  # noqa: E731
    over = lambda v: v.sum((0, 2), keepdims=True)  # noqa: E731
    call.out("dxOut", dtype, g * cos + back(g * sin), near(4, 0, 2e-6 * (np.abs(g * cos) + np.abs(back(g * sin)))))
    call.out("dcosOut", dtype, over(g * x), near(4, 0, 2e-5 * over(np.abs(g * x))))
    call.out("dsinOut", dtype, over(g * turned(x, mode)), near(4, 0, 2e-5 * over(np.abs(g * turned(x, mode)))))


def cross_entropy_with_logits(call):
    dtype = call.float_type()
    shape = (call.choose((1, 3, 17, 65)), call.choose((1, 5, 17, 129, 1025)))
    x, t = wide(call.tensor("features", dtype, shape, "small", False)), wide(call.tensor("labels", dtype, shape, "prob", False))
    p = np.exp(x - x.max(1, keepdims=True))
    total = p.sum(1, keepdims=True)
    logp = x - x.max(1, keepdims=True) - np.log(total)
    per = -(t * logp).sum(1)
    call.out("loss", dtype, per, near(8, 0, 1e-5 * (t * np.abs(logp)).sum(1)))
    call.out("backprop", dtype, p / total - t, near(8, 0, 4e-6))


def strided_slice(call):
    dtype = call.choose((*FLOATS, "int32", "int64", "bool"))
    x = call.tensor("self", dtype, call.shape(1, 4, 1500, empty=False))
    begin, end, steps_, cut = [], [], [], []
    masks = [0, 0, 0]
    for axis, size in enumerate(x.shape):
        one, two, step = bound(call, size), bound(call, size), call.choose((1, 1, 2, 3, size + 1))
        way = call.below(4)
        first, last = span(one, two, size)
        if last <= first:
            one, two, first, last = 0, size, 0, size
        if way == 3:
            one = first = min(first, size - 1)
            one = one - size if call.chance(20) else one
            two, step = first + 1, 1
        cut.append(slice(0 if way == 1 else first, size if way == 2 else last, step) if way != 3 else first)
        for index in range(3):
            masks[index] |= (way == index + 1) << axis
        begin.append(one), end.append(two), steps_.append(step)
    for name, value in (("begin", begin), ("end", end), ("strides", steps_), ("beginMask", masks[0]), ("endMask", masks[1]), ("ellipsisMask", 0), ("newAxisMask", 0), ("shrinkAxisMask", masks[2])):
        call.set(name, value)
    call.out("out", dtype, wide(np.asarray(x[tuple(cut)])))


def einsum(call):
    dtype = call.choose(("float32", "float16"))
    equation = call.set("equation", call.choose(("a,b->ab", "abcd,abced->abce")))
    a, b, c, d, e = (call.between(1, 6) for _ in range(5))
    shapes = ((a,), (b,)) if equation == "a,b->ab" else ((a, b, c, d), (a, b, c, e, d))
    arrays = [call.tensor("tensors", dtype, shape, "small", False, listed=True) for shape in shapes]
    call.list("tensors", arrays)
    x, y = (wide(array.values) for array in arrays)
    call.out("output", dtype, np.einsum(equation, x, y), near(4, 0, 2e-6 * np.einsum(equation, np.abs(x), np.abs(y))))


def slogdet(call):
    n = call.choose((1, 2, 3, 5, 8))
    lead = call.shape(0, 2, 6, empty=False)
    x = wide(call.tensor("self", "float32", values=wide(call.some("float32", (*lead, n, n), "unit", False)) + 2 * np.eye(n)))
    sign, log = np.linalg.slogdet(x)
    condition = np.linalg.cond(x)
    call.out("signOut", "float32", np.asarray(sign)), call.out("logOut", "float32", np.asarray(log), near(8, 0, 2e-6 * n * condition))


def qr(call):
    m, n = call.choose((1, 2, 3, 5, 8)), call.choose((1, 2, 3, 5))
    lead = call.shape(0, 2, 6, empty=False)
    x = wide(call.tensor("self", "float32", (*lead, m, n), "normal", False))
    k = min(m, n)
    call.set("mode", 0)
    q, r = np.linalg.qr(x)
    if k == 0:
        return
    # The signs of the columns are open: what has to hold is that Q is orthogonal.
    def orthogonal(found, wanted):
        found = found.astype(float)
        gap = np.abs(found.swapaxes(-1, -2) @ found - np.eye(k)).max(initial=0)
        return f"Q is not orthogonal: {gap}" if gap > 1e-4 else None

    def same_size(found, wanted):
        if np.abs(np.tril(found.astype(float), -1)).max(initial=0) > 1e-4:
            return "R is not triangular"
        return near(4, 0, 1e-4 * (1 + np.abs(x).max()))(np.abs(found[..., :1, :]), np.abs(wanted[..., :1, :]))

    call.out("Q", "float32", q, orthogonal), call.out("R", "float32", r, same_size)


def unfold_grad(call):
    dtype = call.float_type()
    shape = list(call.shape(1, 4, 300, empty=False))
    axis = call.below(len(shape))
    shape[axis] = call.choose((1, 4, 7, 16))
    size, step = call.between(1, shape[axis]), call.choose((1, 2, 3))
    count = (shape[axis] - size) // step + 1
    g_shape = [*shape, size]
    g_shape[axis] = count
    g = wide(call.tensor("gradOut", dtype, tuple(g_shape), "small", False))
    call.set("inputSizes", shape), call.set("dim", axis), call.set("size", size), call.set("step", step)
    wanted, total = np.zeros(shape), np.zeros(shape)
    for i in range(count):
        for k in range(size):
            cut = (slice(None),) * axis + (i * step + k,)
            part = g[(slice(None),) * axis + (i,) + (slice(None),) * (len(shape) - axis - 1) + (k,)]
            wanted[cut] += part
            total[cut] += np.abs(part)
    call.out("gradIn", dtype, wanted, near(2, 0, 1e-6 * total))


def lstm_cell(call):
    dtype = call.choose(("float32", "float16"))
    b, h = call.between(1, 4), call.choose((1, 4, 16, 17))
    one, two = (wide(call.tensor(name, dtype, (b, 4 * h), "small", False)) for name in ("inputGates", "hiddenGates"))
    c = wide(call.tensor("cx", dtype, (b, h), "small", False))
    biases = 0
    if call.chance(50):
        biases = sum(wide(call.tensor(name, dtype, (4 * h,), "small", False)) for name in ("inputBiasOptional", "hiddenBiasOptional"))
    i, f, g, o = np.split(one + two + biases, 4, 1)
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    new = f * c + i * g
    check = near(16, 0, (4e-6 + 0) * (1 + np.abs(c)))
    call.out("hyOut", dtype, o * np.tanh(new), check), call.out("cyOut", dtype, new, check)
    call.out("storageOut", dtype, np.concatenate([i, f, g, o], 1), near(16, 0, 2e-6 + 0))


def dropout_backward(call):
    dtype = call.float_type()
    g = wide(call.tensor("gradOutput" if "gradOutput" in call.kinds else "gradY", dtype, call.shape(1, 4, 2000, empty=False), "small", False))
    mask = call.tensor("mask", "uint8", values=call.some("uint8", (-(-g.size // 128) * 16,), "any", False))
    scale = call.set("scale", call.choose((2.0, 1.25)))
    kept = np.unpackbits(mask, bitorder="little")[: g.size].reshape(g.shape)
    call.out(call.results[0], dtype, np.where(kept == 1, g * scale, 0), near(2))


def chunk_cat(call):
    dtype = call.float_type()
    chunks = call.choose((1, 2, 3))
    axis = 0
    tail = call.shape(0, 2, 20, empty=False)
    arrays = [call.tensor("tensors", dtype, (call.choose((1, 2, 3, 5, 6)), *tail), "small", False, listed=True) for _ in range(call.between(1, 3))]
    call.list("tensors", arrays)
    call.set("dim", axis), call.set("numChunks", chunks)
    parts = []
    for array in arrays:
        x = wide(array.values)
        per = -(-x.shape[0] // chunks)
        x = np.concatenate([x, np.zeros((per * chunks - x.shape[0], *x.shape[1:]))])
        parts.append(x.reshape(chunks, -1))
    call.out("out", dtype, np.concatenate(parts, 1))


def expert_tokens(call):
    experts = call.choose((1, 3, 8, 17))
    ids = np.sort(call.some("int32", (call.choose((1, 5, 64, 257)),), "any", False).astype(np.int64) % experts)
    call.tensor("sortedExperts", "int32", values=ids)
    call.set("numExperts", experts)
    call.out("out", "int32", np.searchsorted(ids, np.arange(experts), "right"), bits)


def gating(call):
    dtype = call.float_type()
    rows, experts = call.choose((1, 3, 17, 130)), call.choose((2, 5, 8, 17, 64))
    x = wide(call.tensor("x", dtype, values=wide(call.some(dtype, (rows, experts), "normal", False)) + np.arange(experts) * (0.01 if dtype == "float32" else 0)))
    k = call.set("k", call.between(1, experts))
    p = np.exp(x - x.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    order = np.argsort(-p, 1, kind="stable")[:, :k]
    values = np.take_along_axis(p, order, 1)
    call.out("yOut", dtype, values, near(16, 0, 1e-6))

    def names(found, wanted):
        if (found < 0).any() or (found >= experts).any():
            return "an index is not an expert"
        return near(16, 0, 1e-6)(np.take_along_axis(p, found.astype(np.int64), 1), values)

    call.out("expertIdxOut", "int32", order, names)
    call.out("rowIdxOut", "int32", (np.arange(k) * rows + np.arange(rows)[:, None]), bits)


def permute_tokens(call):
    dtype = call.float_type()
    tokens, width, k = call.choose((1, 3, 17, 64)), call.choose((1, 8, 33)), call.choose((1, 2, 4))
    x = call.tensor("tokens", dtype, (tokens, width), "small", False)
    experts = call.some("int32", (tokens, k), "any", False).astype(np.int64) % 7
    call.tensor("indices", call.choose(("int32", "int64")), values=experts if k > 1 or call.chance(50) else experts)
    call.set("numOutTokens", tokens * k), call.set("paddedMode", False)
    order = np.argsort(experts.reshape(-1), kind="stable")
    call.out("permuteTokensOut", dtype, wide(x)[order // k])
    call.out("sortedIndicesOut", "int32", np.argsort(order, kind="stable"), bits)


def repeat_grad(call):
    dtype = call.float_type()
    shape = list(call.shape(1, 3, 100, empty=False))
    axis = call.below(len(shape))
    counts = np.abs(call.some("int64", (shape[axis],), "small", False))
    g_shape = list(shape)
    g_shape[axis] = int(counts.sum())
    g = wide(call.tensor("yGrad", dtype, tuple(g_shape), "small", False))
    call.tensor("repeats", "int64", values=counts)
    call.set("axis", axis)
    wanted, total = np.zeros(shape), np.zeros(shape)
    at = np.repeat(np.arange(shape[axis]), counts)
    np.add.at(np.moveaxis(wanted, axis, 0), at, np.moveaxis(g, axis, 0)), np.add.at(np.moveaxis(total, axis, 0), at, np.moveaxis(np.abs(g), axis, 0))
    call.out("out", dtype, wanted, near(2, 0, 1e-6 * total))


def transposed_product(call, nz=False):
    dtype = call.float_type()
    b, m, k, n = call.between(1, 3), call.choose((1, 3, 17, 130)), call.choose((1, 8, 65, 300)), call.choose((1, 4, 33))
    first, after = call.choose(((0, 1, 2), (1, 0, 2))), (1, 0, 2)
    x = wide(call.tensor("x1", dtype, (b, m, k) if first == (0, 1, 2) else (m, b, k), "small", False))
    y = wide(call.tensor("x2", dtype, (b, k, n), "small", False))
    if nz:
        call.tensor("x2", dtype, values=blocks(y, 16), plain=True)
    for name, value in (("permX1", first), ("permX2", (0, 1, 2)), ("permY", after)):
        call.set(name, list(value))
    call.set("cubeMathType", 0), call.set("batchSplitFactor", 1)
    x = x.transpose(first)
    call.out("out", dtype, (x @ y).transpose(after), near(4, 0, 4e-6 * (np.abs(x) @ np.abs(y)).transpose(after)))


def reflected_at(v, size, aligned):
    """A position that is reflected at the borders until it is inside."""
    low_, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
    width = high - low_
    if width <= 0:
        return np.zeros_like(v)
    v = np.abs(v - low_)
    turns, rest = np.floor(v / width), np.fmod(v, width)
    v = np.where(turns % 2 == 0, rest, width - rest) + low_
    return np.clip(v, 0, size - 1)


def cubic_weights(t, a=-0.75):
    """The weights of the four neighbours of a position that is `t` behind the second of them."""
    near_, far = (lambda x: ((a + 2) * x - (a + 3)) * x * x + 1), (lambda x: ((a * x - 5 * a) * x + 8 * a) * x - 4 * a)
    return [far(t + 1), near_(t), near_(1 - t), far(2 - t)]


def grid_sample(call):
    n, c, h, w = call.between(1, 2), call.between(1, 3), call.choose((2, 3, 5)), call.choose((2, 4, 7))
    gh, gw = call.between(1, 4), call.between(1, 4)
    x = wide(call.tensor("input", "float32", (n, c, h, w), "small", False))
    mode = call.set("interpolationMode", call.choose((0, 0, 1, 2)))
    padding = call.set("paddingMode", call.choose((0, 1, 2)))
    aligned = call.set("alignCorners", call.chance(50))
    # Positions outside of the image as well; not where the nearest element is one of two.
    drawn = wide(call.some("float32", (n, gh, gw, 2), "unit", False)) * call.choose((1.0, 1.0, 1.75, 3.5))
    if mode == 1:
        drawn = np.round(drawn * 16) / 16 + 0.013
    grid = wide(call.tensor("grid", "float32", values=drawn))
    at = lambda v, size: (v + 1) / 2 * (size - 1) if aligned else ((v + 1) * size - 1) / 2  # noqa: E731

    def inside_of(v, size):
        return np.clip(v, 0, size - 1) if padding == 1 else reflected_at(v, size, aligned) if padding == 2 else v

    def taken(ix, iy):
        """Elements at positions of integers; outside of the image they are 0."""
        inside = (ix >= 0) & (ix < w) & (iy >= 0) & (iy < h)
        part = x[np.arange(n)[:, None, None], :, np.clip(iy, 0, h - 1).astype(int), np.clip(ix, 0, w - 1).astype(int)]
        return np.moveaxis(part * inside[..., None], -1, 1)

    px, py = at(grid[..., 0], w), at(grid[..., 1], h)
    out = np.zeros((n, c, gh, gw))
    if mode == 2:
        # The neighbours are moved inside, and not the position.
        fx, fy = np.floor(px), np.floor(py)
        for j, wy in enumerate(cubic_weights(py - fy)):
            for i, wx in enumerate(cubic_weights(px - fx)):
                out += taken(inside_of(fx + i - 1, w), inside_of(fy + j - 1, h)) * (wx * wy)[:, None]
    elif mode == 1:
        px, py = inside_of(px, w), inside_of(py, h)
        sure = (np.abs(np.abs(px - np.floor(px)) - 0.5) > 1e-3) & (np.abs(np.abs(py - np.floor(py)) - 0.5) > 1e-3)
        out = taken(np.rint(px), np.rint(py))
        check = near(1)
        return call.out("out", "float32", out, lambda found, wanted: check(np.where(sure[:, None], found, wanted).astype(np.float32), wanted))
    else:
        px, py = inside_of(px, w), inside_of(py, h)
        fx, fy = np.floor(px), np.floor(py)
        for dx, dy in itertools.product((0, 1), (0, 1)):
            out += taken(fx + dx, fy + dy) * ((1 - np.abs(px - fx - dx)) * (1 - np.abs(py - fy - dy)))[:, None]
    call.out("out", "float32", out, near(8, 0, (2e-5 if mode == 2 else 1e-5) * (1 + np.abs(x).max())))


def affine(call):
    n, h, w = call.between(1, 3), call.choose((1, 2, 5)), call.choose((1, 3, 4))
    dtype = call.choose(("float32", "float16"))
    theta = wide(call.tensor("theta", dtype, (n, 2, 3), "small", False))
    call.set("size", [n, 3, h, w])
    aligned = call.set("alignCorners", call.chance(50))
    line = lambda size: (np.linspace(-1, 1, size) if size > 1 else np.zeros(1)) if aligned else (np.arange(size) * 2 + 1) / size - 1  # noqa: E731
    base = np.stack(np.broadcast_arrays(line(w)[None, :], line(h)[:, None], np.ones((h, w))), -1)
    call.out("out", dtype, np.einsum("hwk,njk->nhwj", base, theta), near(4, 0, (2e-6 + 0) * np.abs(theta).sum(-1)[:, None, None, :]))


def pairwise(call):
    dtype = "float32"
    n, d = call.choose((2, 3, 9, 17)), call.choose((1, 3, 8))
    x = wide(call.tensor("self", dtype, (n, d), "small", False))
    p = call.choose((2.0, 1.0, math.inf, 3.0))
    if call.kinds.get("pScalar"):
        call.scalar("pScalar", "float32", p)
    else:
        call.set("p", p)
    i, j = np.triu_indices(n, 1)
    gap = np.abs(x[i] - x[j])
    wanted = gap.max(-1) if p == math.inf else (gap**p).sum(-1) ** (1 / p)
    call.out("out", dtype, wanted, near(32, 0, 1e-5))


def scatter_update(call):
    dtype = call.choose(("float32", "float16", "int8", "int32"))
    b, n, s, d = call.between(1, 3), call.between(1, 2), call.choose((4, 8)), call.choose((1, 8))
    x = call.tensor("data", dtype, (b, n, s, d))
    length = call.between(1, 2)
    at = call.some("int32", (b,), "any", False).astype(np.int64) % (s - length + 1)
    call.tensor("indices", call.choose(("int64", "int32")), values=at)
    u = call.tensor("updates", dtype, (b, n, length, d))
    call.set("axis", -2)
    wanted = wide(x).copy()
    for i in range(b):
        wanted[i, :, at[i]:at[i] + length] = wide(u)[i]
    call.update("data", wanted)


def sampled_normal(call, mean, std):
    shape = call.shape(0, 4, 2000, empty=False)
    m = wide(call.tensor("mean", "float32", shape, "small", False)) if mean == "tensor" else call.set("mean", call.choose((0.0, 3.0)))
    s = wide(call.tensor("std", "float32", shape, "prob", False)) if std == "tensor" else call.set("std", call.choose((1.0, 0.0)))
    call.set("seed", call.choose((0, 1, 77))), call.set("offset", call.choose((0, 4)))

    def check(found, wanted):
        wrong = np.abs(found.astype(float) - m) > 8 * np.asarray(s) + 1e-5
        return "a number is further than eight deviations from the mean" if wrong.any() or np.isnan(found).any() else None

    call.out("out", "float32", np.zeros(shape), check)


def multinomial(call):
    rows, n = call.choose((1, 3)), call.choose((2, 5, 17))
    x = wide(call.some("float32", (rows, n), "prob", False)).copy()
    x[:, 0] = 0
    x[:, 1] += 0.1
    x = wide(call.tensor("self", "float32", values=x))
    again = call.set("replacement", call.chance(50))
    enough = int((x > 0).sum(1).min())
    k = call.set("numsamples", call.between(1, 20 if again else enough))
    call.set("seed", call.choose((0, 1, 5))), call.set("offset", call.choose((0, 4)))

    def check(found, wanted):
        if (found < 0).any() or (found >= n).any() or (np.take_along_axis(x, found, 1) == 0).any():
            return "a category of probability 0 was drawn"
        return None if again or (np.diff(np.sort(found, 1), axis=1) > 0).all() else "a category was drawn twice"

    call.out("out", "int64", np.zeros((rows, k), np.int64), check)


def conv_depthwise(call):
    dtype = call.float_type()
    c, m = call.between(1, 4), call.between(1, 2)
    kernel, stride, pad, dilation = ([call.choose(options) for _ in range(2)] for options in ((1, 2, 3), (1, 2), (0, 1), (1, 2)))
    size = [max(call.choose((3, 5, 9)), d * (k - 1) + 1) for d, k in zip(dilation, kernel)]
    x = wide(call.tensor("self", dtype, (call.between(1, 2), c, *size), "small", False))
    w = wide(call.tensor("weight", dtype, (c * m, 1, *kernel), "small", False))
    b = wide(call.tensor("bias", dtype, (c * m,), "small", False)) if call.chance(50) else None
    for name, value in (("kernelSize", kernel), ("stride", stride), ("padding", pad), ("dilation", dilation)):
        call.set(name, value)
    call.set("cubeMathType", 0)
    f = lambda one, two: convolve(one, two, stride, pad, dilation, c)  # noqa: E731
    y = f(x, w) + (0 if b is None else b[:, None, None])
    call.out("out", dtype, y, near(4, 0, 4e-6 * (f(np.abs(x), np.abs(w)) + 1)))
    for name in ("self", "weight"):
        call.given[name].format = 0
    call.given["out"].array.format = 0


def conv_tbc(call):
    dtype = call.float_type()
    t, b, c, o, k = call.choose((3, 5, 9)), call.between(1, 3), call.between(1, 4), call.between(1, 5), call.choose((1, 2, 3))
    x, w = wide(call.tensor("self", dtype, (t, b, c), "small", False)), wide(call.tensor("weight", dtype, (k, c, o), "small", False))
    bias = wide(call.tensor("bias", dtype, (o,), "small", False))
    pad = call.set("pad", call.choose((0, 1)))
    call.set("cubeMathType", 0)
    f = lambda one, two: convolve(one.transpose(1, 2, 0), two.transpose(2, 1, 0), [1], [pad], [1], 1).transpose(2, 0, 1)  # noqa: E731
    call.out("output", dtype, f(x, w) + bias, near(4, 0, 4e-6 * (f(np.abs(x), np.abs(w)) + 1)))


FURTHER = Family("further operators", "ops/further")
FURTHER.add("ConvolutionBackward", convolution_backward)
FURTHER.add("ConvDepthwise2d", conv_depthwise)
FURTHER.add("ConvTbc", conv_tbc)
FURTHER.add("AdaptiveMaxPool2d", adaptive_max, dims=2)
FURTHER.add("AdaptiveMaxPool3d", adaptive_max, dims=3)
FURTHER.add("MaxUnpool2d", unpool)
FURTHER.add("AxpyV2", axpy)
FURTHER.add("Equal", equal)
FURTHER.add("FloorDiv", divided_by)
FURTHER.add("DivV3", divided_by, mode=(0, 1, 2))
FURTHER.add("LeakyReluBackward", leaky_relu_backward)
FURTHER.add("KlDivTargetBackward", kl_target)
FURTHER.add("MeanV2", mean_v2)
FURTHER.add("ScaledMaskedSoftmax", scaled_masked_softmax)
FURTHER.add("ScaledMaskedSoftmaxBackward", scaled_masked_softmax, backward=True)
FURTHER.add("RotaryPositionEmbeddingGrad", rotary_grad)
FURTHER.add("SoftmaxCrossEntropyWithLogits", cross_entropy_with_logits)
FURTHER.add("StridedSlice", strided_slice)
FURTHER.add("Einsum", einsum)
FURTHER.add("Slogdet", slogdet)
FURTHER.add("LinalgQr", qr)
FURTHER.add("UnfoldGrad", unfold_grad)
FURTHER.add("ThnnFusedLstmCell", lstm_cell)
FURTHER.add("DropoutBackward DropoutV3Grad", dropout_backward)
FURTHER.add("ChunkCat", chunk_cat)
FURTHER.add("MoeComputeExpertTokens", expert_tokens)
FURTHER.add("MoeGatingTopKSoftmax", gating)
FURTHER.add("MoeTokenPermute", permute_tokens)
FURTHER.add("RepeatInterleaveGrad", repeat_grad)
FURTHER.add("TransposeBatchMatMul", transposed_product)
FURTHER.add("TransposeBatchMatMulWeightNz", transposed_product, nz=True)
FURTHER.add("GridSampler2D", grid_sample)
FURTHER.add("AffineGrid", affine)
FURTHER.add("Pdist PdistForward", pairwise)
FURTHER.add("ScatterUpdate", scatter_update)
FURTHER.add("NormalFloatFloat", sampled_normal, mean="number", std="number")
FURTHER.add("NormalFloatTensor", sampled_normal, mean="number", std="tensor")
FURTHER.add("NormalTensorFloat", sampled_normal, mean="tensor", std="number")
FURTHER.add("NormalTensorTensor", sampled_normal, mean="tensor", std="tensor")
FURTHER.add("Multinomial", multinomial)

FAMILIES = [FURTHER]
