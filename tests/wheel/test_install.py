"""The installed wheel: environments, commands, C programs, one runtime."""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT, clean_environment, pip_install

TREE = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar")

PROGRAM = r"""
#include <stdio.h>
#include "acl/acl.h"
int main(void) {
    int32_t device = -1;
    void *memory = NULL;
    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtGetDevice(&device) || aclrtMalloc(&memory, 64, 0)) return 1;
    printf("device %d\n", device);
    return aclrtFree(memory) || aclrtResetDevice(0) || aclFinalize();
}
"""


def names(site):
    return sorted(path.name for path in (site / "jumar/cann/lib64").iterdir())


def pytest_generate_tests(metafunc):
    if "library" in metafunc.fixturenames:
        # The transformer library has functions of its own alone; programs link the runtime beside it (tests/atb).
        names = {path.name[3:-3] for path in TREE.glob("lib64/*.so")} - {"atb"}
        metafunc.parametrize("library", sorted(names))


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "main.c").write_text(PROGRAM)
    return folder


def test_each_name_alone_links_and_runs(site, program, library):
    tree = site / "jumar/cann"
    binary = program / library
    subprocess.run(
        ["cc", "-Wall", "-Werror", "-I", tree / "include", program / "main.c", "-L", tree / "lib64", f"-l{library}"]
        + ["-o", binary],
        check=True,
    )
    done = subprocess.run(
        [binary], capture_output=True, text=True, timeout=60, env=clean_environment(LD_LIBRARY_PATH=str(tree / "lib64"))
    )
    assert (done.returncode, done.stdout) == (0, "device 0\n"), done.stderr


def test_all_names_in_one_process_are_one_runtime(site, run_python):
    script = """
import ctypes, sys, pathlib
folder = pathlib.Path(sys.argv[1])
import acl
assert acl.init() == 0 and acl.rt.set_device(0) == 0
context, _ = acl.rt.get_context()
for path in sorted(folder.glob("*.so")):
    library = ctypes.CDLL(str(path))
    seen = ctypes.c_void_p()
    assert library.aclrtGetCurrentContext(ctypes.byref(seen)) == 0
    assert seen.value == context, path
mapped = {line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith("libascendcl.so")}
print(len(mapped))
"""
    assert run_python(script, site / "jumar/cann/lib64") == "1"


def test_an_installed_tree_that_came_first_is_the_runtime(run_python):
    library = TREE / "lib64/libacl_rt.so"
    script = """
import ctypes, sys
first = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
assert first.aclInit(None) == 0 and first.aclrtSetDevice(0) == 0
import acl, jumar
context, code = acl.rt.get_context()
assert code == 0 and context != 0
jumar.array([1.0, 2.0]).to_device()
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libascendcl.so" in line}
print(len(mapped))
"""
    assert run_python(script, library) == "1"


def test_a_virtual_environment_without_numpy_or_a_compiler(wheel, tmp_path, digits):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = venv / "bin/python"
    pip_install(python, wheel)
    # Nothing but what the environment itself holds: no compiler can be found.
    environment = {"PATH": str(venv / "bin"), "HOME": str(tmp_path)}

    def output(*command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    prefix = output(venv / "bin/jumar", "prefix")
    assert prefix == output(python, "-c", "import jumar; print(jumar.prefix())")
    assert os.path.exists(f"{prefix}/include/acl/acl.h")
    assert "--soc_version" in output(venv / "bin/atc", "--help")
    run = "import jumar; m = jumar.load(%r); print(len(m(jumar.zeros(m.inputs[0].shape))))" % str(digits)
    assert output(python, "-c", run) == "1"
    assert output(venv / "bin/jumar", "run", "--", str(python), "-c", "import acl; print(acl.init())") == "0"


def test_fork_and_spawn(run_python):
    script = """
import multiprocessing, os, sys
import jumar

def work(queue):
    import acl
    queue.put((acl.rt.set_device(0), jumar.array([1.0, 2.0]).to_device().tolist()))

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    # Before the first call a child may be forked, and is a process like any other.
    queue = context.SimpleQueue()
    child = context.Process(target=work, args=(queue,))
    child.start(); print(queue.get()); child.join(); assert child.exitcode == 0
    jumar.array([1.0]).to_device()
    # Afterwards the child's calls are refused, and it ends at once.
    pid = os.fork()
    if pid == 0:
        import acl
        os._exit(0 if acl.rt.set_device(0) == 507033 and "fork" in acl.get_recent_err_msg() else 1)
    assert os.waitpid(pid, 0)[1] == 0
    print("refused")
"""
    assert run_python(script) == "(0, [1.0, 2.0])\nrefused"


def test_spawn_works_at_any_time(tmp_path, run_python):
    (tmp_path / "worker.py").write_text(
        "import jumar\ndef work(x):\n    return jumar.array([x, x]).to_device().tolist()\n"
    )
    script = """
import multiprocessing, sys
sys.path.insert(0, sys.argv[1])
import jumar, worker
jumar.array([1.0]).to_device()
with multiprocessing.get_context("spawn").Pool(1) as pool:
    print(pool.apply(worker.work, (3.0,)))
"""
    assert run_python(script, tmp_path) == "[3.0, 3.0]"


def test_the_doctor_finds_nothing_wrong_with_a_wheel(site):
    """With the Python that the wheel is installed for first on the path."""
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    done = subprocess.run(
        [site / "jumar/cann/bin/jumar", "doctor"], capture_output=True, text=True, timeout=60,
        env=clean_environment(PYTHONPATH=str(site), PATH=path),
    )
    assert (done.returncode, "PROBLEM" in done.stdout) == (0, False), done.stdout
    assert f"import acl loads {site / 'acl.abi3.so'}" in done.stdout
    assert "nothing is wrong" in done.stdout
