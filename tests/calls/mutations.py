"""Shows that tests find faults: applies one change to a source file at a time, builds, runs the generated calls that should find it, and puts
the file back.

    mutations.py [--list FILE] [--only WORD] [--seconds N] [--seed N]

Each entry of the list (TOML) is a `[[mutation]]` with

    name        what is wrong then
    file        the source file, and `old`, text that it has once, and `new`, what is there instead
    families    words of families whose calls run (`run.py --family`); `operators`: only these
    large       true: calls with large tensors run (`run.py --large`), as many as `calls` says
    corpus      words of programs whose findings are checked (`pytest tests/diag/test_corpus.py -k`): for a change in a check

A mutation is found if a run fails that passes without it. The status is 1 if one is not found or cannot be judged. A file that a killed run left
changed is put back when the next one begins.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

try:
    import tomllib
except ImportError:
    import tomli as tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: The originals of changed files, the output of builds and runs, and an install tree that holds the library alone.
FOLDER = ROOT / "target/mutations"
LIBRARY = "libascendcl.so"


def target():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")


class Change:
    """A file that is changed while the block runs."""

    def __init__(self, file, old, new):
        self.path, self.old, self.new = ROOT / file, old, new
        self.original = FOLDER / "originals" / file

    def __enter__(self):
        text = self.path.read_text()
        if text.count(self.old) != 1:
            raise LookupError(f"{self.path.relative_to(ROOT)} has the text {text.count(self.old)} times; it has to have it once")
        self.original.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.path, self.original)
        self.path.write_text(text.replace(self.old, self.new))

    def __exit__(self, *_):
        restore(self.original)


def restore(original):
    """Puts a file back. It is newer then than what was built from the changed one."""
    shutil.copyfile(original, ROOT / original.relative_to(FOLDER / "originals"))
    original.unlink()


def restore_all():
    """Puts back what a run that was killed left changed."""
    for original in sorted((FOLDER / "originals").rglob("*")):
        if original.is_file():
            print(f"restored {original.relative_to(FOLDER / 'originals')}, which an earlier run left changed", flush=True)
            restore(original)


def run(command, log, **variables):
    """Runs a command with its output in a file. Returns its status and its output."""
    path = FOLDER / "logs" / f"{log}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        status = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **variables}).returncode
    return status, path.read_text(errors="replace")


class Builds:
    """What calls and programs run against: the library alone, or a whole install tree where a check is changed."""

    def __init__(self):
        self.prefix = FOLDER / "prefix"
        (self.prefix / "lib64").mkdir(parents=True, exist_ok=True)
        link = self.prefix / "lib64" / LIBRARY
        if link.is_symlink():
            link.unlink()
        link.symlink_to(target() / "release" / LIBRARY)

    def build(self, whole, log):
        # The same packages as an install tree, so that its builds and these share their features.
        packages = ["-p", "jumar-capi", "-p", "jumar-py", "-p", "jumar-cli"]
        command = ["cargo", "xtask", "dist"] if whole else ["cargo", "build", "--release", "--locked", *packages]
        return run(command, log)

    def tree(self, whole):
        return str(ROOT / "target/jumar" if whole else self.prefix)


def runs(entry, options):
    """The commands that may find a mutation."""
    python = sys.executable
    calls = [python, str(HERE / "run.py"), "--seed", str(options.seed)]
    kinds = [["--family", family, "--seconds", str(entry.get("seconds", options.seconds))] for family in entry.get("families", [])]
    if entry.get("large"):
        kinds.append(["--large", "--processes", "1", "--calls", str(entry.get("calls", 8))])
    for kind in kinds:
        for operator in entry.get("operators") or [None]:
            yield [*calls, *kind, *(["--operator", operator] if operator else [])]
    if entry.get("corpus"):
        yield [python, "-m", "pytest", "-q", "-x", "tests/diag/test_corpus.py", "-k", " or ".join(entry["corpus"])]


def finding(output):
    """The line that says what failed."""
    found = re.search(r"^\S+: \w[\w ]*, \d+ of \d+ calls.*$|^FAILED .*$|^ERROR .*$", output, re.MULTILINE)
    lines = [line for line in output.splitlines() if line.strip()]
    if not found:
        return lines[-1] if lines else "no output"
    rest = output[found.end():].strip().splitlines()
    return found[0].partition("; again")[0] + (f": {rest[0].strip()}" if rest and found[0][0] != "F" else "")


class Judge:
    """Runs what may find mutations. What the unchanged sources do is run once, for all entries."""

    def __init__(self, options):
        self.options, self.builds, self.before = options, Builds(), {}

    def failing(self, entry, log):
        """Returns what fails first: `None` where nothing does."""
        for number, command in enumerate(runs(entry, self.options)):
            status, output = run(command, f"{log}-{number}", JUMAR_PREFIX=self.builds.tree(bool(entry.get("corpus"))))
            if status < 0:
                raise LookupError(f"the run was ended by signal {-status}")
            if status:
                return finding(output)
        return None

    def unchanged(self, entries):
        """Builds the unchanged sources, and runs what is run for each entry."""
        status, output = self.builds.build(any(entry.get("corpus") for entry in entries), "before-build")
        if status:
            raise SystemExit("the unchanged sources do not build: " + finding(output))
        for number, entry in enumerate(entries):
            key = repr(list(runs(entry, self.options)))
            if key not in self.before:
                self.before[key] = self.failing(entry, f"before-{number}")

    def judge(self, entry, log):
        """Returns whether a mutation is found, and by what."""
        commands = list(runs(entry, self.options))
        if not commands:
            return None, "no families, large or corpus: nothing is run"
        before = self.before[repr(commands)]
        if before:
            return None, f"it fails without the change as well: {before}"
        with Change(entry["file"], entry["old"], entry["new"]):
            status, output = self.builds.build(bool(entry.get("corpus")), f"{log}-build")
            if status:
                return None, "the changed sources do not build: " + next((line for line in output.splitlines() if line.startswith("error")), finding(output))
            found = self.failing(entry, log)
        return bool(found), found or "every run passed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=pathlib.Path, default=HERE / "mutations.toml")
    parser.add_argument("--only", default="", help="mutations whose name has this word")
    parser.add_argument("--seconds", type=int, default=30, help="how long calls of a family are made")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # A run that is ended puts its file back like one that fails.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    restore_all()
    entries = [entry for entry in tomllib.loads(options.list.read_text()).get("mutation", []) if options.only in entry["name"]]
    if not entries:
        print("the list has no such mutation")
        return 1
    judge, counts = Judge(options), {"found": 0, "not found": 0, "not judged": 0}
    judge.unchanged(entries)
    try:
        for entry in entries:
            began = time.monotonic()
            log = re.sub(r"\W+", "-", entry["name"]).strip("-")[:60]
            try:
                found, why = judge.judge(entry, log)
            except LookupError as error:
                found, why = None, str(error)
            verdict = {True: "found", False: "not found", None: "not judged"}[found]
            counts[verdict] += 1
            print(f"{verdict}: {entry['name']} ({entry['file']}), {time.monotonic() - began:.0f} s\n    {why}", flush=True)
    finally:
        restore_all()
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()) + f" of {len(entries)} mutations")
    # What was built last has the change.
    judge.builds.build(any(entry.get("corpus") for entry in entries), "after")
    return 0 if counts["found"] == len(entries) else 1


if __name__ == "__main__":
    sys.exit(main())
