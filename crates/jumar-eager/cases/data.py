"""Cases of data.rs: movement of elements, and creation of tensors."""

import torch
import torch.nn.functional as nn

from cases import Cases, Out, Scalar

cases = Cases("data")
torch.manual_seed(3)
TYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.uint8, torch.bool, torch.complex64, torch.complex128,
]


def some(dims, dtype=torch.float32):
    if dtype == torch.bool:
        return torch.rand(dims) < 0.5
    if dtype.is_complex:
        return torch.complex(torch.randint(-9, 9, dims).double(), torch.randint(-9, 9, dims).double()).to(dtype)
    return torch.randint(0 if dtype == torch.uint8 else -90, 90, dims).to(dtype)


def empty(dims, dtype=torch.float32):
    return Out(torch.zeros(dims, dtype=dtype), False)


# Every type moves.
for dtype in TYPES:
    a, b = some((2, 3), dtype), some((2, 2), dtype)
    cases.add("aclnnCat", tensors=[a, b], dim=1, out=Out(torch.cat([a, b], 1)))
    cases.add("aclnnFlip", self=a, dims=[1], out=Out(a.flip(1)))
    cases.add("aclnnRepeat", self=a, repeats=[2, 2], out=Out(a.repeat(2, 2)))
    cases.add("aclnnTril", self=a, diagonal=0, out=Out(a.tril()))
    cases.add("aclnnSlice", self=a, dim=1, start=1, end=3, step=1, out=Out(a[:, 1:3].clone()))
    cases.add("aclnnRoll", x=a, shifts=[1], dims=[1], out=Out(a.roll(1, 1)))

# Cat and Stack.
a, b, c = some((2, 3, 4)), some((2, 1, 4)), some((2, 2, 4))
for dim in (1, -2):
    cases.add("aclnnCat", tensors=[a, b, c], dim=dim, out=Out(torch.cat([a, b, c], dim)))
cases.add("aclnnCat", tensors=[a, torch.zeros(0), a], dim=0, out=Out(torch.cat([a, torch.zeros(0), a])))
cases.add("aclnnCat", tensors=[torch.zeros(0), torch.zeros(0)], dim=0, out=Out(torch.zeros(0)))
cases.add("aclnnCat", tensors=[a, a[:, :0]], dim=1, out=Out(a))
mixed = [some((3,), torch.int32), some((2,), torch.float16), some((2,), torch.bool)]
cases.add("aclnnCat", tensors=mixed, dim=0, out=Out(torch.cat(mixed)))
cases.add("aclnnCat", tensors=[a, b[:, :, :3]], dim=1, out=empty((2, 4, 4)), refuse=(161002, "but for the dimension 1"))
cases.add("aclnnCat", tensors=[a, b], dim=3, out=empty((2, 4, 4)), refuse=(161002, "dim is 3"))
cases.add("aclnnCat", tensors=[a, b], dim=1, out=empty((2, 5, 4)), refuse=(161002, "it must be [2, 4, 4]"))
for dim in (0, 1, -1):
    cases.add("aclnnStack", tensors=[a, a + 1], dim=dim, out=Out(torch.stack([a, a + 1], dim)))
s = torch.tensor(2.0)
cases.add("aclnnStack", tensors=[s, s + 1], dim=0, out=Out(torch.stack([s, s + 1])))
cases.add("aclnnStack", tensors=[a, b], dim=0, out=empty((2, 2, 3, 4)), refuse=(161002, "it must be [2, 3, 4]"))

# Flip and Roll.
for dims in ([0], [1], [2], [0, 2], [0, 1, 2], [-1, 1], []):
    cases.add("aclnnFlip", self=a, dims=dims, out=Out(a.flip(dims)))
cases.add("aclnnFlip", self=s, dims=[0], out=Out(s))
cases.add("aclnnFlip", self=a[:0], dims=[0], out=Out(a[:0]))
cases.add("aclnnFlip", self=a, dims=[1, 1], out=empty((2, 3, 4)), refuse=(161002, "twice"))
for shifts, dims in (([1], [2]), ([-1, 5], [0, 2]), ([7], []), ([0], [1]), ([1, 1], [2, 2]), ([-9], [-2])):
    cases.add("aclnnRoll", x=a, shifts=shifts, dims=dims, out=Out(a.roll(shifts, dims)))
cases.add("aclnnRoll", x=a[:0], shifts=[1], dims=[0], out=Out(a[:0]))
cases.add("aclnnRoll", x=a, shifts=[1, 2], dims=[0], out=empty((2, 3, 4)), refuse=(161002, "as many of both"))

# Triangles.
for diagonal in (-9, -2, -1, 0, 1, 2, 9):
    cases.add("aclnnTril", self=a, diagonal=diagonal, out=Out(a.tril(diagonal)))
    cases.add("aclnnTriu", self=a, diagonal=diagonal, out=Out(a.triu(diagonal)))
from cases import InOut  # noqa: E402

cases.add("aclnnInplaceTril", selfRef=InOut(a, a.tril(1)), diagonal=1)
cases.add("aclnnInplaceTriu", selfRef=InOut(a, a.triu(-1)), diagonal=-1)
cases.add("aclnnTril", self=a[:, :, :0], diagonal=0, out=Out(a[:, :, :0]))
cases.add("aclnnTriu", self=a[0, 0], diagonal=0, out=empty((4,)), refuse=(161002, "at least 2 dimensions"))

# Permute, Expand, Repeat.
cases.add("aclnnPermute", self=a, dims=[2, 0, 1], out=Out(a.permute(2, 0, 1).contiguous()))
cases.add("aclnnPermute", self=a, dims=[-1, 1, 0], out=Out(a.permute(2, 1, 0).contiguous()))
cases.add("aclnnPermute", self=a, dims=[0, 1], out=empty((2, 3)), refuse=(161002, "it must have 3"))
cases.add("aclnnExpand", self=b, size=[5, 2, 3, -1], out=Out(b.expand(5, 2, 3, -1).contiguous()))
cases.add("aclnnExpand", self=a, size=[2, 3, 5], out=empty((2, 3, 5)), refuse=(161002, "cannot be expanded"))
for repeats in ([1, 1, 2], [2, 1, 3, 1], [0, 1, 1], [3, 2, 2]):
    cases.add("aclnnRepeat", self=a, repeats=repeats, out=Out(a.repeat(*repeats)))
cases.add("aclnnRepeat", self=s, repeats=[3], out=Out(s.repeat(3)))
cases.add("aclnnRepeat", self=s, repeats=[], out=Out(s))
cases.add("aclnnRepeat", self=a, repeats=[2], out=empty((2, 3, 8)), refuse=(161002, "repeats has 1 numbers"))
cases.add("aclnnRepeat", self=a, repeats=[1, 1, -2], out=empty((2, 3, 8)), refuse=(161002, "at least 0"))
for dim in (0, 1, 2):
    want = a.repeat_interleave(3, dim)
    cases.add("aclnnRepeatInterleaveIntWithDim", self=a, repeats=3, dim=dim, outputSize=want.shape[dim], out=Out(want))
want = a.repeat_interleave(2)
cases.add("aclnnRepeatInterleaveInt", self=a, repeats=2, outputSize=want.numel(), out=Out(want))
cases.add("aclnnRepeatInterleaveInt", self=a, repeats=2, outputSize=5, out=empty((5,)), refuse=(161002, "outputSize is 5"))

# Slices and splits.
for dim, start, end, step in ((0, 0, 2, 1), (1, 1, 3, 2), (2, -3, -1, 1), (2, -99, 99, 3), (1, 2, 1, 1), (2, 1, 2**62, 2**61)):
    want = a.narrow(dim, 0, a.shape[dim])[tuple([slice(None)] * dim + [slice(start, end, step)])]
    cases.add("aclnnSlice", self=a, dim=dim, start=start, end=end, step=step, out=Out(want.contiguous()))
cases.add("aclnnSlice", self=a, dim=0, start=0, end=2, step=0, out=empty((2, 3, 4)), refuse=(161002, "at least 1"))
cases.add("aclnnSlice", self=a, dim=0, start=0, end=1, step=1, out=empty((2, 3, 4)), refuse=(161002, "it must be [1, 3, 4]"))
cases.add("aclnnSliceV2", self=a, starts=[1, 0], ends=[3, 4], axes=[1, 2], steps=[1, 2], out=Out(a[:, 1:3, 0:4:2].contiguous()))
cases.add("aclnnSliceV2", self=a, starts=[1], ends=[3, 4], axes=[1, 2], steps=[1, 2], out=empty((2, 2, 2)), refuse=(161002, "as many"))
for each in (1, 3, 4, 9):
    cases.add("aclnnSplitTensor", self=a, splitSections=each, dim=2, out=[Out(part.contiguous()) for part in a.split(each, 2)])
cases.add("aclnnSplitTensor", self=a, splitSections=0, dim=2, out=[empty((2, 3, 4))], refuse=(161002, "splitSections is 0"))
cases.add("aclnnSplitWithSize", self=a, splitSize=[1, 0, 3], dim=-1, out=[Out(part.contiguous()) for part in a.split([1, 0, 3], -1)])
cases.add("aclnnSplitWithSize", self=a, splitSize=[1, 2], dim=-1, out=[empty((2, 3, 1)), empty((2, 3, 2))], refuse=(161002, "adds up to 3"))

# Pads.
for pads in ([1, 2], [0, 1, 2, 0], [-1, 2], [-1, -1, 1, -2, 0, 1], [], [-2, -2]):
    cases.add("aclnnConstantPadNd", self=a, pad=pads, value=Scalar(7.5), out=Out(nn.pad(a, pads, value=7.5)))
i = some((2, 2), torch.int64)
cases.add("aclnnConstantPadNd", self=i, pad=[1, 0], value=Scalar(3, torch.int64), out=Out(nn.pad(i, [1, 0], value=3)))
cases.add("aclnnConstantPadNd", self=a[:0], pad=[0, 0, 0, 0, 1, 0], value=Scalar(1.0), out=Out(torch.ones(1, 3, 4)))
cases.add("aclnnConstantPadNd", self=a, pad=[1], value=Scalar(1.0), out=empty((2, 3, 5)), refuse=(161002, "even number"))
cases.add("aclnnConstantPadNd", self=a, pad=[-9, 0], value=Scalar(1.0), out=empty((2, 3, 5)), refuse=(161002, "no valid size"))
d = some((2, 3, 4, 5))
for op, mode in (("Reflection", "reflect"), ("Replication", "replicate")):
    cases.add(f"aclnn{op}Pad1d", self=a, padding=[3, 1], out=Out(nn.pad(a, [3, 1], mode)))
    cases.add(f"aclnn{op}Pad2d", self=a, padding=[3, 1, 2, 0], out=Out(nn.pad(a, [3, 1, 2, 0], mode)))
    cases.add(f"aclnn{op}Pad3d", self=d, padding=[1, 2, 0, 3, 2, 1], out=Out(nn.pad(d, [1, 2, 0, 3, 2, 1], mode)))
cases.add("aclnnCircularPad2d", self=a, padding=[3, 1, 2, 0], out=Out(nn.pad(a, [3, 1, 2, 0], "circular")))
cases.add("aclnnCircularPad2d", self=d, padding=[4, 5, 0, 4], out=Out(nn.pad(d, [4, 5, 0, 4], "circular")))
cases.add("aclnnCircularPad3d", self=d, padding=[1, 2, 0, 3, 2, 1], out=Out(nn.pad(d, [1, 2, 0, 3, 2, 1], "circular")))
cases.add("aclnnCircularPad2d", self=a, padding=[5, 0, 0, 0], out=empty((2, 3, 9)), refuse=(161002, "a repetition of 4 entries has at most 4"))
cases.add("aclnnReflectionPad1d", self=a, padding=[4, 0], out=empty((2, 3, 8)), refuse=(161002, "at most 3"))
cases.add("aclnnReplicationPad1d", self=a, padding=[9, 0], out=Out(nn.pad(a, [9, 0], "replicate")))

# Creation.
D, I = torch.float64, torch.int64
for start, end, step, kind, dtype in (
    (0, 10, 3, I, torch.int64), (5, -5, -2, I, torch.int32), (0, 5, 1, I, torch.float32), (0.5, 3.1, 0.4, D, torch.float32),
    (1.0, 1.0, 1.0, D, torch.float32), (0, 7, 2, I, torch.float16), (-1.0, 1.0, 0.25, D, torch.bfloat16), (2, 3, 9, I, torch.int64),
    (2**53 + 1, 2**53 + 4, 1, I, torch.int64),
):
    scalars = dict(start=Scalar(start, kind), end=Scalar(end, kind), step=Scalar(step, kind))
    cases.add("aclnnArange", **scalars, out=Out(torch.arange(start, end, step, dtype=dtype)))
    if start != end:
        cases.add("aclnnRange", **scalars, out=Out(torch.range(start, end, step, dtype=dtype)))
scalars = dict(start=Scalar(0, I), end=Scalar(5, I))
cases.add("aclnnArange", **scalars, step=Scalar(0, I), out=empty((5,)), refuse=(161002, "do not describe a sequence"))
cases.add("aclnnArange", **scalars, step=Scalar(-1, I), out=empty((5,)), refuse=(161002, "do not describe a sequence"))
cases.add("aclnnArange", **scalars, step=Scalar(1, I), out=empty((4,)), refuse=(161002, "lead to 5"))
for start, end, steps, dtype in ((0.0, 1.0, 5, torch.float32), (3.0, -2.5, 12, torch.float64), (2.0, 9.0, 1, torch.float32),
                                 (0.0, 1.0, 0, torch.float32), (-1.0, 1.0, 9, torch.float16), (0.0, 8.0, 5, torch.int32)):
    cases.add("aclnnLinspace", start=Scalar(start, D), end=Scalar(end, D), steps=steps, out=Out(torch.linspace(start, end, steps, dtype=dtype)))
cases.add("aclnnLinspace", start=Scalar(0.0, D), end=Scalar(1.0, D), steps=-1, out=empty((1,)), refuse=(161002, "steps is -1"))
for n, m in ((3, 3), (2, 4), (4, 2), (0, 3), (1, 1)):
    for dtype in (torch.float32, torch.bool, torch.complex64):
        cases.add("aclnnEye", n=n, m=m, out=Out(torch.eye(n, m, dtype=dtype)))
cases.add("aclnnEye", n=2, m=2, out=empty((2, 3)), refuse=(161002, "it must be [2, 2]"))
cases.add("aclnnEye", n=-2, m=2, out=empty((2, 2)), refuse=(161002, "at least 0"))
for diagonal in (-2, 0, 1):
    cases.add("aclnnDiagFlat", self=b[0, 0], diagonal=diagonal, out=Out(torch.diagflat(b[0, 0], diagonal)))
    cases.add("aclnnDiag", self=a[0, 0], diagonal=diagonal, out=Out(torch.diag(a[0, 0], diagonal)))
    cases.add("aclnnDiag", self=a[0], diagonal=diagonal, out=Out(torch.diag(a[0], diagonal)))
cases.add("aclnnDiag", self=a, diagonal=0, out=empty((3,)), refuse=(161002, "self has 3 dimensions"))
cases.add("aclnnDiag", self=a[0], diagonal=1, out=empty((4,)), refuse=(161002, "out has the shape"))

# A limit that is not an integer, of integers.
scalars = dict(start=Scalar(0.0, torch.float64), end=Scalar(-8.000001, torch.float64), step=Scalar(-4.0, torch.float64))
cases.add("aclnnArange", **scalars, out=Out(torch.arange(0.0, -8.000001, -4.0, dtype=torch.int64)))
cases.add("aclnnArange", **scalars, out=Out(torch.arange(0, -8, -4)))
cases.write()
