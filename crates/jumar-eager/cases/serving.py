"""Makes serving.txt: `python serving.py` in an environment with PyTorch. Functions that servers of language models call; expected values are float64, rounded
once, but for caches, whose rows are rounded between the steps as those of single operators are."""

import torch

from cases import Cases, InOut, Null, Out

torch.manual_seed(21)
cases = Cases("serving")
f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
i8, i32, i64 = torch.int8, torch.int32, torch.int64
inf = float("inf")


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


# A sum, its norm, and a bias behind it.
for dtype in [f32, f16, bf16]:
    for shape, count in [((3, 8), 1), ((2, 3, 4), 2)]:
        x, other, gamma, beta = noise(*shape, dtype=dtype), noise(*shape, dtype=dtype), noise(*shape[-count:], dtype=dtype), noise(*shape[-count:], dtype=dtype)
        total = x.double() + other.double()
        axes = tuple(range(len(shape) - count, len(shape)))
        rstd = 1 / (total.pow(2).mean(axes, keepdim=True) + 1e-6).sqrt()
        for bias in [beta, None]:
            y = total * rstd * gamma.double() + (0 if bias is None else bias.double())
            cases.add(
                "aclnnAddRmsNormBias", x1=x, x2=other, gamma=gamma, betaOptional=Null if bias is None else bias, epsilon=1e-6, yOut=Out(y.to(dtype)),
                rstdOut=Out(rstd.float()), xOut=Out(total.to(dtype)),
            )
x, gamma = noise(3, 8), noise(8)
given = dict(x1=x, x2=x, gamma=gamma, betaOptional=gamma, epsilon=1e-6, yOut=Out(x, False), rstdOut=Null, xOut=Null)
for change, status, text in [({"betaOptional": noise(7)}, 161002, "betaOptional has the shape"), ({"betaOptional": gamma.int()}, 161002, "betaOptional has the type")]:
    cases.add("aclnnAddRmsNormBias", refuse=(status, text), **{**given, **change})

# The filter of logits under its second name: p and k as in the plug-in's schema, p first.
logits = noise(2, 9)
order, index = logits.double().sort(dim=-1, stable=True)
order = order.masked_fill(order < order[:, -4:-3], -inf)
cut = order.softmax(-1).cumsum(-1) <= 1 - 0.75
cut[:, -1] = False
kept = torch.empty_like(order).scatter_(1, index, order.masked_fill(cut, -inf))
cases.add(
    "aclnnApplyTopKTopPCustom", logits=logits, p=torch.tensor([0.75, 0.75]), k=torch.tensor([4, 4], dtype=i32), out=Out(kept.float()),
)

# Tokens in the order of their experts, under the second name of the third form.
tokens, experts, each = 5, 4, 2
x = noise(tokens, 6, dtype=f16)
chosen = torch.tensor([[1, 3], [0, 1], [3, 2], [1, 0], [2, 3]], dtype=i32)
flat = chosen.flatten()
sorting = torch.argsort(flat, stable=True)
rows = torch.empty_like(flat)
rows[sorting] = torch.arange(tokens * each, dtype=i32)
cases.add(
    "aclnnMoeInitRoutingCustom", x=x, expertIdx=chosen, scaleOptional=Null, offsetOptional=Null, activeNum=-1, expertCapacity=0, expertNum=experts, dropPadMode=0,
    expertTokensNumType=1, expertTokensNumFlag=True, quantMode=-1, activeExpertRangeOptional=[0, experts], rowIdxType=0, expandedXOut=Out(x[sorting // each]),
    expandedRowIdxOut=Out(rows), expertTokensCountOrCumsumOut=Out(torch.bincount(flat.long(), minlength=experts)), expandedScaleOut=Out(torch.zeros(tokens * each), False),
)


# Keys of latent attention: the norm of one part, the rotation of the other, and both in caches.
def blocked(rows):
    """A cache whose blocks hold columns in groups of 16: [blocks, tokens, 1, width]."""
    blocks, size, _, width = rows.shape
    return rows.reshape(blocks, size, width // 16, 16).transpose(1, 2).reshape(rows.shape)


for dtype in [f16, bf16]:
    for mode in ["Norm", "PA", "PA_BNSD", "PA_NZ", None]:
        for wanted in [True, False]:
            if not wanted and (dtype == bf16 or mode not in ("Norm", "PA_NZ")):
                continue
            batch, count, compressed, rest = 2, 3, 32 if mode == "PA_NZ" else 6, 16 if mode == "PA_NZ" else 4
            kv, gamma = noise(batch, 1, count, compressed + rest, dtype=dtype), noise(compressed, dtype=dtype)
            cos, sin = noise(batch, 1, count, rest, dtype=dtype, scale=0.5), noise(batch, 1, count, rest, dtype=dtype, scale=0.5)
            latent = kv[..., :compressed].double()
            norm = (latent / (latent.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * gamma.double()).to(dtype)
            even, odd = kv[..., compressed::2].double(), kv[..., compressed + 1 :: 2].double()
            turned = (torch.cat([even, odd], -1) * cos.double() + torch.cat([-odd, even], -1) * sin.double()).to(dtype)
            by_sequence = mode in ("Norm", None)
            shape = (batch, 1, 5) if by_sequence else (3, 4, 1)
            index = torch.tensor([[4, 0, 2], [1, 3, -1]]) if by_sequence else torch.tensor([11, 0, 5, 6, -1, 2])
            words = {}
            for name, own, width in [("kCacheRef", turned, rest), ("ckvCacheRef", norm, compressed)]:
                before = noise(*shape, width, dtype=dtype)
                after = before.clone().view(-1, width)
                for token, position in enumerate(index.flatten().tolist()):
                    if position >= 0:
                        after[position + (token // count * 5 if by_sequence else 0)] = own.view(-1, width)[token]
                after = after.view(before.shape)
                pack = blocked if mode == "PA_NZ" else torch.clone
                words[name] = InOut(pack(before), pack(after))
            outs = dict(kRopeOut=Out(turned), cKvOut=Out(norm)) if wanted else dict(kRopeOut=Null, cKvOut=Null)
            none = dict(kRopeScaleOptional=Null, ckvScaleOptional=Null, kRopeOffsetOptional=Null, cKvOffsetOptional=Null)
            given = dict(kv=kv, gamma=gamma, cos=cos, sin=sin, index=index, epsilon=1e-5, isOutputKv=wanted, **none, **words, **outs)
            cases.add("aclnnKvRmsNormRopeCache", cacheModeOptional=Null if mode is None else mode, dense=True, **given)
            if wanted and mode == "PA":
                cases.add("aclnnKvRmsNormRopeCacheV2", cacheModeOptional=mode, vOptional=Null, dense=True, **given)
for change, status, text in [
    ({"cacheModeOptional": "PA_BLK_NZ"}, 561003, "cacheModeOptional"), ({"cacheModeOptional": "other"}, 161002, "cacheModeOptional is \"other\""),
    ({"ckvScaleOptional": noise(6)}, 561003, "ckvScaleOptional is given"), ({"index": index[:1]}, 161002, "index has the shape"),
    ({"gamma": noise(kv.shape[-1], dtype=kv.dtype)}, 161002, "both parts need entries"), ({"cos": cos[:1]}, 161002, "cos has the shape"),
]:
    cases.add("aclnnKvRmsNormRopeCache", refuse=(status, text), **{**given, "cacheModeOptional": "Norm", **change})
cases.write()
