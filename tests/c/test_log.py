"""aclAppLog, the one function with variable arguments: what C formats arrives, bounded and without writing memory."""

import os
import subprocess
from pathlib import Path

HOME = Path(os.environ["ASCEND_HOME_PATH"])
COMMAND = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(HOME / "include")]
LINK = ["-L", str(HOME / "lib64"), "-lascendcl"]
ENVIRONMENT = dict(os.environ, LD_LIBRARY_PATH=str(HOME / "lib64"), ASCEND_SLOG_PRINT_TO_STDOUT="1")


def run(tmp_path, text):
    """Compiles and runs a program; gives what it printed."""
    source = tmp_path / "log.c"
    source.write_text(text)
    program = tmp_path / "log"
    subprocess.run([*COMMAND, str(source), *LINK, "-o", str(program)], check=True)
    return subprocess.run([program], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout


def test_the_log_macro_takes_arguments_and_none(tmp_path):
    shown = run(
        tmp_path,
        '#include "acl/acl.h"\n'
        "int main(void) {\n"
        '    ACL_APP_LOG(ACL_ERROR, "plain");\n'
        '    ACL_APP_LOG(ACL_ERROR, "%d %s %.2f %ld %d %d %d %d", 1, "two", 3.0, 4L, 5, 6, 7, 8);\n'
        "    return 0;\n"
        "}\n",
    )
    lines = shown.splitlines()
    assert any('main:' in line and line.endswith('"plain"') for line in lines), shown
    assert any(line.endswith('"1 two 3.00 4 5 6 7 8"') for line in lines), shown


def test_a_format_that_writes_memory_is_refused_and_a_long_line_is_cut(tmp_path):
    shown = run(
        tmp_path,
        '#include "acl/acl.h"\n#include <string.h>\n'
        "int main(void) {\n"
        "    static char big[5000];\n"
        "    int written = 77;\n"
        "    memset(big, 'x', sizeof big - 1);\n"
        '    aclAppLog(ACL_ERROR, "f", "g", 1, "here %n", &written);\n'
        '    aclAppLog(ACL_ERROR, "f", "g", 2, "%s", big);\n'
        "    aclAppLog(ACL_ERROR, 0, 0, 3, 0);\n"
        "    return written == 77 ? 0 : 1;\n"
        "}\n",
    )
    assert "%n" in shown
    assert "...[truncated]" in shown
    assert max(map(len, shown.splitlines())) < 1200
