"""Products of matrices as single operators: a part of `cargo xtask bench operators`.

benches/operators.cpp multiplies square matrices of float32 with one thread, as they lie and as transposed views. Each product is compared
with that of the matrices as they lie, and with ONNX Runtime's Gemm, whose attributes transpose. Prints a line of JSON for each figure.
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
# 95 % of the throughput.
OF_DENSE = 1 / 0.95
NAMES = {"00": "", "10": ", first transposed", "01": ", second transposed", "11": ", both transposed"}


def onnx_runtime(folder, first, second):
    """Returns the shortest of several runs of a product with one thread, in microseconds. Inputs and output exist before."""
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIDE, SIDE]) for name in "aby"}
    node = helper.make_node("Gemm", ["a", "b"], ["y"], transA=first, transB=second)
    graph = helper.make_graph([node], "product", [values["a"], values["b"]], [values["y"]])
    path = folder / "product.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    matrices = {name: numpy.full((SIDE, SIDE), 0.5, numpy.float32) for name in "aby"}
    for name, bind in [("a", binding.bind_input), ("b", binding.bind_input), ("y", binding.bind_output)]:
        bind(name, "cpu", 0, numpy.float32, [SIDE, SIDE], matrices[name].ctypes.data)
    times = []
    for _ in range(15):
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def show(what, value, limit, ratio):
    print(json.dumps({"what": what, "value": value, "unit": "us", "limit": limit, "target": {"Ratio": ratio}}), flush=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compile_program(ROOT / "benches/operators.cpp", folder / "operators", "-O2", "-lopapi", "-lnnopbase", "-lascendcl", abi=1)
        output = run(folder / "operators", folder, "products", env={"JUMAR_WORKERS": "1"}, limit=300)
        found = {key: float(value) for key, value in (line.split("\t") for line in output.splitlines() if "\t" in line)}
        for key, views in NAMES.items():
            what = f"matmul of {SIDE} x {SIDE}{views}, float32, 1 thread"
            show(what, found[key], ["ONNX Runtime", onnx_runtime(folder, int(key[0]), int(key[1]))], 1.0)
            if views:
                show(f"{what}, beside the dense product", found[key], ["dense", found["00"]], OF_DENSE)


if __name__ == "__main__":
    main()
