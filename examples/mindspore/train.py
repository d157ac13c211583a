"""Trains a small convolutional network with MindSpore, on its CPU and on the device, from the same weights: the losses agree.

    pip install "numpy<2" mindspore==2.10.0 jumar-*.whl && python train.py
    jumar run -- python train.py                             # with an install tree
"""

import subprocess
import sys

import mindspore as ms
import numpy as np
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(1, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Dense(256, 10)
        )

    def construct(self, x):
        return self.body(x)


def train(device, steps=20):
    ms.set_device(device)
    random = np.random.default_rng(1)
    net = Net().set_train()
    for parameter in net.trainable_params():
        parameter.set_data(ms.Tensor((random.standard_normal(parameter.shape) * 0.2).astype(np.float32)))
    loss = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.02, 0.9)
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    x = ms.Tensor(random.standard_normal((32, 1, 16, 16)).astype(np.float32))
    y = ms.Tensor(random.integers(0, 10, 32).astype(np.int32))
    losses = []
    for _ in range(steps):
        value, gradients = step(x, y)
        optimizer(gradients)
        losses.append(float(value.asnumpy()))
    return losses


def main():
    if len(sys.argv) > 1:
        print(*train(sys.argv[1]))
        return
    # MindSpore has one device in a process.
    command = [sys.executable, __file__]
    cpu, npu = (list(map(float, subprocess.run([*command, name], capture_output=True, text=True, check=True).stdout.split())) for name in ("CPU", "Ascend"))
    for number in range(0, len(cpu), 5):
        print(f"step {number}: {cpu[number]:.5f} on the CPU, {npu[number]:.5f} on the device")
    worst = max(abs(one - other) for one, other in zip(cpu, npu))
    assert worst < 1e-3, worst
    print(f"losses agree within {worst:.1e}")


main()
