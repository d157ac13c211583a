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


def sequence(x, state, params, layers, bidirectional, biased):
    """The layers of torch.lstm, with the gates of each layer and direction."""
    directions, each = 1 + bidirectional, 4 if biased else 2
    kept, last = [], []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            own = params[number * each : (number + 1) * each]
            h, c = state[0][number], state[1][number]
            rows = {}
            order = range(len(x)) if direction == 0 else range(len(x) - 1, -1, -1)
            for time in order:
                sums = x[time] @ own[0].T + h @ own[1].T + (own[2] + own[3] if biased else 0)
                i, f, g, o = sums.chunk(4, 1)
                i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
                c = f * c + i * g
                h = o * c.tanh()
                rows[time] = (i, g, f, o, h, c, c.tanh())
            kept.append([torch.stack([rows[time][index] for time in range(len(x))]) for index in range(7)])
            outputs.append(kept[-1][4])
            last.append((h, c))
        x = torch.cat(outputs, 2)
    return x, torch.stack([h for h, _ in last]), torch.stack([c for _, c in last]), kept


LISTS = ["iOut", "jOut", "fOut", "oOut", "hOut", "cOut", "tanhCOut"]
READ = ["i", "g", "f", "o", "h", "c", "tanhc"]
for dtype in [f32, f64, f16]:
    for times, batch, width, units, layers, bidirectional, biased, batch_first in [
        (3, 2, 2, 3, 1, False, True, False), (2, 1, 3, 2, 2, True, True, True), (3, 2, 2, 2, 2, False, False, False), (1, 2, 2, 2, 1, True, True, False),
    ]:
        directions = 1 + bidirectional
        x = noise(times, batch, width, dtype=dtype)
        params = []
        for layer in range(layers):
            for _ in range(directions):
                params += [noise(4 * units, width if layer == 0 else directions * units, dtype=dtype), noise(4 * units, units, dtype=dtype)]
                params += [noise(4 * units, dtype=dtype) for _ in range(2)] if biased else []
        state = [noise(layers * directions, batch, units, dtype=dtype) for _ in range(2)]
        ex, ep, es = exact(x), [exact(each) for each in params], [exact(each) for each in state]
        y, h, c, kept = sequence(ex, es, ep, layers, bidirectional, biased)
        wanted = torch.lstm(ex, es, ep, biased, layers, 0.0, False, bidirectional, False)
        assert all(torch.allclose(one, two) for one, two in zip((y, h, c), wanted, strict=True))
        turned = lambda x: x.transpose(0, 1).contiguous() if batch_first else x
        given = dict(input=turned(x), params=params, hx=state, hasBias=biased, numLayers=layers, dropout=0.0, train=True, bidirectional=bidirectional,
                     batchFirst=batch_first)
        lists = {name: [Out(each[index].detach().to(dtype)) for each in kept] for index, name in enumerate(LISTS)}
        cases.add("aclnnLSTM", batchSizes=Null, output=Out(turned(y.detach()).to(dtype)), hy=Out(h.detach().to(dtype)), cy=Out(c.detach().to(dtype)),
                  within=WITHIN[dtype], **given, **lists)
        if dtype == f16:
            continue
        gradients = [noise(*each.shape, dtype=dtype) for each in (y, h, c)]
        found = torch.autograd.grad([y, h, c], [ex, *es, *ep], [each.double() for each in gradients])
        found = [each.to(dtype) for each in found]
        lists = {name: [each[index].detach().to(dtype) for each in kept] for index, name in enumerate(READ)}
        cases.add("aclnnLstmBackward", dy=turned(gradients[0]), dh=gradients[1], dc=gradients[2], batchSizesOptional=Null, outputMask=[True] * 4 if dtype == f32 else Null,
                  dxOut=Out(turned(found[0])), dhPrevOut=Out(found[1]), dcPrevOut=Out(found[2]), dparamsOut=[Out(each) for each in found[3:]],
                  within={f32: 5e-5, f64: 1e-11}[dtype], **given, **lists)
x, state = noise(2, 1, 3), [noise(1, 1, 2), noise(1, 1, 2)]
params = [noise(8, 3), noise(8, 2)]
given = dict(input=x, hx=state, hasBias=False, numLayers=1, train=True, bidirectional=False, batchFirst=False, output=Out(noise(2, 1, 2), False),
             hy=Out(state[0], False), cy=Out(state[0], False))
cases.add("aclnnLSTM", params=params, batchSizes=Null, dropout=0.5, refuse=(561003, "dropout is 0.5"), **given)
cases.add("aclnnLSTM", params=params[:1], batchSizes=Null, dropout=0.0, refuse=(161002, "params has 1"), **given)
cases.add("aclnnLSTM", params=params, batchSizes=torch.tensor([1, 1]), dropout=0.0, refuse=(561003, "packed sequences"), **given)
cases.write()
