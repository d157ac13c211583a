"""Collectives, in a communicator of one rank, which the program that runs the table makes. What several ranks do is in tests/ge/collective.cpp."""

from cases import case, f, refused

GROUP = {"group": "alone"}
for reduction in ["sum", "prod", "max", "min"]:
    case("HcomAllReduce", reduction, {"x": f(2, 3)}, lambda x: x, {**GROUP, "reduction": reduction})
refused("HcomAllReduce", "another reduction", {"x": f(2, 3)}, 'its attribute reduction is "mean"; "sum", "prod", "max" or "min" is required', {**GROUP, "reduction": "mean"})
refused("HcomAllReduce", "no name", {"x": f(2, 3)}, "its attribute group has 0 bytes", {"group": "", "reduction": "sum"})
case("HcomAllGather", "", {"x": f(2, 3)}, lambda x: x, {**GROUP, "rank_size": 1})
refused("HcomAllGather", "no ranks", {"x": f(2, 3)}, "its attribute rank_size is 0; 1 or more are required", {**GROUP, "rank_size": 0})
case("HcomReduceScatter", "", {"x": f(2, 3)}, lambda x: x, {**GROUP, "reduction": "sum", "rank_size": 1})
refused("HcomReduceScatter", "three rows for two ranks", {"x": f(3, 2)}, "whose first dimension 2 ranks cannot share equally", {**GROUP, "reduction": "sum", "rank_size": 2})
refused("HcomReduceScatter", "another reduction", {"x": f(2, 3)}, 'its attribute reduction is "mean"', {**GROUP, "reduction": "mean", "rank_size": 1})
