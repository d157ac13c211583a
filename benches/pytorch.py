"""PyTorch through the prebuilt adapter compared with PyTorch's own CPU backend: `cargo xtask bench pytorch`.

Both devices take turns in one process with one thread each, and the median of the rounds counts. Peak memory is that of a process of its own for
each device. Prints a line of JSON for each figure, as jumar-bench does.

Usage: pytorch.py [--quick]
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PEER = "PyTorch on the CPU"
RUN_AGAIN = "JUMAR_BENCH_PYTORCH"
DEVICES = ("npu", "cpu")


def prepared():
    """Starts the script again with one thread for each side."""
    environment = {**os.environ, RUN_AGAIN: "1", "OMP_NUM_THREADS": "1", "JUMAR_WORKERS": "1"}
    return subprocess.run([sys.executable, __file__, *sys.argv[1:]], env=environment, check=False).returncode


def show(what, value, unit, peer=None, target=None):
    line = {"what": what, "value": value, "unit": unit}
    if peer is not None:
        line["limit"] = [PEER, peer]
    if target is not None:
        line["target"] = target
    print(json.dumps(line), flush=True)


def medians(works, calls, rounds):
    """Returns the microseconds of a call on each device. A round ends when everything that it queued has run."""
    import torch

    took = {device: [] for device in works}
    for _ in range(rounds + 1):
        for device, work in works.items():
            begin = time.perf_counter()
            for _ in range(calls):
                work()
            if device == "npu":
                torch.npu.synchronize()
            took[device].append((time.perf_counter() - begin) / calls * 1e6)
    # The first round fills caches.
    return [statistics.median(took[device][1:]) for device in DEVICES]


def operators(quick):
    import torch

    rounds = 3 if quick else 9
    small = {device: torch.arange(8.0, device=device) for device in DEVICES}
    ours, theirs = medians({device: lambda x=x: x + x for device, x in small.items()}, 2000, rounds)
    show("x + y, 8 elements", ours, "us", theirs, {"Value": 12.0})
    torch.manual_seed(0)
    large, square = torch.randn(1 << 22), torch.randn(1024, 1024)
    rows = [
        ("x + y, 16 MiB of float32", large, lambda x: x + x, 20),
        ("exp(x), 16 MiB of float32", large, torch.exp, 20),
        ("sum of 16 MiB of float32", large, torch.sum, 20),
        ("softmax of 1024 x 1024", square, lambda x: torch.softmax(x, 1), 50),
        ("matmul of 1024 x 1024", square, lambda x: x @ x, 5),
    ]
    for what, tensor, function, calls in rows:
        works = {}
        for device in DEVICES:
            on_device = tensor.to(device)
            works[device] = lambda x=on_device, function=function: function(x)
        show(what, *in_unit(medians(works, calls, rounds), "us"), {"Ratio": 1.0})


def in_unit(pair, unit):
    divisor = {"us": 1.0, "ms": 1e3}[unit]
    return pair[0] / divisor, unit, pair[1] / divisor


SIZES = {
    "resnet18": ("ResNet-18, 4 images of 224 x 224", {"widths": (64, 128, 256, 512), "batch": 4, "side": 224}),
    "transformer": ("transformer of 4 layers, 8 x 128 tokens, width 256", {"width": 256, "count": 4, "heads": 8, "batch": 8, "length": 128}),
    "gpt": ("language model of 6 layers, width 384", {"width": 384, "heads": 6, "layers": 6}),
}


def networks(quick):
    import torch
    from models import models

    rounds = 2 if quick else 5
    for name in ("resnet18", "transformer"):
        what, sizes = SIZES[name]
        works = {}
        for device in DEVICES:
            torch.manual_seed(0)
            module, optimizer, data, loss_of = models()[name](**sizes)
            module.to(device)
            data = [each.to(device) for each in data]

            def step(optimizer=optimizer, data=data, loss_of=loss_of):
                optimizer.zero_grad()
                loss_of(*data).backward()
                optimizer.step()

            works[device] = step
        show(f"{what}: training step", *in_unit(medians(works, 1, rounds), "ms"), {"Ratio": 1.2})
    what, sizes = SIZES["gpt"]
    works = {}
    for device in DEVICES:
        torch.manual_seed(0)
        module, _, data, _ = models()["gpt"](**sizes)
        module.to(device).eval()
        prompt = data[0][:1, :8].to(device)
        works[device] = lambda module=module, prompt=prompt: module.generate(prompt, 32)
    ours, theirs = medians(works, 1, rounds)
    show(f"{what}: a generated token", ours / 32e3, "ms", theirs / 32e3, {"Ratio": 1.0})


def peak(device):
    """Trains in this process and prints how much memory that took at most, in MiB."""
    import torch

    if device == "npu":
        import torch_npu  # noqa: F401
    from models import models

    def usage(field):
        lines = pathlib.Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024

    torch.zeros(1).to(device)
    # Importing the libraries takes more memory for a moment than it keeps: 5 resets the peak.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = usage("VmRSS")
    torch.manual_seed(0)
    module, optimizer, data, loss_of = models()["resnet18"](**SIZES["resnet18"][1])
    module.to(device)
    data = [each.to(device) for each in data]
    for _ in range(3):
        optimizer.zero_grad()
        loss_of(*data).backward()
        optimizer.step()
    loss_of(*data).item()
    print(usage("VmHWM") - before)


def memory():
    grown = []
    for device in DEVICES:
        done = subprocess.run([sys.executable, __file__, "--peak", device], stdout=subprocess.PIPE, text=True, check=True)
        grown.append(float(done.stdout.split()[-1]))
    show(f"{SIZES['resnet18'][0]}: peak memory of training", grown[0], "MiB", grown[1], {"Ratio": 1.3})


def main():
    if RUN_AGAIN not in os.environ:
        return prepared()
    sys.path.insert(0, str(ROOT / "tests/pytorch"))
    if "--peak" in sys.argv[1:]:
        return peak(sys.argv[-1])
    import torch
    import torch_npu  # noqa: F401  (registers the device "npu")

    torch.set_num_threads(1)
    quick = "--quick" in sys.argv[1:]
    operators(quick)
    networks(quick)
    memory()
    return 0


if __name__ == "__main__":
    sys.exit(main())
