"""PyTorch's adapter finds the installed wheel by itself: with packages that stand for PyTorch and its adapter and load what these load."""

import json
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT, clean_environment, pip_install

TORCH = """
class version:
    cuda = None
"""

# What the adapter needs when it is imported: folders, and libraries by their names alone.
ADAPTER = """
import ctypes, os
home = os.environ["ASCEND_HOME_PATH"]
for folder in (home, os.environ["ASCEND_OPP_PATH"], home + "/runtime", home + "/compiler"):
    assert os.path.isdir(folder), folder
for name in ("ascendcl", "acl_op_compiler", "ge_runner", "graph", "hccl", "acl_tdt_channel", "opapi", "nnopbase", "msprofiler", "ascend_hal"):
    ctypes.CDLL(f"lib{name}.so")
library = ctypes.CDLL("libopapi.so")
assert library.aclInit(None) == 0 and library.aclrtSetDevice(0) == 0
runtimes = {line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith("libascendcl.so")}
"""


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """An interpreter of an environment with the wheel and the two packages, where files of the kind .pth are read."""
    venv = tmp_path_factory.mktemp("torch") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip_install(venv / "bin/python", wheel)
    (site,) = (venv / "lib").glob("python*/site-packages")
    for name, text in (("torch", TORCH), ("torch_npu", ADAPTER)):
        (site / name).mkdir()
        (site / name / "__init__.py").write_text(text)
    # What the adapter links is examined by `jumar torch`.
    (site / "torch_npu/lib").mkdir()
    linked = site / "torch_npu/lib/libtorch_npu.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", linked], input="int nothing;", text=True, check=True)
    return venv / "bin/python"


def run(python, script, **environment):
    return subprocess.run([python, "-c", script], capture_output=True, text=True, timeout=60, env=clean_environment(**environment))


def output(python, script, **environment):
    done = run(python, script, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def tree(python):
    return output(python, "import jumar; print(jumar.prefix())")


def test_an_import_needs_no_variable_and_no_command(python):
    script = "import torch, torch_npu; print(len(torch_npu.runtimes), torch_npu.home)"
    assert output(python, script) == f"1 {tree(python)}"


def test_acl_and_the_adapter_share_one_runtime(python):
    assert output(python, "import torch_npu, acl; print(acl.rt.get_device(), len(torch_npu.runtimes))") == "(0, 0) 1"


def test_children_inherit_the_selection(python):
    child = 'import ctypes; print(ctypes.CDLL("libhccl.so")._name)'
    script = f"import torch_npu, subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {child!r}], check=True)"
    assert output(python, script) == "libhccl.so"
    assert output(python, "import torch_npu, shutil; print(shutil.which('msprof'))") == f"{tree(python)}/tools/profiler/bin/msprof"


def test_another_toolkit_that_is_selected_stays(python, tmp_path):
    script = "import os, importlib.util as util; util.find_spec('torch_npu'); print(os.environ.get('ASCEND_OPP_PATH'), os.environ['{}'])"
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        assert output(python, script.format(name), **{name: str(tmp_path)}) == f"None {tmp_path}"
    (tmp_path / "libascendcl.so").touch()
    assert output(python, script.format("LD_LIBRARY_PATH"), LD_LIBRARY_PATH=str(tmp_path)) == f"None {tmp_path}"


def test_programs_without_the_adapter_see_nothing(python):
    script = "import os, sys, torch; print('ctypes' in sys.modules, 'jumar' in sys.modules, 'ASCEND_HOME_PATH' in os.environ)"
    assert output(python, script) == "False False False"


def test_under_jumar_run(python):
    jumar = os.path.join(os.path.dirname(python), "jumar")
    command = [jumar, "run", "--", python, "-c", "import torch_npu; print(torch_npu.home)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=clean_environment())
    assert done.stdout.strip() == tree(python), done.stderr


def test_the_steps_of_the_example_workflow(python, tmp_path):
    workflow = (ROOT / "examples/ci/github-pytorch.yml").read_text()
    steps = dict(re.findall(r"- name: (\w+)\n +run: (\S.*)\n", workflow))
    assert list(steps) == ["Examine", "Train", "Test", "Check"]
    (tmp_path / "train.py").write_text("import torch, torch_npu\ntorch_npu.library.aclrtResetDevice(0)\ntorch_npu.library.aclFinalize()\n")
    path = f"{os.path.dirname(python)}:{os.environ['PATH']}"
    for name in ("Examine", "Train", "Check"):
        command = ["sh", "-ec", steps[name]]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=clean_environment(PATH=path))
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    assert json.loads((tmp_path / "findings.sarif").read_text())["version"] == "2.1.0"
