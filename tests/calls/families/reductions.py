"""Sums, products, extremes, moments, norms, scans, softmax, sorting."""

import math

import numpy as np

from device import NUMPY
from maker import EPS, FLOATS, INTEGERS, LOW, REAL, UNSIGNED, WIDE, bits, near, to, wide

from . import Family
from .elementwise import cast, eps

#: Operators whose documents say that a null list of dimensions stands for all of them.
NULL_IS_ALL = ("aclnnVar", "aclnnVarCorrection", "aclnnVarMean")


def reduced_shape(shape, axes, keep):
    return tuple(1 if axis in axes else dim for axis, dim in enumerate(shape) if keep or axis not in axes)


def measure(call, low=0, empty=True):
    """A shape to reduce; at times long."""
    if call.below(24) == 23:
        size = call.choose((65535, 65536, 65537, 16384, 100003))
        call.features.add("65536 elements")
        return call.choose(((size,), (2, size), (size, 1), (size, 3), (2, size // 2, 2)))
    return call.shape(low, 8, 6000, empty)


def keepdim(call):
    name = next(name for name in call.kinds if name.lower().startswith("keepdim"))
    return call.set(name, call.chance(50))


def summed(call, dims, mean=False, nan=False):
    dtype = call.choose((*WIDE, *INTEGERS) if not mean else WIDE)
    shape = measure(call)
    x = call.tensor("self", dtype, shape, "small", call.chance(30) if nan else call.chance(10))
    axes = call.axes(dims, len(shape))
    keep = keepdim(call)
    to_type = call.choose((dtype, dtype, dtype, "float32")) if dtype not in INTEGERS else call.choose(("int64", dtype, "float32"))
    if "dtype" in call.kinds:
        call.set("dtype", to_type)
    else:
        to_type = dtype
    values = cast(x, to_type) if not (nan and dtype in WIDE) else np.nan_to_num(cast(x, to_type), nan=0.0, posinf=np.inf, neginf=-np.inf)
    with np.errstate(all="ignore"):
        count = math.prod(shape[axis] for axis in axes)
        if values.dtype.kind in "iub":
            wanted = np.add.reduce(values, axes, keepdims=keep, dtype=values.dtype)
            absolute = 0
        else:
            wanted = values.sum(axes, keepdims=keep)
            size = np.abs(values).sum(axes, keepdims=keep)
            if mean:
                wanted, size = wanted / count if count else wanted * np.nan, size / max(count, 1)
            absolute = np.where(np.isfinite(size), size, 0) * eps(to_type) * (8 if count < 10000 else 64)
    call.out("out", to_type, to(to_type, wanted), near(2, 0, absolute))


def product(call, one=False):
    dtype = call.choose((*WIDE, *INTEGERS))
    shape = call.shape(0, 6, 400)
    x = call.tensor("self", dtype, shape, "small", call.chance(15))
    axes = (call.axis("dim", len(shape)),) if one else tuple(range(len(shape)))
    if one and not shape:
        axes = ()
    keep = keepdim(call) if one else False
    to_type = call.choose((dtype, "int64" if dtype in INTEGERS else dtype))
    call.set("dtype", to_type)
    values = cast(x, to_type)
    with np.errstate(all="ignore"):
        wanted = np.multiply.reduce(values, axes, keepdims=keep, dtype=values.dtype)
    call.out("out", to_type, wanted, near(2, eps(to_type) * (max(math.prod(shape), 1)) if to_type in WIDE else 0, 0))


def extreme(call, f, axes=None):
    dtype = call.choose((*REAL, "bool"))
    shape = measure(call, empty=False)
    x = wide(call.tensor("self", dtype, shape))
    if axes is None:
        over, keep = tuple(range(len(shape))), False
    else:
        over, keep = call.axes(axes, len(shape)), keepdim(call)
    call.out(call.results[0], dtype, f(x, over, keep), near(0))


def both_extremes(call, form):
    dtype = call.choose((*WIDE, "int32", "int64"))
    shape = measure(call, empty=False)
    x = wide(call.tensor("self", dtype, shape))
    keep = False
    if form == "all":
        over = tuple(range(len(shape)))
    elif form == "dim":
        over = (call.axis("dim", len(shape)),) if shape else (call.axis("dim", 0),)[:0]
        keep = keepdim(call)
    else:
        over = call.axes("dim", len(shape))
        keep = keepdim(call)
    call.out("minOut", dtype, np.min(x, over, keepdims=keep), near(0))
    call.out("maxOut", dtype, np.max(x, over, keepdims=keep), near(0))


def first_index(x, axis, largest):
    """The index of the extreme; NaN counts as the extreme, and of equal elements the first."""
    if x.dtype.kind == "f":
        x = np.where(np.isnan(x), np.inf if largest else -np.inf, x) if not np.isnan(x).any() else x
        nan = np.isnan(x)
        position = np.argmax(nan, axis)
        plain = np.argmax(np.where(nan, -np.inf, x), axis) if largest else np.argmin(np.where(nan, np.inf, x), axis)
        return np.where(nan.any(axis), position, plain)
    return np.argmax(x, axis) if largest else np.argmin(x, axis)


def arg_extreme(call, largest):
    dtype = call.choose((*WIDE, *INTEGERS))
    shape = measure(call, 1, False)
    x = wide(call.tensor("self", dtype, shape, "small"))
    axis, keep = call.axis("dim", len(shape)), keepdim(call)
    wanted = first_index(x, axis, largest)
    call.out("out", call.choose(("int64", "int32")), (np.expand_dims(wanted, axis) if keep else wanted), bits)


def extreme_and_index(call, largest):
    """The index of equal elements is open: it has to name an extreme one."""
    dtype = call.choose((*WIDE, "int32", "int64", "bool"))
    shape = measure(call, 1, False)
    x = wide(call.tensor("self", dtype, shape, "any"))
    axis, keep = call.axis("dim", len(shape)), keepdim(call)
    values = (np.max if largest else np.min)(x, axis, keepdims=True)
    kept = values if keep else np.squeeze(values, axis)
    call.out("out", dtype, kept, near(0))

    def names_extreme(found, wanted):
        at = found if keep else np.expand_dims(found, axis)
        if (at < 0).any() or (at >= x.shape[axis]).any():
            return "an index is outside of the dimension"
        return bits(np.take_along_axis(x, at.astype(np.int64), axis), values)

    call.out("indices", "int64" if call.chance(50) else "int32", kept, names_extreme)


def reduced_logic(call, f):
    dtype = call.choose(("bool", "uint8", *WIDE, "int32", "int64"))
    shape = measure(call)
    x = wide(call.tensor("self", dtype, shape, "small"))
    axes, keep = call.axes("dim", len(shape)), keepdim(call)
    call.out("out", "bool", f(x != 0, axes, keepdims=keep))


def moment(call, root=False, mean=None, correction="correction"):
    dtype = call.float_type()
    shape = call.shape(0, 6, 4000, empty=False)
    x = wide(call.tensor("self", dtype, shape, "small", False))
    if call.chance(15) and call.operator in NULL_IS_ALL:
        axes = tuple(range(len(shape)))
        call.features.add("null for all dimensions")
    else:
        axes = call.axes("dim", len(shape))
    if correction == "unbiased":
        less = int(call.set("unbiased", call.chance(50)))
    else:
        less = call.set("correction", call.choose((1, 0, 2, 5, 100)))
    keep = keepdim(call)
    count = math.prod(shape[axis] for axis in axes)
    centre = x.mean(axes, keepdims=True)
    with np.errstate(all="ignore"):
        spread = ((x - centre) ** 2).sum(axes, keepdims=keep) / max(count - less, 0)
    scale = (np.abs(x) ** 2).sum(axes, keepdims=keep) / max(count - less, 1)
    wanted = np.sqrt(spread) if root else spread
    name = call.results[0]
    near_zero = np.sqrt(np.abs(scale)) if root else scale
    call.out(name, dtype, wanted, near(8, 0, near_zero * eps(dtype) * 16))
    if mean:
        call.out(mean, dtype, x.mean(axes, keepdims=keep), near(2, 0, np.abs(x).mean(axes, keepdims=keep) * eps(dtype) * 8))


def norm(call, p, dims, dtyped=False):
    dtype = call.float_type()
    shape = call.shape(0, 6, 4000, empty=False)
    x = np.abs(wide(call.tensor("self", dtype, shape, "small", False)))
    order = call.choose((2.0, 1.0, 0.0, math.inf, -math.inf, 3.0, 0.5, -1.0, -2.0))
    call.scalar(p, "float32", order)
    axes, keep = call.axes(dims, len(shape)), keepdim(call)
    if dtyped:
        call.set("dtype", dtype)
    with np.errstate(all="ignore"):
        if order == math.inf:
            wanted = x.max(axes, keepdims=keep)
        elif order == -math.inf:
            wanted = x.min(axes, keepdims=keep)
        elif order == 0:
            wanted = (x != 0).sum(axes, keepdims=keep).astype(float)
        else:
            wanted = (x**order).sum(axes, keepdims=keep) ** (1 / order)
    call.out("out", dtype, wanted, near(64, 0, 1e-30))


def log_sum_exp(call):
    dtype = call.float_type()
    shape = call.shape(0, 6, 4000, empty=False)
    x = wide(call.tensor("self", dtype, shape, call.choose(("small", "small", "any")), call.chance(30)))
    axes, keep = call.axes("dim", len(shape), empty=False), keepdim(call)
    with np.errstate(all="ignore"):
        top = x.max(axes, keepdims=True)
        wanted = np.log(np.exp(x - np.where(np.isfinite(top), top, 0)).sum(axes, keepdims=True)) + np.where(np.isfinite(top), top, 0)
    call.out("out", dtype, wanted.reshape(reduced_shape(shape, axes, keep)), near(8, 0, 1e-6 * (1 + (64 if x.size > 8000 else 0))))


def cumulative(call, f, integer_types=INTEGERS, dim="int", exclusive=False):
    dtype = call.choose((*WIDE, *integer_types))
    shape = call.shape(1, 6, 4000)
    x = call.tensor("self" if "self" in call.kinds else "input", dtype, shape, "small", False)
    if dim == "scalar":
        axis = call.below(len(shape))
        call.scalar("dim", "int64", axis - len(shape) if call.chance(30) else axis)
    else:
        axis = call.axis("dim", len(shape))
    ex = call.set("exclusive", call.chance(50)) if exclusive else False
    reverse = call.set("reverse", call.chance(50)) if exclusive else False
    if "dtype" in call.kinds:
        call.set("dtype", dtype)
    values = wide(x)
    if reverse:
        values = np.flip(values, axis)
    with np.errstate(all="ignore"):
        wanted = f.accumulate(values, axis, dtype=values.dtype)
        size = f.accumulate(np.abs(values), axis) if values.dtype.kind == "f" else 0
        if ex:
            first = np.zeros_like(np.take(wanted, [0], axis)) if shape[axis] else wanted
            wanted = np.concatenate([first, np.delete(wanted, -1, axis)], axis) if shape[axis] else wanted
            size = np.abs(size) if values.dtype.kind != "f" else np.concatenate([first, np.delete(size, -1, axis)], axis) if shape[axis] else size
    if reverse:
        wanted = np.flip(wanted, axis)
        size = np.flip(size, axis) if values.dtype.kind == "f" else 0
    length = max(shape[axis], 1)
    call.out("out", dtype, wanted, near(4, eps(dtype) * length if f is np.multiply and dtype in WIDE else 0, size * (eps(dtype) if dtype in WIDE else 0) * (8 + length / 64)))


def running_extreme(call, largest):
    dtype = call.choose((*FLOATS, "int32", "int64"))
    shape = call.shape(1, 6, 4000)
    x = wide(call.tensor("self", dtype, shape, "small"))
    axis = call.axis("dim", len(shape))
    values = (np.maximum if largest else np.minimum).accumulate(x, axis)
    call.out("valuesOut", dtype, values, near(0))
    # Of equal elements, and of several NaN, the last one.
    here = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    at = np.maximum.accumulate(np.where((x == values) | np.isnan(x), here, 0), axis)
    call.out("indicesOut", call.choose(("int64", "int32")), at, bits)


def softmaxed(call, log=False, backward=False):
    dtype = call.choose((*FLOATS, "float64"))
    shape = measure(call, 0)
    if backward:
        g = wide(call.tensor("gradOutput", dtype, shape, "small", False))
        y = wide(call.tensor("output", dtype, shape, "inner", False))
        y = -y if log else y
        if log:
            y = wide(call.tensor("output", dtype, values=y))
        axis = call.axis("dim", len(shape))
        if not shape:
            wanted = g - np.exp(y) * g if log else y * (g - y * g)
            size = np.abs(g) * (1 + np.abs(y))
        else:
            total = g.sum(axis, keepdims=True) if log else (g * y).sum(axis, keepdims=True)
            size = np.abs(g) + np.abs(g).sum(axis, keepdims=True)
            wanted = g - np.exp(y) * total if log else y * (g - total)
        call.out("out", dtype, wanted, near(4, 0, size * eps(dtype) * 8))
        return
    special = call.chance(15)
    x = wide(call.tensor("self", dtype, shape, "small", False))
    if special and x.size:
        x = x.copy()
        x[x < -0.5] = -np.inf
        x = wide(call.tensor("self", dtype, values=x))
        call.features.add("infinities, NaN, subnormals")
    axis = call.axis("dim", len(shape))
    with np.errstate(all="ignore"):
        if not x.size:
            wanted = x
        else:
            over = axis if shape else None
            z = x - np.max(x, over, keepdims=True)
            total = np.exp(z).sum(over, keepdims=True)
            wanted = z - np.log(total) if log else np.exp(z) / total
    size = np.where(np.isfinite(x), np.abs(x), 0)
    call.out("out", dtype, wanted, near(8 if not log else 4, 0, eps(dtype) * (8 + x.size / 500) * (1 + size) if log else eps(dtype) * (8 + x.size / 500) * (1 + size) * np.where(np.isfinite(wanted), np.abs(wanted), 0) + 1e-38))


def sorted_(call, form):
    dtype = call.choose((*WIDE, *INTEGERS, *UNSIGNED) if form != "topk" else (*WIDE, *INTEGERS))
    if form == "argsort" and dtype == "float64":
        dtype = "float32"
    shape = call.shape(0 if form == "sort" else 1, 5, 5000, empty=False)
    x = wide(call.tensor("self", dtype, shape, "any"))
    rank = len(shape)
    stable = False
    if form == "topk":
        axis = call.below(rank)
        k = call.set("k", call.between(0, shape[axis]) if call.chance(70) else shape[axis])
        call.set("dim", axis - rank if call.chance(30) else axis)
        down = call.set("largest", call.chance(50))
        in_order = call.set("sorted", call.chance(70))
    else:
        axis = call.axis("dim", rank)
        down = call.set("descending", call.chance(50))
        k = shape[axis] if rank else 1
        stable = call.set("stable", call.chance(60)) if form == "sort" else False
    line = x.reshape(1) if not rank else x
    over = axis if rank else 0
    key = line
    nan = np.isnan(line) if line.dtype.kind == "f" else np.zeros(line.shape, bool)
    if down:
        # The largest first, NaN before all; equal elements keep their order.
        flipped = np.flip(key, over)
        order = np.flip(line.shape[over] - 1 - np.argsort(flipped, over, kind="stable"), over)
    else:
        order = np.argsort(key, over, kind="stable")
    order = np.take(order, np.arange(k), over)
    values = np.take_along_axis(line, order, over)
    if not rank:
        order, values = order.reshape(()), values.reshape(())

    def names(found, wanted):
        flat = found.reshape(1) if not rank else found
        if flat.size and ((flat < 0).any() or (flat >= line.shape[over]).any()):
            return "an index is outside of the dimension"
        again = np.sort(flat, over)
        if (np.diff(again, axis=over) == 0).any():
            return "an index occurs twice"
        return bits(np.take_along_axis(line, flat.astype(np.int64), over), values.reshape(flat.shape))

    if form == "topk" and not in_order:
        # The elements are those of the ones in order; each stands where its index does.
        arranged = lambda v: np.sort(v, over)  # noqa: E731
        call.out("valuesOut", dtype, values, lambda found, want: near(0)(arranged(wide(found)), arranged(want)))

        def names_any(found, wanted):
            flat = found.astype(np.int64)
            if flat.size and ((flat < 0).any() or (flat >= line.shape[over]).any() or (np.diff(np.sort(flat, over), axis=over) == 0).any()):
                return "an index is outside of the dimension, or occurs twice"
            return bits(arranged(np.take_along_axis(line, flat, over)), arranged(values))

        return call.out("indicesOut", "int64", order, names_any)
    if form != "argsort":
        call.out("valuesOut", dtype, values, near(0))
    call.out("out" if form == "argsort" else "indicesOut", "int64", order, bits if stable else names)


def kth(call):
    dtype = call.choose((*FLOATS, "int32", "int64"))
    shape = call.shape(1, 5, 4000, empty=False)
    x = wide(call.tensor("self", dtype, shape, "any"))
    axis = call.below(len(shape))
    k = call.set("k", call.between(1, shape[axis]))
    call.set("dim", axis - len(shape) if call.chance(30) else axis)
    keep = keepdim(call)
    values = np.take(np.sort(x, axis), [k - 1], axis)
    pick(call, x, axis, keep, values, dtype)


def pick(call, x, axis, keep, values, dtype):
    """Adds the outputs of operators that select an element of each line."""
    kept = values if keep else np.squeeze(values, axis)

    def names(found, wanted):
        at = found if keep else np.expand_dims(found, axis)
        if (at < 0).any() or (at >= x.shape[axis]).any():
            return "an index is outside of the dimension"
        return bits(np.take_along_axis(x, at.astype(np.int64), axis), values)

    call.out("valuesOut", dtype, kept, near(0))
    call.out("indicesOut", "int64", kept, names)


def median(call, one=False, nan=False):
    dtype = call.choose((*FLOATS, "int32", "int64"))
    shape = call.shape(1 if one else 0, 5, 3000, empty=False)
    x = wide(call.tensor("self", dtype, shape, "any"))

    def middle(v, axis):
        """The lower of the middle elements; NaN where there is one, or without those."""
        if v.dtype.kind != "f":
            return np.take(np.sort(v, axis), [(v.shape[axis] - 1) // 2], axis)
        count = np.isnan(v).sum(axis, keepdims=True)
        at = np.maximum(v.shape[axis] - count - 1, 0) // 2 if nan else np.where(count > 0, v.shape[axis] - 1, (v.shape[axis] - 1) // 2)
        return np.take_along_axis(np.sort(v, axis), at, axis)

    if one:
        axis = call.axis("dim", len(shape))
        keep = keepdim(call)
        pick(call, x, axis, keep, middle(x, axis), dtype)
        return
    call.out(call.results[0], dtype, middle(x.reshape(-1), 0).reshape(()), near(0))


def histogram(call, form):
    if form == "bincount":
        size = call.choose((1, 5, 17, 256, 1000, 70000))
        x = call.tensor("self", "int64", values=np.maximum(call.some("int64", (size,), "positive", False) - 1, 0))
        w = wide(call.tensor("weights", call.choose(("float32", "float64")), (size,), "small", False)) if call.chance(50) else None
        least = call.set("minlength", call.choose((0, 4, 20, 300)))
        wanted = np.bincount(x, w, least)
        if w is None:
            call.out("out", "int64", wanted)
        else:
            call.out("out", call.given["weights"].dtype, wanted, near(4, 0, 1e-6 * np.bincount(x, np.abs(w), least)))
        return
    dtype = call.choose(("float32", "int32"))
    x = wide(call.tensor("self", dtype, (call.choose((1, 8, 100, 1025, 40000)),), "integer", False))
    bins = call.set("bins", call.choose((1, 4, 10, 100)))
    low, high = call.choose(((-4, 4), (0, 2), (-1, 3), (0, 0)))
    call.scalar("min", "float32", low), call.scalar("max", "float32", high)
    if low == high:
        # Equal limits stand for those of the elements.
        low, high = (x.min(), x.max()) if x.min() < x.max() else (x.min() - 1, x.max() + 1)
    inside = x[(x >= low) & (x <= high)].astype(float)
    at = np.minimum((inside - low) * bins // (high - low), bins - 1).astype(int)
    call.out("out", dtype, np.bincount(at, minlength=bins).astype(NUMPY[dtype]) if dtype == "int32" else np.bincount(at, minlength=bins).astype(float))


def searched(call, form):
    dtype = call.choose(("float32", "int32", "int64", "float64"))
    size = call.choose((1, 2, 7, 33, 256, 5000))
    edges = np.sort(wide(call.some(dtype, (size,), "small", False)))
    right = call.set("right", call.chance(50))
    wide_out = not call.set("outInt32", call.chance(50))
    if form == "bucketize":
        x = wide(call.tensor("self", dtype, call.shape(0, 5, 2000), "small", False))
        call.tensor("boundaries", dtype, values=edges)
        wanted = np.searchsorted(edges, x, "right" if right else "left")
    elif form == "one":
        call.tensor("sortedSequence", dtype, values=edges)
        x = call.scalar("self", dtype, call.choose((1, 0, -1, 2)))
        wanted = np.asarray(np.searchsorted(edges, x, "right" if right else "left"))
    else:
        rows = call.choose((1, 3, 5))
        edges = np.sort(wide(call.some(dtype, (rows, size), "small", False)), -1)
        if "sorter" in call.kinds and call.chance(40):
            # The sequence is in another order, and the indices say in which it is sorted.
            order = np.argsort(call.some("float32", (rows, size), "normal", False), -1, kind="stable")
            call.tensor("sortedSequence", dtype, values=np.take_along_axis(edges, np.argsort(order, -1, kind="stable"), -1))
            call.tensor("sorter", "int64", values=order)
        else:
            call.tensor("sortedSequence", dtype, values=edges)
        x = wide(call.tensor("self", dtype, (rows, call.choose((1, 4, 65))), "small", False))
        wanted = np.stack([np.searchsorted(e, v, "right" if right else "left") for e, v in zip(edges, x)])
    call.out("out", "int64" if wide_out else "int32", wanted, bits)


def traced(call):
    dtype = call.choose((*WIDE, "int32", "int64"))
    shape = (call.choose((*range(1, 10), 70, 300)), call.choose((*range(1, 10), 65, 513)))
    x = wide(call.tensor("self", dtype, shape, "small", False))
    out = "int64" if dtype in INTEGERS else dtype
    call.out("out", out, np.trace(x, dtype=np.int64 if dtype in INTEGERS else None), near(4, 0, 1e-6 * np.abs(np.diagonal(x)).sum() if dtype in WIDE else 0))


def crossed(call):
    dtype = call.choose(("float32", "float16", "float64", "int32"))
    shape = list(call.shape(1, 5, 900, empty=False))
    axis = call.below(len(shape))
    shape[axis] = 3
    a, b = (wide(call.tensor(name, dtype, tuple(shape), "small", False)) for name in ("self", "other"))
    call.set("dim", axis - len(shape) if call.chance(40) else axis)
    call.out("out", dtype, np.cross(a, b, axis=axis), near(2, 0, 1e-6 * np.cross(np.abs(a), np.abs(b), axis=axis).__abs__() + 1e-6 * (np.abs(a).max() * np.abs(b).max()) if dtype in WIDE else 0))


def renormed(call):
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.float_type()
    shape = call.shape(2, 4, 2000, empty=False)
    x = wide(call.tensor(own, dtype, shape, "small", False))
    p = float(call.scalar("p", "float32", call.choose((2.0, 1.0, 3.0, 0.5, 1.5, 4.0))))
    axis = call.axis("dim", len(shape))
    most = float(call.scalar("maxNorm", "float32", call.choose((1.0, 0.5, 5.0, 0.0, 100.0))))
    others = tuple(a for a in range(len(shape)) if a != axis)
    size = (np.abs(x) ** p).sum(others, keepdims=True) ** (1 / p)
    wanted = np.where(size > most, x * most / (size + 1e-7), x)
    if call.in_place:
        call.update(own, wanted, near(32, 3e-7 + (EPS[dtype] if dtype in LOW else 0)))
    else:
        call.out("out", dtype, wanted, near(32, 3e-7 + (EPS[dtype] if dtype in LOW else 0)))


REDUCTIONS = Family("reductions", "ops/reduction.rs")
REDUCTIONS.add("ReduceSum", summed, dims="dims")
REDUCTIONS.add("Mean", summed, dims="dim", mean=True)
REDUCTIONS.add("ReduceNansum", summed, dims="dim", nan=True)
REDUCTIONS.add("Prod", product)
REDUCTIONS.add("ProdDim", product, one=True)
REDUCTIONS.add("Amax", extreme, f=lambda x, a, k: np.max(x, a, keepdims=k), axes="dim")
REDUCTIONS.add("Amin", extreme, f=lambda x, a, k: np.min(x, a, keepdims=k), axes="dim")
REDUCTIONS.add("Max", extreme, f=lambda x, a, k: np.max(x, a, keepdims=k))
REDUCTIONS.add("Min", extreme, f=lambda x, a, k: np.min(x, a, keepdims=k))
REDUCTIONS.add("Aminmax", both_extremes, form="axes")
REDUCTIONS.add("AminmaxDim", both_extremes, form="dim")
REDUCTIONS.add("AminmaxAll", both_extremes, form="all")
REDUCTIONS.add("ArgMax", arg_extreme, largest=True)
REDUCTIONS.add("ArgMin", arg_extreme, largest=False)
REDUCTIONS.add("MaxDim", extreme_and_index, largest=True)
REDUCTIONS.add("MinDim", extreme_and_index, largest=False)
REDUCTIONS.add("All", reduced_logic, f=np.all)
REDUCTIONS.add("Any", reduced_logic, f=np.any)
REDUCTIONS.add("Var", moment, correction="unbiased")
REDUCTIONS.add("VarCorrection", moment)
REDUCTIONS.add("Std", moment, root=True)
REDUCTIONS.add("VarMean", moment, mean="meanOut")
REDUCTIONS.add("StdMeanCorrection", moment, root=True, mean="meanOut")
REDUCTIONS.add("Norm", norm, p="pScalar", dims="dim")
REDUCTIONS.add("LinalgVectorNorm", norm, p="ord", dims="dims", dtyped=True)
REDUCTIONS.add("LogSumExp", log_sum_exp)
REDUCTIONS.add("Trace", traced)
REDUCTIONS.add("LinalgCross", crossed)
REDUCTIONS.add("Renorm", renormed)

SCANS = Family("scans, softmax", "ops/scan.rs")
SCANS.add("Cumsum", cumulative, f=np.add)
SCANS.add("CumsumV2", cumulative, f=np.add, exclusive=True)
SCANS.add("Cumprod", cumulative, f=np.multiply, dim="scalar")
SCANS.add("Cummax", running_extreme, largest=True)
SCANS.add("Cummin", running_extreme, largest=False)
SCANS.add("Softmax", softmaxed)
SCANS.add("LogSoftmax", softmaxed, log=True)
SCANS.add("SoftmaxBackward", softmaxed, backward=True)
SCANS.add("LogSoftmaxBackward", softmaxed, log=True, backward=True)

SORTING = Family("sorting, counting", "ops/index/sort.rs")
SORTING.add("Sort", sorted_, form="sort")
SORTING.add("Argsort", sorted_, form="argsort")
SORTING.add("Topk", sorted_, form="topk")
SORTING.add("Kthvalue", kth)
SORTING.add("Median", median)
SORTING.add("MedianDim", median, one=True)
SORTING.add("NanMedian", median, nan=True)
SORTING.add("NanMedianDim", median, one=True, nan=True)
SORTING.add("Bincount", histogram, form="bincount")
SORTING.add("Histc", histogram, form="histc")
SORTING.add("Bucketize", searched, form="bucketize")
SORTING.add("SearchSorted", searched, form="rows")
SORTING.add("SearchSorteds", searched, form="one")

FAMILIES = [REDUCTIONS, SCANS, SORTING]
