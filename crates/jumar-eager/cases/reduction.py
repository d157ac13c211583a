"""Makes reduction.txt: `python reduction.py` in an environment with PyTorch."""

import torch

from cases import Cases, Null, Out, Scalar

torch.manual_seed(7)
cases = Cases("reduction")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i8, i16, i32, i64, u8, boolean = torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool
FLOATS = [f32, f16, bf16, f64]
INTS = [i8, i16, i32, i64, u8]
nan, inf = float("nan"), float("inf")
# Dimensions to reduce of a tensor with three, and whether they stay.
AXES = [([0], True), ([-1], False), ([0, 2], False), ([-2, 0], True), ([], False), ([], True), ([0, 1, 2], False)]


def noise(*shape, dtype=f32, scale=2.0):
    if dtype == boolean:
        return torch.rand(shape) < 0.5
    if dtype in INTS:
        return torch.randint(0 if dtype == u8 else -9, 10, shape).to(dtype)
    return (torch.rand(shape, dtype=f64) * 2 * scale - scale).to(dtype)


def wide(x):
    """Halves are computed in float32 and rounded once."""
    return x.float() if x.dtype in (f16, bf16) else x


def every(dims, rank):
    """PyTorch takes an empty list as no dimension in some functions, where aclnn means all."""
    return dims if dims else list(range(rank))


# Sums and means.
for name, function, dims_name, keep_name in [
    ("ReduceSum", torch.sum, "dims", "keepDims"),
    ("Mean", torch.mean, "dim", "keepDim"),
]:
    def add(x, dims, keep, dtype, function=function, name=name, dims_name=dims_name, keep_name=keep_name, out=None):
        if out is None:
            out = function(wide(x.to(dtype)), dim=every(dims, x.dim()), keepdim=keep).to(dtype)
        values = {dims_name: dims, keep_name: keep}
        cases.add(f"aclnn{name}", self=x, dtype=dtype, out=Out(out), **values)

    for dtype in FLOATS:
        for dims, keep in AXES:
            add(noise(3, 4, 5, dtype=dtype), dims, keep, dtype)
    add(noise(2, 3, dtype=f16), [1], False, f32)
    add(noise(2, 3, dtype=i32), [1], False, f32)
    add(noise(2, 3, dtype=boolean), [0], False, f32)
    add(torch.tensor([[nan, 1.0], [inf, 2.0]]), [1], False, f32)
    add(torch.tensor(2.5), [], False, f32)
    add(torch.tensor(2.5), [0], True, f32)
    add(torch.tensor(2.5), [-1], False, f64)
    add(noise(0, 3), [0], False, f32)
    add(noise(0, 3), [0], True, f32)
    add(noise(0, 3), [1], False, f32)
    add(noise(2, 0), [], False, f32)
    add(noise(700), [0], False, f32)
    add(noise(3, 300, dtype=f16), [1], False, f16)
    x = noise(2, 3)
    bad = {dims_name: [2], keep_name: False}
    cases.add(f"aclnn{name}", self=x, dtype=f32, out=Out(x[0], False), refuse=(161002, dims_name), **bad)
    bad[dims_name] = [0, -2]
    cases.add(f"aclnn{name}", self=x, dtype=f32, out=Out(x[0], False), refuse=(161002, "twice"), **bad)
    bad[dims_name] = [0]
    cases.add(f"aclnn{name}", self=x, dtype=f32, out=Out(x, False), refuse=(161002, "out has the shape"), **bad)
    cases.add(f"aclnn{name}", self=Null, dtype=f32, out=Out(x[0], False), refuse=(161001, "self"), **bad)
for dtype in INTS:
    x = noise(3, 4, dtype=dtype)
    cases.add("aclnnReduceSum", self=x, dims=[0], keepDims=False, dtype=dtype, out=Out(x.sum(0).to(dtype)))
    cases.add("aclnnReduceSum", self=x, dims=[1], keepDims=True, dtype=i64, out=Out(x.sum(1, keepdim=True)))
x = noise(4, 5, dtype=boolean)
cases.add("aclnnReduceSum", self=x, dims=[], keepDims=False, dtype=i64, out=Out(x.sum()))
cases.add("aclnnReduceSum", self=x, dims=[1], keepDims=False, dtype=i32, out=Out(x.sum(1).int()))
cases.add("aclnnReduceSum", self=x, dims=[1], keepDims=False, dtype=boolean, out=Out(x.any(1)))
x = torch.complex(noise(2, 3), noise(2, 3))
cases.add("aclnnReduceSum", self=x, dims=[1], keepDims=False, dtype=x.dtype, out=Out(x.sum(1)))
cases.add("aclnnMean", self=x, dim=[0, 1], keepDim=True, dtype=x.dtype, out=Out(x.mean((0, 1), True)))
cases.add("aclnnProd", self=x, dtype=x.dtype, out=Out(x.prod()))
cases.add("aclnnCumsum", self=x, dim=1, dtype=x.dtype, out=Out(x.cumsum(1)))

# All and any.
for name, function in [("All", torch.all), ("Any", torch.any)]:
    for dtype in FLOATS + INTS + [boolean]:
        x = noise(3, 4, dtype=dtype)
        x[1] = 1
        x[2] = 0
        for dims, keep in [([1], False), ([0, 1], True), ([], False), ([-2], True)]:
            out = x
            for dim in every(dims, 2):
                out = function(out, dim % 2, keepdim=True)
            out = out if keep else out.reshape([size for dim, size in enumerate(x.shape) if dim not in [d % 2 for d in every(dims, 2)]])
            cases.add(f"aclnn{name}", self=x, dim=dims, keepdim=keep, out=Out(out.bool()))
    x = noise(3, 4, dtype=boolean)
    cases.add(f"aclnn{name}", self=x, dim=[0], keepdim=False, out=Out(function(x, 0).to(u8)))
    x = torch.tensor([[nan, 0.0], [0.0, 0.0]])
    cases.add(f"aclnn{name}", self=x, dim=[1], keepdim=False, out=Out(function(x, 1)))
    x = noise(0, 3, dtype=boolean)
    cases.add(f"aclnn{name}", self=x, dim=[0], keepdim=False, out=Out(function(x, 0)))
    cases.add(f"aclnn{name}", self=x, dim=[], keepdim=False, out=Out(function(x)))
    cases.add(f"aclnn{name}", self=x, dim=[1], keepdim=True, out=Out(function(x, 1, keepdim=True)))
    cases.add(f"aclnn{name}", self=torch.tensor(True), dim=[0], keepdim=False, out=Out(torch.tensor(True)))
    cases.add(f"aclnn{name}", self=torch.tensor(0.0), dim=[], keepdim=False, out=Out(torch.tensor(False)))
    cases.add(f"aclnn{name}", self=x, dim=[2], keepdim=True, out=Out(x, False), refuse=(161002, "dim is 2"))
    cases.add(f"aclnn{name}", self=x, dim=[0], keepdim=True, out=Out(x, False), refuse=(161002, "out has the shape"))

# Extremes.
special = torch.tensor([[1.0, nan, 3.0], [inf, -inf, 0.0], [-inf, -inf, -inf], [nan, nan, 1.0]])
for name, function in [("Amax", torch.amax), ("Amin", torch.amin)]:
    for dtype in FLOATS + INTS + [boolean]:
        for dims, keep in AXES if dtype in (f32, i32) else [([0, -1], False), ([1], True)]:
            x = noise(3, 4, 5, dtype=dtype)
            cases.add(f"aclnn{name}", self=x, dim=dims, keepDim=keep, out=Out(function(x, dims, keepdim=keep)))
    for dtype in FLOATS:
        x = special.to(dtype)
        cases.add(f"aclnn{name}", self=x, dim=[1], keepDim=False, out=Out(function(x, [1])))
        cases.add(f"aclnn{name}", self=x, dim=[], keepDim=False, out=Out(function(x)))
    cases.add(f"aclnn{name}", self=torch.tensor(4), dim=[-1], keepDim=True, out=Out(torch.tensor(4)))
    x = noise(0, 3)
    cases.add(f"aclnn{name}", self=x, dim=[1], keepDim=False, out=Out(function(x, [1])))
    cases.add(f"aclnn{name}", self=x, dim=[0], keepDim=False, out=Out(noise(3), False), refuse=(161002, "no elements"))
    x = noise(2, 3)
    cases.add(f"aclnn{name}", self=x, dim=[-3], keepDim=False, out=Out(x[0], False), refuse=(161002, "dim is -3"))
for name, function in [("Max", torch.max), ("Min", torch.min)]:
    for dtype in FLOATS + INTS + [boolean]:
        x = noise(3, 4, dtype=dtype)
        cases.add(f"aclnn{name}", self=x, out=Out(function(x)))
    for dtype in FLOATS:
        cases.add(f"aclnn{name}", self=special.to(dtype), out=Out(function(special).to(dtype)))
    cases.add(f"aclnn{name}", self=torch.tensor(-1.5), out=Out(torch.tensor(-1.5)))
    x = noise(2, 3)
    cases.add(f"aclnn{name}", self=x, out=Out(function(x).reshape(1)))
    cases.add(f"aclnn{name}", self=noise(0), out=Out(torch.tensor(0.0), False), refuse=(161002, "no elements"))
    cases.add(f"aclnn{name}", self=x, out=Out(x, False), refuse=(161002, "out has the shape"))
    cases.add(f"aclnn{name}", self=x, out=Null, refuse=(161001, "out"))
for name, function, extreme in [("Max", torch.argmax, torch.max), ("Min", torch.argmin, torch.min)]:
    for dtype in FLOATS + INTS + [boolean]:
        for dim, keep in [(1, False), (-2, True), (0, False)]:
            # Integers tie often: the first position counts.
            x = noise(3, 4, dtype=dtype)
            values, _ = extreme(x, dim, keepdim=keep)
            order = x.to(i64) if dtype in INTS + [boolean] else x
            first = torch.from_numpy(
                (order.double().numpy().argmax(dim) if name == "Max" else order.double().numpy().argmin(dim))
            )
            first = first.unsqueeze(dim) if keep else first
            cases.add(f"aclnn{name}Dim", self=x, dim=dim, keepdim=keep, out=Out(values), indices=Out(first))
            if dtype != boolean:
                cases.add(f"aclnnArg{name}", self=x, dim=dim, keepdim=keep, out=Out(first))
    values, indices = extreme(special, 1)
    cases.add(f"aclnn{name}Dim", self=special, dim=1, keepdim=False, out=Out(values), indices=Out(indices))
    cases.add(f"aclnnArg{name}", self=special, dim=1, keepdim=False, out=Out(indices))
    cases.add(f"aclnnArg{name}", self=special.half(), dim=-1, keepdim=False, out=Out(indices.int()))
    cases.add(f"aclnnArg{name}", self=special.double(), dim=-1, keepdim=True, out=Out(indices.unsqueeze(1)))
    x = torch.tensor(3.0)
    cases.add(f"aclnn{name}Dim", self=x, dim=-1, keepdim=False, out=Out(x), indices=Out(torch.tensor(0)))
    cases.add(f"aclnnArg{name}", self=x, dim=0, keepdim=True, out=Out(torch.tensor(0)))
    x = noise(0, 3)
    values, indices = extreme(x, 1)
    cases.add(f"aclnn{name}Dim", self=x, dim=1, keepdim=False, out=Out(values), indices=Out(indices))
    cases.add(f"aclnnArg{name}", self=x, dim=1, keepdim=False, out=Out(indices))
    none = Out(torch.zeros(3, dtype=i64), False)
    cases.add(f"aclnnArg{name}", self=x, dim=0, keepdim=False, out=none, refuse=(161002, "no elements"))
    cases.add(
        f"aclnn{name}Dim", self=x, dim=0, keepdim=False, out=Out(noise(3), False), indices=none, refuse=(161002, "no elements")
    )
    x = noise(2, 3)
    cases.add(f"aclnnArg{name}", self=x, dim=2, keepdim=False, out=none, refuse=(161002, "dim is 2"))
    cases.add(
        f"aclnn{name}Dim", self=x, dim=0, keepdim=False, out=Out(noise(2), False), indices=none, refuse=(161002, "out has")
    )

# Products.
for dtype in FLOATS + [i32, i64]:
    x = noise(3, 4, dtype=dtype)
    cases.add("aclnnProd", self=x, dtype=dtype, out=Out(wide(x).prod().to(dtype)))
    for dim, keep in [(0, False), (-1, True)]:
        out = wide(x).prod(dim, keepdim=keep).to(dtype)
        cases.add("aclnnProdDim", self=x, dim=dim, keepDim=keep, dtype=dtype, out=Out(out))
for dtype in [i8, i16, u8, boolean]:
    x = noise(2, 3, dtype=dtype)
    cases.add("aclnnProd", self=x, dtype=i64, out=Out(x.prod()))
    cases.add("aclnnProdDim", self=x, dim=1, keepDim=False, dtype=f32, out=Out(x.float().prod(1)))
x = noise(3, 2, dtype=boolean)
cases.add("aclnnProdDim", self=x, dim=0, keepDim=False, dtype=boolean, out=Out(x.all(0)))
cases.add("aclnnProd", self=noise(0, 2), dtype=f32, out=Out(torch.tensor(1.0)))
cases.add("aclnnProd", self=torch.tensor(2.5), dtype=f64, out=Out(torch.tensor(2.5, dtype=f64)))
x = noise(4)
cases.add("aclnnProd", self=x, dtype=f32, out=Out(x.prod().reshape(1)))
cases.add("aclnnProdDim", self=noise(0, 2), dim=0, keepDim=True, dtype=f32, out=Out(torch.ones(1, 2)))
cases.add("aclnnProdDim", self=torch.tensor(2.5), dim=0, keepDim=True, dtype=f32, out=Out(torch.tensor(2.5)))
cases.add("aclnnProd", self=x, dtype=f32, out=Out(x, False), refuse=(161002, "out has the shape"))
cases.add("aclnnProdDim", self=x, dim=1, keepDim=True, dtype=f32, out=Out(x, False), refuse=(161002, "dim is 1"))

# Logarithms of sums of powers.
for dtype in FLOATS:
    for dims, keep in AXES:
        x = noise(3, 4, 5, dtype=dtype)
        out = torch.logsumexp(wide(x), every(dims, 3), keepdim=keep).to(dtype)
        cases.add("aclnnLogSumExp", self=x, dim=dims, keepDim=keep, out=Out(out))
x = torch.tensor([[-inf, -inf], [inf, 1.0], [nan, 1.0], [1000.0, 1000.0]])
cases.add("aclnnLogSumExp", self=x, dim=[1], keepDim=False, out=Out(torch.logsumexp(x, 1)))
x = noise(3, 4, dtype=i32)
cases.add("aclnnLogSumExp", self=x, dim=[1], keepDim=False, out=Out(torch.logsumexp(x, 1)))
cases.add("aclnnLogSumExp", self=noise(0, 2), dim=[0], keepDim=False, out=Out(torch.logsumexp(noise(0, 2), 0)))
cases.add("aclnnLogSumExp", self=torch.tensor(1.5), dim=[0], keepDim=False, out=Out(torch.tensor(1.5)))
cases.add("aclnnLogSumExp", self=noise(2, 2), dim=[0, 0], keepDim=False, out=Out(torch.tensor(1.5), False), refuse=(161002, "twice"))

# Norms.
for dtype in FLOATS:
    for order in [0, 1, 2, 3, 0.5, -1, inf, -inf]:
        x = noise(3, 4, dtype=dtype)
        x[0, 1] = 0
        for dims, keep in [([1], False), ([0, -1], True), ([], False)]:
            out = torch.linalg.vector_norm(wide(x), order, every(dims, 2), keepdim=keep).to(dtype)
            cases.add(
                "aclnnLinalgVectorNorm",
                self=x, ord=Scalar(order), dims=dims, keepDims=keep, dtype=dtype, out=Out(out),
                within=1e-5 if dtype == f32 else None,
            )
x = noise(3, 4)
out = torch.linalg.vector_norm(x, 2, 1, dtype=f64)
cases.add("aclnnLinalgVectorNorm", self=x, ord=Scalar(2.0), dims=[1], keepDims=False, dtype=f64, out=Out(out))
x = torch.tensor([[nan, 1.0], [inf, 1.0]])
for order in [0, 1, 2, inf, -inf]:
    out = torch.linalg.vector_norm(x, order, 1)
    cases.add("aclnnLinalgVectorNorm", self=x, ord=Scalar(order), dims=[1], keepDims=False, dtype=f32, out=Out(out))
x = torch.complex(noise(2, 3), noise(2, 3))
for order in [1, 2, inf]:
    out = torch.linalg.vector_norm(x, order, 1)
    cases.add("aclnnLinalgVectorNorm", self=x, ord=Scalar(order), dims=[1], keepDims=False, dtype=f32, out=Out(out))
out = torch.tensor(2.5)
cases.add("aclnnLinalgVectorNorm", self=-out, ord=Scalar(2.0), dims=[], keepDims=True, dtype=f32, out=Out(out))
cases.add("aclnnLinalgVectorNorm", self=-out, ord=Scalar(3.0), dims=[0], keepDims=True, dtype=f32, out=Out(out))
for order in [0, 1, 2, 3]:
    out = torch.linalg.vector_norm(noise(0, 3), order, 0)
    cases.add("aclnnLinalgVectorNorm", self=noise(0, 3), ord=Scalar(order), dims=[0], keepDims=False, dtype=f32, out=Out(out))
for order in [inf, -1]:
    cases.add(
        "aclnnLinalgVectorNorm",
        self=noise(0, 3), ord=Scalar(order), dims=[0], keepDims=False, dtype=f32, out=Out(out, False), refuse=(161002, "no elements"),
    )
cases.add(
    "aclnnLinalgVectorNorm",
    self=noise(2, 3), ord=Scalar(2.0), dims=[0], keepDims=True, dtype=f32, out=Out(out, False), refuse=(161002, "out has the shape"),
)
cases.add(
    "aclnnLinalgVectorNorm", self=noise(2, 3), ord=Null, dims=[0], keepDims=False, dtype=f32, out=Out(out, False), refuse=(161001, "ord")
)
for dtype in [f32, f16, bf16]:
    for order in [0.0, 1.0, 2.0, inf]:
        x = [noise(3, 4, dtype=dtype), noise(5, dtype=dtype), noise(2, 1, 2, dtype=dtype)]
        out = [Out(torch.linalg.vector_norm(wide(each), order).to(dtype)) for each in x]
        cases.add("aclnnForeachNorm", x=x, scalar=Scalar(order), out=out)
x = [noise(3), noise(0)]
out = [Out(x[0].norm().reshape(1)), Out(torch.zeros(1))]
cases.add("aclnnForeachNorm", x=x, scalar=Scalar(2.0), out=out)
cases.add("aclnnForeachNorm", x=x, scalar=Scalar(2.0), out=out[:1], refuse=(161002, "as many"))

# Standard deviations and variances.
for name, function in [("Std", torch.std), ("VarCorrection", torch.var)]:
    for dtype in FLOATS:
        for dims, keep in AXES:
            for correction in [0, 1] if dims != [0] else [2]:
                x = noise(3, 4, 5, dtype=dtype)
                out = function(wide(x), every(dims, 3), correction=correction, keepdim=keep).to(dtype)
                cases.add(f"aclnn{name}", self=x, dim=dims, correction=correction, keepdim=keep, out=Out(out))
    # A mean far from zero.
    x = noise(50) + 1000
    cases.add(f"aclnn{name}", self=x, dim=[0], correction=1, keepdim=False, out=Out(function(x.double()).float()), within=1e-4)
    for x, correction in [(noise(2, 1), 1), (noise(2, 3), 5), (noise(2, 0), 1), (torch.tensor([[nan, 1.0, 2.0]]), 1)]:
        out = function(x, [1], correction=correction)
        cases.add(f"aclnn{name}", self=x, dim=[1], correction=correction, keepdim=False, out=Out(out))
    x = torch.tensor(2.0)
    cases.add(f"aclnn{name}", self=x, dim=[], correction=0, keepdim=False, out=Out(function(x, correction=0)))
    cases.add(f"aclnn{name}", self=x, dim=[0], correction=1, keepdim=False, out=Out(function(x, correction=1)))
    x = noise(2, 3)
    cases.add(f"aclnn{name}", self=x, dim=[5], correction=1, keepdim=False, out=Out(x[0], False), refuse=(161002, "dim is 5"))
    cases.add(f"aclnn{name}", self=x, dim=[0], correction=1, keepdim=True, out=Out(x[0], False), refuse=(161002, "out has"))
    x = torch.complex(noise(2, 3), noise(2, 3))
    cases.add(f"aclnn{name}", self=x, dim=[0], correction=1, keepdim=False, out=Out(function(x, dim=0, correction=1)))

# Cumulative sums.
for dtype in FLOATS + INTS:
    x = noise(3, 4, dtype=dtype)
    for dim in [0, -1]:
        out = torch.cumsum(wide(x), dim).to(dtype)
        cases.add("aclnnCumsum", self=x, dim=dim, dtype=dtype, out=Out(out))
x = noise(3, 4, dtype=boolean)
cases.add("aclnnCumsum", self=x, dim=1, dtype=i64, out=Out(torch.cumsum(x, 1)))
x = noise(2, 300, dtype=f16)
cases.add("aclnnCumsum", self=x[:, :40], dim=1, dtype=f32, out=Out(torch.cumsum(x[:, :40].float(), 1)))
x = torch.tensor([1.0, nan, 2.0, inf])
cases.add("aclnnCumsum", self=x, dim=0, dtype=f32, out=Out(torch.cumsum(x, 0)))
cases.add("aclnnCumsum", self=torch.tensor(2.0), dim=0, dtype=f32, out=Out(torch.tensor(2.0)))
cases.add("aclnnCumsum", self=noise(0, 2), dim=0, dtype=f32, out=Out(noise(0, 2)))
cases.add("aclnnCumsum", self=x, dim=1, dtype=f32, out=Out(x, False), refuse=(161002, "dim is 1"))
cases.add("aclnnCumsum", self=x, dim=0, dtype=f32, out=Out(x[:2], False), refuse=(161002, "out has the shape"))

# Logarithms of sums of exponentials of complex numbers.
for dtype, within in [(torch.complex64, 1e-5), (torch.complex128, 1e-9)]:
    x = torch.complex(noise(2, 3, 4) * 20, noise(2, 3, 4)).to(dtype)
    for dim, keep in [([1], False), ([0, 2], True)]:
        y = torch.logsumexp(x.to(torch.complex128), dim, keep).to(dtype)
        cases.add("aclnnLogSumExp", self=x, dim=dim, keepDim=keep, out=Out(y), within=within)
cases.write()
