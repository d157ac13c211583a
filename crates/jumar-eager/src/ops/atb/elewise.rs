//! Functions of elements.

use jumar_types::dtype::DataType;

use super::fields::Fields;
use super::form::{Description, Form, Inputs, Slot, signature};
use super::linear::HALVES;
use super::rejection::Rejection;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::operands::FLOATS;
use crate::ops::quant;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Arg, Refusal, Scalar, Signature};

static SIGNATURE: Signature = signature!("ElewiseOperation":
    x In, other In, scale In, offset In, output Out, rowScale Out, kind Int, factor Float, inputOffset Int);

/// The functions, as `elewiseType` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cast,
    Muls,
    Cos,
    Sin,
    Neg,
    Quant,
    LogicalNot,
    Add,
    Mul,
    RealDiv,
    LogicalAnd,
    LogicalOr,
    Less,
    Greater,
    Sub,
    Equal,
    QuantPerChannel,
    DequantPerChannel,
    DynamicQuant,
    Tanh,
}

const KINDS: &[(i64, Kind)] = &[
    (1, Kind::Cast),
    (2, Kind::Muls),
    (3, Kind::Cos),
    (4, Kind::Sin),
    (5, Kind::Neg),
    (6, Kind::Quant),
    (7, Kind::LogicalNot),
    (8, Kind::Add),
    (9, Kind::Mul),
    (10, Kind::RealDiv),
    (11, Kind::LogicalAnd),
    (12, Kind::LogicalOr),
    (13, Kind::Less),
    (14, Kind::Greater),
    (15, Kind::Sub),
    (16, Kind::Equal),
    (17, Kind::QuantPerChannel),
    (18, Kind::DequantPerChannel),
    (19, Kind::DynamicQuant),
    (20, Kind::Tanh),
];

/// The types of arithmetic.
const NUMBERS: &[DataType] = &[
    DataType::Float32,
    DataType::Float16,
    DataType::BFloat16,
    DataType::Int64,
    DataType::Int32,
    DataType::Int16,
    DataType::Int8,
    DataType::UInt8,
];
const FLAGS: &[DataType] = &[DataType::Int8, DataType::Bool];
const INT8: &[DataType] = &[DataType::Int8];

/// Returns how many inputs a function has, and the types of the first.
fn operands(kind: Kind) -> (usize, &'static [DataType]) {
    match kind {
        Kind::Cast => (1, NUMBERS),
        Kind::Muls | Kind::Cos | Kind::Sin | Kind::Neg | Kind::Tanh => (1, FLOATS),
        Kind::Quant | Kind::DynamicQuant => (1, FLOATS),
        Kind::LogicalNot => (1, FLAGS),
        Kind::LogicalAnd | Kind::LogicalOr => (2, FLAGS),
        Kind::Add | Kind::Mul | Kind::Sub | Kind::Less | Kind::Greater | Kind::Equal => {
            (2, NUMBERS)
        }
        Kind::RealDiv => (2, FLOATS),
        Kind::QuantPerChannel => (3, FLOATS),
        Kind::DequantPerChannel => (3, INT8),
    }
}

pub(super) fn form(fields: &Fields<'_>) -> Result<Form, Rejection> {
    let kind = fields.choice("elewiseType", KINDS)?;
    let mut factor = 1.0;
    if kind == Kind::Muls {
        factor = fields.float("varAttr")?;
    }
    let mut offset = 0;
    if matches!(kind, Kind::Quant | Kind::DynamicQuant) && fields.flag("asymmetric")? {
        return Err(Rejection::param(
            "asymmetric is true, which is not supported: quantisation is symmetric",
        ));
    }
    if kind == Kind::Quant {
        factor = fields.float("inputScale")?;
        offset = fields.int("inputOffset")?;
        if factor == 0.0 || !factor.is_finite() {
            return Err(Rejection::param(format!(
                "inputScale is {factor}; elements are divided by it"
            )));
        }
    }
    let target = fields.int("outTensorType")?;
    if kind == Kind::Cast {
        let found = DataType::from_acl(target as i32)
            .filter(|dtype| NUMBERS.contains(dtype) || *dtype == DataType::Bool);
        if found.is_none() {
            return Err(Rejection::param(format!(
                "outTensorType is {target}, which is not a type that elements are converted to"
            )));
        }
    }
    let (count, types) = operands(kind);
    let mut inputs = vec![Slot::new("x", types, 1..=8)];
    match kind {
        Kind::QuantPerChannel => {
            inputs.push(Slot::new("scale", FLOATS, 1..=8).like("x"));
            inputs.push(Slot::new("offset", INT8, 1..=8).optional());
        }
        Kind::DequantPerChannel => {
            inputs.push(Slot::new("scale", HALVES, 1..=8));
            inputs.push(Slot::new("offset", INT8, 1..=8).optional());
        }
        _ if count == 2 => inputs.push(Slot::new("other", types, 1..=8).like("x")),
        _ => {}
    }
    let mut outputs = vec![Slot::out("output")];
    if kind == Kind::DynamicQuant {
        outputs.push(Slot::out("rowScale"));
    }
    Ok(Form {
        signature: &SIGNATURE,
        inputs,
        outputs,
        values: vec![
            ("kind", Arg::Int(fields.int("elewiseType")?)),
            ("factor", Arg::Float(factor)),
            ("inputOffset", Arg::Int(offset)),
            ("outTensorType", Arg::Int(target)),
        ],
        infer,
        plan,
    })
}

fn kind_of(number: i64) -> Kind {
    let found = KINDS.iter().find(|(own, _)| *own == number);
    found.map_or(Kind::Cast, |(_, kind)| *kind)
}

/// Returns the shape that two inputs are broadcast to.
fn broadcast(inputs: &Inputs<'_>, other: &str) -> Result<Vec<i64>, Rejection> {
    let (one, two) = (inputs.dims("x"), inputs.dims(other));
    let rank = one.len().max(two.len());
    let at = |dims: &[i64], axis: usize| match (axis + dims.len()).checked_sub(rank) {
        Some(own) => dims[own],
        None => 1,
    };
    (0..rank)
        .map(|axis| match (at(one, axis), at(two, axis)) {
            (one, two) if one == two || two == 1 => Ok(one),
            (1, two) => Ok(two),
            _ => Err(inputs.refuse(format!(
                "x has the shape {one:?} and {other} {two:?}; dimensions are equal or 1"
            ))),
        })
        .collect()
}

fn infer(inputs: &Inputs<'_>) -> Result<Vec<Description>, Rejection> {
    let kind = kind_of(inputs.int("kind"));
    let (dims, own) = (inputs.dims("x"), inputs.dtype("x"));
    let one = |dtype: DataType, dims: &[i64]| Ok(vec![Description::new(dtype, dims)]);
    let within = |name: &str| match !inputs.has(name) || broadcast(inputs, name)? == dims {
        true => Ok(()),
        false => Err(inputs.refuse(format!(
            "{name} has the shape {:?}; it must broadcast to that of x, {dims:?}",
            inputs.dims(name)
        ))),
    };
    match kind {
        Kind::Cast => {
            let target = DataType::from_acl(inputs.int("outTensorType") as i32);
            one(target.unwrap_or(own), dims)
        }
        Kind::Muls | Kind::Cos | Kind::Sin | Kind::Neg | Kind::Tanh | Kind::LogicalNot => {
            one(own, dims)
        }
        Kind::Quant => one(DataType::Int8, dims),
        Kind::DynamicQuant => {
            let rows = &dims[..dims.len() - 1];
            let rows = if rows.is_empty() { &[1][..] } else { rows };
            Ok(vec![
                Description::new(DataType::Int8, dims),
                Description::new(DataType::Float32, rows),
            ])
        }
        Kind::Add | Kind::Mul | Kind::RealDiv | Kind::Sub => one(own, &broadcast(inputs, "other")?),
        Kind::LogicalAnd | Kind::LogicalOr | Kind::Less | Kind::Greater | Kind::Equal => {
            one(DataType::Int8, &broadcast(inputs, "other")?)
        }
        Kind::QuantPerChannel => {
            within("scale")?;
            within("offset")?;
            one(DataType::Int8, dims)
        }
        Kind::DequantPerChannel => {
            within("scale")?;
            within("offset")?;
            one(DataType::Float16, dims)
        }
    }
}

/// `out = clamp(round(x / scale) + offset)`: the offset is added to the rounded quotient.
struct Quantise {
    scale: f32,
    offset: f32,
}

impl RowFunction for Quantise {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, x) = (rows.output(0), rows.input(0));
        match rows.optional(1) {
            Some(scale) => out.map2(x, scale, |x, scale| (x / scale).round_ties_even()),
            None => out.map1(x, |x| (x / self.scale).round_ties_even()),
        }
        if let Some(offset) = rows.optional(2) {
            out.update(offset, |value, offset| value + offset);
        }
        let offset = self.offset;
        out.map1(out.as_row(), |value| {
            quant::limited(value + offset, (-128.0, 127.0))
        });
    }
}

/// `out = (y - offset) * scale`
struct Dequantise;

impl RowFunction for Dequantise {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, y, scale) = (rows.output(0), rows.input(0), rows.input(1));
        match rows.optional(2) {
            Some(offset) => out.map2(y, offset, |y, offset| y - offset),
            None => out.copy_from(y),
        }
        out.update(scale, |value, scale| value * scale);
    }
}

/// Returns a tensor repeated to the shape of the first.
fn spread(cx: &Cx<'_>, view: Option<View>, dims: &[usize]) -> Result<Option<View>, Refusal> {
    match view {
        Some(view) => match view.expand(dims) {
            Some(view) => Ok(Some(view)),
            None => Err(cx.invalid(format_args!(
                "{} has the shape {:?}; it must broadcast to {dims:?}",
                cx.param_of(&view),
                view.dims()
            ))),
        },
        None => Ok(None),
    }
}

/// Returns the type in which arithmetic of a type is computed.
fn compute(dtype: DataType) -> DataType {
    match dtype {
        DataType::Float16 | DataType::BFloat16 => DataType::Float32,
        DataType::Bool => DataType::Int8,
        dtype => dtype,
    }
}

fn plan(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = kind_of(cx.int("kind")?);
    let (x, out) = (cx.tensor("x")?, cx.out("output")?);
    let wide = compute(x.dtype());
    let one = |cx: &mut Cx<'_>, function: F| cx.map(function, wide, &[Operand::Tensor(x)], out);
    let two = |cx: &mut Cx<'_>, function: F| {
        let other = cx.tensor("other")?;
        let operands = [Operand::Tensor(x), Operand::Tensor(other)];
        cx.map(function, wide, &operands, out)
    };
    let test = |cx: &mut Cx<'_>, function: F| {
        let mut operands = vec![Operand::Tensor(x)];
        operands.extend(cx.optional("other")?.map(Operand::Tensor));
        cx.test(function, wide, &operands, out)
    };
    match kind {
        Kind::Cast => cx.copy(x, out),
        Kind::Muls => {
            let factor = Scalar::of_f64(cx.float("factor")?);
            let operands = [Operand::Tensor(x), Operand::Scalar(factor)];
            cx.map(F::Mul, wide, &operands, out)
        }
        Kind::Cos => one(cx, F::Cos),
        Kind::Sin => one(cx, F::Sin),
        Kind::Neg => one(cx, F::Neg),
        Kind::Tanh => one(cx, F::Tanh),
        Kind::LogicalNot => test(cx, F::LogicalNot),
        Kind::Add => two(cx, F::Add),
        Kind::Mul => two(cx, F::Mul),
        Kind::Sub => two(cx, F::Sub),
        Kind::RealDiv => two(cx, F::Div),
        Kind::LogicalAnd => test(cx, F::LogicalAnd),
        Kind::LogicalOr => test(cx, F::LogicalOr),
        Kind::Less => test(cx, F::Lt),
        Kind::Greater => test(cx, F::Gt),
        Kind::Equal => test(cx, F::Eq),
        Kind::Quant => {
            let function = Quantise {
                scale: cx.float("factor")? as f32,
                offset: cx.int("inputOffset")? as f32,
            };
            cx.rows(function, &[Some(x), None, None], &[Some(out)])
        }
        Kind::QuantPerChannel => {
            let scale = cx.optional("scale")?;
            let scale = spread(cx, scale, x.dims())?;
            let offset = cx.optional("offset")?;
            let offset = spread(cx, offset, x.dims())?;
            let function = Quantise {
                scale: 1.0,
                offset: 0.0,
            };
            cx.rows(function, &[Some(x), scale, offset], &[Some(out)])
        }
        Kind::DequantPerChannel => {
            let scale = cx.optional("scale")?;
            let scale = spread(cx, scale, x.dims())?;
            let offset = cx.optional("offset")?;
            let offset = spread(cx, offset, x.dims())?;
            cx.rows(Dequantise, &[Some(x), scale, offset], &[Some(out)])
        }
        Kind::DynamicQuant => {
            let coded =
                quant::EncodedOutput::new(cx, out, x.dims(), quant::usual_rounding(out.dtype()))?;
            let scale = cx.out("rowScale")?;
            quant::symmetric(cx, x, None, (coded, 127.0), scale)
        }
    }
}
