//! `cargo xtask bench`: runs a benchmark, shows its table and writes it into docs/benchmarks, missed targets included.

mod check;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use xtask_base::{progress, python_env, root};
use xtask_tree::dist;

/// What `cargo xtask bench` takes.
#[derive(clap::Args)]
pub struct Options {
    /// What to measure.
    #[arg(default_value = "runtime", value_enum)]
    what: Suite,
    /// Measures the install tree as it is instead of building it first.
    #[arg(long)]
    no_build: bool,
    /// Shows the table without writing it into docs/benchmarks.
    #[arg(long)]
    no_page: bool,
    /// Measures four of the models at batch 1, all further networks at batch 1, or the operators in float32, and shows the table only.
    #[arg(long)]
    quick: bool,
    /// models, networks: measures these networks only (`ResNet-50,bert`), or `extras`; other rows keep their earlier figures.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// models, networks: measures these sizes of a batch only.
    #[arg(long, value_delimiter = ',')]
    batch: Vec<u32>,
    /// models, networks: measures with these numbers of threads only.
    #[arg(long, value_delimiter = ',')]
    threads: Vec<u32>,
    /// models, networks: continues an interrupted run, and measures only what is missing.
    #[arg(long)]
    resume: bool,
}

impl Options {
    /// Returns the arguments of the models bench.
    fn for_models(&self) -> Vec<String> {
        let mut extra = Vec::new();
        let mut list = |name: &str, values: Vec<String>| {
            if !values.is_empty() {
                extra.push(name.to_owned());
                extra.extend(values);
            }
        };
        let text = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect();
        list("--only", self.only.clone());
        list("--batch", text(&self.batch));
        list("--threads", text(&self.threads));
        for (given, name) in [(self.quick, "--quick"), (self.resume, "--resume")] {
            if given {
                extra.push(name.into());
            }
        }
        extra
    }
}

/// A benchmark program that takes longer is stopped; what it measured until then is shown.
const MODELS_LIMIT: Duration = Duration::from_secs(3600);
/// One placement of the runtime's figures: all three have four minutes.
const PLACEMENT_LIMIT: Duration = Duration::from_secs(75);
/// Another runtime that does the same.
const PEER_LIMIT: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, clap::ValueEnum)]
enum Suite {
    /// Enqueue, round trip, hop between streams, copies, overlap; limits measured in the same process.
    Runtime,
    /// Models against ONNX Runtime and OpenVINO, in turn in the same process; memory, kernels, an image of profiles.
    Models,
    /// Networks of other kinds against both engines; the package and dynamic shapes against `aclmdlExecute` with fixed shapes.
    Networks,
    /// Models in bfloat16, where a precision mode allows it, and int8 kernels, beside both engines.
    LowPrecision,
    /// What a call from Python costs beyond the call from C.
    Python,
    /// The Graph Engine beside a compiled model: ResNet-50 built by operators and parsed from ONNX.
    Graph,
    /// Single operators beside PyTorch on the CPU, and beside the streaming bandwidth.
    Operators,
    /// Images (DVPP) beside libjpeg-turbo, OpenCV and plain copies.
    Images,
    /// PyTorch through the prebuilt adapter beside its CPU backend: training, generation, operators, memory.
    Pytorch,
    /// What the checks cost: off against a library without the gate, and on against off.
    Check,
    /// Kernels in Ascend C beside a plain loop, with and without their checks, and what compiling them takes.
    Ascendc,
    /// Collectives of four ranks beside Open MPI in shared memory, Gloo's own ring and plain copies.
    Collectives,
}

impl Suite {
    #[cfg(test)]
    const ALL: &[Suite] = &[
        Suite::Runtime,
        Suite::Models,
        Suite::Networks,
        Suite::LowPrecision,
        Suite::Python,
        Suite::Graph,
        Suite::Operators,
        Suite::Images,
        Suite::Pytorch,
        Suite::Check,
        Suite::Ascendc,
        Suite::Collectives,
    ];

    fn name(self) -> &'static str {
        match self {
            Suite::Runtime => "runtime",
            Suite::Models => "models",
            Suite::Networks => "networks",
            Suite::LowPrecision => "low-precision",
            Suite::Python => "python",
            Suite::Graph => "graph",
            Suite::Operators => "operators",
            Suite::Images => "images",
            Suite::Pytorch => "pytorch",
            Suite::Check => "check",
            Suite::Ascendc => "ascendc",
            Suite::Collectives => "collectives",
        }
    }
}

/// A measurement, as the benchmark programs print it.
#[derive(Deserialize)]
struct Line {
    what: String,
    value: f64,
    unit: String,
    limit: Option<(String, f64)>,
    target: Option<Target>,
    /// Others that did the same, in the same unit.
    #[serde(default)]
    also: Vec<(String, f64)>,
}

#[derive(Deserialize)]
enum Target {
    Ratio(f64),
    Value(f64),
}

/// Measures, shows, and writes down.
pub fn run(options: &Options) -> Result<()> {
    let tree = crate::root().join("target/jumar");
    if !options.no_build {
        dist::run(None, dist::Build::Release)?;
    }
    ensure!(
        tree.join("lib64/libascendcl.so").exists(),
        "there is no install tree in {}: cargo xtask dist",
        tree.display()
    );
    let Figures { lines, problems } = match options.what {
        Suite::Runtime => runtime(&tree)?,
        Suite::Models => models(&tree, "models", &options.for_models())?,
        Suite::Networks => {
            let mut extra = options.for_models();
            extra.push("--further".into());
            models(&tree, "networks", &extra)?
        }
        Suite::LowPrecision => {
            let python = python_env::ensure_bench(&log("venv-bench"))?;
            let quick = options.quick.then(|| "--quick".to_owned());
            with_python(&tree, &python, "low_precision", quick.as_slice())?
        }
        Suite::Python | Suite::Graph => {
            let python = python_env::ensure(&log("venv"))?;
            with_python(&tree, &python, options.what.name(), &[])?
        }
        Suite::Operators | Suite::Pytorch => {
            let python = python_env::ensure_torch(&log("venv-torch"))?;
            let mut set_up = Command::new(tree.join("bin/jumar"));
            set_up.args(["torch", "--setup", "--python"]).arg(&python);
            progress::run_or_fail("jumar torch --setup", &mut set_up, &log("venv-torch"))?;
            let quick = options.quick.then(|| "--quick".to_owned());
            let mut figures = with_python(&tree, &python, options.what.name(), quick.as_slice())?;
            if matches!(options.what, Suite::Operators) {
                // ONNX Runtime is where PyTorch is not.
                let python = python_env::ensure(&log("venv"))?;
                figures.add(with_python(&tree, &python, "products", &[])?);
            }
            figures
        }
        Suite::Images => images(&tree)?,
        Suite::Ascendc => with_python(&tree, Path::new("python3"), "ascendc", &[])?,
        Suite::Collectives => {
            let quick = options.quick.then(|| "--quick".to_owned());
            with_python(&tree, Path::new("python3"), "collectives", quick.as_slice())?
        }
        Suite::Check => check::run(&tree)?,
    };
    print!("{}", plain(&lines));
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        println!("\nthe pages stay as they are: the table is incomplete");
    } else if !options.no_page && !options.quick {
        let page = pages::write(options.what, &level(&tree)?, &lines)?;
        println!("\nwritten into {}", page.display());
    }
    Ok(())
}

/// Asks the install tree which level of vector instructions operators use in this environment.
fn level(tree: &Path) -> Result<String> {
    let output = Command::new(tree.join("bin/jumar"))
        .arg("info")
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let level = text
        .lines()
        .find_map(|line| line.strip_prefix("instructions: "))
        .and_then(|line| line.split([',', ' ']).next());
    Ok(level
        .context("`jumar info` names no instructions")?
        .to_owned())
}

/// What was measured, and why it is not all.
#[derive(Default)]
struct Figures {
    lines: Vec<Line>,
    problems: Vec<String>,
}

impl Figures {
    fn add(&mut self, other: Figures) {
        self.lines.extend(other.lines);
        self.problems.extend(other.problems);
    }
}

/// What another runtime takes for the same.
#[derive(Deserialize)]
struct Peer {
    peer: String,
    row: String,
    unit: String,
    value: f64,
}

/// Measures other runtimes where they are installed: their programs are compiled here, and one that does not compile is left out.
fn peers() -> Result<Vec<Peer>> {
    let folder = target().join("bench");
    fs::create_dir_all(&folder)?;
    let mut found = Vec::new();
    for (name, compiler, source, library) in [
        ("OpenCL", "cc", "opencl.c", "-lOpenCL"),
        ("oneTBB", "c++", "tbb.cpp", "-ltbb"),
    ] {
        let program = folder.join(format!("peer-{name}"));
        let built = Command::new(compiler)
            .arg("-O2")
            .arg(crate::root().join("benches/jumar-bench/peers").join(source))
            .arg("-o")
            .arg(&program)
            .arg(library)
            .stderr(Stdio::null())
            .status();
        if !built.is_ok_and(|status| status.success()) {
            println!("{name} is not installed: it is not compared with");
            continue;
        }
        let output = log(&format!("peer-{name}"));
        let _ = fs::remove_file(&output);
        let label = format!("measuring {name}");
        let mut command = Command::new(&program);
        let ended = progress::run_logged(&label, &mut command, &output, PEER_LIMIT)?;
        if let Some(problem) = ended.problem() {
            println!("{name} is not compared with: {problem}");
        }
        let text = fs::read_to_string(&output)?;
        found.extend(
            text.lines()
                .filter_map(|line| serde_json::from_str::<Peer>(line).ok()),
        );
    }
    Ok(found)
}

fn runtime(tree: &Path) -> Result<Figures> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["build", "--locked", "--release", "-p", "jumar-bench"])
        .current_dir(crate::root());
    progress::run_or_fail("building the benchmark", &mut build, &log("build"))?;
    let program = target().join("release/jumar-bench");
    let peers = peers()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut figures = Figures::default();
    for placement in ["anywhere", "separate", "one-core"] {
        if cores == 1 && placement != "anywhere" {
            continue;
        }
        let mut command = Command::new(tree.join("bin/jumar"));
        command
            .args(["run", "--"])
            .arg(&program)
            .arg(tree.join("lib64/libascendcl.so"))
            .arg(placement);
        if placement == "separate" {
            // The measuring thread has a core to itself.
            command.env("JUMAR_WORKERS", (cores - 1).to_string());
        }
        let name = format!("runtime {placement}");
        figures.add(measure(&mut command, &name, PLACEMENT_LIMIT)?);
    }
    for peer in peers {
        let row = figures
            .lines
            .iter_mut()
            .find(|line| line.what == peer.row && line.unit == peer.unit);
        if let Some(row) = row {
            row.also.push((peer.peer, peer.value));
        }
    }
    Ok(figures)
}

/// Measures images beside a program that calls libjpeg-turbo directly.
fn images(tree: &Path) -> Result<Figures> {
    let python = python_env::ensure_bench(&log("venv-bench"))?;
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["build", "--locked", "--release", "-p", "jumar-dvpp"])
        .args(["--features", "jpeg", "--example", "libjpeg_turbo"])
        .current_dir(crate::root());
    progress::run_or_fail(
        "building the program to compare with",
        &mut build,
        &log("build"),
    )?;
    let program = target().join("release/examples/libjpeg_turbo");
    with_python(tree, &python, "images", &[program.display().to_string()])
}

/// Measures models. `name`: the suite, whose parts have a folder of their own.
fn models(tree: &Path, name: &str, extra: &[String]) -> Result<Figures> {
    let python = python_env::ensure_bench(&log("venv-bench"))?;
    let mut command = python_program(tree, &python, "models", extra);
    // Parts of one table are of one level.
    let parts = target().join("bench").join(name).join(level(tree)?);
    command.env("JUMAR_BENCH_PARTS", parts);
    measure(&mut command, name, MODELS_LIMIT)
}

/// Runs a benchmark that is written in Python, against the tree's modules.
fn with_python(tree: &Path, python: &Path, name: &str, extra: &[String]) -> Result<Figures> {
    let mut command = python_program(tree, python, name, extra);
    measure(&mut command, name, MODELS_LIMIT)
}

/// Returns the command that runs a benchmark written in Python.
fn python_program(tree: &Path, python: &Path, name: &str, extra: &[String]) -> Command {
    let mut command = Command::new(tree.join("bin/jumar"));
    command
        .args(["run", "--"])
        .arg(python)
        .arg(crate::root().join(format!("benches/{name}.py")))
        .args(extra);
    command
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from)
}

fn log(name: &str) -> PathBuf {
    crate::root().join(format!("target/bench/{name}.log"))
}

/// Runs a benchmark program and reads its lines: those of its output that hold a figure as JSON. A program that was stopped or
/// failed leaves those that it had.
fn measure(command: &mut Command, name: &str, limit: Duration) -> Result<Figures> {
    let output = log(&name.replace(' ', "-"));
    let _ = fs::remove_file(&output);
    let label = format!("measuring {name}");
    let ended = progress::run_logged(&label, command, &output, limit)?;
    let text = fs::read_to_string(&output)?;
    let mut figures = figures_of(&text)?;
    if let Some(problem) = ended.problem() {
        let end = progress::tail(&output, 20);
        figures.problems.push(format!(
            "{label}: {problem}\n{end}\n(all of it: {})",
            output.display()
        ));
    }
    ensure!(
        !figures.lines.is_empty() || !figures.problems.is_empty(),
        "the benchmark printed no figures: {}",
        output.display()
    );
    Ok(figures)
}

/// Reads what a benchmark printed: a line of JSON for each figure, and what it says is missing.
fn figures_of(text: &str) -> Result<Figures> {
    let mut figures = Figures::default();
    for line in text.lines() {
        if line.starts_with("{\"what\"") {
            let line = serde_json::from_str(line).context("a figure of the benchmark")?;
            figures.lines.push(line);
        } else if let Some(missing) = line.strip_prefix("missing: ") {
            figures.problems.push(format!("not measured: {missing}"));
        }
    }
    Ok(figures)
}

/// Writes a figure with three digits that count.
fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Returns the columns behind the first: figure, limit, ratio, target, verdict.
fn columns(line: &Line) -> [String; 5] {
    let with_unit = |value: f64| {
        format!("{} {}", figure(value), line.unit)
            .trim_end()
            .to_owned()
    };
    let others: Vec<String> = line
        .limit
        .iter()
        .chain(&line.also)
        .map(|(name, value)| format!("{} ({name})", with_unit(*value)))
        .collect();
    let limit = others.join("; ");
    let ratio = line.limit.as_ref().map(|(_, limit)| line.value / limit);
    let (target, met) = match line.target {
        None => (String::new(), None),
        Some(Target::Value(most)) => (format!("<= {}", with_unit(most)), Some(line.value <= most)),
        Some(Target::Ratio(most)) => {
            // 0.6666666666666666 comes of "1.5 times as many": three digits say it.
            let rounded = (most * 1000.0).round() / 1000.0;
            (format!("<= {rounded}x"), ratio.map(|ratio| ratio <= most))
        }
    };
    let verdict = match met {
        None => "",
        Some(true) => "reached",
        Some(false) => "MISSED",
    };
    let ratio = ratio.map_or(String::new(), |ratio| format!("{}x", figure(ratio)));
    [with_unit(line.value), limit, ratio, target, verdict.into()]
}

const HEADINGS: [&str; 6] = ["what", "Jumar", "limit", "ratio", "target", ""];

fn plain(lines: &[Line]) -> String {
    let mut rows = vec![HEADINGS.map(String::from)];
    for line in lines {
        let [a, b, c, d, e] = columns(line);
        rows.push([line.what.clone(), a, b, c, d, e]);
    }
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: f64, target: Option<Target>) -> Line {
        Line {
            what: "x".into(),
            value,
            unit: "ns".into(),
            limit: Some(("push".into(), 10.0)),
            target,
            also: Vec::new(),
        }
    }

    #[test]
    fn the_others_stand_beside_the_limit() {
        let beside = Line {
            also: vec![("pull".into(), 2.0)],
            ..line(5.0, None)
        };
        assert_eq!(columns(&beside)[1], "10.0 ns (push); 2.00 ns (pull)");
    }

    #[test]
    fn figures_are_read_from_among_other_output() {
        let text = "0.1 s: begun\n{\"what\": \"a\", \"value\": 1.5, \"unit\": \"ns\"}\nmissing: b, batch 8\n";
        let figures = figures_of(text).unwrap();
        assert_eq!(figures.lines.len(), 1);
        assert_eq!(columns(&figures.lines[0])[0], "1.50 ns");
        assert_eq!(figures.problems, ["not measured: b, batch 8"]);
        assert!(figures_of("{\"what\": 3}").is_err());
    }

    #[test]
    fn a_miss_is_shown_as_one() {
        assert_eq!(
            columns(&line(99.0, Some(Target::Ratio(10.0))))[4],
            "reached"
        );
        assert_eq!(
            columns(&line(101.0, Some(Target::Ratio(10.0))))[4],
            "MISSED"
        );
        assert_eq!(
            columns(&line(2.0, Some(Target::Value(1.0))))[3..],
            ["<= 1.00 ns".to_string(), "MISSED".into()]
        );
        assert_eq!(columns(&line(2.0, None))[4], "");
    }
}
