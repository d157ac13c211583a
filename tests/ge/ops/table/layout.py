"""Further ways to make, to move and to join elements."""

import numpy as np

from cases import b, case, const, f, form, i, t, v

SOME = ["float16", "int32"]


def space_to_batch(x, block, pads):
    count = len(block)
    x = np.pad(x, [(0, 0), *pads, *[(0, 0)] * (x.ndim - 1 - count)])
    parts = []
    for offset in np.ndindex(*block):
        parts.append(x[(slice(None), *(slice(at, None, size) for at, size in zip(offset, block)))])
    return np.concatenate(parts)


def batch_to_space(x, block, crops):
    volume = int(np.prod(block))
    parts = np.split(x, volume)
    shape = [x.shape[0] // volume, *(size * part for size, part in zip(x.shape[1:], block)), *x.shape[1 + len(block) :]]
    y = np.zeros(shape, x.dtype)
    for part, offset in zip(parts, np.ndindex(*block)):
        y[(slice(None), *(slice(at, None, size) for at, size in zip(offset, block)))] = part
    return y[(slice(None), *(slice(low, y.shape[axis + 1] - high) for axis, (low, high) in enumerate(crops)))]


case("SpaceToBatchND", "", {"x": f(2, 4, 6, 3), "block_shape": t([2, 3]), "paddings": t([[0, 0], [0, 0]])}, lambda x, *_: space_to_batch(x, [2, 3], [(0, 0), (0, 0)]), types=SOME)
case("SpaceToBatchND", "padded, one axis", {"x": f(2, 5, 3), "block_shape": t([4]), "paddings": t([[1, 2]])}, lambda x, *_: space_to_batch(x, [4], [(1, 2)]))
case("BatchToSpaceND", "", {"x": f(12, 2, 2, 3), "block_shape": t([2, 3]), "crops": t([[0, 0], [0, 0]])}, lambda x, *_: batch_to_space(x, [2, 3], [(0, 0), (0, 0)]), types=SOME)
case("BatchToSpaceND", "cropped", {"x": f(8, 3, 2), "block_shape": t([4]), "crops": t([[1, 2]])}, lambda x, *_: batch_to_space(x, [4], [(1, 2)]))
case("Bias", "", {"x": f(2, 3, 4), "bias": const(f(3))}, lambda x, bias: x + bias[:, None], types=["float16"])
case("Bias", "two axes", {"x": f(2, 3, 4), "bias": const(f(3, 4))}, np.add, {"axis": 1, "num_axes": 2})
case("Scale", "", {"x": f(2, 3, 4), "scale": const(f(3)), "bias": const(f(3))}, lambda x, s, bias: x * s[:, None] + bias[:, None], types=["float16"])
case("Scale", "the last axis", {"x": f(2, 3, 4), "scale": const(f(4))}, np.multiply, {"axis": -1})
case("BroadcastTo", "", {"x": f(3, 1), "shape": t([2, 3, 4])}, lambda x, s: np.broadcast_to(x, (2, 3, 4)), types=[*SOME, "bool"])
case("BroadcastToD", "", {"x": f(3, 1)}, lambda x: np.broadcast_to(x, (2, 3, 4)), {"shape": [2, 3, 4]}, types=SOME)
case("Empty", "zeros", {"shape": t([2, 3])}, lambda s: np.zeros((2, 3)), {"dtype": "float32", "init": True})
case("Fills", "", {"x": f(2, 3)}, lambda x: np.full((2, 3), 3.0), {"value": 3.0}, types=SOME)
case("LinSpace", "", {"start": v(1.0), "stop": v(4.0), "num": t(7)}, lambda a, z, n: np.linspace(1, 4, 7), types=["float64"])
case("LinSpace", "of integers", {"start": v(1), "stop": v(10), "num": t(4)}, lambda a, z, n: np.array([1, 4, 7, 10]), dtype="int32", types=["int8", "int16", "uint8"])
case("LinSpace", "one", {"start": v(1.5), "stop": v(4.0), "num": t([1])}, lambda a, z, n: np.array([1.5]))
case("MirrorPad", "with the border itself", {"x": f(3, 4), "paddings": t([[1, 2], [0, 9]])}, lambda x, p: np.pad(x, [(1, 2), (0, 9)], "symmetric"), {"mode": "SYMMETRIC"})
case("MirrorPad", "", {"x": f(3, 4), "paddings": t([[1, 2], [0, 3]])}, lambda x, p: np.pad(x, [(1, 2), (0, 3)], "reflect"), {"mode": "REFLECT"}, types=SOME)
case("PadV2", "", {"x": f(3, 4), "paddings": t([[1, 2], [0, 3]]), "constant_values": const(v(5))}, lambda x, p, c: np.pad(x, [(1, 2), (0, 3)], constant_values=5), types=SOME)
case("Rank", "", {"x": f(2, 3, 4)}, lambda x: np.array(3), types=["float16"], out="int32")
case("ReverseV2", "", {"x": f(2, 3, 4), "axis": t([0, -1])}, lambda x, a: x[::-1, :, ::-1], types=SOME)
# What decides is computed by other nodes, and what it decided is read by others.
COMPUTED = """\
ge::op::Sub number("number");
number.set_input_x1(c.in(1)).set_input_x2(c.in(2));
{lines}
ge::op::Shape op("op");
op.set_input_x(made);
ge::op::Neg negated("negated");
negated.set_input_x(made);
c.out(negated);
c.out(op);"""
NUMBERS = {"a": i(1, lo=4, hi=5), "b": t([3])}
case("ReverseV2", "an axis that is computed", {"x": f(2, 3), **NUMBERS}, lambda x, *_: [-x[:, ::-1], np.array([2, 3])], out=[None, "int32"],
     code=COMPUTED.format(lines='ge::op::ReverseV2 made("made");\nmade.set_input_x(c.in(0)).set_input_axis(number);'))
case("LinSpace", "a number that is computed", {"x": f(), "a": i(lo=7, hi=8), "b": t(3)}, lambda x, *_: [-np.linspace(x, 2.0, 4), np.array([4])], out=[None, "int32"],
     code=COMPUTED.format(lines="""\
const float two = 2.0f;
ge::op::Const stop("stop");
stop.set_attr_value(ge::Tensor(ge::TensorDesc(ge::Shape(), ge::FORMAT_ND, ge::DT_FLOAT), reinterpret_cast<const uint8_t *>(&two), sizeof two));
ge::op::LinSpace made("made");
made.set_input_start(c.in(0)).set_input_stop(stop).set_input_num(number);"""))
case("SpaceToBatchND", "blocks that are computed", {"x": f(2, 4, 6), "a": i(1, lo=5, hi=6), "b": t([3])}, lambda x, *_: [-space_to_batch(x, [2], [(0, 0)]), np.array([4, 2, 6])], out=[None, "int32"],
     code=COMPUTED.format(lines="""\
const int64_t none[2] = {{0, 0}};
ge::op::Const pads("pads");
pads.set_attr_value(ge::Tensor(ge::TensorDesc(ge::Shape({{1, 2}}), ge::FORMAT_ND, ge::DT_INT64), reinterpret_cast<const uint8_t *>(none), sizeof none));
ge::op::SpaceToBatchND made("made");
made.set_input_x(c.in(0)).set_input_block_shape(number).set_input_paddings(pads);""".replace("{{","{").replace("}}","}")))
case("UnsortedSegmentSum", "a number of segments that is computed", {"x": f(3, 2), "a": i(lo=7, hi=8), "b": t(3)},
     lambda x, *_: [-np.stack([x[0] + x[2], x[1], 0 * x[0], 0 * x[0]]), np.array([4, 2])], out=[None, "int32"],
     code=COMPUTED.format(lines="""\
const int32_t ids[3] = {0, 1, 0};
ge::op::Const owners("owners");
owners.set_attr_value(ge::Tensor(ge::TensorDesc(ge::Shape({3}), ge::FORMAT_ND, ge::DT_INT32), reinterpret_cast<const uint8_t *>(ids), sizeof ids));
ge::op::UnsortedSegmentSum made("made");
made.set_input_x(c.in(0)).set_input_segment_ids(owners).set_input_num_segments(number);"""))
case("ReverseV2", "nothing", {"x": f(2, 3), "axis": t(np.zeros(0))}, lambda x, a: x)
case("ShapeN", "", {"x": [f(2, 3), f(4)]}, lambda x: [np.array([2, 3]), np.array([4])], outs=2, out="int32")
case("TileD", "", {"x": f(2, 3)}, lambda x: np.tile(x, (2, 3)), {"multiples": [2, 3]}, types=SOME)
case("Unpack", "", {"x": f(3, 4)}, lambda x: list(x), {"num": 3}, outs=3, types=SOME)
case("Unpack", "an axis", {"x": f(3, 2, 2)}, lambda x: [x[:, 0], x[:, 1]], {"num": 2, "axis": 1}, outs=2)
case("Slice", "", {"x": f(4, 5), "offsets": t([1, 2]), "size": t([2, -1])}, lambda x, o, s: x[1:3, 2:], types=SOME)
case("StridedSlice", "", {"x": f(4, 5), "begin": t([3, 1]), "end": t([0, 5]), "strides": t([-1, 2])}, lambda x, *_: x[3:0:-1, 1:5:2], types=SOME)
case("StridedSlice", "masks", {"x": f(4, 5, 6), "begin": t([1, 0, 2]), "end": t([2, 0, 9]), "strides": t([1, 1, 3])}, lambda x, *_: x[1, ..., 2::3], {"ellipsis_mask": 2, "shrink_axis_mask": 1, "end_mask": 4})
case("StridedSliceD", "", {"x": f(4, 5)}, lambda x: x[1:3, ::2], {"begin": [1, 0], "end": [3, 5], "strides": [1, 2]}, types=SOME)
case("StridedSliceD", "masks", {"x": f(4, 5)}, lambda x: x[-1, :3], {"begin": [-1, 2], "end": [0, 3], "strides": [1, 1], "shrink_axis_mask": 1, "begin_mask": 2})
case("NoOp", "runs before another", {"x": f(2, 3)}, lambda x: x, code="""\
ge::op::NoOp before("before");
ge::op::Identity op("op");
op.set_input_x(c.in(0)).AddControlInput(before);
c.out(op);""")


def shuffled(x, groups):
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, -1).swapaxes(1, 2).reshape(x.shape)


case("ShuffleChannel", "", {"x": f(2, 6, 2, 3)}, lambda x: shuffled(x, 3), {"group": 3}, types=["float16", "int32", "uint8"])
for planar in [False, True]:
    turn = (lambda x: x.transpose(0, 2, 3, 1)) if planar else (lambda x: x)
    back = (lambda x: x.transpose(0, 3, 1, 2)) if planar else (lambda x: x)
    kind = "NCHW" if planar else "NHWC"
    case("SpaceToBatchD", kind, {"x": form(kind, f(*((1, 2, 3, 4) if planar else (1, 3, 4, 2))))},
         lambda x, turn=turn, back=back: back(space_to_batch(turn(x), [2, 2], [[1, 0], [0, 2]])), {"block_size": 2, "paddings": [1, 0, 0, 2]})
    case("BatchToSpaceD", kind, {"x": form(kind, f(*((4, 2, 2, 3) if planar else (4, 2, 3, 2))))},
         lambda x, turn=turn, back=back: back(batch_to_space(turn(x), [2, 2], [[1, 0], [0, 2]])), {"block_size": 2, "crops": [1, 0, 0, 2]})
