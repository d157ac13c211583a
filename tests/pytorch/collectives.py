"""The operations of torch.distributed over HCCL, each against what the rank computes itself on the CPU.

    JUMAR_DEVICES=4 torchrun --nproc-per-node 4 tests/pytorch/collectives.py

Without torchrun the program starts itself with two ranks. Models with sharded parameters are compared with one process. Values are small integers, so that every sum is exact in every type. A wrong result ends the program with the name of the operation.
"""

import os
import sys

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401  (registers the device "npu")
from torch import nn

SHAPE = (7, 3)
TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int32, torch.int64)


def values(number, shape=SHAPE, dtype=torch.float32):
    """Returns what a rank contributes, or one of its parts: the same on every rank that asks."""
    generator = torch.Generator().manual_seed(100 + number)
    return torch.randint(-9, 9, shape, generator=generator).to(dtype)


class Rank:
    def __init__(self):
        self.device = torch.device("npu", int(os.environ["LOCAL_RANK"]))
        torch.npu.set_device(self.device)
        dist.init_process_group("hccl")
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.checked = 0

    def own(self, **how):
        return values(self.rank, **how).to(self.device)

    def empty(self, *shape):
        return torch.full(shape or SHAPE, -99.0, device=self.device)

    def parts(self, shape=lambda part: SHAPE):
        """Returns what this rank has for each rank."""
        return [values(self.rank * 10 + part, shape(part)) for part in range(self.size)]

    def from_all(self, shape=SHAPE):
        """Returns what each rank has for this one."""
        return [values(other * 10 + self.rank, shape) for other in range(self.size)]

    def total(self, **how):
        return sum(values(rank, **how) for rank in range(self.size))

    def check(self, what, found, expected):
        if not torch.equal(found.cpu(), expected):
            raise SystemExit(f"rank {self.rank}: {what}: {found.cpu()} is not {expected}")
        self.checked += 1

    def reductions(self):
        for dtype in TYPES:
            buffer = self.own(dtype=dtype)
            dist.all_reduce(buffer)
            self.check(f"all_reduce of {dtype}", buffer, self.total(dtype=dtype))
        ranks = torch.stack([values(rank) for rank in range(self.size)])
        for operator, expected in (
            (dist.ReduceOp.MAX, ranks.amax(0)),
            (dist.ReduceOp.MIN, ranks.amin(0)),
            (dist.ReduceOp.PRODUCT, ranks.prod(0)),
        ):
            buffer = self.own()
            dist.all_reduce(buffer, operator)
            self.check(f"all_reduce with {operator}", buffer, expected)
        buffer = self.own() * self.size
        dist.all_reduce(buffer, dist.ReduceOp.AVG)
        self.check("all_reduce with AVG", buffer, self.total())
        for root in range(self.size):
            buffer = self.own()
            dist.reduce(buffer, root)
            if root == self.rank:
                self.check(f"reduce to {root}", buffer, self.total())
        output = self.empty()
        dist.reduce_scatter(output, [part.to(self.device) for part in self.parts()])
        self.check("reduce_scatter", output, sum(self.from_all()))
        output = self.empty()
        dist.reduce_scatter_tensor(output, torch.cat(self.parts()).to(self.device))
        self.check("reduce_scatter_tensor", output, sum(self.from_all()))
        large = torch.full((1 << 20,), float(self.rank + 1), device=self.device)
        dist.all_reduce(large)
        self.check("all_reduce of 4 MiB", large, torch.full((1 << 20,), self.size * (self.size + 1) / 2))

    def copies(self):
        for root in range(self.size):
            buffer = self.own()
            dist.broadcast(buffer, root)
            self.check(f"broadcast from {root}", buffer, values(root))
        everything = [values(rank) for rank in range(self.size)]
        outputs = [self.empty() for _ in range(self.size)]
        dist.all_gather(outputs, self.own())
        self.check("all_gather", torch.cat(outputs), torch.cat(everything))
        output = self.empty(SHAPE[0] * self.size, SHAPE[1])
        dist.all_gather_into_tensor(output, self.own())
        self.check("all_gather_into_tensor", output, torch.cat(everything))
        output = self.empty()
        dist.scatter(output, [part.to(self.device) for part in everything] if self.rank == 0 else None, 0)
        self.check("scatter", output, values(self.rank))
        outputs = [self.empty() for _ in range(self.size)] if self.rank == 0 else None
        dist.gather(self.own(), outputs, 0)
        if self.rank == 0:
            self.check("gather", torch.cat(outputs), torch.cat(everything))

    def exchanges(self):
        output = self.empty(SHAPE[0] * self.size, SHAPE[1])
        dist.all_to_all_single(output, torch.cat(self.parts()).to(self.device))
        self.check("all_to_all_single", output, torch.cat(self.from_all()))

        def rows(part):
            return (part + 1, 2)

        counts = [rows(part)[0] for part in range(self.size)]
        own = rows(self.rank)
        output = self.empty(own[0] * self.size, own[1])
        dist.all_to_all_single(output, torch.cat(self.parts(rows)).to(self.device), [own[0]] * self.size, counts)
        self.check("all_to_all_single with counts", output, torch.cat(self.from_all(own)))
        outputs = [self.empty(*own) for _ in range(self.size)]
        dist.all_to_all(outputs, [part.to(self.device) for part in self.parts(rows)])
        self.check("all_to_all", torch.cat(outputs), torch.cat(self.from_all(own)))

    def transfers(self):
        following, previous = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        if self.rank % 2 == 0 and self.rank + 1 < self.size:
            dist.send(self.own(), self.rank + 1)
        elif self.rank % 2 == 1:
            received = self.empty()
            dist.recv(received, self.rank - 1)
            self.check("recv", received, values(self.rank - 1))
        received = self.empty()
        transfers = [dist.P2POp(dist.isend, self.own(), following), dist.P2POp(dist.irecv, received, previous)]
        for work in dist.batch_isend_irecv(transfers):
            work.wait()
        self.check("batch_isend_irecv", received, values(previous))

    def groups(self):
        members = [0, self.size - 1]
        group = dist.new_group(members)
        if self.rank in members:
            buffer = self.own()
            dist.all_reduce(buffer, group=group)
            self.check("all_reduce of a group", buffer, values(members[0]) + values(members[1]))
        buffer = self.own()
        work = dist.all_reduce(buffer, async_op=True)
        work.wait()
        self.check("all_reduce without waiting", buffer, self.total())
        objects = [None] * self.size
        dist.all_gather_object(objects, {"rank": self.rank})
        if objects != [{"rank": rank} for rank in range(self.size)]:
            raise SystemExit(f"rank {self.rank}: all_gather_object: {objects}")
        dist.barrier()


    def sharded_parameters(self):
        """Trains with FullyShardedDataParallel and fully_shard: the mean loss of the ranks is that of one process with all data."""
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

        def network():
            torch.manual_seed(0)
            return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

        def losses(module, inputs, targets):
            optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)
            found = []
            for x, y in zip(inputs, targets, strict=True):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(module(x), y)
                loss.backward()
                optimizer.step()
                found.append(loss.detach())
            return torch.stack(found)

        def by_layer():
            mesh = init_device_mesh("npu", (self.size,))
            module = network().to(self.device)
            for layer in (module[0], module[2]):
                fully_shard(layer, mesh=mesh)
            return fully_shard(module, mesh=mesh)

        torch.manual_seed(1)
        data = torch.randn(5, 4 * self.size, 8), torch.randn(5, 4 * self.size, 4)
        wanted = losses(network(), *data)
        own = [each[:, 4 * self.rank : 4 * self.rank + 4].to(self.device) for each in data]
        for name, module in (
            ("FullyShardedDataParallel", FullyShardedDataParallel(network().to(self.device), device_id=self.device)),
            ("use_orig_params", FullyShardedDataParallel(network().to(self.device), device_id=self.device, use_orig_params=True)),
            ("fully_shard", by_layer()),
        ):
            held = sum(getattr(each, "_local_tensor", each).numel() for each in module.parameters())
            if held >= sum(each.numel() for each in network().parameters()):
                raise SystemExit(f"rank {self.rank}: {name}: the rank holds all parameters")
            mean = losses(module, *own)
            dist.all_reduce(mean)
            distance = (mean.cpu() / self.size - wanted).abs().max().item()
            if not distance < 1e-5:
                raise SystemExit(f"rank {self.rank}: {name}: a loss differs by {distance}")
            self.checked += 1


def main():
    if "LOCAL_RANK" not in os.environ:
        os.environ.setdefault("JUMAR_DEVICES", "2")
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", os.path.abspath(__file__)]
        os.execv(sys.executable, launcher)
    rank = Rank()
    if rank.size < 2:
        raise SystemExit("run with torchrun and two ranks or more")
    rank.reductions()
    rank.copies()
    rank.exchanges()
    rank.transfers()
    rank.groups()
    rank.sharded_parameters()
    dist.destroy_process_group()
    print(f"rank {rank.rank} of {rank.size}: {rank.checked} results are right")


if __name__ == "__main__":
    main()
