//! Runs the behaviour table by hand: `cargo run -p jumar-testkit -- c`.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use jumar_testkit::api::Api;
use jumar_testkit::run::{Report, Selection};
use jumar_testkit::table::{self, Case};
use jumar_testkit::{coverage, models, root, run, tree};

#[derive(Parser)]
#[command(about = "Drives the behaviour table through the frontends of an install tree.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reads the table and counts its cases by group.
    Check,
    /// Lists functions with the number of cases that show them at work and refused, and rows with their cases.
    Coverage,
    /// Runs the cases through C.
    C(Run),
    /// Runs the cases through Python.
    Python {
        /// The interpreter.
        #[arg(long, default_value = "python3")]
        interpreter: PathBuf,
        #[command(flatten)]
        run: Run,
    },
    /// Lists the "works" cases that a library passes whose every call returns 0.
    Zero {
        /// Where acl/acl.h lies.
        #[arg(long, default_value = "include")]
        include: PathBuf,
    },
    /// Makes the models that cases name.
    Models {
        /// The install tree whose atc is used.
        #[arg(long, default_value_os_t = tree())]
        tree: PathBuf,
        /// Where they go.
        #[arg(long, default_value = "target/test-models")]
        folder: PathBuf,
    },
}

#[derive(clap::Args)]
struct Run {
    /// The install tree.
    #[arg(long, default_value_os_t = tree())]
    tree: PathBuf,
    /// The folder of the models.
    #[arg(long, default_value = "target/test-models")]
    models: PathBuf,
    /// Also runs cases whose functions are not implemented.
    #[arg(long)]
    all: bool,
    /// Only cases of this kind.
    #[arg(long, value_parser = ["works", "refused"])]
    kind: Option<String>,
    /// Prints every case, not only what is not as it should be.
    #[arg(long)]
    verbose: bool,
    /// Runs the C driver under this program, such as "valgrind -q --error-exitcode=9".
    #[arg(long, value_delimiter = ' ')]
    under: Vec<String>,
    /// Runs the C driver under the checks; each case leaves its findings in this folder.
    #[arg(long)]
    reports: Option<PathBuf>,
    /// With --reports: holds every task back until the case waits for it.
    #[arg(long, requires = "reports")]
    late: bool,
    /// Parts of ids.
    filters: Vec<String>,
}

impl Run {
    fn selection(&self) -> Selection {
        Selection {
            all: self.all,
            kind: self.kind.clone(),
            filters: self.filters.clone(),
            under: self.under.clone(),
            reports: self.reports.clone(),
            late: self.late,
        }
    }
}

fn main() -> ExitCode {
    match answer(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn answer(command: Command) -> Result<bool> {
    let root = root();
    let api = Api::read(&root)?;
    let cases = table::read(&root, &api)?;
    match command {
        Command::Check => check(&cases),
        Command::Coverage => print_coverage(&cases, &api),
        Command::C(options) => {
            let report = run::c(
                &api,
                &cases,
                &root.join(&options.tree),
                Some(&root.join(&options.models)),
                &options.selection(),
            )?;
            return Ok(print(&report, options.verbose));
        }
        Command::Python {
            interpreter,
            run: options,
        } => {
            let report = run::python(
                &api,
                &cases,
                &root.join(&options.tree),
                &interpreter,
                Some(&root.join(&options.models)),
                &options.selection(),
            )?;
            return Ok(print(&report, options.verbose));
        }
        Command::Zero { include } => {
            let passing = run::against_zero(&api, &cases, &root.join(include))?;
            for id in &passing {
                println!("{id} passes against a library whose every call returns 0");
            }
            println!("{} cases show nothing", passing.len());
            return Ok(passing.is_empty());
        }
        Command::Models { tree, folder } => make_models(&root.join(tree), &root.join(folder))?,
    }
    Ok(true)
}

fn check(cases: &[Case]) {
    let (mut all_work, mut all_refused) = (0, 0);
    for (group, (works, refused)) in coverage::groups(cases) {
        println!("{group:<12} {works:>4} work {refused:>4} refused");
        all_work += works;
        all_refused += refused;
    }
    println!("{:<12} {all_work:>4} work {all_refused:>4} refused", "all");
}

fn print_coverage(cases: &[Case], api: &Api) {
    for (function, shown) in coverage::functions(cases, api) {
        println!(
            "{function:<40} {:>3} work {:>3} refused",
            shown.works, shown.refused
        );
    }
    for (row, ids) in coverage::rows(cases) {
        println!("{row:<8} {}", ids.join(", "));
    }
}

fn print(report: &Report, verbose: bool) -> bool {
    for (id, outcome) in &report.cases {
        if verbose {
            println!("{id}: {outcome:?}");
        }
    }
    for (id, reason) in report.failures() {
        println!("FAIL {id}: {reason}");
    }
    for (name, count) in report.lacking() {
        println!("{count} cases lack {name}");
    }
    println!("{}", report.summary());
    report.failures().is_empty()
}

fn make_models(tree: &Path, folder: &Path) -> Result<()> {
    for (name, reason) in models::make(tree, folder)? {
        println!("{name} could not be made: {reason}");
    }
    Ok(())
}
