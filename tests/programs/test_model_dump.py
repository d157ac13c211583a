"""The files of a model's dump, read by what the documentation says of their format, and compared with NumPy."""

import csv
import json
import pathlib
import re
import sys

import pytest
from install import PREFIX, run

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
helper = onnx.helper

HERE = pathlib.Path(__file__).resolve().parent
# The data types of these files.
TYPES = {1: np.float32, 7: np.int32}
X = np.array([[-1.0, 2.0, 3.5], [0.25, -4.0, 5.0]], np.float32)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message, as (number, value)."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, key
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        found.append((key >> 3, value))
    return found


def shape(message):
    dims = []
    for number, value in fields(message):
        assert number == 1
        at = 0
        while at < len(value):
            dim, at = varint(value, at)
            dims.append(dim)
    return dims


def read(path):
    """Returns the operator's name and its inputs and outputs as arrays."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, at = fields(data[8 : 8 + length]), 8 + length
    assert (1, b"2.0") in header
    stamp = path.name.rsplit(".", 1)[1]
    assert dict(header)[2] == int(stamp)
    sides = {}
    # Inputs come first among the bytes, though outputs have the lower number.
    for side, size_field in ((4, 5), (3, 6)):
        tensors = []
        for tensor in (dict(fields(value)) for number, value in header if number == side):
            size = tensor[size_field]
            array = np.frombuffer(data[at : at + size], TYPES[tensor[1]]).reshape(shape(tensor[3]))
            tensors.append(array)
            at += size
        sides[side] = tensors
    workspaces = [dict(fields(value)) for number, value in header if number == 8]
    assert at + sum(one.get(3, 0) for one in workspaces) == len(data), "the sizes add up to the file"
    return dict(header)[6].decode(), sides[4], sides[3]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumped")
    graph = helper.make_graph(
        [
            helper.make_node("Relu", ["x"], ["h"], name="block/first.relu"),
            helper.make_node("Mul", ["h", "x"], ["g"], name="product"),
            helper.make_node("Sub", ["g", "x"], ["z"], name="difference"),
        ],
        "net",
        [helper.make_tensor_value_info("x", 1, [2, 3])],
        [helper.make_tensor_value_info("z", 1, [2, 3])],
    )
    source = folder / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), source)
    run(PREFIX / "bin/atc", "--framework=5", f"--model={source}", f"--output={folder}/net", "--soc_version=Ascend910B1")
    (folder / "x.bin").write_bytes(X.tobytes())
    return folder / "net.om"


def dump(model, folder, **settings):
    config = folder / "d.json"
    config.write_text(json.dumps({"dump": {"dump_path": str(folder), "dump_list": [{}], **settings}}))
    done = run(sys.executable, HERE / "python/dump_model.py", model, config, model.parent / "x.bin")
    number = done.stdout.split()[-1]
    (stamp,) = [path for path in folder.iterdir() if path.is_dir()]
    assert re.fullmatch(r"\d{14}", stamp.name)
    return {step: sorted((stamp / "0/net" / number / step).glob("*")) for step in ("0", "1")}


def wanted():
    h = np.maximum(X, 0)
    return {
        "block/first.relu": ([X], [h]),
        "product": ([h, X], [h * X]),
        "difference": ([h * X, X], [h * X - X]),
    }


def test_each_operator_of_each_execution_is_a_file(model, tmp_path):
    found = dump(model, tmp_path, dump_mode="all")
    for step in ("0", "1"):
        assert len(found[step]) == 3
        for path in found[step]:
            name, inputs, outputs = read(path)
            kind, own, task, stream, stamp = path.name.split(".")
            assert own == name.replace("/", "_").replace(".", "_")
            assert kind in ("Relu", "Mul", "Sub") and int(task) >= 0 and int(stream) >= 0 and len(stamp) == 16
            expected = wanted()[name]
            for found_side, wanted_side in zip((inputs, outputs), expected):
                assert len(found_side) == len(wanted_side)
                for one, other in zip(found_side, wanted_side):
                    assert np.array_equal(one, other), name


def test_outputs_alone_of_chosen_operators_in_chosen_executions(model, tmp_path):
    found = dump(model, tmp_path, dump_step="1", dump_list=[{"model_name": "net", "layer": ["product"]}])
    assert found["0"] == [] and len(found["1"]) == 1
    name, inputs, outputs = read(found["1"][0])
    assert (name, inputs) == ("product", [])
    assert np.array_equal(outputs[0], wanted()["product"][1][0])


def test_statistics_are_a_table(model, tmp_path):
    found = dump(model, tmp_path, dump_mode="all", dump_data="stats")
    (path,) = [path for path in found["0"] if ".difference." in path.name]
    assert path.suffix == ".csv"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [(row["Input/Output"], row["Index"], row["Shape"], row["Data Type"]) for row in rows] == [
        ("Input", "0", "2x3", "FLOAT"),
        ("Input", "1", "2x3", "FLOAT"),
        ("Output", "0", "2x3", "FLOAT"),
    ]
    z = wanted()["difference"][1][0]
    out = rows[2]
    assert float(out["Max Value"]) == z.max() and float(out["Min Value"]) == z.min()
    assert abs(float(out["Avg Value"]) - z.astype(np.float64).mean()) < 1e-12
    assert (out["Count"], out["Nan Count"], out["Data Size"]) == ("6", "0", "24")
