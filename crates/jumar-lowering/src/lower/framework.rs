//! Types that frameworks ask for by name: earlier forms of operators that have newer ones.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::channels::{normalised, statistics_count};
use super::filter::{backward, channels_last, forward, spatial};
use super::formula::{Formula, of, scalar};
use super::loss::{divergence, reduced};
use super::nearest::pool_gradient;
use super::op::Op;
use super::slice::numbers;
use super::state::write_or_pass;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

type Answer = Result<Vec<ValueId>, OpError>;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AvgPoolGrad", average_pool_gradient),
    ("BNTrainingUpdate", |cx, op| {
        let count = statistics_count(cx, op)? as f64;
        let factor = f64::from(op.float("factor")?);
        let [y, mean, variance] = normalised(cx, op)?[..] else {
            return Err(invalid("its normalisation has three results"));
        };
        let mut results = vec![y];
        // The running variance is that of a sample, the batch's own that of a population.
        let scaler = count / (count - 1.0).max(1.0);
        for (name, own, scaler) in [("mean", mean, 1.0), ("variance", variance, scaler)] {
            let running = op.input(name)?;
            let dims = cx.dims(running)?;
            let f = Formula::new(cx);
            let share = f.reshape(f.times(own, scaler * factor)?, &dims)?;
            let new = f.add(f.times(running, 1.0 - factor)?, share)?;
            results.extend(write_or_pass(cx, op, name, new)?);
        }
        for (name, own) in [("mean", mean), ("variance", variance)] {
            let dims = cx.dims(op.input(name)?)?;
            results.push(cx.reshape(own, &dims)?);
        }
        Ok(results)
    }),
    ("BinaryCrossEntropy", |cx, op| {
        let reduction = op.text("reduction")?;
        let dtype = cx.ty(op.input("x")?).dtype;
        let weight = op.maybe("weight");
        of(cx, op, ["x", "y"], |f, [x, y]| {
            let [x, y] = [f.cast(x, DataType::Float32)?, f.cast(y, DataType::Float32)?];
            // As in PyTorch, a logarithm is -100 at least, so that a certain mistake costs a finite amount.
            let log = |x: ValueId| {
                let log = f.of("Log", x)?;
                f.max(log, f.number(-100.0, log)?)
            };
            let hit = f.mul(y, log(x)?)?;
            let miss = f.mul(f.from(1.0, y)?, log(f.from(1.0, x)?)?)?;
            let mut loss = f.of("Neg", f.add(hit, miss)?)?;
            if let Some(weight) = weight {
                loss = f.mul(loss, f.cast(weight, DataType::Float32)?)?;
            }
            Ok(vec![f.cast(reduced(f, loss, reduction)?, dtype)?])
        })
    }),
    ("ConfusionTransposeD", |cx, op| {
        let (perm, shape) = (op.ints("perm")?.to_vec(), op.ints("shape")?.to_vec());
        let x = op.input("x")?;
        Ok(vec![if op.yes("transpose_first")? {
            let turned = cx.transpose(x, &perm)?;
            cx.reshape(turned, &shape)?
        } else {
            let shaped = cx.reshape(x, &shape)?;
            cx.transpose(shaped, &perm)?
        }])
    }),
    ("DIoU", |cx, op| overlap(cx, op, true)),
    ("GIoU", |cx, op| overlap(cx, op, false)),
    ("KLDiv", |cx, op| divergence(cx, op, false)),
    ("LayerNormGrad", layer_norm_gradient),
    ("MaxPoolGrad", pool_gradient),
    ("MishGrad", |cx, op| {
        of(cx, op, ["grad", "x"], |f, [grad, x]| {
            let t = f.of("Tanh", f.of("Softplus", x)?)?;
            let slope = f.mul(x, f.mul(f.from(1.0, f.square(t)?)?, f.of("Sigmoid", x)?)?)?;
            Ok(vec![f.mul(grad, f.add(t, slope)?)?])
        })
    }),
    ("RsqrtGrad", |cx, op| {
        of(cx, op, ["y", "dy"], |f, [y, dy]| {
            let cube = f.mul(y, f.square(y)?)?;
            Ok(vec![f.times(f.mul(dy, cube)?, -0.5)?])
        })
    }),
    ("StridedSliceAssign", |cx, op| {
        let list = |cx: &Cx, name: &str| numbers(cx, op.input(name)?, name);
        let lists = [list(cx, "begin")?, list(cx, "end")?, list(cx, "strides")?];
        assign(cx, op, lists)
    }),
    ("StridedSliceAssignD", |cx, op| {
        let list = |name: &str| op.ints(name).map(<[i64]>::to_vec);
        let lists = [list("begin")?, list("end")?, list("strides")?];
        assign(cx, op, lists)
    }),
];

/// Returns the names of the inputs that an operator updates.
pub(super) fn updated(kind: &str) -> &'static [&'static str] {
    match kind {
        "BNTrainingUpdate" => &["mean", "variance"],
        "StridedSliceAssign" | "StridedSliceAssignD" => &["var"],
        _ => &[],
    }
}

/// The gradient of averages over windows: each element of a window gets an equal share. Elements outside the image do not count.
fn average_pool_gradient(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let last = channels_last(op.image_format(2)?, 2)?;
    let shape = numbers(cx, op.input("orig_input_shape")?, "orig_input_shape")?;
    let &[a, b, c, d] = &shape[..] else {
        return Err(invalid(format!(
            "its input orig_input_shape is {shape:?}; it must have 4 numbers"
        )));
    };
    let (channels, image) = if last { (d, [b, c]) } else { (b, [c, d]) };
    let kernel = spatial(op.ints("ksize")?, 2, last, "ksize")?;
    let strides = spatial(op.ints("strides")?, 2, last, "strides")?;
    let same = match op.text("padding")? {
        "SAME" => true,
        "VALID" => false,
        other => {
            return Err(invalid(format!(
                "its attribute padding is {other}; it must be SAME or VALID"
            )));
        }
    };
    let g = forward(cx, op.input("input_grad")?, last, 2)?;
    let given = cx.dims(g)?;
    let (mut pads, mut more, mut counts) = ([0i64; 4], [0i64; 2], [Vec::new(), Vec::new()]);
    for axis in 0..2 {
        let (size, kernel, stride) = (image[axis], kernel[axis], strides[axis]);
        if kernel < 1 || stride < 1 || size < 1 {
            return Err(invalid(format!(
                "its windows of {kernel} with strides of {stride} do not fit {size} elements"
            )));
        }
        let windows = match same {
            true => (size + stride - 1) / stride,
            false => (size - kernel) / stride + 1,
        };
        if given.get(2 + axis) != Some(&windows) || given[..2] != [a, channels] {
            return Err(invalid(format!(
                "its input input_grad has the shape {given:?}; {windows} windows along axis {axis} of {shape:?} are expected"
            )));
        }
        let reach = (windows - 1) * stride + kernel;
        let outside = if same { (reach - size).max(0) } else { 0 };
        (pads[axis], pads[axis + 2]) = (outside / 2, outside - outside / 2);
        more[axis] = size + outside - reach;
        counts[axis] = (0..windows)
            .map(|window| {
                let from = window * stride - pads[axis];
                (from + kernel).min(size) - from.max(0)
            })
            .collect();
    }
    let shares: Vec<f32> = counts[0]
        .iter()
        .flat_map(|rows| {
            counts[1]
                .iter()
                .map(move |columns| 1.0 / (rows * columns) as f32)
        })
        .collect();
    let dtype = cx.ty(g).dtype;
    let f = Formula::new(cx);
    let shares = f.reshape(f.floats(&shares), &[1, 1, given[2], given[3]])?;
    let g = f.mul(f.cast(g, DataType::Float32)?, shares)?;
    let ones = vec![1.0; (channels * kernel[0] * kernel[1]).max(0) as usize];
    let ones = f.reshape(f.floats(&ones), &[channels, 1, kernel[0], kernel[1]])?;
    let attrs = Attrs::new()
        .with("group", channels)
        .with("strides", strides)
        .with("pads", pads.to_vec())
        .with("output_padding", more.to_vec());
    let y = f.node("jumar.ConvTranspose", &[g, ones], attrs)?;
    let y = f.cast(y, dtype)?;
    Ok(vec![backward(cx, y, last, 2)?])
}

/// Writes a value into a slice of a variable.
fn assign(cx: &mut Cx, op: &Op<'_>, [mut begin, mut end, strides]: [Vec<i64>; 3]) -> Answer {
    for name in ["ellipsis_mask", "new_axis_mask", "shrink_axis_mask"] {
        op.only_default(name)?;
    }
    let dims = cx.dims(op.input("var")?)?;
    let count = begin.len();
    if end.len() != count || strides.len() != count || count > dims.len() {
        return Err(invalid(format!(
            "begin, end and strides have {count}, {} and {} numbers; each must have as many, {} at most",
            end.len(),
            strides.len(),
            dims.len()
        )));
    }
    let masks = [op.int("begin_mask")?, op.int("end_mask")?];
    for axis in 0..count {
        if strides[axis] < 1 {
            return Err(unsupported(format!(
                "strides has {}; only strides above 0 are supported",
                strides[axis]
            )));
        }
        if masks[0] >> axis & 1 == 1 {
            begin[axis] = 0;
        }
        if masks[1] >> axis & 1 == 1 {
            end[axis] = dims[axis];
        }
    }
    let inputs = [
        Some(op.input("var")?),
        Some(op.input("input_value")?),
        Some(cx.ints(&begin)),
        Some(cx.ints(&end)),
        Some(cx.ints(&strides)),
    ];
    let new = cx.add_node("StridedSliceAssignV2", &inputs, Attrs::new(), 1)?;
    write_or_pass(cx, op, "var", new[0])
}

/// The overlap of boxes, each with the one of the same index: less the distance of the centres relative to the diagonal, or how much of
/// the enclosing box is empty.
fn overlap(cx: &mut Cx, op: &Op<'_>, by_distance: bool) -> Answer {
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
    of(cx, op, ["bboxes", "gtboxes"], |f, [one, two]| {
        let dims = f.dims(one)?;
        let &[4, count] = &dims[..] else {
            return Err(invalid("its input bboxes has to have the shape [4, boxes]"));
        };
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
        let zero = f.number(0.0, own[0])?;
        let shared = |axis: usize| {
            let from = f.max(own[axis], other[axis])?;
            let to = f.min(own[axis + 2], other[axis + 2])?;
            f.max(f.sub(to, from)?, zero)
        };
        let around = |axis: usize| {
            let from = f.min(own[axis], other[axis])?;
            f.sub(f.max(own[axis + 2], other[axis + 2])?, from)
        };
        let area = |of: &[ValueId; 4]| f.mul(f.sub(of[2], of[0])?, f.sub(of[3], of[1])?);
        let inter = f.mul(shared(0)?, shared(1)?)?;
        let union = f.sub(f.add(area(&own)?, area(&other)?)?, inter)?;
        let ratio = f.div(inter, union)?;
        let less = if by_distance {
            let centre =
                |of: &[ValueId; 4], axis: usize| f.times(f.add(of[axis], of[axis + 2])?, 0.5);
            let square = |axis: usize| f.square(f.sub(centre(&own, axis)?, centre(&other, axis)?)?);
            let distance = f.add(square(0)?, square(1)?)?;
            let diagonal = f.add(f.square(around(0)?)?, f.square(around(1)?)?)?;
            f.div(distance, diagonal)?
        } else {
            let hull = f.mul(around(0)?, around(1)?)?;
            f.div(f.sub(hull, union)?, hull)?
        };
        let y = f.reshape(f.sub(ratio, less)?, &[1, count])?;
        Ok(vec![f.cast(y, dtype)?])
    })
}

/// The gradients of a normalisation by the input, the scale and the offset. The normalised axes are those of gamma.
fn layer_norm_gradient(cx: &mut Cx, op: &Op<'_>) -> Answer {
    /// Added to the variance, which is given without it.
    const EPSILON: f64 = 1e-12;
    let dtype = cx.ty(op.input("x")?).dtype;
    let gamma_type = cx.ty(op.input("gamma")?).dtype;
    let gamma_dims = cx.dims(op.input("gamma")?)?;
    let names = ["dy", "x", "variance", "mean", "gamma"];
    of(cx, op, names, |f, [dy, x, variance, mean, gamma]| {
        let wide = |value: ValueId| f.cast(value, DataType::Float32);
        let [dy, x, variance, mean, gamma] = [
            wide(dy)?,
            wide(x)?,
            wide(variance)?,
            wide(mean)?,
            wide(gamma)?,
        ];
        let dims = f.dims(x)?;
        let Some(first) = dims.len().checked_sub(gamma_dims.len()) else {
            return Err(invalid("its input gamma has more dimensions than x"));
        };
        if dims[first..] != gamma_dims[..] {
            return Err(invalid(format!(
                "its input gamma has the shape {gamma_dims:?}, and x {dims:?}: the last dimensions have to be the same"
            )));
        }
        let inner: Vec<i64> = (first as i64..dims.len() as i64).collect();
        let outer: Vec<i64> = (0..first as i64).collect();
        let share = 1.0 / gamma_dims.iter().product::<i64>().max(1) as f64;
        let deviation = f.of("Sqrt", f.plus(variance, EPSILON)?)?;
        let normal = f.div(f.sub(x, mean)?, deviation)?;
        let scaled = f.mul(dy, gamma)?;
        let average = |value: ValueId| f.times(f.sum(value, &inner, true)?, share);
        let along = f.mul(normal, average(f.mul(scaled, normal)?)?)?;
        let by_x = f.sub(f.sub(scaled, average(scaled)?)?, along)?;
        let by_x = f.cast(f.div(by_x, deviation)?, dtype)?;
        let over = |value: ValueId| match outer.is_empty() {
            true => Ok(value),
            false => f.sum(value, &outer, false),
        };
        let by_gamma = f.cast(over(f.mul(dy, normal)?)?, gamma_type)?;
        let by_beta = f.cast(over(dy)?, gamma_type)?;
        Ok(vec![by_x, by_gamma, by_beta])
    })
}
