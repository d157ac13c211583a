//! Gradients of distances between rows.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[("CdistGrad", gradient)];

type Answer<T> = Result<T, OpError>;

/// Reads the operands as `[.., p, r, m]`.
///
/// By the class, x1 is `[b, p, m]`, x2 `[b, r, m]`, and the distances and their gradients are `[b, p, r]`. PyTorch's adapter passes all four as
/// `[.., p, r, m]` instead.
fn operands(cx: &mut Cx, op: &Op<'_>) -> Answer<[ValueId; 4]> {
    let names = ["grad", "x1", "x2", "cdist"];
    let mut values = [op.input("x1")?; 4];
    let mut dims = Vec::with_capacity(4);
    for (value, name) in values.iter_mut().zip(names) {
        *value = op.input(name)?;
        dims.push(cx.dims(*value)?);
    }
    let rank = dims[0].len();
    let described = op.node.outputs.first().map(|output| output.desc.dims.len());
    let alike = dims.iter().all(|own| *own == dims[0]);
    if alike && rank >= 3 && described != Some(rank) {
        return Ok(values);
    }
    let fits = match (&dims[0][..], &dims[1][..], &dims[2][..]) {
        ([b, p, r], [b1, p1, m1], [b2, r2, m2]) => {
            [b, p] == [b1, p1] && [b, r, m1] == [b2, r2, m2] && dims[3] == dims[0]
        }
        _ => false,
    };
    if !fits {
        return Err(invalid(format!(
            "its inputs grad {:?}, x1 {:?}, x2 {:?} and cdist {:?} must have the shapes [b, p, r], [b, p, m], [b, r, m] and [b, p, r]",
            dims[0], dims[1], dims[2], dims[3]
        )));
    }
    let (b, p, r, m) = (dims[0][0], dims[0][1], dims[0][2], dims[1][2]);
    let shapes = [[b, p, r, 1], [b, p, 1, m], [b, 1, r, m], [b, p, r, 1]];
    for (value, shape) in values.iter_mut().zip(shapes) {
        *value = cx.reshape(*value, &shape)?;
    }
    Ok(values)
}

/// The gradient of x1: that of each distance times the derivative of the distance by the difference, summed over the rows of x2.
fn gradient(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    let dtype = cx.ty(op.input("x1")?).dtype;
    let values = operands(cx, op)?;
    let compute = match dtype {
        DataType::Float64 => dtype,
        _ => DataType::Float32,
    };
    let mut upcast = values;
    for value in &mut upcast {
        *value = cx.cast(*value, compute)?;
    }
    let [by_distance, x1, x2, distance] = upcast;
    // PyTorch's adapter passes -1 for infinity.
    let order = match op.float("p")? {
        order if order < 0.0 => f32::INFINITY,
        order => order,
    };
    let one =
        |cx: &mut Cx, kind: &'static str, inputs: &[ValueId]| cx.one(kind, inputs, Attrs::new());
    let number = |cx: &mut Cx, value: f64| -> Answer<ValueId> {
        Ok(cx.add_constant(Tensor::scalar(compute, value)?))
    };
    let zero = number(cx, 0.0)?;
    let difference = one(cx, "Sub", &[x1, x2])?;
    let (sign, size) = (
        one(cx, "Sign", &[difference])?,
        one(cx, "Abs", &[difference])?,
    );
    let slope = if order == 0.0 {
        one(cx, "Mul", &[zero, sign])?
    } else if order.is_infinite() {
        // The distance has been rounded to the type of the inputs.
        let size = cx.cast(size, dtype)?;
        let largest = one(cx, "Equal", &[size, values[3]])?;
        one(cx, "SelectV2", &[largest, sign, zero])?
    } else if order == 1.0 {
        sign
    } else {
        // Where the distance is 0, so is the difference.
        let none = one(cx, "Equal", &[distance, zero])?;
        let unit = number(cx, 1.0)?;
        let divisor = one(cx, "SelectV2", &[none, unit, distance])?;
        let mut share = one(cx, "RealDiv", &[size, divisor])?;
        if order != 2.0 {
            let power = number(cx, f64::from(order) - 1.0)?;
            share = one(cx, "Pow", &[share, power])?;
        }
        let slope = one(cx, "Mul", &[sign, share])?;
        let equal = one(cx, "Equal", &[difference, zero])?;
        one(cx, "SelectV2", &[equal, zero, slope])?
    };
    let terms = one(cx, "Mul", &[slope, by_distance])?;
    let axis = cx.ints(&[-2]);
    let sum = one(cx, "ReduceSum", &[terms, axis])?;
    Ok(vec![cx.cast(sum, dtype)?])
}
