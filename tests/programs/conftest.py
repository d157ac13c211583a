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
