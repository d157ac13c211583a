"""The wheel as a file."""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

from conftest import ROOT


def test_it_is_small_and_says_what_it_runs_on(wheel):
    # Without optimization, the libraries are three times as large.
    limit = 64 if os.environ.get("JUMAR_TEST_PROFILE") == "dev" else 32
    assert wheel.stat().st_size < limit << 20
    assert re.fullmatch(r"jumar-[\d.]+-cp39-abi3-manylinux_2_\d+_\w+\.whl", wheel.name)


def test_its_record_is_right(wheel):
    # pip checks nothing by itself: `wheel unpack` compares every file with its digest.
    subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", ROOT / "target/dist/unpacked", wheel], check=True)


def test_no_link_and_no_source_path_of_the_builder(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            kind = entry.external_attr >> 28
            assert kind in (0, 8), f"{entry.filename} is not a regular file"
        for name in ("jumar/cann/lib64/libascendcl.so", "acl.abi3.so"):
            assert str(ROOT).encode() not in archive.read(name), f"{name} names the folder that it was built in"


def test_the_modules_the_commands_the_headers_and_every_library_name_are_in_it(wheel, site):
    tree = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"acl.abi3.so", "jumar/__init__.py", "jumar/py.typed", "acl-stubs/rt.pyi", "jumar/cann/bin/jumar"} <= names
    for header in (tree / "include").rglob("*.h"):
        assert f"jumar/cann/include/{header.relative_to(tree / 'include')}" in names
    libraries = {path.name for path in (tree / "lib64").glob("*.so")}
    assert len(libraries) > 20
    assert libraries == {path.name for path in (site / "jumar/cann/lib64").iterdir()}
