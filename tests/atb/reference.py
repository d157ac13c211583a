"""The operations in double precision, one token and one head at a time."""

import numpy


def softmax(scores):
    if scores.size == 0:
        return scores
    powers = numpy.exp(scores - scores.max())
    return powers / powers.sum()


def head_of(head, heads, key_heads):
    return head // (heads // key_heads)


def gathered(cache, table, length):
    """The rows of a sequence in a cache of blocks: [length, heads, width]."""
    size = cache.shape[1]
    rows = [cache[table[j // size], j % size] for j in range(length)]
    return numpy.stack(rows) if rows else numpy.zeros((0, *cache.shape[2:]))


def attention(query, keys, values, scale, adjust=lambda scores, head, row: scores, visible=lambda row: None):
    """query [rows, H, D], keys [columns, G, D], values [columns, G, E]. `visible` returns how many columns a row sees."""
    rows, heads, _ = query.shape
    out = numpy.zeros((rows, heads, values.shape[-1]))
    for row in range(rows):
        count = visible(row)
        count = keys.shape[0] if count is None else max(count, 0)
        for head in range(heads):
            own = head_of(head, heads, keys.shape[1])
            scores = adjust(scale * keys[:count, own] @ query[row, head], head, row)
            if count:
                out[row, head] = softmax(scores) @ values[:count, own]
    return out


def rotate(x, cos, sin, kind):
    """x [T, H, D], cos and sin [T, D]."""
    width = x.shape[-1]
    turned = numpy.empty_like(x)
    if kind == 2:
        half = width // 2
        turned[..., :half], turned[..., half:] = -x[..., half:], x[..., :half]
    elif kind == 4:
        for part in (slice(0, width // 2), slice(width // 2, width)):
            turned[..., part] = rotate_half(x[..., part])
    else:
        turned[..., 0::2], turned[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return x * cos[:, None] + turned * sin[:, None]


def rotate_half(x):
    half = x.shape[-1] // 2
    return numpy.concatenate([-x[..., half:], x[..., :half]], -1)


def blocks(matrix, width):
    """A matrix [rows, columns] or a batch as FRACTAL_NZ: [columns / width, rows, width]."""
    *batch, rows, columns = matrix.shape
    split = matrix.reshape(*batch, rows, columns // width, width)
    return numpy.ascontiguousarray(numpy.swapaxes(split, -3, -2))
