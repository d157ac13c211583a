//! Points, boxes and the gradients of maxima: what finds the nearest, the largest, or what overlaps.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::super::FORMAT_NCHW;
use super::filter::{backward, channels_last, forward, pads, spatial};
use super::formula::{Formula, of, scalar};
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ChamferDistance", chamfer_distance),
    ("DIoUGrad", |cx, op| {
        overlap_gradient(cx, op, Penalty::Distance)
    }),
    ("GIoUGrad", |cx, op| {
        overlap_gradient(cx, op, Penalty::Empty)
    }),
    ("MaxPoolGradGradWithArgmax", |cx, op| {
        let (g, argmax) = (op.input("grad")?, op.input("argmax")?);
        let last = op.desc("x").is_none_or(|desc| desc.format != FORMAT_NCHW);
        let f = Formula::new(cx);
        let (dims, small) = (f.dims(g)?, f.dims(argmax)?);
        let (&[images, a, b, c], &[count, u, v, w]) = (&dims[..], &small[..]) else {
            return Err(invalid("its inputs have to have 4 dimensions"));
        };
        if f.dims(op.input("x")?)? != dims || images != count {
            return Err(invalid(format!(
                "its inputs x, grad and argmax have the shapes {:?}, {dims:?} and {small:?}; x and grad must have the same, and argmax as many images",
                f.dims(op.input("x")?)?
            )));
        }
        // An index counts the elements of an image, or those of one of its channels.
        let (rows, from, to) = match last {
            true => (images, a * b * c, u * v * w),
            false => (images * a, b * c, v * w),
        };
        let inputs = [
            f.reshape(g, &[rows, from])?,
            f.reshape(argmax, &[rows, to])?,
        ];
        let y = f.node("GatherElements", &inputs, Attrs::new().with("dim", 1i64))?;
        Ok(vec![f.reshape(y, &small)?])
    }),
    ("MaxPoolGradWithArgmax", |cx, op| {
        if op.yes("include_batch_in_index")? {
            return Err(unsupported(
                "its attribute include_batch_in_index is true, which is not supported",
            ));
        }
        let (x, g, argmax) = (op.input("x")?, op.input("grad")?, op.input("argmax")?);
        let last = op.image_format(2)? == "NHWC";
        let f = Formula::new(cx);
        let (dims, small) = (f.dims(x)?, f.dims(g)?);
        let (&[images, a, b, c], &[_, u, v, w]) = (&dims[..], &small[..]) else {
            return Err(invalid("its inputs have to have 4 dimensions"));
        };
        // An index counts the elements of an image, or those of one of its channels.
        let (rows, from, to) = match last {
            true => (images, u * v * w, a * b * c),
            false => (images * a, v * w, b * c),
        };
        let zeros = f.node(
            "Fill",
            &[f.ints(&[rows, to]), f.number(0.0, x)?],
            Attrs::new(),
        )?;
        let g = f.cast(f.reshape(g, &[rows, from])?, f.dtype(x))?;
        let attrs = Attrs::new().with("axis", 1i64).with("reduction", "add");
        let inputs = [zeros, f.reshape(argmax, &[rows, from])?, g];
        let y = f.node("ScatterElements", &inputs, attrs)?;
        Ok(vec![f.reshape(y, &dims)?])
    }),
    ("MaxPoolV3Grad", pool_gradient),
    ("ThreeInterpolate", |cx, op| {
        let (x, index, weight) = (op.input("features")?, op.input("idx")?, op.input("weight")?);
        let f = Formula::new(cx);
        let (&[batch, points, channels], &[_, wanted, 3]) = (&f.dims(x)?[..], &f.dims(index)?[..])
        else {
            return Err(invalid(
                "its input features has to have 3 dimensions, and idx the shape [batch, points, 3]",
            ));
        };
        let rows = rows_of_batch(&f, index, batch, points)?;
        let flat = f.reshape(x, &[batch * points, channels])?;
        let near = f.node("GatherV2", &[flat, rows, scalar(&f, 0)?], Attrs::new())?;
        let weight = f.reshape(weight, &[batch, wanted, 3, 1])?;
        Ok(vec![f.sum(f.mul(near, weight)?, &[2], false)?])
    }),
    ("ThreeInterpolateBackward", |cx, op| {
        let points = op.int("m")?;
        let (g, index, weight) = (op.input("grad_x")?, op.input("idx")?, op.input("weight")?);
        if points < 1 {
            return Err(invalid(format!(
                "its attribute m is {points}; it must be positive"
            )));
        }
        let dims = cx.dims(g)?;
        let (batch, channels, wanted) = match dims[..] {
            [batch, channels, wanted] | [batch, channels, wanted, 1] => (batch, channels, wanted),
            _ => {
                return Err(invalid(
                    "its input grad_x has to have the shape [batch, channels, points]",
                ));
            }
        };
        let g = cx.reshape(g, &[batch, channels, wanted])?;
        let g = cx.transpose(g, &[0, 2, 1])?;
        let f = Formula::new(cx);
        let rows = rows_of_batch(&f, index, batch, points)?;
        let rows = f.reshape(rows, &[-1])?;
        let g = f.reshape(g, &[batch, wanted, 1, channels])?;
        let parts = f.mul(g, f.reshape(weight, &[batch, wanted, 3, 1])?)?;
        let parts = f.reshape(parts, &[batch * wanted * 3, channels])?;
        let shape = f.ints(&[batch * points, channels]);
        let zeros = f.node("Fill", &[shape, f.number(0.0, parts)?], Attrs::new())?;
        let sums = super::index::scattered(cx, zeros, rows, parts, "add")?;
        let sums = cx.reshape(sums, &[batch, points, channels])?;
        let y = cx.transpose(sums, &[0, 2, 1])?;
        let mut shape = vec![batch, channels, points];
        shape.extend(dims.get(3));
        Ok(vec![cx.reshape(y, &shape)?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// The squared distance of each point to the nearest one of the other set, and which one that is.
fn chamfer_distance(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (one, two) = (op.input("xyz1")?, op.input("xyz2")?);
    let dtype = cx.ty(one).dtype;
    let f = Formula::new(cx);
    let (&[2, batch, count], &[2, other, others]) = (&f.dims(one)?[..], &f.dims(two)?[..]) else {
        return Err(invalid(
            "its inputs xyz1 and xyz2 have to have the shape [2, batch, points]",
        ));
    };
    if batch != other {
        return Err(invalid(format!(
            "its input xyz1 has a batch of {batch}, and xyz2 one of {other}; they must be equal"
        )));
    }
    let plane = |x: ValueId, index: i64, shape: &[i64]| -> Result<ValueId, OpError> {
        let x = f.cast(x, DataType::Float32)?;
        let inputs = [x, scalar(&f, index)?, scalar(&f, 0)?];
        f.reshape(f.node("GatherV2", &inputs, Attrs::new())?, shape)
    };
    let way = |index: i64| -> Result<ValueId, OpError> {
        let from = plane(one, index, &[batch, count, 1])?;
        f.square(f.sub(from, plane(two, index, &[batch, 1, others])?)?)
    };
    let all = f.add(way(0)?, way(1)?)?;
    let nearest = |axis: i64| -> Result<[ValueId; 2], OpError> {
        let distance = f.reduce("ReduceMin", all, &[axis], false)?;
        let attrs = Attrs::new().with("dtype", DataType::Int32);
        let index = f.node("ArgMin", &[all, scalar(&f, axis)?], attrs)?;
        Ok([f.cast(distance, dtype)?, index])
    };
    let ([near1, index1], [near2, index2]) = (nearest(2)?, nearest(1)?);
    Ok(vec![near1, near2, index1, index2])
}

/// Adds to indices of a batch the number of points before it, so that they are rows of all points.
fn rows_of_batch(
    f: &Formula<'_>,
    index: ValueId,
    batch: i64,
    points: i64,
) -> Result<ValueId, OpError> {
    let starts: Vec<i64> = (0..batch).map(|entry| entry * points).collect();
    let starts = f.reshape(f.ints(&starts), &[batch, 1, 1])?;
    f.add(f.cast(index, DataType::Int64)?, starts)
}

/// What is subtracted from the intersection over union.
#[derive(Clone, Copy, PartialEq)]
enum Penalty {
    /// The share of the smallest box around both that neither covers.
    Empty,
    /// The squared distance of the centres by the squared diagonal of that box.
    Distance,
}

/// The gradients of an intersection over union with a penalty, by both boxes.
fn overlap_gradient(cx: &mut Cx, op: &Op<'_>, penalty: Penalty) -> Answer {
    if op.yes("is_cross")? {
        return Err(unsupported(
            "its attribute is_cross is true, which is not supported: each box belongs to one other",
        ));
    }
    let mode = op.text("mode")?;
    if mode != "iou" {
        return Err(unsupported(format!(
            "its attribute mode is {mode}; only iou is supported"
        )));
    }
    let centred = op.yes("trans")?;
    let dtype = cx.ty(op.input("bboxes")?).dtype;
    of(cx, op, ["dy", "bboxes", "gtboxes"], |f, [dy, one, two]| {
        let dims = f.dims(one)?;
        let &[4, count] = &dims[..] else {
            return Err(invalid("its input bboxes has to have the shape [4, boxes]"));
        };
        let dy = f.reshape(f.cast(dy, DataType::Float32)?, &[count])?;
        let corners = |boxes: ValueId| -> Result<[ValueId; 4], OpError> {
            let boxes = f.cast(boxes, DataType::Float32)?;
            let row = |index: i64| {
                let inputs = [boxes, scalar(f, index)?, scalar(f, 0)?];
                f.node("GatherV2", &inputs, Attrs::new())
            };
            let [a, b, c, d] = [row(0)?, row(1)?, row(2)?, row(3)?];
            if !centred {
                return Ok([a, b, c, d]);
            }
            let (x, y) = (f.times(c, 0.5)?, f.times(d, 0.5)?);
            Ok([f.sub(a, x)?, f.sub(b, y)?, f.add(a, x)?, f.add(b, y)?])
        };
        let (own, other) = (corners(one)?, corners(two)?);
        let axes = [
            Along::new(f, &own, &other, 0)?,
            Along::new(f, &own, &other, 1)?,
        ];
        let area = |each: fn(&Along) -> ValueId| f.mul(each(&axes[0]), each(&axes[1]));
        let inter = area(|axis| axis.shared)?;
        let both = f.add(area(|axis| axis.sizes[0])?, area(|axis| axis.sizes[1])?)?;
        let union = f.sub(both, inter)?;
        let mut by_union = f.of("Neg", f.div(inter, f.square(union)?)?)?;
        // The derivative by the size of the enclosing box along each axis, and by the distance of the centres along each.
        let (around, centres) = match penalty {
            Penalty::Empty => {
                // union / enclosing - 1 is added.
                let enclosing = area(|axis| axis.around)?;
                by_union = f.add(by_union, f.of("Reciprocal", enclosing)?)?;
                let factor = f.of("Neg", f.div(union, f.square(enclosing)?)?)?;
                let by = |across: usize| f.mul(factor, axes[across].around);
                ([by(1)?, by(0)?], None)
            }
            Penalty::Distance => {
                let sum = |each: fn(&Along) -> ValueId| {
                    f.add(f.square(each(&axes[0]))?, f.square(each(&axes[1]))?)
                };
                let diagonal = sum(|axis| axis.around)?;
                let distance = sum(|axis| axis.distance)?;
                let factor = f.times(f.div(distance, f.square(diagonal)?)?, 2.0)?;
                let by = |axis: usize| f.mul(factor, axes[axis].around);
                let centre = |axis: usize| f.of("Neg", f.div(axes[axis].distance, diagonal)?);
                ([by(0)?, by(1)?], Some([centre(0)?, centre(1)?]))
            }
        };
        let by_inter = f.sub(f.of("Reciprocal", union)?, by_union)?;
        let gradient = |own: &[ValueId; 4], other: &[ValueId; 4], which: usize| {
            let mut all = Vec::with_capacity(4);
            for at in 0..4 {
                let (axis, upper) = (at % 2, at >= 2);
                let (along, across) = (&axes[axis], &axes[1 - axis]);
                // A corner bounds what is shared, or what encloses, if it lies inside or outside the other.
                let inner = match upper {
                    true => f.less(own[at], other[at])?,
                    false => f.greater(own[at], other[at])?,
                };
                let some = f.above(along.shared, 0.0)?;
                let shared = f.only(some, f.mul(by_inter, across.shared)?)?;
                let bound = f.choose(inner, shared, around[axis])?;
                let mut sum = f.add(bound, f.mul(by_union, across.sizes[which])?)?;
                if !upper {
                    sum = f.of("Neg", sum)?;
                }
                // Half of the step of a corner is that of its centre.
                if let Some(centres) = &centres {
                    sum = match which {
                        0 => f.add(sum, centres[axis])?,
                        _ => f.sub(sum, centres[axis])?,
                    };
                }
                all.push(f.mul(dy, sum)?);
            }
            if centred {
                let [a, b, c, d] = [all[0], all[1], all[2], all[3]];
                let half = |high: ValueId, low: ValueId| f.times(f.sub(high, low)?, 0.5);
                all = vec![f.add(a, c)?, f.add(b, d)?, half(c, a)?, half(d, b)?];
            }
            let attrs = Attrs::new().with("concat_dim", 0i64).with("N", 4i64);
            let rows = all.iter().map(|&row| f.reshape(row, &[1, count]));
            let rows = rows.collect::<Result<Vec<_>, _>>()?;
            f.cast(f.node("ConcatD", &rows, attrs)?, dtype)
        };
        Ok(vec![gradient(&own, &other, 0)?, gradient(&other, &own, 1)?])
    })
}

/// Two boxes along one axis.
struct Along {
    /// The sizes of both.
    sizes: [ValueId; 2],
    /// The size of what they share, at least 0.
    shared: ValueId,
    /// The size of what encloses both.
    around: ValueId,
    /// The distance of the centres.
    distance: ValueId,
}

impl Along {
    fn new(
        f: &Formula<'_>,
        own: &[ValueId; 4],
        other: &[ValueId; 4],
        axis: usize,
    ) -> Result<Along, OpError> {
        let (low, high) = ([own[axis], other[axis]], [own[axis + 2], other[axis + 2]]);
        let shared = f.sub(f.min(high[0], high[1])?, f.max(low[0], low[1])?)?;
        let centre = |which: usize| f.times(f.add(low[which], high[which])?, 0.5);
        Ok(Along {
            sizes: [f.sub(high[0], low[0])?, f.sub(high[1], low[1])?],
            shared: f.max(shared, f.number(0.0, shared)?)?,
            around: f.sub(f.max(high[0], high[1])?, f.min(low[0], low[1])?)?,
            distance: f.sub(centre(0)?, centre(1)?)?,
        })
    }
}

/// The gradient of a maximum: each window adds its gradient to the first of its largest elements.
pub(super) fn pool_gradient(cx: &mut Cx, op: &Op<'_>) -> Answer {
    // An earlier form has other names, and neither given pads nor windows as large as the image.
    let is_first = op.kind() == "MaxPoolGrad";
    let (name, padding) = match is_first {
        true => ("x1", "padding"),
        false => ("orig_input", "padding_mode"),
    };
    let last = channels_last(op.image_format(2)?, 2)?;
    let x = forward(cx, op.input(name)?, last, 2)?;
    let g = forward(cx, op.input("grad")?, last, 2)?;
    let dims = cx.dims(x)?;
    let &[_, _, rows, columns] = &dims[..] else {
        return Err(invalid(format!(
            "its input {name} has to have 4 dimensions"
        )));
    };
    let global = !is_first && op.yes("global_pooling")?;
    let mut attrs = Attrs::new();
    if global {
        attrs.set("kernel_shape", vec![rows, columns]);
        attrs.set("strides", vec![1, 1]);
    } else {
        attrs.set(
            "kernel_shape",
            spatial(op.ints("ksize")?, 2, last, "ksize")?,
        );
        attrs.set("strides", spatial(op.ints("strides")?, 2, last, "strides")?);
    }
    match op.text(padding)? {
        _ if global => {}
        "VALID" => attrs.set("auto_pad", "VALID"),
        "SAME" => attrs.set("auto_pad", "SAME_UPPER"),
        "CALCULATED" if !is_first => {
            attrs.set("pads", pads(op.ints("pads")?, 2)?);
            attrs.set("ceil_mode", op.yes("ceil_mode")?);
        }
        other => {
            return Err(invalid(format!(
                "its attribute {padding} is {other}; it must be SAME or VALID{}",
                if is_first { "" } else { " or CALCULATED" }
            )));
        }
    }
    let pooled = cx.add_node("jumar.MaxPool", &[Some(x)], attrs, 2)?;
    let (found, given) = (cx.dims(pooled[0])?, cx.dims(g)?);
    if found != given {
        return Err(invalid(format!(
            "its input grad has the shape {given:?}; the windows produce {found:?}"
        )));
    }
    let f = Formula::new(cx);
    let total: i64 = dims.iter().product();
    let zeros = f.node("Fill", &[f.ints(&[total]), f.number(0.0, x)?], Attrs::new())?;
    let attrs = Attrs::new().with("axis", 0i64).with("reduction", "add");
    let index = f.reshape(pooled[1], &[-1])?;
    let g = f.cast(f.reshape(g, &[-1])?, f.dtype(x))?;
    let y = f.node("ScatterElements", &[zeros, index, g], attrs)?;
    let y = f.reshape(y, &dims)?;
    Ok(vec![backward(cx, y, last, 2)?])
}
