"""Makes deform.txt: `python deform.py` in an environment with PyTorch and torchvision, which compute the expected values in float64."""

import torch
from torchvision.ops import complete_box_iou, deform_conv2d

from cases import Cases, Null, Out

torch.manual_seed(73)
cases = Cases("deform")
f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
WITHIN = {f32: 2e-5, f16: 6e-3, bf16: 5e-2}


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-60, 61, shape) / 64 * scale).to(dtype)


def between(*shape):
    """Distances whose fractions are not 0: where a position is an integer, the gradient by it is one of two."""
    return (torch.randint(-6, 7, shape) / 4 + 1 / 8).float()


def convolution(dtype, batch, channels, outputs, image, kernel, stride, padding, dilation, groups, sharing, biased):
    """A case of both directions. torchvision has y before x for each tap, and the same padding on both sides."""
    size = [(image[axis] + 2 * padding[axis] - (kernel[axis] - 1) * dilation[axis] - 1) // stride[axis] + 1 for axis in range(2)]
    taps = kernel[0] * kernel[1]
    x, weight = noise(batch, channels, *image, dtype=dtype), noise(outputs, channels // groups, *kernel, dtype=dtype, scale=0.5)
    right, down = between(batch, sharing * taps, *size).to(dtype), between(batch, sharing * taps, *size).to(dtype)
    factor, bias = noise(batch, sharing * taps, *size, dtype=dtype), noise(outputs, dtype=dtype)
    exact = [own.double().requires_grad_() for own in (x, weight, right, down, factor, bias)]

    def own(weight, bias, groups):
        offsets = torch.stack([exact[3], exact[2]], 2).flatten(1, 2)
        return deform_conv2d(exact[0], offsets, weight, bias, stride, padding, dilation, exact[4])

    out = own(exact[1], exact[5] if biased else None, groups)
    # What each tap reads: a filter that passes one tap of one channel on.
    read = torch.eye(channels * taps, dtype=torch.float64).reshape(channels * taps, channels, *kernel)
    tiles = own(read, None, 1).detach().reshape(batch, channels, *kernel, *size).permute(0, 1, 4, 2, 5, 3)
    tiles = tiles.reshape(batch, channels, size[0] * kernel[0], size[1] * kernel[1])
    offsets = torch.cat([right, down, factor], 1)
    common = dict(
        weight=weight, offset=offsets, kernelSize=list(kernel), stride=[1, 1, *stride], padding=[padding[0], padding[0], padding[1], padding[1]], dilation=[1, 1, *dilation],
        groups=groups, deformableGroups=sharing, modulated=True, within=WITHIN[dtype],
    )
    cases.add(
        "aclnnDeformableConv2d", x=x, biasOptional=bias if biased else Null, out=Out(out.detach().to(dtype)), deformOutOptional=Out(tiles.to(dtype)) if biased else Null, **common,
    )
    if not biased:
        return
    gradient = noise(*out.shape, dtype=dtype)
    to_x, to_weight, to_right, to_down, to_factor, to_bias = torch.autograd.grad(out, exact, gradient.double())
    to_offsets = torch.cat([to_right, to_down, to_factor], 1)
    cases.add(
        "aclnnDeformableConv2dBackward", input=x, gradOutput=gradient, offsetOut=tiles.to(dtype), gradInput=Out(to_x.to(dtype)), gradWeight=Out(to_weight.to(dtype)),
        gradOffset=Out(to_offsets.to(dtype)), gradBias=Out(to_bias.to(dtype)), **(common | dict(within=2 * WITHIN[dtype])),
    )


for dtype in [f32, f16, bf16]:
    convolution(dtype, 1, 4, 4, (6, 5), (2, 3), (2, 1), (1, 0), (1, 2), 2, 2, True)
    convolution(dtype, 2, 2, 2, (3, 4), (1, 1), (1, 1), (0, 0), (1, 1), 1, 2, False)
convolution(f32, 2, 4, 6, (5, 4), (3, 3), (1, 1), (1, 1), (1, 1), 1, 1, True)
convolution(f32, 1, 6, 3, (4, 4), (3, 2), (1, 2), (0, 1), (1, 1), 3, 2, True)
x, weight, offsets = noise(1, 4, 5, 5), noise(6, 2, 3, 3), noise(1, 27, 5, 5)
given = dict(
    x=x, weight=weight, offset=offsets, biasOptional=Null, kernelSize=[3, 3], stride=[1, 1, 1, 1], padding=[1, 1, 1, 1], dilation=[1, 1, 1, 1], groups=2, deformableGroups=1, modulated=True,
    out=Out(noise(1, 6, 5, 5), False), deformOutOptional=Null,
)
common = [
    ({"weight": Null}, 161001, "weight is a null"), ({"weight": weight.half()}, 161002, "weight has the type"), ({"offset": noise(1, 18, 5, 5)}, 161002, "offset has the shape"),
    ({"kernelSize": [3]}, 161002, "kernelSize is"), ({"stride": [1, 1]}, 161002, "stride is"), ({"stride": [2, 1, 1, 1]}, 161002, "stride is"), ({"padding": [1, 1]}, 161002, "padding is"),
    ({"dilation": [1, 1, 0, 1]}, 161002, "dilation is"), ({"groups": 3}, 161002, "groups is 3"), ({"groups": 0}, 161002, "groups is 0"), ({"deformableGroups": 3}, 161002, "deformableGroups 3"),
    ({"modulated": False}, 161002, "modulated is false"), ({"kernelSize": [64, 33]}, 161002, "at most 2048 taps"), ({"weight": weight[0]}, 161002, "weight"), ({"dilation": [1, 1, 4, 4]}, 161002, "padded image"),
]
for change, status, text in common + [
    ({"x": Null}, 161001, "x is a null"), ({"x": x.double()}, 161002, "x has the type"), ({"biasOptional": noise(5)}, 161002, "biasOptional has the shape"),
    ({"deformOutOptional": Out(noise(1, 4, 5, 5), False)}, 161002, "deformOutOptional has the shape"), ({"out": Out(noise(1, 6, 5, 4), False)}, 161002, "out has the shape"),
]:
    cases.add("aclnnDeformableConv2d", refuse=(status, text), **{**given, **change})
for name in ["x", "biasOptional", "out", "deformOutOptional"]:
    del given[name]
given |= dict(
    input=x, gradOutput=noise(1, 6, 5, 5), offsetOut=noise(1, 4, 15, 15), gradInput=Out(x, False), gradWeight=Out(weight, False), gradOffset=Out(offsets, False), gradBias=Out(noise(6), False),
)
for change, status, text in common + [
    ({"gradBias": Null}, 161001, "gradBias is a null"), ({"gradOutput": noise(1, 6, 5, 4)}, 161002, "gradOutput has the shape"), ({"offsetOut": noise(1, 4, 15, 14)}, 161002, "offsetOut has the shape"),
    ({"gradInput": Out(x.half(), False)}, 161002, "gradInput has the type"), ({"gradWeight": Out(x, False)}, 161002, "gradWeight has the shape"),
]:
    cases.add("aclnnDeformableConv2dBackward", refuse=(status, text), **{**given, **change})

# Rectangles. The number of them is a multiple of 1024, of which the first few differ.
for dtype, centred, mode in [(f32, False, "iou"), (f16, True, "iou"), (f32, True, "iof")]:
    sides = []
    for _ in range(2):
        corner, size = torch.randint(0, 16, (40, 2)) / 4, torch.randint(1, 17, (40, 2)) / 4
        sides.append(torch.cat([corner, corner + size], 1).repeat(26, 1)[:1024])
    # The last rectangles are equal.
    one, two = sides
    two[-8:] = one[-8:]
    area = lambda box: (box[:, 2] - box[:, 0]) * (box[:, 3] - box[:, 1])
    wide = [own.double() for own in sides]
    shared = (torch.minimum(wide[0][:, 2:], wide[1][:, 2:]) - torch.maximum(wide[0][:, :2], wide[1][:, :2])).clamp(min=0).prod(1)
    overlap = shared / (area(wide[1]) if mode == "iof" else area(wide[0]) + area(wide[1]) - shared)
    centres = [(own[:, :2] + own[:, 2:]) / 2 for own in wide]
    around = (torch.maximum(wide[0][:, 2:], wide[1][:, 2:]) - torch.minimum(wide[0][:, :2], wide[1][:, :2])).square().sum(1)
    angle = [((own[:, 2] - own[:, 0]) / (own[:, 3] - own[:, 1])).atan() for own in wide]
    aspect = 4 / torch.pi**2 * (angle[1] - angle[0]).square()
    share = torch.where(aspect == 0, 0, aspect / (1 - overlap + aspect))
    result = overlap - (centres[0] - centres[1]).square().sum(1) / around - share * aspect
    if mode == "iou":
        assert torch.allclose(result[:64], complete_box_iou(wide[0][:64], wide[1][:64]).diagonal(), atol=1e-6)
    given = [torch.cat([(own[:, :2] + own[:, 2:]) / 2, own[:, 2:] - own[:, :2]], 1) if centred else own for own in sides]
    cases.add(
        "aclnnCIoU", bBoxes=given[0].T.contiguous().to(dtype), gtBoxes=given[1].T.contiguous().to(dtype), trans=centred, isCross=False, mode=mode, overlap=Out(result[None].to(dtype)),
        atanSub=Out((angle[1] - angle[0])[None].to(dtype)), within={f32: 1e-5, f16: 3e-3}[dtype],
    )
boxes, out = torch.ones(4, 1024), Out(torch.zeros(1, 1024), False)
given = dict(bBoxes=boxes, gtBoxes=boxes, trans=False, isCross=False, mode="iou", overlap=out, atanSub=out)
for change, status, text in [
    ({"bBoxes": Null}, 161001, "bBoxes is a null"), ({"isCross": True}, 161002, "isCross is true"), ({"mode": "giou"}, 161002, "mode is"), ({"gtBoxes": boxes.half()}, 161002, "gtBoxes has the type"),
    ({"bBoxes": boxes[:, :1000], "gtBoxes": boxes[:, :1000]}, 161002, "a multiple of 1024"), ({"bBoxes": boxes[:3]}, 161002, "4 rows"), ({"overlap": Out(torch.zeros(2, 1024), False)}, 161002, "overlap has the shape"),
    ({"bBoxes": boxes.to(bf16)}, 161002, "bBoxes has the type"),
]:
    cases.add("aclnnCIoU", refuse=(status, text), **{**given, **change})
cases.write()
