//! The `jumar` command, and `atc` when it is called by that name: arguments in, text out, nothing else.

#![forbid(unsafe_code)]

mod atc;
mod bundle;
mod doctor;
mod env;
mod info;
mod inspect;
mod run;
mod tree;
mod vars;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs Ascend programs on machines without an Ascend card.
#[derive(Parser)]
#[command(
    name = "jumar",
    version,
    propagate_version = false,
    after_help = "Examples:
  jumar run -- ./classify images/         an unmodified C program
  jumar run -- python classify.py         an unmodified pyACL program
  jumar run --trace out.json -- ./app     with a timeline for Perfetto
  eval \"$(jumar env)\"                     the same environment for the whole shell
  jumar atc --model=net.onnx --framework=5 --output=net --soc_version=Ascend910B1
  jumar doctor                            which libascendcl a program would get, and why"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a program on Jumar's devices and returns what it returns.
    Run(run::Options),
    /// Prints the lines that set a shell up: eval "$(jumar env)".
    Env(env::Options),
    /// Tells which library a program would load and what stands in the way.
    Doctor(doctor::Options),
    /// Prints where libraries, headers and commands lie.
    Prefix,
    /// Lists the devices that a program would see.
    Info,
    /// Shows what is inside a model file (.om, .onnx).
    Inspect(inspect::Options),
    /// Puts several models (.om) into one file.
    Bundle(bundle::Options),
    /// Converts a model to .om; takes the options of the atc tool.
    #[command(disable_help_flag = true)]
    Atc {
        /// The options of atc; `jumar atc --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Checks a program for races, leaks and misuse (not supported yet).
    Check(Later),
    /// Runs a program under many schedules (not supported yet).
    Explore(Later),
    /// Fails each call of a program once (not supported yet).
    Faults(Later),
}

/// Takes anything, so that the answer is about the command and not about its arguments.
#[derive(clap::Args)]
struct Later {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called_as = arguments.next().unwrap_or_default();
    if Path::new(&called_as)
        .file_name()
        .is_some_and(|name| name == "atc")
    {
        return atc::main(arguments.collect());
    }
    let answer = match Cli::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Env(options) => env::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Prefix => prefix(),
        Command::Info => info::run(),
        Command::Inspect(options) => inspect::run(&options),
        Command::Bundle(options) => bundle::run(&options),
        Command::Atc { arguments } => return atc::main(arguments),
        Command::Check(_) => not_supported("check"),
        Command::Explore(_) => not_supported("explore"),
        Command::Faults(_) => not_supported("faults"),
    };
    answer.unwrap_or_else(|error| {
        eprintln!("jumar: {error:#}");
        ExitCode::FAILURE
    })
}

fn prefix() -> anyhow::Result<ExitCode> {
    println!("{}", tree::Tree::own()?.root().display());
    Ok(ExitCode::SUCCESS)
}

fn not_supported(command: &str) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`jumar {command}` is not supported yet")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
