"""`jumar check --late`, `jumar explore`, `jumar faults`, and the forms in which findings are written."""

import json
import pathlib
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conventions"))

from install import LIB64, PREFIX, ROOT, compile_c, environment, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
JUMAR = PREFIX / "bin/jumar"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    made = {}

    def make(name, where="programs"):
        if name not in made:
            source = HERE / where / name
            language = {} if source.suffix == ".c" else {"compiler": "c++", "standard": "c++17"}
            made[name] = compile_c(source, folder / source.stem, "-g", "-pthread", "-L", LIB64, "-lascendcl", **language)
        return made[name]

    return make


def jumar(*words, **more):
    return subprocess.run(
        [JUMAR, *words], env=environment(**more), capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("name, wrong", [("read_early.c", "219\n"), ("read_unordered.c", "1\n")])
def test_late_mode_makes_a_missing_wait_wrong_each_time(program, name, wrong):
    app = program(name)
    poisoned = {"JUMAR_CHECK": "1", "JUMAR_LATE": "1"}
    seen = [
        subprocess.run([app], env=environment(**poisoned), capture_output=True, text=True, timeout=60).stdout
        for _ in range(100)
    ]
    assert seen == [wrong] * 100
    for way in ("wait", "poll") if name == "read_early.c" else ("wait",):
        done = jumar("check", "--late", "--", app, way)
        assert done.stdout == "7\n", done.stderr
        assert done.returncode == 0, done.stderr


def order(app, seed, tmp_path):
    trace = tmp_path / f"{seed}.json"
    trace.unlink(missing_ok=True)
    done = jumar("check", "--seed", str(seed), "--", app, JUMAR_TRACE=str(trace))
    events = json.loads(trace.read_text())["traceEvents"]
    streams = {
        (e["pid"], e["tid"]) for e in events if e["ph"] == "M" and "stream" in e.get("args", {}).get("name", "")
    }
    tasks = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) in streams]
    return [(e["tid"], e["name"]) for e in sorted(tasks, key=lambda e: float(e["ts"]))], done.stdout


def test_a_seed_gives_the_same_run_and_others_give_others(program, tmp_path):
    app = program("four_streams.c")
    runs = {seed: order(app, seed, tmp_path) for seed in range(1, 21)}
    assert len({tuple(tasks) for tasks, _ in runs.values()}) >= 5
    assert len({output for _, output in runs.values()}) >= 2
    for seed in (3, 7, 11):
        assert order(app, seed, tmp_path) == runs[seed]


def test_exploring_distinguishes_the_kinds_of_runs(program):
    done = jumar("explore", "-n", "12", "--", program("four_streams.c"))
    kinds = re.search(r"12 runs, (\d+) kinds", done.stdout)
    assert kinds and int(kinds[1]) >= 2, done.stdout
    assert "JMR-SYNC-001" in done.stdout
    assert done.returncode == 1


def test_fault_injection_finds_the_leak_and_the_ignored_answer(program):
    done = jumar("faults", "--", program("error_paths.c"))
    lines = done.stdout.splitlines()

    def line(call, turn):
        [found] = [n for n, text in enumerate(lines) if re.match(rf"{call} +{turn} ", text)]
        # The lines of a cause follow its number.
        return lines[found], "\n".join(lines[found + 1 : found + 3])

    assert "handled (status 2)" in line("aclInit", 1)[0], done.stdout
    assert "handled (status 3)" in line("aclrtSetDevice", 1)[0], done.stdout
    what, leak = line("aclrtMalloc", 2)
    assert "leaks" in what and "JMR-MEM-008 error_paths.c:18" in leak, done.stdout
    assert "ignored" in line("aclrtMemset", 2)[0], done.stdout
    assert "handled (status 6)" in line("aclrtMemcpy", 1)[0], done.stdout
    assert done.returncode == 1


def test_findings_as_sarif_and_against_a_baseline(program, tmp_path):
    app = program("04_freed_too_early.c", "corpus")
    sarif, known = tmp_path / "found.sarif", tmp_path / "known.txt"
    done = jumar("check", "--sarif", sarif, "--save-baseline", known, "--", app)
    assert done.returncode == 1
    assert re.search(
        r"JMR-SYNC-007 \[error\] .*\n  now      04_freed_too_early.c:15  main\n.*\n  earlier  04_freed_too_early.c:11  main",
        done.stderr,
    ), done.stderr
    [result] = json.loads(sarif.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "JMR-SYNC-007" and result["level"] == "error"
    done = jumar("check", "--baseline", known, "--", app)
    assert done.returncode == 0, done.stderr


def test_findings_name_files_from_the_checkout_and_survive_moved_lines(program, tmp_path):
    """The checkout is the next folder with .git; the same program with lines inserted above has the same fingerprint."""
    source = (ROOT / "tests/diag/corpus/04_freed_too_early.c").read_text()
    fingerprints = []
    for name, text in (("before", source), ("after", "\n\n" + source)):
        folder = tmp_path / name
        (folder / ".git").mkdir(parents=True)
        (folder / "src").mkdir()
        (folder / "src/app.c").write_text(text)
        compiled = ["cc", "-g", "src/app.c", "-o", "app", "-I", HERE / "corpus", "-I", PREFIX / "include", "-L", LIB64]
        compiled.append("-lascendcl")
        subprocess.run(compiled, cwd=folder, check=True)
        # What is known of the program before is known of the one after.
        known = ["--baseline" if name == "after" else "--save-baseline", tmp_path / "known.txt", "--", "./app"]
        done = subprocess.run([JUMAR, "check", *known], cwd=folder, env=environment(), capture_output=True, text=True, timeout=60)
        assert done.returncode == (name == "before"), done.stderr
        outputs = ["--sarif", "a.sarif", "--junit", "a.xml", "--code-quality", "a.json", "--annotations"]
        done = subprocess.run(
            [JUMAR, "check", *outputs, "--", "../app"], cwd=folder / "src", env=environment(), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 1, done.stderr
        line = 15 + 2 * (name == "after")
        [result] = json.loads((folder / "src/a.sarif").read_text())["runs"][0]["results"]
        physical = result["locations"][0]["physicalLocation"]
        assert physical == {"artifactLocation": {"uri": "src/app.c", "uriBaseId": "SRCROOT"}, "region": {"startLine": line}}
        assert "\nfix: " in result["message"]["text"] and "\nmissing: " in result["message"]["text"]
        [entry] = json.loads((folder / "src/a.json").read_text())
        assert entry["location"] == {"path": "src/app.c", "lines": {"begin": line}}
        case = ElementTree.parse(folder / "src/a.xml").find("testsuite/testcase")
        assert (case.get("file"), case.get("line"), case.find("failure").get("type")) == ("src/app.c", str(line), "error")
        assert f"::error file=src/app.c,line={line},title=JMR-SYNC-007 " in done.stdout
        fingerprints.append((result["partialFingerprints"], entry["fingerprint"]))
    assert fingerprints[0] == fingerprints[1]


def test_without_the_wrapper_the_environment_is_enough(program):
    app = program("04_freed_too_early.c", "corpus")
    done = subprocess.run(
        [app], env=environment(JUMAR_CHECK="1"), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert "JMR-SYNC-007" in done.stderr
    assert "jumar check: 1 finding, 1 of severity error" in done.stderr


def test_a_report_is_one_page_with_the_findings_in_it(program, tmp_path):
    trace, found, page = tmp_path / "run.json", tmp_path / "found.json", tmp_path / "run.html"
    app = program("04_freed_too_early.c", "corpus")
    jumar("check", "--json", found, "--", app, JUMAR_TRACE=str(trace))
    done = jumar("report", trace, "--findings", found, "-o", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "JMR-SYNC-007" in text and "aclrtMemsetAsync" in text
    assert not re.search(r"(src|href)=", text), "a page of its own needs nothing from elsewhere"


FIRST_LIGHT = ROOT / "examples/digits/sync.c"
# Calls that release something or read an error are not made to fail: a program can do nothing about it.
NOT_DRILLED = re.compile(r"Destroy|Free|Unload|Reset|Finalize|GetRecentErrMsg")


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """The first program, the same with a leak planted, and what both are run on: three images."""
    folder = tmp_path_factory.mktemp("digits")
    run(
        PREFIX / "bin/atc", "--framework=5", f"--model={ROOT}/examples/digits/digits.onnx", f"--output={folder}/digits",
        "--soc_version=Ascend910B1", env=environment(),
    )
    images, labels = (ROOT / "examples/digits" / name for name in ("images.u8", "labels.u8"))
    size = len(images.read_bytes()) // len(labels.read_bytes())
    (folder / "images").write_bytes(images.read_bytes()[: 3 * size])
    (folder / "labels").write_bytes(labels.read_bytes()[:3])
    text = FIRST_LIGHT.read_text()
    release = "RELEASE(s->input_buffer != NULL, "
    assert text.count(release) == 1
    leaky = folder / "leaky.c"
    # Where the second data set cannot be made, the first buffer is forgotten.
    leaky.write_text(text.replace(release, "RELEASE(s->input_buffer != NULL && s->output != NULL, "))
    link = ["-g", "-I", FIRST_LIGHT.parent, "-L", LIB64, "-lascendcl"]
    words = [folder / "digits.om", folder / "images", folder / "labels"]
    return {
        "first": [compile_c(FIRST_LIGHT, folder / "first", *link), *words],
        "leaky": [compile_c(leaky, folder / "leaky", *link), *words],
    }


def inject_faults(command, *options):
    done = jumar("faults", *options, "--", *command)
    rows = re.findall(r"^(\S+) +(\d+)  (handled|ignored|leaks|crash|hangs)", done.stdout, re.M)
    assert rows, done.stdout + done.stderr
    return done, {(name, int(turn)): word for name, turn, word in rows}


def test_fault_injection_covers_every_call_of_the_first_program_and_finds_a_planted_leak(digits):
    source = re.sub(r"/\*.*?\*/", "", FIRST_LIGHT.read_text(), flags=re.S)
    calls = {name for name in re.findall(r"\b(acl[a-z]*[A-Z]\w*)\s*\(", source) if not NOT_DRILLED.search(name)}
    done, rows = inject_faults(digits["first"])
    assert calls <= {name for name, _ in rows}, calls - {name for name, _ in rows}
    assert set(rows.values()) == {"handled"}, done.stdout
    assert done.returncode == 0, done.stdout
    done, rows = inject_faults(digits["leaky"])
    leaks = [site for site, word in rows.items() if word == "leaks"]
    assert ("aclmdlCreateDataset", 2) in leaks, done.stdout
    assert re.search(r"JMR-LEAK-002 leaky.c:\d+ data buffer#1", done.stdout), done.stdout
    assert done.returncode == 1


def test_faults_let_tasks_fail_and_shows_the_stack_of_a_crash(program):
    done, rows = inject_faults([program("task_errors.c")])
    # The first copy's error is looked at, the second one's is not; the fill's comes with the copy's.
    assert rows[("task:aclrtMemcpyAsync", 1)] == "handled", done.stdout
    assert rows[("task:aclrtMemcpyAsync", 2)] == "ignored", done.stdout
    assert rows[("aclrtMallocHost", 1)] == "crash", done.stdout
    assert re.search(r"crash \(signal 11\)\n +cause 1:\n +.*task_errors.c:\d+  fill_with", done.stdout), done.stdout
    assert rows[("aclrtRecordEvent", 1)] == "ignored", done.stdout
    assert re.search(r"jumar faults: \d+ of \d+", done.stderr), "progress"


def test_a_crash_of_a_checked_program_shows_its_stack_and_its_last_call(program):
    source = (HERE / "programs/crashes.c").read_text().splitlines()
    fault, last = (next(i for i, text in enumerate(source, 1) if words in text) for words in ("*target = 7", "aclrtSetDevice"))
    done = jumar("check", "--", program("crashes.c"))
    assert "the program crashes with SIGSEGV (11)" in done.stderr
    assert re.search(rf"  at       crashes.c:{fault}  work\n", done.stderr), done.stderr
    assert re.search(rf"  last     crashes.c:{last}  main\n +aclrtSetDevice\n", done.stderr), done.stderr
    assert done.returncode != 0


def test_faults_reach_the_phases_and_the_tasks_of_operators(program):
    done, rows = inject_faults([program("operator_errors.cpp")])
    found = {site: word for site, word in rows.items() if "aclnn" in site[0]}
    wanted = {(name, 1): "handled" for name in ("aclnnExpGetWorkspaceSize", "aclnnExp", "task:aclnnExp")}
    wanted |= {(name, 2): "ignored" for name in ("aclnnExpGetWorkspaceSize", "aclnnExp", "task:aclnnExp")}
    assert found == wanted, done.stdout
    # The sentence names the call, and the code is the one of operators for a failed call of the runtime.
    failed = subprocess.run(
        [program("operator_errors.cpp")], env=environment(JUMAR_FAULT="aclnnExp#1"), capture_output=True, text=True, timeout=60
    )
    assert failed.returncode == 3, failed.stderr


def test_fault_injection_ends_a_program_that_hangs_when_a_call_fails(program):
    done, rows = inject_faults([program("waits_for_ever.c")], "--limit", "3")
    assert [site for site, word in rows.items() if word == "hangs"] == [("aclrtSetDevice", 1)], done.stdout
    assert rows[("aclInit", 1)] == "handled" and rows[("aclrtMalloc", 1)] == "ignored", done.stdout
    assert re.search(r"\b1 hangs\b", done.stdout) and done.returncode == 1, done.stdout


def test_the_command_of_a_class_shows_it_again(program):
    done = jumar("explore", "-n", "12", "--", program("four_streams.c"))
    again = re.findall(r"x (status .*)\n(?:    .*\n)*? +(jumar check --seed \d+ -- .*)", done.stdout)
    assert len(again) >= 2, done.stdout
    for seen, command in again[:3]:
        words = command.split()
        once = jumar(*words[1:])
        length = int(re.search(r"(\d+) bytes of output", seen)[1])
        assert len(once.stdout.encode()) == length
    outputs = {jumar(*command.split()[1:]).stdout for _, command in again}
    assert len(outputs) == len(again), "each class has another output"


def test_explore_names_the_two_tasks_whose_order_decides_where_no_rule_sees_a_race(program):
    source = (HERE / "programs/decided_by_a_value.c").read_text().splitlines()
    writes = [number for number, text in enumerate(source, 1) if "aclrtValueWrite(" in text]
    done = jumar("explore", "-n", "12", "--", program("decided_by_a_value.c"))
    found = done.stdout.partition("The outcome depends on the order of two tasks, which nothing orders:\n")[2]
    lines = re.findall(r"  stream#\d+ +decided_by_a_value.c:(\d+)  main\n +aclrtValueWrite: writes the value \d to memory#\d \+0..8\n", found)
    assert sorted(map(int, lines)) == writes, done.stdout + done.stderr
    ends = re.findall(r"  (?:in this order|the other way): +(status 0, 2 bytes of output \(sum \w+\))\n", found)
    assert len(set(ends)) == 2, done.stdout
    assert done.returncode == 1


def test_explore_does_not_blame_tasks_for_what_changes_by_itself(program, tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    script = f"n=$(cat {counter}); echo $((n + 1)) > {counter}; {program('read_early.c')} > /dev/null; echo $((n % 2))"
    done = jumar("explore", "-n", "4", "--", "sh", "-c", script)
    assert "2 kinds" in done.stdout and "does not depend on the order of tasks alone" in done.stdout, done.stdout + done.stderr


def test_each_way_to_run_has_a_variable(program, tmp_path):
    def alone(app, *words, **more):
        return subprocess.run([app, *words], env=environment(**more), capture_output=True, text=True, timeout=60)

    read_early, freed = program("read_early.c"), program("04_freed_too_early.c", "corpus")
    assert alone(read_early, JUMAR_LATE=1, JUMAR_CHECK=1).stdout == "219\n"
    four = program("four_streams.c")
    assert alone(four, JUMAR_SEED=5).stdout == jumar("check", "--seed", "5", "--", four).stdout
    report, known = tmp_path / "report", tmp_path / "known"
    alone(freed, JUMAR_CHECK=1, JUMAR_CHECK_REPORT=report)
    [finding] = [json.loads(line) for line in report.read_text().splitlines()]
    known.write_text(finding["fingerprint"] + "\n")
    assert "0 of severity" not in alone(freed, JUMAR_CHECK=1).stderr
    assert "nothing found" in alone(freed, JUMAR_CHECK=1, JUMAR_CHECK_BASELINE=known).stderr
    assert "JMR-SYNC-007" not in alone(freed, JUMAR_CHECK="JMR-MEM").stderr
    assert re.search("[一-龥]{6}", alone(freed, JUMAR_CHECK=1, JUMAR_CHECK_LANGUAGE="zh").stderr)
    assert alone(program("error_paths.c"), JUMAR_FAULT="aclrtSetDevice#1").returncode == 3
    calls = tmp_path / "calls"
    alone(program("task_errors.c"), JUMAR_FAULT_LOG=calls)
    assert "task:aclrtMemcpyAsync" in calls.read_text().splitlines()
    trace = tmp_path / "trace.json"
    alone(freed, JUMAR_TRACE=trace)
    assert json.loads(trace.read_text())["traceEvents"]


def test_sarif_is_what_its_schema_says(program, tmp_path):
    """By the rules of the schema of SARIF 2.1.0 for everything that is written; with a reader of the whole schema where there is one."""
    sarif = tmp_path / "found.sarif"
    jumar("check", "--sarif", sarif, "--", program("04_freed_too_early.c", "corpus"))
    log = json.loads(sarif.read_text())
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    [entry] = log["runs"]
    driver = entry["tool"]["driver"]
    assert driver["name"] and all(re.fullmatch(r"JMR-[A-Z]+-\d{3}", rule["id"]) for rule in driver["rules"])
    for result in entry["results"]:
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        assert result["ruleId"] in {rule["id"] for rule in driver["rules"]}
        for location in [*result["locations"], *result["relatedLocations"]]:
            physical = location["physicalLocation"]
            assert physical["region"]["startLine"] >= 1
            assert " " not in physical["artifactLocation"]["uri"]
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    try:
        import sarif_pydantic
    except ImportError:
        return
    sarif_pydantic.Sarif.model_validate(log)


@pytest.mark.parametrize(("level", "kernels"), [("portable", {"plain"}), ("avx2", {"plain", "avx2"})])
def test_operators_use_no_more_vector_instructions_than_they_may(level, kernels):
    done = jumar("run", "--instructions", level, "--", JUMAR, "info")
    products = re.search(r"^products: bfloat16 by (\w+), bytes by (\w+);", done.stdout, re.MULTILINE)
    assert products and set(products.groups()) <= kernels, done.stdout
    for command in ["info", "doctor"]:
        done = jumar("run", "--instructions", level, "--", JUMAR, command)
        assert re.search(rf"instructions:? +{level}\b", done.stdout), done.stdout


def test_the_doctor_says_what_would_be_loaded_and_why(program, tmp_path):
    app = program("04_freed_too_early.c", "corpus")
    done = jumar("doctor", app)
    assert str(LIB64 / "libascendcl.so") in done.stdout, done.stdout
    # A stub in the way is named.
    (tmp_path / "libascendcl.so").write_bytes(b"")
    done = jumar("doctor", app, LD_LIBRARY_PATH=f"{tmp_path}:{LIB64}")
    assert str(tmp_path / "libascendcl.so") in done.stdout, done.stdout


def test_each_rule_has_a_page_with_both_languages_an_example_and_a_clean_twin():
    import tomllib

    rules = tomllib.loads((ROOT / "crates/jumar-diag/rules.toml").read_text())
    assert len(rules) >= 60
    for name, rule in rules.items():
        page = (ROOT / "docs/rules" / f"{name}.md").read_text()
        for part in ("severity", "statement", "statement_zh", "example", "fix"):
            assert rule[part] in page, (name, part)
        assert re.search("[一-龥]{4}", rule["statement_zh"]), name
        assert "](../../tests/diag/corpus/" in page or rule["not_shown"] in page, name


def test_the_page_needs_nothing_from_elsewhere(tmp_path):
    trace = tmp_path / "run.json"
    trace.write_text(json.dumps({"traceEvents": []}))
    run(JUMAR, "report", trace, "-o", tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    for way in ("src=", "href=", "fetch(", "import(", "XMLHttpRequest", "http://", "https://"):
        assert way not in text, way
