//! Matrices as the product of a unitary and an upper triangular one, by Householder's reflections with LAPACK's signs.

use jumar_ops::{Call, OpError};

use super::{Matrix, batch_of, check_field, conjugate, matrices, square};
use crate::Refusal;
use crate::build::Cx;
use crate::element::compute::Cell;
use crate::ops::dense::{Number, Numbers, counted, run_kernel, wide};

struct Qr {
    sizes: [usize; 2],
    /// The columns of the unitary matrix; it is not written without.
    columns: Option<usize>,
    /// The rows of the triangular matrix.
    rows: usize,
}

/// A reflection: `I - tau * v * v^H`. The first entry of v that is not zero is 1, in the row `first`.
struct Reflection<L> {
    first: usize,
    tail: Vec<L>,
    tau: L,
}

impl<L: Number> Reflection<L> {
    /// Creates the reflection that leaves a value without imaginary part at the diagonal and zeros below it, and writes them.
    fn new(a: &mut Matrix<L>, column: usize) -> Reflection<L> {
        let alpha = a.get(column, column);
        let below: f64 = (column + 1..a.rows)
            .map(|row| square(a.get(row, column)))
            .sum();
        let mut reflection = Reflection {
            first: column,
            tail: vec![L::of_f64(0.0); a.rows - column - 1],
            tau: L::of_f64(0.0),
        };
        if below == 0.0 && alpha.imaginary() == 0.0 {
            return reflection;
        }
        let size = (square(alpha) + below).sqrt();
        let beta = if alpha.f64() < 0.0 || alpha.f64().is_sign_negative() {
            size
        } else {
            -size
        };
        reflection.tau = L::of_complex((beta - alpha.f64()) / beta, -alpha.imaginary() / beta);
        let pivot = alpha.minus(L::of_f64(beta));
        for (at, entry) in reflection.tail.iter_mut().enumerate() {
            *entry = a.get(column + 1 + at, column).over(pivot);
            a.set(column + 1 + at, column, L::of_f64(0.0));
        }
        a.set(column, column, L::of_f64(beta));
        reflection
    }

    /// Applies the reflection with the factor `tau` to the columns from `start` on; row by row, as the matrix lies.
    fn apply(&self, to: &mut Matrix<L>, start: usize, tau: L) {
        let columns = to.columns;
        let row = |index: usize| index * columns + start..(index + 1) * columns;
        let mut sums = to.elements[row(self.first)].to_vec();
        for (at, entry) in self.tail.iter().enumerate() {
            let (factor, row) = (conjugate(*entry), row(self.first + 1 + at));
            for (sum, own) in sums.iter_mut().zip(&to.elements[row]) {
                *sum = sum.plus(factor.times(*own));
            }
        }
        for sum in &mut sums {
            *sum = sum.times(tau);
        }
        for (own, sum) in to.elements[row(self.first)].iter_mut().zip(&sums) {
            *own = own.minus(*sum);
        }
        for (at, entry) in self.tail.iter().enumerate() {
            let row = row(self.first + 1 + at);
            for (own, sum) in to.elements[row].iter_mut().zip(&sums) {
                *own = own.minus(entry.times(*sum));
            }
        }
    }
}

impl Numbers for Qr {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let x = call.input::<C::Raw>(0)?.flat();
        let r = call.output::<C::Raw>(0)?.flat();
        let q = match self.columns {
            Some(columns) => Some((call.output::<C::Raw>(1)?.flat(), columns)),
            None => None,
        };
        let [rows, columns] = self.sizes;
        let each = match &q {
            Some((q, columns)) if rows * columns > 0 => q.len() / (rows * columns),
            _ => r.len() / (self.rows * columns).max(1),
        };
        for index in 0..each {
            let mut a = Matrix::<L>::load::<C>(&x, index, self.sizes);
            let mut reflections = Vec::with_capacity(rows.min(columns));
            for column in 0..rows.min(columns) {
                let reflection = Reflection::new(&mut a, column);
                reflection.apply(&mut a, column + 1, conjugate(reflection.tau));
                reflections.push(reflection);
            }
            a.elements.truncate(self.rows * columns);
            a.rows = self.rows;
            a.store::<C>(&r, index);
            if let Some((q, columns)) = &q {
                let mut product = Matrix::<L>::unit(rows, *columns);
                for reflection in reflections.iter().rev() {
                    reflection.apply(&mut product, 0, reflection.tau);
                }
                product.store::<C>(q, index);
            }
        }
        Ok(())
    }
}

pub(super) fn qr(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, q, r) = (cx.tensor("self")?, cx.out("Q")?, cx.out("R")?);
    let (batch, sizes) = matrices(cx, &x)?;
    let [rows, columns] = sizes;
    check_field(cx, &x)?;
    let least = rows.min(columns);
    let (own_columns, own_rows) = match cx.int("mode")? {
        0 => (Some(least), least),
        1 => (Some(rows), rows),
        2 => (None, least),
        other => {
            return Err(cx.invalid(format_args!(
                "mode is {other}; it must be 0 (reduced), 1 (complete) or 2 (R alone)"
            )));
        }
    };
    cx.check_dims(&r, &batch_of(&batch, [own_rows, columns]))?;
    let compute = wide(x.dtype());
    let mut outputs = vec![(r, compute)];
    if let Some(own_columns) = own_columns {
        cx.check_dims(&q, &batch_of(&batch, [rows, own_columns]))?;
        outputs.push((q, compute));
    }
    let body = Qr {
        sizes,
        columns: own_columns,
        rows: own_rows,
    };
    run_kernel(cx, counted(compute, body), &[(x, compute)], &outputs)
}
