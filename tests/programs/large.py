"""Models with weights of any size, made in seconds: a chain of products of which each matrix repeats a few seeded rows."""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

ROWS = 16


def rows(layer, width):
    return (np.random.default_rng(layer).standard_normal((ROWS, width)) * 4 / width).astype(np.float32)


def chain(folder, width, layers, name="large"):
    """Writes `name`.onnx with its weights in a file beside it. Returns its path."""
    folder = pathlib.Path(folder)
    weights, nodes, last, end = [], [], "x", 0
    with open(folder / f"{name}.weights", "wb") as file:
        for layer in range(layers):
            block = np.tile(rows(layer, width), (max(1, 256 // ROWS), 1))
            start = end
            for _ in range(width // len(block)):
                end += file.write(block)
            tensor = TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[width, width])
            tensor.data_location = TensorProto.EXTERNAL
            external = {"location": f"{name}.weights", "offset": start, "length": end - start}
            for key, value in external.items():
                tensor.external_data.add(key=key, value=str(value))
            weights.append(tensor)
            nodes.append(helper.make_node("MatMul", [last, f"w{layer}"], [f"h{layer}"], name=f"product{layer}"))
            last = f"h{layer}"
    port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])  # noqa: E731
    graph = helper.make_graph(nodes, name, [port("x")], [port(last)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    return path


def feed(width):
    return np.random.default_rng(99).standard_normal(width).astype(np.float32)


def wanted(width, layers):
    """What comes out, in float64."""
    h = feed(width).astype(np.float64)
    for layer in range(layers):
        h = h.reshape(-1, ROWS).sum(0) @ rows(layer, width).astype(np.float64)
    return h
