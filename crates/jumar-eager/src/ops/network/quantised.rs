//! Convolutions of quantised numbers.

use jumar_ops::minifloat::{Minifloat, Rounding};
use jumar_types::dtype::DataType;

use super::super::quant::{self, Factor, decoded, decoded_scales, rounding_to};
use super::convolution::convolve;
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;

/// The products of two int8 whose sum float32 holds exactly.
const EXACT: usize = (1 << 24) / (128 * 128);

/// Returns integers in the type that holds their sums, and floating-point numbers as float32.
fn numbers(cx: &mut Cx<'_>, view: View, taps: usize) -> Result<View, Refusal> {
    match view.dtype() {
        DataType::Int8 if taps > EXACT => cx.cast(view, DataType::Float64),
        DataType::Int8 => cx.cast(view, DataType::Float32),
        _ => decoded(cx, view),
    }
}

/// Checks the parameters of a quantised convolution, and returns how its result is rounded to a type of 8 bits.
fn check(cx: &Cx<'_>, [input, weight, out]: [&View; 3]) -> Result<Rounding, Refusal> {
    let operands = [DataType::Int8, DataType::Float8E4M3Fn, DataType::HiFloat8];
    cx.check_types(input, &operands)?;
    cx.check_dtype(weight, input.dtype())?;
    cx.check_types(
        out,
        &[
            DataType::Float16,
            DataType::BFloat16,
            DataType::Float32,
            DataType::Float8E4M3Fn,
            DataType::HiFloat8,
        ],
    )?;
    let rank = input.rank();
    let space = match rank {
        4 | 5 if weight.rank() == rank && out.rank() == rank => rank - 2,
        _ => {
            return Err(cx.invalid(format_args!(
                "input has {rank} dimensions, weight {} and output {}; all must have 4, or all 5",
                weight.rank(),
                out.rank()
            )));
        }
    };
    for param in ["stride", "padding", "dilation"] {
        let count = cx.ints(param)?.len();
        if count != space {
            return Err(cx.invalid(format_args!(
                "{param} has {count} entries for {space} dimensions of space"
            )));
        }
    }
    cx.check_elements(&[input, weight, out])?;
    if cx.flag("transposed")? || cx.optional("offset")?.is_some() {
        return Err(cx.unsupported("transposed convolutions and an offset are not supported"));
    }
    if cx.int("offsetx")? != 0 {
        return Err(cx.unsupported(
            "an offsetx other than 0 is not supported: what it is added to is not documented",
        ));
    }
    if Minifloat::of(out.dtype()).is_some() {
        return rounding_to(cx, "roundMode", out.dtype());
    }
    match cx.text("roundMode")? {
        "" | "rint" | "round" => Ok(Rounding::Even),
        other => Err(cx.invalid(format_args!(
            "roundMode is {other:?}; it must be rint or round"
        ))),
    }
}

/// The sums of the products times a scale for each channel, plus a bias.
pub(super) fn convolution(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, weight, out) = (cx.tensor("input")?, cx.tensor("weight")?, cx.out("output")?);
    let (scale, bias) = (cx.tensor("scale")?, cx.optional("bias")?);
    let rounding = check(cx, [&input, &weight, &out])?;
    let channels = out.dims()[1];
    let words = [DataType::Float32, DataType::Int64, DataType::UInt64];
    cx.check_types(&scale, &words)?;
    cx.check_dims(&scale, &[channels])?;
    if let Some(bias) = &bias {
        // The document adds a bias behind the scale, and has bias of the type of the sums, which others add before it.
        if bias.dtype() == DataType::Int32 {
            return Err(cx.unsupported(
                "a bias of int32 is not supported: whether it is scaled is not documented",
            ));
        }
        let floats = [DataType::Float32, DataType::Float16, DataType::BFloat16];
        cx.check_types(bias, &floats)?;
        cx.check_dims(bias, &[channels])?;
    }
    let taps: usize = weight.dims()[1..].iter().product();
    let operands = [numbers(cx, input, taps)?, numbers(cx, weight, taps)?];
    let sums = cx.temporary(DataType::Float32, out.dims())?;
    convolve(cx, operands, None, sums)?;
    let scale = decoded_scales(cx, scale)?;
    if Minifloat::of(out.dtype()).is_some() {
        let how = (Factor::Times, rounding);
        return quant::quantised(cx, sums, (scale, bias), 1, how, out);
    }
    let mut own = vec![1; out.rank()];
    own[1] = channels;
    let scale = cx.reshaped(scale, &own)?;
    let Some(bias) = bias else {
        let factors = [Operand::Tensor(sums), Operand::Tensor(scale)];
        return cx.map(F::Mul, DataType::Float32, &factors, out);
    };
    let factors = [Operand::Tensor(sums), Operand::Tensor(scale)];
    cx.map(F::Mul, DataType::Float32, &factors, sums)?;
    let bias = cx.reshaped(bias, &own)?;
    let terms = [Operand::Tensor(sums), Operand::Tensor(bias)];
    cx.map(F::Add, DataType::Float32, &terms, out)
}
