//! `jumar inspect`: what is inside a model file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

/// What `jumar inspect` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar inspect net.om
  jumar inspect net.onnx")]
pub struct Options {
    /// The file.
    model: PathBuf,
}

/// Prints.
pub fn run(options: &Options) -> Result<ExitCode> {
    anyhow::bail!(
        "`jumar inspect {}` is not supported yet",
        options.model.display()
    )
}
