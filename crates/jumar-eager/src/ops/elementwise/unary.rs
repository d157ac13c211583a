//! Functions of one element.

use jumar_types::dtype::DataType;

use super::{Row, Rule, check_exists, named, unary};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::{Refusal, Scalar, promote};

/// A function that integers have as it is.
macro_rules! keep {
    ($function:ident) => {
        |cx| unary(cx, F::$function, Rule::Keep)
    };
}

/// A function that integers are converted to float32 for.
macro_rules! real {
    ($function:ident) => {
        |cx| unary(cx, F::$function, Rule::Real)
    };
}

/// A function of reals, integers among them, and the one of complex numbers.
macro_rules! kinds {
    ($real:ident, $complex:ident) => {
        |cx| match promote::is_complex(cx.tensor_at(0)?.dtype()) {
            true => unary(cx, F::$complex, Rule::Keep),
            false => unary(cx, F::$real, Rule::Real),
        }
    };
}

/// A function that rounds: integers and booleans are copied.
macro_rules! rounds {
    ($function:ident) => {
        |cx| round(cx, F::$function)
    };
}

/// A test of floats and of complex numbers, and its answer for integers.
macro_rules! asks {
    ($real:ident, $complex:ident, $integers:expr) => {
        |cx| ask(cx, F::$real, Some(F::$complex), $integers)
    };
    ($real:ident, $integers:expr) => {
        |cx| ask(cx, F::$real, None, $integers)
    };
}

pub(crate) static UNARY: &[Row] = &[
    ("aclnnAbs", abs),
    ("aclnnAcos", real!(Acos)),
    ("aclnnAcosh", real!(Acosh)),
    ("aclnnAngleV2", angle),
    ("aclnnAsin", real!(Asin)),
    ("aclnnAsinh", real!(Asinh)),
    ("aclnnAtan", real!(Atan)),
    ("aclnnAtanh", real!(Atanh)),
    ("aclnnBitwiseNot", bitwise_not),
    ("aclnnCeil", rounds!(Ceil)),
    ("aclnnCos", real!(Cos)),
    ("aclnnCosh", real!(Cosh)),
    ("aclnnDigamma", real!(Digamma)),
    ("aclnnErf", real!(Erf)),
    ("aclnnErfc", real!(Erfc)),
    ("aclnnErfinv", real!(Erfinv)),
    ("aclnnExp", real!(Exp)),
    ("aclnnExp2", kinds!(Exp2, ComplexExp2)),
    ("aclnnExpm1", kinds!(Expm1, ComplexExpm1)),
    ("aclnnFloor", rounds!(Floor)),
    ("aclnnFrac", frac),
    ("aclnnInplaceAcos", real!(Acos)),
    ("aclnnInplaceAcosh", real!(Acosh)),
    ("aclnnInplaceAsin", real!(Asin)),
    ("aclnnInplaceAsinh", real!(Asinh)),
    ("aclnnInplaceAtan", real!(Atan)),
    ("aclnnInplaceAtanh", real!(Atanh)),
    ("aclnnInplaceCeil", rounds!(Ceil)),
    ("aclnnInplaceCos", real!(Cos)),
    ("aclnnInplaceCosh", real!(Cosh)),
    ("aclnnInplaceErf", real!(Erf)),
    ("aclnnInplaceErfc", real!(Erfc)),
    ("aclnnInplaceErfinv", real!(Erfinv)),
    ("aclnnInplaceExp", real!(Exp)),
    ("aclnnInplaceExp2", kinds!(Exp2, ComplexExp2)),
    ("aclnnInplaceExpm1", kinds!(Expm1, ComplexExpm1)),
    ("aclnnInplaceFloor", rounds!(Floor)),
    ("aclnnInplaceFrac", frac),
    ("aclnnInplaceLog", real!(Log)),
    ("aclnnInplaceLog10", kinds!(Log10, ComplexLog10)),
    ("aclnnInplaceLog1p", kinds!(Log1p, ComplexLog1p)),
    ("aclnnInplaceLog2", kinds!(Log2, ComplexLog2)),
    ("aclnnInplaceLogicalNot", logical_not),
    ("aclnnInplaceNanToNum", nan_to_num),
    ("aclnnInplaceNeg", keep!(Neg)),
    ("aclnnInplaceReciprocal", real!(Reciprocal)),
    ("aclnnInplaceRound", rounds!(Round)),
    ("aclnnInplaceRoundDecimals", round_decimals),
    ("aclnnInplaceRsqrt", real!(Rsqrt)),
    ("aclnnInplaceSigmoid", real!(Sigmoid)),
    ("aclnnInplaceSin", real!(Sin)),
    ("aclnnInplaceSinc", kinds!(Sinc, ComplexSinc)),
    ("aclnnInplaceSinh", real!(Sinh)),
    ("aclnnInplaceSqrt", real!(Sqrt)),
    ("aclnnInplaceTan", real!(Tan)),
    ("aclnnInplaceTanh", real!(Tanh)),
    ("aclnnInplaceTrunc", rounds!(Trunc)),
    ("aclnnIsFinite", asks!(IsFinite, ComplexIsFinite, true)),
    ("aclnnIsInf", asks!(IsInf, ComplexIsInf, false)),
    ("aclnnIsNegInf", asks!(IsNegInf, false)),
    ("aclnnIsPosInf", asks!(IsPosInf, false)),
    ("aclnnLgamma", real!(Lgamma)),
    ("aclnnLog", real!(Log)),
    ("aclnnLog10", kinds!(Log10, ComplexLog10)),
    ("aclnnLog1p", kinds!(Log1p, ComplexLog1p)),
    ("aclnnLog2", kinds!(Log2, ComplexLog2)),
    ("aclnnLogicalNot", logical_not),
    ("aclnnNanToNum", nan_to_num),
    ("aclnnNeg", keep!(Neg)),
    ("aclnnReal", real_part),
    ("aclnnReciprocal", real!(Reciprocal)),
    ("aclnnRound", rounds!(Round)),
    ("aclnnRoundDecimals", round_decimals),
    ("aclnnRsqrt", real!(Rsqrt)),
    ("aclnnSigmoid", real!(Sigmoid)),
    ("aclnnSign", sign),
    ("aclnnSignbit", signbit),
    ("aclnnSin", real!(Sin)),
    ("aclnnSinc", kinds!(Sinc, ComplexSinc)),
    ("aclnnSinh", real!(Sinh)),
    ("aclnnSqrt", real!(Sqrt)),
    ("aclnnSquare", keep!(Square)),
    ("aclnnTan", real!(Tan)),
    ("aclnnTanh", real!(Tanh)),
    ("aclnnTrunc", rounds!(Trunc)),
];

/// Plans a function of complex numbers whose result is real.
fn to_part(cx: &mut Cx<'_>, function: F) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    cx.check_converts(promote::part(x.dtype()), &out)?;
    cx.check_dims(&out, x.dims())?;
    cx.map(function, x.dtype(), &[Operand::Tensor(x)], out)
}

fn abs(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match promote::is_complex(cx.tensor_at(0)?.dtype()) {
        true => to_part(cx, F::ComplexAbs),
        false => unary(cx, F::Abs, Rule::Keep),
    }
}

fn sign(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match promote::is_complex(cx.tensor_at(0)?.dtype()) {
        true => unary(cx, F::ComplexSign, Rule::Keep),
        false => unary(cx, F::Sign, Rule::Keep),
    }
}

fn angle(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match promote::is_complex(cx.tensor_at(0)?.dtype()) {
        true => to_part(cx, F::ComplexAngle),
        false => unary(cx, F::Angle, Rule::Real),
    }
}

/// The real part; real tensors are copied.
fn real_part(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    cx.check_converts(promote::part(x.dtype()), &out)?;
    cx.check_dims(&out, x.dims())?;
    cx.copy(x, out)
}

fn bitwise_not(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match cx.tensor_at(0)?.dtype() {
        DataType::Bool => unary(cx, F::LogicalNot, Rule::Keep),
        _ => unary(cx, F::BitNot, Rule::Keep),
    }
}

fn logical_not(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    check_exists(cx, F::LogicalNot, x.dtype())?;
    cx.check_converts(DataType::Bool, &out)?;
    cx.check_dims(&out, x.dims())?;
    cx.test(F::LogicalNot, x.dtype(), &[Operand::Tensor(x)], out)
}

/// Integers and booleans have no fraction.
fn round(cx: &mut Cx<'_>, function: F) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    if x.dtype().is_float() || promote::is_complex(x.dtype()) {
        return unary(cx, function, Rule::Keep);
    }
    cx.check_converts(x.dtype(), &out)?;
    cx.check_dims(&out, x.dims())?;
    cx.copy(x, out)
}

fn frac(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    if x.dtype().is_float() || promote::is_complex(x.dtype()) {
        return unary(cx, F::Frac, Rule::Keep);
    }
    cx.check_converts(x.dtype(), &out)?;
    cx.check_dims(&out, x.dims())?;
    cx.fill(Scalar::of_i64(0), out)
}

/// Rounding to no decimals is plain rounding; integers stay what they are.
fn round_decimals(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor_at(0)?;
    if cx.int("decimals")? == 0 || !x.dtype().is_float() {
        return round(cx, F::Round);
    }
    match cx.is_in_place() {
        true => named(cx, F::RoundTo, Rule::Keep, &["selfRef", "decimals"]),
        false => named(cx, F::RoundTo, Rule::Keep, &["self", "decimals"]),
    }
}

/// Integers have neither infinities nor not-a-number.
fn nan_to_num(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if !cx.tensor_at(0)?.dtype().is_float() {
        return round(cx, F::NanToNum);
    }
    let own = cx.params()[0].name;
    named(
        cx,
        F::NanToNum,
        Rule::Keep,
        &[own, "nan", "posinf", "neginf"],
    )
}

/// Of integers the sign bit is set where they are negative.
fn signbit(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    cx.check_converts(DataType::Bool, &out)?;
    cx.check_dims(&out, x.dims())?;
    if x.dtype().is_float() {
        return cx.test(F::Signbit, x.dtype(), &[Operand::Tensor(x)], out);
    }
    check_exists(cx, F::Lt, x.dtype())?;
    let zero = Operand::Scalar(Scalar::of_i64(0));
    cx.test(F::Lt, x.dtype(), &[Operand::Tensor(x), zero], out)
}

fn ask(cx: &mut Cx<'_>, real: F, complex: Option<F>, integers: bool) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    let dtype = x.dtype();
    cx.check_converts(DataType::Bool, &out)?;
    cx.check_dims(&out, x.dims())?;
    if dtype.is_integer() || dtype == DataType::Bool {
        return cx.fill(Scalar::of_bool(integers), out);
    }
    let function = match promote::is_complex(dtype) {
        true => complex.ok_or_else(|| {
            cx.invalid(format_args!(
                "tensors of the type {dtype} are not supported"
            ))
        })?,
        false => real,
    };
    check_exists(cx, function, dtype)?;
    cx.test(function, dtype, &[Operand::Tensor(x)], out)
}
