"""What transformers and shuffled groups are made of, as exporters write it out: it becomes fewer operators, and its results stay those of ONNX Runtime."""

import re

import numpy as np
import pytest
from onnx import TensorProto

import nets
import runner

F = np.float32


def operators(model, inputs, folder):
    """The operators of the compiled model's steps, after its results were compared."""
    runner.check(model, inputs, folder)
    _, text = runner.jumar(folder / "model.onnx", inputs, folder, extra=["--repeat", "1", "--steps"])
    return re.findall(r"^\s*[\d.]+ us\s+(\S+)", text, re.M)


def noise(*dims, seed=0):
    return np.random.default_rng(seed).standard_normal(dims).astype(F)


def port(x):
    return (TensorProto.FLOAT, list(x.shape))


def layer_norm(net, square, twice):
    def centred():
        return net.node("Sub", ["x", net.node("ReduceMean", ["x"], axes=[-1], keepdims=1)])

    one = centred()
    two = centred() if twice else one
    squares = net.node("Pow", [one, net.weight(F(2))]) if square == "Pow" else net.node("Mul", [one, one])
    variance = net.node("ReduceMean", [squares], axes=[2], keepdims=1)
    root = net.node("Sqrt", [net.node("Add", [net.weight(F(1e-6)), variance])])
    normed = net.node("Div", [two, root])
    scaled = net.node("Mul", [net.weight(noise(48, seed=1)), normed])
    return net.node("Add", [scaled, net.weight(noise(48, seed=2))])


@pytest.mark.parametrize("square", ["Pow", "Mul"])
@pytest.mark.parametrize("twice", [False, True])
def test_layer_normalisation(tmp_path, square, twice):
    net, x = nets.Net(1), noise(2, 5, 48)
    found = operators(net.model({"x": port(x)}, [layer_norm(net, square, twice)]), [x], tmp_path)
    assert found == ["LayerNormV3"]


def test_a_gain_of_another_shape_is_no_layer_normalisation(tmp_path):
    net, x = nets.Net(1), noise(2, 5, 48)
    centred = net.node("Sub", ["x", net.node("ReduceMean", ["x"], axes=[-1], keepdims=1)])
    variance = net.node("ReduceMean", [net.node("Mul", [centred, centred])], axes=[-1], keepdims=1)
    root = net.node("Sqrt", [net.node("Add", [variance, net.weight(F(1e-6))])])
    y = net.node("Mul", [net.node("Div", [centred, root]), net.weight(noise(5, 1, seed=1))])
    y = net.node("Add", [y, net.weight(noise(48, seed=2))])
    assert "LayerNormV3" not in operators(net.model({"x": port(x)}, [y]), [x], tmp_path)


@pytest.mark.parametrize("inverse", [False, True])
def test_rms_normalisation(tmp_path, inverse):
    net, x = nets.Net(1), noise(3, 48)
    mean = net.node("ReduceMean", [net.node("Mul", ["x", "x"])], axes=[-1], keepdims=1)
    root = net.node("Sqrt", [net.node("Add", [mean, net.weight(F(1e-5))])])
    y = net.node("Mul", ["x", net.node("Reciprocal", [root])]) if inverse else net.node("Div", ["x", root])
    model = net.model({"x": port(x)}, [net.node("Mul", [y, net.weight(noise(48, seed=1))])])
    assert operators(model, [x], tmp_path) == ["RmsNorm"]


def erf_part(net, x):
    inner = net.node("Erf", [net.node("Div", [x, net.weight(F(np.sqrt(2)))])])
    return net.node("Add", [inner, net.weight(F(1))])


def tanh_part(net, x):
    cube = net.node("Mul", [net.node("Pow", [x, net.weight(F(3))]), net.weight(F(0.044715))])
    inner = net.node("Mul", [net.node("Add", [x, cube]), net.weight(F(np.sqrt(2 / np.pi)))])
    return net.node("Add", [net.node("Tanh", [inner]), net.weight(F(1))])


@pytest.mark.parametrize("part", [erf_part, tanh_part])
@pytest.mark.parametrize("order", range(3))
def test_gelu_in_every_grouping(tmp_path, part, order):
    net, x = nets.Net(1), noise(4, 40)
    bent, half = part(net, "x"), net.weight(F(0.5))
    groups = [("x", bent, half), ("x", half, bent), (bent, half, "x")]
    one, two, three = groups[order]
    model = net.model({"x": port(x)}, [net.node("Mul", [net.node("Mul", [one, two]), three])])
    assert operators(model, [x], tmp_path) == ["GeluV2"]


@pytest.mark.parametrize("factor", [0.25, 0.5000001])
def test_what_is_almost_gelu_stays_what_it_is(tmp_path, factor):
    net, x = nets.Net(1), noise(4, 40)
    y = net.node("Mul", [net.node("Mul", ["x", erf_part(net, "x")]), net.weight(F(factor))])
    assert ("GeluV2" in operators(net.model({"x": port(x)}, [y]), [x], tmp_path)) == (factor > 0.4)


@pytest.mark.parametrize("end", ["", "Relu", "Tanh", "Sigmoid", "gelu", "silu"])
def test_what_follows_a_product_is_taken_in(tmp_path, end):
    net, x, other = nets.Net(1), noise(2, 9, 48), noise(2, 9, 70, seed=4)
    y = net.node("MatMul", ["x", net.weight(noise(48, 70, seed=1) / 7)])
    y = net.node("Add", [net.weight(noise(70, seed=2)), y])
    y = net.node("Add", ["other", y])
    if end == "gelu":
        y = net.node("Mul", [net.node("Mul", [y, erf_part(net, y)]), net.weight(F(0.5))])
    elif end == "silu":
        y = net.node("Mul", [y, net.node("Sigmoid", [y])])
    elif end:
        y = net.node(end, [y])
    model = net.model({"x": port(x), "other": port(other)}, [y])
    assert operators(model, [x, other], tmp_path) == ["jumar.Linear"]


def test_a_product_that_somebody_else_reads_stays(tmp_path):
    net, x = nets.Net(1), noise(6, 48)
    y = net.node("MatMul", ["x", net.weight(noise(48, 64, seed=1))])
    model = net.model({"x": port(x)}, [net.node("Relu", [y]), y])
    assert operators(model, [x], tmp_path) == ["jumar.Linear", "Relu"]


def test_a_matrix_that_is_read_elsewhere_is_not_packed(tmp_path):
    net, x, z = nets.Net(1), noise(6, 48), noise(64, 5)
    matrix = net.weight(noise(48, 64, seed=1))
    model = net.model({"x": port(x), "z": port(z)}, [net.node("MatMul", ["x", matrix]), net.node("MatMul", [matrix, "z"])])
    assert "jumar.Linear" not in operators(model, [x, z], tmp_path)


@pytest.mark.parametrize("mask", [None, (2, 1, 1, 7), (7, 7), (2, 3, 7, 7)])
@pytest.mark.parametrize("keys", ["one transposition", "two transpositions", "by head"])
def test_attention(tmp_path, mask, keys):
    net, inputs = nets.Net(1), {name: noise(2, 7, 48, seed=index) for index, name in enumerate("qkv")}
    split = net.weight(np.array([2, 7, 3, 16]))

    def heads(x, perm=(0, 2, 1, 3)):
        return net.node("Transpose", [net.node("Reshape", [x, split])], perm=list(perm))

    q, v = heads("q"), heads("v")
    k = heads("k", (0, 2, 3, 1)) if keys == "one transposition" else net.node("Transpose", [heads("k")], perm=[0, 1, 3, 2])
    scores = net.node("Div", [net.node("MatMul", [q, k]), net.weight(F(4))])
    if mask:
        inputs["mask"] = np.where(noise(*mask, seed=5) > 1, F(-10000), F(0))
        scores = net.node("Add", [scores, "mask"])
    y = net.node("MatMul", [net.node("Softmax", [scores], axis=-1), v])
    if keys != "by head":
        y = net.node("Reshape", [net.node("Transpose", [y], perm=[0, 2, 1, 3]), net.weight(np.array([2, 7, 48]))])
    model = net.model({name: port(x) for name, x in inputs.items()}, [y])
    found = operators(model, list(inputs.values()), tmp_path)
    assert found.count("jumar.Attention") == 1 and "SoftmaxV2" not in found
    if keys != "by head":
        assert found == ["jumar.Attention"]


def test_a_row_that_sees_nothing_is_not_a_number(tmp_path):
    net, inputs = nets.Net(1), {name: noise(1, 2, 4, 16, seed=index) for index, name in enumerate("qkv")}
    inputs["mask"] = np.zeros((4, 4), F)
    inputs["mask"][1] = -np.inf
    k = net.node("Transpose", ["k"], perm=[0, 1, 3, 2])
    scores = net.node("Add", [net.node("Mul", [net.node("MatMul", ["q", k]), net.weight(F(0.25))]), "mask"])
    y = net.node("MatMul", [net.node("Softmax", [scores], axis=-1), "v"])
    model = net.model({name: port(x) for name, x in inputs.items()}, [y])
    assert "jumar.Attention" in operators(model, list(inputs.values()), tmp_path)


def test_a_small_encoder_and_a_decoder_step(tmp_path):
    model = nets.bert(batch=2, sequence=9, layers=2, width=48, heads=3, vocabulary=50)
    rng = np.random.default_rng(0)
    found = operators(model, [rng.integers(0, 50, (2, 9)), np.ones((2, 9), np.int64)], tmp_path)
    assert found.count("jumar.Attention") == 2 and found.count("LayerNormV3") == 5
    assert not {"Transpose", "Erf", "BatchMatMulV2", "MatMulV2"} & set(found)


def shuffle(net, x, groups, channels, size, perm=(0, 2, 1, 3, 4)):
    """Deals channels out in turn."""
    x = net.node("Reshape", [x, net.weight(np.array([2, groups, channels // groups, size, size]))])
    x = net.node("Transpose", [x], perm=list(perm))
    return net.node("Reshape", [x, net.weight(np.array([2, channels, size, size]))])


@pytest.mark.parametrize("groups", [1, 2, 3, 5, 30, 60])
@pytest.mark.parametrize("size", [7, 15])
def test_shuffled_groups(tmp_path, groups, size):
    net, x = nets.Net(groups), noise(2, 60, size, size)
    y = shuffle(net, net.node("Relu", [net.conv("x", 60, 60, 1, groups=3, bias=True)]), groups, 60, size)
    y = net.conv(y, 60, 60, 3, 1, 1, groups=60, bias=True)
    y = net.conv(y, 60, 120, 1, groups=3)
    z = shuffle(net, shuffle(net, y, 2, 120, size), groups, 120, size)
    y = net.node("Relu", [net.node("Add", [net.conv(z, 120, 120, 3, 1, 1, groups=2, bias=True), y])])
    found = operators(net.model({"x": port(x)}, [y]), [x], tmp_path)
    assert "Transpose" not in found and "jumar.BlockedPickedConv2D" in found


def test_a_shuffle_that_others_read(tmp_path):
    """The order of channels that a program asked for: where an output, a sum or a function of each element sees it, and not only a convolution."""
    net, x = nets.Net(1), noise(2, 48, 9, 9)
    y = net.conv("x", 48, 48, 3, 1, 1)
    z = shuffle(net, y, 3, 48, 9)
    outputs = [z, net.node("Add", [z, y]), net.node("Tanh", [z]), net.conv(z, 48, 32, 1)]
    found = operators(net.model({"x": port(x)}, outputs), [x], tmp_path)
    assert "Transpose" not in found and found.count("GatherV2") == 1


@pytest.mark.parametrize("perm", [(0, 1, 2, 3, 4), (0, 2, 1, 4, 3), (0, 1, 2, 4, 3)])
def test_what_is_no_shuffle(tmp_path, perm):
    net, x = nets.Net(1), noise(2, 48, 9, 9)
    y = shuffle(net, net.conv("x", 48, 48, 3, 1, 1), 3, 48, 9, perm)
    operators(net.model({"x": port(x)}, [net.conv(y, 48, 32, 1)]), [x], tmp_path)
