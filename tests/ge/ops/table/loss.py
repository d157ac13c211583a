"""Losses, norms and statistics."""

import math

import numpy as np

from cases import case, const, distinct, f, i, t, unary, v

HALF = ("float16",)
EPS = 1e-12


def sums(axis=None, keep=False):
    return lambda x: x.sum(axis=axis, keepdims=keep)


case("ConfusionSoftmaxGrad", "", {"grad": f(3, 5), "x": f(3, 5)}, lambda g, x: g - (g * x).sum(-1, keepdims=True), types=HALF)


def cosines(a, b, axis):
    return (a * b).sum(axis) / np.sqrt(((a * a).sum(axis) + EPS) * ((b * b).sum(axis) + EPS))


def embedding(a, b, target, margin=0.25, how=np.mean):
    cos = cosines(a, b, 1)
    return how(np.where(target == 1, 1 - cos, np.maximum(cos - margin, 0)))


PAIRS = {"x1": f(4, 3), "x2": f(4, 3), "target": v([1, -1, -1, 1])}
case("CosineEmbeddingLoss", "mean", PAIRS, embedding, {"margin": 0.25}, types=HALF)
case("CosineEmbeddingLoss", "none", PAIRS, lambda *a: embedding(*a, how=lambda x: x), {"margin": 0.25, "reduction": "none"})
case("CosineEmbeddingLoss", "sum", PAIRS, lambda *a: embedding(*a, how=np.sum), {"margin": 0.25, "reduction": "sum"})
case("CosineSimilarity", "", {"input_x1": f(2, 3, 4), "input_x2": f(2, 3, 4)}, lambda a, b: cosines(a, b, 1), types=HALF)
case("CosineSimilarity", "the last axis", {"input_x1": f(2, 3, 4), "input_x2": f(2, 3, 4)}, lambda a, b: cosines(a, b, -1), {"dim": -1})
case("EuclideanNorm", "", {"x": f(2, 3, 4), "axes": t([0, 2])}, lambda x, a: np.sqrt((x * x).sum((0, 2))), types=["float16", "float64"])
case("EuclideanNorm", "axes kept", {"x": f(2, 3), "axes": t([1], "int64")}, lambda x, a: np.sqrt((x * x).sum(1, keepdims=True)), {"keep_dims": True})


def divergence(x, target):
    return np.where(target > 0, target * (np.log(np.where(target > 0, target, 1)) - x), 0)


CHANCES = {"x": f(4, 3, lo=-3, hi=-0.1), "target": f(4, 3, lo=0.1, hi=1)}
case("KLDivV2", "mean", CHANCES, lambda x, y: divergence(x, y).mean(), types=HALF)
case("KLDivV2", "batchmean", CHANCES, lambda x, y: divergence(x, y).sum() / 4, {"reduction": "batchmean"})
case("KLDivV2", "none", {"x": f(3, lo=-3, hi=-0.1), "target": v([0.0, 0.5, 0.5])}, divergence, {"reduction": "none"})
case("KLDivV2", "logarithms", CHANCES, lambda x, y: (np.exp(y) * (y - x)).sum(), {"reduction": "sum", "log_target": True})
case("L2Loss", "", {"x": f(3, 5)}, lambda x: (x * x).sum() / 2, types=HALF)
SPREAD = {"x": f(3, 5), "y": f(3, 5), "dy": f(3, 5)}
case("L2NormalizeGrad", "", SPREAD, lambda x, y, g: (g - y * (y * g).sum(1, keepdims=True)) / np.sqrt((x * x).sum(1, keepdims=True)), {"dim": [1]}, types=HALF)
unary("LpNormUpdate", lambda x: x ** (1 / 3), lo=0.5, hi=8, attrs={"p": 3})
unary("LpNormUpdate", lambda x: np.maximum(np.sqrt(x), 1.5), lo=0.5, hi=8, attrs={"epsilon": 1.5}, name="at least")
unary("LpNormUpdateV2", lambda x: x ** (1 / 2.5), lo=0.5, hi=8, attrs={"p": 2.5})
COUNTS = {"input_x": f(3, 5, lo=0.1, hi=2), "target": f(3, 5, lo=0.1, hi=4)}


def stirling(t):
    return np.where(t > 1, t * np.log(t) - t + np.log(2 * math.pi * t) / 2, 0)


case("PoissonNllLoss", "", COUNTS, lambda x, y: np.mean(np.exp(x) - y * x), types=HALF)
case("PoissonNllLoss", "plain and full", COUNTS, lambda x, y: np.sum(x - y * np.log(x + 1e-8) + stirling(y)), {"log_input": False, "full": True, "reduction": "sum"})
case("PoissonNllLoss", "none", COUNTS, lambda x, y: np.exp(x) - y * x, {"reduction": "none"})
case("ReduceMeanWithCast", "", {"x": f(2, 3, 4), "axes": t([1])}, lambda x, a: x.mean(1), types=HALF)
case("ReduceMeanWithCast", "of integers", {"x": i(2, 3, 4), "axes": t([-1], "int64")}, lambda x, a: x.mean(-1, keepdims=True), {"dtype": "float32", "keep_dims": True})
case("ReduceStdV2Update", "", {"x": f(4, 5), "mean": f(4, 1)}, lambda x, m: ((x - m) ** 2).sum(1) / 4, {"dim": [1]}, types=HALF)
case("ReduceStdV2Update", "a root", {"x": f(4, 5), "mean": f(1, 5)}, lambda x, m: np.sqrt(((x - m) ** 2).mean(0, keepdims=True)), {"dim": [0], "if_std": True, "unbiased": False, "keepdim": True})
case("ReduceVar", "", {"x": f(4, 5)}, lambda x: [x.var(1, ddof=1), x.mean(1)], {"dim": [1]}, types=HALF)
case("ReduceVar", "all", {"x": f(4, 5)}, lambda x: [x.var(keepdims=True), x.mean(keepdims=True)], {"correction": 0, "keepdim": True})
case("SigmoidCrossEntropyWithLogits", "", {"predict": f(3, 5, lo=-8, hi=8), "target": f(3, 5, lo=0, hi=1)}, lambda x, t: np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x))), types=HALF)
case("Slogdet", "", {"x": f(2, 3, 3)}, lambda x: list(np.linalg.slogdet(x)), types=["float64"], loose=8, why="a sum of products is cancelled")
case("SmoothL1Loss", "", {"predict": f(3, 5), "label": f(3, 5)}, lambda x, y: np.where(np.abs(x - y) < 0.5, (x - y) ** 2, np.abs(x - y) - 0.25), {"sigma": 0.5}, types=HALF)


def cross_entropy(x, labels):
    log = x - np.log(np.exp(x).sum(-1, keepdims=True))
    return [-log[np.arange(len(x)), labels], np.exp(log) - np.eye(x.shape[1])[labels]]


case("SparseSoftmaxCrossEntropyWithLogits", "", {"features": f(4, 5), "labels": v([4, 0, 2, 2], "int32")}, cross_entropy, types=HALF)
case("SquareSumAll", "", {"x1": f(3, 5), "x2": f(3, 5)}, lambda a, b: [(a * a).sum(), (b * b).sum()], types=HALF)
case("SyncBNTrainingUpdate", "", {"mean": f(5), "running_mean": f(5)}, lambda m, r: 0.75 * r + 0.25 * m, {"momentum": 0.25}, types=HALF)


def gathered(total, squares, counts, mean, variance):
    count = counts.sum()
    average = total.sum(0) / count
    spread = squares.sum(0) / count - average**2
    return [average, 1 / np.sqrt(spread + 0.5), 0.75 * mean + 0.25 * average, 0.75 * variance + 0.25 * spread * count / (count - 1)]


STATISTICS = {"total_sum": f(2, 3), "total_square_sum": f(2, 3, lo=10, hi=20), "sample_count": v([4, 6]), "mean": f(3), "variance": f(3, lo=0.5)}
case("SyncBatchNormGatherStats", "", STATISTICS, gathered, {"momentum": 0.25, "eps": 0.5}, types=HALF, loose=2, why="a difference of moments")
ELEMENTS = {key: f(3, 5, lo=0.5) for key in ("grad_output", "save_input", "mean", "invstd", "weight", "mean_dy", "mean_dy_xmu")}
case("SyncBatchNormBackwardElemt", "", ELEMENTS, lambda g, x, m, s, w, d, p: (g - d - (x - m) * s**2 * p) * s * w, types=HALF, loose=8, why="several roundings")
case("SyncBatchNormBackwardReduce", "", {key: f(5) for key in ("sum_dy", "sum_dy_dx_pad", "mean", "invert_std")}, lambda d, p, m, s: [p - d * m, (p - d * m) * s], types=HALF, loose=2, why="several roundings")
case("Trace", "", {"x": f(3, 5)}, lambda x: np.trace(x), types=["float16", "int32", "int64"])
case("Trace", "beside infinity", {"x": v([[1.0, np.inf], [np.nan, 2.0]])}, lambda x: np.trace(x))


def paths(log_probs, targets, steps, length, blank):
    """The logarithms of the sums over all paths so far, by steps and by states."""
    labels = [blank]
    for target in targets[:length]:
        labels += [target, blank]
    alpha = np.full((len(log_probs), len(labels)), -np.inf)
    alpha[0, :2] = log_probs[0, labels[:2]]
    for step in range(1, steps):
        for state in range(len(labels)):
            from_states = [state, state - 1] + ([state - 2] if state >= 2 and labels[state] not in (blank, labels[state - 2]) else [])
            alpha[step, state] = np.logaddexp.reduce([alpha[step - 1, at] for at in from_states if at >= 0]) + log_probs[step, labels[state]]
    return alpha


def ctc(x, targets, steps, lengths):
    alphas = [paths(x[:, at], targets[at], steps[at], lengths[at], 0) for at in range(x.shape[1])]
    return np.array([-np.logaddexp.reduce(alpha[steps[at] - 1, -2:]) for at, alpha in enumerate(alphas)]), alphas


def softened(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def ctc_gradient(grad, x, targets, steps, lengths, *_):
    """Central differences of the numbers whose softmax the probabilities are."""
    y = np.zeros_like(x)
    for at in np.ndindex(*x.shape):
        for step, share in [(1, 8), (-1, -8), (2, -1), (-2, 1)]:
            moved = x.copy()
            moved[at] += step * 1e-3
            y[at] += share * (ctc(softened(moved), targets, steps, lengths)[0] * grad).sum() / 12e-3
    return y


PROBABILITIES = softened(np.random.default_rng(3).normal(size=(6, 2, 5)))
TARGETS, STEPS, LENGTHS = [[1, 2, 2], [3, 1, 4]], [6, 6], [3, 3]
CTC = {"log_probs": v(PROBABILITIES), "targets": v(TARGETS, "int32")}
SIZES = {"input_lengths": t(STEPS), "target_lengths": t(LENGTHS)}
LOSSES, ALPHAS = ctc(PROBABILITIES, TARGETS, STEPS, LENGTHS)
case("CTCLossV2", "", {**CTC, **SIZES}, lambda x, targets, *_: [LOSSES, None], {"reduction": "none"}, types=["float64"])
case("CTCLossV2", "lengths that the graph computes", {**CTC, "input_lengths": v([6, 5], "int32"), "target_lengths": v([3, 2], "int32")},
     lambda x, targets, steps, lengths: [ctc(x, targets, steps, lengths)[0], None], {"reduction": "none"})
case("CTCLossV2Grad", "", {"grad_out": v([1.0, -0.5]), **CTC, **SIZES, "neg_log_likelihood": v(LOSSES), "log_alpha": v(np.array(ALPHAS))}, ctc_gradient, {"reduction": "none"}, loose=4,
     why="the reference is a difference quotient")
