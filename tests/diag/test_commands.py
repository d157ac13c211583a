"""`jumar check --late`, `jumar explore`, `jumar faults`, and the forms in which findings are written."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conventions"))

from install import LIB64, PREFIX, compile_c, environment  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
JUMAR = PREFIX / "bin/jumar"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    made = {}

    def make(name, where="programs"):
        if name not in made:
            source = HERE / where / name
            made[name] = compile_c(source, folder / source.stem, "-g", "-pthread", "-L", LIB64, "-lascendcl")
        return made[name]

    return make


def jumar(*words, **more):
    return subprocess.run(
        [JUMAR, *words], env=environment(**more), capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("name, wrong", [("read_early.c", "219\n"), ("read_unordered.c", "1\n")])
def test_late_mode_makes_a_missing_wait_wrong_each_time(program, name, wrong):
    app = program(name)
    poisoned = {"JUMAR_CHECK": "1", "JUMAR_LATE": "1"}
    seen = [
        subprocess.run([app], env=environment(**poisoned), capture_output=True, text=True, timeout=60).stdout
        for _ in range(100)
    ]
    assert seen == [wrong] * 100
    for way in ("wait", "poll") if name == "read_early.c" else ("wait",):
        done = jumar("check", "--late", "--", app, way)
        assert done.stdout == "7\n", done.stderr
        assert done.returncode == 0, done.stderr


def order(app, seed, tmp_path):
    trace = tmp_path / f"{seed}.json"
    trace.unlink(missing_ok=True)
    done = jumar("check", "--seed", str(seed), "--", app, JUMAR_TRACE=str(trace))
    events = json.loads(trace.read_text())["traceEvents"]
    streams = {
        (e["pid"], e["tid"]) for e in events if e["ph"] == "M" and "stream" in e.get("args", {}).get("name", "")
    }
    tasks = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) in streams]
    return [(e["tid"], e["name"]) for e in sorted(tasks, key=lambda e: float(e["ts"]))], done.stdout


def test_a_seed_gives_the_same_run_and_others_give_others(program, tmp_path):
    app = program("four_streams.c")
    runs = {seed: order(app, seed, tmp_path) for seed in range(1, 21)}
    assert len({tuple(tasks) for tasks, _ in runs.values()}) >= 5
    assert len({output for _, output in runs.values()}) >= 2
    for seed in (3, 7, 11):
        assert order(app, seed, tmp_path) == runs[seed]


def test_exploring_tells_the_kinds_of_runs_apart(program):
    done = jumar("explore", "-n", "12", "--", program("four_streams.c"))
    kinds = re.search(r"12 runs, (\d+) kinds", done.stdout)
    assert kinds and int(kinds[1]) >= 2, done.stdout
    assert "JMR-SYNC-001" in done.stdout
    assert done.returncode == 1


def test_a_fault_drill_finds_the_leak_and_the_ignored_answer(program):
    done = jumar("faults", "--", program("error_paths.c"))
    lines = done.stdout.splitlines()

    def line(call, turn):
        [found] = [n for n, text in enumerate(lines) if re.match(rf"{call} +{turn} ", text)]
        return lines[found], lines[found + 1]

    assert "handled (status 2)" in line("aclInit", 1)[0], done.stdout
    assert "handled (status 3)" in line("aclrtSetDevice", 1)[0], done.stdout
    what, leak = line("aclrtMalloc", 2)
    assert "leaks" in what and "JMR-MEM-008 error_paths.c:18" in leak, done.stdout
    assert "ignored" in line("aclrtMemset", 2)[0], done.stdout
    assert "handled (status 6)" in line("aclrtMemcpy", 1)[0], done.stdout
    assert done.returncode == 1


def test_findings_as_sarif_and_against_a_baseline(program, tmp_path):
    app = program("04_freed_too_early.c", "zoo")
    sarif, known = tmp_path / "found.sarif", tmp_path / "known.txt"
    done = jumar("check", "--sarif", sarif, "--save-baseline", known, "--", app)
    assert done.returncode == 1
    assert re.search(
        r"JMR-SYNC-007 \[error\] .*\n  now      04_freed_too_early.c:15  main\n.*\n  earlier  04_freed_too_early.c:11  main",
        done.stderr,
    ), done.stderr
    [result] = json.loads(sarif.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "JMR-SYNC-007" and result["level"] == "error"
    done = jumar("check", "--baseline", known, "--", app)
    assert done.returncode == 0, done.stderr


def test_without_the_wrapper_the_environment_is_enough(program):
    app = program("04_freed_too_early.c", "zoo")
    done = subprocess.run(
        [app], env=environment(JUMAR_CHECK="1"), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert "JMR-SYNC-007" in done.stderr
    assert "jumar check: 1 finding, 1 of severity error" in done.stderr


def test_a_report_is_one_page_with_the_findings_in_it(program, tmp_path):
    trace, found, page = tmp_path / "run.json", tmp_path / "found.json", tmp_path / "run.html"
    app = program("04_freed_too_early.c", "zoo")
    jumar("check", "--json", found, "--", app, JUMAR_TRACE=str(trace))
    done = jumar("report", trace, "--findings", found, "-o", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "JMR-SYNC-007" in text and "aclrtMemsetAsync" in text
    assert not re.search(r"(src|href)=", text), "a page of its own needs nothing from elsewhere"
