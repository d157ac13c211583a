"""Makes products.txt: `python products.py` in an environment with PyTorch. Expected values are float64, rounded once."""

import torch

from cases import Cases, Null, Out, Scalar
from layouts import blocks, integers, packed

torch.manual_seed(60)
cases = Cases("products")
f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
i8, i32, i64, u64 = torch.int8, torch.int32, torch.int64, torch.uint64
FLOATS = [f32, f16, bf16]


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


WITHIN = {f32: 2e-5, f16: 4e-3, bf16: 3e-2}
for dtype in FLOATS:
    for turned in [(0, 0), (1, 0), (0, 1), (1, 1)]:
        a, b, c = noise(3, 5, dtype=dtype), noise(5, 4, dtype=dtype), noise(4, dtype=dtype)
        y = 0.5 * (a.double() @ b.double()) + 2.0 * c.double()
        a, b = (a.T.contiguous() if turned[0] else a), (b.T.contiguous() if turned[1] else b)
        cases.add(
            "aclnnGemm", A=a, B=b, C=c, alpha=0.5, beta=2.0, transA=turned[0], transB=turned[1], out=Out(y.to(dtype)), cubeMathType=0, within=WITHIN[dtype]
        )
    a, b, c = noise(3, 18, dtype=dtype), noise(18, 20, dtype=dtype), noise(20, dtype=dtype)
    width = 32 // dtype.itemsize
    y = a.double() @ b.double()
    cases.add("aclnnMatmulWeightNz", self=a, mat2=blocks(b, width), out=Out(y.to(dtype)), cubeMathType=0, within=WITHIN[dtype])
    y = 2 * c.double() + 0.5 * y
    scalars = dict(alpha=Scalar(0.5), beta=Scalar(2.0))
    cases.add("aclnnAddmmWeightNz", self=c, mat1=a, mat2=blocks(b, width), out=Out(y.to(dtype)), cubeMathType=0, within=WITHIN[dtype], **scalars)
    a, b = noise(2, 3, 17, dtype=dtype), noise(2, 17, 5, dtype=dtype)
    y = a.double() @ b.double()
    cases.add("aclnnBatchMatMulWeightNz", self=a, mat2=blocks(b, width), out=Out(y.to(dtype)), cubeMathType=0, within=WITHIN[dtype])
    common = dict(bias=Null, scale=Null, cubeMathType=0, batchSplitFactor=1, within=WITHIN[dtype])
    orders = dict(permX1=[1, 0, 2], permX2=[0, 1, 2], permY=[1, 0, 2])
    turned = a.transpose(0, 1).contiguous()
    result = Out(y.transpose(0, 1).contiguous().to(dtype))
    cases.add("aclnnTransposeBatchMatMul", x1=turned, x2=b, out=result, **orders, **common)
    cases.add("aclnnTransposeBatchMatMul", x1=a, x2=b.transpose(1, 2).contiguous(), permX1=[0, 1, 2], permX2=[0, 2, 1], permY=[1, 0, 2], out=result, **common)
    cases.add("aclnnTransposeBatchMatMulWeightNz", x1=turned, x2=blocks(b, width), out=result, **orders, **common)
a, b = noise(3, 4), noise(4, 5)
given = dict(self=a, mat2=blocks(b, 8), out=Out(noise(3, 5), False), cubeMathType=0)
for change, status, text in [
    ({"mat2": b}, 161002, "mat2 has the shape"), ({"mat2": blocks(noise(40, 5), 8)}, 161002, "blocks of the shape"), ({"self": a.half()}, 161002, "mat2 has the type"),
    ({"out": Out(noise(3, 20), False)}, 161002, "blocks of the shape"), ({"self": a[0]}, 161002, "dimensions"),
]:
    cases.add("aclnnMatmulWeightNz", refuse=(status, text), **{**given, **change})
given = dict(A=a, B=b, C=noise(5), alpha=1.0, beta=1.0, transA=0, transB=1, out=Out(noise(3, 5), False), cubeMathType=0)
cases.add("aclnnGemm", refuse=(161002, "no product"), **given)

# Integers.
ABSENT = dict(yScale=Null, x1Offset=Null, yOffset=Null)


def safe(values):
    return bool(((values - values.floor() - 0.5).abs() > 1e-3).all())


for out, bias_types in [(f16, [None, i32, f16, f32]), (bf16, [None, i32, bf16, f32])]:
    for bias_type in bias_types:
        for turned in [False, True]:
            a, b = integers(3, 9), integers(9, 5)
            scale, rows = noise(5).abs() / 256 + 2**-9, noise(3).abs() + 0.25
            bias = None if bias_type is None else (integers(5).to(i32) if bias_type == i32 else noise(5, dtype=bias_type))
            sums = a.double() @ b.double()
            line = lambda factor: (sums + bias) * factor if bias_type == i32 else sums * factor + (0 if bias is None else bias.double())
            one, two = (a.T.contiguous() if turned else a), (b.T.contiguous() if turned else b)
            given = dict(x1=one, x2=two, bias=Null if bias is None else bias, transposeX1=turned, transposeX2=turned, within=WITHIN[out])
            y = line(scale.double() * rows.double()[:, None]).to(out)
            cases.add("aclnnQuantMatmulV4", scale=scale, offset=Null, pertokenScaleOptional=rows, out=Out(y), **given)
            cases.add("aclnnQuantMatmulV5", x1Scale=rows, x2Scale=scale, x2Offset=Null, groupSize=0, out=Out(y), **ABSENT, **given)
            y = line(scale.double()).to(out)
            cases.add("aclnnQuantMatmulV3", scale=scale, offset=Null, out=Out(y), **given)
words = [0x3B000000 | 1 << 46, 0x3B800000 | 1 << 46, 0x3C000000 | 1 << 46]
scales = torch.tensor([2.0**-9, 2.0**-8, 2.0**-7], dtype=torch.float64)
for word_type in [u64, i64]:
    a, b, bias = integers(2, 2, 7), integers(7, 3), integers(3).to(i32)
    sums = a.double() @ b.double() + bias
    given = dict(x1=a, x2=b, bias=bias, transposeX1=False, transposeX2=False, scale=torch.tensor(words, dtype=i64).to(word_type))
    cases.add("aclnnQuantMatmulV3", offset=Null, out=Out((sums * scales).half()), within=4e-3, **given)
    values = sums * scales + torch.tensor([0.3, 1.3, -0.7]).double()
    while not safe(values):
        given["x1"] = a = integers(2, 2, 7)
        values = (a.double() @ b.double() + bias) * scales + torch.tensor([0.3, 1.3, -0.7]).double()
    cases.add(
        "aclnnQuantMatmulV4", offset=torch.tensor([0.3, 1.3, -0.7]), pertokenScaleOptional=Null, out=Out(values.round().clamp(-128, 127).to(i8)), **given
    )
a, b, bias = integers(3, 40), integers(40, 4), integers(4).to(i32)
given = dict(x1=a, transposeX1=False, scale=torch.ones(1), offset=Null, pertokenScaleOptional=Null)
cases.add("aclnnQuantMatmulV4", x2=b, bias=bias, transposeX2=False, out=Out((a.long() @ b.long() + bias).to(i32)), **given)
fours, other = integers(3, 16, least=-8, most=7), integers(16, 8, least=-8, most=7)
y = (fours.long() @ other.long()).to(i32)
cases.add("aclnnQuantMatmulV4", x2=packed(other), bias=Null, transposeX2=False, out=Out(y), dense=True, **{**given, "x1": packed(fours)})
scale = noise(4).abs() / 64 + 2**-8
common = dict(x1=a, x1Scale=Null, x2Scale=scale, x2Offset=Null, bias=Null, transposeX1=False, groupSize=0, within=4e-3, **ABSENT)
y = ((a.double() @ b.double()) * scale.double()).half()
cases.add("aclnnQuantMatmulWeightNz", x2=blocks(b, 32), transposeX2=False, out=Out(y), **common)
cases.add("aclnnQuantMatmulWeightNz", x2=blocks(b.T.contiguous(), 32), transposeX2=True, out=Out(y), **common)
given = dict(
    x1=a, x2=b, x1Scale=Null, x2Scale=scale, x2Offset=Null, bias=Null, transposeX1=False, transposeX2=False, groupSize=0, out=Out(y, False), **ABSENT
)
for change, status, text in [
    ({"x2": integers(39, 4)}, 161002, "product does not exist"), ({"x1": a.half()}, 161002, "x1 has the type"), ({"x2Scale": noise(3)}, 161002, "x2Scale has the shape"),
    ({"x1Scale": noise(2)}, 161002, "x1Scale has the shape"), ({"groupSize": 32}, 561003, "groupSize"), ({"yScale": noise(4)}, 561003, "yScale"),
    ({"out": Out(noise(3, 5).half(), False)}, 161002, "out has the shape"), ({"bias": noise(3)}, 161002, "bias has the shape"),
    ({"x1": a[:0], "out": Out(y[:0], False)}, 161002, "x1 has the shape [0,"), ({"x2Scale": Null}, 161001, "x2Scale"),
]:
    cases.add("aclnnQuantMatmulV5", refuse=(status, text), **{**given, **change})

# Weights of integers.
for dtype in [f16, bf16]:
    for group, shape in [(0, (1,)), (0, (8,)), (0, (1, 8)), (4, (3, 8)), (8, (2, 8))]:
        x, weight = noise(3, 12, dtype=dtype), integers(12, 8)
        scale, offset = noise(*shape, dtype=dtype) / 64, noise(*shape, dtype=dtype)
        wide = lambda view: view.double().repeat_interleave(group, 0)[:12] if group else view.double()
        values = (weight.double() + wide(offset)) * wide(scale)
        for bias in [Null, noise(8)]:
            y = x.double() @ values + (0 if bias is Null else bias.double())
            given = dict(
                x=x, antiquantScale=scale, antiquantOffsetOptional=offset, quantScaleOptional=Null, quantOffsetOptional=Null, biasOptional=bias,
                antiquantGroupSize=group, y=Out(y.to(dtype)), within=WITHIN[dtype],
            )
            cases.add("aclnnWeightQuantBatchMatmulV2", weight=weight, **given)
        cases.add("aclnnWeightQuantBatchMatmulV3", weight=weight, innerPrecise=0, **given)
        cases.add("aclnnWeightQuantBatchMatmulNz", weight=blocks(weight, 32), **given)
        fours = integers(12, 8, least=-8, most=7)
        y = x.double() @ (fours.double() * wide(scale))
        given |= dict(antiquantOffsetOptional=Null, biasOptional=Null, y=Out(y.to(dtype)))
        cases.add("aclnnWeightQuantBatchMatmulV2", weight=packed(fours), dense=True, **given)
given = dict(
    x=noise(2, 4, dtype=f16), weight=integers(4, 3), antiquantScale=noise(3, dtype=f16), antiquantOffsetOptional=Null, quantScaleOptional=Null,
    quantOffsetOptional=Null, biasOptional=Null, antiquantGroupSize=0, y=Out(noise(2, 3, dtype=f16), False),
)
for change, status, text in [
    ({"weight": integers(5, 3)}, 161002, "product does not exist"), ({"antiquantScale": noise(2, dtype=f16)}, 161002, "antiquantScale has the shape"),
    ({"antiquantGroupSize": -1}, 161002, "antiquantGroupSize is -1"), ({"x": noise(2, 4)}, 161002, "x has the type"), ({"biasOptional": noise(2)}, 161002, "biasOptional has the shape"),
    ({"quantScaleOptional": torch.ones(1, dtype=u64)}, 561003, "quantScaleOptional"), ({"y": Out(noise(2, 4, dtype=f16), False)}, 161002, "y has the shape"),
    ({"antiquantGroupSize": 2}, 161002, "antiquantScale has the shape"),
]:
    cases.add("aclnnWeightQuantBatchMatmulV2", refuse=(status, text), **{**given, **change})

# Groups of rows.
NEWER = dict(
    scaleOptional=Null, offsetOptional=Null, antiquantScaleOptional=Null, antiquantOffsetOptional=Null, perTokenScaleOptional=Null,
    activationInputOptional=Null, activationQuantScaleOptional=Null, activationQuantOffsetOptional=Null, activationFeatureOutOptional=Null,
    dynQuantScaleOutOptional=Null, actType=0,
)
OLDER = dict(scaleOptional=Null, offsetOptional=Null, antiquantScaleOptional=Null, antiquantOffsetOptional=Null)
sizes, ends = [2, 0, 3], [2, 2, 5]
group = torch.tensor([0, 0, 2, 2, 2])
for dtype in FLOATS:
    x, weights, biases = noise(5, 4, dtype=dtype), noise(3, 4, 35, dtype=dtype), noise(3, 35, dtype=dtype)
    sums = torch.einsum("mk,mkn->mn", x.double(), weights.double()[group])
    y = Out((sums + biases.double()[group]).to(dtype))
    listed = dict(x=[x], weight=[weight.contiguous() for weight in weights], biasOptional=[bias.contiguous() for bias in biases], splitItem=2)
    within = WITHIN[dtype]
    cases.add("aclnnGroupedMatmul", groupListOptional=ends, y=[y], within=within, **listed, **OLDER)
    cases.add("aclnnGroupedMatmulV2", groupListOptional=ends, groupType=0, y=[y], within=within, **listed, **OLDER)
    cases.add("aclnnGroupedMatmulV3", groupListOptional=torch.tensor(ends), groupType=0, y=[y], within=within, **listed, **OLDER)
    joined = dict(x=[x], weight=[weights], biasOptional=[biases], splitItem=3, groupType=0)
    for kind, values in [(0, ends), (1, sizes)]:
        given = dict(groupListOptional=torch.tensor(values), groupListType=kind, out=[y], within=within, **joined, **NEWER)
        cases.add("aclnnGroupedMatmulV4", **given)
        cases.add("aclnnGroupedMatmulV5", tuningConfigOptional=Null, **given)
    short = torch.cat([sums[:2] + biases.double()[0], torch.zeros(3, 35)]).to(dtype)
    cases.add("aclnnGroupedMatmulV4", groupListOptional=torch.tensor([2, 0, 0]), groupListType=1, out=[Out(short)], within=within, **joined, **NEWER)
    a, b = noise(3, 5, dtype=dtype), noise(5, 6, dtype=dtype)
    y = torch.stack([a.double()[:, low:high] @ b.double()[low:high] for low, high in zip([0, 2, 2], ends)])
    cases.add(
        "aclnnGroupedMatmulV4", x=[a], weight=[b], biasOptional=Null, groupListOptional=torch.tensor(sizes), splitItem=3, groupType=2, groupListType=1,
        out=[Out(y.to(dtype))], within=within, **NEWER,
    )
    pairs = [(noise(2, 3, dtype=dtype), noise(3, 4, dtype=dtype)), (noise(1, 5, dtype=dtype), noise(5, 2, dtype=dtype))]
    cases.add(
        "aclnnGroupedMatmulV4", x=[a for a, _ in pairs], weight=[b for _, b in pairs], biasOptional=Null, groupListOptional=Null, splitItem=0, groupType=-1,
        groupListType=0, out=[Out((a.double() @ b.double()).to(dtype)) for a, b in pairs], within=within, **NEWER,
    )
for dtype in [f16, bf16]:
    x, weights = integers(5, 6), integers(3, 6, 7)
    scale, rows = noise(3, 7).abs() / 256 + 2**-9, noise(5).abs() + 0.25
    sums = torch.einsum("mk,mkn->mn", x.double(), weights.double()[group])
    y = sums * scale.double()[group] * rows.double()[:, None]
    common = dict(groupListOptional=torch.tensor(ends), groupListType=0, splitItem=3, groupType=0, within=WITHIN[dtype])
    more = {**NEWER, "scaleOptional": [scale], "perTokenScaleOptional": [rows]}
    cases.add("aclnnGroupedMatmulV4", x=[x], weight=[weights], biasOptional=Null, out=[Out(y.to(dtype))], **common, **more)
    x = noise(5, 6, dtype=dtype)
    factors, offsets = noise(3, 7, dtype=dtype) / 64, noise(3, 7, dtype=dtype)
    values = (weights.double() + offsets.double()[:, None]) * factors.double()[:, None]
    y = torch.einsum("mk,mkn->mn", x.double(), values[group])
    more = {**NEWER, "antiquantScaleOptional": [factors], "antiquantOffsetOptional": [offsets]}
    cases.add("aclnnGroupedMatmulV4", x=[x], weight=[weights], biasOptional=Null, out=[Out(y.to(dtype))], **common, **more)
x, weights = noise(5, 4), noise(3, 4, 2)
given = dict(
    x=[x], weight=[weights], biasOptional=Null, groupListOptional=torch.tensor(ends), groupListType=0, splitItem=3, groupType=0, out=[Out(noise(5, 2), False)],
    **NEWER,
)
for change, status, text in [
    ({"groupType": 1}, 161002, "groupType is 1"), ({"groupListType": 3}, 161002, "groupListType is 3"), ({"groupListOptional": Null}, 161001, "groupListOptional"),
    ({"weight": [noise(2, 4, 2)]}, 161002, "3 groups"), ({"actType": 1}, 561003, "actType"), ({"out": [Out(noise(4, 2), False)]}, 161002, "out[0] has the shape"),
    ({"scaleOptional": [noise(3, 2)]}, 161002, "scales"), ({"x": [x, x]}, 561003, "2 tensors"), ({"biasOptional": [noise(2, 2)]}, 161002, "biasOptional[0] has the shape"),
    ({"groupListOptional": torch.tensor(ends, dtype=i32)}, 161002, "groupListOptional has the type"), ({"weight": [weights.half()]}, 161002, "weight[0] has the type"),
]:
    cases.add("aclnnGroupedMatmulV4", refuse=(status, text), **{**given, **change})

a, b = integers(3, 40), integers(40, 4)
# Weights of 8 bits as serving programs pass them: scales of the model's type, one for each row of activations, and a bias of any type.
for out in [f16, bf16]:
    for bias_type in [None, out, f32, i32]:
        scales, rows = (noise(4).abs() / 64 + 2**-8).to(out), noise(3).abs() + 0.25
        bias = None if bias_type is None else integers(4).to(bias_type)
        sums = a.double() @ b.double()
        factor = scales.double() * rows.double()[:, None]
        y = (sums + bias) * factor if bias_type == i32 else sums * factor + (0 if bias is None else bias.double())
        given = dict(
            x1=a, x1Scale=rows, x2Scale=scales, yScale=Null, x1Offset=Null, x2Offset=Null, yOffset=torch.zeros(0, dtype=out), bias=Null if bias is None else bias,
            transposeX1=False, groupSize=0, within=WITHIN[out],
        )
        cases.add("aclnnQuantMatmulWeightNz", x2=blocks(b, 32), transposeX2=False, out=Out(y.to(out)), **given)
        cases.add("aclnnQuantMatmulV5", x2=b, transposeX2=False, out=Out(y.to(out)), **given)
cases.write()
