//! Diagnostics: logs, profiles, dumps, checks and fault injection.

pub(crate) mod check;
pub mod dump;
pub(crate) mod faults;
pub mod log;
pub mod msprof;
pub mod mspti;
pub mod observers;
pub mod prof;
