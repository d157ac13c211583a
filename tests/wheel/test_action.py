"""`action.yml` and the workflows of `examples/ci`: the steps run as a service runs them, on the wheel of `target/wheels`."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from conftest import ROOT, clean_environment

ACTION = (ROOT / "action.yml").read_text()
WORKFLOWS = sorted([*(ROOT / "examples/ci").glob("*.yml"), *(ROOT / ".github/workflows").glob("*.yml"), ROOT / "action.yml"])


def scripts():
    """The text of each step that runs a script, by name."""
    steps = re.findall(r"    - name: (.*)\n(?:      .*\n)*?      run: \|\n((?:        .*\n)+)", ACTION)
    return {name: textwrap.dedent(text) for name, text in steps}


class Runner:
    """A machine of the service: what steps write for later steps, and the interpreter that the job set up."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {name: folder / name.lower() for name in ("GITHUB_PATH", "GITHUB_ENV")}
        for file in self.files.values():
            file.write_text("")
        subprocess.run([sys.executable, "-m", "venv", folder / "python"], check=True)

    def environment(self):
        paths = [*reversed(self.files["GITHUB_PATH"].read_text().split()), str(self.folder / "python/bin"), os.environ["PATH"]]
        set_before = dict(line.split("=", 1) for line in self.files["GITHUB_ENV"].read_text().splitlines())
        files = {name: str(file) for name, file in self.files.items()}
        return clean_environment(**files, **set_before, RUNNER_TEMP=str(self.folder), PATH=":".join(paths))

    def run(self, step, **inputs):
        return self.shell(scripts()[step], **{f"JUMAR_{name.upper()}": value for name, value in inputs.items()})

    def shell(self, text, **environment):
        # As the service starts bash.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
        return subprocess.run(
            command, cwd=self.folder, env={**self.environment(), **environment}, capture_output=True, text=True, timeout=120
        )


@pytest.fixture(scope="module")
def runner(tmp_path_factory, wheel):
    runner = Runner(tmp_path_factory.mktemp("runner"))
    done = runner.run("Install Jumar", version="", wheel=str(wheel))
    assert done.returncode == 0, done.stdout + done.stderr
    return runner


def test_a_program_with_a_mistake_fails_the_step_and_is_annotated(runner):
    shutil.copy(ROOT / "tests/diag/corpus/04_freed_too_early.py", runner.folder / "app.py")
    done = runner.run("Check", command="python app.py", options="--late", sarif="a b.sarif")
    assert done.returncode == 1, done.stderr
    annotation = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert len(annotation) == 1 and re.match(r"::error file=app\.py,line=14,title=JMR-SYNC-007 ", annotation[0]), done.stdout
    [run] = json.loads((runner.folder / "a b.sarif").read_text())["runs"]
    [location] = run["results"][0]["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "app.py", "uriBaseId": "SRCROOT"}


def test_a_correct_program_passes_with_and_without_checks(runner):
    shutil.copy(ROOT / "examples/ci/pyacl/scale.py", runner.folder)
    for step, options in (("Check", "--late"), ("Run", "--devices 2")):
        done = runner.run(step, command="python scale.py", options=options, sarif="jumar.sarif")
        assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr


def test_steps_that_follow_build_with_the_headers_and_libraries(runner):
    shutil.copy(ROOT / "examples/ci/cmake/scale.cpp", runner.folder)
    build = 'c++ -std=c++17 -g scale.cpp -o scale -I "$ASCEND_HOME_PATH/include" -L "$ASCEND_HOME_PATH/lib64" -lascendcl'
    done = runner.shell(build)
    assert done.returncode == 0, done.stderr
    done = runner.run("Check", command="./scale", options="", sarif="jumar.sarif")
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr


def test_gitlab_reports_findings_as_tests_and_at_lines(runner):
    text = (ROOT / "examples/ci/gitlab.yml").read_text()
    lines = re.search(r"  script:\n((?:    - .*\n)+)", text)[1]
    script = re.sub(r"^    - ", "", lines, flags=re.MULTILINE)
    shutil.copy(ROOT / "tests/diag/corpus/04_freed_too_early.py", runner.folder / "app.py")
    done = runner.shell(script, JUMAR_BUILD="", JUMAR_COMMAND="python app.py")
    assert done.returncode == 1, done.stderr
    assert '<failure type="error"' in (runner.folder / "jumar.xml").read_text()
    [entry] = json.loads((runner.folder / "jumar.json").read_text())
    assert entry["location"] == {"path": "app.py", "lines": {"begin": 14}} and entry["check_name"] == "JMR-SYNC-007"


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_of_others_are_pinned_by_commit_and_permissions_are_named(workflow):
    text = workflow.read_text()
    for used in re.findall(r"uses: (\S+)", text):
        assert used.startswith(("OWNER/jumar@", "./")) or re.search(r"@[0-9a-f]{40}$", used), f"{used} can change"
    if workflow.name not in ("action.yml", "gitlab.yml"):
        assert "permissions:" in text


def test_inputs_are_never_a_part_of_a_script():
    for name, text in scripts().items():
        assert "${{" not in text, name
