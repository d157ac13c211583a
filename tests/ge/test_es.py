"""Functions that build graphs: those of the tree, and those that the CMake package makes of a program's own REG_OP classes."""

import os
import shutil
import subprocess

import pytest

from build import HERE, LIB64, PREFIX, ROOT, compile_program, run

OWN = """\
#include "graph/operator_reg.h"
namespace ge {
REG_OP(OwnScale)
    .INPUT(x, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(factor, Float, 2.0f)  // a comment, with .INPUT(no, T)
    .REQUIRED_ATTR(sizes, ListInt)
    .OP_END_FACTORY_REG(OwnScale)
REG_OP(Excluded).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Excluded)
}
"""
PROGRAM = """\
#include <cstdio>
#include <string>
#include "es_own/es_own_ops.h"
#include "ge/ge_api.h"
int main() {
  ge::es::EsGraphBuilder builder("own");
  auto x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2});
  auto y = ge::es::OwnScale(x, nullptr, 3.0f, {1, 2});
  auto graph = builder.BuildAndReset({y});
  ge::AscendString type;
  float factor = 0;
  if (graph == nullptr || y.GetProducer()->GetType(type) != 0 || type != "OwnScale") return 1;
  if (y.GetProducer()->GetAttr("factor", factor) != 0 || factor != 3.0f) return 2;
  // No library computes the operator: the build reports its name.
  const std::map<ge::AscendString, ge::AscendString> none;
  if (ge::GEInitialize(none) != ge::SUCCESS) return 3;
  ge::Session session(none);
  const bool refused = session.AddGraph(0, *graph) != ge::SUCCESS || session.BuildGraph(0, std::vector<ge::Tensor>()) != ge::SUCCESS;
  const std::string text = ge::GEGetErrorMsgV2().GetString();
  std::printf("%s\\n", text.c_str());
  return refused && text.find("OwnScale") != std::string::npos ? 0 : 4;
}
"""
LISTS = """\
cmake_minimum_required(VERSION 3.16)
project(own LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
list(APPEND CMAKE_MODULE_PATH "$ENV{ASCEND_HOME_PATH}/include/ge/cmake")
find_package(GenerateEsPackage REQUIRED)
include_directories($ENV{ASCEND_HOME_PATH}/include)
link_directories($ENV{ASCEND_HOME_PATH}/lib64)
add_library(opgraph_own SHARED proto.cpp)
target_link_libraries(opgraph_own PRIVATE graph ascendcl)
add_es_library(ES_LINKABLE_AND_ALL_TARGET es_own OPP_PROTO_TARGET opgraph_own
               OUTPUT_PATH ${CMAKE_BINARY_DIR}/output EXCLUDE_OPS Excluded)
add_executable(program main.cpp)
target_link_libraries(program PRIVATE es_own ge_runner ascendcl)
"""


@pytest.mark.parametrize(("std", "abi"), [("c++11", 0), pytest.param("c++17", 1, marks=pytest.mark.long)])
def test_graphs_by_function_calls(tmp_path, std, abi):
    compile_program(HERE / "es.cpp", tmp_path / "es", "-I", PREFIX / "include/es", "-les_all", "-lge_runner", std=std, abi=abi)
    assert "es: ok" in run(tmp_path / "es", tmp_path)


def test_the_example_agrees_with_plain_loops(tmp_path):
    folder = shutil.copytree(ROOT / "examples/es", tmp_path / "es")
    env = dict(os.environ, ASCEND_HOME_PATH=str(PREFIX))
    subprocess.run(["make", "-C", folder], env=env, check=True, capture_output=True, timeout=300)
    assert "the results agree" in run(folder / "perceptron", folder)


def test_the_headers_are_c_and_each_stands_alone(tmp_path):
    source = tmp_path / "all.c"
    source.write_text('#include "es_all_ops_c.h"\nint main(void) { return 0; }\n')
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", PREFIX / "include", "-I", PREFIX / "include/es"]
    subprocess.run(["gcc", *map(str, flags), source], check=True, timeout=120)
    one = tmp_path / "one.cpp"
    for name in ["Add", "BatchNorm", "If", "Conv2D"]:
        one.write_text(f'#include "es_{name}.h"\n#include "es_{name}_c.h"\nint main() {{ return 0; }}\n')
        flags[0] = "-std=c++11"
        subprocess.run(["g++", *map(str, flags), one], check=True, timeout=120)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_a_package_of_a_programs_own_operators(tmp_path):
    for name, text in [("proto.h", OWN), ("proto.cpp", '#include "proto.h"\n'), ("main.cpp", PROGRAM), ("CMakeLists.txt", LISTS)]:
        (tmp_path / name).write_text(text)
    env = dict(os.environ, ASCEND_HOME_PATH=str(PREFIX), LD_LIBRARY_PATH=str(LIB64))
    for command in [["cmake", "-S", ".", "-B", "build"], ["cmake", "--build", "build"]]:
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    headers = tmp_path / "build/output/include/es_own"
    assert (headers / "es_OwnScale.h").exists() and not (headers / "es_Excluded.h").exists()
    assert (tmp_path / "build/output/lib64/libes_own.so").exists()
    assert "OwnScale" in run(tmp_path / "build/program", tmp_path)


def test_the_generator_refuses_what_it_cannot_read(tmp_path):
    (tmp_path / "open.h").write_text("REG_OP(Own).INPUT(x, TensorType::ALL())\n")
    (tmp_path / "none.h").write_text("int nothing;\n")
    for name, words in [("open.h", "REG_OP(Own) has no OP_END_FACTORY_REG"), ("none.h", "there is no REG_OP"), ("absent.h", "cannot read")]:
        command = [PREFIX / "bin/gen_esb", f"--output_dir={tmp_path}", f"--prototypes={tmp_path / name}"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and words in done.stderr, done.stderr
