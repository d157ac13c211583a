"""Trains a small network on several ranks, one process each, and compares the losses with those of one process.

    JUMAR_DEVICES=4 python ddp.py --ranks 4
    JUMAR_DEVICES=4 torchrun --nproc-per-node 4 ddp.py

Each rank takes its part of every batch; DistributedDataParallel averages the gradients with HCCL. The mean of the ranks' losses is the loss of
the whole batch in one process, up to the order of sums.
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

TOLERANCE = 1e-5
BATCH = 32


def data():
    generator = torch.Generator().manual_seed(7)
    inputs = torch.randn(BATCH, 16, generator=generator)
    return inputs, torch.randint(0, 4, (BATCH,), generator=generator)


def build(device):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)


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


def run_rank(steps):
    """Trains as the rank that the environment names. Rank 0 compares and prints."""
    device = torch.device("npu", int(os.environ["LOCAL_RANK"]))
    torch.npu.set_device(device)
    dist.init_process_group("hccl")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    inputs, targets = data()
    part = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
    network = DistributedDataParallel(build(device), device_ids=[device.index])
    losses = train(network, inputs[part].to(device), targets[part].to(device), steps)
    dist.all_reduce(losses)
    dist.destroy_process_group()
    if rank != 0:
        return
    losses = losses.cpu() / ranks
    difference = (losses - train(build("cpu"), inputs, targets, steps)).abs().max().item()
    print(f"{ranks} ranks: losses {losses[0]:.6f} to {losses[-1]:.6f}, at most {difference:.1e} from one process")
    if not difference < TOLERANCE:
        sys.exit(1)


def start_rank(rank, ranks, steps, port):
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(ranks),
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port),
    )
    run_rank(steps)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    arguments = parser.parse_args()
    if BATCH % arguments.ranks != 0:
        parser.error(f"--ranks has to divide the batch of {BATCH}")
    if "RANK" in os.environ:
        run_rank(arguments.steps)
    else:
        mp.start_processes(
            start_rank,
            (arguments.ranks, arguments.steps, free_port()),
            nprocs=arguments.ranks,
            start_method="spawn",
        )


if __name__ == "__main__":
    main()
