//! Single operators.

pub mod aclnn;
pub mod cblas;
mod memory;
pub mod single_op;
