"""Operators that make fewer elements of many, and those along an axis."""

import numpy as np

from cases import b, case, distinct, f, i, t, v
from reference import softmax

HALF = {"types": ["float16"]}
NUMBERS = ["float16", "bfloat16", "float64", "int32", "int64"]


def reduction(op, function, types=(), lo=-2.0, hi=2.0):
    case(op, "an axis", {"x": f(2, 3, 4, lo=lo, hi=hi), "axes": t([1])}, lambda x, axes: function(x, axis=1), types=types)
    case(op, "axes from the end, kept", {"x": f(2, 3, 4, lo=lo, hi=hi), "axes": t([-1, 0], "int64")}, lambda x, axes: function(x, axis=(0, 2), keepdims=True), {"keep_dims": True})
    case(op, "all", {"x": f(2, 3, lo=lo, hi=hi), "axes": t([0, 1])}, lambda x, axes: np.asarray(function(x)))


def logsumexp(x, **more):
    return np.log(np.exp(x).sum(**more))


reduction("ReduceSum", np.sum, NUMBERS)
reduction("ReduceMax", np.max, NUMBERS)
reduction("ReduceMin", np.min, NUMBERS)
reduction("ReduceMean", np.mean, ["float16", "bfloat16", "float64"])
reduction("ReduceProd", np.prod, ["float16", "float64", "int32", "int64"])
reduction("ReduceLogSum", lambda x, **more: np.log(np.sum(x, **more)), ["float16"], lo=0.5, hi=3)
reduction("ReduceLogSumExp", logsumexp, ["float16"])
case("ReduceMean", "no axes leave all as it is when not said", {"x": f(2, 3), "axes": t(np.zeros(0), "int64")}, lambda x, axes: x)
case("ReduceMean", "no axes are all", {"x": f(2, 3), "axes": t(np.zeros(0), "int64")}, lambda x, axes: np.asarray(x.mean()), {"noop_with_empty_axes": False})
case("ReduceLogSumExp", "of large numbers", {"x": f(2, 3, lo=90, hi=99), "axes": t([1])}, lambda x, axes: np.logaddexp.reduce(x, 1))

case("ReduceAll", "", {"x": b(3, 4), "axes": t([1])}, lambda x, axes: x.all(1), dtype="bool")
case("ReduceAny", "kept", {"x": b(3, 4), "axes": t([0])}, lambda x, axes: x.any(0, keepdims=True), {"keep_dims": True}, dtype="bool")
for op, function in [("ReduceSumD", np.sum), ("ReduceMeanD", np.mean), ("ReduceMaxD", np.max)]:
    case(op, "", {"x": f(2, 3, 4)}, lambda x, function=function: function(x, axis=(1, 2)), {"axes": [1, -1]}, **HALF)
    case(op, "kept", {"x": f(2, 3, 4)}, lambda x, function=function: function(x, axis=0, keepdims=True), {"axes": [0], "keep_dims": True})
case("SquareSumV1", "", {"x": f(2, 3, 4)}, lambda x: (x**2).sum(1), {"axis": [1]}, types=["float16", "bfloat16"])
case("SquareSumV1", "kept", {"x": f(2, 3, 4)}, lambda x: (x**2).sum((0, 2), keepdims=True), {"axis": [0, 2], "keep_dims": True})

case("LpNormV2", "", {"x": f(2, 3, 4)}, lambda x: np.asarray(np.sqrt((x**2).sum())), types=["float16", "bfloat16"])
case("LpNormV2", "sizes, kept", {"x": f(2, 3, 4)}, lambda x: np.abs(x).sum(1, keepdims=True), {"p": 1.0, "axes": [1], "keepdim": True})
case("LpNormV2", "third power", {"x": f(2, 3, 4)}, lambda x: (np.abs(x) ** 3).sum((0, 2)) ** (1 / 3), {"p": 3.0, "axes": [0, 2]})
case("LpNormV2", "most", {"x": f(2, 3, 4)}, lambda x: np.abs(x).max(1), {"p": np.inf, "axes": [1]})

case("ArgMaxV2", "", {"x": distinct(3, 4), "dimension": t(1)}, lambda x, d: x.argmax(1), types=["float16", "float64", "int32", "int64"], out="int64")
case("ArgMaxV2", "int32, from the end", {"x": distinct(3, 4), "dimension": t(-2, "int64")}, lambda x, d: x.argmax(0), {"dtype": "int32"}, out="int32")
case("ArgMaxV2", "the first of equals", {"x": v([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), "dimension": t(1)}, lambda x, d: x.argmax(1))
case("ArgMin", "", {"x": distinct(3, 4), "dimension": t(1)}, lambda x, d: x.argmin(1), types=["float16", "float64", "int32", "int64"], out="int64")
case("ArgMin", "int32, from the end", {"x": distinct(3, 4), "dimension": t(-2)}, lambda x, d: x.argmin(0), {"dtype": "int32"}, out="int32")
case("ArgMaxD", "", {"x": distinct(3, 4)}, lambda x: x.argmax(1), {"dimension": 1}, **HALF)
case("ArgMinD", "int32", {"x": distinct(3, 4)}, lambda x: x.argmin(0), {"dimension": 0, "dtype": "int32"}, out="int32")

case("Cumsum", "", {"x": f(3, 4), "axis": t(1)}, lambda x, a: x.cumsum(1), types=["float16", "float64", "int32", "int64", "int8", "uint8"])
case("Cumsum", "backwards, without itself", {"x": f(3, 4), "axis": t(0, "int64")},
     lambda x, a: np.vstack([x[::-1].cumsum(0)[::-1][1:], np.zeros((1, 4))]), {"exclusive": True, "reverse": True})
case("Cumsum", "without itself", {"x": f(3, 4), "axis": t(-1)}, lambda x, a: x.cumsum(1) - x, {"exclusive": True})

case("SoftmaxV2", "", {"x": f(2, 3, 4)}, softmax, types=["float16", "bfloat16", "float64"])
case("SoftmaxV2", "another axis", {"x": f(2, 3, 4, lo=-50, hi=50)}, lambda x: softmax(x, 1), {"axes": [1]})
case("SoftmaxV2", "half to float", {"x": f(2, 3, 4)}, softmax, {"half_to_float": True}, dtype="float16", out="float32")
case("SoftmaxV2", "two axes", {"x": f(2, 3, 4)}, lambda x: softmax(x.reshape(2, 12), 1).reshape(2, 3, 4), {"axes": [1, 2]})
case("LogSoftmaxV2", "", {"logits": f(2, 3, 4)}, lambda x: np.log(softmax(x)), types=["float16", "bfloat16", "float64"])
case("LogSoftmaxV2", "another axis", {"logits": f(2, 3, 4, lo=-20, hi=20)}, lambda x: np.log(softmax(x, 0)), {"axes": [0]})
case("HardMax", "", {"x": distinct(3, 4)}, lambda x: (x == x.max(-1, keepdims=True)).astype(float), **HALF)
case("HardMax", "another axis", {"x": distinct(3, 4)}, lambda x: (x == x.max(0, keepdims=True)).astype(float), {"axis": 0})
