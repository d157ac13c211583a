"""Constants, shapes, and moving elements about."""

import numpy as np

from cases import b, case, const, distinct, f, filed, i, refused, t, v, var

ANY = ["float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
SOME = ["float16", "int32", "int8"]
COMPLEX = ["complex64", "complex128"]

# --- inputs and constants ----------------------------------------------------------------------------------------------

case("Data", "handed on", {"x": f(2, 3)}, lambda x: x, types=["bfloat16", *ANY, *COMPLEX], code="ge::op::Identity op(\"op\");\nop.set_input_x(c.in(0));\nc.out(op);")
case("Data", "in the order of their indexes", {"a": f(2), "b": f(2)}, lambda a, b: a - 2 * b, code="""\
static_cast<ge::op::Data &>(c.in(0)).set_attr_index(0);
static_cast<ge::op::Data &>(c.in(1)).set_attr_index(1);
ge::op::Axpy op("op");
op.set_input_x1(c.in(0)).set_input_x2(c.in(1)).set_attr_alpha(-2.0f);
c.out(op);""")
case("RefData", "", {"x": f(2, 3)}, lambda x: x, types=["bfloat16", *ANY, *COMPLEX], code="""\
ge::op::RefData data("data");
const ge::TensorDesc desc(ge::Shape({2, 3}), ge::FORMAT_ND, c.given(0).type);
data.update_input_desc_x(desc);
data.update_output_desc_y(desc);
data.set_attr_index(0);
ge::op::Identity op("op");
op.set_input_x(data);
c.forget(0);
c.keep(data);
c.out(op);""")
case("Const", "handed on", {"x": const(f(2, 3))}, lambda x: x, types=["bfloat16", *ANY], code="ge::op::Identity op(\"op\");\nop.set_input_x(c.in(0));\nc.out(op);")
case("Const", "an output itself", {"x": const(f(2, 3))}, lambda x: x, code="c.out(c.in(0));")
case("Constant", "", {"x": const(f(2, 3))}, lambda x: x, types=["bfloat16", *ANY], code="""\
ge::op::Constant constant("constant");
ge::Tensor value;
c.in(0).GetAttr("value", value);
constant.set_attr_value(value);
ge::op::Identity op("op");
op.set_input_x(constant);
c.forget(0);
c.keep(constant);
c.out(op);""")
case("FileConstant", "", {"x": filed(f(3, 4))}, lambda x: x, types=["bfloat16", *ANY], code="""\
ge::op::FileConstant weights("weights");
weights.set_attr_file_path(c.file(0).c_str());
weights.set_attr_shape(std::vector<int64_t>{3, 4});
weights.set_attr_dtype(c.given(0).type);
ge::op::Identity op("op");
op.set_input_x(weights);
c.keep(weights);
c.out(op);""")
case("IdentityN", "", {"x": [f(2, 3), f(4)]}, lambda x: x, outs=2)
case("IdentityN", "of two types", {"x": [f(2, 3), i(4)]}, lambda x: x, outs=2, out=[None, "int32"])
case("Fill", "", {"dims": t([2, 3]), "value": v(1.5)}, lambda d, value: np.full((2, 3), value))
case("Fill", "integers", {"dims": t([2, 3], "int64"), "value": v(5)}, lambda d, value: np.full((2, 3), value), dtype="int32", types=["int64", "int8", "uint8", "bool"])
case("Range", "", {"start": const(v(1)), "limit": const(v(10)), "delta": const(v(3))}, lambda *a: np.arange(*a), dtype="int32", types=["int64"])
case("Range", "backwards", {"start": const(v(3.5)), "limit": const(v(0.0)), "delta": const(v(-0.5))}, lambda *a: np.arange(*a), types=["float64"])
case("Shape", "", {"x": f(2, 3, 4)}, lambda x: np.array([2, 3, 4]), types=["float16"], out="int32")
case("Shape", "int64", {"x": f(2, 3)}, lambda x: np.array([2, 3]), {"dtype": "int64"}, out="int64")
case("Size", "", {"x": f(2, 3, 4)}, lambda x: np.array(24), types=["float16"], out="int32")
case("Size", "int64", {"x": f(2, 3)}, lambda x: np.array(6), {"dtype": "int64"}, out="int64")

# --- other shapes ------------------------------------------------------------------------------------------------------

case("Reshape", "", {"x": f(2, 3, 4), "shape": t([4, 6])}, lambda x, s: x.reshape(4, 6), types=ANY)
case("Reshape", "the rest and what was there", {"x": f(2, 3, 4), "shape": t([0, -1], "int64")}, lambda x, s: x.reshape(2, 12))
case("Reshape", "some axes", {"x": f(2, 3, 4, 5), "shape": t([6, 2])}, lambda x, s: x.reshape(2, 6, 2, 5), {"axis": 1, "num_axes": 2})
case("Flatten", "", {"x": f(2, 3, 4)}, lambda x: x.reshape(2, 12), types=SOME)
case("Flatten", "before the last axis", {"x": f(2, 3, 4)}, lambda x: x.reshape(6, 4), {"axis": 2})
case("FlattenV2", "", {"x": f(2, 3, 4)}, lambda x: x.reshape(2, 12), types=SOME)
case("FlattenV2", "in the middle", {"x": f(2, 3, 4, 5)}, lambda x: x.reshape(2, 12, 5), {"axis": 1, "end_axis": 2})
case("Squeeze", "", {"x": f(2, 1, 3, 1)}, lambda x: x.reshape(2, 3), types=SOME)
case("Squeeze", "an axis", {"x": f(2, 1, 3, 1)}, lambda x: x.reshape(2, 1, 3), {"axis": [-1]})
case("SqueezeV3", "", {"x": f(2, 1, 3, 1), "axes": t([1], "int64")}, lambda x, a: x.reshape(2, 3, 1), types=SOME)
case("SqueezeV3", "all", {"x": f(2, 1, 3, 1)}, lambda x: x.reshape(2, 3))
case("Unsqueeze", "", {"x": f(2, 3)}, lambda x: x.reshape(2, 1, 3, 1), {"axes": [1, 3]}, types=SOME)
case("UnsqueezeV3", "", {"x": f(2, 3), "axes": t([0, -1], "int64")}, lambda x, a: x.reshape(1, 2, 3, 1), types=SOME)
case("ExpandDims", "", {"x": f(2, 3), "axis": t([1])}, lambda x, a: x.reshape(2, 1, 3), types=SOME)
case("ExpandDims", "from the end", {"x": f(2, 3), "axis": t(-1, "int64")}, lambda x, a: x.reshape(2, 3, 1))
case("Expand", "", {"x": f(3, 1), "shape": t([2, 3, 4])}, lambda x, s: np.broadcast_to(x, (2, 3, 4)), types=["float16", "int32", "int8", "uint8", "bool", "int64"])
case("Expand", "the other way, too", {"x": f(3, 4), "shape": t([3, 1], "int64")}, lambda x, s: x)
case("Tile", "", {"x": f(2, 3), "multiples": t([2, 3])}, lambda x, m: np.tile(x, (2, 3)), types=ANY)

# --- other orders ------------------------------------------------------------------------------------------------------

case("Transpose", "", {"x": f(2, 3, 4), "perm": t([2, 0, 1])}, lambda x, p: x.transpose(2, 0, 1), types=["bfloat16", *ANY])
case("TransposeD", "", {"x": f(2, 3, 4)}, lambda x: x.transpose(1, 2, 0), {"perm": [1, 2, 0]}, types=SOME)
case("Permute", "", {"x": f(2, 3, 4, 5)}, lambda x: x.transpose(0, 2, 3, 1), {"order": [0, 2, 3, 1]}, types=["float16"])


def depth_to_space(x, size, mode):
    """Channels first."""
    n, c, h, w = x.shape
    if mode == "DCR":
        return x.reshape(n, size, size, c // size**2, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, -1, h * size, w * size)
    return x.reshape(n, c // size**2, size, size, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, -1, h * size, w * size)


def space_to_depth(x, size):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // size, size, w // size, size).transpose(0, 3, 5, 1, 2, 4).reshape(n, -1, h // size, w // size)


def front(x):
    return x.transpose(0, 3, 1, 2)


def back(x):
    return x.transpose(0, 2, 3, 1)


case("DepthToSpace", "channels last when not said", {"x": f(2, 3, 4, 8)}, lambda x: back(depth_to_space(front(x), 2, "DCR")), {"block_size": 2}, types=["float16", "int32"])
case("DepthToSpace", "channels first", {"x": f(2, 8, 3, 4)}, lambda x: depth_to_space(x, 2, "DCR"), {"block_size": 2, "data_format": "NCHW"})
case("DepthToSpace", "the other order", {"x": f(2, 8, 3, 4)}, lambda x: depth_to_space(x, 2, "CRD"), {"block_size": 2, "mode": "CRD", "data_format": "NCHW"})
case("SpaceToDepth", "channels last when not said", {"x": f(2, 4, 6, 3)}, lambda x: back(space_to_depth(front(x), 2)), {"block_size": 2}, types=["float16", "int32"])
case("SpaceToDepth", "channels first", {"x": f(2, 3, 4, 6)}, lambda x: space_to_depth(x, 2), {"block_size": 2, "data_format": "NCHW"})


def reversed_parts(x, lengths, seq, batch):
    x = np.moveaxis(x.copy(), (batch, seq), (0, 1))
    for row, length in enumerate(lengths):
        x[row, :length] = x[row, :length][::-1].copy()
    return np.moveaxis(x, (0, 1), (batch, seq))


case("ReverseSequence", "", {"x": f(3, 4, 2), "seq_lengths": v([1, 4, 3], "int32")}, lambda x, n: reversed_parts(x, n, 1, 0), {"seq_dim": 1}, types=SOME)
case("ReverseSequence", "time first", {"x": f(4, 3), "seq_lengths": v([0, 4, 2], "int64")}, lambda x, n: reversed_parts(x, n, 0, 1), {"seq_dim": 0, "batch_dim": 1})

# --- parts and joints --------------------------------------------------------------------------------------------------

case("ConcatD", "", {"x": [f(2, 3), f(2, 1), f(2, 2)]}, lambda x: np.concatenate(x, 1), {"concat_dim": 1, "N": 3},
     types=["bfloat16", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
case("ConcatD", "from the end", {"x": [f(2, 3, 2), f(2, 1, 2)]}, lambda x: np.concatenate(x, 1), {"concat_dim": -2, "N": 2})
case("ConcatV2", "", {"x": [f(2, 3), f(1, 3)], "concat_dim": t(0)}, lambda x, d: np.concatenate(x), {"N": 2}, types=SOME)
case("Concat", "", {"concat_dim": t(1), "x": [f(2, 3), f(2, 1)]}, lambda d, x: np.concatenate(x, 1), {"N": 2}, types=SOME)
case("Pack", "", {"x": [f(2, 3), f(2, 3)]}, np.stack, {"N": 2}, types=SOME)
case("Pack", "in the last place", {"x": [f(2, 3), f(2, 3)]}, lambda x: np.stack(x, -1), {"N": 2, "axis": -1})
case("Split", "", {"split_dim": t(1), "x": f(2, 6)}, lambda d, x: np.split(x, 3, 1), {"num_split": 3}, outs=3, types=SOME)
case("SplitD", "", {"x": f(4, 3)}, lambda x: np.split(x, 2, 0), {"split_dim": 0, "num_split": 2}, outs=2, types=SOME)
case("SplitV", "", {"x": f(2, 6), "size_splits": t([1, 3, 2]), "split_dim": t(-1)}, lambda x, s, d: np.split(x, [1, 4], 1), {"num_split": 3}, outs=3, types=SOME)
case("SplitV", "the rest", {"x": f(2, 6), "size_splits": t([1, -1, 2], "int64"), "split_dim": t(1)}, lambda x, s, d: np.split(x, [1, 4], 1), {"num_split": 3}, outs=3)
case("SplitVD", "", {"x": f(2, 6)}, lambda x: np.split(x, [2], 1), {"size_splits": [2, 4], "split_dim": 1, "num_split": 2}, outs=2, types=SOME)


def sliced(name, dims, begin, end, want, axes=None, strides=None, dtype="int32", **rest):
    inputs = {"x": f(*dims), "begin": t(begin, dtype), "end": t(end, dtype)}
    if axes is not None:
        inputs["axes"] = t(axes, dtype)
    if strides is not None:
        inputs["strides"] = t(strides, dtype)
    case("StridedSliceV2", name, inputs, lambda x, *others: want(x), **rest)


sliced("", (4, 5), [1, 0], [3, 4], lambda x: x[1:3, 0:4], types=["bfloat16", *ANY])
sliced("axes and steps", (4, 5, 6), [-1, 1], [0, 100], lambda x: x[:, -1:0:-2, 1:100:3], [1, 2], [-2, 3], "int64")
sliced("far ends", (4, 5), [3, 0], [-(2**62), 2**62], lambda x: x[::-1], [0, 1], [-1, 1], "int64")
sliced("masks", (4, 5, 6), [1, 2, 3], [3, 4, 5], lambda x: x[:3, 2:, 3:5], strides=[1, 1, 1], attrs={"begin_mask": 1, "end_mask": 2})
sliced("an axis less", (4, 5, 6), [1, 2, 0], [2, 4, 6], lambda x: x[1, 2:4, 0:6], strides=[1, 1, 1], attrs={"shrink_axis_mask": 1})
sliced("a new axis", (4, 5), [0, 1, 2], [0, 3, 4], lambda x: x[np.newaxis, 1:3, 2:4], strides=[1, 1, 1], attrs={"new_axis_mask": 1})
sliced("an ellipsis", (4, 5, 6), [1, 0, 2], [3, 0, 4], lambda x: x[1:3, ..., 2:4], strides=[1, 1, 1], attrs={"ellipsis_mask": 2})

case("PadV3", "", {"x": f(2, 3), "paddings": t([[1, 2], [0, 3]])}, lambda x, p: np.pad(x, [(1, 2), (0, 3)]), types=ANY)
case("PadV3", "a value", {"x": f(2, 3), "paddings": t([[1, 2], [0, 3]], "int64"), "constant_values": const(v([7]))}, lambda x, p, value: np.pad(x, [(1, 2), (0, 3)], constant_values=7), types=SOME)
case("PadV3", "as ONNX has it", {"x": f(2, 3), "paddings": t([1, 0, 2, 3])}, lambda x, p: np.pad(x, [(1, 2), (0, 3)]), {"paddings_contiguous": False})
case("PadV3", "mirrored", {"x": f(4, 5), "paddings": t([[1, 2], [0, 3]])}, lambda x, p: np.pad(x, [(1, 2), (0, 3)], "reflect"), {"mode": "reflect"})
case("PadV3", "mirrored with the border itself", {"x": f(4, 5), "paddings": t([[1, 2], [0, 3]])}, lambda x, p: np.pad(x, [(1, 2), (0, 3)], "symmetric"), {"mode": "symmetric"})
case("PadV3", "from the other end", {"x": f(4, 5), "paddings": t([[1, 2], [0, 3]])}, lambda x, p: np.pad(x, [(1, 2), (0, 3)], "wrap"), {"mode": "circular"})
case("PadV3", "the edge again", {"x": f(4, 5), "paddings": t([[1, 2], [0, 3]])}, lambda x, p: np.pad(x, [(1, 2), (0, 3)], "edge"), {"mode": "edge"})
case("Pad", "", {"x": f(2, 3), "paddings": t([[1, 2], [0, 3]])}, lambda x, p: np.pad(x, [(1, 2), (0, 3)]), types=SOME)

case("ConjugateTranspose", "", {"x": f(2, 3, 4), "perm": t([2, 0, 1])}, lambda x, p: np.conj(x).transpose(2, 0, 1), types=["float16", "int32"])
case("SliceWithAxes", "", {"x": f(4, 5, 6), "offsets": t([1, 2]), "size": t([2, 3])}, lambda x, b, s: x[1:3, :, 2:5], {"axes": [0, 2]}, types=["float16", "int32"])
case("SliceWithAxes", "the rest", {"x": f(4, 5), "offsets": t([2], "int64"), "size": t([-1], "int64")}, lambda x, b, s: x[:, 2:], {"axes": [-1]})
refused("SliceWithAxes", "lists that differ", {"x": f(4, 5), "offsets": t([2, 1]), "size": t([1])}, "offsets, size and axes have 2, 1 and 1 entries", {"axes": [0]})


def written(x, begin, value):
    y = x.copy()
    y[tuple(slice(b, b + n) for b, n in zip(begin, value.shape))] = value
    return y


case("SliceWrite", "", {"x": f(4, 5), "begin": t([1, 2]), "value": f(2, 3)}, written, types=["float16", "int32"])
case("SliceWrite", "a variable", {"x": var(f(4, 5)), "begin": t([0, 0], "int64"), "value": f(4, 1)}, lambda *a: [written(*a)] * 2)
refused("SliceWrite", "beyond the end", {"x": f(4, 5), "begin": t([3, 0]), "value": f(2, 5)}, "it does not lie inside of x")


def slice_gradient(name, dims, index, begin, end, strides, dtype="int32", **rest):
    """`index` is the slice in NumPy's words."""
    shape = np.zeros(dims)[index].shape

    def want(s, b, e, n, dy):
        y = np.zeros(dims, dy.dtype)
        y[index] = dy
        return y

    case("StridedSliceGrad", name, {"shape": t(list(dims), dtype), "begin": t(begin, dtype), "end": t(end, dtype), "strides": t(strides, dtype), "dy": f(*shape)}, want, **rest)


slice_gradient("", (4, 5), np.s_[1:3, 0:4], [1, 0], [3, 4], [1, 1], types=["float16", "int32"])
slice_gradient("backwards, by steps", (4, 7), np.s_[::-1, 1:6:2], [-1, 1], [-100, 6], [-1, 2], "int64")
slice_gradient("masks", (4, 5, 6), np.s_[:3, 2, ..., 3:], [1, 2, 3], [3, 4, 5], [1, 1, 1], attrs={"begin_mask": 1, "end_mask": 4, "shrink_axis_mask": 2})
refused("StridedSliceGrad", "another shape", {"shape": t([4, 5]), "begin": t([1, 0]), "end": t([3, 4]), "strides": t([1, 1]), "dy": f(2, 5)}, "the slice has [2, 4]")


def pad_gradient(x, pads, mode):
    dims = [size - before - after for size, (before, after) in zip(x.shape, pads)]
    y = np.zeros(dims, x.dtype).ravel()
    if mode == "constant":
        return x[tuple(slice(before, before + size) for (before, _), size in zip(pads, dims))]
    where = np.pad(np.arange(y.size).reshape(dims), pads, {"circular": "wrap"}.get(mode, mode))
    np.add.at(y, where.ravel(), x.ravel())
    return y.reshape(dims)


for mode in ["reflect", "edge", "symmetric", "circular", "constant"]:
    case("PadV3Grad", mode, {"x": f(6, 9), "paddings": t([1, 2, 0, 3])}, lambda x, p, mode=mode: pad_gradient(x, [(1, 2), (0, 3)], mode), {"mode": mode}, types=["float16", "int32"] if mode == "reflect" else ())
case("PadV3Grad", "all that is before first", {"x": f(6, 9), "paddings": t([1, 0, 2, 3], "int64")}, lambda x, p: pad_gradient(x, [(1, 2), (0, 3)], "edge"), {"mode": "edge", "paddings_contiguous": False})
refused("PadV3Grad", "more than there is to reflect", {"x": f(6), "paddings": t([2, 2])}, "cannot pad 2 elements so far")
