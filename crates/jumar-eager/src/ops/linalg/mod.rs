//! Factorizations of matrices, and systems of equations with triangular matrices.

mod cholesky;
mod elimination;
mod qr;
mod svd;
mod triangular;

use super::Table;
use crate::Refusal;
use crate::build::Cx;
use crate::element::compute::{Cell, Compute};
use crate::view::View;
use jumar_ops::view::{Row, RowMut};

use super::dense::Number;

pub(crate) static TABLE: &Table = &[
    ("aclnnInverse", elimination::inverse),
    ("aclnnLinalgCholesky", cholesky::cholesky),
    ("aclnnLinalgQr", qr::qr),
    ("aclnnSlogdet", elimination::sign_and_log),
    ("aclnnSvd", svd::svd),
    ("aclnnTriangularSolve", triangular::solve),
];

/// A matrix in row-major order.
#[derive(Clone, Debug)]
struct Matrix<L> {
    rows: usize,
    columns: usize,
    elements: Vec<L>,
}

impl<L: Number> Matrix<L> {
    /// Creates a matrix with ones on the diagonal and zeros elsewhere.
    fn unit(rows: usize, columns: usize) -> Matrix<L> {
        let mut matrix = Matrix {
            rows,
            columns,
            elements: vec![L::of_f64(0.0); rows * columns],
        };
        for at in 0..rows.min(columns) {
            matrix.set(at, at, L::of_f64(1.0));
        }
        matrix
    }

    /// Reads one matrix of a dense batch.
    fn load<C: Cell>(
        row: &Row<'_, C::Raw>,
        index: usize,
        [rows, columns]: [usize; 2],
    ) -> Matrix<L> {
        let start = index * rows * columns;
        Matrix {
            rows,
            columns,
            elements: (start..start + rows * columns)
                .map(|at| C::upcast(row.get(at)))
                .collect(),
        }
    }

    /// Writes to one matrix of a dense batch.
    fn store<C: Cell>(&self, row: &RowMut<'_, C::Raw>, index: usize) {
        let start = index * self.elements.len();
        for (at, &element) in self.elements.iter().enumerate() {
            row.set(start + at, C::downcast(element));
        }
    }

    fn get(&self, row: usize, column: usize) -> L {
        self.elements[row * self.columns + column]
    }

    fn set(&mut self, row: usize, column: usize, value: L) {
        self.elements[row * self.columns + column] = value;
    }
}

/// Returns the complex conjugate.
fn conjugate<L: Compute>(value: L) -> L {
    L::of_complex(value.f64(), -value.imaginary())
}

/// Returns the square of the absolute value.
fn square<L: Compute>(value: L) -> f64 {
    value.f64() * value.f64() + value.imaginary() * value.imaginary()
}

/// Splits the shape of a batch of matrices into the batch and the sizes of a matrix.
fn matrices(cx: &Cx<'_>, x: &View) -> Result<(Vec<usize>, [usize; 2]), Refusal> {
    match x.dims() {
        [batch @ .., rows, columns] => Ok((batch.to_vec(), [*rows, *columns])),
        dims => Err(cx.invalid(format_args!(
            "{} has the shape {dims:?}; at least 2 dimensions are required",
            cx.param_of(x)
        ))),
    }
}

/// Returns the shape of a batch of matrices.
fn batch_of(batch: &[usize], [rows, columns]: [usize; 2]) -> Vec<usize> {
    let mut dims = batch.to_vec();
    dims.extend([rows, columns]);
    dims
}

/// Refuses types that have no roots.
fn check_field(cx: &Cx<'_>, x: &View) -> Result<(), Refusal> {
    match x.dtype().is_float() || crate::promote::is_complex(x.dtype()) {
        true => Ok(()),
        false => Err(cx.refuse_type(
            &cx.param_of(x),
            x.dtype(),
            "a floating-point or complex type",
        )),
    }
}
