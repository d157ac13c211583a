//! Further ways to make, to move and to join elements, over those that are there.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::super::FORMAT_NCHW;
use super::array::constant_int;
use super::elementwise::in_float;
use super::op::Op;
use super::slice::{numbers, reversed};
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("BatchToSpace", |cx, op| batches(cx, op, "crops", false)),
    ("BatchToSpaceD", |cx, op| batches(cx, op, "crops", false)),
    ("BatchToSpaceND", |cx, op| batches(cx, op, "crops", false)),
    ("Bias", |cx, op| {
        let bias = op.input("bias")?;
        let x = op.input("x")?;
        let bias = broadcast_channels(cx, op, x, bias)?;
        Ok(vec![cx.one("Add", &[x, bias], plain())?])
    }),
    ("BroadcastTo", |cx, op| {
        let inputs = [op.input("x")?, op.input("shape")?];
        Ok(vec![cx.one("Expand", &inputs, plain())?])
    }),
    ("BroadcastToD", |cx, op| {
        let shape = cx.ints(op.ints("shape")?);
        Ok(vec![cx.one("Expand", &[op.input("x")?, shape], plain())?])
    }),
    ("Empty", |cx, op| {
        let value = Tensor::scalar(op.dtype("dtype")?, 0.0)?;
        let value = cx.add_constant(value);
        Ok(vec![cx.one(
            "Fill",
            &[op.input("shape")?, value],
            plain(),
        )?])
    }),
    ("Fills", |cx, op| {
        let x = op.input("x")?;
        let value = cx.number(f64::from(op.float("value")?), x)?;
        let attrs = plain().with("dtype", i64::from(DataType::Int64.acl()));
        let dims = cx.one("Shape", &[x], attrs)?;
        Ok(vec![cx.one("Fill", &[dims, value], plain())?])
    }),
    ("LinSpace", |cx, op| {
        let (start, stop) = (op.input("start")?, op.input("stop")?);
        let given = cx.ty(start).dtype;
        let start = in_float(cx, start, DataType::Float64)?;
        let stop = in_float(cx, stop, DataType::Float64)?;
        let count = constant_int(cx, op.input("num")?, "num")?;
        if !(1..=1 << 30).contains(&count) {
            return Err(invalid(format!("its input num is {count}")));
        }
        let dtype = cx.ty(start).dtype;
        let parts: Vec<f32> = (0..count).map(|at| at as f32).collect();
        let parts = cx.add_constant(Tensor::from_floats(&parts));
        let parts = cx.cast(parts, dtype)?;
        let way = cx.one("Sub", &[stop, start], plain())?;
        let divisor = cx.number((count - 1).max(1) as f64, start)?;
        let step = cx.one("RealDiv", &[way, divisor], plain())?;
        let step = cx.reshape(step, &[1])?;
        let start = cx.reshape(start, &[1])?;
        let y = cx.one("Mul", &[parts, step], plain())?;
        let y = cx.one("Add", &[start, y], plain())?;
        Ok(vec![cx.cast(y, given)?])
    }),
    ("MirrorPad", |cx, op| {
        let mode = match op.text("mode")? {
            "REFLECT" => "reflect",
            "SYMMETRIC" => "symmetric",
            other => {
                return Err(invalid(format!(
                    "its attribute mode is {other}; it must be REFLECT or SYMMETRIC"
                )));
            }
        };
        let inputs = [op.input("x")?, op.input("paddings")?];
        Ok(vec![cx.one(
            "PadV3",
            &inputs,
            plain().with("mode", mode),
        )?])
    }),
    ("NoOp", |_, _| Ok(Vec::new())),
    ("PadV2", |cx, op| {
        let x = op.input("x")?;
        let dtype = cx.ty(x).dtype;
        let value = cx.cast(op.input("constant_values")?, dtype)?;
        Ok(vec![cx.one(
            "PadV3",
            &[x, op.input("paddings")?, value],
            plain(),
        )?])
    }),
    ("Rank", |cx, op| {
        let rank = cx.rank(op.input("x")?)?;
        let rank = Tensor::scalar(DataType::Int32, rank as f64)?;
        Ok(vec![cx.add_constant(rank)])
    }),
    ("ShuffleChannel", |cx, op| {
        let (x, groups) = (op.input("x")?, op.int("group")?);
        let dims = cx.dims(x)?;
        let channels = dims.get(1).copied().unwrap_or(0);
        if groups < 1 || channels % groups.max(1) != 0 || dims.len() < 2 {
            return Err(invalid(format!(
                "its attribute group is {groups}, which does not divide the channels of {dims:?}"
            )));
        }
        let parts = cx.reshape(x, &[dims[0], groups, channels / groups, -1])?;
        let parts = cx.transpose(parts, &[0, 2, 1, 3])?;
        Ok(vec![cx.reshape(parts, &dims)?])
    }),
    ("ReverseV2", |cx, op| {
        let axes = numbers(cx, op.input("axis")?, "axis")?;
        let x = op.input("x")?;
        Ok(vec![reversed(cx, x, &axes)?])
    }),
    ("Scale", |cx, op| {
        let x = op.input("x")?;
        let scale = broadcast_channels(cx, op, x, op.input("scale")?)?;
        let mut y = cx.one("Mul", &[x, scale], plain())?;
        if let Some(bias) = op.maybe("bias") {
            let bias = broadcast_channels(cx, op, x, bias)?;
            y = cx.one("Add", &[y, bias], plain())?;
        }
        Ok(vec![y])
    }),
    ("ShapeN", |cx, op| {
        let dtype = i64::from(op.dtype("dtype")?.acl());
        op.list("x")?
            .into_iter()
            .map(|x| cx.one("Shape", &[x], plain().with("dtype", dtype)))
            .collect()
    }),
    ("SpaceToBatch", |cx, op| batches(cx, op, "paddings", true)),
    ("SpaceToBatchD", |cx, op| batches(cx, op, "paddings", true)),
    ("SpaceToBatchND", |cx, op| batches(cx, op, "paddings", true)),
    ("TileD", |cx, op| {
        let multiples = cx.ints(op.ints("multiples")?);
        Ok(vec![cx.one(
            "Tile",
            &[op.input("x")?, multiples],
            plain(),
        )?])
    }),
    ("Unpack", |cx, op| {
        let (x, count, at) = (op.input("x")?, op.int("num")?, op.int("axis")?);
        let outputs = usize::try_from(count)
            .ok()
            .filter(|&count| (1..=65_536).contains(&count))
            .ok_or_else(|| invalid(format!("its attribute num is {count}")))?;
        let axis = cx.ints(&[at]);
        let axis = cx.reshape(axis, &[])?;
        let ones = cx.ints(&vec![1; outputs]);
        let attrs = plain().with("num_split", count);
        let inputs = [Some(x), Some(ones), Some(axis)];
        cx.add_node("SplitV", &inputs, attrs, outputs)?
            .into_iter()
            .map(|one| cx.one("Squeeze", &[one], plain().with("axis", vec![at])))
            .collect()
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn plain() -> Attrs {
    Attrs::new()
}

/// A factor or an offset at the axes of x that begin with the attribute axis, as Caffe has it.
fn broadcast_channels(
    cx: &mut Cx,
    op: &Op<'_>,
    x: ValueId,
    value: ValueId,
) -> Result<ValueId, OpError> {
    let dtype = cx.ty(x).dtype;
    let value = cx.cast(value, dtype)?;
    let (rank, own) = (cx.rank(x)? as i64, cx.dims(value)?);
    let axis = op.int("axis")?;
    let first = if axis < 0 { axis + rank } else { axis };
    let behind = rank - first - own.len() as i64;
    if own.iter().product::<i64>() == 1 {
        return cx.reshape(value, &vec![1; rank as usize]);
    }
    if first < 0 || behind < 0 {
        return Err(invalid(format!(
            "{} dimensions from axis {axis} do not fit {rank}",
            own.len()
        )));
    }
    cx.reshape(value, &[&own[..], &vec![1; behind as usize]].concat())
}

/// Moves blocks of the axes behind the first one into the batch, or back.
fn batches(cx: &mut Cx, op: &Op<'_>, edges: &str, into: bool) -> Answer {
    let x = op.input("x")?;
    let is_planar = op.desc("x").is_some_and(|desc| desc.format == FORMAT_NCHW);
    if is_planar && op.maybe("block_shape").is_none() && cx.rank(x)? == 4 {
        let x = cx.transpose(x, &[0, 2, 3, 1])?;
        let y = batches_of(cx, op, x, edges, into)?;
        return Ok(vec![cx.transpose(y[0], &[0, 3, 1, 2])?]);
    }
    batches_of(cx, op, x, edges, into)
}

fn batches_of(cx: &mut Cx, op: &Op<'_>, x: ValueId, edges: &str, into: bool) -> Answer {
    // The older operators have one size for two axes.
    let block = match op.maybe("block_shape") {
        Some(block) => numbers(cx, block, "block_shape")?,
        None => vec![op.int("block_size")?; 2],
    };
    let edge = match op.maybe(edges) {
        Some(edge) => numbers(cx, edge, edges)?,
        None => op.ints(edges)?.to_vec(),
    };
    let count = block.len();
    let dims = cx.dims(x)?;
    if edge.len() != 2 * count || dims.len() <= count || block.iter().any(|&size| size < 1) {
        return Err(invalid(format!(
            "blocks {block:?} with {edges} {edge:?} do not fit {dims:?}"
        )));
    }
    let volume: i64 = block.iter().product();
    if into {
        let mut pads = vec![0; 2 * dims.len()];
        pads[2..2 + 2 * count].copy_from_slice(&edge);
        let pads = cx.ints(&pads);
        let pads = cx.reshape(pads, &[dims.len() as i64, 2])?;
        let x = cx.one("PadV3", &[x, pads], plain())?;
        let padded = cx.dims(x)?;
        let mut cut = vec![padded[0]];
        for (at, &size) in block.iter().enumerate() {
            if padded[at + 1] % size != 0 {
                return Err(invalid(format!(
                    "an axis of {} cannot be cut into blocks of {size}",
                    padded[at + 1]
                )));
            }
            cut.extend([padded[at + 1] / size, size]);
        }
        cut.extend_from_slice(&padded[count + 1..]);
        let x = cx.reshape(x, &cut)?;
        let (counted, parts) = (1..=count as i64)
            .map(|at| (2 * at - 1, 2 * at))
            .unzip::<_, _, Vec<_>, Vec<_>>();
        let rest: Vec<i64> = (2 * count as i64 + 1..cut.len() as i64).collect();
        let x = cx.transpose(x, &[&parts[..], &[0], &counted, &rest].concat())?;
        let mut shape = vec![padded[0] * volume];
        shape.extend(
            block
                .iter()
                .enumerate()
                .map(|(at, &size)| padded[at + 1] / size),
        );
        shape.extend_from_slice(&padded[count + 1..]);
        return Ok(vec![cx.reshape(x, &shape)?]);
    }
    if dims[0] % volume != 0 {
        return Err(invalid(format!(
            "a batch of {} holds no blocks {block:?}",
            dims[0]
        )));
    }
    let cut = [&block[..], &[dims[0] / volume], &dims[1..]].concat();
    let x = cx.reshape(x, &cut)?;
    let k = count as i64;
    let mut order = vec![k];
    for at in 0..k {
        order.extend([k + 1 + at, at]);
    }
    order.extend(2 * k + 1..cut.len() as i64);
    let x = cx.transpose(x, &order)?;
    let mut shape = vec![dims[0] / volume];
    shape.extend(
        block
            .iter()
            .enumerate()
            .map(|(at, &size)| dims[at + 1] * size),
    );
    shape.extend_from_slice(&dims[count + 1..]);
    let x = cx.reshape(x, &shape)?;
    let begin: Vec<i64> = edge.iter().step_by(2).copied().collect();
    let end: Vec<i64> = (0..count)
        .map(|at| shape[at + 1] - edge[2 * at + 1])
        .collect();
    let axes: Vec<i64> = (1..=k).collect();
    let lists = [begin, end, axes].map(|list| cx.ints(&list));
    let inputs: Vec<_> = std::iter::once(x).chain(lists).map(Some).collect();
    cx.add_node("StridedSliceV2", &inputs, plain(), 1)
}
