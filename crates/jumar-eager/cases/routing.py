"""Makes routing.txt: `python routing.py` in an environment with PyTorch. Expected values are float64, rounded once."""

import torch

from cases import Cases, Null, Out

torch.manual_seed(50)
cases = Cases("routing")
f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
i8, i32, i64, boolean = torch.int8, torch.int32, torch.int64, torch.bool
FLOATS = [f32, f16, bf16]


def noise(*shape, dtype=f32, scale=1.0):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-100, 101, shape) / 64 * scale).to(dtype)


def distinct(rows, columns, dtype=f32):
    """Rows without equal entries: their order is one."""
    return torch.stack([torch.randperm(columns) for _ in range(rows)]).sub(columns // 2).div(4).to(dtype)


def order(experts):
    """The order of assignments by expert, and the position of each in it."""
    first = torch.argsort(experts.flatten(), stable=True)
    return first, torch.argsort(first)


# The choice of experts.
for dtype in FLOATS:
    x, k = distinct(5, 6, dtype), 3
    weights = x.double().softmax(-1)
    top, indices = weights.topk(k, -1)
    finished = torch.tensor([False, True, False, False, True])
    numbers = torch.arange(15).reshape(3, 5).T.contiguous().to(i32)
    for flags in [Null, finished]:
        chosen = indices if flags is Null else indices.masked_fill(finished[:, None], 6)
        given = dict(x=x, finishedOptional=flags, k=k, yOut=Out(top.to(dtype)), expertIdxOut=Out(chosen.to(i32)))
        cases.add("aclnnMoeGatingTopKSoftmax", rowIdxOut=Out(numbers), **given)
        cases.add("aclnnMoeGatingTopKSoftmaxV2", renorm=0, outputSoftmaxResultFlag=True, softmaxResultOutOptional=Out(weights.float()), **given)
        given |= dict(yOut=Out(x.double().topk(k, -1)[0].softmax(-1).to(dtype)))
        cases.add("aclnnMoeGatingTopKSoftmaxV2", renorm=1, outputSoftmaxResultFlag=False, softmaxResultOutOptional=Null, **given)
    for norm, renorm, groups, kept, by_two, biased in [(0, 0, 1, 1, 0, False), (0, 1, 1, 1, 0, True), (1, 0, 4, 2, 1, True), (1, 1, 2, 1, 0, False), (2, 0, 4, 3, 0, True)]:
        x, bias = distinct(4, 12, dtype), distinct(1, 12, dtype)[0]
        weights = x.double()
        weights = [weights.softmax(-1), weights.sigmoid(), torch.nn.functional.softplus(weights).sqrt()][norm]
        scores = weights + bias.double() if biased else weights
        grouped = scores.reshape(4, groups, -1)
        marks = grouped.topk(2, -1)[0].sum(-1) if by_two else grouped.amax(-1)
        keep = torch.zeros(4, groups, dtype=boolean).scatter(1, marks.topk(kept, -1)[1], True)
        scores = grouped.masked_fill(~keep[..., None], float("-inf")).flatten(1)
        chosen = scores.topk(3, -1)[1]
        y = weights.gather(1, chosen)
        if norm or renorm:
            y = y / (y.sum(-1, keepdim=True) + 1e-3)
        cases.add(
            "aclnnMoeGatingTopK", x=x, biasOptional=bias if biased else Null, k=3, kGroup=kept, groupCount=groups, groupSelectMode=by_two, renorm=renorm,
            normType=norm, outFlag=True, routedScalingFactor=2.5, eps=1e-3, yOut=Out((y * 2.5).to(dtype)), expertIdxOut=Out(chosen.to(i32)),
            outOut=Out(weights.float()), within={f32: 1e-5}.get(dtype),
        )
x = distinct(2, 4)
given = dict(
    x=x, biasOptional=Null, k=2, kGroup=1, groupCount=1, groupSelectMode=0, renorm=0, normType=0, outFlag=False, routedScalingFactor=1.0, eps=0.0,
    yOut=Out(x[:, :2], False), expertIdxOut=Out(x[:, :2].to(i32), False), outOut=Null,
)
for change, status, text in [
    ({"k": 5}, 161002, "k is 5"), ({"k": 0}, 161002, "k is 0"), ({"groupCount": 3}, 161002, "3 groups"), ({"kGroup": 2}, 161002, "groups"),
    ({"normType": 3}, 161002, "normType"), ({"groupSelectMode": 2}, 161002, "groupSelectMode"), ({"biasOptional": noise(3)}, 161002, "biasOptional has the shape"),
    ({"renorm": 2}, 161002, "renorm"), ({"expertIdxOut": Out(x[:, :2].to(i64), False)}, 161002, "expertIdxOut has the type"), ({"x": x.int()}, 161002, "x has the type"),
    ({"groupCount": 0}, 161002, "groupCount"),
]:
    cases.add("aclnnMoeGatingTopK", refuse=(status, text), **{**given, **change})

# Rows in the order of experts.
for dtype in FLOATS:
    tokens, each, experts = 5, 2, 4
    x = noise(tokens, 3, dtype=dtype)
    chosen = torch.stack([torch.randperm(experts)[:each] for _ in range(tokens)]).to(i32)
    first, inverse = order(chosen)
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    for active in [0, 7]:
        rows = active or tokens * each
        for flag in [0, 1, 2]:
            totals = Null if flag == 0 else Out((counts.cumsum(0) if flag == 1 else counts).to(i32))
            cases.add(
                "aclnnMoeInitRoutingV2", x=x, expertIdx=chosen, activeNumOptional=active, expertCapacityOptional=0, expertNumOptional=experts,
                dropPadModeOptional=0, expertTokensCountOrCumsumFlagOptional=flag, expertTokensBeforeCapacityFlagOptional=False,
                expandedXOut=Out(x[first // each][:rows]), expandedRowIdxOut=Out(inverse.to(i32)), expertTokensCountOrCumsumOutOptional=totals,
                expertTokensBeforeCapacityOutOptional=Null,
            )
    # Space for two rows of each expert.
    padded, positions, used = torch.zeros(experts, 2, 3, dtype=dtype), torch.full((tokens * each,), -1), [0] * experts
    for slot in first.tolist():
        expert = int(chosen.flatten()[slot])
        if used[expert] < 2:
            padded[expert, used[expert]], positions[slot] = x[slot // each], expert * 2 + used[expert]
        used[expert] += 1
    cases.add(
        "aclnnMoeInitRoutingV2", x=x, expertIdx=chosen, activeNumOptional=0, expertCapacityOptional=2, expertNumOptional=experts, dropPadModeOptional=1,
        expertTokensCountOrCumsumFlagOptional=0, expertTokensBeforeCapacityFlagOptional=True, expandedXOut=Out(padded), expandedRowIdxOut=Out(positions.to(i32)),
        expertTokensCountOrCumsumOutOptional=Null, expertTokensBeforeCapacityOutOptional=Out(counts.to(i32)),
    )
    # The first form numbers assignments by the column.
    numbers = torch.arange(tokens * each).reshape(each, tokens).T.contiguous().to(i32)
    sorted_numbers = numbers.flatten()[first]
    positions = torch.empty(tokens * each, dtype=i64)
    positions[sorted_numbers.long()] = torch.arange(tokens * each)
    cases.add(
        "aclnnMoeInitRouting", x=x, rowIdx=numbers, expertIdx=chosen, activeNum=tokens, expandedXOut=Out(x[sorted_numbers.long() % tokens]),
        expandedRowIdxOut=Out(positions.to(i32)), expandedExpertIdxOut=Out(chosen.flatten()[first]),
    )
    # A range of experts: the others come to nothing.
    low, high = 1, 3
    inside = (chosen.flatten() >= low) & (chosen.flatten() < high)
    kept = torch.tensor([slot for slot in first.tolist() if inside[slot]])
    rows, gathered, scattered = torch.zeros(tokens * each, 3, dtype=dtype), torch.full((tokens * each,), -1), torch.full((tokens * each,), -1)
    rows[: len(kept)], gathered[kept], scattered[: len(kept)] = x[kept // each], torch.arange(len(kept)), kept
    own = counts[low:high]
    for kind, index, totals in [(0, gathered, own.cumsum(0)), (1, scattered, own)]:
        cases.add(
            "aclnnMoeInitRoutingV3", x=x, expertIdx=chosen, scaleOptional=Null, offsetOptional=Null, activeNum=-1, expertCapacity=0, expertNum=experts,
            dropPadMode=0, expertTokensNumType=kind, expertTokensNumFlag=True, quantMode=-1, activeExpertRangeOptional=[low, high], rowIdxType=kind,
            expandedXOut=Out(rows), expandedRowIdxOut=Out(index.to(i32)), expertTokensCountOrCumsumOut=Out(totals),
            expandedScaleOut=Out(torch.zeros(tokens * each), False),
        )
    while True:
        quantised = noise(tokens, 8, dtype=dtype)
        scale = quantised.double().abs().amax(-1, keepdim=True) / 127
        line = quantised.double() / scale
        if bool(((line - line.floor() - 0.5).abs() > 1e-3).all()):
            break
    cases.add(
        "aclnnMoeInitRoutingV3", x=quantised, expertIdx=chosen, scaleOptional=Null, offsetOptional=Null, activeNum=-1, expertCapacity=0, expertNum=experts,
        dropPadMode=0, expertTokensNumType=1, expertTokensNumFlag=True, quantMode=1, activeExpertRangeOptional=[0, experts], rowIdxType=0,
        expandedXOut=Out(line.round().to(i8)[first // each]), expandedRowIdxOut=Out(inverse.to(i32)), expertTokensCountOrCumsumOut=Out(counts),
        expandedScaleOut=Out(scale.float().squeeze(-1)[first // each]),
    )
    for wanted in [0, 6, -3]:
        rows = {0: 10, 6: 6, -3: 7}[wanted]
        for index in [chosen, chosen.long()]:
            cases.add(
                "aclnnMoeTokenPermute", tokens=x, indices=index, numOutTokens=wanted, paddedMode=False, permuteTokensOut=Out(x[first // each][:rows]),
                sortedIndicesOut=Out(inverse.to(i32)),
            )
    cases.add(
        "aclnnMoeTokenPermute", tokens=x, indices=chosen[:, 0].contiguous(), numOutTokens=0, paddedMode=False,
        permuteTokensOut=Out(x[order(chosen[:, 0])[0]]), sortedIndicesOut=Out(order(chosen[:, 0])[1].to(i32)),
    )
    # The sums by token, and their gradients.
    permuted, weights = noise(tokens * each, 3, dtype=dtype), noise(tokens, each, dtype=dtype)
    index = inverse.to(i32)
    gathered = permuted.double()[inverse].reshape(tokens, each, 3)
    y = (gathered * weights.double()[..., None]).sum(1)
    common = dict(paddedMode=False, restoreShapeOptional=Null)
    cases.add("aclnnMoeTokenUnpermute", permutedTokens=permuted, sortedIndices=index, probsOptional=weights, out=Out(y.to(dtype)), **common)
    cases.add("aclnnMoeTokenUnpermute", permutedTokens=permuted, sortedIndices=index, probsOptional=Null, out=Out(permuted[inverse]), **common)
    # Rows that were dropped add nothing.
    shorter = torch.where((inverse < 7)[:, None], permuted.double()[inverse], 0.0).reshape(tokens, each, 3)
    y = (shorter * weights.double()[..., None]).sum(1)
    cases.add("aclnnMoeTokenUnpermute", permutedTokens=permuted[:7], sortedIndices=index, probsOptional=weights, out=Out(y.to(dtype)), **common)
    gradient = noise(tokens, 3, dtype=dtype)
    spread = (gradient.double()[:, None] * weights.double()[..., None]).reshape(-1, 3)
    to_permuted = torch.empty_like(spread)
    to_permuted[inverse] = spread
    cases.add(
        "aclnnMoeTokenUnpermuteGrad", permutedTokens=permuted, unpermutedTokensGrad=gradient, sortedIndices=index, probsOptional=weights,
        permutedTokensGradOut=Out(to_permuted.to(dtype)), probsGradOut=Out((gathered * gradient.double()[:, None]).sum(-1).to(dtype)), **common,
    )
    own = torch.empty(tokens, 3, dtype=dtype)
    own[order(chosen[:, 0])[1]] = gradient
    cases.add(
        "aclnnMoeTokenUnpermuteGrad", permutedTokens=Null, unpermutedTokensGrad=gradient, sortedIndices=order(chosen[:, 0])[1].to(i32), probsOptional=Null,
        permutedTokensGradOut=Out(own), probsGradOut=Null, **common,
    )
    y = gathered.sum(1).to(dtype)
    cases.add("aclnnMoeTokenPermuteGrad", permutedOutputGrad=permuted, sortedIndices=index, numTopk=each, paddedMode=False, out=Out(y))
    cases.add("aclnnMoeInitRoutingV2Grad", gradExpandedX=permuted, expandedRowIdx=index, topK=each, dropPadMode=0, activeNum=0, out=Out(y))
    one, two, bias = noise(tokens, 3, dtype=dtype), noise(tokens, 3, dtype=dtype), noise(experts, 3, dtype=dtype)
    shifted = gathered + bias.double()[chosen.long()]
    y = one.double() + two.double() + (shifted * weights.double()[..., None]).sum(1)
    by_column = inverse.reshape(tokens, each).T.contiguous().flatten().to(i32)
    cases.add(
        "aclnnMoeFinalizeRouting", expandedX=permuted, x1=one, x2Optional=two, bias=bias, scales=weights, expandedRowIdx=by_column, expandedExpertIdx=chosen,
        out=Out(y.to(dtype)),
    )
    given = dict(x1Optional=one, x2Optional=two, biasOptional=bias, scalesOptional=weights, expertIdxOptional=chosen, out=Out(y.to(dtype)))
    cases.add("aclnnMoeFinalizeRoutingV2", expandedX=permuted, expandedRowIdx=by_column, dropPadMode=0, **given)
    cases.add("aclnnMoeFinalizeRoutingV2", expandedX=permuted, expandedRowIdx=index, dropPadMode=2, **given)
    dropped = index.clone()
    dropped[3] = -1
    mask = torch.ones(tokens * each, dtype=torch.float64).index_fill(0, torch.tensor([3]), 0.0).reshape(tokens, each)
    y = one.double() + two.double() + (shifted * (weights.double() * mask)[..., None]).sum(1)
    cases.add("aclnnMoeFinalizeRoutingV2", expandedX=permuted.reshape(5, 2, 3), expandedRowIdx=dropped, dropPadMode=3, **{**given, "out": Out(y.to(dtype))})
    plain = {name: Null for name in given} | {"out": Out(permuted[inverse])}
    cases.add("aclnnMoeFinalizeRoutingV2", expandedX=permuted, expandedRowIdx=index, dropPadMode=2, **plain)
    # A map of tokens and experts.
    routing = torch.zeros(tokens, experts, dtype=boolean).scatter(1, chosen.long(), True)
    probabilities = noise(tokens, experts, dtype=dtype)
    ids = torch.arange(tokens).expand(experts, -1).masked_select(routing.T)
    inverse_map = torch.argsort(ids, stable=True)
    for given_map in [routing, routing.to(i8)]:
        cases.add(
            "aclnnMoeTokenPermuteWithRoutingMap", tokens=x, routingMap=given_map, probsOptional=probabilities, numOutTokens=tokens * each, dropAndPad=False,
            permuteTokensOut=Out(x[ids]), permuteProbsOutOptional=Out(probabilities.T.masked_select(routing.T)), sortedIndicesOut=Out(inverse_map.to(i32)),
        )
for values, count in [([0, 0, 1, 3, 3], 5), ([2, 2], 3), ([0], 1)]:
    ends = [sum(value <= expert for value in values) for expert in range(count)]
    cases.add("aclnnMoeComputeExpertTokens", sortedExperts=torch.tensor(values, dtype=i32), numExperts=count, out=Out(torch.tensor(ends, dtype=i32)))

x, chosen = noise(3, 2), torch.tensor([[0, 1], [1, 0], [0, 1]], dtype=i32)
given = dict(
    x=x, expertIdx=chosen, activeNumOptional=0, expertCapacityOptional=0, expertNumOptional=2, dropPadModeOptional=0,
    expertTokensCountOrCumsumFlagOptional=0, expertTokensBeforeCapacityFlagOptional=False, expandedXOut=Out(noise(6, 2), False),
    expandedRowIdxOut=Out(torch.zeros(6, dtype=i32), False), expertTokensCountOrCumsumOutOptional=Null, expertTokensBeforeCapacityOutOptional=Null,
)
for change, status, text in [
    ({"dropPadModeOptional": 2}, 161002, "dropPadModeOptional is 2"), ({"dropPadModeOptional": 1}, 161002, "expertCapacityOptional is 0"),
    ({"expandedXOut": Out(noise(5, 2), False)}, 161002, "expandedXOut has 5 rows"), ({"activeNumOptional": -1}, 161002, "activeNumOptional is -1"),
    ({"expertTokensCountOrCumsumFlagOptional": 3}, 161002, "Flag"), ({"expertIdx": chosen[:2]}, 161002, "expertIdx has the shape"),
    ({"expertNumOptional": 0, "expertTokensCountOrCumsumFlagOptional": 1}, 161002, "expertNumOptional is 0"), ({"x": x[0]}, 161002, "x has the shape"),
    ({"expandedRowIdxOut": Out(torch.zeros(5, dtype=i32), False)}, 161002, "expandedRowIdxOut has the shape"),
]:
    cases.add("aclnnMoeInitRoutingV2", refuse=(status, text), **{**given, **change})
given = dict(
    expandedX=noise(6, 2), expandedRowIdx=torch.arange(6, dtype=i32), x1Optional=x, x2Optional=Null, biasOptional=Null, scalesOptional=noise(3, 2),
    expertIdxOptional=Null, dropPadMode=0, out=Out(x, False),
)
for change, status, text in [
    ({"dropPadMode": 4}, 161002, "dropPadMode is 4"), ({"x1Optional": Null, "x2Optional": x}, 161002, "x2Optional is given without"),
    ({"biasOptional": noise(2, 2)}, 161002, "without expertIdxOptional"), ({"scalesOptional": noise(3, 3)}, 161002, "scalesOptional has the shape"),
    ({"expandedRowIdx": torch.arange(5, dtype=i32)}, 161002, "equally many"), ({"out": Out(noise(3, 3), False)}, 161002, ""),
]:
    cases.add("aclnnMoeFinalizeRoutingV2", refuse=(status, text), **{**given, **change})
cases.add("aclnnMoeTokenPermute", tokens=x, indices=chosen, numOutTokens=0, paddedMode=True, permuteTokensOut=Out(noise(6, 2), False), sortedIndicesOut=Out(torch.zeros(6, dtype=i32), False), refuse=(561003, "paddedMode"))
cases.write()
