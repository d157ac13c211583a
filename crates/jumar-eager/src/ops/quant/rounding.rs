//! Quantisation of rows.

use jumar_ops::minifloat::Rounding;
use jumar_ops::view::{Row, RowMut};

use super::encoding::Encoding;
use crate::Refusal;
use crate::build::Cx;
use crate::rows::largest_magnitude;

/// Reads the name of a mode. An absent name is `round`, which rounds halves to even here.
pub(super) fn named(cx: &Cx<'_>, param: &str) -> Result<Rounding, Refusal> {
    match cx.text(param)? {
        "" | "round" | "rint" => Ok(Rounding::Even),
        "floor" => Ok(Rounding::Floor),
        "ceil" => Ok(Rounding::Ceil),
        "trunc" => Ok(Rounding::Truncate),
        "hybrid" => Err(cx.unsupported(format_args!(
            "{param} hybrid is for hifloat8, which is not supported"
        ))),
        other => Err(cx.invalid(format_args!(
            "{param} is {other:?}; it must be round, rint, floor, ceil or trunc"
        ))),
    }
}

/// Limits a number to a range; not-a-number becomes 0.
#[inline(always)]
pub(crate) fn limited(value: f32, limits: (f32, f32)) -> f32 {
    if value.is_nan() {
        return 0.0;
    }
    value.clamp(limits.0, limits.1)
}

/// Quantises a row by its largest magnitude: `out = round(x / scale)` with `scale = max|x| / limits.1`. Returns the scale.
/// `out` holds the values.
#[inline(always)]
pub(crate) fn by_largest(out: RowMut<'_, f32>, limits: (f32, f32)) -> f32 {
    let scale = largest_magnitude(out.as_row()) / limits.1;
    divide(out, scale, limits);
    scale
}

/// Divides a row by a scale, and rounds.
#[inline(always)]
pub(crate) fn divide(out: RowMut<'_, f32>, scale: f32, limits: (f32, f32)) {
    out.map1(out.as_row(), |value| {
        limited((value / scale).round_ties_even(), limits)
    });
}

/// Quantises a row by given scales and offsets, each one number or one for each entry. `divides` says that the scale divides.
#[inline(always)]
pub(crate) fn by_scales(
    out: RowMut<'_, f32>,
    x: Row<'_, f32>,
    scale: Row<'_, f32>,
    offset: Option<Row<'_, f32>>,
    divides: bool,
    encoding: Encoding,
) {
    match divides {
        true => out.map2(x, scale, |value, scale| value / scale),
        false => out.map2(x, scale, |value, scale| value * scale),
    }
    if let Some(offset) = offset {
        out.update(offset, |value, offset| value + offset);
    }
    out.map1(out.as_row(), |value| encoding.apply(value));
}
