//! What a crate needs that converts graphs of another kind into a [`Graph`](crate::Graph), as jumar-lowering does with those of the Graph
//! Engine: where nodes are added, control flow, operators by name, and the folding of constants.

use std::sync::OnceLock;

use jumar_ops::Operator;

pub use crate::control::{ControlInference, DEEPEST, IF, LOOP, find, infer as infer_control};
pub use crate::eager::SingleOperator;
pub use crate::eager::complex::find as find_complex_operator;
pub use crate::eager::{all as single_operators, find as find_single_operator};
pub use crate::insert_point::InsertPoint;
pub use crate::passes::fold::infer_and_fold;

static OPERATORS: OnceLock<&'static [&'static Operator]> = OnceLock::new();

/// Adds operators of the crate that converts, so that graphs and model files may name them. The first call counts; further ones have no
/// effect.
pub fn add_operators(operators: &'static [&'static Operator]) {
    OPERATORS.get_or_init(|| operators);
}

/// Finds an operator that [`add_operators`] added.
pub(crate) fn find_added(name: &str) -> Option<&'static Operator> {
    let added = OPERATORS.get().copied().unwrap_or_default();
    added.iter().copied().find(|operator| operator.name == name)
}
