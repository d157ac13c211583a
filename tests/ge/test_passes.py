"""Fusion passes of a program: values with and without them, compared with NumPy, and what is refused."""

import os
import shutil
import subprocess

import numpy
import pytest

from build import HERE, PREFIX, ROOT, compile_program, compile_text, run

ES = ["-I", PREFIX / "include/es", "-les_all", "-lge_runner"]


def net(numbers):
    """What the graph of fusion.cpp computes, in float64."""
    numbers = numbers.astype(numpy.float64)
    w, b, w2 = numbers[:6].reshape(2, 3), numbers[6:8], numbers[8:14].reshape(3, 2)
    m, x = numbers[14:22].reshape(4, 2), numbers[22:34].reshape(4, 3)
    left = numpy.tanh(x @ w.T + b)
    right = x @ w2 + m + 0.5
    every = numpy.maximum(numpy.concatenate([left, right - b], axis=1), 0) - 0.25
    return numpy.concatenate([part.ravel() for part in (numpy.maximum(every, 0), -every, left)])


@pytest.mark.parametrize(("std", "abi"), [("c++11", 0), pytest.param("c++20", 1, marks=pytest.mark.long)])
def test_graphs_compute_the_same_with_and_without_passes_and_bad_passes_are_refused(tmp_path, std, abi):
    numbers = numpy.random.default_rng(7).standard_normal(34).astype(numpy.float32)
    numbers.tofile(tmp_path / "numbers.bin")
    compile_program(HERE / "fusion.cpp", tmp_path / "fusion", *ES, std=std, abi=abi)
    assert "fusion: ok" in run(tmp_path / "fusion", tmp_path, ROOT / "examples/digits/digits.onnx")
    for name in ["without.bin", "with.bin"]:
        found = numpy.fromfile(tmp_path / name, numpy.float32)
        numpy.testing.assert_allclose(found, net(numbers), rtol=1e-5, atol=1e-5, err_msg=name)


# What libraries of passes allocate that were compiled with the toolkit's headers: each holds a pointer, passes behind their table.
SIZES = {
    "SubgraphInput": 8, "SubgraphOutput": 8, "SubgraphBoundary": 8, "Pattern": 8, "MatchResult": 8, "PatternMatcher": 8,
    "PatternMatcherConfig": 8, "PatternMatcherConfigBuilder": 8, "FusionPassRegistrationData": 16, "PassRegistrar": 1,
    "FusionBasePass": 8, "PatternFusionPass": 16, "PatternFusionPassV2": 16, "DecomposePass": 32, "DecomposePassV2": 32, "NodeIo": 24,
}
SIZES = {f"ge::fusion::{name}": size for name, size in SIZES.items()} | {"ge::PassRegistrationData": 16, "ge::PassReceiver": 1}


def test_objects_have_the_sizes_that_libraries_of_passes_allocate(tmp_path):
    headers = ["pass/pattern_fusion_pass.h", "pass/decompose_pass.h", "pattern_matcher.h"]
    lines = [f'#include "ge/fusion/{name}"' for name in headers]
    lines += [f'static_assert(sizeof({name}) == {size}, "{name}");' for name, size in SIZES.items()]
    compile_text(tmp_path, "\n".join([*lines, "int main() { return 0; }", ""]), "-fsyntax-only")


def test_the_example_agrees_with_plain_loops(tmp_path):
    folder = shutil.copytree(ROOT / "examples/ge_fusion_pass", tmp_path / "example")
    env = dict(os.environ, ASCEND_HOME_PATH=str(PREFIX))
    subprocess.run(["make", "-C", folder], env=env, check=True, capture_output=True, timeout=300)
    shown = run(folder / "gelu", folder)
    assert "the results agree" in shown
