//! Fills, copies and conversions.

use jumar_types::dtype::DataType;

use super::{Row, check_shape};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::{Refusal, Scalar};

pub(crate) static MOVE: &[Row] = &[
    ("aclnnCast", cast),
    ("aclnnComplex", complex),
    ("aclnnInplaceCopy", copy),
    ("aclnnInplaceFillScalar", fill),
    ("aclnnInplaceFillTensor", fill_tensor),
    ("aclnnInplaceMaskedFillScalar", masked_fill),
    ("aclnnInplaceMaskedFillTensor", masked_fill),
    ("aclnnInplaceOne", |cx| fill_with(cx, 1)),
    ("aclnnInplaceZero", |cx| fill_with(cx, 0)),
    ("aclnnPolar", polar),
    ("aclnnSWhere", where_),
];

fn fill(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, value) = (cx.output()?, cx.scalar("value")?);
    cx.fill(value, out)
}

fn fill_with(cx: &mut Cx<'_>, value: i64) -> Result<(), Refusal> {
    let out = cx.output()?;
    cx.fill(Scalar::of_i64(value), out)
}

fn fill_tensor(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, value) = (cx.output()?, cx.tensor("value")?);
    if value.elements() != 1 {
        return Err(cx.invalid(format_args!(
            "value has the shape {:?}; it must have one element",
            value.dims()
        )));
    }
    let value = cx.reshaped(value, &[])?;
    cx.copy(value, out)
}

fn copy(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, source) = (cx.output()?, cx.tensor("src")?);
    if source.expand(out.dims()).is_none() {
        return Err(cx.invalid(format_args!(
            "src has the shape {:?}, which cannot be broadcast to {:?} of selfRef",
            source.dims(),
            out.dims()
        )));
    }
    cx.copy(source, out)
}

fn cast(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, dtype) = (cx.tensor("self")?, cx.out("out")?, cx.dtype("dtype")?);
    cx.check_dtype(&out, dtype)?;
    cx.check_dims(&out, x.dims())?;
    cx.copy(x, out)
}

/// value is a host scalar, or a tensor of one element.
fn masked_fill(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, mask) = (cx.output()?, cx.tensor("mask")?);
    let mut value = cx.operand("value")?;
    cx.check_types(&mask, &[DataType::Bool])?;
    if let Operand::Tensor(view) = &mut value {
        if view.elements() != 1 {
            return Err(cx.invalid(format_args!(
                "value has the shape {:?}; it must have one element",
                view.dims()
            )));
        }
        *view = cx.reshaped(*view, &[])?;
    }
    let operands = [Operand::Tensor(out), Operand::Tensor(mask), value];
    check_shape(cx, &operands, &out)?;
    cx.map(F::MaskedFill, out.dtype(), &operands, out)
}

fn where_(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (condition, out) = (cx.tensor("condition")?, cx.out("out")?);
    let (yes, no) = (cx.tensor("self")?, cx.tensor("other")?);
    cx.check_types(&condition, &[DataType::Bool, DataType::UInt8])?;
    let dtype = cx.promote(yes.dtype(), no.dtype())?;
    cx.check_converts(dtype, &out)?;
    let operands = [condition, yes, no].map(Operand::Tensor);
    check_shape(cx, &operands, &out)?;
    cx.map(F::Where, dtype, &operands, out)
}

/// Returns the complex type whose parts have a type.
fn joined(dtype: DataType) -> Option<DataType> {
    match dtype {
        DataType::Float16 => Some(DataType::Complex32),
        DataType::Float32 => Some(DataType::Complex64),
        DataType::Float64 => Some(DataType::Complex128),
        _ => None,
    }
}

fn complex(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    join(cx, F::Join, "real", "imag")
}

fn polar(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    join(cx, F::Polar, "input", "angle")
}

fn join(cx: &mut Cx<'_>, function: F, one: &str, two: &str) -> Result<(), Refusal> {
    let (one, two, out) = (cx.tensor(one)?, cx.tensor(two)?, cx.out("out")?);
    cx.check_dtype(&two, one.dtype())?;
    let Some(dtype) = joined(one.dtype()) else {
        let wanted = "float16, float32, float64";
        return Err(cx.refuse_type(&cx.param_of(&one), one.dtype(), wanted));
    };
    cx.check_dtype(&out, dtype)?;
    let operands = [one, two].map(Operand::Tensor);
    check_shape(cx, &operands, &out)?;
    cx.map(function, dtype, &operands, out)
}
