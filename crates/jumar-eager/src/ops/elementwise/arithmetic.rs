//! Arithmetic of two and more operands.

use jumar_types::dtype::DataType;

use super::{Pair, Row, Rule, binary, check_exists, check_shape, named, pair};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar, promote};

macro_rules! keep {
    ($function:ident) => {
        |cx| binary(cx, F::$function, Rule::Keep)
    };
}

macro_rules! real {
    ($function:ident) => {
        |cx| binary(cx, F::$function, Rule::Real)
    };
}

/// A function of bits: booleans have the logical function.
macro_rules! bits {
    ($bits:ident, $logical:ident) => {
        |cx| bits(cx, F::$bits, F::$logical)
    };
}

pub(crate) static ARITHMETIC: &[Row] = &[
    ("aclnnAdd", add),
    ("aclnnAddN", sum),
    ("aclnnAddRelu", add_relu),
    ("aclnnAddV3", add),
    ("aclnnAddcdiv", |cx| third(cx, F::Addcdiv, Rule::Real)),
    ("aclnnAddcmul", |cx| third(cx, F::Addcmul, Rule::Keep)),
    ("aclnnAddr", addr),
    ("aclnnAddrV2", addr),
    ("aclnnAdds", add),
    ("aclnnAxpyV2", axpy),
    ("aclnnAtan2", real!(Atan2)),
    ("aclnnBitwiseAndScalar", bits!(BitAnd, LogicalAnd)),
    ("aclnnBitwiseAndTensor", bits!(BitAnd, LogicalAnd)),
    ("aclnnBitwiseAndTensorOut", bits!(BitAnd, LogicalAnd)),
    ("aclnnBitwiseOrScalar", bits!(BitOr, LogicalOr)),
    ("aclnnBitwiseOrTensor", bits!(BitOr, LogicalOr)),
    ("aclnnBitwiseXorScalar", bits!(BitXor, LogicalXor)),
    ("aclnnBitwiseXorTensor", bits!(BitXor, LogicalXor)),
    ("aclnnDiv", real!(Div)),
    ("aclnnDivMod", div_mod),
    ("aclnnDivMods", div_mod),
    ("aclnnDivV3", div_mod),
    ("aclnnDivs", real!(Div)),
    ("aclnnFloorDiv", floor_div),
    ("aclnnFloorDivide", floor_div),
    ("aclnnFloorDivides", floor_div),
    ("aclnnFmodScalar", keep!(Fmod)),
    ("aclnnFmodTensor", keep!(Fmod)),
    ("aclnnGcd", keep!(Gcd)),
    ("aclnnGer", ger),
    ("aclnnHeaviside", keep!(Heaviside)),
    ("aclnnInplaceAdd", add),
    ("aclnnInplaceAddRelu", add_relu),
    ("aclnnInplaceAddV3", add),
    ("aclnnInplaceAddcdiv", |cx| {
        third(cx, F::Addcdiv, Rule::Real)
    }),
    ("aclnnInplaceAddcmul", |cx| {
        third(cx, F::Addcmul, Rule::Keep)
    }),
    ("aclnnInplaceAddr", addr),
    ("aclnnInplaceAdds", add),
    ("aclnnInplaceAtan2", real!(Atan2)),
    ("aclnnInplaceBitwiseAndScalar", bits!(BitAnd, LogicalAnd)),
    ("aclnnInplaceBitwiseAndTensor", bits!(BitAnd, LogicalAnd)),
    ("aclnnInplaceBitwiseAndTensorOut", bits!(BitAnd, LogicalAnd)),
    ("aclnnInplaceBitwiseOrScalar", bits!(BitOr, LogicalOr)),
    ("aclnnInplaceBitwiseOrTensor", bits!(BitOr, LogicalOr)),
    ("aclnnInplaceBitwiseXorScalar", bits!(BitXor, LogicalXor)),
    ("aclnnInplaceBitwiseXorTensor", bits!(BitXor, LogicalXor)),
    ("aclnnInplaceDiv", real!(Div)),
    ("aclnnInplaceDivMod", div_mod),
    ("aclnnInplaceDivMods", div_mod),
    ("aclnnInplaceDivs", real!(Div)),
    ("aclnnInplaceFloorDivide", floor_div),
    ("aclnnInplaceFloorDivides", floor_div),
    ("aclnnInplaceFmodScalar", keep!(Fmod)),
    ("aclnnInplaceFmodTensor", keep!(Fmod)),
    ("aclnnInplaceLerp", lerp),
    ("aclnnInplaceLerps", lerp),
    ("aclnnInplaceMul", keep!(Mul)),
    ("aclnnInplaceMuls", keep!(Mul)),
    ("aclnnInplacePowTensorScalar", pow_scalar),
    ("aclnnInplacePowTensorTensor", pow),
    ("aclnnInplaceRemainderTensorScalar", keep!(Remainder)),
    ("aclnnInplaceRemainderTensorTensor", keep!(Remainder)),
    ("aclnnInplaceSub", sub),
    ("aclnnInplaceSubs", sub),
    ("aclnnInplaceXLogYScalarOther", real!(XLogY)),
    ("aclnnInplaceXLogYTensor", real!(XLogY)),
    ("aclnnLeftShift", keep!(Left)),
    ("aclnnLeftShifts", keep!(Left)),
    ("aclnnLerp", lerp),
    ("aclnnLerps", lerp),
    ("aclnnLogAddExp", log_add_exp),
    ("aclnnLogAddExp2", real!(LogAddExp2)),
    ("aclnnMaxN", |cx| most(cx, F::Max)),
    ("aclnnMaximum", keep!(Max)),
    ("aclnnMinN", |cx| most(cx, F::Min)),
    ("aclnnMinimum", keep!(Min)),
    ("aclnnMul", keep!(Mul)),
    ("aclnnMuls", keep!(Mul)),
    ("aclnnPowScalarTensor", pow),
    ("aclnnPowTensorScalar", pow_scalar),
    ("aclnnPowTensorTensor", pow),
    ("aclnnRemainderScalarTensor", keep!(Remainder)),
    ("aclnnRemainderTensorScalar", keep!(Remainder)),
    ("aclnnRemainderTensorTensor", keep!(Remainder)),
    ("aclnnRightShift", keep!(Right)),
    ("aclnnRsub", rsub),
    ("aclnnRsubs", rsub),
    ("aclnnSub", sub),
    ("aclnnSubs", sub),
    ("aclnnSum", sum),
    ("aclnnXLogYScalarOther", real!(XLogY)),
    ("aclnnXLogYScalarSelf", real!(XLogY)),
    ("aclnnXLogYTensor", real!(XLogY)),
];

fn is_one(scalar: &Scalar) -> bool {
    scalar.complex() == (1.0, 0.0)
}

/// Plans `plain(a, b)` where alpha is 1, and `scaled(a, b, alpha)` elsewhere.
fn with_alpha(cx: &mut Cx<'_>, pair: Pair, plain: F, scaled: F) -> Result<(), Refusal> {
    let alpha = cx.scalar("alpha")?;
    let Pair {
        operands: [one, two],
        dtype,
        out,
    } = pair;
    if promote::is_complex(alpha.dtype()) && !promote::is_complex(dtype) {
        return Err(cx.invalid(format_args!(
            "alpha has the type {}, and the operands have the type {dtype}; a complex alpha needs complex operands",
            alpha.dtype()
        )));
    }
    check_exists(cx, plain, dtype)?;
    cx.check_converts(dtype, &out)?;
    check_shape(cx, &[one, two], &out)?;
    match is_one(&alpha) {
        true => cx.map(plain, dtype, &[one, two], out),
        false => cx.map(scaled, dtype, &[one, two, Operand::Scalar(alpha)], out),
    }
}

fn add(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let pair = pair(cx)?;
    with_alpha(cx, pair, F::Add, F::AddScaled)
}

fn sub(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let pair = pair(cx)?;
    with_alpha(cx, pair, F::Sub, F::SubScaled)
}

/// other - alpha * self.
fn rsub(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut pair = pair(cx)?;
    pair.operands.swap(0, 1);
    with_alpha(cx, pair, F::Sub, F::SubScaled)
}

fn bits(cx: &mut Cx<'_>, integer: F, logical: F) -> Result<(), Refusal> {
    match pair(cx)?.dtype {
        DataType::Bool => binary(cx, logical, Rule::Keep),
        _ => binary(cx, integer, Rule::Keep),
    }
}

fn log_add_exp(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match promote::is_complex(pair(cx)?.dtype) {
        true => binary(cx, F::ComplexLogAddExp, Rule::Keep),
        false => binary(cx, F::LogAddExp, Rule::Real),
    }
}

fn floor_div(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    rounded_quotient(cx, [F::FloorDiv, F::FloorDivF16, F::FloorDivBf16])
}

/// Plans a function of a quotient, given for most types, for float16 and for bfloat16. In 16 bits PyTorch rounds the quotient before it
/// becomes an integer, except where the divisor is one number: it computes in float32 then.
fn rounded_quotient(cx: &mut Cx<'_>, [function, half, brain]: [F; 3]) -> Result<(), Refusal> {
    let pair = pair(cx)?;
    let of_tensors = matches!(pair.operands[1], Operand::Tensor(view) if view.elements() != 1);
    let function = match pair.dtype {
        DataType::Float16 if of_tensors => half,
        DataType::BFloat16 if of_tensors => brain,
        _ => function,
    };
    binary(cx, function, Rule::Keep)
}

/// mode 0 divides, 1 truncates the quotient, 2 rounds it down.
fn div_mod(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match cx.int("mode")? {
        0 => binary(cx, F::Div, Rule::Real),
        1 => rounded_quotient(cx, [F::TruncDiv, F::TruncDivF16, F::TruncDivBf16]),
        2 => floor_div(cx),
        mode => Err(cx.invalid(format_args!("mode is {mode}; it must be 0, 1 or 2"))),
    }
}

/// self, tensor1, tensor2 and value, which is a host scalar.
fn third(cx: &mut Cx<'_>, function: F, rule: Rule) -> Result<(), Refusal> {
    let own = cx.params()[0].name;
    named(cx, function, rule, &[own, "tensor1", "tensor2", "value"])
}

fn lerp(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let own = cx.params()[0].name;
    named(cx, F::Lerp, Rule::Keep, &[own, "end", "weight"])
}

fn pow(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if pair(cx)?.dtype == DataType::Bool {
        return Err(cx.invalid("self and exponent are both bool; one of them must be a number"));
    }
    binary(cx, F::Pow, Rule::Keep)
}

/// Powers by a few exponents are cheaper and more exact than by the general function.
fn pow_scalar(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let exponent = cx.scalar("exponent")?;
    let Pair {
        operands,
        dtype,
        out,
    } = pair(cx)?;
    let integer = dtype.is_integer() || dtype == DataType::Bool;
    if integer && exponent.int() < 0 {
        return Err(cx.invalid(format_args!(
            "exponent is {}; powers of integers need an exponent of at least 0",
            exponent.int()
        )));
    }
    let function = match (exponent.complex(), integer) {
        ((2.0, 0.0), _) => F::Square,
        ((3.0, 0.0), _) => F::Cube,
        ((0.5, 0.0), false) => F::Sqrt,
        ((-0.5, 0.0), false) => F::Rsqrt,
        ((-1.0, 0.0), false) => F::Reciprocal,
        _ => return binary(cx, F::Pow, Rule::Keep),
    };
    check_exists(cx, function, dtype)?;
    cx.check_converts(dtype, &out)?;
    check_shape(cx, &operands, &out)?;
    cx.map(function, dtype, &operands[..1], out)
}

/// The positive part of self + alpha * other.
fn add_relu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let Pair {
        operands: [one, two],
        dtype,
        out,
    } = pair(cx)?;
    let alpha = Operand::Scalar(cx.scalar("alpha")?);
    check_exists(cx, F::AddScaledRelu, dtype)?;
    cx.check_converts(dtype, &out)?;
    check_shape(cx, &[one, two], &out)?;
    cx.map(F::AddScaledRelu, dtype, &[one, two, alpha], out)
}

/// self + alpha * other, where alpha is a tensor.
fn axpy(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    named(cx, F::AddScaled, Rule::Keep, &["self", "other", "alpha"])
}

/// The outer product of two vectors.
fn ger(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, out) = (cx.tensor("self")?, cx.tensor("vec2")?, cx.out("out")?);
    let dtype = cx.promote(one.dtype(), two.dtype())?;
    check_exists(cx, F::Mul, dtype)?;
    cx.check_converts(dtype, &out)?;
    for vector in [&one, &two] {
        check_vector(cx, vector)?;
    }
    cx.check_dims(&out, &[one.elements(), two.elements()])?;
    let operands = [one.unsqueeze(1), two].map(Operand::Tensor);
    cx.map(F::Mul, dtype, &operands, out)
}

fn check_vector(cx: &Cx<'_>, vector: &View) -> Result<(), Refusal> {
    match vector.rank() {
        1 => Ok(()),
        _ => Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have one dimension",
            cx.param_of(vector),
            vector.dims()
        ))),
    }
}

/// The sum of the tensors of a list.
fn sum(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    most(cx, F::Add)
}

/// A function of two operands over the tensors of a list.
fn most(cx: &mut Cx<'_>, function: F) -> Result<(), Refusal> {
    let (tensors, out) = (cx.tensors("tensors")?, cx.out("out")?);
    let Some((&first, rest)) = tensors.split_first() else {
        return Err(cx.invalid("tensors is empty; it must have at least one tensor"));
    };
    let mut dtype = first.dtype();
    for view in rest {
        dtype = cx.promote(dtype, view.dtype())?;
    }
    check_exists(cx, function, dtype)?;
    cx.check_converts(dtype, &out)?;
    let (dims, rank) = cx.broadcast(&tensors)?;
    cx.check_dims(&out, &dims[..rank])?;
    let Some((&last, middle)) = rest.split_last() else {
        return cx.copy(first, out);
    };
    // Sums of halves stay in float32 until the end.
    let wide = match dtype {
        DataType::Float16 | DataType::BFloat16 => DataType::Float32,
        other => other,
    };
    let mut sum = first;
    for &view in middle {
        let to = cx.temporary(wide, &dims[..rank])?;
        cx.map(function, wide, &[sum, view].map(Operand::Tensor), to)?;
        sum = to;
    }
    cx.map(function, wide, &[sum, last].map(Operand::Tensor), out)
}

/// beta * self + alpha * the outer product of two vectors. Both factors are 1 where they are null.
fn addr(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    let (one, two) = (cx.tensor("vec1")?, cx.tensor("vec2")?);
    let mut dtype = x.dtype();
    for vector in [&one, &two] {
        dtype = cx.promote(dtype, vector.dtype())?;
    }
    let factor = |name| {
        let scalar = cx.optional_scalar(name)?;
        Ok::<_, Refusal>(Operand::Scalar(scalar.unwrap_or(Scalar::ONE)))
    };
    let (beta, alpha) = (factor("betaOptional")?, factor("alphaOptional")?);
    check_exists(cx, F::Addr, dtype)?;
    cx.check_converts(dtype, &out)?;
    for vector in [&one, &two] {
        check_vector(cx, vector)?;
    }
    cx.check_dims(&out, &[one.elements(), two.elements()])?;
    let column = Operand::Tensor(one.unsqueeze(1));
    let operands = [
        Operand::Tensor(x),
        column,
        Operand::Tensor(two),
        beta,
        alpha,
    ];
    check_shape(cx, &operands, &out)?;
    cx.map(F::Addr, dtype, &operands, out)
}
