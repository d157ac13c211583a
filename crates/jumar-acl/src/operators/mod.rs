//! Single operators.

pub mod aclnn;
pub mod atb;
pub mod cblas;
mod memory;
pub mod single_op;
