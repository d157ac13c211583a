"""Whole networks, as a user runs them: atc, then C and Python programs that run two copies at once on two streams.

Every output against ONNX Runtime: max|a-b| / max|b| <= 1e-5 in float32, the same numbers in integers.
"""

import pathlib
import sys

import pytest
from install import LIB64, PREFIX, ROOT, compile_c, run

np = pytest.importorskip("numpy")
onnxruntime = pytest.importorskip("onnxruntime")
sys.path.insert(0, str(ROOT / "tests/models"))
import nets  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BOUND = 1e-5

# Those of the usual sizes, but for the depth of BERT, whose layers are alike; `cargo xtask ci --long` runs all twelve.
NETWORKS = {
    "resnet50": lambda: nets.resnet50(batch=1),
    "mobilenet_v2": nets.mobilenet_v2,
    "squeezenet": nets.squeezenet,
    "densenet121": nets.densenet121,
    "bert": lambda: nets.bert(layers=3, vocabulary=3000),
    "lstm": nets.lstm,
    "detector": nets.detector,
    "decoder": nets.decoder,
    "shufflenet": nets.shufflenet,
    "inception_v2": nets.inception_v2,
}
#: Exclusive upper ends of integer inputs.
INTEGERS = {"ids": 3000, "mask": 2, "token": 4000, "position": 64}


def feeds(session):
    rng = np.random.default_rng(5)
    made = {}
    for entry in session.get_inputs():
        if entry.type == "tensor(int64)":
            made[entry.name] = rng.integers(0, INTEGERS[entry.name], entry.shape)
        else:
            made[entry.name] = rng.standard_normal(entry.shape).astype(np.float32)
    return made


@pytest.fixture(scope="module")
def c_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run_model")
    return [compile_c(HERE / "networks/run_model.c", folder / "run_model", "-L", LIB64, "-lascendcl")]


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name, c_program, tmp_path):
    source = tmp_path / "model.onnx"
    source.write_bytes(NETWORKS[name]().SerializeToString())
    session = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"])
    inputs = feeds(session)
    wanted = session.run(None, inputs)
    files = []
    for entry in session.get_inputs():
        files.append(tmp_path / f"input_{entry.name}")
        files[-1].write_bytes(np.ascontiguousarray(inputs[entry.name]).tobytes())
    run(PREFIX / "bin/atc", "--framework=5", f"--model={source}", f"--output={tmp_path}/model", "--soc_version=Ascend910B1")

    worst = 0.0
    for command in (c_program, [sys.executable, HERE / "networks/run_model.py"]):
        run(*command, tmp_path / "model.om", *files, cwd=tmp_path)
        for copy in range(2):
            for index, expected in enumerate(wanted):
                file = tmp_path / f"output_{copy}_{index}"
                data = np.frombuffer(file.read_bytes(), expected.dtype)
                file.unlink()
                if expected.dtype.kind == "f":
                    distance = np.abs(data - expected.ravel()).max() / np.abs(expected).max()
                    worst = max(worst, float(distance))
                else:
                    assert np.array_equal(data, expected.ravel()), (copy, index)
    print(f"{name}: max|a-b| / max|b| = {worst:.1e}")
    assert worst <= BOUND
