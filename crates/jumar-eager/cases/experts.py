"""Makes experts.txt: `python experts.py` in an environment with PyTorch. Tokens of experts, and the networks of these, in float64."""

import numpy as np
import torch
import torch.nn.functional as functional

from cases import Cases, Coded, Null, Out
from layouts import integers

torch.manual_seed(71)
cases = Cases("experts")
f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
i8, i32, i64 = torch.int8, torch.int32, torch.int64
FLOATS = [f32, f16, bf16]


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def certain(values):
    """Whether rounding does not hang on the last bits of a computation in float32."""
    values = np.asarray(values)
    return bool((np.abs(values - np.floor(values) - 0.5) > 4e-6 * np.maximum(np.abs(values), 5)).all())


def drawn(make):
    """Draws until the result is certain for a computation in float32. `make` returns whether it is, and the result."""
    for _ in range(2000):
        sure, result = make()
        if sure:
            return result
    raise AssertionError("no draw has a certain result")


def fours(values):
    """Int4 as bit patterns."""
    return Coded("int4", torch.as_tensor(values).long() & 15)


def rounded(values, most):
    return torch.from_numpy(np.clip(np.round(values), -most - 1, most)).to(i8)


# Rows in the order of experts, quantised.
tokens, each, experts, width = 5, 2, 4, 8
for dtype in FLOATS:
    chosen = torch.stack([torch.randperm(experts)[:each] for _ in range(tokens)]).to(i32)
    flat = chosen.flatten()
    order = torch.argsort(flat, stable=True)
    inverse = torch.argsort(order)
    counts = torch.bincount(flat, minlength=experts)
    # The assignment of each row of experts with space for two, and the row of each assignment.
    slots, positions, used = [None] * (2 * experts), [-1] * (tokens * each), [0] * experts
    for assignment in order.tolist():
        expert = int(flat[assignment])
        if used[expert] < 2:
            positions[assignment] = 2 * expert + used[expert]
            slots[positions[assignment]] = assignment
        used[expert] += 1
    layouts = [(False, 0, order.tolist(), inverse.tolist()), (False, 7, order.tolist()[:7], inverse.tolist()), (True, 0, slots, positions)]
    for padded, active, rows, index in layouts:
        for mode, scaled, bits in [(0, None, 8), (1, None, 8), (1, 1, 8), (1, experts, 8), (0, None, 4), (1, 1, 4)]:
            if padded and bits == 4:
                continue

            def make():
                x = noise(tokens, width, dtype=dtype)
                scale = torch.rand(*((1,) if mode == 0 else (scaled or 1, width))) * 8 + 1
                offset = torch.randn(1)
                most = 127 if bits == 8 else 7
                values, scales = np.zeros((len(rows), width)), np.zeros(len(rows))
                for slot, assignment in enumerate(rows):
                    if assignment is None:
                        continue
                    line = x[assignment // each].double().numpy()
                    if mode == 0:
                        values[slot] = line * scale.item() + offset.item()
                        continue
                    if scaled:
                        line = line * scale.double().numpy()[int(flat[assignment]) if scaled > 1 else 0]
                    scales[slot] = np.abs(line).max() / most
                    values[slot] = line / scales[slot]
                return certain(values), (x, scale, offset, rounded(values, most), torch.from_numpy(scales).float())

            x, scale, offset, y, scales = drawn(make)
            out = y.reshape(experts, 2, width) if padded else y
            flag = 1 if active == 0 and not padded else 2
            totals = Null if padded else Out((counts.cumsum(0) if flag == 1 else counts).to(i32))
            cases.add(
                "aclnnMoeInitRoutingQuantV2", x=x, expertIdx=chosen, scaleOptional=scale if mode == 0 or scaled else Null, offsetOptional=offset if mode == 0 else Null,
                activeNum=active, expertCapacity=2 if padded else 0, expertNum=experts, dropPadMode=int(padded), expertTokensCountOrCumsumFlag=0 if padded else flag,
                expertTokensBeforeCapacityFlag=padded, quantMode=mode, expandedXOut=Out(fours(out) if bits == 4 else out), expandedRowIdxOut=Out(torch.tensor(index, dtype=i32)),
                expertTokensCountOrCumsumOutOptional=totals, expertTokensBeforeCapacityOutOptional=Out(counts.to(i32)) if padded else Null,
                dynamicQuantScaleOutOptional=Out(scales) if mode else Null, dense=bits == 4, within=1e-5,
            )
# The example of the document.
x = torch.tensor([[0.1] * 4, [0.2] * 4, [0.3] * 4])
y = np.round(np.array([0.2, 0.3, 0.1, 0.2, 0.1, 0.3]) * np.float32(0.3452) + np.float32(1.8369))
cases.add(
    "aclnnMoeInitRoutingQuantV2", x=x, expertIdx=torch.tensor([[1, 2], [0, 1], [0, 2]], dtype=i32), scaleOptional=torch.tensor([0.3452]), offsetOptional=torch.tensor([1.8369]),
    activeNum=0, expertCapacity=2, expertNum=3, dropPadMode=1, expertTokensCountOrCumsumFlag=0, expertTokensBeforeCapacityFlag=True, quantMode=0,
    expandedXOut=Out(torch.from_numpy(y).to(i8).reshape(3, 2, 1).expand(3, 2, 4).contiguous()), expandedRowIdxOut=Out(torch.tensor([2, 4, 0, 3, 1, 5], dtype=i32)),
    expertTokensCountOrCumsumOutOptional=Null, expertTokensBeforeCapacityOutOptional=Out(torch.tensor([2, 2, 2], dtype=i32)), dynamicQuantScaleOutOptional=Null,
)
given = dict(
    x=noise(5, 8), expertIdx=chosen, scaleOptional=torch.ones(1), offsetOptional=torch.ones(1), activeNum=0, expertCapacity=0, expertNum=4, dropPadMode=0,
    expertTokensCountOrCumsumFlag=0, expertTokensBeforeCapacityFlag=False, quantMode=0, expandedXOut=Out(torch.zeros(10, 8, dtype=i8), False),
    expandedRowIdxOut=Out(torch.zeros(10, dtype=i32), False), expertTokensCountOrCumsumOutOptional=Null, expertTokensBeforeCapacityOutOptional=Null, dynamicQuantScaleOutOptional=Null,
)
for change, status, text in [
    ({"x": Null}, 161001, "x is a null"), ({"scaleOptional": Null}, 161001, "scaleOptional is a null"), ({"quantMode": 2}, 161002, "quantMode is 2"), ({"dropPadMode": 2}, 161002, "dropPadMode is 2"),
    ({"expandedXOut": Out(torch.zeros(10, 8), False)}, 161002, "expandedXOut has the type"), ({"scaleOptional": torch.ones(2)}, 161002, "scaleOptional has the shape"),
    ({"quantMode": 1, "scaleOptional": torch.ones(3, 8)}, 161002, "scaleOptional has the shape"), ({"activeNum": -1}, 161002, "activeNum is -1"),
    ({"expertNum": 0, "expertTokensCountOrCumsumFlag": 1}, 161002, "expertNum is 0"), ({"quantMode": 1, "scaleOptional": Null}, 161001, "dynamicQuantScaleOutOptional is a null"),
    ({"dropPadMode": 1, "expertCapacity": 6, "expandedXOut": Out(torch.zeros(4, 6, 8, dtype=i8), False)}, 161002, "expertCapacity is 6"), ({"x": noise(4, 8)}, 161002, "expertIdx has the shape"),
    ({"dropPadMode": 1, "expertCapacity": 2, "expandedXOut": Out(fours(torch.zeros(4, 2, 8)), False)}, 161002, "type int4"), ({"expertTokensCountOrCumsumFlag": 3}, 161002, "Flag is 3"),
]:
    cases.add("aclnnMoeInitRoutingQuantV2", refuse=(status, text), dense="type int4" in text, **{**given, **change})

# Instances of experts, and assignments that are dropped.
table = torch.tensor([[2, 5, 1, 9], [1, 0, 9, 9], [3, 2, 6, 3], [2, 4, 7, 9]], dtype=i32)
ids = torch.tensor([[0, 2], [1, 3], [2, 0], [3, 2], [0, 1]])
for dtype in [i32, i64]:
    for mode, rank, ranks in [(0, 0, 6), (0, 3, 6), (0, 5, 6), (0, 4, 7), (1, -1, -1)]:
        wanted = torch.zeros(5, 2, dtype=dtype)
        for token in range(5):
            for slot in range(2):
                row = table[ids[token, slot]].tolist()
                instance = rank // -(-ranks // row[0]) if mode == 0 else token % row[0]
                wanted[token, slot] = row[1 + instance]
        for weights_type, active in [(None, None), (f32, None), (f16, [True, True, True, False, False]), (bf16, [True] * 5)]:
            mask, weights, parts, more = Out(torch.zeros(5, 2, dtype=torch.bool), False), Null, Null, Null
            if weights_type is not None:
                weights = torch.tensor([[0.5, 0.25], [0.75, 0.125], [0.5, 0.5], [0.25, 0.125], [1.0, 0.0625]]).to(weights_type)
                parts = torch.tensor([0.55, 0.3])
                stays = weights.double() >= weights.double().sum(1, keepdim=True) * parts
                if active is not None:
                    more = torch.tensor(active)
                    stays &= more[:, None]
                mask = Out(stays)
            parts = parts if parts is Null or mode == 0 else parts[None]
            cases.add(
                "aclnnMoeUpdateExpert", expertIds=ids.to(dtype), eplbTable=table, expertScalesOptional=weights, pruningThresholdOptional=parts, activeMaskOptional=more,
                localRankId=rank, worldSize=ranks, balanceMode=mode, balancedExpertIds=Out(wanted), balancedActiveMask=mask,
            )
given = dict(
    expertIds=ids, eplbTable=table, expertScalesOptional=Null, pruningThresholdOptional=Null, activeMaskOptional=Null, localRankId=0, worldSize=2, balanceMode=0,
    balancedExpertIds=Out(ids, False), balancedActiveMask=Out(torch.zeros(5, 2, dtype=torch.bool), False),
)
for change, status, text in [
    ({"expertIds": Null}, 161001, "expertIds is a null"), ({"expertIds": ids.float()}, 161002, "expertIds has the type"), ({"eplbTable": table.long()}, 161002, "eplbTable has the type"),
    ({"balancedExpertIds": Out(ids.int(), False)}, 161002, "balancedExpertIds has the type"), ({"localRankId": 2}, 161002, "localRankId is 2"), ({"worldSize": 1}, 161002, "worldSize 1"),
    ({"balanceMode": 2}, 161002, "balanceMode is 2"), ({"expertScalesOptional": noise(5, 2)}, 161002, "given together"), ({"activeMaskOptional": torch.ones(5, dtype=torch.bool)}, 161002, "given together"),
    ({"eplbTable": table[:1]}, 161002, "eplbTable the shape"), ({"expertScalesOptional": noise(5, 2), "pruningThresholdOptional": torch.ones(3)}, 161002, "pruningThresholdOptional has the shape"),
]:
    cases.add("aclnnMoeUpdateExpert", refuse=(status, text), **{**given, **change})


# Two layers with an activation between them.
def activated(name, x):
    x = torch.from_numpy(x)
    if name == "fastgelu":
        # x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|))
        return (x * (1.702 * x).sigmoid()).numpy()
    return {"gelu": functional.gelu, "relu": functional.relu, "silu": functional.silu}[name](x).numpy()


def gated(name, x):
    one, two = np.split(x, 2, -1)
    return activated({"geglu": "gelu", "swiglu": "silu", "reglu": "relu"}[name], one) * two


def owners(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def lines(values, owner):
    """The parameters of the group that each row belongs to."""
    return values.double().numpy()[owner]


def feed(form, given, sizes, out, **extra):
    """Adds a case for each form of the operator that has the groups."""
    given = {**dict.fromkeys(["bias1", "bias2", "scale", "offset", "deqScale1", "deqScale2", "antiquantScale1", "antiquantScale2", "antiquantOffset1", "antiquantOffset2"], Null), **given}
    x, first, second, name, precise = (given.pop(key) for key in ["x", "weight1", "weight2", "activation", "innerPrecise"])
    common = dict(x=x, weight1=first, weight2=second, activation=name, innerPrecise=precise, y=out)
    if form == 3:
        given = {f"{key}Optional": value for key, value in given.items()}
    ends = np.cumsum(sizes).tolist() if sizes else None
    lists = {1: [(sizes, None)], 2: [(sizes, False), (ends, True)], 3: [(sizes, False), (ends, True)]}[form]
    for groups, flag in lists:
        if not groups and flag:
            continue
        more = {} if flag is None else dict(tokensIndexFlag=flag)
        if form == 3:
            more["expertTokensOptional"] = torch.tensor(groups) if groups else Null
        else:
            more["expertTokens"] = groups or Null
        cases.add(["", "aclnnFFN", "aclnnFFNV2", "aclnnFFNV3"][form], **common, **given, **more, **extra)


def matrices(groups, rows, columns, dtype, scale=1.0):
    shape = (rows, columns) if groups is None else (groups, rows, columns)
    return integers(*shape, least=-20, most=20) if dtype == i8 else noise(*shape, dtype=dtype, scale=scale)


def product(x, weight, owner):
    weight = weight.double().numpy() if isinstance(weight, torch.Tensor) else weight
    if weight.ndim == 2:
        return x @ weight
    return np.einsum("tk,tkn->tn", x, weight[owner])


tokens, width, hidden = 6, 8, 4
WITHIN = {f16: 4e-3, bf16: 3e-2}
for dtype in [f16, bf16]:
    for name in ["fastgelu", "gelu", "relu", "silu"]:
        for sizes, biased in [(None, True), ([2, 0, 4], True), ([6], False)]:
            groups = None if sizes is None else len(sizes)
            owner = owners(sizes or [tokens])
            x = noise(tokens, width, dtype=dtype)
            first, second = matrices(groups, width, hidden, dtype, 0.25), matrices(groups, hidden, width, dtype, 0.25)
            biases = [noise(*(() if groups is None else (groups,)), size, dtype=f32 if dtype == bf16 else f16) for size in (hidden, width)]
            values = product(x.double().numpy(), first, owner)
            if biased:
                values = values + lines(biases[0].reshape(-1, hidden), owner)
            values = product(activated(name, values), second, owner)
            if biased:
                values = values + lines(biases[1].reshape(-1, width), owner)
            given = dict(x=x, weight1=first, weight2=second, activation=name, innerPrecise=0 if dtype == bf16 or groups else 1)
            if biased:
                given |= dict(bias1=biases[0], bias2=biases[1])
            out = torch.from_numpy(values).to(dtype)
            for form in [1, 2, 3]:
                feed(form, given, sizes, Out(out), within=WITHIN[dtype])
# Rows with several dimensions, and gates.
for name in ["geglu", "swiglu", "reglu"]:
    x, first, second = noise(2, 3, width, dtype=f16), noise(width, 2 * hidden, dtype=f16, scale=0.25), noise(hidden, width, dtype=f16, scale=0.25)
    values = gated(name, product(x.double().numpy().reshape(tokens, width), first, None))
    values = product(values, second, None).reshape(2, 3, width)
    given = dict(x=x, weight1=first, weight2=second, activation=name, innerPrecise=1)
    for form in [1, 2, 3]:
        feed(form, given, None, Out(torch.from_numpy(values).half()), within=WITHIN[f16])
# Quantised: int8 with scales behind both layers.
for out_type, scale_type in [(f16, "uint64"), (f16, f32), (f16, "int64"), (bf16, bf16)]:
    for sizes, wide in [(None, False), (None, True), ([1, 3, 2], False), ([1, 3, 2], True)]:
        groups = 1 if sizes is None else len(sizes)
        owner = owners(sizes or [tokens])
        lead = () if sizes is None else (groups,)

        def make():
            x = integers(tokens, width, least=-50, most=50)
            first, second = matrices(groups if sizes else None, width, hidden, i8), matrices(groups if sizes else None, hidden, width, i8)
            biases = [torch.randint(-500, 500, (*lead, size)).to(i32) for size in (hidden, width)]
            # Scales of 19 bits, as those of 64 bits have them.
            scales = [(torch.randint(1, 400, (*lead, size)) / 2**16).to(bf16).float() for size in (hidden, width)]
            scale = torch.rand(*lead, hidden) * 8 + 1 if wide else torch.rand(groups) * 8 + 1
            offset = torch.randn(groups)
            values = (product(x.double().numpy(), first, owner) + lines(biases[0].reshape(groups, -1), owner)) * lines(scales[0].reshape(groups, -1), owner)
            values = activated("silu", values) * lines(scale.reshape(groups, -1), owner) + lines(offset.reshape(groups, 1), owner)
            inner = np.clip(np.round(values), -128, 127)
            result = (product(inner, second, owner) + lines(biases[1].reshape(groups, -1), owner)) * lines(scales[1].reshape(groups, -1), owner)
            return certain(values) and bool((np.abs(values) < 1000).all()), (x, first, second, biases, scales, scale, offset, result)

        x, first, second, biases, scales, scale, offset, result = drawn(make)

        def coded(values):
            if scale_type in (f32, bf16):
                return values.to(scale_type)
            words = values.view(i32).long() | 1 << 46
            return words if scale_type == "int64" else words.to(torch.uint64)

        given = dict(
            x=x, weight1=first, weight2=second, bias1=biases[0], bias2=biases[1], scale=scale, offset=offset, deqScale1=coded(scales[0]), deqScale2=coded(scales[1]), activation="silu",
            innerPrecise=0,
        )
        for form in [1, 2, 3]:
            feed(form, given, sizes, Out(torch.from_numpy(result).to(out_type)), within=WITHIN[out_type])
# Only the weights are quantised, by columns or by groups of rows.
for dtype in [f16, bf16]:
    for bits in [8, 4]:
        for sizes, parts in [(None, None), (None, 2), ([2, 4], None), ([2, 4], 2)]:
            groups = 1 if sizes is None else len(sizes)
            owner = owners(sizes or [tokens])
            lead = () if sizes is None else (groups,)
            x = noise(tokens, width, dtype=dtype)
            restored, stored, scales, offsets = [], [], [], []
            for rows, columns in [(width, hidden), (hidden, width)]:
                weight = integers(*lead, rows, columns, least=-8, most=7)
                shape = (*lead, columns) if parts is None else (*lead, parts, columns)
                scale, offset = (torch.randint(1, 16, shape) / 256).to(dtype), torch.randint(-3, 4, shape).to(dtype)
                spread = lambda values: values.double().numpy().reshape(groups, parts or 1, columns).repeat(rows // (parts or 1), 1)
                restored.append((weight.double().numpy().reshape(groups, rows, columns) + spread(offset)) * spread(scale))
                stored.append(fours(weight) if bits == 4 else weight)
                scales.append(scale)
                offsets.append(offset)
            biases = [noise(*lead, size, dtype=f32 if dtype == bf16 else f16) for size in (hidden, width)]
            values = product(x.double().numpy(), restored[0], owner) + lines(biases[0].reshape(groups, -1), owner)
            values = product(activated("relu", values), restored[1], owner) + lines(biases[1].reshape(groups, -1), owner)
            given = dict(
                x=x, weight1=stored[0], weight2=stored[1], bias1=biases[0], bias2=biases[1], antiquantScale1=scales[0], antiquantScale2=scales[1], antiquantOffset1=offsets[0],
                antiquantOffset2=offsets[1], activation="relu", innerPrecise=1,
            )
            for form in [1, 2, 3]:
                feed(form, given, sizes, Out(torch.from_numpy(values).to(dtype)), within=WITHIN[dtype], dense=bits == 4)
x, first, second = noise(6, 8, dtype=f16), noise(8, 4, dtype=f16), noise(4, 8, dtype=f16)
given = dict(x=x, weight1=first, weight2=second, activation="relu", innerPrecise=1)
for change, sizes, status, text in [
    ({"x": Null}, None, 161001, "x is a null"), ({"activation": "tanh"}, None, 161002, "activation is"), ({"innerPrecise": 2}, None, 161002, "innerPrecise is 2"),
    ({"x": noise(6, 8)}, None, 161002, "x has the type"), ({"weight1": noise(8, 4)}, None, 161002, "weight1 has the type"), ({"weight2": noise(8, 4, dtype=f16)}, None, 161002, "do not follow"),
    ({"bias1": noise(3, dtype=f16)}, None, 161002, "bias1"), ({"bias1": noise(4)}, None, 161002, "bias1"), ({"scale": torch.ones(1)}, None, 161002, "scale"),
    ({"antiquantScale1": torch.ones(4).half()}, None, 161002, "antiquantScale1"), ({}, [2, 4], 161002, "weight1 has the shape"), ({"activation": "swiglu", "innerPrecise": 0}, None, 161002, "a gate"),
    ({"x": integers(6, 8), "weight1": integers(8, 4), "weight2": integers(4, 8)}, None, 161001, "deqScale1"), ({"weight1": integers(8, 4), "weight2": integers(4, 8)}, None, 161001, "antiquantScale1"),
]:
    for form in [1, 2, 3]:
        feed(form, {**given, **change}, sizes, Out(x, False), refuse=(status, text))
stacked = dict(given, weight1=first.expand(2, 8, 4).contiguous(), weight2=second.expand(2, 4, 8).contiguous())
for form in [1, 2]:
    feed(form, stacked, [2, 3], Out(x, False), refuse=(161002, "expertTokens is"))

# Products with small matrices of groups.
for rows, all_columns, start, columns, rank, wide, has_first in [(5, 12, 3, 6, 4, 7, True), (4, 6, 0, 6, 5, 5, False), (2, 32, 16, 16, 16, 16, True)]:
    y, x = noise(rows, all_columns, dtype=f16), noise(rows, wide, dtype=f16)
    second, first = noise(3, 2, columns, rank, dtype=f16, scale=0.5), noise(3, 2, rank, wide, dtype=f16, scale=0.5)
    groups = torch.tensor([2, 0, -1, 1, 2][:rows], dtype=i32)
    out = y.double().clone()
    for row in range(rows):
        group = int(groups[row])
        if group < 0:
            continue
        values = x[row].double()
        if has_first:
            values = first[group, 1].double() @ values
        out[row, start : start + columns] += second[group, 1].double() @ values * 0.75
    cases.add(
        "aclnnAddLora", y=y, x=x, weightB=second, indices=groups, weightAOptional=first if has_first else Null, layerIdx=1, scale=0.75, yOffset=start, ySliceSize=columns, out=Out(out.half()),
        within=3e-3,
    )
given = dict(y=y, x=x, weightB=second, indices=groups, weightAOptional=first, layerIdx=1, scale=1.0, yOffset=16, ySliceSize=16, out=Out(y, False))
for change, status, text in [
    ({"y": Null}, 161001, "y is a null"), ({"x": x.float()}, 161002, "x has the type"), ({"indices": groups.long()}, 161002, "indices has the type"), ({"layerIdx": 2}, 161002, "layerIdx is 2"),
    ({"yOffset": 17}, 161002, "yOffset and ySliceSize"), ({"ySliceSize": 8}, 161002, "yOffset and ySliceSize"), ({"weightAOptional": first[:, :, 1:].contiguous()}, 161002, "weightAOptional has the shape"),
    ({"weightB": second[0]}, 161002, "weightB"), ({"indices": groups[:1]}, 161002, "indices has the shape"), ({"weightAOptional": Null, "x": noise(2, 8, dtype=f16)}, 161002, "without weightAOptional"),
]:
    cases.add("aclnnAddLora", refuse=(status, text), **{**given, **change})
cases.write()
