"""Runs every optimizer of `torch.optim` and `torch_npu.optim` for 20 steps on the device, and compares with the CPU.

    python optimizers.py [--only REGEX] [--page PAGE.md]      fails where an entry is wrong

The configurations of `torch.optim` are those of PyTorch's own database (torch.testing._internal.common_optimizers), each in every
implementation (one tensor after the other, foreach, fused, differentiable), and with its state on the device (capturable). The
reference is the CPU, one tensor after the other, in float64. A result is right if it is within 1e-5 of the reference, or no further
from it than four times the largest distance of the CPU in the type of the parameters, among the tensors of its kind. Parameters and the
state of the optimizer are compared; of L-BFGS, whose state is a quotient of what converges to 0, the parameters.

The optimizers of `torch_npu.optim` are compared with the one of PyTorch that they fuse, or with their published definition below.
"""

import argparse
import collections
import copy
import math
import re
import sys
import warnings

import torch
import torch_npu  # noqa: F401  (registers the device "npu")
from torch.testing._internal import common_optimizers
from torch_npu import optim as npu_optim

STEPS = 20
SHAPES = [(4, 5), (7,), (2, 3, 2), (1,)]
RIGHT, REFUSED, UNSUPPORTED, WRONG = "right", "PyTorch or the adapter refuses it", "not supported", "wrong"


class Entry:
    """One configuration of an optimizer, and how it is called on the device and in the reference."""

    def __init__(self, name, description, make, reference, dtype=torch.float32, shapes=None, sparse=False, closure=False, state=True):
        self.name, self.description, self.make, self.reference = name, description, make, reference
        self.dtype, self.shapes, self.sparse, self.closure, self.state = dtype, shapes or SHAPES, sparse, closure, state

    def label(self):
        return f"{self.name}: {self.description}, {str(self.dtype).removeprefix('torch.')}"


def gradients(entry):
    """The gradients of every step, as a function of nothing but the shapes."""
    generator = torch.Generator().manual_seed(7)
    steps = []
    for _ in range(STEPS):
        drawn = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in entry.shapes]
        steps.append([rounded(each, entry.dtype) for each in drawn])
    return steps


def rounded(values, dtype):
    if dtype.is_complex:
        return torch.complex(values, values.flip(0)).to(dtype)
    return values.to(dtype)


def as_gradient(values, entry, device):
    if not entry.sparse:
        return values.to(device)
    rows = torch.arange(0, values.shape[0], 2)
    # Each row twice, in parts: an optimizer has to add them up.
    indices = torch.cat([rows, rows])[None]
    parts = torch.cat([values[rows] * 0.25, values[rows] * 0.75])
    return torch.sparse_coo_tensor(indices, parts, values.shape).to(device)


def run(entry, make, device, dtype):
    """Returns the parameters and the state after all steps."""
    generator = torch.Generator().manual_seed(3)
    start = [rounded(torch.randn(shape, generator=generator, dtype=torch.float64), entry.dtype) for shape in entry.shapes]
    parameters = [torch.nn.Parameter(each.to(dtype).to(device)) for each in start]
    optimizer = make(parameters)
    for given in gradients(entry):
        given = [each.to(dtype) for each in given]

        def closure(given=given):
            # A bowl around the drawn point: the gradient is linear in the parameters.
            optimizer.zero_grad()
            loss = sum(((one - two.to(device)).abs() ** 2).sum() for one, two in zip(parameters, given, strict=True))
            loss.backward()
            return loss

        if entry.closure:
            optimizer.step(closure)
            continue
        for parameter, gradient in zip(parameters, given, strict=True):
            own = as_gradient(gradient, entry, device)
            if parameter.grad is None or entry.sparse:
                parameter.grad = own
            else:
                # In place: the fused optimizers of the adapter keep all gradients in one tensor.
                parameter.grad.copy_(own)
        optimizer.step()
    found = {f"parameter {index}": parameter.detach().cpu() for index, parameter in enumerate(parameters)}
    if entry.state:
        for index, parameter in enumerate(parameters):
            for name, value in optimizer.state[parameter].items():
                if isinstance(value, torch.Tensor) and not value.is_sparse:
                    found[f"{name} of parameter {index}"] = value.detach().cpu()
    return found


def wide(values):
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def distance(found, exact):
    difference = (wide(found) - wide(exact)).abs()
    return math.inf if difference.isnan().any() else difference.max().item() if difference.numel() else 0.0


def difference(entry):
    """None, or a sentence that says what differs from the reference."""
    exact_dtype = torch.complex128 if entry.dtype.is_complex else torch.float64
    exact = run(entry, entry.reference, "cpu", exact_dtype)
    near = run(entry, entry.reference, "cpu", entry.dtype)
    found = run(entry, entry.make, "npu", entry.dtype)
    for name, values in exact.items():
        if name not in found:
            if name.startswith("parameter") or name not in near:
                return f"{name} is missing"
            continue
        own = found[name]
        if own.numel() != values.numel():
            return f"{name} has the shape {tuple(own.shape)}, not {tuple(values.shape)}"
        own = own.reshape(values.shape)
        kind = name.split()[0]
        alike = [other for other in exact if other.split()[0] == kind and near[other].shape == exact[other].shape]
        scale = max(1.0, values.abs().max().item() if values.numel() else 0.0)
        allowed = max(1e-5 * scale, 4 * max(distance(near[other], exact[other]) for other in alike))
        if not distance(own, values) <= allowed:
            return f"{name} differs by {distance(own, values):.3g}; {allowed:.3g} is allowed"
    return None


# The optimizers of torch.optim.


def configurations():
    """The entries of PyTorch's database, in every implementation."""
    entries = []
    for info in common_optimizers.optim_db:
        # The configurations of a device with kernels of its own, whose state may be there.
        inputs = info.optim_inputs_func(device="cuda")
        kinds = [torch.float32]
        kinds += [torch.complex64] if info.supports_complex and not info.only_supports_sparse_grads else []
        for given in inputs:
            for flag in ["", *info.supported_impls]:
                for dtype in [*kinds, torch.bfloat16, torch.float16]:
                    entries.append(configuration(info, given, flag, dtype))
    return [entry for entry in entries if entry is not None]


def configuration(info, given, flag, dtype):
    """An entry of a configuration, or None where PyTorch does not define it."""
    kwargs = {name: value for name, value in given.kwargs.items() if name not in ("foreach", "fused", "differentiable")}
    if dtype in (torch.bfloat16, torch.float16):
        # Types that lose the default epsilon; the fused kernels and those of lists are what computes in them.
        if flag not in ("fused", "foreach") or info.step_requires_closure:
            return None
        if "eps" in kwargs or info.optim_cls.__name__ in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop", "Adadelta"):
            kwargs["eps"] = 0.1
    if dtype.is_complex and flag == "fused":
        return None
    if kwargs.get("capturable") and flag == "differentiable":
        return None

    def make(parameters):
        own = copy.deepcopy(kwargs)
        if flag != "differentiable":
            own |= {flag: True} if flag else {name: False for name in info.supported_impls}
        else:
            own["differentiable"] = True
        if (kwargs.get("capturable") or flag == "fused") and isinstance(own.get("lr"), torch.Tensor):
            own["lr"] = own["lr"].to("npu")
        optimizer = info.optim_cls(parameters, **own)
        if flag == "differentiable":
            # The step is recorded by autograd, and a leaf is not written then: what is written here needs no gradient.
            for parameter in parameters:
                parameter.requires_grad_(False)
        return optimizer

    def reference(parameters):
        own = {name: plain(value) for name, value in kwargs.items() if name != "capturable"}
        return info.optim_cls(parameters, **own, **{name: False for name in info.supported_impls if name != "fused"})

    sparse = info.only_supports_sparse_grads
    two = info.optim_cls.__name__ == "Muon"
    shapes = [(4, 5), (6, 3)] if sparse or two else None
    description = " & ".join(filter(None, [given.desc or "default", flag]))
    return Entry(info.optim_cls.__name__, description, make, reference, dtype, shapes, sparse, info.step_requires_closure, not info.step_requires_closure)


def plain(value):
    if isinstance(value, torch.Tensor):
        return value.item()
    if isinstance(value, tuple):
        return tuple(plain(each) for each in value)
    return value


# The optimizers of torch_npu.optim that PyTorch has not, by their published definitions.


class Defined(torch.optim.Optimizer):
    """An optimizer whose step is a function of a parameter, its gradient, its state and its options."""

    def __init__(self, parameters, step, **options):
        self.function = step
        super().__init__(parameters, options)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                self.function(parameter, parameter.grad, self.state[parameter], group)


def moments(parameter, gradient, state, betas):
    state.setdefault("first", torch.zeros_like(parameter))
    state.setdefault("second", torch.zeros_like(parameter))
    state["count"] = state.get("count", 0) + 1
    state["first"] = betas[0] * state["first"] + (1 - betas[0]) * gradient
    state["second"] = betas[1] * state["second"] + (1 - betas[1]) * gradient**2
    return state["first"], state["second"], state["count"]


def lamb(parameter, gradient, state, group):
    """You et al., 2019, without bias correction; norms of weights are at most 10."""
    first, second, _ = moments(parameter, gradient, state, group["betas"])
    change = first / (second.sqrt() + group["eps"]) + group["weight_decay"] * parameter
    weight, own = parameter.norm().clamp(0, 10), change.norm()
    ratio = 1.0 if group["adam"] or weight == 0 or own == 0 else weight / own
    parameter.sub_(group["lr"] * ratio * change)


def bert_adam(parameter, gradient, state, group):
    """Adam without bias correction and with decay of weights beside the gradient, as BERT was trained."""
    first, second, _ = moments(parameter, gradient, state, (group["b1"], group["b2"]))
    parameter.sub_(group["lr"] * (first / (second.sqrt() + group["e"]) + group["weight_decay"] * parameter))


def adam_p(parameter, gradient, state, group):
    """Heo et al., 2020: steps of scale-invariant weights are projected to the tangent of their sphere."""
    betas, eps = group["betas"], group["eps"]
    first, second, count = moments(parameter, gradient, state, betas)
    root = (second / (1 - betas[1] ** count)).sqrt() + eps
    change = (betas[0] * first + (1 - betas[0]) * gradient if group["nesterov"] else first) / root
    decay = 1.0
    if parameter.dim() > 1:
        for view in (lambda each: each.reshape(each.shape[0], -1), lambda each: each.reshape(1, -1)):
            cosine = torch.nn.functional.cosine_similarity(view(gradient), view(parameter), dim=1, eps=eps).abs()
            if cosine.max() < group["delta"] / math.sqrt(view(parameter).shape[1]):
                unit = view(parameter) / (view(parameter).norm(dim=1, keepdim=True) + eps)
                change = (view(change) - unit * (unit * view(change)).sum(1, keepdim=True)).reshape(change.shape)
                decay = group["wd_ratio"]
                break
    parameter.mul_(1 - group["lr"] * group["weight_decay"] * decay)
    parameter.sub_(group["lr"] / (1 - betas[0] ** count) * change)


def rmsprop_tf(parameter, gradient, state, group):
    """RMSprop as in TensorFlow: the average starts at 1, and epsilon is inside the root."""
    square = state.setdefault("square", torch.ones_like(parameter))
    if group["weight_decay"] and group["decoupled_decay"]:
        parameter.sub_(group["weight_decay"] * parameter)
    elif group["weight_decay"]:
        gradient = gradient + group["weight_decay"] * parameter
    state["square"] = square = square + (1 - group["alpha"]) * (gradient**2 - square)
    if group["centered"]:
        mean = state.setdefault("mean", torch.zeros_like(parameter))
        state["mean"] = mean = mean + (1 - group["alpha"]) * (gradient - mean)
        square = square - mean**2
    step = gradient / (square + group["eps"]).sqrt()
    if group["momentum"]:
        buffer = state.get("buffer", torch.zeros_like(parameter))
        state["buffer"] = group["momentum"] * buffer + (group["lr"] * step if group["lr_in_momentum"] else step)
        step = state["buffer"] if group["lr_in_momentum"] else group["lr"] * state["buffer"]
        parameter.sub_(step)
    else:
        parameter.sub_(group["lr"] * step)


FUSED = [
    ("NpuFusedSGD", torch.optim.SGD, [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}, {"lr": 0.1, "momentum": 0.9, "nesterov": True}, {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}]),
    ("NpuFusedAdam", torch.optim.Adam, [{"lr": 0.01}, {"lr": 0.01, "weight_decay": 0.1}, {"lr": 0.01, "amsgrad": True}]),
    ("NpuFusedAdamW", torch.optim.AdamW, [{"lr": 0.01}, {"lr": 0.01, "weight_decay": 0.1}, {"lr": 0.01, "amsgrad": True}]),
    ("NpuFusedAdadelta", torch.optim.Adadelta, [{}, {"lr": 0.5, "weight_decay": 0.1}]),
    ("NpuFusedRMSprop", torch.optim.RMSprop, [{}, {"momentum": 0.9}, {"centered": True}, {"momentum": 0.9, "centered": True, "weight_decay": 0.1}]),
    ("NpuFusedLamb", lamb, [{}, {"lr": 0.01, "weight_decay": 0.1}, {"lr": 0.01, "adam": True}]),
    ("NpuFusedBertAdam", bert_adam, [{"lr": 0.01, "max_grad_norm": -1}, {"lr": 0.01, "max_grad_norm": -1, "weight_decay": 0.1}]),
    ("NpuFusedAdamP", adam_p, [{}, {"lr": 0.01, "weight_decay": 0.1, "delta": 5.0}, {"lr": 0.01, "nesterov": True}]),
    ("NpuFusedRMSpropTF", rmsprop_tf, [{}, {"momentum": 0.9}, {"momentum": 0.9, "lr_in_momentum": False, "weight_decay": 0.1}, {"centered": True, "weight_decay": 0.1, "decoupled_decay": True}]),
]
DEFAULTS = {
    "NpuFusedLamb": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-6, "weight_decay": 0, "adam": False},
    "NpuFusedBertAdam": {"b1": 0.9, "b2": 0.999, "e": 1e-6, "weight_decay": 0.01, "max_grad_norm": -1},
    "NpuFusedAdamP": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "delta": 0.1, "wd_ratio": 0.1, "nesterov": False},
    "NpuFusedRMSpropTF": {"lr": 1e-2, "alpha": 0.9, "eps": 1e-10, "weight_decay": 0, "momentum": 0.0, "centered": False, "decoupled_decay": False, "lr_in_momentum": True},
}


def fused():
    """The entries of torch_npu.optim."""
    entries = []
    for name, definition, options in FUSED:
        kind = getattr(npu_optim, name, None)
        if kind is None:
            continue
        for kwargs in options:
            make = lambda parameters, kind=kind, kwargs=kwargs: kind(parameters, **kwargs)  # noqa: E731
            if name in DEFAULTS:
                every = {**DEFAULTS[name], **kwargs}
                reference = lambda parameters, definition=definition, every=every: Defined(parameters, definition, **every)  # noqa: E731
            else:
                reference = lambda parameters, definition=definition, kwargs=kwargs: definition(parameters, foreach=False, **kwargs)  # noqa: E731
            description = ", ".join(f"{key}={value}" for key, value in kwargs.items()) or "default"
            entries.append(Entry(name, description, make, reference, state=False))
    return entries


def outcome(entry):
    """Returns the state of an entry, and a text."""
    try:
        problem = difference(entry)
    except Exception as error:  # noqa: BLE001  (a refusal is a result)
        sentences = [line.strip() for line in str(error).splitlines() if line.strip()]
        named = re.search(r"\b(aclnn\w+|aclop\w+)\b", str(error))
        # The device still has to compute: a failed operator may leave it in a state that loses work.
        if (torch.arange(5).npu() + 1).cpu().tolist() != [1, 2, 3, 4, 5]:
            return WRONG, "the device lost its work"
        ours = [line for line in sentences if re.search(r"aclnn\w+: |is not supported", line)]
        if named or ours:
            return UNSUPPORTED, (ours or sentences)[-1][:240]
        return REFUSED, f"{type(error).__name__}: {sentences[0] if sentences else ''}"[:240]
    return (WRONG, problem) if problem else (RIGHT, "")


PAGE = """# Optimizers of PyTorch

`tests/pytorch/optimizers.py` writes this page with `--page`, with PyTorch {torch} and its adapter {adapter}. Every configuration of PyTorch's own
database of optimizers runs {steps} steps in every implementation, and so does every optimizer of `torch_npu.optim`. Parameters and state are compared
with the CPU in float64: 1e-5, or four times the distance of the CPU in the type of the parameters.

| optimizer | right | not supported | refused by PyTorch or the adapter | wrong |
|---|---|---|---|---|
"""


def write_page(path, results):
    table = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(list)
    for entry, state, text in results:
        table[entry.name][state] += 1
        if state != RIGHT:
            reasons[(state, entry.name, text)].append(entry)
    with open(path, "w", encoding="utf-8") as page:
        page.write(PAGE.format(torch=torch.__version__.split("+")[0], adapter=torch_npu.__version__.split("+")[0], steps=STEPS))
        for name, counts in table.items():
            page.write(f"| {name} | {counts[RIGHT]} | {counts[UNSUPPORTED] or ''} | {counts[REFUSED] or ''} | {counts[WRONG] or ''} |\n")
        total = collections.Counter(state for _, state, _ in results)
        page.write(f"| all | {total[RIGHT]} | {total[UNSUPPORTED] or ''} | {total[REFUSED] or ''} | {total[WRONG] or ''} |\n")
        if reasons:
            page.write("\n## What is not right\n\n| optimizer | configurations | | reason |\n|---|---|---|---|\n")
        for (state, name, text), entries in reasons.items():
            text = text.replace("|", "\\|").replace("<", "&lt;")
            page.write(f"| {name} | {len(entries)}: {entries[0].description} | {state} | {text} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression of entries")
    parser.add_argument("--page", help="the page that is written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.npu.set_device(0)
    results = []
    for entry in [*configurations(), *fused()]:
        if not re.search(options.only, entry.label()):
            continue
        state, text = outcome(entry)
        results.append((entry, state, text))
        if state != RIGHT:
            print(f"{entry.label()}: {state}: {text}", flush=True)
    counts = collections.Counter(state for _, state, _ in results)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    if options.page:
        write_page(options.page, results)
    return 1 if counts[WRONG] or not counts[RIGHT] else 0


if __name__ == "__main__":
    sys.exit(main())
