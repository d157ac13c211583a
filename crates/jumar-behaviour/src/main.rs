//! Plays the behaviour table through Rust: `cargo run -p jumar-behaviour -- stream.destroy`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use anyhow::Result;
use jumar_behaviour::{run, shared_forms};

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Arguments for the processes that this program starts.
    if let [mark, file, folder, models] = arguments.as_slice()
        && mark == "--case"
    {
        return run::case(file.as_ref(), folder.into(), models.into());
    }
    if let [mark, made @ ..] = arguments.as_slice()
        && mark == "--owner"
    {
        shared_forms::own(made)?;
        return Ok(ExitCode::SUCCESS);
    }
    let report = run::table(&std::env::current_exe()?, &arguments)?;
    Ok(if run::conclude(&report) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
