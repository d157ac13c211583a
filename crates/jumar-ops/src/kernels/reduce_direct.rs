//! Sums and extremes of elements of float32 and of the 16-bit types, without the detour through blocks of float64.
//!
//! Elements are added eight at a time in float32, in an order that the shape alone decides, and these sums are added in
//! float64: a result is off by at most four roundings of float32, relative to the sum of the sizes, however many
//! elements there are. Where float32 does not reach far enough, everything is added again in float64.

use std::ops::Range;

use super::loops::{Loops, dense_strides};
use super::reduce::Join;
use crate::simd::convert::LowPrecision;
use crate::simd::wide::{Work, wide};
use crate::view::{Row, RowMut};
use crate::{Call, Kernel, OpError, OpErrorKind, Workers};

/// How many elements lie side by side in a step.
const SIDE: usize = 16;
/// How many elements are added in float32 before float64 takes the sum.
const DEPTH: usize = 8;
/// How many columns are worked on at once, so that their sums stay in the nearest cache.
const COLUMNS: usize = 256;
/// How many columns are added at once where there are as many. Longer parts of rows are read faster than shorter ones.
const MANY: usize = 2048;
/// How many elements a thread takes at least, where several share the work.
const GRAIN: usize = 1 << 15;
/// How many columns ahead memory is asked for. The processor does not foresee which of several rows are read next.
const AHEAD: usize = 512;

/// Where sums belong: the results, and before that, where several groups of rows contribute to each of them, memory that adds them up.
type Sums<'a, T> = (Option<RowMut<'a, f64>>, RowMut<'a, T>);

/// A reduction over one run of neighbouring axes at a time; axes of one element belong to either side.
pub(super) struct Direct {
    /// Over what is before `count` and `columns`: the starts in the input and in the output.
    rest: Loops<2>,
    /// How many rows are joined.
    count: usize,
    /// How many elements a row has that are kept apart; 1 where the joined elements lie side by side.
    columns: usize,
    outputs: usize,
    total: usize,
    join: Join,
    run: fn(&Direct, &Call<'_>) -> Result<(), OpError>,
}

impl Direct {
    /// Makes the kernel; `None` where only the general one does.
    pub(super) fn new<T: LowPrecision>(
        shape: &[usize],
        axes: &[usize],
        join: Join,
    ) -> Option<Direct> {
        let known = matches!(
            join,
            Join::Sum | Join::Mean | Join::L1 | Join::L2 | Join::Squares | Join::Most | Join::Least
        );
        if !known || shape.contains(&0) || T::instructions().is_none() {
            return None;
        }
        let joined = |axis: usize| axes.contains(&axis);
        let mut end = shape.len();
        let mut columns = 1;
        while end > 0 && (shape[end - 1] == 1 || !joined(end - 1)) {
            end -= 1;
            columns *= shape[end];
        }
        let mut count = 1;
        while end > 0 && (shape[end - 1] == 1 || joined(end - 1)) {
            end -= 1;
            count *= shape[end];
        }
        if count == 1 {
            return None;
        }
        let kept: Vec<usize> = (0..shape.len())
            .map(|axis| if joined(axis) { 1 } else { shape[axis] })
            .collect();
        let mut to = dense_strides(&kept);
        for &axis in axes {
            to[axis] = 0;
        }
        Some(Direct {
            rest: Loops::new(&shape[..end], [&dense_strides(shape)[..end], &to[..end]]),
            count,
            columns,
            outputs: kept.iter().product(),
            total: axes.iter().map(|&axis| shape[axis]).product(),
            join,
            run: Direct::run_typed::<T>,
        })
    }

    /// Calls `body` with where each group of rows starts, where its results belong, and which of its columns are meant. Threads share
    /// groups where each has results of its own, and columns elsewhere.
    fn each(
        &self,
        workers: Workers<'_>,
        body: impl Fn(usize, usize, Range<usize>) + Sync,
    ) -> Result<(), OpError> {
        let (len, [step, to_step]) = (self.rest.row(), self.rest.steps());
        let at = |[from, to]: [usize; 2], index: usize| {
            (from + index * step as usize, to + index * to_step as usize)
        };
        if self.rest.is_one_row() && len > 1 && to_step != 0 {
            let grain = GRAIN.div_ceil(self.count * self.columns);
            workers.ranges(len, grain, |first, groups| {
                for index in first..first + groups {
                    let (from, to) = at([0; 2], index);
                    body(from, to, 0..self.columns);
                }
            });
            return Ok(());
        }
        let rows = GRAIN.div_ceil(self.total * self.outputs.div_ceil(self.columns));
        workers.ranges(
            self.columns,
            rows.next_multiple_of(COLUMNS),
            |start, len| {
                self.rest.each([0; 2], |starts| {
                    for index in 0..self.rest.row() {
                        let (from, to) = at(starts, index);
                        body(from, to, start..start + len);
                    }
                });
            },
        );
        Ok(())
    }

    /// Adds what `near` makes of every element; `exact` makes the same in float64, and `fits` returns whether a sum of
    /// what `near` makes is one that float32 is good for.
    fn add<T: LowPrecision>(
        &self,
        (input, by): (Row<'_, T>, T::Instructions),
        workers: Workers<'_>,
        sums: Sums<'_, T>,
        near: impl Fn(f32) -> f32 + Copy + Sync,
        exact: impl Fn(f64) -> f64 + Copy + Sync,
        fits: impl Fn(f64) -> bool + Copy + Sync,
    ) -> Result<(), OpError> {
        if self.columns == 1 {
            return self.each(workers, |from, to, _| {
                let row = input.slice(from, self.count);
                let mut sum = wide(SumRow { row, by, near });
                if !fits(sum) {
                    sum = row.fold(0.0, |sum, x| sum + exact(f64::from(x.widen())));
                }
                self.keep(&[sum], to, sums);
            });
        }
        match self.columns {
            ..=COLUMNS => {
                self.add_columns::<T, COLUMNS>((input, by), workers, sums, near, exact, fits)
            }
            _ => self.add_columns::<T, MANY>((input, by), workers, sums, near, exact, fits),
        }
    }

    /// Adds rows, `WIDTH` columns at a time.
    fn add_columns<T: LowPrecision, const WIDTH: usize>(
        &self,
        (input, by): (Row<'_, T>, T::Instructions),
        workers: Workers<'_>,
        sums: Sums<'_, T>,
        near: impl Fn(f32) -> f32 + Copy + Sync,
        exact: impl Fn(f64) -> f64 + Copy + Sync,
        fits: impl Fn(f64) -> bool + Copy + Sync,
    ) -> Result<(), OpError> {
        self.each(workers, |from, to, columns| {
            let mut own = [0.0; WIDTH];
            for start in columns.clone().step_by(WIDTH) {
                let own = &mut own[..WIDTH.min(columns.end - start)];
                wide(ColumnSums {
                    direct: self,
                    input,
                    by,
                    from: from + start,
                    own: &mut *own,
                    near,
                });
                // Without an end before the last, which vector instructions do not have.
                if !own.iter().fold(true, |all, &sum| all & fits(sum)) {
                    own.fill(0.0);
                    for row in 0..self.count {
                        let row = input.slice(from + start + row * self.columns, own.len());
                        for (index, sum) in own.iter_mut().enumerate() {
                            *sum += exact(f64::from(row.get(index).widen()));
                        }
                    }
                }
                self.keep(own, to + start, sums);
            }
        })
    }

    /// Takes the sums of neighbouring outputs from `to` on.
    fn keep<T: LowPrecision>(&self, own: &[f64], to: usize, (sums, out): Sums<'_, T>) {
        let Some(sums) = sums else {
            return self.finish(Row::of(own), out.slice(to, own.len()));
        };
        let sums = sums.slice(to, own.len());
        for (index, sum) in own.iter().enumerate() {
            sums.set(index, sums.get(index) + sum);
        }
    }

    /// Makes results of sums.
    fn finish<T: LowPrecision>(&self, sums: Row<'_, f64>, out: RowMut<'_, T>) {
        let total = self.total as f64;
        match self.join {
            Join::Mean => out.map1(sums, |sum| T::rounded((sum / total) as f32)),
            Join::L2 => out.map1(sums, |sum| T::rounded(sum.sqrt() as f32)),
            _ => out.map1(sums, |sum| T::rounded(sum as f32)),
        }
    }

    /// Adds the rows of a group, column by column.
    #[inline(always)]
    fn columns_near<T: LowPrecision>(
        &self,
        (input, by): (Row<'_, T>, T::Instructions),
        from: usize,
        own: &mut [f64],
        near: impl Fn(f32) -> f32 + Copy + Sync,
    ) {
        own.fill(0.0);
        let grouped = own.len() / SIDE * SIDE;
        for first in (0..self.count).step_by(DEPTH) {
            let depth = DEPTH.min(self.count - first);
            let start = from + first * self.columns;
            for (side, own) in own[..grouped].chunks_exact_mut(SIDE).enumerate() {
                self.ask_ahead(input, start, side * SIDE, grouped);
                let start = start + side * SIDE;
                let part = if depth == DEPTH {
                    part((input, by), start, self.columns, near)
                } else {
                    let mut part = [0.0; SIDE];
                    for row in 0..depth {
                        let x = group((input, by), start + row * self.columns);
                        for lane in 0..SIDE {
                            part[lane] += near(x[lane]);
                        }
                    }
                    part
                };
                for lane in 0..SIDE {
                    own[lane] += f64::from(part[lane]);
                }
            }
            for row in 0..depth {
                let row = input.slice(start + row * self.columns, own.len());
                for (index, own) in own.iter_mut().enumerate().skip(grouped) {
                    *own += f64::from(near(row.get(index).widen()));
                }
            }
        }
    }

    /// Asks for what is read after the columns from `column` on of the rows from `start` on: further columns of these rows, of which
    /// there are `width`, or the first ones of the rows below.
    #[inline(always)]
    fn ask_ahead<T: LowPrecision>(
        &self,
        input: Row<'_, T>,
        start: usize,
        column: usize,
        width: usize,
    ) {
        let ahead = column + AHEAD.min(width);
        let to = match ahead < width {
            true => start + ahead,
            false => start + ahead - width + DEPTH * self.columns,
        };
        for row in 0..DEPTH {
            input.ask_for_part(to + row * self.columns, SIDE);
        }
    }

    /// Finds the largest element; `near` turns the order round for the smallest.
    fn extreme<T: LowPrecision>(
        &self,
        (input, by): (Row<'_, T>, T::Instructions),
        workers: Workers<'_>,
        out: RowMut<'_, T>,
        near: impl Fn(f32) -> f32 + Copy + Sync,
    ) -> Result<(), OpError> {
        out.fill(T::rounded(near(f32::NEG_INFINITY)));
        let both = |one: T, two: f32| {
            let (one, two) = (near(one.widen()), near(two));
            T::rounded(near(if one > two || one.is_nan() { one } else { two }))
        };
        if self.columns == 1 {
            return self.each(workers, |from, to, _| {
                let row = input.slice(from, self.count);
                let top = near(wide(Top { row, by, near }));
                out.set(to, both(out.get(to), top));
            });
        }
        self.each(workers, |from, to, columns| {
            let mut own = [0.0; COLUMNS];
            let mut odd = [0u32; COLUMNS];
            for start in columns.clone().step_by(COLUMNS) {
                let len = COLUMNS.min(columns.end - start);
                let (own, odd) = (&mut own[..len], &mut odd[..len]);
                wide(ColumnTops {
                    direct: self,
                    input,
                    by,
                    from: from + start,
                    own: &mut *own,
                    odd: &mut *odd,
                    near,
                });
                let out = out.slice(to + start, len);
                for (index, (&top, &odd)) in own.iter().zip(&*odd).enumerate() {
                    let top = if odd == 0 { near(top) } else { f32::NAN };
                    out.set(index, both(out.get(index), top));
                }
            }
        })
    }

    /// Finds the largest of each column of a group of rows, and which columns have what is not a number.
    #[inline(always)]
    fn columns_top<T: LowPrecision>(
        &self,
        (input, by): (Row<'_, T>, T::Instructions),
        from: usize,
        own: &mut [f32],
        odd: &mut [u32],
        near: impl Fn(f32) -> f32 + Copy + Sync,
    ) {
        own.fill(f32::NEG_INFINITY);
        odd.fill(0);
        let grouped = own.len() / SIDE * SIDE;
        for first in (0..self.count).step_by(DEPTH) {
            let depth = DEPTH.min(self.count - first);
            let start = from + first * self.columns;
            let groups = own[..grouped].chunks_exact_mut(SIDE);
            for (side, (own, odd)) in groups.zip(odd.chunks_exact_mut(SIDE)).enumerate() {
                self.ask_ahead(input, start, side * SIDE, grouped);
                let (mut tops, mut marks) = ([0.0; SIDE], [0u32; SIDE]);
                tops.copy_from_slice(own);
                marks.copy_from_slice(odd);
                let start = start + side * SIDE;
                if depth == DEPTH {
                    let rows: [_; DEPTH] = input.groups(start, self.columns);
                    for row in rows {
                        raise(&mut tops, &mut marks, T::operand_group_by(by, row), near);
                    }
                } else {
                    for row in 0..depth {
                        let x = group((input, by), start + row * self.columns);
                        raise(&mut tops, &mut marks, x, near);
                    }
                }
                own.copy_from_slice(&tops);
                odd.copy_from_slice(&marks);
            }
            for row in 0..depth {
                let row = input.slice(start + row * self.columns, own.len());
                for index in grouped..own.len() {
                    let x = near(row.get(index).widen());
                    odd[index] |= mark(x);
                    own[index] = if x > own[index] { x } else { own[index] };
                }
            }
        }
    }
}

impl Kernel for Direct {
    fn scratch_bytes(&self) -> usize {
        match self.join {
            Join::Most | Join::Least => 0,
            _ if self.total == self.count => 0,
            _ => self.outputs * size_of::<f64>(),
        }
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        (self.run)(self, call)
    }
}

impl Direct {
    fn run_typed<T: LowPrecision>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let Some(by) = T::instructions() else {
            return Err(OpError::new(
                OpErrorKind::Internal,
                "the processor lost instructions that it had",
            ));
        };
        let (input, workers) = ((input, by), call.workers());
        match self.join {
            Join::Most => return self.extreme(input, workers, out, |x| x),
            Join::Least => return self.extreme(input, workers, out, |x| -x),
            _ => {}
        }
        let sums = match self.total == self.count {
            true => None,
            false => Some(call.scratch::<f64>(0, self.outputs)?),
        };
        if let Some(sums) = sums {
            sums.fill(0.0);
        }
        let to = (sums, out);
        match self.join {
            Join::L1 => self.add(input, workers, to, f32::abs, f64::abs, f64::is_finite)?,
            // Squares may also be too small for float32; this far above its smallest numbers, those do not count.
            Join::L2 | Join::Squares => self.add(
                input,
                workers,
                to,
                |x| x * x,
                |x| x * x,
                |sum| (1e-24..f64::INFINITY).contains(&sum),
            )?,
            _ if self.columns == 1 => self.add(input, workers, to, |x| x, |x| x, f64::is_finite)?,
            // Adding nothing changes no sum. Without it the compiler takes the loop over columns apart into single
            // elements, which takes twice as long.
            _ => self.add(input, workers, to, |x| x + 0.0, |x| x, f64::is_finite)?,
        }
        if let Some(sums) = sums {
            self.finish(sums.as_row(), out);
        }
        Ok(())
    }
}

/// Reads elements that lie side by side.
#[inline(always)]
fn group<T: LowPrecision>((input, by): (Row<'_, T>, T::Instructions), start: usize) -> [f32; SIDE] {
    T::operand_group_by(by, input.group(start))
}

/// Adds [`DEPTH`] groups that lie `step` elements apart: two sums of every other one, and these together. The bounds are checked once.
#[inline(always)]
fn part<T: LowPrecision>(
    (input, by): (Row<'_, T>, T::Instructions),
    start: usize,
    step: usize,
    near: impl Fn(f32) -> f32 + Copy + Sync,
) -> [f32; SIDE] {
    let groups: [_; DEPTH] = input.groups(start, step);
    let mut even = T::operand_group_by(by, groups[0]);
    let mut odd = T::operand_group_by(by, groups[1]);
    for lane in 0..SIDE {
        even[lane] = near(even[lane]);
        odd[lane] = near(odd[lane]);
    }
    for pair in 1..DEPTH / 2 {
        let one = T::operand_group_by(by, groups[2 * pair]);
        for lane in 0..SIDE {
            even[lane] += near(one[lane]);
        }
        let two = T::operand_group_by(by, groups[2 * pair + 1]);
        for lane in 0..SIDE {
            odd[lane] += near(two[lane]);
        }
    }
    for lane in 0..SIDE {
        even[lane] += odd[lane];
    }
    even
}

/// The sum of a row.
struct SumRow<'a, T: LowPrecision, N> {
    row: Row<'a, T>,
    by: T::Instructions,
    near: N,
}

impl<T: LowPrecision, N: Fn(f32) -> f32 + Copy + Sync> Work for SumRow<'_, T, N> {
    type Output = f64;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> f64 {
        sum_near((self.row, self.by), self.near)
    }
}

/// The sums of columns.
struct ColumnSums<'a, T: LowPrecision, N> {
    direct: &'a Direct,
    input: Row<'a, T>,
    by: T::Instructions,
    from: usize,
    own: &'a mut [f64],
    near: N,
}

impl<T: LowPrecision, N: Fn(f32) -> f32 + Copy + Sync> Work for ColumnSums<'_, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.direct
            .columns_near((self.input, self.by), self.from, self.own, self.near);
    }
}

/// The largest of a row, after `near`.
struct Top<'a, T: LowPrecision, N> {
    row: Row<'a, T>,
    by: T::Instructions,
    near: N,
}

impl<T: LowPrecision, N: Fn(f32) -> f32 + Copy + Sync> Work for Top<'_, T, N> {
    type Output = f32;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> f32 {
        top((self.row, self.by), self.near)
    }
}

/// The largest of columns.
struct ColumnTops<'a, T: LowPrecision, N> {
    direct: &'a Direct,
    input: Row<'a, T>,
    by: T::Instructions,
    from: usize,
    own: &'a mut [f32],
    odd: &'a mut [u32],
    near: N,
}

impl<T: LowPrecision, N: Fn(f32) -> f32 + Copy + Sync> Work for ColumnTops<'_, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { from, own, odd, .. } = self;
        self.direct
            .columns_top((self.input, self.by), from, own, odd, self.near);
    }
}

/// Adds the elements of a row that lie side by side.
#[inline(always)]
fn sum_near<T: LowPrecision>(
    (row, by): (Row<'_, T>, T::Instructions),
    near: impl Fn(f32) -> f32 + Copy + Sync,
) -> f64 {
    let mut sums = [0.0; SIDE];
    let deep = row.len() / (SIDE * DEPTH) * (SIDE * DEPTH);
    let grouped = row.len() / SIDE * SIDE;
    for start in (0..deep).step_by(SIDE * DEPTH) {
        let part = part((row, by), start, SIDE, near);
        for lane in 0..SIDE {
            sums[lane] += f64::from(part[lane]);
        }
    }
    for start in (deep..grouped).step_by(SIDE) {
        let x = group((row, by), start);
        for lane in 0..SIDE {
            sums[lane] += f64::from(near(x[lane]));
        }
    }
    for index in grouped..row.len() {
        sums[index % SIDE] += f64::from(near(row.get(index).widen()));
    }
    let mut half = SIDE / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
        half /= 2;
    }
    sums[0]
}

/// All bits where there is no number.
#[inline(always)]
fn mark(x: f32) -> u32 {
    if x.is_nan() { u32::MAX } else { 0 }
}

/// Takes the larger one in each SIMD lane. NaN compares false, so it is marked separately.
#[inline(always)]
fn raise(
    tops: &mut [f32; SIDE],
    marks: &mut [u32; SIDE],
    x: [f32; SIDE],
    near: impl Fn(f32) -> f32 + Copy + Sync,
) {
    for lane in 0..SIDE {
        let x = near(x[lane]);
        marks[lane] |= mark(x);
        tops[lane] = if x > tops[lane] { x } else { tops[lane] };
    }
}

/// Finds the largest element of a row that lies side by side, after `near`.
#[inline(always)]
fn top<T: LowPrecision>(
    (row, by): (Row<'_, T>, T::Instructions),
    near: impl Fn(f32) -> f32 + Copy + Sync,
) -> f32 {
    let (mut tops, mut marks) = ([f32::NEG_INFINITY; SIDE], [0; SIDE]);
    let grouped = row.len() / SIDE * SIDE;
    for start in (0..grouped).step_by(SIDE) {
        raise(&mut tops, &mut marks, group((row, by), start), near);
    }
    for index in grouped..row.len() {
        let x = near(row.get(index).widen());
        marks[index % SIDE] |= mark(x);
        if x > tops[index % SIDE] {
            tops[index % SIDE] = x;
        }
    }
    if marks.iter().any(|&mark| mark != 0) {
        return f32::NAN;
    }
    tops.into_iter()
        .fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a })
}

#[cfg(test)]
mod tests {
    use crate::Tensor;
    use crate::table::{f32s, i64s, noise, none, run};

    const OPERATORS: [&str; 7] = [
        "ReduceSum",
        "ReduceMean",
        "jumar.ReduceL1",
        "jumar.ReduceL2",
        "jumar.ReduceSumSquare",
        "ReduceMax",
        "ReduceMin",
    ];

    fn values(tensor: &Tensor) -> Vec<f32> {
        let words = tensor.bytes().chunks_exact(4);
        words
            .map(|word| f32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    fn reduce(operator: &str, x: &Tensor, axes: &[i64]) -> Vec<f32> {
        let axes = i64s(&[axes.len()], axes);
        values(&run(operator, &[x.clone(), axes], none()).unwrap()[0])
    }

    /// Returns the elements of each output, one after the other, with the last axis fastest.
    fn groups(dims: &[usize], axes: &[i64], x: &[f32]) -> Vec<Vec<f64>> {
        let joined = |axis: usize| axes.contains(&(axis as i64));
        let outputs = (0..dims.len())
            .filter(|&axis| !joined(axis))
            .map(|axis| dims[axis])
            .product();
        let mut groups = vec![Vec::new(); outputs];
        for (index, &x) in x.iter().enumerate() {
            let (mut rest, mut to, mut step) = (index, 0, 1);
            for axis in (0..dims.len()).rev() {
                if !joined(axis) {
                    to += rest % dims[axis] * step;
                    step *= dims[axis];
                }
                rest /= dims[axis];
            }
            groups[to].push(f64::from(x));
        }
        groups
    }

    /// What an operator makes of the elements, in float64, and what its error is measured by.
    fn wanted(operator: &str, x: &[f64]) -> (f64, f64) {
        let sum = x.iter().sum::<f64>();
        let sizes = x.iter().map(|x| x.abs()).sum::<f64>();
        let squares = x.iter().map(|x| x * x).sum::<f64>();
        let count = x.len() as f64;
        match operator {
            "ReduceSum" => (sum, sizes),
            "ReduceMean" => (sum / count, sizes / count),
            "jumar.ReduceL1" => (sizes, sizes),
            "jumar.ReduceL2" => (squares.sqrt(), squares.sqrt()),
            "jumar.ReduceSumSquare" => (squares, squares),
            "ReduceMax" => (x.iter().copied().fold(f64::NEG_INFINITY, f64::max), 0.0),
            _ => (x.iter().copied().fold(f64::INFINITY, f64::min), 0.0),
        }
    }

    #[test]
    fn any_axes_agree_with_float64() {
        let cases: &[(&[usize], &[i64])] = &[
            (&[3, 1000], &[1]),
            (&[1000, 3], &[0]),
            (&[137, 273], &[0]),
            (&[137, 273], &[1]),
            (&[137, 273], &[0, 1]),
            (&[2, 9, 40], &[1]),
            (&[2, 3, 7, 7], &[2, 3]),
            (&[5, 17, 3, 11], &[0, 2]),
            (&[5, 17, 3, 11], &[1, 3]),
            (&[1, 600, 1, 1], &[1, 2]),
            (&[4, 1, 5], &[1]),
            (&[1, 8], &[0]),
        ];
        for &(dims, axes) in cases {
            for seed in 0..2 {
                let noise = values(&noise(dims, seed));
                // Once around zero, where sums cancel out, and once away from it.
                let x: Vec<f32> = noise.iter().map(|x| x + 2.0 * seed as f32).collect();
                let tensor = f32s(dims, &x);
                for operator in OPERATORS {
                    let found = reduce(operator, &tensor, axes);
                    assert_eq!(found, reduce(operator, &tensor, axes));
                    let groups = groups(dims, axes, &x);
                    assert_eq!(found.len(), groups.len());
                    for (&found, group) in found.iter().zip(&groups) {
                        let (wanted, scale) = wanted(operator, group);
                        let error = (f64::from(found) - wanted).abs();
                        // Four roundings of half a unit, and the one of the result.
                        let bound = 5.0 * f64::from(f32::EPSILON) / 2.0 * scale;
                        assert!(
                            error <= bound,
                            "{operator} {dims:?} {axes:?}: {found}, not {wanted}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_float32_does_not_hold_is_added_in_float64() {
        for (dims, axis) in [([1, 300], 1), ([300, 1], 0), ([300, 20], 0)] {
            let all = |value: f32| f32s(&dims, &vec![value; dims[0] * dims[1]]);
            let first = |operator: &str, x: f32| reduce(operator, &all(x), &[axis])[0];
            assert_eq!(first("ReduceMean", 3e38), 3e38);
            assert_eq!(first("ReduceMean", f32::INFINITY), f32::INFINITY);
            assert_eq!(first("ReduceSum", f32::MAX), f32::INFINITY);
            for value in [1e-30f32, 1e-20, 1e25] {
                let near = (first("jumar.ReduceL2", value) / value - 300f32.sqrt()).abs();
                assert!(near < 1e-5, "{value}");
            }
            assert_eq!(first("jumar.ReduceL2", 0.0), 0.0);
        }
    }

    #[test]
    fn what_is_no_number_wins_everywhere() {
        for (dims, axis) in [([1, 275], 1), ([275, 1], 0), ([275, 40], 0)] {
            let step = dims[1 - axis as usize];
            for at in [0, 1, 16, 200, 274] {
                let mut x = vec![1.0; dims[0] * dims[1]];
                x[at * if axis == 0 { step } else { 1 }] = f32::NAN;
                for operator in OPERATORS {
                    let found = reduce(operator, &f32s(&dims, &x), &[axis]);
                    assert!(found[0].is_nan(), "{operator} {dims:?} {at}");
                    assert!(
                        found[1..].iter().all(|x| !x.is_nan()),
                        "{operator} {dims:?} {at}"
                    );
                }
            }
        }
        let x = f32s(&[3], &[f32::NEG_INFINITY; 3]);
        assert_eq!(reduce("ReduceMax", &x, &[0]), [f32::NEG_INFINITY]);
        assert_eq!(reduce("ReduceMin", &x, &[0]), [f32::NEG_INFINITY]);
    }
}
