//! Softmax of scaled and masked scores, and its gradient.

use jumar_ops::math::{Fast, Float};
use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::{FLOATS, check_same};
use crate::rows::{RowFunction, Rows, sum};
use crate::view::View;

/// The score of a masked entry.
const MASKED: f32 = -10000.0;

/// `softmax(scale * x)` where the mask is 0; a masked entry counts as -10000.
struct ScaledSoftmax {
    scale: f32,
}

impl RowFunction for ScaledSoftmax {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, scale) = (rows.output(0), self.scale);
        out.map2(rows.input(0), rows.input(1), |x, mask| match mask == 0.0 {
            true => x * scale,
            false => MASKED,
        });
        let most = out
            .as_row()
            .fold_wide(f32::NEG_INFINITY, f32::max, f32::max);
        out.map1(out.as_row(), |value| Fast::<FUSED>(value - most).exp().0);
        let total = sum(out.as_row());
        out.map1(out.as_row(), |value| value / total);
    }
}

/// `scale * y * (dy - sum(dy * y))` where the mask is 0
struct Gradient {
    scale: f32,
}

impl RowFunction for Gradient {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (dy, y, mask, scale) = (rows.input(0), rows.input(1), rows.input(2), self.scale);
        let total = dy.fold2_wide(y, 0.0, |sum, dy, y| sum + dy * y, |one, two| one + two);
        let out = rows.output(0);
        out.map2(dy, y, |dy, y| scale * y * (dy - total));
        out.update(mask, |value, mask| if mask == 0.0 { value } else { 0.0 });
    }
}

/// Returns the mask in the shape of the scores, as far as it is repeated.
fn mask(cx: &Cx<'_>, flag: &str, x: &View) -> Result<View, Refusal> {
    if cx.flag(flag)? {
        return Err(cx.unsupported(format_args!(
            "{flag}: a mask that is made inside is not supported"
        )));
    }
    let mask = cx.tensor("mask")?;
    cx.check_dtype(&mask, DataType::Bool)?;
    mask.expand(x.dims()).ok_or_else(|| {
        cx.invalid(format_args!(
            "mask has the shape {:?}, which cannot be broadcast to {:?}",
            mask.dims(),
            x.dims()
        ))
    })
}

pub(super) fn scaled_masked(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("y")?);
    cx.check_types(&x, FLOATS)?;
    if x.rank() != 4 {
        return Err(cx.invalid(format_args!("x has {} dimensions; expected 4", x.rank())));
    }
    check_same(cx, &out, &x)?;
    let mask = mask(cx, "fixedTriuMask", &x)?;
    let scale = cx.float("scale")? as f32;
    cx.rows(
        ScaledSoftmax { scale },
        &[Some(x), Some(mask)],
        &[Some(out)],
    )
}

pub(super) fn scaled_masked_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (dy, y, out) = (cx.tensor("gradOutput")?, cx.tensor("y")?, cx.out("out")?);
    cx.check_types(&y, FLOATS)?;
    check_same(cx, &dy, &y)?;
    check_same(cx, &out, &y)?;
    let mask = mask(cx, "fixTriuMask", &y)?;
    let scale = cx.float("scale")? as f32;
    let inputs = [Some(dy), Some(y), Some(mask)];
    cx.rows(Gradient { scale }, &inputs, &[Some(out)])
}
