"""Trains a small network on several ranks, one process each, and on one, and compares the losses.

    JUMAR_DEVICES=4 python ddp.py [--ranks N] [--steps N]

Each rank takes its part of every batch; DistributedDataParallel averages the gradients with HCCL. The mean of the ranks' losses is the loss of
the whole batch on one rank, up to the order of sums.
"""

import argparse
import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch_npu  # noqa: F401  (registers the device "npu")
from torch import nn
from torch.nn.parallel import DistributedDataParallel

CLOSE = 1e-5
BATCH = 32


def data():
    generator = torch.Generator().manual_seed(7)
    inputs = torch.randn(BATCH, 16, generator=generator)
    return inputs, torch.randint(0, 4, (BATCH,), generator=generator)


def build(device):
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
    return network


def train(network, inputs, targets, steps):
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def rank_main(rank, ranks, steps, port, results):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.npu.set_device(rank)
    dist.init_process_group("hccl", rank=rank, world_size=ranks)
    inputs, targets = data()
    part = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
    device = torch.device("npu", rank)
    network = DistributedDataParallel(build(device), device_ids=[rank])
    losses = train(network, inputs[part].to(device), targets[part].to(device), steps)
    dist.all_reduce(losses)
    if rank == 0:
        results.put((losses.cpu() / ranks).tolist())
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    arguments = parser.parse_args()
    inputs, targets = data()
    expected = train(build("cpu"), inputs, targets, arguments.steps).tolist()
    context = mp.get_context("spawn")
    results = context.SimpleQueue()
    mp.start_processes(
        rank_main,
        (arguments.ranks, arguments.steps, free_port(), results),
        nprocs=arguments.ranks,
        start_method="spawn",
    )
    losses = results.get()
    apart = max(abs(a - b) for a, b in zip(losses, expected))
    print(f"{arguments.ranks} ranks: losses {losses[0]:.6f} to {losses[-1]:.6f}, at most {apart:.1e} from one rank")
    return 0 if apart < CLOSE else 1


if __name__ == "__main__":
    sys.exit(main())
