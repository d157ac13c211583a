//! Boxes: their codes against others, and choices among them.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::image::columns;
use super::index::take_rows;
use super::op::Op;
use super::{Cx, Lowering, Value, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("BatchMultiClassNonMaxSuppression", batch_suppression),
    ("BoundingBoxDecode", decoded),
    ("BoundingBoxEncode", encoded),
    ("CheckValid", |cx, op| {
        let (boxes, metas) = (op.input("bbox_tensor")?, op.input("img_metas")?);
        let dims = cx.dims(boxes)?;
        let &[count, 4] = &dims[..] else {
            return Err(invalid(format!(
                "its input bbox_tensor has the shape {dims:?}; four numbers for each box are required"
            )));
        };
        let metas = cx.cast(metas, DataType::Float32)?;
        let boxes = cx.cast(boxes, DataType::Float32)?;
        let f = Formula::new(cx);
        // Height, width and what they are multiplied by. Boxes end at the last pixel at most.
        let [high, wide, ratio] = [0, 1, 2].map(|at| f.part(metas, 0, at, at + 1));
        let ratio = ratio?;
        let most = |size| f.plus(f.mul(size, ratio)?, -1.0);
        let (most_x, most_y) = (most(wide?)?, most(high?)?);
        let [left, top, right, bottom] = [0, 1, 2, 3].map(|at| f.part(boxes, 1, at, at + 1));
        let mut outside = f.below(left?, 0.0)?;
        let others = [
            f.below(top?, 0.0)?,
            f.greater(right?, most_x)?,
            f.greater(bottom?, most_y)?,
        ];
        for other in others {
            outside = f.node("LogicalOr", &[outside, other], Attrs::new())?;
        }
        let valid = f.cast(f.of("LogicalNot", outside)?, DataType::Int8)?;
        Ok(vec![f.reshape(valid, &[count, 1])?])
    }),
    ("CombinedNonMaxSuppression", |cx, op| {
        let attrs = Attrs::new()
            .with("pad_per_class", op.yes("pad_per_class")?)
            .with("clip_boxes", op.yes("clip_boxes")?);
        cx.add_node("jumar.CombinedNonMaxSuppression", &op.in_order()?, attrs, 4)
    }),
    ("Iou", overlaps),
    ("ROIAlignGrad", |cx, op| {
        if op.maybe("rois_n").is_some() {
            return Err(unsupported(
                "its input rois_n is given, which is not supported: it is reserved",
            ));
        }
        let (grad, rois) = (op.input("ydiff")?, op.input("rois")?);
        let ends = super::image::roi_ends(op)?;
        let rois = super::image::with_ends(cx, rois, ends.more)?;
        let attrs = Attrs::new()
            .with("shape", op.ints("xdiff_shape")?.to_vec())
            .with("output_height", op.int("pooled_height")?)
            .with("output_width", op.int("pooled_width")?)
            .with("spatial_scale", op.float("spatial_scale")?)
            .with("sampling_ratio", op.int("sample_num")?)
            .with("any_size", ends.any_size)
            .with("half_pixel", ends.aligned);
        Ok(vec![cx.one("jumar.RoiAlignGrad", &[grad, rois], attrs)?])
    }),
    ("RoiAlignRotated", |cx, op| {
        let inputs = [op.input("x")?, op.input("rois")?];
        Ok(vec![cx.one(
            "jumar.RoiAlignRotated",
            &inputs,
            rotated(op)?,
        )?])
    }),
    ("RoiAlignRotatedGrad", |cx, op| {
        let inputs = [op.input("x_grad")?, op.input("rois")?];
        let attrs = rotated(op)?.with("shape", op.ints("y_grad_shape")?.to_vec());
        Ok(vec![cx.one("jumar.RoiAlignRotatedGrad", &inputs, attrs)?])
    }),
    ("SortedNMS", sorted_suppression),
    ("ToAbsoluteBBox", |cx, op| {
        let (boxes, sizes) = (op.input("normalized_boxes")?, op.input("shape_hw")?);
        let (dtype, dims) = (cx.ty(boxes).dtype, cx.dims(boxes)?);
        let axis = if op.yes("reversed_box")? { 1 } else { 2 };
        if dims.len() != 3 || dims[axis] != 4 || cx.dims(sizes)? != [4] {
            return Err(invalid(format!(
                "its inputs normalized_boxes and shape_hw have the shapes {dims:?} and {:?}; 3 dimensions with 4 coordinates in axis {axis}, and 4 numbers, are required",
                cx.dims(sizes)?
            )));
        }
        let f = Formula::new(cx);
        // The height and the width stand first: each coordinate is a share of one of them.
        let pick = f.ints(&[0, 1, 0, 1]);
        let inputs = [sizes, pick, super::formula::scalar(&f, 0)?];
        let sizes = f.node("GatherV2", &inputs, Attrs::new())?;
        let mut along = [1; 3];
        along[axis] = 4;
        let sizes = f.reshape(f.cast(sizes, DataType::Float32)?, &along)?;
        let y = f.mul(f.cast(boxes, DataType::Float32)?, sizes)?;
        Ok(vec![f.cast(y, dtype)?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// The rows of the result are the second rectangles, and the columns the first. Pairs may lie in columns, as clients pass them.
fn overlaps(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let aligned = op.yes("aligned")?;
    let mut inputs = [op.input("bboxes")?, op.input("gtboxes")?];
    for input in &mut inputs {
        if aligned && matches!(cx.dims(*input)?[..], [4, count] if count != 4) {
            *input = cx.transpose(*input, &[1, 0])?;
        }
    }
    let result = cx.one("jumar.Iou", &inputs, op.attrs_for("jumar.Iou")?)?;
    Ok(vec![match aligned {
        true => result,
        false => cx.transpose(result, &[1, 0])?,
    }])
}

fn rotated(op: &Op<'_>) -> Result<Attrs, OpError> {
    Ok(Attrs::new()
        .with("pooled_h", op.int("pooled_h")?)
        .with("pooled_w", op.int("pooled_w")?)
        .with("spatial_scale", op.float("spatial_scale")?)
        .with("sampling_ratio", op.int("sampling_ratio")?)
        .with("aligned", op.yes("aligned")?)
        .with("clockwise", op.yes("clockwise")?))
}

/// A box by its centre and its size along one axis. Boxes hold their last pixel.
struct Span {
    centre: ValueId,
    size: ValueId,
}

/// Reads boxes `[N, 4]` along both axes, in float32.
fn spans(cx: &mut Cx, boxes: ValueId, name: &str) -> Result<[Span; 2], OpError> {
    let dims = cx.dims(boxes)?;
    if dims.len() != 2 || dims[1] != 4 {
        return Err(invalid(format!(
            "its input {name} has the shape {dims:?}; [boxes, 4] is required"
        )));
    }
    let boxes = cx.cast(boxes, DataType::Float32)?;
    let mut sides = Vec::with_capacity(4);
    for at in 0..4 {
        sides.push(columns(cx, boxes, at, at + 1)?);
    }
    let f = Formula::new(cx);
    let span = |low: ValueId, high: ValueId| {
        Ok::<_, OpError>(Span {
            centre: f.times(f.add(low, high)?, 0.5)?,
            size: f.plus(f.sub(high, low)?, 1.0)?,
        })
    };
    Ok([span(sides[0], sides[2])?, span(sides[1], sides[3])?])
}

/// Returns four numbers of an attribute.
fn four(op: &Op<'_>, name: &str, default: f32) -> Result<[f32; 4], OpError> {
    match op.node.attrs.get(name) {
        None => Ok([default; 4]),
        Some(Value::Floats(list)) if list.len() == 4 => Ok([list[0], list[1], list[2], list[3]]),
        Some(_) => Err(invalid(format!(
            "its attribute {name} has to be a list of 4 numbers"
        ))),
    }
}

fn side_by_side(cx: &mut Cx, parts: &[ValueId], dtype: DataType) -> Answer {
    let attrs = Attrs::new()
        .with("concat_dim", 1i64)
        .with("N", parts.len() as i64);
    let all = cx.one("ConcatD", parts, attrs)?;
    Ok(vec![cx.cast(all, dtype)?])
}

/// The distances of centres in sizes of the anchors, and the logarithms of ratios of the sizes.
fn encoded(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (anchors, target) = (op.input("anchor_box")?, op.input("ground_truth_box")?);
    let dtype = cx.ty(anchors).dtype;
    let own = spans(cx, anchors, "anchor_box")?;
    let other = spans(cx, target, "ground_truth_box")?;
    let (means, deviations) = (four(op, "means", 0.0)?, four(op, "stds", 1.0)?);
    let f = Formula::new(cx);
    let mut parts = Vec::with_capacity(4);
    for (own, other) in own.iter().zip(&other) {
        parts.push(f.div(f.sub(other.centre, own.centre)?, own.size)?);
    }
    for (own, other) in own.iter().zip(&other) {
        parts.push(f.of("Log", f.div(other.size, own.size)?)?);
    }
    for (at, part) in parts.iter_mut().enumerate() {
        let centred = f.plus(*part, f64::from(-means[at]))?;
        *part = f.div(centred, f.number(f64::from(deviations[at]), centred)?)?;
    }
    side_by_side(cx, &parts, dtype)
}

fn decoded(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (rois, deltas) = (op.input("rois")?, op.input("deltas")?);
    let dtype = cx.ty(rois).dtype;
    let own = spans(cx, rois, "rois")?;
    if cx.dims(deltas)? != cx.dims(rois)? {
        return Err(invalid(format!(
            "its input deltas has the shape {:?}; that of rois, {:?}, is required",
            cx.dims(deltas)?,
            cx.dims(rois)?
        )));
    }
    let (means, deviations) = (four(op, "means", 0.0)?, four(op, "stds", 1.0)?);
    let (shape, clip) = (op.ints("max_shape")?, op.float("wh_ratio_clip")?);
    let &[height, width] = shape else {
        return Err(invalid(format!(
            "its attribute max_shape is {shape:?}; a height and a width are required"
        )));
    };
    if clip.is_nan() || clip <= 0.0 {
        return Err(invalid(format!(
            "its attribute wh_ratio_clip is {clip}; it must be positive"
        )));
    }
    let most = f64::from(clip).ln().abs();
    let deltas = cx.cast(deltas, DataType::Float32)?;
    let mut parts = Vec::with_capacity(4);
    for at in 0..4 {
        let part = columns(cx, deltas, at as i64, at as i64 + 1)?;
        let f = Formula::new(cx);
        parts.push(f.plus(
            f.times(part, f64::from(deviations[at]))?,
            f64::from(means[at]),
        )?);
    }
    let f = Formula::new(cx);
    let mut ends = [Vec::new(), Vec::new()];
    for (axis, (own, len)) in own.iter().zip([width, height]).enumerate() {
        let centre = f.add(own.centre, f.mul(own.size, parts[axis])?)?;
        let ratio = parts[2 + axis];
        let ratio = f.min(
            f.max(ratio, f.number(-most, ratio)?)?,
            f.number(most, ratio)?,
        )?;
        let half = f.times(f.mul(own.size, f.of("Exp", ratio)?)?, 0.5)?;
        let within = |at: ValueId| {
            let at = f.max(at, f.number(0.0, at)?)?;
            f.min(at, f.number((len - 1) as f64, at)?)
        };
        ends[0].push(within(f.plus(f.sub(centre, half)?, 0.5)?)?);
        ends[1].push(within(f.plus(f.add(centre, half)?, -0.5)?)?);
    }
    side_by_side(cx, &ends.concat(), dtype)
}

/// Suppression in several images and classes, whose limits are attributes.
fn batch_suppression(cx: &mut Cx, op: &Op<'_>) -> Answer {
    op.only_default("change_coordinate_frame")?;
    op.only_default("transpose_box")?;
    if op.maybe("clip_window").is_some() {
        return Err(unsupported(
            "its input clip_window is given, which is not supported: the order of its numbers is not documented",
        ));
    }
    let (boxes, mut scores) = (op.input("boxes")?, op.input("scores")?);
    let dims = cx.dims(scores)?;
    if let Some(valid) = op.maybe("num_valid_boxes") {
        let count = dims.get(1).copied().unwrap_or(0);
        let numbers: Vec<i64> = (0..count).collect();
        let numbers = cx.ints(&numbers);
        let f = Formula::new(cx);
        let numbers = f.reshape(numbers, &[1, count, 1])?;
        let valid = f.reshape(f.cast(valid, DataType::Int64)?, &[-1, 1, 1])?;
        let counts = f.less(numbers, valid)?;
        scores = f.choose(counts, scores, f.number(f64::NEG_INFINITY, scores)?)?;
    }
    let (each, total) = (op.int("max_size_per_class")?, op.int("max_total_size")?);
    let mut inputs = vec![Some(boxes), Some(scores)];
    for count in [each, total] {
        inputs.push(Some(cx.ints(&[count])));
    }
    for name in ["iou_threshold", "score_threshold"] {
        let limit = f64::from(op.float(name)?);
        inputs.push(Some(
            cx.add_constant(Tensor::scalar(DataType::Float32, limit)?),
        ));
    }
    let attrs = Attrs::new()
        .with("pad_per_class", false)
        .with("clip_boxes", false);
    cx.add_node("jumar.CombinedNonMaxSuppression", &inputs, attrs, 4)
}

/// Suppression of boxes whose order by their scores is known.
fn sorted_suppression(cx: &mut Cx, op: &Op<'_>) -> Answer {
    op.only_default("offset")?;
    let (boxes, scores) = (op.input("boxes")?, op.input("sorted_scores")?);
    let order = op.input("input_indices")?;
    let (dims, count) = (cx.dims(boxes)?, cx.dims(scores)?);
    if dims.len() != 2 || dims[1] != 4 || count != dims[..1] || cx.dims(order)? != count {
        return Err(invalid(format!(
            "its inputs boxes, sorted_scores and input_indices have the shapes {dims:?}, {count:?} and {:?}; [boxes, 4], [boxes] and [boxes] are required",
            cx.dims(order)?
        )));
    }
    let sorted = take_rows(cx, boxes, order)?;
    let sorted = cx.reshape(sorted, &[1, count[0], 4])?;
    let scores = cx.reshape(scores, &[1, 1, count[0]])?;
    let mut inputs = vec![Some(sorted), Some(scores)];
    let most = cx.cast(op.input("max_output_size")?, DataType::Int64)?;
    inputs.push(Some(most));
    for name in ["iou_threshold", "score_threshold"] {
        inputs.push(Some(cx.cast(op.input(name)?, DataType::Float32)?));
    }
    let chosen = cx.add_node("NonMaxSuppressionV6", &inputs, Attrs::new(), 1)?[0];
    let found = columns(cx, chosen, 2, 3)?;
    let found = cx.reshape(found, &[-1])?;
    Ok(vec![take_rows(cx, order, found)?])
}
