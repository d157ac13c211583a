//! Activations with gates, gradients and limits.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::elementwise::in_float;
use super::formula::Formula;
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

#[allow(
    clippy::approx_constant,
    reason = "the definition has these four digits of the root of a half"
)]
const FAST_GELU_SCALE: f64 = 0.7071;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ApproximateEqual", |cx, op| {
        let mut both = [op.input("x1")?, op.input("x2")?];
        cx.promote(&mut both)?;
        for value in &mut both {
            *value = in_float(cx, *value, DataType::Float64)?;
        }
        let way = cx.one("Sub", &both, plain())?;
        let way = cx.one("Abs", &[way], plain())?;
        let most = cx.number(f64::from(op.float("tolerance")?), way)?;
        Ok(vec![cx.one("Less", &[way, most], plain())?])
    }),
    ("Atan2", atan2),
    ("ReluV2", |cx, op| {
        let x = op.input("x")?;
        let f = Formula::new(cx);
        let mask = f.above(x, 0.0)?;
        let y = f.max(x, f.number(0.0, x)?)?;
        Ok(vec![y, f.cast(mask, DataType::UInt8)?])
    }),
    ("FastGelu", |cx, op| {
        let attrs = plain().with("scale", 1.702f32);
        Ok(vec![cx.one("Swish", &[op.input("x")?], attrs)?])
    }),
    ("FastGeluV2", |cx, op| {
        let x = op.input("x")?;
        let dtype = cx.ty(x).dtype;
        let f = Formula::new(cx);
        let x = f.cast(x, DataType::Float32)?;
        // A parabola on either side, up to where it is flat.
        let size = f.of("Abs", f.times(x, FAST_GELU_SCALE)?)?;
        let size = f.min(size, f.number(1.769, size)?)?;
        let bow = f.square(f.plus(size, -1.769)?)?;
        let half = f.plus(f.times(bow, -0.1444)?, 0.5)?;
        let shifted = f.plus(x, 1e-12)?;
        let sign = f.div(shifted, f.of("Abs", shifted)?)?;
        let share = f.plus(f.mul(sign, half)?, 0.5)?;
        Ok(vec![f.cast(f.mul(x, share)?, dtype)?])
    }),
    ("GeGluV2", |cx, op| {
        let [left, right] = halves(cx, op)?;
        let (kept, gate) = if op.yes("activate_left")? {
            (right, left)
        } else {
            (left, right)
        };
        let how = if op.int("approximate")? == 1 {
            "tanh"
        } else {
            "none"
        };
        let gate = cx.one("GeluV2", &[gate], plain().with("approximate", how))?;
        Ok(vec![cx.one("Mul", &[kept, gate], plain())?, gate])
    }),
    ("HardShrink", |cx, op| {
        let x = op.input("input_x")?;
        let attrs = plain()
            .with("lambd", op.float("lambd")?)
            .with("bias", 0.0f32);
        Ok(vec![cx.one("Shrink", &[x], attrs)?])
    }),
    ("LogSigmoid", |cx, op| {
        let y = cx.one("Neg", &[op.input("x")?], plain())?;
        let y = cx.one("Softplus", &[y], plain())?;
        Ok(vec![cx.one("Neg", &[y], plain())?])
    }),
    ("SwiGlu", |cx, op| {
        let [gate, kept] = halves(cx, op)?;
        let gate = cx.one("Swish", &[gate], plain())?;
        Ok(vec![cx.one("Mul", &[gate, kept], plain())?])
    }),
    ("SwishGrad", |cx, op| {
        // grad * (s * y + sigmoid(s * x) * (1 - s * y)), where y = x * sigmoid(s * x).
        let (grad, x, y) = (op.input("grad")?, op.input("x")?, op.input("y")?);
        let scale = op.float("scale")?;
        let inner = cx.one("Muls", &[x], plain().with("value", scale))?;
        let gate = cx.one("Sigmoid", &[inner], plain())?;
        let y = cx.one("Muls", &[y], plain().with("value", scale))?;
        let one = cx.number(1.0, y)?;
        let rest = cx.one("Sub", &[one, y], plain())?;
        let rest = cx.one("Mul", &[gate, rest], plain())?;
        let slope = cx.one("Add", &[y, rest], plain())?;
        Ok(vec![cx.one("Mul", &[grad, slope], plain())?])
    }),
    ("ThresholdV2", |cx, op| {
        let (x, limit) = (op.input("x")?, op.input("threshold")?);
        let dtype = cx.ty(x).dtype;
        let value = match op.maybe("value") {
            Some(value) => cx.cast(value, dtype)?,
            None => cx.number(0.0, x)?,
        };
        let limit = cx.cast(limit, dtype)?;
        let above = cx.one("Greater", &[x, limit], plain())?;
        Ok(vec![cx.one("SelectV2", &[above, x, value], plain())?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn plain() -> Attrs {
    Attrs::new()
}

/// The two halves along the attribute dim.
fn halves(cx: &mut Cx, op: &Op<'_>) -> Result<[ValueId; 2], OpError> {
    let x = op.input("x")?;
    let axis = cx.ints(&[op.int("dim")?]);
    let axis = cx.reshape(axis, &[])?;
    let attrs = plain().with("num_split", 2i64);
    let parts = cx.add_node("SplitV", &[Some(x), None, Some(axis)], attrs, 2)?;
    parts
        .try_into()
        .map_err(|_| invalid("its input has no two halves"))
}

/// The angle of the point (x2, x1).
fn atan2(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut both = [op.input("x1")?, op.input("x2")?];
    cx.promote(&mut both)?;
    let [y, x] = both;
    let (zero, pi) = (cx.number(0.0, x)?, cx.number(std::f64::consts::PI, x)?);
    let quarter = cx.number(std::f64::consts::FRAC_PI_2, x)?;
    let ratio = cx.one("RealDiv", &both, plain())?;
    let angle = cx.one("Atan", &[ratio], plain())?;
    // Left of the axis, half a turn more, or less below.
    let below = cx.one("Less", &[y, zero], plain())?;
    let less = cx.one("Sub", &[angle, pi], plain())?;
    let more = cx.one("Add", &[angle, pi], plain())?;
    let turned = cx.one("SelectV2", &[below, less, more], plain())?;
    let left = cx.one("Less", &[x, zero], plain())?;
    let angle = cx.one("SelectV2", &[left, turned, angle], plain())?;
    // On the axis: a quarter, or nothing in the middle.
    let sign = cx.one("Sign", &[y], plain())?;
    let upright = cx.one("Mul", &[sign, quarter], plain())?;
    let middle = cx.one("Equal", &[x, zero], plain())?;
    Ok(vec![cx.one(
        "SelectV2",
        &[middle, upright, angle],
        plain(),
    )?])
}
