"""Branches, loops, scans, functions and shapes found while a model runs, against ONNX Runtime."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import runner

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, dtype=F, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, value, dtype=np.int64):
    return numpy_helper.from_array(np.array(value, dtype), name)


def model(nodes, inputs, outputs, stored=(), opset=17, functions=(), imports=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(stored))
    opsets = [helper.make_opsetid("", opset), *imports]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=list(functions))


def floats(*dims, seed=1):
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


def branches():
    """y = x * 2 or x + w, where w is a weight of the outer graph and h is computed there."""
    then = helper.make_graph([helper.make_node("Mul", ["h", "two"], ["t"])], "then", [], [info("t")],
                             [constant("two", 2, np.float32)])
    other = helper.make_graph([helper.make_node("Add", ["h", "w"], ["e"])], "else", [], [info("e")])
    nodes = [helper.make_node("Neg", ["x"], ["h"]),
             helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
    return model(nodes, [info("c", B, []), info("x", F, [2, 3])], [info("y")], [constant("w", floats(2, 3), np.float32)])


@pytest.mark.parametrize("condition", [True, False])
def test_if_takes_values_of_the_graph_around_it(tmp_path, condition):
    runner.check(branches(), [np.array(condition), floats(2, 3, seed=2)], tmp_path)


def test_if_with_branches_of_different_shapes(tmp_path):
    then = helper.make_graph([helper.make_node("Concat", ["x", "x"], ["t"], axis=0)], "then", [], [info("t")])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["e"])], "else", [], [info("e")])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
             helper.make_node("Relu", ["y"], ["z"])]
    built = model(nodes, [info("c", B, []), info("x", F, [2, 3])], [info("z")])
    for condition in [True, False]:
        runner.check(built, [np.array(condition), floats(2, 3)], tmp_path)


def test_a_constant_condition_leaves_no_branch(tmp_path):
    then = helper.make_graph([helper.make_node("Neg", ["x"], ["t"])], "then", [], [info("t")])
    other = helper.make_graph([helper.make_node("Abs", ["x"], ["e"])], "else", [], [info("e")])
    built = model([helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)], [info("x", F, [4])],
                  [info("y")], [constant("c", False, np.bool_)])
    runner.check(built, [floats(4)], tmp_path)


def loop(trip=True, condition=True):
    """Carries a sum and collects each partial sum; the carried condition stops it."""
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "x"], ["v_out"]),
         helper.make_node("ReduceSum", ["v_out", "axes"], ["total"], keepdims=0),
         helper.make_node("Cast", ["i"], ["number"], to=F),
         helper.make_node("Mul", ["number", "v_out"], ["scan"]),
         helper.make_node("Sub", ["limit", "total"], ["left"]),
         helper.make_node("Relu", ["left"], ["positive"]),
         helper.make_node("Cast", ["positive"], ["go"], to=B)],
        "body", [info("i", I, []), info("go_in", B, []), info("v", F, [3])],
        [info("go", B, []), info("v_out", F, [3]), info("scan", F, [3])], [constant("axes", [0])])
    nodes = [helper.make_node("Loop", ["m" if trip else "", "c" if condition else "", "start"], ["end", "all"], body=body)]
    inputs = [info("x", F, [3])] + ([info("m", I, [])] if trip else []) + ([info("c", B, [])] if condition else [])
    return model(nodes, inputs, [info("end"), info("all")],
                 [constant("start", [0, 0, 0], np.float32), constant("limit", 10.0, np.float32)])


@pytest.mark.parametrize("trips", [0, 1, 5, 50])
def test_loop_with_count_and_condition(tmp_path, trips):
    x = np.array([0.5, 1.0, 0.25], np.float32)
    wanted = None
    if trips == 0:
        wanted = [np.zeros(3, np.float32), np.zeros((0, 3), np.float32)]
    runner.check(loop(), [x, np.array(trips), np.array(True)], tmp_path, wanted=wanted)


def test_loop_that_only_a_condition_ends(tmp_path):
    runner.check(loop(trip=False), [np.array([1.0, 2.0, 0.5], np.float32), np.array(True)], tmp_path)


def test_loop_whose_carried_value_grows(tmp_path):
    body = helper.make_graph([helper.make_node("Concat", ["v", "x"], ["v_out"], axis=0),
                              helper.make_node("Identity", ["c_in"], ["c_out"])],
                             "body", [info("i", I, []), info("c_in", B, []), info("v", F)],
                             [info("c_out", B, []), info("v_out", F)])
    nodes = [helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)]
    built = model(nodes, [info("m", I, []), info("x", F, [2])], [info("y")])
    runner.check(built, [np.array(3), floats(2)], tmp_path)


def test_loops_in_loops_take_values_from_all_around(tmp_path):
    inner = helper.make_graph([helper.make_node("Add", ["u", "x"], ["s"]), helper.make_node("Add", ["s", "v"], ["u_out"]),
                               helper.make_node("Identity", ["ci"], ["co"])],
                              "inner", [info("j", I, []), info("ci", B, []), info("u", F, [2])],
                              [info("co", B, []), info("u_out", F, [2])])
    outer = helper.make_graph([helper.make_node("Loop", ["n", "", "v"], ["v_out"], body=inner),
                               helper.make_node("Identity", ["c_in"], ["c_out"])],
                              "outer", [info("i", I, []), info("c_in", B, []), info("v", F, [2])],
                              [info("c_out", B, []), info("v_out", F, [2])])
    built = model([helper.make_node("Loop", ["m", "", "x"], ["y"], body=outer)],
                  [info("m", I, []), info("n", I, []), info("x", F, [2])], [info("y")])
    runner.check(built, [np.array(2), np.array(3), floats(2)], tmp_path)


@pytest.mark.parametrize("backwards", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_scan(tmp_path, backwards, axis):
    body = helper.make_graph([helper.make_node("Add", ["s", "x"], ["s_out"]), helper.make_node("Mul", ["s_out", "w"], ["y"])],
                             "body", [info("s", F, [2]), info("x", F, [2])], [info("s_out", F, [2]), info("y", F, [2])])
    node = helper.make_node("Scan", ["s0", "xs"], ["s1", "ys"], body=body, num_scan_inputs=1, scan_input_axes=[axis],
                            scan_input_directions=[backwards], scan_output_axes=[1 - axis], scan_output_directions=[1 - backwards])
    shape = (4, 2) if axis == 0 else (2, 4)
    built = model([node], [info("s0", F, [2]), info("xs", F, list(shape))], [info("s1"), info("ys")],
                  [constant("w", [3, -1], np.float32)])
    runner.check(built, [floats(2), floats(*shape)], tmp_path)


def test_a_function_of_the_model(tmp_path):
    function = helper.make_function(
        "own", "twice_scaled", ["a", "b"], ["r"],
        [helper.make_node("Add", ["a", "b"], ["s"]),
         attr_ref("LeakyRelu", ["s"], ["l"], "alpha", "slope"),
         helper.make_node("Add", ["l", "l"], ["r"])],
        [helper.make_opsetid("", 17)], ["slope"])
    nodes = [helper.make_node("twice_scaled", ["x", "y"], ["p"], domain="own", slope=0.25),
             helper.make_node("twice_scaled", ["p", "x"], ["z"], domain="own", slope=0.5)]
    built = model(nodes, [info("x", F, [3]), info("y", F, [3])], [info("z")], functions=[function],
                  imports=[helper.make_opsetid("own", 1)])
    runner.check(built, [floats(3), floats(3, seed=5)], tmp_path)


def attr_ref(op, inputs, outputs, name, reference):
    node = helper.make_node(op, inputs, outputs)
    attribute = onnx.AttributeProto(name=name, ref_attr_name=reference, type=onnx.AttributeProto.FLOAT)
    node.attribute.append(attribute)
    return node


def test_a_reshape_whose_shape_is_computed_from_data(tmp_path):
    built = model([helper.make_node("Add", ["s", "one"], ["t"]), helper.make_node("Reshape", ["x", "t"], ["y"]),
                   helper.make_node("Relu", ["y"], ["z"])],
                  [info("x", F, [2, 6]), info("s", I, [2])], [info("z")], [constant("one", [1, 1])])
    for shape in [(2, 3), (5, 1), (0, 11)]:
        runner.check(built, [floats(2, 6), np.array(shape)], tmp_path)


def test_open_dimensions_take_any_size(tmp_path):
    built = model([helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Softmax", ["h"], ["y"], axis=-1)],
                  [info("x", F, ["n", 4])], [info("y")], [constant("w", floats(4, 5), np.float32)])
    for n in [1, 3, 17]:
        runner.check(built, [floats(n, 4)], tmp_path, shape="x:-1,4", real=f"x:{n},4")


def test_what_a_body_lacks_is_named(tmp_path):
    body = helper.make_graph([helper.make_node("Add", ["v", "nowhere"], ["v_out"]),
                              helper.make_node("Identity", ["c_in"], ["c_out"])],
                             "body", [info("i", I, []), info("c_in", B, []), info("v", F, [2])],
                             [info("c_out", B, []), info("v_out", F, [2])])
    built = model([helper.make_node("Loop", ["m", "", "x"], ["y"], body=body, name="the_loop")],
                  [info("m", I, []), info("x", F, [2])], [info("y")])
    with pytest.raises(runner.Refused, match="the_loop.*nothing produces its input nowhere"):
        runner.jumar(runner.save(built, tmp_path), [np.array(1), floats(2)], tmp_path)


def test_a_loop_without_an_end_is_refused(tmp_path):
    with pytest.raises(runner.Refused, match="would never end"):
        runner.jumar(runner.save(loop(trip=False, condition=False), tmp_path), [floats(3)], tmp_path)
