//! `jumar info`: the devices that a program would see.

use std::process::ExitCode;

use anyhow::Result;

/// Prints.
pub fn run() -> Result<ExitCode> {
    anyhow::bail!("`jumar info` is not supported yet")
}
