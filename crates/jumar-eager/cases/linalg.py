"""Makes linalg.txt: `python linalg.py` in an environment with PyTorch."""

import torch

from cases import Cases, InOut, Out, Scalar

torch.manual_seed(23)
cases = Cases("linalg")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i64, c64, c128 = torch.int64, torch.complex64, torch.complex128
FLOATS = [f32, f16, bf16, f64]
WITHIN = {f32: 2e-5, c64: 2e-5, f64: 1e-11, c128: 1e-11}


def noise(*shape, dtype=f32):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    if dtype.is_complex:
        return torch.complex(noise(*shape), noise(*shape)).to(dtype)
    if dtype == i64:
        return torch.randint(-9, 10, shape)
    return (torch.randint(-100, 101, shape) / 64).to(dtype)


def wide(x):
    return x.to(c128) if x.is_complex() else x.double() if x.is_floating_point() else x


# Triangular systems.
for dtype in [f32, f64, c64, c128]:
    for b, a in [((3, 2), (3, 3)), ((2, 3, 1), (2, 3, 3)), ((4, 2), (2, 4, 4)), ((2, 2, 3), (2, 2)), ((0, 2), (0, 0)), ((3, 0), (3, 3))]:
        for flags in range(8):
            upper, transposed, unit = flags & 1 > 0, flags & 2 > 0, flags & 4 > 0
            if dtype != f32 and flags % 3:
                continue
            x, m = noise(*b, dtype=dtype), noise(*a, dtype=dtype)
            m = m + 3 * torch.eye(a[-1], dtype=dtype)
            out, copy = torch.triangular_solve(wide(x), wide(m), upper, transposed, unit)
            cases.add("aclnnTriangularSolve", self=x, A=m, upper=upper, transpose=transposed, unitriangular=unit, xOut=Out(out.to(dtype)),
                      mOut=Out(copy.to(dtype)), within=WITHIN[dtype])
x = noise(3, 2)
given = dict(upper=True, transpose=False, unitriangular=False, xOut=Out(x, False), mOut=Out(noise(3, 3), False))
cases.add("aclnnTriangularSolve", self=x, A=noise(2, 2), refuse=(161002, "square"), **given)
cases.add("aclnnTriangularSolve", self=noise(3), A=noise(3, 3), refuse=(161002, "at least 2"), **given)

# Roots of positive definite matrices.
for dtype in [f32, f64, c64, c128]:
    for shape in [(3, 3), (2, 4, 4), (1, 1), (0, 0), (2, 0, 3, 3)]:
        x = noise(*shape, dtype=dtype)
        x = (x @ x.mH + torch.eye(shape[-1], dtype=dtype)) if x.numel() else x
        for upper in [False, True]:
            cases.add("aclnnLinalgCholesky", self=x, upper=upper, out=Out(torch.linalg.cholesky(wide(x), upper=upper).to(dtype)), within=WITHIN[dtype])
cases.add("aclnnLinalgCholesky", self=noise(2, 3), upper=False, out=Out(noise(2, 3), False), refuse=(161002, "square"))
cases.add("aclnnLinalgCholesky", self=noise(2, 2, dtype=i64), upper=False, out=Out(noise(2, 2, dtype=i64), False), refuse=(161002, "floating-point"))

# Unitary and triangular factors.
for dtype in [f32, f64, c64, c128]:
    for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (0, 2), (2, 0), (5, 3)]:
        x = noise(*shape, dtype=dtype)
        for number, mode in enumerate(["reduced", "complete", "r"]):
            q, r = torch.linalg.qr(wide(x), mode)
            cases.add("aclnnLinalgQr", self=x, mode=number, Q=Out(q.to(dtype), number < 2), R=Out(r.to(dtype)), within=WITHIN[dtype])
cases.add("aclnnLinalgQr", self=noise(2, 2), mode=3, Q=Out(noise(2, 2), False), R=Out(noise(2, 2), False), refuse=(161002, "mode is 3"))
cases.add("aclnnLinalgQr", self=noise(3, 2), mode=0, Q=Out(noise(3, 3), False), R=Out(noise(2, 2), False), refuse=(161002, "Q has the shape"))

# Singular values. Vectors have no unique signs, so that cases state those of matrices with known ones.
for dtype in [f32, f64]:
    for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (0, 2), (6, 5)]:
        x = noise(*shape, dtype=dtype)
        s = torch.linalg.svdvals(wide(x)).to(dtype)
        cases.add("aclnnSvd", input=x, fullMatrices=False, computeUV=False, sigma=Out(s), u=Out(noise(0), False), v=Out(noise(0), False), within=WITHIN[dtype])
for dtype in [f32, f64]:
    diagonal = torch.diag(torch.tensor([3.0, 2.0, 1.0])).to(dtype)
    unit = torch.eye(3, dtype=dtype)
    cases.add("aclnnSvd", input=diagonal, fullMatrices=True, computeUV=True, sigma=Out(torch.tensor([3.0, 2.0, 1.0]).to(dtype)), u=Out(unit), v=Out(unit))
    low = torch.tensor([[0.0, 0.0], [5.0, 0.0], [0.0, 0.0]]).to(dtype)
    u = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).to(dtype)
    cases.add("aclnnSvd", input=low, fullMatrices=True, computeUV=True, sigma=Out(torch.tensor([5.0, 0.0]).to(dtype)), u=Out(u), v=Out(torch.eye(2, dtype=dtype)))
    cases.add("aclnnSvd", input=low.mT, fullMatrices=False, computeUV=True, sigma=Out(torch.tensor([5.0, 0.0]).to(dtype)), u=Out(torch.eye(2, dtype=dtype)), v=Out(u[:, :2]))
cases.add("aclnnSvd", input=noise(2, 3), fullMatrices=False, computeUV=True, sigma=Out(noise(2), False), u=Out(noise(2, 3), False), v=Out(noise(3, 2), False),
          refuse=(161002, "u has the shape"))

# Products of complex matrices, and products that are added.
for dtype in FLOATS + [i64, c64, c128]:
    within = {f32: 1e-5, c64: 1e-5}.get(dtype)
    for one, two in [((2, 3), (3, 4)), ((3,), (3,)), ((2, 2, 3), (3, 2)), ((2, 0), (0, 3)), ((3, 2), (2,))] if dtype.is_complex else []:
        x, y = noise(*one, dtype=dtype), noise(*two, dtype=dtype)
        cases.add("aclnnMatmul", self=x, mat2=y, cubeMathType=0, out=Out((wide(x) @ wide(y)).to(dtype)), within=within)
    for beta, alpha in [(1.0, 1.0), (0.5, -2.0), (0.0, 3.0)] if dtype != i64 else [(1, 1), (2, -3)]:
        kind = i64 if dtype == i64 else f64
        numbers = dict(beta=Scalar(beta, kind), alpha=Scalar(alpha, kind), cubeMathType=0)
        x, y = noise(3, 2, 4, dtype=dtype), noise(3, 4, 2, dtype=dtype)
        for shape in [(2, 2), (2,), ()]:
            addend = noise(*shape, dtype=dtype)
            out = torch.addbmm(wide(addend).expand(2, 2), wide(x), wide(y), beta=beta, alpha=alpha).to(dtype)
            cases.add("aclnnAddbmm", self=addend, batch1=x, batch2=y, out=Out(out), within=within, **numbers)
        addend = noise(2, 2, dtype=dtype)
        out = torch.addmm(wide(addend), wide(x[0]), wide(y[0]), beta=beta, alpha=alpha).to(dtype)
        cases.add("aclnnInplaceAddmm", selfRef=InOut(addend, out), mat1=x[0].clone(), mat2=y[0].clone(), within=within, **numbers)
given = dict(beta=Scalar(1.0), alpha=Scalar(1.0), cubeMathType=0, out=Out(noise(2, 2), False))
cases.add("aclnnAddbmm", self=noise(2, 2), batch1=noise(3, 2, 4), batch2=noise(2, 4, 2), refuse=(161002, "do not exist"), **given)
cases.write()
