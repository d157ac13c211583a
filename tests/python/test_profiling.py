"""Profiles and subscriptions, through the module: what is written and sent is compared with what the program did."""

import csv
import ctypes
import json
import os
import re
import subprocess
import threading
from decimal import Decimal

import pytest

import acl
from fake import build

API, TASK_TIME, TX = 0x1, 0x2, 0x80
NONE = 255
TO_DEVICE, INSIDE_DEVICE, HUGE_FIRST = 1, 3, 0


def profile(folder, switches, work):
    """Profiles `work` and returns the profile's folder."""
    before = set(folder.iterdir())
    assert acl.prof.init(str(folder)) == 0
    config = acl.prof.create_config([0], NONE, 0, switches)
    assert config != 0
    assert acl.prof.start(config) == 0
    try:
        work()
    finally:
        assert acl.prof.stop(config) == 0
        assert acl.prof.destroy_config(config) == 0
        assert acl.prof.finalize() == 0
    (made,) = set(folder.iterdir()) - before
    return made


def table(made, name):
    (path,) = (made / "mindstudio_profiler_output").glob(f"{name}_*.csv")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def stream(device):
    made, ret = acl.rt.create_stream()
    assert ret == 0
    yield made
    assert acl.rt.destroy_stream(made) == 0


def copies(stream, count):
    memory, ret = acl.rt.malloc(4096, HUGE_FIRST)
    assert ret == 0
    host = bytes(4096)
    for _ in range(count):
        assert acl.rt.memcpy_async(memory, 4096, acl.util.bytes_to_ptr(host), 4096, TO_DEVICE, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.free(memory) == 0


def test_a_profile_contains_its_own_tasks_and_calls_and_no_others(stream, tmp_path):
    copies(stream, 3)
    made = profile(tmp_path, API | TASK_TIME, lambda: copies(stream, 7))
    copies(stream, 5)
    assert re.fullmatch(r"PROF_\d{6}_\d{17}_[A-R]{8}", made.name)
    assert {"host", "device_0", "mindstudio_profiler_output"} == {entry.name for entry in made.iterdir()}
    tasks = [row for row in table(made, "task_time") if row["kernel_type"] == "MEMCPY"]
    assert len(tasks) == 7
    ends = 0.0
    for row in tasks:
        start, stop = float(row["task_start(us)"]), float(row["task_stop(us)"])
        assert ends <= start <= stop
        assert float(row["task_queued(us)"]) <= stop
        assert row["Device_id"] == "0" and row["state"] == "finished"
        ends = stop
    calls = {row["API Name"]: row for row in table(made, "api_statistic")}
    row = calls["aclrtMemcpyAsync"]
    assert int(row["Count"]) == 7
    assert float(row["Min(us)"]) <= float(row["Avg(us)"]) <= float(row["Max(us)"]) <= float(row["Time(us)"])
    assert calls["aclrtMalloc"]["Count"] == calls["aclrtFree"]["Count"] == "1"
    (timeline,) = (made / "mindstudio_profiler_output").glob("msprof_*.json")
    events = json.loads(timeline.read_text())
    calls = [event for event in events if event["name"] == "AscendCL@aclrtMemcpyAsync"]
    assert [event["tid"] for event in calls] == [threading.get_native_id()] * 7
    assert {path.name for path in (made / "host/data/tables").iterdir()} == {
        path.name for path in (made / "mindstudio_profiler_output").iterdir()
    }
    assert "Jumar" in json.loads((made / "host/info.json").read_text())["collector"]
    # The locations where scripts expect the folders of a profile, and for what was collected.
    assert {path.parent.name for path in made.glob("*/sample.json")} == {"host", "device_0"}
    assert all((path.parent / "data").is_dir() for path in made.glob("*/sample.json"))
    sample = json.loads((made / "device_0/sample.json").read_text())
    assert (sample["tasks"], sample["calls"], sample["marks"]) == (True, True, False)


def test_a_flow_event_leads_from_a_call_to_its_task(stream, tmp_path):
    def work():
        memory, ret = acl.rt.malloc(8192, HUGE_FIRST)
        assert ret == 0
        for _ in range(3):
            assert acl.rt.memcpy_async(memory, 4096, memory + 4096, 4096, INSIDE_DEVICE, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.free(memory) == 0

    made = profile(tmp_path, API | TASK_TIME, work)
    (timeline,) = (made / "mindstudio_profiler_output").glob("msprof_*.json")
    events = json.loads(timeline.read_text())
    slices = {(event["pid"], event["tid"], event["ts"]): event for event in events if event["ph"] == "X"}
    flows = [event for event in events if event.get("cat") == "HostToDevice"]
    begins = {event["id"]: event for event in flows if event["ph"] == "s"}
    ends = {event["id"]: event for event in flows if event["ph"] == "f"}
    assert len(begins) == len(ends) == 3 and begins.keys() == ends.keys()
    for number, begin in begins.items():
        end = ends[number]
        task = slices[end["pid"], end["tid"], end["ts"]]
        assert (task["name"], task["args"]["Task Id"]) == ("aclrtMemcpyAsync", number)
        around = [
            event
            for event in slices.values()
            if event["pid"] == begin["pid"] and event["tid"] == begin["tid"] and event["name"] == "AscendCL@aclrtMemcpyAsync"
            and Decimal(event["ts"]) <= Decimal(begin["ts"]) <= Decimal(event["ts"]) + Decimal(str(event["dur"]))
        ]
        assert len(around) == 1
    # Times are microseconds since 1970, as they are in the tables.
    tasks = {row["task_start(us)"] for row in table(made, "task_time") if row["kernel_type"] == "MEMCPY"}
    assert tasks == {event["ts"] for event in ends.values()}


def test_only_what_the_switches_ask_for_is_written(stream, tmp_path):
    made = profile(tmp_path, API, lambda: copies(stream, 1))
    names = {path.name.rsplit("_", 1)[0] for path in (made / "mindstudio_profiler_output").glob("*.csv")}
    assert names == {"api_statistic"}
    assert not list((made / "mindstudio_profiler_output").glob("*.json"))


def test_marks_and_ranges_have_their_texts_and_times(stream, tmp_path):
    def work():
        stamp = acl.prof.create_stamp()
        text = b"load, \"first\""
        assert acl.prof.set_stamp_trace_message(stamp, acl.util.bytes_to_ptr(text), len(text)) == 0
        assert acl.prof.mark(stamp) == 0
        assert acl.prof.push(stamp) == 0
        copies(stream, 1)
        assert acl.prof.pop() == 0
        acl.prof.destroy_stamp(stamp)

    made = profile(tmp_path, TX, work)
    mark, pushed = table(made, "msprof_tx")
    assert [mark["event_type"], pushed["event_type"]] == ["marker", "push/pop"]
    assert mark["message"] == pushed["message"] == 'load, "first"'
    assert pushed["tid"] == str(threading.get_native_id())
    assert float(mark["Start_time(us)"]) <= float(pushed["Start_time(us)"]) < float(pushed["End_time(us)"])


def test_two_profiles_have_two_folders(stream, tmp_path):
    first = profile(tmp_path, TASK_TIME, lambda: copies(stream, 1))
    second = profile(tmp_path, TASK_TIME, lambda: copies(stream, 2))
    assert [len(table(made, "task_time")) for made in (first, second)] == [1, 2]


def execute(model, times):
    """Executes a model with zeros."""
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model) == 0
    sets, memory, buffers = [], [], []
    for count, size_of in (
        (acl.mdl.get_num_inputs(desc), acl.mdl.get_input_size_by_index),
        (acl.mdl.get_num_outputs(desc), acl.mdl.get_output_size_by_index),
    ):
        dataset = acl.mdl.create_dataset()
        for index in range(count):
            address, ret = acl.rt.malloc(size_of(desc, index), HUGE_FIRST)
            assert ret == 0
            memory.append(address)
            buffers.append(acl.create_data_buffer(address, size_of(desc, index)))
            _, ret = acl.mdl.add_dataset_buffer(dataset, buffers[-1])
            assert ret == 0
        sets.append(dataset)
    for _ in range(times):
        assert acl.mdl.execute(model, *sets) == 0
    for address in memory:
        assert acl.rt.free(address) == 0
    for buffer in buffers:
        assert acl.destroy_data_buffer(buffer) == 0
    for dataset in sets:
        assert acl.mdl.destroy_dataset(dataset) == 0
    assert acl.mdl.destroy_desc(desc) == 0


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    atc = build.module_file().resolve().parents[2] / "bin/atc"
    output = tmp_path_factory.mktemp("model") / "digits"
    subprocess.run(
        [str(atc if atc.exists() else "atc"), f"--model={build.ROOT / 'examples/digits/digits.onnx'}", "--framework=5",
         f"--output={output}", "--soc_version=Ascend910B1"],
        check=True, capture_output=True, timeout=120)
    return f"{output}.om"


@pytest.fixture
def model(device, model_file):
    number, ret = acl.mdl.load_from_file(model_file)
    assert ret == 0
    yield number
    assert acl.mdl.unload(number) == 0


def test_operators_of_a_model_are_in_the_summary(model, tmp_path):
    made = profile(tmp_path, TASK_TIME, lambda: execute(model, 3))
    rows = table(made, "op_summary")
    assert rows and len(rows) % 3 == 0
    once = len(rows) // 3
    assert [row["Op Name"] for row in rows[:once]] == [row["Op Name"] for row in rows[once : 2 * once]]
    for row in rows:
        assert row["Model ID"] == str(model) and row["Task Type"] == "Jumar CPU"
        assert float(row["Task Duration(us)"]) >= 0
        assert row["Input Data Types"].split(";")[0] == "FLOAT"
    types = table(made, "op_statistic")
    assert sum(int(row["Count"]) for row in types) == len(rows)
    assert abs(sum(float(row["Ratio(%)"]) for row in types) - 100) < 0.1


def test_a_subscriber_is_sent_each_operator_and_reads_a_name_once(model):
    size, ret = acl.prof.get_op_desc_size()
    assert ret == 0
    reader, writer = os.pipe()
    descriptor = ctypes.c_int(writer)
    config = acl.prof.create_subscribe_config(1, NONE, ctypes.addressof(descriptor))
    assert config != 0
    assert acl.prof.model_subscribe(model, config) == 0
    assert acl.prof.model_subscribe(model, config) == 148046
    assert acl.prof.init("/tmp") == 148047
    execute(model, 2)
    assert acl.prof.model_unsubscribe(model) == 0
    assert acl.prof.model_unsubscribe(model) == 100000
    assert acl.prof.destroy_subscribe_config(config) == 0
    # Unsubscribing has closed the end that is written.
    with pytest.raises(OSError):
        os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    assert data and len(data) % (2 * size) == 0
    address = acl.util.bytes_to_ptr(data)
    count, ret = acl.prof.get_op_num(address, len(data))
    assert (count, ret) == (len(data) // size, 0)
    names = []
    for index in range(count):
        name, ret = acl.prof.get_op_name_v2(address, len(data), index)
        assert ret == 0
        kind, ret = acl.prof.get_op_type(address, len(data), index, 65)
        assert ret == 0 and kind
        names.append(name)
        assert acl.prof.get_op_name(address, len(data), index, 257)[1] == 100000
        assert acl.prof.get_op_type_v2(address, len(data), index)[1] == 100000
    assert names[: count // 2] == names[count // 2 :]


def test_a_subscriber_that_stops_to_read_holds_up_nobody(model):
    reader, writer = os.pipe()
    descriptor = ctypes.c_int(writer)
    config = acl.prof.create_subscribe_config(1, NONE, ctypes.addressof(descriptor))
    assert acl.prof.model_subscribe(model, config) == 0
    os.close(reader)
    # More than a pipe holds.
    execute(model, 400)
    assert acl.prof.model_unsubscribe(model) == 0
    assert acl.prof.destroy_subscribe_config(config) == 0
    # Unsubscribing has closed the end that is written.
    with pytest.raises(OSError):
        os.close(writer)
