"""`jumar run --trace` of the program with two streams: the timeline shows what the program did, and in which order."""

import collections
import json

import pytest
from install import PREFIX, ROOT, run

DIGITS = ROOT / "examples/digits"
IMAGES, BATCHES = 320, 20


@pytest.fixture(scope="module")
def events(model, example, tmp_path_factory):
    path = tmp_path_factory.mktemp("timeline") / "streams.json"
    files = [model, DIGITS / "images.u8", DIGITS / "labels.u8"]
    # Without what this test itself runs in: the command sets up what the program needs.
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/"}
    run(PREFIX / "bin/jumar", "run", "--trace", path, "--", *example["streams"], *files, env=bare)
    return json.loads(path.read_text())["traceEvents"]


@pytest.fixture(scope="module")
def tracks(events):
    """The slices of each track, in order of time, by the track's name; without the operators inside models."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    slices = collections.defaultdict(list)
    for e in sorted((e for e in events if e["ph"] == "X" and "node" not in e["args"]), key=lambda e: e["ts"]):
        slices[names[e["pid"], e["tid"]]].append(e)
    return slices


def streams(tracks):
    return {name: slices for name, slices in tracks.items() if "stream" in name.split("/")[-1] and "device 0" in name}


def test_each_stream_is_a_track_on_which_nothing_overlaps(tracks):
    found = streams(tracks)
    assert len(found) == 2, list(tracks)
    for name, slices in found.items():
        for one, next_one in zip(slices, slices[1:]):
            # Times are in microseconds, with three decimals.
            assert one["ts"] + one["dur"] <= next_one["ts"] + 0.002, (name, one, next_one)


def test_the_model_runs_once_per_image_on_one_of_them(tracks, model):
    counts = {name: sum(e["name"] == model.stem for e in slices) for name, slices in streams(tracks).items()}
    assert sorted(counts.values()) == [0, IMAGES], counts


def test_each_operator_lies_inside_the_execution_of_its_model(events, model):
    runs = {e["args"]["ticket"]: e for e in events if e["ph"] == "X" and e["name"] == model.stem}
    operators = [e for e in events if e["ph"] == "X" and "node" in e["args"]]
    each = collections.Counter(e["args"]["of"] for e in operators)
    # The same operators in each of the executions.
    assert each.keys() == runs.keys() and len(set(each.values())) == 1, each
    for e in operators:
        run = runs[e["args"]["of"]]
        assert (e["pid"], e["tid"]) == (run["pid"], run["tid"])
        assert run["ts"] - 0.002 <= e["ts"] and e["ts"] + e["dur"] <= run["ts"] + run["dur"] + 0.002, (run, e)


def test_the_calls_of_the_program_are_on_its_thread(tracks):
    called = collections.Counter()
    for name, slices in tracks.items():
        if name not in streams(tracks):
            called.update(e["name"] for e in slices)
    assert called["aclmdlExecuteAsync"] == IMAGES
    assert called["aclrtStreamWaitEvent"] == 2 * BATCHES and called["aclrtRecordEvent"] == 3 * BATCHES
    assert called["aclrtMemcpyAsync"] == 2 * BATCHES


def test_flow_events_lead_from_each_record_to_its_wait_and_never_back_in_time(events):
    starts = {e["id"]: e for e in events if e["ph"] == "s" and e["name"] == "event"}
    ends = {e["id"]: e for e in events if e["ph"] == "f" and e["name"] == "event"}
    assert starts.keys() == ends.keys()
    between_streams = 0
    for key, start in starts.items():
        assert start["ts"] <= ends[key]["ts"], (start, ends[key])
        between_streams += (start["pid"], start["tid"]) != (ends[key]["pid"], ends[key]["tid"])
    # Twice a batch one stream waits for the other.
    assert between_streams >= 2 * BATCHES


def test_the_file_says_that_its_times_are_not_those_of_a_card(model, example, tmp_path):
    path = tmp_path / "sync.json"
    files = [model, DIGITS / "images.u8", DIGITS / "labels.u8"]
    run(PREFIX / "bin/jumar", "run", "--trace", path, "--", *example["sync"], *files)
    about = json.dumps(json.loads(path.read_text())["otherData"])
    assert "Jumar" in about and "not" in about
