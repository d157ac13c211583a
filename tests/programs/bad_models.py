"""ONNX models in which something is wrong: what, and what atc has to say of it."""

import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def port(name, shape=(2, 3), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, list(shape))


def model(nodes, inputs=None, outputs=None, weights=()):
    inputs = [port("x")] if inputs is None else inputs
    outputs = [port("y", ())] if outputs is None else outputs
    outputs = [helper.make_tensor_value_info(o.name, FLOAT, None) for o in outputs]
    graph = helper.make_graph(nodes, "bad", inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def node(op, inputs, outputs, name="the_node", **attrs):
    return helper.make_node(op, inputs, outputs, name=name, **attrs)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def external(name, shape, location, **data):
    tensor = TensorProto(name=name, data_type=FLOAT, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **data}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def beside(tensor):
    return model([node("Add", ["x", "w"], ["y"])], weights=[tensor])


def cycle():
    return model([node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second"), node("Relu", ["b"], ["y"])])


def own_result():
    return model([node("Add", ["x", "y"], ["y"])])


def nested(depth):
    inner = helper.make_graph([node("Relu", ["x"], ["r0"])], "g0", [], [port("r0", ())])
    for level in range(1, depth):
        attrs = {"then_branch": inner, "else_branch": inner} if level < 3 else {"then_branch": inner, "else_branch": flat(level)}
        here = node("If", ["c"], [f"r{level}"], f"if{level}", **attrs)
        inner = helper.make_graph([here], f"g{level}", [], [port(f"r{level}", ())])
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    return model([node("If", ["c"], ["y"], "outermost", then_branch=inner, else_branch=flat(depth))], [condition, port("x")])


def flat(level):
    return helper.make_graph([node("Relu", ["x"], [f"e{level}"])], f"e{level}", [], [port(f"e{level}", ())])


def wrong_length():
    tensor = helper.make_tensor("w", FLOAT, [2, 3], bytes(24), raw=True)
    tensor.raw_data = bytes(20)
    return beside(tensor)


def bomb():
    """A thousand constants of 64 MB each, of a few bytes in the file."""
    value = numpy_helper.from_array(np.zeros(1, np.float32), "v")
    nodes = [node("ConstantOfShape", ["s"], [f"c{i}"], f"fill{i}", value=value) for i in range(1000)]
    nodes.append(node("Sum", ["x"] + [f"c{i}" for i in range(1000)], ["y"]))
    return model(nodes, [port("x", (1,))], weights=[ints("s", 16 << 20)])


#: Name: how to make it, and what the sentence has to say.
BAD = {
    "cycle": (cycle, r"node (first|second|.*) depends on its own result"),
    "own result": (own_result, r"the_node depends on its own result"),
    "missing tensor": (lambda: model([node("Add", ["x", "ghost"], ["y"])]), r"the_node.*ghost"),
    "missing output": (lambda: model([node("Relu", ["x"], ["z"])]), r"output y"),
    "defined twice": (lambda: model([node("Relu", ["x"], ["y"], "one"), node("Relu", ["x"], ["y"], "two")]), r"y is defined twice"),
    "type clash": (lambda: model([node("Add", ["x", "w"], ["y"])], weights=[ints("w", 1, 2, 3)]), r"the_node.*"),
    "shape clash": (
        lambda: model([node("Add", ["x", "z"], ["y"])], [port("x"), port("z", (2, 4))]),
        r"the_node.*",
    ),
    "unknown operator": (lambda: model([node("Sparkle", ["x"], ["y"])]), r"Sparkle \(node the_node\)"),
    "input too large": (lambda: model([node("Relu", ["x"], ["y"])], [port("x", (1 << 40, 1 << 40))]), r"the_node.*1099511627776, 1099511627776.*too large"),
    "expanded too far": (lambda: model([node("Expand", ["x", "s"], ["y"])], weights=[ints("s", 1 << 40, 1 << 20, 2, 3)]), r"the_node.*too large"),
    "product overflows": (
        lambda: model([node("Tile", ["x", "s"], ["y"])], weights=[ints("s", 1 << 62, 1 << 62)]),
        r"the_node",
    ),
    "negative shape": (lambda: beside(TensorProto(name="w", data_type=FLOAT, dims=[-2, 3], raw_data=bytes(24))), r"tensor w.*negative"),
    "bytes missing": (wrong_length, r"tensor w.*20 bytes"),
    "no element type": (lambda: beside(TensorProto(name="w", data_type=99, dims=[2, 3])), r"tensor w.*99"),
    "nested too deep": (lambda: nested(24), r"nested more than|deep"),
    "data past the end": (lambda: beside(external("w", [2, 3], "w.bin", offset=4080, length=24)), r"tensor w.*24 bytes from 4080"),
    "data offset huge": (lambda: beside(external("w", [2, 3], "w.bin", offset=1 << 63, length=24)), r"tensor w"),
    "data offset no number": (lambda: beside(external("w", [2, 3], "w.bin", offset="-1", length=24)), r"tensor w.*offset"),
    "data of another length": (lambda: beside(external("w", [2, 3], "w.bin", length=4096)), r"tensor w.*4096"),
    "data in no file": (lambda: beside(external("w", [2, 3], "none.bin")), r"tensor w.*none.bin"),
    "data above": (lambda: beside(external("w", [2, 3], "../secret.bin")), r"tensor w.*not inside"),
    "data anywhere": (lambda: beside(external("w", [2, 3], "/etc/passwd")), r"tensor w.*not inside"),
    "data behind a link": (lambda: beside(external("w", [2, 3], "link.bin")), r"tensor w.*not inside"),
    "data in a device": (lambda: beside(external("w", [2, 3], "folder")), r"tensor w.*not a regular file"),
}


def surroundings(folder):
    """The files beside and above the models."""
    (folder / "w.bin").write_bytes(bytes(4096))
    (folder.parent / "secret.bin").write_bytes(bytes(4096))
    (folder / "folder").mkdir()
    os.symlink(folder.parent / "secret.bin", folder / "link.bin")
