"""Programs of the other suites under `jumar check`: a clean one gets no finding of severity error, and one that makes mistakes on
purpose gets the findings of programs.toml. With --late each prints what it prints without, and ends."""

import json
import pathlib
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conventions"))

from install import PREFIX, environment  # noqa: E402

DATA = tomllib.loads((HERE / "programs.toml").read_text())
#: A program that takes longer hangs. Libraries without optimization, on a busy machine, need a minute for some.
LIMIT = 240


def check(command, report, *options, **how):
    """Runs a command under the checks, and returns its exit status and the findings."""
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [str(word) for word in (PREFIX / "bin/jumar", "check", "--json", report, *options, "--", *command)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, **how,
    )
    assert report.exists(), done.stderr
    return done, json.loads(report.read_text())


def reported(findings):
    return sorted({f"{one['rule']} {one['lines'][0]['call']}" for one in findings})


def by_chance(known, finding):
    """Whether chance decides if a program has this finding: `may` has it, or its rule for every call."""
    return finding in known.get("may", []) or finding.split()[0] in known.get("may", [])


def judge(name, command, folder, env=None, plain=None):
    """Runs a program under the checks, and again with every task delayed; `plain` is what it prints without."""
    known = DATA["program"].get(name, {})
    env = environment() if env is None else env
    plain = subprocess.run(
        [str(word) for word in command], env=env, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT,
    ) if plain is None else plain
    for late in ([], ["--late"]):
        if late and "not_late" in known:
            continue
        done, findings = check(command, folder / "findings.json", *late, env=env, cwd=folder)
        where = (name, late, done.stderr)
        errors = [one for one in findings if one["severity"] == "error"]
        if "may" in known or "reported" in known:
            unexpected = [one for one in reported(findings) if not by_chance(known, one)]
            assert unexpected == sorted(known.get("reported", [])), where
        else:
            assert reported(errors) == [], where
        # The program's own status, where nothing is found or it is none; 1 says that something was found.
        wanted = plain.returncode or int(bool(findings))
        assert done.returncode == wanted, where
        if "prints" not in known:
            assert done.stdout == plain.stdout, where
