//! Quantisation by given scales, and its inverse.

use jumar_ops::minifloat::{Minifloat, Rounding};
use jumar_types::dtype::DataType;

use super::by_rows::group_of;
use super::encoding::{EncodedOutput, Encoding, rounding_to};
use super::packed::{QuantisedOutput, check_number, unpacked};
use super::rounding::{self, limited};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::FLOATS;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// How scales and offsets become factors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    /// `x * scale + offset`
    Times,
    /// `x * scale * scale + offset`
    TimesSquare,
    /// `x / scale + offset`
    Over,
}

/// `y = round(x * scale + offset)`
struct Static {
    factor: Factor,
    encoding: Encoding,
}

impl RowFunction for Static {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, scale) = (rows.output(0), rows.input(1));
        match self.factor {
            Factor::Times => out.map2(rows.input(0), scale, |x, scale| x * scale),
            Factor::TimesSquare => out.map2(rows.input(0), scale, |x, scale| x * scale * scale),
            Factor::Over => out.map2(rows.input(0), scale, |x, scale| x / scale),
        }
        if let Some(offset) = rows.optional(2) {
            out.update(offset, |value, offset| value + offset);
        }
        let encoding = self.encoding;
        out.map1(out.as_row(), |value| encoding.apply(value));
    }
}

/// Returns a view of `x` with at least one dimension.
fn with_rows(x: View) -> View {
    match x.rank() {
        0 => x.unsqueeze(0),
        _ => x,
    }
}

/// Returns scales or offsets as rows of `dims`: one number, one for each entry of a dimension, or a shape that broadcasts.
fn along(cx: &mut Cx<'_>, view: View, dims: &[usize], axis: usize) -> Result<View, Refusal> {
    let view = cx.cast(view, DataType::Float32)?;
    let shaped = match view.elements() {
        1 => cx.reshaped(view, &[1])?,
        count if view.rank() == 1 && count == dims[axis] => {
            let mut own = vec![1; dims.len()];
            own[axis] = count;
            cx.reshaped(view, &own)?
        }
        _ => view,
    };
    shaped.expand(dims).ok_or_else(|| {
        cx.invalid(format_args!(
            "{} has the shape {:?}; expected one element, or one for each of the {} entries of dimension {axis} of {dims:?}",
            cx.param_of(&view),
            view.dims(),
            dims[axis]
        ))
    })
}

/// Quantises a tensor by scales and offsets: one number each, one for each entry of a dimension, or shapes that broadcast.
pub(crate) fn quantised(
    cx: &mut Cx<'_>,
    x: View,
    (scale, offset): (View, Option<View>),
    axis: usize,
    (factor, rounding): (Factor, Rounding),
    out: View,
) -> Result<(), Refusal> {
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&scale, FLOATS)?;
    let (x, out) = (with_rows(x), with_rows(out));
    let target = EncodedOutput::new(cx, out, x.dims(), rounding)?;
    let dims = x.dims().to_vec();
    let scale = along(cx, scale, &dims, axis)?;
    let offset = match offset {
        Some(offset) => Some(along(cx, offset, &dims, axis)?),
        None => None,
    };
    let function = Static {
        factor,
        encoding: target.encoding,
    };
    cx.rows(
        function,
        &[Some(x), Some(scale), offset],
        &[Some(target.rows())],
    )?;
    target.finish(cx)
}

/// The quantisation of the two Ascend operators, along a dimension.
fn ascend(cx: &mut Cx<'_>, axis: i64) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("y")?);
    let (scale, offset) = (cx.tensor("scale")?, cx.optional("offset")?);
    check_number(cx, "dstType", &out)?;
    let rounding = match Minifloat::of(out.dtype()) {
        Some(_) => rounding_to(cx, "roundMode", out.dtype())?,
        None => rounding::named(cx, "roundMode")?,
    };
    let factor = match cx.flag("sqrtMode")? {
        true => Factor::TimesSquare,
        false => Factor::Times,
    };
    let axis = cx.axis("axis", axis, x.rank())?;
    if axis + 2 < x.rank() {
        return Err(cx.invalid(format_args!(
            "axis is {axis}; it must be one of the last two of {} dimensions",
            x.rank()
        )));
    }
    quantised(cx, x, (scale, offset), axis, (factor, rounding), out)
}

pub(super) fn ascend_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    ascend(cx, -1)
}

pub(super) fn ascend_quant_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let axis = cx.int("axis")?;
    ascend(cx, axis)
}

/// `y = (x + offset) * scale`
struct Inverse {
    squared: bool,
}

impl RowFunction for Inverse {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, x, scale) = (rows.output(0), rows.input(0), rows.input(1));
        match rows.optional(2) {
            Some(offset) => out.map2(x, offset, |x, offset| x + offset),
            None => out.copy_from(x),
        }
        match self.squared {
            true => out.update(scale, |value, scale| value * scale * scale),
            false => out.update(scale, |value, scale| value * scale),
        }
    }
}

pub(super) fn ascend_anti_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("y")?, cx.tensor("scale")?);
    let offset = cx.optional("offset")?;
    cx.check_types(&x, &[DataType::Int8, DataType::Int4, DataType::Int32])?;
    cx.check_types(&out, &[DataType::Float16, DataType::BFloat16])?;
    cx.check_types(&scale, FLOATS)?;
    check_number(cx, "dstType", &out)?;
    let x = match x.dtype() {
        DataType::Int8 => x,
        _ => unpacked(cx, x)?,
    };
    let (x, out) = (with_rows(x), with_rows(out));
    cx.check_dims(&out, x.dims())?;
    let (dims, axis) = (x.dims().to_vec(), x.rank() - 1);
    let scale = along(cx, scale, &dims, axis)?;
    let offset = match offset {
        Some(offset) => Some(along(cx, offset, &dims, axis)?),
        None => None,
    };
    let squared = cx.flag("sqrtMode")?;
    cx.rows(
        Inverse { squared },
        &[Some(x), Some(scale), offset],
        &[Some(out)],
    )
}

pub(super) fn quantize(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("out")?, cx.tensor("scales")?);
    let offset = cx.optional("zeroPoints")?;
    let dtype = cx.dtype("dtype")?;
    cx.check_dtype(&out, dtype)?;
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&scale, FLOATS)?;
    let limits = match dtype {
        DataType::Int8 => (-128.0, 127.0),
        DataType::UInt8 => (0.0, 255.0),
        // The largest float32 that is an int32.
        DataType::Int32 => (i32::MIN as f32, 2_147_483_520.0),
        other => {
            return Err(cx.unsupported(format_args!(
                "results of the type {other} are not supported"
            )));
        }
    };
    cx.check_dims(&out, x.dims())?;
    let axis = cx.axis("axis", cx.int("axis")?, x.rank())?;
    let (x, out) = (with_rows(x), with_rows(out));
    let dims = x.dims().to_vec();
    let scale = along(cx, scale, &dims, axis)?;
    let offset = match offset {
        Some(offset) => Some(along(cx, offset, &dims, axis)?),
        None => None,
    };
    let function = Static {
        factor: Factor::Over,
        encoding: Encoding::Integer {
            limits,
            rounding: Rounding::Even,
        },
    };
    cx.rows(function, &[Some(x), Some(scale), offset], &[Some(out)])
}

/// `y = round(x * scale + offset)` with the scales of the group that a row belongs to.
struct GroupScaling {
    width: usize,
    limits: (f32, f32),
}

impl RowFunction for GroupScaling {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, width, limits) = (rows.output(0), self.width, self.limits);
        let group = rows
            .integers(0)
            .map_or(0, |ends| group_of(ends, rows.number));
        let scale = rows.input(1).slice(group * width, width);
        let offset = rows.optional(2).map_or(0.0, |offset| offset.get(0));
        out.map2(rows.input(0), scale, |x, scale| {
            limited((x * scale + offset).round_ties_even(), limits)
        });
    }
}

pub(super) fn group_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("y")?, cx.tensor("scale")?);
    let (groups, offset) = (cx.tensor("groupIndex")?, cx.optional("offsetOptional")?);
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&scale, FLOATS)?;
    cx.check_types(&groups, &[DataType::Int32, DataType::Int64])?;
    check_number(cx, "dstType", &out)?;
    let &[_, width] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; expected two dimensions",
            x.dims()
        )));
    };
    let experts = groups.elements();
    cx.check_dims(&scale, &[experts, width])?;
    cx.check_dims(&groups, &[experts])?;
    if experts == 0 {
        return Err(cx.invalid("groupIndex is empty; expected at least one group"));
    }
    if offset.is_some_and(|offset| offset.elements() != 1) {
        return Err(cx.invalid("offsetOptional must have one element"));
    }
    let target = QuantisedOutput::new(cx, out, x.dims())?;
    let scale = cx.cast(scale, DataType::Float32)?;
    let scale = cx.reshaped(scale, &[experts * width])?;
    let offset = match offset {
        Some(offset) => Some(cx.reshaped(offset, &[1])?),
        None => None,
    };
    let function = GroupScaling {
        width,
        limits: target.limits,
    };
    let inputs = [Some(x), Some(scale), offset];
    cx.rows_with(function, &[Some(groups)], &inputs, &[Some(target.rows)])?;
    target.finish(cx)
}

/// Rounds to the grid of a quantisation, and reports which entries lie inside it.
struct Fake {
    limits: (f32, f32),
}

impl RowFunction for Fake {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, scale, zero) = (rows.input(0), rows.input(1), rows.input(2));
        let (out, mask, limits) = (rows.output(0), rows.output(1), self.limits);
        out.map2(x, scale, |x, scale| (x / scale).round_ties_even());
        out.update(zero, |value, zero| (value + zero).round_ties_even());
        mask.map1(out.as_row(), |value| {
            f32::from(u8::from(value >= limits.0 && value <= limits.1))
        });
        out.update(zero, |value, zero| value.max(limits.0).min(limits.1) - zero);
        out.update(scale, |value, scale| value * scale);
    }
}

fn fake_quant(cx: &mut Cx<'_>, axis: Option<usize>) -> Result<(), Refusal> {
    let (x, out, mask) = (cx.tensor("self")?, cx.out("out")?, cx.out("mask")?);
    let (scale, zero) = (cx.tensor("scale")?, cx.tensor("zeroPoint")?);
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&scale, FLOATS)?;
    cx.check_dims(&out, x.dims())?;
    cx.check_dims(&mask, x.dims())?;
    cx.check_dtype(&mask, DataType::Bool)?;
    let (least, most) = (cx.int("quantMin")?, cx.int("quantMax")?);
    if least > most {
        return Err(cx.invalid(format_args!(
            "quantMin is {least} and quantMax {most}; quantMin must not be larger"
        )));
    }
    let (x, out, mask) = (with_rows(x), with_rows(out), with_rows(mask));
    let dims = x.dims().to_vec();
    for view in [&scale, &zero] {
        let wanted = axis.map_or(1, |axis| dims[axis]);
        if view.elements() != wanted {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; it must have {wanted} elements",
                cx.param_of(view),
                view.dims()
            )));
        }
    }
    let axis = axis.unwrap_or(0);
    let (scale, zero) = (
        along(cx, scale, &dims, axis)?,
        along(cx, zero, &dims, axis)?,
    );
    let limits = (least as f32, most as f32);
    let inputs = [Some(x), Some(scale), Some(zero)];
    cx.rows(Fake { limits }, &inputs, &[Some(out), Some(mask)])
}

pub(super) fn fake_quant_channels(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("self")?;
    let axis = cx.axis("axis", cx.int("axis")?, x.rank())?;
    fake_quant(cx, Some(axis))
}

pub(super) fn fake_quant_tensor(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let enabled = cx.float("fakeQuantEnbled")?;
    if enabled >= 1.0 {
        return fake_quant(cx, None);
    }
    // The values pass, and all of them count.
    let (x, out, mask) = (cx.tensor("self")?, cx.out("out")?, cx.out("mask")?);
    cx.check_dims(&out, x.dims())?;
    cx.check_dims(&mask, x.dims())?;
    cx.copy(x, out)?;
    cx.fill(crate::Scalar::of_bool(true), mask)
}

/// `y = (x + integer bias) * weight scale * activation scale + bias`
struct Dequant {
    integer_bias: bool,
}

impl RowFunction for Dequant {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, x, weights) = (rows.output(0), rows.input(0), rows.input(1));
        match rows.optional(3).filter(|_| self.integer_bias) {
            Some(bias) => out.map2(x, bias, |x, bias| x + bias),
            None => out.copy_from(x),
        }
        out.update(weights, |value, scale| value * scale);
        if let Some(scale) = rows.optional(2) {
            let scale = scale.get(0);
            out.map1(out.as_row(), |value| value * scale);
        }
        if let Some(bias) = rows.optional(3).filter(|_| !self.integer_bias) {
            out.update(bias, |value, bias| value + bias);
        }
    }
}

pub(super) fn dequant_bias(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, weights) = (cx.tensor("x")?, cx.out("out")?, cx.tensor("weightScale")?);
    cx.check_dtype(&x, DataType::Int32)?;
    cx.check_types(&out, &[DataType::Float16, DataType::BFloat16])?;
    cx.check_types(&weights, &[DataType::Float32, DataType::BFloat16])?;
    check_number(cx, "outputDtype", &out)?;
    let &[rows, width] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; expected two dimensions",
            x.dims()
        )));
    };
    cx.check_dims(&out, x.dims())?;
    cx.check_dims(&weights, &[width])?;
    let activation = match cx.optional("activateScaleOptional")? {
        Some(scale) => {
            cx.check_dtype(&scale, DataType::Float32)?;
            if scale.elements() != rows {
                return Err(cx.invalid(format_args!(
                    "activateScaleOptional has the shape {:?}; it must have {rows} elements",
                    scale.dims()
                )));
            }
            Some(cx.reshaped(scale, &[rows, 1])?)
        }
        None => None,
    };
    let bias = cx.optional("biasOptional")?;
    if let Some(bias) = &bias {
        cx.check_dims(bias, &[width])?;
    }
    let integer_bias = bias.is_some_and(|bias| bias.dtype() == DataType::Int32);
    let inputs = [Some(x), Some(weights), activation, bias];
    cx.rows(Dequant { integer_bias }, &inputs, &[Some(out)])
}
