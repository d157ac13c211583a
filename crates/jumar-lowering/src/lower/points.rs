//! Points: coordinates, boxes, polygons and balls around centres.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::image::columns;
use super::index::{owners, summed, take_rows};
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AnchorResponseFlags", anchor_flags),
    ("BallQuery", ball_query),
    ("Coordinates1DTo2D", |cx, op| {
        let (x, shape) = (op.input("x")?, op.input("shape")?);
        if cx.dims(shape)? != [4] {
            return Err(invalid(format!(
                "its input shape has the shape {:?}; 4 numbers are required",
                cx.dims(shape)?
            )));
        }
        let (begin, end, axes) = (cx.ints(&[3]), cx.ints(&[4]), cx.ints(&[0]));
        let inputs = [Some(shape), Some(begin), Some(end), Some(axes)];
        let width = cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)?[0];
        let width = cx.reshape(width, &[])?;
        let dtype = cx.ty(x).dtype;
        let width = cx.cast(width, dtype)?;
        let row = cx.one("Div", &[x, width], Attrs::new())?;
        let column = cx.one("Mod", &[x, width], Attrs::new())?;
        Ok(vec![row, column, width])
    }),
    ("NormalizeBBox", |cx, op| {
        let (boxes, sizes) = (op.input("boxes")?, op.input("shape_hw")?);
        let (dtype, dims) = (cx.ty(boxes).dtype, cx.dims(boxes)?);
        let rank = dims.len();
        let axis = if op.yes("reversed_box")? {
            1
        } else {
            rank.saturating_sub(1)
        };
        if rank < 2 || dims[axis] != 4 || cx.dims(sizes)? != [dims[0], 3] {
            return Err(invalid(format!(
                "its inputs boxes and shape_hw have the shapes {dims:?} and {:?}; axis {axis} of the boxes must have 4 coordinates, and the sizes must have 3 numbers for each of their first axis",
                cx.dims(sizes)?
            )));
        }
        let sizes = columns(cx, sizes, 0, 2)?;
        let attrs = Attrs::new().with("concat_dim", 1i64).with("N", 2i64);
        let sizes = cx.one("ConcatD", &[sizes, sizes], attrs)?;
        let mut along = vec![1; rank];
        (along[0], along[axis]) = (dims[0], 4);
        let sizes = cx.reshape(sizes, &along)?;
        let f = Formula::new(cx);
        let y = f.div(
            f.cast(boxes, DataType::Float32)?,
            f.cast(sizes, DataType::Float32)?,
        )?;
        Ok(vec![f.cast(y, dtype)?])
    }),
    ("PointsInPolygons", points_in_polygons),
    ("StackBallQuery", stacked_balls),
    ("StackGroupPoints", |cx, op| {
        let (features, indices) = (op.input("features")?, op.input("indices")?);
        let (counts, owned) = (
            op.input("features_batch_cnt")?,
            op.input("indices_batch_cnt")?,
        );
        let (dims, groups) = (cx.dims(features)?, cx.dims(indices)?);
        if dims.len() != 2 || groups.len() != 2 {
            return Err(invalid(format!(
                "its inputs features and indices have the shapes {dims:?} and {groups:?}; 2 dimensions each are required"
            )));
        }
        let axis = cx.add_constant(Tensor::scalar(DataType::Int64, 0.0)?);
        let owned = cx.cast(owned, DataType::Int64)?;
        let ends = cx.one("Cumsum", &[owned, axis], Attrs::new())?;
        let batches = owners(cx, ends, groups[0])?;
        let counts = cx.cast(counts, DataType::Int64)?;
        let attrs = Attrs::new().with("exclusive", true);
        let begins = cx.one("Cumsum", &[counts, axis], attrs)?;
        let begins = take_rows(cx, begins, batches)?;
        let begins = cx.reshape(begins, &[-1, 1])?;
        let indices = cx.cast(indices, DataType::Int64)?;
        let positions = cx.one("Add", &[indices, begins], Attrs::new())?;
        let y = take_rows(cx, features, positions)?;
        Ok(vec![cx.transpose(y, &[0, 2, 1])?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Marks the anchors of the cells of a feature map in which the centres of boxes lie. Centres outside of the map mark nothing.
fn anchor_flags(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let boxes = op.input("gt_bboxes")?;
    let dims = cx.dims(boxes)?;
    let (map, strides) = (op.ints("featmap_size")?, op.ints("strides")?);
    let anchors = op.int("num_base_anchors")?;
    let (&[height, width], &[step_x, step_y]) = (map, strides) else {
        return Err(invalid(format!(
            "its attributes featmap_size and strides are {map:?} and {strides:?}; 2 numbers each are required"
        )));
    };
    if dims.len() != 2 || dims[1] != 4 || height.min(width).min(step_x).min(step_y).min(anchors) < 1
    {
        return Err(invalid(format!(
            "its input gt_bboxes has the shape {dims:?}, featmap_size is {map:?}, strides {strides:?} and num_base_anchors {anchors}; [boxes, 4] and positive numbers are required"
        )));
    }
    let mut corners = Vec::with_capacity(4);
    for at in 0..4 {
        let one = columns(cx, boxes, at, at + 1)?;
        corners.push(cx.reshape(one, &[-1])?);
    }
    let f = Formula::new(cx);
    let cell = |low, high, step: i64| {
        let centre = f.times(f.add(low, high)?, 0.5)?;
        let step = f.number(step as f64, centre)?;
        f.cast(f.of("Floor", f.div(centre, step)?)?, DataType::Int64)
    };
    let (x, y) = (
        cell(corners[0], corners[2], step_x)?,
        cell(corners[1], corners[3], step_y)?,
    );
    let within = f.node(
        "LogicalAnd",
        &[f.above(x, -1.0)?, f.below(x, width as f64)?],
        Attrs::new(),
    )?;
    let position = f.add(f.times(y, width as f64)?, x)?;
    let position = f.choose(within, position, f.number(-1.0, position)?)?;
    let one = f.number(1.0, position)?;
    let shape = cx.ints(&[dims[0]]);
    let ones = cx.one("Fill", &[shape, one], Attrs::new())?;
    let counts = summed(cx, ones, position, height * width)?;
    let f = Formula::new(cx);
    let marks = f.cast(f.above(counts, 0.0)?, DataType::UInt8)?;
    let marks = f.reshape(marks, &[-1, 1])?;
    let shape = cx.ints(&[height * width, anchors]);
    let all = cx.one("Expand", &[marks, shape], Attrs::new())?;
    Ok(vec![cx.reshape(all, &[-1])?])
}

/// Selects coordinates of points by the position in their last axis.
fn coordinate(cx: &mut Cx, x: ValueId, at: i64) -> Result<ValueId, OpError> {
    let (begin, end, axes) = (cx.ints(&[at]), cx.ints(&[at + 1]), cx.ints(&[-1]));
    let inputs = [Some(x), Some(begin), Some(end), Some(axes)];
    Ok(cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)?[0])
}

/// Returns the numbers of the first points around each centre whose distance lies between two radii; the first one again where
/// there are fewer, and 0 where there is none.
fn ball_query(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (points, centres) = (op.input("xyz")?, op.input("center_xyz")?);
    let (all, around) = (cx.dims(points)?, cx.dims(centres)?);
    let (least, most) = (
        f64::from(op.float("min_radius")?),
        f64::from(op.float("max_radius")?),
    );
    let samples = op.int("sample_num")?;
    let fits =
        all.len() == 3 && around.len() == 3 && all[2] == 3 && around[2] == 3 && all[0] == around[0];
    if !fits || samples < 1 {
        return Err(invalid(format!(
            "its inputs xyz and center_xyz have the shapes {all:?} and {around:?}, and sample_num is {samples}; [B, N, 3] and [B, M, 3] are required, and 1 sample at least"
        )));
    }
    let count = all[1];
    let points = cx.cast(points, DataType::Float32)?;
    let centres = cx.cast(centres, DataType::Float32)?;
    let points = cx.reshape(points, &[all[0], 1, count, 3])?;
    let centres = cx.reshape(centres, &[all[0], around[1], 1, 3])?;
    let f = Formula::new(cx);
    let distance = f.sum(f.square(f.sub(points, centres)?)?, &[3], false)?;
    let near = f.below(distance, most * most)?;
    let far = f.of("LogicalNot", f.below(distance, least * least)?)?;
    let here = f.equal(distance, f.number(0.0, distance)?)?;
    let within = f.node("LogicalAnd", &[near, far], Attrs::new())?;
    let within = f.node("LogicalOr", &[within, here], Attrs::new())?;
    let (chosen, first, absent) = first_within(cx, within, samples)?;
    let f = Formula::new(cx);
    let first = f.only(f.less(first, absent)?, first)?;
    let y = f.choose(f.less(chosen, absent)?, chosen, first)?;
    Ok(vec![f.cast(y, DataType::Int32)?])
}

/// Returns the numbers of the first `samples` entries of the last axis that are true, the first of them, and the number that stands
/// for none.
fn first_within(
    cx: &mut Cx,
    within: ValueId,
    samples: i64,
) -> Result<(ValueId, ValueId, ValueId), OpError> {
    let mut dims = cx.dims(within)?;
    let last = dims.len() - 1;
    let count = dims[last];
    let numbers: Vec<i64> = (0..count).collect();
    let numbers = cx.ints(&numbers);
    let f = Formula::new(cx);
    let absent = f.number(count as f64, numbers)?;
    let mut positions = f.choose(within, numbers, absent)?;
    if samples > count {
        dims[last] = samples - count;
        let shape = cx.ints(&dims);
        let more = cx.one("Fill", &[shape, absent], Attrs::new())?;
        let attrs = Attrs::new().with("concat_dim", last as i64).with("N", 2i64);
        positions = cx.one("ConcatD", &[positions, more], attrs)?;
    }
    let attrs = Attrs::new()
        .with("sorted", true)
        .with("dim", -1i64)
        .with("largest", false);
    let samples = cx.ints(&[samples]);
    let chosen = cx.add_node("TopK", &[Some(positions), Some(samples)], attrs, 2)?[0];
    Ok((chosen, coordinate(cx, chosen, 0)?, absent))
}

/// As [`ball_query`] without a least radius, for point sets of which each has its own number of points and centres, one behind the
/// other. Numbers count from the first point of their set. A centre without points has -1 and zeros.
fn stacked_balls(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (points, centres) = (op.input("xyz")?, op.input("center_xyz")?);
    let (all, around) = (cx.dims(points)?, cx.dims(centres)?);
    let (most, samples) = (f64::from(op.float("max_radius")?), op.int("sample_num")?);
    let fits = all.len() == 2 && around.len() == 2 && all[1] == 3 && around[1] == 3;
    if !fits || samples < 1 {
        return Err(invalid(format!(
            "its inputs xyz and center_xyz have the shapes {all:?} and {around:?}, and sample_num is {samples}; [N, 3] and [M, 3] are required, and 1 sample at least"
        )));
    }
    let axis = cx.add_constant(Tensor::scalar(DataType::Int64, 0.0)?);
    let mut sets = Vec::with_capacity(2);
    for (name, count) in [
        ("xyz_batch_cnt", all[0]),
        ("center_xyz_batch_cnt", around[0]),
    ] {
        let counts = cx.cast(op.input(name)?, DataType::Int64)?;
        let ends = cx.one("Cumsum", &[counts, axis], Attrs::new())?;
        sets.push((counts, owners(cx, ends, count)?));
    }
    let (counts, own) = (sets[0].0, sets[1].1);
    let attrs = Attrs::new().with("exclusive", true);
    let begins = cx.one("Cumsum", &[counts, axis], attrs)?;
    let begin = take_rows(cx, begins, own)?;
    let points = cx.cast(points, DataType::Float32)?;
    let centres = cx.cast(centres, DataType::Float32)?;
    let f = Formula::new(cx);
    let points = f.reshape(points, &[1, all[0], 3])?;
    let centres = f.reshape(centres, &[around[0], 1, 3])?;
    let distance = f.sum(f.square(f.sub(points, centres)?)?, &[2], false)?;
    let near = f.below(distance, most * most)?;
    let same = f.equal(
        f.reshape(sets[0].1, &[1, all[0]])?,
        f.reshape(own, &[around[0], 1])?,
    )?;
    let within = f.node("LogicalAnd", &[near, same], Attrs::new())?;
    let (chosen, first, absent) = first_within(cx, within, samples)?;
    let none: Vec<i64> = (0..samples).map(|at| -i64::from(at == 0)).collect();
    let none = cx.ints(&none);
    let f = Formula::new(cx);
    let begin = f.reshape(begin, &[around[0], 1])?;
    let filled = f.choose(f.less(chosen, absent)?, chosen, first)?;
    let y = f.choose(f.less(first, absent)?, f.sub(filled, begin)?, none)?;
    Ok(vec![f.cast(y, DataType::Int32)?])
}

/// Returns 1 for each point and polygon of four corners around it: a ray from the point crosses an odd number of its edges.
fn points_in_polygons(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (points, polygons) = (op.input("points")?, op.input("polygons")?);
    let (all, around) = (cx.dims(points)?, cx.dims(polygons)?);
    if all.len() != 2 || all[1] != 2 || around.len() != 2 || around[1] != 8 {
        return Err(invalid(format!(
            "its inputs points and polygons have the shapes {all:?} and {around:?}; [N, 2] and [M, 8] are required"
        )));
    }
    let (px, py) = (columns(cx, points, 0, 1)?, columns(cx, points, 1, 2)?);
    let mut corners = Vec::with_capacity(8);
    for at in 0..8 {
        let one = columns(cx, polygons, at, at + 1)?;
        corners.push(cx.reshape(one, &[1, -1])?);
    }
    let f = Formula::new(cx);
    let mut inside = None;
    for at in 0..4 {
        let (x, y) = (corners[2 * at], corners[2 * at + 1]);
        let (next_x, next_y) = (corners[(2 * at + 2) % 8], corners[(2 * at + 3) % 8]);
        let sides = f.node(
            "NotEqual",
            &[f.greater(y, py)?, f.greater(next_y, py)?],
            Attrs::new(),
        )?;
        let slope = f.div(f.sub(next_x, x)?, f.sub(next_y, y)?)?;
        let cross = f.add(f.mul(slope, f.sub(py, y)?)?, x)?;
        let crossed = f.node("LogicalAnd", &[sides, f.less(px, cross)?], Attrs::new())?;
        inside = Some(match inside {
            Some(inside) => f.node("NotEqual", &[inside, crossed], Attrs::new())?,
            None => crossed,
        });
    }
    let inside = inside.ok_or_else(|| invalid("a polygon has no edges"))?;
    Ok(vec![f.cast(inside, DataType::Float32)?])
}
