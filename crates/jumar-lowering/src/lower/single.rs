//! Types that single operators compute, and types that are these with further steps.

use jumar_ops::{Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering, unsupported};
use jumar_graph::ValueId;
use jumar_graph::conversion::{find_single_operator, single_operators};

type Answer = Result<Vec<ValueId>, OpError>;

/// Lists the types that a single operator computes as it is.
pub(super) fn table() -> impl Iterator<Item = (&'static str, Lowering)> {
    single_operators()
        .map(|single| single.operator.name)
        .filter(|name| !name.starts_with("jumar."))
        .map(|name| (name, lower as Lowering))
}

/// Returns the names of the inputs that an operator updates.
pub(super) fn updated(kind: &str) -> &'static [&'static str] {
    match kind {
        "ApplyAdamW" => &["var", "m", "v"],
        "ApplyRotaryPosEmb" => &["query", "key"],
        "StridedSliceAssignV2" => &["var"],
        _ => &[],
    }
}

/// Lowers to the operator of the same name.
fn lower(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let Some(single) = find_single_operator(op.kind()) else {
        return Err(unsupported(format!("there is no operator {}", op.kind())));
    };
    let name = single.operator.name;
    let attrs = op.attrs_for(name)?;
    if name == "Renorm" && describes_factors(cx, op)? {
        return renorm_factors(cx, op);
    }
    let inputs = op.in_order()?;
    let outputs = single.operator.outputs;
    let mut values = cx.add_node(name, &inputs, attrs, outputs.len())?;
    if name == "Svd" && !op.yes("compute_uv")? {
        fill_described(cx, op, &mut values)?;
    }
    let updated = updated(name);
    for (output, value) in outputs.iter().zip(&mut values) {
        if updated.contains(&output.name) {
            *value = write_or_pass(cx, op, output.name, *value)?[0];
        }
    }
    Ok(values)
}

/// Replaces outputs that are not computed, which have no elements, by zeros where a program describes some.
fn fill_described(cx: &mut Cx, op: &Op<'_>, values: &mut [ValueId]) -> Result<(), OpError> {
    for (value, output) in values.iter_mut().zip(&op.node.outputs).skip(1) {
        let dims = &output.desc.dims;
        if dims.is_empty() || dims.iter().any(|&dim| dim < 1) {
            continue;
        }
        let (dims, zero) = (cx.ints(dims), cx.number(0.0, *value)?);
        *value = cx.one("Fill", &[dims, zero], jumar_ops::Attrs::new())?;
    }
    Ok(())
}

/// Returns whether a program describes the output of Renorm as one number for each slice: frameworks ask for the factors alone, and
/// multiply by themselves.
fn describes_factors(cx: &Cx, op: &Op<'_>) -> Result<bool, OpError> {
    let x = cx.dims(op.input("x")?)?;
    let Some(output) = op.node.outputs.first() else {
        return Ok(false);
    };
    let (own, rank) = (&output.desc.dims, x.len() as i64);
    let dim = op.int("dim")?.rem_euclid(rank.max(1)) as usize;
    let fits = |(at, &size): (usize, &i64)| size == if at == dim { x[at] } else { 1 };
    Ok(own.len() == x.len() && *own != x && own.iter().enumerate().all(fits))
}

/// Returns by what Renorm multiplies each slice.
fn renorm_factors(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let (dtype, rank) = (cx.ty(x).dtype, cx.rank(x)? as i64);
    let dim = op.int("dim")?.rem_euclid(rank.max(1));
    let (p, most) = (f64::from(op.float("p")?), f64::from(op.float("maxnorm")?));
    let others: Vec<i64> = (0..rank).filter(|&axis| axis != dim).collect();
    let wide = match dtype {
        DataType::Float64 => DataType::Float64,
        _ => DataType::Float32,
    };
    let f = Formula::new(cx);
    let size = f.of("Abs", f.cast(x, wide)?)?;
    let norm = if p == f64::INFINITY {
        f.reduce("ReduceMax", size, &others, true)?
    } else if p == 0.0 {
        f.sum(f.cast(f.above(size, 0.0)?, wide)?, &others, true)?
    } else {
        let power = f.number(p, size)?;
        let sum = f.sum(f.pow(size, power)?, &others, true)?;
        f.pow(sum, f.number(1.0 / p, sum)?)?
    };
    let factor = f.div(f.number(most, norm)?, f.plus(norm, 1e-7)?)?;
    let one = f.number(1.0, norm)?;
    let factor = f.choose(f.above(norm, most)?, factor, one)?;
    Ok(vec![f.cast(factor, dtype)?])
}

#[cfg(test)]
mod tests {
    #[test]
    fn inputs_that_a_single_operator_updates_are_those_that_are_outputs_too() {
        for (name, _) in super::table() {
            let prototype = crate::prototype(name).expect(name);
            let inputs = prototype.inputs.iter().map(|(name, _)| *name);
            let outputs: Vec<&str> = prototype.outputs.iter().map(|(name, _)| *name).collect();
            let both: Vec<&str> = inputs.filter(|name| outputs.contains(name)).collect();
            assert_eq!(both, super::updated(name), "{name}");
        }
    }
}
