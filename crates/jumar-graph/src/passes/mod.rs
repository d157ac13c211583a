//! What is done to a graph between import and plan.

pub(crate) mod bf16_int8;
pub(crate) mod clean;
pub(crate) mod fold;
pub(crate) mod fuse;
pub(crate) mod layout;
pub(crate) mod recurrent;
pub(crate) mod sequences;
pub(crate) mod sixteen_bits;
pub(crate) mod transformer;
