"""Types that programs bring in headers of their own, or that are another operator with one attribute more."""

import numpy as np

from cases import case, const, f, i, refused, unary, v

HALF = ("float16",)
case("AxpyV3", "", {"x": f(3, 4), "y": f(3, 4)}, lambda x, y: 1.5 * x + y, {"a": 1.5}, types=HALF)
case("AxpyV3", "without a factor", {"x": f(3, 4), "y": f(4)}, lambda x, y: x + y)
case("BitwiseNot", "", {"x": f(3, 5)}, np.invert, dtype="int32", types=["int8", "int16", "int64", "uint8", "bool"])
unary("CeilV2", np.ceil, lo=-9, hi=9)
for mode, round_ in enumerate([lambda x: x, np.trunc, np.floor]):
    case("DivV3", f"mode {mode}", {"x1": f(3, 4, lo=-9, hi=9), "x2": f(3, 4, lo=0.5, hi=3)}, lambda a, b, r=round_: r(a / b), {"mode": mode}, types=["bfloat16"] if mode == 0 else [])
    case("DivV3", f"integers, mode {mode}", {"x1": i(3, 4, lo=-9, hi=9), "x2": i(3, 4, lo=1, hi=4)}, lambda a, b, r=round_: np.trunc(r(a / b)), {"mode": mode}, dtype="int32", out="int32")
case("DivV3", "types", {"x1": f(3, 4, lo=-9, hi=9), "x2": v([[1, -2, 2, 4]])}, lambda a, b: np.trunc(a / b) if a.dtype == np.int64 else a / b, dtype="float16", types=["int16"])
refused("DivV3", "another mode", {"x1": f(3), "x2": f(3)}, "its attribute mode is 3", {"mode": 3})
case("DotV2", "", {"x1": f(17), "x2": f(17)}, lambda a, b: a @ b, types=HALF)
refused("DotV2", "two lengths", {"x1": f(4), "x2": f(5)}, "vectors of the same length are required")
case("GerV2", "", {"x": f(3), "y": f(4), "A": f(3, 4)}, lambda x, y, a: 0.5 * np.outer(x, y) + a, {"alpha": 0.5}, types=HALF)
case("GerV2", "integers", {"x": f(3, lo=-9), "y": f(4, lo=-9), "A": f(3, 4, lo=-9)}, lambda x, y, a: 2 * np.outer(x, y) + a, {"alpha": 2.0}, dtype="int32", types=["int16"])
refused("GerV2", "a matrix of another shape", {"x": f(3), "y": f(4), "A": f(4, 3)}, "a row for each element of x")
unary("HardSwishV2", lambda x: x * np.clip((x + 3) / 6, 0, 1), lo=-5, hi=5, types=["float16", "bfloat16"])
for op, function in [("MulV2", np.multiply), ("SubV2", np.subtract)]:
    more = ["bfloat16"] if op == "SubV2" else []
    case(op, "", {"x1": f(3, 4), "x2": f(4)}, function, types=["float16", "int16", "int32", *more])
case("Real", "", {"input": f(3, 4)}, lambda x: x)
for dtype, part in [("complex64", "float32"), ("complex128", "float64"), ("complex32", "float16")]:
    case("Real", "", {"input": f(3, 4)}, np.real, {"Tout": part}, dtype=dtype, out=part)
case("Real", "float16", {"input": f(3, 4)}, lambda x: x, {"Tout": "float16"}, dtype="float16")
case("Real", "wider", {"input": f(3, 4)}, lambda x: x, {"Tout": "float64"}, out="float64")
unary("SoftPlusV2", lambda x: np.log1p(np.exp(x)), lo=-5, hi=5)
unary("SquareV2", np.square)
for x in [(3, 1, 2), (2, 2, 2), (3, 2, 2), (2, 3, 2), (3, 3, 2), (1, 1, 2)]:
    first, second, third = x
    y = [first >= third and second < third, first == third == second, first > third == second, first == third < second, first > third and second > third, True].index(True)
    case("CaseCondition", f"{x}", {"x": v(x)}, lambda x, y=y: np.int32(y), dtype="int32", types=["int64", "uint64"] if y == 4 else [], out="int32")
refused("CaseCondition", "another algorithm", {"x": v([1, 2, 3])}, "it must be LU", {"algorithm": "QR"}, dtype="int32")
MASK = v([[1, 0, 1, 1, 0]] * 3, "bool")
LOSS = {"x_clamped_loss": f(3, 5, lo=-0.01, hi=0.01)}
case("ActULQClampMinGrad", "", {"y_grad": f(3, 5), "clamp_min_mask": MASK, **LOSS}, lambda g, m, x: (g * (x + m)).sum(), types=HALF)
for dtype in ["float32", "float16"]:
    case("ActULQClampMinGrad", f"a mask of {dtype}", {"y_grad": f(3, 5), "clamp_min_mask": v([[1, 0, 1, 1, 0]] * 3, dtype), **LOSS}, lambda g, m, x: (g * (x + m)).sum())
REAL = ["float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16"]
case("ReluV2", "", {"x": f(3, 5)}, lambda x: [np.maximum(x, 0), (x > 0).astype(np.uint8)], types=[one for one in REAL if one != "bfloat16"], out=[None, "uint8"])
case("Crop", "", {"x": f(2, 3, 6, 7), "size": f(1, 1, 4, 3)}, lambda x, s: x[:, :, 1:5, 2:5], {"offsets": [1, 2]}, types=["float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
case("Crop", "from an axis on, with one offset", {"x": f(2, 5, 6, 7), "size": f(1, 3, 4, 3)}, lambda x, s: x[:, 1:4, 1:5, 1:4], {"axis": 1, "offsets": [1]})
refused("Crop", "beyond the border", {"x": f(1, 1, 4, 4), "size": f(1, 1, 3, 3)}, "is cropped to 3 elements from 2 on, and it has 4", {"offsets": [2]})
STATISTICS = {"mean": f(2, 3, 1, 1, dtype="float32"), "variance": f(2, 3, 1, 1, lo=0.5, dtype="float32")}


def instance(x, mean, variance, gamma=1.0, beta=0.0):
    return [(x - mean) / np.sqrt(variance + 1e-5) * gamma + beta, mean, variance]


AFFINE = {"gamma": f(2, 3, 1, 1, dtype="float32"), "beta": f(2, 3, 1, 1, dtype="float32")}
case("INInferV2", "", {"x": f(2, 3, 4, 5), **AFFINE, **STATISTICS}, lambda x, g, b, m, s: instance(x, m, s, g, b), types=HALF, out=[None, "float32", "float32"])
case("INInferV2", "without factors", {"x": f(2, 3, 4, 5), **STATISTICS}, instance)
refused("INInferV2", "statistics of one channel more", {"x": f(2, 3, 4, 5), "mean": f(2, 4, 1, 1), "variance": f(2, 4, 1, 1)}, "INInferV2")
PARTS = {"parameters": f(4, 3), "gradient": f(4, 3), "learning_rate": const(v([0.1])), "accum": f(4, 3), "momentum": const(v([0.75]))}


def descent(p, g, rate, accum, momentum, stat, dampening=0.0, decay=0.0, nesterov=False):
    g = g + decay * p
    accum = np.where(stat > 0, g, momentum * accum + (1 - dampening) * g)
    return p - rate * (g + momentum * accum if nesterov else accum)


for name, stat, attrs in [("the first step", 1.0, {}), ("a later step", 0.0, {"dampening": 0.25}), ("Nesterov", 0.0, {"nesterov": True, "weight_decay": 0.5})]:
    options = {"dampening": attrs.get("dampening", 0), "decay": attrs.get("weight_decay", 0), "nesterov": attrs.get("nesterov", False)}
    case("SGD", name, {**PARTS, "stat": v(np.full((4, 3), stat))}, lambda *a, o=options: descent(*a, **o), attrs, types=["float16", "bfloat16"] if not attrs else [], loose=2, why="a step has several roundings of the type")
case("Bincount", "", {"array": i(3, 5, lo=-2, hi=8, dtype="int32"), "size": const(v(6, "int32")), "weights": f(3, 5)},
     lambda x, n, w: np.bincount(x[(x >= 0) & (x < 6)], w[(x >= 0) & (x < 6)], 6), types=["int32", "int64", "float64"])
case("Bincount", "without weights", {"array": i(9, lo=0, hi=8, dtype="int32"), "size": const(v(6, "int32")), "weights": v(np.zeros(0))}, lambda x, n, w: np.bincount(x[x < 6], minlength=6).astype(float))
IDS = v([0, 0, 2, 2, 3])
NUMBERS = ["float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def segments(x, ids):
    y = np.zeros((ids[-1] + 1, *x.shape[1:]), x.dtype)
    np.add.at(y, ids, x)
    return y


case("SegmentSum", "", {"x": f(5, 3), "segment_ids": v([0, 0, 2, 2, 3], "int32")}, segments, types=NUMBERS)
case("SegmentSum", "constant ids", {"x": f(5), "segment_ids": const(v([0, 1, 1, 1, 1], "int64"))}, segments)
DROP = np.random.default_rng(3).integers(0, 256, 16)


def dropped(x, mask, keep):
    bits = np.unpackbits(mask.astype(np.uint8), bitorder="little")[: x.size].reshape(x.shape)
    return np.where(bits, x / keep, 0)


case("DropOutDoMask", "", {"x": f(5, 7), "mask": v(DROP, "uint8"), "keep_prob": v([0.75])}, dropped, types=["float16", "bfloat16"])
refused("DropOutDoMask", "too few bits", {"x": f(5, 7), "mask": v(DROP[:4], "uint8"), "keep_prob": v([0.75])}, "a bit for each of 35 elements is required")


def first_seen(x):
    values, at, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(at)
    return [values[order], np.argsort(order)[inverse].astype(np.int64)]


case("Unique", "", {"x": v([3, 1, 3, 2, 1, 7])}, lambda x: [one.astype(x.dtype) if at == 0 else one for at, one in enumerate(first_seen(x))], types=["float16", "int8", "int16", "uint16", "uint8", "int32", "int64", "float64"], out=[None, "int32"])
case("Unique", "int64 positions", {"x": v([3, 1, 3, 2, 1, 7])}, first_seen, {"out_idx": "int64"}, out=[None, "int64"])


def products(x, axis, exclusive=False, reverse=False):
    x = np.flip(x, axis) if reverse else x
    y = np.cumprod(x, axis)
    if exclusive:
        y = np.concatenate([np.ones_like(np.take(y, [0], axis)), np.delete(y, -1, axis)], axis)
    return np.flip(y, axis) if reverse else y


SMALL = f(3, 4, lo=0.5, hi=2)
for exclusive, reverse in [(False, False), (True, False), (False, True), (True, True)]:
    types = NUMBERS if not exclusive and not reverse else []
    case("Cumprod", f"exclusive {exclusive}, reverse {reverse}", {"x": f(3, 2, lo=1, hi=2), "axis": const(v(0, "int32"))}, lambda x, a, o=(exclusive, reverse): products(x, 0, *o), {"exclusive": exclusive, "reverse": reverse}, types=types)
case("Cumprod", "the last axis", {"x": SMALL, "axis": const(v([-1], "int64"))}, lambda x, a: products(x, 1))
refused("Cumprod", "an axis that is not there", {"x": SMALL, "axis": const(v([2], "int64"))}, "axis")
BYTES = {"float32": np.float32, "float16": np.float16, "float64": np.float64, "bfloat16": None, "bool": np.bool_, **{f"{u}int{b}": np.dtype(f"{u}int{b}") for u in ("", "u") for b in (8, 16, 32, 64)}}
WORDS = np.arange(-6, 6)
for dtype, own in BYTES.items():
    if dtype in ("bfloat16", "bool"):
        continue
    case("Bitcast", f"as {dtype} of the same size", {"x": v(WORDS)}, lambda x, o=own: x.astype(o).view(f"uint{8 * np.dtype(o).itemsize}"), {"type": f"uint{8 * np.dtype(own).itemsize}"}, dtype=dtype, out=f"uint{8 * np.dtype(own).itemsize}")
for dtype, word in [("complex64", "uint64"), ("complex128", "float64")]:
    case("Bitcast", f"{dtype} as {word}", {"x": f(2, 3)}, lambda x, d=dtype, w=word: (lambda y: y if w == "uint64" else y.reshape(2, 3, 2))(x.astype(d).view(w)), {"type": word}, dtype=dtype, out=word)
case("Bitcast", "booleans", {"x": v([1, 0, 1, 1])}, lambda x: x.astype(np.uint8), {"type": "uint8"}, dtype="bool", out="uint8")
case("Bitcast", "halves", {"x": v(WORDS)}, lambda x: x.astype(np.int64).view(np.int32).reshape(12, 2), {"type": "int32"}, dtype="int64", out="int32")
case("Bitcast", "pairs", {"x": v(WORDS.reshape(6, 2))}, lambda x: x.astype(np.int16).view(np.int32)[:, 0], {"type": "int32"}, dtype="int16", out="int32")
refused("Bitcast", "rows of three", {"x": v(WORDS.reshape(4, 3))}, "its last axis must have 2 elements", {"type": "int32"}, dtype="int16")
