"""Kernels: the example with make and with CMake, and programs with kernels of their own."""

import pathlib
import shutil

import pytest
from install import LIB64, PREFIX, ROOT, compile_c, environment, run

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


def test_kernels_and_variables_of_the_program_itself(tmp_path):
    program = compile_c(HERE / "kernels/symbols.c", tmp_path / "symbols", *link("-rdynamic"))
    assert run(program).stdout == "ok\n"


def test_a_program_that_compiles_its_kernel(tmp_path):
    program = compile_c(HERE / "kernels/compiled.c", tmp_path / "compiled", *link())
    assert run(program).stdout == "ok\n"
    done = run(program, env=environment(JUMAR_CXX="/nowhere/c++"), check=False)
    assert done.returncode == 1
    assert "576000" in done.stderr and "/nowhere/c++" in done.stderr
