"""Makes quant.txt: `python quant.py` in an environment with PyTorch. Expected values are float64, rounded once."""

import struct

import torch
import torch.nn.functional as nn

from cases import Cases, Null, Out
from layouts import packed

torch.manual_seed(40)
cases = Cases("quant")
f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
i8, i32, i64, u8, u64, boolean = torch.int8, torch.int32, torch.int64, torch.uint8, torch.uint64, torch.bool
FLOATS = [f32, f16, bf16]


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def safe(*lines):
    """Reports whether no number lies so near a half that rounding depends on the last bits."""
    return all(bool(((line - line.floor() - 0.5).abs() > 1e-3).all()) for line in lines)


def limited(values, least=-128, most=127, dtype=i8):
    return values.clamp(least, most).to(dtype)


ROUND = {"round": torch.round, "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc}
for dtype in FLOATS:
    for mode, operation in ROUND.items():
        for sqrt in [False, True]:
            x, scale, offset = noise(3, 8, dtype=dtype), noise(8, dtype=dtype).abs() * 4 + 0.5, noise(8, dtype=dtype)
            # Products of multiples of 1/64 and 1/2 are exact: no result depends on rounding before the last step.
            factor = scale.double() ** 2 if sqrt else scale.double()
            y = operation(x.double() * factor + offset.double())
            given = dict(x=x, scale=scale, offset=offset, sqrtMode=sqrt, roundMode=mode, dstType=2)
            if dtype == f32 or mode == "round":
                cases.add("aclnnAscendQuant", y=Out(limited(y)), **given)
    x, scale = noise(2, 3, 4, dtype=dtype), noise(3, dtype=dtype).abs() * 4 + 0.5
    y = (x.double() * scale.double()[:, None]).round()
    cases.add("aclnnAscendQuantV3", x=x, scale=scale, offset=Null, sqrtMode=False, roundMode="round", dstType=2, axis=-2, y=Out(limited(y)))
    x, scale = noise(2, 16, dtype=dtype), torch.tensor([3.5], dtype=dtype)
    y = limited((x.double() * 3.5).round(), -8, 7)
    cases.add(
        "aclnnAscendQuantV3", x=x, scale=scale, offset=Null, sqrtMode=False, roundMode="round", dstType=29, axis=-1, y=Out(packed(y)), dense=True
    )
    for out in [f16, bf16]:
        x, scale, offset = torch.randint(-128, 128, (3, 8)).to(i8), noise(8), noise(8)
        for sqrt in [False, True]:
            y = (x.double() + offset.double()) * scale.double() * (scale.double() if sqrt else 1)
            given = dict(scale=scale, offset=offset, dstType=27 if out == bf16 else 1, sqrtMode=sqrt, within=1.6e-2 if out == bf16 else 2e-3)
            cases.add("aclnnAscendAntiQuant", x=x, y=Out(y.to(out)), **given)
        fours = torch.randint(-8, 8, (3, 8)).to(i8)
        y = fours.double() * scale.double()
        cases.add("aclnnAscendAntiQuant", x=packed(fours), scale=scale, offset=Null, dstType=27 if out == bf16 else 1, sqrtMode=False, y=Out(y.to(out)), dense=True)
    for out, least, most in [(i8, -128, 127), (u8, 0, 255), (i32, -(2**31), 2**31 - 1)]:
        while True:
            x, scale, zero = noise(3, 4, dtype=dtype, scale=4), noise(4, dtype=dtype).abs() + 0.1, torch.randint(-5, 6, (4,))
            y = x.double() / scale.double() + zero
            if safe(y):
                break
        zero = zero.to(out if out != u8 else i32)
        cases.add("aclnnQuantize", x=x, scales=scale, zeroPoints=zero, dtype=out, axis=1, out=Out(limited(y.round(), least, most, out)))
        single = x.double() / 0.75
        if safe(single):
            cases.add(
                "aclnnQuantize", x=x, scales=torch.tensor([0.75], dtype=dtype), zeroPoints=Null, dtype=out, axis=0, out=Out(limited(single.round(), least, most, out))
            )
    # By the extremes of rows.
    while True:
        x, smooth, experts = noise(2, 3, 16, dtype=dtype), noise(16, dtype=dtype).abs() + 0.5, noise(2, 16, dtype=dtype).abs() + 0.5
        exact = x.double()
        group = torch.tensor([0, 0, 0, 0, 1, 1]).reshape(2, 3)
        lines = [exact, exact * smooth.double(), exact * experts.double()[group]]
        tensors = [line / (line.abs().amax(-1, keepdim=True) / most) for line in lines for most in (127, 7)]
        spread = exact.amax(-1, keepdim=True) - exact.amin(-1, keepdim=True)
        uneven = [exact / (spread / span) + (top - exact.amax(-1, keepdim=True) / (spread / span)) for span, top in ((255, 127), (15, 7))]
        whole = exact / (exact.abs().max() / 127)
        if safe(*tensors, *uneven, whole):
            break
    sizes = [(line.abs().amax(-1) / most).float() for line in lines for most in (127, 7)]
    cases.add("aclnnDynamicQuant", x=x, smoothScalesOptional=Null, yOut=Out(limited(tensors[0].round())), scaleOut=Out(sizes[0]))
    cases.add("aclnnDynamicQuant", x=x, smoothScalesOptional=smooth, yOut=Out(limited(tensors[2].round())), scaleOut=Out(sizes[2]))
    cases.add(
        "aclnnDynamicQuant", x=x, smoothScalesOptional=smooth, yOut=Out(packed(limited(tensors[3].round(), -8, 7))), scaleOut=Out(sizes[3]), dense=True
    )
    ends = torch.tensor([4, 6], dtype=i32)
    cases.add(
        "aclnnDynamicQuantV2", x=x, smoothScalesOptional=experts, groupIndexOptional=ends, dstType=2, yOut=Out(limited(tensors[4].round())),
        scaleOut=Out(sizes[4]), offsetOut=Null,
    )
    offset = (127 - exact.amax(-1) / (spread.squeeze(-1) / 255)).float()
    given = dict(x=x, smoothScalesOptional=Null, groupIndexOptional=Null, dstType=2, yOut=Out(limited(uneven[0].round())), within=2e-5)
    cases.add("aclnnDynamicQuantV2", scaleOut=Out((spread.squeeze(-1) / 255).float()), offsetOut=Out(offset), **given)
    cases.add(
        "aclnnDynamicQuantV3", isSymmetrical=False, quantMode="pertoken", scaleOut=Out((spread.squeeze(-1) / 255).float()), offsetOut=Out(offset), **given
    )
    given |= dict(yOut=Out(limited(whole.round())))
    cases.add(
        "aclnnDynamicQuantV3", isSymmetrical=True, quantMode="pertensor", scaleOut=Out((exact.abs().max() / 127).float().reshape(1)), offsetOut=Null, **given
    )
    # Groups by their ends.
    scale = noise(3, 4, dtype=dtype).abs() * 4 + 0.5
    x, group = noise(5, 4, dtype=dtype), torch.tensor([0, 0, 2, 2, 2])
    y = (x.double() * scale.double()[group] + 1.25).round()
    cases.add(
        "aclnnGroupQuant", x=x, scale=scale, groupIndex=torch.tensor([2, 2, 5]), offsetOptional=torch.tensor([1.25], dtype=dtype), dstType=2, y=Out(limited(y))
    )
    if dtype != bf16:
        x, scale, zero = noise(3, 4, dtype=dtype), (noise(4, dtype=dtype).abs() + 0.125).to(dtype), torch.randint(-3, 4, (4,)).to(i32)
        while not safe(x.double() / scale.double(), x.double() / 0.375):
            x = noise(3, 4, dtype=dtype)
        value = (x.double() / scale.double()).round() + zero
        y = (value.clamp(-8, 7) - zero) * scale.double()
        cases.add(
            "aclnnFakeQuantPerChannelAffineCachemask", self=x, scale=scale, zeroPoint=zero, axis=1, quantMin=-8, quantMax=7, out=Out(y.to(dtype)),
            mask=Out((value >= -8) & (value <= 7)),
        )
        value = (x.double() / 0.375).round() + 2
        y = (value.clamp(0, 5) - 2) * 0.375
        given = dict(scale=torch.tensor([0.375], dtype=dtype), zeroPoint=torch.tensor([2], dtype=i32), quantMin=0, quantMax=5)
        cases.add(
            "aclnnFakeQuantPerTensorAffineCachemask", self=x, fakeQuantEnbled=1.0, out=Out(y.to(dtype)), mask=Out((value >= 0) & (value <= 5)), **given
        )
        cases.add("aclnnFakeQuantPerTensorAffineCachemask", self=x, fakeQuantEnbled=0.0, out=Out(x), mask=Out(torch.ones(3, 4, dtype=boolean)), **given)
for out in [f16, bf16]:
    x, weights, rows = torch.randint(-3000, 3000, (3, 4)).to(i32), noise(4) * 2**-10, noise(3).abs() + 0.5
    base = x.double()
    number = 27 if out == bf16 else 1
    for bias, y in [
        (Null, base * weights.double() * rows.double()[:, None]),
        (torch.randint(-99, 99, (4,)).to(i32), None),
        (noise(4, dtype=out), None),
    ]:
        if y is None:
            integer = bias.dtype == i32
            y = (base + (bias if integer else 0)) * weights.double() * rows.double()[:, None] + (0 if integer else bias.double())
        cases.add("aclnnDequantBias", x=x, weightScale=weights, activateScaleOptional=rows, biasOptional=bias, outputDtype=number, out=Out(y.to(out)))

# A gate between two quantisations.
for x_type in [i32, bf16, f16]:
    for mode in [None, 0, 1, 2, 3]:
        for left in [True, False]:
            if mode == 1 and not left:
                continue
            while True:
                if x_type == i32:
                    x, weights, rows = torch.randint(-2000, 2000, (4, 8)).to(i32), noise(2, 8) / 512, noise(4).abs() + 0.5
                else:
                    x, weights, rows = noise(4, 8, dtype=x_type, scale=2), None, None
                smooth, counts = noise(2, 4).abs() + 0.5, [1, 3]
                group = torch.tensor([0, 1, 1, 1])
                values = x.double() if weights is None else x.double() * weights.double()[group] * rows.double()[:, None]
                one, two = (values[:, ::2], values[:, 1::2]) if mode == 1 else (values[:, :4], values[:, 4:])
                if not left:
                    one, two = two, one
                if mode in (1, 2):
                    one, two = one.clamp(max=1.5), two.clamp(-1.5, 1.5)
                    y = one * torch.sigmoid(1.702 * one) * (two + 1)
                elif mode == 3:
                    y = nn.silu(one).clamp(max=1.5) * two.clamp(-1.5, 1.5)
                else:
                    y = nn.silu(one) * two
                y = y * smooth.double()[group]
                scale = y.abs().amax(-1, keepdim=True) / 127
                if safe(y / scale):
                    break
            given = dict(
                x=x, weightScaleOptional=Null if weights is None else weights, activationScaleOptional=Null if rows is None else rows, biasOptional=Null,
                quantScaleOptional=smooth, quantOffsetOptional=Null, groupIndexOptional=torch.tensor(counts), activateLeft=left, quantModeOptional="dynamic",
                yOut=Out(limited((y / scale).round())), scaleOut=Out(scale.squeeze(-1).float()), within=1e-5,
            )
            if mode is None:
                cases.add("aclnnDequantSwigluQuant", **given)
            else:
                more = dict(dstType=2, roundModeOptional="rint", activateDim=-1, swigluMode=mode, clampLimit=1.5, gluAlpha=1.702, gluBias=1.0)
                cases.add("aclnnDequantSwigluQuantV2", **given, **more)

# The 64-bit form of scales, from the bits that the documents describe.
scale, offset = torch.tensor([0.037, -1.5, 3.0]), torch.tensor([2.5, -300.0, 17.0])
words, shifted = [], []
for value, zero in zip(scale.tolist(), [2, -256, 17]):
    bits = struct.unpack("<I", struct.pack("<f", value))[0] & 0xFFFFE000
    words.append(bits | 1 << 46)
    shifted.append((bits | 1 << 46) & 0x4000FFFFFFFF | (zero & 0x1FF) << 37)
for out in [u64, i64]:
    cases.add("aclnnTransQuantParamV2", scale=scale, offset=Null, out=Out(torch.tensor(words, dtype=i64).to(out)))
    cases.add("aclnnTransQuantParamV2", scale=scale, offset=offset, out=Out(torch.tensor(shifted, dtype=i64).to(out)))
cases.add("aclnnTransQuantParamV3", scale=scale, offset=offset, roundMode=0, out=Out(torch.tensor(shifted, dtype=i64)))

# Bad calls.
x, scale = noise(2, 4), noise(4)
given = dict(x=x, scale=scale, offset=Null, sqrtMode=False, roundMode="round", dstType=2, axis=-1, y=Out(x.to(i8), False))
for change, status, text in [
    ({"axis": 2}, 161002, "axis is 2"), ({"x": noise(2, 2, 4), "y": Out(noise(2, 2, 4).to(i8), False), "axis": 0}, 161002, "last two"),
    ({"scale": noise(3)}, 161002, "scale has the shape [3]"), ({"roundMode": "up"}, 161002, "roundMode"), ({"dstType": 3}, 161002, "dstType is 3"),
    ({"y": Out(x, False)}, 161002, ""), ({"x": x.int()}, 161002, "x has the type int32"), ({"y": Out(noise(2, 3).to(i8), False)}, 161002, "y has the shape"),
    ({"roundMode": "hybrid"}, 561003, "hybrid"), ({"scale": Null}, 161001, "scale"),
]:
    cases.add("aclnnAscendQuantV3", refuse=(status, text), **{**given, **change})
given = dict(x=x, smoothScalesOptional=Null, groupIndexOptional=Null, dstType=2, isSymmetrical=True, quantMode="pertoken", yOut=Out(x.to(i8), False), scaleOut=Out(x[:, 0], False), offsetOut=Null)
for change, status, text in [
    ({"quantMode": "other"}, 161002, "quantMode"), ({"smoothScalesOptional": noise(3)}, 161002, "smoothScalesOptional has the shape"),
    ({"x": x[0], "yOut": Out(x[0].to(i8), False)}, 161002, "two dimensions"), ({"scaleOut": Out(noise(3), False)}, 161002, "scaleOut has the shape"),
    ({"dstType": 29}, 161002, "dstType is 29"), ({"yOut": Out(torch.zeros(2, 1, dtype=i32), False), "dstType": 3}, 161002, "multiple of 8"),
]:
    cases.add("aclnnDynamicQuantV3", refuse=(status, text), **{**given, **change})
given = dict(
    x=noise(2, 4, dtype=f16), weightScaleOptional=Null, activationScaleOptional=Null, biasOptional=Null, quantScaleOptional=Null, quantOffsetOptional=Null,
    groupIndexOptional=Null, activateLeft=True, quantModeOptional="dynamic", yOut=Out(torch.zeros(2, 2, dtype=i8), False), scaleOut=Out(noise(2), False),
)
for change, status, text in [
    ({"quantModeOptional": "static"}, 561003, "static"), ({"quantModeOptional": "other"}, 161002, "quantModeOptional"), ({"biasOptional": noise(4)}, 561003, "biasOptional"),
    ({"weightScaleOptional": noise(4)}, 161002, "weightScaleOptional"), ({"x": torch.zeros(2, 4, dtype=i32)}, 161001, "weightScaleOptional"),
    ({"x": noise(2, 3, dtype=f16)}, 161002, "even"), ({"quantOffsetOptional": noise(1)}, 161002, "quantOffsetOptional"),
]:
    cases.add("aclnnDequantSwigluQuant", refuse=(status, text), **{**given, **change})
cases.add("aclnnTransQuantParamV3", scale=scale, offset=Null, roundMode=1, out=Out(torch.zeros(4, dtype=i64), False), refuse=(561003, "roundMode 1"))
cases.add("aclnnTransQuantParamV2", scale=scale, offset=noise(3), out=Out(torch.zeros(4, dtype=i64), False), refuse=(161002, "equally many"))
cases.add("aclnnGroupQuant", x=x, scale=noise(2, 4), groupIndex=torch.tensor([2]), offsetOptional=Null, dstType=2, y=Out(x.to(i8), False), refuse=(161002, "scale has the shape"))
cases.write()
