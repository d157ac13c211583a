"""Makes sampler.txt: `python sampler.py` in an environment with PyTorch."""

import torch

from cases import Cases, Out

torch.manual_seed(20)
cases = Cases("sampler")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
FLOATS = [f32, f16, bf16, f64]


def noise(*shape, dtype=f32):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64).to(dtype)


def exact(x):
    """The operand in float64, from which a gradient is taken and rounded once."""
    return x.double().detach().requires_grad_()


aten = torch.ops.aten
# Points of a grid.
for dtype in FLOATS:
    for space in [2, 3]:
        for mode in range(3 if space == 2 else 2):
            for padding in range(3):
                for aligned in [False, True]:
                    if dtype != f32 and ((mode + padding + aligned) % 3 or space == 3 and mode == 1):
                        continue
                    shape = (2, 2, 3, 4) if space == 2 else (1, 2, 2, 3, 4)
                    points = (3, 2) if space == 2 else (2, 2, 2)
                    x = noise(*shape, dtype=dtype)
                    # Thirds are no ties between entries, and lie inside and outside.
                    grid = (torch.randint(-40, 41, (shape[0], *points, space)) / 32 + 1 / 128).to(dtype)
                    ex, eg = exact(x), exact(grid)
                    function = aten.grid_sampler_2d if space == 2 else aten.grid_sampler_3d
                    y = function(ex, eg, mode, padding, aligned)
                    within = {f32: 2e-5, f64: 1e-11, f16: 4e-3}.get(dtype)
                    words = dict(input=x, grid=grid, interpolationMode=mode, paddingMode=padding, alignCorners=aligned, within=within)
                    cases.add(f"aclnnGridSampler{space}D", out=Out(y.detach().to(dtype)), **words)
                    gradient = noise(*y.shape, dtype=dtype)
                    to_x, to_grid = torch.autograd.grad(y, (ex, eg), gradient.double())
                    cases.add(f"aclnnGridSampler{space}DBackward", gradOutput=gradient, outputMask=[True, True], inputGrad=Out(to_x.to(dtype)),
                              gridGrad=Out(to_grid.to(dtype)), **words)
x, grid = noise(1, 2, 3, 3), noise(1, 2, 2, 2)
words = dict(input=x, grid=grid, alignCorners=False, out=Out(noise(1, 2, 2, 2), False))
cases.add("aclnnGridSampler2D", interpolationMode=3, paddingMode=0, refuse=(161002, "interpolationMode is 3"), **words)
cases.add("aclnnGridSampler2D", interpolationMode=0, paddingMode=-1, refuse=(161002, "paddingMode is -1"), **words)
cases.add("aclnnGridSampler2D", interpolationMode=0, paddingMode=0, refuse=(161002, "grid"), **{**words, "grid": noise(1, 2, 2, 3)})
cases.write()
