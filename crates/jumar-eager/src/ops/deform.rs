//! Deformable convolution: each tap of the filter reads the image at a position of its own, between four pixels.

use jumar_ops::sampling::corners;
use jumar_ops::view::Row;
use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::dense::{Body, Real, run};
use super::matrix::multiply;
use super::operands::{FLOATS, MergedOutput};
use super::reduction::reduce;
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnDeformableConv2d", forward),
    ("aclnnDeformableConv2dBackward", backward),
];

const COMPUTE: DataType = DataType::Float32;

/// The sizes of one call.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    batch: usize,
    channels: usize,
    image: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    /// Pixels above and left of the image.
    before: [i64; 2],
    dilation: [usize; 2],
    groups: usize,
    /// Groups of channels that share offsets.
    offset_groups: usize,
    /// Channels, height and width of the result.
    outputs: usize,
    result: [usize; 2],
}

impl Sizes {
    fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// Returns the number of pixels of a channel of the result.
    fn pixels(&self) -> usize {
        self.result[0] * self.result[1]
    }

    /// Returns the number of values that an entry of the result is a sum of.
    fn depth(&self) -> usize {
        self.channels / self.groups * self.taps()
    }

    /// Returns the position (y, x) that a tap reads for a pixel of the result, and the factor of what is read. The offsets hold
    /// the distances to the right of all groups and taps, then those downwards, then the factors. The document names them
    /// "x-y coordinate offsets and mask".
    fn position<T: Real>(
        &self,
        offsets: Row<'_, T>,
        (group, tap, pixel): (usize, usize, usize),
    ) -> ([f64; 2], f64) {
        let value = |part: usize| offsets.get(self.offset(part, group, tap, pixel)).number();
        let at = [pixel / self.result[1], pixel % self.result[1]];
        let tap = [tap / self.kernel[1], tap % self.kernel[1]];
        let base = |axis: usize| {
            let steps = at[axis] * self.stride[axis] + tap[axis] * self.dilation[axis];
            steps as f64 - self.before[axis] as f64
        };
        ([base(0) + value(1), base(1) + value(0)], value(2))
    }

    /// Returns the index of one number of the offsets of an image.
    fn offset(&self, part: usize, group: usize, tap: usize, pixel: usize) -> usize {
        ((part * self.offset_groups + group) * self.taps() + tap) * self.pixels() + pixel
    }

    fn offsets(&self) -> usize {
        3 * self.offset_groups * self.taps()
    }

    fn image_dims(&self) -> [usize; 4] {
        let [height, width] = self.image;
        [self.batch, self.channels, height, width]
    }

    fn result_dims(&self) -> [usize; 4] {
        let [height, width] = self.result;
        [self.batch, self.outputs, height, width]
    }

    fn offset_dims(&self) -> [usize; 4] {
        let [height, width] = self.result;
        [self.batch, self.offsets(), height, width]
    }

    fn filter_dims(&self) -> [usize; 4] {
        let [height, width] = self.kernel;
        [self.outputs, self.channels / self.groups, height, width]
    }

    /// Returns the shape of the image of all values that are read: a tile of the size of the filter for each pixel of the result.
    fn tiled_dims(&self) -> [usize; 4] {
        let ([height, width], kernel) = (self.result, self.kernel);
        let size = [height * kernel[0], width * kernel[1]];
        [self.batch, self.channels, size[0], size[1]]
    }

    /// Returns the shape of that image with a dimension for the tiles and one for their elements.
    fn tiles(&self) -> [usize; 6] {
        let ([height, width], kernel) = (self.result, self.kernel);
        [
            self.batch,
            self.channels,
            height,
            kernel[0],
            width,
            kernel[1],
        ]
    }
}

/// Reads the image for each tap. Inputs: the image and the offsets. Output: a row of pixels for each image, channel and tap.
struct Sample(Sizes);

impl Body for Sample {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, offsets) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let (sizes, out) = (self.0, call.output::<T>(0)?.flat());
        let (taps, pixels) = (sizes.taps(), sizes.pixels());
        let (plane, each) = (
            sizes.image[0] * sizes.image[1],
            sizes.channels / sizes.offset_groups,
        );
        let own = sizes.offsets() * pixels;
        call.workers()
            .each(sizes.batch * sizes.offset_groups, |part| {
                let (item, group) = (part / sizes.offset_groups, part % sizes.offset_groups);
                let offsets = offsets.slice(item * own, own);
                for tap in 0..taps {
                    for pixel in 0..pixels {
                        let (position, factor) = sizes.position(offsets, (group, tap, pixel));
                        for channel in group * each..(group + 1) * each {
                            let channel = item * sizes.channels + channel;
                            let image = x.slice(channel * plane, plane);
                            let sum: f64 = corners(sizes.image, position)
                                .map(|corner| corner.weight * image.get(corner.index).number())
                                .sum();
                            out.set((channel * taps + tap) * pixels + pixel, T::of(sum * factor));
                        }
                    }
                }
            });
        Ok(())
    }
}

/// Computes the gradients of [`Sample`]. Inputs: the gradient of its output, the image and the offsets. Outputs: the gradients of
/// image and offsets.
struct SampleBackward(Sizes);

impl Body for SampleBackward {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (gradient, x, offsets) = (
            call.input::<T>(0)?.flat(),
            call.input::<T>(1)?.flat(),
            call.input::<T>(2)?.flat(),
        );
        let (to_x, to_offsets) = (call.output::<T>(0)?.flat(), call.output::<T>(1)?.flat());
        to_x.fill(T::of(0.0));
        let sizes = self.0;
        let (taps, pixels) = (sizes.taps(), sizes.pixels());
        let (plane, each) = (
            sizes.image[0] * sizes.image[1],
            sizes.channels / sizes.offset_groups,
        );
        let own = sizes.offsets() * pixels;
        // A group of channels has pixels and offsets of its own, so that no two threads add to the same.
        call.workers()
            .each(sizes.batch * sizes.offset_groups, |part| {
                let (item, group) = (part / sizes.offset_groups, part % sizes.offset_groups);
                let offsets = offsets.slice(item * own, own);
                for tap in 0..taps {
                    for pixel in 0..pixels {
                        let (position, factor) = sizes.position(offsets, (group, tap, pixel));
                        // By the distances to the right and downwards, and by the factor.
                        let mut sums = [0.0; 3];
                        for channel in group * each..(group + 1) * each {
                            let channel = item * sizes.channels + channel;
                            let by = gradient
                                .get((channel * taps + tap) * pixels + pixel)
                                .number();
                            for corner in corners(sizes.image, position) {
                                let at = channel * plane + corner.index;
                                let value = x.get(at).number() * by;
                                let [down, right] = corner.slopes;
                                sums[0] += value * factor * right;
                                sums[1] += value * factor * down;
                                sums[2] += value * corner.weight;
                                let sum = to_x.get(at).number() + by * factor * corner.weight;
                                to_x.set(at, T::of(sum));
                            }
                        }
                        for (part, sum) in sums.into_iter().enumerate() {
                            let at = item * own + sizes.offset(part, group, tap, pixel);
                            to_offsets.set(at, T::of(sum));
                        }
                    }
                }
            });
        Ok(())
    }
}

/// Returns numbers of an array that has `N` of them, all at least `least`.
fn numbers<const N: usize>(cx: &Cx<'_>, param: &str, least: i64) -> Result<[i64; N], Refusal> {
    let given = cx.ints(param)?;
    match <[i64; N]>::try_from(given) {
        Ok(numbers) if numbers.iter().all(|own| (least..=1 << 31).contains(own)) => Ok(numbers),
        _ => Err(cx.invalid(format_args!(
            "{param} is {given:?}; it must have {N} numbers of at least {least}"
        ))),
    }
}

/// Returns the numbers of height and width of an array for all four dimensions.
fn spatial(cx: &Cx<'_>, param: &str) -> Result<[usize; 2], Refusal> {
    match numbers::<4>(cx, param, 1)? {
        [1, 1, height, width] => Ok([height as usize, width as usize]),
        other => Err(cx.invalid(format_args!(
            "{param} is {other:?}; its first two numbers, of the batch and the channels, must be 1"
        ))),
    }
}

/// Reads the sizes, and checks the operands that both directions have.
fn sizes(cx: &Cx<'_>, x: &View) -> Result<Sizes, Refusal> {
    let (filter, offsets) = (cx.tensor("weight")?, cx.tensor("offset")?);
    cx.check_types(x, FLOATS)?;
    for view in [&filter, &offsets] {
        cx.check_dtype(view, x.dtype())?;
    }
    if !cx.flag("modulated")? {
        return Err(cx.invalid("modulated is false; it must be true"));
    }
    let kernel = numbers::<2>(cx, "kernelSize", 1)?.map(|size| size as usize);
    let (stride, dilation) = (spatial(cx, "stride")?, spatial(cx, "dilation")?);
    let padding = numbers::<4>(cx, "padding", 0)?;
    let count = |param: &str| {
        let value = cx.int(param)?;
        match usize::try_from(value) {
            Ok(own @ 1..) => Ok(own),
            _ => Err(cx.invalid(format_args!("{param} is {value}; it must be positive"))),
        }
    };
    let (groups, offset_groups) = (count("groups")?, count("deformableGroups")?);
    let (&[batch, channels, height, width], &[outputs, ..]) = (x.dims(), filter.dims()) else {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?} and weight {:?}; 4 dimensions of both are required",
            cx.param_of(x),
            x.dims(),
            filter.dims()
        )));
    };
    if [channels, outputs]
        .iter()
        .any(|own| !own.is_multiple_of(groups))
        || !channels.is_multiple_of(offset_groups)
    {
        return Err(cx.invalid(format_args!(
            "groups is {groups} and deformableGroups {offset_groups}; they must divide the {channels} channels of {}, and groups the {outputs} of the result",
            cx.param_of(x)
        )));
    }
    let taps = kernel[0].saturating_mul(kernel[1]);
    if taps > 2048 || taps * (channels / groups) > 65_535 {
        return Err(cx.invalid(format_args!(
            "kernelSize is {kernel:?} and a group has {} channels; a filter must have at most 2048 taps, and 65535 with those of its channels",
            channels / groups
        )));
    }
    let mut result = [0; 2];
    for (axis, size) in [height, width].into_iter().enumerate() {
        let padded = size + (padding[2 * axis] + padding[2 * axis + 1]) as usize;
        let reach = (kernel[axis] - 1) * dilation[axis] + 1;
        if padded < reach {
            return Err(cx.invalid(format_args!(
                "the padded image has the size {padded} in a dimension where the filter reaches over {reach}"
            )));
        }
        result[axis] = (padded - reach) / stride[axis] + 1;
    }
    let sizes = Sizes {
        batch,
        channels,
        image: [height, width],
        kernel,
        stride,
        before: [padding[0], padding[2]],
        dilation,
        groups,
        offset_groups,
        outputs,
        result,
    };
    cx.check_dims(&filter, &sizes.filter_dims())?;
    cx.check_dims(&offsets, &sizes.offset_dims())?;
    if x.is_empty() || filter.is_empty() {
        return Err(cx.invalid(format_args!(
            "{} and weight must have elements",
            cx.param_of(x)
        )));
    }
    Ok(sizes)
}

/// Checks tensors that have the type of another.
fn check(cx: &Cx<'_>, param: &str, like: &View, dims: &[usize]) -> Result<View, Refusal> {
    let view = cx.tensor(param)?;
    cx.check_dtype(&view, like.dtype())?;
    cx.check_dims(&view, dims)?;
    Ok(view)
}

fn forward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("x")?;
    let sizes = sizes(cx, &x)?;
    let (filter, offsets) = (cx.tensor("weight")?, cx.tensor("offset")?);
    let out = check(cx, "out", &x, &sizes.result_dims())?;
    let bias = match cx.optional("biasOptional")? {
        Some(_) => Some(check(cx, "biasOptional", &x, &[sizes.outputs])?),
        None => None,
    };
    let (pixels, depth) = (sizes.pixels(), sizes.depth());
    let samples = cx.temporary(COMPUTE, &[sizes.batch, sizes.groups, depth, pixels])?;
    run(
        cx,
        COMPUTE,
        Sample(sizes),
        &[(x, COMPUTE), (offsets, COMPUTE)],
        &[(samples, COMPUTE)],
    )?;
    if cx.optional("deformOutOptional")?.is_some() {
        let tiled = check(cx, "deformOutOptional", &x, &sizes.tiled_dims())?;
        let [batch, channels, height, rows, width, columns] = sizes.tiles();
        let planes = cx.reshaped(samples, &[batch, channels, rows, columns, height, width])?;
        let target = MergedOutput::new(cx, tiled, &sizes.tiles())?;
        cx.copy(planes.permute(&[0, 1, 4, 2, 5, 3]), target.rows)?;
        target.finish(cx)?;
    }
    let each = sizes.outputs / sizes.groups;
    let filter = cx.cast(filter, COMPUTE)?;
    let filter = cx.reshaped(filter, &[1, sizes.groups, each, depth])?;
    let sums = cx.temporary(COMPUTE, &[sizes.batch, sizes.groups, each, pixels])?;
    multiply(cx, filter, samples, sums)?;
    let sums = cx.reshaped(sums, &sizes.result_dims())?;
    match bias {
        Some(bias) => {
            let bias = bias.unsqueeze(1).unsqueeze(1);
            let operands = [Operand::Tensor(sums), Operand::Tensor(bias)];
            cx.map(F::Add, COMPUTE, &operands, out)
        }
        None => cx.copy(sums, out),
    }
}

fn backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("input")?;
    let sizes = sizes(cx, &x)?;
    let (filter, offsets) = (cx.tensor("weight")?, cx.tensor("offset")?);
    let gradient = check(cx, "gradOutput", &x, &sizes.result_dims())?;
    let tiled = check(cx, "offsetOut", &x, &sizes.tiled_dims())?;
    let to_x = check(cx, "gradInput", &x, &sizes.image_dims())?;
    let to_filter = check(cx, "gradWeight", &x, &sizes.filter_dims())?;
    let to_offsets = check(cx, "gradOffset", &x, &sizes.offset_dims())?;
    let to_bias = check(cx, "gradBias", &x, &[sizes.outputs])?;
    let (batch, groups, each) = (sizes.batch, sizes.groups, sizes.outputs / sizes.groups);
    let (pixels, depth) = (sizes.pixels(), sizes.depth());
    reduce(cx, "ReduceSum", gradient, &[0, 2, 3], false, to_bias)?;
    let gradient = cx.cast(gradient, COMPUTE)?;
    let by_group = cx.reshaped(gradient, &[batch, groups, each, pixels])?;
    // The gradient of what each tap read.
    let filter = cx.cast(filter, COMPUTE)?;
    let filter = cx.reshaped(filter, &[1, groups, each, depth])?;
    let samples = cx.temporary(COMPUTE, &[batch, groups, depth, pixels])?;
    multiply(cx, filter.transpose(2, 3), by_group, samples)?;
    run(
        cx,
        COMPUTE,
        SampleBackward(sizes),
        &[(samples, COMPUTE), (x, COMPUTE), (offsets, COMPUTE)],
        &[(to_x, COMPUTE), (to_offsets, COMPUTE)],
    )?;
    // That of the filter is the product of the gradient and of what each tap read, over all images and pixels.
    let tiled = cx.cast(tiled, COMPUTE)?;
    let tiled = cx.reshaped(tiled, &sizes.tiles())?;
    let read = cx.reshaped(
        tiled.permute(&[1, 3, 5, 0, 2, 4]),
        &[groups, depth, batch * pixels],
    )?;
    let by_group = cx.reshaped(
        by_group.permute(&[1, 2, 0, 3]),
        &[groups, each, batch * pixels],
    )?;
    let products = cx.temporary(COMPUTE, &[groups, each, depth])?;
    multiply(cx, by_group, read.transpose(1, 2), products)?;
    let products = cx.reshaped(products, &sizes.filter_dims())?;
    cx.copy(products, to_filter)
}
