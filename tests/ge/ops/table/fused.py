"""Several steps of arithmetic as one operator, and quantisation for training."""

import numpy as np

from cases import case, const, f, i, refused, unary, v

HALF = ("float16",)
case("AddExample", "", {"x1": f(2, 3), "x2": f(2, 3)}, np.add, types=["int32"])
case("AddExampleAicpu", "", {"x1": f(2, 3), "x2": f(2, 3)}, np.add, types=["int32"])
case("AddV2", "", {"x1": f(2, 3), "x2": f(3)}, np.add, types=["float16", "int32", "int64"])
FIVE = {"c": f(3, 5), "a": f(3, 5), "b": f(3, 5), "beta": v(0.5), "alpha": v(2.0)}
case("AddMatMatElements", "", FIVE, lambda c, a, b, beta, alpha: c * beta + a * b * alpha, types=HALF)
case("AngleV2", "", {"x": v([1.5, -1.5, 0.0, np.nan, -np.inf])}, lambda x: np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0.0)), types=HALF)
case("AxpyV2", "", {"x1": f(3, 5), "x2": f(3, 5), "alpha": v(0.5)}, lambda a, b, s: a + s * b, types=HALF)
unary("CeluV2", lambda x: np.where(x > 0, x, 0.5 * np.expm1(x / 0.5)), attrs={"alpha": 0.5})
case("ClipByNormNoDivSum", "", {"x": v([4.0, 0.25, -1.0, 0.0]), "greater_zeros": v(0.0), "select_ones": v(1.0), "maximum_ones": v(1.0)},
     lambda x, z, o, m: np.maximum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), x), 1), types=HALF)
case("ClipByValueV2", "", {"x": f(3, 5, lo=-4, hi=4), "clip_value_min": v(-1), "clip_value_max": v(2)}, lambda x, a, b: np.clip(x, -1, 2), types=["float16", "bfloat16", "int32", "int64"])
MASK = i(3, 5, lo=0, hi=2, dtype="uint8")
case("DropOutDoMaskV3", "", {"x": f(3, 5), "mask": MASK, "keep_prob": const(v(0.5))}, lambda x, m, p: x * m / 0.5, types=HALF)
case("DropOutDoMaskV3", "a mask with more behind", {"x": f(3, 5), "mask": v(np.arange(128) % 3 % 2, "uint8"), "keep_prob": const(v(0.5))}, lambda x, m, p: x * m[:15].reshape(3, 5) / 0.5, types=HALF)
case("DropOutDoMaskV3D", "", {"x": f(3, 5), "mask": MASK}, lambda x, m: x * m / 0.5, {"keep_prob": 0.5}, types=HALF)
case("FusedBiasLeakyRelu", "", {"x": f(3, 5), "bias": f(3, 5)}, lambda x, b: np.where(x + b > 0, x + b, 0.25 * (x + b)) * 2, {"negative_slope": 0.25, "scale": 2.0}, types=HALF)
case("FusedMulAdd", "", {"x1": f(3, 5), "x2": f(3, 5), "x3": f(3, 5)}, lambda a, b, c: a * b + c, types=HALF)
case("FusedMulAddAdd", "", {"x1": f(3, 5), "x2": f(3, 5), "x3": f(3, 5), "x4": f(3, 5)}, lambda a, b, c, d: a * b + c + d, types=HALF, loose=2, why="three roundings")
case("FusedMulAddN", "", {"x1": f(3, 5), "x2": f(3, 5), "x3": v([0.5])}, lambda a, b, s: a * s + b, types=HALF)
case("FusedMulAddNL2loss", "", {"x1": f(3, 5), "x2": f(3, 5), "x3": v([0.5])}, lambda a, b, s: [a * s + b, (a * a).sum() / 2], types=HALF)
GEMM = {"a": f(3, 4), "b": f(4, 5), "alpha": v(0.5), "beta": v(2.0), "c": f(3, 5)}
case("GemmV2", "", GEMM, lambda a, b, s, t, c: s * (a @ b) + t * c, types=HALF, loose=2, why="sums of products")
case("GemmV2", "transposed", {**GEMM, "a": f(4, 3), "b": f(5, 4)}, lambda a, b, s, t, c: s * (a.T @ b.T) + t * c, {"transpose_a": True, "transpose_b": True})
unary("Inv", lambda x: 1 / x, lo=0.5, hi=3)
case("MulAddn", "", {"x1": [f(3, 5), f(3, 5)], "x2": [f(3, 5), f(3, 5)]}, lambda a, b: a[0] * b[0] + a[1] * b[1], {"N": 2}, types=HALF)
case("MulNoNan", "", {"x1": v([1.0, np.inf, np.nan, 2.0]), "x2": v([3.0, 0.0, 0.0, -2.0])}, lambda a, b: np.array([3.0, 0, 0, -4.0]), types=HALF)
case("MulNoNan", "of integers", {"x1": v([1, 2]), "x2": v([3, 0])}, np.multiply, dtype="int32")
case("NPUAllocFloatStatus", "", {}, lambda: np.zeros(8))
case("NonFiniteCheck", "finite", {"tensor_list": [f(3, 5), f(2)]}, lambda x: np.array([0.0]), types=[])
for name, bad in [("infinite", np.inf), ("not a number", np.nan)]:
    case("NonFiniteCheck", name, {"tensor_list": [f(3), v([1.0, bad])]}, lambda x: np.array([1.0]))
case("NonFiniteCheck", "of half", {"tensor_list": [const(v([1.0, np.inf], "float16"))]}, lambda x: np.array([1.0]))
case("NonFiniteCheck", "of bfloat16", {"tensor_list": [const(v([1.0, 2.0], "bfloat16"))]}, lambda x: np.array([0.0]))
case("Pows", "", {"x1": f(3, 5, lo=0.5), "x2": f(3, 5)}, np.power, types=["float16", "bfloat16"])
unary("Relu6D", lambda x: 0.5 * np.clip(x, 0, 6), lo=-3, hi=9, attrs={"scale": 0.5})
unary("Sinc", np.sinc, lo=-3, hi=3)
case("Sinc", "at 0", {"x": v([0.0, 1e-3, 0.5])}, np.sinc)
unary("TensorRedirect", lambda x: x, types=["float16", "int8", "int16", "int32", "int64", "uint8"])
case("TruncateDiv", "", {"x1": v([7.5, -7.5, 9.0, -9.0]), "x2": v([2.0, 2.0, -4.0, -4.0])}, lambda a, b: np.trunc(a / b), types=HALF)
case("TruncateDiv", "of integers", {"x1": v([7, -7, 9, -9]), "x2": v([2, 2, -4, -4])}, lambda a, b: np.trunc(a / b), dtype="int32", types=["int8"])
case("TruncateDiv", "without a sign", {"x1": v([7, 9]), "x2": v([2, 4])}, lambda a, b: a // b, dtype="uint8")
case("TruncateMod", "", {"x1": v([7.5, -7.5, 9.0, -9.0]), "x2": v([2.0, 2.0, -4.0, -4.0])}, np.fmod, types=["float16", "float64"])
case("TruncateMod", "of integers", {"x1": v([7, -7, 9, -9]), "x2": v([2, 2, -4, -4])}, np.fmod, dtype="int32", types=["int64", "int8"])
case("TruncateMod", "without a sign", {"x1": v([7, 9]), "x2": v([2, 4])}, np.fmod, dtype="uint8")
case("Xlog1py", "", {"x": v([0.0, 1.0, 2.0, 0.0]), "y": v([-1.0, 0.5, 3.0, np.inf])}, lambda x, y: np.where(x == 0, 0, x * np.log1p(np.where(x == 0, 0, y))), types=HALF)


def grid(low, high, bits=8, reduced=False):
    """The nudged bounds and the step, as TensorFlow documents fake quantisation."""
    least, most = (1.0 if reduced else 0.0), 2.0**bits - 1
    step = (high - low) / (most - least)
    zero = np.clip(np.floor(least - low / step + 0.5), least, most)
    return (least - zero) * step, (most - zero) * step, step


def fake(x, low, high, **how):
    low, high, step = grid(low, high, **how)
    return np.floor((np.clip(x, low, high) - low) / step + 0.5) * step + low


# Away from the borders between two levels, where rounding decides.
LEVELS = v([-7.0, -5.97, -0.01, 0.0, 1.23, 5.5, 7.0])
case("FakeQuantWithMinMaxArgs", "", {"x": LEVELS}, lambda x: fake(x, -6.0, 6.0))
case("FakeQuantWithMinMaxArgs", "reduced range", {"x": LEVELS}, lambda x: fake(x, -2.0, 5.0, bits=4, reduced=True), {"min": -2.0, "max": 5.0, "num_bits": 4, "narrow_range": True})
GRADIENTS = v([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])


def inside(g, x, low, high):
    low, high, _ = grid(low, high)
    return np.where((x >= low) & (x <= high), g, 0)


case("FakeQuantWithMinMaxArgsGradient", "", {"gradients": GRADIENTS, "x": LEVELS}, lambda g, x: inside(g, x, -6.0, 6.0))
case("FakeQuantWithMinMaxVars", "", {"x": LEVELS, "min": v(-3.0), "max": v(6.0)}, lambda x, a, b: fake(x, a, b))


def gradients(g, x, low, high, axis=None):
    low, high, _ = grid(low, high)
    return [np.where((x >= low) & (x <= high), g, 0), np.where(x < low, g, 0).sum(axis), np.where(x > high, g, 0).sum(axis)]


case("FakeQuantWithMinMaxVarsGradient", "", {"gradients": GRADIENTS, "x": LEVELS, "min": v(-3.0), "max": v(6.0)}, gradients)
CHANNELS = {"x": f(4, 3, lo=-8, hi=8), "min": v([-6.0, -2.0, 0.0]), "max": v([6.0, 5.0, 4.0])}
case("FakeQuantWithMinMaxVarsPerChannel", "", CHANNELS, lambda x, a, b: fake(x, a, b))
case("FakeQuantWithMinMaxVarsPerChannelGradient", "", {"gradients": f(4, 3), **CHANNELS}, lambda g, *a: gradients(g, *a, axis=0))


# --- quantisation with learnt bounds --------------------------------------------------------------------------------------


def ulq(x, low, high, fixed=False):
    low, high = 0 * low if fixed else np.minimum(low, 0), np.maximum(high, 255 * 1.192092896e-07)
    step = (high - low) / 255
    level = np.round(low / step)
    above, below = x >= level * step, x <= (level + 255) * step
    raw = np.clip(x, level * step, (level + 255) * step) / step
    loss = np.where(above & below, np.round(raw) - raw, level - low / step) / 255
    return [np.round(raw) * step, above.astype(float), below.astype(float), loss]


BOUNDS = {"clamp_min": v([-1.3]), "clamp_max": v([2.2])}
case("ActsULQ", "", {"x": f(4, 5, lo=-4, hi=4), **BOUNDS}, ulq, types=HALF)
case("ActsULQ", "from zero on", {"x": f(4, 5, lo=-4, hi=4), **BOUNDS}, lambda *a: ulq(*a, fixed=True), {"fixed_min": True})
refused("ActsULQ", "four bits", {"x": f(4, 5), **BOUNDS}, "num_bits is 4; it must be 8", {"num_bits": 4})
INSIDE, ALSO = i(3, 5, lo=0, hi=2, dtype="bool"), i(3, 5, lo=0, hi=2, dtype="bool")
case("ActsULQInputGrad", "", {"y_grad": f(3, 5), "clamp_min_mask": INSIDE, "clamp_max_mask": ALSO}, lambda g, a, b: g * a * b, types=HALF)
case("ActULQClampMaxGrad", "", {"y_grad": f(3, 5), "clamp_max_mask": INSIDE, "x_clamped_loss": f(3, 5, lo=-0.01, hi=0.01)}, lambda g, m, x: (g * (x + m)).sum(), types=HALF)


def lars(w, g, w_squares, g_squares, decay, rate, clip=False):
    factor = np.float64(np.float32(0.001)) * np.sqrt(w_squares) / (decay * np.sqrt(w_squares) + np.sqrt(g_squares) + np.float64(np.float32(1e-5)))
    return (w * decay + g) * (np.clip(factor / rate, 0, 1) if clip else factor)


LARS = {"w": f(4, 3), "g": f(4, 3), "w_square_sum": v(9.0), "g_square_sum": v(0.25), "weight_decay": v(0.125)}
case("LarsV2Update", "", {**LARS, "learning_rate": v(0.5)}, lars, small=True)
case("LarsV2Update", "clipped", {**LARS, "learning_rate": v(0.5)}, lambda *a: lars(*a, clip=True), {"use_clip": True})
case("LarsV2Update", "clipped at 1", {**LARS, "learning_rate": v(0.0001)}, lambda *a: lars(*a, clip=True), {"use_clip": True})


def signs(x, rows):
    return np.unpackbits(x.astype(np.uint8), bitorder="little").astype(float).reshape(rows, -1) * 2 - 1


for size, dtype in [(2, "float32"), (1, "float16")]:
    case("SignBitsUnpack", f"{size} rows, {dtype}", {"x": v([159, 15], "uint8")}, lambda x, size=size: signs(x, size), {"size": size, "dtype": dtype}, out=dtype)
refused("SignBitsUnpack", "rows that are no part of the bits", {"x": v([159, 15], "uint8")}, "whose bits can be parted into that many rows", {"size": 3, "dtype": "float32"})
for op in ["NPUClearFloatStatus", "NPUGetFloatStatus"]:
    case(op, "", {"addr": f(8)}, lambda x: np.zeros(8))
