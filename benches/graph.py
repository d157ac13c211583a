"""What the Graph Engine costs beside a compiled model: `cargo xtask bench graph` runs this.

ResNet-50 at 224 x 224, built operator by operator in C++ (benches/graph.cpp) and parsed from ONNX, run on a stream, in turn with the same
network through `atc` and aclmdlExecuteAsync. Each process has its own position of threads and memory, which alone moves a run on two
workers by some percent: a row is the process whose ratio is the median. To build it is compared with the creation of a session of ONNX Runtime from the ONNX file:
alone, and with the first run, which does whatever was left for later.
Prints a line of JSON for each figure, as jumar-bench does.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/ge"))

from build import PREFIX, compile_program, run, write_resnet50  # noqa: E402

SIDE = 224
SESSIONS = 7
PROCESSES = 7


def show(what, value, limit, ratio=None):
    target = ratio and {"Ratio": ratio}
    print(json.dumps({"what": what, "value": value, "unit": "ms", "limit": limit, "target": target}), flush=True)


def session_ms(model, image, threads):
    """Returns the median times in which ONNX Runtime creates a session, and in which it does so and runs it once."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    times = []
    for _ in range(SESSIONS):
        begin = time.perf_counter()
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        created = time.perf_counter()
        session.run(None, {session.get_inputs()[0].name: image})
        times.append((1e3 * (created - begin), 1e3 * (time.perf_counter() - begin)))
        del session
    return [statistics.median(column) for column in zip(*times)]


def median_ratio(figures, value, limit):
    """Returns both figures of the process in which the ratio of one to the other is the median."""
    pairs = sorted(((row[value], row[limit]) for row in figures), key=lambda pair: pair[0] / pair[1])
    return pairs[len(pairs) // 2]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        _, image = write_resnet50(folder, SIDE)
        convert = [PREFIX / "bin/atc", "--framework=5", "--model=model.onnx", "--output=model", "--soc_version=Ascend910B1"]
        subprocess.run(list(map(str, convert)), cwd=folder, check=True, stdout=subprocess.DEVNULL)
        compile_program(ROOT / "benches/graph.cpp", folder / "graph", "-O2", "-lge_runner", "-lascendcl", abi=1)
        for workers in (1, 2):
            files = ["model.onnx", "weights.bin", "image.bin", SIDE, "model.om"]
            env = {"JUMAR_WORKERS": str(workers)}
            outputs = [run(folder / "graph", folder, *files, env=env, limit=300) for _ in range(PROCESSES)]
            figures = [[float(word) for word in output.split()[-6:]] for output in outputs]
            threads = "1 worker" if workers == 1 else f"{workers} workers"
            for index, what in enumerate(["built by operators, RunGraphWithStreamAsync", "parsed from ONNX, RunGraphWithStreamAsync"]):
                value, model = median_ratio(figures, index, 2)
                show(f"ResNet-50, {what}, {threads}", value, ["aclmdlExecuteAsync", model], 1.02)
            second, model = median_ratio(figures, 3, 2)
            show(f"ResNet-50, a second copy of the model, aclmdlExecuteAsync, {threads}", second, ["aclmdlExecuteAsync", model])
            build, first = (statistics.median(column) for column in list(zip(*figures))[4:])
            created, ran = session_ms(folder / "model.onnx", image, workers)
            show(f"ResNet-50 of operators, AddGraph and BuildGraph, {threads}", build, ["ONNX Runtime, session", created], 0.5)
            first_run = ["ONNX Runtime, session and first run", ran]
            show(f"ResNet-50 of operators, AddGraph, BuildGraph and the first run, {threads}", first, first_run, 1.0)


if __name__ == "__main__":
    main()
