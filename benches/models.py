"""Models through the acl module, ONNX Runtime and OpenVINO, in turn in one process; `cargo xtask bench models` and `networks` run this.

Prints a line of JSON for each figure, as jumar-bench does. Each latency is the median of the rounds, in each of which every engine runs
in turn; all have as many threads as stand in the line. The number of Jumar's threads is fixed when its module starts, so that each has
a process of its own: this file calls itself. Weights are seeded random numbers (tests/models/nets).

Each part (a network at a batch and a number of threads, its memory, the kernels, the streams) is saved as soon as it is measured, in the
folder that JUMAR_BENCH_PARTS names. A run measures the selected parts, all by default, and prints the table of all saved parts.

With --further it measures the networks of other kinds, and what the package and dynamic shapes cost.

Usage: models.py [--further] [--quick] [--only NAME,...] [--batch N,...] [--threads N,...] [--resume]
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models"))

import numpy as np  # noqa: E402

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
ND = 2
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
# Networks of other kinds, most of them small, each with a target of its own.
FURTHER = {
    "MobileNetV3-Large": "mobilenet_v3",
    "temporal convolutions": "tcn",
    "LSTM, both directions": "lstm",
    "GRU encoder, both directions": "gru",
    "small 1-D network": "sensor",
    "small image network": "digits",
    "three dense layers": "mlp",
}
NETWORKS = MODELS | FURTHER
# What is run through the package and with dynamic shapes too: from 5 us to 8 ms.
CALLED = ["mlp", "digits", "sensor", "lstm", "gru", "mobilenet_v3"]
QUICK = ["MobileNetV2", "ResNet-50", "BERT-base, sequence 128", "decoder with cache"]
DISTANCE = 1e-5
ORT, OPENVINO, INSTALLED = "ONNX Runtime", "OpenVINO float32", "OpenVINO as installed"
# A round of one engine lasts about so long.
ROUND_MS = 60
# Nine rounds, or five where all of them would take longer than this.
BUDGET_S, ROUNDS, FEWER = 10, 9, 5
# Threads of one engine keep spinning after its turn (ONNX Runtime's for some 20 ms) and would take a processor from the next.
REST_S = 0.04
THREADS = [threads for threads in (1, 2) if threads <= (os.cpu_count() or 1)]


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


def convert(source, target, *options):
    atc = ["atc", f"--model={source}", "--framework=5", f"--output={target}", "--soc_version=Ascend910B1", *options]
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


def prepare_dynamic(folder, maker):
    """Converts a network once more, with a first dimension of each input that is chosen at each run."""
    import onnx

    model = onnx.load(folder / f"{maker}_1.onnx")
    del model.graph.value_info[:]
    for port in [*model.graph.input, *model.graph.output]:
        port.type.tensor_type.shape.dim[0].dim_param = f"first of {port.name}"
    path = folder / f"{maker}_dynamic.onnx"
    onnx.save(model, path)
    shapes = []
    for port in model.graph.input:
        dims = [str(dim.dim_value) for dim in port.type.tensor_type.shape.dim]
        shapes.append(f"{port.name}:{','.join(['-1', *dims[1:]])}")
    convert(path, path.with_suffix(""), f"--input_shape={';'.join(shapes)}")


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
        sizes = self.output_sizes()
        self.outs = [self.buffer(self.outputs, size) for size in sizes]
        self.results = [np.zeros(size, np.uint8) for size in sizes]
        # NumPy takes 1 us for an address, and these stay.
        self.uploads = [(to, x.nbytes, x.ctypes.data) for to, x in zip(self.ins, self.hosts)]
        self.downloads = [(y.ctypes.data, y.nbytes, source) for y, source in zip(self.results, self.outs)]

    def output_sizes(self):
        mdl = self.acl.mdl
        return [mdl.get_output_size_by_index(self.desc, index) for index in range(mdl.get_num_outputs(self.desc))]

    def buffer(self, dataset, size):
        address = value(self.acl.rt.malloc(max(size, 1), 0))
        data = self.acl.create_data_buffer(address, size)
        _, ret = self.acl.mdl.add_dataset_buffer(dataset, data)
        good(ret)
        self.buffers.append((address, data))
        return address

    def fill(self):
        for to, size, source in self.uploads:
            good(self.acl.rt.memcpy(to, size, source, size, HOST_TO_DEVICE))

    def run(self):
        """All that a program does for one answer: copy in, execute, copy out."""
        acl = self.acl
        self.fill()
        good(acl.mdl.execute(self.model, self.inputs, self.outputs))
        for to, size, source in self.downloads:
            good(acl.rt.memcpy(to, size, source, size, DEVICE_TO_HOST))
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


class Dynamic(Jumar):
    """A model with dynamic shapes, in buffers as large as those of one with fixed shapes."""

    def __init__(self, path, feed, fixed):
        self.sizes = [result.nbytes for result in fixed.results]
        super().__init__(path, feed)
        acl = self.acl
        self.descriptions = []
        for index, x in enumerate(self.hosts):
            kind = acl.mdl.get_input_data_type(self.desc, index)
            self.descriptions.append(acl.create_tensor_desc(kind, list(x.shape), ND))
            _, ret = acl.mdl.set_dataset_tensor_desc(self.inputs, self.descriptions[-1], index)
            good(ret)

    def output_sizes(self):
        return self.sizes

    def close(self):
        super().close()
        for description in self.descriptions:
            self.acl.destroy_tensor_desc(description)


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


def in_turn(works):
    """The median of each work over rounds in which all run in turn."""
    start = time.monotonic()
    for work in works.values():
        work()  # what is found out once, and memory that is touched for the first time
    repeats = {name: max(1, min(50, int(ROUND_MS / max(milliseconds(work), 1e-3)))) for name, work in works.items()}
    times = {name: [] for name in works}
    done = 0
    while done < FEWER or (done < ROUNDS and time.monotonic() - start < BUDGET_S):
        for name, work in works.items():
            time.sleep(REST_S)
            work()
            times[name].append(milliseconds(work, repeats[name]))
        done += 1
    return {name: statistics.median(found) for name, found in times.items()}


# ---------------------------------------------------------------- measuring, in a process with so many threads


def distance(found, wanted):
    """max|a-b| / max|b| over all outputs."""
    worst = 0.0
    for a, b in zip(found, wanted):
        a = a.view(b.dtype).reshape(b.shape)
        worst = max(worst, float(np.abs(a.astype(np.float64) - b).max() / max(np.abs(b).max(), 1e-30)))
    return worst


def begin():
    import acl

    good(acl.init())
    good(acl.rt.set_device(0))
    return acl


def end(acl):
    good(acl.rt.reset_device(0))
    good(acl.finalize())


def measure_model(path, threads):
    """A network in all engines, in turn."""
    acl = begin()
    feed = dict(np.load(path.with_suffix(".npz")))
    ort, ort_load = timed(lambda: Ort(path, feed, threads))
    jumar, load = timed(lambda: Jumar(path, feed))
    found = distance(jumar.run(), ort.run())
    works, without = {"Jumar": jumar.run, ORT: ort.run}, ""
    try:
        plain, installed = OpenVino(path, feed, threads, True), OpenVino(path, feed, threads, False)
        plain.run(), installed.run()
        works |= {OPENVINO: plain.run, INSTALLED: installed.run}
    except Exception as error:  # an engine that cannot run a model is omitted and reported
        without = f"{type(error).__name__}: {error}"
        print(f"without OpenVINO: {without}", file=sys.stderr, flush=True)
    result = {"times": in_turn(works), "load": [load, ort_load], "distance": found, "without": without}
    jumar.close()
    end(acl)
    return result


def measure_calls(path):
    """An answer through `acl`, through the package, and with dynamic shapes, in turn."""
    import jumar

    acl = begin()
    feed = dict(np.load(path.with_suffix(".npz")))
    fixed = Jumar(path, feed)
    dynamic = Dynamic(path.with_name(path.name.replace("_1.", "_dynamic.")), feed, fixed)
    package = jumar.load(path.with_suffix(".om"))
    arrays = list(feed.values())
    wanted = [result.view(np.float32) for result in fixed.run()]
    for found in (dynamic.run(), [array.numpy().ravel() for array in package(arrays).values()]):
        assert distance(found, wanted) <= DISTANCE, "the results differ"
    works = {"fixed": fixed.run, "package": lambda: package(arrays), "dynamic": dynamic.run}
    # Several answers at a time: the clock and the call of a function count for little then.
    count = max(1, int(1 / milliseconds(fixed.run, 5)))

    def repeated(work):
        # Each result is dropped before the next call, as in a program that has used it; together they would not fit the caches.
        for _ in range(count):
            work()

    times = in_turn({name: lambda work=work: repeated(work) for name, work in works.items()})
    package.close()
    dynamic.close()
    fixed.close()
    end(acl)
    return {name: ms / count for name, ms in times.items()}


def measure_kernels(folder):
    """Single operators, and what a call costs."""
    acl = begin()
    found = kernels(folder)
    tiny = Jumar(folder / "tiny.onnx", dict(np.load(folder / "tiny.npz")))
    other = Ort(folder / "tiny.onnx", dict(np.load(folder / "tiny.npz")), 1)
    run = lambda: good(tiny.acl.mdl.execute(tiny.model, tiny.inputs, tiny.outputs))  # noqa: E731
    small = in_turn({"Jumar": lambda: [run() for _ in range(100)], ORT: lambda: [other.run() for _ in range(100)]})
    tiny.close()
    end(acl)
    return {"kernels": found, "small": small}


class Streams:
    """Two different models, and a stream for each; a process of its own runs them, one round per request."""

    def __init__(self, folder, makers):
        self.acl = begin()
        paths = [folder / f"{maker}_1.onnx" for maker in makers]
        self.models = [Jumar(path, dict(np.load(path.with_suffix(".npz")))) for path in paths]
        self.queues = [value(self.acl.rt.create_stream()) for _ in self.models]
        for model in self.models:
            model.fill()

    def work(self, which, counts):
        """Queues so many executions of each, alternately, and waits for all."""
        acl = self.acl
        left = {index: counts[index] for index in which}
        while any(left.values()):
            # The one that has the larger share left.
            index = max(left, key=lambda index: left[index] / counts[index])
            model = self.models[index]
            good(acl.mdl.execute_async(model.model, model.inputs, model.outputs, self.queues[index]))
            left[index] -= 1
        for index in which:
            good(acl.rt.synchronize_stream(self.queues[index]))


class OrtStreams:
    """Two sessions of ONNX Runtime with one thread each, and a thread of this process for each."""

    def __init__(self, folder, makers):
        paths = [folder / f"{maker}_1.onnx" for maker in makers]
        self.sessions = [Ort(path, dict(np.load(path.with_suffix(".npz"))), 1) for path in paths]

    def work(self, which, counts):
        def many(index):
            for _ in range(counts[index]):
                self.sessions[index].run()

        threads = [threading.Thread(target=many, args=(index,)) for index in which]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def serve(streams):
    """Reads what to do from standard input, and answers with milliseconds."""
    for line in sys.stdin:
        which, counts = json.loads(line)
        print(json.dumps(milliseconds(lambda: streams.work(which, counts))), flush=True)  # noqa: B023


# Two models that compute, one that computes and one that streams its weights, and two that do both.
PAIRS = [("mobilenet_v2", "decoder"), ("resnet50", "mobilenet_v2"), ("bert", "decoder"), ("resnet50", "bert")]


def measure_streams(folder, makers):
    """What two models take one after the other on one worker, and at once on two, in turn; beside it what the machine allows: the same
    two models in two processes with a worker and a processor each, and two sessions of ONNX Runtime in two threads."""

    def started(kind, workers, processor=None):
        environment = os.environ | {"JUMAR_WORKERS": str(workers), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--folder", str(folder), "--part", f"{kind}-{'+'.join(makers)}"]
        if processor is not None:
            # The processor is chosen by the process itself, before anything else starts threads.
            command += ["--processor", str(processor)]
        return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    processors = sorted(os.sched_getaffinity(0))[:2]
    servers = {"one": started("jumar", 1), "two": started("jumar", 2), "ort": started("ort", 1)}
    if len(processors) == 2:
        servers |= {f"apart {index}": started("jumar", 1, processor) for index, processor in enumerate(processors)}

    def send(name, which, counts):
        servers[name].stdin.write(json.dumps([which, counts]) + "\n")
        servers[name].stdin.flush()

    def answer(name):
        return json.loads(servers[name].stdout.readline())

    def ask(name, which, counts):
        send(name, which, counts)
        return answer(name)

    def apart(counts):
        for index in (0, 1):
            send(f"apart {index}", [index], counts)
        return max(answer(f"apart {index}") for index in (0, 1))

    def balanced(name):
        """So many executions of each that each stream gets about as much work."""
        ask(name, [0], [2, 2]), ask(name, [1], [2, 2])
        alone = [min(ask(name, [index], [5, 5]) / 5 for _ in range(5)) for index in (0, 1)]
        return [max(1, round(max(100, 2 * max(alone)) / ms)) for ms in alone]

    counts, theirs = balanced("one"), balanced("ort")
    for name in servers:
        ask(name, [0], [2, 2]), ask(name, [1], [2, 2])
    kinds = {
        "in turn": lambda: ask("one", [0], counts) + ask("one", [1], counts),
        "at once": lambda: ask("two", [0, 1], counts),
        "in turn, two workers": lambda: ask("two", [0], counts) + ask("two", [1], counts),
        "ort in turn": lambda: ask("ort", [0], theirs) + ask("ort", [1], theirs),
        "ort at once": lambda: ask("ort", [0, 1], theirs),
    }
    if len(processors) == 2:
        kinds["apart"] = lambda: apart(counts)
    times = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, work in kinds.items():
            time.sleep(REST_S)
            times[kind].append(work())
    for server in servers.values():
        server.stdin.close()
        server.wait(60)
    return {kind: statistics.median(found) for kind, found in times.items()} | {"counts": counts}


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


def kernels(folder):
    """GFLOP/s of each kernel, of ONNX Runtime's, and of nothing but multiplications and additions."""
    found = {}
    for index, (name, (_, _, _, _, count)) in enumerate(SHAPES.items()):
        path = folder / f"kernel{index}.onnx"
        feed = dict(np.load(path.with_suffix(".npz")))
        ort, jumar = Ort(path, feed, 1), Jumar(path, feed)
        execute = lambda: good(jumar.acl.mdl.execute(jumar.model, jumar.inputs, jumar.outputs))  # noqa: B023, E731
        times = in_turn({"Jumar": execute, ORT: ort.run})
        found[name] = {engine: 2 * count / ms * 1e-6 for engine, ms in times.items()}
        if (folder / "ceiling").exists():
            found[name]["ceiling"] = float(subprocess.run([folder / "ceiling"], capture_output=True, text=True).stdout.split()[0])
        jumar.close()
    return found


def resident(field):
    """VmRSS, what the process has in memory now, or VmHWM, the most that it had, in MiB."""
    return int(re.search(rf"{field}:\s+(\d+)", pathlib.Path("/proc/self/status").read_text()).group(1)) / 1024


def measure_memory(path, engine):
    """What the process has in memory at its peak, and afterwards, more than before the model was loaded, in MiB; how long loading takes, in ms."""
    feed = dict(np.load(path.with_suffix(".npz")))
    if engine == "Jumar":
        begin()
        make = lambda: Jumar(path, feed)  # noqa: E731
    else:
        import onnxruntime  # noqa: F401

        make = lambda: Ort(path, feed, 1)  # noqa: E731
    # The peak is counted from here on.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    model, load = timed(make)
    for _ in range(3):
        model.run()
    return {"peak": max(resident("VmHWM") - before, 0.1), "after": max(resident("VmRSS") - before, 0.1), "load": load}


# ---------------------------------------------------------------- the image


PROFILED = ["ResNet-50", "MobileNetV2", "BERT-base, sequence 128"]


def measure_profile(path):
    """The least time of each step, summed by operator, in milliseconds: what a subscriber to the model is sent."""
    import ctypes

    acl = begin()
    jumar = Jumar(path, dict(np.load(path.with_suffix(".npz"))))
    jumar.run()
    runs, no_metrics = 12, 0xFF
    with open(path.with_suffix(".prof"), "w+b") as file:
        descriptor = ctypes.c_int(file.fileno())
        config = acl.prof.create_subscribe_config(1, no_metrics, ctypes.addressof(descriptor))
        good(acl.prof.model_subscribe(jumar.model, config))
        for _ in range(runs):
            jumar.run()
        good(acl.prof.model_unsubscribe(jumar.model))
        good(acl.prof.destroy_subscribe_config(config))
        file.seek(0)
        data = file.read()
    address = acl.util.bytes_to_ptr(data)
    # The Python interface has no function for the duration.
    duration = ctypes.CDLL("libascendcl.so").aclprofGetOpDuration
    duration.restype, duration.argtypes = ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32]
    steps = value(acl.prof.get_op_num(address, len(data))) // runs
    assert steps > 0, "the subscriber was sent nothing"
    sums = {}
    for step in range(steps):
        kind = value(acl.prof.get_op_type(address, len(data), step, 65))
        least = min(duration(address, len(data), run * steps + step) for run in range(runs))
        sums[kind] = sums.get(kind, 0) + least / 1e6
    jumar.close()
    end(acl)
    return sums


# ---------------------------------------------------------------- all of it


def mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


# What the table's geometric means are compared with: the first target, and the goal in words.
FIRST, GOAL = 1.2, 0.85
FURTHER_TARGET = 1.1
# What the package and dynamic shapes may cost.
CALL_TARGET = 1.05


def lines_of(parts):
    """The table of all parts that there are."""
    lines = []

    def line(what, number, unit="ms", limit=None, target=None, also=()):
        lines.append({"what": what, "value": number, "unit": unit, "limit": limit, "target": target, "also": list(also)})

    def named(batch, threads):
        return f"batch {batch}, {threads} thread{'s' if threads > 1 else ''}"

    models = {}
    for threads in THREADS:
        for batch in (1, 8):
            for name, maker in NETWORKS.items():
                found = parts.get(f"model-{maker}-b{batch}-t{threads}")
                if found:
                    models.setdefault((batch, threads), {})[name] = found
    groups = {"all models": list(MODELS), "CNNs": list(CNNS), "transformers": list(TRANSFORMERS)}
    for (batch, threads), found in models.items():
        for group, members in groups.items():
            times = [found[name]["times"] for name in members if name in found]
            if not times:
                continue
            also = []
            for engine in (OPENVINO, INSTALLED):
                shared = [each for each in times if engine in each]
                if shared:
                    also.append([engine, mean([each[engine] / each[ORT] for each in shared])])
            all_models = group == "all models"
            ratio = mean([each["Jumar"] / each[ORT] for each in times])
            what = f"geometric mean of {len(times)} {group.replace('all ', '')}, {named(batch, threads)}"
            what += f" (goal {GOAL})" if all_models else ""
            line(what, ratio, "", [ORT, 1.0], {"Ratio": FIRST} if all_models else None, also)
    for (batch, threads), found in models.items():
        for name, part in found.items():
            times = part["times"]
            also = [[engine, times[engine]] for engine in (OPENVINO, INSTALLED) if engine in times]
            target = {"Ratio": FURTHER_TARGET} if name in FURTHER else None
            line(f"{name}, {named(batch, threads)}", times["Jumar"], "ms", [ORT, times[ORT]], target, also)
    for name, maker in FURTHER.items():
        found = parts.get(f"calls-{maker}")
        for way, what in (("package", "through `import jumar`"), ("dynamic", "with dynamic shapes")):
            if found:
                line(f"{name}, {what}", found[way], "ms", ["acl, fixed shapes", found["fixed"]], {"Ratio": CALL_TARGET})
    memory = {name: parts[f"memory-{maker}"] for name, maker in MODELS.items() if f"memory-{maker}" in parts}
    for field, title, unit, most, goal in (
        ("load", "load", "ms", 0.5, 0.1),
        ("peak", "peak memory", "MiB", 1.0, 0.7),
        ("after", "memory after three executions", "MiB", None, None),
    ):
        pairs = {name: [part["Jumar"][field], part[ORT][field]] for name, part in memory.items()}
        if pairs:
            what = f"{title}, geometric mean of {len(pairs)} models" + (f" (goal {goal})" if goal else "")
            line(what, mean([ours / theirs for ours, theirs in pairs.values()]), "", [ORT, 1.0], {"Ratio": most} if most else None)
        for name, (ours, theirs) in pairs.items():
            line(f"{name}, {title}", ours, unit, [ORT, theirs])
    distances = [(part["distance"], name) for found in models.values() for name, part in found.items()]
    if distances:
        worst, name = max(distances)
        line(f"largest distance from ONNX Runtime ({name})", worst * 1e6, "millionths", None, {"Value": DISTANCE * 1e6})
    if "kernels" in parts:
        for name, found in parts["kernels"]["kernels"].items():
            limit = ["multiplications and additions alone", found["ceiling"]] if "ceiling" in found else None
            line(name, found["Jumar"], "GFLOP/s", limit, None, [[ORT, found[ORT]]])
        us = {engine: ms * 10 for engine, ms in parts["kernels"]["small"].items()}
        line("one operator on 16 numbers: aclmdlExecute from Python", us["Jumar"], "us", [ORT, us[ORT]], {"Value": 2.0})
    names = {maker: name for name, maker in MODELS.items()}
    for makers in PAIRS:
        found = parts.get(f"streams-{'+'.join(makers)}")
        if not found:
            continue
        also = [["one after the other, two workers", found["in turn, two workers"]]]
        if "apart" in found:
            also.append(["two processes, a processor each", found["apart"]])
        also.append(["two sessions of ONNX Runtime at once, as a part of them in turn", found["ort at once"] / found["ort in turn"] * found["in turn"]])
        each = [f"{count} times {names[maker]}" for count, maker in zip(found["counts"], makers)]
        what = f"{each[0]} and {each[1]} on two streams, two workers"
        # 1.7 times the throughput.
        line(what, found["at once"], "ms", ["one after the other, one worker", found["in turn"]], {"Ratio": 0.588}, also)
    return lines


def wanted_parts(options):
    """The parts to measure, by name, in an order that needs each network once at a time."""
    networks = FURTHER if options.further else MODELS
    if options.quick:
        quick = list(networks) if options.further else QUICK
        return [f"model-{networks[name]}-b1-t{threads}" for name in quick for threads in THREADS]
    makers = {key.lower(): maker for name, maker in networks.items() for key in (name, maker, name.split(",")[0])}
    names = [name.lower() for name in options.only] or [*makers.values(), "extras"]
    unknown = [name for name in names if name not in makers and name != "extras"]
    if unknown:
        sys.exit(f"no network is called {', '.join(unknown)}: {', '.join(networks)} and extras")
    parts = []
    for maker in networks.values():
        if maker not in [makers.get(name) for name in names]:
            continue
        parts += [f"model-{maker}-b{batch}-t{threads}" for batch in options.batch for threads in options.threads]
        if 1 in options.batch and 1 in options.threads and maker in MODELS.values():
            parts.append(f"memory-{maker}")
            if maker in [MODELS[name] for name in PROFILED]:
                parts.append(f"profile-{maker}")
        if maker in CALLED and maker in FURTHER.values() and 1 in options.batch and 1 in options.threads:
            parts.append(f"calls-{maker}")
    if "extras" in names and not options.further:
        parts += ["kernels", *(f"streams-{'+'.join(makers)}" for makers in PAIRS)]
    return parts


def needs(part):
    """The networks and batches that a part is measured with."""
    kind, _, rest = part.partition("-")
    if kind == "model":
        maker, batch, _ = rest.rsplit("-", 2)
        return [(maker, int(batch[1:]))]
    if kind in ("memory", "profile", "calls"):
        return [(rest, 1)]
    return [(maker, 1) for maker in rest.split("+")] if kind == "streams" else []


def part_of(folder, part):
    """Measures a part, in this process."""
    kind, _, rest = part.partition("-")
    if kind == "model":
        maker, batch, threads = rest.rsplit("-", 2)
        return measure_model(folder / f"{maker}_{batch[1:]}.onnx", int(threads[1:]))
    if kind == "memory":
        maker, engine = rest.rsplit("-", 1)
        return measure_memory(folder / f"{maker}_1.onnx", engine)
    if kind == "profile":
        return measure_profile(folder / f"{rest}_1.onnx")
    if kind == "calls":
        return measure_calls(folder / f"{rest}_1.onnx")
    return measure_kernels(folder)


def run_part(folder, part):
    """Measures a part, in processes of its own."""

    def child(part, threads):
        environment = os.environ | {"JUMAR_WORKERS": str(threads), "OMP_NUM_THREADS": str(threads)}
        command = [sys.executable, __file__, "--folder", str(folder), "--part", part]
        done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True, timeout=600)
        return json.loads(done.stdout.splitlines()[-1])

    kind, _, rest = part.partition("-")
    if kind == "memory":
        return {engine: child(f"{part}-{engine}", 1) for engine in ("Jumar", ORT)}
    if kind == "streams":
        return measure_streams(folder, rest.split("+"))
    return child(part, int(part.rsplit("-t", 1)[1]) if kind == "model" else 1)


def measure_all(todo, store, read):
    """Measures parts and saves each as soon as it is there. Returns those that failed, with the reason."""
    failed = []
    names = {maker: name for name, maker in NETWORKS.items()}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        made = set()
        for index, part in enumerate(todo):
            say = f"{time.monotonic() - began:5.0f} s, part {index + 1} of {len(todo)}: {part}"
            print(say, file=sys.stderr, flush=True)
            if part == "kernels":
                prepare_kernels(folder)
            for network in set(made) - set(needs(part)):
                # The largest take a gigabyte.
                for file in folder.glob(f"{network[0]}_{network[1]}.*"):
                    file.unlink()
                made.discard(network)
            try:
                for maker, batch in needs(part):
                    if (maker, batch) not in made:
                        prepare(folder, names[maker], maker, batch)
                        made.add((maker, batch))
                if part.startswith("calls-"):
                    prepare_dynamic(folder, part.removeprefix("calls-"))
                found = run_part(folder, part)
            except Exception as error:  # the others are measured all the same
                failed.append(f"{part}: {type(error).__name__}: {error}")
                print(failed[-1], file=sys.stderr, flush=True)
                continue
            (store / f"{part}.json").write_text(json.dumps(found))
            read[part] = found
            print(f"{part}: {json.dumps(found)}", file=sys.stderr, flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--further", action="store_true", help="networks of other kinds, and what the package and dynamic shapes cost")
    parser.add_argument("--quick", action="store_true", help="four models at batch 1; nothing is saved")
    parser.add_argument("--only", nargs="+", default=[], help="these networks, or extras: single operators and streams")
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--threads", nargs="+", type=int, default=THREADS)
    parser.add_argument("--resume", action="store_true", help="only what no earlier run has measured")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--processor", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    kind, _, rest = (options.part or "").partition("-")
    if kind in ("jumar", "ort"):
        if options.processor is not None:
            os.sched_setaffinity(0, {options.processor})
        serve((Streams if kind == "jumar" else OrtStreams)(options.folder, rest.split("+")))
        return
    if options.part:
        print(json.dumps(part_of(options.folder, options.part)))
        return
    todo = wanted_parts(options)
    store = pathlib.Path(os.environ.get("JUMAR_BENCH_PARTS", ROOT / "target/bench" / ("networks" if options.further else "models")))
    if options.quick:
        store = pathlib.Path(tempfile.mkdtemp())
    every = wanted_parts(parser.parse_args(["--further"] if options.further else []))
    whole = todo == every
    if whole and not options.resume:
        shutil.rmtree(store, ignore_errors=True)
    store.mkdir(parents=True, exist_ok=True)
    read = {file.stem: json.loads(file.read_text()) for file in store.glob("*.json")}
    if options.resume:
        todo = [part for part in todo if part not in read]
    print(f"{len(todo)} parts to measure, {len(read)} are there", file=sys.stderr, flush=True)
    failed = measure_all(todo, store, read)
    times = [file.stat().st_mtime for file in store.glob("*.json")]
    if times:
        first, last = (datetime.datetime.fromtimestamp(at).strftime("%H:%M") for at in (min(times), max(times)))
        print(f"on {platform.machine()}, Python {platform.python_version()}, measured from {first} to {last}", file=sys.stderr)
    if options.quick:
        shutil.rmtree(store)
    else:
        bars = {name: read[f"profile-{MODELS[name]}"] for name in PROFILED if f"profile-{MODELS[name]}" in read}
        if len(bars) == len(PROFILED):
            from profile_image import draw

            draw(bars, ROOT / "docs/benchmarks/profile.svg")
        for part in every:
            if part not in read:
                print(f"missing: {part}", flush=True)
    for line in lines_of(read):
        print(json.dumps(line), flush=True)
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
