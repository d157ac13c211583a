"""Dumps of models: the files are taken apart by their documented format and held against what the model was given and gave."""

import json
import re
import struct
import subprocess

import numpy
import pytest

import acl
from fake import build

DIGITS = build.ROOT / "examples" / "digits"
# The numbers of data types in dump files, and what they are to NumPy.
TYPES = {1: numpy.float32, 7: numpy.int32, 8: numpy.int64, 11: numpy.bool_, 12: numpy.float64}


def varint(data, at):
    """Returns a protobuf varint and the offset of its end."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Takes a protobuf message apart: number and value of each field, in order."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 0:
            yield key >> 3, value
        else:
            assert key & 7 == 2, "only numbers and bytes are in these messages"
            yield key >> 3, data[at : at + value]
            at += value


def shape(message):
    dims = []
    for field, value in fields(message):
        assert field == 1
        if isinstance(value, int):
            dims.append(value)
            continue
        at = 0
        while at < len(value):
            dim, at = varint(value, at)
            dims.append(dim)
    return dims


def tensor(message, shape_field, size_field):
    found = dict(fields(message))
    return found.get(1, 0), shape(found[shape_field]), found[size_field]


def read(path):
    """Returns the header's fields and the tensors of a dump file."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = list(fields(data[8 : 8 + length]))
    rest = data[8 + length :]
    inputs = [tensor(value, 3, 5) for number, value in header if number == 4]
    outputs = [tensor(value, 3, 6) for number, value in header if number == 3]
    arrays = []
    for kind, dims, size in inputs + outputs:
        arrays.append(numpy.frombuffer(rest[:size], TYPES[kind]).reshape(dims))
        rest = rest[size:]
    assert rest == b"", "the sizes add up to the file"
    return dict(header), arrays[: len(inputs)], arrays[len(inputs) :]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    atc = build.module_file().resolve().parents[2] / "bin/atc"
    output = tmp_path_factory.mktemp("model") / "digits"
    subprocess.run(
        [str(atc if atc.exists() else "atc"), f"--model={DIGITS / 'digits.onnx'}", "--framework=5", f"--output={output}",
         "--soc_version=Ascend910B1"],
        check=True, capture_output=True, timeout=120)
    return f"{output}.om"


@pytest.fixture
def dumped(device, model_file, tmp_path):
    """Executes the model twice with an image and dump settings; returns the folder, the image and the result."""

    def execute(**settings):
        folder = tmp_path / "dumps"
        folder.mkdir()
        config = tmp_path / "dump.json"
        config.write_text(json.dumps({"dump": {"dump_path": str(folder), "dump_list": [{}], **settings}}))
        assert acl.mdl.init_dump() == 0
        assert acl.mdl.set_dump(str(config)) == 0
        model, ret = acl.mdl.load_from_file(model_file)
        assert ret == 0
        image = numpy.fromfile(DIGITS / "images.u8", numpy.uint8)[:64].astype(numpy.float32)
        sets, memory, buffers = [], [], []
        for size in (image.nbytes, 40):
            address, ret = acl.rt.malloc(size, 0)
            assert ret == 0
            memory.append((address, size))
            buffers.append(acl.create_data_buffer(address, size))
            sets.append(acl.mdl.create_dataset())
            assert acl.mdl.add_dataset_buffer(sets[-1], buffers[-1])[1] == 0
        given, result = image.tobytes(), bytes(40)
        assert acl.rt.memcpy(memory[0][0], 256, acl.util.bytes_to_ptr(given), 256, 1) == 0
        for _ in range(2):
            assert acl.mdl.execute(model, *sets) == 0
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(result), 40, memory[1][0], 40, 2) == 0
        assert acl.mdl.finalize_dump() == 0
        # After the end nothing is written.
        assert acl.mdl.execute(model, *sets) == 0
        for dataset in sets:
            assert acl.mdl.destroy_dataset(dataset) == 0
        for buffer in buffers:
            assert acl.destroy_data_buffer(buffer) == 0
        for address, _ in memory:
            assert acl.rt.free(address) == 0
        assert acl.mdl.unload(model) == 0
        (stamp,) = folder.iterdir()
        assert re.fullmatch(r"\d{14}", stamp.name)
        (name,) = (stamp / "0").iterdir()
        assert (name.name, [entry.name for entry in name.iterdir()]) == ("digits", [str(model)])
        return name / str(model), image, numpy.frombuffer(result, numpy.float32)

    return execute


def in_order(folder):
    """Lists the files of an execution in the order in which their operators ran."""
    files = list(folder.iterdir())
    parts = [re.fullmatch(r"[^.]+\.[^.]+\.(\d+)\.\d+\.\d{16}(\.csv)?", file.name) for file in files]
    assert files and all(parts), [file.name for file in files]
    return [file for _, file in sorted(zip([int(part[1]) for part in parts], files))]


def test_the_files_hold_what_went_in_and_came_out(dumped):
    folder, image, result = dumped(dump_mode="all")
    assert {entry.name for entry in folder.iterdir()} == {"0", "1"}
    files = in_order(folder / "0")
    header, inputs, _ = read(files[0])
    assert header[1] == b"2.0"
    assert any(numpy.array_equal(array.reshape(-1), image) for array in inputs)
    header, _, outputs = read(files[-1])
    assert outputs[-1].reshape(-1).tobytes() == result.tobytes()
    assert [file.name.split(".")[:3] for file in files] == [file.name.split(".")[:3] for file in in_order(folder / "1")]


def test_only_the_chosen_side_and_steps_are_dumped(dumped):
    folder, _, _ = dumped(dump_mode="output", dump_step="1")
    assert [entry.name for entry in folder.iterdir()] == ["1"]
    for file in in_order(folder / "1"):
        _, inputs, outputs = read(file)
        assert not inputs and outputs


def test_statistics_are_those_of_numpy(dumped):
    folder, _, result = dumped(dump_mode="output", dump_data="stats")
    lines = in_order(folder / "0")[-1].read_text().splitlines()
    head, row = lines[0].split(","), lines[-1].split(",")
    assert head[:6] == ["Input/Output", "Index", "Data Size", "Data Type", "Format", "Shape"]
    assert head[6:10] == ["Max Value", "Min Value", "Avg Value", "Count"]
    found = dict(zip(head, row))
    assert found["Data Size"] == "40" and found["Count"] == "10"
    for name, value in (("Max Value", result.max()), ("Min Value", result.min()), ("Avg Value", result.mean(dtype=numpy.float64))):
        assert abs(float(found[name]) - float(value)) <= 1e-5 * max(1, abs(float(value)))


def test_the_inputs_of_an_operator_that_fails_are_dumped(device, tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx")
    helper, types = onnx.helper, onnx.TensorProto
    node = helper.make_node("Gather", ["x", "i"], ["y"], name="pick.it", axis=0)
    values = [helper.make_tensor_value_info(name, kind, shape)
              for name, kind, shape in (("x", types.FLOAT, [4, 3]), ("i", types.INT64, [2]), ("y", types.FLOAT, [2, 3]))]
    graph = helper.make_graph([node], "rows", values[:2], values[2:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(tmp_path / "rows.onnx"))
    atc = build.module_file().resolve().parents[2] / "bin/atc"
    subprocess.run(
        [str(atc if atc.exists() else "atc"), f"--model={tmp_path / 'rows.onnx'}", "--framework=5", f"--output={tmp_path / 'rows'}",
         "--soc_version=Ascend910B1"],
        check=True, capture_output=True, timeout=120)
    monkeypatch.setenv("ASCEND_DUMP_SCENE", "aic_err_norm_dump")
    monkeypatch.setenv("ASCEND_DUMP_PATH", str(tmp_path))
    model, ret = acl.mdl.load_from_file(str(tmp_path / "rows.om"))
    assert ret == 0
    x, chosen = numpy.arange(12, dtype=numpy.float32).reshape(4, 3), numpy.array([1, 9], numpy.int64)
    addresses, buffers, datasets = [], [], [acl.mdl.create_dataset(), acl.mdl.create_dataset()]
    for array, dataset in ((x, 0), (chosen, 0), (numpy.zeros((2, 3), numpy.float32), 1)):
        address, ret = acl.rt.malloc(array.nbytes, 0)
        assert ret == 0
        content = array.tobytes()
        assert acl.rt.memcpy(address, array.nbytes, acl.util.bytes_to_ptr(content), array.nbytes, 1) == 0
        addresses.append(address)
        buffers.append(acl.create_data_buffer(address, array.nbytes))
        assert acl.mdl.add_dataset_buffer(datasets[dataset], buffers[-1])[1] == 0
    assert acl.mdl.execute(model, *datasets) != 0
    monkeypatch.delenv("ASCEND_DUMP_SCENE")
    assert acl.mdl.execute(model, *datasets) != 0
    (file,) = (tmp_path / "extra-info/data-dump/0").iterdir()
    assert re.fullmatch(r"GatherV2\.pick_it\.\d+\.\d{17}", file.name), file.name
    header, inputs, outputs = read(file)
    assert header[6] == b"pick.it" and not outputs
    assert numpy.array_equal(inputs[0], x) and numpy.array_equal(inputs[1], chosen)
    for dataset in datasets:
        assert acl.mdl.destroy_dataset(dataset) == 0
    for buffer in buffers:
        assert acl.destroy_data_buffer(buffer) == 0
    for address in addresses:
        assert acl.rt.free(address) == 0
    assert acl.mdl.unload(model) == 0
