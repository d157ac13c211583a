//! Convolutions of float32 images in planes through the kernels for images in blocks, and their gradients by the image.
//!
//! Images and weights are brought into blocks in scratch memory. The gradient by the image is a convolution of the output's
//! gradient with turned weights; where the window moves by several pixels, it is one convolution for each remainder of a pixel's
//! position.

use super::cut::neighbouring_rows;
use super::{WORTH, convolve_all, last_of};
use crate::simd::blocked::{
    BatchStrides, Dense, LANES, Operands, PAIR, Planar, Sliding, convolve_planar, interleave,
    separate,
};
use crate::view::{Row, RowMut};
use crate::{Call, Kernel, OpError};

/// Bytes of images in blocks that scratch memory holds at a time, where one image takes less.
const CHUNK_BYTES: usize = 8 << 20;
/// Parts that reorder at the same time; each has scratch memory of its own.
const PARTS: usize = 4;

/// The sizes of a convolution of images in planes.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernels) struct Sizes {
    pub images: usize,
    pub groups: usize,
    /// Channels of a group: those that are read, and those that are written.
    pub depth: usize,
    pub outputs: usize,
    /// Rows and columns of the image that is read, and of the one that is written.
    pub image: [usize; 2],
    pub output: [usize; 2],
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    /// The padding above and to the left. For a gradient, that of the convolution whose gradient it is.
    pub before: [usize; 2],
}

/// Output pixels that lie one step apart, and the convolution that produces them.
struct Phase {
    window: Sliding,
    /// The tap of the filter for each tap of the window.
    taps: Vec<usize>,
    /// The first of the pixels, down and across.
    first: [usize; 2],
}

/// A convolution of images in planes.
pub(in crate::kernels) struct InPlanes {
    sizes: Sizes,
    phases: Vec<Phase>,
    /// From one pixel of a phase to the next.
    step: [usize; 2],
    /// Whether the filter has the channels that are read first, as for a gradient.
    turned: bool,
    /// Whether the images are read where they are: they have few channels.
    planar: bool,
    /// Whether there is an input 2 with a number for each output channel.
    bias: bool,
    clamp: Option<(f32, f32)>,
    /// Images that are in blocks at a time.
    together: usize,
}

/// Lengths of the parts of the scratch memory, in numbers.
struct Lengths {
    image: usize,
    output: usize,
    filter: usize,
    bias: usize,
    /// Of each of [`PARTS`].
    turn: usize,
}

impl InPlanes {
    /// Returns the kernel of a convolution, or `None` where blocks do not pay off.
    pub fn forward(sizes: Sizes, bias: bool, clamp: Option<(f32, f32)>) -> Option<InPlanes> {
        let phase = Phase {
            window: Sliding {
                image: sizes.image,
                output: sizes.output,
                kernel: sizes.kernel,
                stride: sizes.stride,
                dilation: sizes.dilation,
                before: sizes.before,
            },
            taps: (0..sizes.kernel[0] * sizes.kernel[1]).collect(),
            first: [0, 0],
        };
        InPlanes::new(sizes, vec![phase], [1, 1], false, bias, clamp)
    }

    /// Returns the kernel of the gradient by the image, or `None` where blocks do not pay off or the window is out of the
    /// ordinary. `stride`, `dilation` and `before` are those of the convolution whose gradient it is.
    pub fn gradient(sizes: Sizes, bias: bool) -> Option<InPlanes> {
        let along: Vec<Vec<Along>> = (0..2)
            .map(|axis| Along::all(&sizes, axis))
            .collect::<Option<_>>()?;
        let mut phases = Vec::new();
        for rows in &along[0] {
            for columns in &along[1] {
                let taps = rows.taps.iter().flat_map(|&row| {
                    columns
                        .taps
                        .iter()
                        .map(move |&column| row * sizes.kernel[1] + column)
                });
                phases.push(Phase {
                    window: Sliding {
                        image: sizes.image,
                        output: [rows.output, columns.output],
                        kernel: [rows.taps.len(), columns.taps.len()],
                        stride: [1, 1],
                        dilation: sizes.dilation,
                        before: [rows.before, columns.before],
                    },
                    taps: taps.collect(),
                    first: [rows.first, columns.first],
                });
            }
        }
        InPlanes::new(sizes, phases, sizes.stride, true, bias, None)
    }

    fn new(
        sizes: Sizes,
        mut phases: Vec<Phase>,
        step: [usize; 2],
        turned: bool,
        bias: bool,
        clamp: Option<(f32, f32)>,
    ) -> Option<InPlanes> {
        let Sizes {
            images,
            groups,
            depth,
            outputs,
            ..
        } = sizes;
        let pixels: usize = phases.iter().map(|phase| phase.window.outputs()).sum();
        let planar = groups == 1
            && depth < LANES / 2
            && phases.len() == 1
            && phases.iter().all(|phase| {
                let window = phase.window;
                let planar = Planar {
                    window,
                    channels: depth,
                    outputs: 1,
                };
                window.dilation[1] == 1 && planar.columns() > 0
            });
        let filled = |channels: usize| 3 * channels >= 2 * channels.next_multiple_of(LANES);
        let fits = |channels: usize| match groups {
            1 => filled(channels),
            _ => channels.is_multiple_of(LANES),
        };
        let cost = [groups, depth, outputs, pixels, phases[0].taps.len()]
            .into_iter()
            .fold(images, usize::saturating_mul);
        // Weights are brought into blocks for each call: enough pixels have to read them.
        let pays = cost >= WORTH && images.saturating_mul(pixels) >= 2 * LANES;
        if !pays || depth == 0 || !fits(outputs) || !(planar || fits(depth)) {
            return None;
        }
        for phase in &mut phases {
            let window = &mut phase.window;
            if !planar
                && step == [1, 1]
                && window.is_one_pixel()
                && !window.image[1].is_multiple_of(14)
            {
                // Rows that no tile fits run together.
                window.image = [1, window.pixels()];
                window.output = window.image;
            }
        }
        let mut kernel = InPlanes {
            sizes,
            phases,
            step,
            turned,
            planar,
            bias,
            clamp,
            together: 1,
        };
        let Lengths { image, output, .. } = kernel.lengths();
        let each = image
            .saturating_add(output)
            .saturating_mul(size_of::<f32>());
        kernel.together = (CHUNK_BYTES / each.max(1)).clamp(1, images.max(1));
        Some(kernel)
    }

    /// Blocks of the channels that are read and written, of a group.
    fn inputs(&self) -> usize {
        self.sizes.depth.div_ceil(LANES)
    }

    fn outputs(&self) -> usize {
        self.sizes.outputs.div_ceil(LANES)
    }

    fn plane(&self) -> usize {
        self.sizes.image[0] * self.sizes.image[1]
    }

    fn out_plane(&self) -> usize {
        self.sizes.output[0] * self.sizes.output[1]
    }

    /// Taps of the whole filter.
    fn taps(&self) -> usize {
        self.sizes.kernel[0] * self.sizes.kernel[1]
    }

    /// Lines of weights for each block of output channels.
    fn lines(&self, phase: &Phase) -> usize {
        let channels = match self.planar {
            true => self.sizes.depth,
            false => self.inputs() * LANES,
        };
        channels * phase.taps.len()
    }

    fn lengths(&self) -> Lengths {
        let Sizes { groups, depth, .. } = self.sizes;
        let blocks = groups * self.outputs();
        let most = self.phases.iter().map(|phase| phase.window.outputs()).max();
        let pixels = most.unwrap_or(0);
        let lines: usize = self.phases.iter().map(|phase| self.lines(phase)).sum();
        let weights = match self.turned {
            true => self.taps() * LANES,
            false => depth * self.taps() * LANES,
        };
        let plane = if self.step == [1, 1] {
            0
        } else {
            pixels * LANES
        };
        Lengths {
            image: match self.planar {
                true => 0,
                false => self.together * groups * self.inputs() * self.plane() * LANES,
            },
            output: self.together * blocks * pixels * LANES,
            filter: blocks * lines * LANES,
            bias: blocks * LANES,
            turn: weights.max(plane),
        }
    }

    /// Packs the weights of a pair of output blocks for all phases, one phase after the other.
    fn pack(
        &self,
        filter: Row<'_, f32>,
        packed: RowMut<'_, f32>,
        unit: usize,
        turn: RowMut<'_, f32>,
    ) {
        let Sizes { depth, outputs, .. } = self.sizes;
        let (blocks, taps) = (self.outputs(), self.taps());
        let pairs = blocks.div_ceil(PAIR);
        let (group, first) = (unit / pairs, unit % pairs * PAIR);
        let count = PAIR.min(blocks - first);
        let inner = if self.planar { 1 } else { LANES };
        let channels = if self.planar {
            depth
        } else {
            self.inputs() * LANES
        };
        for block in 0..count {
            let from = (first + block) * LANES;
            let lanes = LANES.min(outputs - from);
            if !self.turned {
                let rows = filter.slice(
                    (group * outputs + from) * depth * taps,
                    lanes * depth * taps,
                );
                interleave(rows, turn, depth * taps);
            }
            for channel in 0..channels {
                if self.turned && channel < depth {
                    let at = (group * depth + channel) * outputs + from;
                    interleave(filter.slice(at * taps, lanes * taps), turn, taps);
                }
                let mut base = 0;
                for phase in &self.phases {
                    let (lines, own) = (self.lines(phase), phase.taps.len());
                    let start = base + (group * blocks + first) * lines;
                    base += self.sizes.groups * blocks * lines;
                    for (index, &tap) in phase.taps.iter().enumerate() {
                        let line = (channel / inner * own + index) * inner + channel % inner;
                        let weights: [f32; LANES] = match (channel < depth, self.turned) {
                            (false, _) => [0.0; LANES],
                            (true, true) => turn.as_row().group(tap * LANES),
                            (true, false) => turn.as_row().group((channel * taps + tap) * LANES),
                        };
                        packed.set_group((start + line * count + block) * LANES, weights);
                    }
                }
            }
        }
    }

    /// Writes a block of output channels of one image to its planes.
    fn unpack(
        &self,
        phase: &Phase,
        block: Row<'_, f32>,
        planes: RowMut<'_, f32>,
        turn: RowMut<'_, f32>,
    ) {
        let pixels = phase.window.outputs();
        if self.step == [1, 1] {
            separate(block, planes, pixels);
            return;
        }
        let (plane, width) = (self.out_plane(), self.sizes.output[1]);
        let [rows, columns] = phase.window.output;
        let channels = planes.len() / plane.max(1);
        let turn = turn.slice(0, channels * pixels);
        separate(block, turn, pixels);
        for channel in 0..channels {
            for row in 0..rows {
                let line = phase.first[0] + row * self.step[0];
                planes
                    .slice(channel * plane + line * width, width)
                    .stepped(phase.first[1], columns, self.step[1])
                    .copy_from(
                        turn.as_row()
                            .slice(channel * pixels + row * columns, columns),
                    );
            }
        }
    }

    /// Computes a phase of some images in blocks.
    fn convolve(&self, call: &Call<'_>, phase: &Phase, images: usize, operands: &Operands<'_>) {
        if !self.planar {
            let dense = Dense {
                window: phase.window,
                groups: self.sizes.groups,
                inputs: self.inputs(),
                last: last_of(self.sizes.depth),
                outputs: self.outputs(),
            };
            convolve_all(call, &dense, images, operands);
            return;
        }
        let planar = Planar {
            window: phase.window,
            channels: self.sizes.depth,
            outputs: self.outputs(),
        };
        let [rows, columns] = phase.window.output;
        call.workers().ranges(images * rows, 4, |start, len| {
            for part in neighbouring_rows([rows, columns], start, len) {
                convolve_planar(&planar, operands, part);
            }
        });
    }
}

/// One dimension of a phase.
struct Along {
    taps: Vec<usize>,
    first: usize,
    output: usize,
    before: usize,
}

impl Along {
    /// Finds the phases along an axis.
    fn all(sizes: &Sizes, axis: usize) -> Option<Vec<Along>> {
        let (stride, dilation) = (sizes.stride[axis], sizes.dilation[axis]);
        let (kernel, before) = (sizes.kernel[axis], sizes.before[axis]);
        if stride > 1 && dilation > 1 {
            return None;
        }
        (0..stride.min(sizes.output[axis]))
            .map(|first| {
                // The taps whose distance from the pixel is a multiple of the stride, turned around.
                let tap = match stride {
                    1 => 0,
                    _ => (first + before) % stride,
                };
                let taps: Vec<usize> = (tap..kernel).step_by(stride).rev().collect();
                let reach = taps.len().checked_sub(1)? * dilation;
                Some(Along {
                    before: reach.checked_sub((first + before - tap) / stride)?,
                    taps,
                    first,
                    output: (sizes.output[axis] - first).div_ceil(stride),
                })
            })
            .collect()
    }
}

/// Lets threads share units, each with scratch memory of its own.
fn share(
    call: &Call<'_>,
    units: usize,
    turn: RowMut<'_, f32>,
    one: impl Fn(usize, RowMut<'_, f32>) + Sync,
) {
    let parts = match call.workers().threads() {
        1 => 1,
        _ => PARTS.min(units),
    };
    let (each, own) = (units.div_ceil(parts.max(1)), turn.len() / PARTS);
    call.workers().each(parts, |part| {
        let turn = turn.slice(part * own, own);
        for unit in part * each..((part + 1) * each).min(units) {
            one(unit, turn);
        }
    });
}

impl Kernel for InPlanes {
    fn scratch_bytes(&self) -> usize {
        let lengths = self.lengths();
        [lengths.image, lengths.output, lengths.filter, lengths.bias]
            .into_iter()
            .fold(PARTS.saturating_mul(lengths.turn), usize::saturating_add)
            .saturating_mul(size_of::<f32>())
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Sizes {
            images,
            groups,
            depth,
            outputs,
            ..
        } = self.sizes;
        let (x, filter) = (call.input::<f32>(0)?.flat(), call.input::<f32>(1)?.flat());
        let out = call.output::<f32>(0)?.flat();
        let scratch = call.scratch::<f32>(0, self.scratch_bytes() / size_of::<f32>())?;
        let lengths = self.lengths();
        let mut taken = 0;
        let mut take = |len: usize| {
            let part = scratch.slice(taken, len);
            taken += len;
            part
        };
        let (blocked, made) = (take(lengths.image), take(lengths.output));
        let (packed, bias) = (take(lengths.filter), take(lengths.bias));
        let turn = take(PARTS * lengths.turn);
        let blocks = self.outputs();
        share(call, groups * blocks.div_ceil(PAIR), turn, |unit, turn| {
            self.pack(filter, packed, unit, turn);
        });
        if self.bias {
            let given = call.input::<f32>(2)?.flat();
            bias.fill(0.0);
            for group in 0..groups {
                bias.slice(group * blocks * LANES, outputs)
                    .copy_from(given.slice(group * outputs, outputs));
            }
        }
        let (plane, out_plane) = (self.plane(), self.out_plane());
        for first in (0..images).step_by(self.together) {
            let count = self.together.min(images - first);
            let x = match self.planar {
                true => x.slice(first * depth * plane, count * depth * plane),
                false => blocked.as_row(),
            };
            if !self.planar {
                let inputs = self.inputs();
                let images = call.input::<f32>(0)?.flat();
                share(call, count * groups * inputs, turn, |unit, _| {
                    let (group, block) = (first * groups + unit / inputs, unit % inputs);
                    let lanes = LANES.min(depth - block * LANES);
                    let from = (group * depth + block * LANES) * plane;
                    let to = blocked.slice(unit * plane * LANES, plane * LANES);
                    interleave(images.slice(from, lanes * plane), to, plane);
                });
            }
            let mut weights = 0;
            for phase in &self.phases {
                let len = groups * blocks * self.lines(phase) * LANES;
                let operands = Operands {
                    x,
                    filter: packed.as_row().slice(weights, len),
                    bias: self.bias.then_some(bias.as_row()),
                    residual: None,
                    clamp: self.clamp,
                    rounding: None,
                    out: made,
                    batch_strides: BatchStrides::default(),
                };
                weights += len;
                self.convolve(call, phase, count, &operands);
                let pixels = phase.window.outputs();
                share(call, count * groups * blocks, turn, |unit, turn| {
                    let (group, block) = (first * groups + unit / blocks, unit % blocks);
                    let lanes = LANES.min(outputs - block * LANES);
                    let to = (group * outputs + block * LANES) * out_plane;
                    let from = made.as_row().slice(unit * pixels * LANES, pixels * LANES);
                    self.unpack(phase, from, out.slice(to, lanes * out_plane), turn);
                });
            }
        }
        Ok(())
    }
}
