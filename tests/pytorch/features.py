"""Checks features of the prebuilt adapter, one function each, against the CPU.

    python features.py [NAME ...]

Checks that need an environment of their own, or that end the work of a device, run in processes of their own. A check of something
that an older release of the adapter does not offer is counted as such, and not as passed.
"""

import concurrent.futures
import copy
import csv
import ctypes
import inspect
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

import torch
import torch_npu  # noqa: F401  (registers the device "npu")
from torch import nn
from torch.nn import functional

CHECKS = []
ALONE = {}
RELEASE = tuple(map(int, torch.__version__.split(".")[:2]))


class NotOffered(Exception):
    """What an older release of the adapter does not have."""


def check(function):
    CHECKS.append(function)
    return function


def alone(function):
    """Marks a function that runs in a process of its own."""
    ALONE[function.__name__] = function
    return function


def run_alone(function, **environment):
    """Runs a marked function with variables of the environment. Returns what it printed."""
    command = [sys.executable, os.path.abspath(__file__), "--alone", function.__name__]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, f"{function.__name__} with {environment}: exit status {done.returncode}\n{done.stderr[-3000:]}"
    return done.stdout


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
def profiler_of_pytorch():
    """PyTorch's own profiler has a row for each kernel, with the time of the device."""
    from torch.profiler import ProfilerActivity, profile

    module, x = network().npu(), torch.randn(32, 8).npu()
    module(x)
    torch.npu.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]) as made:
        module(x)
        torch.npu.synchronize()
    rows = [event for event in made.events() if event.name == "aclnnAddmm" and event.device_time_total > 0]
    assert len(rows) == 2, [event.name for event in made.events()]
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        made.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    calls = [event for event in events if event.get("cat") == "cpu_op"]
    assert {"aclnnAddmm", "aclnnRelu"} <= {event["name"] for event in kernels}, kernels
    # Both lie on one scale of time.
    assert min(call["ts"] for call in calls) <= min(kernel["ts"] for kernel in kernels), (calls[:1], kernels[:1])


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
    # Before release 2.7, PyTorch pinned memory for CUDA unless a device was named.
    pinned = {"pin_memory": True, **({"pin_memory_device": "npu"} if RELEASE < (2, 7) else {})}
    loader = torch.utils.data.DataLoader(Squares(), batch_size=4, num_workers=2, **pinned)
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
def seeds_of_generators():
    """Each operator with a generator returns the same numbers for the same seed, whatever the default generator did meanwhile."""

    def empty():
        return torch.empty(50, device="npu")

    operators = {
        "randn": lambda generator: torch.randn(50, device="npu", generator=generator),
        "rand": lambda generator: torch.rand(50, device="npu", generator=generator),
        "randint": lambda generator: torch.randint(0, 100, (50,), device="npu", generator=generator),
        "randperm": lambda generator: torch.randperm(50, device="npu", generator=generator),
        "normal_": lambda generator: empty().normal_(generator=generator),
        "uniform_": lambda generator: empty().uniform_(generator=generator),
        "exponential_": lambda generator: empty().exponential_(generator=generator),
        "bernoulli_": lambda generator: empty().bernoulli_(0.5, generator=generator),
        "bernoulli": lambda generator: torch.bernoulli(torch.full((50,), 0.5, device="npu"), generator=generator),
        "multinomial": lambda generator: torch.multinomial(torch.ones(50, device="npu"), 20, generator=generator),
        "random_": lambda generator: torch.empty(50, device="npu", dtype=torch.int64).random_(0, 9, generator=generator),
    }
    for name, operator in operators.items():
        one, two = (torch.Generator(device="npu").manual_seed(3) for _ in range(2))
        first = operator(one)
        torch.randn(3, device="npu")
        assert torch.equal(first, operator(two)), f"{name}: one seed gave two results"
        second = operator(one)
        assert not torch.equal(first, second), f"{name}: a generator gave the same numbers twice"
        assert torch.equal(second, operator(two)), f"{name}: the second results of one seed differ"
    dropout, x = nn.Dropout(), torch.ones(1000, device="npu")
    torch.npu.manual_seed(5)
    first = dropout(x)
    torch.npu.manual_seed(5)
    assert torch.equal(first, dropout(x))


def add_one_to_received(tensors, sums):
    """Runs in the process that gets the memory of another one."""
    torch.npu.set_device(0)
    x = tensors.get()
    sums.put(x.sum().item())
    x.add_(1)
    torch.npu.synchronize()
    del x
    sums.put("added")


@check
def tensors_between_processes():
    """A tensor that is sent to a process is the same memory there, at its offset in its storage."""
    if not hasattr(torch_npu, "multiprocessing"):
        raise NotOffered("the adapter sends no tensors between processes before release 2.7")
    processes = torch.multiprocessing.get_context("spawn")
    tensors, sums = processes.Queue(), processes.Queue()
    receiver = processes.Process(target=add_one_to_received, args=(tensors, sums))
    receiver.start()
    whole = torch.arange(1000.0, device="npu").reshape(10, 100)
    wanted = whole.cpu()
    tensors.put(whole[2:4])
    assert sums.get(timeout=120) == wanted[2:4].sum().item()
    assert sums.get(timeout=120) == "added"
    wanted[2:4] += 1
    close(whole, wanted, 0)
    receiver.join()
    assert receiver.exitcode == 0, receiver.exitcode


@alone
def cuda_program():
    from torch_npu.contrib import transfer_to_npu  # noqa: F401  (replaces torch.cuda)

    assert torch.cuda.is_available() and torch.cuda.device_count() >= 1
    plain, module = network(), network().cuda()
    x = torch.randn(5, 8)
    result = module(x.cuda())
    assert result.device.type == "npu", result.device
    close(result, plain(x))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        twice = torch.ones(3, device="cuda") * 2
    stream.synchronize()
    close(twice, torch.full((3,), 2.0))
    assert torch.cuda.memory_allocated() > 0
    with torch.autocast("cuda", dtype=torch.float16):
        assert module(x.cuda()).dtype == torch.float16


@check
def transfer_to_npu():
    """A program for CUDA runs with one more import."""
    run_alone(cuda_program)


@alone
def growing_segment():
    """Tensors of growing size in one segment that grows, where separate segments would need more memory."""
    torch.npu.empty_cache()
    for count in range(1, 20):
        x = torch.full((count << 20,), float(count), device="npu")
        assert x[-1].item() == count
        del x
    segments = torch.npu.memory_snapshot()
    print(json.dumps({"expandable": [segment["is_expandable"] for segment in segments], "reserved": torch.npu.memory_reserved()}))


@check
def expandable_segments():
    plain, expandable = (
        json.loads(run_alone(growing_segment, PYTORCH_NPU_ALLOC_CONF=f"expandable_segments:{setting}").splitlines()[-1])
        for setting in ("False", "True")
    )
    assert not any(plain["expandable"]) and all(expandable["expandable"]), (plain, expandable)
    assert expandable["reserved"] < plain["reserved"], (plain, expandable)


@check
def out_of_memory():
    """The error is PyTorch's own, and later work is computed."""
    try:
        torch.empty(1 << 45, dtype=torch.uint8, device="npu")
    except RuntimeError as error:
        # Releases of the adapter before 2.10 raise the base class.
        assert isinstance(error, torch.OutOfMemoryError) or RELEASE < (2, 10), type(error)
        assert "out of memory" in str(error), error
    else:
        raise AssertionError("32 TiB were allocated")
    assert (torch.arange(5, device="npu") + 1).sum().item() == 15


LENGTHS = [7, 5, 3, 2]


def packed(x):
    return nn.utils.rnn.pack_padded_sequence(x, LENGTHS, batch_first=True)


@check
def packed_sequences():
    """LSTMs over packed sequences: results and the gradients of all parameters."""
    for options in ({}, {"num_layers": 2}, {"bidirectional": True}, {"bias": False}, {"num_layers": 2, "bidirectional": True}):
        torch.manual_seed(1)
        plain = nn.LSTM(5, 6, batch_first=True, **options)
        module = copy.deepcopy(plain).npu()
        x, y = torch.randn(4, 7, 5), torch.randn(4, 7, 6 * (1 + plain.bidirectional))
        results = []
        for layer, input_, weights in ((plain, x, y), (module, x.npu(), y.npu())):
            output, (hidden, cell) = layer(packed(input_))
            output, lengths = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)
            assert lengths.tolist() == LENGTHS
            results.append((output, hidden, cell))
            loss = (output * weights).sum()
            # The adapter passes zeros for the gradients of the last states of two directions (docs/pytorch.md).
            (loss if plain.bidirectional else loss + hidden.sum() + cell.square().sum()).backward()
        for found, wanted in zip(results[1], results[0], strict=True):
            close(found, wanted)
        for found, wanted in zip(module.parameters(), plain.parameters(), strict=True):
            close(found.grad, wanted.grad, 1e-4)


@check
def packing_is_the_adapters():
    """Why the gradient of a packed input is wrong: the adapter packs padding too, and PyTorch unpacks gradients without it.

    No operator but copies has a part in it. A release that fails here has changed that; docs/pytorch.md describes it.
    """
    x = torch.arange(4 * 7.0).reshape(4, 7, 1)
    one, two = x.clone().requires_grad_(), x.npu().requires_grad_()
    plain, found = packed(one), packed(two)
    assert plain.data.shape == (sum(LENGTHS), 1) and found.data.shape == (4 * 7, 1), (plain.data.shape, found.data.shape)
    close(found.data, x.transpose(0, 1).reshape(-1, 1), 0)
    plain.data.square().sum().backward()
    found.data.square().sum().backward()
    inside = torch.tensor([[time < length for time in range(7)] for length in LENGTHS])
    close(one.grad[..., 0], torch.where(inside, 2 * x[..., 0], 0), 0)
    assert not torch.equal(two.grad.cpu(), one.grad)


@alone
def lstm_with_a_projection():
    module = nn.LSTM(5, 6, proj_size=3).npu()
    try:
        module(torch.randn(4, 2, 5).npu())
    except RuntimeError as error:
        print(json.dumps(str(error)))
    else:
        raise AssertionError("an LSTM with a projection was computed without its weights")


@check
def projections_are_refused():
    """`proj_size`: the adapter passes the weights of the projected state and never the projection, so that nothing can be computed."""
    text = run_alone(lstm_with_a_projection, TASK_QUEUE_ENABLE="0")
    assert "DynamicRNN" in text and "[3, 24]" in text, text


class Attention(nn.Module):
    """Self-attention over [batch, length, 32] with 4 heads."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x):
        batch, length, width = x.shape
        heads = [layer(x).view(batch, length, 4, 8).transpose(1, 2) for layer in (self.query, self.key, self.value)]
        query, key, value = heads
        weights = torch.softmax(query @ key.transpose(-1, -2) / 8**0.5, -1)
        return x + self.output((weights @ value).transpose(1, 2).reshape(batch, length, width))


@check
def torchair():
    """torch.compile(backend="npu"): graphs that torchair serializes, against the module on the CPU."""
    torch.manual_seed(0)
    convolutions = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3),
    )
    feedforward = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))
    pooled = nn.Sequential(nn.Conv2d(3, 4, 3), nn.MaxPool2d(3, 2, 1), nn.ReLU(), nn.MaxPool2d((2, 1), ceil_mode=True, dilation=(1, 2)))
    normalised = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU(), nn.LayerNorm((5, 8), elementwise_affine=False))
    nn.init.normal_(normalised[1].weight)
    # The operator Gelu, which torchair chooses, approximates by tanh; the error function differs by up to 5e-4.
    for module, shapes, tolerance in [
        (feedforward, [[6, 8]], 1e-3),
        (convolutions, [[2, 3, 8, 8]], 1e-5),
        (Attention(), [[2, 5, 32]], 1e-5),
        (pooled, [[2, 3, 11, 9]], 1e-5),
        (normalised, [[2, 5, 8]], 1e-5),
        (normalised, [[2, 5, 8], [6, 5, 8], [3, 5, 8]], 1e-5),
        (feedforward, [[6, 8], [3, 8], [11, 8]], 1e-3),
        (Attention(), [[2, 5, 32], [3, 7, 32], [4, 2, 32]], 1e-5),
    ]:
        inputs = [torch.randn(shape) for shape in shapes]
        module.cpu().eval()
        with torch.no_grad():
            wanted = [module(x) for x in inputs]
            # Several shapes: one graph with dynamic dimensions.
            compiled = torch.compile(module.npu(), backend="npu", dynamic=len(shapes) > 1, fullgraph=True)
            for x, result in zip(inputs, wanted):
                close(compiled(x.npu()), result, tolerance)
        torch._dynamo.reset()


@check
def torchair_custom_operators():
    """An operator without a converter runs between the operators of the graph: torchair generates a custom operator in C++."""

    def normalise(x, gamma):
        y, scale = torch_npu.npu_gemma_rms_norm(torch.relu(x) + 1, gamma, 1e-5)
        return y * 2, scale

    torch.manual_seed(0)
    gamma = torch.randn(8)
    # Several lengths: one graph with dynamic dimensions.
    compiled = torch.compile(normalise, backend="npu", dynamic=True, fullgraph=True)
    for rows in [3, 5, 1, 5]:
        x = torch.randn(rows, 8)
        shifted = torch.relu(x).double() + 1
        scale = torch.rsqrt((shifted * shifted).mean(-1, keepdim=True) + 1e-5)
        found, found_scale = compiled(x.npu(), gamma.npu())
        close(found.cpu().double(), shifted * scale * (1 + gamma) * 2)
        close(found_scale.cpu().double(), scale)
    torch._dynamo.reset()


@check
def torchair_names_what_is_refused():
    """An operator without a converter fails when it is compiled, with its name."""
    try:
        torch.compile(lambda x: torch.linalg.cholesky(x), backend="npu", fullgraph=True)(torch.eye(3, device="npu"))
    except Exception as error:  # noqa: BLE001  (torchair wraps what it raises)
        assert "cholesky" in str(error), error
    else:
        raise AssertionError("an operator without a converter was compiled")
    finally:
        torch._dynamo.reset()


@check
def memory_statistics():
    torch.npu.empty_cache()
    before = torch.npu.memory_allocated()
    x = torch.empty(1 << 20, dtype=torch.uint8, device="npu")
    assert torch.npu.memory_allocated() - before >= 1 << 20
    assert torch.npu.max_memory_allocated() >= torch.npu.memory_allocated()
    statistics = torch.npu.memory_stats()
    assert statistics["allocated_bytes.all.current"] == torch.npu.memory_allocated()
    assert statistics["reserved_bytes.all.current"] == torch.npu.memory_reserved()
    free, total = torch.npu.mem_get_info()
    assert 0 < free <= total - torch.npu.memory_reserved(), (free, total)
    del x
    assert torch.npu.memory_allocated() == before
    torch.npu.reset_peak_memory_stats()
    assert torch.npu.max_memory_allocated() == before


@check
def memory_snapshots():
    """A snapshot has the block of a tensor, and its history the allocation and the release."""
    torch.npu.memory._record_memory_history()
    try:
        x = torch.empty(3 << 20, dtype=torch.uint8, device="npu")
        address, held = x.data_ptr(), torch.npu.memory._snapshot()
        del x
        released = torch.npu.memory._snapshot()
    finally:
        torch.npu.memory._record_memory_history(None)

    def state(snapshot):
        for segment in snapshot["segments"]:
            start = segment["address"]
            for block in segment["blocks"]:
                if start == address:
                    return block["state"], block["requested_size"]
                start += block["size"]
        return None

    assert state(held) == ("active_allocated", 3 << 20), state(held)
    assert state(released) is None or state(released)[0] == "inactive", state(released)
    events = [event["action"] for trace in released["device_traces"] for event in trace if event["addr"] == address]
    assert events[-3:] == ["alloc", "free_requested", "free_completed"], events


@check
def refused_types_and_missing_operators():
    """The exception names the operator, the argument or type, and what is possible."""
    x = torch.ones(3, dtype=torch.complex64, device="npu")

    def decompress():
        """The documents do not describe the compressed weight, so that nothing can compute it."""
        byte = {"dtype": torch.int8, "device": "npu"}
        weight, index = torch.zeros(32, 16, **byte), torch.zeros(8, **byte)
        bias, scale = torch.zeros(1, 16, dtype=torch.int32, device="npu"), torch.ones(1, 16, device="npu")
        return torch_npu.npu_matmul_compress_dequant(torch.ones(16, 32, **byte), weight, index, bias, scale)

    refusals = [
        (lambda: torch.sort(x), ("aclnnSort", "self has the type complex64", "it must be float32")),
        (lambda: torch.atan2(x, x), ("aclnnAtan2", "self has the type complex64", "it must be")),
        (decompress, ("aclnnMatmulCompressDequant", "561003")),
    ]
    for call, words in refusals:
        try:
            call()
            torch.npu.synchronize()
        except RuntimeError as error:
            assert all(word in str(error) for word in words), (words, str(error))
        else:
            raise AssertionError(f"{words[0]} was computed")
    # A refusal happens before anything is queued: the device works on.
    assert (torch.arange(5, device="npu") + 1).sum().item() == 15


@alone
def trained_network():
    module, x = network().npu(), torch.ones(16, 8, device="npu")
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)
    for _ in range(20):
        optimizer.zero_grad()
        loss = module(x).square().mean()
        loss.backward()
        optimizer.step()
    print(loss.item())


@check
def many_processes():
    """20 processes train at the same time on one device, and all get the same loss."""
    with concurrent.futures.ThreadPoolExecutor(20) as threads:
        printed = list(threads.map(lambda _: run_alone(trained_network), range(20)))
    losses = {text.splitlines()[-1] for text in printed}
    assert len(losses) == 1 and 0 <= float(losses.pop()) < 1, printed


@alone
def memory_without_record_stream():
    """A tensor that a second stream reads is freed, and its memory used again."""
    side = torch.npu.Stream()
    x = torch.ones(1 << 18, device="npu")
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        read_on_the_side(x)
    del x
    write_at_once()
    torch.npu.synchronize()


def read_on_the_side(x):
    return x * 2


def write_at_once():
    return torch.ones(1 << 18, device="npu") + 1


@check
def checks_name_both_ends():
    """`jumar check` names the Python lines of the read and of the write that no `record_stream` orders."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "findings.json"
        command = ["jumar", "check", "--json", str(report), "--", sys.executable, os.path.abspath(__file__), "--alone", "memory_without_record_stream"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        assert report.exists(), done.stderr[-3000:]
        findings = json.loads(report.read_text())
    text = json.dumps(findings)
    assert findings and all(finding["rule"].startswith("JMR-SYNC") for finding in findings), text[:3000]
    for name in ("read_on_the_side", "write_at_once", "memory_without_record_stream", "a segment of the memory pool"):
        assert name in text, (name, text[:3000])
    assert all("record_stream" in finding["fix"] for finding in findings), text[:3000]


@alone
def host_copy_read_too_early():
    """The host reads the target of a copy that may not have arrived."""
    target, source = torch.zeros(1024).pin_memory(), torch.ones(1024, device="npu")
    target.copy_(source, non_blocking=True)
    sum_on_the_host(target)
    torch.npu.synchronize()


def sum_on_the_host(target):
    return target.sum().item()


@check
def checks_name_the_line_that_reads_too_early():
    """`jumar check --protect --late` names the Python line that reads the target of a copy with `non_blocking`, and a fix in PyTorch's words."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "findings.json"
        command = ["jumar", "check", "--protect", "--late", "--json", str(report), "--", sys.executable, os.path.abspath(__file__), "--alone"]
        done = subprocess.run([*command, "host_copy_read_too_early"], capture_output=True, text=True, timeout=900, check=False)
        assert report.exists(), done.stderr[-3000:]
        findings = json.loads(report.read_text())
    found = [finding for finding in findings if finding["rule"] == "JMR-SYNC-004"]
    assert found, findings
    assert found[0]["lines"][0]["function"] == "sum_on_the_host", found[0]
    assert "non_blocking" in found[0]["fix"], found[0]


LIBRARIES = ["ascendcl", "acl_op_compiler", "ge_runner", "graph", "hccl", "acl_tdt_channel", "opapi", "nnopbase"]


@alone
def load_libraries():
    """Loads what `import torch_npu` loads of Jumar, and calls what it calls. Prints the seconds."""
    start = time.perf_counter()
    loaded = [ctypes.CDLL(f"lib{name}.so") for name in LIBRARIES]
    version = ctypes.create_string_buffer(1024)
    loaded[0].aclsysGetCANNVersion(0, version)
    print(time.perf_counter() - start)


@check
def importing_adds_little():
    """At import the adapter loads libraries and asks for a version: 0.3 s at most."""
    code = "import ctypes, time\n" + f"LIBRARIES = {LIBRARIES}\n" + inspect.getsource(load_libraries).replace("@alone\n", "") + "load_libraries()"
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    seconds = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True).stdout) for _ in range(5)]
    print(f"  the libraries take {statistics.median(seconds):.3f} s")
    assert statistics.median(seconds) <= 0.3, seconds


@alone
def read_after_a_failed_operator():
    """Prints what each operation behind a failed one raises, or the value that it returns."""
    # Freed memory with a value that a read of a result which was never written would show.
    stale = torch.full((3,), 7.0, device="npu")
    x = torch.ones(3, device="npu")
    index = torch.tensor([5], device="npu")
    torch.npu.synchronize()
    del stale
    made = []
    operations = {
        "operator": lambda: made.append(x[index]),
        "synchronize": torch.npu.synchronize,
        "result": lambda: made[0].cpu().tolist(),
        "next": lambda: (x + 1).cpu().tolist(),
        "item": lambda: torch.zeros(1, device="npu").item(),
        "copy": lambda: torch.arange(3.0).npu().cpu().tolist(),
        "synchronize again": torch.npu.synchronize,
    }
    found = {}
    for name, operation in operations.items():
        try:
            found[name] = operation()
        except (RuntimeError, IndexError) as error:
            found[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(found), flush=True)
    # The adapter's own end of the process waits for the device, which some releases answer by an abort.
    os._exit(0)


@check
def failed_operators_in_each_queue_mode():
    """One exception names the operator, the value and its limits; later operations raise an exception and never return old data."""
    for mode in ("0", "1", "2"):
        found = json.loads(run_alone(read_after_a_failed_operator, TASK_QUEUE_ENABLE=mode).splitlines()[-1])
        text = found["synchronize"]
        assert "aclnnIndex" in text and "the index 5 lies outside" in text and "between -3 and 2" in text, (mode, text)
        # A device has failed until the process ends, which PyTorch has in common with CUDA.
        for name in ("result", "next", "item", "copy", "synchronize again"):
            assert isinstance(found[name], str) and "RuntimeError" in found[name], (mode, name, found[name])


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
    if sys.argv[1:2] == ["--alone"]:
        ALONE[sys.argv[2]]()
        return 0
    chosen = sys.argv[1:]
    failed = absent = 0
    for function in CHECKS:
        if chosen and function.__name__ not in chosen:
            continue
        try:
            function()
            print(f"{function.__name__}: passed", flush=True)
        except NotOffered as reason:
            absent += 1
            print(f"{function.__name__}: not offered: {reason}", flush=True)
        except Exception:  # noqa: BLE001  (each check is reported)
            failed += 1
            print(f"{function.__name__}: FAILED\n{traceback.format_exc()}", flush=True)
    print(f"{failed} of {len(chosen or CHECKS)} checks failed, {absent} are of features that this release does not offer")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
