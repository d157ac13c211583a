"""Whole networks against ONNX Runtime: max|a-b| / max|b| <= 1e-5."""

import numpy as np
import pytest

import nets
import runner


def image(*dims, seed=0):
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


@pytest.mark.parametrize("batch", [1, 3])
def test_digits_with_a_batch_fixed_by_input_shape(tmp_path, batch):
    runner.check(nets.digits(), [image(batch, 1, 8, 8)], tmp_path, shape=f"input:{batch},1,8,8")


def test_an_open_batch_without_input_shape_is_refused_by_name(tmp_path):
    with pytest.raises(runner.Refused, match=r"input input \(float32\[\?, 1, 8, 8\].*input_shape"):
        runner.check(nets.digits(), [image(1, 1, 8, 8)], tmp_path)


def test_a_small_residual_network(tmp_path):
    model = nets.resnet50(batch=2, width=8, size=64, blocks=(2, 1, 1, 2), classes=10)
    runner.check(model, [image(2, 3, 64, 64)], tmp_path)


def test_resnet50(tmp_path):
    worst = runner.check(nets.resnet50(), [image(1, 3, 224, 224)], tmp_path, shape="input:1,3,224,224")
    print(f"ResNet-50: max|a-b| / max|b| = {worst:.2e}")
