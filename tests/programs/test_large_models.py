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
PARAM_INVALID = 145000


def convert(source, *options):
    output = source.with_suffix("")
    run(PREFIX / "bin/atc", "--framework=5", f"--model={source}", f"--output={output}", "--soc_version=Ascend910B1", *options)
    return output.with_suffix(".om")


def load(way, model, folder, width, damage="", weights=None):
    source, target = folder / "input.bin", folder / "output.bin"
    source.write_bytes(large.feed(width))
    target.unlink(missing_ok=True)
    done = run(sys.executable, HERE / "python/load_large.py", way, model, source, target, damage, weights or model)
    report = json.loads(done.stdout.splitlines()[-1])
    return report, np.fromfile(target, np.float32) if target.exists() else None


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
    report, found = load("file", model, tmp_path, width)
    weights = layers * width * width * 4
    print(json.dumps(report))
    assert (report["load"], report["first"], report["second"], report["unload"]) == (0, 0, 0, 0)
    assert right(found, width, layers)
    # Neither the load nor the execution made the weights the process's own.
    assert report["loaded_anonymous"] < 16 * MIB
    assert report["executed_anonymous"] < 64 * MIB
    seen = report["mapping"]
    assert seen["Size"] >= weights and seen["Rss"] >= weights, "the execution read them all"
    # Pages of a file that was just written may count as dirty until the disk has them; copies of this process are anonymous.
    assert seen["Anonymous"] == 0
    # They still count: they do not fit into a device with less memory.
    assert report["taken"] >= weights
    assert report["left_mapped"] == 0


def test_a_model_from_memory_is_copied(middling, tmp_path):
    report, found = load("memory", middling, tmp_path, WIDTH)
    assert (report["load"], report["first"]) == (0, 0)
    assert right(found, WIDTH, LAYERS)
    assert report["mapping"] == {} and report["taken"] >= LAYERS * WIDTH * WIDTH * 4


@pytest.mark.parametrize("way", ["file_with_memory", "memory_with_memory"])
def test_a_model_in_the_programs_memory_takes_no_other(way, middling, tmp_path):
    report, found = load(way, middling, tmp_path, WIDTH)
    assert (report["load"], report["first"], report["second"]) == (0, 0, 0)
    assert right(found, WIDTH, LAYERS)
    assert report["sizes"][1] >= LAYERS * WIDTH * WIDTH * 4
    assert (report["taken"], report["taken_to_execute"]) == (0, 0)
    assert report["mapping"] == {}


@pytest.mark.parametrize(("damage", "part"), [("cut", "bytes when it was loaded"), ("changed", "was written to")])
def test_a_file_that_changes_under_a_loaded_model_is_an_error(damage, part, middling, tmp_path):
    model = pathlib.Path(shutil.copy(middling, tmp_path / "model.om"))
    report, _ = load("file", model, tmp_path, WIDTH, damage)
    assert report["load"] == 0
    assert report["first"] and report["first"] == report["second"]
    assert part in report["text"] and "model.om" in report["text"]


def test_damaged_weights_are_found_before_anything_is_computed(middling, tmp_path):
    model = pathlib.Path(shutil.copy(middling, tmp_path / "model.om"))
    with open(model, "r+b") as file:
        file.seek(-WIDTH * 99, 2)
        file.write(b"\x99")
    report, _ = load("file", model, tmp_path, WIDTH)
    assert report["load"] == 0 and report["first"]
    assert "checksum" in report["text"] and "model.om" in report["text"]
    # Where they are copied they are looked at on the way.
    report, _ = load("file_with_memory", model, tmp_path, WIDTH)
    assert report["load"] == PARAM_INVALID and "checksum" in report["text"]


def test_a_model_that_does_not_fit_into_the_device_is_refused(middling, tmp_path):
    for way in ("file", "memory"):
        report, _ = load(way, middling, tmp_path, WIDTH, "full")
        assert report["load"], "the device is full"
        assert "not enough memory" in report["text"] and str(LAYERS * WIDTH * WIDTH * 4) in report["text"]


def test_the_models_of_a_bundle_are_used_where_they_lie(middling, tmp_path):
    bundle = tmp_path / "both.om"
    run(PREFIX / "bin/jumar", "bundle", "--output", bundle, middling, middling)
    report, found = load("bundle", bundle, tmp_path, WIDTH)
    print(json.dumps(report))
    assert (report["load"], report["first"], report["second"], report["unload"]) == (0, 0, 0, 0)
    assert right(found, WIDTH, LAYERS)
    weights = LAYERS * WIDTH * WIDTH * 4
    # Two models, of which one was executed; neither is the process's own.
    assert report["mapping"]["Size"] >= 2 * weights and report["mapping"]["Anonymous"] == 0
    assert report["loaded_anonymous"] < weights // 4
    assert report["taken"] >= 2 * weights and report["left_mapped"] == 0


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_bundle_that_changes_under_its_models_is_an_error(damage, middling, tmp_path):
    bundle = tmp_path / "both.om"
    run(PREFIX / "bin/jumar", "bundle", "--output", bundle, middling, middling)
    report, _ = load("bundle", bundle, tmp_path, WIDTH, damage)
    assert report["load"] == 0 and report["first"] and report["first"] == report["second"] and str(bundle) in report["text"]


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """The same weights in files beside the model: one each, and one for all."""
    made = {}
    for way in ("1", "2"):
        source = large.chain(tmp_path_factory.mktemp(f"outside{way}"), WIDTH, LAYERS)
        made[way] = convert(source, f"--external_weight={way}")
    return made


@pytest.mark.parametrize("way", ["1", "2"])
def test_weights_in_files_beside_the_model(way, outside, tmp_path):
    model = outside[way]
    files = sorted((model.parent / "weight").iterdir())
    assert model.stat().st_size < 1 << 16
    assert sum(file.stat().st_size for file in files) == LAYERS * WIDTH * WIDTH * 4
    names = [file.name for file in files]
    if way == "2":
        assert names == [f"{model.stem}_weight_combined"]
    else:
        assert len(names) == LAYERS and all(name.startswith("weight_") for name in names)
    said = run(PREFIX / "bin/jumar", "inspect", model).stdout
    assert all(f"weight/{name}" in said for name in names), said
    for how in ("file", "memory_with_folder", "file_with_memory"):
        report, found = load(how, model, tmp_path, WIDTH, weights=files[0])
        assert (report["load"], report["first"], report["second"], report["unload"]) == (0, 0, 0, 0), (how, report)
        assert right(found, WIDTH, LAYERS), how
        if way == "2" and how != "file_with_memory":
            # One file for all is used where it lies.
            assert report["mapping"]["Size"] >= LAYERS * WIDTH * WIDTH * 4 and report["mapping"]["Anonymous"] == 0


def test_weights_that_are_elsewhere_damaged_or_of_another_model_are_reported_by_file(outside, tmp_path):
    report, _ = load("memory", outside["1"], tmp_path, WIDTH)
    assert report["load"] == 145002 and "no folder" in report["text"]
    model = tmp_path / "copy.om"
    shutil.copy(outside["1"], model)
    report, _ = load("file", model, tmp_path, WIDTH)
    assert report["load"] == 145002 and str(tmp_path / "weight") in report["text"]
    shutil.copytree(outside["1"].parent / "weight", tmp_path / "weight")
    victim = sorted((tmp_path / "weight").iterdir())[2]
    content = bytearray(victim.read_bytes())
    content[1000] ^= 1
    victim.write_bytes(content)
    report, _ = load("file", model, tmp_path, WIDTH)
    assert report["load"] == PARAM_INVALID and victim.name in report["text"]
    victim.write_bytes(content[:-4])
    report, _ = load("file", model, tmp_path, WIDTH)
    assert report["load"] == PARAM_INVALID and victim.name in report["text"]


def test_inputs_that_are_given_as_float16(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "y"], ["z"])],
        "sum",
        [helper.make_tensor_value_info(name, 1, [4]) for name in "xy"],
        [helper.make_tensor_value_info("z", 1, [4])],
    )
    source = tmp_path / "sum.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), source)
    model = convert(source, "--input_fp16_nodes=x")
    x, y = np.array([0.1, 1.5, -2.0, 65504.0], np.float16), np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    files = []
    for name, data in (("x", x), ("y", y)):
        files.append(tmp_path / name)
        files[-1].write_bytes(data.tobytes())
    run(sys.executable, HERE / "networks/run_model.py", model, *files, cwd=tmp_path)
    for copy in range(2):
        found = np.fromfile(tmp_path / f"output_{copy}_0", np.float32)
        assert np.array_equal(found, x.astype(np.float32) + y)
    assert "y" in run(PREFIX / "bin/jumar", "inspect", model).stdout
    done = run(
        PREFIX / "bin/atc", "--framework=5", f"--model={source}", f"--output={tmp_path}/out", "--soc_version=Ascend910B1",
        "--input_fp16_nodes=nothing", check=False,
    )
    assert done.returncode == 1 and "inputs are x, y" in done.stdout + done.stderr
