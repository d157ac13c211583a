"""Variables, and what writes them. Behind an operator's outputs stand what the variables hold then, in their order."""

import numpy as np

from cases import case, const, f, t, v, var

ALL = ["float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
READ = 'ge::op::Identity op("op");\nop.set_input_x(c.in(0));\nc.out(op);'
case("Variable", "", {"x": var(f(2, 3))}, lambda x: [x, x], code=READ, types=ALL)
case("Assign", "", {"ref": var(f(2, 3)), "value": f(2, 3)}, lambda ref, value: [value, value], types=["float16", "int32", "bool"])
case("Assign", "a constant", {"ref": var(f(2, 3)), "value": const(f(2, 3))}, lambda ref, value: [value, value])
case("AssignAdd", "", {"ref": var(f(2, 3)), "value": f(2, 3)}, lambda ref, value: [ref + value] * 2, types=["float16", "int32", "int64"])
case("AssignSub", "", {"var": var(f(2, 3)), "value": f(2, 3)}, lambda ref, value: [ref - value] * 2, types=["float16", "int32", "int64"])
case("Save", "", {"a": var(f(2, 3)), "b": var(f(4))}, lambda a, b: [a, b, a, b], types=[*ALL, "complex64", "complex128"], code="""\
ge::op::Save op("op");
op.create_dynamic_input_tensors(2).set_dynamic_input_tensors(0, c.in(0)).set_dynamic_input_tensors(1, c.in(1));""")


def momentum(var, accum, lr, grad, share, nesterov=False):
    accum = accum * share + grad
    var = var - lr * (grad + share * accum if nesterov else accum)
    return [var, var, accum]


RATES = {"lr": const(v(0.1)), "grad": f(2, 3), "momentum": const(v(0.9))}
case("ApplyMomentum", "", {"var": var(f(2, 3)), "accum": var(f(2, 3)), **RATES}, momentum, types=["float16"])
case("ApplyMomentum", "looking ahead", {"var": var(f(2, 3)), "accum": var(f(2, 3)), **RATES}, lambda *a: momentum(*a, nesterov=True), {"use_nesterov": True})


def adam(var, m, v, power1, power2, lr, beta1, beta2, epsilon, grad, nesterov=False):
    rate = lr * np.sqrt(1 - power2) / (1 - power1)
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    way = beta1 * m + (1 - beta1) * grad if nesterov else m
    var = var - rate * way / (np.sqrt(v) + epsilon)
    return [var, var, m, v]


MOMENTS = {"var": var(f(2, 3)), "m": var(f(2, 3)), "v": var(f(2, 3, lo=0.1)), "beta1_power": const(v(0.81)), "beta2_power": const(v(0.998)),
           "lr": const(v(0.01)), "beta1": const(v(0.9)), "beta2": const(v(0.999)), "epsilon": const(v(1e-8)), "grad": f(2, 3)}
case("ApplyAdam", "", MOMENTS, adam)
case("ApplyAdam", "looking ahead", MOMENTS, lambda *a: adam(*a, nesterov=True), {"use_nesterov": True})


def written(x, n, u, how=None):
    y = x.copy()
    if how is None:
        y[n[:, 0]] = u
    else:
        how.at(y, n[:, 0], u)
    return y


UPDATES = {"indices": v([[3], [1]], "int32"), "updates": f(2, 3)}
case("ScatterNdUpdate", "a variable", {"var": var(f(4, 3)), **UPDATES}, lambda x, n, u: [written(x, n, u)] * 2, types=["float16", "int32", "bool"])
case("ScatterNdUpdate", "not a variable", {"var": f(4, 3), **UPDATES}, written)
TWICE = {"indices": v([[3], [3]], "int64"), "updates": f(2, 3)}
case("ScatterNdAdd", "a variable", {"var": var(f(4, 3)), **TWICE}, lambda x, n, u: [written(x, n, u, np.add)] * 2, types=["float16", "int32"])
case("ScatterNdAdd", "not a variable", {"var": f(4, 3), **TWICE}, lambda x, n, u: written(x, n, u, np.add))


def sliced(x, n, u, how=None):
    y = x.copy()
    if how is None:
        y[n] = u
    else:
        how.at(y, n, u)
    return y


case("ScatterUpdate", "", {"var": var(f(4, 3)), "indices": v([3, 1], "int32"), "updates": f(2, 3)}, lambda x, n, u: [sliced(x, n, u)] * 2, types=["float16", "int32"])
case("ScatterAdd", "", {"var": var(f(4, 3)), "indices": v([[3, 1], [3, 3]], "int32"), "updates": f(2, 2, 3)}, lambda x, n, u: [sliced(x, n, u, np.add)] * 2, types=["float16", "int32"])
case("ScatterNdMax", "", {"var": var(f(4, 3)), **TWICE}, lambda x, n, u: [written(x, n, u, np.maximum)] * 2, types=["float16", "int32"])
case("ScatterNdMin", "", {"var": var(f(4, 3)), **TWICE}, lambda x, n, u: [written(x, n, u, np.minimum)] * 2, types=["float16", "int32"])
