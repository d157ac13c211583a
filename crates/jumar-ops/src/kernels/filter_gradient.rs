//! The gradient of a two-dimensional convolution by its filter, in float32.
//!
//! It is a matrix product over all output pixels: rows are output channels, columns are channels and taps. Pixels are processed
//! some at a time, and what the columns see of the image is packed straight into the panels that the product reads.

use super::window::{FixedWindow, Reach};
use crate::simd::blocked::{LANES, interleave, separate};
use crate::simd::{self, Epilogue, PANEL, Start};
use crate::view::{Row, RowMut};
use crate::{Call, Kernel, OpError};

/// Pixels that are processed at a time: a panel of this depth fills a first-level cache.
const DEPTH: usize = 256;
/// Panels that one part packs at a time.
const PANELS: usize = 8;
/// Parts that threads share at most; each packs into scratch memory of its own.
const PARTS: usize = 8;
/// Multiplications that are worth a thread.
const WORTH: usize = 1 << 19;

/// The gradient by the filter. Inputs: the image and the gradient of the output, both in planes.
pub(crate) struct FilterGradient {
    pub images: usize,
    pub groups: usize,
    /// Channels of a group: those of the image, and those of the output.
    pub depth: usize,
    pub outputs: usize,
    pub window: FixedWindow,
}

impl FilterGradient {
    fn plane(&self) -> usize {
        self.window.image[0] * self.window.image[1]
    }

    fn pixels(&self) -> usize {
        self.window.output[0] * self.window.output[1]
    }

    fn taps(&self) -> usize {
        self.window.window.kernel[0] * self.window.window.kernel[1]
    }

    /// Reports whether the image is brought into blocks of sixteen channels first: its channels nearly fill them.
    fn in_blocks(&self) -> bool {
        3 * self.depth >= 2 * self.depth.next_multiple_of(LANES)
    }

    /// Columns of the product. In blocks: block of channels, tap, channel of the block. Otherwise: channel, tap.
    fn columns(&self) -> usize {
        match self.in_blocks() {
            true => self.depth.div_ceil(LANES) * LANES * self.taps(),
            false => self.depth * self.taps(),
        }
    }

    /// Pixels of one step: all steps have about as many.
    fn step(&self) -> usize {
        let all = self.images * self.pixels();
        all.div_ceil(all.div_ceil(DEPTH).max(1)).max(1)
    }

    /// Lengths of the parts of the scratch memory: the image in blocks, the gradient of a step, the sums, and a part's panels.
    fn lengths(&self) -> [usize; 4] {
        let blocked = match self.in_blocks() {
            true => self.images * self.depth.div_ceil(LANES) * LANES * self.plane(),
            false => 0,
        };
        [
            blocked,
            self.outputs * self.step(),
            self.outputs * self.columns(),
            PANELS.min(self.columns().div_ceil(PANEL)) * PANEL * self.step(),
        ]
    }

    /// Calls `run` for each stretch of pixels from `first` on that lie in one output row: the offset from `first`, the image, the
    /// row, the column, and how many they are.
    fn stretches(&self, first: usize, len: usize, mut run: impl FnMut(usize, [usize; 3], usize)) {
        let (pixels, width) = (self.pixels(), self.window.output[1]);
        let mut done = 0;
        while done < len {
            let (image, pixel) = ((first + done) / pixels, (first + done) % pixels);
            let (y, x) = (pixel / width, pixel % width);
            let count = (width - x).min(len - done);
            run(done, [image, y, x], count);
            done += count;
        }
    }

    /// Finds what a tap sees from pixels of an output row: the first that sees the image, how many do, and where that lies.
    fn seen(&self, tap: usize, [y, x]: [usize; 2], count: usize) -> (usize, usize, usize) {
        let across = self.window.window.kernel[1];
        let rows = self.window.reach(0, tap / across, y, y + 1);
        let Reach { start, len, source } = self.window.reach(1, tap % across, x, x + count);
        if rows.len == 0 || len == 0 {
            return (0, 0, 0);
        }
        (start - x, len, rows.source * self.window.image[1] + source)
    }

    /// Packs a block of channels at one tap into half a panel.
    fn pack_block(
        &self,
        panel: RowMut<'_, f32>,
        half: usize,
        blocked: Row<'_, f32>,
        (block, tap): (usize, usize),
        (first, len): (usize, usize),
    ) {
        let (blocks, plane) = (self.depth.div_ceil(LANES), self.plane());
        let stride = self.window.window.stride[1];
        self.stretches(first, len, |done, [image, y, x], count| {
            let (skip, seen, source) = self.seen(tap, [y, x], count);
            let base = (image * blocks + block) * plane + source;
            for at in (0..skip).chain(skip + seen..count) {
                panel.set_group((done + at) * PANEL + half * LANES, [0.0; LANES]);
            }
            for at in 0..seen {
                let line: [f32; LANES] = blocked.group((base + at * stride) * LANES);
                panel.set_group((done + skip + at) * PANEL + half * LANES, line);
            }
        });
    }

    /// Packs a channel at one tap into one column of a panel.
    fn pack_column(
        &self,
        panel: RowMut<'_, f32>,
        lane: usize,
        x: Row<'_, f32>,
        (channel, tap): (usize, usize),
        (first, len): (usize, usize),
    ) {
        let (channels, plane) = (self.groups * self.depth, self.plane());
        let stride = self.window.window.stride[1];
        let column = panel.stepped(lane, len, PANEL);
        self.stretches(first, len, |done, [image, y, from], count| {
            let (skip, seen, source) = self.seen(tap, [y, from], count);
            column.slice(done, skip).fill(0.0);
            let behind = skip + seen;
            column.slice(done + behind, count - behind).fill(0.0);
            if seen > 0 {
                let plane = x.slice((image * channels + channel) * plane, plane);
                column
                    .slice(done + skip, seen)
                    .copy_from(plane.stepped(source, seen, stride));
            }
        });
    }

    /// Packs panels `from..to` for some pixels of a group.
    fn pack(
        &self,
        panels: RowMut<'_, f32>,
        (from, to): (usize, usize),
        (x, blocked): (Row<'_, f32>, Row<'_, f32>),
        group: usize,
        (first, len): (usize, usize),
    ) {
        let (columns, taps) = (self.columns(), self.taps());
        for number in from..to {
            let panel = panels.slice((number - from) * len * PANEL, len * PANEL);
            if self.in_blocks() {
                for half in 0..PANEL / LANES {
                    let unit = number * (PANEL / LANES) + half;
                    if unit * LANES < columns {
                        let which = (unit / taps, unit % taps);
                        self.pack_block(panel, half, blocked, which, (first, len));
                    }
                }
                continue;
            }
            for lane in 0..PANEL.min(columns - number * PANEL) {
                let column = number * PANEL + lane;
                let which = (group * self.depth + column / taps, column % taps);
                self.pack_column(panel, lane, x, which, (first, len));
            }
        }
    }

    /// Copies the gradient of the output at some pixels, one row for each output channel.
    fn gather(
        &self,
        to: RowMut<'_, f32>,
        gradient: Row<'_, f32>,
        group: usize,
        (first, len): (usize, usize),
    ) {
        let (channels, pixels) = (self.groups * self.outputs, self.pixels());
        for output in 0..self.outputs {
            let row = to.slice(output * len, len);
            let mut done = 0;
            while done < len {
                let (image, pixel) = ((first + done) / pixels, (first + done) % pixels);
                let count = (pixels - pixel).min(len - done);
                let at = (image * channels + group * self.outputs + output) * pixels + pixel;
                row.slice(done, count).copy_from(gradient.slice(at, count));
                done += count;
            }
        }
    }

    /// Writes the sums of an output channel to the filter.
    fn finish(&self, sums: Row<'_, f32>, filter: RowMut<'_, f32>) {
        if !self.in_blocks() {
            filter.copy_from(sums);
            return;
        }
        let taps = self.taps();
        for block in 0..self.depth.div_ceil(LANES) {
            let lanes = LANES.min(self.depth - block * LANES);
            separate(
                sums.slice(block * taps * LANES, taps * LANES),
                filter.slice(block * LANES * taps, lanes * taps),
                taps,
            );
        }
    }
}

impl Kernel for FilterGradient {
    fn scratch_bytes(&self) -> usize {
        let [blocked, gradient, sums, panels] = self.lengths();
        [blocked, gradient, sums]
            .into_iter()
            .fold(PARTS.saturating_mul(panels), usize::saturating_add)
            .saturating_mul(size_of::<f32>())
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, gradient) = (call.input::<f32>(0)?.flat(), call.input::<f32>(1)?.flat());
        let filter = call.output::<f32>(0)?.flat();
        let lengths = self.lengths();
        let scratch = call.scratch::<f32>(0, self.scratch_bytes() / size_of::<f32>())?;
        let mut taken = 0;
        let [blocked, rows, sums, _] = lengths.map(|len| {
            let part = scratch.slice(taken, len);
            taken += len;
            part
        });
        let panels = scratch.slice(scratch.len() - PARTS * lengths[3], PARTS * lengths[3]);
        let (columns, taps, plane) = (self.columns(), self.taps(), self.plane());
        let all = self.images * self.pixels();
        if all == 0 {
            filter.fill(0.0);
            return Ok(());
        }
        let blocks = self.depth.div_ceil(LANES);
        let count = columns.div_ceil(PANEL);
        let threads = call.workers().threads();
        for group in 0..self.groups {
            if self.in_blocks() {
                let grain = (WORTH / 8).div_ceil((plane * LANES).max(1));
                call.workers()
                    .ranges(self.images * blocks, grain, |start, len| {
                        for unit in start..start + len {
                            let (image, block) = (unit / blocks, unit % blocks);
                            let lanes = LANES.min(self.depth - block * LANES);
                            let channel =
                                (image * self.groups + group) * self.depth + block * LANES;
                            let from = x.slice(channel * plane, lanes * plane);
                            let to = blocked.slice(unit * plane * LANES, plane * LANES);
                            interleave(from, to, plane);
                        }
                    });
            }
            for first in (0..all).step_by(self.step()) {
                let len = self.step().min(all - first);
                let rows = rows.slice(0, self.outputs * len);
                self.gather(rows, gradient, group, (first, len));
                let epilogue = Epilogue {
                    start: match first {
                        0 => Start::Zero,
                        _ => Start::Accumulate,
                    },
                    residual: None,
                    clamp: None,
                };
                let cost = self.outputs.saturating_mul(columns).saturating_mul(len);
                let parts = match threads {
                    1 => 1,
                    _ if cost < WORTH => 1,
                    _ => PARTS.min(count),
                };
                let each = count.div_ceil(parts);
                call.workers().each(parts, |part| {
                    let panels = panels.slice(part * lengths[3], lengths[3]);
                    let end = ((part + 1) * each).min(count);
                    for from in (part * each..end).step_by(PANELS) {
                        let to = (from + PANELS).min(end);
                        self.pack(
                            panels,
                            (from, to),
                            (x, blocked.as_row()),
                            group,
                            (first, len),
                        );
                        let start = from * PANEL;
                        simd::gemm(
                            (self.outputs, (to * PANEL).min(columns) - start, len),
                            (rows.as_row(), len),
                            panels.as_row(),
                            (sums.slice(start, sums.len() - start), columns),
                            &epilogue,
                        );
                    }
                });
            }
            let own = self.depth * taps;
            let grain = (WORTH / 8).div_ceil(own.max(1));
            call.workers().ranges(self.outputs, grain, |start, len| {
                for output in start..start + len {
                    let to = filter.slice((group * self.outputs + output) * own, own);
                    self.finish(sums.as_row().slice(output * columns, columns), to);
                }
            });
        }
        Ok(())
    }
}
