"""Cases for what no node case can be written anew for: control flow, inputs that no node case has, and operators that onnx's
reference cannot compute in float64. What must come out is written down with NumPy."""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper

import cases
import every_type


def case(operator, variable, name, source, nodes, given, wanted, opset=cases.NEWEST):
    """Makes a case of nodes, named inputs and named outputs."""
    value = lambda key, array: helper.make_tensor_value_info(
        key, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
    open_ = lambda key, array: helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)
    graph = helper.make_graph(
        nodes, source, [value(*pair) for pair in given.items()], [open_(*pair) for pair in wanted.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.checker.check_model(model)
    return every_type.Typed(operator, variable, name, source, model, given, list(wanted.values()))


def numbers(name, shape=(2, 3), start=1):
    values = np.arange(start, start + int(np.prod(shape))).reshape(shape)
    return (values % 2).astype(np.bool_) if name == "bool" else values.astype(every_type.NUMPY[name])


def typed(array, name):
    return np.asarray(array).astype(every_type.NUMPY[name])


def branches(variable, name):
    """If: either branch takes a value from around it."""
    kind = name if variable == "V" else "float"
    x, y = numbers(kind), numbers(kind, start=2)
    out = lambda key: helper.make_tensor_value_info(key, every_type.TYPES[kind], None)
    body = lambda key, source: helper.make_graph([helper.make_node("Identity", [source], [key])], key, [], [out(key)])
    for condition in (True, False):
        node = helper.make_node("If", ["condition"], ["z"], then_branch=body("a", "x"), else_branch=body("b", "y"))
        given = {"condition": np.array(condition), "x": x, "y": y}
        yield case("If", variable, name, f"if {condition}", [node], given, {"z": x if condition else y})


def loops(variable, name):
    """Loop: two values are swapped in each iteration, and the first is collected."""
    kind = name if variable == "V" else "float"
    a, b = numbers(kind), numbers(kind, start=2)
    info = lambda key, number, shape=None: helper.make_tensor_value_info(key, number, shape)
    number = every_type.TYPES[kind]
    body = helper.make_graph(
        [helper.make_node("Identity", [one], [two])
         for one, two in (("go", "go_on"), ("a_in", "b_out"), ("b_in", "a_out"), ("a_in", "seen"))],
        "turn",
        [info("turn", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("a_in", number), info("b_in", number)],
        [info("go_on", TensorProto.BOOL, []), info("a_out", number), info("b_out", number), info("seen", number)])
    node = helper.make_node("Loop", ["turns", "first", "a", "b"], ["a_last", "b_last", "all"], body=body)
    given = {"turns": np.array(3, np.int64), "first": np.array(True), "a": a, "b": b}
    yield case("Loop", variable, name, "loop", [node], given, {"a_last": b, "b_last": a, "all": np.stack([a, b, a])})


def scans(variable, name):
    """Scan: a row is delayed by one step."""
    state, rows = numbers(name, (2,), 7), numbers(name, (3, 2))
    info = lambda key: helper.make_tensor_value_info(key, every_type.TYPES[name], [2])
    body = helper.make_graph(
        [helper.make_node("Identity", ["held"], ["late"]), helper.make_node("Identity", ["row"], ["next"])],
        "step", [info("held"), info("row")], [info("next"), info("late")])
    node = helper.make_node("Scan", ["state", "rows"], ["last", "all"], body=body, num_scan_inputs=1)
    wanted = {"last": rows[2], "all": np.stack([state, rows[0], rows[1]])}
    yield case("Scan", variable, name, "scan", [node], {"state": state, "rows": rows}, wanted)


def lengths(operator, variable, name, all_cases):
    """The lengths of sequences, all of them full: as without."""
    own = next(one for one in all_cases if one.name in ("test_gru_defaults", "test_simple_rnn_defaults", "test_lstm_defaults")
               and one.operator == operator)
    model = onnx.load_model_from_string(own.model)
    given = {value.name: array for value, array in zip(model.graph.input, every_type.tensors(own.data[0][0]))}
    node, x = model.graph.node[0], given[model.graph.node[0].input[0]]
    given["lengths"] = np.full(x.shape[1], x.shape[0], np.int32)
    node.input.extend(["", "lengths"])
    wanted = dict(zip([value.name for value in model.graph.output], every_type.tensors(own.data[0][1])))
    yield case(operator, variable, name, "lengths", [node], given, wanted, 14)


def bits(variable, name):
    """BitCast: the bits of a type as integers, and back."""
    own = numbers(name)
    raw = own.view(f"u{own.dtype.itemsize}")
    x, z = (own, raw) if variable == "T1" else (raw, own)
    node = helper.make_node("BitCast", ["x"], ["z"], to=helper.np_dtype_to_tensor_dtype(z.dtype))
    yield case("BitCast", variable, name, "bits", [node], {"x": x}, {"z": z})


def images(variable, name, all_cases):
    for own in all_cases:
        if own.operator == "ImageDecoder" and "jpeg_" not in own.name:
            model = onnx.load_model_from_string(own.model)
            given = {value.name: array for value, array in zip(model.graph.input, every_type.tensors(own.data[0][0]))}
            yield every_type.Typed("ImageDecoder", variable, name, own.name, model, given, every_type.tensors(own.data[0][1]))


def formulas(operator, variable, name):
    """Operators whose result is a line of NumPy, on numbers that are in the type already."""
    one = lambda x, wanted, extra={}, **attributes: case(
        operator, variable, name, "formula", [helper.make_node(operator, ["x", *extra], ["y"], **attributes)],
        {"x": x, **extra}, {"y": wanted})
    real = typed(np.linspace(-3, 3, 48).reshape(2, 2, 3, 4), name)
    wide = real.astype(np.float64)
    whole = numbers(name, (3, 4))
    if operator == "GlobalLpPool":
        yield one(real, typed(np.sqrt((wide**2).sum((2, 3), keepdims=True)), name), p=2)
    elif operator == "MaxRoiPool":
        image = typed(np.arange(32).reshape(1, 2, 4, 4) * 3 % 31, name)
        wanted = image.reshape(1, 2, 2, 2, 2, 2).astype(np.float64).max((3, 5))
        yield one(image, typed(wanted, name), {"rois": typed([[0, 0, 0, 3, 3]], name)}, pooled_shape=[2, 2])
    elif operator == "MeanVarianceNormalization":
        mean = wide.mean((0, 2, 3), keepdims=True)
        deviation = np.sqrt(((wide - mean) ** 2).mean((0, 2, 3), keepdims=True))
        yield one(real, typed((wide - mean) / (deviation + 1e-9), name))
    elif operator == "ReduceLogSum":
        yield one(whole, typed(np.log(whole.astype(np.float64).sum(1)), name), {"axes": np.array([1])}, keepdims=0)
    elif operator == "ReduceLogSumExp":
        yield one(whole, typed(np.log(np.exp(whole.astype(np.float64)).sum(1)), name), {"axes": np.array([1])}, keepdims=0)
    elif operator == "LayerNormalization":
        scale, x = np.ones(4, np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
        mean, deviation = x.mean(1, keepdims=True), x.astype(np.float64).std(1, keepdims=True)
        node = helper.make_node(operator, ["x", "scale"], ["y", "mean"], stash_type=every_type.TYPES[name], epsilon=0.0)
        wanted = {"y": ((x - mean) / deviation).astype(np.float32), "mean": typed(mean, name)}
        yield case(operator, variable, name, "formula", [node], {"x": x, "scale": scale}, wanted)
    elif operator == "Resize":
        wanted = whole.repeat(2, 0).repeat(2, 1)
        node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="nearest")
        yield case(operator, variable, name, "formula", [node], {"x": whole, "scales": np.array([2, 2], np.float32)}, {"y": wanted})
    elif operator == "OneHot":
        extra = {"depth": np.array(4, np.int64), "values": np.array([False, True])}
        yield one(np.array([0, 3, 1]), np.eye(4, dtype=np.bool_)[[0, 3, 1]], extra)
    elif operator == "Erf":
        yield one(real, typed(np.vectorize(math.erf, otypes=[np.float64])(wide), name))
    elif operator == "Gelu":
        yield one(real, typed(wide / 2 * (1 + np.vectorize(math.erf, otypes=[np.float64])(wide / math.sqrt(2))), name))
    elif operator == "HardSwish":
        yield one(real, typed(wide * np.clip(wide / 6 + 0.5, 0, 1), name))
    elif operator == "DFT":
        x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(1, 6, 1)
        spectrum = np.fft.fft(x[..., 0].astype(np.float64), 8)
        wanted = np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)
        yield one(x, wanted, {"length": typed(8, name), "axis": np.array(1, np.int64)})
    elif operator == "QLinearConv":
        x, bias = np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4), np.array([3, -2], np.int32)
        unit, zero = np.array(1, np.float32), np.array(0, np.uint8)
        weight = np.array([2, 5], np.uint8).reshape(2, 1, 1, 1)
        sums = x.astype(np.int64) * weight.reshape(1, 2, 1, 1) + bias.reshape(1, 2, 1, 1)
        extra = {"xs": unit, "xz": zero, "w": weight, "ws": unit, "wz": zero, "ys": unit, "yz": zero, "b": bias}
        yield one(x, np.clip(sums, 0, 255).astype(np.uint8), extra)


# Which pairs have cases here.
ALWAYS = {"BitCast", "GlobalLpPool", "MaxRoiPool", "MeanVarianceNormalization", "ImageDecoder", "If", "Loop", "Scan"}
ONLY = {
    ("ReduceLogSum", "T"): "int32 int64 uint32 uint64", ("ReduceLogSumExp", "T"): "int32 int64 uint32 uint64",
    ("Resize", "T1"): "bool", ("OneHot", "T3"): "bool", ("DFT", "T2"): "int32 int64", ("QLinearConv", "T4"): "int32",
    ("GRU", "T1"): "int32", ("RNN", "T1"): "int32", ("LSTM", "T1"): "int32",
    ("LayerNormalization", "U"): "bfloat16", ("Erf", "T"): "double", ("Gelu", "T"): "double", ("HardSwish", "T"): "double",
}


def of(operator, variable, name, all_cases):
    """Returns the cases of an operator in a type."""
    if operator not in ALWAYS and name not in ONLY.get((operator, variable), "").split():
        return []
    if operator in ("GRU", "RNN", "LSTM"):
        return list(lengths(operator, variable, name, all_cases))
    if operator == "ImageDecoder":
        return list(images(variable, name, all_cases))
    control = {"BitCast": bits, "If": branches, "Loop": loops, "Scan": scans}.get(operator)
    return list(control(variable, name) if control else formulas(operator, variable, name))
