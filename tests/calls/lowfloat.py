"""Floating-point types of 4 and 8 bits as tables of their values.

The values come from ml_dtypes, and where it lacks a type, from the type's definition. Numbers are rounded by a search of the
table in float64: nothing here is derived from the code under test.
"""

import ml_dtypes
import numpy as np

KNOWN = {
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e8m0": ml_dtypes.float8_e8m0fnu,
    "float4_e2m1": ml_dtypes.float4_e2m1fn,
}
BITS = {"float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e8m0": 8, "hifloat8": 8, "float4_e2m1": 4, "float4_e1m2": 4}
NUMBERS = {"hifloat8": 34, "float8_e5m2": 35, "float8_e4m3fn": 36, "float4_e2m1": 40, "float4_e1m2": 41, "int8": 2, "int4": 29}


def hifloat8(code):
    """A sign, a prefix that states the width of the exponent, the exponent as sign and magnitude with a hidden 1, a mantissa."""
    if code == 0x80:
        return float("nan")
    bits = f"{code & 127:07b}"
    sign = -1.0 if code & 128 else 1.0
    for prefix, width in [("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0)]:
        if bits.startswith(prefix):
            rest = bits[len(prefix) :]
            field, mantissa = rest[:width], rest[width:]
            exponent = int("1" + field[1:], 2) * (-1 if field[0] == "1" else 1) if width else 0
            if exponent == 15 and mantissa == "1":
                return sign * float("inf")
            return sign * (1 + int(mantissa, 2) / 2 ** len(mantissa)) * 2.0**exponent
    steps = int(bits[4:], 2)
    return sign * 2.0 ** (steps - 23) if steps else 0.0


def table(name):
    """The value of each code, in float64."""
    codes = np.arange(2 ** BITS[name])
    if name in KNOWN:
        return codes.astype(np.uint8).view(KNOWN[name]).astype(np.float64)
    if name == "hifloat8":
        return np.array([hifloat8(code) for code in codes])
    sign, exponent, mantissa = codes >> 3, codes >> 2 & 1, codes & 3
    return np.where(sign == 1, -1.0, 1.0) * np.where(exponent == 1, 1 + mantissa / 4, mantissa / 4)


TABLES = {name: table(name) for name in BITS}


def largest(name):
    values = TABLES[name]
    return values[np.isfinite(values)].max()


def magnitudes(name):
    """The codes of numbers that are not negative, in the order of their values."""
    values = TABLES[name]
    half = len(values) // 2
    codes = [code for code in range(half) if np.isfinite(values[code])]
    codes.sort(key=lambda code: values[code])
    return np.array(codes), values[codes]


def encode(name, values, mode="rint"):
    """Codes of numbers, rounded by `rint`, `round` (halves away from zero) or `floor`. Numbers that are too large saturate."""
    values = np.nan_to_num(np.asarray(values, np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    codes, known = magnitudes(name)
    size = np.minimum(np.abs(values), known[-1])
    high = np.searchsorted(known, size)
    low = np.where(known[high] == size, high, high - 1)
    down, up = size - known[low], known[high] - size
    if mode == "floor":
        choice = np.where(np.signbit(values), high, low)
    else:
        nearest = np.where(down < up, low, high)
        even = np.where(codes[low] % 2 == 0, low, high)
        choice = np.where(down == up, high if mode == "round" else even, nearest)
    sign = np.signbit(values).astype(np.int64) << (BITS[name] - 1)
    found = codes[choice]
    if name == "hifloat8":
        # There is one zero.
        return np.where(found == 0, 0, found | sign)
    return found | sign


def is_clear(name, values, mode="rint", margin=5e-6):
    """Whether no number lies so close to where its code changes that an error in float32 could change it."""
    values = np.asarray(values, np.float64)
    return bool(np.array_equal(encode(name, values * (1 - margin), mode), encode(name, values * (1 + margin), mode)))


def decode(name, codes):
    return TABLES[name][np.asarray(codes, np.int64)]


for name, dtype in KNOWN.items():
    if name != "float8_e8m0":
        wide = np.concatenate([np.linspace(-largest(name), largest(name), 4001), np.random.default_rng(1).normal(size=4000)])
        assert np.array_equal(encode(name, wide), wide.astype(dtype).view(np.uint8) & (2 ** BITS[name] - 1)), name


def scale_codes(most, rule):
    """Codes of scales from the largest magnitude of each block. Rules: ("below", exponent), ("above", limit, nearest)."""
    most = np.asarray(most, np.float64)
    if rule[0] == "below":
        exponent = np.where(most > 0, np.floor(np.log2(np.where(most > 0, most, 1.0))), -1000)
        return np.clip(exponent - rule[1] + 127, 0, 254).astype(np.int64)
    scale = most.astype(np.float32) / np.float32(rule[1])
    bits = scale.view(np.uint32).astype(np.int64)
    field, mantissa = bits >> 23, bits & 0x7FFFFF
    up = np.where(field == 0, rule[2] & (mantissa > 0x400000), (field < 254) & (mantissa > 0))
    return np.minimum(field + up, 254)


EXPONENTS = {"float4_e2m1": 2, "float4_e1m2": 0, "float8_e4m3fn": 8, "float8_e5m2": 15}


def rule_of(name, algorithm, limit=0.0):
    if algorithm == 0:
        return ("below", EXPONENTS[name])
    return ("above", limit or largest(name), algorithm == 1)


def in_blocks(name, values, axis, rule, mode="rint", block=32, least=0.0, clear=None):
    """Quantises along a dimension. Returns codes, and codes of scales with pairs of blocks side by side.

    `clear`, a list, collects whether the result is certain for values with errors of float32.
    """
    values = np.asarray(values, np.float64)
    rows = np.moveaxis(values, axis, -1)
    size = rows.shape[-1]
    pairs = -(-size // (2 * block))
    filled = np.zeros(rows.shape[:-1] + (2 * pairs * block,))
    filled[..., :size] = rows
    blocks = filled.reshape(rows.shape[:-1] + (2 * pairs, block))
    # A block with infinities or not-a-number has the scale 255, and zeros.
    finite = np.isfinite(blocks).all(-1)
    blocks = np.where(finite[..., None], blocks, 0)
    most = np.maximum(np.abs(blocks).max(-1), least)
    scales = scale_codes(most, rule)
    quotients = blocks / 2.0 ** (scales[..., None] - 127.0)
    codes = encode(name, quotients, mode)
    scales = np.where(finite, scales, 255)
    if clear is not None:
        near = [scale_codes(most * (1 + error), rule) for error in (-5e-6, 5e-6)]
        clear.append(np.array_equal(near[0], near[1]) and is_clear(name, quotients, mode))
    codes = np.moveaxis(codes.reshape(filled.shape)[..., :size], -1, axis)
    exists = np.arange(2 * pairs) < -(-size // block)
    scales = np.where(exists, scales, 0).reshape(rows.shape[:-1] + (pairs, 2))
    return codes, np.moveaxis(scales, -2, axis % values.ndim)


def in_groups(name, values, ends, rule, mode="rint", block=32, clear=None):
    """Quantises groups of rows of a matrix along the rows."""
    codes = np.zeros(values.shape, np.int64)
    scales = np.zeros((values.shape[0] // (2 * block) + len(ends), values.shape[1], 2), np.int64)
    start = 0
    for group, end in enumerate(ends):
        if end > start:
            own, own_scales = in_blocks(name, values[start:end], 0, rule, mode, block, clear=clear)
            codes[start:end] = own
            first = start // (2 * block) + group
            scales[first : first + len(own_scales)] = own_scales
        start = end
    return codes, scales
