"""Marks and ranges of mstx, a header without a library of its own, are in profiles."""

import csv
import os
import subprocess
from pathlib import Path

HOME = Path(os.environ["ASCEND_HOME_PATH"])
COMPILE = ["-Wall", "-Wextra", "-Werror", "-I", str(HOME / "include")]
ENVIRONMENT = dict(os.environ, LD_LIBRARY_PATH=str(HOME / "lib64"))

PROGRAM = """
#include "acl/acl.h"
#include "mstx/ms_tools_ext.h"
#include <stdio.h>
#include <string.h>
static mstxRangeId begin(aclrtStream stream) { return mstxRangeStartA("step 1", stream); }
int main(int count, char **words) {
    aclrtStream stream;
    uint32_t device = 0;
    (void)count;
    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream) || aclprofInit(words[1], strlen(words[1]))) return 1;
    aclprofConfig *config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    if (!config || aclprofStart(config)) return 2;
    mstxRangeId id = begin(stream);
    mstxMarkA("here", NULL);
    mstxDomainHandle_t domain = mstxDomainCreateA("net");
    mstxRangeId inner = mstxDomainRangeStartA(domain, "send", NULL);
    mstxDomainMarkA(domain, "half", NULL);
    if (!id || !inner || id == inner || mstxRangeStartA(NULL, NULL) != 0) return 3;
    mstxDomainRangeEnd(domain, inner);
    mstxDomainDestroy(domain);
    mstxRangeEnd(id);
    mstxRangeEnd(0);
    if (aclrtSynchronizeStream(stream) || aclprofStop(config) || aclprofDestroyConfig(config) || aclprofFinalize()) return 4;
    return aclFinalize();
}
"""


def test_marks_and_ranges_are_in_the_profile(tmp_path):
    (tmp_path / "main.c").write_text(PROGRAM)
    subprocess.run(["cc", *COMPILE, "main.c", "-L", str(HOME / "lib64"), "-lascendcl", "-o", "main"], cwd=tmp_path, check=True)
    (tmp_path / "out").mkdir()
    subprocess.run(["./main", str(tmp_path / "out")], cwd=tmp_path, env=ENVIRONMENT, check=True)
    (path,) = (tmp_path / "out").glob("PROF_*/mindstudio_profiler_output/msprof_tx_*.csv")
    with path.open(newline="") as file:
        rows = [(row["event_type"], row["message"]) for row in csv.DictReader(file)]
    assert sorted(rows) == [
        ("marker", "here"),
        ("marker", "net: half"),
        ("marker_ex", "step 1"),
        ("marker_ex", "step 1 (stream 1)"),
        ("start/end", "net: send"),
        ("start/end", "step 1"),
    ]


def test_a_program_without_the_runtime_runs(tmp_path):
    (tmp_path / "main.cpp").write_text('#include "mstx/ms_tools_ext.h"\nint main() { mstxMarkA("x", nullptr); return mstxRangeStartA("y", nullptr) != 0; }\n')
    subprocess.run(["c++", *COMPILE, "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    subprocess.run(["./main"], cwd=tmp_path, check=True)
