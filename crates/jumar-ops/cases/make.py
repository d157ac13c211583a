"""Writes the cases that the tests of heavy operators read: `python make.py` in an environment with onnx and onnxruntime.

Each case is a node that ONNX Runtime computed, or where it has no kernel ONNX's reference implementation, with the
operator and the attributes that the node becomes here. Numbers are drawn from a fixed seed.
"""

import os

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)
HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {}
RANDOM = np.random.default_rng(2026)


def noise(*shape, dtype=np.float32, scale=1.0):
    return (np.round(RANDOM.uniform(-1, 1, shape), 3) * scale).astype(dtype)


def whole(low, high, *shape, dtype=np.int64):
    return RANDOM.integers(low, high, shape).astype(dtype)


def bounds(dtype):
    return {"float64": 1e-9, "float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}.get(str(dtype), 0)


def number(value):
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    return repr(float(value))


def tensor(array):
    if array is None:
        return "-"
    array = np.asarray(array)
    dims = "x".join(map(str, array.shape)) or "x"
    exact = array.astype(np.float64) if array.dtype.kind not in "biu" else array
    if array.dtype == np.float32:
        values = [str(value) for value in array.ravel()]
    else:
        values = [number(value) for value in exact.ravel()]
    return " ".join([str(array.dtype), dims] + values)


def attribute(name, value):
    if isinstance(value, bool):
        return f"attr {name} bool {int(value)}"
    if isinstance(value, int):
        return f"attr {name} int {value}"
    if isinstance(value, float):
        return f"attr {name} float {value!r}"
    if isinstance(value, str) and value.startswith("type "):
        return f"attr {name} {value}"
    if isinstance(value, str):
        return f"attr {name} str {value}"
    kind = {int: "ints", float: "floats", str: "strs"}[type(value[0])]
    return " ".join(["attr", name, kind] + [str(one) for one in value])


def compute(op, inputs, outputs, attrs, opset, reference, domain=""):
    names = [f"i{k}" if array is not None else "" for k, array in enumerate(inputs)]
    results = [f"o{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, domain=domain, **attrs)
    given = [(name, array) for name, array in zip(names, inputs) if array is not None]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in given
    ]
    graph = helper.make_graph([node], "case", infos, [onnx.ValueInfoProto(name=name) for name in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else []), ir_version=10)
    feed = dict(given)
    if not reference:
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            return session.run(None, feed)
        except Exception as error:  # No kernel for the type or the form.
            print(f"{op}: by the reference implementation: {str(error)[:120]}")
    return ReferenceEvaluator(model).run(None, feed)


def case(file, operator, op, inputs, outputs=1, attrs=None, own=None, opset=22, bound=None, reference=False, skip=(), becomes=None, domain=""):
    """`own`: the attributes here, where they are not ONNX's. `becomes`: the inputs here."""
    attrs = attrs or {}
    inputs = [None if array is None else np.asarray(array) for array in inputs]
    try:
        found = [np.asarray(one) for one in compute(op, inputs, outputs, attrs, opset, reference, domain)]
    except Exception as error:
        print(f"{op}: left out: {str(error)[:300]}")
        return
    if domain:  # The reference continues in float64.
        found = [one.astype(inputs[2].dtype) for one in found]
    dtype = next((array.dtype for array in found if array.dtype.kind in "fV" or array.dtype == ml_dtypes.bfloat16), None)
    lines = [f"case {operator} {bound if bound is not None else bounds(dtype)}"]
    lines += [attribute(name, value) for name, value in (attrs if own is None else own).items()]
    lines += ["in " + tensor(array) for array in (inputs if becomes is None else becomes)]
    lines += ["out " + ("-" if k in skip else tensor(array)) for k, array in enumerate(found)]
    FILES.setdefault(file, []).append("\n".join(lines + ["end"]))


def flags(attrs, *names):
    """The same attributes with yes and no where ONNX has 1 and 0."""
    return {name: bool(value) if name in names else value for name, value in attrs.items()}


def normalisations():
    for dtype, reference in ((np.float32, False), (np.float64, False), (np.float16, True), (ml_dtypes.bfloat16, True)):
        x = noise(2, 3, 5, dtype=dtype)
        for axis in (-1, 1):
            shape = x.shape[axis:]
            case("layer_norm", "LayerNormV3", "LayerNormalization", [x, noise(*shape, dtype=dtype), noise(*shape, dtype=dtype)],
                 outputs=3 if dtype == np.float32 else 1, attrs={"axis": axis, "epsilon": 0.0625},
                 own={"begin_norm_axis": axis, "epsilon": 0.0625}, reference=reference)
            case("layer_norm", "RmsNorm", "RMSNormalization", [x, noise(*shape, dtype=dtype)], attrs={"axis": axis, "epsilon": 0.0625},
                 own={"begin_norm_axis": axis, "epsilon": 0.0625}, opset=23, reference=True)
        x = noise(2, 4, 3, 2, dtype=dtype)
        case("group_norm", "GroupNorm", "GroupNormalization", [x, noise(4, dtype=dtype), noise(4, dtype=dtype)],
             attrs={"num_groups": 2, "epsilon": 0.0625}, own={"num_groups": 2, "eps": 0.0625, "data_format": "NCHW"},
             reference=True, bound=1e-6 if dtype == np.float64 else None)
        case("group_norm", "InstanceNorm", "InstanceNormalization", [x, noise(4, dtype=dtype), noise(4, dtype=dtype)],
             attrs={"epsilon": 0.0625}, own={"epsilon": 0.0625, "data_format": "NCHW"}, reference=dtype != np.float32)
        for size in (1, 3, 4):
            case("lrn", "LRN", "LRN", [noise(2, 5, 2, 2, dtype=dtype)], attrs={"size": size, "alpha": 0.5, "beta": 0.75, "bias": 1.5},
                 own={"size": size, "alpha": 0.5 / size, "beta": 0.75, "bias": 1.5}) if size % 2 and dtype == np.float32 else None
        for axis, p in ((0, 1), (1, 2), (-1, 2)):
            case("lp_normalize", "jumar.LpNormalization", "LpNormalization", [noise(2, 3, 4, dtype=dtype)], attrs={"axis": axis, "p": p}) if dtype in (np.float32, np.float64) else None


def windows():
    for dtype in (np.float32, np.float64, np.float16):
        reference = dtype == np.float16
        bound = None if dtype != np.float32 else 5e-6
        for attrs in ({}, {"strides": [2, 1, 1], "pads": [1, 0, 1, 0, 1, 1]}, {"strides": [1, 2, 1], "auto_pad": "SAME_UPPER"}, {"dilations": [1, 2, 1]}):
            case("conv_nd", "jumar.Conv", "Conv", [noise(1, 2, 4, 5, 3, dtype=dtype), noise(4, 2, 2, 2, 2, dtype=dtype), noise(4, dtype=dtype)],
                 attrs=attrs, bound=bound)
        if not reference:
            case("conv_nd", "jumar.Conv", "Conv", [noise(2, 4, 3, 3, 3, dtype=dtype), noise(6, 2, 2, 1, 3, dtype=dtype)], attrs={"group": 2}, bound=bound)
        for shape, kernel, attrs in (
            ((1, 2, 5), (2, 3, 3), {"strides": [2], "output_padding": [1]}),
            ((2, 4, 3, 3), (4, 2, 3, 2), {"group": 2, "pads": [1, 0, 1, 1], "dilations": [2, 1]}),
            ((1, 2, 3, 4), (2, 3, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
            ((1, 2, 3, 3), (2, 2, 3, 3), {"strides": [3, 2], "output_shape": [10, 8]}),
            ((1, 2, 2, 3, 2), (2, 2, 2, 2, 2), {"strides": [1, 2, 2]}),
        ):
            if dtype == np.float32:
                case("conv_transpose", "jumar.ConvTranspose", "ConvTranspose", [noise(*shape), noise(*kernel)], attrs=attrs, bound=5e-6)
        offsets = noise(1, 2 * 2 * 4, 3, 3, dtype=dtype, scale=2)
        if dtype == np.float32:
            case("deform_conv", "jumar.DeformConv", "DeformConv", [noise(1, 4, 4, 4), noise(4, 2, 2, 2), offsets, noise(4), noise(1, 8, 3, 3)],
                 attrs={"group": 2, "offset_group": 2, "kernel_shape": [2, 2]},
                 own={"group": 2, "offset_group": 2}, bound=5e-6)
        x = noise(1, 2, 4, 5, 3, dtype=dtype)
        kernel = {"kernel_shape": [2, 3, 2]}
        for more in ({}, {"strides": [1, 2, 2], "pads": [1, 1, 0, 0, 1, 1], "ceil_mode": 1}):
            if dtype != np.float16:
                case("pool_nd", "jumar.MaxPool", "MaxPool", [x], outputs=2, attrs={**kernel, **more, "storage_order": 1},
                     own=flags({**kernel, **more, "storage_order": 1}, "ceil_mode", "storage_order"))
            if dtype == np.float32:
                for padded in (0, 1):
                    case("pool_nd", "jumar.AveragePool", "AveragePool", [x], attrs={**kernel, **more, "count_include_pad": padded},
                         own=flags({**kernel, **more, "count_include_pad": padded}, "ceil_mode", "count_include_pad"))
                case("pool_nd", "jumar.LpPool", "LpPool", [x], attrs={**kernel, **flags(more), "p": 3, "ceil_mode": 0}, own={**kernel, **more, "p": 3, "ceil_mode": False})
        if dtype == np.float32:
            case("pool_nd", "GlobalLpPool", "GlobalLpPool", [x], attrs={"p": 2}, own={"p": 2.0}, opset=21)
    for sign in (np.uint8, np.int8):
        low, high = (0, 256) if sign == np.uint8 else (-128, 128)
        x, w = whole(low, high, 1, 4, 5, 5, dtype=np.uint8 if sign == np.uint8 else np.int8), whole(low, high, 4, 2, 3, 3, dtype=sign)
        if sign == np.uint8:
            case("conv_nd", "jumar.ConvInteger", "ConvInteger", [x, w, np.uint8(121), np.uint8(7)], attrs={"group": 2, "pads": [1, 1, 0, 0]}, opset=21)
        scales = np.array([0.02, 0.01, 0.03, 0.015], np.float32)
        zeros = whole(low, high, 4, dtype=sign) * 0
        case("conv_nd", "jumar.QLinearConv", "QLinearConv",
             [x, np.float32(0.03), sign(3), w, scales, zeros, np.float32(0.9), sign(9), whole(-900, 900, 4, dtype=np.int32)],
             attrs={"group": 2, "strides": [2, 1]}, opset=21)


def recurrent():
    steps, batch, inputs, hidden = 4, 2, 3, 5
    for dtype in (np.float32, np.float64):
        for op, operator, gates in (("RNN", "jumar.RNN", 1), ("GRU", "CommonGRU", 3), ("LSTM", "CommonLSTM", 4)):
            for direction in ("forward", "reverse", "bidirectional"):
                if dtype == np.float64 and direction != "forward":
                    continue
                count = 2 if direction == "bidirectional" else 1
                lengths = np.array([4, 2], np.int32) if direction != "forward" else None
                feed = [noise(steps, batch, inputs, dtype=dtype), noise(count, gates * hidden, inputs, dtype=dtype),
                        noise(count, gates * hidden, hidden, dtype=dtype), noise(count, 2 * gates * hidden, dtype=dtype),
                        lengths, noise(count, batch, hidden, dtype=dtype)]
                attrs = {"hidden_size": hidden, "direction": direction}
                if op == "LSTM":
                    feed += [noise(count, batch, hidden, dtype=dtype), noise(count, 3 * hidden, dtype=dtype)]
                outputs = 3 if op == "LSTM" else 2
                reference = dtype == np.float64
                case("common_rnn", operator, op, feed, outputs, attrs, bound=5e-6, reference=reference, skip=(0,) if reference else ())
                if reference:
                    continue
                if op == "GRU":
                    case("common_rnn", operator, op, feed, outputs, {**attrs, "linear_before_reset": 1, "clip": 0.5}, bound=5e-6)
                if op == "LSTM":
                    case("common_rnn", operator, op, feed, outputs, {**attrs, "input_forget": 1, "clip": 0.5}, bound=5e-6)
                    names = ["HardSigmoid", "Softsign", "ScaledTanh"] * count
                    case("common_rnn", operator, op, feed, outputs,
                         {**attrs, "activations": names, "activation_alpha": [0.3, 0.7] * count, "activation_beta": [0.4, 0.9] * count}, bound=5e-6)


def attention():
    for dtype in (np.float32, np.float16):
        bound = 5e-6 if dtype == np.float32 else 4e-3
        def run(q, k, v, mask=None, past=(None, None), outputs=1, **attrs):
            inputs = [q, k, v, mask, *past]
            while inputs[-1] is None:
                inputs.pop()
            case("attention", "jumar.Attention", "Attention", inputs, outputs, attrs, flags(attrs, "is_causal"), opset=23, bound=bound, reference=True)
        q, k, v = noise(2, 4, 3, 6, dtype=dtype), noise(2, 2, 5, 6, dtype=dtype), noise(2, 2, 5, 4, dtype=dtype)
        run(q, k, v)
        run(q, k, v, softcap=0.5, scale=0.25)
        run(q, k, v, mask=noise(4, 3, 5, dtype=dtype), outputs=4, qk_matmul_output_mode=2)
        run(q, k, v, mask=RANDOM.random((3, 5)) > 0.5, is_causal=1)
        if dtype == np.float32:
            past = noise(2, 2, 3, 6), noise(2, 2, 3, 4)
            run(q, k, v, past=past, outputs=3, is_causal=1)
            run(q, k, v, mask=noise(2, 1, 3, 8), past=past, outputs=4, qk_matmul_output_mode=3)
            run(noise(2, 3, 8), noise(2, 5, 4), noise(2, 5, 6), outputs=4, q_num_heads=4, kv_num_heads=2, qk_matmul_output_mode=1, softcap=0.7)
        cos, sin, ids = noise(7, 3, dtype=dtype), noise(7, 3, dtype=dtype), whole(0, 7, 2, 4)
        for attrs in ({}, {"interleaved": 1}):
            case("attention", "jumar.RotaryEmbedding", "RotaryEmbedding", [noise(2, 3, 4, 6, dtype=dtype), cos, sin, ids], 1, attrs,
                 flags(attrs, "interleaved"), opset=23, reference=True)
        attrs = {"num_heads": 2, "rotary_embedding_dim": 6}
        case("attention", "jumar.RotaryEmbedding", "RotaryEmbedding", [noise(2, 4, 16, dtype=dtype), noise(2, 4, 3, dtype=dtype), noise(2, 4, 3, dtype=dtype)],
             1, attrs, opset=23, reference=True)


def resized():
    def run(x, scales=None, sizes=None, roi=None, **attrs):
        scales = None if scales is None else np.array(scales, np.float32)
        sizes = None if sizes is None else np.array(sizes, np.int64)
        inputs = [x, roi, scales, sizes]
        while inputs[-1] is None:
            inputs.pop()
        case("resize", "Resize", "Resize", inputs, 1, attrs, flags(attrs, "exclude_outside", "antialias"), opset=19, bound=5e-6)
    x = noise(1, 2, 4, 5)
    for mode in ("nearest", "linear", "cubic"):
        for transformation in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"):
            run(x, [1, 1, 1.5, 0.6], mode=mode, coordinate_transformation_mode=transformation)
        run(x, sizes=[1, 2, 7, 3], mode=mode)
        run(x, sizes=[8, 6], mode=mode, axes=[3, 2], keep_aspect_ratio_policy="not_larger")
        run(x, sizes=[1, 1, 3, 3], mode=mode, roi=np.array([0, 0, 0.375, 0.625, 1, 1, 0.75, 1.3125], np.float32), extrapolation_value=10.0,
            coordinate_transformation_mode="tf_crop_and_resize") if mode != "cubic" else None
    for rounding in ("round_prefer_ceil", "floor", "ceil"):
        run(x, [1, 1, 2.5, 0.5], mode="nearest", nearest_mode=rounding)
    run(x, [1, 1, 0.6, 0.6], mode="linear", antialias=1)
    run(x, [1, 1, 0.6, 0.6], mode="cubic", antialias=1)
    run(x, [1, 1, 1.3, 0.6], mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
    run(whole(0, 255, 1, 1, 2, 3, dtype=np.uint8), [1, 1, 2, 3], mode="nearest")
    run(noise(1, 1, 3, 3, 3), [1, 1, 2, 2, 2], mode="linear")
    run(noise(1, 1, 3, 4, dtype=np.float64), [1, 1, 2, 2], mode="linear")


def quantised():
    def run(x, scale, zero=None, **attrs):
        inputs = [x, np.asarray(scale), zero] if zero is not None else [x, np.asarray(scale)]
        case("quantize", "jumar.QuantizeLinear", "QuantizeLinear", inputs, 1, attrs, opset=21)
    for kind in (np.uint8, np.int8, np.uint16, np.int16):
        size = 0.01 if kind in (np.uint8, np.int8) else 0.0001
        run(noise(2, 3, 4, scale=2), np.float32(size), kind(5))
        scales, zeros = np.array([size, size * 2, size / 2], np.float32), np.array([1, 2, 3], kind)
        run(noise(2, 3, 4, scale=2), scales, zeros)
        run(noise(2, 4), noise(2, 2) * np.float32(size) + np.float32(size * 2), np.ones((2, 2), kind), axis=1, block_size=2)
        x = whole(0, 100, 2, 3, 2, dtype=kind)
        case("quantize", "jumar.DequantizeLinear", "DequantizeLinear", [x, np.float32(0.3), kind(7)], opset=21)
        case("quantize", "jumar.DequantizeLinear", "DequantizeLinear", [x, scales, zeros], opset=21)
        case("quantize", "jumar.DequantizeLinear", "DequantizeLinear", [x, noise(2, 2, 2), np.ones((2, 2, 2), kind)], 1, {"axis": 1, "block_size": 2}, opset=21)
    case("quantize", "jumar.DequantizeLinear", "DequantizeLinear", [whole(-9999, 9999, 4, dtype=np.int32), np.float32(0.01)], opset=21)
    for x in (noise(3, 4, scale=3), noise(5) + 2, noise(5) - 2):
        case("quantize", "jumar.DynamicQuantizeLinear", "DynamicQuantizeLinear", [x.astype(np.float32)], 3, opset=21)
    a, b = whole(0, 256, 2, 3, 4, dtype=np.uint8), whole(0, 256, 4, 5, dtype=np.uint8)
    case("mat_mul_integer", "jumar.MatMulInteger", "MatMulInteger", [a, b, np.uint8(12), np.uint8(200)], opset=21)
    case("mat_mul_integer", "jumar.MatMulInteger", "MatMulInteger", [a, b.astype(np.int8), np.uint8(12), whole(-9, 9, 5, dtype=np.int8)], opset=21)
    case("mat_mul_integer", "jumar.MatMulInteger", "MatMulInteger", [whole(0, 256, 4, dtype=np.uint8), b], opset=21)
    for kind in (np.uint8, np.int8):
        low, high = (0, 256) if kind == np.uint8 else (-128, 128)
        a, b = whole(low, high, 2, 3, 4, dtype=kind), whole(low, high, 2, 4, 5, dtype=kind)
        case("mat_mul_integer", "jumar.QLinearMatMul", "QLinearMatMul",
             [a, np.float32(0.02), kind(3), b, np.float32(0.03), kind(9), np.float32(0.4), kind(11)], opset=21)


def positions():
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                attrs = {"mode": mode, "padding_mode": padding, "align_corners": align}
                case("grid_sample", "jumar.GridSample", "GridSample", [noise(1, 2, 3, 4), noise(1, 3, 2, 2, scale=1.7)], 1, attrs, flags(attrs, "align_corners"), bound=1e-5)
                if mode != "cubic":
                    case("grid_sample", "jumar.GridSample", "GridSample", [noise(1, 1, 3, 2, 4), noise(1, 2, 2, 1, 3, scale=1.7)], 1, attrs, flags(attrs, "align_corners"), bound=1e-5)
    for align in (0, 1):
        attrs = {"align_corners": align}
        case("grid_sample", "jumar.AffineGrid", "AffineGrid", [noise(2, 2, 3), np.array([2, 1, 3, 4])], 1, attrs, flags(attrs, "align_corners"), reference=True)
        case("grid_sample", "jumar.AffineGrid", "AffineGrid", [noise(1, 3, 4), np.array([1, 1, 2, 3, 2])], 1, attrs, flags(attrs, "align_corners"), reference=True)
    rois = np.array([[0.3, 0.6, 4.2, 5.1], [1, 1, 3, 2], [-1, 2, 7, 9]], np.float32)
    for attrs in ({"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.7},
                  {"output_height": 2, "output_width": 2, "coordinate_transformation_mode": "output_half_pixel"},
                  {"output_height": 2, "output_width": 2, "mode": "max", "sampling_ratio": 2}):
        case("roi", "jumar.RoiAlign", "RoiAlign", [noise(2, 2, 6, 6), rois, np.array([0, 1, 1])], 1, attrs, bound=1e-5)
    boxes = np.array([[0, 0, 1, 3, 4], [1, 2, 2, 5, 5], [1, 0, 3, 1, 9]], np.float32)
    case("roi", "jumar.MaxRoiPool", "MaxRoiPool", [noise(2, 2, 6, 6), boxes], 1, {"pooled_shape": [2, 3], "spatial_scale": 0.5}, opset=21)
    x, indices = noise(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]])
    attrs = {"kernel_shape": [2, 2], "strides": [2, 2]}
    case("roi", "jumar.MaxUnpool", "MaxUnpool", [x, indices], 1, attrs, opset=21)
    case("roi", "jumar.MaxUnpool", "MaxUnpool", [x, indices, np.array([1, 1, 5, 5])], 1, attrs, reference=True, opset=21)
    for centre in (0, 1):
        boxes, scores = np.abs(noise(2, 12, 4)), np.abs(noise(2, 3, 12))
        case("non_max_suppression", "NonMaxSuppressionV6", "NonMaxSuppression",
             [boxes, scores, np.array([4]), np.array([0.3], np.float32), np.array([0.2], np.float32)], 1,
             {"center_point_box": centre}, {"center_point_box": centre, "index_dtype": "type int64"})


def sums():
    def run(equation, *operands):
        case("einsum", "Einsum", "Einsum", list(operands), 1, {"equation": equation}, {"equation": equation.replace(" ", "")}, opset=12, reference=True,
             bound=2e-6 if operands[0].dtype == np.float32 else None)
    a, b = noise(2, 3, 4), noise(2, 4, 5)
    for equation in ("bij, bjk -> bik", "bij,bjk->kbi", "...ij,...jk->...ik", "bij,bjk->ij", "bij,cjk->", "bij,bjk"):
        run(equation, a, b)
    run("ii->i", noise(3, 3))
    run("ii->", noise(3, 3))
    run("ij->ji", noise(2, 3))
    run("...i->...", noise(2, 3, 4))
    run("i,j->ij", noise(3), noise(4))
    run("ij,jk,kl->il", noise(2, 3), noise(3, 4), noise(4, 2))
    run("bhid,bhjd->bhij", noise(2, 2, 3, 4), noise(2, 2, 5, 4))
    run("ij,jk->ik", noise(2, 3, dtype=np.float64), noise(3, 2, dtype=np.float64))
    run("ij,jk->ik", whole(-9, 9, 2, 3), whole(-9, 9, 3, 2))
    for dtype in (np.float32, np.float64):
        case("determinant", "MatrixDeterminant", "Det", [noise(2, 4, 4, dtype=dtype)], reference=dtype == np.float64)
    case("determinant", "MatrixDeterminant", "Det", [np.array([[0, 1], [1, 0]], np.float32)])
    shapes = np.array([5, 6]), np.array([2, 3])
    case("determinant", "jumar.Col2Im", "Col2Im", [noise(1, 12, 16), *shapes], opset=18)
    case("determinant", "jumar.Col2Im", "Col2Im", [noise(1, 6, 16), *shapes], 1, {"pads": [1, 0, 1, 1], "strides": [2, 1], "dilations": [1, 2]}, opset=18)
    for n in (1, 4, 5, 12):
        for dtype in (np.float32, np.float64):
            bound = 2e-6 if dtype == np.float32 else 1e-9
            case("signal", "jumar.DFT", "DFT", [noise(2, n, 1, dtype=dtype)], opset=20, reference=True, bound=bound)
            case("signal", "jumar.DFT", "DFT", [noise(n, 3, 2, dtype=dtype), None, np.int64(0)], 1, {"inverse": 1}, {"inverse": True}, opset=20, reference=True, bound=bound)
            case("signal", "jumar.DFT", "DFT", [noise(1, 6, 1, dtype=dtype), np.int64(n)], 1, {"onesided": 1}, {"onesided": True}, opset=20, reference=True, bound=bound)
    case("signal", "jumar.STFT", "STFT", [noise(2, 20, 1), np.int64(3), noise(7)], opset=17, bound=2e-6)
    case("signal", "jumar.STFT", "STFT", [noise(1, 20, 2), np.int64(4), noise(8), np.int64(8)], 1, {"onesided": 0}, {"onesided": False}, opset=17, bound=2e-6)
    for op, weights in (("HannWindow", [0.5, 0.5, 0]), ("HammingWindow", [25 / 46, 21 / 46, 0]), ("BlackmanWindow", [0.42, 0.5, 0.08])):
        for periodic in (0, 1):
            case("signal", "jumar.Window", op, [np.int64(9)], 1, {"periodic": periodic}, {"periodic": bool(periodic)}, opset=17,
                 becomes=[np.int64(9), np.array(weights, np.float64)])
    case("signal", "jumar.MelWeightMatrix", "MelWeightMatrix", [np.int64(6), np.int64(32), np.int64(8000), np.float32(0), np.float32(4000)], opset=17)


def losses():
    for reduction in ("none", "mean", "sum"):
        for weights in (None, np.abs(noise(4))):
            x, target = noise(2, 4, 3), whole(0, 4, 2, 3)
            feed = [x, target] if weights is None else [x, target, weights]
            attrs = {"reduction": reduction, "ignore_index": 1}
            case("losses", "NLLLoss", "NegativeLogLikelihoodLoss", feed, 1, attrs, opset=13, reference=True)
            case("losses", "SoftmaxCrossEntropyLoss", "SoftmaxCrossEntropyLoss", feed, 2, attrs, opset=13, reference=True)
    for dtype in (np.float32, np.float64):
        for shape in ((3, 2, 2, 2), (4, 2)):
            attrs = {"training_mode": 1, "momentum": 0.75, "epsilon": 0.0625}
            feed = [noise(*shape, dtype=dtype)] + [noise(2, dtype=dtype) for _ in range(3)] + [np.abs(noise(2, dtype=dtype))]
            case("batch_norm_training", "jumar.BatchNormTraining", "BatchNormalization", feed, 3, attrs,
                 {"momentum": 0.75, "epsilon": 0.0625}, opset=15, reference=True)
    training = "ai.onnx.preview.training"
    for dtype in (np.float32, np.float64):
        rate, x, g, v, h = dtype(0.25), noise(3, dtype=dtype), noise(3, dtype=dtype), noise(3, dtype=dtype), np.abs(noise(3, dtype=dtype))
        for count in (0, 4):
            attrs = {"norm_coefficient": 0.125, "decay_factor": 0.5, "epsilon": 0.0625}
            case("optimizers", "jumar.Adagrad", "Adagrad", [rate, np.int64(count), x, g, h], 2, attrs, reference=True, domain=training)
            for mode in ("standard", "nesterov"):
                attrs = {"norm_coefficient": 0.125, "alpha": 0.75, "beta": 0.5, "mode": mode}
                case("optimizers", "jumar.Momentum", "Momentum", [rate, np.int64(count), x, g, v], 2, attrs, reference=True, domain=training)
            attrs = {"norm_coefficient": 0.125, "alpha": 0.75, "beta": 0.5, "epsilon": 0.0625, "norm_coefficient_post": 0.25}
            case("optimizers", "jumar.Adam", "Adam", [rate, np.int64(count), x, g, v, h], 3, attrs, reference=True, domain=training)


def main():
    for make in (normalisations, windows, recurrent, attention, resized, quantised, positions, sums, losses):
        make()
    for name, found in FILES.items():
        with open(os.path.join(HERE, name + ".txt"), "w") as file:
            file.write("# Written by make.py.\n" + "\n".join(found) + "\n")
        print(name, len(found))


if __name__ == "__main__":
    main()
