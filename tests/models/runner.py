"""Runs models through Jumar's host runner and through ONNX Runtime, and compares."""

import os
import pathlib
import subprocess

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# `cargo xtask ci` says how it builds what is under test.
PROFILE = os.environ.get("JUMAR_TEST_PROFILE") or "release"
RUNNER = TARGET / {"dev": "debug"}.get(PROFILE, PROFILE) / "examples" / "run_model"
DTYPES = {"bool": np.bool_, "float16": np.float16}
BOUND = 1e-5


class Refused(Exception):
    """Jumar refused the model; the text is its sentence."""


def build():
    """Builds the runner, of the parts that the libraries were built of: with packages chosen otherwise, features differ and all is compiled again."""
    packages = [word for name in ("jumar-capi", "jumar-py", "jumar-cli", "jumar-graph") for word in ("-p", name)]
    command = ["cargo", "build", "--quiet", "--profile", PROFILE, *packages, "--example", "run_model"]
    subprocess.run(command, cwd=ROOT, check=True)


def save(model, folder):
    path = pathlib.Path(folder) / "model.onnx"
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return path


def jumar(path, inputs, folder, shape="", extra=(), real=""):
    """Runs a model with arrays in the order of its inputs; returns the outputs."""
    files = []
    for index, array in enumerate(inputs):
        file = pathlib.Path(folder) / f"input_{index}.bin"
        file.write_bytes(np.ascontiguousarray(array).tobytes())
        files.append(str(file))
    command = [str(RUNNER), str(path), str(folder), "--shape", shape, "--real", real, *extra, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Refused(done.stderr)
    outputs = []
    for index, line in enumerate((pathlib.Path(folder) / "description.txt").read_text().splitlines()):
        dtype, dims, _ = line.split(" ", 2)
        dims = [int(d) for d in dims.split(",")] if dims else []
        data = (pathlib.Path(folder) / f"output_{index}.bin").read_bytes()
        outputs.append(np.frombuffer(data, DTYPES.get(dtype) or np.dtype(dtype)).reshape(dims))
    return outputs, done.stdout


def session(path, threads=1):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def reference(path, inputs):
    run = session(path)
    return run.run(None, {i.name: a for i, a in zip(run.get_inputs(), inputs)})


def distance(found, wanted):
    """max|a-b| / max|b|, over the finite elements of b; the others have to be equal."""
    assert found.shape == wanted.shape, f"shape {found.shape}, has to be {wanted.shape}"
    assert found.dtype == wanted.dtype, f"type {found.dtype}, has to be {wanted.dtype}"
    if wanted.size == 0:
        return 0.0
    if not np.issubdtype(wanted.dtype, np.floating):
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(b)
    assert np.array_equal(a[~finite], b[~finite], equal_nan=True)
    if not finite.any():
        return 0.0
    return float(np.max(np.abs(a - b)[finite]) / max(np.max(np.abs(b[finite])), 1e-30))


def check(model, inputs, folder, shape="", bound=BOUND, wanted=None, real=""):
    """Compares Jumar with ONNX Runtime (or with given arrays); returns the largest distance."""
    path = save(model, folder)
    if wanted is None:
        wanted = reference(path, inputs)
    found, _ = jumar(path, inputs, folder, shape, real=real)
    assert len(found) == len(wanted)
    worst = max(distance(a, b) for a, b in zip(found, wanted))
    assert worst <= bound, f"distance {worst}"
    return worst


def check_model(model):
    onnx.checker.check_model(model)
    return model
