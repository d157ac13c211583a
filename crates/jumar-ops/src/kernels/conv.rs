//! Two-dimensional convolution.
//!
//! float32 goes through the matrix product: patches of the image are packed straight into the panels that it reads
//! (there is no separate im2col matrix). Everything else, and groups of very few output channels, sums rows directly.

use super::blocked::{self, InPlanes};
use super::number::{Number, for_dtype};
use super::widened::widened;
use super::window::{FixedWindow, Format, Window};
use crate::simd::{self, Epilogue, PANEL, Segment, Start};
use crate::view::{Row, RowMut};
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, TensorType};

/// Rows of a panel that are computed in one go: a panel of this depth fills half a first-level cache.
const DEPTH: usize = 256;
/// Columns that are packed in one go.
const COLUMNS: usize = 512;

/// Which input is which.
#[derive(Clone, Copy)]
pub(crate) struct Inputs {
    pub bias: usize,
    /// A tensor of the output's shape that is added at the end.
    pub residual: Option<usize>,
}

/// Infers the output of a convolution.
pub(crate) fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let (image, filter) = (cx.input(0)?, cx.input(1)?);
    let dtype = cx.same_types([0, 1])?;
    let format = Format::of(cx.attrs())?;
    let (Some(image_rank), Some(filter_rank)) = (image.rank(), filter.rank()) else {
        return Ok(vec![TensorType::of_unknown_rank(dtype)]);
    };
    if image_rank != 4 || filter_rank != 4 {
        return Err(OpError::invalid(format!(
            "image {image} and filter {filter} have to have 4 dimensions"
        )));
    }
    let (outputs, depth, kernel) = (
        filter.shape[0],
        filter.shape[1],
        [filter.shape[2], filter.shape[3]],
    );
    let groups = cx.attrs().int("groups")?;
    let channels = image.shape[format.channel()];
    if groups < 1 || (outputs >= 0 && outputs % groups != 0) {
        return Err(OpError::invalid(format!(
            "{outputs} output channels cannot be split into {groups} groups"
        )));
    }
    if channels >= 0 && depth >= 0 && depth.checked_mul(groups) != Some(channels) {
        return Err(OpError::invalid(format!(
            "the image {image} has {channels} channels, and the filter {filter} in {groups} groups needs {}",
            depth.saturating_mul(groups)
        )));
    }
    if cx.has(2)
        && !matches!(cx.input(2)?.shape[..], [size] if size < 0 || outputs < 0 || size == outputs)
    {
        return Err(OpError::invalid(format!(
            "the bias is {}; it needs {outputs} elements",
            cx.input(2)?
        )));
    }
    if kernel[0] < 0 || kernel[1] < 0 {
        return Ok(vec![TensorType::new(
            dtype,
            format.shape(image.shape[0], outputs, [-1, -1]),
        )]);
    }
    let window = Window::of(cx.attrs(), format, kernel, false)?;
    Ok(vec![TensorType {
        dtype,
        shape: window.infer(format, image, Some(outputs))?,
    }])
}

/// The sizes of one convolution.
#[derive(Clone, Copy)]
struct Shape {
    batch: usize,
    groups: usize,
    /// Input channels of one group.
    depth: usize,
    /// Output channels of one group.
    outputs: usize,
    window: FixedWindow,
    clamp: Option<(f32, f32)>,
    inputs: Inputs,
}

impl Shape {
    fn plane(&self) -> usize {
        self.window.image[0] * self.window.image[1]
    }

    fn pixels(&self) -> usize {
        self.window.output[0] * self.window.output[1]
    }

    fn taps(&self) -> usize {
        self.window.window.kernel[0] * self.window.window.kernel[1]
    }
}

/// Makes the kernel of a convolution; of 16-bit types in float32.
pub(crate) fn prepare(
    cx: &PrepareCx<'_>,
    inputs: Inputs,
    clamp: Option<(f32, f32)>,
) -> Result<Box<dyn Kernel>, OpError> {
    widened(cx, |cx| prepare_as_given(cx, inputs, clamp))
}

fn prepare_as_given(
    cx: &PrepareCx<'_>,
    inputs: Inputs,
    clamp: Option<(f32, f32)>,
) -> Result<Box<dyn Kernel>, OpError> {
    let format = Format::of(cx.attrs())?;
    format.only_nchw()?;
    let (&[batch, _, height, width], &[outputs, depth, kernel_h, kernel_w]) =
        (cx.shape(0)?, cx.shape(1)?)
    else {
        return Err(OpError::internal(
            "a convolution of other than 4 dimensions",
        ));
    };
    let groups = Ord::max(cx.attrs().int("groups")?, 1) as usize;
    let window = Window::of(
        cx.attrs(),
        format,
        [kernel_h as i64, kernel_w as i64],
        false,
    )?
    .fix([height, width])?;
    let residual = inputs.residual.filter(|&index| cx.has(index));
    let shape = Shape {
        batch,
        groups,
        depth,
        outputs: outputs / groups,
        window,
        clamp,
        inputs: Inputs { residual, ..inputs },
    };
    let dtype = cx.dtype(0)?;
    let float32 = dtype == jumar_types::dtype::DataType::Float32;
    if float32 && residual.is_none() {
        let fixed = shape.window.window;
        let sizes = blocked::Sizes {
            images: batch,
            groups,
            depth,
            outputs: shape.outputs,
            image: shape.window.image,
            output: shape.window.output,
            kernel: fixed.kernel,
            stride: fixed.stride,
            dilation: fixed.dilation,
            before: fixed.before,
        };
        if let Some(kernel) = InPlanes::forward(sizes, cx.has(inputs.bias), clamp) {
            return Ok(Box::new(kernel));
        }
    }
    if float32 && shape.outputs >= 4 {
        return Ok(Box::new(ByProduct::new(shape)));
    }
    for_dtype!(
        dtype,
        [Float32 => f32, Float64 => f64],
        T => Ok(Box::new(ByRows::<T> { shape, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    )
}

/// Convolution as matrix products over packed patches.
struct ByProduct {
    shape: Shape,
    /// Input channels whose patches are packed in one go.
    channels: usize,
    /// Output pixels that are packed in one go.
    columns: usize,
    /// The window only passes the image on, so that rows of pixels run together.
    pointwise: bool,
    /// Into how many parts the work is cut where threads share it; each packs into scratch memory of its own.
    parts: usize,
}

/// Parts at most.
const PARTS: usize = 8;
/// Multiplications that are worth a thread's trouble.
const WORTH: usize = 1 << 19;

impl ByProduct {
    fn new(shape: Shape) -> ByProduct {
        let window = &shape.window.window;
        let pointwise = window.kernel == [1, 1]
            && window.stride == [1, 1]
            && shape.window.image == shape.window.output;
        let columns = COLUMNS
            .min(shape.pixels().next_multiple_of(PANEL))
            .max(PANEL);
        let units = shape.batch * shape.groups * shape.pixels().div_ceil(columns);
        let each = [shape.outputs, shape.depth, shape.taps(), shape.pixels()];
        let cost = each
            .into_iter()
            .fold(shape.batch * shape.groups, usize::saturating_mul);
        ByProduct {
            channels: (DEPTH / shape.taps().max(1)).clamp(1, shape.depth.max(1)),
            columns,
            pointwise,
            parts: if cost < WORTH {
                1
            } else {
                units.clamp(1, PARTS)
            },
            shape,
        }
    }

    /// Returns how many numbers one part packs at a time.
    fn packed(&self) -> usize {
        self.channels * self.shape.taps() * self.columns
    }

    /// Finds which pixels of the panel that starts at pixel `start` see the image through one tap.
    fn segments(
        &self,
        start: usize,
        len: usize,
        tap: [usize; 2],
        found: &mut [Segment; PANEL],
    ) -> usize {
        let window = &self.shape.window;
        if self.pointwise {
            found[0] = Segment {
                lane: 0,
                len,
                source: start,
            };
            return 1;
        }
        let [_, width] = window.output;
        let (mut count, mut lane) = (0, 0);
        let (mut y, mut x) = (start / width, start % width);
        while lane < len {
            let run = (width - x).min(len - lane);
            let rows = window.reach(0, tap[0], y, y + 1);
            if rows.len == 1 {
                let columns = window.reach(1, tap[1], x, x + run);
                if columns.len > 0 {
                    found[count] = Segment {
                        lane: lane + columns.start - x,
                        len: columns.len,
                        source: rows.source * window.image[1] + columns.source,
                    };
                    count += 1;
                }
            }
            lane += run;
            y += 1;
            x = 0;
        }
        count
    }

    /// Packs the patches of pixels `start..start + len` over some channels, panel after panel.
    fn pack(
        &self,
        panels: RowMut<'_, f32>,
        image: Row<'_, f32>,
        channels: usize,
        (start, len): (usize, usize),
    ) {
        let taps = self.shape.taps();
        let [kernel_h, kernel_w] = self.shape.window.window.kernel;
        let size = channels * taps * PANEL;
        let mut segments = [Segment::default(); PANEL];
        for (index, column) in (0..len).step_by(PANEL).enumerate() {
            let panel = panels.slice(index * size, size);
            for tap_y in 0..kernel_h {
                for tap_x in 0..kernel_w {
                    let lanes = PANEL.min(len - column);
                    let count = self.segments(start + column, lanes, [tap_y, tap_x], &mut segments);
                    simd::pack_patches(
                        panel,
                        (tap_y * kernel_w + tap_x, taps),
                        image,
                        (channels, self.shape.plane()),
                        &segments[..count],
                        self.shape.window.window.stride[1],
                    );
                }
            }
        }
    }
}

impl Kernel for ByProduct {
    fn scratch_bytes(&self) -> usize {
        self.parts * self.packed() * size_of::<f32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let shape = &self.shape;
        let image = call.input::<f32>(0)?.flat();
        let filter = call.input::<f32>(1)?.flat();
        let bias = if call.has_input(shape.inputs.bias) {
            Some(call.input::<f32>(shape.inputs.bias)?.flat())
        } else {
            None
        };
        let residual = match shape.inputs.residual {
            Some(index) => Some(call.input::<f32>(index)?.flat()),
            None => None,
        };
        let out = call.output::<f32>(0)?.flat();
        let scratch = call.scratch::<f32>(0, self.scratch_bytes() / size_of::<f32>())?;
        let (plane, pixels, taps) = (shape.plane(), shape.pixels(), shape.taps());
        let weights = shape.depth * taps;
        let blocks = pixels.div_ceil(self.columns);
        // The pixels from one block of columns, of one group of one image.
        let one = |panels: RowMut<'_, f32>, unit: usize| {
            let (index, start) = (unit / blocks, unit % blocks * self.columns);
            let group = index % shape.groups;
            let image = image.slice(index * shape.depth * plane, shape.depth * plane);
            let filter = filter.slice(group * shape.outputs * weights, shape.outputs * weights);
            let out = out.slice(index * shape.outputs * pixels, shape.outputs * pixels);
            let residual = residual
                .map(|row| row.slice(index * shape.outputs * pixels, shape.outputs * pixels));
            let first = match bias {
                Some(bias) => Start::RowBias(bias.slice(group * shape.outputs, shape.outputs)),
                None => Start::Zero,
            };
            let len = self.columns.min(pixels - start);
            let mut channel = 0;
            loop {
                let channels = self.channels.min(shape.depth - channel);
                let last = channel + channels >= shape.depth;
                self.pack(
                    panels,
                    image.slice(channel * plane, channels * plane),
                    channels,
                    (start, len),
                );
                let k = channels * taps;
                let epilogue = Epilogue {
                    start: if channel == 0 {
                        first
                    } else {
                        Start::Accumulate
                    },
                    residual: residual
                        .filter(|_| last)
                        .map(|row| row.slice(start, row.len() - start)),
                    clamp: shape.clamp.filter(|_| last),
                };
                simd::gemm(
                    (shape.outputs, len, k),
                    (
                        filter.slice(channel * taps, filter.len() - channel * taps),
                        weights,
                    ),
                    panels.as_row(),
                    (out.slice(start, out.len() - start), pixels),
                    &epilogue,
                );
                channel += channels;
                if last {
                    break;
                }
            }
        };
        let units = shape.batch * shape.groups * blocks;
        let parts = match call.workers().threads() {
            1 => 1,
            _ => self.parts,
        };
        let each = units.div_ceil(parts);
        call.workers().each(parts, |part| {
            let panels = scratch.slice(part * self.packed(), self.packed());
            for unit in part * each..((part + 1) * each).min(units) {
                one(panels, unit);
            }
        });
        Ok(())
    }
}

/// Convolution as sums of image rows: any type, any number of groups.
struct ByRows<T> {
    shape: Shape,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Number> Kernel for ByRows<T> {
    fn scratch_bytes(&self) -> usize {
        self.shape.window.output[1] * size_of::<T::Wide>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let shape = &self.shape;
        let window = &shape.window;
        let image = call.input::<T>(0)?.flat();
        let filter = call.input::<T>(1)?.flat();
        let bias = if call.has_input(shape.inputs.bias) {
            Some(call.input::<T>(shape.inputs.bias)?.flat())
        } else {
            None
        };
        let residual = match shape.inputs.residual {
            Some(index) => Some(call.input::<T>(index)?.flat()),
            None => None,
        };
        let out = call.output::<T>(0)?.flat();
        let ([height, width], plane) = (window.output, shape.plane());
        let [kernel_h, kernel_w] = window.window.kernel;
        let stride = window.window.stride[1];
        let sums = call.scratch::<T::Wide>(0, width)?;
        let channels = shape.groups * shape.outputs;
        for index in 0..shape.batch * channels {
            let (sample, output) = (index / channels, index % channels);
            let group = output / shape.outputs;
            let first = bias.map_or(T::Wide::default(), |bias| bias.get(output).wide());
            let filter = filter.slice(
                output * shape.depth * shape.taps(),
                shape.depth * shape.taps(),
            );
            for y in 0..height {
                sums.fill(first);
                for channel in 0..shape.depth {
                    let from = (sample * shape.groups + group) * shape.depth + channel;
                    let image = image.slice(from * plane, plane);
                    for tap_y in 0..kernel_h {
                        let rows = window.reach(0, tap_y, y, y + 1);
                        if rows.len == 0 {
                            continue;
                        }
                        let line = image.slice(rows.source * window.image[1], window.image[1]);
                        for tap_x in 0..kernel_w {
                            let reach = window.reach(1, tap_x, 0, width);
                            let weight = filter
                                .get((channel * kernel_h + tap_y) * kernel_w + tap_x)
                                .wide();
                            let seen = line.stepped(reach.source, reach.len, stride);
                            sums.slice(reach.start, reach.len)
                                .update(seen, |sum, x| sum.add(weight.mul(x.wide())));
                        }
                    }
                }
                let at = (index * height + y) * width;
                if let Some(residual) = residual {
                    sums.update(residual.slice(at, width), |sum, x| sum.add(x.wide()));
                }
                let out = out.slice(at, width);
                match shape.clamp {
                    None => out.map1(sums.as_row(), T::from_wide),
                    Some((low, high)) => {
                        let (low, high) = (
                            T::Wide::from_f64(low.into()),
                            T::Wide::from_f64(high.into()),
                        );
                        out.map1(sums.as_row(), |sum| T::from_wide(clamp(sum, low, high)));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Keeps a number within bounds; not-a-number stays.
pub(crate) fn clamp<T: Number>(x: T, low: T, high: T) -> T {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}
