"""Libraries of frameworks: the checks report what a program can change, and not what the library keeps for itself."""

import pytest
from install import LIB64, PREFIX, compile_c, environment, run, write

LIBRARY = r"""
#include "acl/acl.h"

/* As an adapter does: no aclInit, a stream for the whole process. */
int start(void)
{
    aclrtStream stream = 0;
    return aclrtSetDevice(0) + aclrtCreateStream(&stream);
}
"""
PROGRAM = r"""
int start(void);

int main(void)
{
    return start();
}
"""


@pytest.mark.parametrize("name", ["torch_npu", "own"])
def test_only_a_library_of_the_programs_own_is_checked_for_leaks_and_initialisation(name, tmp_path):
    library = compile_c(
        write(tmp_path / "library.c", LIBRARY), tmp_path / f"lib{name}.so", "-g", "-shared", "-fPIC", "-L", LIB64, "-lascendcl"
    )
    program = compile_c(
        write(tmp_path / "program.c", PROGRAM), tmp_path / "program", library, "-Wl,-rpath,$ORIGIN", "-L", LIB64, "-lascendcl"
    )
    done = run(PREFIX / "bin/jumar", "check", "--", program, env=environment(), check=False)
    found = {rule for rule in ("JMR-INIT-009", "JMR-STREAM-023") if rule in done.stderr}
    assert found == (set() if name == "torch_npu" else {"JMR-INIT-009", "JMR-STREAM-023"}), done.stderr
    assert (done.returncode == 0) == (name == "torch_npu")
