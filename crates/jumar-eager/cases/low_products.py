"""Products of quantised matrices: in groups of rows, with scales of blocks, gated, combined, added; by NumPy in float64."""

import math

import numpy as np
import torch
from cases import Cases, Coded, InOut, Null, Out
from layouts import blocks, integers, packed
from minifloat import NUMBERS, coded, decode, encode, in_blocks, rule_of

cases = Cases("low_products")
torch.manual_seed(83)
f16, f32, bf16 = torch.float16, torch.float32, torch.bfloat16
i8, i32, i64 = torch.int8, torch.int32, torch.int64
WITHIN = {f32: 2e-5, f16: 4e-3, bf16: 3e-2}


def noise(*shape, dtype=f32):
    return (torch.randint(-100, 101, shape) / 64).to(dtype)


def exact(values):
    return values.double().numpy()


def tensor(values, dtype):
    return torch.from_numpy(np.ascontiguousarray(values)).to(dtype)


def certain(values):
    return bool((np.abs(values - np.floor(values) - 0.5) > 2e-5 * np.maximum(np.abs(values), 5)).all())


def drawn(make):
    for _ in range(2000):
        good, result = make()
        if good:
            return result
    raise AssertionError("no draw has a certain result")


# A gated activation and a quantisation behind products of groups.
ends = [2, 2, 5]
owner = np.repeat([0, 2], [2, 3])
RESERVED = dict(offset=Null, outputOffset=Null)


def gated(values):
    half = values.shape[-1] // 2
    values = values[:, :half] / (1 + np.exp(-values[:, :half])) * values[:, half:]
    scale = np.abs(values).max(-1) / 127
    return values / scale[:, None], scale


for scale_type in [f32, f16, bf16]:

    def make():
        x, weight = integers(6, 17), integers(3, 17, 66)
        scale, rows = (torch.rand(3, 66) / 64 + 2**-10).to(scale_type), torch.rand(6) / 16 + 0.01
        sums = np.einsum("mk,mkn->mn", exact(x)[:5], exact(weight)[owner]) * exact(scale)[owner] * exact(rows)[:5, None]
        values, factor = gated(sums)
        return certain(values), (x, weight, scale, rows, values, factor)

    x, weight, scale, rows, values, factor = drawn(make)
    y = np.zeros((6, 33))
    y[:5] = np.round(values)
    given = dict(
        x=x, bias=Null, weightScale=scale, xScale=rows, groupList=torch.tensor(ends), output=Out(tensor(y, i8)), outputScale=Out(tensor(np.append(factor, 0), f32)), within=1e-5, **RESERVED
    )
    cases.add("aclnnGroupedMatmulSwigluQuant", weight=weight, **given)
    cases.add("aclnnGroupedMatmulSwigluQuantWeightNZ", weight=blocks(weight, 32), **given)
# Matrices that fill their blocks, under their own shape.
x, weight = integers(2, 16), integers(1, 16, 64)
sums = exact(x) @ exact(weight)[0] * 2.0**-9
values, factor = gated(sums)
while not certain(values):
    x = integers(2, 16)
    values, factor = gated(exact(x) @ exact(weight)[0] * 2.0**-9)
full = dict(
    x=x, weight=blocks(weight, 32).reshape(1, 16, 64), bias=Null, weightScale=torch.full((1, 64), 2.0**-9), xScale=torch.ones(2), groupList=torch.tensor([2]),
    output=Out(tensor(np.round(values), i8)), outputScale=Out(tensor(factor, f32)), within=1e-5, **RESERVED,
)
cases.add("aclnnGroupedMatmulSwigluQuantWeightNZ", dense=True, **full)
# Weights of int4, with scales of columns or of groups of the depth.
for lines in [1, 2]:

    def make():
        x, weight = integers(5, 16), integers(3, 16, 64, least=-8, most=7)
        scale, rows = torch.rand(3, lines, 64) / 16 + 2**-6, torch.rand(5) / 16 + 0.01
        wide = exact(weight) * exact(scale).repeat(16 // lines, 1)
        sums = np.einsum("mk,mkn->mn", exact(x), wide[owner]) * exact(rows)[:, None]
        values, factor = gated(sums)
        return certain(values), (x, weight, scale, rows, 8 * wide.sum(1), values, factor)

    x, weight, scale, rows, assist, values, factor = drawn(make)
    given = dict(
        x=x, weightScale=scale if lines > 1 else scale[:, 0].contiguous(), xScale=rows, groupList=torch.tensor(ends), output=Out(tensor(np.round(values), i8)),
        outputScale=Out(tensor(factor, f32)), within=1e-4, dense=True, **RESERVED,
    )
    bias = tensor(assist, f32)
    cases.add("aclnnGroupedMatmulSwigluQuant", weight=packed(weight), bias=bias, **given)
    cases.add("aclnnGroupedMatmulSwigluQuantWeightNZ", weight=packed(blocks(weight, 64)), bias=bias, **given)
    cases.add("aclnnGroupedMatmulSwigluQuantWeightNZ", weight=packed(blocks(weight, 64)), bias=Null, **given)
x, weight, scale, rows = integers(5, 17), integers(3, 17, 64), torch.rand(3, 64), torch.rand(5)
given = dict(
    x=x, weight=blocks(weight, 32), bias=Null, weightScale=scale, xScale=rows, groupList=torch.tensor(ends), output=Out(integers(5, 32), False), outputScale=Out(torch.zeros(5)), **RESERVED
)
for operator in ["aclnnGroupedMatmulSwigluQuant", "aclnnGroupedMatmulSwigluQuantWeightNZ"]:
    own = dict(given, weight=weight) if operator.endswith("Quant") else given
    for change, status, text in [
        ({"x": Null}, 161001, "x is a null"), ({"offset": scale}, 161002, "offset must be null"), ({"x": x.int()}, 161002, "x has the type"), ({"bias": scale}, 161002, "bias must be null"),
        ({"groupList": torch.tensor([1, 2, 3, 5])}, 161002, "groupList has the shape"), ({"xScale": rows[:4]}, 161002, "xScale has the shape"), ({"weightScale": scale[:2]}, 161002, "weightScale has the shape"),
        ({"output": Out(integers(5, 31))}, 161002, "output has the shape"), ({"groupList": torch.tensor(ends, dtype=i32)}, 161002, "groupList has the type"),
    ][: 3 if operator.endswith("Quant") else None]:
        cases.add(operator, refuse=(status, text), **{**own, **change})

# Groups of rows with matrices in blocks.
NEWER = dict(
    scaleOptional=Null, offsetOptional=Null, antiquantScaleOptional=Null, antiquantOffsetOptional=Null, perTokenScaleOptional=Null, activationInputOptional=Null,
    activationQuantScaleOptional=Null, activationQuantOffsetOptional=Null, activationFeatureOutOptional=Null, dynQuantScaleOutOptional=Null, actType=0, tuningConfigOptional=Null,
    quantGroupSize=0,
)
sizes = [2, 0, 3]
for dtype in [f16, bf16, f32]:
    width = 32 // dtype.itemsize
    x, weights, biases = noise(5, 18, dtype=dtype), noise(3, 18, 17, dtype=dtype), noise(3, 17, dtype=dtype)
    sums = np.einsum("mk,mkn->mn", exact(x), exact(weights)[owner])
    y = Out(tensor(sums + exact(biases)[owner], dtype))
    common = dict(splitItem=3, groupType=0, within=WITHIN[dtype])
    for kind, values in [(0, ends), (1, sizes)]:
        given = dict(x=[x], biasOptional=[biases], groupListOptional=torch.tensor(values), groupListType=kind, out=[y], **common, **NEWER)
        cases.add("aclnnGroupedMatmulWeightNz", weight=[blocks(weights, width)], **given)
    cases.add("aclnnGroupedMatmulWeightNz", weight=[blocks(own, width) for own in weights], **given)
for dtype in [f16, bf16]:
    x, weights = integers(5, 17), integers(3, 17, 34)
    scale, rows = noise(3, 34).abs() / 256 + 2**-9, noise(5).abs() + 0.25
    y = np.einsum("mk,mkn->mn", exact(x), exact(weights)[owner]) * exact(scale)[owner] * exact(rows)[:, None]
    more = {**NEWER, "scaleOptional": [scale], "perTokenScaleOptional": [rows]}
    given = dict(x=[x], biasOptional=Null, groupListOptional=torch.tensor(ends), groupListType=0, splitItem=3, groupType=0, within=WITHIN[dtype])
    cases.add("aclnnGroupedMatmulWeightNz", weight=[blocks(weights, 32)], out=[Out(tensor(y, dtype))], **given, **more)
given = dict(
    x=[x], weight=[blocks(weights, 32)], biasOptional=Null, groupListOptional=torch.tensor(ends), groupListType=0, splitItem=3, groupType=0, out=[Out(tensor(y, f16), False)], **more
)
for change, status, text in [
    ({"weight": [weights]}, 161002, "weight has the shape"), ({"quantGroupSize": 32}, 561003, "quantGroupSize"), ({"groupListOptional": Null}, 161001, "groupListOptional"),
    ({"groupListType": 3}, 161002, "groupListType is 3"), ({"scaleOptional": Null}, 161002, "scales"), ({"out": [Out(torch.zeros(4, 34, dtype=f16))]}, 161002, "out[0] has the shape"),
]:
    cases.add("aclnnGroupedMatmulWeightNz", refuse=(status, text), **{**given, **change})

# Combined by the rows that they belong to.
index = torch.tensor([3, 1, 1, 0, 3])
logit = torch.rand(5)
shared = noise(2, 34, dtype=bf16)


def combined(values):
    y = np.zeros((4, 34))
    y[1:3] = 0.5 * exact(shared)
    for row, target in enumerate(index):
        y[target] += exact(logit)[row] * values[row]
    return Out(tensor(y, f32))


EMPTY = dict(offsetOptional=Null, antiquantScaleOptional=Null, antiquantOffsetOptional=Null)
SHARED = dict(dtype=0, sharedInputWeight=0.5, sharedInputOffset=1)
PLAIN = dict(groupListOptional=torch.tensor(sizes), sharedInputOptional=shared, logitOptional=logit, rowIndexOptional=index, groupListType=1)
NAMED = dict(groupList=torch.tensor(ends), sharedInput=shared, logit=logit, rowIndex=index, groupListType=0)
for scale_type, bias in [(f32, None), (bf16, noise(3, 34, dtype=bf16))]:
    x, weight = integers(5, 17), integers(3, 17, 34)
    scale, rows = (torch.rand(3, 1, 34) / 64).to(scale_type), torch.rand(5) + 0.5
    values = np.einsum("mk,mkn->mn", exact(x), exact(weight)[owner]) * exact(scale)[owner, 0] * exact(rows)[:, None] + (0 if bias is None else exact(bias)[owner])
    y, bias = combined(values), Null if bias is None else bias
    old = dict(x=x, scaleOptional=scale, biasOptional=bias, pertokenScaleOptional=rows, transposeX=False, transposeW=False, y=y, within=1e-5, **PLAIN, **SHARED)
    cases.add("aclnnGroupedMatmulFinalizeRouting", w=weight, **old)
    cases.add("aclnnGroupedMatmulFinalizeRoutingWeightNz", w=blocks(weight, 32), **old)
    new = dict(x1=x, scaleOptional=scale, biasOptional=bias, pertokenScaleOptional=rows, transposeX1=False, out=y, within=1e-5, **SHARED, **EMPTY)
    cases.add("aclnnGroupedMatmulFinalizeRoutingV2", x2=weight, transposeX2=False, **new, **PLAIN)
    cases.add("aclnnGroupedMatmulFinalizeRoutingV3", x2=weight.mT.contiguous(), transposeX2=True, tuningConfigOptional=Null, **new, **PLAIN)
    named = dict(x1=x, scale=scale, bias=bias, pertokenScaleOptional=rows, transposeX1=False, out=y, within=1e-5, tuningConfigOptional=[3], **SHARED, **EMPTY, **NAMED)
    cases.add("aclnnGroupedMatmulFinalizeRoutingWeightNzV2", x2=blocks(weight, 32), transposeX2=False, **named)
    cases.add("aclnnGroupedMatmulFinalizeRoutingWeightNzV2", x2=blocks(weight.mT.contiguous(), 32), transposeX2=True, **named)


def floats(name, *shape):
    codes = encode(name, torch.randn(*shape).numpy() * (2 if "4" in name[:6] else 8))
    return coded(name, codes), decode(name, codes)


def mx(name, shape, axis):
    """A matrix in blocks along a dimension: elements, scales, and the values that they stand for."""
    values = (torch.randn(*shape) * torch.randint(-3, 4, shape).float().exp2()).double().numpy()
    codes, scales = in_blocks(name, values, axis, rule_of(name, 0))
    factors = 2.0 ** (np.moveaxis(scales, axis % len(shape), -2).astype(float) - 127)
    factors = factors.reshape(factors.shape[:-2] + (-1,)).repeat(32, -1)[..., : shape[axis]]
    return coded(name, codes), coded("float8_e8m0", scales), np.moveaxis(np.moveaxis(decode(name, codes), axis, -1) * factors, -1, axis)


for name in ["float8_e4m3fn", "hifloat8"]:
    (x, x_values), (weight, weight_values) = floats(name, 5, 17), floats(name, 3, 17, 34)
    scale, rows = torch.rand(3, 1, 34) / 64, torch.rand(5) + 0.5
    values = np.einsum("mk,mkn->mn", x_values, weight_values[owner]) * exact(scale)[owner, 0] * exact(rows)[:, None]
    given = dict(x1=x, scale=scale, bias=Null, pertokenScaleOptional=rows, transposeX1=False, out=combined(values), within=1e-5, tuningConfigOptional=Null, **SHARED, **EMPTY, **NAMED)
    cases.add("aclnnGroupedMatmulFinalizeRoutingWeightNzV2", x2=blocks(weight, 32), transposeX2=False, **given)
for name in ["float8_e4m3fn", "float8_e5m2", "float4_e2m1"]:
    for turned in [False, True]:
        x, x_scale, x_values = mx(name, (5, 36), 1)
        weight, weight_scale, weight_values = mx(name, (3, 34, 36) if turned else (3, 36, 34), 2 if turned else 1)
        weight_values = weight_values.swapaxes(1, 2) if turned else weight_values
        bias = noise(3, 34, dtype=bf16)
        values = np.einsum("mk,mkn->mn", x_values, weight_values[owner]) + exact(bias)[owner]
        given = dict(x1=x, x2=weight, scaleOptional=weight_scale, biasOptional=bias, pertokenScaleOptional=x_scale, transposeX1=False, transposeX2=turned, out=combined(values), within=2e-5)
        cases.add("aclnnGroupedMatmulFinalizeRoutingV3", tuningConfigOptional=Null, dense=name[5] == "4", **given, **SHARED, **EMPTY, **PLAIN)
# Elements of 8 bits with matrices of 4 bits in blocks of 32 columns.
x, x_scale, x_values = mx("float8_e4m3fn", (5, 36), 1)
weight, weight_scale, weight_values = mx("float4_e2m1", (3, 34, 36), 2)
values = np.einsum("mk,mnk->mn", x_values, weight_values[owner])
given = dict(x1=x, x2=blocks(weight, 32), scale=weight_scale, bias=Null, pertokenScaleOptional=x_scale, transposeX1=False, transposeX2=True, out=combined(values), within=2e-5)
cases.add("aclnnGroupedMatmulFinalizeRoutingWeightNzV2", dense=True, tuningConfigOptional=Null, **given, **SHARED, **EMPTY, **NAMED)
x, weight = integers(5, 17), integers(3, 17, 34)
old |= dict(x=x)
new |= dict(x1=x, x2=weight, transposeX2=False, **PLAIN)
named |= dict(x1=x, x2=blocks(weight, 32), transposeX2=False)
for operator, own in [
    ("aclnnGroupedMatmulFinalizeRouting", dict(old, w=weight)), ("aclnnGroupedMatmulFinalizeRoutingWeightNz", dict(old, w=blocks(weight, 32))),
    ("aclnnGroupedMatmulFinalizeRoutingV2", new), ("aclnnGroupedMatmulFinalizeRoutingV3", dict(new, tuningConfigOptional=Null)),
    ("aclnnGroupedMatmulFinalizeRoutingWeightNzV2", named),
]:
    pick = lambda *names: next(name for name in names if name in own)
    x_name, w_name, groups, shared_name, turned = pick("x", "x1"), pick("w", "x2"), pick("groupList", "groupListOptional"), pick("sharedInput", "sharedInputOptional"), pick("transposeX", "transposeX1")
    for change, status, text in [
        ({"dtype": 1}, 161002, "dtype is 1"), ({turned: True}, 161002, f"{turned} is true"), ({"groupListType": 2}, 161002, "groupListType is 2"), ({x_name: x.int()}, 161002, f"{x_name} has the type"),
        ({groups: Null}, 161001, groups), ({"sharedInputOffset": 3}, 161002, f"{shared_name} has the shape"), ({pick("logit", "logitOptional"): logit[:4]}, 161002, "has the shape"),
        ({w_name: packed(integers(3, 17, 32, least=-8, most=7))}, 561003, "weights of int32"), ({pick("y", "out"): Out(torch.zeros(4, 34, dtype=f16))}, 161002, "has the type"),
        ({pick("scale", "scaleOptional"): torch.ones(3, 1, 39)}, 161002, "has the shape"), ({"pertokenScaleOptional": torch.ones(4)}, 161002, "pertokenScaleOptional has the shape"),
    ][: None if operator.endswith("V3") else 4]:
        cases.add(operator, refuse=(status, text), **{**own, **change})

# Groups of the depth, added in place.
for dtype in [f16, bf16]:
    for turned in [(False, False), (True, False), (True, True)]:
        a, b, y = noise(3, 5, dtype=dtype), noise(5, 6, dtype=dtype), noise(3, 3, 6)
        after = y.double() + torch.stack([a.double()[:, low:high] @ b.double()[low:high] for low, high in zip([0, 2, 2], ends)])
        for shape in [(3, 3, 6), (9, 6)]:
            cases.add(
                "aclnnGroupedMatmulAdd", x=a.T.contiguous() if turned[0] else a, weight=b.T.contiguous() if turned[1] else b, groupList=torch.tensor(ends),
                yRef=InOut(y.reshape(shape), after.float().reshape(shape)), transposeX=turned[0], transposeWeight=turned[1], groupType=2, within=1e-5,
            )
given = dict(x=a, weight=b, groupList=torch.tensor(ends), yRef=InOut(y, y), transposeX=False, transposeWeight=False, groupType=2)
for change, status, text in [
    ({"groupType": 0}, 161002, "groupType is 0"), ({"weight": a}, 161002, "have no products"), ({"x": a.float()}, 161002, "x has the type"), ({"groupList": Null}, 161001, "groupList"),
    ({"yRef": InOut(y.half(), y.half())}, 161002, "yRef has the type"), ({"yRef": InOut(y[0], y[0])}, 161002, "have no products"),
]:
    cases.add("aclnnGroupedMatmulAdd", refuse=(status, text), **{**given, **change})


# GELU behind a product.
def gelu(x, tanh):
    if tanh:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


ABSENT = dict(yScaleOptional=Null, x1OffsetOptional=Null, x2OffsetOptional=Null, yOffsetOptional=Null, x3Optional=Null, groupSizeOptional=0)
for out, bias_types in [(f16, [None, i32, f16, f32]), (bf16, [None, i32, bf16, f32])]:
    for bias_type in bias_types:
        for tanh in [True, False]:
            a, b = integers(3, 17), integers(17, 34)
            scale, rows = noise(34).abs() / 4096 + 2**-12, noise(3).abs() + 0.25
            bias = None if bias_type is None else (integers(34).to(i32) if bias_type == i32 else noise(34, dtype=bias_type))
            sums, factor = exact(a) @ exact(b), exact(scale) * exact(rows)[:, None]
            sums = (sums + exact(bias)) * factor if bias_type == i32 else sums * factor + (0 if bias is None else exact(bias))
            given = dict(
                x1=a, x1Scale=rows, x2Scale=scale, biasOptional=Null if bias is None else bias, fusedOpType="gelu_tanh" if tanh else "gelu_erf", out=Out(tensor(gelu(sums, tanh), out)),
                within=WITHIN[out], **ABSENT,
            )
            cases.add("aclnnFusedQuantMatmul", x2=b, **given)
            cases.add("aclnnFusedQuantMatmulWeightNz", x2=blocks(b, 32), **given)
fours, other = integers(3, 16, least=-8, most=7), integers(16, 8, least=-8, most=7)
scale, rows = torch.rand(8) / 16, torch.rand(3)
y = Out(tensor(gelu(exact(fours) @ exact(other) * exact(scale) * exact(rows)[:, None], True), f16))
own = {**given, "x1": packed(fours), "x2": packed(other), "x1Scale": rows, "x2Scale": scale, "biasOptional": Null, "fusedOpType": "gelu_tanh", "out": y}
cases.add("aclnnFusedQuantMatmul", dense=True, **own)
for operator, two in [("aclnnFusedQuantMatmul", b), ("aclnnFusedQuantMatmulWeightNz", blocks(b, 32))]:
    for change, status, text in [
        ({"fusedOpType": "relu"}, 161002, "fusedOpType"), ({"yScaleOptional": rows}, 161002, "yScaleOptional must be null"), ({"groupSizeOptional": 32}, 161002, "groupSizeOptional is 32"),
        ({"x1Scale": Null}, 161001, "x1Scale"), ({"out": Out(torch.zeros(3, 34))}, 161002, "out has the type"), ({"x2Scale": torch.ones(3)}, 161002, "x2Scale has the shape"),
        ({"x1": a.half()}, 161002, "x1 has the type"),
    ][: 3 if operator.endswith("Nz") else None]:
        cases.add(operator, refuse=(status, text), **{**given, "x2": two, **change})

# Added in place, with scales of blocks.
for one, two in [("float8_e4m3fn", "float8_e5m2"), ("float8_e5m2", "float8_e5m2"), ("float8_e4m3fn", "float8_e4m3fn")]:
    (a, a_scale, a_values), (b, b_scale, b_values) = mx(one, (70, 3), 0), mx(two, (70, 4), 0)
    y = noise(3, 4)
    given = dict(x1=a, x2=b, x1ScaleOptional=a_scale, x2Scale=b_scale, transposeX1=True, transposeX2=False)
    after = tensor(exact(y) + a_values.T @ b_values, f32)
    for size in [32, 0, 32 | 1 << 16 | 1 << 32]:
        cases.add("aclnnQuantBatchMatmulInplaceAdd", yRef=InOut(y, after), groupSize=size, within=1e-4, **given)
(a, a_values), (b, b_values) = floats("hifloat8", 9, 3), floats("hifloat8", 9, 4)
scales = torch.tensor([0.5]), torch.tensor([0.75])
whole = dict(x1=a, x2=b, x1ScaleOptional=scales[0], x2Scale=scales[1], transposeX1=True, transposeX2=False, groupSize=0)
cases.add("aclnnQuantBatchMatmulInplaceAdd", yRef=InOut(y, tensor(exact(y) + a_values.T @ b_values * 0.375, f32)), within=1e-4, **whole)
for change, status, text in [
    ({"transposeX1": False}, 161002, "transposeX1 must be true"), ({"groupSize": 32}, 161002, "groupSize must be 0"), ({"x2Scale": torch.ones(2)}, 161002, "x2Scale has the shape"),
    ({"x2": b[:8]}, 161002, "product does not exist"), ({"x1": y}, 161002, "x1 has the type"), ({"x1ScaleOptional": Null}, 161001, "x1ScaleOptional"),
]:
    cases.add("aclnnQuantBatchMatmulInplaceAdd", refuse=(status, text), **{**whole, "yRef": InOut(y, y), **change})
cases.add("aclnnQuantBatchMatmulInplaceAdd", refuse=(161002, "groupSize stands for"), yRef=InOut(y, y), groupSize=64, **given)

# Batches whose dimensions are reordered.
for out, number in [(f16, 1), (bf16, 27)]:
    for name in ["float8_e4m3fn", "float8_e5m2"]:
        (a, a_values), (b, b_values) = floats(name, 3, 2, 17), floats(name, 2, 17, 34)
        rows, columns = torch.rand(3) / 16, torch.rand(34) / 16
        y = np.einsum("mbk,bkn->mbn", a_values, b_values) * exact(rows)[:, None, None] * exact(columns)
        common = dict(bias=Null, dtype=number, permX1=[1, 0, 2], permY=[1, 0, 2], batchSplitFactor=1, within=WITHIN[out])
        given = dict(x1=a, x1Scale=rows, x2Scale=columns, groupSize=0, permX2=[0, 1, 2], out=Out(tensor(y, out)), **common)
        cases.add("aclnnTransposeQuantBatchMatMul", x2=b, **given)
        cases.add("aclnnTransposeQuantBatchMatMulWeightNz", x2=blocks(b, 32), **given)
    for name in ["float8_e4m3fn", "float8_e5m2", "float4_e2m1"]:
        for turned in [False, True]:
            a, a_scale, a_values = mx(name, (3, 2, 64), 2)
            b, b_scale, b_values = mx(name, (2, 34, 64) if turned else (2, 64, 34), 2 if turned else 1)
            y = np.einsum("mbk,bkn->mbn", a_values, b_values.swapaxes(1, 2) if turned else b_values)
            own = dict(x1=a, x1Scale=a_scale, x2Scale=b_scale, groupSize=32, permX2=[0, 2, 1] if turned else [0, 1, 2], out=Out(tensor(y, out)), **common)
            cases.add("aclnnTransposeQuantBatchMatMul", x2=b, dense=name[5] == "4", **own)
            four = name[5] == "4"
            cases.add("aclnnTransposeQuantBatchMatMulWeightNz", x2=blocks(b, 64 if four else 32), dense=four, **own)
b = floats("float8_e5m2", 2, 17, 34)[0]
for operator, two in [("aclnnTransposeQuantBatchMatMul", b), ("aclnnTransposeQuantBatchMatMulWeightNz", blocks(b, 32))]:
    for change, status, text in [
        ({"dtype": 0}, 161002, "dtype is 0"), ({"permX1": [0, 1, 2]}, 161002, "permX1"), ({"permX2": [1, 0, 2]}, 161002, "permX2"), ({"x1Scale": rows[:2]}, 161002, "x1Scale has the shape"),
        ({"bias": columns}, 161002, "bias must be null"), ({"batchSplitFactor": 2}, 561003, "batchSplitFactor"), ({"x2Scale": Null}, 161001, "x2Scale"), ({"x1": columns}, 161002, "x1 has the type"),
    ][: 3 if operator.endswith("Nz") else None]:
        cases.add(operator, refuse=(status, text), **{**given, "x2": two, **change})

# Summed over the batch.
a, b, rows, columns = integers(2, 3, 17), integers(2, 17, 34), torch.rand(2, 3) / 16, (torch.rand(34) / 16).to(bf16)
y = (np.einsum("bmk,bkn->bmn", exact(a), exact(b)) * exact(rows)[..., None] * exact(columns)).sum(0)
given = dict(
    x1=a, x2=blocks(b, 32), x1Scale=rows, x2Scale=columns, yScale=Null, x1Offset=Null, x2Offset=Null, yOffset=Null, bias=Null, transposeX1=False, transposeX2=False, groupSize=0,
    dims=[0], keepDims=False, out=Out(tensor(y, bf16)), within=WITHIN[bf16],
)
cases.add("aclnnQuantMatmulReduceSumWeightNz", **given)
for change, status, text in [
    ({"dims": [1]}, 161002, "dims is [1]"), ({"keepDims": True}, 161002, "keepDims"), ({"x1Scale": rows[0]}, 161002, "x1Scale has the shape"), ({"out": Out(torch.zeros(3, 34))}, 161002, "out has the type"),
    ({"x2": b}, 161002, "x2 has the shape"), ({"x1Scale": Null}, 161001, "x1Scale"), ({"bias": columns}, 161002, "bias must be null"),
]:
    cases.add("aclnnQuantMatmulReduceSumWeightNz", refuse=(status, text), **{**given, **change})

# Scales of two levels.
for out in [f16, bf16]:
    for bias in [Null, noise(6)]:
        sides = []
        for count in [3, 6]:
            codes, inner, values = mx("float4_e2m1", (count, 516), 1)
            outer = torch.rand(count, 2) / 16 + 0.01
            sides.append((codes, inner, outer, values * exact(outer).repeat(512, 1)[:, :516]))
        (a, a_inner, a_outer, a_values), (b, b_inner, b_outer, b_values) = sides
        y = a_values @ b_values.T + (0 if bias is Null else exact(bias))
        two_levels = dict(
            x1=a, x2=blocks(b, 64), x1Level0Scale=a_outer, x2Level0Scale=b_outer.T.contiguous(), x1Level1Scale=a_inner, x2Level1Scale=b_inner, optionalBias=bias, transposeX1=False,
            transposeX2=True, level0GroupSize=512, level1GroupSize=32, out=Out(tensor(y, out)),
        )
        cases.add("aclnnDualLevelQuantMatmulWeightNz", dense=True, within=WITHIN[out], **two_levels)
for change, status, text in [
    ({"transposeX2": False}, 161002, "transposeX2 true"), ({"level0GroupSize": 256}, 161002, "level0GroupSize is 256"), ({"x2Level0Scale": b_outer}, 161002, "x2Level0Scale has the shape"),
    ({"x1Level1Scale": Null}, 161001, "x1Level1Scale"), ({"optionalBias": noise(5)}, 161002, "optionalBias has the shape"), ({"x2": b}, 161002, "x2 has"),
]:
    cases.add("aclnnDualLevelQuantMatmulWeightNz", refuse=(status, text), **{**two_levels, **change})

# Quantised on the way in, and scaled back.
def halves(values):
    return np.round(values).clip(-128, 127)


for transposed in [True, False]:
    for mode, static, smoothed in [("pertoken", False, False), ("pertoken", False, True), ("pertoken", True, True), ("pertensor", True, False)]:

        def make():
            x, weight = noise(5, 16, dtype=f16), integers(3, 16, 32)
            scale, smooth = torch.rand(3, 32) / 64, noise(16, dtype=f16)
            values = exact(x) * (exact(smooth) if smoothed else 1)
            rows = torch.rand(5 if mode == "pertoken" else 1) / 64 + 2**-7 if static else tensor(np.abs(values).max(-1) / 127, f32)
            quotients = values / exact(rows)[:, None] if mode == "pertoken" else values / exact(rows)[0]
            return certain(quotients) and bool((exact(rows) > 0).all()), (x, weight, scale, smooth, rows, halves(quotients))

        x, weight, scale, smooth, rows, numbers = drawn(make)
        factor = exact(rows)[:, None]
        given = dict(
            x=x, biasOptional=Null, xScaleOptional=rows if static else Null, xOffsetOptional=Null, smoothScaleOptional=smooth if smoothed else Null, xQuantMode=mode,
            transposeWeight=transposed, within=WITHIN[f16],
        )
        turned = weight.mT.contiguous() if transposed else weight
        y = Out(tensor(numbers @ exact(weight)[0] * exact(scale)[0] * factor, f16))
        cases.add("aclnnQuantMatmulDequant", weight=turned[0].contiguous(), weightScale=scale[0].contiguous(), out=y, **given)
        cases.add("aclnnQuantMatmulDequant", weight=blocks(turned[0], 32), weightScale=scale[0].contiguous(), out=y, **given)
        y = Out(tensor(np.einsum("mk,mkn->mn", numbers, exact(weight)[owner]) * exact(scale)[owner] * factor, f16))
        cases.add("aclnnQuantGroupedMatmulDequant", weight=turned, weightScale=scale, groupList=torch.tensor(ends), out=y, **given)
        cases.add("aclnnQuantGroupedMatmulDequant", weight=blocks(turned, 32), weightScale=scale, groupList=torch.tensor(ends), out=y, **given)
# Scales of both operands in the lower half of 64 bits.
while True:
    x, weight = noise(5, 16, dtype=f16), integers(16, 32)
    if certain(exact(x) / 0.0390625):
        break
joined = torch.rand(32) / 1024
words = joined.numpy().view(np.uint32).astype(np.int64)
y = Out(tensor(halves(exact(x) / 0.0390625) @ exact(weight) * exact(joined), f16))
given |= dict(x=x, xScaleOptional=torch.tensor([0.0390625], dtype=f16), xQuantMode="pertensor", smoothScaleOptional=Null, transposeWeight=False, out=y)
cases.add("aclnnQuantMatmulDequant", weight=weight, weightScale=torch.from_numpy(words), **given)
for operator, own in [
    ("aclnnQuantMatmulDequant", dict(given, weight=weight, weightScale=torch.from_numpy(words))),
    ("aclnnQuantGroupedMatmulDequant", dict(given, weight=weight.reshape(1, 16, 32), weightScale=torch.from_numpy(words).reshape(1, 32), groupList=torch.tensor([5]))),
]:
    for change, status, text in [
        ({"xQuantMode": "pertoken"}, 161002, "weightScale has the type int64"), ({"xQuantMode": "other"}, 161002, "xQuantMode"), ({"x": x.float()}, 161002, "x has the type"),
        ({"weight": Null}, 161001, "weight is a null"), ({"biasOptional": joined}, 161002, "biasOptional must be null"), ({"xScaleOptional": torch.ones(1)}, 161002, "xScaleOptional has the type"),
        ({"x": x[:, :15].contiguous()}, 161002, "multiples of 16"), ({"weightScale": torch.ones(31)}, 161002, "weightScale has the shape"),
    ]:
        cases.add(operator, refuse=(status, text), **{**own, **change})


# Convolutions: images, filters, stride, padding, dilation, groups.
CONVOLUTIONS = [
    ((2, 3, 6, 5), (4, 3, 3, 2), [1, 1], [0, 0], [1, 1], 1),
    ((1, 4, 7, 6), (6, 2, 3, 3), [2, 1], [1, 2], [1, 2], 2),
    ((1, 90, 5, 5), (2, 90, 4, 3), [1, 1], [1, 1], [1, 1], 1),
    ((2, 2, 4, 5, 3), (3, 2, 2, 3, 1), [1, 2, 1], [1, 0, 1], [1, 1, 1], 1),
    ((1, 130, 2, 3, 3), (2, 130, 2, 2, 2), [1, 1, 1], [0, 1, 0], [1, 1, 2], 1),
]


def convolved(x, weight, stride, padding, dilation, groups):
    """The sums of products, one position of the filter at a time."""
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad) for pad in padding])
    taps = weight.shape[2:]
    sizes = [(size - step * (tap - 1) - 1) // jump + 1 for size, step, tap, jump in zip(x.shape[2:], dilation, taps, stride)]
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    weight = weight.reshape(groups, -1, *weight.shape[1:])
    sums = 0
    for tap in np.ndindex(*taps):
        window = tuple(
            slice(at * step, at * step + jump * (size - 1) + 1, jump) for at, step, jump, size in zip(tap, dilation, stride, sizes)
        )
        sums = sums + np.einsum("ngc...,goc->ngo...", x[(Ellipsis, *window)], weight[(Ellipsis, *tap)])
    return sums.reshape(sums.shape[0], -1, *sizes)


def per_channel(values, rank):
    return exact(values).reshape(-1, *[1] * (rank - 2))


def words_of(scale):
    return torch.from_numpy(scale.numpy().view(np.uint32).astype(np.int64))


for index, (shape, filters, stride, padding, dilation, groups) in enumerate(CONVOLUTIONS):
    window = dict(stride=stride, padding=padding, dilation=dilation, groups=groups, transposed=False, outputPadding=Null, offset=Null, offsetx=0)
    channels, rank = filters[0], len(shape)
    for slot, dtype in enumerate([f16, bf16, f32]):
        x, weight = integers(*shape), integers(*filters)
        scale = torch.rand(channels) / 8192
        bias = None if (index + slot) % 3 == 2 else noise(channels, dtype=[f32, f16, bf16][(index + slot) % 3])
        values = convolved(exact(x), exact(weight), stride, padding, dilation, groups) * per_channel(scale, rank)
        values = values if bias is None else values + per_channel(bias, rank)
        cases.add(
            "aclnnQuantConvolution", input=x, weight=weight, bias=Null if bias is None else bias, scale=words_of(scale) if slot == 1 else scale,
            roundMode=[Null, "rint", "round"][slot], output=Out(tensor(values, dtype)), within=WITHIN[dtype], **window,
        )
    for name in ["float8_e4m3fn", "hifloat8"]:
        mode = "rint" if name == "float8_e4m3fn" else "round"
        scale, bias = torch.rand(channels) / 64, noise(channels)

        def drawn_convolution():
            (x, x_values), (weight, weight_values) = floats(name, *shape), floats(name, *filters)
            sums = convolved(x_values, weight_values, stride, padding, dilation, groups) * per_channel(scale, rank)
            values = sums + per_channel(bias, rank)
            # Sums that cancel have larger errors.
            spread = convolved(abs(x_values), abs(weight_values), stride, padding, dilation, groups) * per_channel(scale, rank)
            error = 1e-6 * spread
            clear = np.array_equal(encode(name, values - error, mode), encode(name, values + error, mode))
            return clear or values.size > 60, (x, weight, values, clear)

        x, weight, values, clear = drawn(drawn_convolution)
        given = dict(input=x, weight=weight, bias=bias, scale=scale, **window)
        cases.add("aclnnQuantConvolution", output=Out(tensor(values, f32)), roundMode=Null, within=2e-5, **given)
        if clear:
            cases.add("aclnnQuantConvolution", output=Out(coded(name, encode(name, values, mode))), roundMode=mode, **given)
x, weight, scale = integers(2, 3, 6, 5), integers(4, 3, 3, 2), torch.rand(4)
window = dict(stride=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1, transposed=False, outputPadding=Null, offset=Null, offsetx=0)
given = dict(input=x, weight=weight, bias=Null, scale=scale, roundMode=Null, output=Out(noise(2, 4, 4, 4, dtype=f16), False), **window)
for change, status, text in [
    ({"input": Null}, 161001, "input is a null"), ({"weight": Null}, 161001, "weight is a null"), ({"scale": Null}, 161001, "scale is a null"),
    ({"input": x.float()}, 161002, "input has the type"), ({"weight": floats("hifloat8", 4, 3, 3, 2)[0]}, 161002, "weight has the type"),
    ({"scale": torch.rand(3)}, 161002, "scale has the shape"), ({"scale": scale.half()}, 161002, "scale has the type"), ({"bias": torch.rand(3)}, 161002, "bias has the shape"),
    ({"bias": torch.ones(4, dtype=i32)}, 561003, "bias of int32"), ({"offsetx": 3}, 561003, "offsetx"), ({"transposed": True}, 561003, "transposed"),
    ({"offset": scale}, 561003, "offset"), ({"roundMode": "floor"}, 161002, "roundMode"), ({"stride": [1]}, 161002, "stride has 1 entries"),
    ({"dilation": [0, 1]}, 161002, "must be positive"), ({"groups": 2}, 161002, ""), ({"output": Out(noise(2, 4, 4, 3, dtype=f16), False)}, 161002, ""),
    ({"input": x[:, :, :, :1].contiguous()}, 161002, ""), ({"input": x[0].contiguous()}, 161002, "input has 3 dimensions"), ({"weight": weight[:0]}, 161002, "weight has the shape [0,"),
]:
    cases.add("aclnnQuantConvolution", refuse=(status, text), **{**given, **change})
cases.write()
