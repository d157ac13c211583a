"""A tensor without elements is valid everywhere: each operator that takes an axis of any length takes one of length 0.

What comes out is compared with onnx's reference. Where the reference itself stumbles over such a tensor, the shape that ONNX's
definition requires stands beside the case.
"""

import warnings

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import runner

RANDOM = np.random.default_rng(7)


def none(*shape, dtype=np.float32):
    """A tensor without elements."""
    return np.zeros(shape, dtype)


def some(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


BYTES = {"dtype": np.uint8}
INDEX = {"dtype": np.int64}
HALF = np.array(0.5, np.float32)
THREE = np.array(3, np.uint8)

# Operator, its inputs (the first is fed, the others are constants), its attributes; and, by the keys `opset`, `outputs` and
# `shape`, the operator set where 18 will not do, the number of outputs, and the shape if the reference has none.
CASES = [
    # Windows
    ("Conv", [none(0, 3, 8, 8), some(4, 3, 3, 3)], {}, {}),
    ("Conv", [none(0, 4, 8, 8), some(4, 1, 3, 3)], {"group": 4}, {}),
    ("Conv", [none(0, 3, 8), some(4, 3, 3)], {}, {}),
    ("ConvTranspose", [none(0, 3, 8, 8), some(3, 4, 3, 3)], {}, {"shape": (0, 4, 10, 10)}),
    ("ConvInteger", [none(0, 3, 8, 8, **BYTES), np.ones((4, 3, 3, 3), np.uint8)], {}, {}),
    ("DeformConv", [none(0, 1, 3, 3), some(1, 1, 2, 2), none(0, 8, 2, 2)], {}, {"opset": 19}),
    ("MaxPool", [none(0, 3, 8, 8)], {"kernel_shape": [2, 2]}, {}),
    ("AveragePool", [none(0, 3, 8, 8)], {"kernel_shape": [2, 2]}, {}),
    ("LpPool", [none(0, 3, 8, 8)], {"kernel_shape": [2, 2]}, {}),
    ("GlobalAveragePool", [none(0, 3, 8, 8)], {}, {"shape": (0, 3, 1, 1)}),
    ("GlobalMaxPool", [none(0, 3, 8, 8)], {}, {}),
    ("MaxUnpool", [none(0, 1, 2, 2), none(0, 1, 2, 2, **INDEX)], {"kernel_shape": [2, 2], "strides": [2, 2]}, {}),
    ("Col2Im", [none(0, 4, 4), ints(3, 3), ints(2, 2)], {}, {"shape": (0, 1, 3, 3)}),
    # Normalisations
    ("BatchNormalization", [none(0, 3, 8, 8), some(3), some(3), some(3), np.abs(some(3))], {}, {}),
    ("LayerNormalization", [none(0, 5, 8), some(8)], {"axis": -1}, {}),
    ("InstanceNormalization", [none(0, 3, 4), some(3), some(3)], {}, {}),
    ("GroupNormalization", [none(0, 4, 3), some(4), some(4)], {"num_groups": 2}, {"opset": 21, "shape": (0, 4, 3)}),
    ("RMSNormalization", [none(0, 4), some(4)], {}, {"opset": 23}),
    ("MeanVarianceNormalization", [none(0, 3, 4, 4)], {}, {}),
    ("LpNormalization", [none(0, 4)], {}, {}),
    ("LRN", [none(0, 3, 4, 4)], {"size": 3}, {}),
    # Products
    ("MatMul", [none(0, 4), some(4, 5)], {}, {}),
    ("MatMul", [some(3, 4), none(4, 0)], {}, {}),
    ("MatMul", [none(3, 0), none(0, 5)], {}, {}),
    ("MatMul", [none(0, 3, 4), some(4, 5)], {}, {}),
    ("Gemm", [none(0, 4), some(4, 5), some(5)], {}, {}),
    ("Gemm", [none(3, 0), none(0, 5), some(5)], {}, {}),
    ("Einsum", [none(0, 4), some(4, 5)], {"equation": "ij,jk->ik"}, {}),
    ("MatMulInteger", [none(0, 4, **BYTES), np.ones((4, 5), np.uint8)], {}, {}),
    ("QLinearMatMul", [none(0, 4, **BYTES), HALF, THREE, np.ones((4, 5), np.uint8), HALF, THREE, HALF, THREE], {}, {}),
    ("Attention", [none(0, 2, 3, 4)] * 3, {}, {"opset": 23}),
    ("RotaryEmbedding", [none(0, 2, 3, 4), none(0, 3, 2), none(0, 3, 2)], {}, {"opset": 23}),
    ("Det", [none(0, 3, 3)], {}, {}),
    ("DFT", [none(0, 4, 1)], {"axis": 1}, {"opset": 17}),
    # Recurrent networks: no steps, and no sequences
    ("LSTM", [none(0, 2, 3), some(1, 16, 3), some(1, 16, 4)], {"hidden_size": 4}, {"shape": (0, 1, 2, 4)}),
    ("LSTM", [none(5, 0, 3), some(1, 16, 3), some(1, 16, 4)], {"hidden_size": 4}, {}),
    ("GRU", [none(5, 0, 3), some(1, 12, 3), some(1, 12, 4)], {"hidden_size": 4}, {}),
    ("RNN", [none(5, 0, 3), some(1, 4, 3), some(1, 4, 4)], {"hidden_size": 4}, {}),
    # Along an axis
    ("Softmax", [none(0, 4)], {}, {}),
    ("LogSoftmax", [none(4, 0)], {}, {}),
    ("Hardmax", [none(0, 4)], {}, {}),
    ("TopK", [none(0, 4), ints(2)], {}, {"outputs": 2}),
    ("ArgMax", [none(0, 4)], {"axis": 1}, {}),
    ("CumSum", [none(0, 4), np.array(0, np.int64)], {}, {}),
    ("Unique", [none(0)], {}, {}),
    *[
        (f"Reduce{name}", [none(0, 4), ints(1)], {}, {})
        for name in ("Sum", "Mean", "L1", "L2", "LogSum", "LogSumExp", "SumSquare", "Prod", "Max", "Min")
    ],
    ("ReduceSum", [none(2, 0), ints(1)], {}, {}),
    ("ReduceProd", [none(2, 0), ints(1)], {}, {}),
    # Positions
    ("Concat", [none(0, 4), some(2, 4)], {"axis": 0}, {}),
    ("Concat", [none(0, 4), none(0, 4)], {"axis": 0}, {}),
    ("Split", [none(0, 4)], {"axis": 1, "num_outputs": 2}, {"outputs": 2}),
    ("Gather", [some(3, 4), none(0, **INDEX)], {}, {}),
    ("GatherND", [some(3, 4), none(0, 1, **INDEX)], {}, {}),
    ("GatherElements", [some(3, 4), none(0, 4, **INDEX)], {}, {}),
    ("ScatterND", [some(3, 4), none(0, 1, **INDEX), none(0, 4)], {}, {}),
    ("ScatterElements", [some(3, 4), none(0, 4, **INDEX), none(0, 4)], {}, {}),
    ("Where", [none(0, 4, dtype=np.bool_), none(0, 4), none(0, 4)], {}, {}),
    ("Compress", [some(3, 4), none(0, dtype=np.bool_)], {"axis": 0}, {}),
    ("Tile", [none(0, 4), ints(2, 3)], {}, {}),
    ("Tile", [some(2, 3), ints(0, 1)], {}, {}),
    ("Transpose", [none(0, 4, 2)], {"perm": [2, 0, 1]}, {}),
    ("NonZero", [none(0, 4)], {}, {}),
    ("OneHot", [none(0, **INDEX), np.array(3, np.int64), some(2)], {}, {}),
    ("Reshape", [none(0, 4), ints(4, 0)], {"allowzero": 1}, {}),
    ("Flatten", [none(0, 4, 2)], {}, {"shape": (0, 8)}),
    ("Squeeze", [none(0, 1, 2), ints(1)], {}, {}),
    ("Unsqueeze", [none(0, 2), ints(1)], {}, {}),
    ("Expand", [none(0, 1), ints(0, 3)], {}, {}),
    ("Slice", [some(3, 4), ints(2), ints(1), ints(0)], {}, {}),
    ("Pad", [none(0, 4), ints(0, 1, 0, 1)], {}, {}),
    ("Shape", [none(0, 4)], {}, {}),
    ("Size", [none(0, 4)], {}, {}),
    ("Trilu", [none(0, 4, 4)], {}, {}),
    ("EyeLike", [none(0, 4)], {}, {}),
    ("ReverseSequence", [none(4, 0), none(0, **INDEX)], {}, {}),
    ("DepthToSpace", [none(0, 4, 2, 2)], {"blocksize": 2}, {}),
    ("SpaceToDepth", [none(0, 1, 4, 4)], {"blocksize": 2}, {}),
    ("CenterCropPad", [none(0, 4), ints(0, 2)], {}, {}),
    # Images
    ("Resize", [none(0, 3, 4, 4), none(0), np.array([1, 1, 2, 2], np.float32)], {}, {}),
    ("GridSample", [none(0, 3, 4, 4), none(0, 2, 2, 2)], {}, {"opset": 16, "shape": (0, 3, 2, 2)}),
    ("AffineGrid", [none(0, 2, 3), ints(0, 1, 2, 2)], {}, {"opset": 20}),
    ("RoiAlign", [some(1, 3, 4, 4), none(0, 4), none(0, **INDEX)], {"output_height": 2, "output_width": 2}, {"opset": 16}),
    ("NonMaxSuppression", [none(1, 0, 4), none(1, 1, 0), ints(5), HALF.reshape(1), HALF.reshape(1)], {}, {}),
    # Element by element
    ("Clip", [none(0, 4)], {}, {}),
    ("Cast", [none(0, 4)], {"to": TensorProto.INT32}, {}),
    ("Mod", [none(0, 4, **INDEX), none(0, 4, **INDEX)], {}, {}),
    ("Gelu", [none(0, 4)], {}, {"opset": 20}),
    ("BitShift", [none(0, **BYTES), none(0, **BYTES)], {"direction": "LEFT"}, {}),
    ("Max", [none(0, 4), none(0, 4)], {}, {}),
    ("Sum", [none(0, 4), none(0, 4)], {}, {}),
    ("Mean", [none(0, 4)], {}, {}),
    ("Dropout", [none(0, 4)], {}, {}),
    ("QuantizeLinear", [none(0, 4), HALF, THREE], {}, {}),
    ("DequantizeLinear", [none(0, 4, **BYTES), HALF, THREE], {}, {"shape": (0, 4)}),
    # Losses
    ("SoftmaxCrossEntropyLoss", [none(0, 4), none(0, **INDEX)], {"reduction": "none"}, {"shape": (0,)}),
    ("NegativeLogLikelihoodLoss", [none(0, 4), none(0, **INDEX)], {"reduction": "none"}, {"shape": (0,)}),
]


@pytest.fixture(scope="module", autouse=True)
def built():
    runner.build()


@pytest.mark.parametrize("case", CASES, ids=[f"{operator}-{index}" for index, (operator, *_) in enumerate(CASES)])
def test_a_tensor_without_elements(case, tmp_path):
    operator, inputs, attributes, more = case
    names = [f"input_{index}" for index in range(len(inputs))]
    outputs = [f"output_{index}" for index in range(more.get("outputs", 1))]
    fed = helper.make_tensor_value_info(names[0], helper.np_dtype_to_tensor_dtype(inputs[0].dtype), inputs[0].shape)
    graph = helper.make_graph(
        [helper.make_node(operator, names, outputs, **attributes)],
        "zero",
        [fed],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for array, name in zip(inputs[1:], names[1:])],
    )
    opset = helper.make_opsetid("", more.get("opset", 18))
    model = helper.make_model(graph, opset_imports=[opset], ir_version=10)
    results = runner.jumar(runner.save(model, tmp_path), inputs[:1], tmp_path)[0]
    assert len(results) == len(outputs)
    if "shape" in more:
        assert results[0].shape == more["shape"] and results[0].size == 0
        return
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = ReferenceEvaluator(model).run(None, {names[0]: inputs[0]})
    for result, want in zip(results, wanted):
        want = np.asarray(want)
        assert result.shape == want.shape
        assert result.dtype == want.dtype
        np.testing.assert_allclose(result, want, rtol=1e-6)
