"""The tutorial's program, with and without its mistake, has the findings that docs/tutorial-check.md shows."""

import re
import subprocess

from checked import check
from install import PREFIX, ROOT

PAGE = (ROOT / "docs/tutorial-check.md").read_text()
PROGRAM, FIX = re.findall(r"^```c\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def build(folder, name, text):
    (folder / f"{name}.c").write_text(text)
    subprocess.run(
        ["cc", "-g", f"{name}.c", "-o", name, "-I", PREFIX / "include", "-L", PREFIX / "lib64", "-lascendcl"],
        cwd=folder, check=True, timeout=60,
    )
    return folder / name


def test_the_findings_are_those_on_the_page(tmp_path):
    shown = re.findall(r"^(JMR-\S+) \[.*\n  now +race\.c:(\d+)", PAGE, re.MULTILINE)
    assert len(shown) == 3
    _, findings = check([build(tmp_path, "race", PROGRAM)], tmp_path / "report.json", cwd=tmp_path)
    found = [(one["rule"], str(one["lines"][0]["line"])) for one in findings]
    assert found == shown


def test_the_fix_on_the_page_removes_them(tmp_path):
    # The page shows the changed lines in three groups: the first ones belong to the declarations, the others around the fill and the end.
    declared, around_fill, at_end = (group.splitlines(keepends=True) for group in FIX.split("    ...\n"))
    lines = []
    for line in PROGRAM.splitlines(keepends=True):
        if "aclrtMalloc(&image" in line:
            lines += declared[1:]
        if "aclrtMemcpyAsync(result" in line:
            lines += [new for new in around_fill if new not in PROGRAM]
        if "aclrtDestroyStream(consumer)" in line:
            lines += at_end
        lines.append(line)
        if "aclrtStream producer" in line:
            lines += declared[:1]
    done, findings = check([build(tmp_path, "fixed", "".join(lines))], tmp_path / "report.json", cwd=tmp_path)
    assert findings == []
    assert done.returncode == 0 and done.stdout == "first byte: 7\n"
