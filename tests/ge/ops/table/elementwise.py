"""Operators that work on each element."""

import math

import numpy as np

from cases import b, binary, case, const, distinct, f, i, t, unary, v
from reference import erf

HALF = ("float16",)
WIDE = ("float16", "float64")
INTS = ("int32", "int64", "int8", "uint8", "int16")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


# --- of one input ------------------------------------------------------------------------------------------------------

unary("Abs", np.abs, types=[*WIDE, "bfloat16", "int8", "int16", "int32", "int64"])
unary("Acos", np.arccos, lo=-1, hi=1, types=WIDE)
case("Acos", "of integers", {"x": v([-1, 0, 1])}, lambda x: np.trunc(np.arccos(x)), dtype="int32", types=["int64"])
unary("Acosh", np.arccosh, lo=1, hi=5, types=WIDE)
unary("Asin", np.arcsin, lo=-1, hi=1, types=WIDE)
case("Asin", "of integers", {"x": v([-1, 0, 1])}, lambda x: np.trunc(np.arcsin(x)), dtype="int32", types=["int64"])
unary("Asinh", np.arcsinh, types=WIDE)
unary("Atan", np.arctan, types=WIDE)
unary("Atanh", np.arctanh, lo=-0.9, hi=0.9, types=WIDE)
unary("BNLL", softplus, lo=-30, hi=30, types=WIDE)
unary("Ceil", np.ceil, lo=-5, hi=5, types=["float16", "bfloat16", "float64"])
unary("Cos", np.cos, types=WIDE)
unary("Cosh", np.cosh, types=WIDE)
unary("Erf", erf, types=["float16", "bfloat16"])
unary("Erfc", lambda x: 1 - erf(x), types=HALF)
case("Erfc", "far out", {"x": v([3.0, 4.0, 5.0, -4.0])}, lambda x: np.vectorize(math.erfc)(x), small=True)
unary("Exp", np.exp, types=WIDE)
case("Exp", "base 2, scaled and shifted", {"x": f(4)}, lambda x: 2.0 ** (0.5 * x + 1.5), {"base": 2.0, "scale": 0.5, "shift": 1.5})
unary("Expm1", np.expm1, types=WIDE)
case("Expm1", "near nothing", {"x": v([1e-6, -1e-6, 1e-4, 0.0])}, np.expm1, types=["float64"], small=True)
unary("Floor", np.floor, lo=-5, hi=5, types=["float16", "bfloat16", "float64"])
unary("Gelu", lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), types=["float16", "bfloat16"])
unary("GeluV2", lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2))), types=["float16", "bfloat16"])
unary("GeluV2", lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), name="tanh", attrs={"approximate": "tanh"})
unary("HardSigmoid", lambda x: np.clip(np.float32(0.16666666) * x + 0.5, 0, 1), lo=-5, hi=5, inp="input_x", types=["float16", "bfloat16"])
unary("HardSigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1), lo=-5, hi=5, inp="input_x", name="of integers", dtype="int32", types=[], out="float32")
case("HardSigmoid", "slope and offset", {"input_x": f(3, 4, lo=-5, hi=5)}, lambda x: np.clip(0.25 * x + 0.25, 0, 1), {"alpha": 0.25, "beta": 0.25})
unary("HardSwish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), lo=-5, hi=5, types=["float16", "bfloat16"])
unary("Identity", lambda x: x, types=["float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"])
unary("TensorMove", lambda x: x, types=["float16", "int32"])
unary("Invert", np.invert, dtype="int32", types=["int8", "int16", "int64", "uint8", "uint16"])
case("IsFinite", "", {"x": v([1.0, np.inf, -np.inf, np.nan, 0.0])}, np.isfinite, types=WIDE)
case("IsInf", "", {"x": v([1.0, np.inf, -np.inf, np.nan, 0.0])}, np.isinf, types=["float16", "bfloat16", "float64"])
case("IsNan", "", {"x": v([1.0, np.inf, -np.inf, np.nan, 0.0])}, np.isnan, types=["float16", "bfloat16", "float64"])
unary("LeakyRelu", lambda x: np.where(x > 0, x, 0 * x), name="slope 0 when not said", types=HALF)
unary("LeakyRelu", lambda x: np.where(x > 0, x, np.float64(np.float32(0.1)) * x), name="slope", attrs={"negative_slope": 0.1}, types=["float16", "bfloat16", "float64"])
unary("Log", np.log, lo=0.1, hi=5, types=WIDE)
unary("Log", lambda x: np.log(x.astype(float)), lo=1, hi=9, name="of integers", dtype="int8", types=["int16", "int32", "int64", "uint8", "bool"], out="float32")
case("Log", "base 10, scaled and shifted", {"x": f(4, lo=0, hi=2)}, lambda x: np.log(0.5 * x + 1.5) / np.log(10.0), {"base": 10.0, "scale": 0.5, "shift": 1.5})
unary("Log1p", np.log1p, lo=-0.9, hi=5, types=WIDE)
case("Log1p", "near nothing", {"x": v([1e-6, -1e-6, 1e-4, 0.0])}, np.log1p, types=["float64"], small=True)
unary("LogicalNot", np.logical_not, dtype="bool", types=[])
unary("Mish", lambda x: x * np.tanh(softplus(x)), types=["float16", "bfloat16"])
unary("Neg", np.negative, types=["float16", "bfloat16", "float64", "int8", "int32", "int64"])
unary("Reciprocal", lambda x: 1 / x, lo=0.5, hi=3, types=["float16", "bfloat16", "float64"])
unary("Relu", lambda x: np.maximum(x, 0), types=["float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16"])
unary("Relu6", lambda x: np.clip(x, 0, 6), lo=-9, hi=9, types=["float16", "int32", "float64"])
unary("Rint", np.rint, lo=-5, hi=5, types=HALF)
case("Rint", "halves go to even", {"x": v([0.5, 1.5, 2.5, -0.5, -1.5])}, np.rint)
unary("Round", np.rint, lo=-5, hi=5, types=["float16", "bfloat16", "float64", "int32"])
case("Round", "halves go to even", {"x": v([0.5, 1.5, 2.5, -0.5, -1.5])}, np.rint)
case("Round", "decimals", {"x": f(3, 4, lo=-5, hi=5)}, lambda x: np.round(x, 2), {"decimals": 2}, types=["float64"])
case("Round", "tens", {"x": f(3, 4, lo=-500, hi=500)}, lambda x: np.round(x, -1), {"decimals": -1})
unary("Rsqrt", lambda x: 1 / np.sqrt(x), lo=0.1, hi=5, types=WIDE)
unary("Selu", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), types=["float16", "bfloat16"])
unary("Shrink", lambda x: np.where(x < -0.5, x, np.where(x > 0.5, x, 0)), inp="input_x", types=HALF)
case("Shrink", "limit and bias", {"input_x": f(3, 4)}, lambda x: np.where(x < -0.25, x + 0.75, np.where(x > 0.25, x - 0.75, 0)), {"lambd": 0.25, "bias": 0.75})
unary("Sigmoid", sigmoid, types=["float16", "bfloat16", "float64"])
unary("Sign", np.sign, types=["float16", "bfloat16", "float64", "int32", "int64"])
unary("Sin", np.sin, types=WIDE)
unary("Sinh", np.sinh, types=WIDE)
unary("Softplus", softplus, lo=-30, hi=30, types=["float16", "bfloat16"])
unary("Softsign", lambda x: x / (1 + np.abs(x)), types=["float16", "bfloat16"])
unary("Sqrt", np.sqrt, lo=0, hi=5, types=["float16", "bfloat16", "float64"])
unary("Square", np.square, types=["float16", "int32", "int64"])
unary("Swish", lambda x: x * sigmoid(x), types=["float16", "bfloat16"])
unary("Swish", lambda x: x * sigmoid(1.5 * x), name="scale", attrs={"scale": 1.5})
unary("Tan", np.tan, lo=-1.4, hi=1.4, types=WIDE)
unary("Tanh", np.tanh, types=["float16", "bfloat16", "float64"])
unary("Trunc", np.trunc, lo=-5, hi=5, inp="input_x", types=["float16", "int32"])
unary("OnesLike", np.ones_like, types=["float16", "int32", "bool"])
unary("ZerosLike", np.zeros_like, types=["float16", "int32", "bool"])
unary("Adds", lambda x: x + 1.5, attrs={"value": 1.5}, types=HALF)
unary("Adds", lambda x: x + 3, name="of integers", attrs={"value": 3.0}, dtype="int32", types=["int16"])
unary("Muls", lambda x: x * 1.5, attrs={"value": 1.5}, types=HALF)
unary("Muls", lambda x: x * 3, name="of integers", attrs={"value": 3.0}, dtype="int32", types=["int16", "int64"])
unary("Power", lambda x: x, name="as it is", types=HALF)
case("Power", "", {"x": f(3, 4, lo=0, hi=2)}, lambda x: (0.5 + 2.0 * x) ** 3.0, {"power": 3.0, "scale": 2.0, "shift": 0.5})
unary("Threshold", lambda x: (x > 0).astype(np.float64), types=["float16", "bfloat16"])
case("Threshold", "elsewhere", {"x": v([-1.0, 0.25, 0.5, 0.75, 2.0])}, lambda x: (x > 0.5).astype(np.float64), {"threshold": 0.5})

unary("Elu", lambda x: np.where(x > 0, x, np.expm1(x)), types=["float16", "bfloat16"])
case("Elu", "alpha, scale, input_scale", {"x": f(3, 4)}, lambda x: 1.25 * np.where(x > 0, x, 0.5 * np.expm1(2.0 * x)), {"alpha": 0.5, "scale": 1.25, "input_scale": 2.0})
unary("Celu", lambda x: np.maximum(0, x) + np.minimum(0, np.expm1(x)), types=HALF)
case("Celu", "alpha", {"x": f(3, 4)}, lambda x: np.maximum(0, x) + np.minimum(0, 2.0 * np.expm1(x / 2.0)), {"alpha1": 2.0, "alpha2": 2.0, "alpha3": 1.0})

for source, target in [
    ("float32", "float16"), ("float32", "int32"), ("float32", "bfloat16"), ("float32", "bool"), ("float32", "int8"), ("float16", "float32"),
    ("int32", "float32"), ("int32", "int64"), ("int64", "int32"), ("bool", "float32"), ("uint8", "float16"), ("int32", "bool"),
    ("float64", "float32"), ("int8", "int32"), ("bfloat16", "float32"), ("int32", "uint8"),
    ("complex64", "float32"), ("complex64", "int32"), ("complex64", "bool"), ("complex64", "complex128"), ("complex128", "complex64"), ("complex128", "float16"),
    ("complex128", "complex32"), ("float32", "complex64"), ("int32", "complex128"), ("bool", "complex64"), ("complex32", "complex64"),
]:
    def to(x, target=target):
        if not target.startswith("complex") and target != "bool":
            x = np.real(x)
        return x != 0 if target == "bool" else np.trunc(x) if target.startswith(("int", "uint")) else x

    case("Cast", f"to {target}", {"x": f(3, 4, lo=0, hi=5)}, to, {"dst_type": target}, dtype=source, out=target)
case("CastLike", "", {"x": f(3, 4, lo=-5, hi=5), "target": i(2, dtype="int32")}, lambda x, target: np.trunc(x), out="int32")
case("CastLike", "to float", {"x": i(3, 4), "target": f(2)}, lambda x, target: x.astype(float), types=["float16"])

case("ClipByValue", "", {"x": f(3, 4), "clip_value_min": t(-0.5, None), "clip_value_max": t(1.0, None)}, lambda x, low, high: np.clip(x, low, high), types=["float16", "float64"])
case("ClipByValue", "bounds that are given", {"x": f(3, 4), "clip_value_min": v(-3), "clip_value_max": v(4)}, lambda x, low, high: np.clip(x, low, high), dtype="int32", types=["int64", "int8"])

# --- of two inputs -----------------------------------------------------------------------------------------------------

binary("Add", np.add, types=["float16", "bfloat16", "float64", *INTS])
case("Add", "logical", {"x1": b(3, 4), "x2": b(3, 4)}, np.logical_or, dtype="bool")
case("Add", "of two types", {"x1": f(2, 3, dtype="float16"), "x2": f(2, 3)}, np.add)
binary("Sub", np.subtract, types=["float16", "bfloat16", "float64", "int32", "int64", "int8", "int16"])
case("Sub", "below nothing", {"x1": v([3, 5], "uint8"), "x2": v([4, 2], "uint8")}, lambda a, b: (a - b) % 256, dtype="uint8")
case("Sub", "of booleans", {"x1": b(3, 4), "x2": b(3, 4)}, np.logical_xor, dtype="bool")
binary("Mul", np.multiply, types=["float16", "bfloat16", "float64", *INTS])
case("Mul", "logical", {"x1": b(3, 4), "x2": b(3, 4)}, np.logical_and, dtype="bool")
case("Mul", "of two types", {"x1": i(2, 3), "x2": f(2, 3)}, np.multiply)
binary("RealDiv", np.divide, lo=0.5, hi=4, types=["float16", "bfloat16", "float64"])
case("RealDiv", "of booleans", {"x1": v([True, False]), "x2": v([True, True])}, np.divide, dtype="bool", out="float32")
binary("Div", np.divide, lo=0.5, hi=4, types=["float16"])
case("Div", "of integers", {"x1": v([7, -7, 9, -9]), "x2": v([2, 2, -4, -3])}, lambda a, b: np.trunc(a / b).astype(np.int64), dtype="int32")
binary("FloorDiv", np.floor_divide, lo=0.5, hi=4, types=HALF)
case("FloorDiv", "of integers", {"x1": v([7, -7, 9, -9]), "x2": v([2, 2, -4, -3])}, np.floor_divide, dtype="int32", types=["int64", "int8"])
case("FloorMod", "", {"x1": v([7.5, -7.5, 9.0, -9.0]), "x2": v([2.0, 2.0, -4.0, -4.0])}, np.mod, types=HALF)
case("FloorMod", "of integers", {"x1": v([7, -7, 9, -9]), "x2": v([2, 2, -4, -4])}, np.mod, dtype="int32", types=["int64"])
case("Mod", "", {"x1": v([7.5, -7.5, 9.0, -9.0]), "x2": v([2.0, 2.0, -4.0, -4.0])}, np.fmod, types=["float16", "float64"])
case("Mod", "of integers", {"x1": v([7, -7, 9, -9]), "x2": v([2, 2, -4, -4])}, np.fmod, dtype="int32", types=["int64", "int8"])
case("DivNoNan", "", {"x1": v([1.0, 2.0, 0.0, -3.0]), "x2": v([2.0, 0.0, 0.0, 4.0])}, lambda a, b: np.where(b == 0, 0, a / np.where(b == 0, 1, b)), types=HALF)
case("Xdivy", "", {"x1": v([1.0, 2.0, 0.0, 0.0]), "x2": v([2.0, 4.0, 0.0, 4.0])}, lambda a, b: np.where(a == 0, 0, a / np.where(a == 0, 1, b)), types=["float16", "float64", "bfloat16"])
case("Xlogy", "", {"x1": v([1.0, 2.0, 0.0, 0.0]), "x2": v([2.0, 4.0, 0.0, 4.0])}, lambda a, b: np.where(a == 0, 0, a * np.log(np.where(a == 0, 1, b))), types=HALF)
binary("Maximum", np.maximum, types=["float16", "bfloat16", "float64", "int32", "int64", "int8"])
binary("Minimum", np.minimum, types=["float16", "bfloat16", "float64", "int32", "int64", "int8"])
binary("Pow", np.power, lo=0.2, hi=2, types=["float16", "bfloat16", "float64"])
case("Pow", "of integers", {"x1": v([2, -3, 5]), "x2": v([5, 3, 0])}, np.power, dtype="int32", types=["int64"])
case("Pow", "whole powers", {"x1": f(4), "x2": v([2.0, 3.0, 0.0, 1.0])}, np.power)
binary("SquaredDifference", lambda a, b: (a - b) ** 2, types=["float16", "int32"])
case("Axpy", "", {"x1": f(2, 3), "x2": f(2, 3)}, lambda a, b: a + 0.5 * b, {"alpha": 0.5}, types=HALF)
case("Axpy", "of integers", {"x1": f(2, 3), "x2": f(2, 3)}, lambda a, b: a - 2 * b, {"alpha": -2.0}, dtype="int32")
for op, function in [("Equal", np.equal), ("NotEqual", np.not_equal), ("Greater", np.greater), ("GreaterEqual", np.greater_equal), ("Less", np.less), ("LessEqual", np.less_equal)]:
    case(op, "", {"x1": v([[1, 2, 3], [4, 5, 6]]), "x2": v([1, 5, 3])}, function, types=["float16", "bfloat16", "float64", "int32", "int64", "int8", "uint8"])
for op, function in [("LogicalAnd", np.logical_and), ("LogicalOr", np.logical_or)]:
    case(op, "", {"x1": v([True, True, False, False]), "x2": v([True, False, True, False])}, function, dtype="bool")
for op, function in [("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or), ("BitwiseXor", np.bitwise_xor)]:
    case(op, "", {"x1": f(2, 3), "x2": f(3)}, function, dtype="int32", types=["int8", "int16", "int64", "uint8", "uint16", "uint32"])
case("LeftShift", "", {"x": v([1, 3, 5]), "y": v([3, 0, 2])}, np.left_shift, dtype="int32", types=["int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64"])
case("RightShift", "", {"x": v([64, 3, 5]), "y": v([3, 0, 2])}, np.right_shift, dtype="int32", types=["int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64"])
case("RightShift", "of what is below nothing", {"x": v([-64, -3]), "y": v([3, 1])}, np.right_shift, dtype="int32", types=["int8", "int64"])

case("BiasAdd", "channels last when not said", {"x": f(2, 3, 4), "bias": f(4)}, np.add, types=["float16", "int32"])
case("BiasAdd", "channels first", {"x": f(2, 3, 4, 5), "bias": const(f(3))}, lambda x, bias: x + bias[:, None, None], {"data_format": "NCHW"}, types=HALF)
case("BiasAdd", "matrix with channels first", {"x": f(2, 3), "bias": const(f(3))}, np.add, {"data_format": "NCHW"})
case("PRelu", "a slope for each channel", {"x": f(2, 3, 4, 5), "weight": const(f(3))}, lambda x, w: np.where(x > 0, x, x * w[:, None, None]), types=["float16", "bfloat16"])
case("PRelu", "one slope", {"x": f(2, 3), "weight": const(f(1))}, lambda x, w: np.where(x > 0, x, x * w))

# --- of several inputs -------------------------------------------------------------------------------------------------

case("AccumulateNV2", "", {"x": [f(2, 3), f(2, 3), f(2, 3)]}, sum, {"N": 3}, types=["float16", "int32", "int8", "uint8"])
case("AccumulateNV2", "one", {"x": [f(2, 3)]}, sum, {"N": 1})
case("AddN", "", {"x": [f(2, 3), f(2, 3), f(2, 3), f(2, 3)]}, sum, {"N": 4}, types=["float16", "int32"])
case("Eltwise", "sum when not said", {"x": [f(2, 3), f(2, 3), f(2, 3)]}, sum, {"N": 3}, types=HALF)
case("Eltwise", "product", {"x": [f(2, 3), f(2, 3)]}, lambda x: x[0] * x[1], {"N": 2, "mode": 0})
case("Eltwise", "most", {"x": [f(2, 3), f(2, 3)]}, lambda x: np.maximum(*x), {"N": 2, "mode": 2})
case("Eltwise", "sum with factors", {"x": [f(2, 3), f(2, 3)]}, lambda x: 0.5 * x[0] - 2 * x[1], {"N": 2, "mode": 1, "coeff": [0.5, -2.0]})
case("Lerp", "", {"start": f(2, 3), "end": f(2, 3), "weight": f(2, 3, lo=0, hi=1)}, lambda a, b, w: a + w * (b - a), types=HALF)
case("Addcmul", "", {"input_data": f(2, 3), "x1": f(2, 3), "x2": f(2, 3), "value": v(0.5)}, lambda x, a, b, s: x + s * a * b, types=HALF)
case("Addcdiv", "", {"input_data": f(2, 3), "x1": f(2, 3), "x2": f(2, 3, lo=1), "value": v(0.5)}, lambda x, a, b, s: x + s * a / b, types=HALF)
case("Addcdiv", "a whole value", {"input_data": f(2, 3), "x1": f(2, 3), "x2": f(2, 3, lo=1), "value": v(2, "int32")}, lambda x, a, b, s: x + s * a / b)
case("Dropout", "forgets nothing in inference", {"x": f(3, 4)}, lambda x: x)

# --- quantised ---------------------------------------------------------------------------------------------------------


def quantised(x, scale, offset, how=np.rint):
    return np.clip(how(x * scale + offset), -128, 127)


case("AscendQuant", "", {"x": f(4, 5, lo=-4, hi=4)}, lambda x: quantised(x, 10.5, 3), {"scale": 10.5, "offset": 3.0}, types=HALF, out="int8")
case("AscendQuant", "beyond the bounds", {"x": f(4, 5, lo=-40, hi=40)}, lambda x: quantised(x, 10, 0), {"scale": 10.0, "offset": 0.0}, out="int8")
case("AscendQuant", "squared scale, downwards", {"x": f(4, 5, lo=-4, hi=4)}, lambda x: quantised(x, 2.25, 1, np.floor), {"scale": 1.5, "offset": 1.0, "sqrt_mode": True, "round_mode": "Floor"}, out="int8")
case("AscendQuant", "upwards", {"x": f(4, 5, lo=-4, hi=4)}, lambda x: quantised(x, 2, 1, np.ceil), {"scale": 2.0, "offset": 1.0, "round_mode": "Ceil"}, out="int8")
case("AscendQuant", "towards nothing", {"x": f(4, 5, lo=-4, hi=4)}, lambda x: quantised(x, 2, 1, np.trunc), {"scale": 2.0, "offset": 1.0, "round_mode": "Trunc"}, out="int8")
scale_bits = np.array([0.5, 0.25, 2.0], np.float32).view(np.uint32).astype(np.uint64)
case("AscendDequant", "", {"x": i(2, 3, 2, 2, lo=-50, hi=50), "deq_scale": t(scale_bits, "uint64")}, lambda x, s: x * np.array([0.5, 0.25, 2.0])[:, None, None])
case("AscendDequant", "float16 scale, rectified", {"x": i(2, 3, 2, 2, lo=-50, hi=50), "deq_scale": const(v([0.5], "float16"))}, lambda x, s: np.maximum(x * 0.5, 0), {"relu_flag": True, "dtype": "float16"}, out="float16")
case("AscendDequant", "bits above the scale", {"x": i(2, 3, lo=-50, hi=50), "deq_scale": t(scale_bits[1:2] + (np.uint64(5) << np.uint64(46)), "uint64")}, lambda x, s: x * 0.25)
case("AscendDequant", "the bits of a tiny scale", {"x": i(2, 3, lo=-50, hi=50), "deq_scale": t([1], "uint64")}, lambda x, s: x * 0.0)
case("AscendDequant", "squared scale", {"x": i(2, 3, lo=-50, hi=50), "deq_scale": t(scale_bits[:1], "uint64")}, lambda x, s: x * 0.25, {"sqrt_mode": True})


def requantised(x, scale, offset=0, relu=False):
    y = np.maximum(x * scale, 0) if relu else x * scale
    return np.clip(np.rint(y + offset), -128, 127)


# What aclnnTransQuantParamV2 makes: a float32 below, bit 46, and nine bits of an offset from bit 37 on.
three_scales, three_offsets = np.array([0.5, 0.25, 2.0]), np.array([-256, 3, -7])
packed = scale_bits | np.uint64(1 << 46) | ((three_offsets & 0x1FF).astype(np.uint64) << np.uint64(37))
case("AscendRequant", "", {"x": i(2, 4, 2, 3, lo=-90, hi=90), "req_scale": t(scale_bits, "uint64")}, lambda x, s: requantised(x, three_scales), out="int8")
case("AscendRequant", "rectified, with bit 46", {"x": i(2, 4, 2, 3, lo=-90, hi=90), "req_scale": t((scale_bits | np.uint64(1 << 46)).reshape(1, 1, 1, 3), "uint64")},
     lambda x, s: requantised(x, three_scales, relu=True), {"relu_flag": True}, out="int8")
case("AscendRequant", "offsets", {"x": i(20, 3, lo=-200, hi=900), "req_scale": t(packed, "uint64")}, lambda x, s: requantised(x, three_scales, three_offsets), out="int8")
