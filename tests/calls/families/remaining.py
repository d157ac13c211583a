"""Random numbers in further forms, indices and slices, bags of rows, boxes, images, matrices, states of sequences."""

import math

import numpy as np

from maker import FLOATS, bits, near, wide

from . import Family
from .derivatives import close, small, written
from .movement import bound, span
from .others import MANY, between, flat, low, spread_around

PLAIN = ("float32", "float16", "bfloat16", "int32", "int64", "int8", "uint8")


# Random numbers: what holds for every generator.

def counters(call):
    """Seeds, by value or in tensors."""
    for name in ("seedTensor", "offsetTensor"):
        if name in call.kinds:
            call.tensor(name, "int64", values=np.array([call.choose((0, 1, 1234567))]), plain=True)
    for name in ("seed", "offset"):
        if name in call.kinds:
            call.set(name, call.choose((0, 1, 1234567, 4)))


def drawn_in_place(call, kind):
    types = {"uniform": ("float32", "float64", "float16", "bfloat16"), "normal": FLOATS, "range": ("int32", "int64", "float32"), "whole": ("int32", "int8", "uint8", "float16", "int64")}[kind]
    dtype = call.choose(types)
    shape = call.shape(0, 4, 3000)
    call.tensor("selfRef", dtype, shape)
    least, most, moments = 0, 1, ()
    if kind == "uniform":
        least = call.set("from", call.choose((0.0, -2.0)))
        most = call.set("to", least + call.choose((1.0, 4.0)))
        moments = flat(least, most)
    elif kind == "normal":
        mean, std = call.set("mean", call.choose((0.0, 5.0))), call.set("std", call.choose((1.0, 0.0, 2.0)))
        least, most, moments = mean - 8 * std - 1e-6, mean + 8 * std + 1e-6, (mean, std)
    elif kind == "range":
        least = call.set("from", call.choose((0, -5, 100)))
        most = least + call.choose((1, 2, 100))
        call.set("to", most)
        moments = (least + most - 1) / 2, math.sqrt(((most - least) ** 2 - 1) / 12)
        most -= 1
    else:
        # Integers that the type holds.
        most = {"int32": 2**31 - 1, "int8": 127, "uint8": 255, "float16": 2048, "int64": 2**63 - 1}[dtype]
    counters(call)
    call.update("selfRef", np.full(shape, least), between(least, most, kind == "uniform", *moments))


def bernoulli_tensor(call):
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose(("float32", "float16", "int32", "bool", "uint8"))
    x = call.tensor(own, dtype, call.shape(0, 4, 2000, empty=False))
    p = np.array([0.0, 1.0, 0.5, 0.25, 0.875])[call.some("int32", x.shape, "any", False).astype(np.int64) % 5]
    call.tensor("prob", "float32", values=p)
    counters(call)

    def check(found, wanted):
        values = found.astype(float)
        if not np.isin(values, (0, 1)).all():
            return "a number is neither 0 nor 1"
        if (((p == 0) | (p == 1)) & (values != p)).any():
            return "an outcome is impossible"
        return next(filter(None, (spread_around(values[p == one], one, math.sqrt(one * (1 - one))) for one in (0.5, 0.25, 0.875))), None)

    if call.in_place:
        call.update(own, np.zeros(x.shape), check)
    else:
        call.out("out", dtype, np.zeros(x.shape), check)


def kept_bits(found, count):
    return np.unpackbits(found.reshape(-1), bitorder="little")[:count]


def dropout(call):
    dtype = call.float_type()
    x = wide(call.tensor("input", dtype, call.shape(1, 4, 2000, empty=False), "positive", False))
    p = call.set("p", call.choose((0.0, 0.25, 0.5, 1.0)))
    train = "train" not in call.kinds or call.set("train", call.chance(80))
    counters(call)
    held = {}
    scale = 0 if p == 1 else 1 / (1 - p)

    def check(found, wanted):
        held["kept"] = found != 0
        if not train:
            return near(0)(found, x)
        wrong = near(4)(np.where(found != 0, found, (x * scale).astype(found.dtype)).astype(found.dtype), x * scale)
        if not wrong and 0 < p < 1 and x.size >= MANY and (x > 0).all():
            wrong = spread_around(held["kept"], 1 - p, math.sqrt(p * (1 - p)))
        return wrong or ("an element is left" if p == 1 and (found != 0).any() else "an element is missing" if p == 0 and (found == 0).any() else None)

    def mask(found, wanted):
        if "train" not in call.kinds and p in (0, 1):
            # Nothing is drawn, and the mask is not written.
            return None
        own = kept_bits(found, x.size).reshape(x.shape)
        if not train or scale == 0:
            return None if (own == (p != 1 if train else 1)).all() else "the mask is that of another probability"
        return None if (own == held["kept"]).all() else "the mask has other elements than the result"

    call.out("out", dtype, x, check)
    call.out("maskOut", "uint8", np.zeros(-(-x.size // 128) * 16, np.uint8), mask)


def dropout_mask(call):
    shape = call.shape(1, 4, 2000, empty=False)
    count = math.prod(shape)
    call.set("shape", list(shape))
    p = call.set("prob", call.choose((0.0, 0.5, 1.0, 0.25, 0.875)))
    counters(call)
    if "probDataType" in call.kinds:
        call.set("probDataType", call.choose(("float32", "float16", "bfloat16")))

    def check(found, wanted):
        own = kept_bits(found, count)
        return "a bit is impossible" if p in (0, 1) and (own != 1 - p).any() else spread_around(own, 1 - p, math.sqrt(p * (1 - p)))

    call.out("out", "uint8", np.zeros(-(-count // 128) * 16, np.uint8), check)


def leaky(call):
    """A slope at random for each negative element."""
    dtype = call.float_type()
    shape = call.shape(0, 4, 1000, empty=False)
    x = wide(call.tensor("self", dtype, shape, "normal", False, repeat=False))
    call.tensor("noise", dtype, shape, "normal", False)
    least, most = call.choose(((0.125, 0.375), (0.5, 0.5), (0.25, 1.0), (0.0078125, 3.0)))
    call.scalar("lower", "float32", least), call.scalar("upper", "float32", most)
    training = call.set("training", call.chance(60))
    counters(call)

    def check(found, wanted):
        found = wide(found)
        wrong = (x > 0) & (found != x)
        slack = 1e-3 if dtype != "bfloat16" else 1e-2
        # Results of small elements are subnormal: their slope is not known.
        negative = x < -1e-2
        ratio = np.where(negative, found / np.where(negative, x, 1), (least + most) / 2)
        wrong |= negative & ((ratio < least * (1 - slack)) | (ratio > most * (1 + slack)))
        if not training:
            wrong |= negative & (np.abs(ratio - (least + most) / 2) > slack * (least + most) / 2)
        return "an element has another slope" if wrong.any() else None

    if "out" in call.kinds:
        call.out("out", dtype, x, check)
    else:
        call.update("self", x, check)
    call.update("noise", None)


def multinomial_tensor(call):
    rows, n = call.choose((1, 3)), call.choose((2, 5, 17))
    x = wide(call.some("float32", (rows, n), "prob", False)).copy()
    x[:, 0] = 0
    x[:, 1] += 0.1
    x = wide(call.tensor("self", "float32", values=x))
    again = call.set("replacement", call.chance(50))
    k = call.set("numsamples", call.between(1, 20 if again else int((x > 0).sum(1).min())))
    counters(call)

    def check(found, wanted):
        if (found < 0).any() or (found >= n).any() or (np.take_along_axis(x, found, 1) == 0).any():
            return "a category of probability 0 was drawn"
        return None if again or (np.diff(np.sort(found, 1), axis=1) > 0).all() else "a category was drawn twice"

    call.out("out", "int64", np.zeros((rows, k), np.int64), check)


def exponential(call):
    dtype = call.float_type()
    x = call.tensor("selfRef", dtype, call.shape(1, 2, 2000, empty=False), plain=True)
    rate = call.set("lambda", call.choose((1.0, 2.0)))
    call.set("count", x.size), counters(call)

    def check(found, wanted):
        values = wide(found) * rate
        if not ((values >= 0) & (values < 30)).all():
            return "a number is negative, or beyond the resolution of the draw"
        far = abs(values.mean() - 1) > 7 / math.sqrt(values.size)
        return f"the mean is {values.mean() / rate}" if far else None

    call.update("selfRef", np.zeros(x.shape), check)


DRAWS = Family("random numbers in further forms", "ops/random")
DRAWS.add("UniformTensor", drawn_in_place, kind="uniform")
DRAWS.add("NormalTensor", drawn_in_place, kind="normal")
DRAWS.add("RandomTensor", drawn_in_place, kind="range")
DRAWS.add("RandomWithoutFromTo RandomWithoutFromToTensor", drawn_in_place, kind="whole")
DRAWS.add("BernoulliTensor", bernoulli_tensor)
DRAWS.add("Dropout DropoutV3", dropout)
DRAWS.add("DropoutGenMask DropoutGenMaskV2 DropoutGenMaskV2Tensor", dropout_mask)
DRAWS.add("RReluWithNoise", leaky)
DRAWS.add("MultinomialTensor", multinomial_tensor)
DRAWS.add("SimThreadExponential", exponential)


# Indices, slices, bags.

def diagonal(call):
    dtype = call.choose(PLAIN)
    if call.chance(50):
        x = call.tensor("self", dtype, (call.choose((1, 3, 9)),))
        k = call.set("diagonal", call.choose((0, 1, -2)))
    else:
        x = call.tensor("self", dtype, (call.choose((1, 3, 5)), call.choose((1, 4, 7))))
        k = call.set("diagonal", call.between(1 - x.shape[0], x.shape[1] - 1))
    call.out("out", dtype, np.diag(wide(x), k))


def gathered(call):
    dtype = call.choose((*PLAIN, "bool"))
    x = call.tensor("self", dtype, (call.between(1, 3), call.choose((1, 5)), call.choose((1, 3))))
    batched = call.set("batchDims", call.choose((0, 1)))
    call.set("dim", 1), call.set("mode", call.choose((0, 1)))
    index = call.some("int64", (x.shape[0], call.choose((1, 4))), "any", False).astype(np.int64) % x.shape[1]
    call.tensor("index", call.choose(("int64", "int32")), values=index)
    call.out("out", dtype, np.stack([wide(x)[row][index[row]] for row in range(len(x))]) if batched else wide(x)[:, index])


def index_added(call):
    dtype = call.choose(("float32", "float16", "int32", "int64"))
    shape = [call.choose((1, 3, 5)) for _ in range(call.between(1, 3))]
    axis = call.below(len(shape))
    call.set("dim", axis - len(shape) if call.chance(40) else axis), call.set("mode", call.choose((0, 1)))
    x = wide(call.tensor("self", dtype, tuple(shape), "small", False))
    count = call.choose((1, 2, 7))
    index = call.some("int64", (count,), "any", False).astype(np.int64) % shape[axis]
    call.tensor("index", call.choose(("int64", "int32")), values=index)
    source = wide(call.tensor("source", dtype, tuple(count if a == axis else size for a, size in enumerate(shape)), "small", False))
    alpha = float(call.scalar("alpha", "float32" if dtype.startswith("float") else "int64", call.choose((1, 2, -1))))
    made, size = x.copy(), np.abs(x).astype(float)
    for number, at in enumerate(index):
        cut = (slice(None),) * axis
        made[cut + (at,)] += (alpha * source[cut + (number,)]).astype(made.dtype)
        size[cut + (at,)] += np.abs(alpha * source[cut + (number,)])
    call.out("out", dtype, made, near(4, 0, 1e-6 * size) if dtype.startswith("float") else near(0))


def confused(call):
    dtype = call.choose(PLAIN)
    a, b, c = call.between(1, 3), call.choose((1, 4)), call.choose((1, 5))
    x = call.tensor("x", dtype, (a, b, c), plain=True)
    perm = call.choose(([0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]))
    if call.set("transpose_first", call.chance(50)):
        call.set("perm", perm)
        turned = wide(x).transpose(perm)
        shape = call.set("shape", [turned.shape[0], turned.shape[1] * turned.shape[2]])
        made = turned.reshape(shape)
    else:
        shape = call.set("shape", [a * b, c])
        call.set("perm", [1, 0])
        made = wide(x).reshape(shape).T
    call.out("out", dtype, np.ascontiguousarray(made), plain=True)
    call.update("x", wide(x))


def slice_assigned(call):
    dtype = call.choose((*PLAIN, "bool"))
    shape = call.shape(1, 3, 400, empty=False)
    x = call.tensor("varRef", dtype, shape)
    begin, end, steps, cut = [], [], [], []
    for size in shape:
        one, two, step = bound(call, size), bound(call, size), call.choose((1, 1, 2, 3, size + 1))
        first, last = span(one, two, size)
        if last <= first:
            one, two, first, last = 0, size, 0, size
        begin.append(one), end.append(two), steps.append(step)
        cut.append(slice(first, last, step))
    made = wide(x).copy()
    value = call.tensor("inputValue", dtype, made[tuple(cut)].shape)
    made[tuple(cut)] = wide(value)
    for name, value in (("begin", begin), ("end", end), ("strides", steps), ("axesOptional", list(range(len(shape))))):
        call.set(name, value)
    call.update("varRef", made)


def distinct_rows(call):
    dtype = call.choose(("float32", "int32", "int64", "int8"))
    shape = (call.choose((1, 3, 9)), call.choose((1, 2)))
    x = wide(call.tensor("self", dtype, values=call.some("int32", shape, "any", False) % 3))
    axis = call.set("dim", call.below(2))
    call.set("sorted", True), call.set("returnInverse", call.chance(70))
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=axis)
    inverse = inverse.reshape(-1)
    n = values.shape[axis]

    def found_values(found, wanted):
        own = np.take(found.reshape(-1)[: values.size].reshape(values.shape), np.arange(n), axis) if axis == 0 else found.reshape(-1)[: values.size].reshape(values.shape)
        return bits(own, values.astype(found.dtype))

    # The outputs are as large as the input may make them; the result is at their beginning.
    call.out("valueOut", dtype, np.zeros(x.shape), found_values, plain=True)
    wanted = inverse if call.given["returnInverse"].value else None
    call.out("inverseOut", "int64", wanted, bits, shape=inverse.shape), call.out("countsOut", "int64", np.zeros(x.shape[axis], np.int64), lambda found, wanted: bits(found[:n], counts), plain=True)


def bag(call):
    dtype = call.float_type()
    rows, width = call.choose((2, 5)), call.choose((1, 3, 17, 130))
    x = small(call, "weight", dtype, (rows, width))
    count = call.choose((1, 5, 9))
    index = call.some("int64", (count,), "any", False).astype(np.int64) % rows
    offsets = [0, *sorted(call.between(0, count) for _ in range(call.between(0, 2)))]
    call.tensor("indices", "int64", values=index), call.tensor("offsets", "int64", values=np.array(offsets))
    mode = call.set("mode", call.choose((0, 1, 2)))
    padding = call.set("paddingIdx", call.choose((-1, 0, 1)))
    # A negative number counts from the end, and -1 stands for none.
    weights = small(call, "perSampleWeights", dtype, (count,)) if mode == 0 and call.chance(50) else None
    for name in ("scaleGradByFreq", "sparse", "includeLastOffset"):
        call.set(name, False)
    ends = [*offsets[1:], count]
    made, size, sizes, best = np.zeros((len(offsets), width)), np.zeros((len(offsets), width)), [], np.full((len(offsets), width), -1)
    for number, (start, end) in enumerate(zip(offsets, ends)):
        own = [at for at in range(start, end) if padding < 0 or index[at] != padding]
        sizes.append(len(own))
        if not own:
            continue
        part = x[index[own]] * (1 if weights is None else weights[own, None])
        size[number] = np.abs(part).sum(0)
        made[number] = part.sum(0) if mode == 0 else part.mean(0) if mode == 1 else part.max(0)
        if mode == 2:
            best[number] = index[own][part.argmax(0)]
    call.out("output", dtype, made, near(4, 0, 1e-6 * size))
    call.out("offset2bag", "int64", None, shape=(count,)), call.out("bagSize", "int64", np.array(sizes), bits)
    if mode == 2:
        def names(found, wanted):
            empty = best < 0
            if not (found[empty] == -1).all() or not ((found >= 0) | empty).all() or (found >= rows).any():
                return "an index is not a row"
            return bits(np.where(empty, 0, np.take_along_axis(x, np.maximum(found, 0), 0)), np.where(empty, 0, np.take_along_axis(x, np.maximum(best, 0), 0)))
        call.out("maxIndices", "int64", best, names)
    else:
        call.out("maxIndices", "int64", None, shape=(len(offsets),))


def renormed(call):
    dtype = call.float_type()
    rows, width = call.choose((2, 5)), call.choose((1, 3, 17, 130))
    x = small(call, "selfRef", dtype, (rows, width))
    index = call.some("int64", call.shape(1, 2, 8, empty=False), "any", False).astype(np.int64) % rows
    call.tensor("indices", call.choose(("int64", "int32")), values=index)
    most, order = call.set("maxNorm", call.choose((1.0, 0.25, 0.0, 8.0))), call.set("normType", call.choose((2.0, 1.0, 3.0, math.inf)))
    norm = np.abs(x).max(1) if order == math.inf else (np.abs(x) ** order).sum(1) ** (1 / order)
    cut = np.isin(np.arange(rows), index) & (norm > most)
    # A norm at the limit is either.
    made = np.where(cut[:, None], x * (most / (norm + 1e-7))[:, None], x)
    call.update("selfRef", made, near(16, 0, 2e-5 + 0))


def jagged(call):
    dtype = call.choose(("int32", "int64"))
    count = call.choose((1, 3, 5))
    lens = np.abs(call.some("int64", (count,), "small", False)) % 5
    permute = np.argsort(call.some("float32", (count,), "normal", False), kind="stable")
    start, to = np.concatenate([[0], lens.cumsum()]), np.concatenate([[0], lens[permute].cumsum()])
    total = int(lens.sum())
    if total == 0:
        lens[0] = 2
        start, to, total = np.concatenate([[0], lens.cumsum()]), np.concatenate([[0], lens[permute].cumsum()]), 2
    for name, value in (("permute", permute), ("inputOffset", start), ("outputOffset", to)):
        call.tensor(name, dtype, values=value)
    call.set("outputSize", total)
    call.out("outputPermuteOut", dtype, np.concatenate([np.arange(start[one], start[one] + lens[one]) for one in permute]), bits)


def coalesced(call):
    dtype = call.choose((*FLOATS, "int32"))
    size, count = (call.choose((2, 3)), call.choose((2, 3))), call.choose((1, 5, 9))
    rest = () if call.chance(50) else (3,)
    at = np.stack([call.some("int64", (count,), "any", False).astype(np.int64) % one for one in size])
    flat = at[0] * size[1] + at[1]
    unique, position = np.unique(flat, return_inverse=True)
    values = wide(call.tensor("values", dtype, (count, *rest), "small", False))
    call.tensor("uniqueLen", "int64", values=unique), call.tensor("uniqueIndices", "int64", values=position.reshape(-1)), call.tensor("indices", "int64", values=at.T)
    made, total = np.zeros((len(unique), *rest), values.dtype), np.zeros((len(unique), *rest))
    np.add.at(made, position.reshape(-1), values), np.add.at(total, position.reshape(-1), np.abs(values))
    call.out("newIndices", "int64", np.stack([unique // size[1], unique % size[1]], 1), bits)
    call.out("newValues", dtype, made, near(4, 0, 1e-6 * total) if dtype != "int32" else near(0))


def listed_scatter(call):
    dtype = call.choose(("int8", "int32", "float16", "float32", "bfloat16"))
    count, rows, width, length = call.between(1, 3), call.choose((3, 6)), call.choose((1, 4)), call.between(1, 3)
    arrays = [call.tensor("varRef", dtype, (rows, width), repeat=False, listed=True) for _ in range(count)]
    updates = wide(call.tensor("updates", dtype, (count, length, width)))
    at = call.some("int64", (count,), "any", False).astype(np.int64) % (rows - length + 1)
    call.tensor("indice", call.choose(("int64", "int32")), values=at)
    mask = call.tensor("maskOptional", "uint8", values=np.arange(count) % 2) if call.chance(50) else np.ones(count)
    call.set("reduceOptional", "update"), call.set("axis", -2)
    members = []
    for number, array in enumerate(arrays):
        made = wide(array.values).copy()
        if mask[number]:
            made[at[number]:at[number] + length] = updates[number]
        members.append(written(array, made, near(0)))
    call.list("varRef", members)


INDEXED = Family("indices, slices, bags in further forms", "ops/variants")
INDEXED.add("Diag", diagonal)
INDEXED.add("GatherV3", gathered)
INDEXED.add("IndexAddV2", index_added)
INDEXED.add("ConfusionTranspose", confused)
INDEXED.add("StridedSliceAssignV2", slice_assigned)
INDEXED.add("UniqueDim", distinct_rows)
INDEXED.add("EmbeddingBag", bag)
INDEXED.add("EmbeddingRenorm", renormed)
INDEXED.add("ExpandIntoJaggedPermute", jagged)
INDEXED.add("CoalesceSparse", coalesced)
INDEXED.add("ScatterList", listed_scatter)


# Boxes, images, matrices, statistics, steps.

def boxes(call, count):
    corner = wide(call.some("float32", (count, 2), "prob", False)) * 4
    size = wide(call.some("float32", (count, 2), "prob", False)) * 4 + 0.5
    return np.concatenate([corner, corner + size], 1).astype(np.float32)


def overlap(call):
    dtype = call.choose(("float32", "float16"))
    aligned = call.set("aligned", call.chance(40))
    m, n = call.choose((1, 3, 17, 130)), call.choose((1, 4, 9))
    one = wide(call.tensor("bBoxes", dtype, values=boxes(call, m)))
    two = wide(call.tensor("gtBoxes", dtype, values=boxes(call, m if aligned else n)))
    mode = call.set("mode", call.choose(("iou", "iof")))
    call.set("eps", 0.0)
    a, b = (one, two) if aligned else (one[:, None], two[None])
    area = lambda v: (v[..., 2] - v[..., 0]) * (v[..., 3] - v[..., 1])  # noqa: E731
    sides = [np.maximum(np.minimum(a[..., axis + 2], b[..., axis + 2]) - np.maximum(a[..., axis], b[..., axis]), 0) for axis in (0, 1)]
    shared = sides[0] * sides[1]
    made = shared / (area(b) if mode == "iof" else area(a) + area(b) - shared)
    call.out("overlap", dtype, made[:, None] if aligned else made, near(16, 0, 1e-5 + 0))


def complete_overlap(call):
    # The document wants a multiple of this.
    n = 1024
    one, two = boxes(call, n).astype(float), boxes(call, n).astype(float)
    centred, mode = call.set("trans", call.chance(50)), call.set("mode", call.choose(("iou", "iof")))
    call.set("isCross", False)
    turn = (lambda v: np.concatenate([(v[:, :2] + v[:, 2:]) / 2, v[:, 2:] - v[:, :2]], 1)) if centred else (lambda v: v)
    call.tensor("bBoxes", "float32", values=turn(one).T), call.tensor("gtBoxes", "float32", values=turn(two).T)
    area = lambda v: (v[:, 2] - v[:, 0]) * (v[:, 3] - v[:, 1])  # noqa: E731
    shared = np.maximum(np.minimum(one[:, 2:], two[:, 2:]) - np.maximum(one[:, :2], two[:, :2]), 0).prod(1)
    iou = shared / (area(two) if mode == "iof" else area(one) + area(two) - shared)
    far = (((one[:, :2] + one[:, 2:]) / 2 - (two[:, :2] + two[:, 2:]) / 2) ** 2).sum(1)
    around = ((np.maximum(one[:, 2:], two[:, 2:]) - np.minimum(one[:, :2], two[:, :2])) ** 2).sum(1)
    angles = [np.arctan((v[:, 2] - v[:, 0]) / (v[:, 3] - v[:, 1])) for v in (one, two)]
    aspect = 4 / np.pi**2 * (angles[1] - angles[0]) ** 2
    share = aspect / (1 - iou + aspect + 1e-30)
    call.out("overlap", "float32", (iou - far / around - share * aspect)[None], near(16, 0, 4e-5)), call.out("atanSub", "float32", (angles[1] - angles[0])[None], near(16, 0, 1e-5))


def chamfer_grad(call):
    b, n, m = call.between(1, 2), call.choose((1, 5)), call.choose((1, 4))
    one, two = small(call, "xyz1", "float32", (b, n, 2)), small(call, "xyz2", "float32", (b, m, 2))
    far = ((one[:, :, None] - two[:, None]) ** 2).sum(-1)
    to_two, to_one = far.argmin(2), far.argmin(1)
    call.tensor("idx1", "int32", values=to_two), call.tensor("idx2", "int32", values=to_one)
    g, h = small(call, "gradDist1", "float32", (b, n)), small(call, "gradDist2", "float32", (b, m))
    by_one, by_two = np.zeros(one.shape), np.zeros(two.shape)
    for i in range(b):
        for a in range(n):
            flow = 2 * g[i, a] * (one[i, a] - two[i, to_two[i, a]])
            by_one[i, a] += flow
            by_two[i, to_two[i, a]] -= flow
        for a in range(m):
            flow = 2 * h[i, a] * (two[i, a] - one[i, to_one[i, a]])
            by_two[i, a] += flow
            by_one[i, to_one[i, a]] -= flow
    scale = 1 + (np.abs(g).sum() + np.abs(h).sum()) * (np.abs(one).max() + np.abs(two).max())
    call.out("gradXyz1", "float32", by_one, near(8, 0, 4e-6 * scale)), call.out("gradXyz2", "float32", by_two, near(8, 0, 4e-6 * scale))


def cdist_grad(call):
    b, n, m, d = call.between(1, 2), call.choose((1, 3)), call.choose((1, 4)), call.choose((1, 3))
    p = call.set("p", call.choose((1.0, 2.0, 3.0, math.inf)))
    # No two coordinates are equal, and none of the largest differences.
    x, y = (np.arange(b * k * d).reshape(b, k, d) * f % 59 / 8 for k, f in ((n, 11), (m, 17)))
    y = y + 1 / 16
    gap = x[:, :, None] - y[:, None]
    far = np.abs(gap).max(-1) if p == math.inf else (np.abs(gap) ** p).sum(-1) ** (1 / p)
    g = wide(call.some("float32", far.shape, "small", False))
    if p == math.inf:
        slope = np.sign(gap) * (np.abs(gap) == far[..., None])
    else:
        slope = np.sign(gap) * (np.abs(gap) / far[..., None]) ** (p - 1)
    call.tensor("grad", "float32", values=g), call.tensor("x1", "float32", values=x), call.tensor("x2", "float32", values=y), call.tensor("cdist", "float32", values=np.asarray(far, np.float32))
    if p == math.inf and d > 1:
        return call.out("out", "float32", None, shape=x.shape)
    call.out("out", "float32", (slope * g[..., None]).sum(2), near(32, 0, 2e-5 * (1 + np.abs(g).sum(2)[..., None])))


def replaced(call):
    h, w = call.choose((1, 4, 17, 130)), call.choose((2, 5))
    a, b = small(call, "bkg", "float16", (h, w, 3), "prob"), small(call, "src", "float16", (h, w, 3), "prob")
    mask = small(call, "mask", "float16", (h, w), "prob")[..., None]
    call.out("out", "float16", a * (1 - mask) + b * mask, near(8, 0, 2e-3))


def masked_image(call):
    h, w = call.choose((1, 4, 17, 130)), call.choose((2, 5))
    x = call.tensor("rgb", "uint8", (h, w, 3)).astype(int)
    alpha = call.tensor("alpha", "uint8", values=np.where(call.some("bool", (h, w)), 255, 0)).astype(int)
    call.out("out", "uint8", (x * (alpha[..., None] > 0)).astype(np.uint8))


def blended(call):
    h, w = call.choose((1, 4, 17, 130)), call.choose((2, 5))
    x, frame = (call.tensor(name, "uint8", (h, w, 3)).astype(float) for name in ("rgb", "frame"))
    alpha = call.tensor("alpha", "uint8", (h, w)).astype(float)[..., None] / 255
    exact = x * alpha + frame * (1 - alpha)

    def check(found, wanted):
        close_ = np.abs(exact - np.rint(exact)) < 1e-3
        return bits(np.where(close_ & (np.abs(found - exact) < 1.01), wanted, found), wanted)

    call.out("out", "uint8", np.floor(exact + 1e-9).astype(np.uint8), check)


def signs(call):
    dtype = call.choose(("float32", "float16"))
    count = call.choose((8, 16, 40, 3))
    size = call.choose((1, 2)) if -(-count // 8) % 2 == 0 else 1
    x = wide(call.tensor("self", dtype, values=np.where(call.some("bool", (count,)), 1.5, -2.0)))
    call.set("size", size)
    bytes_ = -(-count // 8)
    ones = np.zeros(bytes_ * 8, np.uint8)
    ones[:count] = x >= 0
    # What stands for elements behind the end is not documented.
    known = np.zeros(bytes_ * 8, np.uint8)
    known[:count] = 1
    known = np.packbits(known, bitorder="little").reshape(size, -1)
    made = np.packbits(ones, bitorder="little").reshape(size, -1)
    call.out("out", "uint8", made, lambda found, wanted: bits(found & known, wanted & known))


def decomposed(call):
    dtype = call.choose(("float32", "float64"))
    lead, m, n = call.shape(0, 1, 3, empty=False), call.choose((1, 2, 3, 5)), call.choose((1, 2, 3, 6))
    x = wide(call.tensor("input", dtype, (*lead, m, n), "normal", False))
    full, vectors = call.set("fullMatrices", call.chance(40)), call.set("computeUV", call.chance(75))
    sigma = np.linalg.svd(x, compute_uv=False)
    slack = (1e-4 if dtype == "float32" else 1e-9) * (1 + np.abs(x).max())
    held = {}

    def values(found, wanted):
        held["sigma"] = wide(found)
        return near(16, 0, slack)(found, wanted)

    def orthonormal(name):
        def check(found, wanted):
            one = wide(found)
            held[name] = one
            if np.abs(one.swapaxes(-1, -2) @ one - np.eye(one.shape[-1])).max() > slack:
                return f"the columns of {name} are not orthonormal"
            if name == "v":
                k = min(m, n)
                back = (held["u"][..., :k] * held["sigma"][..., None, :]) @ one[..., :k].swapaxes(-1, -2)
                return f"the product is off by {np.abs(back - x).max()}" if np.abs(back - x).max() > 4 * slack else None
        return check

    call.out("sigma", dtype, sigma, values)
    if vectors:
        call.out("u", dtype, np.zeros((*lead, m, m if full else min(m, n))), orthonormal("u"))
        call.out("v", dtype, np.zeros((*lead, n, n if full else min(m, n))), orthonormal("v"))


def counted_range(call):
    dtype = call.choose(("float32", "int32", "int64"))
    start, step, count = call.choose((0, -3, 5)), call.choose((1, 2, -1)), call.choose((1, 5, 17, 130))
    kind = "float32" if dtype == "float32" else "int64"
    for name, value in (("start", start), ("end", start + step * (count - 1)), ("step", step)):
        call.scalar(name, kind, value)
    call.out("out", dtype, start + step * np.arange(count), near(2))


def multilabel(call):
    dtype = call.float_type()
    rows, n = call.choose((1, 3)), call.choose((2, 5, 9))
    x = small(call, "self", dtype, (rows, n))
    target = np.full((rows, n), -1)
    marks = np.zeros((rows, n))
    for row in range(rows):
        order = np.argsort(call.some("float32", (n,), "normal", False), kind="stable")
        count = call.between(0, n)
        target[row, :count] = order[:count]
        marks[row, order[:count]] = 1
    call.tensor("target", "int64", values=target)
    reduction = call.set("reduction", call.choose((0, 1, 2)))
    made, size = np.zeros(rows), np.zeros(rows)
    for row in range(rows):
        for i in np.flatnonzero(marks[row]):
            part = np.nan_to_num(1 - (x[row, i] - x[row, marks[row] == 0]), nan=0, posinf=np.inf, neginf=0).clip(0)
            made[row] += part.sum() / n
            size[row] += (1 + np.abs(x[row, i]) + np.abs(x[row])).sum() / n
    wanted = made if reduction == 0 else made.mean() if reduction == 1 else made.sum()
    scale = size if reduction == 0 else size.max() * (1 if reduction == 1 else rows)
    call.out("out", dtype, wanted, near(16, 0, (4e-6 + 0) * scale)), call.out("isTarget", dtype, marks)


def gathered_statistics(call):
    parts, c = call.between(1, 4), call.choose((1, 5, 17, 130))
    counts = np.arange(parts) + 2
    totals = small(call, "totalSum", "float32", (parts, c))
    squares = wide(call.tensor("totalSquareSum", "float32", values=totals**2 + counts[:, None] * (0.5 + wide(call.some("float32", (parts, c), "prob", False)))))
    call.tensor("sampleCount", "int32", values=counts)
    mean, var = small(call, "mean", "float32", (c,)), small(call, "variance", "float32", (c,), "inner")
    momentum, e, n = call.set("momentum", call.choose((0.125, 0.0, 1.0, 0.5))), call.set("eps", call.choose((2.0**-10, 0.0, 1.0))), counts.sum()
    one = totals.sum(0) / n
    two = squares.sum(0) / n - one**2
    call.update("mean", mean * (1 - momentum) + momentum * one, near(8, 0, 1e-5 * (1 + np.abs(one)))), call.update("variance", var * (1 - momentum) + momentum * two * n / (n - 1), near(8, 0, 2e-5 * (1 + squares.sum(0))))
    call.out("batchMean", "float32", one, near(8, 0, 1e-5 * (1 + np.abs(totals).sum(0) / n))), call.out("batchInvstd", "float32", 1 / np.sqrt(two + e), near(64, 1e-5 * (1 + (squares.sum(0) / n / two).max())))


def unscaled(call):
    dtype = call.float_type()
    arrays = [call.tensor("scaledGrads", dtype, call.shape(0, 3, 300, empty=False), "small", False, repeat=False, listed=True) for _ in range(call.between(1, 3))]
    bad = call.chance(40)
    if bad:
        values = arrays[0].values.copy()
        values.reshape(-1)[0] = np.inf
        arrays[0].values = values
    found = call.tensor("foundInf", "float32", values=np.array([call.choose((0.0, 1.0))]))
    scale = float(wide(call.tensor("invScale", "float32", values=np.array([call.choose((0.5, 0.125))])))[0])
    call.list("scaledGrads", [written(one, wide(one.values) * scale, near(2)) for one in arrays])
    call.update("foundInf", np.array([1.0]) if bad else found)


def advanced(call):
    count, page, most = call.choose((1, 3, 5)), call.choose((1, 4, 16)), 8
    queries = call.between(1, count)
    lens = np.abs(call.some("int64", (count,), "any", False).astype(np.int64)) % (most * page - 1) + 1
    lens = np.minimum(lens, most * page - 1)
    tokens, slots = call.some("int64", (count,), "small", False), call.some("int64", (count,), "small", False)
    call.tensor("inputTokens", "int64", values=tokens)
    sampled = call.tensor("sampledTokenIds", "int64", (queries,), "small", False)
    call.tensor("inputPositions", "int64", values=lens - 1), call.tensor("seqLens", "int64", values=lens), call.tensor("slotMapping", "int64", values=slots)
    table = call.tensor("blockTables", "int64", values=np.abs(call.some("int64", (count, most), "small", False)))
    call.set("numSeqs", count), call.set("numQueries", queries), call.set("blockSize", page)
    made = [tokens.copy(), lens - 1, lens.copy(), slots.copy()]
    for row in range(queries):
        at = lens[row]
        made[0][row], made[1][row], made[2][row] = sampled.reshape(-1)[row], at, at + 1
        made[3][row] = table[row, at // page] * page + at % page
    for name, one in zip(("inputTokens", "inputPositions", "seqLens", "slotMapping"), made):
        call.update(name, one, bits)


def cached_rope(call):
    dtype = call.float_type()
    tokens, head, span = call.choose((1, 3, 17, 130)), call.choose((8, 16)), call.choose((4, 8))
    cache = small(call, "cosSinCache", dtype, (9, span))
    positions = call.tensor("positions", "int64", values=np.abs(call.some("int64", (tokens,), "small", False)) % 9)
    neox = call.set("isNeoxStyle", call.chance(50))
    call.set("headSize", head)
    half = span // 2
    cos, sin = cache[positions][:, None, :half], cache[positions][:, None, half:]
    for name, out, heads in (("queryIn", "queryOut", 2), ("keyIn", "keyOut", 1)):
        x = small(call, name, dtype, (tokens, heads * head)).reshape(tokens, heads, head)
        turned = x[..., :span]
        one, two = (turned[..., :half], turned[..., half:]) if neox else (turned[..., ::2], turned[..., 1::2])
        parts = (one * cos - two * sin, two * cos + one * sin)
        turned = np.concatenate(parts, -1) if neox else np.stack(parts, -1).reshape(tokens, heads, span)
        made = np.concatenate([turned, x[..., span:]], -1).reshape(tokens, -1)
        call.out(out, dtype, made, close(dtype, 0.5 + np.abs(x).max() * (np.abs(cos).max() + np.abs(sin).max())))


def interleaved(call):
    dtype = call.choose(("float16", "bfloat16"))
    b, n, s, d = call.between(1, 2), call.between(1, 3), call.choose((1, 3)), 64
    x = small(call, "x", dtype, (b, n, s, d))
    cos, sin = small(call, "cos", dtype, (b, 1, s, d)), small(call, "sin", dtype, (b, 1, s, d))
    # Pairs of neighbours move apart: the even elements become the first half.
    q = np.concatenate([x[..., ::2], x[..., 1::2]], -1)
    turned = np.concatenate([-q[..., d // 2:], q[..., : d // 2]], -1)
    call.out("out", dtype, q * cos + turned * sin, near(8, 0, 0 * (np.abs(q * cos) + np.abs(turned * sin)) + 1e-4))


MIXED = Family("boxes, images, matrices, steps", "ops/boxes")
MIXED.add("Iou", overlap)
MIXED.add("CIoU", complete_overlap)
MIXED.add("ChamferDistanceBackward", chamfer_grad)
MIXED.add("CdistBackward", cdist_grad)
MIXED.add("BackgroundReplace", replaced)
MIXED.add("MrgbaCustom", masked_image)
MIXED.add("BlendImagesCustom", blended)
MIXED.add("SignBitsPack", signs)
MIXED.add("Svd", decomposed)
MIXED.add("Range", counted_range)
MIXED.add("MultilabelMarginLoss", multilabel)
MIXED.add("SyncBatchNormGatherStats", gathered_statistics)
MIXED.add("ForeachNonFiniteCheckAndUnscale", unscaled)
MIXED.add("AdvanceStep", advanced)
MIXED.add("RopeWithSinCosCache", cached_rope)
MIXED.add("InterleaveRope", interleaved)

FAMILIES = [DRAWS, INDEXED, MIXED]
