"""Kernels over the operations of the language, each small enough to read. The tests compare what they compute with PyTorch."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask), mask=mask)


@triton.jit
def cast(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask).to(out.dtype.element_ty), mask=mask)


@triton.jit
def load_other(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=7))


@triton.jit
def unary(x, out, OP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    if OP == "exp":
        v = tl.exp(v)
    elif OP == "exp2":
        v = tl.exp2(v)
    elif OP == "log":
        v = tl.log(v)
    elif OP == "log2":
        v = tl.log2(v)
    elif OP == "sin":
        v = tl.sin(v)
    elif OP == "cos":
        v = tl.cos(v)
    elif OP == "sqrt":
        v = tl.sqrt(v)
    elif OP == "rsqrt":
        v = tl.rsqrt(v)
    elif OP == "abs":
        v = tl.abs(v)
    elif OP == "floor":
        v = tl.floor(v)
    elif OP == "ceil":
        v = tl.ceil(v)
    elif OP == "erf":
        v = tl.erf(v)
    elif OP == "sigmoid":
        v = tl.sigmoid(v)
    elif OP == "neg":
        v = -v
    tl.store(out + at, v)


@triton.jit
def binary(x, y, out, OP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    b = tl.load(y + at)
    if OP == "add":
        v = a + b
    elif OP == "sub":
        v = a - b
    elif OP == "mul":
        v = a * b
    elif OP == "div":
        v = a / b
    elif OP == "floordiv":
        v = a // b
    elif OP == "mod":
        v = a % b
    elif OP == "cdiv":
        v = tl.cdiv(a, b)
    elif OP == "min":
        v = tl.minimum(a, b)
    elif OP == "max":
        v = tl.maximum(a, b)
    elif OP == "and":
        v = a & b
    elif OP == "or":
        v = a | b
    elif OP == "xor":
        v = a ^ b
    elif OP == "shl":
        v = a << b
    elif OP == "shr":
        v = a >> b
    elif OP == "eq":
        v = (a == b).to(a.dtype)
    elif OP == "ne":
        v = (a != b).to(a.dtype)
    elif OP == "lt":
        v = (a < b).to(a.dtype)
    elif OP == "le":
        v = (a <= b).to(a.dtype)
    elif OP == "gt":
        v = (a > b).to(a.dtype)
    elif OP == "ge":
        v = (a >= b).to(a.dtype)
    elif OP == "where":
        v = tl.where(a > b, a, b * 2)
    tl.store(out + at, v)


@triton.jit
def reduce(x, out, ROWS: tl.constexpr, COLS: tl.constexpr, OP: tl.constexpr, AXIS: tl.constexpr):
    row = tl.arange(0, ROWS)
    col = tl.arange(0, COLS)
    v = tl.load(x + row[:, None] * COLS + col[None, :])
    if OP == "sum":
        r = tl.sum(v, axis=AXIS)
    elif OP == "max":
        r = tl.max(v, axis=AXIS)
    elif OP == "min":
        r = tl.min(v, axis=AXIS)
    elif OP == "xor_sum":
        r = tl.xor_sum(v, axis=AXIS)
    elif OP == "argmax":
        r = tl.argmax(v, axis=AXIS)
    elif OP == "argmin":
        r = tl.argmin(v, axis=AXIS)
    if AXIS == 1:
        tl.store(out + row, r)
    else:
        tl.store(out + col, r)


@triton.jit
def _multiply(a, b):
    return a * b


@triton.jit
def reduce_own(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.reduce(v, 0, _multiply))


@triton.jit
def scan(x, out, ROWS: tl.constexpr, COLS: tl.constexpr, OP: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    v = tl.load(x + at)
    if OP == "cumsum":
        v = tl.cumsum(v, axis=AXIS, reverse=REVERSE)
    else:
        v = tl.cumprod(v, axis=AXIS, reverse=REVERSE)
    tl.store(out + at, v)


@triton.jit
def sort(x, out, ROWS: tl.constexpr, COLS: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), descending=DESCENDING, dim=1))


@triton.jit
def flip(x, out, ROWS: tl.constexpr, COLS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(out + at, tl.flip(tl.load(x + at), dim=1))


@triton.jit
def gather(x, index, out, ROWS: tl.constexpr, COLS: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), AXIS))


@triton.jit
def gather_pointers(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    i = tl.load(index + at, mask=mask, other=0)
    tl.store(out + at, tl.load(x + i, mask=mask), mask=mask)


@triton.jit
def scatter_pointers(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    i = tl.load(index + at, mask=mask, other=0)
    tl.store(out + i, tl.load(x + at, mask=mask), mask=mask)


@triton.jit
def atomic(x, out, old, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    first = tl.program_id(0) * BLOCK
    mask = first + at < n
    v = tl.load(x + first + at, mask=mask, other=0)
    if OP == "add":
        r = tl.atomic_add(out + at, v, mask=mask)
    elif OP == "max":
        r = tl.atomic_max(out + at, v, mask=mask)
    elif OP == "min":
        r = tl.atomic_min(out + at, v, mask=mask)
    elif OP == "and":
        r = tl.atomic_and(out + at, v, mask=mask)
    elif OP == "or":
        r = tl.atomic_or(out + at, v, mask=mask)
    elif OP == "xor":
        r = tl.atomic_xor(out + at, v, mask=mask)
    elif OP == "xchg":
        r = tl.atomic_xchg(out + at, v, mask=mask)
    tl.store(old + first + at, r, mask=mask)


@triton.jit
def atomic_unused(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    first = tl.program_id(0) * BLOCK
    mask = first + at < n
    tl.atomic_add(out + at, tl.load(x + first + at, mask=mask, other=0), mask=mask)


@triton.jit
def atomic_count(out):
    tl.atomic_add(out, 1)


@triton.jit
def atomic_total(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at), axis=0))


@triton.jit
def atomic_indices(index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.atomic_add(out + tl.load(index + at, mask=mask, other=0), 1, mask=mask)


@triton.jit
def atomic_cas(out, old, compare, value, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    r = tl.atomic_cas(out + at, tl.load(compare + at), tl.load(value + at))
    tl.store(old + at, r)


@triton.jit
def histogram(x, out, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))


@triton.jit
def dot(x, y, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(x + m[:, None] * K + k[None, :])
    b = tl.load(y + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(a, b))


@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        x = tl.load(a + m[:, None] * sam + (step * BK + k)[None, :] * sak, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b + (step * BK + k)[:, None] * sbk + n[None, :] * sbn, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * scm + n[None, :] * scn, acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_blocks(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    x = tl.make_block_ptr(a, (M, K), (K, 1), (pm * BM, 0), (BM, BK), (1, 0))
    y = tl.make_block_ptr(b, (K, N), (N, 1), (0, pn * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc += tl.dot(tl.load(x, boundary_check=(0, 1), padding_option="zero"), tl.load(y, boundary_check=(0, 1), padding_option="zero"))
        x = tl.advance(x, (0, BK))
        y = tl.advance(y, (BK, 0))
    z = tl.make_block_ptr(c, (M, N), (N, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    tl.store(z, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def softmax(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * stride + at, mask=mask, other=-float("inf"))
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + at, v / tl.sum(v, axis=0), mask=mask)


@triton.jit
def layer_norm(x, out, weight, bias, mean, rstd, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * n
    out += row * n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    average = tl.sum(total, axis=0) / n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
        v = tl.where(at < n, v - average, 0.0)
        total += v * v
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / n + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        mask = at < n
        v = (tl.load(x + at, mask=mask, other=0.0).to(tl.float32) - average) * scale
        tl.store(out + at, v * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask), mask=mask)


@triton.jit
def dropout(x, keep, out, n, p, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask)
    kept = tl.load(keep + at, mask=mask)
    tl.store(out + at, tl.where(kept, v / (1 - p), 0.0), mask=mask)


@triton.jit
def random(out, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.rand(seed, at))


@triton.jit
def random_integers(out, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randint(seed, at))


@triton.jit
def attention(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.program_id(1) * N * D
    d = tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :])
    highest = tl.zeros([BM], dtype=tl.float32) - float("inf")
    total = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    last = N
    if CAUSAL:
        last = (tl.program_id(0) + 1) * BM
    for first in range(0, last, BN):
        n = first + tl.arange(0, BN)
        key = tl.load(k + head + n[:, None] * D + d[None, :])
        score = tl.dot(query, tl.trans(key)) * scale
        if CAUSAL:
            score = tl.where(m[:, None] >= n[None, :], score, -1.0e6)
        now = tl.maximum(highest, tl.max(score, axis=1))
        p = tl.exp(score - now[:, None])
        shrink = tl.exp(highest - now)
        total = total * shrink + tl.sum(p, axis=1)
        value = tl.load(v + head + n[:, None] * D + d[None, :])
        acc = acc * shrink[:, None] + tl.dot(p.to(value.dtype), value)
        highest = now
    tl.store(out + head + m[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def transpose(x, out, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.arange(0, ROWS)
    col = tl.arange(0, COLS)
    v = tl.load(x + row[:, None] * COLS + col[None, :])
    tl.store(out + col[:, None] * ROWS + row[None, :], tl.trans(v))


@triton.jit
def permute(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)
    b = tl.arange(0, B)
    c = tl.arange(0, C)
    v = tl.load(x + a[:, None, None] * B * C + b[None, :, None] * C + c[None, None, :])
    tl.store(out + c[:, None, None] * A * B + a[None, :, None] * B + b[None, None, :], tl.permute(v, (2, 0, 1)))


@triton.jit
def reshape(x, out, N: tl.constexpr, M: tl.constexpr):
    v = tl.reshape(tl.load(x + tl.arange(0, N * M)), (N, M))
    tl.store(out + tl.arange(0, N), tl.sum(v, axis=1))


@triton.jit
def broadcast(x, y, out, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.arange(0, ROWS)
    col = tl.arange(0, COLS)
    v = tl.broadcast_to(tl.load(x + row)[:, None], (ROWS, COLS)) + tl.expand_dims(tl.load(y + col), 0)
    tl.store(out + row[:, None] * COLS + col[None, :], v)


@triton.jit
def join_split(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.split(tl.join(tl.load(x + at), tl.load(y + at)))
    tl.store(out + at, a - b)


@triton.jit
def interleave(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + tl.arange(0, 2 * N), tl.interleave(tl.load(x + at), tl.load(y + at)))


@triton.jit
def concatenate(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + tl.arange(0, 2 * N), tl.cat(tl.load(x + at), tl.load(y + at), can_reorder=True))


@triton.jit
def loops(out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.int32)
    for i in tl.range(0, n):
        total += i
    for j in tl.static_range(0, 4):
        total += j * at
    k = 0
    while k * k < n:
        k += 1
    if n > 10:
        total += 100
    else:
        total -= 100
    tl.store(out + at, total + k)


@triton.jit
def scalars(x, out, i, f, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    first = tl.load(x)
    tl.store(out + at, tl.load(x + at) * f + i + first)


@triton.jit
def grid(out):
    x = tl.program_id(0)
    y = tl.program_id(1)
    z = tl.program_id(2)
    nx = tl.num_programs(0)
    ny = tl.num_programs(1)
    at = (z * ny + y) * nx + x
    tl.store(out + at, x + 100 * y + 10000 * z)


@triton.jit
def strided(x, out, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at * stride))


@triton.jit
def assume_clamp_fma(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    tl.store(out + at, tl.clamp(tl.fma(a, tl.load(y + at), a), -1.0, 1.0))


@triton.jit
def multiply_high(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.umulhi(tl.load(x + at), tl.load(y + at)))


@triton.jit
def bitcast(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(tl.int32, bitcast=True))


@triton.jit
def printing(x, BLOCK: tl.constexpr):
    tl.device_print("values: ", tl.load(x + tl.arange(0, BLOCK)))


@triton.jit
def asserting(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.device_assert(v < 4, "a value is too large")
    tl.store(out + at, v)


@triton.jit
def cumulative_own(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out + tl.arange(0, N), tl.associative_scan(v, 0, _multiply))
