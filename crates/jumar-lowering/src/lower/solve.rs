//! Systems of linear equations, and the decomposition that solves them.

use jumar_ops::{Attrs, Builder as _, OpError};

use super::complex::conjugate;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("MatrixSolve", |cx, op| {
        let (a, b) = (op.input("matrix")?, op.input("rhs")?);
        square(cx, a)?;
        let [q, r] = decomposed(cx, a, false)?;
        if op.yes("adjoint")? {
            // A^H x = R^H Q^H x
            let y = triangular(cx, r, b, true, true)?;
            return Ok(vec![cx.one("BatchMatMulV2", &[q, y], Attrs::new())?]);
        }
        let q = turned(cx, q)?;
        let y = cx.one("BatchMatMulV2", &[q, b], Attrs::new())?;
        Ok(vec![triangular(cx, r, y, true, false)?])
    }),
    ("MatrixTriangularSolve", |cx, op| {
        let (a, b) = (op.input("matrix")?, op.input("rhs")?);
        square(cx, a)?;
        let (lower, adjoint) = (op.yes("lower")?, op.yes("adjoint")?);
        Ok(vec![triangular(cx, a, b, !lower, adjoint)?])
    }),
    ("Qr", |cx, op| {
        let full = op.yes("full_matrices")?;
        Ok(decomposed(cx, op.input("x")?, full)?.to_vec())
    }),
];

fn square(cx: &Cx, matrix: ValueId) -> Result<(), OpError> {
    match cx.dims(matrix)?.as_slice() {
        [.., rows, columns] if rows == columns => Ok(()),
        dims => Err(invalid(format!(
            "its input matrix has the shape {dims:?}; square matrices are required"
        ))),
    }
}

fn decomposed(cx: &mut Cx, x: ValueId, full: bool) -> Result<[ValueId; 2], OpError> {
    let attrs = Attrs::new().with("mode", i64::from(full));
    let both = cx.add_node("jumar.Qr", &[Some(x)], attrs, 2)?;
    Ok([both[0], both[1]])
}

/// Returns the conjugate transposes of matrices.
fn turned(cx: &mut Cx, x: ValueId) -> Result<ValueId, OpError> {
    let rank = cx.rank(x)? as i64;
    let mut order: Vec<i64> = (0..rank).collect();
    order.swap((rank - 2) as usize, (rank - 1) as usize);
    let x = conjugate(cx, x)?;
    cx.transpose(x, &order)
}

/// Solves equations whose matrices are triangular, or the adjoint ones.
fn triangular(
    cx: &mut Cx,
    a: ValueId,
    b: ValueId,
    upper: bool,
    adjoint: bool,
) -> Result<ValueId, OpError> {
    let a = if adjoint { conjugate(cx, a)? } else { a };
    let attrs = Attrs::new().with("upper", upper).with("transpose", adjoint);
    let both = cx.add_node("jumar.TriangularSolve", &[Some(b), Some(a)], attrs, 2)?;
    Ok(both[0])
}
