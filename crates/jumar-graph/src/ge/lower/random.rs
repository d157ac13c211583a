//! Numbers at random. How often was drawn is a variable of the session: a graph that runs again draws other numbers, and
//! another session begins as this one did.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::array::constant_int;
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use crate::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Multinomial", multinomial),
    ("RandomStandardNormal", |cx, op| {
        let shape = op.input("shape")?;
        Ok(vec![random(cx, op, shape, op.dtype("dtype")?, true)?])
    }),
    ("RandomUniform", |cx, op| {
        let shape = op.input("shape")?;
        Ok(vec![random(cx, op, shape, op.dtype("dtype")?, false)?])
    }),
    ("RandomUniformInt", |cx, op| {
        let (shape, low, high) = (op.input("shape")?, op.input("min")?, op.input("max")?);
        let dtype = cx.ty(low).dtype;
        // float64 resolves [0, 1) finely enough for every supported range.
        let y = random(cx, op, shape, DataType::Float64, false)?;
        let low = cx.cast(low, DataType::Float64)?;
        let high = cx.cast(high, DataType::Float64)?;
        let range = cx.one("Sub", &[high, low], Attrs::new())?;
        let y = cx.one("Mul", &[y, range], Attrs::new())?;
        let y = cx.one("Floor", &[y], Attrs::new())?;
        let y = cx.one("Add", &[y, low], Attrs::new())?;
        Ok(vec![cx.cast(y, dtype)?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Numbers of a distribution.
fn random(
    cx: &mut Cx,
    op: &Op<'_>,
    shape: ValueId,
    dtype: DataType,
    normal: bool,
) -> Result<ValueId, OpError> {
    let within = match dtype {
        DataType::Float32 | DataType::Float64 => dtype,
        DataType::Float16 | DataType::BFloat16 => DataType::Float32,
        other => {
            return Err(unsupported(format!(
                "random numbers of {other} are not supported; float16, bfloat16, float32 and float64 are"
            )));
        }
    };
    let (mut seed, mut other) = (op.int("seed")?, op.int("seed2")?);
    if seed == 0 && other == 0 {
        // No seed is set: by the node's name, so that nodes differ and programs repeat.
        (seed, other) = (cx.named_seed(&op.node.name), 1);
    }
    let draw = cx.draw(&op.node.name)?;
    let attrs = Attrs::new()
        .with("dtype", within)
        .with("normal", normal)
        .with("seed", seed)
        .with("seed2", other);
    let mut y = cx.one("jumar.Random", &[shape, draw], attrs)?;
    if within != dtype {
        if !normal {
            // Truncated to the digits of the type, so that none is rounded up to 1.
            let scale = if dtype == DataType::Float16 {
                1024.0f32
            } else {
                128.0
            };
            y = cx.one("Muls", &[y], Attrs::new().with("value", scale))?;
            y = cx.one("Floor", &[y], Attrs::new())?;
            y = cx.one("Muls", &[y], Attrs::new().with("value", 1.0 / scale))?;
        }
        y = cx.cast(y, dtype)?;
    }
    Ok(y)
}

/// Classes by the exponentials of their logits: the largest of the logits, each with noise of Gumbel's distribution.
fn multinomial(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let logits = op.input("logits")?;
    let count = constant_int(cx, op.input("num_samples")?, "num_samples")?;
    let dims = cx.dims(logits)?;
    let &[rows, classes] = &dims[..] else {
        return Err(invalid(format!(
            "its input logits has {} dimensions; it must have 2",
            dims.len()
        )));
    };
    if count < 0 || classes == 0 {
        return Err(invalid(format!(
            "{count} samples of {classes} classes cannot be drawn"
        )));
    }
    let dtype = op.dtype("dtype")?;
    let shape = cx.ints(&[rows, count, classes]);
    let noise = random(cx, op, shape, DataType::Float64, false)?;
    let one = cx.number(1.0, noise)?;
    // Never the logarithm of zero.
    let noise = cx.one("Sub", &[one, noise], Attrs::new())?;
    let noise = cx.one("Log", &[noise], Attrs::new())?;
    let noise = cx.one("Neg", &[noise], Attrs::new())?;
    let least = cx.number(f64::MIN_POSITIVE, noise)?;
    let noise = cx.one("Maximum", &[noise, least], Attrs::new())?;
    let noise = cx.one("Log", &[noise], Attrs::new())?;
    let logits = cx.cast(logits, DataType::Float64)?;
    let logits = cx.reshape(logits, &[rows, 1, classes])?;
    let all = cx.one("Sub", &[logits, noise], Attrs::new())?;
    let axis = cx.add_constant(Tensor::from_ints(&[-1]).reshaped(&[])?);
    let attrs = Attrs::new().with("dtype", DataType::Int64);
    let y = cx.one("ArgMaxV2", &[all, axis], attrs)?;
    Ok(vec![cx.cast(y, dtype)?])
}
