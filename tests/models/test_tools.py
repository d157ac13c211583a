"""Files as the quantiser, the optimiser and the float16 converter of ONNX Runtime write them, of small networks made here.

The reference is ONNX Runtime without optimisations, which computes what each operator defines; its 8-bit products saturate on some processors,
so that others are chosen.
"""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.transformers import float16
from onnxruntime.transformers.onnx_model_bert import BertOnnxModel

import runner

F = TensorProto.FLOAT


class Net:
    """A graph that grows node by node."""

    def __init__(self, seed=3):
        self.rng, self.nodes, self.weights, self.inputs = np.random.default_rng(seed), [], [], {}

    def input(self, name, *dims):
        self.inputs[name] = dims
        return name

    def weight(self, *dims):
        scale = 1 / np.sqrt(max(1, int(np.prod(dims[1:]))))
        return self.constant((self.rng.standard_normal(dims) * scale).astype(np.float32))

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def __call__(self, op, *inputs, **attrs):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attrs))
        return name

    def save(self, path, *outputs, opset=17):
        ports = [helper.make_tensor_value_info(name, F, dims) for name, dims in self.inputs.items()]
        results = [helper.make_tensor_value_info(name, F, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", ports, results, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        onnx.save(onnx.shape_inference.infer_shapes(model), path)

    def samples(self, count=4):
        rng = np.random.default_rng(11)
        return [{name: rng.standard_normal(dims).astype(np.float32) for name, dims in self.inputs.items()} for _ in range(count)]


def convolutions(path, opset):
    net = Net()
    x = net.input("x", 1, 3, 16, 16)
    x = net("Relu", net("Conv", x, net.weight(8, 3, 3, 3), net.weight(8), pads=[1, 1, 1, 1]))
    x = net("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = net("Sigmoid", net("Conv", x, net.weight(8, 1, 3, 3), net.weight(8), pads=[1, 1, 1, 1], group=8))
    x = net("Add", net("Mul", x, y), x)
    x = net("Concat", x, net("Conv", x, net.weight(4, 8, 1, 1)), axis=1)
    x = net("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net("Flatten", net("GlobalAveragePool", net("LeakyRelu", x, alpha=0.1)))
    net.save(path, net("Softmax", net("Gemm", x, net.weight(5, 12), net.weight(5), transB=1), axis=-1), opset=opset)
    return net


def attention(path, opset):
    """A layer of an encoder, as exporters write it."""
    net, width, heads, length = Net(), 32, 4, 6
    x = net.input("x", 1, length, width)

    def dense(x, rows, columns):
        return net("Add", net("MatMul", x, net.weight(rows, columns)), net.weight(columns))

    def normal(x):
        return net("LayerNormalization", x, net.constant(np.ones(width, np.float32)), net.constant(np.zeros(width, np.float32)), axis=-1)

    def split(x, perm):
        shape = net.constant(np.array([1, length, heads, width // heads]))
        return net("Transpose", net("Reshape", x, shape), perm=perm)

    q, k, v = (split(dense(x, width, width), perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    scores = net("Div", net("MatMul", q, k), net.constant(np.float32(np.sqrt(width // heads))))
    mixed = net("Transpose", net("MatMul", net("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    mixed = net("Reshape", mixed, net.constant(np.array([1, length, width])))
    x = normal(net("Add", dense(mixed, width, width), x))
    y = dense(x, width, 64)
    half = net("Add", net("Erf", net("Div", y, net.constant(np.float32(np.sqrt(2))))), net.constant(np.float32(1)))
    y = net("Mul", net("Mul", y, half), net.constant(np.float32(0.5)))
    net.save(path, normal(net("Add", dense(y, 64, width), x)), opset=opset)
    return net


def recurrent(path, opset):
    net, hidden = Net(), 16
    x = net.input("x", 7, 2, 12)
    name = "lstm"
    weights = [net.weight(1, 4 * hidden, 12), net.weight(1, 4 * hidden, hidden), net.weight(1, 8 * hidden)]
    net.nodes.append(helper.make_node("LSTM", [x, *weights], [name], name=name, hidden_size=hidden))
    x = net("Squeeze", name, net.constant(np.array([1])))
    net.save(path, net("MatMul", x, net.weight(hidden, 5)), opset=opset)
    return net


NETS = [convolutions, attention, recurrent]


class Samples(CalibrationDataReader):
    def __init__(self, samples):
        self.left = iter(samples)

    def get_next(self):
        return next(self.left, None)


def static(source, target, samples, **options):
    quantize_static(source, target, Samples(samples), **options)


def reference(path, sample):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    options.add_session_config_entry("session.x64quantprecision", "1")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, sample)


def check(path, net, tmp_path, most, seldom=0.0):
    """Compares the outputs; up to a part of `seldom` of them may differ by `most`, where a number lies between two integers."""
    for sample in net.samples(2):
        wanted, (found, _) = reference(path, sample), runner.jumar(path, list(sample.values()), tmp_path)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            apart = np.abs(one.astype(np.float64) - other.astype(np.float64)) / np.abs(other.astype(np.float64)).max()
            assert apart.max() <= most, apart.max()
            assert (apart > 1e-5).mean() <= seldom or not seldom, (apart > 1e-5).mean()


# The largest distance: a step of 8 bits in an early layer, seen at the end.
STATIC = {
    "qdq": (17, dict(quant_format=QuantFormat.QDQ)),
    "qdq_per_channel": (17, dict(quant_format=QuantFormat.QDQ, per_channel=True)),
    "qdq_signed": (17, dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)),
    "qdq_16_bits": (17, dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt16, weight_type=QuantType.QInt8)),
    "qdq_16_bits_standard": (21, dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt16, weight_type=QuantType.QInt16)),
    "qdq_4_bits": (21, dict(quant_format=QuantFormat.QDQ, weight_type=QuantType.QInt4)),
    "qdq_4_bits_unsigned": (21, dict(quant_format=QuantFormat.QDQ, weight_type=QuantType.QUInt4, per_channel=True)),
    "qdq_4_bits_own_domain": (17, dict(quant_format=QuantFormat.QDQ, weight_type=QuantType.QInt4)),
    "qoperator": (17, dict(quant_format=QuantFormat.QOperator)),
    "qoperator_per_channel": (17, dict(quant_format=QuantFormat.QOperator, per_channel=True)),
}
QUICK = {("convolutions", "qdq"), ("convolutions", "qoperator"), ("attention", "qdq_4_bits"), ("convolutions", "qdq_4_bits_own_domain")}


def marked(make, name):
    marks = () if (make.__name__, name) in QUICK else (pytest.mark.long,)
    return pytest.param(make, name, marks=marks, id=f"{make.__name__}-{name}")


@pytest.mark.parametrize("make, name", [marked(make, name) for make in NETS for name in STATIC])
def test_static_quantisation(tmp_path, make, name):
    opset, options = STATIC[name]
    source, target = tmp_path / "source.onnx", tmp_path / "target.onnx"
    net = make(source, opset)
    static(source, target, net.samples(), **options)
    check(target, net, tmp_path, 0.03, 0.5 if name.startswith("qdq") else 0.0)


@pytest.mark.parametrize("per_channel", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("make", NETS)
def test_dynamic_quantisation(tmp_path, make, per_channel):
    source, target = tmp_path / "source.onnx", tmp_path / "target.onnx"
    net = make(source, 17)
    quantize_dynamic(source, target, per_channel=per_channel, weight_type=QuantType.QUInt8 if make is convolutions else QuantType.QInt8)
    check(target, net, tmp_path, 0.03)


def test_a_recurrent_layer_of_8_bits_is_exact(tmp_path):
    source, target = tmp_path / "source.onnx", tmp_path / "target.onnx"
    net = recurrent(source, 17)
    quantize_dynamic(source, target, op_types_to_quantize=["LSTM"])
    assert "DynamicQuantizeLSTM" in {node.op_type for node in onnx.load(target).graph.node}
    check(target, net, tmp_path, 1e-5)


def test_the_optimiser_of_transformers(tmp_path):
    source, target = tmp_path / "source.onnx", tmp_path / "target.onnx"
    net = attention(source, 17)
    made = BertOnnxModel(onnx.load(source), num_heads=4, hidden_size=32)
    # The other fusions infer shapes with a package that the tests do not have; tests/models/test_contrib.py has their operators.
    made.fuse_gelu()
    made.fuse_layer_norm()
    made.fuse_attention()
    onnx.save(made.model, target)
    assert {"Attention", "Gelu"} <= {node.op_type for node in onnx.load(target).graph.node}
    check(target, net, tmp_path, 1e-5)


@pytest.mark.parametrize("make", [convolutions, pytest.param(attention, marks=pytest.mark.long)])
def test_the_converter_to_float16(tmp_path, make):
    source, target = tmp_path / "source.onnx", tmp_path / "target.onnx"
    net = make(source, 17)
    onnx.save(float16.convert_float_to_float16(onnx.load(source), keep_io_types=True), target)
    check(target, net, tmp_path, 5e-3)
