//! The operators, by family. Each file has a table of names and of functions that plan them.

use crate::{Arg, Plan, Refusal, Signature};

/// Plans one call.
pub(crate) type PlanFn = fn(&'static Signature, &[Arg]) -> Result<Plan, Refusal>;

/// The tables of all families.
const TABLES: &[&[(&str, PlanFn)]] = &[];

/// Finds the function that plans an operator.
pub(crate) fn find(name: &str) -> Option<PlanFn> {
    TABLES
        .iter()
        .flat_map(|table| table.iter())
        .find(|(own, _)| *own == name)
        .map(|&(_, plan)| plan)
}

/// Reports whether an operator is computed.
pub fn is_computed(name: &str) -> bool {
    find(name).is_some()
}

/// Returns the names of all operators that are computed.
pub fn computed() -> impl Iterator<Item = &'static str> {
    TABLES
        .iter()
        .flat_map(|table| table.iter().map(|(name, _)| *name))
}
