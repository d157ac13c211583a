"""Kernels of Ascend C, compiled with the installed driver and CMake modules as projects do it."""

import csv
import json
import os
import pathlib
import re
import shutil
import signal
import string
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


@pytest.mark.parametrize("name", ["arithmetic.cpp", "numbers.cpp", "memory.cpp", "library.cpp", "cube.cpp", "matmul.cpp", "layers.cpp", "rows.cpp", "names.cpp", "registers.cpp", "c_api.cpp", "normal.cpp", "forms.cpp"])
def test_functions_against_scalar_references(tmp_path, name):
    # The audit ends the program if a function uses memory whose copy is not done. Other tests optimize: without, half of the time of a
    # compilation goes.
    call(BISHENG, "-x", "asc", "-O0", "-Wall", "-Wextra", "-Werror", "-D__global__=", "-DJUMAR_ASCENDC_AUDIT", HERE / name, "-o", "test", cwd=tmp_path)
    text = call("./test", cwd=tmp_path)
    assert text.strip().endswith(" 0 failures"), text


@pytest.mark.parametrize("name", ["memory.cpp", "cube.cpp", *(pytest.param(name, marks=pytest.mark.long) for name in ["matmul.cpp", "names.cpp", "registers.cpp"])])
def test_functions_of_a_310p(tmp_path, name):
    """Another chip: sizes of memories, one kind of core, and functions that a 910B does not have."""
    call(BISHENG, "-x", "asc", "-O0", "-Wall", "-Wextra", "-Werror", "-D__global__=", "--npu-soc=Ascend310P3", HERE / name, "-o", "test", cwd=tmp_path)
    text = call("./test", cwd=tmp_path)
    assert text.strip().endswith(" 0 failures"), text


def test_copies_that_are_done_late_cannot_be_seen(tmp_path):
    call(BISHENG, "-x", "asc", "-O2", "-Wall", "-Wextra", "-Werror", "-D__global__=", "-DJUMAR_ASCENDC_CHECK=0", HERE / "deferred.cpp", "-o", "test", cwd=tmp_path)
    text = call("./test", cwd=tmp_path)
    assert text.strip().endswith(" 0 failures"), text


@pytest.mark.parametrize("name", ["order.cpp", "c_api.cpp"])
def test_the_order_of_pipes_and_blocks_is_checked(tmp_path, name):
    call(BISHENG, "-x", "asc", "-O0", "-Wall", "-Wextra", "-Werror", "-D__global__=", "-DJUMAR_ASCENDC_CHECK=2", HERE / name, "-o", "test", cwd=tmp_path)
    text = call("./test", cwd=tmp_path)
    assert text.strip().endswith(" 0 failures"), text


def test_seeded_mistakes_are_found_and_correct_kernels_have_no_reports(tmp_path):
    source = HERE / "seeded.cpp"
    call(BISHENG, "-x", "asc", "-O0", "-Wall", "-Wextra", "-Werror", "-D__global__=", "-DJUMAR_ASCENDC_CHECK=2", source, "-o", "test", cwd=tmp_path)
    assert "60 of 60 mistakes found, 120 of 120 correct kernels without a report" in call("./test", cwd=tmp_path)


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


def test_what_a_kernel_prints_is_there_before_its_stream_is_destroyed_by_force(tmp_path):
    call(BISHENG, "-O1", "-Wall", "-Wextra", HERE / "prints.asc", "-o", "prints", cwd=tmp_path)
    for _ in range(10):
        text = call("./prints", cwd=tmp_path)
        assert [f"[AIV Block {block}/2] speaks {number}\n" in text for number in range(3) for block in range(2)] == [True] * 6, text


def test_a_first_program_prints_asserts_and_has_blocks_that_take_turns(tmp_path):
    call(BISHENG, "-O1", "-Wall", "-Wextra", HERE / "quickstart.asc", "-o", "quickstart", cwd=tmp_path)
    assert call("./quickstart", cwd=tmp_path).splitlines() == [
        "[AIV Block 0/2] Hello World!",
        "[AIV Block 0/2] a function says hello",
        "[AIV Block 1/2] Hello World!",
        "[AIV Block 1/2] a function says hello",
        "the host prints",
        "0 1 2 3 4 5 6 7 16",
        "[AIV Block 0/1] a function says hello",
        "[AIV Block 0/1] number is -3",
        "507015",
    ]


@pytest.mark.parametrize("level", [1, 2])
def test_launches_that_cannot_run_are_reported(tmp_path, level, monkeypatch):
    monkeypatch.setenv("JUMAR_DEVICES", "2")
    call(BISHENG, "-g", "-O1", "-Wall", "-Wextra", f"-DJUMAR_ASCENDC_CHECK={level}", HERE / "misuse.asc", "-o", "misuse", cwd=tmp_path)
    assert "misuse: 0 failures" in call("./misuse", cwd=tmp_path)


def test_launches_between_events_are_in_order_on_timelines_and_in_profiles(tmp_path):
    call(BISHENG, "-g", "-O2", "-Wall", "-Wextra", HERE / "streams.asc", "-o", "streams", cwd=tmp_path)
    assert call(PREFIX / "bin/jumar", "run", "--trace", "out.json", "--", "./streams", cwd=tmp_path) == "0 of 4096 elements are wrong\n"
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    kernels = {"increase": [], "double_all": []}
    for event in events:
        if event["ph"] == "X" and event["name"] in kernels and "stream" in tracks[event["pid"], event["tid"]]:
            kernels[event["name"]].append(event)
    # Each kernel has a stream, and begins when the one of the other stream that it waits for has ended. Times have three decimals.
    assert [len(slices) for slices in kernels.values()] == [20, 20]
    assert [len({(e["pid"], e["tid"]) for e in slices}) for slices in kernels.values()] == [1, 1]
    for slices in kernels.values():
        slices.sort(key=lambda e: e["ts"])
    order = [e for pair in zip(*kernels.values()) for e in pair]
    for one, after in zip(order, order[1:]):
        assert one["ts"] + one["dur"] <= after["ts"] + 0.002, (one, after)

    (tmp_path / "profiles").mkdir()
    assert call("./streams", tmp_path / "profiles", cwd=tmp_path) == "0 of 4096 elements are wrong\n"
    (path,) = (tmp_path / "profiles").glob("PROF_*/mindstudio_profiler_output/task_time_*.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    counts = {name: sum(row["kernel_name"] == name for row in rows) for name in kernels}
    assert counts == {"increase": 20, "double_all": 20}, rows[:3]


def test_a_program_whose_kernel_does_not_end_can_be_interrupted(tmp_path):
    call(BISHENG, "-g", "-O1", HERE / "misuse.asc", "-o", "misuse", cwd=tmp_path)
    env = dict(os.environ, LD_LIBRARY_PATH=str(PREFIX / "lib64"))

    def as_in_a_terminal():
        # A shell has what it starts in the background ignore the signal.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(["./misuse", "endless"], cwd=tmp_path, env=env, stdout=subprocess.PIPE, preexec_fn=as_in_a_terminal) as program:
        try:
            assert program.stdout.readline() == b"waiting\n"
            program.send_signal(signal.SIGINT)
            assert program.wait(timeout=60) == -signal.SIGINT
        finally:
            program.kill()


COMPILERS = [name for name in ["clang++-15", "clang++-16", "clang++-17", "clang++-18", "clang++-19"] if shutil.which(name)]


# The newest compiles all of them, and each other one a program of each kind.
CLANG_PROGRAMS = [("numbers.cpp", 1), ("launch.asc", 1), ("memory.cpp", 1), ("cube.cpp", 1), ("rows.cpp", 1), ("c_api.cpp", 1), ("seeded.cpp", 2), ("passes.asc", 1)]
COMPILED = [(compiler, *program) for compiler in COMPILERS for program in CLANG_PROGRAMS[: None if compiler == COMPILERS[-1] else 2]]


@pytest.mark.skipif(not COMPILERS, reason="there is no Clang 15 or later")
@pytest.mark.parametrize("compiler,name,level", COMPILED or [("clang++", *CLANG_PROGRAMS[0])])
def test_clang_compiles_kernels(tmp_path, compiler, name, level, monkeypatch):
    monkeypatch.setenv("JUMAR_CXX", compiler)
    options = ["-D__global__="] if name.endswith(".cpp") else []
    text = call(BISHENG, "-x", "asc", "-O1", f"-DJUMAR_ASCENDC_CHECK={level}", *options, HERE / name, "-o", "test", cwd=tmp_path)
    assert "warning" not in text
    text = call("./test", cwd=tmp_path)
    assert " 0 failures" in text or "60 of 60 mistakes found" in text, text


def test_sources_are_compiled_for_each_kind_of_core(tmp_path):
    call(BISHENG, "-g", "-O1", HERE / "passes.asc", "-o", "passes", cwd=tmp_path)
    assert "passes: 0 failures" in call("./passes", cwd=tmp_path)
    call(BISHENG, "-c", HERE / "passes.asc", "-o", "passes.o", cwd=tmp_path)
    call(BISHENG, "passes.o", "-o", "linked", cwd=tmp_path)
    assert "passes: 0 failures" in call("./linked", cwd=tmp_path)
    call(BISHENG, HERE / "host.asc", "-o", "host", cwd=tmp_path)
    assert "host: done" in call("./host", cwd=tmp_path)


def test_a_library_of_kernels_for_each_kind_of_core(tmp_path):
    """Two objects of one source, whose kernels have the same names and different values, in one program with generated entries."""
    (tmp_path / "k.cpp").write_text(
        """
#include "kernel_operator.h"
template <typename T> __aicore__ inline T mark(T value)
{
#ifdef __DAV_C220_CUBE__
    return value * FACTOR + 1;
#else
    return value * FACTOR;
#endif
}
extern "C" __global__ __aicore__ void NAME(GM_ADDR out, int32_t value)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    reinterpret_cast<__gm__ int32_t*>(out)[ASCEND_IS_AIC ? 0 : 1] = mark(value);
}
"""
    )
    (tmp_path / "main.cpp").write_text(
        """
#include <cstdio>
#include <initializer_list>
#include "acl/acl.h"
#include "aclrtlaunch_one.h"
#include "aclrtlaunch_two.h"
int main()
{
    void* out = nullptr;
    aclrtStream stream = nullptr;
    if (aclInit(nullptr) || aclrtSetDevice(0) || aclrtCreateStream(&stream) || aclrtMalloc(&out, 4096, ACL_MEM_MALLOC_HUGE_FIRST)) return 1;
    int values[2];
    for (auto launch : {aclrtlaunch_one, aclrtlaunch_two}) {
        if (launch(1, stream, out, 7) || aclrtSynchronizeStream(stream)) return 2;
        if (aclrtMemcpy(values, 8, out, 8, ACL_MEMCPY_DEVICE_TO_HOST)) return 3;
        std::printf("cube %d, vector %d\\n", values[0], values[1]);
    }
    return 0;
}
"""
    )
    for name, factor in [("one", 10), ("two", 100)]:
        call(
            BISHENG, "-c", "-x", "asc", "-O1", "--jumar-entries", "--jumar-headers", "headers",
            f"-DNAME={name}", f"-DFACTOR={factor}", "k.cpp", "-o", f"{name}.o", cwd=tmp_path,
        )  # fmt: skip
    call("c++", "-I", "headers", "-I", PREFIX / "include", "main.cpp", "one.o", "two.o", "-o", "main", "-L", PREFIX / "lib64", "-lascendcl", cwd=tmp_path)
    assert call("./main", cwd=tmp_path).splitlines() == ["cube 71, vector 70", "cube 701, vector 700"]


def test_a_library_with_generated_entries(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    source = ROOT / "examples/ascendc/vector_add"
    call("cmake", "-S", source, "-B", "build", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    assert "0 of 100003 sums are wrong" in call("build/vector_add", cwd=tmp_path)
    header = (tmp_path / "build/include/kernels_npu/aclrtlaunch_add.h").read_text()
    assert 'extern "C" uint32_t aclrtlaunch_add(uint32_t numBlocks, aclrtStream stream, void * p0, void * p1, void * p2, uint32_t p3, uint32_t p4);' in header


@pytest.mark.parametrize("mode", ["npu", "cpu"])
def test_a_project_is_built_and_run_by_its_script(tmp_path, mode):
    """On a stream; and as a test on the CPU, whose kernels are in a shared library that the C++ compiler alone builds."""
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples/ascendc/vector_add", project, ignore=shutil.ignore_patterns("build"))
    assert "0 of 100003 sums are wrong" in call("bash", "run.sh", "-r", mode, "-v", "Ascend910B1", cwd=project)
    needed = call("readelf", "-d", "build/vector_add", cwd=project)
    assert ("libkernels_cpu.so" in needed) == (mode == "cpu")
    assert "-r is npu or cpu, not card" in call("bash", "run.sh", "-r", "card", cwd=project, fails=True)
    if mode == "cpu":
        # A length that the memory does not have.
        main = (project / "main.cpp").read_text()
        (project / "main.cpp").write_text(main.replace("static_cast<uint32_t>(x.size()), tile)", "static_cast<uint32_t>(x.size()) + 4096, tile)", 1))
        text = call("bash", "run.sh", "-r", mode, cwd=project, fails=True)
        assert 'kernel "add" failed in block 7 of 8: add.cpp:' in text and "leaves the memory that was allocated" in text


@pytest.mark.parametrize("name", ["ccec", pytest.param("asc-c++", marks=pytest.mark.long)])
def test_other_names_of_the_driver_compile(tmp_path, name):
    call(PREFIX / "bin" / name, "-O1", "--npu-arch=dav-2201", HERE / "streams.asc", "-o", "streams", cwd=tmp_path)
    assert call("./streams", cwd=tmp_path) == "0 of 4096 elements are wrong\n"


def test_options_of_libraries_reach_their_kernels(tmp_path):
    """Definitions, options and folders of both kinds of libraries, which are stated after the target."""
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        """
cmake_minimum_required(VERSION 3.16)
project(options)
set(SOC_VERSION Ascend910B1)
include($ENV{ASCEND_HOME_PATH}/compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake)
ascendc_library(kernels SHARED one.cpp)
ascendc_compile_definitions(kernels PRIVATE -DONE=1 TWO=20)
ascendc_compile_options(kernels PRIVATE --cce-auto-sync -DTHREE=300)
ascendc_include_directories(kernels PRIVATE folder)
ascendc_fatbin_library(binary two.cpp)
ascendc_compile_definitions(binary PRIVATE FIVE=5)
add_executable(main main.cpp)
target_link_libraries(main kernels)
"""
    )
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/four.h").write_text("#define FOUR 4000\n")
    kernel = '#include "kernel_operator.h"\n%sextern "C" __global__ __aicore__ void %s(GM_ADDR out)\n{\n    *reinterpret_cast<__gm__ int32_t*>(out) = %s;\n}\n'
    (tmp_path / "one.cpp").write_text(kernel % ('#include "four.h"\n', "one", "ONE + TWO + THREE + FOUR"))
    (tmp_path / "two.cpp").write_text(kernel % ("", "two", "FIVE"))
    (tmp_path / "main.cpp").write_text(
        """
#include <cstdio>
#include "acl/acl.h"
#include "aclrtlaunch_one.h"
int main(int, char** arguments)
{
    void* out = nullptr;
    aclrtStream stream = nullptr;
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle two = nullptr;
    if (aclInit(nullptr) || aclrtSetDevice(0) || aclrtCreateStream(&stream) || aclrtMalloc(&out, 4096, ACL_MEM_MALLOC_HUGE_FIRST)) return 1;
    int32_t value = 0;
    if (ACLRT_LAUNCH_KERNEL(one)(1, stream, out) || aclrtSynchronizeStream(stream) || aclrtMemcpy(&value, 4, out, 4, ACL_MEMCPY_DEVICE_TO_HOST)) return 2;
    std::printf("%d", value);
    if (aclrtBinaryLoadFromFile(arguments[1], nullptr, &binary) || aclrtBinaryGetFunction(binary, "two", &two)) return 3;
    aclrtArgsHandle list = nullptr;
    aclrtParamHandle parameter = nullptr;
    if (aclrtKernelArgsInit(two, &list) || aclrtKernelArgsAppend(list, &out, sizeof out, &parameter) || aclrtKernelArgsFinalize(list)) return 5;
    if (aclrtLaunchKernelWithConfig(two, 1, stream, nullptr, list, nullptr) || aclrtSynchronizeStream(stream) || aclrtMemcpy(&value, 4, out, 4, ACL_MEMCPY_DEVICE_TO_HOST)) return 4;
    std::printf(" %d\\n", value);
    return 0;
}
"""
    )
    call("cmake", "-S", ".", "-B", "build", f"-DCMAKE_INSTALL_PREFIX={tmp_path}/installed", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    assert call("build/main", tmp_path / "installed/fatbin/binary/binary.o", cwd=tmp_path) == "4321 5\n"
    (tmp_path / "one.cpp").write_text(kernel % ("", "one", "undeclared"))
    assert "one.cpp:4:" in call("cmake", "--build", "build", cwd=tmp_path, fails=True)


@pytest.mark.long
def test_the_language_of_cmake_compiles_the_first_example(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    source = ROOT / "examples/ascendc/softmax"
    call("cmake", "-S", source, "-B", "build", "-DCMAKE_BUILD_TYPE=Release", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    assert "largest relative error" in call("build/softmax", cwd=tmp_path)


def test_the_language_of_cmake_compiles_a_matrix_product_on_cube_and_vector_cores(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    source = ROOT / "examples/ascendc/matmul"
    call("cmake", "-S", source, "-B", "build", "-DCMAKE_BUILD_TYPE=Release", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    # The program finds the runtime by itself.
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([tmp_path / "build/matmul"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240)
    assert "0 of 143360 results are wrong; 40 vector cores" in done.stdout, done.stderr


def custom_operators(folder):
    """Copies the example's project, so that its build folder is a temporary one."""
    project = folder / "project"
    shutil.copytree(ROOT / "examples/ascendc/custom_op", project, ignore=shutil.ignore_patterns("build_out"))
    return project


def test_a_project_of_custom_operators(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    project = custom_operators(tmp_path)
    call("./build.sh", cwd=project)
    (package,) = (project / "build_out").glob("custom_opp_*.run")
    call(package, f"--install-path={tmp_path}/opp", cwd=tmp_path)
    assert "unknown option --instal-path=x" in call(package, "--instal-path=x", cwd=tmp_path, fails=True)
    assert (tmp_path / "opp/vendors/config.ini").read_text() == "load_priority=customize\n"
    exported = call("nm", "-D", "--defined-only", tmp_path / "opp/vendors/customize/op_api/lib/libcust_opapi.so", cwd=tmp_path)
    assert "aclnnAxpyCustomGetWorkspaceSize" in exported and "axpy_custom" not in exported
    call("cmake", "-S", project / "test", "-B", "build", f"-DOPP={tmp_path}/opp", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    text = call("build/axpy", cwd=tmp_path)
    assert text.count("0 wrong results\n") == 4
    assert "AxpyCustom: the operator has no combination of types (DT_INT32, DT_FLOAT, DT_FLOAT); its definition lists 2" in text


def test_lists_of_tensors_and_attributes_that_are_lists(tmp_path, monkeypatch):
    """An operator with DYNAMIC inputs and outputs and attributes of three kinds of lists, with values of a call and of the definition."""
    monkeypatch.setenv("JUMAR_DEVICES", "2")
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    project = custom_operators(tmp_path)
    for name in ["op_host/axpy_custom.cpp", "op_host/axpy_custom_tiling.h", "op_kernel/axpy_custom.cpp", "test/main.cpp"]:
        (project / name).unlink()
    for name in ["op_host/scale_list.cpp", "op_kernel/scale_list.cpp", "test/main.cpp"]:
        shutil.copy(HERE / "lists" / name, project / name)
    call("./build.sh", cwd=project)
    (package,) = (project / "build_out").glob("custom_opp_*.run")
    call(package, f"--install-path={tmp_path}/opp", cwd=tmp_path)
    header = (tmp_path / "opp/vendors/customize/op_api/include/aclnn_scale_list.h").read_text()
    parameters = "const aclTensorList *x, const aclTensor *bias, const aclIntArray *shifts, const aclFloatArray *factors, const aclBoolArray *signs, "
    assert parameters + "const aclTensorList *z, uint64_t *workspaceSize, aclOpExecutor **executor" in header
    call("cmake", "-S", project / "test", "-B", "build", f"-DOPP={tmp_path}/opp", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    text = call("build/axpy", cwd=tmp_path)
    assert "lists: 0 failures" in text
    assert "ScaleList: the attribute shifts is null" in text and "ScaleList: x[1] is null" in text
    assert "ScaleList: the operator has no combination of types (DT_INT32, DT_INT32, DT_INT32, DT_INT32, DT_FLOAT, " in text


@pytest.mark.long
def test_an_output_with_an_initial_value_is_zero_when_the_kernel_starts(tmp_path):
    """The kernel adds to its output, which holds other values before the call."""
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    project = custom_operators(tmp_path)
    changes = [
        ("op_host/axpy_custom.cpp", 'Output("z").ParamType(REQUIRED)', 'Output("z").ParamType(REQUIRED).InitValue(0)'),
        ("op_kernel/axpy_custom.cpp", "            DataCopyPad(z_[done]", "            SetAtomicAdd<T>();\n            DataCopyPad(z_[done]"),
        ("op_kernel/axpy_custom.cpp", "            zs_.FreeTensor(z);", "            SetAtomicNone();\n            zs_.FreeTensor(z);"),
        ("test/main.cpp", "    uint64_t workspace_bytes = 0;", "    aclrtMemset(result.data, bytes, 0x33, bytes);\n    uint64_t workspace_bytes = 0;"),
    ]
    for name, before, after in changes:
        text = (project / name).read_text()
        assert text.count(before) == 1
        (project / name).write_text(text.replace(before, after))
    call("./build.sh", cwd=project)
    (package,) = (project / "build_out").glob("custom_opp_*.run")
    call(package, f"--install-path={tmp_path}/opp", cwd=tmp_path)
    call("cmake", "-S", project / "test", "-B", "build", f"-DOPP={tmp_path}/opp", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    assert call("build/axpy", cwd=tmp_path).count("0 wrong results\n") == 4


def test_definitions_that_are_not_supported_are_refused_by_name(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    project = custom_operators(tmp_path)
    definition = project / "op_host/axpy_custom.cpp"
    good = definition.read_text()
    cases = {
        ("Float(1.0f)", "ListListInt({{1}})"): "AxpyCustom: attribute alpha is a list of lists, which is not supported",
        ('Output("z")', 'Output("z").InitValue(1)'): "AxpyCustom: parameter z has an initial value (InitValue) other than 0, which is not supported",
        ("OP_ADD(AxpyCustom);", ""): "the sources define no operator (OP_ADD)",
        ("context->SetBlockDim", "context->SetBlocks"): "the definitions of operators do not compile",
    }
    for (before, after), wanted in cases.items():
        assert before in good
        definition.write_text(good.replace(before, after))
        text = call("cmake", "-S", ".", "-B", "build_out", "--preset=default", cwd=project, fails=True)
        assert wanted in " ".join(text.split()), text


def test_a_kernel_runs_without_a_stream_beside_the_runtime(tmp_path):
    """A test of a kernel that any C++ compiler builds, linked with the runtime and without a using directive."""
    (tmp_path / "on_cpu.cpp").write_text(
        """
#include <cstdio>
#include "acl/acl.h"
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void increase(GM_ADDR values, int32_t length)
{
    AscendC::TPipe pipe;
    AscendC::TBuf<> buffer;
    pipe.InitBuffer(buffer, 64);
    AscendC::GlobalTensor<int32_t> memory;
    memory.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(values) + AscendC::GetBlockIdx() * 16, 16);
    auto local = buffer.Get<int32_t>();
    AscendC::DataCopy(local, memory, 16);
    AscendC::Adds(local, local, 1, length);
    AscendC::DataCopy(memory, local, 16);
}
int main(int count, char**)
{
    if (aclInit(nullptr) || aclrtSetDevice(0)) return 1;
    auto* values = static_cast<int32_t*>(AscendC::GmAlloc(128));
    for (int at = 0; at < 32; at++) values[at] = at;
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(increase, 2, reinterpret_cast<GM_ADDR>(values), count > 1 ? 64 : 16);
    for (int at = 0; at < 32; at++) {
        if (values[at] != at + 1) return 2;
    }
    AscendC::GmFree(values);
    std::printf("on_cpu: done, %d\\n", aclFinalize());
    return 0;
}
"""
    )
    call("c++", "-std=c++17", "-I", PREFIX / "include", "-I", PREFIX / "include/ascendc", "on_cpu.cpp", "-o", "on_cpu", "-L", PREFIX / "lib64", "-lascendcl", cwd=tmp_path)
    assert call("./on_cpu", cwd=tmp_path) == "on_cpu: done, 0\n"
    text = call("./on_cpu", "long", cwd=tmp_path, fails=True)
    assert 'kernel "increase" failed in block 0 of 2' in text and "Adds: dst reaches bytes 0 to 255 of its buffer in VECCALC, which has 64 bytes" in text


def test_a_kernel_binary(tmp_path):
    kernel = ROOT / "examples/ascendc/vector_add/add.cpp"
    call(BISHENG, "-shared", "-fPIC", "-x", "asc", "--jumar-binary", "-O1", kernel, "-o", "add.o", cwd=tmp_path)
    call("cc", "-I", PREFIX / "include", HERE / "binary.c", "-o", "binary", "-L", PREFIX / "lib64", "-lascendcl", cwd=tmp_path)
    assert "binary: done" in call("./binary", tmp_path / "add.o", cwd=tmp_path)


def test_mistakes_in_a_source_are_reported_at_its_lines(tmp_path):
    kernel = '#include "kernel_operator.h"\n\n__global__ __aicore__ void k(__gm__ half* x)\n{\n    %s\n}\n'
    cases = {
        "undeclared(x);": "k.asc:5:",
        "AscendC::LocalTensor<half> a; AscendC::BatchNorm(a, a);": "AscendC::BatchNorm is not supported by Jumar; docs/ascendc.md lists what is",
        "k<<<1, x);": "k.asc:5: error: a launch's <<< has no >>>",
    }
    for body, wanted in cases.items():
        (tmp_path / "k.asc").write_text(kernel % body)
        assert wanted in call(BISHENG, "-c", "k.asc", cwd=tmp_path, fails=True), body
    (tmp_path / "k.asc").write_text(kernel % "")
    assert "the chip dav-3510 is not supported" in call(BISHENG, "-c", "k.asc", "--npu-arch=dav-3510", cwd=tmp_path, fails=True)


@pytest.mark.skipif(shutil.which("gdb") is None, reason="there is no gdb")
def test_a_debugger_stops_at_a_kernels_own_lines(tmp_path):
    (tmp_path / "step.asc").write_text(
        """\
#include "acl/acl.h"
#include "kernel_operator.h"

__global__ __aicore__ void triple(__gm__ int32_t* out, int32_t value)
{
    int32_t result = value * 2;
    result += value;
    out[AscendC::GetBlockIdx()] = result;
}

int main()
{
    void* out = nullptr;
    aclrtStream stream = nullptr;
    if (aclInit(nullptr) || aclrtSetDevice(0) || aclrtCreateStream(&stream) || aclrtMalloc(&out, 4096, ACL_MEM_MALLOC_HUGE_FIRST)) return 1;
    triple<<<1, nullptr, stream>>>(static_cast<int32_t*>(out), 7);
    return aclrtSynchronizeStream(stream);
}
"""
    )
    call(BISHENG, "-g", "-O0", "step.asc", "-o", "step", cwd=tmp_path)
    steps = ["set debuginfod enabled off", "break step.asc:6", "run", "next", "next", "print result", "backtrace 1", "kill"]
    text = call("gdb", "-nx", "-batch", *[word for step in steps for word in ("-ex", step)], "./step", cwd=tmp_path)
    assert "6\t    int32_t result = value * 2;" in text, text
    assert "7\t    result += value;" in text and "$1 = 21" in text, text
    assert re.search(r"#0 +triple \(out=0x[0-9a-f]+, value=7\) at step.asc:8", text), text


def names_of_the_headers():
    """Every word of the headers outside of comments, but for names whose use stops the compilation; and those names."""
    headers = ROOT / "ascendc/include"
    missing = set(re.findall(r"^JUMAR_ASCENDC_MISSING(?:_C)?\((\w+)\)", (headers / "ascendc/missing.h").read_text(), re.M))
    words = set()
    for path in [*headers.rglob("*.h"), ROOT / "include/jumar/kernel.h"]:
        # The names in buffer_sizes.h are parts of names of the host's functions.
        if path.name not in ("missing.h", "buffer_sizes.h"):
            words |= set(re.findall(r"\w+", re.sub(r"//.*", "", path.read_text())))
    # `Wait` of the list is that of collectives, and the one of the headers that of GroupBarrier.
    return words - missing - {"Wait"}, missing


def listed_names():
    functions = (ROOT / "docs/ascendc.md").read_text().split("## Functions")[1]
    rows = [line.split("|")[2] for line in functions.splitlines() if line.startswith("| ") and "`" in line]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_page_lists_names_that_the_headers_have():
    there, missing = names_of_the_headers()
    listed = listed_names()
    assert len(listed) > 290 and len(missing) > 20
    assert not listed - there


def test_the_page_counts_the_names_that_public_kernels_use():
    """names.csv has the 410 names, their group, and the smallest share of kernels for which a name is needed."""
    with (HERE / "names.csv").open(newline="") as file:
        rows = [(row["name"], row["group"], int(row["percent"])) for row in csv.DictReader(file)]
    assert len(rows) == 410
    there, _ = names_of_the_headers()
    groups = list(dict.fromkeys(group for _, group, _ in rows))
    page = (ROOT / "docs/ascendc.md").read_text()
    reached = {}
    for group in [*groups, "all"]:
        counts = []
        for percent in [50, 80, 95, 100]:
            needed = [name for name, own, share in rows if group in (own, "all") and share <= percent]
            have = sum(name in there for name in needed)
            counts.append(f"{have} of {len(needed)}" if needed else "-")
            reached[group, percent] = (have, len(needed))
        assert f"| {group} | " + " | ".join(counts) + " |" in page
    have, needed = reached["vector and scalar", 95]
    assert have >= 0.95 * needed
    # The nine that are missing are functions of the 950, and C functions for its types.
    have, needed = reached["all", 80]
    missing = {group for name, group, share in rows if share <= 80 and name not in there}
    assert have >= 0.95 * needed and missing == {"names of the 950", "C functions (`asc_*`)"}


def test_each_listed_name_has_a_test():
    """The kernels of this folder name every function of the page, outside of comments and texts."""
    called = set()
    for path in [*HERE.glob("*.cpp"), *HERE.glob("*.asc")]:
        text = re.sub(r"//.*", "", path.read_text())
        called |= set(re.findall(r"\w+", re.sub(r'"(?:\\.|[^"\\\n])*"', "", text)))
    assert not listed_names() - called


def test_each_missing_name_stops_the_compilation_with_its_name(tmp_path):
    text = (ROOT / "ascendc/include/ascendc/missing.h").read_text()
    functions = ["AscendC::" + name for name in re.findall(r"^JUMAR_ASCENDC_MISSING\((\w+)\)", text, re.M)]
    functions += re.findall(r"^JUMAR_ASCENDC_MISSING_C\((\w+)\)", text, re.M)
    uses = "".join(f"    {name}(x);\n" for name in functions)
    kernel = '#include "kernel_operator.h"\n__global__ __aicore__ void k(__gm__ half* x)\n{\n%s}\n'
    (tmp_path / "k.asc").write_text(kernel % (uses + "    AscendC::Hccl<> hccl;\n"))
    text = call(BISHENG, "-c", "k.asc", "-fmax-errors=0", cwd=tmp_path, fails=True)
    functions.append("AscendC::Hccl")
    reported = [name for name in functions if f" {name} is not supported by Jumar; docs/ascendc.md lists what is" in text]
    assert reported == functions, text


MACROS_KERNEL = """
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

__global__ __aicore__ void twice(GM_ADDR input, GM_ADDR output, uint32_t count)
{
    TPipe pipe;
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(input), count);
    to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(output), count);
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, count * sizeof(float));
    pipe.InitBuffer(out, 1, count * sizeof(float));
    LocalTensor<float> given = in.AllocTensor<float>();
    DataCopy(given, from, count);
    in.EnQue(given);
    given = in.DeQue<float>();
    LocalTensor<float> made = out.AllocTensor<float>();
    Muls(made, given, float(FACTOR), count);
    out.EnQue(made);
    in.FreeTensor(given);
    made = out.DeQue<float>();
    DataCopy(to, made, count);
    out.FreeTensor(made);
}

__global__ __aicore__ void product(GM_ADDR a, GM_ADDR b, GM_ADDR c, TCubeTiling tiling)
{
    using Left = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    using Result = MatmulType<TPosition::GM, CubeFormat::ND, float>;
    TPipe pipe;
    Matmul<Left, Left, Result> matmul;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), matmul, &tiling);
    GlobalTensor<half> left, right;
    GlobalTensor<float> sum;
    left.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), 1);
    right.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b), 1);
    sum.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), 1);
    matmul.SetTensorA(left);
    matmul.SetTensorB(right);
    matmul.IterateAll(sum);
    matmul.End();
}
"""


@pytest.mark.parametrize("value", ["1", "float"])
def test_a_program_may_define_macros_of_one_letter(tmp_path, value):
    (tmp_path / "k.asc").write_text(MACROS_KERNEL)
    (tmp_path / "tiling.cpp").write_text('#include "tiling/tiling_api.h"\n#include "tiling/platform/platform_ascendc.h"\n')
    letters = [f"-D{letter}={value}" for letter in string.ascii_uppercase]
    call(BISHENG, "-c", "k.asc", "-Wall", "-Wextra", "-Werror", "-DFACTOR=2", *letters, cwd=tmp_path)
    call(BISHENG, "-c", "-x", "asc", "tiling.cpp", "-Wall", "-Wextra", "-Werror", *letters, cwd=tmp_path)


@pytest.mark.parametrize("option", ["--help", "-h", "-help"])
def test_the_driver_lists_its_options(tmp_path, option):
    text = call(BISHENG, option, cwd=tmp_path)
    assert text.startswith("bisheng: compiles Ascend C") and "--npu-arch" in text
    assert "no source files; --help lists the options" in call(BISHENG, "-c", cwd=tmp_path, fails=True)


def test_the_driver_says_whose_it_is(tmp_path):
    for name in ["bisheng", "ccec", "asc-c++"]:
        assert call(PREFIX / "bin" / name, "--version", cwd=tmp_path).startswith(f"{name} (Jumar ")
