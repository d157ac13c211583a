"""Activations, their gates and their gradients: each derivative is written out, in double precision."""

import math

import numpy as np

from maker import EPS, FLOATS, LOW, near, wide

from . import Family
from .elementwise import eps, erf, extent, finish

E, EX, F = np.exp, np.expm1, FLOATS


def sigmoid(x):
    return 1 / (1 + E(-x))


def softplus(x):
    return np.logaddexp(0, x)


def phi(x):
    return 0.5 * (1 + erf(x / math.sqrt(2)))


def density(x):
    return E(-x * x / 2) / math.sqrt(2 * math.pi)


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def tanh_gelu_slope(x):
    k = math.sqrt(2 / math.pi)
    t = np.tanh(k * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x)


def scalars(call, row):
    """Draws the host scalars and numbers of an operator: name to the values that it may have."""
    found = {}
    for name, options in row.items():
        value = call.choose(options)
        kind = call.kinds[name]
        found[name] = float(call.scalar(name, "float32", value)) if kind == "aclScalar*" else call.set(name, value)
    return found


def activation(call, f, types=F, given=None, domain="small", absolute=2e-7, special=False, open_at=lambda x: False):
    """An activation, everywhere: `open_at` says where documents do not say what it is."""
    own = call.in_place[0] if call.in_place else call.inputs[0]
    dtype = call.choose(types)
    full = call.below(3) == 2
    x = call.tensor(own, dtype, extent(call), "full" if full else domain, None if special else False)
    values = wide(x)
    numbers = scalars(call, given or {})
    with np.errstate(all="ignore"):
        wanted = f(values, *numbers.values())
        bound = absolute * (1e-9 if dtype == "float64" else 1) * (1 + np.where(np.isfinite(values), np.abs(values), 0))
        left = np.broadcast_to(open_at(values), values.shape)

    def check(also):
        one = near(8, 0, bound, also)
        return lambda found, want: one(np.where(left, want, found).astype(found.dtype) if left.any() else found, want)

    finish(call, dtype, wanted, check, own, (dtype,))


def gradient(call, f, types=F, given=None, inputs=("gradOutput", "self"), domain="small", absolute=2e-7, pieces=False):
    """A gradient of the output times a slope; `f` returns the slope. One of straight `pieces` is 0 where the slope is, and defined everywhere."""
    dtype = call.choose(types)
    shape = extent(call)
    g = wide(call.tensor(inputs[0], dtype, shape, "small", False))
    full = call.below(3) == 2
    x = wide(call.tensor(inputs[1], dtype, shape, "full" if full else domain, False))
    numbers = scalars(call, given or {})
    with np.errstate(all="ignore"):
        slope = f(x, *numbers.values())
        wanted = np.where(slope == 0, 0, g * slope) if pieces else g * slope
        scale = np.abs(g) * (1 + np.abs(x))
        bound = absolute * (1e-9 if dtype == "float64" else 1) * np.where(np.isfinite(scale), scale, 0)
        # Where terms beyond the type meet, documents do not say what comes of it; NaN is tested with other functions.
        far = (~(np.abs(x) < 1e4) | np.isinf(g) & (np.abs(slope) < 1e-2)) & (not pieces)
    check = near(8, 0, bound)
    call.out(call.results[0], dtype, wanted, lambda found, want: check(np.where(far, want, found).astype(found.dtype), want) if far.any() else check(found, want))


def gate(call, halves, slope=None):
    """Two halves of a dimension."""
    dtype = call.choose(F)
    shape = list(call.shape(1, 5, 3000, empty=False))
    axis = call.axis("dim", len(shape))
    shape[axis] *= 2
    x = wide(call.tensor("self" if "self" in call.kinds else "x", dtype, tuple(shape), "small", False))
    one, two = np.split(x, 2, axis)
    wanted = halves(one, two)
    call.out(call.results[0], dtype, wanted, near(8, 0, 3e-7 * (np.abs(one) + np.abs(two) + np.abs(wanted))))


def gate_gradient(call, slopes, inputs):
    dtype = call.choose(F)
    shape = list(call.shape(1, 5, 3000, empty=False))
    axis = call.axis("dim", len(shape))
    g = wide(call.tensor(inputs[0], dtype, tuple(shape), "small", False))
    shape[axis] *= 2
    x = wide(call.tensor(inputs[1], dtype, tuple(shape), "small", False))
    one, two = np.split(x, 2, axis)
    first, second = slopes(one, two)
    wanted = np.concatenate([g * first, g * second], axis)
    scale = np.concatenate([np.abs(g) * (1 + np.abs(one) + np.abs(two))] * 2, axis)
    call.out(call.results[0], dtype, wanted, near(8, 0, 4e-7 * scale * (1 + np.abs(x))))


def geglu(call, V3=False, backward=False):
    dtype = call.choose(F)
    shape = list(call.shape(1, 4, 3000, empty=False))
    axis = call.axis("dim", len(shape))
    half = tuple(shape)
    shape[axis] *= 2
    form = None
    g = wide(call.tensor("gradOutput", dtype, half, "small", False)) if backward else None
    x = wide(call.tensor("self", dtype, tuple(shape), "small", False))
    form = call.set("approximate", call.choose((0, 1)))
    left = call.set("activateLeft", call.chance(50)) if V3 else False
    one, two = np.split(x, 2, axis)
    value, gated = (two, one) if left else (one, two)
    f, slope = ((tanh_gelu, tanh_gelu_slope) if form == 1 else (lambda v: v * phi(v), lambda v: phi(v) + v * density(v)))
    active = f(gated)
    if not backward:
        call.out("outGelu", dtype, active, near(8, 0, 4e-7 * (1 + np.abs(gated))))
        low = 0
        call.out("out", dtype, value * active, near(8, low, 4e-7 * np.abs(value) * (1 + np.abs(gated))))
        return
    kept = wide(call.tensor("gelu", dtype, values=active))
    dv, dg = g * kept, g * value * slope(gated)
    wanted = np.concatenate([dg, dv] if left else [dv, dg], axis)
    scale = np.concatenate([np.abs(g) * (1 + np.abs(one)) * (1 + np.abs(two)) ** 2] * 2, axis)
    call.out("gradInput", dtype, wanted, near(8, 0, 6e-7 * scale + 0))


def gelu_form(call, backward=False):
    dtype = call.choose(F)
    shape = extent(call)
    g = wide(call.tensor("gradOutput", dtype, shape, "small", False)) if backward else 1
    x = wide(call.tensor("self" if backward else "x", dtype, shape, "small", False))
    tanh = call.chance(50)
    call.set("approximate", ("tanh" if tanh else "none") if backward else 1 if tanh else 0)
    if backward:
        wanted = g * (tanh_gelu_slope(x) if tanh else phi(x) + x * density(x))
    else:
        wanted = tanh_gelu(x) if tanh else x * phi(x)
    call.out(call.results[0], dtype, wanted, near(8, 0, 4e-7 * np.abs(g) * (1 + np.abs(x))))


def gelu_mul(call):
    dtype = call.choose(F)
    shape = list(call.shape(1, 4, 2000, empty=False))
    shape[-1] *= 2
    x = wide(call.tensor("input", dtype, tuple(shape), "small", False))
    tanh = call.chance(50)
    call.set("approximateOptional", "tanh" if tanh else "none")
    one, two = np.split(x, 2, -1)
    active = tanh_gelu(one) if tanh else one * phi(one)
    call.out("out", dtype, active * two, near(8, 0, 4e-7 * np.abs(two) * (1 + np.abs(one))))


def elu(x, alpha, scale, inner):
    return np.where(x > 0, scale * x, scale * alpha * EX(inner * x))


def elu_backward(call):
    dtype = call.choose(F)
    shape = extent(call)
    g = wide(call.tensor("gradOutput", dtype, shape, "small", False))
    alpha, scale, inner = scalars(call, dict(alpha=(1.0, 0.5, 2.0, 0.0), scale=(1.0, 2.0, 0.5, 0.0), inputScale=(1.0, 0.5, 2.0, 0.0))).values()
    result = call.set("isResult", call.chance(50))
    x = wide(call.tensor("selfOrResult", dtype, shape, "small", False))
    with np.errstate(all="ignore"):
        wanted = np.where(x <= 0, g * inner * (x + scale * alpha) if result else g * inner * scale * alpha * E(inner * x), g * scale)
        # Products of zeros and infinities depend on the order of the factors.
        far = ~np.isfinite(x) | ~np.isfinite(g)
    check = near(8, 0, 1e-6 * np.abs(g) * (1 + np.abs(x)) * max(1, abs(scale * alpha)))
    call.out("gradInput", dtype, wanted, lambda found, want: check(np.where(far, want, found).astype(found.dtype), want))


def prelu(call, backward=False):
    dtype = call.choose(F)
    shape = call.shape(2, 4, 3000, empty=False)
    g = wide(call.tensor("gradOutput", dtype, shape, "small", False)) if backward else None
    x = wide(call.tensor("self", dtype, shape, "small", False))
    one = call.chance(40)
    w = wide(call.tensor("weight", dtype, (1,) if one else (shape[1],), "small", False))
    spread = w.reshape([1, -1] + [1] * (len(shape) - 2))
    if not backward:
        call.out("out", dtype, np.where(x > 0, x, x * spread), near(2))
        return
    call.out("gradInput", dtype, np.where(x > 0, g, g * spread), near(2))
    parts = np.where(x > 0, 0, g * x)
    axes = tuple(axis for axis in range(len(shape)) if one or axis != 1)
    size = np.abs(parts).sum(axes).reshape(w.shape)
    call.out("gradWeight", dtype, parts.sum(axes).reshape(w.shape), near(2, 0, 1e-6 * size))


def log_sigmoid(call, backward=False):
    dtype = call.choose(F)
    shape = extent(call)
    if backward:
        g = wide(call.tensor("gradOutput", dtype, shape, "small", False))
        x = wide(call.tensor("self", dtype, shape, "small", False))
        call.tensor("buffer", dtype, values=E(-np.abs(x)))
        call.out("gradInput", dtype, g * sigmoid(-x), near(8, 0, 2e-7 * np.abs(g)))
        return
    x = wide(call.tensor("self", dtype, shape, "small", False))
    call.out("out", dtype, -softplus(-x), near(8, 0, 2e-7))
    call.out("buffer", dtype, None, shape=shape)


def swish(call, backward=False):
    dtype = call.choose(F)
    shape = extent(call)
    g = wide(call.tensor("gradOutput", dtype, shape, "small", False)) if backward else None
    x = wide(call.tensor("self", dtype, shape, "small", False))
    beta = float(call.scalar("betaOptional", "float32", call.choose((1.0, 0.5, 2.0, -1.0)))) if call.chance(70) else None
    if beta is None:
        call.features.add("optional argument left out")
        beta = 1.0
    s = sigmoid(beta * x)
    wanted = g * (s + beta * x * s * (1 - s)) if backward else x * s
    call.out(call.results[0], dtype, wanted, near(8, 0, 4e-7 * (1 + np.abs(x)) * (np.abs(g) if backward else 1)))


def logit(call, backward=False):
    dtype = call.choose(F)
    shape = extent(call)
    x = wide(call.tensor("x" if backward else "input", dtype, shape, call.choose(("inner", "unit")), False))
    g = wide(call.tensor("dy", dtype, shape, "small", False)) if backward else None
    limit = call.set("eps", call.choose((0.0, 0.125, 0.25, -1.0, 0.5)))
    z = np.clip(x, limit, 1 - limit) if limit >= 0 else x
    with np.errstate(all="ignore"):
        if backward:
            inside = ~((x < limit) | (x > 1 - limit)) if limit >= 0 else ~((x < 0) | (x > 1))
            call.out("out", dtype, np.where(inside, g / (x * (1 - x)), 0 if limit >= 0 else np.nan), near(8))
        else:
            call.out("out", dtype, np.log(z / (1 - z)), near(8, 0, 1e-6))


ACTIVATIONS = Family("activations", "ops/elementwise/activation.rs")
#     operators, reference, options
for names, function, row in (
    ("Celu", lambda x, a: np.where(x > 0, x, a * EX(x / a)), dict(given=dict(alpha=(1.0, 0.5, 2.0, -1.0, 0.1)))),
    ("Elu EluV2", elu, dict(given=dict(alpha=(1.0, 0.5, 2.0, 0.0, -1.0), scale=(1.0, 2.0, 0.5, -1.0, 0.0), inputScale=(1.0, 0.5, 2.0)))),
    ("FastGelu", lambda x: x * sigmoid(1.702 * x), {}),
    ("Gelu", lambda x: x * phi(x), {}),
    ("HardShrink Hardshrink", lambda x, l: np.where(np.abs(x) <= l, 0, x), dict(special=True, given=dict(lambd=(0.5, 0.0, 1.0, 2.5)))),
    ("Hardsigmoid HardsigmoidV2", lambda x: np.clip(x + 3, 0, 6) / 6, {}),
    ("Hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, dict(open_at=lambda x: np.abs(x) > 5e37)),
    ("LeakyRelu", lambda x, s: np.where(x > 0, x, x * s), dict(special=True, given=dict(negativeSlope=(0.25, 0.0, -0.5, 1.0, 2.0, -3.0, 0.01)))),
    ("LogSigmoid", lambda x: -softplus(-x), {}),
    ("Mish", lambda x: x * np.tanh(softplus(x)), {}),
    ("Relu", lambda x: np.maximum(x, 0), dict(special=True, types=(*F, "int32", "int64", "int8", "uint8"))),
    ("Selu", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * EX(x)), {}),
    ("Shrink", lambda x, l, b: np.where(x > l, x - b, np.where(x < -l, x + b, x * 0)), dict(special=True, given=dict(lambd=(0.5, 1.0, 0.0, 2.5), bias=(0.0, 0.25, -1.0)))),
    ("Silu", lambda x: x * sigmoid(x), {}),
    ("Softplus", lambda x, b, t: np.where((x * b).astype(np.float32) > t, x, softplus(b * x) / b), dict(given=dict(beta=(1.0, 2.0, 0.5, 0.125), threshold=(20.0, 4.0, 1.0, 0.0)))),
    ("Softshrink", lambda x, l: np.where(x > l, x - l, np.where(x < -l, x + l, x * 0)), dict(special=True, given=dict(lambd=(0.5, 0.0, 1.0, 2.5)))),
    ("SquaredRelu", lambda x: np.maximum(x, 0) ** 2, {}),
    ("Threshold", lambda x, t, v: np.where(x <= t, v, x), dict(special=True, given=dict(threshold=(0.0, 0.5, -1.0, 3.0, math.inf, -math.inf), value=(1.0, -2.0, 0.0, math.nan, math.inf)))),
):
    ACTIVATIONS.add(names, activation, f=function, **row)
for names, function, row in (
    ("FastGeluBackward", lambda x: sigmoid(1.702 * x) * (1 + 1.702 * x * (1 - sigmoid(1.702 * x))), {}),
    ("GeluBackward", lambda x: phi(x) + x * density(x), {}),
    ("HardshrinkBackward", lambda x, l: np.where(np.abs(x) <= l, 0.0, 1.0), dict(pieces=True, given=dict(lambd=(0.5, 1.0, 0.0, 2.5)))),
    ("HardsigmoidBackward", lambda x: np.where((x > -3) & (x < 3), 1 / 6, 0), dict(pieces=True)),
    ("HardswishBackward HardswishBackwardV2", lambda x: np.where(x < -3, 0, np.where(x <= 3, x / 3 + 0.5, 1)), dict(pieces=True)),
    ("HardtanhBackward", lambda x, a, b: np.where((x <= a) | (x >= b), 0.0, 1.0), dict(pieces=True, given=dict(min=(-1.0, 0.0, -3.0), max=(1.0, 2.0, 0.5, 6.0)))),
    ("MishBackward", lambda x: np.tanh(softplus(x)) + x * sigmoid(x) * (1 - np.tanh(softplus(x)) ** 2), {}),
    ("SiluBackward", lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))), {}),
    ("SigmoidBackward", lambda y: y * (1 - y), dict(inputs=("gradOutput", "output"), domain="inner")),
    ("TanhBackward", lambda y: 1 - y * y, dict(inputs=("gradOutput", "output"), domain="inner")),
    ("SoftplusBackward", lambda x, b, t: np.where((x * b).astype(np.float32) > t, 1, sigmoid(b * x)), dict(given=dict(beta=(1.0, 2.0, 0.5, 0.125), threshold=(20.0, 4.0, 1.0, 0.0)))),
    ("SoftshrinkBackward", lambda x, l: np.where(np.abs(x) <= l, 0.0, 1.0), dict(pieces=True, given=dict(**{"lambda": (0.5, 1.0, 0.0, 2.5)}))),
    ("ThresholdBackward", lambda x, t: np.where(x <= t, 0.0, 1.0), dict(pieces=True, given=dict(threshold=(0.0, 0.5, -1.0, 3.0)))),
    ("SeluBackward", lambda y: np.where(y > 0, 1.0507009873554805, y + 1.0507009873554805 * 1.6732632423543772), dict(inputs=("gradOutput", "result"))),
):
    ACTIVATIONS.add(names, gradient, f=function, **row)
ACTIVATIONS.add("GeluV2", gelu_form)
ACTIVATIONS.add("GeluBackwardV2", gelu_form, backward=True)
ACTIVATIONS.add("GeluMul", gelu_mul)
ACTIVATIONS.add("EluBackward", elu_backward)
ACTIVATIONS.add("Prelu", prelu)
ACTIVATIONS.add("PreluBackward", prelu, backward=True)
ACTIVATIONS.add("LogSigmoidForward", log_sigmoid)
ACTIVATIONS.add("LogSigmoidBackward", log_sigmoid, backward=True)
ACTIVATIONS.add("Swish", swish)
ACTIVATIONS.add("SwishBackward", swish, backward=True)
ACTIVATIONS.add("Logit", logit)
ACTIVATIONS.add("LogitGrad", logit, backward=True)

GATES = Family("gates", "ops/elementwise/gate.rs")
GATES.add("SwiGlu", gate, halves=lambda a, b: a * sigmoid(a) * b)
GATES.add("Glu", gate, halves=lambda a, b: a * sigmoid(b))
GATES.add("SwiGluGrad", gate_gradient, slopes=lambda a, b: (b * sigmoid(a) * (1 + a * (1 - sigmoid(a))), a * sigmoid(a)), inputs=("yGrad", "x"))
GATES.add("GluBackward", gate_gradient, slopes=lambda a, b: (sigmoid(b), a * sigmoid(b) * (1 - sigmoid(b))), inputs=("gradOut", "self"))
GATES.add("GeGlu", geglu)
GATES.add("GeGluV3", geglu, V3=True)
GATES.add("GeGluBackward", geglu, backward=True)
GATES.add("GeGluV3Backward", geglu, V3=True, backward=True)

FAMILIES = [ACTIVATIONS, GATES]
