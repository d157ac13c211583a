//! Operators on one element, or on two at the same index.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::complex::is_complex;
use super::op::{Op, promoted, same};
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Abs", same),
    ("Acos", with_integers),
    ("Acosh", same),
    ("Add", |cx, op| either(cx, op, "LogicalOr")),
    ("AddV2", |cx, op| pair(cx, op, "Add")),
    ("Addcdiv", |cx, op| addc(cx, op, "RealDiv")),
    ("Addcmul", |cx, op| addc(cx, op, "Mul")),
    ("AddN", sum),
    ("Adds", |cx, op| with_number(cx, op, "Add")),
    ("AscendDequant", dequant),
    ("AscendQuant", quant),
    ("AscendWeightQuant", weights),
    ("AscendRequant", requant),
    ("Asin", with_integers),
    ("Asinh", same),
    ("Atan", same),
    ("Atanh", same),
    ("Axpy", axpy),
    ("BNLL", |cx, op| one(cx, op, "Softplus")),
    ("BesselI0e", same),
    ("BesselI1e", same),
    ("BiasAdd", bias_add),
    ("BitwiseAnd", promoted),
    ("BitwiseOr", promoted),
    ("BitwiseXor", promoted),
    ("Cast", cast),
    ("CastLike", cast_like),
    ("Ceil", same),
    ("Celu", same),
    ("ClipByValue", promoted),
    ("Cos", same),
    ("Cosh", same),
    ("Dawsn", same),
    ("Div", promoted),
    ("DivNoNan", div_no_nan),
    ("Dropout", |cx, op| one(cx, op, "Identity")),
    ("Eltwise", eltwise),
    ("Elu", elu),
    ("Equal", promoted),
    ("Erf", same),
    ("Erfc", same),
    ("Exp", exp),
    ("Expm1", same),
    ("Expint", same),
    ("Floor", same),
    ("FloorDiv", floor_div),
    ("FloorMod", promoted),
    ("FresnelCos", same),
    ("FresnelSin", same),
    ("Gelu", same),
    ("GeluV2", same),
    ("Greater", promoted),
    ("GreaterEqual", promoted),
    ("HardSigmoid", |cx, op| {
        let x = op.input("input_x")?;
        let x = in_float(cx, x, DataType::Float32)?;
        let attrs = op.attrs_for("HardSigmoid")?;
        Ok(vec![cx.one("HardSigmoid", &[x], attrs)?])
    }),
    ("HardSwish", same),
    ("Identity", same),
    ("Invert", same),
    ("IsFinite", is_finite),
    ("IsInf", same),
    ("IsNan", same),
    ("LeakyRelu", same),
    ("LeftShift", left_shift),
    ("Lerp", lerp),
    ("Less", promoted),
    ("LessEqual", promoted),
    ("Log", log),
    ("Log1p", same),
    ("LogicalAnd", same),
    ("LogicalNot", same),
    ("LogicalOr", same),
    ("Maximum", promoted),
    ("Minimum", promoted),
    ("Mish", same),
    ("Mod", promoted),
    ("Mul", |cx, op| either(cx, op, "LogicalAnd")),
    ("Muls", same),
    ("Ndtri", same),
    ("Neg", same),
    ("NotEqual", promoted),
    ("OnesLike", |cx, op| like(cx, op, 1.0)),
    ("PRelu", prelu),
    ("Pow", promoted),
    ("Power", power),
    ("RealDiv", |cx, op| {
        let mut both = [op.input("x1")?, op.input("x2")?];
        cx.promote(&mut both)?;
        if cx.ty(both[0]).dtype == DataType::Bool {
            for value in &mut both {
                *value = cx.cast(*value, DataType::Float32)?;
            }
        }
        Ok(vec![cx.one("RealDiv", &both, plain())?])
    }),
    ("Reciprocal", same),
    ("Relu", same),
    ("Relu6", same),
    ("RightShift", right_shift),
    ("Rint", |cx, op| one(cx, op, "Round")),
    ("Round", round),
    ("Rsqrt", rsqrt),
    ("Selu", selu),
    ("Shrink", same),
    ("Sigmoid", same),
    ("Sign", same),
    ("Sin", same),
    ("Sinh", same),
    ("Softplus", same),
    ("Softsign", same),
    ("Spence", same),
    ("Sqrt", same),
    ("Square", |cx, op| {
        let x = op.input("x")?;
        Ok(vec![cx.one("Mul", &[x, x], Attrs::new())?])
    }),
    ("SquaredDifference", |cx, op| {
        let difference = pair(cx, op, "Sub")?[0];
        Ok(vec![cx.one(
            "Mul",
            &[difference, difference],
            Attrs::new(),
        )?])
    }),
    ("Sub", |cx, op| either(cx, op, "NotEqual")),
    ("Swish", same),
    ("Tan", with_integers),
    ("Tanh", same),
    ("TensorMove", |cx, op| one(cx, op, "Identity")),
    ("Threshold", threshold),
    ("Trunc", trunc),
    ("Xdivy", xdivy),
    ("Xlogy", xlogy),
    ("Betainc", promoted),
    ("Igamma", promoted),
    ("Igammac", promoted),
    ("NextAfter", promoted),
    ("Zeta", promoted),
    ("ZerosLike", |cx, op| like(cx, op, 0.0)),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn plain() -> Attrs {
    Attrs::new()
}

/// An operator of ours on the only input.
fn one(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    let x = op.input("x")?;
    Ok(vec![cx.one(name, &[x], plain())?])
}

/// An operator of ours on the inputs `x1` and `x2`.
fn pair(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    let mut both = [op.input("x1")?, op.input("x2")?];
    cx.promote(&mut both)?;
    Ok(vec![cx.one(name, &both, plain())?])
}

/// An operator of ours on the input and the attribute `value`.
fn with_number(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    let x = op.input("x")?;
    let value = cx.number(f64::from(op.float("value")?), x)?;
    Ok(vec![cx.one(name, &[x, value], plain())?])
}

fn like(cx: &mut Cx, op: &Op<'_>, value: f64) -> Answer {
    let x = op.input("x")?;
    let value = cx.number(value, x)?;
    let dims = cx.one(
        "Shape",
        &[x],
        plain().with("dtype", i64::from(DataType::Int64.acl())),
    )?;
    Ok(vec![cx.one("Fill", &[dims, value], plain())?])
}

fn sum(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut all = op.list("x")?;
    cx.promote(&mut all)?;
    let count = all.len() as i64;
    Ok(vec![cx.one(
        "AccumulateNV2",
        &all,
        plain().with("N", count),
    )?])
}

fn addc(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    let mut all = [
        op.input("input_data")?,
        op.input("x1")?,
        op.input("x2")?,
        op.input("value")?,
    ];
    cx.promote(&mut all)?;
    let [data, a, b, value] = all;
    let product = cx.one(name, &[a, b], plain())?;
    let scaled = cx.one("Mul", &[product, value], plain())?;
    Ok(vec![cx.one("Add", &[data, scaled], plain())?])
}

fn axpy(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x1")?, op.input("x2")?];
    cx.promote(&mut both)?;
    let scaled = cx.one(
        "Muls",
        &[both[1]],
        plain().with("value", op.float("alpha")?),
    )?;
    Ok(vec![cx.one("Add", &[both[0], scaled], plain())?])
}

fn lerp(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut all = [op.input("start")?, op.input("end")?, op.input("weight")?];
    cx.promote(&mut all)?;
    let way = cx.one("Sub", &[all[1], all[0]], plain())?;
    let part = cx.one("Mul", &[way, all[2]], plain())?;
    Ok(vec![cx.one("Add", &[all[0], part], plain())?])
}

fn cast(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, dtype) = (op.input("x")?, op.dtype("dst_type")?);
    Ok(vec![cx.one(
        "Cast",
        &[x],
        plain().with("dst_type", i64::from(dtype.acl())),
    )?])
}

fn cast_like(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, target) = (op.input("x")?, op.input("target")?);
    let dtype = cx.ty(target).dtype;
    Ok(vec![cx.cast(x, dtype)?])
}

/// The channel of `x`, where a bias or a factor of one dimension belongs.
fn along_channel(cx: &mut Cx, x: ValueId, vector: ValueId, axis: usize) -> Answer {
    let rank = cx.rank(x)?;
    if cx.rank(vector)? != 1 || axis + 1 >= rank {
        return Ok(vec![vector]);
    }
    let mut dims = vec![1; rank - axis];
    dims[0] = -1;
    Ok(vec![cx.reshape(vector, &dims)?])
}

fn bias_add(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x")?, op.input("bias")?];
    cx.promote(&mut both)?;
    let rank = cx.rank(both[0])?;
    let axis = if op.image_format(rank.saturating_sub(2))?.starts_with("NC") {
        1
    } else {
        rank.saturating_sub(1)
    };
    both[1] = along_channel(cx, both[0], both[1], axis)?[0];
    Ok(vec![cx.one("Add", &both, plain())?])
}

fn prelu(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x")?, op.input("weight")?];
    cx.promote(&mut both)?;
    both[1] = along_channel(cx, both[0], both[1], 1)?[0];
    Ok(vec![cx.one("PRelu", &both, plain())?])
}

fn elu(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let (alpha, scale, inner) = (
        op.float("alpha")?,
        op.float("scale")?,
        op.float("input_scale")?,
    );
    let mut y = if inner == 1.0 {
        cx.one("Elu", &[x], plain().with("alpha", alpha))?
    } else {
        // What is negative is scaled before the exponential, what is positive is not.
        let zero = cx.number(0.0, x)?;
        let low = cx.one("Minimum", &[x, zero], plain())?;
        let low = cx.one("Muls", &[low], plain().with("value", inner))?;
        let low = cx.one("Elu", &[low], plain().with("alpha", alpha))?;
        let high = cx.one("Relu", &[x], plain())?;
        cx.one("Add", &[low, high], plain())?
    };
    if scale != 1.0 {
        y = cx.one("Muls", &[y], plain().with("value", scale))?;
    }
    Ok(vec![y])
}

/// `scale * x + shift`.
fn linear(cx: &mut Cx, op: &Op<'_>, x: ValueId) -> Result<ValueId, OpError> {
    let (scale, shift) = (op.float("scale")?, op.float("shift")?);
    let mut y = x;
    if scale != 1.0 {
        y = cx.one("Muls", &[y], plain().with("value", scale))?;
    }
    if shift != 0.0 {
        let shift = cx.number(f64::from(shift), x)?;
        y = cx.one("Add", &[y, shift], plain())?;
    }
    Ok(y)
}

/// The natural logarithm of the attribute `base`, 1 where it is -1.
fn base(op: &Op<'_>) -> Result<f32, OpError> {
    let base = op.float("base")?;
    if base == -1.0 {
        return Ok(1.0);
    }
    if base > 0.0 {
        return Ok(base.ln());
    }
    Err(invalid(format!(
        "its attribute base is {base}; it must be more than 0, or -1"
    )))
}

fn exp(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let mut y = linear(cx, op, x)?;
    let base = base(op)?;
    if base != 1.0 {
        y = cx.one("Muls", &[y], plain().with("value", base))?;
    }
    Ok(vec![cx.one("Exp", &[y], plain())?])
}

fn log(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let x = in_float(cx, x, DataType::Float32)?;
    let y = linear(cx, op, x)?;
    let mut y = cx.one("Log", &[y], plain())?;
    let base = base(op)?;
    if base != 1.0 {
        y = cx.one("Muls", &[y], plain().with("value", 1.0 / base))?;
    }
    Ok(vec![y])
}

fn power(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let y = linear(cx, op, x)?;
    let power = op.float("power")?;
    if power == 1.0 {
        return Ok(vec![y]);
    }
    let power = cx.number(f64::from(power), x)?;
    Ok(vec![cx.one("Pow", &[y, power], plain())?])
}

/// A value of an integer type or booleans, converted to a float type.
pub(super) fn in_float(cx: &mut Cx, x: ValueId, dtype: DataType) -> Result<ValueId, OpError> {
    let own = cx.ty(x).dtype;
    if own.is_float() || is_complex(own) {
        return Ok(x);
    }
    cx.cast(x, dtype)
}

/// An operator of one input that takes integers, too: these go through float64, and what then stands behind the point
/// is cut off.
fn with_integers(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let dtype = cx.ty(x).dtype;
    if !dtype.is_integer() {
        return same(cx, op);
    }
    let name = jumar_ops::find(op.kind())
        .map(|operator| operator.name)
        .ok_or_else(|| unsupported(format!("there is no operator {}", op.kind())))?;
    let x = cx.cast(x, DataType::Float64)?;
    let y = cx.one(name, &[x], plain())?;
    Ok(vec![cx.cast(y, dtype)?])
}

/// In float64 its numbers have more digits than an attribute holds, so that it is written out; integers go that way.
fn selu(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let dtype = cx.ty(x).dtype;
    if dtype != DataType::Float64 && !dtype.is_integer() {
        return same(cx, op);
    }
    let x = cx.cast(x, DataType::Float64)?;
    let zero = cx.number(0.0, x)?;
    let low = cx.one("Minimum", &[x, zero], plain())?;
    let low = cx.one("Expm1", &[low], plain())?;
    let alpha = cx.number(1.673_263_242_354_377_2, x)?;
    let low = cx.one("Mul", &[low, alpha], plain())?;
    let high = cx.one("Relu", &[x], plain())?;
    let y = cx.one("Add", &[low, high], plain())?;
    let scale = cx.number(1.050_700_987_355_480_5, x)?;
    let y = cx.one("Mul", &[y, scale], plain())?;
    Ok(vec![cx.cast(y, dtype)?])
}

/// A product, sum or difference; of booleans, another operator.
fn either(cx: &mut Cx, op: &Op<'_>, of_booleans: &'static str) -> Answer {
    let (a, b) = (op.input("x1")?, op.input("x2")?);
    if cx.ty(a).dtype == DataType::Bool && cx.ty(b).dtype == DataType::Bool {
        return Ok(vec![cx.one(of_booleans, &[a, b], plain())?]);
    }
    promoted(cx, op)
}

/// The type without a sign that is as wide.
fn unsigned(dtype: DataType) -> DataType {
    match dtype {
        DataType::Int8 => DataType::UInt8,
        DataType::Int16 => DataType::UInt16,
        DataType::Int32 => DataType::UInt32,
        DataType::Int64 => DataType::UInt64,
        other => other,
    }
}

fn left_shift(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x")?, op.input("y")?];
    cx.promote(&mut both)?;
    let dtype = cx.ty(both[0]).dtype;
    for value in &mut both {
        *value = cx.cast(*value, unsigned(dtype))?;
    }
    let y = cx.one("LeftShift", &both, plain())?;
    Ok(vec![cx.cast(y, dtype)?])
}

/// Of what is below zero, the bits that come in are ones: what is not in it is moved instead.
fn right_shift(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x")?, op.input("y")?];
    cx.promote(&mut both)?;
    let [x, distance] = both;
    let dtype = cx.ty(x).dtype;
    if unsigned(dtype) == dtype {
        return Ok(vec![cx.one("RightShift", &both, plain())?]);
    }
    let zero = cx.number(0.0, x)?;
    let negative = cx.one("Less", &[x, zero], plain())?;
    let distance = cx.cast(distance, unsigned(dtype))?;
    let turned = cx.one("Invert", &[x], plain())?;
    let mut moved = [x, turned];
    for value in &mut moved {
        let bits = cx.cast(*value, unsigned(dtype))?;
        let bits = cx.one("RightShift", &[bits, distance], plain())?;
        *value = cx.cast(bits, dtype)?;
    }
    let turned = cx.one("Invert", &[moved[1]], plain())?;
    let inputs = [negative, turned, moved[0]];
    Ok(vec![cx.one("SelectV2", &inputs, plain())?])
}

fn rsqrt(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let root = cx.one("Sqrt", &[x], plain())?;
    Ok(vec![cx.one("Reciprocal", &[root], plain())?])
}

fn round(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, decimals) = (op.input("x")?, op.int("decimals")?);
    let dtype = cx.ty(x).dtype;
    if decimals == 0 || (dtype.is_integer() && decimals > 0) {
        let name = if dtype.is_integer() {
            "Identity"
        } else {
            "Round"
        };
        return Ok(vec![cx.one(name, &[x], plain())?]);
    }
    // In float64, where powers of ten are exact and a product hardly moves a number over a half.
    let power = i32::try_from(decimals.unsigned_abs().min(300)).unwrap_or(300);
    let wide = match is_complex(dtype) {
        true => DataType::Complex128,
        false => DataType::Float64,
    };
    let x = cx.cast(x, wide)?;
    let power = cx.number(10f64.powi(power), x)?;
    let (there, back) = if decimals > 0 {
        ("Mul", "RealDiv")
    } else {
        ("RealDiv", "Mul")
    };
    let y = cx.one(there, &[x, power], plain())?;
    let y = cx.one("Round", &[y], plain())?;
    let y = cx.one(back, &[y, power], plain())?;
    Ok(vec![cx.cast(y, dtype)?])
}

fn trunc(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("input_x").or_else(|_| op.input("x"))?;
    if cx.ty(x).dtype.is_integer() {
        return Ok(vec![cx.one("Identity", &[x], plain())?]);
    }
    Ok(vec![truncated(cx, x)?])
}

/// Without what stands behind the point.
fn truncated(cx: &mut Cx, x: ValueId) -> Result<ValueId, OpError> {
    let sign = cx.one("Sign", &[x], plain())?;
    let size = cx.one("Abs", &[x], plain())?;
    let size = cx.one("Floor", &[size], plain())?;
    cx.one("Mul", &[sign, size], plain())
}

pub(super) fn floor_div(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x1")?, op.input("x2")?];
    cx.promote(&mut both)?;
    if cx.ty(both[0]).dtype.is_integer() {
        // (x - x mod y) / y, where the remainder has the divisor's sign.
        let rest = cx.one("FloorMod", &both, plain())?;
        let multiple = cx.one("Sub", &[both[0], rest], plain())?;
        return Ok(vec![cx.one("Div", &[multiple, both[1]], plain())?]);
    }
    let quotient = cx.one("RealDiv", &both, plain())?;
    Ok(vec![cx.one("Floor", &[quotient], plain())?])
}

/// `name(x1, x2)` where `x1` (or `x2`) is not 0, else 0.
fn unless_zero(cx: &mut Cx, both: [ValueId; 2], which: usize, y: ValueId) -> Answer {
    let zero = cx.number(0.0, both[which])?;
    let nothing = cx.one("Equal", &[both[which], zero], plain())?;
    Ok(vec![cx.one("SelectV2", &[nothing, zero, y], plain())?])
}

fn xdivy(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x1")?, op.input("x2")?];
    cx.promote(&mut both)?;
    let y = cx.one("RealDiv", &both, plain())?;
    unless_zero(cx, both, 0, y)
}

fn div_no_nan(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x1")?, op.input("x2")?];
    cx.promote(&mut both)?;
    let y = cx.one("RealDiv", &both, plain())?;
    unless_zero(cx, both, 1, y)
}

fn xlogy(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x1")?, op.input("x2")?];
    cx.promote(&mut both)?;
    let log = cx.one("Log", &[both[1]], plain())?;
    let y = cx.one("Mul", &[both[0], log], plain())?;
    unless_zero(cx, both, 0, y)
}

fn is_finite(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    if !cx.ty(x).dtype.is_float() {
        // A value of a type other than float is finite.
        return Ok(vec![cx.one("Equal", &[x, x], plain())?]);
    }
    let nan = cx.one("IsNan", &[x], plain())?;
    let inf = cx.one("IsInf", &[x], plain())?;
    let either = cx.one("LogicalOr", &[nan, inf], plain())?;
    Ok(vec![cx.one("LogicalNot", &[either], plain())?])
}

fn threshold(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let limit = cx.number(f64::from(op.float("threshold")?), x)?;
    let above = cx.one("Greater", &[x, limit], plain())?;
    let dtype = cx.ty(x).dtype;
    Ok(vec![cx.cast(above, dtype)?])
}

fn eltwise(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut all = op.list("x")?;
    cx.promote(&mut all)?;
    let name = match op.int("mode")? {
        0 => "Mul",
        1 => "Add",
        2 => "Maximum",
        other => {
            return Err(invalid(format!(
                "its attribute mode is {other}; it must be 0, 1 or 2"
            )));
        }
    };
    if let Some(super::Value::Floats(factors)) = op.node.attrs.get("coeff")
        && name == "Add"
        && !factors.is_empty()
    {
        if factors.len() != all.len() {
            return Err(invalid(format!(
                "its attribute coeff has {} numbers, and there are {} inputs",
                factors.len(),
                all.len()
            )));
        }
        for (value, factor) in all.iter_mut().zip(factors) {
            *value = cx.one("Muls", &[*value], plain().with("value", *factor))?;
        }
    }
    let mut rest = all.into_iter();
    let mut y = rest.next().ok_or_else(|| invalid("it has no inputs"))?;
    for x in rest {
        y = cx.one(name, &[y, x], plain())?;
    }
    Ok(vec![y])
}

/// `round(x * scale + offset)`, kept within the bounds of the type.
fn quant(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let mut scale = op.float("scale")?;
    if op.yes("sqrt_mode")? {
        scale *= scale;
    }
    let rounding = match op.text("round_mode")? {
        "Round" => "Round",
        "Floor" => "Floor",
        "Ceil" => "Ceil",
        "Trunc" => "Trunc",
        other => {
            return Err(invalid(format!(
                "its attribute round_mode is {other}; it must be Round, Floor, Ceil or Trunc"
            )));
        }
    };
    let dtype = op.dtype("dst_type")?;
    if dtype != DataType::Int8 {
        return Err(unsupported(format!("it makes {dtype}; int8 is supported")));
    }
    let x = cx.cast(x, DataType::Float32)?;
    let y = cx.one("Muls", &[x], plain().with("value", scale))?;
    let offset = cx.number(f64::from(op.float("offset")?), y)?;
    let y = cx.one("Add", &[y, offset], plain())?;
    let y = match rounding {
        "Trunc" => truncated(cx, y)?,
        name => cx.one(name, &[y], plain())?,
    };
    to_int8(cx, y).map(|y| vec![y])
}

/// Weights that are int8 already, from which an offset is taken away. Weights are quantised without one.
fn weights(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, offset) = (op.input("x")?, op.input("offset")?);
    let dtype = op.dtype("dst_type")?;
    if dtype != DataType::Int8 {
        return Err(unsupported(format!("it makes {dtype}; int8 is supported")));
    }
    let values = cx
        .constant(offset)
        .ok_or_else(|| cx.wants_constant("offset"))?;
    if values.bytes().iter().any(|&byte| byte != 0) {
        return Err(unsupported(
            "its input offset has numbers other than 0; weights with an offset are not supported, as their formula is not documented",
        ));
    }
    Ok(vec![cx.one("Identity", &[x], plain())?])
}

/// Clips integers to those of int8.
fn to_int8(cx: &mut Cx, y: ValueId) -> Result<ValueId, OpError> {
    let (low, high) = (cx.number(-128.0, y)?, cx.number(127.0, y)?);
    let y = cx.one("ClipByValue", &[y, low, high], plain())?;
    cx.cast(y, DataType::Int8)
}

/// Returns the words of a constant input of uint64.
fn words(cx: &Cx, value: ValueId, name: &str) -> Result<Vec<u64>, OpError> {
    let tensor = cx.constant(value).ok_or_else(|| cx.wants_constant(name))?;
    let (words, _) = tensor.bytes().as_chunks::<8>();
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// Adds a constant of numbers in the shape of a value.
fn shaped_as(cx: &mut Cx, value: ValueId, numbers: &[f32]) -> Result<ValueId, OpError> {
    let dims = cx.dims(value)?;
    let flat = cx.add_constant(jumar_ops::Tensor::from_floats(numbers));
    cx.reshape(flat, &dims)
}

/// `x * scale + offset`, where a uint64 holds both: a float32 in the low half, and the offset in the bits 37 to 45.
fn requant(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, both) = (op.input("x")?, op.input("req_scale")?);
    let words = words(cx, both, "req_scale")?;
    // Nine bits with a sign: the shift to the left removes those above.
    let offset = |word: &u64| ((*word << 18) as i64 >> 55) as f32;
    let offsets: Vec<f32> = words.iter().map(offset).collect();
    let scales: Vec<f32> = words
        .iter()
        .map(|&word| f32::from_bits(word as u32))
        .collect();
    let (scale, offset) = (
        shaped_as(cx, both, &scales)?,
        shaped_as(cx, both, &offsets)?,
    );
    let x = cx.cast(x, DataType::Float32)?;
    let mut y = cx.one("Mul", &[x, scale], plain())?;
    if op.yes("relu_flag")? {
        y = cx.one("Relu", &[y], plain())?;
    }
    let y = cx.one("Add", &[y, offset], plain())?;
    let y = cx.one("Round", &[y], plain())?;
    to_int8(cx, y).map(|y| vec![y])
}

/// `x * scale`. The scale is a float32 in the low half of a uint64; a small integer there is a plain number.
fn dequant(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, scale) = (op.input("x")?, op.input("deq_scale")?);
    let scale = if cx.ty(scale).dtype == DataType::UInt64 {
        let words = words(cx, scale, "deq_scale")?;
        // The low 32 bits of each are those of a float32.
        let factors: Vec<f32> = words
            .iter()
            .map(|&word| f32::from_bits(word as u32))
            .collect();
        shaped_as(cx, scale, &factors)?
    } else {
        cx.cast(scale, DataType::Float32)?
    };
    let scale = along_channel(cx, x, scale, 1)?[0];
    let x = cx.cast(x, DataType::Float32)?;
    let mut y = cx.one("Mul", &[x, scale], plain())?;
    if op.yes("sqrt_mode")? {
        y = cx.one("Mul", &[y, scale], plain())?;
    }
    if op.yes("relu_flag")? {
        y = cx.one("Relu", &[y], plain())?;
    }
    Ok(vec![cx.cast(y, op.dtype("dtype")?)?])
}
