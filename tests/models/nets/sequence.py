"""Networks over sequences: an encoder, a decoder step with its cache, a recurrent one."""

import numpy as np
from onnx import TensorProto

from .net import Net


class Block:
    """What transformers are made of, over a net."""

    def __init__(self, net, width):
        self.net, self.width = net, width

    def linear(self, x, cin, cout, bias=True):
        net = self.net
        x = net.node("MatMul", [x, net.weight((net.rng.standard_normal((cin, cout)) / np.sqrt(cin)).astype(np.float32))])
        if bias:
            x = net.node("Add", [net.weight((0.05 * net.rng.standard_normal(cout)).astype(np.float32)), x])
        return x

    def scaled(self, x, factor):
        return self.net.node("Mul", [x, self.net.weight(np.float32(factor))])

    def layer_norm(self, x):
        """As exported before operator set 17: out of means and a root."""
        net = self.net
        centred = net.node("Sub", [x, net.node("ReduceMean", [x], axes=[-1], keepdims=1)])
        squares = net.node("Pow", [centred, net.weight(np.float32(2))])
        variance = net.node("ReduceMean", [squares], axes=[-1], keepdims=1)
        root = net.node("Sqrt", [net.node("Add", [variance, net.weight(np.float32(1e-12))])])
        gain = net.weight(net.rng.uniform(0.8, 1.2, self.width).astype(np.float32))
        bias = net.weight((0.1 * net.rng.standard_normal(self.width)).astype(np.float32))
        return net.node("Add", [net.node("Mul", [net.node("Div", [centred, root]), gain]), bias])

    def gelu(self, x):
        net = self.net
        inner = net.node("Erf", [net.node("Div", [x, net.weight(np.float32(np.sqrt(2)))])])
        return self.scaled(net.node("Mul", [x, net.node("Add", [inner, net.weight(np.float32(1))])]), 0.5)

    def heads(self, x, shape, perm=(0, 2, 1, 3)):
        net = self.net
        return net.node("Transpose", [net.node("Reshape", [x, net.weight(np.array(shape))])], perm=list(perm))


def bert(batch=1, sequence=128, seed=21, layers=12, width=768, heads=12, vocabulary=30522):
    """BERT-base: token ids and a mask in, the last hidden state and the pooled first token out."""
    net = Net(seed)
    block = Block(net, width)
    size = width // heads

    def table(rows):
        return net.weight((0.5 * net.rng.standard_normal((rows, width))).astype(np.float32))

    x = net.node("Add", [net.node("Gather", [table(vocabulary), "ids"]), table(sequence)])
    x = block.layer_norm(x)
    mask = net.node("Cast", ["mask"], to=TensorProto.FLOAT)
    mask = net.node("Unsqueeze", [mask, net.weight(np.array([1, 2]))])
    mask = block.scaled(net.node("Sub", [net.weight(np.float32(1)), mask]), -10000.0)
    split = [batch, sequence, heads, size]
    for _ in range(layers):
        q = block.heads(block.linear(x, width, width), split)
        k = block.heads(block.linear(x, width, width), split, (0, 2, 3, 1))
        v = block.heads(block.linear(x, width, width), split)
        scores = net.node("Div", [net.node("MatMul", [q, k]), net.weight(np.float32(np.sqrt(size)))])
        weights = net.node("Softmax", [net.node("Add", [scores, mask])], axis=-1)
        y = net.node("Transpose", [net.node("MatMul", [weights, v])], perm=[0, 2, 1, 3])
        y = net.node("Reshape", [y, net.weight(np.array([batch, sequence, width]))])
        x = block.layer_norm(net.node("Add", [block.linear(y, width, width), x]))
        y = block.linear(block.gelu(block.linear(x, width, 4 * width)), 4 * width, width)
        x = block.layer_norm(net.node("Add", [y, x]))
    first = net.node("Gather", [x, net.weight(np.array(0))], axis=1)
    pooled = net.node("Tanh", [net.dense(first, width, width)])
    inputs = {name: (TensorProto.INT64, [batch, sequence]) for name in ("ids", "mask")}
    return net.model(inputs, [x, pooled])


def decoder(batch=1, past=64, seed=22, layers=4, width=256, heads=4, vocabulary=4000, hidden=688):
    """One step of a small decoder of LLaMA's kind: a token, its position and the cache in; scores and the longer cache out."""
    net = Net(seed)
    block = Block(net, width)
    size = width // heads

    def norm(x):
        squares = net.node("ReduceMean", [net.node("Mul", [x, x])], axes=[-1], keepdims=1)
        root = net.node("Sqrt", [net.node("Add", [squares, net.weight(np.float32(1e-5))])])
        gain = net.weight(net.rng.uniform(0.8, 1.2, width).astype(np.float32))
        return net.node("Mul", [net.node("Div", [x, root]), gain])

    positions = np.arange(past + 1)[:, None] / 10000 ** (np.arange(0, size, 2) / size)[None]
    cosine, sine = (
        net.node("Gather", [net.weight(np.concatenate([f(positions)] * 2, 1).astype(np.float32)), "position"])
        for f in (np.cos, np.sin)
    )

    def turned(x):
        low, high = net.node("Split", [x], 2, axis=-1)
        other = net.node("Concat", [net.node("Neg", [high]), low], axis=-1)
        return net.node("Add", [net.node("Mul", [x, cosine]), net.node("Mul", [other, sine])])

    embedding = (0.5 * net.rng.standard_normal((vocabulary, width))).astype(np.float32)
    x = net.node("Gather", [net.weight(embedding), "token"])
    inputs = {"token": (TensorProto.INT64, [batch, 1]), "position": (TensorProto.INT64, [1])}
    grown = []
    for layer in range(layers):
        y = norm(x)
        split = [batch, 1, heads, size]
        q = turned(block.heads(block.linear(y, width, width, bias=False), split))
        k = turned(block.heads(block.linear(y, width, width, bias=False), split))
        v = block.heads(block.linear(y, width, width, bias=False), split)
        for name, new in (("key", k), ("value", v)):
            inputs[f"{name}{layer}"] = (TensorProto.FLOAT, [batch, heads, past, size])
            grown.append(net.node("Concat", [f"{name}{layer}", new], axis=2))
        keys, cached = grown[-2:]
        scores = net.node("MatMul", [q, net.node("Transpose", [keys], perm=[0, 1, 3, 2])])
        weights = net.node("Softmax", [block.scaled(scores, 1 / np.sqrt(size))], axis=-1)
        y = net.node("Transpose", [net.node("MatMul", [weights, cached])], perm=[0, 2, 1, 3])
        y = net.node("Reshape", [y, net.weight(np.array([batch, 1, width]))])
        x = net.node("Add", [x, block.linear(y, width, width, bias=False)])
        y = norm(x)
        gate = block.linear(y, width, hidden, bias=False)
        gate = net.node("Mul", [gate, net.node("Sigmoid", [gate])])
        y = net.node("Mul", [gate, block.linear(y, width, hidden, bias=False)])
        x = net.node("Add", [x, block.linear(y, hidden, width, bias=False)])
    scores = block.linear(norm(x), width, vocabulary, bias=False)
    return net.model(inputs, [scores, *grown])


def lstm(batch=2, steps=24, seed=23, features=40, hidden=64, classes=30):
    """Two LSTM layers, the first in both directions, and a head for each step."""
    net = Net(seed)

    def layer(x, width, directions, direction):
        parts = [(directions, 4 * hidden, width), (directions, 4 * hidden, hidden), (directions, 8 * hidden)]
        scale = 1 / np.sqrt(hidden)
        weights = [net.weight((scale * net.rng.standard_normal(shape)).astype(np.float32)) for shape in parts]
        y, _, _ = net.node("LSTM", [x, *weights], 3, hidden_size=hidden, direction=direction)
        y = net.node("Transpose", [y], perm=[0, 2, 1, 3])
        return net.node("Reshape", [y, net.weight(np.array([steps, batch, directions * hidden]))])

    x = layer("input", features, 2, "bidirectional")
    x = layer(x, 2 * hidden, 1, "forward")
    x = net.node("Reshape", [x, net.weight(np.array([steps * batch, hidden]))])
    x = net.node("LogSoftmax", [net.dense(x, hidden, classes)], axis=-1)
    return net.model({"input": (TensorProto.FLOAT, [steps, batch, features])}, [x])


def gru(batch=1, steps=64, seed=24, features=80, hidden=128, classes=30):
    """An encoder of two GRU layers in both directions, and a head for each step."""
    net = Net(seed)

    def layer(x, width):
        parts = [(2, 3 * hidden, width), (2, 3 * hidden, hidden), (2, 6 * hidden)]
        scale = 1 / np.sqrt(hidden)
        weights = [net.weight((scale * net.rng.standard_normal(shape)).astype(np.float32)) for shape in parts]
        y, _ = net.node("GRU", [x, *weights], 2, hidden_size=hidden, direction="bidirectional", linear_before_reset=1)
        y = net.node("Transpose", [y], perm=[0, 2, 1, 3])
        return net.node("Reshape", [y, net.weight(np.array([steps, batch, 2 * hidden]))])

    x = layer(layer("input", features), 2 * hidden)
    x = net.node("Reshape", [x, net.weight(np.array([steps * batch, 2 * hidden]))])
    x = net.node("LogSoftmax", [net.dense(x, 2 * hidden, classes)], axis=-1)
    return net.model({"input": (TensorProto.FLOAT, [steps, batch, features])}, [x])


def conv1d(net, x, cin, cout, kernel, stride=1, dilation=1):
    """A one-dimensional convolution of the same length with normalisation and ReLU."""
    filters = net.rng.standard_normal((cout, cin, kernel)) * np.sqrt(2 / (cin * kernel))
    pad = dilation * (kernel // 2)
    y = net.node(
        "Conv", [x, net.weight(filters.astype(np.float32))], kernel_shape=[kernel], strides=[stride], dilations=[dilation],
        pads=[pad, pad],
    )
    return net.node("Relu", [net.batch_norm(y, cout)])


def tcn(batch=1, steps=400, seed=25, features=64, width=128, classes=30):
    """A temporal convolutional network: residual blocks of dilated one-dimensional convolutions."""
    net = Net(seed)
    x = conv1d(net, "input", features, width, 7)
    for dilation in (1, 2, 4, 8):
        y = conv1d(net, conv1d(net, x, width, width, 3, dilation=dilation), width, width, 3, dilation=dilation)
        x = net.node("Add", [x, y])
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])], axis=1)
    return net.model({"input": (TensorProto.FLOAT, [batch, features, steps])}, [net.dense(x, width, classes)])


def sensor(batch=1, steps=128, seed=26, features=9, classes=6):
    """A small network of one-dimensional convolutions, as for the readings of a sensor."""
    net = Net(seed)
    x = "input"
    for cin, cout in ((features, 16), (16, 32), (32, 32)):
        x = net.node("MaxPool", [conv1d(net, x, cin, cout, 5)], kernel_shape=[2], strides=[2])
    x = net.dense(net.node("Flatten", [x], axis=1), 32 * (steps // 8), classes)
    return net.model({"input": (TensorProto.FLOAT, [batch, features, steps])}, [net.node("Softmax", [x], axis=-1)])


def mlp(batch=1, seed=27, features=64, hidden=128, classes=10):
    """Three fully connected layers."""
    net = Net(seed)
    x = net.node("Relu", [net.dense("input", features, hidden)])
    x = net.node("Relu", [net.dense(x, hidden, hidden)])
    return net.model({"input": (TensorProto.FLOAT, [batch, features])}, [net.dense(x, hidden, classes)])
