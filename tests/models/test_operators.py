"""Each operator, through ONNX and the model file, against ONNX Runtime."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import runner

RNG = np.random.default_rng(3)
F, I = np.float32, np.int64


def x(*dims, dtype=F, low=-2.0, high=2.0):
    values = RNG.uniform(low, high, dims)
    return values.astype(dtype)


def ints(*values):
    return np.array(values, I)


def single(op, inputs, constants, attrs, opset, outputs=1):
    """A model of one node; constants are the inputs that are initializers, by position."""
    names, feeds, stored = [], [], []
    for index, array in enumerate(inputs):
        if array is None:
            names.append("")
            continue
        names.append(f"i{index}")
        if index in constants:
            stored.append(numpy_helper.from_array(array, f"i{index}"))
        else:
            dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
            feeds.append(helper.make_tensor_value_info(f"i{index}", dtype, array.shape))
    outs = [f"o{index}" for index in range(outputs)]
    node = helper.make_node(op, names, outs, name="the_node", **attrs)
    graph = helper.make_graph([node], "one", feeds, [helper.make_empty_tensor_value_info(o) for o in outs], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)


# (name of the case, operator, inputs, positions of constants, attributes, operator set)
CASES = [
    ("plain", "Conv", [x(2, 3, 9, 10), x(5, 3, 3, 3), x(5)], {1, 2}, dict(pads=[1, 0, 2, 1], strides=[2, 1]), 13),
    ("dilated", "Conv", [x(1, 4, 12, 12), x(6, 4, 3, 3)], {1}, dict(dilations=[2, 3], pads=[2, 3, 2, 3]), 13),
    ("groups", "Conv", [x(1, 8, 7, 7), x(12, 2, 3, 3)], {1}, dict(group=4), 11),
    ("depthwise", "Conv", [x(1, 8, 14, 14), x(8, 1, 3, 3), x(8)], {1, 2}, dict(group=8, pads=[1] * 4), 11),
    ("same_upper", "Conv", [x(1, 3, 10, 11), x(4, 3, 4, 3)], {1}, dict(auto_pad="SAME_UPPER", strides=[2, 2]), 13),
    ("same_lower", "Conv", [x(1, 3, 10, 11), x(4, 3, 4, 3)], {1}, dict(auto_pad="SAME_LOWER", strides=[2, 2]), 13),
    ("valid", "Conv", [x(1, 3, 10, 11), x(4, 3, 4, 3)], {1}, dict(auto_pad="VALID"), 13),
    ("one_dimension", "Conv", [x(2, 3, 20), x(4, 3, 5), x(4)], {1, 2}, dict(pads=[2, 1], strides=[2]), 13),
    ("filter_is_input", "Conv", [x(1, 3, 6, 6), x(4, 3, 3, 3)], set(), {}, 13),
    ("plain", "BatchNormalization", [x(2, 3, 4, 5), x(3), x(3), x(3), x(3, low=0.1)], {1, 2, 3, 4}, dict(epsilon=1e-3), 15),
    ("rows", "BatchNormalization", [x(4, 3), x(3), x(3), x(3), x(3, low=0.1)], {1, 2, 3, 4}, {}, 9),
    ("plain", "Relu", [x(3, 4)], set(), {}, 14),
    ("plain", "LeakyRelu", [x(3, 4)], set(), dict(alpha=0.2), 13),
    ("plain", "Sigmoid", [x(3, 40, low=-20, high=20)], set(), {}, 13),
    ("plain", "Tanh", [x(3, 40, low=-5, high=5)], set(), {}, 13),
    ("bounds", "Clip", [x(3, 4), F(-0.5), F(1.0)], {1, 2}, {}, 13),
    ("only_max", "Clip", [x(3, 4), None, F(1.0)], {2}, {}, 13),
    ("attributes", "Clip", [x(3, 4)], set(), dict(min=-0.25, max=0.5), 7),
    ("whole", "Clip", [RNG.integers(-9, 9, 20), I(-3)], {1}, {}, 13),
    ("plain", "MaxPool", [x(2, 3, 10, 9)], set(), dict(kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]), 12),
    ("ceil", "MaxPool", [x(1, 2, 10, 9)], set(), dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), 12),
    ("dilated", "MaxPool", [x(1, 2, 10, 9)], set(), dict(kernel_shape=[3, 3], dilations=[2, 2]), 12),
    ("same", "MaxPool", [x(1, 2, 10, 9)], set(), dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"), 12),
    ("one_dimension", "MaxPool", [x(1, 2, 11)], set(), dict(kernel_shape=[3], strides=[2]), 12),
    ("plain", "AveragePool", [x(2, 3, 10, 9)], set(), dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 11),
    ("padded", "AveragePool", [x(2, 3, 10, 9)], set(), dict(kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1), 11),
    ("plain", "GlobalAveragePool", [x(2, 3, 7, 7)], set(), {}, 13),
    ("plain", "GlobalMaxPool", [x(2, 3, 7, 7)], set(), {}, 13),
    ("bias", "Gemm", [x(4, 6), x(5, 6), x(5)], {1, 2}, dict(transB=1), 13),
    ("factors", "Gemm", [x(6, 4), x(6, 5), x(4, 1)], {1, 2}, dict(transA=1, alpha=0.5, beta=2.0), 13),
    ("no_bias", "Gemm", [x(4, 6), x(6, 5)], {1}, {}, 11),
    ("one_row", "Gemm", [x(1, 300), x(70, 300), x(70)], {1, 2}, dict(transB=1), 13),
    ("batches", "MatMul", [x(2, 1, 5, 7), x(3, 7, 4)], set(), {}, 13),
    ("vector", "MatMul", [x(3, 5, 7), x(7)], set(), {}, 13),
    ("large", "MatMul", [x(70, 300), x(300, 90)], {1}, {}, 13),
    ("whole", "MatMul", [RNG.integers(-9, 9, (3, 4)).astype(np.int32), RNG.integers(-9, 9, (4, 5)).astype(np.int32)], set(), {}, 13),
    ("double", "MatMul", [x(3, 4, dtype=np.float64), x(4, 5, dtype=np.float64)], set(), {}, 13),
    ("plain", "Flatten", [x(2, 3, 4)], set(), dict(axis=2), 13),
    ("negative", "Flatten", [x(2, 3, 4)], set(), dict(axis=-1), 13),
    ("open", "Reshape", [x(2, 3, 4), ints(0, -1)], {1}, {}, 13),
    ("empty", "Reshape", [x(0, 3), ints(3, 0)], {1}, dict(allowzero=1), 14),
    ("plain", "Transpose", [x(2, 3, 4, 5)], set(), dict(perm=[0, 3, 1, 2]), 13),
    ("reversed", "Transpose", [x(2, 3, 4)], set(), {}, 13),
    ("plain", "Concat", [x(2, 3), x(2, 1), x(2, 4)], set(), dict(axis=-1), 13),
    ("first", "Concat", [x(1, 3), x(2, 3)], {1}, dict(axis=0), 13),
    ("plain", "Softmax", [x(3, 4, 5)], set(), dict(axis=1), 13),
    ("flattened", "Softmax", [x(3, 4, 5)], set(), dict(axis=1), 11),
    ("plain", "LogSoftmax", [x(3, 4, 5)], set(), {}, 13),
    ("attribute", "ReduceMean", [x(3, 4, 5)], set(), dict(axes=[1, -1], keepdims=0), 13),
    ("input", "ReduceMean", [x(3, 4, 5), ints(0)], {1}, {}, 18),
    ("all", "ReduceSum", [x(3, 4, 5)], set(), dict(keepdims=0), 13),
    ("input", "ReduceSum", [x(3, 4, 5), ints(2, 0)], {1}, {}, 13),
    ("noop", "ReduceSum", [x(3, 4)], set(), dict(noop_with_empty_axes=1), 13),
    ("input", "ReduceMax", [x(3, 4, 5), ints(1)], {1}, {}, 18),
    ("attribute", "ReduceMin", [x(3, 4, 5)], set(), dict(axes=[1]), 13),
    ("attribute", "ReduceProd", [x(3, 4, 5)], set(), dict(axes=[2]), 13),
    ("plain", "Identity", [x(3, 4)], set(), {}, 13),
    ("plain", "Dropout", [x(3, 4)], set(), {}, 13),
    ("old", "Dropout", [x(3, 4)], set(), dict(ratio=0.3), 10),
    ("plain", "Shape", [x(3, 4, 5)], set(), {}, 13),
    ("part", "Shape", [x(3, 4, 5)], set(), dict(start=-2), 15),
    ("plain", "Gather", [x(5, 3), ints(4, 0, -1)], set(), dict(axis=0), 13),
    ("inner", "Gather", [x(2, 5, 3), np.array([[1, 2], [0, 4]], I)], {1}, dict(axis=1), 13),
    ("input", "Unsqueeze", [x(3, 4), ints(0, -1)], {1}, {}, 13),
    ("attribute", "Unsqueeze", [x(3, 4)], set(), dict(axes=[1]), 11),
    ("input", "Squeeze", [x(1, 3, 1, 4), ints(2)], {1}, {}, 13),
    ("all", "Squeeze", [x(1, 3, 1, 4)], set(), {}, 13),
    ("attribute", "Squeeze", [x(1, 3, 1, 4)], set(), dict(axes=[0]), 11),
    ("whole", "Cast", [x(30, low=-9, high=9)], set(), dict(to=TensorProto.INT32), 13),
    ("half", "Cast", [x(30)], set(), dict(to=TensorProto.FLOAT16), 13),
    ("bool", "Cast", [RNG.integers(-1, 2, 30)], set(), dict(to=TensorProto.BOOL), 13),
    ("real", "Cast", [RNG.integers(-99, 99, 30)], set(), dict(to=TensorProto.FLOAT), 13),
    ("constant", "Pad", [x(2, 3, 4), ints(0, 1, 2, 1, 0, 3), F(1.5)], {1, 2}, {}, 13),
    ("reflect", "Pad", [x(4, 5), ints(2, 0, 1, 3)], {1}, dict(mode="reflect"), 13),
    ("edge", "Pad", [x(4, 5), ints(2, 0, 1, 3)], {1}, dict(mode="edge"), 13),
    ("cropped", "Pad", [x(4, 5), ints(-1, 1, 0, -2)], {1}, {}, 13),
    ("axes", "Pad", [x(2, 3, 4), ints(1, 2), None, ints(-1)], {1, 3}, {}, 18),
    ("wrap", "Pad", [x(4, 5), ints(2, 0, 1, 3)], {1}, dict(mode="wrap"), 19),
    ("attributes", "Pad", [x(2, 3)], set(), dict(pads=[0, 1, 1, 0], value=0.5), 10),
    ("plain", "ArgMax", [x(3, 4, 5)], set(), dict(axis=1), 13),
    ("last", "ArgMax", [np.ones((3, 4), F)], set(), dict(axis=-1, keepdims=0, select_last_index=1), 13),
    ("scalar", "Pow", [x(3, 4, low=0.1), F(1.5)], {1}, {}, 13),
    ("integer_exponent", "Pow", [x(3, 4), I(3)], {1}, {}, 13),
    ("plain", "Sqrt", [x(3, 4, low=0.0)], set(), {}, 13),
    ("plain", "Exp", [x(3, 4)], set(), {}, 13),
    ("plain", "Log", [x(3, 4, low=0.1)], set(), {}, 13),
    ("plain", "Abs", [x(3, 4)], set(), {}, 13),
    ("plain", "Neg", [x(3, 4)], set(), {}, 13),
    ("three", "Max", [x(3, 4), x(4), x(3, 1)], set(), {}, 13),
    ("two", "Min", [x(3, 4), x(4)], set(), {}, 13),
    ("plain", "Expand", [x(3, 1), ints(2, 3, 4)], {1}, {}, 13),
    ("steps", "Slice", [x(6, 7), ints(1, -1), ints(5, -9), ints(0, 1), ints(2, -2)], {1, 2, 3, 4}, {}, 13),
    ("beyond", "Slice", [x(6, 7), ints(2), ints(2**63 - 1)], {1, 2}, {}, 11),
    ("attributes", "Slice", [x(6, 7)], set(), dict(starts=[1], ends=[-1], axes=[1]), 9),
    ("empty", "Slice", [x(6, 7), ints(4), ints(2)], {1, 2}, {}, 13),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c[1]}-{c[0]}-{c[5]}" for c in CASES])
def test_operator(case, tmp_path):
    _, op, inputs, constants, attrs, opset = case
    inputs = [None if a is None else np.asarray(a) for a in inputs]
    model = single(op, inputs, constants, attrs, opset)
    feeds = [a for i, a in enumerate(inputs) if a is not None and i not in constants]
    runner.check(model, feeds, tmp_path)


PAIRS = ["float32", "float64", "float16", "int32", "int64"]


@pytest.mark.parametrize("dtype", PAIRS)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((2, 3, 4), (3, 1)), ((4,), (3, 4)), ((), (2, 2)), ((0, 3), (3,))])
def test_pairs_are_broadcast(op, dtype, shapes, tmp_path):
    one, two = (np.array(RNG.uniform(1, 9, s) * RNG.choice([-1, 1], s), dtype) for s in shapes)
    model = single(op, [one, two], set(), {}, 14)
    runner.check(model, [one, two], tmp_path, bound=1e-3 if dtype == "float16" else runner.BOUND)


def test_constants_of_every_kind(tmp_path):
    made = [
        helper.make_node("Constant", [], ["a"], value_float=1.5),
        helper.make_node("Constant", [], ["b"], value_floats=[1.0, 2.0]),
        helper.make_node("Constant", [], ["n"], value_ints=[1, 2]),
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array([3.0, 4.0], F))),
        helper.make_node("Add", ["x", "a"], ["s"]),
        helper.make_node("Mul", ["s", "b"], ["t"]),
        helper.make_node("Reshape", ["t", "n"], ["u"]),
        helper.make_node("Sub", ["u", "c"], ["y"]),
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2] if n == "x" else [1, 2]) for n in ("x", "y")]
    model = helper.make_model(helper.make_graph(made, "g", ports[:1], ports[1:]), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    runner.check(model, [x(2)], tmp_path)


def test_a_shape_computed_from_the_input_is_folded(tmp_path):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    stored = [numpy_helper.from_array(a, n) for a, n in ((np.array(0), "zero"), (ints(0), "axes"), (ints(-1), "rest"))]
    made = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 4])
    end = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 12])
    model = helper.make_model(helper.make_graph(nodes, "g", [made], [end], stored), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    runner.check(model, [x(5, 3, 4)], tmp_path, shape="x:5,3,4")


def test_outputs_that_are_inputs_constants_or_each_other(tmp_path):
    nodes = [
        helper.make_node("Identity", ["x"], ["same"]),
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Identity", ["r"], ["again"]),
        helper.make_node("Flatten", ["r"], ["flat"], axis=0),
        helper.make_node("Neg", ["r"], ["minus"]),
        helper.make_node("Identity", ["c"], ["fixed"]),
    ]
    stored = [numpy_helper.from_array(x(3), "c")]
    ends = [helper.make_empty_tensor_value_info(n) for n in ("same", "r", "again", "flat", "minus", "fixed")]
    made = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    model = helper.make_model(helper.make_graph(nodes, "g", [made], ends, stored), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    runner.check(onnx.shape_inference.infer_shapes(model), [x(2, 3)], tmp_path)


def test_weights_in_a_file_beside_the_model(tmp_path):
    weight = x(4, 3)
    tensor = numpy_helper.from_array(weight, "w")
    (tmp_path / "weights.bin").write_bytes(b"----" + weight.tobytes())

    def point(location, offset):
        tensor.raw_data = b""
        onnx.external_data_helper.set_external_data(tensor, location, offset=offset, length=weight.nbytes)
        tensor.ClearField("raw_data")

    point("weights.bin", 4)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [2, 4]), ("y", [2, 3]))]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    model = helper.make_model(helper.make_graph([node], "g", ports[:1], ports[1:], [tensor]), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    runner.check(model, [x(2, 4)], tmp_path)
    for path, part in (("../weights.bin", "inside the model's own folder"), ("/etc/hostname", "inside the model's own folder"), ("none.bin", "none.bin")):
        point(path, 4)
        changed = onnx.ModelProto.FromString(model.SerializeToString())
        changed.graph.initializer[0].CopyFrom(tensor)
        with pytest.raises(runner.Refused, match=part):
            runner.jumar(runner.save(changed, tmp_path), [x(2, 4)], tmp_path)
    point("weights.bin", 8)
    changed.graph.initializer[0].CopyFrom(tensor)
    with pytest.raises(runner.Refused, match="not inside"):
        runner.jumar(runner.save(changed, tmp_path), [x(2, 4)], tmp_path)


def test_what_is_not_supported_is_named(tmp_path):
    def refused(model, part):
        with pytest.raises(runner.Refused, match=part):
            runner.jumar(runner.save(model, tmp_path), [x(2, 3)], tmp_path)

    refused(single("RandomNormalLike", [x(2, 3)], set(), {}, 13), r"RandomNormalLike \(node the_node\)")
    refused(single("Relu", [x(2, 3)], set(), {}, 99), "operator set 99")
    # An operator that is known, in a form that is not: a draw that a seed does not fix.
    dropout = single("Dropout", [x(2, 3), np.float32(0.5), np.array(True)], {1, 2}, {}, 13)
    refused(dropout, "the_node.*Dropout|Dropout.*the_node")
