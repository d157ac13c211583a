//! Operators on images whose channels lie in blocks of sixteen: shapes batch, block, row, column, channel of the block.
//!
//! The layout is the same whatever the processor, so that a compiled model runs anywhere. Channels that fill the last
//! block up have weights and biases of 0; what other operators make of them is never read back.

use jumar_types::dtype::DataType;

use super::pool;
use super::window::{Format, Window};
use crate::simd::blocked::{
    Apart, Dense, LANES, Operands, PAIR, Part, Planar, Sliding, Sweep, convolve, convolve_planar,
    sweep,
};
use crate::view::Row;
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, Slot, Tensor, TensorType};

/// Multiplications below which a kernel is not worth sharing.
pub(super) const WORTH: usize = 1 << 19;
/// Pixels from which on threads share an image by rows even where there are many blocks.
const LARGE: usize = 100;
/// Parts a thread: one that is held up leaves the rest to others.
pub(super) const PARTS_EACH: usize = 4;

/// Sees a blocked image as one of four dimensions, with blocks for channels.
fn as_image(ty: &TensorType) -> Result<TensorType, OpError> {
    match ty.shape[..] {
        [batch, blocks, height, width, lanes] if lanes == LANES as i64 => Ok(TensorType::new(
            ty.dtype,
            vec![batch, blocks, height, width],
        )),
        _ => Err(OpError::invalid(format!("{ty} is no image in blocks"))),
    }
}

fn only_float32(cx: &InferCx<'_>) -> Result<(), OpError> {
    if cx
        .inputs()
        .iter()
        .flatten()
        .all(|ty| ty.dtype == DataType::Float32)
    {
        return Ok(());
    }
    Err(OpError::unsupported(
        "images in blocks are float32, and another type is given",
    ))
}

fn kernel_size(attrs: crate::attr::AttrReader<'_>) -> Result<[i64; 2], OpError> {
    match attrs.ints("kernel")? {
        &[height, width] => Ok([height, width]),
        other => Err(OpError::invalid(format!(
            "kernel is {other:?}; it has to have 2 entries"
        ))),
    }
}

/// Infers an image in blocks from one in planes.
pub(crate) fn infer_block(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    only_float32(cx)?;
    match cx.input(0)?.shape[..] {
        [batch, channels, height, width] if channels > 0 => Ok(vec![TensorType::new(
            DataType::Float32,
            vec![
                batch,
                (channels as u64).div_ceil(LANES as u64) as i64,
                height,
                width,
                LANES as i64,
            ],
        )]),
        _ => Err(OpError::invalid(format!(
            "{} is no image of a known number of channels",
            cx.input(0)?
        ))),
    }
}

/// Infers an image in planes from one in blocks.
pub(crate) fn infer_unblock(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    only_float32(cx)?;
    let mut image = as_image(cx.input(0)?)?;
    let channels = cx.attrs().int("channels")?;
    if channels < 1 || (channels as u64).div_ceil(LANES as u64) as i64 != image.shape[1] {
        return Err(OpError::invalid(format!(
            "{channels} channels of {}",
            cx.input(0)?
        )));
    }
    image.shape[1] = channels;
    Ok(vec![image])
}

/// Infers the output of a convolution; of each block by itself where `depthwise`.
pub(crate) fn infer_convolution(
    cx: &InferCx<'_>,
    depthwise: bool,
) -> Result<Vec<TensorType>, OpError> {
    let kernel = kernel_size(cx.attrs())?;
    let (x, filter) = (cx.input(0)?, cx.input(1)?);
    let planar = !depthwise && x.rank() == Some(4);
    let narrow = filter.dtype == DataType::BFloat16;
    if narrow && (planar || depthwise) {
        return Err(OpError::unsupported(
            "only a convolution of blocks over all channels is computed in bfloat16",
        ));
    }
    let wide_only = !narrow && (x.dtype != DataType::Float32 || cx.attrs().bool("narrow")?);
    if wide_only {
        return Err(OpError::unsupported(
            "an image in bfloat16 goes with a filter in bfloat16",
        ));
    }
    let image = if planar { x.clone() } else { as_image(x)? };
    let bad = || {
        OpError::invalid(format!(
            "the image {x} does not go with the packed filter {filter}"
        ))
    };
    let &[outputs, steps, lanes] = &filter.shape[..] else {
        return Err(bad());
    };
    let groups = cx.attrs().int("groups")?;
    let lanes_in = if planar || depthwise { 1 } else { LANES as i64 };
    let channels = if depthwise { 1 } else { image.shape[1] };
    let whole = groups >= 1
        && image.shape[1] >= 1
        && outputs >= 1
        && lanes == LANES as i64
        && outputs % groups == 0
        && channels % groups == 0
        && (groups == 1 || !(planar || depthwise))
        && (!depthwise || image.shape[1] == outputs);
    let wanted = [channels / groups.max(1), kernel[0], kernel[1], lanes_in]
        .iter()
        .try_fold(1i64, |product, &factor| product.checked_mul(factor));
    if !whole || wanted != Some(steps) {
        return Err(bad());
    }
    if cx.has(2) && cx.input(2)?.shape[..] != [outputs * LANES as i64] {
        return Err(OpError::invalid(format!(
            "the bias is {}; it needs {} elements",
            cx.input(2)?,
            outputs * LANES as i64
        )));
    }
    let window = Window::of(cx.attrs(), Format::Nchw, kernel, false)?;
    let mut shape = window.infer(Format::Nchw, &image, Some(outputs))?;
    shape.push(LANES as i64);
    let dtype = match cx.attrs().bool("narrow")? {
        true => DataType::BFloat16,
        false => DataType::Float32,
    };
    let out = TensorType::new(dtype, shape);
    if cx.has(3) && out.elements().is_some() && cx.input(3)?.shape != out.shape {
        return Err(OpError::invalid(format!(
            "the residual is {}, and the output {out}",
            cx.input(3)?
        )));
    }
    Ok(vec![out])
}

/// Infers the output of pooling.
pub(crate) fn infer_pool(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    only_float32(cx)?;
    let image = as_image(cx.input(0)?)?;
    let size = [image.shape[2], image.shape[3]];
    let mut shape = if cx.attrs().bool("global_pooling")? && size.iter().any(|&dim| dim < 0) {
        vec![image.shape[0], image.shape[1], 1, 1]
    } else {
        pool::window(cx.attrs(), Format::Nchw, Some(size))?.infer(Format::Nchw, &image, None)?
    };
    shape.push(LANES as i64);
    Ok(vec![TensorType::new(DataType::Float32, shape)])
}

struct Reorder {
    images: usize,
    channels: usize,
    blocks: usize,
    pixels: usize,
    into_blocks: bool,
}

/// Makes the kernel that brings an image into blocks.
pub(crate) fn prepare_block(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let (x, out) = (cx.shape(0)?, cx.output_shape(0)?);
    Ok(Box::new(Reorder {
        images: x[0],
        channels: x[1],
        blocks: out[1],
        pixels: x[2] * x[3],
        into_blocks: true,
    }))
}

/// Makes the kernel that brings an image out of blocks.
pub(crate) fn prepare_unblock(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let (x, out) = (cx.shape(0)?, cx.output_shape(0)?);
    Ok(Box::new(Reorder {
        images: x[0],
        channels: out[1],
        blocks: x[1],
        pixels: x[2] * x[3],
        into_blocks: false,
    }))
}

impl Kernel for Reorder {
    fn takes_apart(&self, _slot: Slot) -> bool {
        true
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, x_apart) = call.input::<f32>(0)?.spread();
        let (out, out_apart) = call.output::<f32>(0)?.spread();
        let (planes_apart, blocks_apart) = match self.into_blocks {
            true => (x_apart, out_apart),
            false => (out_apart, x_apart),
        };
        let Reorder {
            channels,
            blocks,
            pixels,
            ..
        } = *self;
        let one = |index: usize| {
            let (image, block) = (index / blocks, index % blocks);
            let from = block * LANES;
            let lanes = LANES.min(channels - from);
            let planes = (image * planes_apart + from * pixels, lanes * pixels);
            let block = (
                image * blocks_apart + block * pixels * LANES,
                pixels * LANES,
            );
            if self.into_blocks {
                let (from, to) = (x.slice(planes.0, planes.1), out.slice(block.0, block.1));
                crate::simd::blocked::interleave(from, to, pixels);
            } else {
                let (from, to) = (x.slice(block.0, block.1), out.slice(planes.0, planes.1));
                crate::simd::blocked::separate(from, to, pixels);
            }
        };
        let count = self.images * blocks;
        let grain = (WORTH / 8).div_ceil((pixels * LANES).max(1));
        call.workers().ranges(count, grain, |start, len| {
            (start..start + len).for_each(one);
        });
        Ok(())
    }
}

/// Which inputs were given, and the bounds.
#[derive(Clone, Copy)]
struct Extras {
    bias: bool,
    residual: bool,
    clamp: Option<(f32, f32)>,
}

impl Extras {
    fn of(cx: &PrepareCx<'_>) -> Result<Extras, OpError> {
        let (low, high) = (cx.attrs().float("low")?, cx.attrs().float("high")?);
        let bounded = low > f32::NEG_INFINITY || high < f32::INFINITY;
        Ok(Extras {
            bias: cx.has(2),
            residual: cx.has(3),
            clamp: bounded.then_some((low, high)),
        })
    }

    fn operands<'a>(&self, call: &Call<'a>) -> Result<Operands<'a>, OpError> {
        let bias = match self.bias {
            true => Some(call.input::<f32>(2)?.flat()),
            false => None,
        };
        let residual: Option<(Row<'a, f32>, usize)> = match self.residual {
            true => Some(call.input::<f32>(3)?.spread()),
            false => None,
        };
        let (x, out) = (
            call.input::<f32>(0)?.spread(),
            call.output::<f32>(0)?.spread(),
        );
        Ok(Operands {
            x: x.0,
            filter: call.input::<f32>(1)?.flat(),
            bias,
            residual: residual.map(|(row, _)| row),
            clamp: self.clamp,
            out: out.0,
            apart: Apart {
                x: Some(x.1),
                residual: residual.map(|(_, apart)| apart),
                out: Some(out.1),
            },
        })
    }

    /// Images and what is added to them may lie apart; weights are dense.
    fn take_apart(slot: Slot) -> bool {
        matches!(slot, Slot::Input(0 | 3) | Slot::Output(_))
    }
}

fn sliding(window: &Window, image: [usize; 2]) -> Result<Sliding, OpError> {
    let fixed = window.fix(image)?;
    Ok(Sliding {
        image,
        output: fixed.output,
        kernel: window.kernel,
        stride: window.stride,
        dilation: window.dilation,
        before: fixed.window.before,
    })
}

/// Makes the kernel of a convolution.
pub(crate) fn prepare_convolution(
    cx: &PrepareCx<'_>,
    depthwise: bool,
) -> Result<Box<dyn Kernel>, OpError> {
    let window = Window::of(cx.attrs(), Format::Nchw, kernel_size(cx.attrs())?, false)?;
    let (x, outputs) = (cx.shape(0)?, cx.output_shape(0)?[1]);
    let mut window = sliding(&window, [x[2], x[3]])?;
    let (images, extras) = (x[0], Extras::of(cx)?);
    if depthwise {
        return Ok(Box::new(Swept {
            window,
            what: Sweep::Weigh,
            images,
            blocks: x[1],
            extras: Some(extras),
        }));
    }
    if x.len() == 4 {
        let planar = Planar {
            window,
            channels: x[1],
            outputs,
        };
        if planar.columns() == 0 || window.dilation[1] != 1 {
            return Err(OpError::unsupported("this window over an image in planes"));
        }
        return Ok(Box::new(FromPlanes {
            planar,
            images,
            extras,
        }));
    }
    let pointwise = window.kernel == [1, 1]
        && window.stride == [1, 1]
        && window.before == [0, 0]
        && window.image == window.output;
    if pointwise && !window.image[1].is_multiple_of(14) {
        // Rows that no tile fits run together.
        window.image = [1, window.image[0] * window.image[1]];
        window.output = window.image;
    }
    let groups = cx.attrs().int("groups")?.max(1) as usize;
    let dense = Dense {
        window,
        groups,
        inputs: x[1] / groups,
        outputs: outputs / groups,
    };
    if cx.dtype(1)? == DataType::BFloat16 {
        return Ok(Box::new(super::narrow::Convolution {
            dense,
            images,
            bias: extras.bias,
            residual: extras.residual,
            clamp: extras.clamp,
            wide_in: cx.dtype(0)? == DataType::Float32,
            narrow_out: cx.output_dtype(0)? == DataType::BFloat16,
        }));
    }
    Ok(Box::new(OfBlocks {
        dense,
        images,
        extras,
    }))
}

/// Splits an output image of `rows` by `columns` into `wanted` parts or fewer.
pub(super) fn split(rows: usize, columns: usize, wanted: usize) -> (usize, usize, usize) {
    /// What the largest tile covers.
    const STEP: usize = 14;
    if rows > 1 {
        let each = rows.div_ceil(wanted.clamp(1, rows));
        return (rows.div_ceil(each), each, columns);
    }
    let steps = columns.div_ceil(STEP).max(1);
    let each = steps.div_ceil(wanted.clamp(1, steps)) * STEP;
    (columns.div_ceil(each.max(1)).max(1), 1, each)
}

/// Gives the part of that number; see [`split`].
pub(super) fn part_of(
    output: [usize; 2],
    (rows, columns): (usize, usize),
    image: usize,
    index: usize,
) -> Part {
    let along = |each: usize, size: usize, index: usize| {
        ((index * each).min(size), ((index + 1) * each).min(size))
    };
    if output[0] > 1 {
        Part {
            image,
            rows: along(rows, output[0], index),
            columns: (0, output[1]),
        }
    } else {
        Part {
            image,
            rows: (0, output[0]),
            columns: along(columns, output[1], index),
        }
    }
}

struct OfBlocks {
    dense: Dense,
    images: usize,
    extras: Extras,
}

impl Kernel for OfBlocks {
    fn takes_apart(&self, slot: Slot) -> bool {
        Extras::take_apart(slot)
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let operands = self.extras.operands(call)?;
        let Dense {
            window,
            groups,
            inputs,
            outputs,
        } = self.dense;
        let pairs = outputs.div_ceil(PAIR);
        let units = self.images * groups * pairs;
        let output = window.output;
        let factors = [
            output[0] * output[1],
            window.kernel[0] * window.kernel[1],
            inputs * PAIR * units * LANES * LANES,
        ];
        let cost = factors.into_iter().fold(1, usize::saturating_mul);
        let threads = if cost < WORTH {
            1
        } else {
            call.workers().threads()
        };
        let weights = inputs * outputs * groups * window.taps() * LANES;
        let most = groups * (inputs * window.pixels()).max(outputs * window.outputs());
        let cut = Cut::of(threads, self.images, units, output, most >= weights);
        let one = |index: usize| {
            let (piece, first, last) = cut.part(index);
            for unit in first..last {
                let (pair, rest) = (unit % pairs, unit / pairs);
                let (group, image) = (rest % groups, rest / groups);
                let part = part_of(output, (cut.rows, cut.columns), image, piece);
                convolve(&self.dense, &operands, (group, pair), part);
            }
        };
        if threads == 1 {
            (0..cut.parts()).for_each(one);
        } else {
            call.workers().each(cut.parts(), one);
        }
        Ok(())
    }
}

/// How the work of a convolution is cut into parts: pieces of the image, and units (images, groups, pairs of output blocks) that follow
/// each other.
///
/// Where an image takes more memory than the weights, a thread gets rows of it in all units, and the same rows of the next image, most
/// of which it wrote itself; where the weights take more, it gets some of them and all rows.
struct Cut {
    pieces: usize,
    rows: usize,
    columns: usize,
    units: usize,
    /// Units of a part.
    each: usize,
    by_rows: bool,
}

impl Cut {
    fn of(threads: usize, images: usize, units: usize, output: [usize; 2], by_rows: bool) -> Cut {
        let by_rows = by_rows && images < threads;
        let wanted = threads * PARTS_EACH;
        let (pieces, groups) = match (threads, by_rows) {
            (1, _) => (1, 1),
            (_, true) => {
                let groups = units.clamp(1, PARTS_EACH);
                (wanted.div_ceil(groups), groups)
            }
            (_, false) => (wanted.div_ceil(units.max(1)), wanted),
        };
        let (pieces, rows, columns) = split(output[0], output[1], pieces);
        Cut {
            pieces,
            rows,
            columns,
            units,
            each: units.div_ceil(groups).max(1),
            by_rows,
        }
    }

    fn groups(&self) -> usize {
        self.units.div_ceil(self.each)
    }

    fn parts(&self) -> usize {
        self.pieces * self.groups()
    }

    /// Gives the piece of a part, and from which unit to which.
    fn part(&self, index: usize) -> (usize, usize, usize) {
        let (piece, group) = match self.by_rows {
            true => (index / self.groups(), index % self.groups()),
            false => (index % self.pieces, index / self.pieces),
        };
        let first = group * self.each;
        (piece, first, (first + self.each).min(self.units))
    }
}

struct FromPlanes {
    planar: Planar,
    images: usize,
    extras: Extras,
}

impl Kernel for FromPlanes {
    fn takes_apart(&self, slot: Slot) -> bool {
        Extras::take_apart(slot)
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let operands = self.extras.operands(call)?;
        let output = self.planar.window.output;
        call.workers()
            .ranges(self.images * output[0], 4, |start, len| {
                for index in start..start + len {
                    let (image, row) = (index / output[0], index % output[0]);
                    let part = Part {
                        image,
                        rows: (row, row + 1),
                        columns: (0, output[1]),
                    };
                    convolve_planar(&self.planar, &operands, part);
                }
            });
        Ok(())
    }
}

/// Makes the kernel of pooling.
pub(crate) fn prepare_pool(
    cx: &PrepareCx<'_>,
    kind: pool::Kind,
) -> Result<Box<dyn Kernel>, OpError> {
    let x = cx.shape(0)?;
    let image = [x[2], x[3]];
    let size = Some([x[2] as i64, x[3] as i64]);
    let window = pool::window(cx.attrs(), Format::Nchw, size)?;
    let after = window.fix(image)?.window.after;
    Ok(Box::new(Swept {
        window: sliding(&window, image)?,
        what: match kind {
            pool::Kind::Max => Sweep::Max,
            pool::Kind::MeanInside => Sweep::MeanInside,
            pool::Kind::MeanPadded => Sweep::MeanPadded(after),
            pool::Kind::SumBy(divisor) => Sweep::SumBy(divisor),
        },
        images: x[0],
        blocks: x[1],
        extras: None,
    }))
}

/// Each block of the output is made from the same block of the image.
struct Swept {
    window: Sliding,
    what: Sweep,
    images: usize,
    blocks: usize,
    /// `None`: there is no filter.
    extras: Option<Extras>,
}

impl Kernel for Swept {
    fn takes_apart(&self, slot: Slot) -> bool {
        Extras::take_apart(slot)
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let operands = match &self.extras {
            Some(extras) => extras.operands(call)?,
            None => {
                let (x, x_apart) = call.input::<f32>(0)?.spread();
                let (out, out_apart) = call.output::<f32>(0)?.spread();
                Operands {
                    x,
                    filter: x.slice(0, 0),
                    bias: None,
                    residual: None,
                    clamp: None,
                    out,
                    apart: Apart {
                        x: Some(x_apart),
                        residual: None,
                        out: Some(out_apart),
                    },
                }
            }
        };
        let output = self.window.output;
        // Few taps wait for memory.
        let taps = self.window.taps().max(8);
        let each = output[0] * output[1] * taps * LANES;
        let threads = call.workers().threads();
        let (units, image) = (self.images * self.blocks, output[0] * output[1]);
        let run = |first: usize, last: usize, rows: (usize, usize)| {
            for index in first..last {
                let part = Part {
                    image: index / self.blocks,
                    rows,
                    columns: (0, output[1]),
                };
                let block = (index % self.blocks, self.blocks);
                sweep(&self.window, self.what, block, &operands, part);
            }
        };
        if threads > self.images
            && output[0] > threads
            && image >= LARGE
            && units * each >= WORTH / 2
        {
            // As the convolutions around it do.
            let (pieces, rows, _) = split(output[0], output[1], threads * PARTS_EACH);
            call.workers().each(pieces, |piece| {
                let from = piece * rows;
                run(0, units, (from, (from + rows).min(output[0])));
            });
            return Ok(());
        }
        let grain = (WORTH / 4).div_ceil(each.max(1));
        call.workers().ranges(units, grain, |start, len| {
            run(start, start + len, (0, output[0]));
        });
        Ok(())
    }
}

/// Weights of a convolution as the kernels for images in blocks read them.
///
/// # Shapes
///
/// `filter`: output channel, channel of the group, down, across. `planar`: the image lies in planes. `None`: no float32
/// tensor of four dimensions, or groups that are no whole blocks.
pub fn pack_filter(filter: &Tensor, groups: usize, planar: bool) -> Option<Tensor> {
    let (dims, values) = (filter.ty().dims()?, floats(filter)?);
    let &[outputs, depth, height, width] = &dims[..] else {
        return None;
    };
    let whole =
        |size: usize| groups == 1 || (size.is_multiple_of(groups * LANES) && size > 0 && !planar);
    if groups == 0 || !whole(outputs) || !whole(depth * groups) {
        return None;
    }
    let (taps, own) = (height * width, outputs / groups);
    let (inner, inputs) = match planar {
        true => (1, depth),
        false => (LANES, depth.div_ceil(LANES)),
    };
    let blocks = own.div_ceil(LANES);
    let steps = inputs * taps * inner;
    let mut packed = Vec::with_capacity(groups * blocks * steps * LANES);
    for group in 0..groups {
        for first in (0..blocks).step_by(PAIR) {
            let count = PAIR.min(blocks - first);
            for input in 0..inputs {
                for tap in 0..taps {
                    for lane_in in 0..inner {
                        for block in 0..count {
                            for lane in 0..LANES {
                                let output = (first + block) * LANES + lane;
                                let channel = input * inner + lane_in;
                                packed.push(if output < own && channel < depth {
                                    let output = group * own + output;
                                    values[(output * depth + channel) * taps + tap]
                                } else {
                                    0.0
                                });
                            }
                        }
                    }
                }
            }
        }
    }
    Tensor::from_floats(&packed)
        .reshaped(&[groups * blocks, steps, LANES])
        .ok()
}

/// Weights of a convolution of each channel by itself, as the kernels for images in blocks read them.
///
/// # Shapes
///
/// `filter`: channel, 1, down, across.
pub fn pack_depthwise(filter: &Tensor) -> Option<Tensor> {
    let (dims, values) = (filter.ty().dims()?, floats(filter)?);
    let &[channels, 1, height, width] = &dims[..] else {
        return None;
    };
    let (taps, blocks) = (height * width, channels.div_ceil(LANES));
    let mut packed = vec![0f32; blocks * taps * LANES];
    for (index, &value) in values.iter().enumerate() {
        let (channel, tap) = (index / taps, index % taps);
        packed[(channel / LANES * taps + tap) * LANES + channel % LANES] = value;
    }
    Tensor::from_floats(&packed)
        .reshaped(&[blocks, taps, LANES])
        .ok()
}

/// A number for each channel, with zeros for those that fill the last block up.
pub fn pack_channels(numbers: &Tensor) -> Option<Tensor> {
    let mut values = floats(numbers)?;
    values.resize(values.len().next_multiple_of(LANES), 0.0);
    Some(Tensor::from_floats(&values))
}

/// Gives how many columns of the output the kernel for an image in planes makes at a time; 0 where it cannot.
pub fn takes_planes(channels: usize, kernel: [usize; 2], stride: usize) -> bool {
    let window = Sliding {
        image: [0; 2],
        output: [0; 2],
        kernel,
        stride: [stride.max(1); 2],
        dilation: [1; 2],
        before: [0; 2],
    };
    let planar = Planar {
        window,
        channels,
        outputs: 1,
    };
    channels > 0 && planar.columns() > 0
}

fn floats(tensor: &Tensor) -> Option<Vec<f32>> {
    (tensor.ty().dtype == DataType::Float32).then(|| tensor.values::<f32>())?
}
