"""One file serves every Python from 3.9 on: whatever other interpreters there are import it and run callbacks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fake import build

SCRIPT = """
import sys, threading
import acl, acl.rt
assert sys.modules["acl.mdl"] is acl.mdl
assert acl.rt.set_device(0) == 0
try:
    acl.rt.memcpy(b"x", 1, 2, 3, 4)
except TypeError as error:
    assert str(error) == "acl.rt.memcpy args parse failed", error
else:
    raise AssertionError
data = bytes(4)
assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), 4, acl.util.bytes_to_ptr(b"abcd"), 4, 0) == 0
assert data == b"abcd"
assert acl.mdl.get_dynamic_batch(1) == ({"batchCount": 3, "batch": [1, 2, 8]}, 0)
seen, stop = [], threading.Event()
def loop(arguments):
    while not stop.is_set():
        acl.rt.process_report(20)
number, ret = acl.util.start_thread(loop, [])
for i in range(50):
    assert acl.rt.launch_callback(lambda given: seen.append((given, threading.get_ident())), i, 0, 1) == 0
assert acl.rt.synchronize_stream(1) == 0
stop.set()
assert acl.util.stop_thread(number) == 0
assert seen == [(i, number) for i in range(50)], seen
acl.app_log(1, "text")
acl.rt.set_exception_info_callback(print)
acl.util.start_thread(lambda: acl.rt.process_report(-1), None)   # still waits when the interpreter ends
print(sys.version_info[:2])
"""


def interpreters():
    """Interpreters of other versions that run at all: those on PATH and those of pyenv."""
    names = [f"python3.{minor}" for minor in range(9, 16)]
    found = [path for path in map(shutil.which, names) if path]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found += sorted(str(path) for path in root.glob("versions/3.*/bin/python3"))
    versions = {}
    for path in found:
        probe = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
        version = probe.stdout.strip()
        if probe.returncode == 0 and tuple(map(int, version.split("."))) >= (3, 9):
            versions.setdefault(version, path)
    versions.setdefault("%d.%d" % sys.version_info[:2], sys.executable)
    return versions


INTERPRETERS = interpreters()


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    return build.build(tmp_path_factory.mktemp("tree"), build.module_file())


@pytest.mark.parametrize("version", INTERPRETERS)
def test_import_and_callbacks(version, packages):
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PYTHONHOME")}
    environment.update(PYTHONPATH=str(packages), FAKE_LATE="1")
    result = subprocess.run(
        [INTERPRETERS[version], "-X", "dev", "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    major, minor = version.split(".")
    assert result.stdout == f"({major}, {minor})\nthe late callback returned\n"
    assert result.stderr == ""
