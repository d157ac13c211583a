"""Collectives of four ranks on two cores, beside Open MPI in shared memory, Gloo's own ring and plain copies: `cargo xtask bench
collectives` runs this. All take turns, so that the ratios are of one run. Each figure is the median of all turns.

Prints a line of JSON for each figure, as jumar-bench does.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()
SOURCES = ROOT / "benches/jumar-bench/collectives"
CORES = 2
LIMIT_S = 300
SMALL, MIDDLE, LARGE = 4, 64 << 10, 16 << 20
NAMES = {SMALL: "4 B", MIDDLE: "64 KiB", LARGE: "16 MiB"}
MPI, RING, COPIES = "Open MPI", "Gloo's ring", "every rank copies as much"
# The most that an AllReduce of processes may take, relative to Open MPI in shared memory, by size; and threads relative to that.
MOST_OF_MPI = {SMALL: 1.2, MIDDLE: 0.8, LARGE: 0.7}
MOST_OF_THREADS = 0.8
# The same for operations that only move data, relative to the copies.
MOST_OF_COPIES = 1.3
# The same for an AllReduce between machines, relative to Gloo's ring.
MOST_OF_RING = {MIDDLE: 1.0, LARGE: 1.1}


def built(compiler, name, folder, *libraries):
    """Compiles a program; None without the compiler or the library."""
    source = next(SOURCES.glob(f"{name}.c*"))
    command = [compiler, "-O2", source, "-o", folder / name, *libraries]
    if shutil.which(compiler) is None:
        return None
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return folder / name if done.returncode == 0 else None


def measured(command, **variables):
    """Runs a program on two cores and reads its figures."""
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    done = subprocess.run(
        [str(word) for word in command],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} {command[1]}: {done.stderr.strip() or done.returncode}")
    rows = (line.split() for line in done.stdout.splitlines())
    return {(name, int(size)): float(value) for name, size, value in (row for row in rows if len(row) == 3)}


def show(what, value, target=None, limit=None, also=()):
    line = {"what": what, "value": value, "unit": "us", "target": target, "limit": limit, "also": list(also)}
    print(json.dumps(line), flush=True)


def contestants(folder, rounds):
    """Lists what is measured, by name, and says what is not installed."""
    jumar = built("cc", "jumar", folder, f"-I{PREFIX}/include", f"-L{PREFIX}/lib64", "-lhccl", "-lascendcl", "-lpthread")
    if jumar is None:
        sys.exit("benches/jumar-bench/collectives/jumar.c does not compile")
    devices = {"JUMAR_DEVICES": "4"}
    found = {
        COPIES: lambda: measured([jumar, "copies", rounds]),
        "threads": lambda: measured([jumar, "threads", rounds], **devices),
        "processes": lambda: measured([jumar, "processes", rounds], **devices),
    }
    mpi = built("mpicc", "mpi", folder)
    if mpi is not None and shutil.which("mpirun") is not None:
        # Ranks that poll would keep each other from running.
        words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", "4", mpi, rounds]
        found[MPI] = lambda: measured(words)
    ring = built("c++", "gloo", folder, "-lgloo", "-lpthread")
    if ring is not None:

        def run_ring():
            with tempfile.TemporaryDirectory() as store:
                return measured([ring, rounds, store])

        found[RING] = run_ring
        plugin = ROOT / "plugins/gloo"
        subprocess.run(["make", "-C", plugin], check=True, capture_output=True)
        libraries = os.pathsep.join([str(plugin), os.environ.get("LD_LIBRARY_PATH", "")])
        network = devices | {"HCCL_IF_IP": "127.0.0.1", "LD_LIBRARY_PATH": libraries}
        if os.geteuid() == 0:
            found["network"] = lambda: measured([jumar, "network", rounds, 0, 3], **network)
        else:
            print("missing: Jumar over Gloo (process namespaces need the administrator)")
    return found


def rows(figures):
    absent = "" if MPI in figures else f"; {MPI}: not installed"

    def beside(key, *names):
        return [[name, figures[name][key]] for name in names if key in figures.get(name, {})]

    for size, name in NAMES.items():
        key = ("AllReduce", size)
        for way, share in (("processes", 1.0), ("threads", MOST_OF_THREADS)):
            others = beside(key, RING) + ([[COPIES, figures[COPIES]["copy", size]]] if size == LARGE else [])
            what, value = f"AllReduce float32, {name}, 4 {way}{absent}", figures[way][key]
            if MPI in figures:
                show(what, value, {"Ratio": round(MOST_OF_MPI[size] * share, 2)}, [MPI, figures[MPI][key]], others)
            else:
                show(what, value, None, None, others)
    for name in ("AllGather", "Broadcast", "AlltoAll"):
        key = (name, LARGE)
        for way in ("processes", "threads"):
            limit = [COPIES, figures[COPIES]["copy", LARGE]]
            show(f"{name} float32, 16 MiB to each rank, 4 {way}", figures[way][key], {"Ratio": MOST_OF_COPIES}, limit, beside(key, MPI))
    for size in (MIDDLE, LARGE):
        what, key = f"AllReduce float32, {NAMES[size]}, 4 processes over Gloo", ("AllReduce", size)
        if RING not in figures:
            print(f"missing: {what} (libgloo-dev is not installed)")
        elif "network" in figures:
            # A ring moves as many bytes, and sums them in another order.
            show(what, figures["network"][key], {"Ratio": MOST_OF_RING[size]}, [RING, figures[RING][key]])


def main():
    turns, rounds = (1, 1) if "--quick" in sys.argv else (5, 5)
    with tempfile.TemporaryDirectory() as name:
        found = contestants(pathlib.Path(name), rounds)
        runs = {name: [] for name in found}
        for turn in range(turns):
            for name, run in found.items():
                runs[name].append(run())
            print(f"turn {turn + 1} of {turns}", file=sys.stderr, flush=True)
        rows({name: {key: statistics.median(run[key] for run in of) for key in of[0]} for name, of in runs.items()})


if __name__ == "__main__":
    main()
