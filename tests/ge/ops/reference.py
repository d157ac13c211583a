"""Operators written out in NumPy, in the plainest way: what the table compares with."""

import itertools
import math

import numpy as np


def ort(kind, opset=18, outputs=1, attrs=None, domain=""):
    """What ONNX Runtime makes of a node, in float32. Inputs that are None are left out."""
    import onnx
    import onnxruntime

    def run(*arrays):
        arrays = [
            None if array is None else array.astype(np.float32) if array.dtype == np.float64 else array for array in arrays
        ]
        names = [f"i{at}" if array is not None else "" for at, array in enumerate(arrays)]
        node = onnx.helper.make_node(kind, names, [f"o{at}" for at in range(outputs)], domain=domain, **(attrs or {}))
        inputs = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays)
            if array is not None
        ]
        # An output without a type: the runtime finds it.
        results = [onnx.ValueInfoProto(name=f"o{at}") for at in range(outputs)]
        graph = onnx.helper.make_graph([node], "one", inputs, results)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8)
        # Its remarks about its own operators are for others.
        onnxruntime.set_default_logger_severity(3)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        feeds = {name: array for name, array in zip(names, arrays) if array is not None}
        return session.run(None, feeds)

    return run


def windows(size, kernel, stride, dilation, before, after, ceil=False):
    """Returns the positions that a window covers, inside or not, for each of its steps along an axis."""
    span = dilation * (kernel - 1) + 1
    space = size + before + after - span
    count = (math.ceil(space / stride) if ceil else space // stride) + 1
    if ceil and (count - 1) * stride >= size + before:
        count -= 1
    return [[at * stride - before + dilation * step for step in range(kernel)] for at in range(count)]


def conv(x, w, bias=None, strides=None, pads=None, dilations=None, groups=1):
    """A convolution: `x` is [N, C, space..], `w` is [O, C / groups, space..]; pads are pairs, one for each axis."""
    rank = x.ndim - 2
    strides, dilations, pads = strides or [1] * rank, dilations or [1] * rank, pads or [(0, 0)] * rank
    steps = [windows(x.shape[2 + a], w.shape[2 + a], strides[a], dilations[a], *pads[a]) for a in range(rank)]
    out = np.zeros((x.shape[0], w.shape[0], *(len(axis) for axis in steps)))
    inner, outer = w.shape[1], w.shape[0] // groups
    for at in itertools.product(*(range(len(axis)) for axis in steps)):
        for step in itertools.product(*(range(k) for k in w.shape[2:])):
            source = tuple(steps[a][at[a]][step[a]] for a in range(rank))
            if any(s < 0 or s >= x.shape[2 + a] for a, s in enumerate(source)):
                continue
            for group in range(groups):
                part = x[(slice(None), slice(group * inner, (group + 1) * inner), *source)]
                rows = slice(group * outer, (group + 1) * outer)
                out[(slice(None), rows, *at)] += part @ w[(rows, slice(None), *step)].T
    if bias is not None:
        out += bias.reshape(-1, *[1] * rank)
    return out


def conv_input(dy, w, shape, strides=None, pads=None, dilations=None, groups=1):
    """The gradient of [`conv`] with respect to its input, of that shape: each term of the sum, the other way round."""
    rank = dy.ndim - 2
    strides, dilations, pads = strides or [1] * rank, dilations or [1] * rank, pads or [(0, 0)] * rank
    dx = np.zeros(shape)
    inner, outer = w.shape[1], w.shape[0] // groups
    for at in itertools.product(*(range(size) for size in dy.shape[2:])):
        for step in itertools.product(*(range(k) for k in w.shape[2:])):
            to = tuple(at[a] * strides[a] - pads[a][0] + dilations[a] * step[a] for a in range(rank))
            if any(s < 0 or s >= shape[2 + a] for a, s in enumerate(to)):
                continue
            for group in range(groups):
                rows = slice(group * outer, (group + 1) * outer)
                columns = slice(group * inner, (group + 1) * inner)
                dx[(slice(None), columns, *to)] += dy[(slice(None), rows, *at)] @ w[(rows, slice(None), *step)]
    return dx


def conv_filter(x, dy, shape, strides=None, pads=None, dilations=None, groups=1):
    """The gradient of [`conv`] with respect to its filter, of that shape."""
    rank = x.ndim - 2
    strides, dilations, pads = strides or [1] * rank, dilations or [1] * rank, pads or [(0, 0)] * rank
    dw = np.zeros(shape)
    inner, outer = shape[1], shape[0] // groups
    for at in itertools.product(*(range(size) for size in dy.shape[2:])):
        for step in itertools.product(*(range(k) for k in shape[2:])):
            source = tuple(at[a] * strides[a] - pads[a][0] + dilations[a] * step[a] for a in range(rank))
            if any(s < 0 or s >= x.shape[2 + a] for a, s in enumerate(source)):
                continue
            for group in range(groups):
                rows = slice(group * outer, (group + 1) * outer)
                columns = slice(group * inner, (group + 1) * inner)
                dw[(rows, slice(None), *step)] += (
                    dy[(slice(None), rows, *at)].T @ x[(slice(None), columns, *source)]
                )
    return dw


def pool(x, kernel, strides, pads, how, dilations=None, ceil=False, whole=None):
    """Pooling over [N, C, space..]. `how` receives the covered values of each image and channel; for an average, `whole`
    is the divisor of the sum: "own" the covered elements, "padded" those of the padded image, or a number."""
    rank = x.ndim - 2
    dilations = dilations or [1] * rank
    steps = [windows(x.shape[2 + a], kernel[a], strides[a], dilations[a], *pads[a], ceil) for a in range(rank)]
    out = np.zeros((*x.shape[:2], *(len(axis) for axis in steps)))
    for at in itertools.product(*(range(len(axis)) for axis in steps)):
        covered, padded = [], 1
        for a in range(rank):
            covered.append([p for p in steps[a][at[a]] if 0 <= p < x.shape[2 + a]])
            padded *= sum(-pads[a][0] <= p < x.shape[2 + a] + pads[a][1] for p in steps[a][at[a]])
        part = x[np.ix_(range(x.shape[0]), range(x.shape[1]), *covered)].reshape(*x.shape[:2], -1)
        if how == "max":
            out[(..., *at)] = part.max(-1)
        else:
            count = {"own": part.shape[-1], "padded": padded}.get(whole, whole)
            out[(..., *at)] = part.sum(-1) / count
    return out


def same_pads(size, kernel, stride, dilation=1):
    """What SAME adds along an axis: the odd one behind."""
    total = max((math.ceil(size / stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


def last(x):
    """Channels to the back."""
    return np.moveaxis(x, 1, -1)


def first(x):
    """Channels to the front."""
    return np.moveaxis(x, -1, 1)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def erf(x):
    return np.vectorize(math.erf)(x)


def moments(x, axes):
    mean = x.mean(axes, keepdims=True)
    return mean, ((x - mean) ** 2).mean(axes, keepdims=True)
