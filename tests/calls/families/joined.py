"""Products that are joined with collectives, in a communicator with one rank: what the products, the scales and the orders of rows are.
What travels between ranks is tested by tests/aclnn/joined.cpp."""

import numpy as np

from maker import near, wide

from . import Family
from .derivatives import close, small
from .networks import optional
from .others import low

HALF = ("float16", "bfloat16")


def group(call, size=None):
    call.set("group", call.device.group())
    if size is not None:
        call.set(size, 1)


def turns(call):
    call.set("commTurn", 0), call.set("streamMode", 1)


def operands(call, dtype, batched=False):
    lead = (call.between(1, 2), call.choose((1, 3))) if batched and call.chance(40) else (call.choose((1, 3, 17, 130)),)
    k, n = call.choose((1, 8, 65, 300)), call.choose((1, 5, 33))
    return small(call, "x1", dtype, (*lead, k)), small(call, "x2", dtype, (k, n))


def finish(call, dtype, made, size, more=1.0):
    call.out("output", dtype, made, near(4, 0, (4e-6 + 0) * (size + 1e-2)))


def product(call, form):
    dtype = call.choose(HALF)
    x, y = operands(call, dtype, form == "reduce")
    group(call), turns(call)
    bias = optional(call, "bias", dtype, (y.shape[1],)) if form != "reduce" or "x3" in call.kinds else None
    made, size = x @ y + (0 if bias is None else bias), np.abs(x) @ np.abs(y) + (0 if bias is None else np.abs(bias))
    if form == "gather":
        call.set("gatherIndex", 0)
        if call.chance(50):
            call.out("gatherOut", dtype, x)
    else:
        call.set("reduceOp", "sum")
    if "x3" in call.kinds:
        other = optional(call, "x3", dtype, made.shape)
        if other is not None:
            made, size = made + other, size + np.abs(other)
    finish(call, dtype, made, size)


def quantised(call, version):
    out = call.choose(HALF)
    lead, k, n = (call.choose((1, 4, 17, 130)),) if call.chance(60) else (call.between(1, 2), 3), call.choose((1, 6, 65)), call.choose((1, 5, 33))
    x = call.tensor("x1", "int8", values=call.some("int8", (*lead, k), "any", False) % 21).astype(float)
    y = call.tensor("x2", "int8", values=call.some("int8", (k, n), "any", False) % 21).astype(float)
    group(call), turns(call)
    call.set("reduceOp", "sum")
    suffix = "" if version == 1 else "Optional"
    bias = call.tensor("bias" + suffix, "int32", (n,), "small", False).astype(float) if call.chance(60) else 0
    scale = wide(call.tensor("x2Scale" if version == 4 else "dequantScale", "bfloat16" if out == "bfloat16" else "float32", values=0.01 + 0.02 * wide(call.some("float32", (n,), "prob", False))))
    made = (x @ y + bias) * scale
    if version > 1 and call.chance(60):
        rows = wide(call.tensor("x1ScaleOptional" if version == 4 else "pertokenScaleOptional", "float32", values=0.5 + wide(call.some("float32", (int(np.prod(lead)),), "prob", False))))
        made = made * rows.reshape(*lead, 1)
    other = optional(call, "x3" + suffix, out, made.shape)
    size = np.abs(made) + (0 if other is None else np.abs(other))
    made = made + (0 if other is None else other)
    if version == 4:
        call.set("groupSize", 0), call.set("commQuantMode", 0)
    finish(call, out, made, size, 2)


def restored(call):
    """Weights of int8 with scales and offsets, for columns or for groups of rows."""
    dtype = call.choose(HALF)
    m, k, n = call.choose((1, 4)), call.choose((8, 70)), call.choose((1, 5, 33))
    x = small(call, "x1", dtype, (m, k))
    w = call.tensor("x2", "int8", values=call.some("int8", (k, n), "any", False) % 21).astype(float)
    size = call.set("antiquantGroupSize", call.choose((0, 32)) if k > 32 else 0)
    dims = (n,) if size == 0 else (-(-k // size), n)
    scale = wide(call.tensor("antiquantScale", dtype, values=0.02 * wide(call.some("float32", dims, "prob", False))))
    offset = optional(call, "antiquantOffset", dtype, dims)
    spread = lambda v: v if size == 0 else v.repeat(size, 0)[:k]  # noqa: E731
    group(call), turns(call)
    call.set("reduceOp", "sum")
    w = (w + (0 if offset is None else spread(offset))) * spread(scale)
    bias, other = optional(call, "bias", dtype, (n,)), optional(call, "x3", dtype, (m, n))
    made, total = x @ w, np.abs(x) @ np.abs(w)
    for one in (bias, other):
        if one is not None:
            made, total = made + one, total + np.abs(one)
    finish(call, dtype, made, total, 2)


def barrier(call):
    x = call.tensor("xRef", "float16", (3,))
    group(call, "worldSize")
    call.update("xRef", wide(x))


def exchanged(call, back):
    dtype = call.choose(HALF)
    experts, k, n = call.between(1, 3), call.choose((1, 6)), call.choose((1, 4, 17, 130))
    counts = [call.between(0 if number else 1, 4) for number in range(experts)]
    x = small(call, "gmmX", dtype, (sum(counts), k))
    swapped = call.set("transGmmWeight", call.chance(40))
    w = small(call, "gmmWeight", dtype, (experts, n, k) if swapped else (experts, k, n))
    w = w.swapaxes(1, 2) if swapped else w
    group(call, "epWorldSize")
    call.set("sendCounts", counts), call.set("recvCounts", counts)
    owner = np.repeat(np.arange(experts), counts)
    made, size = np.einsum("rk,rkn->rn", x, w[owner]), np.einsum("rk,rkn->rn", np.abs(x), np.abs(w[owner]))
    call.set("transMmWeight", call.chance(40))
    if call.chance(40):
        a = small(call, "mmXOptional", dtype, (3, 5))
        b = small(call, "mmWeightOptional", dtype, (2, 5) if call.given["transMmWeight"].value else (5, 2))
        b = b.T if call.given["transMmWeight"].value else b
        call.out("mmYOptional", dtype, a @ b, close(dtype, np.abs(a) @ np.abs(b)))
    call.out("y" if back else "gmmY", dtype, made, close(dtype, size + 1e-2))
    if not back and call.set("permuteOutFlag", call.chance(50)):
        call.out("permuteOutOptional", dtype, x)


JOINED = Family("products joined with collectives, on one rank", "ops/joined")
JOINED.add("AllGatherMatmul", product, form="gather")
JOINED.add("MatmulAllReduce MatmulAllReduceV2", product, form="reduce")
JOINED.add("MatmulReduceScatter", product, form="scatter")
JOINED.add("QuantMatmulAllReduce", quantised, version=1)
JOINED.add("QuantMatmulAllReduceV2", quantised, version=2)
JOINED.add("QuantMatmulAllReduceV3", quantised, version=3)
JOINED.add("QuantMatmulAllReduceV4", quantised, version=4)
JOINED.add("WeightQuantMatmulAllReduce", restored)
JOINED.add("DistributeBarrier DistributeBarrierV2", barrier)
JOINED.add("AlltoAllvGroupedMatMul", exchanged, back=False)
JOINED.add("GroupedMatMulAlltoAllv", exchanged, back=True)

FAMILIES = [JOINED]
