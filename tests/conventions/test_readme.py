"""The programs in README.md do what README.md says."""

import itertools
import os
import re
import subprocess
import sys

import install

README = (install.ROOT / "README.md").read_text()
JUMAR = install.PREFIX / "bin/jumar"


def block(language):
    """The only block of a language."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"README.md has {len(blocks)} blocks of {language}"
    return blocks[0]


def promised(command):
    """What README.md shows below a command, up to the next command or the block's end."""
    lines = README.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("$ ") and line.endswith(command):
            shown = list(itertools.takewhile(lambda line: not line.startswith(("$ ", "```")), lines[at + 1 :]))
            # The same command may stand in a list of commands, where nothing is shown.
            if shown:
                return shown
    raise AssertionError(f"README.md does not show what {command} prints")


def run(*words):
    # A fresh shell: nothing that this test runs in may help.
    kept = ("PATH", "HOME", "LANG", "TMPDIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    result = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_the_c_program_of_the_readme_prints_what_it_promises(tmp_path):
    source = tmp_path / "app.c"
    source.write_text(block("c"))
    app = tmp_path / "app"
    run(
        "cc",
        "-Wall",
        "-Wextra",
        "-Werror",
        source,
        "-o",
        app,
        "-I",
        install.PREFIX / "include",
        "-L",
        install.LIB64,
        "-lascendcl",
    )
    assert run(JUMAR, "run", "--", app) == promised("jumar run -- ./app")


def test_the_python_program_of_the_readme_prints_what_it_promises(tmp_path):
    source = tmp_path / "app.py"
    source.write_text(block("python"))
    assert run(JUMAR, "run", "--", sys.executable, source) == promised("jumar run -- python app.py")
