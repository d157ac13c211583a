"""Models of more than 2 GiB, and small files that would become large ones: through atc, load and execution, in memory that is counted."""

import json
import pathlib
import sys

import numpy as np
import bad_models as bad
import large
from install import ROOT, run
from test_bad_models import atc

GIB = 1 << 30
WIDTH, LAYERS = 8192, 9


def test_a_model_of_more_than_2_gib(tmp_path):
    source = large.chain(tmp_path, WIDTH, LAYERS)
    weights = LAYERS * WIDTH * WIDTH * 4
    assert weights > 2 * GIB and source.stat().st_size < 1 << 20
    # One copy: as a matrix is packed, what was read of it goes.
    status, said = atc(source, seconds=600, memory=weights + weights // 8)
    assert status == 0, said
    (tmp_path / "large.weights").unlink()
    model = tmp_path / "out.om"
    assert model.stat().st_size > weights
    (tmp_path / "input.bin").write_bytes(large.feed(WIDTH))
    program = ROOT / "tests/programs/python/load_large.py"
    done = run(sys.executable, program, "file", model, tmp_path / "input.bin", tmp_path / "output.bin", timeout=600)
    report = json.loads(done.stdout.splitlines()[-1])
    print(report)
    assert (report["load"], report["first"], report["second"], report["unload"]) == (0, 0, 0, 0)
    assert report["executed_anonymous"] < GIB // 4
    assert report["mapping"]["Anonymous"] == 0
    found, wanted = np.fromfile(tmp_path / "output.bin", np.float32), large.wanted(WIDTH, LAYERS)
    assert np.abs(found - wanted).max() / np.abs(wanted).max() <= 1e-5
    model.unlink()


def test_constants_that_grow_are_bounded(tmp_path):
    """A thousand constants of 64 MB each, of a few bytes in the file: some are computed, the rest when the model runs."""
    source = pathlib.Path(tmp_path) / "model.onnx"
    source.write_bytes(bad.bomb().SerializeToString())
    status, said = atc(source, seconds=600, memory=5 * GIB)
    assert status in (0, 1), said
