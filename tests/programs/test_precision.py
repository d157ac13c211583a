"""`atc --precision_mode`: bfloat16 where the mode allows it, executed by `aclmdlExecute`; float32 by default."""

import subprocess
import sys

import pytest
from install import PREFIX, ROOT, run

np = pytest.importorskip("numpy")
onnxruntime = pytest.importorskip("onnxruntime")
sys.path.insert(0, str(ROOT / "tests/models"))
import nets  # noqa: E402

PROGRAM = ROOT / "tests/programs/networks/run_model.py"


def distance(folder, options):
    """max|a-b| / max|b| against ONNX Runtime in float32, of both copies that the program runs, which have to be the same bytes."""
    source = folder / "model.onnx"
    source.write_bytes(nets.resnet50(batch=1, blocks=(1, 1, 1, 1), width=16, size=64, classes=50).SerializeToString())
    x = np.random.default_rng(5).standard_normal((1, 3, 64, 64)).astype(np.float32)
    x.tofile(folder / "input")
    session = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {session.get_inputs()[0].name: x})
    base = ["--framework=5", f"--model={source}", f"--output={folder}/model", "--soc_version=Ascend910B1"]
    run(PREFIX / "bin/atc", *base, *options)
    run(sys.executable, PROGRAM, folder / "model.om", folder / "input", cwd=folder)
    one, two = ((folder / f"output_{copy}_0").read_bytes() for copy in range(2))
    assert one == two
    return float(np.abs(np.frombuffer(one, np.float32) - wanted.ravel()).max() / np.abs(wanted).max())


@pytest.mark.parametrize("option", ["--precision_mode=allow_fp32_to_bf16", "--precision_mode_v2=mixed_bfloat16"])
def test_bfloat16(tmp_path, option):
    found = distance(tmp_path, [option])
    print(f"{option}: {found:.1e}")
    assert 1e-5 < found <= 3e-2


@pytest.mark.parametrize("options", [[], ["--precision_mode=must_keep_origin_dtype"], ["--precision_mode_v2=mixed_float16"]])
def test_everything_else_is_float32(tmp_path, options):
    assert distance(tmp_path, options) <= 1e-5


@pytest.mark.parametrize(
    "options, said",
    [
        (["--precision_mode=bf16"], "allow_fp32_to_bf16"),
        (["--precision_mode=force_fp32", "--precision_mode_v2=origin"], "leave one out"),
        (["--precision_mode_v2=cube_hif8"], "not supported"),
    ],
)
def test_what_atc_refuses(tmp_path, options, said):
    source = tmp_path / "model.onnx"
    source.write_bytes(nets.digits(batch=1).SerializeToString())
    base = ["--framework=5", f"--model={source}", f"--output={tmp_path}/model", "--soc_version=Ascend910B1"]
    done = subprocess.run([PREFIX / "bin/atc", *base, *options], capture_output=True, text=True)
    assert done.returncode != 0 and said in done.stdout + done.stderr
    assert not (tmp_path / "model.om").exists()
