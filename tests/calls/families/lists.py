"""Operators of lists of tensors."""

import math

import numpy as np

from device import NUMPY, Scalar, Written
from maker import EPS, FLOATS, INTEGERS, LOW, near, to, wide

from . import Family
from .elementwise import erf, erfc, slack

MORE = (*FLOATS, "int32")


def members(call, name, shapes, dtype, domain="small", special=False):
    made = [call.tensor(name, dtype, shape, domain, special, listed=True) for shape in shapes]
    call.list(name, made)
    return [wide(array.values) for array in made]


def shapes_of(call):
    """Shapes of unequal members, some of them empty; at times many members."""
    if call.below(16) == 15:
        return [call.shape(0, 2, 20) for _ in range(call.choose((33, 65, 100)))]
    return [call.shape(0, 4, 600) for _ in range(call.between(1, 5))]


def finish(call, dtype, wanted, bounds, outputs="out", in_place=None, ulps=4):
    if in_place:
        made = call.given[in_place]
        made.members = [Written(array, to(dtype, np.asarray(want)), near(ulps, 0, bound), None, True) for array, want, bound in zip(made.members, wanted, bounds)]
        call.features.add("in place")
        return
    call.list(outputs, [call.out("", dtype, to(dtype, np.asarray(want)), near(ulps, 0, bound), listed=True) for want, bound in zip(wanted, bounds)])


def distinct_members(call, name):
    """In position, no two elements of a member may share memory."""
    for array in call.given[name].members:
        if any(stride == 0 and dim > 1 for stride, dim in zip(array.strides, array.values.shape)):
            array.strides, array.offset, array.plain = type(array)(array.dtype, array.values).strides, 0, True
            array.capacity = max(1, array.values.size)


def unary(call, f, types=FLOATS, domain="small", ulps=8, conditioned=False):
    own = "x"
    dtype = call.choose(types)
    full = call.chance(30) and dtype in FLOATS
    values = members(call, own, shapes_of(call), dtype, "full" if full else domain, None if full else False)
    with np.errstate(all="ignore"):
        wanted = [f(value) for value in values]
        more = [4 * EPS["float32"] * np.where(np.isfinite(value), np.abs(value), 0) if conditioned and dtype in FLOATS else 0 for value in values]
    position = own if own in call.in_place else None
    if position:
        distinct_members(call, own)
    finish(call, dtype, wanted, [slack(dtype, np.abs(w)) * 2 + (1e-6 if dtype in FLOATS else 0) + one for w, one in zip(wanted, more)], in_place=position, ulps=ulps)


def number(call, name, dtype, options):
    """The scalar of an operator: a tensor of one element, or a host scalar."""
    value = call.choose(options)
    kind = "float32" if dtype in LOW or dtype == "float32" else dtype
    if call.kinds[name] == "aclTensor*":
        return call.tensor(name, kind, values=np.array([value]), plain=True).reshape(())[()]
    return call.scalar(name, kind if kind != "float64" else "float64", value)


#: Functions of which infinities and NaN have one result.
EXACT_OF_SPECIALS = (np.maximum, np.minimum)


def with_scalar(call, f, name, types=MORE, options=(1, 2, -1, 3), reverse=False):
    dtype = call.choose(types)
    special = call.chance(20) and dtype in FLOATS and f in EXACT_OF_SPECIALS
    values = members(call, "x", shapes_of(call), dtype, "small", special)
    s = number(call, name, dtype, options if dtype in INTEGERS else [0.5 * o for o in options])
    s = int(s) if dtype in INTEGERS else float(s)
    position = "x" if "x" in call.in_place else None
    if position:
        distinct_members(call, "x")
    with np.errstate(all="ignore"):
        wanted = [np.asarray(f(value, NUMPY[dtype].type(s) if dtype in INTEGERS else s)) for value in values]
    finish(call, dtype, wanted, [slack(dtype, value, abs(s)) + (1e-6 if dtype in FLOATS else 0) * np.nan_to_num(np.abs(want)) for value, want in zip(values, wanted)], in_place=position)


def with_list(call, f, types=MORE, options=(1, 2, -1, 3)):
    dtype = call.choose(types)
    values = members(call, "x", shapes_of(call), dtype)
    kind = "float32" if dtype in FLOATS else dtype
    chosen = [call.choose(options) * (1 if dtype in INTEGERS else 0.5) for _ in values]
    call.list("scalars", [Scalar(kind, np.array(one).astype(NUMPY[kind])) for one in chosen])
    with np.errstate(all="ignore"):
        wanted = [np.asarray(f(value, NUMPY[dtype].type(s) if dtype in INTEGERS else s)) for value, s in zip(values, chosen)]
    finish(call, dtype, wanted, [slack(dtype, value, abs(s)) + (1e-6 if dtype in FLOATS else 0) * np.nan_to_num(np.abs(want)) for value, want, s in zip(values, wanted, chosen)])


def pairs(call, f, alpha=False, types=MORE):
    dtype = call.choose(types)
    shapes = shapes_of(call)
    special = call.chance(20) and dtype in FLOATS and f in EXACT_OF_SPECIALS
    one, two = members(call, "x1", shapes, dtype, "small", special), members(call, "x2", shapes, dtype, "small", special)
    a = 1
    if alpha:
        a = number(call, "alpha", dtype, (1, 2, -1, 3))
        a = NUMPY[dtype].type(int(a)) if dtype in INTEGERS else float(a)
    position = "x1" if "x1" in call.in_place else None
    if position:
        distinct_members(call, "x1")
    with np.errstate(all="ignore"):
        wanted = [np.asarray(f(x, y, a) if alpha else f(x, y)) for x, y in zip(one, two)]
    finish(call, dtype, wanted, [slack(dtype, x, float(a) * y) + (2e-6 * np.nan_to_num(np.abs(w), posinf=0, neginf=0) if dtype in FLOATS else 0) for x, y, w in zip(one, two, wanted)], in_place=position)


def triples(call, divide, form):
    dtype = call.choose(MORE if not divide else FLOATS)
    shapes = shapes_of(call)
    one, two = members(call, "x1", shapes, dtype), members(call, "x2", shapes, dtype)
    three = members(call, "x3", shapes, dtype, "positive" if divide else "small")
    kind = "float32" if dtype in FLOATS else dtype
    scale = 1 if dtype in INTEGERS else 0.5
    if form == "list tensor":
        chosen = [call.choose((1, 2, -1)) * scale for _ in shapes]
        call.tensor("scalars", kind if dtype not in LOW else dtype, values=np.array(chosen), plain=True)
    elif form == "list":
        chosen = [call.choose((1, 2, -1)) * scale for _ in shapes]
        call.tensor("scalars", kind if dtype not in LOW else dtype, values=np.array(chosen), plain=True) if call.kinds["scalars"] == "aclTensor*" else call.list("scalars", [Scalar(kind, np.array(c).astype(NUMPY[kind])) for c in chosen])
    else:
        s = number(call, "scalar", dtype, (1, 2, -1))
        chosen = [int(s) if dtype in INTEGERS else float(s)] * len(shapes)
    with np.errstate(all="ignore"):
        terms = [NUMPY[dtype].type(c) * y * z if dtype in INTEGERS else c * (y / z if divide else y * z) for y, z, c in zip(two, three, chosen)]
        wanted = [np.asarray(x + term) for x, term in zip(one, terms)]
    finish(call, dtype, wanted, [slack(dtype, x, term) for x, term in zip(one, terms)])


def lerp(call, scalar):
    dtype = call.choose(FLOATS)
    shapes = shapes_of(call)
    one, two = members(call, "x1", shapes, dtype), members(call, "x2", shapes, dtype)
    if scalar:
        weights = [float(call.scalar("weight", "float32", call.choose((0.5, 0.0, 1.0, 0.25))))] * len(shapes)
    else:
        weights = members(call, "weight", shapes, dtype)
    wanted = [x + w * (y - x) for x, y, w in zip(one, two, weights)]
    finish(call, dtype, wanted, [slack(dtype, x, w * x, w * y) for x, y, w in zip(one, two, weights)])


def copy(call):
    dtype = call.choose((*FLOATS, *INTEGERS))
    values = members(call, "x", shapes_of(call), dtype)
    finish(call, dtype, values, [0] * len(values))


def zero(call):
    dtype = call.choose((*FLOATS, *INTEGERS))
    values = members(call, "x", shapes_of(call), dtype)
    distinct_members(call, "x")
    finish(call, dtype, [np.zeros_like(value) for value in values], [0] * len(values), in_place="x")


def norm(call):
    dtype = call.choose(FLOATS)
    values = members(call, "x", [call.shape(0, 4, 600, empty=False) for _ in range(call.between(1, 4))], dtype)
    order = float(call.scalar("scalar", "float32", call.choose((2.0, 1.0, math.inf))))
    wanted = [np.asarray(np.abs(value).max() if order == math.inf else (np.abs(value) ** order).sum() ** (1 / order)) for value in values]
    finish(call, dtype, wanted, [want * 1e-5 for want in wanted])


def rounding(call):
    dtype = call.choose(FLOATS)
    values = members(call, "x", shapes_of(call), dtype)
    mode = call.choose((1, 2, 3, 4, 5))
    if call.kinds["roundMode"] == "aclTensor*":
        call.tensor("roundMode", "int8", values=np.array([mode]), plain=True)
    else:
        call.scalar("roundMode", "int8", mode)
    f = {1: np.rint, 2: np.floor, 3: np.ceil, 4: lambda x: np.trunc(x + np.copysign(0.5, x)), 5: np.trunc}[mode]
    finish(call, dtype, [f(value) for value in values], [0] * len(values))


LISTS = Family("lists of tensors", "ops/elementwise/lists.rs")
for names, function, row in (
    ("ForeachAbs", np.abs, dict(types=MORE)),
    ("ForeachAcos ForeachACosInplace", np.arccos, dict(domain="unit")),
    ("ForeachAsin", np.arcsin, dict(domain="unit")),
    ("ForeachAtan", np.arctan, {}),
    ("ForeachCos", np.cos, dict(conditioned=True)),
    ("ForeachCosh", np.cosh, {}),
    ("ForeachErf", erf, {}),
    ("ForeachErfc", erfc, dict(ulps=16)),
    ("ForeachExp", np.exp, {}),
    ("ForeachExpm1", np.expm1, {}),
    ("ForeachLog ForeachLogInplace", np.log, dict(domain="positive")),
    ("ForeachLog10", np.log10, dict(domain="positive")),
    ("ForeachLog1p", np.log1p, dict(domain="positive")),
    ("ForeachLog2", np.log2, dict(domain="positive")),
    ("ForeachNeg", np.negative, dict(types=MORE)),
    ("ForeachReciprocal", lambda x: 1 / x, {}),
    ("ForeachSigmoid", lambda x: 1 / (1 + np.exp(-x)), {}),
    ("ForeachSign", lambda x: np.where(x != x, 0, np.sign(x)), dict(types=MORE)),
    ("ForeachSin", np.sin, dict(conditioned=True)),
    ("ForeachSinh", np.sinh, {}),
    ("ForeachSqrt", np.sqrt, dict(domain="positive")),
    ("ForeachTan", np.tan, dict(domain="unit")),
    ("ForeachTanh", np.tanh, {}),
):
    LISTS.add(names, unary, f=function, **row)
for name, function, row in (
    ("Add", lambda x, s: x + s, {}),
    ("Sub", lambda x, s: x - s, {}),
    ("Mul", lambda x, s: x * s, {}),
    ("Div", lambda x, s: x / s, dict(types=FLOATS)),
    ("Maximum", np.maximum, {}),
    ("Minimum", np.minimum, {}),
    ("Pow", lambda x, s: x**s, dict(types=FLOATS, options=(2, 4, 6, 0, -2))),
):
    LISTS.add(f"Foreach{name}Scalar Foreach{name}ScalarV2", with_scalar, f=function, name="scalar", **row)
    LISTS.add(f"Foreach{name}ScalarInplace", with_scalar, f=function, name="scalar", **row)
    LISTS.add(f"Foreach{name}ScalarList", with_list, f=function, **row)
LISTS.add("ForeachPowScalarAndTensor", with_scalar, f=lambda x, s: s**x, name="scalar", types=FLOATS, options=(2, 4, 1))
for name, function, row in (
    ("Mul", lambda x, y: x * y, {}),
    ("Div", lambda x, y: x / y, dict(types=FLOATS)),
    ("Maximum", np.maximum, {}),
    ("Minimum", np.minimum, {}),
    ("Pow", lambda x, y: x**y, dict(types=FLOATS)),
    ("Add", lambda x, y, a: x + a * y, dict(alpha=True)),
    ("Sub", lambda x, y, a: x - a * y, dict(alpha=True)),
):
    LISTS.add(f"Foreach{name}List Foreach{name}ListV2 Foreach{name}ListInplace", pairs, f=function, **row)
for name, divides in (("Addcmul", False), ("Addcdiv", True)):
    LISTS.add(f"Foreach{name}Scalar Foreach{name}ScalarV2", triples, divide=divides, form="scalar")
    LISTS.add(f"Foreach{name}ScalarList", triples, divide=divides, form="list")
    LISTS.add(f"Foreach{name}List", triples, divide=divides, form="list tensor")
LISTS.add("ForeachLerpList", lerp, scalar=False)
LISTS.add("ForeachLerpScalar", lerp, scalar=True)
LISTS.add("ForeachCopy", copy)
LISTS.add("ForeachZeroInplace", zero)
LISTS.add("ForeachNorm", norm)
LISTS.add("ForeachRoundOffNumber ForeachRoundOffNumberV2", rounding)

FAMILIES = [LISTS]
