//! Products and convolutions of bytes, summed in 32 bits.
//!
//! The left side is brought to bytes without sign, the right side to bytes with one: adding 128 to a number and to the
//! number that stands for zero changes nothing. What the zeros contribute is taken away afterwards, by sums of rows and
//! columns: `sum((x - p) * (w - q)) = sum(x * w) - q * (sum(x) - k * p) - p * sum(w)`. All of it wraps around alike.

mod convolution;

use super::loops::Loops;
use crate::simd::lowp::{PANEL, int8_product};
use crate::simd::wide::{Work, wide};
use crate::view::{Row, RowMut};
use crate::{Call, Kernel, OpError, Workers};

pub(crate) use convolution::Convolution;

/// Columns that are finished at a time.
const LANES: usize = 16;
/// Rows that are worked on at once.
const ROWS: usize = 64;
/// Products of fewer multiplications than this are not split among threads.
const SPLIT: usize = 1 << 20;
/// Bytes packed by one thread at a time.
const GRAIN: usize = 1 << 15;
/// Turns a byte with sign into one without, and back.
const FLIP: u8 = 0x80;

/// Hands out parts of scratch memory.
struct Parts(usize);

impl Parts {
    fn take(&mut self, bytes: usize) -> usize {
        let at = self.0;
        self.0 += bytes.next_multiple_of(64);
        at
    }
}

/// Copies a row of bytes, each combined with `flip`. Returns their sum.
struct FlippedCopy<'a> {
    from: Row<'a, u8>,
    to: RowMut<'a, u8>,
    flip: u8,
}

impl Work for FlippedCopy<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> i32 {
        const GROUP: usize = 64;
        let len = self.from.len();
        let grouped = if self.from.is_dense() {
            len / GROUP * GROUP
        } else {
            0
        };
        let mut sums = [0i32; GROUP];
        for at in (0..grouped).step_by(GROUP) {
            let group = self.from.group::<GROUP>(at).map(|byte| byte ^ self.flip);
            for lane in 0..GROUP {
                sums[lane] += i32::from(group[lane]);
            }
            self.to.set_group(at, group);
        }
        let mut sum: i32 = sums.iter().sum();
        for at in grouped..len {
            let byte = self.from.get(at) ^ self.flip;
            sum += i32::from(byte);
            self.to.set(at, byte);
        }
        sum
    }
}

/// Packs a panel of the right side, four rows side by side, and adds its columns up.
pub struct PackedBytes<'a> {
    /// `k` rows, `stride` apart, of which `columns` are taken from `first` on. Entries of a row are `step` apart.
    pub from: Row<'a, u8>,
    /// From one row to the next.
    pub stride: usize,
    /// From one entry of a row to the next.
    pub step: usize,
    /// Where the first entry of the first row lies.
    pub first: usize,
    /// At most [`PANEL`] columns.
    pub columns: usize,
    /// The number of rows.
    pub k: usize,
    /// What each byte is combined with, so that it gets a sign.
    pub flip: u8,
    /// The panel: as many rows, rounded up to groups of four, of [`PANEL`] bytes.
    pub to: RowMut<'a, u8>,
    /// The sums of the columns.
    pub sums: RowMut<'a, i32>,
}

impl Work for PackedBytes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let mut sums = [0i32; PANEL];
        for group in 0..self.k.div_ceil(4) {
            let mut rows = [[0u8; PANEL]; 4];
            for (row, bytes) in rows.iter_mut().enumerate() {
                let p = 4 * group + row;
                if p >= self.k {
                    continue;
                }
                let at = p * self.stride + self.first;
                if self.columns == PANEL && self.step == 1 {
                    *bytes = self.from.group::<PANEL>(at);
                    for byte in bytes {
                        *byte ^= self.flip;
                    }
                } else {
                    for (lane, byte) in bytes.iter_mut().enumerate().take(self.columns) {
                        *byte = self.from.get(at + lane * self.step) ^ self.flip;
                    }
                }
            }
            let mut mixed = [0u8; 4 * PANEL];
            for lane in 0..PANEL {
                for row in 0..4 {
                    mixed[4 * lane + row] = rows[row][lane];
                    sums[lane] += i32::from(rows[row][lane] as i8);
                }
            }
            self.to.set_group(4 * PANEL * group, mixed);
        }
        for (lane, &sum) in sums.iter().enumerate().take(self.columns) {
            self.sums.set(lane, sum);
        }
    }
}

/// What brings sums to the scale of the result.
#[derive(Clone, Copy)]
pub(crate) struct SumScale {
    /// The inputs with the scales of both sides and of the result, and with what stands for zero in it.
    pub scales: [usize; 3],
    pub zero: usize,
    pub bounds: (f64, f64),
}

/// A product of matrices of bytes, with batches.
pub(crate) struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Over batches: result, left and right operand, counted in matrices.
    pub loops: Loops<3>,
    /// Matrices of the operands.
    pub counts: [usize; 2],
    pub operands: [usize; 2],
    pub zeros: [usize; 2],
    /// Which operands have a sign.
    pub signed: [bool; 2],
    pub scaled: Option<SumScale>,
}

/// Where everything lies in the scratch memory of a product.
struct ProductScratch {
    left: usize,
    left_sums: usize,
    right: usize,
    right_sums: usize,
    zeros: usize,
    sums: usize,
    bytes: usize,
}

impl Product {
    fn depth(&self) -> usize {
        self.k.next_multiple_of(4)
    }

    fn panels(&self) -> usize {
        self.n.div_ceil(PANEL)
    }

    fn lay_out(&self) -> ProductScratch {
        let mut parts = Parts(0);
        let [a, b] = self.counts;
        let left = parts.take(a * self.m * self.depth());
        let left_sums = parts.take(a * self.m * 4);
        let right = parts.take(b * self.panels() * self.depth() * PANEL);
        let right_sums = parts.take(b * self.n * 4);
        let zeros = parts.take(self.n * 4);
        let sums = match self.scaled {
            Some(_) => parts.take(self.m * self.n * 4),
            None => 0,
        };
        ProductScratch {
            left,
            left_sums,
            right,
            right_sums,
            zeros,
            sums,
            bytes: parts.0,
        }
    }

    /// Brings the left side into rows of whole groups.
    fn pack_left(
        &self,
        from: Row<'_, u8>,
        to: RowMut<'_, u8>,
        sums: RowMut<'_, i32>,
        workers: Workers<'_>,
    ) {
        let (k, depth) = (self.k, self.depth());
        let flip = if self.signed[0] { FLIP } else { 0 };
        let rows = self.counts[0] * self.m;
        workers.ranges(rows, GRAIN.div_ceil(depth.max(1)), |start, len| {
            for row in start..start + len {
                let to = to.slice(row * depth, depth);
                let copied = FlippedCopy {
                    from: from.slice(row * k, k),
                    to: to.slice(0, k),
                    flip,
                };
                sums.set(row, wide(copied));
                to.slice(k, depth - k).fill(0);
            }
        });
    }

    fn pack_right(
        &self,
        from: Row<'_, u8>,
        to: RowMut<'_, u8>,
        sums: RowMut<'_, i32>,
        workers: Workers<'_>,
    ) {
        let (n, k, panels) = (self.n, self.k, self.panels());
        let size = self.depth() * PANEL;
        let flip = if self.signed[1] { 0 } else { FLIP };
        let grain = GRAIN.div_ceil(size.max(1));
        workers.ranges(self.counts[1] * panels, grain, |start, len| {
            for index in start..start + len {
                let (matrix, panel) = (index / panels, index % panels);
                let first = panel * PANEL;
                let columns = PANEL.min(n - first);
                wide(PackedBytes {
                    from: from.slice(matrix * k * n, k * n),
                    stride: n,
                    step: 1,
                    first,
                    columns,
                    k,
                    flip,
                    to: to.slice(index * size, size),
                    sums: sums.slice(matrix * n + first, columns),
                });
            }
        });
    }
}

/// One row of sums, or a part of it.
struct Finish<'a> {
    sums: RowMut<'a, i32>,
    /// What stands for zero on the right, column by column, and the row's sum without the left side's zeros.
    zeros: Option<(Row<'a, i32>, i32)>,
    /// What stands for zero on the left, and the sums of columns.
    left: i32,
    columns: Row<'a, i32>,
    scaled: Option<Level<'a>>,
}

/// How sums become bytes.
struct Level<'a> {
    to: RowMut<'a, u8>,
    /// The row's scale, the columns' (one, or one each) and the result's.
    scales: (f64, Row<'a, f32>, f64),
    zero: f64,
    bounds: (f64, f64),
}

impl Finish<'_> {
    #[inline(always)]
    fn group<const N: usize>(&self, at: usize) {
        let mut sums = self.sums.as_row().group::<N>(at);
        let columns = self.columns.group::<N>(at);
        for lane in 0..N {
            sums[lane] = sums[lane].wrapping_sub(self.left.wrapping_mul(columns[lane]));
        }
        if let Some((zeros, row)) = self.zeros {
            let zeros = zeros.group::<N>(at);
            for lane in 0..N {
                sums[lane] = sums[lane].wrapping_sub(zeros[lane].wrapping_mul(row));
            }
        }
        let Some(level) = &self.scaled else {
            return self.sums.set_group(at, sums);
        };
        let (one, two, result) = level.scales;
        let two = match two.len() {
            1 => [two.get(0); N],
            _ => two.group::<N>(at),
        };
        let mut bytes = [0u8; N];
        for lane in 0..N {
            let factor = one * f64::from(two[lane]) / result;
            let value = (f64::from(sums[lane]) * factor).round_ties_even() + level.zero;
            bytes[lane] = value.clamp(level.bounds.0, level.bounds.1) as i32 as u8;
        }
        level.to.set_group(at, bytes);
    }
}

impl Work for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let len = self.sums.len();
        let grouped = len / LANES * LANES;
        for at in (0..grouped).step_by(LANES) {
            self.group::<LANES>(at);
        }
        for at in grouped..len {
            self.group::<1>(at);
        }
    }
}

/// What stands for zero in an input, brought to bytes without sign (`left`) or with one.
fn zero_of(row: Row<'_, u8>, index: usize, signed: bool, left: bool) -> i32 {
    let byte = row.get(if row.len() == 1 { 0 } else { index });
    let byte = if signed == left { byte ^ FLIP } else { byte };
    match left {
        true => i32::from(byte),
        false => i32::from(byte as i8),
    }
}

/// Zero itself, brought to bytes in the same way.
fn nothing(signed: bool, left: bool) -> i32 {
    match (left, signed) {
        (true, true) => 128,
        (false, false) => -128,
        _ => 0,
    }
}

impl Kernel for Product {
    fn scratch_bytes(&self) -> usize {
        self.lay_out().bytes
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (m, n, k, depth, panels) = (self.m, self.n, self.k, self.depth(), self.panels());
        if m == 0 || n == 0 {
            return Ok(());
        }
        let workers = call.workers();
        let optional = |index: usize| match call.has_input(index) {
            true => Ok::<_, OpError>(Some(call.input::<u8>(index)?.flat())),
            false => Ok(None),
        };
        let zeros = [optional(self.zeros[0])?, optional(self.zeros[1])?];
        let zero = |side: usize, index: usize| match zeros[side] {
            Some(row) => zero_of(row, index, self.signed[side], side == 0),
            None => nothing(self.signed[side], side == 0),
        };
        let lay = self.lay_out();
        let [count_a, count_b] = self.counts;
        let left = call.scratch::<u8>(lay.left, count_a * m * depth)?;
        let left_sums = call.scratch::<i32>(lay.left_sums, count_a * m)?;
        let right = call.scratch::<u8>(lay.right, count_b * panels * depth * PANEL)?;
        let right_sums = call.scratch::<i32>(lay.right_sums, count_b * n)?;
        self.pack_left(
            call.input::<u8>(self.operands[0])?.flat(),
            left,
            left_sums,
            workers,
        );
        self.pack_right(
            call.input::<u8>(self.operands[1])?.flat(),
            right,
            right_sums,
            workers,
        );
        let right_zeros = call.scratch::<i32>(lay.zeros, n)?;
        let mut any = false;
        for column in 0..n {
            let zero = zero(1, column);
            any |= zero != 0;
            right_zeros.set(column, zero);
        }
        let scaled = match self.scaled {
            None => None,
            Some(scaled) => {
                let [a, b, y] = scaled.scales;
                let (a, b) = (call.input::<f32>(a)?.flat(), call.input::<f32>(b)?.flat());
                let y = f64::from(call.input::<f32>(y)?.flat().get(0));
                let out = call.output::<u8>(0)?.flat();
                let byte = call.input::<u8>(scaled.zero)?.flat().get(0);
                let zero = match scaled.bounds.0 < 0.0 {
                    true => f64::from(byte as i8),
                    false => f64::from(byte),
                };
                Some((a, b, y, out, zero, scaled.bounds))
            }
        };
        let sums = match &scaled {
            Some(_) => call.scratch::<i32>(lay.sums, m * n)?,
            None => call.output::<i32>(0)?.flat(),
        };
        let (count, steps) = (self.loops.row(), self.loops.steps());
        self.loops.each([0; 3], |offsets| {
            for index in 0..count {
                let [to, one, two]: [usize; 3] = std::array::from_fn(|i| {
                    offsets[i].wrapping_add_signed(steps[i] * index as isize)
                });
                let sums = match scaled {
                    Some(_) => sums,
                    None => sums.slice(to * m * n, m * n),
                };
                let part = |rows: (usize, usize), span: (usize, usize)| {
                    let first = span.0 * PANEL;
                    let columns = (span.1 * PANEL).min(n) - first;
                    for row in (rows.0..rows.1).step_by(ROWS) {
                        let count = ROWS.min(rows.1 - row);
                        let own = left.as_row().slice((one * m + row) * depth, count * depth);
                        for panel in span.0..span.1 {
                            let column = panel * PANEL;
                            let len = PANEL.min(n - column);
                            let size = depth * PANEL;
                            let weights = right.as_row().slice((two * panels + panel) * size, size);
                            let to = sums.slice(row * n + column, (count - 1) * n + len);
                            int8_product((count, len, depth), (own, weights), (to, n));
                        }
                        for row in row..row + count {
                            let left = zero(0, row);
                            let row_sum = left_sums
                                .get(one * m + row)
                                .wrapping_sub((k as i32).wrapping_mul(left));
                            let at = row * n + first;
                            wide(Finish {
                                sums: sums.slice(at, columns),
                                zeros: any
                                    .then(|| (right_zeros.as_row().slice(first, columns), row_sum)),
                                left,
                                columns: right_sums.as_row().slice(two * n + first, columns),
                                scaled: scaled.map(|(a, b, y, out, zero, bounds)| Level {
                                    to: out.slice(to * m * n + at, columns),
                                    scales: (
                                        f64::from(a.get(if a.len() == 1 { 0 } else { row })),
                                        if b.len() == 1 {
                                            b
                                        } else {
                                            b.slice(first, columns)
                                        },
                                        y,
                                    ),
                                    zero,
                                    bounds,
                                }),
                            });
                        }
                    }
                };
                let threads = workers.threads();
                if threads < 2 || m.saturating_mul(n).saturating_mul(k) < SPLIT {
                    part((0, m), (0, panels));
                } else if panels >= 4 * threads {
                    workers.ranges(panels, 1, |start, len| part((0, m), (start, start + len)));
                } else {
                    workers.ranges(m, 8, |start, len| part((start, start + len), (0, panels)));
                }
            }
        });
        Ok(())
    }
}
