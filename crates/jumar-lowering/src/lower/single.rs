//! Types that single operators compute, and types that are these with further steps.

use jumar_ops::{Builder as _, OpError};

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
    let inputs = op.in_order()?;
    let outputs = single.operator.outputs;
    let mut values = cx.add_node(name, &inputs, attrs, outputs.len())?;
    let updated = updated(name);
    for (output, value) in outputs.iter().zip(&mut values) {
        if updated.contains(&output.name) {
            *value = write_or_pass(cx, op, output.name, *value)?[0];
        }
    }
    Ok(values)
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
