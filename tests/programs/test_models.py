"""Model files as they come: the digits network, and files that are no model, or no longer."""

import pathlib
import shutil
import struct
import sys

import pytest
from install import LIB64, PREFIX, ROOT, compile_c, environment, run

HERE = pathlib.Path(__file__).resolve().parent
DIGITS = ROOT / "examples/digits"
IMAGES, LABELS = DIGITS / "images.u8", DIGITS / "labels.u8"

PARAM_INVALID = 145000
PATH_INVALID = 145002
DATA_SIZE_INVALID = 145006
# A whole file in which something is wrong: the code is not always the same, but always of the model loader.
LOADER = range(145000, 146000)


def build(name, folder):
    return compile_c(HERE / "c" / f"{name}.c", folder / name, "-L", LIB64, "-lascendcl")


def accuracy(output):
    lines = [line for line in output.splitlines() if line.startswith("accuracy")]
    assert len(lines) == 1, output
    return lines[0]


def test_the_three_example_programs_read_the_digits_alike(model, example):
    outputs = [run(*command, model, IMAGES, LABELS).stdout for command in example.values()]
    assert outputs[0] == outputs[1] == outputs[2]
    assert accuracy(outputs[0]) == "accuracy: 98.8 % (320 images)"


def test_two_streams_read_any_number_of_images(model, example, tmp_path):
    for count in (1, 15, 16, 17, 33):
        images, labels = tmp_path / "images", tmp_path / "labels"
        images.write_bytes(IMAGES.read_bytes()[: 64 * count])
        labels.write_bytes(LABELS.read_bytes()[:count])
        assert accuracy(run(*example["streams"], model, images, labels).stdout).endswith(f"({count} images)")


def test_an_image_is_decoded_scaled_classified_drawn_on_and_encoded(model):
    pytest.importorskip("numpy")
    done = run(sys.executable, HERE / "python/classified_image.py", model, IMAGES, LABELS)
    assert done.stdout.strip() == "ok", done.stderr


def test_the_scores_are_those_of_onnx_runtime(model, tmp_path):
    np = pytest.importorskip("numpy")
    onnxruntime = pytest.importorskip("onnxruntime")
    run(sys.executable, HERE / "python/scores.py", model, IMAGES, tmp_path / "scores", DIGITS)
    ours = np.fromfile(tmp_path / "scores", np.float32).reshape(-1, 10)

    session = onnxruntime.InferenceSession(DIGITS / "digits.onnx", providers=["CPUExecutionProvider"])
    images = np.fromfile(IMAGES, np.uint8).reshape(-1, 1, 1, 8, 8).astype(np.float32)
    theirs = np.concatenate([session.run(None, {"image": image})[0] for image in images])
    labels = np.fromfile(LABELS, np.uint8)

    assert len(ours) == len(theirs) == len(labels) == 320
    assert (theirs.argmax(1) == labels).mean() >= 0.97
    assert (ours.argmax(1) == theirs.argmax(1)).all()
    assert abs(ours - theirs).max() / abs(theirs).max() <= 1e-5


def denormals(folder, name, nodes, constants):
    """A model of float [64, 64] for c/float_modes.c."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    shape = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64]) for name in "xy"]
    constants = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph([helper.make_node(*node) for node in nodes], name, shape[:1], shape[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / f"{name}.onnx")
    output = folder / name
    run(PREFIX / "bin/atc", "--framework=5", f"--model={output}.onnx", f"--output={output}", "--soc_version=Ascend910B1")
    return output.with_suffix(".om")


def test_results_do_not_depend_on_the_callers_floating_point_modes(tmp_path):
    np = pytest.importorskip("numpy")

    # Half of each number, moved by a matrix product: exact, and denormal where the half is.
    matrix = np.zeros((64, 64), np.float32)
    matrix[np.arange(64), np.random.default_rng(7).permutation(64)] = 1
    nodes = [("Mul", ["x", "half"], ["halves"]), ("MatMul", ["halves", "matrix"], ["y"])]
    path = denormals(tmp_path, "halves", nodes, {"half": np.full(1, 0.5, np.float32), "matrix": matrix})
    run(build("float_modes", tmp_path), path)


@pytest.mark.parametrize("workers", [2, 4])
def test_nor_do_those_of_operators_that_several_threads_share(workers, tmp_path):
    np = pytest.importorskip("numpy")

    # Each column is copied 512 times and halved there, an operator of two million numbers; each column of the result comes from
    # another copy, so that the part of every thread is in it.
    copies, rng = 512, np.random.default_rng(8)
    wide = np.zeros((64, 64 * copies), np.float32)
    wide[np.tile(np.arange(64), copies), np.arange(64 * copies)] = 1
    back = np.zeros((64 * copies, 64), np.float32)
    back[rng.permutation(64) + 64 * rng.permutation(copies)[:64], np.arange(64)] = 1
    nodes = [("MatMul", ["x", "wide"], ["all"]), ("Mul", ["all", "half"], ["halves"]), ("MatMul", ["halves", "back"], ["y"])]
    constants = {"wide": wide, "half": np.full(1, 0.5, np.float32), "back": back}
    path = denormals(tmp_path, "shared", nodes, constants)
    run(build("float_modes", tmp_path), path, env=environment(JUMAR_WORKERS=workers))


def load(program, *paths):
    """What loading each file and asking for its size answer, and what the library said: {name: (load, size, text)}."""
    done = run(program, *paths)
    lines = done.stdout.splitlines()
    answers = {}
    for answer, text in zip(lines[::2], lines[1::2]):
        loaded, size, path = answer.split(" ", 2)
        answers.setdefault(pathlib.Path(path).name, []).append((int(loaded), int(size), text))
    return answers


def damaged(model, folder):
    """Files with something wrong, and the codes that are right for them."""
    good = model.read_bytes()
    half, end = len(good) // 2, len(good)
    contents = {
        "empty": (b"", {DATA_SIZE_INVALID}),
        "one byte": (good[:1], {DATA_SIZE_INVALID}),
        "zeros": (bytes(100_000), {PARAM_INVALID}),
        "text": (b"This is not a model.\n" * 1000, {PARAM_INVALID}),
        # Whether the header is what is missing, or what disagrees with the file, the two codes say the same.
        "cut in the middle": (good[:half], {PARAM_INVALID, DATA_SIZE_INVALID}),
        "cut at the end": (good[:-1], {PARAM_INVALID, DATA_SIZE_INVALID}),
        "longer": (good + bytes(4096), {PARAM_INVALID}),
        "another magic": (bytes(4) + good[4:], {PARAM_INVALID}),
        # A vendor's file starts like this; what follows is arbitrary.
        "vendor": (b"IMOD" + struct.pack("<I", 256) + bytes(248) + bytes(10_000), {PARAM_INVALID}),
    }
    for position in (half, end - 100, end - 1):
        changed = bytearray(good)
        changed[position] ^= 0x40
        contents[f"bit turned at {position}"] = (bytes(changed), set(LOADER))
    files = {}
    for name, (content, codes) in contents.items():
        path = folder / f"{name}.om"
        path.write_bytes(content)
        files[path] = codes
    huge = folder / "huge.om"
    with open(huge, "wb") as file:
        file.write(good)
        # A hole uses no disk space: only the file's length is large.
        file.truncate(1 << 40)
    files[huge] = set(LOADER)
    files[folder / "missing.om"] = {PATH_INVALID}
    files[folder / "missing folder" / "model.om"] = {PATH_INVALID}
    return files


def test_files_that_are_no_model_give_their_codes_and_leave_the_rest_alone(model, tmp_path):
    files = damaged(model, tmp_path)
    answers = load(build("load_models", tmp_path), model, *files)
    # The good file comes first and last.
    assert [answer[:2] for answer in answers[model.name]] == [(0, 0), (0, 0)]
    for path, codes in files.items():
        loaded, size, text = answers[path.name][0]
        assert loaded in codes, (path.name, loaded, text)
        assert size in codes, (path.name, size, text)
        assert path.name in text, f"the sentence does not name the file: {text!r}"


def test_no_byte_of_the_header_brings_the_loader_down(model, tmp_path):
    good = model.read_bytes()
    files = []
    for position in range(min(512, len(good))):
        changed = bytearray(good)
        changed[position] = 0xFF if changed[position] != 0xFF else 0x7F
        files.append(tmp_path / f"{position}.om")
        files[-1].write_bytes(changed)
    answers = load(build("load_models", tmp_path), model, *files)
    wrong = {name: a for name, a in answers.items() for loaded, *_ in a if loaded != 0 and loaded not in LOADER}
    assert not wrong
    loaded = [name for name, a in answers.items() if a[0][0] == 0 and name != model.name]
    assert not loaded, f"a byte was changed, and no load noticed: {loaded}"


def test_a_file_from_before_the_model_was_converted_is_not_taken_for_one(tmp_path, model):
    answers = load(build("load_models", tmp_path), model, DIGITS / "digits.onnx")
    loaded, size, text = answers["digits.onnx"][0]
    assert loaded == size == PARAM_INVALID
    assert "atc" in text or "onnx" in text.lower(), text


def test_datasets_of_the_wrong_count_or_size_are_refused(model, tmp_path):
    run(build("datasets", tmp_path), model)


def test_loading_running_and_releasing_again_and_again_does_not_grow_the_process(model, tmp_path):
    run(build("cycles", tmp_path), model)


def test_models_at_the_same_time_take_turns_or_overlap(model, tmp_path):
    settings = tmp_path / "d.json"
    settings.write_text('{"dump": {"dump_path": "%s", "dump_mode": "all", "dump_list": [{}]}}' % tmp_path)
    run(build("models_together", tmp_path), model, settings, env=environment(JUMAR_WORKERS=2))


MEMCHECK = ["valgrind", "-q", "--fair-sched=try", "--error-exitcode=99", "--leak-check=no"]


@pytest.mark.parametrize("under", [[], pytest.param(MEMCHECK, marks=pytest.mark.long)], ids=["plain", "memcheck"])
def test_an_allocator_of_the_program_serves_a_model_of_open_shapes(under, open_model, tmp_path):
    if under and not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    run(*under, build("own_allocator", tmp_path), open_model, timeout=240)


def test_records_of_a_subscribed_model_end_when_it_is_unsubscribed(model, tmp_path):
    run(build("subscription", tmp_path), model)


def test_the_checks_report_an_allocator_that_releases_memory_too_early(open_model, tmp_path):
    program = build("own_allocator", tmp_path)
    run(program, open_model, "early")
    done = run(PREFIX / "bin/jumar", "check", "--", program, open_model, "early", check=False)
    assert "JMR-SYNC-007" in done.stdout + done.stderr, done.stdout + done.stderr
