//! The steps, in order: what is quick and most often wrong comes first, and of the tests of the install tree the longest.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{
    Job, Outcome, Part, Step, Uses, bare, calls, deny, levels, long, mindspore, races, serving,
    triton, variants,
};
use crate::{dist, python_env};

/// Every step.
pub(super) const ALL: &[Step] = &[
    Step {
        name: "gen",
        what: "generated files are what api/*.toml says",
        part: None,
        needs: &[],
        uses: Uses::Nothing,
        run: generated,
    },
    Step {
        name: "fmt",
        what: "rustfmt",
        part: None,
        needs: &[],
        uses: Uses::Nothing,
        run: fmt,
    },
    Step {
        name: "tidy",
        what: "the rules of the house",
        part: None,
        needs: &[],
        uses: Uses::Nothing,
        run: tidy,
    },
    Step {
        name: "deny",
        what: "licences and sources of the dependencies",
        part: None,
        needs: &[],
        uses: Uses::Nothing,
        run: deny::run,
    },
    Step {
        name: "dist",
        what: "the libraries, the commands, and the install tree",
        part: None,
        needs: &[],
        uses: Uses::Nothing,
        run: dist,
    },
    Step {
        name: "clippy",
        what: "no warning in any target",
        part: None,
        needs: &[],
        uses: Uses::DebugBuilds,
        run: clippy,
    },
    Step {
        name: "docs",
        what: "documentation builds without a warning",
        part: None,
        needs: &[],
        uses: Uses::DebugBuilds,
        run: docs,
    },
    Step {
        name: "test",
        what: "unit and integration tests of every crate",
        part: None,
        needs: &[],
        uses: Uses::DebugBuilds,
        run: test,
    },
    Step {
        name: "ffmpeg",
        what: "decoded video with FFmpeg's library instead of the built-in decoders",
        part: Some(Part::Portability),
        needs: &[],
        uses: Uses::DebugBuilds,
        run: ffmpeg,
    },
    Step {
        name: "doctest",
        what: "the examples in the documentation",
        part: None,
        needs: &[],
        uses: Uses::DebugBuilds,
        run: doctest,
    },
    Step {
        name: "ascendc",
        what: "kernels of Ascend C: values, checks, launches, examples",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: ascendc,
    },
    Step {
        name: "programs",
        what: "whole programs",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: programs,
    },
    Step {
        name: "calls",
        what: "generated calls of single operators against NumPy in double precision",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: calls::short,
    },
    Step {
        name: "levels",
        what: "an extract of the numeric suites with fewer vector instructions than the processor has",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: levels::short,
    },
    Step {
        name: "behaviour",
        what: "the table of rules, through C, Python and Rust",
        part: None,
        needs: &["dist"],
        uses: Uses::DebugBuilds,
        run: behaviour,
    },
    Step {
        name: "ge",
        what: "C++ programs that build and run graphs",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: ge,
    },
    Step {
        name: "atb",
        what: "operations of the transformer library against NumPy, and its objects",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: atb,
    },
    Step {
        name: "diag",
        what: "programs with a mistake each, and what jumar check says of them",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: diag,
    },
    Step {
        name: "wheel",
        what: "the wheel, and the package jumar in it",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: wheel,
    },
    Step {
        name: "headers",
        what: "every header in every dialect, layouts, links",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: headers,
    },
    Step {
        name: "corpus",
        what: "the behaviour table under jumar check: clean cases stay clean",
        part: None,
        needs: &["dist"],
        uses: Uses::DebugBuilds,
        run: corpus,
    },
    Step {
        name: "python",
        what: "the acl module",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: python,
    },
    Step {
        name: "conventions",
        what: "install tree, names, switching over",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: conventions,
    },
    Step {
        name: "models",
        what: "models against ONNX Runtime",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: models,
    },
    Step {
        name: "nodes",
        what: "the ONNX node cases, through atc and acl",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: nodes,
    },
    Step {
        name: "types",
        what: "every operator of ONNX in every type that its definition lists",
        part: None,
        needs: &[],
        uses: Uses::DebugBuilds,
        run: types,
    },
    Step {
        name: "c",
        what: "what only a C program shows",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: c,
    },
    Step {
        name: "demo",
        what: "the first thing a new user runs",
        part: None,
        needs: &["dist"],
        uses: Uses::Nothing,
        run: demo,
    },
    Step {
        name: "example",
        what: "the same recognition from Rust",
        part: None,
        needs: &[],
        uses: Uses::DebugBuilds,
        run: example,
    },
    Step {
        name: "loom",
        what: "every interleaving of the ring, the signals, the table of handles, the lives of a device and shutdown",
        part: Some(Part::Portability),
        needs: &[],
        uses: Uses::Machine,
        run: long::loom,
    },
    Step {
        name: "machines",
        what: "collectives over Gloo, between network namespaces where that is permitted",
        part: Some(Part::Endurance),
        needs: &[],
        uses: Uses::Machine,
        run: long::machines,
    },
    Step {
        name: "asan",
        what: "unit tests of the unsafe modules under the address sanitizer",
        part: Some(Part::Sanitizers),
        needs: &[],
        uses: Uses::Machine,
        run: long::asan,
    },
    Step {
        name: "demo-build",
        what: "the demo with its own build, as a new user runs it",
        part: Some(Part::Portability),
        needs: &[],
        uses: Uses::Machine,
        run: demo_build,
    },
    Step {
        name: "tsan",
        what: "threads that share a session of the Graph Engine, under the thread sanitizer",
        part: Some(Part::Sanitizers),
        needs: &["dist"],
        uses: Uses::Machine,
        run: races::tsan,
    },
    Step {
        name: "miri",
        what: "unit tests of the executor and of the backend's contract in Miri",
        part: Some(Part::Sanitizers),
        needs: &[],
        uses: Uses::Machine,
        run: races::miri,
    },
    Step {
        name: "levels-long",
        what: "every numeric suite with fewer vector instructions than the processor has",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: levels::long,
    },
    Step {
        name: "aarch64",
        what: "the library built for aarch64, and the tests of what depends on the processor in an emulator of it",
        part: Some(Part::Portability),
        needs: &[],
        uses: Uses::Machine,
        run: long::aarch64,
    },
    Step {
        name: "pytorch",
        what: "PyTorch's prebuilt adapter trains models as the CPU does, in each mode, and its features (downloads 5.6 GB)",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::pytorch,
    },
    Step {
        name: "pytorch-operators",
        what: "PyTorch's operator database through the adapter, against the stored table (downloads 5.6 GB)",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::pytorch_operators,
    },
    Step {
        name: "vllm",
        what: "vLLM with its plug-in for Ascend devices, on small models, in each mode (downloads 4 GB)",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: serving::vllm,
    },
    Step {
        name: "triton",
        what: "Triton's kernels, compiled and launched as triton-ascend does, against PyTorch on the CPU (downloads 5 GB)",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: triton::run,
    },
    Step {
        name: "mindspore",
        what: "MindSpore trains networks as its CPU does, and its documentation's examples, against the stored table (downloads 0.8 GB)",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: mindspore::run,
    },
    Step {
        name: "variants",
        what: "the tests that every run leaves out: another chip, a further dialect, a project like another",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: variants::run,
    },
    Step {
        name: "valgrind",
        what: "C programs under memcheck",
        part: Some(Part::Sanitizers),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::valgrind,
    },
    Step {
        name: "fuzz",
        what: "damaged models and options never bring a reader, atc or inspect down",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::fuzz,
    },
    Step {
        name: "fuzz-calls",
        what: "random calls of most functions from several threads end no process and find no defect",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::fuzz_calls,
    },
    Step {
        name: "fuzz-limits",
        what: "random sequences of calls under limits of the address space end no process",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::fuzz_limits,
    },
    Step {
        name: "calls-long",
        what: "the generated calls for ten minutes, with a seed from the clock",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: calls::long,
    },
    Step {
        name: "large",
        what: "models of more than 2 GiB through atc, load and execution",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: large,
    },
    Step {
        name: "page",
        what: "the page of a timeline in a browser: clicks, and a hundred thousand tasks",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: page,
    },
    Step {
        name: "soak",
        what: "C programs again and again, on one core and on all",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::soak,
    },
    Step {
        name: "chaos",
        what: "64 threads do anything to shared and own streams: nothing is lost, left over or stuck",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::chaos,
    },
    Step {
        name: "chaos-asan",
        what: "the same, shorter, under the address sanitizer",
        part: Some(Part::Sanitizers),
        needs: &[],
        uses: Uses::Machine,
        run: long::chaos_asan,
    },
    Step {
        name: "chaos-helgrind",
        what: "the same, shorter, under helgrind: the order of locks",
        part: Some(Part::Sanitizers),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::chaos_helgrind,
    },
    Step {
        name: "kinds",
        what: "ten thousand objects of each kind come and go, and the process stays as large as it was",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::kinds,
    },
    Step {
        name: "onnxruntime",
        what: "ONNX Runtime's prebuilt CANN provider: sessions, and the node cases of onnx",
        part: Some(Part::Portability),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::onnxruntime,
    },
    Step {
        name: "operators",
        what: "a million calls of single operators, and the process stays as large as it was",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::operators,
    },
    Step {
        name: "collectives",
        what: "a thousand communicators, a million collectives, ranks killed at random: nothing is left",
        part: Some(Part::Endurance),
        needs: &["dist"],
        uses: Uses::Machine,
        run: long::collectives,
    },
    Step {
        name: "site",
        what: "the documentation as a site: each link of a page leads to a page",
        part: Some(Part::Portability),
        needs: &[],
        uses: Uses::Nothing,
        run: site,
    },
    Step {
        name: "release",
        what: "the files of a release: wheel, archives, bill of materials",
        part: Some(Part::Portability),
        needs: &[],
        uses: Uses::Machine,
        run: bare::release,
    },
    Step {
        name: "release-arm",
        what: "the files of a release for aarch64, and their demo in an emulator",
        part: Some(Part::Portability),
        needs: &[],
        uses: Uses::Machine,
        run: bare::release_aarch64,
    },
    Step {
        name: "bare",
        what: "these files on systems made from a distribution's packages: install, programs, a finding",
        part: Some(Part::Portability),
        needs: &["release"],
        uses: Uses::Nothing,
        run: bare::run,
    },
    Step {
        name: "advisories",
        what: "cargo deny with the advisory database",
        part: Some(Part::Portability),
        needs: &[],
        uses: Uses::Machine,
        run: deny::advisories,
    },
];

fn generated(job: &Job) -> Result<Outcome> {
    job.simple(&mut xtask(&["gen", "--check"]))
}

fn fmt(job: &Job) -> Result<Outcome> {
    job.simple(&mut cargo(&["fmt", "--all", "--check"]))
}

fn tidy(job: &Job) -> Result<Outcome> {
    job.simple(&mut xtask(&["tidy"]))
}

fn clippy(job: &Job) -> Result<Outcome> {
    job.simple(&mut cargo(&[
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

fn docs(job: &Job) -> Result<Outcome> {
    // Only tests use the table's drivers. Pages of internal crates name private modules, as text.
    let mut command = cargo(&[
        "doc",
        "--locked",
        "--workspace",
        "--no-deps",
        "--lib",
        "--keep-going",
    ]);
    command.args(["--exclude", "jumar-testkit", "--exclude", "jumar-behaviour"]);
    command.env(
        "RUSTDOCFLAGS",
        "-D warnings -A rustdoc::private_intra_doc_links",
    );
    as_clippy_checks(&mut command);
    job.simple(&mut command)
}

/// Sets what `cargo clippy` sets in the step before, so that the libraries that it checked are not checked once more. A change of what it
/// sets would make this step longer, and nothing else.
fn as_clippy_checks(command: &mut Command) {
    let driver = Path::new(command.get_program()).with_file_name("clippy-driver");
    if driver.exists() {
        command.env("RUSTC_WORKSPACE_WRAPPER", driver);
        command.env(
            "CLIPPY_ARGS",
            "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
        );
    }
}

/// Repeats the tests of decoded video with the libavcodec that the loader finds.
fn ffmpeg(job: &Job) -> Result<Outcome> {
    // The versions in crates/jumar-dvpp/src/video/ffmpeg/library.rs.
    let names = (58..=61)
        .rev()
        .map(|version| format!("libavcodec.so.{version}"));
    let load = |name: &String| {
        let load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])";
        long::answers(Command::new("python3").args(["-c", load, name]))
    };
    let Some(library) = names.into_iter().find(load) else {
        return Ok(Outcome::Skipped(
            "there is no libavcodec 58 to 61: apt-get install libavcodec59".into(),
        ));
    };
    let mut command = cargo(&["test", "--locked", "-p", "jumar-dvpp", "--test", "video"]);
    command.env("JUMAR_FFMPEG", library);
    job.cargo_test(&mut command)
}

fn test(job: &Job) -> Result<Outcome> {
    // The table's drivers have steps of their own. They are left out by name: leaving out their packages would compile those below
    // them once more, with other features.
    job.cargo_test(&mut cargo(&[
        "test",
        "--locked",
        "--workspace",
        "--lib",
        "--bins",
        "--tests",
        "--no-fail-fast",
        "--",
        "--skip",
        "install_tree::",
    ]))
}

fn doctest(job: &Job) -> Result<Outcome> {
    job.cargo_test(&mut cargo(&[
        "test",
        "--locked",
        "--workspace",
        "--doc",
        "--no-fail-fast",
    ]))
}

fn dist(job: &Job) -> Result<Outcome> {
    let mut command = xtask(&["dist"]);
    command.args(tests_option(job.build));
    job.simple(&mut command)
}

/// Returns the option of `dist` and `wheel` for this build.
fn tests_option(build: dist::Build) -> Option<&'static str> {
    (build == dist::Build::Tests).then_some("--tests")
}

fn headers(job: &Job) -> Result<Outcome> {
    job.simple(xtask(&["headers"]).arg(job.tree()))
}

fn c(job: &Job) -> Result<Outcome> {
    job.pytest("tests/c")
}

fn behaviour(job: &Job) -> Result<Outcome> {
    // The cases run through Python too.
    python_env::ensure(&job.log)?;
    // Chosen by name, not by package: a choice of packages would compile those below them again, with other features.
    let mut command = cargo(&[
        "test",
        "--locked",
        "--workspace",
        "--test",
        "behaviour",
        "--test",
        "rust",
        "--no-fail-fast",
        "--",
        "--nocapture",
    ]);
    let outcome = job.simple(&mut command)?;
    let log = fs::read_to_string(&job.log).unwrap_or_default();
    let is_summary = |line: &&str| line.contains(" passed, ") && !line.starts_with("test result");
    let summaries: Vec<&str> = log.lines().filter(is_summary).collect();
    let note = summaries.join("; ");
    Ok(match outcome {
        Outcome::Passed(_) if summaries.is_empty() => Outcome::Failed("no case ran".into()),
        Outcome::Passed(_) => Outcome::Passed(note),
        Outcome::Failed(problem) => Outcome::Failed(format!("{problem}; {note}")),
        Outcome::Skipped(reason) => Outcome::Skipped(reason),
    })
}

fn conventions(job: &Job) -> Result<Outcome> {
    job.pytest("tests/conventions")
}

fn ascendc(job: &Job) -> Result<Outcome> {
    job.pytest("tests/ascendc")
}

fn programs(job: &Job) -> Result<Outcome> {
    job.pytest("tests/programs")
}

fn corpus(job: &Job) -> Result<Outcome> {
    let mut command = cargo(&[
        "test",
        "--locked",
        "--workspace",
        "--test",
        "checked",
        "--no-fail-fast",
        "--",
        "--nocapture",
    ]);
    let outcome = job.simple(&mut command)?;
    let log = fs::read_to_string(&job.log).unwrap_or_default();
    let says = |line: &&str| line.starts_with("checked: ") || line.starts_with("late: ");
    let notes: Vec<&str> = log.lines().filter(says).collect();
    Ok(match outcome {
        Outcome::Passed(_) if notes.len() < 2 => Outcome::Failed("no case ran".into()),
        Outcome::Passed(_) => Outcome::Passed(notes.join("; ")),
        other => other,
    })
}

/// Browsers by their usual names.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

fn page(job: &Job) -> Result<Outcome> {
    let named = std::env::var_os("JUMAR_BROWSER").is_some();
    let is_there = |name: &&str| long::answers(Command::new(name).arg("--version"));
    if !named && !BROWSERS.iter().any(is_there) {
        return Ok(Outcome::Skipped(
            "there is no browser: apt-get install chromium".into(),
        ));
    }
    job.pytest("tests/page")
}

fn diag(job: &Job) -> Result<Outcome> {
    job.pytest("tests/diag")
}

fn python(job: &Job) -> Result<Outcome> {
    job.pytest("tests/python")
}

fn site(job: &Job) -> Result<Outcome> {
    job.simple(&mut xtask(&["site"]))
}

fn wheel(job: &Job) -> Result<Outcome> {
    let mut make = xtask(&["wheel"]);
    make.args(tests_option(job.build));
    match job.simple(&mut make)? {
        Outcome::Passed(_) => job.pytest("tests/wheel"),
        other => Ok(other),
    }
}

fn ge(job: &Job) -> Result<Outcome> {
    job.pytest("tests/ge")
}

fn atb(job: &Job) -> Result<Outcome> {
    job.pytest("tests/atb")
}

fn models(job: &Job) -> Result<Outcome> {
    job.pytest("tests/models")
}

/// What the program ends with where the installed onnx package is not the one that the list was made for.
const NODES_SKIPPED: &str = "skipped: ";

fn large(job: &Job) -> Result<Outcome> {
    job.pytest("tests/large")
}

fn nodes(job: &Job) -> Result<Outcome> {
    job.jumar()?;
    node_cases(job, "run.py", "node cases: ")
}

fn types(job: &Job) -> Result<Outcome> {
    node_cases(job, "every_type.py", "types: ")
}

/// Runs a program of tests/nodes, which ends with a line of counts.
fn node_cases(job: &Job, program: &str, counts: &str) -> Result<Outcome> {
    let mut command = Command::new(python_env::ensure(&job.log)?);
    command.arg(crate::root().join("tests/nodes").join(program));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let outcome = job.simple(&mut command)?;
    let log = fs::read_to_string(&job.log).unwrap_or_default();
    let summary = |start: &str| log.lines().rev().find_map(|line| line.strip_prefix(start));
    if let Some(reason) = summary(NODES_SKIPPED) {
        return Ok(Outcome::Skipped(reason.to_owned()));
    }
    Ok(match (outcome, summary(counts)) {
        (Outcome::Passed(_), None) => Outcome::Failed("no case ran".into()),
        (Outcome::Passed(_), Some(found)) => Outcome::Passed(found.to_owned()),
        (Outcome::Failed(problem), found) => {
            Outcome::Failed(format!("{problem}; {}", found.unwrap_or("no case ran")))
        }
        (Outcome::Skipped(reason), _) => Outcome::Skipped(reason),
    })
}

fn demo(job: &Job) -> Result<Outcome> {
    let outcome = job.simple(xtask(&["demo", "--tree"]).arg(job.tree()))?;
    Ok(job.with_accuracies(outcome))
}

fn demo_build(job: &Job) -> Result<Outcome> {
    let outcome = job.simple(&mut xtask(&["demo"]))?;
    Ok(job.with_accuracies(outcome))
}

fn example(job: &Job) -> Result<Outcome> {
    // As the readme has it. Without a choice of packages it is made of what the tests were made of.
    let mut command = cargo(&["run", "--locked", "--example", "digits"]);
    let outcome = job.simple(&mut command)?;
    Ok(job.with_accuracies(outcome))
}

/// Makes a command that runs cargo.
pub(super) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(crate::root());
    command
}

/// Makes a command that runs this program.
pub(super) fn xtask(arguments: &[&str]) -> Command {
    let mut command =
        Command::new(std::env::current_exe().unwrap_or_else(|_| Path::new("cargo-xtask").into()));
    command.args(arguments).current_dir(crate::root());
    command
}
