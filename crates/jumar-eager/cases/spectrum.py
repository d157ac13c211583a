"""Makes spectrum.txt, the cases of short-time Fourier transforms: `python spectrum.py` in an environment with PyTorch."""

import torch

from cases import Cases, Null, Out

torch.manual_seed(33)
cases = Cases("spectrum")
f32, f64, c64, c128 = torch.float32, torch.float64, torch.complex64, torch.complex128


def noise(*shape, dtype=f32):
    if dtype.is_complex:
        return torch.complex(noise(*shape), noise(*shape)).to(dtype)
    return (torch.randint(-100, 101, shape) / 64).to(dtype)


WITHIN = {f32: 1e-5, c64: 1e-5}
# Shape, length of a frame, step, length of the window, whether it is given.
for shape, frame, step, covered, windowed in [
    ((9,), 4, 2, 4, True), ((2, 12), 5, 3, 5, False), ((12,), 8, 1, 5, True), ((3, 7), 7, 9, 4, False), ((6,), 1, 2, 1, True),
]:
    for dtype in (f32, f64, c64, c128):
        x = noise(*shape, dtype=dtype)
        part = f64 if dtype in (f64, c128) else f32
        window = noise(covered, dtype=part) if windowed else None
        wide = x.to(c128 if dtype.is_complex else f64)
        for onesided in (False, True):
            for normalized in (False, True):
                if onesided and dtype.is_complex:
                    continue
                y = torch.stft(wide, frame, step, covered, None if window is None else window.double(), False, normalized=normalized,
                               onesided=onesided, return_complex=True)
                given = dict(self=x, windowOptional=Null if window is None else window, nFft=frame, hopLength=step, winLength=covered,
                             normalized=normalized, onesided=onesided)
                as_complex = y.to(c64 if part == f32 else c128)
                cases.add("aclStft", out=Out(as_complex), returnComplex=True, within=WITHIN.get(dtype), **given)
                if not normalized:
                    cases.add("aclStft", out=Out(torch.view_as_real(as_complex)), returnComplex=False, within=WITHIN.get(dtype), **given)
x = noise(9)
y = torch.stft(x, 4, 2, center=False, return_complex=True)
given = dict(self=x, windowOptional=Null, out=Out(y, False), nFft=4, hopLength=2, winLength=4, normalized=False, onesided=True, returnComplex=True)
for change, text in [
    ({"nFft": 10}, "nFft is 10"), ({"hopLength": 0}, "hopLength 0"), ({"winLength": 5}, "winLength 5"), ({"windowOptional": noise(3)}, "windowOptional"),
    ({"self": noise(9, dtype=c64)}, "no onesided transform"), ({"self": noise(1, 1, 9)}, "1 or 2 dimensions"),
    ({"out": Out(y[1:], False)}, "out has the shape"), ({"out": Out(y.real, False)}, "out has the type"),
]:
    cases.add("aclStft", refuse=(161002, text), **{**given, **change})
cases.write()
