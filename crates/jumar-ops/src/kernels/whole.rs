//! Products and convolutions of bytes, summed in 32 bits.
//!
//! The left side is brought to bytes without sign, the right side to bytes with one: adding 128 to a number and to the
//! number that stands for zero changes nothing. What the zeros contribute is taken away afterwards, by sums of rows and
//! columns: `sum((x - p) * (w - q)) = sum(x * w) - q * (sum(x) - k * p) - p * sum(w)`. All of it wraps around alike.

use super::loops::Loops;
use super::space::conv::Inputs;
use crate::simd::blocked::Sliding;
use crate::simd::narrow::{PANEL, Whole, whole_convolve, whole_product};
use crate::simd::wide::{Work, wide};
use crate::view::{Row, RowMut};
use crate::{Call, Kernel, OpError, Workers};

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

/// Copies a row of bytes, each combined with `flip`, and gives their sum.
struct Copied<'a> {
    from: Row<'a, u8>,
    to: RowMut<'a, u8>,
    flip: u8,
}

impl Work for Copied<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> i32 {
        const GROUP: usize = 64;
        let len = self.from.len();
        let whole = if self.from.is_dense() {
            len / GROUP * GROUP
        } else {
            0
        };
        let mut sums = [0i32; GROUP];
        for at in (0..whole).step_by(GROUP) {
            let group = self.from.group::<GROUP>(at).map(|byte| byte ^ self.flip);
            for lane in 0..GROUP {
                sums[lane] += i32::from(group[lane]);
            }
            self.to.set_group(at, group);
        }
        let mut sum: i32 = sums.iter().sum();
        for at in whole..len {
            let byte = self.from.get(at) ^ self.flip;
            sum += i32::from(byte);
            self.to.set(at, byte);
        }
        sum
    }
}

/// Packs a panel of the right side, four rows side by side, and adds its columns up.
struct Packed<'a> {
    /// `k` rows, `stride` apart, of which `columns` are taken from `first` on.
    from: Row<'a, u8>,
    stride: usize,
    first: usize,
    columns: usize,
    k: usize,
    flip: u8,
    to: RowMut<'a, u8>,
    sums: RowMut<'a, i32>,
}

impl Work for Packed<'_> {
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
                if self.columns == PANEL {
                    *bytes = self.from.group::<PANEL>(at).map(|byte| byte ^ self.flip);
                } else {
                    for (lane, byte) in bytes.iter_mut().enumerate().take(self.columns) {
                        *byte = self.from.get(at + lane) ^ self.flip;
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
pub(crate) struct Scaled {
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
    pub scaled: Option<Scaled>,
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
                let copied = Copied {
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
                wide(Packed {
                    from: from.slice(matrix * k * n, k * n),
                    stride: n,
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
        let whole = len / LANES * LANES;
        for at in (0..whole).step_by(LANES) {
            self.group::<LANES>(at);
        }
        for at in whole..len {
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
        let whole = match &scaled {
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
                    Some(_) => whole,
                    None => whole.slice(to * m * n, m * n),
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
                            whole_product((count, len, depth), (own, weights), (to, n));
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
            Ok(())
        })
    }
}

/// A convolution of bytes over one or two dimensions, in groups of whole channels.
pub(crate) struct Convolution {
    pub batch: usize,
    pub groups: usize,
    /// Input channels and output channels of a group.
    pub depth: usize,
    pub outputs: usize,
    pub window: Sliding,
    pub inputs: Inputs,
    pub signed: [bool; 2],
}

struct ConvolutionScratch {
    image: usize,
    filter: usize,
    filter_sums: usize,
    sums: usize,
    bytes: usize,
}

impl Convolution {
    /// Bytes of a pixel of one group.
    fn bytes(&self) -> usize {
        self.depth.next_multiple_of(4)
    }

    fn taps(&self) -> usize {
        self.window.kernel[0] * self.window.kernel[1]
    }

    /// The image with its padding: as much of it as windows see.
    fn padded(&self) -> [usize; 2] {
        let Sliding {
            output,
            kernel,
            stride,
            dilation,
            ..
        } = self.window;
        [0, 1].map(|axis| {
            output[axis].saturating_sub(1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1
        })
    }

    /// Panels of a group's output channels and one more column, in which the image is summed.
    fn panels(&self) -> usize {
        (self.outputs + 1).div_ceil(PANEL)
    }

    fn panel_bytes(&self) -> usize {
        self.taps() * self.bytes() * PANEL
    }

    /// Sums from one pixel to the next.
    fn stride(&self) -> usize {
        (self.outputs + 1).next_multiple_of(LANES)
    }

    fn pixels(&self) -> usize {
        self.window.output[0] * self.window.output[1]
    }

    fn lay_out(&self) -> ConvolutionScratch {
        let mut parts = Parts(0);
        let [height, width] = self.padded();
        let image = parts.take(self.batch * height * width * self.groups * self.bytes());
        let filter = parts.take(self.groups * self.panels() * self.panel_bytes());
        let filter_sums = parts.take(self.groups * self.stride() * 4);
        let sums = parts.take(self.batch * self.groups * self.pixels() * self.stride() * 4);
        ConvolutionScratch {
            image,
            filter,
            filter_sums,
            sums,
            bytes: parts.0,
        }
    }

    /// Brings rows of planes into pixels, with the padding around them.
    fn pack_image(&self, from: Row<'_, u8>, to: RowMut<'_, u8>, beside: u8, workers: Workers<'_>) {
        let [height, width] = self.padded();
        let [rows, columns] = self.window.image;
        let [above, before] = self.window.before;
        let (own, pixel) = (self.bytes(), self.groups * self.bytes());
        let flip = if self.signed[0] { FLIP } else { 0 };
        let line = width * pixel;
        workers.ranges(
            self.batch * height,
            GRAIN.div_ceil(line.max(1)),
            |start, len| {
                for index in start..start + len {
                    let (image, y) = (index / height, index % height);
                    let to = to.slice(index * line, line);
                    wide(Filled(to, beside));
                    let Some(y) = y.checked_sub(above).filter(|&y| y < rows) else {
                        continue;
                    };
                    let seen = columns.min(width.saturating_sub(before));
                    for channel in 0..self.groups * self.depth {
                        let place = channel / self.depth * own + channel % self.depth;
                        // Sixteen channels at a time where they lie together; the rest one by one.
                        let full = (channel % self.depth).is_multiple_of(LANES)
                            && channel % self.depth + LANES <= self.depth;
                        let inside = channel % self.depth / LANES * LANES + LANES <= self.depth;
                        if inside && !full {
                            continue;
                        }
                        let row = |channel: usize| {
                            let plane = (image * self.groups * self.depth + channel) * rows + y;
                            from.slice(plane * columns, columns).slice(0, seen)
                        };
                        if full {
                            let rows = std::array::from_fn(|more| row(channel + more));
                            wide(Turned {
                                rows,
                                flip,
                                to,
                                first: before * pixel + place,
                                pixel,
                            });
                        } else {
                            let row = row(channel);
                            for x in 0..seen {
                                to.set((before + x) * pixel + place, row.get(x) ^ flip);
                            }
                        }
                    }
                }
            },
        );
    }

    fn pack_filter(
        &self,
        from: Row<'_, u8>,
        to: RowMut<'_, u8>,
        sums: RowMut<'_, i32>,
        workers: Workers<'_>,
    ) {
        let (taps, own, size, panels) =
            (self.taps(), self.bytes(), self.panel_bytes(), self.panels());
        let flip = if self.signed[1] { 0 } else { FLIP };
        let count = self.groups * panels;
        workers.ranges(count, GRAIN.div_ceil(size.max(1)), |start, len| {
            for index in start..start + len {
                let (group, panel) = (index / panels, index % panels);
                let to = to.slice(index * size, size);
                to.fill(0);
                for lane in 0..PANEL {
                    let output = panel * PANEL + lane;
                    if output > self.outputs {
                        break;
                    }
                    let at = (group * self.outputs + output) * self.depth * taps;
                    let own_rows = match output < self.outputs {
                        true => Some(from.slice(at, self.depth * taps)),
                        false => None,
                    };
                    let mut sum = 0i32;
                    for tap in 0..taps {
                        for channel in (0..self.depth).step_by(4) {
                            let mut bytes = [0u8; 4];
                            let count = 4.min(self.depth - channel);
                            for (more, byte) in bytes.iter_mut().enumerate().take(count) {
                                *byte = own_rows
                                    .map_or(1, |row| row.get((channel + more) * taps + tap) ^ flip);
                                sum += i32::from(*byte as i8);
                            }
                            let step = (tap * own + channel) / 4;
                            to.set_group((step * PANEL + lane) * 4, bytes);
                        }
                    }
                    if output < self.outputs {
                        sums.set(group * self.stride() + output, sum);
                    }
                }
            }
        });
    }
}

struct Filled<'a>(RowMut<'a, u8>, u8);

impl Work for Filled<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        const GROUP: usize = 64;
        let whole = self.0.len() / GROUP * GROUP;
        for at in (0..whole).step_by(GROUP) {
            self.0.set_group(at, [self.1; GROUP]);
        }
        for at in whole..self.0.len() {
            self.0.set(at, self.1);
        }
    }
}

/// Sixteen rows become columns.
struct Turned<'a> {
    rows: [Row<'a, u8>; LANES],
    flip: u8,
    to: RowMut<'a, u8>,
    /// Where the first pixel goes, and how far pixels lie apart.
    first: usize,
    pixel: usize,
}

impl Work for Turned<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let len = self.rows[0].len();
        let whole = len / LANES * LANES;
        for at in (0..whole).step_by(LANES) {
            let mut square = [[0u8; LANES]; LANES];
            for (channel, row) in self.rows.iter().enumerate() {
                let bytes = row.group::<LANES>(at);
                for (pixel, &byte) in bytes.iter().enumerate() {
                    square[pixel][channel] = byte ^ self.flip;
                }
            }
            for (pixel, bytes) in square.into_iter().enumerate() {
                self.to
                    .set_group(self.first + (at + pixel) * self.pixel, bytes);
            }
        }
        for at in whole..len {
            let bytes: [u8; LANES] =
                std::array::from_fn(|channel| self.rows[channel].get(at) ^ self.flip);
            self.to.set_group(self.first + at * self.pixel, bytes);
        }
    }
}

/// Sixteen channels of one output row: sums become numbers of the result, and columns become rows.
struct Spread<'a> {
    /// The sums of the row's first pixel, the distance between pixels, and the pixels.
    sums: Row<'a, i32>,
    stride: usize,
    pixels: usize,
    /// Where the sum of the image lies, from the first of these channels on.
    image: Option<usize>,
    channels: [Channel; LANES],
    count: usize,
    zero: f64,
    bounds: (f64, f64),
    to: To<'a>,
    /// From one channel of the result to the next.
    plane: usize,
}

#[derive(Clone, Copy, Default)]
struct Channel {
    /// What is added to every sum, what stands for zero, and the factor of the result.
    add: i32,
    zero: i32,
    factor: f32,
}

#[derive(Clone, Copy)]
enum To<'a> {
    Sums(RowMut<'a, i32>),
    Bytes(RowMut<'a, u8>),
}

impl Spread<'_> {
    #[inline(always)]
    fn group<const N: usize>(&self, first: usize) {
        let mut square = [[0i32; N]; LANES];
        let mut image = [0i32; N];
        for pixel in 0..N {
            let at = (first + pixel) * self.stride;
            let sums = self.sums.group::<LANES>(at);
            for lane in 0..LANES {
                square[lane][pixel] = sums[lane];
            }
            if let Some(place) = self.image {
                image[pixel] = self.sums.get(at + place);
            }
        }
        for (lane, sums) in square.iter_mut().enumerate().take(self.count) {
            let Channel { add, zero, factor } = self.channels[lane];
            for pixel in 0..N {
                sums[pixel] = sums[pixel]
                    .wrapping_add(add)
                    .wrapping_sub(zero.wrapping_mul(image[pixel]));
            }
            match self.to {
                To::Sums(to) => to.set_group(lane * self.plane + first, *sums),
                To::Bytes(to) => {
                    let mut bytes = [0u8; N];
                    for pixel in 0..N {
                        let value = f64::from((sums[pixel] as f32 * factor).round_ties_even());
                        let value = (value + self.zero).clamp(self.bounds.0, self.bounds.1);
                        bytes[pixel] = value as i32 as u8;
                    }
                    to.set_group(lane * self.plane + first, bytes);
                }
            }
        }
    }
}

impl Work for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let whole = self.pixels / LANES * LANES;
        for first in (0..whole).step_by(LANES) {
            self.group::<LANES>(first);
        }
        for first in whole..self.pixels {
            self.group::<1>(first);
        }
    }
}

impl Kernel for Convolution {
    fn scratch_bytes(&self) -> usize {
        self.lay_out().bytes
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        if self.pixels() == 0 || self.batch == 0 || self.outputs == 0 {
            return Ok(());
        }
        let workers = call.workers();
        let Inputs {
            image,
            filter,
            bias,
            zeros,
            scales,
            bounds,
        } = self.inputs;
        let optional = |index: usize| match call.has_input(index) {
            true => Ok::<_, OpError>(Some(call.input::<u8>(index)?.flat())),
            false => Ok(None),
        };
        let given = match zeros {
            Some((image, filter)) => [optional(image)?, optional(filter)?],
            None => [None, None],
        };
        let zero = |side: usize, index: usize| match given[side] {
            Some(row) => zero_of(row, index, self.signed[side], side == 0),
            None => nothing(self.signed[side], side == 0),
        };
        let bias = match call.has_input(bias) {
            true => Some(call.input::<i32>(bias)?.flat()),
            false => None,
        };
        let lay = self.lay_out();
        let [height, width] = self.padded();
        let (groups, outputs, stride) = (self.groups, self.outputs, self.stride());
        let (pixel, own) = (groups * self.bytes(), self.bytes());
        let packed = call.scratch::<u8>(lay.image, self.batch * height * width * pixel)?;
        let size = self.panel_bytes();
        let weights = call.scratch::<u8>(lay.filter, groups * self.panels() * size)?;
        let filter_sums = call.scratch::<i32>(lay.filter_sums, groups * stride)?;
        let sums = call.scratch::<i32>(lay.sums, self.batch * groups * self.pixels() * stride)?;
        let beside = zero(0, 0);
        self.pack_image(
            call.input::<u8>(image)?.flat(),
            packed,
            beside as u8,
            workers,
        );
        self.pack_filter(
            call.input::<u8>(filter)?.flat(),
            weights,
            filter_sums,
            workers,
        );
        let seen = (self.depth * self.taps()) as i32;
        let any = (0..groups * outputs).any(|output| zero(1, output) != 0);
        let columns = outputs + usize::from(any);
        let scaled = match scales {
            None => None,
            Some((image, filter, y, zero)) => {
                let byte = call.input::<u8>(zero)?.flat().get(0);
                let zero = match bounds.0 < 0.0 {
                    true => f64::from(byte as i8),
                    false => f64::from(byte),
                };
                Some((
                    call.input::<f32>(image)?.flat().get(0),
                    call.input::<f32>(filter)?.flat(),
                    call.input::<f32>(y)?.flat().get(0),
                    zero,
                ))
            }
        };
        let out = match scaled {
            Some(_) => To::Bytes(call.output::<u8>(0)?.flat()),
            None => To::Sums(call.output::<i32>(0)?.flat()),
        };
        let channel = |output: usize| {
            let zero = zero(1, output);
            let (group, own) = (output / outputs, output % outputs);
            // -p * sum(w) + k * p * q, and the bias.
            let add = beside
                .wrapping_mul(
                    seen.wrapping_mul(zero)
                        .wrapping_sub(filter_sums.get(group * stride + own)),
                )
                .wrapping_add(bias.map_or(0, |bias| bias.get(output)));
            let factor = scaled.map_or(0.0, |(image, filter, y, _)| {
                (image * filter.get(if filter.len() == 1 { 0 } else { output })) / y
            });
            Channel { add, zero, factor }
        };
        let Sliding { output, .. } = self.window;
        let whole = Whole {
            window: Sliding {
                image: [height, width],
                before: [0, 0],
                ..self.window
            },
            pixel,
            depth: own,
        };
        let all = groups * outputs;
        let row = |index: usize| {
            let (unit, y) = (index / output[0], index % output[0]);
            let (image, group) = (unit / groups, unit % groups);
            let at = image * height * width * pixel;
            let x = packed.as_row().slice(at, height * width * pixel);
            let x = x.slice(group * own, x.len() - group * own);
            let sums = sums.slice(
                (unit * output[0] + y) * output[1] * stride,
                output[1] * stride,
            );
            for panel in 0..columns.div_ceil(PANEL) {
                let first = panel * PANEL;
                let len = PANEL.min(columns - first);
                let filter = weights
                    .as_row()
                    .slice((group * self.panels() + panel) * size, size);
                let to = sums.slice(first, sums.len() - first);
                whole_convolve(&whole, (x, filter), (to, stride, len), y);
            }
            for first in (0..outputs).step_by(LANES) {
                let count = LANES.min(outputs - first);
                let mut channels = [Channel::default(); LANES];
                for (lane, slot) in channels.iter_mut().enumerate().take(count) {
                    *slot = channel(group * outputs + first + lane);
                }
                let plane = self.pixels();
                let start = (image * all + group * outputs + first) * plane + y * output[1];
                let reach = (count - 1) * plane + output[1];
                wide(Spread {
                    sums: sums.as_row().slice(first, sums.len() - first),
                    stride,
                    pixels: output[1],
                    image: any.then(|| outputs - first),
                    channels,
                    count,
                    zero: scaled.map_or(0.0, |(.., zero)| zero),
                    bounds,
                    to: match out {
                        To::Sums(to) => To::Sums(to.slice(start, reach)),
                        To::Bytes(to) => To::Bytes(to.slice(start, reach)),
                    },
                    plane,
                });
            }
        };
        let count = self.batch * groups * output[0];
        let cost = output[1] * outputs * self.depth * self.taps();
        workers.ranges(count, (SPLIT / 4).div_ceil(cost.max(1)), |start, len| {
            (start..start + len).for_each(row);
        });
        Ok(())
    }
}
