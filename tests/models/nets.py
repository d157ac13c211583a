"""Builds networks with the ONNX helper: seeded weights, scaled so that activations stay near 1."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """Collects nodes and weights of one model."""

    def __init__(self, seed, opset=17):
        self.rng = np.random.default_rng(seed)
        self.opset = opset
        self.nodes = []
        self.weights = []
        self.count = 0

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, outputs=1, **attrs):
        names = [f"v{self.count + i}" for i in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(op, inputs, names, name=f"{op}_{len(self.nodes)}", **attrs))
        return names[0] if outputs == 1 else names

    def conv(self, x, cin, cout, kernel, stride=1, pad=0, groups=1, bias=False):
        fan_in = cin // groups * kernel * kernel
        filters = self.rng.standard_normal((cout, cin // groups, kernel, kernel)) * np.sqrt(2 / fan_in)
        inputs = [x, self.weight(filters.astype(np.float32))]
        if bias:
            inputs.append(self.weight((self.rng.standard_normal(cout) * 0.1).astype(np.float32)))
        return self.node(
            "Conv", inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=groups
        )

    def batch_norm(self, x, channels, gain=1.0):
        rng = self.rng
        parts = [
            gain * rng.uniform(0.8, 1.2, channels),
            0.1 * rng.standard_normal(channels),
            0.1 * rng.standard_normal(channels),
            rng.uniform(0.5, 1.5, channels),
        ]
        return self.node(
            "BatchNormalization", [x] + [self.weight(p.astype(np.float32)) for p in parts], epsilon=1e-5
        )

    def model(self, inputs, outputs):
        """inputs: name -> (dtype, shape); outputs: names."""
        made = [helper.make_tensor_value_info(n, t, s) for n, (t, s) in inputs.items()]
        ends = [helper.make_empty_tensor_value_info(n) for n in outputs]
        graph = helper.make_graph(self.nodes, "net", made, ends, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def resnet50(batch=None, seed=50, blocks=(3, 4, 6, 3), width=64, size=224, classes=1000):
    """ResNet-50 as torchvision exports it, with random weights."""
    net = Net(seed)

    def unit(x, cin, mid, stride):
        cout = 4 * mid
        y = net.node("Relu", [net.batch_norm(net.conv(x, cin, mid, 1), mid)])
        y = net.node("Relu", [net.batch_norm(net.conv(y, mid, mid, 3, stride, 1), mid)])
        # A small gain on the branch keeps the sum of many branches near 1.
        y = net.batch_norm(net.conv(y, mid, cout, 1), cout, gain=0.5)
        if stride != 1 or cin != cout:
            x = net.batch_norm(net.conv(x, cin, cout, 1, stride), cout, gain=0.8)
        return net.node("Relu", [net.node("Add", [y, x])]), cout

    x = net.node("Relu", [net.batch_norm(net.conv("input", 3, width, 7, 2, 3), width)])
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = width
    for stage, count in enumerate(blocks):
        for index in range(count):
            stride = 2 if stage > 0 and index == 0 else 1
            x, channels = unit(x, channels, width << stage, stride)
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])], axis=1)
    head = (net.rng.standard_normal((classes, channels)) / np.sqrt(channels)).astype(np.float32)
    bias = (0.1 * net.rng.standard_normal(classes)).astype(np.float32)
    x = net.node("Gemm", [x, net.weight(head), net.weight(bias)], transB=1)
    dims = ["batch" if batch is None else batch, 3, size, size]
    return net.model({"input": (TensorProto.FLOAT, dims)}, [x])


def digits(seed=8, batch=None):
    """A network of the size of the digits example."""
    net = Net(seed)
    x = net.node("Relu", [net.conv("input", 1, 16, 3, 1, 1, bias=True)])
    x = net.node("Relu", [net.conv(x, 16, 32, 3, 1, 1, bias=True)])
    x = net.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Flatten", [x])
    x = net.node("Gemm", [x, net.weight((net.rng.standard_normal((10, 512)) / 22).astype(np.float32)),
                          net.weight(np.zeros(10, np.float32))], transB=1)
    x = net.node("Softmax", [x], axis=-1)
    return net.model({"input": (TensorProto.FLOAT, ["batch" if batch is None else batch, 1, 8, 8])}, [x])
