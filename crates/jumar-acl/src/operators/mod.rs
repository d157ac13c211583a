//! Single operators.

pub mod aclnn;
