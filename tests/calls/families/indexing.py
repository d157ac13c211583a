"""Gathering and scattering by indices and masks."""

import math

import numpy as np

from device import NUMPY
from maker import EPS, FLOATS, INTEGERS, LOW, UNSIGNED, WIDE, bits, near, wide

from . import Family

PLAIN = (*WIDE, *INTEGERS, "bool")
INDEX = ("int64", "int32")


def indices(call, name, shape, limit, negative=False, distinct=False, types=INDEX, listed=False):
    """Draws indices below a limit; at times counted from the back."""
    dtype = call.choose(types)
    count = math.prod(shape)
    raw = call.some("int32", (count,), "any", False).astype(np.int64)
    if distinct:
        values = np.argsort(call.some("float32", (limit,), "normal", False), kind="stable")[:count]
    else:
        values = raw % max(limit, 1)
    values = values.reshape(shape)
    if negative and call.chance(30):
        values = np.where(values % 2 == 1, values - limit, values)
        call.features.add("negative indices")
    made = call.tensor(name, dtype, values=values, listed=listed)
    return made if listed else made.astype(np.int64)


def along(call, name="self", most=2000, low=1, types=PLAIN):
    """A tensor with dimensions, and one of them."""
    dtype = call.choose(types)
    shape = call.shape(low, 5, most, empty=False)
    x = call.tensor(name, dtype, shape)
    axis = call.axis("dim", len(shape))
    return dtype, x, axis


def gather(call):
    dtype, x, axis = along(call)
    shape = [call.between(1, dim) for dim in x.shape]
    shape[axis] = call.choose((1, 2, 5, 17, x.shape[axis], 300))
    if math.prod(shape) > 100000:
        shape[axis] = 1
    at = indices(call, "index", tuple(shape), x.shape[axis])
    cut = tuple(slice(None) if a == axis else slice(0, dim) for a, dim in enumerate(shape))
    call.out("out", dtype, wide(np.take_along_axis(x[cut], at, axis)))


def select(call):
    dtype, x, axis = along(call, types=(*PLAIN, "complex64", *UNSIGNED))
    at = indices(call, "index", (call.choose((1, 2, 9, 33, 513)),) if x.size < 3000 else (2,), x.shape[axis])
    call.out("out", dtype, wide(np.take(x, at, axis)))


def gather_axis(call):
    dtype, x, axis = along(call)
    at = indices(call, "index", call.shape(0, 3, 60), x.shape[axis])
    call.out("out", dtype, wide(np.take(x, at, axis)))


def take(call):
    dtype = call.choose(PLAIN)
    x = call.tensor("self", dtype, call.shape(1, 5, 2000, empty=False))
    at = indices(call, "index", call.shape(0, 4, 200), x.size, negative=True)
    call.out("out", dtype, wide(x.reshape(-1)[at]))


def gather_nd(call):
    dtype = call.choose(("float32", "int64", "int8", "bool", "float16"))
    x = call.tensor("self", dtype, call.shape(1, 5, 1000, empty=False))
    depth = call.between(1, x.ndim)
    rows = call.choose((1, 3, 17, 257))
    at = np.stack([call.some("int32", (rows,), "any", False).astype(np.int64) % x.shape[axis] for axis in range(depth)], -1)
    if call.set("negativeIndexSupport", call.chance(50)) and call.chance(50):
        call.features.add("negative indices")
        at = np.where(at % 2 == 1, at - np.array(x.shape[:depth]), at)
    call.tensor("indices", call.choose(INDEX), values=at)
    call.out("out", dtype, wide(x[tuple(at[..., axis] for axis in range(depth))]))


def embedding(call):
    dtype = call.choose((*FLOATS, "int32"))
    rows, width = call.choose((1, 3, 17, 100, 1000)), call.choose((1, 4, 7, 64, 65, 1025))
    rows = min(rows, 40000 // width)
    w = call.tensor("weight", dtype, (rows, width))
    at = indices(call, "indices", call.shape(1, 3, 60) if call.below(8) < 7 else (call.choose((257, 1025)),), rows)
    call.out("out", dtype, wide(w[at]))


def embedding_backward(call):
    dtype = call.float_type()
    rows, width = call.choose((2, 5, 33)), call.choose((1, 4, 64, 130))
    shape = call.shape(1, 2, 60, empty=False) if call.below(8) < 7 else (call.choose((257, 1025, 4097)),)
    g = wide(call.tensor("grad", dtype, (*shape, width), "small", False))
    at = indices(call, "indices", shape, rows)
    call.set("numWeights", rows)
    # A padding index beyond the rows leaves none out.
    padding = call.choose((0, 1, 1 << 20, -1, rows - 1, rows))
    call.set("paddingIdx", padding)
    scale = call.set("scaleGradByFreq", call.chance(30))
    counts = np.bincount(at.reshape(-1), minlength=rows)
    wanted, size = np.zeros((rows, width)), np.zeros((rows, width))
    part = g.reshape(-1, width) / (counts[at.reshape(-1)][:, None] if scale else 1)
    np.add.at(wanted, at.reshape(-1), part), np.add.at(size, at.reshape(-1), np.abs(part))
    if 0 <= padding < rows:
        wanted[padding] = 0
    call.out("out", dtype, wanted, near(4, 0, 1e-5 * size))


def masked_fill(call, tensor):
    dtype = call.choose((*PLAIN, "complex64"))
    shape = call.shape(0, 6, 3000)
    x = call.tensor("selfRef", dtype, shape)
    mask = call.tensor("mask", "bool", call.part_of(shape))
    if tensor:
        value = call.tensor("value", dtype, values=np.asarray(call.some(dtype, (1,), "small", False)[0]), plain=True)
    else:
        value = call.scalar("value", dtype if dtype not in LOW else "float32", call.choose((0, 1, 2, *((math.inf, math.nan, -1.5) if dtype in WIDE else ()))))
    call.update("selfRef", wide(np.where(mask, np.asarray(value).astype(NUMPY[dtype]), x).astype(NUMPY[dtype])))


def masked_scatter(call):
    dtype = call.choose(("float32", "float16", "int32", "int64", "int8", "bool"))
    shape = call.shape(0, 5, 2000, empty=False)
    x = call.tensor("selfRef", dtype, shape)
    mask = np.broadcast_to(call.tensor("mask", "bool", call.part_of(shape)), shape)
    source = call.tensor("source", dtype, (max(int(mask.sum()), 1) + call.below(4),))
    wanted = x.copy()
    wanted[mask] = source.reshape(-1)[: int(mask.sum())]
    call.update("selfRef", wide(wanted))


def masked_select(call, shaped=True):
    dtype = call.choose(PLAIN)
    shape = call.shape(0, 5, 2000, empty=False)
    x = call.tensor("self", dtype, shape)
    mask = np.broadcast_to(call.tensor("mask", "bool", call.part_of(shape)), shape)
    found = wide(x[mask])
    open_end(call, "out", dtype, found, (math.prod(shape),))


def open_end(call, name, dtype, found, capacity, axis=0):
    """Adds an output that is larger than what is found: what lies behind that is open."""
    def check(have, want):
        return near(0)(have[tuple(slice(0, dim) for dim in found.shape)], found)
    call.out(name, dtype, found, check, plain=True, shape=capacity)


def nonzero(call, transposed=False):
    dtype = call.choose(("float32", "int32", "bool", "uint8", "float16", "int64"))
    shape = call.shape(1, 5, 1500, empty=False)
    x = wide(call.tensor("self", dtype, shape, "small"))
    at = np.argwhere(x != 0)
    found = at.T if transposed else at
    size = math.prod(shape)
    if transposed:
        # The rows are as long as what is found.
        def check(have, want):
            return near(0)(have.reshape(-1)[: found.size], found.reshape(-1))
        call.out("out", "int64", found, check, plain=True, shape=(len(shape), size))
    else:
        open_end(call, "out", "int64", found, (size, len(shape)))


def index(call):
    dtype = call.choose(PLAIN)
    x = call.tensor("self", dtype, call.shape(1, 4, 1000, empty=False))
    used = call.between(1, x.ndim)
    shape = call.shape(1, 2, 30, empty=False)
    lists, key = [], []
    way = call.below(10)
    if way == 9:
        # The other indices have one for each true element of the mask.
        shape = (min(call.choose((1, 2, 5)), x.shape[0]),)
    for axis in range(used):
        if axis and call.chance(20):
            lists.append(None), key.append(slice(None))
            continue
        part = call.part_of(shape) or (1,)
        if way == 9 and not axis:
            # A mask stands for the indices of its true elements, as many as the others have.
            mask = np.zeros(x.shape[0], bool)
            mask[np.argsort(call.some("float32", (x.shape[0],), "normal", False), kind="stable")[: shape[-1]]] = True
            call.features.add("mask as indices")
            lists.append(call.tensor("indices", call.choose(("bool", "uint8")), values=mask, listed=True)), key.append(mask)
            continue
        made = indices(call, "indices", part, x.shape[axis], negative=True, listed=True)
        lists.append(made), key.append(made.values.astype(np.int64))
    while lists and lists[-1] is None:
        lists.pop(), key.pop()
    call.list("indices", lists)
    call.out("out", dtype, wide(x[tuple(key)]))


def index_put(call):
    dtype = call.choose((*WIDE, *INTEGERS))
    shape = call.shape(1, 3, 500, empty=False)
    used = call.between(1, len(shape))
    add = call.set("accumulate", call.chance(50))
    call.set("unsafe", call.chance(30))
    x = call.tensor("selfRef", dtype, shape, "small", False)
    count = call.choose((1, 2, 5))
    if not add:
        # Rows that are written twice have no defined result.
        first = np.argsort(call.some("float32", (shape[0],), "normal", False), kind="stable")[:count]
        count = len(first)
    else:
        first = call.some("int32", (count,), "any", False).astype(np.int64) % shape[0]
    keys = [first] + [call.some("int32", (count,), "any", False).astype(np.int64) % shape[axis] for axis in range(1, used)]
    named = keys
    if call.chance(30):
        call.features.add("negative indices")
        named = [np.where(key % 2 == 1, key - size, key) for key, size in zip(keys, shape)]
    call.list("indices", [call.tensor("indices", call.choose(INDEX), values=key, listed=True) for key in named])
    v = wide(call.tensor("values", dtype, (count, *shape[used:]), "small", False))
    wanted = wide(x).copy()
    if add:
        np.add.at(wanted, tuple(keys), v)
    else:
        wanted[tuple(keys)] = v
    size = np.abs(wide(x)).astype(float)
    np.add.at(size, tuple(keys), np.abs(v)) if add else None
    call.update("selfRef", wanted, near(2, 0, 2e-7 * (2 + count) * size if add and dtype in WIDE else 0))


REDUCE = {0: None, 1: np.add, 2: np.multiply}


def scatter(call, form):
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose((*WIDE, *INTEGERS))
    shape = call.shape(1, 4, 800, empty=False)
    x = call.tensor(own, dtype, shape, "small", False)
    axis = call.axis("dim", len(shape))
    cut = tuple(call.between(1, dim) for dim in shape)
    reduce = call.choose((0, 1, 2)) if form in ("src", "value") else {"add": 1}.get(form)
    if form == "reduce":
        reduce = call.choose((0, 1, 2, 3, 4))
    if form != "add" and reduce == 0 and form != "reduce":
        # No index of a line occurs twice: the order of writes is open.
        keys = call.some("float32", shape, "normal", False)
        at = np.take(np.argsort(keys, axis, kind="stable"), np.arange(cut[axis]), axis)[tuple(slice(0, dim) for dim in cut)]
        call.tensor("index", call.choose(INDEX), values=at)
    else:
        at = indices(call, "index", cut, shape[axis])
    if form == "value":
        value = call.scalar("value", dtype if dtype not in LOW else "float32", call.choose((1, 2, 0)))
        source = np.full(cut, wide(np.asarray(value)))
    else:
        source = wide(call.tensor("src", dtype, cut, "small", False))
    wanted = wide(x).copy()
    key = tuple(at if a == axis else np.arange(cut[a]).reshape([-1 if b == a else 1 for b in range(len(cut))]) for a in range(len(cut)))
    key = tuple(np.broadcast_to(part, cut) for part in key)
    if form != "add":
        call.set("reduce", reduce)
    slackness = 0
    with np.errstate(all="ignore"):
        if form == "reduce":
            include = call.set("includeSelf", call.chance(60))
            hit = np.zeros(shape, np.int64)
            np.add.at(hit, key, 1)
            start = {0: 0, 1: 1, 2: 0, 3: -np.inf, 4: np.inf}[reduce] if dtype in WIDE else {0: 0, 1: 1, 2: 0, 3: np.iinfo(NUMPY[dtype]).min, 4: np.iinfo(NUMPY[dtype]).max}[reduce]
            if not include:
                wanted = np.where(hit > 0, NUMPY[dtype].type(start) if dtype in INTEGERS else start, wanted)
            size = np.abs(wide(x)).astype(float)
            np.add.at(size, key, np.abs(source))
            ufunc = {0: np.add, 1: np.multiply, 2: np.add, 3: np.maximum, 4: np.minimum}[reduce]
            ufunc.at(wanted, key, source)
            if reduce == 2:
                parts = hit + (1 if include else 0)
                wanted = np.where(hit > 0, wanted / np.maximum(parts, 1) if dtype in WIDE else np.floor_divide(wanted, np.maximum(parts, 1)), wanted)
            slackness = size if reduce in (0, 2) else 4 * np.abs(wanted) if reduce == 1 else 0
        elif reduce in (None, 0):
            wanted[key] = source
        else:
            size = np.abs(wide(x)).astype(float)
            np.add.at(size, key, np.abs(source))
            REDUCE[reduce].at(wanted, key, source)
            slackness = size if reduce == 1 else 8 * np.abs(wanted)
    low = 2e-7 if dtype in WIDE else 0
    check = near(2, 0, low * (4 + shape[axis]) * np.nan_to_num(np.asarray(slackness, float), posinf=0, neginf=0))
    if call.in_place:
        call.update(own, wanted, check)
    else:
        call.out("out", dtype, wanted, check)


def rows_added(call):
    """Adds parts to those of a tensor that rows of indices name."""
    dtype = call.choose(("float32", "float16", "int32", "int8", "uint8"))
    shape = call.shape(1, 4, 800, empty=False)
    depth, count = call.between(1, len(shape)), call.choose((1, 2, 7, 33))
    x = wide(call.tensor("varRef", dtype, shape, "small", False))
    at = np.stack([call.some("int32", (count,), "any", False).astype(np.int64) % size for size in shape[:depth]], -1)
    call.tensor("indices", call.choose(INDEX), values=at)
    part = wide(call.tensor("updates", dtype, (count, *shape[depth:]), "small", False))
    key, wanted, size = tuple(at.T), x.copy(), np.abs(x).astype(float)
    with np.errstate(all="ignore"):
        np.add.at(wanted, key, part), np.add.at(size, key, np.abs(part))
    call.update("varRef", wanted, near(2, EPS[dtype] if dtype in LOW else 0, (EPS[dtype] if dtype in LOW else 4e-7) * count * size if dtype in FLOATS else 0))


def index_add(call, V2=False):
    dtype = call.choose((*FLOATS, "int32", "int64"))
    shape = call.shape(1, 4, 800, empty=False)
    x = call.tensor("self", dtype, shape, "small", False)
    axis = call.axis("dim", len(shape))
    count = call.choose((1, 2, 7))
    at = indices(call, "index", (count,), shape[axis])
    part = list(shape)
    part[axis] = count
    source = wide(call.tensor("source", dtype, tuple(part), "small", False))
    alpha = call.choose((1, 2, -1, 0, *((0.5,) if dtype in WIDE else ())))
    call.scalar("alpha", "float32" if dtype in WIDE else "int64", alpha)
    wanted, size = np.moveaxis(wide(x).copy(), axis, 0), np.moveaxis(np.abs(wide(x)).astype(float), axis, 0)
    np.add.at(wanted, at, np.moveaxis(source * wanted.dtype.type(alpha), axis, 0)), np.add.at(size, at, np.moveaxis(np.abs(source * float(alpha)), axis, 0))
    low = 1e-6
    call.out("out", dtype, np.moveaxis(wanted, 0, axis), near(2, 0, low * np.moveaxis(size, 0, axis) if dtype in WIDE else 0))


def index_fill(call, tensor):
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.choose((*FLOATS, "int32", "int64", "bool"))
    shape = call.shape(1, 5, 1500, empty=False)
    x = call.tensor(own, dtype, shape)
    axis = call.axis("dim", len(shape))
    count = call.choose((1, 2, 5))
    if tensor:
        at = np.array(call.set("index", [call.below(shape[axis]) for _ in range(count)]))
    else:
        at = indices(call, "index", (count,), shape[axis])
    value = call.scalar("value", dtype if dtype not in LOW else "float32", call.choose((0, 1, 2)))
    wanted = wide(x).copy()
    wanted[(slice(None),) * axis + (at,)] = value
    if call.in_place:
        call.update(own, wanted)
    else:
        call.out("out", dtype, wanted)


def index_copy(call):
    dtype = call.choose((*FLOATS, "int32", "int64", "bool"))
    shape = call.shape(1, 4, 1500, empty=False)
    x = call.tensor("selfRef", dtype, shape)
    axis = call.axis("dim", len(shape))
    at = np.argsort(call.some("float32", (shape[axis],), "normal", False), kind="stable")[: call.between(1, shape[axis])]
    call.tensor("index", "int64", values=at)
    part = list(shape)
    part[axis] = len(at)
    source = call.tensor("source", dtype, tuple(part))
    wanted = wide(x).copy()
    wanted[(slice(None),) * axis + (at,)] = wide(source)
    if "outRef" in call.kinds:
        call.update("selfRef", None)
        call.out("outRef", dtype, wanted)
    else:
        call.update("selfRef", wanted)


def put(call):
    dtype = call.choose((*WIDE, *INTEGERS))
    x = call.tensor("selfRef", dtype, call.shape(1, 4, 500, empty=False), "small", False)
    add = call.chance(50)
    count = call.choose((1, 3, 9))
    if add:
        at = indices(call, "index", (count,), x.size)
    else:
        at = np.argsort(call.some("float32", (x.size,), "normal", False), kind="stable")[:count]
        call.tensor("index", call.choose(INDEX), values=at)
    source = wide(call.tensor("source", dtype, at.shape, "small", False))
    call.set("accumulate", add)
    wanted = wide(x).copy().reshape(-1)
    if add:
        np.add.at(wanted, at, source)
    else:
        wanted[at] = source
    size = np.abs(wide(x)).astype(float).reshape(-1)
    np.add.at(size, at, np.abs(source)) if add else None
    call.update("selfRef", wanted.reshape(x.shape), near(2, 0, 2e-6 * size.reshape(x.shape) if add and dtype in WIDE else 0))


def unique(call, form):
    dtype = call.choose(("int64", "int32", "float32", "uint8", "int8", "bool", "float16"))
    shape = call.shape(1, 4, 1000, empty=False) if form != "rows" else call.shape(2, 3, 300, empty=False)
    x = call.some(dtype, shape, "integer", False)
    if dtype in WIDE and call.chance(30):
        x = np.array(x)
        x.reshape(-1)[:: call.choose((2, 3, 7))] = np.nan
        call.features.add("infinities, NaN, subnormals")
    x = wide(call.tensor("self", dtype, values=x, repeat=True))
    size = x.size
    if form == "consecutive":
        inverse, counts = call.set("returnInverse", call.chance(60)), call.set("returnCounts", call.chance(60))
        call.set("dim", 0 if len(shape) == 1 and call.chance(30) else 1000)
        flat = x.reshape(-1)
        starts = np.concatenate([[True], flat[1:] != flat[:-1]])
        values, back = flat[starts], (np.cumsum(starts) - 1).reshape(shape)
        times = np.diff(np.concatenate([np.flatnonzero(starts), [size]]))
    else:
        call.set("sorted", True)
        inverse = call.set("returnInverse", call.chance(60))
        counts = call.set("returnCounts", call.chance(60)) if form == "counts" else False
        # As in PyTorch, each NaN is an element of its own. `np.unique` leaves open which of them comes first.
        order = np.argsort(x.reshape(-1), kind="stable")
        ascending = x.reshape(-1)[order]
        starts = np.concatenate([[True], ascending[1:] != ascending[:-1]])
        values, times = ascending[starts], np.diff(np.concatenate([np.flatnonzero(starts), [size]]))
        back = np.empty(size, np.int64)
        back[order] = np.cumsum(starts) - 1
        back = back.reshape(shape)
    open_end(call, "valueOut", dtype, values, (size,))
    call.out("inverseOut", "int64", back if inverse else None, bits, shape=shape, plain=True)
    if form in ("counts", "consecutive"):
        if counts:
            open_end(call, "countsOut", "int64", times, (size,))
        else:
            call.out("countsOut", "int64", None, shape=(size,), plain=True)


def in_list(call, element):
    dtype = call.choose(("int32", "int64", "float32"))
    if element == "scalar":
        x = wide(np.asarray(call.scalar("element", dtype, call.choose((1, 2, 100)))))
        y = wide(call.tensor("testElements", dtype, call.shape(0, 3, 60), "integer", False))
    else:
        x = wide(call.tensor("element", dtype, call.shape(0, 3, 600), "integer", False))
        y = wide(np.asarray(call.scalar("testElement", dtype, call.choose((1, 2, 100)))))
    # That elements are distinct is said of both operands; it changes nothing but the way.
    call.set("assumeUnique", call.chance(30) and len(np.unique(x)) == np.size(x) and len(np.unique(y)) == np.size(y))
    invert = call.set("invert", call.chance(50))
    call.out("out", "bool", np.isin(x, y, invert=invert))


def scatter_nd(call, update=False):
    dtype = call.choose(("float32", "float16", "int32", "int64"))
    own = "varRef" if update else "data"
    x = call.tensor(own, dtype, call.shape(1, 4, 500, empty=False))
    rows = np.argsort(call.some("float32", (x.shape[0],), "normal", False), kind="stable")[: call.between(1, x.shape[0])]
    call.tensor("indices", call.choose(INDEX), values=rows[:, None])
    source = call.tensor("updates", dtype, (len(rows), *x.shape[1:]))
    wanted = wide(x).copy()
    wanted[rows] = wide(source)
    if update:
        call.update(own, wanted)
    else:
        call.out("out", dtype, wanted)


INDEXING = Family("gathering and scattering", "ops/index/mod.rs")
INDEXING.add("Gather", gather)
INDEXING.add("GatherV2", gather_axis)
INDEXING.add("IndexSelect", select)
INDEXING.add("Take", take)
INDEXING.add("GatherNd", gather_nd)
INDEXING.add("Embedding", embedding)
INDEXING.add("EmbeddingDenseBackward", embedding_backward)
INDEXING.add("MaskedFillScalar", masked_fill, tensor=False)
INDEXING.add("MaskedFillTensor", masked_fill, tensor=True)
INDEXING.add("MaskedScatter", masked_scatter)
INDEXING.add("MaskedSelect", masked_select)
INDEXING.add("Nonzero", nonzero)
INDEXING.add("NonzeroV2", nonzero, transposed=True)
INDEXING.add("Index", index)
INDEXING.add("IndexPutImpl", index_put)
INDEXING.add("Scatter", scatter, form="src")
INDEXING.add("ScatterValue", scatter, form="value")
INDEXING.add("ScatterAdd", scatter, form="add")
INDEXING.add("ScatterReduce", scatter, form="reduce")
INDEXING.add("IndexAdd", index_add)
INDEXING.add("IndexFill", index_fill, tensor=False)
INDEXING.add("IndexFillTensor", index_fill, tensor=True)
INDEXING.add("IndexCopy", index_copy)
INDEXING.add("Put", put)
INDEXING.add("Unique", unique, form="plain")
INDEXING.add("Unique2", unique, form="counts")
INDEXING.add("UniqueConsecutive", unique, form="consecutive")
INDEXING.add("IsInScalarTensor", in_list, element="scalar")
INDEXING.add("IsInTensorScalar", in_list, element="tensor")
INDEXING.add("TfScatterAdd", rows_added)
INDEXING.add("ScatterNd", scatter_nd)
INDEXING.add("ScatterNdUpdate", scatter_nd, update=True)

FAMILIES = [INDEXING]
