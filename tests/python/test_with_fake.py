"""Starts the tests of with_fake/ in a process whose module is bound to the fake library."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fake import build

FOLDER = Path(__file__).resolve().parent / "with_fake"


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    return build.build(tmp_path_factory.mktemp("tree"), build.module_file())


@pytest.fixture(scope="session")
def environment(packages):
    environment = dict(os.environ, PYTHONPATH=str(packages), JUMAR_TEST_FAKE=str(packages), PYTHONDONTWRITEBYTECODE="1")
    # The one in the tree beside the module must be found, whatever else is installed.
    environment.pop("LD_LIBRARY_PATH", None)
    environment.pop("LD_PRELOAD", None)
    return environment


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("test_*.py")))
def test_with_fake(file, environment):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(FOLDER / file)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]
    assert " passed" in result.stdout, result.stdout
