"""Quantisation in blocks with a common scale, of rows, of columns, of tensors; computed with NumPy in float64."""

import numpy as np
import torch
from cases import Cases, Null, Out
from minifloat import NUMBERS, coded, decode, encode, in_blocks, in_groups, largest, rule_of, scale_codes

cases = Cases("blocks")
torch.manual_seed(71)
f16, f32, bf16 = torch.float16, torch.float32, torch.bfloat16
FOURS = ["float4_e2m1", "float4_e1m2"]
EIGHTS = ["float8_e4m3fn", "float8_e5m2"]


def noise(*shape, dtype=f32):
    """Numbers of very different sizes, so that blocks have different scales."""
    size = torch.randint(-6, 7, shape).double().exp2()
    return (torch.randn(*shape).double() * size).to(dtype)


def exact(values):
    return values.double().numpy()


def mx(name, values, axis, algorithm=0, limit=0.0, mode="rint", block=32, least=0.0):
    codes, scales = in_blocks(name, exact(values), axis, rule_of(name, algorithm, limit), mode, block, least)
    return coded(name, codes), coded("float8_e8m0", scales)


# One dimension.
for name in FOURS + EIGHTS:
    dense = name in FOURS
    modes = ["rint", "round", "floor"] if name in FOURS else ["rint"]
    for dtype, shape, axis, block in [(f16, (2, 70), -1, 32), (bf16, (70, 2), 0, 32), (f16, (2, 33, 2), 1, 32), (bf16, (100,), 0, 64), (f16, (2, 130), 1, 96)]:
        for mode in modes:
            x = noise(*shape, dtype=dtype)
            y, scale = mx(name, x, axis, mode=mode, block=block)
            given = dict(x=x, axis=axis, roundModeOptional=mode, dstType=NUMBERS[name], blocksize=block, scaleAlg=0, yOut=Out(y), mxscaleOut=Out(scale))
            cases.add("aclnnDynamicMxQuant", dense=dense, **given)
    cases.add("aclnnDynamicMxQuantV2", dense=dense, dstTypeMax=0.0, **given)
    cases.add("aclnnDynamicMxQuantV3", dense=dense, dstTypeMax=0.0, maxLowBound=0.0, **{**given, "roundModeOptional": Null if mode == "rint" else mode})
for name in EIGHTS:
    for dtype in [f16, bf16, f32]:
        for least in [0.0, 0.5]:
            x = noise(2, 64, dtype=dtype)
            x[0, :32] = 0
            x[1, 32:] *= 1e-6
            y, scale = mx(name, x, -1, 1, least=least)
            given = dict(x=x, axis=-1, roundModeOptional="rint", dstType=NUMBERS[name], blocksize=32, scaleAlg=1, yOut=Out(y), mxscaleOut=Out(scale))
            cases.add("aclnnDynamicMxQuantV3", dstTypeMax=0.0, maxLowBound=least, **given)
    cases.add("aclnnDynamicMxQuantV2", dstTypeMax=0.0, **{**given, "x": x, "yOut": Out(mx(name, x, -1, 1)[0]), "mxscaleOut": Out(mx(name, x, -1, 1)[1])})
for limit in [0.0, 6.0, 7.0, 8.5, 12.0]:
    x = noise(4, 64, dtype=bf16)
    x[0, 0], x[1, 40], x[2, 5] = 6.0, 7.0, 1.5
    x[0, 1:32], x[1, 32:40], x[1, 41:] = 1.0, 0.25, -3.0
    y, scale = mx("float4_e2m1", x, -1, 2, limit)
    given = dict(x=x, axis=-1, roundModeOptional="rint", dstType=40, blocksize=32, scaleAlg=2, dstTypeMax=limit, yOut=Out(y), mxscaleOut=Out(scale))
    cases.add("aclnnDynamicMxQuantV2", dense=True, **given)
    cases.add("aclnnDynamicMxQuantV3", dense=True, maxLowBound=0.0, **given)
x = noise(3, 96, dtype=f32)
x[0, 3], x[1, 40], x[2, 90] = float("inf"), float("nan"), float("-inf")
for name, algorithm in [("float8_e4m3fn", 0), ("float8_e4m3fn", 1), ("float8_e5m2", 0)]:
    y, scale = mx(name, x, -1, algorithm)
    given = dict(x=x, axis=-1, roundModeOptional="rint", dstType=NUMBERS[name], blocksize=32, scaleAlg=algorithm, yOut=Out(y), mxscaleOut=Out(scale))
    cases.add("aclnnDynamicMxQuant", **given)
# The example of the documents: 0, 8, 64 and 512 become 0, 4, 32 and 256 with the scale 2.
x = torch.tensor([[0, 8, 64, 512]], dtype=bf16)
y, scale = coded("float8_e4m3fn", [[0, 72, 96, 120]]), coded("float8_e8m0", [[[128, 0]]])
given = dict(x=x, axis=-1, roundModeOptional="rint", dstType=36, blocksize=32, scaleAlg=0, yOut=Out(y), mxscaleOut=Out(scale))
cases.add("aclnnDynamicMxQuant", **given)
given |= dict(dstTypeMax=0.0, maxLowBound=0.0)
for change, status, text in [
    ({"x": Null}, 161001, "x is a null"), ({"axis": 2}, 161002, "axis is 2"), ({"roundModeOptional": "floor"}, 161002, "roundModeOptional"),
    ({"dstType": 35}, 161002, "dstType is 35"), ({"blocksize": 48}, 161002, "blocksize is 48"), ({"scaleAlg": 2}, 161002, "scaleAlg is 2"),
    ({"dstTypeMax": 6.0}, 161002, "dstTypeMax is 6"), ({"maxLowBound": 0.5}, 161002, "maxLowBound is 0.5"), ({"x": x.int()}, 161002, "x has the type"),
    ({"mxscaleOut": Out(coded("float8_e8m0", [[128, 0]]))}, 161002, "mxscaleOut has the shape"), ({"yOut": Out(x)}, 161002, "yOut has the type"),
    ({"mxscaleOut": Out(torch.zeros(1, 1, 2))}, 161002, "mxscaleOut has the type"), ({"scaleAlg": 1, "maxLowBound": -1.0}, 161002, "maxLowBound is -1"),
]:
    cases.add("aclnnDynamicMxQuantV3", refuse=(status, text), **{**given, **change})
odd = coded("float4_e2m1", [[0, 1, 2]])
cases.add(
    "aclnnDynamicMxQuantV3", refuse=(161002, "must be even"), **{**given, "x": x[:, :3].contiguous(), "yOut": Out(odd), "dstType": 40}
)

# The last two dimensions.
for name in FOURS + EIGHTS:
    for dtype, shape in [(f16, (34, 4)), (bf16, (2, 2, 66))]:
            x = noise(*shape, dtype=dtype)
            for algorithm in [0, 1] if name in EIGHTS else [0]:
                (one, scale1), (two, scale2) = mx(name, x, -1, algorithm), mx(name, x, -2, algorithm)
                given = dict(
                    x=x, roundModeOptional="rint", dstType=NUMBERS[name], scaleAlg=algorithm, y1Out=Out(one), mxscale1Out=Out(scale1), y2Out=Out(two),
                    mxscale2Out=Out(scale2),
                )
                cases.add("aclnnDynamicMxQuantWithDualAxis", dense=name in FOURS, **given)
                cases.add("aclnnDynamicMxQuantWithDualAxisV2", dense=name in FOURS, dstTypeMax=0.0, **given)
x = noise(33, 4, dtype=bf16)
(one, scale1), (two, scale2) = mx("float4_e2m1", x, -1, 2, 9.0), mx("float4_e2m1", x, -2, 2, 9.0)
outs = dict(y1Out=Out(one), mxscale1Out=Out(scale1), y2Out=Out(two), mxscale2Out=Out(scale2))
cases.add("aclnnDynamicMxQuantWithDualAxisV2", dense=True, x=x, roundModeOptional="rint", dstType=40, scaleAlg=2, dstTypeMax=9.0, **outs)
for operator, more in [("aclnnDynamicMxQuantWithDualAxis", {}), ("aclnnDynamicMxQuantWithDualAxisV2", {"dstTypeMax": 0.0})]:
    given = dict(x=x, roundModeOptional="rint", dstType=40, scaleAlg=0, **outs, **more)
    cases.add(operator, refuse=(161002, "mxscale2Out has the shape"), **{**given, "mxscale2Out": Out(scale1)})
    cases.add(operator, refuse=(161002, "x has one dimension"), **{**given, "x": x[0]})
    cases.add(operator, refuse=(161002, "scaleAlg is 1"), **{**given, "scaleAlg": 1})

# Back.
for name in FOURS + EIGHTS:
    for dtype, number, shape, axis in [(f16, 1, (2, 70), -1), (bf16, 27, (70, 2), 0), (f32, 0, (2, 33, 2), -2)]:
            y, scale = mx(name, torch.randn(*shape), axis)
            sizes = decode("float8_e8m0", np.moveaxis(scale.codes.numpy(), axis if axis >= 0 else axis - 1, -2))
            rows = np.moveaxis(decode(name, y.codes.numpy()), axis, -1)
            factors = sizes.reshape(sizes.shape[:-2] + (-1,)).repeat(32, -1)[..., : rows.shape[-1]]
            back = torch.from_numpy(np.ascontiguousarray(np.moveaxis(rows * factors, -1, axis))).to(dtype)
            given = dict(x=y, mxscale=scale, axis=axis, dstType=number, y=Out(back))
            cases.add("aclnnAntiMxQuant", dense=name in FOURS, within=0.0, **given)
y, scale = mx("float8_e5m2", torch.randn(3, 40), -1)
given = dict(x=y, mxscale=scale, axis=-1, dstType=0, y=Out(torch.zeros(3, 40)))
for change, status, text in [
    ({"mxscale": Null}, 161001, "mxscale"), ({"dstType": 1}, 161002, "dstType is 1"), ({"axis": -3}, 161002, "axis is -3"), ({"axis": 0}, 161002, "mxscale has the shape"),
    ({"x": torch.zeros(3, 40)}, 161002, "x has the type"), ({"y": Out(torch.zeros(40, 3))}, 161002, "y has the shape"),
]:
    cases.add("aclnnAntiMxQuant", refuse=(status, text), **{**given, **change})

# Groups of rows.
for name in FOURS + EIGHTS:
    for dtype in [bf16 if name in EIGHTS else f16]:
        x, ends = noise(150, 2, dtype=dtype), [70, 70, 75, 150]
        for algorithm in [0, 1] if name in EIGHTS else [0, 2]:
            codes, scales = in_groups(name, exact(x), ends, rule_of(name, algorithm))
            given = dict(
                x=x, groupIndex=torch.tensor(ends, dtype=torch.int32), roundMode="rint", dstType=NUMBERS[name], blocksize=32, y=Out(coded(name, codes)),
                mxscale=Out(coded("float8_e8m0", scales)),
            )
            cases.add("aclnnGroupedDynamicMxQuantV2", dense=name in FOURS, scaleAlg=algorithm, dstTypeMax=0.0, **given)
            if algorithm == 0:
                cases.add("aclnnGroupedDynamicMxQuant", dense=name in FOURS, **given)
for operator, more in [("aclnnGroupedDynamicMxQuant", {}), ("aclnnGroupedDynamicMxQuantV2", {"scaleAlg": 0, "dstTypeMax": 0.0})]:
    for change, status, text in [
        ({"groupIndex": Null}, 161001, "groupIndex"), ({"groupIndex": torch.tensor(ends)}, 161002, "groupIndex has the type"), ({"blocksize": 64}, 161002, "blocksize is 64"),
        ({"mxscale": Out(coded("float8_e8m0", scales[:-1]))}, 161002, "mxscale has the shape"), ({"x": x[0]}, 161002, "x has 1 dimensions"),
    ]:
        cases.add(operator, refuse=(status, text), **{**given, **more, **change})

# Blocks of 32 x 32, whose scale is written for rows and for columns.
for name in FOURS + EIGHTS:
    for dtype, shape in [(f16, (34, 6)), (bf16, (2, 2, 66))]:
        for algorithm, limit in [(0, 0.0)] if name != "float4_e2m1" else [(0, 0.0), (2, 0.0), (2, 7.0)]:
            x = noise(*shape, dtype=dtype)
            values = exact(x).reshape((-1,) + shape[-2:])
            batch, rows, columns = values.shape
            codes = np.zeros(values.shape, np.int64)
            one = np.zeros((batch, rows, -(-columns // 64) * 2), np.int64)
            two = np.zeros((batch, -(-rows // 64), columns, 2), np.int64)
            for b in range(batch):
                for top in range(0, rows, 32):
                    for left in range(0, columns, 32):
                        part = values[b, top : top + 32, left : left + 32]
                        scale = scale_codes(np.array([np.abs(part).max()]), rule_of(name, algorithm, limit))[0]
                        codes[b, top : top + 32, left : left + 32] = encode(name, part / 2.0 ** (int(scale) - 127))
                        one[b, top : top + 32, left // 32] = scale
                        two[b, top // 64, left : left + 32, top // 32 % 2] = scale
            shaped = lambda values: values.reshape(shape[:-2] + values.shape[1:])
            given = dict(
                x=x, roundModeOptional=Null, dstType=NUMBERS[name], scaleAlg=algorithm, dstTypeMax=limit, yOut=Out(coded(name, shaped(codes))),
                scale1Out=Out(coded("float8_e8m0", shaped(one.reshape(batch, rows, -1, 2)))), scale2Out=Out(coded("float8_e8m0", shaped(two))),
            )
            cases.add("aclnnDynamicBlockMxQuant", dense=name in FOURS, **given)
for change, status, text in [
    ({"scaleAlg": 1}, 161002, "scaleAlg is 1"), ({"dstTypeMax": 8.0}, 161002, "dstTypeMax 8"), ({"x": x[0, 0]}, 161002, "x has 1 dimensions"), ({"scale1Out": Out(coded("float8_e8m0", two))}, 161002, "scale1Out has the shape"),
    ({"yOut": Null}, 161001, "yOut"), ({"dstType": 2}, 161002, "dstType is 2"),
]:
    cases.add("aclnnDynamicBlockMxQuant", refuse=(status, text), **{**given, **change})


def block_factors(name, values, row, column, limit=0.0, least=0.0, ends=None):
    """Factors of blocks of matrices, and the numbers of the blocks over them. Both divisions are those of float32."""
    batch, rows, columns = values.shape
    values = values.astype(np.float32)
    top = np.float32(limit or (127.0 if name == "int8" else largest(name)))
    count = -(-rows // row) if ends is None else rows // row + len(ends)
    scales = np.zeros((batch, count, -(-columns // column)), np.float32)
    quotients = np.zeros(values.shape, np.float32)
    for b in range(batch):
        start = 0
        for group, end in enumerate(ends or [rows]):
            base = 0 if ends is None else start // row + group
            for index, first in enumerate(range(start, end, row)):
                for left in range(0, columns, column):
                    part = (b, slice(first, min(first + row, end)), slice(left, left + column))
                    scale = np.abs(values[part]).max() / top
                    scale = min(scale, np.float32(1 / least)) if least else scale
                    scales[b, base + index, left // column] = scale
                    quotients[part] = values[part] / scale
            start = end
    return scales, quotients


def codes_of(name, quotients, mode):
    if name == "int8":
        return torch.from_numpy(np.clip(np.round(quotients), -128, 127)).to(torch.int8)
    return coded(name, encode(name, quotients, mode))


for name in EIGHTS + ["hifloat8", "int8"]:
    mode = "round" if name == "hifloat8" else "rint"
    for dtype in [f16, bf16, f32]:
        for shape, row, column, least in {f16: [((2, 130), 1, 128, 0.0)], bf16: [((130, 3), 128, 64, 0.0)], f32: [((2, 2, 66), 1, 64, 4.0)]}[dtype]:
            for limit in [0.0, 56.0] if name == "hifloat8" else [0.0]:
                x = noise(*shape, dtype=dtype)
                scales, quotients = block_factors(name, exact(x).reshape((-1,) + shape[-2:]), row, column, limit, least)
                y = codes_of(name, quotients.reshape(shape), mode)
                given = dict(
                    x=x, minScale=least, roundModeOptional=mode, dstType=NUMBERS[name], rowBlockSize=row, colBlockSize=column, yOut=Out(y),
                    scaleOut=Out(torch.from_numpy(scales.reshape(shape[:-2] + scales.shape[1:]))),
                )
                if limit == 0:
                    cases.add("aclnnDynamicBlockQuant", **given)
                cases.add("aclnnDynamicBlockQuantV2", dstTypeMax=limit, **given)
    if name == "int8":
        continue
    for dtype in [f16, bf16]:
        for shape, row, ends in {f16: [((6, 70), 1, [2, 2, 6])], bf16: [((2, 140, 2), 128, [130, 135, 140])]}[dtype]:
            x = noise(*shape, dtype=dtype)
            scales, quotients = block_factors(name, exact(x).reshape((-1,) + shape[-2:]), row, 64, ends=ends)
            y = codes_of(name, quotients.reshape(shape), mode)
            given = dict(
                x=x, groupList=torch.tensor(ends, dtype=torch.int32), minScale=0.0, roundModeOptional=mode, dstType=NUMBERS[name], rowBlockSize=row,
                colBlockSize=64, groupListType=0, yOut=Out(y), scaleOut=Out(torch.from_numpy(scales.reshape(shape[:-2] + scales.shape[1:]))),
            )
            grouped = given
            cases.add("aclnnGroupedDynamicBlockQuant", **given)
            cases.add("aclnnGroupedDynamicBlockQuantV2", dstTypeMax=0.0, **given)
for operator, more in [("aclnnGroupedDynamicBlockQuant", {}), ("aclnnGroupedDynamicBlockQuantV2", {"dstTypeMax": 0.0})]:
    for change, status, text in [
        ({"groupListType": 1}, 161002, "groupListType is 1"), ({"groupList": Null}, 161001, "groupList"), ({"rowBlockSize": 2}, 161002, "rowBlockSize is 2"),
        ({"minScale": -1.0}, 161002, "minScale is -1"), ({"roundModeOptional": "hybrid"}, 561003, "hybrid"),
    ]:
        cases.add(operator, refuse=(status, text), **{**grouped, **more, **change})
x = noise(4, 64)
given = dict(
    x=x, minScale=0.0, roundModeOptional="rint", dstType=36, rowBlockSize=1, colBlockSize=64, yOut=Out(coded("float8_e4m3fn", np.zeros((4, 64)))),
    scaleOut=Out(torch.zeros(4, 1)),
)
for operator, more in [("aclnnDynamicBlockQuant", {}), ("aclnnDynamicBlockQuantV2", {"dstTypeMax": 0.0})]:
    for change, status, text in [
        ({"colBlockSize": 32}, 161002, "colBlockSize is 32"), ({"x": x[0]}, 161002, "x has 1 dimensions"), ({"scaleOut": Out(torch.zeros(4))}, 161002, "scaleOut has the shape"),
        ({"scaleOut": Null}, 161001, "scaleOut"), ({"dstType": 3}, 161002, "dstType is 3"), ({"roundModeOptional": "round"}, 161002, "roundModeOptional"),
    ]:
        cases.add(operator, refuse=(status, text), **{**given, **more, **change})
cases.add("aclnnDynamicBlockQuantV2", refuse=(161002, "dstTypeMax is 15"), **{**given, "dstTypeMax": 15.0})

# Two levels.
for dtype, shape in [(f16, (2, 516)), (bf16, (520,))]:
    for smooth, modes in [(None, ["floor", "round"]), (noise(shape[-1], dtype=dtype), ["rint"])]:
            for mode in modes:
                x = noise(*shape, dtype=dtype)
                product = (x.float() * (1 if smooth is None else smooth.float())).numpy()
                width = shape[-1]
                outer = np.zeros(shape[:-1] + (-(-width // 512),), np.float32)
                level = np.zeros(shape, np.float32)
                for block in range(outer.shape[-1]):
                    part = product[..., block * 512 : block * 512 + 512]
                    outer[..., block] = np.abs(part).max(-1) / np.float32(6)
                    level[..., block * 512 : block * 512 + 512] = part / outer[..., block, None]
                level = exact(torch.from_numpy(level).to(dtype))
                codes, scales = in_blocks("float4_e2m1", level, -1, ("below", 2), mode)
                cases.add(
                    "aclnnDynamicDualLevelMxQuant", dense=True, x=x, smoothScaleOptional=Null if smooth is None else smooth, roundModeOptional=mode, level0BlockSize=512,
                    level1BlockSize=32, yOut=Out(coded("float4_e2m1", codes)), level0ScaleOut=Out(torch.from_numpy(outer)), level1ScaleOut=Out(coded("float8_e8m0", scales)),
                )
given = dict(
    x=x, smoothScaleOptional=Null, roundModeOptional="rint", level0BlockSize=512, level1BlockSize=32, yOut=Out(coded("float4_e2m1", codes)),
    level0ScaleOut=Out(torch.from_numpy(outer)), level1ScaleOut=Out(coded("float8_e8m0", scales)),
)
for change, status, text in [
    ({"level0BlockSize": 256}, 161002, "level0BlockSize is 256"), ({"level1BlockSize": 64}, 161002, "level1BlockSize is 64"), ({"x": x.float()}, 161002, "x has the type"),
    ({"level0ScaleOut": Out(torch.zeros(3))}, 161002, "level0ScaleOut has the shape"), ({"smoothScaleOptional": x[:4]}, 161002, "smoothScaleOptional has the shape"),
]:
    cases.add("aclnnDynamicDualLevelMxQuant", refuse=(status, text), **{**given, **change})

# Factors that are given, and the largest magnitude.
for name in EIGHTS + ["hifloat8"]:
    mode = "round" if name == "hifloat8" else "rint"
    for dtype in [f16, bf16, f32]:
        for shape in [(7,), (3, 5), (2, 3, 4)]:
            x, factor = noise(*shape, dtype=dtype), torch.tensor([0.75])
            y = coded(name, encode(name, exact(x) * 0.75, mode))
            cases.add("aclnnQuantMax", x=x, scale=factor, roundMode=mode, dstType=NUMBERS[name], y=Out(y), amax=Out(x.abs().max().reshape(1)))
        for shape in [(6, 5), (6, 2, 4)]:
            x, ends, factors = noise(*shape, dtype=dtype), [2, 2, 6], [0.5, 3.0, 1.5]
            group = np.repeat([0, 2], [2, 4]).reshape((6,) + (1,) * (len(shape) - 1))
            y = coded(name, encode(name, exact(x) * np.array(factors)[group], mode))
            most = torch.stack([x[:2].abs().max(), x[:1].abs().max() * 0, x[2:].abs().max()])
            given = dict(x=x, scale=torch.tensor(factors), groupList=torch.tensor(ends), roundMode=mode, dstType=NUMBERS[name], y=Out(y), amax=Out(most))
            cases.add("aclnnGroupedQuantMax", **given)
for change, status, text in [
    ({"scale": torch.ones(2)}, 161002, "scale has the shape"), ({"groupList": Null}, 161001, "groupList"), ({"roundMode": "rint"}, 161002, "roundMode"), ({"roundMode": ""}, 161002, "roundMode is empty"),
    ({"amax": Out(torch.zeros(3, dtype=f16))}, 161002, "amax has the type"), ({"dstType": 2}, 161002, "dstType is 2"), ({"x": x.flatten()[:4]}, 161002, "x has 1 dimensions"),
]:
    cases.add("aclnnGroupedQuantMax", refuse=(status, text), **{**given, **change})
given = dict(x=noise(3), scale=torch.ones(1), roundMode="rint", dstType=36, y=Out(coded("float8_e4m3fn", [0, 0, 0])), amax=Out(torch.zeros(1)))
for change, status, text in [
    ({"scale": torch.ones(2)}, 161002, "scale has the shape"), ({"scale": Null}, 161001, "scale"), ({"roundMode": "round"}, 161002, "roundMode"), ({"dstType": 35}, 161002, "dstType is 35"),
]:
    cases.add("aclnnQuantMax", refuse=(status, text), **{**given, **change})

# Rows, columns and tensors.
for name in EIGHTS + ["hifloat8", "int8"]:
    mode = "round" if name == "hifloat8" else "rint"
    for dtype in [bf16 if name in EIGHTS else f16]:
        for extent, axis in [("pertoken", -1), ("perchannel", -2), ("pertensor", (-1, -2))]:
            for limit in [0.0, 100.0] if name == "hifloat8" else [0.0]:
                for symmetric in [True, False] if name == "int8" else [True]:
                    x = noise(4, 6, dtype=dtype)
                    smooth = noise(6 if extent == "pertoken" else 4, dtype=dtype) if extent != "pertensor" else None
                    # Every step is rounded to float32, so that the quotients are those of the formula to the last bit.
                    values = x.float().numpy()
                    if smooth is not None:
                        values = values * (smooth.float().numpy()[:, None] if extent == "perchannel" else smooth.float().numpy())
                    most, least = values.max(axis, keepdims=True), values.min(axis, keepdims=True)
                    if symmetric:
                        scale = np.abs(values).max(axis, keepdims=True) / np.float32(limit or (127 if name == "int8" else largest(name)))
                        offset = np.float32(0)
                    else:
                        scale = (most - least) / np.float32(255)
                        offset = np.float32(127) - most / scale
                    y = codes_of(name, values / scale + offset, mode)
                    flat = lambda numbers: torch.from_numpy(numbers).reshape(-1)
                    cases.add(
                        "aclnnDynamicQuantV4", x=x, smoothScalesOptional=Null if smooth is None else smooth, groupIndexOptional=Null, dstType=NUMBERS[name],
                        isSymmetrical=symmetric, quantMode=extent, dstTypeMax=limit, yOut=Out(y), scaleOut=Out(flat(scale)),
                        offsetOut=Null if symmetric else Out(flat(offset)), within=1e-5,
                    )
given = dict(
    x=x, smoothScalesOptional=Null, groupIndexOptional=Null, dstType=2, isSymmetrical=True, quantMode="perchannel", dstTypeMax=0.0, yOut=Out(y), scaleOut=Out(torch.zeros(6)),
    offsetOut=Null,
)
for change, status, text in [
    ({"dstTypeMax": 15.0}, 161002, "dstTypeMax is 15"), ({"groupIndexOptional": torch.tensor([4], dtype=torch.int32)}, 161002, "groupIndexOptional"),
    ({"scaleOut": Out(torch.zeros(4))}, 161002, "scaleOut has the shape"), ({"quantMode": "perhaps"}, 161002, "quantMode"), ({"yOut": Null}, 161001, "yOut"),
]:
    cases.add("aclnnDynamicQuantV4", refuse=(status, text), **{**given, **change})
cases.write()
