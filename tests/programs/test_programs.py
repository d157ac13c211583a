"""Whole programs, built and run as their users would: each says at its top what it shows."""

import pathlib
import sys

import pytest
from install import LIB64, LIBAVCODEC, compile_c, environment, run

HERE = pathlib.Path(__file__).resolve().parent
C_PROGRAMS = sorted(path.stem for path in (HERE / "c").glob("*.c"))
PYTHON_PROGRAMS = sorted(path.stem for path in (HERE / "python").glob("*.py"))

# These take arguments or end with a status of their own, and have a test below or in a file beside this one.
SPECIAL = {
    "classified_image",
    "cycles",
    "datasets",
    "devices",
    "dump_model",
    "leaves_everything",
    "load_large",
    "load_models",
    "models_together",
    "own_allocator",
    "check",
    "scores",
}
# With this variable each asynchronous call may wait for its work, so that nothing overlaps, and a host function that
# waits for the program would wait for ever.
NEEDS_ASYNCHRONY = {
    "chaos",
    "collectives",
    "collectives_destroyed",
    "collectives_endurance",
    "collectives_misuse",
    "cut_short",
    "destroy_running",
    "destroyed_by_two",
    "ends_anywhere",
    "independent",
    "inside_callback",
    "many_wait",
    "overlap",
    "pending",
    "reset_again",
}
# Thousands of objects of each kind take minutes so, and show nothing more.
TAKES_LONG = {"each_kind"}


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """Compiles a program of c/ when it is first asked for."""
    folder = tmp_path_factory.mktemp("programs")
    made = {}

    def make(name):
        if name not in made:
            link = ["-L", LIB64, "-lascendcl", "-lpthread", "-ldl"]
            made[name] = compile_c(HERE / "c" / f"{name}.c", folder / name, *link)
        return made[name]

    return make


@pytest.mark.parametrize("name", [name for name in C_PROGRAMS if name not in SPECIAL])
def test_c(name, program):
    run(program(name))


@pytest.mark.parametrize("name", [n for n in C_PROGRAMS if n not in SPECIAL | NEEDS_ASYNCHRONY | TAKES_LONG])
def test_c_with_launch_blocking(name, program):
    run(program(name), env=environment(ASCEND_LAUNCH_BLOCKING=1))


@pytest.mark.long
@pytest.mark.skipif(LIBAVCODEC is None, reason="there is no libavcodec 58 to 61: apt-get install libavcodec59")
@pytest.mark.parametrize("name", [name for name in C_PROGRAMS if name.startswith("video_") or name == "second_decoder"])
def test_c_with_ffmpeg(name, program):
    run(program(name), env=environment(JUMAR_FFMPEG=1))


@pytest.mark.parametrize("arguments", [[], ["late"]], ids=["nothing released", "released by an exit handler"])
def test_a_program_that_leaves_everything_ends_with_its_own_status(arguments, program):
    for _ in range(5):
        done = run(program("leaves_everything"), *arguments, check=False)
        assert done.returncode == 7, done.stderr


@pytest.mark.parametrize(
    ("settings", "seen"),
    [
        ({}, 1),
        ({"JUMAR_DEVICES": 1}, 1),
        ({"JUMAR_DEVICES": 4}, 4),
        ({"JUMAR_DEVICES": 4, "ASCEND_RT_VISIBLE_DEVICES": "1,3"}, 2),
        # Parsing stops at a token that is not a plain number.
        ({"JUMAR_DEVICES": 4, "ASCEND_RT_VISIBLE_DEVICES": "1, 2,3"}, 1),
    ],
)
def test_each_device_that_a_program_sees_works(settings, seen, program):
    run(program("devices"), seen, env=environment(**settings))


@pytest.mark.parametrize("name", [name for name in PYTHON_PROGRAMS if name not in SPECIAL])
def test_python(name):
    done = run(sys.executable, HERE / "python" / f"{name}.py")
    assert done.stdout.strip() == "ok"
    assert "Traceback" not in done.stderr or name == "callbacks", done.stderr
