//! The only module with unsafe code: the library and its symbols, the conversion of arguments and results, and the wrappers.
//!
//! What each C function takes is stated once, in `api/pyacl`; `ffi::c_call` is the only function that calls through an address.

#![allow(unsafe_code)]

// First, because the other files use their macros.
#[macro_use]
pub mod ffi;
#[macro_use]
mod rows;

mod callbacks;
mod direct;
pub mod library;
mod manual;
pub mod memory;
pub mod python;
mod records;
pub mod source_location;
mod structures;
mod table;

// The generator writes one function after another without measuring its lines.
#[rustfmt::skip]
mod generated;

/// What the package `jumar` uses of this module, and programs do not.
pub static PRIVATE: table::Table = table::Table::new(&[
    method!(
        c"_last_error",
        manual::base_last_error,
        c"acl._last_error args parse failed",
        c"_last_error($module, code, /)\n--\n\nTakes the last error of this thread as data, if it had this code."
    ),
    method!(
        c"_array_finalizer",
        direct::array_finalizer,
        c"acl._array_finalizer args parse failed",
        c"_array_finalizer($module, cls, /)\n--\n\nMakes the method that frees an array in pinned memory."
    ),
    method!(
        c"_direct_runs",
        direct::direct_runs,
        c"acl._direct_runs args parse failed",
        c"_direct_runs($module, context, model, inputs, outputs, array, slots, made, /)\n--\n\nMakes what the runs of a model on the calling thread have in common."
    ),
    method!(
        c"_model_call",
        direct::model_call,
        c"acl._model_call args parse failed",
        c"_model_call($module, cls, doc, /)\n--\n\nMakes the method that runs a model on the calling thread where it can; elsewhere it calls the other method."
    ),
    table::END,
]);

/// The functions of each submodule; `base` is the module itself.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static table::Table)> {
    generated::TABLES
        .iter()
        .map(|(name, table)| (*name, *table))
}
