//! `cargo xtask bench`: runs a benchmark, shows its table and writes it into docs/performance.md, misses included.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::{dist, progress, python_env};

const PAGE: &str = "docs/performance.md";
/// What the models bench draws, from the page's folder.
const PICTURE: &str = "pictures/profile.svg";

/// What `cargo xtask bench` takes.
#[derive(clap::Args)]
pub struct Options {
    /// What to measure.
    #[arg(default_value = "runtime", value_enum)]
    what: Suite,
    /// Measures the install tree as it is instead of building it first.
    #[arg(long)]
    no_build: bool,
    /// Shows the table without writing it into docs/performance.md.
    #[arg(long)]
    no_page: bool,
    /// Measures four of the models, at batch 1, and shows the table only.
    #[arg(long)]
    quick: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Suite {
    /// Enqueue, round trip, hop between streams, copies, overlap; limits measured in the same process.
    Runtime,
    /// Models against ONNX Runtime and OpenVINO, in turn in the same process; memory, kernels, a picture of profiles.
    Models,
    /// What a call from Python costs beyond the call from C.
    Python,
}

impl Suite {
    fn name(self) -> &'static str {
        match self {
            Suite::Runtime => "runtime",
            Suite::Models => "models",
            Suite::Python => "python",
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
        dist::run(None)?;
    }
    ensure!(
        tree.join("lib64/libascendcl.so").exists(),
        "there is no install tree in {}: cargo xtask dist",
        tree.display()
    );
    let lines = match options.what {
        Suite::Runtime => runtime(&tree)?,
        Suite::Models => models(&tree, options.quick)?,
        Suite::Python => {
            let python = python_env::ensure(&log("venv"))?;
            with_python(&tree, &python, "python", &[])?
        }
    };
    print!("{}", plain(&lines));
    if !options.no_page && !options.quick {
        write_page(options.what, &lines)?;
        println!("\nwritten into {PAGE}");
    }
    Ok(())
}

fn runtime(tree: &Path) -> Result<Vec<Line>> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["build", "--locked", "--release", "-p", "jumar-bench"])
        .current_dir(crate::root());
    progress::run_or_fail("building the benchmark", &mut build, &log("build"))?;
    let program = target().join("release/jumar-bench");
    let mut lines = Vec::new();
    for place in ["anywhere", "apart", "one-core"] {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores == 1 && place != "anywhere" {
            continue;
        }
        lines.extend(measure(
            Command::new(tree.join("bin/jumar"))
                .args(["run", "--"])
                .arg(&program)
                .arg(tree.join("lib64/libascendcl.so"))
                .arg(place),
            "runtime",
        )?);
    }
    Ok(lines)
}

fn models(tree: &Path, quick: bool) -> Result<Vec<Line>> {
    let python = python_env::ensure_bench(&log("venv-bench"))?;
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["build", "--locked", "--release", "-p", "jumar-graph"])
        .args(["--example", "run_model"])
        .current_dir(crate::root());
    progress::run_or_fail(
        "building what shows a model's steps",
        &mut build,
        &log("build"),
    )?;
    with_python(
        tree,
        &python,
        "models",
        if quick { &["--quick"] } else { &[] },
    )
}

/// Runs a benchmark that is written in Python, against the tree's modules.
fn with_python(tree: &Path, python: &Path, name: &str, extra: &[&str]) -> Result<Vec<Line>> {
    let runner = target().join("release/examples/run_model");
    measure(
        Command::new(tree.join("bin/jumar"))
            .args(["run", "--"])
            .arg(python)
            .arg(crate::root().join(format!("benches/{name}.py")))
            .args(extra)
            .env("JUMAR_RUN_MODEL", runner),
        name,
    )
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from)
}

fn log(name: &str) -> PathBuf {
    crate::root().join(format!("target/bench/{name}.log"))
}

/// Runs a benchmark program and reads its lines: the part of its output from the first line that is `[`.
fn measure(command: &mut Command, name: &str) -> Result<Vec<Line>> {
    progress::run_or_fail(&format!("measuring {name}"), command, &log(name))?;
    let text = fs::read_to_string(log(name))?;
    let start = text
        .find("[\n")
        .context("the benchmark printed no figures")?;
    serde_json::from_str(&text[start..]).context("the figures of the benchmark")
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

/// Gives the columns behind the first: figure, limit, ratio, target, verdict.
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
        Some(Target::Ratio(most)) => (format!("<= {most}x"), ratio.map(|ratio| ratio <= most)),
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

fn markdown(lines: &[Line]) -> String {
    let mut text = format!("| {} |\n|---|---|---|---|---|---|\n", HEADINGS.join(" | "));
    for line in lines {
        text += &format!("| {} | {} |\n", line.what, columns(line).join(" | "));
    }
    text
}

/// Replaces the suite's part of the page, between its two marks.
fn write_page(suite: Suite, lines: &[Line]) -> Result<()> {
    let path = crate::root().join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| PAGE)?;
    let mut part = format!(
        "Measured on {} on {}.\n\n{}",
        machine(),
        today()?,
        markdown(lines)
    );
    if matches!(suite, Suite::Models) && crate::root().join("docs").join(PICTURE).exists() {
        part += &format!("\n![Which part of a model's time each operator takes]({PICTURE})\n");
    }
    fs::write(&path, replaced(&page, suite.name(), &part)?)?;
    Ok(())
}

fn replaced(page: &str, name: &str, part: &str) -> Result<String> {
    let (open, close) = (
        format!("<!-- {name}: begin -->\n"),
        format!("<!-- {name}: end -->\n"),
    );
    let (Some(start), Some(end)) = (page.find(&open), page.find(&close)) else {
        bail!(
            "{PAGE} has no place for {name}: the lines {} and {}",
            open.trim(),
            close.trim()
        );
    };
    Ok(format!("{}{open}{part}{}", &page[..start], &page[end..]))
}

/// Describes the machine: processor, cores, kernel.
fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| {
            line.strip_prefix("model name")?
                .split_once(':')
                .map(|(_, name)| name.trim())
        })
        .unwrap_or(std::env::consts::ARCH);
    let virtual_machine = if cpu.contains(" hypervisor") {
        ", virtual machine"
    } else {
        ""
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{model}, {cores} cores{virtual_machine}, Linux {}",
        kernel.trim()
    )
}

fn today() -> Result<String> {
    let output = Command::new("date")
        .args(["-u", "+%Y-%m-%d"])
        .stdin(Stdio::null())
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
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

    #[test]
    fn only_the_part_between_the_marks_changes() {
        let page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let new = replaced(page, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n");
        assert_eq!(replaced(&new, "x", "new\n").unwrap(), new);
        assert!(replaced(page, "y", "").is_err());
    }
}
