//! Products of a recurrent layer whose operands have 8 bits: the input and the state are rounded while the layer runs.
//!
//! The integers are stored as floats. A partial sum over at most [`DEPTH`] products is exact in float32, so that the result
//! is the one of 32-bit integers.

use std::ops::Range;

use super::generic::Working;
use crate::view::{Row, RowMut};

/// Products of two differences of 8-bit integers, each at most 255, whose sum stays below 2^24.
const DEPTH: usize = 256;

/// Returns the parts of `k` columns that are summed exactly.
pub(super) fn depths(k: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    (0..k)
        .step_by(DEPTH)
        .map(move |start| start..(start + DEPTH).min(k))
}

/// Returns the elements that [`pack`] writes for `n` rows of `k`.
pub(super) fn packed_len<W: Working>(n: usize, k: usize) -> usize {
    depths(k).map(|part| W::packed_len(n, part.len())).sum()
}

/// Returns the elements of scratch that [`pack`] needs for `n` rows.
pub(super) fn columns_len(n: usize) -> usize {
    n * DEPTH
}

/// Packs `n` rows of `k` integers, one part of the columns after the other.
pub(super) fn pack<W: Working>(
    (n, k): (usize, usize),
    from: Row<'_, W>,
    to: RowMut<'_, W>,
    columns: RowMut<'_, W>,
) {
    let mut at = 0;
    for part in depths(k) {
        let width = part.len();
        for row in 0..n {
            columns
                .slice(row * width, width)
                .copy_from(from.slice(row * k + part.start, width));
        }
        let len = W::packed_len(n, width);
        let dense = columns.as_row().slice(0, n * width);
        W::pack(n, width, dense, to.slice(at, len));
        at += len;
    }
}

/// How floats become unsigned integers of 8 bits, as ONNX defines `DynamicQuantizeLinear`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    scale: f32,
    zero: f32,
}

impl Rounding {
    /// Finds the scale and the zero point that cover all values and 0.
    pub fn of<'a, W: Working>(rows: impl IntoIterator<Item = Row<'a, W>>) -> Rounding {
        let (mut low, mut high) = (0f32, 0f32);
        for row in rows {
            for at in 0..row.len() {
                let value = row.get(at).f64() as f32;
                low = low.min(value);
                high = high.max(value);
            }
        }
        let scale = match high == low {
            true => 1.0,
            false => (high - low) / 255.0,
        };
        let zero = (-low / scale).clamp(0.0, 255.0).round_ties_even();
        Rounding { scale, zero }
    }

    /// Rounds `m` rows of `k`. Writes the differences from the zero point, one part of the columns after the other.
    pub fn apply<W: Working>(
        self,
        (m, _, k): (usize, usize, usize),
        from: Row<'_, W>,
        to: RowMut<'_, W>,
    ) {
        let Rounding { scale, zero } = self;
        let mut at = 0;
        for part in depths(k) {
            for row in 0..m {
                let values = from.slice(row * k + part.start, part.len());
                to.slice(at, part.len()).map1(values, |value| {
                    let steps = (value.f64() as f32 / scale).clamp(-zero, 255.0 - zero);
                    W::of(f64::from(steps.round_ties_even()))
                });
                at += part.len();
            }
        }
    }

    /// Returns how much each column of a product counts, with the scales of the weights of `count` directions: one for all columns
    /// of a direction, or one each.
    pub fn factors<W: Working>(
        self,
        scales: Row<'_, W>,
        (direction, count): (usize, usize),
    ) -> impl Fn(usize) -> f32 {
        let each = scales.len() / count;
        let scales = scales.slice(direction * each, each);
        move |column| {
            let of_column = if each == 1 { 0 } else { column };
            self.scale * scales.get(of_column).f64() as f32
        }
    }
}

/// Adds the product of `m` rounded rows of `k` and `n` packed rows to `sums`, `m` dense rows of `n`.
pub(super) fn add_product<W: Working>(
    (m, n, k): (usize, usize, usize),
    rounded: RowMut<'_, W>,
    packed: Row<'_, W>,
    factors: impl Fn(usize) -> f32,
    sums: RowMut<'_, W>,
    partial: RowMut<'_, W>,
) {
    let (mut row_at, mut packed_at) = (0, 0);
    let mut parts = 0;
    for part in depths(k) {
        let width = part.len();
        let len = W::packed_len(n, width);
        let to = partial.slice(parts * m * n, m * n);
        let rows = rounded.as_row().slice(row_at, m * width);
        W::packed_product(
            (m, n, width),
            rows,
            packed.slice(packed_at, len),
            None,
            (to, n),
        );
        row_at += m * width;
        packed_at += len;
        parts += 1;
    }
    for row in 0..m {
        for column in 0..n {
            let at = row * n + column;
            let sum: f64 = (0..parts)
                .map(|part| partial.get(part * m * n + at).f64())
                .sum();
            let product = sum as f32 * factors(column);
            sums.set(at, sums.get(at) + W::of(f64::from(product)));
        }
    }
}
