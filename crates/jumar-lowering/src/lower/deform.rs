//! Reads of images at positions that an input moves, for deformable convolutions.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::filter::{backward, channels_last, forward, plain_filter, spatial};
use super::formula::Formula;
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("DeformableConv2D", convolution),
    ("DeformableOffsets", moved),
    ("DeformableOffsetsGrad", moved_gradient),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// The sizes of a node, with channels last.
struct Sizes {
    last: bool,
    batch: i64,
    image: [i64; 2],
    channels: i64,
    result: [i64; 2],
    kernel: [i64; 2],
    /// Groups of channels that move together.
    groups: i64,
}

impl Sizes {
    fn taps(&self) -> i64 {
        self.kernel[0] * self.kernel[1]
    }

    fn group(&self) -> i64 {
        self.channels / self.groups
    }

    /// The shape of what is read: a row of channels for each pixel of the result, group and tap.
    fn reads(&self) -> [i64; 6] {
        let [rows, columns] = self.result;
        [
            self.batch,
            rows,
            columns,
            self.groups,
            self.taps(),
            self.group(),
        ]
    }
}

/// The positions that are read, and the factors of what is read there, of the shape of the reads with one channel.
struct Positions {
    y: ValueId,
    x: ValueId,
    factor: ValueId,
}

/// One of the four pixels around each position.
struct Corner {
    /// The row of the image with a row for each pixel and group.
    row: ValueId,
    /// The share of the pixel, and how it changes with the position downwards and to the right. All are 0 outside of the image.
    share: ValueId,
    by_y: ValueId,
    by_x: ValueId,
}

/// Reads the node. Returns its sizes, the image with channels last, and the positions.
fn read(cx: &mut Cx, op: &Op<'_>, kernel: &[i64]) -> Result<(Sizes, ValueId, Positions), OpError> {
    if !op.yes("modulated")? {
        return Err(unsupported(
            "its attribute modulated is false, which is not supported",
        ));
    }
    let last = channels_last(op.image_format(2)?, 2)?;
    let (x, offsets) = (op.input("x")?, op.input("offsets")?);
    let [x, offsets] = [x, offsets].map(|value| {
        let value = cx.cast(value, DataType::Float32)?;
        backward(cx, value, !last, 2)
    });
    let (x, offsets) = (x?, offsets?);
    let (own, moved) = (cx.dims(x)?, cx.dims(offsets)?);
    let (&[batch, height, width, channels], &[count, rows, columns, numbers]) =
        (&own[..], &moved[..])
    else {
        return Err(invalid("its inputs x and offsets must have 4 dimensions"));
    };
    let groups = op.int("deformable_groups")?;
    let (strides, dilations) = (
        spatial(op.ints("strides")?, 2, last, "strides")?,
        spatial(op.ints("dilations")?, 2, last, "dilations")?,
    );
    let pads = op.ints("pads")?;
    let (&[kernel_y, kernel_x], &[top, bottom, left, right]) = (kernel, pads) else {
        return Err(invalid(format!(
            "its kernel and pads are {kernel:?} and {pads:?}; 2 and 4 numbers are required"
        )));
    };
    let least = strides.iter().chain(&dilations).chain(kernel).min();
    if groups < 1 || channels % groups != 0 || least.is_none_or(|&least| least < 1) {
        return Err(invalid(format!(
            "its attributes are deformable_groups {groups}, kernel {kernel:?}, strides {strides:?} and dilations {dilations:?}; they must be positive, and the {channels} channels a multiple of the groups"
        )));
    }
    let size = |len: i64, around: i64, at: usize| {
        (len + around - dilations[at] * (kernel[at] - 1) - 1).div_euclid(strides[at]) + 1
    };
    let wanted = [
        batch,
        size(height, top + bottom, 0),
        size(width, left + right, 1),
        3 * groups * kernel_y * kernel_x,
    ];
    if [count, rows, columns, numbers] != wanted {
        return Err(invalid(format!(
            "its input offsets has the shape {moved:?} with channels last; {wanted:?} is required"
        )));
    }
    let sizes = Sizes {
        last,
        batch,
        image: [height, width],
        channels,
        result: [rows, columns],
        kernel: [kernel_y, kernel_x],
        groups,
    };
    // Where a tap reads that is not moved.
    let base = |len: i64, before: i64, at: usize| {
        let mut list = Vec::new();
        for pixel in 0..len {
            for tap in 0..sizes.taps() {
                let tap = [tap / kernel_x, tap % kernel_x][at];
                list.push((pixel * strides[at] + tap * dilations[at] - before) as f32);
            }
        }
        Tensor::from_floats(&list)
    };
    let (down, over) = (base(rows, top, 0), base(columns, left, 1));
    let (down, over) = (cx.add_constant(down), cx.add_constant(over));
    let f = Formula::new(cx);
    let taps = sizes.taps();
    let down = f.reshape(down, &[1, rows, 1, 1, taps, 1])?;
    let over = f.reshape(over, &[1, 1, columns, 1, taps, 1])?;
    // The distances to the right of all groups and taps come first, then those downwards, then the factors.
    let parts = f.reshape(offsets, &[batch, rows, columns, 3, groups, taps])?;
    let part = |at: i64| {
        let inputs = [parts, f.ints(&[at]), super::formula::scalar(&f, 3)?];
        let one = f.node("GatherV2", &inputs, Attrs::new())?;
        f.reshape(one, &[batch, rows, columns, groups, taps, 1])
    };
    let positions = Positions {
        y: f.add(down, part(1)?)?,
        x: f.add(over, part(0)?)?,
        factor: part(2)?,
    };
    Ok((sizes, x, positions))
}

/// Returns the four pixels around each position.
fn corners(f: &Formula<'_>, sizes: &Sizes, positions: &Positions) -> Result<[Corner; 4], OpError> {
    let [height, width] = sizes.image;
    let (low_y, low_x) = (f.of("Floor", positions.y)?, f.of("Floor", positions.x)?);
    let (part_y, part_x) = (f.sub(positions.y, low_y)?, f.sub(positions.x, low_x)?);
    let planes: Vec<i64> = (0..sizes.batch * sizes.groups)
        .map(|at| at / sizes.groups * height * width * sizes.groups + at % sizes.groups)
        .collect();
    let planes = f.reshape(f.ints(&planes), &[sizes.batch, 1, 1, sizes.groups, 1, 1])?;
    let corner = |down: bool, over: bool| -> Result<Corner, OpError> {
        let along = |low: ValueId, next: bool, len: i64| {
            let at = match next {
                true => f.plus(low, 1.0)?,
                false => low,
            };
            let inside = f.node(
                "LogicalAnd",
                &[f.above(at, -1.0)?, f.below(at, len as f64)?],
                Attrs::new(),
            )?;
            let at = f.min(
                f.max(at, f.number(0.0, at)?)?,
                f.number((len - 1) as f64, at)?,
            )?;
            Ok::<_, OpError>((f.cast(at, DataType::Int64)?, inside))
        };
        let (y, inside_y) = along(low_y, down, height)?;
        let (x, inside_x) = along(low_x, over, width)?;
        let inside = f.node("LogicalAnd", &[inside_y, inside_x], Attrs::new())?;
        let pixel = f.add(f.times(y, width as f64)?, x)?;
        let row = f.add(f.times(pixel, sizes.groups as f64)?, planes)?;
        let share = |part: ValueId, next: bool| match next {
            true => Ok(part),
            false => f.from(1.0, part),
        };
        let (share_y, share_x) = (share(part_y, down)?, share(part_x, over)?);
        let signed = |value: ValueId, positive: bool| match positive {
            true => Ok(value),
            false => f.of("Neg", value),
        };
        Ok(Corner {
            row,
            share: f.only(inside, f.mul(share_y, share_x)?)?,
            by_y: f.only(inside, signed(share_x, down)?)?,
            by_x: f.only(inside, signed(share_y, over)?)?,
        })
    };
    Ok([
        corner(false, false)?,
        corner(false, true)?,
        corner(true, false)?,
        corner(true, true)?,
    ])
}

/// Returns the rows of channels at a corner.
fn pixels(
    f: &Formula<'_>,
    sizes: &Sizes,
    image: ValueId,
    corner: &Corner,
) -> Result<ValueId, OpError> {
    let inputs = [image, corner.row, super::formula::scalar(f, 0)?];
    let rows = f.node("GatherV2", &inputs, Attrs::new())?;
    f.reshape(rows, &sizes.reads())
}

/// Adds values.
fn total(f: &Formula<'_>, parts: &[ValueId]) -> Result<ValueId, OpError> {
    let mut parts = parts.iter();
    let mut sum = *parts
        .next()
        .ok_or_else(|| invalid("there is nothing to add"))?;
    for &part in parts {
        sum = f.add(sum, part)?;
    }
    Ok(sum)
}

fn moved(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let dtype = cx.ty(op.input("x")?).dtype;
    let (sizes, x, positions) = read(cx, op, op.ints("ksize")?)?;
    let y = tiles(cx, &sizes, x, &positions)?;
    let y = forward(cx, y, !sizes.last, 2)?;
    Ok(vec![cx.cast(y, dtype)?])
}

/// Returns the image with a tile of the size of the filter for each pixel, channels last, in float32.
fn tiles(
    cx: &mut Cx,
    sizes: &Sizes,
    x: ValueId,
    positions: &Positions,
) -> Result<ValueId, OpError> {
    let f = Formula::new(cx);
    let image = f.reshape(x, &[-1, sizes.group()])?;
    let mut parts = Vec::with_capacity(4);
    for corner in corners(&f, sizes, positions)? {
        let values = pixels(&f, sizes, image, &corner)?;
        parts.push(f.mul(values, corner.share)?);
    }
    let y = f.mul(total(&f, &parts)?, positions.factor)?;
    tiled(cx, sizes, y)
}

/// A convolution of the tiles, which do not overlap.
fn convolution(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let dtype = cx.ty(op.input("x")?).dtype;
    let last = channels_last(op.image_format(2)?, 2)?;
    let filter = plain_filter(cx, op, "filter", 2, last)?;
    let &[_, _, high, wide] = &cx.dims(filter)?[..] else {
        return Err(invalid("its input filter must have 4 dimensions"));
    };
    let (sizes, x, positions) = read(cx, op, &[high, wide])?;
    let y = tiles(cx, &sizes, x, &positions)?;
    let mut inputs = vec![forward(cx, y, true, 2)?];
    for value in [Some(filter), op.maybe("bias")].into_iter().flatten() {
        inputs.push(cx.cast(value, DataType::Float32)?);
    }
    let attrs = Attrs::new()
        .with("strides", vec![1, 1, high, wide])
        .with("pads", vec![0i64; 4])
        .with("groups", op.int("groups")?)
        .with("data_format", "NCHW");
    let y = cx.one("Conv2D", &inputs, attrs)?;
    let y = backward(cx, y, last, 2)?;
    Ok(vec![cx.cast(y, dtype)?])
}

/// Arranges the reads as an image with a tile of the size of the filter for each pixel.
fn tiled(cx: &mut Cx, sizes: &Sizes, y: ValueId) -> Result<ValueId, OpError> {
    let ([rows, columns], [high, wide]) = (sizes.result, sizes.kernel);
    let split = [
        sizes.batch,
        rows,
        columns,
        sizes.groups,
        high,
        wide,
        sizes.group(),
    ];
    let y = cx.reshape(y, &split)?;
    let y = cx.transpose(y, &[0, 1, 4, 2, 5, 3, 6])?;
    cx.reshape(
        y,
        &[sizes.batch, rows * high, columns * wide, sizes.channels],
    )
}

fn moved_gradient(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let types = [
        cx.ty(op.input("x")?).dtype,
        cx.ty(op.input("offsets")?).dtype,
    ];
    let (sizes, x, positions) = read(cx, op, op.ints("ksize")?)?;
    let ([rows, columns], [high, wide]) = (sizes.result, sizes.kernel);
    let grad = cx.cast(op.input("grad")?, DataType::Float32)?;
    let grad = backward(cx, grad, !sizes.last, 2)?;
    let wanted = [sizes.batch, rows * high, columns * wide, sizes.channels];
    if cx.dims(grad)? != wanted {
        return Err(invalid(format!(
            "its input grad has the shape {:?} with channels last; {wanted:?} is required",
            cx.dims(grad)?
        )));
    }
    let tiles = [
        sizes.batch,
        rows,
        high,
        columns,
        wide,
        sizes.groups,
        sizes.group(),
    ];
    let grad = cx.reshape(grad, &tiles)?;
    let grad = cx.transpose(grad, &[0, 1, 3, 5, 2, 4, 6])?;
    let f = Formula::new(cx);
    let grad = f.reshape(grad, &sizes.reads())?;
    let image = f.reshape(x, &[-1, sizes.group()])?;
    let scaled = f.mul(grad, positions.factor)?;
    let pixel_count = sizes.batch * sizes.image[0] * sizes.image[1] * sizes.groups;
    let shape = f.ints(&[pixel_count, sizes.group()]);
    let mut sums = f.node("Fill", &[shape, f.number(0.0, grad)?], Attrs::new())?;
    let (mut values, mut down, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for corner in corners(&f, &sizes, &positions)? {
        let seen = pixels(&f, &sizes, image, &corner)?;
        values.push(f.mul(seen, corner.share)?);
        down.push(f.mul(seen, corner.by_y)?);
        over.push(f.mul(seen, corner.by_x)?);
        let own = f.reshape(f.mul(scaled, corner.share)?, &[-1, sizes.group()])?;
        let indices = f.reshape(corner.row, &[-1, 1])?;
        let attrs = Attrs::new().with("reduction", "add");
        sums = f.node("TensorScatterUpdate", &[sums, indices, own], attrs)?;
    }
    let part = |grad: ValueId, list: &[ValueId]| {
        let sum = f.sum(f.mul(grad, total(&f, list)?)?, &[5], false)?;
        let taps = sizes.groups * sizes.taps();
        f.reshape(sum, &[sizes.batch, rows, columns, taps])
    };
    let parts = [
        part(scaled, &over)?,
        part(scaled, &down)?,
        part(grad, &values)?,
    ];
    let attrs = Attrs::new().with("concat_dim", 3i64).with("N", 3i64);
    let by_offsets = f.node("ConcatD", &parts, attrs)?;
    let [height, width] = sizes.image;
    let by_x = f.reshape(sums, &[sizes.batch, height, width, sizes.channels])?;
    let mut all = Vec::with_capacity(2);
    for (value, dtype) in [by_x, by_offsets].into_iter().zip(types) {
        let value = forward(cx, value, !sizes.last, 2)?;
        all.push(cx.cast(value, dtype)?);
    }
    Ok(all)
}
