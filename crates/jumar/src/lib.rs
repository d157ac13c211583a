//! Jumar for Rust programs: devices, contexts, streams, events, buffers and models as owned values.
//!
//! This crate also reads all configuration, and picks the backend and the probes of a runtime.
#![forbid(unsafe_code)]

pub mod config;
mod trace;
pub use trace::trace_flush;

/// The runtime itself, for the other surfaces (the C interface, the command line). Rust programs use the types of the crate's
/// root instead.
pub mod engine {
    pub use jumar_core::*;
}

/// Offline models, for the other surfaces. Rust programs use `Model` of the crate's root instead.
pub mod offline {
    pub use jumar_model::{Description, Model, Package, Supplied, TensorInfo};
}
