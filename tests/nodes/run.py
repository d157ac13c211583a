"""The ONNX node cases, through atc and the acl module.

    python tests/nodes/run.py                    all cases; compares with unsupported.txt
    python tests/nodes/run.py Softmax Gather     the cases of some operators
    python tests/nodes/run.py test_top_k         one case, by its name
    python tests/nodes/run.py --host Softmax     the same through the model runner of jumar-graph, which it builds first
    python tests/nodes/run.py --update           all cases; writes unsupported.txt and docs/operators.md anew

Runs in the environment of the tests (target/venv), and finds the install tree by itself (JUMAR_PREFIX, or target/jumar). A case that is
converted has to give what the suite expects. A case that atc refuses has to be listed in unsupported.txt, and the refusal
has to name an operator of the case. A listed case that passes is a line to be taken out.
"""

import argparse
import collections
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

import onnx

import cases
import every_type

HERE = pathlib.Path(__file__).resolve().parent
ROOT = cases.ROOT
LISTED = HERE / "unsupported.txt"
TABLE = ROOT / "docs" / "operators.md"
LIMIT = 90
SKIPPED = 77


class Worker:
    """A process that runs cases one after another; it is started anew when one brings it down."""

    def __init__(self, how, environment):
        self.how, self.environment, self.process = how, environment, None

    def start(self):
        command = [sys.executable, str(HERE / "worker.py"), self.how]
        if self.how == "acl":
            tree = os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar"
            command = [f"{tree}/bin/jumar", "run", "--", *command]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        self.said = collections.deque(maxlen=20)
        threading.Thread(target=lambda process=self.process: self.said.extend(process.stderr), daemon=True).start()

    def run(self, name):
        if self.process is None or self.process.poll() is not None:
            self.start()
        line = None
        timer = threading.Timer(LIMIT, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            pass
        timer.cancel()
        if line:
            return json.loads(line)[1:]
        code = self.process.wait()
        return ["wrong", f"the process ended with {code}: {''.join(self.said)[-600:]}"]

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def run_all(chosen, how, count):
    """Returns {name: [result, text]}."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    if how == "host":
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        subprocess.run(["cargo", "build", "--quiet", "-p", "jumar-graph", "--example", "run_model"], cwd=ROOT, check=True)
        environment["JUMAR_RUN_MODEL"] = str(target / "debug" / "examples" / "run_model")
    waiting, results = queue.Queue(), {}
    for case in chosen:
        waiting.put(case.name)

    def work():
        worker = Worker(how, environment)
        while True:
            try:
                name = waiting.get_nowait()
            except queue.Empty:
                break
            results[name] = worker.run(name)
        worker.stop()

    threads = [threading.Thread(target=work) for _ in range(min(count, len(chosen)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A refusal must name the missing operator.
    for case in chosen:
        result, text = results[case.name]
        if result == "unsupported" and not names_operator(case, text):
            results[case.name] = ["wrong", f"the refusal names no operator of the case: {text}"]
    return results


def names_operator(case, text):
    graph = onnx.load_model_from_string(case.model).graph
    return any(node.op_type in text for node in cases.nodes_of(graph))


def listed():
    lines = LISTED.read_text().splitlines() if LISTED.exists() else []
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def write_list(results):
    lines = [
        "# Node cases that atc refuses so far, by name. Written by tests/nodes/run.py --update; a case that begins to pass is a",
        "# line to take out, by hand or by --update. A case that is not here has to pass.",
    ]
    lines += sorted(name for name, (result, _) in results.items() if result == "unsupported")
    LISTED.write_text("\n".join(lines) + "\n")


def table(all_cases, results):
    counts = collections.defaultdict(collections.Counter)
    outside = collections.Counter()
    for case in all_cases:
        if case.reason:
            outside[case.reason] += 1
        else:
            counts[case.operator][results[case.name][0]] += 1
    total = sum(counts.values(), collections.Counter())
    ran = sum(total.values())
    lines = [
        "<!-- Generated by tests/nodes/run.py --update; do not edit. -->",
        "# Operators",
        "",
        f"The node cases that the `onnx` package generates (version {onnx.__version__}), operator sets up to {cases.NEWEST}, each",
        "converted with `atc` and executed through `acl`. Results are compared as the suite prescribes; half-precision ones may",
        "always differ by two units in the last place, all by one unit of the largest expected number, and images of lossy JPEG by two",
        "steps of 256. A case that is not supported is refused by `atc` with the operator's name.",
        "",
        "Types are those of the operator's definition at its newest set up to the one named, by type variable, in which",
        "`tests/nodes/every_type.py` shows at least one case right; what that leaves out, `tests/nodes/untyped.txt` lists with the reason.",
        "",
        f"Of {ran} cases {total['pass']} pass ({100 * total['pass'] / ran:.1f} %), {total['wrong']} are wrong, "
        f"{total['unsupported']} are not supported.",
        "",
        "| operator | cases | pass | wrong | not supported | types |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for operator in sorted(counts):
        row = counts[operator]
        cells = [str(row[key]) if row[key] else "" for key in ("pass", "wrong", "unsupported")]
        lines.append(f"| {operator} | {sum(row.values())} | {' | '.join(cells)} | {every_type.column(operator)} |")
    share = 100 * sum(outside.values()) / len(all_cases)
    lines += ["", f"Out of scope are {sum(outside.values())} of {len(all_cases)} cases ({share:.1f} %), by what the case uses:", ""]
    lines += ["| uses | cases | why |", "|---|---:|---|"]
    lines += [f"| {reason} | {count} | {cases.why(reason)} |" for reason, count in sorted(outside.items())]
    lines += ["", "Inputs and outputs of a type that ACL has no number for, or whose elements share bytes, have one byte for each element:"]
    lines += ["int4 and int2 are described as int8; uint4, uint2, float4e2m1, float6, float8e4m3fnuz and float8e5m2fnuz as uint8."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="operators or names of cases; all where nothing is said")
    parser.add_argument("--host", action="store_true", help="through the model runner instead of atc and acl")
    parser.add_argument("--update", action="store_true", help="write unsupported.txt and docs/operators.md")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    start = time.monotonic()
    pinned = next(line.split("==")[1].split(";")[0] for line in (ROOT / "tests/requirements.txt").read_text().splitlines()
                  if line.startswith("onnx=="))
    if onnx.__version__ != pinned:
        print(f"skipped: the list is for onnx {pinned}, and this is {onnx.__version__}")
        return SKIPPED
    all_cases = cases.load()
    chosen = [case for case in all_cases if not case.reason]
    if options.what:
        wanted = set(options.what)
        chosen = [case for case in chosen if case.operator in wanted or case.name in wanted]
        unknown = wanted - {case.operator for case in chosen} - {case.name for case in chosen}
        if unknown:
            reasons = {case.name: case.reason for case in all_cases if case.reason}
            for name in sorted(unknown):
                print(f"{name}: {'out of scope: ' + reasons[name] if name in reasons else 'no case in scope is called so'}")
            return 2
    results = run_all(chosen, "host" if options.host else "acl", options.workers)
    counts = collections.Counter(result for result, _ in results.values())
    (ROOT / "target" / "nodes" / "results.json").write_text(json.dumps(results, indent=1, sort_keys=True))
    problems = []
    expected = listed()
    for name in sorted(results):
        result, text = results[name]
        short = " ".join(text.split())
        short = short if len(short) < 500 else f"{short[:200]} ... {short[-300:]}"
        if result == "wrong":
            problems.append(f"WRONG {name}: {short}")
        elif result == "unsupported" and name not in expected:
            problems.append(f"REFUSED {name}: {short}")
        elif result == "pass" and name in expected and not options.update:
            problems.append(f"PASSES {name}: take its line out of tests/nodes/unsupported.txt (or run with --update)")
        elif result == "unsupported" and options.what:
            print(f"not supported {name}: {short}")
    if options.update and not options.what:
        write_list(results)
        TABLE.write_text(table(all_cases, results))
        problems = [problem for problem in problems if problem.startswith("WRONG")]
    elif not options.what and not options.host and not problems:
        if not TABLE.exists() or TABLE.read_text() != table(all_cases, results):
            problems.append("docs/operators.md is out of date: run with --update")
    for problem in problems:
        print(problem)
    seconds = time.monotonic() - start
    outside = sum(1 for case in all_cases if case.reason)
    print(f"node cases: {counts['pass']} passed, {counts['wrong']} wrong, {counts['unsupported']} not supported, "
          f"{outside} out of scope, in {seconds:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
