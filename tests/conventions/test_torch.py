"""`jumar torch` on an environment with packages that stand for PyTorch's build for CUDA and its adapter."""

import os
import subprocess
import sys

import pytest

from install import PREFIX

JUMAR = PREFIX / "bin/jumar"

# PyTorch: one device, and a library with the names of allocator options that both packages register.
TORCH = """
import ctypes, os, types
__version__ = "2.14.0+cu130"
version = types.SimpleNamespace(cuda="13.0")
npu = types.SimpleNamespace(get_device_name=lambda: "a name")
keys = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "lib/libc10.so"))
keys.has.argtypes = [ctypes.c_char_p]

class Ones:
    def __add__(self, other):
        return self
    def cpu(self):
        return self
    def tolist(self):
        return [2.0, 2.0]

def ones(count, device):
    return Ones()
"""
KEYS = """
#include <string>
#include <unordered_set>
namespace c10 { namespace CachingAllocator {
struct AcceleratorAllocatorConfig { static std::unordered_set<std::string> &getMutableKeys(); };
std::unordered_set<std::string> &AcceleratorAllocatorConfig::getMutableKeys()
{
    static std::unordered_set<std::string> keys{"backend", "expandable_segments", "pinned_reserve_segment_size_mb"};
    return keys;
}
} }
extern "C" int has(const char *name) { return c10::CachingAllocator::AcceleratorAllocatorConfig::getMutableKeys().count(name); }
"""
# The adapter: ends the process where a name is there already.
ADAPTER = """
import ctypes, os, torch
__version__ = "2.14.0"
if torch.keys.has(b"backend") or torch.keys.has(b"pinned_reserve_segment_size_mb"):
    os._exit(134)
assert torch.keys.has(b"expandable_segments")
assert ctypes.CDLL("libopapi.so").aclInit(None) == 0
"""


class Environment:
    def __init__(self, folder):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.python = folder / "bin/python"
        (self.packages,) = (folder / "lib").glob("python*/site-packages")
        self.hook = self.packages / "jumar_torch.pth"

    def add(self, name, version, text, requires=""):
        (self.packages / name).mkdir(exist_ok=True)
        (self.packages / name / "__init__.py").write_text(text)
        info = self.packages / f"{name}-{version}.dist-info"
        info.mkdir()
        needs = f"Requires-Dist: {requires}\n" if requires else ""
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n{needs}")

    def jumar(self, *arguments):
        command = [JUMAR, "torch", "--python", self.python, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=without_a_toolkit())
        return done.returncode, done.stdout + done.stderr

    def run(self, script, *prefix):
        done = subprocess.run([*prefix, self.python, "-c", script], capture_output=True, text=True, timeout=120, env=without_a_toolkit())
        return done.returncode, done.stdout + done.stderr


def without_a_toolkit():
    names = ("LD_LIBRARY_PATH", "PYTHONPATH", "TORCH_DEVICE_BACKEND_AUTOLOAD")
    return {name: value for name, value in os.environ.items() if name not in names and not name.startswith("ASCEND_")}


@pytest.fixture
def environment(tmp_path):
    made = Environment(tmp_path / "venv")
    made.add("torch", "2.14.0+cu130", TORCH)
    made.add("torch_npu", "2.14.0", ADAPTER, "torch==2.14.0.*")
    for name in ("torch/lib", "torch_npu/lib"):
        (made.packages / name).mkdir()
    (made.packages / "torch/lib/libtorch_cuda.so").touch()
    library = made.packages / "torch/lib/libc10.so"
    subprocess.run(["c++", "-shared", "-fPIC", "-x", "c++", "-", "-o", library], input=KEYS, text=True, check=True)
    # What the adapter links is examined as well.
    linked = made.packages / "torch_npu/lib/libtorch_npu.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", linked], input="int nothing;", text=True, check=True)
    return made


def test_set_up_and_taken_back(environment):
    run = (JUMAR, "run", "--")
    status, text = environment.jumar()
    assert status == 1 and "jumar torch --setup" in text and "Duplicated key" in text, text
    assert environment.run("import torch_npu", *run)[0] == 134

    status, text = environment.jumar("--setup")
    assert status == 0 and f"wrote {environment.hook}" in text, text
    assert "torch 2.14.0+cu130 with torch_npu 2.14.0 computes on a name, a software device" in text, text
    assert environment.run("import torch, torch_npu; print(torch_npu.__version__)", *run) == (0, "2.14.0\n")
    status, text = environment.jumar()
    assert status == 0 and "beside which torch_npu loads" in text, text
    # Once more changes nothing, and without `jumar run` Python starts as before.
    assert "wrote" not in environment.jumar("--setup")[1]
    assert environment.run("import sys; print('jumar_torch' in sys.modules, 'ctypes' in sys.modules)") == (0, "False False\n")

    assert environment.jumar("--remove") == (0, f"removed {environment.hook}\n")
    assert not environment.hook.exists()
    assert environment.jumar("--remove")[1].startswith("nothing to remove")


def test_what_does_not_work_is_said(environment, tmp_path):
    status, text = environment.jumar("--setup", "--remove")
    assert status == 2 and "cannot be used with" in text, text
    (environment.packages / "torch_npu/__init__.py").write_text("raise ImportError('a reason')")
    status, text = environment.jumar("--setup")
    assert status == 1 and "a reason" in text and "the adapter is installed and does not work" in text, text
    for path in environment.packages.glob("torch-*.dist-info"):
        (path / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0\n")
    status, text = environment.jumar("--setup")
    assert status == 1 and "2.9.0 is installed, and torch_npu 2.14.0 requires torch==2.14.0.*" in text, text
    done = subprocess.run([JUMAR, "torch", "--python", tmp_path / "none"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "--python names the interpreter" in done.stderr, done.stderr


def test_an_environment_without_the_adapter(tmp_path):
    environment = Environment(tmp_path / "venv")
    status, text = environment.jumar()
    assert status == 1 and "has no torch_npu; `jumar torch --setup` installs it" in text, text
    # There is no pip in it.
    status, text = environment.jumar("--setup", "--release", "2.9.0")
    assert status == 1 and "-m pip install torch==2.9.0 numpy pyyaml packaging protobuf" in text and "pip could not install" in text, text
