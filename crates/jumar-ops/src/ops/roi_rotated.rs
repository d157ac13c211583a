//! Regions of images that are turned, brought to one size by their mean; and the gradient. The definition is MMCV's.

use super::roi::{MOST_SAMPLES, around, image_dims, which};
use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::operator::OUTPUT_Y;
use crate::view::Row;
use crate::{
    Aliasing, AttrDef, AttrKind, InferCx, InputDef, OpError, Operator, TensorType, Types, UNKNOWN,
    attr::AttrReader,
};

const ATTRS: [AttrDef; 6] = [
    AttrDef::required("pooled_h", AttrKind::Int),
    AttrDef::required("pooled_w", AttrKind::Int),
    AttrDef::float("spatial_scale", 1.0),
    AttrDef::int("sampling_ratio", 0),
    AttrDef::bool("aligned", true),
    AttrDef::bool("clockwise", false),
];

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.RoiAlignRotated",
        onnx: &[],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("rois", Types::FLOAT),
        ],
        outputs: OUTPUT_Y,
        attrs: &ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            cx.same_types([0, 1])?;
            let (image, count) = (cx.input(0)?, regions(cx)?);
            let size = pooled(cx.attrs())?;
            if image.rank().is_some_and(|rank| rank != 4) {
                return Err(OpError::invalid(format!(
                    "the image {image} must have 4 dimensions"
                )));
            }
            let channels = image.shape.get(1).copied().unwrap_or(UNKNOWN);
            Ok(vec![TensorType::new(
                image.dtype,
                [count, channels, size[0], size[1]],
            )])
        },
        prepare: |cx| {
            let image = cx.shape(0)?;
            let image = [image[0], image[1], image[2], image[3]];
            let turned = RotatedRegions::new(cx.attrs(), image, cx.shape(1)?[0])?;
            generic_kernel(cx, Forward(turned), &[0, 1], &[0])
        },
    },
    &Operator {
        name: "jumar.RoiAlignRotatedGrad",
        onnx: &[],
        inputs: &[
            InputDef::required("grad", Types::FLOAT),
            InputDef::required("rois", Types::FLOAT),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            ATTRS[0],
            ATTRS[1],
            ATTRS[2],
            ATTRS[3],
            ATTRS[4],
            ATTRS[5],
            AttrDef::required("shape", AttrKind::Ints),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            cx.same_types([0, 1])?;
            let (grad, count) = (cx.input(0)?, regions(cx)?);
            let (size, image) = (pooled(cx.attrs())?, image_dims(cx.attrs())?);
            let wanted = [count, image[1], size[0], size[1]];
            let fits = grad.shape.len() == 4
                && grad
                    .shape
                    .iter()
                    .zip(wanted)
                    .all(|(&own, wanted)| own < 0 || wanted < 0 || own == wanted);
            if grad.rank().is_some() && !fits {
                return Err(OpError::invalid(format!(
                    "the gradient is {grad}; the shape {wanted:?} is required"
                )));
            }
            Ok(vec![TensorType::new(grad.dtype, image)])
        },
        prepare: |cx| {
            let image = image_dims(cx.attrs())?.map(|dim| dim as usize);
            let turned = RotatedRegions::new(cx.attrs(), image, cx.shape(1)?[0])?;
            generic_kernel(cx, Backward(turned), &[0, 1], &[0])
        },
    },
];

/// Returns the number of regions.
fn regions(cx: &InferCx<'_>) -> Result<i64, OpError> {
    let rois = cx.input(1)?;
    match rois.shape[..] {
        _ if rois.rank().is_none() => Ok(UNKNOWN),
        [count, columns] if columns < 0 || columns == 6 => Ok(count),
        _ => Err(OpError::invalid(format!(
            "the regions {rois} must have 6 numbers each"
        ))),
    }
}

fn pooled(attrs: AttrReader<'_>) -> Result<[i64; 2], OpError> {
    let (size, samples) = (
        [attrs.int("pooled_h")?, attrs.int("pooled_w")?],
        attrs.int("sampling_ratio")?,
    );
    if size.iter().any(|size| !(1..1 << 31).contains(size)) {
        return Err(OpError::invalid(format!(
            "pooled_h and pooled_w are {size:?}; they must be 1 or more"
        )));
    }
    if !(0..=MOST_SAMPLES as i64).contains(&samples) {
        return Err(OpError::invalid(format!(
            "sampling_ratio is {samples}; it must be 0 to {MOST_SAMPLES}"
        )));
    }
    Ok(size)
}

/// The sizes of a node.
struct RotatedRegions {
    image: [usize; 4],
    rois: usize,
    size: [usize; 2],
    samples: usize,
    scale: f64,
    aligned: bool,
    clockwise: bool,
}

impl RotatedRegions {
    fn new(
        attrs: AttrReader<'_>,
        image: [usize; 4],
        rois: usize,
    ) -> Result<RotatedRegions, OpError> {
        Ok(RotatedRegions {
            image,
            rois,
            size: pooled(attrs)?.map(|size| size as usize),
            samples: attrs.int("sampling_ratio")? as usize,
            scale: attrs.float("spatial_scale")?.into(),
            aligned: attrs.bool("aligned")?,
            clockwise: attrs.bool("clockwise")?,
        })
    }

    /// Calls `visit` for each pixel that counts for a cell: the first element of the image's channel 0, the cell's index in a
    /// channel of the result, the pixel, and its share.
    fn walk<W: Working>(
        &self,
        rois: Row<'_, W>,
        mut visit: impl FnMut([usize; 2], usize, usize, W),
    ) -> Result<(), OpError> {
        let [images, _, height, width] = self.image;
        let [rows, columns] = self.size;
        for roi in 0..self.rois {
            let at = |index: usize| rois.get(roi * 6 + index);
            let batch = which(at(0).f64() as i64, images)?;
            let (scale, shift) = (
                W::of(self.scale),
                W::of(if self.aligned { 0.5 } else { 0.0 }),
            );
            let (middle_x, middle_y) = (at(1) * scale - shift, at(2) * scale - shift);
            let (mut wide, mut high) = (at(3) * scale, at(4) * scale);
            if !self.aligned {
                (wide, high) = (wide.most(W::one()), high.most(W::one()));
            }
            let angle = at(5).f64();
            let (sin, cos) = (if self.clockwise { -angle } else { angle }).sin_cos();
            let (sin, cos) = (W::of(sin), W::of(cos));
            let (bin_h, bin_w) = (high / W::of(rows as f64), wide / W::of(columns as f64));
            let samples = |size: W| match self.samples {
                0 => size.f64().ceil().clamp(0.0, MOST_SAMPLES as f64) as usize,
                samples => samples,
            };
            let (down, over) = (samples(bin_h), samples(bin_w));
            let share = W::one() / W::of(Ord::max(down * over, 1) as f64);
            // Along one axis of the region, from its middle.
            let along = |cell: usize, step: usize, count: usize, bin: W, size: W| {
                W::of(cell as f64) * bin + W::of(step as f64 + 0.5) * bin / W::of(count as f64)
                    - size * W::of(0.5)
            };
            for cell in 0..rows * columns {
                for i in 0..down {
                    let y = along(cell / columns, i, down, bin_h, high);
                    for j in 0..over {
                        let x = along(cell % columns, j, over, bin_w, wide);
                        let down = y * cos - x * sin + middle_y;
                        let right = y * sin + x * cos + middle_x;
                        for &(pixel, weight) in
                            around(down, right, [height, width]).iter().flatten()
                        {
                            visit([batch, roi], cell, pixel, weight * share);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the distances of two channels in the image and in the result.
    fn planes(&self) -> [usize; 2] {
        [self.image[2] * self.image[3], self.size[0] * self.size[1]]
    }
}

struct Forward(RotatedRegions);

impl Algorithm for Forward {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (image, rois, out) = (io.input(0)?, io.input(1)?, io.output(0)?);
        let ([plane, cells], channels) = (self.0.planes(), self.0.image[1]);
        out.fill(W::zero());
        self.0.walk(rois, |[batch, roi], cell, pixel, share| {
            for channel in 0..channels {
                let at = (roi * channels + channel) * cells + cell;
                let seen = image.get((batch * channels + channel) * plane + pixel);
                out.set(at, out.get(at) + seen * share);
            }
        })
    }
}

struct Backward(RotatedRegions);

impl Algorithm for Backward {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (grad, rois, out) = (io.input(0)?, io.input(1)?, io.output(0)?);
        let ([plane, cells], channels) = (self.0.planes(), self.0.image[1]);
        out.fill(W::zero());
        self.0.walk(rois, |[batch, roi], cell, pixel, share| {
            for channel in 0..channels {
                let at = (batch * channels + channel) * plane + pixel;
                let own = grad.get((roi * channels + channel) * cells + cell);
                out.set(at, out.get(at) + own * share);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn regions_that_are_not_there_or_do_not_fit_are_refused() {
        let attrs = || none().with("pooled_h", 2).with("pooled_w", 2);
        let image = noise(&[1, 1, 4, 4], 1);
        let region = f32s(&[1, 6], &[1.0, 2.0, 2.0, 2.0, 2.0, 0.5]);
        let inputs = [image.clone(), region];
        refuse("jumar.RoiAlignRotated", &inputs, attrs(), "image 1 of 1");
        let inputs = [image, noise(&[1, 5], 2)];
        refuse("jumar.RoiAlignRotated", &inputs, attrs(), "6 numbers");
        refuse(
            "jumar.RoiAlignRotatedGrad",
            &[noise(&[1, 1, 2, 2], 1), noise(&[1, 6], 2)],
            attrs().with("shape", vec![1, 2, 4, 4]),
            "[1, 2, 2, 2] is required",
        );
    }
}
