//! The hue and the saturation of images, as TensorFlow changes them.

use jumar_ops::{Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AdjustHue", |cx, op| changed(cx, op, "delta", hue)),
    ("AdjustSaturation", |cx, op| {
        changed(cx, op, "scale", saturation)
    }),
];

type Channels = [ValueId; 3];

/// Changes the channels of images by a formula of their values and of one number.
fn changed(
    cx: &mut Cx,
    op: &Op<'_>,
    number: &str,
    formula: impl FnOnce(&Formula<'_>, Channels, ValueId) -> Result<Channels, OpError>,
) -> Result<Vec<ValueId>, OpError> {
    let images = op.input("images")?;
    let (dtype, dims) = (cx.ty(images).dtype, cx.dims(images)?);
    if !matches!(dtype, DataType::Float32 | DataType::Float16) {
        return Err(invalid(format!(
            "its input images has the type {dtype}; float32 or float16 is required, as colours of integers are scaled by the program"
        )));
    }
    let axis = match op.text("data_format")? {
        "HWC" => dims.len().checked_sub(1),
        "CHW" => dims.len().checked_sub(3),
        other => {
            return Err(invalid(format!(
                "its attribute data_format is {other}; it must be HWC or CHW"
            )));
        }
    };
    let axis = match axis.filter(|&axis| dims.len() >= 3 && dims[axis] == 3) {
        Some(axis) => axis as i64,
        None => {
            return Err(invalid(format!(
                "its input images has the shape {dims:?}; 3 dimensions at least and three channels are required"
            )));
        }
    };
    let number = cx.cast(op.input(number)?, DataType::Float32)?;
    let f = Formula::new(cx);
    let number = f.reshape(number, &[])?;
    let images = f.cast(images, DataType::Float32)?;
    let [red, green, blue] = [0, 1, 2].map(|at| f.part(images, axis, at, at + 1));
    let new = formula(&f, [red?, green?, blue?], number)?;
    Ok(vec![f.cast(f.joined(&new, axis)?, dtype)?])
}

/// Returns the largest of the three values of each pixel, and by how much it exceeds the smallest.
fn extent(f: &Formula<'_>, [r, g, b]: Channels) -> Result<(ValueId, ValueId), OpError> {
    let most = f.max(f.max(r, g)?, b)?;
    let least = f.min(f.min(r, g)?, b)?;
    Ok((most, f.sub(most, least)?))
}

/// Divides; by 0 there is 0.
fn share(f: &Formula<'_>, a: ValueId, b: ValueId) -> Result<ValueId, OpError> {
    let some = f.above(b, 0.0)?;
    let safe = f.choose(some, b, f.number(1.0, b)?)?;
    f.only(some, f.div(a, safe)?)
}

/// Turns the hue; a turn is 1.
fn hue(f: &Formula<'_>, rgb: Channels, delta: ValueId) -> Result<Channels, OpError> {
    let [r, g, b] = rgb;
    let (most, range) = extent(f, rgb)?;
    // In sixths of a turn.
    let of_red = share(f, f.sub(g, b)?, range)?;
    let of_green = f.plus(share(f, f.sub(b, r)?, range)?, 2.0)?;
    let of_blue = f.plus(share(f, f.sub(r, g)?, range)?, 4.0)?;
    let own = f.choose(f.equal(g, most)?, of_green, of_blue)?;
    let own = f.choose(f.equal(r, most)?, of_red, own)?;
    let new = f.add(own, f.times(delta, 6.0)?)?;
    let turns = f.of("Floor", f.times(new, 1.0 / 6.0)?)?;
    let new = f.sub(new, f.times(turns, 6.0)?)?;
    let least = f.sub(most, range)?;
    let far = |from: f64| f.of("Abs", f.plus(new, -from)?);
    let shares = [
        f.plus(far(3.0)?, -1.0)?,
        f.from(2.0, far(2.0)?)?,
        f.from(2.0, far(4.0)?)?,
    ];
    let (zero, one) = (f.number(0.0, new)?, f.number(1.0, new)?);
    let channel = |share| {
        let share = f.min(f.max(share, zero)?, one)?;
        f.add(least, f.mul(range, share)?)
    };
    let [r, g, b] = shares.map(channel);
    Ok([r?, g?, b?])
}

/// Multiplies the saturation, which ends at 1.
fn saturation(f: &Formula<'_>, rgb: Channels, scale: ValueId) -> Result<Channels, OpError> {
    let (most, range) = extent(f, rgb)?;
    let (zero, one) = (f.number(0.0, most)?, f.number(1.0, most)?);
    let own = share(f, range, most)?;
    let new = f.min(f.max(f.mul(own, scale)?, zero)?, one)?;
    let new = f.mul(new, most)?;
    // How far each value is below the largest one grows with the range.
    let factor = share(f, new, range)?;
    let channel = |value| f.sub(most, f.mul(f.sub(most, value)?, factor)?);
    let [r, g, b] = rgb.map(channel);
    Ok([r?, g?, b?])
}
