//! Operators on images: blending, scaling of channels, affine sampling grids, and further forms of pooling and resizing.

use jumar_ops::{Attrs, Tensor};
use jumar_types::dtype::DataType;

use super::Table;
use super::normalization::{computed, number};
use super::operands::FLOATS;
use super::reduction::accumulator;
use super::window::{Axis, Rule, apply};
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnAffineGrid", affine_grid),
    ("aclnnBackgroundReplace", background_replace),
    ("aclnnBlendImagesCustom", blend_images),
    ("aclnnMaxPool", max_pool),
    ("aclnnMrgbaCustom", multiply_alpha),
    ("aclnnResize", resize),
    ("aclnnScale", scale),
];

const IMAGES: [DataType; 2] = [DataType::Float16, DataType::UInt8];

/// Appends a dimension for the channels to a mask that has one number for each pixel.
fn with_channels(cx: &Cx<'_>, mask: View, image: &View) -> Result<View, Refusal> {
    let mask = match mask.rank() + 1 == image.rank() {
        true => mask.unsqueeze(mask.rank()),
        false => mask,
    };
    match mask.expand(image.dims()) {
        Some(_) => Ok(mask),
        None => Err(cx.invalid(format_args!(
            "{} has the shape {:?}, which cannot be broadcast to the image's {:?}",
            cx.param_of(&mask),
            mask.dims(),
            image.dims()
        ))),
    }
}

/// Writes `back + fraction * (front - back)`. Integers are rounded towards zero.
fn blend(
    cx: &mut Cx<'_>,
    front: View,
    back: View,
    fraction: View,
    out: View,
) -> Result<(), Refusal> {
    let compute = DataType::Float32;
    let operands = [
        Operand::Tensor(back),
        Operand::Tensor(front),
        Operand::Tensor(fraction),
    ];
    cx.map(F::Lerp, compute, &operands, out)
}

fn background_replace(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (back, front, out) = (cx.tensor("bkg")?, cx.tensor("src")?, cx.out("out")?);
    let mask = cx.tensor("mask")?;
    cx.check_types(&back, &IMAGES)?;
    cx.check_types(&mask, &[DataType::Float16])?;
    for view in [&front, &out] {
        cx.check_dtype(view, back.dtype())?;
        cx.check_dims(view, back.dims())?;
    }
    let mask = with_channels(cx, mask, &back)?;
    blend(cx, front, back, mask, out)
}

/// Returns the alpha channel divided by 255, in float32.
fn alpha_fraction(cx: &mut Cx<'_>, image: &View) -> Result<View, Refusal> {
    let alpha = cx.tensor("alpha")?;
    cx.check_dtype(&alpha, DataType::UInt8)?;
    let alpha = with_channels(cx, alpha, image)?;
    let operands = [Operand::Tensor(alpha), number(255.0)];
    computed(cx, F::Div, DataType::Float32, &operands, alpha.dims())
}

fn blend_images(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (front, back, out) = (cx.tensor("rgb")?, cx.tensor("frame")?, cx.out("out")?);
    for view in [&front, &back, &out] {
        cx.check_dtype(view, DataType::UInt8)?;
        cx.check_dims(view, front.dims())?;
    }
    let fraction = alpha_fraction(cx, &front)?;
    blend(cx, front, back, fraction, out)
}

fn multiply_alpha(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (front, out) = (cx.tensor("rgb")?, cx.out("out")?);
    for view in [&front, &out] {
        cx.check_dtype(view, DataType::UInt8)?;
        cx.check_dims(view, front.dims())?;
    }
    let fraction = alpha_fraction(cx, &front)?;
    let operands = [Operand::Tensor(front), Operand::Tensor(fraction)];
    cx.map(F::Mul, DataType::Float32, &operands, out)
}

/// Computes `x * scale + bias`. The dimensions of `scale` equal dimensions of `x` from an axis on.
fn scale(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("y")?);
    let (factor, bias) = (cx.tensor("scale")?, cx.optional("bias")?);
    cx.check_dims(&out, x.dims())?;
    let axis = cx.axis("axis", cx.int("axis")?, x.rank())?;
    let count = match (cx.flag("scaleFromBlob")?, cx.int("numAxes")?) {
        (false, _) => factor.rank(),
        (true, -1) => x.rank() - axis,
        (true, count) => match usize::try_from(count) {
            Ok(count) if axis + count <= x.rank() => count,
            _ => {
                return Err(cx.invalid(format_args!(
                    "numAxes is {count}; it must be -1, or between 0 and the {} dimensions from axis {axis} on",
                    x.rank() - axis
                )));
            }
        },
    };
    let one = factor.elements() == 1;
    let covers = axis + count <= x.rank() && *factor.dims() == x.dims()[axis..axis + count];
    if !covers && !one {
        return Err(cx.invalid(format_args!(
            "scale has the shape {:?}; it must be that of {count} dimensions of {:?} from axis {axis} on, or have one element",
            factor.dims(),
            x.dims()
        )));
    }
    if let Some(bias) = &bias {
        cx.check_dims(bias, factor.dims())?;
    }
    let mut dims = vec![1; x.rank()];
    if !one {
        dims[axis..axis + count].copy_from_slice(factor.dims());
    }
    let factor = cx.reshaped(factor, &dims)?;
    let compute = accumulator(x.dtype());
    match bias {
        Some(bias) => {
            let bias = cx.reshaped(bias, &dims)?;
            let operands = [
                Operand::Tensor(bias),
                Operand::Tensor(x),
                Operand::Tensor(factor),
            ];
            cx.map(F::AddScaled, compute, &operands, out)
        }
        None => {
            let operands = [Operand::Tensor(x), Operand::Tensor(factor)];
            cx.map(F::Mul, compute, &operands, out)
        }
    }
}

/// Computes a sampling grid: the positions of the pixels, between -1 and 1, times a matrix for each image.
fn affine_grid(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (theta, out) = (cx.tensor("theta")?, cx.out("out")?);
    let size = cx.ints("size")?.to_vec();
    let aligned = cx.flag("alignCorners")?;
    let space = size.len().saturating_sub(2);
    let dims: Option<Vec<usize>> = size.iter().map(|&dim| usize::try_from(dim).ok()).collect();
    let Some(dims) = dims.filter(|_| space == 2 || space == 3) else {
        return Err(cx.invalid(format_args!(
            "size is {size:?}; batch, channels and 2 or 3 spatial dimensions are required"
        )));
    };
    cx.check_types(&theta, FLOATS)?;
    cx.check_dtype(&out, theta.dtype())?;
    cx.check_dims(&theta, &[dims[0], space, space + 1])?;
    let mut wanted = vec![dims[0]];
    wanted.extend(&dims[2..]);
    wanted.push(space);
    cx.check_dims(&out, &wanted)?;
    if out.is_empty() {
        return Ok(());
    }
    let compute = accumulator(theta.dtype());
    let theta = cx.cast(theta, compute)?;
    // The innermost spatial dimension is the first coordinate.
    let mut lines = Vec::with_capacity(space);
    for axis in 0..space {
        let count = dims[dims.len() - 1 - axis];
        let last = (count as f64 - 1.0).max(1.0);
        let reach = match aligned {
            true => 1.0,
            false => (count as f64 - 1.0) / count as f64,
        };
        let position = |entry: usize| match count {
            1 => 0.0,
            _ => (2.0 * entry as f64 / last - 1.0) * reach,
        };
        cx.check_planned("the pixels of a row of out", count)?;
        let values: Vec<f32> = (0..count).map(|entry| position(entry) as f32).collect();
        let line = cx.constant(&Tensor::from_floats(&values))?;
        let mut shape = vec![1; space + 1];
        shape[space - axis] = count;
        lines.push(cx.reshaped(line, &shape)?);
    }
    for coordinate in 0..space {
        let row = theta.select(1, coordinate);
        let entry = |cx: &mut Cx<'_>, column: usize| {
            let mut shape = vec![1; space + 1];
            shape[0] = dims[0];
            cx.reshaped(row.select(1, column), &shape)
        };
        let mut sum = entry(cx, space)?;
        for (column, line) in lines.iter().enumerate() {
            let factor = entry(cx, column)?;
            let operands = [
                Operand::Tensor(sum),
                Operand::Tensor(factor),
                Operand::Tensor(*line),
            ];
            sum = computed(cx, F::AddScaled, compute, &operands, &wanted[..=space])?;
        }
        cx.copy(sum, out.select(space + 1, coordinate))?;
    }
    Ok(())
}

/// Returns the four numbers of a parameter that lists none (the default `none` for all), one (for all), two (for rows and for columns), or one for each edge.
fn edges(cx: &Cx<'_>, param: &str, none: i64) -> Result<[i64; 4], Refusal> {
    match *cx.ints(param)? {
        [] => Ok([none; 4]),
        [all] => Ok([all; 4]),
        [rows, columns] => Ok([rows, columns, rows, columns]),
        [top, left, bottom, right] => Ok([top, left, bottom, right]),
        ref other => Err(cx.invalid(format_args!(
            "{param} has {} entries; 0, 1, 2 or 4 are required",
            other.len()
        ))),
    }
}

fn max_pool(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let &[high, wide, ..] = &edges(cx, "kernelShape", 1)?;
    let [down, right, ..] = edges(cx, "strides", 1)?;
    let [top, left, bottom, behind] = edges(cx, "pads", 0)?;
    let dilations = edges(cx, "dilations", 1)?;
    if cx.int("autoPad")? != 0 || dilations != [1; 4] {
        return Err(cx.invalid(format_args!(
            "autoPad is {} and dilations {:?}; autoPad must be 0, and dilations 1",
            cx.int("autoPad")?,
            cx.ints("dilations")?
        )));
    }
    let pads = [top, left, bottom, behind];
    let fits = [high, wide, down, right].iter().all(|&size| size > 0)
        && pads.iter().all(|&pad| pad >= 0)
        && top.max(bottom) < high
        && left.max(behind) < wide;
    if !fits {
        return Err(cx.invalid(format_args!(
            "kernelShape [{high}, {wide}] and strides [{down}, {right}] must be positive, and pads {pads:?} at least 0 and below kernelShape"
        )));
    }
    cx.check_dtype(&out, x.dtype())?;
    let (x, target) = match x.rank() {
        3 if out.rank() == 3 => (x.unsqueeze(0), out.unsqueeze(0)),
        4 => (x, out),
        rank => {
            return Err(cx.invalid(format_args!(
                "self has {rank} dimensions and out has {}; both must have 3, or both 4",
                out.rank()
            )));
        }
    };
    let attrs = Attrs::new()
        .with("ksize", vec![1, 1, high, wide])
        .with("strides", vec![1, 1, down, right])
        .with("pads", vec![top, bottom, left, behind])
        .with("ceil_mode", cx.int("ceilMode")? != 0);
    cx.op("MaxPoolV3", &[x.into()], &attrs, &[target])
}

fn resize(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let scales: Vec<f64> = cx
        .floats("scales")?
        .iter()
        .map(|&scale| f64::from(scale))
        .collect();
    let (&[batch, channels, rows, columns], &[one, other, down, right]) =
        (x.dims(), scales.as_slice())
    else {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?} and scales has {} entries; self must have 4 dimensions, and scales 4 entries",
            x.dims(),
            scales.len()
        )));
    };
    if one != 1.0 || other != 1.0 || !(down > 0.0 && right > 0.0) {
        return Err(cx.invalid(format_args!(
            "scales is {scales:?}; the scales of batch and channels must be 1, and the others positive"
        )));
    }
    let linear = match cx.text("mode")? {
        "nearest" => false,
        "bilinear" => true,
        other => {
            return Err(cx.invalid(format_args!(
                "mode is {other:?}; it must be \"nearest\" or \"bilinear\""
            )));
        }
    };
    let resized = |size: usize, scale: f64| (size as f64 * scale).floor() as usize;
    let (to_rows, to_columns) = (resized(rows, down), resized(columns, right));
    cx.check_dims(&out, &[batch, channels, to_rows, to_columns])?;
    let axis = |from, to, scale| Axis {
        rule: match linear {
            true => Rule::Linear {
                scale: Some(scale),
                aligned: false,
            },
            false => Rule::Nearest {
                scale: Some(scale),
                exact: false,
            },
        },
        from,
        to,
    };
    let axes = [axis(rows, to_rows, down), axis(columns, to_columns, right)];
    apply(cx, accumulator(x.dtype()), &axes, false, x, out)
}
