//! The only module with unsafe code: the library and its symbols, the conversion of arguments and results, and the wrappers.
//!
//! What each C function takes is stated once, in `api/pyacl`; `ffi::c_call` is the one place that calls through an address.

#![allow(unsafe_code)]

// First, because the other files use its macros.
#[macro_use]
pub mod ffi;

mod callbacks;
pub mod library;
mod manual;
pub mod memory;
pub mod place;
pub mod python;
mod records;
mod table;

// The generator writes one function after another without measuring its lines.
#[rustfmt::skip]
mod generated;

/// The functions of each submodule; `base` is the module itself.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static table::Table)> {
    generated::TABLES
        .iter()
        .map(|(name, table)| (*name, *table))
}
