"""Weights that are used where they lie, weights in the program's own memory, and files that change under a loaded model."""

import json
import pathlib
import shutil
import sys

import pytest
from install import PREFIX, run

np = pytest.importorskip("numpy")
pytest.importorskip("onnx")
import large  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
FAILED, PARAM_INVALID = 545004, 145000


def convert(source):
    output = source.with_suffix("")
    run(PREFIX / "bin/atc", "--framework=5", f"--model={source}", f"--output={output}", "--soc_version=Ascend910B1")
    return output.with_suffix(".om")


def load(way, model, folder, width, damage=""):
    source, target = folder / "input.bin", folder / "output.bin"
    source.write_bytes(large.feed(width))
    target.unlink(missing_ok=True)
    done = run(sys.executable, HERE / "python/load_large.py", way, model, source, target, damage)
    told = json.loads(done.stdout.splitlines()[-1])
    return told, np.fromfile(target, np.float32) if target.exists() else None


def right(found, width, layers):
    wanted = large.wanted(width, layers)
    return np.abs(found - wanted).max() / np.abs(wanted).max() <= 1e-5


WIDTH, LAYERS = 1024, 6


@pytest.fixture(scope="module")
def middling(tmp_path_factory):
    """24 MiB of weights."""
    return convert(large.chain(tmp_path_factory.mktemp("middling"), WIDTH, LAYERS))


def test_400_mb_of_weights_are_used_where_they_lie(tmp_path):
    width, layers = 4096, 6
    model = convert(large.chain(tmp_path, width, layers))
    assert model.stat().st_size > 400 * 10**6
    told, found = load("file", model, tmp_path, width)
    weights = layers * width * width * 4
    print(json.dumps(told))
    assert (told["load"], told["first"], told["second"], told["unload"]) == (0, 0, 0, 0)
    assert right(found, width, layers)
    # Neither the load nor the execution made the weights the process's own.
    assert told["loaded_anonymous"] < 16 * MIB
    assert told["executed_anonymous"] < 64 * MIB
    seen = told["mapping"]
    assert seen["Size"] >= weights and seen["Rss"] >= weights, "the execution read them all"
    # Pages of a file that was just written may count as dirty until the disk has them; copies of this process are anonymous.
    assert seen["Anonymous"] == 0
    # They still count: a device with less memory has no room for them.
    assert told["taken"] >= weights
    assert told["left_mapped"] == 0


def test_a_model_from_memory_is_copied(middling, tmp_path):
    told, found = load("memory", middling, tmp_path, WIDTH)
    assert (told["load"], told["first"]) == (0, 0)
    assert right(found, WIDTH, LAYERS)
    assert told["mapping"] == {} and told["taken"] >= LAYERS * WIDTH * WIDTH * 4


@pytest.mark.parametrize("way", ["file_with_memory", "memory_with_memory"])
def test_a_model_in_the_programs_memory_takes_no_other(way, middling, tmp_path):
    told, found = load(way, middling, tmp_path, WIDTH)
    assert (told["load"], told["first"], told["second"]) == (0, 0, 0)
    assert right(found, WIDTH, LAYERS)
    assert told["sizes"][1] >= LAYERS * WIDTH * WIDTH * 4
    assert (told["taken"], told["taken_to_execute"]) == (0, 0)
    assert told["mapping"] == {}


@pytest.mark.parametrize(("damage", "part"), [("cut", "bytes when it was loaded"), ("changed", "was written to")])
def test_a_file_that_changes_under_a_loaded_model_is_an_error(damage, part, middling, tmp_path):
    model = pathlib.Path(shutil.copy(middling, tmp_path / "model.om"))
    told, _ = load("file", model, tmp_path, WIDTH, damage)
    assert told["load"] == 0
    assert told["first"] and told["first"] == told["second"]
    assert part in told["text"] and "model.om" in told["text"]


def test_damaged_weights_are_found_before_anything_is_computed(middling, tmp_path):
    model = pathlib.Path(shutil.copy(middling, tmp_path / "model.om"))
    with open(model, "r+b") as file:
        file.seek(-WIDTH * 99, 2)
        file.write(b"\x99")
    told, _ = load("file", model, tmp_path, WIDTH)
    assert told["load"] == 0 and told["first"]
    assert "checksum" in told["text"] and "model.om" in told["text"]
    # Where they are copied they are looked at on the way.
    told, _ = load("file_with_memory", model, tmp_path, WIDTH)
    assert told["load"] == PARAM_INVALID and "checksum" in told["text"]


def test_a_model_for_which_the_device_has_no_room_is_refused(middling, tmp_path):
    for way in ("file", "memory"):
        told, _ = load(way, middling, tmp_path, WIDTH, "full")
        assert told["load"], "there is no room for it"
        assert "no room" in told["text"] and str(LAYERS * WIDTH * WIDTH * 4) in told["text"]
