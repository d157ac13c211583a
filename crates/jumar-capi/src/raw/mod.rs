//! The FFI layer: conversion of raw C arguments into typed ones, and the boundary around every call.
//!
//! Each type and function here checks what can be checked (null, alignment, overflow) and takes the
//! rest on trust: a program guarantees the pointers it passes. Generated shims only combine them.

#![deny(clippy::multiple_unsafe_ops_per_block, clippy::ptr_as_ptr)]

mod call_trace;
mod cancellation;
mod crash;
mod ffi_boundary;
mod input;
mod instance;
mod interpreter;
pub mod operator;
mod output;
mod reserve;
mod shim;
mod sites;
mod user;

pub use call_trace::{ArgBits, trace};
pub use cancellation::with_cancellation_between;
pub use ffi_boundary::{
    code, enter, frontend, hccl_status, hccl_stub, status, stub, stub_value, value,
};
pub use input::{
    Count, Plain, count, element_bytes, handle, input, rows, slice, span, text, texts,
};
pub use instance::Instance;
pub use output::{InOut, Out, OutArray, TextAddress, address, pointer, text_address};
pub use shim::{Outputs, plain_name, structure};
pub(crate) use shim::{answer, pass, plain_structures, shims, stubs, take};
pub use user::{Release, UserData, closure, this_thread};
