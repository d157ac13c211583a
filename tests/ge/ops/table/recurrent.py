"""Recurrent layers as they are trained, and gradients of distances."""

import itertools

import numpy as np

from cases import case, f, i, refused, v


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w_x, w_h, b, h, c, order="ijfo", mask=None, reverse=False, forget_bias=0.0):
    """x [T, N, I], w_x [I, 4H], w_h [H, 4H]. Returns y, output_h, output_c, i, j, f, o, tanhc."""
    rows = {}
    for time in range(x.shape[0])[:: -1 if reverse else 1]:
        gates = dict(zip(order.replace("c", "j"), np.split(x[time] @ w_x + h @ w_h + b, 4, 1)))
        i, j, forget, o = sigmoid(gates["i"]), np.tanh(gates["j"]), sigmoid(gates["f"] + forget_bias), sigmoid(gates["o"])
        new = forget * c + i * j
        squashed = np.tanh(new)
        kept = 1 if mask is None else mask[time]
        y = kept * o * squashed
        h, c = y + (1 - kept) * h, kept * new + (1 - kept) * c
        rows[time] = (y, h, c, i, j, forget, o, squashed)
    return [np.stack([rows[time][index] for time in range(x.shape[0])]) for index in range(8)]


def joint(x, w, b, h, c, **rest):
    """`w` has the rows of the input above those of the state."""
    return lstm(x, w[: x.shape[2]], w[x.shape[2] :], b, h[0] if h.ndim == 3 else h, c[0] if c.ndim == 3 else c, **rest)


SIZES = {"x": f(3, 2, 4, lo=-1, hi=1), "w": f(9, 20, lo=-1, hi=1), "b": f(20, lo=-1, hi=1)}
STATES = {"init_h": f(1, 2, 5, lo=-1, hi=1), "init_c": f(1, 2, 5, lo=-1, hi=1)}
LENGTHS = np.array([[[1.0] * 5, [1.0] * 5], [[1.0] * 5, [0.0] * 5], [[1.0] * 5, [0.0] * 5]])

case("DynamicRNN", "", SIZES, lambda x, w, b: joint(x, w, b, np.zeros((2, 5)), np.zeros((2, 5))), types=["float16"])
case("DynamicRNN", "states, another order of gates, a bias of the forget gate", {**SIZES, **STATES},
     lambda x, w, b, h, c: joint(x, w, b, h, c, order="ifjo", forget_bias=0.5), {"gate_order": "ifjo", "forget_bias": 0.5}, types=["float16"])
case("DynamicRNN", "a mask of the times", {**SIZES, "seq_length": v(LENGTHS, "float16"), **STATES},
     lambda x, w, b, mask, h, c: joint(x, w, b, h, c, mask=mask))
case("DynamicRNN", "lengths, backwards", {**SIZES, "seq_length": v([3, 1], "int32"), **STATES},
     lambda x, w, b, lengths, h, c: joint(x, w, b, h, c, mask=LENGTHS, reverse=True), {"direction": "REDIRECTIONAL"})

PARTS = {"x": f(3, 2, 4, lo=-1, hi=1), "weight_input": f(4, 20, lo=-1, hi=1), "weight_hidden": f(5, 20, lo=-1, hi=1)}
case("DynamicRNNV2", "", PARTS, lambda x, w_x, w_h: lstm(x, w_x, w_h, 0, np.zeros((2, 5)), np.zeros((2, 5))), types=["float16"])
case("DynamicRNNV2", "biases, states, another order of gates", {**PARTS, "b": f(20, lo=-1, hi=1), **STATES},
     lambda x, w_x, w_h, b, h, c: lstm(x, w_x, w_h, b, h[0], c[0], order="ifjo"), {"gate_order": "ifco"}, types=["float16"])
case("DynamicRNNV2", "lengths", {**PARTS, "seq_length": v([3, 1], "int32"), **STATES},
     lambda x, w_x, w_h, lengths, h, c: lstm(x, w_x, w_h, 0, h[0], c[0], mask=LENGTHS))


def slopes(loss, values):
    """The gradient of a loss, exact but for rounding: the imaginary part after a tiny imaginary step of each element."""
    tiny = 1e-30
    found = []
    for at, value in enumerate(values):
        gradient = np.zeros(value.shape)
        for index in itertools.product(*map(range, value.shape)):
            moved = [one.astype(np.complex128) for one in values]
            moved[at][index] += tiny * 1j
            gradient[index] = loss(*moved).imag / tiny
        found.append(gradient)
    return found


def trained(name, joined, types=(), reverse=False, mask=None, lengths=None, order="ijfo", times=3):
    """A case of the gradient: the results of the forward pass are inputs."""
    rng = np.random.default_rng(7)

    def numbers(*dims):
        return np.round(rng.uniform(-1, 1, dims) * 64) / 64

    x, w, b, h, c = numbers(times, 2, 4), numbers(9, 20), numbers(20), numbers(2, 5), numbers(2, 5)
    by = dict(dy=numbers(times, 2, 5), dh=numbers(2, 5), dc=numbers(2, 5))
    rest = dict(order=order, mask=mask, reverse=reverse)
    y, hs, cs, *gates = joint(x, w, b, h, c, **rest)
    last = 0 if reverse else -1
    kept = dict(zip(["i", "j", "f", "o", "tanhct"], gates))

    def loss(x, w, b, h, c):
        y, hs, cs, *_ = joint(x, w, b, h, c, **rest)
        return np.sum(by["dy"] * y) + np.sum(by["dh"] * hs[last]) + np.sum(by["dc"] * cs[last])

    dx, dw, db, dh, dc = slopes(loss, [x, w, b, h, c])
    weights = {"w": v(w), "b": v(b)} if joined else {"w_x": v(w[:4]), "w_h": v(w[4:])}
    inputs = {"x": v(x), **weights, "y": v(y), "init_h": v(h), "init_c": v(c), "h": v(hs), "c": v(cs)}
    inputs |= {key: v(value) for key, value in {**by, **kept}.items()}
    if mask is not None:
        inputs["seq_length"] = v(mask, "float16") if lengths is None else v(lengths, "int32")
    of_weights = [dw] if joined else [dw[:4], dw[4:]]
    attrs = {"gate_order": order, "direction": "REDIRECTIONAL" if reverse else "UNIDIRECTIONAL"}
    case("DynamicRNNGrad" if joined else "DynamicRNNV2Grad", name, inputs, lambda *_: [*of_weights, db, dx, dh, dc], attrs, types=types,
         loose=4, why="sums of products over three times, of which each is rounded")


trained("", True, types=["float16"])
trained("backwards, another order of gates", True, reverse=True, order="ifjo")
trained("a mask of the times", True, mask=LENGTHS)
trained("backwards with lengths", True, mask=LENGTHS, lengths=[3, 1], reverse=True)
trained("", False, types=["float16"])
trained("one time", False, times=1)
trained("lengths", False, mask=LENGTHS, lengths=[3, 1])


def distances(x1, x2, p):
    difference = np.abs(x1[:, :, None] - x2[:, None])
    if p == np.inf:
        return difference.max(-1)
    if p == 0:
        return (difference != 0).sum(-1)
    return (difference**p).sum(-1) ** (1 / p)


def cdist_gradient(p):
    """By rows, with the derivative written out for each kind of norm."""

    def run(grad, x1, x2, cdist):
        difference = (x1[:, :, None] - x2[:, None])
        size, by, distance = np.abs(difference), grad[..., None], cdist[..., None]
        if p == 0:
            return np.zeros_like(x1)
        if p == np.inf:
            return (np.sign(difference) * (size == distance) * by).sum(2)
        with np.errstate(all="ignore"):
            slope = np.sign(difference) * (size / distance) ** (p - 1)
        return (np.where((distance == 0) | (size == 0), 0, slope) * by).sum(2)

    return run


POINTS = np.array([[[0.5, -1.0, 0.25], [1.0, 1.0, -0.5]], [[0.0, 0.0, 0.0], [-1.5, 0.75, 2.0]]])
OTHERS = np.array([[[0.5, -1.0, 0.25], [0.5, 0.0, -0.5], [2.0, 1.0, 1.0]], [[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.5, 0.25]]])
for p in [0.0, 0.5, 1.0, 2.0, 3.0, np.inf]:
    case("CdistGrad", f"p is {p}", {"grad": f(2, 2, 3), "x1": v(POINTS), "x2": v(OTHERS), "cdist": v(distances(POINTS, OTHERS, p))}, cdist_gradient(p), {"p": p},
         types=["float16"] if p in (1.0, np.inf) else [])
    case("CdistGrad", f"all of one shape, p is {p}",
         {"grad": v(np.broadcast_to(np.array([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]])[None, :, :, None], (2, 2, 3, 3)).copy()),
          "x1": v(np.broadcast_to(POINTS[:, :, None], (2, 2, 3, 3)).copy()), "x2": v(np.broadcast_to(OTHERS[:, None], (2, 2, 3, 3)).copy()),
          "cdist": v(np.broadcast_to(distances(POINTS, OTHERS, p)[..., None], (2, 2, 3, 3)).copy())},
         lambda grad, x1, x2, cdist, p=p: cdist_gradient(p)(grad[..., 0], x1[:, :, 0], x2[:, 0], cdist[..., 0]), {"p": -1.0 if p == np.inf else p})


def gru(x, w, r, b=0.0, c=0.0, h=None, order="zrh"):
    """x [T, N, I], w [I, 3H], r [H, 3H]. Returns y, output_h, update, reset, new, hidden_new."""
    h = np.zeros((x.shape[1], r.shape[0])) if h is None else h.reshape(x.shape[1], r.shape[0])
    rows = []
    for one in x:
        of_x = dict(zip(order, np.split(one @ w + b, 3, 1)))
        of_h = dict(zip(order, np.split(h @ r + c, 3, 1)))
        z, reset = sigmoid(of_x["z"] + of_h["z"]), sigmoid(of_x["r"] + of_h["r"])
        new = np.tanh(of_x["h"] + reset * of_h["h"])
        h = (1 - z) * new + z * h
        rows.append((h, h, z, reset, new, of_h["h"]))
    return [np.stack(part) for part in zip(*rows)]


HALF = {"x": f(3, 2, 4, lo=-1, hi=1), "weight_input": f(4, 15, lo=-1, hi=1), "weight_hidden": f(5, 15, lo=-1, hi=1)}
BIASES = {"bias_input": f(15, lo=-1, hi=1), "bias_hidden": f(15, lo=-1, hi=1)}
WIDE = {"bias_input": f(15, lo=-1, hi=1, dtype="float32"), "bias_hidden": f(15, lo=-1, hi=1, dtype="float32"), "init_h": f(1, 2, 5, lo=-1, hi=1, dtype="float32")}
case("DynamicGRUV2", "", HALF, lambda x, w, r: gru(x, w, r), dtype="float16")
case("DynamicGRUV2", "biases", {**HALF, **BIASES}, lambda x, w, r, b, c: gru(x, w, r, b, c), dtype="float16")
case("DynamicGRUV2", "a state, another order of gates", {**HALF, **WIDE}, lambda x, w, r, b, c, h: gru(x, w, r, b, c, h, "rzh"),
     {"gate_order": "rzh"}, dtype="float16", out="float32")
case("DynamicGRUV2", "a state in half precision", {**HALF, "init_h": f(1, 2, 5, lo=-1, hi=1)}, lambda x, w, r, h: gru(x, w, r, h=h), dtype="float16")
refused("DynamicGRUV2", "reset before the product", HALF, "reset_after must be true", {"reset_after": False}, dtype="float16")
refused("DynamicGRUV2", "lengths", {**HALF, "seq_length": v([3, 1], "int32")}, "seq_length", dtype="float16")
refused("DynamicGRUV2", "no such order", HALF, "zrh or rzh", {"gate_order": "hrz"}, dtype="float16")
refused("DynamicGRUV2", "weights of another size", {**HALF, "weight_input": f(3, 15)}, "4 rows of 15", dtype="float16")


def one_step(x, h, c, w, b, forget_bias=1.0):
    """The order of the outputs: ct, ht, it, jt, ft, ot, tanhct."""
    _, output, new, i, j, forget, o, squashed = (row[0] for row in joint(x[None], w, b, h, c, forget_bias=forget_bias))
    return [new, output, i, j, forget, o, squashed]


CELL = {"x": f(2, 4, lo=-1, hi=1), "h": f(2, 5, lo=-1, hi=1), "c": f(2, 5, lo=-1, hi=1), "w": f(9, 20, lo=-1, hi=1), "b": f(20, lo=-1, hi=1)}
FINE = {"c": f(2, 5, lo=-1, hi=1, dtype="float32"), "b": f(20, lo=-1, hi=1, dtype="float32")}
case("BasicLSTMCell", "", CELL, one_step, dtype="float16")
case("BasicLSTMCell", "states and biases of more digits, another bias of the forget gate", {**CELL, **FINE}, lambda *a: one_step(*a, forget_bias=0.5),
     {"forget_bias": 0.5}, dtype="float16", out=["float32", "float16", *["float32"] * 5])
refused("BasicLSTMCell", "dropout", CELL, "keep_prob must be 1", {"keep_prob": 0.5}, dtype="float16")
refused("BasicLSTMCell", "a mask", {**CELL, "mask": v([1], "uint8")}, "mask is not supported", dtype="float16")
refused("BasicLSTMCell", "one state", CELL, "state_is_tuple must be true", {"state_is_tuple": False}, dtype="float16")
refused("BasicLSTMCell", "weights of another size", {**CELL, "w": f(8, 20)}, "the shape [9, 20] is required", dtype="float16")


def caffe(x, cont, w_x, b, w_h, x_static=None, h=None, c=None, w_static=None):
    """The states are multiplied with `cont` before each step. The gates are those of input, forgetting, output and the new state."""
    h = np.zeros((x.shape[1], w_h.shape[1])) if h is None else h[0]
    c = np.zeros_like(h) if c is None else c[0]
    rows = []
    for time in range(x.shape[0]):
        kept = cont[time][:, None]
        sums = x[time] @ w_x.T + b + (kept * h) @ w_h.T
        if x_static is not None:
            sums = sums + x_static @ w_static.T
        i, forget, o, j = np.split(sums, 4, 1)
        c = kept * sigmoid(forget) * c + sigmoid(i) * np.tanh(j)
        h = sigmoid(o) * np.tanh(c)
        rows.append(h)
    return [np.stack(rows), h[None], c[None]]


LAYER = {"x": f(4, 2, 3, lo=-1, hi=1), "cont": v([[0, 0], [1, 1], [0, 1], [1, 1]]), "w_x": f(20, 3, lo=-1, hi=1), "bias": f(20, lo=-1, hi=1), "w_h": f(20, 5, lo=-1, hi=1)}
SINGLE = ["float32"] * 3
case("LSTM", "", LAYER, caffe, {"num_output": 5}, dtype="float16")
case("LSTM", "biases of more digits", {**LAYER, "cont": v([[0, 0], [1, 1], [0, 1], [1, 0.5]], "float32"), "bias": f(20, lo=-1, hi=1, dtype="float32")}, caffe, dtype="float16", out=SINGLE)
case("LSTM", "states and what is the same at all times",
     {**LAYER, "cont": v([[1, 1]] * 4), "x_static": f(2, 6, lo=-1, hi=1), "h_0": f(1, 2, 5, lo=-1, hi=1, dtype="float32"), "c_0": f(1, 2, 5, lo=-1, hi=1), "w_x_static": f(20, 6, lo=-1, hi=1)}, caffe,
     {"expose_hidden": True}, dtype="float16")
case("LSTM", "states that are not shown", {**LAYER, "cont": v([[1, 1]] * 4), "h_0": f(1, 2, 5), "c_0": f(1, 2, 5)}, lambda *a: caffe(*a[:5]), dtype="float16")
refused("LSTM", "integers", {**LAYER, "bias": i(20, dtype="int32")}, "bias is int32", dtype="float16")
refused("LSTM", "no states", LAYER, "h_0 is missing", {"expose_hidden": True}, dtype="float16")
refused("LSTM", "half of what is constant", {**LAYER, "x_static": f(2, 6)}, "x_static and w_x_static", dtype="float16")
refused("LSTM", "another size", LAYER, "num_output is 4", {"num_output": 4}, dtype="float16")


def gru_gradient(x, w, r, y, h0, h, dy, dh, z, reset, new, of_h, order="zrh"):
    """By central differences of the layer itself, with the biases that the given gates imply as numbers that add 0."""
    shapes = [w.shape, r.shape, (w.shape[1],), (w.shape[1],), x.shape, h0.shape]

    def loss(w, r, b, c, x, h0):
        states = gru(x, w, r, B + b, C + c, h0, order)[0]
        return (states * dy).sum() + (states[-1] * dh.reshape(states[-1].shape)).sum()

    at = [w, r, np.zeros(w.shape[1]), np.zeros(w.shape[1]), x, h0]
    found = []
    for number, shape in enumerate(shapes):
        slope = np.zeros(shape)
        for index in np.ndindex(shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = [one.copy() for one in at]
                moved[number][index] += step
                ends.append(loss(*moved))
            slope[index] = (ends[0] - ends[1]) / 2e-5
        found.append(slope)
    return found


RNG = np.random.default_rng(11)
for order, times, wide_state in [("zrh", 3, True), ("rzh", 3, False), ("zrh", 1, True)]:
    X, W, R, B, C, H0, DY, DH = (RNG.uniform(-1, 1, dims) for dims in [(times, 2, 4), (4, 9), (3, 9), (9,), (9,), (1, 2, 3), (times, 2, 3), (2, 3)])
    Y, H, Z, RESET, NEW, OF_H = gru(X, W, R, B, C, H0, order)
    numbers = {"x": X, "weight_input": W, "weight_hidden": R, "y": Y, "init_h": H0 if wide_state else H0[0], "h": H, "dy": DY, "dh": DH, "update": Z, "reset": RESET, "new": NEW, "hidden_new": OF_H}
    wanted = gru_gradient(*numbers.values(), order)
    case("DynamicGRUV2Grad", f"{order}, {times} steps", {name: v(one) for name, one in numbers.items()}, lambda *_, wanted=wanted: wanted, {"gate_order": order})
GIVEN = {name: v(one) for name, one in numbers.items()}
refused("DynamicGRUV2Grad", "lengths", {**GIVEN, "seq_length": v([1, 1], "int32")}, "seq_length")
refused("DynamicGRUV2Grad", "a mask", {**GIVEN, "mask": v([1], "uint8")}, "its input mask is not supported")
refused("DynamicGRUV2Grad", "gates of another size", {**GIVEN, "reset": f(1, 2, 4)}, "reset has the shape")
