"""Commands that cannot do their work: a full disk, settings that do not exist, programs that use no device. None of them ends with
status 0, and each says why."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys

import pytest

from test_commands import JUMAR, jumar, program  # noqa: F401

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "conventions"))

from install import environment  # noqa: E402

# A finding is longer than this, and what a command itself writes before it runs the program is shorter.
LIMIT_BYTES = 64


def with_full_disk(*words, **more):
    """Runs a command whose files cannot grow beyond a limit, as on a full disk: each write answers an error."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))

    return subprocess.run(
        [JUMAR, *words],
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        preexec_fn=limit,
        restore_signals=False,
    )


@pytest.mark.parametrize("command", [["check"], ["explore", "-n", "2"], ["faults", "--only", "aclrtMalloc"]])
def test_findings_that_do_not_fit_on_the_disk_are_an_error(program, command):  # noqa: F811
    app = program("04_freed_too_early.c", "corpus")
    done = with_full_disk(*command, "--", app)
    assert done.returncode == 1, done
    assert "so the result is not known" in done.stderr and "disk full" in done.stderr, done.stderr
    assert "0 findings" not in done.stderr and "kind" not in done.stdout and "need a look" not in done.stdout


def test_a_report_of_the_programs_own_that_does_not_fit_is_reported(program, tmp_path):  # noqa: F811
    app, report = program("04_freed_too_early.c", "corpus"), tmp_path / "report"
    done = with_full_disk("run", "--", app, JUMAR_CHECK="1", JUMAR_CHECK_REPORT=str(report))
    assert f"{report} is not complete" in done.stderr, done.stderr


@pytest.mark.parametrize("option", ["--json", "--sarif", "--save-baseline"])
def test_a_file_of_findings_is_written_completely_or_not_at_all(program, tmp_path, option):  # noqa: F811
    app, file = program("04_freed_too_early.c", "corpus"), tmp_path / "file"
    file.write_text("old")
    done = jumar("check", option, "/dev/full", "--", app)
    assert done.returncode != 0 and "/dev/full" in done.stderr, done.stderr
    done = jumar("check", option, file, "--", app)
    assert "JMR-" in file.read_text() and os.listdir(tmp_path) == ["file"], done.stderr


@pytest.mark.parametrize("command", ["check", "explore", "faults"])
def test_a_program_without_a_device_was_not_checked(command):
    done = jumar(command, "--", "true")
    assert done.returncode == 1 and "nothing was checked" in done.stderr, done.stderr
    assert "0 findings" not in done.stderr


def test_the_files_of_a_run_are_private_and_removed(program, tmp_path):  # noqa: F811
    # Two folders that an earlier version, or another user, may have left there.
    for number in range(os.getpid(), os.getpid() + 40):
        old = tmp_path / f"jumar-check-{number}"
        old.mkdir()
        (old / "findings").write_text(json.dumps({"rule": "JMR-OLD", "severity": "error"}) + "\n")
    before = sorted(os.listdir(tmp_path))
    show = 'import os; print(oct(os.stat(os.path.dirname(os.environ["JUMAR_CHECK_REPORT"])).st_mode)); import acl; acl.rt.get_device_count()'
    done = jumar("check", "--", sys.executable, "-c", show, TMPDIR=str(tmp_path))
    assert stat.S_IMODE(int(done.stdout.split()[0], 8)) == 0o700, done
    assert "JMR-OLD" not in done.stderr, done.stderr
    assert sorted(os.listdir(tmp_path)) == before


SETTINGS = {
    "JUMAR_CHECK": "JMR-SYNK",
    "JUMAR_CHECK_BASELINE": "/nowhere/known.txt",
    "JUMAR_CHECK_LANGUAGE": "xx",
    "JUMAR_CHECK_PROFILES": "Pentium",
    "JUMAR_CHECK_PROTECT": "9",
    "JUMAR_LATE": "7",
    "JUMAR_SEED": "abc",
    "JUMAR_ORDER": "/nowhere/order",
    "JUMAR_ORDER_LOG": "/nowhere/tasks",
    "JUMAR_FAULT": "aclrtMallok#1",
    "JUMAR_FAULT_LOG": "/nowhere/calls",
    "JUMAR_CHECK_REPORT": "/nowhere/findings",
    "JUMAR_PROFILE": "/dev/zero",
}
FIRST_CALL = """
import acl
print(acl.init(), acl.rt.set_device(0), acl.get_recent_err_msg())
"""


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_does_not_exist_is_an_error_that_names_it(name):
    more = {"JUMAR_CHECK": "1", name: SETTINGS[name]}
    done = jumar("run", "--", sys.executable, "-c", FIRST_CALL, **more)
    assert name in done.stdout or SETTINGS[name] in done.stdout, done
    assert done.stdout.split()[1] != "0", done.stdout


def test_a_setting_that_is_not_text_is_an_error_that_names_it():
    more = environment()
    done = subprocess.run(
        [JUMAR, "run", "--", sys.executable, "-c", FIRST_CALL],
        env={os.fsencode(name): os.fsencode(value) for name, value in more.items()} | {b"JUMAR_SEED": b"1\xff"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "JUMAR_SEED" in done.stdout and "UTF-8" in done.stdout, done


def test_rules_that_do_not_exist_are_refused_before_the_program_runs(tmp_path):
    done = jumar("check", "--rules", "JMR-SYNK", "--", "touch", tmp_path / "ran")
    assert done.returncode == 1 and '"JMR-SYNK"' in done.stderr, done.stderr
    assert not (tmp_path / "ran").exists()


def test_timelines_that_are_devices_or_pipes_are_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for timeline in (pipe, "/dev/zero"):
        done = jumar("report", timeline, "-o", tmp_path / "page.html")
        assert done.returncode == 1 and "not a regular file" in done.stderr, done.stderr
