"""Integers, and how matrices of them are stored: what the scripts that make cases of products share."""

import torch

from cases import Coded


def integers(*shape, least=-128, most=127):
    return torch.randint(least, most + 1, shape).to(torch.int8)


def packed(values):
    """Eight int4 of a tensor or an array in an int32, the first in the lowest bits."""
    values = torch.as_tensor(values).long()
    words = torch.zeros(*values.shape[:-1], values.shape[-1] // 8, dtype=torch.int64)
    for slot in range(8):
        words |= (values[..., slot::8] & 15) << (4 * slot)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)


def blocks(matrix, width):
    """The storage of matrices in blocks of 16 rows: column blocks, row blocks, rows, columns."""
    if isinstance(matrix, Coded):
        return Coded(matrix.name, blocks(matrix.codes, width))
    rows, columns = matrix.shape[-2:]
    tall, wide = -(-rows // 16), -(-columns // width)
    filled = torch.zeros(*matrix.shape[:-2], tall * 16, wide * width, dtype=matrix.dtype)
    filled[..., :rows, :columns] = matrix
    split = filled.reshape(*matrix.shape[:-2], tall, 16, wide, width)
    return split.movedim(-2, -4).contiguous()
