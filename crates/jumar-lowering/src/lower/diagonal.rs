//! Diagonals of matrices.

use jumar_ops::{Attrs, Builder as _, OpError};

use super::array::constant_int;
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Diag", |cx, op| {
        let x = op.input("x")?;
        let dims = cx.dims(x)?;
        let count: i64 = dims.iter().product();
        let zero = cx.number(0.0, x)?;
        let flat = cx.reshape(x, &[1, count])?;
        let map = Band::new(0, 0, count, count).map(count, LEFT);
        let y = spread(cx, flat, zero, &map)?;
        Ok(vec![cx.reshape(y, &[&dims[..], &dims[..]].concat())?])
    }),
    ("DiagPart", |cx, op| {
        let x = op.input("x")?;
        let dims = cx.dims(x)?;
        let (half, other) = dims.split_at(dims.len() / 2);
        if half != other || dims.is_empty() {
            return Err(invalid(format!(
                "its input has the shape {dims:?}; the second half of its dimensions must repeat the first"
            )));
        }
        let count: i64 = half.iter().product();
        let square = cx.reshape(x, &[count, count])?;
        let y = part(cx, square, None, &Band::new(0, 0, count, count), LEFT)?;
        Ok(vec![cx.reshape(y, half)?])
    }),
    ("DiagV2", |cx, op| {
        let (x, k) = (op.input("x")?, op.int("diagonal")?);
        let &[rows, columns] = &cx.dims(x)?[..] else {
            return Err(invalid(format!(
                "its input has {} dimensions; 2 are required",
                cx.rank(x)?
            )));
        };
        let band = Band::new(k, k, rows, columns);
        let y = part(cx, x, None, &band, LEFT)?;
        Ok(vec![cx.reshape(y, &[-1])?])
    }),
    ("MatrixDiag", |cx, op| {
        let x = op.input("x")?;
        let dims = cx.dims(x)?;
        let Some((&length, kept)) = dims.split_last() else {
            return Err(invalid(
                "its input has no dimensions; 1 at least is required",
            ));
        };
        let flat = cx.reshape(x, &[kept.iter().product(), length])?;
        let zero = cx.number(0.0, x)?;
        let map = Band::new(0, 0, length, length).map(length, LEFT);
        let y = spread(cx, flat, zero, &map)?;
        Ok(vec![cx.reshape(y, &[kept, &[length, length]].concat())?])
    }),
    ("MatrixDiagPart", |cx, op| {
        let x = op.input("x")?;
        let (_, rows, columns) = matrices(cx, x)?;
        Ok(vec![part(
            cx,
            x,
            None,
            &Band::new(0, 0, rows, columns),
            LEFT,
        )?])
    }),
    ("MatrixDiagPartV3", |cx, op| {
        let x = op.input("x")?;
        let (low, high) = band_of(cx, op)?;
        let (_, rows, columns) = matrices(cx, x)?;
        let band = Band::new(low, high, rows, columns);
        if low <= -rows.max(1) || high >= columns.max(1) {
            return Err(invalid(format!(
                "its input k is {low} to {high}; matrices of {rows} rows and {columns} columns have diagonals {} to {}",
                1 - rows,
                columns - 1
            )));
        }
        let padding = op.input("padding_value")?;
        Ok(vec![part(cx, x, Some(padding), &band, aligned(op)?)?])
    }),
    ("MatrixDiagV2", |cx, op| {
        matrix_diag(cx, op, op.input("diagonal")?, LEFT)
    }),
    ("MatrixDiagV3", |cx, op| {
        matrix_diag(cx, op, op.input("x")?, aligned(op)?)
    }),
    ("MatrixSetDiag", |cx, op| {
        set(cx, op.input("x")?, op.input("diagonal")?, (0, 0), LEFT)
    }),
    ("MatrixSetDiagV2", |cx, op| {
        let band = band_of(cx, op)?;
        set(cx, op.input("input")?, op.input("diagonal")?, band, LEFT)
    }),
    ("MatrixSetDiagV3", |cx, op| {
        let band = band_of(cx, op)?;
        let aligned = aligned(op)?;
        set(cx, op.input("input")?, op.input("diagonal")?, band, aligned)
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Where diagonals that are shorter than the longest begin.
#[derive(Clone, Copy)]
struct DiagonalAlignment {
    /// Whether those above the main diagonal begin at the left end.
    upper_left: bool,
    /// Whether those below it do.
    lower_left: bool,
}

const LEFT: DiagonalAlignment = DiagonalAlignment {
    upper_left: true,
    lower_left: true,
};

/// Reads the attribute `align`: the side of the upper diagonals, then that of the lower ones.
fn aligned(op: &Op<'_>) -> Result<DiagonalAlignment, OpError> {
    let (upper_left, lower_left) = match op.text("align")? {
        "LEFT_LEFT" => (true, true),
        "LEFT_RIGHT" => (true, false),
        "RIGHT_LEFT" => (false, true),
        "RIGHT_RIGHT" => (false, false),
        other => {
            return Err(invalid(format!(
                "its attribute align is {other}; it must be LEFT_LEFT, LEFT_RIGHT, RIGHT_LEFT or RIGHT_RIGHT"
            )));
        }
    };
    Ok(DiagonalAlignment {
        upper_left,
        lower_left,
    })
}

/// Reads the input `k`: one diagonal, or the lowest and the highest of several.
fn band_of(cx: &Cx, op: &Op<'_>) -> Result<(i64, i64), OpError> {
    match numbers(cx, op.input("k")?, "k")?[..] {
        [one] => Ok((one, one)),
        [low, high] if low <= high => Ok((low, high)),
        ref other => Err(invalid(format!(
            "its input k is {other:?}; it must be one number, or two of which the second is no less"
        ))),
    }
}

/// Returns the dimensions in front of matrices, their rows and their columns.
fn matrices(cx: &Cx, x: ValueId) -> Result<(Vec<i64>, i64, i64), OpError> {
    match cx.dims(x)?.as_slice() {
        [kept @ .., rows, columns] => Ok((kept.to_vec(), *rows, *columns)),
        dims => Err(invalid(format!(
            "its input has {} dimensions; 2 at least are required",
            dims.len()
        ))),
    }
}

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

    fn count(&self) -> i64 {
        self.high - self.low + 1
    }

    /// Returns the number of elements of a diagonal.
    fn length(&self, diagonal: i64) -> i64 {
        let length = (self.rows + diagonal.min(0)).min(self.columns - diagonal.max(0));
        length.max(0)
    }

    /// Returns the number of elements of the longest diagonal.
    fn longest(&self) -> i64 {
        self.length(0.clamp(self.low, self.high))
    }

    /// Returns by how many slots a diagonal is shifted to the right among `length` slots.
    fn offset(&self, diagonal: i64, length: i64, aligned: DiagonalAlignment) -> i64 {
        let left = (diagonal >= 0 && aligned.upper_left) || (diagonal <= 0 && aligned.lower_left);
        if left {
            0
        } else {
            length - self.length(diagonal)
        }
    }

    /// For each cell, where its element stands among diagonals of `length` elements, the highest one first; behind them all
    /// where it lies on none.
    fn map(&self, length: i64, aligned: DiagonalAlignment) -> Vec<i64> {
        let beside = self.count() * length;
        let cells =
            (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        cells
            .map(|(row, column)| {
                let diagonal = column - row;
                if (self.low..=self.high).contains(&diagonal) {
                    let offset = self.offset(diagonal, length, aligned);
                    (self.high - diagonal) * length + offset + row.min(column)
                } else {
                    beside
                }
            })
            .collect()
    }

    /// For each element of the diagonals, the highest one first, the cell that it is; behind all cells where there is none.
    fn cells(&self, aligned: DiagonalAlignment) -> Vec<i64> {
        let longest = self.longest();
        let slots = (self.low..=self.high)
            .rev()
            .flat_map(|diagonal| (0..longest).map(move |slot| (diagonal, slot)));
        slots
            .map(|(diagonal, slot)| {
                let element = slot - self.offset(diagonal, longest, aligned);
                if (0..self.length(diagonal)).contains(&element) {
                    (element - diagonal.min(0)) * self.columns + element + diagonal.max(0)
                } else {
                    self.rows * self.columns
                }
            })
            .collect()
    }
}

/// Returns the diagonals of matrices, with a number where a diagonal is shorter than the longest.
fn part(
    cx: &mut Cx,
    x: ValueId,
    padding: Option<ValueId>,
    band: &Band,
    aligned: DiagonalAlignment,
) -> Result<ValueId, OpError> {
    let (kept, rows, columns) = matrices(cx, x)?;
    let count: i64 = kept.iter().product();
    let padding = match padding {
        Some(padding) => cx.cast(padding, cx.ty(x).dtype)?,
        None => cx.number(0.0, x)?,
    };
    let flat = cx.reshape(x, &[count, rows * columns])?;
    let y = spread(cx, flat, padding, &band.cells(aligned))?;
    let tail = if band.count() > 1 {
        vec![band.count(), band.longest()]
    } else {
        vec![band.longest()]
    };
    cx.reshape(y, &[kept, tail].concat())
}

/// Replaces diagonals of matrices by others.
fn set(
    cx: &mut Cx,
    x: ValueId,
    diagonal: ValueId,
    (low, high): (i64, i64),
    aligned: DiagonalAlignment,
) -> Answer {
    let (kept, rows, columns) = matrices(cx, x)?;
    let band = Band::new(low, high, rows, columns);
    let length = band.longest();
    let mut wanted = kept.clone();
    if band.count() > 1 {
        wanted.push(band.count());
    }
    wanted.push(length);
    if cx.dims(diagonal)? != wanted {
        return Err(invalid(format!(
            "its input diagonal has the shape {:?}; diagonals {low} to {high} of its input have {wanted:?}",
            cx.dims(diagonal)?
        )));
    }
    let count: i64 = kept.iter().product();
    let own = cx.reshape(x, &[count, rows * columns])?;
    let new = cx.reshape(diagonal, &[count, band.count() * length])?;
    let beside = band.count() * length;
    // What lies on no diagonal comes from the same cell.
    let map: Vec<i64> = band
        .map(length, aligned)
        .into_iter()
        .enumerate()
        .map(|(cell, slot)| {
            if slot == beside {
                beside + cell as i64
            } else {
                slot
            }
        })
        .collect();
    let y = selected(cx, new, own, &map)?;
    let dims = cx.dims(x)?;
    Ok(vec![cx.reshape(y, &dims)?])
}

/// Puts the elements of rows, and behind them one more, where a map says.
fn spread(cx: &mut Cx, rows: ValueId, beside: ValueId, map: &[i64]) -> Result<ValueId, OpError> {
    let count = cx.dims(rows)?[0];
    let beside = cx.reshape(beside, &[1, 1])?;
    let dims = cx.ints(&[count, 1]);
    let beside = cx.one("Expand", &[beside, dims], Attrs::new())?;
    selected(cx, rows, beside, map)
}

/// Puts the elements of rows, and behind them those of others, where a map says.
fn selected(cx: &mut Cx, rows: ValueId, others: ValueId, map: &[i64]) -> Result<ValueId, OpError> {
    let attrs = Attrs::new().with("concat_dim", 1i64).with("N", 2i64);
    let all = cx.one("ConcatD", &[rows, others], attrs)?;
    let map = cx.ints(map);
    let axis = cx.ints(&[1]);
    let axis = cx.reshape(axis, &[])?;
    cx.one("GatherV2", &[all, map, axis], Attrs::new())
}

/// Matrices of diagonals that stand one below the other, the highest one first.
fn matrix_diag(cx: &mut Cx, op: &Op<'_>, diagonal: ValueId, aligned: DiagonalAlignment) -> Answer {
    let padding = op.input("padding_value")?;
    let (low, high) = band_of(cx, op)?;
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
    let map = Band::new(low, high, rows, columns).map(length, aligned);
    let y = spread(cx, flat, padding, &map)?;
    Ok(vec![
        cx.reshape(y, &[&dims[..kept], &[rows, columns]].concat())?,
    ])
}
