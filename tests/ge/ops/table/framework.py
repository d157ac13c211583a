"""Types that frameworks ask for by name."""

import math

import numpy as np

from cases import case, distinct, f, form, refused, t, v, var

HALF = ("float16",)


def along(vector, x, channel):
    return np.reshape(vector, [-1 if axis == channel else 1 for axis in range(x.ndim)])


def training(x, total, squares, scale, offset, mean, variance, factor, channel=1):
    """The statistics as PyTorch's batch normalisation keeps them: the running variance is that of a sample."""
    count = x.size / x.shape[channel]
    own = np.ravel(total) / count
    population = np.ravel(squares) / count - own**2
    y = (x - along(own, x, channel)) / along(np.sqrt(population + 0.25), x, channel) * along(scale, x, channel) + along(offset, x, channel)
    sample = population * count / (count - 1)
    running = [mean * (1 - factor) + own.reshape(mean.shape) * factor, variance * (1 - factor) + sample.reshape(mean.shape) * factor]
    return [y, *running, own.reshape(mean.shape), population.reshape(mean.shape)]


def statistics(*dims):
    lows = {"sum": (-10, 10), "square_sum": (100, 200), "scale": (-2, 2), "offset": (-2, 2), "mean": (-2, 2), "variance": (0.5, 2)}
    return {name: f(*dims, lo=lo, hi=hi, dtype="float32") for name, (lo, hi) in lows.items()}


for name, x, dims, channel in [("", f(2, 3, 4, 5), (3,), 1), ("channels last", form("NHWC", f(2, 4, 5, 3)), (3,), 3)]:
    for factor in (0.25, 1.0):
        case("BNTrainingUpdate", f"{name} factor {factor}", {"x": x, **statistics(*dims)},
             lambda *a, factor=factor, channel=channel: training(*a, factor, channel), {"factor": factor, "epsilon": 0.25},
             types=[*HALF, "bfloat16"] if not name else [], out=[None] + ["float32"] * 4)


def entropy(x, y, weight=1.0):
    with np.errstate(divide="ignore"):
        return -weight * (y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log(1 - x), -100))


CHANCES = {"x": f(3, 4, lo=0.1, hi=0.9), "y": f(3, 4, lo=0, hi=1)}
for how, reduce in [("none", lambda x: x), ("mean", np.mean), ("sum", np.sum)]:
    case("BinaryCrossEntropy", how, CHANCES, lambda *a, reduce=reduce: reduce(entropy(*a)), {"reduction": how}, types=HALF)
    case("BinaryCrossEntropy", f"weighted, {how}", {**CHANCES, "weight": f(3, 4, lo=0.5)}, lambda *a, reduce=reduce: reduce(entropy(*a)), {"reduction": how})
case("BinaryCrossEntropy", "certain", {"x": v([0.0, 1.0, 0.0, 1.0]), "y": v([0.0, 1.0, 1.0, 0.0])}, entropy, {"reduction": "none"})
refused("BinaryCrossEntropy", "an unknown reduction", CHANCES, "none, sum and mean", {"reduction": "most"})

case("ConfusionTransposeD", "reshape first", {"x": f(6, 4)}, lambda x: x.reshape(2, 3, 4).transpose(2, 0, 1), {"perm": [2, 0, 1], "shape": [2, 3, 4], "transpose_first": False}, types=HALF)
case("ConfusionTransposeD", "transpose first", {"x": f(2, 3, 4)}, lambda x: x.transpose(2, 0, 1).reshape(8, 3), {"perm": [2, 0, 1], "shape": [8, 3], "transpose_first": True})


def ends(boxes, centred):
    if not centred:
        return boxes
    return np.concatenate([boxes[:2] - boxes[2:] / 2, boxes[:2] + boxes[2:] / 2])


def overlap(one, two, centred=False, distance=False):
    one, two = ends(one, centred), ends(two, centred)
    low, high = np.maximum(one[:2], two[:2]), np.minimum(one[2:], two[2:])
    inter = np.maximum(high - low, 0).prod(0)
    union = (one[2:] - one[:2]).prod(0) + (two[2:] - two[:2]).prod(0) - inter
    around = np.maximum(one[2:], two[2:]) - np.minimum(one[:2], two[:2])
    if distance:
        less = (((one[:2] + one[2:] - two[:2] - two[2:]) / 2) ** 2).sum(0) / (around**2).sum(0)
    else:
        less = (around.prod(0) - union) / around.prod(0)
    return (inter / union - less)[None]


def boxes(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 2, (2, 16))
    return v(np.concatenate([low, low + rng.uniform(0.5, 2, (2, 16))]).astype(np.float16))


for op, distance in [("GIoU", False), ("DIoU", True)]:
    case(op, "", {"bboxes": boxes(1), "gtboxes": boxes(2)}, lambda a, b, d=distance: overlap(a, b, False, d), {"is_cross": False}, types=HALF, loose=2, why="differences of quotients")
    case(op, "centres and sizes", {"bboxes": f(4, 8, lo=0.5, hi=2), "gtboxes": f(4, 8, lo=0.5, hi=2)}, lambda a, b, d=distance: overlap(a, b, True, d), {"is_cross": False, "trans": True}, loose=2, why="differences of quotients")
    refused(op, "all pairs", {"bboxes": boxes(1), "gtboxes": boxes(2)}, "is_cross")

LOGS = {"x": f(4, 3, lo=-3, hi=-0.1), "target": f(4, 3, lo=0.1, hi=1)}
for how, reduce in [("none", lambda x: x), ("mean", np.mean), ("sum", np.sum), ("batchmean", lambda x: x.sum() / 4)]:
    case("KLDiv", how, LOGS, lambda x, y, reduce=reduce: reduce(y * (np.log(y) - x)), {"reduction": how}, types=HALF if how == "mean" else ())


def layer_gradient(dy, x, variance, mean, gamma):
    inner = tuple(range(x.ndim - gamma.ndim, x.ndim))
    outer = tuple(range(x.ndim - gamma.ndim))
    normal = (x - mean) / np.sqrt(variance)
    scaled = dy * gamma
    by_x = (scaled - scaled.mean(inner, keepdims=True) - normal * (scaled * normal).mean(inner, keepdims=True)) / np.sqrt(variance)
    return [by_x, (dy * normal).sum(outer), dy.sum(outer)]


for name, dims, kept, gamma in [("", (3, 4, 5), (3, 4, 1), (5,)), ("two axes", (3, 4, 5), (3, 1, 1), (4, 5))]:
    case("LayerNormGrad", name, {"dy": f(*dims), "x": f(*dims), "variance": f(*kept, lo=0.5), "mean": f(*kept), "gamma": f(*gamma)}, layer_gradient, types=HALF, loose=4, why="sums of products")
refused("LayerNormGrad", "another gamma", {"dy": f(3, 4), "x": f(3, 4), "variance": f(3, 1, lo=0.5), "mean": f(3, 1), "gamma": f(3)}, "the last dimensions have to be the same")


def mish(grad, x):
    soft = np.log1p(np.exp(x))
    tanh = np.tanh(soft)
    return grad * (tanh + x * (1 - tanh**2) / (1 + np.exp(-x)))


case("MishGrad", "", {"grad": f(3, 5), "x": f(3, 5)}, mish, types=HALF)
case("RsqrtGrad", "", {"y": f(3, 5, lo=0.2), "dy": f(3, 5)}, lambda y, dy: -0.5 * dy * y**3, types=HALF)


def assigned(old, value, begin=(1, 0), end=(5, 6), strides=(2, 2)):
    new = old.copy()
    new[begin[0]:end[0]:strides[0], begin[1]:end[1]:strides[1]] = value
    return new


WIDE = [*HALF, "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]
SLICE = {"begin": t([1, 0]), "end": t([5, 6]), "strides": t([2, 2])}
case("StridedSliceAssign", "", {"var": f(5, 6), **SLICE, "input_value": f(2, 3)}, lambda old, b, e, s, value: assigned(old, value), types=WIDE)
case("StridedSliceAssign", "masks", {"var": f(5, 6), "begin": t([2, 3]), "end": t([3, 2]), "strides": t([1, 1]), "input_value": f(3, 2)},
     lambda old, b, e, s, value: assigned(old, value, (2, 0), (5, 2), (1, 1)), {"begin_mask": 2, "end_mask": 1})
case("StridedSliceAssign", "a variable", {"var": var(f(5, 6)), **SLICE, "input_value": f(2, 3)}, lambda old, b, e, s, value: [assigned(old, value)] * 2)
case("StridedSliceAssignD", "", {"var": f(5, 6), "input_value": f(2, 3)}, assigned, {"begin": [1, 0], "end": [5, 6], "strides": [2, 2]}, types=WIDE)
refused("StridedSliceAssignD", "a lost axis", {"var": f(5, 6), "input_value": f(6)}, "shrink_axis_mask", {"begin": [1], "end": [2], "strides": [1], "shrink_axis_mask": 1})


def adam_w(w, m, s, power1, power2, rate, decay, beta1, beta2, epsilon, g, most=None, maximize=False, amsgrad=False):
    g = -g if maximize else g
    w = w * (1 - rate * decay)
    m, s = m * beta1 + g * (1 - beta1), s * beta2 + g * g * (1 - beta2)
    step = m / (1 - power1 * beta1) / (np.sqrt(s / (1 - power2 * beta2)) + epsilon)
    return [w - rate * step, m, s]


def one(value):
    return v([value])


MOMENTS = {"var": f(3, 4), "m": f(3, 4), "v": f(3, 4, lo=0.5), "beta1_power": one(0.75), "beta2_power": one(0.875), "lr": one(0.125), "weight_decay": one(0.25),
           "beta1": one(0.75), "beta2": one(0.875), "epsilon": one(0.0078125), "grad": f(3, 4)}
case("ApplyAdamW", "", MOMENTS, adam_w, types=HALF, loose=2, why="a step has several roundings of the type")
case("ApplyAdamW", "maximize", MOMENTS, lambda *a: adam_w(*a, maximize=True), {"maximize": True}, loose=2, why="a step has several roundings of the type")

SQUARE = v((np.random.default_rng(5).uniform(-1, 1, (2, 4, 4)) + 3 * np.eye(4)).astype(np.float32))
case("MatrixInverse", "", {"x": SQUARE}, np.linalg.inv, types=["float64"])


def windows(size, kernel, stride, same):
    """First and last element of each window along an axis, as TensorFlow counts them."""
    if not same:
        return [(at, at + kernel) for at in range(0, size - kernel + 1, stride)]
    count = -(-size // stride)
    before = max((count - 1) * stride + kernel - size, 0) // 2
    return [(max(at * stride - before, 0), min(at * stride - before + kernel, size)) for at in range(count)]


def spread(shape, grad, kernel, stride, same, share):
    """Adds to each element of a window its share of the window's gradient; images are [n, c, h, w]."""
    out = np.zeros(shape)
    for row, (top, bottom) in enumerate(windows(shape[2], kernel[0], stride[0], same)):
        for column, (left, right) in enumerate(windows(shape[3], kernel[1], stride[1], same)):
            out[:, :, top:bottom, left:right] += share(slice(top, bottom), slice(left, right)) * grad[:, :, row, column][:, :, None, None]
    return out


def equal_share(rows, columns):
    return 1 / ((rows.stop - rows.start) * (columns.stop - columns.start))


def largest(x):
    def share(rows, columns):
        part = x[:, :, rows, columns]
        return (part == part.max((2, 3), keepdims=True)).astype(float)

    return share


def back(x):
    return x.transpose(0, 3, 1, 2)


def last(x):
    return x.transpose(0, 2, 3, 1)


for padding in ("SAME", "VALID"):
    same = padding == "SAME"
    for kernel, stride, rows, columns in [((3, 2), (2, 2), 7, 5), ((2, 2), (3, 2), 8, 6)]:
        shape = (2, 3, rows, columns)
        made = (len(windows(rows, kernel[0], stride[0], same)), len(windows(columns, kernel[1], stride[1], same)))
        for form_name in ("NCHW", "NHWC"):
            is_last = form_name == "NHWC"
            at = (lambda *hw: [1, *hw, 1]) if is_last else (lambda *hw: [1, 1, *hw])
            turn, unturn = (back, last) if is_last else ((lambda x: x),) * 2
            own = lambda dims, is_last=is_last: [dims[0], *dims[2:], dims[1]] if is_last else list(dims)
            attrs = {"ksize": at(*kernel), "strides": at(*stride), "padding": padding, "data_format": form_name}
            name = f"{padding} {form_name} {kernel[0]}"
            grad = form(form_name, f(*own((2, 3, *made))))
            case("AvgPoolGrad", name, {"orig_input_shape": t(own(shape)), "input_grad": grad},
                 lambda s, g, turn=turn, unturn=unturn, k=kernel, st=stride, same=same, shape=shape: unturn(spread(shape, turn(g), k, st, same, equal_share)), attrs, types=HALF)
            case("MaxPoolGrad", name, {"x1": form(form_name, distinct(*own(shape))), "x2": form(form_name, f(*own((2, 3, *made)))), "grad": grad},
                 lambda x, y, g, turn=turn, unturn=unturn, k=kernel, st=stride, same=same, shape=shape: unturn(spread(shape, turn(g), k, st, same, largest(turn(x)))), attrs, types=HALF)
refused("AvgPoolGrad", "other windows", {"orig_input_shape": t([1, 4, 4, 1]), "input_grad": form("NHWC", f(1, 3, 2, 1))}, "windows along axis 0", {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"})


def shares(size, resized, linear, corners, centers):
    """What each element of an axis adds to each element of the resized axis, as TensorFlow resizes: [resized, size]."""
    made = np.zeros((resized, size))
    for index in range(resized):
        if corners:
            at = index * (size - 1) / (resized - 1) if resized > 1 else 0.0
        else:
            at = (index + 0.5 * centers) * size / resized - (0.5 if centers and linear else 0.0)
        if linear:
            at = max(at, 0.0)
            low = min(int(at), size - 1)
            made[index, low] += 1 - (at - int(at))
            made[index, min(low + 1, size - 1)] += at - int(at)
        else:
            made[index, min(math.floor(at + 0.5) if corners else math.floor(at), size - 1)] += 1
    return made


def unresized(grads, rows, columns):
    return np.einsum("nchw,hr,wk->ncrk", grads, rows, columns)


for corners, centers in [(False, False), (True, False), (False, True)]:
    for (rows, columns), (high, wide) in [((3, 4), (6, 8)), ((5, 6), (3, 2)), ((4, 1), (7, 3)), ((3, 5), (1, 4))]:
        attrs, name = {"align_corners": corners, "half_pixel_centers": centers}, f"{rows}x{columns} to {high}x{wide}, {corners} {centers}"

        def gradient(linear, turn=lambda x: x, unturn=lambda x: x, rows=rows, columns=columns, high=high, wide=wide, corners=corners, centers=centers):
            ways = shares(rows, high, linear, corners, centers), shares(columns, wide, linear, corners, centers)
            return lambda grads, other: unturn(unresized(turn(grads), *ways))

        case("ResizeBilinearV2Grad", name, {"grads": form("NCHW", f(2, 3, high, wide)), "original_image": form("NCHW", f(2, 3, rows, columns))}, gradient(True), attrs, types=HALF)
        case("ResizeNearestNeighborV2Grad", name, {"grads": form("NCHW", f(2, 3, high, wide)), "size": t([rows, columns])}, gradient(False), attrs, types=HALF)
        case("ResizeBilinearV2Grad", f"NHWC, {name}", {"grads": form("NHWC", f(2, high, wide, 3)), "original_image": form("NHWC", f(2, rows, columns, 3))}, gradient(True, back, last), attrs)
        case("ResizeNearestNeighborV2Grad", f"NHWC, {name}", {"grads": form("NHWC", f(2, high, wide, 3)), "size": t([rows, columns])}, gradient(False, back, last), attrs)
refused("ResizeBilinearV2Grad", "both ways", {"grads": f(1, 1, 2, 2), "original_image": f(1, 1, 4, 4)}, "exclude each other", {"align_corners": True, "half_pixel_centers": True})
refused("ResizeNearestNeighborV2Grad", "one number", {"grads": f(1, 1, 2, 2), "size": t([4])}, "height, width")


def decomposed(rows, columns, full=False):
    """The vectors are not unique: what has to hold is that they are orthonormal, and that their product is the matrix."""
    matrix = np.random.default_rng(5).uniform(-2, 2, (2, rows, columns))

    def judge(outputs):
        sigma, u, v_ = outputs
        least = min(rows, columns)
        wrong = [] if np.allclose(sigma, np.linalg.svd(matrix, compute_uv=False), atol=1e-5) else [f"the singular values are {sigma}"]
        if u.shape != (2, rows, rows if full else least) or v_.shape != (2, columns, columns if full else least):
            return [*wrong, f"the shapes are {u.shape} and {v_.shape}"]
        for name, one in (("u", u), ("v", v_)):
            if not np.allclose(one.transpose(0, 2, 1) @ one, np.eye(one.shape[2]), atol=1e-5):
                wrong.append(f"the columns of {name} are not orthonormal")
        product = (u[:, :, :least] * sigma[:, None, :]) @ v_[:, :, :least].transpose(0, 2, 1)
        return wrong if np.allclose(product, matrix, atol=1e-5) else [*wrong, "the product is not the matrix"]

    return {"x": v(matrix)}, judge


for rows, columns in [(4, 4), (5, 3), (2, 6)]:
    for full in (False, True):
        given, judge_svd = decomposed(rows, columns, full)
        case("Svd", f"{rows}x{columns}, full {full}", given, None, {"full_matrices": full}, judge=judge_svd, types=["float64"])
refused("Svd", "a vector", {"x": f(3)}, "at least 2 dimensions")
