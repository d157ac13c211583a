"""Complex numbers and their parts, systems of linear equations, and what decomposes matrices."""

import numpy as np

from cases import case, f, refused, v

DOUBLE = {"Tout": 11}


for op, inp, function in [("Angle", "input", np.angle), ("ComplexAbs", "x", np.abs), ("Imag", "input", np.imag)]:
    case(op, "", {inp: f(3, 4, dtype="complex64")}, function, dtype="complex64", out="float32")
    case(op, "of double precision", {inp: f(3, 4, dtype="complex128")}, function, DOUBLE, dtype="complex128", out="float64")
case("Angle", "on the axes", {"input": v(np.array([1, -1, 1j, -2j, 0]), "complex64")}, np.angle, dtype="complex64", out="float32")
case("Conj", "", {"input": f(3, 4)}, np.conj, dtype="complex64", types=["complex128"])
case("Complex", "", {"real": f(3, 4), "imag": f(3, 4)}, lambda a, b: a + 1j * b, out="complex64")
case("Complex", "of double precision", {"real": f(3, 4), "imag": f(3, 4)}, lambda a, b: a + 1j * b, {"Tout": 17}, dtype="float64", out="complex128")
case("Ger", "", {"x1": f(4), "x2": f(3)}, np.outer, types=["float16", "float64"])
refused("Ger", "matrices", {"x1": f(2, 2), "x2": f(3)}, "two vectors are required")

# --- matrices --------------------------------------------------------------------------------------------------------------


def matrix(*dims, dtype):
    rng = np.random.default_rng(7)
    values = rng.uniform(-1, 1, dims) + 2 * np.eye(*dims[-2:])
    if dtype.startswith("complex"):
        values = values + 1j * rng.uniform(-1, 1, dims)
    return v(values, dtype)


def turned(a):
    return np.conj(np.swapaxes(a, -1, -2))


MATRICES = ["float32", "float64", "complex64", "complex128"]
LOOSE = {"loose": 20, "why": "elimination has as many roundings as a matrix has rows"}
for dtype in MATRICES:
    square, sides = matrix(2, 4, 4, dtype=dtype), f(2, 4, 3)
    case("LogMatrixDeterminant", "", {"x": square}, lambda x: list(np.linalg.slogdet(x)), dtype=dtype, out=[dtype, dtype], **LOOSE)
    for adjoint in [False, True]:
        case("MatrixSolve", f"adjoint {adjoint}", {"matrix": square, "rhs": sides}, lambda a, b, adjoint=adjoint: np.linalg.solve(turned(a) if adjoint else a, b),
             {"adjoint": adjoint}, dtype=dtype, **LOOSE)
        for lower in [False, True]:
            case("MatrixTriangularSolve", f"lower {lower}, adjoint {adjoint}", {"matrix": square, "rhs": sides},
                 lambda a, b, lower=lower, adjoint=adjoint: np.linalg.solve((turned if adjoint else np.asarray)((np.tril if lower else np.triu)(a)), b),
                 {"lower": lower, "adjoint": adjoint}, dtype=dtype, **LOOSE)
refused("MatrixSolve", "more rows than columns", {"matrix": f(4, 3), "rhs": f(4, 2)}, "square matrices are required")
refused("MatrixTriangularSolve", "more rows than columns", {"matrix": f(4, 3), "rhs": f(4, 2)}, "square matrices are required")


def decomposed(rows, columns, full):
    """The factors are not unique: what has to hold is what they are."""
    whole = np.random.default_rng(5).uniform(-2, 2, (2, rows, columns))
    inner = rows if full else min(rows, columns)

    def judge(outputs):
        q, r = outputs
        if q.shape != (2, rows, inner) or r.shape != (2, inner, columns):
            return [f"the shapes are {q.shape} and {r.shape}"]
        wrong = [] if np.allclose(q @ r, whole, atol=1e-5) else ["the product is not the matrix"]
        wrong += [] if np.allclose(turned(q) @ q, np.eye(inner), atol=1e-5) else ["the columns of q are not orthonormal"]
        return wrong + ([] if not np.tril(r, -1).any() else ["r has elements below its diagonal"])

    return {"x": v(whole)}, judge


for rows, columns in [(4, 4), (5, 3), (2, 6)]:
    for full in (False, True):
        given, judge_qr = decomposed(rows, columns, full)
        case("Qr", f"{rows}x{columns}, full {full}", given, None, {"full_matrices": full}, judge=judge_qr, types=["float64", "complex64", "complex128"])
refused("Qr", "a vector", {"x": f(3)}, "at least 2 dimensions")
