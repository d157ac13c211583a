"""Kernels over the operations of the language, compared with PyTorch on the CPU."""

import os
import subprocess
import sys

import kernels as K
import pytest
import torch
from harness import launch

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64]
STEP = {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}


def values(*shape, dtype=torch.float32, seed=0):
    made = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(*shape, generator=made).to(dtype)
    return torch.randint(-50, 50, shape, generator=made).to(dtype)


def close(found, wanted, factor=1):
    step = STEP.get(wanted.dtype, 0) * factor
    torch.testing.assert_close(found, wanted, rtol=step, atol=step, equal_nan=True)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
def test_masked_addition(dtype):
    x, y = values(1000, dtype=dtype), values(1000, dtype=dtype, seed=1)
    out = torch.full((1000,), 3).to(dtype)
    launch(K.add, (8,), x, y, out, 990, BLOCK=128)
    close(out[:990], (x + y)[:990])
    assert (out[990:] == 3).all()


def test_fewer_blocks_than_programs_run_them_all():
    x, y, out = values(1000), values(1000, seed=1), torch.zeros(1000)
    launch(K.add, (8,), x, y, out, 1000, blocks=3, BLOCK=128)
    close(out, x + y)


@pytest.mark.parametrize("from_type", FLOATS + [torch.int32, torch.int8], ids=str)
@pytest.mark.parametrize("to_type", FLOATS + [torch.int32, torch.int64], ids=str)
def test_conversions(from_type, to_type):
    x, out = values(100, dtype=from_type), torch.zeros(100, dtype=to_type)
    launch(K.cast, (1,), x, out, 100, BLOCK=128)
    close(out, x.to(to_type))


def test_values_where_a_mask_excludes():
    x, out = values(64), torch.zeros(64)
    launch(K.load_other, (1,), x, out, 50, BLOCK=64)
    close(out, torch.cat([x[:50], torch.full((14,), 7.0)]))


UNARY = {
    "exp": torch.exp, "exp2": torch.exp2, "log": torch.log, "log2": torch.log2, "sin": torch.sin, "cos": torch.cos, "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt, "abs": torch.abs, "floor": torch.floor, "ceil": torch.ceil, "erf": torch.erf, "sigmoid": torch.sigmoid,
    "neg": torch.neg,
}


@pytest.mark.parametrize("name", UNARY)
def test_functions(name):
    x = values(256)
    if name in ("log", "log2", "sqrt", "rsqrt"):
        x = x.abs() + 0.01
    out = torch.zeros(256)
    launch(K.unary, (1,), x, out, OP=name, BLOCK=256)
    close(out, UNARY[name](x.double()).float())


def test_exponentials_over_the_full_range():
    x = torch.cat([torch.linspace(-110, 95, 4089), torch.tensor([float("inf"), -float("inf"), float("nan"), 88.72, 88.73, -87.4, -103.9])])
    out = torch.zeros(4096)
    launch(K.unary, (1,), x, out, OP="exp", BLOCK=4096)
    torch.testing.assert_close(out, torch.exp(x.double()).float(), rtol=3e-7, atol=1.5e-45, equal_nan=True)


BINARY = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "min": torch.minimum, "max": torch.maximum,
    "eq": lambda a, b: (a == b).to(a.dtype), "ne": lambda a, b: (a != b).to(a.dtype), "lt": lambda a, b: (a < b).to(a.dtype),
    "le": lambda a, b: (a <= b).to(a.dtype), "gt": lambda a, b: (a > b).to(a.dtype), "ge": lambda a, b: (a >= b).to(a.dtype),
    "where": lambda a, b: torch.where(a > b, a, b * 2),
}
OF_INTEGERS = {
    "floordiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"), "mod": torch.fmod, "and": torch.bitwise_and,
    "or": torch.bitwise_or, "xor": torch.bitwise_xor,
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_operations_of_two(name, dtype):
    x, y, out = values(128, dtype=dtype), values(128, dtype=dtype, seed=1), torch.zeros(128, dtype=dtype)
    launch(K.binary, (1,), x, y, out, OP=name, BLOCK=128)
    close(out, BINARY[name](x, y))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_operations_of_integers(name, dtype):
    x, y, out = values(128, dtype=dtype), values(128, dtype=dtype, seed=1), torch.zeros(128, dtype=dtype)
    y[y == 0] = 3
    launch(K.binary, (1,), x, y, out, OP=name, BLOCK=128)
    close(out, OF_INTEGERS[name](x, y))


@pytest.mark.parametrize("name", ["floordiv", "mod", "cdiv"])
def test_a_division_by_zero_ends_no_process(name):
    x, y, out = values(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    y[1], x[2], y[2] = 7, -(2**31), -1
    launch(K.binary, (1,), x, y, out, OP=name, BLOCK=64)


def test_shifts_and_division():
    x, y, out = values(64, dtype=torch.int32), torch.arange(64, dtype=torch.int32) % 8, torch.zeros(64, dtype=torch.int32)
    launch(K.binary, (1,), x, y, out, OP="shl", BLOCK=64)
    close(out, x << y)
    launch(K.binary, (1,), x, y, out, OP="shr", BLOCK=64)
    close(out, x >> y)
    a, b, c = values(64), values(64, seed=1), torch.zeros(64)
    launch(K.binary, (1,), a, b, c, OP="div", BLOCK=64)
    close(c, a / b)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["sum", "max", "min", "argmax", "argmin"])
def test_reductions(name, axis):
    x = values(16, 32)
    index = name.startswith("arg")
    out = torch.zeros(32 if axis == 0 else 16, dtype=torch.int32 if index else torch.float32)
    launch(K.reduce, (1,), x, out, ROWS=16, COLS=32, OP=name, AXIS=axis)
    if index or name == "sum":
        close(out, getattr(torch, name)(x, axis).to(out.dtype), 4)
    else:
        close(out, getattr(torch, "a" + name)(x, axis))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32], ids=str)
def test_scans(name, axis, dtype):
    x = values(8, 16, dtype=dtype)
    out = torch.zeros_like(x)
    launch(K.scan, (1,), x, out, ROWS=8, COLS=16, OP=name, AXIS=axis, REVERSE=False)
    close(out, getattr(torch, name)(x, axis).to(dtype), 8)


def test_a_scan_from_the_end():
    x, out = values(8, 16), torch.zeros(8, 16)
    launch(K.scan, (1,), x, out, ROWS=8, COLS=16, OP="cumsum", AXIS=1, REVERSE=True)
    close(out, x.flip(1).cumsum(1).flip(1), 8)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8, torch.int16, torch.int32], ids=str)
def test_sorting(descending, dtype):
    x = values(4, 64, dtype=dtype)
    out = torch.zeros_like(x)
    launch(K.sort, (1,), x, out, ROWS=4, COLS=64, DESCENDING=descending)
    close(out, x.sort(1, descending=descending).values)


def test_flipping():
    x, out = values(4, 8), torch.zeros(4, 8)
    launch(K.flip, (1,), x, out, ROWS=4, COLS=8)
    close(out, x.flip(1))


@pytest.mark.parametrize("axis", [0, 1])
def test_gathering_in_a_tensor(axis):
    x, out = values(8, 8), torch.zeros(8, 8)
    index = torch.randint(0, 8, (8, 8), dtype=torch.int32)
    launch(K.gather, (1,), x, index, out, ROWS=8, COLS=8, AXIS=axis)
    close(out, x.gather(axis, index.long()))


def test_gathering_outside_fails_the_stream():
    with pytest.raises(RuntimeError, match="5070.*kernel \"gather\".*reads element 8 of an axis of 8"):
        run_alone("gather_outside")


def test_pointers_from_memory():
    x, out = values(100), torch.zeros(100)
    index = torch.randperm(100).int()
    launch(K.gather_pointers, (2,), x, index, out, 100, BLOCK=64)
    close(out, x[index.long()])
    launch(K.scatter_pointers, (2,), x, index, out, 100, BLOCK=64)
    close(out, torch.zeros(100).scatter(0, index.long(), x))


@pytest.mark.parametrize("name", ["add", "max", "min", "and", "or", "xor"])
def test_atomic_operations(name):
    x, start = values(640, dtype=torch.int32), values(64, dtype=torch.int32, seed=1)
    out, old = start.clone(), torch.zeros(640, dtype=torch.int32)
    launch(K.atomic, (10,), x, out, old, 630, OP=name, BLOCK=64)
    rows = torch.cat([start[None], torch.where(torch.arange(640) < 630, x, x).reshape(10, 64)])
    operation = {"add": torch.add, "max": torch.maximum, "min": torch.minimum, "and": torch.bitwise_and, "or": torch.bitwise_or, "xor": torch.bitwise_xor}[name]
    wanted = start.clone()
    for row in range(10):
        count = min(64, 630 - row * 64)
        wanted[:count] = operation(wanted[:count], rows[row + 1][:count])
    close(out, wanted)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_atomic_sums_of_floats(dtype):
    x, out = values(640).round().to(dtype), torch.zeros(64, dtype=dtype)
    launch(K.atomic_unused, (10,), x, out, 640, BLOCK=64)
    close(out, x.reshape(10, 64).sum(0))


def test_each_atomic_operation_returns_the_value_before_it():
    x, out, old = torch.ones(6400, dtype=torch.int32), torch.zeros(64, dtype=torch.int32), torch.full((6400,), -1, dtype=torch.int32)
    launch(K.atomic, (100,), x, out, old, 6400, OP="add", BLOCK=64)
    close(out, torch.full((64,), 100, dtype=torch.int32))
    close(old.reshape(100, 64).sort(0).values, torch.arange(100, dtype=torch.int32)[:, None].expand(100, 64).contiguous())
    x = torch.arange(6400, dtype=torch.int32)
    out.fill_(-1)
    launch(K.atomic, (100,), x, out, old, 6400, OP="xchg", BLOCK=64)
    close(torch.cat([old, out]).sort().values, torch.cat([torch.full((64,), -1, dtype=torch.int32), x]))


def test_atomic_comparisons():
    start = values(64, dtype=torch.int32)
    compare = torch.where(torch.arange(64) % 2 == 0, start, start + 1).int()
    out, old, value = start.clone(), torch.zeros(64, dtype=torch.int32), values(64, dtype=torch.int32, seed=3)
    launch(K.atomic_cas, (1,), out, old, compare, value, BLOCK=64)
    close(out, torch.where(compare == start, value, start))
    close(old, start)


def test_programs_count_together():
    out = torch.zeros(1, dtype=torch.int32)
    launch(K.atomic_count, (10000,), out)
    assert out.item() == 10000
    index, out = torch.randint(0, 16, (5000,), dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    launch(K.atomic_indices, (79,), index, out, 5000, BLOCK=64)
    close(out, index.bincount(minlength=16).int())
    x, total = values(640).round(), torch.zeros(1)
    launch(K.atomic_total, (10,), x, total, BLOCK=64)
    close(total, x.sum()[None])


def test_histograms():
    x, out = torch.randint(0, 16, (256,), dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    launch(K.histogram, (1,), x, out, N=256, BINS=16)
    close(out, x.bincount(minlength=16).int())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_products_of_matrices(dtype):
    x, y, out = values(32, 64, dtype=dtype), values(64, 32, dtype=dtype, seed=1), torch.zeros(32, 32)
    launch(K.dot, (1,), x, y, out, M=32, N=32, K=64)
    close(out, (x.double() @ y.double()).float(), 20)


def test_products_of_integers():
    x, y, out = values(16, 32, dtype=torch.int8), values(32, 16, dtype=torch.int8, seed=1), torch.zeros(16, 16, dtype=torch.int32)
    launch(K.dot, (1,), x, y, out, M=16, N=16, K=32)
    close(out, (x.double() @ y.double()).int())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_matmul(dtype):
    m, n, k = 70, 50, 90
    x, y, out = values(m, k, dtype=dtype), values(k, n, dtype=dtype, seed=1), torch.zeros(m, n, dtype=dtype)
    launch(K.matmul, (3, 2), x, y, out, m, n, k, k, 1, n, 1, n, 1, BM=32, BN=32, BK=32)
    close(out, (x.double() @ y.double()).to(dtype), 20)
    out.zero_()
    launch(K.matmul_blocks, (3, 2), x, y, out, m, n, k, BM=32, BN=32, BK=32)
    close(out, (x.double() @ y.double()).to(dtype), 20)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax(dtype):
    x = values(50, 781, dtype=dtype)
    out = torch.zeros_like(x)
    launch(K.softmax, (50,), x, out, 781, 781, BLOCK=1024)
    close(out, x.double().softmax(1).to(dtype), 2)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_layer_norm(dtype):
    x, weight, bias = values(20, 300, dtype=dtype), values(300, dtype=dtype, seed=1), values(300, dtype=dtype, seed=2)
    out, mean, rstd = torch.zeros_like(x), torch.zeros(20), torch.zeros(20)
    launch(K.layer_norm, (20,), x, out, weight, bias, mean, rstd, 300, 1e-5, BLOCK=128)
    close(out, torch.nn.functional.layer_norm(x.double(), (300,), weight.double(), bias.double(), 1e-5).to(dtype), 4)
    close(mean, x.double().mean(1).float(), 4)


def test_dropout():
    x, keep, out = values(1000), (torch.rand(1000) > 0.5).int(), torch.zeros(1000)
    launch(K.dropout, (8,), x, keep, out, 1000, 0.5, BLOCK=128)
    close(out, torch.where(keep.bool(), x / 0.5, torch.zeros(())))


def test_random_numbers():
    first, second = torch.zeros(128, dtype=torch.int32), torch.zeros(128, dtype=torch.int32)
    launch(K.random_integers, (2,), first, 1234, BLOCK=64)
    launch(K.random_integers, (4,), second, 1234, BLOCK=32)
    assert torch.equal(first, second) and first.unique().numel() == 128
    out = torch.zeros(4096)
    launch(K.random, (4,), out, 5, BLOCK=1024)
    assert 0 <= out.min() and out.max() < 1 and abs(out.mean() - 0.5) < 0.03


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_attention(causal, dtype):
    q, k, v = (values(2, 128, 32, dtype=dtype, seed=seed) for seed in range(3))
    out = torch.zeros_like(q)
    launch(K.attention, (4, 2), q, k, v, out, 32**-0.5, 128, D=32, BM=32, BN=32, CAUSAL=causal)
    wanted = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
    close(out, wanted.to(dtype), 4)


def test_shapes():
    x = values(8, 16)
    out = torch.zeros(16, 8)
    launch(K.transpose, (1,), x, out, ROWS=8, COLS=16)
    close(out, x.t())
    x, out = values(4, 8, 16), torch.zeros(16, 4, 8)
    launch(K.permute, (1,), x, out, A=4, B=8, C=16)
    close(out, x.permute(2, 0, 1))
    x, out = values(128), torch.zeros(8)
    launch(K.reshape, (1,), x, out, N=8, M=16)
    close(out, x.reshape(8, 16).sum(1), 4)
    x, y, out = values(8), values(16, seed=1), torch.zeros(8, 16)
    launch(K.broadcast, (1,), x, y, out, ROWS=8, COLS=16)
    close(out, x[:, None] + y)


@pytest.mark.parametrize("name", ["join_split", "interleave", "concatenate"])
def test_parts_of_tensors(name):
    x, y = values(32), values(32, seed=1)
    out = torch.zeros(32 if name == "join_split" else 64)
    launch(getattr(K, name), (1,), x, y, out, N=32)
    wanted = {"join_split": x - y, "interleave": torch.stack([x, y], 1).reshape(-1), "concatenate": torch.cat([x, y])}[name]
    close(out, wanted)


@pytest.mark.parametrize("n", [5, 20])
def test_loops_and_branches(n):
    out = torch.zeros(16, dtype=torch.int32)
    launch(K.loops, (1,), out, n, BLOCK=16)
    root = next(k for k in range(100) if k * k >= n)
    close(out, (sum(range(n)) + 6 * torch.arange(16) + (100 if n > 10 else -100) + root).int())


def test_arguments_of_every_kind():
    x, out = values(16), torch.zeros(16)
    launch(K.scalars, (1,), x, out, 3, 0.5, BLOCK=16)
    close(out, x * 0.5 + 3 + x[0])


def test_the_position_in_the_grid():
    out = torch.zeros(24, dtype=torch.int32)
    launch(K.grid, (2, 3, 4), out)
    wanted = [x + 100 * y + 10000 * z for z in range(4) for y in range(3) for x in range(2)]
    assert out.tolist() == wanted


def test_strides_and_bits():
    x, out = values(96), torch.zeros(32)
    launch(K.strided, (1,), x, out, 3, BLOCK=32)
    close(out, x[::3])
    out = torch.zeros(96, dtype=torch.int32)
    x = values(64)
    launch(K.bitcast, (1,), x, out, BLOCK=64)
    close(out[:64], x.view(torch.int32))
    x, y, out = values(64), values(64, seed=1), torch.zeros(64)
    launch(K.assume_clamp_fma, (1,), x, y, out, BLOCK=64)
    close(out, (x * y + x).clamp(-1, 1))


ALONE = {
    "gather_outside": "launch(K.gather, (1,), torch.zeros(8, 8), torch.full((8, 8), 8, dtype=torch.int32), torch.zeros(8, 8), ROWS=8, COLS=8, AXIS=1)",
    "printing": "launch(K.printing, (1,), torch.arange(4.0), BLOCK=4)",
    "asserting": "launch(K.asserting, (1,), torch.arange(16.0), torch.zeros(16), BLOCK=16)",
    "stray": "launch(K.gather_pointers, (1,), torch.zeros(8), torch.full((8,), 2**31 - 1, dtype=torch.int32), torch.zeros(8), 8, BLOCK=8)",
}


def run_alone(name, **environment):
    """Runs a launch in a process of its own, and returns what it prints."""
    here = os.path.dirname(os.path.abspath(__file__))
    code = f"import sys; sys.path.insert(0, {here!r}); import torch, kernels as K; from harness import launch; {ALONE[name]}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        raise RuntimeError(done.stderr.replace("\n", " "))
    return done.stdout


def test_printing():
    lines = run_alone("printing").splitlines()
    assert lines == [f"pid (0, 0, 0) idx ({at}) values: {at}.000000" for at in range(4)]


def test_a_failed_assertion_fails_the_stream():
    with pytest.raises(RuntimeError, match='5070.*kernel "asserting".*tl.device_assert failed in program \\(0, 0, 0\\): .*a value is too large'):
        run_alone("asserting", TRITON_DEBUG="1", TRITON_CACHE_DIR=os.environ.get("TRITON_CACHE_DIR", "/tmp") + "/debug")


def test_an_access_where_no_memory_is_fails_the_stream():
    with pytest.raises(RuntimeError, match='5070.*kernel "gather_pointers".*accessed the address 0x'):
        run_alone("stray")
