"""Operators that single operators (aclnn) compute, too: quantisation by rows, experts, attention, updates in place."""

import math

import numpy as np

from cases import case, distinct, f, i, refused, t, v, var

FLOATS = ["float16", "bfloat16"]


def phi(x):
    return np.vectorize(math.erf)(x / math.sqrt(2)) / 2 + 0.5


def gelu(x):
    return x * phi(x)


def tanh_gelu(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def by_rows(x, smooth=1.0):
    """Quantises each row by its largest entry. Values that lie half way between two integers have to be avoided."""
    x = x * smooth
    scale = np.abs(x).max(-1) / 127
    return np.rint(x / scale[..., None]), scale


def rms(x, gamma, beta=0.0, epsilon=1e-6):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * gamma + beta


# --- quantisation ---------------------------------------------------------------------------------------------------------------

INT8 = ["int8", "float32"]
case("DynamicQuant", "", {"x": f(4, 16)}, by_rows, dtype="float16", types=["bfloat16"], out=INT8)
case("DynamicQuant", "smooth", {"x": f(4, 16), "smooth_scales": f(16, lo=0.5)}, by_rows, dtype="float16", types=["bfloat16"], out=INT8)
GROUPS = {"x": f(4, 16), "smooth_scales": f(2, 16, lo=0.5), "group_index": v([1, 4], "int32")}
case("DynamicQuant", "groups", GROUPS, lambda x, s, g: by_rows(x, s[[0, 1, 1, 1]]), dtype="float16", types=["bfloat16"], out=INT8)
case("GeluQuant", "", {"x": f(4, 16)}, lambda x: by_rows(gelu(x)), types=FLOATS, out=INT8)
case("GeluQuant", "tanh, smooth", {"x": f(4, 16), "input_scale": f(16, lo=0.5)}, lambda x, s: by_rows(tanh_gelu(x), s), {"approximate": "tanh"}, types=FLOATS, out=INT8)
STATIC = {"x": f(4, 16), "input_scale": f(16, lo=8, hi=20), "input_offset": f(16)}
case("GeluQuant", "static", STATIC, lambda x, s, o: [np.clip(np.rint(gelu(x) * s + o), -128, 127), None], {"quant_mode": "static"}, types=FLOATS, out=INT8)
case("RmsNormDynamicQuant", "", {"x": f(4, 16), "gamma": f(16)}, lambda x, g: by_rows(rms(x, g)), dtype="float16", types=["bfloat16"], out=INT8)
case("RmsNormDynamicQuant", "smooth and beta", {"x": f(4, 16), "gamma": f(16), "smooth_scales": f(16, lo=0.5), "beta": f(16)},
     lambda x, g, s, b: by_rows(rms(x, g, b), s), dtype="float16", types=["bfloat16"], out=INT8)


def added(x1, x2, gamma, s1=None, s2=None, beta=0.0):
    x = x1 + x2
    y = rms(x, gamma, beta)
    first = by_rows(y, 1.0 if s1 is None else s1)
    second = by_rows(y, s2) if s2 is not None else (np.zeros(0), np.zeros(0))
    return [first[0], second[0], y, y, x, first[1], second[1]]


def multi_added(x1, x2, gamma, *scales):
    y1, y2, _, y, x, scale1, scale2 = added(sum(x1), x2, gamma, *scales)
    return [y1, y2, x, y, scale1, scale2]




def eighths(*dims):
    """Returns multiples of 1/8: their sums have no rounding."""
    fill = i(*dims, lo=-16, hi=17, dtype=None)
    make = fill.make
    fill.make = lambda rng, own: make(rng, own) / 8
    return fill


ADDED = {"x1": eighths(4, 16), "x2": eighths(4, 16), "gamma": f(16, lo=0.5)}
SEVEN = lambda own: ["int8", "int8", "float32", own, own, "float32", "float32"]  # noqa: E731
SIX = lambda own: ["int8", "int8", own, own, "float32", "float32"]  # noqa: E731
for own in FLOATS:
    case("AddRmsNormDynamicQuantV2", "", ADDED, added, dtype=own, out=SEVEN(own))
    case("AddRmsNormDynamicQuantV2", "twice", {**ADDED, "smooth_scale1": f(16, lo=0.5), "smooth_scale2": f(16, lo=0.5), "beta": f(16)}, added, dtype=own, out=SEVEN(own))
    case("MultiAddRmsNormDynamicQuant", "", {**ADDED, "x1": [eighths(4, 16), eighths(4, 16)]}, multi_added, dtype=own, out=SIX(own))
    case("MultiAddRmsNormDynamicQuant", "twice", {**ADDED, "x1": [eighths(4, 16)], "smooth_scale1": f(16, lo=0.5), "smooth_scale2": f(16, lo=0.5)}, multi_added, dtype=own, out=SIX(own))


def layer(x1, x2, gamma, beta, bias=0.0, epsilon=1e-5):
    x = x1 + x2 + bias
    mean, rstd = x.mean(-1, keepdims=True), 1 / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return x, (x - mean) * rstd * gamma + beta, mean, rstd


LAYER = {"x1": eighths(4, 16), "x2": eighths(4, 16), "gamma": f(16), "beta": f(16)}
BIASED = {**LAYER, "bias": eighths(16)}


def layer_quant(*given, dtype="int8"):
    """The results of QuantizeAddLayerNorm for pairs of scales and zero points."""
    x, y, _, _ = layer(*given[:5])
    low, high = {"int8": (-128, 127), "uint8": (0, 255), "int32": (-(2**31), 2**31 - 128)}[dtype]
    return x, lambda scale, zero=0.0: np.clip(np.rint(y / scale + zero), low, high)


def once(x1, x2, gamma, beta, bias, scales, zero=0.0, dtype="int8"):
    x, rounded_by = layer_quant(x1, x2, gamma, beta, bias, dtype=dtype)
    return [rounded_by(scales, zero), x]


def both(x1, x2, gamma, beta, bias, s1, s2, z1=0.0, z2=0.0):
    x, rounded_by = layer_quant(x1, x2, gamma, beta, bias)
    return [rounded_by(s1, z1), rounded_by(s2, z2), x]


SCALES = f(16, lo=0.02, hi=0.05)
for own in ["float32", *FLOATS]:
    case("QuantizeAddLayerNorm", "", {**BIASED, "scales": SCALES}, once, {"dtype": "int8"}, dtype=own, out=["int8", own])
    for kind in ["int8", "uint8", "int32"]:
        case("QuantizeAddLayerNorm", f"{kind}, zero points", {**BIASED, "scales": SCALES, "zero_points": f(16, lo=3, hi=9)},
             lambda *a, kind=kind: once(*a, dtype=kind), {"dtype": kind}, dtype=own, out=[kind, own])
    TWO = {**BIASED, "scales1": SCALES, "scales2": f(16, lo=0.02, hi=0.05)}
    case("DuaQuantizeAddLayerNorm", "", TWO, both, {"dtype": "int8"}, dtype=own, out=["int8", "int8", own])
    case("DuaQuantizeAddLayerNorm", "zero points", {**TWO, "zero_points1": f(16, lo=3, hi=9), "zero_points2": f(16)}, both, {"dtype": "int8"}, dtype=own, out=["int8", "int8", own])


def layer_dynamic(x1, x2, gamma, beta, bias=0.0, s1=None, s2=None):
    x, y, _, _ = layer(x1, x2, gamma, beta, bias)
    first = by_rows(y, 1.0 if s1 is None else s1)
    second = by_rows(y, s2) if s2 is not None else (None, None)
    return [first[0], second[0], x, first[1], second[1]]


def layer_static(x1, x2, gamma, beta, bias, s1, s2, z1=0.0, z2=0.0, times=False):
    x, y, _, _ = layer(x1, x2, gamma, beta, bias)
    to = lambda s, z: np.clip(np.rint((y * s if times else y / s) + z), -128, 127)  # noqa: E731
    return [to(s1, z1), to(s2, z2), x, None, None]


for own in ["float32", *FLOATS]:
    FIVE = ["int8", "int8", own, "float32", "float32"]
    SMOOTH = {"scales1": f(16, lo=0.5), "scales2": f(16, lo=0.5)}
    case("AddLayerNormQuant", "", LAYER, layer_dynamic, dtype=own, out=FIVE)
    case("AddLayerNormQuant", "twice", {**BIASED, **SMOOTH}, layer_dynamic, dtype=own, out=FIVE)
    case("AddLayerNormQuant", "static", {**BIASED, "scales1": SCALES, "scales2": SCALES, "zero_points1": f(16), "zero_points2": f(16)}, layer_static, {"quant_mode": "static"}, dtype=own, out=FIVE)
    TIMES = {**BIASED, "scales1": f(16, lo=20, hi=40), "scales2": f(16, lo=20, hi=40)}
    case("AddLayerNormQuant", "static, by factors", TIMES, lambda *a: layer_static(*a, times=True), {"quant_mode": "static", "div_mode": False}, dtype=own, out=FIVE)


def in_place(x1, x2, gamma, beta, bias=0.0):
    x, y, mean, rstd = layer(x1, x2, gamma, beta, bias)
    return [y, mean, rstd, x]


for own in ["float32", *FLOATS]:
    case("InplaceAddLayerNorm", "", LAYER, in_place, dtype=own, out=[own, "float32", "float32", own])
    case("InplaceAddLayerNorm", "biased", BIASED, in_place, dtype=own, out=[own, "float32", "float32", own])
case("InplaceAddLayerNorm", "variables", {**LAYER, "x1": var(eighths(4, 16)), "x2": var(eighths(4, 16))},
     lambda *a: (lambda y, mean, rstd, x: [y, mean, rstd, x, y, x])(*in_place(*a)), out=["float32"] * 6)


def grouped(x, gamma=None, beta=None, groups=2, epsilon=1e-4):
    rows = x.reshape(x.shape[0], groups, -1)
    mean, rstd = rows.mean(-1), 1 / np.sqrt(rows.var(-1) + epsilon)
    y = ((rows - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    along = (-1,) + (1,) * (x.ndim - 2)
    if gamma is not None:
        y = y * gamma.reshape(along)
    if beta is not None:
        y = y + beta.reshape(along)
    return y, mean, rstd


case("GroupNormV2", "", {"x": f(2, 4, 3, 5), "gamma": f(4), "beta": f(4)}, lambda *a: list(grouped(*a)), {"num_groups": 2}, types=FLOATS)


def silu_quant(x, gamma=None, beta=None, scale=1.0):
    y, mean, rstd = grouped(x, gamma, beta, epsilon=1e-5)
    y = y / (1 + np.exp(-y))
    along = (-1,) + (1,) * (x.ndim - 2)
    return [np.clip(np.rint(y / scale.reshape(along)), -128, 127), mean, rstd]


for own in FLOATS:
    OUT = ["int8", own, own]
    case("GroupNormSiluQuant", "", {"x": f(2, 4, 3, 5), "gamma": f(4), "beta": f(4), "quantScale": v([0.03], "float32")}, silu_quant, {"num_groups": 2}, dtype=own, out=OUT)
    case("GroupNormSiluQuant", "by channels", {"x": f(2, 4, 15), "gamma": f(4), "beta": f(4), "quantScale": f(4, lo=0.02, hi=0.05, dtype="float32")}, silu_quant, {"num_groups": 2}, dtype=own, out=OUT)


def encoded(scale, offset=None):
    """A float32 and a 9-bit offset in one integer: bits 0 to 31, bits 37 to 45, and bit 46."""
    scale = np.broadcast_to(np.asarray(scale, np.float32), np.broadcast_shapes(scale.shape, () if offset is None else offset.shape))
    bits = (scale.view(np.uint32) & np.uint32(0xFFFFE000)).astype(np.uint64)
    if offset is not None:
        level = np.clip(np.rint(offset), -256, 255).astype(np.int64) & 0x1FF
        bits = bits | (level.astype(np.uint64) << np.uint64(37))
    return bits | np.uint64(1 << 46)


case("TransQuantParamV2", "", {"scale": v([0.5, 2.0, 1.25, 3.0])}, encoded, out="uint64")
case("TransQuantParamV2", "offset", {"scale": v([0.5, 2.0, 1.25, 3.0]), "offset": v([1.0, -3.0, 0.0, 7.0])}, encoded, out="uint64")
case("AscendAntiQuant", "", {"x": i(3, 5, lo=-128, hi=128, dtype="int8")}, lambda x: (x + 2.0) * 0.5, {"scale": 0.5, "offset": 2.0, "dtype": "float32"}, out="float32")
case("AscendAntiQuant", "squared", {"x": i(3, 5, lo=-128, hi=128, dtype="int8")}, lambda x: (x - 1.0) * 0.0625, {"scale": 0.25, "offset": -1.0, "dtype": "float16", "sqrt_mode": True}, dtype="float16", out="float16")
for own in ["float32", *FLOATS]:
    case("AscendQuantV2", "", {"x": f(3, 8), "scale": f(8, lo=8, hi=20), "offset": f(8)}, lambda x, s, o: np.clip(np.rint(x * s + o), -128, 127), dtype=own, out="int8")
    for how, function in [("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc)]:
        case("AscendQuantV2", how, {"x": f(3, 8), "scale": f(8, lo=8, hi=20)}, lambda x, s, function=function: np.clip(function(x * s), -128, 127), {"round_mode": how}, dtype=own, out="int8")
    for kind, name, low, high in [("int8", "torch.qint8", -128, 127), ("uint8", "torch.quint8", 0, 255), ("int32", "torch.qint32", -1e9, 1e9)]:
        case("Quantize", kind, {"x": f(3, 8, lo=0), "scales": f(8, lo=0.02, hi=0.05, dtype="float32"), "zero_points": i(8, hi=9, dtype="int32")},
             lambda x, s, z, low=low, high=high: np.clip(np.rint(x / s) + z, low, high), {"dtype": name}, dtype=own, out=kind)

A8, B8 = i(4, 16, lo=-9, hi=10, dtype="int8"), i(16, 8, lo=-9, hi=10, dtype="int8")


def product(a, b, scale, offset=None, bias=None, rows=None):
    y = (a @ b).astype(np.float64)
    if bias is not None:
        y = y + bias
    y = y * scale
    return y if rows is None else y * rows[:, None]


case("QuantBatchMatmulV3", "", {"x1": A8, "x2": B8, "scale": f(8, lo=0.01, hi=0.02, dtype="float32")}, product, {"dtype": "bfloat16"}, dtype="bfloat16", out="bfloat16")
case("QuantBatchMatmulV3", "of rows", {"x1": A8, "x2": B8, "scale": f(8, lo=0.01, hi=0.02, dtype="float32"), "pertoken_scale": f(4, lo=0.5, dtype="float32")},
     lambda a, b, s, r: product(a, b, s, rows=r), {"dtype": "float16"}, dtype="float16", out="float16")
case("QuantBatchMatmulV3", "transposed", {"x1": i(16, 4, lo=-9, hi=10, dtype="int8"), "x2": i(8, 16, lo=-9, hi=10, dtype="int8"), "scale": f(8, lo=0.01, hi=0.02, dtype="float32"), "bias": i(8, lo=-99, hi=99)},
     lambda a, b, s, bias: product(a.T, b.T, s, bias=bias), {"dtype": "bfloat16", "transpose_x1": True, "transpose_x2": True}, dtype="bfloat16", out="bfloat16")

for kind in ["int64", "uint64"]:
    WORDS = {"x1": A8, "x2": i(16, 2, lo=-9, hi=10, dtype="int8"), "scale": v([int(np.float32(x).view(np.uint32)) for x in (0.0078125, 0.015625)], kind)}
    case("QuantBatchMatmulV3", f"scales in {kind}", WORDS, lambda a, b, s: product(a, b, np.array([0.0078125, 0.015625])), {"dtype": "float16"}, dtype="float16", out="float16")
case("QuantBatchMatmulV3", "int8", {"x1": A8, "x2": B8, "scale": v([int(np.float32(0.125).view(np.uint32))], "uint64"), "offset": v([3.0], "float32")},
     lambda a, b, s, o: np.clip(np.rint((a @ b) * 0.125 + o), -128, 127), {"dtype": "int8"}, dtype="int8", out="int8")
for kind in ["float32", *FLOATS]:
    to = "float16" if kind == "float16" else "bfloat16"
    case("QuantBatchMatmulV3", f"bias of {kind}", {"x1": A8, "x2": B8, "scale": f(8, lo=0.01, hi=0.02, dtype="float32"), "bias": f(8, dtype=kind), "pertoken_scale": f(4, lo=0.5, dtype="float32")},
         lambda a, b, s, bias, rows: product(a, b, s, rows=rows) + bias, {"dtype": to}, dtype=to, out=to)


def updated_rows(x, scales, index, updates, smooth=None):
    """Writes quantised rows from a row on that the index names."""
    y, factors = by_rows(updates, 1.0 if smooth is None else smooth)
    x, scales = x.copy(), scales.copy()
    for entry, at in enumerate(index.tolist()):
        block, start = (entry, at) if index.ndim == 1 else at
        x[block, :, start : start + updates.shape[2]] = y[entry]
        scales[block, :, start : start + updates.shape[2], 0] = factors[entry]
    return [x, scales]


CACHE = {"var": i(3, 2, 6, 16, lo=-99, hi=99, dtype="int8"), "var_scale": f(3, 2, 6, 1, dtype="float32")}
for kind in ["int32", "int64"]:
    for own in FLOATS:
        OUT = ["int8", "float32"]
        HOW = {"reduce": "update", "axis": -2}
        case("DynamicQuantUpdateScatter", kind, {**CACHE, "indices": v([1, 0, 4], kind), "updates": f(3, 2, 2, 16)}, updated_rows, HOW, dtype=own, out=OUT)
        case("DynamicQuantUpdateScatter", f"pairs of {kind}", {**CACHE, "indices": v([[2, 3], [0, 1]], kind), "updates": f(2, 2, 2, 16), "smooth_scales": f(16, lo=0.5)}, updated_rows, HOW, dtype=own, out=OUT)

# --- experts --------------------------------------------------------------------------------------------------------------------


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gating(x, bias=None, k=3, renormed=False, norm=softmax, full=False):
    """By the document of the operator: scores, then the experts with the largest sums of score and bias."""
    scores = norm(x)
    order = np.argsort(-(scores if bias is None else scores + bias), -1, kind="stable")[:, :k]
    y = np.take_along_axis(scores, order, -1)
    if renormed:
        y = y / (y.sum(-1, keepdims=True) + 1e-20)
    return [y, order.astype(np.int32), scores if full else np.zeros(0)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


THREE = lambda own: [own, "int32", "float32"]  # noqa: E731
for own in ["float32", *FLOATS]:
    case("MoeGatingTopK", "", {"x": distinct(5, 8, scale=0.25)}, gating, {"k": 3}, dtype=own, out=THREE(own))
    case("MoeGatingTopK", "sigmoid, all scores", {"x": distinct(5, 8, scale=0.125), "bias": v([0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.25])},
         lambda x, b: gating(x, b, renormed=True, norm=sigmoid, full=True), {"k": 3, "norm_type": 1, "renorm": 0, "out_flag": True}, dtype=own, out=THREE(own), least="bfloat16", why="scores of the operator are rounded to its type")
    case("MoeGatingTopKSoftmax", "", {"x": distinct(5, 8, scale=0.25)}, lambda x: [*gating(x)[:2], np.arange(15).reshape(3, 5).T.astype(np.int32)], {"k": 3}, dtype=own, out=[own, "int32", "int32"])
FINISHED = {"x": distinct(5, 8, scale=0.25), "finished": v([0, 1, 0, 0, 1], "bool")}


def finished(x, done):
    y, experts, _ = gating(x)
    experts[done] = 8
    return [y, experts, np.arange(15).reshape(3, 5).T.astype(np.int32)]


case("MoeGatingTopKSoftmax", "finished", FINISHED, finished, {"k": 3}, out=["float32", "int32", "int32"])


def routed(x, experts, scattered=False, ends=True):
    flat = experts.ravel()
    order = np.argsort(flat, kind="stable")
    rows = order if scattered else np.argsort(order, kind="stable")
    counts = np.bincount(flat, minlength=4)
    return [x[order // experts.shape[1]], rows.astype(np.int32), np.cumsum(counts) if ends else counts, np.zeros(0)]


ROUTED = {"x": f(5, 8), "expert_idx": i(5, 2, hi=4)}
for own in ["float32", *FLOATS, "int8"]:
    FOUR = [own, "int32", "int64", "float32"]
    case("MoeInitRoutingV3", "", ROUTED, routed, {"expert_num": 4, "expert_tokens_num_flag": True}, dtype=own, out=FOUR)
    case("MoeInitRoutingV3", "counts", ROUTED, lambda *a: routed(*a, scattered=True, ends=False), {"expert_num": 4, "expert_tokens_num_flag": True, "expert_tokens_num_type": 1, "row_idx_type": 1}, dtype=own, out=FOUR)


def quantised(x, experts):
    rows, index, _, _ = routed(x, experts)
    y, scale = by_rows(rows)
    return [y, index, np.zeros(0, np.int64), scale]


for own in ["float32", *FLOATS]:
    case("MoeInitRoutingV3", "quantised", ROUTED, quantised, {"expert_num": 4, "quant_mode": 1}, dtype=own, out=["int8", "int32", "int64", "float32"])

COUNTS = [[2, 1, 0], [1, 3, 2]]


def re_routed(tokens, counts, scales=None, ends=False, inverse=False):
    start, parts = np.cumsum(counts.ravel()) - counts.ravel(), []
    start = start.reshape(counts.shape)
    for expert in range(counts.shape[1]):
        for rank in range(counts.shape[0]):
            parts.append(start[rank, expert] + np.arange(counts[rank, expert]))
    order = np.concatenate(parts)
    number = counts.sum(0)
    index = np.argsort(order) if inverse else order
    return [tokens[order], np.zeros(0) if scales is None else scales[order], index.astype(np.int32), np.cumsum(number) if ends else number]


for own in ["float16", "bfloat16", "int8"]:
    for kind in ["int32", "int64"]:
        OUT = [own, "float32", "int32", kind]
        case("MoeReRouting", f"{kind} counts", {"tokens": f(9, 4), "expert_token_num_per_rank": v(COUNTS, kind), "per_token_scales": f(9, dtype="float32")}, re_routed, dtype=own, out=OUT)
    case("MoeReRouting", "other forms", {"tokens": f(9, 4), "expert_token_num_per_rank": v(COUNTS, "int32")}, lambda *a: re_routed(*a, ends=True, inverse=True), {"expert_token_num_type": 0, "idx_type": 1}, dtype=own, out=[own, "float32", "int32", "int32"])


def swiglu(x, weight=1.0, index=None, limit=None):
    a, b = np.split(x, 2, -1)
    if limit:
        a, b = np.minimum(a, limit), np.clip(b, -limit, limit)
    return a * sigmoid(a) * b * (weight if np.isscalar(weight) else weight.reshape(a.shape[:-1] + (1,)))


case("SwigluGroup", "", {"x": f(4, 16)}, swiglu, types=FLOATS)
case("SwigluGroup", "weighted", {"x": f(4, 16), "weight": f(4, dtype="float32"), "group_index": v([1, 3], "int64")}, lambda x, w, g: swiglu(x, w), types=FLOATS)
case("SwigluGroup", "limited", {"x": f(4, 16)}, lambda x: swiglu(x, limit=1.0), {"clamp_limit": 1.0}, types=FLOATS)


def swiglu_gradient(g, x, weight=None, origin=None, index=None):
    a, b = np.split(x, 2, -1)
    up = g if weight is None else g * weight.reshape(-1, 1)
    s = sigmoid(a)
    to_weight = np.zeros(0) if origin is None else (g * origin).sum(-1, keepdims=True)
    return [np.concatenate([up * b * s * (1 + a * (1 - s)), up * a * s], -1), to_weight]


for own in ["float32", *FLOATS]:
    OUT = [own, "float32"]
    case("SwigluGroupGrad", "", {"grad_y": f(4, 8), "x": f(4, 16)}, swiglu_gradient, dtype=own, out=OUT)
    case("SwigluGroupGrad", "weighted", {"grad_y": f(4, 8), "x": f(4, 16), "weight": f(4, 1, dtype="float32"), "y_origin": f(4, 8), "group_index": v([1, 3], "int64")}, swiglu_gradient, dtype=own, out=OUT)

# --- attention ------------------------------------------------------------------------------------------------------------------


def interleaved(x, cos, sin):
    """Pairs of neighbours become halves, and are rotated as such."""
    x = np.concatenate([x[..., 0::2], x[..., 1::2]], -1)
    half = x.shape[-1] // 2
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], -1) * sin


for own in FLOATS:
    case("InterleaveRope", "", {"x": f(2, 3, 1, 64), "cos": f(2, 1, 1, 64), "sin": f(2, 1, 1, 64)}, interleaved, dtype=own, loose=2, why="a difference of products")


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], -1) * sin


HEADS = {"query": f(2, 3, 4, 128), "key": f(2, 3, 2, 128), "cos": f(2, 3, 1, 128), "sin": f(2, 3, 1, 128)}
for own in ["float32", *FLOATS]:
    case("ApplyRotaryPosEmb", "", HEADS, lambda q, k, c, s: [rotated(q, c, s), rotated(k, c, s)], dtype=own, loose=2, why="a difference of products")
BIAS = {"x": f(6, 2, 4, 16), "atten_mask": f(3, 4, 16), "relative_pos_bias": f(2, 4, 16)}


def masked(x, mask=None, bias=0.0, scale=1.0):
    x = x * scale + bias
    if mask is not None:
        x = x + np.tile(mask, (x.shape[0] // mask.shape[0], 1, 1))[:, None]
    return softmax(x)


case("MaskedSoftmaxWithRelPosBias", "", BIAS, masked, types=FLOATS)
case("MaskedSoftmaxWithRelPosBias", "no mask", {"x": f(6, 2, 4, 16), "relative_pos_bias": f(2, 4, 16)}, lambda x, b: masked(x, None, b, 0.5), {"scale_value": 0.5}, types=FLOATS)

# --- losses and gradients -------------------------------------------------------------------------------------------------------


def multilabel(x, target, reduction="mean"):
    losses, labels = [], np.zeros(x.shape, np.int32)
    for row, wanted, mark in zip(x, target, labels):
        own = []
        for label in wanted:
            if label < 0:
                break
            own.append(label)
        mark[own] = 1
        rest = [c for c in range(len(row)) if c not in own]
        losses.append(sum(max(0, 1 - (row[j] - row[c])) for j in own for c in rest) / len(row))
    losses = np.array(losses)
    return [{"none": losses, "mean": losses.mean(keepdims=True), "sum": losses.sum(keepdims=True)}[reduction], labels]


LABELS = {"x": f(3, 5), "target": v([[2, 0, -1, 1, 1], [4, -1, 0, 0, 0], [-1, 2, 3, 0, 1]], "int32")}
for own in ["float32", *FLOATS]:
    for how in ["mean", "sum", "none"]:
        case("MultilabelMarginLoss", how, LABELS, lambda *a, how=how: multilabel(*a, how), {"reduction": how}, dtype=own, out=[own, "int32"])


def instance_gradient(dy, x, variance, mean, gamma):
    space = (1, 2, 3)
    m = math.prod(x.shape[1:4])
    rstd = (variance + 1e-6) ** -0.5
    inner = dy * gamma
    by_var = (-0.5 * inner * (x - mean) * (variance + 1e-6) ** -1.5).sum(space, keepdims=True)
    by_mean = (-inner * rstd).sum(space, keepdims=True)
    return [inner * rstd + by_var * 2 / m * (x - mean) + by_mean / m, (dy * (x - mean) * rstd).sum((0, 1, 2, 3)), dy.sum((0, 1, 2, 3))]


GRADIENT = {"dy": f(2, 2, 3, 4, 5), "x": f(2, 2, 3, 4, 5), "variance": f(2, 1, 1, 1, 5, lo=0.5), "mean": f(2, 1, 1, 1, 5), "gamma": f(5)}
case("InstanceNormGrad", "", GRADIENT, instance_gradient, types=["float16"], loose=4, why="sums of products")
case("ReluGradV2", "", {"gradients": f(3, 5), "mask": i(3, 5, hi=2, dtype="uint8")}, lambda g, m: g * (m > 0), types=[*FLOATS, "int8", "int32", "uint8"])
PROBABLE = {"pred": f(4, 5, lo=0.05, hi=0.9), "target": v(np.eye(5)[[1, 0, 4, 2]], "int32")}
WEIGHTED = {**PROBABLE, "weight": f(4, 5, lo=0.5)}


def focal(p, t, w=1.0):
    entropy = (-np.log(p) * t * w).sum(-1, keepdims=True)
    share = (0.25 * (1 - p) ** 2 * t).sum(-1, keepdims=True)
    return np.broadcast_to(entropy * share, p.shape)


case("SoftmaxFocalLoss", "", PROBABLE, focal, {"reduction": "none"}, types=["float16"])
case("SoftmaxFocalLoss", "weighted", WEIGHTED, focal, {"reduction": "none"}, types=["float16"])
case("SoftmaxFocalLoss", "mean by default", WEIGHTED, lambda *a: focal(*a).mean(), types=["float16"])
case("SoftmaxFocalLoss", "sum", PROBABLE, lambda *a: focal(*a).sum(), {"reduction": "sum"})


def focal_gradient(p, t, d, w=None, factor=1.0):
    w = np.ones(p.shape) if w is None else w
    full, less = 0.25 * (1 - p) ** 2 * t, 0.25 * (1 - p) * t
    share, lower = full.sum(-1, keepdims=True), less.sum(-1, keepdims=True)
    entropy, total = (-np.log(p) * t * w).sum(-1, keepdims=True), (w * t).sum(-1, keepdims=True)
    by_share = -2.0 * p * ((share - lower) + less)
    return ((p * total - t * w) * share + by_share * entropy) * d * factor


for how, factor in [("mean", 1 / 20), ("sum", 1.0), ("none", 1.0)]:
    case("SoftmaxFocalLossGrad", how, {**PROBABLE, "dout": f(4, 5), "weight": f(4, 5, lo=0.5)}, lambda p, t, d, w, factor=factor: focal_gradient(p, t, d, w, factor), {"reduction": how}, types=["float16"])
case("SoftmaxFocalLossGrad", "no weight", {**PROBABLE, "dout": f(4, 5)}, lambda p, t, d: focal_gradient(p, t, d, factor=1 / 20), types=["float16"])


def vocabulary(logits, target, largest, start=32):
    outside = (target < start) | (target >= start + logits.shape[-1])
    offset = np.where(outside, 0, target - start)
    moved = logits - largest[..., None]
    own = np.take_along_axis(moved, offset[..., None], -1)[..., 0]
    e = np.exp(moved)
    return [np.where(outside, 0.0, own), e.sum(-1), e, offset.astype(np.int32), outside.astype(np.int32)]


for own in ["float32", "bfloat16"]:
    for rows in [(6,), (2, 3)]:
        case("CrossEntropySumExpAndIndexLogit", f"{len(rows) + 1} dimensions", {"vocab_parallel_logits": f(*rows, 16), "target": i(*rows, lo=28, hi=52), "global_logits_max": f(*rows, lo=2, hi=3)},
             vocabulary, {"vocab_start_index": 32, "vocab_end_index": 48}, dtype=own, out=["float32", "float32", "float32", "int32", "int32"])


def repeated_gradient(g, repeats, axis):
    starts = np.cumsum(repeats) - repeats
    parts = [np.take(g, range(a, a + n), axis).sum(axis, keepdims=True) for a, n in zip(starts, repeats)]
    return np.concatenate(parts, axis)


for kind in ["int32", "int64"]:
    case("RepeatInterleaveGrad", kind, {"y_grad": f(2, 6, 3), "repeats": v([2, 0, 3, 1], kind)}, lambda g, r: repeated_gradient(g, r, 1), {"axis": 1}, types=FLOATS)
case("RepeatInterleaveGrad", "one number", {"y_grad": f(2, 6), "repeats": t([3])}, lambda g, r: repeated_gradient(g, np.array([3, 3]), 1), types=FLOATS)


def overlap(one, two, centred, distance):
    """The intersection over union, less the empty share of the box around both, or the squared distance of the centres."""

    def corners(box):
        x, y, a, b = box
        return (x - a / 2, y - b / 2, x + a / 2, y + b / 2) if centred else (x, y, a, b)

    (a, b, c, d), (e, g, h, k) = corners(one), corners(two)
    inter = np.maximum(np.minimum(c, h) - np.maximum(a, e), 0) * np.maximum(np.minimum(d, k) - np.maximum(b, g), 0)
    union = (c - a) * (d - b) + (h - e) * (k - g) - inter
    wide, high = np.maximum(c, h) - np.minimum(a, e), np.maximum(d, k) - np.minimum(b, g)
    if distance:
        way = ((a + c - e - h) / 2) ** 2 + ((b + d - g - k) / 2) ** 2
        return inter / union - way / (wide**2 + high**2)
    return inter / union - (wide * high - union) / (wide * high)


def overlap_gradient(dy, one, two, centred=False, distance=False):
    """By differences: the function is smooth but where edges meet, which random boxes avoid."""
    results = []
    for which in range(2):
        gradient = np.zeros(one.shape)
        for at in range(4):
            values = []
            for step in (1e-6, -1e-6):
                boxes = [one.copy(), two.copy()]
                boxes[which][at] += step
                values.append(overlap(*boxes, centred, distance))
            gradient[at] = dy * (values[0] - values[1]) / 2e-6
        results.append(gradient)
    return results


def corner_boxes(odd):
    """Corners of boxes in steps of 1/64, even or odd ones, so that no edge lies on one of the other box in any type."""

    def make(rng, own):
        low = 2 * rng.integers(0, 64, (2, 24)) + odd
        return np.concatenate([low, low + 2 * rng.integers(16, 64, (2, 24))]) / 64

    fill = f(4, 24)
    fill.make = make
    return fill


NUMERIC = {"loose": 4, "why": "the reference is a quotient of differences"}
for op, distance in [("GIoUGrad", False), ("DIoUGrad", True)]:
    for centred, boxes in [(False, corner_boxes), (True, lambda odd: f(4, 24, lo=0.5))]:
        case(op, "centres" if centred else "corners", {"dy": f(24), "bboxes": boxes(0), "gtboxes": boxes(1)},
             lambda *a, centred=centred, distance=distance: overlap_gradient(*a, centred, distance), {"is_cross": False, "trans": centred}, types=["float16"], **NUMERIC)

# --- images and points ----------------------------------------------------------------------------------------------------------


def columns(x, kernel=(2, 3), stride=(1, 1), gap=(1, 1), pad=(0, 0)):
    x = np.pad(x, [(0, 0), (0, 0), (pad[0], pad[0]), (pad[1], pad[1])])
    n, c, h, w = x.shape
    rows = (h - gap[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    cols = (w - gap[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    y = np.zeros((n, c, kernel[0], kernel[1], rows, cols), x.dtype)
    for a in range(kernel[0]):
        for b in range(kernel[1]):
            y[:, :, a, b] = x[:, :, a * gap[0] :, b * gap[1] :][:, :, : rows * stride[0] : stride[0], : cols * stride[1] : stride[1]][:, :, :rows, :cols]
    return y.reshape(n, c * kernel[0] * kernel[1], rows * cols)


case("Im2col", "", {"x": f(2, 3, 5, 6)}, columns, {"ksizes": [2, 3]}, types=FLOATS)
case("Im2col", "strides, gaps and pads", {"x": f(2, 3, 7, 8)}, lambda x: columns(x, (2, 3), (2, 1), (1, 2), (1, 2)),
     {"ksizes": [2, 3], "strides": [2, 1], "dilations": [1, 2], "pads": [1, 1, 2, 2]}, types=FLOATS)


def bins(size, count):
    return [(a * size // count, -(-(a + 1) * size // count)) for a in range(count)]


def adaptive(x, rows, cols, how):
    y = np.zeros(x.shape[:-2] + (rows, cols))
    for a, (top, bottom) in enumerate(bins(x.shape[-2], rows)):
        for b, (left, right) in enumerate(bins(x.shape[-1], cols)):
            y[..., a, b] = how(x[..., top:bottom, left:right].reshape(x.shape[:-2] + (-1,)), -1)
    return y


def adaptive_maximum(x, rows, cols):
    at = np.arange(x.shape[-2] * x.shape[-1]).reshape(x.shape[-2:])
    y, where = adaptive(x, rows, cols, np.max), np.zeros(x.shape[:-2] + (rows, cols), np.int64)
    for a, (top, bottom) in enumerate(bins(x.shape[-2], rows)):
        for b, (left, right) in enumerate(bins(x.shape[-1], cols)):
            part = x[..., top:bottom, left:right].reshape(x.shape[:-2] + (-1,))
            where[..., a, b] = at[top:bottom, left:right].ravel()[part.argmax(-1)]
    return [y, where]


case("AdaptiveAvgPool2d", "", {"x": f(2, 3, 7, 8)}, lambda x: adaptive(x, 3, 5, np.mean), {"output_size": [3, 5]}, types=["float16"])
for own in ["float32", "float16", "float64"]:
    case("AdaptiveMaxPool2d", "", {"x": distinct(2, 3, 7, 8)}, lambda x: adaptive_maximum(x, 3, 5), {"output_size": [3, 5]}, dtype=own, out=[own, "int64"])


def unpooled(x, g, where):
    y = np.zeros(x.shape)
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            np.add.at(y[n, c].ravel(), where[n, c].ravel(), g[n, c].ravel())
    return y


WINDOW = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW"}
for kind in ["int32", "int64"]:
    case("MaxPoolGradWithArgmax", kind, {"x": f(2, 3, 4, 6), "grad": f(2, 3, 2, 3), "argmax": i(2, 3, 2, 3, hi=24, dtype=kind)}, unpooled, WINDOW, types=FLOATS)


def unpooled_last(x, g, where):
    y = np.zeros((x.shape[0], x[0].size))
    for n in range(x.shape[0]):
        np.add.at(y[n], where[n].ravel(), g[n].ravel())
    return y.reshape(x.shape)


case("MaxPoolGradWithArgmax", "NHWC", {"x": f(2, 4, 6, 3), "grad": f(2, 2, 3, 3), "argmax": i(2, 2, 3, 3, hi=72)}, unpooled_last, {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"})


def pool_windows(size, kernel, step, mode, pads, ceil):
    """The first and the last index of each window, by the document of MaxPoolV3Grad."""
    if mode == "SAME":
        count = -(-size // step)
        before = max((count - 1) * step + kernel - size, 0) // 2
    elif mode == "VALID":
        count, before = (size - kernel) // step + 1, 0
    else:
        before = pads[0]
        rest = size + sum(pads) - kernel
        count = (-(-rest // step) if ceil else rest // step) + 1
        if ceil and (count - 1) * step >= size + before:
            count -= 1
    return [(max(n * step - before, 0), min(n * step - before + kernel, size)) for n in range(count)]


def pool_gradient(x, y, g, kernel=(2, 3), step=(2, 2), mode="CALCULATED", pads=(0, 0, 0, 0), ceil=False):
    out = np.zeros(x.shape)
    rows = pool_windows(x.shape[2], kernel[0], step[0], mode, pads[:2], ceil)
    cols = pool_windows(x.shape[3], kernel[1], step[1], mode, pads[2:], ceil)
    assert (len(rows), len(cols)) == g.shape[2:], (len(rows), len(cols))
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for a, (top, bottom) in enumerate(rows):
                for b, (left, right) in enumerate(cols):
                    part = x[n, c, top:bottom, left:right]
                    at = np.unravel_index(part.argmax(), part.shape)
                    out[n, c, top + at[0], left + at[1]] += g[n, c, a, b]
    return out


def pool_case(name, out, kernel=(2, 3), step=(2, 2), types=("float16", "bfloat16"), last=False, **how):
    order = (0, 2, 3, 1) if last else (0, 1, 2, 3)
    back = (0, 3, 1, 2) if last else (0, 1, 2, 3)
    shape = lambda rows, cols: [(2, 3, rows, cols)[axis] for axis in order]  # noqa: E731
    attrs = {"ksize": [1, *kernel, 1] if last else [1, 1, *kernel], "strides": [1, *step, 1] if last else [1, 1, *step], "data_format": "NHWC" if last else "NCHW"}
    attrs.update({{"mode": "padding_mode", "pads": "pads", "ceil": "ceil_mode"}[key]: value for key, value in how.items()})
    case("MaxPoolV3Grad", name, {"orig_input": distinct(*shape(7, 8)), "orig_output": f(*shape(*out)), "grad": f(*shape(*out))},
         lambda x, y, g: pool_gradient(x.transpose(back), y, g.transpose(back), kernel, step, **how).transpose(order), attrs, types=types)


pool_case("", (3, 3), types=["float16", "bfloat16", "int32", "int64"])
pool_case("pads", (4, 4), pads=[0, 1, 1, 1])
pool_case("ceil", (4, 4), ceil=True)
pool_case("same", (4, 4), mode="SAME")
pool_case("valid", (3, 3), mode="VALID")
pool_case("channels last", (3, 3), last=True)
case("MaxPoolV3Grad", "global", {"orig_input": distinct(2, 3, 4, 5), "orig_output": f(2, 3, 1, 1), "grad": f(2, 3, 1, 1)},
     lambda x, y, g: pool_gradient(x, y, g, (4, 5), (1, 1)), {"ksize": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "global_pooling": True})


def convolved(x, w, scale, bias=None):
    """Two channels of a 3 x 2 filter with a row of pads, strides 2 and 1."""
    x = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    rows, cols = (x.shape[2] - 3) // 2 + 1, x.shape[3] - 1
    y = np.zeros((x.shape[0], w.shape[0], rows, cols))
    for a in range(rows):
        for b in range(cols):
            y[:, :, a, b] = np.tensordot(x[:, :, 2 * a : 2 * a + 3, b : b + 2], w, ([1, 2, 3], [1, 2, 3]))
    factor = (scale.astype(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32).astype(np.float64)
    y = y * factor.reshape(-1, 1, 1)
    return y if bias is None else y + bias.reshape(-1, 1, 1)


CONVOLUTION = {"dtype": "float16", "strides": [1, 1, 2, 1], "pads": [1, 1, 0, 0], "data_format": "NCHW"}
FACTORS = [int(np.float32(x).view(np.uint32)) for x in (0.0078125, 0.015625)]
for kind in ["int64", "uint64"]:
    QUANTISED = {"x": i(2, 3, 5, 4, lo=-9, hi=10, dtype="int8"), "filter": i(2, 3, 3, 2, lo=-9, hi=10, dtype="int8"), "scale": v(FACTORS, kind)}
    case("QuantConv2D", kind, QUANTISED, convolved, CONVOLUTION, dtype="float16")
case("QuantConv2D", "an offset that is not used", {**QUANTISED, "offset": f(1, dtype="float32")}, lambda x, w, s, o: convolved(x, w, s), CONVOLUTION, dtype="float16")
case("QuantConv2D", "biased", {**QUANTISED, "bias": f(2, dtype="float32")}, convolved, CONVOLUTION, dtype="float16")

def chamfer(a, b):
    d = ((a[:, :, :, None] - b[:, :, None, :]) ** 2).sum(0)
    return [d.min(2), d.min(1), d.argmin(2).astype(np.int32), d.argmin(1).astype(np.int32)]


for own in ["float32", *FLOATS]:
    case("ChamferDistance", "", {"xyz1": distinct(2, 2, 5, scale=0.25), "xyz2": distinct(2, 2, 5, scale=0.375)}, chamfer, dtype=own, out=[own, own, "int32", "int32"])


def interpolated(x, index, weight):
    return np.stack([(x[b][index[b]] * weight[b][..., None]).sum(1) for b in range(len(x))])


def interpolated_back(g, index, weight):
    y = np.zeros((g.shape[0], g.shape[1], 6))
    for b in range(len(g)):
        for n in range(g.shape[2]):
            for k in range(3):
                y[b, :, index[b, n, k]] += g[b, :, n].reshape(g.shape[1]) * weight[b, n, k]
    return y


for kind in ["int32", "int64"]:
    POINTS = {"idx": i(2, 4, 3, hi=6, dtype=kind), "weight": f(2, 4, 3, lo=0.1, hi=1.0)}
    case("ThreeInterpolate", kind, {"features": f(2, 6, 5), **POINTS}, interpolated, types=["float16"])
    case("ThreeInterpolateBackward", kind, {"grad_x": f(2, 5, 4), **POINTS}, interpolated_back, {"m": 6}, types=["float16"], loose=2, why="sums in the type of the gradient")
case("ThreeInterpolateBackward", "4 dimensions", {"grad_x": f(2, 5, 4, 1), **POINTS}, lambda *a: interpolated_back(*a)[..., None], {"m": 6})

DROPPED = {"x": f(40, 50, lo=1.0), "p": t(0.25, "float32"), "seed": t(7, "int64"), "offset": t(0, "int64")}


def dropped(outputs):
    """A share of p is 0, what is left grows by 1 / (1 - p), and the mask has a bit for each."""
    y, mask = outputs
    bits = np.unpackbits(mask.ravel().astype(np.uint8), bitorder="little")[: y.size].reshape(y.shape)
    wrong = [] if ((y != 0) == (bits == 1)).all() else ["the mask has other elements than the result"]
    if y.max() > 2 / 0.75 + 0.02 or y[y != 0].min() < 1 / 0.75 - 0.02:
        wrong.append(f"what is left is between {y[y != 0].min()} and {y.max()}")
    share = (y == 0).mean()
    return wrong + ([] if abs(share - 0.25) < 0.05 else [f"a share of {share} is 0"])


for own in ["float32", *FLOATS]:
    for kind in ["int32", "int64"]:
        case("DropOutV3", kind, {**DROPPED, "p": t(0.25, own), "seed": t(7, kind)}, None, dtype=own, judge=dropped)
case("DropOutV3", "an offset of two numbers", {**DROPPED, "offset": t([0, 12], "int64")}, None, judge=dropped)
refused("DropOutV3", "an offset whose lower half counts", {**DROPPED, "offset": t([5, 0], "int64")}, "of two numbers the first has to be 0")

# --- rows and parts -------------------------------------------------------------------------------------------------------------


def bags(table, index, offsets, weights=None, mode="mean"):
    ends = [*offsets[1:], len(index)]
    y, sizes = np.zeros((len(offsets), table.shape[1])), np.array(ends) - offsets
    for bag, (a, b) in enumerate(zip(offsets, ends)):
        rows = table[index[a:b]]
        if weights is not None:
            rows = rows * weights[a:b, None]
        if b > a:
            y[bag] = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](rows, 0)
    owner = np.repeat(np.arange(len(offsets)), sizes)
    return y, owner, sizes


def bag_case(kind, mode, weighted=False):
    inputs = {"weight": distinct(6, 4), "indices": v([0, 3, 3, 5, 1], kind), "offsets": v([0, 2, 2], kind)}
    if weighted:
        inputs["per_sample_weights"] = f(5)
    name = " ".join([mode, kind, *(["weighted"] if weighted else [])])
    for own in ["float32", *FLOATS]:
        case("EmbeddingBag", name, inputs, lambda *a: [bags(*a, mode=mode)[0], None if mode == "max" else bags(*a)[1].astype(kind), bags(*a)[2].astype(kind) if mode != "sum" else None, None],
             {"mode": mode}, dtype=own, out=[own, kind, kind, kind])


for kind in ["int32", "int64"]:
    for mode in ["sum", "mean", "max"]:
        bag_case(kind, mode)
bag_case("int64", "sum", weighted=True)


def largest_of_bags(table, index, offsets):
    ends = [*offsets[1:], len(index)]
    where = [index[a:b][table[index[a:b]].argmax(0)] for a, b in zip(offsets, ends)]
    return [None, None, None, np.array(where)]


case("EmbeddingBag", "positions of the largest", {"weight": distinct(6, 4), "indices": v([0, 3, 3, 5, 1], "int64"), "offsets": v([0, 2], "int64")}, largest_of_bags, {"mode": "max"}, out=["float32", "int64", "int64", "int64"])
case("Renorm", "", {"x": f(4, 6)}, lambda x: x * np.where(np.abs(x).sum(1, keepdims=True) > 5.3125, 5.3125 / (np.abs(x).sum(1, keepdims=True) + 1e-7), 1), {"p": 1.0, "dim": 0, "maxnorm": 5.3125}, types=["float16", "bfloat16", "float64"])
case("Renorm", "of columns", {"x": f(4, 6)}, lambda x: x * np.where(np.sqrt((x * x).sum(0)) > 1, 1 / (np.sqrt((x * x).sum(0)) + 1e-7), 1), {"p": 2.0, "dim": 1, "maxnorm": 1.0})


def scattered(x, mask, updates):
    y = x.copy()
    y[mask] = updates.ravel()[: mask.sum()]
    return y


MASK = v(np.arange(15).reshape(3, 5) % 3 == 1, "bool")
case("MaskedScatter", "", {"x": f(3, 5), "mask": MASK, "updates": f(2, 4)}, scattered, types=["float16", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "bfloat16"])


def assigned(x, values, *rest):
    y = x.copy()
    y[1:4:2, 0:3] = values
    return y


PART = {"begin": t([1, 0], "int64"), "end": t([4, 3], "int64"), "strides": t([2, 1], "int64")}
case("StridedSliceAssignV2", "", {"var": f(5, 6), "input_value": f(2, 3), **PART}, assigned, types=["float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"])
case("StridedSliceAssignV2", "a variable", {"var": var(f(5, 6)), "input_value": f(2, 3), **PART}, lambda *a: [assigned(*a)] * 2)


def assigned_along(x, values, *rest):
    y = x.copy()
    y[:, 1:3] = values
    return y


case("StridedSliceAssignV2", "axes", {"var": f(5, 6), "input_value": f(5, 2), "begin": t([1], "int64"), "end": t([3], "int64"), "strides": t([1], "int64"), "axes": t([1], "int64")}, assigned_along)
