"""Trains the small digits network and writes digits.onnx and the test images.

    pip install numpy scikit-learn onnx
    python train.py [folder, default: the one this script lies in]

The data are the 1,797 handwritten digits of 8 x 8 pixels (values 0 to 16) that scikit-learn bundles; they come from the
UCI set "Optical Recognition of Handwritten Digits" (see README.md for the citation and the licence). The last
images of the set are test images: training never sees them. Sizes and rates were compared on parts of the training images.

Everything is plain NumPy in float64 with one fixed seed. Weights are rounded to a fine grid after each step and to a
coarser one at the end, which hides the last bits in which two BLAS libraries differ, so that a second run, here or on
another machine, writes the same bytes.
"""

import os
import pathlib
import sys

# Read when NumPy loads its BLAS. The matrices are small: more threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 2026
HELD_BACK = 320
EPOCHS = 40
BATCH = 32
PEAK_RATE = 4e-3
WEIGHT_DECAY = 1e-2
BN_EPSILON = 1e-5
GRID = 2.0**12
STEP_GRID = 2.0**22
OPSET = 13

# Channels of the two first convolutions and of the third one, which looks at the 4 x 4 image after pooling.
C1, C2, C3 = 24, 48, 64


# --- layers: forward passes return what the backward pass needs ---------------------------------------------------


def patches(x):
    """[N, C, H, W] -> [N * H * W, C * 9]: the 3 x 3 neighbourhood of every pixel, zero outside the image."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.ascontiguousarray(windows.transpose(0, 2, 3, 1, 4, 5)).reshape(n * h * w, c * 9)


def conv(x, weight, bias=0.0):
    n, _, h, w = x.shape
    columns = patches(x)
    y = columns @ weight.reshape(len(weight), -1).T + bias
    return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2), columns


def conv_backward(dy, columns, weight, shape):
    n, c, h, w = shape
    rows = dy.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
    dweight = (rows.T @ columns).reshape(weight.shape)
    dcolumns = (rows @ weight.reshape(len(weight), -1)).reshape(n, h, w, c, 3, 3)
    dx = np.zeros((n, c, h + 2, w + 2))
    for i in range(3):
        for j in range(3):
            dx[:, :, i : i + h, j : j + w] += dcolumns[..., i, j].transpose(0, 3, 1, 2)
    return dx[:, :, 1:-1, 1:-1], dweight, rows.sum(axis=0)


def normalise(x, gamma, beta):
    mean = x.mean(axis=(0, 2, 3), keepdims=True)
    scale = 1.0 / np.sqrt(x.var(axis=(0, 2, 3), keepdims=True) + BN_EPSILON)
    xhat = (x - mean) * scale
    return xhat * gamma[:, None, None] + beta[:, None, None], xhat, scale


def normalise_backward(dy, xhat, scale, gamma):
    dgamma = (dy * xhat).sum(axis=(0, 2, 3))
    dbeta = dy.sum(axis=(0, 2, 3))
    m = dy.size // dy.shape[1]
    dx = gamma[:, None, None] * scale * (dy - (dbeta[:, None, None] + xhat * dgamma[:, None, None]) / m)
    return dx, dgamma, dbeta


def pool(x):
    n, c, h, w = x.shape
    cells = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    winner = cells.argmax(axis=-1)
    return np.take_along_axis(cells, winner[..., None], axis=-1)[..., 0], winner


def pool_backward(dy, winner):
    n, c, h, w = dy.shape
    cells = np.zeros((n, c, h, w, 4))
    np.put_along_axis(cells, winner[..., None], dy[..., None], axis=-1)
    return cells.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h * 2, w * 2)


# --- the network --------------------------------------------------------------------------------------------------


def new_parameters(rng):
    def he(*shape):
        return rng.standard_normal(shape) * np.sqrt(2.0 / np.prod(shape[1:]))

    return {
        "conv1.weight": he(C1, 1, 3, 3),
        "bn1.gamma": np.ones(C1), "bn1.beta": np.zeros(C1),
        "conv2.weight": he(C2, C1, 3, 3),
        "bn2.gamma": np.ones(C2), "bn2.beta": np.zeros(C2),
        "conv3.weight": he(C3, C2, 3, 3), "conv3.bias": np.zeros(C3),
        "fc.weight": he(10, C3 * 16) * 0.1, "fc.bias": np.zeros(10),
    }  # fmt: skip


def gradients(p, x, labels):
    """One forward and backward pass over a batch: the mean cross-entropy and its derivative by each parameter."""
    a1, k1 = conv(x, p["conv1.weight"])
    b1, xhat1, s1 = normalise(a1, p["bn1.gamma"], p["bn1.beta"])
    r1 = np.maximum(b1, 0)
    a2, k2 = conv(r1, p["conv2.weight"])
    b2, xhat2, s2 = normalise(a2, p["bn2.gamma"], p["bn2.beta"])
    r2 = np.maximum(b2, 0)
    q, winner = pool(r2)
    a3, k3 = conv(q, p["conv3.weight"], p["conv3.bias"])
    r3 = np.maximum(a3, 0)
    flat = r3.reshape(len(x), -1)
    logits = flat @ p["fc.weight"].T + p["fc.bias"]
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = shifted / shifted.sum(axis=1, keepdims=True)
    loss = -np.log(probabilities[np.arange(len(x)), labels]).mean()

    g = {}
    d = probabilities.copy()
    d[np.arange(len(x)), labels] -= 1
    d /= len(x)
    g["fc.weight"], g["fc.bias"] = d.T @ flat, d.sum(axis=0)
    d = (d @ p["fc.weight"]).reshape(r3.shape) * (a3 > 0)
    d, g["conv3.weight"], g["conv3.bias"] = conv_backward(d, k3, p["conv3.weight"], q.shape)
    d = pool_backward(d, winner) * (b2 > 0)
    d, g["bn2.gamma"], g["bn2.beta"] = normalise_backward(d, xhat2, s2, p["bn2.gamma"])
    d, g["conv2.weight"], _ = conv_backward(d, k2, p["conv2.weight"], r1.shape)
    d = d * (b1 > 0)
    d, g["bn1.gamma"], g["bn1.beta"] = normalise_backward(d, xhat1, s1, p["bn1.gamma"])
    _, g["conv1.weight"], _ = conv_backward(d, k1, p["conv1.weight"], x.shape)
    return loss, g


def warp(rng, images):
    """Rotates, slants, stretches and moves each image a little, for variation."""
    n = len(images)
    angle, slant = rng.uniform(-0.2, 0.2, n), rng.uniform(-0.2, 0.2, n)
    wide, tall = rng.uniform(0.88, 1.12, n), rng.uniform(0.88, 1.12, n)
    down, right = rng.uniform(-0.8, 0.8, n), rng.uniform(-0.8, 0.8, n)
    ys, xs = (np.arange(8) - 3.5)[None, :, None], (np.arange(8) - 3.5)[None, None, :]
    cos, sin = (np.cos(angle)[:, None, None], np.sin(angle)[:, None, None])
    # Where each pixel of the new image lies in the old one, with a margin of two pixels for positions outside.
    y = (ys * cos - xs * sin) * tall[:, None, None] + down[:, None, None] + 5.5
    x = (ys * sin + xs * cos) * wide[:, None, None] + slant[:, None, None] * ys + right[:, None, None] + 5.5
    y, x = np.clip(y, 0, 10.999), np.clip(x, 0, 10.999)
    top, left = y.astype(int), x.astype(int)
    dy, dx = y - top, x - left
    old = np.pad(images[:, 0], ((0, 0), (2, 2), (2, 2)))
    each = np.arange(n)[:, None, None]
    upper = old[each, top, left] * (1 - dx) + old[each, top, left + 1] * dx
    lower = old[each, top + 1, left] * (1 - dx) + old[each, top + 1, left + 1] * dx
    new = upper * (1 - dy) + lower * dy
    return np.clip(new * rng.uniform(0.85, 1.2, (n, 1, 1)), 0, 16)[:, None]


def train(images, labels, quiet=False):
    rng = np.random.default_rng(SEED)
    p = new_parameters(rng)
    first = {k: np.zeros_like(v) for k, v in p.items()}
    second = {k: np.zeros_like(v) for k, v in p.items()}
    steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        total = 0.0
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            loss, g = gradients(p, warp(rng, images[chosen]) / 16.0, labels[chosen])
            total += loss
            step += 1
            # AdamW with a short warm-up and a half cosine down to nothing.
            rate = PEAK_RATE * min(step / 100, 0.5 * (1 + np.cos(np.pi * step / steps)))
            for k, v in p.items():
                first[k] += 0.1 * (g[k] - first[k])
                second[k] += 0.001 * (g[k] ** 2 - second[k])
                update = first[k] / (1 - 0.9**step) / (np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8)
                decay = WEIGHT_DECAY if k.endswith("weight") else 0.0
                v -= rate * (update + decay * v)
                # Keeps two machines from drifting apart; far finer than what most steps change.
                p[k] = np.round(v * STEP_GRID) / STEP_GRID
        if not quiet and (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1:2}: mean loss {total / (len(images) // BATCH):.4f}", flush=True)
    return finish(p, images / 16.0)


def finish(p, x):
    """Fixes the batch normalisations to the mean and variance over the whole training set, and rounds to the grid."""
    a1, _ = conv(x, p["conv1.weight"])
    p["bn1.mean"], p["bn1.var"] = a1.mean(axis=(0, 2, 3)), a1.var(axis=(0, 2, 3))
    r1 = np.maximum(normalise(a1, p["bn1.gamma"], p["bn1.beta"])[0], 0)
    a2, _ = conv(r1, p["conv2.weight"])
    p["bn2.mean"], p["bn2.var"] = a2.mean(axis=(0, 2, 3)), a2.var(axis=(0, 2, 3))
    return {k: np.round(v * GRID) / GRID for k, v in p.items()}


# --- files --------------------------------------------------------------------------------------------------------


def export(p):
    """The network as an ONNX model: `image` [1, 1, 8, 8] with values 0 to 16 -> `scores` [1, 10], which sum to 1."""
    weights = dict(p)
    # Pixels come as 0 to 16: the division by 16 is exact in the first weights, so the graph needs no node for it.
    weights["conv1.weight"] = weights["conv1.weight"] / 16.0

    def node(op, inputs, output, **attributes):
        return helper.make_node(op, inputs, [output], name=output, **attributes)

    def conv_node(name, x):
        # A convolution that a normalisation follows has no bias of its own.
        parts = [part for part in (f"{name}.weight", f"{name}.bias") if part in weights]
        return node("Conv", [x, *parts], name, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1])

    def bn_node(name, x):
        statistics = [f"{name}.{part}" for part in ("gamma", "beta", "mean", "var")]
        return node("BatchNormalization", [x, *statistics], name, epsilon=BN_EPSILON)

    nodes = [
        conv_node("conv1", "image"),
        bn_node("bn1", "conv1"),
        node("Relu", ["bn1"], "relu1"),
        conv_node("conv2", "relu1"),
        bn_node("bn2", "conv2"),
        node("Relu", ["bn2"], "relu2"),
        node("MaxPool", ["relu2"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        conv_node("conv3", "pool"),
        node("Relu", ["conv3"], "relu3"),
        node("Flatten", ["relu3"], "flat", axis=1),
        node("Gemm", ["flat", "fc.weight", "fc.bias"], "logits", transB=1),
        node("Softmax", ["logits"], "scores", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(v.astype(np.float32), name=k) for k, v in weights.items()],
    )
    model = helper.make_model(graph, producer_name="digits", opset_imports=[helper.make_opsetid("", OPSET)])
    # Opset 13 came with version 7 of the format; a newer number here would only shut out older readers.
    model.ir_version = 7
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    folder.mkdir(parents=True, exist_ok=True)
    digits = load_digits()
    images, labels = digits.images, digits.target
    seen, held_back = slice(None, -HELD_BACK), slice(-HELD_BACK, None)

    p = train(images[seen][:, None], labels[seen])
    (folder / "digits.onnx").write_bytes(export(p))
    (folder / "images.u8").write_bytes(images[held_back].astype(np.uint8).tobytes())
    (folder / "labels.u8").write_bytes(labels[held_back].astype(np.uint8).tobytes())
    print(f"wrote digits.onnx, and images.u8 and labels.u8 with {HELD_BACK} images, to {folder}")


if __name__ == "__main__":
    main()
