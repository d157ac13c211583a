"""Makes attention_backward.txt: `python attention_backward.py` in an environment with PyTorch. Expected values are float64, rounded once."""

import torch

from cases import Cases, Null, Out

torch.manual_seed(31)
cases = Cases("attention_backward")
f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
u8, boolean = torch.uint8, torch.bool
FLOATS = [f32, f16, bf16]


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def attention(q, k, v, scale, addend=None, mask=None, before=True):
    """Queries, keys and values as batch, heads, length, width. Returns the result, the largest score and the sum."""
    shared = q.shape[1] // k.shape[1]
    k, v = (view.double().repeat_interleave(shared, 1) for view in (k, v))
    scores = q.double() @ k.transpose(-1, -2)
    if addend is not None:
        scores = (scores + addend.double()) * scale if before else scores * scale + addend.double()
    else:
        scores = scores * scale
    if mask is not None:
        scores = scores.masked_fill(mask.bool(), -1e30)
    largest = scores.amax(-1, keepdim=True)
    powers = (scores - largest).exp()
    total = powers.sum(-1, keepdim=True)
    return powers / total @ v, largest, total


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

# The gradient. Expected values are PyTorch's derivatives in float64.
def gradients(q, k, v, gradient, *arguments):
    """Returns the result, the statistics, and the gradients of query, key, value and the addend."""
    leaves = [None if x is None else x.double().requires_grad_() for x in (q, k, v, arguments[1])]
    y, largest, total = attention(*leaves[:3], arguments[0], leaves[3], *arguments[2:])
    given = [leaf for leaf in leaves if leaf is not None]
    found = torch.autograd.grad(y, given, gradient.double())
    return y.detach(), largest.detach(), total.detach(), [*found, None][:4]


BACKWARD = dict(TRAIN, softmaxInOptional=Null)
for dtype in FLOATS:
    for layout, batch, heads, kv, rows, columns, width, mode, kind, stored in [
        ("BNSD", 2, 2, 2, 3, 5, 4, None, 1, True), ("BSND", 1, 4, 2, 5, 5, 3, 2, 0, True), ("BSH", 2, 2, 1, 4, 6, 2, 3, 0, False),
        ("SBH", 1, 3, 3, 2, 4, 5, 0, 1, True), ("BNSD", 1, 2, 1, 3, 4, 33, 1, 1, False), ("BNSD", 1, 1, 1, 6, 7, 2, 4, 0, True),
        # Rows that see nothing: their scores are a constant.
        ("BNSD", 1, 2, 2, 5, 3, 2, 3, 1, True), ("BNSD", 1, 2, 2, 5, 3, 2, 3, 1, False), ("BSH", 1, 2, 1, 35, 140, 1, 3, 1, True),
        ("BSH", 1, 2, 1, 35, 140, 1, None, 1, False),
    ]:
        if dtype != f32 and (rows > 30 or width > 5 or layout == "SBH"):
            continue
        value_width = width if rows > 30 else width + 1
        q, k, v = noise(batch, heads, rows, width, dtype=dtype), noise(batch, kv, columns, width, dtype=dtype), noise(batch, kv, columns, value_width, dtype=dtype)
        gradient = noise(batch, heads, rows, value_width, dtype=dtype)
        addend = noise(batch, heads, rows, columns, dtype=dtype) if layout in ("BNSD", "BSND") else None
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
        y, largest, total, (dq, dk, dv, dp) = gradients(q, k, v, gradient, 0.5, addend, mask, kind == 1)
        given = dict(
            query=arranged(q, layout), keyIn=arranged(k, layout), value=arranged(v, layout), dy=arranged(gradient, layout),
            pseShiftOptional=Null if addend is None else addend, attenMaskOptional=passed, softmaxMaxOptional=copies(largest) if stored else Null,
            softmaxSumOptional=copies(total) if stored else Null, attentionInOptional=arranged(y, layout).to(dtype) if stored else Null, scaleValue=0.5,
            headNum=heads, inputLayout=layout, sparseMode=mode or 0, dqOut=Out(arranged(dq, layout).to(dtype)), dkOut=Out(arranged(dk, layout).to(dtype)),
            dvOut=Out(arranged(dv, layout).to(dtype)), dpseOut=Null if dp is None else Out(dp.to(dtype)),
            within=5 * WITHIN[dtype] if rows > 30 else WITHIN[dtype], **BACKWARD, **tokens,
        )
        if kind == 1 and rows > 3:
            cases.add("aclnnFlashAttentionScoreGrad", **given)
        else:
            cases.add("aclnnFlashAttentionScoreGradV2", qStartIdxOptional=Null, kvStartIdxOptional=Null, pseType=kind, **given)
    # Values far from zero whose differences are small: the result, rounded to the type, must not decide the gradients.
    if dtype != f32:
        q, k, gradient = (noise(1, 2, 6, 4, dtype=dtype) for _ in range(3))
        v = (torch.randint(-4, 5, (1, 2, 6, 4)) / 4 + 32).to(dtype)
        y, largest, total, (dq, dk, dv, _) = gradients(q, k, v, gradient, 0.5, None)
        cases.add(
            "aclnnFlashAttentionScoreGrad", query=q, keyIn=k, value=v, dy=gradient, pseShiftOptional=Null, attenMaskOptional=Null,
            softmaxMaxOptional=copies(largest), softmaxSumOptional=copies(total), attentionInOptional=y.to(dtype), scaleValue=0.5, headNum=2,
            inputLayout="BNSD", sparseMode=0, dqOut=Out(dq.to(dtype)), dkOut=Out(dk.to(dtype)), dvOut=Out(dv.to(dtype)), dpseOut=Null,
            within=WITHIN[dtype] / 4, **BACKWARD, **FREE,
        )
    # Sequences behind each other; the last query has none. Rotary entries are further entries of queries and keys.
    for rope in (False, True) if dtype != bf16 else ():
        q, k, v, gradient = noise(8, 4, 6, dtype=dtype), noise(9, 2, 6, dtype=dtype), noise(9, 2, 3, dtype=dtype), noise(8, 4, 3, dtype=dtype)
        ends, key_ends, parts = [3, 3, 7], [2, 4, 9], []
        for (first, last), (start, stop) in zip([(0, 3), (3, 3), (3, 7)], [(0, 2), (2, 4), (4, 9)]):
            one = lambda x, low, high: x[low:high].transpose(0, 1).unsqueeze(0)
            mask = band(last - first, stop - start, 10**9, 0, stop - start - last + first)
            found = gradients(one(q, first, last), one(k, start, stop), one(v, start, stop), one(gradient, first, last), 0.5, None, mask)
            parts.append([*found[:3], *found[3][:3]])
        y, largest, total, dq, dk, dv = (torch.cat([part[index][0].transpose(0, 1) for part in parts]) for index in range(6))
        rest = lambda x: torch.cat([x, torch.zeros(1, *x.shape[1:])])
        y, dq, largest, total = rest(y).to(dtype), rest(dq).to(dtype), rest(largest), rest(total)
        dk, dv = dk.to(dtype), dv.to(dtype)
        given = dict(
            value=v, attenMaskOptional=torch.ones(4, 4, dtype=boolean), actualSeqQLenOptional=ends, actualSeqKvLenOptional=key_ends, scaleValue=0.5,
            headNum=4, inputLayout="TND", sparseMode=3, within=WITHIN[dtype], **FREE,
        )
        one = lambda x: x[..., :4].contiguous()
        two = lambda x: x[..., 4:].contiguous()
        joint = dict(query=q, keyIn=k, dqOut=Out(dq), dkOut=Out(dk))
        split = dict(
            query=one(q), queryRope=two(q), keyIn=one(k), keyInRope=two(k), dqOut=Out(one(dq)), dqRopeOut=Out(two(dq)), dkOut=Out(one(dk)), dkRopeOut=Out(two(dk)),
        )
        back = dict(
            given, dy=gradient, pseShiftOptional=Null, softmaxMaxOptional=copies(largest), softmaxSumOptional=copies(total), attentionInOptional=y,
            dvOut=Out(dv), dpseOut=Null, **BACKWARD,
        )
        forward = dict(
            given, realShiftOptional=Null, softmaxOutOut=Null, softmaxMaxOut=Out(copies(largest)), softmaxSumOut=Out(copies(total)),
            attentionOutOut=Out(y), **TRAIN,
        )
        second = dict(qStartIdxOptional=Null, kvStartIdxOptional=Null, pseType=1)
        if rope:
            cases.add("aclnnFlashAttentionUnpaddingScoreGradV3", **split, **back, **second)
            cases.add(
                "aclnnFlashAttentionVarLenScoreV3", query=one(q), queryRope=two(q), key=one(k), keyRope=two(k), **forward, **second,
            )
        else:
            cases.add("aclnnFlashAttentionUnpaddingScoreGrad", **joint, **back)
            cases.add("aclnnFlashAttentionUnpaddingScoreGradV2", **joint, **back, **second)
            cases.add("aclnnFlashAttentionUnpaddingScoreGradV4", softmaxInLayout="same_as_input", **joint, **back)
            cases.add("aclnnFlashAttentionVarLenScoreV4", query=q, key=k, softmaxOutLayout="same_as_input", **forward)
            cases.add("aclnnFlashAttentionVarLenScoreV4", query=q, key=k, softmaxOutLayout="NTD", refuse=(161002, "softmaxOutLayout"), **forward)


# Dropout of the probabilities by a mask of bits, and a bias that falls with the distance.
def changed(q, k, v, scale, kept, keep, slopes, shift, mask):
    """As `attention`, for one head of keys a head of queries; `kept` is 1 where a probability stays, `slopes` has one of each head."""
    scores = q @ k.transpose(-1, -2) * scale
    distance = (torch.arange(q.shape[-2])[:, None] + shift - torch.arange(k.shape[-2])).abs()
    if slopes is not None:
        scores = scores - slopes.double()[..., None, None] * distance
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    largest = scores.amax(-1, keepdim=True)
    powers = (scores - largest).exp()
    total = powers.sum(-1, keepdim=True)
    return powers / total * kept / keep @ v, largest, total


def packed(kept):
    """Bits, the first one lowest, in whole groups of 128."""
    bits = torch.cat([part.flatten() for part in kept]).to(torch.int64)
    bits = torch.cat([bits, torch.ones(-len(bits) % 128, dtype=torch.int64)]).reshape(-1, 8)
    return (bits << torch.arange(8)).sum(1).to(u8)


def training_case(dtype, layout, rows, columns, heads, width, keep, sloped, mode, starts, stored=True):
    """`rows` and `columns` list the lengths of sequences, which are equal but where they lie behind each other."""
    joined = layout == "TND"
    slopes = (torch.randint(1, 33, (len(rows), heads) if sloped == "sequences" else (heads,)) / 64) if sloped else None
    q, k, v, gradient = ([noise(1, heads, length, width, dtype=dtype) for length in lengths] for lengths in (rows, columns, columns, rows))
    kept = [(torch.rand(1, heads, own, other) < keep).double() for own, other in zip(rows, columns)]
    shift = starts[0] - starts[1]
    found = []
    for index, (own, other) in enumerate(zip(rows, columns)):
        mask = band(own, other, 10**9, 0, 0) if mode == 2 else None
        leaves = [x[index].double().requires_grad_() for x in (q, k, v)]
        slope = None if slopes is None else slopes.expand(len(rows), heads)[index][None]
        y, largest, total = changed(*leaves, 0.5, kept[index], keep, slope, shift, mask)
        found.append([y.detach(), largest.detach(), total.detach(), *torch.autograd.grad(y, leaves, gradient[index].double())])
    whole = (lambda parts: torch.cat([part[0].transpose(0, 1) for part in parts])) if joined else (lambda parts: arranged(torch.cat(parts), layout))
    one = (lambda parts: copies(torch.cat([part[0].transpose(0, 1) for part in parts]))) if joined else (lambda parts: copies(torch.cat(parts)))
    y, largest, total, dq, dk, dv = zip(*found)
    given = dict(query=whole(q), value=whole(v), dropMaskOptional=packed(kept) if keep < 1 else Null, paddingMaskOptional=Null,
                 attenMaskOptional=torch.ones(4, 4, dtype=boolean) if mode else Null, prefixOptional=Null, qStartIdxOptional=[starts[0]] if sloped else Null,
                 kvStartIdxOptional=[starts[1]] if sloped else Null, scaleValue=0.5, keepProb=keep, headNum=heads, inputLayout=layout, innerPrecise=0,
                 sparseMode=mode, pseType=2 if sloped else 1, within=WITHIN[dtype], **FREE)
    bias = slopes if sloped else Null
    ends = lambda lengths: torch.tensor(lengths).cumsum(0).tolist()
    if joined:
        given.update(actualSeqQLenOptional=ends(rows), actualSeqKvLenOptional=ends(columns))
    cases.add("aclnnFlashAttentionVarLenScoreV2" if joined else "aclnnFlashAttentionScoreV2", key=whole(k), realShiftOptional=bias, softmaxOutOut=Null,
              softmaxMaxOut=Out(one(largest)), softmaxSumOut=Out(one(total)), attentionOutOut=Out(whole(y).to(dtype)), **given)
    cases.add("aclnnFlashAttentionUnpaddingScoreGradV2" if joined else "aclnnFlashAttentionScoreGradV2", keyIn=whole(k), dy=whole(gradient), pseShiftOptional=bias,
              softmaxMaxOptional=one(largest) if stored else Null, softmaxSumOptional=one(total) if stored else Null, softmaxInOptional=Null,
              attentionInOptional=whole(y).to(dtype) if stored else Null, dqOut=Out(whole(dq).to(dtype)), dkOut=Out(whole(dk).to(dtype)),
              dvOut=Out(whole(dv).to(dtype)), dpseOut=Out(torch.zeros_like(slopes)) if sloped else Null, **given)


for dtype in FLOATS:
    training_case(dtype, "BNSD", [3, 3], [5, 5], 2, 3, 0.75, None, 0, (0, 0))
    training_case(dtype, "BNSD", [3, 3], [5, 5], 2, 3, 0.75, None, 0, (0, 0), stored=False)
    training_case(dtype, "BSND", [4, 4], [4, 4], 2, 2, 1.0, "heads", 2, (0, 0))
    training_case(dtype, "BSH", [3, 3], [4, 4], 2, 2, 0.5, "sequences", 0, (5, 2))
    training_case(dtype, "TND", [2, 3], [3, 1], 2, 3, 0.5, "sequences", 0, (1, 4))
# Several tiles of rows and of columns.
training_case(f32, "BNSD", [70], [135], 1, 1, 0.75, "heads", 2, (0, 0))
q = noise(1, 2, 3, 4)
given = dict(
    query=q, keyIn=q, value=q, dy=q, pseShiftOptional=Null, attenMaskOptional=Null, softmaxMaxOptional=Null, softmaxSumOptional=Null,
    attentionInOptional=Null, scaleValue=0.5, headNum=2, inputLayout="BNSD", sparseMode=0, dqOut=Out(q, False), dkOut=Out(q, False), dvOut=Out(q, False),
    dpseOut=Null, qStartIdxOptional=Null, kvStartIdxOptional=Null, pseType=1, **BACKWARD, **FREE,
)
for change, status, text in [
    ({"pseType": 3}, 561003, "pseType 3"), ({"pseType": 2}, 161001, "pseShiftOptional"),
    ({"pseType": 2, "pseShiftOptional": noise(3)}, 161002, "a slope for each of 2 heads"),
    ({"pseType": 2, "pseShiftOptional": noise(2), "qStartIdxOptional": [1, 2]}, 161002, "qStartIdxOptional is [1, 2]"),
    ({"keepProb": 0.5}, 161002, "dropMaskOptional is empty"), ({"keepProb": 0.0}, 161002, "keepProb is 0"),
    ({"sparseMode": 6}, 561003, "sparseMode 6"), ({"keyIn": q.half()}, 161002, "keyIn has the type float16"),
    ({"dy": noise(1, 2, 3, 5)}, 161002, "dy has the shape"), ({"dy": q.half()}, 161002, "dy has the type"), ({"inputLayout": "TND"}, 561003, "TND"),
    ({"softmaxSumOptional": noise(1, 2, 2, 8)}, 161002, "softmaxSumOptional has the shape"), ({"headNum": 3}, 161002, "heads"),
    ({"attentionInOptional": noise(1, 2, 3, 5)}, 161002, "attentionInOptional has the shape"), ({"dqOut": Out(noise(1, 2, 4, 4), False)}, 161002, "dqOut has the shape"),
    ({"dpseOut": Out(noise(1, 2, 3, 4), False)}, 161002, "dpseOut has the shape"), ({"pseShiftOptional": noise(1, 3, 3, 3)}, 161002, "pseShiftOptional has the shape"),
    ({"dropMaskOptional": torch.ones(2, dtype=u8)}, 161002, "dropMaskOptional has 2 bytes"), ({"keyIn": noise(1, 3, 3, 4), "value": noise(1, 3, 3, 4)}, 161002, "heads"),
]:
    cases.add("aclnnFlashAttentionScoreGradV2", refuse=(status, text), **{**given, **change})
cases.write()
