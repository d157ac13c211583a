"""Products of matrices."""

import numpy as np

from cases import case, const, f, i, v

HALF = {"types": ["float16"]}

for op in ["MatMul", "MatMulV2"]:
    case(op, "", {"x1": f(3, 5), "x2": f(5, 4)}, lambda a, b: a @ b, types=["float16", "bfloat16", "int32"])
    case(op, "turned", {"x1": f(5, 3), "x2": f(4, 5)}, lambda a, b: a.T @ b.T, {"transpose_x1": True, "transpose_x2": True})
    case(op, "turned in several tiles", {"x1": f(70, 131, lo=0.1), "x2": f(70, 66, lo=0.1)}, lambda a, b: a.T @ b, {"transpose_x1": True})
    case(op, "a bias", {"x1": f(3, 5), "x2": const(f(5, 4)), "bias": const(f(4))}, lambda a, b, bias: a @ b + bias)
    case(op, "of two types", {"x1": f(3, 5, dtype="float16"), "x2": f(5, 4)}, lambda a, b: a @ b)
case("MatMulV2", "8-bit integers", {"x1": i(3, 5, lo=-128, hi=128, dtype="int8"), "x2": i(5, 4, lo=-128, hi=128, dtype="int8")},
     lambda a, b: a @ b, out="int32", dtype="int8")
for op in ["BatchMatMul", "BatchMatMulV2"]:
    case(op, "", {"x1": f(2, 3, 5), "x2": f(2, 5, 4)}, lambda a, b: a @ b, types=["float16"])
    case(op, "turned", {"x1": f(2, 5, 3), "x2": f(2, 4, 5)}, lambda a, b: a.swapaxes(1, 2) @ b.swapaxes(1, 2), {"adj_x1": True, "adj_x2": True})
    case(op, "broadcasting", {"x1": f(2, 1, 3, 5), "x2": f(4, 5, 4)}, lambda a, b: a @ b)
case("BatchMatMulV2", "8-bit integers", {"x1": f(2, 3, 5), "x2": f(2, 5, 4)}, lambda a, b: a @ b, dtype="int8", out="int32")
case("BatchMatMulV2", "matrices", {"x1": f(3, 5), "x2": f(5, 4), "bias": const(f(4))}, lambda a, b, bias: a @ b + bias)
case("GEMM", "", {"a": f(3, 5), "b": f(5, 4), "c": f(3, 4), "alpha": const(v([0.5])), "beta": const(v([2.0]))},
     lambda a, b, c, alpha, beta: alpha * (a @ b) + beta * c)
case("GEMM", "turned", {"a": f(5, 3), "b": f(4, 5), "c": f(3, 4), "alpha": const(v([1.0])), "beta": const(v([1.0]))},
     lambda a, b, c, alpha, beta: a.T @ b.T + c, {"transpose_a": True, "transpose_b": True})
case("FullyConnection", "", {"x": f(2, 3, 2, 2), "w": const(f(5, 12)), "b": const(f(5))}, lambda x, w, b: x.reshape(2, 12) @ w.T + b, {"num_output": 5})
case("FullyConnection", "turned", {"x": f(2, 6), "w": const(f(6, 5))}, lambda x, w: x @ w, {"num_output": 5, "transpose": True})
case("FullyConnection", "8-bit integers", {"x": f(2, 6), "w": const(f(5, 6)), "b": const(i(5, lo=-999, hi=999))}, lambda x, w, b: x @ w.T + b, {"num_output": 5}, dtype="int8", out="int32")
case("FullyConnection", "axis 2", {"x": f(2, 3, 2, 2), "w": const(f(5, 4))}, lambda x, w: x.reshape(2, 3, 4) @ w.T, {"num_output": 5, "axis": 2})
case("Einsum", "a product", {"x": [f(2, 3, 4), f(2, 4, 5)]}, lambda x: np.einsum("bij,bjk->bik", *x), {"equation": "bij,bjk->bik", "N": 2},
     types=["float16", "int32"])
case("Einsum", "a trace and a turn", {"x": [f(3, 3, 4)]}, lambda x: np.einsum("iij->j", x[0]), {"equation": "iij->j", "N": 1})
case("Einsum", "three", {"x": [f(2, 3), f(3, 4), f(4)]}, lambda x: np.einsum("ij,jk,k->i", *x), {"equation": "ij,jk,k->i", "N": 3})
case("MatrixDeterminant", "", {"x": f(2, 4, 4)}, np.linalg.det, types=["float64"])
case("MatrixDeterminant", "of nothing to invert", {"x": v([[1.0, 2.0], [2.0, 4.0]])}, lambda x: np.asarray(0.0))
