"""Products of matrices: plain, batched, with an addend, of integers with scales, in groups."""

import math

import numpy as np

from device import NUMPY
from maker import EPS, FLOATS, LOW, bits, near, wide

from . import Family

DEPTHS = (1, 2, 3, 5, 7, 8, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1024, 1025, 4096, 4097, 8193)
EDGES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 129, 257, 513, 1025)


def adding(k):
    """How many units a sum of `k` products may be off: equal products, as repeated dimensions make them, are rounded the same way."""
    return math.sqrt(k) / 2 + k / 16


def blocks(matrix, width):
    """The storage of matrices in blocks of 16 rows: column blocks, row blocks, rows, columns."""
    rows, columns = matrix.shape[-2:]
    tall, across = -(-rows // 16), -(-columns // width)
    filled = np.zeros((*matrix.shape[:-2], tall * 16, across * width), matrix.dtype)
    filled[..., :rows, :columns] = matrix
    return np.moveaxis(filled.reshape(*matrix.shape[:-2], tall, 16, across, width), -2, -4).copy()


def sizes(call, most=300000):
    """Rows, depth and columns, at the edges of blocks; the product of the three is limited."""
    m, k, n = call.choose(EDGES), call.choose(DEPTHS), call.choose(EDGES)
    if call.chance(4):
        call.features.add("empty")
        m, k, n = call.choose(((0, k, n), (m, 0, n), (m, k, 0)))
    while m * k * n > most:
        if n >= m:
            n = max(n // 2, 1)
        else:
            m = max(m // 2, 1)
        if m == n == 1:
            break
    call.features.add("depth 4096" if k >= 4096 else "depth")
    return m, k, n


def close(dtype, size, depth):
    """Sums of products in float32, rounded once."""
    return near(4, 0, EPS["float32"] * size * (2 + adding(depth)))


def matmul(call, form="any"):
    dtype = call.float_type()
    if call.below(12) == 11 and "int32" in call.device.types.get(call.operator, {}).get("out", ()):
        # Sums of integers wrap around.
        dtype = "int32"
    m, k, n = sizes(call)
    if form == "mm":
        one, two = (m, k), (k, n)
    elif form == "batch":
        b = call.between(1, 3)
        one, two = (b if call.chance(70) else 1, m, k), (b, k, n)
    elif form == "mv":
        one, two = (m, k), (k,)
    elif form == "dot":
        one, two = (k,), (k,)
    else:
        shape = tuple(call.choose((1, 2, 3)) for _ in range(call.choose((0, 0, 1, 2, 3))))
        if math.prod(shape) * m * k * n > 600000:
            shape = ()
        left, right = call.part_of(shape), call.part_of(shape)
        kind = call.below(8)
        one, two = (*left, m, k), (*right, k, n)
        if kind == 6:
            one = (k,)
        elif kind == 7:
            two = (k,)
    first, second = call.inputs[:2]
    x, y = wide(call.tensor(first, dtype, one, "small", False)), wide(call.tensor(second, dtype, two, "small", False))
    if "cubeMathType" in call.kinds:
        call.set("cubeMathType", call.choose((0, 1)))
    wanted, size = np.matmul(x, y), np.matmul(np.abs(x), np.abs(y))
    call.out("out", dtype, np.asarray(wanted), close(dtype, size, k) if dtype != "int32" else bits)


def added(call, form):
    """beta * self + alpha * product."""
    own = call.in_place[0] if call.in_place else "self"
    dtype = call.float_type()
    m, k, n = sizes(call)
    b = call.between(1, 3)
    names = [name for name in call.inputs if name != own]
    one, two, full = {
        "mm": ((m, k), (k, n), (m, n)), "bmm": ((b, m, k), (b, k, n), (b, m, n)), "sum": ((b, m, k), (b, k, n), (m, n)),
        "mv": ((m, k), (k,), (m,)), "r": ((m,), (n,), (m, n)),
    }[form]
    c = wide(call.tensor(own, dtype, full if call.in_place else call.part_of(full), "small", False))
    x, y = wide(call.tensor(names[0], dtype, one, "small", False)), wide(call.tensor(names[1], dtype, two, "small", False))
    betas, alphas = [name for name in call.kinds if name.startswith("beta")][0], [name for name in call.kinds if name.startswith("alpha")][0]
    beta, alpha = call.choose((1.0, 0.0, 0.5, -2.0)), call.choose((1.0, 2.0, -0.5, 0.0))
    call.scalar(betas, "float32", beta), call.scalar(alphas, "float32", alpha)
    if "cubeMathType" in call.kinds:
        call.set("cubeMathType", 0)
    if form == "r":
        product, size = np.outer(x, y), np.outer(np.abs(x), np.abs(y))
    else:
        product, size = np.matmul(x, y), np.matmul(np.abs(x), np.abs(y))
        if form == "sum":
            product, size = product.sum(0), size.sum(0)
    # A factor of 0 leaves out what it multiplies, whatever that holds.
    c = np.zeros(c.shape) if beta == 0 else c
    wanted = np.broadcast_to(beta * c, full) + alpha * product
    low = 0
    depth = k * b if form == "sum" else k
    check = near(4, 0, (EPS["float32"] * (4 + adding(depth) + b) + (low * 1.01 if form == "r" else 0)) * (abs(alpha) * size + np.abs(beta * c)))
    if call.in_place:
        call.update(own, wanted, check)
    else:
        call.out("out", dtype, wanted, check)


def gemm(call):
    dtype = call.float_type()
    m, k, n = sizes(call)
    ta, tb = call.set("transA", call.below(2)), call.set("transB", call.below(2))
    a = wide(call.tensor("A", dtype, (k, m) if ta else (m, k), "small", False))
    b = wide(call.tensor("B", dtype, (n, k) if tb else (k, n), "small", False))
    c = wide(call.tensor("C", dtype, (m, n), "small", False))
    alpha, beta = call.set("alpha", call.choose((1.0, 2.0, -0.5, 0.0))), call.set("beta", call.choose((1.0, 0.0, 0.5, -2.0)))
    call.set("cubeMathType", 0)
    a, b = a.T if ta else a, b.T if tb else b
    low, c = 0, np.zeros(c.shape) if beta == 0 else c
    call.out("out", dtype, alpha * (a @ b) + beta * c, near(4, 0, (EPS["float32"] * (4 + adding(k)) + low) * (abs(alpha) * (np.abs(a) @ np.abs(b)) + np.abs(beta * c))))


def outer(call):
    dtype = call.choose((*FLOATS, "int32"))
    x, y = wide(call.tensor("self", dtype, (call.choose(EDGES),), "small", False)), wide(call.tensor("vec2", dtype, (call.choose(EDGES),), "small", False))
    call.out("out", dtype, np.outer(x, y), near(1))


def grown(call, m, k, n, groups=None):
    """int8 operands; at times with sums that grow through half of the depth and shrink again, which float32 does not hold."""
    x = call.some("int8", (m, k), "any", False).astype(np.int64)
    shape = (k, n) if groups is None else (groups, k, n)
    y = call.some("int8", shape, "any", False).astype(np.int64)
    if call.chance(50):
        call.features.add("sums beyond 2^24")
        x = 127 - np.abs(x) % 27
        y = 127 - np.abs(y) % 27
        half = k // 2
        y[..., half:, :] *= -1
    return x, y


def quantised(call, form):
    m, k, n = (max(size, 1) for size in sizes(call, 600000))
    x, y = grown(call, m, k, n)
    ta, tb = call.set("transposeX1", call.chance(30)), call.set("transposeX2", call.chance(30))
    call.tensor("x1", "int8", values=x.T if ta else x), call.tensor("x2", "int8", values=y.T if tb else y)
    out = call.choose(("float16", "bfloat16"))
    total = (x @ y).astype(np.float64)
    if call.chance(30):
        return to_int8(call, form, x, y, total)
    scale = wide(call.tensor({"V5": "x2Scale"}.get(form, "scale"), "float32", values=np.abs(call.some("float32", (n if call.chance(70) else 1,), "inner", False)) / 256))
    bias = None
    if call.chance(50):
        bias = call.tensor("bias", "int32", values=call.some("int32", (n,), "small", False) * 100).astype(float)
        total = total + bias
    rows = None
    if form in ("V4", "V5") and call.chance(50):
        rows = wide(call.tensor("pertokenScaleOptional" if form == "V4" else "x1Scale", "float32", (m,), "inner", False))
    if form == "V5":
        call.set("groupSize", 0)
    wanted = total * scale * (1 if rows is None else rows[:, None])
    call.out("out", out, wanted, near(4))


def to_int8(call, form, x, y, total):
    """A result of int8: sums times scales of powers of two, so that halves and limits occur, and an offset."""
    k, n = y.shape
    if call.chance(60):
        # Few units: halves and quarters of them are between the limits.
        x, y = np.sign(x) * (np.abs(x) % 4), np.sign(y) * (np.abs(y) % 3)
        ta, tb = call.given["transposeX1"].value, call.given["transposeX2"].value
        call.tensor("x1", "int8", values=x.T if ta else x), call.tensor("x2", "int8", values=y.T if tb else y)
        total = (x @ y).astype(np.float64)
    scale = np.array([call.choose((0.5, 0.25, 1.0, 2.0**-9, -0.5)) for _ in range(n if call.chance(50) else 1)])
    call.tensor({"V5": "x2Scale"}.get(form, "scale"), "float32", values=scale)
    if call.chance(50):
        total = total + call.tensor("bias", "int32", values=call.some("int32", (n,), "small", False)).astype(float)
    exact = total * scale
    if form != "V5" and call.chance(50):
        offset = np.array([call.choose((0.5, 0.0, 1.0, -3.0, 100.0, -200.0)) for _ in range(call.choose((1, n)))])
        call.tensor("offset", "float32", values=offset)
        exact = exact + offset
    if form == "V5":
        call.set("groupSize", 0)
    call.features.add("halves, limits of int8")
    call.out("out", "int8", np.clip(np.rint(exact), -128, 127).astype(np.int8), bits)


def summed_products(call):
    """The sum over a batch of products of int8, each with scales of rows and columns; the second matrices are in blocks."""
    batch, m, k, n = call.between(1, 4), call.choose((1, 3, 17, 130)), call.choose((1, 16, 17, 65)), call.choose((1, 16, 33))
    x, y = call.some("int8", (batch, m, k), "any", False).astype(np.int64), call.some("int8", (batch, k, n), "any", False).astype(np.int64)
    call.tensor("x1", "int8", values=x)
    call.tensor("x2", "int8", values=blocks(y.astype(np.int8), 32), plain=True)
    rows = wide(call.tensor("x1Scale", "float32", (batch, m), "inner", False, odd=False))
    columns = wide(call.tensor("x2Scale", "bfloat16", values=wide(call.some("bfloat16", (n,), "small", False)) / 256))
    for name in ("transposeX1", "transposeX2", "keepDims"):
        call.set(name, False)
    call.set("groupSize", 0), call.set("dims", [0])
    parts = (x @ y).astype(float) * columns * rows[..., None]
    call.out("out", "bfloat16", parts.sum(0), near(8, 0, 1e-6 * np.abs(parts).sum(0)))


def weight_only(call, nz=False):
    dtype = call.choose(("float16", "bfloat16"))
    m, k, n = (max(size, 1) for size in sizes(call))
    x = wide(call.tensor("x", dtype, (m, k), "small", False))
    w = call.tensor("weight", "int8", (k, n), "any", False).astype(float)
    if nz:
        call.tensor("weight", "int8", values=blocks(w.astype(np.int8), 32), plain=True)
    group = 32 if k % 32 == 0 and k > 32 and call.chance(30) else 0
    shape = (k // group, n) if group else call.choose(((n,), (1,), (1, n)))
    scale = wide(call.tensor("antiquantScale", dtype, values=wide(call.some(dtype, shape, "inner", False)) / 64))
    offset = wide(call.tensor("antiquantOffsetOptional", dtype, shape, "small", False)) if call.chance(50) else None
    spread = lambda v: np.repeat(v, group, 0) if group else v  # noqa: E731
    values = (w + (0 if offset is None else spread(offset))) * spread(scale)
    bias = wide(call.tensor("biasOptional", "float32" if dtype == "bfloat16" else dtype, (n,), "small", False)) if call.chance(50) else None
    call.set("antiquantGroupSize", group)
    if "innerPrecise" in call.kinds:
        call.set("innerPrecise", 0)
    wanted = x @ values + (0 if bias is None else bias)
    size = np.abs(x) @ np.abs(values)
    call.out("y", dtype, wanted, near(4, 0, size * (1e-6)))


def grouped(call, version, nz=False):
    """Rows in groups, each with a matrix of its own; in blocks where the function takes those."""
    int8 = version in (4, 5) and call.chance(40)
    dtype = "int8" if int8 else call.choose(FLOATS if not nz else LOW)
    groups = call.between(1, 4)
    m, k, n = (max(size, 1) for size in sizes(call, 200000))
    cuts = sorted(call.below(m + 1) for _ in range(groups - 1)) + [m]
    # Weights of int8 that are scaled back, and x of 16 bits.
    restored = not int8 and not nz and dtype in LOW and call.chance(30)
    if int8:
        x, w = grown(call, m, k, n, groups)
        one = call.tensor("x", "int8", values=x, listed=True)
    else:
        one = call.tensor("x", dtype, (m, k), "small", False, listed=True)
        x, w = wide(one.values), wide(call.some(dtype, (groups, k, n), "small", False))
    separate = version < 4 or call.chance(40)
    call.list("x", [one])
    if restored:
        call.features.add("weights that are scaled back")
        w = call.some("int8", (groups, k, n), "any", False).astype(float)
    kind = "int8" if int8 or restored else dtype
    laid = (lambda v: blocks(v, 32 if int8 else 16)) if nz else (lambda v: v)
    call.list("weight", [call.tensor("weight", kind, values=laid(each), plain=nz, listed=True) for each in w] if separate else [call.tensor("weight", kind, values=laid(w), plain=nz, listed=True)])
    if int8:
        group_scales = wide(call.some("float32", (groups, n), "inner", False)) / 256
        call.list("scaleOptional", [call.tensor("scaleOptional", "float32", values=each, listed=True) for each in group_scales] if separate else
                  [call.tensor("scaleOptional", "float32", values=group_scales, listed=True)])
        rows = call.tensor("perTokenScaleOptional", "float32", (m,), "inner", False, listed=True)
        call.list("perTokenScaleOptional", [rows])
    if restored:
        spread = wide(call.some(dtype, (groups, n), "inner", False)) / 64
        moved = wide(call.some(dtype, (groups, n), "small", False)) if call.chance(60) else None
        for name, values in (("antiquantScaleOptional", spread), ("antiquantOffsetOptional", moved)):
            if values is not None:
                parts = list(values) if separate else [values]
                call.list(name, [call.tensor(name, dtype, values=each, listed=True) for each in parts])
        spread = spread.astype(NUMPY[dtype]).astype(float)
        moved = 0 if moved is None else moved.astype(NUMPY[dtype]).astype(float)[:, None, :]
        w = (w + moved) * spread[:, None, :]
    bias = None
    if call.chance(40):
        bias_type = call.choose(("int32",)) if int8 else dtype if dtype != "bfloat16" else call.choose(("float32", "bfloat16"))
        bias = call.some(bias_type, (groups, n), "small", False)
        call.list("biasOptional", [call.tensor("biasOptional", bias_type, values=each, listed=True) for each in bias] if separate else [call.tensor("biasOptional", bias_type, values=bias, listed=True)])
        bias = wide(bias).astype(float)
    counts = np.diff([0, *cuts])
    if version < 3:
        call.set("groupListOptional", cuts)
    else:
        form = call.choose((0, 1)) if version >= 4 else 0
        if version >= 4:
            call.set("groupListType", form)
        call.tensor("groupListOptional", "int64", values=counts if form else np.array(cuts))
    call.set("splitItem", 3 if version >= 4 or not separate else 2)
    if version >= 2:
        call.set("groupType", 0)
    if version >= 4:
        call.set("actType", 0)
    if nz:
        call.set("quantGroupSize", 0)
    own = np.repeat(np.arange(groups), counts)
    wanted, size = np.zeros((m, n)), np.zeros((m, n))
    for row in range(groups):
        at = own == row
        wanted[at] = (x[at] @ w[row]).astype(float)
        size[at] = (np.abs(x[at]) @ np.abs(w[row])).astype(float)
        if bias is not None:
            wanted[at] += bias[row]
            size[at] += np.abs(bias[row])
    out = dtype
    name = "y" if version < 4 else "out"
    if int8:
        wanted = wanted * group_scales[own] * wide(rows.values)[:, None]
        out = call.choose(("float16", "bfloat16"))
        call.list(name, [call.out("", out, wanted, near(4), listed=True)])
    else:
        call.list(name, [call.out("", out, wanted, close(out, size, k), listed=True)])


PRODUCTS = Family("products", "ops/products")
PRODUCTS.add("Matmul", matmul)
PRODUCTS.add("Mm", matmul, form="mm")
PRODUCTS.add("BatchMatMul", matmul, form="batch")
PRODUCTS.add("Mv", matmul, form="mv")
PRODUCTS.add("Dot", matmul, form="dot")
PRODUCTS.add("Addmm", added, form="mm")
PRODUCTS.add("Baddbmm", added, form="bmm")
PRODUCTS.add("Addbmm", added, form="sum")
PRODUCTS.add("Addmv", added, form="mv")
PRODUCTS.add("Addr AddrV2", added, form="r")
PRODUCTS.add("Gemm", gemm)
PRODUCTS.add("Ger", outer)
PRODUCTS.add("QuantMatmulV3", quantised, form="V3")
PRODUCTS.add("QuantMatmulV4", quantised, form="V4")
PRODUCTS.add("QuantMatmulV5", quantised, form="V5")
PRODUCTS.add("WeightQuantBatchMatmulV2 WeightQuantBatchMatmulV3", weight_only)
PRODUCTS.add("QuantMatmulReduceSumWeightNz", summed_products)
PRODUCTS.add("WeightQuantBatchMatmulNz", weight_only, nz=True)
for version, name in ((1, "GroupedMatmul"), (2, "GroupedMatmulV2"), (3, "GroupedMatmulV3"), (4, "GroupedMatmulV4"), (5, "GroupedMatmulV5")):
    PRODUCTS.add(name, grouped, version=version)
PRODUCTS.add("GroupedMatmulWeightNz", grouped, version=5, nz=True)

FAMILIES = [PRODUCTS]
