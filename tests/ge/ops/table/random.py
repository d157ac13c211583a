"""Numbers at random: their moments and bounds, and that seeds repeat them. Each graph is made twice and run twice."""

import numpy as np

from cases import case, f, t, v

COUNT = 20000


def judge(check, seeded=True):
    """`check` gets one draw. With seeds, the draws of two equal graphs agree; the second draw of a graph is another one."""

    def whole(outputs):
        one, again, other, more = outputs
        wrong = [sentence for draw in outputs for sentence in check(draw)]
        if seeded and not ((one == other).all() and (again == more).all()):
            wrong.append("two graphs with the same seeds draw different numbers")
        if not seeded and (one == other).mean() > 0.9:
            wrong.append("two graphs of two names without seeds draw the same numbers")
        if (one == again).mean() > 0.9:
            wrong.append("a graph draws the same numbers when it runs again")
        return wrong

    return whole


def shares(draw, counts, wanted):
    """Compares how often values came with probabilities: within five deviations."""
    total = counts.sum()
    limit = 5 * np.sqrt(total * wanted * (1 - wanted))
    return [f"{counts} came, {wanted * total} were wanted"] if (np.abs(counts - wanted * total) > limit).any() else []


def even(draw):
    wrong = [] if draw.shape == (2, COUNT // 2) else [f"the shape is {draw.shape}"]
    if draw.min() < 0 or draw.max() >= 1:
        wrong.append(f"{draw.min()} to {draw.max()} is not from 0 to below 1")
    return wrong + shares(draw, np.histogram(draw, 20, (0, 1))[0], np.full(20, 0.05))


def normal(draw):
    # The shares of the normal distribution between integer multiples of the standard deviation.
    inner = np.array([0.0013499, 0.0214002, 0.1359051, 0.3413447, 0.3413447, 0.1359051, 0.0214002, 0.0013499])
    counts = np.histogram(np.clip(draw, -3.5, 3.5), [-9, -3, -2, -1, 0, 1, 2, 3, 9])[0]
    wrong = [] if abs(np.corrcoef(draw.ravel()[:-1], draw.ravel()[1:])[0, 1]) < 0.04 else ["neighbours hang together"]
    return wrong + shares(draw, counts, inner / inner.sum())


TWICE = {"runs": 2, "repeats": 2}
SHAPE = {"shape": t([2, COUNT // 2])}
for dtype in ["float32", "float16", "float64"]:
    case("RandomUniform", "", SHAPE, None, {"dtype": dtype, "seed": 7, "seed2": 11}, dtype=dtype, judge=judge(even), **TWICE)
    case("RandomStandardNormal", "", SHAPE, None, {"dtype": dtype, "seed": 7}, dtype=dtype, judge=judge(normal), **TWICE)
case("RandomUniform", "without a seed", SHAPE, None, {"dtype": "float32"}, judge=judge(even, seeded=False), **TWICE)
for op, check in [("RandomUniform", even), ("RandomStandardNormal", normal)]:
    case(op, "a shape in int64", {"shape": t([2, COUNT // 2], "int64")}, None, {"dtype": "float32", "seed": 7}, judge=judge(check), **TWICE)
case("RandomUniformInt", "int64", {"shape": t([2, COUNT // 2], "int64"), "min": t(-3, "int64"), "max": t(5, "int64")}, None, {"seed": 5},
     judge=judge(lambda draw: shares(draw, np.bincount((draw + 3).ravel(), minlength=8), np.full(8, 0.125))), **TWICE)
case("RandomUniform", "a shape that is given", {"shape": v([2, COUNT // 2], "int32")}, None, {"dtype": "float32", "seed": 3}, judge=judge(even), **TWICE)
case("RandomUniformInt", "", {**SHAPE, "min": t(-3), "max": t(5)}, None, {"seed": 5},
     judge=judge(lambda draw: shares(draw, np.bincount((draw + 3).ravel(), minlength=8), np.full(8, 0.125))), **TWICE)

LOGITS = np.log([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])


def classes(draw):
    wrong = [] if draw.shape == (2, COUNT) else [f"the shape is {draw.shape}"]
    for row in range(2):
        wrong += shares(draw, np.bincount(draw[row], minlength=3), np.exp(LOGITS[row]))
    return wrong


case("Multinomial", "", {"logits": v(LOGITS), "num_samples": t(COUNT)}, None, {"seed": 1, "seed2": 2}, types=["float16", "float64"], judge=judge(classes), **TWICE)
case("Multinomial", "int32", {"logits": v(LOGITS), "num_samples": t(COUNT)}, None, {"dtype": "int32", "seed": 9}, judge=judge(classes), **TWICE)
