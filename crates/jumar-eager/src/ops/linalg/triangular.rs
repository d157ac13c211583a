//! Systems of equations with triangular matrices.

use jumar_ops::{Call, OpError};

use super::{Matrix, batch_of, check_field, matrices};
use crate::Refusal;
use crate::build::Cx;
use crate::element::compute::Cell;
use crate::ops::dense::{Number, Numbers, counted, run_kernel, wide};
use crate::view::broadcast;

struct Solve {
    size: usize,
    columns: usize,
    upper: bool,
    transposed: bool,
    /// Whether the diagonal counts as ones.
    unit: bool,
}

impl Numbers for Solve {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (b, a) = (
            call.input::<C::Raw>(0)?.flat(),
            call.input::<C::Raw>(1)?.flat(),
        );
        let out = call.output::<C::Raw>(0)?.flat();
        let (size, columns) = (self.size, self.columns);
        for index in 0..out.len() / (size * columns) {
            let matrix = Matrix::<L>::load::<C>(&a, index, [size, size]);
            let mut x = Matrix::<L>::load::<C>(&b, index, [size, columns]);
            let entry = |row: usize, column: usize| match self.transposed {
                false => matrix.get(row, column),
                true => matrix.get(column, row),
            };
            let upper = self.upper != self.transposed;
            for step in 0..size {
                let row = if upper { size - 1 - step } else { step };
                let solved = if upper { row + 1..size } else { 0..row };
                for column in 0..columns {
                    let mut sum = x.get(row, column);
                    for at in solved.clone() {
                        sum = sum.minus(entry(row, at).times(x.get(at, column)));
                    }
                    if !self.unit {
                        sum = sum.over(entry(row, row));
                    }
                    x.set(row, column, sum);
                }
            }
            x.store::<C>(&out, index);
        }
        Ok(())
    }
}

pub(super) fn solve(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (b, a) = (cx.tensor("self")?, cx.tensor("A")?);
    let (out, copy) = (cx.out("xOut")?, cx.out("mOut")?);
    let (batch_b, [rows, columns]) = matrices(cx, &b)?;
    let (batch_a, sizes) = matrices(cx, &a)?;
    let batch = broadcast(&batch_a, &batch_b).filter(|_| sizes == [rows, rows]);
    let Some((batch, rank)) = batch else {
        return Err(cx.invalid(format_args!(
            "A has the shape {:?} and self {:?}; A must have square matrices with as many rows as self, and the batches must \
             broadcast",
            a.dims(),
            b.dims()
        )));
    };
    check_field(cx, &a)?;
    check_field(cx, &b)?;
    let batch = &batch[..rank];
    let (dims_a, dims_b) = (batch_of(batch, sizes), batch_of(batch, [rows, columns]));
    cx.check_dims(&out, &dims_b)?;
    cx.check_dims(&copy, &dims_a)?;
    let (Some(a), Some(b)) = (a.expand(&dims_a), b.expand(&dims_b)) else {
        return Err(cx.defect("batches were broadcast"));
    };
    cx.copy(a, copy)?;
    let compute = wide(cx.promote(a.dtype(), b.dtype())?);
    let body = Solve {
        size: rows,
        columns,
        upper: cx.flag("upper")?,
        transposed: cx.flag("transpose")?,
        unit: cx.flag("unitriangular")?,
    };
    run_kernel(
        cx,
        counted(compute, body),
        &[(b, compute), (a, compute)],
        &[(out, compute)],
    )
}
