"""Operators that move elements: joining, splitting, permuting, padding, triangles, sequences."""

import math

import numpy as np

from device import NUMPY
from maker import COMPLEX, FLOATS, INTEGERS, LOW, UNSIGNED, WIDE, bits, near, wide

from . import Family

ALL = (*WIDE, *INTEGERS, "bool", *UNSIGNED, *COMPLEX)
PLAIN = (*WIDE, *INTEGERS, "bool")


def drawn(call, name, low=0, high=8, most=4000, types=ALL, empty=True):
    dtype = call.choose(types)
    return dtype, call.tensor(name, dtype, call.shape(low, high, most, empty))


def result(call, dtype, wanted, name=None):
    call.out(name or call.results[0], dtype, wide(np.asarray(wanted)))


def cat(call, stack=False):
    dtype = call.choose(ALL)
    shape = list(call.shape(0 if stack else 1, 7 if stack else 6, 1500))
    count = call.between(1, 5)
    rank = len(shape) + (1 if stack else 0)
    axis = call.below(rank)
    arrays = []
    for _ in range(count):
        own = list(shape)
        if not stack:
            own[axis] = call.choose((1, 2, 0, 3, 7, 17))
        arrays.append(call.tensor("tensors", dtype, tuple(own), listed=True))
    if not stack and call.chance(10):
        # PyTorch skips empty tensors of one dimension.
        arrays.append(call.tensor("tensors", dtype, (0,), listed=True))
        call.features.add("empty member skipped")
    call.list("tensors", arrays)
    call.set("dim", axis - rank if call.chance(30) else axis)
    values = [array.values for array in arrays if array.values.shape != (0,) or len(shape) == 1]
    result(call, dtype, np.stack(values, axis) if stack else np.concatenate(values, axis))


def split(call, sizes):
    dtype, x = drawn(call, "self", 1, 6, 3000, empty=False)
    axis = call.axis("dim", x.ndim)
    length = x.shape[axis]
    if sizes:
        cuts, left = [], length
        while left:
            cuts.append(min(left, call.choose((1, 2, 5, 9, length))))
            left -= cuts[-1]
        call.set("splitSize", cuts)
    else:
        size = call.set("splitSections", call.choose([s for s in (1, 2, 3, 7, length) if -(-length // s) <= 64]))
        cuts = [min(size, length - start) for start in range(0, length, size)]
    parts = np.split(x, np.cumsum(cuts)[:-1], axis)
    call.list("out", [call.out("", dtype, wide(part), listed=True) for part in parts])


def permute(call):
    dtype, x = drawn(call, "self", 1, 8)
    order = list(range(x.ndim))
    for index in range(len(order) - 1):
        other = call.between(index, len(order) - 1)
        order[index], order[other] = order[other], order[index]
    call.set("dims", [axis - x.ndim if call.chance(20) else axis for axis in order])
    result(call, dtype, np.transpose(x, order))


def flip(call):
    dtype, x = drawn(call, "self", 1, 8, types=PLAIN)
    axes = call.axes("dims", x.ndim, empty=False)
    result(call, dtype, np.flip(x, axes))


def roll(call):
    dtype, x = drawn(call, "x", 1, 8, types=(*FLOATS, "int32", "int8", "uint8", "bool", "uint32"), empty=False)
    if call.chance(25):
        shift = call.choose((*range(-9, 10), x.size, x.size + 1, -x.size - 2))
        call.set("shifts", [shift]), call.set("dims", [])
        result(call, dtype, np.roll(x, shift))
        return
    axes = [axis for axis in range(x.ndim) if call.chance(50)] or [0]
    if call.chance(30):
        # A dimension that occurs again is shifted again.
        axes.append(call.choose(axes))
        call.features.add("repeated dimension")
    shifts = [call.choose((1, 0, -1, 2, 5, -9, 100, -1000, x.shape[axis], -x.shape[axis], x.shape[axis] + 1)) for axis in axes]
    call.set("shifts", shifts), call.set("dims", [axis - x.ndim if call.chance(30) else axis for axis in axes])
    result(call, dtype, np.roll(x, shifts, axes))


def triangle(call, f):
    own = call.in_place[0] if call.in_place else "self"
    dtype, x = drawn(call, own, 2, 6, types=(*WIDE, *INTEGERS, "bool"))
    k = call.set("diagonal", call.choose((0, 1, -1, 2, -3, 100, -100, x.shape[-1] - 1, x.shape[-1], 1 - x.shape[-2], -x.shape[-2], 2**40, -2**40)))
    wanted = wide(f(x, min(max(k, -10000), 10000)) if x.size else x)
    if call.in_place:
        call.update(own, wanted)
    else:
        call.out("out", dtype, wanted)


def expand(call):
    dtype = call.choose(PLAIN)
    shape = call.shape(0, 7, 3000)
    part = call.part_of(shape)
    x = call.tensor("self", dtype, part)
    call.set("size", [-1 if call.chance(20) and index >= len(shape) - len(part) and part[index - len(shape) + len(part)] == dim else dim for index, dim in enumerate(shape)])
    result(call, dtype, np.broadcast_to(x, shape))


def repeat(call):
    dtype, x = drawn(call, "self", 0, 4, 300, types=PLAIN)
    times = [call.choose((1, 2, 3, 0)) for _ in range(x.ndim + call.choose((0, 1, 2)))]
    call.set("repeats", times)
    result(call, dtype, np.tile(x, times) if times else x)


def interleave(call, form):
    dtype, x = drawn(call, "self", 1, 4, 300, types=PLAIN, empty=False) if form != "counts" else (None, None)
    if form == "counts":
        counts = call.tensor("repeats", "int64", values=np.abs(call.some("int64", (call.choose((1, 3, 9)),), "small", False)))
        total = call.set("outputSize", int(counts.sum()))
        call.out("out", "int64", np.repeat(np.arange(len(counts)), counts), bits)
        return
    axis = call.axis("dim", x.ndim) if "Dim" in call.operator else None
    length = x.size if axis is None else x.shape[axis]
    if call.kinds["repeats"] == "aclTensor*":
        many = call.chance(60)
        counts = call.tensor("repeats", "int64", values=np.abs(call.some("int64", (length if many else 1,), "small", False)))
        total = int(counts.sum()) * (1 if many else length)
    else:
        counts = call.set("repeats", call.choose((1, 2, 3, 0)))
        total = counts * length
    call.set("outputSize", total)
    result(call, dtype, np.repeat(x, counts if np.ndim(counts) == 0 or len(counts) > 1 or length == 1 else counts[0], axis))


def pad_constant(call):
    dtype, x = drawn(call, "self", 1, 6, 1500, types=(*PLAIN, "complex64"), empty=False)
    axes = call.between(1, x.ndim)
    pads, widths, cuts = [], [(0, 0)] * x.ndim, [slice(None)] * x.ndim
    for index in range(axes):
        axis = x.ndim - 1 - index
        pair = [call.choose((0, 1, 2, 3, -1, -2, 9)) for _ in range(2)]
        if x.shape[axis] + min(pair[0], 0) + min(pair[1], 0) < 1:
            pair = [0, 1]
        pads += pair
        widths[axis] = tuple(max(p, 0) for p in pair)
        cuts[axis] = slice(max(-pair[0], 0), x.shape[axis] - max(-pair[1], 0))
    call.set("pad", pads)
    value = call.scalar("value", dtype if dtype not in LOW else "float32", call.choose((0, 1, 2, *((math.inf, -math.inf, math.nan, -1.5) if dtype in WIDE else ()))))
    result(call, dtype, np.pad(x[tuple(cuts)], widths, constant_values=np.asarray(value).astype(NUMPY[dtype])))


def pad_like(call, mode, dims, backward=False):
    dtype = call.float_type()
    rank = dims + call.choose((1, 2))
    shape = [call.between(1, 3) for _ in range(rank - dims)] + [call.choose((2, 3, 5, 8, 17, 1) if mode == "edge" else (2, 3, 5, 8, 17)) for _ in range(dims)]
    if call.below(12) == 11:
        shape[-1] = call.choose((65, 129, 513))
    widths, pads = [(0, 0)] * rank, []
    for index in range(dims):
        most = shape[rank - 1 - index] - 1 if mode == "reflect" else call.choose((4, 9))
        pair = (call.between(0, most), call.between(0, most))
        widths[rank - 1 - index] = pair
        pads += pair
    if not backward:
        x = wide(call.tensor("self", dtype, tuple(shape), "small", False))
        call.set("padding", pads)
        call.out("out", dtype, np.pad(x, widths, mode=mode))
        return
    at = np.pad(np.arange(math.prod(shape)).reshape(shape), widths, mode=mode)
    g = wide(call.tensor("gradOutput", dtype, at.shape, "small", False))
    call.tensor("self", dtype, tuple(shape), "small", False)
    call.set("padding", pads)
    size = np.bincount(at.reshape(-1), np.abs(g).reshape(-1), math.prod(shape)).reshape(shape)
    wanted = np.bincount(at.reshape(-1), g.reshape(-1), math.prod(shape)).reshape(shape)
    low = 1e-6
    call.out("gradInput", dtype, wanted, near(2, 0, low * size))


def bound(call, size):
    """A start or an end: counted from the front or the back, also beyond either, and as far as numbers go."""
    way = call.below(8)
    if way < 4:
        return call.between(0, size)
    if way < 6:
        call.features.add("negative indices")
        return -call.between(1, size)
    call.features.add("beyond the dimension")
    return call.choose((size + 1, size + 5, -size - 1, -2 * size, -2 * size - 3, 2**31 - 1, -2**31, 2**63 - 1, -2**63))


def span(start, end, size):
    """The part of a dimension that a start and an end leave."""
    at = lambda v: min(max(v + size if v < 0 else v, 0), size)  # noqa: E731
    return at(start), at(end)


def slice_(call, many=False):
    dtype, x = drawn(call, "self", 1, 6, 3000, types=PLAIN, empty=False)
    axes = [axis for axis in range(x.ndim) if call.chance(60)] or [0] if many else [call.axis("dim", x.ndim)]
    starts, ends, steps, cut = [], [], [], [slice(None)] * x.ndim
    for axis in axes:
        size = x.shape[axis]
        start, end, step = bound(call, size), bound(call, size), call.choose((1, 1, 2, 3, size + 1))
        first, last = span(start, end, size)
        if last < first:
            start, end, first, last = end, start, last, first
        if many and last == first:
            start, end, first, last = 0, size, 0, size
        cut[axis] = slice(first, last, step)
        starts.append(start), ends.append(end), steps.append(step)
    if many:
        call.set("starts", starts), call.set("ends", ends), call.set("axes", [axis - x.ndim if call.chance(20) else axis for axis in axes]), call.set("steps", steps)
    else:
        call.set("start", starts[0]), call.set("end", ends[0]), call.set("step", steps[0])
    result(call, dtype, x[tuple(cut)])


def eye(call):
    n, m = call.set("n", call.choose((1, 2, 5, 17, 64, 0))), call.set("m", call.choose((1, 3, 5, 17, 65, 0)))
    dtype = call.choose(PLAIN)
    result(call, dtype, np.eye(n, m).astype(NUMPY[dtype]))


def diag_flat(call):
    dtype, x = drawn(call, "self", 0, 3, 40, types=PLAIN)
    k = call.set("diagonal", call.choose((0, 1, -1, 3, -4)))
    result(call, dtype, np.diagflat(x, k))


def fill_diagonal(call):
    dtype = call.choose((*FLOATS, "int32"))
    n = call.between(1, 9)
    shape = call.choose(((n, n), (n, 3), (n * 3 + 2, 3)))
    x = call.tensor("selfRef", dtype, shape)
    value = call.scalar("fillValue", "float32" if dtype in FLOATS else dtype, call.choose((0, 1, 2)))
    wrap = call.set("wrap", call.chance(50))
    wanted = wide(x).copy()
    rows, columns = shape
    if wrap:
        wanted.reshape(-1)[:: columns + 1] = value
    else:
        k = np.arange(min(rows, columns))
        wanted[k, k] = value
    call.update("selfRef", wanted)


def sequence(call, form):
    dtype = call.choose(("float32", "int32", "int64", "float16") if form == "arange" else ("float32", "float16"))
    if form == "arange":
        kind = "int64" if dtype in INTEGERS else "float32"
        start, step = call.choose((0, 1, -3)), call.choose((1, 2, -1, 5) if dtype in INTEGERS else (1, 0.5, -0.25))
        count = call.choose((1, 2, 9, 64, 257, 1025, 0, 70000))
        count = min(count, 257) if dtype == "float16" else count
        call.scalar("start", kind, start), call.scalar("end", kind, start + step * count), call.scalar("step", kind, step)
        call.out("out", dtype, start + step * np.arange(count), near(1))
        return
    steps = call.set("steps", call.choose((1, 2, 3, 17, 65, 1025, 0, 70000)))
    start, end = call.choose((0, -1, 2, 0.25)), call.choose((1, 3, -2, 0))
    call.scalar("start", "float32", start), call.scalar("end", "float32", end)
    wanted = np.linspace(start, end, steps)
    if form == "log":
        base = call.set("base", call.choose((10.0, 2.0, 1.0, 0.5)))
        call.out("result", dtype, base**wanted, near(64))
        return
    call.out("out", dtype, wanted, near(4, 0, 1e-6))


def flatten(call):
    dtype, x = drawn(call, "self", 0, 6, types=(*FLOATS, "int32", "int8", "bool"))
    axis = call.below(x.ndim + 1)
    if x.ndim and axis < x.ndim and call.chance(30):
        call.features.add("negative dimension")
        call.set("axis", axis - x.ndim)
    else:
        call.set("axis", axis)
    first = math.prod(x.shape[:axis])
    result(call, dtype, x.reshape(first, math.prod(x.shape[axis:]) if x.ndim else 1))


def one_hot(call):
    x = call.tensor("self", call.choose(("int64", "int32")), values=np.abs(call.some("int64", call.shape(1, 4, 400), "small", False)))
    classes = call.set("numClasses", call.choose((6, 8, 17, 1, 3, 4)))
    dtype = call.choose(("int32", "float32", "int64"))
    yes, no = call.choose(((1, 0), (5, -2), (0, 1), (-3, 7)))
    call.tensor("onValue", dtype, values=np.array([yes]), plain=True), call.tensor("offValue", dtype, values=np.array([no]), plain=True)
    axis = call.set("axis", call.choose((-1, 0, x.ndim)))
    # A class beyond their number is none of them.
    wanted = np.moveaxis(np.where((x < classes)[..., None] & (np.eye(classes)[np.minimum(x, classes - 1)] == 1), yes, no), -1, axis if axis >= 0 else -1)
    call.out("out", dtype, wanted.astype(NUMPY[dtype]) if dtype in INTEGERS else wanted)


def shuffle(call):
    dtype = call.float_type()
    groups = call.set("groups", call.choose((1, 2, 3, 4, 8)))
    shape = (call.between(1, 3), groups * call.between(1, 4), call.between(1, 5), call.between(1, 5))
    x = call.tensor("self", dtype, shape)
    n, c, h, w = shape
    result(call, dtype, x.reshape(n, groups, c // groups, h, w).swapaxes(1, 2).reshape(shape))


def im2col(call, backward=False):
    dtype = call.float_type()
    n, c = call.between(1, 2), call.between(1, 3)
    h, w = call.choose((3, 4, 5, 9, 17, 33)), call.choose((3, 4, 6, 31))
    k, d, p, s = ((call.between(1, 3), call.between(1, 2)), (call.between(1, 2), 1), (call.below(2), call.below(2)), (call.between(1, 2), call.between(1, 2)))
    oh, ow = ((size + 2 * pad - dil * (kern - 1) - 1) // step + 1 for size, pad, dil, kern, step in zip((h, w), p, d, k, s))
    if oh < 1 or ow < 1:
        k, d, oh, ow = (1, 1), (1, 1), (h + 2 * p[0] - 1) // s[0] + 1, (w + 2 * p[1] - 1) // s[1] + 1
    at = np.pad(np.arange(n * c * h * w).reshape(n, c, h, w) + 1, ((0, 0), (0, 0), (p[0],) * 2, (p[1],) * 2))
    columns = np.zeros((n, c, k[0], k[1], oh, ow), np.int64)
    for i in range(k[0]):
        for j in range(k[1]):
            columns[:, :, i, j] = at[:, :, i * d[0]:i * d[0] + s[0] * (oh - 1) + 1:s[0], j * d[1]:j * d[1] + s[1] * (ow - 1) + 1:s[1]]
    columns = columns.reshape(n, c * k[0] * k[1], oh * ow)
    for name, value in (("kernelSize", k), ("dilation", d), ("padding", p), ("stride", s)):
        call.set(name, list(value))
    if backward:
        call.set("inputSize", [h, w])
        g = wide(call.tensor("gradOutput", dtype, columns.shape, "small", False))
        wanted = np.bincount(columns.reshape(-1), g.reshape(-1), n * c * h * w + 1)[1:].reshape(n, c, h, w)
        size = np.bincount(columns.reshape(-1), np.abs(g).reshape(-1), n * c * h * w + 1)[1:].reshape(n, c, h, w)
        low = 1e-6
        call.out("out", dtype, wanted, near(2, 0, low * size))
        return
    x = wide(call.tensor("self", dtype, (n, c, h, w), "small", False))
    call.out("out", dtype, np.concatenate([[0], x.reshape(-1)])[columns])


MOVEMENT = Family("movement of elements", "ops/data/mod.rs")
MOVEMENT.add("Cat", cat)
MOVEMENT.add("Stack", cat, stack=True)
MOVEMENT.add("SplitTensor", split, sizes=False)
MOVEMENT.add("SplitWithSize", split, sizes=True)
MOVEMENT.add("Permute", permute)
MOVEMENT.add("Flip", flip)
MOVEMENT.add("Roll", roll)
MOVEMENT.add("Tril", triangle, f=np.tril)
MOVEMENT.add("Triu", triangle, f=np.triu)
MOVEMENT.add("Expand", expand)
MOVEMENT.add("Repeat", repeat)
MOVEMENT.add("RepeatInterleave RepeatInterleaveInt RepeatInterleaveIntWithDim RepeatInterleaveWithDim", interleave, form="")
MOVEMENT.add("RepeatInterleaveTensor", interleave, form="counts")
MOVEMENT.add("ConstantPadNd", pad_constant)
for dims in (1, 2, 3):
    MOVEMENT.add(f"ReflectionPad{dims}d", pad_like, mode="reflect", dims=dims)
    MOVEMENT.add(f"ReflectionPad{dims}dBackward", pad_like, mode="reflect", dims=dims, backward=True)
    MOVEMENT.add(f"ReplicationPad{dims}d", pad_like, mode="edge", dims=dims)
    MOVEMENT.add(f"ReplicationPad{dims}dBackward", pad_like, mode="edge", dims=dims, backward=True)
MOVEMENT.add("Slice", slice_)
MOVEMENT.add("SliceV2", slice_, many=True)
MOVEMENT.add("Eye", eye)
MOVEMENT.add("DiagFlat", diag_flat)
MOVEMENT.add("FillDiagonal", fill_diagonal)
MOVEMENT.add("Arange", sequence, form="arange")
MOVEMENT.add("Linspace", sequence, form="lin")
MOVEMENT.add("LogSpace", sequence, form="log")
MOVEMENT.add("Flatten", flatten)
MOVEMENT.add("OneHot", one_hot)
MOVEMENT.add("ChannelShuffle", shuffle)
MOVEMENT.add("Im2col", im2col)
MOVEMENT.add("Im2colBackward", im2col, backward=True)

FAMILIES = [MOVEMENT]
