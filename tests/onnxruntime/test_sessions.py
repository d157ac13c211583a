"""Sessions of ONNX Runtime with its prebuilt CANN provider, against its CPU provider."""

import concurrent.futures
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import nets  # noqa: E402

BOUND = 1e-5
CANN = {"device_id": 0, "enable_cann_graph": True}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The provider writes model files to the current folder."""
    monkeypatch.chdir(tmp_path)


def cann(model, fused=True, **more):
    options = onnxruntime.SessionOptions()
    if not fused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    # Nothing may fall back to the CPU behind the test's back.
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    data = model.SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=[("CANNExecutionProvider", {**CANN, **more})])
    assert session.get_providers()[0] == "CANNExecutionProvider"
    return session


def cpu(model):
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def same(found, wanted, bound=BOUND):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        assert one.dtype == other.dtype and one.shape == other.shape
        scale = max(float(np.abs(other).max(initial=0.0)), 1e-6)
        assert float(np.abs(one.astype(np.float64) - other).max(initial=0.0)) <= bound * scale


def value(name, dims, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, dims)


def model_of(nodes, inputs, outputs, stored=()):
    stored = [numpy_helper.from_array(array, name) for name, array in stored]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def floats(*dims, seed=1):
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


def perceptron(batch):
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"]), helper.make_node("Add", ["a", "b1"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]), helper.make_node("Gemm", ["c", "w2", "b2"], ["y"]),
    ]
    stored = [("w1", floats(8, 16)), ("b1", floats(16)), ("w2", floats(16, 4)), ("b2", floats(4))]
    return model_of(nodes, [value("x", [batch, 8])], [value("y", [batch, 4])], stored)


def test_a_perceptron():
    model = perceptron(4)
    given = {"x": floats(4, 8, seed=2)}
    same(cann(model).run(None, given), cpu(model).run(None, given))


def test_a_batch_whose_size_is_known_when_it_runs():
    model = perceptron("batch")
    device, host = cann(model), cpu(model)
    for batch in [1, 5, 2, 5, 64]:
        given = {"x": floats(batch, 8, seed=batch)}
        same(device.run(None, given), host.run(None, given))


def test_outputs_whose_sizes_depend_on_data():
    model = model_of([helper.make_node("NonZero", ["x"], ["y"])], [value("x", [4, 5])], [value("y", [2, "n"], TensorProto.INT64)])
    for count in [20, 3, 0]:
        given = np.zeros(20, np.float32)
        given[:count] = 1
        given = {"x": given.reshape(4, 5)}
        same(cann(model).run(None, given), cpu(model).run(None, given))


def test_scalars_as_inputs():
    nodes = [helper.make_node("Clip", ["x", "least", "most"], ["y"])]
    model = model_of(nodes, [value("x", [3, 4]), value("least", []), value("most", [])], [value("y", [3, 4])])
    given = {"x": floats(3, 4), "least": np.array(-0.5, np.float32), "most": np.array(0.25, np.float32)}
    same(cann(model).run(None, given), cpu(model).run(None, given))


def test_inputs_and_outputs_that_are_bound_to_memory():
    model = perceptron(4)
    device, host = cann(model), cpu(model)
    for where in ["cpu", "cann"]:
        given = floats(4, 8, seed=7)
        binding = device.io_binding()
        binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(given, where, 0))
        binding.bind_output("y", where, 0)
        device.run_with_iobinding(binding)
        same(binding.copy_outputs_to_cpu(), host.run(None, {"x": given}))


def test_four_threads_on_one_session():
    model = nets.resnet50(batch=1, size=32, width=16, classes=10)
    device, host = cann(model), cpu(model)
    inputs = [{"input": floats(1, 3, 32, 32, seed=seed)} for seed in range(16)]
    wanted = [host.run(None, given) for given in inputs]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda given: device.run(None, given), inputs))
    for one, other in zip(found, wanted):
        same(one, other, 5e-5)


@pytest.mark.parametrize("name", ["resnet50", "mobilenet_v2", "bert", "lstm", "decoder"])
def test_a_network(name):
    model = nets.bert(layers=4, vocabulary=3000) if name == "bert" else getattr(nets, name)(batch=1) if name != "decoder" else nets.decoder()
    host = cpu(model)
    random = np.random.default_rng(5)
    ends = {"ids": 3000, "mask": 2, "token": 4000, "position": 64}
    given = {}
    for entry in host.get_inputs():
        dims = [dim if isinstance(dim, int) else 1 for dim in entry.shape]
        if entry.type == "tensor(float)":
            given[entry.name] = random.standard_normal(dims).astype(np.float32)
        else:
            given[entry.name] = random.integers(0, ends[entry.name], dims)
    same(cann(model).run(None, given), host.run(None, given))


def test_nodes_run_as_single_operators_where_graphs_are_off():
    rng = np.random.default_rng(7)

    def weights(name, *dims):
        return numpy_helper.from_array(rng.normal(size=dims).astype(np.float32), name)

    stored = [weights("w", 4, 3, 3, 3), weights("b", 4), weights("scale", 4), weights("shift", 4), weights("mean", 4)]
    stored += [numpy_helper.from_array(np.full(4, 0.7, np.float32), "var"), weights("m", 4, 5), weights("c", 5)]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["1"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1], dilations=[1, 1]),
        helper.make_node("BatchNormalization", ["1", "scale", "shift", "mean", "var"], ["2"]),
        helper.make_node("Relu", ["2"], ["3"]),
        helper.make_node("GlobalAveragePool", ["3"], ["4"]),
        helper.make_node("Flatten", ["4"], ["5"]),
        helper.make_node("MatMul", ["5", "m"], ["6"]),
        helper.make_node("Add", ["6", "c"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "net", [value("x", [2, 3, 8, 8])], [value("y", [2, 5])], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    given = {"x": rng.normal(size=(2, 3, 8, 8)).astype(np.float32)}
    # ONNX Runtime would make MatMul and Add a Gemm, for which the provider has no single operator.
    same(cann(model, fused=False, enable_cann_graph=False).run(None, given), cpu(model).run(None, given))
