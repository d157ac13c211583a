"""Quantisation behind normalizations, activations and products with small matrices; computed with NumPy in float64."""

import math

import numpy as np
import torch
from cases import Cases, InOut, Null, Out
from layouts import packed
from minifloat import NUMBERS, coded, encode, in_blocks, is_clear, largest, rule_of

cases = Cases("behind")
torch.manual_seed(79)
f16, f32, bf16 = torch.float16, torch.float32, torch.bfloat16
i8, i32 = torch.int8, torch.int32
FOURS, EIGHTS = ["float4_e2m1", "float4_e1m2"], ["float8_e4m3fn", "float8_e5m2"]


def noise(*shape, dtype=f32):
    return (torch.randn(*shape) * 2).to(dtype)


def exact(values):
    return values.double().numpy()


def drawn(make):
    """Draws until the result is certain for a computation in float32. `make` returns a list of conditions, and the result."""
    for _ in range(2000):
        conditions, result = make()
        if all(conditions):
            return result
    raise AssertionError("no draw has a certain result")


def codes_of(name, values, clear):
    """Codes of a quantisation, and whether they are certain."""
    if name in ("int8", "int4"):
        top = 127 if name == "int8" else 7
        clear.append(bool((np.abs(values - np.floor(values) - 0.5) > 4e-6 * np.maximum(np.abs(values), 10)).all()))
        whole = np.clip(np.round(values), -top - 1, top).astype(np.int64)
        return torch.from_numpy(whole).to(i8) if name == "int8" else coded("int4", whole & 15)
    mode = "round" if name == "hifloat8" else "rint"
    clear.append(is_clear(name, values, mode))
    return coded(name, encode(name, values, mode))


# Root mean square normalization.
def rms(x, gamma, beta, epsilon):
    rstd = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon)
    return x * rstd * exact(gamma) + (0 if beta is None else exact(beta)), rstd


for name in FOURS + EIGHTS:
    for index, (shape, algorithm) in enumerate([((2, 40), 0), ((2, 2, 70), 0), ((3, 64), 1)]):
        if algorithm == 1 and name in FOURS:
            continue
        dtype = [f16, bf16][index % 2]
        for added in [False, True]:
            wanted = index % 2 == 0
            width = shape[-1]

            def make():
                x, other = noise(*shape, dtype=dtype), noise(*shape, dtype=dtype)
                gamma, beta = noise(width, dtype=f32 if wanted else dtype), noise(width, dtype=f32 if wanted else dtype) if added else None
                # The sum is formed in float32.
                total = exact(x.float() + other.float()) if added else exact(x)
                values, rstd = rms(total, gamma, beta, 1e-6)
                clear = []
                codes = in_blocks(name, values, -1, rule_of(name, algorithm), clear=clear)
                return clear, (x, other, gamma, beta, total, rstd, codes)

            x, other, gamma, beta, total, rstd, (y, scale) = drawn(make)
            given = dict(
                gamma=gamma, beta=Null if beta is None else beta, epsilon=1e-6, scaleAlg=algorithm, roundMode="rint", dstType=NUMBERS[name], outputRstd=wanted,
                yOut=Out(coded(name, y)), mxscaleOut=Out(coded("float8_e8m0", scale)), rstdOut=Out(torch.from_numpy(rstd).float(), wanted), dense=name in FOURS,
            )
            if added:
                cases.add("aclnnAddRmsNormDynamicMxQuant", x1=x, x2=other, xOut=Out(torch.from_numpy(total).to(dtype)), **given)
            else:
                cases.add("aclnnRmsNormDynamicMxQuant", x=x, **given)
# What the documents say of infinities: zeros with the scale 255.
x = noise(2, 32, dtype=bf16)
x[0, 3] = float("inf")
given.update(gamma=torch.ones(32, dtype=bf16), beta=Null, scaleAlg=0, dstType=36, outputRstd=True, dense=False)
y, scale = in_blocks("float8_e4m3fn", rms(exact(x), torch.ones(32), None, 1e-6)[0], -1, rule_of("float8_e4m3fn", 0))
assert scale[0, 0, 0] == 255 and not y[0].any()
given.update(yOut=Out(coded("float8_e4m3fn", y)), mxscaleOut=Out(coded("float8_e8m0", scale)), rstdOut=Out(torch.from_numpy(rms(exact(x), torch.ones(32), None, 1e-6)[1]).float()))
x[1], given["yOut"].values.codes[1], given["mxscaleOut"].values.codes[1], given["rstdOut"].values[1] = 0, 0, 0, 1000.0
given["mxscaleOut"].values.codes[1, 0] = 0
cases.add("aclnnRmsNormDynamicMxQuant", x=x, **given)
for operator, more in [("aclnnRmsNormDynamicMxQuant", dict(x=x)), ("aclnnAddRmsNormDynamicMxQuant", dict(x1=x, x2=x, xOut=Out(x)))]:
    for change, status, text in [
        ({"gamma": Null}, 161001, "gamma"), ({"scaleAlg": 2}, 161002, "scaleAlg is 2"), ({"dstType": 40}, 161002, "dstType is 40"), ({"roundMode": "floor"}, 161002, "roundMode"),
        ({"gamma": torch.ones(31)}, 161002, "gamma has the shape"), ({"mxscaleOut": Out(coded("float8_e8m0", scale[:1]))}, 161002, "mxscaleOut has the shape"),
        ({"rstdOut": Out(torch.zeros(3))}, 161002, "rstdOut has the shape"),
    ]:
        cases.add(operator, refuse=(status, text), **{**given, **more, **change})

for name in ["int8", "int4", "hifloat8"] + EIGHTS:
    for dtype in [f16, bf16, f32]:
        for divides, wanted in [(True, False), (False, True)]:

            def make():
                x, gamma, beta = noise(3, 6, dtype=dtype), noise(6, dtype=dtype), noise(6, dtype=dtype)
                scale, offset = (torch.rand(1) + 0.5).to(dtype), noise(1, dtype=dtype)
                values, rstd = rms(exact(x), gamma, beta, 1e-5)
                quotients = values / exact(scale) + exact(offset) if divides else values * exact(scale) + exact(offset)
                clear = []
                return clear, (x, gamma, beta, scale, offset, codes_of(name, quotients, clear), rstd)

            x, gamma, beta, scale, offset, y, rstd = drawn(make)
            cases.add(
                "aclnnRmsNormQuantV3", dense=name == "int4", x=x, gamma=gamma, scale=scale, offset=offset, beta=beta, epsilon=1e-5, divMode=divides, outputRstd=wanted, y=Out(y),
                rstd=Out(torch.from_numpy(rstd[..., 0]).float(), wanted),
            )
given = dict(
    x=x, gamma=gamma, scale=scale, offset=Null, beta=Null, epsilon=1e-5, divMode=True, outputRstd=True, y=Out(y), rstd=Out(torch.zeros(3)),
)
for change, status, text in [
    ({"scale": Null}, 161001, "scale"), ({"rstd": Out(torch.zeros(4))}, 161002, "rstd has the shape"), ({"y": Out(x)}, 161002, "y has the type"), ({"gamma": noise(5)}, 161002, "gamma has the shape"),
    ({"scale": torch.ones(1, dtype=i32)}, 161002, "scale has the type"),
]:
    cases.add("aclnnRmsNormQuantV3", refuse=(status, text), **{**given, **change})

for name in ["int8", "hifloat8"]:
    for dtype in [f16, bf16, f32]:
        for divides, shifted in [(True, True), (False, False)]:

            def make():
                dy, x, gamma = noise(4, 6, dtype=dtype), noise(4, 6, dtype=dtype), noise(6, dtype=dtype)
                rstd = torch.rand(4) + 0.5
                scale, offset = (torch.rand(1) + 0.25).to(dtype), torch.tensor([3], dtype=i32)
                root = rstd.double().numpy()[:, None]
                flow = exact(dy) * exact(gamma)
                dx = (flow - root * exact(x) * (flow * exact(x) * root).mean(-1, keepdims=True)) * root
                quotients = dx / exact(scale) if divides else dx * exact(scale)
                clear = []
                y = codes_of(name, quotients + (3 if shifted else 0), clear)
                return clear, (dy, x, gamma, rstd, scale, offset, y, (exact(dy) * exact(x) * root).sum(0))

            dy, x, gamma, rstd, scale, offset, y, to_gamma = drawn(make)
            cases.add(
                "aclnnRmsNormGradQuant", dy=dy, x=x, rstd=rstd, gamma=gamma, scalesX=scale, offsetXOptional=offset if shifted else Null, quantMode="static", divMode=divides,
                dxOut=Out(y), dgammaOut=Out(torch.from_numpy(to_gamma).float()), within=1e-5,
            )
given = dict(dy=dy, x=x, rstd=rstd, gamma=gamma, scalesX=scale, offsetXOptional=Null, quantMode="static", divMode=True, dxOut=Out(y), dgammaOut=Out(torch.zeros(6)))
for change, status, text in [
    ({"quantMode": "dynamic"}, 161002, "quantMode"), ({"scalesX": torch.ones(2)}, 161002, "scalesX has the shape"), ({"dxOut": Out(x)}, 161002, "dxOut has the type"),
    ({"offsetXOptional": torch.ones(1)}, 161002, "offsetXOptional has the type"), ({"x": Null}, 161001, "x is a null"), ({"dy": dy[0]}, 161002, "dy has 1 dimensions"),
]:
    cases.add("aclnnRmsNormGradQuant", refuse=(status, text), **{**given, **change})


# Activations.
def gelu(x, tanh):
    if tanh:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


for name in ["int8", "hifloat8"] + EIGHTS:
    for dtype in [f16, bf16, f32]:
        for tanh, dynamic, wide in [(False, False, True), (True, False, False), (True, True, True), (False, True, None)]:

            def make():
                # Far below zero the function is a difference of nearly equal numbers.
                x = noise(3, 6, dtype=dtype).clamp(min=-1.5)
                scale, offset = (torch.rand(6 if wide else 1) + 0.5).to(dtype), noise(6 if wide else 1, dtype=dtype)
                values, clear = gelu(exact(x), tanh), []
                if dynamic:
                    values = values * (1 if wide is None else exact(scale))
                    factor = np.abs(values).max(-1) / (127 if name == "int8" else largest(name))
                    values = values / factor[:, None]
                else:
                    factor, values = np.zeros(3), values * exact(scale) + exact(offset)
                return clear, (x, scale, offset, codes_of(name, values, clear), factor)

            x, scale, offset, y, factor = drawn(make)
            cases.add(
                "aclnnGeluQuant", self=x, inputScaleOptional=Null if wide is None else scale, inputOffsetOptional=Null if dynamic else offset, approximate="tanh" if tanh else "none",
                quantMode="dynamic" if dynamic else "static", roundMode="round" if name == "hifloat8" else "rint", dstType=NUMBERS[name], y=Out(y),
                outScaleOptional=Out(torch.from_numpy(factor).float()) if dynamic else Null, within=1e-5,
            )
given = dict(
    self=x, inputScaleOptional=scale, inputOffsetOptional=Null, approximate="none", quantMode="static", roundMode="rint", dstType=NUMBERS[name], y=Out(y), outScaleOptional=Null
)
for change, status, text in [
    ({"approximate": "erf"}, 161002, "approximate"), ({"quantMode": "other"}, 161002, "quantMode"), ({"roundMode": "hybrid"}, 161002, "roundMode"), ({"dstType": 2}, 161002, "dstType is 2"),
    ({"inputScaleOptional": Null}, 161001, "inputScaleOptional"), ({"quantMode": "dynamic"}, 161001, "outScaleOptional"), ({"inputScaleOptional": torch.ones(2)}, 161002, "inputScaleOptional has the shape"),
    ({"self": x.int()}, 161002, "self has the type"),
]:
    cases.add("aclnnGeluQuant", refuse=(status, text), **{**given, **change})

# Small matrices.
for dtype in [f16, bf16]:
    for clip in [1.0, 0.75]:

        def make():
            x, one, two = noise(2, 3, 8, dtype=dtype), noise(3, 3, dtype=dtype), noise(8, 8, dtype=dtype)
            product, clear = exact(one) @ (exact(x) @ exact(two)), []
            scale = np.abs(product).max((1, 2)) * clip / 7
            return clear, (x, one, two, codes_of("int4", product / scale[:, None, None], clear), scale)

        x, one, two, y, scale = drawn(make)
        signed = np.where(y.codes.numpy() > 7, y.codes.numpy() - 16, y.codes.numpy())
        for out in [y, packed(signed)]:
            given = dict(x=x, kroneckerP1=one, kroneckerP2=two, clipRatio=clip, out=Out(out), quantScale=Out(torch.from_numpy(scale).float()), within=1e-5)
            cases.add("aclnnFlatQuant", dense=True, **given)
            cases.add("aclnnFlatQuantV2", dense=True, dstTypeMax=0.0, **given)
    for limit in [0.0, 8.0]:

        def make():
            x, one, two = noise(2, 5, 14, dtype=dtype), noise(5, 5, dtype=dtype), noise(14, 14, dtype=dtype)
            product, clear = exact(one) @ (exact(x) @ exact(two)), []
            rule = rule_of("float4_e2m1", 2 if limit else 0, limit)
            return clear, (x, one, two, in_blocks("float4_e2m1", product.reshape(2, 70), -1, rule, clear=clear))

        x, one, two, (y, scale) = drawn(make)
        given = dict(x=x, kroneckerP1=one, kroneckerP2=two, clipRatio=1.0, out=Out(coded("float4_e2m1", y)), quantScale=Out(coded("float8_e8m0", scale)))
        cases.add("aclnnFlatQuantV2", dense=True, dstTypeMax=limit, **given)
    cases.add("aclnnFlatQuantV2", refuse=(161002, "dstTypeMax is 5"), **{**given, "dstTypeMax": 5.0})
for change, status, text in [
    ({"clipRatio": 0.0}, 161002, "clipRatio is 0"), ({"kroneckerP1": two}, 161002, "kroneckerP1 has the shape"), ({"kroneckerP2": Null}, 161001, "kroneckerP2"), ({"x": x[0]}, 161002, "x has 2 dimensions"),
    ({"kroneckerP1": one.float()}, 161002, "kroneckerP1 has the type"), ({"quantScale": Out(torch.zeros(2))}, 161002, "quantScale has the type"),
]:
    cases.add("aclnnFlatQuant", refuse=(status, text), **{**given, **change})

# Scales that are given, with results of 8 bits.
for name in ["hifloat8"] + EIGHTS:
    for dtype in [f16, bf16, f32]:

        def make():
            x, scale, offset, clear = noise(3, 6, dtype=dtype), (torch.rand(6) + 0.5).to(dtype), noise(6, dtype=dtype), []
            return clear, (x, scale, offset, codes_of(name, exact(x) * exact(scale) + exact(offset), clear))

        x, scale, offset, y = drawn(make)
        mode = "round" if name == "hifloat8" else "rint"
        given = dict(x=x, scale=scale, offset=offset, sqrtMode=False, roundMode=mode, dstType=NUMBERS[name], y=Out(y))
        cases.add("aclnnAscendQuant", **given)
        cases.add("aclnnAscendQuantV3", axis=-1, **given)
    cases.add("aclnnAscendQuant", refuse=(161002, "roundMode"), **{**given, "roundMode": "ceil"})

# Parts of rows times matrices.
for name in ["int8", "packed", "float4_e2m1"] + EIGHTS:
    for index, (shape, size, own, alpha) in enumerate([((3, 64), 16, False, None), ((2, 2, 96), 32, True, 0.75), ((64,), 64, False, 1.5)]):
        dtype = [f16, bf16][index % 2]
        by_rows = name in ("int8", "packed")
        if by_rows and len(shape) == 1:
            continue
        algorithm = index % 2 * 2 if name == "float4_e2m1" else 0 if by_rows else index % 2
        limit = 8.0 if algorithm == 2 else 0.0
        mode = ["rint", "round", "floor"][index] if name not in EIGHTS else "rint"

        def make():
            x = noise(*shape, dtype=dtype)
            matrix = noise(*((shape[-1] // size, size, size) if own else (size, size)), dtype=dtype)
            parts = exact(x).reshape(-1, shape[-1] // size, size)
            product = np.einsum("mpk,pkn->mpn" if own else "mpk,kn->mpn", parts, exact(matrix)).reshape(shape)
            if alpha is not None and alpha < 1:
                groups = product.reshape(-1, 32)
                top = alpha * np.abs(groups).max(-1, keepdims=True)
                product = groups.clip(-top, top).reshape(shape)
            clear = []
            if not by_rows:
                return clear, (x, matrix, in_blocks(name, product, -1, rule_of(name, algorithm, limit), mode, clear=clear))
            top = 127 if name == "int8" else 7
            scale = np.abs(product).max(-1) / top
            quotients = product / scale[..., None]
            edge = quotients - np.floor(quotients) - (0 if mode == "floor" else 0.5)
            clear.append(bool((np.minimum(np.abs(edge), 1 - np.abs(edge)) > 1e-4)[np.abs(quotients) < top - 0.01].all()))
            rounded = np.floor(quotients + 1e-6) if mode == "floor" else np.round(quotients)
            return clear, (x, matrix, (np.clip(rounded, -top - 1, top), scale))

        x, matrix, (y, scale) = drawn(make)
        if by_rows:
            if mode == "floor":
                continue
            y, scale = (torch.from_numpy(y).to(i8) if name == "int8" else packed(y)), torch.from_numpy(scale).float()
        else:
            y, scale = coded(name, y), coded("float8_e8m0", scale)
        given = dict(
            x=x, rotation=matrix, alpha=Null if alpha is None else torch.tensor([alpha], dtype=bf16), axis=-1, roundMode=mode, scaleAlg=algorithm, dstTypeMax=limit, trans=False,
            yOut=Out(y), scaleOut=Out(scale), within=1e-5,
        )
        cases.add("aclnnRotateQuant", dense=name in ("packed", "float4_e2m1"), **given)
for change, status, text in [
    ({"axis": -2}, 161002, "axis"), ({"trans": True}, 161002, "trans false"), ({"rotation": noise(5, 5, dtype=f16)}, 161002, "rotation"), ({"rotation": Null}, 161001, "rotation"),
    ({"roundMode": "floor"}, 161002, "roundMode"), ({"scaleAlg": 2}, 161002, "dstTypeMax is 0"), ({"alpha": torch.ones(1)}, 161002, "alpha has the type"),
]:
    cases.add("aclnnRotateQuant", refuse=(status, text), **{**given, **change})

# Written into a part of a tensor.
for name in ["int8", "hifloat8"] + EIGHTS:
    for index_type in [torch.int32, torch.int64]:
        for pairs in [False, True]:
            for dtype, scale_type, offset_type in [(bf16, bf16, bf16), (f16, f32, i32)]:

                def make():
                    updates, clear = noise(2, 3, 2, 5, dtype=dtype), []
                    scale, offset = (torch.rand(5) + 0.5).to(scale_type), torch.randint(-3, 4, (5,)).to(offset_type)
                    codes = codes_of(name, exact(updates) / exact(scale) + exact(offset), clear)
                    return clear, (updates, scale, offset, codes)

                updates, scale, offset, codes = drawn(make)
                before = torch.randint(-100, 100, (3, 3, 6, 5)).to(i8) if name == "int8" else coded(name, torch.randint(0, 100, (3, 3, 6, 5)).numpy())
                after = before.clone() if name == "int8" else coded(name, before.codes.numpy().copy())
                index = torch.tensor([[2, 1], [0, 4]] if pairs else [1, 4], dtype=index_type)
                for item, (entry, start) in enumerate([(2, 1), (0, 4)] if pairs else [(0, 1), (1, 4)]):
                    target, source = (after, codes) if name == "int8" else (after.codes, codes.codes)
                    target[entry, :, start : start + 2] = source[item]
                given = dict(
                    selfRef=InOut(before, after), indices=index, updates=updates, quantScales=scale, quantZeroPoints=offset, axis=-2, quantAxis=-1, reduction=1
                )
                cases.add("aclnnInplaceQuantScatterV2", roundMode="round" if name == "hifloat8" else "rint", **given)
                if name == "int8":
                    cases.add("aclnnInplaceQuantScatter", **given)
                    plain = given
for operator, more in [("aclnnInplaceQuantScatter", {}), ("aclnnInplaceQuantScatterV2", {"roundMode": "rint"})]:
    for change, status, text in [
        ({"axis": 0}, 161002, "axis is 0"), ({"quantAxis": 1}, 161002, "quantAxis is 1"), ({"reduction": 0}, 161002, "reduction 0"), ({"quantScales": torch.ones(4)}, 161002, "quantScales has the shape"),
        ({"updates": updates[0]}, 161002, "dimensions"), ({"indices": torch.tensor([1])}, 161002, "indices has the shape"), ({"indices": Null}, 161001, "indices"),
        ({"updates": updates.float()}, 161002, "updates has the type"),
    ]:
        cases.add(operator, refuse=(status, text), **{**plain, **more, **change})
cases.add("aclnnInplaceQuantScatterV2", refuse=(161002, "roundMode"), roundMode="round", **plain)
cases.write()
