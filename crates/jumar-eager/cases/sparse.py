"""Cases of native sparse attention: one query at a time, in float64."""

import torch
from cases import Cases, InOut, Null, Out

torch.manual_seed(23)
cases = Cases("sparse")
f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
i32 = torch.int32


def noise(*dims, dtype=f16):
    return torch.randn(*dims).to(dtype)


def ends(lens):
    return torch.tensor(lens).cumsum(0).tolist()


def attention(query, key, value, allowed, scale):
    """`allowed(sequence, position, key head)` lists the keys of the sequence. Returns the result, the largest scores and the sums."""
    tokens, heads, _ = query.shape
    shared = heads // key.shape[1]
    out = torch.zeros(tokens, heads, value.shape[2], dtype=f64)
    most, sums = torch.zeros(tokens, heads, dtype=f64), torch.zeros(tokens, heads, dtype=f64)
    probabilities = {}
    for token in range(tokens):
        for head in range(heads):
            keys = allowed(token, head // shared)
            if not keys:
                continue
            scores = key[keys, head // shared] @ query[token, head] * scale
            most[token, head] = scores.max().detach()
            powers = (scores - scores.max()).exp()
            sums[token, head] = powers.sum().detach()
            share = powers / powers.sum()
            probabilities[token, head] = (keys, share.detach())
            out[token, head] = share @ value[keys, head // shared]
    return out, most, sums, probabilities


def eight(values):
    return values.float()[..., None].expand(*values.shape, 8).contiguous()


for dtype, heads, key_heads, mode in [(f16, 4, 2, 0), (bf16, 2, 1, 2), (f16, 3, 3, -1)]:
    query_lens, key_lens, size, count = [3, 5], [32, 64], 16, 2
    width, value_width = 6, 4
    query, key, value = noise(8, heads, width, dtype=dtype), noise(96, key_heads, width, dtype=dtype), noise(96, key_heads, value_width, dtype=dtype)
    starts = [0, 32]
    sequence = [0] * 3 + [1] * 5
    position = [0, 1, 2, 0, 1, 2, 3, 4]
    indices = torch.stack([torch.stack([torch.randperm(key_lens[sequence[token]] // size)[:count] for _ in range(key_heads)]) for token in range(8)]).to(i32)
    indices[7, 0, 1] = -1
    mask = torch.rand(5, 64) > 0.7
    mask[:, ::3] = False

    def allowed(token, head):
        keys = []
        for block in indices[token, head].tolist():
            keys += range(block * size, block * size + size) if block >= 0 else []
        if mode == 0:
            keys = [one for one in keys if not mask[position[token], one]]
        if mode == 2:
            keys = [one for one in keys if one <= position[token]]
        return [starts[sequence[token]] + one for one in keys]

    given = [part.double().requires_grad_() for part in (query, key, value)]
    out, most, sums, _ = attention(*given, allowed, 0.4)
    gradient = noise(8, heads, value_width, dtype=dtype)
    rounded = out.detach().to(dtype)
    out.backward(gradient.double())
    within = {f16: 4e-3, bf16: 3e-2}[dtype]
    common = dict(
        query=query, key=key, value=value, topkIndices=indices, attenMaskOptional=Null if mode == -1 else mask, actualSeqQLenOptional=ends(query_lens),
        actualSeqKvLenOptional=ends(key_lens), scaleValue=0.4, headNum=heads, inputLayout="TND", sparseMode=max(mode, 0), selectedBlockSize=size, selectedBlockCount=count,
    )
    cases.add(
        "aclnnNsaSelectedAttention", softmaxMaxOut=Out(eight(most)), softmaxSumOut=Out(eight(sums)), attentionOut=Out(rounded), within=within, **common,
    )
    cases.add(
        "aclnnNsaSelectedAttentionGrad", attentionOut=rounded, attentionOutGrad=gradient, softmaxMax=eight(most), softmaxSum=eight(sums),
        dqOut=Out(given[0].grad.to(dtype)), dkOut=Out(given[1].grad.to(dtype)), dvOut=Out(given[2].grad.to(dtype)), within=2 * within, **common,
    )
    if mode == 0:
        common |= dict(softmaxMaxOut=Out(eight(most), False), softmaxSumOut=Out(eight(sums), False), attentionOut=Out(rounded, False))
        for change, status, text in [
            ({"query": query.float()}, 161002, "query has the type"), ({"inputLayout": "BSND"}, 161002, "inputLayout"), ({"sparseMode": 1}, 161002, "sparseMode is 1"),
            ({"headNum": 3}, 161002, "headNum is 3"), ({"actualSeqQLenOptional": [3, 7]}, 161002, "actualSeqQLenOptional"), ({"topkIndices": indices[:, :, :1]}, 161002, "topkIndices has the shape"),
            ({"attenMaskOptional": mask[:3]}, 161002, "attenMaskOptional has the shape"), ({"key": key[:, :1]}, 161002, "do not belong together"), ({"value": Null}, 161001, "value is a null"),
            ({"actualSeqKvLenOptional": [96]}, 161002, "sequences"), ({"softmaxMaxOut": Out(most.float(), False)}, 161002, "softmaxMaxOut has the shape"),
        ]:
            cases.add("aclnnNsaSelectedAttention", refuse=(status, text), **{**common, **change})

for dtype, heads, key_heads, masked in [(f16, 4, 2, True), (bf16, 2, 2, False)]:
    query_lens, key_lens = [2, 4], [5, 11]
    window, stride, block, count = 32, 16, 64, 2
    per_block, per_window = block // stride, window // stride
    query, key, value = noise(6, heads, 6, dtype=dtype), noise(16, key_heads, 6, dtype=dtype), noise(16, key_heads, 4, dtype=dtype)
    sequence, position, starts = [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 2, 3], [0, 5]
    selected_lens = [-(-one // per_block) for one in key_lens]
    mask = torch.rand(4, 11) > 0.6
    mask[:, ::4] = False
    block_mask = torch.zeros(4, max(selected_lens), dtype=torch.bool)
    block_mask[1, 0] = True

    def allowed(token, head):
        first = starts[sequence[token]]
        return [first + one for one in range(key_lens[sequence[token]]) if not masked or not mask[position[token], one]]

    out, most, sums, probabilities = attention(query.double(), key.double(), value.double(), allowed, 0.3)
    indices = torch.full((6, key_heads, count), -1)
    for token in range(6):
        for head in range(key_heads):
            blocks = selected_lens[sequence[token]]
            importance = torch.zeros(blocks, dtype=f64)
            for own in range(head * (heads // key_heads), (head + 1) * (heads // key_heads)):
                keys, share = probabilities[token, own]
                by_key = {key - starts[sequence[token]]: float(part) for key, part in zip(keys, share)}
                for j in range(blocks):
                    importance[j] += sum(by_key.get(per_block * j - m - n, 0.0) for m in range(per_block) for n in range(per_window))
            order = sorted(range(blocks), key=lambda j: (bool(masked and block_mask[position[token], j]), -float(importance[j]), j))
            for slot, j in enumerate(order[:count]):
                indices[token, head, slot] = j
    common = dict(
        query=query, key=key, value=value, attenMaskOptional=mask if masked else Null, topkMaskOptional=block_mask if masked else Null,
        actualSeqQLenOptional=ends(query_lens), actualCmpSeqKvLenOptional=ends(key_lens), actualSelSeqKvLenOptional=ends(selected_lens), scaleValue=0.3, headNum=heads,
        inputLayout="TND", sparseMode=1 if masked else 0, compressBlockSize=window, compressStride=stride, selectBlockSize=block, selectBlockCount=count,
        softmaxMaxOut=Out(eight(most)), softmaxSumOut=Out(eight(sums)), attentionOutOut=Out(out.to(dtype)), topkIndicesOut=Out(indices.to(i32)),
    )
    cases.add("aclnnNsaCompressAttention", within={f16: 4e-3, bf16: 3e-2}[dtype], **common)
for change, status, text in [
    ({"compressStride": 48}, 161002, "compressStride 48"), ({"selectBlockSize": 24}, 161002, "selectBlockSize is"), ({"selectBlockCount": 0}, 161002, "selectBlockCount is 0"),
    ({"actualSelSeqKvLenOptional": [2, 6]}, 161002, "a sequence of 4 blocks"), ({"sparseMode": 2}, 161002, "sparseMode is 2"),
    ({"topkIndicesOut": Out(indices, False)}, 161002, "topkIndicesOut has the type"), ({"topkMaskOptional": block_mask[:1]}, 161002, "topkMaskOptional has the shape"),
]:
    if "selectBlockSize" in change:
        text = "selectBlockSize 24"
    cases.add("aclnnNsaCompressAttention", refuse=(status, text), **{**common, **change})

# Keys and values in pages.
for dtype, layout in [(f16, "BSND"), (bf16, "TND"), (f16, "BSH"), (bf16, "")]:
    heads, key_heads, page, size, count, width, value_width = 4, 2, 64, 16, 3, 6, 4
    key_lens, columns, pages = [70, 130], 3, 7
    query_lens = [1, 2] if layout == "TND" else [1, 1]
    tokens = sum(query_lens)
    table = torch.randperm(pages)[: 2 * columns].reshape(2, columns)
    query = noise(tokens, heads, width, dtype=dtype)
    key, value = noise(pages, page, key_heads, width, dtype=dtype), noise(pages, page, key_heads, value_width, dtype=dtype)
    sequence = [0] * query_lens[0] + [1] * query_lens[1]
    indices = torch.stack([torch.stack([torch.randperm(-(-key_lens[sequence[token]] // size))[:count] for _ in range(key_heads)]) for token in range(tokens)]).to(i32)
    indices[0, 0, 0] = 4

    def allowed(token, head):
        found = []
        for block in indices[token, head].tolist():
            for one in range(block * size, min(block * size + size, key_lens[sequence[token]])):
                found.append(int(table[sequence[token], one // page]) * page + one % page)
        return found

    out, _, _, _ = attention(query.double(), key.double().flatten(0, 1), value.double().flatten(0, 1), allowed, 0.4)
    flat = layout == "BSH"
    outer = () if layout == "TND" else (2, 1)
    shaped = lambda x: (x.reshape(*outer, -1) if flat else x.reshape(*outer, *x.shape[1:])) if outer else x
    common = dict(
        query=shaped(query), key=key.flatten(2) if flat else key, value=value.flatten(2) if flat else value, topkIndices=shaped(indices) if not flat else indices.reshape(2, 1, key_heads, count),
        attenMaskOptional=Null, blockTableOptional=table.to(i32), actualQSeqLenOptional=Null if layout != "TND" else query_lens, actualKvSeqLenOptional=key_lens,
        layoutOptional=layout, numHeads=heads, numKeyValueHeads=key_heads, selectBlockSize=size, selectBlockCount=count, pageBlockSize=page, scaleValue=0.4, sparseMode=0,
        output=Out(shaped(out).to(dtype)),
    )
    cases.add("aclnnNsaSelectedAttentionInfer", within={f16: 4e-3, bf16: 3e-2}[dtype], **common)
for change, status, text in [
    ({"query": query.double()}, 161002, "query has the type"), ({"layoutOptional": "SBH"}, 161002, "layoutOptional is"), ({"numHeads": 3}, 161002, "numHeads is 3"),
    ({"pageBlockSize": 32}, 161002, "pages of 32 tokens"), ({"actualKvSeqLenOptional": [70, 200]}, 161002, "at most 3 pages"), ({"blockTableOptional": Null}, 161001, "blockTableOptional is a null"),
    ({"output": Out(query, False)}, 161002, "output has the shape"), ({"selectBlockCount": 2}, 161002, "topkIndices has the shape"), ({"actualQSeqLenOptional": [2, 1]}, 161002, "actualQSeqLenOptional is"),
]:
    cases.add("aclnnNsaSelectedAttentionInfer", refuse=(status, text), **{**common, **change})

# Queries and keys of latent attention.


def normalised(x, gamma, epsilon):
    return gamma.double() * x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt()


def rotated(x, cos, sin):
    x = torch.cat([x[..., ::2], x[..., 1::2]], -1)
    one, two = x.chunk(2, -1)
    return x * cos.double() + torch.cat([-two, one], -1) * sin.double()


for outer, mode in [((5,), "PA_BSND"), ((2, 3), "PA_NZ"), ((2, 2), "")]:
    heads, width, rope, hidden, low, latent, block = 2, 4, 6, 10, 8, 16, 4
    rope = 16 if mode == "PA_NZ" else rope
    tokens = 1
    for dim in outer:
        tokens *= dim
    x, down, across = noise(*outer, hidden, dtype=bf16), noise(hidden, low, dtype=bf16), noise(low, heads * (width + rope), dtype=bf16)
    up, keys = noise(heads, width, latent, dtype=bf16), noise(hidden, latent + rope, dtype=bf16)
    gamma, key_gamma = noise(low, dtype=bf16), noise(latent, dtype=bf16)
    angles = torch.rand(*outer, rope) * 6
    sin, cos = angles.sin().to(bf16), angles.cos().to(bf16)
    positions = torch.randperm(3 * block)[:tokens]
    kv, kr = noise(3, block, 1, latent, dtype=bf16), noise(3, block, 1, rope, dtype=bf16)
    # Values are rounded between the products.
    flat = x.double().reshape(tokens, hidden)
    latents = normalised(flat @ down.double(), gamma, 1e-5).to(bf16).double()
    queries = (latents @ across.double()).reshape(tokens, heads, width + rope)
    plain = queries[..., :width].to(bf16).double()
    query = torch.einsum("thd,hdl->thl", plain, up.double()).reshape(*outer, heads, latent)
    turned = rotated(queries[..., width:], cos.reshape(tokens, 1, rope), sin.reshape(tokens, 1, rope)).reshape(*outer, heads, rope)
    pairs = flat @ keys.double()
    rows = [normalised(pairs[:, :latent], key_gamma, 1e-6), rotated(pairs[:, latent:], cos.reshape(tokens, rope), sin.reshape(tokens, rope))]
    caches = []
    for before, values in zip([kv, kr], rows):
        after = before.clone()
        size = before.shape[-1]
        if mode == "PA_NZ":
            view = after.reshape(3, size // 16, block, 16)
            for token in range(tokens):
                at = int(positions[token])
                view[at // block, :, at % block] = values[token].reshape(size // 16, 16).to(bf16)
            after = view.reshape(before.shape)
        else:
            after.reshape(-1, size)[positions] = values.to(bf16)
        caches.append(InOut(before, after))
    given = dict(
        tokenX=x, weightDq=down, weightUqQr=across, weightUk=up, weightDkvKr=keys, rmsnormGammaCq=gamma, rmsnormGammaCkv=key_gamma, ropeSin=sin, ropeCos=cos,
        kvCacheRef=caches[0], krCacheRef=caches[1], dequantScaleXOptional=Null, dequantScaleWDqOptional=Null, dequantScaleWUqQrOptional=Null, dequantScaleWDkvKrOptional=Null,
        quantScaleCkvOptional=Null, quantScaleCkrOptional=Null, smoothScalesCqOptional=Null, rmsnormEpsilonCq=1e-5, rmsnormEpsilonCkv=1e-6, cacheModeOptional=mode,
        queryOut=Out(query.to(bf16)), queryRopeOut=Out(turned.to(bf16)), dequantScaleQNopeOutOptional=Null,
    )
    index = positions.reshape(outer)
    cases.add("aclnnMlaPrologV2WeightNz", cacheIndex=index, within=4e-2, dense=True, **given)
    further = dict(
        cacheIndexOptional=index, actualSeqLenOptional=Null, queryNormFlag=True, weightQuantMode=0, kvCacheQuantMode=0, queryQuantMode=0, ckvkrRepoMode=0, quantScaleRepoMode=0,
        tileSize=0, kNopeClipAlpha=1.0, qcQrScale=1.0, kcScale=1.0, queryNormOutOptional=Out(latents.reshape(*outer, low).to(bf16)), dequantScaleQNormOutOptional=Null,
    )
    cases.add("aclnnMlaPrologV3WeightNz", within=4e-2, dense=True, **given, **further)
given |= dict(cacheIndex=index, queryOut=Out(query.to(bf16), False), queryRopeOut=Out(turned.to(bf16), False))
for change, status, text in [
    ({"tokenX": x.half()}, 161002, "tokenX has the type"), ({"weightDq": torch.zeros(10, 8, dtype=torch.int8)}, 561003, "weightDq of int8"), ({"weightUqQr": across[:, 1:]}, 161002, "weightUqQr has 19 columns"),
    ({"cacheModeOptional": "NZ"}, 161002, "cacheModeOptional is"), ({"cacheIndex": index[:1]}, 161002, "cacheIndex has the shape"), ({"ropeSin": sin[:1]}, 161002, "ropeSin has the shape"),
    ({"quantScaleCkvOptional": torch.ones(1, 16)}, 161002, "quantScaleCkvOptional is for quantised"), ({"rmsnormGammaCq": gamma[1:]}, 161002, "rmsnormGammaCq has the shape"),
    ({"kvCacheRef": InOut(kv[..., 1:], kv[..., 1:])}, 161002, "kvCacheRef has the shape"), ({"weightUk": Null}, 161001, "weightUk is a null"),
]:
    cases.add("aclnnMlaPrologV2WeightNz", refuse=(status, text), dense=True, **{**given, **change})
given.pop("cacheIndex")
for change, status, text in [({"queryQuantMode": 1}, 561003, "queryQuantMode"), ({"kcScale": 0.5}, 561003, "kcScale"), ({"cacheIndexOptional": Null}, 561003, "cacheIndexOptional")]:
    cases.add("aclnnMlaPrologV3WeightNz", refuse=(status, text), dense=True, **{**given, **further, **change})
cases.write()
