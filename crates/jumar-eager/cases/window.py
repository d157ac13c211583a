"""Makes window.txt: `python window.py` in an environment with PyTorch."""

import torch
import torch.nn.functional as nn

from cases import Cases, Out

torch.manual_seed(20)
cases = Cases("window")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i32, i64 = torch.int32, torch.int64
FLOATS = [f32, f16, bf16, f64]
nan = float("nan")


def noise(*shape, dtype=f32):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64).to(dtype)


def some(cases, dtype):
    """All cases for float32, every third for the other types."""
    return cases if dtype == f32 else cases[FLOATS.index(dtype) - 1 :: 3]


def exact(x):
    """The operand in float64, from which a gradient is taken and rounded once."""
    return x.double().detach().requires_grad_()


def both(x, function):
    """The result for a tensor, a gradient of the result, and the gradient of the tensor."""
    ex = exact(x)
    y = function(ex)
    gradient = noise(*y.shape, dtype=x.dtype)
    (to_x,) = torch.autograd.grad(y, ex, gradient.double())
    return y.detach().to(x.dtype), gradient, to_x.to(x.dtype)


# Averages of windows: shape, kernel, stride, padding, ceil, count padding, divisor.
POOLS = [
    ((1, 2, 5, 6), [2, 3], [1, 2], [0, 1], False, True, 0), ((2, 3, 4, 4), [3, 3], [2, 2], [1, 1], True, True, 0),
    ((2, 5, 5), [2, 2], [], [1, 1], True, False, 0), ((1, 1, 4, 5), [2, 2], [1, 1], [1, 0], False, False, 3),
    ((0, 2, 4, 4), [2, 2], [2, 2], [0, 0], False, True, 0), ((1, 2, 7, 3), [3], [3], [1], True, True, -2),
    ((1, 2, 3, 4, 4), [2, 2, 2], [1, 1, 2], [0, 1, 1], False, True, 0), ((2, 4, 3, 5), [2, 1, 3], [], [1, 0, 1], True, False, 0),
    ((1, 1, 3, 3, 3), [2], [1], [1], True, True, 5),
]
for dtype in FLOATS:
    for shape, kernel, stride, padding, ceil, counted, divisor in some(POOLS, dtype):
        space = 3 if len(kernel) == 3 or len(shape) == 5 else 2
        function = nn.avg_pool3d if space == 3 else nn.avg_pool2d
        x = noise(*shape, dtype=dtype)
        given = [tuple(each * space if len(each) == 1 else each) for each in (kernel, stride or kernel, padding)]
        y, gradient, to_x = both(x, lambda x: function(x, *given, ceil, counted, divisor or None))
        words = dict(kernelSize=kernel, ceilMode=ceil, countIncludePad=counted, divisorOverride=divisor)
        if space == 2:
            cases.add("aclnnAvgPool2d", self=x, strides=stride, paddings=padding, cubeMathType=0, out=Out(y), **words)
            cases.add("aclnnAvgPool2dBackward", gradOutput=gradient, self=x, stride=stride, padding=padding, cubeMathType=0, gradInput=Out(to_x), **words)
        else:
            cases.add("aclnnAvgPool3d", self=x, stride=stride, padding=padding, out=Out(y), **words)
            cases.add("aclnnAvgPool3dBackward", gradOuput=gradient, self=x, stride=stride, padding=padding, output=Out(to_x), **words)
for counted, divisor in [(True, 0), (False, 0), (False, 3)]:
    x = torch.randint(-50, 50, (1, 2, 5, 5))
    y = nn.avg_pool2d(x, 3, 2, 1, True, counted, divisor or None)
    cases.add("aclnnAvgPool2d", self=x, kernelSize=[3, 3], strides=[2, 2], paddings=[1, 1], ceilMode=True, countIncludePad=counted,
              divisorOverride=divisor, cubeMathType=0, out=Out(y))
x = noise(1, 2, 5, 5)
plain = dict(self=x, strides=[2, 2], paddings=[1, 1], ceilMode=False, countIncludePad=True, divisorOverride=0, cubeMathType=0)
for kernel, pads, out, text in [([2, 2], [2, 1], (1, 2, 3, 3), "half of kernelSize"), ([0, 2], [0, 0], (1, 2, 2, 2), "between 1"),
                                ([9, 9], [1, 1], (1, 2, 1, 1), "larger than the padded"), ([2, 2], [0, 0], (1, 2, 3, 3), "out has the shape"),
                                ([2, 2, 2], [0, 0], (1, 2, 2, 2), "kernelSize has 3")]:
    cases.add("aclnnAvgPool2d", kernelSize=kernel, out=Out(noise(*out), False), refuse=(161002, text), **{**plain, "paddings": pads})
cases.add("aclnnAvgPool2d", kernelSize=[2, 2], out=Out(x, False), refuse=(161002, "self has the shape"), **{**plain, "self": noise(5, 5)})

# Averages and maxima of adaptive windows.
for dtype in FLOATS:
    for shape, size in some([((1, 2, 3, 4, 5), [2, 2, 3]), ((2, 4, 2, 3), [1, 1, 1]), ((1, 1, 2, 2, 2), [3, 4, 5]), ((0, 1, 2, 2, 2), [1, 2, 1])], dtype):
        x = noise(*shape, dtype=dtype)
        y, gradient, to_x = both(x, lambda x: nn.adaptive_avg_pool3d(x, size))
        cases.add("aclnnAdaptiveAvgPool3d", self=x, outputSize=size, out=Out(y))
        cases.add("aclnnAdaptiveAvgPool3dBackward", gradOutput=gradient, self=x, out=Out(to_x))
    for shape, size, space in some([((1, 2, 5, 7), [2, 3], 2), ((2, 4, 4), [4, 5], 2), ((1, 2, 3, 4, 5), [2, 2, 3], 3), ((2, 3, 4, 4), [1, 2, 2], 3)], dtype):
        x = noise(*shape, dtype=dtype)
        y, index = (nn.adaptive_max_pool2d if space == 2 else nn.adaptive_max_pool3d)(x.double(), size, return_indices=True)
        index = index if space == 2 else index.to(i32)
        cases.add(f"aclnnAdaptiveMaxPool{space}d", self=x, outputSize=size, outputOut=Out(y.to(dtype)), indicesOut=Out(index))
        gradient = noise(*y.shape, dtype=dtype)
        to_x = torch.zeros(shape, dtype=f64).flatten(-space).scatter_add(-1, index.long().flatten(-space), gradient.double().flatten(-space))
        cases.add(f"aclnnAdaptiveMaxPool{space}dBackward", gradOutput=gradient, self=x, indices=index, gradInput=Out(to_x.reshape(shape).to(dtype)))
x = noise(1, 1, 2, 2)
cases.add("aclnnAdaptiveMaxPool2dBackward", gradOutput=x, self=x, indices=torch.zeros(1, 1, 2, 1, dtype=i64), gradInput=Out(x, False),
          refuse=(161002, "indices has the shape"))
cases.add("aclnnAdaptiveMaxPool2d", self=x, outputSize=[1, 1], outputOut=Out(x, False), indicesOut=Out(x, False), refuse=(161002, "outputOut"))

# Maxima of windows, with their positions.
MAXIMA = [
    ((1, 2, 5, 6), [2, 3], [1, 2], [0, 1], [1, 1], False), ((2, 5, 5), [3, 3], [], [1, 1], [1, 1], True), ((1, 1, 6, 7), [2, 2], [2, 1], [1, 1], [2, 3], False),
    ((1, 2, 4, 5, 4), [2, 2, 2], [1, 2, 1], [1, 0, 1], [1, 1, 1], False), ((2, 4, 5, 5), [2, 2, 2], [2, 2, 2], [0, 1, 0], [1, 2, 1], True),
    ((1, 1, 5, 5, 5), [3], [2], [1], [1], True),
]
for dtype in FLOATS + [i64]:
    for shape, kernel, stride, padding, dilation, ceil in (some(MAXIMA, dtype) if dtype != i64 else MAXIMA[3:]):
        space = 3 if len(shape) == 5 or len(kernel) == 3 else 2
        x = noise(*shape, dtype=dtype) if dtype != i64 else torch.randint(-9, 9, shape) + (1 << 60)
        if dtype == f32:
            x.view(-1)[3], x.view(-1)[7] = nan, nan
        full = [each * space if len(each) == 1 else each for each in (kernel, stride or kernel, padding, dilation)]
        y, index = (nn.max_pool2d if space == 2 else nn.max_pool3d)(x, *full, ceil, return_indices=True)
        index = index.to(i32)
        name = "aclnnMaxPool2dWithIndices" if space == 2 else "aclnnMaxPool3dWithArgmax"
        words = dict(kernelSize=kernel, stride=stride, padding=padding, dilation=dilation, ceilMode=ceil)
        cases.add(name, self=x, out=Out(y), indices=Out(index), **words)
        if dtype != i64:
            gradient = noise(*y.shape, dtype=dtype)
            to_x = torch.zeros(shape, dtype=f64).flatten(-space).scatter_add(-1, index.long().flatten(-space), gradient.double().flatten(-space))
            cases.add(name + "Backward", gradOutput=gradient, self=x, indices=index, gradInput=Out(to_x.reshape(shape).to(dtype)), **words)

# Elements back at their positions.
for dtype in FLOATS + [i64]:
    for shape, size in [((1, 2, 3, 4), [4, 5]), ((2, 2, 2), [3, 3]), ((1, 1, 2, 2, 3), [3, 2, 4]), ((2, 2, 2, 2), [2, 3, 3])]:
        space = len(size)
        x = noise(*shape, dtype=f64).mul(64).to(dtype)
        count = torch.Size(size).numel()
        rows = torch.Size(shape[:-space]).numel()
        index = torch.stack([torch.randperm(count)[: torch.Size(shape[-space:]).numel()] for _ in range(rows)]).reshape(shape)
        y = torch.zeros(*shape[:-space], count, dtype=dtype).scatter(-1, index.flatten(-space), x.flatten(-space)).reshape(*shape[:-space], *size)
        more = {} if space == 2 else dict(stride=[1, 1, 1], padding=[0, 0, 0])
        cases.add(f"aclnnMaxUnpool{space}d", self=x, indices=index, outputSize=size, **{"out" if space == 2 else "outRef": Out(y)}, **more)
        if dtype in FLOATS:
            gradient = noise(*y.shape, dtype=dtype)
            to_x = gradient.flatten(-space).gather(-1, index.flatten(-space)).reshape(shape)
            cases.add(f"aclnnMaxUnpool{space}dBackward", gradOutput=gradient, self=x, indices=index, outputSize=size, out=Out(to_x), **more)

# Interpolation: shape, sizes, scales.
LINES = [((1, 2, 5), [8], [0.0]), ((2, 1, 7), [3], [0.0]), ((1, 2, 4), [7], [1.75]), ((1, 1, 3), [3], [0.0]), ((0, 2, 3), [2], [0.0])]
PLANES = [((1, 2, 4, 5), [6, 7], [0.0, 0.0]), ((2, 1, 6, 5), [3, 4], [0.0, 0.0]), ((1, 1, 3, 4), [5, 7], [1.7, 1.9]), ((1, 2, 4, 3), [4, 6], [0.0, 2.0])]
VOLUMES = [((1, 1, 3, 2, 4), [4, 3, 5], [0.0, 0.0, 0.0]), ((1, 1, 4, 5, 3), [2, 3, 6], [0.5, 0.6, 2.0])]


def scale_words(scales):
    return dict(zip(["scalesD", "scalesH", "scalesW"][-len(scales) :], scales, strict=True))


def interpolate(operator, names, x, size, scales, function, aligned=None, within=None):
    """A case of an interpolation and one of its gradient. `names`: those of input, scales, and in the gradient."""
    inputs, words, gradient_name, gradient_words, grad_in, grad_out = names
    y, gradient, to_x = both(x, function)
    more = {} if aligned is None else dict(alignCorners=aligned)
    if operator:
        cases.add(operator, outputSize=size, out=Out(y), within=within, **{inputs: x}, **words, **more)
    if gradient_name:
        cases.add(gradient_name, outputSize=size, inputSize=list(x.shape), within=within, **{grad_in: gradient, grad_out: Out(to_x)}, **gradient_words, **more)


aten = torch.ops.aten
for dtype in FLOATS:
    within = {f32: 1e-5}.get(dtype)
    for shape, size, scales in some(LINES, dtype):
        x = noise(*shape, dtype=dtype)
        scale = scales[0] or None
        one = dict(scales=scales[0])
        interpolate("aclnnUpsampleNearest1dV2", ("self", dict(scaleL=scales[0]), "aclnnUpsampleNearest1dBackward", one, "gradOut", "out"), x, size, scales,
                    lambda x: aten.upsample_nearest1d(x, size, scale))
        interpolate("aclnnUpsampleNearestExact1d", ("self", one, "aclnnUpsampleNearestExact1dBackward", one, "gradOutput", "out"), x, size, scales,
                    lambda x: aten._upsample_nearest_exact1d(x, size, scale))
        if scale is None:
            interpolate("aclnnUpsampleNearest1d", ("self", {}, None, None, None, None), x, size, scales, lambda x: aten.upsample_nearest1d(x, size))
        for aligned in [False, True] if dtype == f32 else [dtype == f16]:
            interpolate("aclnnUpsampleLinear1d", ("self", one, "aclnnUpsampleLinear1dBackward", one, "gradOut", "out"), x, size, scales,
                        lambda x: aten.upsample_linear1d(x, size, aligned, scale), aligned, within)
    for shape, size, scales in some(PLANES, dtype):
        x = noise(*shape, dtype=dtype)
        two = [scale or None for scale in scales]
        words = scale_words(scales)
        interpolate("aclnnUpsampleNearest2dV2", ("self", words, "aclnnUpsampleNearest2dBackward", words, "gradOut", "gradInput"), x, size, scales,
                    lambda x: aten.upsample_nearest2d(x, size, *two))
        interpolate("aclnnUpsampleNearestExact2d", ("self", words, "aclnnUpsampleNearestExact2dBackward", words, "gradOutput", "out"), x, size, scales,
                    lambda x: aten._upsample_nearest_exact2d(x, size, *two))
        if two == [None, None]:
            interpolate("aclnnUpsampleNearest2d", ("self", {}, None, None, None, None), x, size, scales, lambda x: aten.upsample_nearest2d(x, size))
        for aligned in [False, True] if dtype == f32 else [dtype == f16]:
            interpolate("aclnnUpsampleBilinear2d", ("self", words, "aclnnUpsampleBilinear2dBackwardV2", words, "gradOut", "out"), x, size, scales,
                        lambda x: aten.upsample_bilinear2d(x, size, aligned, *two), aligned, within)
            interpolate(None, (None, None, "aclnnUpsampleBilinear2dBackward", words, "gradOut", "out"), x, size, scales,
                        lambda x: aten.upsample_bilinear2d(x, size, aligned, *two), aligned, within)
            interpolate("aclnnUpsampleBicubic2d", ("self", words, "aclnnUpsampleBicubic2dBackward", words, "gradOut", "gradInput"), x, size, scales,
                        lambda x: aten.upsample_bicubic2d(x, size, aligned, *two), aligned, within)
            interpolate("aclnnUpsampleBilinear2dAA", ("input", words, "aclnnUpsampleBilinear2dAABackward", words, "gradOutput", "out"), x, size, scales,
                        lambda x: aten._upsample_bilinear2d_aa(x, size, aligned, *two), aligned, within)
            interpolate("aclnnUpsampleBicubic2dAA", ("x", words, "aclnnUpsampleBicubic2dAAGrad", words, "gradOutput", "out"), x, size, scales,
                        lambda x: aten._upsample_bicubic2d_aa(x, size, aligned, *two), aligned, within)
    for shape, size, scales in VOLUMES if dtype == f32 else VOLUMES[1:]:
        x = noise(*shape, dtype=dtype)
        three = [scale or None for scale in scales]
        words = scale_words(scales)
        interpolate("aclnnUpsampleNearest3d", ("self", words, "aclnnUpsampleNearest3dBackward", words, "gradOut", "gradInput"), x, size, scales,
                    lambda x: aten.upsample_nearest3d(x, size, *three))
        interpolate("aclnnUpsampleNearestExact3d", ("self", words, "aclnnUpsampleNearestExact3dBackward", words, "gradOut", "gradInput"), x, size, scales,
                    lambda x: aten._upsample_nearest_exact3d(x, size, *three))
        for aligned in [False, True] if dtype == f32 else [dtype == f16]:
            interpolate("aclnnUpsampleTrilinear3d", ("self", words, "aclnnUpsampleTrilinear3dBackward", words, "gradOut", "gradInput"), x, size, scales,
                        lambda x: aten.upsample_trilinear3d(x, size, aligned, *three), aligned, within)
x = noise(1, 2, 3, 4)
words = dict(alignCorners=False, scalesH=0.0, scalesW=0.0)
cases.add("aclnnUpsampleBilinear2d", self=x, outputSize=[2], out=Out(noise(1, 2, 2, 3), False), refuse=(161002, "out has the shape"), **words)
cases.add("aclnnUpsampleBilinear2d", self=x, outputSize=[0, 2], out=Out(noise(1, 2, 0, 2), False), refuse=(161002, "outputSize"), **words)
cases.add("aclnnUpsampleBilinear2d", self=x[0], outputSize=[2, 2], out=Out(noise(1, 2, 2, 2), False), refuse=(161002, "4 dimensions"), **words)
cases.add("aclnnUpsampleBilinear2dBackward", gradOut=x, outputSize=[3, 4], inputSize=[1, 2, 3], out=Out(x, False), refuse=(161002, "inputSize"), **words)

# Patches.
PATCHES = [((1, 2, 4, 5), [2, 3], [1, 1], [0, 1], [1, 2]), ((2, 1, 5, 5), [2, 2], [2, 1], [1, 1], [2, 2]), ((2, 4, 3), [3, 2], [1, 1], [1, 0], [1, 1]),
           ((0, 2, 4, 4), [2, 2], [1, 1], [0, 0], [1, 1]), ((1, 1, 3, 3), [3, 3], [1, 1], [2, 2], [3, 3])]
for dtype in FLOATS + [torch.complex64, torch.bool]:
    for shape, kernel, dilation, padding, stride in PATCHES if dtype == f32 else PATCHES[:3]:
        if dtype.is_complex:
            x = torch.complex(noise(*shape), noise(*shape))
        else:
            x = noise(*shape) > 0 if dtype == torch.bool else noise(*shape, dtype=dtype)
        y = aten.im2col(x, kernel, dilation, padding, stride)
        words = dict(kernelSize=kernel, dilation=dilation, padding=padding, stride=stride)
        cases.add("aclnnIm2col", self=x, out=Out(y), **words)
        if dtype == torch.bool or shape[0] == 0:
            continue
        gradient = torch.complex(noise(*y.shape), noise(*y.shape)) if dtype.is_complex else noise(*y.shape, dtype=dtype)
        precise = torch.complex128 if dtype.is_complex else f64
        to_x = aten.col2im(gradient.to(precise), list(shape[-2:]), kernel, dilation, padding, stride).to(dtype)
        cases.add("aclnnIm2colBackward", gradOutput=gradient, inputSize=list(shape[-2:]), out=Out(to_x), **words)
x = noise(1, 2, 4, 4)
words = dict(dilation=[1, 1], padding=[0, 0], stride=[1, 1])
cases.add("aclnnIm2col", self=x, kernelSize=[5, 5], out=Out(noise(1, 50, 1), False), refuse=(161002, "larger than the padded"), **words)
cases.add("aclnnIm2col", self=x, kernelSize=[2, 2], out=Out(noise(1, 8, 8), False), refuse=(161002, "out has the shape"), **words)

# Gradients of windows of a tensor.
for dtype in FLOATS + [torch.complex64]:
    for shape, dim, size, step in [((7,), 0, 3, 2), ((3, 6), 1, 2, 1), ((8, 2), 0, 5, 3), ((2, 3, 4), -2, 3, 1), ((), 0, 1, 1)]:
        windows = torch.zeros(shape).unfold(dim, size, step).shape
        gradient = torch.complex(noise(*windows), noise(*windows)) if dtype.is_complex else noise(*windows, dtype=dtype)
        precise = torch.complex128 if dtype.is_complex else f64
        to_x = aten.unfold_backward(gradient.to(precise), list(shape), dim, size, step).to(dtype)
        cases.add("aclnnUnfoldGrad", gradOut=gradient, inputSizes=list(shape), dim=dim, size=size, step=step, gradIn=Out(to_x))
cases.add("aclnnUnfoldGrad", gradOut=noise(3, 3), inputSizes=[7], dim=0, size=8, step=2, gradIn=Out(noise(7), False), refuse=(161002, "size is 8"))
cases.add("aclnnUnfoldGrad", gradOut=noise(3, 3), inputSizes=[6], dim=0, size=3, step=2, gradIn=Out(noise(7), False), refuse=(161002, "inputSizes"))

cases.write()
