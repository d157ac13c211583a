"""Collectives of four ranks on two cores, beside Open MPI in shared memory, Gloo's own ring and plain copies: `cargo xtask bench
collectives` runs this. All take turns, so that the ratios are of one run. Each figure is the least of all turns.

Prints a line of JSON for each figure, as jumar-bench does.
"""

import json
import os
import pathlib
import shutil
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
# The most that an AllReduce may take: microseconds, and times the copies.
MOST_US = {"threads": 15.0, "processes": 20.0}
MOST_COPIES = {"threads": 8.0, "processes": 13.0}
# The same for operations that only move data.
MOST_COPIES_MOVED = {"threads": 4.0, "processes": 7.0}


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


def rows(best):
    absent = "" if MPI in best else f"; {MPI}: not installed"

    def beside(key, *names):
        return [[name, best[name][key]] for name in names if name in best]

    def against(key, name, most):
        return ({"Ratio": most}, [name, best[name][key]]) if name in best else (None, None)

    for size, name in NAMES.items():
        key, copies = ("AllReduce", size), best[COPIES]["copy", size]
        for way in ("threads", "processes"):
            what = f"AllReduce float32, {name}, 4 {way}"
            value = best[way][key]
            others = beside(key, MPI, RING)
            if size == SMALL:
                show(what + absent, value, {"Value": MOST_US[way]}, None, others)
            elif size == LARGE:
                show(what, value, {"Ratio": MOST_COPIES[way]}, [COPIES, copies], beside(key, RING))
            if size != SMALL:
                target, limit = against(key, MPI, 1.0)
                show(f"{what}, beside {MPI}{absent}", value, target, limit, beside(key, RING) if limit is None else ())
    for name in ("AllGather", "Broadcast", "AlltoAll"):
        key = (name, LARGE)
        for way in ("threads", "processes"):
            limit = [COPIES, best[COPIES]["copy", LARGE]]
            target = {"Ratio": MOST_COPIES_MOVED[way]}
            show(f"{name} float32, 16 MiB to each rank, 4 {way}{absent}", best[way][key], target, limit, beside(key, MPI))
    for size in (MIDDLE, LARGE):
        what = f"AllReduce float32, {NAMES[size]}, 4 processes over Gloo"
        if RING not in best:
            print(f"missing: {what} (libgloo-dev is not installed)")
        elif "network" in best:
            key = ("AllReduce", size)
            # A ring moves as many bytes, and sums them in another order.
            target, limit = against(key, RING, 1.0 if size == MIDDLE else 1.5)
            show(what, best["network"][key], target, limit)


def main():
    turns, rounds = (1, 1) if "--quick" in sys.argv else (5, 5)
    with tempfile.TemporaryDirectory() as name:
        found = contestants(pathlib.Path(name), rounds)
        best = {}
        for turn in range(turns):
            for name, run in found.items():
                for key, value in run().items():
                    mine = best.setdefault(name, {})
                    mine[key] = min(value, mine.get(key, value))
            print(f"turn {turn + 1} of {turns}", file=sys.stderr, flush=True)
        rows(best)


if __name__ == "__main__":
    main()
