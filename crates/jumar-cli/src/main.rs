//! The `jumar` command, and `atc` when it is called by that name: arguments in, text out, nothing else.

#![forbid(unsafe_code)]

mod ascendc;
mod atc;
mod bundle;
mod check;
mod decisive;
mod doctor;
mod env;
mod es;
mod export;
mod faults;
mod info;
mod inspect;
mod msprof;
mod output;
mod report;
mod run;
mod torch;
mod tree;
mod triton;
mod vars;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs programs for Ascend accelerators on machines without one.
#[derive(Parser)]
#[command(
    name = "jumar",
    version,
    propagate_version = false,
    after_help = "Examples:
  jumar run -- ./classify images/         an unmodified C program
  jumar run -- python classify.py         an unmodified pyACL program
  jumar run --trace out.json -- ./app     with a timeline for Perfetto
  jumar check -- ./app                    races, leaks and misuse, with file and line
  eval \"$(jumar env)\"                     the same environment for the whole shell
  jumar atc --model=net.onnx --framework=5 --output=net --soc_version=Ascend910B1
  jumar doctor                            which libascendcl a program would load, and why"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a program on Jumar's devices and returns its exit status.
    Run(run::Options),
    /// Prints commands that set up the shell: eval "$(jumar env)".
    Env(env::Options),
    /// Shows which library a program would load, and problems of the setup.
    Doctor(doctor::Options),
    /// Prepares Python for PyTorch's Ascend adapter (torch_npu).
    Torch(torch::Options),
    /// Prints the folder of libraries, headers and commands.
    Prefix,
    /// Lists the devices that a program sees.
    Info,
    /// Shows the contents of a model file (.om, .onnx).
    Inspect(inspect::Options),
    /// Combines several models (.om) in one file.
    Bundle(bundle::Options),
    /// Converts a model to .om, with the options of the atc tool.
    #[command(disable_help_flag = true)]
    Atc {
        /// The options of atc; `jumar atc --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Exports the tables of a profile again, with the options of the msprof tool.
    #[command(disable_help_flag = true)]
    Msprof {
        /// The options of msprof; `jumar msprof --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Runs a program and reports races, leaks and misuse.
    Check(check::Check),
    /// Runs a program under many schedules and reports differing runs.
    Explore(check::Explore),
    /// Makes each call and each task of a program fail once and reports how the program reacts.
    Faults(faults::Faults),
    /// Converts a timeline to a web page.
    Report(report::Options),
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called_as = arguments.next().unwrap_or_default();
    let name = Path::new(&called_as).file_name().unwrap_or_default();
    if name == triton::NAME {
        return triton::main(arguments.collect());
    }
    // Commands show and compare model files.
    jumar::offline::lowering::provide_operators();
    if name == "atc" {
        return atc::main(arguments.collect());
    }
    if name == es::NAME {
        return es::main(arguments.collect());
    }
    if let Some(name) = ascendc::NAMES.iter().find(|known| name == **known) {
        return ascendc::main(name, arguments.collect());
    }
    let answer = match Cli::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Env(options) => env::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Torch(options) => torch::run(&options),
        Command::Prefix => prefix(),
        Command::Info => info::run(),
        Command::Inspect(options) => inspect::run(&options),
        Command::Bundle(options) => bundle::run(&options),
        Command::Atc { arguments } => return atc::main(arguments),
        Command::Msprof { arguments } => return msprof::main(arguments),
        Command::Check(options) => check::check(&options),
        Command::Explore(options) => check::explore(&options),
        Command::Faults(options) => faults::run(&options),
        Command::Report(options) => report::run(&options),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
