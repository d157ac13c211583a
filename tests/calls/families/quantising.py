"""Quantisation to 8 and 4 bits: in blocks with a common scale, by rows and columns, behind norms, gates and small products."""

import math

import numpy as np

from device import ACL, NUMPY, PACKED
from lowfloat import TABLES, decode, encode, in_blocks, in_groups, largest, rule_of, scale_codes
from maker import EPS, FLOATS, LOW, bits, near, wide

from . import Family
from .activations import sigmoid
from .others import ROUND, limited, low, steps

FOURS, EIGHTS = ("float4_e2m1", "float4_e1m2"), ("float8_e4m3fn", "float8_e5m2")
HALF = ("float16", "bfloat16")
#: What sums and functions in float32 are off by, relative to their terms.
BLUR = 4e-6


def pairs(codes):
    """Codes of 4 bits, two in a byte, the first in the lower half."""
    codes = np.asarray(codes, np.int64) & 15
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def single(found):
    """The codes of bytes that hold two each."""
    return np.stack([found & 15, found >> 4], -1).reshape(*found.shape[:-1], -1)


def ordered(dtype, codes):
    """What codes stand for, in their order."""
    if dtype == "int4":
        return np.where(codes > 7, codes - 16, codes).astype(float)
    return codes.astype(float) if dtype == "float8_e8m0" else TABLES[dtype][codes]


def among(options, dtype):
    """Returns a comparison with codes that have to lie between those of a value and of what errors make of it."""
    packed = dtype in PACKED
    options = [np.asarray(one, np.int64) & (15 if packed else 255) for one in options]
    values = [ordered(dtype, one) for one in options]
    least, most = np.minimum.reduce(values), np.maximum.reduce(values)

    def check(found, wanted):
        own = (single(found) if packed else found).astype(np.int64)
        value = ordered(dtype, own)
        wrong = ~((value >= least) & (value <= most) | (own == options[0]))
        if len(options) == 1:
            wrong = own != options[0]
        if not wrong.any():
            return None
        at = np.unravel_index(int(wrong.argmax()), wrong.shape)
        made = Codes(f"element {list(map(int, at))} has the code {own[at]} and not {options[0][at]} ({int(wrong.sum())} of {wrong.size} are wrong)")
        made.flat = int(wrong.argmax())
        return made

    return check


class Codes(str):
    """What is wrong with codes; `flat` is the number of the first wrong element."""

    flat = None


def out_codes(call, name, dtype, options):
    """Adds an output of codes. `options` are arrays of codes; each element of the result has to be among them."""
    options = [np.asarray(one, np.int64) for one in options]
    wanted = pairs(options[0]) if dtype in PACKED else options[0].astype(np.uint8)
    call.out(name, dtype, wanted, among(options, dtype))


def around(values, error):
    """Values, and what errors make of them."""
    values = np.asarray(values, np.float64)
    if error is None:
        return [values]
    return [values, values - error, values + error, np.sign(values) * np.maximum(np.abs(values) - error, 0), np.sign(values) * (np.abs(values) + error)]


def out_blocks(call, names, dtype, values, axis=-1, rule=None, mode="rint", block=32, least=0.0, error=None, ends=None):
    """Adds the codes of values in blocks, and their scales."""
    made = []
    for one in around(values, error):
        made.append(in_blocks(dtype, one, axis, rule, mode, block, least) if ends is None else in_groups(dtype, one, ends, rule, mode, block))
    out_codes(call, names[0], dtype, [codes for codes, _ in made])
    out_codes(call, names[1], "float8_e8m0", [scales for _, scales in made])


def wild(call, name, dtype, shape, plain=False):
    """Numbers of very different sizes, so that blocks have different scales."""
    size = 2.0 ** (call.some("int32", shape, "any", False).astype(np.int64) % 13 - 6)
    return wide(call.tensor(name, dtype, values=wide(call.some(dtype, shape, "normal", False)) * size, plain=plain))


def even(n):
    return n + n % 2


# Blocks along one dimension.

def matrix_shape(call, sizes, high=3):
    shape = list(call.shape(1, high, 12, empty=False))
    axis = call.below(len(shape))
    shape[axis] = call.choose(sizes)
    shape[-1] = even(shape[-1])
    return tuple(shape), axis


def mx(call, version):
    name = call.choose(EIGHTS + FOURS)
    dtype = call.choose((*HALF, "float32") if name in EIGHTS else HALF)
    shape, axis = matrix_shape(call, (2, 31, 32, 33, 64, 65, 70, 128, 200))
    block = call.set("blocksize", call.choose((32, 32, 32, 64, 96)))
    algorithm, limit, least = 0, 0.0, 0.0
    if name in EIGHTS:
        algorithm = call.choose((0, 1)) if block == 32 else 0
    elif name == "float4_e2m1" and version > 1 and block == 32:
        algorithm = call.choose((0, 2))
        limit = call.choose((0.0, 6.0, 7.0, 8.5, 12.0)) if algorithm == 2 else 0.0
    mode = call.choose(("rint", "round", "floor")) if name in FOURS else "rint"
    x = wild(call, "x", dtype, shape)
    if version > 1:
        call.set("dstTypeMax", limit)
    if version > 2:
        least = call.set("maxLowBound", call.choose((0.0, 0.5)) if algorithm == 1 else 0.0)
    call.set("axis", axis - len(shape) if call.chance(40) else axis), call.set("roundModeOptional", mode), call.set("dstType", ACL[name]), call.set("scaleAlg", algorithm)
    out_blocks(call, ("yOut", "mxscaleOut"), name, x, axis, rule_of(name, algorithm, limit), mode, block, least)


def mx_both(call, version):
    name = call.choose(EIGHTS + FOURS)
    shape = (*call.shape(0, 1, 3, empty=False), call.choose((1, 31, 32, 33, 65)), even(call.choose((2, 4, 32, 64, 70))))
    algorithm = call.choose((0, 1)) if name in EIGHTS else 0
    limit = 0.0
    if version > 1:
        if name == "float4_e2m1" and call.chance(50):
            algorithm, limit = 2, call.choose((0.0, 9.0))
        call.set("dstTypeMax", limit)
    x = wild(call, "x", call.choose(HALF), shape)
    call.set("roundModeOptional", "rint"), call.set("dstType", ACL[name]), call.set("scaleAlg", algorithm)
    for axis, names in ((-1, ("y1Out", "mxscale1Out")), (-2, ("y2Out", "mxscale2Out"))):
        out_blocks(call, names, name, x, axis, rule_of(name, algorithm, limit))


def mx_tiles(call):
    """Tiles of 32 x 32, whose scale is written for rows and for columns."""
    name = call.choose(EIGHTS + FOURS)
    lead = call.shape(0, 1, 3, empty=False)
    rows, columns = call.choose((1, 31, 32, 33, 66)), even(call.choose((2, 6, 32, 66)))
    algorithm, limit = 0, 0.0
    if name == "float4_e2m1" and call.chance(50):
        algorithm, limit = 2, call.choose((0.0, 7.0))
    x = wild(call, "x", call.choose(HALF), (*lead, rows, columns))
    call.set("roundModeOptional", "rint"), call.set("dstType", ACL[name]), call.set("scaleAlg", algorithm), call.set("dstTypeMax", limit)
    values = x.reshape(-1, rows, columns)
    codes = np.zeros(values.shape, np.int64)
    one = np.zeros((len(values), rows, -(-columns // 64) * 2), np.int64)
    two = np.zeros((len(values), -(-rows // 64), columns, 2), np.int64)
    for b in range(len(values)):
        for top in range(0, rows, 32):
            for left in range(0, columns, 32):
                part = values[b, top:top + 32, left:left + 32]
                scale = scale_codes(np.array([np.abs(part).max()]), rule_of(name, algorithm, limit))[0]
                codes[b, top:top + 32, left:left + 32] = encode(name, part / 2.0 ** (int(scale) - 127))
                one[b, top:top + 32, left // 32] = scale
                two[b, top // 64, left:left + 32, top // 32 % 2] = scale
    out_codes(call, "yOut", name, [codes.reshape(x.shape)])
    out_codes(call, "scale1Out", "float8_e8m0", [one.reshape(*lead, rows, -1, 2)]), out_codes(call, "scale2Out", "float8_e8m0", [two.reshape(*lead, *two.shape[1:])])


def ends_of(call, rows, count=None):
    """Where groups of rows end: in order, the last at the last row; some groups are empty."""
    cuts = sorted(call.between(0, rows) for _ in range(call.between(0, 3) if count is None else count))
    return [*cuts, rows]


def mx_groups(call, version):
    name = call.choose(EIGHTS + FOURS)
    rows, columns = call.choose((1, 5, 32, 63, 65, 130)), even(call.choose((2, 3, 8, 17)))
    ends = ends_of(call, rows)
    algorithm = 0
    if version > 1:
        algorithm = call.set("scaleAlg", call.choose((0, 1) if name in EIGHTS else (0, 2) if name == "float4_e2m1" else (0,)))
        call.set("dstTypeMax", 0.0)
    x = wild(call, "x", call.choose(HALF), (rows, columns))
    call.tensor("groupIndex", "int32", values=np.array(ends)), call.set("roundMode", "rint"), call.set("dstType", ACL[name]), call.set("blocksize", 32)
    out_blocks(call, ("y", "mxscale"), name, x, 0, rule_of(name, algorithm), ends=ends)


def mx_back(call):
    name = call.choose(EIGHTS + FOURS)
    shape, axis = matrix_shape(call, (2, 31, 33, 64, 70, 130))
    dtype = call.choose(FLOATS)
    codes, scales = in_blocks(name, wide(call.some("float32", shape, "normal", False)), axis, rule_of(name, 0))
    call.tensor("x", name, values=pairs(codes) if name in PACKED else codes), call.tensor("mxscale", "float8_e8m0", values=scales)
    call.set("axis", axis - len(shape) if call.chance(40) else axis), call.set("dstType", ACL[dtype])
    factors = decode("float8_e8m0", np.moveaxis(scales, axis, -2))
    rows = np.moveaxis(decode(name, codes), axis, -1)
    factors = factors.reshape(*factors.shape[:-2], -1).repeat(32, -1)[..., : rows.shape[-1]]
    call.out("y", dtype, np.moveaxis(rows * factors, -1, axis), near(1))


def two_levels(call):
    width = even(call.choose((2, 31, 64, 511, 513, 516, 1025)))
    shape = (*call.shape(0, 1, 3, empty=False), width)
    dtype, mode = call.choose(HALF), call.choose(("rint", "round", "floor"))
    x = wild(call, "x", dtype, shape)
    smooth = wide(call.tensor("smoothScaleOptional", dtype, (width,), "inner", False)) if call.chance(50) else None
    call.set("roundModeOptional", mode), call.set("level0BlockSize", 512), call.set("level1BlockSize", 32)
    # Each step is rounded to float32, and what remains to the type of the input.
    product = x.astype(np.float32) * (np.float32(1) if smooth is None else smooth.astype(np.float32))
    outer, level = np.zeros((*shape[:-1], -(-width // 512)), np.float32), np.zeros(shape, np.float32)
    for block in range(outer.shape[-1]):
        cut = slice(block * 512, block * 512 + 512)
        outer[..., block] = np.abs(product[..., cut]).max(-1) / np.float32(6)
        with np.errstate(all="ignore"):
            level[..., cut] = np.nan_to_num(product[..., cut] / outer[..., block, None])
    out_blocks(call, ("yOut", "level1ScaleOut"), "float4_e2m1", wide(level.astype(NUMPY[dtype])), -1, ("below", 2), mode)
    call.out("level0ScaleOut", "float32", outer, near(1))


# Blocks with a factor of float32.

def codes_of(call, name, out, quotients, mode="rint", error=None):
    """Adds codes of quotients: of int8 as integers."""
    quotients = np.asarray(quotients, np.float64)
    if name == "int8":
        slack = 0 if error is None else error
        return call.out(out, "int8", limited(np.rint(quotients), "int8"), steps(quotients, 0, 0, slack))
    error = 5e-6 * np.abs(quotients) if error is None else error
    out_codes(call, out, name, [encode(name, one, mode) for one in around(quotients, error)])


def factored(call, version, grouped=False):
    name = call.choose((*EIGHTS, "hifloat8") if grouped else (*EIGHTS, "hifloat8", "int8"))
    mode = "round" if name == "hifloat8" else "rint"
    row, column = call.choose((1, 128)), call.choose((64, 128, 192, 256))
    lead = call.shape(0, 1, 3, empty=False)
    rows, columns = call.choose((1, 3, 127, 130)), call.choose((1, 3, 63, 65, 130))
    dtype = call.choose(HALF if grouped else FLOATS)
    ends = ends_of(call, rows) if grouped else None
    x = wild(call, "x", dtype, (*lead, rows, columns))
    least = call.set("minScale", 0.0 if grouped else call.choose((0.0, 4.0)))
    limit = 0.0
    if version > 1:
        limit = call.set("dstTypeMax", call.choose((0.0, 56.0)) if name == "hifloat8" else 0.0)
    if grouped:
        call.tensor("groupList", "int32", values=np.array(ends)), call.set("groupListType", 0)
    call.set("roundModeOptional", mode), call.set("dstType", ACL[name]), call.set("rowBlockSize", row), call.set("colBlockSize", column)
    values = x.reshape(-1, rows, columns).astype(np.float32)
    top = np.float32(limit or (127.0 if name == "int8" else largest(name)))
    count = -(-rows // row) if ends is None else rows // row + len(ends)
    scales, quotients = np.zeros((len(values), count, -(-columns // column)), np.float32), np.zeros(values.shape, np.float32)
    for b in range(len(values)):
        start = 0
        for group, end in enumerate(ends or [rows]):
            base = 0 if ends is None else start // row + group
            for index, first in enumerate(range(start, end, row)):
                for left in range(0, columns, column):
                    part = (b, slice(first, min(first + row, end)), slice(left, left + column))
                    scale = np.abs(values[part]).max() / top
                    scale = min(scale, np.float32(1 / least)) if least else scale
                    scales[b, base + index, left // column] = scale
                    quotients[part] = values[part] / scale if scale else 0
            start = end
    codes_of(call, name, "yOut", quotients.reshape(x.shape), mode)
    call.out("scaleOut", "float32", scales.reshape(*lead, *scales.shape[1:]), near(2))


def by_maximum(call, grouped=False):
    name = call.choose((*EIGHTS, "hifloat8"))
    mode = "round" if name == "hifloat8" else "rint"
    dtype = call.choose(FLOATS)
    shape = call.shape(2 if grouped else 1, 3, 300, empty=False)
    x = wild(call, "x", dtype, shape)
    ends = ends_of(call, shape[0]) if grouped else [shape[0]]
    factors = wide(call.tensor("scale", "float32", values=0.25 + np.abs(np.rint(wide(call.some("float32", (len(ends),), "small", False)) * 8) / 8)))
    if grouped:
        call.tensor("groupList", "int64", values=np.array(ends))
    call.set("roundMode", mode), call.set("dstType", ACL[name])
    owner = np.searchsorted(ends, np.arange(shape[0]), "right").reshape(-1, *[1] * (len(shape) - 1))
    most = [np.abs(x[start:end]).max(initial=0) for start, end in zip([0, *ends], ends)]
    codes_of(call, name, "y", x * factors[owner], mode)
    call.out("amax", dtype, np.array(most), near(0))


def by_extent(call, version):
    name = call.choose(("int8",) if version == 3 else ("int8", *EIGHTS, "hifloat8"))
    mode = "round" if name == "hifloat8" else "rint"
    dtype = call.choose(HALF)
    extent = call.set("quantMode", call.choose(("pertoken", "pertensor") if version == 3 else ("pertoken", "perchannel", "pertensor")))
    rows, columns = call.choose((2, 3, 17, 130)), call.choose((2, 8, 17, 65, 256))
    axis = {"pertoken": -1, "perchannel": -2, "pertensor": (-1, -2)}[extent]
    # Equal numbers alone have no scale: what comes out then is not documented.
    drawn = wide(call.some(dtype, (rows, columns), "small", False)).copy()
    drawn[:, 0], drawn[:, 1] = 1 + np.arange(rows) % 3, -2 - np.arange(rows) % 5
    drawn[0], drawn[1] = 1 + np.arange(columns) % 3, -2 - np.arange(columns) % 5
    x = wide(call.tensor("x", dtype, values=drawn))
    values = x.astype(np.float32)
    if extent != "pertensor" and call.chance(50):
        smooth = wide(call.tensor("smoothScalesOptional", dtype, (columns if extent == "pertoken" else rows,), "inner", False)).astype(np.float32)
        values = values * (smooth if extent == "pertoken" else smooth[:, None])
    symmetric = call.set("isSymmetrical", name != "int8" or call.chance(60))
    limit = 0.0
    if version > 3:
        limit = call.set("dstTypeMax", call.choose((0.0, 100.0)) if name == "hifloat8" else 0.0)
    call.set("dstType", ACL[name])
    most, least = values.max(axis, keepdims=True), values.min(axis, keepdims=True)
    with np.errstate(all="ignore"):
        if symmetric:
            scale, offset = np.abs(values).max(axis, keepdims=True) / np.float32(limit or (127 if name == "int8" else largest(name))), np.float32(0)
        else:
            scale = (most - least) / np.float32(255)
            offset = np.float32(127) - most / scale
        quotients = values / scale + offset
    codes_of(call, name, "yOut", quotients, mode, 1e-3 if name == "int8" else None)
    call.out("scaleOut", "float32", scale.reshape(-1), near(8))
    if not symmetric:
        call.out("offsetOut", "float32", np.broadcast_to(offset, scale.shape).reshape(-1), near(8, 0, 1e-4 * (1 + np.abs(most / scale).reshape(-1))))


def by_scale(call):
    """Codes of numbers times scales: of 8 bits, or integers of 4."""
    dtype = call.choose(FLOATS)
    name = call.choose((*EIGHTS, "hifloat8", "int4"))
    rows, columns = call.choose((1, 3, 17)), even(call.choose((2, 8, 17, 64)))
    x = wide(call.tensor("x", dtype, (rows, columns), "small", False, odd=False))
    n = columns if call.chance(60) else 1
    scale = wide(call.tensor("scale", dtype, values=np.array([call.choose((1.0, 2.0, 0.5, 8.0, -4.0)) for _ in range(n)])))
    offset = wide(call.tensor("offset", dtype, values=np.array([call.choose((0.0, 0.5, -2.0)) for _ in range(n)]))) if call.chance(50) else None
    call.set("sqrtMode", False), call.set("dstType", ACL[name])
    if "axis" in call.kinds:
        call.set("axis", -1)
    exact = x * scale + (0 if offset is None else offset)
    # In 16 bits the sum may be rounded to the type before.
    error = (EPS[dtype] if dtype in LOW else 1e-6) * np.abs(exact)
    if name == "int4":
        mode = call.set("roundMode", call.choose(tuple(ROUND)))
        whole = [np.clip(ROUND[mode](one), -8, 7).astype(np.int64) & 15 for one in around(exact, error)]
        return out_codes(call, "y", name, whole)
    call.set("roundMode", "round" if name == "hifloat8" else "rint")
    codes_of(call, name, "y", exact, call.given["roundMode"].value, error)


def by_rows(call):
    """Codes of 8 bits of rows, each by its largest element."""
    name = call.choose((*EIGHTS, "hifloat8"))
    dtype = call.choose(HALF)
    rows, columns = call.choose((1, 3, 17, 130)), call.choose((2, 8, 17, 65, 256))
    x = wild(call, "x", dtype, (rows, columns)).astype(np.float32)
    if call.chance(40):
        x = x * wide(call.tensor("smoothScalesOptional", dtype, (columns,), "inner", False, odd=False)).astype(np.float32)
    if "dstType" in call.kinds:
        call.set("dstType", ACL[name])
    scale = np.abs(x).max(-1, keepdims=True) / np.float32(largest(name))
    codes_of(call, name, "yOut", np.where(scale > 0, x / np.where(scale > 0, scale, 1), 0), "round" if name == "hifloat8" else "rint")
    call.out("scaleOut", "float32", scale[:, 0], near(8))


def group_quant(call):
    dtype = call.choose(FLOATS)
    rows, columns = call.choose((1, 5, 17, 130)), call.choose((1, 4, 8, 65))
    ends = ends_of(call, rows)
    x = wide(call.tensor("x", dtype, (rows, columns), "small", False))
    scale = wide(call.tensor("scale", dtype, values=(0.5 + np.abs(np.rint(wide(call.some(dtype, (len(ends), columns), "small", False)) * 8) / 8)) * call.choose((1, 16, -1))))
    call.tensor("groupIndex", call.choose(("int64", "int32")), values=np.array(ends))
    offset = wide(call.tensor("offsetOptional", dtype, values=np.array([call.choose((1.25, 0.5, -3.0, 100.0))]))) if call.chance(60) else None
    call.set("dstType", 2)
    owner = np.searchsorted(ends, np.arange(rows), "right")
    exact = x * scale[owner] + (0 if offset is None else offset)
    call.out("y", "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, 2 * low(dtype) * np.abs(exact).max(initial=0)))


def dequant_bias(call):
    out = call.choose(HALF)
    rows, columns = call.choose((1, 3, 17, 130)), call.choose((1, 4, 33))
    x = call.tensor("x", "int32", values=call.some("int32", (rows, columns), "any", False).astype(np.int64) % 6001 - 3000).astype(float)
    scale = wide(call.tensor("weightScale", "float32", values=wide(call.some("float32", (columns,), "small", False)) / 1024))
    factor = wide(call.tensor("activateScaleOptional", "float32", (rows,), "inner", False))[:, None] if call.chance(60) else 1
    kind = call.choose((None, "int32", out))
    bias = None if kind is None else wide(call.tensor("biasOptional", kind, (columns,), "small", False)).astype(float)
    call.set("outputDtype", ACL[out])
    wanted = (x + (bias if kind == "int32" else 0)) * scale * factor + (bias if kind == out else 0)
    call.out("out", out, wanted, near(4, 0, 2e-6 * (np.abs(x * scale * factor) + 1)))


# Gates.

def halves(x, axis=-1, left=True, alternating=False):
    if alternating:
        return [x.take(np.arange(start, x.shape[axis], 2), axis) for start in (0, 1)]
    one, two = np.split(x, 2, axis)
    return (one, two) if left else (two, one)


def glu(x, axis=-1, left=True, mode=0, limit=0.0, alpha=1.0, bias=0.0):
    """A gate, and how far a result in float32 may be off."""
    gate, value = halves(x, axis, left or mode == 1, mode == 1)
    if mode in (1, 2):
        gate, value = np.minimum(gate, limit), np.clip(value, -limit, limit)
        made = gate * sigmoid(alpha * gate) * (value + bias)
        return made, BLUR * (np.abs(made) + np.abs(gate) * (np.abs(value) + abs(bias)) * 0.1) * (1 + np.abs(gate))
    if mode == 3:
        made = np.minimum(gate * sigmoid(gate), limit) * np.clip(value, -limit, limit)
    else:
        made = gate * sigmoid(gate) * value
    return made, BLUR * np.abs(made) * (1 + np.abs(gate))


def clipped_swiglu(call):
    dtype = call.choose(FLOATS)
    shape = list(call.shape(1, 3, 300, empty=False))
    axis = call.below(len(shape))
    shape[axis] *= 2
    x = wide(call.tensor("x", dtype, tuple(shape), "small", False))
    call.set("dim", axis - len(shape) if call.chance(40) else axis)
    alpha, limit, bias = call.set("alpha", call.choose((1.0, 1.75, -1.0, 0.0))), call.set("limit", call.choose((7.0, 1.5, 0.25))), call.set("bias", call.choose((0.0, 1.0, -2.0)))
    interleaved = call.set("interleaved", call.chance(50))
    # The dimension and those behind it are one row.
    gate, value = halves(x.reshape(*shape[:axis], -1), -1, True, interleaved)
    shape[axis] //= 2
    gate, value = (one.reshape(shape) for one in (np.minimum(gate, limit), np.clip(value, -limit, limit)))
    made = gate * sigmoid(alpha * gate) * (value + bias)
    call.out("out", dtype, made, near(16, low(dtype), 4e-6 * (np.abs(gate) * (np.abs(value) + abs(bias)) + 1e-3)))


def counted(call, rows, groups):
    """Sizes of groups that add up to the rows."""
    ends = ends_of(call, rows, groups - 1)
    return [end - start for start, end in zip([0, *ends], ends)]


def swiglu_quant(call, version):
    dtype = call.choose(FLOATS)
    rows, width = call.choose((1, 5, 17, 130)), call.choose((16, 32, 64))
    x = wide(call.tensor("x", dtype, (rows, 2 * width), "small", False))
    kind = call.choose((None, 0, 1)) if version > 1 else call.choose((None, 0))
    groups = 1 if kind is None else call.between(1, 3)
    sizes = counted(call, rows, groups) if kind is not None else [rows]
    owner = np.repeat(np.arange(groups), sizes)
    dynamic = version == 1 or call.chance(60)
    values, error = glu(x, left=call.set("activateLeft", call.chance(50)))
    wide_scales = call.chance(50)
    smooth = wide(call.tensor("smoothScalesOptional", "float32", values=0.5 + wide(call.some("float32", (groups, width) if wide_scales else (groups,), "prob", False))))
    smooth = smooth.reshape(groups, -1)[owner]
    values, error = values * smooth, error * smooth
    if not dynamic:
        offset = wide(call.tensor("offsetsOptional", "float32", (groups, width) if wide_scales else (groups,), "small", False)).reshape(groups, -1)[owner]
        values = values + offset
    if kind is not None:
        call.tensor("groupIndexOptional", "int32", values=np.cumsum(sizes) if kind == 0 else np.array(sizes))
    call.set("quantModeOptional", "dynamic" if dynamic else "static")
    if version > 1:
        call.set("groupListType", kind or 0), call.set("dstType", 2)
    scale = np.abs(values).max(-1) / 127
    with np.errstate(all="ignore"):
        exact = np.nan_to_num(values / scale[:, None]) if dynamic else values
    call.out("yOut", "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, 2e-3))
    call.out("scaleOut", "float32", scale if dynamic else None, near(64, 0, 1e-7), shape=scale.shape)


def dequant_swiglu(call, version):
    rows, width = call.choose((1, 4, 17, 130)), call.choose((4, 8, 32))
    kind = call.choose(("int32", *HALF))
    groups = call.between(1, 3)
    sizes = counted(call, rows, groups)
    owner = np.repeat(np.arange(groups), sizes)
    mode = call.choose((0, 1, 2, 3)) if version > 1 else 0
    left = call.set("activateLeft", True if mode == 1 else call.chance(50))
    if kind == "int32":
        x = call.tensor("x", kind, values=call.some("int32", (rows, 2 * width), "any", False).astype(np.int64) % 4001 - 2000).astype(float)
        weights = wide(call.tensor("weightScaleOptional", "float32", values=wide(call.some("float32", (groups, 2 * width), "small", False)) / 512))
        factor = wide(call.tensor("activationScaleOptional", "float32", (rows,), "inner", False))
        x = x * weights[owner] * factor[:, None]
    else:
        x = wide(call.tensor("x", kind, (rows, 2 * width), "small", False))
    smooth = wide(call.tensor("quantScaleOptional", "float32", values=0.5 + wide(call.some("float32", (groups, width), "prob", False))))[owner]
    call.tensor("groupIndexOptional", "int64", values=np.array(sizes)), call.set("quantModeOptional", "dynamic")
    limit, alpha, bias = call.choose((1.5, 7.0, 0.25)), call.choose((1.702, 1.0, 0.5)), call.choose((1.0, 0.0, -0.5))
    if version > 1:
        for name, value in (("dstType", 2), ("roundModeOptional", "rint"), ("activateDim", -1), ("swigluMode", mode), ("clampLimit", limit), ("gluAlpha", alpha), ("gluBias", bias)):
            call.set(name, value)
    values, _ = glu(x, -1, left, mode, limit, alpha, bias)
    values = values * smooth
    scale = np.abs(values).max(-1) / 127
    with np.errstate(all="ignore"):
        exact = np.nan_to_num(values / scale[:, None])
    call.out("yOut", "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, 2e-3))
    call.out("scaleOut", "float32", scale, near(64, 0, 1e-7))


def swiglu_mx(call):
    name = call.choose(EIGHTS + FOURS)
    mode = call.choose((0, 1, 2, 3))
    split = -1 if mode else call.choose((-1, -2))
    # The last dimension of the result has an even number of elements.
    shape = [call.choose((2, 34, 40, 70)), 4 * call.choose((1, 2, 18))]
    axis = call.choose((-1, -2)) if mode < 2 else -1
    left = call.set("activateLeft", True if mode == 1 else call.chance(50))
    algorithm = call.choose((0, 1)) if name in EIGHTS else 0
    x = wide(call.tensor("x", call.choose(HALF), tuple(shape), "small", False))
    kind = call.choose((None, 0, 1)) if split == -1 and axis == -2 and mode == 0 else None
    limit, alpha, bias = call.choose((1.4, 7.0, 0.3)), call.choose((1.702, 1.0, 0.5)), call.choose((1.0, 0.0, 0.5))
    for own, value in (("activateDim", split), ("swigluMode", mode), ("groupMode", kind or 0), ("axis", axis), ("dstType", ACL[name]), ("roundModeOptional", "rint"),
                       ("scaleAlg", algorithm), ("maxDtypeValue", 0.0), ("clampLimit", limit), ("gluAlpha", alpha), ("gluBias", bias)):
        call.set(own, value)
    values, error = glu(x, split, left, mode, limit, alpha, bias)
    ends = None
    if kind is not None:
        ends = ends_of(call, shape[0])
        call.tensor("groupIndexOptional", "int64", values=np.array(ends) if kind else np.diff([0, *ends]))
    out_blocks(call, ("yOut", "mxscaleOut"), name, values, axis, rule_of(name, algorithm), error=error, ends=ends)


def slopes(x, upstream, left=True, limit=None):
    gate, value = halves(x, left=left)
    own, bound = (gate, value) if limit is None else (np.minimum(gate, limit), np.clip(value, -limit, limit))
    rise = sigmoid(own)
    one, two = upstream * bound * rise * (1 + own * (1 - rise)), upstream * own * rise
    size = np.abs(upstream) * (np.abs(bound) + 1) * (1 + np.abs(own))
    if limit is not None:
        one, two = one * (gate < limit), two * ((value > -limit) & (value < limit))
    join = lambda a, b: np.concatenate([a, b] if left else [b, a], -1)  # noqa: E731
    return join(one, two), join(size, size)


def swiglu_mx_both(call, backward):
    name, rule = "float8_e4m3fn", rule_of("float8_e4m3fn", 1)
    rows, width = call.choose((2, 33, 70)), call.choose((4, 32))
    dtype = call.choose(HALF)
    left = call.set("activateLeft", call.chance(50))
    x = wide(call.tensor("x", dtype, (rows, 2 * width), "small", False))
    ends = ends_of(call, rows) if call.chance(50) else None
    if ends:
        call.tensor("groupIndexOptional", "int64", values=np.array(ends))
    if backward:
        upstream = wide(call.tensor("yGrad", dtype, (rows, width), "small", False))
        values, size = slopes(x, upstream, left)
        error = BLUR * size
    else:
        values, error = glu(x, left=left)
    call.set("roundModeOptional", "rint"), call.set("scaleAlg", 1), call.set("dstDtype" if backward else "dstType", ACL[name]), call.set("maxDtypeValue", 0.0)
    out_blocks(call, ("y1Out", "mxscale1Out"), name, values, -1, rule, error=error)
    out_blocks(call, ("y2Out", "mxscale2Out"), name, values, -2, rule, error=error, ends=ends)


def swiglu_group_grad(call):
    dtype = call.choose(FLOATS)
    rows, width = call.choose((1, 4, 17, 130)), call.choose((1, 3, 32))
    limit = call.set("clampLimit", call.choose((0.0, 1.5)))
    g, x = wide(call.tensor("gradY", dtype, (rows, width), "small", False)), wide(call.tensor("x", dtype, (rows, 2 * width), "small", False))
    weighted = call.chance(50)
    flow, origin = g, None
    if weighted:
        weight = wide(call.tensor("weightOptional", "float32", values=0.5 + wide(call.some("float32", (rows, 1), "prob", False))))
        origin = wide(call.tensor("yOriginOptional", dtype, (rows, width), "small", False))
        flow = g * weight
    counts = None
    if call.chance(50):
        counts = [call.between(0, rows)]
        counts.append(call.between(0, rows - counts[0]))
        call.tensor("groupIndexOptional", "int64", values=np.array(counts))
    made, size = slopes(x, flow, limit=limit or None)
    if counts is not None:
        made[sum(counts):] = 0
    call.out("gradXOut", dtype, made, near(16, 2 * low(dtype), 4e-6 * size))
    if weighted:
        own = (g * origin).sum(-1, keepdims=True)
        if counts is not None:
            own[sum(counts):] = 0
        call.out("gradWeightOutOptional", "float32", own, near(8, 0, 4e-6 * (np.abs(g * origin).sum(-1, keepdims=True) + 1e-3)))


# Behind norms.

def rms(x, gamma, beta, epsilon):
    rstd = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon)
    made = x * rstd * gamma + (0 if beta is None else beta)
    return made, rstd, BLUR * (np.abs(x * rstd * gamma) + (0 if beta is None else np.abs(beta)))


def parts(call, dtype, lead, width, names):
    return [wide(call.tensor(name, dtype, (*lead, width), "small", False)) for name in names]


def rms_mx(call, add):
    name = call.choose(EIGHTS + FOURS)
    dtype, algorithm = call.choose(HALF), call.choose((0, 1)) if name in EIGHTS else 0
    lead, width = call.shape(1, 2, 12, empty=False), even(call.choose((2, 32, 33, 64, 70)))
    inputs = parts(call, dtype, lead, width, ("x1", "x2") if add else ("x",))
    # The sum is formed in float32.
    total = sum(one.astype(np.float32) for one in inputs).astype(np.float64)
    own = call.choose(("float32", dtype))
    gamma = wide(call.tensor("gamma", own, (width,), "small", False))
    beta = wide(call.tensor("beta", own, (width,), "small", False)) if call.chance(50) else None
    e = call.set("epsilon", 1e-5)
    values, rstd, error = rms(total, gamma, beta, e)
    with_rstd = call.set("outputRstd", call.chance(50))
    call.set("scaleAlg", algorithm), call.set("roundMode", "rint"), call.set("dstType", ACL[name])
    out_blocks(call, ("yOut", "mxscaleOut"), name, values, -1, rule_of(name, algorithm), error=error)
    if add:
        call.out("xOut", dtype, total, near(2))
    call.out("rstdOut", "float32", rstd if with_rstd else None, near(64), shape=rstd.shape)


def rms_static(call, form):
    """RMS norm, then scales that are given."""
    types = ("int8",) if form != "V3" else ("int8", "hifloat8", *EIGHTS)
    name = call.choose(types)
    dtype = call.choose(HALF if form != "V3" else FLOATS)
    lead, width = call.shape(1, 2, 12, empty=False), call.choose((2, 6, 16, 64, 65))
    x, = parts(call, dtype, lead, width, ("x",))
    gamma = wide(call.tensor("gamma", dtype, (width,), "small", False))
    beta = wide(call.tensor("beta", dtype, (width,), "small", False)) if call.chance(60) else None
    scale = wide(call.tensor("scale", dtype, values=0.5 + wide(call.some(dtype, (1,), "prob", False))))
    kind = "int8" if form != "V3" and call.chance(50) else dtype
    offset = None
    if call.chance(60):
        offset = wide(call.tensor("offset", kind, values=np.rint(wide(call.some("float32", (1,), "small", False))))).astype(float)
    e = call.set("epsilon", 1e-5)
    values, rstd, error = rms(x, gamma, beta, e)
    divides = True
    if form == "V3":
        divides = call.set("divMode", call.chance(50))
        if call.set("outputRstd", call.chance(50)):
            call.out("rstd", "float32", rstd[..., 0], near(64))
        else:
            call.out("rstd", "float32", None, shape=rstd.shape[:-1])
    quotients = (values / scale if divides else values * scale) + (0 if offset is None else offset)
    error = (error / scale if divides else error * scale) * 2 + BLUR * np.abs(quotients)
    codes_of(call, name, "y", quotients, "round" if name == "hifloat8" else "rint", error)


def rms_grad_quant(call):
    name, dtype = call.choose(("int8", "hifloat8")), call.choose(FLOATS)
    rows, width = call.choose((1, 4, 17, 130)), call.choose((2, 6, 33))
    dy, x = parts(call, dtype, (rows,), width, ("dy", "x"))
    gamma = wide(call.tensor("gamma", dtype, (width,), "small", False))
    root = wide(call.tensor("rstd", "float32", values=0.5 + wide(call.some("float32", (rows,), "prob", False))))[:, None]
    scale = wide(call.tensor("scalesX", dtype, values=0.25 + wide(call.some(dtype, (1,), "prob", False))))
    offset = call.tensor("offsetXOptional", "int32", values=np.array([3])).astype(float) if call.chance(50) else 0
    call.set("quantMode", "static")
    divides = call.set("divMode", call.chance(50))
    flow = dy * gamma
    dx = (flow - root * x * (flow * x * root).mean(-1, keepdims=True)) * root
    size = root * (np.abs(flow) + root * np.abs(x) * np.abs(flow * x * root).mean(-1, keepdims=True))
    over = lambda v: v / scale if divides else v * scale  # noqa: E731
    codes_of(call, name, "dxOut", over(dx) + offset, "round" if name == "hifloat8" else "rint", 2 * BLUR * (over(size) + np.abs(offset)))
    call.out("dgammaOut", "float32", (dy * x * root).sum(0), near(8, 0, 4e-6 * (np.abs(dy * x * root).sum(0) + 1e-3)))


def gelu_quant(call):
    name, dtype = call.choose(("int8", "hifloat8", *EIGHTS)), call.choose(FLOATS)
    rows, width = call.choose((1, 3, 17, 130)), call.choose((2, 6, 33))
    # Far below zero the function is a difference of nearly equal numbers.
    x = wide(call.tensor("self", dtype, values=np.maximum(wide(call.some(dtype, (rows, width), "small", False)), -1.5)))
    tanh = call.set("approximate", call.choose(("none", "tanh"))) == "tanh"
    dynamic = call.set("quantMode", call.choose(("static", "dynamic"))) == "dynamic"
    y = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) if tanh else 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)))
    n = width if call.chance(50) else 1
    scale = wide(call.tensor("inputScaleOptional", dtype, values=0.5 + wide(call.some(dtype, (n,), "prob", False)))) if not dynamic or call.chance(60) else 1
    mode = call.set("roundMode", "round" if name == "hifloat8" else "rint")
    call.set("dstType", ACL[name])
    values, error = y * scale, 4e-6 * (np.abs(y) + 0.02) * scale
    if dynamic:
        factor = np.abs(values).max(-1) / (127 if name == "int8" else largest(name))
        with np.errstate(all="ignore"):
            values, error = np.nan_to_num(values / factor[:, None]), np.nan_to_num(error / factor[:, None])
        call.out("outScaleOptional", "float32", factor, near(16, 1e-5, 1e-8))
    elif call.chance(60):
        offset = wide(call.tensor("inputOffsetOptional", dtype, (n,), "small", False))
        values, error = values + offset, error + BLUR * np.abs(offset)
    codes_of(call, name, "y", values, mode, error + 4e-6 * np.abs(values))


def add_rms_quant(call, version):
    dtype = call.choose(HALF)
    rows, width = call.choose((1, 3, 17, 130)), call.choose((8, 16, 64, 65, 300))
    one, two = parts(call, dtype, (rows,), width, ("x1", "x2"))
    total = one + two
    gamma = wide(call.tensor("gamma", dtype, (width,), "inner", False))
    beta = wide(call.tensor("betaOptional", dtype, (width,), "small", False)) if version > 1 and call.chance(50) else None
    e, divides = call.set("epsilon", call.choose((1e-5, 0.25))), call.set("divMode", call.chance(50))
    call.set("axis", call.choose((-1, 1)))
    y = total / np.sqrt((total**2).mean(-1, keepdims=True) + e) * gamma + (0 if beta is None else beta)
    second = call.chance(50)
    for names in (("scales1", "zeroPoints1Optional", "y1Out"), ("scales2Optional", "zeroPoints2Optional", "y2Out")):
        if names[2] == "y2Out" and not second:
            call.out("y2Out", "int8", None, shape=y.shape)
            continue
        scale = wide(call.tensor(names[0], dtype, values=0.5 + wide(call.some(dtype, (width,), "prob", False))))
        zero = wide(call.tensor(names[1], dtype, values=np.rint(wide(call.some(dtype, (width,), "small", False))))) if call.chance(60) else None
        exact = (y / scale if divides else y * scale) + (0 if zero is None else zero)
        # What lies between the sum and the result may be rounded to the type.
        blur = 8 * low(dtype) * (np.abs(y) + np.abs(beta if beta is not None else 0) + np.abs(zero if zero is not None else 0) + 1) * 2
        call.out(names[2], "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, blur))
    call.out("xOut", dtype, total, near(2, 0, 1e-6 * np.abs(one)))
    if version > 1:
        call.out("rmsNormOut", dtype, None, shape=y.shape)


def add_rms_dynamic(call):
    dtype = call.choose(HALF)
    rows, width = call.choose((1, 3, 17, 130)), call.choose((8, 16, 64, 65, 300))
    one, two = parts(call, dtype, (rows,), width, ("x1", "x2"))
    total = one + two
    gamma = wide(call.tensor("gamma", dtype, (width,), "inner", False))
    beta = wide(call.tensor("betaOptional", dtype, (width,), "small", False)) if "betaOptional" in call.kinds and call.chance(50) else None
    smooth = [wide(call.tensor("smoothScale1Optional", dtype, (width,), "inner", False)) if call.chance(60) else None, None]
    mask = None
    if smooth[0] is not None and call.chance(60) or "outputMask" not in call.kinds and call.chance(30):
        smooth[1] = wide(call.tensor("smoothScale2Optional", dtype, (width,), "inner", False))
    if "outputMask" in call.kinds and call.chance(40):
        mask = call.set("outputMask", [smooth[0] is not None or call.chance(50), smooth[1] is not None or call.chance(50)])
        if not any(mask):
            mask[0] = True
    used = mask or [True, smooth[1] is not None]
    e = call.set("epsilon", call.choose((1e-5, 0.25)))
    y = total / np.sqrt((total**2).mean(-1, keepdims=True) + e) * gamma + (0 if beta is None else beta)
    for number, (own, out, scales) in enumerate(((smooth[0], "y1Out", "scale1Out"), (smooth[1], "y2Out", "scale2Out"))):
        if not used[number]:
            call.out(out, "int8", None, shape=y.shape), call.out(scales, "float32", None, shape=y.shape[:-1])
            continue
        values = y * (1 if own is None else own)
        scale = np.abs(values).max(-1) / 127
        exact = np.nan_to_num(values / scale[:, None])
        call.out(out, "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, 127 * 8 * low(dtype)))
        call.out(scales, "float32", scale, near(8, 8 * low(dtype)))
    call.out("xOut", dtype, total, near(2, 0, 1e-6 * np.abs(one)))


def rms_dynamic(call):
    dtype = call.choose(HALF)
    rows, width = call.choose((1, 3, 17, 130)), call.choose((8, 16, 64, 65, 300))
    x, = parts(call, dtype, (rows,), width, ("x",))
    gamma = wide(call.tensor("gamma", dtype, (width,), "inner", False))
    smooth = wide(call.tensor("smoothScalesOptional", dtype, (width,), "inner", False)) if call.chance(50) else None
    beta = wide(call.tensor("betaOptional", dtype, (width,), "small", False)) if call.chance(50) else None
    e = call.set("epsilon", 1e-5)
    call.set("dstType", 2)
    y = rms(x, gamma, beta, e)[0] * (1 if smooth is None else smooth)
    scale = np.abs(y).max(-1) / 127
    exact = np.nan_to_num(y / scale[:, None])
    call.out("yOut", "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, 127 * 8 * low(dtype)))
    call.out("scaleOut", "float32", scale, near(8, 8 * low(dtype)))


def add_rms_cast(call):
    dtype = call.choose(HALF)
    rows, width = call.choose((1, 3, 17, 130)), call.choose((1, 8, 65, 256))
    one, two = parts(call, dtype, (rows,), width, ("x1", "x2"))
    total = one + two
    gamma = wide(call.tensor("gamma", dtype, (width,), "small", False))
    e = call.set("epsilon", 1e-5)
    rstd = 1 / np.sqrt((total**2).mean(-1, keepdims=True) + e)
    y = total * rstd * gamma
    check = near(16, 4 * low(dtype), 1e-6 + 4 * low(dtype) * np.abs(gamma))
    call.out("y1Out", "float32", y, check), call.out("y2Out", dtype, y, check)
    call.out("rstdOut", "float32", rstd, near(64, 4 * low(dtype))), call.out("xOut", dtype, total, near(2, 0, 1e-6 * np.abs(one)))


# Small matrices.

def flat_quant(call, version):
    dtype = call.choose(HALF)
    batch, m, n = call.between(1, 3), call.choose((1, 2, 3, 5)), even(call.choose((2, 8, 14)))
    x = wide(call.tensor("x", dtype, (batch, m, n), "small", False))
    one, two = wide(call.tensor("kroneckerP1", dtype, (m, m), "small", False)), wide(call.tensor("kroneckerP2", dtype, (n, n), "small", False))
    product = one @ (x @ two)
    size = np.abs(one) @ (np.abs(x) @ np.abs(two))
    if version > 1 and m * n % 2 == 0 and call.chance(50):
        limit = call.set("dstTypeMax", call.choose((0.0, 8.0)))
        call.set("clipRatio", 1.0)
        rule = rule_of("float4_e2m1", 2 if limit else 0, limit)
        return out_blocks(call, ("out", "quantScale"), "float4_e2m1", product.reshape(batch, m * n), -1, rule, error=BLUR * size.reshape(batch, -1))
    if version > 1:
        call.set("dstTypeMax", 0.0)
    clip = call.set("clipRatio", call.choose((1.0, 0.75)))
    scale = np.abs(product).max((1, 2)) * clip / 7
    with np.errstate(all="ignore"):
        quotients, error = np.nan_to_num(product / scale[:, None, None]), np.nan_to_num(BLUR * size / scale[:, None, None]) + 1e-5
    whole = [np.clip(np.rint(value), -8, 7) for value in (quotients, quotients - error, quotients + error)]
    out_codes(call, "out", "int4", whole)
    call.out("quantScale", "float32", scale, near(16, 0, 2 * BLUR * size.max((1, 2)) / 7))


def rotate_quant(call):
    name = call.choose(("int8", *EIGHTS, "float4_e2m1"))
    dtype, size = call.choose(HALF), call.choose((16, 32, 64))
    shape = (call.choose((1, 3, 17, 130)), size * call.choose((1, 2, 3)))
    if name != "int8" and shape[-1] % 32:
        shape = (shape[0], 64)
    x = wide(call.tensor("x", dtype, shape, "small", False))
    own = call.chance(50)
    matrix = wide(call.tensor("rotation", dtype, (shape[-1] // size, size, size) if own else (size, size), "small", False))
    lines = x.reshape(-1, shape[-1] // size, size)
    form = "mpk,pkn->mpn" if own else "mpk,kn->mpn"
    product, error = np.einsum(form, lines, matrix).reshape(shape), BLUR * np.einsum(form, np.abs(lines), np.abs(matrix)).reshape(shape)
    algorithm = call.choose((0, 2)) if name == "float4_e2m1" else 0 if name == "int8" else call.choose((0, 1))
    limit = 8.0 if algorithm == 2 else 0.0
    call.set("axis", -1), call.set("roundMode", "rint"), call.set("scaleAlg", algorithm), call.set("dstTypeMax", limit), call.set("trans", False)
    if name != "int8":
        return out_blocks(call, ("yOut", "scaleOut"), name, product, -1, rule_of(name, algorithm, limit), error=error)
    scale = np.abs(product).max(-1) / 127
    with np.errstate(all="ignore"):
        exact, slack = np.nan_to_num(product / scale[:, None]), np.nan_to_num(error / scale[:, None])
    call.out("yOut", "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, slack + 1e-3)), call.out("scaleOut", "float32", scale, near(16, 0, 2 * error.max(-1) / 127))


# Written into a part of a tensor.

def quant_scatter(call, version):
    name = call.choose(("int8",) if version == 1 else ("int8", "hifloat8", *EIGHTS))
    kind = call.choose(((("bfloat16", "bfloat16", "bfloat16")), ("float16", "float32", "int32")))
    batch, heads, total, n = call.between(1, 3), call.between(1, 2), call.choose((4, 6)), call.choose((1, 5, 8))
    length = call.between(1, 2)
    before = call.some("int8" if name == "int8" else "uint8", (batch, heads, total, n), "any", False)
    before = before if name == "int8" else before % 100
    call.tensor("selfRef", name, values=before)
    u = wide(call.tensor("updates", kind[0], (batch, heads, length, n), "small", False))
    scale = wide(call.tensor("quantScales", kind[1], values=0.5 + wide(call.some(kind[1], (n,), "prob", False))))
    zero = wide(call.tensor("quantZeroPoints", kind[2], values=np.rint(wide(call.some("float32", (n,), "small", False))))).astype(float)
    at = call.some("int32", (batch,), "any", False).astype(np.int64) % (total - length + 1)
    call.tensor("indices", call.choose(("int32", "int64")), values=at)
    call.set("axis", -2), call.set("quantAxis", -1), call.set("reduction", 1)
    mode = "round" if name == "hifloat8" else "rint"
    if version > 1:
        call.set("roundMode", mode)
    quotients = u / scale + zero
    error = 5e-6 * (np.abs(u / scale) + np.abs(zero))
    if name == "int8":
        options = [limited(np.rint(one), "int8") for one in around(quotients, error)]
    else:
        options = [encode(name, one, mode) for one in around(quotients, error)]
    made = []
    for option in options:
        after = before.astype(np.int64).copy()
        for i in range(batch):
            after[i, :, at[i]:at[i] + length] = option[i]
        made.append(after)
    check = among(made, name) if name != "int8" else (lambda found, wanted: None if np.any([found == one for one in made], axis=0).all() else bits(found, made[0].astype(np.int8)))
    call.update("selfRef", made[0].astype(before.dtype), check)


QUANTISING = Family("quantisation in blocks, by rows, behind others", "ops/quant")
for number, own in ((1, "DynamicMxQuant"), (2, "DynamicMxQuantV2"), (3, "DynamicMxQuantV3")):
    QUANTISING.add(own, mx, version=number)
for number, own in ((1, ""), (2, "V2")):
    QUANTISING.add(f"DynamicMxQuantWithDualAxis{own}", mx_both, version=number)
    QUANTISING.add(f"DynamicBlockQuant{own}", factored, version=number)
    QUANTISING.add(f"GroupedDynamicBlockQuant{own}", factored, version=number, grouped=True)
    QUANTISING.add(f"GroupedDynamicMxQuant{own}", mx_groups, version=number)
    QUANTISING.add(f"SwiGluQuant{own}", swiglu_quant, version=number)
    QUANTISING.add(f"DequantSwigluQuant{own}", dequant_swiglu, version=number)
    QUANTISING.add(f"FlatQuant{own}", flat_quant, version=number)
    QUANTISING.add(f"AddRmsNormQuant{own}", add_rms_quant, version=number)
    QUANTISING.add(f"QuantScatter{own}", quant_scatter, version=number)
QUANTISING.add("DynamicBlockMxQuant", mx_tiles)
QUANTISING.add("AntiMxQuant", mx_back)
QUANTISING.add("DynamicDualLevelMxQuant", two_levels)
QUANTISING.add("QuantMax", by_maximum)
QUANTISING.add("GroupedQuantMax", by_maximum, grouped=True)
QUANTISING.add("DynamicQuantV3", by_extent, version=3)
QUANTISING.add("DynamicQuantV4", by_extent, version=4)
QUANTISING.add("GroupQuant", group_quant)
QUANTISING.add("DequantBias", dequant_bias)
QUANTISING.add("ClippedSwiglu", clipped_swiglu)
QUANTISING.add("SwigluMxQuant", swiglu_mx)
QUANTISING.add("SwigluMxQuantWithDualAxis", swiglu_mx_both, backward=False)
QUANTISING.add("SwigluBackwardMxQuantWithDualAxis", swiglu_mx_both, backward=True)
QUANTISING.add("SwigluGroupQuantGrad", swiglu_group_grad)
QUANTISING.add("RmsNormDynamicMxQuant", rms_mx, add=False)
QUANTISING.add("AddRmsNormDynamicMxQuant", rms_mx, add=True)
QUANTISING.add("RmsNormQuant", rms_static, form="plain")
QUANTISING.add("RmsNormQuantV3", rms_static, form="V3")
QUANTISING.add("RmsNormGradQuant", rms_grad_quant)
QUANTISING.add("RmsNormDynamicQuant", rms_dynamic)
QUANTISING.add("AddRmsNormDynamicQuant AddRmsNormDynamicQuantV2", add_rms_dynamic)
QUANTISING.add("AddRmsNormCast", add_rms_cast)
QUANTISING.add("GeluQuant", gelu_quant)
QUANTISING.add("RotateQuant", rotate_quant)

FAMILIES = [QUANTISING]
