"""Checks features of the prebuilt adapter, one function each, against the CPU.

    python features.py [NAME ...]
"""

import csv
import json
import os
import pathlib
import sys
import tempfile
import traceback

import torch
import torch_npu  # noqa: F401  (registers the device "npu")
from torch import nn
from torch.nn import functional

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def close(found, wanted, tolerance=1e-5):
    torch.testing.assert_close(found.detach().cpu(), wanted.detach().cpu(), rtol=tolerance, atol=tolerance)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


@check
def autocast_and_gradient_scaler():
    """Half-precision products, a step that overflows and is skipped, and one that is not."""
    module = network().npu()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("npu", init_scale=2.0**8)
    torch.manual_seed(1)
    x, y = torch.randn(6, 8), torch.randn(6, 4)
    wanted = functional.mse_loss(network()(x), y)
    before = [each.detach().clone() for each in module.parameters()]

    def step(factor):
        optimizer.zero_grad()
        with torch.autocast("npu", dtype=torch.float16):
            result = module(x.npu())
            assert result.dtype == torch.float16, result.dtype
            loss = functional.mse_loss(result.float(), y.npu()) * factor
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        return loss

    step(float("inf"))
    assert scaler.get_scale() == 2.0**7, scaler.get_scale()
    for one, two in zip(module.parameters(), before, strict=True):
        assert torch.equal(one, two), "a skipped step changed a parameter"
    close(step(1.0), wanted, 1e-2)
    assert not torch.equal(next(module.parameters()), before[0]), "the second step changed nothing"


@check
def profiler():
    """The adapter's own parser makes its tables of what the device measured."""
    from torch_npu import profiler as npu

    module, x = network().npu(), torch.randn(32, 8).npu()
    module(x)
    with tempfile.TemporaryDirectory() as folder:
        with npu.profile(
            activities=[npu.ProfilerActivity.CPU, npu.ProfilerActivity.NPU],
            schedule=npu.schedule(wait=0, warmup=1, active=2, repeat=1),
            on_trace_ready=npu.tensorboard_trace_handler(folder),
            experimental_config=npu._ExperimentalConfig(profiler_level=npu.ProfilerLevel.Level1),
        ) as profile:
            for _ in range(3):
                module(x).sum().backward()
                profile.step()
        (made,) = pathlib.Path(folder).glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT")
        table = lambda name: list(csv.DictReader((made / name).open(newline="")))
        kernels = [row["Name"] for row in table("kernel_details.csv")]
        # Two layers, two steps, each forward.
        assert kernels.count("aclnnAddmm") == 4, kernels
        # What runs between two steps belongs to none.
        assert {"1", "2"} <= {row["Step Id"] for row in table("kernel_details.csv")}
        operators = {row["Name"]: row for row in table("operator_details.csv")}
        assert float(operators["aten::addmm"]["Device Total Duration(us)"]) > 0, operators["aten::addmm"]
        steps = table("step_trace_time.csv")
        assert len(steps) == 2 and all(float(row["Computing"]) > 0 for row in steps), steps
        events = json.loads((made / "trace_view.json").read_text())
        assert {"aten::addmm", "aclnnAddmm", "AscendCL@aclnnAddmm"} <= {event["name"] for event in events}


@check
def bfloat16():
    x, y = torch.randn(4, 8).bfloat16(), torch.randn(8, 3).bfloat16()
    close((x.npu() @ y.npu()).float(), x.float() @ y.float(), 2e-2)


@check
def graph_capture_and_replay():
    """A replay computes from what the inputs hold then."""
    x = torch.randn(5, 7, device="npu")
    weight = torch.randn(7, 7, device="npu")
    functional.relu(x @ weight)
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        result = functional.relu(x @ weight) + 1
    for seed in range(3):
        torch.manual_seed(seed)
        fresh = torch.randn(5, 7)
        x.copy_(fresh)
        graph.replay()
        torch.npu.synchronize()
        close(result, functional.relu(fresh @ weight.cpu()) + 1)


@check
def streams_events_and_record_stream():
    side = torch.npu.Stream()
    for _ in range(20):
        x = torch.randn(256, 64)
        moved = x.npu()
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            result = moved * 2 + 1
            moved.record_stream(side)
            done = side.record_event()
        del moved
        # The memory of `moved` may be used again only behind the work of the other stream.
        torch.zeros(256, 64, device="npu")
        done.wait(torch.npu.current_stream())
        result.record_stream(torch.npu.current_stream())
        close(result, x * 2 + 1)


@check
def save_and_load():
    module = network().npu()
    x = torch.randn(3, 8)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.pt")
        torch.save({"module": module.state_dict(), "x": x.npu()}, path)
        for location in ("cpu", "npu:0"):
            stored = torch.load(path, map_location=location, weights_only=True)
            assert stored["x"].device.type == location.split(":")[0]
            other = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(location)
            other.load_state_dict(stored["module"])
            close(other(stored["x"]), module(x.npu()))


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return torch.full((3,), float(index)), index * index


@check
def data_loader_with_workers_and_pinned_memory():
    loader = torch.utils.data.DataLoader(Squares(), batch_size=4, num_workers=2, pin_memory=True)
    total = 0
    for x, squares in loader:
        assert x.is_pinned() and squares.is_pinned()
        close(x.npu(non_blocking=True)[:, 0].square(), squares.float())
        total += squares.sum().item()
    assert total == sum(index * index for index in range(20)), total


@check
def compiled_by_eager_backends():
    x = torch.randn(3, 8)
    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        module, plain = network().npu(), network()
        compiled = torch.compile(module, backend=backend)
        result, wanted = compiled(x.npu()), plain(x)
        close(result, wanted)
        result.sum().backward()
        wanted.sum().backward()
        for one, two in zip(module.parameters(), plain.parameters(), strict=True):
            close(one.grad, two.grad)


@check
def deterministic_mode():
    torch.use_deterministic_algorithms(True)
    try:
        x, index = torch.randn(50, 4), torch.randint(0, 5, (50,))
        results = [torch.zeros(5, 4, device="npu").index_add(0, index.npu(), x.npu()).cpu() for _ in range(3)]
        assert all(torch.equal(each, results[0]) for each in results)
        close(results[0], torch.zeros(5, 4).index_add(0, index, x))
    finally:
        torch.use_deterministic_algorithms(False)


@check
def seeds_decide_random_numbers():
    torch.manual_seed(7)
    one = torch.randn(100, device="npu")
    state = torch.npu.get_rng_state()
    two = torch.rand(100, device="npu")
    torch.npu.set_rng_state(state)
    assert torch.equal(two, torch.rand(100, device="npu"))
    torch.manual_seed(7)
    assert torch.equal(one, torch.randn(100, device="npu"))
    assert not torch.equal(one, torch.randn(100, device="npu"))


@check
def out_of_memory():
    """The error is PyTorch's own, and later work is computed."""
    try:
        torch.empty(1 << 45, dtype=torch.uint8, device="npu")
    except RuntimeError as error:
        # Releases of the adapter before 2.10 raise the base class.
        assert isinstance(error, torch.OutOfMemoryError) or tuple(map(int, torch.__version__.split(".")[:2])) < (2, 10), type(error)
        assert "out of memory" in str(error), error
    else:
        raise AssertionError("32 TiB were allocated")
    assert (torch.arange(5, device="npu") + 1).sum().item() == 15


@check
def memory_statistics():
    torch.npu.empty_cache()
    before = torch.npu.memory_allocated()
    x = torch.empty(1 << 20, dtype=torch.uint8, device="npu")
    assert torch.npu.memory_allocated() - before >= 1 << 20
    assert torch.npu.max_memory_allocated() >= torch.npu.memory_allocated()
    del x
    assert torch.npu.memory_allocated() == before


@check
def failed_operators_are_reported():
    """The last check, because a failed asynchronous operator ends the work of the device."""
    try:
        torch.ones(2, 3, device="npu") @ torch.ones(2, 3, device="npu")
        torch.npu.synchronize()
    except RuntimeError as error:
        assert "mat1 and mat2" in str(error) or "[2, 3]" in str(error), error
    else:
        raise AssertionError("a product of shapes that do not fit was computed")
    x = torch.ones(3, device="npu")
    try:
        read = x[torch.tensor([5], device="npu")]
        torch.npu.synchronize()
    except RuntimeError as error:
        assert "aclnnIndex" in str(error) and "the index 5 lies outside" in str(error), error
    else:
        raise AssertionError("an index outside its tensor was read")
    try:
        values = read.cpu()
    except RuntimeError:
        return
    raise AssertionError(f"the result of a failed operator was read: {values}")


def main():
    chosen = sys.argv[1:]
    failed = 0
    for function in CHECKS:
        if chosen and function.__name__ not in chosen:
            continue
        try:
            function()
            print(f"{function.__name__}: passed", flush=True)
        except Exception:  # noqa: BLE001  (each check is reported)
            failed += 1
            print(f"{function.__name__}: FAILED\n{traceback.format_exc()}", flush=True)
    print(f"{failed} of {len(chosen or CHECKS)} checks failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
