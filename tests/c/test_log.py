"""aclAppLog, the one function with variable arguments: what C formats arrives, bounded and without writing memory."""

import os
import subprocess
from pathlib import Path

HOME = Path(os.environ["ASCEND_HOME_PATH"])
COMMAND = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(HOME / "include")]
LINK = ["-L", str(HOME / "lib64"), "-lascendcl"]
ENVIRONMENT = dict(os.environ, LD_LIBRARY_PATH=str(HOME / "lib64"), ASCEND_SLOG_PRINT_TO_STDOUT="1")


def run(tmp_path, text):
    """Compiles and runs a program; returns its output."""
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


LINES = (
    '#include "acl/acl.h"\n#include <stdlib.h>\n'
    "int main(int count, char **values) {\n"
    "    aclInit(NULL);\n"
    "    for (int line = 0; line < atoi(values[count - 1]); ++line)\n"
    '        aclAppLog(ACL_ERROR, "f", "g", 7, "line %07d %0900d", line, 0);\n'
    "    return 0;\n"
    "}\n"
)


def logged(tmp_path, lines, **variables):
    """Runs a program that writes so many lines; returns the folder of its logs and its output."""
    source = tmp_path / "lines.c"
    source.write_text(LINES)
    program = tmp_path / "lines"
    subprocess.run([*COMMAND, str(source), *LINK, "-o", str(program)], check=True)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ASCEND_")}
    environment = dict(plain, LD_LIBRARY_PATH=str(HOME / "lib64"), ASCEND_PROCESS_LOG_PATH=str(tmp_path / "log"))
    done = subprocess.run(
        [program, str(lines)], env={**environment, **variables}, capture_output=True, text=True, check=True
    )
    return tmp_path / "log", done.stdout


def test_lines_go_to_the_folder_of_their_kind_in_the_documented_form(tmp_path):
    import re

    folder, shown = logged(tmp_path, 2)
    assert shown == ""
    (debug,) = (folder / "debug/plog").iterdir()
    (run_log,) = (folder / "run/plog").iterdir()
    assert list((folder / "security/plog").iterdir()) == []
    assert re.fullmatch(r"plog-\d+_\d+\.log", debug.name)
    stamp = r"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} "
    line = rf'\[ERROR\] APP\(\d+,lines\):{stamp}\d+ f:g:7: "line 0000001 0+"'
    assert re.fullmatch(line, debug.read_text().splitlines()[1])
    assert re.fullmatch(rf"\[EVENT\] RUNTIME\(\d+,lines\):{stamp}Jumar .*", run_log.read_text().rstrip("\n"))


def test_files_are_of_20_mb_and_the_oldest_goes(tmp_path):
    folder, _ = logged(tmp_path, 80_000, ASCEND_HOST_LOG_FILE_NUM="2")
    files = sorted((folder / "debug/plog").iterdir())
    assert len(files) == 2
    first, last = (file.read_text() for file in files)
    assert 20 << 20 <= len(first) < (20 << 20) + 2048
    assert "line 0000000 " not in first + last
    assert "line 0079999 " in last.splitlines()[-1]
    numbers = [int(line.split('"line ')[1][:7]) for line in (first + last).splitlines()]
    assert numbers == list(range(numbers[0], 80_000))


def test_an_odd_number_of_files_is_the_usual_one(tmp_path):
    folder, _ = logged(tmp_path, 60_000, ASCEND_HOST_LOG_FILE_NUM="0")
    assert len(list((folder / "debug/plog").iterdir())) == 3


def test_events_and_levels_are_switched_off_by_their_variables(tmp_path):
    folder, _ = logged(tmp_path, 1, ASCEND_GLOBAL_EVENT_ENABLE="0", ASCEND_GLOBAL_LOG_LEVEL="4")
    assert not folder.exists()


def test_a_modules_level_overrides_the_global_one_and_a_bad_entry_voids_the_list(tmp_path):
    quiet = {"ASCEND_GLOBAL_EVENT_ENABLE": "0"}
    folder, _ = logged(tmp_path, 1, ASCEND_MODULE_LOG_LEVEL="ASCENDCL=4", **quiet)
    assert not folder.exists()
    folder, _ = logged(tmp_path, 1, ASCEND_MODULE_LOG_LEVEL="ASCENDCL=4:GE=nine", **quiet)
    assert (folder / "debug/plog").exists()


def test_the_new_name_for_standard_output_is_asked_first(tmp_path):
    folder, shown = logged(tmp_path, 1, ASCEND_LOG_PRINT_TO_STDOUT="0", ASCEND_SLOG_PRINT_TO_STDOUT="1")
    assert shown == "" and folder.exists()
    _, shown = logged(tmp_path, 1, ASCEND_LOG_PRINT_TO_STDOUT="1", ASCEND_SLOG_PRINT_TO_STDOUT="0")
    assert "line 0000000" in shown


def test_the_second_folder_for_logs_is_the_work_path(tmp_path):
    work = tmp_path / "work"
    folder, _ = logged(tmp_path, 1, ASCEND_PROCESS_LOG_PATH="", ASCEND_WORK_PATH=str(work))
    assert not folder.exists() and (work / "debug/plog").exists()


def test_lines_are_there_when_the_call_returned(tmp_path):
    # A program that ends without any clean-up has lost nothing, with the variable that asks for it and without.
    for save in ("0", "1"):
        logs = tmp_path / save
        logs.mkdir()
        source = LINES.replace("return 0;", "_Exit(0);")
        (logs / "quick.c").write_text(source)
        program = logs / "quick"
        subprocess.run([*COMMAND, str(logs / "quick.c"), *LINK, "-o", str(program)], check=True)
        environment = dict(ENVIRONMENT, ASCEND_PROCESS_LOG_PATH=str(logs), ASCEND_LOG_SYNC_SAVE=save)
        del environment["ASCEND_SLOG_PRINT_TO_STDOUT"]
        subprocess.run([program, "50"], env=environment, check=True)
        (file,) = (logs / "debug/plog").iterdir()
        assert len(file.read_text().splitlines()) == 50
