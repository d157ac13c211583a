"""The corpus: small programs with a mistake each, and the exact findings that `jumar check` has to make; without the mistake, none.

The number in a program's name is that of the mistake in the list at the end of docs/check.md. C and C++ programs are compiled as
they are and with CLEAN; scripts are run as they are and with the argument "clean", and so are programs of Ascend C, which the driver of
the install tree compiles ("CHECK 2": with checks of order). In a program, "FINDS <rule>" stands on the
line that the finding names first; "NEEDS model", "NEEDS gears" or "NEEDS kernels" passes it the path of a model, of one for batches of 2 and 4, or of a kernel binary;
"DEVICES 2" so many devices, "PROFILE small" a device with few streams and events; "WITH protect" is run with --protect, "WITH late" with --late,
"WITH profiles 310P3" with --profiles 310P3,
"WITH rules JMR-MEM-016" with these rules, which are lints.

The programs of fresh/ were written by an author who knew the list of mistakes and nothing else; each has its clean form beside it, and
what was expected is in fresh/expected.toml. Those of clean/ have no mistake. README.md beside them says which programs were written from the list alone.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conventions"))

from install import LIB64, PREFIX, ROOT, compile_c, environment, run  # noqa: E402

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
SOURCES = sorted([*CORPUS.glob("*.c"), *CORPUS.glob("*.cpp")])
SCRIPTS = sorted(CORPUS.glob("*.py"))
KERNELS = sorted(CORPUS.glob("*.asc"))
CORRECT = sorted((CORPUS / "clean").glob("*.asc"))
FRESH = sorted(path for path in (CORPUS / "fresh").iterdir() if path.suffix != ".toml" and ".clean" not in path.name)
EXPECTED = tomllib.loads((CORPUS / "fresh/expected.toml").read_text())
# Programs that were written from the list of mistakes alone.
BLIND = (CORPUS / "blind.txt").read_text().split()
# What shows only when no task runs before the program waits for it.
LATE = ("01_",)
# Lints are reported when asked for.
LINTS = ("14_",)
# A device with small limits.
SMALL = """name = "Small"
memory_gib = 1
cube_cores = 1
vector_cores = 1
aicpu_cores = 1
[limits]
streams = 6
events = 8
notifies = 2
"""


def wanted(source):
    found = set()
    for number, line in enumerate(source.read_text().splitlines(), 1):
        for rule in re.findall(r"FINDS (JMR-[A-Z]+-\d+)", line):
            found.add((rule, number))
    return found


def save_batches(path):
    """Writes a model that adds 1 to images of four numbers, of which there may be any number."""
    from onnx import TensorProto, helper, save

    image, scores = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("image", "scores"))
    one = helper.make_tensor("one", TensorProto.FLOAT, [4], [1.0] * 4)
    graph = helper.make_graph([helper.make_node("Add", ["image", "one"], ["scores"])], "batches", [image], [scores], [one])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture(scope="session")
def given(tmp_path_factory):
    """What programs ask for with NEEDS, made when the first one does."""
    folder = tmp_path_factory.mktemp("given")
    onnx = ROOT / "examples/digits/digits.onnx"
    made = {}

    def model():
        convert = [PREFIX / "bin/atc", "--framework=5", f"--model={onnx}", "--soc_version=Ascend910B1"]
        run(*convert, f"--output={folder}/digits", env=environment())
        return {"CORPUS_MODEL": f"{folder}/digits.om", "CORPUS_ONNX": str(onnx)}

    def gears():
        convert = [PREFIX / "bin/atc", "--framework=5", f"--model={folder}/batches.onnx", "--soc_version=Ascend910B1"]
        save_batches(folder / "batches.onnx")
        run(*convert, "--input_shape=image:-1,4", "--dynamic_batch_size=2,4", f"--output={folder}/gears", env=environment())
        return {"CORPUS_GEARS": f"{folder}/gears.om"}

    def kernels():
        source = ROOT / "tests/behaviour/kernels.c"
        return {"CORPUS_KERNELS": str(compile_c(source, folder / "kernels.so", "-g", "-shared", "-fPIC"))}

    def give(source):
        text = source.read_text()
        variables = {}
        for name, make in (("model", model), ("gears", gears), ("kernels", kernels)):
            if f"NEEDS {name}" in text:
                if name not in made:
                    made[name] = make()
                variables |= made[name]
        devices = re.search(r"DEVICES (\d+)", text)
        if devices:
            variables["JUMAR_DEVICES"] = devices[1]
        if "PROFILE small" in text:
            small = folder / "small.toml"
            small.write_text(SMALL)
            variables["JUMAR_PROFILE"] = str(small)
        return variables

    return give


def check(command, source, folder, name, variables):
    report = folder / f"{name}.json"
    options = ["--json", report]
    if source.name.startswith(LATE) or "WITH late" in source.read_text():
        options.append("--late")
    profiles = re.search(r"WITH profiles ([\w,]+)", source.read_text())
    if profiles:
        options += ["--profiles", profiles[1]]
    if "WITH protect" in source.read_text() or EXPECTED.get(source.name, {}).get("protect"):
        options.append("--protect")
    if source.name.startswith(LINTS):
        options += ["--rules", "JMR-PERF"]
    asked = re.search(r"WITH rules ([\w,-]+)", source.read_text()) or re.search(r"(JMR-MEM-016)", str(EXPECTED.get(source.name)))
    if asked:
        options += ["--rules", asked[1]]
    done = subprocess.run(
        [PREFIX / "bin/jumar", "check", *options, "--", *command],
        env=environment(**variables),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert report.exists(), done.stderr
    findings = json.loads(report.read_text())
    found = {(f["rule"], f["lines"][0]["line"]) for f in findings}
    return done, found


def judge(source, commands, folder, variables):
    expected = wanted(source)
    assert expected, "a program states what is found in it"
    done, found = check(commands[0], source, folder, "wrong", variables)
    assert found == expected, done.stderr
    assert done.returncode != 0
    done, found = check(commands[1], source, folder, "right", variables)
    assert found == set(), done.stderr
    assert done.returncode == 0, done.stderr


def build(source, target, *more):
    link = ["-g", "-pthread", "-L", LIB64, "-lascendcl", "-lhccl"]
    if source.suffix == ".c":
        return compile_c(source, target, *more, *link)
    run(
        os.environ.get("CXX", "c++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", *more, "-I", PREFIX / "include",
        "-I", PREFIX / "opp/built-in/op_proto/inc", source, "-o", target, *link, "-lge_runner",
    )
    return target


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """Both forms of every program, compiled side by side before the first one runs."""
    folder = tmp_path_factory.mktemp("corpus")

    def both(source):
        wrong = build(source, folder / f"{source.name}.wrong")
        return [[wrong], [build(source, folder / f"{source.name}.right", "-DCLEAN")]]

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = {source: pool.submit(both, source) for source in SOURCES}
        yield lambda source: waiting[source].result()


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_a_mistake_is_found_and_its_absence_is_not(source, programs, given, tmp_path):
    judge(source, programs(source), tmp_path, given(source))


@pytest.mark.parametrize("source", SCRIPTS, ids=lambda path: path.name)
def test_a_mistake_in_python_is_found_at_its_line(source, given, tmp_path):
    judge(source, [[sys.executable, source], [sys.executable, source, "clean"]], tmp_path, given(source))


@pytest.fixture(scope="session")
def kernels(tmp_path_factory):
    """The programs of Ascend C. Those with the same checks are one executable, because most of the time goes into the headers; the first
    argument is the name of the program."""
    folder = tmp_path_factory.mktemp("kernels")

    def level(source):
        return 2 if "CHECK 2" in source.read_text() else 1

    def unit(checks):
        sources = [source for source in [*KERNELS, *CORRECT] if level(source) == checks]
        parts = [f'#define main program_{one.stem}\n#include "{one}"\n#undef main\n' for one in sources]
        calls = [f'    if (strcmp(arguments[1], "{one.stem}") == 0) return program_{one.stem}(count - 1, arguments + 1);\n' for one in sources]
        text = folder / f"checks{checks}.asc"
        text.write_text("".join([*parts, "int main(int count, char** arguments)\n{\n", *calls, "    return 98;\n}\n"]))
        options = ["-g", "-O0", "-Wall", "-Wextra", "-Werror", f"-DJUMAR_ASCENDC_CHECK={checks}", "-I", CORPUS]
        run(PREFIX / "bin/bisheng", *options, text, "-o", text.with_suffix(""), env=environment())
        return text.with_suffix("")

    with ThreadPoolExecutor(2) as pool:
        units = {checks: pool.submit(unit, checks) for checks in (1, 2)}
        yield lambda source: [units[level(source)].result(), source.stem]


@pytest.mark.parametrize("source", KERNELS, ids=lambda path: path.name)
def test_a_mistake_with_a_kernel_is_found_and_its_absence_is_not(source, kernels, given, tmp_path):
    program = kernels(source)
    judge(source, [program, [*program, "clean"]], tmp_path, given(source))
    # A launch goes through headers of ours, which are no locations of the program.
    findings = json.loads((tmp_path / "wrong.json").read_text())
    files = {pathlib.Path(line["file"]).parent for finding in findings for line in finding["lines"]}
    assert files == {CORPUS}


@pytest.mark.parametrize("order", [{}, {"JUMAR_LATE": "1"}], ids=["early", "late"])
@pytest.mark.parametrize("source", CORRECT, ids=lambda path: path.name)
def test_a_correct_program_has_no_findings(source, order, kernels, given, tmp_path):
    done, found = check(kernels(source), source, tmp_path, "right", given(source) | order)
    assert found == set(), done.stderr
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """The programs of fresh/ and their clean forms, compiled side by side."""
    folder = tmp_path_factory.mktemp("fresh")

    def both(source):
        clean = source.with_name(f"{source.stem}.clean{source.suffix}")
        if source.suffix == ".py":
            return [[sys.executable, source], [sys.executable, clean]]
        return [[build(form, folder / form.name.replace(".", "-"))] for form in (source, clean)]

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = {source: pool.submit(both, source) for source in FRESH}
        yield lambda source: waiting[source].result()


@pytest.mark.parametrize("source", FRESH, ids=lambda path: path.name)
def test_a_program_of_somebody_who_knew_the_list_alone(source, fresh, given, tmp_path):
    variables = given(source)
    expected = EXPECTED[source.name]
    # What was expected, or what stands beside it with the reason.
    now, earlier = ({**expected, **expected.get("reported", {})}[key] for key in ("now", "earlier"))
    wrong, right = fresh(source)
    done, _ = check(wrong, source, tmp_path, "wrong", variables)
    findings = json.loads((tmp_path / "wrong.json").read_text())
    assert [one["rule"] for one in findings] == [expected["rule"]], done.stderr
    lines = [line["line"] for line in findings[0]["lines"]]
    assert lines[0] == now and set(earlier) <= set(lines[1:]), (lines, done.stderr)
    assert done.returncode != 0
    done, found = check(right, source, tmp_path, "right", variables)
    assert found == set() and done.returncode == 0, done.stderr


def test_a_quarter_of_the_programs_were_written_from_the_list_alone():
    # Programs of Ascend C are not counted: all were written with the checks in view.
    every = {path.name for path in [*SOURCES, *SCRIPTS]}
    assert set(BLIND) <= every and len(set(BLIND)) == len(BLIND)
    assert set(EXPECTED) == {path.name for path in FRESH}
    share = (len(BLIND) + len(FRESH)) / (len(every) + len(FRESH))
    print(f"corpus: {len(every) + len(FRESH)} programs, {len(BLIND) + len(FRESH)} of them from the list alone, {share:.1%}")
    assert len(BLIND) + len(FRESH) >= 80 and share >= 0.25


def test_each_mistake_has_three_programs_at_least():
    numbers = [path.name[:2] for path in [*SOURCES, *SCRIPTS, *KERNELS, *FRESH]]
    assert all(numbers.count(f"{mistake:02}") >= 3 for mistake in range(1, 16))
