"""Bad ONNX models through atc: refused with a sentence that names what is wrong where, soon, in little memory, and nothing is left behind."""

import re

import pytest
from install import PREFIX, run

np = pytest.importorskip("numpy")
pytest.importorskip("onnx")
import bad_models as bad  # noqa: E402

MIB = 1 << 20


def atc(source, *options, seconds=60, memory=400 * MIB):
    """Returns status and output. The memory is limited: a larger request ends the process by a signal."""
    command = [
        "sh",
        "-c",
        f'ulimit -v {memory >> 10}; exec "$0" "$@"',
        PREFIX / "bin/atc",
        "--framework=5",
        f"--model={source}",
        f"--output={source.parent / 'out'}",
        "--soc_version=Ascend910B1",
        *options,
    ]
    done = run(*command, timeout=seconds, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "model"
    inside.mkdir()
    bad.surroundings(inside)
    return inside


@pytest.mark.parametrize("name", bad.BAD)
def test_bad_model(name, folder):
    make, part = bad.BAD[name]
    source = folder / "model.onnx"
    source.write_bytes(make().SerializeToString())
    status, said = atc(source)
    assert status == 1, said
    line = next(line for line in said.splitlines() if re.match(r"E\d{5}: ", line))
    assert re.search(part, line), line
    assert not (folder / "out.om").exists()
    assert not [path for path in folder.iterdir() if path.suffix == ".part"]


def test_a_model_cut_short_is_refused(folder):
    whole = bad.model([bad.node("Relu", ["x"], ["y"])]).SerializeToString()
    source = folder / "model.onnx"
    for content in (b"", whole[: len(whole) // 2], whole[:-1], bytes(1000)):
        source.write_bytes(content)
        status, said = atc(source)
        assert status == 1 and re.search(r"^E\d{5}: ", said, re.MULTILINE), said


def test_a_file_longer_than_any_onnx_file_is_refused_unread(folder):
    source = folder / "model.onnx"
    with open(source, "wb") as file:
        file.truncate(1 << 40)
    status, said = atc(source)
    assert status == 1 and "files beside" in said, said


@pytest.mark.parametrize("shape", ["chain", "wide"])
def test_a_hundred_thousand_nodes(shape, folder):
    count = 100_000
    if shape == "chain":
        nodes = [bad.node("Sigmoid", [f"t{i}" if i else "x"], [f"t{i + 1}"], f"n{i}") for i in range(count - 1)]
        nodes.append(bad.node("Relu", [f"t{count - 1}"], ["y"]))
    else:
        nodes = [bad.node("Sigmoid", ["x"], [f"t{i}"], f"n{i}") for i in range(count - 1)]
        nodes.append(bad.node("Concat", [f"t{i}" for i in range(count - 1)], ["y"], axis=0))
    source = folder / "model.onnx"
    source.write_bytes(bad.model(nodes).SerializeToString())
    status, said = atc(source, seconds=240, memory=1500 * MIB)
    assert status == 0, said


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("--input_shape=x:99999999999,99999999999", "too large"),
        ("--input_shape=x:9999999999999999999999,1", "not a number"),
        ("--input_shape=x:-1,3 --dynamic_batch_size=1,0", "positive"),
        ("--input_shape=x:-1,3 --dynamic_batch_size=" + ",".join(map(str, range(1, 200))), "128"),
        ("--input_shape=x:-1,3 --dynamic_batch_size=1,99999999999999", "too large|gear|size"),
        ("--input_shape=x:-1,-1 --dynamic_dims=1,2,3;4", "dynamic_dims|open"),
    ],
)
def test_bad_sizes(option, part, folder):
    source = folder / "model.onnx"
    source.write_bytes(bad.model([bad.node("Relu", ["x"], ["y"])]).SerializeToString())
    status, said = atc(source, *option.split())
    assert status == 1 and re.search(part, said), said
