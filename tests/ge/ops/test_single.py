"""Every operator of the Graph Engine, called by its type through aclop: the cases of table/, compared with NumPy."""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()


def test_every_case_that_is_a_single_call_gives_the_numbers_of_its_graph():
    env = dict(os.environ, LD_LIBRARY_PATH=str(PREFIX / "lib64"), JUMAR_PREFIX=str(PREFIX))
    done = subprocess.run([sys.executable, HERE / "single.py"], env=env, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    counts = re.search(r"^(\d+) cases of (\d+) operators, 0 wrong$", done.stdout, re.MULTILINE)
    assert counts, done.stdout[-2000:]
    # Most operators and most cases: what is left out are graphs of several nodes.
    assert int(counts[1]) > 2200 and int(counts[2]) > 280, counts[0]
