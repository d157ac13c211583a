//! Sums and moments along the channels of images, as training with batch and instance normalisation takes them apart.

use jumar_ops::{Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::index::{owners, summed};
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("BN3DTrainingReduce", |cx, op| channel_sums(cx, op)),
    ("BNInferGrad", |cx, op| {
        let grads = op.input("grads")?;
        let (dtype, rank) = (cx.ty(grads).dtype, cx.rank(grads)?);
        let along = along(rank, op.channel_axis("grads", rank)?);
        let epsilon = f64::from(op.float("epsilon")?);
        let (scale, variance) = (op.input("scale")?, op.input("batch_variance")?);
        let f = Formula::new(cx);
        let factor = f.div(scale, f.of("Sqrt", f.plus(variance, epsilon)?)?)?;
        let factor = f.reshape(factor, &along)?;
        let y = f.mul(f.cast(grads, DataType::Float32)?, factor)?;
        Ok(vec![f.cast(y, dtype)?])
    }),
    ("BNTrainingReduce", |cx, op| channel_sums(cx, op)),
    ("BNTrainingReduceGrad", input_gradient),
    ("BNTrainingUpdateGrad", |cx, op| {
        let (grads, x) = (op.input("grads")?, op.input("x")?);
        let rank = cx.rank(x)?;
        let channel = op.channel_axis("x", rank)?;
        let (axes, along) = (others(rank, channel)?, along(rank, channel));
        let f = Formula::new(cx);
        let grads = f.cast(grads, DataType::Float32)?;
        let normal = centred(&f, op, x, &along)?;
        Ok(vec![
            f.sum(f.mul(grads, normal)?, &axes, false)?,
            f.sum(grads, &axes, false)?,
        ])
    }),
    ("BNTrainingUpdateV2", |cx, op| normalised(cx, op)),
    ("BNTrainingUpdateV3", |cx, op| {
        let all = normalised(cx, op)?;
        Ok(vec![all[0], all[1], all[2], all[1], all[2]])
    }),
    ("BiasAddGrad", |cx, op| {
        let x = op.input("x")?;
        let rank = cx.rank(x)?;
        let channel = if op.image_format(rank.saturating_sub(2))?.starts_with("NC") {
            1
        } else {
            rank.saturating_sub(1)
        };
        let axes = others(rank, channel)?;
        let f = Formula::new(cx);
        Ok(vec![f.sum(x, &axes, false)?])
    }),
    ("GroupedBiasAddGrad", grouped),
    ("INTrainingReduceV2", |cx, op| {
        let x = op.input("x")?;
        let axes = spatial(op, "x", cx.rank(x)?)?;
        let f = Formula::new(cx);
        let x = f.cast(x, DataType::Float32)?;
        Ok(vec![
            f.sum(x, &axes, true)?,
            f.sum(f.square(x)?, &axes, true)?,
        ])
    }),
    ("INInferV2", |cx, op| {
        let x = op.input("x")?;
        let dtype = cx.ty(x).dtype;
        let epsilon = f64::from(op.float("epsilon")?);
        let (mean, variance) = (op.input("mean")?, op.input("variance")?);
        let f = Formula::new(cx);
        let centred = f.sub(f.cast(x, DataType::Float32)?, mean)?;
        let root = f.of("Sqrt", f.plus(variance, epsilon)?)?;
        let mut y = f.div(centred, root)?;
        if let Some(gamma) = op.maybe("gamma") {
            y = f.mul(y, gamma)?;
        }
        if let Some(beta) = op.maybe("beta") {
            y = f.add(y, beta)?;
        }
        if f.dims(y)? != f.dims(x)? {
            return Err(invalid(format!(
                "its inputs have the shape {:?} together; that of x, {:?}, is required: the statistics must be [n, c, 1, 1]",
                f.dims(y)?,
                f.dims(x)?
            )));
        }
        let y = f.cast(y, dtype)?;
        Ok(vec![
            y,
            f.of("Identity", mean)?,
            f.of("Identity", variance)?,
        ])
    }),
    ("INTrainingUpdateGrad", |cx, op| {
        let (dy, x) = (op.input("dy")?, op.input("x")?);
        let axes = spatial(op, "x", cx.rank(x)?)?;
        let (variance, mean) = (op.input("variance")?, op.input("mean")?);
        let f = Formula::new(cx);
        let (dy, x) = (
            f.cast(dy, DataType::Float32)?,
            f.cast(x, DataType::Float32)?,
        );
        // The operator has no attribute for it: this number is its definition's.
        let root = f.of("Sqrt", f.plus(variance, 1e-6)?)?;
        let normal = f.div(f.sub(x, mean)?, root)?;
        Ok(vec![
            f.sum(f.mul(dy, normal)?, &axes, true)?,
            f.sum(dy, &axes, true)?,
        ])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Returns the shape in which a vector of channels lies along their axis.
fn along(rank: usize, channel: usize) -> Vec<i64> {
    let mut dims = vec![1; rank];
    dims[channel] = -1;
    dims
}

/// Returns the axes beside that of the channels.
fn others(rank: usize, channel: usize) -> Result<Vec<i64>, OpError> {
    if rank < 2 {
        return Err(invalid(format!(
            "its input has {rank} dimensions; 2 at least are required"
        )));
    }
    Ok((0..rank)
        .filter(|&axis| axis != channel)
        .map(|axis| axis as i64)
        .collect())
}

/// Returns the spatial axes: those beside images and channels.
fn spatial(op: &Op<'_>, name: &str, rank: usize) -> Result<Vec<i64>, OpError> {
    let channel = op.channel_axis(name, rank)?;
    if rank < 3 {
        return Err(invalid(format!(
            "its input {name} has {rank} dimensions; 3 at least are required"
        )));
    }
    Ok((1..rank)
        .filter(|&axis| axis != channel)
        .map(|axis| axis as i64)
        .collect())
}

/// Returns the input moved by the mean of its channel and divided by the root of its variance, in float32.
fn centred(f: &Formula<'_>, op: &Op<'_>, x: ValueId, along: &[i64]) -> Result<ValueId, OpError> {
    let mean = f.reshape(op.input("batch_mean")?, along)?;
    let variance = f.plus(op.input("batch_variance")?, f64::from(op.float("epsilon")?))?;
    let root = f.reshape(f.of("Sqrt", variance)?, along)?;
    f.div(f.sub(f.cast(x, DataType::Float32)?, mean)?, root)
}

/// The gradient of an input that was normalised by its own moments: what moves with the mean and the variance of a channel is taken out.
fn input_gradient(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (grads, x) = (op.input("grads")?, op.input("x")?);
    let (dtype, rank) = (cx.ty(grads).dtype, cx.rank(x)?);
    let channel = op.channel_axis("x", rank)?;
    let count: i64 = cx
        .dims(x)?
        .iter()
        .enumerate()
        .filter(|&(axis, _)| axis != channel)
        .map(|(_, &dim)| dim)
        .product();
    let along = along(rank, channel);
    let f = Formula::new(cx);
    let part = |name: &str| {
        let sums = f.reshape(op.input(name)?, &along)?;
        f.div(sums, f.number(count.max(1) as f64, sums)?)
    };
    let normal = centred(&f, op, x, &along)?;
    let grads = f.cast(grads, DataType::Float32)?;
    let rest = f.sub(
        f.sub(grads, part("diff_offset")?)?,
        f.mul(normal, part("diff_scale")?)?,
    )?;
    let variance = f.plus(op.input("batch_variance")?, f64::from(op.float("epsilon")?))?;
    let factor = f.div(op.input("scale")?, f.of("Sqrt", variance)?)?;
    let y = f.mul(rest, f.reshape(factor, &along)?)?;
    Ok(vec![f.cast(y, dtype)?])
}

/// The sums of the elements and of their squares for each channel, in float32.
fn channel_sums(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let rank = cx.rank(x)?;
    let axes = others(rank, op.channel_axis("x", rank)?)?;
    let f = Formula::new(cx);
    let x = f.cast(x, DataType::Float32)?;
    Ok(vec![
        f.sum(x, &axes, false)?,
        f.sum(f.square(x)?, &axes, false)?,
    ])
}

/// Returns the normalised images, the means and the variances of the channels, from their sums.
pub(super) fn normalised(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x)?);
    let channel = op.channel_axis("x", dims.len())?;
    let count = statistics_count(cx, op)?;
    let along = along(dims.len(), channel);
    let epsilon = f64::from(op.float("epsilon")?);
    let (sum, squares) = (op.input("sum")?, op.input("square_sum")?);
    let (scale, offset) = (op.input("scale")?, op.input("offset")?);
    let f = Formula::new(cx);
    let share = 1.0 / count.max(1) as f64;
    let mean = f.times(f.reshape(sum, &[-1])?, share)?;
    let variance = f.times(f.reshape(squares, &[-1])?, share)?;
    let variance = f.sub(variance, f.square(mean)?)?;
    let variance = f.max(variance, f.number(0.0, variance)?)?;
    let factor = f.div(
        f.reshape(scale, &[-1])?,
        f.of("Sqrt", f.plus(variance, epsilon)?)?,
    )?;
    let y = f.sub(f.cast(x, DataType::Float32)?, f.reshape(mean, &along)?)?;
    let y = f.mul(y, f.reshape(factor, &along)?)?;
    let y = f.add(y, f.reshape(offset, &along)?)?;
    Ok(vec![f.cast(y, dtype)?, mean, variance])
}

/// Returns how many elements of a channel of x the statistics are of.
pub(super) fn statistics_count(cx: &Cx, op: &Op<'_>) -> Result<i64, OpError> {
    let dims = cx.dims(op.input("x")?)?;
    let channel = op.channel_axis("x", dims.len())?;
    let axes = others(dims.len(), channel)?;
    Ok(axes.iter().map(|&axis| dims[axis as usize]).product())
}

/// The sums of the rows of groups: of equal sizes, or with the ends or the sizes of the groups.
fn grouped(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let grad = op.input("grad_y")?;
    let (dtype, dims) = (cx.ty(grad).dtype, cx.dims(grad)?);
    let Some(groups) = op.maybe("group_idx") else {
        if dims.len() != 3 {
            return Err(invalid(format!(
                "its input grad_y has {} dimensions; without group_idx it must have 3",
                dims.len()
            )));
        }
        let f = Formula::new(cx);
        return Ok(vec![f.sum(grad, &[1], false)?]);
    };
    let count = match cx.dims(groups)?[..] {
        [count] if dims.len() == 2 => count,
        ref other => {
            return Err(invalid(format!(
                "its input grad_y has {} dimensions and group_idx the shape {other:?}; 2 dimensions and 1 are required",
                dims.len()
            )));
        }
    };
    let mut ends = cx.cast(groups, DataType::Int64)?;
    match op.int("group_idx_type")? {
        0 => {}
        1 => {
            let axis = cx.add_constant(Tensor::scalar(DataType::Int64, 0.0)?);
            ends = cx.one("Cumsum", &[ends, axis], jumar_ops::Attrs::new())?;
        }
        other => {
            return Err(invalid(format!(
                "its attribute group_idx_type is {other}; it must be 0 (ends) or 1 (sizes)"
            )));
        }
    }
    if let Some(list) = cx.constant(ends).and_then(Tensor::ints) {
        let ordered = list.windows(2).all(|pair| pair[0] <= pair[1]);
        if !ordered || list.last() != Some(&dims[0]) {
            return Err(invalid(format!(
                "the groups end at {list:?}; the ends must ascend to {}, the number of rows",
                dims[0]
            )));
        }
    }
    let ids = owners(cx, ends, dims[0])?;
    let wide = cx.cast(grad, DataType::Float32)?;
    let sums = summed(cx, wide, ids, count)?;
    Ok(vec![cx.cast(sums, dtype)?])
}
