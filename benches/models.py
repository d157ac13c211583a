"""Models through the acl module and through ONNX Runtime, in turn in one process; `cargo xtask bench models` runs this.

Prints one JSON list of lines, as jumar-bench does. Each figure is the median of five rounds; ONNX Runtime has as many threads as
stand in the line, and so has Jumar: the environment variable JUMAR_WORKERS is set before the module starts its threads.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models"))
# One worker: a figure is that of one thread on both sides.
os.environ["JUMAR_WORKERS"] = "1"

import acl  # noqa: E402
import nets  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def good(ret):
    assert ret == 0, f"{ret}: {acl.get_recent_err_msg()}"


def value(result):
    found, ret = result
    good(ret)
    return found


class Offline:
    """A loaded model with one input and one output, and its buffers on the device."""

    def __init__(self, path, x):
        self.model = value(acl.mdl.load_from_file(str(path)))
        desc = acl.mdl.create_desc()
        good(acl.mdl.get_desc(desc, self.model))
        self.out_bytes = acl.mdl.get_output_size_by_index(desc, 0)
        self.x = np.ascontiguousarray(x)
        self.device_in = value(acl.rt.malloc(self.x.nbytes, 0))
        self.device_out = value(acl.rt.malloc(self.out_bytes, 0))
        self.inputs = self.dataset(self.device_in, self.x.nbytes)
        self.outputs = self.dataset(self.device_out, self.out_bytes)
        self.y = np.zeros(self.out_bytes // 4, np.float32)

    @staticmethod
    def dataset(address, size):
        dataset = acl.mdl.create_dataset()
        _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(address, size))
        good(ret)
        return dataset

    def run(self):
        """All that a program does for one answer: copy in, execute, copy out."""
        good(acl.rt.memcpy(self.device_in, self.x.nbytes, self.x.ctypes.data, self.x.nbytes, HOST_TO_DEVICE))
        good(acl.mdl.execute(self.model, self.inputs, self.outputs))
        good(acl.rt.memcpy(self.y.ctypes.data, self.out_bytes, self.device_out, self.out_bytes, DEVICE_TO_HOST))
        return self.y


def milliseconds(work, repeat):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def compare(name, model, dims, repeat, folder):
    source, built = folder / f"{name}.onnx", folder / name
    source.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    atc = ["atc", f"--model={source}", "--framework=5", f"--output={built}", "--soc_version=Ascend910B1"]
    subprocess.run(atc, check=True, capture_output=True)
    x = np.random.default_rng(0).standard_normal(dims).astype(np.float32)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    their_load = (time.perf_counter() - start) * 1e3
    start = time.perf_counter()
    offline = Offline(f"{built}.om", x)
    our_load = (time.perf_counter() - start) * 1e3

    feed = {session.get_inputs()[0].name: x}
    wanted = session.run(None, feed)[0].ravel()
    distance = float(np.abs(offline.run() - wanted).max() / np.abs(wanted).max())
    assert distance <= 1e-5, f"{name}: distance {distance}"
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(milliseconds(offline.run, repeat))
        theirs.append(milliseconds(lambda: session.run(None, feed), repeat))
    line = {"unit": "ms", "target": None}
    return [
        {**line, "what": f"{name}, batch {dims[0]}, 1 thread", "value": statistics.median(ours),
         "limit": ["ONNX Runtime", statistics.median(theirs)]},
        {**line, "what": f"{name}, load", "value": our_load, "limit": ["ONNX Runtime", their_load]},
    ]


def main():
    good(acl.init())
    good(acl.rt.set_device(0))
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        digits = (ROOT / "examples/digits/digits.onnx").read_bytes()
        lines += compare("digits", digits, (1, 1, 8, 8), 200, folder)
        lines += compare("ResNet-50", nets.resnet50(batch=1), (1, 3, 224, 224), 3, folder)
    good(acl.rt.reset_device(0))
    good(acl.finalize())
    print(json.dumps(lines, indent=1))


main()
