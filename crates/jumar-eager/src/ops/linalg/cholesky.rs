//! The triangular root of positive definite matrices.

use jumar_ops::{Call, OpError};

use super::{Matrix, batch_of, check_field, conjugate, matrices, square};
use crate::Refusal;
use crate::build::Cx;
use crate::element::compute::Cell;
use crate::ops::dense::{Number, Numbers, bad_data, counted, run_kernel, wide};

struct Cholesky {
    size: usize,
    upper: bool,
}

impl Numbers for Cholesky {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (
            call.input::<C::Raw>(0)?.flat(),
            call.output::<C::Raw>(0)?.flat(),
        );
        let size = self.size;
        for index in 0..x.len() / (size * size) {
            let a = Matrix::<L>::load::<C>(&x, index, [size, size]);
            // Only one triangle of the matrix is read.
            let entry = |row: usize, column: usize| match self.upper {
                false => a.get(row, column),
                true => conjugate(a.get(column, row)),
            };
            let mut root = Matrix::<L>::unit(size, size);
            for column in 0..size {
                let mut rest = entry(column, column).f64();
                for at in 0..column {
                    rest -= square(root.get(column, at));
                }
                if rest.is_nan() || rest <= 0.0 {
                    return Err(bad_data(format!(
                        "aclnnLinalgCholesky: the matrix {index} is not positive definite: its leading minor of order {} is not \
                         positive",
                        column + 1
                    )));
                }
                let pivot = rest.sqrt();
                root.set(column, column, L::of_f64(pivot));
                for row in column + 1..size {
                    let mut sum = entry(row, column);
                    for at in 0..column {
                        let product = root.get(row, at).times(conjugate(root.get(column, at)));
                        sum = sum.minus(product);
                    }
                    root.set(row, column, sum.over(L::of_f64(pivot)));
                }
            }
            if self.upper {
                let lower = root.clone();
                for row in 0..size {
                    for column in 0..size {
                        root.set(row, column, conjugate(lower.get(column, row)));
                    }
                }
            }
            root.store::<C>(&out, index);
        }
        Ok(())
    }
}

pub(super) fn cholesky(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, upper) = (cx.tensor("self")?, cx.out("out")?, cx.flag("upper")?);
    let (batch, [rows, columns]) = matrices(cx, &x)?;
    if rows != columns {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}; square matrices are required",
            x.dims()
        )));
    }
    check_field(cx, &x)?;
    cx.check_dims(&out, &batch_of(&batch, [rows, columns]))?;
    let compute = wide(x.dtype());
    let body = Cholesky { size: rows, upper };
    run_kernel(
        cx,
        counted(compute, body),
        &[(x, compute)],
        &[(out, compute)],
    )
}
