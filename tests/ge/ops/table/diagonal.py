"""Diagonals of matrices."""

import numpy as np

from cases import case, const, f, t, v

SOME = ["float16", "int32", "bool"]


def diagonals(x, low, high, rows, columns, padding):
    """x is [diagonals, elements]."""
    out = np.full((rows, columns), float(padding))
    for row in range(rows):
        for column in range(columns):
            if low <= column - row <= high:
                out[row, column] = x[high - (column - row), min(row, column)]
    return out


def sized(k, rows=-1, columns=-1, padding=0):
    return {"k": t(k), "num_rows": t(rows), "num_cols": t(columns), "padding_value": const(v(padding))}


case("MatrixDiagV2", "", {"diagonal": f(3), **sized(0)}, lambda x, *_: np.diag(x), types=SOME)
case("MatrixDiagV2", "above, in batches", {"diagonal": f(2, 3), **sized(1)}, lambda x, *_: np.stack([np.diag(one, 1) for one in x]))
case("MatrixDiagV2", "several, with a number beside them", {"diagonal": f(3, 3), **sized([-1, 1], 3, 4, 7)}, lambda x, k, r, c, p: diagonals(x, -1, 1, 3, 4, 7))
case("MatrixDiagV2", "columns alone", {"diagonal": f(3), **sized(0, -1, 5)}, lambda x, *_: diagonals(x[None], 0, 0, 3, 5, 0))
case("Diag", "", {"x": f(3)}, np.diag, types=SOME[:2])
case("Diag", "of a matrix", {"x": f(2, 3)}, lambda x: np.diag(x.ravel()).reshape(2, 3, 2, 3))
