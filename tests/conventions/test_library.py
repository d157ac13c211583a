"""What the shared library is, seen from outside: what it needs, what it exports, what it promises the loader."""

import os
import pathlib
import platform
import re
import subprocess

import pytest
from install import GRAPH_ENGINE, LIB64, PREFIX, RUNTIME, compile_c, dynamic, run

HERE = pathlib.Path(__file__).resolve().parent

# The loader itself counts as a library on some machines, for thread-local storage.
MAY_NEED = re.compile(r"lib(c|m|gcc_s)\.so\.\d+|ld-linux[-\w]*\.so\.\d+")


def exported(path):
    lines = run("nm", "-D", "--defined-only", path).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.strip()}


def test_it_needs_nothing_but_the_c_library():
    needed = [value for tag, value in dynamic(RUNTIME) if tag == "NEEDED"]
    assert needed
    strangers = [name for name in needed if not MAY_NEED.fullmatch(name)]
    assert not strangers, f"libascendcl.so needs {strangers}"


def test_it_has_its_name_no_search_path_and_is_never_unloaded():
    entries = dynamic(RUNTIME)
    assert [value for tag, value in entries if tag == "SONAME"] == ["libascendcl.so"]
    assert not [entry for entry in entries if entry[0] in ("RPATH", "RUNPATH", "TEXTREL")]
    assert any(tag == "FLAGS_1" and "NODELETE" in value for tag, value in entries)


def test_no_cxx_type_crosses_its_edge():
    mangled = [name for name in exported(RUNTIME) if name.startswith("_Z")]
    assert not mangled


@pytest.mark.parametrize("library", [[], ["-static-libstdc++"]], ids=["shared", "static"])
def test_programs_in_cxx_have_their_own_operators_and_exceptions(library, tmp_path):
    link = ["-L", LIB64, "-lascendcl", *library]
    program = compile_c(HERE / "own_operators.cpp", tmp_path / "program", *link, compiler="c++", standard="c++11")
    assert run(program).stdout.strip() == "ok"


def test_it_exports_the_calls_of_the_interface_and_little_else():
    names = exported(RUNTIME)
    assert {"aclInit", "aclrtSetDevice", "aclmdlExecute", "acldvppMalloc", "aclAppLog"} <= names
    assert sum(name.startswith("acl") for name in names) >= 897
    # Functions of other families (Hccl, Msprof, rt) are exported where a public header declares them. `jumar_` is how
    # copies of the library find each other.
    declared = set()
    for header in (PREFIX / "include").rglob("*.h"):
        declared.update(re.findall(r"\w+", header.read_text()))
    others = [name for name in names if not name.startswith(("acl", "jumar_")) and name not in declared]
    assert not others


def test_the_graph_engine_exports_its_classes_and_what_the_runtime_exports_and_nothing_else():
    """A program that names one library of the Graph Engine finds every function, and no internal function by accident."""
    names = exported(GRAPH_ENGINE)
    runtime = {name for name in exported(RUNTIME) if not name.startswith("jumar_")}
    classes = {name for name in names if re.match(r"_ZNK?(2fe|2ge|4gert)|_ZT.N(2ge|4gert)|_ZNK?1[45]EsC(Tensor|Graph)|Es[A-Z]", name)}
    assert len(classes) > 600
    # The one function of the engine that is neither a class's nor a builder's.
    assert names == runtime | classes | {"GetRegisteredIrDef"}
    internal = [name for name in classes if name.startswith(("_ZN2ge5jumar", "_ZNK2ge5jumar"))]
    assert not internal


@pytest.mark.parametrize("library", [GRAPH_ENGINE, LIB64 / "libatb.so"], ids=lambda library: library.name)
def test_libraries_of_classes_find_the_runtime_beside_them_and_work_with_older_systems(library):
    entries = dynamic(library)
    assert ("SONAME", library.name) in entries and ("NEEDED", "libascendcl.so") in entries
    assert ("RUNPATH", "$ORIGIN") in entries or ("RPATH", "$ORIGIN") in entries
    assert any(tag == "FLAGS_1" and "NODELETE" in value for tag, value in entries)
    # The oldest libstdc++ that the portable wheel names: GCC 8.
    symbols = run("objdump", "-T", library).stdout
    versions = {tuple(map(int, one.split("."))) for one in re.findall(r"GLIBCXX_([0-9.]+)", symbols)}
    assert max(versions) <= (3, 4, 25), sorted(versions)


def test_the_python_module_needs_no_python_library_and_no_numpy():
    module = PREFIX / "python/site-packages/acl.so"
    needed = [value for tag, value in dynamic(module) if tag == "NEEDED"]
    # A module that names libpython loads a second interpreter into a program that has Python built in.
    assert not [name for name in needed if "python" in name or "numpy" in name]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the levels AVX2 and AVX-512 are those of x86-64")
@pytest.mark.skipif(os.environ.get("JUMAR_TEST_PROFILE") == "dev", reason="needs an optimized library, which ci without --quick tests")
def test_loops_for_a_level_of_instructions_call_no_closure_through_another_function():
    """A function of the standard library, or a loop over rows that is not inlined, is compiled without the level's instructions, and the
    closure that it calls with it: several times slower."""
    # Panics are functions of the standard library, too, and may be called directly.
    through = re.compile(r"<<?core::(array|iter|ops)::|Loops<.*>::(try_)?each")
    command = ["objdump", "-d", "--no-show-raw-insn", "--demangle", str(RUNTIME)]
    functions, found, name = 0, [], ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as objdump:
        for line in objdump.stdout:
            if line.endswith(">:\n"):
                name = line
                functions += "::simd::wide::avx" in name
            elif "::simd::wide::avx" in name and "call " in line and through.search(line):
                found.append(line.split("call")[1].strip())
    assert objdump.returncode == 0
    assert functions > 100
    assert not found
