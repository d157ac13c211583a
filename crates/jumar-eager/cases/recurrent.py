"""Makes recurrent.txt: `python recurrent.py` in an environment with PyTorch."""

import torch

from cases import Cases, Null, Out

torch.manual_seed(25)
cases = Cases("recurrent")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
FLOATS = [f32, f16, bf16, f64]
WITHIN = {f32: 1e-5, f16: 5e-3, bf16: 4e-2, f64: 1e-12}


def noise(*shape, dtype=f32):
    """Multiples of 1/64, which every type holds exactly and which have few digits."""
    return (torch.randint(-60, 61, shape) / 64).to(dtype)


PADDING = torch.Generator().manual_seed(26)


def padding(*shape, dtype=f32):
    """Noise that is of no account: changes of it leave the other numbers alone."""
    return (torch.randint(-60, 61, shape, generator=PADDING) / 64).to(dtype)


def exact(x):
    return None if x is None else x.double().detach().requires_grad_()


# Cells.
for dtype in FLOATS:
    for batch, units, biased in [(2, 3, True), (1, 2, False)]:
        one, two, before = noise(batch, 4 * units, dtype=dtype), noise(batch, 4 * units, dtype=dtype), noise(batch, units, dtype=dtype)
        biases = [noise(4 * units, dtype=dtype) if biased else None for _ in range(2)]
        sums = (one.double() + two.double() + sum(bias.double() for bias in biases if biased)).requires_grad_()
        state = exact(before)
        i, f, g, o = sums.chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        after = f * state + i * g
        hidden = o * after.tanh()
        storage = torch.cat([i, f, g, o], 1).detach()
        cases.add("aclnnThnnFusedLstmCell", inputGates=one, hiddenGates=two, cx=before, inputBiasOptional=biases[0] if biased else Null,
                  hiddenBiasOptional=biases[1] if biased else Null, hyOut=Out(hidden.detach().to(dtype)), cyOut=Out(after.detach().to(dtype)),
                  storageOut=Out(storage.to(dtype)), within=WITHIN[dtype])
        by_hidden, by_state = noise(batch, units, dtype=dtype), noise(batch, units, dtype=dtype)
        if dtype in (f32, f64):
            to_sums, to_state = torch.autograd.grad([hidden, after], [sums, state], [by_hidden.double(), by_state.double()])
            cases.add("aclnnThnnFusedLstmCellBackward", gradHyOptional=by_hidden, gradCOptional=by_state, cx=before, cy=after.detach().to(dtype),
                      storage=storage.to(dtype), hasBias=biased, gradGatesOut=Out(to_sums.to(dtype)), gradCxOut=Out(to_state.to(dtype)),
                      gradBiasOut=Out(to_sums.sum(0).to(dtype)) if biased else Null, within=WITHIN[dtype])


def run(kind, data, sizes, states, params, layers, bidirectional, biased):
    """The layers of torch.lstm or torch.gru over a packed sequence, with the gates of each layer and direction."""
    directions, each = 1 + bidirectional, 4 if biased else 2
    starts = [sum(sizes[:time]) for time in range(len(sizes))]
    kept, last = [], []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            own = params[number * each : (number + 1) * each]
            now = [state[number] for state in states]
            rows = {}
            for time in range(len(sizes)) if direction == 0 else reversed(range(len(sizes))):
                count = sizes[time]
                before = [state[:count] for state in now]
                by_input = data[starts[time] : starts[time] + count] @ own[0].T + (own[2] if biased else 0)
                by_state = before[0] @ own[1].T + (own[3] if biased else 0)
                if kind == "lstm":
                    i, f, g, o = (by_input + by_state).chunk(4, 1)
                    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
                    c = f * before[1] + i * g
                    after = [o * c.tanh(), c]
                    rows[time] = (i, g, f, o, *after, c.tanh())
                else:
                    one, two = by_input.chunk(3, 1), by_state.chunk(3, 1)
                    r, z = ((one[gate] + two[gate]).sigmoid() for gate in range(2))
                    n = (one[2] + r * two[2]).tanh()
                    after = [(1 - z) * n + z * before[0]]
                    rows[time] = (r, z, n, two[2], *after)
                now = [torch.cat([new, old[count:]]) for new, old in zip(after, now, strict=True)]
            kept.append([torch.cat([rows[time][index] for time in range(len(sizes))]) for index in range(len(rows[0]))])
            outputs.append(kept[-1][4])
            last.append(now)
        data = torch.cat(outputs, 1)
    return [data, *(torch.stack(own) for own in zip(*last, strict=True)), kept]


KINDS = {
    "lstm": ("aclnnLSTM", "aclnnLstmBackward", 4, ["iOut", "jOut", "fOut", "oOut", "hOut", "cOut", "tanhCOut"], ["i", "g", "f", "o", "h", "c", "tanhc"]),
    "gru": ("aclnnGRU", "aclnnGRUBackward", 3, ["rOut", "zOut", "nOut", "hnOut", "hOut"], ["r", "z", "n", "hn", "h"]),
}


def layers_case(kind, dtype, sizes, packed, batch, width, units, layers, bidirectional, biased, batch_first, absent=False):
    forward, backward, gates, lists, read = KINDS[kind]
    directions, states = 1 + bidirectional, 2 if kind == "lstm" else 1
    x = noise(sum(sizes), width, dtype=dtype)
    params = []
    for layer in range(layers):
        for _ in range(directions):
            params += [noise(gates * units, width if layer == 0 else directions * units, dtype=dtype), noise(gates * units, units, dtype=dtype)]
            params += [noise(gates * units, dtype=dtype) for _ in range(2)] if biased else []
    state = [noise(layers * directions, batch, units, dtype=dtype) for _ in range(states)]
    if absent:
        state = [torch.zeros_like(each) for each in state]
    ex, ep, es = exact(x), [exact(each) for each in params], [exact(each) for each in state]
    *results, kept = run(kind, ex, sizes, es, ep, layers, bidirectional, biased)
    # PyTorch's own layers agree.
    initial = es if kind == "lstm" else es[0]
    wanted = getattr(torch, kind)(ex, torch.tensor(sizes), initial, ep, biased, layers, 0.0, False, bidirectional)
    assert all(torch.allclose(one, two) for one, two in zip(results, wanted, strict=True))

    padded = packed and kind == "lstm"

    def laid(rows, result=False):
        """Rows as the call has them: packed, or with times or the batch first. Packed rows of an LSTM have padding behind the end of
        a sequence: noise where it has to be ignored, zeros in results."""
        rows = rows.detach()
        if padded:
            whole = torch.zeros(len(sizes), batch, rows.shape[1], dtype=rows.dtype) if result else padding(len(sizes), batch, rows.shape[1], dtype=rows.dtype)
            for time, part in enumerate(rows.split(sizes)):
                whole[time, : sizes[time]] = part
            return whole.flatten(0, 1)
        if packed:
            return rows
        rows = rows.reshape(len(sizes), batch, -1)
        return rows.transpose(0, 1).contiguous() if batch_first else rows

    given = dict(input=laid(x), params=params, hx=state if kind == "lstm" else state[0], hasBias=biased, numLayers=layers, batchFirst=batch_first)
    given["bidirectional" if kind == "lstm" else "bidirection"] = bidirectional
    training = dict(dropout=0.0, train=True)
    counts = torch.tensor(sizes) if packed else Null

    def held_rows(number, index):
        """What a call keeps of a layer and direction. Padding has noise, or the first state, which a reversed sequence begins with."""
        rows = kept[number][index].detach()
        if not padded:
            return (rows if packed else rows.reshape(len(sizes), batch, units)).to(dtype)
        whole = padding(len(sizes), batch, units, dtype=dtype)
        if index in (4, 5):
            whole[:] = state[index - 4][number]
        for time, part in enumerate(rows.split(sizes)):
            whole[time, : sizes[time]] = part
        return whole

    # What a call keeps of padding is its own affair.
    outs = {name: [Out(held_rows(number, index), not padded) for number in range(len(kept))] for index, name in enumerate(lists)}
    output = laid(results[0], True).to(dtype)
    output = output.reshape(len(sizes), batch, -1) if padded else output
    ends = dict(zip(["hy", "cy"], (Out(each.detach().to(dtype)) for each in results[1:])))
    if absent:
        given["hx"] = Null
    cases.add(forward, batchSizes=counts, output=Out(output), within=WITHIN[dtype], **ends, **training, **given, **outs)
    # Out of training nothing is kept: clients pass tensors without dimensions.
    placeholders = {name: [Out(torch.zeros((), dtype=dtype), False) for _ in kept] for name in lists}
    cases.add(forward, batchSizes=counts, output=Out(output), within=WITHIN[dtype], **ends, **{**training, "train": False}, **given, **placeholders)
    if absent:
        return
    if dtype == f16:
        return
    gradients = [noise(*each.shape, dtype=dtype) for each in results]
    found = torch.autograd.grad(results, [ex, *es, *ep], [each.double() for each in gradients])
    found = [each.to(dtype) for each in found]
    held = {name: [held_rows(number, index) for number in range(len(kept))] for index, name in enumerate(read)}
    given.update(zip(["dh", "dc"], gradients[1:]))
    given.update(zip(["dhPrevOut", "dcPrevOut"], map(Out, found[1 : 1 + states])))
    if kind == "lstm":
        given.update(training, batchSizesOptional=counts, outputMask=[True] * 4 if dtype == f32 else Null)
    else:
        given.update(batchSizes=counts)
    cases.add(backward, dy=laid(gradients[0]), dxOut=Out(laid(found[0], True)), dparamsOut=[Out(each) for each in found[1 + states :]],
              within={f32: 5e-5, f64: 1e-11}[dtype], **given, **held)


for kind in KINDS:
    for dtype in [f32, f64, f16]:
        layers_case(kind, dtype, [2] * 3, False, 2, 2, 3, 1, False, True, False)
        layers_case(kind, dtype, [1] * 2, False, 1, 3, 2, 2, True, True, True)
        layers_case(kind, dtype, [2] * 3, False, 2, 2, 2, 2, False, False, False)
        layers_case(kind, dtype, [2], False, 2, 2, 2, 1, True, True, False)
        # Sequences of the lengths 3, 2, 2 and 1, then of 2 and 1.
        layers_case(kind, dtype, [4, 3, 1], True, 4, 2, 3, 1, True, True, False)
        layers_case(kind, dtype, [2, 1], True, 2, 2, 2, 2, True, False, False)
    # Rows enough for several threads.
    layers_case(kind, f32, [5] * 2, False, 5, 2, 3, 1, True, True, False)


def refused(kind, code, text, **changes):
    gates = KINDS[kind][2]
    state, out = noise(2, 1, 2), Out(noise(2, 1, 2), False)
    given = dict(input=noise(2, 1, 3), params=[noise(gates * 2, 3), noise(gates * 2, 2), noise(gates * 2, 2), noise(gates * 2, 2)], batchSizes=Null, hasBias=False,
                 numLayers=2, dropout=0.0, train=True, batchFirst=False, output=out, hy=Out(state, False))
    given.update(dict(hx=[state, state], cy=Out(state, False), bidirectional=False) if kind == "lstm" else dict(hx=state, bidirection=False))
    given.update(changes)
    cases.add(KINDS[kind][0], refuse=(code, text), **given)


# Without first states these are zeros.
for kind in KINDS:
    for dtype in [f32, f16]:
        layers_case(kind, dtype, [2] * 3, False, 2, 2, 3, 1, False, True, False, absent=True)
        layers_case(kind, dtype, [1] * 2, False, 1, 3, 2, 2, True, True, True, absent=True)
        layers_case(kind, dtype, [4, 3, 1], True, 4, 2, 3, 1, True, True, False, absent=True)
    for batch in [2, 1]:
        out = Out(noise(2, batch, 2), False)
        refused(kind, 161002, "hx has the shape [2, 2, 2]" if batch == 2 else "hx has the shape [1, 1, 2]", hx=Null, **dict.fromkeys(["hy", "cy"] if kind == "lstm" else ["hy"], out if batch == 2 else Out(noise(1, 1, 2), False)))

for kind in KINDS:
    refused(kind, 561003, "dropout is 0.5", dropout=0.5)
    refused(kind, 161002, "params has 1", params=[noise(8, 3)])
    refused(kind, 161002, "numLayers is 0", numLayers=0)
    refused(kind, 161002, "2 of a packed input", batchSizes=torch.tensor([1, 1]))
    refused(kind, 161002, "params[0] has the shape [7, 3]", params=[noise(7, 3), noise(8, 2), noise(8, 2), noise(8, 2)])
cases.write()
