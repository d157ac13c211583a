"""Numbers at random: their moments and bounds, and that seeds repeat them. Each graph is made twice and run twice."""

import numpy as np

from cases import case, f, refused, t, v

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

# --- with the state as an input -----------------------------------------------------------------------------------------------

START = {"offset": v([6], "int64")}


def stated(check, seeded=True):
    """As `judge`, for a graph whose only state is an input: it draws the same numbers when it runs again. The new state lies behind."""

    def whole(outputs):
        draws, states = outputs[0::2], outputs[1::2]
        wrong = [sentence for draw in draws for sentence in check(draw)]
        wrong += [f"the state is {state}, {[6 + COUNT]} is wanted" for state in states if state.tolist() != [6 + COUNT]]
        same = [(draws[0] == other).mean() for other in draws[1:]]
        if seeded and min(same) < 1:
            wrong.append("the same seeds and states draw different numbers")
        if not seeded and max(same) > 0.9:
            wrong.append("nothing is chosen, and the same numbers are drawn")
        return wrong

    return whole


def truncated(draw):
    wrong = [] if draw.shape == (2, COUNT // 2) else [f"the shape is {draw.shape}"]
    if abs(draw).max() > 2:
        wrong.append(f"{abs(draw).max()} is further from the middle than two deviations")
    inner = np.array([0.0440560, 0.0918481, 0.1498823, 0.1914625, 0.1914625, 0.1498823, 0.0918481, 0.0440560])
    return wrong + shares(draw, np.histogram(draw, 8, (-2, 2))[0], inner / inner.sum())


def dice(draw):
    return shares(draw, np.bincount((draw + 3).astype(int).ravel(), minlength=8), np.full(8, 0.125))


SHAPES = [("", {"shape": t([2, COUNT // 2])}), ("a shape in int64", {"shape": t([2, COUNT // 2], "int64")})]
for dtype in ["float32", "float16", "bfloat16"]:
    for op, check in [("RandomUniformV2", even), ("RandomStandardNormalV2", normal), ("TruncatedNormalV2", truncated)]:
        for name, shape in SHAPES if dtype == "float32" else SHAPES[:1]:
            if dtype != "bfloat16" or check is not normal:
                case(op, name, {**shape, **START}, None, {"dtype": dtype, "seed": 7}, dtype=dtype, judge=stated(check), **TWICE)
case("RandomUniformV2", "without a seed", {**SHAPE, **START}, None, {"dtype": "float32"}, judge=stated(even, False), **TWICE)
for dtype in ["int32", "int64"]:
    bounds = {"min": t(-3, dtype), "max": t(5, dtype)}
    case("RandomUniformIntV2", "", {"shape": t([2, COUNT // 2], dtype), **bounds, **START}, None, {"seed": 5}, dtype=dtype, judge=stated(dice), **TWICE)


def alone(check, same=True):
    """For a graph without state: all draws are equal, or none is."""

    def whole(outputs):
        wrong = [sentence for draw in outputs for sentence in check(draw)]
        equal = [(outputs[0] == other).mean() for other in outputs[1:]]
        if same and min(equal) < 1 or not same and max(equal) > 0.9:
            wrong.append(f"{equal} of the numbers of several draws are equal")
        return wrong

    return whole


LARGE = {"shape": t([2, COUNT // 2], "int64")}
SEEDS = {"seed": v(12, "int64"), "offset": v(34, "int64")}


def within(draw):
    wrong = [] if draw.min() >= -1.5 and draw.max() < 2.5 else [f"{draw.min()} to {draw.max()} is not from -1.5 to below 2.5"]
    return wrong + shares(draw, np.histogram(draw, 16, (-1.5, 2.5))[0], np.full(16, 1 / 16))


for dtype in ["float32", "float16"]:
    case("StatelessUniform", "", {**LARGE, **SEEDS, "from": v(-1.5, "float64"), "to": v(2.5, "float64")}, None, {"dtype": dtype}, dtype=dtype, judge=alone(within), **TWICE)
for dtype in ["int32", "float32", "float16", "bfloat16", "int64", "int16", "int8"]:
    case("StatelessRandom", "", {**LARGE, **SEEDS, "from": v(-3, "int64"), "to": v(5, "int64")}, None, {"dtype": dtype}, dtype=dtype, judge=alone(dice), **TWICE)
KEY = {"key": v([123456789123], "uint64"), "counter": v([5, 6], "uint64"), "alg": t(1)}
for dtype in ["float32", "float16", "bfloat16", "float64"]:
    for name, shape in SHAPES if dtype == "float32" else SHAPES[:1]:
        case("StatelessTruncatedNormalV2", name, {**shape, **KEY}, None, {"dtype": dtype}, dtype=dtype, judge=alone(truncated), **TWICE)
        case("StatelessRandomUniformV2", name, {**shape, **KEY}, None, {"dtype": dtype}, dtype=dtype, judge=alone(even), **TWICE)
CHANCES = np.repeat([[0.25], [0.75]], COUNT // 2, 1)


def coins(draw):
    return [sentence for row, chance in zip(draw, (0.25, 0.75)) for sentence in shares(row, np.bincount(row.astype(int), minlength=2), np.array([1 - chance, chance]))]


for dtype in ["float32", "float16", "float64"]:
    case("StatelessBernoulliV2", "", {"x": v(CHANCES), **SEEDS}, None, {}, dtype=dtype, judge=alone(coins), **TWICE)
case("StatelessBernoulliV2", "another type", {"x": v(CHANCES), **SEEDS}, None, {"dtype": "int8"}, judge=alone(coins), **TWICE)
case("StatelessBernoulliV2", "nothing is chosen", {"x": v(CHANCES), "seed": v(-1, "int64"), "offset": v(0, "int64")}, None, {}, judge=alone(coins, False), runs=1, repeats=2)
MASK = np.arange(40) % 4 != 1


def choice(outputs):
    wrong = []
    for y, mask in zip(outputs[0::2], outputs[1::2]):
        taken = y[mask.astype(bool), 0]
        if y.shape != (34, 1) or mask.sum() != MASK.sum() or sorted(taken) != list(np.flatnonzero(MASK)) or y[~mask.astype(bool)].any():
            wrong.append(f"{y.ravel()} with {mask} is not each position once, and zeros behind")
        if (np.diff(taken) > 0).mean() > 0.8:
            wrong.append(f"{taken} is in order")
    if not all((outputs[0] == other).all() for other in outputs[2::2]):
        wrong.append("the same seeds choose different positions")
    return wrong


case("StatelessRandomChoiceWithMask", "", {"x": v(MASK, "bool"), "count": t(34), **SEEDS}, None, {}, dtype="bool", judge=choice, **TWICE)

refused("StatelessRandomUniformV2", "another algorithm", {**SHAPE, **{**KEY, "alg": t(2)}}, "only 1 (Philox) is supported", {"dtype": "float32"})
refused("StatelessRandom", "no bounds", {**LARGE, **SEEDS}, "its inputs from and to are missing", {"dtype": "int32"}, dtype="int32")
refused("RandomUniformV2", "two states", {**SHAPE, "offset": v([1, 2], "int64")}, "one number is required", {"dtype": "float32", "seed": 1})


def masked(bits):
    """A share of 0.7 of the elements is kept; a mask has a multiple of 128 elements, a bit or a byte for each."""
    def check(draw):
        kept = np.unpackbits(draw.astype(np.uint8), bitorder="little") if bits else draw
        wrong = [] if draw.ndim == 1 and kept.size == -(-COUNT // 128) * 128 else [f"the shape is {draw.shape}"]
        if kept.max() > 1:
            wrong.append(f"{kept.max()} is neither 0 nor 1")
        return wrong + shares(draw, np.bincount(kept[:COUNT].astype(int), minlength=2), np.array([0.3, 0.7]))

    return check


for op, bits in [("DropOutGenMask", True), ("DropOutGenMaskV3", False)]:
    for kind in ("int32", "int64"):
        case(op, kind, {"shape": t([2, COUNT // 2], kind), "prob": t(0.7, "float32")}, None, {"seed": 7, "seed2": 3}, out="uint8", judge=judge(masked(bits)), **TWICE)
    case(op, "without seeds, half precision", {"shape": t([COUNT]), "prob": t([0.7], "float16")}, None, out="uint8", judge=judge(masked(bits), seeded=False), **TWICE)
