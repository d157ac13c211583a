//! The inverse and the determinant of matrices, by elimination with row exchanges.

use jumar_ops::{Call, OpError};

use super::{Matrix, batch_of, check_field, matrices, square};
use crate::build::Cx;
use crate::element::compute::Cell;
use crate::ops::dense::{Number, Numbers, bad_data, counted, run_kernel, wide};
use crate::{Refusal, Scalar};

/// Moves the row with the largest entry of a column, from `step` on, to `step`. Reports whether rows were exchanged, or
/// nothing where all entries are 0.
fn exchange<L: Number>(
    a: &mut Matrix<L>,
    step: usize,
    more: Option<&mut Matrix<L>>,
) -> Option<bool> {
    let size = |row: usize| square(a.get(row, step));
    let mut pivot = step;
    for row in step + 1..a.rows {
        if size(row) > size(pivot) {
            pivot = row;
        }
    }
    if size(pivot) == 0.0 {
        return None;
    }
    let swap = |matrix: &mut Matrix<L>| {
        for column in 0..matrix.columns {
            let (one, two) = (matrix.get(step, column), matrix.get(pivot, column));
            matrix.set(step, column, two);
            matrix.set(pivot, column, one);
        }
    };
    if pivot != step {
        swap(a);
        if let Some(more) = more {
            swap(more);
        }
    }
    Some(pivot != step)
}

/// Subtracts a multiple of one row from another.
fn subtract<L: Number>(a: &mut Matrix<L>, row: usize, factor: L, from: usize) {
    for column in 0..a.columns {
        let product = factor.times(a.get(from, column));
        a.set(row, column, a.get(row, column).minus(product));
    }
}

struct Inverse {
    size: usize,
}

impl Numbers for Inverse {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (
            call.input::<C::Raw>(0)?.flat(),
            call.output::<C::Raw>(0)?.flat(),
        );
        let size = self.size;
        for index in 0..x.len() / (size * size) {
            let mut a = Matrix::<L>::load::<C>(&x, index, [size, size]);
            let mut inverse = Matrix::<L>::unit(size, size);
            for step in 0..size {
                if exchange(&mut a, step, Some(&mut inverse)).is_none() {
                    return Err(bad_data(format!(
                        "aclnnInverse: the matrix {index} is singular: column {step} depends on the columns before it"
                    )));
                }
                let pivot = a.get(step, step);
                for column in 0..size {
                    a.set(step, column, a.get(step, column).over(pivot));
                    inverse.set(step, column, inverse.get(step, column).over(pivot));
                }
                for row in (0..size).filter(|&row| row != step) {
                    let factor = a.get(row, step);
                    subtract(&mut a, row, factor, step);
                    subtract(&mut inverse, row, factor, step);
                }
            }
            inverse.store::<C>(&out, index);
        }
        Ok(())
    }
}

/// Sign and logarithm of the absolute value of determinants.
struct Determinant {
    size: usize,
}

impl Numbers for Determinant {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, sign_out, log_out) = (
            call.input::<C::Raw>(0)?.flat(),
            call.output::<C::Raw>(0)?.flat(),
            call.output::<C::Raw>(1)?.flat(),
        );
        let size = self.size;
        for index in 0..sign_out.len() {
            let mut a = Matrix::<L>::load::<C>(&x, index, [size, size]);
            let (mut sign, mut log) = (L::of_f64(1.0), 0.0);
            for step in 0..size {
                let Some(exchanged) = exchange(&mut a, step, None) else {
                    (sign, log) = (L::of_f64(0.0), f64::NEG_INFINITY);
                    break;
                };
                let pivot = a.get(step, step);
                let absolute = square(pivot).sqrt();
                let direction = pivot.over(L::of_f64(if exchanged { -absolute } else { absolute }));
                sign = sign.times(direction);
                log += absolute.ln();
                for row in step + 1..size {
                    let factor = a.get(row, step).over(pivot);
                    subtract(&mut a, row, factor, step);
                }
            }
            sign_out.set(index, C::downcast(sign));
            log_out.set(index, C::downcast(L::of_f64(log)));
        }
        Ok(())
    }
}

/// Returns the batch and the size of square matrices.
fn squares(cx: &Cx<'_>) -> Result<(Vec<usize>, usize), Refusal> {
    let x = cx.tensor("self")?;
    let (batch, [rows, columns]) = matrices(cx, &x)?;
    check_field(cx, &x)?;
    match rows == columns {
        true => Ok((batch, rows)),
        false => Err(cx.invalid(format_args!(
            "self has the shape {:?}; square matrices are required",
            x.dims()
        ))),
    }
}

pub(super) fn inverse(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let (batch, size) = squares(cx)?;
    cx.check_dims(&out, &batch_of(&batch, [size, size]))?;
    let compute = wide(x.dtype());
    let kernel = counted(compute, Inverse { size });
    run_kernel(cx, kernel, &[(x, compute)], &[(out, compute)])
}

pub(super) fn sign_and_log(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, sign, log) = (cx.tensor("self")?, cx.out("signOut")?, cx.out("logOut")?);
    let (batch, size) = squares(cx)?;
    cx.check_dims(&sign, &batch)?;
    cx.check_dims(&log, &batch)?;
    if size == 0 {
        // The determinant of a matrix without entries is 1.
        cx.fill(Scalar::of_i64(1), sign)?;
        return cx.fill(Scalar::of_i64(0), log);
    }
    let compute = wide(x.dtype());
    let kernel = counted(compute, Determinant { size });
    let outputs = [(sign, compute), (log, compute)];
    run_kernel(cx, kernel, &[(x, compute)], &outputs)
}
