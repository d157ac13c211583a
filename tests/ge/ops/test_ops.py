"""Every operator of the Graph Engine, used from C++: the cases of table/, built into one program and compared with NumPy."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cases as suite  # noqa: E402
import run as runner  # noqa: E402
import signatures  # noqa: E402

REFUSALS = signatures.refusals()
COMPUTED = signatures.computed()
FIXED = signatures.fixed()
OPERATORS = sorted({one.op for one in suite.ALL})


@pytest.fixture(scope="session")
def outcome(tmp_path_factory):
    """One program runs all cases, once."""
    folder = tmp_path_factory.mktemp("ops")
    parts = [suite.ALL, [one for one, _ in REFUSALS], COMPUTED, [one for one, _ in FIXED]]
    left = runner.build(folder, [one for part in parts for one in part])
    makers = []
    for part in parts:
        makers.append(left[: len(part)])
        left = left[len(part) :]
    done, results = runner.run(folder, suite.ALL, makers[0])
    return folder, done, results, makers


@pytest.mark.timeout(600)
def test_the_program_ends_well(outcome):
    _, done, results, _ = outcome
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(results) == len(suite.ALL)


@pytest.mark.parametrize("operator", OPERATORS)
def test_operator(outcome, operator):
    wrong = [f"{one.id}: {text}" for one in suite.ALL if one.op == operator and (text := runner.verdict(one, outcome[2]))]
    assert not wrong, "\n".join(wrong)


def test_cases_have_names_of_their_own():
    names = [one.id for one in suite.ALL]
    assert len(set(names)) == len(names), {name for name in names if names.count(name) > 1}


def test_every_operator_that_programs_use_most_has_a_case():
    missing = [name for name, op in suite.PROTOTYPES.items() if op["priority"] == 1 and name not in OPERATORS]
    assert not missing


@pytest.mark.parametrize("priority", [1, 2, 3])
def test_every_type_of_every_signature_has_a_case_or_a_reason(priority):
    missing = signatures.without_case(suite.ALL)
    assert not [pair for pair in missing if suite.PROTOTYPES[pair[0]]["priority"] == priority]


def test_a_type_without_a_case_would_be_seen():
    """The search itself: without the cases of one type, its pairs are found."""
    fewer = [one for one in suite.ALL if one.dtype != "bfloat16"]
    missing = signatures.without_case(fewer)
    assert ("Abs", "x", "bfloat16") in missing and ("Transpose", "x", "bfloat16") in missing


def test_types_that_nobody_computes_with_are_refused_at_build_with_operator_and_type(outcome):
    assert len(REFUSALS) > 700
    check_refusals(outcome[0], REFUSALS, outcome[3][1])


def check_refusals(folder, refusals, makers):
    """Runs graphs that have to be refused, each with a sentence that has some words in it."""
    done, results = runner.run(folder, [one for one, _ in refusals], makers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(results) == len(refusals)
    wrong = [
        f"{one.id}: {results[one.id][0] or 'it was built'}"
        for one, named in refusals
        if not all(word in results[one.id][0] for word in named)
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_a_constant_in_a_case_may_be_given_when_the_graph_runs(outcome):
    done, results = runner.run(outcome[0], COMPUTED, outcome[3][2])
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(results) == len(COMPUTED) > 800
    wrong = [f"{one.id}: {text}" for one in COMPUTED if (text := runner.verdict(one, results))]
    assert not wrong, "\n".join(wrong)


def test_inputs_that_have_to_be_constants_are_refused_at_build_with_their_names(outcome):
    assert {(one.op, named[0]) for one, named in FIXED} == set(signatures.FIXED)
    check_refusals(outcome[0], FIXED, outcome[3][3])


@pytest.mark.parametrize("priority", [1, 2, 3])
def test_every_output_is_compared_in_some_case(priority):
    assert signatures.unseen(suite.ALL, priority) == []


def test_every_other_operator_is_refused_at_build_with_its_name(outcome):
    answers = runner.built(outcome[0])
    assert sorted(answers) == sorted(suite.PROTOTYPES)
    for name, text in answers.items():
        # What has a case may refuse these inputs, but not for its name; what has none is not known.
        assert runner.refused(name, text) == (name not in OPERATORS), f"{name}: {text}"
        if name not in OPERATORS:
            assert "(node op)" in text


def test_the_page_of_operators_is_true(outcome):
    page = runner.page(runner.built(outcome[0]))
    assert runner.PAGE.read_text() == page, "run tests/ge/ops/run.py --update"


def test_a_wrong_result_is_seen(outcome):
    """The comparison itself: each output of some cases is changed a little, and each change is found."""
    for one in suite.ALL:
        error, tensors = outcome[2][one.id]
        if error or one.judge or one.refused or not tensors or tensors[0][1].size == 0 or one.wanted()[0] is None:
            continue
        dtype, array = tensors[0]
        other = array.copy()
        if dtype in ("float32", "float64", "float16"):
            other.flat[0] = 1.0 if not (abs(other.flat[0]) < 1e3) else other.flat[0] + max(1.0, abs(other.flat[0]))
        elif dtype in ("complex64", "complex128"):
            other.flat[0] = 1j if not (abs(other.flat[0]) < 1e3) else other.flat[0] + 1j * max(1.0, abs(other.flat[0]))
        elif dtype == "complex32":
            other.flat[0] ^= 0x40000000
        elif dtype == "bfloat16":
            other.flat[0] ^= 0x4000
        else:
            other.flat[0] = not other.flat[0] if dtype == "bool" else other.flat[0] ^ 1
        assert suite.compare(one, [(dtype, other), *tensors[1:]]), one.id
        assert suite.compare(one, tensors[1:]), one.id
