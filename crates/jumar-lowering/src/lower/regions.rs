//! Regions of images: pooled by position, and those that a detector begins with.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::formula::{Formula, scalar};
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("PSROIPooling", by_position),
    ("PSROIPoolingV2", by_position),
    ("PriorBox", priors),
];

type Answer<T> = Result<T, OpError>;

/// The first and the last pixel of the cells of regions along an axis, one pixel further: `[regions, cells]` of float32.
fn cells(
    f: &Formula<'_>,
    [from, to]: [ValueId; 2],
    scale: f64,
    count: i64,
    size: i64,
) -> Answer<[ValueId; 2]> {
    let rounded = |value| f.of("Floor", f.plus(value, 0.5)?);
    let from = f.times(rounded(from)?, scale)?;
    let to = f.times(f.plus(rounded(to)?, 1.0)?, scale)?;
    let length = f.sub(to, from)?;
    let length = f.max(length, f.number(f64::from(0.1f32), length)?)?;
    let step = f.div(length, f.number(count as f64, length)?)?;
    let numbers: Vec<i64> = (0..=count).collect();
    let edge = |first: usize, rounding: &'static str| {
        let numbers = f.ints(&numbers[first..first + count as usize]);
        let numbers = f.cast(f.reshape(numbers, &[1, count])?, DataType::Float32)?;
        let pixel = f.of(rounding, f.add(f.mul(numbers, step)?, from)?)?;
        let pixel = f.max(pixel, f.number(0.0, pixel)?)?;
        f.min(pixel, f.number(size as f64, pixel)?)
    };
    Ok([edge(0, "Floor")?, edge(1, "Ceil")?])
}

/// Position-sensitive pooling of R-FCN: each cell of a region is the mean of its own channel. The sums of all pixels above and to
/// the left of a corner, in float64, make a cell's sum out of four numbers.
fn by_position(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    let (x, rois) = (op.input("x")?, op.input("rois")?);
    let (out, group) = (op.int("output_dim")?, op.int("group_size")?);
    let scale = f64::from(op.float("spatial_scale")?);
    let (own, of_rois) = (cx.dims(x)?, cx.dims(rois)?);
    if out < 1 || !(1..128).contains(&group) {
        return Err(invalid(format!(
            "its attributes output_dim and group_size are {out} and {group}; output_dim must be 1 or more, and group_size from 1 to 127"
        )));
    }
    let (&[images, channels, height, width], &[batch, 5, count]) = (&own[..], &of_rois[..]) else {
        return Err(invalid(format!(
            "its inputs x and rois have the shapes {own:?} and {of_rois:?}; [n, c, h, w] and [batch, 5, regions] are required"
        )));
    };
    if Some(channels) != out.checked_mul(group * group) {
        return Err(invalid(format!(
            "its input x has {channels} channels; output_dim {out} times the square of group_size {group} is required"
        )));
    }
    let dtype = cx.ty(x).dtype;
    let f = Formula::new(cx);
    // One region after the other, with a column for each number.
    let rows = f.transpose(f.cast(rois, DataType::Float32)?, &[0, 2, 1])?;
    let regions = batch * count;
    let rows = f.reshape(rows, &[regions, 5])?;
    let column = |at: i64| {
        let inputs = [rows, f.ints(&[at]), f.ints(&[at + 1]), f.ints(&[1])];
        f.node("StridedSliceV2", &inputs, Attrs::new())
    };
    let across = cells(&f, [column(1)?, column(3)?], scale, group, width)?;
    let down = cells(&f, [column(2)?, column(4)?], scale, group, height)?;
    // Sums with a row and a column of zeros in front.
    let mut sums = f.cast(x, DataType::Float64)?;
    for axis in [2, 3] {
        let mut dims = f.dims(sums)?;
        dims[axis] = 1;
        let zeros = f.node("Fill", &[f.ints(&dims), f.number(0.0, sums)?], Attrs::new())?;
        let attrs = Attrs::new().with("concat_dim", axis as i64).with("N", 2i64);
        let wide = f.node("ConcatD", &[zeros, sums], attrs)?;
        sums = f.node("Cumsum", &[wide, scalar(&f, axis as i64)?], Attrs::new())?;
    }
    let (tall, wide) = (height + 1, width + 1);
    let sums = f.reshape(sums, &[images * channels * tall * wide])?;
    // Where the plane of a region's image and of a cell's channel begins.
    let planes: Vec<i64> = (0..channels).map(|channel| channel * tall * wide).collect();
    let planes = f.reshape(f.ints(&planes), &[1, out, group, group])?;
    let integer = |value: ValueId, dims: &[i64]| f.cast(f.reshape(value, dims)?, DataType::Int64);
    let image = f.times(
        integer(column(0)?, &[regions, 1, 1, 1])?,
        (channels * tall * wide) as f64,
    )?;
    let begin = f.add(planes, image)?;
    let corner = |y: usize, x: usize| {
        let y = f.times(integer(down[y], &[regions, 1, group, 1])?, wide as f64)?;
        let x = integer(across[x], &[regions, 1, 1, group])?;
        let at = f.add(f.add(begin, y)?, x)?;
        f.node("GatherV2", &[sums, at, scalar(&f, 0)?], Attrs::new())
    };
    let sum = f.sub(corner(1, 1)?, corner(0, 1)?)?;
    let sum = f.sub(sum, f.sub(corner(1, 0)?, corner(0, 0)?)?)?;
    let length = |[from, to]: [ValueId; 2], dims: &[i64]| {
        f.cast(f.reshape(f.sub(to, from)?, dims)?, DataType::Float64)
    };
    let area = f.mul(
        length(down, &[regions, 1, group, 1])?,
        length(across, &[regions, 1, 1, group])?,
    )?;
    // A cell outside of the image is 0.
    let area = f.max(area, f.number(1.0, area)?)?;
    Ok(vec![f.cast(f.div(sum, area)?, dtype)?])
}

/// Returns the ratios of width and height: 1, and the listed ones with, if asked for, what they are the other way round; each once.
fn ratios(listed: &[f32], flip: bool) -> Vec<f32> {
    let mut all = vec![1.0f32];
    for &ratio in listed {
        if all.iter().all(|own| (own - ratio).abs() >= 1e-6) {
            all.push(ratio);
            if flip {
                all.push(1.0 / ratio);
            }
        }
    }
    all
}

/// Returns the widths and heights of the boxes around each pixel, in pixels of the image.
fn sizes(op: &Op<'_>) -> Answer<Vec<(f32, f32)>> {
    let (least, most) = (op.floats("min_size")?, op.floats("max_size")?);
    let listed = op.floats("aspect_ratio")?;
    let fits = !least.is_empty()
        && least.iter().chain(listed).all(|&number| number > 0.0)
        && (most.is_empty() || most.len() == least.len())
        && least.iter().zip(most).all(|(least, most)| least < most);
    if !fits {
        return Err(invalid(format!(
            "its attributes min_size, max_size and aspect_ratio are {least:?}, {most:?} and {listed:?}; positive numbers are required, and for each min_size a larger max_size or none at all"
        )));
    }
    let ratios = ratios(listed, op.yes("flip")?);
    let mut all = Vec::new();
    for (at, &own) in least.iter().enumerate() {
        all.push((own, own));
        if let Some(most) = most.get(at) {
            let mean = (own * most).sqrt();
            all.push((mean, mean));
        }
        for ratio in &ratios[1..] {
            all.push((own * ratio.sqrt(), own / ratio.sqrt()));
        }
    }
    Ok(all)
}

/// The prior boxes of SSD, in parts of the image, and their variances: `[1, 2, numbers]`. Of both inputs the sizes alone count.
fn priors(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    let x = op.input("x")?;
    let (own, image) = (cx.dims(x)?, cx.dims(op.input("img")?)?);
    let (&[_, _, rows, columns], &[_, _, tall, wide]) = (&own[..], &image[..]) else {
        return Err(invalid(format!(
            "its inputs x and img have the shapes {own:?} and {image:?}; 4 dimensions are required"
        )));
    };
    let (tall, wide) = match (op.int("img_h")?, op.int("img_w")?) {
        (0, _) | (_, 0) => (tall as f32, wide as f32),
        (tall, wide) => (tall as f32, wide as f32),
    };
    let (down, across) = match (op.float("step_h")?, op.float("step_w")?) {
        (0.0, _) | (_, 0.0) => (tall / rows as f32, wide / columns as f32),
        given => given,
    };
    let variance = op.floats("variance")?;
    if ![1, 4].contains(&variance.len()) || tall <= 0.0 || wide <= 0.0 {
        return Err(invalid(format!(
            "its attribute variance is {variance:?}, and the image is {tall} x {wide}; 1 or 4 numbers and an image that is not empty are required"
        )));
    }
    let (offset, clip, sizes) = (op.float("offset")?, op.yes("clip")?, sizes(op)?);
    let mut numbers = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let middle = (
                (column as f32 + offset) * across,
                (row as f32 + offset) * down,
            );
            for (width, height) in &sizes {
                numbers.extend([
                    (middle.0 - width / 2.0) / wide,
                    (middle.1 - height / 2.0) / tall,
                    (middle.0 + width / 2.0) / wide,
                    (middle.1 + height / 2.0) / tall,
                ]);
            }
        }
    }
    if clip {
        for number in &mut numbers {
            *number = number.clamp(0.0, 1.0);
        }
    }
    let count = numbers.len();
    numbers.extend(variance.iter().cycle().take(count));
    let all = cx.add_constant(Tensor::from_floats(&numbers));
    let all = cx.reshape(all, &[1, 2, count as i64])?;
    Ok(vec![cx.cast(all, cx.ty(x).dtype)?])
}
