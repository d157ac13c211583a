"""Trains small networks on the CPU and on an Ascend device, from the same start, and compares the losses.

    python train.py [network ...] [--steps N]
"""

import argparse
import sys

import torch
import torch_npu  # noqa: F401  (registers the device "npu")
from torch import nn

CLOSE = 1e-4


class Transformer(nn.Module):
    """Two layers of a language model with a causal mask."""

    def __init__(self, words=50, width=32):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.output = nn.Linear(width, words)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.output(self.layers(self.embedding(tokens), mask=mask)).flatten(0, 1)


def mlp():
    network = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    return network, optimizer, torch.randn(64, 16), torch.randint(0, 4, (64,))


def cnn():
    network = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 4),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    return network, optimizer, torch.randn(16, 3, 16, 16), torch.randint(0, 4, (16,))


def transformer():
    network = Transformer()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
    return network, optimizer, torch.randint(0, 50, (4, 12)), torch.randint(0, 50, (48,))


NETWORKS = {"mlp": mlp, "cnn": cnn, "transformer": transformer}


def losses(name, device, steps):
    """Returns the loss of each step."""
    torch.manual_seed(0)
    network, optimizer, x, y = NETWORKS[name]()
    network.to(device)
    x, y = x.to(device), y.to(device)
    result = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        result.append(loss.item())
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", choices=[[], *NETWORKS], default=[])
    parser.add_argument("--steps", type=int, default=50)
    arguments = parser.parse_args()
    apart = False
    for name in arguments.networks or NETWORKS:
        cpu, npu = (losses(name, device, arguments.steps) for device in ("cpu", "npu"))
        distance = max(abs(one - two) for one, two in zip(cpu, npu, strict=True))
        print(f"{name}: loss {cpu[0]:.4f} -> {cpu[-1]:.4f} (cpu), {npu[-1]:.4f} (npu), largest distance {distance:.1e}")
        apart |= not distance <= CLOSE
    return int(apart)


if __name__ == "__main__":
    sys.exit(main())
