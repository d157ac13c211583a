"""Sequences, branches and loops: written out in C++, because an operator alone would have nothing to read or to run."""

import numpy as np

from cases import b, case, f, i, refused, t, v

BUILT = """\
ge::op::SequenceConstruct list("list");
list.create_dynamic_input_inputs(3);
for (uint32_t at = 0; at < 3; ++at) {
  list.set_dynamic_input_inputs(at, c.in(at));
}
"""
THREE = {"a": f(2, 3), "b": f(1, 3), "c": f(2, 3)}
ANY = ["float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
COMPLEX = ["complex64", "complex128"]
ALL = ["bfloat16", *COMPLEX, *ANY]

case("SequenceConstruct", "", THREE, lambda a, b, c: np.concatenate([a, b, c]), types=[*ANY, *COMPLEX], code=BUILT + """\
ge::op::ConcatFromSequence op("op");
op.set_input_handle(list).set_attr_axis(0);
c.out(op);""")
case("SequenceAt", "", {**THREE, "index": t(1)}, lambda a, b, c, n: b, types=["int32"], code=BUILT + """\
ge::op::SequenceAt op("op");
op.set_input_handle(list).set_input_index(c.in(3));
c.out(op);""")
case("SequenceAt", "from the end", {**THREE, "index": t(-1, "int64")}, lambda a, b, c, n: c, code=BUILT + """\
ge::op::SequenceAt op("op");
op.set_input_handle(list).set_input_index(c.in(3));
c.out(op);""")
case("SequenceLength", "", THREE, lambda a, b, c: np.array(3), out="int64", code=BUILT + """\
ge::op::SequenceLength op("op");
op.set_input_handle(list);
c.out(op);""")
for dtype in ["int32", "int64"]:
    case("SequenceInsert", f"index in {dtype}", {**THREE, "value": f(4, 3), "index": t(1, dtype)}, lambda a, b, c, x, n: np.concatenate([a, x, b, c]), types=[*ANY, *COMPLEX], code=BUILT + """\
ge::op::SequenceInsert more("more");
more.set_input_handle(list).set_input_value(c.in(3)).set_input_index(c.in(4));
ge::op::ConcatFromSequence op("op");
op.set_input_handle(more).set_attr_axis(0);
c.out(op);""")
case("SequenceInsert", "behind", {**THREE, "value": f(4, 3)}, lambda a, b, c, x: np.concatenate([a, b, c, x]), code=BUILT + """\
ge::op::SequenceInsert more("more");
more.set_input_handle(list).set_input_value(c.in(3));
ge::op::ConcatFromSequence op("op");
op.set_input_handle(more).set_attr_axis(0);
c.out(op);""")
for dtype in ["int32", "int64"]:
    case("SequenceErase", f"index in {dtype}", {**THREE, "index": t(0, dtype)}, lambda a, b, c, n: np.concatenate([b, c]), code=BUILT + """\
ge::op::SequenceErase less("less");
less.set_input_handle(list).set_input_index(c.in(3));
ge::op::ConcatFromSequence op("op");
op.set_input_handle(less).set_attr_axis(0);
c.out(op);""")
case("SequenceErase", "the last", THREE, lambda a, b, c: np.concatenate([a, b]), code=BUILT + """\
ge::op::SequenceErase less("less");
less.set_input_handle(list);
ge::op::ConcatFromSequence op("op");
op.set_input_handle(less).set_attr_axis(0);
c.out(op);""")
case("SequenceEmpty", "", {"x": f(2, 3)}, lambda x: [x, np.array(1)], out=[None, "int64"], code="""\
ge::op::SequenceEmpty list("list");
list.set_attr_dtype(ge::DT_FLOAT);
ge::op::SequenceInsert more("more");
more.set_input_handle(list).set_input_value(c.in(0));
const std::vector<uint8_t> zeros(4);
ge::op::Const index("index");
index.set_attr_value(ge::Tensor(ge::TensorDesc(ge::Shape(), ge::FORMAT_ND, ge::DT_INT32), zeros.data(), zeros.size()));
ge::op::SequenceAt op("op");
op.set_input_handle(more).set_input_index(index);
ge::op::SequenceLength length("length");
length.set_input_handle(more);
c.out(op);
c.out(length);""")
case("ConcatFromSequence", "a new axis", {"a": f(2, 3), "b": f(2, 3)}, lambda a, b: np.stack([a, b], 1), types=["float16"], code="""\
ge::op::SequenceConstruct list("list");
list.create_dynamic_input_inputs(2).set_dynamic_input_inputs(0, c.in(0)).set_dynamic_input_inputs(1, c.in(1));
ge::op::ConcatFromSequence op("op");
op.set_input_handle(list).set_attr_axis(1).set_attr_new_axis(1);
c.out(op);""")
SPLIT = """\
ge::op::SplitToSequence list("list");
list.set_input_x(c.in(0)){more};
const int32_t position = {position};
ge::op::Const index("index");
index.set_attr_value(ge::Tensor(ge::TensorDesc(ge::Shape(), ge::FORMAT_ND, ge::DT_INT32), reinterpret_cast<const uint8_t *>(&position), sizeof position));
ge::op::SequenceAt op("op");
op.set_input_handle(list).set_input_index(index);
ge::op::SequenceLength length("length");
length.set_input_handle(list);
c.out(op);
c.out(length);"""
case("SplitToSequence", "one each when not said", {"x": f(3, 2)}, lambda x: [x[1:2], np.array(3)], out=[None, "int64"], types=[*ANY, *COMPLEX], code=SPLIT.format(more="", position=1))
case("SplitToSequence", "an axis less", {"x": f(3, 2)}, lambda x: [x[:, 1], np.array(2)], out=[None, "int64"], code=SPLIT.format(more=".set_attr_axis(1).set_attr_keepdims(false)", position=-1))
case("SplitToSequence", "pieces of two", {"x": f(5, 2), "split": t(2)}, lambda x, s: [x[4:], np.array(3)], out=[None, "int64"], code=SPLIT.format(more=".set_input_split(c.in(1))", position=2))
case("SplitToSequence", "sizes", {"x": f(5, 2), "split": t([1, 4], "int64")}, lambda x, s: [x[1:], np.array(2)], out=[None, "int64"], code=SPLIT.format(more=".set_input_split(c.in(1))", position=1))

# --- branches and loops ------------------------------------------------------------------------------------------------

INNER = """\
const auto Inner = [](const char *name, const char *type) {
  ge::Graph graph(name);
  ge::op::Data x("x"), y("y");
  x.set_attr_index(0);
  y.set_attr_index(1);
  ge::Operator op = ge::OperatorFactory::CreateOperator("op", type);
  op.SetInput("x1", x).SetInput("x2", y);
  graph.SetInputs({x, y}).SetOutputs(std::vector<ge::Operator>{op});
  return graph;
};
"""
for op in ["If", "StatelessIf"]:
    for yes in [True, False]:
        code = INNER + f"""\
ge::op::{op} op("op");
op.set_input_cond(c.in(0)).create_dynamic_input_input(2).create_dynamic_output_output(1);
op.set_dynamic_input_input(0, c.in(1)).set_dynamic_input_input(1, c.in(2));
op.set_subgraph_builder_then_branch([Inner]() {{ return Inner("then", "Add"); }});
op.set_subgraph_builder_else_branch([Inner]() {{ return Inner("else", "Sub"); }});
c.out(op);"""
        both = {"x": f(2, 3), "y": f(2, 3)}
        want = (lambda c, x, y: x + y) if yes else (lambda c, x, y: x - y)
        name = "then" if yes else "else"
        case(op, name, {"cond": v(yes, "bool"), **both}, want, types=[dtype for dtype in ALL if dtype != "bool"], code=code)
        for dtype in [*ALL[:-1], "float32"]:
            # A number is true where it is not 0.
            case(op, f"{name}, a condition of {dtype}", {"cond": v(3 if yes else 0, dtype), **both}, want, code=code)
        case(op, f"{name}, a condition without a real part", {"cond": v(2j if yes else 0, "complex64"), **both}, want, code=code)
for op in ["While", "StatelessWhile"]:
    case(op, "", {"count": v(0, "int32"), "x": f(3, lo=1, hi=2)}, lambda n, x: [np.array(5), x if x.dtype == bool else x * 32], out=["int32", None], types=ALL, code=f"""\
const auto Number = [](const char *name, int32_t value) {{
  ge::op::Const number(name);
  number.set_attr_value(ge::Tensor(ge::TensorDesc(ge::Shape(), ge::FORMAT_ND, ge::DT_INT32), reinterpret_cast<const uint8_t *>(&value), sizeof value));
  return number;
}};
ge::op::{op} op("op");
op.create_dynamic_input_input(2).create_dynamic_output_output(2);
op.set_dynamic_input_input(0, c.in(0)).set_dynamic_input_input(1, c.in(1));
op.set_subgraph_builder_cond([Number]() {{
  ge::Graph graph("cond");
  ge::op::Data n("n"), x("x");
  n.set_attr_index(0);
  x.set_attr_index(1);
  ge::op::Const limit = Number("limit", 5);
  ge::op::Less less("less");
  less.set_input_x1(n).set_input_x2(limit);
  graph.SetInputs({{n, x}}).SetOutputs(std::vector<ge::Operator>{{less}});
  return graph;
}});
op.set_subgraph_builder_body([Number]() {{
  ge::Graph graph("body");
  ge::op::Data n("n"), x("x");
  n.set_attr_index(0);
  x.set_attr_index(1);
  ge::op::Const one = Number("one", 1);
  ge::op::Add next("next"), twice("twice");
  next.set_input_x1(n).set_input_x2(one);
  twice.set_input_x1(x).set_input_x2(x);
  graph.SetInputs({{n, x}}).SetOutputs(std::vector<ge::Operator>{{next, twice}});
  return graph;
}});
c.out(op);""")
case("PartitionedCall", "", {"x": f(2, 3), "y": f(2, 3)}, lambda x, y: x ^ y if x.dtype == bool else x - y, types=ALL, code=INNER + """\
ge::op::PartitionedCall op("op");
op.create_dynamic_input_args(2).create_dynamic_output_output(1);
op.set_dynamic_input_args(0, c.in(0)).set_dynamic_input_args(1, c.in(1));
op.set_subgraph_builder_f([Inner]() { return Inner("inner", "Sub"); });
c.out(op);""")
CASES = INNER + """\
ge::op::Case op("op");
op.set_input_branch_index(c.in(0)).create_dynamic_input_input(2).create_dynamic_output_output(1);
op.set_dynamic_input_input(0, c.in(1)).set_dynamic_input_input(1, c.in(2));
op.create_dynamic_subgraph_branches(3);
op.set_dynamic_subgraph_builder_branches(0, [Inner]() { return Inner("first", "Add"); });
op.set_dynamic_subgraph_builder_branches(1, [Inner]() { return Inner("second", "Sub"); });
op.set_dynamic_subgraph_builder_branches(2, [Inner]() { return Inner("third", "Mul"); });
c.out(op);"""
BRANCHES = [np.add, np.subtract, np.multiply]
for index in [0, 1, 2, -1, 7]:
    want = BRANCHES[index] if index in (0, 1) else BRANCHES[2]
    case("Case", f"branch {index}", {"branch_index": v(index, "int32"), "x": f(2, 3), "y": f(2, 3)}, lambda i, x, y, w=want: w(x, y), types=ALL if index == 0 else [], code=CASES)
case("Case", "a constant number", {"branch_index": t(1), "x": f(2, 3), "y": f(2, 3)}, lambda i, x, y: x - y, code=CASES)
LOOP = """\
ge::op::For op("op");
op.set_input_start(c.in(0)).set_input_limit(c.in(1)).set_input_delta(c.in(2)).create_dynamic_input_input(2).create_dynamic_output_output(2);
op.set_dynamic_input_input(0, c.in(3)).set_dynamic_input_input(1, c.in(4));
op.set_subgraph_builder_body([]() {
  ge::Graph graph("body");
  ge::op::Data number("number"), sum("sum"), x("x");
  number.set_attr_index(0);
  sum.set_attr_index(1);
  x.set_attr_index(2);
  ge::op::Add next("next"), twice("twice");
  next.set_input_x1(sum).set_input_x2(number);
  twice.set_input_x1(x).set_input_x2(x);
  graph.SetInputs({number, sum, x}).SetOutputs(std::vector<ge::Operator>{next, twice});
  return graph;
});
c.out(op);"""
for start, limit, delta in [(2, 7, 2), (5, 0, -2), (3, 3, 1), (4, 2, 1)]:
    numbers = range(start, limit, delta)
    want = lambda a, b, c, s, x, n=numbers: [s + sum(n), x if x.dtype == bool else x * 2 ** len(n)]  # noqa: E731
    bounds = {"start": v(start, "int32"), "limit": v(limit, "int32"), "delta": v(delta, "int32")}
    case("For", f"from {start} to {limit} by {delta}", {**bounds, "sum": v(10, "int32"), "x": f(3, lo=1, hi=2)}, want, out=["int32", None], types=ALL if delta == 2 else [], code=LOOP)
refused("For", "no steps", {"start": t(0), "limit": t(3), "delta": t(0), "sum": v(10, "int32"), "x": f(3)}, "its input delta is 0", code=LOOP)
