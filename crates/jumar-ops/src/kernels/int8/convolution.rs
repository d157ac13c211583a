//! Convolutions of bytes: images go from planes to pixels with their padding, and the result back into planes.

use super::{FLIP, GRAIN, LANES, Parts, SPLIT, nothing, zero_of};
use crate::kernels::space::conv::Inputs;
use crate::simd::blocked::Sliding;
use crate::simd::lowp::{Int8Convolution, PANEL, int8_convolve};
use crate::simd::wide::{Work, wide};
use crate::view::{Row, RowMut};
use crate::{Call, Kernel, OpError, Workers};

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
                    wide(RowFill(to, beside));
                    let Some(y) = y.checked_sub(above).filter(|&y| y < rows) else {
                        continue;
                    };
                    let seen = columns.min(width.saturating_sub(before));
                    for channel in 0..self.groups * self.depth {
                        let offset = channel / self.depth * own + channel % self.depth;
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
                            wide(RowTransposition {
                                rows,
                                flip,
                                to,
                                first: before * pixel + offset,
                                pixel,
                            });
                        } else {
                            let row = row(channel);
                            for x in 0..seen {
                                to.set((before + x) * pixel + offset, row.get(x) ^ flip);
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

struct RowFill<'a>(RowMut<'a, u8>, u8);

impl Work for RowFill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        const GROUP: usize = 64;
        let grouped = self.0.len() / GROUP * GROUP;
        for at in (0..grouped).step_by(GROUP) {
            self.0.set_group(at, [self.1; GROUP]);
        }
        for at in grouped..self.0.len() {
            self.0.set(at, self.1);
        }
    }
}

/// Sixteen rows become columns.
struct RowTransposition<'a> {
    rows: [Row<'a, u8>; LANES],
    flip: u8,
    to: RowMut<'a, u8>,
    /// Where the first pixel goes, and how far pixels lie apart.
    first: usize,
    pixel: usize,
}

impl Work for RowTransposition<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let len = self.rows[0].len();
        let grouped = len / LANES * LANES;
        for at in (0..grouped).step_by(LANES) {
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
        for at in grouped..len {
            let mut bytes = [0; LANES];
            for (byte, row) in bytes.iter_mut().zip(&self.rows) {
                *byte = row.get(at) ^ self.flip;
            }
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
            if let Some(offset) = self.image {
                image[pixel] = self.sums.get(at + offset);
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
        let grouped = self.pixels / LANES * LANES;
        for first in (0..grouped).step_by(LANES) {
            self.group::<LANES>(first);
        }
        for first in grouped..self.pixels {
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
        let convolution = Int8Convolution {
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
                int8_convolve(&convolution, (x, filter), (to, stride, len), y);
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
