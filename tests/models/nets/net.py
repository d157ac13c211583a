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
        self.weights.append(numpy_helper.from_array(np.array(array, order="C"), name))
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

    def dense(self, x, cin, cout):
        """x times a matrix, plus a vector."""
        matrix = (self.rng.standard_normal((cout, cin)) / np.sqrt(cin)).astype(np.float32)
        bias = (0.1 * self.rng.standard_normal(cout)).astype(np.float32)
        return self.node("Gemm", [x, self.weight(matrix), self.weight(bias)], transB=1)

    def model(self, inputs, outputs):
        """inputs: name -> (dtype, shape); outputs: names."""
        made = [helper.make_tensor_value_info(n, t, s) for n, (t, s) in inputs.items()]
        ends = [helper.make_empty_tensor_value_info(n) for n in outputs]
        graph = helper.make_graph(self.nodes, "net", made, ends, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)
