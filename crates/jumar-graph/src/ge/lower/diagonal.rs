//! Diagonals of matrices.

use jumar_ops::{Attrs, Builder as _, OpError};

use super::array::constant_int;
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, invalid};
use crate::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Diag", |cx, op| {
        let x = op.input("x")?;
        let dims = cx.dims(x)?;
        let count: i64 = dims.iter().product();
        let zero = cx.number(0.0, x)?;
        let flat = cx.reshape(x, &[1, count])?;
        let map = Band::new(0, 0, count, count).map(count);
        let y = spread(cx, flat, zero, &map)?;
        Ok(vec![cx.reshape(y, &[&dims[..], &dims[..]].concat())?])
    }),
    ("MatrixDiagV2", matrix_diag),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// The cells of a matrix that lie on the diagonals from `low` to `high`.
struct Band {
    low: i64,
    high: i64,
    rows: i64,
    columns: i64,
}

impl Band {
    fn new(low: i64, high: i64, rows: i64, columns: i64) -> Band {
        Band {
            low,
            high,
            rows,
            columns,
        }
    }

    /// For each cell, where its element stands among diagonals of `length` elements, the highest one first; behind them all
    /// where it lies on none.
    fn map(&self, length: i64) -> Vec<i64> {
        let beside = (self.high - self.low + 1) * length;
        let cells =
            (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        cells
            .map(|(row, column)| {
                let diagonal = column - row;
                if (self.low..=self.high).contains(&diagonal) {
                    (self.high - diagonal) * length + row.min(column)
                } else {
                    beside
                }
            })
            .collect()
    }
}

/// Puts the elements of rows, and behind them one more, where a map says.
fn spread(cx: &mut Cx, rows: ValueId, beside: ValueId, map: &[i64]) -> Result<ValueId, OpError> {
    let count = cx.dims(rows)?[0];
    let beside = cx.reshape(beside, &[1, 1])?;
    let dims = cx.ints(&[count, 1]);
    let beside = cx.one("Expand", &[beside, dims], Attrs::new())?;
    let attrs = Attrs::new().with("concat_dim", 1i64).with("N", 2i64);
    let all = cx.one("ConcatD", &[rows, beside], attrs)?;
    let map = cx.ints(map);
    let axis = cx.ints(&[1]);
    let axis = cx.reshape(axis, &[])?;
    cx.one("GatherV2", &[all, map, axis], Attrs::new())
}

/// Matrices of diagonals that stand one below the other, the highest one first, each from its left end.
fn matrix_diag(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (diagonal, padding) = (op.input("diagonal")?, op.input("padding_value")?);
    let (low, high) = match numbers(cx, op.input("k")?, "k")?[..] {
        [one] => (one, one),
        [low, high] if low <= high => (low, high),
        ref other => {
            return Err(invalid(format!(
                "its input k is {other:?}; it must be one number, or two of which the second is no less"
            )));
        }
    };
    let rows = constant_int(cx, op.input("num_rows")?, "num_rows")?;
    let columns = constant_int(cx, op.input("num_cols")?, "num_cols")?;
    let dims = cx.dims(diagonal)?;
    let several = low < high;
    let kept = dims
        .len()
        .checked_sub(1 + usize::from(several))
        .ok_or_else(|| invalid(format!("its input diagonal has {} dimensions", dims.len())))?;
    let length = dims[dims.len() - 1];
    if several && dims[kept] != high - low + 1 {
        return Err(invalid(format!(
            "its input diagonal has {} diagonals, and k names {}",
            dims[kept],
            high - low + 1
        )));
    }
    let (least_rows, least_columns) = (length - high.min(0), length + low.max(0));
    let (rows, columns) = match (rows, columns) {
        (-1, -1) => {
            let size = least_rows.max(least_columns);
            (size, size)
        }
        (-1, columns) => (least_rows, columns),
        (rows, -1) => (rows, least_columns),
        both => both,
    };
    let longest = (rows + high.min(0)).min(columns - low.max(0));
    if rows < 0 || columns < 0 || longest != length {
        return Err(invalid(format!(
            "diagonals {low} to {high} of {length} elements do not fit {rows} rows and {columns} columns"
        )));
    }
    let count: i64 = dims[..kept].iter().product();
    let flat = cx.reshape(diagonal, &[count, (high - low + 1) * length])?;
    let dtype = cx.ty(flat).dtype;
    let padding = cx.cast(padding, dtype)?;
    let map = Band::new(low, high, rows, columns).map(length);
    let y = spread(cx, flat, padding, &map)?;
    Ok(vec![
        cx.reshape(y, &[&dims[..kept], &[rows, columns]].concat())?,
    ])
}
