//! The parts of batch normalization over several devices: statistics of one batch, their union, and the gradients.

use jumar_types::dtype::DataType;

use super::Table;
use super::normalization::{computed, number};
use super::reduction::{accumulator, mean_and_squares, reduce, reduce_kept};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnBatchNormElemtBackward", elements_backward),
    ("aclnnBatchNormGatherStatsWithCounts", gather),
    ("aclnnBatchNormReduce", sums),
    ("aclnnBatchNormReduceBackward", sums_backward),
    ("aclnnBatchNormStats", statistics),
];

/// A batch of channels as batch, channels, and the other elements of a channel.
struct Batch {
    x: View,
    shape: [usize; 3],
    compute: DataType,
}

/// The dimensions that the statistics of a channel are taken over.
const AXES: &[usize] = &[0, 2];

impl Batch {
    fn new(cx: &mut Cx<'_>, param: &str) -> Result<Batch, Refusal> {
        let x = cx.tensor(param)?;
        let &[batch, channels, ref rest @ ..] = x.dims() else {
            return Err(cx.invalid(format_args!(
                "{param} has the shape {:?}; at least a batch and channels are required",
                x.dims()
            )));
        };
        let shape = [batch, channels, rest.iter().product()];
        let compute = accumulator(x.dtype());
        let wide = cx.cast(x, compute)?;
        Ok(Batch {
            x: cx.reshaped(wide, &shape)?,
            shape,
            compute,
        })
    }

    /// Returns a tensor of the same shape.
    fn alike(&self, cx: &mut Cx<'_>, param: &str, like: &str) -> Result<View, Refusal> {
        let (view, like) = (cx.tensor(param)?, cx.tensor(like)?);
        cx.check_dims(&view, like.dims())?;
        let view = cx.cast(view, self.compute)?;
        cx.reshaped(view, &self.shape)
    }

    /// Returns a vector with one number for each channel under the shape that broadcasts.
    fn vector(&self, cx: &mut Cx<'_>, vector: View) -> Result<View, Refusal> {
        cx.check_dims(&vector, &[self.shape[1]])?;
        let vector = cx.cast(vector, self.compute)?;
        cx.reshaped(vector, &[1, self.shape[1], 1])
    }

    /// Returns the numbers of a parameter.
    fn figure(&self, cx: &mut Cx<'_>, param: &str) -> Result<View, Refusal> {
        let vector = cx.tensor(param)?;
        self.vector(cx, vector)
    }

    /// Writes the sum over each channel to an output.
    fn write_sum(&self, cx: &mut Cx<'_>, x: View, out: View) -> Result<(), Refusal> {
        cx.check_dims(&out, &[self.shape[1]])?;
        match x.is_empty() {
            true => cx.fill(Scalar::of_i64(0), out),
            false => reduce(cx, "ReduceSum", x, AXES, false, out),
        }
    }
}

fn binary(cx: &mut Cx<'_>, f: F, one: View, two: View, dims: &[usize]) -> Result<View, Refusal> {
    let operands = [Operand::Tensor(one), Operand::Tensor(two)];
    computed(cx, f, one.dtype(), &operands, dims)
}

fn statistics(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let batch = Batch::new(cx, "input")?;
    let (mean_out, rstd_out) = (cx.out("mean")?, cx.out("invstd")?);
    let channels = [batch.shape[1]];
    cx.check_dims(&mean_out, &channels)?;
    cx.check_dims(&rstd_out, &channels)?;
    if batch.x.is_empty() {
        cx.fill(Scalar::of_f64(f64::NAN), mean_out)?;
        return cx.fill(Scalar::of_f64(f64::NAN), rstd_out);
    }
    let (mean, squares) = mean_and_squares(cx, batch.x, AXES)?;
    let variance = reduce_kept(cx, "ReduceMean", squares, AXES)?;
    let moved = [Operand::Tensor(variance), number(cx.float("eps")?)];
    let moved = computed(cx, F::Add, batch.compute, &moved, &[1, channels[0], 1])?;
    let moved = cx.reshaped(moved, &channels)?;
    cx.map(F::Rsqrt, batch.compute, &[Operand::Tensor(moved)], rstd_out)?;
    let mean = cx.reshaped(mean, &channels)?;
    cx.copy(mean, mean_out)
}

fn sums(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let batch = Batch::new(cx, "x")?;
    let (sum, squares) = (cx.out("sum")?, cx.out("squareSum")?);
    batch.write_sum(cx, batch.x, sum)?;
    let products = binary(cx, F::Mul, batch.x, batch.x, &batch.shape)?;
    batch.write_sum(cx, products, squares)
}

fn sums_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let batch = Batch::new(cx, "input")?;
    let gradient = batch.alike(cx, "gradOut", "input")?;
    let (mean, rstd) = (batch.figure(cx, "mean")?, batch.figure(cx, "invstd")?);
    let channels = [batch.shape[1]];
    let sum = cx.temporary(batch.compute, &channels)?;
    batch.write_sum(cx, gradient, sum)?;
    let centred = binary(cx, F::Sub, batch.x, mean, &batch.shape)?;
    let products = binary(cx, F::Mul, centred, gradient, &batch.shape)?;
    let along = cx.temporary(batch.compute, &channels)?;
    batch.write_sum(cx, products, along)?;
    let rstd = cx.reshaped(rstd, &channels)?;
    let to_weight = binary(cx, F::Mul, along, rstd, &channels)?;
    for (name, wanted, value) in [
        ("sumDy", "inputG", sum),
        ("sumDyXmu", "inputG", along),
        ("gradWeight", "weightG", to_weight),
        ("gradBias", "biasG", sum),
    ] {
        if let Some(out) = cx.optional(name)?.filter(|out| !out.is_empty())
            && cx.flag(wanted)?
        {
            cx.check_dims(&out, &channels)?;
            cx.copy(value, out)?;
        }
    }
    Ok(())
}

fn elements_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let batch = Batch::new(cx, "input")?;
    let gradient = batch.alike(cx, "gradOut", "input")?;
    let (mean, rstd) = (batch.figure(cx, "mean")?, batch.figure(cx, "invstd")?);
    let (sum, along) = (batch.figure(cx, "sumDy")?, batch.figure(cx, "sumDyXmu")?);
    let (counter, out) = (cx.tensor("counter")?, cx.out("gradInput")?);
    cx.check_dims(&out, cx.tensor("input")?.dims())?;
    if out.is_empty() {
        return Ok(());
    }
    let compute = batch.compute;
    let counter = cx.cast(counter, compute)?;
    let counter = cx.reshaped(counter, &[counter.elements()])?;
    let count = reduce_kept(cx, "ReduceSum", counter, &[0])?;
    let channels = [1, batch.shape[1], 1];
    let mean_of_gradient = binary(cx, F::Div, sum, count, &channels)?;
    let mean_along = binary(cx, F::Div, along, count, &channels)?;
    let slope = binary(cx, F::Mul, mean_along, rstd, &channels)?;
    let slope = binary(cx, F::Mul, slope, rstd, &channels)?;
    let mut factor = rstd;
    if let Some(weight) = cx.optional("weight")?.filter(|weight| !weight.is_empty()) {
        let weight = batch.vector(cx, weight)?;
        factor = binary(cx, F::Mul, rstd, weight, &channels)?;
    }
    let centred = binary(cx, F::Sub, batch.x, mean, &batch.shape)?;
    let along = binary(cx, F::Mul, centred, slope, &batch.shape)?;
    let across = binary(cx, F::Sub, gradient, mean_of_gradient, &batch.shape)?;
    let across = binary(cx, F::Sub, across, along, &batch.shape)?;
    let result = binary(cx, F::Mul, across, factor, &batch.shape)?;
    let result = cx.reshaped(result, out.dims())?;
    cx.copy(result, out)
}

/// The statistics of all devices' batches together, and the running statistics.
fn gather(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (means, rstds) = (cx.tensor("mean")?, cx.tensor("invstd")?);
    let &[devices, channels] = means.dims() else {
        return Err(cx.invalid(format_args!(
            "mean has the shape {:?}; devices and channels are required",
            means.dims()
        )));
    };
    cx.check_dims(&rstds, means.dims())?;
    let (counts, compute) = (cx.tensor("counts")?, accumulator(means.dtype()));
    if counts.elements() != devices || devices == 0 {
        return Err(cx.invalid(format_args!(
            "counts has the shape {:?}; one count for each of at least one device is required, and mean has {devices} rows",
            counts.dims()
        )));
    }
    let (mean_out, rstd_out) = (cx.out("meanAll")?, cx.out("invstdAll")?);
    cx.check_dims(&mean_out, &[channels])?;
    cx.check_dims(&rstd_out, &[channels])?;
    if channels == 0 {
        return Ok(());
    }
    let (means, rstds) = (cx.cast(means, compute)?, cx.cast(rstds, compute)?);
    let counts = cx.cast(counts, compute)?;
    let counts = cx.reshaped(counts, &[devices, 1])?;
    let (all, row) = ([devices, channels], [1, channels]);
    let total = reduce_kept(cx, "ReduceSum", counts, &[0])?;
    let weighted = binary(cx, F::Mul, means, counts, &all)?;
    let sum = reduce_kept(cx, "ReduceSum", weighted, &[0])?;
    let mean = binary(cx, F::Div, sum, total, &row)?;
    // The variance of a device is 1 / invstd^2 - eps.
    let epsilon = number(cx.float("eps")?);
    let squares = binary(cx, F::Mul, rstds, rstds, &all)?;
    let variances = computed(
        cx,
        F::Reciprocal,
        compute,
        &[Operand::Tensor(squares)],
        &all,
    )?;
    let moved = [Operand::Tensor(variances), epsilon];
    let variances = computed(cx, F::Sub, compute, &moved, &all)?;
    let distances = binary(cx, F::Sub, means, mean, &all)?;
    let distances = binary(cx, F::Mul, distances, distances, &all)?;
    let spread = binary(cx, F::Add, variances, distances, &all)?;
    let spread = binary(cx, F::Mul, spread, counts, &all)?;
    let spread = reduce_kept(cx, "ReduceSum", spread, &[0])?;
    let variance = binary(cx, F::Div, spread, total, &row)?;
    let moved = [Operand::Tensor(variance), epsilon];
    let moved = computed(cx, F::Add, compute, &moved, &row)?;
    let moved = cx.reshaped(moved, &[channels])?;
    cx.map(F::Rsqrt, compute, &[Operand::Tensor(moved)], rstd_out)?;
    let mean = cx.reshaped(mean, &[channels])?;
    cx.copy(mean, mean_out)?;
    let less = [Operand::Tensor(total), number(1.0)];
    let freedom = computed(cx, F::Sub, compute, &less, &[1, 1])?;
    let unbiased = binary(cx, F::Div, spread, freedom, &row)?;
    let unbiased = cx.reshaped(unbiased, &[channels])?;
    let momentum = number(cx.float("momentum")?);
    for (param, value) in [("runningMean", mean), ("runningVar", unbiased)] {
        if let Some(running) = cx.optional(param)?.filter(|running| !running.is_empty()) {
            cx.check_dims(&running, &[channels])?;
            let operands = [Operand::Tensor(running), Operand::Tensor(value), momentum];
            cx.map(F::Lerp, compute, &operands, running)?;
        }
    }
    Ok(())
}
