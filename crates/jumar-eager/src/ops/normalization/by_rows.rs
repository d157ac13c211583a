//! Normalization and its gradients in float32, a row at a time: no intermediate result is as large as the batch.

use jumar_ops::rows::{NormalisedRow, SoftmaxRow};
use jumar_ops::view::Row;
use jumar_types::dtype::DataType;

use super::super::reduction::{mean_and_squares, reduce_kept};
use super::computed;
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// Elements of a channel below which a row costs more than its elements.
const SHORT: usize = 16;
/// Elements that are added in float32 before float64 takes the sum.
const NEAR: usize = 1 << 10;

/// Reports whether batches whose channels have this many elements side by side are processed by rows.
pub(super) fn pays(compute: DataType, rest: usize) -> bool {
    compute == DataType::Float32 && rest >= SHORT
}

/// Adds what `term` makes of the entries of two rows.
#[inline(always)]
fn sum2(one: Row<'_, f32>, two: Row<'_, f32>, term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut total = 0.0;
    let mut start = 0;
    while start < one.len() {
        let len = NEAR.min(one.len() - start);
        let part = one.slice(start, len).fold2_wide(
            two.slice(start, len),
            0.0,
            #[inline(always)]
            |sum: f32, one, two| sum + term(one, two),
            |one, two| one + two,
        );
        total += f64::from(part);
        start += len;
    }
    total as f32
}

/// Adds what `term` makes of the entries of a row.
#[inline(always)]
fn sum1(row: Row<'_, f32>, term: impl Fn(f32) -> f32) -> f32 {
    let mut total = 0.0;
    let mut start = 0;
    while start < row.len() {
        let len = NEAR.min(row.len() - start);
        let part = row.slice(start, len).fold_wide(
            0.0,
            #[inline(always)]
            |sum: f32, x| sum + term(x),
            |one, two| one + two,
        );
        total += f64::from(part);
        start += len;
    }
    total as f32
}

/// `(x - mean) * rstd * weight + bias`. Inputs: x, weight, bias. Outputs: the result, mean, rstd.
pub(super) struct LayerNorm {
    pub epsilon: f64,
}

impl RowFunction for LayerNorm {
    fn is_elementwise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let row = NormalisedRow {
            x: rows.input(0),
            y: rows.output(0),
            epsilon: self.epsilon,
            centre: true,
            scale: rows.optional(1),
            offset: rows.optional(2),
            ahead: rows.ahead,
            past: rows.past,
        };
        let (mean, rstd) = row.run::<FUSED>();
        for (index, statistic) in [(1, mean), (2, rstd)] {
            if let Some(out) = rows.wanted(index) {
                out.set(0, statistic);
            }
        }
    }
}

/// The softmax of a row, or its logarithm.
pub(super) struct Softmax<const LOG: bool>;

impl<const LOG: bool> RowFunction for Softmax<LOG> {
    fn is_elementwise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let row = SoftmaxRow {
            x: rows.input(0),
            y: rows.output(0),
            ahead: rows.ahead,
            past: None,
        };
        row.run::<LOG, FUSED>();
    }
}

/// `(gradient - sum(gradient * y)) * y`
pub(super) struct SoftmaxGradient;

impl RowFunction for SoftmaxGradient {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (gradient, y) = (rows.input(0), rows.input(1));
        let sum = sum2(gradient, y, |gradient, y| gradient * y);
        rows.output(0)
            .map2(gradient, y, |gradient, y| (gradient - sum) * y);
    }
}

/// The gradient of `(x - mean) * rstd * gamma`. Inputs: gradient, x, mean, rstd, gamma. Outputs: the gradient by x, and the terms of
/// that by gamma.
pub(super) struct LayerGradient {
    pub width: usize,
}

impl RowFunction for LayerGradient {
    fn scratch(&self) -> usize {
        2 * self.width
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (gradient, x) = (rows.input(0), rows.input(1));
        let (mean, rstd) = (rows.input(2).get(0), rows.input(3).get(0));
        let scratch = rows.scratch();
        let unit = scratch.slice(0, self.width);
        unit.map1(x, |x| (x - mean) * rstd);
        let unit = unit.as_row();
        let scaled = match rows.optional(4) {
            Some(gamma) => {
                let scaled = scratch.slice(self.width, self.width);
                scaled.map2(gradient, gamma, |gradient, gamma| gradient * gamma);
                scaled.as_row()
            }
            None => gradient,
        };
        let count = self.width as f32;
        let level = sum1(scaled, |scaled| scaled) / count;
        let slope = sum2(scaled, unit, |scaled, unit| scaled * unit) / count;
        if let Some(terms) = rows.wanted(1) {
            terms.map2(gradient, unit, |gradient, unit| gradient * unit);
        }
        rows.output(0).map2(scaled, unit, |scaled, unit| {
            (scaled - level - unit * slope) * rstd
        });
    }
}

/// The mean of a row, and that of the squares of the distances from it.
struct Moments;

impl RowFunction for Moments {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let x = rows.input(0);
        let count = x.len() as f32;
        let mean = sum1(x, |x| x) / count;
        let squares = sum1(x, |x| (x - mean) * (x - mean)) / count;
        rows.output(0).set(0, mean);
        rows.output(1).set(0, squares);
    }
}

/// Returns mean and variance of each channel of a batch.
pub(super) fn moments(
    cx: &mut Cx<'_>,
    x: View,
    [batch, count, _]: [usize; 3],
) -> Result<(View, View), Refusal> {
    let compute = DataType::Float32;
    let numbers = [batch, count, 1];
    let (means, within) = (
        cx.temporary(compute, &numbers)?,
        cx.temporary(compute, &numbers)?,
    );
    cx.rows(Moments, &[Some(x)], &[Some(means), Some(within)])?;
    // All rows have as many elements: the variance is that within rows plus that of their means.
    let (mean, between) = mean_and_squares(cx, means, &[0])?;
    let both = [Operand::Tensor(within), Operand::Tensor(between)];
    let sum = computed(cx, F::Add, compute, &both, &numbers)?;
    Ok((mean, reduce_kept(cx, "ReduceMean", sum, &[0])?))
}

/// `(x - mean) * scale + bias`, with one number of each but the first input for a row.
pub(super) struct Normalize;

impl RowFunction for Normalize {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let number = |index: usize| rows.input(index).get(0);
        let (mean, scale) = (number(1), number(2));
        let bias = rows.optional(3).map_or(0.0, |bias| bias.get(0));
        rows.output(0)
            .map1(rows.input(0), |x| (x - mean) * scale + bias);
    }
}

/// The sums over a row of `gradient * (x - mean) * rstd` and of the gradient.
struct GradientSums;

impl RowFunction for GradientSums {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (gradient, x) = (rows.input(0), rows.input(1));
        let (mean, rstd) = (rows.input(2).get(0), rows.input(3).get(0));
        let products = sum2(gradient, x, |gradient, x| gradient * (x - mean));
        rows.output(0).set(0, products * rstd);
        rows.output(1).set(0, sum1(gradient, |gradient| gradient));
    }
}

/// Returns for each channel the sums of the gradient times the normalized values, and of the gradient.
pub(super) fn gradient_sums(
    cx: &mut Cx<'_>,
    inputs: [View; 4],
    [batch, count, _]: [usize; 3],
) -> Result<[View; 2], Refusal> {
    let numbers = [batch, count, 1];
    let (products, sums) = (
        cx.temporary(DataType::Float32, &numbers)?,
        cx.temporary(DataType::Float32, &numbers)?,
    );
    let outputs = [Some(products), Some(sums)];
    cx.rows(GradientSums, &inputs.map(Some), &outputs)?;
    Ok([
        reduce_kept(cx, "ReduceSum", products, &[0])?,
        reduce_kept(cx, "ReduceSum", sums, &[0])?,
    ])
}

/// `(gradient - level - (x - mean) * slope) * scale`; without x, `gradient * scale`. Inputs: gradient, scale, x, mean, level, slope.
pub(super) struct BatchGradient;

impl RowFunction for BatchGradient {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (gradient, scale) = (rows.input(0), rows.input(1).get(0));
        let out = rows.output(0);
        let Some(x) = rows.optional(2) else {
            out.map1(gradient, |gradient| gradient * scale);
            return;
        };
        let number = |index: usize| rows.input(index).get(0);
        let (mean, level, slope) = (number(3), number(4), number(5));
        out.map2(gradient, x, |gradient, x| {
            (gradient - level - (x - mean) * slope) * scale
        });
    }
}

/// Computes a function of the rows of a batch into an output of as many elements.
pub(super) fn write(
    cx: &mut Cx<'_>,
    function: impl RowFunction,
    inputs: &[Option<View>],
    shape: [usize; 3],
    out: View,
) -> Result<(), Refusal> {
    if let Some(target) = out.reshape(&shape) {
        return cx.rows(function, inputs, &[Some(target)]);
    }
    let result = cx.temporary(DataType::Float32, &shape)?;
    cx.rows(function, inputs, &[Some(result)])?;
    let result = cx.reshaped(result, out.dims())?;
    cx.copy(result, out)
}
