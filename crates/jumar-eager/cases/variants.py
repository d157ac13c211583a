"""Makes variants.txt: `python variants.py` in an environment with PyTorch. Expected values are float64, rounded once."""

import torch

from cases import Cases, InOut, Null, Out, Scalar

torch.manual_seed(70)
cases = Cases("variants")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i8, i32, i64, u8, boolean = torch.int8, torch.int32, torch.int64, torch.uint8, torch.bool
FLOATS = [f32, f16, bf16]


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def values(*shape, dtype):
    return noise(*shape, dtype=dtype) if dtype.is_floating_point else torch.randint(-9 if dtype.is_signed else 0, 10, shape).to(dtype)


for dtype in [f32, f64, f16, bf16, i32, i64, i8, u8]:
    for axis in [0, -1]:
        for exclusive in [False, True]:
            for reverse in [False, True]:
                x = values(3, 4, dtype=dtype)
                line = x.flip(axis) if reverse else x
                wide = line.double() if dtype.is_floating_point else line.long()
                y = wide.cumsum(axis)
                y = y - wide if exclusive else y
                y = y.flip(axis) if reverse else y
                if dtype == f32 or (exclusive and axis == 0):
                    cases.add("aclnnCumsumV2", self=x, dim=axis, exclusive=exclusive, reverse=reverse, out=Out(y.to(dtype)))
cases.add("aclnnCumsumV2", self=noise(2), dim=1, exclusive=False, reverse=False, out=Out(noise(2), False), refuse=(161002, "dim is 1"))
cases.add("aclnnCumsumV2", self=noise(2), dim=0, exclusive=False, reverse=False, out=Out(noise(2).half(), False), refuse=(161002, "out has the type"))
for dtype in [f32, f64, f16, bf16]:
    x = values(2, 3, 4, dtype=dtype)
    for dims, keep, noop in [([1], True, False), ([0, -1], False, True), ([], False, False), ([], True, True)]:
        axes = dims or ([] if noop else [0, 1, 2])
        y = x.double().mean(axes, keepdim=keep) if axes else x.double()
        cases.add("aclnnMeanV2", self=x, dim=dims, keepDim=keep, noopWithEmptyAxes=noop, out=Out(y.to(dtype)))
for dtype in [f32, f16, i32, i64, i8, u8, boolean]:
    x = values(2, 5, 3, dtype=dtype) if dtype != boolean else torch.rand(2, 5, 3) > 0.5
    index = torch.randint(0, 5, (2, 4)).to(i64)
    y = torch.stack([x[batch][index[batch]] for batch in range(2)])
    cases.add("aclnnGatherV3", self=x, dim=1, index=index, batchDims=1, mode=0, out=Out(y))
    cases.add("aclnnGatherV3", self=x, dim=1, index=index.to(i32), batchDims=0, mode=1, out=Out(x[:, index]))
    for axis in [0, 1, -1]:
        rows = torch.Size(x.shape[: axis % 3]).numel()
        cases.add("aclnnFlatten", self=x, axis=axis, out=Out(x.reshape(rows, -1)))
    index = torch.tensor([[1, 4], [0, 2], [1, 0]])
    y = x[index[:, 0], index[:, 1]]
    cases.add("aclnnGatherNd", self=x, indices=index, negativeIndexSupport=False, out=Out(y))
    updates = values(3, 3, dtype=dtype) if dtype != boolean else torch.rand(3, 3) > 0.5
    after = x.clone()
    after[index[:, 0], index[:, 1]] = updates
    cases.add("aclnnScatterNd", data=x, indices=index, updates=updates, out=Out(after))
    cases.add("aclnnScatterNdUpdate", varRef=InOut(x, after), indices=index.to(i32), updates=updates)
    if dtype != boolean:
        # Sums of a position that is named twice, and rows of the first dimension.
        index = torch.tensor([[1, 4], [0, 2], [1, 4]])
        more = torch.arange(9).reshape(3, 3).to(dtype)
        after = x.index_put((index[:, 0], index[:, 1]), more, accumulate=True)
        cases.add("aclnnTfScatterAdd", varRef=InOut(x, after), indices=index, updates=more)
        rows = torch.arange(15).reshape(1, 5, 3).to(dtype)
        cases.add("aclnnTfScatterAdd", varRef=InOut(x, torch.stack([x[0], x[1] + rows[0]])), indices=torch.tensor([[1]]).to(i32), updates=rows)
    part = values(2, 2, 2, dtype=dtype) if dtype != boolean else torch.rand(2, 2, 2) > 0.5
    after = x.clone()
    after[:, 1:4:2, -2:] = part
    cases.add("aclnnStridedSliceAssignV2", varRef=InOut(x, after), inputValue=part, begin=[1, -2], end=[4, 9], strides=[2, 1], axesOptional=[1, 2])
    cases.add(
        "aclnnStridedSlice", self=x, begin=[0, 3, 1], end=[1, 0, 0], strides=[1, -2, 1], beginMask=0, endMask=4, ellipsisMask=0, newAxisMask=0,
        shrinkAxisMask=1, out=Out(x[0, [3, 1]][:, 1:]),
    )
    for first, shape, perm in [(True, [3, 10], [2, 0, 1]), (False, [5, 6], [1, 0])]:
        y = x.permute(perm).reshape(shape) if first else x.reshape(shape).permute(perm)
        cases.add("aclnnConfusionTranspose", x=InOut(x, x), perm=perm, shape=shape, transpose_first=first, out=Out(y.contiguous()))
    for shape in [(3, 5), (7, 2), (2, 2)]:
        for wrap in [False, True]:
            x = values(*shape, dtype=dtype) if dtype != boolean else torch.rand(shape) > 0.5
            after = x.clone().fill_diagonal_(1, wrap)
            cases.add("aclnnInplaceFillDiagonal", selfRef=InOut(x, after), fillValue=Scalar(1, i64), wrap=wrap)
for dtype in FLOATS:
    features, labels = noise(3, 5, dtype=dtype), noise(3, 5, dtype=dtype).abs()
    log = features.double().log_softmax(-1)
    cases.add(
        "aclnnSoftmaxCrossEntropyWithLogits", features=features, labels=labels, loss=Out(-(labels.double() * log).sum(-1).to(dtype)),
        backprop=Out((log.exp() - labels.double()).to(dtype)), within={f32: 1e-5}.get(dtype),
    )
    x, mean, deviation, weight, bias = noise(2, 3, 4, dtype=dtype), noise(3, dtype=dtype), noise(3, dtype=dtype), noise(3, dtype=dtype), noise(3, dtype=dtype)
    channel = lambda view: view.double()[None, :, None]
    y = (x.double() - channel(mean)) * channel(deviation) * channel(weight)
    common = dict(input=x, weight=weight, mean=mean, invstd=deviation, eps=1e-5)
    cases.add("aclnnBatchNormElemt", bias=bias, output=Out((y + channel(bias)).to(dtype)), **common)
    cases.add("aclnnBatchNormElemt", bias=Null, output=Out(y.to(dtype)), **common)
    x, mask = noise(3, 4, dtype=dtype), torch.randint(0, 2, (3, 4)).to(u8)
    cases.add("aclnnMaskedScale", self=x, mask=mask, scale=1.25, out=Out((x.double() * mask * 1.25).to(dtype)))
for dtype in [f32, f16, i32, i64]:
    x = values(3, 4, dtype=dtype)
    cases.add("aclnnAminmaxAll", self=x, minOut=Out(x.min()), maxOut=Out(x.max()))
    for keep in [False, True]:
        low, high = torch.aminmax(x, dim=1, keepdim=keep)
        cases.add("aclnnAminmaxDim", self=x, dim=-1, keepDim=keep, minOut=Out(low), maxOut=Out(high))
    for invert in [False, True]:
        scalar = x[1, 2].item()
        cases.add("aclnnIsInTensorScalar", element=x, testElement=Scalar(scalar, dtype), assumeUnique=False, invert=invert, out=Out((x == scalar) ^ invert))
        for tested in [scalar, 77]:
            found = torch.tensor((tested in x.flatten().tolist()) ^ invert)
            cases.add("aclnnIsInScalarTensor", element=Scalar(tested, dtype), testElements=x, assumeUnique=False, invert=invert, out=Out(found))
for dtype in [f32, f16, i32, i64]:
    a, b = values(2, 3, 2, 4, dtype=dtype), values(2, 3, 2, 5, 4, dtype=dtype)
    # The equation names the fourth dimension of the second operand e and the fifth d.
    wide = (a.double(), b.double())
    y = torch.einsum("abcd,abced->abce", *wide).to(dtype)
    cases.add("aclnnEinsum", tensors=[a, b], equation="abcd,abced->abce", output=Out(y), within=4e-3 if dtype == f16 else None)
    a, b = values(3, dtype=dtype), values(4, dtype=dtype)
    cases.add("aclnnEinsum", tensors=[a, b], equation="a,b->ab", output=Out(torch.einsum("a,b->ab", a, b)))
x = noise(2, 3)
cases.add("aclnnEinsum", tensors=[x, x], equation="ab,ab->a", output=Out(noise(2), False), refuse=(161002, "equation"))
cases.add("aclnnFlatten", self=x, axis=3, out=Out(noise(6, 1), False), refuse=(161002, "axis is 3"))
cases.add("aclnnGatherV3", self=x, dim=0, index=torch.tensor([0]), batchDims=1, mode=0, out=Out(x, False), refuse=(161002, "batchDims is 1"))
cases.add("aclnnConfusionTranspose", x=InOut(x, x), perm=[0], shape=[6], transpose_first=True, out=Out(noise(6), False), refuse=(161002, "perm is [0]"))
cases.add("aclnnConfusionTranspose", x=InOut(x, x), perm=[1, 0], shape=[5], transpose_first=True, out=Out(noise(6), False), refuse=(161002, "shape is [5]"))
cases.add("aclnnInplaceFillDiagonal", selfRef=InOut(noise(2), noise(2)), fillValue=Scalar(1.0), wrap=False, refuse=(161002, "two dimensions"))
given = dict(varRef=x, inputValue=noise(1, 3), begin=[0], end=[1], strides=[1], axesOptional=[0])
for change, status, text in [
    ({"strides": [0]}, 161002, "strides has the entry 0"), ({"end": [2]}, 161002, "inputValue has the shape"), ({"begin": [0, 0]}, 161002, "begin, end and strides"),
    ({"axesOptional": [2]}, 161002, "axesOptional is 2"), ({"inputValue": noise(1, 3).half()}, 161002, "inputValue has the type"),
]:
    cases.add("aclnnStridedSliceAssignV2", refuse=(status, text), **{**given, **change})
cases.add("aclnnAminmaxAll", self=noise(0, 2), minOut=Out(torch.tensor(0.0), False), maxOut=Out(torch.tensor(0.0), False), refuse=(161002, "not defined"))

# Steps of AdamW. The numbers of the options are powers of 2, so that float32 holds them as PyTorch's float64 does.
number = lambda value: torch.tensor([value], dtype=f32)
for dtype in FLOATS:
    for maximize in [False, True]:
        for amsgrad in [False, True]:
            rate, decay, one, two, epsilon = 0.0625, 0.125, 0.875, 0.9375, 2.0**-13
            parameter = torch.nn.Parameter(noise(3, 4, dtype=dtype).double())
            optimizer = torch.optim.AdamW(
                [parameter], lr=rate, betas=(one, two), eps=epsilon, weight_decay=decay, amsgrad=amsgrad, maximize=maximize, foreach=False, fused=False,
            )
            within = 1e-5 if dtype == f32 else None
            state = {name: torch.zeros(3, 4, dtype=dtype) for name in ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"]}
            for step in range(20):
                # Every step starts from what the type holds; the operator gets the number of steps before its own.
                before = parameter.detach().to(dtype)
                gradient = noise(3, 4, dtype=dtype) * (0.25 if step % 3 else 2)
                parameter.data.copy_(before)
                for name, values_ in optimizer.state[parameter].items():
                    if name in state:
                        values_.copy_(state[name])
                parameter.grad = gradient.double()
                optimizer.step()
                after = {name: optimizer.state[parameter][name].to(dtype) for name in state if name in optimizer.state[parameter]}
                if step in (0, 1, 19):
                    refs = dict(
                        varRef=InOut(before, parameter.detach().to(dtype)), mRef=InOut(state["exp_avg"], after["exp_avg"]), vRef=InOut(state["exp_avg_sq"], after["exp_avg_sq"]), grad=gradient,
                    )
                    largest = InOut(state["max_exp_avg_sq"], after["max_exp_avg_sq"]) if amsgrad else Null
                    for kind in [i64, f32]:
                        cases.add(
                            "aclnnApplyAdamWV2", maxGradNormOptionalRef=largest, step=torch.tensor([step], dtype=kind), lr=rate, beta1=one, beta2=two, weightDecay=decay,
                            eps=epsilon, amsgrad=amsgrad, maximize=maximize, within=within, **refs,
                        )
                    if amsgrad:
                        # The larger value is kept in the second moment.
                        refs["vRef"] = InOut(state["exp_avg_sq"], after["max_exp_avg_sq"])
                    cases.add(
                        "aclnnApplyAdamW", beta1Power=number(one**step), beta2Power=number(two**step), lr=number(rate), weightDecay=number(decay), beta1=number(one), beta2=number(two),
                        eps=number(epsilon), maxGradNormOptional=state["max_exp_avg_sq"] if amsgrad else Null, amsgrad=amsgrad, maximize=maximize, within=within, **refs,
                    )
                state |= after
given = dict(
    varRef=noise(2), mRef=noise(2), vRef=noise(2), maxGradNormOptionalRef=Null, grad=noise(2), step=torch.tensor([1]), lr=0.1, beta1=0.9, beta2=0.99,
    weightDecay=0.0, eps=1e-8, amsgrad=False, maximize=False,
)
for change, status, text in [
    ({"amsgrad": True}, 161002, "amsgrad is true and maxGradNormOptionalRef is a null"), ({"mRef": noise(3)}, 161002, "mRef has the shape"), ({"step": torch.tensor([1, 2])}, 161002, "step has the shape"),
    ({"amsgrad": True, "maxGradNormOptionalRef": noise(3)}, 161002, "maxGradNormOptionalRef has the shape"),
    ({"grad": torch.tensor([1, 2])}, 161002, "grad has the type"), ({"grad": Null}, 161001, "grad"),
]:
    cases.add("aclnnApplyAdamWV2", refuse=(status, text), **{**given, **change})

# One step of Adam, with epsilon beside the uncorrected root.
for dtype in FLOATS:
    for nesterov in [False, True]:
        for shape in [(3, 4), (5,), (2, 1, 3)]:
            values_, first, second, gradient = (noise(*shape, dtype=dtype) for _ in range(4))
            second = second.abs()
            rate, one, two, epsilon, step = 0.0625, 0.875, 0.9375, 2.0**-6, 3
            new_first = one * first.double() + (1 - one) * gradient.double()
            new_second = two * second.double() + (1 - two) * gradient.double() ** 2
            numerator = one * new_first + (1 - one) * gradient.double() if nesterov else new_first
            change = rate * (1 - two**step) ** 0.5 / (1 - one**step) * numerator / (new_second.sqrt() + epsilon)
            number = lambda value: torch.tensor([value], dtype=f32)
            cases.add(
                "aclnnApplyAdam", varRef=InOut(values_, (values_.double() - change).to(dtype)), m=first, v=second, beta1Power=number(one**step), beta2Power=number(two**step), lr=number(rate),
                beta1=number(one), beta2=number(two), epsilon=number(epsilon), grad=gradient, useLocking=nesterov, useNesterov=nesterov, within=1e-5 if dtype == f32 else None,
            )
given = dict(
    varRef=noise(2), m=noise(2), v=noise(2), grad=noise(2), useLocking=False, useNesterov=False, **{name: torch.ones(1) for name in ["beta1Power", "beta2Power", "lr", "beta1", "beta2", "epsilon"]},
)
for change, status, text in [
    ({"m": Null}, 161001, "m is a null"), ({"m": noise(3)}, 161002, "m has the shape"), ({"v": noise(2).half()}, 161002, "v has the type"), ({"lr": torch.ones(2)}, 161002, "lr has the shape"),
    ({"beta1": torch.ones(1).half()}, 161002, "beta1 has the type"), ({"varRef": noise(2).double()}, 161002, "varRef has the type"),
]:
    cases.add("aclnnApplyAdam", refuse=(status, text), **{**given, **change})
cases.write()
