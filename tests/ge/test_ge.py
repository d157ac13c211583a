"""C++ programs of the Graph Engine: built against the install tree as programs are, and run."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()
HERE = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
PROTOTYPES = ["opp/op_proto/built-in/inc", "opp/built-in/op_proto/inc", "opp/built-in/op_graph/inc"]


def compile_program(source, out, *more, std="c++11", abi=0, protos=PROTOTYPES[1]):
    command = ["g++", f"-std={std}", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", *WARNINGS]
    command += ["-I", PREFIX / "include", "-I", PREFIX / protos, source, "-o", out, *more]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


def run(program, cwd):
    env = dict(os.environ, LD_LIBRARY_PATH=str(PREFIX / "lib64"))
    done = subprocess.run([str(program)], cwd=cwd, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("library", "std", "abi", "protos"),
    [("ge_runner", "c++11", 0, PROTOTYPES[0]), ("graph", "c++17", 1, PROTOTYPES[2])],
)
def test_the_seed_program_runs_whichever_library_it_names(tmp_path, library, std, abi, protos):
    link = ["-L", PREFIX / "lib64", f"-l{library}"]
    compile_program(HERE / "seed.cpp", tmp_path / "seed", *link, std=std, abi=abi, protos=protos)
    assert "seed: ok" in run(tmp_path / "seed", tmp_path)


def test_sessions_variables_control_files_offline_models_and_misuse(tmp_path):
    link = ["-L", PREFIX / "compiler/lib64/stub", "-lge_compiler"]
    compile_program(HERE / "session.cpp", tmp_path / "session", *link, std="c++20", abi=1)
    assert "session: ok" in run(tmp_path / "session", tmp_path)


def test_each_header_stands_alone(tmp_path):
    source = tmp_path / "one.cpp"
    folders = ["ge", "graph", "parser"]
    for folder in folders:
        for header in sorted((PREFIX / "include" / folder).glob("*.h")):
            # Also with the folder alone on the search path, as older programs have it.
            source.write_text(f'#include "{header.name}"\nint main() {{ return 0; }}\n')
            command = ["g++", "-std=c++11", *WARNINGS, "-fsyntax-only", "-I", PREFIX / "include" / folder, source]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, f"{header}: {done.stderr}"


def test_all_operators_together_are_cheap_to_compile(tmp_path):
    source = tmp_path / "all.cpp"
    source.write_text('#include "all_ops.h"\nint main() { return 0; }\n')
    before = os.times().children_user
    compile_program(source, tmp_path / "all.o", "-c")
    # Seconds of the compiler's own time, so that a busy machine changes little: the vendor's take half a minute.
    assert os.times().children_user - before < 20
