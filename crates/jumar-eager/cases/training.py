"""Cases of operators around training: losses of a divided vocabulary, checks for silent faults, and formats of weights."""

import math

import torch
from cases import Cases, InOut, Null, Out, Scalar

torch.manual_seed(29)
cases = Cases("training")
f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
i8, i32, i64, u8 = torch.int8, torch.int32, torch.int64, torch.uint8


def noise(*dims, dtype=f32):
    return torch.randn(*dims).to(dtype)


def packed(flags):
    bits = flags.int().tolist()
    bits += [1] * (-len(bits) % 8)
    return torch.tensor([sum(bit << (7 - at) for at, bit in enumerate(bits[start : start + 8])) for start in range(0, len(bits), 8)], dtype=u8)


# A vocabulary of which this rank has 12 words, from the 10th on.
for dtype, index in [(f16, i64), (bf16, i32)]:
    rows, depth, words, first, last = 11, 6, 12, 10, 20
    x, weight, target = noise(rows, depth, dtype=dtype), noise(words, depth, dtype=dtype), torch.randint(5, 26, (rows,)).to(index)
    logits = x.double() @ weight.double().T
    most = logits.amax(-1)
    sums = (logits - most[:, None]).exp().sum(-1)
    other = (target < first) | (target > last)
    masked = torch.where(other, 0, target - first)
    predicted = torch.where(other, 0.0, (logits - most[:, None]).gather(1, masked.long()[:, None])[:, 0])
    within = 1e-5
    for with_logits in [False, True]:
        cases.add(
            "aclnnFusedLinearOnlineMaxSum", input=x, weight=weight, target=target, vocabStartIndex=first, vocabEndIndex=last, logitsMaxLocalOut=Out(most.float()),
            sumExpLogitsLocalOut=Out(sums.float()), predictedLogitsLocalOut=Out(predicted.float()), targetMaskOut=Out(packed(other)), maskedTargetOut=Out(masked.to(index)),
            vocabParallelLogitsOutOptional=Out(logits.to(dtype)) if with_logits else Null, within=2e-2 if with_logits else 1e-5,
        )
    shares = (logits - most[:, None]).exp() / sums[:, None]
    given = dict(logitsMax=most.float(), sumExpLogits=sums.float(), predictedLogits=predicted.float(), labelSmoothing=0.0, inputOptional=Null, weightOptional=Null)
    loss = sums.log() - predicted
    cases.add("aclnnFusedCrossEntropyLossWithMaxSum", vocabParallelLogitsOptional=Null, lossOut=Out(loss.float()), softMaxOutOptional=Null, within=1e-5, **given)
    exact = logits.to(dtype).double()
    cases.add(
        "aclnnFusedCrossEntropyLossWithMaxSum", vocabParallelLogitsOptional=logits.to(dtype), lossOut=Out(loss.float()),
        softMaxOutOptional=Out(((exact - most[:, None]).exp() / sums[:, None]).float()), within=1e-5, **given,
    )
    # The gradient of the loss is that of log(sum) - predicted, as autograd finds it.
    one, two = x.double().requires_grad_(), weight.double().requires_grad_()
    line = one @ two.T
    picked = torch.where(other, 0.0, line.gather(1, masked.long()[:, None])[:, 0])
    gradient = noise(rows)
    ((line.logsumexp(-1) - picked) * gradient.double()).sum().backward()
    common = dict(
        grad=gradient, input=x, weight=weight, targetMask=packed(other), maskedTarget=masked.to(index), labelSmoothing=0.0, inputGradOut=Out(one.grad.to(dtype)),
        weightGradOut=Out(two.grad.to(dtype)), within={f16: 3e-3, bf16: 2e-2}[dtype],
    )
    cases.add("aclnnFusedLinearCrossEntropyLossGrad", logitsMaxOptional=most.float(), sumExpLogitsOptional=sums.float(), softmaxOptional=Null, **common)
    cases.add("aclnnFusedLinearCrossEntropyLossGrad", logitsMaxOptional=Null, sumExpLogitsOptional=Null, softmaxOptional=shares.float(), **common)
given |= dict(vocabParallelLogitsOptional=logits.to(dtype), lossOut=Out(loss.float(), False), softMaxOutOptional=Out(shares.float(), False))
for change, status, text in [
    ({"labelSmoothing": 0.1}, 161002, "labelSmoothing is"), ({"sumExpLogits": sums[1:].float()}, 161002, "sumExpLogits has the shape"), ({"logitsMax": most}, 161002, "logitsMax has the type"),
    ({"softMaxOutOptional": Null}, 161002, "given together"), ({"inputOptional": x.float()}, 561003, "inputOptional"), ({"lossOut": Null}, 161001, "lossOut is a null"),
]:
    cases.add("aclnnFusedCrossEntropyLossWithMaxSum", refuse=(status, text), **{**given, **change})
common = dict(
    input=x, weight=weight, target=target, vocabStartIndex=0, vocabEndIndex=11, logitsMaxLocalOut=Out(most.float(), False), sumExpLogitsLocalOut=Out(most.float(), False),
    predictedLogitsLocalOut=Out(most.float(), False), targetMaskOut=Out(packed(other), False), maskedTargetOut=Out(target, False), vocabParallelLogitsOutOptional=Null,
)
for change, status, text in [
    ({"vocabStartIndex": -1}, 161002, "vocabStartIndex is -1"), ({"vocabEndIndex": -1}, 161002, "vocabEndIndex -1"), ({"input": x.float()}, 161002, "input has the type"),
    ({"weight": weight[:, 1:]}, 161002, "equally many columns"), ({"target": target[1:]}, 161002, "target has the shape"), ({"maskedTargetOut": Out(target.to(i64), False)}, 161002, "maskedTargetOut has the type"),
    ({"targetMaskOut": Out(packed(other)[:1], False)}, 161002, "targetMaskOut has the shape"),
]:
    cases.add("aclnnFusedLinearOnlineMaxSum", refuse=(status, text), **{**common, **change})

# Values that are checked for faults.
for dtype in [f32, f16, bf16]:
    gradient = noise(2, 3, dtype=dtype)
    for value, step, detect, level in [
        (2.0, 3, 1, 0), (2.0, 3, 3, 0), (50.0, 3, 1, 2), (50.0, 3, 2, 2), (500.0, 3, 1, 1), (500.0, 3, 2, 1), (math.inf, 3, 2, 1), (math.nan, 3, 3, 1), (9.0, 3, 2, 2), (9.0, 0, 2, 0),
        (70.0, 100, 2, 1),
    ]:
        # A jump counts after 2 checks: 4 times the range of 1 to 3 is a warning, 30 times a fault.
        updates = level == 2 or (detect == 1 if level else detect != 3)
        state = torch.tensor([0.5, 1.0, 3.0])
        if step == 3 and value == 9.0:
            state = torch.tensor([0.5, 1.0, 3.0])
        after = torch.tensor([value, min(1.0, value), max(3.0, value)]) if updates else state
        clear = level == 1 and detect != 1
        cases.add(
            "aclnnSilentCheck", val=torch.tensor(value).to(dtype), inputGradRef=InOut(gradient, torch.zeros_like(gradient) if clear else gradient),
            sfdaRef=InOut(state, after), stepRef=InOut(torch.tensor([step]), torch.tensor([step + updates])), cMinSteps=2, cThreshL1=100.0, cCoeffL1=30.0, cThreshL2=40.0,
            cCoeffL2=4.0, npuAsdDetect=detect, result=Out(torch.tensor([level], dtype=i32)),
        )
    for value, step, detect, level in [(2.0, 0, 1, 0), (2.0, 4, 3, 0), (5.0, 0, 2, 2), (50.0, 0, 2, 1), (9.0, 2, 2, 2), (50.0, 2, 1, 1), (math.inf, 2, 3, 1)]:
        # The average of 1 counts 1 / (1 - 0.5^2) after two checks.
        updates = level == 2 or (detect == 1 if level else detect != 3)
        average = torch.tensor([1.0])
        clear = level == 1 and detect != 1
        cases.add(
            "aclnnSilentCheckV2", val=torch.tensor([value]).to(dtype), max=torch.tensor([1.0]).to(dtype), avgRef=InOut(average, 0.5 * average + 0.5 * value if updates else average),
            inputGradRef=InOut(gradient, torch.zeros_like(gradient) if clear else gradient), stepRef=InOut(torch.tensor([step]), torch.tensor([step + updates])), dstSize=[2, 3],
            dstStride=[3, 1], dstOffset=[0], cThreshL1=10.0, cThreshL2=4.0, beta1=0.5, npuAsdDetect=detect, result=Out(torch.tensor([level], dtype=i32)),
        )
given = dict(
    val=torch.tensor([1.0]), max=torch.tensor([1.0]), avgRef=InOut(torch.ones(1), torch.ones(1)), inputGradRef=InOut(torch.ones(2), torch.ones(2)),
    stepRef=InOut(torch.tensor([1]), torch.tensor([1])), dstSize=[2], dstStride=[1], dstOffset=[0], cThreshL1=10.0, cThreshL2=4.0, beta1=0.5, npuAsdDetect=1,
    result=Out(torch.zeros(1, dtype=i32), False),
)
for change, status, text in [
    ({"beta1": 1.0}, 161002, "beta1 is 1"), ({"cThreshL1": 2.0}, 161002, "cThreshL1 is 2"), ({"val": torch.ones(2)}, 161002, "val has the shape"), ({"max": Null}, 161001, "max is a null"),
    ({"stepRef": InOut(torch.ones(1, dtype=i32), torch.ones(1, dtype=i32))}, 161002, "stepRef has the type"), ({"dstSize": Null}, 161001, "dstSize is a null"),
]:
    cases.add("aclnnSilentCheckV2", refuse=(status, text), **{**given, **change})


def blocks(x, columns):
    """The matrix in blocks of 16 rows: block columns, block rows, rows, columns."""
    *lead, rows, width = x.shape
    tall, wide = -(-rows // 16), -(-width // columns)
    full = torch.zeros(*lead, tall * 16, wide * columns, dtype=x.dtype)
    full[..., :rows, :width] = x
    return full.reshape(*lead, tall, 16, wide, columns).movedim(-2, -4).contiguous()


for dtype, columns in [(f16, 16), (bf16, 16), (f32, 8), (i8, 32), (i32, 16)]:
    for dims in [(20, 35), (16, 32), (2, 3, 40)]:
        x = noise(*dims).mul(9).to(dtype)
        stored = blocks(x, columns)
        cases.add("aclnnNpuFormatCast", srcTensor=x, dstTensor=Out(stored), formats={"dstTensor": 29}, dense=True)
        cases.add("aclnnNpuFormatCast", srcTensor=stored, dstTensor=Out(x), formats={"srcTensor": 29}, dense=True)
        cases.add("aclnnNpuFormatCast", srcTensor=stored, dstTensor=Out(stored), formats={"srcTensor": 29, "dstTensor": 29}, dense=True)
x = noise(20, 35)
given = dict(srcTensor=x, dstTensor=Out(blocks(x, 8), False), formats={"dstTensor": 29}, dense=True)
for change, status, text in [
    ({"srcTensor": x[:4]}, 161002, "expected blocks"), ({"srcTensor": x.double()}, 161002, "srcTensor has the type"), ({"srcTensor": x.int()}, 161002, "dstTensor has the type"),
    ({"formats": {"dstTensor": 32}}, 561003, "format 32"), ({"srcTensor": Null}, 161001, "srcTensor is a null"), ({"srcTensor": x[:, :0]}, 161002, "srcTensor has the shape"),
]:
    cases.add("aclnnNpuFormatCast", refuse=(status, text), **{**given, **change})
cases.add("aclnnTransMatmulWeight", mmWeightRef=InOut(x.half(), x.half()))
cases.add("aclnnTransMatmulWeight", mmWeightRef=InOut(x.half()[0], x.half()[0]), refuse=(161002, "mmWeightRef has 1 dimensions"))
cases.add("aclnnTransMatmulWeight", mmWeightRef=InOut(x.double(), x.double()), refuse=(161002, "mmWeightRef has the type"))

# Rounding in every way.
values = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.2, 0.8, -0.2, -0.8, 3.0, 4.0, -4.0, 1e9, math.inf])
ways = {
    1: torch.round, 2: torch.floor, 3: torch.ceil, 4: lambda x: torch.where(x < 0, -(-x + 0.5).floor(), (x + 0.5).floor()), 5: torch.trunc,
    6: lambda x: torch.where(x == x.floor(), x, torch.where(x.floor() % 2 != 0, x.floor(), x.ceil())), 7: torch.frac, 0: torch.round,
}
for dtype in [f32, f16, bf16]:
    for mode, way in ways.items():
        lists = [values.to(dtype), noise(2, 3).mul(5).to(dtype), noise(1)[0].mul(5).to(dtype)]
        outs = [Out(way(x.double()).to(dtype)) for x in lists]
        cases.add("aclnnForeachRoundOffNumberV2", x=lists, roundMode=Scalar(mode, i8), out=outs)
        cases.add("aclnnForeachRoundOffNumber", x=lists, roundMode=torch.tensor([mode], dtype=i8), out=outs)
cases.add("aclnnForeachRoundOffNumberV2", x=[noise(2)], roundMode=Scalar(1.5, f32), out=[Out(noise(2), False)], refuse=(161002, "roundMode has the type"))
cases.add("aclnnForeachRoundOffNumberV2", x=[noise(2)], roundMode=Scalar(1, i8), out=[Out(noise(3), False)], refuse=(161002, "out[0] has the shape"))
cases.add("aclnnForeachRoundOffNumberV2", x=[noise(2), noise(2)], roundMode=Scalar(1, i8), out=[Out(noise(2), False)], refuse=(161002, "equally many"))
cases.add("aclnnForeachRoundOffNumber", x=[noise(2)], roundMode=torch.ones(2, dtype=i8), out=[Out(noise(2), False)], refuse=(161002, "roundMode has the shape"))

# Rectangles.
for dtype in [f32, f16, bf16]:
    corner, size = torch.rand(5, 2) * 4, torch.rand(5, 2) * 4 + 0.5
    boxes = torch.cat([corner, corner + size], 1).to(dtype)
    corner, size = torch.rand(5, 2) * 4, torch.rand(5, 2) * 4 + 0.5
    others = torch.cat([corner, corner + size], 1).to(dtype)
    for mode in ["iou", "iof"]:
        # Values below 1 keep quotients defined; 1 says that a rectangle contains its last pixel.
        for epsilon, longer in [(0.0, 0.0), (0.01, 0.0), (1.0, 1.0)]:
            one, two = boxes.double()[:, None], others.double()[None]
            area = lambda box: (box[..., 2] - box[..., 0] + longer) * (box[..., 3] - box[..., 1] + longer)
            width = (torch.minimum(one[..., 2], two[..., 2]) - torch.maximum(one[..., 0], two[..., 0]) + longer).clamp(min=0)
            height = (torch.minimum(one[..., 3], two[..., 3]) - torch.maximum(one[..., 1], two[..., 1]) + longer).clamp(min=0)
            shared = width * height
            result = shared / (area(two) if mode == "iof" else area(one) + area(two) - shared)
            result = torch.where(torch.isfinite(result), result, 0)
            given = dict(mode=mode, eps=epsilon, within={f32: 1e-5, f16: 2e-3, bf16: 1.6e-2}[dtype])
            cases.add("aclnnIou", bBoxes=boxes, gtBoxes=others[:3], aligned=False, overlap=Out(result[:, :3].to(dtype)), **given)
            cases.add("aclnnIou", bBoxes=boxes, gtBoxes=others, aligned=True, overlap=Out(result.diagonal()[:, None].to(dtype)), **given)
given = dict(bBoxes=boxes, gtBoxes=others[:3], mode="iou", eps=0.0, aligned=False, overlap=Out(boxes[:, :3], False))
for change, status, text in [
    ({"mode": "giou"}, 161002, "mode is"), ({"eps": -1.0}, 161002, "eps is -1"), ({"aligned": True}, 161002, "equally many"), ({"gtBoxes": others[:, :3]}, 161002, "rows of 4 numbers"),
    ({"overlap": Out(boxes, False)}, 161002, "overlap has the shape"), ({"gtBoxes": others.double()}, 161002, "gtBoxes has the type"), ({"bBoxes": Null}, 161001, "bBoxes is a null"),
]:
    cases.add("aclnnIou", refuse=(status, text), **{**given, **change})
# Rectangles that touch, and rectangles that are points.
one, two = torch.tensor([[0.0, 0.0, 10.0, 10.0], [10.0, 10.0, 20.0, 20.0], [3.0, 3.0, 3.0, 3.0]]), torch.tensor([[0.0, 0.0, 10.0, 20.0], [3.0, 3.0, 3.0, 3.0]])
cases.add("aclnnIou", bBoxes=one, gtBoxes=two, mode="iou", eps=0.01, aligned=False, overlap=Out(torch.tensor([[0.5, 0.0], [0.0, 0.0], [0.0, 0.0]])))
# The worked example of the document.
one = torch.tensor([[1.0, 1.0, 5.0, 3.0]])
cases.add("aclnnIou", bBoxes=one, gtBoxes=torch.tensor([[4.0, 2.0, 9.0, 5.0]]), mode="iou", eps=0.0, aligned=True, overlap=Out(torch.tensor([[0.045455]])), within=1e-6)

# Rows that a map of tokens and experts has ordered.
for dtype in [f32, f16, bf16]:
    within = {f32: 1e-5, f16: 3e-3, bf16: 2e-2}[dtype]
    tokens, experts, each = 4, 5, 2
    routing = torch.zeros(tokens, experts, dtype=torch.bool).scatter(1, torch.stack([torch.randperm(experts)[:each] for _ in range(tokens)]), True)
    ids = torch.arange(tokens).expand(experts, -1).masked_select(routing.T)
    order = torch.argsort(ids, stable=True)
    rows, weights = noise(tokens * each, 3, dtype=dtype), noise(tokens, experts, dtype=dtype)
    for weighted in [True, False]:
        picked = weights.T.masked_select(routing.T)
        scaled = rows.double() * (picked.double()[:, None] if weighted else 1)
        y = torch.zeros(tokens, 3, dtype=f64).index_add_(0, ids, scaled)
        cases.add(
            "aclnnMoeTokenUnpermuteWithRoutingMap", permutedTokens=rows, sortedIndices=order.to(i32), routingMapOptional=routing if weighted else Null,
            probsOptional=weights if weighted else Null, paddedMode=False, restoreShapeOptional=[tokens, 3], unpermutedTokens=Out(y.to(dtype)), outIndex=Out(order.to(i32)),
            permuteTokenId=Out((torch.arange(tokens * each) // each).to(i32)), permuteProbs=Out(picked) if weighted else Null, within=within,
        )
    gradient = noise(tokens * each)
    to_weights = torch.zeros(experts, tokens, dtype=dtype).masked_scatter(routing.T, gradient.to(dtype)).T
    y = torch.zeros(tokens, 3, dtype=f64).index_add_(0, ids, rows.double())
    cases.add(
        "aclnnMoeTokenPermuteWithRoutingMapGrad", permutedTokenOutputGrad=rows, permutedProbsOutputGradOptional=gradient.to(dtype), sortedIndices=order.to(i32),
        routingMapOptional=routing.to(i8), numExperts=experts, tokensNum=tokens, dropAndPad=False, tokensGradOut=Out(y.to(dtype)), probsGradOutOptional=Out(to_weights.contiguous()), within=within,
    )
    # Each expert has space for two tokens.
    capacity = 2
    chosen = torch.stack([torch.randperm(tokens)[:capacity] for _ in range(experts)]).flatten()
    rows = noise(experts * capacity, 3, dtype=dtype)
    picked = weights[chosen, torch.arange(experts * capacity) // capacity]
    sorted_ids, index = torch.sort(chosen, stable=True)
    y = torch.zeros(tokens, 3, dtype=f64).index_add_(0, chosen, rows.double() * picked.double()[:, None])
    cases.add(
        "aclnnMoeTokenUnpermuteWithRoutingMap", permutedTokens=rows, sortedIndices=chosen.to(i32), routingMapOptional=routing, probsOptional=weights, paddedMode=True,
        restoreShapeOptional=Null, unpermutedTokens=Out(y.to(dtype)), outIndex=Out(index.to(i32)), permuteTokenId=Out(sorted_ids.to(i32)), permuteProbs=Out(picked), within=within,
    )
    y = torch.zeros(tokens, 3, dtype=f64).index_add_(0, chosen, rows.double())
    gradient = noise(experts * capacity, dtype=dtype)
    to_weights = torch.zeros(tokens, experts, dtype=dtype)
    to_weights[chosen, torch.arange(experts * capacity) // capacity] = gradient
    cases.add(
        "aclnnMoeTokenPermuteWithRoutingMapGrad", permutedTokenOutputGrad=rows, permutedProbsOutputGradOptional=gradient, sortedIndices=chosen.to(i32), routingMapOptional=Null,
        numExperts=experts, tokensNum=tokens, dropAndPad=True, tokensGradOut=Out(y.to(dtype)), probsGradOutOptional=Out(to_weights), within=within,
    )
given = dict(
    permutedTokens=noise(8, 3), sortedIndices=torch.arange(8, dtype=i32), routingMapOptional=routing, probsOptional=weights.float(), paddedMode=False, restoreShapeOptional=Null,
    unpermutedTokens=Out(noise(4, 3), False), outIndex=Out(torch.arange(8, dtype=i32), False), permuteTokenId=Out(torch.arange(8, dtype=i32), False), permuteProbs=Out(noise(8), False),
)
for change, status, text in [
    ({"sortedIndices": torch.arange(7, dtype=i32)}, 161002, "sortedIndices has the shape"), ({"restoreShapeOptional": [3, 4]}, 161002, "restoreShapeOptional"),
    ({"probsOptional": weights}, 161002, "probsOptional has the type"), ({"routingMapOptional": Null}, 161001, "routingMapOptional"), ({"permutedTokens": noise(8)}, 161002, "permutedTokens has the shape"),
    ({"unpermutedTokens": Out(noise(3, 3), False), "probsOptional": Null, "routingMapOptional": Null}, 161002, "cannot be divided among 3 tokens"), ({"permuteProbs": Out(noise(7), False)}, 161002, "permuteProbs has the shape"),
]:
    cases.add("aclnnMoeTokenUnpermuteWithRoutingMap", refuse=(status, text), **{**given, **change})

# Statistics of three devices.
for dtype in [f32, f16, bf16]:
    parts = [noise(count, 5) * 2 + 1 for count in (3, 4, 6)]
    sums, squares = torch.stack([part.sum(0) for part in parts]).to(dtype), torch.stack([part.square().sum(0) for part in parts]).to(dtype)
    counts, mean, variance = torch.tensor([3, 4, 6], dtype=i32), noise(5, dtype=dtype), (torch.rand(5) + 0.5).to(dtype)
    one = sums.double().sum(0) / 13
    two = squares.double().sum(0) / 13 - one.square()
    if dtype == f32:
        every = torch.cat(parts).double()
        assert torch.allclose(one, every.mean(0), atol=1e-5) and torch.allclose(two, every.var(0, unbiased=False), atol=1e-5)
    cases.add(
        "aclnnSyncBatchNormGatherStats", totalSum=sums, totalSquareSum=squares, sampleCount=counts, mean=InOut(mean, (0.9 * mean.double() + 0.1 * one).to(dtype)),
        variance=InOut(variance, (0.9 * variance.double() + 0.1 * two * 13 / 12).to(dtype)), momentum=0.1, eps=1e-3, batchMean=Out(one.to(dtype)),
        batchInvstd=Out((1 / (two + 1e-3).sqrt()).to(dtype)),
    )
given = dict(
    totalSum=noise(2, 3), totalSquareSum=noise(2, 3), sampleCount=torch.ones(2, dtype=i32), mean=InOut(noise(3), noise(3)), variance=InOut(noise(3), noise(3)), momentum=0.1, eps=1e-3,
    batchMean=Out(noise(3), False), batchInvstd=Out(noise(3), False),
)
for change, status, text in [
    ({"sampleCount": torch.ones(2)}, 161002, "sampleCount has the type"), ({"totalSquareSum": noise(3, 3)}, 161002, "totalSquareSum has the shape"), ({"batchMean": Out(noise(2), False)}, 161002, "batchMean has the shape"),
    ({"totalSum": noise(3)}, 161002, "totalSum has the shape"), ({"totalSum": Null}, 161001, "totalSum is a null"),
]:
    cases.add("aclnnSyncBatchNormGatherStats", refuse=(status, text), **{**given, **change})

# Sequences that move on by a token: the last one takes no part.
tokens, sampled, lens = torch.tensor([5, 6, 7]), torch.tensor([11, 12]), torch.tensor([3, 8, 1])
table, page = torch.tensor([[4, 2, 9], [7, 1, 3], [0, 0, 0]]), 4
positions, slots = lens - 1, torch.tensor([0, 0, 77])
given = dict(
    inputTokens=InOut(tokens, torch.tensor([11, 12, 7])), sampledTokenIds=sampled, inputPositions=InOut(positions, torch.tensor([3, 8, 0])), seqLens=InOut(lens, torch.tensor([4, 9, 1])),
    slotMapping=InOut(slots, torch.tensor([4 * 4 + 3, 3 * 4 + 0, 77])), blockTables=table, numSeqs=3, numQueries=2, blockSize=page,
)
cases.add("aclnnAdvanceStep", **given)
for change, status, text in [
    ({"numSeqs": 0}, 161002, "all must be positive"), ({"numQueries": 4}, 161002, "numQueries is 4"), ({"blockTables": table[:2]}, 161002, "blockTables has 2 rows"),
    ({"sampledTokenIds": sampled.int()}, 161002, "sampledTokenIds has the type"), ({"seqLens": InOut(lens[:2], lens[:2])}, 161002, "seqLens has the shape"), ({"blockTables": Null}, 161001, "blockTables is a null"),
]:
    cases.add("aclnnAdvanceStep", refuse=(status, text), **{**given, **change})
# Two tokens are proposed for each sequence; of the first, two were accepted.
cases.add(
    "aclnnAdvanceStepV2", inputTokens=InOut(torch.zeros(2, 3, dtype=i64), torch.tensor([[23, 1, 2], [31, 3, 4]])), sampledTokenIds=torch.tensor([[21, 22, 23], [31, -1, -1]]),
    inputPositions=InOut(torch.tensor([3, 8]), torch.tensor([6, 9])), seqLens=InOut(torch.tensor([4, 9]), torch.tensor([7, 10])),
    slotMapping=InOut(torch.zeros(2, dtype=i64), torch.tensor([2 * 4 + 2, 3 * 4 + 1])), blockTables=table[:2], specToken=torch.tensor([[1, 2], [3, 4]]), acceptedNum=torch.tensor([2, 0]),
    numSeqs=2, numQueries=2, blockSize=page,
)

# Runs of a joined batch.
permute, lens = torch.tensor([2, 0, 1]), torch.tensor([3, 2, 4])
for dtype in [i32, i64]:
    start = torch.cat([torch.zeros(1, dtype=i64), lens.cumsum(0)])
    to = torch.cat([torch.zeros(1, dtype=i64), lens[permute].cumsum(0)])
    out = torch.cat([torch.arange(int(start[one]), int(start[one]) + int(lens[one])) for one in permute])
    given = dict(permute=permute.to(dtype), inputOffset=start.to(dtype), outputOffset=to.to(dtype), outputSize=9)
    cases.add("aclnnExpandIntoJaggedPermute", outputPermuteOut=Out(out.to(dtype)), **given)
for change, status, text in [
    ({"outputSize": 8}, 161002, "outputSize is 8"), ({"inputOffset": start[1:]}, 161002, "inputOffset has 3 elements"), ({"permute": permute.float()}, 161002, "permute has the type"),
]:
    cases.add("aclnnExpandIntoJaggedPermute", refuse=(status, text), outputPermuteOut=Out(out, False), **{**given, **change})
cases.write()
