//! Normalisation, losses, and what has a state over time.

use jumar_ops::{Attrs, Builder as _, OpError};

use super::op::{Op, same};
use super::{Cx, Lowering, invalid};
use crate::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("BNInference", inference),
    ("BatchNorm", batch_norm),
    ("CommonGRU", same),
    ("CommonLSTM", same),
    ("GroupNorm", same),
    ("InstanceNorm", same),
    ("L2Normalize", l2),
    ("LRN", same),
    ("LayerNorm", layer_norm),
    ("LayerNormV3", same),
    ("LayerNormV4", same),
    ("MVNV2", mvn),
    ("NLLLoss", same),
    ("RmsNorm", same),
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

fn batch_norm(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let format = op.text("data_format")?;
    let epsilon = op.float("epsilon")?;
    if !op.yes("is_training")? {
        let inputs = ["x", "scale", "offset", "mean", "variance"]
            .iter()
            .map(|name| op.input(name).map(Some))
            .collect::<Result<Vec<_>, _>>()?;
        let attrs = plain()
            .with("epsilon", epsilon)
            .with("data_format", format)
            .with("is_training", false);
        let y = cx.add_node("BatchNorm", &inputs, attrs, 1)?[0];
        let (mean, variance) = (op.input("mean")?, op.input("variance")?);
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
    let (mean_of, centred, variance) = moments(cx, x, axes)?;
    let factor = inverse_deviation(cx, variance, epsilon)?;
    let mut along = vec![1; rank];
    along[channel] = -1;
    let scale = cx.reshape(op.input("scale")?, &along)?;
    let offset = cx.reshape(op.input("offset")?, &along)?;
    let y = cx.one("Mul", &[centred, factor], plain())?;
    let y = cx.one("Mul", &[y, scale], plain())?;
    let y = cx.one("Add", &[y, offset], plain())?;
    let mean_of = cx.reshape(mean_of, &[-1])?;
    let variance = cx.reshape(variance, &[-1])?;
    let bessel = count as f32 / (count - 1).max(1) as f32;
    let mut batch_mean = mean_of;
    let mut batch_variance = cx.one("Muls", &[variance], plain().with("value", bessel))?;
    let share = op.float("exponential_avg_factor")?;
    if share != 1.0 {
        for (own, name) in [(&mut batch_mean, "mean"), (&mut batch_variance, "variance")] {
            let before = cx.one(
                "Muls",
                &[op.input(name)?],
                plain().with("value", 1.0 - share),
            )?;
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
    Ok(vec![y])
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
    // What comes out is 1 / sqrt(variance + epsilon).
    let root = cx.one("Reciprocal", &[all[2]], plain())?;
    let shifted = cx.one("Mul", &[root, root], plain())?;
    let epsilon = cx.number(f64::from(epsilon), shifted)?;
    all[2] = cx.one("Sub", &[shifted, epsilon], plain())?;
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
