"""Cases of operators that are joined with collectives: each rank's part of one call, computed in float64 on the joined data."""

import torch
from cases import Cases, Group, Null, Out

torch.manual_seed(17)
cases = Cases("joined")
f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
i8, i32, i64 = torch.int8, torch.int32, torch.int64


def noise(*dims, dtype=f16):
    return torch.randn(*dims).to(dtype)


def small(*dims):
    return torch.randint(-20, 21, dims).to(i8)


for size in [1, 2, 4]:
    for dtype in [f16, bf16]:
        plain = {"commTurn": 0, "streamMode": 1}
        within = {f16: 3e-3, bf16: 2e-2}[dtype]
        # The rows of all ranks, times the matrix of each.
        parts = [noise(3, 8, dtype=dtype) for _ in range(size)]
        joined = torch.cat(parts)
        for with_bias in [False, True]:
            for rank in range(size):
                weight, bias = noise(8, 5, dtype=dtype), noise(5, dtype=dtype)
                y = joined.double() @ weight.double() + (bias.double() if with_bias else 0)
                cases.add(
                    "aclnnAllGatherMatmul", x1=parts[rank], x2=weight, bias=bias if with_bias else Null, group=Group(rank, size), gatherIndex=0,
                    output=Out(y.to(dtype)), gatherOut=Out(joined) if with_bias else Null, within=within, **plain,
                )
        # The sum of the products of all ranks.
        for dims in [(4, 6), (2, 3, 6)]:
            ones, twos = [noise(*dims, dtype=dtype) for _ in range(size)], [noise(6, 5, dtype=dtype) for _ in range(size)]
            bias, others = noise(5, dtype=dtype), [noise(*dims[:-1], 5, dtype=dtype) for _ in range(size)]
            products = [one.double() @ two.double() for one, two in zip(ones, twos)]
            for rank in range(size):
                cases.add(
                    "aclnnMatmulAllReduce", x1=ones[rank], x2=twos[rank], bias=Null, group=Group(rank, size), reduceOp="sum",
                    output=Out(sum(products).to(dtype)), within=within, **plain,
                )
            total = sum(product + bias.double() + other.double() for product, other in zip(products, others))
            for rank in range(size):
                cases.add(
                    "aclnnMatmulAllReduceV2", x1=ones[rank], x2=twos[rank], bias=bias, x3=others[rank], group=Group(rank, size), reduceOp="sum",
                    output=Out(total.to(dtype)), within=within, **plain,
                )
        ones, twos, bias = [noise(8, 6, dtype=dtype) for _ in range(size)], [noise(6, 5, dtype=dtype) for _ in range(size)], noise(5, dtype=dtype)
        total = sum(one.double() @ two.double() + bias.double() for one, two in zip(ones, twos))
        for rank in range(size):
            part = total.reshape(size, 8 // size, 5)[rank]
            cases.add(
                "aclnnMatmulReduceScatter", x1=ones[rank], x2=twos[rank], bias=bias, group=Group(rank, size), reduceOp="sum", output=Out(part.to(dtype)),
                within=within, **plain,
            )
        # int8, with a scale for each column and each row.
        for dims, by_row in [((4, 6), True), ((2, 3, 6), False), ((2, 3, 6), True)]:
            ones, twos = [small(*dims) for _ in range(size)], [small(6, 5) for _ in range(size)]
            rows = dims[0] if len(dims) == 2 else dims[0] * dims[1]
            scale = (torch.rand(5) * 0.02 + 0.01).to(bf16 if dtype == bf16 else f32)
            row_scales, bias = [torch.rand(rows) + 0.5 for _ in range(size)], torch.randint(-50, 50, (5,)).to(i32)
            others = [noise(*dims[:-1], 5, dtype=dtype) for _ in range(size)]
            values = []
            for rank in range(size):
                value = (ones[rank].double() @ twos[rank].double() + bias.double()) * scale.double()
                values.append(value * row_scales[rank].double().reshape(*dims[:-1], 1) if by_row else value)
            total = sum(value + other.double() for value, other in zip(values, others)).to(dtype)
            for rank in range(size):
                given = dict(x1=ones[rank], x2=twos[rank], group=Group(rank, size), reduceOp="sum", output=Out(total), within=2 * within, **plain)
                newer = dict(biasOptional=bias, x3Optional=others[rank], **given)
                row_scale = row_scales[rank] if by_row else Null
                if not by_row:
                    cases.add("aclnnQuantMatmulAllReduce", bias=bias, x3=others[rank], dequantScale=scale, **given)
            for rank in range(size):
                given = dict(x1=ones[rank], x2=twos[rank], group=Group(rank, size), reduceOp="sum", output=Out(total), within=2 * within, **plain)
                newer = dict(biasOptional=bias, x3Optional=others[rank], **given)
                row_scale = row_scales[rank] if by_row else Null
                cases.add("aclnnQuantMatmulAllReduceV2", dequantScale=scale, pertokenScaleOptional=row_scale, **newer)
            for rank in range(size):
                given = dict(x1=ones[rank], x2=twos[rank], group=Group(rank, size), reduceOp="sum", output=Out(total), within=2 * within, **plain)
                row_scale = row_scales[rank] if by_row else Null
                cases.add(
                    "aclnnQuantMatmulAllReduceV4", x2Scale=scale, x1ScaleOptional=row_scale, commQuantScale1Optional=Null, commQuantScale2Optional=Null,
                    biasOptional=bias, x3Optional=others[rank], groupSize=0, commQuantMode=0, **given,
                )
            # What travels is rounded to int8 on the way there and back.
            first, second = torch.full((5,), 0.25).to(dtype), torch.full((5,), 0.5).to(dtype)
            parts = [value + other.double() for value, other in zip(values, others)]
            near = [((part / 0.25) - (part / 0.25).floor() - 0.5).abs().min() for part in parts]
            if min(near) < 1e-3:
                continue
            there = sum((part / 0.25).round().clamp(-128, 127) for part in parts)
            back = (there * 0.5).round().clamp(-128, 127) * 0.5
            for rank in range(size):
                cases.add(
                    "aclnnQuantMatmulAllReduceV3", x1=ones[rank], x2=twos[rank], biasOptional=bias, x3Optional=others[rank], dequantScale=scale,
                    pertokenScaleOptional=row_scales[rank] if by_row else Null, commQuantScale1Optional=first, commQuantScale2Optional=second,
                    group=Group(rank, size), reduceOp="sum", output=Out(back.to(dtype)), **plain,
                )
        # Weights of int8 that are restored, in groups of rows.
        for groups in [0, 32]:
            ones, twos = [noise(4, 70, dtype=dtype) for _ in range(size)], [small(70, 5) for _ in range(size)]
            dims = (5,) if groups == 0 else (3, 5)
            scales, offsets = [(torch.rand(dims) * 0.02).to(dtype) for _ in range(size)], [noise(*dims, dtype=dtype) for _ in range(size)]
            bias, others = noise(5, dtype=dtype), [noise(4, 5, dtype=dtype) for _ in range(size)]

            def spread(factor):
                return factor.double() if groups == 0 else factor.double().repeat_interleave(groups, 0)[:70]

            total = 0
            for rank in range(size):
                weight = (twos[rank].double() + spread(offsets[rank])) * spread(scales[rank])
                total = total + ones[rank].double() @ weight + bias.double() + others[rank].double()
            for rank in range(size):
                cases.add(
                    "aclnnWeightQuantMatmulAllReduce", x1=ones[rank], x2=twos[rank], bias=bias, antiquantScale=scales[rank], antiquantOffset=offsets[rank],
                    x3=others[rank], group=Group(rank, size), reduceOp="sum", antiquantGroupSize=groups, output=Out(total.to(dtype)), within=2 * within, **plain,
                )
    for rank in range(size):
        cases.add("aclnnDistributeBarrier", xRef=noise(3), group=Group(rank, size), **{"worldSize": size})
    for rank in range(size):
        cases.add("aclnnDistributeBarrierV2", xRef=noise(3), timeOut=Null, elasticInfo=Null, group=Group(rank, size), **{"worldSize": size})

# What is refused.
once = {"commTurn": 0, "streamMode": 1}
x, w = noise(4, 6), noise(6, 5)
given = dict(**once, x1=x, x2=w, bias=Null, group=Group(0, 2), gatherIndex=0, output=Out(noise(8, 5), False), gatherOut=Out(noise(8, 6), False))
for change, status, text in [
    ({"x1": Null}, 161001, "x1 is a null"), ({"group": Null}, 161001, "group is a null"), ({"group": "none"}, 161002, "no communicator"),
    ({"x1": x.float()}, 161002, "x1 has the type"), ({"x2": w.bfloat16()}, 161002, "x2 has the type"), ({"x2": noise(5, 5)}, 161002, "does not exist"),
    ({"gatherIndex": 1}, 161002, "gatherIndex is 1"), ({"streamMode": 0}, 161002, "streamMode is 0"), ({"x1": noise(1, 4, 6)}, 161002, "x1 must have 2 dim"),
    ({"output": Out(noise(4, 5), False)}, 161002, "output has the shape"), ({"gatherOut": Out(noise(4, 6), False)}, 161002, "gatherOut has the shape"),
    ({"bias": noise(4)}, 161002, "bias has the shape"), ({"commTurn": -1}, 161002, "commTurn is -1"),
]:
    cases.add("aclnnAllGatherMatmul", refuse=(status, text), **{**given, **change})
given = dict(x1=x, x2=w, bias=Null, x3=noise(4, 5), group=Group(0, 2), reduceOp="sum", **once, output=Out(noise(4, 5), False))
for change, status, text in [
    ({"reduceOp": "max"}, 161002, "reduceOp"), ({"x3": noise(3, 5)}, 161002, "x3 has the shape"), ({"x3": noise(4, 5).float()}, 161002, "x3 has the type"),
    ({"output": Out(noise(5, 4), False)}, 161002, "output has the shape"), ({"bias": noise(5).float()}, 161002, "bias has the type"),
]:
    cases.add("aclnnMatmulAllReduceV2", refuse=(status, text), **{**given, **change})
given.pop("x3")
for change, status, text in [
    ({"x1": noise(3, 6)}, 161002, "divisible by 2"), ({"output": Out(noise(4, 5), False)}, 161002, "output has the shape"),
]:
    cases.add("aclnnMatmulReduceScatter", refuse=(status, text), **{**given, **change})
given = dict(
    x1=small(4, 6), x2=small(6, 5), biasOptional=Null, x3Optional=Null, dequantScale=torch.rand(5), pertokenScaleOptional=Null, commQuantScale1Optional=Null,
    commQuantScale2Optional=Null, group=Group(0, 2), reduceOp="sum", **once, output=Out(noise(4, 5), False),
)
for change, status, text in [
    ({"x1": noise(4, 6)}, 161002, "x1 has the type"), ({"commQuantScale1Optional": noise(5)}, 161002, "given together"),
    ({"dequantScale": torch.rand(4)}, 161002, "dequantScale has the shape"), ({"pertokenScaleOptional": torch.rand(3)}, 161002, "pertokenScaleOptional has the shape"),
    ({"biasOptional": torch.rand(5)}, 161002, "biasOptional has the type"), ({"output": Out(torch.rand(4, 5), False)}, 161002, "output has the type"),
    ({"commQuantScale1Optional": noise(5), "commQuantScale2Optional": noise(4)}, 161002, "commQuantScale2Optional has the shape"),
]:
    cases.add("aclnnQuantMatmulAllReduceV3", refuse=(status, text), **{**given, **change})
given = dict(
    x1=x, x2=small(6, 5), bias=Null, antiquantScale=noise(5), antiquantOffset=Null, x3=Null, group=Group(0, 2), reduceOp="sum", **once,
    antiquantGroupSize=0, output=Out(noise(4, 5), False),
)
for change, status, text in [
    ({"x2": w}, 161002, "x2 has the type"), ({"antiquantScale": noise(4)}, 161002, "antiquantScale has the shape"), ({"antiquantGroupSize": -1}, 161002, "antiquantGroupSize is -1"),
    ({"antiquantOffset": noise(4)}, 161002, "antiquantOffset has the shape"),
]:
    cases.add("aclnnWeightQuantMatmulAllReduce", refuse=(status, text), **{**given, **change})
cases.add("aclnnDistributeBarrier", xRef=noise(3), group=Group(0, 2), **{"worldSize": 3}, refuse=(161002, "worldSize is 3"))
cases.add("aclnnDistributeBarrierV2", xRef=noise(3), timeOut=torch.ones(1, dtype=i32), elasticInfo=Null, group=Group(0, 2), **{"worldSize": 2}, refuse=(561003, "timeOut"))

# Tokens of experts on other ranks.


for size, experts in [(1, 2), (2, 3), (4, 1)]:
    for dtype in [f16, bf16]:
        within = {f16: 3e-3, bf16: 2e-2}[dtype]
        # counts[source][rank][expert]
        counts = torch.randint(0, 4, (size, size, experts))
        counts[0, 0, 0] += 1
        counts[:, :, 0] += 1
        xs = [noise(int(counts[rank].sum()), 6, dtype=dtype) for rank in range(size)]
        weights = [noise(experts, 6, 4, dtype=dtype) for _ in range(size)]
        mm_x, mm_weight = noise(3, 5, dtype=dtype), noise(2, 5, dtype=dtype)
        pieces = [torch.split(xs[rank], counts[rank].flatten().tolist()) for rank in range(size)]
        permuted, results = [], []
        for rank in range(size):
            # By expert, and then by the rank that sent them.
            rows = [[pieces[source][rank * experts + expert] for source in range(size)] for expert in range(experts)]
            permuted.append(torch.cat([part for parts in rows for part in parts]))
            results.append(torch.cat([torch.cat(parts).double() @ weights[rank][expert].double() for expert, parts in enumerate(rows)]))
        for swapped in [False, True]:
            for rank in range(size):
                cases.add(
                    "aclnnAlltoAllvGroupedMatMul", gmmX=xs[rank], gmmWeight=weights[rank].mT.contiguous() if swapped else weights[rank], sendCountsTensorOptional=Null,
                    recvCountsTensorOptional=Null, mmXOptional=mm_x if swapped else Null, mmWeightOptional=mm_weight if swapped else Null, group=Group(rank, size),
                    **{"epWorldSize": size}, sendCounts=counts[rank].flatten().tolist(), recvCounts=counts[:, rank].flatten().tolist(), transGmmWeight=swapped,
                    transMmWeight=True, permuteOutFlag=swapped, gmmY=Out(results[rank].to(dtype)),
                    mmYOptional=Out((mm_x.double() @ mm_weight.double().T).to(dtype)) if swapped else Null, permuteOutOptional=Out(permuted[rank]) if swapped else Null,
                    within=within,
                )
        # The way back: rows by expert and rank, results to the ranks in their order.
        back = []
        for rank in range(size):
            parts = []
            for source in range(size):
                for expert in range(experts):
                    start = sum(int(counts[other, source, before]) for before in range(experts) for other in range(size) if (before, other) < (expert, rank))
                    parts.append(results[source][start : start + int(counts[rank, source, expert])])
            back.append(torch.cat(parts))
        for rank in range(size):
            cases.add(
                "aclnnGroupedMatMulAlltoAllv", gmmX=permuted[rank], gmmWeight=weights[rank], sendCountsTensorOptional=Null, recvCountsTensorOptional=Null, mmXOptional=Null,
                mmWeightOptional=Null, group=Group(rank, size), **{"epWorldSize": size}, sendCounts=counts[:, rank].flatten().tolist(),
                recvCounts=counts[rank].flatten().tolist(), transGmmWeight=False, transMmWeight=False, y=Out(back[rank].to(dtype)), mmYOptional=Null, within=within,
            )

given = dict(
    gmmX=noise(4, 6), gmmWeight=noise(1, 6, 3), sendCountsTensorOptional=Null, recvCountsTensorOptional=Null, mmXOptional=Null, mmWeightOptional=Null, group=Group(0, 2),
    **{"epWorldSize": 2}, sendCounts=[3, 1], recvCounts=[2, 2], transGmmWeight=False, transMmWeight=False, permuteOutFlag=False, gmmY=Out(noise(4, 3), False), mmYOptional=Null,
    permuteOutOptional=Null,
)
for change, status, text in [
    ({"sendCounts": [3, 2]}, 161002, "sendCounts add up to 5"), ({"recvCounts": [2]}, 161002, "recvCounts is [2]"), ({"recvCounts": [2, -2]}, 161002, "recvCounts is"),
    ({"recvCounts": [2, 3]}, 161002, "gmmY has the shape"), ({"epWorldSize": 4}, 161002, "epWorldSize is 4"), ({"gmmWeight": noise(1, 5, 3)}, 161002, "do not exist"),
    ({"mmXOptional": noise(2, 2)}, 161002, "give both or none"), ({"permuteOutFlag": True}, 161001, "permuteOutOptional"),
    ({"sendCountsTensorOptional": torch.tensor([3, 1])}, 561003, "sendCountsTensorOptional"), ({"gmmX": noise(4, 6).float()}, 161002, "gmmX has the type"),
]:
    cases.add("aclnnAlltoAllvGroupedMatMul", refuse=(status, text), **{**given, **change})


def route(size, shared_ranks, shared, total, choices, active, most):
    """Returns, for each rank and each of its experts, the rows as (rank, token, choice) in order."""
    per_rank = total // (size - shared_ranks)
    rows = []
    for rank in range(size):
        mine = []
        if rank < shared_ranks:
            replicas = shared_ranks // shared
            mine.append([
                (source, token, choices[source].shape[1]) for source in range(size) for token in range(len(choices[source]))
                if bool(active[source][token].any()) and rank // replicas * replicas + source % replicas == rank
            ])
        else:
            for expert in range((rank - shared_ranks) * per_rank, (rank - shared_ranks + 1) * per_rank):
                mine.append([
                    (source, token, slot) for source in range(size) for token in range(len(choices[source])) for slot in range(choices[source].shape[1])
                    if int(choices[source][token, slot]) == expert and bool(active[source][token, slot])
                ])
        rows.append(mine)
    return rows


def padded(values, rows):
    out = torch.zeros(rows, *values.shape[1:], dtype=values.dtype)
    out[: len(values)] = values
    return out


for version in ["", "V2", "V3"]:
    for size, shared_ranks, shared, per_rank, each in [(1, 0, 0, 4, 2), (2, 0, 0, 2, 3), (4, 0, 1, 1, 2), (4, 2, 1, 2, 2), (4, 2, 2, 2, 1)]:
        if not version and shared_ranks:
            continue
        for dtype, quantised, smooth, masked, same in [(f16, False, False, 0, True), (bf16, False, False, 1, True), (f16, True, True, 2, True), (bf16, True, False, 0, False)]:
            if masked == 2 and version != "V3":
                continue
            total, width = per_rank * (size - shared_ranks), 4
            special = [1, 2, 1] if version == "V3" and not shared_ranks else [0, 0, 0]
            tokens = [3 if same else 2 + rank % 2 for rank in range(size)]
            most = 3
            xs = [noise(count, width, dtype=dtype) for count in tokens]
            choices = [torch.stack([torch.randperm(total + sum(special))[:each] for _ in range(count)]).to(i32) for count in tokens]
            active = [torch.ones(count, each, dtype=torch.bool) for count in tokens]
            for rank in range(size if masked else 0):
                if masked == 1:
                    active[rank][2:] = False
                else:
                    active[rank] = torch.rand(tokens[rank], each) > 0.3
            masks = [Null if not masked else active[rank][:, 0] if masked == 1 else active[rank] for rank in range(size)]
            weights = [torch.rand(count, each) for count in tokens]
            scales = torch.rand(shared + total, width) + 0.5
            rows = route(size, shared_ranks, shared, total, choices, active, most)
            common = dict(
                **{"epWorldSize": size}, moeExpertNum=total, groupTp="", **{"tpWorldSize": 0}, tpRankId=0, expertShardType=0, sharedExpertNum=shared, sharedExpertRankNum=shared_ranks,
                globalBs=0 if same else most * size,
            )
            end = "" if not version else "Optional"
            out = "" if not version else "Out"
            outcomes, capacities, ends = [], [], []
            good = True
            for rank in range(size):
                own = len(rows[rank])
                space = most * size * min(per_rank, each) if rank >= shared_ranks else most * size * shared // shared_ranks
                capacities.append(space)
                flat = [row for expert in rows[rank] for row in expert]
                expanded = torch.stack([xs[source][token] for source, token, _ in flat]) if flat else torch.zeros(0, width, dtype=dtype)
                counted = torch.tensor([len(expert) for expert in rows[rank]])
                running, last = [], 0
                for expert in rows[rank]:
                    for source in range(size):
                        last += sum(1 for row in expert if row[0] == source)
                        running.append(last)
                ends.append(torch.tensor(running, dtype=i32))
                token_scales = torch.zeros(space)
                values = padded(expanded, space)
                if quantised:
                    table = [shared + (rank - shared_ranks) * per_rank + index if rank >= shared_ranks else rank // (shared_ranks // shared) for index in range(own)]
                    factors = [scales[table[index]] for index, expert in enumerate(rows[rank]) for _ in expert]
                    line = expanded.float() * (torch.stack(factors) if smooth and flat else 1)
                    scale = line.abs().amax(-1) / 127 if flat else torch.zeros(0)
                    exact = line.double() / scale.double()[:, None]
                    good = good and bool(((exact - exact.floor() - 0.5).abs() > 1e-3).all())
                    values, token_scales = padded(exact.round().to(i8), space), padded(scale, space)
                outcomes.append((values, token_scales, counted, flat))
            if not good:
                continue
            for rank in range(size):
                values, token_scales, counted, flat = outcomes[rank]
                given = dict(common, x=xs[rank], expertIds=choices[rank], groupEp=Group(rank, size), epRankId=rank, quantMode=2 if quantised else 0, expertTokenNumsType=rank % 2)
                given["scales" + end] = scales if smooth else Null
                given["xActiveMask" + end] = masks[rank]
                given["expertScales" + end] = weights[rank]
                given["expandX" + out] = Out(values)
                given["dynamicScales" + out] = Out(token_scales) if quantised else Null
                given["expertTokenNums" + out] = Out(counted if rank % 2 else counted.cumsum(0))
                given["epRecvCounts" + out] = Out(ends[rank])
                given["tpRecvCounts" + out] = Null
                kept = torch.tensor([float(weights[source][token, slot]) if slot < each else 0.0 for source, token, slot in flat])
                given["expandScales" + out] = Out(padded(kept, len(values)))
                if version:
                    triples = torch.tensor(flat, dtype=i32).flatten()
                    given |= dict(commAlg="", assistInfoForCombineOut=Out(padded(triples, len(values) * 128), len(values) <= 12))
                else:
                    seen, numbers = {}, []
                    for token in range(tokens[rank]):
                        for slot in range(each):
                            expert = int(choices[rank][token, slot])
                            number = seen.get(expert, 0) if bool(active[rank][token, slot]) and expert < total else 0
                            if bool(active[rank][token, slot]) and expert < total:
                                seen[expert] = number + 1
                            numbers.append(number)
                    given["expandIdx"] = Out(torch.tensor(numbers, dtype=i32))
                if version == "V3":
                    given |= dict(elasticInfoOptional=Null, zeroExpertNum=special[0], copyExpertNum=special[1], constExpertNum=special[2])
                cases.add("aclnnMoeDistributeDispatch" + version, within=1e-5 if quantised else None, **given)
            # The results of the experts come back.
            if quantised:
                continue
            results = [padded(noise(len(outcomes[rank][3]), width, dtype=dtype), capacities[rank]) for rank in range(size)]
            own_x = [noise(count, width, dtype=dtype) for count in tokens]
            residual = [noise(count, 1, width, dtype=dtype) for count in tokens]
            gamma = noise(width, dtype=dtype)
            tables = [noise(special[2], width, dtype=dtype) for _ in range(3)]
            for form in ["", "AddRmsNorm"]:
                name = "aclnnMoeDistributeCombine" + (version if not form else form + {"V2": "", "V3": "V2"}.get(version, ""))
                if form and not version:
                    continue
                for rank in range(size):
                    total_x = torch.zeros(tokens[rank], width, dtype=f64)
                    if version and not shared_ranks:
                        total_x += own_x[rank].double()
                    for source in range(size):
                        for row, (back_to, token, slot) in enumerate(outcomes[source][3]):
                            if back_to == rank:
                                total_x[token] += results[source][row].double() * (float(weights[rank][token, slot]) if slot < each else 1)
                    for token in range(tokens[rank]):
                        for slot in range(each):
                            kind = int(choices[rank][token, slot]) - total - special[0]
                            if kind < 0 or not bool(active[rank][token, slot]):
                                continue
                            weight, x = float(weights[rank][token, slot]), xs[rank][token].double()
                            if kind < special[1]:
                                total_x[token] += weight * x
                            else:
                                one, two, value = [table[kind - special[1]].double() for table in tables]
                                total_x[token] += weight * (one * x + two * value)
                    given = dict(
                        common, expandX=results[rank], expertIds=choices[rank], epSendCounts=ends[rank], expertScales=weights[rank], groupEp=Group(rank, size),
                        epRankId=rank, outDtype=0, commQuantMode=0,
                    )
                    if not version:
                        given |= dict(
                            expandIdx=torch.zeros(tokens[rank] * each, dtype=i32), tpSendCounts=Null, xActiveMask=masks[rank], activationScale=Null, weightScale=Null, groupList=Null,
                            expandScales=Null, groupList_type=0, x=Out(total_x.to(dtype)),
                        )
                    else:
                        given |= dict(
                            assistInfoForCombine=torch.zeros(0, dtype=i32), tpSendCountsOptional=Null, xActiveMaskOptional=masks[rank],
                            activationScaleOptional=Null, weightScaleOptional=Null, groupListOptional=Null, expandScalesOptional=Null,
                            sharedExpertXOptional=own_x[rank] if not shared_ranks else Null, groupListType=0, commAlg="",
                        )
                        if not form:
                            given["xOut"] = Out(total_x.to(dtype))
                    if version == "V3":
                        given |= dict(
                            elasticInfoOptional=Null, oriXOptional=xs[rank], constExpertAlpha1Optional=tables[0], constExpertAlpha2Optional=tables[1],
                            constExpertVOptional=tables[2], zeroExpertNum=special[0], copyExpertNum=special[1], constExpertNum=special[2],
                        )
                    if form:
                        joined_x = total_x + residual[rank].double().flatten(1)
                        rstd = 1 / (joined_x.square().mean(-1, keepdim=True) + 1e-3).sqrt()
                        y = joined_x * rstd * gamma.double()
                        given |= dict(
                            residualX=residual[rank], gamma=gamma, normEps=1e-3, yOut=Out(y[:, None].to(dtype)), rstdOut=Out(rstd[:, None].float()),
                            xOut=Out(joined_x[:, None].to(dtype)),
                        )
                    cases.add(name, within={f16: 3e-3, bf16: 2e-2}[dtype], **given)

x, ids = noise(3, 4), torch.tensor([[0, 1], [1, 0], [0, 1]], dtype=i32)
given = dict(
    x=x, expertIds=ids, scalesOptional=Null, xActiveMaskOptional=Null, expertScalesOptional=Null, groupEp=Group(0, 2), **{"epWorldSize": 2}, epRankId=0, moeExpertNum=2, groupTp="",
    **{"tpWorldSize": 0}, tpRankId=0, expertShardType=0, sharedExpertNum=0, sharedExpertRankNum=0, quantMode=0, globalBs=0, expertTokenNumsType=1, commAlg="",
    expandXOut=Out(noise(6, 4), False), dynamicScalesOut=Null, assistInfoForCombineOut=Out(torch.zeros(6 * 128, dtype=i32), False),
    expertTokenNumsOut=Out(torch.zeros(1, dtype=i64), False), epRecvCountsOut=Out(torch.zeros(2, dtype=i32), False), tpRecvCountsOut=Null, expandScalesOut=Null,
)
for change, status, text in [
    ({"x": x.float()}, 161002, "x has the type"), ({"expertIds": ids.long()}, 161002, "expertIds has the type"), ({"epRankId": 1}, 161002, "epRankId is 1"),
    ({"epWorldSize": 3}, 161002, "epWorldSize is 3"), ({"moeExpertNum": 3}, 161002, "moeExpertNum is 3"), ({"tpWorldSize": 2}, 561003, "tpWorldSize"),
    ({"quantMode": 1}, 161002, "quantMode is 1"), ({"globalBs": 5}, 161002, "globalBs is 5"), ({"expandXOut": Out(noise(5, 4), False)}, 161002, "at least 6 rows"),
    ({"quantMode": 2}, 161002, "expandXOut has the type"), ({"xActiveMaskOptional": torch.ones(2, dtype=torch.bool)}, 161002, "xActiveMaskOptional has the shape"),
    ({"expertTokenNumsType": 2}, 161002, "expertTokenNumsType is 2"), ({"sharedExpertRankNum": 1}, 161002, "sharedExpertRankNum is 1"), ({"x": noise(2, 4)}, 161002, "x has the shape"),
    ({"expertTokenNumsOut": Out(torch.zeros(2, dtype=i64), False)}, 161002, "expertTokenNumsOut has the shape"), ({"groupEp": "other"}, 161002, "no communicator"),
    ({"assistInfoForCombineOut": Out(torch.zeros(3, dtype=i32), False)}, 161002, "assistInfoForCombineOut has the shape"), ({"expertIds": Null}, 161001, "expertIds is a null"),
]:
    cases.add("aclnnMoeDistributeDispatchV2", refuse=(status, text), **{**given, **change})
cases.write()
