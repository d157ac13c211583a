//! Lists of tensors that are changed in place.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering, Value, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ForeachAddListInplace", |cx, op| {
        let (first, second) = (op.list("x1")?, op.list("x2")?);
        if first.len() != second.len() {
            return Err(invalid(format!(
                "its inputs x1 and x2 have {} and {} tensors; they must have equally many",
                first.len(),
                second.len()
            )));
        }
        for (index, (one, mut other)) in first.into_iter().zip(second).enumerate() {
            let f = Formula::new(cx);
            if let Some(alpha) = op.maybe("alpha") {
                other = f.mul(other, f.cast(f.reshape(alpha, &[])?, f.dtype(other))?)?;
            }
            let sum = f.add(one, other)?;
            write_or_pass(cx, op, &format!("x1{index}"), sum)?;
        }
        Ok(Vec::new())
    }),
    ("MemSetV2", filled),
];

/// Fills tensors with one number each: those of floating-point types from one list, the others from the other.
fn filled(cx: &mut Cx, op: &Op<'_>) -> Result<Vec<ValueId>, OpError> {
    let floats: &[f32] = match op.node.attrs.get("values_float") {
        None => &[],
        Some(Value::Floats(list)) => list,
        Some(_) => {
            return Err(invalid(
                "its attribute values_float has to be a list of numbers",
            ));
        }
    };
    let ints = op.ints("values_int")?;
    let all = op.list("x")?;
    let float_count = all
        .iter()
        .filter(|&&value| cx.ty(value).dtype.is_float())
        .count();
    for (name, len, count) in [
        ("values_float", floats.len(), float_count),
        ("values_int", ints.len(), all.len() - float_count),
    ] {
        if len != 0 && len != count {
            return Err(invalid(format!(
                "its attribute {name} has {len} numbers; none, or one for each of {count} tensors of such types, are required"
            )));
        }
    }
    let (mut floats, mut ints) = (floats.iter(), ints.iter());
    let mut answer = Vec::with_capacity(all.len());
    for (index, value) in all.into_iter().enumerate() {
        let dtype = cx.ty(value).dtype;
        let number = match dtype.is_float() {
            true => cx.add_constant(Tensor::scalar(
                DataType::Float64,
                floats.next().map_or(0.0, |&number| f64::from(number)),
            )?),
            false => cx.ints(&[ints.next().copied().unwrap_or(0)]),
        };
        let number = cx.reshape(number, &[])?;
        let number = cx.cast(number, dtype)?;
        let shape = cx.one("Shape", &[value], Attrs::new())?;
        let shape = cx.cast(shape, DataType::Int64)?;
        let new = cx.one("Fill", &[shape, number], Attrs::new())?;
        answer.extend(write_or_pass(cx, op, &format!("x{index}"), new)?);
    }
    Ok(answer)
}

/// Returns the names of the inputs that an operator updates.
pub(super) fn updated(kind: &str) -> &'static [&'static str] {
    match kind {
        "ForeachAddListInplace" => &["x1"],
        "MemSetV2" => &["x"],
        _ => &[],
    }
}
