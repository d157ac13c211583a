"""Makes attention.txt: `python attention.py` in an environment with PyTorch. Expected values are float64, rounded once."""

import torch

from cases import Cases, Null, Out

torch.manual_seed(30)
cases = Cases("attention")
f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
i32, u8, boolean = torch.int32, torch.uint8, torch.bool
FLOATS = [f32, f16, bf16]


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def attention(q, k, v, scale, addend=None, mask=None, before=True, zero=False, extra=0):
    """Queries, keys and values as batch, heads, length, width. Returns the result, the largest score and the sum."""
    shared = q.shape[1] // k.shape[1]
    k, v = (view.double().repeat_interleave(shared, 1) for view in (k, v))
    scores = q.double() @ k.transpose(-1, -2) + extra
    if addend is not None:
        scores = (scores + addend.double()) * scale if before else scores * scale + addend.double()
    else:
        scores = scores * scale
    if mask is not None:
        scores = scores.masked_fill(mask.bool(), -1e30)
    largest = scores.amax(-1, keepdim=True)
    powers = (scores - largest).exp()
    total = powers.sum(-1, keepdim=True)
    y = powers / total @ v
    if zero:
        y = y.masked_fill(largest <= -1e30, 0.0)
    return y, largest, total


def arranged(x, layout):
    """From batch, heads, length, width."""
    if layout == "BNSD":
        return x.contiguous()
    if layout == "BSND":
        return x.transpose(1, 2).contiguous()
    if layout == "BSH":
        return x.transpose(1, 2).flatten(2)
    if layout == "SBH":
        return x.permute(2, 0, 1, 3).flatten(2)
    return x[0].transpose(0, 1).contiguous() if layout == "TND" else x[0].contiguous()


def copies(x):
    return x.expand(*x.shape[:-1], 8).float().contiguous()


def band(rows, columns, low, high, shift):
    """True where a column may not be seen."""
    distance = torch.arange(columns) - torch.arange(rows)[:, None] - shift
    return (distance < -low) | (distance > high)


WITHIN = {f32: 2e-5, f16: 4e-3, bf16: 3e-2}
EMPTY = torch.zeros(0)
TRAIN = dict(dropMaskOptional=Null, paddingMaskOptional=Null, prefixOptional=Null, keepProb=1.0, innerPrecise=0)
FREE = dict(preTokens=2147483647, nextTokens=2147483647)

# For training. Lengths beyond a tile of 64 rows and 128 columns occur, with few heads.
for dtype in FLOATS:
    for layout, batch, heads, kv, rows, columns, width, mode, kind in [
        ("BNSD", 2, 2, 2, 3, 5, 4, None, 1), ("BSND", 1, 4, 2, 5, 5, 3, 2, 0), ("BSH", 2, 2, 1, 4, 6, 2, 3, 0), ("SBH", 1, 3, 3, 2, 4, 5, 0, 1),
        ("BNSD", 1, 2, 1, 3, 4, 33, 1, 1), ("BNSD", 1, 1, 1, 6, 7, 2, 4, 0), ("BSH", 1, 2, 1, 70, 130, 1, 3, 1),
    ]:
        if dtype != f32 and rows > 60:
            continue
        q, k, v = noise(batch, heads, rows, width, dtype=dtype), noise(batch, kv, columns, width, dtype=dtype), noise(batch, kv, columns, width, dtype=dtype)
        addend = noise(1, heads, rows, columns, dtype=dtype) if layout in ("BNSD", "BSND") else None
        mask, passed, tokens = None, Null, FREE
        if mode in (0, 1):
            mask = torch.rand(batch, 1, rows, columns) > 0.6
            mask[..., 0] = False
            passed = mask.to(u8) if mode else mask
        elif mode is not None:
            tokens = dict(preTokens=1, nextTokens=1)
            shift = 0 if mode == 2 else columns - rows
            low, high = (1, 1) if mode == 4 else (10**9, 0)
            mask, passed = band(rows, columns, low, high, shift), torch.ones(4, 4, dtype=boolean)
        y, largest, total = attention(q, k, v, 0.5, addend, mask, kind == 1)
        given = dict(
            query=arranged(q, layout), key=arranged(k, layout), value=arranged(v, layout), realShiftOptional=Null if addend is None else addend,
            attenMaskOptional=passed, scaleValue=0.5, headNum=heads, inputLayout=layout, sparseMode=mode or 0, softmaxOutOut=Null,
            softmaxMaxOut=Out(copies(largest)), softmaxSumOut=Out(copies(total)), attentionOutOut=Out(arranged(y, layout).to(dtype)),
            within=WITHIN[dtype], **TRAIN, **tokens,
        )
        if kind == 1:
            cases.add("aclnnFlashAttentionScore", **given)
        cases.add("aclnnFlashAttentionScoreV2", qStartIdxOptional=Null, kvStartIdxOptional=Null, pseType=kind, **given)
    # Sequences behind each other.
    q, k, v = noise(7, 4, 4, dtype=dtype), noise(9, 2, 4, dtype=dtype), noise(9, 2, 4, dtype=dtype)
    ends, key_ends, parts = [3, 3, 7], [2, 4, 9], []
    for (first, last), (start, stop) in zip([(0, 3), (3, 3), (3, 7)], [(0, 2), (2, 4), (4, 9)]):
        one = lambda x, low, high: x[low:high].transpose(0, 1).unsqueeze(0)
        mask = band(last - first, stop - start, 10**9, 0, stop - start - last + first)
        parts.append(attention(one(q, first, last), one(k, start, stop), one(v, start, stop), 0.5, None, mask))
    y, largest, total = (torch.cat([part[index][0].transpose(0, 1) for part in parts]) for index in range(3))
    cases.add(
        "aclnnFlashAttentionVarLenScore", query=q, key=k, value=v, realShiftOptional=Null, attenMaskOptional=torch.ones(4, 4, dtype=boolean),
        actualSeqQLenOptional=ends, actualSeqKvLenOptional=key_ends, scaleValue=0.5, headNum=4, inputLayout="TND", sparseMode=3, softmaxOutOut=Null,
        softmaxMaxOut=Out(copies(largest)), softmaxSumOut=Out(copies(total)), attentionOutOut=Out(y.to(dtype)), within=WITHIN[dtype], **TRAIN, **FREE,
    )
q = noise(1, 2, 3, 4)
given = dict(
    query=q, key=q, value=q, realShiftOptional=Null, attenMaskOptional=Null, scaleValue=0.5, headNum=2, inputLayout="BNSD", sparseMode=0,
    softmaxOutOut=Null, softmaxMaxOut=Null, softmaxSumOut=Null, attentionOutOut=Out(q, False), qStartIdxOptional=Null, kvStartIdxOptional=Null,
    pseType=1, **TRAIN, **FREE,
)
for change, status, text in [
    ({"pseType": 3}, 561003, "pseType 3"), ({"pseType": 9}, 161002, "pseType is 9"), ({"sparseMode": 6}, 561003, "sparseMode 6"),
    ({"key": q.half()}, 161002, "key has the type float16"), ({"realShiftOptional": noise(1, 2, 2, 3)}, 561003, "realShiftOptional"),
    ({"realShiftOptional": noise(1, 3, 3, 3)}, 161002, "realShiftOptional has the shape"), ({"prefixOptional": [1]}, 561003, "prefixOptional"),
    ({"key": noise(2, 2, 3, 4), "value": noise(2, 2, 3, 4)}, 161002, "batch of 2"), ({"value": noise(1, 2, 4, 4)}, 161002, "lengths of the keys"),
    ({"softmaxSumOut": Out(noise(1, 2, 2, 8), False)}, 161002, "softmaxSumOut has the shape"), ({"query": q.double(), "key": q.double()}, 161002, "query has the type"),
]:
    cases.add("aclnnFlashAttentionScoreV2", refuse=(status, text), **{**given, **change})
q = noise(4, 2, 4)
given = dict(
    query=q, key=q, value=q, realShiftOptional=Null, attenMaskOptional=Null, actualSeqQLenOptional=[4], actualSeqKvLenOptional=[4], scaleValue=0.5,
    headNum=2, inputLayout="TND", sparseMode=0, softmaxOutOut=Null, softmaxMaxOut=Null, softmaxSumOut=Null, attentionOutOut=Out(q, False), **TRAIN, **FREE,
)
for change, status, text in [
    ({"actualSeqQLenOptional": [3, 2]}, 161002, "actualSeqQLenOptional has 2 entries"), ({"actualSeqQLenOptional": [5]}, 161002, "ends of sequences"),
    ({"actualSeqKvLenOptional": [-1]}, 161002, "ends of sequences"), ({"inputLayout": "BSH"}, 561003, "BSH"),
]:
    cases.add("aclnnFlashAttentionVarLenScore", refuse=(status, text), **{**given, **change})

# For inference.
ABSENT = {
    name: Null
    for name in ["deqScale1", "quantScale1", "deqScale2", "quantScale2", "quantOffset2", "antiquantScale", "antiquantOffset", "queryPaddingSize", "kvPaddingSize"]
}
QUANT = {name: Null for name in ["deqScale1", "quantScale1", "deqScale2", "quantScale2", "quantOffset2"]}
INCRE = {
    name: Null
    for name in ["dequantScale1", "quantScale1", "dequantScale2", "quantScale2", "quantOffset2", "antiquantScale", "antiquantOffset", "kvPaddingSize"]
}
V2 = {name + "Optional": Null for name in ABSENT} | {
    name + "Optional": Null
    for name in ["keyAntiquantScale", "keyAntiquantOffset", "valueAntiquantScale", "valueAntiquantOffset", "keySharedPrefix", "valueSharedPrefix", "actualSharedPrefixLen"]
}
V4 = V2 | {name + "Optional": Null for name in ["queryRope", "keyRope", "keyRopeAntiquantScale", "dequantScaleQuery", "learnableSink"]}
V3 = V2 | {name + "Optional": Null for name in ["queryRope", "keyRope", "keyRopeAntiquantScale"]}


def seen(y, lengths):
    """Rows behind the end of a sequence are zeros."""
    for index, length in enumerate(lengths):
        y[index, :, length:] = 0
    return y


for dtype in [f16, bf16, f32]:
    # A prompt with lengths of its own for each entry of the batch.
    q, k, v = noise(2, 4, 5, 4, dtype=dtype), noise(2, 2, 6, 4, dtype=dtype), noise(2, 2, 6, 4, dtype=dtype)
    lengths, key_lengths = [5, 3], [6, 4]
    for mode in [0, 2, 3]:
        parts = []
        for index in range(2):
            rows, columns = lengths[index], key_lengths[index]
            mask = None if mode == 0 else band(rows, columns, 10**9, 0, 0 if mode == 2 else columns - rows)
            y, largest, total = attention(q[index : index + 1, :, :rows], k[index : index + 1, :, :columns], v[index : index + 1, :, :columns], 0.5, None, mask)
            full, log = torch.zeros(1, 4, 5, 4, dtype=torch.float64), torch.zeros(1, 4, 5, 1)
            full[:, :, :rows], log[:, :, :rows] = y, (largest + total.log()).float()
            parts.append((full, log))
        y, log = torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])
        for layout in ["BNSD", "BSH", "BSND"]:
            passed = Null if mode == 0 else torch.ones(4, 4, dtype=boolean)
            common = dict(
                query=arranged(q, layout), numHeads=4, numKeyValueHeads=2, scaleValue=0.5, inputLayout=layout, attentionOut=Out(arranged(y, layout).to(dtype)),
                within=WITHIN[dtype], **FREE,
            )
            cases.add(
                "aclnnPromptFlashAttentionV3", key=arranged(k, layout), value=arranged(v, layout), pseShift=Null, attenMask=passed,
                actualSeqLengths=lengths, actualSeqLengthsKv=key_lengths, sparseMode=mode, innerPrecise=1, **QUANT, **common,
            )
            if layout != "BNSD":
                continue
            lists = dict(key=[k], value=[v], sparseMode=mode, innerPrecise=0, blockSize=0, antiquantMode=0, softmaxLseFlag=True, softmaxLse=Out(log))
            cases.add(
                "aclnnFusedInferAttentionScore", pseShift=Null, attenMask=passed, actualSeqLengths=lengths, actualSeqLengthsKv=key_lengths,
                blockTable=Null, **ABSENT, **lists, **common,
            )
            newer = dict(
                pseShiftOptional=Null, attenMaskOptional=passed, actualSeqLengthsOptional=lengths, actualSeqLengthsKvOptional=key_lengths,
                blockTableOptional=Null, keyAntiquantMode=0, valueAntiquantMode=0,
            )
            cases.add("aclnnFusedInferAttentionScoreV2", **V2, **newer, **lists, **common)
            cases.add("aclnnFusedInferAttentionScoreV4", queryQuantMode=0, **V4, **newer, **lists, **common)
    # One new token over a list of keys, with an addend, as ggml passes it.
    q, k, v = noise(2, 4, 1, 4, dtype=dtype), noise(2, 2, 6, 4, dtype=dtype), noise(2, 2, 6, 4, dtype=dtype)
    addend = noise(2, 1, 1, 6, dtype=dtype)
    y, largest, total = attention(q, k, v, 0.25, addend, None, False)
    newer = dict(
        pseShiftOptional=addend, attenMaskOptional=Null, actualSeqLengthsOptional=Null, actualSeqLengthsKvOptional=Null, blockTableOptional=Null,
        keyAntiquantMode=0, valueAntiquantMode=0, numHeads=4, numKeyValueHeads=2, scaleValue=0.25, preTokens=65535, nextTokens=65535, inputLayout="BSND",
        sparseMode=0, innerPrecise=0, blockSize=0, antiquantMode=0, softmaxLseFlag=False, softmaxLse=Null, within=WITHIN[dtype],
    )
    turned = lambda x: arranged(x, "BSND")
    cases.add(
        "aclnnFusedInferAttentionScoreV2", query=turned(q), key=[turned(k)], value=[turned(v)], attentionOut=Out(turned(y).to(dtype)), **V2, **newer
    )
    cases.add(
        "aclnnFusedInferAttentionScoreV2", query=turned(q), key=[turned(k[:1]), turned(k[1:])], value=[turned(v[:1]), turned(v[1:])],
        attentionOut=Out(turned(y).to(dtype)), **V2, **newer,
    )
    # A cache in pages, in both orders of its dimensions.
    pages, size, lengths = noise(5, 2, 4, 4, dtype=dtype), 4, [7, 2]
    values = noise(5, 2, 4, 4, dtype=dtype)
    table = torch.tensor([[3, 0], [4, 4]], dtype=i32)
    parts = []
    for index, length in enumerate(lengths):
        line = lambda cache: torch.cat([cache[page] for page in table[index]], 1)[:, :length].unsqueeze(0)
        parts.append(attention(q[index : index + 1], line(pages), line(values), 0.25)[0])
    y = torch.cat(parts)
    joined = lambda x: x.transpose(1, 2).flatten(2)
    for cache, other in [(pages, values), (joined(pages), joined(values))]:
        cases.add(
            "aclnnIncreFlashAttentionV4", query=arranged(q, "BSH"), key=[cache], value=[other], pseShift=Null, attenMask=Null, actualSeqLengths=lengths,
            blocktable=table, numHeads=4, scaleValue=0.25, inputLayout="BSH", numKeyValueHeads=2, blockSize=size, innerPrecise=0,
            attentionOut=Out(arranged(y, "BSH").to(dtype)), within=WITHIN[dtype], **INCRE,
        )
    # Sequences behind each other over pages, with parts of queries and keys for positions in a second call.
    q = noise(3, 4, 4, dtype=dtype)
    mask = band(2, 7, 10**9, 0, 5)
    first = attention(q[:2].transpose(0, 1).unsqueeze(0), torch.cat([pages[3], pages[0]], 1)[:, :7].unsqueeze(0), torch.cat([values[3], values[0]], 1)[:, :7].unsqueeze(0), 0.25, None, mask)
    last = attention(q[2:].transpose(0, 1).unsqueeze(0), pages[4][:, :2].unsqueeze(0), values[4][:, :2].unsqueeze(0), 0.25)
    y = torch.cat([part[0][0].transpose(0, 1) for part in (first, last)])
    newer |= dict(
        pseShiftOptional=Null, attenMaskOptional=torch.ones(4, 4, dtype=boolean), actualSeqLengthsOptional=[2, 3], actualSeqLengthsKvOptional=lengths,
        blockTableOptional=table, inputLayout="TND", sparseMode=3, blockSize=size,
    )
    cases.add("aclnnFusedInferAttentionScoreV3", query=q, key=[pages], value=[values], attentionOut=Out(y.to(dtype)), **V3, **newer)
    q, k, v = noise(1, 2, 3, 4, dtype=dtype), noise(1, 1, 3, 4, dtype=dtype), noise(1, 1, 3, 4, dtype=dtype)
    q_rope, k_rope = noise(1, 2, 3, 2, dtype=dtype), noise(1, 1, 3, 2, dtype=dtype)
    y, _, _ = attention(q, k, v, 0.5, extra=q_rope.double() @ k_rope.double().transpose(-1, -2))
    newer |= dict(
        attenMaskOptional=Null, actualSeqLengthsOptional=Null, actualSeqLengthsKvOptional=Null, blockTableOptional=Null, inputLayout="BNSD_BSND", sparseMode=0,
        blockSize=0, numHeads=2, numKeyValueHeads=1, scaleValue=0.5,
    )
    ropes = dict(queryRopeOptional=q_rope, keyRopeOptional=k_rope)
    cases.add("aclnnFusedInferAttentionScoreV3", query=q, key=[k], value=[v], attentionOut=Out(arranged(y, "BSND").to(dtype)), **{**V3, **newer, **ropes})
    # One of the two parts of positions alone has no meaning.
    given = dict(query=q, key=[k], value=[v], attentionOut=Out(arranged(y, "BSND").to(dtype), False), **newer)
    for operator, more in [("aclnnFusedInferAttentionScoreV3", V3), ("aclnnFusedInferAttentionScoreV4", dict(V4, queryQuantMode=0))]:
        for one, other in [("queryRopeOptional", "keyRopeOptional"), ("keyRopeOptional", "queryRopeOptional")]:
            for absent in [Null, torch.zeros(0, dtype=dtype)]:
                text = f"{one} is a tensor and {other} is null or empty"
                cases.add(operator, refuse=(161002, text), **{**more, **given, one: ropes[one], other: absent})

# Rows that see nothing: the mean of all values, or zeros where the precision asks for it.
q, k, v = noise(1, 1, 3, 2, dtype=f16), noise(1, 1, 4, 2, dtype=f16), noise(1, 1, 4, 2, dtype=f16)
mask = torch.tensor([[1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]], dtype=boolean)
for precise in [1, 3]:
    y, _, _ = attention(q, k, v, 0.5, None, mask, zero=precise == 3)
    cases.add(
        "aclnnPromptFlashAttentionV3", query=q, key=k, value=v, pseShift=Null, attenMask=mask, actualSeqLengths=Null, actualSeqLengthsKv=Null, numHeads=1,
        numKeyValueHeads=0, scaleValue=0.5, inputLayout="BNSD", sparseMode=1, innerPrecise=precise, attentionOut=Out(y.half()), within=4e-3, **QUANT, **FREE,
    )
# No keys: zeros.
empty = torch.zeros(1, 1, 0, 2, dtype=f16)
given = dict(
    query=q, key=k, value=v, pseShift=Null, attenMask=Null, actualSeqLengths=Null, actualSeqLengthsKv=Null, numHeads=1, numKeyValueHeads=0, scaleValue=0.5,
    inputLayout="BNSD", sparseMode=0, innerPrecise=0, attentionOut=Out(q, False), **QUANT, **FREE,
)
cases.add("aclnnPromptFlashAttentionV3", **{**given, "key": empty, "value": empty, "attentionOut": Out(torch.zeros_like(q))})
for change, status, text in [
    ({"inputLayout": "XYZ"}, 161002, "inputLayout"), ({"numHeads": 0}, 161002, "numHeads"), ({"numHeads": 3, "numKeyValueHeads": 2}, 161002, "cannot share"),
    ({"quantScale1": torch.ones(1)}, 561003, "quantScale1"), ({"actualSeqLengthsKv": [5]}, 161002, "actualSeqLengthsKv has the entry 5"),
    ({"actualSeqLengths": [1, 2, 3], "query": noise(2, 1, 3, 2, dtype=f16)}, 161002, ""), ({"key": k.float()}, 161002, "key has the type"),
    ({"attenMask": torch.ones(2, 4, dtype=boolean), "sparseMode": 1}, 161002, "attenMask has the shape"), ({"attentionOut": Out(k, False)}, 161002, "attentionOut has the shape"),
    ({"query": Null}, 161001, "query"), ({"value": noise(1, 1, 3, 2, dtype=f16)}, 161002, "lengths of the keys"),
]:
    cases.add("aclnnPromptFlashAttentionV3", refuse=(status, text), **{**given, **change})
pages, table = noise(3, 1, 4, 2, dtype=f16), torch.tensor([[0, 9]], dtype=i32)
q = noise(1, 1, 2, dtype=f16)
given = dict(
    query=q, key=[pages], value=[pages], pseShift=Null, attenMask=Null, actualSeqLengths=[3], blocktable=table, numHeads=1, scaleValue=0.5,
    inputLayout="BSH", numKeyValueHeads=1, blockSize=4, innerPrecise=0, attentionOut=Out(q, False), **INCRE,
)
for change, status, text in [
    ({"blockSize": 3}, 161002, "pages of 3 rows"), ({"blockSize": 0}, 161002, "blockSize is 0"), ({"actualSeqLengths": Null}, 161002, "lengths"),
    ({"actualSeqLengths": [9]}, 161002, "actualSeqLengths has the entry 9"), ({"blocktable": table[0]}, 161002, "blocktable has the shape"),
    ({"key": [pages, pages], "value": [pages, pages]}, 161002, "key has 2 tensors"),
]:
    cases.add("aclnnIncreFlashAttentionV4", refuse=(status, text), **{**given, **change})

# The order of results that latent attention asks for: heads in front of the batch.
for dtype in [f16, bf16]:
    q, k, v = noise(2, 4, 3, 8, dtype=dtype), noise(2, 2, 5, 8, dtype=dtype), noise(2, 2, 5, 8, dtype=dtype)
    y, _, _ = attention(q, k, v, 0.25)
    newer = dict(
        pseShiftOptional=Null, attenMaskOptional=Null, actualSeqLengthsOptional=Null, actualSeqLengthsKvOptional=Null, blockTableOptional=Null, sparseMode=0,
        blockSize=0, numHeads=4, numKeyValueHeads=2, scaleValue=0.25, innerPrecise=0, queryQuantMode=0, preTokens=65535, nextTokens=65535, antiquantMode=0,
        keyAntiquantMode=0, valueAntiquantMode=0, softmaxLseFlag=False, softmaxLse=Null,
    )
    given = {**V4, **newer, "query": q, "key": [k], "value": [v], "within": WITHIN[dtype]}
    cases.add("aclnnFusedInferAttentionScoreV4", inputLayout="BNSD_NBSD", attentionOut=Out(y.transpose(0, 1).contiguous().to(dtype)), **given)
    # The cache in pages, with the parts of keys for positions in pages beside it.
    size, counts = 4, [7, 2]
    pages, ropes, table = noise(5, 1, size, 8, dtype=dtype), noise(5, 1, size, 2, dtype=dtype), torch.tensor([[3, 0], [4, 4]], dtype=i32)
    q, q_rope = noise(2, 4, 1, 8, dtype=dtype), noise(2, 4, 1, 2, dtype=dtype)
    parts = []
    for index, count in enumerate(counts):
        line = lambda cache: torch.cat([cache[page] for page in table[index]], 1)[:, :count].unsqueeze(0)
        further = q_rope[index : index + 1].double() @ line(ropes).double().transpose(-1, -2)
        parts.append(attention(q[index : index + 1], line(pages), line(pages), 0.25, extra=further)[0])
    latent = {**given, "query": q, "key": [pages], "value": [pages], "numKeyValueHeads": 1, "blockTableOptional": table, "blockSize": size,
              "actualSeqLengthsKvOptional": counts, "queryRopeOptional": q_rope, "keyRopeOptional": ropes, "inputLayout": "BNSD_NBSD"}
    shown = torch.cat(parts).transpose(0, 1).contiguous().to(dtype)
    cases.add("aclnnFusedInferAttentionScoreV4", attentionOut=Out(shown), **latent)
    cases.add("aclnnFusedInferAttentionScoreV4", attentionOut=Out(shown, False), refuse=(161002, "keyRopeOptional has 4 pages"), **{**latent, "keyRopeOptional": ropes[:4].contiguous()})
    cases.add("aclnnFusedInferAttentionScoreV4", inputLayout="NBSD", attentionOut=Out(y.to(dtype), False), refuse=(161002, "inputLayout is"), **given)
cases.write()
