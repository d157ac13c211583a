//! Embeddings and the negative log-likelihood, which both select by index; and their gradients.

use std::sync::OnceLock;

use jumar_ops::{Attrs, Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::super::normalization::{check_count, reduction};
use super::super::reduction::{accumulator, without_dims};
use super::Real;
use crate::build::{Cx, Input};
use crate::view::View;
use crate::{Refusal, Scalar};

/// Parts that the targets of a loss are split into.
const LOSS_PARTS: usize = 16;

pub(super) fn embedding(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (weight, indices, out) = (cx.tensor("weight")?, cx.tensor("indices")?, cx.out("out")?);
    let &[_, width] = weight.dims() else {
        return Err(cx.invalid(format_args!(
            "weight has the shape {:?}; expected 2 dimensions",
            weight.dims()
        )));
    };
    let mut dims = indices.dims().to_vec();
    dims.push(width);
    cx.check_dims(&out, &dims)?;
    cx.check_types(&indices, &[DataType::Int32, DataType::Int64])?;
    cx.op(
        "GatherV2",
        &[weight.into(), indices.into(), Input::ints(&[0])],
        &Attrs::new(),
        &[out],
    )
}

/// Adds rows of gradients at the rows that indices name.
struct AddRows {
    compute: DataType,
    rows: usize,
    width: usize,
    skipped: i64,
    by_frequency: bool,
}

impl Kernel for AddRows {
    fn scratch_bytes(&self) -> usize {
        self.counters() * size_of::<i32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.compute {
            DataType::Float64 => self.run_in::<f64>(call),
            _ => self.run_in::<f32>(call),
        }
    }
}

impl AddRows {
    /// The rows whose occurrences are counted.
    fn counters(&self) -> usize {
        match self.by_frequency {
            true => self.rows,
            false => 0,
        }
    }

    fn run_in<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (gradient, indices) = (call.input::<T>(0)?.flat(), call.input::<i64>(1)?.flat());
        let out = call.output::<T>(0)?.flat();
        out.fill(T::of(0.0));
        let counts = call.scratch::<i32>(0, self.counters())?;
        counts.fill(0);
        let row = |index: usize| {
            let row = indices.get(index);
            usize::try_from(row)
                .ok()
                .filter(|&row| row < self.rows)
                .ok_or_else(|| {
                    OpError::new(
                        OpErrorKind::Data,
                        format!("the index {row} names none of {} rows", self.rows),
                    )
                })
        };
        for index in 0..indices.len() {
            let row = row(index)?;
            if self.by_frequency {
                counts.set(row, counts.get(row).saturating_add(1));
            }
        }
        // Threads share the columns: each adds the rows in order, so that sums do not depend on their number.
        let grain = match cfg!(test) {
            true => 1,
            false => (1usize << 13).div_ceil(indices.len().max(1)).max(16),
        };
        call.workers().ranges(self.width, grain, |first, count| {
            for index in 0..indices.len() {
                let own = indices.get(index);
                if own == self.skipped {
                    continue;
                }
                // Every index was checked.
                let row = own as usize;
                let share = match self.by_frequency {
                    true => f64::from(counts.get(row)).recip(),
                    false => 1.0,
                };
                let to = out.slice(row * self.width + first, count);
                let from = gradient.slice(index * self.width + first, count);
                to.update(from, |sum, part| {
                    T::of(sum.number() + part.number() * share)
                });
            }
        });
        Ok(())
    }
}

pub(super) fn embedding_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, indices, out) = (cx.tensor("grad")?, cx.tensor("indices")?, cx.out("out")?);
    let (rows, skipped) = (cx.int("numWeights")?, cx.int("paddingIdx")?);
    let mut dims = indices.dims().to_vec();
    dims.extend(gradient.dims().last());
    cx.check_dims(&gradient, &dims)?;
    let Some(&width) = gradient.dims().last() else {
        return Err(cx.invalid("grad has no dimensions; at least 1 is required"));
    };
    let rows = usize::try_from(rows).map_err(|_| {
        cx.invalid(format_args!(
            "numWeights is {rows}; it must not be negative"
        ))
    })?;
    cx.check_dims(&out, &[rows, width])?;
    if out.is_empty() {
        return Ok(());
    }
    if indices.is_empty() {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let compute = accumulator(gradient.dtype());
    let kernel = AddRows {
        compute,
        rows,
        width,
        skipped,
        by_frequency: cx.flag("scaleGradByFreq")?,
    };
    let gradient = cx.cast(gradient, compute)?;
    let gradient = cx.dense(gradient)?;
    let indices = cx.cast(indices, DataType::Int64)?;
    let indices = cx.dense(indices)?;
    let result = cx.temporary(compute, out.dims())?;
    cx.kernel(
        Box::new(kernel),
        &[Some(gradient), Some(indices)],
        &[result],
        false,
    )?;
    cx.copy(result, out)
}

/// Scales the rows that indices name to a largest norm. Each row is scaled once, however often an index names it.
struct RenormRows {
    compute: DataType,
    operator: &'static str,
    rows: usize,
    width: usize,
    largest: f64,
    order: f64,
}

impl RenormRows {
    fn norm(&self, row: impl Iterator<Item = f64>) -> f64 {
        let sizes = row.map(f64::abs);
        match self.order {
            // Not-a-number stays whatever follows it.
            f64::INFINITY => {
                sizes.fold(0.0, |most, x| if x > most || x.is_nan() { x } else { most })
            }
            f64::NEG_INFINITY => sizes.fold(f64::INFINITY, |least, x| {
                if x < least || x.is_nan() { x } else { least }
            }),
            0.0 => sizes.filter(|&x| x != 0.0).count() as f64,
            2.0 => sizes.map(|x| x * x).sum::<f64>().sqrt(),
            order => sizes
                .map(|x| x.powf(order))
                .sum::<f64>()
                .powf(order.recip()),
        }
    }

    fn run_in<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (table, indices) = (call.input::<T>(0)?.flat(), call.input::<i64>(1)?.flat());
        let out = call.output::<T>(0)?.flat();
        for index in 0..out.len() {
            out.set(index, table.get(index));
        }
        let mut scaled = vec![false; self.rows];
        for index in 0..indices.len() {
            let row = indices.get(index);
            let named = usize::try_from(row).ok().filter(|&row| row < self.rows);
            let Some(row) = named else {
                let (operator, rows) = (self.operator, self.rows);
                return Err(OpError::new(
                    OpErrorKind::Data,
                    format!("{operator}: the index {row} names none of {rows} rows"),
                ));
            };
            if std::mem::replace(&mut scaled[row], true) {
                continue;
            }
            let entries = row * self.width..(row + 1) * self.width;
            let norm = self.norm(entries.clone().map(|at| table.get(at).number()));
            if norm > self.largest {
                let scale = self.largest / (norm + 1e-7);
                for at in entries {
                    out.set(at, T::of(table.get(at).number() * scale));
                }
            }
        }
        Ok(())
    }
}

impl Kernel for RenormRows {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.compute {
            DataType::Float64 => self.run_in::<f64>(call),
            _ => self.run_in::<f32>(call),
        }
    }
}

pub(super) fn embedding_renorm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (table, indices, out) = (cx.tensor("selfRef")?, cx.tensor("indices")?, cx.output()?);
    let (largest, order) = (cx.float("maxNorm")?, cx.float("normType")?);
    let &[rows, width] = table.dims() else {
        return Err(cx.invalid(format_args!(
            "selfRef has the shape {:?}; it must have 2 dimensions",
            table.dims()
        )));
    };
    let floats = [
        DataType::Float32,
        DataType::Float16,
        DataType::BFloat16,
        DataType::Float64,
    ];
    cx.check_types(&table, &floats)?;
    cx.check_types(&indices, &[DataType::Int32, DataType::Int64])?;
    if table.is_empty() || indices.is_empty() {
        return Ok(());
    }
    let compute = accumulator(table.dtype());
    let kernel = RenormRows {
        compute,
        operator: cx.name(),
        rows,
        width,
        largest,
        order,
    };
    let indices = cx.cast(indices, DataType::Int64)?;
    let indices = cx.dense(indices)?;
    let table = cx.cast(table, compute)?;
    let table = cx.dense(table)?;
    let result = cx.temporary(compute, &[rows, width])?;
    let inputs = [Some(table), Some(indices)];
    cx.kernel(Box::new(kernel), &inputs, &[result], false)?;
    cx.copy(result, out)
}

/// The negative log-likelihood and its gradient.
struct Likelihood {
    compute: DataType,
    /// Batch, classes, and the product of the other dimensions.
    dims: [usize; 3],
    reduction: i64,
    ignored: i64,
    backward: bool,
}

impl Kernel for Likelihood {
    fn scratch_bytes(&self) -> usize {
        2 * LOSS_PARTS * size_of::<f64>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.compute {
            DataType::Float64 => self.run_in::<f64>(call),
            _ => self.run_in::<f32>(call),
        }
    }
}

impl Likelihood {
    fn run_in<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let [batch, classes, rest] = self.dims;
        // Forward: x, target, weight. Backward: gradient, target, weight, total weight.
        let from = call.input::<T>(0)?.flat();
        let (target, weight) = (call.input::<i64>(1)?.flat(), call.input::<T>(2)?.flat());
        let out = call.output::<T>(0)?.flat();
        let total = match self.backward {
            true => call.input::<T>(3)?.flat().get(0).number(),
            false => 0.0,
        };
        if self.backward {
            out.fill(T::of(0.0));
        }
        // Sums of parts, whose number is fixed: the loss does not depend on the number of threads.
        let sums = call.scratch::<f64>(0, 2 * LOSS_PARTS)?;
        let (positions, failure) = (batch * rest, OnceLock::new());
        call.workers().each(LOSS_PARTS, |part| {
            let (mut sum, mut weights) = (0.0f64, 0.0f64);
            for position in positions * part / LOSS_PARTS..positions * (part + 1) / LOSS_PARTS {
                let (item, inner) = (position / rest, position % rest);
                let class = target.get(position);
                if class == self.ignored {
                    if !self.backward && self.reduction == 0 {
                        out.set(position, T::of(0.0));
                    }
                    continue;
                }
                let known = usize::try_from(class).ok().filter(|&class| class < classes);
                let Some(class) = known else {
                    let text = format!("the target {class} names none of {classes} classes");
                    let _ = failure.set(OpError::new(OpErrorKind::Data, text));
                    return;
                };
                let (own, at) = (
                    weight.get(class).number(),
                    (item * classes + class) * rest + inner,
                );
                if self.backward {
                    let share = match self.reduction {
                        0 => -own * from.get(position).number(),
                        1 => -own * from.get(0).number() / total,
                        _ => -own * from.get(0).number(),
                    };
                    out.set(at, T::of(share));
                } else if self.reduction == 0 {
                    out.set(position, T::of(-own * from.get(at).number()));
                } else {
                    sum -= own * from.get(at).number();
                    weights += own;
                }
            }
            sums.set(2 * part, sum);
            sums.set(2 * part + 1, weights);
        });
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        if !self.backward && self.reduction != 0 {
            let total = |first: usize| -> f64 {
                (0..LOSS_PARTS).map(|part| sums.get(2 * part + first)).sum()
            };
            let (sum, weights) = (total(0), total(1));
            let loss = if self.reduction == 1 {
                sum / weights
            } else {
                sum
            };
            out.set(0, T::of(loss));
            call.output::<T>(1)?.flat().set(0, T::of(weights));
        }
        Ok(())
    }
}

/// Returns batch, classes and the product of the other dimensions of the scores, and how the loss is reduced.
fn likelihood_dims(cx: &Cx<'_>, x: &View, target: &View) -> Result<[usize; 3], Refusal> {
    let dims = match x.dims() {
        &[classes] => [1, classes, 1],
        [batch, classes, rest @ ..] => [*batch, *classes, rest.iter().product()],
        [] => return Err(cx.invalid("self has no dimensions; it must have one of classes")),
    };
    if target.elements() != dims[0] * dims[2] {
        return Err(cx.invalid(format_args!(
            "target has the shape {:?}, which does not match self of the shape {:?}",
            target.dims(),
            x.dims()
        )));
    }
    Ok(dims)
}

/// Returns dense operands of the loss: numbers in the type of the computation, the target in int64, the weights of the classes.
fn likelihood_operands(
    cx: &mut Cx<'_>,
    from: View,
    target: View,
    weight: View,
    classes: usize,
    compute: DataType,
) -> Result<Vec<Option<View>>, Refusal> {
    cx.check_dims(&weight, &[classes])?;
    let mut operands = Vec::new();
    for (view, dtype) in [
        (from, compute),
        (target, DataType::Int64),
        (weight, compute),
    ] {
        let view = cx.cast(view, dtype)?;
        operands.push(Some(cx.dense(view)?));
    }
    Ok(operands)
}

pub(super) fn likelihood(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, target, weight) = (
        cx.tensor("self")?,
        cx.tensor("target")?,
        cx.tensor("weight")?,
    );
    let (out, total) = (cx.out("out")?, cx.out("totalWeightOut")?);
    let dims = likelihood_dims(cx, &x, &target)?;
    let kind = reduction(cx)?;
    let compute = accumulator(x.dtype());
    let operands = likelihood_operands(cx, x, target, weight, dims[1], compute)?;
    let kernel = Likelihood {
        compute,
        dims,
        reduction: kind,
        ignored: cx.int("ignoreIndex")?,
        backward: false,
    };
    let (out, total) = (without_dims(out), without_dims(total));
    match kind {
        0 => check_count(cx, &out, target.dims())?,
        _ => cx.check_dims(&out, &[])?,
    }
    cx.check_dims(&total, &[])?;
    let loss = cx.temporary(compute, out.dims())?;
    let sum = cx.temporary(compute, &[])?;
    cx.fill(Scalar::of_i64(0), sum)?;
    cx.kernel(Box::new(kernel), &operands, &[loss, sum], false)?;
    cx.copy(loss, out)?;
    cx.copy(sum, total)
}

pub(super) fn likelihood_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let (target, weight) = (cx.tensor("target")?, cx.tensor("weight")?);
    let (total, out) = (cx.tensor("totalWeight")?, cx.out("out")?);
    cx.check_dims(&out, x.dims())?;
    let dims = likelihood_dims(cx, &x, &target)?;
    let kind = reduction(cx)?;
    match kind {
        0 => check_count(cx, &gradient, target.dims())?,
        _ => check_count(cx, &gradient, &[])?,
    }
    check_count(cx, &total, &[])?;
    let compute = accumulator(x.dtype());
    let mut operands = likelihood_operands(cx, gradient, target, weight, dims[1], compute)?;
    let total = cx.cast(total, compute)?;
    operands.push(Some(cx.dense(total)?));
    let kernel = Likelihood {
        compute,
        dims,
        reduction: kind,
        ignored: cx.int("ignoreIndex")?,
        backward: true,
    };
    let result = cx.temporary(compute, out.dims())?;
    cx.kernel(Box::new(kernel), &operands, &[result], false)?;
    cx.copy(result, out)
}
