"""Trains small networks with MindSpore on the device and on its CPU, and compares the losses of every step.

    jumar run -- python networks.py [--only REGEX] [--steps N]

Each network runs in each mode in a process of its own: pynative, and graph mode at the levels O0, O1 and O2, from the same weights and
the same data. Losses count as right within 1e-3 of the CPU's in float32; with mixed precision the loss has to fall as it does there. A
last group of entries saves and loads checkpoints, reads data sets, and records a profile.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

MODES = ["pynative", "O0", "O1", "O2"]


def lenet(ms, nn, ops, np, random):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = nn.SequentialCell(
                nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(),
                nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(256, 84), nn.ReLU(), nn.Dense(84, 10),
            )

        def construct(self, x):
            return self.body(x)

    x, y = random.standard_normal((16, 1, 28, 28)), random.integers(0, 10, 16)
    return Net(), (x.astype(np.float32),), y.astype(np.int32), nn.Momentum, 0.01


def resnet(ms, nn, ops, np, random):
    """ResNet-50: bottlenecks in four stages, with few channels."""

    class Block(nn.Cell):
        def __init__(self, inner, middle, stride):
            super().__init__()
            outer = 4 * middle
            self.body = nn.SequentialCell(
                nn.Conv2d(inner, middle, 1), nn.BatchNorm2d(middle), nn.ReLU(),
                nn.Conv2d(middle, middle, 3, stride, pad_mode="same"), nn.BatchNorm2d(middle), nn.ReLU(),
                nn.Conv2d(middle, outer, 1), nn.BatchNorm2d(outer),
            )
            self.short = nn.SequentialCell(nn.Conv2d(inner, outer, 1, stride), nn.BatchNorm2d(outer)) if stride > 1 or inner != outer else nn.Identity()
            self.relu = nn.ReLU()

        def construct(self, x):
            return self.relu(self.body(x) + self.short(x))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            layers = [nn.Conv2d(3, 8, 7, 2, pad_mode="same"), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, pad_mode="same")]
            inner = 8
            for middle, count, stride in [(8, 3, 1), (16, 4, 2), (16, 6, 2), (32, 3, 2)]:
                for index in range(count):
                    layers.append(Block(inner, middle, stride if index == 0 else 1))
                    inner = 4 * middle
            self.body = nn.SequentialCell(*layers)
            self.head = nn.Dense(inner, 10)

        def construct(self, x):
            return self.head(ops.mean(self.body(x), (2, 3)))

    x, y = random.standard_normal((4, 3, 64, 64)), random.integers(0, 10, 4)
    return Net(), (x.astype(np.float32),), y.astype(np.int32), nn.Momentum, 0.002


def bert(ms, nn, ops, np, random):
    class Layer(nn.Cell):
        def __init__(self, width, heads):
            super().__init__()
            self.heads, self.size = heads, width // heads
            self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
            self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
            self.first, self.second, self.gelu = nn.LayerNorm((width,)), nn.LayerNorm((width,)), nn.GELU()

        def construct(self, x, mask):
            batch, length, width = x.shape
            parts = self.qkv(x).reshape((batch, length, 3, self.heads, self.size)).transpose((2, 0, 3, 1, 4))
            scores = ops.matmul(parts[0], parts[1].swapaxes(-1, -2)) / self.size**0.5 + mask
            mixed = ops.matmul(ops.softmax(scores, -1), parts[2]).transpose((0, 2, 1, 3)).reshape((batch, length, width))
            x = self.first(x + self.out(mixed))
            return self.second(x + self.down(self.gelu(self.up(x))))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(100, 48), nn.Embedding(16, 48)
            self.norm = nn.LayerNorm((48,))
            self.layers = nn.CellList([Layer(48, 4) for _ in range(3)])
            self.pool, self.tanh, self.head = nn.Dense(48, 48), nn.Tanh(), nn.Dense(48, 10)

        def construct(self, words, mask):
            x = self.norm(self.words(words) + self.places(ops.arange(words.shape[1])))
            mask = (1.0 - mask.reshape((mask.shape[0], 1, 1, -1))) * -10000.0
            for layer in self.layers:
                x = layer(x, mask)
            return self.head(self.tanh(self.pool(x[:, 0])))

    mask = np.ones((4, 16), np.float32)
    mask[1, 10:] = 0
    return Net(), (random.integers(0, 100, (4, 16)).astype(np.int32), mask), random.integers(0, 10, 4).astype(np.int32), nn.Adam, 1e-3


def llama(ms, nn, ops, np, random):
    class Norm(nn.Cell):
        def __init__(self, width):
            super().__init__()
            self.weight = ms.Parameter(ms.Tensor(np.ones(width, np.float32)))

        def construct(self, x):
            return x * ops.rsqrt(ops.mean(x * x, -1, True) + 1e-6) * self.weight

    class Layer(nn.Cell):
        def __init__(self, width, heads, length):
            super().__init__()
            self.heads, self.size = heads, width // heads
            self.q, self.k, self.v, self.o = (nn.Dense(width, width, has_bias=False) for _ in range(4))
            self.gate, self.up = nn.Dense(width, 96, has_bias=False), nn.Dense(width, 96, has_bias=False)
            self.down, self.silu = nn.Dense(96, width, has_bias=False), nn.SiLU()
            self.first, self.second = Norm(width), Norm(width)
            angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(0, self.size, 2) / self.size))
            angles = np.concatenate([angles, angles], -1).astype(np.float32)
            self.cos, self.sin = ms.Tensor(np.cos(angles)), ms.Tensor(np.sin(angles))
            self.mask = ms.Tensor(np.triu(np.full((length, length), -1e4, np.float32), 1))

        def turned(self, x):
            half = self.size // 2
            return x * self.cos + ops.concat((-x[..., half:], x[..., :half]), -1) * self.sin

        def split(self, x):
            return x.reshape((x.shape[0], x.shape[1], self.heads, self.size)).transpose((0, 2, 1, 3))

        def construct(self, x):
            y = self.first(x)
            q, k, v = self.turned(self.split(self.q(y))), self.turned(self.split(self.k(y))), self.split(self.v(y))
            weights = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) / self.size**0.5 + self.mask, -1)
            x = x + self.o(ops.matmul(weights, v).transpose((0, 2, 1, 3)).reshape(x.shape))
            y = self.second(x)
            return x + self.down(self.silu(self.gate(y)) * self.up(y))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(100, 32)
            self.layers = nn.CellList([Layer(32, 4, 12) for _ in range(2)])
            self.norm, self.head = Norm(32), nn.Dense(32, 100, has_bias=False)

        def construct(self, words):
            x = self.words(words)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x)).reshape((-1, 100))

    words = random.integers(0, 100, (2, 13)).astype(np.int32)
    return Net(), (words[:, :-1],), words[:, 1:].reshape(-1), nn.AdamWeightDecay, 1e-3


def lstm(ms, nn, ops, np, random):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cell, self.head = nn.LSTM(8, 16, num_layers=1, batch_first=True), nn.Dense(16, 10)

        def construct(self, x):
            zeros = ops.zeros((1, x.shape[0], 16), ms.float32)
            return self.head(self.cell(x, (zeros, zeros))[0][:, -1])

    return Net(), (random.standard_normal((4, 7, 8)).astype(np.float32),), random.integers(0, 10, 4).astype(np.int32), nn.Adam, 1e-2


def unet(ms, nn, ops, np, random):
    def double(inner, outer):
        return nn.SequentialCell(
            nn.Conv2d(inner, outer, 3, pad_mode="same"), nn.BatchNorm2d(outer), nn.ReLU(),
            nn.Conv2d(outer, outer, 3, pad_mode="same"), nn.BatchNorm2d(outer), nn.ReLU(),
        )

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.down1, self.down2, self.bottom = double(1, 8), double(8, 16), double(16, 32)
            self.pool = nn.MaxPool2d(2, 2)
            self.up2, self.join2 = nn.Conv2dTranspose(32, 16, 2, 2), double(32, 16)
            self.up1, self.join1 = nn.Conv2dTranspose(16, 8, 2, 2), double(16, 8)
            self.head = nn.Conv2d(8, 3, 1)

        def construct(self, x):
            one = self.down1(x)
            two = self.down2(self.pool(one))
            x = self.up2(self.bottom(self.pool(two)))
            x = self.up1(self.join2(ops.concat((x, two), 1)))
            x = self.head(self.join1(ops.concat((x, one), 1)))
            return x.transpose((0, 2, 3, 1)).reshape((-1, 3))

    return Net(), (random.standard_normal((2, 1, 16, 16)).astype(np.float32),), random.integers(0, 3, 2 * 256).astype(np.int32), nn.Momentum, 0.01


NETWORKS = {"lenet": lenet, "resnet50": resnet, "bert": bert, "llama": llama, "lstm": lstm, "unet": unet}


def train(name, mode, device, steps, mixed):
    import mindspore as ms
    import numpy as np
    from mindspore import amp, nn, ops

    ms.set_device(device)
    if mode == "pynative":
        ms.set_context(mode=ms.PYNATIVE_MODE)
    else:
        ms.set_context(mode=ms.GRAPH_MODE, jit_config={"jit_level": mode})
    ms.set_seed(1)
    np.random.seed(1)
    random = np.random.default_rng(3)
    net, inputs, labels, optimizer, rate = NETWORKS[name](ms, nn, ops, np, random)
    # The same weights on both devices, whichever generator initialises them.
    for parameter in net.get_parameters():
        if parameter.ndim > 1:
            fan = int(np.prod(parameter.shape[1:]))
            parameter.set_data(ms.Tensor((random.standard_normal(parameter.shape) / fan**0.5).astype(np.float32)))
    more = {"momentum": 0.9} if optimizer is nn.Momentum else {}
    optimizer = optimizer(net.trainable_params(), learning_rate=rate, **more)
    loss = nn.CrossEntropyLoss()
    if mixed:
        net = amp.auto_mixed_precision(net, mixed)
    net.set_train()
    scaler = amp.DynamicLossScaler(1024, 2, 4) if mixed else None

    def forward(*data):
        value = loss(net(*data[:-1]).astype(ms.float32), data[-1])
        return scaler.scale(value) if scaler else value

    differentiate = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(*data):
        value, gradients = differentiate(*data)
        if scaler:
            value = scaler.unscale(value)
            finite = amp.all_finite(gradients)
            gradients = scaler.unscale(gradients)
            if finite:
                optimizer(gradients)
            scaler.adjust(finite)
        else:
            optimizer(gradients)
        return value

    run = ms.jit(step) if mode != "pynative" and not mixed else step
    data = [ms.Tensor(each) for each in (*inputs, labels)]
    losses = [float(run(*data).asnumpy()) for _ in range(steps)]
    return losses


def checkpoint(folder):
    """Saves and loads weights, and reads a data set in batches through Model.train with a callback."""
    import mindspore as ms
    import numpy as np
    from mindspore import dataset, nn, train

    ms.set_device("Ascend")
    ms.set_seed(1)
    random = np.random.default_rng(3)
    x = random.standard_normal((32, 4)).astype(np.float32)
    y = (x @ np.array([[1.0], [-2.0], [3.0], [0.5]], np.float32)).astype(np.float32)
    data = dataset.NumpySlicesDataset({"x": x, "y": y}, shuffle=False).batch(8)
    net = nn.Dense(4, 1)
    model = train.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.1))
    kept = train.ModelCheckpoint("net", folder, train.CheckpointConfig(save_checkpoint_steps=4))
    model.train(20, data, callbacks=[train.LossMonitor(40), kept], dataset_sink_mode=False)
    file = os.path.join(folder, "net.ckpt")
    ms.save_checkpoint(net, file)
    other = nn.Dense(4, 1)
    ms.load_param_into_net(other, ms.load_checkpoint(file))
    wanted, found = net(ms.Tensor(x)).asnumpy(), other(ms.Tensor(x)).asnumpy()
    assert np.array_equal(wanted, found), "another result after loading"
    assert np.abs(wanted - y).mean() < 0.2, np.abs(wanted - y).mean()
    return [float(np.abs(wanted - y).mean())]


def profile(folder):
    """Records a profile of a step and reads the names of its operators."""
    import mindspore as ms
    import numpy as np
    from mindspore import ops, profiler

    ms.set_device("Ascend")
    recorder = profiler.Profiler(output_path=folder, start_profile=True)
    x = ms.Tensor(np.ones((16, 16), np.float32))
    for _ in range(3):
        x = ops.matmul(x, x) / 16
    x.asnumpy()
    recorder.analyse()
    tables = [os.path.join(base, file) for base, _, files in os.walk(folder) for file in files if file.endswith(".csv")]
    assert any("kernel_details" in table or "op_statistic" in table for table in tables), tables
    return [float(len(tables))]


OTHERS = {"checkpoint": checkpoint, "profile": profile}


def one(entry, device, steps):
    name, _, mode = entry.partition("/")
    folder = tempfile.mkdtemp(prefix="mindspore-")
    command = [sys.executable, os.path.abspath(__file__), "--worker", entry, "--device", device, "--steps", str(steps), "--folder", folder]
    environment = dict(os.environ, GLOG_v=os.environ.get("GLOG_v", "4"))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=400, cwd=folder, env=environment)
    except subprocess.TimeoutExpired:
        return None, "no end within 400 s"
    for line in done.stdout.splitlines():
        if line.startswith("losses: "):
            return json.loads(line[8:]), ""
    return None, f"status {done.returncode}: " + done.stdout[-200:] + done.stderr[-1500:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression of entries, such as lenet/O2")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--device", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        name, _, mode = options.worker.partition("/")
        if name in OTHERS:
            losses = OTHERS[name](options.folder)
        else:
            mode, _, mixed = mode.partition("+")
            losses = train(name, mode, options.device, options.steps, mixed)
        print("losses: " + json.dumps(losses), flush=True)
        os._exit(0)
    entries = [f"{name}/{mode}" for name in NETWORKS for mode in MODES] + ["lenet/pynative+O2", "bert/pynative+O2"] + list(OTHERS)
    wrong, reference = 0, {}
    for entry in entries:
        if not re.search(options.only, entry):
            continue
        found, error = one(entry, "Ascend", options.steps)
        if entry in OTHERS:
            print(f"{entry}: {'right' if found else error}", flush=True)
            wrong += not found
            continue
        name, _, mode = entry.partition("/")
        mixed = mode.partition("+")[2]
        if name not in reference:
            reference[name] = one(f"{name}/pynative", "CPU", options.steps)
        wanted, problem = reference[name]
        if wanted is None:
            text = f"the CPU fails: {problem}"
        elif found is None:
            text = error
        elif mixed:
            text = "right" if abs(found[-1] - wanted[-1]) < 0.1 * (abs(wanted[0]) + 1e-3) else f"ends at {found[-1]}, and at {wanted[-1]} on the CPU"
        else:
            worst = max(abs(one - other) / (1 + abs(other)) for one, other in zip(found, wanted))
            text = f"right, within {worst:.1e}" if worst < 1e-3 and len(found) == len(wanted) else f"differs by {worst:.2e}: {found[:3]} {wanted[:3]}"
        wrong += not text.startswith("right")
        print(f"{entry}: {text}", flush=True)
    print(f"{wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
