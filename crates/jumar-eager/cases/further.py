"""Makes further.txt: `python further.py` in an environment with PyTorch. Expected values are float64, rounded once."""

import math

import torch
import torch.nn.functional as functional

from cases import Cases, InOut, Null, Out, Scalar

torch.manual_seed(50)
cases = Cases("further")
f64, f32, f16, bf16 = torch.float64, torch.float32, torch.float16, torch.bfloat16
i64, i32, u8, boolean = torch.int64, torch.int32, torch.uint8, torch.bool
c64, c128 = torch.complex64, torch.complex128
FLOATS = [f32, f16, bf16]
inf, nan = math.inf, math.nan


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def leaves(*tensors):
    return [x.double().detach().requires_grad_() for x in tensors]


def refused(name, given, *changes):
    for change, status, text in changes:
        cases.add(name, refuse=(status, text), **{**given, **change})


# Gradients of layer normalization with an addition.
for dtype in FLOATS:
    for shape, normal in [((3, 5), (5,)), ((2, 2, 3, 4), (3, 4)), ((0, 4), (4,))]:
        x1, x2, dy, gamma = noise(*shape, dtype=dtype), noise(*shape, dtype=dtype), noise(*shape, dtype=dtype), noise(*normal, dtype=dtype)
        more = noise(*shape, dtype=dtype) if len(shape) == 2 else None
        axes = tuple(range(len(shape) - len(normal), len(shape)))
        for name, alpha in [("aclnnAddLayerNormGrad", 1.0), ("aclnnDeepNormGrad", 0.75)]:
            a, b, g = leaves(x1, x2, gamma)
            s = alpha * a + b
            mean = s.mean(axes, keepdim=True)
            rstd = 1 / (s.var(axes, keepdim=True, unbiased=False) + 1e-3).sqrt()
            beta = torch.zeros(normal, dtype=f64, requires_grad=True)
            y = (s - mean) * rstd * g + beta
            loss = (y * dy.double()).sum()
            da, db, dg, dbeta = torch.autograd.grad(loss, [a, b, g, beta])
            figures = dict(mean=mean.detach().float(), rstd=rstd.detach().float())
            within = {f32: 1e-5, f16: 3e-3, bf16: 2e-2}[dtype]
            if alpha == 1.0:
                dx = db + (0 if more is None else more.double())
                cases.add(
                    name, dy=dy, x1=x1, x2=x2, gamma=gamma, dsumOptional=Null if more is None else more, dxOut=Out(dx.to(dtype)),
                    dgammaOut=Out(dg.float()), dbetaOut=Out(dbeta.float()), within=within, **figures,
                )
            else:
                cases.add(
                    name, dy=dy, x=x1, gx=x2, gamma=gamma, alpha=alpha, dxOut=Out(da.to(dtype)), dgxOut=Out(db.to(dtype)),
                    dbetaOut=Out(dbeta.float()), dgammaOut=Out(dg.float()), within=within, **figures,
                )
x, row = noise(2, 3), noise(3)
figure = noise(2, 1)
given = dict(dy=x, x1=x, x2=x, rstd=figure, mean=figure, gamma=row, dsumOptional=Null, dxOut=Out(x, False), dgammaOut=Out(row, False), dbetaOut=Out(row, False))
refused(
    "aclnnAddLayerNormGrad", given, ({"gamma": noise(2)}, 161002, "gamma has the shape"), ({"dy": noise(3, 3)}, 161002, "dy has the shape"),
    ({"mean": noise(3, 1)}, 161002, "mean has the shape"), ({"dgammaOut": Out(noise(2), False)}, 161002, "dgammaOut has the shape"),
    ({"x1": Null}, 161001, "x1"),
)

# Inverses and determinants.
for dtype in [f32, f64, f16, c64, c128]:
    for shape in [(1, 1), (3, 3), (2, 4, 4), (0, 0), (2, 0, 0)]:
        x = noise(*shape, dtype=f32).to(dtype) + 2 * torch.eye(shape[-1]).to(dtype)
        if dtype in (c64, c128):
            x = x + 1j * noise(*shape).to(dtype)
        wide = x.to(c128 if dtype in (c64, c128) else f64)
        if dtype not in (c64, c128) or shape[-1]:
            cases.add("aclnnInverse", self=x, out=Out(torch.linalg.inv(wide).to(dtype)), within={f16: 2e-3, f64: 1e-10, c128: 1e-10}.get(dtype, 1e-4))
        if dtype != f16:
            sign, log = torch.linalg.slogdet(wide)
            cases.add("aclnnSlogdet", self=x, signOut=Out(sign.to(dtype)), logOut=Out(log.to(dtype)), within={f64: 1e-11, c128: 1e-11}.get(dtype, 1e-5))
cases.add("aclnnSlogdet", self=torch.tensor([[1.0, 2.0], [2.0, 4.0]]), signOut=Out(torch.tensor(0.0)), logOut=Out(torch.tensor(-inf)))
cases.add("aclnnSlogdet", self=torch.tensor([[0.0, 2.0], [4.0, 0.0]]), signOut=Out(torch.tensor(-1.0)), logOut=Out(torch.tensor(8.0).log()))
refused(
    "aclnnInverse", dict(self=noise(2, 2), out=Out(noise(2, 2), False)), ({"self": noise(2, 3)}, 161002, "square"), ({"self": noise(2)}, 161002, "2 dimensions"),
    ({"out": Out(noise(2), False)}, 161002, "out has the shape"), ({"self": noise(2, 2).to(i32)}, 161002, "self has the type"),
)

# Filling by a list of indices, and adding with a mode.
for dtype in [f32, f16, i64, i32, boolean]:
    x = (noise(3, 4, 2) * 10).to(dtype)
    for dim, index in [(0, [1]), (1, [0, 1, -1]), (-1, [1, 1]), (1, []), (2, [-2])]:
        y = x.clone().index_fill(dim, torch.tensor(index, dtype=i64), 1)
        value = Scalar(1.0 if dtype.is_floating_point else 1, f32 if dtype.is_floating_point else i64)
        cases.add("aclnnIndexFillTensor", self=x, dim=dim, index=index, value=value, out=Out(y))
        cases.add("aclnnInplaceIndexFillTensor", selfRef=InOut(x, y), dim=dim, index=index, value=value)
cases.add("aclnnIndexFillTensor", self=torch.tensor(2.0), dim=0, index=[0], value=Scalar(3.0), out=Out(torch.tensor(3.0)))
given = dict(self=noise(2, 3), dim=1, index=[0], value=Scalar(1.0), out=Out(noise(2, 3), False))
refused(
    "aclnnIndexFillTensor", given, ({"index": [3]}, 161002, "index holds 3"), ({"index": [-4]}, 161002, "index holds -4"), ({"dim": 2}, 161002, "dim is 2"),
    ({"out": Out(noise(3, 2), False)}, 161002, "out has the shape"),
)
x, source = noise(3, 4), noise(2, 4)
y = x.double().index_add(0, torch.tensor([2, 0]), source.double(), alpha=2.0)
for mode in (0, 1):
    cases.add("aclnnIndexAddV2", self=x, dim=0, index=torch.tensor([2, 0]), source=source, alpha=Scalar(2.0), mode=mode, out=Out(y.float()))
cases.add(
    "aclnnIndexAddV2", self=x, dim=0, index=torch.tensor([2, 0]), source=source, alpha=Scalar(2.0), mode=2, out=Out(x, False), refuse=(161002, "mode is 2"),
)

# Intervals between boundaries.
boundaries = torch.tensor([-1.0, 0.0, 0.5, 0.5, 2.0])
values = torch.tensor([[-2.0, -1.0, 0.25, 0.5], [2.0, 3.0, nan, inf]])
for right in (False, True):
    for out32 in (False, True):
        y = torch.bucketize(values, boundaries, right=right, out_int32=out32)
        cases.add("aclnnBucketize", self=values, boundaries=boundaries, outInt32=out32, right=right, out=Out(y))
    for value in (0.5, -3.0, 2.0):
        y = torch.searchsorted(boundaries, value, right=right)
        cases.add("aclnnSearchSorteds", sortedSequence=boundaries, self=Scalar(value), outInt32=False, right=right, sorter=Null, out=Out(y))
order = torch.tensor([3, 1, 0, 2])
y = torch.searchsorted(torch.tensor([4, 2, 9, 1]), 3, sorter=order)
cases.add("aclnnSearchSorteds", sortedSequence=torch.tensor([4, 2, 9, 1]), self=Scalar(3, i64), outInt32=False, right=False, sorter=order, out=Out(y))
refused(
    "aclnnBucketize", dict(self=values, boundaries=boundaries, outInt32=False, right=False, out=Out(y.expand(2, 4).contiguous(), False)),
    ({"boundaries": noise(2, 2)}, 161002, "boundaries has the shape"), ({"outInt32": True}, 161002, "out has the type"),
    ({"out": Out(y.expand(4, 2).contiguous(), False)}, 161002, "out has the shape"),
)


# Filters of logits.
def filtered(logits, p, k):
    order, index = logits.double().sort(dim=-1, stable=True)
    if k is not None:
        least = order.gather(1, (order.shape[1] - k.long()).unsqueeze(1))
        order = order.masked_fill(order < least, -inf)
    if p is not None:
        cut = order.softmax(-1).cumsum(-1) <= 1 - p.double().unsqueeze(1)
        cut[:, -1] = False
        order = order.masked_fill(cut, -inf)
    return torch.empty_like(order).scatter_(1, index, order)


for dtype in FLOATS:
    logits = noise(4, 17, dtype=dtype, scale=2)
    p, k = torch.tensor([0.9, 0.5, 1.0, 0.01]).to(dtype), torch.tensor([3, 17, 8, 1], dtype=i32)
    for one, two in [(p, k), (p, None), (None, k)]:
        y = filtered(logits, one, two).to(dtype)
        cases.add("aclnnApplyTopKTopP", logits=logits, p=Null if one is None else one, k=Null if two is None else two, out=Out(y))
refused(
    "aclnnApplyTopKTopP", dict(logits=logits, p=p, k=k, out=Out(logits, False)), ({"p": Null, "k": Null}, 161001, "p"), ({"k": k[:2]}, 161002, "k has the shape"),
    ({"logits": logits[0]}, 161002, ""), ({"p": k}, 161002, "p has the type"),
)

# Batch normalization in parts.
for dtype in FLOATS:
    for shape in [(3, 2), (2, 3, 2, 2)]:
        x, dy = noise(*shape, dtype=dtype), noise(*shape, dtype=dtype)
        wide, gradient = x.double(), dy.double()
        axes = [axis for axis in range(len(shape)) if axis != 1]
        view = [-1 if axis == 1 else 1 for axis in range(len(shape))]
        mean, eps = wide.mean(axes), 1e-3
        invstd = 1 / (wide.var(axes, unbiased=False) + eps).sqrt()
        within = {f32: 1e-5, f16: 4e-3, bf16: 3e-2}[dtype]
        cases.add("aclnnBatchNormStats", input=x, eps=eps, mean=Out(mean.float()), invstd=Out(invstd.float()), within=within)
        cases.add("aclnnBatchNormReduce", x=x, sum=Out(wide.sum(axes).float()), squareSum=Out((wide**2).sum(axes).float()), within=within)
        sum_dy = gradient.sum(axes)
        mean, invstd = mean.float(), invstd.float()
        centred = wide - mean.double().view(view)
        along = (gradient * centred).sum(axes)
        weight = noise(shape[1], dtype=dtype)
        cases.add(
            "aclnnBatchNormReduceBackward", gradOut=dy, input=x, mean=mean, invstd=invstd, weight=weight, inputG=True, weightG=True, biasG=True,
            sumDy=Out(sum_dy.float()), sumDyXmu=Out(along.float()), gradWeight=Out((along * invstd.double()).to(dtype)), gradBias=Out(sum_dy.to(dtype)),
            within=within,
        )
        sum_dy, along = sum_dy.float(), along.float()
        counter = torch.tensor([wide.numel() // shape[1] - 1, 1], dtype=i32)
        count = counter.sum().double()
        inv = invstd.double().view(view)
        for factor in (weight, None):
            slope = inv * (1 if factor is None else factor.double().view(view))
            dx = (gradient - sum_dy.double().view(view) / count - centred * inv**2 * along.double().view(view) / count) * slope
            cases.add(
                "aclnnBatchNormElemtBackward", gradOut=dy, input=x, mean=mean, invstd=invstd, weight=Null if factor is None else factor, sumDy=sum_dy,
                sumDyXmu=along, counter=counter, gradInput=Out(dx.to(dtype)), within=within,
            )
parts = [noise(count, 3, 2).double() for count in (2, 5)]
together = torch.cat(parts)
means = torch.stack([part.mean((0, 2)) for part in parts]).float()
rstds = torch.stack([1 / (part.var((0, 2), unbiased=False) + 1e-3).sqrt() for part in parts]).float()
counts = torch.tensor([4.0, 10.0])
running_mean, running_var = noise(3), noise(3).abs()
after_mean = running_mean.double() * 0.75 + 0.25 * together.mean((0, 2))
after_var = running_var.double() * 0.75 + 0.25 * together.var((0, 2))
all_mean, all_rstd = together.mean((0, 2)).float(), (1 / (together.var((0, 2), unbiased=False) + 1e-3).sqrt()).float()
given = dict(input=noise(2, 3, 2), mean=means, invstd=rstds, momentum=0.25, eps=1e-3, counts=counts, meanAll=Out(all_mean), invstdAll=Out(all_rstd), within=1e-5)
cases.add(
    "aclnnBatchNormGatherStatsWithCounts", runningMean=InOut(running_mean, after_mean.float()), runningVar=InOut(running_var, after_var.float()), **given,
)
cases.add("aclnnBatchNormGatherStatsWithCounts", runningMean=Null, runningVar=Null, **given)
refused(
    "aclnnBatchNormGatherStatsWithCounts", dict(given, runningMean=Null, runningVar=Null), ({"counts": noise(3)}, 161002, "counts has the shape"),
    ({"mean": noise(3)}, 161002, "mean has the shape"), ({"meanAll": Out(noise(2), False)}, 161002, "meanAll has the shape"),
)
refused("aclnnBatchNormStats", dict(input=noise(3), eps=1e-3, mean=Out(noise(3), False), invstd=Out(noise(3), False)), ({}, 161002, "input has the shape"))

# The gradient of group normalization with an activation.
for dtype in FLOATS:
    for shape, groups in [((2, 4, 3), 2), ((1, 6, 2, 2), 3)]:
        x, dy = noise(*shape, dtype=dtype), noise(*shape, dtype=dtype)
        gamma, beta = noise(shape[1], dtype=dtype), noise(shape[1], dtype=dtype)
        ex, eg, eb = leaves(x, gamma, beta)
        y = functional.group_norm(ex, groups, eg, eb, 1e-3)
        y = y * (1.5 * y).sigmoid()
        dx, dg, db = torch.autograd.grad(y, [ex, eg, eb], dy.double())
        flat = ex.detach().reshape(shape[0], groups, -1)
        mean, rstd = flat.mean(2), 1 / (flat.var(2, unbiased=False) + 1e-3).sqrt()
        cases.add(
            "aclnnGroupNormSwishGrad", dy=dy, mean=mean.float(), rstd=rstd.float(), x=x, gamma=gamma, beta=beta, numGroups=groups, dataFormatOptional="NCHW",
            swishScale=1.5, dgammaIsRequire=True, dbetaIsRequire=True, dxOut=Out(dx.to(dtype)), dgammaOut=Out(dg.to(dtype)), dbetaOut=Out(db.to(dtype)),
            within={f32: 2e-5, f16: 6e-3, bf16: 4e-2}[dtype],
        )

# Convolutions of each channel alone, and over time.
for dtype in [f32, f16]:
    x, weight, bias = noise(2, 3, 5, 6, dtype=dtype), noise(6, 1, 3, 2, dtype=dtype), noise(6, dtype=dtype)
    for given_bias in (bias, None):
        y = functional.conv2d(x.double(), weight.double(), None if given_bias is None else bias.double(), (2, 1), (1, 0), (1, 2), 3)
        cases.add(
            "aclnnConvDepthwise2d", self=x, weight=weight, kernelSize=[3, 2], bias=Null if given_bias is None else bias, stride=[2, 1], padding=[1, 0],
            dilation=[1, 2], out=Out(y.to(dtype)), cubeMathType=0, within={f32: 1e-5, f16: 6e-3}[dtype],
        )
    x, weight, bias = noise(5, 2, 3, dtype=dtype), noise(2, 3, 4, dtype=dtype), noise(4, dtype=dtype)
    for pad in (0, 1):
        ex, ew, eb = leaves(x, weight, bias)
        y = torch.conv_tbc(ex, ew, eb, pad)
        dy = noise(*y.shape, dtype=dtype)
        dx, dw, db = torch.autograd.grad(y, [ex, ew, eb], dy.double())
        within = {f32: 1e-5, f16: 1e-2}[dtype]
        cases.add("aclnnConvTbc", self=x, weight=weight, bias=bias, pad=pad, output=Out(y.detach().to(dtype)), cubeMathType=0, within=within)
        cases.add(
            "aclnnConvTbcBackward", self=dy, input=x, weight=weight, bias=bias, pad=pad, cubeMathType=0, gradInput=Out(dx.to(dtype)),
            gradWeight=Out(dw.to(dtype)), gradBias=Out(db.to(dtype)), within=within,
        )
given = dict(self=noise(1, 2, 3, 3), weight=noise(2, 1, 2, 2), kernelSize=[2, 2], bias=Null, stride=[1], padding=[0], dilation=[1], cubeMathType=0, out=Out(noise(1, 2, 2, 2), False))
refused(
    "aclnnConvDepthwise2d", given, ({"weight": noise(2, 2, 2, 2)}, 161002, "weight has the shape"), ({"kernelSize": [3, 2]}, 161002, "weight has the shape"),
    ({"stride": [0]}, 161002, "stride"), ({"out": Out(noise(1, 2, 3, 2), False)}, 161002, ""),
)
given = dict(self=noise(3, 1, 2), weight=noise(2, 2, 3), bias=noise(3), pad=0, cubeMathType=0, output=Out(noise(2, 1, 3), False))
refused("aclnnConvTbc", given, ({"pad": -1}, 161002, "pad is -1"), ({"weight": noise(5, 2, 3)}, 161002, "weight"), ({"bias": noise(2)}, 161002, "bias has the shape"))

# Products with a function.
for dtype in FLOATS:
    x1, x2, bias, x3 = noise(3, 4, dtype=dtype), noise(4, 5, dtype=dtype), noise(5, dtype=dtype), noise(3, 5, dtype=dtype)
    product = x1.double() @ x2.double()
    for kind, y, given_bias, other in [
        ("", product, None, None), ("16cast32", product + bias.double(), bias, None), ("add", product + bias.double() + x3.double(), bias, x3),
        ("mul", product * x3.double(), None, x3), ("relu", (product + bias.double()).relu(), bias, None),
        ("gelu_erf", functional.gelu(product), None, None), ("gelu_tanh", functional.gelu(product, approximate="tanh"), None, None),
    ]:
        cases.add(
            "aclnnFusedMatmul", x1=x1, x2=x2, bias=Null if given_bias is None else bias, x3=Null if other is None else x3, fusedOpType=kind, cubeMathType=0,
            y=Out(y.to(f32 if kind == "16cast32" else dtype)), within=1e-5 if kind == "16cast32" else None,
        )
given = dict(x1=x1, x2=x2, bias=Null, x3=Null, fusedOpType="add", cubeMathType=0, y=Out(x3, False))
refused("aclnnFusedMatmul", given, ({}, 161001, "x3"), ({"fusedOpType": "sub"}, 161002, "fusedOpType"), ({"x3": noise(3, 4, dtype=bf16)}, 161002, "x3 has the shape"))
for name, one, two, sum_of in [("aclnnInplaceBaddbmm", (2, 3, 4), (2, 4, 5), False), ("aclnnInplaceAddbmm", (2, 3, 4), (2, 4, 5), True)]:
    a, b = noise(*one), noise(*two)
    x = noise(3, 5) if sum_of else noise(2, 3, 5)
    y = torch.addbmm(x.double(), a.double(), b.double(), beta=0.5, alpha=2) if sum_of else torch.baddbmm(x.double(), a.double(), b.double(), beta=0.5, alpha=2)
    cases.add(name, selfRef=InOut(x, y.float()), batch1=a, batch2=b, beta=Scalar(0.5), alpha=Scalar(2.0), cubeMathType=0)

# Steps of stochastic gradient descent.
for momentum, dampening, nesterov, maximize, first, decay, scaled in [
    (0.0, 0.0, False, False, False, 0.0, False), (0.0, 0.0, False, True, False, 0.25, True), (0.5, 0.25, False, False, False, 0.125, True),
    (0.5, 0.0, True, False, False, 0.0, False), (0.5, 0.25, False, True, True, 0.125, False), (0.5, 0.0, True, False, True, 0.25, True),
]:
    shapes = [(3, 2), (4,), ()]
    values, grads, buffers = ([noise(*shape) for shape in shapes] for _ in range(3))
    if first:
        buffers = [torch.full_like(buffer, nan) for buffer in buffers]
    scale = torch.tensor([2.0]) if scaled else None
    after = [[], [], []]
    for value, gradient, buffer in zip(values, grads, buffers):
        unscaled = gradient.double() / (2.0 if scaled else 1.0)
        slope = (-unscaled if maximize else unscaled) + decay * value.double()
        if momentum:
            buffer = slope if first else momentum * buffer.double() + (1 - dampening) * slope
            step = slope + momentum * buffer if nesterov else buffer
        else:
            step = slope
        for to, x in zip(after, [value.double() - 0.125 * step, unscaled, buffer]):
            to.append(x.float())
    pairs = [[InOut(x, y) for x, y in zip(*each)] for each in zip([values, grads, buffers], after)]
    cases.add(
        "aclnnFusedSgd", paramsRef=pairs[0], gradsRef=pairs[1], momentumBufferListOptionalRef=pairs[2] if momentum else Null,
        gradScaleOptional=scale if scaled else Null, weightDecay=decay, momentum=momentum, lr=0.125, dampening=dampening, nesterov=nesterov, maximize=maximize,
        isFirstStep=first,
    )

# Cross entropy of classes.
for dtype in FLOATS:
    x, target, weight = noise(5, 4, dtype=dtype), torch.tensor([3, 0, -100, 2, 0]), noise(4).abs() + 0.25
    for kind, given_weight, smoothing in [("mean", None, 0.0), ("sum", weight, 0.0), ("none", weight, 0.25), ("mean", weight, 0.5)]:
        (ex,) = leaves(x)
        loss = functional.cross_entropy(
            ex, target, None if given_weight is None else weight.double(), reduction=kind, label_smoothing=smoothing,
        )
        gradient = noise(*loss.shape, dtype=dtype) if kind == "none" else noise(1, dtype=dtype)
        logs = ex.log_softmax(1).detach().to(dtype)
        shared = dict(target=target, weightOptional=Null if given_weight is None else weight, reductionOptional=kind, ignoreIndex=-100, labelSmoothing=smoothing, lseSquareScaleForZloss=0.0)
        cases.add(
            "aclnnCrossEntropyLoss", input=x, returnZloss=False, lossOut=Out(loss.detach().reshape(gradient.shape).to(dtype)), logProbOut=Out(logs), zlossOut=Null,
            lseForZlossOut=Null, within={f32: 1e-5, f16: 4e-3, bf16: 3e-2}[dtype], **shared,
        )
        # The gradient reads the rounded logarithms.
        (el,) = leaves(logs)
        probabilities = el.detach().exp()
        (dx,) = torch.autograd.grad(loss, ex, gradient.double().reshape(loss.shape))
        cases.add(
            "aclnnCrossEntropyLossGrad", gradLoss=gradient, logProb=logs, gradZlossOptional=Null, lseForZlossOptional=Null, out=Out(dx.to(dtype)),
            within={f32: 1e-5, f16: 4e-3, bf16: 3e-2}[dtype], **shared,
        )
given = dict(
    input=x, returnZloss=False, lossOut=Out(noise(1, dtype=bf16), False), logProbOut=Out(x, False), zlossOut=Null, lseForZlossOut=Null, target=target,
    weightOptional=Null, reductionOptional="mean", ignoreIndex=-100, labelSmoothing=0.0, lseSquareScaleForZloss=0.0,
)
refused(
    "aclnnCrossEntropyLoss", given, ({"reductionOptional": "most"}, 161002, "reductionOptional"), ({"labelSmoothing": 2.0}, 161002, "labelSmoothing"),
    ({"returnZloss": True}, 561003, "returnZloss"), ({"lseSquareScaleForZloss": 0.5}, 561003, "lseSquareScaleForZloss"),
    ({"target": target[:2]}, 161002, "target has the shape"), ({"weightOptional": noise(3)}, 161002, "weightOptional has the shape"),
)

# Before attention.
for dtype in FLOATS:
    qkv, bias = noise(2, 3, 12, dtype=dtype), noise(12, dtype=dtype)
    parts = (qkv.double() + bias.double()).reshape(2, 3, 3, 2, 2).permute(2, 0, 3, 1, 4)
    outs = dict(qOut=Out((parts[0] / math.sqrt(2)).to(dtype)), kOut=Out(parts[1].to(dtype)), vOut=Out(parts[2].to(dtype)))
    cases.add("aclnnTransformBiasRescaleQkv", qkv=qkv, qkvBias=bias, numHeads=2, **outs)
    scores, mask, bias = noise(2, 3, 2, 4, 5, dtype=dtype), noise(3, 4, 5, dtype=dtype), noise(2, 4, 5, dtype=dtype)
    y = (scores.double() * 0.5 + mask.double()[None, :, None] + bias.double()[None, None]).softmax(-1).to(dtype)
    given = dict(relativePosBias=bias, scaleValue=0.5, innerPrecisionMode=0)
    cases.add("aclnnMaskedSoftmaxWithRelPosBias", x=scores, attenMaskOptional=mask, out=Out(y), **given)
    cases.add("aclnnMaskedSoftmaxWithRelPosBias", x=scores.flatten(0, 1), attenMaskOptional=mask[:, None], out=Out(y.flatten(0, 1)), **given)
    y = (scores.double() * 0.5 + bias.double()[None, None]).softmax(-1).to(dtype)
    cases.add("aclnnMaskedSoftmaxWithRelPosBias", x=scores, attenMaskOptional=Null, out=Out(y), **given)
refused("aclnnTransformBiasRescaleQkv", dict(qkv=qkv, qkvBias=noise(12, dtype=bf16), numHeads=2, **outs), ({"numHeads": 3}, 161002, "numHeads"), ({"numHeads": 0}, 161002, "numHeads"))
refused("aclnnMaskedSoftmaxWithRelPosBias", dict(x=scores, attenMaskOptional=Null, out=Out(y), **given), ({"relativePosBias": noise(2, 4, 4, dtype=bf16)}, 161002, "relativePosBias has the shape"))

# Images and channels.
back, front, mask = noise(3, 2, 3).abs().half(), noise(3, 2, 3).abs().half(), (noise(3, 2).abs() / 2).half()
y = back.double() * (1 - mask.double()[..., None]) + front.double() * mask.double()[..., None]
cases.add("aclnnBackgroundReplace", bkg=back, src=front, mask=mask, out=Out(y.half()))
cases.add("aclnnBackgroundReplace", bkg=back, src=front, mask=mask[..., None], out=Out(y.half()))
rgb, frame, alpha = (torch.randint(0, 256, shape, dtype=u8) for shape in [(4, 3, 3), (4, 3, 3), (4, 3)])
share = alpha.double()[..., None] / 255
# Values whose fraction is far from an integer, so that rounding towards zero is certain.
y = rgb.double() * share + frame.double() * (1 - share)
keep = ((y - y.round()).abs() > 1e-3) | (y == y.round())
frame = torch.where(keep, frame, rgb)
y = rgb.double() * share + frame.double() * (1 - share)
y = torch.where(frame == rgb, rgb.double(), y)
cases.add("aclnnBlendImagesCustom", rgb=rgb, alpha=alpha, frame=frame, out=Out(y.floor().to(u8)))
solid = torch.where(torch.rand(4, 3) < 0.5, 255, 0).to(u8)
cases.add("aclnnMrgbaCustom", rgb=rgb, alpha=solid, out=Out(rgb * (solid[..., None] > 0)))
refused("aclnnMrgbaCustom", dict(rgb=rgb, alpha=alpha, out=Out(rgb, False)), ({"alpha": alpha[:2]}, 161002, "alpha has the shape"), ({"rgb": noise(4, 3, 3)}, 161002, "rgb has the type"))
for dtype in FLOATS:
    x, factor, bias = noise(2, 3, 4, dtype=dtype), noise(3, 4, dtype=dtype), noise(3, 4, dtype=dtype)
    given = dict(x=x, scale=factor, axis=1)
    y = x.double() * factor.double()
    cases.add("aclnnScale", bias=bias, numAxes=-1, scaleFromBlob=True, y=Out((y + bias.double()).to(dtype)), **given)
    cases.add("aclnnScale", bias=Null, numAxes=2, scaleFromBlob=True, y=Out(y.to(dtype)), **given)
    cases.add("aclnnScale", x=x, scale=factor[:, 0].contiguous(), bias=Null, axis=-2, numAxes=0, scaleFromBlob=False, y=Out((x.double() * factor[:, :1].double()).to(dtype)))
refused(
    "aclnnScale", dict(x=x, scale=factor, bias=Null, axis=1, numAxes=-1, scaleFromBlob=True, y=Out(x, False)), ({"axis": 2}, 161002, "scale has the shape"),
    ({"numAxes": 3}, 161002, "numAxes"), ({"bias": noise(3, dtype=bf16)}, 161002, "bias has the shape"),
)
for dtype in FLOATS:
    for size in [(2, 3, 4, 5), (1, 1, 3, 1), (2, 1, 2, 3, 2)]:
        space = len(size) - 2
        theta = noise(size[0], space, space + 1, dtype=dtype)
        for aligned in (False, True):
            y = functional.affine_grid(theta.double(), list(size), align_corners=aligned)
            cases.add("aclnnAffineGrid", theta=theta, size=list(size), alignCorners=aligned, out=Out(y.to(dtype)))
refused(
    "aclnnAffineGrid", dict(theta=noise(1, 2, 3), size=[1, 1, 2, 2], alignCorners=False, out=Out(noise(1, 2, 2, 2), False)), ({"size": [1, 1, 2]}, 161002, "size is"),
    ({"theta": noise(2, 2, 3)}, 161002, "theta has the shape"), ({"out": Out(noise(1, 2, 2, 3), False)}, 161002, "out has the shape"),
)
for dtype in FLOATS:
    x = noise(1, 2, 5, 6, dtype=dtype)
    for kernel, strides, pads, ceil, padded in [
        ([2, 3], [], [], 0, (0, 0, 0, 0)), ([2], [2], [1], 0, (1, 1, 1, 1)), ([3, 2], [2, 1], [0, 1], 0, (1, 1, 0, 0)), ([3, 3], [1, 2], [1, 0, 2, 1], 0, (0, 1, 1, 2)),
        ([2, 2], [2, 2], [], 1, (0, 0, 0, 0)),
    ]:
        y = functional.max_pool2d(functional.pad(x.double(), padded, value=-inf), kernel if len(kernel) == 2 else kernel[0], strides or 1, ceil_mode=bool(ceil))
        cases.add("aclnnMaxPool", self=x, kernelShape=kernel, strides=strides, autoPad=0, pads=pads, dilations=[], ceilMode=ceil, out=Out(y.to(dtype)))
    cases.add(
        "aclnnMaxPool", self=x[0], kernelShape=[2, 2], strides=[1, 1], autoPad=0, pads=[], dilations=[1, 1], ceilMode=0,
        out=Out(functional.max_pool2d(x[0].double(), 2, 1).to(dtype)),
    )
given = dict(self=x, kernelShape=[2, 2], strides=[], autoPad=0, pads=[], dilations=[], ceilMode=0, out=Out(noise(1, 2, 4, 5, dtype=bf16), False))
refused(
    "aclnnMaxPool", given, ({"autoPad": 1}, 161002, "autoPad"), ({"dilations": [2, 2]}, 161002, "dilations"), ({"pads": [2, 2]}, 161002, "pads"),
    ({"kernelShape": [1, 2, 3]}, 161002, "kernelShape has 3 entries"), ({"self": x[0, 0]}, 161002, "dimensions"),
)
for dtype in FLOATS:
    x = noise(1, 2, 3, 4, dtype=dtype)
    for down, right in [(2.0, 1.5), (0.5, 0.75), (1.0, 3.0)]:
        for mode in ("nearest", "bilinear"):
            more = dict(align_corners=False) if mode == "bilinear" else {}
            y = functional.interpolate(x.double(), scale_factor=(down, right), mode=mode, recompute_scale_factor=False, **more)
            cases.add("aclnnResize", self=x, scales=[1.0, 1.0, down, right], mode=mode, out=Out(y.to(dtype)))
given = dict(self=x, scales=[1.0, 1.0, 2.0, 2.0], mode="nearest", out=Out(noise(1, 2, 6, 8, dtype=bf16), False))
refused("aclnnResize", given, ({"mode": "cubic"}, 161002, "mode is"), ({"scales": [1.0, 2.0, 2.0, 2.0]}, 161002, "scales is"), ({"scales": [2.0]}, 161002, "scales has 1 entries"))

# Blocks of tokens, and signs.
for dtype in FLOATS:
    x, weight, ends = noise(11, 2, 3, dtype=dtype), noise(4, 2, dtype=dtype), [6, 8, 11]
    ends = [6, 6, 11] if dtype == f16 else ends
    ex, ew = leaves(x, weight)
    rows, start = [], 0
    for end in ends:
        for first in range(start, end - 3, 2):
            rows.append((ex[first : first + 4] * ew[:, :, None]).sum(0))
        start = end
    y = torch.stack(rows)
    dy = noise(*y.shape, dtype=dtype)
    dx, dw = torch.autograd.grad(y, [ex, ew], dy.double())
    given = dict(input=x, weight=weight, compressBlockSize=4, compressStride=2, actSeqLenType=0)
    within = {f32: 1e-5, f16: 6e-3, bf16: 4e-2}[dtype]
    cases.add("aclnnNsaCompress", actSeqLenOptional=ends, layoutOptional="TND", output=Out(y.detach().to(dtype)), within=within, **given)
    cases.add(
        "aclnnNsaCompressGrad", outputGrad=dy, actSeqLenOptionalOptional=ends, layoutOptionalOptional="TND", inputGradOut=Out(dx.to(dtype)),
        weightGradOut=Out(dw.to(dtype)), within=within, **given,
    )
given = dict(given, actSeqLenOptional=[11], layoutOptional="TND", output=Out(noise(4, 2, 3, dtype=bf16), False))
refused(
    "aclnnNsaCompress", given, ({"compressStride": 0}, 161002, "compressStride"), ({"layoutOptional": "BSND"}, 561003, "BSND"),
    ({"actSeqLenOptional": [12]}, 161002, "ends of sequences"), ({"weight": noise(3, 2, dtype=bf16)}, 161002, "weight has the shape"),
)
x = torch.tensor([5.0, 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2])
for dtype in (f32, f16):
    cases.add("aclnnSignBitsPack", self=x.to(dtype), size=2, out=Out(torch.tensor([[159], [15]], dtype=u8)))
    cases.add("aclnnSignBitsPack", self=x.to(dtype), size=1, out=Out(torch.tensor([[159, 15]], dtype=u8)))
refused("aclnnSignBitsPack", dict(self=x, size=2, out=Out(torch.zeros(2, 1, dtype=u8), False)), ({"size": 3}, 161002, "size is 3"), ({"self": x[None]}, 161002, "self has the shape"))

# The variance with a flag for the correction.
for dtype in FLOATS:
    x = noise(3, 4, 2, dtype=dtype)
    for dim, unbiased, keep in [([1], True, False), ([0, 2], False, True), ([], True, False)]:
        y = torch.var(x.double(), dim or None, unbiased=unbiased, keepdim=keep)
        cases.add("aclnnVar", self=x, dim=dim, unbiased=unbiased, keepdim=keep, out=Out(y.to(dtype)))


# Normalization of each channel of each image.
for dtype in FLOATS:
    for shape in [(2, 3, 4, 5), (1, 2, 3, 2, 4), (2, 3, 7)]:
        x, gamma, beta = noise(*shape, dtype=dtype), noise(shape[1], dtype=dtype), noise(shape[1], dtype=dtype)
        axes = list(range(2, len(shape)))
        y = functional.instance_norm(x.double(), weight=gamma.double(), bias=beta.double(), eps=1e-3).to(dtype)
        mean, variance = x.double().mean(axes, keepdim=True).to(dtype), x.double().var(axes, unbiased=False, keepdim=True).to(dtype)
        within = {torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}[dtype]
        for form in ["NCHW", "NHWC"]:
            laid = (lambda each: each.movedim(1, -1).contiguous()) if form == "NHWC" else (lambda each: each)
            cases.add("aclnnInstanceNorm", x=laid(x), gamma=gamma, beta=beta, dataFormat=form, eps=1e-3, y=Out(laid(y)), mean=Out(laid(mean)), variance=Out(laid(variance)), within=within, bare=True)
given = dict(x=noise(2, 3, 4, 5), gamma=noise(3), beta=noise(3), dataFormat="NCHW", eps=1e-3, y=Out(noise(2, 3, 4, 5), False), mean=Out(noise(2, 3, 1, 1), False), variance=Out(noise(2, 3, 1, 1), False))
refused(
    "aclnnInstanceNorm", given, ({"dataFormat": "NC"}, 161002, "dataFormat is"), ({"gamma": noise(4)}, 161002, "gamma has the shape"), ({"mean": Out(noise(3), False)}, 161002, "mean has the shape"),
    ({"x": noise(2, 3)}, 161002, "x has the shape"), ({"y": Out(noise(2, 3, 4, 6), False)}, 161002, "y has the shape"),
)

# The sums of segments, and their exponentials.
def exp_segsum(x):
    sums = x.cumsum(-1)
    return torch.where(torch.ones(x.shape[-1], x.shape[-1], dtype=torch.bool).tril(), (sums[..., :, None] - sums[..., None, :]), -math.inf).exp()

for dtype in FLOATS:
    for shape in [(2, 3, 5), (4,), (1, 2, 1, 7), (2, 1)]:
        x = noise(*shape, dtype=dtype)
        (exact,) = leaves(x)
        y = exp_segsum(exact)
        gradient = noise(*y.shape, dtype=dtype)
        (to_x,) = torch.autograd.grad(y, exact, gradient.double())
        within = {torch.float32: 1e-5, torch.float16: 2e-2, torch.bfloat16: 1.5e-1}[dtype]
        cases.add("aclnnExpSegsum", self=x, out=Out(y.detach().to(dtype)), within=within)
        cases.add("aclnnExpSegsumBackward", gradOutput=gradient, gradSelf=x, gradInput=Out(to_x.to(dtype)), within=within)
        if dtype == torch.float32:
            cases.add("aclnnExpSegsumBackward", gradOutput=gradient, gradSelf=y.detach().to(dtype), gradInput=Out(to_x.to(dtype)), within=1e-4)
refused("aclnnExpSegsum", dict(self=noise(3), out=Out(noise(3, 3), False)), ({"out": Out(noise(3), False)}, 161002, "out has the shape"))

# Rows that the condition of their batch scales and shifts.
for dtype in FLOATS:
    for batch, rows, width in [(2, 3, 4), (1, 5, 7)]:
        x, scale, shift, gradient = noise(batch, rows, width, dtype=dtype), noise(batch, width, dtype=dtype), noise(batch, 1, width, dtype=dtype), noise(batch, rows, width, dtype=dtype)
        ex, es, et = leaves(x, scale, shift)
        y = ex * (1 + es[:, None]) + et
        within = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}[dtype]
        cases.add("aclnnModulate", self=x, scaleOptional=scale, shiftOptional=shift, out=Out(y.detach().to(dtype)), within=within)
        cases.add("aclnnModulate", self=x, scaleOptional=Null, shiftOptional=shift, out=Out((ex + et).detach().to(dtype)), within=within)
        cases.add("aclnnModulate", self=x, scaleOptional=scale, shiftOptional=Null, out=Out((ex * (1 + es[:, None])).detach().to(dtype)), within=within)
        to_x, to_scale, to_shift = (each.to(dtype) for each in torch.autograd.grad(y, [ex, es, et], gradient.double()))
        cases.add("aclnnModulateBackward", grad_output=gradient, input=x, scale=scale, shift=shift, grad_input=Out(to_x), grad_scale=Out(to_scale), grad_shift=Out(to_shift), within=within)
given = dict(self=noise(2, 3, 4), scaleOptional=noise(2, 4), shiftOptional=noise(2, 4), out=Out(noise(2, 3, 4), False))
refused("aclnnModulate", given, ({"scaleOptional": noise(2, 3)}, 161002, "scaleOptional has the shape"), ({"self": noise(3, 4)}, 161002, "self has the shape"))

# The gradient of the distances to the nearest points.
for dtype in [torch.float32, torch.float16]:
    one, two = noise(2, 5, 2, dtype=dtype), noise(2, 4, 2, dtype=dtype)
    ex, ey = leaves(one, two)
    distances = ((ex[:, :, None] - ey[:, None]) ** 2).sum(-1)
    (near1, idx1), (near2, idx2) = distances.min(2), distances.min(1)
    grads = noise(2, 5, dtype=dtype), noise(2, 4, dtype=dtype)
    wanted = torch.autograd.grad([near1, near2], [ex, ey], [each.double() for each in grads])
    given = dict(
        xyz1=one, xyz2=two, idx1=idx1.int(), idx2=idx2.int(), gradDist1=grads[0], gradDist2=grads[1], gradXyz1=Out(wanted[0].to(dtype)), gradXyz2=Out(wanted[1].to(dtype)),
    )
    cases.add("aclnnChamferDistanceBackward", within={torch.float32: 1e-5, torch.float16: 1e-2}[dtype], **given)
refused("aclnnChamferDistanceBackward", given, ({"idx1": idx1[:, :2].int()}, 161002, "idx1 has the shape"), ({"xyz2": noise(2, 4, 3, dtype=dtype)}, 161002, "coordinates must be equal"))

# The values of a sparse tensor with the same index are added.
for dtype in FLOATS + [torch.int32]:
    indices = torch.tensor([[0, 2, 0, 1, 2], [1, 0, 1, 2, 0]])
    for rest in [(), (3,)]:
        values = noise(5, *rest).mul(9).to(dtype)
        # The sums of 16-bit values are rounded once.
        whole = torch.sparse_coo_tensor(indices, values.double(), (3, 3, *rest)).coalesce()
        unique, position = torch.unique(indices[0] * 3 + indices[1], return_inverse=True)
        cases.add(
            "aclnnCoalesceSparse", uniqueLen=unique, uniqueIndices=position, indices=indices.T.contiguous(), values=values, newIndices=Out(whole.indices().T.contiguous()),
            newValues=Out(whole.values().to(dtype)), within={torch.float16: 2e-3, torch.bfloat16: 1.6e-2}.get(dtype),
        )
given = dict(uniqueLen=unique, uniqueIndices=position, indices=indices.T.contiguous(), values=values, newIndices=Out(whole.indices().T.contiguous(), False), newValues=Out(whole.values().to(dtype), False))
refused("aclnnCoalesceSparse", given, ({"values": values[1:]}, 161002, "values has the shape"), ({"uniqueLen": unique[1:]}, 161002, "newIndices has the shape"), ({"newValues": Out(whole.values().float(), False)}, 161002, "newValues has the type"))
cases.write()
