"""MindSpore finds the installed wheel by itself: with a package that stands for MindSpore and asks for what MindSpore asks for."""

import subprocess
import sys

import pytest

from conftest import clean_environment, pip_install

# The path of the loaded runtime, the version of a package, and variables: what MindSpore examines when it is imported.
MINDSPORE = """
import ctypes, importlib.util, os

class Info(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]

library = ctypes.CDLL("libascendcl.so")
info = Info()
ctypes.CDLL(None).dladdr(ctypes.cast(library.aclInit, ctypes.c_void_p), ctypes.byref(info))
path = info.file.decode()
assert "cann" in path or "latest" in path, path
for name in ("ge_runner", "graph", "msprofiler", "hccl", "runtime", "platform", "c_sec", "nnopbase", "ascend_hal"):
    ctypes.CDLL(f"lib{name}.so")
from hccl import sys_version

home = os.environ["ASCEND_HOME_PATH"]
lines = open(home + "/compiler/version.info").read().splitlines()
installed = next(line.split("=")[1] for line in lines if line.startswith("Version="))
assert installed == sys_version.__sys_version__, (installed, sys_version.__sys_version__)
# MindSpore imports a compiler of operators from this package where it finds it.
assert importlib.util.find_spec("te") is None
assert "opp/built-in/op_impl/ai_core/tbe" in os.environ["PYTHONPATH"] and "/lib64" in os.environ["LD_LIBRARY_PATH"]
assert "/opp" in os.environ["ASCEND_OPP_PATH"]
"""


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    venv = tmp_path_factory.mktemp("mindspore") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip_install(venv / "bin/python", wheel)
    (site,) = (venv / "lib").glob("python*/site-packages")
    (site / "mindspore").mkdir()
    (site / "mindspore/__init__.py").write_text(MINDSPORE)
    return venv / "bin/python"


def test_an_import_finds_the_runtime_in_a_path_that_mindspore_accepts(python):
    done = subprocess.run([python, "-c", "import mindspore"], capture_output=True, text=True, timeout=60, env=clean_environment())
    assert done.returncode == 0, done.stderr
