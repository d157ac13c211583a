"""Gated activations that are quantised, and their gradients; computed with NumPy in float64."""

import numpy as np
import torch
from cases import Cases, Null, Out
from layouts import packed
from minifloat import NUMBERS, coded, encode, in_blocks, in_groups, is_clear, largest, rule_of

cases = Cases("gated")
torch.manual_seed(73)
f16, f32, bf16 = torch.float16, torch.float32, torch.bfloat16
i8, i32, i64 = torch.int8, torch.int32, torch.int64


def noise(*shape, dtype=f32):
    return (torch.randn(*shape) * 2).to(dtype)


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def split(x, axis=-1, left=True, alternating=False):
    values = x.double().numpy()
    if alternating:
        index = [np.arange(0, values.shape[axis], 2), np.arange(1, values.shape[axis], 2)]
        return [values.take(own, axis) for own in index]
    one, two = np.split(values, 2, axis)
    return (one, two) if left else (two, one)


def glu(x, axis=-1, left=True, mode=0, limit=0.0, alpha=1.0, bias=0.0):
    gate, value = split(x, axis, left or mode == 1, mode == 1)
    if mode in (1, 2):
        gate, value = np.minimum(gate, limit), np.clip(value, -limit, limit)
        return gate * sigmoid(alpha * gate) * (value + bias)
    if mode == 3:
        return np.minimum(gate * sigmoid(gate), limit) * np.clip(value, -limit, limit)
    return gate * sigmoid(gate) * value


def drawn(make):
    """Draws until the result is certain for a computation in float32. `make` returns a list of conditions, and the result."""
    for _ in range(2000):
        conditions, result = make()
        if all(conditions):
            return result
    raise AssertionError("no draw has a certain result")


# By rows, and by given scales.
def whole(values, top):
    return np.clip(np.round(values), -top - 1, top)


def certain(values):
    return bool((np.abs(values - np.floor(values) - 0.5) > 4e-6 * np.maximum(np.abs(values), 5)).all())


sizes = [2, 0, 3]
for dtype in [f16, bf16, f32]:
    for left in [True, False]:
        for wide in [True, False]:
            for top in [127, 7]:
                for kind in [0, 1, None]:

                    def make(dynamic):
                        x = noise(5, 32, dtype=dtype)
                        groups = 1 if kind is None else 3
                        owner = np.zeros(5, int) if kind is None else np.repeat([0, 2], [2, 3])
                        smooth = torch.rand(*((groups, 16) if wide else (groups,))) + 0.5
                        offsets = torch.randn(*smooth.shape)
                        rows = lambda numbers: numbers.double().numpy().reshape(groups, -1)[owner]
                        values = glu(x, left=left) * rows(smooth)
                        if dynamic:
                            scale = np.abs(values).max(-1) / top
                            values = values / scale[:, None]
                        else:
                            scale, values = np.zeros(5), values + rows(offsets)
                        return [certain(values)], (x, smooth, offsets, whole(values, top), scale)

                    index = Null if kind is None else torch.tensor([2, 2, 5] if kind == 0 else sizes, dtype=i32)
                    x, smooth, offsets, y, scale = drawn(lambda: make(True))
                    out = Out(torch.from_numpy(y).to(i8) if top == 127 else packed(y))
                    given = dict(x=x, smoothScalesOptional=smooth, offsetsOptional=Null, groupIndexOptional=index, activateLeft=left, quantModeOptional="dynamic")
                    more = dict(groupListType=kind or 0, dstType=2 if top == 127 else 29)
                    if wide == left or dtype == f16:
                        cases.add("aclnnSwiGluQuantV2", yOut=out, scaleOut=Out(torch.from_numpy(scale).float()), within=1e-5, dense=top == 7, **given, **more)
                    if top == 127 and kind == 0 and dtype == f16:
                        cases.add("aclnnSwiGluQuant", yOut=out, scaleOut=Out(torch.from_numpy(scale).float()), within=1e-5, **given)
                    if top == 127 and (wide == left or dtype == f16):
                        x, smooth, offsets, y, scale = drawn(lambda: make(False))
                        given |= dict(x=x, smoothScalesOptional=smooth, offsetsOptional=offsets, quantModeOptional="static", yOut=Out(torch.from_numpy(y).to(i8)))
                        cases.add("aclnnSwiGluQuantV2", scaleOut=Out(torch.zeros(5)), **given, **more)
x = noise(4, 8)
given = dict(
    x=x, smoothScalesOptional=Null, offsetsOptional=Null, groupIndexOptional=Null, activateLeft=True, quantModeOptional="dynamic", groupListType=0, dstType=2,
    yOut=Out(torch.zeros(4, 4, dtype=i8)), scaleOut=Out(torch.zeros(4)),
)
for change, status, text in [
    ({"x": Null}, 161001, "x is a null"), ({"quantModeOptional": "other"}, 161002, "quantModeOptional"), ({"groupListType": 2}, 161002, "groupListType is 2"),
    ({"dstType": 3}, 161002, "dstType is 3"), ({"x": noise(4, 7)}, 161002, "x has the shape"), ({"smoothScalesOptional": torch.ones(3)}, 161002, "smoothScalesOptional has the shape"),
    ({"quantModeOptional": "dynamic_msd"}, 561003, "dynamic_msd"), ({"x": x.int()}, 161002, "x has the type"), ({"x": noise(8)}, 161002, "must have at least 2"),
]:
    cases.add("aclnnSwiGluQuantV2", refuse=(status, text), **{**given, **change})
del given["groupListType"], given["dstType"]
cases.add("aclnnSwiGluQuant", refuse=(161002, "quantModeOptional"), **{**given, "quantModeOptional": Null})

# In blocks.
FOURS, EIGHTS = ["float4_e2m1", "float4_e1m2"], ["float8_e4m3fn", "float8_e5m2"]
GATE = dict(clampLimit=1.4, gluAlpha=1.702, gluBias=1.0)
for name in FOURS + EIGHTS:
    for index, (shape, split_axis, axis, mode, left, algorithm) in enumerate([
        ((3, 140), -1, -1, 0, True, 0), ((2, 2, 72), 2, 2, 0, False, 0), ((70, 8), -2, -1, 0, False, 0), ((40, 8), -1, -2, 0, True, 0), ((4, 72), -1, -1, 1, True, 0),
        ((34, 8), -1, 0, 1, True, 0), ((3, 72), -1, -1, 2, True, 0), ((3, 72), -1, -1, 2, False, 0), ((3, 72), -1, -1, 3, False, 0), ((3, 140), -1, -1, 0, True, 1),
    ]):
        if algorithm == 1 and name in FOURS:
            continue
        dtype = [f16, bf16][index % 2]

        def make():
            x, clear = noise(*shape, dtype=dtype), []
            values = glu(x, split_axis, left, mode, GATE["clampLimit"], GATE["gluAlpha"], GATE["gluBias"])
            return clear, (x, in_blocks(name, values, axis, rule_of(name, algorithm), clear=clear))

        x, (y, scale) = drawn(make)
        cases.add(
            "aclnnSwigluMxQuant", dense=name in FOURS, x=x, groupIndexOptional=Null, activateDim=split_axis, activateLeft=left, swigluMode=mode, groupMode=0, axis=axis,
            dstType=NUMBERS[name], roundModeOptional="rint", scaleAlg=algorithm, maxDtypeValue=0.0, yOut=Out(coded(name, y)), mxscaleOut=Out(coded("float8_e8m0", scale)), **GATE,
        )
for kind in [0, 1]:

    def make():
        x, clear = noise(72, 8, dtype=bf16), []
        return clear, (x, in_groups("float8_e4m3fn", glu(x), [40, 72], rule_of("float8_e4m3fn", 0), clear=clear))

    x, (y, scale) = drawn(make)
    given = dict(
        x=x, groupIndexOptional=torch.tensor([40, 32] if kind == 0 else [40, 72]), activateDim=-1, activateLeft=True, swigluMode=0, groupMode=kind, axis=-2, dstType=36,
        roundModeOptional=Null, scaleAlg=0, maxDtypeValue=0.0, yOut=Out(coded("float8_e4m3fn", y)), mxscaleOut=Out(coded("float8_e8m0", scale)), **GATE,
    )
    cases.add("aclnnSwigluMxQuant", **given)
for change, status, text in [
    ({"swigluMode": 4}, 161002, "swigluMode is 4"), ({"swigluMode": 2}, 161002, "swigluMode is 2"), ({"groupMode": 2}, 161002, "groupMode is 2"), ({"axis": 2}, 161002, "axis is 2"),
    ({"scaleAlg": 2}, 161002, "scaleAlg is 2"), ({"dstType": 2}, 161002, "dstType is 2"), ({"roundModeOptional": "round"}, 161002, "roundModeOptional"),
    ({"activateDim": 0}, 561003, "activateDim"), ({"swigluMode": 1, "clampLimit": 0.0}, 161002, "clampLimit is 0"), ({"x": Null}, 161001, "x is a null"),
    ({"x": x.float(), "mxscaleOut": Out(coded("float8_e8m0", scale[:1]))}, 161002, "mxscaleOut has the shape"), ({"x": x[:, :7].contiguous()}, 161002, "must be even"),
]:
    cases.add("aclnnSwigluMxQuant", refuse=(status, text), **{**given, **change})


def slopes(x, upstream, left=True, limit=None):
    gate, value = split(x, left=left)
    own, bound = (gate, value) if limit is None else (np.minimum(gate, limit), np.clip(value, -limit, limit))
    open_ = sigmoid(own)
    one, two = upstream * bound * open_ * (1 + own * (1 - open_)), upstream * own * open_
    if limit is not None:
        one, two = one * (gate < limit), two * ((value > -limit) & (value < limit))
    return np.concatenate([one, two] if left else [two, one], -1)


for dtype in [f16, bf16]:
    for left in [True, False]:
        for ends in [None, [40, 70]]:

            def make(gradient):
                x, upstream, clear = noise(70, 64 if gradient else 8, dtype=dtype), noise(70, 32, dtype=dtype), []
                values = slopes(x, upstream.double().numpy(), left) if gradient else glu(x, left=left)
                rule, name = rule_of("float8_e4m3fn", 1), "float8_e4m3fn"
                one = in_blocks(name, values[:, :], -1, rule, clear=clear)
                two = in_blocks(name, values, -2, rule, clear=clear) if ends is None else in_groups(name, values, ends, rule, clear=clear)
                return clear, (x, upstream, one, two)

            for gradient in [False, True]:
                if gradient and (left != (ends is None) or dtype == f16):
                    continue
                # Two thousand numbers are certain together in one draw of a few hundred.
                x, upstream, one, two = drawn(lambda: make(gradient))
                given = dict(
                    x=x, groupIndexOptional=Null if ends is None else torch.tensor(ends), activateLeft=left, roundModeOptional=Null, scaleAlg=1, maxDtypeValue=0.0,
                    y1Out=Out(coded("float8_e4m3fn", one[0])), mxscale1Out=Out(coded("float8_e8m0", one[1])), y2Out=Out(coded("float8_e4m3fn", two[0])),
                    mxscale2Out=Out(coded("float8_e8m0", two[1])),
                )
                if gradient:
                    cases.add("aclnnSwigluBackwardMxQuantWithDualAxis", yGrad=upstream, dstDtype=36, **given)
                else:
                    cases.add("aclnnSwigluMxQuantWithDualAxis", dstType=36, **given)
                    plain = given
for operator, given in [
    ("aclnnSwigluMxQuantWithDualAxis", dict(plain, dstType=36)),
    ("aclnnSwigluBackwardMxQuantWithDualAxis", dict(plain, dstDtype=36, yGrad=noise(70, 4, dtype=bf16))),
]:
    for change, status, text in [
        ({"scaleAlg": 0}, 161002, "scaleAlg is 0"), ({"maxDtypeValue": 6.0}, 161002, "maxDtypeValue 6"), ({"y1Out": Null}, 161001, "y1Out"), ({"x": noise(70, 8)[0]}, 161002, "x has 1 dimensions"),
        ({"groupIndexOptional": torch.tensor([70], dtype=i32)}, 161002, "groupIndexOptional has the type"), ({"roundModeOptional": "floor"}, 161002, "roundModeOptional"),
    ]:
        cases.add(operator, refuse=(status, text), **{**given, **change})
cases.add("aclnnSwigluBackwardMxQuantWithDualAxis", refuse=(161002, "yGrad has the shape"), **{**given, "yGrad": noise(70, 5, dtype=bf16)})

# Four ways to quantise.
for mode, names in [(0, EIGHTS), (1, EIGHTS + FOURS), (2, ["hifloat8"]), (3, ["hifloat8"])]:
    for name in names:
        for dtype, weighted, counts, limit, rounds in [(f16, False, None, -1.0, True), (bf16, True, [1, 2], 1.5, mode == 1), (f32, True, [2, 0], -1.0, True)]:

            def make():
                x, clear = noise(3, 256, dtype=dtype), []
                weight = torch.rand(3) + 0.5 if weighted else None
                rows = 3 if counts is None else sum(counts)
                origin = glu(x, mode=2, limit=limit) if limit > 0 else glu(x)
                values = origin * (1 if weight is None else weight.double().numpy()[:, None])
                origin[rows:] = values[rows:] = 0
                owner = np.zeros(3, int) if counts is None else np.append(np.repeat([0, 1], counts), np.zeros(3 - rows, int))
                if mode == 0:
                    scale = np.maximum(np.abs(values).max(-1, keepdims=True), 1e-4) / largest(name)
                    if rounds:
                        clear.append(bool((np.abs(np.log2(scale) - np.round(np.log2(scale))) > 1e-4).all()))
                        scale = 2.0 ** np.ceil(np.log2(scale))
                    codes, numbers = encode(name, values / scale), torch.from_numpy(scale).float()
                    clear.append(is_clear(name, values / scale))
                elif mode == 1:
                    codes, numbers = in_blocks(name, values, -1, ("above", largest(name), False), least=1e-4, clear=clear)
                    numbers = coded("float8_e8m0", numbers)
                else:
                    groups = 1 if counts is None else 2
                    if mode == 2:
                        scale = torch.rand(groups) + 0.5
                        quotients, numbers = values * scale.double().numpy()[owner][:, None], scale
                    else:
                        most = np.array([np.abs(values[:rows][owner[:rows] == group]).max(initial=0) for group in range(groups)])
                        scale = most / 15.0
                        safe = np.where(scale == 0, 1.0, scale)
                        quotients, numbers = values / safe[owner][:, None], torch.from_numpy(scale).float()
                    codes = encode(name, quotients, "round")
                    clear.append(is_clear(name, quotients, "round"))
                return clear, (x, weight, coded(name, codes), numbers, torch.from_numpy(origin).to(dtype))

            x, weight, y, numbers, origin = drawn(make)
            cases.add(
                "aclnnSwigluGroupQuant", dense=name in FOURS, within=1e-5 if dtype == f32 else 1e-2, x=x, weightOptional=Null if weight is None else weight,
                groupIndexOptional=Null if counts is None else torch.tensor(counts), scaleOptional=numbers if mode == 2 else Null,
                dstType=NUMBERS[name] if mode < 2 else 0, quantMode=mode, blockSize=0, roundScale=rounds, clampLimit=limit, dstTypeMax=15.0, outputOrigin=mode > 1,
                yOut=Out(y), yScaleOut=Out(torch.zeros(1), False) if mode == 2 else Out(numbers), yOriginOut=Out(origin, mode > 1) if mode > 1 else Out(torch.zeros(1), False),
            )
x = noise(2, 256)
x[0, 128], x[1, 200] = float("inf"), float("nan")
values = glu(x)
finite = np.where(np.isfinite(values), np.abs(values), 0)
given = dict(
    x=noise(2, 256), weightOptional=Null, groupIndexOptional=Null, scaleOptional=Null, dstType=36, quantMode=0, blockSize=128, roundScale=False, clampLimit=-1.0, dstTypeMax=15.0,
    outputOrigin=False, yOut=Out(coded("float8_e4m3fn", np.zeros((2, 128)))), yScaleOut=Out(torch.zeros(2, 1)), yOriginOut=Out(torch.zeros(2, 128)),
)
for change, status, text in [
    ({"x": noise(2, 128)}, 161002, "x has the shape"), ({"quantMode": 4}, 161002, "quantMode is 4"), ({"blockSize": 32}, 161002, "blockSize is 32"), ({"clampLimit": 0.0}, 161002, "clampLimit is 0"),
    ({"quantMode": 1}, 161002, "blockSize is 128"), ({"quantMode": 1, "blockSize": 32}, 161002, "roundScale is false"), ({"outputOrigin": True}, 161002, "outputOrigin is true"),
    ({"quantMode": 2}, 161002, "yOut has the type"), ({"dstType": 35}, 161002, "dstType is 35"), ({"yOriginOut": Null}, 161001, "yOriginOut"),
    ({"weightOptional": torch.ones(3)}, 161002, "weightOptional has the shape"), ({"groupIndexOptional": torch.tensor([1], dtype=i32)}, 161002, "groupIndexOptional has the type"),
    ({"quantMode": 2, "yOut": Out(coded("hifloat8", np.zeros((2, 128))))}, 161001, "scaleOptional"), ({"yScaleOut": Out(torch.zeros(2))}, 161002, "yScaleOut has the shape"),
    ({"quantMode": 3, "dstTypeMax": 0.0, "yOut": Out(coded("hifloat8", np.zeros((2, 128))))}, 161002, "dstTypeMax is 0"),
]:
    cases.add("aclnnSwigluGroupQuant", refuse=(status, text), **{**given, **change})

for dtype in [f16, bf16, f32]:
    for shape, limit, weighted, counts in [((4, 6), 0.0, False, None), ((4, 6), 1.5, True, [1, 2]), ((2, 3, 6), 0.0, True, None)]:
        x, upstream, origin = noise(*shape, dtype=dtype), noise(*shape[:-1], shape[-1] // 2, dtype=dtype), noise(*shape[:-1], shape[-1] // 2, dtype=dtype)
        weight = torch.rand(*shape[:-1], 1) if weighted else None
        flow = upstream.double().numpy() * (1 if weight is None else weight.double().numpy())
        gradient = slopes(x, flow, limit=limit or None)
        own = (upstream.double() * origin.double()).sum(-1, keepdim=True)
        if counts is not None:
            gradient[sum(counts) :] = 0
            own[sum(counts) :] = 0
        cases.add(
            "aclnnSwigluGroupQuantGrad", gradY=upstream, x=x, weightOptional=Null if weight is None else weight, yOriginOptional=origin if weighted else Null,
            groupIndexOptional=Null if counts is None else torch.tensor(counts), clampLimit=limit, gradXOut=Out(torch.from_numpy(gradient).to(dtype)),
            gradWeightOutOptional=Out(own.float()) if weighted else Null, within=1e-5 if dtype == f32 else 1.6e-2 if dtype == bf16 else 2e-3,
        )
given = dict(
    gradY=upstream, x=x, weightOptional=weight, yOriginOptional=origin, groupIndexOptional=Null, clampLimit=0.0, gradXOut=Out(x, False), gradWeightOutOptional=Out(own.float()),
)
for change, status, text in [
    ({"gradY": x}, 161002, "gradY has the shape"), ({"yOriginOptional": Null}, 161002, "yOriginOptional is null"), ({"clampLimit": -1.0}, 161002, "clampLimit is -1"),
    ({"gradY": upstream.half()}, 161002, "gradY has the type"), ({"x": Null}, 161001, "x is a null"), ({"weightOptional": torch.ones(2)}, 161002, "weightOptional has the shape"),
]:
    cases.add("aclnnSwigluGroupQuantGrad", refuse=(status, text), **{**given, **change})
cases.write()
