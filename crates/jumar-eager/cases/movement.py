"""Makes movement.txt, the cases of elements that move, repeat and combine: `python movement.py` in an environment with PyTorch."""

import torch
import torch.nn.functional as nn

from cases import Cases, InOut, Null, Out

torch.manual_seed(24)
cases = Cases("movement")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i8, i32, i64, u8, boolean, c64 = torch.int8, torch.int32, torch.int64, torch.uint8, torch.bool, torch.complex64
FLOATS = [f32, f16, bf16, f64]
ALL = FLOATS + [i64, i8, boolean, c64]
aten = torch.ops.aten


def noise(*shape, dtype=f32):
    """Multiples of 1/64, which every type holds exactly and which have few digits; small integers; booleans."""
    if dtype == boolean:
        return torch.randint(0, 2, shape).bool()
    if not dtype.is_floating_point and not dtype.is_complex:
        return torch.randint(-9, 10, shape).to(dtype)
    if dtype.is_complex:
        return torch.complex(noise(*shape), noise(*shape)).to(dtype)
    return (torch.randint(-100, 101, shape) / 64).to(dtype)


def wide(x):
    return x.to(torch.complex128) if x.is_complex() else x.double() if x.is_floating_point() else x


# Gradients of paddings.
for dtype in FLOATS + [c64]:
    for name in ["Reflection", "Replication"]:
        mode = "reflect" if name == "Reflection" else "replicate"
        for shape, pads in [((2, 3, 5), [2, 1]), ((3, 4), [0, 3]), ((1, 2, 4, 5), [1, 2, 3, 0]), ((2, 4, 4), [1, 1, 0, 2]), ((1, 1, 3, 3, 4), [1, 0, 2, 1, 0, 2])]:
            x = wide(noise(*shape, dtype=dtype)).requires_grad_()
            y = nn.pad(x, pads, mode)
            gradient = noise(*y.shape, dtype=dtype)
            (to_x,) = torch.autograd.grad(y, x, wide(gradient))
            cases.add(f"aclnn{name}Pad{len(pads) // 2}dBackward", gradOutput=gradient, self=x.detach().to(dtype), padding=pads, gradInput=Out(to_x.to(dtype)))
for dtype in FLOATS:
    for shape, pads in [((1, 2, 4, 5), [1, 2, 3, 0]), ((2, 4, 4), [4, 1, 0, 2]), ((1, 1, 3, 3, 4), [1, 0, 2, 1, 0, 3]), ((2, 2, 3, 4), [1, 0, 2, 1, 0, 2])]:
        x = wide(noise(*shape, dtype=dtype)).requires_grad_()
        y = nn.pad(x, pads, "circular")
        gradient = noise(*y.shape, dtype=dtype)
        (to_x,) = torch.autograd.grad(y, x, wide(gradient))
        cases.add(f"aclnnCircularPad{len(pads) // 2}dBackward", gradOutput=gradient, self=x.detach().to(dtype), padding=pads, gradInput=Out(to_x.to(dtype)))
x = noise(1, 2, 4)
cases.add("aclnnReflectionPad1dBackward", gradOutput=noise(1, 2, 10), self=x, padding=[4, 2], gradInput=Out(x, False), refuse=(161002, "at most 3"))
cases.add("aclnnReplicationPad1dBackward", gradOutput=noise(1, 2, 9), self=x, padding=[4, 2], gradInput=Out(x, False), refuse=(161002, "gradOutput has the shape"))
cases.add("aclnnReplicationPad2dBackward", gradOutput=x, self=x, padding=[4, 2], gradInput=Out(x, False), refuse=(161002, "padding"))

# Shuffled channels and joined chunks.
for dtype in ALL:
    for shape, groups in [((2, 6, 3), 3), ((1, 4, 2, 2), 2), ((2, 4, 1), 1), ((0, 2, 2), 2)]:
        x = noise(*shape, dtype=dtype)
        cases.add("aclnnChannelShuffle", self=x, groups=groups, out=Out(nn.channel_shuffle(x, groups) if x.numel() else x))
    for shapes, dim, chunks in [([(4, 2), (3, 2)], 0, 2), ([(2, 5), (2, 1, 3)], 1, 3), ([(3,)], 0, 4)]:
        tensors = [noise(*shape, dtype=dtype) for shape in shapes]
        cases.add("aclnnChunkCat", tensors=tensors, dim=dim, numChunks=chunks, out=Out(torch._chunk_cat(tensors, dim, chunks)))
x = noise(2, 6, 3)
cases.add("aclnnChannelShuffle", self=x, groups=4, out=Out(x, False), refuse=(161002, "groups is 4"))
cases.add("aclnnChunkCat", tensors=[x], dim=0, numChunks=0, out=Out(x, False), refuse=(161002, "numChunks is 0"))

# Rows and elements that are written.
for dtype in ALL:
    for shape, dim, count, kind in [((4, 3), 0, 2, i64), ((2, 5), 1, 3, i32), ((6,), -1, 4, i64), ((), 0, 1, i64), ((3, 2), 0, 0, i64)]:
        x = noise(*shape, dtype=dtype)
        size = shape[dim] if shape else 1
        index = torch.randperm(size)[:count].to(kind)
        source_shape = list(shape)
        if shape:
            source_shape[dim] = count
        source = noise(*source_shape, dtype=dtype)
        cases.add("aclnnIndexCopy", selfRef=x, dim=dim, index=index, source=source, outRef=Out(x.index_copy(dim, index.long(), source)))
    for shape, count in [((3, 4), (5,)), ((6,), (2, 3)), ((2, 2), (0,))]:
        x = noise(*shape, dtype=dtype)
        # Positions differ where the last writer would matter.
        index = torch.randperm(x.numel())[: torch.Size(count).numel()].reshape(count)
        if index.numel():
            index.view(-1)[0] -= x.numel()
        source = noise(*count, dtype=dtype)
        for accumulate in [False, True]:
            if accumulate and index.numel() > 1:
                index.view(-1)[1] = index.view(-1)[0]
            out = wide(x).put(index, wide(source), accumulate).to(dtype)
            cases.add("aclnnInplacePut", selfRef=InOut(x, out), index=index, source=source, accumulate=accumulate)
x = noise(3, 2)
cases.add("aclnnIndexCopy", selfRef=x, dim=0, index=torch.tensor([0, 1]), source=noise(3, 2), outRef=Out(x, False), refuse=(161002, "source"))
cases.add("aclnnInplacePut", selfRef=InOut(x, x), index=torch.tensor([0, 1]), source=noise(3), accumulate=False, refuse=(161002, "as many elements"))

# Elements that are combined. The numbers of the combinations: sum, product, mean, greatest, least.
KINDS = ["sum", "prod", "mean", "amax", "amin"]
for dtype in FLOATS + [i64, u8]:
    for shape, indices, dim in [((3, 4), (2, 4), 0), ((2, 5), (2, 3), 1), ((4,), (7,), 0), ((3, 2), (0, 2), 0)]:
        for number, kind in enumerate(KINDS):
            for whole in [True, False]:
                x, source = (noise(*each, dtype=dtype) if dtype != u8 else torch.randint(0, 4, each).to(u8) for each in (shape, indices))
                index = torch.randint(0, shape[dim], indices)
                out = wide(x).scatter_reduce(dim, index, wide(source), kind, include_self=whole).to(dtype)
                words = dict(dim=dim, index=index, src=source, reduce=number, includeSelf=whole)
                cases.add("aclnnScatterReduce", self=x, out=Out(out), **words)
                cases.add("aclnnInplaceScatterReduce", selfRef=InOut(x, out), **words)
cases.add("aclnnScatterReduce", self=x, dim=0, index=index, src=source, reduce=5, includeSelf=True, out=Out(x, False), refuse=(161002, "reduce is 5"))

# Repetitions.
for dtype in ALL:
    for shape, dim, repeats in [((3, 2), 0, [2, 0, 3]), ((2, 3), 1, [1, 2, 1]), ((4,), -1, [3]), ((2, 2, 2), 1, [0, 2])]:
        x = noise(*shape, dtype=dtype)
        counts = torch.tensor(repeats)
        full = counts.expand(shape[dim]) if len(repeats) == 1 else counts
        out = x.repeat_interleave(full, dim)
        cases.add("aclnnRepeatInterleaveWithDim", self=x, repeats=counts, dim=dim, outputSize=out.shape[dim], out=Out(out))
        if dtype in FLOATS + [c64]:
            ex = wide(x).requires_grad_()
            gradient = noise(*out.shape, dtype=dtype)
            (to_x,) = torch.autograd.grad(ex.repeat_interleave(full, dim), ex, wide(gradient))
            cases.add("aclnnRepeatInterleaveGrad", yGrad=gradient, repeats=counts, axis=dim, out=Out(to_x.to(dtype)))
    x = noise(2, 2, dtype=dtype)
    counts = torch.tensor([1, 0, 2, 1])
    cases.add("aclnnRepeatInterleave", self=x, repeats=counts, outputSize=4, out=Out(x.repeat_interleave(counts)))
counts = torch.tensor([2, 0, 1], dtype=i32)
cases.add("aclnnRepeatInterleaveTensor", repeats=counts, outputSize=3, out=Out(torch.repeat_interleave(counts.long())))
cases.add("aclnnRepeatInterleaveWithDim", self=noise(3), repeats=noise(3), dim=0, outputSize=3, out=Out(noise(3), False), refuse=(161002, "repeats"))
cases.add("aclnnRepeatInterleaveWithDim", self=noise(3), repeats=torch.tensor([1, 2]), dim=0, outputSize=3, out=Out(noise(3), False), refuse=(161002, "1 or 3"))


def padded(values, shape):
    """The result at the start of an output of the greatest possible shape; the rest does not matter and is zero."""
    out = torch.zeros(torch.Size(shape).numel(), dtype=values.dtype)
    out[: values.numel()] = values.flatten()
    return out.reshape(shape)


# Distinct slices and runs. Elements behind the reported shape are zero.
for dtype in FLOATS + [i64, i8, boolean]:
    for x in [torch.tensor([1, 1, 2, 2, 2, 1]), torch.tensor([[1, 1], [1, 1], [0, 2], [1, 1]]), torch.tensor([3])]:
        x = x.to(dtype)
        values, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
        size = [x.numel()]
        given = dict(self=x, returnInverse=True, returnCounts=True)
        cases.add("aclnnUniqueConsecutive", dim=1000, valueOut=Out(padded(values, size)), inverseOut=Out(inverse), countsOut=Out(padded(counts, size)),
                  shapes={"valueOut": list(values.shape), "countsOut": list(counts.shape)}, **given)
        for dim in range(x.dim()):
            size = [x.shape[dim]]
            values, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=dim)
            cases.add("aclnnUniqueConsecutive", dim=dim, valueOut=Out(padded(values, x.shape)), inverseOut=Out(inverse), countsOut=Out(padded(counts, size)),
                      shapes={"valueOut": list(values.shape), "countsOut": list(counts.shape)}, **given)
            values, inverse, counts = torch.unique(x, sorted=True, return_inverse=True, return_counts=True, dim=dim)
            cases.add("aclnnUniqueDim", self=x, sorted=True, returnInverse=True, dim=dim, valueOut=Out(padded(values, x.shape)), inverseOut=Out(inverse),
                      countsOut=Out(padded(counts, size)), shapes={"valueOut": list(values.shape), "countsOut": list(counts.shape)})
x = noise(2, 3)
cases.add("aclnnUniqueDim", self=x, sorted=True, returnInverse=False, dim=2, valueOut=Out(x, False), inverseOut=Out(torch.zeros(2, dtype=i64), False),
          countsOut=Out(torch.zeros(2, dtype=i64), False), refuse=(161002, "dim is 2"))

# Bags of rows.
for dtype in FLOATS:
    x = noise(5, 3, dtype=dtype)
    for indices, offsets, last in [([0, 2, 4, 1, 1], [0, 2, 2], False), ([3, 0, 1], [0, 1, 3], True), ([], [0, 0], False)]:
        index, offset = torch.tensor(indices, dtype=i64), torch.tensor(offsets, dtype=i64)
        bags = len(offsets) - last
        for mode in range(3):
            for padding in [-1, 1]:
                for weighted in [False, True] if mode == 0 else [False]:
                    weights = noise(len(indices), dtype=dtype) if weighted else None
                    out, _, _, greatest = aten._embedding_bag(x.double(), index, offset, False, mode, False, weights.double() if weighted else None, last, padding)
                    limits = offsets + ([] if last else [len(indices)])
                    members = [indices[start:end] for start, end in zip(limits, limits[1:], strict=False)]
                    sizes = torch.tensor([sum(own != padding for own in bag) for bag in members], dtype=i64)
                    of_bag = torch.tensor([number for number, bag in enumerate(members) for _ in bag], dtype=i64)
                    greatest = greatest[:bags] if mode == 2 else torch.zeros(bags, dtype=i64)
                    if mode == 2:
                        greatest = torch.where((sizes == 0)[:, None], -1, greatest)
                    # A negative number of the padding counts from the end.
                    cases.add("aclnnEmbeddingBag", weight=x, indices=index, offsets=offset, scaleGradByFreq=False, mode=mode, sparse=False,
                              perSampleWeights=weights if weighted else Null, includeLastOffset=last, paddingIdx=padding, output=Out(out[:bags].to(dtype)),
                              offset2bag=Out(of_bag), bagSize=Out(sizes), maxIndices=Out(greatest))
given = dict(weight=noise(5, 3), scaleGradByFreq=False, sparse=False, perSampleWeights=Null, includeLastOffset=False, paddingIdx=-1,
             offset2bag=Out(torch.zeros(2, dtype=i64), False), bagSize=Out(torch.zeros(1, dtype=i64), False), maxIndices=Out(torch.zeros(1, dtype=i64), False),
             indices=torch.tensor([0, 1]), output=Out(noise(1, 3), False))
cases.add("aclnnEmbeddingBag", offsets=torch.tensor([0]), mode=3, refuse=(161002, "mode is 3"), **given)
cases.add("aclnnEmbeddingBag", offsets=torch.zeros(0, dtype=i64), mode=0, refuse=(161002, "offsets is empty"), **given)
cases.write()
