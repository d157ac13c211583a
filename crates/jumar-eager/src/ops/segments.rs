//! Exponentials of the sums of segments, as state space models use them, and their gradient.

use super::Table;
use super::operands::{FLOATS, MergedOutput};
use crate::Refusal;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnExpSegsum", forward),
    ("aclnnExpSegsumBackward", backward),
];

/// For the entries `x` of a row, the matrix of `exp(x[j + 1] + .. + x[i])` at row `i` and column `j`, and 0 above the diagonal.
struct Forward;

/// Calls a function with each row, each column up to the diagonal, and the sum of the entries between them.
#[inline(always)]
fn segments(x: impl Fn(usize) -> f32, len: usize, mut each: impl FnMut(usize, usize, f64)) {
    for column in 0..len {
        let mut sum = 0.0;
        for row in column..len {
            if row > column {
                sum += f64::from(x(row));
            }
            each(row, column, sum);
        }
    }
}

impl RowFunction for Forward {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out) = (rows.input(0), rows.output(0));
        let len = x.len();
        out.fill(0.0);
        segments(
            |at| x.get(at),
            len,
            |row, column, sum| out.set(row * len + column, sum.exp() as f32),
        );
    }
}

/// The gradient. Inputs: the gradient of the matrix, and the matrix or what it was made of.
struct Backward {
    len: usize,
    is_result: bool,
}

impl RowFunction for Backward {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (gradient, given, out) = (rows.input(0), rows.input(1), rows.output(0));
        // Each element of the matrix depends equally on the entries of its segment: their sums differ where segments start and end.
        let mut changes = vec![0.0; self.len + 1];
        let mut add = |row: usize, column: usize, value: f64| {
            if row > column {
                let own = value * f64::from(gradient.get(row * self.len + column));
                changes[column + 1] += own;
                changes[row + 1] -= own;
            }
        };
        match self.is_result {
            true => {
                for row in 0..self.len {
                    for column in 0..row {
                        add(row, column, f64::from(given.get(row * self.len + column)));
                    }
                }
            }
            false => segments(
                |at| given.get(at),
                self.len,
                |row, column, sum| add(row, column, sum.exp()),
            ),
        }
        let mut sum = 0.0;
        for (at, change) in changes[..self.len].iter().enumerate() {
            sum += change;
            out.set(at, sum as f32);
        }
    }
}

/// Returns the dimensions of the matrices of rows, and those with each matrix as one row.
fn matrices(cx: &Cx<'_>, row: &View) -> Result<(Vec<usize>, Vec<usize>), Refusal> {
    let Some((&len, leading)) = row.dims().split_last() else {
        return Err(cx.invalid(format_args!("{} has no dimension", cx.param_of(row))));
    };
    cx.check_types(row, FLOATS)?;
    Ok((
        [leading, &[len, len]].concat(),
        [leading, &[len * len]].concat(),
    ))
}

fn forward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let (square, flat) = matrices(cx, &x)?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, &square)?;
    let result = MergedOutput::new(cx, out, &flat)?;
    cx.rows(Forward, &[Some(x)], &[Some(result.rows)])?;
    result.finish(cx)
}

/// `gradSelf` is the result of the forward direction, or, by its shape, what that was computed from.
fn backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, given) = (cx.tensor("gradOutput")?, cx.tensor("gradSelf")?);
    let out = cx.out("gradInput")?;
    let (square, flat) = matrices(cx, &out)?;
    cx.check_dims(&gradient, &square)?;
    cx.check_dtype(&gradient, out.dtype())?;
    cx.check_dtype(&given, out.dtype())?;
    let is_result = given.dims() != out.dims();
    let given = match is_result {
        true => {
            cx.check_dims(&given, &square)?;
            cx.reshaped(given, &flat)?
        }
        false => given,
    };
    let gradient = cx.reshaped(gradient, &flat)?;
    let len = out.dims()[out.rank() - 1];
    cx.rows(
        Backward { len, is_result },
        &[Some(gradient), Some(given)],
        &[Some(out)],
    )
}
