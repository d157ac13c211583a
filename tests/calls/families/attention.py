"""Attention for training and inference: layouts, shared heads, masks, bands, addends with infinities, lists, pages, parts for positions."""

import math

import numpy as np

from maker import EPS, FLOATS, LOW, near, wide

from . import Family

#: Lengths at the edges of tiles of 64 rows and 128 columns.
ROWS = (1, 2, 3, 5, 17, 63, 64, 65, 70)
COLUMNS = (1, 2, 3, 5, 8, 33, 127, 128, 129, 130, 150, 257, 300)
FAR = 2147483647


def attention(q, k, v, scale, addend=None, mask=None, before=False, extra=0, kept=1):
    """Queries, keys and values as batch, heads, length, width. Returns the result, the largest score and the sum."""
    shared = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, shared, 1), np.repeat(v, shared, 1)
    scores = q @ k.swapaxes(-1, -2) + extra
    with np.errstate(all="ignore"):
        if addend is None:
            scores = scores * scale
        else:
            scores = (scores + addend) * scale if before else scores * scale + addend
        if mask is not None:
            scores = np.where(mask, -1e30, scores)
        largest = scores.max(-1, keepdims=True)
        powers = np.exp(scores - largest)
        total = powers.sum(-1, keepdims=True)
        weights = powers / total
    return (weights * kept) @ v, largest, total, weights


def arranged(x, layout):
    if layout in ("BNSD", "BNSD_BSND"):
        return x
    if layout == "BSND":
        return x.swapaxes(1, 2)
    b, n, s, d = x.shape
    if layout == "BSH":
        return x.swapaxes(1, 2).reshape(b, s, n * d)
    return x.transpose(2, 0, 1, 3).reshape(s, b, n * d)


def band(rows, columns, low, high, shift):
    """True where a column may not be seen."""
    distance = np.arange(columns) - np.arange(rows)[:, None] - shift
    return (distance < -low) | (distance > high)


class Made:
    """Queries, keys and values of a call."""

    def __init__(self, call, dtypes=FLOATS, rows=ROWS, most=400000):
        self.dtype = call.float_type() if dtypes is FLOATS else call.choose(dtypes)
        self.batch, self.kv, self.share = call.between(1, 2), call.between(1, 2), call.choose((1, 1, 2, 3))
        self.rows, self.columns, self.width = call.choose(rows), call.choose(COLUMNS), call.choose((1, 4, 8, 16, 17, 32))
        way = call.below(20)
        if way >= 17:
            # Beyond several tiles of rows and columns, or more tiles than parts of the work.
            call.features.add("boundary sizes")
            most = 1200000
            if way == 17:
                self.columns, self.kv = call.choose((511, 512, 513, 700, 1025)), 1
            elif way == 18:
                self.rows = call.choose((129, 193, 200, 257)) if len(rows) > 1 else 1
                self.width = call.choose((63, 64, 65, 128, 129, 192))
            else:
                self.kv, self.batch, self.columns = call.choose((5, 8, 9)), 3, min(self.columns, 33)
        self.heads = self.kv * self.share
        while self.batch * self.heads * self.rows * self.columns * self.width > most and self.width > 1:
            self.width //= 2
        q = lambda *shape: wide(call.some(self.dtype, shape, "normal", False))  # noqa: E731
        self.q = q(self.batch, self.heads, self.rows, self.width)
        self.k, self.v = q(self.batch, self.kv, self.columns, self.width), q(self.batch, self.kv, self.columns, self.width)
        self.scale = call.choose((0.5, 0.25, 1.0, 0.0, -0.5)) / math.sqrt(self.width)
        if call.odd and "Grad" not in call.operator:
            # A query that is not a number; which keys and values are read where they have no weight is not documented.
            call.features.add("infinities, NaN, subnormals")
            self.q = np.array(self.q)
            self.q.reshape(-1)[call.below(self.q.size)] = math.nan

    def check(self, wanted=None):
        return near(8, 0, 4e-6 * (1 + np.abs(self.v).max(initial=0)))


def addend(call, made, broadcast_batch=True):
    """An addend; at times of -inf over the first columns, as left padding makes it."""
    shape = (made.batch if call.chance(50) or not broadcast_batch else 1, made.heads, made.rows, made.columns)
    values = wide(call.some(made.dtype, shape, "small", False)).copy()
    if call.chance(50) and made.columns > 1:
        padded = call.between(1, made.columns - 1)
        values[..., :padded] = -np.inf
        call.features.add("addend of -inf" + (" over 128 columns" if padded >= 128 else ""))
    return values


def mask_of(call, made, modes):
    """Draws a mask or a band. Returns what is passed, the mode, its limits, and where nothing may be seen."""
    mode = call.choose(modes)
    if mode is None:
        return None, 0, (FAR, FAR), None
    if mode in (0, 1):
        hidden = call.some("bool", (made.batch, 1, made.rows, made.columns))[:, :, :, :].copy()
        hidden[..., -1] = False
        if call.chance(25) and made.columns > 128:
            hidden[..., :128] = True
        if call.chance(50):
            # With a mask of mode 0 the numbers of tokens count as well; with mode 1 they do not.
            limits = (call.choose((0, 1, 3, 100, FAR, -1)), call.choose((0, 1, 2, 100, FAR, -1)))
            call.features.add("mask and band")
            return hidden, mode, limits, hidden if mode else hidden | band(made.rows, made.columns, *limits, 0)
        return hidden, mode, (FAR, FAR), hidden
    call.features.add(f"band of mode {mode}")
    if mode == 4:
        limits = (call.choose((1, 3, 100, 0, -1, -2)), call.choose((0, 1, 2, 5, -1, -2)))
        return True, 4, limits, band(made.rows, made.columns, limits[0], limits[1], made.columns - made.rows)
    shift = 0 if mode == 2 else made.columns - made.rows
    return True, mode, (FAR, FAR), band(made.rows, made.columns, 10**9, 0, shift)


def blind(mask):
    """Reports whether a row sees nothing: what is computed then is said by the mode."""
    return mask is not None and mask.all(-1).any()


def pass_mask(call, name, passed, size=2048):
    if passed is None:
        return
    if passed is True:
        call.tensor(name, call.choose(("bool", "uint8")), values=np.triu(np.ones((8, 8), bool), 1))
        return
    call.tensor(name, call.choose(("bool", "uint8")), values=passed)


def training(call, V2=False, gradient=False):
    made = Made(call)
    layout = call.choose(("BNSD", "BSND", "BSH", "SBH"))
    passed, mode, (before, after), hidden = mask_of(call, made, (None, 0, 1, 2, 3, 4))
    if blind(hidden):
        passed, mode, before, after, hidden = None, 0, FAR, FAR, None
    extra = addend(call, made) if call.chance(50) else None
    if extra is not None and made.scale <= 0:
        # An infinity is scaled as well.
        made.scale = 0.5
    if extra is not None and np.isinf(extra).any() and hidden is not None:
        passed, mode, before, after, hidden = None, 0, FAR, FAR, None
    kind = call.choose((1, 0)) if V2 else 1
    shift = None
    if V2 and extra is None and call.chance(40):
        kind, shift = 2, alibi(call, made, "pseShiftOptional" if gradient else "realShiftOptional", made.batch, made.rows, made.columns)
    kept = dropped(call, (made.batch, made.heads, made.rows, made.columns))
    y, largest, total, weights = attention(made.q, made.k, made.v, made.scale, extra if shift is None else shift, hidden, kind == 1, kept=kept)
    for name, value in (("query", made.q), ("keyIn" if gradient else "key", made.k), ("value", made.v)):
        call.tensor(name, made.dtype, values=arranged(value, layout))
    if extra is not None:
        call.tensor("pseShiftOptional" if gradient else "realShiftOptional", made.dtype, values=extra)
    pass_mask(call, "attenMaskOptional", passed)
    for name, value in dict(scaleValue=made.scale, keepProb=call.keep, preTokens=before, nextTokens=after, headNum=made.heads, inputLayout=layout, innerPrecise=0, sparseMode=mode).items():
        call.set(name, value)
    if V2:
        call.set("pseType", kind)
    if gradient:
        return slopes(call, made, layout, y, largest, total, weights, extra is not None, kept)
    copies = lambda x: np.broadcast_to(x, (*x.shape[:-1], 8))  # noqa: E731
    call.out("softmaxMaxOut", "float32", copies(largest), numbers(near(8, 0, 4e-6 * (1 + np.abs(np.where(np.isfinite(largest), largest, 0))))))
    call.out("softmaxSumOut", "float32", copies(total), near(8, 2e-5 if made.dtype == "float32" else 1e-4))
    call.out("attentionOutOut", made.dtype, arranged(y, layout), made.check())


def numbers(check):
    """The largest of scores that are not numbers is open."""
    return lambda found, want: check(np.where(np.isnan(want), want, found).astype(found.dtype), want)


def alibi(call, made, name, sequences, rows, columns):
    """A bias that falls with the distance between a row and a column, by a slope for each head."""
    call.features.add("slopes of distances")
    shape = call.choose(((made.heads,), (1, made.heads), (sequences, made.heads)))
    own = np.broadcast_to(wide(call.tensor(name, "float32", values=np.abs(wide(call.some("float32", shape, "inner", False))) / 4)), (sequences, made.heads))
    shift = 0
    for name, sign in (("qStartIdxOptional", 1), ("kvStartIdxOptional", -1)):
        if call.chance(50):
            shift += sign * call.set(name, [call.choose((0, 1, 5))])[0]
    return -own[:, :, None, None] * np.abs(np.arange(rows)[:, None] + shift - np.arange(columns))


def dropped(call, shape):
    """Draws a dropout: what each probability is multiplied with."""
    call.keep = 1.0
    if not call.chance(25):
        return 1
    call.keep = call.choose((0.5, 0.75, 1.0))
    call.features.add("dropout of probabilities")
    count = math.prod(shape)
    mask = call.tensor("dropMaskOptional", "uint8", values=call.some("uint8", (-(-count // 128) * 16,), "any", False))
    return np.unpackbits(mask, bitorder="little")[:count].reshape(shape) / call.keep


def slopes(call, made, layout, y, largest, total, weights, shifted, kept=1):
    g = wide(call.tensor("dy", made.dtype, values=arranged(wide(call.some(made.dtype, y.shape, "normal", False)), layout)))
    back = {"BNSD": lambda x: x, "BSND": lambda x: x.swapaxes(1, 2), "BSH": lambda x: x.reshape(made.batch, made.rows, made.heads, made.width).swapaxes(1, 2),
            "SBH": lambda x: x.reshape(made.rows, made.batch, made.heads, made.width).transpose(1, 2, 0, 3)}[layout]
    g = back(g)
    k, v = np.repeat(made.k, made.share, 1), np.repeat(made.v, made.share, 1)
    dw = (g @ v.swapaxes(-1, -2)) * kept
    ds = weights * (dw - (dw * weights).sum(-1, keepdims=True)) * made.scale
    folded = lambda x: x.reshape(made.batch, made.kv, made.share, made.columns, made.width).sum(2)  # noqa: E731
    dq, dk, dv = ds @ k, folded(ds.swapaxes(-1, -2) @ made.q), folded((weights * kept).swapaxes(-1, -2) @ g)
    given = call.chance(50)
    if given:
        copies = lambda x: np.broadcast_to(x, (*x.shape[:-1], 8))  # noqa: E731
        call.tensor("softmaxMaxOptional", "float32", values=copies(largest))
        call.tensor("softmaxSumOptional", "float32", values=copies(total))
        call.tensor("attentionInOptional", made.dtype, values=arranged(y, layout))
    low = 0
    bulk = lambda x: near(16, low, (2e-5 + low) * (np.abs(x).max(initial=0) + 1))  # noqa: E731
    call.out("dqOut", made.dtype, arranged(dq, layout), bulk(dq))
    call.out("dkOut", made.dtype, arranged(dk, layout), bulk(dk))
    call.out("dvOut", made.dtype, arranged(dv, layout), bulk(dv))
    if shifted:
        call.out("dpseOut", made.dtype, None, shape=(made.batch, made.heads, made.rows, made.columns))


def behind_each_other(call, V2=False, gradient=False, layout=None, parts=False):
    """Sequences behind each other, with their ends. `layout` names the parameter for the layout of sums; `parts` are those for positions."""
    made = Made(call, rows=(1, 2, 5, 17, 65))
    count = call.between(1, 4)
    cut = lambda total: sorted(call.below(total + 1) for _ in range(count - 1)) + [total]  # noqa: E731
    ends, key_ends = cut(made.rows), cut(made.columns)
    q, k, v = made.q[:1], made.k[:1], made.v[:1]
    if any(last == first and end > start for start, end, first, last in zip([0, *ends], ends, [0, *key_ends], key_ends)):
        # A query without keys: the operator says 0, and its sum is open.
        ends, key_ends = [made.rows], [made.columns]
    rows = lambda x: x[0].swapaxes(0, 1)  # noqa: E731
    further = 0
    if parts:
        further = call.choose((8, 16))
        more = [wide(call.some(made.dtype, (1, heads, length, further), "normal", False)) for heads, length in ((made.heads, made.rows), (made.kv, made.columns))]
        for name, value in zip(("queryRope", "keyInRope" if gradient else "keyRope"), more):
            call.tensor(name, made.dtype, values=rows(value))
        q, k = np.concatenate([q, more[0]], -1), np.concatenate([k, more[1]], -1)
    pairs = list(zip([0, *ends], ends, [0, *key_ends], key_ends))
    tall, across = max(end - start for start, end, _, _ in pairs), max(last - first for _, _, first, last in pairs)
    mode, limits, mask = call.choose((0, 0, 1, 2, 3, 4)), (FAR, FAR), None
    if mode == 4 or mode == 0 and call.chance(50):
        limits = (call.choose((1, 3, 100, 0, -1)), call.choose((0, 1, 2, 5, -1)))
    masked = mode <= 1 and call.chance(70)
    if masked:
        mask = call.some("bool", (tall, across)).copy()
        mask[:, 0] = False

    def cover(rows, columns):
        """Where the rows of a sequence may not look."""
        by_mode = {2: (10**9, 0, 0), 3: (10**9, 0, columns - rows), 4: (*limits, columns - rows)}
        if mode in by_mode:
            return band(rows, columns, *by_mode[mode])
        if mask is None:
            return None
        own = mask[:rows, :columns]
        return own if mode == 1 else own | band(rows, columns, *limits, 0)

    if any(end > start and blind(cover(end - start, last - first)) for start, end, first, last in pairs):
        mode, limits, masked, mask = 0, (FAR, FAR), False, None
    if mode:
        call.features.add(f"band of mode {mode}")
    if masked:
        call.tensor("attenMaskOptional", call.choose(("bool", "uint8")), values=mask)
    elif mode >= 2:
        pass_mask(call, "attenMaskOptional", True)
    distances = None
    kind = 1
    if V2 and call.chance(40):
        kind = 2
        distances = alibi(call, made, "pseShiftOptional" if gradient else "realShiftOptional", len(pairs), tall, across)
    # The bits of a dropout follow each other by sequence.
    counts = [made.heads * (end - start) * (last - first) for start, end, first, last in pairs]
    bits_of = dropped(call, (sum(counts),))
    y, largest, total = np.zeros((1, made.heads, made.rows, made.width)), np.zeros((1, made.heads, made.rows, 1)), np.zeros((1, made.heads, made.rows, 1))
    upstream = wide(call.some(made.dtype, y.shape, "normal", False)) if gradient else None
    by_q, by_k, by_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for number, (start, end, first, last) in enumerate(pairs):
        if end == start:
            continue
        kept = 1 if np.ndim(bits_of) == 0 else bits_of[sum(counts[:number]):sum(counts[:number + 1])].reshape(1, made.heads, end - start, last - first)
        own, keys = (0, slice(None), slice(start, end)), (0, slice(None), slice(first, last))
        one = (slice(0, 1), *own[1:])
        two = (slice(0, 1), *keys[1:])
        y[one], largest[one], total[one], w = attention(q[one], k[two], v[two], made.scale, None if distances is None else distances[number:number + 1, :, :end - start, :last - first], cover(end - start, last - first), kept=kept)
        if gradient:
            all_k, all_v = np.repeat(k[two], made.share, 1), np.repeat(v[two], made.share, 1)
            dw = (upstream[one] @ all_v.swapaxes(-1, -2)) * kept
            ds = w * (dw - (dw * w).sum(-1, keepdims=True)) * made.scale
            folded = lambda x: x.reshape(1, made.kv, made.share, *x.shape[2:]).sum(2)  # noqa: E731
            by_q[one] = ds @ all_k
            by_k[two], by_v[two] = folded(ds.swapaxes(-1, -2) @ q[one]), folded((w * kept).swapaxes(-1, -2) @ upstream[one])
    for name, value in (("query", q[..., : made.width]), ("keyIn" if gradient else "key", k[..., : made.width]), ("value", v)):
        call.tensor(name, made.dtype, values=rows(value))
    call.set("actualSeqQLenOptional", ends), call.set("actualSeqKvLenOptional", key_ends)
    for name, value in dict(scaleValue=made.scale, keepProb=call.keep, preTokens=limits[0], nextTokens=limits[1], headNum=made.heads, inputLayout="TND", innerPrecise=0, sparseMode=mode).items():
        call.set(name, value)
    if V2:
        call.set("pseType", kind)
    if layout:
        call.set(layout, call.choose(("same_as_input", "")))
    copies = lambda x: np.broadcast_to(x, (*x.shape[:-1], 8))  # noqa: E731
    if gradient:
        call.tensor("dy", made.dtype, values=rows(upstream))
        call.tensor("softmaxMaxOptional", "float32", values=copies(rows(largest))), call.tensor("softmaxSumOptional", "float32", values=copies(rows(total)))
        call.tensor("attentionInOptional", made.dtype, values=rows(y))
        low = 0
        outs = [("dqOut", by_q[..., : made.width]), ("dkOut", by_k[..., : made.width]), ("dvOut", by_v)]
        if parts:
            outs += [("dqRopeOut", by_q[..., made.width:]), ("dkRopeOut", by_k[..., made.width:])]
        for name, value in outs:
            call.out(name, made.dtype, rows(value), near(16, low, (2e-5 + low) * (np.abs(value).max(initial=0) + 1)))
        return
    call.out("softmaxMaxOut", "float32", copies(rows(largest)), numbers(near(8, 0, 1e-5 * (1 + np.abs(rows(largest))))))
    call.out("softmaxSumOut", "float32", copies(rows(total)), near(8, 1e-4))
    call.out("attentionOutOut", made.dtype, rows(y), made.check())


def common(call, made, layout, **more):
    for name, value in dict(numHeads=made.heads, numKeyValueHeads=made.kv, scaleValue=made.scale, inputLayout=layout, preTokens=FAR, nextTokens=FAR, sparseMode=0,
                            innerPrecise=call.choose((0, 1)), blockSize=0, antiquantMode=0, softmaxLseFlag=False, keyAntiquantMode=0, valueAntiquantMode=0, queryQuantMode=0, **more).items():
        if name in call.kinds:
            call.set(name, value)


def named(call, name):
    """A parameter of the newer forms has the ending Optional."""
    return name if name in call.kinds else name + "Optional"


def inference(call, lists=True, one_row=False):
    """A prompt or a new token over keys: lengths of their own, addends, masks, one tensor of keys or a list."""
    made = Made(call, ("float16", "bfloat16"), (1,) if one_row else (*ROWS, 1, 1))
    layout = call.choose(("BNSD", "BSH", "BSND"))
    way = call.below(6)
    extra = hidden = passed = None
    mode, limits = 0, (FAR, FAR)
    lengths = key_lengths = None
    if way in (1, 2):
        extra = addend(call, made)
    elif way == 3:
        # One row has a band as well, and one column.
        passed, mode, limits, hidden = mask_of(call, made, (2, 3, 4, 0, 1) if "sparseMode" in call.kinds else (0,))
        if passed is not None and ("preTokens" not in call.kinds or made.rows == 1 and mode != 4):
            # One row is the last of its sequence: what a mode says of columns behind it says nothing.
            limits, hidden = limits if made.rows == 1 else (FAR, FAR), None if passed is True else passed
        if blind(hidden):
            passed, mode, limits, hidden = None, 0, (FAR, FAR), None
    elif way == 4 and call.operator != "aclnnPromptFlashAttention":
        key_lengths = [call.choose((1, made.columns, 0, call.between(1, made.columns))) for _ in range(made.batch)]
        if not one_row and "FusedInfer" in call.operator or "Prompt" in call.operator:
            lengths = [call.between(1, made.rows) for _ in range(made.batch)] if "actualSeqLengthsKv" in call.kinds or "actualSeqLengthsKvOptional" in call.kinds else None
    y, largest, total = np.zeros_like(made.q), np.full((made.batch, made.heads, made.rows, 1), 0.0), np.ones((made.batch, made.heads, made.rows, 1))
    ropes = "queryRopeOptional" in call.kinds and way == 5
    more = 0
    if ropes:
        part = call.choose((2, 4, 8))
        qr, kr = wide(call.some(made.dtype, (made.batch, made.heads, made.rows, part), "normal", False)), wide(call.some(made.dtype, (made.batch, made.kv, made.columns, part), "normal", False))
        more = qr @ np.repeat(kr, made.share, 1).swapaxes(-1, -2)
        call.features.add("parts for positions")
    for index in range(made.batch):
        rows = lengths[index] if lengths else made.rows
        columns = key_lengths[index] if key_lengths else made.columns
        if not columns:
            # Nothing is seen.
            continue
        shift = None if extra is None else np.broadcast_to(extra, (made.batch, *extra.shape[1:]))[index:index + 1]
        cover = None if hidden is None else hidden if hidden.ndim == 2 else hidden[index:index + 1]
        found = attention(made.q[index:index + 1, :, :rows], made.k[index:index + 1, :, :columns], made.v[index:index + 1, :, :columns], made.scale, shift, cover,
                          extra=more[index:index + 1] if ropes else 0)
        y[index:index + 1, :, :rows], largest[index:index + 1, :, :rows], total[index:index + 1, :, :rows] = found[:3]
    keep = lambda value: arranged(value, layout)  # noqa: E731
    call.tensor("query", made.dtype, values=keep(made.q))
    if lists:
        separate = made.batch > 1 and call.chance(40) and not key_lengths
        if separate:
            call.features.add("list of keys")
        cut = [slice(i, i + 1) for i in range(made.batch)] if separate else [slice(None)]
        call.list("key", [call.tensor("key", made.dtype, values=keep(made.k[part]), listed=True) for part in cut])
        call.list("value", [call.tensor("value", made.dtype, values=keep(made.v[part]), listed=True) for part in cut])
    else:
        call.tensor("key", made.dtype, values=keep(made.k)), call.tensor("value", made.dtype, values=keep(made.v))
    if ropes:
        call.tensor("queryRopeOptional", made.dtype, values=keep(qr))
        call.tensor("keyRopeOptional", made.dtype, values=keep(kr))
    if extra is not None:
        call.tensor(named(call, "pseShift"), made.dtype, values=extra)
    pass_mask(call, named(call, "attenMask"), passed)
    if key_lengths:
        one = named(call, "actualSeqLengths")
        other = named(call, "actualSeqLengthsKv")
        if other in call.kinds:
            call.set(other, key_lengths)
            if lengths:
                call.set(one, lengths)
        else:
            call.set(one, key_lengths)
    common(call, made, layout)
    if mode:
        call.set("sparseMode", mode)
    if passed is not None:
        for name, limit in zip(("preTokens", "nextTokens"), limits):
            if name in call.kinds:
                call.set(name, limit)
    if "softmaxLse" in call.kinds:
        flag = call.set("softmaxLseFlag", call.chance(40) and not lengths and not (key_lengths and 0 in key_lengths))
        if flag:
            call.out("softmaxLse", "float32", largest + np.log(total), near(8, 0, 1e-4 + 4e-6 * np.abs(largest)))
        else:
            call.tensor("softmaxLse", "float32", (1,))
            call.out("softmaxLse", "float32", None, shape=(1,))
    call.out("attentionOut", made.dtype, keep(y), made.check())


def pages(call):
    """One new token over a cache in pages."""
    made = Made(call, ("float16", "bfloat16"), (1,))
    size = call.choose((4, 16, 128))
    lengths = [call.between(1, made.columns) for _ in range(made.batch)]
    need = -(-made.columns // size)
    count = made.batch * need + 2
    order = np.argsort(call.some("float32", (count,), "normal", False), kind="stable")
    table = np.resize(order, (made.batch, need))
    cache = lambda: wide(call.some(made.dtype, (count, made.kv, size, made.width), "normal", False))  # noqa: E731
    keys, values = cache(), cache()
    y = np.zeros_like(made.q)
    for index, length in enumerate(lengths):
        line = lambda pool: np.concatenate([pool[page] for page in table[index]], 1)[None, :, :length]  # noqa: E731, B023
        y[index:index + 1] = attention(made.q[index:index + 1], line(keys), line(values), made.scale)[0]
    made.v = values
    joined = call.chance(50)
    flat = (lambda pool: pool.swapaxes(1, 2).reshape(count, size, made.kv * made.width)) if joined else (lambda pool: pool)
    layout = call.choose(("BSH", "BNSD", "BSND"))
    call.tensor("query", made.dtype, values=arranged(made.q, layout))
    call.list("key", [call.tensor("key", made.dtype, values=flat(keys), plain=True, listed=True)]), call.list("value", [call.tensor("value", made.dtype, values=flat(values), plain=True, listed=True)])
    call.tensor(next(name for name in call.kinds if name.lower().startswith("blocktable")), "int32", values=table)
    other = named(call, "actualSeqLengthsKv")
    call.set(other if other in call.kinds else named(call, "actualSeqLengths"), lengths)
    common(call, made, layout)
    call.set("blockSize", size)
    if "softmaxLse" in call.kinds:
        call.out("softmaxLse", "float32", None, shape=(1,))
    call.features.add("pages")
    call.out("attentionOut", made.dtype, arranged(y, layout), made.check())


def joined(call):
    """Sequences of a prompt behind each other, with their ends."""
    made = Made(call, ("float16", "bfloat16"), rows=(1, 2, 5, 17, 65))
    count = call.between(1, 4)
    cut = lambda total: sorted(call.below(total + 1) for _ in range(count - 1)) + [total]  # noqa: E731
    ends, key_ends = cut(made.rows), cut(made.columns)
    pairs = list(zip([0, *ends], ends, [0, *key_ends], key_ends))
    mode, limits = call.choose((0, 3, 4)), (FAR, FAR)
    if mode == 4:
        limits = (call.choose((1, 3, 100, 0)), call.choose((0, 1, 2, 5)))
    cover = lambda rows, columns: None if not mode else band(rows, columns, *((10**9, 0) if mode == 3 else limits), columns - rows)  # noqa: E731
    if any(end > start and (last == first or blind(cover(end - start, last - first))) for start, end, first, last in pairs):
        ends, key_ends, mode, limits = [made.rows], [made.columns], 0, (FAR, FAR)
        pairs = [(0, made.rows, 0, made.columns)]
    q, k, v = made.q[:1], made.k[:1], made.v[:1]
    y, total = np.zeros(q.shape), np.zeros((1, made.heads, made.rows, 1))
    for start, end, first, last in pairs:
        if end > start:
            found = attention(q[:, :, start:end], k[:, :, first:last], v[:, :, first:last], made.scale, None, cover(end - start, last - first))
            y[:, :, start:end], total[:, :, start:end] = found[0], found[1] + np.log(found[2])
    layout = call.choose(("TND", "NTD"))
    lay = (lambda x: x[0].swapaxes(0, 1)) if layout == "TND" else (lambda x: x[0])
    call.features.add("sequences behind each other")
    call.tensor("query", made.dtype, values=lay(q))
    call.list("key", [call.tensor("key", made.dtype, values=lay(k), listed=True)]), call.list("value", [call.tensor("value", made.dtype, values=lay(v), listed=True)])
    call.set(named(call, "actualSeqLengths"), ends), call.set(named(call, "actualSeqLengthsKv"), key_ends)
    if mode:
        pass_mask(call, named(call, "attenMask"), True)
    common(call, made, layout)
    call.set("sparseMode", mode), call.set("preTokens", limits[0]), call.set("nextTokens", limits[1])
    if call.set("softmaxLseFlag", call.chance(40)):
        call.out("softmaxLse", "float32", total[0].swapaxes(0, 1), numbers(near(8, 0, 1e-4 + 4e-6 * np.abs(total[0].swapaxes(0, 1)))))
    else:
        call.out("softmaxLse", "float32", None, shape=(1,))
    call.out("attentionOut", made.dtype, lay(y), made.check())


def wrong_ropes(call):
    """Parts for positions that do not fit queries and keys have to be refused."""
    made = Made(call, ("float16", "bfloat16"), (2, 3, 5))
    call.tensor("query", made.dtype, values=made.q)
    call.list("key", [call.tensor("key", made.dtype, values=made.k, listed=True)]), call.list("value", [call.tensor("value", made.dtype, values=made.v, listed=True)])
    one, other = [made.batch, made.heads, made.rows, 4], [made.batch, made.kv, made.columns, 4]
    where = call.choose(((1, 0), (1, 2), (1, 3), (0, 0), (0, 2)))
    spoil = other if where[0] else one
    spoil[where[1]] += call.choose((1, -1)) if spoil[where[1]] > 1 else 1
    call.tensor("queryRopeOptional", made.dtype, tuple(one), "normal", False), call.tensor("keyRopeOptional", made.dtype, tuple(other), "normal", False)
    common(call, made, "BNSD")
    call.out("softmaxLse", "float32", None, shape=(1,))
    call.out("attentionOut", made.dtype, None, shape=made.q.shape)
    call.refuse(161002)


def fused(call, lists=True):
    way = call.below(9)
    if way == 8:
        return joined(call)
    if way == 6:
        return pages(call)
    if way == 7 and "queryRopeOptional" in call.kinds:
        return wrong_ropes(call)
    return inference(call, lists)


def grown(call):
    return pages(call) if call.below(3) == 2 and "blocktable" in call.kinds else inference(call, one_row=True)


ATTENTION = Family("attention", "ops/attention")
ATTENTION.add("FlashAttentionScore", training)
ATTENTION.add("FlashAttentionScoreV2", training, V2=True)
ATTENTION.add("FlashAttentionScoreGrad", training, gradient=True)
ATTENTION.add("FlashAttentionScoreGradV2", training, gradient=True, V2=True)
ATTENTION.add("FlashAttentionVarLenScore", behind_each_other)
ATTENTION.add("FlashAttentionVarLenScoreV2", behind_each_other, V2=True)
ATTENTION.add("FlashAttentionVarLenScoreV3", behind_each_other, V2=True, parts=True)
ATTENTION.add("FlashAttentionVarLenScoreV4", behind_each_other, layout="softmaxOutLayout")
ATTENTION.add("FlashAttentionUnpaddingScoreGrad", behind_each_other, gradient=True)
ATTENTION.add("FlashAttentionUnpaddingScoreGradV2", behind_each_other, gradient=True, V2=True)
ATTENTION.add("FlashAttentionUnpaddingScoreGradV3", behind_each_other, gradient=True, V2=True, parts=True)
ATTENTION.add("FlashAttentionUnpaddingScoreGradV4", behind_each_other, gradient=True, layout="softmaxInLayout")
ATTENTION.add("PromptFlashAttention PromptFlashAttentionV2 PromptFlashAttentionV3", inference, lists=False)
ATTENTION.add("IncreFlashAttention IncreFlashAttentionV2 IncreFlashAttentionV3 IncreFlashAttentionV4", grown)
ATTENTION.add("FusedInferAttentionScore FusedInferAttentionScoreV2 FusedInferAttentionScoreV3 FusedInferAttentionScoreV4", fused)

FAMILIES = [ATTENTION]
