"""Writes reference.txt: the losses and words of the network in NumPy's float64."""

import math
import pathlib

import numpy as np

WORDS, WIDTH, HEADS, HIDDEN, LAYERS = 32, 32, 4, 64, 2
BATCH, LENGTH, STEPS, FIRST_WORD = 2, 64, 50, 3
HEAD = WIDTH // HEADS
RATE, DECAY, BETA1, BETA2, EPSILON, NORM_EPSILON = 1e-2, 0.01, 0.9, 0.999, 1e-8, 1e-5


class Numbers:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return self.state

    def between(self, limit):
        return float(np.float32((self.next() / 2**32 * 2 - 1) * float(np.float32(limit))))


def shapes():
    def limit(inputs):
        return np.float32(1 / math.sqrt(inputs))

    yield (WORDS, WIDTH), 0.5, 0
    for _ in range(LAYERS):
        yield (WIDTH,), 0, 1
        yield (WIDTH,), 0, 0
        yield (WIDTH, 3 * WIDTH), limit(WIDTH), 0
        yield (3 * WIDTH,), 0, 0
        yield (WIDTH, WIDTH), limit(WIDTH), 0
        yield (WIDTH,), 0, 0
        yield (WIDTH,), 0, 1
        yield (WIDTH,), 0, 0
        yield (WIDTH, HIDDEN), limit(WIDTH), 0
        yield (HIDDEN,), 0, 0
        yield (HIDDEN, WIDTH), limit(HIDDEN), 0
        yield (WIDTH,), 0, 0
    yield (WIDTH,), 0, 1
    yield (WIDTH,), 0, 0
    yield (WIDTH, WORDS), limit(WIDTH), 0


def start():
    numbers = Numbers(1)
    weights = []
    for dims, limit, constant in shapes():
        if limit:
            values = [numbers.between(limit) for _ in range(math.prod(dims))]
            weights.append(np.array(values).reshape(dims))
        else:
            weights.append(np.full(dims, float(constant)))
    return weights


def positions():
    angles = [[p / 10000 ** ((i // 2 * 2) / WIDTH) for i in range(WIDTH)] for p in range(LENGTH)]
    values = [[math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(row)] for row in angles]
    return np.array(values, np.float32).astype(np.float64)


POSITIONS = positions()


def normalize(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    scale = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + NORM_EPSILON)
    normal = (x - mean) * scale
    return normal * weight + bias, (normal, scale, weight)


def normalize_backward(d_out, saved):
    normal, scale, weight = saved
    axes = tuple(range(d_out.ndim - 1))
    d_normal = d_out * weight
    d_x = scale * (d_normal - d_normal.mean(-1, keepdims=True) - normal * (d_normal * normal).mean(-1, keepdims=True))
    return d_x, (d_out * normal).sum(axes), d_out.sum(axes)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def flat(x):
    return x.reshape(-1, x.shape[-1])


def split(qkv):
    batch, length = qkv.shape[:2]
    return [part.reshape(batch, length, HEADS, HEAD).swapaxes(1, 2) for part in np.split(qkv, 3, -1)]


def join(x):
    batch, _, length, _ = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, WIDTH)


def forward(weights, tokens):
    length = tokens.shape[1]
    hidden = weights[0][tokens] + POSITIONS[:length]
    later = np.triu(np.ones((length, length), bool), 1)
    saved = []
    for layer in range(LAYERS):
        n1, b1, w_qkv, b_qkv, w_out, b_out, n2, b2, w_up, b_up, w_down, b_down = weights[1 + 12 * layer : 13 + 12 * layer]
        normal1, norm1 = normalize(hidden, n1, b1)
        q, k, v = split(normal1 @ w_qkv + b_qkv)
        shares = softmax(np.where(later, -1e30, q @ k.swapaxes(-1, -2) / math.sqrt(HEAD)))
        mixed = join(shares @ v)
        middle = hidden + mixed @ w_out + b_out
        normal2, norm2 = normalize(middle, n2, b2)
        up = normal2 @ w_up + b_up
        sigmoid = 1 / (1 + np.exp(-up))
        hidden = middle + (up * sigmoid) @ w_down + b_down
        saved.append((normal1, norm1, q, k, v, shares, mixed, normal2, norm2, up, sigmoid))
    normal, norm = normalize(hidden, weights[-3], weights[-2])
    return normal @ weights[-1], (saved, normal, norm)


def step(weights, tokens, targets):
    """Returns the loss and the gradients."""
    logits, (saved, normal, norm) = forward(weights, tokens)
    shares = flat(softmax(logits))
    rows = np.arange(targets.size)
    loss = -np.log(shares[rows, targets.ravel()]).mean()
    gradients = [None] * len(weights)
    d_logits = shares.copy()
    d_logits[rows, targets.ravel()] -= 1
    d_logits /= targets.size
    gradients[-1] = flat(normal).T @ d_logits
    d_hidden, gradients[-3], gradients[-2] = normalize_backward((d_logits @ weights[-1].T).reshape(normal.shape), norm)
    for layer in reversed(range(LAYERS)):
        normal1, norm1, q, k, v, shares, mixed, normal2, norm2, up, sigmoid = saved[layer]
        first = 1 + 12 * layer
        _, _, w_qkv, _, w_out, _, _, _, w_up, _, w_down, _ = weights[first : first + 12]
        active = up * sigmoid
        d_active = d_hidden @ w_down.T
        g_down, g_down_bias = flat(active).T @ flat(d_hidden), flat(d_hidden).sum(0)
        d_up = d_active * sigmoid * (1 + up * (1 - sigmoid))
        g_up, g_up_bias = flat(normal2).T @ flat(d_up), flat(d_up).sum(0)
        d_branch, g_norm2, g_bias2 = normalize_backward(d_up @ w_up.T, norm2)
        d_hidden = d_hidden + d_branch
        g_out, g_out_bias = flat(mixed).T @ flat(d_hidden), flat(d_hidden).sum(0)
        d_mixed = (d_hidden @ w_out.T).reshape(*tokens.shape, HEADS, HEAD).swapaxes(1, 2)
        d_shares = d_mixed @ v.swapaxes(-1, -2)
        d_v = shares.swapaxes(-1, -2) @ d_mixed
        d_scores = shares * (d_shares - (d_shares * shares).sum(-1, keepdims=True)) / math.sqrt(HEAD)
        d_qkv = np.concatenate([join(d_scores @ k), join(d_scores.swapaxes(-1, -2) @ q), join(d_v)], -1)
        g_qkv, g_qkv_bias = flat(normal1).T @ flat(d_qkv), flat(d_qkv).sum(0)
        d_branch, g_norm1, g_bias1 = normalize_backward(d_qkv @ w_qkv.T, norm1)
        d_hidden = d_hidden + d_branch
        gradients[first : first + 12] = [
            g_norm1, g_bias1, g_qkv, g_qkv_bias, g_out, g_out_bias, g_norm2, g_bias2, g_up, g_up_bias, g_down, g_down_bias,
        ]
    gradients[0] = np.zeros_like(weights[0])
    np.add.at(gradients[0], tokens.ravel(), flat(d_hidden))
    return loss, gradients


def train(weights):
    numbers = Numbers(2)
    moments = [[np.zeros_like(weight) for weight in weights] for _ in range(2)]
    for number in range(1, STEPS + 1):
        sequences = []
        for _ in range(BATCH):
            word = (numbers.next() >> 16) % WORDS
            sequence = [word]
            for _ in range(LENGTH):
                sequence.append((5 * sequence[-1] + 7) % WORDS)
            sequences.append(sequence)
        sequences = np.array(sequences)
        loss, gradients = step(weights, sequences[:, :-1], sequences[:, 1:])
        yield loss
        for weight, gradient, m, v in zip(weights, gradients, *moments, strict=True):
            weight *= 1 - RATE * DECAY
            m += (1 - BETA1) * (gradient - m)
            v *= BETA2
            v += (1 - BETA2) * gradient**2
            root = np.sqrt(v) / math.sqrt(1 - BETA2**number) + EPSILON
            weight -= RATE / (1 - BETA1**number) * m / root


def decode(weights):
    """Returns the words, each computed from all words before it, and how much likelier each is than any other."""
    words, margins = [FIRST_WORD], []
    for _ in range(LENGTH):
        logits = forward(weights, np.array([words]))[0][0, -1]
        second, first = np.sort(logits)[-2:]
        margins.append(first - second)
        words.append(int(logits.argmax()))
    return words[1:], min(margins)


def check_gradients(weights):
    """Compares with differences of the loss."""
    generator = np.random.default_rng(0)
    tokens, targets = generator.integers(0, WORDS, (2, BATCH, LENGTH))
    gradients = step(weights, tokens, targets)[1]
    for weight, gradient in zip(weights, gradients, strict=True):
        at = tuple(generator.integers(0, size) for size in weight.shape)
        value, losses = weight[at], []
        for difference in (1e-5, -1e-5):
            weight[at] = value + difference
            losses.append(step(weights, tokens, targets)[0])
        weight[at] = value
        assert abs((losses[0] - losses[1]) / 2e-5 - gradient[at]) < 1e-7


def main():
    weights = start()
    check_gradients(weights)
    losses = list(train(weights))
    words, margin = decode(weights)
    assert margin > 0.01, margin
    lines = [f"{loss:.9f}" for loss in losses] + [" ".join(map(str, words))]
    pathlib.Path(__file__).with_name("reference.txt").write_text("\n".join(lines) + "\n")
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}, smallest margin {margin:.3f}")


if __name__ == "__main__":
    main()
