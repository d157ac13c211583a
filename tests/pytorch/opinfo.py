"""Runs PyTorch's operator database (OpInfo) through the prebuilt adapter and compares with the CPU.

    python opinfo.py run RESULT.json [--dtypes float32,int64] [--only REGEX] [--part 2/8] [--seconds 60]
    python opinfo.py check RESULT.json STORED.json      fails where an entry was right and is not any more
    python opinfo.py page STORED.json PAGE.md           writes docs/pytorch-operators.md
    python opinfo.py summary RESULT.json

An entry of the result is one operator in one data type, forward or backward. Entries run in worker processes: one that
crashes or exceeds its time ends its worker and nothing else. Values count as right within the tolerances of the database:
those of torch.testing for the type, or the operator's own where they are wider. Values beyond them that differ by no more than
the database's own comparison of a device with the CPU (test_compare_cpu) accepts are counted apart.
"""

import argparse
import collections
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

RIGHT, NEAR, SHAPES, ADAPTER, JUMAR, WRONG, CRASHED, HUNG = "right", "near", "shapes", "adapter", "jumar", "wrong", "crashed", "hung"
FINE = (RIGHT, NEAR, SHAPES)
MEANING = {
    RIGHT: "equals the CPU",
    NEAR: "equals the CPU within 1e-3, the tolerance of the database's test_compare_cpu, and not within that of the type",
    SHAPES: "random or unwritten values: shapes and types equal those of the CPU",
    ADAPTER: "the adapter refuses it",
    JUMAR: "Jumar refuses it: the operator that is missing, or the case",
    WRONG: "differs from the CPU",
    CRASHED: "ended the process",
    HUNG: "did not end in time",
}


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

    def tolerance(self, dtype):
        relative, absolute = self.torch.testing._comparison.default_tolerances(dtype)
        for override in self.wider:
            relative, absolute = max(relative, override.rtol), max(absolute, override.atol)
        return relative, absolute

    def difference(self, found, wanted, values=True):
        """None, or a sentence that says how two results differ."""
        torch = self.torch
        found, wanted = tensors(found, torch), tensors(wanted, torch)
        if len(found) != len(wanted):
            return f"{len(found)} results, not {len(wanted)}"
        for index, (own, other) in enumerate(zip(found, wanted, strict=True)):
            if own.is_sparse or other.is_sparse or own.layout != torch.strided:
                own, other = own.to_dense(), other.to_dense()
            own = own.detach().cpu()
            other = other.detach()
            if own.shape != other.shape:
                return f"result {index} has the shape {tuple(own.shape)}, not {tuple(other.shape)}"
            if own.dtype != other.dtype and not (other.dtype == torch.float64 and own.dtype == torch.float32):
                return f"result {index} has the type {own.dtype}, not {other.dtype}"
            if not values:
                continue
            relative, absolute = self.tolerance(self.dtype if self.dtype.is_floating_point or self.dtype.is_complex else own.dtype)
            own = own.to(other.dtype)
            if torch.allclose(own, other, relative, absolute, equal_nan=True) if own.numel() else True:
                continue
            if self.dtype in (torch.float32, torch.complex64) and torch.allclose(own, other, COMPARE_CPU, COMPARE_CPU, equal_nan=True):
                self.near = "beyond the tolerance of the type"
                continue
            wide = torch.complex128 if own.is_complex() else torch.float64
            distance = (own.to(wide) - other.to(wide)).abs()
            return f"result {index} differs by up to {distance.nan_to_num(float('inf')).max().item():.2g}"
        return None


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
        ran = 0
        for number, sample in enumerate(self.samples(op, dtype, backward)):
            try:
                wanted, again, wanted_gradients = self.on_cpu(op, sample, backward)
            except Exception:  # noqa: BLE001  (whatever the CPU refuses is not compared)
                continue
            ran += 1
            random = shapes_only or comparison.difference(again, wanted) is not None
            comparison.near = "" if random else comparison.near
            try:
                torch.manual_seed(0)
                moved = [on_device(value, torch) for value in (sample.input, sample.args, sample.kwargs)]
                found, leaves = self.call(op, sample, moved)
                problem = comparison.difference(found, wanted, not random)
                if problem is None and backward and wanted_gradients is not None and not random:
                    problem = comparison.difference(self.gradients(found, leaves), wanted_gradients)
                    problem = problem and problem.replace("result", "gradient")
            except Exception as error:  # noqa: BLE001  (every refusal is a result)
                kind, text = refusal(error)
                return {"state": kind, "text": text, "sample": number}
            if problem:
                return {"state": WRONG, "text": problem, "sample": number}
            shapes_only |= random
        if ran == 0:
            return {"state": None}
        if shapes_only:
            return {"state": SHAPES}
        return {"state": NEAR, "text": comparison.near} if comparison.near else {"state": RIGHT}

    def call(self, op, sample, moved):
        input_, args, kwargs = moved
        leaves = [tensor for tensor in tensors([input_, args, kwargs], self.torch) if tensor.requires_grad]
        result = op(input_, *args, **kwargs)
        return sample.output_process_fn_grad(result), leaves

    def on_cpu(self, op, sample, backward):
        torch = self.torch
        torch.manual_seed(0)

        def copied(value):
            if isinstance(value, torch.Tensor):
                return value.detach().clone().requires_grad_(value.requires_grad)
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
        if outcome["state"] not in (*FINE, None, ADAPTER):
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
    states = [RIGHT, NEAR, SHAPES, ADAPTER, JUMAR, WRONG, CRASHED, HUNG]
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
MARK = {RIGHT: "✓", NEAR: "≈", SHAPES: "∼", ADAPTER: "–", JUMAR: "missing", WRONG: "**differs**", CRASHED: "**crashes**", HUNG: "**hangs**"}


def page(options):
    stored = load(options.result)
    results = stored["results"]
    lines = [
        "# Operators of PyTorch",
        "",
        f"PyTorch's operator database (OpInfo) through the prebuilt adapter: {len(results)} entries, compared with PyTorch's CPU. Made by",
        f"`tests/pytorch/opinfo.py` on {stored['date']} with torch {stored['torch']} and torch_npu {stored['torch_npu']}; edits are lost.",
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
