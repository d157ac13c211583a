"""Functions of one, two and three elements, comparisons, logic, bits."""

import math
import statistics

import numpy as np

from device import NUMPY
from maker import COMPLEX, EPS, FLOATS, INTEGERS, LOW, MOST, NORMAL, PARTS, REAL, SIGNED, UNSIGNED, WIDE, near, promoted, real, to, wide, with_scalar

from . import Family

ALL = (*WIDE, *INTEGERS, "bool", *COMPLEX)
#: Types that results of a type may be written to.
OUTPUTS = {
    **{name: WIDE for name in WIDE}, **{name: (*INTEGERS, *WIDE) for name in (*INTEGERS, *UNSIGNED)}, "bool": ("bool", *INTEGERS, *WIDE), **{name: COMPLEX for name in COMPLEX},
}
KIND = {**{name: 2 for name in WIDE}, **{name: 3 for name in COMPLEX}, **{name: 1 for name in (*INTEGERS, *UNSIGNED)}, "bool": 0}


def eps(dtype):
    """The precision of what a type is computed in."""
    return EPS["float32"] if dtype in LOW else EPS[PARTS.get(dtype, dtype)]


def slack(dtype, *sizes):
    """How far sums of terms of these sizes may be off."""
    if dtype not in WIDE and dtype not in COMPLEX:
        return 0
    with np.errstate(all="ignore"):
        total = sum(np.abs(size) for size in sizes)
        return 2 * eps(dtype) * np.where(np.isfinite(total), total, 0)


def cast(values, dtype):
    """Elements converted to a type, in the type that references compute in."""
    with np.errstate(all="ignore"):
        values = np.asarray(values)
        return wide(values if values.dtype == NUMPY[dtype] else values.astype(NUMPY[dtype]))


def finish(call, dtype, wanted, check, own, outputs=None):
    """Adds the output of an elementwise operator, or makes its first operand the output."""
    if call.in_place:
        held = call.given[own].dtype
        call.update(own, to(held, np.asarray(wanted)), check(None if held == dtype else dtype))
        return
    name = call.results[0]
    options = outputs or OUTPUTS[dtype]
    held = call.choose(options) if call.chance(15) else dtype if outputs is None else options[0]
    if held != dtype and KIND[dtype] >= 2:
        # The result is rounded to the common type before it is converted.
        with np.errstate(all="ignore"):
            wanted = wide(np.asarray(wanted).astype(NUMPY[dtype]))
    one = call.given.get(own)
    alias = own if hasattr(one, "strides") and one.dtype == held and one.values.shape == wanted.shape and distinct(one) and call.chance(12) else None
    call.out(name, held, to(held, np.asarray(wanted)), check(None if held == dtype else dtype), alias)


def distinct(array):
    return all(stride > 0 for stride, dim in zip(array.strides, array.values.shape) if dim > 1) and array.values.size > 0


def extent(call, most=6000, dtype=None):
    if dtype is not None and call.below(250) == 249 and NUMPY[dtype].itemsize <= 4:
        # So much that a result goes past the caches.
        call.features.add("65536 elements")
        return call.choose((((1 << 20) + 33,), (1030, 1027)))
    return call.long_shape() if call.below(64) == 63 else call.shape(most=most)


#: Functions that complex numbers are not drawn for: a sign of zero says on which side of a cut they are, or a pole is near.
CUT = (np.invert, np.tan, np.arctanh, np.arcsin, np.arccos, np.arccosh, np.arctan, np.arcsinh, np.tanh)


def unary(call, f, types=REAL, domain="any", rule=real, ulps=4, integers=None, outputs=None, special=None, conditioned=None, underflow=False):
    own = call.inputs[0] if not call.in_place else call.in_place[0]
    types = call.listed(own, types)
    dtype = call.choose(types)
    if integers is None and (made := call.complex_type(own)) and rule(made) == made and f not in CUT:
        dtype, domain, special, ulps, conditioned = made, "small", False, 24, lambda x: 1 + 0 * np.abs(x)
    if call.in_place and rule(dtype) != dtype:
        dtype = call.choose([one for one in types if rule(one) == one])
    # Whatever the function is defined for: everywhere it has a result, NaN as well.
    full = special is not False and call.below(5) >= 3
    x = call.tensor(own, dtype, extent(call, dtype=dtype if isinstance(f, np.ufunc) else None), "full" if full and dtype in WIDE else domain, special)
    compute = rule(dtype)
    with np.errstate(all="ignore"):
        if integers is not None and compute not in WIDE and compute not in COMPLEX:
            wanted = integers(x)
        else:
            wanted = f(cast(x, compute))
        absolute = slack(compute, conditioned(cast(x, compute))) if conditioned else 0
    if underflow and compute in WIDE:
        absolute = NORMAL[compute]
    finish(call, compute, wanted, lambda also: near(ulps, 0, absolute, also), own, outputs)


def vector(function):
    """A function of the standard library for arrays."""
    def guarded(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.inf
    made = np.vectorize(guarded, otypes=[float])
    return lambda x: made(x) if x.size else np.zeros(x.shape)


erf, erfc = vector(math.erf), vector(math.erfc)
lgamma = vector(lambda x: math.inf if x == -math.inf else math.lgamma(x))


@vector
def erfinv(x):
    """The inverse of erf. From 0.5 on it goes by what is left to 1, which is exact there, and by the logarithm of erfc, which is nearly a parabola."""
    if not -1 < x < 1:
        return x * math.inf if abs(x) == 1 else math.nan
    size, left = abs(x), 1 - abs(x)
    if size < 0.5:
        y = size * math.sqrt(math.pi) / 2
        for _ in range(8):
            y -= (math.erf(y) - size) * math.sqrt(math.pi) / 2 * math.exp(y * y)
    else:
        # The upper half of erfc's range: 1 - 2 q has no digits there, q itself has them.
        y = -statistics.NormalDist().inv_cdf(left / 2) / math.sqrt(2)
        for _ in range(8):
            held = math.erfc(y)
            y += math.log(held / left) * held * math.sqrt(math.pi) / 2 * math.exp(y * y)
        assert abs(math.erfc(y) - left) <= 1e-14 * (1 + 2 * y * y) * left
    return math.copysign(y, x)


def reflected(x):
    """How large the terms of a function of Gamma are: below 0 it goes by the sine, which magnifies digits near its roots."""
    x = np.asarray(x)
    y = np.where(np.isfinite(x) & (x < 0), x, -0.5)
    with np.errstate(all="ignore"):
        part = y - np.rint(y)
        pole = np.abs(np.pi / np.tan(np.pi * part))
        terms = np.abs(lgamma(1 - y)) + np.abs(np.log(np.abs(np.sin(np.pi * part)))) + (1 + pole) * (1 + pole * 0.5) + np.log(1 + np.abs(y))
    return 4 + np.where(np.isfinite(x) & (x < 0) & np.isfinite(terms), 8 * terms, 0)


@vector
def digamma(x):
    if math.isnan(x) or x == math.inf:
        return x
    if x == 0:
        return math.copysign(math.inf, -x)
    if x == -math.inf or x < 0 and x == math.floor(x):
        return math.nan
    if x < 0:
        return digamma(np.array(1 - x)) - math.pi / math.tan(math.pi * math.fmod(x, 1))
    total = 0.0
    while x < 12:
        total -= 1 / x
        x += 1
    y = 1 / (x * x)
    return total + math.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760)))))


def sinc(x):
    y = np.where(x == 0, 1, x) * np.pi
    return np.where(x == 0, 1, np.sin(y) / y)


def round_to(call, f=None):
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose(("float32", "float64", "float16", "bfloat16"))
    x = call.tensor(own, dtype, extent(call), "small", False)
    decimals = call.set("decimals", call.choose((0, 1, 2, -1, 3, -2)))
    scale = 10.0 ** abs(decimals)
    values = wide(x)
    wanted = np.rint(values * scale) / scale if decimals >= 0 else np.rint(values / scale) * scale
    # Near a tie the product may be rounded to either side.
    scaled = values * scale if decimals >= 0 else values / scale
    tie = np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) < (1e-2 if dtype in LOW else 1e-4)
    finish(call, dtype, wanted, lambda also: near(2, 0, np.where(tie, (1 / scale if decimals >= 0 else scale) * 1.01, 0), also), own, (dtype,))


def test(call, f, types=ALL, integers=None):
    own = call.inputs[0]
    dtype = call.choose(types)
    x = call.tensor(own, dtype, extent(call))
    wanted = f(wide(x)) if NUMPY[dtype].kind not in "iub" or integers is None else np.full(x.shape, integers)
    call.out(call.results[0], "bool", wanted)


def nan_to_num(call):
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose((*WIDE, *INTEGERS, "bool"))
    x = call.tensor(own, dtype, extent(call), special=True)
    nan, high, low = (call.set(name, call.choose((0.0, 1.5, -2.0, 100.0))) for name in ("nan", "posinf", "neginf"))
    wanted = x if dtype not in WIDE else np.nan_to_num(wide(x), nan=nan, posinf=high, neginf=low)
    finish(call, dtype, wanted, lambda also: near(1, 0, 0, also), own, (dtype,))


def absolute(call):
    dtype = call.choose(ALL)
    x = call.tensor("self", dtype, extent(call))
    with np.errstate(all="ignore"):
        wanted = np.abs(wide(x))
    finish(call, PARTS.get(dtype, dtype), wanted, lambda also: near(2, 0, 0, also), "self", (PARTS.get(dtype, dtype),))


def real_part(call):
    dtype = call.choose(("complex64", "complex128", "float32", "float16"))
    x = call.tensor("self", dtype, extent(call))
    call.out("out", PARTS.get(dtype, dtype), np.real(wide(x)))


# Two operands.

SCALARS = ("float32", "int64", "float64", "int32", "bool")


#: Integers on the host that some types of tensors do not hold: they wrap around.
BEYOND = (200, 300, 40000, -2, -129, -300, (1 << 31) + 7, -(1 << 33) - 5)


def operand(call, kind, name, dtype, shape, domain, special, beyond=False):
    """A tensor, or a host scalar of a type; its elements. An integer may be one that a tensor does not hold where `beyond` is set."""
    if kind == "aclTensor*":
        return call.tensor(name, dtype, shape, domain, special)
    value = call.some(dtype, (1,), domain, special)[0]
    if NUMPY[dtype].kind == "f" and (domain == "full" or special) and call.chance(40):
        # A number on the host that is not finite, or 0 of either sign.
        return np.asarray(call.scalar(name, dtype, call.choose((np.inf, -np.inf, np.nan, -0.0, 0.0))))
    if beyond and dtype == "int64" and call.chance(30):
        value = call.choose([one for one in BEYOND if one > 0 or domain != "positive"])
        call.features.add("extremes")
    if NUMPY[dtype].kind == "f":
        # Numbers that every type of a tensor holds: whether a scalar is rounded to a type of 16 bits first is not documented.
        value = np.clip(np.rint(np.nan_to_num(float(value)) * 8) / 8, -4, 4)
        value = 0.125 if value == 0 and domain == "positive" else value
    return np.asarray(call.scalar(name, dtype, value))


def pair(call, types, domain, special=None, second="same", mixed=15, in_place_rule=lambda dtype: dtype, beyond=True):
    """Draws the two operands of an operator: elements of both, their common type, and the name of the first."""
    kinds = [(kind, name) for kind, name, out, *_ in call.params if kind in ("aclTensor*", "aclScalar*") and not out and name != "alpha"][:2]
    (first, own), (last, other) = kinds
    shape = extent(call)
    types = call.listed(own if first == "aclTensor*" else other, types)
    scalar = "aclScalar*" in (first, last)
    position = call.in_place[0] if call.in_place else None
    if scalar:
        tensor = call.choose(types)
        integral = not set(types) & set(WIDE)
        options = [name for name in SCALARS if name in types or name in WIDE and not integral] or [tensor]
        number = call.choose(options) if call.chance(40) else tensor if tensor in ACCEPTED else options[0]
        if beyond and KIND[tensor] == 1 and call.chance(25):
            number = "int64"
        if tensor in UNSIGNED:
            # These combine with integers only.
            number, domain, special = "int64", "positive", False
        common = with_scalar(tensor, number)
        if position and KIND[in_place_rule(common)] > KIND[tensor]:
            number, common = tensor, tensor
        if position and KIND[in_place_rule(common)] > KIND[tensor]:
            tensor = number = common = "float32"
        dtypes = (tensor, number) if first == "aclTensor*" else (number, tensor)
        shapes = (shape, shape)
    else:
        one = call.choose(types)
        two = call.choose(types) if call.chance(mixed) else one
        if {one, two} & set(UNSIGNED):
            two = one
        common = promoted(one, two)
        if position and KIND[in_place_rule(common)] > KIND[one]:
            two, common = one, one
        if position and KIND[in_place_rule(common)] > KIND[one]:
            one = two = common = "float32"
        dtypes = (one, two)
        if call.chance(40):
            left = shape if position else call.part_of(shape)
            shapes = (left, call.part_of(shape))
        else:
            shapes = (shape, shape)
        if dtypes[0] != dtypes[1]:
            call.features.add("promotion")
    if dtypes[0] != dtypes[1]:
        domain, special = ("small" if domain == "any" else domain), False
    beyond = beyond and KIND[common] == 1 and common not in UNSIGNED and domain != "integer" and second != "integer"
    a = operand(call, first, own, dtypes[0], shapes[0], domain, special, beyond)
    b = operand(call, last, other, dtypes[1], shapes[1], domain if second == "same" else second, special, beyond)
    return a, b, common, own if first == "aclTensor*" else other


ACCEPTED = set(ALL)


def binary(call, f, types=(*REAL, "bool"), domain="any", rule=lambda dtype: dtype, ulps=2, relative=0, second="same", size=None, special=None, mixed=15, outputs=None):
    if isinstance(second, tuple):
        second = call.choose(second)
        domain = "full" if second == "full" else domain
    a, b, common, own = pair(call, types, domain, special, second, mixed, in_place_rule=rule)
    compute = rule(common)
    x, y = cast(a, compute), cast(b, compute)
    with np.errstate(all="ignore"):
        wanted = f(x, y)
        absolute = slack(compute, *size(x, y)) if size else 0
    finish(call, compute, wanted, lambda also: near(ulps, relative, absolute, also), call.in_place[0] if call.in_place else own, outputs)


def added(call, sign=1, swapped=False, activate=None):
    """self + alpha * other, and what it is built from."""
    types = (*WIDE, *INTEGERS, *(("bool",) if sign > 0 and not activate else ()), *(COMPLEX if not activate else ()))
    # What a sum beyond the type is before it is limited to positive numbers is not documented.
    a, b, common, own = pair(call, types, "small" if activate else "any")
    kind = KIND[common]
    alpha = call.choose((1, 1, 2, -1, 0, 3)) if kind in (1, 3) else 1 if kind == 0 else call.choose((1, 1, 2.0, -1.5, 0.25, 0))
    if common.startswith("uint"):
        alpha = abs(alpha)
    alpha = call.scalar("alpha", "float32" if isinstance(alpha, float) else "int64", alpha)
    x, y = cast(a, common), cast(b, common)
    if swapped:
        x, y = y, x
    with np.errstate(all="ignore"):
        if kind == 0:
            wanted = x | y
        elif kind == 1:
            scaled = NUMPY[common].type(int(alpha)) * y
            wanted = x + scaled if sign > 0 else x - scaled
        else:
            wanted = x + sign * float(alpha) * y if kind == 2 else x + sign * int(alpha) * y
        if activate:
            wanted = activate(wanted)
        absolute = slack(common, x, float(alpha) * np.abs(y)) if kind >= 2 else 0
    # A product beyond the type is infinite where it is rounded before it is added to an infinity: PyTorch does so in 16 bits alone.
    beyond = np.isinf(x) & np.isfinite(y) & (np.abs(float(alpha) * y) > 0.99 * MOST["float64" if common == "float64" else "float32"]) if kind == 2 else False

    def check(also):
        return lambda found, wanted: near(2, 0, absolute, also)(np.where(beyond, wanted, found).astype(found.dtype) if np.any(beyond) else found, wanted)

    finish(call, common, wanted, check, call.in_place[0] if call.in_place else own)


def floor_div(x, y):
    if x.dtype.kind in "iub":
        zero = y == 0
        made = np.floor_divide(x, np.where(zero, 1, y).astype(y.dtype))
        return np.where(zero, 0, made)
    return np.floor(x / y)


def int_fmod(x, y):
    zero = y == 0
    return np.where(zero, 0, np.fmod(x, np.where(zero, 1, y).astype(y.dtype)))


def int_remainder(x, y):
    zero = y == 0
    return np.where(zero, 0, np.remainder(x, np.where(zero, 1, y).astype(y.dtype)))


def remaindered(call, float_f, int_f):
    a, b, common, own = pair(call, (*WIDE, "int32", "int64", "int16", "int8", "uint8"), "small", False, call.choose(("positive", "small")))
    x, y = cast(a, common), cast(b, common)
    with np.errstate(all="ignore"):
        wanted = int_f(x, y) if KIND[common] < 2 else float_f(x, y)
        # A quotient close to an integer may be rounded to either side of it; a remainder is exact otherwise.
        absolute = slack(common, x, y) if KIND[common] == 2 else 0
    finish(call, common, wanted, lambda also: near(2, 0, absolute, also), call.in_place[0] if call.in_place else own, (common,))


def divided_by(call, f=np.trunc, mode=None, types=None):
    """A quotient that is rounded: of low precision it is rounded to its type first, as PyTorch does."""
    if mode is not None:
        mode = call.set("mode", call.choose(mode))
    else:
        mode = 2
    types = types or (*WIDE, *INTEGERS)
    if mode == 0:
        return binary(call, lambda x, y: x / y, types, rule=real, mixed=0)
    a, b, common, own = pair(call, types, "small", False, call.choose(("positive", "small")), mixed=0)
    x, y = cast(a, common), cast(b, common)
    turn = np.trunc if mode == 1 else np.floor
    with np.errstate(all="ignore"):
        if KIND[common] < 2:
            wanted = floor_div(x, y) if mode == 2 else np.where(y == 0, 0, (np.sign(x.astype(object)) * np.sign(y.astype(object)) * (np.abs(x.astype(object)) // np.maximum(np.abs(y.astype(object)), 1))).astype(x.dtype) if x.size else x + y)
            absolute = 0
        else:
            if mode == 1:
                quotient = x / y
                # PyTorch divides by a single number in float32.
                rounded = "float32" if common in LOW and np.size(y) == 1 else common
                if rounded in LOW or rounded == "float32":
                    quotient = wide(quotient.astype(NUMPY[rounded]))
                wanted, absolute = turn(quotient), 0
            else:
                # Floor division goes by the remainder, whatever the quotient is rounded to.
                quotient = x / y
                wanted = np.where(np.isfinite(x) & np.isfinite(y), np.floor(quotient), np.floor_divide(x, y))
                absolute = np.where(np.abs(quotient - np.rint(quotient)) <= (EPS[common] * np.abs(quotient)), 1, 0)
    finish(call, common, wanted, lambda also: near(1, 0, absolute, also), call.in_place[0] if call.in_place else own, (common,))


def power(call):
    a, b, common, own = pair(call, (*WIDE, "int32", "int64", "int16", "int8", "uint8"), "small", False, call.choose(("integer", "integer", "small")), mixed=0, beyond=False)
    if KIND[common] == 1:
        # A negative exponent of an integer is refused where the first phase sees it, and is not defined elsewhere.
        for name, given in call.given.items():
            if name in ("exponent",):
                if hasattr(given, "value"):
                    call.scalar("exponent", given.dtype, abs(int(given.value)))
                    b = np.asarray(abs(b))
                else:
                    given.values = np.abs(given.values)
                    b = given.values
    x, y = cast(a, common), cast(b, common)
    with np.errstate(all="ignore"):
        wanted = np.power(x, y)
    finish(call, common, wanted, lambda also: near(32, 0, 0, also), call.in_place[0] if call.in_place else own, (common,))


def compared(call, f, types=(*REAL, "bool", *COMPLEX)):
    a, b, common, own = pair(call, types, "small", in_place_rule=lambda dtype: "bool")
    x, y = cast(a, common), cast(b, common)
    with np.errstate(all="ignore"):
        wanted = f(x, y)
    if call.in_place:
        held = call.given[call.in_place[0]].dtype
        call.update(call.in_place[0], wanted.astype(NUMPY[held]) if NUMPY[held].kind in "iub" else wanted.astype(float))
    else:
        held = call.choose(("bool", "bool", "bool", "int32", "uint8", "float32"))
        call.out(call.results[0], held, to(held, wanted) if NUMPY[held].kind in "iub" else wanted.astype(float))


def logical(call, f, number):
    own = call.in_place[0] if call.in_place else call.inputs[0]
    types = (*WIDE, *INTEGERS, "bool")
    if number == 1:
        dtype = call.choose(types)
        x = call.tensor(own, dtype, extent(call))
        wanted = f(wide(x) != 0)
    else:
        a, b, common, own = pair(call, types, "small", in_place_rule=lambda dtype: "bool", mixed=10)
        wanted = f(wide(a) != 0, wide(b) != 0)
    if call.in_place:
        held = call.given[own].dtype
        call.update(own, wanted.astype(NUMPY[held]) if NUMPY[held].kind in "iub" else wanted.astype(float))
    else:
        call.out(call.results[0], "bool", wanted)


def shifted(call, left):
    types = INTEGERS
    a, b, common, own = pair(call, types, "any", False, "positive", mixed=0, beyond=False)
    wanted = cast(a, common)
    width = 8 * NUMPY[common].itemsize
    b = cast(b, common)
    amount = np.clip(b.astype(np.int64), 0, 63)
    with np.errstate(all="ignore"):
        made = np.left_shift(wanted, np.minimum(amount, width - 1).astype(wanted.dtype)) if left else np.right_shift(wanted, np.minimum(amount, width - 1).astype(wanted.dtype))
    made = np.where(amount >= width, 0 if left else np.where(wanted < 0, -1, 0).astype(wanted.dtype), made).astype(wanted.dtype)
    finish(call, common, made, lambda also: near(0), own, (common,))


def is_close(call):
    dtype = call.choose((*WIDE, *INTEGERS))
    shape = extent(call)
    x = call.tensor("self", dtype, shape, "small")
    y = call.tensor("other", dtype, call.part_of(shape), "small")
    rtol, atol = call.set("rtol", call.choose((1e-5, 0.0, 0.25))), call.set("atol", call.choose((1e-8, 0.0, 0.5)))
    equal_nan = call.set("equal_nan", call.chance(50))
    with np.errstate(all="ignore"):
        a, b = wide(x).astype(float), wide(y).astype(float)
        gap, limit = np.abs(a - b), atol + rtol * np.abs(b)
        wanted = (a == b) | (np.isfinite(gap) & np.isfinite(limit) & (gap <= limit)) | (equal_nan & np.isnan(a) & np.isnan(b))
        # At the limit itself either answer is right.
        unsure = np.isfinite(gap) & (np.abs(gap - limit) <= 1e-5 * limit + 1e-12)
        if dtype in ("int64", "int32"):
            unsure |= np.abs(a) + np.abs(b) > 1 << 22
    call.out("out", "bool", wanted, lambda found, want: near(0)(np.where(unsure, want, found), want))


def third(call, f, types, rule, mid="any", size=None, last="any", ulps=2):
    """A function of self, two tensors and a scalar: self + value * tensor1 (* or /) tensor2."""
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose(types)
    shape = extent(call)
    x = call.tensor(own, dtype, shape, "small", False)
    one, two = call.tensor("tensor1", dtype, call.part_of(shape), mid, False), call.tensor("tensor2", dtype, call.part_of(shape), last, False)
    kind = KIND[dtype]
    value = call.scalar("value", "int64" if kind == 1 else "float32", call.choose((1, 2, -1, 0)) if kind == 1 and dtype != "uint8" else call.choose((1, 0.5, -2.0, 0.0)) if kind > 1 else 2)
    compute = rule(dtype)
    a, b, c = (cast(v, compute) for v in (x, one, two))
    with np.errstate(all="ignore"):
        number = NUMPY[dtype].type(int(value)) if kind == 1 and compute == dtype else float(value)
        term = f(b, c)
        wanted = a + number * term
        absolute = slack(compute, a, np.abs(float(value) * term)) if KIND[compute] > 1 else 0
    finish(call, compute, np.asarray(wanted), lambda also: near(ulps, 0, absolute, also), own, (compute,))


def lerped(call, weights):
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose(WIDE)
    shape = extent(call)
    x = call.tensor(own, dtype, shape if call.in_place else call.part_of(shape), "small", False)
    y = call.tensor("end", dtype, call.part_of(shape), "small", False)
    if weights == "tensor":
        w = wide(call.tensor("weight", dtype, call.part_of(shape), "small", False))
    else:
        w = float(call.scalar("weight", "float32", call.choose((0.0, 0.25, 0.5, 0.75, 1.0, 2.0))))
    a, b = wide(x), wide(y)
    wanted = a + w * (b - a)
    finish(call, dtype, wanted, lambda also: near(2, 0, slack(dtype, a, w * a, w * b), also), own, (dtype,))


def clamp(call, scalar=True, low=True, high=True):
    """min(max(x, low), high), with NaN of any of them."""
    name_of = lambda options: next((n for n in call.kinds if n in options), None)  # noqa: E731
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose(REAL)
    shape = extent(call)
    x = call.tensor(own, dtype, shape, "small")
    wanted = wide(x)
    drop = call.below(7) if low and high and call.operator in ("aclnnClamp", "aclnnClampTensor") else 0
    for side, used, names, f in (("low", low, ("clipValueMin", "min"), np.maximum), ("high", high, ("clipValueMax", "max"), np.minimum)):
        if not used:
            continue
        if drop in (4, 6) and side == "low" or drop in (5, 6) and side == "high":
            call.features.add("optional argument left out")
            continue
        name = name_of(names)
        if scalar:
            value = call.choose((0, 1, 2, 3)) if dtype == "uint8" else call.choose((-1, -2, 0, 1)) if side == "low" else call.choose((1, 2, 0, -1))
            if dtype in WIDE and call.chance(20):
                value = call.choose((np.inf, -np.inf, 0.5, -0.5, np.nan))
            bound = cast(call.scalar(name, "float32" if dtype in WIDE else "int64", value), dtype)
        else:
            bound = wide(call.tensor(name, dtype, call.part_of(shape), "small"))
        with np.errstate(all="ignore"):
            wanted = np.where(np.isnan(wanted) | np.isnan(bound), np.nan, f(wanted, bound)) if dtype in WIDE else f(wanted, bound)
    if drop == 6:
        call.refuse(161001)
    finish(call, dtype, wanted, lambda also: near(0, 0, 0, also), own, (dtype,))


def where(call):
    shape = extent(call)
    dtype = call.choose((*ALL, *UNSIGNED))
    condition = call.tensor("condition", call.choose(("bool", "uint8")), call.part_of(shape), "small")
    x, y = call.tensor("self", dtype, call.part_of(shape)), call.tensor("other", dtype, call.part_of(shape))
    call.out("out", dtype, np.where(condition != 0, x, y) if dtype not in WIDE else np.where(condition != 0, wide(x), wide(y)))


def copied(call):
    one, two = call.choose((*ALL, *UNSIGNED)), call.choose((*ALL, *UNSIGNED))
    if KIND[two] > KIND[one] or call.chance(50):
        two = one
    shape = extent(call, dtype=one if NUMPY[two].itemsize <= 4 else None)
    call.tensor("selfRef", one, shape)
    y = call.tensor("src", two, call.part_of(shape), "any" if one == two else "small", False)
    with np.errstate(all="ignore"):
        wanted = np.broadcast_to(y.astype(NUMPY[one]), shape)
    call.update("selfRef", wide(wanted), near(0))


def converted(call):
    one, two = call.choose((*ALL, *UNSIGNED)), call.choose((*ALL, *UNSIGNED))
    if KIND[one] == 3 and KIND[two] < 3:
        one = "float32"
    inside = KIND[one] == 2 and KIND[two] == 1
    x = call.tensor("self", one, extent(call), "small" if inside else "any", False if inside else None)
    if inside and two.startswith("u"):
        x = call.tensor("self", one, extent(call), "positive", False)
        if (wide(x) > 200).any():
            x = call.tensor("self", one, x.shape, "inner", False)
    call.set("dtype", two)
    with np.errstate(all="ignore"):
        values = wide(x)
        if inside:
            wanted = np.trunc(values).astype(NUMPY[two])
        elif two == "bool":
            wanted = values != 0
        elif KIND[two] == 1:
            wanted = values.astype(NUMPY[two])
        else:
            wanted = wide(x.astype(NUMPY[two])) if not (KIND[one] == 1 and two in LOW) else values.astype(np.float64)
    call.out("out", two, wanted, near(1 if KIND[one] == 1 and two in LOW else 0))


def filled(call, value):
    dtype = call.choose((*ALL, *UNSIGNED))
    x = call.tensor("selfRef", dtype, extent(call))
    if value is None and "value" in call.kinds:
        kind = KIND[dtype]
        if call.kinds["value"] == "aclTensor*":
            value = call.tensor("value", dtype, call.choose(((), (1,))), "small")[...].reshape(())[()]
        else:
            value = call.scalar("value", dtype, call.choose((1, 0, 2, 100)) if kind < 2 else call.choose((1.5, 0.0, -2.5)))
    call.update("selfRef", np.full(x.shape, wide(np.asarray(value).astype(NUMPY[dtype]))))


def sum_of_list(call, f=None):
    dtype = call.choose(("float32", "float16", "int32", "bfloat16"))
    shape = extent(call, 2000)
    arrays = [call.tensor("tensors", dtype, shape, "small", listed=True) for _ in range(call.between(1, 5))]
    call.list("tensors", arrays)
    values = [wide(array.values) for array in arrays]
    with np.errstate(all="ignore"):
        if f is None:
            # Sums of float32, rounded to the type once; what overflows on the way is infinite or NaN.
            held = [value.astype(np.float32) if dtype in FLOATS else value for value in values]
            wanted, absolute = sum(values[1:], values[0]), slack(dtype, *values) * len(values)
            if dtype in FLOATS:
                total = sum(held[1:], held[0]).astype(np.float64)
                wanted = np.where(np.isfinite(total), wanted, total)
        else:
            wanted, absolute = values[0], 0
            for value in values[1:]:
                wanted = f(wanted, value)
    call.out(call.results[0], dtype, wanted, near(1, 0, absolute))


def complexes(call, polar=False):
    dtype = call.choose(("float32", "float64"))
    shape = extent(call)
    names = call.inputs
    x, y = call.tensor(names[0], dtype, call.part_of(shape), "small", False), call.tensor(names[1], dtype, call.part_of(shape), "small", False)
    a, b = np.broadcast_arrays(wide(x), wide(y))
    made = np.empty(a.shape, np.complex128)
    with np.errstate(all="ignore"):
        made.real, made.imag = (a * np.cos(b), a * np.sin(b)) if polar else (a, b)
    call.out(call.results[0], "complex64" if dtype == "float32" else "complex128", made, near(8))


def angle(call):
    dtype = call.choose(("float32", "complex64", "float16", "int32", "int8", "bool"))
    x = call.tensor("x", dtype, extent(call), "any", False)
    values = wide(x)
    wanted = np.angle(values) if dtype in COMPLEX else np.where(values != values, np.nan, np.where(np.signbit(values.astype(float)) & (values != 0), np.pi, 0))
    call.out("out", PARTS.get(dtype, real(dtype)), wanted, near(4))


keep = lambda dtype: dtype  # noqa: E731

UNARY = Family("functions of one element", "ops/elementwise/unary.rs")
#      operators, reference, options
for names, function, row in (
    ("Acos", np.arccos, dict(domain="unit")),
    ("Asin", np.arcsin, dict(domain="unit")),
    ("Atan", np.arctan, {}),
    ("Acosh", np.arccosh, dict(domain="above")),
    ("Asinh", np.arcsinh, {}),
    ("Atanh", np.arctanh, dict(domain="unit")),
    ("Cos", np.cos, dict(conditioned=np.abs)),
    ("Sin", np.sin, dict(conditioned=np.abs)),
    ("Tan", np.tan, dict(domain="small", ulps=8)),
    ("Cosh", np.cosh, dict(ulps=8)),
    ("Sinh", np.sinh, dict(ulps=8)),
    ("Tanh", np.tanh, {}),
    ("Erf", erf, {}),
    ("Erfc", erfc, dict(ulps=16)),
    ("Erfinv", erfinv, dict(domain="within", types=WIDE, ulps=16)),
    ("Exp", np.exp, dict(ulps=8)),
    ("Exp2", np.exp2, dict(ulps=8)),
    ("Expm1", np.expm1, dict(ulps=8)),
    ("Log", np.log, dict(domain="positive")),
    ("Log10", np.log10, dict(domain="positive")),
    ("Log1p", np.log1p, dict(domain="positive")),
    ("Log2", np.log2, dict(domain="positive")),
    ("Lgamma", lgamma, dict(types=FLOATS, domain="positive", ulps=16, conditioned=reflected)),
    ("Digamma", digamma, dict(types=FLOATS, domain="positive", ulps=16, conditioned=reflected)),
    ("Reciprocal", lambda x: 1 / x, {}),
    ("Rsqrt", lambda x: 1 / np.sqrt(x), {}),
    ("Sqrt", np.sqrt, {}),
    ("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), dict(ulps=8, underflow=True)),
    ("Sinc", sinc, dict(types=WIDE, domain="small", special=False, conditioned=lambda x: 1 + 0 * np.nan_to_num(x))),
):
    UNARY.add(names, unary, f=function, **row)
for names, function, row in (
    ("Ceil", np.ceil, dict(types=REAL, integers=lambda x: x)),
    ("Floor", np.floor, dict(types=REAL, integers=lambda x: x)),
    ("Round", np.rint, dict(types=(*WIDE, "int32", "int64"), integers=lambda x: x)),
    ("Trunc", np.trunc, dict(types=WIDE)),
    ("Frac", lambda x: np.where(np.isinf(x), np.nan, x - np.trunc(x)), dict(types=WIDE, special=False)),
    ("Neg", np.negative, dict(types=(*WIDE, "int32", "int64", "int8", *COMPLEX))),
    ("Square", np.square, dict(types=(*WIDE, "int32", "int64"))),
    ("Sign", lambda x: np.where(x != x, 0, np.sign(x)), dict(types=(*WIDE, "int32", "int64"))),
    ("BitwiseNot", np.invert, dict(types=(*INTEGERS, "bool"))),
):
    UNARY.add(names, unary, f=function, rule=keep, **row)
UNARY.add("Abs", absolute)
UNARY.add("Real", real_part)
UNARY.add("AngleV2", angle)
UNARY.add("RoundDecimals", round_to)
UNARY.add("NanToNum", nan_to_num)
UNARY.add("IsFinite", test, f=np.isfinite, integers=True)
UNARY.add("IsInf", test, f=np.isinf, types=REAL, integers=False)
UNARY.add("IsPosInf", test, f=np.isposinf, types=REAL, integers=False)
UNARY.add("IsNegInf", test, f=np.isneginf, types=REAL, integers=False)
UNARY.add("Signbit", test, f=lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0, types=REAL)
UNARY.add("LogicalNot", logical, f=np.logical_not, number=1)
UNARY.add("Cast", converted)
UNARY.add("FillScalar FillTensor", filled, value=None)
UNARY.add("Zero", filled, value=0)
UNARY.add("One", filled, value=1)

BINARY = Family("arithmetic", "ops/elementwise/arithmetic.rs")
BINARY.add("Add Adds AddV3", added)
BINARY.add("Sub Subs", added, sign=-1)
BINARY.add("Rsub Rsubs", added, sign=-1, swapped=True)
BINARY.add("AddRelu", added, activate=lambda x: np.maximum(x, 0))
for names, function, row in (
    ("Mul Muls", lambda x, y: x & y if x.dtype.kind == "b" else x * y, dict(types=ALL)),
    ("Div Divs", lambda x, y: x / y, dict(rule=real)),
    ("Maximum", np.maximum, {}),
    ("Minimum", np.minimum, {}),
    ("Atan2", np.arctan2, dict(rule=real, ulps=4)),
    ("LogAddExp", np.logaddexp, dict(types=FLOATS, domain="small", rule=real, ulps=8, size=lambda x, y: (x, y, np.ones_like(x + y)))),
    ("LogAddExp2", np.logaddexp2, dict(types=FLOATS, domain="small", rule=real, ulps=8, size=lambda x, y: (x, y, np.ones_like(x + y)))),
    ("XLogYTensor XLogYScalarOther XLogYScalarSelf", lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)),
     dict(rule=real, second=("positive", "full"), ulps=8, types=(*WIDE, *SIGNED))),
    ("Gcd", lambda x, y: np.gcd(x, y), dict(types=("int32", "int16", "int64"), domain="small", mixed=0)),
    ("Heaviside", lambda x, y: np.where(x == 0, y, x > 0), dict(types=FLOATS, mixed=0)),
    ("BitwiseAndTensor BitwiseAndScalar BitwiseAndTensorOut", np.bitwise_and, dict(types=(*INTEGERS, "bool"), mixed=5)),
    ("BitwiseOrTensor BitwiseOrScalar", np.bitwise_or, dict(types=(*INTEGERS, "bool"), mixed=5)),
    ("BitwiseXorTensor BitwiseXorScalar", np.bitwise_xor, dict(types=(*INTEGERS, "bool"), mixed=5)),
):
    BINARY.add(names, binary, f=function, **row)
BINARY.add("FmodTensor FmodScalar", remaindered, float_f=np.fmod, int_f=int_fmod)
BINARY.add("RemainderTensorTensor RemainderTensorScalar RemainderScalarTensor", remaindered, float_f=np.remainder, int_f=int_remainder)
BINARY.add("FloorDivide FloorDivides", divided_by)
BINARY.add("DivMod DivMods", divided_by, mode=(0, 1, 2))
BINARY.add("PowTensorTensor PowTensorScalar PowScalarTensor", power)
BINARY.add("LeftShift LeftShifts", shifted, left=True)
BINARY.add("RightShift", shifted, left=False)
BINARY.add("Lerp", lerped, weights="tensor")
BINARY.add("Lerps", lerped, weights="scalar")
BINARY.add("Addcmul", third, f=lambda b, c: b * c, types=(*WIDE, "int32", "int64", "int8", "uint8"), rule=keep, mid="small", last="small")
BINARY.add("Addcdiv", third, f=lambda b, c: b / c, types=WIDE, rule=real, mid="small", last="positive")
BINARY.add("Copy", copied)
BINARY.add("AddN Sum", sum_of_list)
BINARY.add("MaxN", sum_of_list, f=np.maximum)
BINARY.add("MinN", sum_of_list, f=np.minimum)
BINARY.add("Complex", complexes)
BINARY.add("Polar", complexes, polar=True)

COMPARISON = Family("comparisons, logic, limits", "ops/elementwise/comparison.rs")
for name, function in (("Eq", np.equal), ("Ne", np.not_equal)):
    COMPARISON.add(f"{name}Tensor {name}Scalar", compared, f=function)
for name, function in (("Lt", np.less), ("Le", np.less_equal), ("Gt", np.greater), ("Ge", np.greater_equal)):
    COMPARISON.add(f"{name}Tensor {name}Scalar", compared, f=function, types=(*REAL, "bool"))
for name, function in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
    COMPARISON.add(f"Logical{name}", logical, f=function, number=2)
COMPARISON.add("IsClose", is_close)
COMPARISON.add("SWhere", where)
COMPARISON.add("Clamp Hardtanh", clamp)
COMPARISON.add("ClampMin", clamp, high=False)
COMPARISON.add("ClampMax", clamp, low=False)
COMPARISON.add("ClampTensor", clamp, scalar=False)
COMPARISON.add("ClampMinTensor", clamp, scalar=False, high=False)
COMPARISON.add("ClampMaxTensor", clamp, scalar=False, low=False)

FAMILIES = [UNARY, BINARY, COMPARISON]
