"""The example's training script writes the committed files again, byte for byte."""

import pathlib
import sys

import pytest
from install import ROOT, run

DIGITS = ROOT / "examples/digits"
FILES = ["digits.onnx", "images.u8", "labels.u8"]


def test_the_files_are_small_and_complete():
    assert (DIGITS / "digits.onnx").stat().st_size < 300_000
    labels = (DIGITS / "labels.u8").read_bytes()
    assert len(labels) >= 300 and set(labels) == set(range(10))
    images = (DIGITS / "images.u8").read_bytes()
    assert len(images) == 64 * len(labels) and max(images) == 16


def test_training_again_writes_the_same_bytes(tmp_path):
    # Half a minute, and a library that nothing else here needs: where it is installed, this runs.
    pytest.importorskip("sklearn")
    pytest.importorskip("onnx")
    run(sys.executable, DIGITS / "train.py", tmp_path, timeout=280)
    for name in FILES:
        assert pathlib.Path(tmp_path / name).read_bytes() == (DIGITS / name).read_bytes(), name
