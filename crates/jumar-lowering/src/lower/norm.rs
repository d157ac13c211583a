//! Normalisation, losses, and what has a state over time.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::filter::{backward, forward};
use super::op::{Op, same};
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AddRmsNorm", |cx, op| {
        let mut both = [op.input("x1")?, op.input("x2")?];
        cx.promote(&mut both)?;
        let x = cx.one("Add", &both, plain())?;
        let gamma = op.input("gamma")?;
        let mut all = rms(cx, x, gamma, op.float("epsilon")?)?;
        all.push(x);
        Ok(all)
    }),
    ("BNInfer", inference),
    ("BNInference", inference),
    ("BatchNorm", |cx, op| batch_norm(cx, op, "")),
    ("BatchNormExt2", |cx, op| {
        Ok(batch_norm(cx, op, "input_")?[..5].to_vec())
    }),
    ("CommonGRU", same),
    ("CommonLSTM", same),
    ("GroupNorm", group_norm),
    ("GroupNormSilu", group_norm_silu),
    ("InstanceNorm", instance_norm),
    ("L2Normalize", l2),
    ("LRN", same),
    ("LayerNorm", layer_norm),
    ("LayerNormV3", same),
    ("LayerNormV4", layer_norm_over_shape),
    ("MVNV2", mvn),
    ("NLLLoss", nll),
    ("ReduceStd", |cx, op| {
        let x = op.input("x")?;
        let dims = cx.dims(x)?;
        let mut list = op.ints("dim")?.to_vec();
        if list.is_empty() {
            list = (0..dims.len() as i64).collect();
        }
        let count: i64 = list
            .iter()
            .filter_map(|&axis| {
                let at = if axis < 0 {
                    axis + dims.len() as i64
                } else {
                    axis
                };
                usize::try_from(at).ok().and_then(|at| dims.get(at))
            })
            .product();
        let axes = cx.ints(&list);
        let (mut mean, _, variance) = moments(cx, x, axes)?;
        let less = i64::from(op.yes("unbiased")?);
        let factor = count as f32 / (count - less) as f32;
        let variance = cx.one("Muls", &[variance], plain().with("value", factor))?;
        let mut deviation = cx.one("Sqrt", &[variance], plain())?;
        if !op.yes("keepdim")? {
            for value in [&mut mean, &mut deviation] {
                *value = cx.one("Squeeze", &[*value], plain().with("axis", list.clone()))?;
            }
        }
        Ok(vec![deviation, mean])
    }),
    ("RmsNorm", rms_norm),
    ("RotaryMul", |cx, op| {
        let x = op.input("x")?;
        let axis = cx.ints(&[-1]);
        let axis = cx.reshape(axis, &[])?;
        let attrs = plain().with("num_split", 2i64);
        let halves = cx.add_node("SplitV", &[Some(x), None, Some(axis)], attrs, 2)?;
        let turned = cx.one("Neg", &[halves[1]], plain())?;
        let attrs = plain().with("concat_dim", -1i64).with("N", 2i64);
        let turned = cx.one("ConcatD", &[turned, halves[0]], attrs)?;
        let a = cx.one("Mul", &[x, op.input("r1")?], plain())?;
        let b = cx.one("Mul", &[turned, op.input("r2")?], plain())?;
        Ok(vec![cx.one("Add", &[a, b], plain())?])
    }),
    ("SoftmaxCrossEntropyLoss", same),
    ("SoftmaxCrossEntropyWithLogits", cross_entropy),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn plain() -> Attrs {
    Attrs::new()
}

/// The mean over axes, which stay with one element.
fn mean(cx: &mut Cx, x: ValueId, axes: ValueId) -> Result<ValueId, OpError> {
    cx.one("ReduceMean", &[x, axes], plain().with("keep_dims", true))
}

/// Mean and variance over axes.
fn moments(cx: &mut Cx, x: ValueId, axes: ValueId) -> Result<(ValueId, ValueId, ValueId), OpError> {
    let mean_of = mean(cx, x, axes)?;
    let centred = cx.one("Sub", &[x, mean_of], plain())?;
    let square = cx.one("Mul", &[centred, centred], plain())?;
    let variance = mean(cx, square, axes)?;
    Ok((mean_of, centred, variance))
}

/// `1 / sqrt(variance + epsilon)`.
fn inverse_deviation(cx: &mut Cx, variance: ValueId, epsilon: f32) -> Result<ValueId, OpError> {
    let epsilon = cx.number(f64::from(epsilon), variance)?;
    let shifted = cx.one("Add", &[variance, epsilon], plain())?;
    let root = cx.one("Sqrt", &[shifted], plain())?;
    cx.one("Reciprocal", &[root], plain())
}

/// The names of the inputs begin with `prefix`.
fn batch_norm(cx: &mut Cx, op: &Op<'_>, prefix: &str) -> Answer {
    let input = |name: &str| op.input(&format!("{prefix}{name}"));
    let x = input("x")?;
    let format = op.image_format(cx.rank(x)?.saturating_sub(2))?;
    let epsilon = op.float("epsilon")?;
    if !op.yes("is_training")? {
        let inputs = ["x", "scale", "offset", "mean", "variance"]
            .iter()
            .map(|name| input(name).map(Some))
            .collect::<Result<Vec<_>, _>>()?;
        let attrs = plain()
            .with("epsilon", epsilon)
            .with("data_format", format)
            .with("is_training", false);
        let y = cx.add_node("BatchNorm", &inputs, attrs, 1)?[0];
        let (mean, variance) = (input("mean")?, input("variance")?);
        return Ok(vec![y, mean, variance, mean, variance, mean]);
    }
    let dims = cx.dims(x)?;
    let rank = dims.len();
    let channel = if format.starts_with("NC") {
        1
    } else {
        rank.saturating_sub(1)
    };
    if rank < 2 {
        return Err(invalid("its input has to have two dimensions at least"));
    }
    let others: Vec<i64> = (0..rank)
        .filter(|&axis| axis != channel)
        .map(|axis| axis as i64)
        .collect();
    let count: i64 = others.iter().map(|&axis| dims[axis as usize]).product();
    let axes = cx.ints(&others);
    // The moments have the type of the scale, which may have more digits than the images.
    let given = cx.ty(x).dtype;
    let x = cx.cast(x, cx.ty(input("scale")?).dtype)?;
    let (mean_of, centred, variance) = moments(cx, x, axes)?;
    let factor = inverse_deviation(cx, variance, epsilon)?;
    let mut along = vec![1; rank];
    along[channel] = -1;
    let scale = cx.reshape(input("scale")?, &along)?;
    let offset = cx.reshape(input("offset")?, &along)?;
    let y = cx.one("Mul", &[centred, factor], plain())?;
    let y = cx.one("Mul", &[y, scale], plain())?;
    let y = cx.one("Add", &[y, offset], plain())?;
    let y = cx.cast(y, given)?;
    let mean_of = cx.reshape(mean_of, &[-1])?;
    let variance = cx.reshape(variance, &[-1])?;
    let bessel = count as f32 / (count - 1).max(1) as f32;
    let mut batch_mean = mean_of;
    let mut batch_variance = cx.one("Muls", &[variance], plain().with("value", bessel))?;
    // The second one has no such attribute.
    let share = match prefix {
        "" => op.float("exponential_avg_factor")?,
        _ => 1.0,
    };
    if share != 1.0 {
        for (own, name) in [(&mut batch_mean, "mean"), (&mut batch_variance, "variance")] {
            let before = cx.one("Muls", &[input(name)?], plain().with("value", 1.0 - share))?;
            let now = cx.one("Muls", &[*own], plain().with("value", share))?;
            *own = cx.one("Add", &[before, now], plain())?;
        }
    }
    Ok(vec![
        y,
        batch_mean,
        batch_variance,
        mean_of,
        variance,
        mean_of,
    ])
}

/// `(x - mean) / sqrt(variance + epsilon)` along the channels, with a factor and an offset where they are given.
fn inference(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let given = cx.ty(x).dtype;
    // What was measured may have more digits than the images.
    let exact = cx.ty(op.input("mean")?).dtype;
    let x = cx.cast(x, exact)?;
    let rank = cx.rank(x)?;
    let mut along = vec![1; rank];
    *along
        .get_mut(1)
        .ok_or_else(|| invalid("its input has to have two dimensions at least"))? = -1;
    let mean = cx.reshape(op.input("mean")?, &along)?;
    let variance = cx.reshape(op.input("variance")?, &along)?;
    let factor = inverse_deviation(cx, variance, op.float("epsilon")?)?;
    let mut y = cx.one("Sub", &[x, mean], plain())?;
    y = cx.one("Mul", &[y, factor], plain())?;
    if let Some(scale) = op.maybe("scale") {
        let scale = cx.reshape(scale, &along)?;
        y = cx.one("Mul", &[y, scale], plain())?;
    }
    if let Some(offset) = op.maybe("b").or_else(|| op.maybe("offset")) {
        let offset = cx.reshape(offset, &along)?;
        y = cx.one("Add", &[y, offset], plain())?;
    }
    Ok(vec![cx.cast(y, given)?])
}

/// Normalises over as many of the last dimensions as the input `normalized_shape` lists.
fn layer_norm_over_shape(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let shape = op.input("normalized_shape")?;
    let rank = cx.rank(x)? as i64;
    let count = match cx.dims(shape)?.as_slice() {
        &[count] if (1..=rank).contains(&count) => count,
        other => {
            return Err(invalid(format!(
                "its input normalized_shape has the shape {other:?}; 1 dimension with 1 to {rank} elements is required"
            )));
        }
    };
    let given = cx.ty(x).dtype;
    let affine = [op.maybe("gamma"), op.maybe("beta")];
    // Mixed types are computed in the wider one, and the result is rounded once.
    let mixed = affine.iter().flatten().any(|id| cx.ty(*id).dtype != given);
    let common = if mixed { DataType::Float32 } else { given };
    let wide = cx.cast(x, common)?;
    let gamma = match affine[0] {
        Some(gamma) => cx.cast(gamma, common)?,
        None => cx.number(1.0, wide)?,
    };
    let mut inputs = vec![Some(wide), Some(gamma)];
    if let Some(beta) = affine[1] {
        inputs.push(Some(cx.cast(beta, common)?));
    }
    let attrs = plain()
        .with("begin_norm_axis", rank - count)
        .with("begin_params_axis", rank - count)
        .with("epsilon", op.float("epsilon")?);
    let mut all = cx.add_node("LayerNormV3", &inputs, attrs, op.outputs())?;
    all[0] = cx.cast(all[0], given)?;
    Ok(all)
}

fn layer_norm(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let epsilon = op.float("epsilon")?;
    let attrs = plain()
        .with("begin_norm_axis", op.int("begin_norm_axis")?)
        .with("begin_params_axis", op.int("begin_params_axis")?)
        .with("epsilon", epsilon);
    let inputs = [Some(x), Some(op.input("gamma")?), Some(op.input("beta")?)];
    if !op.uses(1) && !op.uses(2) {
        return cx.add_node("LayerNormV3", &inputs, attrs, 1);
    }
    let mut all = cx.add_node("LayerNormV3", &inputs, attrs, 3)?;
    // The operator returns 1 / sqrt(variance + epsilon). The variance is computed by itself: what is left of it behind the
    // root may be negative.
    let wide = match cx.ty(x).dtype {
        DataType::Float64 => x,
        _ => cx.cast(x, DataType::Float32)?,
    };
    let rank = cx.rank(x)? as i64;
    let begin = op.int("begin_norm_axis")?;
    let begin = if begin < 0 { begin + rank } else { begin };
    let axes: Vec<i64> = (begin..rank).collect();
    let axes = cx.ints(&axes);
    all[2] = moments(cx, wide, axes)?.2;
    let dtype = cx.ty(op.input("gamma")?).dtype;
    for moment in &mut all[1..] {
        *moment = cx.cast(*moment, dtype)?;
    }
    Ok(all)
}

/// Each image's channels for themselves.
fn instance_norm(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let spatial = cx.rank(op.input("x")?)?.saturating_sub(2);
    let format = op.image_format(spatial)?;
    let last = !format.starts_with("NC") && format != "ND";
    let x = forward(cx, op.input("x")?, last, spatial)?;
    let epsilon = op.float("epsilon")?;
    let attrs = plain().with("epsilon", epsilon).with("data_format", "NCHW");
    let inputs = [x, op.input("gamma")?, op.input("beta")?];
    let y = cx.one("InstanceNorm", &inputs, attrs)?;
    let mut all = vec![backward(cx, y, last, spatial)?];
    if op.uses(1) || op.uses(2) {
        let axes: Vec<i64> = (2..spatial as i64 + 2).collect();
        let axes = cx.ints(&axes);
        let (mean, _, variance) = moments(cx, x, axes)?;
        for moment in [mean, variance] {
            all.push(backward(cx, moment, last, spatial)?);
        }
    }
    Ok(all)
}

/// Channels in groups.
fn group_norm(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let spatial = cx.rank(op.input("x")?)?.saturating_sub(2);
    let last = !op.image_format(spatial)?.starts_with("NC");
    let x = forward(cx, op.input("x")?, last, spatial)?;
    let groups = op.int("num_groups")?;
    let attrs = op.attrs_for("GroupNorm")?.with("data_format", "NCHW");
    let inputs = [x, op.input("gamma")?, op.input("beta")?];
    let y = cx.one("GroupNorm", &inputs, attrs)?;
    let mut all = vec![backward(cx, y, last, spatial)?];
    if op.uses(1) || op.uses(2) {
        let dims = cx.dims(x)?;
        let rows = cx.reshape(x, &[dims[0] * groups, -1])?;
        let axes = cx.ints(&[1]);
        let (mean, _, variance) = moments(cx, rows, axes)?;
        for moment in [mean, variance] {
            all.push(cx.reshape(moment, &[-1])?);
        }
    }
    Ok(all)
}

/// Channels in groups, behind them the product with the logistic function.
fn group_norm_silu(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let dims = cx.dims(x)?;
    let channels = *dims
        .get(1)
        .ok_or_else(|| invalid("its input has to have two dimensions at least"))?;
    let dtype = cx.ty(x).dtype;
    let (groups, epsilon) = (op.int("num_groups")?, op.float("eps")?);
    let mut along = Vec::new();
    for (name, otherwise) in [("gamma", 1.0), ("beta", 0.0)] {
        along.push(match op.maybe(name) {
            Some(value) => cx.cast(value, dtype)?,
            None => {
                let value = cx.number(otherwise, x)?;
                let dims = cx.ints(&[channels]);
                cx.one("Fill", &[dims, value], plain())?
            }
        });
    }
    let attrs = plain()
        .with("num_groups", groups)
        .with("eps", epsilon)
        .with("data_format", "NCHW");
    let mut y = cx.one("GroupNorm", &[x, along[0], along[1]], attrs)?;
    if op.yes("activate_silu")? {
        y = cx.one("Swish", &[y], plain())?;
    }
    let rows = cx.reshape(x, &[dims[0], groups, -1])?;
    let axes = cx.ints(&[2]);
    let (mean, _, variance) = moments(cx, rows, axes)?;
    let factor = inverse_deviation(cx, variance, epsilon)?;
    let mean = cx.reshape(mean, &[dims[0], groups])?;
    let factor = cx.reshape(factor, &[dims[0], groups])?;
    Ok(vec![y, mean, factor])
}

/// Over as many of the last axes as gamma has.
fn rms_norm(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, gamma) = (op.input("x")?, op.input("gamma")?);
    rms(cx, x, gamma, op.float("epsilon")?)
}

fn rms(cx: &mut Cx, x: ValueId, gamma: ValueId, epsilon: f32) -> Answer {
    let attrs = plain().with("epsilon", epsilon);
    let count = cx.rank(gamma)?;
    if count <= 1 {
        return cx.add_node("RmsNorm", &[Some(x), Some(gamma)], attrs, 2);
    }
    let dims = cx.dims(x)?;
    let kept = dims.len().checked_sub(count).ok_or_else(|| {
        invalid(format!(
            "gamma has {count} dimensions, and its input has {}",
            dims.len()
        ))
    })?;
    let flat = [&dims[..kept], &[dims[kept..].iter().product()]].concat();
    let rows = cx.reshape(x, &flat)?;
    let gamma = cx.reshape(gamma, &[-1])?;
    let all = cx.add_node("RmsNorm", &[Some(rows), Some(gamma)], attrs, 2)?;
    let ones = [&dims[..kept], &vec![1; count][..]].concat();
    Ok(vec![cx.reshape(all[0], &dims)?, cx.reshape(all[1], &ones)?])
}

/// The loss, and the sum of the weights that it counts.
fn nll(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let attrs = op.attrs_for("NLLLoss")?;
    let inputs = op.in_order()?;
    let mut all = cx.add_node("NLLLoss", &inputs, attrs, 1)?;
    if op.uses(1) {
        let (x, target) = (op.input("x")?, op.input("target")?);
        let ignored = cx.number(op.int("ignore_index")? as f64, target)?;
        let counts = cx.one("NotEqual", &[target, ignored], plain())?;
        // What is ignored may lie outside of the classes.
        let zero = cx.number(0.0, target)?;
        let class = cx.one("SelectV2", &[counts, target, zero], plain())?;
        let counts = cx.cast(counts, cx.ty(x).dtype)?;
        let each = match op.maybe("weight") {
            Some(weight) => {
                let axis = cx.ints(&[0]);
                let axis = cx.reshape(axis, &[])?;
                let weight = cx.cast(weight, cx.ty(x).dtype)?;
                let weight = cx.one("GatherV2", &[weight, class, axis], plain())?;
                cx.one("Mul", &[weight, counts], plain())?
            }
            None => counts,
        };
        let flat = cx.reshape(each, &[-1])?;
        let axis = cx.ints(&[0]);
        all.push(cx.one("ReduceSum", &[flat, axis], plain())?);
    }
    Ok(all)
}

fn mvn(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let axes = cx.ints(op.ints("axes")?);
    let (_, centred, variance) = moments(cx, x, axes)?;
    let root = cx.one("Sqrt", &[variance], plain())?;
    let epsilon = cx.number(f64::from(op.float("eps")?), x)?;
    let divisor = cx.one("Add", &[root, epsilon], plain())?;
    Ok(vec![cx.one("RealDiv", &[centred, divisor], plain())?])
}

fn l2(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let axes = cx.ints(op.ints("axis")?);
    let norm = cx.one(
        "jumar.ReduceL2",
        &[x, axes],
        plain().with("keep_dims", true),
    )?;
    let least = cx.number(f64::from(op.float("eps")?), x)?;
    let norm = cx.one("Maximum", &[norm, least], plain())?;
    Ok(vec![cx.one("RealDiv", &[x, norm], plain())?])
}

/// The loss of each row, and its gradient.
fn cross_entropy(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (logits, labels) = (op.input("features")?, op.input("labels")?);
    let log = cx.one("LogSoftmaxV2", &[logits], plain().with("axes", vec![-1]))?;
    let terms = cx.one("Mul", &[labels, log], plain())?;
    let last = cx.ints(&[-1]);
    let sum = cx.one("ReduceSum", &[terms, last], plain())?;
    let loss = cx.one("Neg", &[sum], plain())?;
    let softmax = cx.one("SoftmaxV2", &[logits], plain().with("axes", vec![-1]))?;
    let gradient = cx.one("Sub", &[softmax, labels], plain())?;
    Ok(vec![loss, gradient])
}
