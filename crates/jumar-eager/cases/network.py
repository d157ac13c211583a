"""Makes network.txt: `python network.py` in an environment with PyTorch."""

import math

import torch
import torch.nn.functional as nn

from cases import Cases, InOut, Null, Out

torch.manual_seed(10)
cases = Cases("network")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i8, i32, i64, u8, boolean = torch.int8, torch.int32, torch.int64, torch.uint8, torch.bool
FLOATS = [f32, f16, bf16, f64]
nan, inf = float("nan"), float("inf")


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def some(cases, dtype):
    """All cases for float32, every third for the other types."""
    return cases if dtype == f32 else cases[FLOATS.index(dtype) - 1 :: 3]


def exact(x):
    """The operand in float64, from which a gradient is taken and rounded once."""
    return None if x is None else x.double().detach().requires_grad_()


# Convolutions: input, weight, bias, stride, padding, dilation, transposed, output padding, groups.
CONVOLUTIONS = [
    ((2, 3, 5, 4), (4, 3, 3, 2), True, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ((1, 2, 5, 5), (2, 2, 3, 3), False, [2, 1], [1, 2], [1, 1], False, [0, 0], 1),
    ((1, 2, 7, 6), (2, 2, 2, 3), True, [1, 2], [1, 0], [2, 1], False, [0, 0], 1),
    ((2, 4, 4, 4), (6, 2, 3, 3), True, [1, 1], [1, 1], [1, 1], False, [0, 0], 2),
    ((1, 3, 4, 4), (3, 1, 3, 3), False, [1, 1], [1, 1], [1, 1], False, [0, 0], 3),
    ((1, 2, 3, 3), (4, 2, 1, 1), True, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ((2, 3, 6), (4, 3, 3), True, [1], [1], [1], False, [0], 1),
    ((1, 4, 7), (4, 2, 2), False, [2], [1], [2], False, [0], 2),
    ((1, 3, 3, 4), (3, 2, 3, 2), True, [1, 1], [0, 0], [1, 1], True, [0, 0], 1),
    ((1, 2, 3, 3), (2, 3, 3, 3), False, [2, 2], [1, 1], [1, 1], True, [1, 0], 1),
    ((2, 4, 3, 3), (4, 1, 2, 2), True, [2, 1], [0, 1], [1, 2], True, [0, 0], 2),
    ((1, 3, 5), (3, 2, 3), True, [2], [1], [1], True, [1], 1),
]
for dtype in FLOATS:
    for shape, filter_shape, has_bias, stride, padding, dilation, transposed, output_padding, groups in some(CONVOLUTIONS, dtype):
        x, weight = noise(*shape, dtype=dtype), noise(*filter_shape, dtype=dtype)
        channels = filter_shape[1] * groups if transposed else filter_shape[0]
        bias = noise(channels, dtype=dtype) if has_bias else None
        ex, ew, eb = exact(x), exact(weight), exact(bias)
        y = torch.ops.aten.convolution(ex, ew, eb, stride, padding, dilation, transposed, output_padding, groups)
        given = dict(stride=stride, padding=padding, dilation=dilation, transposed=transposed, outputPadding=output_padding, groups=groups)
        within = {f32: 1e-5, f16: 4e-3}.get(dtype)
        cases.add(
            "aclnnConvolution", input=x, weight=weight, bias=Null if bias is None else bias, output=Out(y.detach().to(dtype)),
            cubeMathType=0, within=within, **given,
        )
        gradient = noise(*y.shape, dtype=dtype)
        y.backward(gradient.double())
        spread = gradient.double().transpose(0, 1).flatten(1).sum(1)
        outs = dict(gradInput=Out(ex.grad.to(dtype)), gradWeight=Out(ew.grad.to(dtype)))
        cases.add(
            "aclnnConvolutionBackward", gradOutput=gradient, input=x, weight=weight, biasSizes=[channels] if has_bias else Null,
            outputMask=[True, True, has_bias], cubeMathType=0, gradBias=Out(spread.to(dtype)) if has_bias else Null, within=within,
            **given, **outs,
        )
x, weight, bias = noise(1, 2, 4, 4), noise(3, 2, 3, 3), noise(3)
plain = dict(stride=[1, 1], padding=[1, 1], dilation=[1, 1], transposed=False, outputPadding=[0, 0], groups=1, cubeMathType=0)
y = nn.conv2d(x, weight, padding=1)
cases.add("aclnnConvolution", input=x, weight=weight, bias=Null, output=Out(y), within=1e-5, **{**plain, "stride": [1], "padding": [1]})
wide = nn.conv2d(nn.pad(x, (0, 2, 1, 0)), weight)
cases.add("aclnnConvolution", input=x, weight=weight, bias=Null, output=Out(wide), within=1e-5, **{**plain, "padding": [1, 0, 0, 2]})
halves = nn.conv2d(x.half().float(), weight.half().float(), bias, padding=1).half()
cases.add("aclnnConvolution", input=x.half(), weight=weight.half(), bias=bias, output=Out(halves), within=4e-3, **plain)
cases.add("aclnnConvolution", input=noise(0, 2, 4, 4), weight=weight, bias=bias, output=Out(noise(0, 3, 4, 4)), **plain)
for change, output, status, text in [
    ({"stride": [0, 1]}, y, 161002, "stride"),
    ({"padding": [-1, 1]}, y, 161002, "padding"),
    ({"groups": 0}, y, 161002, "groups"),
    ({"groups": 2}, y, 161002, ""),
    ({"stride": [1, 1, 1]}, y, 161002, "stride has 3 entries"),
    ({}, y[:, :, 1:], 161002, "output has the shape"),
    ({"dilation": [9, 9]}, y, 161002, ""),
]:
    cases.add(
        "aclnnConvolution", input=x, weight=weight, bias=bias, output=Out(output, False), refuse=(status, text), **{**plain, **change}
    )
cases.add("aclnnConvolution", input=x[0], weight=weight, bias=bias, output=Out(y[0], False), refuse=(161002, "dimensions"), **plain)
cases.add("aclnnConvolution", input=x, weight=weight, bias=noise(2), output=Out(y, False), refuse=(161002, ""), **plain)
back = {**plain, "transposed": True}
t = nn.conv_transpose2d(x, weight.transpose(0, 1).contiguous(), padding=1)
swapped = weight.transpose(0, 1).contiguous()
cases.add("aclnnConvolution", input=x, weight=swapped, bias=bias, output=Out(t[:, :, 1:], False), refuse=(161002, "output has the shape"), **back)
cases.add("aclnnConvolution", input=x, weight=swapped, bias=noise(2), output=Out(t, False), refuse=(161002, "bias has the shape"), **back)
cases.add(
    "aclnnConvolution", input=x, weight=swapped, bias=Null, output=Out(t, False), refuse=(161002, "outputPadding"),
    **{**back, "outputPadding": [1, 0]},
)
outs = dict(gradInput=Out(x, False), gradWeight=Out(weight, False), gradBias=Out(bias, False))
given = dict(input=x, weight=weight, biasSizes=[3], **plain)
cases.add("aclnnConvolutionBackward", gradOutput=y, outputMask=[True, True], refuse=(161002, "outputMask has 2"), **given, **outs)
cases.add("aclnnConvolutionBackward", gradOutput=y[:, :, 1:], outputMask=[True] * 3, refuse=(161002, ""), **given, **outs)
outs["gradBias"] = Out(noise(2), False)
cases.add("aclnnConvolutionBackward", gradOutput=y, outputMask=[True] * 3, refuse=(161002, "gradBias has the shape"), **given, **outs)
outs = dict(gradInput=Out(noise(0, 2, 4, 4)), gradWeight=Out(torch.zeros(3, 2, 3, 3)), gradBias=Out(torch.zeros(3)))
given["input"] = noise(0, 2, 4, 4)
cases.add("aclnnConvolutionBackward", gradOutput=noise(0, 3, 4, 4), outputMask=[True] * 3, **given, **outs)

# Maxima of windows: shape, kernel, stride, padding, dilation, ceil.
POOLS = [
    ((1, 2, 4, 4), [2, 2], [2, 2], [0, 0], [1, 1], False), ((2, 1, 5, 6), [3, 2], [2, 1], [1, 1], [1, 1], False),
    ((1, 1, 5, 5), [2, 2], [2, 2], [0, 0], [1, 1], True), ((1, 2, 6, 5), [3, 3], [2, 2], [1, 1], [1, 1], True),
    ((2, 5, 4), [2, 3], [1, 2], [0, 1], [1, 1], False), ((1, 1, 6, 6), [2, 2], [1, 1], [0, 0], [2, 2], False),
    ((1, 2, 4, 4), [2, 2], [], [0, 0], [1, 1], False), ((0, 2, 4, 4), [2, 2], [2, 2], [0, 0], [1, 1], False),
]


def mask_of(shape, kernel):
    height, width = shape[-2:]
    return torch.zeros(list(shape[:-2]) + [kernel[0] * kernel[1], (math.ceil(height * width / 16) + 1) * 32], dtype=i8)


for dtype in FLOATS:
    for shape, kernel, stride, padding, dilation, ceil in some(POOLS, dtype):
        x = noise(*shape, dtype=dtype)
        ex = exact(x)
        y = nn.max_pool2d(ex, kernel, stride or None, padding, dilation, ceil)
        given = dict(kernelSize=kernel, stride=stride, padding=padding, dilation=dilation, ceilMode=ceil)
        # Nothing depends on the shape of the mask; the case with numbers that are none has that of the adapter.
        mask = torch.zeros(1, 8, dtype=i8)
        cases.add("aclnnMaxPool2dWithMask", self=x, out=Out(y.detach().to(dtype)), indices=Out(mask), bare=dtype != f64, **given)
        gradient = noise(*y.shape, dtype=dtype)
        y.backward(gradient.double())
        cases.add("aclnnMaxPool2dWithMaskBackward", gradOutput=gradient, self=x, indices=mask, gradInput=Out(ex.grad.to(dtype)), **given)
x = torch.tensor([[[[1.0, nan, 2.0, 2.0], [3.0, 3.0, -inf, -inf], [nan, nan, -inf, -inf], [0.0, 1.0, -inf, -inf]]]])
ex = exact(x)
y = nn.max_pool2d(ex, 2)
plain = dict(kernelSize=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1], ceilMode=False)
mask = mask_of(y.shape, [2, 2])
cases.add("aclnnMaxPool2dWithMask", self=x, out=Out(y.detach().float()), indices=Out(mask), **plain)
gradient = noise(*y.shape)
y.backward(gradient.double())
cases.add("aclnnMaxPool2dWithMaskBackward", gradOutput=gradient, self=x, indices=mask, gradInput=Out(ex.grad.float()), **plain)
y = y.detach().float()
single = {**plain, "kernelSize": [2], "stride": [2], "padding": [0], "dilation": [1]}
cases.add("aclnnMaxPool2dWithMask", self=x, out=Out(y), indices=Out(mask), **single)
for change, out, text in [
    ({"padding": [2, 0]}, y, "half the kernel"), ({"kernelSize": [0, 2]}, y, "must be positive"), ({}, y[:, :, 1:], "out has the shape"),
    ({"kernelSize": [1, 2, 3]}, y, "kernelSize has 3 entries"), ({"kernelSize": [5, 5]}, y, ""), ({}, torch.cat([y, y]), "out has the shape"),
]:
    cases.add("aclnnMaxPool2dWithMask", self=x, out=Out(out, False), indices=Out(mask, False), refuse=(161002, text), **{**plain, **change})
cases.add("aclnnMaxPool2dWithMask", self=x[0, 0], out=Out(y[0, 0], False), indices=Out(mask, False), refuse=(161002, "3 or 4"), **plain)
for gradient, text in [(y[:, :, 1:], "gradOutput has the shape"), (torch.cat([y, y]), "gradOutput has the shape")]:
    cases.add(
        "aclnnMaxPool2dWithMaskBackward", gradOutput=gradient, self=x, indices=mask, gradInput=Out(x, False), refuse=(161002, text), **plain
    )
cases.add(
    "aclnnMaxPool2dWithMaskBackward", gradOutput=y, self=x, indices=mask, gradInput=Out(y, False), refuse=(161002, "gradInput has"), **plain
)

# Averages of adaptive windows.
for dtype in FLOATS:
    for shape, size in [((1, 2, 4, 4), [2, 2]), ((2, 1, 5, 7), [3, 2]), ((2, 3, 4), [1, 1]), ((1, 1, 2, 3), [4, 5]), ((0, 2, 3, 3), [2, 2]),
                        ((1, 2, 3, 3), [0, 2])]:
        x = noise(*shape, dtype=dtype)
        ex = exact(x)
        y = nn.adaptive_avg_pool2d(ex, size)
        cases.add("aclnnAdaptiveAvgPool2d", self=x, outputSize=size, out=Out(y.detach().to(dtype)))
        gradient = noise(*y.shape, dtype=dtype)
        # PyTorch computes no gradient of an empty result; it is zero.
        to_x = torch.autograd.grad(y, ex, gradient.double())[0] if 0 not in size else torch.zeros_like(x)
        cases.add("aclnnAdaptiveAvgPool2dBackward", gradOutput=gradient, self=x, out=Out(to_x.to(dtype)))
x = noise(1, 2, 4, 4)
y = nn.adaptive_avg_pool2d(x, 2)
cases.add("aclnnAdaptiveAvgPool2d", self=x, outputSize=[3, 2], out=Out(y, False), refuse=(161002, "out has the shape"))
cases.add("aclnnAdaptiveAvgPool2d", self=x, outputSize=[-1, 2], out=Out(y, False), refuse=(161002, "outputSize"))
cases.add("aclnnAdaptiveAvgPool2d", self=noise(1, 2, 0, 4), outputSize=[2, 2], out=Out(y, False), refuse=(161002, "self has the shape"))
cases.add("aclnnAdaptiveAvgPool2dBackward", gradOutput=y[:, :1], self=x, out=Out(x, False), refuse=(161002, "gradOutput has the shape"))
cases.add("aclnnAdaptiveAvgPool2dBackward", gradOutput=y, self=x, out=Out(y, False), refuse=(161002, "out has the shape"))

# Embeddings.
for dtype in FLOATS + [i32, i64, boolean]:
    weight = noise(5, 3, dtype=f64, scale=9).to(dtype)
    for shape, kind in [((4,), i64), ((2, 3), i32), ((), i64), ((0,), i64)]:
        indices = torch.randint(0, 5, shape).to(kind)
        cases.add("aclnnEmbedding", weight=weight, indices=indices, out=Out(weight[indices.long()]))
w = noise(5, 3)
index = torch.tensor([1, 2])
cases.add("aclnnEmbedding", weight=w[0], indices=index, out=Out(w[index], False), refuse=(161002, "weight has the shape"))
cases.add("aclnnEmbedding", weight=w, indices=index, out=Out(w, False), refuse=(161002, "out has the shape"))
cases.add("aclnnEmbedding", weight=w, indices=index.float(), out=Out(w[index], False), refuse=(161002, ""))
for dtype in FLOATS:
    for shape, kind in [((6,), i64), ((2, 4), i32), ((), i64), ((0,), i64)]:
        for padding in [-1, 2]:
            for scaled in [False, True]:
                indices = torch.randint(0, 4, shape).to(kind)
                gradient = noise(*shape, 3, dtype=dtype)
                out = torch.ops.aten.embedding_dense_backward(gradient.double(), indices.long(), 4, padding, scaled)
                cases.add(
                    "aclnnEmbeddingDenseBackward", grad=gradient, indices=indices, numWeights=4, paddingIdx=padding, scaleGradByFreq=scaled,
                    out=Out(out.to(dtype)),
                )
given = dict(indices=index, paddingIdx=-1, scaleGradByFreq=False)
cases.add("aclnnEmbeddingDenseBackward", grad=noise(2, 3), numWeights=4, out=Out(w, False), refuse=(161002, "out has the shape"), **given)
cases.add("aclnnEmbeddingDenseBackward", grad=noise(3, 3), numWeights=5, out=Out(w, False), refuse=(161002, "grad has the shape"), **given)

# The likelihood loss.
KINDS = ["none", "mean", "sum"]
for dtype in FLOATS:
    for shape, kind in some([((4, 3), i64), ((3,), i64), ((2, 3, 2), i32), ((2, 3, 2, 2), i64), ((4, 3), u8), ((0, 3), i64)], dtype):
        for weighted in [False, True]:
            for ignored in [-100, 1]:
                x = noise(*shape, dtype=dtype)
                classes = shape[1] if len(shape) > 1 else shape[0]
                target = torch.randint(0, classes, shape[:1] + shape[2:] if len(shape) > 1 else ())
                small = f64 if dtype == f64 else f32
                weight = noise(classes, dtype=small).abs() + 0.1 if weighted else torch.ones(classes, dtype=small)
                if ignored == -100 and kind != u8 and target.numel() > 1:
                    target.view(-1)[0] = -100
                for reduction, word in enumerate(KINDS):
                    ex = exact(x)
                    given = dict(self=x, target=target.to(kind), weight=weight, reduction=reduction, ignoreIndex=ignored)
                    y = nn.nll_loss(ex, target, weight.double(), reduction=word, ignore_index=ignored)
                    counted = weight.double()[target[target != ignored]].sum() if target.dim() or target != ignored else torch.tensor(0.0, dtype=f64)
                    if reduction == 0:
                        total = torch.tensor(0.0, dtype=f64)
                    else:
                        total = counted
                    cases.add(
                        "aclnnNLLLoss", out=Out(y.detach().to(dtype)), totalWeightOut=Out(total.to(small), reduction != 0),
                        within=1e-5 if dtype == f32 else None, **given,
                    )
                    gradient = noise(*y.shape, dtype=dtype)
                    (grad,) = torch.autograd.grad(y, ex, gradient.double())
                    if reduction == 1 and counted == 0:
                        continue
                    cases.add(
                        "aclnnNLLLossBackward", gradOutput=gradient, totalWeight=total.to(small).reshape(1), out=Out(grad.to(dtype)),
                        within=1e-5 if dtype == f32 else None, **given,
                    )
x, target, weight = noise(4, 3), torch.tensor([0, 1, 2, 0]), torch.ones(3)
scalar = torch.tensor(0.0)
given = dict(self=x, ignoreIndex=-100, out=Out(scalar, False), totalWeightOut=Out(scalar, False))
cases.add("aclnnNLLLoss", target=target, weight=weight, reduction=3, refuse=(161002, "reduction is 3"), **given)
cases.add("aclnnNLLLoss", target=target[:2], weight=weight, reduction=1, refuse=(161002, "target has the shape"), **given)
cases.add("aclnnNLLLoss", target=target, weight=noise(4), reduction=1, refuse=(161002, "weight has the shape"), **given)
cases.add("aclnnNLLLoss", target=target, weight=weight, reduction=0, refuse=(161002, "out has the shape"), **given)
cases.add("aclnnNLLLoss", target=target, weight=Null, reduction=0, refuse=(161001, "weight"), **given)
given["out"] = Out(noise(2), False)
cases.add("aclnnNLLLoss", target=target, weight=weight, reduction=1, refuse=(161002, "out has the shape"), **given)
given = dict(self=x, target=target, weight=weight, ignoreIndex=-100, out=Out(x, False))
cases.add("aclnnNLLLossBackward", gradOutput=noise(2), reduction=0, totalWeight=scalar, refuse=(161002, "gradOutput has the shape"), **given)
cases.add("aclnnNLLLossBackward", gradOutput=noise(4), reduction=1, totalWeight=scalar, refuse=(161002, "gradOutput has the shape"), **given)
cases.add("aclnnNLLLossBackward", gradOutput=scalar, reduction=1, totalWeight=noise(0), refuse=(161002, "totalWeight has the shape"), **given)
given["out"] = Out(noise(4, 2), False)
cases.add("aclnnNLLLossBackward", gradOutput=scalar, reduction=1, totalWeight=scalar, refuse=(161002, "out has the shape"), **given)


# Attention.
def arranged(x, layout):
    """Batch, heads, length, width in a layout."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    batch, heads, length, width = x.shape
    if layout == "BSH":
        return x.transpose(1, 2).reshape(batch, length, heads * width)
    return x.permute(2, 0, 1, 3).reshape(length, batch, heads * width)


def attend(q, k, v, scale, pse, mask):
    share = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(share, 1), v.repeat_interleave(share, 1)
    scores = q @ k.transpose(2, 3)
    if pse is not None:
        scores = scores + pse
    scores = scores * scale
    if mask is not None:
        scores = scores.masked_fill(mask, -inf)
    greatest = scores.amax(3, keepdim=True)
    total = (scores - greatest).exp().sum(3, keepdim=True)
    return scores.softmax(3) @ v, greatest, total


EMPTY = torch.zeros(0)
for dtype in FLOATS:
    for layout in ["BNSD", "BSND", "BSH", "SBH"] if dtype == f32 else ["BNSD"]:
        for heads, key_heads, rows, columns, mode, extra in some([
            (2, 2, 3, 3, 0, None), (4, 2, 2, 5, 0, "mask"), (2, 1, 4, 4, 2, None), (2, 2, 2, 4, 3, None), (2, 2, 3, 4, 0, "pse"),
            (3, 3, 2, 3, 1, "mask4"),
        ], dtype if layout == "BNSD" else f64 if layout == "BSH" else f16 if layout == "SBH" else bf16):
            batch, width = 2, 3
            q, k, v = (
                noise(batch, count, length, width, dtype=dtype)
                for count, length in [(heads, rows), (key_heads, columns), (key_heads, columns)]
            )
            scale = 0.5
            mask, given_mask = None, Null
            if mode in (2, 3):
                shift = columns - rows if mode == 3 else 0
                mask = torch.ones(rows, columns, dtype=boolean).triu(1 + shift)
                # The first rows of a compressed triangle stand for all of it.
                given_mask = torch.ones(8, 8, dtype=boolean).triu(1)
            elif extra == "mask":
                mask = torch.rand(rows, columns) < 0.4
                mask[:, 0] = False
                given_mask = mask.to(u8)
            elif extra == "mask4":
                mask = torch.rand(batch, 1, rows, columns) < 0.4
                mask[..., 1] = False
                given_mask = mask
            pse = noise(batch, heads, rows, columns, dtype=dtype) if extra == "pse" else None
            eq, ek, ev, ep = exact(q), exact(k), exact(v), exact(pse)
            y, greatest, total = attend(eq, ek, ev, scale, ep, mask)
            gradient = noise(*y.shape, dtype=dtype)
            y.backward(gradient.double())
            arranged_as_passed = lambda x: arranged(x.detach(), layout).contiguous()
            greatest, total = (each.detach().float().expand(-1, -1, -1, 8).contiguous() for each in (greatest, total))
            given = dict(
                query=arranged_as_passed(q), value=arranged_as_passed(v), dropMaskOptional=Null, paddingMaskOptional=Null, attenMaskOptional=given_mask,
                prefixOptional=[], scaleValue=scale, keepProb=1.0, preTokens=2147483647, nextTokens=0 if mode == 2 else 2147483647,
                headNum=heads, inputLayout=layout, innerPrecise=0, sparseMode=mode,
            )
            within = {f32: 1e-5, f64: 2e-6}.get(dtype)
            cases.add(
                "aclnnFlashAttentionScore", key=arranged_as_passed(k), realShiftOptional=Null if pse is None else pse, softmaxMaxOut=Out(greatest),
                softmaxSumOut=Out(total), softmaxOutOut=Out(EMPTY.to(dtype)), attentionOutOut=Out(arranged_as_passed(y).to(dtype)), within=within, **given,
            )
            cases.add(
                "aclnnFlashAttentionScoreGrad", keyIn=arranged_as_passed(k), dy=arranged_as_passed(gradient), pseShiftOptional=Null if pse is None else pse,
                softmaxMaxOptional=greatest, softmaxSumOptional=total, softmaxInOptional=Null, attentionInOptional=arranged_as_passed(y).to(dtype),
                dqOut=Out(arranged_as_passed(eq.grad).to(dtype)), dkOut=Out(arranged_as_passed(ek.grad).to(dtype)), dvOut=Out(arranged_as_passed(ev.grad).to(dtype)),
                dpseOut=Null if pse is None else Out(ep.grad.to(dtype)), within=within, **given,
            )
q = noise(1, 2, 3, 4)
given = dict(
    query=q, key=q, value=q, realShiftOptional=Null, dropMaskOptional=Null, paddingMaskOptional=Null, attenMaskOptional=Null,
    prefixOptional=Null, scaleValue=0.5, keepProb=1.0, preTokens=65536, nextTokens=65536, headNum=2, inputLayout="BNSD", innerPrecise=0,
    sparseMode=0, softmaxMaxOut=Out(noise(1, 2, 3, 8), False), softmaxSumOut=Out(noise(1, 2, 3, 8), False), softmaxOutOut=Null,
    attentionOutOut=Out(q, False),
)
for change, status, text in [
    ({"inputLayout": "XYZ"}, 161002, "inputLayout"), ({"inputLayout": "TND"}, 561003, "TND"), ({"headNum": 0}, 161002, "headNum"),
    ({"key": noise(1, 3, 3, 4)}, 161002, "heads"), ({"key": noise(1, 2, 3, 5)}, 161002, "lengths of the keys"), ({"query": q[0]}, 161002, "query has the shape"),
    ({"attenMaskOptional": torch.ones(2, 3, dtype=boolean)}, 161002, "attenMaskOptional has the shape"),
    ({"sparseMode": 5}, 561003, "sparseMode 5"), ({"dropMaskOptional": torch.ones(2, dtype=u8)}, 161002, "dropMaskOptional has 2 bytes"),
    ({"attentionOutOut": Out(noise(1, 2, 3, 5), False)}, 161002, "attentionOutOut has the shape"),
    ({"attentionOutOut": Out(noise(1, 3, 2, 4), False)}, 161002, "attentionOutOut has the shape"),
    ({"value": noise(1, 2, 5, 4)}, 161002, ""), ({"query": Null}, 161001, "query"),
    ({"softmaxMaxOut": Out(noise(1, 2, 4, 8), False)}, 161002, "softmaxMaxOut"),
]:
    cases.add("aclnnFlashAttentionScore", refuse=(status, text), **{**given, **change})
given = dict(
    query=q, keyIn=q, value=q, dy=q, pseShiftOptional=Null, dropMaskOptional=Null, paddingMaskOptional=Null, attenMaskOptional=Null,
    softmaxMaxOptional=Null, softmaxSumOptional=Null, softmaxInOptional=Null, attentionInOptional=Null, prefixOptional=Null,
    scaleValue=0.5, keepProb=1.0, preTokens=65536, nextTokens=65536, headNum=2, inputLayout="BNSD", innerPrecise=0, sparseMode=0,
    dqOut=Out(q, False), dkOut=Out(q, False), dvOut=Out(q, False), dpseOut=Null,
)
for change, status, text in [
    ({"dy": noise(1, 2, 4, 4)}, 161002, ""), ({"dqOut": Out(noise(1, 2, 4, 4), False)}, 161002, "dqOut has the shape"),
    ({"dkOut": Out(noise(1, 1, 3, 4), False)}, 161002, "dkOut has the shape"),
]:
    cases.add("aclnnFlashAttentionScoreGrad", refuse=(status, text), **{**given, **change})

# Rows and columns of a transposed convolution that no window reaches: the padding of the output is larger than the stride.
x, weight, bias = noise(1, 2, 2, 3), noise(2, 3, 2, 2), noise(3)
given = dict(stride=[1, 2], padding=[1, 0], dilation=[3, 4], transposed=True, outputPadding=[2, 3], groups=1)
ex, ew, eb = exact(x), exact(weight), exact(bias)
y = torch.ops.aten.convolution(ex, ew, eb, *list(given.values()))
gradient = noise(*y.shape)
to_x, to_weight, to_bias = torch.autograd.grad(y, (ex, ew, eb), gradient.double())
cases.add("aclnnConvolutionBackward", gradOutput=gradient, input=x, weight=weight, biasSizes=[3], outputMask=[True] * 3, cubeMathType=0,
          gradInput=Out(to_x.float()), gradWeight=Out(to_weight.float()), gradBias=Out(to_bias.float()), within=1e-5, **given)

# Convolutions over three dimensions.
VOLUMES = [
    ((2, 3, 3, 4, 5), (4, 3, 2, 3, 2), True, [1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1),
    ((1, 4, 5, 4, 4), (4, 2, 2, 3, 1), False, [2, 1, 3], [1, 0, 2], [2, 1, 1], False, [0, 0, 0], 2),
    ((1, 2, 2, 3, 3), (2, 3, 2, 2, 2), True, [1, 2, 1], [0, 1, 0], [1, 1, 2], True, [0, 1, 0], 1),
    ((2, 4, 2, 2, 3), (4, 1, 2, 1, 2), False, [1, 2, 2], [0, 0, 1], [3, 1, 1], True, [2, 0, 1], 2),
]
for dtype in FLOATS:
    for shape, filter_shape, has_bias, stride, padding, dilation, transposed, output_padding, groups in some(VOLUMES, dtype):
        x, weight = noise(*shape, dtype=dtype), noise(*filter_shape, dtype=dtype)
        channels = filter_shape[1] * groups if transposed else filter_shape[0]
        bias = noise(channels, dtype=dtype) if has_bias else None
        ex, ew, eb = exact(x), exact(weight), exact(bias)
        y = torch.ops.aten.convolution(ex, ew, eb, stride, padding, dilation, transposed, output_padding, groups)
        given = dict(stride=stride, padding=padding, dilation=dilation, transposed=transposed, outputPadding=output_padding, groups=groups)
        within = {f32: 1e-5, f16: 4e-3}.get(dtype)
        cases.add("aclnnConvolution", input=x, weight=weight, bias=Null if bias is None else bias, output=Out(y.detach().to(dtype)),
                  cubeMathType=0, within=within, **given)
        gradient = noise(*y.shape, dtype=dtype)
        y.backward(gradient.double())
        spread = gradient.double().transpose(0, 1).flatten(1).sum(1)
        cases.add("aclnnConvolutionBackward", gradOutput=gradient, input=x, weight=weight, biasSizes=[channels] if has_bias else Null,
                  outputMask=[True, True, has_bias], cubeMathType=0, gradBias=Out(spread.to(dtype)) if has_bias else Null, within=within,
                  gradInput=Out(ex.grad.to(dtype)), gradWeight=Out(ew.grad.to(dtype)), **given)
x, weight, bias = noise(1, 2, 3, 3, 3), noise(3, 2, 2, 2, 2), noise(3)
plain = dict(stride=[1], padding=[1], dilation=[1], transposed=False, outputPadding=[0], groups=1, cubeMathType=0)
y = nn.conv3d(x, weight, bias, padding=1)
cases.add("aclnnConvolution", input=x, weight=weight, bias=bias, output=Out(y), within=1e-5, **plain)
uneven = nn.conv3d(nn.pad(x, (0, 1, 2, 0, 1, 2)), weight)
cases.add("aclnnConvolution", input=x, weight=weight, bias=Null, output=Out(uneven), within=1e-5, **{**plain, "padding": [1, 2, 2, 0, 0, 1]})
cases.add("aclnnConvolution", input=noise(0, 2, 3, 3, 3), weight=weight, bias=bias, output=Out(noise(0, 3, 4, 4, 4)), **plain)
for change, status, text in [
    ({"stride": [0]}, 161002, "stride"), ({"padding": [1, 2]}, 161002, "padding has 2 entries"), ({"groups": 2}, 161002, "one convolution"),
    ({"output": Out(y[:, :, 1:], False)}, 161002, "one convolution"), ({"bias": noise(2)}, 161002, "bias has the shape"),
    ({"dilation": [9]}, 161002, "one convolution"), ({"input": x[0]}, 161002, "dimensions"), ({"transposed": True}, 161002, "one convolution"),
]:
    given = dict(input=x, weight=weight, bias=bias, output=Out(y, False), **plain)
    cases.add("aclnnConvolution", refuse=(status, text), **{**given, **change})
outs = dict(gradInput=Out(noise(0, 2, 3, 3, 3)), gradWeight=Out(torch.zeros(3, 2, 2, 2, 2)), gradBias=Out(torch.zeros(3)))
cases.add("aclnnConvolutionBackward", gradOutput=noise(0, 3, 4, 4, 4), input=noise(0, 2, 3, 3, 3), weight=weight, biasSizes=[3],
          outputMask=[True] * 3, **plain, **outs)
outs = dict(gradInput=Out(x, False), gradWeight=Out(weight, False), gradBias=Out(bias, False))
cases.add("aclnnConvolutionBackward", gradOutput=y[:, :, 1:], input=x, weight=weight, biasSizes=[3], outputMask=[True] * 3,
          refuse=(161002, "one convolution"), **plain, **outs)

# Convolutions of integers.
for shape, filter_shape, space in [((2, 4, 9), (4, 2, 3), 1), ((1, 4, 5, 6), (6, 2, 2, 3), 2), ((1, 2, 3, 4, 3), (4, 1, 2, 2, 3), 3)]:
    for dtype in (i64, i32, u8):
        x, weight = (torch.randint(0, 100, dims).to(dtype) for dims in (shape, filter_shape))
        given = dict(stride=[1] * space, padding=[1] * space, dilation=[1] * space, outputPadding=[0] * space, groups=2, cubeMathType=0)
        for transposed in (False, True):
            operands = [x.to(i64), weight.to(i64) if not transposed else weight[: shape[1]].to(i64)]
            y = torch.ops.aten.convolution(*operands, None, *list(given.values())[:3], transposed, *list(given.values())[3:5]).to(dtype)
            cases.add("aclnnConvolution", input=x, weight=operands[1].to(dtype), bias=Null, output=Out(y), transposed=transposed, **given)

# Rows of a table whose norm is larger than a limit.
for dtype in FLOATS:
    table = noise(5, 3, dtype=dtype)
    for order in (2.0, 1.0, 3.0, inf, 0.0):
        indices = torch.tensor([[4, 1], [1, 0]])
        after = torch.embedding_renorm_(table.double().clone(), indices, 1.0, order).to(dtype)
        cases.add("aclnnEmbeddingRenorm", selfRef=InOut(table, after), indices=indices.to(i32) if order == 1.0 else indices, maxNorm=1.0, normType=order)
table = noise(2, 3)
given = dict(selfRef=InOut(table, table), maxNorm=0.1, normType=2.0)
cases.add("aclnnEmbeddingRenorm", indices=torch.zeros(0, dtype=i64), **given)
cases.add("aclnnEmbeddingRenorm", indices=noise(2), refuse=(161002, "indices has the type float32"), **given)
cases.add("aclnnEmbeddingRenorm", refuse=(161002, "selfRef has the shape"), indices=torch.zeros(1, dtype=i64), **{**given, "selfRef": InOut(table[0], table[0])})
cases.write()
