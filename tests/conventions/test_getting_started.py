"""The commands of docs/getting-started.md, in order and in one shell, as a reader would enter them."""

import re

from install import PREFIX, ROOT, run


def test_the_commands_on_the_page_work(tmp_path):
    page = (ROOT / "docs/getting-started.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5 and blocks[0].strip() == "cargo xtask demo", "the demo has a test of its own"
    script = "".join(blocks[1:])
    # The reader's folders become the test's: the tree under test, a folder of its own, and the way back from there.
    for theirs, ours in (
        ("../../examples", f"{ROOT}/examples"),
        ("target/jumar", PREFIX),
        ("target/getting-started", tmp_path),
    ):
        assert theirs in script
        script = script.replace(theirs, str(ours))
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/"}
    output = run("bash", "-c", f"set -eu\n{script}", env=bare, cwd=ROOT).stdout
    accuracies = re.findall(r"^accuracy: .*", output, re.MULTILINE)
    assert accuracies == ["accuracy: 98.8 % (320 images)"] * 3
    assert (tmp_path / "timeline.json").exists()
