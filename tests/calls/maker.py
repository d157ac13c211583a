"""Makes calls from choices: types, shapes, layouts, values, attributes.

Every choice is a number below a limit, and 0 is the simplest. A call is therefore its list of choices, and `shrink.py` makes a failing one small without
knowing operators: it deletes and lowers choices, and builds the call again.
"""

import math
import random
import re

import ml_dtypes
import numpy as np

from device import CODES, NUMPY, PACKED, Array, List, Plain, Scalar, Written, dense

LOW = ("float16", "bfloat16")
FLOATS = ("float32", "float16", "bfloat16")
WIDE = ("float32", "float16", "bfloat16", "float64")
SIGNED = ("int32", "int64", "int16", "int8")
INTEGERS = ("int32", "int64", "int16", "int8", "uint8")
UNSIGNED = ("uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
REAL = (*WIDE, *INTEGERS)
#: Sizes at which tiles, blocks and threads end.
BOUNDS = (7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097,
          8191, 8192, 8193, 16384, 16385, 32769, 65536, 65537)
LARGE = (16383, 16384, 16385, 65535, 65536, 65537)
EPS = {name: float((ml_dtypes if name == "bfloat16" else np).finfo(NUMPY[name]).eps) for name in WIDE}
MOST = {name: float((ml_dtypes if name == "bfloat16" else np).finfo(NUMPY[name]).max) for name in WIDE}
LEAST = {name: float((ml_dtypes if name == "bfloat16" else np).finfo(NUMPY[name]).smallest_subnormal) for name in WIDE}
NORMAL = {name: float((ml_dtypes if name == "bfloat16" else np).finfo(NUMPY[name]).tiny) for name in WIDE}
PARTS = {"complex64": "float32", "complex128": "float64"}
POOL = 1 << 17
#: Operators of which an output may have another shape: its elements depend on data or are drawn, weights in blocks do not say how many columns
#: there are, sums are copied as often as there is space, or a single gradient is broadcast.
OPEN = re.compile("Bincount|CtcLoss|Dropout|FlashAttention|MaskedSelect|MatmulNz|Nonzero|Normal|RepeatInterleaveGrad|RingAttentionUpdate|WeightNz")

#: Of so many calls, one has a few special elements; which they are; and the operators of which documents do not say what comes of them.
ODD, SPECIALS = 10, (math.nan, math.inf, -math.inf, -0.0, 0.0)
ORDINARY = re.compile(
    # A scale that goes by the largest element, of numbers of which one is not finite; a deviation that is not a number.
    "aclnn(.*DynamicQuant|.*FlatQuant|DequantSwigluQuant|RotateQuant|.*MxQuant|.*BlockQuant|SwiGluQuant|GeluQuant|RmsNormGradQuant|RmsNormQuantV3|InplaceQuantScatter|MoeInitRouting|QuantMatmulDequant|QuantGroupedMatmulDequant|Normal|Dropout|"
    # References that go by differences, by matrices that are solved, or by sums in another order.
    "GroupNormSwishGrad|.*NsaCompress|GridSampler|RingAttention|Svd|TriangularSolve|LinalgQr|ConvTbcBackward|DeformableConv2dBackward|ExpSegsumBackward|RotaryPositionEmbeddingGrad|CtcLossBackward|"
    "CrossEntropyLossGrad|MoeFinalizeRouting|MoeTokenUnpermute|BatchNormGatherStatsWithCounts|BackgroundReplace|ConvDepthwise2d|ConvTbc|Histc|FFN|SwigluGroupQuantGrad)")

#: Operators with further tensors in float32 beside those of the type.
SINGLE = ()
#: What optional arguments are where they are null.
DEFAULTS = {
    "roundModeOptional": "rint", "approximateOptional": "none", "dataFormatOptional": "NCHW", "reduceOp": "sum", "reductionOptional": "mean", "layoutOptional": "TND",
    "layoutOptionalOptional": "TND", "inputLayoutOptional": "SBH", "inputSoftmaxLayoutOptional": "", "quantModeOptional": "static", "reduceOptional": "update",
    ("aclnnNsaSelectedAttentionInfer", "layoutOptional"): "BSND", ("aclnnNsaCompressWithCache", "layoutOptional"): "none", "betaOptional": 1.0, "alphaOptional": 1.0, "permX1": [0, 1, 2], "permX2": [0, 1, 2],
}


class Draws:
    """Choices: at random, or the ones that are given; what is missing there is 0."""

    def __init__(self, seed, given=None):
        self.random, self.given, self.made = random.Random(seed) if given is None else None, given, []

    def below(self, limit):
        if self.given is None:
            made = int(self.random.random() * limit)
        else:
            made = min(self.given[len(self.made)], limit - 1) if len(self.made) < len(self.given) else 0
        self.made.append(made)
        return made

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def choose(self, options):
        return options[self.below(len(options))]

    def chance(self, percent):
        return self.below(100) >= 100 - percent


#: Where functions change their branch or their behaviour: integers and halves, limits of series, where powers overflow and vanish.
CORNERS = (0.0, 0.25, 0.5, 0.625, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 15.0, 16.0, 17.0, 20.0, 23.0, 30.0, 36.0, 50.0, 87.0, 88.0, 88.7, 89.0, 104.0, 127.0, 128.0,
           149.0, 170.0, 709.0, 710.0, 745.0, 1023.0, 1024.0, math.pi / 4, math.pi / 2, math.pi, 2 * math.pi, math.e, 1.4616321449683622, 2**-10, 2**-24, 2**23, 2**24, 2**31, 2**52, 2**63)


def everywhere(rng, dtype, normal, kind):
    """All numbers that a type has: specials, corners and their neighbours of either sign, every magnitude, and usual ones."""
    odd = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, LEAST[dtype], -LEAST[dtype], NORMAL[dtype], -NORMAL[dtype], MOST[dtype], -MOST[dtype], NORMAL[dtype] * 0.75])
    corners = rng.choice(np.array(CORNERS), POOL) * rng.choice([1.0, -1.0], POOL) * (1 + rng.choice([0, 0, 1, -1, 2, -3], POOL) * EPS[dtype] / 2)
    low, high = math.log(LEAST[dtype]), math.log(MOST[dtype])
    spread = np.exp(rng.uniform(low, high, POOL)) * rng.choice([1.0, -1.0], POOL)
    return np.select([kind < 0.2, kind < 0.5, kind < 0.65], [rng.choice(odd, POOL), corners, spread], normal * 3)


class Values:
    """Pools of values for each type and domain, of which a tensor takes a part. They begin with simple ones."""

    def __init__(self, seed):
        self.seed, self.pools = seed, {}

    def pool(self, dtype, domain, special):
        key = (dtype, domain, special)
        if key not in self.pools:
            rng = np.random.default_rng([self.seed, *map(ord, dtype + domain), special])
            made = np.concatenate([self.fresh(rng, dtype, domain, special)] * 2)
            made.flags.writeable = False
            self.pools[key] = made
        return self.pools[key]

    def fresh(self, rng, dtype, domain, special):
        of = NUMPY[dtype]
        if of.kind == "b":
            return rng.integers(0, 2, POOL).astype(bool)
        if of.kind == "c":
            part = PARTS[dtype]
            return (self.fresh(rng, part, domain, False) + 1j * self.fresh(rng, part, domain, False)).astype(of)
        if of.kind in "iu":
            limits = np.iinfo(of)
            few = rng.integers(max(limits.min, -5), 6, POOL)
            if domain == "positive":
                few = rng.integers(1, 9, POOL)
            if domain != "any":
                values = few.astype(of)
            else:
                values = np.where(rng.random(POOL) < 0.5, few.astype(of), rng.integers(limits.min, limits.max, POOL, of, endpoint=True))
                if special:
                    rows = rng.random(POOL) < 0.25
                    values[rows] = rng.choice(np.array([limits.min, limits.max, 0, limits.max - 1, limits.min + 1], of), int(rows.sum()))
            values[:6] = [1, 2, 3, 0, 4, 5]
            return values
        halves = rng.integers(-32, 33, POOL) / 2
        normal = rng.standard_normal(POOL)
        kind = rng.random(POOL)
        if domain == "unit":
            values = np.where(kind < 0.8, rng.uniform(-1, 1, POOL), normal * 1e-3)
            np.clip(values, -1, 1, out=values)
        elif domain == "within":
            values = np.where(kind < 0.8, rng.uniform(-0.98, 0.98, POOL), normal.clip(-1, 1) * 1e-3)
        elif domain == "prob":
            values = rng.uniform(0.0, 1.0, POOL)
        elif domain == "inner":
            values = rng.uniform(0.02, 0.98, POOL)
        elif domain == "positive":
            values = np.where(kind < 0.5, np.abs(normal) + 1e-3, 10 ** rng.uniform(-3, 3, POOL))
        elif domain == "above":
            values = 1 + np.where(kind < 0.5, np.abs(normal), 10 ** rng.uniform(-3, 3, POOL))
        elif domain == "small":
            values = np.where(kind < 0.5, halves / 8, normal)
        elif domain == "normal":
            values = normal
        elif domain == "integer":
            values = rng.integers(-4, 5, POOL).astype(float)
        elif domain == "full":
            values = everywhere(rng, dtype, normal, kind)
        else:
            values = np.where(kind < 0.35, halves, np.where(kind < 0.7, normal, normal * 10 ** rng.uniform(-3, 3, POOL)))
        if special and domain != "full":
            rows = rng.random(POOL) < 0.2
            odd = [np.inf, -np.inf, np.nan, -0.0, 0.0, LEAST[dtype], -LEAST[dtype], NORMAL[dtype], MOST[dtype], -MOST[dtype], 1.0, -1.0, NORMAL[dtype] * 0.75]
            if domain in ("positive", "above"):
                odd = [np.inf, MOST[dtype], 1.0, np.nan, *([LEAST[dtype], NORMAL[dtype]] if domain == "positive" else [])]
            elif domain in ("unit", "within"):
                odd = [np.nan, 1.0, -1.0, 0.0, -0.0, LEAST[dtype], NORMAL[dtype]]
            elif domain in ("prob", "inner"):
                odd = [0.5, 0.25]
            values = np.where(rows, rng.choice(np.array(odd), POOL), values)
        values[:6] = np.array([1, 2, 3, 0.5, 4, -1]) if domain in ("any", "small", "normal", "integer", "full") else values[:6] if special else np.clip([0.5, 0.25, 0.75, 1.0, 0.5, 0.5], 0.02, 0.98)
        if domain == "above":
            values[:4] = [1, 2, 3, 4]
        with np.errstate(over="ignore"):
            return values.astype(of)


def wide(values):
    """Elements in the type that references compute in: double precision; integers and booleans stay."""
    kind = values.dtype.kind
    return values if kind in "iub" else values.astype(np.complex128 if kind == "c" else np.float64)


def nearness(dtype, ulps, relative):
    """How far a result of a type may be off, relative to the value; half a unit in the last position of types that are computed in float32."""
    if dtype in LOW:
        return 0.502 * EPS[dtype] + ulps * EPS["float32"] + relative
    return ulps * EPS[PARTS.get(dtype, dtype)] + relative


class Wrong(str):
    """What is wrong with a result; `flat` is the number of the first wrong element."""

    def __new__(cls, found, wanted, wrong):
        flat = int(wrong.argmax())
        at = np.unravel_index(flat, wrong.shape)
        wanted = np.broadcast_to(wanted, wrong.shape)
        made = str.__new__(cls, f"element {list(map(int, at))} is {found[at]!r} and not {wanted[at]!r} ({int(wrong.sum())} of {wrong.size} are wrong)")
        made.flat = flat
        return made


def near(ulps=4, relative=0.0, absolute=0.0, also=None):
    """Returns a comparison with a reference in double precision. `also` is a type that the result was rounded to before."""
    also = PARTS.get(also, also)

    def check(found, wanted):
        if found.dtype.kind in "iub":
            wrong = found != wanted
        else:
            dtype = found.dtype.name
            part = PARTS.get(dtype, dtype)
            # bfloat16 has fewer digits than float16, and what is rounded twice may end on the other side.
            twice = also in EPS and (EPS[also] > EPS[part] or also in LOW and also != part)
            bound = nearness(dtype, ulps, relative) + (nearness(also, ulps, 0.6 * EPS[also]) if twice else 0)
            least = absolute + LEAST[part] * (0.51 if dtype in LOW else 2)
            if also in LEAST:
                least = np.maximum(least, LEAST[also])
            if wanted.dtype.kind in "iub":
                wanted = wanted.astype(np.float64)
            with np.errstate(all="ignore"):
                one = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
                size = np.abs(wanted)
                # A tolerance says nothing about what is not finite; one that is not finite itself (of a sum with such an element) says nothing about numbers.
                least = bound * size + least
                wrong = ~(np.abs(one - wanted) <= np.where(np.isfinite(least), least, np.inf)) | ~np.isfinite(one) | ~np.isfinite(wanted)
                if wrong.any():
                    same = (one == wanted) | np.isnan(one) & np.isnan(wanted)
                    # What is too large for the type is infinite, and what is close to that may be either.
                    limit = MOST[part] * (1 - np.where(np.isfinite(bound), bound, 0))
                    if found.dtype.kind != "c":
                        same |= (size >= limit) & (np.abs(one) >= limit) & (np.sign(one) == np.sign(wanted))
                    wrong &= ~same
        if not wrong.any():
            return None
        return Wrong(found, wanted, wrong)

    return check


EXACT = near(0)


def bits(found, wanted):
    """The same elements to the last bit; a NaN is a NaN."""
    wrong = ~((found == wanted) | (found != found) & (wanted != wanted))
    if not wrong.any():
        return None
    return Wrong(found, wanted, wrong)


def to(dtype, values):
    """Values of a reference as a type holds them: integers wrap around."""
    of = NUMPY[dtype]
    with np.errstate(all="ignore"):
        if of.kind in "iu" and np.asarray(values).dtype.kind in "iub":
            return np.asarray(values).astype(of)
        return values


class Call:
    """A call that is being made: the operator, its arguments, and what of them the page counts."""

    def __init__(self, device, values, draws, operator):
        self.draws, self.values, self.operator, self.device = draws, values, operator, device
        self.params = device.prototypes[operator]
        self.given, self.features = {}, set()
        # Whether a few elements of the inputs are NaN, infinities and zeros of either sign, whatever values the operator is drawn with.
        self.odd = draws.below(ODD) == ODD - 1 and not ORDINARY.match(operator)
        # The status that the first phase has to return; an optional output that was left out, which some forms need.
        self.expected, self.left = 0, None
        # Arguments that are not left out: others go by whether they are there.
        self.kept = set()
        # The choices that made shapes and layouts, with the simplest ones, and those that say where in its pool a tensor begins: for `shrink.py`.
        self.regions, self.starts = [], []
        self.below, self.choose, self.chance, self.between = draws.below, draws.choose, draws.chance, draws.between
        self.inputs = [name for kind, name, out, _, _ in self.params if not out and kind == "aclTensor*"]
        self.results = [name for kind, name, out, _, _ in self.params if out]
        self.kinds = {name: kind for kind, name, *_ in self.params}
        self.in_place = [name for _, name, _, both, _ in self.params if both]

    def accepted(self):
        """Reports whether the interface's lists of types accept the tensors of this call. What has no list is accepted."""
        lists = self.device.types.get(self.operator)
        if not lists or self.expected:
            return True
        for name, value in self.given.items():
            types = lists.get(name)
            for one in value.members if isinstance(value, List) else (value,):
                one = one.array if isinstance(one, Written) else one
                if types and isinstance(one, Array) and one.dtype not in types:
                    return False
        return True

    def lighten(self, required):
        """Leaves out what the operator does without: an optional argument that has its default, or an optional output. `required` names those that are refused without."""
        free = [name for _, name, _, _, optional in self.params if optional and name in self.given and name not in required and name not in self.kept]
        for name in free:
            value = self.given[name]
            default = DEFAULTS.get((self.operator, name), DEFAULTS.get(name))
            if default is not None and isinstance(value, (Plain, Scalar)) and value.value == default and self.chance(30):
                del self.given[name]
                self.features.add("optional argument left out")
        outputs = [name for name in free if isinstance(self.given.get(name), Written) and not self.given[name].reads]
        if outputs and self.chance(12):
            name = self.choose(outputs)
            # An output that others are judged by stays.
            self.left = self.given.pop(name)
            self.features.add("optional argument left out")

    def refuse(self, status):
        """Marks this call as one that the first phase has to refuse."""
        self.expected = status
        self.features.add("arguments that do not fit are refused")

    def misfit(self):
        """Spoils one argument: a tensor or a member of a list gets a type that the interface does not list, an output another shape, or one of several
        lists loses its last member."""
        types, candidates = self.device.types.get(self.operator, {}), []
        shared = [id(value.alias) for value in self.given.values() if isinstance(value, Written) and value.alias is not None]
        for name, value in self.given.items():
            for at, one in enumerate(value.members if isinstance(value, List) else [value]):
                array = one.array if isinstance(one, Written) else one
                if name in types and isinstance(array, Array) and getattr(one, "alias", None) is None and id(one) not in shared:
                    candidates.append((self.other_type, name, at))
            if isinstance(value, Written) and value.alias is None and not value.reads and value.wanted is not None and not OPEN.search(self.operator):
                candidates.append((self.other_shape, name, None))
        lists = [name for name, value in self.given.items() if isinstance(value, List) and self.kinds[name] == "aclTensorList*"]
        if self.operator.startswith("aclnnForeach") and len(lists) > 1:
            candidates += [(self.shorter, name, None) for name in lists if len(self.given[name].members) > 1]
        if candidates:
            spoil, name, at = self.choose(candidates)
            spoil(name, at)

    def other_type(self, name, at):
        value, listed = self.given[name], self.device.types[self.operator][name]
        others = [one for one in NUMPY if one not in listed and one not in (*CODES, *PACKED)]
        if not others:
            return
        one = value.members[at] if isinstance(value, List) else value
        array, dtype = one.array if isinstance(one, Written) else one, self.choose(others)
        made = Array(dtype, np.zeros(array.values.shape, NUMPY[dtype]), array.strides, array.offset, array.capacity, array.format)
        if isinstance(one, Written):
            made = Written(made, None, one.check, None, one.reads)
        if isinstance(value, List):
            value.members = [*value.members[:at], made, *value.members[at + 1:]]
        else:
            self.given[name] = made
        self.refuse(161002)

    def other_shape(self, name, _):
        array = self.given[name].array
        if array.dtype in PACKED:
            return
        shape = (*array.values.shape[:-1], array.values.shape[-1] + 1) if array.values.ndim else (2,)
        self.given[name] = Written(Array(array.dtype, np.zeros(shape, array.values.dtype), fmt=array.format), None, EXACT)
        self.refuse(161002)

    def shorter(self, name, _):
        self.given[name].members = self.given[name].members[:-1]
        self.refuse(161002)

    def float_type(self):
        """Draws a floating-point type: double precision as well where the interface lists it for each tensor."""
        dtype = self.choose(FLOATS)
        lists = self.device.types.get(self.operator)
        if lists and self.operator not in SINGLE and all("float64" in types or "float32" not in types for types in lists.values()) and set(self.inputs[:1]) <= set(lists) and self.below(8) == 7:
            return "float64"
        return dtype

    def complex_type(self, name):
        """Draws a complex type where the interface lists it for a parameter, and else nothing."""
        types = self.device.types.get(self.operator, {}).get(name, ())
        return self.choose(COMPLEX) if "complex64" in types and "complex128" in types and self.below(10) == 9 else None

    def listed(self, name, types):
        """Returns the listed types of a parameter that are of the kinds of `types`; `types` themselves where there is no list."""
        found = self.device.types.get(self.operator, {}).get(name)
        kinds = {NUMPY[one].kind for one in types}
        made = found and tuple(one for one in NUMPY if one in found and NUMPY[one].kind in kinds)
        return made or types

    # Shapes.

    def shape(self, low=0, high=8, most=6000, empty=True):
        """A shape: usually small, at times with one dimension at a boundary, at times without elements."""
        begin = len(self.draws.made)
        way = self.below(16)
        if self.below(40) == 39:
            # Beyond what one block or one thread does.
            most *= 16
            way = 11 + way % 5
            self.features.add("65536 elements")
        rank = min(self.choose((1, 2, 0, 3, 4, 2, 3, 5, 6, 7, 8)), high)
        rank = max(rank, low)
        dims, left = [], most
        for _ in range(rank):
            dim = min(self.choose((1, 2, 3, 4, 5, 1, 7, 8, 9, 2, 3)), max(left, 1))
            dims.append(dim)
            left //= dim
        if rank and way >= 11:
            axis = self.below(rank)
            others = math.prod(dims) // dims[axis]
            options = [size for size in BOUNDS if size * others <= most] or [dims[axis]]
            dims[axis] = self.choose(options)
            self.features.add("boundary sizes")
        if rank > 1 and most > 20000 and self.chance(50):
            # Several tiles along two dimensions, which may lie the other way round.
            one = self.below(rank - 1)
            dims = [1] * rank
            dims[one], dims[self.between(one + 1, rank - 1)] = self.choose((33, 65, 129, 130, 257)), self.choose((31, 64, 65, 129, 140))
        if rank and empty and way == 10:
            dims[self.below(rank)] = 0
            self.features.add("empty")
        self.features.add(f"rank {rank}")
        self.regions.append((begin, len(self.draws.made), [0, 0, 0]))
        return tuple(dims)

    def long_shape(self):
        """A shape with a number of elements at which the work is divided among threads."""
        size = self.choose(LARGE)
        self.features.add("65536 elements")
        return (size,) if self.chance(50) else (self.choose((1, 2, 3)), size // 3)

    def part_of(self, shape):
        """A shape that is broadcast to another."""
        cut = self.choose((0, 0, 0, 1, 2, len(shape)))
        made = [1 if self.chance(15) else dim for dim in shape[cut:]]
        if tuple(made) != tuple(shape):
            self.features.add("broadcast")
        return tuple(made)

    # Memory.

    def layout(self, array, repeat):
        """Draws strides and an offset."""
        begin = len(self.draws.made)
        made = self.laid(array, repeat)
        self.regions.append((begin, len(self.draws.made), [0]))
        return made

    def laid(self, array, repeat):
        shape, way = array.values.shape, self.below(10)
        if way < 3 or not shape and way < 6:
            return array
        if way == 3 or not shape:
            self.features.add("offset")
            return Array(array.dtype, array.values, dense(shape), self.between(1, 9))
        if way == 9 and repeat and array.values.size:
            axes = [self.chance(40) for _ in shape]
            if any(axes):
                self.features.add("stride 0")
                kept = array.values[tuple(slice(0, 1) if axis else slice(None) for axis in axes)]
                strides = tuple(0 if axis else stride for axis, stride in zip(axes, dense(kept.shape)))
                return Array(array.dtype, np.broadcast_to(kept, shape), strides, self.below(4))
        order = list(range(len(shape)))
        if way in (4, 6, 7):
            for index in range(len(order) - 1):
                other = self.between(index, len(order) - 1)
                order[index], order[other] = order[other], order[index]
            self.features.add("transposed")
        strides, step = [0] * len(shape), 1
        for axis in reversed(order):
            if way >= 5:
                step = step * self.choose((1, 2, 1, 3)) + self.choose((0, 0, 1))
                self.features.add("strides")
            strides[axis] = step
            step *= max(shape[axis], 1)
            if shape[axis] == 1 and way == 8:
                strides[axis] = 1 << 20
        offset = self.below(7) if way >= 6 else 0
        if step * NUMPY[array.dtype].itemsize > 6 << 20:
            return array
        for axis, dim in enumerate(shape):
            if dim == 1 and strides[axis] == 1 << 20:
                self.features.add("huge stride of one element")
        made = Array(array.dtype, array.values, tuple(strides), offset)
        return made

    def some(self, dtype, shape, domain="any", special=None):
        """Draws values of a type."""
        if special is None:
            special = self.below(8) >= 6 and domain != "integer"
        if special and NUMPY[dtype].kind == "f" and domain not in ("prob", "inner"):
            self.features.add("infinities, NaN, subnormals")
        if special and NUMPY[dtype].kind in "iu":
            self.features.add("extremes")
        size = math.prod(shape)
        pool = self.values.pool(dtype, domain, bool(special))
        self.starts.append(len(self.draws.made))
        start = self.below(POOL)
        values = pool[start:start + size] if start + size <= len(pool) else np.resize(pool[start:], size)
        return values.reshape(shape)

    def with_specials(self, values):
        """Replaces a few elements by NaN, infinities and zeros of either sign."""
        self.features.add("infinities, NaN, subnormals")
        made = np.array(values)
        flat = made.reshape(-1)
        for _ in range(self.between(0, 3)):
            flat[self.below(flat.size)] = self.choose(SPECIALS)
        return made

    # Arguments.

    def tensor(self, name, dtype, shape=None, domain="any", special=None, values=None, repeat=True, plain=False, listed=False, odd=True):
        """Adds a tensor that is read, and returns its elements."""
        if values is None:
            values = self.some(dtype, shape, domain, special)
        else:
            # Values that were chosen are not repeated along a dimension.
            repeat = False
        values = np.asarray(values)
        if values.dtype != NUMPY[dtype]:
            values = values.astype(NUMPY[dtype])
        if self.odd and odd and repeat and dtype in WIDE and values.size:
            values = self.with_specials(values)
        made = Array(dtype, values)
        if not plain and dtype not in PACKED:
            made = self.layout(made, repeat and name not in self.in_place)
        self.features.add(dtype)
        if listed:
            return made
        self.given[name] = made
        return made.values

    def out(self, name, dtype, wanted, check=EXACT, alias=None, plain=False, shape=None, listed=False):
        """Adds a tensor that is written, and what it has to hold; `alias` names an input whose memory it shares."""
        if wanted is not None:
            wanted = np.asarray(wanted)
            shape = wanted.shape if shape is None else shape
        if alias is not None:
            one = self.given[alias]
            made = Array(dtype, one.values, one.strides, one.offset, one.capacity)
            made.plain = one.plain
            self.given[name] = Written(made, wanted, check, one)
            self.features.add("output is an input")
            return
        made = Array(dtype, np.empty(shape, NUMPY[dtype]))
        if not plain and dtype not in PACKED:
            made = self.layout(made, False)
        self.features.add(dtype)
        written = Written(made, wanted, check)
        if listed:
            return written
        self.given[name] = written

    def update(self, name, wanted, check=EXACT):
        """Makes a tensor that is read one that is written as well."""
        made = self.given[name]
        self.given[name] = Written(made, None if wanted is None else np.asarray(wanted), check, None, True)
        self.features.add("in place")

    def scalar(self, name, dtype, value):
        """Adds a host scalar, and returns its value as its type holds it."""
        held = np.array(value).astype(NUMPY[dtype])
        self.given[name] = Scalar(dtype, held)
        return held[()]

    def set(self, name, value):
        """Adds an argument that is passed by value."""
        self.given[name] = Plain(value)
        return value

    def list(self, name, members):
        self.given[name] = List(members)

    def axis(self, name, rank):
        """Draws one dimension, counted from the front or from the back."""
        if rank == 0:
            axis = self.choose((0, -1))
            self.set(name, axis)
            return 0
        axis = self.below(rank)
        if self.chance(40):
            self.features.add("negative dimension")
            self.set(name, axis - rank)
        else:
            self.set(name, axis)
        return axis

    def axes(self, name, rank, empty=True):
        """Draws a list of dimensions; an empty one stands for all of them where `empty` is set."""
        if rank == 0 or empty and self.chance(15):
            self.set(name, [])
            self.features.add("all dimensions")
            return tuple(range(rank))
        chosen = [axis for axis in range(rank) if self.chance(50)] or [self.below(rank)]
        if self.chance(30):
            chosen.reverse()
        self.set(name, [axis - rank if self.chance(30) else axis for axis in chosen])
        return tuple(sorted(chosen))


# Promotion, as PyTorch defines it for tensors with dimensions.

ORDER = ("bool", "uint8", "int8", "int16", "int32", "int64")


def promoted(one, two):
    """Returns the type of the result of two tensors."""
    if one == two:
        return one
    kinds = {one: NUMPY[one].kind, two: NUMPY[two].kind}
    rank = lambda name: "buifVc".index("f" if name == "bfloat16" else kinds[name])  # noqa: E731
    if "c" in kinds.values():
        large = {"float64", "complex128"} & {one, two}
        return "complex128" if large else "complex64"
    floats = [name for name in (one, two) if rank(name) >= 3]
    if len(floats) == 1:
        return floats[0]
    if floats:
        return "float64" if "float64" in floats else "float32"
    if {one, two} == {"uint8", "int8"}:
        return "int16"
    return max(one, two, key=ORDER.index)


def with_scalar(tensor, scalar):
    """Returns the type of the result of a tensor and a host scalar."""
    kind = lambda name: 2 if name in WIDE else 3 if name in COMPLEX else 0 if name == "bool" else 1  # noqa: E731
    if kind(scalar) <= kind(tensor):
        return "complex128" if tensor == "complex64" and scalar == "float64" else tensor
    if kind(scalar) == 1:
        return scalar
    if kind(scalar) == 2:
        return "float32"
    return "complex128" if tensor == "float64" else "complex64"


def real(dtype):
    """Returns the type that functions of floats compute integers in."""
    return dtype if dtype in WIDE or dtype in COMPLEX else "float32"
