"""What kernels in Ascend C cost beside a plain loop, with and without checks, and what compiling one takes: `cargo xtask bench ascendc` runs this.

Prints a line of JSON for each figure, as jumar-bench does.
"""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()
BISHENG = PREFIX / "bin/bisheng"

# The check level, what it checks, the largest ratio to the plain loop, and the number of measurements.
LEVELS = [
    (0, "without checks", 1.5, 21),
    (1, "bounds, alignment, queues", 3.0, 21),
    (2, "order of pipes and blocks too", 10.0, 9),
]
COMPILED = ["examples/ascendc/vector_add/add.cpp", "examples/ascendc/softmax/softmax.asc", "examples/ascendc/matmul/matmul.asc"]
COMPILE_SECONDS = 6.0


def bisheng(*arguments, cwd):
    subprocess.run([str(one) for one in (BISHENG, *arguments)], cwd=cwd, check=True)


def show(what, value, unit, target, limit=None):
    line = {"what": what, "value": value, "unit": unit, "target": target}
    if limit:
        line["limit"] = limit
    print(json.dumps(line), flush=True)


def additions(folder):
    every_core = sorted(os.sched_getaffinity(0))
    for level, _, _, _ in LEVELS:
        bisheng("-O3", f"-DJUMAR_ASCENDC_CHECK={level}", ROOT / "benches/ascendc.asc", "-o", f"add{level}", "-lpthread", cwd=folder)
    one = every_core[:1]
    for cores in [one, every_core]:
        for level, checks, most, measurements in LEVELS:
            if level == 2 and cores is not one:
                continue  # The blocks run on one worker.
            output = subprocess.run(
                [folder / f"add{level}", str(len(cores)), str(measurements)],
                check=True,
                capture_output=True,
                text=True,
                timeout=600,
                preexec_fn=lambda cores=cores: os.sched_setaffinity(0, cores),
            ).stdout
            for dtype, kernel, loop in map(str.split, output.splitlines()):
                where = "1 core" if cores is one else "all cores"
                what = f"Add of two tensors of 64 MiB, {dtype}, tiles of 8 KiB, {where}, {checks}"
                show(what, float(kernel), "ms", {"Ratio": most}, ["plain loop", float(loop)])


def compilation(folder):
    for source in COMPILED:
        times = []
        for _ in range(3):
            begin = time.monotonic()
            bisheng("-c", "-x", "asc", "-O2", ROOT / source, "-o", "kernel.o", cwd=folder)
            times.append(time.monotonic() - begin)
        show(f"compile {source}, -O2", statistics.median(times), "s", {"Value": COMPILE_SECONDS})


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        additions(folder)
        compilation(folder)


if __name__ == "__main__":
    main()
