"""Makes fused.txt: `python fused.py` in an environment with PyTorch. Expected values are float64, rounded once."""

import torch
import torch.nn.functional as nn

from cases import Cases, InOut, Null, Out

torch.manual_seed(20)
cases = Cases("fused")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i8, i32, i64, boolean = torch.int8, torch.int32, torch.int64, torch.bool
FLOATS = [f32, f16, bf16]


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def rms(x, gamma, epsilon, shift=0.0, beta=None):
    """The normalized values and the reciprocal root mean squares."""
    axes = tuple(range(x.dim() - gamma.dim(), x.dim()))
    rstd = 1 / (x.double().pow(2).mean(axes, keepdim=True) + epsilon).sqrt()
    y = x.double() * rstd * (gamma.double() + shift)
    return y if beta is None else y + beta.double(), rstd.float()


def rounded(values, least=-128, most=127, dtype=i8):
    return values.round().clamp(least, most).to(dtype)


def by_rows(values, most=127):
    """Quantised by the largest magnitude of each row."""
    scale = values.abs().amax(-1, keepdim=True) / most
    return rounded(values / scale, -most - 1, most), scale.squeeze(-1).float()


def safe(quotients):
    """Reports whether no number lies so near a half that rounding depends on the last bits."""
    return bool(((quotients - quotients.floor() - 0.5).abs() > 1e-3).all())


for dtype in FLOATS:
    for shape, count in [((3, 5), 1), ((2, 3, 4), 2), ((2, 2, 33), 1)]:
        x, gamma = noise(*shape, dtype=dtype), noise(*shape[len(shape) - count :], dtype=dtype)
        y, rstd = rms(x, gamma, 1e-5)
        cases.add("aclnnRmsNorm", x=x, gamma=gamma, epsilon=1e-5, yOut=Out(y.to(dtype)), rstdOut=Out(rstd))
        y, rstd = rms(x, gamma, 1e-6, 1.0)
        cases.add("aclnnGemmaRmsNorm", x=x, gamma=gamma, epsilon=1e-6, yOut=Out(y.to(dtype)), rstdOut=Out(rstd))
        other = noise(*shape, dtype=dtype)
        total = x.double() + other.double()
        y, rstd = rms(total, gamma, 1e-5)
        common = dict(gamma=gamma, epsilon=1e-5)
        cases.add("aclnnAddRmsNorm", x1=x, x2=other, yOut=Out(y.to(dtype)), rstdOut=Out(rstd), xOut=Out(total.to(dtype)), **common)
        cases.add(
            "aclnnInplaceAddRmsNorm", x1Ref=InOut(x, y.to(dtype)), x2Ref=InOut(other, total.to(dtype)), rstdOut=Out(rstd), **common
        )
        cases.add(
            "aclnnAddRmsNormCast", x1=x, x2=other, y1Out=Out(y.float()), y2Out=Out(y.to(dtype)), rstdOut=Out(rstd), xOut=Out(total.to(dtype)), **common
        )
        dy = noise(*shape, dtype=dtype)
        ex, eg = x.double().requires_grad_(), gamma.double().requires_grad_()
        axes = tuple(range(len(shape) - count, len(shape)))
        own = 1 / (ex.pow(2).mean(axes, keepdim=True) + 1e-5).sqrt()
        (ex * own * eg).backward(dy.double())
        cases.add(
            "aclnnRmsNormGrad", dy=dy, x=x, rstd=own.detach().float(), gamma=gamma, dxOut=Out(ex.grad.to(dtype)), dgammaOut=Out(eg.grad.float()),
            within=1e-5 if dtype == f32 else None,
        )
x, gamma = noise(3, 8), noise(8)
y, rstd = rms(x, gamma, 1e-5)
given = dict(x=x, gamma=gamma, epsilon=1e-5, yOut=Out(y.float()), rstdOut=Out(rstd))
cases.add("aclnnRmsNorm", **{**given, "rstdOut": Null})
cases.add("aclnnRmsNorm", **{**given, "x": x[:0], "yOut": Out(y[:0].float()), "rstdOut": Out(rstd[:0])})
for change, status, text in [
    ({"gamma": noise(7)}, 161002, "gamma has the shape [7]"), ({"x": x.int()}, 161002, "x has the type int32"),
    ({"yOut": Out(noise(3, 7), False)}, 161002, "yOut has the shape"), ({"rstdOut": Out(noise(2, 1), False)}, 161002, "rstdOut has the shape"),
    ({"gamma": Null}, 161001, "gamma"), ({"rstdOut": Out(noise(3, 1, dtype=f16), False)}, 161002, "rstdOut has the type"),
    ({"x": noise(3, 0), "gamma": noise(0), "yOut": Out(noise(3, 0), False)}, 161002, "gamma is empty"),
]:
    cases.add("aclnnRmsNorm", refuse=(status, text), **{**given, **change})

# Quantised behind the normalization.
for dtype in FLOATS:
    scale, offset = torch.tensor([0.0371], dtype=dtype), torch.tensor([3], dtype=dtype)
    while True:
        x, other, gamma, beta = noise(3, 16, dtype=dtype), noise(3, 16, dtype=dtype), noise(16, dtype=dtype), noise(16, dtype=dtype)
        scales, zeros, smooth = noise(16, dtype=dtype).abs() + 0.25, noise(16, dtype=dtype), noise(16, dtype=dtype).abs() + 0.5
        values = rms(x, gamma, 1e-6, beta=beta)[0] / scale.double() + offset.double()
        y = rms(x.double() + other.double(), gamma, 1e-6)[0]
        eights = y / (y.abs().amax(-1, keepdim=True) / 7)
        lines = [y, y * smooth.double(), rms(x, gamma, 1e-6, beta=beta)[0] * smooth.double()]
        lines = [line / (line.abs().amax(-1, keepdim=True) / 127) for line in lines]
        shifted = y + beta.double()
        for factor in [1 / scales.double(), (scales * 8).double()]:
            lines += [y * factor + zeros.double(), y * factor, shifted * factor + zeros.double(), shifted * factor]
        if all(safe(line) for line in lines + [values, eights]):
            break
    cases.add("aclnnRmsNormQuant", x=x, gamma=gamma, beta=beta, scale=scale, offset=offset, epsilon=1e-6, y=Out(rounded(values)))
    total = x.double() + other.double()
    y, rstd = rms(total, gamma, 1e-6)
    for divides in [True, False]:
        factor = 1 / scales.double() if divides else scales.double() * 8
        given = scales if divides else (scales * 8).to(dtype)
        one, two = y * factor + zeros.double(), y * factor
        common = dict(x1=x, x2=other, gamma=gamma, scales1=given, scales2Optional=given, zeroPoints1Optional=zeros, zeroPoints2Optional=Null)
        outs = dict(y1Out=Out(rounded(one)), y2Out=Out(rounded(two)), xOut=Out(total.to(dtype)))
        cases.add("aclnnAddRmsNormQuant", axis=-1, epsilon=1e-6, divMode=divides, **common, **outs)
        shifted = y + beta.double()
        one, two = shifted * factor + zeros.double(), shifted * factor
        outs = dict(y1Out=Out(rounded(one)), y2Out=Out(rounded(two)), xOut=Out(total.to(dtype)), rmsNormOut=Out(shifted.to(dtype)))
        cases.add("aclnnAddRmsNormQuantV2", betaOptional=beta, axis=-1, epsilon=1e-6, divMode=divides, **common, **outs)
    quantised, scale_out = by_rows(y * smooth.double())
    plain, plain_scale = by_rows(y)
    common = dict(x1=x, x2=other, gamma=gamma, epsilon=1e-6, xOut=Out(total.to(dtype)))
    cases.add(
        "aclnnAddRmsNormDynamicQuant", smoothScale1Optional=smooth, smoothScale2Optional=smooth, y1Out=Out(quantised), y2Out=Out(quantised),
        scale1Out=Out(scale_out), scale2Out=Out(scale_out), **common,
    )
    cases.add(
        "aclnnAddRmsNormDynamicQuantV2", smoothScale1Optional=Null, smoothScale2Optional=smooth, betaOptional=Null, outputMask=[True, True],
        y1Out=Out(plain), y2Out=Out(quantised), scale1Out=Out(plain_scale), scale2Out=Out(scale_out), **common,
    )
    eights = rounded(y / (y.abs().amax(-1, keepdim=True) / 7), -8, 7, i32)
    # Eight int4 in an int32, the first in the lowest bits.
    packed = torch.zeros(3, 2, dtype=i64)
    for slot in range(8):
        packed |= (eights[:, slot::8].long() & 15) << (4 * slot)
    packed = torch.where(packed >= 2**31, packed - 2**32, packed).to(i32)
    cases.add(
        "aclnnAddRmsNormDynamicQuantV2", smoothScale1Optional=Null, smoothScale2Optional=Null, betaOptional=Null, outputMask=Null,
        y1Out=Out(packed), y2Out=Out(torch.zeros(1, dtype=i32), False), scale1Out=Out((y.abs().amax(-1) / 7).float()),
        scale2Out=Out(torch.zeros(1), False), dense=True, **common,
    )
    y, _ = rms(x, gamma, 1e-6, beta=beta)
    quantised, scale_out = by_rows(y * smooth.double())
    cases.add(
        "aclnnRmsNormDynamicQuant", x=x, gamma=gamma, smoothScalesOptional=smooth, betaOptional=beta, epsilon=1e-6, dstType=2,
        yOut=Out(quantised), scaleOut=Out(scale_out),
    )
x, gamma = noise(2, 8), noise(8)
given = dict(
    x1=x, x2=x, gamma=gamma, smoothScale1Optional=Null, smoothScale2Optional=Null, betaOptional=Null, epsilon=1e-6, outputMask=[True, False],
    y1Out=Out(x.to(i8), False), y2Out=Out(x.to(i8), False), xOut=Out(x, False), scale1Out=Out(x[:, 0], False), scale2Out=Out(x[:, 0], False),
)
for change, status, text in [
    ({"outputMask": [False, False]}, 161002, "outputMask is [false, false]"), ({"outputMask": [True]}, 161002, "outputMask has 1 entries"),
    ({"smoothScale2Optional": gamma}, 161002, "smoothScale"), ({"y1Out": Out(x, False)}, 161002, "y1Out has the type"),
    ({"smoothScale1Optional": noise(3)}, 161002, "smoothScale1Optional has the shape"), ({"x2": noise(2, 7)}, 161002, "x2 has the shape"),
]:
    cases.add("aclnnAddRmsNormDynamicQuantV2", refuse=(status, text), **{**given, **change})

# Layer and group normalization.
for dtype in FLOATS:
    for shape, count, bias_shape in [((3, 6), 1, (6,)), ((2, 3, 4), 2, (2, 3, 4)), ((2, 5), 1, None)]:
        axes = tuple(range(len(shape) - count, len(shape)))
        tail = shape[len(shape) - count :]
        x, other, gamma, beta = noise(*shape, dtype=dtype), noise(*shape, dtype=dtype), noise(*tail, dtype=dtype), noise(*tail, dtype=dtype)
        bias = None if bias_shape is None else noise(*bias_shape, dtype=dtype)
        total = x.double() + other.double() + (0 if bias is None else bias.double())
        mean, var = total.mean(axes, keepdim=True), total.var(axes, keepdim=True, unbiased=False)
        y = (total - mean) / (var + 1e-5).sqrt() * gamma.double() + beta.double()
        numbers = dict(meanOut=Out(mean.float()), rstdOut=Out((1 / (var + 1e-5).sqrt()).float()))
        within = 2e-5 if dtype == f32 else None
        cases.add(
            "aclnnAddLayerNorm", x1=x, x2=other, gamma=gamma, beta=beta, biasOptional=Null if bias is None else bias, epsilon=1e-5,
            additionalOutput=True, yOut=Out(y.to(dtype)), xOut=Out(total.to(dtype)), within=within, **numbers,
        )
        total = 0.5 * x.double() + other.double()
        mean, var = total.mean(axes, keepdim=True), total.var(axes, keepdim=True, unbiased=False)
        y = (total - mean) / (var + 1e-5).sqrt() * gamma.double() + beta.double()
        numbers = dict(meanOut=Out(mean.float()), rstdOut=Out((1 / (var + 1e-5).sqrt()).float()))
        cases.add(
            "aclnnDeepNorm", x=x, gx=other, beta=beta, gamma=gamma, alpha=0.5, epsilon=1e-5, yOut=Out(y.to(dtype)), within=within, **numbers
        )
        total = x.double()
        mean, var = total.mean(axes, keepdim=True), total.var(axes, keepdim=True, unbiased=False)
        y = nn.layer_norm(total, tail, gamma.double(), beta.double(), 1e-5)
        numbers = dict(meanOutOptional=Out(mean.to(dtype)), rstdOutOptional=Out((1 / (var + 1e-5).sqrt()).to(dtype)))
        cases.add(
            "aclnnFastLayerNorm", input=x, normalizedShape=list(tail), weightOptional=gamma, biasOptional=beta, eps=1e-5, out=Out(y.to(dtype)),
            within=within, **numbers,
        )
    for shape, groups in [((2, 6, 3), 3), ((1, 4, 2, 2), 1), ((2, 4), 2)]:
        x, gamma, beta = noise(*shape, dtype=dtype), noise(shape[1], dtype=dtype), noise(shape[1], dtype=dtype)
        rows = x.double().reshape(shape[0], groups, -1)
        mean, var = rows.mean(-1), rows.var(-1, unbiased=False)
        y = nn.group_norm(x.double(), groups, gamma.double(), beta.double(), 1e-5)
        numbers = dict(meanOut=Out(mean.to(dtype)), rstdOut=Out((1 / (var + 1e-5).sqrt()).to(dtype)))
        common = dict(gamma=gamma, beta=beta, eps=1e-5, within=2e-5 if dtype == f32 else None, **numbers)
        cases.add("aclnnGroupNormSilu", self=x, group=groups, out=Out(nn.silu(y).to(dtype)), **common)
        cases.add("aclnnGroupNormSiluV2", self=x, group=groups, activateSilu=False, out=Out(y.to(dtype)), **common)
        cases.add(
            "aclnnGroupNormSwish", x=x, numGroups=groups, dataFormatOptional="NCHW", activateSwish=True, swishScale=1.5,
            yOut=Out((y * torch.sigmoid(1.5 * y)).to(dtype)), **common,
        )
x = noise(2, 4, 3)
given = dict(self=x, gamma=noise(4), beta=noise(4), group=2, eps=1e-5, out=Out(x, False), meanOut=Out(noise(2, 2), False), rstdOut=Out(noise(2, 2), False))
for change, status, text in [
    ({"group": 3}, 161002, "groups"), ({"group": 0}, 161002, "groups"), ({"gamma": noise(3)}, 161002, "gamma has the shape"),
    ({"meanOut": Out(noise(2, 3), False)}, 161002, "meanOut has the shape"), ({"self": noise(4), "out": Out(noise(4), False)}, 161002, "two dimensions"),
]:
    cases.add("aclnnGroupNormSilu", refuse=(status, text), **{**given, **change})


# Rotations by position.
def rotated(x, mode):
    half, quarter = x.shape[-1] // 2, x.shape[-1] // 4
    if mode == 0:
        return torch.cat((-x[..., half:], x[..., :half]), -1)
    if mode == 1:
        return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return torch.cat((-x[..., quarter:half], x[..., :quarter], -x[..., half + quarter :], x[..., half : half + quarter]), -1)


def embedded(x, cos, sin, mode):
    if mode == 3:
        one, two = x[..., ::2], x[..., 1::2]
        return torch.cat((one, two), -1) * cos + torch.cat((-two, one), -1) * sin
    return x * cos + rotated(x, mode) * sin


for dtype in FLOATS:
    for mode in range(4):
        for shape, angles in [((2, 3, 2, 8), (1, 3, 1, 8)), ((3, 2, 4), (3, 1, 4))]:
            x, cos, sin = noise(*shape, dtype=dtype), noise(*angles, dtype=dtype), noise(*angles, dtype=dtype)
            y = embedded(x.double(), cos.double(), sin.double(), mode)
            cases.add("aclnnRotaryPositionEmbedding", x=x, cos=cos, sin=sin, mode=mode, out=Out(y.to(dtype)))
            dy = noise(*shape, dtype=dtype)
            ex, ec, es = (view.double().requires_grad_() for view in (x, cos, sin))
            embedded(ex, ec, es, mode).backward(dy.double())
            outs = dict(dxOut=Out(ex.grad.to(dtype)), dcosOut=Out(ec.grad.to(dtype)), dsinOut=Out(es.grad.to(dtype)))
            cases.add("aclnnRotaryPositionEmbeddingGrad", dy=dy, cos=cos, sin=sin, xOptional=x, mode=mode, within={f32: 1e-5}.get(dtype), **outs)
    q, k = noise(2, 3, 2, 8, dtype=dtype), noise(2, 3, 1, 8, dtype=dtype)
    cos, sin = noise(2, 3, 1, 8, dtype=dtype), noise(2, 3, 1, 8, dtype=dtype)
    after = lambda x, mode: embedded(x.double(), cos.double(), sin.double(), mode).to(dtype)
    cases.add("aclnnApplyRotaryPosEmb", queryRef=InOut(q, after(q, 0)), keyRef=InOut(k, after(k, 0)), cos=cos, sin=sin, layout=1)
    for layout, name, mode in [(1, "interleave", 1), (2, "quarter", 2), (3, "half", 0)]:
        key = k if layout < 3 else q
        given = dict(queryRef=InOut(q, after(q, mode)), keyRef=InOut(key, after(key, mode)), cos=cos, sin=sin)
        cases.add("aclnnApplyRotaryPosEmbV2", layout=layout, rotaryMode=name, **given)
    x, cos, sin = noise(2, 3, 2, 8, dtype=dtype), noise(2, 1, 2, 8, dtype=dtype), noise(2, 1, 1, 8, dtype=dtype).expand(2, 1, 2, 8).clone()
    cases.add("aclnnInterleaveRope", x=x, cos=cos, sin=sin, out=Out(embedded(x.double(), cos.double(), sin.double(), 3).to(dtype)))

    def cached(x, angles, head, neox):
        half = angles.shape[-1] // 2
        cos, sin = angles[:, None, :half].double(), angles[:, None, half:].double()
        heads = x.double().reshape(x.shape[0], -1, head)
        turned, rest = heads[..., : 2 * half], heads[..., 2 * half :]
        one, two = (turned[..., :half], turned[..., half:]) if neox else (turned[..., ::2], turned[..., 1::2])
        parts = (one * cos - two * sin, two * cos + one * sin)
        turned = torch.cat(parts, -1) if neox else torch.stack(parts, -1).flatten(-2)
        return torch.cat((turned, rest), -1).reshape(x.shape).to(x.dtype)

    cache = noise(7, 4, dtype=dtype)
    q, k, positions = noise(3, 12, dtype=dtype), noise(3, 6, dtype=dtype), torch.tensor([6, 0, 2])
    for neox in [True, False]:
        angles = cache[positions]
        cases.add(
            "aclnnRopeWithSinCosCache", positions=positions, queryIn=q, keyIn=k, cosSinCache=cache, mropeSection=Null, headSize=6,
            isNeoxStyle=neox, queryOut=Out(cached(q, angles, 6, neox)), keyOut=Out(cached(k, angles, 6, neox)),
        )
    cache, positions, sections = noise(9, 8, dtype=dtype), torch.tensor([[0, 8, 3], [1, 1, 7], [2, 5, 5]]), [1, 2, 1]
    angles = torch.empty(3, 8, dtype=dtype)
    for side in [0, 4]:
        start = side
        for section, size in enumerate(sections):
            angles[:, start : start + size] = cache[positions[section]][:, start : start + size]
            start += size
    q, k = noise(3, 16, dtype=dtype), noise(3, 8, dtype=dtype)
    cases.add(
        "aclnnRopeWithSinCosCache", positions=positions, queryIn=q, keyIn=k, cosSinCache=cache, mropeSection=sections, headSize=8,
        isNeoxStyle=True, queryOut=Out(cached(q, angles, 8, True)), keyOut=Out(cached(k, angles, 8, True)),
    )
x, cos = noise(1, 2, 2, 4), noise(1, 2, 1, 4)
given = dict(x=x, cos=cos, sin=cos, mode=0, out=Out(x, False))
for change, status, text in [
    ({"mode": 4}, 161002, "mode is 4"), ({"cos": noise(1, 2, 1, 2)}, 161002, "cos has the shape"), ({"sin": noise(1, 1, 1, 4)}, 161002, "sin has the shape"),
    ({"x": noise(1, 2, 2, 6), "cos": noise(1, 2, 1, 6), "sin": noise(1, 2, 1, 6), "mode": 2, "out": Out(noise(1, 2, 2, 6), False)}, 161002, "multiple of 4"),
    ({"out": Out(noise(1, 2, 2, 2), False)}, 161002, "out has the shape"), ({"x": x.int()}, 161002, "x has the type"),
    ({"cos": noise(1, 3, 1, 4), "sin": noise(1, 3, 1, 4)}, 161002, "does not fit"),
]:
    cases.add("aclnnRotaryPositionEmbedding", refuse=(status, text), **{**given, **change})
given = dict(queryRef=x, keyRef=x, cos=cos, sin=cos, layout=1, rotaryMode="half")
for change, status, text in [
    ({"layout": 0}, 161002, "layout is 0"), ({"rotaryMode": "third"}, 161002, "rotaryMode"), ({"queryRef": noise(2, 4)}, 161002, "queryRef has the shape"),
]:
    cases.add("aclnnApplyRotaryPosEmbV2", refuse=(status, text), **{**given, **change})

# Softmax of masked scores, and gated units.
for dtype in FLOATS:
    for mask_shape in [(2, 1, 3, 5), (1, 2, 3, 5), (2, 2, 3, 5)]:
        x, mask = noise(2, 2, 3, 5, dtype=dtype), torch.rand(mask_shape) > 0.6
        scores = (x.double() * 0.375).masked_fill(mask, -10000.0)
        y = scores.softmax(-1)
        cases.add("aclnnScaledMaskedSoftmax", x=x, mask=mask, scale=0.375, fixedTriuMask=False, y=Out(y.to(dtype)))
        dy, saved = noise(2, 2, 3, 5, dtype=dtype), y.to(dtype)
        exact = saved.double()
        gradient = (dy.double() * exact - (dy.double() * exact).sum(-1, keepdim=True) * exact) * 0.375
        gradient = gradient.masked_fill(mask, 0.0)
        cases.add(
            "aclnnScaledMaskedSoftmaxBackward", gradOutput=dy, y=saved, mask=mask, scale=0.375, fixTriuMask=False, out=Out(gradient.to(dtype))
        )
    x = noise(3, 8, dtype=dtype)
    for approximate in ["none", "tanh"]:
        y = nn.gelu(x[:, :4].double(), approximate=approximate) * x[:, 4:].double()
        cases.add("aclnnGeluMul", input=x, approximateOptional=approximate, out=Out(y.to(dtype)))
    for shape, dim, interleaved, groups in [((4, 6), -1, True, None), ((4, 6), 1, False, [1, 2]), ((2, 4, 3), 1, True, None), ((2, 4, 3), -2, False, None)]:
        x = noise(*shape, dtype=dtype, scale=3)
        axis = dim % len(shape)
        rows = x.double().reshape(torch.Size(shape[:axis]).numel(), -1)
        one, two = (rows[:, ::2], rows[:, 1::2]) if interleaved else rows.chunk(2, -1)
        one, two = one.clamp(max=2.5), two.clamp(-2.5, 2.5)
        y = one * torch.sigmoid(1.702 * one) * (two + 1.0)
        if groups is not None:
            y[sum(groups) :] = 0
        half = list(shape)
        half[axis] //= 2
        cases.add(
            "aclnnClippedSwiglu", x=x, groupIndexOptional=Null if groups is None else torch.tensor(groups), dim=dim, alpha=1.702, limit=2.5, bias=1.0,
            interleaved=interleaved, out=Out(y.reshape(half).to(dtype)), within={f32: 1e-5}.get(dtype),
        )
x, mask = noise(1, 1, 2, 3), torch.zeros(1, 1, 2, 3, dtype=boolean)
given = dict(x=x, mask=mask, scale=1.0, fixedTriuMask=False, y=Out(x, False))
for change, status, text in [
    ({"fixedTriuMask": True}, 561003, "fixedTriuMask"), ({"mask": mask.int()}, 161002, "mask has the type"),
    ({"mask": mask[..., :2]}, 161002, "mask has the shape"), ({"x": x[0], "y": Out(x[0], False)}, 161002, "3 dimensions"),
]:
    cases.add("aclnnScaledMaskedSoftmax", refuse=(status, text), **{**given, **change})
cases.add("aclnnClippedSwiglu", x=noise(2, 3), groupIndexOptional=Null, dim=-1, alpha=1.0, limit=1.0, bias=0.0, interleaved=True, out=Out(noise(2, 1), False), refuse=(161002, "must be even"))
cases.add("aclnnGeluMul", input=noise(2, 4), approximateOptional="sine", out=Out(noise(2, 2), False), refuse=(161002, "approximateOptional"))
cases.write()
