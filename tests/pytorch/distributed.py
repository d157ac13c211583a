"""Runs each operation of torch.distributed in each type with each reduction over HCCL, and compares with exact numbers and with gloo.

    python distributed.py [--ranks 2,4] [--only REGEX] [--update]

The result is compared with the one that is stored in distributed.json: the program fails where an entry is wrong, or was right and is not any more.
`--update` stores the result, and writes docs/pytorch-distributed.md.

An entry is a number of ranks, an operation, a reduction if the operation has one, and a type. It runs with 0, 1 and 21 elements, from or to every root,
and in the unequal operations with a different count for each rank. Values are small integers, so that every result is exact in every type: an entry is
right if every rank has exactly what Python's integers give. gloo runs the same operation on the CPU; where it has the operation, it has to give the same.
An entry counts as refused if every rank that is to receive something raises an error.
"""

import argparse
import datetime
import functools
import json
import operator
import os
import re
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STORED = os.path.join(HERE, "distributed.json")
PAGE = os.path.join(HERE, "..", "..", "docs", "pytorch-distributed.md")
TYPES = ["float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64", "float8_e4m3fn"]
REDUCTIONS = ["SUM", "PRODUCT", "MAX", "MIN", "AVG", "BAND", "BOR", "BXOR"]
# No elements come last: a rank that has some may be refused where a rank that has none is not, and waits.
COUNTS = [21, 1, 0]
RIGHT, ADAPTER, JUMAR, DEVIATES, WRONG = "right", "refused by the adapter", "refused by Jumar", "the adapter's own", "wrong"
MARK = {RIGHT: "✓", ADAPTER: "–", JUMAR: "j", DEVIATES: "a", WRONG: "**wrong**"}
# PyTorch defines no mean of booleans, and gloo and NCCL refuse it.
NO_MEAN = "the adapter divides the maximum of the integers by the number of ranks, which is 0"
COMBINE = {"SUM": operator.add, "PRODUCT": operator.mul, "MAX": max, "MIN": min, "BAND": operator.and_, "BOR": operator.or_, "BXOR": operator.xor}
# A rank that waits this long for another one ends the run.
LIMIT_S = 60
RUN_LIMIT_S = 900


def numbers(kind, rank, part, count):
    """Returns what a rank contributes: small integers, not negative where the type has no sign."""
    seed = rank * 7 + part * 3 + 1
    if kind == "bool":
        return [(seed + at) % 3 % 2 for at in range(count)]
    shift = 0 if kind == "uint8" else 2
    return [(seed * (at + 1) + at // 5) % 4 - shift for at in range(count)]


def reduced(by, kind, lists):
    """Combines lists element by element, in exact integers."""
    size = len(lists)
    if by == "AVG":
        # `Case.list` contributes multiples of the number of ranks.
        return [sum(column) // size for column in zip(*lists, strict=True)]
    whole = [functools.reduce(COMBINE[by], column) for column in zip(*lists, strict=True)]
    return [int(bool(value)) for value in whole] if kind == "bool" else whole


class Case:
    """The operations on one rank, in one type with one reduction. A method runs an operation, and returns each tensor that it wrote with the values expected in it."""

    def __init__(self, torch, rank, size, kind, by):
        self.torch, self.rank, self.size, self.kind, self.by = torch, rank, size, kind, by
        self.root = 0
        self.reduction = by and getattr(torch.distributed.ReduceOp, by)
        self.dtype = getattr(torch, kind)

    def list(self, rank, part, count):
        values = numbers(self.kind, rank, part, count)
        return [value * self.size for value in values] if self.by == "AVG" else values

    def tensor(self, values, device):
        return self.torch.tensor(values, dtype=self.torch.float64).to(self.dtype).to(device)

    def own(self, device, count, part=0):
        return self.tensor(self.list(self.rank, part, count), device)

    def empty(self, device, count):
        return self.tensor([1] * count, device)

    def from_all(self, count, part=0):
        return [self.list(rank, part, count) for rank in range(self.size)]

    def all_reduce(self, dist, device, count):
        buffer = self.own(device, count)
        dist.all_reduce(buffer, self.reduction)
        return [(buffer, reduced(self.by, self.kind, self.from_all(count)))]

    def reduce(self, dist, device, count):
        root = self.root
        buffer = self.own(device, count)
        dist.reduce(buffer, root, self.reduction)
        return [(buffer, reduced(self.by, self.kind, self.from_all(count)))] if self.rank == root else []

    def reduce_scatter(self, dist, device, count):
        output = self.empty(device, count)
        dist.reduce_scatter(output, [self.own(device, count, part) for part in range(self.size)], self.reduction)
        return [(output, reduced(self.by, self.kind, self.from_all(count, self.rank)))]

    def reduce_scatter_tensor(self, dist, device, count):
        output = self.empty(device, count)
        whole = [value for part in range(self.size) for value in self.list(self.rank, part, count)]
        dist.reduce_scatter_tensor(output, self.tensor(whole, device), self.reduction)
        return [(output, reduced(self.by, self.kind, self.from_all(count, self.rank)))]

    def reduce_scatter_unequal(self, dist, device, count):
        output = self.empty(device, count + self.rank)
        parts = [self.own(device, count + part, part) for part in range(self.size)]
        dist.reduce_scatter(output, parts, self.reduction)
        return [(output, reduced(self.by, self.kind, self.from_all(count + self.rank, self.rank)))]

    def broadcast(self, dist, device, count):
        root = self.root
        buffer = self.own(device, count) if self.rank == root else self.empty(device, count)
        dist.broadcast(buffer, root)
        return [(buffer, self.list(root, 0, count))]

    def all_gather(self, dist, device, count):
        outputs = [self.empty(device, count) for _ in range(self.size)]
        dist.all_gather(outputs, self.own(device, count))
        return list(zip(outputs, self.from_all(count), strict=True))

    def all_gather_unequal(self, dist, device, count):
        outputs = [self.empty(device, count + rank) for rank in range(self.size)]
        dist.all_gather(outputs, self.own(device, count + self.rank))
        return [(output, self.list(rank, 0, count + rank)) for rank, output in enumerate(outputs)]

    def all_gather_into_tensor(self, dist, device, count):
        output = self.empty(device, count * self.size)
        dist.all_gather_into_tensor(output, self.own(device, count))
        return [(output, sum(self.from_all(count), []))]

    def scatter(self, dist, device, count):
        output = self.empty(device, count)
        parts = [self.own(device, count, part) for part in range(self.size)] if self.rank == self.root else None
        dist.scatter(output, parts, self.root)
        return [(output, self.list(self.root, self.rank, count))]

    def gather(self, dist, device, count):
        root = self.root
        outputs = [self.empty(device, count) for _ in range(self.size)] if self.rank == root else None
        dist.gather(self.own(device, count), outputs, root)
        return list(zip(outputs or [], self.from_all(count) if outputs else [], strict=True))

    def all_to_all_single(self, dist, device, count):
        output = self.empty(device, count * self.size)
        whole = [value for part in range(self.size) for value in self.list(self.rank, part, count)]
        dist.all_to_all_single(output, self.tensor(whole, device))
        return [(output, sum(self.from_all(count, self.rank), []))]

    def all_to_all_single_unequal(self, dist, device, count):
        # Rank r sends count + r + p elements to rank p.
        sent = [count + self.rank + part for part in range(self.size)]
        received = [count + rank + self.rank for rank in range(self.size)]
        whole = [value for part in range(self.size) for value in self.list(self.rank, part, sent[part])]
        output = self.empty(device, sum(received))
        dist.all_to_all_single(output, self.tensor(whole, device), received, sent)
        return [(output, [value for rank in range(self.size) for value in self.list(rank, self.rank, received[rank])])]

    def all_to_all(self, dist, device, count):
        outputs = [self.empty(device, count) for _ in range(self.size)]
        dist.all_to_all(outputs, [self.own(device, count, part) for part in range(self.size)])
        return list(zip(outputs, self.from_all(count, self.rank), strict=True))

    def send_and_recv(self, dist, device, count):
        if self.rank % 2 == 0:
            dist.send(self.own(device, count), self.rank + 1)
            return []
        buffer = self.empty(device, count)
        dist.recv(buffer, self.rank - 1)
        return [(buffer, self.list(self.rank - 1, 0, count))]

    def batch_isend_irecv(self, dist, device, count):
        following, previous = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        buffer = self.empty(device, count)
        transfers = [dist.P2POp(dist.isend, self.own(device, count), following), dist.P2POp(dist.irecv, buffer, previous)]
        for work in dist.batch_isend_irecv(transfers):
            work.wait()
        return [(buffer, self.list(previous, 0, count))]


REDUCING = ["all_reduce", "reduce", "reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_unequal"]
MOVING = [
    "broadcast",
    "all_gather",
    "all_gather_unequal",
    "all_gather_into_tensor",
    "scatter",
    "gather",
    "all_to_all_single",
    "all_to_all_single_unequal",
    "all_to_all",
    "send_and_recv",
    "batch_isend_irecv",
]


ROOTED = {"reduce", "broadcast", "scatter", "gather"}


def entries():
    """Yields the operation, the reduction or None, and the type of each entry."""
    for kind in TYPES:
        for name in REDUCING:
            for by in REDUCTIONS:
                yield name, by, kind
        for name in MOVING:
            yield name, None, kind


def refusal(error):
    """Returns who refused a call, and the sentence that says why."""
    text = str(error)
    # Jumar's sentence follows its error code, as in "EI0003: HcclReduce: ...".
    own = re.search(r"^E[A-Z]\d{4}: (.*)", text, re.MULTILINE)
    if own:
        return JUMAR, own[1][:200]
    first = text.strip().splitlines()[0] if text.strip() else ""
    return ADAPTER, f"{type(error).__name__}: {first}"[:200]


def work(options):
    """Runs the entries as one of the ranks."""
    import torch
    import torch.distributed as dist
    import torch_npu  # noqa: F401  (registers the device "npu")

    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.npu.set_device(rank)
    dist.init_process_group("cpu:gloo,npu:hccl", timeout=datetime.timedelta(seconds=LIMIT_S))

    objects = dist.new_group(backend="gloo")

    def once(case, name, device, count):
        """Returns the state on this rank, a text, and whether the rank receives anything."""
        try:
            found = getattr(case, name)(dist, device, count)
            if device.type == "npu":
                torch.npu.synchronize()
        except Exception as error:  # noqa: BLE001  (every error is a refusal)
            return *refusal(error), True
        for output, expected in found:
            if not torch.equal(output.cpu().to(torch.complex128), case.tensor(expected, "cpu").to(torch.complex128)):
                return WRONG, f"rank {rank}, {count} elements, root {case.root}: {output.cpu().tolist()} is not {expected}", True
        return RIGHT, "", bool(found)

    def outcome(case, name, device):
        for count in COUNTS:
            for case.root in range(size if name in ROOTED else 1):
                everyone = [None] * size
                # Ranks that did not agree on what has ended would wait for each other in different operations.
                dist.all_gather_object(everyone, once(case, name, device, count), group=objects)
                wrong = [text for state, text, _ in everyone if state == WRONG]
                refused = [(state, text) for state, text, _ in everyone if state in (ADAPTER, JUMAR)]
                if wrong:
                    return WRONG, wrong[0]
                if refused and any(state == RIGHT and receives for state, _, receives in everyone):
                    return WRONG, f"{count} elements, root {case.root}: a rank is refused, and another one has a result: {refused[0][1]}"
                if refused:
                    return refused[0]
        return RIGHT, ""

    results = {}
    for name, by, kind in entries():
        key = " ".join(filter(None, [str(size), name, by, kind]))
        if options.only and not re.search(options.only, key):
            continue
        case = Case(torch, rank, size, kind, by)
        results[key] = outcome(case, name, torch.device("npu", rank))
        if results[key][0] == WRONG and (by, kind) == ("AVG", "bool"):
            results[key] = DEVIATES, NO_MEAN
        state, text = outcome(case, name, torch.device("cpu"))
        if state == WRONG:
            raise SystemExit(f"{key}: gloo differs from exact numbers: {text}")
    if rank == 0:
        store(options.as_rank, {"torch": torch.__version__, "torch_npu": torch_npu.__version__, "results": results})
    dist.barrier()
    dist.destroy_process_group()


def run(options, folder):
    """Starts the ranks of each size, and returns their results."""
    result = {"date": datetime.date.today().isoformat(), "results": {}}
    for size in options.ranks:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        part = os.path.join(folder, f"{size}.json")
        command = [sys.executable, os.path.abspath(__file__), "--as-rank", part, "--only", options.only]
        # With its task queue, the adapter drops every operation behind one that is refused, and a rank then waits for them.
        common = dict(os.environ, TASK_QUEUE_ENABLE="0", JUMAR_DEVICES=str(size), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), HCCL_EXEC_TIMEOUT=str(LIMIT_S))
        ranks = [subprocess.Popen(command, env=dict(common, RANK=str(rank), LOCAL_RANK=str(rank))) for rank in range(size)]
        try:
            statuses = [rank.wait(RUN_LIMIT_S) for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
        if any(statuses):
            raise SystemExit(f"{size} ranks ended with {statuses}")
        made = load(part)
        result["results"].update(made.pop("results"))
        result.update(made)
    return result


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def store(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=0, ensure_ascii=False)
        file.write("\n")


def counted(results):
    states = [state for state, _ in results.values()]
    return ", ".join(f"{states.count(state)} {state}" for state in MARK)


def write_page(stored):
    results = stored["results"]
    sizes = sorted({int(key.split(" ", 1)[0]) for key in results})
    lines = [
        "# Operations of torch.distributed",
        "",
        f"Each operation in each type with each reduction over HCCL: {len(results)} entries on {' and '.join(map(str, sizes))} ranks, compared with exact numbers and with",
        f"gloo. Made by `tests/pytorch/distributed.py --update` on {stored['date']}, with torch {stored['torch']} and torch_npu {stored['torch_npu']}; edits are lost.",
        "",
        f"An entry runs with 0, 1 and 21 elements, from or to every root; in an `unequal` operation each rank has a count of its own. {counted(results)}.",
        "",
        "✓ every rank has the exact result; – the adapter refuses the call; j Jumar refuses it; a the adapter computes something of its own. A refusal is raised on every rank that is to receive something.",
        "",
        "| operation | " + " | ".join(f"`{kind}`" for kind in TYPES) + " |",
        "|---|" + "---|" * len(TYPES),
    ]
    refusals = {}
    for name, by in [(name, by) for name in REDUCING for by in REDUCTIONS] + [(name, None) for name in MOVING]:
        title = " ".join(filter(None, [name, by]))
        cells = []
        for kind in TYPES:
            found = [results[f"{size} {title} {kind}"] for size in sizes]
            cells.append(" ".join(sorted({MARK[state] for state, _ in found})))
            for state, text in {tuple(one) for one in found if one[0] in (ADAPTER, JUMAR, DEVIATES)}:
                refusals.setdefault((state, text), {}).setdefault(title, []).append(kind)
        lines.append(f"| `{title}` | " + " | ".join(cells) + " |")
    for state in (ADAPTER, JUMAR, DEVIATES):
        lines += ["", f"## {state[0].upper()}{state[1:]}", "", "| reason | operations | types |", "|---|---|---|"]
        for (who, text), where in sorted(refusals.items()):
            if who == state:
                kinds = [kind for kind in TYPES if any(kind in kinds for kinds in where.values())]
                lines.append(f"| {text} | {', '.join(f'`{title}`' for title in where)} | {', '.join(kinds)} |")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression of entries")
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4])
    parser.add_argument("--update", action="store_true", help="stores the result, and writes the page")
    parser.add_argument("--as-rank", metavar="RESULT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_rank:
        return work(options)
    with tempfile.TemporaryDirectory() as folder:
        result = run(options, folder)
    new = result["results"]
    stored = load(STORED)["results"] if os.path.exists(STORED) else {}
    worse = [
        f"{key}: {state}: {text}"
        for key, (state, text) in new.items()
        if state == WRONG or (state != RIGHT and stored.get(key, [RIGHT])[0] == RIGHT)
    ]
    if options.update:
        worse = [line for line in worse if f": {WRONG}: " in line]
        store(STORED, result)
        write_page(result)
    elif not options.only:
        worse += [f"{key}: not run" for key in stored if key not in new and int(key.split(" ", 1)[0]) in options.ranks]
    print("\n".join([*worse, counted(new)]))
    return int(bool(worse or not new))


if __name__ == "__main__":
    sys.exit(main())
