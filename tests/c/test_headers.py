"""The C headers as a program meets them: each alone, in every dialect, in both ways of naming them; their layout; what links."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
HOME = Path(os.environ["ASCEND_HOME_PATH"])
INCLUDE = HOME / "include"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
DIALECTS = [("cc", "c11"), ("c++", "c++11"), ("c++", "c++17")]
HEADERS = sorted(str(path.relative_to(INCLUDE / "acl")) for path in (INCLUDE / "acl").rglob("*.h"))


def compile_text(compiler, standard, folder, text):
    """Gives what the compiler says about a text; the empty text if it likes it."""
    language = "c" if compiler == "cc" else "c++"
    command = [compiler, f"-std={standard}", "-x", language, "-I", str(folder), *WARNINGS, "-fsyntax-only", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else f"{' '.join(command)}\n{run.stderr}"


def test_the_headers_that_programs_include_are_there():
    wanted = {
        "acl.h", "acl_base.h", "acl_rt.h", "acl_mdl.h", "acl_op.h", "acl_op_compiler.h", "acl_tdt.h", "acl_tdt_queue.h",
        "acl_prof.h", "acl_dump.h", "acl_platform.h", "acl_rt_allocator.h", "ops/acl_dvpp.h", "ops/acl_fv.h",
        "ops/acl_cblas.h", "error_codes/rt_error_codes.h", "error_codes/ge_error_codes.h",
    }
    assert wanted <= set(HEADERS)


@pytest.mark.parametrize(("compiler", "standard"), DIALECTS)
def test_each_header_compiles_alone(compiler, standard):
    jobs = []
    for header in HEADERS:
        for folder, name in [(INCLUDE, f"acl/{header}"), (INCLUDE / "acl", header)]:
            # Twice: including a header again must be harmless.
            text = f'#include "{name}"\n#include "{name}"\nint main(void) {{ return 0; }}\n'
            jobs.append((compiler, standard, folder, text))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [said for said in pool.map(lambda job: compile_text(*job), jobs) if said]
    assert not complaints, complaints[0]


def test_both_c_plus_plus_string_layouts_compile():
    text = '#include <string>\n#include "acl/acl.h"\nint main() { return std::string(aclrtGetSocName()).empty(); }\n'
    for abi in ["0", "1"]:
        assert compile_text("c++", "c++17", INCLUDE, f"#define _GLIBCXX_USE_CXX11_ABI {abi}\n{text}") == ""


@pytest.mark.parametrize(("compiler", "standard"), DIALECTS)
def test_sizes_offsets_and_values_are_those_of_the_data(compiler, standard):
    assert compile_text(compiler, standard, INCLUDE, (HERE / "layout.c").read_text()) == ""


def test_everything_declared_links_and_constants_have_their_values(tmp_path):
    program = tmp_path / "layout"
    command = ["cc", "-std=c11", *WARNINGS, "-I", str(INCLUDE), str(HERE / "layout.c")]
    command += ["-L", str(HOME / "lib64"), "-lascendcl", "-o", str(program)]
    subprocess.run(command, check=True)
    environment = dict(os.environ, LD_LIBRARY_PATH=str(HOME / "lib64"))
    assert subprocess.run([program], env=environment, check=False).returncode == 0


def test_the_log_macro_takes_arguments_and_none(tmp_path):
    source = tmp_path / "log.c"
    source.write_text(
        '#include "acl/acl.h"\n'
        "int main(void) {\n"
        '    ACL_APP_LOG(ACL_ERROR, "plain");\n'
        '    ACL_APP_LOG(ACL_ERROR, "%d %s %.2f %ld %d %d %d %d", 1, "two", 3.0, 4L, 5, 6, 7, 8);\n'
        "    return 0;\n"
        "}\n"
    )
    program = tmp_path / "log"
    command = ["cc", "-std=c11", *WARNINGS, "-I", str(INCLUDE), str(source)]
    subprocess.run([*command, "-L", str(HOME / "lib64"), "-lascendcl", "-o", str(program)], check=True)
    environment = dict(os.environ, LD_LIBRARY_PATH=str(HOME / "lib64"), ASCEND_SLOG_PRINT_TO_STDOUT="1")
    run = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert any('main:' in line and line.endswith('"plain"') for line in lines), run.stdout
    assert any(line.endswith('"1 two 3.00 4 5 6 7 8"') for line in lines), run.stdout


def test_a_format_that_writes_memory_is_refused_and_a_long_line_is_cut(tmp_path):
    source = tmp_path / "bad.c"
    source.write_text(
        '#include "acl/acl.h"\n#include <string.h>\n'
        "int main(void) {\n"
        "    static char big[5000];\n"
        "    int written = 77;\n"
        "    memset(big, 'x', sizeof big - 1);\n"
        '    aclAppLog(ACL_ERROR, "f", "g", 1, "here %n", &written);\n'
        '    aclAppLog(ACL_ERROR, "f", "g", 2, "%s", big);\n'
        "    aclAppLog(ACL_ERROR, 0, 0, 3, 0);\n"
        "    return written == 77 ? 0 : 1;\n"
        "}\n"
    )
    program = tmp_path / "bad"
    command = ["cc", "-std=c11", *WARNINGS, "-I", str(INCLUDE), str(source)]
    subprocess.run([*command, "-L", str(HOME / "lib64"), "-lascendcl", "-o", str(program)], check=True)
    environment = dict(os.environ, LD_LIBRARY_PATH=str(HOME / "lib64"), ASCEND_SLOG_PRINT_TO_STDOUT="1")
    run = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    assert "%n" in run.stdout
    assert "...[truncated]" in run.stdout
    assert max(map(len, run.stdout.splitlines())) < 1200
