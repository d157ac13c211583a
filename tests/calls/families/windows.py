"""Convolutions, pooling, resizing: by brute force over windows."""

import itertools
import math

import numpy as np

from maker import EPS, FLOATS, LOW, bits, near, wide

from . import Family


def low(dtype):
    return EPS[dtype] if dtype in LOW else 0


def image(call, dims, channels=None, least=1):
    if call.below(12) == 11:
        # Beyond a block of pixels, or of channels.
        call.features.add("boundary sizes")
        if dims > 1 and not channels and call.chance(40):
            return (call.between(1, 2), call.choose((31, 33, 65, 130)), *(max(call.choose((2, 3, 4)), least) for _ in range(dims)))
        return (1, channels or call.between(1, 2), *(max(call.choose({1: (257, 600, 1025), 2: (17, 31, 33, 40), 3: (7, 9, 11)}[dims]), least) for _ in range(dims)))
    return (call.between(1, 2), channels or call.choose((1, 2, 3, 4)), *(max(call.choose((4, 1, 2, 5, 7, 8, 9, 17)), least) for _ in range(dims)))


def pool_window(call, size, ceil_allowed=True):
    """Draws kernel, stride and padding of one dimension."""
    kernel = min(call.choose((2, 1, 3, 5)), size)
    stride = call.choose((1, 2, 3))
    pad = call.between(0, kernel // 2)
    return kernel, stride, pad


def length(size, kernel, stride, pad, ceil, dilation=1):
    span = size + 2 * pad - dilation * (kernel - 1) - 1
    out = (-(-span // stride) if ceil else span // stride) + 1
    if ceil and (out - 1) * stride >= size + pad:
        out -= 1
    return out


def ranges(size, kernel, stride, pad, out):
    return [(max(i * stride - pad, 0), min(i * stride - pad + kernel, size), min(i * stride - pad + kernel, size + pad) - (i * stride - pad)) for i in range(out)]


def avg_pool(call, dims, backward=False):
    dtype = call.float_type()
    shape = image(call, dims)
    windows = [pool_window(call, size) for size in shape[2:]]
    ceil, include = call.set("ceilMode", call.chance(40)), call.set("countIncludePad", call.chance(50))
    divisor = call.set("divisorOverride", call.choose(DIVISORS))
    outs = [length(size, *window, ceil) for size, window in zip(shape[2:], windows)]
    names = {name.lower(): name for name in call.kinds}
    for index, options in enumerate((("kernelsize",), ("strides", "stride"), ("paddings", "padding"))):
        call.set(next(names[o] for o in options if o in names), [window[index] for window in windows])
    if "cubeMathType" in call.kinds:
        call.set("cubeMathType", 0)
    x = wide(call.tensor("self", dtype, shape, "small", False))
    matrices = []
    for size, window, out in zip(shape[2:], windows, outs):
        matrix, counts = np.zeros((out, size)), np.zeros(out)
        for i, (first, last, padded) in enumerate(ranges(size, *window, out)):
            matrix[i, first:last] = 1
            counts[i] = padded if include else last - first
        matrices.append((matrix, counts))
    letters = "xyz"[:dims]
    counts = matrices[0][1]
    for _, more in matrices[1:]:
        counts = np.multiply.outer(counts, more)
    counts = np.full(counts.shape, float(divisor)) if divisor else counts
    equation = "nc" + letters + "," + ",".join(f"{letter.upper()}{letter}" for letter in letters) + "->nc" + letters.upper()
    if not backward:
        wanted = mapped(lambda v, ms: np.einsum(equation, v, *ms), x, [m for m, _ in matrices]) / counts
        size = np.einsum(equation, np.abs(x), *(m for m, _ in matrices)) / np.abs(counts)
        call.out(call.results[0], dtype, wanted, near(4, 0, 2e-6 * size))
        return
    own = next(name for name in call.inputs if name.startswith("grad"))
    g = wide(call.tensor(own, dtype, (*shape[:2], *outs), "small", False))
    back = "nc" + letters.upper() + "," + ",".join(f"{letter.upper()}{letter}" for letter in letters) + "->nc" + letters
    wanted, size = (mapped(lambda v, ms: np.einsum(back, v, *ms), value / counts, [m for m, _ in matrices]) for value in (g, np.abs(g)))
    call.out(call.results[0], dtype, wanted, near(4, 0, 2e-6 * np.abs(size)))


def adaptive_avg(call, dims, backward=False):
    dtype = call.float_type()
    shape = image(call, dims)
    outs = [call.choose((1, 2, 3, 5, 7, 20)) for _ in range(dims)]
    x = wide(call.tensor("self", dtype, shape, "small", False))
    matrices = []
    for size, out in zip(shape[2:], outs):
        matrix = np.zeros((out, size))
        for i in range(out):
            first, last = i * size // out, -(-(i + 1) * size // out)
            matrix[i, first:last] = 1 / (last - first)
        matrices.append(matrix)
    letters = "xyz"[:dims]
    if not backward:
        call.set("outputSize", outs)
        equation = "nc" + letters + "," + ",".join(f"{letter.upper()}{letter}" for letter in letters) + "->nc" + letters.upper()
        call.out("out", dtype, mapped(lambda v, ms: np.einsum(equation, v, *ms), x, matrices), near(4, 0, 2e-6 * np.einsum(equation, np.abs(x), *matrices)))
        return
    g = wide(call.tensor("gradOutput", dtype, (*shape[:2], *outs), "small", False))
    equation = "nc" + letters.upper() + "," + ",".join(f"{letter.upper()}{letter}" for letter in letters) + "->nc" + letters
    call.out("out", dtype, mapped(lambda v, ms: np.einsum(equation, v, *ms), g, matrices), near(4, 0, 2e-6 * mapped(lambda v, ms: np.einsum(equation, v, *ms), np.abs(g), matrices)))


def max_pool(call, dims, backward=False):
    dtype = call.float_type()
    shape = image(call, dims)
    windows = [pool_window(call, size) for size in shape[2:]]
    ceil = call.set("ceilMode", call.chance(40))
    steps = call.set("dilation", [call.choose((1, 1, 2, 3)) if (kernel - 1) * 3 < size else 1 for size, (kernel, _, _) in zip(shape[2:], windows)])
    outs = [length(size, *window, ceil, step) for size, window, step in zip(shape[2:], windows, steps)]
    for index, name in enumerate(("kernelSize", "stride", "padding")):
        call.set(name, [window[index] for window in windows])
    # No two elements are equal: the index of the largest is then defined.
    count = math.prod(shape)
    order = np.argsort(call.some("float32", (count,), "normal", False), kind="stable")
    if dtype in LOW:
        order = order % 240
    order = (order.reshape(shape) - 100).astype(float)
    if call.chance(25):
        # A window that has a NaN produces NaN; infinities are the largest and the smallest.
        call.features.add("infinities, NaN, subnormals")
        for _ in range(call.between(1, 3)):
            order.reshape(-1)[call.below(count)] = call.choose((math.nan, math.inf, -math.inf))
    x = wide(call.tensor("self", dtype, values=order))
    best, at = np.zeros((*shape[:2], *outs)), np.zeros((*shape[:2], *outs), np.int64)
    flat = np.arange(math.prod(shape[2:])).reshape(shape[2:])
    for position in itertools.product(*(range(out) for out in outs)):
        taps = [[i * stride - pad + tap * step for tap in range(kernel)] for i, (kernel, stride, pad), step in zip(position, windows, steps)]
        cut = flat[np.ix_(*([at for at in own if 0 <= at < size] for own, size in zip(taps, shape[2:])))].reshape(-1)
        part = x.reshape(*shape[:2], -1)[..., cut]
        best[(slice(None), slice(None), *position)] = part.max(-1)
        # Of several largest ones the first, and the last NaN.
        part = np.where(np.isnan(part), np.inf, np.where(np.isnan(part).any(-1, keepdims=True), -np.inf, part))
        at[(slice(None), slice(None), *position)] = cut[part.argmax(-1)]
    if not backward:
        call.out("out", dtype, best)

        def names_largest(found, wanted):
            if (found < 0).any() or (found >= flat.size).any():
                return "an index is outside of the image"
            lines = x.reshape(*shape[:2], -1)
            return bits(np.take_along_axis(lines, found.reshape(*shape[:2], -1).astype(np.int64), -1).reshape(best.shape), best)

        call.out("indices", "int64" if call.chance(50) and dims == 2 else "int32", at, names_largest)
        return
    g = wide(call.tensor("gradOutput", dtype, best.shape, "small", False))
    call.tensor("indices", "int32", values=at)
    wanted, size = np.zeros((*shape[:2], flat.size)), np.zeros((*shape[:2], flat.size))
    for n, c in itertools.product(range(shape[0]), range(shape[1])):
        np.add.at(wanted[n, c], at[n, c].reshape(-1), g[n, c].reshape(-1)), np.add.at(size[n, c], at[n, c].reshape(-1), np.abs(g[n, c].reshape(-1)))
    call.out("gradInput", dtype, wanted.reshape(shape), near(2, 0, 1e-6 * size.reshape(shape)))


def convolve(x, w, stride, pad, dilation, groups):
    """Cross-correlation over any number of dimensions."""
    dims = x.ndim - 2
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in pad)))
    outs = [(size - d * (k - 1) - 1) // s + 1 for size, d, k, s in zip(x.shape[2:], dilation, w.shape[2:], stride)]
    n, own, per = x.shape[0], x.shape[1] // groups, w.shape[0] // groups
    y = np.zeros((n, w.shape[0], *outs))
    for position in itertools.product(*(range(k) for k in w.shape[2:])):
        cut = tuple(slice(i * d, i * d + s * (o - 1) + 1, s) for i, d, s, o in zip(position, dilation, stride, outs))
        for g in range(groups):
            part = x[(slice(None), slice(g * own, (g + 1) * own), *cut)]
            weights = w[(slice(g * per, (g + 1) * per), slice(None), *position)]
            y[:, g * per:(g + 1) * per] += np.einsum("ncp,oc->nop", part.reshape(n, own, -1), weights).reshape(n, per, *outs)
    return y


def spread(x, w, stride, pad, dilation, groups, more):
    """Transposed convolution: weights as input channels, output channels of a group, kernel."""
    own, per = x.shape[1] // groups, w.shape[1]
    outs = [(size - 1) * s - 2 * p + d * (k - 1) + m + 1 for size, s, p, d, k, m in zip(x.shape[2:], stride, pad, dilation, w.shape[2:], more)]
    y = np.zeros((x.shape[0], per * groups, *(out + 2 * p for out, p in zip(outs, pad))))
    for position in itertools.product(*(range(k) for k in w.shape[2:])):
        cut = tuple(slice(i * d, i * d + s * (size - 1) + 1, s) for i, d, s, size in zip(position, dilation, stride, x.shape[2:]))
        for g in range(groups):
            part = np.einsum("ncp,co->nop", x[:, g * own:(g + 1) * own].reshape(x.shape[0], own, -1), w[(slice(g * own, (g + 1) * own), slice(None), *position)])
            y[(slice(None), slice(g * per, (g + 1) * per), *cut)] += part.reshape(x.shape[0], per, *x.shape[2:])
    return y[(slice(None), slice(None), *(slice(p, p + out) for p, out in zip(pad, outs)))]


FORMATS = {1: 47, 2: 0, 3: 30}


def convolution(call):
    dims = call.choose((2, 1, 3))
    dtype = call.float_type()
    groups = call.choose((1, 1, 2, 3))
    ins, outs = groups * call.between(1, 5), groups * call.choose((1, 2, 5, 8, 17))
    kernel = [call.choose((1, 2, 3)) for _ in range(dims)]
    stride, dilation = [call.choose((1, 2, 3)) for _ in range(dims)], [call.choose((1, 1, 2, 3)) for _ in range(dims)]
    pad = [call.choose((0, 1, 2, 3)) for _ in range(dims)]
    size = [max(call.choose((3, 5, 8, 9, 17)), d * (k - 1) + 1) for d, k in zip(dilation, kernel)]
    way = call.below(12)
    if way == 10:
        # More pixels than a block has.
        size = [call.choose({1: (600, 1025), 2: (23, 27, 33), 3: (8, 9, 10)}[dims]) for _ in range(dims)]
        call.features.add("boundary sizes")
    elif way == 11:
        # More channels than a block has.
        groups = call.choose((1, 1, 2))
        ins, outs = groups * call.choose((33, 65, 130)), groups * call.choose((31, 33, 64, 70))
        size = [min(one, 6) for one in size]
        size = [max(one, d * (k - 1) + 1) for one, d, k in zip(size, dilation, kernel)]
        call.features.add("boundary sizes")
    transposed = call.chance(30)
    more = [0] * dims
    if transposed:
        pad = [min(p, (k - 1) * d) for p, k, d in zip(pad, kernel, dilation)]
        more = [call.below(s) if s > 1 else 0 for s in stride]
        if call.chance(8):
            axis = call.below(dims)
            more[axis] = max(stride[axis], dilation[axis])
            call.refuse(161002)
    # Whether weights meet the zeros of the padding is not documented: those are numbers.
    x = wide(call.tensor("input", dtype, (call.between(1, 2), ins, *size), "small", False, odd=not transposed))
    w = wide(call.tensor("weight", dtype, ((ins, outs // groups) if transposed else (outs, ins // groups)) + tuple(kernel), "small", False, odd=False))
    b = wide(call.tensor("bias", dtype, (outs,), "small", False)) if call.chance(60) else None
    for name, value in (("stride", stride), ("padding", pad), ("dilation", dilation), ("outputPadding", more)):
        call.set(name, value)
    call.set("transposed", transposed), call.set("groups", groups), call.set("cubeMathType", 0)
    f = (lambda one, two: spread(one, two, stride, pad, dilation, groups, more)) if transposed else (lambda one, two: convolve(one, two, stride, pad, dilation, groups))
    y, total = f(x, w), f(np.abs(x), np.abs(w))
    if b is not None:
        y = y + b.reshape([1, -1] + [1] * dims)
    call.out("output", dtype, y, near(4, 0, 4e-6 * (total + 1)))
    for name in ("input", "weight"):
        call.given[name].format = FORMATS[dims]
    call.given["output"].array.format = FORMATS[dims]


def mapped(f, x, matrices):
    """A map by a weight for each element: `f` of the elements and the weights along each dimension. What is not finite reaches only elements in whose sum it has a weight."""
    odd = ~np.isfinite(x)
    if not odd.any():
        return f(x, matrices)
    made = f(np.where(odd, 0, x), matrices)

    def reached(marks, sign):
        """Where marked elements have a positive or a negative weight."""
        found = np.zeros(made.shape, bool)
        for signs in itertools.product((1, -1), repeat=len(matrices)):
            if math.prod(signs) == sign:
                found |= f(marks.astype(float), [(matrix * one > 0).astype(float) for matrix, one in zip(matrices, signs)]) > 0
        return found

    nan = reached(np.isnan(x), 1) | reached(np.isnan(x), -1)
    up, down = reached(x == np.inf, 1) | reached(x == -np.inf, -1), reached(x == -np.inf, 1) | reached(x == np.inf, -1)
    return np.where(nan | up & down, np.nan, np.where(up, np.inf, np.where(down, -np.inf, made)))


def around(matrix):
    """Weights of 1 for the elements that a row of a matrix has weights for, and their neighbours."""
    made = (matrix != 0).astype(float)
    for _ in range(3):
        made[:, 1:] += made[:, :-1] > 0
        made[:, :-1] += made[:, 1:] > 0
    return made


def resized_out(call, name, dtype, f, x, matrices, rate, exact):
    """Adds what a map makes of an image: `exact` where each element is one of the image."""
    held = np.where(np.isfinite(x), np.abs(x), 0)
    size, wanted = f(held, [np.abs(m) for m in matrices]), mapped(f, x, matrices)
    check = near(4, 0, rate * (size + (0 if exact else held.max(initial=0))))
    if not exact and not np.isfinite(x).all():
        # Whether an element with the weight 0 is read is not documented.
        unsure = f((~np.isfinite(x)).astype(float), [around(m) for m in matrices]) > 0
        return call.out(name, dtype, wanted, lambda found, want: check(np.where(unsure, want, found).astype(found.dtype), want))
    return call.out(name, dtype, wanted, check)


def scales(call, sizes, outs):
    """Draws how much larger a result is along each dimension: 0 stands for what follows from the sizes."""
    names = [name for name in call.kinds if name.startswith("scale")]
    made = [0.0] * len(sizes)
    if call.chance(30):
        call.features.add("scales beside sizes")
        # As many elements or twice as many are copies in some forms whatever the scale is, also of PyTorch.
        made = [call.choose((0.0, (out + 0.5) / size, (out + 0.25) / size, -1.0, out / size)) if out not in (size, 2 * size) else call.choose((0.0, -1.0)) for size, out in zip(sizes, outs)]
    for name, scale in zip(names, made):
        call.set(name, scale)
    return [scale if scale > 0 and names else 0 for scale in made]


#: What divides the sum of a window: other divisors than the number of its elements, negative ones as well.
DIVISORS = (0, 0, 3, 1, -2, 1000)


def matrices_of(kind, sizes, outs, aligned, exact, factors):
    """The weights with which each element of an input counts, along each dimension."""
    made = []
    for size, out, factor in zip(sizes, outs, factors):
        matrix = np.zeros((out, size))
        for i in range(out):
            if kind == "nearest":
                scale = np.float32(1 / factor) if factor else np.float32(size) / np.float32(out)
                at = min(int(math.floor((i + 0.5) * scale if exact else np.float32(i) * scale)), size - 1)
                matrix[i, at] = 1
                continue
            if aligned:
                position = i * (size - 1) / (out - 1) if out > 1 else 0.0
            else:
                position = (i + 0.5) / factor - 0.5 if factor else (i + 0.5) * size / out - 0.5
                position = max(position, 0) if kind == "linear" else position
            first = math.floor(position)
            t = position - first
            if kind == "linear":
                matrix[i, min(first, size - 1)] += 1 - t
                matrix[i, min(first + 1, size - 1)] += t
            else:
                for offset in range(-1, 3):
                    d = abs(offset - t)
                    weight = (1.25 * d - 2.25) * d * d + 1 if d <= 1 else ((-0.75 * d + 3.75) * d - 6) * d + 3
                    matrix[i, min(max(first + offset, 0), size - 1)] += weight
        made.append(matrix)
    return made


def resized(call, kind, dims, backward=False, exact=False):
    dtype = call.float_type()
    shape = image(call, dims)
    outs = [call.choose((1, 2, 3, 4, 7, 8, 16, 17, 33) if dims < 3 else (1, 2, 3, 4, 7, 8)) for _ in range(dims)]
    aligned = call.set("alignCorners", call.chance(50)) if "alignCorners" in call.kinds else False
    factors = scales(call, shape[2:], outs)
    call.set("outputSize", outs)
    if backward:
        call.set("inputSize", list(shape))
    matrices = matrices_of(kind, shape[2:], outs, aligned, exact, factors)
    letters = "xyz"[:dims]
    upper = letters.upper()
    pairs = ",".join(f"{letter.upper()}{letter}" for letter in letters)
    if not backward:
        x = wide(call.tensor("self", dtype, shape, "small", False))
        f = lambda v, ms: np.einsum(f"nc{letters},{pairs}->nc{upper}", v, *ms)  # noqa: E731
    else:
        own = next(name for name in call.inputs if name.startswith("grad"))
        x = wide(call.tensor(own, dtype, (*shape[:2], *outs), "small", False))
        f = lambda v, ms: np.einsum(f"nc{upper},{pairs}->nc{letters}", v, *ms)  # noqa: E731
    resized_out(call, call.results[0], dtype, f, x, matrices, 1e-5, kind == "nearest")
    call.given[call.inputs[0]].format = FORMATS[dims]
    call.given[call.results[0]].array.format = FORMATS[dims]


POOLING = Family("pooling", "ops/network/pooling.rs")
for dims in (2, 3):
    POOLING.add(f"AvgPool{dims}d", avg_pool, dims=dims)
    POOLING.add(f"AvgPool{dims}dBackward", avg_pool, dims=dims, backward=True)
    POOLING.add(f"AdaptiveAvgPool{dims}d", adaptive_avg, dims=dims)
    POOLING.add(f"AdaptiveAvgPool{dims}dBackward", adaptive_avg, dims=dims, backward=True)
POOLING.add("MaxPool2dWithIndices", max_pool, dims=2)
POOLING.add("MaxPool2dWithIndicesBackward", max_pool, dims=2, backward=True)
POOLING.add("MaxPool3dWithArgmax", max_pool, dims=3)
POOLING.add("MaxPool3dWithArgmaxBackward", max_pool, dims=3, backward=True)

CONVOLUTION = Family("convolution", "ops/network")
CONVOLUTION.add("Convolution", convolution)

RESIZING = Family("resizing", "ops/images.rs")
RESIZING.add("UpsampleNearest1d UpsampleNearest1dV2", resized, kind="nearest", dims=1)
RESIZING.add("UpsampleNearest2d UpsampleNearest2dV2", resized, kind="nearest", dims=2)
RESIZING.add("UpsampleNearest3d", resized, kind="nearest", dims=3)
for dims in (1, 2, 3):
    RESIZING.add(f"UpsampleNearest{dims}dBackward", resized, kind="nearest", dims=dims, backward=True)
    RESIZING.add(f"UpsampleNearestExact{dims}d", resized, kind="nearest", dims=dims, exact=True)
    RESIZING.add(f"UpsampleNearestExact{dims}dBackward", resized, kind="nearest", dims=dims, exact=True, backward=True)
for name, dims in (("Linear1d", 1), ("Bilinear2d", 2), ("Trilinear3d", 3)):
    RESIZING.add(f"Upsample{name}", resized, kind="linear", dims=dims)
    RESIZING.add(f"Upsample{name}Backward", resized, kind="linear", dims=dims, backward=True)
RESIZING.add("UpsampleBilinear2dBackwardV2", resized, kind="linear", dims=2, backward=True)
RESIZING.add("UpsampleBicubic2d", resized, kind="cubic", dims=2)
RESIZING.add("UpsampleBicubic2dBackward", resized, kind="cubic", dims=2, backward=True)

FAMILIES = [POOLING, CONVOLUTION, RESIZING]
