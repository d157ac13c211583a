//! The compiler for Triton's kernels: `bishengir-compile` is a name of this command, by which triton-ascend calls it.
//!
//! Triton's front end passes a kernel as a module of MLIR in the dialects linalg, memref, tensor and arith. Public tools lower it:
//! `bishengir-opt` of the package ascendnpu-ir has MLIR's passes, and the library of the package triton-ascend has LLVM's code
//! generator. What they lack is rewritten in the text of the module: `module.rs` reads it, `atomics.rs` and `prepare.rs` change it before
//! the passes, `lowered.rs` after them, and `wrapper.rs` describes the kernel to the runtime. docs/decisions has the reasons.

mod atomics;
mod driver;
mod lowered;
mod module;
mod options;
mod outside;
mod prepare;
mod tools;
mod wrapper;

use std::ffi::OsString;
use std::process::ExitCode;

/// The name by which the compiler is called.
pub const NAME: &str = "bishengir-compile";

/// Runs the compiler with the arguments of triton-ascend.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    match driver::run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{NAME}: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
