"""Sparse attention: selected blocks of keys, in sequences and in pages, and compressed keys that choose blocks; queries and keys of latent attention."""

import numpy as np

from device import NUMPY
from maker import near, wide

from . import Family
from .others import low

HALF = ("float16", "bfloat16")


def close(dtype, scale=1.0, more=1.0):
    """What lies between is rounded to the type of the tensors, as it is written there."""
    return near(16, 2 * low(dtype) * more, (2e-5 + 2 * low(dtype) * more) * scale)



def some(call, dtype, *shape):
    return wide(call.some(dtype, shape, "normal", False))


def attend(q, k, v, allowed, scale, upstream=None):
    """`allowed(token, key head)` lists the keys. Returns the result, the largest scores, the sums, the shares, and gradients."""
    tokens, heads, _ = q.shape
    shared = heads // k.shape[1]
    out, most, total, shares = np.zeros((tokens, heads, v.shape[2])), np.zeros((tokens, heads)), np.zeros((tokens, heads)), {}
    by = [np.zeros(one.shape) for one in (q, k, v)]
    for t in range(tokens):
        for h in range(heads):
            own = h // shared
            keys = allowed(t, own)
            if not keys:
                continue
            scores = k[keys, own] @ q[t, h] * scale
            most[t, h] = scores.max()
            powers = np.exp(scores - scores.max())
            total[t, h] = powers.sum()
            share = powers / powers.sum()
            shares[t, h] = (keys, share)
            out[t, h] = share @ v[keys, own]
            if upstream is not None:
                dw = v[keys, own] @ upstream[t, h]
                ds = share * (dw - (dw * share).sum()) * scale
                by[0][t, h] = ds @ k[keys, own]
                np.add.at(by[1], (keys, own), np.outer(ds, q[t, h])), np.add.at(by[2], (keys, own), np.outer(share, upstream[t, h]))
    return out, most, total, shares, by


def eight(values):
    return np.repeat(values[..., None], 8, -1)


def chosen_blocks(call, blocks, count):
    """Different blocks; at times fewer than there is space for."""
    order = np.argsort(call.some("float32", (blocks,), "normal", False), kind="stable")[:count]
    made = np.full(count, -1)
    made[: len(order)] = order
    if count > 1 and call.chance(20):
        made[-1] = -1
    return made


def sequences(call, lens):
    owner = np.repeat(np.arange(len(lens)), lens)
    return owner, np.concatenate([np.arange(one) for one in lens])


def selected(call, backward=False):
    dtype = call.choose(HALF)
    heads, shared, size, count = call.choose((1, 2)), call.choose((1, 2)), 16, call.between(1, 3)
    key_heads = heads
    heads *= shared
    lens, key_lens = [call.between(1, 3), call.between(1, 4)], [16 * call.between(1, 3), 16 * call.between(1, 4)]
    width = call.choose((4, 8))
    values = call.choose((4, width))
    tokens, keys = sum(lens), sum(key_lens)
    q, k, v = some(call, dtype, tokens, heads, width), some(call, dtype, keys, key_heads, width), some(call, dtype, keys, key_heads, values)
    owner, position = sequences(call, lens)
    starts = [0, key_lens[0]]
    indices = np.stack([np.stack([chosen_blocks(call, key_lens[owner[t]] // size, count) for _ in range(key_heads)]) for t in range(tokens)])
    mode = call.choose((None, 0, 2))
    mask = np.zeros((max(lens), max(key_lens)), bool)
    if mode == 0:
        mask = call.some("bool", mask.shape).copy()
        mask[:, ::3] = False
    scale = 0.4

    def allowed(t, head):
        own = [one for block in indices[t, head] if block >= 0 for one in range(block * size, block * size + size)]
        if mode == 0:
            own = [one for one in own if not mask[position[t], one]]
        if mode == 2:
            own = [one for one in own if one <= position[t]]
        return [starts[owner[t]] + one for one in own]

    upstream = some(call, dtype, tokens, heads, values) if backward else None
    out, most, total, _, by = attend(q, k, v, allowed, scale, upstream)
    for name, one in (("query", q), ("key", k), ("value", v)):
        call.tensor(name, dtype, values=one)
    call.tensor("topkIndices", "int32", values=indices)
    if mode is not None:
        call.tensor("attenMaskOptional", "bool", values=mask)
    for name, value in (("actualSeqQLenOptional", np.cumsum(lens).tolist()), ("actualSeqKvLenOptional", np.cumsum(key_lens).tolist()), ("scaleValue", scale), ("headNum", heads), ("inputLayout", "TND"),
                        ("sparseMode", mode or 0), ("selectedBlockSize", size), ("selectedBlockCount", count)):
        call.set(name, value)
    if not backward:
        call.out("softmaxMaxOut", "float32", eight(most), near(8, 0, 1e-5 * (1 + np.abs(eight(most))))), call.out("softmaxSumOut", "float32", eight(total), near(16, 1e-4))
        return call.out("attentionOut", dtype, out, close(dtype, 1 + np.abs(v).max()))
    call.tensor("attentionOut", dtype, values=out), call.tensor("attentionOutGrad", dtype, values=upstream)
    call.tensor("softmaxMax", "float32", values=eight(most)), call.tensor("softmaxSum", "float32", values=eight(total))
    for name, one in zip(("dqOut", "dkOut", "dvOut"), by):
        call.out(name, dtype, one, close(dtype, 1 + np.abs(one).max() + np.abs(v).max() * np.abs(upstream).max() * 0.5, 2))


def in_pages(call):
    dtype = call.choose(HALF)
    key_heads, shared, page, size, count = call.choose((1, 2)), call.choose((1, 2)), 64, 16, call.between(1, 3)
    heads = key_heads * shared
    layout = call.choose(("BSND", "TND", "BSH"))
    lens, key_lens = ([1, 2] if layout == "TND" else [1, 1]), [call.between(49, 130), call.between(49, 150)]
    width, pages, columns = call.choose((4, 8)), 7, 3
    values = call.choose((4, width))
    tokens = sum(lens)
    table = np.argsort(call.some("float32", (pages,), "normal", False), kind="stable")[: 2 * columns].reshape(2, columns)
    q, k, v = some(call, dtype, tokens, heads, width), some(call, dtype, pages, page, key_heads, width), some(call, dtype, pages, page, key_heads, values)
    owner, _ = sequences(call, lens)
    indices = np.stack([np.stack([np.argsort(call.some("float32", (-(-key_lens[owner[t]] // size),), "normal", False), kind="stable")[:count] for _ in range(key_heads)]) for t in range(tokens)])

    def allowed(t, head):
        own = [one for block in indices[t, head] for one in range(block * size, min(block * size + size, key_lens[owner[t]]))]
        return [int(table[owner[t], one // page]) * page + one % page for one in own]

    out = attend(q, k.reshape(-1, key_heads, width), v.reshape(-1, key_heads, values), allowed, 0.4)[0]
    flat, outer = layout == "BSH", () if layout == "TND" else (2, 1)
    shaped = lambda x: (x.reshape(*outer, -1) if flat else x.reshape(*outer, *x.shape[1:])) if outer else x  # noqa: E731
    call.tensor("query", dtype, values=shaped(q)), call.tensor("key", dtype, values=k.reshape(pages, page, -1) if flat else k), call.tensor("value", dtype, values=v.reshape(pages, page, -1) if flat else v)
    call.tensor("topkIndices", "int32", values=indices.reshape(2, 1, key_heads, count) if flat else shaped(indices)), call.tensor("blockTableOptional", "int32", values=table)
    if layout == "TND":
        call.set("actualQSeqLenOptional", lens)
    for name, value in (("actualKvSeqLenOptional", key_lens), ("layoutOptional", layout), ("numHeads", heads), ("numKeyValueHeads", key_heads), ("selectBlockSize", size), ("selectBlockCount", count),
                        ("pageBlockSize", page), ("scaleValue", 0.4), ("sparseMode", 0)):
        call.set(name, value)
    call.out("output", dtype, shaped(out), close(dtype, 1 + np.abs(v).max()))


def choosing(call):
    """Attention over compressed keys, whose shares choose blocks."""
    dtype = call.choose(HALF)
    key_heads, shared = call.choose((1, 2)), call.choose((1, 2))
    heads = key_heads * shared
    lens, key_lens = [call.between(1, 3), call.between(1, 4)], [call.between(5, 9), call.between(5, 13)]
    window, stride, block, count = 32, 16, 64, 2
    per_block, per_window = block // stride, window // stride
    tokens, width = sum(lens), call.choose((4, 8))
    q, k, v = some(call, dtype, tokens, heads, width), some(call, dtype, sum(key_lens), key_heads, width), some(call, dtype, sum(key_lens), key_heads, width)
    owner, position = sequences(call, lens)
    starts, blocks = [0, key_lens[0]], [-(-one // per_block) for one in key_lens]
    masked = call.chance(50)
    mask = call.some("bool", (max(lens), max(key_lens))).copy()
    mask[:, ::4] = False

    def allowed(t, head):
        return [starts[owner[t]] + one for one in range(key_lens[owner[t]]) if not masked or not mask[position[t], one]]

    out, most, total, shares, _ = attend(q, k, v, allowed, 0.3)
    indices, importance = np.full((tokens, key_heads, count), -1), {}
    for t in range(tokens):
        for head in range(key_heads):
            sums = np.zeros(blocks[owner[t]])
            for own in range(head * shared, (head + 1) * shared):
                keys, share = shares[t, own]
                by_key = {key - starts[owner[t]]: part for key, part in zip(keys, share)}
                for j in range(len(sums)):
                    sums[j] += sum(by_key.get(per_block * j - m - n, 0.0) for m in range(per_block) for n in range(per_window))
            importance[t, head] = sums
            order = sorted(range(len(sums)), key=lambda j: (-sums[j], j))[:count]
            indices[t, head, : len(order)] = order

    def names(found, wanted):
        for t in range(tokens):
            for head in range(key_heads):
                sums, own = importance[t, head], found[t, head]
                if ((own >= len(sums)) | (own < -1)).any() or len(set(own[own >= 0])) != (wanted[t, head] >= 0).sum():
                    return f"token {t} chooses {own.tolist()}"
                chosen = np.sort(sums[own[own >= 0]])[::-1]
                if np.abs(chosen - np.sort(sums[wanted[t, head][wanted[t, head] >= 0]])[::-1]).max(initial=0) > 1e-3:
                    return f"token {t} chooses {own.tolist()}, whose shares are {chosen}, and not {wanted[t, head].tolist()}"
        return None

    for name, one in (("query", q), ("key", k), ("value", v)):
        call.tensor(name, dtype, values=one)
    if masked:
        call.tensor("attenMaskOptional", "bool", values=mask), call.tensor("topkMaskOptional", "bool", values=np.zeros((max(lens), max(blocks)), bool))
    for name, value in (("actualSeqQLenOptional", np.cumsum(lens).tolist()), ("actualCmpSeqKvLenOptional", np.cumsum(key_lens).tolist()), ("actualSelSeqKvLenOptional", np.cumsum(blocks).tolist()),
                        ("scaleValue", 0.3), ("headNum", heads), ("inputLayout", "TND"), ("sparseMode", int(masked)), ("compressBlockSize", window), ("compressStride", stride), ("selectBlockSize", block),
                        ("selectBlockCount", count)):
        call.set(name, value)
    call.out("softmaxMaxOut", "float32", eight(most), near(8, 0, 1e-5 * (1 + np.abs(eight(most))))), call.out("softmaxSumOut", "float32", eight(total), near(16, 1e-4))
    call.out("attentionOutOut", dtype, out, close(dtype, 1 + np.abs(v).max())), call.out("topkIndicesOut", "int32", indices, names)


def into_cache(call):
    """The last window of each sequence that has just filled one."""
    dtype = call.choose(HALF)
    size, stride = call.choose(((32, 16), (16, 16), (32, 32), (48, 16)))
    paged = call.chance(50)
    batch, heads, width, page, columns, rows = call.between(1, 3), call.between(1, 2), call.choose((2, 8)), 64, 3, 6
    lens = [call.choose((0, 9, size, size + stride, size + 2 * stride, size + 7)) for _ in range(batch)]
    if not sum(lens):
        lens[0] = size
    table = np.argsort(call.some("float32", (batch * columns,), "normal", False), kind="stable").reshape(batch, columns)
    slots = np.argsort(call.some("float32", (rows,), "normal", False), kind="stable")[:batch]
    x = some(call, dtype, *((batch * columns, page) if paged else (sum(lens),)), heads, width)
    w = 0.25 * some(call, dtype, size, heads)
    call.tensor("input", dtype, values=x)
    w = wide(call.tensor("weight", dtype, values=w))
    call.tensor("slotMapping", "int32", values=slots)
    if paged:
        call.tensor("blockTableOptional", "int32", values=table)
    before = wide(call.tensor("outputCache", dtype, values=some(call, dtype, rows, heads, width)))
    after, scale = before.copy(), np.zeros(before.shape)
    for number, length in enumerate(lens):
        if length < size or (length - size) % stride:
            continue
        end = sum(lens[: number + 1])
        own = np.stack([x[table[number, at // page], at % page] for at in range(length - size, length)]) if paged else x[end - size:end]
        after[slots[number]], scale[slots[number]] = (own * w[..., None]).sum(0), (np.abs(own) * np.abs(w)[..., None]).sum(0)
    for name, value in (("actSeqLenOptional", lens), ("layoutOptional", "TND"), ("compressBlockSize", size), ("compressStride", stride), ("actSeqLenType", 1), ("pageBlockSize", page)):
        call.set(name, value)
    call.update("outputCache", after, near(4, 0, (1e-5 + 2 * low(dtype)) * scale))


def rounded(values):
    """Values as bfloat16 holds them."""
    return wide(np.asarray(values).astype(NUMPY["bfloat16"]))


def latent(call, version):
    """Queries and keys of latent attention; the keys are written into a cache."""
    heads, width, rope, hidden, rank, size, page = call.between(1, 2), 4, 8, call.choose((8, 10)), call.choose((8, 16)), 16, 4
    tokens = call.between(1, 5)
    dtype = "bfloat16"
    tensor = lambda name, *shape: wide(call.tensor(name, dtype, values=0.5 * some(call, dtype, *shape), plain=True))  # noqa: E731
    x, down, across = tensor("tokenX", tokens, hidden), tensor("weightDq", hidden, rank), tensor("weightUqQr", rank, heads * (width + rope))
    up, keys = tensor("weightUk", heads, width, size), tensor("weightDkvKr", hidden, size + rope)
    gamma, key_gamma = tensor("rmsnormGammaCq", rank), tensor("rmsnormGammaCkv", size)
    angles = np.abs(some(call, "float32", tokens, rope)) * 2
    sin, cos = wide(call.tensor("ropeSin", dtype, values=np.sin(angles), plain=True)), wide(call.tensor("ropeCos", dtype, values=np.cos(angles), plain=True))
    at = np.argsort(call.some("float32", (3 * page,), "normal", False), kind="stable")[:tokens]
    norm = lambda v, g, e: g * v / np.sqrt((v * v).mean(-1, keepdims=True) + e)  # noqa: E731

    def turned(v, cos, sin):
        v = np.concatenate([v[..., ::2], v[..., 1::2]], -1)
        one, two = np.split(v, 2, -1)
        return v * cos + np.concatenate([-two, one], -1) * sin

    # Values are rounded between the products.
    held = rounded(norm(x @ down, gamma, 1e-5))
    queries = (held @ across).reshape(tokens, heads, width + rope)
    plain = rounded(queries[..., :width])
    q, q_rope = np.einsum("thd,hdl->thl", plain, up), turned(queries[..., width:], cos[:, None], sin[:, None])
    pair = x @ keys
    rows = norm(pair[:, :size], key_gamma, 1e-6), turned(pair[:, size:], cos, sin)
    blur = lambda v, more=1.0: near(8, 0, 0.04 * (np.abs(v) + more * np.abs(v).max() + 0.05))  # noqa: E731
    for name, values, n in (("kvCacheRef", rows[0], size), ("krCacheRef", rows[1], rope)):
        before = wide(call.tensor(name, dtype, values=some(call, dtype, 3, page, 1, n), plain=True))
        after = before.copy().reshape(-1, n)
        after[at] = values
        after = after.reshape(before.shape)
        kept = np.ones(3 * page, bool)
        kept[at] = False
        kept = np.broadcast_to(kept.reshape(3, page, 1, 1), after.shape)
        check = near(8, 0, np.where(kept, 0, 0.02 * (np.abs(after) + 0.3 * np.abs(values).max())))
        call.update(name, after, check)
    call.tensor("cacheIndex" if version == 2 else "cacheIndexOptional", "int64", values=at, plain=True)
    for name, value in (("rmsnormEpsilonCq", 1e-5), ("rmsnormEpsilonCkv", 1e-6), ("cacheModeOptional", "PA_BSND")):
        call.set(name, value)
    if version > 2:
        for name, value in (("queryNormFlag", True), ("weightQuantMode", 0), ("kvCacheQuantMode", 0), ("queryQuantMode", 0), ("ckvkrRepoMode", 0), ("quantScaleRepoMode", 0), ("tileSize", 0),
                            ("kNopeClipAlpha", 1.0), ("qcQrScale", 1.0), ("kcScale", 1.0)):
            call.set(name, value)
        call.out("queryNormOutOptional", dtype, held, blur(held, 0.02), plain=True)
    call.out("queryOut", dtype, q, blur(q, 0.3), plain=True), call.out("queryRopeOut", dtype, q_rope, blur(q_rope, 0.3), plain=True)


SPARSE = Family("sparse and latent attention", "ops/sparse")
SPARSE.add("NsaSelectedAttention", selected)
SPARSE.add("NsaSelectedAttentionGrad", selected, backward=True)
SPARSE.add("NsaSelectedAttentionInfer", in_pages)
SPARSE.add("NsaCompressAttention", choosing)
SPARSE.add("NsaCompressWithCache", into_cache)
SPARSE.add("MlaPrologV2WeightNz", latent, version=2)
SPARSE.add("MlaPrologV3WeightNz", latent, version=3)

FAMILIES = [SPARSE]
