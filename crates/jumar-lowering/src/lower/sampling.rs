//! Images that are read at positions between their pixels: transforms, crops and kernels of several widths.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::formula::{Formula, scalar};
use super::image::columns;
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, Value, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("CropAndResize", crop_and_resize),
    ("ImageProjectiveTransform", projective),
    ("ScaleAndTranslate", scale_and_translate),
    ("SpatialTransformer", spatial_transformer),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Images with channels last, as rows of channels.
struct Pixels {
    rows: ValueId,
    height: i64,
    width: i64,
    channels: i64,
}

impl Pixels {
    /// Takes images in, for computation in a type.
    fn new(cx: &mut Cx, images: ValueId, dtype: DataType) -> Result<(Pixels, i64), OpError> {
        let dims = cx.dims(images)?;
        let &[batch, height, width, channels] = &dims[..] else {
            return Err(invalid(format!(
                "its images have the shape {dims:?}; [batch, height, width, channels] is required"
            )));
        };
        if dims.contains(&0) {
            return Err(invalid(format!(
                "its images have the shape {dims:?}; they must not be empty"
            )));
        }
        let rows = cx.cast(images, dtype)?;
        let rows = cx.reshape(rows, &[-1, channels])?;
        let pixels = Pixels {
            rows,
            height,
            width,
            channels,
        };
        Ok((pixels, batch))
    }

    /// Returns the number of the first pixel of images, by their numbers, which are int64.
    fn first(&self, f: &Formula<'_>, image: ValueId) -> Result<ValueId, OpError> {
        f.times(image, (self.height * self.width) as f64)
    }

    /// Returns whether whole positions lie in the image.
    fn inside(&self, f: &Formula<'_>, y: ValueId, x: ValueId) -> Result<ValueId, OpError> {
        let along = |at: ValueId, len: i64| {
            let (low, high) = (f.above(at, -1.0)?, f.below(at, len as f64)?);
            f.node("LogicalAnd", &[low, high], Attrs::new())
        };
        let (y, x) = (along(y, self.height)?, along(x, self.width)?);
        f.node("LogicalAnd", &[y, x], Attrs::new())
    }

    /// Reads pixels at whole positions `[n, height, width]`; those outside are moved to the border.
    fn at(
        &self,
        f: &Formula<'_>,
        first: ValueId,
        y: ValueId,
        x: ValueId,
    ) -> Result<ValueId, OpError> {
        let bound = |at: ValueId, len: i64| {
            let at = f.max(at, f.number(0.0, at)?)?;
            f.cast(f.min(at, f.number((len - 1) as f64, at)?)?, DataType::Int64)
        };
        let (y, x) = (bound(y, self.height)?, bound(x, self.width)?);
        let index = f.add(first, f.add(f.times(y, self.width as f64)?, x)?)?;
        let inputs = [self.rows, index, scalar(f, 0)?];
        f.node("GatherV2", &inputs, Attrs::new())
    }
}

/// Rounds to the nearest integer; halves away from zero.
fn rounded(f: &Formula<'_>, x: ValueId) -> Result<ValueId, OpError> {
    let size = f.of("Floor", f.plus(f.of("Abs", x)?, 0.5)?)?;
    f.mul(f.of("Sign", x)?, size)
}

/// Appends an axis for the channels.
fn with_channels(f: &Formula<'_>, x: ValueId) -> Result<ValueId, OpError> {
    f.node("Unsqueeze", &[x], Attrs::new().with("axes", vec![-1]))
}

/// Returns the integers from 0 on as float32 in a shape.
fn range(cx: &mut Cx, count: i64, dims: &[i64]) -> Result<ValueId, OpError> {
    let list: Vec<f32> = (0..count).map(|at| at as f32).collect();
    let list = cx.add_constant(Tensor::from_floats(&list));
    cx.reshape(list, dims)
}

fn two(cx: &Cx, op: &Op<'_>, name: &str) -> Result<[i64; 2], OpError> {
    let list = numbers(cx, op.input(name)?, name)?;
    match list[..] {
        [height, width] if height > 0 && width > 0 => Ok([height, width]),
        _ => Err(invalid(format!(
            "its input {name} is {list:?}; a height and a width are required"
        ))),
    }
}

fn crop_and_resize(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (boxes, owners) = (op.input("boxes")?, op.input("box_index")?);
    let dtype = cx.ty(boxes).dtype;
    let [high, wide] = two(cx, op, "crop_size")?;
    let nearest = match op.text("method")? {
        "bilinear" => false,
        "nearest" => true,
        other => {
            return Err(invalid(format!(
                "its attribute method is {other}; it must be bilinear or nearest"
            )));
        }
    };
    let outside = f64::from(op.float("extrapolation_value")?);
    let (pixels, batch) = Pixels::new(cx, op.input("x")?, DataType::Float32)?;
    let (dims, count) = (cx.dims(boxes)?, cx.dims(owners)?);
    if dims.len() != 2 || dims[1] != 4 || count != dims[..1] {
        return Err(invalid(format!(
            "its inputs boxes and box_index have the shapes {dims:?} and {count:?}; [boxes, 4] and [boxes] are required"
        )));
    }
    let boxes = cx.cast(boxes, DataType::Float32)?;
    let mut sides = Vec::with_capacity(4);
    for at in 0..4 {
        let side = columns(cx, boxes, at, at + 1)?;
        sides.push(cx.reshape(side, &[-1, 1, 1])?);
    }
    let (down, over) = (
        range(cx, high, &[1, high, 1])?,
        range(cx, wide, &[1, 1, wide])?,
    );
    let f = Formula::new(cx);
    // The first and the last sample lie on the sides of the box, a single one in its middle.
    let positions = |low: ValueId, end: ValueId, step: ValueId, len: i64, count: i64| {
        let last = (len - 1) as f64;
        if count == 1 {
            let middle = f.times(f.add(low, end)?, 0.5 * last)?;
            return f.add(middle, step);
        }
        let scale = f.times(f.sub(end, low)?, last / (count - 1) as f64)?;
        f.add(f.times(low, last)?, f.mul(step, scale)?)
    };
    let y = positions(sides[0], sides[2], down, pixels.height, high)?;
    let x = positions(sides[1], sides[3], over, pixels.width, wide)?;
    let within = |at: ValueId, len: i64| {
        let (least, most) = (f.number(0.0, at)?, f.number((len - 1) as f64, at)?);
        let low = f.node("GreaterEqual", &[at, least], Attrs::new())?;
        let high = f.node("LessEqual", &[at, most], Attrs::new())?;
        f.node("LogicalAnd", &[low, high], Attrs::new())
    };
    let within = [within(y, pixels.height)?, within(x, pixels.width)?];
    let within = f.node("LogicalAnd", &within, Attrs::new())?;
    let owner = f.cast(f.reshape(owners, &[-1, 1, 1])?, DataType::Int64)?;
    let most = f.number((batch - 1) as f64, owner)?;
    let owner = f.min(f.max(owner, f.number(0.0, owner)?)?, most)?;
    let first = pixels.first(&f, owner)?;
    let seen = match nearest {
        true => pixels.at(&f, first, rounded(&f, y)?, rounded(&f, x)?)?,
        false => {
            let [top, left] = [y, x].map(|at| f.of("Floor", at));
            let [bottom, right] = [y, x].map(|at| f.of("Ceil", at));
            let (top, left, bottom, right) = (top?, left?, bottom?, right?);
            let share_y = with_channels(&f, f.sub(y, top)?)?;
            let share_x = with_channels(&f, f.sub(x, left)?)?;
            let between = |a, b, share| f.add(a, f.mul(f.sub(b, a)?, share)?);
            let line = |y| {
                let (a, b) = (
                    pixels.at(&f, first, y, left)?,
                    pixels.at(&f, first, y, right)?,
                );
                between(a, b, share_x)
            };
            between(line(top)?, line(bottom)?, share_y)?
        }
    };
    let fill = f.number(outside, seen)?;
    let y = f.choose(with_channels(&f, within)?, seen, fill)?;
    let y = f.reshape(y, &[dims[0], high, wide, pixels.channels])?;
    Ok(vec![f.cast(y, dtype)?])
}

/// Moves a position into the image: by mirrors at its borders, or by copies of it beside each other.
fn folded(f: &Formula<'_>, at: ValueId, len: i64, mirror: bool) -> Result<ValueId, OpError> {
    let period = if mirror { 2 * len } else { len } as f64;
    let turns = f.of("Floor", f.times(at, 1.0 / period)?)?;
    let mut within = f.sub(at, f.times(turns, period)?)?;
    if mirror {
        let back = f.from(period - 1.0, within)?;
        within = f.choose(f.below(within, len as f64)?, within, back)?;
    }
    // Between two copies lies the border.
    let last = f.number((len - 1) as f64, within)?;
    f.min(f.max(within, f.number(0.0, within)?)?, last)
}

fn projective(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let images = op.input("images")?;
    let own = cx.ty(images).dtype;
    let within = match own {
        DataType::Float64 | DataType::Int32 | DataType::Int64 => DataType::Float64,
        _ => DataType::Float32,
    };
    let [high, wide] = two(cx, op, "output_shape")?;
    let nearest = match op.text("interpolation")? {
        "NEAREST" => true,
        "BILINEAR" => false,
        other => {
            return Err(invalid(format!(
                "its attribute interpolation is {other}; it must be NEAREST or BILINEAR"
            )));
        }
    };
    let mirror = match op.text("fill_mode")? {
        "CONSTANT" => None,
        "REFLECT" => Some(true),
        "WRAP" => Some(false),
        other => {
            return Err(invalid(format!(
                "its attribute fill_mode is {other}; it must be CONSTANT, REFLECT or WRAP"
            )));
        }
    };
    let (pixels, batch) = Pixels::new(cx, images, within)?;
    let transforms = op.input("transforms")?;
    let dims = cx.dims(transforms)?;
    if dims != [batch, 8] && dims != [1, 8] {
        return Err(invalid(format!(
            "its input transforms has the shape {dims:?}; 8 numbers for each of the {batch} images, or for all, are required"
        )));
    }
    let mut factors = Vec::with_capacity(8);
    for at in 0..8 {
        let one = columns(cx, transforms, at, at + 1)?;
        let one = cx.cast(one, DataType::Float32)?;
        factors.push(cx.reshape(one, &[-1, 1, 1])?);
    }
    let (row, column) = (
        range(cx, high, &[1, high, 1])?,
        range(cx, wide, &[1, 1, wide])?,
    );
    let starts: Vec<i64> = (0..batch).collect();
    let starts = cx.ints(&starts);
    let f = Formula::new(cx);
    let first = pixels.first(&f, f.reshape(starts, &[batch, 1, 1])?)?;
    let line = |at: usize| f.add(f.mul(factors[at], column)?, f.mul(factors[at + 1], row)?);
    let depth = f.plus(line(6)?, 1.0)?;
    let position = |at: usize, len: i64| {
        let at = f.div(f.add(line(at)?, factors[at + 2])?, depth)?;
        match mirror {
            Some(mirror) => folded(&f, at, len, mirror),
            None => Ok(at),
        }
    };
    let (x, y) = (position(0, pixels.width)?, position(3, pixels.height)?);
    let read = |y: ValueId, x: ValueId| {
        let inside = with_channels(&f, pixels.inside(&f, y, x)?)?;
        f.only(inside, pixels.at(&f, first, y, x)?)
    };
    let seen = match nearest {
        true => read(rounded(&f, y)?, rounded(&f, x)?)?,
        false => {
            let (top, left) = (f.of("Floor", y)?, f.of("Floor", x)?);
            let (bottom, right) = (f.plus(top, 1.0)?, f.plus(left, 1.0)?);
            let share = |at, low| f.cast(with_channels(&f, f.sub(at, low)?)?, within);
            let (share_y, share_x) = (share(y, top)?, share(x, left)?);
            let mixed = |a, b, share| f.add(f.mul(a, f.from(1.0, share)?)?, f.mul(b, share)?);
            let along = |y| mixed(read(y, left)?, read(y, right)?, share_x);
            mixed(along(top)?, along(bottom)?, share_y)?
        }
    };
    // Where the depth is 0, no pixel is read.
    let none = with_channels(&f, f.equal(depth, f.number(0.0, depth)?)?)?;
    let y = f.choose(none, f.number(0.0, seen)?, seen)?;
    let y = f.reshape(y, &[batch, high, wide, pixels.channels])?;
    Ok(vec![f.cast(y, own)?])
}

/// A kernel by the distance from its middle, and where it ends.
fn kernel(f: &Formula<'_>, name: &str, x: ValueId) -> Result<ValueId, OpError> {
    // Evaluates a polynomial by its coefficients, the highest first.
    let polynomial = |list: &[f64]| {
        let mut sum = f.number(list[0], x)?;
        for &next in &list[1..] {
            sum = f.plus(f.mul(sum, x)?, next)?;
        }
        Ok::<_, OpError>(sum)
    };
    let cubic = |near: &[f64], far: &[f64]| {
        let far = f.only(f.below(x, 2.0)?, polynomial(far)?)?;
        f.choose(f.below(x, 1.0)?, polynomial(near)?, far)
    };
    let lanczos = |radius: f64| {
        let angle = f.times(x, std::f64::consts::PI)?;
        let waves = f.mul(
            f.of("Sin", angle)?,
            f.of("Sin", f.times(angle, 1.0 / radius)?)?,
        )?;
        let y = f.div(f.times(waves, radius)?, f.square(angle)?)?;
        let far = f.only(f.of("LogicalNot", f.above(x, radius)?)?, y)?;
        f.choose(f.above(x, 1e-3)?, far, f.number(1.0, x)?)
    };
    match name {
        "lanczos1" => lanczos(1.0),
        "lanczos3" => lanczos(3.0),
        "lanczos5" => lanczos(5.0),
        "gaussian" => {
            let curve = f.of("Exp", f.times(f.square(x)?, -2.0)?)?;
            f.only(f.below(x, 1.5)?, curve)
        }
        "box" => {
            let (one, half) = (f.number(1.0, x)?, f.number(0.5, x)?);
            let edge = f.only(f.equal(x, half)?, half)?;
            f.choose(f.less(x, half)?, one, edge)
        }
        "triangle" => f.only(f.below(x, 1.0)?, f.from(1.0, x)?),
        "keyscubic" => cubic(&[1.5, -2.5, 0.0, 1.0], &[-0.5, 2.5, -4.0, 2.0]),
        "mitchellcubic" => cubic(
            &[7.0 / 6.0, -2.0, 0.0, 8.0 / 9.0],
            &[-7.0 / 18.0, 2.0, -10.0 / 3.0, 16.0 / 9.0],
        ),
        other => Err(invalid(format!(
            "its attribute kernel_type is {other}; it must be lanczos1, lanczos3, lanczos5, gaussian, box, triangle, keyscubic or mitchellcubic"
        ))),
    }
}

/// Resamples along both axes, each by a matrix of the kernel's weights.
fn scale_and_translate(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let images = op.input("images")?;
    let dims = cx.dims(images)?;
    let &[batch, height, width, channels] = &dims[..] else {
        return Err(invalid(format!(
            "its input images has the shape {dims:?}; [batch, height, width, channels] is required"
        )));
    };
    let [high, wide] = two(cx, op, "size")?;
    let (scale, shift) = (op.input("scale")?, op.input("translation")?);
    for (name, value) in [("scale", scale), ("translation", shift)] {
        if cx.dims(value)? != [2] {
            return Err(invalid(format!(
                "its input {name} has the shape {:?}; 2 numbers are required",
                cx.dims(value)?
            )));
        }
    }
    let (name, smooth) = (op.text("kernel_type")?, op.yes("antialias")?);
    let mut weights = Vec::with_capacity(2);
    for (axis, (from, to)) in [(height, high), (width, wide)].into_iter().enumerate() {
        let (own, target) = (range(cx, from, &[1, from])?, range(cx, to, &[to, 1])?);
        let f = Formula::new(cx);
        let entry = |list: ValueId| {
            let inputs = [list, scalar(&f, axis as i64)?, scalar(&f, 0)?];
            f.reshape(f.node("GatherV2", &inputs, Attrs::new())?, &[1, 1])
        };
        let (scale, shift) = (entry(scale)?, entry(shift)?);
        let inverse = f.of("Reciprocal", scale)?;
        let sample = f.mul(f.sub(f.plus(target, 0.5)?, shift)?, inverse)?;
        let mut distance = f.of("Abs", f.sub(f.plus(own, 0.5)?, sample)?)?;
        if smooth {
            let spread = f.max(inverse, f.number(1.0, inverse)?)?;
            distance = f.div(distance, spread)?;
        }
        let all = kernel(&f, name, distance)?;
        let total = f.sum(all, &[1], true)?;
        // Without weight, and outside of the image, nothing is read.
        let some = f.above(f.of("Abs", total)?, 1000.0 * f64::from(f32::MIN_POSITIVE))?;
        let low = f.node(
            "GreaterEqual",
            &[sample, f.number(0.0, sample)?],
            Attrs::new(),
        )?;
        let end = f.number(from as f64, sample)?;
        let high = f.node("LessEqual", &[sample, end], Attrs::new())?;
        let inside = f.node("LogicalAnd", &[low, high], Attrs::new())?;
        let some = f.node("LogicalAnd", &[some, inside], Attrs::new())?;
        weights.push(f.only(some, f.div(all, total)?)?);
    }
    let f = Formula::new(cx);
    let x = f.reshape(
        f.cast(images, DataType::Float32)?,
        &[batch, height, width * channels],
    )?;
    let x = f.node("BatchMatMulV2", &[weights[0], x], Attrs::new())?;
    let x = f.reshape(x, &[batch * high, width, channels])?;
    let y = f.node("BatchMatMulV2", &[weights[1], x], Attrs::new())?;
    Ok(vec![f.reshape(y, &[batch, high, wide, channels])?])
}

/// Reads an image through an affine transform of its own.
fn spatial_transformer(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let dtype = cx.ty(x).dtype;
    if !dtype.is_float() {
        return Err(unsupported(format!(
            "its input x is {dtype}, which is not supported: how values between pixels become integers is not documented"
        )));
    }
    let dims = cx.dims(x)?;
    let &[batch, channels, height, width] = &dims[..] else {
        return Err(invalid(format!(
            "its input x has the shape {dims:?}; [batch, channels, height, width] is required"
        )));
    };
    let size = op.ints("output_size")?;
    let &[high, wide] = size else {
        return Err(invalid(format!(
            "its attribute output_size is {size:?}; 2 numbers are required"
        )));
    };
    let pick = |wanted: i64, own: i64| if wanted < 0 { own } else { wanted };
    let (high, wide) = (pick(high, height), pick(wide, width));
    let within = match dtype {
        DataType::Float64 => dtype,
        _ => DataType::Float32,
    };
    let theta = theta(cx, op, batch, within)?;
    let theta = cx.reshape(theta, &[batch, 2, 3])?;
    let size = cx.ints(&[batch, channels, high, wide]);
    let corners = op.yes("align_corners")?;
    let attrs = Attrs::new().with("align_corners", corners);
    let grid = cx.one("jumar.AffineGrid", &[theta, size], attrs)?;
    let attrs = Attrs::new()
        .with("mode", "linear")
        .with("padding_mode", "zeros")
        .with("align_corners", corners);
    let x = cx.cast(x, within)?;
    let y = cx.one("jumar.GridSample", &[x, grid], attrs)?;
    Ok(vec![cx.cast(y, dtype)?])
}

/// Returns the six numbers of each image: those of the input, and the defaults where they are asked for.
fn theta(cx: &mut Cx, op: &Op<'_>, batch: i64, dtype: DataType) -> Result<ValueId, OpError> {
    let flags = match op.ints("use_default_theta")? {
        [] => &[0; 6],
        flags => flags,
    };
    let defaults: &[f32] = match op.node.attrs.get("default_theta") {
        None => &[],
        Some(Value::Floats(list)) => list,
        Some(_) => {
            return Err(invalid(
                "its attribute default_theta has to be a list of numbers",
            ));
        }
    };
    let own = flags.iter().filter(|&&flag| flag == 0).count();
    let fits = flags.len() == 6 && (own == 6 || defaults.len() == 6 || defaults.len() == 6 - own);
    if !fits {
        return Err(invalid(format!(
            "its attributes use_default_theta and default_theta are {flags:?} and {defaults:?}; 6 flags, and a number for each flag or for each that is set, are required"
        )));
    }
    let given = match op.maybe("theta") {
        Some(theta) => {
            let dims = cx.dims(theta)?;
            let width = dims.iter().product::<i64>() / batch.max(1);
            if dims.first() != Some(&batch) || (width != 6 && width != own as i64) {
                return Err(invalid(format!(
                    "its input theta has the shape {dims:?}; 6 numbers for each of {batch} images, or one for each flag that is 0, are required"
                )));
            }
            let theta = cx.cast(theta, dtype)?;
            Some((cx.reshape(theta, &[batch, width])?, width == 6))
        }
        None if own == 0 => None,
        None => {
            return Err(invalid(
                "its input theta is missing, and the defaults do not stand for all of it",
            ));
        }
    };
    let mut parts = Vec::with_capacity(6);
    let (mut taken, mut used) = (0, 0);
    for (at, &flag) in flags.iter().enumerate() {
        let part = match (flag, given) {
            (0, Some((theta, all))) => {
                let column = if all { at as i64 } else { taken };
                taken += 1;
                columns(cx, theta, column, column + 1)?
            }
            _ => {
                let index = if defaults.len() == 6 { at } else { used };
                used += 1;
                let list = vec![defaults[index]; usize::try_from(batch).unwrap_or(0)];
                let list = cx.add_constant(Tensor::from_floats(&list));
                let list = cx.cast(list, dtype)?;
                cx.reshape(list, &[batch, 1])?
            }
        };
        parts.push(part);
    }
    let attrs = Attrs::new().with("concat_dim", 1i64).with("N", 6i64);
    cx.one("ConcatD", &parts, attrs)
}
