"""Routing of tokens to experts, recurrent layers, alignment of sequences (CTC), resizing with anti-aliasing."""

import math

import numpy as np

from maker import FLOATS, bits, near, wide

from . import Family
from .activations import sigmoid
from .others import limited, low, steps
from .windows import resized_out


def optional(call, name, dtype, shape, percent=50, domain="small"):
    """A tensor that may be left out: its elements, or `None`."""
    if call.chance(100 - percent):
        call.features.add("optional argument left out")
        return None
    return wide(call.tensor(name, dtype, shape, domain, False))


def sums(dtype, size, scale=4e-6):
    """Sums of products, of the size of what was added."""
    return near(4, 0, scale * (size + 1e-3))


# Routing.

def distinct(call, name, dtype, rows, columns):
    """Rows without equal entries: their order is one."""
    order = np.argsort(call.some("float32", (rows, columns), "normal", False), 1, kind="stable")
    return wide(call.tensor(name, dtype, values=(order - columns // 2) / 4))


def softmax(x):
    made = np.exp(x - x.max(-1, keepdims=True))
    return made / made.sum(-1, keepdims=True)


def top(x, k):
    return np.argsort(-x, -1, kind="stable")[..., :k]


def gating_v2(call):
    dtype = call.float_type()
    rows, experts = call.choose((1, 3, 17, 130)), call.choose((2, 5, 8, 64))
    x = distinct(call, "x", dtype, rows, experts)
    k = call.set("k", call.between(1, experts))
    renorm = call.set("renorm", call.choose((0, 1)))
    chosen = top(x, k)
    weights = softmax(x)
    values = softmax(np.take_along_axis(x, chosen, 1)) if renorm else np.take_along_axis(weights, chosen, 1)
    if call.chance(50):
        finished = call.tensor("finishedOptional", "bool", (rows,))
        chosen = np.where(finished[:, None], experts, chosen)
    call.out("yOut", dtype, values, near(16, 0, 1e-6)), call.out("expertIdxOut", "int32", chosen, bits)
    if call.set("outputSoftmaxResultFlag", not renorm and call.chance(60)):
        call.out("softmaxResultOutOptional", "float32", weights, near(16, 0, 1e-6))


def gating_k(call):
    dtype = call.float_type()
    rows = call.choose((1, 4, 17, 130))
    groups, each = call.choose(((1, 12), (2, 6), (4, 4), (8, 4)))
    experts = groups * each
    kept = call.between(1, groups)
    norm, by_two = call.choose((0, 1)), call.choose((0, 1)) if groups > 1 else 0
    renorm = call.choose((0, 1)) if norm == 0 and groups == 1 else 0
    x = distinct(call, "x", dtype, rows, experts)
    bias = None
    if call.chance(50):
        bias = wide(call.tensor("biasOptional", dtype, values=np.arange(experts) / 8))
    weights = softmax(x) if norm == 0 else sigmoid(x)
    scores = weights + (0 if bias is None else bias)
    grouped = scores.reshape(rows, groups, each)
    marks = np.sort(grouped, -1)[..., -2:].sum(-1) if by_two else grouped.max(-1)
    keep = np.zeros((rows, groups), bool)
    np.put_along_axis(keep, top(marks, kept), True, 1)
    k = call.between(1, min(kept * each, 6))
    scores = np.where(keep[..., None], grouped, -np.inf).reshape(rows, experts)
    chosen = top(scores, k)
    e, factor = call.choose((1e-3, 1.0, 1e-6)), call.choose((2.5, 1.0, -0.5, 0.0))
    y = np.take_along_axis(weights, chosen, 1)
    if norm or renorm:
        y = y / (y.sum(-1, keepdims=True) + e)
    for name, value in (("k", k), ("kGroup", kept), ("groupCount", groups), ("groupSelectMode", by_two), ("renorm", renorm), ("normType", norm), ("outFlag", True), ("routedScalingFactor", factor), ("eps", e)):
        call.set(name, value)
    # Scores that are nearly equal may be in either order.
    gap = np.diff(np.sort(np.where(np.isfinite(scores), scores, -1e3), 1), axis=1)
    sure = (np.where(gap > 500, 1, gap) > 2e-5).all(1) & (np.diff(np.sort(marks, 1), axis=1) > 2e-5).all(1)
    sure = sure[:, None]
    call.out("yOut", dtype, y * factor, lambda found, wanted: near(32, 0, 1e-5)(np.where(sure, found, wanted).astype(found.dtype), wanted))
    call.out("expertIdxOut", "int32", chosen, lambda found, wanted: bits(np.where(sure, found, wanted).astype(found.dtype), wanted))
    call.out("outOut", "float32", weights, near(16, 0, 1e-6))


def assigned(call, tokens, each, experts):
    """Each token goes to different experts."""
    order = np.argsort(call.some("float32", (tokens, experts), "normal", False), 1, kind="stable")
    return order[:, :each]


def sizes_of(call):
    tokens, experts = call.choose((1, 3, 5, 17)), call.choose((2, 4, 8))
    return tokens, call.between(1, min(experts, 3)), experts, call.choose((1, 3, 8, 33))


def sorted_order(chosen):
    first = np.argsort(chosen.reshape(-1), kind="stable")
    return first, np.argsort(first, kind="stable")


def init_routing(call):
    dtype = call.float_type()
    tokens, each, experts, width = sizes_of(call)
    x = wide(call.tensor("x", dtype, (tokens, width), "small", False))
    chosen = assigned(call, tokens, each, experts)
    # Assignments are numbered by the column.
    numbers = np.arange(tokens * each).reshape(each, tokens).T
    call.tensor("rowIdx", "int32", values=numbers), call.tensor("expertIdx", "int32", values=chosen)
    active = call.set("activeNum", call.choose((tokens, max(tokens - 1, 1))))
    first, _ = sorted_order(chosen)
    in_order = numbers.reshape(-1)[first]
    positions = np.empty(tokens * each, np.int64)
    positions[in_order] = np.arange(tokens * each)
    rows = min(active, tokens) * each
    call.out("expandedXOut", dtype, x[in_order % tokens][:rows]), call.out("expandedRowIdxOut", "int32", positions, bits)
    call.out("expandedExpertIdxOut", "int32", chosen.reshape(-1)[first], bits)


def init_routing_v2(call, quantised=False):
    dtype = call.float_type()
    tokens, each, experts, width = sizes_of(call)
    x = wide(call.tensor("x", dtype, (tokens, width), "small", False))
    chosen = assigned(call, tokens, each, experts)
    call.tensor("expertIdx", "int32", values=chosen)
    first, inverse = sorted_order(chosen)
    counts = np.bincount(chosen.reshape(-1), minlength=experts)
    own = lambda name: name if quantised else name + "Optional"  # noqa: E731
    padded = not quantised and call.chance(40)
    active = 0 if padded else call.choose((0, 0, call.between(1, tokens * each)))
    capacity = call.between(1, tokens) if padded else 0
    flag = 0 if padded else call.choose((0, 1, 2))
    for name, value in (("activeNum", active), ("expertCapacity", capacity), ("expertNum", experts), ("dropPadMode", int(padded))):
        call.set(own(name), value)
    call.set("expertTokensCountOrCumsumFlag" + ("" if quantised else "Optional"), flag)
    call.set("expertTokensBeforeCapacityFlag" + ("" if quantised else "Optional"), padded)
    if flag:
        call.out("expertTokensCountOrCumsumOutOptional", "int32", counts.cumsum() if flag == 1 else counts, bits)
    rows, positions = x[first // each], inverse
    if padded:
        rows, positions, used = np.zeros((experts, capacity, width)), np.full(tokens * each, -1), [0] * experts
        for slot in first:
            expert = int(chosen.reshape(-1)[slot])
            if used[expert] < capacity:
                rows[expert, used[expert]], positions[slot] = x[slot // each], expert * capacity + used[expert]
            used[expert] += 1
        call.out("expertTokensBeforeCapacityOutOptional", "int32", counts, bits)
    elif active:
        rows = rows[:active]
    call.out("expandedRowIdxOut", "int32", positions, bits)
    if not quantised:
        return call.out("expandedXOut", dtype, rows)
    if call.set("quantMode", call.choose((0, 1))) == 0:
        scale = wide(call.tensor("scaleOptional", "float32", values=np.array([3.5])))
        offset = wide(call.tensor("offsetOptional", "float32", values=np.array([1.25])))
        exact = rows * scale + offset
        slack = 0 * np.abs(exact).max(initial=0)
    else:
        factor = np.abs(rows).max(-1) / 127
        with np.errstate(all="ignore"):
            exact, slack = np.nan_to_num(rows / factor[:, None]), 1e-3
        call.out("dynamicQuantScaleOutOptional", "float32", factor, near(8))
    call.out("expandedXOut", "int8", limited(np.rint(exact), "int8"), steps(exact, 0, 0, slack))


def init_routing_v3(call):
    dtype = call.float_type()
    tokens, each, experts, width = sizes_of(call)
    x = wide(call.tensor("x", dtype, (tokens, width), "small", False))
    chosen = assigned(call, tokens, each, experts)
    call.tensor("expertIdx", "int32", values=chosen)
    first, inverse = sorted_order(chosen)
    start = call.below(experts)
    end = call.between(start + 1, experts)
    kind, index = call.choose((0, 1)), call.choose((0, 1))
    for name, value in (("activeNum", -1), ("expertCapacity", 0), ("expertNum", experts), ("dropPadMode", 0), ("expertTokensNumType", kind), ("expertTokensNumFlag", True), ("rowIdxType", index)):
        call.set(name, value)
    call.set("activeExpertRangeOptional", [start, end])
    flat = chosen.reshape(-1)
    kept = first[(flat[first] >= start) & (flat[first] < end)]
    count = tokens * each
    gathered, scattered = np.full(count, -1), np.full(count, -1)
    gathered[kept], scattered[: len(kept)] = np.arange(len(kept)), kept
    own = np.bincount(flat, minlength=experts)[start:end]
    call.out("expandedRowIdxOut", "int32", scattered if index else gathered, bits)
    call.out("expertTokensCountOrCumsumOut", "int64", own if kind else own.cumsum(), bits)
    rows = np.zeros((count, width))
    used = np.arange(count) < len(kept)
    rows[: len(kept)] = x[kept // each]
    if call.set("quantMode", call.choose((-1, 1))) == -1:
        # Rows behind the last are not defined.
        call.out("expandedXOut", dtype, rows, lambda found, wanted: near(0)(np.where(used[:, None], wide(found), 0), np.where(used[:, None], wanted, 0)))
        call.out("expandedScaleOut", "float32", None, shape=(count,))
        return
    factor = np.abs(rows).max(-1) / 127
    with np.errstate(all="ignore"):
        exact = np.nan_to_num(rows / factor[:, None])
    check = steps(exact, 0, 0, 1e-3)
    call.out("expandedXOut", "int8", limited(np.rint(exact), "int8"), lambda found, wanted: check(np.where(used[:, None], found, wanted), wanted))
    call.out("expandedScaleOut", "float32", factor, lambda found, wanted: near(8)(np.where(used, found, wanted).astype(np.float32), wanted))


def unpermute(call, backward=False):
    dtype = call.float_type()
    tokens, each, experts, width = sizes_of(call)
    chosen = assigned(call, tokens, each, experts)
    first, inverse = sorted_order(chosen)
    count = tokens * each
    weighted = each > 1 or call.chance(50)
    kept = count if backward else call.choose((count, count, call.between(1, count)))
    x = wide(call.tensor("permutedTokens", dtype, (kept, width), "small", False)) if weighted or not backward else None
    call.tensor("sortedIndices", "int32", values=inverse)
    weights = wide(call.tensor("probsOptional", dtype, (tokens, each), "small", False)) if weighted else np.ones((tokens, each))
    call.set("paddedMode", False)
    if x is not None:
        # Rows that were dropped add nothing.
        gathered = np.where((inverse < kept)[:, None], np.concatenate([x, np.zeros((count - kept, width))])[inverse], 0).reshape(tokens, each, width)
    if not backward:
        part = gathered * weights[..., None]
        return call.out("out", dtype, part.sum(1), near(4, 0, 4e-6 * (np.abs(part).sum(1) + 1e-3)))
    g = wide(call.tensor("unpermutedTokensGrad", dtype, (tokens, width), "small", False))
    flow = (g[:, None] * weights[..., None]).reshape(count, width)
    made = np.empty_like(flow)
    made[inverse] = flow
    call.out("permutedTokensGradOut", dtype, made, near(4))
    if weighted:
        part = gathered * g[:, None]
        call.out("probsGradOut", dtype, part.sum(-1), near(4, 0, 4e-6 * (np.abs(part).sum(-1) + 1e-3)))


def permute_grad(call, names):
    dtype = call.float_type()
    tokens, each, experts, width = sizes_of(call)
    _, inverse = sorted_order(assigned(call, tokens, each, experts))
    g = wide(call.tensor(names[0], dtype, (tokens * each, width), "small", False))
    call.tensor(names[1], "int32", values=inverse), call.set(names[2], each)
    if names[2] == "topK":
        call.set("dropPadMode", 0), call.set("activeNum", 0)
    else:
        call.set("paddedMode", False)
    part = g[inverse].reshape(tokens, each, width)
    call.out("out", dtype, part.sum(1), near(4, 0, 4e-6 * (np.abs(part).sum(1) + 1e-3)))


def finalize(call, version):
    dtype = call.float_type()
    tokens, each, experts, width = sizes_of(call)
    chosen = assigned(call, tokens, each, experts)
    _, inverse = sorted_order(chosen)
    x = wide(call.tensor("expandedX", dtype, (tokens * each, width), "small", False))
    suffix = "" if version == 1 else "Optional"
    one = wide(call.tensor("x1" + suffix, dtype, (tokens, width), "small", False))
    two = optional(call, "x2Optional", dtype, (tokens, width))
    bias = wide(call.tensor("bias" + suffix, dtype, (experts, width), "small", False))
    weights = wide(call.tensor("scales" + suffix, dtype, (tokens, each), "small", False))
    call.tensor("expandedExpertIdx" if version == 1 else "expertIdxOptional", "int32", values=chosen)
    mode = 0 if version == 1 else call.set("dropPadMode", call.choose((0, 2)))
    call.tensor("expandedRowIdx", "int32", values=inverse.reshape(tokens, each).T.reshape(-1) if mode == 0 else inverse)
    part = (x[inverse].reshape(tokens, each, width) + bias[chosen]) * weights[..., None]
    size = np.abs(one) + (0 if two is None else np.abs(two)) + ((np.abs(x[inverse]).reshape(tokens, each, width) + np.abs(bias[chosen])) * np.abs(weights)[..., None]).sum(1)
    call.out("out", dtype, one + (0 if two is None else two) + part.sum(1), near(4, 0, 4e-6 * size))


def by_map(call):
    dtype = call.float_type()
    tokens, experts, width = call.choose((1, 3, 5, 17)), call.choose((2, 4, 8)), call.choose((1, 3, 8, 33))
    each = call.between(1, min(3, experts))
    chosen = assigned(call, tokens, each, experts)
    mapped = np.zeros((tokens, experts), bool)
    np.put_along_axis(mapped, chosen, True, 1)
    ids = np.concatenate([np.flatnonzero(mapped[:, expert]) for expert in range(experts)])
    inverse = np.argsort(ids, kind="stable")
    x = wide(call.tensor("tokens", dtype, (tokens, width), "small", False))
    call.tensor("routingMap", call.choose(("bool", "int8")), values=mapped)
    weights = optional(call, "probsOptional", dtype, (tokens, experts))
    call.set("numOutTokens", tokens * each), call.set("dropAndPad", False)
    call.out("permuteTokensOut", dtype, x[ids])
    if weights is not None:
        call.out("permuteProbsOutOptional", dtype, weights.T[mapped.T])
    call.out("sortedIndicesOut", "int32", inverse, bits)


ROUTING = Family("routing of tokens", "ops/routing")
ROUTING.add("MoeGatingTopKSoftmaxV2", gating_v2)
ROUTING.add("MoeGatingTopK", gating_k)
ROUTING.add("MoeInitRouting", init_routing)
ROUTING.add("MoeInitRoutingV2", init_routing_v2)
ROUTING.add("MoeInitRoutingQuantV2", init_routing_v2, quantised=True)
ROUTING.add("MoeInitRoutingV3 MoeInitRoutingCustom", init_routing_v3)
ROUTING.add("MoeTokenUnpermute", unpermute)
ROUTING.add("MoeTokenUnpermuteGrad", unpermute, backward=True)
ROUTING.add("MoeTokenPermuteGrad", permute_grad, names=("permutedOutputGrad", "sortedIndices", "numTopk"))
ROUTING.add("MoeInitRoutingV2Grad", permute_grad, names=("gradExpandedX", "expandedRowIdx", "topK"))
ROUTING.add("MoeFinalizeRouting", finalize, version=1)
ROUTING.add("MoeFinalizeRoutingV2", finalize, version=2)
ROUTING.add("MoeTokenPermuteWithRoutingMap", by_map)


# Recurrent layers.

class Layer:
    """One layer and direction over all times: forwards, and backwards from the gradients of its states."""

    def __init__(self, kind, params, biased):
        self.kind, self.biased = kind, biased
        self.w, self.r = params[:2]
        self.b, self.c = params[2:] if biased else (0.0, 0.0)

    def forward(self, x, states, reverse):
        times = range(len(x))[::-1] if reverse else range(len(x))
        self.x, self.times, self.rows, self.before = x, times, {}, {}
        now = list(states)
        for t in times:
            self.before[t] = now
            one, two = x[t] @ self.w.T + self.b, now[0] @ self.r.T + self.c
            if self.kind == "lstm":
                i, f, g, o = np.split(one + two, 4, 1)
                i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
                c = f * now[1] + i * g
                now = [o * np.tanh(c), c]
                self.rows[t] = (i, g, f, o, *now, np.tanh(c))
            else:
                one, two = np.split(one, 3, 1), np.split(two, 3, 1)
                r, z = sigmoid(one[0] + two[0]), sigmoid(one[1] + two[1])
                n = np.tanh(one[2] + r * two[2])
                now = [(1 - z) * n + z * now[0]]
                self.rows[t] = (r, z, n, two[2], *now)
        self.last = now
        return np.stack([self.rows[t][4] for t in range(len(x))])

    def kept(self):
        return [np.stack([self.rows[t][index] for t in range(len(self.x))]) for index in range(len(self.rows[0]))]

    def backward(self, by_y, by_last):
        """Returns the gradients of the input, of the first states and of the parameters."""
        by = [one.copy() for one in by_last]
        dx = np.zeros_like(self.x)
        dw, dr = np.zeros_like(self.w), np.zeros_like(self.r)
        db, dc_ = np.zeros(len(self.w)), np.zeros(len(self.w))
        for t in reversed(self.times):
            by_h = by[0] + by_y[t]
            if self.kind == "lstm":
                i, g, f, o, _, c, tanh_c = self.rows[t]
                by_c = by[1] + by_h * o * (1 - tanh_c**2)
                to_input = np.concatenate([by_c * g * i * (1 - i), by_c * self.before[t][1] * f * (1 - f), by_c * i * (1 - g * g), by_h * tanh_c * o * (1 - o)], 1)
                to_state = to_input
                by = [to_state @ self.r, by_c * f]
            else:
                r, z, n, hn, _ = self.rows[t]
                by_n = by_h * (1 - z) * (1 - n * n)
                by_z = by_h * (self.before[t][0] - n) * z * (1 - z)
                by_r = by_n * hn * r * (1 - r)
                to_input, to_state = np.concatenate([by_r, by_z, by_n], 1), np.concatenate([by_r, by_z, by_n * r], 1)
                by = [to_state @ self.r + by_h * z]
            dx[t] = to_input @ self.w
            dw, dr = dw + to_input.T @ self.x[t], dr + to_state.T @ self.before[t][0]
            db, dc_ = db + to_input.sum(0), dc_ + to_state.sum(0)
        return dx, by, [dw, dr, *([db, dc_] if self.biased else [])]


LISTS = {"lstm": (("iOut", "jOut", "fOut", "oOut", "hOut", "cOut", "tanhCOut"), ("i", "g", "f", "o", "h", "c", "tanhc")), "gru": (("rOut", "zOut", "nOut", "hnOut", "hOut"), ("r", "z", "n", "hn", "h"))}


def recurrent(call, kind, backward=False):
    dtype = call.choose(("float32", "float16") if not backward else ("float32",))
    times, batch, width, units = call.choose((1, 2, 5)), call.between(1, 3), call.choose((1, 2, 9)), call.choose((1, 3, 8))
    layers, both, biased, first = call.between(1, 2), call.chance(50), call.chance(60), call.chance(40)
    directions, gates = 1 + both, 4 if kind == "lstm" else 3
    turn = lambda v: v.transpose(1, 0, 2) if first else v  # noqa: E731
    listed = lambda name, dims: call.tensor(name, dtype, dims, "small", False, listed=True)  # noqa: E731
    x = turn(wide(call.tensor("input", dtype, (batch, times, width) if first else (times, batch, width), "small", False)))
    params = []
    for layer in range(layers):
        for _ in range(directions):
            params += [listed("params", (gates * units, width if layer == 0 else directions * units)), listed("params", (gates * units, units))]
            params += [listed("params", (gates * units,)) for _ in range(2)] if biased else []
    call.list("params", params)
    values = [wide(one.values) for one in params]
    count, state_dims = layers * directions, (layers * directions, batch, units)
    if kind == "lstm":
        states = [listed("hx", state_dims) for _ in range(2)]
        call.list("hx", states)
        states = [wide(one.values) for one in states]
    elif backward or call.chance(70):
        states = [wide(call.tensor("hx", dtype, state_dims, "small", False))]
    else:
        states = [np.zeros(state_dims)]
    each = 4 if biased else 2
    data, made = x, []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            one = Layer(kind, values[number * each:(number + 1) * each], biased)
            outputs.append(one.forward(data, [state[number] for state in states], direction == 1))
            made.append(one)
        data = np.concatenate(outputs, 2)
    call.set("hasBias", biased), call.set("numLayers", layers), call.set("batchFirst", first)
    call.set("bidirectional" if kind == "lstm" else "bidirection", both)
    check = near(16, 0, 8e-6 + 0)
    names, read = LISTS[kind]
    if "dropout" in call.kinds:
        call.set("dropout", 0.0), call.set("train", True)
    if not backward:
        call.out("output", dtype, turn(data), check)
        for index, name in enumerate(("hy", "cy")[: len(states)]):
            call.out(name, dtype, np.stack([one.last[index] for one in made]), check)
        for index, name in enumerate(names):
            call.list(name, [call.out("", dtype, one.kept()[index], check, listed=True) for one in made])
        return
    for index, name in enumerate(read):
        call.list(name, [call.tensor(name, dtype, values=one.kept()[index], listed=True) for one in made])
    by_y = turn(wide(call.tensor("dy", dtype, turn(data).shape, "small", False)))
    by_last = [wide(call.tensor(name, dtype, state_dims, "small", False)) for name in ("dh", "dc")[: len(states)]]
    by_first, by_params = [np.zeros(state_dims) for _ in states], [None] * count
    for layer in reversed(range(layers)):
        parts = np.split(by_y, directions, 2)
        by_x = 0
        for direction in range(directions):
            number = layer * directions + direction
            dx, starts, own = made[number].backward(parts[direction], [one[number] for one in by_last])
            by_x = by_x + dx
            by_params[number] = own
            for index, start in enumerate(starts):
                by_first[index][number] = start
        by_y = by_x
    scale = 1 + max(np.abs(one).max(initial=0) for own in by_params for one in own)
    check = near(64, 0, 2e-5 * scale)
    if kind == "lstm":
        call.set("outputMask", [True] * 4)
    call.out("dxOut", dtype, turn(by_y), check)
    for name, one in zip(("dhPrevOut", "dcPrevOut"), by_first):
        call.out(name, dtype, one, check)
    call.list("dparamsOut", [call.out("", dtype, one, check, listed=True) for own in by_params for one in own])


def cell_backward(call):
    b, h = call.between(1, 4), call.choose((1, 4, 17, 130))
    by_h, by_c, c, after = (wide(call.tensor(name, "float32", (b, h), "small", False)) for name in ("gradHyOptional", "gradCOptional", "cx", "cy"))
    storage = wide(call.tensor("storage", "float32", (b, 4 * h), "inner", False))
    i, f, g, o = np.split(storage, 4, 1)
    biased = call.set("hasBias", call.chance(60))
    t = np.tanh(after)
    by_c = by_c + by_h * o * (1 - t * t)
    gates = np.concatenate([by_c * g * i * (1 - i), by_c * c * f * (1 - f), by_c * i * (1 - g * g), by_h * t * o * (1 - o)], 1)
    check = near(16, 0, 4e-6 * (1 + np.abs(by_c).max(initial=0)) * (1 + np.abs(c).max(initial=0)))
    call.out("gradGatesOut", "float32", gates, check), call.out("gradCxOut", "float32", by_c * f, check)
    if biased:
        call.out("gradBiasOut", "float32", gates.sum(0), near(16, 0, 2e-5 * (1 + np.abs(by_c).max(initial=0)) * (1 + np.abs(c).max(initial=0))))


RECURRENT = Family("recurrent layers", "ops/recurrent")
RECURRENT.add("LSTM", recurrent, kind="lstm")
RECURRENT.add("GRU", recurrent, kind="gru")
RECURRENT.add("LstmBackward", recurrent, kind="lstm", backward=True)
RECURRENT.add("GRUBackward", recurrent, kind="gru", backward=True)
RECURRENT.add("ThnnFusedLstmCellBackward", cell_backward)


# Alignment.

def total(*values):
    """The logarithm of a sum of powers."""
    most = max(values)
    return most if most == -math.inf else most + math.log(sum(math.exp(value - most) for value in values))


def alignment(x, labels, blank):
    """The logarithms of what leads to each state at each time; what is left of them backwards."""
    states = [blank]
    for label in labels:
        states += [int(label), blank]
    times, count = len(x), len(states)
    skips = lambda s: s > 1 and states[s] != blank and states[s] != states[s - 2]  # noqa: E731
    alpha, beta = np.full((times, count), -math.inf), np.full((times, count), -math.inf)
    alpha[0, :2] = x[0, states[:2]]
    beta[-1, -2:] = x[-1, states[-2:]]
    for t in range(1, times):
        for s in range(count):
            alpha[t, s] = x[t, states[s]] + total(alpha[t - 1, s], alpha[t - 1, s - 1] if s else -math.inf, alpha[t - 1, s - 2] if skips(s) else -math.inf)
    for t in reversed(range(times - 1)):
        for s in range(count):
            beta[t, s] = x[t, states[s]] + total(beta[t + 1, s], beta[t + 1, s + 1] if s + 1 < count else -math.inf, beta[t + 1, s + 2] if s + 2 < count and skips(s + 2) else -math.inf)
    return states, alpha, beta, -total(*alpha[-1, -2:])


def ctc(call, backward=False):
    times, batch, classes = call.choose((1, 4, 9)), call.between(1, 3), call.choose((2, 3, 7))
    blank = call.below(classes)
    x = wide(call.some("float32", (times, batch, classes), "small", False))
    x = x - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)) - x.max(-1, keepdims=True)
    x = wide(call.tensor("logProbs", "float32", values=x))
    most = call.between(1, 3)
    labels = call.some("int64", (batch, most), "any", False) % (classes - 1)
    labels = labels + (labels >= blank)
    inputs = [call.between(1, times) for _ in range(batch)]
    # Each item has a way through: as many times as labels, and one between equal ones.
    targets, lost = [], call.chance(15)
    for item in range(batch):
        length = call.between(0, most)
        # At times an item has none.
        while not (lost and item == 0) and length + sum(labels[item, i] == labels[item, i - 1] for i in range(1, length)) > inputs[item]:
            length -= 1
        targets.append(length)
    call.tensor("targets", "int64", values=labels)
    call.set("inputLengths", inputs), call.set("blank", blank)
    zero = call.set("zeroInfinity", call.chance(50))
    call.set("targetLengths" if backward else "targetlengths", targets)
    loss, alphas, slope = np.zeros(batch), np.full((batch, times, 2 * most + 1), -math.inf), np.zeros(x.shape)
    g = wide(call.tensor("gradOut", "float32", (batch,), "small", False)) if backward else np.ones(batch)
    for item in range(batch):
        states, alpha, beta, loss[item] = alignment(x[: inputs[item], item], labels[item, : targets[item]], blank)
        alphas[item, : inputs[item], : len(states)] = alpha
        if np.isinf(loss[item]) and backward:
            slope[: inputs[item], item] = 0 if zero else np.nan
            continue
        for t in range(inputs[item]):
            slope[t, item] = np.exp(x[t, item])
            for s, state in enumerate(states):
                slope[t, item, state] -= math.exp(alpha[t, s] + beta[t, s] - x[t, item, state] + loss[item])
        slope[:, item] *= g[item]
    if not backward:
        call.out("negLogLikelihoodOut", "float32", loss, near(16, 0, 2e-5)), call.out("logAlphaOut", "float32", alphas, near(16, 0, 2e-5))
        return
    call.tensor("negLogLikelihood", "float32", values=loss), call.tensor("logAlpha", "float32", values=alphas)
    call.out("out", "float32", slope, near(16, 0, 2e-5 * (1 + np.abs(g).max())))


# Resizing with anti-aliasing.

def cubic(x, a=-0.5):
    x = abs(x)
    return ((a + 2) * x - (a + 3)) * x * x + 1 if x < 1 else (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def blur_weights(size, out, aligned, scale, support, kernel):
    """What each element of an axis adds to each of the resized axis: [out, size]."""
    if aligned:
        ratio = (size - 1) / (out - 1) if out > 1 else 0.0
    else:
        ratio = 1 / scale if scale > 0 else size / out
    reach = support * max(ratio, 1.0)
    inverse = 1 / ratio if ratio >= 1 else 1.0
    made = np.zeros((out, size))
    for i in range(out):
        center = ratio * (i + 0.5)
        low_, high = max(int(center - reach + 0.5), 0), min(int(center + reach + 0.5), size)
        weights = np.array([kernel((j - center + 0.5) * inverse) for j in range(low_, high)])
        made[i, low_:high] = weights / weights.sum() if weights.sum() else weights
    return made


def antialiased(call, kernel, backward=False):
    dtype = call.choose(FLOATS if kernel == "linear" else ("float32", "float16"))
    n, c = call.between(1, 2), call.between(1, 3)
    size, out = [call.choose((2, 3, 5, 8, 17)) for _ in range(2)], [call.choose((1, 2, 4, 7, 16)) for _ in range(2)]
    aligned = call.set("alignCorners", call.chance(40))
    support, f = (1.0, lambda x: max(1 - abs(x), 0.0)) if kernel == "linear" else (2.0, cubic)
    h, w = (blur_weights(size[axis], out[axis], aligned, 0.0, support, f) for axis in range(2))
    call.set("outputSize", out), call.set("scalesH", 0.0), call.set("scalesW", 0.0)
    if backward:
        call.set("inputSize", [n, c, *size])
        x = wide(call.tensor("gradOutput", dtype, (n, c, *out), "small", False))
        apply = lambda v, ms: np.einsum("ncij,ih,jw->nchw", v, *ms)  # noqa: E731
    else:
        x = wide(call.tensor(call.inputs[0], dtype, (n, c, *size), "small", False))
        apply = lambda v, ms: np.einsum("nchw,ih,jw->ncij", v, *ms)  # noqa: E731
    call.given["gradOutput" if backward else call.inputs[0]].format = 0
    resized_out(call, "out", dtype, apply, x, [h, w], 1e-5, False)
    call.given["out"].array.format = 0


RESIZED = Family("resizing with anti-aliasing, alignment", "ops/filter")
RESIZED.add("CtcLoss", ctc)
RESIZED.add("CtcLossBackward", ctc, backward=True)
RESIZED.add("UpsampleBilinear2dAA", antialiased, kernel="linear")
RESIZED.add("UpsampleBilinear2dAABackward", antialiased, kernel="linear", backward=True)
RESIZED.add("UpsampleBicubic2dAA", antialiased, kernel="cubic")
RESIZED.add("UpsampleBicubic2dAAGrad", antialiased, kernel="cubic", backward=True)

FAMILIES = [ROUTING, RECURRENT, RESIZED]
