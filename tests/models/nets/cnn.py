"""Convolutional networks, as their authors published them, with random weights."""

import numpy as np
from onnx import TensorProto

from .net import Net


def resnet50(batch=None, seed=50, blocks=(3, 4, 6, 3), width=64, size=224, classes=1000):
    """ResNet-50 as torchvision exports it, with random weights."""
    net = Net(seed)

    def unit(x, cin, mid, stride):
        cout = 4 * mid
        y = net.node("Relu", [net.batch_norm(net.conv(x, cin, mid, 1), mid)])
        y = net.node("Relu", [net.batch_norm(net.conv(y, mid, mid, 3, stride, 1), mid)])
        # A small gain on the branch keeps the sum of many branches near 1.
        y = net.batch_norm(net.conv(y, mid, cout, 1), cout, gain=0.5)
        if stride != 1 or cin != cout:
            x = net.batch_norm(net.conv(x, cin, cout, 1, stride), cout, gain=0.8)
        return net.node("Relu", [net.node("Add", [y, x])]), cout

    x = net.node("Relu", [net.batch_norm(net.conv("input", 3, width, 7, 2, 3), width)])
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = width
    for stage, count in enumerate(blocks):
        for index in range(count):
            stride = 2 if stage > 0 and index == 0 else 1
            x, channels = unit(x, channels, width << stage, stride)
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])], axis=1)
    head = (net.rng.standard_normal((classes, channels)) / np.sqrt(channels)).astype(np.float32)
    bias = (0.1 * net.rng.standard_normal(classes)).astype(np.float32)
    x = net.node("Gemm", [x, net.weight(head), net.weight(bias)], transB=1)
    dims = ["batch" if batch is None else batch, 3, size, size]
    return net.model({"input": (TensorProto.FLOAT, dims)}, [x])


def digits(seed=8, batch=None):
    """A network of the size of the digits example."""
    net = Net(seed)
    x = net.node("Relu", [net.conv("input", 1, 16, 3, 1, 1, bias=True)])
    x = net.node("Relu", [net.conv(x, 16, 32, 3, 1, 1, bias=True)])
    x = net.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Flatten", [x])
    x = net.node("Gemm", [x, net.weight((net.rng.standard_normal((10, 512)) / 22).astype(np.float32)),
                          net.weight(np.zeros(10, np.float32))], transB=1)
    x = net.node("Softmax", [x], axis=-1)
    return net.model({"input": (TensorProto.FLOAT, ["batch" if batch is None else batch, 1, 8, 8])}, [x])


def classifier(net, x, channels, classes):
    """A pooled, flattened, fully connected end."""
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])], axis=1)
    return net.dense(x, channels, classes)


def image(batch, size=224):
    return {"input": (TensorProto.FLOAT, [batch, 3, size, size])}


def mobilenet_v2(batch=1, seed=2, size=224, classes=1000):
    """MobileNetV2 of width 1."""
    net = Net(seed)

    def relu6(x):
        return net.node("Clip", [x, net.weight(np.float32(0)), net.weight(np.float32(6))])

    def unit(x, cin, cout, stride, expand):
        mid = cin * expand
        y = x
        if expand != 1:
            y = relu6(net.batch_norm(net.conv(y, cin, mid, 1), mid))
        y = relu6(net.batch_norm(net.conv(y, mid, mid, 3, stride, 1, groups=mid), mid))
        y = net.batch_norm(net.conv(y, mid, cout, 1), cout, gain=0.6)
        return net.node("Add", [x, y]) if stride == 1 and cin == cout else y

    x = relu6(net.batch_norm(net.conv("input", 3, 32, 3, 2, 1), 32))
    channels = 32
    for expand, cout, count, stride in [
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)
    ]:
        for index in range(count):
            x = unit(x, channels, cout, stride if index == 0 else 1, expand)
            channels = cout
    x = relu6(net.batch_norm(net.conv(x, channels, 1280, 1), 1280))
    return net.model(image(batch, size), [classifier(net, x, 1280, classes)])


def mobilenet_v3(batch=1, seed=12, size=224, classes=1000):
    """MobileNetV3-Large of width 1: hard-swish, and squeeze-and-excite by hard-sigmoid."""
    net = Net(seed)

    def squeeze_excite(x, channels):
        middle = (channels // 4 + 7) // 8 * 8
        y = net.node("GlobalAveragePool", [x])
        y = net.node("Relu", [net.conv(y, channels, middle, 1, bias=True)])
        y = net.node("HardSigmoid", [net.conv(y, middle, channels, 1, bias=True)], alpha=1 / 6, beta=0.5)
        return net.node("Mul", [x, y])

    def unit(x, cin, cout, kernel, stride, mid, excite, activation):
        y = x
        if mid != cin:
            y = net.node(activation, [net.batch_norm(net.conv(y, cin, mid, 1), mid)])
        y = net.node(activation, [net.batch_norm(net.conv(y, mid, mid, kernel, stride, kernel // 2, groups=mid), mid)])
        if excite:
            y = squeeze_excite(y, mid)
        y = net.batch_norm(net.conv(y, mid, cout, 1), cout, gain=0.6)
        return net.node("Add", [x, y]) if stride == 1 and cin == cout else y

    x = net.node("HardSwish", [net.batch_norm(net.conv("input", 3, 16, 3, 2, 1), 16)])
    channels = 16
    for kernel, mid, cout, excite, activation, stride in [
        (3, 16, 16, False, "Relu", 1), (3, 64, 24, False, "Relu", 2), (3, 72, 24, False, "Relu", 1),
        (5, 72, 40, True, "Relu", 2), (5, 120, 40, True, "Relu", 1), (5, 120, 40, True, "Relu", 1),
        (3, 240, 80, False, "HardSwish", 2), (3, 200, 80, False, "HardSwish", 1), (3, 184, 80, False, "HardSwish", 1),
        (3, 184, 80, False, "HardSwish", 1), (3, 480, 112, True, "HardSwish", 1), (3, 672, 112, True, "HardSwish", 1),
        (5, 672, 160, True, "HardSwish", 2), (5, 960, 160, True, "HardSwish", 1), (5, 960, 160, True, "HardSwish", 1),
    ]:
        x = unit(x, channels, cout, kernel, stride, mid, excite, activation)
        channels = cout
    x = net.node("HardSwish", [net.batch_norm(net.conv(x, channels, 960, 1), 960)])
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])], axis=1)
    x = net.node("HardSwish", [net.dense(x, 960, 1280)])
    return net.model(image(batch, size), [net.dense(x, 1280, classes)])


def squeezenet(batch=1, seed=3, size=224, classes=1000):
    """SqueezeNet 1.1."""
    net = Net(seed)

    def conv(x, cin, cout, kernel, stride=1, pad=0):
        return net.node("Relu", [net.conv(x, cin, cout, kernel, stride, pad, bias=True)])

    def pool(x):
        return net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)

    def fire(x, cin, squeeze, expand):
        x = conv(x, cin, squeeze, 1)
        return net.node("Concat", [conv(x, squeeze, expand, 1), conv(x, squeeze, expand, 3, 1, 1)], axis=1)

    x = pool(conv("input", 3, 64, 3, 2))
    x = pool(fire(fire(x, 64, 16, 64), 128, 16, 64))
    x = pool(fire(fire(x, 128, 32, 128), 256, 32, 128))
    x = fire(fire(fire(fire(x, 256, 48, 192), 384, 48, 192), 384, 64, 256), 512, 64, 256)
    x = conv(x, 512, classes, 1)
    return net.model(image(batch, size), [net.node("Flatten", [net.node("GlobalAveragePool", [x])], axis=1)])


def densenet121(batch=1, seed=4, size=224, classes=1000, blocks=(6, 12, 24, 16), growth=32):
    """DenseNet-121."""
    net = Net(seed)

    def normed(x, channels):
        return net.node("Relu", [net.batch_norm(x, channels)])

    channels = 2 * growth
    x = normed(net.conv("input", 3, channels, 7, 2, 3), channels)
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for block, count in enumerate(blocks):
        for _ in range(count):
            y = net.conv(normed(x, channels), channels, 4 * growth, 1)
            y = net.conv(normed(y, 4 * growth), 4 * growth, growth, 3, 1, 1)
            x = net.node("Concat", [x, y], axis=1)
            channels += growth
        if block + 1 < len(blocks):
            x = net.conv(normed(x, channels), channels, channels // 2, 1)
            x = net.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
            channels //= 2
    return net.model(image(batch, size), [classifier(net, normed(x, channels), channels, classes)])


def shufflenet(batch=1, seed=5, size=224, classes=1000, groups=3):
    """ShuffleNet 1.0, three groups."""
    net = Net(seed)

    def shuffled(x, channels, side):
        x = net.node("Reshape", [x, net.weight(np.array([batch, groups, channels // groups, side, side]))])
        x = net.node("Transpose", [x], perm=[0, 2, 1, 3, 4])
        return net.node("Reshape", [x, net.weight(np.array([batch, channels, side, side]))])

    def unit(x, cin, cout, stride, side, first):
        mid = cout // 4
        made = cout - cin if stride == 2 else cout
        y = net.conv(x, cin, mid, 1, groups=1 if first else groups)
        y = shuffled(net.node("Relu", [net.batch_norm(y, mid)]), mid, side)
        y = net.batch_norm(net.conv(y, mid, mid, 3, stride, 1, groups=mid), mid)
        y = net.batch_norm(net.conv(y, mid, made, 1, groups=groups), made, gain=0.6)
        if stride == 1:
            return net.node("Relu", [net.node("Add", [x, y])])
        x = net.node("AveragePool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, count_include_pad=1)
        return net.node("Relu", [net.node("Concat", [x, y], axis=1)])

    x = net.node("Relu", [net.batch_norm(net.conv("input", 3, 24, 3, 2, 1), 24)])
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels, side = 24, size // 4
    for stage, (cout, count) in enumerate([(240, 4), (480, 8), (960, 4)]):
        for index in range(count):
            x = unit(x, channels, cout, 2 if index == 0 else 1, side, stage == 0 and index == 0)
            side = side // 2 if index == 0 else side
            channels = cout
    return net.model(image(batch, size), [classifier(net, x, channels, classes)])


def inception_v2(batch=1, seed=6, size=224, classes=1000):
    """Inception v2 (GoogLeNet with batch normalisation)."""
    net = Net(seed)

    def conv(x, cin, cout, kernel, stride=1):
        return net.node("Relu", [net.batch_norm(net.conv(x, cin, cout, kernel, stride, kernel // 2), cout)])

    def max_pool(x, stride):
        return net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[stride] * 2, pads=[1] * 4)

    def module(x, cin, one, three, double, pooled, kind="average"):
        parts = []
        if one:
            parts.append(conv(x, cin, one, 1))
        parts.append(conv(conv(x, cin, three[0], 1), three[0], three[1], 3, 1 if one else 2))
        y = conv(conv(x, cin, double[0], 1), double[0], double[1], 3)
        parts.append(conv(y, double[1], double[1], 3, 1 if one else 2))
        if not one:
            parts.append(max_pool(x, 2))
            return net.node("Concat", parts, axis=1), three[1] + double[1] + cin
        if kind == "average":
            y = net.node("AveragePool", [x], kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
        else:
            y = max_pool(x, 1)
        parts.append(conv(y, cin, pooled, 1))
        return net.node("Concat", parts, axis=1), one + three[1] + double[1] + pooled

    x = max_pool(conv("input", 3, 64, 7, 2), 2)
    x = max_pool(conv(conv(x, 64, 64, 1), 64, 192, 3), 2)
    channels = 192
    for one, three, double, pooled, kind in [
        (64, (64, 64), (64, 96), 32, "average"),
        (64, (64, 96), (64, 96), 64, "average"),
        (0, (128, 160), (64, 96), 0, ""),
        (224, (64, 96), (96, 128), 128, "average"),
        (192, (96, 128), (96, 128), 128, "average"),
        (160, (128, 160), (128, 160), 96, "average"),
        (96, (128, 192), (160, 192), 96, "average"),
        (0, (128, 192), (192, 256), 0, ""),
        (352, (192, 320), (160, 224), 128, "average"),
        (352, (192, 320), (192, 224), 128, "max"),
    ]:
        x, channels = module(x, channels, one, three, double, pooled, kind)
    return net.model(image(batch, size), [classifier(net, x, channels, classes)])


def vgg19(batch=1, seed=7, size=224, classes=1000):
    """VGG-19."""
    net = Net(seed)
    x, channels = "input", 3
    for width, count in [(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]:
        for _ in range(count):
            x = net.node("Relu", [net.conv(x, channels, width, 3, 1, 1, bias=True)])
            channels = width
        x = net.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Flatten", [x], axis=1)
    x = net.node("Relu", [net.dense(x, channels * (size // 32) ** 2, 4096)])
    x = net.node("Relu", [net.dense(x, 4096, 4096)])
    return net.model(image(batch, size), [net.dense(x, 4096, classes)])


def detector(batch=1, seed=11, size=96, classes=4, boxes=3):
    """A single-shot detector: a small backbone, one head, and NonMaxSuppression; returns boxes, scores and the selection."""
    net = Net(seed)
    x, channels = "input", 3
    for width in (16, 32, 64):
        x = net.node("Relu", [net.batch_norm(net.conv(x, channels, width, 3, 2, 1), width)])
        channels = width
    side = size // 8
    count = side * side * boxes

    def head(width):
        y = net.conv(x, channels, boxes * width, 3, 1, 1, bias=True)
        y = net.node("Transpose", [y], perm=[0, 2, 3, 1])
        return net.node("Reshape", [y, net.weight(np.array([batch, count, width]))])

    offsets, scores = head(4), net.node("Sigmoid", [head(classes)])
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 1, 2)
    centres = np.repeat((grid + 0.5) / side, boxes, 1).reshape(1, count, 2).astype(np.float32)
    half = np.tile(np.array([0.08, 0.14, 0.2], np.float32)[:boxes, None], (side * side, 2)).reshape(1, count, 2)
    moved, scaled = net.node("Split", [offsets], 2, axis=2)
    centre = net.node("Add", [net.node("Mul", [moved, net.weight(np.float32(0.05))]), net.weight(centres)])
    extent = net.node("Exp", [net.node("Mul", [scaled, net.weight(np.float32(0.2))])])
    extent = net.node("Mul", [extent, net.weight(half)])
    corners = [net.node("Sub", [centre, extent]), net.node("Add", [centre, extent])]
    boxes = net.node("Concat", corners, axis=2)
    by_class = net.node("Transpose", [scores], perm=[0, 2, 1])
    limits = [np.array([20], np.int64), np.array([0.45], np.float32), np.array([0.6], np.float32)]
    chosen = net.node("NonMaxSuppression", [boxes, by_class] + [net.weight(limit) for limit in limits])
    return net.model(image(batch, size), [boxes, scores, chosen])
