"""The type stubs of `acl` are what the module is, and the package `jumar` is typed throughout."""

import os
import subprocess
import sys

from conftest import ROOT, clean_environment


def mypy(*arguments, site):
    environment = clean_environment(PYTHONPATH=str(site), MYPYPATH=str(site))
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=site,
        timeout=300,
    )


def test_the_stubs_of_acl(site, tmp_path):
    done = mypy("mypy.stubtest", "acl", "--concise", site=site)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_jumar(site, tmp_path):
    cache = os.fspath(tmp_path / "mypy")
    done = mypy("mypy", "--strict", "--cache-dir", cache, "-p", "jumar", site=site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ROOT.exists()
