"""Fuzzes the C interface of an install tree: `run.py calls|limits SECONDS [FIRST_SEED]`.

`calls`: random calls of most functions from four threads. `limits`: random sequences of calls under limits of the address space. A refusal is right;
a signal, a panic and a failure inside the library are not. Each process runs in a scratch folder, as an unprivileged user where this one is root, with
limits of memory, of the size of files and of time.
"""

import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()
sys.path.insert(0, str(HERE))

import calls  # noqa: E402

#: The user and group that own nothing, where this process is root.
UNPRIVILEGED = 65534
#: What a process may have: addresses, bytes of one file, seconds of processor time.
ADDRESSES, FILE, PROCESSOR = 16 << 30, 64 << 20, 300
#: Seconds that one process makes random calls, and that it may take altogether.
EACH, PATIENCE = 4, 120


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def unprivileged():
    return {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []} if os.geteuid() == 0 else {}


def compile_c(source, program, *more):
    # The library is found at run time: the copy beside the program.
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-g", "-w", "-I", PREFIX / "include", "-I", HERE, *more, source]
    command += ["-o", program, "-L", PREFIX / "lib64", "-lascendcl", "-pthread"]
    subprocess.run([str(word) for word in command], check=True)


def run(program, words, work, library):
    """Runs a program in an empty folder; its output, and what was wrong with how it ended."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o777)
    work.chmod(0o777)
    environment = {"PATH": os.defpath, "HOME": str(work), "TMPDIR": str(work), "LD_LIBRARY_PATH": str(library)}
    try:
        done = subprocess.run(
            [str(program), *map(str, words)], cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=PATIENCE, preexec_fn=limited, check=False, **unprivileged(),
        )
    except subprocess.TimeoutExpired as late:
        return (late.output or b"").decode(errors="replace"), f"takes more than {PATIENCE} s"
    output = done.stdout.decode(errors="replace")
    return output, None if done.returncode == 0 else f"ended with {done.returncode}"


def main(which, seconds, first):
    with tempfile.TemporaryDirectory(prefix="jumar-fuzz-") as folder:
        # Another user reads the program and the library here, wherever the tree lies.
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        library = folder / "lib"
        library.mkdir(mode=0o755)
        shutil.copy(PREFIX / "lib64/libascendcl.so", library / "libascendcl.so")
        program = folder / which
        if which == "calls":
            text, count = calls.program()
            source = folder / "calls.c"
            source.write_text(text)
            assert count > 500, f"the data in api/ gave {count} functions"
            compile_c(source, program)
        else:
            compile_c(HERE / "limits.c", program)
        seed, end = first, time.monotonic() + seconds
        total = 0
        while True:
            words = [seed, EACH] if which == "calls" else [seed]
            output, problem = run(program, words, folder / "work", library)
            if problem:
                print(output[-4000:])
                print(f"fuzz {which}: seed {seed} {problem}; again: run.py {which} 0 {seed}")
                return 1
            total += int(re.search(r"^(\d+) (?:calls of|limits)", output, re.MULTILINE)[1])
            if time.monotonic() >= end:
                break
            seed += 1
    what = "calls" if which == "calls" else "limits"
    print(f"{total} {what} with {seed - first + 1} seeds from {first} on")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("calls", "limits"):
        sys.exit("usage: run.py calls|limits SECONDS [FIRST_SEED]")
    sys.exit(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1))
