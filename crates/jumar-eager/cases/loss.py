"""Makes loss.txt: `python loss.py` in an environment with PyTorch."""

import torch
import torch.nn.functional as nn

from cases import Cases, Null, Out

torch.manual_seed(21)
cases = Cases("loss")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
FLOATS = [f32, f16, bf16, f64]
KINDS = ["none", "mean", "sum"]
aten = torch.ops.aten


def noise(*shape, dtype=f32):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64).to(dtype)


def chances(*shape, dtype=f32):
    """Numbers between 0 and 1."""
    return (torch.randint(1, 64, shape) / 64).to(dtype)


def gradients(function, *operands, only=False):
    """The result in float64, a gradient of it, and the gradients of the operands, or of the first of them only."""
    doubles = [operand.double().detach().requires_grad_(not only or operand is operands[0]) for operand in operands]
    y = function(*doubles)
    gradient = noise(*y.shape, dtype=operands[0].dtype)
    return y.detach(), gradient, torch.autograd.grad(y, doubles[:1] if only else doubles, gradient.double())


SHAPES = [((3, 4), (3, 4)), ((5,), (5,)), ((), ())]
WITHIN = {f32: 1e-5, f64: 1e-11}
for dtype in FLOATS:
    for shape, target_shape in SHAPES if dtype == f32 else SHAPES[:1]:
        for number, kind in enumerate(KINDS):
            x, target = noise(*shape, dtype=dtype), noise(*target_shape, dtype=dtype)
            given = dict(self=x, target=target, reduction=number, within=WITHIN.get(dtype))

            def both(name, function, out, gradient_name, to, **more):
                y, gradient, (to_x,) = gradients(function, x, target, only=True)
                cases.add(name, **{out: Out(y.to(dtype))}, **given, **more)
                cases.add(name + "Backward", **{gradient_name: gradient, to: Out(to_x.to(dtype))}, **given, **more)

            both("aclnnL1Loss", lambda x, t: nn.l1_loss(x, t, reduction=kind), "out", "gradOutput", "gradInput")
            for beta in [1.0, 0.5]:
                both("aclnnSmoothL1Loss", lambda x, t: nn.smooth_l1_loss(x, t, reduction=kind, beta=beta), "result", "gradOut", "gradInput", beta=beta)
            both("aclnnSoftMarginLoss", lambda x, t: nn.soft_margin_loss(x, t, reduction=kind), "out", "gradOutput", "out")
            for logarithm in [False, True]:
                positive = target if logarithm else chances(*target_shape, dtype=dtype)
                y, gradient, (to_x, to_target) = gradients(lambda x, t: nn.kl_div(x, t, reduction=kind, log_target=logarithm), x, positive)
                own = {**given, "target": positive, "logTarget": logarithm}
                cases.add("aclnnKlDiv", out=Out(y.to(dtype)), **own)
                cases.add("aclnnKlDivBackward", gradOutput=gradient, out=Out(to_x.to(dtype)), **own)
                cases.add("aclnnKlDivTargetBackward", gradOutput=gradient, gradTarget=Out(to_target.to(dtype)), **own)
            chance = chances(*shape, dtype=dtype)
            answer = chances(*target_shape, dtype=dtype)
            for weight in [None, chances(*shape, dtype=dtype)]:
                precise = None if weight is None else weight.double()
                y, gradient, (to_x,) = gradients(lambda x, t: nn.binary_cross_entropy(x, t, precise, reduction=kind), chance, answer, only=True)
                own = {**given, "self": chance, "target": answer}
                cases.add("aclnnBinaryCrossEntropy", weight=Null if weight is None else weight, out=Out(y.to(dtype)), **own)
                cases.add("aclnnBinaryCrossEntropyBackward", gradOutput=gradient, weightOptional=Null if weight is None else weight, out=Out(to_x.to(dtype)), **own)
                for positive in [None, chances(*shape[-1:], dtype=dtype) * 2]:
                    own_positive = None if positive is None else positive.double()
                    y, gradient, (to_x, to_target) = gradients(
                        lambda x, t: nn.binary_cross_entropy_with_logits(x, t, precise, pos_weight=own_positive, reduction=kind), x, answer
                    )
                    own = {**given, "target": answer, "weightOptional": Null if weight is None else weight, "posWeightOptional": Null if positive is None else positive}
                    cases.add("aclnnBinaryCrossEntropyWithLogits", out=Out(y.to(dtype)), **own)
                    cases.add("aclnnBinaryCrossEntropyWithLogitsBackward", gradOutput=gradient, out=Out(to_x.to(dtype)), **own)
                    cases.add("aclnnBinaryCrossEntropyWithLogitsTargetBackward", gradOutput=gradient, gradTarget=Out(to_target.to(dtype)), **own)

# The limits of the logarithms.
edge = torch.tensor([0.0, 1.0, 0.0, 1.0])
target = torch.tensor([0.0, 1.0, 1.0, 0.0])
cases.add("aclnnBinaryCrossEntropy", self=edge, target=target, weight=Null, reduction=0, out=Out(nn.binary_cross_entropy(edge, target, reduction="none")))
large = torch.tensor([200.0, -200.0, 200.0, -200.0])
cases.add("aclnnBinaryCrossEntropyWithLogits", self=large, target=target, weightOptional=Null, posWeightOptional=Null, reduction=0,
          out=Out(nn.binary_cross_entropy_with_logits(large, target, reduction="none")))
x, y = torch.complex(noise(4), noise(4)), torch.complex(noise(4), noise(4))
cases.add("aclnnL1Loss", self=x, target=y, reduction=0, out=Out((x - y).abs().to(torch.complex64)))
empty = noise(0, 3)
cases.add("aclnnL1Loss", self=empty, target=empty, reduction=1, out=Out(torch.tensor(float("nan"))))
cases.add("aclnnL1Loss", self=empty, target=empty, reduction=2, out=Out(torch.tensor(0.0)))
x = noise(2, 3)
cases.add("aclnnL1Loss", self=x, target=x, reduction=5, out=Out(x, False), refuse=(161002, "reduction is 5"))
cases.add("aclnnL1Loss", self=x, target=noise(4), reduction=0, out=Out(x, False), refuse=(161002, "broadcast"))
cases.add("aclnnSmoothL1Loss", self=x, target=x, reduction=0, beta=-1.0, result=Out(x, False), refuse=(161002, "beta is -1"))
cases.add("aclnnSoftMarginLoss", self=x, target=x, reduction=1, out=Out(x, False), refuse=(161002, "out has the shape"))
cases.add("aclnnKlDivBackward", gradOutput=noise(5), self=x, target=x, reduction=0, logTarget=False, out=Out(x, False), refuse=(161002, "broadcast"))

# Margins of several labels.
for dtype in FLOATS:
    for shape, labels in [((4,), [3, 0, -1, 1]), ((2, 4), [[1, 2, -1, 0], [0, -1, -1, -1]]), ((1, 3), [[-1, 0, 0]])]:
        x, target = noise(*shape, dtype=dtype), torch.tensor(labels)
        for number in range(3):
            y, is_target = aten.multilabel_margin_loss_forward(x.double(), target, number)
            cases.add("aclnnMultilabelMarginLoss", self=x, target=target, reduction=number, out=Out(y.to(dtype)), isTarget=Out(is_target.to(dtype)))
x = noise(2, 3)
cases.add("aclnnMultilabelMarginLoss", self=x, target=torch.zeros(2, 2, dtype=torch.int64), reduction=0, out=Out(noise(2), False), isTarget=Out(x, False),
          refuse=(161002, "target has the shape"))

# Alignments of labels: times, batch, classes, lengths, labels, their lengths.
for dtype in [f32, f64]:
    for times, classes, inputs, labels, targets, blank in [
        (5, 4, [5, 4], [[1, 2, 1], [3, 3, 0]], [3, 2], 0), (4, 3, [4], [[2, 2, 2]], [3], 0), (6, 5, [6, 3, 0], [[0, 1], [4, 0], [0, 0]], [2, 1, 0], 2),
        (3, 3, [3, 3], [[], []], [0, 0], 1),
    ]:
        x = noise(times, len(inputs), classes, dtype=dtype).log_softmax(2)
        target = torch.tensor(labels, dtype=torch.int64).reshape(len(inputs), -1)
        forms = [target]
        if target.numel():
            forms.append(torch.cat([row[:length] for row, length in zip(target, targets, strict=True)]))
        for form in forms:
            for zero in [False, True]:
                loss, alpha = aten._ctc_loss(x.double(), form, inputs, targets, blank, zero)
                # Times and states that an item does not have are left as they are by PyTorch.
                for item in range(len(inputs)):
                    alpha[item, inputs[item] :] = -float("inf")
                    alpha[item, :, 2 * targets[item] + 1 :] = -float("inf")
                given = dict(logProbs=x, targets=form, inputLengths=inputs, blank=blank, zeroInfinity=zero, within=WITHIN[dtype])
                cases.add("aclnnCtcLoss", targetlengths=targets, negLogLikelihoodOut=Out(loss.to(dtype)), logAlphaOut=Out(alpha.to(dtype)), **given)
                if not zero and loss.isinf().any():
                    continue
                gradient = noise(len(inputs), dtype=dtype)
                to_x = aten._ctc_loss_backward(gradient.double(), x.double(), form, inputs, targets, loss, alpha, blank, zero)
                for item in range(len(inputs)):
                    to_x[inputs[item] :, item] = 0
                cases.add("aclnnCtcLossBackward", gradOut=gradient, targetLengths=targets, negLogLikelihood=loss.to(dtype), logAlpha=alpha.to(dtype),
                          out=Out(to_x.to(dtype)), **given)
x = noise(4, 2, 3).log_softmax(2)
given = dict(logProbs=x, targets=torch.ones(2, 2, dtype=torch.int64), zeroInfinity=False, negLogLikelihoodOut=Out(noise(2), False),
             logAlphaOut=Out(noise(2, 4, 5), False))
for inputs, targets, blank, text in [([5, 4], [2, 2], 0, "inputLengths"), ([4], [2, 2], 0, "inputLengths"), ([4, 4], [2, 3], 0, "targets has the shape"),
                                     ([4, 4], [2, 2], 3, "blank is 3")]:
    cases.add("aclnnCtcLoss", inputLengths=inputs, targetlengths=targets, blank=blank, refuse=(161002, text), **given)
cases.add("aclnnCtcLoss", inputLengths=[4, 4], targetlengths=[2, 2], blank=0, refuse=(161002, "at least"), **{**given, "logAlphaOut": Out(noise(2, 4, 4), False)})
cases.write()
