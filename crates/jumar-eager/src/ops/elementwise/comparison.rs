//! Comparisons, logic and bounds.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::{Pair, Row, check_exists, check_shape, operands, pair, promoted};
use crate::build::{Cx, Input, Operand, writes};
use crate::element::F;
use crate::{Refusal, Scalar, promote};

macro_rules! asks {
    ($function:ident) => {
        |cx| compare(cx, F::$function)
    };
}

pub(crate) static COMPARISON: &[Row] = &[
    ("aclnnClamp", clamp),
    ("aclnnClampMax", clamp),
    ("aclnnClampMaxTensor", clamp),
    ("aclnnClampMin", clamp),
    ("aclnnClampMinTensor", clamp),
    ("aclnnClampTensor", clamp),
    ("aclnnEqScalar", asks!(Eq)),
    ("aclnnEqTensor", asks!(Eq)),
    ("aclnnEqual", equal),
    ("aclnnGeScalar", asks!(Ge)),
    ("aclnnGeTensor", asks!(Ge)),
    ("aclnnGtScalar", asks!(Gt)),
    ("aclnnGtTensor", asks!(Gt)),
    ("aclnnHardtanh", clamp),
    ("aclnnInplaceClampMax", clamp),
    ("aclnnInplaceClampMaxTensor", clamp),
    ("aclnnInplaceClampMinTensor", clamp),
    ("aclnnInplaceEqScalar", asks!(Eq)),
    ("aclnnInplaceEqTensor", asks!(Eq)),
    ("aclnnInplaceGeScalar", asks!(Ge)),
    ("aclnnInplaceGeTensor", asks!(Ge)),
    ("aclnnInplaceGtScalar", asks!(Gt)),
    ("aclnnInplaceGtTensor", asks!(Gt)),
    ("aclnnInplaceHardtanh", clamp),
    ("aclnnInplaceLeScalar", asks!(Le)),
    ("aclnnInplaceLeTensor", asks!(Le)),
    ("aclnnInplaceLogicalAnd", asks!(LogicalAnd)),
    ("aclnnInplaceLogicalOr", asks!(LogicalOr)),
    ("aclnnInplaceLtScalar", asks!(Lt)),
    ("aclnnInplaceLtTensor", asks!(Lt)),
    ("aclnnInplaceNeScalar", asks!(Ne)),
    ("aclnnInplaceNeTensor", asks!(Ne)),
    ("aclnnIsClose", is_close),
    ("aclnnLeScalar", asks!(Le)),
    ("aclnnLeTensor", asks!(Le)),
    ("aclnnLogicalAnd", asks!(LogicalAnd)),
    ("aclnnLogicalOr", asks!(LogicalOr)),
    ("aclnnLogicalXor", asks!(LogicalXor)),
    ("aclnnLtScalar", asks!(Lt)),
    ("aclnnLtTensor", asks!(Lt)),
    ("aclnnNeScalar", asks!(Ne)),
    ("aclnnNeTensor", asks!(Ne)),
];

fn compare(cx: &mut Cx<'_>, function: F) -> Result<(), Refusal> {
    let Pair {
        operands,
        dtype,
        out,
    } = pair(cx)?;
    check_exists(cx, function, dtype)?;
    cx.check_converts(DataType::Bool, &out)?;
    check_shape(cx, &operands, &out)?;
    cx.test(function, dtype, &operands, out)
}

/// Integers are compared in float64.
fn is_close(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let operands = operands(cx, &["self", "other", "rtol", "atol", "equal_nan"])?;
    let out = cx.out("out")?;
    let dtype = match promoted(cx, &operands)? {
        dtype if dtype.is_integer() || dtype == DataType::Bool => DataType::Float64,
        dtype => dtype,
    };
    let function = match promote::is_complex(dtype) {
        true => F::ComplexIsClose,
        false => F::IsClose,
    };
    check_exists(cx, function, dtype)?;
    cx.check_converts(DataType::Bool, &out)?;
    check_shape(cx, &operands, &out)?;
    cx.test(function, dtype, &operands, out)
}

/// All operators that bound a tensor: the parameters after the first that are not written are the bounds, tensors or scalars.
/// A bound is upper or lower by its name. Either may be null where there are both.
fn clamp(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    let (mut low, mut high) = (None, None);
    for param in &cx.params()[1..] {
        if writes(param.io) {
            continue;
        }
        let bound = match param.name.ends_with("Max") || param.name == "max" {
            true => &mut high,
            false => &mut low,
        };
        *bound = cx.optional_operand(param.name)?;
    }
    let mut dtype = x.dtype();
    for bound in [low, high].into_iter().flatten() {
        dtype = match bound {
            Operand::Tensor(view) => cx.promote(dtype, view.dtype())?,
            Operand::Scalar(scalar) => cx.promote_scalar(dtype, scalar.dtype())?,
        };
    }
    let x = Operand::Tensor(x);
    let (function, bounds): (F, &[Operand]) = match (low, high) {
        (Some(low), Some(high)) => (F::Clamp, &[x, low, high]),
        (Some(low), None) => (F::Max, &[x, low]),
        (None, Some(high)) => (F::Min, &[x, high]),
        (None, None) => {
            return Err(cx.null("clipValueMin and clipValueMax are null; one of them"));
        }
    };
    check_exists(cx, function, dtype)?;
    cx.check_converts(dtype, &out)?;
    check_shape(cx, bounds, &out)?;
    cx.map(function, dtype, bounds, out)
}

/// Whether two tensors have one shape and the same elements: one boolean.
fn equal(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, out) = (cx.tensor("self")?, cx.tensor("other")?, cx.out("out")?);
    let dtype = cx.promote(one.dtype(), two.dtype())?;
    check_exists(cx, F::Eq, dtype)?;
    cx.check_converts(DataType::Bool, &out)?;
    if out.elements() != 1 {
        return Err(cx.invalid(format_args!(
            "out has the shape {:?}; it must have one element",
            out.dims()
        )));
    }
    if one.dims() != two.dims() || one.is_empty() {
        return cx.fill(Scalar::of_bool(one.dims() == two.dims()), out);
    }
    let same = cx.temporary(DataType::UInt8, one.dims())?;
    cx.test(F::Eq, dtype, &[one, two].map(Operand::Tensor), same)?;
    let flat = cx.reshaped(same, &[one.elements()])?;
    let all = cx.temporary(DataType::UInt8, &[])?;
    let axes = Input::ints(&[0]);
    cx.op("ReduceMin", &[flat.into(), axes], &Attrs::new(), &[all])?;
    let zero = Operand::Scalar(Scalar::of_bool(false));
    let out = cx.reshaped(out, &[])?;
    cx.test(F::Ne, DataType::UInt8, &[Operand::Tensor(all), zero], out)
}
