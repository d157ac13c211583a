//! Choosing elements by index, and putting them back.

use jumar_ops::{Attr, Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::array::constant_int;
use super::formula::Formula;
use super::image::columns;
use super::op::{Op, same};
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Gather", |cx, op| {
        let axis = op.int("batch_dims")?;
        gathered(cx, op, axis)
    }),
    ("ArgMaxWithValue", |cx, op| {
        let (x, at) = (op.input("x")?, op.int("dimension")?);
        let axis = cx.ints(&[at]);
        let keep = Attrs::new().with("keep_dims", op.yes("keep_dims")?);
        let most = cx.one("ReduceMax", &[x, axis], keep)?;
        let axis = cx.reshape(axis, &[])?;
        let attrs = Attrs::new().with("dtype", DataType::Int32);
        let mut index = cx.one("ArgMaxV2", &[x, axis], attrs)?;
        if op.yes("keep_dims")? {
            index = cx.one("Unsqueeze", &[index], Attrs::new().with("axes", vec![at]))?;
        }
        Ok(vec![index, most])
    }),
    ("GatherElements", same),
    ("GatherNd", same),
    ("GatherV2", gather),
    ("GatherV2D", |cx, op| {
        let axis = op.int("axis")?;
        gathered(cx, op, axis)
    }),
    ("IndexPut", index_put),
    ("InplaceUpdate", |cx, op| {
        let (x, updates) = (op.input("x")?, op.input("v")?);
        scattered(cx, x, op.input("indices")?, updates, "none").map(|y| vec![y])
    }),
    ("MaskedFill", |cx, op| {
        let x = op.input("x")?;
        let dtype = cx.ty(x).dtype;
        let value = cx.cast(op.input("value")?, dtype)?;
        let mask = cx.cast(op.input("mask")?, DataType::Bool)?;
        Ok(vec![cx.one("SelectV2", &[mask, value, x], Attrs::new())?])
    }),
    ("MatrixBandPart", |cx, op| {
        let mut y = op.input("x")?;
        let lower = constant_int(cx, op.input("num_lower")?, "num_lower")?;
        let upper = constant_int(cx, op.input("num_upper")?, "num_upper")?;
        // Below zero all of them stay.
        for (count, diagonal, side) in [(lower, -lower, 1i64), (upper, upper, 0i64)] {
            if count >= 0 {
                let k = cx.ints(&[diagonal]);
                let k = cx.reshape(k, &[])?;
                y = cx.one("Trilu", &[y, k], Attrs::new().with("upper", side))?;
            }
        }
        Ok(vec![y])
    }),
    ("NMSWithMask", suppression_mask),
    ("NonMaxSuppressionV3", |cx, op| {
        op.only_default("offset")?;
        Ok(vec![suppressed(cx, op)?])
    }),
    ("NonMaxSuppressionV4", |cx, op| {
        let chosen = suppressed(cx, op)?;
        let count = cx.one("Size", &[chosen], Attrs::new())?;
        let count = cx.cast(count, DataType::Int32)?;
        if !op.yes("pad_to_max_output_size")? {
            return Ok(vec![chosen, count]);
        }
        // Zeros are behind the indices, up to as many as may be selected.
        let most = cx.reshape(op.input("max_output_size")?, &[1])?;
        let zero = cx.number(0.0, chosen)?;
        let zeros = cx.one("Fill", &[most, zero], Attrs::new())?;
        let all = cx.one(
            "ConcatD",
            &[chosen, zeros],
            Attrs::new().with("concat_dim", 0i64),
        )?;
        let begin = cx.ints(&[0]);
        let most = cx.cast(most, DataType::Int64)?;
        let inputs = [Some(all), Some(begin), Some(most)];
        let padded = cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)?[0];
        Ok(vec![padded, count])
    }),
    ("NonMaxSuppressionV6", suppression),
    ("NonMaxSuppressionV7", |cx, op| {
        if op.maybe("index_id").is_some() {
            return Err(unsupported("its input index_id is not supported"));
        }
        suppression(cx, op)
    }),
    ("NonZero", |cx, op| {
        let (turned, dtype) = (op.yes("transpose")?, op.dtype("dtype")?);
        nonzero_indices(cx, op, turned, dtype)
    }),
    ("OneHot", one_hot),
    ("OneHotD", |cx, op| {
        let depth = cx.ints(&[op.int("depth")?]);
        hot(cx, op, depth)
    }),
    ("ScatterNd", |cx, op| {
        let (updates, shape) = (op.input("x")?, op.input("shape")?);
        let zero = cx.number(0.0, updates)?;
        let x = cx.one("Fill", &[shape, zero], Attrs::new())?;
        let attrs = Attrs::new().with("reduction", "add");
        let inputs = [x, op.input("indices")?, updates];
        Ok(vec![cx.one("TensorScatterUpdate", &inputs, attrs)?])
    }),
    ("ScatterElements", same),
    ("Select", select),
    ("SelectV2", select),
    ("Sort", |cx, op| {
        let (x, axis) = (op.input("x")?, op.int("axis")?);
        let dims = cx.dims(x)?;
        let at = if axis < 0 {
            axis + dims.len() as i64
        } else {
            axis
        };
        let count = *usize::try_from(at)
            .ok()
            .and_then(|at| dims.get(at))
            .ok_or_else(|| {
                invalid(format!(
                    "its attribute axis is {axis}, and its input has {} dimensions",
                    dims.len()
                ))
            })?;
        let attrs = Attrs::new()
            .with("sorted", true)
            .with("dim", axis)
            .with("largest", op.yes("descending")?);
        let count = cx.ints(&[count]);
        cx.add_node("TopK", &[Some(x), Some(count)], attrs, 2)
    }),
    ("TensorScatterUpdate", same),
    ("TopK", same),
    ("TopKD", |cx, op| {
        let count = cx.ints(&[op.int("k")?]);
        top_k(cx, op, count)
    }),
    ("TopKV2D", |cx, op| top_k(cx, op, op.input("k")?)),
    ("TopKV2", |cx, op| top_k(cx, op, op.input("k")?)),
    ("Tril", |cx, op| triangle(cx, op, 0)),
    ("Triu", |cx, op| triangle(cx, op, 1)),
    ("Trilu", same),
    ("NonZeroWithValueShape", counted),
    ("NonZeroWithValueShapeV2", counted),
    ("Unique", |cx, op| {
        let dtype = op.dtype("out_idx")?;
        let x = op.input("x")?;
        let attrs = Attrs::new().with("sorted", Attr::Bool(false));
        let all = cx.add_node("jumar.Unique", &[Some(x)], attrs, 4)?;
        Ok(vec![all[0], cx.cast(all[2], dtype)?])
    }),
    ("UniqueWithCountsAndSorting", unique),
    ("UnsortedSegmentSum", |cx, op| {
        let (x, ids) = (op.input("x")?, op.input("segment_ids")?);
        let count = constant_int(cx, op.input("num_segments")?, "num_segments")?;
        Ok(vec![summed(cx, x, ids, count)?])
    }),
    ("Where", |cx, op| {
        nonzero_indices(cx, op, false, DataType::Int64)
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn gather(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let axis = op.input("axis")?;
    if op.int("batch_dims")? == 0 {
        let axis = cx.reshape(axis, &[])?;
        let attrs = Attrs::new().with("negative_index_support", op.yes("negative_index_support")?);
        let inputs = [op.input("x")?, op.input("indices")?, axis];
        return Ok(vec![cx.one("GatherV2", &inputs, attrs)?]);
    }
    let axis = constant_int(cx, axis, "axis")?;
    gathered(cx, op, axis)
}

/// Takes slices along an axis that is known. Where the first dimensions belong together, the batches are laid one behind the
/// other, and the indices are moved by where theirs begins.
pub(super) fn gathered(cx: &mut Cx, op: &Op<'_>, axis: i64) -> Answer {
    let (x, indices) = (op.input("x")?, op.input("indices")?);
    let has = |name: &str| {
        op.prototype
            .is_some_and(|own| own.attrs.iter().any(|(own, _)| *own == name))
    };
    let batch = if has("batch_dims") {
        op.int("batch_dims")?
    } else {
        0
    };
    let negative = has("negative_index_support") && op.yes("negative_index_support")?;
    let attrs = Attrs::new().with("negative_index_support", negative);
    if batch == 0 {
        let axis = cx.ints(&[axis]);
        let axis = cx.reshape(axis, &[])?;
        return Ok(vec![cx.one("GatherV2", &[x, indices, axis], attrs)?]);
    }
    let (own, positions) = (cx.dims(x)?, cx.dims(indices)?);
    let wrap = |number: i64, rank: usize| {
        usize::try_from(if number < 0 {
            number + rank as i64
        } else {
            number
        })
        .ok()
    };
    let axis = wrap(axis, own.len()).filter(|&axis| axis < own.len());
    let batch = wrap(batch, positions.len()).filter(|&batch| batch <= positions.len());
    let (Some(axis), Some(batch)) = (axis, batch) else {
        return Err(invalid("axis and batch_dims do not fit its inputs"));
    };
    if axis < batch || own[..batch] != positions[..batch] {
        return Err(invalid(format!(
            "x is {own:?} and indices are {positions:?}; their first {batch} dimensions have to agree, and axis has to lie behind"
        )));
    }
    if negative {
        return Err(unsupported(
            "negative_index_support together with batch_dims is not supported",
        ));
    }
    let product = |dims: &[i64]| dims.iter().product::<i64>();
    let (count, before) = (product(&own[..batch]), product(&own[batch..axis]));
    let (size, behind) = (own[axis], product(&own[axis + 1..]));
    let taken = product(&positions[batch..]);
    let x = cx.reshape(x, &[count, before, size, behind])?;
    let x = cx.transpose(x, &[0, 2, 1, 3])?;
    let x = cx.reshape(x, &[count * size, before, behind])?;
    let indices = cx.cast(indices, DataType::Int64)?;
    let indices = cx.reshape(indices, &[count, taken])?;
    let begins: Vec<i64> = (0..count).map(|at| at * size).collect();
    let begins = cx.ints(&begins);
    let begins = cx.reshape(begins, &[count, 1])?;
    let indices = cx.one("Add", &[indices, begins], Attrs::new())?;
    let first = cx.ints(&[0]);
    let first = cx.reshape(first, &[])?;
    let y = cx.one("GatherV2", &[x, indices, first], attrs)?;
    let y = cx.transpose(y, &[0, 2, 1, 3])?;
    let shape = [&own[..axis], &positions[batch..], &own[axis + 1..]].concat();
    Ok(vec![cx.reshape(y, &shape)?])
}

/// The indices of elements that are not zero: one per row, or one per column if transposed.
fn nonzero_indices(cx: &mut Cx, op: &Op<'_>, turned: bool, dtype: DataType) -> Answer {
    let x = op.input("x")?;
    let mut y = cx.one("NonZero", &[x], Attrs::new())?;
    if !turned {
        y = cx.transpose(y, &[1, 0])?;
    }
    Ok(vec![cx.cast(y, dtype)?])
}

/// Cuts values and their positions down to those that count. Positions hold all numbers of an axis one behind the other.
fn counted(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (value, index, count) = (op.input("value")?, op.input("index")?, op.input("count")?);
    let value = cx.reshape(value, &[-1])?;
    let (len, all) = (cx.dims(value)?[0], cx.dims(index)?);
    let positions: i64 = all.iter().product();
    if len == 0 || positions % len != 0 || cx.dims(count)?.iter().product::<i64>() != 1 {
        return Err(invalid(format!(
            "its inputs value, index and count have {len} elements and the shapes {all:?} and {:?}; a position in each axis for each value, and one number, are required",
            cx.dims(count)?
        )));
    }
    let index = cx.reshape(index, &[positions / len, len])?;
    let numbers: Vec<i64> = (0..len).collect();
    let numbers = cx.ints(&numbers);
    let count = cx.cast(count, DataType::Int64)?;
    let count = cx.reshape(count, &[])?;
    let kept = cx.one("Less", &[numbers, count], Attrs::new())?;
    let mut answer = Vec::with_capacity(2);
    for (value, axis) in [(value, 0i64), (index, 1)] {
        let attrs = Attrs::new().with("axis", axis);
        answer.push(cx.one("jumar.Compress", &[value, kept], attrs)?);
    }
    Ok(answer)
}

/// The attribute max_boxes_size is memory on the card; there is always enough here.
/// Returns the indices of the boxes of one image that stay, in the order of their scores.
fn suppressed(cx: &mut Cx, op: &Op<'_>) -> Result<ValueId, OpError> {
    let boxes = cx.reshape(op.input("boxes")?, &[1, -1, 4])?;
    let scores = cx.reshape(op.input("scores")?, &[1, 1, -1])?;
    let inputs = [
        boxes,
        scores,
        op.input("max_output_size")?,
        cx.cast(op.input("iou_threshold")?, DataType::Float32)?,
        cx.cast(op.input("score_threshold")?, DataType::Float32)?,
    ];
    let y = cx.one("NonMaxSuppressionV6", &inputs, Attrs::new())?;
    let y = columns(cx, y, 2, 3)?;
    cx.reshape(y, &[-1])
}

fn suppression(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let inputs = op.in_order()?;
    let attrs = Attrs::new().with("center_point_box", op.int("center_point_box")?);
    cx.add_node("NonMaxSuppressionV6", &inputs[..5], attrs, 1)
}

/// Writes slices of the first axis at indices of any shape.
pub(super) fn scattered(
    cx: &mut Cx,
    x: ValueId,
    indices: ValueId,
    updates: ValueId,
    how: &'static str,
) -> Result<ValueId, OpError> {
    let indices = cx.one("Unsqueeze", &[indices], Attrs::new().with("axes", vec![-1]))?;
    let attrs = Attrs::new().with("reduction", how);
    cx.one("TensorScatterUpdate", &[x, indices, updates], attrs)
}

/// Returns boxes with their scores as they are, their numbers, and which of them stay. The first box that overlaps counts, whatever the
/// scores are.
fn suppression_mask(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (all, limit) = (op.input("box_scores")?, op.float("iou_threshold")?);
    let dims = cx.dims(all)?;
    let &[count, 5 | 8] = &dims[..] else {
        return Err(invalid(format!(
            "its input box_scores has the shape {dims:?}; [boxes, 5] or [boxes, 8] is required"
        )));
    };
    if !(0.0..=1.0).contains(&limit) {
        return Err(invalid(format!(
            "its attribute iou_threshold is {limit}; it must be from 0 to 1"
        )));
    }
    let selected = columns(cx, all, 0, 5)?;
    let boxes = columns(cx, all, 0, 4)?;
    let boxes = cx.cast(boxes, DataType::Float32)?;
    let numbers: Vec<i64> = (0..count).collect();
    let numbers = cx.ints(&numbers);
    let f = Formula::new(cx);
    let scores = f.cast(f.from(count as f64, numbers)?, DataType::Float32)?;
    let threshold = f.number(f64::from(limit), boxes)?;
    let inputs = [
        f.reshape(boxes, &[1, count, 4])?,
        f.reshape(scores, &[1, 1, count])?,
        f.ints(&[count]),
        f.reshape(threshold, &[1])?,
    ];
    let chosen = f.node("NonMaxSuppressionV6", &inputs, Attrs::new())?;
    let chosen = columns(cx, chosen, 2, 3)?;
    let chosen = cx.reshape(chosen, &[-1])?;
    let f = Formula::new(cx);
    let ones = f.cast(f.plus(f.times(chosen, 0.0)?, 1.0)?, DataType::UInt8)?;
    let zero = f.number(0.0, ones)?;
    let zeros = f.node("Fill", &[f.ints(&[count]), zero], Attrs::new())?;
    let mask = scattered(cx, zeros, chosen, ones, "none")?;
    Ok(vec![selected, cx.cast(numbers, DataType::Int32)?, mask])
}

/// Returns the sums of the elements of each of `count` segments. Elements whose ids lie outside of the segments are dropped.
pub(super) fn summed(
    cx: &mut Cx,
    x: ValueId,
    ids: ValueId,
    count: i64,
) -> Result<ValueId, OpError> {
    let (own, rank) = (cx.dims(x)?, cx.rank(ids)?);
    let rest = own
        .get(rank..)
        .ok_or_else(|| invalid("its ids of segments have more dimensions than its elements"))?;
    // Elements without a segment go to one more, which is cut off: ids below 0 and ids past the end.
    let shape = cx.ints(&[&[count + 1], rest].concat());
    let zero = cx.number(0.0, x)?;
    let zeros = cx.one("Fill", &[shape, zero], Attrs::new())?;
    let (least, end) = (cx.number(0.0, ids)?, cx.number(count as f64, ids)?);
    let below = cx.one("Less", &[ids, least], Attrs::new())?;
    let ids = cx.one("SelectV2", &[below, end, ids], Attrs::new())?;
    let ids = cx.one("Minimum", &[ids, end], Attrs::new())?;
    let all = scattered(cx, zeros, ids, x, "add")?;
    rows(cx, all, 0, count)
}

/// Writes rows of the first axis at listed indices, or adds them.
fn index_put(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, mut rows, listed) = (op.input("x1")?, op.input("x2")?, op.ints("indices")?);
    let how = match op.int("accumulate")? {
        0 => "none",
        1 => "add",
        other => {
            return Err(invalid(format!(
                "its attribute accumulate is {other}; it must be 0 or 1"
            )));
        }
    };
    let own = cx.dims(x)?;
    let &[size, ref rest @ ..] = &own[..] else {
        return Err(invalid(
            "its input x1 has no dimensions; 1 at least is required",
        ));
    };
    if let Some(index) = listed.iter().find(|index| !(-size..size).contains(*index)) {
        return Err(invalid(format!(
            "its attribute indices has {index}, and the first dimension of x1 is {size}; indices must be from {} to {}",
            -size,
            size - 1
        )));
    }
    let all = [&[listed.len() as i64], rest].concat();
    if cx.dims(rows)? != all {
        let dims = cx.ints(&all);
        rows = cx.one("Expand", &[rows, dims], Attrs::new())?;
    }
    let wrapped: Vec<i64> = listed.iter().map(|index| index.rem_euclid(size)).collect();
    let indices = cx.ints(&wrapped);
    Ok(vec![scattered(cx, x, indices, rows, how)?])
}

/// Selects rows by their numbers.
pub(super) fn take_rows(cx: &mut Cx, x: ValueId, indices: ValueId) -> Result<ValueId, OpError> {
    let axis = cx.ints(&[0]);
    let axis = cx.reshape(axis, &[])?;
    cx.one("GatherV2", &[x, indices, axis], Attrs::new())
}

/// Returns the rows from one up to another.
pub(super) fn rows(cx: &mut Cx, x: ValueId, from: i64, to: i64) -> Result<ValueId, OpError> {
    let (begin, end, axes) = (cx.ints(&[from]), cx.ints(&[to]), cx.ints(&[0]));
    let inputs = [Some(x), Some(begin), Some(end), Some(axes)];
    Ok(cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)?[0])
}

/// Returns for each of `count` positions in which part it lies, by the ascending ends of the parts, which are int64.
pub(super) fn owners(cx: &mut Cx, ends: ValueId, count: i64) -> Result<ValueId, OpError> {
    let positions: Vec<i64> = (0..count).collect();
    let positions = cx.ints(&positions);
    let positions = cx.reshape(positions, &[count, 1])?;
    let ends = cx.reshape(ends, &[1, -1])?;
    let before = cx.one("LessEqual", &[ends, positions], Attrs::new())?;
    let before = cx.cast(before, DataType::Int64)?;
    let axes = cx.ints(&[1]);
    let attrs = Attrs::new().with("noop_with_empty_axes", false);
    cx.one("ReduceSum", &[before, axes], attrs)
}

fn one_hot(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let depth = op.input("depth")?;
    hot(cx, op, depth)
}

fn hot(cx: &mut Cx, op: &Op<'_>, depth: ValueId) -> Answer {
    let mut values = [op.input("on_value")?, op.input("off_value")?];
    cx.promote(&mut values)?;
    let x = op.input("x")?;
    let x = if cx.ty(x).dtype == DataType::UInt8 {
        cx.cast(x, DataType::Int32)?
    } else {
        // TensorFlow selects nothing by a negative index, where ONNX counts from the end: so does none beyond the last one.
        let f = Formula::new(cx);
        let beyond = f.reshape(f.cast(depth, f.dtype(x))?, &[])?;
        f.choose(f.below(x, 0.0)?, beyond, x)?
    };
    let attrs = Attrs::new().with("axis", op.int("axis")?);
    Ok(vec![cx.one(
        "OneHot",
        &[x, depth, values[0], values[1]],
        attrs,
    )?])
}

fn select(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let condition = op.input("condition")?;
    let condition = cx.cast(condition, DataType::Bool)?;
    let named = |one: &str, other: &str| op.input(one).or_else(|_| op.input(other));
    let mut both = [named("then", "x1")?, named("else", "x2")?];
    cx.promote(&mut both)?;
    Ok(vec![cx.one(
        "SelectV2",
        &[condition, both[0], both[1]],
        Attrs::new(),
    )?])
}

fn top_k(cx: &mut Cx, op: &Op<'_>, count: ValueId) -> Answer {
    let attrs = Attrs::new()
        .with("sorted", op.yes("sorted")?)
        .with("dim", op.int("dim")?)
        .with("largest", op.yes("largest")?);
    cx.add_node("TopK", &[Some(op.input("x")?), Some(count)], attrs, 2)
}

fn triangle(cx: &mut Cx, op: &Op<'_>, upper: i64) -> Answer {
    let x = op.input("x")?;
    let k = cx.ints(&[op.int("diagonal")?]);
    let k = cx.reshape(k, &[])?;
    Ok(vec![cx.one(
        "Trilu",
        &[x, k],
        Attrs::new().with("upper", upper),
    )?])
}

fn unique(cx: &mut Cx, op: &Op<'_>) -> Answer {
    if !op.yes("sorted")? {
        return Err(unsupported("sorted = false is not supported"));
    }
    let x = op.input("x")?;
    let attrs = Attrs::new().with("sorted", Attr::Bool(true));
    let all = cx.add_node("jumar.Unique", &[Some(x)], attrs, 4)?;
    Ok(vec![all[0], all[2], all[3]])
}
