"""The zoo: small programs with a mistake each, and the exact findings that `jumar check` has to make; without the mistake, none.

A program is compiled as it is and with CLEAN. "FINDS <rule>" in it stands on the line that the finding names first.
"""

import json
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conventions"))

from install import LIB64, PREFIX, compile_c, environment  # noqa: E402

ZOO = pathlib.Path(__file__).resolve().parent / "zoo"
PROGRAMS = sorted(ZOO.glob("*.c"))
SCRIPTS = sorted(ZOO.glob("*.py"))
# What shows only when nothing runs before somebody waits for it.
LATE = ("01_",)
# Lints are told when asked for.
LINTS = ("14_",)


def wanted(source):
    found = set()
    for number, line in enumerate(source.read_text().splitlines(), 1):
        for rule in re.findall(r"FINDS (JMR-[A-Z]+-\d+)", line):
            found.add((rule, number))
    return found


def check(command, source, folder, name):
    report = folder / f"{name}.json"
    options = ["--json", report]
    if source.name.startswith(LATE):
        options.append("--late")
    if source.name.startswith(LINTS):
        options += ["--rules", "JMR-PERF"]
    done = subprocess.run(
        [PREFIX / "bin/jumar", "check", *options, "--", *command],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert report.exists(), done.stderr
    findings = json.loads(report.read_text())
    found = {(f["rule"], f["lines"][0]["line"]) for f in findings}
    return done, found


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_a_mistake_is_found_and_its_absence_is_not(source, tmp_path):
    expected = wanted(source)
    assert expected, "a program of the zoo says what is found in it"
    link = ["-g", "-pthread", "-L", LIB64, "-lascendcl"]
    wrong = compile_c(source, tmp_path / "wrong", *link)
    right = compile_c(source, tmp_path / "right", "-DCLEAN", *link)
    done, found = check([wrong], source, tmp_path, "wrong")
    assert found == expected, done.stderr
    assert done.returncode != 0
    done, found = check([right], source, tmp_path, "right")
    assert found == set(), done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("source", SCRIPTS, ids=lambda path: path.stem)
def test_a_mistake_in_python_is_found_at_its_line(source, tmp_path):
    expected = wanted(source)
    assert expected, "a program of the zoo says what is found in it"
    done, found = check([sys.executable, source], source, tmp_path, "wrong")
    assert found == expected, done.stderr
    done, found = check([sys.executable, source, "clean"], source, tmp_path, "right")
    assert found == set(), done.stderr
    assert done.returncode == 0, done.stderr
