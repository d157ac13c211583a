//! Fusion: patterns that are found in a graph, and parts of a graph that are replaced.
//!
//! The passes themselves are classes of the program; `cpp/fusion.cpp` runs them.

pub mod part;
pub mod pattern;
pub mod rewrite;

use crate::lowering as ge;

/// Operators that stand for the edge of a graph. They are in no part that is replaced, and in a pattern they are its inputs.
pub const EDGE: &[&str] = &["Variable", "NetOutput"];

/// An output of an operator.
pub type Tensor = (u64, usize);

/// Returns whether an operator of the type is a constant.
pub fn is_constant(kind: &str) -> bool {
    matches!(kind, "Const" | "Constant")
}

/// Returns whether an operator of the type is an input of its graph.
pub fn is_input(kind: &str) -> bool {
    ge::INPUTS.contains(&kind)
}

#[cfg(test)]
mod tests;
