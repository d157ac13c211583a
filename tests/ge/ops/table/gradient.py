"""Gradients of functions on each element: the expected slope is that of NumPy's function, by a complex step."""

import numpy as np

from cases import case, f, v

HALF = ("float16",)


def slope(function, x):
    """The derivative of an analytic function."""
    return np.imag(function(np.asarray(x, np.float64) + 1e-30j)) / 1e-30


def of_input(op, function, names=("y", "dy"), lo=-2.0, hi=2.0, types=HALF, **rest):
    """A gradient that reads the function's input."""
    case(op, "", {names[0]: f(3, 5, lo=lo, hi=hi), names[1]: f(3, 5)}, lambda x, g: g * slope(function, x), types=types, **rest)


def of_output(op, function, inverse, names=("y", "dy"), lo=-2.0, hi=2.0, types=HALF, **rest):
    """A gradient that reads the function's output."""
    case(op, "", {names[0]: f(3, 5, lo=lo, hi=hi), names[1]: f(3, 5)}, lambda y, g: g * slope(function, inverse(y)), types=types, **rest)


of_input("AcosGrad", np.arccos, lo=-0.9, hi=0.9)
of_output("AcoshGrad", np.arccosh, np.cosh, lo=0.5, hi=2)
of_input("AsinGrad", np.arcsin, lo=-0.9, hi=0.9)
of_output("AsinhGrad", np.arcsinh, np.sinh)
of_input("AtanGrad", np.arctan)
of_output("InvGrad", lambda x: 1 / x, lambda y: 1 / y, names=("x", "grad"), lo=0.5, hi=2)
of_output("SigmoidGrad", lambda x: 1 / (1 + np.exp(-x)), lambda y: np.log(y / (1 - y)), lo=0.1, hi=0.9, types=("float16", "bfloat16"))
of_output("SqrtGrad", np.sqrt, np.square, lo=0.5, hi=2, types=("float16", "bfloat16"))
of_output("TanhGrad", np.tanh, np.arctanh, lo=-0.9, hi=0.9, types=("float16", "bfloat16"))


def with_features(op, want, names=("gradients", "features"), attrs=None, types=HALF, lo=-3.0, hi=8.0, name=""):
    case(op, name, {names[0]: f(3, 5), names[1]: f(3, 5, lo=lo, hi=hi)}, want, attrs, types=types)


with_features("ReluGrad", lambda g, x: np.where(x > 0, g, 0), types=("float16", "bfloat16", "int32"))
case("ReluGrad", "at 0", {"gradients": v([1.0, 2.0, 3.0]), "features": v([0.0, -1.0, 1.0])}, lambda g, x: np.array([0, 0, 3.0]))
with_features("Relu6Grad", lambda g, x: np.where((x > 0) & (x < 6), g, 0), types=("float16", "int32"))
with_features("SoftplusGrad", lambda g, x: g * slope(lambda z: np.log(1 + np.exp(z)), x))
with_features("SoftsignGrad", lambda g, x: g / (1 + np.abs(x)) ** 2)
with_features("EluGrad", lambda g, y: np.where(y < 0, g * (y + 1), g), names=("grads", "activations"), lo=-0.9, hi=2)
SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772
with_features("SeluGrad", lambda g, y: g * np.where(y < 0, y + SCALE * ALPHA, SCALE), names=("gradients", "outputs"), lo=-1.5, hi=2)
with_features(
    "SoftplusV2Grad", lambda g, x: np.where(2 * x > 5, g, g * slope(lambda z: np.log(1 + np.exp(2 * z)) / 2, x)),
    names=("input_gradients", "input_features"), attrs={"beta": 2.0, "threshold": 5.0},
)
with_features(
    "FusedBiasLeakyReluGrad", lambda g, y: g * np.float64(np.float32(1.414213562373)) * np.where(y > 0, 1, np.float64(np.float32(0.2))),
    names=("y_grad", "features"), lo=-2,
)
THREE = {"predict": f(3, 5), "label": f(3, 5), "dout": f(3, 5)}
case("SmoothL1LossGrad", "", THREE, lambda x, y, g: g * np.clip((x - y) / 0.5, -1, 1), {"sigma": 0.5}, types=HALF)
case(
    "SigmoidCrossEntropyWithLogitsGrad", "", {"predict": f(3, 5), "target": f(3, 5, lo=0, hi=1), "dout": f(3, 5)},
    lambda x, t, g: g * (slope(lambda z: np.log(1 + np.exp(z)), x) - t), types=HALF,
)


def soft_margin(x, y, g):
    return g * np.imag(np.log(1 + np.exp(-y * (x + 1e-30j)))) / 1e-30


case("SoftMarginLossGrad", "sum", THREE, soft_margin, {"reduction": "sum"}, types=HALF)
case("SoftMarginLossGrad", "mean", THREE, lambda x, y, g: soft_margin(x, y, g) / 15)
