"""Kernels: the example with make and with CMake, and programs with kernels of their own."""

import pathlib
import re
import shutil
import signal
import struct

import pytest
from install import LIB64, PREFIX, ROOT, compile_c, environment, run
from test_checked import OLD_KERNEL

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = ROOT / "examples/custom_operator"


def link(*more):
    return ["-L", LIB64, "-lascendcl", *more]


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    made = tmp_path_factory.mktemp("binary") / "kernels.so"
    source = ROOT / "tests/behaviour/kernels.c"
    return compile_c(source, made, "-shared", "-fPIC")


def test_the_example_with_make(tmp_path):
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    run("make", f"ASCEND_HOME_PATH={PREFIX}", cwd=folder)
    done = run(folder / "main", folder / "libaxpy.so")
    assert done.stdout == "axpy: 1000 values are right\n"


@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_the_example_with_cmake(tmp_path):
    run("cmake", "-S", EXAMPLE, "-B", tmp_path, env=environment())
    run("cmake", "--build", tmp_path, env=environment())
    done = run(tmp_path / "main", tmp_path / "libaxpy.so")
    assert done.stdout == "axpy: 1000 values are right\n"


@pytest.mark.parametrize("workers", [1, 4])
def test_launches(workers, binary, tmp_path):
    program = compile_c(HERE / "kernels/launches.c", tmp_path / "launches", *link())
    assert run(program, binary, env=environment(JUMAR_WORKERS=workers)).stdout == "ok\n"


def test_kernels_that_a_launcher_registers(binary, tmp_path):
    old = tmp_path / "old.c"
    old.write_text(OLD_KERNEL)
    old = compile_c(old, tmp_path / "old.so", "-shared", "-fPIC")
    program = compile_c(HERE / "kernels/registered.c", tmp_path / "registered", *link("-lpthread"))
    assert run(program, binary, old).stdout == "ok\n"


def test_kernels_and_variables_of_the_program_itself(tmp_path):
    program = compile_c(HERE / "kernels/symbols.c", tmp_path / "symbols", *link("-rdynamic"))
    assert run(program).stdout == "ok\n"


def test_a_blocking_launch_waits_for_a_kernel_that_computes_for_longer_than_a_second(tmp_path):
    program = compile_c(HERE / "kernels/long_task.c", tmp_path / "long_task", *link("-rdynamic"))
    assert run(program, env=environment(ASCEND_LAUNCH_BLOCKING=1)).stdout == "ended\n"


def test_a_program_that_compiles_its_kernel(tmp_path):
    program = compile_c(HERE / "kernels/compiled.c", tmp_path / "compiled", *link())
    assert run(program).stdout == "ok\n"
    done = run(program, env=environment(JUMAR_CXX="/nowhere/c++"), check=False)
    assert done.returncode == 1
    assert "576000" in done.stderr and "/nowhere/c++" in done.stderr


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """The program that runs kernels which do not come to a good end, and their binary."""
    folder = tmp_path_factory.mktemp("broken")
    compile_c(HERE / "kernels/broken.c", folder / "broken.so", "-shared", "-fPIC")
    compile_c(HERE / "kernels/breaks.c", folder / "breaks", *link())
    return [folder / "breaks", folder / "broken.so"]


@pytest.mark.parametrize("workers", [1, 4])
def test_a_fault_in_a_kernel_names_the_kernel(workers, broken):
    done = run(*broken, "strays", env=environment(JUMAR_WORKERS=workers), check=False)
    assert done.returncode == -signal.SIGSEGV
    found = re.search(r'jumar: a fault in kernel "strays", (?:block 3|one of the blocks (\d+) to (\d+)) of 8: '
                      r"it touched the address 0x18\n", done.stderr)
    assert found, done.stderr
    assert found[1] is None or int(found[1]) <= 3 <= int(found[2])


def test_a_division_by_zero_in_a_kernel_names_the_kernel(broken):
    done = run(*broken, "divides", check=False)
    assert done.returncode == -signal.SIGFPE
    assert 'jumar: a fault in kernel "divides", block 0 of 1: ' in done.stderr


def test_a_programs_own_handler_is_asked_behind_the_line(broken):
    done = run(*broken, "handled", check=False)
    assert (done.returncode, done.stdout) == (3, "the program's own handler\n")
    assert 'a fault in kernel "strays"' in done.stderr


def test_a_signal_that_was_sent_is_no_fault_of_a_kernel(broken):
    done = run(*broken, "sent", check=False)
    assert done.returncode == -signal.SIGSEGV
    assert "fault in kernel" not in done.stderr


def test_a_handler_that_returns_is_called_once_for_each_signal_that_was_sent(broken):
    assert run(*broken, "returned").stdout == "ok\n"


@pytest.mark.parametrize("scene, middle", [("aic_err_norm_dump", "spoils"), ("aic_err_brief_dump", r"\d+")])
def test_a_failing_kernel_is_dumped(scene, middle, broken, tmp_path):
    done = run(*broken, "spoils", env=environment(ASCEND_DUMP_SCENE=scene, ASCEND_DUMP_PATH=tmp_path))
    assert done.stdout == "ok\n"
    (file,) = (tmp_path / "extra-info/data-dump/0").iterdir()
    assert re.fullmatch(rf"spoils\.{middle}\.\d+\.\d{{17}}", file.name)
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    rest = data[8 + length:]
    # The allocations behind input and output, which are rounded up, and the argument block: two addresses and a number.
    assert len(rest) == 64 + 64 + 20
    assert struct.unpack("<8f", rest[:32]) == tuple(range(8))
    assert struct.unpack("<8f", rest[64:96]) == tuple(range(1, 9))
    assert struct.unpack("<I", rest[144:]) == (8,)


def test_a_failing_kernel_is_not_dumped_unless_it_is_wanted(broken, tmp_path):
    assert run(*broken, "spoils", cwd=tmp_path).stdout == "ok\n"
    assert list(tmp_path.iterdir()) == []


def test_objects_of_kernels_come_and_go(binary, tmp_path):
    program = compile_c(HERE / "c/each_kind.c", tmp_path / "each_kind", *link("-lpthread"))
    done = run(program, 400, "kernel", env=environment(KERNELS=binary))
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == [
        "kernel binary", "kernel's launch", "kernel that fails", "graph of a kernel", "group of kernels that is updated"]
