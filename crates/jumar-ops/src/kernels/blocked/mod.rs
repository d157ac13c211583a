//! Operators on images whose channels lie in blocks of sixteen: shapes batch, block, row, column, channel of the block.
//!
//! The layout is the same whatever the processor, so that a compiled model runs anywhere. Channels that fill the last
//! block up have weights and biases of 0; what other operators make of them is never read back.

mod cut;
mod pack;
mod planes;

use jumar_types::dtype::DataType;

use cut::neighbouring_rows;
pub(super) use cut::{PARTS_EACH, part_of, split};
pub(crate) use pack::FilterPacking;
pub use pack::{pack_channels, pack_depthwise, pack_filter, pack_gathered, takes_planes};
pub(in crate::kernels) use planes::{InPlanes, Sizes};

use super::pool;
use super::window::{Format, Window};
use crate::simd::blocked::{
    BatchStrides, Dense, GatheredConvolution, LANES, Operands, PAIR, Part, Planar, Rounding, Share,
    Sliding, WindowOp, apply_window, convolve, convolve_gathered, convolve_planar, together,
};
use crate::view::Row;
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, Slot, TensorType};
use cut::Cut;

/// Multiplications below which a kernel is not worth sharing.
pub(super) const WORTH: usize = 1 << 19;
/// Pixels from which on threads share an image by rows even where there are many blocks.
const LARGE: usize = 100;
/// Weights from which on threads share a convolution, however small its images are.
const MANY_WEIGHTS: usize = 1 << 16;

/// Numbers about units that a convolution of picked channels has at most; they lie on the stack while it runs.
const UNITS: usize = 4096;

/// Returns how many channels the last block of some channels has.
fn last_of(channels: usize) -> usize {
    match channels % LANES {
        0 => LANES,
        rest => rest,
    }
}

/// Sees a blocked image as one of four dimensions, with blocks for channels.
fn as_image(ty: &TensorType) -> Result<TensorType, OpError> {
    match ty.shape[..] {
        [batch, blocks, height, width, lanes] if lanes == LANES as i64 => Ok(TensorType::new(
            ty.dtype,
            vec![batch, blocks, height, width],
        )),
        _ => Err(OpError::invalid(format!(
            "{ty} is not an image in blocked layout"
        ))),
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
            "kernel is {other:?}; it must have 2 entries"
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
            "{} is not an image with a static number of channels",
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
    let bf16 = filter.dtype == DataType::BFloat16;
    if bf16 && (planar || depthwise) {
        return Err(OpError::unsupported(
            "only a convolution of blocks over all channels is computed in bfloat16",
        ));
    }
    let wide_only = !bf16 && (x.dtype != DataType::Float32 || cx.attrs().bool("narrow")?);
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
    let valid = groups >= 1
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
    if !valid || wanted != Some(steps) {
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

/// Infers the output of a convolution of picked channels.
pub(crate) fn infer_gathered(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let kernel = kernel_size(cx.attrs())?;
    let (x, filter, units) = (cx.input(0)?, cx.input(1)?, cx.input(4)?);
    let image = as_image(x)?;
    let blocks = cx.attrs().int("blocks")?;
    let given = [cx.has(2).then_some(2), cx.has(3).then_some(3)];
    let float32 = [0, 1]
        .into_iter()
        .chain(given.into_iter().flatten())
        .all(|index| {
            cx.input(index)
                .is_ok_and(|ty| ty.dtype == DataType::Float32)
        });
    let fits = matches!(filter.shape[..], [_, lanes] if lanes == LANES as i64)
        && matches!(units.shape[..], [count, line]
            if count >= 0 && image.shape[1] >= 1 && image.shape[1].checked_add(3) == Some(line)
                && count.checked_mul(line).is_some_and(|all| all <= UNITS as i64));
    let bias = blocks.checked_mul(LANES as i64).map(|len| vec![len]);
    let bias = !cx.has(2) || Some(&cx.input(2)?.shape) == bias.as_ref();
    if !float32 || units.dtype != DataType::Int32 || blocks < 1 || !fits || !bias {
        return Err(OpError::invalid(format!(
            "the image {x} does not go with the packed filter {filter}, the units {units} and {blocks} blocks of output"
        )));
    }
    let window = Window::of(cx.attrs(), Format::Nchw, kernel, false)?;
    let mut shape = window.infer(Format::Nchw, &image, Some(blocks))?;
    shape.push(LANES as i64);
    let out = TensorType::new(DataType::Float32, shape);
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
    fn accepts_batch_stride(&self, _slot: Slot) -> bool {
        true
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, x_stride) = call.input::<f32>(0)?.spread();
        let (out, out_stride) = call.output::<f32>(0)?.spread();
        let (plane_stride, block_stride) = match self.into_blocks {
            true => (x_stride, out_stride),
            false => (out_stride, x_stride),
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
            let planes = (image * plane_stride + from * pixels, lanes * pixels);
            let block = (
                image * block_stride + block * pixels * LANES,
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
    rounding: Option<Rounding>,
}

/// Returns what the attribute `rounding` says, which is numbered as ACL's types; float32 stands for nothing.
pub(in crate::kernels) fn rounding_of(cx: &InferCx<'_>) -> Result<Option<Rounding>, OpError> {
    let number = cx.attrs().int("rounding")?;
    match i32::try_from(number).ok().and_then(DataType::from_acl) {
        Some(DataType::Float32) => Ok(None),
        Some(DataType::Float16) => Ok(Some(Rounding::Float16)),
        Some(DataType::BFloat16) => Ok(Some(Rounding::BFloat16)),
        _ => Err(OpError::invalid(format!(
            "rounding is {number}; it must be the number of float32, float16 or bfloat16"
        ))),
    }
}

impl Extras {
    fn of(cx: &PrepareCx<'_>) -> Result<Extras, OpError> {
        let (low, high) = (cx.attrs().float("low")?, cx.attrs().float("high")?);
        let bounded = low > f32::NEG_INFINITY || high < f32::INFINITY;
        Ok(Extras {
            bias: cx.has(2),
            residual: cx.has(3),
            clamp: bounded.then_some((low, high)),
            rounding: rounding_of(cx.infer())?,
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
            rounding: self.rounding,
            out: out.0,
            batch_strides: BatchStrides {
                x: Some(x.1),
                residual: residual.map(|(_, stride)| stride),
                out: Some(out.1),
            },
        })
    }

    /// Images and what is added to them may lie apart; weights are dense.
    fn takes_stride(slot: Slot) -> bool {
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
            what: WindowOp::Weigh,
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
    if cx.has(4) {
        return Ok(Box::new(Picking {
            window,
            inputs: x[1],
            outputs,
            images,
            extras,
        }));
    }
    let groups = cx.attrs().int("groups")?.max(1) as usize;
    let dense = Dense {
        window,
        groups,
        inputs: x[1] / groups,
        last: match cx.attrs().int("channels")? {
            0 => LANES,
            channels if groups == 1 && (channels as usize).div_ceil(LANES) == x[1] => {
                last_of(channels as usize)
            }
            channels => {
                return Err(OpError::invalid(format!(
                    "{channels} channels in {} blocks and {groups} groups",
                    x[1]
                )));
            }
        },
        outputs: outputs / groups,
    };
    if cx.dtype(1)? == DataType::BFloat16 {
        return Ok(Box::new(super::lowp::Convolution {
            dense,
            images,
            bias: extras.bias,
            residual: extras.residual,
            clamp: extras.clamp,
            wide_in: cx.dtype(0)? == DataType::Float32,
            bf16_out: cx.output_dtype(0)? == DataType::BFloat16,
        }));
    }
    Ok(Box::new(OfBlocks {
        dense,
        images,
        extras,
    }))
}

struct OfBlocks {
    dense: Dense,
    images: usize,
    extras: Extras,
}

impl Kernel for OfBlocks {
    fn accepts_batch_stride(&self, slot: Slot) -> bool {
        Extras::takes_stride(slot)
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        convolve_all(call, &self.dense, self.images, &self.extras.operands(call)?);
        Ok(())
    }
}

/// Computes the convolution of all images, in parts that threads share.
fn convolve_all(call: &Call<'_>, dense: &Dense, images: usize, operands: &Operands<'_>) {
    let Dense {
        window,
        groups,
        inputs,
        outputs,
        ..
    } = *dense;
    let pairs = groups * outputs.div_ceil(PAIR);
    let output = window.output;
    let factors = [
        output[0] * output[1],
        window.kernel[0] * window.kernel[1],
        inputs * PAIR * images * pairs * LANES * LANES,
    ];
    let cost = factors.into_iter().fold(1, usize::saturating_mul);
    let weights = inputs * outputs * groups * window.taps() * LANES;
    // Small images take as long as it takes to read the weights.
    let threads = match cost < WORTH && weights * LANES < MANY_WEIGHTS {
        true => 1,
        false => call.workers().threads(),
    };
    let most = groups * (inputs * window.pixels()).max(outputs * window.outputs());
    let each = together(dense, images, pairs);
    let cut = Cut::of(threads, (images, each), pairs, output, most >= weights);
    let one = |index: usize| convolve(dense, operands, cut.share(index));
    if threads == 1 {
        (0..cut.parts()).for_each(one);
    } else {
        call.workers().each(cut.parts(), one);
    }
}

/// A convolution whose outputs read some channels only.
struct Picking {
    window: Sliding,
    inputs: usize,
    outputs: usize,
    images: usize,
    extras: Extras,
}

impl Kernel for Picking {
    fn accepts_batch_stride(&self, slot: Slot) -> bool {
        Extras::takes_stride(slot)
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let operands = self.extras.operands(call)?;
        let units = call.input::<i32>(4)?.flat();
        let lines = operands.filter.len() / LANES;
        // The masks come from a file, and are few; on the stack they are read once for all threads.
        let mut numbers = [0i32; UNITS];
        let Some(numbers) = numbers.get_mut(..units.len()) else {
            return Err(OpError::invalid(format!(
                "{} numbers about units, where {UNITS} fit",
                units.len()
            )));
        };
        units.load(numbers, |value| value);
        let gathered = GatheredConvolution {
            window: self.window,
            inputs: self.inputs,
            outputs: self.outputs,
            units: numbers,
        };
        if !gathered.fits(lines) {
            return Err(OpError::invalid(format!(
                "units that do not fit {} blocks of input, {} of output and {lines} lines of weights",
                self.inputs, self.outputs
            )));
        }
        let output = self.window.output;
        let cost = output[0] * output[1] * lines * LANES * self.images;
        let threads = if cost < WORTH {
            1
        } else {
            call.workers().threads()
        };
        let cut = Cut::of(threads, (self.images, 1), gathered.units(), output, true);
        let one = |index: usize| convolve_gathered(&gathered, &operands, cut.share(index));
        if threads == 1 {
            (0..cut.parts()).for_each(one);
        } else {
            call.workers().each(cut.parts(), one);
        }
        Ok(())
    }
}

struct FromPlanes {
    planar: Planar,
    images: usize,
    extras: Extras,
}

impl Kernel for FromPlanes {
    fn accepts_batch_stride(&self, slot: Slot) -> bool {
        Extras::takes_stride(slot)
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let operands = self.extras.operands(call)?;
        let rows = self.planar.window.output[0];
        call.workers().ranges(self.images * rows, 4, |start, len| {
            for part in neighbouring_rows(self.planar.window.output, start, len) {
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
            pool::Kind::Max => WindowOp::Max,
            pool::Kind::MeanInside => WindowOp::MeanInside,
            pool::Kind::MeanPadded => WindowOp::MeanPadded(after),
            pool::Kind::SumBy(divisor) => WindowOp::SumBy(divisor),
        },
        images: x[0],
        blocks: x[1],
        extras: None,
    }))
}

/// Each block of the output is made from the same block of the image.
struct Swept {
    window: Sliding,
    what: WindowOp,
    images: usize,
    blocks: usize,
    /// `None`: there is no filter.
    extras: Option<Extras>,
}

impl Kernel for Swept {
    fn accepts_batch_stride(&self, slot: Slot) -> bool {
        Extras::takes_stride(slot)
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let operands = match &self.extras {
            Some(extras) => extras.operands(call)?,
            None => {
                let (x, x_stride) = call.input::<f32>(0)?.spread();
                let (out, out_stride) = call.output::<f32>(0)?.spread();
                Operands {
                    x,
                    filter: x.slice(0, 0),
                    bias: None,
                    residual: None,
                    clamp: None,
                    rounding: None,
                    out,
                    batch_strides: BatchStrides {
                        x: Some(x_stride),
                        residual: None,
                        out: Some(out_stride),
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
        let run = |block: usize, part: Part| {
            let block = (block, self.blocks);
            apply_window(&self.window, self.what, block, &operands, part);
        };
        if threads > self.images
            && output[0] > threads
            && image >= LARGE
            && units * each >= WORTH / 2
        {
            // As the convolutions around it do: a thread has written most of what it reads.
            let cut = Cut::of(threads, (self.images, 1), self.blocks, output, true);
            call.workers().each(cut.parts(), |index| {
                let Share {
                    images,
                    pairs: blocks,
                    rows,
                    columns,
                } = cut.share(index);
                for image in images.0..images.1 {
                    let part = Part {
                        image,
                        rows,
                        columns,
                    };
                    (blocks.0..blocks.1).for_each(|block| run(block, part));
                }
            });
            return Ok(());
        }
        let grain = (WORTH / 4).div_ceil(each.max(1));
        call.workers().ranges(units, grain, |start, len| {
            for index in start..start + len {
                let part = Part {
                    image: index / self.blocks,
                    rows: (0, output[0]),
                    columns: (0, output[1]),
                };
                run(index % self.blocks, part);
            }
        });
        Ok(())
    }
}
