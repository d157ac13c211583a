//! What looks on: logs, profiles, dumps, the checks, and calls that are made to fail.

pub(crate) mod check;
pub mod dump;
pub(crate) mod faults;
pub mod log;
pub mod msprof;
pub mod observers;
pub mod prof;
