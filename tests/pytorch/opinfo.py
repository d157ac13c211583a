"""Runs PyTorch's operator database (OpInfo) through the prebuilt adapter and compares with the CPU.

    python opinfo.py run RESULT.json [--dtypes float32,int64] [--only REGEX] [--part 2/8] [--seconds 60]
    python opinfo.py check RESULT.json STORED.json      fails where an entry was right and is not any more
    python opinfo.py page STORED.json PAGE.md           writes docs/pytorch-operators.md
    python opinfo.py summary RESULT.json

An entry of the result is one operator in one data type, forward or backward. Entries run in worker processes: one that
crashes or exceeds its time ends its worker and nothing else. Values count as right within the tolerances of the database:
those of torch.testing for the type, or the operator's own where they are wider. Values beyond them that differ by no more than
the database's own comparison of a device with the CPU (test_compare_cpu) accepts are counted apart; so are values that are
nearer than the CPU's to what the CPU computes in a wider type.

Some differences are the adapter's: it decides shape and type of a result before it calls an operator, and it passes the memory
of a lazily conjugated tensor without its conjugate bit. The first is visible in the result. For the second, the call runs once
more with conjugates resolved before each operator: where it then equals the CPU, the bit was lost above the library. PyTorch
itself computes some operators otherwise on devices other than the CPU; the CPU is asked for the same then (PASSED_ON).
"""

import argparse
import collections
import copy
import dataclasses
import datetime
import json
import os
import re
import selectors
import subprocess
import sys
import time
import warnings

DTYPES = ["float32", "float16", "bfloat16", "int64", "bool", "complex64"]
DIFFERENTIABLE = {"float32", "float16", "bfloat16", "complex64"}
# Memory that no operator wrote has no value to compare.
UNWRITTEN = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_", "resize_as_"}
SAMPLES = 6

COMPARE_CPU = 1e-3

RIGHT, NEAR, BETTER, SHAPES = "right", "near", "better", "shapes"
ADAPTER, DEVIATES, JUMAR, WRONG, CRASHED, HUNG = "adapter", "deviates", "jumar", "wrong", "crashed", "hung"
FINE = (RIGHT, NEAR, BETTER, SHAPES)
# Refusals that follow from a type which the adapter chose: norms that keep a complex type, which has no order, are compared; a
# result of floats gets the type of an input of booleans.
CHOSEN_TYPE = re.compile(r"aclnn(ClampM\w+|Maximum\w*|Minimum\w*|G[te]\w+|L[te]\w+): tensors of the type complex|aclnnAm(ax|in)\w*: reductions of complex|aclnn\w+: \w+ has the type complex|which does not convert to \w+ of out")
# What the adapter passes on for an operator, where that is not what was asked: the sample that it makes of one. A difference is
# the adapter's where the result equals the CPU's for that sample.
PASSED_ON = {
    "nn.functional.gelu": ("the adapter ignores `approximate`", lambda sample: sample.kwargs.pop("approximate", None)),
    "nn.functional.linear_cross_entropy": (
        "PyTorch adds up in float32 on the CPU alone (LinearCrossEntropyOptions.acc_policy)",
        lambda sample: sample.kwargs.update(options=as_on_accelerators(sample)),
    ),
}
# Operators whose results are nearer than the CPU's to the exact ones in 16 bits, as their own entries show. What is computed from
# the rounded results, a gradient or another operator, is then compared with what the CPU's results in their stead lead to.
NEARER_PARTS = {"aten._log_softmax.default"}
# Operators that select elements, with the position of their parameter `dim` behind the input, and of the indices among their
# results. Which of several equal elements they select is not defined where `stable` is not asked for.
SELECTING = {"sort": (0, 1), "argsort": (0, 0), "msort": (None, None), "topk": (1, 1), "kthvalue": (1, 1)}
# Operators whose arguments mean something else in the adapter.
OTHER_MEANING = {"native_dropout_backward": "the adapter's mask has one bit an element, as its native_dropout returns it"}
# Operators whose result has a shape that depends on data: the library reports it.
REPORTED_SHAPES = {"argwhere", "masked_select", "nonzero", "unique", "unique_consecutive"}
MEANING = {
    RIGHT: "equals the CPU",
    NEAR: "equals the CPU within 1e-3, the tolerance of the database's test_compare_cpu, and not within that of the type",
    BETTER: "nearer than the CPU to the CPU's result in the next wider type",
    SHAPES: "random or unwritten values: shapes and types equal those of the CPU",
    ADAPTER: "the adapter refuses it",
    DEVIATES: "the adapter's own difference: a shape or a type that it chooses, a conjugate bit that it drops; or PyTorch's, by device",
    JUMAR: "Jumar refuses it: the operator that is missing, or the case",
    WRONG: "differs from the CPU",
    CRASHED: "ended the process",
    HUNG: "did not end in time",
}


def as_on_accelerators(sample):
    """The options of a sample, with what PyTorch chooses for devices other than the CPU."""
    options = sample.kwargs.get("options")
    if options is None or options.acc_policy != "auto" or options.acc_dtype is not None:
        return options
    return dataclasses.replace(options, acc_policy="compact", acc_dtype=sample.input.dtype)


# The worker: one line of JSON in, one line of JSON out.


def on_device(value, torch):
    """Moves the tensors of a sample to the device."""
    if isinstance(value, torch.Tensor):
        moved = value.detach().to("npu")
        return moved.requires_grad_(value.requires_grad)
    if isinstance(value, torch.device) or value == "cpu" and isinstance(value, str):
        return torch.device("npu:0")
    if isinstance(value, torch.Generator):
        return None
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(on_device(each, torch) for each in value))
    if isinstance(value, (list, tuple)):
        return type(value)(on_device(each, torch) for each in value)
    if isinstance(value, dict):
        return {key: on_device(each, torch) for key, each in value.items()}
    return value


def tensors(value, torch):
    """All tensors of a nested value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for each in value for tensor in tensors(each, torch)]
    return []


def overrides(op, dtype, testing):
    """The tolerances that the database states for an operator and a type."""
    found = []
    for info in op.decorators:
        for decorator in getattr(info, "decorators", [info]):
            if isinstance(decorator, testing.toleranceOverride) and dtype in decorator.d:
                found.append(decorator.d[dtype])
    return found


def resolved_conjugates():
    """A mode that resolves lazy conjugation and negation of what operators read."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    class Resolved(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            # Views keep the bit, and a tensor that is written keeps its memory.
            reads = not function._schema.is_mutable and all(result.alias_info is None for result in function._schema.returns)

            def resolved(value):
                return value.resolve_conj().resolve_neg() if isinstance(value, torch.Tensor) else value

            if function is torch.ops.aten.vdot.default:
                # The adapter computes it with the bit that it then drops.
                return torch.dot(args[0].resolve_conj().conj_physical(), args[1].resolve_conj())
            if reads:
                args, kwargs = tree_map(resolved, args), tree_map(resolved, kwargs or {})
            return function(*args, **(kwargs or {}))

    return Resolved()


def with_parts_of_the_cpu():
    """A mode that takes the results of some operators from the CPU."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    class Parts(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if str(function) not in NEARER_PARTS:
                return function(*args, **(kwargs or {}))
            args, kwargs = tree_map(lambda value: value.cpu() if hasattr(value, "cpu") else value, (args, kwargs or {}))
            return function(*args, **kwargs).npu()

    return Parts()


def refusal(error):
    """Who refused a call, and what: the adapter, or Jumar with the name of the operator."""
    text = str(error)
    named = re.search(r"call (aclnn\w+) failed", text) or re.search(r"\b(aclnn\w+)\b", text)
    # The library's own sentence comes last.
    sentences = [line.strip() for line in text.splitlines() if re.search(r"aclnn\w+(: | is not supported)", line)]
    if named and re.search(r"561\d\d\d|161\d\d\d|not supported", text):
        return JUMAR, (sentences[-1] if sentences else named[1])[:200]
    if "aclopCompileAndExecute" in text or re.search(r"\bcall aclop", text) or "aclop" in text:
        operator = re.search(r"(?:op_?type|operator|OpType)\W+(\w+)", text)
        return JUMAR, f"aclop {operator[1] if operator else ''}".strip()
    if re.search(r"error code is (\d+)", text):
        return JUMAR, text.strip().splitlines()[-1][:200]
    return ADAPTER, f"{type(error).__name__}: {text.strip().splitlines()[0] if text.strip() else ''}"[:160]


class Comparison:
    """Compares results with those of the CPU."""

    def __init__(self, torch, op, dtype, testing):
        self.torch, self.dtype = torch, dtype
        self.wider = overrides(op, dtype, testing)
        self.near = ""
        # Whether a result has a type that cannot hold its values, so that gradients of it mean nothing.
        self.lossy = False
        # Whether the last difference is one of shape or type.
        self.in_layout = False

    def tolerance(self, dtype):
        relative, absolute = self.torch.testing._comparison.default_tolerances(dtype)
        for override in self.wider:
            relative, absolute = max(relative, override.rtol), max(absolute, override.atol)
        return relative, absolute

    def difference(self, found, wanted, values=True):
        """None, or a sentence that says how two results differ."""
        torch = self.torch
        self.in_layout = True
        found, wanted = tensors(found, torch), tensors(wanted, torch)
        if len(found) != len(wanted):
            return f"{len(found)} results, not {len(wanted)}"
        layout = None
        for index, (own, other) in enumerate(zip(found, wanted, strict=True)):
            if own.is_sparse or other.is_sparse or own.layout != torch.strided:
                own, other = own.to_dense(), other.to_dense()
            own = own.detach().cpu()
            other = other.detach()
            if own.shape != other.shape:
                layout = layout or f"result {index} has the shape {tuple(own.shape)}, not {tuple(other.shape)}"
                continue
            if own.dtype != other.dtype and not (other.dtype == torch.float64 and own.dtype == torch.float32):
                layout = layout or f"result {index} has the type {own.dtype}, not {other.dtype}"
                if own.is_complex() and not other.is_complex():
                    own = own.real
                elif other.is_complex() != own.is_complex() or other.is_floating_point() != own.is_floating_point():
                    self.lossy = True
                    continue
            if not values:
                continue
            relative, absolute = self.tolerance(self.dtype if self.dtype.is_floating_point or self.dtype.is_complex else own.dtype)
            own = own.to(other.dtype)
            if torch.allclose(own, other, relative, absolute, equal_nan=True) if own.numel() else True:
                continue
            wide_enough = self.dtype not in (torch.float16, torch.bfloat16) and own.dtype in (torch.float32, torch.complex64)
            if wide_enough and torch.allclose(own, other, COMPARE_CPU, COMPARE_CPU, equal_nan=True):
                self.near = "beyond the tolerance of the type"
                continue
            self.in_layout = False
            wide = torch.complex128 if own.is_complex() else torch.float64
            distance = (own.to(wide) - other.to(wide)).abs()
            return f"result {index} differs by up to {distance.nan_to_num(float('inf')).max().item():.2g}"
        return layout

    def is_nearer(self, found, wanted, exact):
        """Whether each result is as near to the exact one as the tolerance asks, or as the CPU's is."""
        torch = self.torch
        found, wanted, exact = (tensors(each, torch) for each in (found, wanted, exact))
        if not len(found) == len(wanted) == len(exact):
            return False
        for own, other, true in zip(found, wanted, exact, strict=True):
            own, other, true = own.detach().cpu(), other.detach(), true.detach()
            if not own.is_floating_point() and not own.is_complex():
                if not torch.equal(own, other):
                    return False
                continue
            if own.shape != other.shape:
                # The adapter's choice: compared as a difference of shapes.
                continue
            rounded = true.to(own.dtype)
            if torch.allclose(own, rounded, *self.tolerance(self.dtype), equal_nan=True):
                continue
            wide = torch.complex128 if own.is_complex() else torch.float64
            own, other, true = own.to(wide), other.to(wide), true.to(wide)
            if not torch.equal(own.isfinite(), true.isfinite()):
                return False
            if (own - true).abs().nan_to_num(0).max() > (other - true).abs().nan_to_num(float("inf")).max():
                return False
        return True


class Worker:
    def __init__(self):
        import torch
        import torch_npu  # noqa: F401  (registers the device "npu")
        from torch.testing._internal import common_device_type, common_methods_invocations

        warnings.simplefilter("ignore")
        torch.npu.set_device(0)
        self.torch, self.testing = torch, common_device_type
        self.ops = {f"{op.name}{'.' if op.variant_test_name else ''}{op.variant_test_name}": op for op in common_methods_invocations.op_db}

    def healthy(self):
        """Whether the device still computes: a failed operator may leave it in a state that loses work."""
        torch = self.torch
        try:
            return (torch.arange(5).npu() + 1).cpu().tolist() == [1, 2, 3, 4, 5]
        except RuntimeError:
            return False

    def samples(self, op, dtype, gradient):
        self.torch.manual_seed(0)
        samples = list(op.sample_inputs("cpu", dtype, requires_grad=gradient))
        step = max(1, len(samples) // SAMPLES)
        return samples[::step][:SAMPLES]

    def run(self, name, dtype_name, backward):
        torch, op = self.torch, self.ops[name]
        dtype = getattr(torch, dtype_name)
        comparison = Comparison(torch, op, dtype, self.testing)
        shapes_only = op.name in UNWRITTEN
        ran, better, excused = 0, False, None
        for number, sample in enumerate(self.samples(op, dtype, backward)):
            try:
                wanted, again, wanted_gradients = self.on_cpu(op, sample, backward)
            except Exception:  # noqa: BLE001  (whatever the CPU refuses is not compared)
                continue
            ran += 1
            random = shapes_only or comparison.difference(again, wanted) is not None
            comparison.near = "" if random else comparison.near
            try:
                found, gradients = self.on_device(op, sample, backward and wanted_gradients is not None and not random)
                problem = comparison.difference(found, wanted, not random)
                if gradients is not None and not comparison.lossy and (problem is None or comparison.in_layout):
                    more = comparison.difference(gradients, wanted_gradients)
                    # A difference of values counts more than one of shapes.
                    if more and (problem is None or not comparison.in_layout):
                        problem = more.replace("result", "gradient")
                    elif problem:
                        comparison.in_layout = True
            except Exception as error:  # noqa: BLE001  (every refusal is a result)
                kind, text = refusal(error)
                if kind == JUMAR and CHOSEN_TYPE.search(text):
                    kind = DEVIATES
                if kind == JUMAR and op.name in OTHER_MEANING:
                    kind, text = DEVIATES, OTHER_MEANING[op.name]
                if kind not in (ADAPTER, DEVIATES) or not self.healthy():
                    return {"state": kind, "text": text, "sample": number}
                excused = excused or {"state": kind, "text": text, "sample": number}
                continue
            if problem and comparison.in_layout and op.name not in REPORTED_SHAPES:
                excused = excused or {"state": DEVIATES, "text": problem, "sample": number}
            elif problem and dtype.is_complex and self.is_right_resolved(op, sample, backward, comparison, wanted, wanted_gradients):
                excused = excused or {"state": DEVIATES, "text": f"the adapter drops the conjugate bit: {problem}", "sample": number}
            elif problem and op.name in SELECTING and self.is_right_up_to_ties(op, sample, comparison, (found, gradients), (wanted, wanted_gradients)):
                pass
            elif problem and op.name in OTHER_MEANING:
                excused = excused or {"state": DEVIATES, "text": OTHER_MEANING[op.name], "sample": number}
            elif problem and op.name in PASSED_ON and self.is_right_passed_on(op, sample, backward, comparison, (found, gradients)):
                excused = excused or {"state": DEVIATES, "text": f"{PASSED_ON[op.name][0]}: {problem}", "sample": number}
            elif problem and self.is_nearer(op, sample, backward, comparison, (found, gradients), (wanted, wanted_gradients)):
                better = problem
            elif problem and self.is_right_by_parts(op, sample, backward, comparison, wanted, wanted_gradients):
                better = f"{problem}; equal with the CPU's log_softmax"
            elif problem:
                return {"state": WRONG, "text": problem, "sample": number}
            shapes_only |= random
        if ran == 0:
            return {"state": None}
        if excused:
            return excused
        if shapes_only:
            return {"state": SHAPES}
        if better:
            return {"state": BETTER, "text": better}
        return {"state": NEAR, "text": comparison.near} if comparison.near else {"state": RIGHT}

    def on_device(self, op, sample, backward):
        """Returns the results on the device, and the gradients or None."""
        torch = self.torch
        torch.manual_seed(0)
        moved = [on_device(value, torch) for value in (sample.input, sample.args, sample.kwargs)]
        found, leaves = self.call(op, sample, moved)
        return found, self.gradients(found, leaves) if backward else None

    def is_right_resolved(self, op, sample, backward, comparison, wanted, wanted_gradients):
        """Whether the device equals the CPU where conjugates are resolved before each operator."""
        return self.is_right_in(resolved_conjugates(), op, sample, backward, comparison, wanted, wanted_gradients)

    def is_right_by_parts(self, op, sample, backward, comparison, wanted, wanted_gradients):
        """Whether the device equals the CPU where the results of its more exact operators are the CPU's."""
        if comparison.dtype not in (self.torch.float16, self.torch.bfloat16):
            return False
        return self.is_right_in(with_parts_of_the_cpu(), op, sample, backward, comparison, wanted, wanted_gradients)

    def is_right_in(self, mode, op, sample, backward, comparison, wanted, wanted_gradients):
        """Whether the device equals the CPU in a mode."""
        try:
            with mode:
                found, gradients = self.on_device(op, sample, backward and wanted_gradients is not None)
        except Exception:  # noqa: BLE001  (the first difference is the result then)
            return False
        if comparison.difference(found, wanted) is not None:
            return False
        return gradients is None or comparison.difference(gradients, wanted_gradients) is None

    def is_right_up_to_ties(self, op, sample, comparison, found, wanted):
        """Whether results select equal elements, and the gradients of each row have the same sum."""
        position, at = SELECTING[op.name]
        if sample.kwargs.get("stable"):
            return False
        input_ = sample.input.detach()
        dim = 0 if position is None else sample.kwargs.get("dim", sample.args[position] if len(sample.args) > position else -1)
        own, other = tensors(found[0], self.torch), tensors(wanted[0], self.torch)
        if at is not None:
            selected = []
            for indices in (own[at].cpu(), other[at]):
                if indices.dim() < input_.dim():
                    indices = indices.unsqueeze(dim)
                rows = indices.movedim(dim, -1).reshape(-1, indices.shape[dim]).tolist() if indices.numel() and indices.dim() else []
                if any(len(set(row)) != len(row) for row in rows):
                    return False
                selected.append(input_.gather(dim, indices) if input_.dim() else indices)
            own[at], other[at] = selected
        if comparison.difference(own, other) is not None:
            return False
        if found[1] is None:
            return True
        sums = [[gradient.sum(dim) if gradient.dim() else gradient for gradient in gradients] for gradients in (found[1], wanted[1])]
        return comparison.difference(*sums) is None

    def is_right_passed_on(self, op, sample, backward, comparison, found):
        """Whether the device equals the CPU for the sample that the adapter makes of one."""
        changed = copy.copy(sample)
        changed.kwargs = dict(sample.kwargs)
        PASSED_ON[op.name][1](changed)
        wanted, _, wanted_gradients = self.on_cpu(op, changed, backward)
        # Without gradients the results differed already, and they were not computed.
        if backward and found[1] is None:
            found = self.on_device(op, sample, True)
        if comparison.difference(found[0], wanted) is None and (not backward or comparison.difference(found[1], wanted_gradients) is None):
            return True
        return self.is_nearer(op, changed, backward, comparison, found, (wanted, wanted_gradients))

    def is_nearer(self, op, sample, backward, comparison, found, wanted):
        """Whether the device is nearer than the CPU to what the CPU computes in the next wider type."""
        torch = self.torch
        wider = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float64, torch.complex64: torch.complex128}
        if comparison.dtype not in wider or comparison.in_layout:
            return False
        try:
            exact, _, exact_gradients = self.on_cpu(op, sample, backward, {comparison.dtype: wider[comparison.dtype]})
        except Exception:  # noqa: BLE001  (without the exact result there is nothing to compare with)
            return False
        if not comparison.is_nearer(found[0], wanted[0], exact):
            return False
        return found[1] is None or comparison.is_nearer(found[1], wanted[1], exact_gradients)

    def call(self, op, sample, moved):
        input_, args, kwargs = moved
        leaves = [tensor for tensor in tensors([input_, args, kwargs], self.torch) if tensor.requires_grad]
        result = op(input_, *args, **kwargs)
        return sample.output_process_fn_grad(result), leaves

    def on_cpu(self, op, sample, backward, types=None):
        """Returns the results of two runs with different seeds, and the gradients. `types` are other types to compute in."""
        torch, types = self.torch, types or {}
        torch.manual_seed(0)

        def copied(value):
            if isinstance(value, torch.Tensor):
                return value.detach().clone().to(types.get(value.dtype, value.dtype)).requires_grad_(value.requires_grad)
            if isinstance(value, torch.dtype):
                return types.get(value, value)
            if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
                return type(value)(copied(each) for each in value)
            return value

        results = []
        seed = torch.manual_seed
        for shift in range(2):
            # Random entries of the database set their own seed; another one in the second run distinguishes them from the others.
            torch.manual_seed = lambda own, shift=shift: seed(own + shift)
            moved = [copied(sample.input), copied(sample.args), {key: copied(value) for key, value in sample.kwargs.items()}]
            try:
                results.append(self.call(op, sample, moved))
            finally:
                torch.manual_seed = seed
        (wanted, leaves), (again, _) = results
        gradients = self.gradients(wanted, leaves) if backward else None
        return wanted, again, gradients

    def gradients(self, results, leaves):
        """The gradients of a weighted sum of all results, by all tensors that ask for one."""
        torch = self.torch
        outputs = [tensor for tensor in tensors(results, torch) if tensor.requires_grad and (tensor.is_floating_point() or tensor.is_complex())]
        if not outputs or not leaves:
            return None
        generator = torch.Generator().manual_seed(1)
        weights = []
        for output in outputs:
            real = torch.rand(output.shape, generator=generator, dtype=torch.float64) + 0.5
            weights.append(real.to(output.dtype).to(output.device))
        gradients = torch.autograd.grad(outputs, leaves, weights, allow_unused=True)
        return [torch.zeros(0) if gradient is None else gradient.cpu() for gradient in gradients]

    def supports(self, op, dtype_name, backward):
        torch = self.torch
        dtype = getattr(torch, dtype_name)
        if dtype not in op.dtypes:
            return False
        if backward and (dtype_name not in DIFFERENTIABLE or not op.supports_autograd or dtype not in op.supported_backward_dtypes("cpu")):
            return False
        return True

    def entries(self):
        return {name: [[dtype, backward] for dtype in DTYPES for backward in (False, True) if self.supports(op, dtype, backward)] for name, op in self.ops.items()}


def work():
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker()
    versions = {"torch": worker.torch.__version__, "torch_npu": sys.modules["torch_npu"].__version__}
    print(json.dumps({"entries": worker.entries(), "versions": versions}), file=channel, flush=True)
    for line in sys.stdin:
        name, dtype, backward = json.loads(line)
        result = worker.run(name, dtype, backward)
        result["healthy"] = worker.healthy() if result["state"] not in (*FINE, None) else True
        print(json.dumps(result), file=channel, flush=True)


# The driver.


class Process:
    """A worker process, started when it is needed."""

    def __init__(self):
        self.child = None

    def start(self):
        environment = {**os.environ, "ASCEND_LAUNCH_BLOCKING": "1", "OMP_NUM_THREADS": "1", "PYTORCH_TEST_WITH_SLOW": "0"}
        self.child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True, bufsize=1, env=environment)
        first = self.read(600)
        if first is None:
            raise SystemExit("the worker did not start: does `import torch, torch_npu` work?")
        return first

    def read(self, seconds):
        """Returns the next line; None at the end of the process, or when it took too long."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.child.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                return None
        line = self.child.stdout.readline()
        return json.loads(line) if line else None

    def stop(self):
        if self.child:
            self.child.kill()
            self.child.wait()
            self.child = None

    def run(self, entry, seconds):
        if self.child is None:
            self.start()
        start = time.monotonic()
        try:
            self.child.stdin.write(json.dumps(entry) + "\n")
            self.child.stdin.flush()
            result = self.read(seconds)
        except BrokenPipeError:
            result = None
        if result is None:
            hung = time.monotonic() - start >= seconds
            if hung:
                code = None
                self.stop()
            else:
                code = self.child.wait()
                self.child = None
            return {"state": HUNG if hung else CRASHED, "text": f"more than {seconds} s" if hung else f"exit status {code}"}
        if not result.pop("healthy"):
            self.stop()
        return result


def key(name, dtype, backward):
    return f"{name} {dtype} {'backward' if backward else 'forward'}"


def run(options):
    first = Process()
    start = first.start()
    entries = []
    for name, cases in start["entries"].items():
        for dtype, backward in cases:
            if dtype in options.dtypes and (options.only is None or re.search(options.only, name)) and backward in options.directions:
                entries.append((name, dtype, backward))
    part, parts = options.part
    entries = entries[part - 1 :: parts]
    results = {}
    if os.path.exists(options.result):
        with open(options.result, encoding="utf-8") as file:
            results = json.load(file)["results"]
    begin = time.monotonic()
    for number, entry in enumerate(entries):
        if options.resume and key(*entry) in results:
            continue
        outcome = first.run(entry, options.seconds)
        results.pop(key(*entry), None)
        if outcome["state"] is not None:
            results[key(*entry)] = [outcome["state"], outcome.get("text", "")]
        if outcome["state"] not in (*FINE, None, ADAPTER, DEVIATES):
            print(f"{key(*entry)}: {outcome['state']}: {outcome.get('text', '')}", flush=True)
        if number % 20 == 19 or number + 1 == len(entries):
            store(options.result, start["versions"], results)
            if options.budget and time.monotonic() - begin > options.budget:
                break
    first.stop()
    store(options.result, start["versions"], results)
    summary(options)
    return 0


def store(path, versions, results):
    """Writes a result with one entry a line, so that changes are easy to read."""
    lines = [f"  {json.dumps(name)}: {json.dumps(results[name])}" for name in sorted(results)]
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(json.dumps({"date": datetime.date.today().isoformat(), **versions})[:-1] + ', "results": {\n' + ",\n".join(lines) + "\n}}\n")
    os.replace(path + ".new", path)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def counts(results):
    """How many entries of each type and direction are in each state."""
    table = collections.defaultdict(collections.Counter)
    for name, (state, _) in results.items():
        _, dtype, direction = name.rsplit(" ", 2)
        table[dtype, direction][state] += 1
    return table


def rows(results):
    table = counts(results)
    for dtype in DTYPES:
        for direction in ("forward", "backward"):
            if table[dtype, direction]:
                yield dtype, direction, table[dtype, direction]


def summary(options):
    results = load(options.result)["results"]
    states = list(MEANING)
    print(f"{'':20}" + "".join(f"{state:>9}" for state in states))
    for dtype, direction, counted in rows(results):
        print(f"{dtype + ' ' + direction:20}" + "".join(f"{counted[state]:9}" for state in states))
    missing = collections.Counter(re.search(r"aclnn\w+|aclop \w*|.{1,60}", text)[0] for state, text in results.values() if state == JUMAR and text)
    for text, count in missing.most_common(40):
        print(f"{count:6} {text}")
    return 0


def check(options):
    found, stored = load(options.result)["results"], load(options.stored)["results"]
    lost = [name for name, (state, _) in found.items() if stored.get(name, [None])[0] in FINE and state not in FINE]
    lost += [name for name, (state, _) in found.items() if state in (WRONG, CRASHED, HUNG) and stored.get(name, [None])[0] != state and name not in lost]
    for name in lost:
        print(f"{name}: {found[name][0]} ({found[name][1]}), stored: {stored.get(name, ['nothing'])[0]}")
    fine = sum(state in FINE for state, _ in found.values())
    print(f"{fine} of {len(found)} entries are right; {len(lost)} are worse than stored")
    return int(bool(lost))


SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "bool": "bool", "complex64": "c64"}
MARK = {RIGHT: "✓", NEAR: "≈", BETTER: "⊙", SHAPES: "∼", ADAPTER: "–", DEVIATES: "a", JUMAR: "missing", WRONG: "**differs**", CRASHED: "**crashes**", HUNG: "**hangs**"}


def page(options):
    stored = load(options.result)
    results = stored["results"]
    lines = [
        "# Operators of PyTorch",
        "",
        f"PyTorch's operator database (OpInfo) through the prebuilt adapter: {len(results)} entries, compared with PyTorch's CPU. Made by",
        f"`tests/pytorch/opinfo.py`, the newest entries on {stored['date']}, with torch {stored['torch']} and torch_npu {stored['torch_npu']}; edits are lost.",
        "",
        "An entry is an operator in one type, forward or backward, with samples of the database. Values are right within the",
        "tolerances of the database. The columns:",
        "",
        "| mark | meaning |",
        "|---|---|",
        *(f"| {MARK[state]} | {meaning} |" for state, meaning in MEANING.items()),
        "",
        "| type | direction | entries | " + " | ".join(MARK[state] for state in MEANING) + " |",
        "|---|---|---:|" + "---:|" * len(MEANING),
    ]
    for dtype, direction, counted in rows(results):
        numbers = " | ".join(str(counted[state]) for state in MEANING)
        lines.append(f"| {dtype} | {direction} | {sum(counted.values())} | {numbers} |")
    lines += ["", "## Entries", "", "Two marks are those of the forward and of the backward direction.", ""]
    lines += ["| operator | " + " | ".join(SHORT[dtype] for dtype in DTYPES) + " | remarks |", "|---|" + "---|" * (len(DTYPES) + 1)]
    for name in sorted({name.rsplit(" ", 2)[0] for name in results}):
        cells, remarks = [], []
        for dtype in DTYPES:
            marks = []
            for direction in ("forward", "backward"):
                state, text = results.get(f"{name} {dtype} {direction}", (None, ""))
                if state:
                    marks.append(MARK[state])
                if text and text not in remarks and state not in FINE:
                    remarks.append(text)
            cells.append(" ".join(marks))
        remark = "; ".join(remarks[:2]).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
        lines.append(f"| `{name}` | " + " | ".join(cells) + f" | {remark} |")
    with open(options.page, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("work")
    command = commands.add_parser("run")
    command.add_argument("result")
    command.add_argument("--dtypes", type=lambda text: text.split(","), default=DTYPES)
    command.add_argument("--directions", type=lambda text: [word == "backward" for word in text.split(",")], default=[False, True])
    command.add_argument("--only")
    command.add_argument("--part", type=lambda text: tuple(map(int, text.split("/"))), default=(1, 1))
    command.add_argument("--seconds", type=float, default=60)
    command.add_argument("--budget", type=float, help="seconds after which no further entry is started")
    command.add_argument("--resume", action="store_true", help="leave entries that the result has")
    for name, more in [("check", ["stored"]), ("page", ["page"]), ("summary", [])]:
        command = commands.add_parser(name)
        for argument in ["result", *more]:
            command.add_argument(argument)
    options = parser.parse_args()
    if options.command == "work":
        return work()
    return {"run": run, "check": check, "page": page, "summary": summary}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
