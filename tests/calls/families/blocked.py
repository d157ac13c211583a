"""Products of groups, of integers and of 8-bit floats with what is fused behind them, also with weights stored in blocks."""

import math
import struct

import numpy as np

from device import ACL
from lowfloat import TABLES, decode, in_blocks
from maker import EPS, bits, near, wide

from . import Family
from .activations import phi, sigmoid
from .derivatives import close, small
from .networks import assigned, optional
from .others import limited, low, steps
from .products import blocks
from .windows import FORMATS, convolve, length

HALF = ("float16", "bfloat16")


def integers(call, shape, least=-128, most=127):
    return call.some("int8", shape, "any", False).astype(np.int64) % (most - least + 1) + least


def weights(call, name, dtype, matrix, nz):
    """Adds a matrix, in blocks where the function takes those."""
    call.tensor(name, dtype, values=blocks(matrix, 32 if dtype == "int8" else 16) if nz else matrix, plain=nz)


def positive(call, name, dtype, shape, scale=1.0):
    return wide(call.tensor(name, dtype, values=(0.25 + wide(call.some("float32", shape, "prob", False))) * scale))


def groups_of(call, rows, experts):
    cuts = sorted(call.between(0, rows) for _ in range(experts - 1))
    ends = [*cuts, rows]
    return ends, np.searchsorted(ends, np.arange(rows), "right")


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0), "gelu": lambda x: x * phi(x), "silu": lambda x: x * sigmoid(x), "fastgelu": lambda x: x * sigmoid(1.702 * x)}


def scaled_back(call, number, dtype, shape, suffix):
    """Weights of int8 with a scale and an offset for each column."""
    values = call.tensor(f"weight{number}", "int8", values=call.some("int8", shape, "any", False)).astype(float)
    columns = (*shape[:-2], shape[-1])
    scale = wide(call.tensor(f"antiquantScale{number}{suffix}", dtype, values=wide(call.some(dtype, columns, "inner", False)) / 256))
    offset = wide(call.tensor(f"antiquantOffset{number}{suffix}", dtype, columns, "small", False, odd=False))
    call.features.add("weights that are scaled back")
    return (values + offset[..., None, :]) * scale[..., None, :]


def feed_forward(call, version):
    dtype = call.choose(HALF)
    rows, k, h = call.choose((1, 4, 17, 130)), call.choose((4, 8, 33)), call.choose((4, 16, 33))
    n = k
    experts = call.between(1, 3) if call.chance(60) else 0
    ends, owner = groups_of(call, rows, experts) if experts else ([], np.zeros(rows, int))
    lead = (experts,) if experts else ()
    own = (lambda v: v[owner]) if experts else (lambda v: np.broadcast_to(v, (rows, *v.shape)))
    x = small(call, "x", dtype, (rows, k))
    suffix = "Optional" if version == 3 else ""
    gated = dtype == "float16" and not experts and call.chance(25)
    if not gated and call.chance(30):
        w1, w2 = (scaled_back(call, number, dtype, shape, suffix) for number, shape in (("1", (*lead, k, h)), ("2", (*lead, h, n))))
    else:
        w1, w2 = small(call, "weight1", dtype, (*lead, k, 2 * h if gated else h)), small(call, "weight2", dtype, (*lead, h, n))
    kind = "float32" if dtype == "bfloat16" else dtype
    b1, b2 = optional(call, "bias1" + suffix, kind, (*lead, 2 * h if gated else h)), optional(call, "bias2" + suffix, kind, (*lead, n))
    gates = {"reglu": "relu", "geglu": "gelu", "swiglu": "silu"}
    name = call.set("activation", call.choose(tuple(gates if gated else ACTIVATIONS)))
    call.set("innerPrecise", 1 if gated else call.choose((0, 1)))
    as_ends = version > 1 and bool(experts) and call.chance(50)
    if version > 1:
        call.set("tokensIndexFlag", as_ends)
    if experts:
        listed = ends if as_ends else np.diff([0, *ends]).tolist()
        if version == 3:
            call.tensor("expertTokensOptional", "int64", values=np.array(listed))
        else:
            call.set("expertTokens", listed)
    one = np.einsum("rk,rkh->rh", x, own(w1)) + (0 if b1 is None else own(b1))
    size = np.einsum("rk,rkh->rh", np.abs(x), np.abs(own(w1))) + (0 if b1 is None else np.abs(own(b1)))
    middle = ACTIVATIONS[name](one) if not gated else ACTIVATIONS[gates[name]](one[:, :h]) * one[:, h:]
    if gated:
        size = (size[:, :h] + 1) * (size[:, h:] + 1)
    made = np.einsum("rh,rhn->rn", middle, own(w2)) + (0 if b2 is None else own(b2))
    # What is between the layers may be rounded to the type.
    rounded = 2 * EPS[dtype] * np.abs(middle) if call.given["innerPrecise"].value else 0
    slack = np.einsum("rh,rhn->rn", 1e-5 * size + rounded, np.abs(own(w2)))
    call.out("y", dtype, made, near(8, 0, 2 * slack + 1e-3 + 0 * (0 if b2 is None else np.abs(own(b2)))))


def gelu_product(call, nz=False):
    out = call.choose(HALF)
    m, k, n = call.choose((1, 3, 17, 130)), call.choose((1, 17, 32)), call.choose((1, 34))
    a, b = integers(call, (m, k)), integers(call, (k, n))
    call.tensor("x1", "int8", values=a), weights(call, "x2", "int8", b, nz)
    rows, scale = positive(call, "x1Scale", "float32", (m,))[:, None], positive(call, "x2Scale", "float32", (n,), 1 / 4096)
    kind = call.choose((None, "int32", "float32", out))
    bias = None
    if kind is not None:
        bias = wide(call.tensor("biasOptional", kind, values=integers(call, (n,)) if kind == "int32" else wide(call.some(kind, (n,), "small", False)))).astype(float)
    call.set("fusedOpType", "gelu_tanh"), call.set("groupSizeOptional", 0)
    sums = (a @ b + (bias if kind == "int32" else 0)) * scale * rows + (bias if kind not in (None, "int32") else 0)
    made = gelu_tanh(sums)
    call.out("out", out, made, near(8, low(out), (1e-5 + low(out)) * (np.abs(sums) + 0.1)))


def dequantised(call, grouped=False):
    m, k, n, experts = call.choose((1, 5, 17, 130)), 16 * call.between(1, 3), 32 * call.between(1, 2), call.between(1, 3)
    x = small(call, "x", "float16", (m, k))
    w = integers(call, (experts, k, n) if grouped else (k, n))
    turned = call.set("transposeWeight", call.chance(50))
    call.tensor("weight", "int8", values=w.swapaxes(-1, -2) if turned else w)
    scale = positive(call, "weightScale", "float32", (experts, n) if grouped else (n,), 1 / 64)
    smooth = small(call, "smoothScaleOptional", "float16", (k,), "inner") if call.chance(50) else 1
    values = x * smooth
    call.set("xQuantMode", "pertoken")
    if call.chance(50):
        factor = positive(call, "xScaleOptional", "float32", (m,), 1 / 32)
    else:
        factor = np.abs(values).max(-1) / 127
    with np.errstate(all="ignore"):
        exact = np.nan_to_num(values / factor[:, None])
    whole = np.clip(np.rint(exact), -128, 127)
    # Beside a half either integer is right: one step of one product.
    unsure = np.abs(exact - np.floor(exact) - 0.5) < 1e-3 * (1 + np.abs(exact)) / 100 + 1e-3
    if grouped:
        ends, owner = groups_of(call, m, experts)
        call.tensor("groupList", "int64", values=np.array(ends))
        own, scales = w[owner], scale[owner]
    else:
        own, scales = np.broadcast_to(w, (m, k, n)), scale
    made = np.einsum("mk,mkn->mn", whole, own.astype(float)) * scales * factor[:, None]
    slack = np.einsum("mk,mkn->mn", unsure.astype(float), np.abs(own).astype(float)) * scales * factor[:, None]
    call.out("out", "float16", made, near(8, 2 * low("float16"), slack + 1e-4 + 1e-6 * np.abs(made)))


def grouped_add(call):
    dtype = call.choose(HALF)
    depth, m, n, experts = call.choose((1, 5, 17, 130)), call.choose((1, 3, 16)), call.choose((1, 6, 33)), call.between(1, 3)
    ends, _ = groups_of(call, depth, experts)
    call.set("transposeX", True), call.set("transposeWeight", False), call.set("groupType", 2)
    a, b = small(call, "x", dtype, (depth, m)), small(call, "weight", dtype, (depth, n))
    call.tensor("groupList", "int64", values=np.array(ends))
    y = small(call, "yRef", "float32", (experts, m, n))
    starts = [0, *ends[:-1]]
    f = lambda p, q: np.stack([p[s:e].T @ q[s:e] for s, e in zip(starts, ends)])  # noqa: E731
    call.update("yRef", y + f(a, b), near(4, 0, 4e-6 * (np.abs(y) + f(np.abs(a), np.abs(b)) + 1e-3)))


def swiglu_groups(call, nz=False):
    m, k, half, experts = call.choose((1, 5, 17, 130)), call.choose((16, 17, 33)), 32 * call.between(1, 2), call.between(1, 3)
    x, w = integers(call, (m, k)), integers(call, (experts, k, 2 * half))
    call.tensor("x", "int8", values=x), weights(call, "weight", "int8", w, nz)
    scale, rows = positive(call, "weightScale", "float32", (experts, 2 * half), 1 / 1024), positive(call, "xScale", "float32", (m,), 1 / 16)
    ends, owner = groups_of(call, m, experts)
    call.tensor("groupList", "int64", values=np.array(ends))
    sums = np.einsum("mk,mkn->mn", x, w[owner]) * scale[owner] * rows[:, None]
    one, two = sums[:, :half], sums[:, half:]
    made = one * sigmoid(one) * two
    factor = np.abs(made).max(-1) / 127
    with np.errstate(all="ignore"):
        exact = np.nan_to_num(made / factor[:, None])
    call.out("output", "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, 2e-3)), call.out("outputScale", "float32", factor, near(64, 0, 1e-7))


def combined(call, nz=False):
    m, k, n, experts, out = call.choose((1, 5, 17, 130)), call.choose((16, 17)), call.choose((32, 34)), call.between(1, 3), call.choose((2, 4))
    x, w = integers(call, (m, k)), integers(call, (experts, k, n))
    call.tensor("x", "int8", values=x), weights(call, "w", "int8", w, nz)
    kind = call.choose(("float32", "bfloat16"))
    scale = positive(call, "scaleOptional", kind, (experts, 1, n), 1 / 64)
    rows = positive(call, "pertokenScaleOptional", "float32", (m,))
    bias = optional(call, "biasOptional", "bfloat16", (experts, n)) if kind == "bfloat16" else None
    shared, logit = small(call, "sharedInputOptional", "bfloat16", (1, n)), positive(call, "logitOptional", "float32", (m,))
    index = call.some("int64", (m,), "any", False).astype(np.int64) % out
    call.tensor("rowIndexOptional", "int64", values=index)
    ends, owner = groups_of(call, m, experts)
    form = call.set("groupListType", call.choose((0, 1)))
    call.tensor("groupListOptional", "int64", values=np.diff([0, *ends]) if form else np.array(ends))
    for name, value in (("dtype", 0), ("sharedInputWeight", 0.5), ("sharedInputOffset", 1), ("transposeX", False), ("transposeW", False)):
        call.set(name, value)
    part = np.einsum("mk,mkn->mn", x, w[owner]) * scale[owner, 0] * rows[:, None] + (0 if bias is None else bias[owner])
    made, size = np.zeros((out, n)), np.zeros((out, n))
    made[1] += 0.5 * shared[0]
    np.add.at(made, index, logit[:, None] * part), np.add.at(size, index, np.abs(logit[:, None] * part))
    call.out("y", "float32", made, near(8, 0, 1e-5 * (size + 1)))


def unmapped(call):
    dtype = call.choose(("float32", *HALF))
    tokens, experts, width = call.choose((1, 4, 17, 130)), call.choose((2, 5)), call.choose((1, 3, 17, 130))
    each = call.between(1, 2)
    mapped = np.zeros((tokens, experts), bool)
    np.put_along_axis(mapped, assigned(call, tokens, each, experts), True, 1)
    ids = np.concatenate([np.flatnonzero(mapped[:, expert]) for expert in range(experts)])
    order = np.argsort(ids, kind="stable")
    rows = small(call, "permutedTokens", dtype, (tokens * each, width))
    call.tensor("sortedIndices", "int32", values=order)
    weighted = call.chance(60)
    picked = np.ones(tokens * each)
    if weighted:
        call.tensor("routingMapOptional", "bool", values=mapped)
        chances = small(call, "probsOptional", dtype, (tokens, experts))
        picked = chances.T[mapped.T]
        call.out("permuteProbs", dtype, picked)
    call.set("paddedMode", False), call.set("restoreShapeOptional", [tokens, width])
    made, size = np.zeros((tokens, width)), np.zeros((tokens, width))
    np.add.at(made, ids, rows * picked[:, None]), np.add.at(size, ids, np.abs(rows * picked[:, None]))
    call.out("unpermutedTokens", dtype, made, close(dtype, size + 1e-3)), call.out("outIndex", "int32", order, bits), call.out("permuteTokenId", "int32", np.arange(tokens * each) // each, bits)


def mapped_grad(call):
    dtype = call.choose(("float32", *HALF))
    tokens, experts, width = call.choose((1, 4, 17, 130)), call.choose((2, 5)), call.choose((1, 3, 17, 130))
    each = call.between(1, 2)
    mapped = np.zeros((tokens, experts), bool)
    np.put_along_axis(mapped, assigned(call, tokens, each, experts), True, 1)
    ids = np.concatenate([np.flatnonzero(mapped[:, expert]) for expert in range(experts)])
    rows, by = small(call, "permutedTokenOutputGrad", dtype, (tokens * each, width)), small(call, "permutedProbsOutputGradOptional", dtype, (tokens * each,))
    call.tensor("sortedIndices", "int32", values=np.argsort(ids, kind="stable")), call.tensor("routingMapOptional", call.choose(("int8", "bool")), values=mapped)
    call.set("numExperts", experts), call.set("tokensNum", tokens), call.set("dropAndPad", False)
    made, size, chances = np.zeros((tokens, width)), np.zeros((tokens, width)), np.zeros((experts, tokens))
    np.add.at(made, ids, rows), np.add.at(size, ids, np.abs(rows))
    chances[mapped.T] = by
    call.out("tokensGradOut", dtype, made, close(dtype, size + 1e-3)), call.out("probsGradOutOptional", dtype, chances.T)


def joined_bits(call, version):
    """Scales and offsets in 64 bits, as the document of the function lays them out."""
    n = call.choose((1, 3, 17, 130))
    scale = wide(call.tensor("scale", "float32", (n,), "small", False))
    offset = wide(call.tensor("offset", "float32", values=np.rint(wide(call.some("float32", (n,), "small", False)) * 100) + 0.25)) if call.chance(60) else None
    words = []
    for number, value in enumerate(scale):
        word = struct.unpack("<I", struct.pack("<f", value))[0] & 0xFFFFE000 | 1 << 46
        if offset is not None:
            zero = int(np.clip(np.rint(offset[number]), -256, 255))
            word = word & 0x4000FFFFFFFF | (zero & 0x1FF) << 37
        words.append(word)
    if version > 2:
        call.set("roundMode", 0)
    call.out("out", call.choose(("uint64", "int64")), np.array(words, np.int64), lambda found, wanted: bits(found.astype(np.int64), wanted))


def eights(call, name, shape):
    """Numbers of 8-bit floats: their codes as an argument, and what they are."""
    codes = call.some("uint8", shape, "any", False).astype(np.int64)
    values = TABLES[name][codes]
    # Small numbers alone: neither infinite nor far from each other.
    codes = np.where(np.isfinite(values) & (np.abs(values) <= 8), codes, 0)
    return codes, TABLES[name][codes]


def added_blocks(call):
    one, two = call.choose(("float8_e4m3fn", "float8_e5m2")), call.choose(("float8_e4m3fn", "float8_e5m2"))
    k, m, n = call.choose((2, 33, 70)), call.choose((1, 3, 16)), call.choose((1, 4, 17, 130))
    sides = []
    for name, scale_name, dtype, size in (("x1", "x1ScaleOptional", one, m), ("x2", "x2Scale", two, n)):
        codes, scales = in_blocks(dtype, wide(call.some("float32", (k, size), "normal", False)), 0, ("below", 8 if dtype == "float8_e4m3fn" else 15))
        call.tensor(name, dtype, values=codes), call.tensor(scale_name, "float8_e8m0", values=scales)
        factors = decode("float8_e8m0", np.moveaxis(scales, 0, -2)).reshape(size, -1).repeat(32, -1)[:, :k].T
        sides.append(decode(dtype, codes) * factors)
    y = small(call, "yRef", "float32", (m, n))
    call.set("transposeX1", True), call.set("transposeX2", False), call.set("groupSize", call.choose((32, 0)))
    a, b = sides
    call.update("yRef", y + a.T @ b, near(8, 0, 1e-5 * (np.abs(y) + np.abs(a).T @ np.abs(b) + 1e-3)))


def batches_turned(call, nz=False):
    out, name = call.choose(HALF), call.choose(("float8_e4m3fn", "float8_e5m2"))
    m, b, k, n = call.choose((1, 3, 17, 130)), call.between(1, 2), call.choose((16, 17, 33)), call.choose((32, 34))
    one, a = eights(call, name, (m, b, k))
    two, w = eights(call, name, (b, k, n))
    call.tensor("x1", name, values=one), call.tensor("x2", name, values=blocks(two, 32) if nz else two, plain=nz)
    rows, columns = positive(call, "x1Scale", "float32", (m,), 1 / 16), positive(call, "x2Scale", "float32", (n,), 1 / 16)
    for own, value in (("dtype", ACL[out]), ("groupSize", 0), ("permX1", [1, 0, 2]), ("permX2", [0, 1, 2]), ("permY", [1, 0, 2]), ("batchSplitFactor", 1)):
        call.set(own, value)
    f = lambda p, q: np.einsum("mbk,bkn->mbn", p, q) * rows[:, None, None] * columns  # noqa: E731
    call.out("out", out, f(a, w), near(8, low(out), (1e-5 + low(out)) * (f(np.abs(a), np.abs(w)) + 1e-3)))


def half_blocks(call, form):
    """Products of 16-bit floats whose second matrix is in blocks."""
    dtype = call.choose(HALF)
    m, k, n = call.choose((1, 3, 17, 130)), call.choose((16, 17, 33)), call.choose((16, 34))
    lead = (call.between(1, 2),) if form == "batch" else ()
    x, w = small(call, "mat1" if form == "add" else "self", dtype, (*lead, m, k)), wide(call.some(dtype, (*lead, k, n), "small", False))
    weights(call, "mat2", dtype, w.astype(call.given["mat1" if form == "add" else "self"].values.dtype), True)
    call.set("cubeMathType", 0)
    made, size = x @ w, np.abs(x) @ np.abs(w)
    if form == "add":
        c = small(call, "self", dtype, (m, n))
        beta, alpha = call.choose((1.0, 0.5)), call.choose((1.0, 2.0))
        call.scalar("beta", "float32", beta), call.scalar("alpha", "float32", alpha)
        made, size = beta * c + alpha * made, np.abs(beta * c) + alpha * size
    call.out("out", dtype, made, near(4, 0, (4e-6 + 0) * (size + 1e-3)))


def small_matrices(call):
    """Products with small matrices of groups, added to a part of the columns."""
    rows, rank, across, layers, groups = call.choose((1, 5, 17, 130)), call.choose((4, 16)), call.choose((5, 16)), 2, 3
    start, columns = call.choose(((0, 6), (3, 6), (16, 16)))
    y, x = small(call, "y", "float16", (rows, start + columns + call.choose((0, 3)))), small(call, "x", "float16", (rows, across))
    first, second = small(call, "weightAOptional", "float16", (groups, layers, rank, across)), small(call, "weightB", "float16", (groups, layers, columns, rank))
    owner = call.tensor("indices", "int32", values=call.some("int32", (rows,), "any", False).astype(np.int64) % (groups + 1) - 1)
    layer, scale = call.set("layerIdx", call.below(layers)), call.set("scale", call.choose((1.0, 0.75)))
    call.set("yOffset", start), call.set("ySliceSize", columns)
    made, size = y.copy(), np.abs(y)
    for row in range(rows):
        if owner[row] < 0:
            continue
        part = first[owner[row], layer] @ x[row]
        made[row, start:start + columns] += scale * (second[owner[row], layer] @ part)
        size[row, start:start + columns] += np.abs(second[owner[row], layer]) @ (np.abs(first[owner[row], layer]) @ np.abs(x[row]))
    call.out("out", "float16", made, near(8, 2 * low("float16"), (1e-5 + low("float16")) * size))


def quantised_convolution(call):
    out = call.choose(("float16", "bfloat16", "float32"))
    dims, groups = call.choose((2, 2, 3)), call.choose((1, 1, 2))
    ins, outs = groups * call.between(1, 3), groups * call.between(1, 4)
    kernel, stride, pad, dilation = ([call.choose(options) for _ in range(dims)] for options in ((1, 2, 3), (1, 2), (0, 1), (1, 2)))
    size = [max(call.choose((3, 5)), d * (k - 1) + 1) for d, k in zip(dilation, kernel)]
    x, w = integers(call, (call.between(1, 2), ins, *size)), integers(call, (outs, ins // groups, *kernel))
    call.tensor("input", "int8", values=x, plain=True), call.tensor("weight", "int8", values=w, plain=True)
    scale = positive(call, "scale", "float32", (outs,), 1 / 8192)
    bias = small(call, "bias", call.choose(("float32", "float16") if out == "float16" else ("float32",)), (outs,)) if call.chance(50) else None
    for name, value in (("stride", stride), ("padding", pad), ("dilation", dilation), ("transposed", False), ("groups", groups), ("offsetx", 0), ("roundMode", "rint")):
        call.set(name, value)
    spread = lambda v: v.reshape(-1, *[1] * dims)  # noqa: E731
    made = convolve(x.astype(float), w.astype(float), stride, pad, dilation, groups) * spread(scale) + (0 if bias is None else spread(bias))
    call.out("output", out, made, near(8, low(out), 2e-6 * (np.abs(made) + (0 if bias is None else np.abs(spread(bias))) + 1e-3)), plain=True)
    for name in ("input", "weight"):
        call.given[name].format = FORMATS[dims]
    call.given["output"].array.format = FORMATS[dims]


def masked_pool(call, backward=False):
    """The largest element of each window; in a window with NaN that is the largest."""
    dtype = call.choose(("float32", *HALF))
    kernel, stride = [call.choose((1, 2, 3)) for _ in range(2)], [call.choose((1, 2)) for _ in range(2)]
    pads = [call.below(k // 2 + 1) for k in kernel]
    steps = [call.choose((1, 1, 2, 3)) for _ in range(2)]
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, steps)]
    shape = (call.between(1, 2), call.between(1, 2), *(k + call.choose((0, 1, 4)) for k in spans))
    # Numbers that differ, so that the largest is one.
    order = np.argsort(call.some("float32", (math.prod(shape),), "normal", False), kind="stable").reshape(shape) % 251.0
    if call.chance(30):
        call.features.add("infinities, NaN, subnormals")
        for _ in range(call.between(1, 3)):
            order.reshape(-1)[call.below(order.size)] = call.choose((math.nan, math.inf, -math.inf))
    x = wide(call.tensor("self", dtype, values=order))
    ceil = call.set("ceilMode", call.chance(40))
    for name, value in (("kernelSize", kernel), ("stride", stride), ("padding", pads), ("dilation", steps)):
        call.set(name, value)
    outs = [length(size, k, s, p, ceil, d) for size, k, s, p, d in zip(shape[2:], kernel, stride, pads, steps)]
    more = [max((out - 1) * s + k - size - 2 * p, 0) for size, k, s, p, out in zip(shape[2:], spans, stride, pads, outs)]
    padded = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[0] + more[0]), (pads[1], pads[1] + more[1])), constant_values=-np.inf)
    view = np.lib.stride_tricks.sliding_window_view(padded, spans, (2, 3))[:, :, ::stride[0], ::stride[1], ::steps[0], ::steps[1]]
    view = view[:, :, : outs[0], : outs[1]]
    y = view.max((-1, -2))
    if not backward:
        # Nothing depends on the shape of the mask, and its form is not documented.
        call.out("out", dtype, y), call.out("indices", "int8", None, shape=(1, 64), plain=True)
        return
    g = small(call, "gradOutput", dtype, y.shape)
    call.tensor("indices", "int8", values=np.zeros((1, 64)))
    made, size = np.zeros(padded.shape), np.zeros(padded.shape)
    for index in np.ndindex(y.shape):
        top, left = index[2] * stride[0], index[3] * stride[1]
        # The first of the largest elements of a window takes the gradient, or the last NaN; the padding never does.
        nan = np.isnan(view[index])
        part = np.where(nan, 1e9 + np.arange(nan.size).reshape(nan.shape), np.where(nan.any(), -1e9, view[index].clip(-1e6, 1e6)))
        rows, columns = (np.arange(k) * d for k, d in zip(kernel, steps))
        inside = ((top + rows >= pads[0]) & (top + rows < pads[0] + shape[2]))[:, None] & ((left + columns >= pads[1]) & (left + columns < pads[1] + shape[3]))
        at = np.unravel_index(np.where(inside, part, -np.inf).argmax(), kernel)
        made[index[0], index[1], top + rows[at[0]], left + columns[at[1]]] += g[index]
        size[index[0], index[1], top + rows[at[0]], left + columns[at[1]]] += abs(g[index])
    cut = (slice(None), slice(None), slice(pads[0], pads[0] + shape[2]), slice(pads[1], pads[1] + shape[3]))
    call.out("gradInput", dtype, made[cut], close(dtype, size[cut]))


def scaled_product(call):
    """int8 with a scale for each column, and for each row at times; the second matrix is in blocks."""
    out = call.choose(HALF)
    m, k, n = call.choose((1, 3, 17, 130)), call.choose((16, 17, 33)), call.choose((32, 34))
    a, b = integers(call, (m, k)), integers(call, (k, n))
    call.tensor("x1", "int8", values=a), weights(call, "x2", "int8", b, True)
    scale = positive(call, "x2Scale", "float32" if out == "float16" else call.choose(("float32", "bfloat16")), (n,), 1 / 1024)
    rows = positive(call, "x1Scale", "float32", (m,))[:, None] if out == "bfloat16" or call.chance(50) else None
    if rows is None:
        # Without scales of rows those of the columns are in 64 bits.
        del call.given["x2Scale"]
        words = [struct.unpack("<I", struct.pack("<f", value))[0] & 0xFFFFE000 | 1 << 46 for value in scale]
        call.tensor("x2Scale", "uint64", values=np.array(words, np.uint64))
        scale = np.array([struct.unpack("<f", struct.pack("<I", word & 0xFFFFE000))[0] for word in words])
    bias = call.tensor("bias", "int32", values=integers(call, (n,))).astype(float) if call.chance(50) else 0
    call.set("transposeX1", False), call.set("transposeX2", False), call.set("groupSize", 0)
    made = (a @ b + bias) * scale * (1 if rows is None else rows)
    call.out("out", out, made, near(8, low(out), 1e-6 + 2e-6 * np.abs(made)))


def entropy_grad(call):
    dtype = call.choose(("float32", *HALF))
    rows, n = call.choose((1, 5, 17, 130)), call.choose((2, 4, 33))
    x = wide(call.some("float32", (rows, n), "small", False))
    logs = x - x.max(1, keepdims=True)
    logs = wide(call.tensor("logProb", dtype, values=logs - np.log(np.exp(logs).sum(1, keepdims=True))))
    target = call.some("int64", (rows,), "any", False).astype(np.int64) % n
    ignore = call.choose((-100, -1, 0, n - 1))
    target = call.tensor("target", "int64", values=np.where((np.arange(rows) % 3 == 1), ignore, target))
    w = positive(call, "weightOptional", "float32", (n,)) if call.chance(50) else np.ones(n)
    kind, smoothing = call.set("reductionOptional", call.choose(("none", "mean", "sum"))), call.set("labelSmoothing", call.choose((0.0, 0.25, 1.0)))
    call.set("ignoreIndex", ignore), call.set("lseSquareScaleForZloss", 0.0)
    g = small(call, "gradLoss", dtype, (rows,) if kind == "none" else (1,))
    seen = target != ignore
    own = np.where(seen, w[np.where(seen, target, 0)], 0)
    flow = np.where(seen, np.broadcast_to(g, (rows,)) / (max(own.sum(), 1e-300) if kind == "mean" else 1), 0)
    hot = np.eye(n)[np.where(seen, target, 0)]
    # What each logarithm counts, and the probabilities times the sum of it.
    parts = (1 - smoothing) * own[:, None] * hot + smoothing / n * w[None] * seen[:, None]
    made = flow[:, None] * (np.exp(logs) * parts.sum(1, keepdims=True) - parts)
    size = np.abs(flow)[:, None] * (parts.sum(1, keepdims=True) * (1 + np.abs(logs)) * np.exp(logs) + parts)
    call.out("out", dtype, made, close(dtype, size + 1e-6, 2))


def short_spectra(call):
    """Spectra of windows of a signal."""
    double = call.chance(40)
    real, pair = ("float64", "complex128") if double else ("float32", "complex64")
    frame, step = call.choose((1, 4, 5, 8)), call.choose((1, 2, 7))
    covered = call.between(1, frame)
    lead = () if call.chance(50) else (call.between(1, 3),)
    of_pairs = call.chance(40)
    x = wide(call.tensor("self", pair if of_pairs else real, (*lead, frame + call.choose((0, 1, 9))), "normal", False))
    window = wide(call.tensor("windowOptional", real, (covered,), "normal", False)) if call.chance(60) else np.ones(covered)
    onesided, normalized, as_pairs = call.set("onesided", not of_pairs and call.chance(60)), call.set("normalized", call.chance(40)), call.set("returnComplex", call.chance(60))
    call.set("nFft", frame), call.set("hopLength", step), call.set("winLength", covered)
    # A window shorter than a frame lies in its middle.
    left = (frame - covered) // 2
    whole = np.zeros(frame)
    whole[left:left + covered] = window
    cut = np.lib.stride_tricks.sliding_window_view(x, frame, -1)[..., ::step, :] * whole
    made = np.moveaxis((np.fft.rfft if onesided else np.fft.fft)(cut), -1, -2) / (math.sqrt(frame) if normalized else 1)
    size = np.abs(cut).sum(-1).max(initial=0)
    check = near(8, 0, (1e-12 if double else 2e-6) * (1 + size))
    call.out("out", pair if as_pairs else real, made if as_pairs else np.stack([made.real, made.imag], -1), check)


BLOCKED = Family("products with what is fused behind them", "ops/products")
for number, own in ((1, "FFN"), (2, "FFNV2"), (3, "FFNV3")):
    BLOCKED.add(own, feed_forward, version=number)
BLOCKED.add("FusedQuantMatmul", gelu_product)
BLOCKED.add("FusedQuantMatmulWeightNz", gelu_product, nz=True)
BLOCKED.add("QuantMatmulDequant", dequantised)
BLOCKED.add("QuantGroupedMatmulDequant", dequantised, grouped=True)
BLOCKED.add("GroupedMatmulAdd", grouped_add)
BLOCKED.add("GroupedMatmulSwigluQuant", swiglu_groups)
BLOCKED.add("GroupedMatmulSwigluQuantWeightNZ", swiglu_groups, nz=True)
BLOCKED.add("GroupedMatmulFinalizeRouting", combined)
BLOCKED.add("GroupedMatmulFinalizeRoutingWeightNz", combined, nz=True)
BLOCKED.add("MoeTokenUnpermuteWithRoutingMap", unmapped)
BLOCKED.add("MoeTokenPermuteWithRoutingMapGrad", mapped_grad)
BLOCKED.add("TransQuantParamV2", joined_bits, version=2)
BLOCKED.add("TransQuantParamV3", joined_bits, version=3)
BLOCKED.add("QuantBatchMatmulInplaceAdd", added_blocks)
BLOCKED.add("TransposeQuantBatchMatMul", batches_turned)
BLOCKED.add("TransposeQuantBatchMatMulWeightNz", batches_turned, nz=True)
BLOCKED.add("MatmulWeightNz", half_blocks, form="plain")
BLOCKED.add("BatchMatMulWeightNz", half_blocks, form="batch")
BLOCKED.add("AddmmWeightNz", half_blocks, form="add")
BLOCKED.add("QuantMatmulWeightNz", scaled_product)
BLOCKED.add("CrossEntropyLossGrad", entropy_grad)
BLOCKED.makers["aclStft"] = short_spectra
BLOCKED.add("AddLora", small_matrices)
BLOCKED.add("QuantConvolution", quantised_convolution)
BLOCKED.add("MaxPool2dWithMask", masked_pool)
BLOCKED.add("MaxPool2dWithMaskBackward", masked_pool, backward=True)

FAMILIES = [BLOCKED]
