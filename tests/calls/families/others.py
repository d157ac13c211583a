"""Quantisation, parts for positions, optimizers, random numbers, linear algebra, distances."""

import math

import numpy as np

from device import NUMPY
from maker import EPS, FLOATS, LOW, bits, near, wide

from . import Family


def low(dtype):
    return EPS[dtype] if dtype in LOW else 0


# Quantisation.

ROUND = {"round": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


def steps(exact, least, most, slack=0.0, sure=False):
    """Returns a comparison of rounded values: beside a value whose rounding depends on the last bits, a step is allowed, but not where `sure` is true."""

    def check(found, wanted):
        close = np.abs(exact - np.rint(exact * 2) / 2) <= slack + 1e-5 * (1 + np.abs(exact))
        close &= ~np.broadcast_to(sure, close.shape)
        within = np.abs(found.astype(float) - wanted.astype(float)) <= 1
        return bits(np.where(close & within, wanted, found).astype(found.dtype), wanted)

    return check


def limited(values, dtype):
    limits = np.iinfo(NUMPY[dtype])
    return np.clip(values, limits.min, limits.max).astype(NUMPY[dtype])


def ascend_quant(call):
    if call.chance(25):
        from .quantising import by_scale
        return by_scale(call)
    dtype = call.float_type()
    lead, c = call.shape(1, 3, 60, empty=False), call.choose((1, 4, 8, 17, 65, 256))
    x = wide(call.tensor("x", dtype, (*lead, c), "small", False))
    n = c if call.chance(70) else 1
    scale = wide(call.tensor("scale", dtype, values=(0.5 + np.abs(np.rint(wide(call.some(dtype, (n,), "small", False)) * 8) / 8)) * call.choose((1, 1, 16, -1))))
    offset = wide(call.tensor("offset", dtype, values=np.rint(wide(call.some(dtype, (n,), "small", False)) * 8) / 8)) if call.chance(60) else None
    sqrt = call.set("sqrtMode", call.chance(30))
    mode = call.set("roundMode", call.choose(tuple(ROUND)))
    call.set("dstType", 2)
    if "axis" in call.kinds:
        call.set("axis", -1)
    exact = x * scale * (scale if sqrt else 1) + (0 if offset is None else offset)
    # In 16 bits the product may be rounded to the type before the offset is added. What no step rounds has one result.
    held, sure = exact * 0 + x, np.ones(exact.shape, bool)
    for function, other in [(np.multiply, scale)] * (2 if sqrt else 1) + ([] if offset is None else [(np.add, offset)]):
        held = function(held, other)
        sure &= held == held.astype(NUMPY[dtype])
    call.out("y", "int8", limited(ROUND[mode](exact), "int8"), steps(exact, -128, 127, 2 * low(dtype) * np.abs(exact).max(initial=0), sure))


def anti_quant(call):
    out = call.choose(("float16", "bfloat16"))
    lead, c = call.shape(1, 3, 60, empty=False), call.choose((1, 4, 8, 17, 65))
    x = call.tensor("x", "int8", (*lead, c), "any").astype(float)
    scale = wide(call.tensor("scale", "float32", (c,), "small", False))
    offset = wide(call.tensor("offset", "float32", (c,), "small", False)) if call.chance(60) else None
    sqrt = call.set("sqrtMode", call.chance(30))
    call.set("dstType", 27 if out == "bfloat16" else 1)
    wanted = (x + (0 if offset is None else offset)) * scale * (scale if sqrt else 1)
    call.out("y", out, wanted, near(4))


def dynamic_quant(call):
    if call.operator == "aclnnDynamicQuantV2" and call.chance(60):
        return dynamic_quant_in_groups(call)
    if call.chance(25):
        from .quantising import by_rows
        return by_rows(call)
    dtype = call.choose(("float16", "bfloat16"))
    lead, c = call.shape(1, 3, 60, empty=False), call.choose((2, 4, 8, 17, 64, 65, 256, 1024))
    x = wide(call.tensor("x", dtype, (*lead, c), "small", False))
    smooth = wide(call.tensor("smoothScalesOptional", dtype, (c,), "inner", False)) if call.chance(50) else None
    value = x * (1 if smooth is None else smooth)
    scale = np.abs(value).max(-1) / 127
    if "dstType" in call.kinds:
        call.set("dstType", 2)
    with np.errstate(all="ignore"):
        exact = np.nan_to_num(value / scale[..., None])
    call.out("yOut", "int8", limited(np.rint(exact), "int8"), steps(exact, -128, 127, 1e-3))
    call.out("scaleOut", "float32", scale, near(8))


def dynamic_quant_in_groups(call):
    """Rows of groups, each group with factors of its own; with an offset the least number is the least integer, and the largest the largest."""
    dtype = call.choose(("float16", "bfloat16"))
    rows, columns = call.choose((1, 3, 17, 130)), call.choose((2, 8, 17, 65))
    x = wide(call.some(dtype, (rows, columns), "small", False)).copy()
    # Equal numbers alone have no scale.
    x[:, 0], x[:, 1] = 1 + np.arange(rows) % 3, -2 - np.arange(rows) % 5
    x = wide(call.tensor("x", dtype, values=x))
    values = x.astype(np.float32)
    if call.chance(60):
        groups = call.between(1, 3) if call.chance(70) else 1
        smooth = wide(call.tensor("smoothScalesOptional", dtype, (groups, columns) if groups > 1 else (columns,), "inner", False, odd=False)).astype(np.float32)
        if groups > 1:
            ends = [*sorted(call.between(0, rows) for _ in range(groups - 1)), rows]
            call.tensor("groupIndexOptional", "int32", values=np.array(ends))
            smooth = smooth[np.searchsorted(ends, np.arange(rows), "right")]
        values = values * smooth
    call.set("dstType", 2)
    most, least = values.max(-1, keepdims=True), values.min(-1, keepdims=True)
    if call.chance(60):
        scale = (most - least) / np.float32(255)
        offset = np.float32(127) - most / scale
        call.kept.add("offsetOut")
        call.out("offsetOut", "float32", offset[:, 0], near(8, 0, 1e-4 * (1 + np.abs(most / scale)[:, 0])))
    else:
        scale, offset = np.abs(values).max(-1, keepdims=True) / np.float32(127), np.float32(0)
    exact = (values / scale + offset).astype(float)
    call.out("yOut", "int8", limited(np.rint(exact), "int8"), steps(exact, -128, 127, 1e-3))
    call.out("scaleOut", "float32", scale[:, 0], near(8))


def quantize(call):
    dtype, out = call.float_type(), call.choose(("int8", "uint8", "int32"))
    shape = call.shape(1, 4, 600, empty=False)
    axis = call.below(len(shape))
    n = shape[axis] if call.chance(60) else 1
    x = wide(call.tensor("x", dtype, shape, "small", False))
    scale = wide(call.tensor("scales", dtype, values=0.125 + np.abs(wide(call.some(dtype, (n,), "inner", False)))))
    zero = call.tensor("zeroPoints", out if out != "uint8" else "int32", values=np.abs(call.some("int32", (n,), "small", False))).astype(float) if call.chance(70) else None
    call.set("dtype", out), call.set("axis", axis if n > 1 else 0)
    spread = lambda v: v.reshape([-1 if a == axis else 1 for a in range(len(shape))])  # noqa: E731
    exact = x / spread(scale) + (0 if zero is None else spread(zero))
    call.out("out", out, limited(np.rint(np.where(np.isnan(exact), 0, exact)), out), steps(exact, 0, 0, 2 * low(dtype) * np.abs(exact).max(initial=0)))


def fake_quant(call, channel):
    dtype = call.choose(("float32", "float16"))
    shape = call.shape(1, 4, 600, empty=False)
    axis = call.below(len(shape)) if channel else 0
    n = shape[axis] if channel else 1
    x = wide(call.tensor("self", dtype, shape, "small", False))
    scale = wide(call.tensor("scale", dtype, values=0.125 + np.rint(np.abs(wide(call.some(dtype, (n,), "inner", False))) * 8) / 8))
    zero = call.tensor("zeroPoint", "int32", values=call.some("int32", (n,), "small", False)).astype(float)
    if channel:
        call.set("axis", axis)
    else:
        call.set("fakeQuantEnbled", 1.0)
    least, most = call.choose(((-8, 7), (0, 5), (-128, 127), (0, 255), (-3, -1), (2, 2)))
    call.set("quantMin", least), call.set("quantMax", most)
    spread = (lambda v: v.reshape([-1 if a == axis else 1 for a in range(len(shape))])) if channel else (lambda v: v.reshape(()))
    exact = x / spread(scale)
    # What is not a number is the smallest, as PyTorch has it.
    exact = np.where(np.isnan(exact), -np.inf, exact)
    value = np.rint(exact) + spread(zero)
    wanted = (np.clip(value, least, most) - spread(zero)) * spread(scale)
    tie = np.abs(exact - np.rint(exact * 2) / 2) <= 1e-3 * (1 + np.abs(exact))
    call.out("out", dtype, wanted, near(4, 0, np.where(tie, np.broadcast_to(spread(scale), tie.shape) * 1.01, 0)))
    inside = (value >= least) & (value <= most)
    tie &= np.isfinite(x)
    call.out("mask", "bool", inside, lambda found, want: bits(np.where(tie, want, found), want))


# Parts for positions.

def turned(x, mode):
    n = x.shape[-1]
    if mode == 0:
        one, two = np.split(x, 2, -1)
        return np.concatenate([-two, one], -1)
    if mode == 1:
        return np.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)
    if mode == 2:
        a, b, c, d = np.split(x, 4, -1)
        return np.concatenate([-b, a, -d, c], -1)
    return np.concatenate([-x[..., 1::2], x[..., 0::2]], -1) if n else x


def rotary(call):
    dtype = call.float_type()
    mode = call.set("mode", call.choose((0, 1, 2, 3)))
    shape = (call.between(1, 2), call.choose((1, 3, 17, 130)), call.between(1, 3), call.choose((4, 8, 16, 64, 128)))
    angles = call.choose(((1, shape[1], 1, shape[3]), (shape[0], shape[1], 1, shape[3])))
    x = wide(call.tensor("x", dtype, shape, "small", False))
    cos, sin = wide(call.tensor("cos", dtype, angles, "small", False)), wide(call.tensor("sin", dtype, angles, "small", False))
    # The last mode arranges what the cosine meets as well.
    straight = np.concatenate([x[..., 0::2], x[..., 1::2]], -1) if mode == 3 else x
    wanted = straight * cos + turned(x, mode) * sin
    call.out("out", dtype, wanted, near(4, 0, (1e-6 + 0) * (np.abs(straight * cos) + np.abs(turned(x, mode) * sin))))


def apply_rotary(call):
    dtype = call.float_type()
    b, s, d = call.between(1, 2), call.choose((1, 3, 17, 130)), call.choose((4, 8, 64, 128))
    q = wide(call.tensor("queryRef", dtype, (b, s, call.between(1, 3), d), "small", False))
    k = wide(call.tensor("keyRef", dtype, (b, s, call.between(1, 2), d), "small", False))
    cos, sin = (wide(call.tensor(name, dtype, (b, s, 1, d), "small", False)) for name in ("cos", "sin"))
    call.set("layout", 1)
    mode = 0
    if "rotaryMode" in call.kinds:
        mode, name = call.choose(((0, "half"), (1, "interleave"), (2, "quarter")))
        call.set("rotaryMode", name)
    for own, x in (("queryRef", q), ("keyRef", k)):
        call.update(own, x * cos + turned(x, mode) * sin, near(4, 0, (1e-6 + 0) * (np.abs(x * cos) + np.abs(turned(x, mode) * sin))))


# Optimizers.

def adam_w(call, V2):
    dtype = call.float_type()
    shape = call.shape(0, 4, 2000)
    var, m, v, g = (wide(call.tensor(name, dtype, shape, "small" if name != "vRef" else "inner", False)) for name in ("varRef", "mRef", "vRef", "grad"))
    rate, decay, one, two, e = call.choose((0.0625, 0.5, 0.0, -0.25)), call.choose((0.125, 0.0, 0.5)), call.choose((0.875, 0.5, 0.0)), call.choose((0.9375, 0.75, 0.0)), call.choose((2.0**-13, 0.5, 2.0**-20))
    # The step before this one is passed: 0 in the first call.
    step = call.choose((0, 1, 2, 20))
    if V2:
        call.tensor("step", call.choose(("int64", "float32")), values=np.array([step]), plain=True)
        for name, value in (("lr", rate), ("beta1", one), ("beta2", two), ("weightDecay", decay), ("eps", e)):
            call.set(name, value)
    else:
        for name, value in (("beta1Power", one**step), ("beta2Power", two**step), ("lr", rate), ("weightDecay", decay), ("beta1", one), ("beta2", two), ("eps", e)):
            call.tensor(name, "float32", values=np.array([value]), plain=True)
    largest = "maxGradNormOptionalRef" if V2 else "maxGradNormOptional"
    top = wide(call.tensor(largest, dtype, shape, "inner", False)) if call.set("amsgrad", call.chance(40)) else None
    own = -g if call.set("maximize", call.chance(40)) else g
    m2, v2 = one * m + (1 - one) * own, two * v + (1 - two) * own**2
    step += 1
    if top is not None:
        # One form keeps the largest second moment, the other makes it the second moment.
        used = np.maximum(v2, top)
        if V2:
            call.update(largest, used, near(4, 0, 1e-6 * (np.abs(v) + g * g + np.abs(top))))
        else:
            v2 = used
    else:
        used = v2
    change = rate * (m2 / (1 - one**step)) / (np.sqrt(used / (1 - two**step)) + e)
    wanted = var - change - rate * decay * var
    call.update("varRef", wanted, near(16, 0, 1e-5 * (np.abs(var) + np.abs(change))))
    call.update("mRef", m2, near(4, 0, 1e-6 * (np.abs(m) + np.abs(g))))
    call.update("vRef", v2, near(4, 0, 1e-6 * (np.abs(v) + g * g + (0 if top is None else np.abs(top)))))


def adam(call):
    dtype = call.float_type()
    shape = call.shape(1, 4, 2000)
    var, m, v, g = (wide(call.tensor(name, dtype, shape, "small" if name != "v" else "inner", False)) for name in ("varRef", "m", "v", "grad"))
    rate, one, two, e, step = call.choose((0.0625, 0.0, -0.5)), call.choose((0.875, 0.0, 0.5)), call.choose((0.9375, 0.0, 0.75)), call.choose((2.0**-6, 0.5, 2.0**-20)), call.choose((1, 3, 20))
    for name, value in (("beta1Power", one**step), ("beta2Power", two**step), ("lr", rate), ("beta1", one), ("beta2", two), ("epsilon", e)):
        call.tensor(name, "float32", values=np.array([value]), plain=True)
    call.set("useLocking", call.chance(50))
    nesterov = call.set("useNesterov", call.chance(50))
    m2, v2 = one * m + (1 - one) * g, two * v + (1 - two) * g**2
    change = rate * math.sqrt(1 - two**step) / (1 - one**step) * (one * m2 + (1 - one) * g if nesterov else m2) / (np.sqrt(v2) + e)
    call.update("varRef", var - change, near(16, 0, 1e-5 * (np.abs(var) + np.abs(change))))


# Random numbers: what holds for every generator.

def drawn(call, rule, shape=None, types=FLOATS, name=None):
    dtype = call.choose(types)
    if name in call.kinds and call.in_place:
        x = call.tensor(name, dtype, shape or call.shape(0, 5, 3000))
        return dtype, x.shape
    return dtype, shape or call.shape(0, 5, 3000)


def seeds(call):
    for name in ("seed", "offset"):
        if name in call.kinds:
            call.set(name, call.choose((0, 1, 1234567, 4)))


#: Numbers of which the mean is tested, and how many deviations of it are possible.
MANY, FAR = 400, 7


def spread_around(values, mean, deviation):
    """What is wrong with the mean and the deviation of many numbers, or `None`."""
    values = np.asarray(values, float)
    if values.size < MANY:
        return None
    off = abs(values.mean() - mean)
    if off > FAR * deviation / math.sqrt(values.size) + 4e-3 * (abs(mean) + deviation):
        return f"the mean of {values.size} numbers is {values.mean()} and not {mean}"
    # The fourth moment of what is tested is at most that of a normal distribution, but for rare events.
    if deviation and abs(values.std() / deviation - 1) > FAR * 2 / math.sqrt(values.size) + 1e-2:
        return f"the deviation of {values.size} numbers is {values.std()} and not {deviation}"
    return None


def between(least, most, open_end, mean=None, deviation=0.0):
    def check(found, wanted):
        values = wide(found).astype(float)
        wrong = ~((values >= least) & ((values < most) if open_end else (values <= most)))
        if wrong.any():
            return f"a number lies outside of [{least}, {most}]: {values[wrong][0]}"
        return None if mean is None else spread_around(values, mean, deviation)
    return check


def flat(least, most):
    """The mean and the deviation of numbers that are equally frequent in a range."""
    return (least + most) / 2, (most - least) / math.sqrt(12)


def uniform(call):
    dtype, shape = drawn(call, None, name="selfRef", types=("float32", "float64", "float16", "bfloat16"))
    least = call.set("from", call.choose((0.0, -2.0, 1.0)))
    most = call.set("to", least + call.choose((1.0, 4.0, 0.5)))
    seeds(call)
    call.update("selfRef", np.full(shape, least), between(least, most, True, *flat(least, most)))


def normal(call):
    dtype, shape = drawn(call, None, name="selfRef")
    mean, std = call.set("mean", call.choose((0.0, 5.0))), call.set("std", call.choose((1.0, 0.0, 2.0)))
    seeds(call)
    call.update("selfRef", np.full(shape, mean), between(mean - 8 * std - 1e-6, mean + 8 * std + 1e-6, False, mean, std))


def integers(call):
    dtype, shape = drawn(call, None, name="selfRef", types=("int32", "int64", "float32"))
    least = call.set("from", call.choose((0, -5, 100)))
    most = call.set("to", least + call.choose((1, 2, 100)))
    seeds(call)
    call.update("selfRef", np.full(shape, least), between(least, most - 1, False, (least + most - 1) / 2, math.sqrt(((most - least) ** 2 - 1) / 12)))


def bernoulli(call):
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose(("float32", "float16", "int32", "bool", "uint8"))
    x = call.tensor(own, dtype, call.shape(0, 5, 3000))
    p = float(call.scalar("prob", "float32", call.choose((0.5, 0.0, 1.0, 0.25, 0.875))))
    seeds(call)

    def check(found, wanted):
        values = found.astype(float)
        if not np.isin(values, (0, 1)).all():
            return "a number is neither 0 nor 1"
        return "an outcome is impossible" if p in (0, 1) and (values != p).any() else spread_around(values, p, math.sqrt(p * (1 - p)))

    if call.in_place:
        call.update(own, np.zeros(x.shape), check)
    else:
        call.out("out", dtype, np.zeros(x.shape), check)


def permuted(call):
    n = call.set("n", call.choose((1, 2, 17, 256, 1025, 0)))
    seeds(call)
    dtype = call.choose(("int64", "int32", "float32"))
    call.out("out", dtype, np.arange(n), lambda found, wanted: bits(np.sort(wide(found)), wanted))


def dropout_mask(call):
    p = call.choose((0.5, 0.0, 0.75, 0.125))
    dtype = call.float_type()
    x = wide(call.tensor("self", dtype, call.shape(1, 4, 2000, empty=False), "small", False))
    bytes_ = -(-x.size // 128) * 16
    mask = call.tensor("mask", "uint8", values=call.some("uint8", (bytes_,), "any", False))
    call.set("prob", p)
    kept = np.unpackbits(mask, bitorder="little")[: x.size].reshape(x.shape)
    call.out("out", dtype, np.where(kept == 1, x / (1 - p), 0), near(2))


def masked_scale(call):
    dtype = call.float_type()
    shape = call.shape(0, 5, 2000)
    x = wide(call.tensor("self", dtype, shape, "small", False))
    mask = wide(call.tensor("mask", call.choose(("uint8", "int8")), values=np.abs(call.some("int8", shape, "small", False)) % 2)).astype(float)
    scale = call.set("scale", call.choose((1.0, 2.0, 0.5, 0.0, -3.0)))
    call.out("out", dtype, x * mask * scale, near(2))


# Linear algebra: by what the results have to fulfil.

def inverse(call):
    n = call.choose((1, 2, 3, 5, 8, 17))
    shape = (*call.shape(0, 2, 6, empty=False), n, n)
    x = wide(call.some("float32", shape, "normal", False)) + 2 * math.sqrt(n) * np.eye(n)
    x = wide(call.tensor("self", "float32", values=x))
    wanted = np.linalg.inv(x)
    call.out("out", "float32", wanted, near(4, 0, 1e-5 * np.linalg.cond(x)[..., None, None] * np.abs(wanted).max((-1, -2), keepdims=True)))


def cholesky(call):
    n = call.choose((1, 2, 3, 5, 8, 17))
    shape = (*call.shape(0, 2, 6, empty=False), n, n)
    x = wide(call.some("float32", shape, "normal", False))
    x = wide(call.tensor("self", "float32", values=x @ x.swapaxes(-1, -2) + n * np.eye(n)))
    x = (x + x.swapaxes(-1, -2)) / 2
    upper = call.set("upper", call.chance(50))
    wanted = np.linalg.cholesky(x)
    call.out("out", "float32", wanted.swapaxes(-1, -2) if upper else wanted, near(4, 0, 1e-5 * np.sqrt(np.abs(x).max((-1, -2), keepdims=True)) * n))


def triangular(call):
    n, k = call.choose((1, 2, 3, 5, 8)), call.choose((1, 2, 5))
    lead = call.shape(0, 2, 6, empty=False)
    a = wide(call.some("float32", (*lead, n, n), "unit", False)) / n + 2 * np.eye(n)
    b = wide(call.tensor("self", "float32", (*lead, n, k), "small", False))
    a = wide(call.tensor("A", "float32", values=a))
    upper, turned_, unit = call.set("upper", call.chance(50)), call.set("transpose", call.chance(50)), call.set("unitriangular", call.chance(30))
    t = np.triu(a) if upper else np.tril(a)
    if unit:
        t = t - t * np.eye(n) + np.eye(n)
    t = t.swapaxes(-1, -2) if turned_ else t
    wanted = np.linalg.solve(t, b)
    call.out("xOut", "float32", wanted, near(4, 0, 1e-5 * np.linalg.cond(t)[..., None, None] * (np.abs(wanted).max((-1, -2), keepdims=True) + 1e-3)))
    call.out("mOut", "float32", None, shape=(*lead, n, n))


def distances(call):
    dtype = call.choose(("float32", "float16"))
    b = call.choose(((), (2,)))
    m, n, d = call.choose((1, 2, 9, 33)), call.choose((1, 3, 17, 130)), call.choose((1, 3, 8, 65))
    x, y = wide(call.tensor("x1", dtype, (*b, m, d), "small", False)), wide(call.tensor("x2", dtype, (*b, n, d), "small", False))
    p = call.set("p", call.choose((2.0, 1.0, math.inf, 3.0, 0.0, 0.5, 1.5)))
    call.set("compute_mode", call.choose((2, 0, 1)))
    gap = np.abs(x[..., :, None, :] - y[..., None, :, :])
    with np.errstate(all="ignore"):
        wanted = gap.max(-1) if p == math.inf else (gap != 0).sum(-1).astype(float) if p == 0 else (gap**p).sum(-1) ** (1 / p)
    call.out("out", dtype, wanted, near(32, 0, 1e-5))


def elementwise_batch_norm(call):
    dtype = call.float_type()
    c = call.between(1, 5)
    shape = (call.between(1, 3), c, *call.shape(0, 2, 60, empty=False))
    x = wide(call.tensor("input", dtype, shape, "small", False))
    w, b, mean, rstd = (np.full(c, default) if default is not None and call.chance(20) else wide(call.tensor(name, dtype, (c,), domain, False))
                        for name, domain, default in (("weight", "small", 1.0), ("bias", "small", 0.0), ("mean", "small", None), ("invstd", "inner", None)))
    call.set("eps", 1e-5)
    spread = lambda v: v.reshape([1, c] + [1] * (len(shape) - 2))  # noqa: E731
    y = (x - spread(mean)) * spread(rstd * w) + spread(b)
    call.out("output", dtype, y, near(8, 0, (2e-6 + 0) * ((np.abs(x) + np.abs(spread(mean))) * np.abs(spread(rstd * w)) + np.abs(spread(b)))))


def amp_scale(call):
    scale = call.choose((1.0, 1024.0, 65536.0, 3e38, 2.0**127, 1e-38, 2.0**-140, 0.0, math.inf))
    growth, found = call.choose((0, 1, 3, 7)), call.choose((0.0, 1.0, 0.0, 5.0))
    call.tensor("currentScale", "float32", values=np.array([scale]), plain=True)
    call.tensor("growthTracker", "int32", values=np.array([growth]), plain=True)
    call.tensor("foundInf", "float32", values=np.array([found]), plain=True)
    up, down, after = call.set("growthFactor", call.choose((2.0, 1.0, 1.5, 1e10, 0.5))), call.set("backoffFactor", call.choose((0.5, 0.25, 1.0, 1e-10, 0.0))), call.set("growthInterval", call.choose((4, 2, 1, 8)))
    if found:
        scale, growth = scale * down, 0
    else:
        growth += 1
        if growth == after:
            # A scale that would not be finite stays.
            with np.errstate(all="ignore"):
                raised = np.float32(np.float32(scale) * np.float32(up))
            scale, growth = float(raised) if np.isfinite(raised) else scale, 0
    call.out("updatedScale", "float32", np.array([scale]), near(1)), call.out("updatedGrowthTracker", "int32", np.array([growth]))


def all_finite(call):
    """True stays, and becomes true where an element is infinite or not a number."""
    dtype = call.choose(FLOATS)
    x = wide(call.tensor("gradient", dtype, call.shape(0, 5, 3000), "small", call.chance(30)))
    before = call.tensor("out", "bool", values=np.array([call.chance(30)]))
    call.update("out", before | (not np.isfinite(x).all()))


QUANT = Family("quantisation", "ops/quant")
QUANT.add("AscendQuant AscendQuantV3", ascend_quant)
QUANT.add("AscendAntiQuant", anti_quant)
QUANT.add("DynamicQuant DynamicQuantV2", dynamic_quant)
QUANT.add("Quantize", quantize)
QUANT.add("FakeQuantPerChannelAffineCachemask", fake_quant, channel=True)
QUANT.add("FakeQuantPerTensorAffineCachemask", fake_quant, channel=False)

POSITIONS = Family("parts for positions", "ops/fused")
POSITIONS.add("RotaryPositionEmbedding", rotary)
POSITIONS.add("ApplyRotaryPosEmb ApplyRotaryPosEmbV2", apply_rotary)

OPTIMIZERS = Family("optimizers", "ops/optimizer.rs")
OPTIMIZERS.add("ApplyAdamWV2", adam_w, V2=True)
OPTIMIZERS.add("ApplyAdamW", adam_w, V2=False)
OPTIMIZERS.add("ApplyAdam", adam)
OPTIMIZERS.add("AmpUpdateScale", amp_scale)
OPTIMIZERS.add("AllFinite", all_finite)

RANDOM = Family("random numbers", "ops/random")
RANDOM.add("Uniform", uniform)
RANDOM.add("Normal", normal)
RANDOM.add("Random", integers)
RANDOM.add("Bernoulli", bernoulli)
RANDOM.add("Randperm", permuted)
RANDOM.add("DropoutDoMask", dropout_mask)
RANDOM.add("MaskedScale", masked_scale)

ALGEBRA = Family("linear algebra, distances", "ops/linalg")
ALGEBRA.add("Inverse", inverse)
ALGEBRA.add("LinalgCholesky", cholesky)
ALGEBRA.add("TriangularSolve", triangular)
ALGEBRA.add("Cdist", distances)
ALGEBRA.add("BatchNormElemt", elementwise_batch_norm)

FAMILIES = [QUANT, POSITIONS, OPTIMIZERS, RANDOM, ALGEBRA]
