"""Makes paged.txt: `python paged.py` in an environment with PyTorch. Caches of keys and values: attention to them, and what is written to them, in float64."""

import numpy as np
import torch

from cases import Cases, InOut, Null, Out

torch.manual_seed(72)
cases = Cases("paged")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i8, u8, i32, i64 = torch.int8, torch.uint8, torch.int32, torch.int64


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def drawn(make):
    """Draws until the result is certain for a computation in float32. `make` returns whether it is, and the result."""
    for _ in range(2000):
        sure, result = make()
        if sure:
            return result
    raise AssertionError("no draw has a certain result")


# Attention to compressed keys in pages, and the choice of blocks.
def compressed(dtype, layout, heads, key_heads, key_lens, query_lens, before, window, stride, block, count):
    page, width, value_width = 16, 6, 4
    batch, columns = len(key_lens), max(-(-one // page) for one in key_lens)
    pages = batch * columns + 2
    table = torch.randperm(pages)[: batch * columns].reshape(batch, columns)
    key, value = noise(pages, page, key_heads, width, dtype=dtype), noise(pages, page, key_heads, value_width, dtype=dtype)
    shape = (sum(query_lens),) if layout == "TND" else (batch, max(query_lens))
    query = noise(*shape, heads, width, dtype=dtype)
    out = torch.zeros(*shape, heads, value_width, dtype=f64)
    indices = torch.full((*shape, key_heads, count), -1)
    for sequence in range(batch):
        rows = [(int(table[sequence, at // page]), at % page) for at in range(key_lens[sequence])]
        keys = torch.stack([key[one] for one in rows]).double()
        values = torch.stack([value[one] for one in rows]).double()
        longest = (key_lens[sequence] - 1) * stride + window
        given = before[sequence] if before else longest
        blocks = -(-(given if (given - window) // stride + 1 == key_lens[sequence] else longest) // block)
        for step in range(query_lens[sequence]):
            where = (sum(query_lens[:sequence]) + step,) if layout == "TND" else (sequence, step)
            for head in range(key_heads):
                importance = torch.zeros(blocks, dtype=f64)
                for own in range(head * (heads // key_heads), (head + 1) * (heads // key_heads)):
                    share = (keys[:, head] @ query[where][own].double() * 0.3).softmax(0)
                    out[where][own] = share @ values[:, head]
                    for j in range(blocks):
                        for m in range(block // stride):
                            for n in range(window // stride):
                                at = block // stride * j - m - n
                                importance[j] += share[at] if 0 <= at < len(share) else 0.0
                order = sorted(range(blocks), key=lambda j: (-float(importance[j]), j))
                for slot, j in enumerate(order[:count]):
                    indices[where][head][slot] = j
    return dict(
        query=query, key=key.flatten(2), value=value.flatten(2), attentionMaskOptional=Null, blockTableOptional=table.to(i32),
        actualQSeqLenOptional=query_lens if max(query_lens) > 1 else Null, actualCmpKvSeqLenOptional=key_lens, actualSelKvSeqLenOptional=before or Null, topKMaskOptional=Null,
        numHeads=heads, numKeyValueHeads=key_heads, selectBlockSize=block, selectBlockCount=count, compressBlockSize=window, compressBlockStride=stride, scaleValue=0.3,
        layoutOptional=layout, pageBlockSize=page, sparseMode=0, output=Out(out.to(dtype)), topKOutput=Out(indices.to(i32)), within={f16: 4e-3, bf16: 3e-2}[dtype],
    )


for dtype in [f16, bf16]:
    cases.add("aclnnNsaCompressAttentionInfer", **compressed(dtype, "TND", 4, 2, [20, 37], [1, 1], None, 32, 16, 64, 3))
    cases.add("aclnnNsaCompressAttentionInfer", **compressed(dtype, "TND", 2, 1, [9, 33], [2, 3], None, 32, 16, 64, 4))
    cases.add("aclnnNsaCompressAttentionInfer", **compressed(dtype, "BSND", 3, 3, [17, 24], [1, 1], None, 16, 16, 16, 2))
    # The length before the compression makes a block more for the second sequence; that of the first does not belong to the keys.
    cases.add("aclnnNsaCompressAttentionInfer", **compressed(dtype, "BSND", 4, 1, [20, 8], [2, 2], [64, 32 + 7 * 16 + 15], 32, 16, 32, 3))
given = compressed(f16, "TND", 4, 2, [20, 37], [1, 1], None, 32, 16, 64, 3)
del given["within"]
given |= dict(output=Out(given["output"].values, False), topKOutput=Out(given["topKOutput"].values, False))
for change, status, text in [
    ({"query": Null}, 161001, "query is a null"), ({"blockTableOptional": Null}, 161001, "blockTableOptional is a null"), ({"actualCmpKvSeqLenOptional": Null}, 161001, "actualCmpKvSeqLenOptional is a null"),
    ({"query": given["query"].float()}, 161002, "query has the type"), ({"layoutOptional": "BSH"}, 161002, "layoutOptional is"), ({"numHeads": 3}, 161002, "numHeads is 3"),
    ({"topKOutput": Out(given["topKOutput"].values.long(), False)}, 161002, "topKOutput has the type"), ({"selectBlockSize": 24}, 161002, "selectBlockSize 24"), ({"selectBlockCount": 0}, 161002, "selectBlockCount is 0"),
    ({"actualCmpKvSeqLenOptional": [20]}, 161002, "actualCmpKvSeqLenOptional is"), ({"pageBlockSize": 32}, 161002, "key has the shape"), ({"query": noise(3, 4, 6, dtype=f16), "output": Out(noise(3, 4, 4, dtype=f16), False)}, 161002, "each has one query"),
    ({"attentionMaskOptional": torch.zeros(3, 37, dtype=torch.bool), "actualQSeqLenOptional": [1, 2], "query": noise(3, 4, 6, dtype=f16), "output": Out(noise(3, 4, 4, dtype=f16), False)}, 561003, "attentionMaskOptional"),
]:
    cases.add("aclnnNsaCompressAttentionInfer", refuse=(status, text), **{**given, **change})

# The last window of each sequence that has just filled one.
for dtype in [f16, bf16]:
    for size, stride, lens, paged in [(32, 16, [32, 48, 40, 16], True), (16, 16, [64, 15, 130, 16], True), (32, 32, [32, 64, 50, 96], False), (48, 16, [0, 10, 47, 9], False)]:
        heads, width, page, columns = 2, 2, 64, 3
        batch, rows = len(lens), 12
        weight, slots = noise(size, heads, dtype=dtype, scale=0.25), torch.randperm(rows)[:batch].to(i32)
        before = noise(rows, heads, width, dtype=dtype)
        table = torch.randperm(batch * columns).reshape(batch, columns)
        joined = noise(batch * columns, page, heads, width, dtype=dtype) if paged else noise(sum(lens), heads, width, dtype=dtype)
        after = before.clone()
        for sequence, length in enumerate(lens):
            if length < size or (length - size) % stride:
                continue
            if paged:
                own = torch.stack([joined[table[sequence, at // page], at % page] for at in range(length - size, length)])
            else:
                end = sum(lens[: sequence + 1])
                own = joined[end - size : end]
            after[slots[sequence]] = (own.double() * weight.double()[..., None]).sum(0).to(dtype)
        cases.add(
            "aclnnNsaCompressWithCache", input=joined, weight=weight, slotMapping=slots, actSeqLenOptional=lens, blockTableOptional=table.to(i32) if paged else Null, layoutOptional="TND",
            compressBlockSize=size, compressStride=stride, actSeqLenType=1, pageBlockSize=page, outputCache=InOut(before, after), within={f16: 4e-3, bf16: 3e-2}[dtype],
        )
joined, table = noise(6, 64, 3, 4, dtype=f16), torch.arange(6).reshape(2, 3).to(i32)
given = dict(
    input=joined, weight=noise(16, 3, dtype=f16), slotMapping=torch.tensor([1, 2], dtype=i32), actSeqLenOptional=[16, 32], blockTableOptional=table, layoutOptional="TND", compressBlockSize=16,
    compressStride=16, actSeqLenType=1, pageBlockSize=64, outputCache=Out(noise(4, 3, 4, dtype=f16), False),
)
for change, status, text in [
    ({"input": Null}, 161001, "input is a null"), ({"actSeqLenOptional": Null}, 161001, "actSeqLenOptional is a null"), ({"weight": noise(16, 3)}, 161002, "weight has the type"),
    ({"weight": noise(16, 2, dtype=f16)}, 161002, "weight has the shape"), ({"compressStride": 24}, 161002, "compressStride are"), ({"compressBlockSize": 20}, 161002, "compressBlockSize and"),
    ({"actSeqLenType": 0}, 161002, "actSeqLenType is 0"), ({"pageBlockSize": 128}, 161002, "pageBlockSize is 128"), ({"blockTableOptional": Null}, 161002, "input has the shape"),
    ({"actSeqLenOptional": [16, 193]}, 161002, "actSeqLenOptional is"), ({"input": joined[0], "blockTableOptional": Null, "layoutOptional": "BSND"}, 161002, "layoutOptional is"),
    ({"outputCache": Out(noise(4, 3, 5, dtype=f16), False)}, 161002, "outputCache has the shape"), ({"slotMapping": torch.tensor([1], dtype=i32)}, 161002, "slotMapping has the shape"),
]:
    cases.add("aclnnNsaCompressWithCache", refuse=(status, text), **{**given, **change})

# Parts that are written where a tensor says that they start.
def values(*shape, dtype):
    return torch.randint(0 if dtype in (u8, torch.uint16, torch.uint32) else -100, 101, shape).to(dtype) if dtype not in (f32, f16, bf16) else noise(*shape, dtype=dtype)


for dtype in [i8, u8, f16, f32, i32, bf16]:
    for shape, parts, axis, length in [((4, 3, 7, 2), 4, -2, 1), ((4, 3, 7, 2), 3, 2, 3), ((3, 5), 2, -1, 2), ((3, 6, 2), 3, 1, 4), ((2, 3, 5), 1, -1, 2)]:
        own = axis % len(shape)
        size = list(shape)
        size[0], size[own] = parts, length
        data, updates = values(*shape, dtype=dtype), values(*size, dtype=dtype)
        starts = torch.randint(0, shape[own] - length + 1, (parts,))
        entries = torch.randperm(shape[0])[:parts]
        for index in [starts, torch.stack([entries, starts], 1)] + ([starts[0]] if parts == 1 else []):
            after = data.clone()
            for part in range(parts):
                entry = int(entries[part]) if index.dim() == 2 else part
                after[entry].narrow(own - 1, int(starts[part]), length).copy_(updates[part])
            cases.add("aclnnInplaceScatterUpdate", data=InOut(data, after), indices=index if axis < 0 else index.to(i32), updates=updates, axis=axis)
# The example of the document.
before = torch.cat([torch.ones(8), 2 * torch.ones(8)]).reshape(1, 1, 2, 8)
cases.add(
    "aclnnInplaceScatterUpdate", data=InOut(before, torch.cat([before[:, :, :1], 3 * torch.ones(1, 1, 1, 8)], 2)), indices=torch.tensor([1]), updates=3 * torch.ones(1, 1, 1, 8), axis=-2,
)
data = noise(3, 4, 2)
given = dict(data=InOut(data, data), indices=torch.tensor([0, 1, 2]), updates=noise(3, 1, 2), axis=1)
for change, status, text in [
    ({"data": Null}, 161001, "data is a null"), ({"indices": Null}, 161001, "indices is a null"), ({"data": InOut(data.double(), data.double())}, 161002, "data has the type"),
    ({"updates": noise(3, 1, 2, dtype=f16)}, 161002, "updates has the type"), ({"updates": noise(3, 2)}, 161002, "updates has the shape"), ({"updates": noise(3, 5, 2)}, 161002, "updates has the shape"),
    ({"indices": torch.zeros(3, 1, 1, dtype=i64)}, 161002, "indices has the shape"), ({"indices": torch.zeros(3, 3, dtype=i64)}, 161002, "indices has the shape"), ({"axis": 0}, 161002, "axis is the first"),
    ({"axis": 3}, 161002, "axis is 3"), ({"indices": torch.tensor(1)}, 161002, "3 parts"), ({"indices": torch.tensor([0, 1])}, 161002, "indices has 2"), ({"indices": torch.zeros(0, dtype=i64)}, 161002, "must have elements"),
]:
    cases.add("aclnnInplaceScatterUpdate", refuse=(status, text), **{**given, **change})

for dtype in [i8, torch.int16, i32, u8, f16, bf16, f32]:
    for shape, axis, length in [((3, 6, 2), -2, 2), ((5, 3), -1, 3), ((5, 3), 1, 1)]:
        count = 3
        own = axis % (len(shape) + 1) - 1
        size = list(shape)
        size[own] = length
        tensors, updates = [values(*shape, dtype=dtype) for _ in range(count)], values(count, *size, dtype=dtype)
        starts = torch.randint(0, shape[own] - length + 1, (count,))
        lengths = torch.randint(0, length + 1, (count,))
        mask = torch.tensor([1, 0, 1], dtype=u8)
        for index, masked in [(starts, False), (starts.to(i32), True), (torch.stack([starts, lengths], 1), False)]:
            refs = []
            for part, tensor in enumerate(tensors):
                after = tensor.clone()
                step = int(lengths[part]) if index.dim() == 2 else length
                if not masked or mask[part]:
                    after.narrow(own, int(starts[part]), step).copy_(updates[part].narrow(own, 0, step))
                refs.append(InOut(tensor, after))
            cases.add("aclnnScatterList", varRef=refs, indice=index, updates=updates, maskOptional=mask if masked else Null, reduceOptional="update", axis=axis)
# The example of the document: one of three entries is written.
before = torch.zeros(5, 3, 4)
after = before.clone()
after[:, :1] = 10
cases.add("aclnnScatterList", varRef=[InOut(before, after)], indice=torch.tensor([[0, 1]]), updates=torch.full((1, 5, 3, 4), 10.0), maskOptional=Null, reduceOptional="update", axis=-2)
data = noise(3, 4)
given = dict(varRef=[InOut(data, data), InOut(data, data)], indice=torch.tensor([0, 1]), updates=noise(2, 3, 2), maskOptional=Null, reduceOptional="update", axis=-1)
for change, status, text in [
    ({"updates": Null}, 161001, "updates is a null"), ({"indice": Null}, 161001, "indice is a null"), ({"varRef": [InOut(data.double(), data.double())]}, 161002, "varRef[0] has the type"),
    ({"indice": torch.tensor([0.0, 1.0])}, 161002, "indice has the type"), ({"reduceOptional": "add"}, 161002, "reduceOptional is"), ({"updates": noise(2, 3, 2, dtype=f16)}, 161002, "updates has the type"),
    ({"updates": noise(3, 3, 2)}, 161002, "updates has the shape"), ({"axis": 0}, 161002, "axis is the first"), ({"updates": noise(2, 3, 5)}, 161002, "updates has the shape"),
    ({"maskOptional": torch.ones(2)}, 161002, "maskOptional has the type"), ({"maskOptional": torch.ones(3, dtype=u8)}, 161002, "maskOptional has the shape"), ({"indice": torch.zeros(2, 3, dtype=i64)}, 161002, "indice has the shape"),
]:
    cases.add("aclnnScatterList", refuse=(status, text), **{**given, **change})

# Queries, keys and values that are rotated, and quantised into a cache.
def rotated(x, cos, sin):
    """By halves."""
    half = x.shape[-1] // 2
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], -1) * sin


def wide(x):
    return x.double().numpy()


def certain(values):
    return bool((np.abs(values - np.floor(values) - 0.5) > 1e-4).all())


for kind, dtype in [(f16, f16), (bf16, bf16), (i32, f16), (i32, bf16)]:
    for lengths, mode, bias_type, factored, offsets, flat in [((2, 3), "contiguous", f32, True, True, False), ((3,), "contiguous", i32, False, False, False), ((2, 2), "page", None, True, True, True), ((4,), "page", f16, True, False, False)]:
        queries, heads, size = 3, 2, 4
        width = (queries + 2 * heads) * size
        outer = lengths if len(lengths) == 2 else (lengths[0], 1)
        caches = (4, 5) if mode == "contiguous" else (3, 6)

        def make():
            x = torch.randint(-500, 500, (*lengths, width)).to(i32) if kind == i32 else noise(*lengths, width, dtype=kind)
            angles = torch.rand(*outer, size // 2) * 3
            cos, sin = (torch.cat([part, part], -1).to(dtype) for part in (angles.cos(), angles.sin()))
            values = wide(x).reshape(*outer, width)
            scale, factor = torch.rand(width) / 128, torch.rand(outer[0] * outer[1]) + 0.5
            bias = None if bias_type is None else torch.randint(-50, 50, (width,)).to(i32) if bias_type == i32 else noise(width, dtype=bias_type)
            if kind == i32:
                if bias_type == i32:
                    values = values + wide(bias)
                values = values * wide(scale)
                if factored:
                    values = values * wide(factor).reshape(*outer, 1)
                if bias_type in (f32, f16):
                    values = values + wide(bias)
            parts = np.split(values, [queries * size, (queries + heads) * size], -1)
            query, key, value = (part.reshape(*outer, -1, size) for part in parts)
            tables = wide(cos)[:, :, None], wide(sin)[:, :, None]
            query, key = rotated(query, *tables), rotated(key, *tables)
            scales = [torch.rand(heads, size) / 16 + 1 / 64 for _ in range(2)]
            shifts = [torch.randint(-9, 10, (heads, size)).float() for _ in range(2)]
            stored = [part / wide(own) + (wide(shift) if offsets else 0) for part, own, shift in zip((key, value), scales, shifts)]
            sure = all(certain(part) for part in stored)
            return sure, (x, cos, sin, scale, factor, bias, query, key, value, scales, shifts, stored)

        x, cos, sin, scale, factor, bias, query, key, value, scales, shifts, stored = drawn(make)
        before = [torch.randint(-128, 128, (*caches, heads, size)).to(i8) for _ in range(2)]
        after = [own.clone() for own in before]
        if mode == "page":
            index = torch.randperm(caches[0] * caches[1])[: outer[0] * outer[1]].to(i32)
        else:
            index = torch.randint(0, caches[1] - outer[1] + 1, (outer[0],)).to(i32)
        for own, part in zip(after, stored):
            codes = torch.from_numpy(np.clip(np.round(part), -128, 127)).to(i8)
            if mode == "page":
                own.reshape(-1, heads, size)[index.long()] = codes.reshape(-1, heads, size)
            else:
                for sequence in range(outer[0]):
                    own[sequence, int(index[sequence]) : int(index[sequence]) + outer[1]] = codes[sequence]
        shaped = lambda part: torch.from_numpy(part.reshape(*lengths, -1, size)).to(dtype)
        table = (lambda part: part.reshape(*lengths, 1, size)) if len(lengths) == 2 else (lambda part: part.reshape(*lengths, size))
        flatten = (lambda part: part.flatten()) if flat else (lambda part: part)
        integers = kind == i32
        cases.add(
            "aclnnDequantRopeQuantKvcache", x=x, cos=table(cos), sin=table(sin), kCacheRef=InOut(before[0], after[0]), vCacheRef=InOut(before[1], after[1]), indices=index,
            scaleK=flatten(scales[0]), scaleV=flatten(scales[1]), offsetKOptional=flatten(shifts[0]) if offsets else Null, offsetVOptional=flatten(shifts[1]) if offsets else Null,
            weightScaleOptional=scale if integers else Null, activationScaleOptional=factor if integers and factored else Null, biasOptional=bias if integers and bias is not None else Null,
            sizeSplits=[queries * size, heads * size, heads * size], quantModeOptional="static", layoutOptional="BSND", kvOutput=factored, cacheModeOptional=mode, qOut=Out(shaped(query)),
            kOut=Out(shaped(key)) if factored else Null, vOut=Out(shaped(value)) if factored else Null, dense=True, within={f16: 4e-3, bf16: 3e-2}[dtype],
        )
lengths, x = (2, 3), noise(2, 3, 28, dtype=f16)
cos = noise(2, 3, 1, 4, dtype=f16)
cache = torch.zeros(4, 5, 2, 4, dtype=i8)
given = dict(
    x=x, cos=cos, sin=cos, kCacheRef=InOut(cache, cache), vCacheRef=InOut(cache, cache), indices=torch.tensor([0, 1], dtype=i32), scaleK=torch.ones(2, 4), scaleV=torch.ones(2, 4),
    offsetKOptional=Null, offsetVOptional=Null, weightScaleOptional=Null, activationScaleOptional=Null, biasOptional=Null, sizeSplits=[12, 8, 8], quantModeOptional="static",
    layoutOptional="BSND", kvOutput=False, cacheModeOptional="contiguous", qOut=Out(noise(2, 3, 3, 4, dtype=f16), False), kOut=Null, vOut=Null,
)
for change, status, text in [
    ({"x": Null}, 161001, "x is a null"), ({"qOut": Null}, 161001, "qOut is a null"), ({"kvOutput": True}, 161001, "kOut is a null"), ({"x": x.float()}, 161002, "x has the type"),
    ({"cos": cos.to(bf16), "sin": cos.to(bf16)}, 161002, "cos has the type"), ({"sin": cos.float()}, 161002, "sin has the type"), ({"quantModeOptional": "dynamic"}, 161002, "quantModeOptional is"),
    ({"layoutOptional": "BNSD"}, 161002, "layoutOptional is"), ({"cacheModeOptional": "pages"}, 161002, "cacheModeOptional is"), ({"sizeSplits": [8, 8, 12]}, 161002, "sizeSplits is"),
    ({"indices": torch.tensor([0, 1, 2], dtype=i32)}, 161002, "indices has the shape"), ({"scaleK": torch.ones(2, 3)}, 161002, "scaleK has the shape"), ({"x": x.int()}, 161001, "weightScaleOptional is a null"),
    ({"cos": cos[:1]}, 161002, "cos has the shape"), ({"qOut": Out(noise(2, 3, 2, 4, dtype=f16), False)}, 161002, "qOut has the shape"), ({"indices": torch.tensor([0, 1])}, 161002, "indices has the type"),
]:
    cases.add("aclnnDequantRopeQuantKvcache", refuse=(status, text), **{**given, **change})
cases.write()
