"""Runs PyTorch's databases of modules and of functions of lists (foreach) through the prebuilt adapter, and compares with the CPU.

    python modules.py [--only REGEX] [--update]

Every configuration of a module runs forward and backward, in training and in evaluation where these differ; every function of lists
runs and writes in place. Values count as right within the tolerances of torch.testing for the type. The result is compared with the one
that is stored in modules.json: the program fails where an entry was right and is not any more. `--update` stores the result, and writes
docs/pytorch-modules.md.
"""

import argparse
import collections
import copy
import json
import os
import re
import sys
import warnings

# A call that is refused ends there, and not in a thread whose later work is lost with it.
os.environ.setdefault("TASK_QUEUE_ENABLE", "0")

import opinfo
import torch
import torch_npu  # noqa: F401  (registers the device "npu")
from torch.testing._internal import common_device_type, common_methods_invocations, common_modules

HERE = os.path.dirname(os.path.abspath(__file__))
STORED = os.path.join(HERE, "modules.json")
PAGE = os.path.join(HERE, "..", "..", "docs", "pytorch-modules.md")
SAMPLES = 12
FOREACH = [getattr(common_methods_invocations, f"foreach_{kind}_op_db", []) for kind in ("unary", "binary", "pointwise", "reduce", "other")]
FOREACH_TYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int64]


class Plain:
    """What a comparison asks an operator for: tolerances of its own."""

    decorators = ()


def comparison(dtype):
    return opinfo.Comparison(torch, Plain, dtype, common_device_type)


def thinned(samples):
    samples = list(samples)
    return samples[:: max(1, len(samples) // SAMPLES)][:SAMPLES]


def refusal(error):
    """Who refused a call, and the sentence that says why."""
    kind, why = opinfo.refusal(error)
    sentence = re.search(r"^E\w\d{4}: (.*)", str(error), re.MULTILINE)
    return kind, sentence[1] if kind == opinfo.JUMAR and sentence else why


def moved(value, device):
    """Copies the tensors of a value to a device, as leaves."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().to(device).requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(moved(each, device) for each in value)
    if isinstance(value, dict):
        return {key: moved(each, device) for key, each in value.items()}
    return value


def forward_and_backward(module, given, device):
    """Returns the results, and the gradients of inputs and parameters or None."""
    args, kwargs = moved(list(given.args), device), moved(given.kwargs, device)
    torch.manual_seed(0)
    found = module(*args, **kwargs)
    results = [each for each in opinfo.tensors(found, torch) if each.requires_grad]
    leaves = [each for each in opinfo.tensors([args, kwargs], torch) if each.requires_grad and each.is_leaf] + list(module.parameters())
    if not results or not leaves:
        return found, None
    generator = torch.Generator().manual_seed(1)
    weights = [torch.randn(each.shape, generator=generator, dtype=torch.float64).to(each.dtype).to(device) for each in results]
    gradients = torch.autograd.grad(results, leaves, weights, allow_unused=True)
    return found, [torch.zeros_like(leaf) if each is None else each for each, leaf in zip(gradients, leaves, strict=True)]


def module_on(info, given, device, training):
    torch.manual_seed(0)
    args, kwargs = given.constructor_input.args, given.constructor_input.kwargs
    module = info.module_cls(*copy.deepcopy(args), **copy.deepcopy(kwargs)).to(torch.float32)
    if any(torch.nn.parameter.is_lazy(parameter) for parameter in module.parameters()):
        module(*moved(list(given.forward_input.args), "cpu"), **moved(given.forward_input.kwargs, "cpu"))
    # Parameters that start as zeros or ones would hide what they do.
    for parameter in module.parameters():
        if parameter.dtype.is_floating_point:
            parameter.data.add_(torch.randn(parameter.shape) * 0.1)
    return module.train(training).to(device)


def of_module(info, training):
    """Returns the state of an entry and a text."""
    state, text, ran = opinfo.RIGHT, "", 0
    try:
        inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=training)
    except Exception:  # noqa: BLE001  (the database has no such mode)
        return None, ""
    for number, given in enumerate(thinned(each for each in inputs if each.forward_input is not None)):
        try:
            wanted = forward_and_backward(module_on(info, given, "cpu", training), given.forward_input, "cpu")
            again = forward_and_backward(module_on(info, given, "cpu", training), given.forward_input, "cpu")
        except Exception:  # noqa: BLE001  (whatever the CPU refuses is not compared)
            continue
        ran += 1
        compared = comparison(torch.float32)
        random = compared.difference(again[0], wanted[0]) is not None or training and re.search("Dropout|RReLU|FractionalMax", info.name)
        try:
            found = forward_and_backward(module_on(info, given, "npu", training), given.forward_input, "npu")
        except Exception as error:  # noqa: BLE001  (every refusal is a result)
            kind, why = refusal(error)
            return kind, f"sample {number}: {why}"
        compared.near = ""
        problem = compared.difference(found[0], wanted[0], not random)
        if problem is None and found[1] is not None and wanted[1] is not None and not random:
            problem = compared.difference(found[1], wanted[1])
            problem = problem and problem.replace("result", "gradient")
        if problem and compared.in_layout:
            state, text = opinfo.DEVIATES, f"sample {number}: {problem}"
        elif problem:
            return opinfo.WRONG, f"sample {number}: {problem}"
        if state == opinfo.DEVIATES:
            continue
        if random:
            state = opinfo.SHAPES
        elif compared.near and state == opinfo.RIGHT:
            state, text = opinfo.NEAR, compared.near
    return (state, text) if ran else (None, "")


def of_list(op, dtype, in_place):
    """Returns the state of a function of lists and a text."""
    function = op.inplace_variant if in_place else op.method_variant
    if function is None:
        return None, ""
    state, text, ran = opinfo.RIGHT, "", 0
    for number, sample in enumerate(thinned(op.sample_inputs("cpu", dtype, noncontiguous=False))):
        kwargs = {name: value for name, value in sample.kwargs.items() if name not in ("disable_fastpath", "zero_size")}
        lists = [moved([list(sample.input), sample.args, kwargs], device) for device in ("cpu", "npu")]
        try:
            wanted = function(lists[0][0], *lists[0][1], **lists[0][2])
        except Exception:  # noqa: BLE001  (whatever the CPU refuses is not compared)
            continue
        ran += 1
        try:
            found = function(lists[1][0], *lists[1][1], **lists[1][2])
        except Exception as error:  # noqa: BLE001  (every refusal is a result)
            kind, why = refusal(error)
            return kind, f"sample {number}: {why}"
        if in_place:
            found, wanted = lists[1][0], lists[0][0]
        compared = comparison(dtype)
        problem = compared.difference(found, wanted)
        if problem and dtype in (torch.float16, torch.bfloat16):
            # The CPU may round in between: what it computes in float32 decides.
            wide = moved([list(sample.input), sample.args, kwargs], "cpu")
            wide = [[each.float() if isinstance(each, torch.Tensor) else each for each in part] if isinstance(part, list) else part for part in (wide[0], *wide[1])]
            try:
                exact = function(wide[0], *wide[1:], **kwargs)
                exact = [each.to(dtype) for each in opinfo.tensors(wide[0] if in_place else exact, torch)]
                problem = compared.difference(found, exact)
                state = opinfo.BETTER if problem is None else state
            except Exception:  # noqa: BLE001  (the first difference is the result then)
                pass
        if problem:
            return opinfo.WRONG, f"sample {number}: {problem}"
        if compared.near and state == opinfo.RIGHT:
            state, text = opinfo.NEAR, compared.near
    return (state, text) if ran else (None, "")


def entries():
    """Yields the name of each entry, and a function that returns its state and a text."""
    for info in common_modules.module_db:
        modes = [True, False] if info.train_and_eval_differ else [False]
        for training in modes:
            name = f"{info.name}{' in training' if training else ''}"
            yield name, lambda info=info, training=training: of_module(info, training)
    for op in (op for ops in FOREACH for op in ops):
        for dtype in FOREACH_TYPES:
            if dtype not in op.dtypes:
                continue
            for in_place in (False, True):
                name = f"{op.name}{'_' if in_place else ''}, {str(dtype).removeprefix('torch.')}"
                yield name, lambda op=op, dtype=dtype, in_place=in_place: of_list(op, dtype, in_place)


def write_page(results):
    counts = collections.Counter(entry["state"] for entry in results.values())
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write(
            "# Modules of PyTorch\n\n"
            f"`tests/pytorch/modules.py --update` writes this page, with PyTorch {torch.__version__.split('+')[0]} and its adapter {torch_npu.__version__.split('+')[0]}: every module of "
            "PyTorch's database of modules, forward\nand backward, and every function of lists (foreach), compared with the CPU.\n\n| entries | |\n|---|---|\n"
        )
        for state, count in counts.most_common():
            page.write(f"| {count} | {opinfo.MEANING[state]} |\n")
        page.write("\n## What is not equal\n\n| entry | | reason |\n|---|---|---|\n")
        for name, entry in results.items():
            if entry["state"] not in opinfo.FINE:
                text = entry.get("text", "").replace("|", "\\|").replace("<", "&lt;")
                page.write(f"| {name} | {opinfo.MEANING[entry['state']]} | {text} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression of entries")
    parser.add_argument("--update", action="store_true", help="stores the result, and writes the page")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.npu.set_device(0)
    stored = json.load(open(STORED, encoding="utf-8")) if os.path.exists(STORED) else {}
    results, worse = {}, []
    for name, run in entries():
        if not re.search(options.only, name):
            continue
        state, text = run()
        if state is None:
            continue
        results[name] = {"state": state, **({"text": text} if text else {})}
        if state not in opinfo.FINE:
            print(f"{name}: {opinfo.MEANING[state]}: {text}", flush=True)
            if stored.get(name, {}).get("state") in opinfo.FINE:
                worse.append(name)
    print(", ".join(f"{count} {state}" for state, count in collections.Counter(entry["state"] for entry in results.values()).items()))
    if options.update and not options.only:
        with open(STORED, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1, sort_keys=True)
            file.write("\n")
        write_page(results)
        return 0
    print(f"{len(worse)} worse than stored{': ' if worse else ''}{', '.join(worse)}")
    return 1 if worse or not results else 0


if __name__ == "__main__":
    sys.exit(main())
