"""Installs the wheel into a folder and puts that, and nothing else, on the path."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def newest_wheel():
    """The wheel that `cargo xtask wheel` made last."""
    wheels = sorted((ROOT / "target/wheels").glob("jumar-*.whl"), key=lambda path: path.stat().st_mtime)
    assert wheels, "there is no wheel; make one with `cargo xtask wheel`"
    return wheels[-1]


def pip_install(python, *arguments):
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--no-index"]
        + [str(argument) for argument in arguments],
        check=True,
    )


def clean_environment(**extra):
    """This process's environment without anything that points at a tree of Jumar or of a toolkit."""
    names = ("LD_LIBRARY_PATH", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in names and not name.startswith("ASCEND_")}
    return {**kept, **extra}


def pytest_configure():
    folder = ROOT / "target/wheel-under-test"
    # Installed once for the session, before anything imports the modules.
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    pip_install(sys.executable, "--target", folder, newest_wheel())
    sys.path.insert(0, str(folder))
    os.environ["JUMAR_TEST_SITE"] = str(folder)


@pytest.fixture(scope="session")
def wheel():
    return newest_wheel()


@pytest.fixture(scope="session")
def site():
    """The folder that the wheel was installed into."""
    return Path(os.environ["JUMAR_TEST_SITE"])


@pytest.fixture(scope="session")
def run_python():
    """Runs a script in a fresh interpreter that sees the installed wheel, and returns its output."""

    def run(script, *arguments, **environment):
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", script, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            env=clean_environment(PYTHONPATH=os.environ["JUMAR_TEST_SITE"], **environment),
        )
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    return run


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """The folder for converted models, so that tests neither use nor leave one of the user's."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def digits():
    return ROOT / "examples/digits/digits.onnx"
