//! What is done to a graph between import and plan.

pub(crate) mod clean;
pub(crate) mod fold;
pub(crate) mod fuse;
pub(crate) mod layout;
pub(crate) mod narrow;
pub(crate) mod transformer;
