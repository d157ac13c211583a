"""Diagonals of matrices."""

import numpy as np

from cases import case, const, f, refused, t, v

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


def slots(rows, columns, low, high, align):
    """For each diagonal, the highest one first, the cells on it, with None where it is shorter than the longest."""
    upper, lower = align.split("_")
    cells = {d: [(i - min(d, 0), i + max(d, 0)) for i in range(min(rows + min(d, 0), columns - max(d, 0)))] for d in range(low, high + 1)}
    longest = max(map(len, cells.values()))
    for d in range(high, low - 1, -1):
        gap = [None] * (longest - len(cells[d]))
        side = "LEFT" if d == 0 else upper if d > 0 else lower
        yield cells[d] + gap if side == "LEFT" else gap + cells[d]


def diag_part(x, low, high, align="RIGHT_LEFT", padding=0.0):
    y = np.array([[padding if cell is None else x[(..., *cell)] for cell in row] for row in slots(*x.shape[-2:], low, high, align)], np.result_type(x, float))
    return y[0] if low == high else y


def diag_set(x, diagonal, low, high, align="LEFT_LEFT"):
    y = x.copy()
    for row, cells in zip(np.reshape(diagonal, (high - low + 1, -1)), slots(*x.shape, low, high, align)):
        for value, cell in zip(row, cells):
            if cell is not None:
                y[cell] = value
    return y


ALIGNED = ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"]
case("DiagPart", "", {"x": f(3, 3)}, np.diag, types=["float16", "int32"])
case("DiagPart", "of a matrix", {"x": f(2, 3, 2, 3)}, lambda x: x.reshape(6, 6).diagonal().reshape(2, 3))
refused("DiagPart", "not square", {"x": f(2, 3)}, "the second half of its dimensions must repeat the first")
for k in (0, 2, -1):
    case("DiagV2", f"{k}", {"x": f(3, 4)}, lambda x, k=k: np.diagonal(x, k), {"diagonal": k}, types=SOME if k == 0 else ())
refused("DiagV2", "a vector", {"x": f(3)}, "2 are required")
case("MatrixDiag", "", {"x": f(2, 3)}, lambda x: np.stack([np.diag(one) for one in x]), types=SOME[:2])
case("MatrixDiagPart", "", {"x": f(2, 3, 4)}, lambda x: np.diagonal(x, 0, -2, -1), types=SOME[:2])
refused("MatrixDiagPart", "a vector", {"x": f(3)}, "2 at least are required")
case("MatrixDiagPartV3", "", {"x": f(2, 3, 4), "k": t(1), "padding_value": const(v(0))}, lambda x, k, p: np.diagonal(x, 1, -2, -1), types=SOME[:2])
for align in ALIGNED:
    case("MatrixDiagPartV3", f"several, {align}", {"x": f(3, 4), "k": t([-2, 3]), "padding_value": const(v(9))}, lambda x, k, p, a=align: diag_part(x, -2, 3, a, 9), {"align": align})
    case("MatrixDiagV3", f"several, {align}", {"x": f(4, 3), "k": t([-2, 1]), "num_rows": t(3), "num_cols": t(4), "padding_value": const(v(7))},
         lambda x, k, r, c, p, a=align: diag_set(np.full((3, 4), 7, np.result_type(x, float)), x, -2, 1, a), {"align": align})
refused("MatrixDiagPartV3", "a diagonal outside of the matrix", {"x": f(3, 4), "k": t([0, 4]), "padding_value": const(v(0))}, "have diagonals -2 to 3")
refused("MatrixDiagPartV3", "a side that is not known", {"x": f(3, 4), "k": t(0), "padding_value": const(v(0))}, "it must be LEFT_LEFT", {"align": "LEFT"})
case("MatrixDiagV3", "", {"x": f(2, 3), "k": t(0), "num_rows": t(-1), "num_cols": t(-1), "padding_value": const(v(0))}, lambda x, *_: np.stack([np.diag(one) for one in x]), types=SOME)
case("MatrixSetDiag", "", {"x": f(2, 3, 4), "diagonal": f(2, 3)}, lambda x, d: np.stack([diag_set(a, b, 0, 0) for a, b in zip(x, d)]), types=SOME[:2])
refused("MatrixSetDiag", "too short a diagonal", {"x": f(3, 4), "diagonal": f(2)}, "have [3]")
case("MatrixSetDiagV2", "", {"input": f(3, 4), "diagonal": f(3), "k": t(1)}, lambda x, d, k: diag_set(x, d, 1, 1), types=SOME[:2])
case("MatrixSetDiagV2", "several, in batches", {"input": f(2, 3, 4), "diagonal": f(2, 3, 3), "k": t([-1, 1])}, lambda x, d, k: np.stack([diag_set(a, b, -1, 1) for a, b in zip(x, d)]))
for align in ALIGNED:
    case("MatrixSetDiagV3", f"several, {align}", {"input": f(3, 4), "diagonal": f(3, 3), "k": t([-1, 1])}, lambda x, d, k, a=align: diag_set(x, d, -1, 1, a), {"align": align})
case("MatrixSetDiagV3", "one, in batches", {"input": f(2, 3, 4), "diagonal": f(2, 3), "k": t(1)}, lambda x, d, k: np.stack([diag_set(a, b, 1, 1) for a, b in zip(x, d)]), types=SOME[:2])
refused("MatrixSetDiagV3", "a side that is not known", {"input": f(3, 4), "diagonal": f(3), "k": t(0)}, "it must be LEFT_LEFT", {"align": "LEFT"})


def filled(x, value, wrap):
    y = x.copy()
    np.fill_diagonal(y, value, wrap)
    return y


for wrap in [False, True]:
    case("FillDiagonal", f"wrap {wrap}", {"x": f(7, 3)}, lambda x, wrap=wrap: filled(x, 5, wrap), {"fill_value": 5.0, "wrap": wrap}, types=["int32", "int64"])
refused("FillDiagonal", "three dimensions", {"x": f(3, 3, 3)}, "expected two dimensions", {"fill_value": 0.5})
