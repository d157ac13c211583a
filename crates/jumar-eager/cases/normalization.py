"""Makes normalization.txt: `python normalization.py` in an environment with PyTorch."""

import torch
import torch.nn.functional as nn

from cases import Cases, InOut, Null, Out

torch.manual_seed(9)
cases = Cases("normalization")
f32, f16, bf16, f64, i32 = torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32
FLOATS = [f32, f16, bf16, f64]
nan, inf = float("nan"), float("inf")


def noise(*shape, dtype=f32, scale=2.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def exact(x):
    """The operand in float64, from which a gradient is taken and rounded once."""
    return None if x is None else x.double().detach().requires_grad_()


# Softmax.
for name, function in [("Softmax", torch.softmax), ("LogSoftmax", torch.log_softmax)]:
    for dtype in FLOATS:
        for shape, dim in [((3, 4), 1), ((3, 4), 0), ((2, 3, 4), -2), ((5,), -1), ((), 0), ((2, 1), 1), ((0, 3), 1), ((2, 0), 1)]:
            x = noise(*shape, dtype=dtype)
            cases.add(f"aclnn{name}", self=x, dim=dim, out=Out(function(x.double(), dim).to(dtype)))
            result = function(x.double(), dim).to(dtype)
            gradient = noise(*shape, dtype=dtype)
            g, y = gradient.double(), result.double()
            if name == "Softmax":
                out = torch._softmax_backward_data(g, y, dim, f64)
            else:
                out = torch._log_softmax_backward_data(g, y, dim, f64)
            cases.add(
                f"aclnn{name}Backward", gradOutput=gradient, output=result, dim=dim, out=Out(out.to(dtype)),
                within=1e-5 if dtype == f32 else None,
            )
    x = torch.tensor([[1000.0, 1000.0], [-inf, 1.0], [-inf, -inf], [nan, 1.0]])
    cases.add(f"aclnn{name}", self=x, dim=1, out=Out(function(x, 1)))
    x = noise(2, 3, dtype=f16)
    cases.add(f"aclnn{name}", self=x, dim=1, out=Out(function(x.float(), 1)))
    x = noise(4, 300)
    cases.add(f"aclnn{name}", self=x[:, :70], dim=1, out=Out(function(x[:, :70], 1)))
    x = noise(2, 3)
    cases.add(f"aclnn{name}", self=x, dim=2, out=Out(x, False), refuse=(161002, "dim is 2"))
    cases.add(f"aclnn{name}", self=x, dim=1, out=Out(x[0], False), refuse=(161002, "out has the shape"))
    cases.add(f"aclnn{name}", self=Null, dim=1, out=Out(x, False), refuse=(161001, "self"))
    cases.add(f"aclnn{name}", self=torch.complex(x, x), dim=1, out=Out(x, False), refuse=(161002, "complex"))
    cases.add(f"aclnn{name}Backward", gradOutput=x, output=x[0], dim=1, out=Out(x, False), refuse=(161002, "output has the shape"))
    cases.add(f"aclnn{name}Backward", gradOutput=x, output=x, dim=-3, out=Out(x, False), refuse=(161002, "dim is -3"))

# Layer norm.
for dtype in FLOATS:
    for shape, count, affine in [
        ((3, 4), 1, "both"), ((3, 4), 1, "neither"), ((2, 3, 4), 2, "weight"), ((2, 3, 4), 1, "bias"), ((2, 2, 2, 3), 3, "both"),
        ((5,), 1, "both"), ((0, 4), 1, "both"), ((2, 1), 1, "both"), ((2, 70), 1, "both"),
    ] if dtype in (f32, f16) else [((2, 3, 4), 2, "both"), ((3, 4), 1, "neither")]:
        normalized = list(shape[len(shape) - count:])
        x, gradient = noise(*shape, dtype=dtype), noise(*shape, dtype=dtype)
        weight = noise(*normalized, dtype=dtype) if affine in ("both", "weight") else None
        bias = noise(*normalized, dtype=dtype) if affine in ("both", "bias") else None
        rows = list(shape[: len(shape) - count]) + [1] * count
        ex, ew, eb = exact(x), exact(weight), exact(bias)
        y, mean, rstd = torch.native_layer_norm(ex, normalized, ew, eb, 1e-5)
        small = f64 if dtype == f64 else f32
        mean, rstd = mean.detach().reshape(rows).to(small), rstd.detach().reshape(rows).to(small)
        given = dict(
            input=x, normalizedShape=normalized,
            weightOptional=Null if weight is None else weight, biasOptional=Null if bias is None else bias,
        )
        within = {f32: 2e-5, f64: 1e-9}.get(dtype)
        cases.add(
            "aclnnLayerNorm", eps=1e-5, out=Out(y.detach().to(dtype)), meanOutOptional=Out(mean), rstdOutOptional=Out(rstd),
            within=within, **given,
        )
        cases.add("aclnnLayerNorm", eps=1e-5, out=Out(y.detach().to(dtype)), meanOutOptional=Null, rstdOutOptional=Null, within=within, **given)
        y.backward(gradient.double())
        zeros = torch.zeros(normalized, dtype=f64)
        unit = ((x.double() - mean.double()) * rstd.double())
        axes = list(range(len(shape) - count))
        total = lambda each: each.sum(axes) if axes else each
        to_weight = total(gradient.double() * unit)
        to_bias = total(gradient.double())
        given["gradOut"], given["mean"], given["rstd"] = gradient, mean, rstd
        outs = dict(
            gradInputOut=Out(ex.grad.to(dtype)), gradWeightOut=Out(to_weight.to(dtype)), gradBiasOut=Out(to_bias.to(dtype))
        )
        if ew is not None:
            assert torch.allclose(ew.grad, to_weight, atol=1e-3)
        cases.add("aclnnLayerNormBackward", outputMask=[True] * 3, within=within, **outs, **given)
        some = dict(gradInputOut=outs["gradInputOut"], gradWeightOut=Null, gradBiasOut=outs["gradBiasOut"])
        cases.add("aclnnLayerNormBackward", outputMask=[True, False, True], within=within, **some, **given)
x = noise(2, 3)
rows = torch.zeros(2, 1)
given = dict(input=x, weightOptional=Null, biasOptional=Null)
outs = dict(out=Out(x, False), meanOutOptional=Null, rstdOutOptional=Null)
cases.add("aclnnLayerNorm", normalizedShape=[2], eps=1e-5, refuse=(161002, "normalizedShape is [2]"), **given, **outs)
cases.add("aclnnLayerNorm", normalizedShape=[], eps=1e-5, refuse=(161002, "normalizedShape is []"), **given, **outs)
given["weightOptional"] = noise(2)
cases.add("aclnnLayerNorm", normalizedShape=[3], eps=1e-5, refuse=(161002, "weightOptional has the shape"), **given, **outs)
given["weightOptional"] = Null
outs["meanOutOptional"] = Out(noise(3, 1), False)
cases.add("aclnnLayerNorm", normalizedShape=[3], eps=1e-5, refuse=(161002, "meanOutOptional has the shape"), **given, **outs)
given.update(normalizedShape=[3], gradOut=x, mean=rows, rstd=rows)
outs = dict(gradInputOut=Out(x, False), gradWeightOut=Out(x[0], False), gradBiasOut=Out(x[0], False))
cases.add("aclnnLayerNormBackward", outputMask=[True, True], refuse=(161002, "outputMask has 2"), **given, **outs)
given["mean"] = noise(3, 1)
cases.add("aclnnLayerNormBackward", outputMask=[True] * 3, refuse=(161002, "mean has the shape"), **given, **outs)
given["mean"] = rows
outs["gradWeightOut"] = Out(noise(4), False)
cases.add("aclnnLayerNormBackward", outputMask=[True] * 3, refuse=(161002, "gradWeightOut has the shape"), **given, **outs)

# Batch norm.
def batch_norm(dtype, shape, affine, tracked, kind):
    small = f64 if dtype == f64 else f32
    channels = shape[1]
    x, gradient = noise(*shape, dtype=dtype), noise(*shape, dtype=dtype)
    weight = noise(channels, dtype=kind) if affine else None
    bias = noise(channels, dtype=kind) if affine else None
    mean = noise(channels, dtype=kind) if tracked else None
    variance = noise(channels, dtype=kind).abs() + 0.5 if tracked else None
    null = lambda value: Null if value is None else value
    within = {f32: 2e-5}.get(dtype)
    for training in [True, False] if tracked else [True]:
        ex, ew, eb = exact(x), exact(weight), exact(bias)
        new_mean = None if mean is None else mean.double().clone()
        new_variance = None if variance is None else variance.double().clone()
        y, save_mean, save_rstd = torch.native_batch_norm(ex, ew, eb, new_mean, new_variance, training, 0.1, 1e-5)
        y.backward(gradient.double())
        given = dict(input=x, weight=null(weight))
        before = dict(runningMean=null(mean), runningVar=null(variance))
        change = before
        if tracked and training:
            change = dict(
                runningMean=InOut(mean, new_mean.to(kind)), runningVar=InOut(variance, new_variance.to(kind))
            )
        save_mean, save_rstd = save_mean.detach().to(small), save_rstd.detach().to(small)
        if training:
            saves = dict(saveMean=Out(save_mean), saveInvstd=Out(save_rstd))
        else:
            saves = dict(saveMean=Out(noise(channels, dtype=small), False), saveInvstd=Out(noise(channels, dtype=small), False))
        cases.add(
            "aclnnBatchNorm", bias=null(bias), training=training, momentum=0.1, eps=1e-5, output=Out(y.detach().to(dtype)),
            within=within, **given, **change, **saves,
        )
        if not training:
            cases.add(
                "aclnnBatchNorm", bias=null(bias), training=training, momentum=0.1, eps=1e-5, output=Out(y.detach().to(dtype)),
                within=within, saveMean=Null, saveInvstd=Null, **given, **change,
            )
        saves = dict(saveMean=save_mean, saveInvstd=save_rstd) if training else dict(saveMean=Null, saveInvstd=Null)
        all_grads = torch.ops.aten.native_batch_norm_backward(
            gradient.double(), x.double(), None if weight is None else weight.double(),
            None if mean is None else mean.double().clone(), None if variance is None else variance.double().clone(),
            save_mean.double(), save_rstd.double(), training, 1e-5, [True] * 3,
        )
        outs = dict(
            gradInput=Out(all_grads[0].to(dtype)), gradWeight=Out(all_grads[1].to(kind)), gradBias=Out(all_grads[2].to(kind))
        )
        cases.add(
            "aclnnBatchNormBackward", gradOut=gradient, training=training, eps=1e-5, outputMask=[True] * 3,
            within=1e-4 if dtype == f32 else None, **given, **before, **saves, **outs,
        )
        outs.update(gradWeight=Null, gradBias=Null)
        cases.add(
            "aclnnBatchNormBackward", gradOut=gradient, training=training, eps=1e-5, outputMask=[True, False, False],
            within=1e-4 if dtype == f32 else None, **given, **before, **saves, **outs,
        )


for dtype in FLOATS:
    small = f64 if dtype == f64 else f32
    for shape, affine, tracked, kind in [
        ((2, 3, 2, 2), True, True, small), ((4, 3), True, True, small), ((2, 2, 5), False, True, small), ((3, 2, 2), True, False, small),
        ((2, 2, 1, 2, 3), True, True, small), ((4, 2), False, False, small), ((2, 3, 2), True, True, dtype),
    ] if dtype in (f32, f16) else [((2, 3, 2), True, True, small), ((3, 2), False, True, dtype)]:
        batch_norm(dtype, shape, affine, tracked, kind)
x = noise(2, 3, 2)
v = noise(3)
given = dict(input=x, weight=v, bias=v, training=False, momentum=0.1, eps=1e-5, saveMean=Out(v, False), saveInvstd=Out(v, False))
stats = dict(runningMean=v, runningVar=v)
cases.add("aclnnBatchNorm", output=Out(x[0], False), refuse=(161002, "output has the shape"), **stats, **given)
cases.add("aclnnBatchNorm", output=Out(x, False), runningMean=Null, runningVar=Null, refuse=(161001, "running"), **given)
cases.add("aclnnBatchNorm", output=Out(x, False), runningMean=noise(2), runningVar=v, refuse=(161002, "runningMean has the shape"), **given)
given["training"] = True
cases.add("aclnnBatchNorm", output=Out(x, False), runningMean=noise(2), runningVar=v, refuse=(161002, "runningMean has the shape"), **given)
given["weight"] = noise(4)
cases.add("aclnnBatchNorm", output=Out(x, False), refuse=(161002, "weight has the shape"), **stats, **given)
given.update(weight=v, input=noise(3))
cases.add("aclnnBatchNorm", output=Out(noise(3), False), refuse=(161002, "a batch and channels"), **stats, **given)
given = dict(gradOut=x, input=x, weight=v, eps=1e-5, **stats)
outs = dict(gradInput=Out(x, False), gradWeight=Out(v, False), gradBias=Out(v, False))
saves = dict(saveMean=v, saveInvstd=v)
cases.add("aclnnBatchNormBackward", training=True, outputMask=[True], refuse=(161002, "outputMask has 1"), **given, **saves, **outs)
cases.add("aclnnBatchNormBackward", training=True, outputMask=[True] * 3, saveMean=Null, saveInvstd=v, refuse=(161001, "saveMean"), **given, **outs)
outs["gradWeight"] = Out(noise(2), False)
cases.add("aclnnBatchNormBackward", training=True, outputMask=[True] * 3, refuse=(161002, "gradWeight has the shape"), **given, **saves, **outs)
# An empty batch: gradients of parameters are zero.
x = noise(0, 3, 2)
given["gradOut"], given["input"] = x, x
outs = dict(gradInput=Out(x), gradWeight=Out(torch.zeros(3)), gradBias=Out(torch.zeros(3)))
cases.add("aclnnBatchNormBackward", training=False, outputMask=[True] * 3, **given, **saves, **outs)

# The mean square error.
KINDS = ["none", "mean", "sum"]
for dtype in FLOATS:
    for one, two in [((3, 4), (3, 4)), ((3, 4), (4,)), ((2,), (2,)), ((), ()), ((0, 2), (0, 2))]:
        x, target = noise(*one, dtype=dtype), noise(*two, dtype=dtype)
        for kind, word in enumerate(KINDS):
            ex = exact(x)
            spread = torch.broadcast_tensors(ex, target.double())
            out = nn.mse_loss(*spread, reduction=word)
            cases.add("aclnnMseLoss", self=x, target=target, reduction=kind, out=Out(out.detach().to(dtype)), within=1e-5 if dtype == f32 else None)
            if one != two:
                continue
            gradient = noise(*out.shape, dtype=dtype)
            (grad,) = torch.autograd.grad(out, ex, gradient.double())
            cases.add("aclnnMseLossBackward", gradOutput=gradient, self=x, target=target, reduction=kind, out=Out(grad.to(dtype)))
x = noise(2, 3)
cases.add("aclnnMseLoss", self=x, target=x, reduction=3, out=Out(x, False), refuse=(161002, "reduction is 3"))
cases.add("aclnnMseLoss", self=x, target=x, reduction=1, out=Out(x, False), refuse=(161002, "out has the shape"))
cases.add("aclnnMseLoss", self=x, target=noise(2), reduction=0, out=Out(x, False), refuse=(161002, "broadcast"))
cases.add("aclnnMseLossBackward", gradOutput=x, self=x, target=x, reduction=-1, out=Out(x, False), refuse=(161002, "reduction is -1"))
cases.add("aclnnMseLossBackward", gradOutput=noise(2), self=x, target=x, reduction=0, out=Out(x, False), refuse=(161002, "broadcast"))

# Batch norm of channels whose elements are processed as rows.
for dtype in FLOATS:
    for shape, affine, tracked in [((2, 3, 4, 5), True, True), ((3, 2, 16), False, True), ((1, 2, 1040), True, False)]:
        if dtype == f32 or shape[-1] < 100:
            batch_norm(dtype, shape, affine, tracked, f64 if dtype == f64 else f32)
cases.write()
