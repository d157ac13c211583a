"""Attention, with and without caches, and products with weights that are restored on the way."""

import numpy as np

from cases import case, f, i, refused, t, v
from reference import softmax

HALVES = ("bfloat16",)


def attend(query, key, value, scale, addend=None, hidden=None, kept=None, keep=1.0):
    """Attention of batch, heads, length, width. Fewer heads of keys are shared. Returns the maxima, the sums and the result."""
    share = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, share, 1), np.repeat(value, share, 1)
    scores = query @ key.swapaxes(2, 3)
    if addend is not None:
        scores = scores + addend
    scores = scores * scale
    if hidden is not None:
        scores = np.where(hidden, -np.inf, scores)
    most = scores.max(-1, keepdims=True)
    total = np.exp(scores - most).sum(-1, keepdims=True)
    share = np.exp(scores - most) / total
    if kept is not None:
        share = share * kept / keep
    return [np.repeat(most, 8, -1), np.repeat(total, 8, -1), share @ value]


def heads(x, count):
    """Splits the last dimension of batch, length, heads times width."""
    return x.reshape(*x.shape[:2], count, -1).swapaxes(1, 2)


def joined(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def score(most, total, y):
    return [most, total, np.zeros(0), y]


STATISTICS = ["float32", "float32", None, None]
LOOSE = {"loose": 4, "why": "probabilities are rounded to the type of the values"}
FOUR = {"query": f(2, 4, 5, 8), "key": f(2, 2, 6, 8), "value": f(2, 2, 6, 8)}
case("FlashAttentionScore", "", FOUR, lambda q, k, v: score(*attend(q, k, v, 0.25)), {"head_num": 4, "input_layout": "BNSD", "scale_value": 0.25}, dtype="float16", types=["bfloat16", "float32"], out=STATISTICS, **LOOSE)
FLAT = {"query": f(2, 5, 32), "key": f(2, 6, 16), "value": f(2, 6, 16)}


def flat(q, k, v, scale=0.25, **rest):
    most, total, y = attend(heads(q, 4), heads(k, 2), heads(v, 2), scale, **rest)
    return [most, total, joined(y)]


CLOSED = np.triu(np.ones((5, 6)), 2)
for dtype in ["uint8", "bool"]:
    case("FlashAttentionScore", f"joined heads, a mask of {dtype}", {**FLAT, "atten_mask": v(CLOSED, dtype)}, lambda q, k, v, m: score(*flat(q, k, v, hidden=m != 0)), {"head_num": 4, "input_layout": "BSH", "scale_value": 0.25}, dtype="float16", out=STATISTICS, **LOOSE)
case("FlashAttentionScore", "an addend", {**FOUR, "real_shift": f(2, 4, 5, 6)}, lambda q, k, v, a: score(*attend(q, k, v, 0.25, a)), {"head_num": 4, "input_layout": "BNSD", "scale_value": 0.25}, dtype="float16", types=["bfloat16", "float32"], out=STATISTICS, **LOOSE)
BITS = np.random.default_rng(8).integers(0, 256, 2 * 4 * 5 * 6 // 8)
case("FlashAttentionScore", "dropout", {**FOUR, "drop_mask": v(BITS, "uint8")},
     lambda q, k, v, m: score(*attend(q, k, v, 0.25, kept=np.unpackbits(m.astype(np.uint8), bitorder="little").reshape(2, 4, 5, 6), keep=0.5)),
     {"head_num": 4, "input_layout": "BNSD", "scale_value": 0.25, "keep_prob": 0.5}, dtype="float32", out=STATISTICS, **LOOSE)


def packed(q, k, v, rows, columns):
    most, total, y = [], [], []
    for row, end, column, last in zip([0, *rows], rows, [0, *columns], columns):
        parts = attend(*(one[None].swapaxes(1, 2) for one in (q[row:end], k[column:last], v[column:last])), 0.25)
        for all_, part in zip((most, total, y), parts):
            all_.append(part[0].swapaxes(0, 1))
    return [np.concatenate(one) for one in (most, total, y)]


PACKED = {"query": f(7, 4, 8), "key": f(9, 2, 8), "value": f(9, 2, 8), "actual_seq_qlen": t([3, 7], "int64"), "actual_seq_kvlen": t([4, 9], "int64")}
case("FlashAttentionScore", "sequences one behind the other", PACKED, lambda *a: score(*packed(*a)), {"head_num": 4, "input_layout": "TND", "scale_value": 0.25}, dtype="float16", out=STATISTICS, **LOOSE)
refused("FlashAttentionScore", "another layout", FOUR, "input_layout NBSD", {"head_num": 4, "input_layout": "NBSD"}, dtype="float16")
refused("FlashAttentionScore", "a prefix", {**FOUR, "prefix": t([1, 2], "int64")}, "its input prefix is given", {"head_num": 4, "input_layout": "BNSD"}, dtype="float16")

PROMPT = {"num_heads": 4, "input_layout": "BNSD", "scale_value": 0.25, "num_key_value_heads": 2, "next_tokens": 65535}
case("PromptFlashAttention", "", FOUR, lambda q, k, v: attend(q, k, v, 0.25)[2], PROMPT, dtype="float16", types=HALVES, **LOOSE)
case("PromptFlashAttention", "joined heads", FLAT, lambda q, k, v: flat(q, k, v)[2], {**PROMPT, "input_layout": "BSH"}, dtype="float16", **LOOSE)
for dtype in ["bool", "int8", "uint8"]:
    case("PromptFlashAttention", f"a mask of {dtype}", {**FOUR, "atten_mask": v(CLOSED[None, None], dtype)}, lambda q, k, v, m: attend(q, k, v, 0.25, hidden=m != 0)[2], PROMPT, dtype="float16", **LOOSE)
LENGTHS = {"actual_seq_lengths": t([5, 5], "int64"), "actual_seq_lengths_kv": t([6, 4], "int64")}
SHORTER = np.array([[[[0] * 6]], [[[0, 0, 0, 0, 1, 1]]]]) != 0
case("PromptFlashAttention", "lengths", {**FOUR, **LENGTHS}, lambda q, k, v, a, b: attend(q, k, v, 0.25, hidden=SHORTER)[2], PROMPT, dtype="float16", **LOOSE)
case("PromptFlashAttention", "an addend", {**FOUR, "pse_shift": f(2, 4, 5, 6)}, lambda q, k, v, a: attend(q, k, v, 0.25, a / 0.25)[2], PROMPT, dtype="float16", types=HALVES, **LOOSE)
refused("PromptFlashAttention", "heads that cannot be shared", FOUR, "numHeads", {**PROMPT, "num_key_value_heads": 3}, dtype="float16")

TOKEN = {"query": f(2, 4, 1, 8), "key": [f(2, 2, 6, 8)], "value": [f(2, 2, 6, 8)]}
ONE = {"num_heads": 4, "input_layout": "BNSD", "scale_value": 0.25, "num_key_value_heads": 2}
case("IncreFlashAttention", "", TOKEN, lambda q, k, v: attend(q, k[0], v[0], 0.25)[2], ONE, dtype="float16", types=HALVES, **LOOSE)
EACH = {"query": f(2, 4, 1, 8), "key": [f(1, 2, 6, 8), f(1, 2, 4, 8)], "value": [f(1, 2, 6, 8), f(1, 2, 4, 8)]}


def each(q, k, v, scale=0.25):
    return np.concatenate([attend(q[at : at + 1], k[at], v[at], scale)[2] for at in range(len(k))])


case("IncreFlashAttention", "a cache for each sequence", EACH, each, ONE, dtype="float16", **LOOSE)
case("IncreFlashAttention", "lengths", {**TOKEN, "actual_seq_lengths": t([6, 4], "int64")}, lambda q, k, v, n: attend(q, k[0], v[0], 0.25, hidden=SHORTER)[2], ONE, dtype="float16", **LOOSE)
for dtype in ["bool", "int8", "uint8"]:
    case("IncreFlashAttention", f"a mask of {dtype}", {**TOKEN, "atten_mask": v(SHORTER, dtype)}, lambda q, k, v, m: attend(q, k[0], v[0], 0.25, hidden=m != 0)[2], ONE, dtype="float16", **LOOSE)
case("IncreFlashAttention", "an addend", {**TOKEN, "pse_shift": f(2, 4, 1, 6)}, lambda q, k, v, a: attend(q, k[0], v[0], 0.25, a / 0.25)[2], ONE, dtype="float16", types=HALVES, **LOOSE)
PAGES = {"query": f(2, 4, 1, 8), "key": [f(4, 16, 16)], "value": [f(4, 16, 16)], "actual_seq_lengths": t([20, 9], "int64"), "block_table": v([[2, 0], [3, 1]], "int32")}


def paged(q, k, v, lengths, table):
    y = []
    for at, pages in enumerate(table):
        own = [np.concatenate(list(cache[0][pages]))[None, : lengths[at]] for cache in (k, v)]
        y.append(attend(q[at : at + 1], *(heads(one, 2) for one in own), 0.25)[2])
    return np.concatenate(y)


case("IncreFlashAttention", "pages", PAGES, paged, {**ONE, "block_size": 16}, dtype="float16", **LOOSE)
refused("IncreFlashAttention", "more keys than values", {**EACH, "value": [f(1, 2, 6, 8)]}, "key and value have 2 and 1 tensors", ONE, dtype="float16")

FUSED = {"num_heads": 4, "input_layout": "BNSD", "scale": 0.25, "num_key_value_heads": 2}
WHOLE = {"query": f(2, 4, 5, 8), "key": [f(2, 2, 6, 8)], "value": [f(2, 2, 6, 8)]}
case("FusedInferAttentionScore", "", WHOLE, lambda q, k, v: [attend(q, k[0], v[0], 0.25)[2], None], FUSED, dtype="float16", types=HALVES, out=[None, "float32"], **LOOSE)


def logarithm(q, k, v):
    most, total, y = attend(q, k[0], v[0], 0.25)
    return [y, (most + np.log(total))[..., :1]]


case("FusedInferAttentionScore", "the logarithms of the sums", WHOLE, logarithm, {**FUSED, "softmax_lse_flag": True}, dtype="float16", out=[None, "float32"], **LOOSE)
case("FusedInferAttentionScore", "another order of the result", WHOLE, lambda q, k, v: [attend(q, k[0], v[0], 0.25)[2].swapaxes(1, 2), None], {**FUSED, "input_layout": "BNSD_BSND"}, dtype="float16", **LOOSE)
case("FusedInferAttentionScore", "a cache for each sequence", EACH, lambda *a: [each(*a), None], FUSED, dtype="float16", **LOOSE)
for dtype in ["bool", "int8", "uint8"]:
    case("FusedInferAttentionScore", f"a mask of {dtype}", {**WHOLE, "atten_mask": v(CLOSED[None, None], dtype)}, lambda q, k, v, m: [attend(q, k[0], v[0], 0.25, hidden=m != 0)[2], None], FUSED, dtype="float16", **LOOSE)
case("FusedInferAttentionScore", "positions apart", {**WHOLE, "query_rope": f(2, 4, 5, 4), "key_rope": f(2, 2, 6, 4)},
     lambda q, k, v, a, b: [attend(np.concatenate([q, a], -1), np.concatenate([k[0], b], -1), v[0], 0.25)[2], None], FUSED, dtype="float16", types=HALVES, **LOOSE)
refused("FusedInferAttentionScore", "positions of queries alone", {**WHOLE, "query_rope": f(2, 4, 5, 4)}, "key_rope is missing", FUSED, dtype="float16")
case("FusedInferAttentionScore", "lengths", {**WHOLE, **LENGTHS}, lambda q, k, v, a, b: [attend(q, k[0], v[0], 0.25, hidden=SHORTER)[2], None], FUSED, dtype="float16", **LOOSE)
case("FusedInferAttentionScore", "an addend", {**WHOLE, "pse_shift": f(2, 4, 5, 6)}, lambda q, k, v, a: [attend(q, k[0], v[0], 0.25, a / 0.25)[2], None], FUSED, dtype="float16", types=HALVES, **LOOSE)
case("FusedInferAttentionScore", "pages", {**PAGES, "actual_seq_lengths": t([1, 1], "int64"), "actual_seq_lengths_kv": t([20, 9], "int64")} | {"block_table": PAGES["block_table"]},
     lambda q, k, v, n, table, lengths: [paged(q, k, v, lengths, table), None], {**FUSED, "block_size": 16}, dtype="float16", **LOOSE)

# --- products -----------------------------------------------------------------------------------------------------------

WEIGHT = {"x": f(5, 32), "weight": i(32, 6, lo=-8, hi=8, dtype="int8"), "antiquant_scale": f(6, lo=0.0625, hi=0.25)}
SUMS = {"loose": 4, "why": "a sum of products"}
case("WeightQuantBatchMatmulV2", "", WEIGHT, lambda x, w, s: x @ (w * s), dtype="float16", types=HALVES, **SUMS)
case("WeightQuantBatchMatmulV2", "an offset and a bias", {**WEIGHT, "antiquant_offset": f(6), "bias": f(6)}, lambda x, w, s, o, b: x @ ((w + o) * s) + b, dtype="float16", **SUMS)
case("WeightQuantBatchMatmulV2", "a bias in float32", {**WEIGHT, "antiquant_offset": f(6), "bias": f(6, dtype="float32")}, lambda x, w, s, o, b: x @ ((w + o) * s) + b, dtype="bfloat16", **SUMS)
TURNED = {"x": f(32, 5), "weight": i(6, 32, lo=-8, hi=8, dtype="int8"), "antiquant_scale": f(6, 1, lo=0.0625, hi=0.25)}
case("WeightQuantBatchMatmulV2", "transposed", TURNED, lambda x, w, s: x.T @ (w * s).T, {"transpose_x": True, "transpose_weight": True}, dtype="float16", **SUMS)
GROUPS = {"x": f(5, 64), "weight": i(64, 6, lo=-8, hi=8, dtype="int8"), "antiquant_scale": f(2, 6, lo=0.0625, hi=0.25)}
case("WeightQuantBatchMatmulV2", "groups", GROUPS, lambda x, w, s: x @ (w * np.repeat(s, 32, 0)), {"antiquant_group_size": 32}, dtype="float16", **SUMS)
refused("WeightQuantBatchMatmulV2", "another type of the result", WEIGHT, "its attribute dtype is float32; the result is float16", {"dtype": "float32"}, dtype="float16")

LORA = {"y": f(5, 32), "x": f(5, 16), "weightB": f(3, 1, 32, 16), "indices": v([0, 2, 1, 1, 0], "int32")}
case("AddLora", "", LORA, lambda y, x, b, at: y + 0.5 * np.einsum("ij,ikj->ik", x, b[at, 0]), {"scale": 0.5}, dtype="float16", **SUMS)
case("AddLora", "two matrices", {"y": f(5, 32), "x": f(5, 32), "weightB": f(3, 1, 32, 16), "indices": v([0, 2, 1, 1, 0], "int32"), "weightA": f(3, 1, 16, 32)},
     lambda y, x, b, at, a: y + 0.25 * np.einsum("ij,ikj->ik", np.einsum("ij,ikj->ik", x, a[at, 0]), b[at, 0]), {"scale": 0.25}, dtype="float16", loose=16, why="sums of many products")
refused("AddLora", "a layer that is not there", LORA, "layerIdx", {"layer_idx": 1}, dtype="float16")

# --- masked ---------------------------------------------------------------------------------------------------------------

SCORES = {"x": f(2, 3, 32, 64), "mask": v(np.random.default_rng(5).integers(0, 2, (2, 1, 32, 64)), "bool")}


def masked(x, mask, scale=0.5):
    return softmax(np.where(mask, -10000.0, x * scale))


case("ScaledMaskedSoftmax", "", SCORES, masked, {"scale": 0.5}, types=["float16"])
GRADS = {"y_grad": f(2, 3, 32, 64), "y": f(2, 3, 32, 64, lo=0, hi=0.0625), "mask": SCORES["mask"]}
case("ScaledMaskedSoftmaxGrad", "", GRADS, lambda g, y, m: np.where(m, 0, 0.5 * y * (g - (g * y).sum(-1, keepdims=True))), {"scale": 0.5}, types=["float16"])
refused("ScaledMaskedSoftmax", "a mask that is made inside", SCORES, "fixedTriuMask", {"fixed_triu_mask": True})
