"""Makes choice.txt: `python choice.py` in an environment with PyTorch. The choice of a token, in float64."""

import math

import torch

from cases import Cases, Null, Out

torch.manual_seed(70)
cases = Cases("choice")
f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
i32, i64 = torch.int32, torch.int64
inf = math.inf


def kept(row, k, p, least, most, is_logits):
    """The tokens of a row that are kept, in order, and their probabilities."""
    row = row.double()
    tokens = list(range(len(row)))
    by_number, by_sum = 1 <= k <= min(len(row), most), p < 1
    if by_number or by_sum or least > 0:
        tokens.sort(key=lambda token: -row[token].item())
    if by_number:
        tokens = tokens[:k]
    values = row[tokens]
    chances = (values.softmax(0) if is_logits else values).tolist()
    if by_sum:
        # The first ones whose sum reaches p, and at least one.
        count, sum_ = 1, chances[0]
        while count < len(tokens) and sum_ < p:
            sum_ += chances[count]
            count += 1
        # The result must not hang on the last bits of a sum.
        assert abs(sum_ - p) > 1e-4 and abs(sum_ - chances[count - 1] - p) > 1e-4 or count == 1
        tokens = tokens[:count]
    if least >= 1:
        tokens = tokens[:1]
    elif least > 0:
        assert all(abs(chance - least * chances[0]) > 1e-5 for chance in chances[: len(tokens)])
        tokens = [token for token, chance in zip(tokens, chances) if chance >= least * chances[0]]
    return tokens, chances[: len(tokens)]


def expected(logits, k, p, q=None, least=None, most=1024, is_logits=True, eps=1e-8):
    rows, width = logits.shape
    chosen = torch.zeros(rows, dtype=i64)
    select = torch.full((rows, width), -inf if is_logits else 0.0)
    values, order = torch.zeros(rows, width), torch.zeros(rows, width, dtype=i64)
    for row in range(rows):
        tokens, chances = kept(logits[row], int(k[row]), float(p[row]), 0.0 if least is None else float(least[row]), most, is_logits)
        scores = torch.tensor(chances, dtype=f64)
        if q is not None:
            scores = scores / (q[row, : len(tokens)].double() + eps)
            best = scores.sort(descending=True)[0]
            assert len(tokens) == 1 or best[0] > best[1] * (1 + 1e-5)
        chosen[row] = tokens[int(scores.argmax())]
        select[row, tokens] = logits[row, tokens].float()
        values[row, : len(tokens)] = torch.tensor(chances, dtype=f64).float()
        order[row, : len(tokens)] = torch.tensor(tokens)
    return chosen, select, values, order


def distinct(rows, width, dtype):
    """Rows without equal entries: their order is one."""
    return torch.stack([torch.randperm(width) for _ in range(rows)]).sub(width // 2).div(8).to(dtype)


def drawn(make):
    for _ in range(500):
        try:
            return make()
        except AssertionError:
            continue
    raise AssertionError("no draw has a certain result")


# Every combination of the first and the second choice, with and without a sample; 0 and too many skip the first, 1 skips the second.
K = torch.tensor([3, 0, 40, 5, 1, 7], dtype=i32)
P = [0.75, 0.9, 1.0, 1.0, 0.5, -0.25]
for dtype in [f16, bf16]:
    for sampled in [False, True]:
        for needed in [True, False]:

            def make():
                logits, p = distinct(6, 37, dtype), torch.tensor(P).to(dtype)
                q = torch.empty(6, 37).exponential_() if sampled else None
                return logits, p, q, expected(logits, K, p, q)

            logits, p, q, (chosen, select, _, _) = drawn(make)
            cases.add(
                "aclnnTopKTopPSample", logits=logits, topK=K, topP=p, q=q if sampled else Null, eps=1e-8, isNeedLogits=needed, topKGuess=8,
                logitsSelectIdx=Out(chosen), logitsTopKPSelect=Out(select) if needed else Null,
            )
# Nothing is skipped for equal logits: the first ones are the largest.
logits = torch.tensor([[1.0, 2.0, 2.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0, 0.0]]).half()
select = torch.tensor([[-inf, 2.0, 2.0, -inf, -inf], [0.0, 0.0, 0.0, -inf, -inf]])
cases.add(
    "aclnnTopKTopPSample", logits=logits, topK=torch.tensor([2, 3], dtype=i32), topP=torch.ones(2).half(), q=Null, eps=1e-8, isNeedLogits=True, topKGuess=8,
    logitsSelectIdx=Out(torch.tensor([1, 0])), logitsTopKPSelect=Out(select),
)
given = dict(
    logits=logits, topK=torch.tensor([2, 3], dtype=i32), topP=torch.ones(2).half(), q=Null, eps=1e-8, isNeedLogits=True, topKGuess=8,
    logitsSelectIdx=Out(torch.tensor([1, 0]), False), logitsTopKPSelect=Out(select, False),
)
for change, status, text in [
    ({"logits": Null}, 161001, "logits is a null"), ({"topK": Null}, 161001, "topK is a null"), ({"topP": Null}, 161001, "topP is a null"),
    ({"logits": logits.float()}, 161002, "logits has the type"), ({"topP": torch.ones(2)}, 161002, "topP has the type"), ({"topK": torch.tensor([2, 3])}, 161002, "topK has the type"),
    ({"topP": torch.ones(3).half()}, 161002, "topP has the shape"), ({"q": torch.ones(2, 4)}, 161002, "q has the shape"), ({"q": torch.ones(2, 5).half()}, 161002, "q has the type"),
    ({"logits": logits[0]}, 161002, "logits has the shape"), ({"logitsTopKPSelect": Null}, 161001, "logitsTopKPSelect is a null"), ({"topKGuess": 0}, 161002, "topKGuess is 0"),
    ({"logitsSelectIdx": Out(torch.tensor([1, 0], dtype=i32), False)}, 161002, "logitsSelectIdx has the type"), ({"logits": logits[:0]}, 161002, "logits has the shape"),
]:
    cases.add("aclnnTopKTopPSample", refuse=(status, text), **{**given, **change})

LEAST = [0.3, 0.0, 0.6, 1.5, -1.0, 0.05]
for dtype in [f32, f16, bf16]:
    for is_logits in [True, False]:
        for sampled, sort, with_least in [(False, False, True), (True, False, True), (False, True, True), (False, True, False), (True, False, False)]:

            def make():
                logits = distinct(6, 37, dtype)
                if not is_logits:
                    logits = logits.double().softmax(-1).to(dtype)
                p, least = torch.tensor(P).to(dtype), torch.tensor(LEAST).to(dtype)
                q = torch.empty(6, 37).exponential_() if sampled else None
                return logits, p, q, least, expected(logits, K, p, q, least if with_least else None, 8, is_logits)

            logits, p, q, least, (chosen, select, values, order) = drawn(make)
            cases.add(
                "aclnnTopKTopPSampleV2", logits=logits, topK=K, topP=p, q=q if sampled else Null, minPs=least if with_least else Null, eps=1e-8, isNeedLogits=True, topKGuess=8,
                ksMax=3 if is_logits else 8, inputIsLogits=is_logits, isNeedSampleResult=sort, logitsSelectIdx=Null if sort else Out(chosen), logitsTopKPSelect=Out(select),
                logitsIdx=Out(order) if sort else Null, logitsSortMasked=Out(values) if sort else Null,
            )
given |= dict(minPs=Null, ksMax=1024, inputIsLogits=True, isNeedSampleResult=False, logitsIdx=Null, logitsSortMasked=Null)
for change, status, text in [
    ({"logits": Null}, 161001, "logits is a null"), ({"logits": logits.double()}, 161002, "logits has the type"), ({"minPs": torch.ones(2)}, 161002, "minPs has the type"),
    ({"minPs": torch.ones(3).half()}, 161002, "minPs has the shape"), ({"ksMax": 0}, 161002, "ksMax is 0"), ({"ksMax": 1025}, 161002, "ksMax is 1025"),
    ({"isNeedSampleResult": True}, 161001, "logitsSortMasked is a null"), ({"topP": torch.ones(2)}, 161002, "topP has the type"),
]:
    cases.add("aclnnTopKTopPSampleV2", refuse=(status, text), **{**given, **change})
cases.write()
