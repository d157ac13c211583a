"""Single operators (aclnn) compared with PyTorch on the CPU and with the streaming bandwidth of the machine: `cargo xtask bench operators`.

benches/operators.cpp measures the operators through their C interface; this script measures the same calls of PyTorch with as many threads,
each with results that exist before. Prints a line of JSON for each figure, as jumar-bench does.

Usage: operators.py [--quick]
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# PyTorch must not load the adapter: the peer is its own CPU.
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/ge"))

from build import compile_program, run  # noqa: E402

PEER = "PyTorch"
STREAMING = "streaming"
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
LIBRARIES = ["-lopapi", "-lnnopbase", "-lascendcl"]
# Views reach half of the bandwidth, everything else four fifths.
VIEWS = 2.0
CONTIGUOUS = 1.25


def values(dtype, *dims):
    """The values of operators.cpp: multiples of 1/8 between 1/8 and 2."""
    index = torch.arange(math.prod(dims), dtype=torch.int64) * 2654435761 >> 7
    return ((index % 16 + 1) / 8).reshape(dims).to(dtype)


def operators(dtype, large):
    """Yields the name of each operator and a function that calls it."""
    n, depth = (2048, 512) if large else (4, 4)
    a, b, c, out = (values(dtype, n, n) for _ in range(4))
    line, row = values(dtype, n), values(dtype, n)
    mask = (torch.arange(n * n) % 3 == 0).reshape(n, n)
    index = torch.arange(n) * 7919 % n
    x, y, z = (values(dtype, depth, depth) for _ in range(3))
    batch = [values(dtype, 4, depth // 4, depth // 4) for _ in range(3)]
    positions, order = torch.empty(n, dtype=torch.int64), torch.empty(n, n, dtype=torch.int64)
    few, best = values(dtype, n, 2), torch.empty(n, 2, dtype=torch.int64)
    twice, turned = values(dtype, 2 * n, n), values(dtype, n, n).t()
    other = torch.float16 if dtype == torch.float32 else torch.float32
    wide = torch.empty(n, n, dtype=other)
    for name in ("abs", "neg", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "tanh", "erf", "sigmoid"):
        function = getattr(torch, name)
        yield name, lambda function=function: function(a, out=out)
    yield "relu", lambda: torch.clamp_min(a, 0, out=out)
    yield "leaky_relu", lambda: torch._C._nn.leaky_relu(a, 0.5, out=out)
    yield "gelu", lambda: torch._C._nn.gelu(a, out=out)
    yield "silu", lambda: torch.ops.aten.silu.out(a, out=out)
    yield "clamp", lambda: torch.clamp(a, 0.5, 1, out=out)
    for name in ("add", "sub", "mul", "div", "maximum"):
        function = getattr(torch, name)
        yield name, lambda function=function: function(a, b, out=out)
    yield "pow", lambda: torch.pow(a, 2, out=out)
    yield "add a row", lambda: torch.add(a, line, out=out)
    yield "addcmul", lambda: torch.addcmul(a, b, c, value=0.5, out=out)
    yield "where", lambda: torch.where(mask, a, b, out=out)
    yield "sum, last axis", lambda: torch.sum(a, 1, out=row)
    yield "sum, first axis", lambda: torch.sum(a, 0, out=row)
    yield "mean", lambda: torch.mean(a, 1, out=row)
    yield "amax", lambda: torch.amax(a, 1, out=row)
    yield "argmax", lambda: torch.argmax(a, 1, out=positions)
    yield "var", lambda: torch.var(a, 1, out=row)
    yield "cumsum", lambda: torch.cumsum(a, 1, out=out)
    yield "softmax", lambda: torch.softmax(a, 1, out=out)
    yield "log_softmax", lambda: torch.log_softmax(a, 1, out=out)
    yield "layer_norm", lambda: functional.layer_norm(a, (n,), line, line, 1e-5)
    yield "matmul", lambda: torch.matmul(x, y, out=z)
    yield "bmm", lambda: torch.bmm(batch[0], batch[1], out=batch[2])
    yield "addmm", lambda: torch.addmm(x, x, y, out=z)
    yield "index_select", lambda: torch.index_select(a, 0, index, out=out)
    yield "embedding", lambda: functional.embedding(index, a)
    yield "topk", lambda: torch.topk(a, 2, 1, out=(few, best))
    yield "sort", lambda: torch.sort(a, stable=True, dim=1, out=(out, order))
    yield "cat", lambda: torch.cat([a, b], out=twice)
    yield "copy, transposed", lambda: out.copy_(turned)
    yield "cast", lambda: wide.copy_(a)
    if not large:
        return
    q, k, v = (values(dtype, 1, 8, 2048, 64).requires_grad_() for _ in range(3))

    def attention():
        with torch.no_grad():
            functional.scaled_dot_product_attention(q, k, v, scale=0.125)

    yield "attention, 2,048 tokens, 8 heads of 64", attention
    result = functional.scaled_dot_product_attention(q, k, v, scale=0.125)
    gradient = result.detach()
    yield "its gradient", lambda: torch.autograd.grad(result, [q, k, v], gradient, retain_graph=True)


def microseconds(function):
    """The shortest of several rounds, each of as many calls as take a hundredth of a second."""

    def one_round(count):
        start = time.perf_counter()
        for _ in range(count):
            function()
        return (time.perf_counter() - start) / count * 1e6

    one_round(1)
    best = one_round(1)
    count = max(1, min(10000, int(1e4 / max(best, 0.1))))
    start = time.perf_counter()
    for number in range(20):
        if number >= 3 and time.perf_counter() - start > 0.2:
            break
        best = min(best, one_round(count))
    return best


def figures(program, folder, what, workers):
    """Runs a part of operators.cpp and returns its figures by name."""
    output = run(program, folder, what, env={"JUMAR_WORKERS": str(workers)}, limit=1800)
    lines = (line.rsplit("\t", 1) for line in output.splitlines() if "\t" in line)
    return {name: float(value) for name, value in lines}


def show(what, value, unit, limit=None, target=None):
    line = {"what": what, "value": value, "unit": unit}
    if limit is not None:
        line["limit"] = limit
    if target is not None:
        line["target"] = target
    print(json.dumps(line), flush=True)


def overhead(program, folder):
    targets = {"aclnnAdd of 8 elements: both phases": 1.0, "aclCreateTensor and aclDestroyTensor, four of each": 0.2}
    targets["replay of 1,000 captured aclnnAdd of 8 elements, an operator with its kernel"] = 0.3
    for name, value in figures(program, folder, "overhead", 1).items():
        show(name, value, "us", target={"Value": targets[name]})


def bandwidth(program, folder, threads):
    found = figures(program, folder, "bandwidth", threads)
    plural = "1 thread" if threads == 1 else f"{threads} threads"
    for name, value in found.items():
        if name.endswith("|limit"):
            continue
        is_view = "view" in name or "every second" in name
        target = {"Ratio": VIEWS if is_view else CONTIGUOUS}
        show(f"{name}, float32, 64 MiB, {plural}", value, "us", [STREAMING, found[f"{name}|limit"]], target)


def table(program, folder, types):
    torch.set_num_threads(1)
    found = figures(program, folder, "table", 1)
    ratios = []
    for type_name in types:
        for large in (False, True):
            size = "large" if large else "small"
            for name, function in operators(TYPES[type_name], large):
                value = found.get(f"{name}|{type_name}|{size}")
                if value is None:
                    print(f"missing: {name}, {type_name}, {size}", flush=True)
                    continue
                peer = microseconds(function)
                ratios.append(value / peer)
                show(f"{name}, {type_name}, {size}", value, "us", [PEER, peer], {"Ratio": 2.0})
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    show(f"geometric mean of {len(ratios)} rows, 1 thread (relative)", mean, "", [PEER, 1.0], {"Ratio": 1.0})


def main():
    quick = "--quick" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "operators"
        compile_program(ROOT / "benches/operators.cpp", program, "-O2", *LIBRARIES, abi=1)
        table(program, folder, ["float32"] if quick else list(TYPES))
        overhead(program, folder)
        if not quick:
            for threads in (1, 2):
                bandwidth(program, folder, threads)


if __name__ == "__main__":
    main()
