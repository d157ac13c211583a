//! Operators over windows and grids of images: averages, maxima, interpolation, patches.

mod average;
mod linear;
mod maximum;
mod patch;
mod upsample;

use crate::Refusal;
use crate::build::Cx;
use crate::ops::Table;
use crate::view::View;

pub(super) use linear::{Axis, Rule, apply};

pub(crate) static TABLE: &Table = &[
    ("aclnnAdaptiveAvgPool3d", average::adaptive),
    ("aclnnAdaptiveAvgPool3dBackward", average::adaptive_backward),
    ("aclnnAdaptiveMaxPool2d", |cx| maximum::adaptive(cx, 2)),
    ("aclnnAdaptiveMaxPool2dBackward", |cx| {
        maximum::backward(cx, 2)
    }),
    ("aclnnAdaptiveMaxPool3d", |cx| maximum::adaptive(cx, 3)),
    ("aclnnAdaptiveMaxPool3dBackward", |cx| {
        maximum::backward(cx, 3)
    }),
    ("aclnnAvgPool2d", |cx| {
        average::pool(cx, &["self", "strides", "paddings", "out"], 2)
    }),
    ("aclnnAvgPool2dBackward", |cx| {
        average::pool_backward(cx, ["gradOutput", "gradInput"], 2)
    }),
    ("aclnnAvgPool3d", |cx| {
        average::pool(cx, &["self", "stride", "padding", "out"], 3)
    }),
    ("aclnnAvgPool3dBackward", |cx| {
        average::pool_backward(cx, ["gradOuput", "output"], 3)
    }),
    ("aclnnIm2col", patch::image_to_columns),
    ("aclnnIm2colBackward", patch::columns_to_image),
    ("aclnnMaxPool2dWithIndices", |cx| maximum::pool(cx, 2)),
    ("aclnnMaxPool2dWithIndicesBackward", |cx| {
        maximum::backward(cx, 2)
    }),
    ("aclnnMaxPool3dWithArgmax", |cx| maximum::pool(cx, 3)),
    ("aclnnMaxPool3dWithArgmaxBackward", |cx| {
        maximum::backward(cx, 3)
    }),
    ("aclnnMaxUnpool2d", |cx| maximum::unpool(cx, 2)),
    ("aclnnMaxUnpool2dBackward", |cx| {
        maximum::unpool_backward(cx, 2)
    }),
    ("aclnnMaxUnpool3d", |cx| maximum::unpool(cx, 3)),
    ("aclnnMaxUnpool3dBackward", |cx| {
        maximum::unpool_backward(cx, 3)
    }),
    ("aclnnUnfoldGrad", patch::unfold_backward),
    ("aclnnUpsampleBicubic2d", upsample::cubic),
    ("aclnnUpsampleBicubic2dAA", |cx| {
        upsample::smoothed(cx, true)
    }),
    ("aclnnUpsampleBicubic2dAAGrad", |cx| {
        upsample::smoothed_backward(cx, true)
    }),
    ("aclnnUpsampleBicubic2dBackward", upsample::cubic_backward),
    ("aclnnUpsampleBilinear2d", |cx| upsample::linear(cx, 2)),
    ("aclnnUpsampleBilinear2dAA", |cx| {
        upsample::smoothed(cx, false)
    }),
    ("aclnnUpsampleBilinear2dAABackward", |cx| {
        upsample::smoothed_backward(cx, false)
    }),
    ("aclnnUpsampleBilinear2dBackward", |cx| {
        upsample::linear_backward(cx, 2)
    }),
    ("aclnnUpsampleBilinear2dBackwardV2", |cx| {
        upsample::linear_backward(cx, 2)
    }),
    ("aclnnUpsampleLinear1d", |cx| upsample::linear(cx, 1)),
    ("aclnnUpsampleLinear1dBackward", |cx| {
        upsample::linear_backward(cx, 1)
    }),
    ("aclnnUpsampleNearest1d", |cx| {
        upsample::nearest(cx, &[""], false)
    }),
    ("aclnnUpsampleNearest1dBackward", |cx| {
        upsample::nearest_backward(cx, &["scales"], false)
    }),
    ("aclnnUpsampleNearest1dV2", |cx| {
        upsample::nearest(cx, &["scaleL"], false)
    }),
    ("aclnnUpsampleNearest2d", |cx| {
        upsample::nearest(cx, &["", ""], false)
    }),
    ("aclnnUpsampleNearest2dBackward", |cx| {
        upsample::nearest_backward(cx, &upsample::SCALES[1..], false)
    }),
    ("aclnnUpsampleNearest2dV2", |cx| {
        upsample::nearest(cx, &upsample::SCALES[1..], false)
    }),
    ("aclnnUpsampleNearest3d", |cx| {
        upsample::nearest(cx, &upsample::SCALES, false)
    }),
    ("aclnnUpsampleNearest3dBackward", |cx| {
        upsample::nearest_backward(cx, &upsample::SCALES, false)
    }),
    ("aclnnUpsampleNearestExact1d", |cx| {
        upsample::nearest(cx, &["scales"], true)
    }),
    ("aclnnUpsampleNearestExact1dBackward", |cx| {
        upsample::nearest_backward(cx, &["scales"], true)
    }),
    ("aclnnUpsampleNearestExact2d", |cx| {
        upsample::nearest(cx, &upsample::SCALES[1..], true)
    }),
    ("aclnnUpsampleNearestExact2dBackward", |cx| {
        upsample::nearest_backward(cx, &upsample::SCALES[1..], true)
    }),
    ("aclnnUpsampleNearestExact3d", |cx| {
        upsample::nearest(cx, &upsample::SCALES, true)
    }),
    ("aclnnUpsampleNearestExact3dBackward", |cx| {
        upsample::nearest_backward(cx, &upsample::SCALES, true)
    }),
    ("aclnnUpsampleTrilinear3d", |cx| upsample::linear(cx, 3)),
    ("aclnnUpsampleTrilinear3dBackward", |cx| {
        upsample::linear_backward(cx, 3)
    }),
];

/// Returns a parameter with one entry for all dimensions of space, or with one each.
fn sizes(cx: &Cx<'_>, param: &str, space: usize) -> Result<Vec<i64>, Refusal> {
    match cx.ints(param)? {
        &[all] => Ok(vec![all; space]),
        each if each.len() == space => Ok(each.to_vec()),
        other => Err(cx.invalid(format_args!(
            "{param} has {} entries; 1 or {space} are required",
            other.len()
        ))),
    }
}

/// Returns sizes that must lie between `least` and the greatest 32-bit integer.
fn sizes_from(cx: &Cx<'_>, param: &str, space: usize, least: i64) -> Result<Vec<usize>, Refusal> {
    let found = sizes(cx, param, space)?;
    if let Some(bad) = found
        .iter()
        .find(|&&size| size < least || size > i64::from(i32::MAX))
    {
        return Err(cx.invalid(format_args!(
            "{param} is {found:?}; {bad} must be between {least} and {}",
            i32::MAX
        )));
    }
    Ok(found.into_iter().map(|size| size as usize).collect())
}

/// Refuses images that have not the given number of dimensions of space behind channels and an optional batch. Only the batch
/// may be empty.
fn check_images(cx: &Cx<'_>, images: &View, space: usize) -> Result<(), Refusal> {
    let batch = images.rank().wrapping_sub(space + 1);
    if batch > 1 || images.dims()[batch..].contains(&0) {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; {} or {} dimensions are required, of which only the batch may be 0",
            cx.param_of(images),
            images.dims(),
            space + 1,
            space + 2
        )));
    }
    Ok(())
}

/// The windows of a pooling along each dimension of space.
#[derive(Clone, Debug)]
struct Pool {
    kernel: Vec<usize>,
    strides: Vec<usize>,
    pads: Vec<usize>,
    dilations: Vec<usize>,
}

impl Pool {
    /// Reads the windows. An empty list of strides stands for the sizes of the windows.
    fn new(
        cx: &Cx<'_>,
        [stride, padding]: [&str; 2],
        dilation: Option<&str>,
        space: usize,
    ) -> Result<Pool, Refusal> {
        let kernel = sizes_from(cx, "kernelSize", space, 1)?;
        let strides = match cx.ints(stride)? {
            [] => kernel.clone(),
            _ => sizes_from(cx, stride, space, 1)?,
        };
        let pads = sizes_from(cx, padding, space, 0)?;
        let dilations = match dilation {
            Some(dilation) => sizes_from(cx, dilation, space, 1)?,
            None => vec![1; space],
        };
        for (pad, size) in pads.iter().zip(&kernel) {
            if *pad > size / 2 {
                return Err(cx.invalid(format_args!(
                    "{padding} is {pads:?}; it must be at most half of kernelSize {kernel:?}"
                )));
            }
        }
        Ok(Pool {
            kernel,
            strides,
            pads,
            dilations,
        })
    }

    /// Returns how many windows an image has along each dimension of space.
    fn counts(&self, cx: &Cx<'_>, image: &View, ceil: bool) -> Result<Vec<usize>, Refusal> {
        let space = self.kernel.len();
        let sizes = &image.dims()[image.rank() - space..];
        let mut counts = Vec::with_capacity(space);
        for (axis, &size) in sizes.iter().enumerate() {
            let (stride, pad) = (self.strides[axis], self.pads[axis]);
            let reach = self.dilations[axis].saturating_mul(self.kernel[axis] - 1) + 1;
            let Some(free) = (size + 2 * pad).checked_sub(reach) else {
                return Err(cx.invalid(format_args!(
                    "kernelSize {:?} with dilation {:?} is larger than the padded images of {} with the shape {:?}",
                    self.kernel,
                    self.dilations,
                    cx.param_of(image),
                    image.dims()
                )));
            };
            let mut count = free / stride + 1;
            if ceil {
                count = free.div_ceil(stride) + 1;
                // A window that starts in the padding behind the image has no elements.
                if (count - 1) * stride >= size + pad {
                    count -= 1;
                }
            }
            counts.push(count);
        }
        Ok(counts)
    }
}

/// Returns the shape of images with other sizes.
fn resized(images: &View, sizes: &[usize]) -> Vec<usize> {
    let mut dims = images.dims().to_vec();
    let first = dims.len() - sizes.len();
    dims[first..].copy_from_slice(sizes);
    dims
}
