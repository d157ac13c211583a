"""Every operation against NumPy in double precision, over its forms and types."""

import ctypes

import numpy
import pytest
import reference
from client import BF16, FLOAT, FLOAT16, INT8, INT32, ND, NZ, Function, Operation, absent, host, rounded

HALVES = [FLOAT16, BF16]
NAMES = {FLOAT16: "float16", BF16: "bfloat16", FLOAT: "float32"}
halves = pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)


def tolerance(dtype):
    return {FLOAT: 2e-6, FLOAT16: 1.5e-3, BF16: 1e-2}[dtype]


def close(found, wanted, dtype, scale=1.0):
    numpy.testing.assert_allclose(found, wanted, rtol=tolerance(dtype), atol=tolerance(dtype) * scale)


@pytest.fixture
def random():
    return numpy.random.default_rng(20)


@halves
@pytest.mark.parametrize("form", ["plain", "bias", "accumulates", "batch"])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)], ids=["nn", "tn", "nt", "tt"])
def test_linear(runtime, random, dtype, form, turned):
    m, k, n = 5, 19, 7
    x = rounded(random.standard_normal((3, m, k) if form == "batch" else (m, k)), dtype)
    weight = rounded(random.standard_normal((k, n)), dtype)
    wanted = x @ weight
    flip = lambda value, flag: numpy.swapaxes(value, -1, -2) if flag else value
    ins = [runtime.device(flip(x, turned[0]), dtype), runtime.device(flip(weight, turned[1]), dtype)]
    values = dict(transposeA=turned[0], transposeB=turned[1], hasBias=form == "bias", enAccum=form == "accumulates")
    if form == "bias":
        bias = rounded(random.standard_normal((1, n)), dtype)
        ins.append(runtime.device(bias, dtype))
        wanted = wanted + bias
    out = runtime.empty(dtype, wanted.shape)
    if form == "accumulates":
        before = rounded(random.standard_normal((m, n)), FLOAT)
        out = runtime.device(before, FLOAT)
        ins.append(out)
        wanted = wanted + before
    [found] = Operation("Linear", **values).run(runtime, ins, [out])
    close(found, wanted, FLOAT if form == "accumulates" else dtype, 8)


def test_linear_of_int8_with_scales_and_of_matrices_in_blocks(runtime, random):
    m, k, n = 4, 32, 64
    x, weight = random.integers(-9, 10, (m, k)).astype(numpy.int8), random.integers(-9, 10, (k, n)).astype(numpy.int8)
    scale, rows = random.uniform(0.01, 0.02, n).astype(numpy.float32), random.uniform(0.5, 2, m).astype(numpy.float32)
    bias = random.integers(-50, 50, (1, n)).astype(numpy.int32)
    sums = x.astype(numpy.float64) @ weight
    wide = scale.view(numpy.uint32).astype(numpy.uint64)
    for out, scales in [(FLOAT16, wide), (FLOAT16, wide.astype(numpy.int64)), (BF16, scale[None])]:
        ins = [runtime.device(x), runtime.device(weight), runtime.device(bias), runtime.device(scales)]
        made = Operation("Linear", transposeB=False, outDataType=out)
        [found] = made.run(runtime, ins, [runtime.empty(out, (m, n))])
        close(found, (sums + bias) * scale, out)
    ins = [runtime.device(x), runtime.device(weight), runtime.device(scale), runtime.device(rows)]
    made = Operation("Linear", transposeB=False, hasBias=False, outDataType=BF16, quantMode=2)
    [found] = made.run(runtime, ins, [runtime.empty(BF16, (m, n))])
    close(found, sums * scale * rows[:, None], BF16)
    # The same matrix in blocks of 32 columns.
    ins[1] = runtime.device(reference.blocks(weight, 32)[None], format=NZ)
    [found] = Operation("Linear", transposeB=False, hasBias=False, outDataType=BF16, quantMode=2).run(runtime, ins, [runtime.empty(BF16, (m, n))])
    close(found, sums * scale * rows[:, None], BF16)


def test_linear_for_each_entry_of_the_middle_dimension(runtime, random):
    x, weight = rounded(random.standard_normal((5, 3, 8)), FLOAT16), rounded(random.standard_normal((3, 8, 4)), FLOAT16)
    ins = [runtime.device(x, FLOAT16), runtime.device(weight, FLOAT16)]
    made = Operation("Linear", transposeB=False, hasBias=False, matmulType=1)
    [found] = made.run(runtime, ins, [runtime.empty(FLOAT16, (5, 3, 4))])
    close(found, numpy.einsum("mbk,bkn->mbn", x, weight), FLOAT16, 4)


UNARY = {3: numpy.cos, 4: numpy.sin, 5: numpy.negative, 20: numpy.tanh}
BINARY = {8: numpy.add, 9: numpy.multiply, 10: numpy.divide, 15: numpy.subtract}
TESTS = {13: numpy.less, 14: numpy.greater, 16: numpy.equal}


@pytest.mark.parametrize("dtype", [FLOAT16, BF16, FLOAT], ids=NAMES.get)
def test_elewise_of_real_numbers(runtime, random, dtype):
    x, other = rounded(random.standard_normal((3, 1, 9)), dtype), rounded(random.standard_normal((4, 9)) + 3, dtype)
    other[0] = x[0, 0]
    one, two = runtime.device(x, dtype), runtime.device(other, dtype)
    for kind, function in UNARY.items():
        [found] = Operation("Elewise", elewiseType=kind).run(runtime, [one], [runtime.empty(dtype, x.shape)])
        close(found, function(x), dtype)
    [found] = Operation("Elewise", elewiseType=2, varAttr=-1.75).run(runtime, [one], [runtime.empty(dtype, x.shape)])
    close(found, x * -1.75, dtype)
    for kind, function in BINARY.items():
        [found] = Operation("Elewise", elewiseType=kind).run(runtime, [one, two], [runtime.empty(dtype, (3, 4, 9))])
        close(found, function(x, other), dtype, 4)
    for kind, function in TESTS.items():
        [found] = Operation("Elewise", elewiseType=kind).run(runtime, [one, two], [runtime.empty(INT8, (3, 4, 9))])
        numpy.testing.assert_array_equal(found, function(x, other))
    for to in (FLOAT16, BF16, FLOAT):
        [found] = Operation("Elewise", elewiseType=1, outTensorType=to).run(runtime, [one], [runtime.empty(to, x.shape)])
        numpy.testing.assert_array_equal(found, rounded(x, to))


def test_elewise_of_integers_and_truths(runtime, random):
    one, two = random.integers(-5, 6, (4, 6)).astype(numpy.int32), random.integers(-5, 6, 6).astype(numpy.int32)
    ins = [runtime.device(one), runtime.device(two)]
    for kind, function in {8: numpy.add, 9: numpy.multiply, 15: numpy.subtract}.items():
        [found] = Operation("Elewise", elewiseType=kind).run(runtime, ins, [runtime.empty(INT32, (4, 6))])
        numpy.testing.assert_array_equal(found, function(one, two))
    truths = [(random.random((4, 6)) < 0.5).astype(numpy.int8) for _ in range(2)]
    ins = [runtime.device(value) for value in truths]
    for kind, function in {11: numpy.logical_and, 12: numpy.logical_or}.items():
        [found] = Operation("Elewise", elewiseType=kind).run(runtime, ins, [runtime.empty(INT8, (4, 6))])
        numpy.testing.assert_array_equal(found, function(*truths))
    [found] = Operation("Elewise", elewiseType=7).run(runtime, ins[:1], [runtime.empty(INT8, (4, 6))])
    numpy.testing.assert_array_equal(found, numpy.logical_not(truths[0]))


def test_elewise_quantises_and_back(runtime, random):
    x = rounded(random.standard_normal((16, 16)) * 9, FLOAT16)
    # Halves are rounded to even before an odd offset is added.
    x[0, :4] = [0.5, 1.5, -0.5, 100]
    scale = numpy.ones((16, 16))
    scale[1:] = rounded(random.uniform(0.05, 0.5, (15, 16)), FLOAT16)
    offset = random.integers(-5, 6, (16, 16)).astype(numpy.int8)
    offset[0] = 1
    with numpy.errstate(all="ignore"):
        quotient = (x.astype(numpy.float32) / scale.astype(numpy.float32)).round()
    ins = [runtime.device(x, FLOAT16), runtime.device(scale, FLOAT16), runtime.device(offset)]
    [found] = Operation("Elewise", elewiseType=17).run(runtime, ins, [runtime.empty(INT8, x.shape)])
    numpy.testing.assert_array_equal(found, numpy.clip(quotient + offset, -128, 127))
    # An absent offset is 0: without dimensions, or with an empty one.
    for none in (absent(), runtime_empty()):
        [found] = Operation("Elewise", elewiseType=17).run(runtime, [ins[0], ins[1], none], [runtime.empty(INT8, x.shape)])
        numpy.testing.assert_array_equal(found, numpy.clip(quotient, -128, 127))
    codes = random.integers(-128, 128, (4, 8)).astype(numpy.int8)
    back = [runtime.device(codes), runtime.device(scale[1:2, :8], FLOAT16), runtime.device(offset[1:2, :8])]
    [found] = Operation("Elewise", elewiseType=18).run(runtime, back, [runtime.empty(FLOAT16, codes.shape)])
    close(found, (codes - offset[1, :8].astype(float)) * scale[1, :8], FLOAT16)
    [found] = Operation("Elewise", elewiseType=6, inputScale=0.25, inputOffset=3).run(runtime, ins[:1], [runtime.empty(INT8, x.shape)])
    numpy.testing.assert_array_equal(found, numpy.clip((x / 0.25).round() + 3, -128, 127))
    found, scales = Operation("Elewise", elewiseType=19).run(runtime, ins[:1], [runtime.empty(INT8, x.shape), runtime.empty(FLOAT, (16,))])
    wanted = abs(x).max(-1) / 127
    numpy.testing.assert_allclose(scales, wanted, rtol=1e-6)
    assert abs(found * scales[:, None] - x).max() <= scales.max() * 0.501


def runtime_empty():
    from client import describe

    return describe(INT8, (0,))


@halves
def test_rms_norm_in_all_forms(runtime, random, dtype):
    n, epsilon = 24, 1e-3
    x, residual = (rounded(random.standard_normal((5, n)), dtype) for _ in range(2))
    gamma, beta, bias = (rounded(random.standard_normal(n), dtype) for _ in range(3))
    on = lambda value: runtime.device(value, dtype)
    rms = lambda value: numpy.sqrt((value**2).mean(-1, keepdims=True) + epsilon)
    out = lambda: runtime.empty(dtype, x.shape)
    [found] = Operation("RmsNorm", layerType=1, epsilon=epsilon).run(runtime, [on(x), on(gamma[None])], [out()])
    close(found, x / rms(x) * gamma, dtype, 2)
    [found] = Operation("RmsNorm", layerType=1, epsilon=epsilon, modelType=1).run(runtime, [on(x), on(gamma)], [out()])
    close(found, x / rms(x) * (1 + gamma), dtype, 2)
    found, rstd = Operation("RmsNorm", layerType=1, epsilon=epsilon, rstd=True).run(runtime, [on(x), on(gamma)], [out(), runtime.empty(FLOAT, (5, 1))])
    close(found, x / rms(x) * gamma, dtype, 2)
    close(rstd, 1 / rms(x), FLOAT)
    for has in (False, True):
        s = x + residual + (bias if has else 0)
        ins = [on(x), on(residual), *([on(bias)] if has else []), on(gamma)]
        found, total = Operation("RmsNorm", layerType=2, **{"pre.epsilon": epsilon, "pre.hasBias": has}).run(runtime, ins, [out(), out()])
        close(found, s / rms(s) * gamma, dtype, 2)
        close(total, s, dtype, 2)
        [found] = Operation("RmsNorm", layerType=3, **{"post.epsilon": epsilon, "post.hasBias": has}).run(runtime, ins, [out()])
        close(found, s / rms(s) * gamma, dtype, 2)
    scale = rounded(numpy.array([0.05]), dtype)
    y = x / rms(x) * gamma + beta
    ins = [on(x), on(gamma), on(beta), on(scale), runtime.device(numpy.array([3], numpy.int8))]
    [found] = Operation("RmsNorm", layerType=1, epsilon=epsilon, quantType=2).run(runtime, ins, [runtime.empty(INT8, x.shape)])
    wanted = numpy.clip((y / scale + 3).round(), -128, 127)
    assert abs(found - wanted).max() <= 1 and (found != wanted).mean() < 0.02
    made = Operation("RmsNorm", layerType=1, epsilon=epsilon, quantType=2, dynamicQuantType=1)
    found, scales = made.run(runtime, ins[:3], [runtime.empty(INT8, x.shape), runtime.empty(FLOAT, (5,))])
    numpy.testing.assert_allclose(scales, abs(y).max(-1) / 127, rtol=1e-5)
    assert abs(found * scales[:, None] - y).max() <= scales.max() * 0.51


@halves
@pytest.mark.parametrize("groups, k, flag, n", [(4, 2, 0, 1), (8, 3, 1, 2), (2, 1, 1, 8), (1, 1, 0, 1)])
def test_group_topk_sets_other_groups_to_zero_in_place(runtime, random, dtype, groups, k, flag, n):
    x = rounded(random.standard_normal((6, 16)), dtype)
    x[0] = 1.0
    size = 16 // groups
    wanted = numpy.zeros_like(x)
    for row, to in zip(x, wanted):
        parts = numpy.sort(row.reshape(groups, size), -1)[:, ::-1]
        scores = parts[:, :n].sum(-1) if flag else parts[:, 0]
        for group in sorted(range(groups), key=lambda own: (-scores[own], own))[:k]:
            to[group * size : (group + 1) * size] = row[group * size : (group + 1) * size]
    tensor = runtime.device(x, dtype)
    ins = [tensor, runtime.device(numpy.arange(1024, dtype=numpy.int32))]
    [found] = Operation("GroupTopk", groupNum=groups, k=k, groupMultiFlag=flag, n=n).run(runtime, ins, [tensor])
    numpy.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("normalised", [False, True])
def test_fused_add_topk_div(runtime, random, mapped, normalised):
    rows, experts, groups, kept, n, k = 5, 16, 4, 2, 2, 3
    x, add = rounded(random.standard_normal((rows, experts)), FLOAT), rounded(random.standard_normal(experts) / 4, FLOAT)
    s = 1 / (1 + numpy.exp(-x))
    c = s + add
    weights, indices = numpy.zeros((rows, k)), numpy.zeros((rows, k), int)
    for row in range(rows):
        parts = numpy.sort(c[row].reshape(groups, -1), -1)[:, ::-1][:, :n].sum(-1)
        best = sorted(range(groups), key=lambda own: (-parts[own], own))[:kept]
        inside = [e for e in range(experts) if e // (experts // groups) in best]
        chosen = sorted(inside, key=lambda e: (-c[row, e], e))[:k]
        indices[row], weights[row] = chosen, s[row, chosen]
    if normalised:
        weights /= weights.sum(-1, keepdims=True)
    copies = random.integers(1, 4, experts).astype(numpy.int32)
    table = random.integers(0, 99, (experts, 3)).astype(numpy.int32)
    maps = [runtime.device(copies), runtime.device(table)] if mapped else [None, None]
    y, chosen = runtime.empty(FLOAT, (rows, k)), runtime.empty(INT32, (rows, k))
    u = ctypes.c_uint32
    function = Function("AtbFusedAddTopkDiv")
    call = lambda: function(
        runtime, runtime.device(x, FLOAT), runtime.device(add, FLOAT), *maps, u(groups), u(kept), u(n), u(k), ctypes.c_int(8), ctypes.c_bool(normalised),
        ctypes.c_float(2.5), ctypes.c_bool(mapped), y, chosen,
    )
    call()
    first = function.operation.value
    call()
    assert function.operation.value == first
    close(runtime.read(y), weights * 2.5, FLOAT, 8)
    found = runtime.read(chosen)
    if not mapped:
        numpy.testing.assert_array_equal(found, indices)
    else:
        assert all(found[r, j] in table[e, : copies[e]] for r in range(rows) for j, e in enumerate(indices[r]))
    function.destroy()


@pytest.mark.parametrize("dtype", [FLOAT16, BF16, INT8])
@pytest.mark.parametrize("layout", ["both", "key", "blocks"])
def test_reshape_and_cache_writes_rows_and_nothing_else(runtime, random, dtype, layout):
    count, size, heads, widths = 5, 16, 2, (32, 64)
    slots = numpy.array([3, 79, -1, 0, 17, 16], numpy.int32)
    values = lambda dims, kind: random.integers(-100, 100, dims).astype(numpy.int8) if kind == INT8 else rounded(random.standard_normal(dims), kind)
    ins, outs, wanted = [], [], []
    # In blocks the types of keys and values may differ.
    kinds = (dtype, BF16 if layout == "blocks" else dtype)
    names = 1 if layout == "key" else 2
    rows = [values((6, heads, widths[i]), kinds[i]) for i in range(names)]
    for i in range(names):
        inner = 32 if kinds[i] == INT8 else 16
        cache = values((count, size, heads, widths[i]), kinds[i])
        after = cache.copy()
        for row, slot in zip(rows[i], slots):
            if slot >= 0:
                after[slot // size, slot % size] = row
        arrange = lambda value: reference.blocks(value.reshape(count, size, -1), inner) if layout == "blocks" else value
        outs.append(runtime.device(arrange(cache), kinds[i], format=NZ if layout == "blocks" else ND))
        wanted.append(arrange(after))
        ins.append(runtime.device(rows[i], kinds[i]))
    made = Operation("ReshapeAndCache", kvCacheCfg={"both": 0, "key": 1, "blocks": 2}[layout])
    found = made.run(runtime, [*ins, *outs, runtime.device(slots)], outs)
    for one, other in zip(found, wanted):
        numpy.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [FLOAT16, INT8])
@pytest.mark.parametrize("form", ["lengths", "cumulative", "starts", "blocks"])
def test_paged_cache_load(runtime, random, dtype, form):
    count, size, heads, widths = 7, 16, 1, (64, 32)
    lengths, starts = numpy.array([20, 0, 33]), numpy.array([16, 0, 3])
    table = random.permutation(count)[:7].astype(numpy.int32)
    table = numpy.stack([table[:4], table[1:5], table[3:]]).astype(numpy.int32)
    given = numpy.concatenate([[0], lengths.cumsum()]) if form == "cumulative" else lengths
    begin = starts if form == "starts" else 0 * starts
    values = lambda dims: random.integers(-100, 100, dims).astype(numpy.int8) if dtype == INT8 else rounded(random.standard_normal(dims), dtype)
    caches = [values((count, size, heads, width)) for width in widths]
    tensors, outs, wanted = [], [], []
    for cache, width in zip(caches, widths):
        rows = [cache[table[b, p // size], p % size] for b in range(3) for p in range(begin[b], begin[b] + lengths[b])]
        wanted.append(numpy.stack(rows))
        inner = 32 if dtype == INT8 else 16
        held = reference.blocks(cache.reshape(count, size, -1), inner) if form == "blocks" else cache
        tensors.append(runtime.device(held, dtype, format=NZ if form == "blocks" else ND))
        outs.append(runtime.empty(dtype, (int(lengths.sum()), heads, width)))
    function = Function("AtbPagedCacheLoad")
    function(
        runtime, *tensors, runtime.device(table), runtime.device(given.astype(numpy.int32)), *outs,
        runtime.device(starts.astype(numpy.int32)) if form == "starts" else None,
        ctypes.c_int8(form != "blocks"), ctypes.c_bool(form == "cumulative"), ctypes.c_bool(form == "starts"),
    )
    for out, rows in zip(outs, wanted):
        numpy.testing.assert_array_equal(runtime.read(out), rows)
    function.destroy()


@halves
@pytest.mark.parametrize("kind", [2, 4, 16])
@pytest.mark.parametrize("wide", [False, True], ids=["tables as x", "tables float32"])
def test_rope_in_place(runtime, random, dtype, kind, wide):
    tokens, width = 5, 16
    query, key = (rounded(random.standard_normal((tokens, heads, width)), dtype) for heads in (4, 2))
    table = FLOAT if wide else dtype
    cos, sin = (rounded(random.uniform(-1, 1, (tokens, width)), table) for _ in range(2))
    ins = [runtime.device(one.reshape(tokens, -1), dtype) for one in (query, key)]
    tables = [runtime.device(one, table) for one in (cos, sin)]
    lengths = runtime.device(numpy.array([tokens], numpy.int32))
    found = Operation("Rope", rotaryCoeff=kind).run(runtime, [*ins, *tables, lengths], ins)
    for one, x in zip(found, (query, key)):
        close(one.reshape(x.shape), reference.rotate(x, cos, sin, kind), dtype, 2)


def cache_of(random, count, size, heads, width, dtype):
    return rounded(random.standard_normal((count, size, heads, width)), dtype)


@halves
@pytest.mark.parametrize("form", ["plain", "alibi", "alibi of each sequence", "columns", "rows", "causal", "latent", "int8"])
def test_paged_attention(runtime, random, dtype, form):
    heads, key_heads, width, value_width, size, count = 4, 2, 24, 16, 16, 9
    lengths = [1, 16, 0, 37]
    rows = [2, 3, 1, 4] if form in ("rows", "causal") else [1] * 4
    lengths = [max(one, own) if form == "causal" else one for one, own in zip(lengths, rows)]
    tokens = sum(rows)
    if form == "latent":
        key_heads = 1
    query = rounded(random.standard_normal((tokens, heads, width)), dtype)
    keys = cache_of(random, count, size, key_heads, width, dtype)
    values = keys[..., :value_width] if form == "latent" else cache_of(random, count, size, key_heads, value_width, dtype)
    table = random.integers(0, count, (4, 3)).astype(numpy.int32)
    scale, longest = 0.31, 48
    caches, more, values_of = [runtime.device(keys, dtype)], [], dict(headNum=heads, kvHeadNum=key_heads, qkScale=scale)
    if form != "latent":
        caches.append(runtime.device(values, dtype))
    adjust = lambda sequence, first: lambda scores, head, row: scores
    visible = lambda sequence: lambda row: None
    if form in ("alibi", "alibi of each sequence"):
        mask = rounded(random.standard_normal((heads, 1, longest) if form == "alibi" else (4, heads, 1, longest)), dtype)
        of = lambda sequence: mask if form == "alibi" else mask[sequence]
        adjust = lambda sequence, first: lambda scores, head, row: scores + of(sequence)[head, 0, : len(scores)]
        more, values_of = [runtime.device(mask, dtype)], {**values_of, "maskType": 2}
    elif form == "columns":
        mask = rounded(numpy.where(random.random((4, 1, longest)) < 0.3, -1e4, 0.0), dtype)
        adjust = lambda sequence, first: lambda scores, head, row: scores + mask[sequence, 0, : len(scores)]
        more, values_of = [runtime.device(mask, dtype)], {**values_of, "maskType": 1}
    elif form == "rows":
        mask = rounded(numpy.where(random.random((tokens, longest)) < 0.3, -1e4, 0.0), dtype)
        adjust = lambda sequence, first: lambda scores, head, row: scores + mask[first + row, : len(scores)]
        more, values_of = [runtime.device(mask, dtype), host(rows)], {**values_of, "maskType": 3, "calcType": 1}
    elif form == "causal":
        mask = numpy.triu(numpy.full((64, 64), -10000.0), 1)
        visible = lambda sequence: lambda row: lengths[sequence] - rows[sequence] + row + 1
        more, values_of = [runtime.device(mask, FLOAT16), host(rows)], {**values_of, "maskType": 5, "calcType": 1}
    elif form == "latent":
        values_of["mlaVHeadSize"] = value_width
    elif form == "int8":
        codes = [random.integers(-127, 128, cache.shape).astype(numpy.int8) for cache in (keys, values)]
        factors = [random.uniform(0.005, 0.02, cache.shape[2:]).astype(numpy.float32) for cache in (keys, values)]
        keys, values = (code * factor.astype(float) for code, factor in zip(codes, factors))
        caches = [runtime.device(code) for code in codes]
        wide = factors[0].reshape(-1).view(numpy.uint32).astype(numpy.int64)
        more, values_of = [runtime.device(wide), runtime.device(factors[1].reshape(-1))], {**values_of, "quantType": 1}
    wanted, first = [], 0
    for sequence, (length, own) in enumerate(zip(lengths, rows)):
        parts = [reference.gathered(cache, table[sequence], length) for cache in (keys, values)]
        wanted.append(reference.attention(query[first : first + own], *parts, scale, adjust(sequence, first), visible(sequence)))
        first += own
    ins = [runtime.device(query, dtype), *caches, runtime.device(table), host(lengths), *more]
    [found] = Operation("PagedAttention", **values_of).run(runtime, ins, [runtime.empty(dtype, (tokens, heads, value_width))])
    close(found, numpy.concatenate(wanted), dtype, 2)


@halves
@pytest.mark.parametrize("form", ["plain", "norm", "norm of each sequence", "alibi", "causal", "clamped", "two lengths", "flat"])
def test_attention_of_joined_sequences(runtime, random, dtype, form):
    heads, key_heads, width = 4, 2, 16
    rows = [3, 1, 6]
    columns = [5, 2, 4] if form == "two lengths" else rows
    query = rounded(random.standard_normal((sum(rows), heads, width)), dtype)
    keys, values = (rounded(random.standard_normal((sum(columns), key_heads, width)), dtype) for _ in range(2))
    values_of, more = dict(headNum=heads, kvHeadNum=key_heads, qkScale=0.5, qScale=0.5, calcType=3), []
    adjust, visible, size = lambda sequence: lambda scores, head, row: scores, lambda row: None, 8
    if form.startswith("norm"):
        hidden = random.random((3, size, size) if "each" in form else (size, size)) < 0.3
        hidden[..., 0] = False
        mask = numpy.where(hidden, 1.0 if dtype == BF16 else -numpy.inf, 0.0)
        of = lambda sequence: hidden[sequence] if "each" in form else hidden
        adjust = lambda sequence: lambda scores, head, row: numpy.where(of(sequence)[row, : len(scores)], -numpy.inf, scores)
        more, values_of = [runtime.device(mask, dtype)], {**values_of, "maskType": 1}
    elif form == "alibi":
        mask = rounded(random.standard_normal((heads, size, size)), dtype)
        adjust = lambda sequence: lambda scores, head, row: scores + mask[head, row, : len(scores)]
        more, values_of = [runtime.device(mask, dtype)], {**values_of, "maskType": 2}
    elif form == "causal":
        visible = lambda row: row + 1
        more, values_of = [runtime.device(numpy.triu(numpy.ones((128, 128)), 1), dtype)], {**values_of, "maskType": 3, "isTriuMask": 1}
    elif form == "clamped":
        adjust = lambda sequence: lambda scores, head, row: numpy.clip(scores, -0.5, 0.25)
        values_of = {**values_of, "clampType": 1, "clampMin": -0.5, "clampMax": 0.25}
    wanted, first, start = [], 0, 0
    for sequence, (own, count) in enumerate(zip(rows, columns)):
        part = slice(start, start + count)
        wanted.append(reference.attention(query[first : first + own], keys[part], values[part], 0.25, adjust(sequence), visible))
        first, start = first + own, start + count
    shaped = (lambda value: value.reshape(len(value), -1)) if form == "flat" else lambda value: value
    lengths = host([rows, columns] if form == "two lengths" else rows)
    ins = [*(runtime.device(shaped(value), dtype) for value in (query, keys, values)), *more, lengths]
    wanted = numpy.concatenate(wanted)
    [found] = Operation("SelfAttention", **values_of).run(runtime, ins, [runtime.empty(dtype, shaped(wanted).shape)])
    close(found.reshape(wanted.shape), wanted, dtype, 2)


@halves
@pytest.mark.parametrize("mask", [3, 9])
def test_attention_of_sequences_with_a_prefix_in_the_cache(runtime, random, dtype, mask):
    heads, key_heads, width, size, count = 4, 2, 16, 16, 6
    rows, lengths = [4, 1, 5], [20, 17, 5]
    query = rounded(random.standard_normal((10, heads, width)), dtype)
    keys, values = (cache_of(random, count, size, key_heads, width, dtype) for _ in range(2))
    table = random.integers(0, count, (3, 2)).astype(numpy.int32)
    wanted, first = [], 0
    for sequence, (own, length) in enumerate(zip(rows, lengths)):
        parts = [reference.gathered(cache, table[sequence], length) for cache in (keys, values)]
        wanted.append(reference.attention(query[first : first + own], *parts, 0.3, visible=lambda row: length - own + row + 1))
        first += own
    wanted = numpy.concatenate(wanted)
    triangle = runtime.device(numpy.triu(numpy.ones((128, 128)), 1), dtype)
    tensors = [runtime.device(query, dtype), runtime.device(keys, dtype), runtime.device(values, dtype), runtime.device(table)]
    own, of_keys = host(rows), host(lengths)
    out = runtime.empty(dtype, wanted.shape)
    ins = [*tensors, *([triangle] if mask == 3 else []), own, of_keys]
    made = Operation("SelfAttention", headNum=heads, kvHeadNum=key_heads, qkScale=0.3, calcType=4, maskType=mask)
    [found] = made.run(runtime, ins, [out])
    close(found, wanted, dtype, 2)
    out = runtime.empty(dtype, wanted.shape)
    function = Function("AtbSelfAttentionPrefixEncoder")
    function(
        runtime, *tensors, triangle if mask == 3 else None, own, of_keys, None, ctypes.c_int(mask), ctypes.c_int32(heads), ctypes.c_int32(key_heads),
        ctypes.c_float(0.3), out,
    )
    close(runtime.read(out), wanted, dtype, 2)
    function.destroy()


@halves
@pytest.mark.parametrize("causal", [False, True])
def test_ring_attention_joins_the_results_of_parts(runtime, random, dtype, causal):
    heads, nope, rope = 2, 32, 16
    rows, columns = [3, 4], [6, 4]
    tokens, all_keys = sum(rows), sum(columns)
    make = lambda *dims: rounded(random.standard_normal(dims), dtype)
    query, query_rope = make(tokens, heads, nope), make(tokens, heads, rope)
    keys, key_rope, values = make(all_keys, heads, nope), make(all_keys, heads, rope), make(all_keys, heads, nope)
    earlier, log = make(tokens, heads, nope), rounded(random.standard_normal((heads, tokens)), FLOAT)
    out, sums = numpy.zeros((tokens, heads, nope)), numpy.zeros((heads, tokens))
    first, start = 0, 0
    for own, count in zip(rows, columns):
        for row in range(own):
            seen = count - own + row + 1 if causal else count
            for head in range(heads):
                scores = keys[start : start + seen, head] @ query[first + row, head] + key_rope[start : start + seen, head] @ query_rope[first + row, head]
                scores *= 0.2
                sums[head, first + row] = numpy.log(numpy.exp(scores).sum())
                out[first + row, head] = reference.softmax(scores) @ values[start : start + seen, head]
        first, start = first + own, start + count
    tensors = [runtime.device(one, dtype) for one in (query, query_rope, keys, key_rope, values)]
    mask = runtime.device(numpy.triu(numpy.ones((512, 512)), 1), dtype) if causal else None
    lengths = host([rows, columns])
    i32, number = ctypes.c_int32, ctypes.c_int
    for calc in (1, 0):
        target, target_log = runtime.device(earlier, dtype), runtime.device(log, FLOAT)
        function = Function("AtbRingMLA")
        function(
            runtime, *tensors, mask, lengths, *([None, None] if calc else [target, target_log]), i32(heads), i32(heads), ctypes.c_float(0.2), number(1),
            number(causal), number(0), number(calc), target, target_log,
        )
        wanted, wanted_log = out, sums
        if calc == 0:
            # Results are written where those of the earlier parts lie.
            wanted_log = numpy.log(numpy.exp(log) + numpy.exp(sums))
            share = lambda own: numpy.exp(own - wanted_log).T[..., None]
            wanted = earlier * share(log) + out * share(sums)
        close(runtime.read(target), wanted, dtype, 2)
        close(runtime.read(target_log), wanted_log, FLOAT, 4)
        function.destroy()


@halves
@pytest.mark.parametrize("form", ["plain", "rows", "log", "blocks"])
def test_latent_attention_over_a_cache(runtime, random, dtype, form):
    heads, width, rope, size, count = 8, 32, 16, 16, 5
    lengths, rows = [7, 30, 16], [2, 1, 3] if form == "rows" else [1, 1, 1]
    tokens = sum(rows)
    make = lambda *dims: rounded(random.standard_normal(dims), dtype)
    query, query_rope = make(tokens, heads, width), make(tokens, heads, rope)
    latent, key_rope = make(count, size, 1, width), make(count, size, 1, rope)
    table = random.integers(0, count, (3, 2)).astype(numpy.int32)
    mask = rounded(numpy.where(random.random((tokens, 32)) < 0.3, -1e4, 0.0), dtype)
    joined, caches, first, wanted = numpy.concatenate([query, query_rope], -1), numpy.concatenate([latent, key_rope], -1), 0, []
    sums = numpy.zeros((tokens, heads, 1))
    for sequence, (own, length) in enumerate(zip(rows, lengths)):
        keys = reference.gathered(caches, table[sequence], length)
        base = first
        adjust = lambda scores, head, row: scores + mask[base + row, : len(scores)] if form == "rows" else scores
        wanted.append(reference.attention(joined[first : first + own], keys, keys[..., :width], 0.2, adjust))
        scores = 0.2 * numpy.einsum("thd,cd->thc", joined[first : first + own], keys[:, 0])
        sums[first : first + own, :, 0] = numpy.log(numpy.exp(scores).sum(-1))
        first += own
    arrange = lambda cache: reference.blocks(cache.reshape(count, size, -1), 16) if form == "blocks" else cache
    tensors = [runtime.device(query, dtype), runtime.device(query_rope, dtype)]
    tensors += [runtime.device(arrange(cache), dtype, format=NZ if form == "blocks" else ND) for cache in (latent, key_rope)]
    out, log = runtime.empty(dtype, (tokens, heads, width)), runtime.empty(dtype, (tokens, heads, 1))
    own, of_rows = host(lengths), host(rows)
    function = Function("AtbMLA")
    function(
        runtime, *tensors, runtime.device(table), own, runtime.device(mask, dtype) if form == "rows" else None, of_rows if form == "rows" else None, None, None,
        ctypes.c_int32(heads), ctypes.c_float(0.2), ctypes.c_int32(1), ctypes.c_int(form == "rows"), ctypes.c_int({"rows": 1, "log": 2}.get(form, 0)),
        ctypes.c_uint8(3 if form == "blocks" else 1), out, log if form == "log" else None,
    )
    close(runtime.read(out), numpy.concatenate(wanted), dtype, 2)
    if form == "log":
        close(runtime.read(log), sums, dtype, 2)
    function.destroy()


@halves
@pytest.mark.parametrize("turned", [(True, False), (False, False), (True, True)])
def test_grouped_products_are_added_in_place(runtime, random, dtype, turned):
    m, n, ends = 3, 5, [4, 4, 11]
    x, weight = rounded(random.standard_normal((m, 11)), dtype), rounded(random.standard_normal((11, n)), dtype)
    before = rounded(random.standard_normal((3 * m, n)), FLOAT)
    wanted, start = before.copy(), 0
    for group, end in enumerate(ends):
        wanted[group * m : (group + 1) * m] += x[:, start:end] @ weight[start:end]
        start = end
    flip = lambda value, flag: value.T if flag else value
    out = runtime.device(before, FLOAT)
    ins = [runtime.device(flip(x, turned[0]), dtype), runtime.device(flip(weight, turned[1]), dtype), runtime.device(numpy.array(ends, numpy.int64)), out]
    [found] = Operation("GroupedMatmulInplaceAdd", transposeA=turned[0], transposeB=turned[1]).run(runtime, ins, [out])
    close(found, wanted, FLOAT, 8)
