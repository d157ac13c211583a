"""Makes elementwise.txt: `python elementwise.py` in an environment with PyTorch."""

import torch

from cases import Cases, InOut, Null, Out, Scalar

torch.manual_seed(2026)
cases = Cases("elementwise")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i8, i16, i32, i64, u8 = torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8
c64, c128, boolean = torch.complex64, torch.complex128, torch.bool
FLOATS = [f32, f16, bf16, f64]
INTS = [i8, i16, i32, i64, u8]


def noise(*shape, dtype=f32, scale=2.0):
    if dtype == boolean:
        return torch.rand(shape) < 0.5
    if dtype in INTS:
        low = 0 if dtype == u8 else -9
        return torch.randint(low, 10, shape).to(dtype)
    if dtype in (c64, c128):
        part = f32 if dtype == c64 else f64
        return torch.complex(noise(*shape, dtype=part), noise(*shape, dtype=part))
    return (torch.rand(shape, dtype=f64) * 2 * scale - scale).to(dtype)


def real(function, x):
    """Halves are computed in float32 and rounded once."""
    return function(x.float()).to(x.dtype) if x.dtype in (f16, bf16) else function(x)


# Functions of one element: the operator, PyTorch's function, the range of inputs, and whether complex numbers have it.
UNARY = {
    "Abs": (torch.abs, None, False),
    "Acos": (torch.acos, (-1, 1), False),
    "Acosh": (torch.acosh, (1, 5), False),
    "Asin": (torch.asin, (-1, 1), False),
    "Asinh": (torch.asinh, (-3, 3), False),
    "Atan": (torch.atan, (-3, 3), False),
    "Atanh": (torch.atanh, (-0.9, 0.9), False),
    "Ceil": (torch.ceil, (-3, 3), False),
    "Cos": (torch.cos, (-3, 3), True),
    "Cosh": (torch.cosh, (-3, 3), True),
    "Digamma": (torch.digamma, (0.2, 9), False),
    "Erf": (torch.erf, (-3, 3), False),
    "Erfc": (torch.erfc, (-3, 3), False),
    "Erfinv": (torch.erfinv, (-0.95, 0.95), False),
    "Exp": (torch.exp, (-3, 3), True),
    "Exp2": (torch.exp2, (-3, 3), False),
    "Expm1": (torch.expm1, (-3, 3), False),
    "Floor": (torch.floor, (-3, 3), False),
    "Frac": (torch.frac, (-3, 3), False),
    "Gelu": (torch.nn.functional.gelu, (-4, 4), False),
    "Hardsigmoid": (torch.nn.functional.hardsigmoid, (-5, 5), False),
    "Hardswish": (torch.nn.functional.hardswish, (-5, 5), False),
    "Lgamma": (torch.lgamma, (0.2, 9), False),
    "Log": (torch.log, (0.1, 9), True),
    "LogSigmoid": (torch.nn.functional.logsigmoid, (-9, 9), False),
    "Log10": (torch.log10, (0.1, 9), False),
    "Log1p": (torch.log1p, (-0.9, 9), False),
    "Log2": (torch.log2, (0.1, 9), False),
    "Mish": (torch.nn.functional.mish, (-5, 5), False),
    "Neg": (torch.neg, None, True),
    "Reciprocal": (torch.reciprocal, (0.2, 3), True),
    "Relu": (torch.relu, None, False),
    "Round": (torch.round, (-3, 3), False),
    "Rsqrt": (torch.rsqrt, (0.2, 9), False),
    "Selu": (torch.nn.functional.selu, (-3, 3), False),
    "Sigmoid": (torch.sigmoid, (-9, 9), False),
    "Sign": (torch.sign, None, False),
    "Silu": (torch.nn.functional.silu, (-9, 9), False),
    "Sin": (torch.sin, (-3, 3), True),
    "Sinc": (torch.sinc, (-3, 3), False),
    "Sinh": (torch.sinh, (-3, 3), True),
    "Sqrt": (torch.sqrt, (0, 9), True),
    "Tan": (torch.tan, (-1.4, 1.4), True),
    "Tanh": (torch.tanh, (-3, 3), True),
    "Trunc": (torch.trunc, (-3, 3), False),
}
NOT_FOR_INTEGERS = {"Gelu", "Hardsigmoid", "Hardswish", "LogSigmoid", "Mish", "Selu", "Silu", "Lgamma"}
INPUT = {"Cos", "Acos", "Asinh", "Atan", "Atanh", "Frac"}
NO_INPLACE = {"Abs", "Gelu", "LogSigmoid", "Sign", "Digamma", "Lgamma", "Silu"}
INPLACE_INPUT = {"Cos", "Acos", "Asinh", "Atan", "Atanh", "Frac"}
WIDER = {"Tan": 2e-5, "Sinh": 1e-5, "Cosh": 1e-5, "Digamma": 1e-5, "Lgamma": 1e-5, "Erfinv": 1e-5, "Acosh": 1e-5}

for name, (function, bounds, complex_too) in UNARY.items():
    own = "input" if name in INPUT else "self"
    out = "result" if name == "Sign" else "out"
    for dtype in FLOATS:
        low, high = bounds or (-3, 3)
        x = (torch.rand(3, 7, dtype=f64) * (high - low) + low).to(dtype)
        y = real(function, x)
        wide = WIDER.get(name) if dtype == f32 else 1e-9 if dtype == f64 and name in WIDER else None
        cases.add("aclnn" + name, within=wide, **{own: x, out: Out(y)})
    x = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 300.0, -300.0])
    if name not in ("Gelu", "Lgamma", "Digamma", "Erfinv", "Sin", "Cos", "Tan", "Sinc"):
        cases.add("aclnn" + name, **{own: x, out: Out(function(x))})
    if name not in NOT_FOR_INTEGERS:
        for dtype in (i32, i64, u8):
            x = noise(5, dtype=dtype) if not bounds or bounds[0] < -1 else torch.tensor([1, 1, 1], dtype=dtype)
            if name == "Frac":
                y = torch.zeros_like(x)
            elif name == "Neg" and dtype == u8:
                y = (-x.to(i32)).to(u8)
            else:
                y = function(x)
            within = WIDER.get(name, 1e-5)
            cases.add("aclnn" + name, within=within, **{own: x, out: Out(y)})
    if complex_too:
        x = noise(2, 3, dtype=c64)
        cases.add("aclnn" + name, within=1e-5, **{own: x, out: Out(function(x))})
        x = noise(2, 3, dtype=c128)
        cases.add("aclnn" + name, within=1e-9, **{own: x, out: Out(function(x))})
    cases.add("aclnn" + name, **{own: torch.zeros(0, 3), out: Out(torch.zeros(0, 3))})
    cases.add("aclnn" + name, **{own: torch.tensor(0.5), out: Out(function(torch.tensor(0.5)))}) if name != "Acosh" else None

x = noise(4, dtype=c64)
cases.add("aclnnAbs", self=x, out=Out(torch.abs(x)))
cases.add("aclnnExp", self=noise(3), out=Out(torch.zeros(3, dtype=boolean), False), refuse=(161002, "out has the type bool"))
cases.add("aclnnExp", self=noise(3), out=Out(torch.zeros(2), False), refuse=(161002, "out has the shape [2]; it must be [3]"))
cases.add("aclnnErf", self=noise(3, dtype=c64), out=Out(noise(3, dtype=c64), False), refuse=(161002, "complex64"))
cases.add("aclnnExp", self=Null, out=Out(torch.zeros(2), False), refuse=(161001, "self is a null pointer"))
x = noise(4, 5)
cases.add("aclnnExp", self=x, out=Out(x.exp().to(f16)))
cases.add("aclnnExp", self=x.half(), out=Out(x.half().float().exp().half().double()))

for dtype in (f32, i32, boolean):
    x = noise(2, 5, dtype=dtype)
    cases.add("aclnnLogicalNot", self=x, out=Out(torch.logical_not(x)))
for dtype in INTS + [boolean]:
    x = noise(9, dtype=dtype)
    cases.add("aclnnBitwiseNot", self=x, out=Out(torch.bitwise_not(x)))
# PyTorch divides by a sixth that is rounded to float32 there.
SIXTH = {"aclnnHardsigmoidBackward": 1e-7}
x = torch.tensor([1.0, float("nan"), float("inf"), -float("inf"), -0.0])
for name, own, function in [
    ("IsFinite", "self", torch.isfinite),
    ("IsInf", "x", torch.isinf),
    ("IsPosInf", "self", torch.isposinf),
    ("IsNegInf", "self", torch.isneginf),
    ("Signbit", "self", torch.signbit),
]:
    for dtype in (f32, f16, bf16, f64, i32):
        # The text of not-a-number has no sign.
        values = x.nan_to_num(1, float("inf"), -float("inf")) if name == "Signbit" else x
        values = values.to(dtype) if dtype != i32 else torch.tensor([-1, 0, 1], dtype=i32)
        cases.add("aclnn" + name, **{own: values, "out": Out(function(values))})
cases.add("aclnnNanToNum", self=x, nan=1.5, posinf=9.0, neginf=-9.0, out=Out(torch.nan_to_num(x, 1.5, 9.0, -9.0)))
x = noise(9, scale=40)
for decimals in (2, -1, 0):
    cases.add("aclnnRoundDecimals", self=x, decimals=decimals, out=Out(torch.round(x, decimals=decimals)))

# Binary operators.
PAIRS = [
    ((2, 3), (2, 3)),
    ((4, 1, 3), (5, 1)),
    ((), (3,)),
    ((0, 3), (1, 3)),
]
BINARY = {
    "Maximum": (torch.maximum, FLOATS + INTS + [boolean]),
    "Minimum": (torch.minimum, FLOATS + INTS + [boolean]),
    "Mul": (torch.mul, FLOATS + INTS + [boolean, c64, c128]),
    "Div": (torch.div, FLOATS + INTS + [boolean, c64, c128]),
    "EqTensor": (torch.eq, FLOATS + INTS + [boolean, c64]),
    "NeTensor": (torch.ne, FLOATS + INTS + [boolean, c64]),
    "LtTensor": (torch.lt, FLOATS + INTS + [boolean]),
    "LeTensor": (torch.le, FLOATS + INTS + [boolean]),
    "GtTensor": (torch.gt, FLOATS + INTS + [boolean]),
    "GeTensor": (torch.ge, FLOATS + INTS + [boolean]),
    "LogicalAnd": (torch.logical_and, FLOATS + INTS + [boolean]),
    "LogicalOr": (torch.logical_or, FLOATS + INTS + [boolean]),
    "LogicalXor": (torch.logical_xor, FLOATS + INTS + [boolean]),
    "BitwiseAndTensor": (torch.bitwise_and, INTS + [boolean]),
    "BitwiseOrTensor": (torch.bitwise_or, INTS + [boolean]),
    "BitwiseXorTensor": (torch.bitwise_xor, INTS + [boolean]),
    "Atan2": (torch.atan2, FLOATS + [i32]),
    "FmodTensor": (torch.fmod, [f32, f64, i32, i64]),
    "RemainderTensorTensor": (torch.remainder, [f32, f64, i32, i64]),
    "FloorDivide": (torch.floor_divide, [f32, f64, i32, i64]),
    "LogAddExp": (torch.logaddexp, [f32, f64]),
    "LogAddExp2": (torch.logaddexp2, [f32, f64]),
    "XLogYTensor": (torch.xlogy, [f32, f64]),
    "Gcd": (torch.gcd, [i16, i32, i64]),
}
for name, (function, dtypes) in BINARY.items():
    for dtype in dtypes:
        for one, two in PAIRS if dtype == dtypes[0] else PAIRS[1:2]:
            a, b = noise(*one, dtype=dtype), noise(*two, dtype=dtype)
            if name in ("FmodTensor", "RemainderTensorTensor", "FloorDivide"):
                b = torch.where(b == 0, torch.ones_like(b) * 2, b)
            if dtype in (f16, bf16):
                y = function(a.float(), b.float())
                y = y if y.dtype == boolean else y.to(dtype)
            else:
                y = function(a, b)
            cases.add("aclnn" + name, self=a, other=b, out=Out(y), within=2e-5 if dtype == c64 else None)
    if name in ("Mul", "EqTensor", "Maximum", "Div", "LtTensor"):
        for one, two in [(f32, i64), (f16, f32), (boolean, f32), (i8, u8), (i32, f16), (f64, f32)]:
            a, b = noise(3, 4, dtype=one), noise(4, dtype=two)
            cases.add("aclnn" + name, self=a, other=b, out=Out(function(a, b)), within=2e-3)
for one in (f16, bf16, f32):
    a, b = noise(6, dtype=one), noise(6, dtype=bf16)
    cases.add("aclnnMul", self=a, other=b, out=Out(a * b))
a, b = noise(2, 3), noise(2, 3)
cases.add("aclnnMul", self=a, other=noise(2, 4), out=Out(a, False), refuse=(161002, "the shapes [2, 3] of self and [2, 4] of other cannot be broadcast"))
cases.add("aclnnMul", self=a.to(torch.uint16), other=b, out=Out(a, False), refuse=(161002, "uint16 and float32 have no common type"))
cases.add("aclnnMul", self=a, other=b, out=Out(noise(2, 3, dtype=boolean), False), refuse=(161002, "does not convert to bool"))
cases.add("aclnnMaximum", self=noise(3, dtype=c64), other=noise(3, dtype=c64), out=Out(noise(3, dtype=c64), False), refuse=(161002, "complex64"))
cases.add("aclnnLtTensor", self=a, other=b, out=Out((a < b).float()))
nan = torch.tensor([1.0, float("nan"), 2.0])
cases.add("aclnnMaximum", self=nan, other=nan.flip(0), out=Out(torch.maximum(nan, nan.flip(0))))

for dtype in FLOATS + INTS + [boolean, c64, c128]:
    a, b = noise(3, 1, 4, dtype=dtype), noise(5, 1, dtype=dtype)
    for alpha in (1, 2):
        value = Scalar(alpha, i64)
        if dtype == boolean:
            if alpha == 1:
                cases.add("aclnnAdd", self=a, other=b, alpha=value, out=Out(a | b))
            continue
        cases.add("aclnnAdd", self=a, other=b, alpha=value, out=Out(torch.add(a, b, alpha=alpha)))
        cases.add("aclnnSub", self=a, other=b, alpha=value, out=Out(torch.sub(a, b, alpha=alpha)))
        cases.add("aclnnRsub", self=a, other=b, alpha=value, out=Out(torch.rsub(a, b, alpha=alpha)))
    other = noise(3, 5, 4, dtype=dtype)
    if dtype != boolean:
        x = other.clone()
        cases.add("aclnnInplaceAdd", selfRef=InOut(x, x + b), other=b, alpha=Scalar(1))
        cases.add("aclnnInplaceSub", selfRef=InOut(x, x - 3 * b), other=b, alpha=Scalar(3, i64))
    x = other.clone()
    cases.add("aclnnInplaceMul", selfRef=InOut(x, x * b), other=b)
x = noise(2, 3)
cases.add("aclnnInplaceAdd", selfRef=InOut(x, x), other=noise(4, 2, 3), alpha=Scalar(1), refuse=(161002, "selfRef has the shape [2, 3]; it must be [4, 2, 3]"))
cases.add("aclnnAdd", self=x, other=x, alpha=Null, out=Out(x, False), refuse=(161001, "alpha is a null pointer"))

SCALARS = [Scalar(2.5, f64), Scalar(3, i64), Scalar(True, boolean)]
for dtype in (f32, f16, i32, u8):
    x = noise(2, 3, dtype=dtype)
    for scalar in SCALARS:
        value = scalar.value
        result = x * value
        cases.add("aclnnMuls", self=x, other=scalar, out=Out(result))
        cases.add("aclnnDivs", self=x, other=scalar, out=Out((x / value).to(f32 if dtype != f16 else f16)))
        alpha = Scalar(2, i64)
        cases.add("aclnnAdds", self=x, other=scalar, alpha=alpha, out=Out(x + 2 * value if value is not True else x + 2))
        if scalar.dtype != boolean:
            cases.add("aclnnSubs", self=x, other=scalar, alpha=alpha, out=Out(x - 2 * value))
            cases.add("aclnnRsubs", self=x, other=scalar, alpha=alpha, out=Out(value - 2 * x))
        for name, function in [("Eq", torch.eq), ("Ne", torch.ne), ("Lt", torch.lt), ("Le", torch.le), ("Gt", torch.gt), ("Ge", torch.ge)]:
            cases.add(f"aclnn{name}Scalar", self=x, other=scalar, out=Out(function(x, value)))
            if dtype == f32:
                cases.add(f"aclnnInplace{name}Scalar", selfRef=InOut(x, function(x, value).to(dtype)), other=scalar)
x = noise(2, 3, dtype=c64)
cases.add("aclnnMuls", self=noise(2, 3), other=Scalar(1 + 2j, c128), out=Out(x, False))
real_x = noise(4)
cases.add("aclnnMuls", self=real_x, other=Scalar(1 + 2j, c128), out=Out(real_x * (1 + 2j)))
x = noise(9, dtype=i32)
for name, function in [("And", torch.bitwise_and), ("Or", torch.bitwise_or), ("Xor", torch.bitwise_xor)]:
    cases.add(f"aclnnBitwise{name}Scalar", self=x, other=Scalar(6, i64), out=Out(function(x, 6)))
    cases.add(f"aclnnInplaceBitwise{name}Tensor", selfRef=InOut(x, function(x, x.flip(0))), other=x.flip(0))

for mode, rounding in [(0, None), (1, "trunc"), (2, "floor")]:
    for dtype in (f32, f64, i32, i64):
        a, b = noise(40, dtype=dtype, scale=9), noise(40, dtype=dtype, scale=2)
        b = torch.where(b == 0, torch.ones_like(b), b)
        cases.add("aclnnDivMod", self=a, other=b, mode=mode, out=Out(torch.div(a, b, rounding_mode=rounding)))
# In 16 bits a quotient is rounded before it becomes an integer, unless the divisor is one number. Many quotients are integers but for a
# rounding: multiples of the divisor that were rounded.
for dtype in (f16, bf16):
    b = noise(200, dtype=dtype, scale=3)
    a = torch.cat([noise(100, dtype=dtype, scale=900), (torch.randint(-40, 40, (100,)) * b[100:].float()).to(dtype)])
    ONE_NUMBER = 0.30000001192092896
    for mode, rounding in [(1, "trunc"), (2, "floor")]:
        cases.add("aclnnDivMod", self=a, other=b, mode=mode, out=Out(torch.div(a, b, rounding_mode=rounding)), within=0.0)
        cases.add("aclnnInplaceDivMod", selfRef=InOut(a, torch.div(a, b, rounding_mode=rounding)), other=b, mode=mode, within=0.0)
        cases.add("aclnnDivMods", self=a, other=Scalar(ONE_NUMBER, f32), mode=mode, out=Out(torch.div(a, ONE_NUMBER, rounding_mode=rounding)), within=0.0)
    for other in (b, b.flip(0)):
        cases.add("aclnnFloorDivide", self=a, other=other, out=Out(torch.floor_divide(a, other)), within=0.0)
        cases.add("aclnnFmodTensor", self=a, other=other, out=Out(torch.fmod(a, other)), within=0.0)
        cases.add("aclnnRemainderTensorTensor", self=a, other=other, out=Out(torch.remainder(a, other)), within=0.0)
    cases.add("aclnnFloorDivides", self=a, other=Scalar(ONE_NUMBER, f32), out=Out(torch.floor_divide(a, ONE_NUMBER)), within=0.0)
    # Where a result depends on the last bit of a host scalar, it has the type of the tensor first.
    for number in (ONE_NUMBER, -0.7, 100.1):
        near = torch.tensor(number).to(dtype)
        x = torch.cat([a[:20], near[None], torch.nextafter(near, near + 1)[None], torch.nextafter(near, near - 1)[None]])
        for name, function in [("Eq", torch.eq), ("Ne", torch.ne), ("Lt", torch.lt), ("Le", torch.le), ("Gt", torch.gt), ("Ge", torch.ge)]:
            cases.add(f"aclnn{name}Scalar", self=x, other=Scalar(number, f32), out=Out(function(x, number)))
            cases.add(f"aclnnInplace{name}Scalar", selfRef=InOut(x, function(x, number).to(dtype)), other=Scalar(number, f64))
        cases.add("aclnnFmodScalar", self=x, other=Scalar(number, f32), out=Out(torch.fmod(x, number)), within=0.0)
        cases.add("aclnnRemainderTensorScalar", self=x, other=Scalar(number, f32), out=Out(torch.remainder(x, number)), within=0.0)
        cases.add("aclnnRemainderScalarTensor", self=Scalar(number, f32), other=x, out=Out(torch.remainder(number, x)), within=0.0)
        for name, function in [("Hardshrink", torch.nn.functional.hardshrink), ("Softshrink", torch.nn.functional.softshrink)]:
            cases.add(f"aclnn{name}", self=x, lambd=Scalar(abs(number), f32), out=Out(function(x, abs(number))), within=0.0)
x = noise(9, dtype=i32)
cases.add("aclnnDivMod", self=x, other=x, mode=3, out=Out(x, False), refuse=(161002, "mode is 3"))

for dtype in (f32, f64, i32, i64, f16):
    x = noise(2, 5, dtype=dtype)
    for exponent in (0, 1, 2, 3, 5):
        cases.add("aclnnPowTensorScalar", self=x, exponent=Scalar(exponent, i64), out=Out(torch.pow(x, exponent)), within=1e-2 if dtype == f16 else 2e-5)
    positive = x.abs() + 1
    if dtype.is_floating_point:
        for exponent in (0.5, -0.5, -1.0, 1.7, -2.0):
            cases.add("aclnnPowTensorScalar", self=positive, exponent=Scalar(exponent, f64), out=Out(torch.pow(positive, exponent)), within=1e-2 if dtype == f16 else 1e-5)
    power = noise(5, dtype=dtype).abs()
    cases.add("aclnnPowTensorTensor", self=positive, exponent=power, out=Out(torch.pow(positive, power)), within=1e-2 if dtype == f16 else 3e-5)
    if dtype != f16:
        cases.add("aclnnPowScalarTensor", self=Scalar(3, i64), exponent=power, out=Out(torch.pow(3, power)), within=3e-5)
cases.add("aclnnPowTensorScalar", self=noise(3, dtype=i32), exponent=Scalar(-1, i64), out=Out(noise(3, dtype=i32), False), refuse=(161002, "exponent is -1"))
cases.add("aclnnPowTensorScalar", self=noise(3, dtype=i32), exponent=Scalar(0.5, f64), out=Out(torch.zeros(3), False))

# Several operands.
for dtype in (f32, f16, f64):
    a, b, c = noise(3, 4, dtype=dtype), noise(4, dtype=dtype), noise(3, 1, dtype=dtype) + 4
    for name, function in [("Addcmul", torch.addcmul), ("Addcdiv", torch.addcdiv)]:
        y = function(a.float() if dtype == f16 else a, b.float() if dtype == f16 else b, c.float() if dtype == f16 else c, value=0.5).to(dtype)
        cases.add("aclnn" + name, self=a, tensor1=b, tensor2=c, value=Scalar(0.5, f64), out=Out(y))
        cases.add("aclnnInplace" + name, selfRef=InOut(a, y), tensor1=b, tensor2=c, value=Scalar(0.5, f64))
    y = torch.lerp(a, b.expand(3, 4), 0.3)
    cases.add("aclnnLerps", self=a, end=b, weight=Scalar(0.3, f64), out=Out(y))
    w = noise(3, 4, dtype=dtype)
    cases.add("aclnnLerp", self=a, end=b, weight=w, out=Out(torch.lerp(a, b.expand(3, 4), w)), within=4e-3 if dtype == f16 else None)
    m = noise(3, 4, dtype=boolean)
    cases.add("aclnnSWhere", condition=m, self=a, other=b, out=Out(torch.where(m, a, b)))
for one, two in [(f32, f16), (i64, i32), (c64, f32), (boolean, boolean)]:
    m, a, b = noise(3, 1, dtype=boolean), noise(3, 4, dtype=one), noise(4, dtype=two)
    cases.add("aclnnSWhere", condition=m, self=a, other=b, out=Out(torch.where(m, a, b)))
for dtype in FLOATS + INTS + [boolean, c64]:
    x, m = noise(3, 4, dtype=dtype), noise(4, dtype=boolean)
    value = True if dtype == boolean else 3
    cases.add("aclnnInplaceMaskedFillScalar", selfRef=InOut(x, x.masked_fill(m, value)), mask=m, value=Scalar(value, i64))
    v = torch.tensor(value, dtype=dtype)
    cases.add("aclnnInplaceMaskedFillTensor", selfRef=InOut(x, x.masked_fill(m, v)), mask=m, value=v)
    cases.add("aclnnInplaceFillScalar", selfRef=InOut(x, torch.full_like(x, value)), value=Scalar(value, i64))
    cases.add("aclnnInplaceFillTensor", selfRef=InOut(x, torch.full_like(x, value)), value=v)
    cases.add("aclnnInplaceZero", selfRef=InOut(x, torch.zeros_like(x)))
    cases.add("aclnnInplaceOne", selfRef=InOut(x, torch.ones_like(x)))
    for other in FLOATS + INTS + [boolean, c64, c128]:
        if dtype == c64 and other not in (c64, c128):
            continue
        source = x.abs() if other == u8 and dtype != boolean and dtype != c64 else x
        y = source.to(other)
        cases.add("aclnnCast", self=source, dtype=other, out=Out(y))
        row = source[:1]
        before = torch.zeros(2, 4, dtype=other)
        cases.add("aclnnInplaceCopy", selfRef=InOut(before, row.to(other).expand(2, 4)), src=row)
cases.add("aclnnCast", self=torch.tensor([float("nan"), 1e20, -1e20, 3.7]), dtype=i32, out=Out(torch.tensor([0, 2**31 - 1, -(2**31), 3], dtype=i32)))
cases.add("aclnnCast", self=noise(3), dtype=i32, out=Out(noise(3), False), refuse=(161002, "out has the type float32; it must be int32"))
cases.add("aclnnInplaceCopy", selfRef=InOut(noise(2), noise(2)), src=noise(3), refuse=(161002, "src has the shape [3], which cannot be broadcast to [2]"))
x = torch.arange(600, dtype=f32).reshape(2, 3, 100)
cases.add("aclnnInplaceCopy", selfRef=InOut(torch.zeros(2, 3, 100), x), src=x)
cases.add("aclnnInplaceCopy", selfRef=InOut(torch.zeros(2, 3, 100, dtype=f16), x.half()), src=x)
a, b = noise(3, 4), noise(4)
cases.add("aclnnComplex", real=a, imag=b, out=Out(torch.complex(a, b.expand(3, 4))))
cases.add("aclnnPolar", input=a.abs(), angle=a, out=Out(torch.polar(a.abs(), a)))
x = noise(5, dtype=c64)
cases.add("aclnnReal", self=x, out=Out(x.real.clone()))
cases.add("aclnnAngleV2", x=x, out=Out(torch.angle(x)))
cases.add("aclnnAngleV2", x=a, out=Out(torch.angle(a)))

# Bounds.
for dtype in (f32, f16, i32):
    x = noise(4, 5, dtype=dtype, scale=4)
    low, high = Scalar(-1, i64), Scalar(2, i64)
    cases.add("aclnnClamp", self=x, clipValueMin=low, clipValueMax=high, out=Out(x.clamp(-1, 2)))
    cases.add("aclnnClamp", self=x, clipValueMin=Null, clipValueMax=high, out=Out(x.clamp(max=2)))
    cases.add("aclnnClamp", self=x, clipValueMin=low, clipValueMax=Null, out=Out(x.clamp(min=-1)))
    cases.add("aclnnClampMin", self=x, clipValueMin=low, out=Out(x.clamp(min=-1)))
    cases.add("aclnnClampMax", self=x, clipValueMax=high, out=Out(x.clamp(max=2)))
    cases.add("aclnnInplaceClampMax", selfRef=InOut(x, x.clamp(max=2)), clipValueMax=high)
    bound = noise(5, dtype=dtype)
    cases.add("aclnnClampMinTensor", self=x, clipValueMin=bound, out=Out(torch.maximum(x, bound)))
    cases.add("aclnnClampMaxTensor", self=x, max=bound, out=Out(torch.minimum(x, bound)))
    cases.add("aclnnClampTensor", self=x, clipValueMin=bound, clipValueMax=bound + 1, out=Out(torch.clamp(x, bound, bound + 1)))
    cases.add("aclnnHardtanh", self=x, clipValueMin=low, clipValueMax=high, out=Out(x.clamp(-1, 2)))
cases.add("aclnnClamp", self=x, clipValueMin=Null, clipValueMax=Null, out=Out(x, False), refuse=(161001, "null"))
nan = torch.tensor([float("nan"), 5.0, -5.0])
cases.add("aclnnClamp", self=nan, clipValueMin=Scalar(-1.0), clipValueMax=Scalar(1.0), out=Out(nan.clamp(-1, 1)))
a, b = noise(9), noise(9)
b[:3] = a[:3] + 1e-9
cases.add("aclnnIsClose", self=a, other=b, rtol=1e-5, atol=1e-8, equal_nan=False, out=Out(torch.isclose(a, b)))
cases.add("aclnnIsClose", self=nan, other=nan, rtol=1e-5, atol=1e-8, equal_nan=True, out=Out(torch.isclose(nan, nan, equal_nan=True)))

# Activations with parameters, and gradients. Gradients come from autograd.
F = torch.nn.functional


def gradient(function, x, g):
    x = x.detach().double().requires_grad_(True)
    function(x).backward(g.double())
    return x.grad


def grad_case(operator, function, arguments, dtype, gradient_name="gradOutput", out="gradInput", own="self", result=False, low=-4, high=4):
    x = (torch.rand(3, 6, dtype=f64) * (high - low) + low).to(dtype)
    g = noise(3, 6, dtype=dtype)
    y = gradient(function, x, g).to(dtype)
    value = function(x.double()).to(dtype) if result else x
    within = max(SIXTH.get(operator, 0), {f32: 5e-6, f64: 1e-10, f16: 4e-3, bf16: 3e-2}[dtype])
    cases.add(operator, within=within, **{gradient_name: g, own: value, out: Out(y)}, **arguments)


half = Scalar(0.5, f64)
for dtype in (f32, f16, f64):
    grad_case("aclnnGeluBackward", F.gelu, {}, dtype)
    grad_case("aclnnGeluBackwardV2", lambda x: F.gelu(x, approximate="tanh"), {"approximate": "tanh"}, dtype)
    grad_case("aclnnGeluBackwardV2", F.gelu, {"approximate": "none"}, dtype)
    grad_case("aclnnSiluBackward", F.silu, {}, dtype)
    grad_case("aclnnThresholdBackward", F.relu, {"threshold": Scalar(0, i64)}, dtype, out="out")
    grad_case("aclnnHardswishBackward", F.hardswish, {}, dtype, out="out")
    grad_case("aclnnHardswishBackwardV2", F.hardswish, {}, dtype, out="out")
    grad_case("aclnnHardsigmoidBackward", F.hardsigmoid, {}, dtype, out="out")
    grad_case("aclnnMishBackward", F.mish, {}, dtype)
    grad_case("aclnnSoftplusBackward", F.softplus, {"beta": Scalar(1, i64), "threshold": Scalar(20, i64)}, dtype)
    grad_case("aclnnSoftshrinkBackward", F.softshrink, {"lambda": half}, dtype)
    grad_case("aclnnHardshrinkBackward", F.hardshrink, {"lambd": half}, dtype)
    grad_case("aclnnLeakyReluBackward", lambda x: F.leaky_relu(x, 0.5), {"negativeSlope": half, "selfIsResult": False}, dtype, out="out")
    grad_case("aclnnHardtanhBackward", lambda x: F.hardtanh(x, -0.5, 0.5), {"min": Scalar(-0.5, f64), "max": half}, dtype, out="out")
    grad_case("aclnnLogSigmoidBackward", F.logsigmoid, {"buffer": torch.zeros(1)}, dtype)
    grad_case("aclnnFastGeluBackward", lambda x: x * torch.sigmoid(1.702 * x), {}, dtype)
    grad_case("aclnnSwishBackward", lambda x: x * torch.sigmoid(0.5 * x), {"betaOptional": half}, dtype)
    for result in (False, True):
        arguments = {"alpha": half, "scale": Scalar(2, i64), "inputScale": Scalar(1.5, f64), "isResult": result}
        elu = lambda x: torch.where(x > 0, 2 * x, 2 * 0.5 * torch.expm1(1.5 * x))
        grad_case("aclnnEluBackward", elu, arguments, dtype, own="selfOrResult", result=result)
    if dtype != f16:
        grad_case("aclnnTanhBackward", torch.tanh, {}, dtype, own="output", result=True, low=-2, high=2)
        grad_case("aclnnSigmoidBackward", torch.sigmoid, {}, dtype, own="output", result=True)
        grad_case("aclnnSeluBackward", F.selu, {}, dtype, own="result", result=True)
    grad_case("aclnnLogitGrad", torch.logit, {"eps": -1.0}, dtype, gradient_name="dy", out="out", own="x", low=0.2, high=0.8)
    x = noise(3, 4, dtype=dtype, scale=4)

    def forward(operator, function, out="out", own="self", **arguments):
        cases.add(operator, **{own: x, out: Out(real(function, x))}, **arguments)

    forward("aclnnElu", lambda x: torch.where(x > 0, 2 * x, torch.expm1(1.5 * x)), alpha=half, scale=Scalar(2, i64), inputScale=Scalar(1.5, f64))
    forward("aclnnCelu", lambda x: F.celu(x, 0.5), alpha=half)
    forward("aclnnLeakyRelu", lambda x: F.leaky_relu(x, 0.5), negativeSlope=half)
    forward("aclnnThreshold", lambda x: F.threshold(x, 0.5, 2), threshold=half, value=Scalar(2, i64))
    forward("aclnnSoftplus", lambda x: F.softplus(x, 2, 3), beta=Scalar(2, i64), threshold=Scalar(3, i64))
    forward("aclnnSoftshrink", F.softshrink, lambd=half)
    forward("aclnnHardshrink", F.hardshrink, lambd=half)
    forward("aclnnGeluV2", F.gelu, out="y", own="x", approximate=0)
    forward("aclnnGeluV2", lambda x: F.gelu(x, approximate="tanh"), out="y", own="x", approximate=1)
    forward("aclnnFastGelu", lambda x: x * torch.sigmoid(1.702 * x))
    forward("aclnnSwish", lambda x: x * torch.sigmoid(0.5 * x), betaOptional=half)
    forward("aclnnSwish", F.silu)
    forward("aclnnPrelu", lambda x: F.prelu(x, torch.full((4,), 0.25, dtype=x.dtype)), weight=torch.full((4,), 0.25, dtype=dtype))
    x = noise(9, dtype=dtype, scale=0.5).abs() + 0.2
    forward("aclnnLogit", lambda x: torch.logit(x, 0.3), own="input", eps=0.3)
    forward("aclnnLogit", torch.logit, own="input", eps=-1.0)
    x = noise(9, dtype=dtype)
    cases.add("aclnnInplaceRelu", selfRef=InOut(x, x.relu()))
    cases.add("aclnnInplaceThreshold", selfRef=InOut(x, F.threshold(x, 0, 0)), threshold=Scalar(0, i64), value=Scalar(0, i64))
x = noise(9)
cases.add("aclnnGeluV2", x=x, approximate=2, y=Out(x, False), refuse=(161002, "approximate is 2"))
v = noise(9)
z = torch.tensor([-1.0, 0.0, 2.0, 0.0, 0.0, -3.0, 1.0, 0.0, 5.0])
cases.add("aclnnHeaviside", input=z, values=v, out=Out(torch.heaviside(z, v)))

# Gated units.
for dtype in (f32, f16, f64):
    wide = torch.float64 if dtype == f64 else f32
    x = noise(3, 8, 2, dtype=dtype)
    a, b = x.to(wide).chunk(2, 1)
    g = noise(3, 4, 2, dtype=dtype)
    within = {f32: 5e-6, f64: 1e-10, f16: 4e-3}[dtype]

    def gradient_of(function):
        return gradient(function, x, g).to(dtype)

    cases.add("aclnnGlu", self=x, dim=1, out=Out(F.glu(x.to(wide), 1).to(dtype)))
    cases.add("aclnnGluBackward", gradOut=g, self=x, dim=-2, out=Out(gradient_of(lambda x: F.glu(x, 1))), within=within)
    swish = lambda x: F.silu(x.chunk(2, 1)[0]) * x.chunk(2, 1)[1]
    cases.add("aclnnSwiGlu", x=x, dim=1, out=Out(swish(x.to(wide)).to(dtype)), within=within)
    cases.add("aclnnSwiGluGrad", yGrad=g, x=x, dim=1, out=Out(gradient_of(swish)), within=within)
    for approximate, form in [(0, "none"), (1, "tanh")]:
        for left in (False, True):
            act, value = (a, b) if left else (b, a)
            gelu = F.gelu(act, approximate=form)
            cases.add("aclnnGeGluV3", self=x, dim=1, approximate=approximate, activateLeft=left, out=Out((value * gelu).to(dtype)), outGelu=Out(gelu.to(dtype)), within=within)
            side = 0 if left else 1
            function = lambda x: x.chunk(2, 1)[1 - side] * F.gelu(x.chunk(2, 1)[side], approximate=form)
            if dtype != f16:
                cases.add("aclnnGeGluV3Backward", gradOutput=g, self=x, gelu=gelu.to(dtype), dim=1, approximate=approximate, activateLeft=left, gradInput=Out(gradient_of(function)), within=within)
cases.add("aclnnGlu", self=noise(3, 5), dim=1, out=Out(noise(3, 2), False), refuse=(161002, "must be even"))
cases.add("aclnnSwiGlu", x=noise(3, 4), dim=2, out=Out(noise(3, 2), False), refuse=(161002, "dim is 2; it must be between -2 and 1"))
for shape, count in [((3, 4, 5), 4), ((3, 4), 1), ((6,), 1), ((2, 3), 3)]:
    x, g, w = noise(*shape), noise(*shape), noise(count)
    own, weight = x.clone().requires_grad_(True), w.clone().requires_grad_(True)
    F.prelu(own, weight).backward(g)
    cases.add("aclnnPreluBackward", gradOutput=g, self=x, weight=w, gradInput=Out(own.grad), gradWeight=Out(weight.grad))
for dtype in (f32, i64, c64):
    x, u, v = noise(3, 4, dtype=dtype), noise(3, dtype=dtype), noise(4, dtype=dtype)
    y = torch.addr(x, u, v, beta=2, alpha=3)
    beta, alpha = Scalar(2, i64), Scalar(3, i64)
    cases.add("aclnnAddr", self=x, vec1=u, vec2=v, betaOptional=beta, alphaOptional=alpha, out=Out(y), within=1e-5)
    cases.add("aclnnInplaceAddr", selfRef=InOut(x, y), vec1=u, vec2=v, betaOptional=beta, alphaOptional=alpha, within=1e-5)
    cases.add("aclnnAddr", self=x, vec1=u, vec2=v, betaOptional=Null, alphaOptional=Null, out=Out(torch.addr(x, u, v)), within=1e-5)
x = noise(3, 4)
for one, two in [(x, x), (x, x + 1), (x, noise(3)), (x[:0], x[:0]), (x.int(), x.int().float())]:
    same = torch.tensor([one.shape == two.shape and bool((one == two).all())])
    cases.add("aclnnEqual", self=one, other=two, out=Out(same))

# Further names of the same functions.
for dtype in (f32, i32):
    a, b = noise(3, 4, dtype=dtype), noise(4, dtype=dtype)
    two = Scalar(2, i64)
    cases.add("aclnnAddRelu", self=a, other=b, alpha=two, out=Out((a + 2 * b).relu()))
    cases.add("aclnnInplaceAddRelu", selfRef=InOut(a, (a + 2 * b).relu()), other=b, alpha=two)
    cases.add("aclnnAddV3", self=Scalar(3, i64), other=b, alpha=two, out=Out(3 + 2 * b))
    cases.add("aclnnAxpyV2", self=a, other=b, alpha=torch.tensor([3], dtype=dtype), out=Out(a + 3 * b))
    cases.add("aclnnGer", self=b, vec2=a[0].clone(), out=Out(torch.outer(b, a[0])))
    cases.add("aclnnMaxN", tensors=[a, b, -b], out=Out(torch.maximum(torch.maximum(a, b), -b)))
    cases.add("aclnnMinN", tensors=[a, b, -b], out=Out(torch.minimum(torch.minimum(a, b), -b)))
    cases.add("aclnnSum", tensors=[a, b, -b, a], out=Out(a + a))
    cases.add("aclnnSum", tensors=[a], out=Out(a))
    cases.add("aclnnAddN", tensors=[a, b], out=Out(a + b))
x = noise(9)
cases.add("aclnnShrink", self=x, lambd=half, bias=Scalar(0.25, f64), out=Out(torch.where(x > 0.5, x - 0.25, torch.where(x < -0.5, x + 0.25, torch.zeros_like(x)))))
halves = [noise(50, dtype=f16) for _ in range(5)]
cases.add("aclnnSum", tensors=halves, out=Out(sum(x.float() for x in halves).half()), within=1e-3)

# Types that PyTorch computes in others.
for dtype in (torch.uint16, torch.uint32, torch.uint64):
    a, b = torch.randint(0, 60000, (3, 4)), torch.randint(1, 60000, (4,))
    bits = {torch.uint16: 1 << 16, torch.uint32: 1 << 32, torch.uint64: 1 << 62}[dtype]
    one, two = a.to(dtype), b.to(dtype)
    cases.add("aclnnMul", self=one, other=two, out=Out((a * b % bits).to(dtype)))
    cases.add("aclnnMaximum", self=one, other=two, out=Out(torch.maximum(a, b).to(dtype)))
    cases.add("aclnnLtTensor", self=one, other=two, out=Out(a < b))
    cases.add("aclnnCast", self=one, dtype=f32, out=Out(a.float()))
    cases.add("aclnnAdds", self=one, other=Scalar(1, i64), alpha=Scalar(1, i64), out=Out((a + 1).to(dtype)))
c32 = torch.complex32
a, b = noise(3, 4, dtype=c64).to(c32), noise(4, dtype=c64).to(c32)
wide = [a.to(c64), b.to(c64)]
cases.add("aclnnAdd", self=a, other=b, alpha=Scalar(1, i64), out=Out((wide[0] + wide[1]).to(c32)), within=4e-3)
cases.add("aclnnMul", self=a, other=b, out=Out((wide[0] * wide[1]).to(c32)), within=1e-2)
cases.add("aclnnNeg", self=a, out=Out((-wide[0]).to(c32)))
cases.add("aclnnInplaceCopy", selfRef=InOut(torch.zeros(3, 4, dtype=c32), b.expand(3, 4)), src=b)
cases.add("aclnnInplaceFillScalar", selfRef=InOut(a, torch.full((3, 4), 1 + 2j, dtype=c64).to(c32)), value=Scalar(1 + 2j, c128))
cases.add("aclnnCast", self=a, dtype=c128, out=Out(wide[0].to(c128)))
cases.add("aclnnAbs", self=a, out=Out(wide[0].abs().half()))

# Lists.
for dtype in (f32, f16):
    shapes = [(3,), (2, 4), (), (0,)]
    a, b, c = ([noise(*shape, dtype=dtype) for shape in shapes] for _ in range(3))
    c = [each + 4 for each in c]

    def outs(function, *lists):
        return [Out(function(*(each.float() for each in members)).to(dtype)) for members in zip(*lists)]

    cases.add("aclnnForeachAddListV2", x1=a, x2=b, alpha=half, out=outs(lambda x, y: x + 0.5 * y, a, b))
    cases.add("aclnnForeachAddList", x1=a, x2=b, alpha=torch.tensor([0.5]), out=outs(lambda x, y: x + 0.5 * y, a, b))
    cases.add("aclnnForeachMulScalarV2", x=a, scalar=half, out=outs(lambda x: x * 0.5, a))
    cases.add("aclnnForeachMulScalar", x=a, scalar=torch.tensor(0.5), out=outs(lambda x: x * 0.5, a))
    cases.add("aclnnForeachAddScalarV2", x=a, scalar=half, out=outs(lambda x: x + 0.5, a))
    cases.add("aclnnForeachAddcmulScalarV2", x1=a, x2=b, x3=c, scalar=half, out=outs(lambda x, y, z: x + 0.5 * y * z, a, b, c))
    cases.add("aclnnForeachAddcdivList", x1=a, x2=b, x3=c, scalars=torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=dtype),
              out=[Out((x.float() + s * y.float() / z.float()).to(dtype)) for x, y, z, s in zip(a, b, c, (1, 2, 3, 4))])
    cases.add("aclnnForeachDivScalarList", x=a, scalars=[Scalar(2.0, f64), Scalar(4.0, f64), Scalar(8.0, f64), Scalar(1.0, f64)],
              out=[Out(x / s) for x, s in zip(a, (2, 4, 8, 1))])
    cases.add("aclnnForeachLerpScalar", x1=a, x2=b, weight=Scalar(0.25, f64), out=outs(lambda x, y: torch.lerp(x, y, 0.25), a, b))
    cases.add("aclnnForeachSqrt", x=c, out=outs(torch.sqrt, c))
    cases.add("aclnnForeachExp", x=a, out=outs(torch.exp, a))
    cases.add("aclnnForeachZeroInplace", x=[InOut(x, torch.zeros_like(x)) for x in a])
    bad = [x.clone() for x in a]
    bad[1][0, 1] = float("inf")
    for members, found in [(a, 0.0), (bad, 1.0)]:
        cases.add("aclnnForeachNonFiniteCheckAndUnscale", scaledGrads=[InOut(x, x * 0.5) for x in members],
                  foundInf=InOut(torch.tensor([0.0]), torch.tensor([found])), invScale=torch.tensor([0.5]))
    # Finite values leave the output of another tensor's call as it is.
    for x, before, after in [(a[1], False, False), (a[1], True, True), (bad[1], False, True), (-bad[1], True, True), (bad[1] * 0, False, True)]:
        cases.add("aclnnAllFinite", gradient=x, out=InOut(torch.tensor([before]), torch.tensor([after])))
cases.add("aclnnForeachAddListV2", x1=a, x2=b[:2], alpha=half, out=[Out(x, False) for x in a], refuse=(161002, "x2 has 2 members"))
for tracker, found, scale, wanted in [(1, 0.0, 4.0, (4.0, 2)), (2, 0.0, 4.0, (8.0, 0)), (1, 1.0, 4.0, (2.0, 0))]:
    cases.add("aclnnAmpUpdateScale", currentScale=torch.tensor([scale]), growthTracker=torch.tensor([tracker], dtype=i32),
              foundInf=torch.tensor([found]), growthFactor=2.0, backoffFactor=0.5, growthInterval=3,
              updatedScale=Out(torch.tensor([wanted[0]])), updatedGrowthTracker=Out(torch.tensor([wanted[1]], dtype=i32)))

# More elements than a block has.
x, y = noise(3, 300), noise(300)
cases.add("aclnnAdd", self=x, other=y, alpha=Scalar(1), out=Out(x + y))

# Limits in the wrong order: the upper one wins, and for logit the lower one below it.
x = torch.tensor([-3.0, -1.0, 0.0, 1.5, 4.0])
cases.add("aclnnClamp", self=x, clipValueMin=Scalar(2.0), clipValueMax=Scalar(-1.0), out=Out(x.clamp(2.0, -1.0)))
cases.add("aclnnClampTensor", self=x, clipValueMin=x + 1, clipValueMax=x - 1, out=Out(torch.clamp(x, x + 1, x - 1)))
x = torch.tensor([0.1, 0.45, 0.55, 0.9])
cases.add("aclnnLogit", input=x, eps=0.6, out=Out(torch.logit(x, 0.6)))

# Functions of complex numbers, near 0 and far from it.
for name in ("exp2", "expm1", "log10", "log1p", "log2", "sinc"):
    for dtype, within in [(c64, 1e-5), (c128, 1e-9)]:
        x = noise(2, 4, dtype=dtype) / 4
        x[0, 0], x[0, 1] = 1e-4 + 2e-4j, -1e-4j
        cases.add("aclnn" + name.capitalize(), self=x, out=Out(getattr(torch, name)(x.to(c128)).to(dtype)), within=within)
for dtype, within in [(c64, 1e-5), (c128, 1e-9)]:
    a, b = noise(2, 3, dtype=dtype), noise(3, dtype=dtype)
    cases.add("aclnnLogAddExp", self=a, other=b, out=Out(torch.logaddexp(a.to(c128), b.to(c128)).to(dtype)), within=within)
    y = torch.view_as_complex(torch.view_as_real(a) * 1.00001)
    y[0, 0], y[1, 1] = a[0, 0] * 1.01, complex(float("nan"), 1.0)
    other = a.clone()
    other[1, 1] = complex(2.0, float("nan"))
    for equal_nan in (False, True):
        cases.add("aclnnIsClose", self=y, other=other, rtol=1e-3, atol=1e-6, equal_nan=equal_nan,
                  out=Out(torch.isclose(y, other, rtol=1e-3, atol=1e-6, equal_nan=equal_nan)))
    # The gradient of a function of complex numbers is multiplied by the conjugate of the derivative.
    for name, aten in [("Tanh", torch.ops.aten.tanh_backward), ("Sigmoid", torch.ops.aten.sigmoid_backward)]:
        gradient, y = noise(2, 3, dtype=dtype), noise(2, 3, dtype=dtype)
        cases.add(f"aclnn{name}Backward", gradOutput=gradient, output=y, gradInput=Out(aten(gradient, y)), within=within)
# An integer on the host wraps around to the type of the tensor before it is an operand, except where float32 computes.
for dtype, number in [(u8, -2), (u8, -1), (i8, 200), (i8, -300), (i16, 40000), (i32, 2**33 + 7)]:
    limits = torch.iinfo(dtype)
    x = torch.tensor([limits.min, limits.max, 1, 3, 7, 100, limits.max - 1, limits.min + 1, 54], dtype=dtype)
    held = int(torch.tensor(number).to(dtype))
    other, y = Scalar(number, i64), torch.where(x == 0, torch.ones_like(x), x)
    for name, function in [("Eq", torch.eq), ("Ne", torch.ne), ("Lt", torch.lt), ("Le", torch.le), ("Gt", torch.gt), ("Ge", torch.ge)]:
        cases.add(f"aclnn{name}Scalar", self=x, other=other, out=Out(function(x, held)))
        cases.add(f"aclnnInplace{name}Scalar", selfRef=InOut(x, function(x, held).to(dtype)), other=other)
    for name, function in [("RemainderTensorScalar", torch.remainder), ("FmodScalar", torch.fmod), ("FloorDivides", torch.floor_divide)]:
        cases.add(f"aclnn{name}", self=x, other=other, out=Out(function(x, held)))
        cases.add(f"aclnnInplace{name}", selfRef=InOut(x, function(x, held)), other=other)
    cases.add("aclnnDivMods", self=x, other=other, mode=1, out=Out(torch.div(x, held, rounding_mode="trunc")))
    cases.add("aclnnDivs", self=x, other=other, out=Out(torch.div(x, number)))
    cases.add("aclnnRemainderScalarTensor", self=other, other=y, out=Out(torch.remainder(torch.tensor(held, dtype=dtype), y)))
    cases.add("aclnnPowScalarTensor", self=other, exponent=x.abs() % 5, out=Out(torch.pow(torch.tensor(held, dtype=dtype), x.abs() % 5)))
    cases.add("aclnnClampMin", self=x, clipValueMin=other, out=Out(torch.clamp(x, min=held)))
    cases.add("aclnnClampMax", self=x, clipValueMax=other, out=Out(torch.clamp(x, max=held)))
    cases.add("aclnnInplaceClampMax", selfRef=InOut(x, torch.clamp(x, max=held)), clipValueMax=other)
    cases.add("aclnnClamp", self=x, clipValueMin=Scalar(number - 3, i64), clipValueMax=other, out=Out(torch.clamp(x, held - 3, held)))
    cases.add("aclnnThreshold", self=x, threshold=other, value=Scalar(5, i64), out=Out(torch.where(x <= held, torch.full_like(x, 5), x)))
    cases.add("aclnnMuls", self=x, other=other, out=Out(x * held))
    cases.add("aclnnAdds", self=x, other=other, alpha=Scalar(number, i64), out=Out(x + torch.tensor(held, dtype=dtype) * held))
    cases.add("aclnnRsubs", self=x, other=other, alpha=Scalar(1, i64), out=Out(torch.tensor(held, dtype=dtype) - x))
    cases.add("aclnnXLogYScalarOther", self=x, other=other, out=Out(torch.xlogy(x, number)))
    if dtype in (i8, i32):
        for name, function in [("Maximum", torch.maximum), ("Minimum", torch.minimum)]:
            cases.add(f"aclnnForeach{name}ScalarV2", x=[x], scalar=other, out=[Out(function(x, torch.tensor(held, dtype=dtype)))])
            cases.add(f"aclnnForeach{name}Scalar", x=[x], scalar=torch.tensor([number]), out=[Out(function(x, torch.tensor(held, dtype=dtype)))])
cases.write()
