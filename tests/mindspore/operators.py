"""Runs the example of every function and layer in MindSpore's own documentation on the device, and compares with MindSpore's CPU.

    jumar run -- python operators.py [--only REGEX] [--jobs N] [--update]

The installed package describes each function of `ops`, `mint`, `nn` and of the class Tensor with an example. The example runs on both
devices, each in a process of its own that is started again after a crash or a time-out. What is compared: what each call of the
function returned, the tensors that the example leaves behind, and the gradient of a weighted sum of the results with respect to
inputs and parameters. Where MindSpore's CPU has no such function, the reference is the output that the documentation prints, and central
differences for the gradient. `--update` stores the result in operators.json and writes docs/mindspore-operators.md; without it the
program fails where an entry was right and is not any more.
"""

import argparse
import collections
import doctest
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
STORED = os.path.join(HERE, "operators.json")
PAGE = os.path.join(HERE, "..", "..", "docs", "mindspore-operators.md")
# Seconds without progress after which a process counts as hanging.
PATIENCE = 300
# Seconds that central differences of one call may take.
DIFFERENCES = 20
# Examples that need several processes, a server, a file of the author's, or that change the process for those after them.
ELSEWHERE = re.compile(r"\binit\(|msrun|mpirun|create_group|get_rank|set_auto_parallel|rank_id|reshard\(|\.shard\(|/path|load_checkpoint|CustomRegOp|ops\.Custom\(")
SWITCH = re.compile(r"set_context\(|set_device\(|set_seed\(|set_deterministic\(")
# Values that depend on the generator of random numbers of the device.
RANDOM = re.compile(
    r"(?i)rand|dropout|bernoulli|multinomial|normal$|normal_$|uniform|poisson|gamma$|laplace$|shuffle|candidate_sampler|CandidateSampler|exponential_|"
    r"log_normal|RReLU|rrelu|gumbel|empty|cauchy|geometric|choice"
)
RIGHT, DOCUMENTED, SHAPE, RANDOM_VALUES = "right", "documented", "shape", "random"
MINDSPORE, OWN, JUMAR, DIFFERS, CRASHES, HANGS = "mindspore", "own", "jumar", "differs", "crashes", "hangs"
# Examples whose inputs come from the device's generator, and those that print numbers which nothing fixes.
DEVICE_RANDOM = re.compile(r"(ops|mint)\.(rand|normal|uniform|gamma|laplace|bernoulli)|Standard(Normal|Laplace)|Uniform(Real|Int)")
UNFIXED = re.compile(r"random|initializ|\bnn\.|normal|uniform")
# Examples that show something else than values: the second prints the contents of freed memory.
OF_NO_VALUES = {"Tensor.delete_"}
# What a thread of the framework asks for before it subscribes a stream: it stands before the texts of failures.
POLL = "aclrtProcessReport: no stream is subscribed"
# The framework allocates more states on a device than its CPU has: a multiple of 8.
PADDED = {"ops.CTCLossV2", "ops.ctc_loss"}
GOOD = (RIGHT, DOCUMENTED, SHAPE, RANDOM_VALUES)


def modules():
    import mindspore as ms
    from mindspore import mint, nn, ops

    return {
        "ops": ops,
        "mint": mint,
        "nn": nn,
        "mint.nn": mint.nn,
        "mint.nn.functional": mint.nn.functional,
        "mint.linalg": mint.linalg,
        "mint.special": mint.special,
        "mint.optim": mint.optim,
        "Tensor": ms.Tensor,
    }


def entries():
    """Returns the names of everything that has an example, in order."""
    found = []
    for prefix, module in modules().items():
        names = getattr(module, "__all__", None) or dir(module)
        for name in dict.fromkeys(names):
            doc = getattr(getattr(module, name, None), "__doc__", None) or ""
            if name.startswith("_") or ">>>" not in doc:
                continue
            # The platforms are named in most descriptions; a function for another device alone is not an entry.
            platforms = re.search(r"Supported Platforms:\s*(.*)", doc)
            if platforms and "Ascend" not in platforms[1] and "deprecated" not in platforms[1].lower():
                continue
            if platforms and "Deprecated" in platforms[1]:
                continue
            found.append(f"{prefix}.{name}")
    return found


# ---------------------------------------------------------------------------------------------------------------- one example


class Recorder:
    """Keeps what a function or the objects of a class were called with, and what they returned."""

    MOST = 4

    def __init__(self, owner, name):
        self.owner, self.name, self.calls, self.depth = owner, name, [], 0
        self.target = getattr(owner, name)

    def __enter__(self):
        target = self.target
        if isinstance(target, type):
            self.had = "__call__" in target.__dict__
            original = self.original = target.__call__ if hasattr(target, "__call__") else None
            recorder = self

            def call(this, *args, **kwargs):
                return recorder.record(original, (this, *args), kwargs)

            try:
                target.__call__ = call
            except TypeError:
                self.original = None
        elif callable(target):

            def call(*args, **kwargs):
                return self.record(target, args, kwargs)

            try:
                setattr(self.owner, self.name, call)
            except (AttributeError, TypeError):
                pass
        return self

    def __exit__(self, *_):
        if isinstance(self.target, type):
            if self.original is not None:
                if self.had:
                    self.target.__call__ = self.original
                else:
                    del self.target.__call__
        else:
            try:
                setattr(self.owner, self.name, self.target)
            except (AttributeError, TypeError):
                pass

    def record(self, target, args, kwargs):
        if self.depth:
            return target(*args, **kwargs)
        self.depth += 1
        try:
            kept = tuple(copied(each) for each in args)
            result = target(*args, **kwargs)
        finally:
            self.depth -= 1
        if len(self.calls) < self.MOST:
            self.calls.append((target, kept, kwargs, result))
        return result


def copied(value):
    """Returns a copy of a tensor, which the call may write to."""
    import mindspore as ms

    if type(value) is ms.Tensor:
        return ms.Tensor(value.asnumpy()) if value.dtype != ms.bfloat16 else value.copy()
    return value


def tensors(value, depth=0):
    """Returns the tensors in a nested value, in order."""
    import mindspore as ms

    if isinstance(value, ms.Tensor):
        return [value]
    if isinstance(value, (list, tuple)) and depth < 4:
        return [tensor for each in value for tensor in tensors(each, depth + 1)]
    if isinstance(value, dict) and depth < 4:
        return [tensor for each in value.values() for tensor in tensors(each, depth + 1)]
    return []


def array(tensor):
    import mindspore as ms

    if tensor.dtype == ms.bfloat16:
        return str(tensor.dtype), tensor.astype(ms.float32).asnumpy()
    return str(tensor.dtype), tensor.asnumpy().copy()


def is_float(tensor):
    import mindspore as ms

    return tensor.dtype in (ms.float16, ms.float32, ms.float64, ms.bfloat16)


def weights_of(shape):
    import numpy as np

    count = int(np.prod(shape))
    return np.cos(np.arange(count) * 0.7 + 0.3).reshape(shape).astype(np.float32)


class Loss:
    """A weighted sum of the results of one recorded call, as a function of its floating-point arguments."""

    def __init__(self, call):
        import mindspore as ms

        self.target, self.args, self.kwargs, _ = call
        self.leaves = []
        for slot, value in enumerate(self.args):
            if isinstance(value, ms.Parameter):
                continue
            if isinstance(value, ms.Tensor) and is_float(value):
                self.leaves.append(((slot, None), value))
            elif isinstance(value, (list, tuple)):
                for inner, each in enumerate(value):
                    if isinstance(each, ms.Tensor) and not isinstance(each, ms.Parameter) and is_float(each):
                        self.leaves.append(((slot, inner), each))
        first = self.args[0] if self.args else None
        self.parameters = list(first.trainable_params()) if isinstance(first, ms.nn.Cell) else []

    def __call__(self, *leaves):
        import mindspore as ms

        args = list(self.args)
        for ((slot, inner), _), value in zip(self.leaves, leaves):
            if inner is None:
                args[slot] = value
            else:
                members = list(args[slot])
                members[inner] = value
                args[slot] = type(args[slot])(members)
        total = None
        for result in tensors(self.target(*args, **self.kwargs)):
            if is_float(result):
                part = (result.astype(ms.float32) * ms.Tensor(weights_of(result.shape))).sum()
                total = part if total is None else total + part
        return total


def gradients(call, differences):
    """Returns the gradients of one call as arrays, or None where there is nothing to differentiate."""
    import mindspore as ms

    loss = Loss(call)
    if not loss.leaves and not loss.parameters or not any(is_float(each) for each in tensors(call[3])):
        return None
    values = [value for _, value in loss.leaves]
    position = tuple(range(len(values))) if values else None
    found = ms.value_and_grad(loss, position, weights=loss.parameters or None)(*values)[1]
    found = [array(each)[1] for each in tensors(found)]
    if differences and values and all(value.dtype == ms.float32 for value in values):
        return found, central(loss, values)
    return found, None


def central(loss, values):
    """Returns central differences for the first elements of each argument: (argument, element, slope, slope by half the step)."""
    import mindspore as ms

    slopes, began = [], time.monotonic()
    for number, value in enumerate(values):
        base = value.asnumpy()
        # Larger arguments would take minutes.
        for element in range(min(base.size, 6) if base.size <= 20000 else 0):
            if time.monotonic() - began > DIFFERENCES:
                return slopes
            steps = []
            for step in (2e-2, 1e-2):
                ends = []
                for sign in (1, -1):
                    moved = base.copy()
                    moved.reshape(-1)[element] += sign * step
                    inputs = list(values)
                    inputs[number] = ms.Tensor(moved)
                    ends.append(float(loss(*inputs).asnumpy()))
                steps.append((ends[0] - ends[1]) / (2 * step))
            slopes.append((number, element, *steps))
    return slopes


def of_example(name, folder, device):
    """Runs one example and returns what it computed."""
    import mindspore as ms
    import numpy as np

    prefix, _, last = name.rpartition(".")
    owner = modules()[prefix]
    doc = getattr(owner, last).__doc__
    examples = doctest.DocTestParser().get_examples(doc)
    if any(ELSEWHERE.search(each.source) for each in examples):
        return {"skipped": "needs several processes or files"}
    # Functions that the example defines are compiled from their source, which has to be in a file.
    path = os.path.join(folder, re.sub(r"\W", "_", name) + ".py")
    lines, chunks = [], []
    for each in examples:
        source = "pass\n" if SWITCH.search(each.source) else each.source
        # Some descriptions call the function by the name that it has inside the package.
        if prefix != "Tensor":
            source = re.sub(r"\b(ops|nn)\.(\w+)\b", lambda found: found[0] if hasattr(modules()[found[1]], found[2]) else name, source)
        chunks.append((len(lines), source, each.want))
        lines += source.splitlines()
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    module = types.ModuleType(os.path.basename(path)[:-3])
    module.__file__ = path
    sys.modules[module.__name__] = module
    space = module.__dict__
    # Some examples leave their imports out.
    space.update(np=np, ms=ms, mindspore=ms, Tensor=ms.Tensor, ops=ms.ops, mint=ms.mint, nn=ms.nn)
    given = set(space)
    ms.set_seed(1)
    np.random.seed(1)
    printed, values = [], []
    whole = "\n".join(lines)
    recorder = Recorder(owner, last)
    compiled = re.search(r"\bjit\b|@ms\.|vmap|set_mode|GRAPH", whole)
    try:
        if not compiled:
            recorder.__enter__()
        for start, source, want in chunks:
            out, kept = io.StringIO(), sys.stdout
            sys.stdout = out
            try:
                try:
                    code = compile("\n" * start + source, path, "eval")
                    result = eval(code, space)
                    if result is not None:
                        print(repr(result))
                except SyntaxError:
                    exec(compile("\n" * start + source, path, "exec"), space)
            finally:
                sys.stdout = kept
            # Some descriptions have what several lines print behind the last of them.
            if want.strip() and printed and not printed[-1][0].strip():
                joined = printed[-1][1] + out.getvalue()
                if len(NUMBER.findall(want)) == len(NUMBER.findall(joined)):
                    printed[-1] = (want, joined)
                    continue
            if want.strip() or out.getvalue().strip():
                printed.append((want, out.getvalue()))
    finally:
        if not compiled:
            recorder.__exit__()
    for number, call in enumerate(recorder.calls):
        for index, each in enumerate(tensors(call[3])):
            values.append((f"call {number}, result {index}", *array(each)))
    for key, value in sorted(space.items(), key=lambda item: item[0]):
        if not key.startswith("_") and key not in given:
            for index, each in enumerate(tensors(value)):
                values.append((f"{key}[{index}]", *array(each)))
    slopes, refused = [], None
    for call in recorder.calls[:2]:
        if RANDOM.search(name) or last.endswith("_"):
            break
        try:
            ms.set_seed(1)
            slopes.append(gradients(call, device != "CPU"))
        except Exception as error:  # noqa: BLE001  (a gradient that is refused is a result)
            slopes.append(None)
            refused = f"{type(error).__name__}: {error}"[:1500]
    kinds = {"random": bool(DEVICE_RANDOM.search(whole)), "unfixed": bool(UNFIXED.search(whole))}
    return {"printed": printed, "values": values, "gradients": slopes, "gradient_error": refused, **kinds}


def worker(device, names, folder, out):
    import mindspore as ms

    ms.set_device(device) if device == "CPU" else ms.set_device(device, 0)
    modules()
    for name in names:
        with open(out, "ab") as file:
            pickle.dump(("start", name, None), file)
        before = os.fstat(1).st_size
        try:
            found = of_example(name, folder, device)
            ms.runtime.synchronize() if device != "CPU" else None
        except BaseException as error:  # noqa: BLE001  (every refusal is a result)
            if isinstance(error, KeyboardInterrupt):
                raise
            found = {"error": f"{type(error).__name__}: {error}"[:3000]}
        # What the runtime logged; not every exception of the framework repeats it.
        with open(out + ".log", "rb") as log:
            log.seek(before)
            said = re.findall(r"E[A-Z]\d{4}: (.*)", log.read().decode(errors="replace"))
        found["said"] = [line for line in dict.fromkeys(said) if POLL not in line][:5]
        with open(out, "ab") as file:
            pickle.dump(("end", name, found), file)
        # A task that failed is reported by all later calls of its stream: the rest runs in another process.
        if any(re.search(r"a task of stream \d+.* failed", line) for line in [found.get("error", ""), *found["said"]]):
            sys.stdout.flush()
            os._exit(3)


# -------------------------------------------------------------------------------------------------------------- all of them


def read(path):
    found = []
    if os.path.exists(path):
        with open(path, "rb") as file:
            while True:
                try:
                    found.append(pickle.load(file))
                except (EOFError, pickle.UnpicklingError):
                    return found
    return found


def run_all(device, names, folder):
    """Returns what each example computed on a device; a process that ends is followed by another one."""
    results, rest, number = {}, list(names), 0
    while rest:
        number += 1
        out = os.path.join(folder, f"{device}-{number}-{threading.get_ident()}.bin")
        log = out + ".log"
        with open(log, "wb") as file:
            process = subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), "--worker", device, "--folder", folder, "--out", out],
                stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT, cwd=folder,
            )
            process.stdin.write("\n".join(rest).encode())
            process.stdin.close()
            size, since = -1, time.monotonic()
            hung = False
            while process.poll() is None:
                time.sleep(0.2)
                now = os.path.getsize(out) if os.path.exists(out) else 0
                if now != size:
                    size, since = now, time.monotonic()
                elif time.monotonic() - since > PATIENCE:
                    hung = True
                    process.kill()
        records = read(out)
        ended = {name: found for kind, name, found in records if kind == "end"}
        results.update(ended)
        started = [name for kind, name, _ in records if kind == "start"]
        rest = [name for name in rest if name not in ended]
        if process.returncode == 0 and not hung:
            break
        if not started or started[-1] in ended:
            if not started:
                with open(log, errors="replace") as file:
                    raise SystemExit(f"the process for {device} does not start:\n{file.read()[-3000:]}")
            continue
        with open(log, errors="replace") as file:
            tail = file.read()[-1500:]
        how = HANGS if hung else CRASHES
        signals = {code.value: code.name for code in signal.Signals}
        why = "no progress" if hung else signals.get(-process.returncode, f"status {process.returncode}")
        results[started[-1]] = {"ended": how, "error": f"{why}: {tail}"}
        rest = [name for name in rest if name != started[-1]]
    return results


# ------------------------------------------------------------------------------------------------------------------ comparison

TOLERANCE = {"Float16": 4e-3, "BFloat16": 2e-2, "Float32": 2e-4, "Float64": 1e-5, "Complex64": 2e-4, "Complex128": 1e-5}


def difference(one, other, kind="Float32"):
    """Returns how two arrays differ, or None. `one` is the reference."""
    import numpy as np

    if one.shape != other.shape:
        return f"shape {other.shape}, not {one.shape}"
    if one.dtype.kind not in "fc":
        return None if np.array_equal(one, other) else f"{(one != other).sum()} of {one.size} elements differ"
    if not one.size:
        return None
    rtol = TOLERANCE.get(kind, 2e-4)
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    one, other = one.astype(wide), other.astype(wide)
    finite = np.abs(one[np.isfinite(one)])
    scale = float(finite.max()) if finite.size else 1.0
    same = np.isclose(other, one, rtol=rtol, atol=max(1e-6, rtol * scale), equal_nan=True)
    if same.all():
        return None
    where = np.unravel_index(int(np.argmin(same)), same.shape) if same.shape else ()
    return f"{(~same).sum()} of {one.size} elements differ, the first is {other[where]:.6g} and not {one[where]:.6g}"


NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)")


def texts_differ(want, got):
    """Returns how a printed text differs from the documented one, by its numbers. Texts with an ellipsis compare what is there."""
    wanted, found = NUMBER.findall(want), NUMBER.findall(got)
    words = re.sub(r"[^A-Za-z]", "", NUMBER.sub("", want)).lower(), re.sub(r"[^A-Za-z]", "", NUMBER.sub("", got)).lower()
    if words[0] != words[1] and ("true" in words[0] or "false" in words[0]):
        return f"prints {got.strip()[:120]!r}, not {want.strip()[:120]!r}"
    if "..." in want or "..." in got:
        return None
    if len(wanted) != len(found):
        return f"prints {got.strip()[:120]!r}, not {want.strip()[:120]!r}"
    for one, other in zip(wanted, found):
        one, other = float(one), float(other)
        if one != other and not (one != one and other != other) and abs(one - other) > 2e-3 + 2e-3 * abs(one):
            return f"prints {other}, documented is {one}: {got.strip()[:100]!r}, not {want.strip()[:100]!r}"
    return None


def refuser(error, said=()):
    if any(re.match(r"\w+: Cust\w+: no operator has this type", line) for line in said):
        return OWN
    # The framework asks for the class of an operator before it calls it.
    return JUMAR if said or re.search(r"OperatorFactory is not exist|\bE[A-Z]\d{4}\b|aclnn|ACL|hccl|507\d\d\d|Launch kernel failed|EZ9999|acl", error) else MINDSPORE


def sentence(error, said=()):
    found = list(said) or [line for line in re.findall(r"E[A-Z]\d{4}: ?(.*)", error) if POLL not in line]
    text = found[0] if found else next((line for line in error.splitlines() if line.strip()), "")
    return re.sub(r"\s+", " ", text)[:220]


def judge(name, device, cpu):
    """Returns the state of an entry and a text."""
    if "ended" in device:
        return device["ended"], device["error"]
    if "skipped" in device:
        return None, device["skipped"]
    by_cpu = "error" not in cpu and "ended" not in cpu and "skipped" not in cpu
    if "error" in device:
        who = refuser(re.sub(r"E[A-Z]\d{4}: " + POLL + r"[^\[]*", "", device["error"]), device["said"])
        if not by_cpu and who == MINDSPORE:
            return MINDSPORE, "on both devices: " + sentence(device["error"])
        return who, sentence(device["error"], device["said"])
    if name in OF_NO_VALUES:
        return None, ""
    random = RANDOM.search(name) or device["random"]
    if by_cpu:
        if len(device["values"]) != len(cpu["values"]):
            return DIFFERS, f"{len(device['values'])} tensors, and {len(cpu['values'])} on the CPU"
        for (label, kind, found), (_, wanted_kind, wanted) in zip(device["values"], cpu["values"]):
            if name in PADDED and found.ndim == wanted.ndim == 3:
                found = found[..., : wanted.shape[-1]]
            if random:
                problem = None if found.shape == wanted.shape or "call" not in label else f"shape {found.shape}, not {wanted.shape}"
            elif kind != wanted_kind and difference(wanted.astype("float64"), found.astype("float64")):
                problem = f"type {kind}, not {wanted_kind}"
            elif kind != wanted_kind:
                # The framework chooses the types of results, by device.
                problem = None
            else:
                problem = difference(wanted, found, kind)
            if problem:
                # The documentation decides where the two devices are documented to differ.
                documented = [texts_differ(want, got) for want, got in device["printed"] if want.strip()]
                if documented and not any(documented) and any(NUMBER.search(want) for want, _ in device["printed"]):
                    return DOCUMENTED, f"unlike the CPU, {label}: {problem}"
                return DIFFERS, f"{label}: {problem}"
        if random:
            return RANDOM_VALUES, ""
        for found, wanted in zip(device["gradients"], cpu["gradients"]):
            if wanted is None:
                continue
            if found is None:
                error = device["gradient_error"] or ""
                return refuser(error, device["said"]), "gradient: " + sentence(error, device["said"])
            for number, (one, other) in enumerate(zip(wanted[0], found[0])):
                problem = difference(one, other)
                if problem:
                    if found[1] is not None and not slopes_differ(found) and slopes_differ((wanted[0], found[1])):
                        return RIGHT, f"the gradient of the CPU is not that of its own function: {problem}"
                    return DIFFERS, f"gradient {number}: {problem}"
        return RIGHT, ""
    if random:
        return RANDOM_VALUES, ""
    wanted = [(want, got) for want, got in device["printed"] if want.strip()]
    for want, got in wanted if not device["unfixed"] else []:
        problem = texts_differ(want, got)
        if problem:
            return DIFFERS, "documentation: " + problem
    for found in device["gradients"]:
        if found is not None and found[1] is not None:
            problem = slopes_differ(found)
            if problem:
                return DIFFERS, problem
    if device["gradient_error"] and refuser(device["gradient_error"], device["said"]) != MINDSPORE:
        return refuser(device["gradient_error"], device["said"]), "gradient: " + sentence(device["gradient_error"], device["said"])
    if not device["unfixed"] and any(NUMBER.search(want) for want, _ in wanted):
        return DOCUMENTED, ""
    return SHAPE, "the documentation prints no values"


def slopes_differ(found):
    """Returns how gradients differ from central differences, where these are stable."""
    gradient, slopes = found
    for number, element, coarse, fine in slopes:
        if number >= len(gradient):
            continue
        value = float(gradient[number].reshape(-1)[element])
        scale = 1 + abs(fine)
        # A kink, a step or rounding: the difference quotient says nothing.
        if abs(coarse - fine) > 0.02 * scale or not abs(fine) < 1e6:
            continue
        if abs(value - fine) > 0.06 * scale:
            return f"gradient {number}: {value:.5g} at element {element}, and central differences are {fine:.5g}"
    return None


# ------------------------------------------------------------------------------------------------------------------------ page


def write_page(states, version):
    groups = collections.OrderedDict()
    for name, (state, text) in states.items():
        groups.setdefault(name.rpartition(".")[0], []).append((name, state, text))
    columns = [
        (RIGHT, "✓"), (DOCUMENTED, "d"), (SHAPE, "s"), (RANDOM_VALUES, "∼"), (MINDSPORE, "–"), (OWN, "card"), (JUMAR, "missing"),
        (DIFFERS, "**differs**"), (CRASHES, "**crashes**"), (HANGS, "**hangs**"),
    ]
    marks = dict(columns)
    good = sum(state in GOOD for state, _ in states.values())
    lines = [
        "# Operators of MindSpore", "",
        f"The examples in the documentation of MindSpore {version} on Jumar: {len(states)} functions, layers and methods, of which {good} are right.",
        "Made by `tests/mindspore/operators.py`; edits are lost.", "",
        "Each example runs forward and, where it can be differentiated, backward: gradients of the inputs and of the parameters.", "",
        "| mark | meaning |", "|---|---|",
        "| ✓ | values and gradients equal those of MindSpore's CPU |",
        "| d | MindSpore's CPU has no such function, or another result by its documentation: values equal the documented ones, gradients equal central differences |",
        "| s | as d; the documentation prints shapes or types alone |",
        "| ∼ | random or unwritten values: shapes equal those of the CPU |",
        "| – | MindSpore itself refuses its example, on its CPU as well |",
        "| card | the operator is a program of MindSpore's wheel for the processor of a card; Jumar refuses it by its name |",
        "| missing | Jumar refuses it: the operator that is missing, or the case |",
        "| **differs** | differs from the CPU, or from the documentation |",
        "| **crashes**, **hangs** | ended the process, or did not end in time |", "",
        "| module | examples | " + " | ".join(mark for _, mark in columns) + " |",
        "|---|---:|" + "---:|" * len(columns),
    ]
    for group, members in groups.items():
        counts = collections.Counter(state for _, state, _ in members)
        lines.append(f"| `{group}` | {len(members)} | " + " | ".join(str(counts[state]) for state, _ in columns) + " |")
    lines += ["", "## What is not right", "", "| name | mark | remarks |", "|---|---|---|"]
    for name, (state, text) in states.items():
        if state not in GOOD:
            text = text.splitlines()[0] if text else ""
            lines.append(f"| `{name}` | {marks[state]} | {text[:200].replace('|', '/').replace('<', '&lt;')} |")
    lines += ["", "## What is right", ""]
    for group, members in groups.items():
        for state, mark in columns[:4]:
            names = [f"`{name.rpartition('.')[2]}`" for name, one, _ in members if one == state]
            if names:
                lines.append(f"- `{group}`, {mark}: " + " ".join(names))
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--update", action="store_true", help="stores the result and writes the page")
    parser.add_argument("--keep", help="a folder for what the processes wrote; results for the CPU there are used again")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("GLOG_v", "4")
    os.environ.update(ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL="3")
    if options.worker:
        worker(options.worker, sys.stdin.read().split(), options.folder, options.out)
        # Without the destructors of the framework, whose order is not what is examined here.
        sys.stdout.flush()
        os._exit(0)
    listing = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {HERE!r}); import operators; print('\\n'.join(operators.entries()))"],
                             capture_output=True, text=True)
    names = [line for line in listing.stdout.split() if re.match(r"(ops|mint|nn|Tensor)\.", line) and re.search(options.only, line)]
    if not names:
        raise SystemExit(f"no entry matches {options.only!r}: {listing.stderr[-2000:]}")
    folder = options.keep or tempfile.mkdtemp(prefix="mindspore-operators-")
    os.makedirs(folder, exist_ok=True)
    kept = os.path.join(folder, "cpu.pickle")
    cpu = {}
    if options.keep and os.path.exists(kept):
        with open(kept, "rb") as file:
            cpu = pickle.load(file)
    missing = [name for name in names if name not in cpu]
    if missing:
        cpu.update(run_all("CPU", missing, folder))
        with open(kept, "wb") as file:
            pickle.dump(cpu, file)
    device = run_all("Ascend", names, folder)
    with open(os.path.join(folder, "device.pickle"), "wb") as file:
        pickle.dump(device, file)
    states = collections.OrderedDict()
    for name in names:
        state, text = judge(name, device.get(name, {"error": "not run"}), cpu.get(name, {"error": "not run"}))
        if state is not None:
            states[name] = (state, text)
    counts = collections.Counter(state for state, _ in states.values())
    for name, (state, text) in states.items():
        if state not in GOOD:
            print(f"{name}: {state}: {text[-300:] if state in (CRASHES, HANGS) else text[:300]}")
    print(", ".join(f"{count} {state}" for state, count in counts.most_common()), f"of {len(states)}")
    if options.update:
        import importlib.metadata

        with open(STORED, "w", encoding="utf-8") as file:
            json.dump({name: state for name, (state, _) in states.items()}, file, indent=0, sort_keys=True)
            file.write("\n")
        write_page(states, importlib.metadata.version("mindspore"))
        return 0
    worse = []
    if os.path.exists(STORED):
        with open(STORED, encoding="utf-8") as file:
            stored = json.load(file)
        worse = [name for name, (state, _) in states.items() if stored.get(name) in GOOD and state not in GOOD]
    for name in worse:
        print(f"was right: {name}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
