//! Regions of images brought to one size, by mean or by maximum; and the way back from pooled maxima. The attributes
//! are ONNX's.

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::kernels::space::{entries, window_defs};
use crate::onnx::{LATEST, alike, attrs_alike};
use crate::operator::OUTPUT_Y;
use crate::view::Row;
use crate::{
    Aliasing, AttrDef, AttrKind, InferCx, InputDef, OnnxForm, OpError, Operator, TensorType, Types,
    UNKNOWN, attr::AttrReader,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.RoiAlign",
        onnx: &[OnnxForm::new("RoiAlign", 10, LATEST, |builder, node| {
            let mut attrs = attrs_alike(node, "jumar.RoiAlign")?;
            if node.opset < 16 {
                attrs.set("coordinate_transformation_mode", "output_half_pixel");
            }
            Ok(vec![builder.node(
                "jumar.RoiAlign",
                node.inputs(),
                attrs,
            )?])
        })],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("rois", Types::FLOAT),
            InputDef::required("batch_indices", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::str("coordinate_transformation_mode", "half_pixel"),
            AttrDef::str("mode", "avg"),
            AttrDef::int("output_height", 1),
            AttrDef::int("output_width", 1),
            AttrDef::int("sampling_ratio", 0),
            AttrDef::float("spatial_scale", 1.0),
            ANY_SIZE,
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            cx.same_types([0, 1])?;
            let mode = cx.attrs().str("mode")?;
            if !matches!(mode, "avg" | "max") {
                return Err(OpError::invalid(format!(
                    "mode is {mode:?}; it must be avg or max"
                )));
            }
            if !matches!(
                cx.attrs().str("coordinate_transformation_mode")?,
                "half_pixel" | "output_half_pixel"
            ) {
                return Err(OpError::invalid(
                    "coordinate_transformation_mode has to be half_pixel or output_half_pixel",
                ));
            }
            if !(0..=MOST_SAMPLES as i64).contains(&cx.attrs().int("sampling_ratio")?) {
                return Err(OpError::invalid(format!(
                    "sampling_ratio has to be 0 to {MOST_SAMPLES}"
                )));
            }
            infer(
                cx,
                [
                    cx.attrs().int("output_height")?,
                    cx.attrs().int("output_width")?,
                ],
                4,
            )
        },
        prepare: |cx| {
            let image = cx.shape(0)?;
            let align = Align {
                image: [image[0], image[1], image[2], image[3]],
                rois: cx.shape(1)?[0],
                size: [
                    cx.attrs().int("output_height")? as usize,
                    cx.attrs().int("output_width")? as usize,
                ],
                samples: cx.attrs().int("sampling_ratio")? as usize,
                scale: cx.attrs().float("spatial_scale")?.into(),
                mean: cx.attrs().str("mode")? == "avg",
                half: cx.attrs().str("coordinate_transformation_mode")? == "half_pixel",
                any_size: cx.attrs().bool("any_size")?,
            };
            generic_kernel(cx, align, &[0, 1], &[0])
        },
    },
    // The regions have the number of their image first.
    &Operator {
        name: "jumar.RoiAlignGrad",
        onnx: &[],
        inputs: &[
            InputDef::required("grad", Types::FLOAT),
            InputDef::required("rois", Types::FLOAT),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::required("shape", AttrKind::Ints),
            AttrDef::required("output_height", AttrKind::Int),
            AttrDef::required("output_width", AttrKind::Int),
            AttrDef::int("sampling_ratio", 0),
            AttrDef::float("spatial_scale", 1.0),
            AttrDef::bool("half_pixel", false),
            ANY_SIZE,
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            cx.same_types([0, 1])?;
            let attrs = cx.attrs();
            let (grad, shape) = (cx.input(0)?, image_dims(attrs)?);
            if !(0..=MOST_SAMPLES as i64).contains(&attrs.int("sampling_ratio")?) {
                return Err(OpError::invalid(format!(
                    "sampling_ratio has to be 0 to {MOST_SAMPLES}"
                )));
            }
            let rois = cx.input(1)?;
            let count = match rois.shape[..] {
                _ if rois.rank().is_none() => UNKNOWN,
                [count, columns] if columns < 0 || columns == 5 => count,
                _ => {
                    return Err(OpError::invalid(format!(
                        "the regions {rois} have to have 5 numbers each"
                    )));
                }
            };
            let wanted = [
                count,
                shape[1],
                attrs.int("output_height")?,
                attrs.int("output_width")?,
            ];
            let fits = grad.shape.len() == 4
                && grad
                    .shape
                    .iter()
                    .zip(wanted)
                    .all(|(&own, wanted)| own < 0 || wanted < 0 || own == wanted);
            if grad.rank().is_some() && (!fits || wanted[2] < 1 || wanted[3] < 1) {
                return Err(OpError::invalid(format!(
                    "the gradient is {grad}; the shape {wanted:?} is required"
                )));
            }
            Ok(vec![TensorType::new(grad.dtype, shape)])
        },
        prepare: |cx| {
            let attrs = cx.attrs();
            let align = Align {
                image: image_dims(attrs)?.map(|dim| dim as usize),
                rois: cx.shape(1)?[0],
                size: [
                    attrs.int("output_height")? as usize,
                    attrs.int("output_width")? as usize,
                ],
                samples: attrs.int("sampling_ratio")? as usize,
                scale: attrs.float("spatial_scale")?.into(),
                mean: true,
                half: attrs.bool("half_pixel")?,
                any_size: attrs.bool("any_size")?,
            };
            generic_kernel(cx, AlignGradient(align), &[0, 1], &[0])
        },
    },
    &Operator {
        name: "jumar.MaxRoiPool",
        onnx: &[OnnxForm::new("MaxRoiPool", 1, LATEST, |builder, node| {
            alike(builder, node, "jumar.MaxRoiPool")
        })],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("rois", Types::FLOAT),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::ints("pooled_shape", &[]),
            AttrDef::float("spatial_scale", 1.0),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            cx.same_types([0, 1])?;
            infer(cx, pooled(cx.attrs())?, 5)
        },
        prepare: |cx| {
            let image = cx.shape(0)?;
            let pool = Pool {
                image: [image[0], image[1], image[2], image[3]],
                rois: cx.shape(1)?[0],
                size: pooled(cx.attrs())?.map(|size| size as usize),
                scale: cx.attrs().float("spatial_scale")?.into(),
            };
            generic_kernel(cx, pool, &[0, 1], &[0])
        },
    },
    &Operator {
        name: "jumar.MaxUnpool",
        onnx: &[OnnxForm::new("MaxUnpool", 9, LATEST, |builder, node| {
            alike(builder, node, "jumar.MaxUnpool")
        })],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("indices", Types::INDEX),
            InputDef::optional_constant("output_shape", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::ints("kernel_shape", &[]),
            window_defs()[0],
            window_defs()[1],
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: infer_unpool,
        prepare: |cx| {
            if cx.shape(0)? != cx.shape(1)? {
                return Err(OpError::invalid(
                    "indices have to have the shape of the input",
                ));
            }
            // Indices count elements of what was pooled, which is smaller than an output shape that was asked for.
            let pooled = infer_size(cx.infer())?.unwrap_or_default();
            let out: Vec<i64> = cx.output_shape(0)?.iter().map(|&dim| dim as i64).collect();
            let inner = |shape: &[i64]| shape.get(2..).unwrap_or_default().to_vec();
            generic_kernel(
                cx,
                Unpool {
                    from: inner(&pooled),
                    to: inner(&out),
                },
                &[0],
                &[0],
            )
        },
    },
];

/// Whether regions of less than a pixel stay as small as they are where pixels are points. Otherwise they become a pixel wide or high.
const ANY_SIZE: AttrDef = AttrDef::bool("any_size", false);

/// Samples along one side of an output pixel: a region may be as large as it likes, and still has to end.
pub(super) const MOST_SAMPLES: usize = 4096;

/// Reads the shape of an image of which a gradient is computed.
pub(super) fn image_dims(attrs: AttrReader<'_>) -> Result<[i64; 4], OpError> {
    let shape = attrs.ints("shape")?;
    match *shape {
        [n, c, h, w] if [n, c, h, w].iter().all(|dim| (1..1 << 31).contains(dim)) => {
            Ok([n, c, h, w])
        }
        _ => Err(OpError::invalid(format!(
            "the shape of the image is {shape:?}; 4 positive numbers are required"
        ))),
    }
}

fn pooled(attrs: AttrReader<'_>) -> Result<[i64; 2], OpError> {
    match attrs.ints("pooled_shape")? {
        &[height, width] => Ok([height, width]),
        list => Err(OpError::invalid(format!(
            "pooled_shape is {list:?}; it must have 2 entries"
        ))),
    }
}

fn infer(cx: &InferCx<'_>, size: [i64; 2], columns: i64) -> Result<Vec<TensorType>, OpError> {
    let (image, rois) = (cx.input(0)?, cx.input(1)?);
    if size.iter().any(|size| !(1..1 << 31).contains(size)) {
        return Err(OpError::invalid(format!(
            "the output's size is {size:?}; it must be 1 or more"
        )));
    }
    if image.rank().is_some_and(|rank| rank != 4) {
        return Err(OpError::invalid(format!(
            "the image {image} has to have 4 dimensions"
        )));
    }
    if rois.rank().is_some()
        && !matches!(rois.shape[..], [_, found] if found < 0 || found == columns)
    {
        return Err(OpError::invalid(format!(
            "the regions {rois} have to have {columns} numbers each"
        )));
    }
    let count = rois
        .shape
        .first()
        .copied()
        .filter(|&count| count >= 0)
        .unwrap_or(UNKNOWN);
    if columns == 4 && cx.input(2)?.rank().is_some() {
        let indices = cx.input(2)?;
        if !matches!(indices.shape[..], [found] if found < 0 || count < 0 || found == count) {
            return Err(OpError::invalid(format!(
                "the batch indices are {indices}, and there are {count} regions"
            )));
        }
    }
    let channels = image.shape.get(1).copied().unwrap_or(UNKNOWN);
    Ok(vec![TensorType::new(
        image.dtype,
        [count, channels, size[0], size[1]],
    )])
}

pub(super) fn which(batch: i64, images: usize) -> Result<usize, OpError> {
    usize::try_from(batch)
        .ok()
        .filter(|&batch| batch < images)
        .ok_or_else(|| OpError::data(format!("a region names the image {batch} of {images}")))
}

struct Align {
    image: [usize; 4],
    rois: usize,
    size: [usize; 2],
    samples: usize,
    scale: f64,
    mean: bool,
    half: bool,
    any_size: bool,
}

/// The four pixels around a position, with their weights; none where it lies outside.
pub(super) fn around<W: Working>(
    y: W,
    x: W,
    [height, width]: [usize; 2],
) -> Option<[(usize, W); 4]> {
    let outside = |at: f64, len: usize| at < -1.0 || at > len as f64;
    if outside(y.f64(), height) || outside(x.f64(), width) {
        return None;
    }
    let along = |at: W, len: usize| {
        let at = at.most(W::zero());
        let low = at.floor().f64() as usize;
        if low + 1 >= len {
            (len - 1, len - 1, W::zero())
        } else {
            (low, low + 1, at - W::of(low as f64))
        }
    };
    let ((top, bottom, down), (left, right, over)) = (along(y, height), along(x, width));
    let (up, back) = (W::one() - down, W::one() - over);
    Some([
        (top * width + left, up * back),
        (top * width + right, up * over),
        (bottom * width + left, down * back),
        (bottom * width + right, down * over),
    ])
}

/// A region: where it begins, and the size of its cells and the number of their samples along both axes.
struct Region<W> {
    top: W,
    left: W,
    cell: [W; 2],
    samples: [usize; 2],
}

impl Align {
    /// Reads the four coordinates of a region.
    fn region<W: Working>(&self, coordinate: impl Fn(usize) -> W) -> Region<W> {
        let [rows, columns] = self.size;
        let (scale, shift) = (W::of(self.scale), W::of(if self.half { 0.5 } else { 0.0 }));
        let [left, top, right, bottom] = std::array::from_fn(|at| coordinate(at) * scale - shift);
        let (mut wide, mut high) = (right - left, bottom - top);
        if !self.half && !self.any_size {
            (wide, high) = (wide.most(W::one()), high.most(W::one()));
        }
        let cell = [high / W::of(rows as f64), wide / W::of(columns as f64)];
        let samples = cell.map(|size| {
            if self.samples > 0 {
                self.samples
            } else {
                size.f64().ceil().clamp(0.0, MOST_SAMPLES as f64) as usize
            }
        });
        Region {
            top,
            left,
            cell,
            samples,
        }
    }
}

/// The gradient of the mean by the image.
struct AlignGradient(Align);

impl Algorithm for AlignGradient {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (grad, rois, out) = (io.input(0)?, io.input(1)?, io.output(0)?);
        let [images, channels, height, width] = self.0.image;
        let [rows, columns] = self.0.size;
        let plane = height * width;
        out.fill(W::zero());
        for roi in 0..self.0.rois {
            let batch = which(rois.get(roi * 5).f64() as i64, images)?;
            let region = self.0.region(|at| rois.get(roi * 5 + 1 + at));
            let [down, over] = region.samples;
            let share = W::one() / W::of(Ord::max(down * over, 1) as f64);
            for cell in 0..rows * columns {
                for sample in 0..down * over {
                    let at = |start: W, cell: usize, sample: usize, axis: usize| {
                        let size = region.cell[axis];
                        let part = W::of(sample as f64 + 0.5) * size;
                        start
                            + W::of(cell as f64) * size
                            + part / W::of(region.samples[axis] as f64)
                    };
                    let y = at(region.top, cell / columns, sample / over, 0);
                    let x = at(region.left, cell % columns, sample % over, 1);
                    for &(pixel, weight) in around(y, x, [height, width]).iter().flatten() {
                        for channel in 0..channels {
                            let to = (batch * channels + channel) * plane + pixel;
                            let from = (roi * channels + channel) * rows * columns + cell;
                            out.set(to, out.get(to) + grad.get(from) * weight * share);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Algorithm for Align {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (image, rois, out) = (io.input(0)?, io.input(1)?, io.output(0)?);
        let batches = io.ints(2)?;
        let [images, channels, height, width] = self.image;
        let [rows, columns] = self.size;
        let plane = height * width;
        for roi in 0..self.rois {
            let batch = which(batches.get(roi), images)?;
            let Region {
                top,
                left,
                cell: [bin_h, bin_w],
                samples: [down, over],
            } = self.region(|at| rois.get(roi * 4 + at));
            for channel in 0..channels {
                let seen = image.slice((batch * channels + channel) * plane, plane);
                for row in 0..rows {
                    for column in 0..columns {
                        let (mut sum, mut most, mut first) = (W::zero(), W::zero(), true);
                        for i in 0..down {
                            let part = W::of(i as f64 + 0.5) * bin_h / W::of(down as f64);
                            let y = top + W::of(row as f64) * bin_h + part;
                            for j in 0..over {
                                let part = W::of(j as f64 + 0.5) * bin_w / W::of(over as f64);
                                let x = left + W::of(column as f64) * bin_w + part;
                                let (mut value, mut corner) = (W::zero(), W::zero());
                                for (number, &(at, weight)) in
                                    around(y, x, [height, width]).iter().flatten().enumerate()
                                {
                                    let one = seen.get(at) * weight;
                                    value += one;
                                    corner = if number == 0 { one } else { corner.most(one) };
                                }
                                sum += value;
                                // The definition's maximum is over the weighted corners.
                                most = if first { corner } else { most.most(corner) };
                                first = false;
                            }
                        }
                        let count = Ord::max(down * over, 1) as f64;
                        let at = ((roi * channels + channel) * rows + row) * columns + column;
                        out.set(at, if self.mean { sum / W::of(count) } else { most });
                    }
                }
            }
        }
        Ok(())
    }
}

struct Pool {
    image: [usize; 4],
    rois: usize,
    size: [usize; 2],
    scale: f64,
}

impl Algorithm for Pool {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (image, rois, out) = (io.input(0)?, io.input(1)?, io.output(0)?);
        let [images, channels, height, width] = self.image;
        let [rows, columns] = self.size;
        let plane = height * width;
        for roi in 0..self.rois {
            let numbers: Row<'_, W> = rois.slice(roi * 5, 5);
            let batch = which(numbers.get(0).f64() as i64, images)?;
            let at = |index: usize| (numbers.get(index).f64() * self.scale).round();
            let (left, top) = (at(1), at(2));
            let (wide, high) = ((at(3) - left + 1.0).max(1.0), (at(4) - top + 1.0).max(1.0));
            for channel in 0..channels {
                let seen = image.slice((batch * channels + channel) * plane, plane);
                for row in 0..rows {
                    for column in 0..columns {
                        let range = |at: usize, count: usize, size: f64, start: f64, len: usize| {
                            let bin = size / count as f64;
                            let low = (at as f64 * bin).floor() + start;
                            let high = ((at + 1) as f64 * bin).ceil() + start;
                            (
                                low.clamp(0.0, len as f64) as usize,
                                high.clamp(0.0, len as f64) as usize,
                            )
                        };
                        let (y0, y1) = range(row, rows, high, top, height);
                        let (x0, x1) = range(column, columns, wide, left, width);
                        let mut most = if y1 <= y0 || x1 <= x0 {
                            W::zero()
                        } else {
                            W::LOWEST
                        };
                        for y in y0..y1 {
                            most =
                                (x0..x1).fold(most, |most, x| most.most(seen.get(y * width + x)));
                        }
                        out.set(
                            ((roi * channels + channel) * rows + row) * columns + column,
                            most,
                        );
                    }
                }
            }
        }
        Ok(())
    }
}

/// The size of what was pooled, as far as it is known.
fn infer_size(cx: &InferCx<'_>) -> Result<Option<Vec<i64>>, OpError> {
    let x = cx.input(0)?;
    let Some(rank) = x.rank() else {
        return Ok(None);
    };
    let kernel = cx.attrs().ints("kernel_shape")?;
    if rank < 3 || kernel.len() != rank - 2 {
        return Err(OpError::invalid(format!(
            "kernel_shape {kernel:?} does not fit the input {x}"
        )));
    }
    let strides = entries(cx.attrs(), "strides", rank - 2, 1)?;
    let pads = entries(cx.attrs(), "pads", 2 * (rank - 2), 0)?;
    let mut shape = x.shape.clone();
    for axis in 0..rank - 2 {
        let size = shape[axis + 2];
        if size >= 0 {
            let all = size
                .checked_sub(1)
                .and_then(|size| size.checked_mul(strides[axis]))
                .and_then(|size| size.checked_add(kernel[axis]))
                .and_then(|size| size.checked_sub(pads[axis]))
                .and_then(|size| size.checked_sub(pads[axis + rank - 2]));
            shape[axis + 2] = all.filter(|&size| size >= 0).ok_or_else(|| {
                OpError::invalid(format!(
                    "kernel, strides and pads make no size of the input {x}"
                ))
            })?;
        }
    }
    Ok(Some(shape))
}

fn infer_unpool(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let x = cx.input(0)?;
    let own = infer_size(cx)?;
    if cx.has(2) {
        let Some(shape) = cx.ints(2)? else {
            let rank = x
                .rank()
                .map_or(vec![crate::UNKNOWN_RANK], |rank| vec![UNKNOWN; rank]);
            return Ok(vec![TensorType::new(x.dtype, rank)]);
        };
        let fits = own.is_none_or(|own| {
            own.len() == shape.len()
                && own
                    .iter()
                    .zip(&shape)
                    .enumerate()
                    .all(|(axis, (&own, &dim))| {
                        dim >= 0 && (own < 0 || if axis < 2 { own == dim } else { own <= dim })
                    })
        });
        if !fits {
            return Err(OpError::invalid(format!(
                "output_shape {shape:?} does not fit the input {x}"
            )));
        }
        return Ok(vec![TensorType::new(x.dtype, shape)]);
    }
    Ok(vec![
        own.map_or(TensorType::of_unknown_rank(x.dtype), |shape| {
            TensorType::new(x.dtype, shape)
        }),
    ])
}

struct Unpool {
    from: Vec<i64>,
    to: Vec<i64>,
}

impl Algorithm for Unpool {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, out, indices) = (io.input(0)?, io.output(0)?, io.ints(1)?);
        out.fill(W::zero());
        let plane = self.from.iter().product::<i64>().max(1);
        let larger = self.to.iter().product::<i64>();
        for at in 0..x.len() {
            let index = indices.get(at);
            let (image, mut rest) = (index.div_euclid(plane), index.rem_euclid(plane));
            let (mut offset, mut step) = (0, 1);
            for (&from, &to) in self.from.iter().zip(&self.to).rev() {
                offset += rest % from.max(1) * step;
                rest /= from.max(1);
                step *= to;
            }
            let offset = image
                .checked_mul(larger)
                .and_then(|start| start.checked_add(offset));
            let offset = offset
                .and_then(|offset| usize::try_from(offset).ok())
                .filter(|&offset| offset < out.len());
            let offset = offset.ok_or_else(|| {
                OpError::data(format!("the index {index} lies outside the output"))
            })?;
            out.set(offset, x.get(at));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("roi");
    }

    #[test]
    fn regions_of_images_that_are_not_there_are_refused() {
        let inputs = [
            noise(&[1, 1, 4, 4], 1),
            f32s(&[1, 4], &[0.0, 0.0, 2.0, 2.0]),
            i64s(&[1], &[1]),
        ];
        refuse("jumar.RoiAlign", &inputs, none(), "image 1 of 1");
        refuse(
            "jumar.MaxRoiPool",
            &inputs[..2],
            none().with("pooled_shape", vec![1, 1]),
            "5 numbers",
        );
        let inputs = [noise(&[1, 1, 1, 1], 1), i64s(&[1, 1, 1, 1], &[9])];
        refuse(
            "jumar.MaxUnpool",
            &inputs,
            none()
                .with("kernel_shape", vec![2, 2])
                .with("strides", vec![2, 2]),
            "outside",
        );
    }
}
