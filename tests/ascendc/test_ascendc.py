"""Kernels of Ascend C, compiled with the installed driver and CMake modules as projects do it."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()
HERE = pathlib.Path(__file__).resolve().parent
BISHENG = PREFIX / "bin/bisheng"

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")


def call(*command, cwd, fails=False, limit=240):
    env = dict(os.environ, LD_LIBRARY_PATH=str(PREFIX / "lib64"), ASCEND_HOME_PATH=str(PREFIX))
    done = subprocess.run([str(one) for one in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=limit)
    text = done.stdout + done.stderr
    assert (done.returncode != 0) == fails, text[-8000:]
    return text


@pytest.mark.parametrize("name", ["arithmetic.cpp", "numbers.cpp", "memory.cpp", "library.cpp", "cube.cpp", "matmul.cpp", "layers.cpp"])
def test_functions_against_scalar_references(tmp_path, name):
    call(BISHENG, "-x", "asc", "-O1", "-Wall", "-Wextra", "-Werror", "-D__global__=", HERE / name, "-o", "test", cwd=tmp_path)
    text = call("./test", cwd=tmp_path)
    assert text.strip().endswith(" 0 failures"), text


def test_the_order_of_pipes_and_blocks_is_checked(tmp_path):
    call(BISHENG, "-x", "asc", "-O1", "-Wall", "-Wextra", "-Werror", "-D__global__=", "-DJUMAR_ASCENDC_CHECK=2", HERE / "order.cpp", "-o", "test", cwd=tmp_path)
    text = call("./test", cwd=tmp_path)
    assert text.strip().endswith(" 0 failures"), text


@pytest.mark.parametrize("name,wanted", [("softmax", "largest relative error"), ("matmul", "0 of 143360 results are wrong")])
def test_examples_have_no_reports_of_order(tmp_path, name, wanted):
    source = ROOT / "examples/ascendc" / name / f"{name}.asc"
    call(BISHENG, "-O1", "-DJUMAR_ASCENDC_CHECK=2", source, "-o", name, cwd=tmp_path)
    assert wanted in call(f"./{name}", cwd=tmp_path)


def test_launches_are_tasks_of_streams(tmp_path):
    call(BISHENG, "-g", "-Wall", "-Wextra", HERE / "launch.asc", "-o", "launch", "--npu-arch=dav-2201", cwd=tmp_path)
    text = call("./launch", cwd=tmp_path)
    assert "launch: 0 failures" in text
    for block in range(2):
        assert f"[AIV Block {block}/2] hello 7, 2.5 text\n" in text
    for block in range(3):
        assert f"[AIC Block {block}/3] cube\n" in text


def test_a_library_with_generated_entries(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    source = ROOT / "examples/ascendc/vector_add"
    call("cmake", "-S", source, "-B", "build", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    assert "0 of 100003 sums are wrong" in call("build/vector_add", cwd=tmp_path)
    header = (tmp_path / "build/include/kernels/aclrtlaunch_add.h").read_text()
    assert 'extern "C" uint32_t aclrtlaunch_add(uint32_t numBlocks, aclrtStream stream, void * p0, void * p1, void * p2, uint32_t p3, uint32_t p4);' in header


def test_the_language_of_cmake(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    source = ROOT / "examples/ascendc/softmax"
    call("cmake", "-S", source, "-B", "build", "-DCMAKE_BUILD_TYPE=Release", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    assert "largest relative error" in call("build/softmax", cwd=tmp_path)


def test_a_matrix_product_on_cube_and_vector_cores(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    source = ROOT / "examples/ascendc/matmul"
    call("cmake", "-S", source, "-B", "build", "-DCMAKE_BUILD_TYPE=Release", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    assert "0 of 143360 results are wrong; 40 vector cores" in call("build/matmul", cwd=tmp_path)


def test_a_kernel_binary(tmp_path):
    kernel = ROOT / "examples/ascendc/vector_add/add.cpp"
    call(BISHENG, "-shared", "-fPIC", "-x", "asc", "--jumar-binary", "-O1", kernel, "-o", "add.o", cwd=tmp_path)
    call("cc", "-I", PREFIX / "include", HERE / "binary.c", "-o", "binary", "-L", PREFIX / "lib64", "-lascendcl", cwd=tmp_path)
    assert "binary: done" in call("./binary", tmp_path / "add.o", cwd=tmp_path)


def test_mistakes_in_a_source_are_reported_at_its_lines(tmp_path):
    kernel = '#include "kernel_operator.h"\n\n__global__ __aicore__ void k(__gm__ half* x)\n{\n    %s\n}\n'
    cases = {
        "undeclared(x);": "k.asc:5:",
        "AscendC::LocalTensor<half> a; AscendC::TopK(a, a);": "AscendC::TopK is not supported by Jumar; docs/ascendc.md lists what is",
        "k<<<1, x);": "k.asc:5: error: a launch's <<< has no >>>",
    }
    for body, wanted in cases.items():
        (tmp_path / "k.asc").write_text(kernel % body)
        assert wanted in call(BISHENG, "-c", "k.asc", cwd=tmp_path, fails=True), body
    (tmp_path / "k.asc").write_text(kernel % "")
    assert "the chip dav-3510 is not supported" in call(BISHENG, "-c", "k.asc", "--npu-arch=dav-3510", cwd=tmp_path, fails=True)


def test_the_driver_says_whose_it_is(tmp_path):
    for name in ["bisheng", "ccec", "asc-c++"]:
        assert call(PREFIX / "bin" / name, "--version", cwd=tmp_path).startswith(f"{name} (Jumar ")
