"""Trains models on the CPU and through the prebuilt adapter, and compares the losses of each step.

    python models.py [MODEL ...] [--modes queue-0,blocking] [--steps 50] [--check]

Each mode of the adapter's task queue and allocator runs in a process of its own. A model passes where every loss is as close to
the CPU's as the limits below say, and where the language model generates the CPU's tokens. With --check each mode runs under
`jumar check`, which has to find nothing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

CLOSE = 1e-4
# Before the network has learned anything, only rounding differs.
FIRST, FIRST_CLOSE = 10, 2e-6
# Where an element passes the kink of a ReLU or another one becomes the maximum of a pool, the gradients change by a step, and so does
# everything after it. Such a step separates the CPU's own float32 from its float64 by 6e-5 (one thread) or 2e-7 (two threads).
WITH_KINKS = {"resnet18": 1e-3}
TOKENS = 128

MODES = {
    "queue-0": {"TASK_QUEUE_ENABLE": "0"},
    "queue-1": {"TASK_QUEUE_ENABLE": "1"},
    "queue-2": {"TASK_QUEUE_ENABLE": "2"},
    "blocking": {"ASCEND_LAUNCH_BLOCKING": "1"},
    "expandable": {"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"},
}


def models():
    """Returns a function for each model, which returns the module, its optimizer, data, and a function that computes the loss.

    Some take sizes, which default to those of a quick test.
    """
    import torch
    from torch import nn
    from torch.nn import functional

    def mlp():
        module = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 5))
        data = torch.randn(32, 20), torch.randint(0, 5, (32,))
        optimizer = torch.optim.SGD(module.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
        return module, optimizer, data, lambda x, y: functional.cross_entropy(module(x), y)

    class Block(nn.Module):
        def __init__(self, inner, outer, stride):
            super().__init__()
            self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
            self.second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
            self.norms = nn.ModuleList([nn.BatchNorm2d(outer), nn.BatchNorm2d(outer)])
            self.shortcut = nn.Identity()
            if stride != 1 or inner != outer:
                self.shortcut = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

        def forward(self, x):
            inner = functional.relu(self.norms[0](self.first(x)), inplace=True)
            return functional.relu(self.norms[1](self.second(inner)) + self.shortcut(x), inplace=True)

    def resnet18(widths=(8, 16, 32, 64), batch=8, side=64):
        layers = [nn.Conv2d(3, widths[0], 7, 2, 3, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
        inner = widths[0]
        for stage, width in enumerate(widths):
            layers += [Block(inner, width, 2 if stage else 1), Block(width, width, 1)]
            inner = width
        module = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inner, 10))
        data = torch.randn(batch, 3, side, side), torch.randint(0, 10, (batch,))
        optimizer = torch.optim.SGD(module.parameters(), lr=0.002, momentum=0.9)
        return module, optimizer, data, lambda x, y: functional.cross_entropy(module(x), y)

    class Encoder(nn.Module):
        def __init__(self, words=40, width=32, count=2, heads=4):
            super().__init__()
            self.embedding = nn.Embedding(words, width)
            layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True)
            self.layers = nn.TransformerEncoder(layer, count)
            self.output = nn.Linear(width, words)

        def forward(self, tokens):
            mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
            return self.output(self.layers(self.embedding(tokens), mask=mask)).flatten(0, 1)

    def transformer(batch=4, length=16, **sizes):
        module = Encoder(**sizes)
        data = torch.randint(0, 40, (batch, length)), torch.randint(0, 40, (batch * length,))
        optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
        return module, optimizer, data, lambda x, y: functional.cross_entropy(module(x), y)

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x, cache=None):
            batch, length, width = x.shape
            query, key, value = self.inputs(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
            if cache is not None:
                if cache:
                    key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
                cache[:] = [key, value]
            result = functional.scaled_dot_product_attention(query, key, value, is_causal=length > 1)
            return self.output(result.transpose(1, 2).reshape(batch, length, width))

    class Layer(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
            self.attention = Attention(width, heads)
            self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x, cache=None):
            x = x + self.attention(self.norms[0](x), cache)
            return x + self.inner(self.norms[1](x))

    class Gpt(nn.Module):
        def __init__(self, words=50, width=32, heads=4, layers=2, context=160):
            super().__init__()
            self.words, self.positions = nn.Embedding(words, width), nn.Embedding(context, width)
            self.layers = nn.ModuleList([Layer(width, heads) for _ in range(layers)])
            self.norm = nn.LayerNorm(width)
            self.output = nn.Linear(width, words, bias=False)

        def forward(self, tokens, caches=None, start=0):
            x = self.words(tokens) + self.positions(torch.arange(start, start + tokens.shape[1], device=tokens.device))
            for index, layer in enumerate(self.layers):
                x = layer(x, caches[index] if caches is not None else None)
            return self.output(self.norm(x))

        @torch.no_grad()
        def generate(self, prompt, count):
            """Returns the most likely tokens after a prompt, one a step, with the keys and values of earlier steps kept."""
            caches = [[] for _ in self.layers]
            step, start, tokens = prompt, 0, []
            for _ in range(count):
                following = self(step, caches, start)[:, -1].argmax(-1, keepdim=True)
                start += step.shape[1]
                step = following
                tokens.append(following)
            return torch.cat(tokens, 1).cpu().flatten().tolist()

    def gpt(**sizes):
        module = Gpt(**sizes)
        tokens = torch.randint(0, 50, (4, 33))
        data = tokens[:, :-1].contiguous(), tokens[:, 1:].flatten()
        optimizer = torch.optim.AdamW(module.parameters(), lr=3e-3, weight_decay=0.1)
        return module, optimizer, data, lambda x, y: functional.cross_entropy(module(x).flatten(0, 1), y)

    class Vae(nn.Module):
        def __init__(self, latent=8):
            super().__init__()
            self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Flatten())
            self.mean, self.spread = nn.Linear(16 * 16, latent), nn.Linear(16 * 16, latent)
            self.decoder = nn.Sequential(
                nn.Linear(latent, 16 * 16), nn.Unflatten(1, (16, 4, 4)), nn.ReLU(), nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ReLU(),
                nn.ConvTranspose2d(8, 1, 4, 2, 1), nn.Sigmoid(),
            )

        def forward(self, x, noise):
            inner = self.encoder(x)
            mean, spread = self.mean(inner), self.spread(inner)
            result = self.decoder(mean + noise * (0.5 * spread).exp())
            divergence = -0.5 * (1 + spread - mean.square() - spread.exp()).sum(1).mean()
            return functional.binary_cross_entropy(result, x) + 1e-2 * divergence

    def vae():
        module = Vae()
        # The noise is data, so that both devices have the same.
        data = torch.rand(8, 1, 16, 16), torch.randn(8, 8)
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        return module, optimizer, data, module

    class Tagger(nn.Module):
        def __init__(self, layer=nn.LSTM, words=60, width=16, hidden=24, tags=7, **options):
            super().__init__()
            self.embedding = nn.Embedding(words, width, padding_idx=0)
            self.recurrent = layer(width, hidden, batch_first=True, **options)
            self.output = nn.Linear(hidden * (1 + self.recurrent.bidirectional), tags)

        def forward(self, words):
            return self.output(self.recurrent(self.embedding(words))[0]).flatten(0, 1)

    def tagger(layer=nn.LSTM, **options):
        module = Tagger(layer, **options)
        words = torch.randint(1, 60, (6, 10))
        words[1, 7:], words[4, 5:] = 0, 0
        tags = torch.randint(0, 7, (6, 10)).masked_fill(words == 0, -100)
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-2)
        return module, optimizer, (words, tags.flatten()), lambda x, y: functional.cross_entropy(module(x), y, ignore_index=-100)

    # The adapter computes one layer in one direction by aclnnLSTM, others by DynamicRNN of the Graph Engine, and GRUs by aclnnGRU.
    def lstm2():
        return tagger(num_layers=2, bidirectional=True)

    def gru():
        return tagger(nn.GRU, num_layers=2, bidirectional=True)

    return {"mlp": mlp, "resnet18": resnet18, "transformer": transformer, "gpt": gpt, "vae": vae, "lstm": tagger, "lstm2": lstm2, "gru": gru}


def train(name, device, steps):
    """Returns the loss of each step, and the tokens that a language model generates then."""
    import torch

    torch.manual_seed(0)
    module, optimizer, data, loss_of = models()[name]()
    module.to(device)
    data = [each.to(device) for each in data]
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(*data)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    tokens = module.eval().generate(data[0][:1, :8], TOKENS) if name == "gpt" else []
    return {"losses": losses, "tokens": tokens}


def work(device, names, steps):
    """Trains on one device, and writes one line of JSON a model."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if device == "npu":
        import torch
        import torch_npu  # noqa: F401  (registers the device "npu")

        torch.npu.set_device(0)
    for name in names:
        print(json.dumps([name, train(name, device, steps)]), file=channel, flush=True)


def process(device, names, steps, environment, prefix=()):
    command = [*prefix, sys.executable, os.path.abspath(__file__), "--device", device, "--steps", str(steps), *names]
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stderr[-3000:])
    return {name: result for name, result in map(json.loads, done.stdout.splitlines())}


def checked(names, steps, environment):
    """Trains under `jumar check`. Returns the losses and the findings."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "findings.json")
        found = process("npu", names, steps, environment, ("jumar", "check", "--json", report, "--"))
        with open(report, encoding="utf-8") as file:
            return found, json.load(file)


def compare(name, found, wanted):
    """Returns a sentence on a model, and whether it passes."""
    if found is None:
        return "did not train", False
    distances = [abs(one - two) for one, two in zip(found["losses"], wanted["losses"], strict=True)]
    distance, first = max(distances), max(distances[:FIRST])
    text = f"loss {wanted['losses'][0]:.4f} -> {found['losses'][-1]:.4f}, largest distance {distance:.1e}, {first:.1e} in the first {FIRST} steps"
    if wanted["tokens"]:
        same = sum(one == two for one, two in zip(found["tokens"], wanted["tokens"], strict=True))
        text += f", {same} of {len(wanted['tokens'])} tokens"
    is_close = first <= FIRST_CLOSE and distance <= WITH_KINKS.get(name, CLOSE)
    return text, is_close and found["tokens"] == wanted["tokens"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--device", choices=["cpu", "npu"], help="train on this device only, and print the losses")
    parser.add_argument("--modes", type=lambda text: text.split(","), default=list(MODES))
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--check", action="store_true", help="run each mode under `jumar check`")
    options = parser.parse_args()
    names = options.models or ["mlp", "resnet18", "transformer", "gpt", "vae", "lstm"]
    if options.device:
        work(options.device, names, options.steps)
        return 0
    wanted = process("cpu", names, options.steps, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
    wrong = false = 0
    for mode in options.modes:
        start, findings = time.monotonic(), []
        if options.check:
            found, findings = checked(names, options.steps, MODES[mode])
        else:
            found = process("npu", names, options.steps, MODES[mode])
        print(f"{mode} ({time.monotonic() - start:.0f} s)")
        for name in names:
            text, passed = compare(name, found.get(name), wanted[name])
            wrong += not passed
            print(f"  {name}: {text}{'' if passed else ': WRONG'}", flush=True)
        if options.check:
            print(f"  jumar check: {len(findings)} findings", flush=True)
            false += len(findings)
        for finding in findings:
            print(f"    {json.dumps(finding)[:500]}: WRONG")
    print(f"{len(names) * len(options.modes) - wrong} of {len(names) * len(options.modes)} models train as on the CPU")
    return int(bool(wrong or false))


if __name__ == "__main__":
    sys.exit(main())
