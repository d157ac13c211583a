"""Models through the acl module, ONNX Runtime and OpenVINO, in turn in one process; `cargo xtask bench models` runs this.

Prints one JSON list of lines, as jumar-bench does. Each latency is the median of the rounds, in each of which every engine runs in
turn; all have as many threads as stand in the line. The number of Jumar's threads is fixed when its module starts, so that each has a
process of its own: this file calls itself. Weights are seeded random numbers (tests/models/nets).

Usage: models.py [--quick]
"""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models"))

import numpy as np  # noqa: E402

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
CNNS = {
    "ResNet-50": "resnet50",
    "MobileNetV2": "mobilenet_v2",
    "SqueezeNet": "squeezenet",
    "DenseNet-121": "densenet121",
    "ShuffleNet": "shufflenet",
    "Inception v2": "inception_v2",
    "VGG-19": "vgg19",
}
TRANSFORMERS = {"BERT-base, sequence 128": "bert", "decoder with cache": "decoder"}
MODELS = CNNS | TRANSFORMERS
QUICK = ["MobileNetV2", "ResNet-50", "BERT-base, sequence 128", "decoder with cache"]
DISTANCE = 1e-5
ORT, OPENVINO, INSTALLED = "ONNX Runtime", "OpenVINO float32", "OpenVINO as installed"
# A round of one engine lasts about so long.
ROUND_MS = 60


def good(ret):
    if ret != 0:
        import acl

        raise RuntimeError(f"{ret}: {acl.get_recent_err_msg()}")


def value(result):
    found, ret = result
    good(ret)
    return found


# ---------------------------------------------------------------- models


def inputs_of(model):
    """Seeded inputs, by name: token numbers small, positions behind the cache, masks with some zeros."""
    rng = np.random.default_rng(0)
    feed = {}
    for port in model.graph.input:
        dims = [dim.dim_value for dim in port.type.tensor_type.shape.dim]
        if port.name == "mask":
            x = np.ones(dims, np.int64)
            x[:, dims[1] * 3 // 4 :] = 0
        elif port.name == "position":
            x = np.full(dims, 64, np.int64)
        elif port.type.tensor_type.elem_type == 7:
            x = rng.integers(0, 4000, dims)
        else:
            x = rng.standard_normal(dims).astype(np.float32)
        feed[port.name] = x
    return feed


def convert(source, target):
    atc = ["atc", f"--model={source}", "--framework=5", f"--output={target}", "--soc_version=Ascend910B1"]
    done = subprocess.run(atc, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"atc: {done.stdout}{done.stderr}")


def prepare(folder, name, maker, batch):
    import nets

    model = getattr(nets, maker)(batch=batch)
    path = folder / f"{maker}_{batch}.onnx"
    path.write_bytes(model.SerializeToString())
    np.savez(folder / f"{maker}_{batch}.npz", **inputs_of(model))
    convert(path, path.with_suffix(""))


def one_node(folder, name, op, x, weights, **attrs):
    """A model of one operator, as ONNX and .om."""
    from nets import Net
    from onnx import TensorProto

    net = Net(1)
    y = net.node(op, ["x"] + [net.weight(weight) for weight in weights], **attrs)
    model = net.model({"x": (TensorProto.FLOAT, list(x.shape))}, [y])
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString())
    np.savez(folder / f"{name}.npz", x=x)
    convert(path, path.with_suffix(""))


# ---------------------------------------------------------------- engines


class Jumar:
    """A loaded model and its buffers on the device."""

    def __init__(self, path, feed):
        import acl

        self.acl = acl
        self.model = value(acl.mdl.load_from_file(str(path.with_suffix(".om"))))
        self.desc = acl.mdl.create_desc()
        good(acl.mdl.get_desc(self.desc, self.model))
        self.inputs, self.outputs = acl.mdl.create_dataset(), acl.mdl.create_dataset()
        self.buffers = []
        self.hosts = [np.ascontiguousarray(x) for x in feed.values()]
        self.ins = [self.buffer(self.inputs, x.nbytes) for x in self.hosts]
        sizes = [acl.mdl.get_output_size_by_index(self.desc, i) for i in range(acl.mdl.get_num_outputs(self.desc))]
        self.outs = [self.buffer(self.outputs, size) for size in sizes]
        self.results = [np.zeros(size, np.uint8) for size in sizes]

    def buffer(self, dataset, size):
        address = value(self.acl.rt.malloc(max(size, 1), 0))
        data = self.acl.create_data_buffer(address, size)
        _, ret = self.acl.mdl.add_dataset_buffer(dataset, data)
        good(ret)
        self.buffers.append((address, data))
        return address

    def fill(self):
        for address, x in zip(self.ins, self.hosts):
            good(self.acl.rt.memcpy(address, x.nbytes, x.ctypes.data, x.nbytes, HOST_TO_DEVICE))

    def run(self):
        """All that a program does for one answer: copy in, execute, copy out."""
        acl = self.acl
        self.fill()
        good(acl.mdl.execute(self.model, self.inputs, self.outputs))
        for address, y in zip(self.outs, self.results):
            good(acl.rt.memcpy(y.ctypes.data, y.nbytes, address, y.nbytes, DEVICE_TO_HOST))
        return self.results

    def close(self):
        acl = self.acl
        for address, data in self.buffers:
            good(acl.destroy_data_buffer(data))
            good(acl.rt.free(address))
        for dataset in (self.inputs, self.outputs):
            good(acl.mdl.destroy_dataset(dataset))
        good(acl.mdl.destroy_desc(self.desc))
        good(acl.mdl.unload(self.model))


class Ort:
    def __init__(self, path, feed, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.feed = feed

    def run(self):
        return self.session.run(None, self.feed)


class OpenVino:
    def __init__(self, path, feed, threads, float32):
        import openvino

        config = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
        if float32:
            config["INFERENCE_PRECISION_HINT"] = "f32"
        self.request = openvino.Core().compile_model(str(path), "CPU", config).create_infer_request()
        self.feed = feed

    def run(self):
        return self.request.infer(self.feed)


def milliseconds(work, repeat=1):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def timed(make):
    start = time.perf_counter()
    made = make()
    return made, (time.perf_counter() - start) * 1e3


def in_turn(works, rounds):
    """The median of each work over rounds in which all run in turn."""
    repeats = {name: max(1, min(50, int(ROUND_MS / max(milliseconds(work), 1e-3)))) for name, work in works.items()}
    times = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(milliseconds(work, repeats[name]))
    return {name: statistics.median(found) for name, found in times.items()}


# ---------------------------------------------------------------- measuring, in a process with so many threads


def distance(found, wanted):
    """max|a-b| / max|b| over all outputs."""
    worst = 0.0
    for a, b in zip(found, wanted):
        a = a.view(b.dtype).reshape(b.shape)
        worst = max(worst, float(np.abs(a.astype(np.float64) - b).max() / max(np.abs(b).max(), 1e-30)))
    return worst


def measure(folder, threads, names, batches, rounds):
    import acl

    good(acl.init())
    good(acl.rt.set_device(0))
    results = {"models": [], "kernels": {}, "small": None, "alone": None}
    for name in names:
        for batch in batches:
            path = folder / f"{MODELS[name]}_{batch}.onnx"
            feed = dict(np.load(path.with_suffix(".npz")))
            ort, ort_load = timed(lambda: Ort(path, feed, threads))
            jumar, load = timed(lambda: Jumar(path, feed))
            found = distance(jumar.run(), ort.run())
            assert found <= DISTANCE, f"{name}, batch {batch}: distance {found}"
            works = {"Jumar": jumar.run, ORT: ort.run}
            try:
                plain, installed = OpenVino(path, feed, threads, True), OpenVino(path, feed, threads, False)
                plain.run(), installed.run()
                works |= {OPENVINO: plain.run, INSTALLED: installed.run}
            except Exception as error:  # an engine that cannot run a model is left out, and said so
                print(f"{name}: OpenVINO: {error}", file=sys.stderr)
            times = in_turn(works, rounds)
            results["models"].append(
                {"name": name, "batch": batch, "times": times, "load": [load, ort_load], "distance": found}
            )
            print(f"{threads} thread(s), {name}, batch {batch}: {times}", file=sys.stderr, flush=True)
            jumar.close()
            del works, ort
    if threads == 1:
        results["kernels"] = kernels(folder, rounds)
        tiny = Jumar(folder / "tiny.onnx", dict(np.load(folder / "tiny.npz")))
        other = Ort(folder / "tiny.onnx", dict(np.load(folder / "tiny.npz")), 1)
        run = lambda: good(tiny.acl.mdl.execute(tiny.model, tiny.inputs, tiny.outputs))  # noqa: E731
        results["small"] = in_turn({"Jumar": lambda: [run() for _ in range(100)], ORT: lambda: [other.run() for _ in range(100)]}, rounds)
        tiny.close()
    results["streams"] = streams(folder, threads)
    good(acl.rt.reset_device(0))
    good(acl.finalize())
    return results


def streams(folder, threads):
    """Executions a second: on one stream, and of two different models on two streams at once."""
    import acl

    paths = [folder / "mobilenet_v2_1.onnx", folder / "decoder_1.onnx"]
    models = [Jumar(path, dict(np.load(path.with_suffix(".npz")))) for path in paths]
    queues = [value(acl.rt.create_stream()) for _ in models]
    for model in models:
        model.fill()
    counts = [1, 1]

    def work(which):
        for index in which:
            model = models[index]
            for _ in range(counts[index]):
                good(acl.mdl.execute_async(model.model, model.inputs, model.outputs, queues[index]))
        for index in which:
            good(acl.rt.synchronize_stream(queues[index]))

    # Each stream gets about as much work.
    alone = [milliseconds(lambda: work([index]), 5) for index in range(len(models))]  # noqa: B023
    counts = [max(1, round(100 / ms)) for ms in alone]
    one = statistics.median(milliseconds(lambda: [work([0]), work([1])]) for _ in range(5))
    two = statistics.median(milliseconds(lambda: work([0, 1])) for _ in range(5))
    for model, queue in zip(models, queues):
        good(acl.rt.destroy_stream(queue))
        model.close()
    return {"in turn": one, "at once": two}


CEILING = r"""
#include <stdio.h>
#include <time.h>
typedef float v __attribute__((vector_size(64)));
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
int main(void) {
    v s[16], x, y; double best = 1e9;
    for (int l = 0; l < 16; l++) { x[l] = 1.000001f; y[l] = 1e-7f; }
    for (int i = 0; i < 16; i++) s[i] = x;
    for (int round = 0; round < 200; round++) {
        double start = now();
        for (int n = 0; n < 20000; n++)
            for (int i = 0; i < 16; i++) s[i] = s[i] * x + y;
        double took = now() - start;
        if (took < best) best = took;
    }
    float sum = 0; for (int i = 0; i < 16; i++) sum += s[i][0];
    printf("%f %f\n", 20000.0 * 16 * 32 / best * 1e-9, sum);
}
"""

# name -> (operator, input, weights, attributes, multiplications)
SHAPES = {
    "product 1024 x 1024 x 1024": ("MatMul", (1024, 1024), [(1024, 1024)], {}, 1024**3),
    "product 128 x 3072 x 768": ("MatMul", (128, 768), [(768, 3072)], {}, 128 * 3072 * 768),
    "convolution 3 x 3, 64 to 64 channels, 56 x 56": (
        "Conv", (1, 64, 56, 56), [(64, 64, 3, 3)], {"kernel_shape": [3, 3], "pads": [1] * 4}, 64 * 64 * 9 * 56 * 56),
    "convolution 1 x 1, 256 to 64 channels, 56 x 56": (
        "Conv", (1, 256, 56, 56), [(64, 256, 1, 1)], {"kernel_shape": [1, 1]}, 256 * 64 * 56 * 56),
    "convolution 3 x 3, depthwise, 144 channels, 56 x 56": (
        "Conv", (1, 144, 56, 56), [(144, 1, 3, 3)], {"kernel_shape": [3, 3], "pads": [1] * 4, "group": 144}, 144 * 9 * 56 * 56),
}


def prepare_kernels(folder):
    rng = np.random.default_rng(3)
    for index, (op, x, weights, attrs, _) in enumerate(SHAPES.values()):
        weights = [rng.standard_normal(shape).astype(np.float32) / 8 for shape in weights]
        one_node(folder, f"kernel{index}", op, rng.standard_normal(x).astype(np.float32), weights, **attrs)
    one_node(folder, "tiny", "Relu", rng.standard_normal((16,)).astype(np.float32), [])
    source = folder / "ceiling.c"
    source.write_text(CEILING)
    flags = ["-O3", "-march=native", "-ffp-contract=fast"]
    done = subprocess.run(["cc", *flags, str(source), "-o", str(folder / "ceiling")], capture_output=True)
    if done.returncode:
        print(f"the ceiling cannot be measured: {done.stderr.decode()}", file=sys.stderr)


def kernels(folder, rounds):
    """GFLOP/s of each kernel, of ONNX Runtime's, and of nothing but multiplications and additions."""
    found = {}
    for index, (name, (_, _, _, _, count)) in enumerate(SHAPES.items()):
        path = folder / f"kernel{index}.onnx"
        feed = dict(np.load(path.with_suffix(".npz")))
        ort, jumar = Ort(path, feed, 1), Jumar(path, feed)
        execute = lambda: good(jumar.acl.mdl.execute(jumar.model, jumar.inputs, jumar.outputs))  # noqa: B023, E731
        times = in_turn({"Jumar": execute, ORT: ort.run}, rounds)
        found[name] = {engine: 2 * count / ms * 1e-6 for engine, ms in times.items()}
        if (folder / "ceiling").exists():
            found[name]["ceiling"] = float(subprocess.run([folder / "ceiling"], capture_output=True, text=True).stdout.split()[0])
        jumar.close()
    return found


def resident(field):
    """VmRSS, what the process has in memory now, or VmHWM, the most that it had, in MiB."""
    return int(re.search(rf"{field}:\s+(\d+)", pathlib.Path("/proc/self/status").read_text()).group(1)) / 1024


def memory(engine, path):
    """What the process has more at its peak than before the model was loaded, in MiB."""
    feed = dict(np.load(path.with_suffix(".npz")))
    if engine == "Jumar":
        import acl

        good(acl.init())
        good(acl.rt.set_device(0))
        make = lambda: Jumar(path, feed)  # noqa: E731
    else:
        import onnxruntime  # noqa: F401

        make = lambda: Ort(path, feed, 1)  # noqa: E731
    # The peak is counted from here on.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    model = make()
    for _ in range(2):
        model.run()
    return max(resident("VmHWM") - before, 0.1)


# ---------------------------------------------------------------- the picture


def profile(folder, runner, picture):
    """Draws which part of a model's time each operator takes."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    # The same picture has the same bytes.
    plt.rcParams.update({"svg.hashsalt": "jumar", "font.size": 9})
    shown = ["ResNet-50", "MobileNetV2", "BERT-base, sequence 128"]
    bars = {}
    for name in shown:
        path = folder / f"{MODELS[name]}_1.onnx"
        files = []
        for index, x in enumerate(np.load(path.with_suffix(".npz")).values()):
            files.append(folder / f"in{index}")
            x.tofile(files[-1])
        command = [runner, path, folder, "--repeat", "8", "--steps", *files]
        text = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
        sums = {}
        for took, operator in re.findall(r"^\s*([\d.]+) us\s+(\S+)", text, re.M):
            sums[operator] = sums.get(operator, 0) + float(took) / 1e3
        bars[name] = sorted(sums.items(), key=lambda part: -part[1])
    figure, axes = plt.subplots(len(shown), 1, figsize=(8, 5.4), layout="constrained")
    for axis, (name, parts) in zip(axes, bars.items()):
        total = sum(ms for _, ms in parts)
        named = [part for part in parts if part[1] > 0.01 * total]
        named.append(("all others", total - sum(ms for _, ms in named)))
        operators, times = zip(*reversed(named))
        axis.barh(operators, times, color="#3b6ea5")
        for row, ms in enumerate(times):
            axis.text(ms, row, f" {ms:.2f} ms, {100 * ms / total:.0f} %", va="center")
        axis.set_title(f"{name}, batch 1, one thread: {total:.1f} ms", loc="left")
        axis.set_xlim(0, max(times) * 1.2)
        axis.spines[["top", "right"]].set_visible(False)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, metadata={"Date": None, "Creator": None})


# ---------------------------------------------------------------- all of it


def mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def lines_of(results, peaks, names, batches):
    lines = []

    def line(what, number, unit="ms", limit=None, target=None, also=()):
        lines.append({"what": what, "value": number, "unit": unit, "limit": limit, "target": target, "also": list(also)})

    def threads_of(threads):
        return "1 thread" if threads == 1 else f"{threads} threads"

    groups = {"all models": names, "CNNs": [n for n in names if n in CNNS], "transformers": [n for n in names if n in TRANSFORMERS]}
    for threads, result in results.items():
        for batch in batches:
            for group, members in groups.items():
                found = [m["times"] for m in result["models"] if m["batch"] == batch and m["name"] in members]
                if not found:
                    continue
                also = []
                for engine in (OPENVINO, INSTALLED):
                    shared = [times for times in found if engine in times]
                    if shared:
                        also.append([engine, mean([times[engine] / times[ORT] for times in shared])])
                ratio = mean([times["Jumar"] / times[ORT] for times in found])
                what = f"geometric mean of {group}, batch {batch}, {threads_of(threads)}"
                line(what, ratio, "", [ORT, 1.0], {"Ratio": 1.2} if group == "all models" else None, also)
    for threads, result in results.items():
        for model in result["models"]:
            times = model["times"]
            also = [[engine, times[engine]] for engine in (OPENVINO, INSTALLED) if engine in times]
            what = f"{model['name']}, batch {model['batch']}, {threads_of(threads)}"
            line(what, times["Jumar"], "ms", [ORT, times[ORT]], None, also)
    first = next(iter(results.values()))
    loads = [model["load"] for model in first["models"] if model["batch"] == batches[0]]
    line("load, geometric mean", mean([ours / theirs for ours, theirs in loads]), "", [ORT, 1.0], {"Ratio": 0.5})
    for model in first["models"]:
        if model["batch"] == batches[0]:
            line(f"{model['name']}, load", model["load"][0], "ms", [ORT, model["load"][1]])
    if peaks:
        line("peak memory, geometric mean", mean([ours / theirs for ours, theirs in peaks.values()]), "", [ORT, 1.0], {"Ratio": 1.0})
        for name, (ours, theirs) in peaks.items():
            line(f"{name}, peak memory", ours, "MiB", [ORT, theirs])
    worst = max((model for result in results.values() for model in result["models"]), key=lambda model: model["distance"])
    line(f"largest distance from ONNX Runtime ({worst['name']})", worst["distance"] * 1e6, "millionths", None, {"Value": DISTANCE * 1e6})
    for name, found in first["kernels"].items():
        limit = ["multiplications and additions alone", found["ceiling"]] if "ceiling" in found else None
        line(name, found["Jumar"], "GFLOP/s", limit, None, [[ORT, found[ORT]]])
    if first["small"]:
        us = {engine: ms * 10 for engine, ms in first["small"].items()}
        line("one operator on 16 numbers: aclmdlExecute from Python", us["Jumar"], "us", [ORT, us[ORT]])
    if 2 in results and 1 in results:
        alone, both = results[1]["streams"]["in turn"], results[2]["streams"]["at once"]
        # 1.7 times the throughput.
        line("MobileNetV2 and the decoder on two streams, two workers", both, "ms",
             ["one after the other, one worker", alone], {"Ratio": 0.588})
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="four models, batch 1, three rounds")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    names, batches, rounds = (QUICK, [1], 3) if options.quick else (list(MODELS), [1, 8], 5)
    if options.measure:
        result = measure(options.folder, options.measure, names, batches, rounds)
        (options.folder / f"result{options.measure}.json").write_text(json.dumps(result))
        return
    if options.memory:
        engine, path = options.memory
        print(json.dumps(memory(engine, pathlib.Path(path))))
        return
    own = [sys.executable, __file__, *(["--quick"] if options.quick else [])]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in names:
            for batch in batches:
                prepare(folder, name, MODELS[name], batch)
            print(f"{name} is made", file=sys.stderr, flush=True)
        prepare_kernels(folder)
        results = {}
        for threads in (1, 2):
            if threads > (os.cpu_count() or 1):
                continue
            environment = os.environ | {"JUMAR_WORKERS": str(threads), "OMP_NUM_THREADS": str(threads)}
            subprocess.run([*own, "--measure", str(threads), "--folder", str(folder)], check=True, env=environment)
            results[threads] = json.loads((folder / f"result{threads}.json").read_text())
        peaks = {}
        for name in names:
            path = str(folder / f"{MODELS[name]}_1.onnx")
            environment = os.environ | {"JUMAR_WORKERS": "1"}
            figures = [
                json.loads(subprocess.run([*own, "--memory", engine, path], check=True, env=environment, capture_output=True).stdout)
                for engine in ("Jumar", ORT)
            ]
            peaks[name] = figures
        runner = os.environ.get("JUMAR_RUN_MODEL")
        if runner and not options.quick:
            profile(folder, runner, ROOT / "docs/pictures/profile.svg")
    print(f"on {platform.machine()}, Python {platform.python_version()}", file=sys.stderr)
    print(json.dumps(lines_of(results, peaks, names, batches), indent=1))


if __name__ == "__main__":
    main()
