"""Makes matrix.txt: `python matrix.py` in an environment with PyTorch."""

import torch

from cases import Cases, Null, Out, Scalar

torch.manual_seed(8)
cases = Cases("matrix")
f32, f16, bf16, f64, i32, i64, i8, u8 = (
    torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.int8, torch.uint8,
)
FLOATS = [f32, f16, bf16, f64]
nan = float("nan")


def noise(*shape, dtype=f32, scale=2.0):
    if dtype in (i32, i64, i8, u8):
        return torch.randint(0 if dtype == u8 else -9, 10, shape).to(dtype)
    return (torch.rand(shape, dtype=f64) * 2 * scale - scale).to(dtype)


def wide(x):
    """Products of halves are summed in float32 and rounded once."""
    return x.float() if x.dtype in (f16, bf16) else x


SHAPES = [
    ([3], [3]), ([3], [3, 2]), ([2, 3], [3]), ([2, 3], [3, 4]), ([1, 5], [5, 1]), ([3], [2, 3, 4]), ([2, 4, 3], [3]),
    ([2, 4, 3], [3, 2]), ([4, 3], [2, 3, 2]), ([2, 4, 3], [2, 3, 5]), ([1, 4, 3], [2, 3, 5]), ([3, 1, 2, 4], [2, 4, 3]),
    ([2, 1, 3, 4], [1, 3, 4, 2]), ([2, 1, 2, 2, 3], [3, 1, 3, 2]), ([2, 0], [0, 3]), ([0, 2], [2, 3]), ([2, 2, 0], [2, 0, 2]),
    ([0, 2, 2], [2, 2]), ([0], [0]), ([1, 2, 1, 1, 2, 3], [1, 2, 1, 1, 3, 2]),
]
for dtype in FLOATS:
    for one, two in SHAPES:
        x, y = noise(*one, dtype=dtype), noise(*two, dtype=dtype)
        cases.add("aclnnMatmul", self=x, mat2=y, out=Out((wide(x) @ wide(y)).to(dtype)), cubeMathType=0)
x, y = noise(17, 33), noise(33, 19)
cases.add("aclnnMatmul", self=x, mat2=y, out=Out((x.double() @ y.double()).float()), cubeMathType=1, within=1e-5)
x, y = noise(2, 3, dtype=i32), noise(3, 2, dtype=i32)
cases.add("aclnnMatmul", self=x, mat2=y, out=Out(x @ y), cubeMathType=0)
x, y = noise(2, 3, dtype=f16), noise(3, 2)
cases.add("aclnnMatmul", self=x, mat2=y, out=Out(x.float() @ y), cubeMathType=0)
x = noise(2, 3, dtype=f16)
cases.add("aclnnMatmul", self=x, mat2=x.T, out=Out(x.float() @ x.T.float()), cubeMathType=0, within=2e-3)
x, y = torch.tensor([[nan, 1.0], [1.0, 2.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
cases.add("aclnnMatmul", self=x, mat2=y, out=Out(x @ y), cubeMathType=0)
none = Out(noise(2, 2), False)
cases.add("aclnnMatmul", self=noise(2, 3), mat2=noise(2, 3), out=none, cubeMathType=0, refuse=(161002, "product does not exist"))
cases.add("aclnnMatmul", self=torch.tensor(1.0), mat2=noise(2, 3), out=none, cubeMathType=0, refuse=(161002, "product does not exist"))
cases.add("aclnnMatmul", self=noise(2, 3), mat2=noise(3, 3), out=none, cubeMathType=0, refuse=(161002, "out has the shape"))
cases.add("aclnnMatmul", self=noise(2, 3, 3), mat2=noise(4, 3, 2), out=none, cubeMathType=0, refuse=(161002, "product does not exist"))
cases.add("aclnnMatmul", self=Null, mat2=noise(3, 3), out=none, cubeMathType=0, refuse=(161001, "self"))

for dtype in FLOATS + [i32]:
    for m, k, n in [(2, 3, 4), (1, 1, 1), (5, 7, 3), (2, 0, 3), (0, 2, 3)]:
        x, y = noise(m, k, dtype=dtype), noise(k, n, dtype=dtype)
        cases.add("aclnnMm", self=x, mat2=y, out=Out((wide(x) @ wide(y)).to(dtype)), cubeMathType=0)
        v = noise(k, dtype=dtype)
        cases.add("aclnnMv", self=x, vec=v, out=Out((wide(x) @ wide(v)).to(dtype)), cubeMathType=0)
        x, y = noise(2, m, k, dtype=dtype), noise(2, k, n, dtype=dtype)
        cases.add("aclnnBatchMatMul", self=x, mat2=y, out=Out((wide(x) @ wide(y)).to(dtype)), cubeMathType=0)
x, y = noise(1, 2, 3), noise(4, 3, 2)
cases.add("aclnnBatchMatMul", self=x, mat2=y, out=Out(x @ y), cubeMathType=0)
cases.add("aclnnMm", self=noise(3), mat2=noise(3, 2), out=none, cubeMathType=0, refuse=(161002, "self has 1 dimensions"))
cases.add("aclnnBatchMatMul", self=noise(2, 3), mat2=noise(3, 2), out=none, cubeMathType=0, refuse=(161002, "3 are wanted"))
cases.add("aclnnMv", self=noise(2, 3), vec=noise(4), out=Out(noise(2), False), cubeMathType=0, refuse=(161002, "product does not exist"))
cases.add("aclnnMv", self=noise(2, 3), vec=noise(3, 2), out=none, cubeMathType=0, refuse=(161002, "vec has 2 dimensions"))
for dtype in FLOATS + [i32, i8, u8]:
    for size in [5, 1, 0]:
        x, y = noise(size, dtype=dtype), noise(size, dtype=dtype)
        out = (wide(x) * wide(y)).sum().to(dtype)
        cases.add("aclnnDot", self=x, tensor=y, out=Out(out))
cases.add("aclnnDot", self=noise(3), tensor=noise(4), out=Out(torch.tensor(0.0), False), refuse=(161002, "product does not exist"))
cases.add("aclnnDot", self=noise(3, 1), tensor=noise(3), out=Out(torch.tensor(0.0), False), refuse=(161002, "self has 2 dimensions"))

for dtype in FLOATS + [i32]:
    for beta, alpha in [(1, 1), (2, -3), (0, 2)] + ([(0.5, 1.5)] if dtype != i32 else []):
        kind = i64 if isinstance(beta, int) else f64
        given = dict(beta=Scalar(beta, kind), alpha=Scalar(alpha, kind), cubeMathType=0)
        for shape in [(2, 4), (4,), (1, 1), ()]:
            x, a, b = noise(*shape, dtype=dtype), noise(2, 3, dtype=dtype), noise(3, 4, dtype=dtype)
            out = torch.addmm(wide(x), wide(a), wide(b), beta=beta, alpha=alpha).to(dtype)
            cases.add("aclnnAddmm", self=x, mat1=a, mat2=b, out=Out(out), **given)
        x, a, b = noise(2, dtype=dtype), noise(2, 3, dtype=dtype), noise(3, dtype=dtype)
        out = torch.addmv(wide(x), wide(a), wide(b), beta=beta, alpha=alpha).to(dtype)
        cases.add("aclnnAddmv", self=x, mat=a, vec=b, out=Out(out), **given)
        for shape in [(2, 2, 4), (1, 4)]:
            x, a, b = noise(*shape, dtype=dtype), noise(2, 2, 3, dtype=dtype), noise(2, 3, 4, dtype=dtype)
            out = torch.baddbmm(wide(x), wide(a), wide(b), beta=beta, alpha=alpha).to(dtype)
            cases.add("aclnnBaddbmm", self=x, batch1=a, batch2=b, out=Out(out), **given)
one = dict(beta=Scalar(1.0), alpha=Scalar(1.0), cubeMathType=0)
x = torch.full((2, 2), nan)
a, b = noise(2, 3), noise(3, 2)
cases.add(
    "aclnnAddmm", self=x, mat1=a, mat2=b, out=Out(a @ b), beta=Scalar(0.0), alpha=Scalar(1.0), cubeMathType=0
)
x = noise(2, 2)
cases.add("aclnnAddmm", self=x, mat1=noise(2, 0), mat2=noise(0, 2), out=Out(x), **one)
cases.add("aclnnAddmm", self=noise(0, 2), mat1=noise(0, 3), mat2=noise(3, 2), out=Out(noise(0, 2)), **one)
cases.add("aclnnAddmm", self=noise(3, 2), mat1=a, mat2=b, out=none, refuse=(161002, "broadcast"), **one)
cases.add("aclnnAddmm", self=x, mat1=a, mat2=a, out=none, refuse=(161002, "product does not exist"), **one)
cases.add("aclnnAddmm", self=x, mat1=a, mat2=b, out=none, beta=Null, alpha=Scalar(1.0), cubeMathType=0, refuse=(161001, "beta"))
cases.add("aclnnAddmm", self=noise(2), mat1=noise(3), mat2=noise(3, 2), out=Out(noise(2), False), refuse=(161002, "dimensions"), **one)
cases.add("aclnnAddmv", self=noise(2), mat=a, vec=noise(2), out=Out(noise(2), False), refuse=(161002, "product does not exist"), **one)
cases.add("aclnnBaddbmm", self=x, batch1=a, batch2=b, out=none, refuse=(161002, "dimensions"), **one)
cases.add(
    "aclnnBaddbmm", self=x, batch1=noise(2, 2, 3), batch2=noise(3, 3, 2), out=Out(noise(2, 2, 2), False), refuse=(161002, "exist"), **one
)
cases.write()
