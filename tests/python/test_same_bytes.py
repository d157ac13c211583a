"""Whole models give the same bytes from run to run with the same number of workers: on whichever stream, beside another model, in another
process, and whichever thread ran which part."""

import json
import os
import shutil
import subprocess
import sys

import numpy
import pytest

from fake import build

pytest.importorskip("onnx")
sys.path.insert(0, str(build.ROOT / "tests" / "models"))

import nets  # noqa: E402

# A network of convolutions of all kinds, and one of attention.
NETWORKS = {
    "mobilenet": lambda: nets.mobilenet_v2(size=96, classes=100),
    "bert": lambda: nets.bert(sequence=64, layers=2, width=192, heads=6, vocabulary=500),
}

CHILD = r"""
import hashlib, json, sys
import numpy
import acl

def good(ret):
    assert ret == 0, acl.get_recent_err_msg()

def value(found):
    good(found[1])
    return found[0]

ROUNDS = 12
good(acl.init())
good(acl.rt.set_device(0))
streams = [value(acl.rt.create_stream()) for _ in range(2)]
models = []
for path in sys.argv[1:]:
    # One loaded model is executed by one of the two calls only.
    model, waited = (value(acl.mdl.load_from_file(path + ".om")) for _ in range(2))
    desc = acl.mdl.create_desc()
    good(acl.mdl.get_desc(desc, model))
    inputs = acl.mdl.create_dataset()
    for x in numpy.load(path + ".npz").values():
        device = value(acl.rt.malloc(x.nbytes, 0))
        good(acl.rt.memcpy(device, x.nbytes, x.ctypes.data, x.nbytes, 1))
        acl.mdl.add_dataset_buffer(inputs, acl.create_data_buffer(device, x.nbytes))
    sizes = [acl.mdl.get_output_size_by_index(desc, i) for i in range(acl.mdl.get_num_outputs(desc))]
    rounds = []
    for _ in range(ROUNDS):
        devices, outputs = [value(acl.rt.malloc(size, 0)) for size in sizes], acl.mdl.create_dataset()
        for device, size in zip(devices, sizes):
            acl.mdl.add_dataset_buffer(outputs, acl.create_data_buffer(device, size))
        rounds.append((devices, outputs))
    models.append((model, waited, inputs, sizes, rounds))

# Both models at once, changing streams now and then; in between alone, by the thread that waits.
for round in range(ROUNDS):
    for index, (model, waited, inputs, _, rounds) in enumerate(models):
        if round % 4 == 3:
            good(acl.mdl.execute(waited, inputs, rounds[round][1]))
        else:
            good(acl.mdl.execute_async(model, inputs, rounds[round][1], streams[(index + round // 4) % 2]))
for stream in streams:
    good(acl.rt.synchronize_stream(stream))
found = []
for _, _, _, sizes, rounds in models:
    digests = set()
    for devices, _ in rounds:
        digest = hashlib.sha256()
        for device, size in zip(devices, sizes):
            host = numpy.zeros(size, numpy.uint8)
            good(acl.rt.memcpy(host.ctypes.data, size, device, size, 2))
            assert host.any()
            digest.update(host.tobytes())
        digests.add(digest.hexdigest())
    found.append(sorted(digests))
print(json.dumps(found))
"""


def feed(port):
    dims = [dim.dim_value for dim in port.type.tensor_type.shape.dim]
    rng = numpy.random.default_rng(7)
    if port.name == "mask":
        return numpy.ones(dims, numpy.int64)
    if port.type.tensor_type.elem_type == 7:
        return rng.integers(0, 400, dims)
    return rng.standard_normal(dims).astype(numpy.float32)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("same_bytes")
    atc = build.module_file().resolve().parents[2] / "bin" / "atc"
    atc = atc if atc.exists() else shutil.which("atc")
    paths = []
    for name, make in NETWORKS.items():
        model, path = make(), folder / name
        path.with_suffix(".onnx").write_bytes(model.SerializeToString())
        subprocess.run(
            [str(atc), f"--model={path}.onnx", "--framework=5", f"--output={path}", "--soc_version=Ascend910B1"],
            check=True, capture_output=True, timeout=300)
        numpy.savez(f"{path}.npz", **{port.name: feed(port) for port in model.graph.input})
        paths.append(str(path))
    return paths


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_have_the_same_bytes_from_run_to_run(paths, workers):
    def run():
        environment = os.environ | {"JUMAR_WORKERS": str(workers)}
        done = subprocess.run(
            [sys.executable, "-c", CHILD, *paths], env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first, second = run(), run()
    assert [len(digests) for digests in first] == [1, 1]
    assert first == second
