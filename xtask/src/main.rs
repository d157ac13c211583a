//! The project's own commands: `cargo xtask <gen|dist|wheel|release|site|demo|ci|bench|size|tidy>`.

mod ci;
mod demo;

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use xtask_base::{processor_time, progress, python_env, root};
use xtask_tree::{dist, release, wheel};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Builds, lays out, tests and measures Jumar.",
    after_help = "Examples:
  cargo xtask demo                 three programs classify handwritten digits on a software device
  cargo xtask ci                   all checks and tests
  cargo xtask ci --only clippy,tidy
  cargo xtask dist --prefix /opt/jumar"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes the generated files (shims, headers, exports, bindings) from api/*.toml.
    Gen {
        /// Writes nothing, and fails if a generated file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Builds everything and lays out the install tree.
    Dist {
        /// The folder of the install tree. Default: target/jumar, or target/tests/jumar with --tests.
        #[arg(long, value_name = "DIR")]
        prefix: Option<PathBuf>,
        /// Takes the libraries that `cargo test` compiles: built in a third of the time, without optimization, with assertions.
        #[arg(long)]
        tests: bool,
    },
    /// Builds one wheel with the Python modules, the commands, headers and libraries.
    Wheel(wheel::Options),
    /// Builds the files of a release: portable wheels, archives, checksums, a bill of materials and notes.
    Release(release::Options),
    /// Builds the documentation as a site with search, in target/site.
    Site,
    /// Builds without optimization, converts the digits model and runs the example programs on it.
    Demo {
        /// Takes an install tree that exists and builds nothing.
        #[arg(long, value_name = "DIR")]
        tree: Option<PathBuf>,
    },
    /// Runs all checks and tests, and prints a table of the results.
    Ci(ci::Options),
    /// Measures Jumar against the limits of this machine.
    Bench(xtask_bench::Options),
    /// Compiles every installed header in every dialect, and links the layout test against the installed library.
    #[command(hide = true)]
    Headers {
        /// The install tree.
        tree: PathBuf,
    },
    /// Prints the lines of the sources by crate, the sizes of the libraries, and the processor time of the last builds and runs.
    Size,
    /// Checks the project's rules that no compiler checks.
    Tidy {
        /// Writes the smaller counts of banned words into xtask/vocabulary.tsv; larger ones are refused.
        #[arg(long)]
        update_vocabulary: bool,
    },
}

impl Command {
    /// Returns the name of a command whose processor time is recorded: it does all that it can do.
    fn measured(&self) -> Option<&'static str> {
        match self {
            Command::Dist { tests: false, .. } => Some("dist"),
            Command::Demo { tree: None } => Some("demo"),
            Command::Ci(options) if options.is_complete() => Some("ci"),
            _ => None,
        }
    }

    /// Starts this program again with a cmake from the Python package index if the command compiles and the machine has none.
    ///
    /// # Errors
    /// cmake is missing and could not be installed.
    fn provide_cmake(&self) -> Result<()> {
        let compiles = match self {
            Command::Gen { .. }
            | Command::Headers { .. }
            | Command::Site
            | Command::Size
            | Command::Tidy { .. } => false,
            Command::Dist { .. }
            | Command::Wheel(_)
            | Command::Release(_)
            | Command::Demo { .. }
            | Command::Ci(_)
            | Command::Bench(_) => true,
        };
        if !compiles || dist::has_cmake() {
            return Ok(());
        }
        eprintln!(
            "cmake is not installed; libjpeg-turbo is built with it. Installing it in target/venv-cmake"
        );
        let folder = python_env::ensure_cmake(&root().join("target/dist/cmake.log"))
            .context("install it: on Debian and Ubuntu, apt-get install cmake nasm")?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path)))?;
        let error = std::process::Command::new(std::env::current_exe()?)
            .args(std::env::args_os().skip(1))
            .env("PATH", path)
            .exec();
        Err(error).context("could not start again with the installed cmake")
    }
}

fn main() -> ExitCode {
    shed_cargo();
    let arguments = Arguments::parse();
    if let Err(error) = arguments.command.provide_cmake() {
        eprintln!("error: {error:#}");
        return ExitCode::FAILURE;
    }
    let measured = arguments.command.measured();
    let result = run(arguments.command);
    if let (Ok(true), Some(name)) = (&result, measured)
        && let Err(error) = record_processor_time(name)
    {
        eprintln!("note: {error:#}");
    }
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints and stores the processor time of a command that has ended.
///
/// # Errors
/// The system does not say it, or the file cannot be written.
fn record_processor_time(name: &str) -> Result<()> {
    let seconds = processor_time::used()?;
    println!("processor time: {seconds:.0} s");
    processor_time::record(name, seconds)
}

/// Runs a command. `Ok(false)`: it ran and reported problems.
fn run(command: Command) -> Result<bool> {
    // Every command works from any folder of the repository.
    let callers_folder = std::env::current_dir()?;
    std::env::set_current_dir(root())?;
    match command {
        Command::Gen { check } => xtask_gen::run(check).map(|()| true),
        Command::Dist { prefix, tests } => {
            let tree = dist::run(
                prefix.map(|prefix| callers_folder.join(prefix)),
                if tests {
                    dist::Build::Tests
                } else {
                    dist::Build::Release
                },
            )?;
            println!("install tree: {}", tree.display());
            Ok(true)
        }
        Command::Wheel(options) => {
            let wheel = wheel::run(&options, &callers_folder)?;
            println!("wheel: {}", wheel.display());
            Ok(true)
        }
        Command::Release(options) => {
            let folder = release::run(&options, &callers_folder)?;
            println!("files of the release: {}", folder.display());
            Ok(true)
        }
        Command::Site => {
            println!("site: {}", site()?.display());
            Ok(true)
        }
        Command::Demo { tree } => {
            demo::run(tree.map(|tree| callers_folder.join(tree))).map(|()| true)
        }
        Command::Ci(options) => ci::run(&options),
        Command::Bench(options) => xtask_bench::run(&options).map(|()| true),
        Command::Headers { tree } => {
            let tree = callers_folder.join(tree);
            xtask_gen::check::headers(&tree.join("include"))?;
            xtask_gen::check::links(&tree.join("include"), &tree.join("lib64"))?;
            Ok(true)
        }
        Command::Size => xtask_tidy::print_size().map(|()| true),
        Command::Tidy { update_vocabulary } => {
            if update_vocabulary {
                xtask_tidy::update_vocabulary()?;
            }
            xtask_tidy::run()
        }
    }
}

/// Builds the site of the documentation. Returns its folder.
///
/// # Errors
/// A link of a page leads nowhere, or the builder cannot be installed.
fn site() -> Result<PathBuf> {
    let log = root().join("target/dist/site.log");
    let mut build = std::process::Command::new(python_env::ensure_pages(&log)?);
    build
        .args(["-m", "mkdocs", "build", "--strict", "--config-file"])
        .arg(root().join("xtask/site/mkdocs.yml"))
        // A line about a future version of the builder.
        .env("NO_MKDOCS_2_WARNING", "1");
    progress::run_or_fail("building the site", &mut build, &log)?;
    Ok(root().join("target/site"))
}

/// Starts this program again without what `cargo run` put into the environment.
///
/// Cargo prepends target/debug to LD_LIBRARY_PATH, where a half-built libascendcl.so lies that no program under test may
/// find. The environment of a running process cannot be changed without `unsafe`, that of a new one can.
fn shed_cargo() {
    let paths = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let is_cargos = |path: &PathBuf| {
        let is_trees = path.ends_with("jumar/lib64") || path.ends_with("jumar/cann/lib64");
        path.starts_with(root().join("target")) && !is_trees
            || path.components().any(|part| part.as_os_str() == "rustlib")
            || std::env::var_os("CARGO_TARGET_DIR").is_some_and(|target| path.starts_with(target))
    };
    if !std::env::split_paths(&paths).any(|path| is_cargos(&path)) {
        return;
    }
    let Ok(this) = std::env::current_exe() else {
        return;
    };
    let kept: Vec<PathBuf> = std::env::split_paths(&paths)
        .filter(|path| !is_cargos(path) && !path.as_os_str().is_empty())
        .collect();
    let mut again = std::process::Command::new(this);
    again
        .args(std::env::args_os().skip(1))
        .env_remove("LD_LIBRARY_PATH");
    if let Ok(kept) = std::env::join_paths(kept)
        && !kept.is_empty()
    {
        again.env("LD_LIBRARY_PATH", kept);
    }
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        }) {
            again.env_remove(name);
        }
    }
    // exec comes back only when it failed; then the command runs in the environment that there is.
    let error = again.exec();
    eprintln!("note: could not start again with a clean environment: {error}");
}
