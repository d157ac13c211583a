"""Calls with more elements than float32 counts exactly: `run.py --large` makes them, and only these."""

import numpy as np

from device import ACL
from lowfloat import encode
from maker import near, wide

from . import Family

#: float32 holds every integer up to this one.
EXACT = 1 << 24


def grouped(call):
    """A group that ends beyond 2^24 rows."""
    rows, end = EXACT + 3, EXACT + 1
    x = np.ones((rows, 1), np.float16)
    call.list("x", [call.tensor("x", "float16", values=x, plain=True, listed=True)])
    w = call.tensor("weight", "float16", values=np.array([2.0, 3.0]).reshape(2, 1, 1), plain=True, listed=True)
    call.list("weight", [w])
    call.set("splitItem", 3), call.set("groupType", 0), call.set("actType", 0)
    form = call.set("groupListType", call.choose((0, 1)))
    call.tensor("groupListOptional", "int64", values=np.array([end, rows - end] if form else [end, rows]))
    wanted = np.full((rows, 1), 2.0, np.float32)
    wanted[end:] = 3
    call.list("out", [call.out("", "float16", wanted, near(0), plain=True, listed=True)])


def taken(call):
    """Indices beyond 2^24."""
    size = EXACT + 5
    x = call.tensor("self", "int8", values=(np.arange(size) % 101).astype(np.int8), plain=True)
    at = np.array([EXACT + 1, EXACT + 3, 0, EXACT - 1, size - 1])
    call.tensor("index", "int64", values=at)
    call.set("dim", 0)
    call.out("out", "int8", x[at])


def counted(call):
    """An index of an extreme beyond 2^24."""
    size = EXACT + 5
    x = np.zeros(size, np.int8)
    x[EXACT + 1] = 1
    call.tensor("self", "int8", values=x, plain=True)
    call.set("dim", 0), call.set("keepdim", False)
    call.out("out", "int64", np.asarray(EXACT + 1))


def summed(call):
    """A sum of 2^24 + 5 ones in int64, and their running count."""
    size = EXACT + 5
    call.tensor("self", "bool", values=np.ones(size, bool), plain=True)
    call.set("dims", []), call.set("keepDims", False), call.set("dtype", "int64")
    call.out("out", "int64", np.asarray(size))


def in_blocks(call):
    """Blocks of a group that ends beyond 2^24 rows: 1 in the first, 256 in the second."""
    rows, end, block = EXACT + 3, EXACT + 1, 32
    x = np.ones((rows, 1), np.float16)
    x[end:] = 256
    call.tensor("x", "float16", values=x, plain=True), call.tensor("groupIndex", "int32", values=np.array([end, rows]))
    call.set("roundMode", "rint"), call.set("dstType", ACL["float8_e4m3fn"]), call.set("blocksize", block)
    # The largest of each block becomes 2^8.
    call.out("y", "float8_e4m3fn", np.full((rows, 1), int(encode("float8_e4m3fn", [256.0])[0]), np.uint8), plain=True)
    scales = np.zeros((rows // (2 * block) + 2, 1, 2), np.uint8)
    scales.reshape(-1)[: -(-end // block)] = 127 - 8
    scales[end // (2 * block) + 1, 0, 0] = 127
    call.out("mxscale", "float8_e8m0", scales, plain=True)


LARGE = Family("large tensors", "large")
LARGE.add("GroupedMatmulV4", grouped)
LARGE.add("GroupedDynamicMxQuant", in_blocks)
LARGE.add("IndexSelect", taken)
LARGE.add("ArgMax", counted)
LARGE.add("ReduceSum", summed)

FAMILIES = [LARGE]
