"""The helpers for compiling and running against the install tree are those of the conventions' tests."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conventions"))

from install import LIB64, PREFIX, ROOT, compile_c, run  # noqa: E402

DIGITS = ROOT / "examples/digits"


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    output = tmp_path_factory.mktemp("model") / "digits"
    run(
        PREFIX / "bin/atc",
        "--framework=5",
        f"--model={DIGITS}/digits.onnx",
        f"--output={output}",
        "--soc_version=Ascend910B1",
    )
    return output.with_suffix(".om")


@pytest.fixture(scope="session")
def example(tmp_path_factory):
    """The command of an example program: sync, streams or digits."""
    folder = tmp_path_factory.mktemp("examples")
    link = ["-L", LIB64, "-lascendcl"]
    return {
        "sync": [compile_c(DIGITS / "sync.c", folder / "sync", *link)],
        "streams": [compile_c(DIGITS / "streams.c", folder / "streams", *link)],
        "digits": [sys.executable, DIGITS / "digits.py"],
    }


@pytest.fixture(scope="session")
def open_model(tmp_path_factory):
    """A model of dynamic shapes that needs work memory: two products with a sum between them."""
    np = pytest.importorskip("numpy")
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    folder = tmp_path_factory.mktemp("open")
    values = np.random.default_rng(5).standard_normal((2, 64, 64)).astype(np.float32)
    constants = [numpy_helper.from_array(one, name) for one, name in zip(values, ["v", "w"])]
    nodes = [
        helper.make_node("MatMul", ["x", "v"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["c"]),
        helper.make_node("MatMul", ["c", "w"], ["y"]),
    ]
    shape = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 64]) for name in "xy"]
    graph = helper.make_graph(nodes, "open", shape[:1], shape[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "open.onnx")
    options = ["--input_shape_range=x:[1~64,64]", "--soc_version=Ascend910B1"]
    run(PREFIX / "bin/atc", "--framework=5", f"--model={folder}/open.onnx", f"--output={folder}/open", *options)
    return folder / "open.om"
