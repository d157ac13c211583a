"""Makes figures.txt, the cases of scans, statistics, distances and group normalization: `python figures.py` with PyTorch."""

import torch
import torch.nn.functional as nn

from cases import Cases, InOut, Null, Out, Scalar

torch.manual_seed(22)
cases = Cases("figures")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i8, i32, i64, u8, boolean, c64 = torch.int8, torch.int32, torch.int64, torch.uint8, torch.bool, torch.complex64
FLOATS = [f32, f16, bf16, f64]
nan, inf = float("nan"), float("inf")
aten = torch.ops.aten
WITHIN = {f32: 1e-5, c64: 1e-5}


def noise(*shape, dtype=f32):
    """Multiples of 1/64, which every type holds exactly and which have few digits; small integers; both signs."""
    if dtype == boolean:
        return torch.randint(0, 2, shape).bool()
    if dtype == u8:
        return torch.randint(0, 9, shape).to(u8)
    if not dtype.is_floating_point and not dtype.is_complex:
        return torch.randint(-9, 10, shape).to(dtype)
    if dtype.is_complex:
        return torch.complex(noise(*shape), noise(*shape)).to(dtype)
    return (torch.randint(-100, 101, shape) / 64).to(dtype)


def precise(x):
    """Halves and float32 in float64, complex64 in complex128, others as they are."""
    return x.to(torch.complex128) if x.is_complex() else x.double() if x.is_floating_point() else x


# Running products and extremes.
for dtype in FLOATS + [i64, i8, u8, c64]:
    for shape, dim in [((5,), 0), ((2, 3), 0), ((2, 3, 2), -2), ((), 0), ((0, 2), 1)]:
        x = noise(*shape, dtype=dtype)
        cases.add("aclnnCumprod", input=x, dim=Scalar(dim, i64), dtype=dtype, out=Out(precise(x).cumprod(dim).to(dtype)))
x = noise(4, dtype=i32)
cases.add("aclnnCumprod", input=x, dim=Scalar(0, i64), dtype=f32, out=Out(x.float().cumprod(0)))
cases.add("aclnnCumprod", input=x, dim=Scalar(1, i64), dtype=i32, out=Out(x, False), refuse=(161002, "dim is 1"))
for dtype in FLOATS + [i64, i8, u8, boolean]:
    for shape, dim in [((7,), 0), ((4, 3), 0), ((2, 3, 4), -2), ((), 0), ((0, 2), 1)]:
        x = noise(*shape, dtype=dtype)
        if dtype == f32 and x.numel() > 5:
            x.view(-1)[2], x.view(-1)[4] = nan, nan
        for name in ["max", "min"]:
            values, indices = (torch.cummax if name == "max" else torch.cummin)(x, dim)
            cases.add(f"aclnnCum{name}", self=x, dim=dim, valuesOut=Out(values), indicesOut=Out(indices))
x = noise(3)
cases.add("aclnnCummax", self=x, dim=0, valuesOut=Out(x, False), indicesOut=Out(x, False), refuse=(161002, "indicesOut"))

# Medians. Elements differ, so that indices are unique.
for dtype in FLOATS + [i64, i8]:
    for shape, dim in [((7,), 0), ((4, 3), 0), ((2, 3, 4), -2), ((), 0), ((3, 6), 1)]:
        x = torch.randperm(max(1, torch.Size(shape).numel())).reshape(shape).to(dtype)
        variants = [x]
        if dtype.is_floating_point and x.numel() > 5:
            some_nan = x.clone()
            some_nan.view(-1)[[1, 4]] = nan
            variants.append(some_nan)
        for x in variants:
            cases.add("aclnnMedian", self=x, valuesOut=Out(x.median()))
            cases.add("aclnnNanMedian", self=x, out=Out(x.nanmedian()))
            for keep in [False, True]:
                for name, out in [("aclnnMedianDim", x.median(dim, keep)), ("aclnnNanMedianDim", x.nanmedian(dim, keep))]:
                    indices = out.indices
                    cases.add(name, self=x, dim=dim, keepDim=keep, valuesOut=Out(out.values), indicesOut=Out(indices))
all_nan = torch.tensor([nan, nan, nan])
cases.add("aclnnNanMedian", self=all_nan, out=Out(torch.tensor(nan)))
cases.add("aclnnMedian", self=noise(0), valuesOut=Out(torch.tensor(nan)))
cases.add("aclnnMedian", self=noise(0, dtype=i64), valuesOut=Out(torch.tensor(0), False), refuse=(161002, "not defined"))
cases.add("aclnnMedianDim", self=noise(3, dtype=c64), dim=0, keepDim=False, valuesOut=Out(noise(dtype=c64), False), indicesOut=Out(torch.tensor(0), False),
          refuse=(161002, "self"))

# Norms.
for dtype in FLOATS + [c64]:
    out_dtype = f32 if dtype == c64 else dtype
    for shape, dims, keep in [((2, 3), [1], False), ((2, 3, 2), [0, -1], True), ((4,), [], False), ((0, 3), [0], False), ((), [], False)]:
        x = noise(*shape, dtype=dtype)
        for order in [2.0, 1.0, 0.0, 3.0, inf, -inf, 0.5, -1.0]:
            if shape == (0, 3) and (order < 0 or order == inf):
                continue
            out = torch.linalg.vector_norm(precise(x), order, dims or None, keep)
            cases.add("aclnnNorm", self=x, pScalar=Scalar(order), dim=dims, keepdim=keep, out=Out(out.to(out_dtype)), within=WITHIN.get(dtype))
x = noise(2, 3)
cases.add("aclnnNorm", self=x, pScalar=Scalar(2.0), dim=[2], keepdim=False, out=Out(noise(2), False), refuse=(161002, "dim is 2"))
for dtype in FLOATS + [c64]:
    for dim in [0, 1, -1]:
        for order, most in [(2.0, 1.0), (1.0, 2.5), (3.0, 0.0), (inf, 1.0)]:
            x = noise(2, 3, 2, dtype=dtype)
            out = torch.renorm(precise(x), order, dim, most).to(dtype)
            cases.add("aclnnRenorm", self=x, p=Scalar(order), dim=dim, maxNorm=Scalar(most), out=Out(out), within=WITHIN.get(dtype))
            cases.add("aclnnInplaceRenorm", selfRef=InOut(x, out), p=Scalar(order), dim=dim, maxNorm=Scalar(most), within=WITHIN.get(dtype))
cases.add("aclnnRenorm", self=noise(3), p=Scalar(2.0), dim=0, maxNorm=Scalar(1.0), out=Out(noise(3), False), refuse=(161002, "at least 2 dimensions"))
cases.add("aclnnRenorm", self=x, p=Scalar(0.0), dim=0, maxNorm=Scalar(1.0), out=Out(x, False), refuse=(161002, "positive p"))

# Moments.
for dtype in FLOATS + [c64]:
    for shape, dims, keep in [((2, 3), [1], False), ((2, 3, 2), [0, -1], True), ((5,), [], False), ((0, 3), [0], False)]:
        for correction in [0, 1, 2]:
            x = noise(*shape, dtype=dtype)
            x128 = precise(x)
            given = dict(self=x, dim=dims, correction=correction, keepdim=keep, within=WITHIN.get(dtype))
            if x.numel() == 0:
                filled = torch.full((3,), nan, dtype=dtype)
                wanted = (filled, filled, filled)
            else:
                wanted = (*torch.var_mean(x128, dims or None, correction=correction, keepdim=keep), torch.std(x128, dims or None, correction=correction, keepdim=keep))
            variance, mean, deviation = (each.to(dtype) for each in wanted)
            if dtype == c64 and x.numel() == 0:
                continue
            cases.add("aclnnVarMean", varOut=Out(variance), meanOut=Out(mean), **given)
            cases.add("aclnnStdMeanCorrection", stdOut=Out(deviation), meanOut=Out(mean), **given)
cases.add("aclnnVarMean", self=noise(2, 3), dim=[0], correction=1, keepdim=False, varOut=Out(noise(2), False), meanOut=Out(noise(3), False),
          refuse=(161002, "varOut has the shape"))

# Sums, extremes and traces.
for dtype in FLOATS + [i64, boolean]:
    for shape, dims, keep in [((2, 3), [1], False), ((2, 3, 2), [0, -1], True), ((5,), [], False), ((0, 3), [0], False), ((), [], False)]:
        x = noise(*shape, dtype=dtype)
        if dtype.is_floating_point and x.numel() > 2:
            x.view(-1)[1] = nan
        total = f32 if dtype in (f16, bf16) else i64 if dtype == boolean else dtype
        axes = dims or list(range(x.dim()))
        out = precise(x).nan_to_num(0.0).sum(axes, keep) if dtype.is_floating_point else x.sum(axes, keep)
        cases.add("aclnnReduceNansum", self=x, dim=dims, keepDim=keep, dtype=total, out=Out(out.to(total)))
        if len(dims) < 2 and x.numel():
            x = noise(*shape, dtype=dtype)
            least, greatest = torch.aminmax(x, dim=dims[0] if dims else None, keepdim=keep)
            cases.add("aclnnAminmax", self=x, dim=dims, keepDim=keep, minOut=Out(least), maxOut=Out(greatest))
for dtype in FLOATS + [i64, i8, boolean, c64]:
    for shape in [(3, 3), (2, 4), (0, 3)]:
        x = noise(*shape, dtype=dtype)
        out = precise(x.to(i64) if dtype == boolean else x).trace().to(i64 if dtype in (i8, boolean) else dtype)
        cases.add("aclnnTrace", self=x, out=Out(out))
cases.add("aclnnTrace", self=noise(3), out=Out(torch.tensor(0.0), False), refuse=(161002, "2 dimensions"))

# Vector products.
for dtype in FLOATS + [i64, i8, c64]:
    for one, two, dim in [((3,), (3,), 0), ((2, 3), (2, 3), 1), ((3, 2), (3, 1), 0), ((2, 3, 2), (1, 3, 2), -2)]:
        x, y = noise(*one, dtype=dtype), noise(*two, dtype=dtype)
        out = torch.linalg.cross(precise(x), precise(y), dim=dim).to(dtype)
        cases.add("aclnnLinalgCross", self=x, other=y, dim=dim, out=Out(out))
cases.add("aclnnLinalgCross", self=noise(4), other=noise(4), dim=0, out=Out(noise(4), False), refuse=(161002, "3 entries"))

# Powers at equal distances.
for dtype in FLOATS + [i64, c64]:
    for start, end, steps, base in [(0, 3, 4, 2.0), (0, 2, 5, 10.0), (1, 1, 1, 3.0), (0, 1, 0, 2.0), (4, -1, 6, 2.0)]:
        if dtype == i64 and (end < 0 or steps == 5):
            continue
        out = torch.logspace(start, end, steps, base, dtype=torch.complex128 if dtype == c64 else f64).to(dtype)
        cases.add("aclnnLogSpace", start=Scalar(start, i64), end=Scalar(end, i64), steps=steps, base=base, result=Out(out), within=WITHIN.get(dtype))
cases.add("aclnnLogSpace", start=Scalar(0, i64), end=Scalar(1, i64), steps=3, base=2.0, result=Out(noise(2), False), refuse=(161002, "steps is 3"))

# Histograms.
for dtype in FLOATS:
    for shape, bins, least, most in [((20,), 4, 0.0, 0.0), ((3, 5), 5, -1.0, 1.0), ((6,), 3, 5.0, 6.0), ((0,), 2, 0.0, 0.0), ((4,), 1, 0.0, 0.0)]:
        x = noise(*shape, dtype=dtype)
        cases.add("aclnnHistc", self=x, bins=bins, min=Scalar(least), max=Scalar(most), out=Out(torch.histc(x.double(), bins, least, most).to(dtype)))
same = torch.full((3,), 2.0)
cases.add("aclnnHistc", self=same, bins=4, min=Scalar(0.0), max=Scalar(0.0), out=Out(torch.histc(same, 4)))
cases.add("aclnnHistc", self=same, bins=0, min=Scalar(0.0), max=Scalar(0.0), out=Out(noise(1), False), refuse=(161002, "bins is 0"))
cases.add("aclnnHistc", self=same, bins=2, min=Scalar(2.0), max=Scalar(1.0), out=Out(noise(2), False), refuse=(161002, "min is 2"))
for dtype in [i64, i32, i8, u8]:
    x = torch.tensor([3, 0, 1, 3, 3]).to(dtype)
    for weight in [None, noise(5), noise(5, dtype=f64), noise(5, dtype=i64)]:
        for least in [0, 7]:
            out = torch.bincount(x, weight.double() if weight is not None else None, least)
            kind = i64 if weight is None else f32 if weight.dtype == f32 else f64
            cases.add("aclnnBincount", self=x, weights=Null if weight is None else weight, minlength=least, out=Out(out.to(kind)))
cases.add("aclnnBincount", self=noise(3), weights=Null, minlength=0, out=Out(noise(3, dtype=i64), False), refuse=(161002, "self has the type float32"))
cases.add("aclnnBincount", self=noise(3, dtype=i64), weights=noise(2), minlength=0, out=Out(noise(3), False), refuse=(161002, "weights has the shape"))

# Positions in sorted rows.
for dtype in FLOATS + [i64, i32]:
    for rows, shape in [((6,), (2, 3)), ((2, 5), (2, 4)), ((5,), ()), ((0,), (3,)), ((2, 3, 4), (2, 3, 2))]:
        unsorted = noise(*rows, dtype=dtype)
        ordered, order = unsorted.sort(-1)
        x = noise(*shape, dtype=dtype)
        if x.numel() and ordered.numel():
            x.view(-1)[0] = ordered.view(-1)[1]
        for right in [False, True]:
            out = torch.searchsorted(ordered, x, right=right)
            cases.add("aclnnSearchSorted", sortedSequence=ordered, self=x, outInt32=False, right=right, sorter=Null, out=Out(out))
            cases.add("aclnnSearchSorted", sortedSequence=unsorted, self=x, outInt32=True, right=right, sorter=order, out=Out(out.to(i32)))
given = dict(outInt32=False, right=False, sorter=Null)
cases.add("aclnnSearchSorted", sortedSequence=noise(2, 3), self=noise(3, 2), out=Out(torch.zeros(3, 2, dtype=i64), False), refuse=(161002, "self has the shape"), **given)

# Distances of rows.
for dtype in FLOATS:
    for one, two in [((3, 2), (4, 2)), ((2, 3, 4), (1, 2, 4)), ((2, 3), (0, 3)), ((2, 0), (3, 0))]:
        for order in [2.0, 1.0, 0.0, 3.0, inf, 0.5]:
            x, y = noise(*one, dtype=dtype), noise(*two, dtype=dtype)
            ex = x.double().requires_grad_()
            out = torch.cdist(ex, y.double(), order)
            within = {f32: 1e-5, f16: 4e-3, bf16: 3e-2}.get(dtype)
            cases.add("aclnnCdist", x1=x, x2=y, p=order, compute_mode=0, out=Out(out.detach().to(dtype)), within=within)
            if out.numel() and x.numel() and dtype in (f32, f64):
                gradient = noise(*out.shape, dtype=dtype)
                (to_x,) = torch.autograd.grad(out, ex, gradient.double())
                cases.add("aclnnCdistBackward", grad=gradient, x1=x.expand_as(to_x), x2=y, cdist=out.detach().to(dtype), p=order, out=Out(to_x.to(dtype)), within=1e-4)
    for shape in [(4, 3), (1, 3), (3, 0)]:
        for order in [2.0, 1.0, 0.0, inf]:
            x = noise(*shape, dtype=dtype)
            out = torch.pdist(x.double(), order).to(dtype)
            cases.add("aclnnPdist", self=x, p=order, out=Out(out), within=WITHIN.get(dtype))
            cases.add("aclnnPdistForward", self=x, pScalar=Scalar(order), out=Out(out), within=WITHIN.get(dtype))
cases.add("aclnnCdist", x1=noise(2, 3), x2=noise(2, 4), p=2.0, compute_mode=0, out=Out(noise(2, 2), False), refuse=(161002, "same width"))
cases.add("aclnnPdist", self=noise(2, 3), p=-1.0, out=Out(noise(1), False), refuse=(161002, "p is -1"))

# Normalization over groups.
for dtype in FLOATS:
    for shape, groups, affine in [((2, 4, 3), 2, True), ((1, 6, 2, 2), 3, True), ((2, 4, 5), 1, False), ((3, 2), 2, True), ((0, 4, 2), 2, True), ((2, 4, 33, 37), 2, True)]:
        if dtype != f32 and shape[0] != 2:
            continue
        x = noise(*shape, dtype=dtype)
        gamma, beta = (noise(shape[1], dtype=dtype) for _ in range(2)) if affine else (None, None)
        size = dict(N=shape[0], C=shape[1], HxW=torch.Size(shape[2:]).numel(), group=groups)
        doubles = [None if each is None else each.double().requires_grad_() for each in (x, gamma, beta)]
        out, mean, rstd = aten.native_group_norm(*doubles, size["N"], size["C"], size["HxW"], groups, 1e-5)
        within = {f32: 2e-5, f16: 5e-3, bf16: 4e-2}.get(dtype)
        given = dict(gamma=Null if gamma is None else gamma, **size)
        empty = x.numel() == 0
        cases.add("aclnnGroupNorm", self=x, beta=Null if beta is None else beta, eps=1e-5, out=Out(out.detach().to(dtype)), meanOut=Out(mean.detach().to(dtype), not empty),
                  rstdOut=Out(rstd.detach().to(dtype), not empty), within=within, bare=dtype != torch.float64, **given)
        gradient = noise(*shape, dtype=dtype)
        wanted = torch.autograd.grad(out, [each for each in doubles if each is not None], gradient.double(), allow_unused=True)
        to_x, *rest = [torch.zeros(0) if each is None else each for each in wanted]
        if empty:
            continue
        words = dict(zip(["gradGammaOut", "gradBetaOut"], (Out(each.to(dtype)) for each in rest), strict=False)) if affine else dict(gradGammaOut=Null, gradBetaOut=Null)
        cases.add("aclnnGroupNormBackward", gradOut=gradient, input=x, mean=mean.detach().to(dtype), rstd=rstd.detach().to(dtype), outputMask=[True, affine, affine],
                  gradInput=Out(to_x.to(dtype)), within={f32: 1e-4, f16: 2e-2, bf16: 1.5e-1}.get(dtype), **words, **given)
x = noise(2, 4, 3)
given = dict(self=x, gamma=Null, beta=Null, N=2, C=4, HxW=3, eps=1e-5, out=Out(x, False), meanOut=Out(noise(2, 2), False), rstdOut=Out(noise(2, 2), False))
cases.add("aclnnGroupNorm", group=3, refuse=(161002, "divide C"), **given)
cases.add("aclnnGroupNorm", group=2, refuse=(161002, "as many elements"), **{**given, "HxW": 4})

# Limits that are not integers, of integers.
for start, end, steps, base in [(-4.3, 50.0, 9, 2.0), (0.0, 3.7, 6, 10.0), (2.0, -1.0, 5, 3.0), (0.9, 2.1, 4, 2.5)]:
    out = torch.logspace(start, end, steps, base, dtype=i64)
    cases.add("aclnnLogSpace", start=Scalar(start, f64), end=Scalar(end, f64), steps=steps, base=base, result=Out(out))
cases.write()
