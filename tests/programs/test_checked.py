"""Every program here, and the examples, under `jumar check`: see tests/diag/checked.py and tests/diag/programs.toml."""

import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from install import LIB64, PREFIX, ROOT, compile_c, environment

sys.path.insert(0, str(ROOT / "tests/diag"))
from checked import DATA, judge  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
DIGITS = ROOT / "examples/digits"
FOLDERS = {"c": ["*.c"], "kernels": ["*.c"], "networks": ["*.c", "*.py"], "python": ["*.py"]}
NAMES = sorted(
    [f"{folder}/{path.name}" for folder, all in FOLDERS.items() for one in all for path in (HERE / folder).glob(one)]
    + ["digits/sync.c", "digits/streams.c", "digits/digits.py", "custom_operator/main.c", "custom_net/main.cpp"]
)
RUN = [name for name in NAMES if name not in DATA["left_out"]]
#: A kernel that an earlier release compiled.
OLD_KERNEL = '__attribute__((used)) static const char compiled_by[] = "jumar-triton-kernel:0.0.0/0";\nvoid kernel(void) {}\n'
LINK = ["-g", "-L", LIB64, "-lascendcl", "-lpthread", "-ldl"]


@pytest.fixture(scope="module")
def results(model, open_model, tmp_path_factory):
    """Runs all of them in parallel and returns the result of each."""
    top = tmp_path_factory.mktemp("checked")
    settings = top / "dump.json"
    settings.write_text('{"dump": {"dump_path": "%s", "dump_mode": "all", "dump_list": [{}]}}' % top)
    digits_files = [model, DIGITS / "images.u8", DIGITS / "labels.u8"]
    arguments = {
        "c/cycles.c": [model],
        "c/datasets.c": [model],
        "c/devices.c": [1],
        # Each child leaves a report with all calls that were refused.
        "c/ends_anywhere.c": [20260101, 15],
        "c/load_models.c": [model],
        "c/models_together.c": [model, settings],
        "c/own_allocator.c": [open_model],
        "c/subscription.c": [model],
        "digits/sync.c": digits_files,
        "digits/streams.c": digits_files,
        "digits/digits.py": digits_files,
        "python/classified_image.py": digits_files,
        "python/dump_model.py": [model, settings, top / "image"],
        "python/scores.py": [model, DIGITS / "images.u8", top / "scores", DIGITS],
    }
    variables = {"c/models_together.c": {"JUMAR_WORKERS": 2}, "c/chaos.c": {"JUMAR_CHAOS_SECONDS": 1}}
    kernels = compile_c(ROOT / "tests/behaviour/kernels.c", top / "kernels.so", "-shared", "-fPIC")
    arguments["kernels/launches.c"] = [kernels]
    old = top / "old.c"
    old.write_text(OLD_KERNEL)
    arguments["kernels/registered.c"] = [kernels, compile_c(old, top / "old.so", "-shared", "-fPIC")]
    own = compile_c(ROOT / "examples/custom_operator/axpy.cc", top / "axpy.so", "-shared", "-fPIC", compiler="c++", standard="c++17")
    arguments["custom_operator/main.c"] = [own]
    arguments["custom_net/main.cpp"] = [ROOT / "examples/custom_net/reference.txt"]
    image = top / "image"
    image.write_bytes(bytes(256))
    arguments["networks/run_model.c"] = [model, image]
    arguments["networks/run_model.py"] = [model, image]

    def one(name):
        folder = top / name.replace("/", "-")
        folder.mkdir()
        source = HERE / name if name.split("/")[0] in FOLDERS else ROOT / "examples" / name
        more = ["-rdynamic"] if name in ("kernels/symbols.c", "kernels/long_task.c") else []
        command = [sys.executable, source]
        if source.suffix == ".c":
            command = [compile_c(source, folder / source.stem, *more, *LINK)]
        elif source.suffix == ".cpp":
            command = [compile_c(source, folder / source.stem, *LINK, compiler="c++", standard="c++17")]
        judge(name, [*command, *arguments.get(name, [])], folder, environment(**variables.get(name, {})))

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = {name: pool.submit(one, name) for name in RUN}
        yield lambda name: waiting[name].result()


@pytest.mark.parametrize("name", RUN)
def test_a_program_has_the_findings_of_its_mistakes_and_no_other(name, results):
    results(name)


def test_the_data_names_programs_that_are_there():
    known = {name for name in [*DATA["program"], *DATA["left_out"]] if not name.startswith("ge/")}
    assert known <= set(NAMES), known - set(NAMES)
    assert not set(DATA["program"]) & set(DATA["left_out"])


def test_the_corpus_holds_the_shapes_that_a_late_schedule_might_break():
    """One pinned buffer for input and output on one stream; only polling; a condition variable set by a host function."""
    shapes = {"c/pinned_in_and_out.c", "c/progress_poll.c", "c/progress_condition.c"}
    assert shapes <= set(RUN) - set(DATA["left_out"])
    assert not any("findings" in DATA["program"].get(name, {}) for name in shapes)
