"""Runs the table of operators: builds one C++ program of it, runs it, compares.

    python tests/ge/ops/run.py [OPERATOR ..] [--keep FOLDER] [--update]

With names, only their cases. `--update` writes docs/graph-engine-operators.md."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import cases as suite  # noqa: E402
import signatures  # noqa: E402
import table  # noqa: E402, F401

suite.ALL += signatures.spread()

PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or suite.ROOT / "target/jumar").resolve()
UNITS = 4
PAGE = suite.ROOT / "docs/graph-engine-operators.md"
TYPES_SHOWN = ["float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
TYPES_SHOWN += ["complex64", "complex128", "complex32"]


def build(folder, cases):
    """Compiles the program. Returns the function of each case."""
    texts, makers = suite.sources(cases, UNITS)
    files = [HERE / "harness.cpp"]
    for index, text in enumerate(texts):
        files.append(folder / f"table{index}.cpp")
        files[-1].write_text(text)
    flags = ["-std=c++11", "-O0", "-Wall", "-Wextra", "-Werror", "-I", HERE, "-I", PREFIX / "include"]
    flags += ["-I", PREFIX / "opp/built-in/op_proto/inc"]

    def compiled(source):
        out = folder / (source.stem + ".o")
        done = subprocess.run(["g++", *map(str, flags), "-c", source, "-o", out], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
        return out

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, files))
    link = ["g++", *objects, "-o", folder / "ops", "-L", PREFIX / "lib64", "-lge_runner", "-lhccl"]
    done = subprocess.run(list(map(str, link)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return makers


def run(folder, cases, makers):
    """Runs cases. Returns their results by name."""
    (folder / "cases.bin").write_bytes(suite.pack(cases, makers))
    env = dict(os.environ, LD_LIBRARY_PATH=str(PREFIX / "lib64"))
    command = [folder / "ops", "cases.bin", "results.bin"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    results = suite.unpack((folder / "results.bin").read_bytes())
    return done, results


def verdict(one, results):
    """What is wrong with a case, as one text; empty where all is well."""
    if one.id not in results:
        return "it did not run"
    error, tensors = results[one.id]
    if one.refused:
        return "" if one.refused in error else f"it was not refused with '{one.refused}' but answers '{error}'"
    return error or "; ".join(suite.compare(one, tensors))


def built(folder):
    """Builds a graph of every operator of the headers. Returns the library's answer for each."""
    lines = []
    for name, op in suite.PROTOTYPES.items():
        inputs = [one + ("0" if occurs == "dynamic" else "") for one, occurs in op["inputs"] if occurs != "optional"]
        lines.append(" ".join([name, *inputs, *(["->"] if op["outputs"] else [])]))
    (folder / "operators.txt").write_text("\n".join(lines) + "\n")
    env = dict(os.environ, LD_LIBRARY_PATH=str(PREFIX / "lib64"))
    command = [folder / "ops", "--build", "operators.txt"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.split("\t", 1) for line in done.stdout.splitlines())


def refused(name, text):
    """Returns whether a build was refused because the operator is unknown."""
    return f"operators that are not supported: {name} " in text


def tolerances():
    """The cases that are not held to what their types allow, a line for each operator and reason."""
    loose = {}
    for one in suite.ALL:
        if one.loose != 1 or one.least:
            kinds = "the type of its inputs" if one.least == "own" else one.least
            what = f"{one.loose} times as much" if one.loose != 1 else f"what {kinds} allows"
            loose.setdefault((what, one.why), set()).add(one.op)
    return [f"- {', '.join(sorted(ops))}: {what} ({why})" for (what, why), ops in sorted(loose.items())]


def page(answers):
    """The table of operators, as docs/graph-engine-operators.md has it."""
    order = list(TYPES_SHOWN)
    rows, missing = [], []
    for name in sorted(suite.PROTOTYPES):
        priority = suite.PROTOTYPES[name]["priority"]
        own = [one for one in suite.ALL if one.op == name]
        if refused(name, answers[name]):
            missing.append((priority, name))
            continue
        types = sorted({one.dtype for one in own}, key=order.index)
        rows.append(f"| {name} | {priority} | {len(own)} | {', '.join(types)} |")
    first = sum(op["priority"] == 1 for op in suite.PROTOTYPES.values())
    done = first - sum(priority == 1 for priority, _ in missing)
    lines = [
        "# Operators of the Graph Engine",
        "",
        "Written by `tests/ge/ops/run.py --update` from the cases in `tests/ge/ops/table`; a test fails where it is not true.",
        "",
        f"{len(rows)} of the {len(suite.PROTOTYPES)} classes in the headers can be built: {done} of the {first} that programs use most"
        f" (priority 1), and {len(rows) - done} of the others.",
        f"Each has its cases, {len(suite.ALL)} together: built and run by a C++ program, and compared with NumPy in float64, or with ONNX",
        "Runtime where that is the definition. The types are those of the cases: all that the operator's signature lists, as far as",
        "Jumar computes in them. A graph that uses an operator with another type of its signature (quantised, text, 4 bits)",
        "is refused when it is built, with operator, input and type.",
        "",
        "A number may be wrong by "
        + ", ".join(f"{suite.TOLERANCE[dtype]:g} ({dtype})" for dtype in suite.TOLERANCE)
        + ", and by as much of itself; integers must be equal. Where more is allowed:",
        "",
        *tolerances(),
        "",
        "Every input that is a constant in a case is given when the graph runs in another one, which has to compute the same. These have to",
        "be constants; a build that finds another node there is refused with operator and input: "
        + ", ".join(f"`{name}` of {op} ({why})" for (op, name), why in sorted(signatures.FIXED.items()))
        + ".",
        "",
        "Where documents leave open what an operator does, [another page](divergences.md#graph-engine-operators) says what was inferred.",
        "",
        "| operator | priority | cases | types |",
        "|---|---|---|---|",
        *rows,
        "",
    ]
    if missing:
        lines += ["## Not supported", "", "A graph with one of these is refused when it is built, with the operator's name and its node's.", ""]
    for priority in sorted({priority for priority, _ in missing}):
        names = ", ".join(name for own, name in missing if own == priority)
        lines += [f"Priority {priority}: {names}.", ""]
    return "\n".join(lines)


def main(arguments):
    keep, update = None, "--update" in arguments
    arguments = [one for one in arguments if one != "--update"]
    if "--keep" in arguments:
        at = arguments.index("--keep")
        keep = pathlib.Path(arguments[at + 1])
        del arguments[at : at + 2]
    chosen = [one for one in suite.ALL if not arguments or one.op in arguments]
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        done, results = run(folder, chosen, build(folder, chosen))
        bad = 0
        for one in chosen:
            text = verdict(one, results)
            if text:
                bad += 1
                print(f"{one.id}: {text}")
        print(done.stdout + done.stderr, end="")
        if update:
            PAGE.write_text(page(built(folder)))
        print(f"{len(chosen) - bad} of {len(chosen)} cases of {len({one.op for one in chosen})} operators pass")
        return bad > 0 or done.returncode != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
