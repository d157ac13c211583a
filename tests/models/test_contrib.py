"""Operators of ONNX Runtime's own domain, as its optimiser and its quantiser write them, against ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import runner

F, U8, I8, I32 = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32
MICROSOFT = "com.microsoft"


def floats(*dims, seed=1):
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


def bytes_(*dims, seed=1, dtype=np.uint8):
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, dims, dtype, endpoint=True)


def model(op, inputs, outputs=1, stored=(), domain=MICROSOFT, **attrs):
    """A model of one node. Inputs are arrays, or None where one is left out; `stored` are those that are weights."""
    ports, weights, names = [], [], []
    for index, value in enumerate(inputs):
        name = "" if value is None else f"i{index}"
        names.append(name)
        if value is None:
            continue
        if index in stored:
            weights.append(numpy_helper.from_array(value, name))
        else:
            ports.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    outs = [f"o{index}" for index in range(outputs)] if isinstance(outputs, int) else list(outputs)
    node = helper.make_node(op, names, outs, domain=domain, **attrs)
    results = [onnx.ValueInfoProto(name=name) for name in outs if name]
    graph = helper.make_graph([node], "g", ports, results, weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def same(tmp_path, op, inputs, outputs=1, stored=(), bound=runner.BOUND, **attrs):
    made = model(op, inputs, outputs, stored, **attrs)
    given = [value for index, value in enumerate(inputs) if value is not None and index not in stored]
    return runner.check(made, given, tmp_path, bound=bound)


def off_by_one(tmp_path, op, inputs, stored=(), **attrs):
    """Quantised results may differ by one where a number lies between two."""
    path = runner.save(model(op, inputs, 1, stored, **attrs), tmp_path)
    given = [value for index, value in enumerate(inputs) if value is not None and index not in stored]
    (wanted,), ((found,), _) = runner.reference(path, given), runner.jumar(path, given, tmp_path)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    distance = np.abs(found.astype(np.int32) - wanted.astype(np.int32))
    assert distance.max() <= 1 and distance.mean() < 0.2, (found, wanted)


@pytest.mark.parametrize("turned", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_fused_mat_mul(tmp_path, turned):
    a = floats(2, 5, 4) if turned[0] else floats(2, 4, 5)
    b = floats(2, 3, 5, seed=2) if turned[1] else floats(2, 5, 3, seed=2)
    same(tmp_path, "FusedMatMul", [a, b], transA=turned[0], transB=turned[1], alpha=0.25)


@pytest.mark.parametrize("op, inputs, attrs", [
    ("Gelu", [floats(3, 8)], {}),
    ("BiasGelu", [floats(3, 8), floats(8, seed=2)], {}),
    ("FastGelu", [floats(3, 8), floats(8, seed=2)], {}),
    ("FastGelu", [floats(3, 8)], {}),
    ("QuickGelu", [floats(3, 8)], {"alpha": 1.5}),
])
def test_gelu_in_its_forms(tmp_path, op, inputs, attrs):
    same(tmp_path, op, inputs, bound=1e-4 if op == "FastGelu" else 1e-5, **attrs)


@pytest.mark.parametrize("activation, params", [("Relu", None), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.5]), ("HardSigmoid", [0.3, 0.4])])
def test_fused_conv(tmp_path, activation, params):
    attrs = {"activation_params": params} if params else {}
    x, w, b = floats(1, 3, 8, 8), floats(4, 3, 3, 3, seed=2), floats(4, seed=3)
    same(tmp_path, "FusedConv", [x, w, b], stored=(1, 2), pads=[1, 1, 1, 1], activation=activation, **attrs)


def test_fused_conv_with_a_sum(tmp_path):
    x, w, b, z = floats(1, 3, 8, 8), floats(4, 3, 3, 3, seed=2), floats(4, seed=3), floats(1, 4, 8, 8, seed=4)
    same(tmp_path, "FusedConv", [x, w, b, z], stored=(1, 2), pads=[1, 1, 1, 1], activation="Relu")


def test_fused_gemm(tmp_path):
    a, b, c = floats(4, 5), floats(3, 5, seed=2), floats(3, seed=3)
    same(tmp_path, "FusedGemm", [a, b, c], transB=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.1)


@pytest.mark.parametrize("outputs", [1, ["o0", "", "", "o3"]])
def test_skip_layer_normalization(tmp_path, outputs):
    x, skip = floats(2, 4, 8), floats(2, 4, 8, seed=2)
    gamma, beta, bias = floats(8, seed=3), floats(8, seed=4), floats(8, seed=5)
    same(tmp_path, "SkipLayerNormalization", [x, skip, gamma, beta, bias], outputs, epsilon=1e-5)
    same(tmp_path, "SkipLayerNormalization", [x, skip, gamma], outputs, epsilon=1e-5)
    same(tmp_path, "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], outputs, epsilon=1e-5)


def test_simplified_layer_normalization(tmp_path):
    same(tmp_path, "SimplifiedLayerNormalization", [floats(2, 4, 8), floats(8, seed=3)], domain="", axis=-1, epsilon=1e-5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_quantised_sums_and_products(tmp_path, op, dtype):
    a, b = bytes_(3, 8, dtype=dtype), bytes_(3, 8, seed=2, dtype=dtype)
    scales = [np.array(scale, np.float32) for scale in (0.02, 0.03, 0.05)]
    zero = np.array(5, dtype)
    off_by_one(tmp_path, op, [a, scales[0], zero, b, scales[1], zero, scales[2], zero], stored=(1, 2, 4, 5, 6, 7))


@pytest.mark.parametrize("op, dims, attrs", [
    ("QLinearSigmoid", (3, 8), {}),
    ("QLinearLeakyRelu", (3, 8), {"alpha": 0.1}),
    ("QLinearGlobalAveragePool", (1, 3, 5, 5), {"channels_last": 0}),
    ("QLinearAveragePool", (1, 3, 6, 6), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("QLinearSoftmax", (3, 8), {"axis": -1, "opset": 13}),
])
def test_quantised_functions(tmp_path, op, dims, attrs):
    scale, zero = np.array(0.02, np.float32), np.array(128, np.uint8)
    to = (np.array(1 / 256, np.float32), np.array(0, np.uint8)) if op in ("QLinearSigmoid", "QLinearSoftmax") else (scale, zero)
    off_by_one(tmp_path, op, [bytes_(*dims), scale, zero, *to], stored=(1, 2, 3, 4), **attrs)


def test_quantised_concat(tmp_path):
    scales = [np.array(scale, np.float32) for scale in (0.05, 0.02, 0.03)]
    zeros = [np.array(zero, np.uint8) for zero in (10, 20, 30)]
    parts = [scales[0], zeros[0], bytes_(2, 3), scales[1], zeros[1], bytes_(2, 4, seed=2), scales[2], zeros[2]]
    off_by_one(tmp_path, "QLinearConcat", parts, stored=(0, 1, 3, 4, 6, 7), axis=1)


@pytest.mark.parametrize("columns", [False, True])
def test_quantised_gemm(tmp_path, columns):
    a, b = bytes_(4, 5), bytes_(3, 5, seed=2, dtype=np.int8)
    scale = np.full(3 if columns else (), 0.01, np.float32) * (np.arange(1, 4, dtype=np.float32) if columns else np.float32(1))
    zero = np.zeros(3 if columns else (), np.int8)
    bias = np.array([100, -200, 300], np.int32)
    inputs = [a, np.array(0.02, np.float32), np.array(128, np.uint8), b, scale.astype(np.float32), zero, bias,
              np.array(0.1, np.float32), np.array(100, np.uint8)]
    off_by_one(tmp_path, "QGemm", inputs, stored=tuple(range(1, 9)), transB=1)
    same(tmp_path, "QGemm", inputs[:7], stored=tuple(range(1, 7)), transB=1)


def test_dynamic_products(tmp_path):
    a, b = floats(4, 6), bytes_(6, 5, dtype=np.int8)
    scale, zero, bias = np.array(0.02, np.float32), np.array(3, np.int8), floats(5, seed=4)
    same(tmp_path, "DynamicQuantizeMatMul", [a, b, scale, zero, bias], stored=(1, 2, 3, 4))
    same(tmp_path, "MatMulIntegerToFloat", [bytes_(4, 6), b, np.array(0.1, np.float32), scale, np.array(7, np.uint8), zero, bias],
         stored=(1, 2, 3, 4, 5, 6))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("size, hidden, direction", [(6, 4, "forward"), (300, 5, "reverse"), (7, 280, "bidirectional")])
def test_an_lstm_of_8_bits_rounds_its_input_and_its_state(tmp_path, columns, dtype, size, hidden, direction):
    directions = 2 if direction == "bidirectional" else 1
    x, bias = floats(5, 2, size), floats(directions, 8 * hidden, seed=2)
    w = bytes_(directions, size, 4 * hidden, dtype=dtype)
    r = bytes_(directions, hidden, 4 * hidden, seed=3, dtype=dtype)
    dims = (directions, 4 * hidden) if columns else (directions,)
    rng = np.random.default_rng(4)
    scales = [rng.uniform(0.002, 0.004, dims).astype(np.float32) / np.sqrt(deep).astype(np.float32) * 3 for deep in (size, hidden)]
    zeros = [np.full(dims, 0 if dtype is np.int8 else 128, dtype) for _ in range(2)]
    inputs = [x, w, r, bias, None, floats(directions, 2, hidden, seed=5), floats(directions, 2, hidden, seed=6), None,
              scales[0], zeros[0], scales[1], zeros[1]]
    same(tmp_path, "DynamicQuantizeLSTM", inputs, 3, stored=(1, 2, 3, 8, 9, 10, 11), bound=2e-6, hidden_size=hidden, direction=direction)


def test_an_lstm_of_8_bits_ends_each_sequence(tmp_path):
    size, hidden, zero = 6, 4, np.zeros(1, np.int8)
    w, r = bytes_(1, size, 4 * hidden, dtype=np.int8), bytes_(1, hidden, 4 * hidden, seed=3, dtype=np.int8)
    scale = np.full(1, 0.01, np.float32)
    inputs = [floats(5, 3, size), w, r, None, np.array([4, 2, 3], np.int32), None, None, None, scale, zero, scale, zero]
    same(tmp_path, "DynamicQuantizeLSTM", inputs, 3, stored=(1, 2, 8, 9, 10, 11), bound=2e-6, hidden_size=hidden)


@pytest.mark.parametrize("bits, zeros", [(4, False), (4, True), (8, False)])
def test_products_with_weights_of_few_bits(tmp_path, bits, zeros):
    rows, size, block = 5, 40, 16
    blocks = -(-size // block)
    packed = bytes_(rows, blocks, block * bits // 8)
    scales = np.abs(floats(rows * blocks, seed=2)) * np.float32(0.1)
    zero = bytes_(rows * -(-blocks * bits // 8), seed=3) if zeros else None
    same(tmp_path, "MatMulNBits", [floats(2, 3, size), packed, scales, zero], stored=(1, 2, 3), bound=1e-4, K=size, N=rows, bits=bits,
         block_size=block)


def test_attention(tmp_path):
    x, w, b = floats(2, 5, 8), floats(8, 24, seed=2), floats(24, seed=3)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    same(tmp_path, "Attention", [x, w, b], stored=(1, 2), bound=1e-4, num_heads=2)
    same(tmp_path, "Attention", [x, w, b, mask], stored=(1, 2), bound=1e-4, num_heads=2)
    same(tmp_path, "Attention", [x, w, b], stored=(1, 2), bound=1e-4, num_heads=2, unidirectional=1)


def test_multi_head_attention(tmp_path):
    q, k, v = floats(2, 5, 8), floats(2, 6, 8, seed=2), floats(2, 6, 8, seed=3)
    same(tmp_path, "MultiHeadAttention", [q, k, v, floats(24, seed=4)], stored=(3,), bound=1e-4, num_heads=2)
    same(tmp_path, "MultiHeadAttention", [q, k, v], bound=1e-4, num_heads=4, scale=0.3)


B, S, HEADS, SIZE = 2, 4, 2, 8
WIDTH = HEADS * SIZE


def ints(*values):
    return np.array(values, np.int32)


@pytest.mark.parametrize("mask, past, bias, outputs, attrs", [
    ([[1, 1, 1, 0], [1, 1, 0, 0]], False, False, 1, {}),
    ([3, 4], False, False, 1, {}),
    ([4, 4, 1, 0], False, False, 1, {}),
    (None, True, False, 2, {"unidirectional": 1}),
    ([[1] * 7, [1] * 6 + [0]], True, False, 2, {}),
    (None, False, True, 2, {"unidirectional": 1}),
    (np.tril(np.ones((B, S, S))), False, False, 1, {}),
])
def test_attention_with_masks_and_a_cache(tmp_path, mask, past, bias, outputs, attrs):
    inputs = [floats(B, S, WIDTH), floats(WIDTH, 3 * WIDTH, seed=2), floats(3 * WIDTH, seed=3),
              None if mask is None else np.array(mask, np.int32), floats(2, B, HEADS, 3, SIZE, seed=4) if past else None,
              floats(1, HEADS, S, S, seed=5) if bias else None]
    while inputs[-1] is None:
        inputs.pop()
    same(tmp_path, "Attention", inputs, outputs, stored=(1, 2), bound=1e-4, num_heads=HEADS, **attrs)


def test_attention_of_8_bits(tmp_path):
    inputs = [bytes_(B, S, WIDTH), bytes_(WIDTH, 3 * WIDTH, dtype=np.int8), floats(3 * WIDTH), np.array(0.02, np.float32),
              np.array(0.01, np.float32), ints(3, 4), np.array(128, np.uint8), np.array(3, np.int8)]
    same(tmp_path, "QAttention", inputs, stored=(1, 2), bound=1e-4, num_heads=HEADS)


@pytest.mark.parametrize("form, outputs, attrs", [
    ("sizes", 1, {}), ("bias", 1, {}), ("by_head", 1, {}), ("by_head_bias", 1, {}), ("lengths", 1, {}), ("mask", 1, {}),
    ("past", 3, {"unidirectional": 1}), ("present", 3, {}),
])
def test_multi_head_attention_in_its_forms(tmp_path, form, outputs, attrs):
    query, key, value = (floats(B, count, WIDTH, seed=count + seed) for seed, count in enumerate((S, 6, 6)))
    inputs = [query, key, value]
    if form == "sizes":
        inputs[2] = floats(B, 6, 10)
    if form.startswith("by_head"):
        inputs[1:] = [floats(B, HEADS, 6, SIZE, seed=seed) for seed in (1, 2)]
    if form.endswith("bias"):
        inputs.append(floats(3 * WIDTH))
    if form == "lengths":
        inputs += [None, ints(3, 6)]
    if form == "mask":
        inputs += [None, (bytes_(B, S, 6) > 80).astype(np.int32)]
    if form == "past":
        inputs[1:] = [floats(B, S, WIDTH, seed=seed) for seed in (3, 4)]
        inputs += [floats(3 * WIDTH), None, None, *(floats(B, HEADS, 3, SIZE, seed=seed) for seed in (5, 6))]
    same(tmp_path, "MultiHeadAttention", inputs, outputs, bound=1e-4, num_heads=HEADS, **attrs)


@pytest.mark.parametrize("steps, held, extra, attrs", [
    (5, None, (), {}), (5, 0, (), {}), (1, 6, (), {}), (1, 6, (), {"rotary_interleaved": 1}),
    (1, 12, (), {"local_window_size": 4}), (9, 0, (), {"local_window_size": 4}), (1, 6, (), {"softcap": 5.0}),
    (1, 6, (), {"smooth_softmax": 1}), (1, 6, (None, floats(1, 1, 1, 7)), {}), (1, 6, (None, None, floats(4)), {}),
])
@pytest.mark.parametrize("packed", [False, True])
def test_group_query_attention(tmp_path, steps, held, extra, attrs, packed):
    parts = [floats(2, steps, heads * 16, seed=heads + seed) for seed, heads in enumerate((4, 2, 2))]
    query = [np.concatenate(parts, 2), None, None] if packed else parts
    past = [None] * 2 if held is None else [floats(2, 2, held, 16, seed=seed) for seed in (7, 8)]
    total = steps + (held or 0)
    angles = np.arange(32)[:, None] / 10000 ** (np.arange(8) / 8)
    inputs = [*query, *past, ints(total - 1, total - 1), np.array(total, np.int32), np.cos(angles).astype(np.float32),
              np.sin(angles).astype(np.float32), *extra]
    same(tmp_path, "GroupQueryAttention", inputs, 3, stored=(6,), num_heads=4, kv_num_heads=2, do_rotary=1, bound=1e-4, **attrs)


def test_embeddings(tmp_path):
    words, segments = np.array([[1, 7, 3], [0, 2, 9]], np.int32), np.array([[0, 0, 1], [0, 1, 1]], np.int32)
    tables = [floats(10, WIDTH), floats(6, WIDTH, seed=2), floats(2, WIDTH, seed=3), floats(WIDTH), floats(WIDTH, seed=4)]
    same(tmp_path, "EmbedLayerNormalization", [words, segments, *tables, ints(1, 1, 0, 1, 1, 1).reshape(2, 3)], 3)
    without = [words, None, tables[0], tables[1], None, *tables[3:]]
    same(tmp_path, "EmbedLayerNormalization", without, 2)


@pytest.mark.parametrize("bits, zeros", [(4, False), (4, True), (8, False)])
def test_rows_of_a_table_of_few_bits(tmp_path, bits, zeros):
    columns = 64 * bits // 8
    inputs = [bytes_(10, columns), np.array([[1, 3], [9, 0]]), floats(10, 4), bytes_(10, 2, seed=3) if zeros else None]
    inputs = inputs if zeros else inputs[:3]
    same(tmp_path, "GatherBlockQuantized", inputs, stored=(0, 2, 3), block_size=16, bits=bits, quantize_axis=1, gather_axis=0)


@pytest.mark.parametrize("activation, fused, attrs", [
    ("relu", 1, {}), ("silu", 1, {"normalize_routing_weights": 1}), ("gelu", 1, {"k": 1}),
    ("swiglu", 2, {"swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 7.0}),
])
def test_experts(tmp_path, activation, fused, attrs):
    count, inner = 4, 12
    inputs = [floats(5, WIDTH), floats(5, count, seed=2), floats(count, fused * inner, WIDTH, seed=3),
              floats(count, fused * inner, seed=4), floats(count, WIDTH, inner, seed=5), floats(count, WIDTH, seed=6)]
    same(tmp_path, "MoE", inputs, activation_type=activation, **{"k": 2, **attrs})


@pytest.mark.parametrize("last", [0, 1])
def test_quantised_images_whose_channels_come_last(tmp_path, last):
    x = bytes_(1, 6, 6, 4) if last else bytes_(1, 4, 6, 6)
    scale, zero = np.array(0.02, np.float32), np.array(128, np.uint8)
    weights = [bytes_(3, 4, 3, 3, dtype=np.int8), np.array(0.01, np.float32), np.array(0, np.int8)]
    off_by_one(tmp_path, "QLinearConv", [x, scale, zero, *weights, np.array(0.1, np.float32), zero], stored=range(1, 8),
               channels_last=last, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    pool = [x, scale, zero, scale, zero]
    off_by_one(tmp_path, "QLinearAveragePool", pool, stored=range(1, 5), channels_last=last, kernel_shape=[2, 2], strides=[2, 2])
    off_by_one(tmp_path, "QLinearGlobalAveragePool", pool, stored=range(1, 5), channels_last=last)


@pytest.mark.parametrize("op, inputs, stored, outputs, attrs", [
    ("NhwcMaxPool", [bytes_(1, 6, 6, 3)], (), 1, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("ExpandDims", [floats(2, 3), ints(1)], (1,), 1, {}),
    ("Trilu", [floats(4, 4)], (), 1, {"upper": 0}),
    ("GatherND", [floats(3, 4), np.array([[0, 1], [2, 3]])], (), 1, {}),
    ("Range", [np.array(value, np.int32) for value in (1, 9, 2)], (0, 1, 2), 1, {}),
    ("Pad", [floats(2, 3), np.array([0, 1, 1, 0])], (1,), 1, {}),
    ("Unique", [floats(3).repeat(2)], (), 3, {}),
    ("GridSample", [floats(1, 2, 4, 4), floats(1, 3, 3, 2)], (), 1, {"mode": "bilinear"}),
    ("ConvTransposeWithDynamicPads", [floats(1, 2, 4, 4), floats(2, 3, 3, 3), np.array([1, 1, 1, 1])], (2,), 1, {"kernel_shape": [3, 3]}),
    ("CausalConvWithState", [floats(2, 4, 6), floats(4, 1, 3), floats(4), floats(2, 4, 2)], (), 2, {"activation": "silu"}),
    ("RotaryEmbedding", [floats(2, 4, 16), np.array([3]), floats(16, 4), floats(16, 4, seed=2)], (), 1, {}),
])
def test_small_operators(tmp_path, op, inputs, stored, outputs, attrs):
    same(tmp_path, op, inputs, outputs, stored, **attrs)


@pytest.mark.parametrize("domain, op, advice", [
    ("com.microsoft.nchwc", "Conv", "ORT_ENABLE_EXTENDED"), ("ai.onnx.ml", "TreeEnsembleRegressor", "export the network without it"),
    ("org.pytorch.aten", "ATen", "dynamo=True"),
])
def test_operators_of_other_domains_are_refused_with_what_made_them(tmp_path, domain, op, advice):
    made = model(op, [floats(1, 2)], domain=domain)
    made.opset_import.append(helper.make_opsetid(domain, 1))
    with pytest.raises(runner.Refused, match=domain.replace(".", r"\.")) as error:
        runner.jumar(runner.save(made, tmp_path), [floats(1, 2)], tmp_path)
    assert advice in str(error.value)


def test_what_the_optimiser_makes_of_a_transformer(tmp_path):
    """A block in the form that exporters write, after ONNX Runtime's own optimiser."""
    import nets

    path = runner.save(nets.bert(sequence=16, layers=1, width=64, heads=4, vocabulary=100), tmp_path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    optimised = onnx.load(str(tmp_path / "optimised.onnx"))
    inputs = []
    for port in optimised.graph.input:
        dims = [dim.dim_value or 1 for dim in port.type.tensor_type.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)
        inputs.append(floats(*dims).astype(dtype) if dtype == np.float32 else np.ones(dims, dtype))
    runner.check(optimised, inputs, tmp_path, shape=";".join(
        f"{port.name}:{','.join(map(str, value.shape))}" for port, value in zip(optimised.graph.input, inputs)), bound=1e-4)


def test_what_is_not_there_is_named(tmp_path):
    path = runner.save(model("NoSuchThing", [floats(2)]), tmp_path)
    with pytest.raises(runner.Refused, match="com.microsoft::NoSuchThing"):
        runner.jumar(path, [floats(2)], tmp_path)
