//! `cargo xtask bench`.

use anyhow::{Result, bail};

/// What `cargo xtask bench` takes.
#[derive(clap::Args)]
pub struct Options {
    /// What to measure.
    #[arg(default_value = "runtime")]
    what: String,
}

/// Measures.
pub fn run(options: &Options) -> Result<()> {
    bail!("there is no benchmark called {}", options.what)
}
