"""Products of matrices as single operators: a part of `cargo xtask bench operators`.

benches/operators.cpp multiplies square matrices of float32 with one thread, as they lie and as transposed views. Each product is compared
with that of the matrices as they lie, and with ONNX Runtime's Gemm, whose attributes transpose. The two take turns, and each row is of the
turn whose ratio is the median. Prints a line of JSON for each figure.
"""

import json
import pathlib
import sys
import tempfile
import time

import numpy
import onnxruntime
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/ge"))

from build import compile_program, run  # noqa: E402

SIDE = 1024
# An odd number.
TURNS = 7
# 95 % of the throughput.
OF_DENSE = 1 / 0.95
NAMES = {"00": "", "10": ", first transposed", "01": ", second transposed", "11": ", both transposed"}


class OnnxRuntime:
    """A product with one thread. Inputs and output exist before."""

    def __init__(self, folder, first, second):
        values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIDE, SIDE]) for name in "aby"}
        node = helper.make_node("Gemm", ["a", "b"], ["y"], transA=first, transB=second)
        graph = helper.make_graph([node], "product", [values["a"], values["b"]], [values["y"]])
        path = folder / f"product{first}{second}.onnx"
        path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.matrices = {name: numpy.full((SIDE, SIDE), 0.5, numpy.float32) for name in "aby"}
        for name, bind in [("a", self.binding.bind_input), ("b", self.binding.bind_input), ("y", self.binding.bind_output)]:
            bind(name, "cpu", 0, numpy.float32, [SIDE, SIDE], self.matrices[name].ctypes.data)

    def shortest(self):
        """Returns the shortest of several runs, in microseconds."""
        times = []
        for _ in range(21):
            start = time.perf_counter()
            self.session.run_with_iobinding(self.binding)
            times.append(time.perf_counter() - start)
        return min(times) * 1e6


def show(what, value, limit, ratio):
    print(json.dumps({"what": what, "value": value, "unit": "us", "limit": limit, "target": {"Ratio": ratio}}), flush=True)


def turn(program, folder, peers):
    """Returns, for each kind of product, the shortest times of Jumar and of ONNX Runtime, in microseconds."""
    output = run(program, folder, "products", env={"JUMAR_WORKERS": "1"}, limit=300)
    found = {key: float(value) for key, value in (line.split("\t") for line in output.splitlines() if "\t" in line)}
    return {key: (found[key], peers[key].shortest()) for key in NAMES}


def median(pairs):
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "operators"
        compile_program(ROOT / "benches/operators.cpp", program, "-O2", "-lopapi", "-lnnopbase", "-lascendcl", abi=1)
        peers = {key: OnnxRuntime(folder, int(key[0]), int(key[1])) for key in NAMES}
        turns = [turn(program, folder, peers) for _ in range(TURNS)]
        for key, views in NAMES.items():
            what = f"matmul of {SIDE} x {SIDE}{views}, float32, 1 thread"
            value, limit = median([each[key] for each in turns])
            show(what, value, ["ONNX Runtime", limit], 1.0)
            if views:
                value, limit = median([(each[key][0], each["00"][0]) for each in turns])
                show(f"{what}, beside the dense product", value, ["dense", limit], OF_DENSE)


if __name__ == "__main__":
    main()
