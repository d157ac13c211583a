"""Lists: what is nearest in them, what is changed in across, what counts of them; and forces between atoms."""

import numpy as np

from cases import case, distinct, f, i, refused, t, v, var

HALF = ("float16",)


def nearest(x, count, largest=False):
    order = np.argsort(-x if largest else x, axis=-1, kind="stable")[..., :count]
    return [np.take_along_axis(x, order, -1), order.astype(np.int32)]


FIND = {"k": 4, "group_size": 8}
DISTANCES = {"pq_distance": distinct(3, 24), "grouped_extreme_distance": f(3, 3)}
case("TopKPQDistanceV2", "", DISTANCES, lambda x, g: nearest(x, 4), FIND, types=["float16", "int32"], out=[None, "int32"])
case("TopKPQDistanceV2", "the largest", DISTANCES, lambda x, g: nearest(x, 4, True), {**FIND, "order": "DES"}, out=[None, "int32"])
refused("TopKPQDistanceV2", "more than there are", DISTANCES, "it is to find 25 of 24 distances", {**FIND, "k": 25})
refused("TopKPQDistanceV2", "another order", DISTANCES, "it must be ASC or DES", {**FIND, "order": "UP"})
LISTS = {
    "actual_count": [v([7], "int32"), v([5], "int32")],
    "pq_distance": [distinct(8), distinct(6, scale=0.53)],
    "grouped_extreme_distance": [f(1), f(1)],
    "pq_ivf": [v([3], "int32"), v([8], "int32")],
    "pq_index": [v(np.arange(10, 18), "int32"), v(np.arange(20, 26), "int32")],
}


def of_lists(counts, distances, extremes, buckets, indices, largest=False):
    all_ = np.concatenate([one[: count[0]] for one, count in zip(distances, counts)])
    owners = np.concatenate([np.full(count[0], own[0]) for own, count in zip(buckets, counts)])
    positions = np.concatenate([one[: count[0]] for one, count in zip(indices, counts)])
    values, order = nearest(all_, 4, largest)
    return [values, owners[order].astype(np.int32), positions[order].astype(np.int32)]


case("TopKPQDistance", "", LISTS, of_lists, FIND, types=HALF, out=[None, "int32", "int32"])
case("TopKPQDistance", "the largest", LISTS, lambda *a: of_lists(*a, largest=True), {**FIND, "order": "DES"}, out=[None, "int32", "int32"])
refused("TopKPQDistance", "two numbers of lists", {**LISTS, "pq_index": LISTS["pq_index"][:1]}, "they must have equally many", FIND)
BEFORE = {"topk_pq_distance": var(v([0.5, 1.25, 3.0, 4.0])), "topk_pq_index": var(v([7, 3, 9, 1], "int32")), "topk_pq_ivf": var(v([2, 2, 4, 6], "int32"))}
NEW = {"pq_distance": v([2.0, 0.25, 5.0]), "pq_index": v([30, 31, 32], "int32"), "pq_ivf": v([8], "int32")}


def merged(old, index, bucket, new, added, own):
    values, order = nearest(np.concatenate([old, new]), len(old))
    return [values, np.concatenate([index, added])[order].astype(np.int32), np.concatenate([bucket, np.repeat(own, len(new))])[order].astype(np.int32)]


NOTHING = """\
ge::op::%s op("op");
%s
c.keep(op);"""
SET = "\n".join(f"op.set_input_{name}(c.in({at}));" for at, name in enumerate([*BEFORE, *NEW]))
case("InplaceTopKDistance", "", {**BEFORE, **NEW}, merged, code=NOTHING % ("InplaceTopKDistance", SET), types=HALF, out=[None, "int32", "int32"])
refused("InplaceTopKDistance", "another order", {**BEFORE, **NEW}, "it must be ASC or DES", {"order": "up"})

FIRST = [var(f(3, 4)), var(f(5))]
ADD = """\
op.create_dynamic_input_x1(2);
op.create_dynamic_input_x2(2);
op.set_dynamic_input_x1(0, c.in(0));
op.set_dynamic_input_x1(1, c.in(1));
op.set_dynamic_input_x2(0, c.in(2));
op.set_dynamic_input_x2(1, c.in(3));
"""
case("ForeachAddListInplace", "", {"x1": FIRST, "x2": [f(3, 4), f(5)], "alpha": v([2])}, lambda a, b, s: [one + s[0] * other for one, other in zip(a, b)],
     code=NOTHING % ("ForeachAddListInplace", ADD + "op.set_input_alpha(c.in(4));"), types=["float16", "int32"])
case("ForeachAddListInplace", "without a factor", {"x1": FIRST, "x2": [f(3, 4), f(5)]}, lambda a, b: [one + other for one, other in zip(a, b)], code=NOTHING % ("ForeachAddListInplace", ADD))
refused("ForeachAddListInplace", "two numbers of tensors", {"x1": FIRST, "x2": [f(3, 4)]}, "they must have equally many")

case("MemSetV2", "", {"x": [f(3, 4), f(5)]}, lambda x: [np.zeros_like(one) for one in x], outs=2, types=["float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"])
case("MemSetV2", "values", {"x": [f(3, 4), i(5, dtype="int32"), f(2)]}, lambda x: [np.full((3, 4), 1.5), np.full(5, 7), np.full(2, -2.0)], {"values_float": [1.5, -2.0], "values_int": [7]}, outs=3, out=[None, "int32", None])
case("MemSetV2", "variables", {"x": [var(f(3, 4)), var(f(5))]}, lambda x: [np.full((3, 4), 1.5), np.full(5, 2.5)] * 2, {"values_float": [1.5, 2.5]}, outs=2)
refused("MemSetV2", "too few values", {"x": [f(3, 4), f(5)]}, "one for each of 2 tensors", {"values_float": [1.0]}, outs=2)

COUNTED = {"value": f(12), "index": i(24, lo=0, hi=5), "count": v([7], "int32")}
ANY = ["float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]
for op in ["NonZeroWithValueShape", "NonZeroWithValueShapeV2"]:
    case(op, "", COUNTED, lambda x, at, n: [x[: n[0]], at.reshape(2, 12)[:, : n[0]].astype(np.int32)], types=ANY, out=[None, "int32"])
    case(op, "a constant count", {**COUNTED, "count": t([3])}, lambda x, at, n: [x[: n[0]], at.reshape(2, 12)[:, : n[0]].astype(np.int32)], out=[None, "int32"])
refused("NonZeroWithValueShape", "positions of half a dimension", {**COUNTED, "index": i(18)}, "a position in each axis for each value")

# --- atoms ---------------------------------------------------------------------------------------------------------------

LOCAL, ALL, SEL = 3, 5, (2, 1)
NEAR = sum(SEL)
ATOMS = {"net_deriv": f(2, LOCAL * NEAR * 4), "in_deriv": f(2, LOCAL * NEAR * 12)}
NEIGHBOURS = {"nlist": v([[1, 4, -1, 0, 2, 3, -1, 4, 1], [2, -1, 3, 4, 4, 0, 0, 1, -1]], "int32"), "natoms": t([LOCAL, ALL, 2, 1])}


def forces(net, deriv, near, natoms):
    y = np.zeros((2, ALL, 3))
    net, deriv, near = net.reshape(2, LOCAL, NEAR, 4), deriv.reshape(2, LOCAL, NEAR, 4, 3), near.reshape(2, LOCAL, NEAR)
    for frame, atom, pair in np.ndindex(2, LOCAL, NEAR):
        force = net[frame, atom, pair] @ deriv[frame, atom, pair]
        y[frame, atom] -= force
        if near[frame, atom, pair] >= 0:
            y[frame, near[frame, atom, pair]] += force
    return y


def virials(net, deriv, rij, near, natoms):
    each = np.zeros((2, ALL, 3, 3))
    net, deriv, near = net.reshape(2, LOCAL, NEAR, 4), deriv.reshape(2, LOCAL, NEAR, 4, 3), near.reshape(2, LOCAL, NEAR)
    rij = rij.reshape(2, LOCAL, NEAR, 3)
    for frame, atom, pair in np.ndindex(2, LOCAL, NEAR):
        if near[frame, atom, pair] >= 0:
            each[frame, near[frame, atom, pair]] += np.outer(net[frame, atom, pair] @ deriv[frame, atom, pair], rij[frame, atom, pair])
    return [each.sum(1).reshape(2, 9), each.reshape(2, ALL * 9)]


SELECT = {"n_a_sel": SEL[0], "n_r_sel": SEL[1]}
case("ProdForceSeA", "", {**ATOMS, **NEIGHBOURS}, forces, SELECT, types=["float16", "float64"], loose=4, why="a sum of many products")
case("ProdVirialSeA", "", {**ATOMS, "rij": f(2, LOCAL * NEAR * 3), **NEIGHBOURS}, virials, SELECT, types=["float16", "float64"], loose=8, why="a sum of many products")
refused("ProdForceSeA", "a list of other length", {**ATOMS, **NEIGHBOURS}, "rows of", {"n_a_sel": 2, "n_r_sel": 2})
