"""Precision modes: those that allow bfloat16 compute products in it, summed in float32; the others change nothing."""

import numpy as np
import pytest
from onnx import TensorProto

import nets
import runner

F = np.float32
NARROW = ["allow_fp32_to_bf16", "allow_mix_precision_bf16"]
WIDE = ["", "must_keep_origin_dtype", "force_fp32", "allow_fp32_to_fp16", "allow_mix_precision", "force_fp16"]
#: max|a-b| / max|b| against float32, for networks of some depth.
BOUND = 3e-2


def noise(*dims, seed=0):
    return np.random.default_rng(seed).standard_normal(dims).astype(F)


def rounded(x):
    """The nearest numbers of bfloat16, ties to even, worked out in float64: eight bits of the significand."""
    significand, exponent = np.frexp(x.astype(np.float64))
    return np.ldexp(np.round(significand * 256) / 256, exponent)


def run(path, inputs, folder, mode=""):
    found, _ = runner.jumar(path, inputs, folder, extra=["--precision", mode] if mode else [])
    return found


def convolution(x, w, stride, pad):
    """A convolution in float64, tap by tap."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    size = [(x.shape[2 + axis] - w.shape[2 + axis]) // stride + 1 for axis in range(2)]
    y = np.zeros((x.shape[0], w.shape[0], *size))
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            seen = x[:, :, i : i + stride * size[0] : stride, j : j + stride * size[1] : stride]
            y += np.einsum("nchw,oc->nohw", seen[:, :, : size[0], : size[1]], w[:, :, i, j])
    return y


@pytest.mark.parametrize("kernel, stride, channels, outputs, size", [(1, 1, 64, 48, 14), (3, 1, 20, 33, 15), (3, 2, 32, 16, 9), (5, 1, 16, 64, 30)])
def test_a_convolution_is_that_of_rounded_numbers(tmp_path, kernel, stride, channels, outputs, size):
    net, x = nets.Net(1), noise(2, channels, size, size)
    w, pad = noise(outputs, channels, kernel, kernel, seed=1), kernel // 2
    y = net.node("Conv", ["x", net.weight(w)], pads=[pad] * 4, strides=[stride] * 2)
    path = runner.save(net.model({"x": (TensorProto.FLOAT, list(x.shape))}, [y]), tmp_path)
    wanted = convolution(rounded(x), rounded(w), stride, pad).astype(F)
    (found,) = run(path, [x], tmp_path, NARROW[0])
    assert runner.distance(found, wanted) < 2e-6


@pytest.mark.parametrize("m, k, n", [(1, 300, 64), (7, 33, 40), (130, 256, 100)])
def test_a_product_is_that_of_rounded_numbers(tmp_path, m, k, n):
    net, x, w, b = nets.Net(1), noise(m, k), noise(k, n, seed=1), noise(n, seed=2)
    y = net.node("Relu", [net.node("Add", [net.node("MatMul", ["x", net.weight(w)]), net.weight(b)])])
    path = runner.save(net.model({"x": (TensorProto.FLOAT, list(x.shape))}, [y]), tmp_path)
    wanted = np.maximum(rounded(x) @ rounded(w) + b, 0).astype(F)
    (found,) = run(path, [x], tmp_path, NARROW[0])
    assert runner.distance(found, wanted) < 2e-6


NETWORKS = {
    "resnet": (lambda: nets.resnet50(batch=1, blocks=(1, 2, 1, 1), width=16, size=64, classes=40), lambda: noise(1, 3, 64, 64)),
    "mobilenet_v2": (lambda: nets.mobilenet_v2(size=96, classes=40), lambda: noise(1, 3, 96, 96)),
    "densenet": (lambda: nets.densenet121(size=64, classes=40, blocks=(2, 3)), lambda: noise(1, 3, 64, 64)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_stay_near_float32(tmp_path, name):
    make, given = NETWORKS[name]
    path, inputs = runner.save(make(), tmp_path), [given()]
    wanted = runner.reference(path, inputs)
    found = {mode: run(path, inputs, tmp_path, mode) for mode in WIDE + NARROW}
    for mode in WIDE:
        assert max(map(runner.distance, found[mode], wanted)) <= runner.BOUND, mode
        # The default mode: the same bytes.
        assert [y.tobytes() for y in found[mode]] == [y.tobytes() for y in found[""]], mode
    for mode in NARROW:
        worst = max(map(runner.distance, found[mode], wanted))
        print(f"{name}, {mode}: {worst:.1e}")
        assert runner.BOUND < worst <= BOUND, mode
        again = run(path, inputs, tmp_path, mode)
        assert [y.tobytes() for y in found[mode]] == [y.tobytes() for y in again]


def test_a_transformer_stays_near_float32(tmp_path):
    path = runner.save(nets.bert(layers=2, vocabulary=300, sequence=48), tmp_path)
    run_float32 = runner.session(path)
    rng = np.random.default_rng(0)
    ends = {"ids": 300, "mask": 2}
    inputs = [rng.integers(0, ends[port.name], port.shape) for port in run_float32.get_inputs()]
    wanted = runner.reference(path, inputs)
    found = run(path, inputs, tmp_path, NARROW[0])
    worst = max(map(runner.distance, found, wanted))
    print(f"bert, {NARROW[0]}: {worst:.1e}")
    assert runner.BOUND < worst <= BOUND


def test_a_mode_that_is_none_is_refused(tmp_path):
    net, x = nets.Net(1), noise(1, 4)
    path = runner.save(net.model({"x": (TensorProto.FLOAT, [1, 4])}, [net.node("Relu", ["x"])]), tmp_path)
    with pytest.raises(runner.Refused, match="allow_fp32_to_bf16"):
        run(path, [x], tmp_path, "bfloat16")
