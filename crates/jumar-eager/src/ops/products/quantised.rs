//! Products of int8 and int4 matrices, with scales behind them.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::blocks::{check_integers, matrices};
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::normalization::computed;
use crate::ops::operands::FLOATS;
use crate::ops::quant::{QuantisedOutput, decoded_scales, limited, unpacked};
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// `out = sum * scale * row scale + offset + bias`
struct ScaledSum {
    /// The limits of an integer result, which is rounded.
    limits: Option<(f32, f32)>,
}

impl RowFunction for ScaledSum {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, sums, scale) = (rows.output(0), rows.input(0), rows.input(1));
        out.map2(sums, scale, |sum, scale| sum * scale);
        if let Some(factor) = rows.optional(2) {
            let factor = factor.get(0);
            out.map1(out.as_row(), |value| value * factor);
        }
        if let Some(offset) = rows.optional(3) {
            out.update(offset, |value, offset| value + offset);
        }
        if let Some(bias) = rows.optional(4) {
            out.update(bias, |value, bias| value + bias);
        }
        if let Some(limits) = self.limits {
            out.map1(out.as_row(), |value| {
                limited(value.round_ties_even(), limits)
            });
        }
    }
}

/// The parameters of one call that are not the matrices.
pub(super) struct Parameters {
    pub scale: View,
    pub row_scale: Option<View>,
    pub offset: Option<View>,
    pub bias: Option<View>,
}

/// Returns a matrix of small integers as int8.
pub(super) fn as_int8(cx: &mut Cx<'_>, view: View) -> Result<View, Refusal> {
    check_integers(cx, &view)?;
    match view.dtype() {
        DataType::Int8 => Ok(view),
        _ => unpacked(cx, view),
    }
}

/// Returns matrices of small integers as int8.
pub(super) fn operand_of(cx: &mut Cx<'_>, param: &str, view: View) -> Result<View, Refusal> {
    let view = as_int8(cx, view)?;
    let rank = view.rank();
    if rank < 2 {
        return Err(cx.invalid(format_args!(
            "{param} has {rank} dimensions; expected at least 2"
        )));
    }
    Ok(view)
}

fn operand(cx: &mut Cx<'_>, param: &str, flag: &str) -> Result<View, Refusal> {
    let view = cx.tensor(param)?;
    let view = operand_of(cx, param, view)?;
    let rank = view.rank();
    Ok(match cx.flag(flag)? {
        true => view.transpose(rank - 2, rank - 1),
        false => view,
    })
}

/// Returns parameters along columns as a row: one number or one for each column; or a shape that broadcasts.
fn along_columns(cx: &mut Cx<'_>, view: View, columns: usize) -> Result<View, Refusal> {
    let count = view.elements();
    match count == 1 || count == columns || view.dims().last() == Some(&columns) {
        true if count == 1 || count == columns => {
            let row = cx.reshaped(view, &[count])?;
            row.expand(&[columns])
                .ok_or_else(|| cx.defect("one element is repeated"))
        }
        true => Ok(view),
        false => Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have 1 or {columns} elements",
            cx.param_of(&view),
            view.dims()
        ))),
    }
}

pub(super) fn plan(
    cx: &mut Cx<'_>,
    one: View,
    two: View,
    parameters: Parameters,
    out: View,
) -> Result<(), Refusal> {
    let (rank, other) = (one.rank(), two.rank());
    let (&rows, &depth) = (&one.dims()[rank - 2], &one.dims()[rank - 1]);
    let (&own, &columns) = (&two.dims()[other - 2], &two.dims()[other - 1]);
    let batch = crate::view::broadcast(&one.dims()[..rank - 2], &two.dims()[..other - 2]);
    let (Some((batch, batch_rank)), true) = (batch, depth == own) else {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and x2 the shape {:?}: the product does not exist",
            one.dims(),
            two.dims()
        )));
    };
    let mut dims = batch[..batch_rank].to_vec();
    dims.extend([rows, columns]);
    cx.check_elements(&[&one, &two, &out])?;
    let (one, two) = (cx.dense(one)?, cx.dense(two)?);
    let sums = cx.temporary(DataType::Int32, &dims)?;
    cx.op(
        "jumar.MatMulInteger",
        &[one.into(), two.into()],
        &Attrs::new(),
        &[sums],
    )?;
    let bias = match parameters.bias {
        Some(bias) => Some(along_columns(cx, bias, columns)?),
        None => None,
    };
    let integer_bias = bias.is_some_and(|bias| bias.dtype() == DataType::Int32);
    if out.dtype() == DataType::Int32 {
        cx.check_dims(&out, &dims)?;
        return match bias {
            Some(bias) if integer_bias => {
                let operands = [Operand::Tensor(sums), Operand::Tensor(bias)];
                cx.map(F::Add, DataType::Int32, &operands, out)
            }
            Some(bias) => Err(cx.refuse_type(&cx.param_of(&bias), bias.dtype(), "int32")),
            None => cx.copy(sums, out),
        };
    }
    let scale = decoded_scales(cx, parameters.scale)?;
    let scale = along_columns(cx, scale, columns)?;
    let offset = match parameters.offset {
        Some(offset) => {
            cx.check_types(&offset, FLOATS)?;
            Some(along_columns(cx, offset, columns)?)
        }
        None => None,
    };
    let row_scale = match parameters.row_scale {
        Some(scale) => {
            cx.check_dtype(&scale, DataType::Float32)?;
            Some(match scale.elements() {
                1 => cx.reshaped(scale, &[1])?,
                count if count == rows => cx.reshaped(scale, &[rows, 1])?,
                _ => {
                    return Err(cx.invalid(format_args!(
                        "{} has the shape {:?}; it must have 1 or {rows} elements",
                        cx.param_of(&scale),
                        scale.dims()
                    )));
                }
            })
        }
        None => None,
    };
    let quantised = match out.dtype() {
        DataType::Int8 => Some(QuantisedOutput::new(cx, out, &dims)?),
        _ => {
            cx.check_types(&out, FLOATS)?;
            cx.check_dims(&out, &dims)?;
            None
        }
    };
    // The integer bias is added exactly: sums of int32 do not fit float32.
    let (sums, bias) = match bias {
        Some(bias) if integer_bias => {
            let operands = [Operand::Tensor(sums), Operand::Tensor(bias)];
            (
                computed(cx, F::Add, DataType::Int32, &operands, &dims)?,
                None,
            )
        }
        other => (sums, other),
    };
    let function = ScaledSum {
        limits: quantised.map(|quantised| quantised.limits),
    };
    let inputs = [Some(sums), Some(scale), row_scale, offset, bias];
    let target = quantised.map_or(out, |quantised| quantised.rows);
    cx.rows(function, &inputs, &[Some(target)])?;
    match quantised {
        Some(quantised) => quantised.finish(cx),
        None => Ok(()),
    }
}

/// A product of int8 matrices with a scale for each column, and for each row where it has them.
pub(crate) fn dequantised(
    cx: &mut Cx<'_>,
    (one, two): (View, View),
    (scale, row_scale): (View, Option<View>),
    bias: Option<View>,
    out: View,
) -> Result<(), Refusal> {
    let parameters = Parameters {
        scale,
        row_scale,
        offset: None,
        bias,
    };
    plan(cx, one, two, parameters, out)
}

pub(super) fn third(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let one = operand(cx, "x1", "transposeX1")?;
    let two = operand(cx, "x2", "transposeX2")?;
    let parameters = Parameters {
        scale: cx.tensor("scale")?,
        row_scale: None,
        offset: cx.optional("offset")?,
        bias: cx.optional("bias")?,
    };
    let out = cx.out("out")?;
    plan(cx, one, two, parameters, out)
}

pub(super) fn fourth(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let one = operand(cx, "x1", "transposeX1")?;
    let two = operand(cx, "x2", "transposeX2")?;
    let parameters = Parameters {
        scale: cx.tensor("scale")?,
        row_scale: cx.optional("pertokenScaleOptional")?,
        offset: cx.optional("offset")?,
        bias: cx.optional("bias")?,
    };
    let out = cx.out("out")?;
    plan(cx, one, two, parameters, out)
}

/// The parameters of the forms with a scale of either matrix.
fn newer(cx: &Cx<'_>) -> Result<Parameters, Refusal> {
    for param in ["yScale", "x1Offset", "yOffset"] {
        if cx.optional(param)?.is_some_and(|view| !view.is_empty()) {
            return Err(cx.unsupported(format_args!("products with {param} are not supported")));
        }
    }
    if cx.int("groupSize")? != 0 {
        return Err(cx.unsupported("groupSize is not 0: scales of groups are not supported"));
    }
    Ok(Parameters {
        scale: cx.tensor("x2Scale")?,
        row_scale: cx.optional("x1Scale")?,
        offset: cx.optional("x2Offset")?,
        bias: cx.optional("bias")?,
    })
}

pub(super) fn fifth(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let parameters = newer(cx)?;
    let one = operand(cx, "x1", "transposeX1")?;
    let two = operand(cx, "x2", "transposeX2")?;
    let out = cx.out("out")?;
    plan(cx, one, two, parameters, out)
}

/// The second matrix is stored in blocks.
pub(super) fn blocked(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let parameters = newer(cx)?;
    let one = operand(cx, "x1", "transposeX1")?;
    let (two, out) = (cx.tensor("x2")?, cx.out("out")?);
    cx.check_dtype(&two, DataType::Int8)?;
    let Some(&columns) = out.dims().last() else {
        return Err(cx.invalid("out has no dimensions; expected at least 2"));
    };
    let depth = one.dims()[one.rank() - 1];
    let swapped = cx.flag("transposeX2")?;
    let wanted = if swapped {
        [columns, depth]
    } else {
        [depth, columns]
    };
    let rank = match two.rank() {
        // The view is that of the matrix, and the storage that of its blocks.
        2 | 3 => two.rank(),
        rank => rank - 2,
    };
    let two = matrices(cx, "x2", rank, wanted)?;
    let two = match swapped {
        true => two.transpose(rank - 2, rank - 1),
        false => two,
    };
    plan(cx, one, two, parameters, out)
}

/// Writes the product of two matrices of int8 with an integer bias and scales, for operators that do more with it.
pub(crate) fn product(
    cx: &mut Cx<'_>,
    (one, two): (View, View),
    (scale, row_scale): (View, Option<View>),
    bias: Option<View>,
    out: View,
) -> Result<(), Refusal> {
    let parameters = Parameters {
        scale,
        row_scale,
        offset: None,
        bias,
    };
    plan(cx, one, two, parameters, out)
}
