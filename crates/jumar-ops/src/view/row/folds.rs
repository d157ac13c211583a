//! Rows folded into one value: with one accumulator, or with several that a processor can run at once.

use std::hint::black_box;

use super::{Element, LineAlignment, Row, different};

/// Writes accumulators to memory and reads them from there.
#[inline(always)]
fn in_memory<A>(lanes: A) -> A {
    black_box(LineAlignment(lanes)).0
}

/// Joins accumulators, of which there are a power of two, in halves. They are read from memory: what joins them would otherwise decide
/// how the loop before keeps them.
///
/// Not one after the other: from `f32::max` of seven, eight, ten or more values in a row, LLVM 22 makes vector instructions that leave out
/// the last ones, where it optimizes a crate in one piece.
#[inline(always)]
pub(super) fn joined<A: Copy, const LANES: usize>(
    lanes: [A; LANES],
    join: impl Fn(A, A) -> A,
) -> A {
    const { assert!(LANES.is_power_of_two()) };
    let mut lanes = in_memory(lanes);
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

impl<T: Element> Row<'_, T> {
    /// Calls `step` with the accumulator and each element, in order.
    #[inline(always)]
    pub fn fold<A>(&self, start: A, mut step: impl FnMut(A, T) -> A) -> A {
        let mut accumulator = start;
        for index in 0..self.len {
            // SAFETY: `index < len`.
            accumulator = step(accumulator, unsafe { self.read(index) });
        }
        accumulator
    }

    /// Folds with sixteen accumulators side by side, which a processor can run at once, and joins them at the end.
    #[inline(always)]
    pub fn fold_wide<A: Copy>(
        &self,
        start: A,
        step: impl Fn(A, T) -> A,
        join: impl Fn(A, A) -> A,
    ) -> A {
        const LANES: usize = 16;
        let mut lanes = LineAlignment([start; LANES]);
        let grouped = if T::GROUPED && self.is_dense() {
            self.len / LANES * LANES
        } else {
            0
        };
        for base in (0..grouped).step_by(LANES) {
            // SAFETY: `grouped` is at most `len`, so a group of that many elements starts at `base`; the row is dense.
            let group: [T; LANES] = unsafe { self.read_group(base) };
            for (lane, value) in lanes.0.iter_mut().zip(group) {
                *lane = step(*lane, value);
            }
        }
        for index in grouped..self.len {
            let lane = &mut lanes.0[index % LANES];
            // SAFETY: `index < len`.
            *lane = step(*lane, unsafe { self.read(index) });
        }
        joined(lanes.0, join)
    }

    /// Folds a long row as [`fold_wide`](Row::fold_wide), with four groups of accumulators: each addition waits for the one before it.
    #[inline(always)]
    pub fn fold_long<A: Copy>(
        &self,
        start: A,
        step: impl Fn(A, T) -> A,
        join: impl Fn(A, A) -> A,
    ) -> A {
        const LANES: usize = 16;
        const CHAINS: usize = 4;
        const BLOCK: usize = LANES * CHAINS;
        if !self.is_dense() || self.len < 4 * BLOCK {
            return self.fold_wide(start, step, join);
        }
        let mut chains = [[start; LANES]; CHAINS];
        let full = self.len / BLOCK * BLOCK;
        for base in (0..full).step_by(BLOCK) {
            for (chain, lanes) in chains.iter_mut().enumerate() {
                // SAFETY: `full` is at most `len`, so a block of that many elements starts at `base`; the row is dense.
                let group: [T; LANES] = unsafe { self.read_group(base + chain * LANES) };
                for lane in 0..LANES {
                    lanes[lane] = step(lanes[lane], group[lane]);
                }
            }
        }
        let rest = self.slice(full, self.len - full);
        let rest = rest.fold_wide(start, &step, &join);
        let [mut lanes, others @ ..] = chains;
        for other in others {
            for lane in 0..LANES {
                lanes[lane] = join(lanes[lane], other[lane]);
            }
        }
        join(joined(lanes, &join), rest)
    }

    /// Folds two rows of the same length element by element with several accumulators, and joins them at the end.
    #[inline(always)]
    pub fn fold2_wide<U: Element, A: Copy>(
        &self,
        other: Row<'_, U>,
        start: A,
        step: impl Fn(A, T, U) -> A,
        join: impl Fn(A, A) -> A,
    ) -> A {
        let [folded] = Row::fold2_each_wide([*self], other, start, step, join);
        folded
    }

    /// Folds each of several rows with the same other one, as [`fold2_wide`](Row::fold2_wide). The other row is read once.
    #[inline(always)]
    pub fn fold2_each_wide<const N: usize, U: Element, A: Copy>(
        rows: [Row<'_, T>; N],
        other: Row<'_, U>,
        start: A,
        step: impl Fn(A, T, U) -> A,
        join: impl Fn(A, A) -> A,
    ) -> [A; N] {
        for row in &rows {
            if row.len != other.len {
                different(row.len, other.len);
            }
        }
        const LANES: usize = 16;
        let mut lanes = LineAlignment([[start; LANES]; N]);
        let dense = other.is_dense() && rows.iter().all(Row::is_dense);
        let grouped = if T::GROUPED && U::GROUPED && dense {
            other.len / LANES * LANES
        } else {
            0
        };
        for base in (0..grouped).step_by(LANES) {
            // SAFETY: `grouped` is at most the length of all rows, and this row is dense.
            let two: [U; LANES] = unsafe { other.read_group(base) };
            for (lanes, row) in lanes.0.iter_mut().zip(&rows) {
                // SAFETY: the same of this row.
                let one: [T; LANES] = unsafe { row.read_group(base) };
                for lane in 0..LANES {
                    lanes[lane] = step(lanes[lane], one[lane], two[lane]);
                }
            }
        }
        for index in grouped..other.len {
            // SAFETY: `index < len` of all.
            let two = unsafe { other.read(index) };
            for (lanes, row) in lanes.0.iter_mut().zip(&rows) {
                // SAFETY: as above.
                let one = unsafe { row.read(index) };
                lanes[index % LANES] = step(lanes[index % LANES], one, two);
            }
        }
        let mut folded = [start; N];
        for (folded, lanes) in folded.iter_mut().zip(&lanes.0) {
            *folded = joined(*lanes, &join);
        }
        folded
    }
}
