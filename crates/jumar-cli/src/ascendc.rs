//! The compiler driver for Ascend C: `bisheng`, `ccec` and `asc-c++` are names of this command.

mod driver;
mod kernel;
mod options;
mod passes;
mod rewrite;
mod tokens;

use std::ffi::OsString;
use std::process::ExitCode;

/// The names by which the driver is called.
pub const NAMES: &[&str] = &["bisheng", "ccec", "asc-c++"];

/// Runs the driver with a compiler's arguments.
pub fn main(name: &str, arguments: Vec<OsString>) -> ExitCode {
    match driver::run(name, arguments) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("{name}: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
