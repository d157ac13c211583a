"""Activations with gates, gradients and limits."""

import numpy as np

from cases import case, const, f, unary, v
from reference import erf

HALF = {"types": ["float16"]}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x, tanh=True):
    if tanh:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + erf(x / np.sqrt(2)))


case("ApproximateEqual", "", {"x1": v([1.0, 2.0, 3.0]), "x2": v([1.000001, 2.1, 3.0])}, lambda a, b: np.abs(a - b) < 1e-5)
case("ApproximateEqual", "nearly", {"x1": v([1.0, 2.0, 3.0]), "x2": v([1.2, 2.6, 3.0])}, lambda a, b: np.abs(a - b) < 0.5, {"tolerance": 0.5}, **HALF)
case("Atan2", "", {"x1": f(4, 5), "x2": f(4, 5)}, np.arctan2, types=["float16", "float64"])
case("Atan2", "on the axes", {"x1": v([0.0, 1.0, 0.0, -1.0, 0.0]), "x2": v([1.0, 0.0, -1.0, 0.0, 0.0])}, np.arctan2)
unary("FastGelu", lambda x: x * sigmoid(1.702 * x), types=["float16", "bfloat16"])
case("GeGluV2", "", {"x": f(2, 8)}, lambda x: [x[:, :4] * gelu(x[:, 4:]), gelu(x[:, 4:])], **HALF)
case("GeGluV2", "the left, exactly, an axis", {"x": f(4, 3)}, lambda x: [x[2:] * gelu(x[:2], False), gelu(x[:2], False)], {"dim": 0, "approximate": 0, "activate_left": True})
case("HardShrink", "", {"input_x": f(3, 4)}, lambda x: np.where(np.abs(x) > 0.5, x, 0), **HALF)
case("HardShrink", "limit", {"input_x": f(3, 4)}, lambda x: np.where(np.abs(x) > 1.25, x, 0), {"lambd": 1.25})
unary("LogSigmoid", lambda x: -np.logaddexp(0, -x), lo=-20, hi=20, types=["float16", "bfloat16"])
case("SwiGlu", "", {"x": f(2, 8)}, lambda x: x[:, :4] * sigmoid(x[:, :4]) * x[:, 4:], types=["float16", "bfloat16"])
case("SwiGlu", "an axis", {"x": f(4, 3)}, lambda x: x[:2] * sigmoid(x[:2]) * x[2:], {"dim": 0})


def slope(grad, x, y, scale=1.0):
    gate = sigmoid(scale * x)
    return grad * (gate + scale * x * gate * (1 - gate))


X = np.linspace(-3, 3, 12).reshape(3, 4)
case("SwishGrad", "", {"grad": f(3, 4), "x": v(X), "y": v(X * sigmoid(X))}, slope)
case("SwishGrad", "scale", {"grad": f(3, 4), "x": v(X), "y": v(X * sigmoid(1.5 * X))}, lambda *a: slope(*a, 1.5), {"scale": 1.5})
case("ThresholdV2", "", {"x": f(3, 4), "threshold": const(v([0.5])), "value": const(v([-7]))}, lambda x, limit, value: np.where(x > limit, x, value), types=["float16", "int32"])
case("ThresholdV2", "zero when not said", {"x": f(3, 4), "threshold": const(v([0.5]))}, lambda x, limit: np.where(x > limit, x, 0))


def fast_gelu(x):
    bow = -0.1444 * (np.minimum(np.abs(0.7071 * x), 1.769) - 1.769) ** 2 + 0.5
    return x * (np.sign(x + 1e-12) * bow + 0.5)


case("FastGeluV2", "", {"x": f(4, 5, lo=-4, hi=4)}, fast_gelu, types=["float16", "bfloat16"])
