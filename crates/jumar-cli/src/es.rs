//! The generator of functions that build graphs: `gen_esb` is a name of this command. It reads the built-in operators, or
//! REG_OP classes of a program, and writes a function in C and one in C++ for each.

mod definition;
mod generate;
mod prototype;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Parser;

/// The name by which the generator is called.
pub const NAME: &str = "gen_esb";

/// Writes functions that build graphs, one for each operator, in C and C++.
#[derive(Parser)]
#[command(name = "gen_esb", version)]
struct Options {
    /// The folder to write to.
    #[arg(long = "output_dir", default_value = ".")]
    output_dir: PathBuf,
    /// The name in es_<NAME>_ops.h, which includes all functions.
    #[arg(long = "module_name", default_value = "all")]
    module_name: String,
    /// The prefix of the header guards, for two packages that have an operator of the same name.
    #[arg(long = "h_guard_prefix", default_value = "")]
    h_guard_prefix: String,
    /// Operators to leave out.
    #[arg(long = "exclude_ops", value_delimiter = ',')]
    exclude_ops: Vec<String>,
    /// C++ files with REG_OP classes, to read instead of the built-in operators. Quoted includes are followed.
    #[arg(long, value_delimiter = ',')]
    prototypes: Vec<PathBuf>,
    /// Folders in which quoted includes are looked up.
    #[arg(short = 'I', long, value_delimiter = ',')]
    include: Vec<PathBuf>,
}

/// Runs the generator with its arguments.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let named = std::iter::once(OsString::from(NAME)).chain(arguments);
    match run(&Options::parse_from(named)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{NAME}: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    for name in [&options.module_name, &options.h_guard_prefix] {
        ensure!(
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
            "{name:?} has to consist of letters, digits and underscores"
        );
    }
    let mut operators = if options.prototypes.is_empty() {
        definition::built_in()
    } else {
        prototype::read(&options.prototypes, &options.include)?
    };
    let excluded: BTreeSet<&str> = options.exclude_ops.iter().map(|name| name.trim()).collect();
    operators.retain(|operator| !excluded.contains(operator.name.as_str()));
    operators.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = operators
        .windows(2)
        .find(|pair| pair[0].name == pair[1].name)
    {
        bail!("{} is registered twice", pair[0].name);
    }
    fs::create_dir_all(&options.output_dir)
        .with_context(|| format!("cannot make {}", options.output_dir.display()))?;
    for (name, text) in generate::files(&operators, &options.module_name, &options.h_guard_prefix) {
        write_if_changed(&options.output_dir.join(name), &text)?;
    }
    println!(
        "{NAME}: {} operators in {}",
        operators.len(),
        options.output_dir.display()
    );
    Ok(())
}

/// Writes a file; one with the same contents keeps its time, so that nothing is compiled again.
fn write_if_changed(path: &std::path::Path, text: &str) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    crate::output::write(path, text.as_bytes())
}
