//! What the checks cost: a small program, run without them, with some and with all, and against a library that has no gate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use super::{Figures, Line, Target, log, target};
use crate::progress;

/// How often each way is measured, in turn with the others.
const ROUNDS: usize = 15;

/// The rules that look at calls and at the lives of objects, and at no accesses to memory.
const CALLS: &str = "JMR-INIT,JMR-CTX,JMR-DEV,JMR-STREAM,JMR-EVENT,JMR-COPY,JMR-DATASET,JMR-ORDER,JMR-LEAK,JMR-CAP,JMR-CB";

/// What the program does, the words that make it do so, and what rules and races may cost.
struct Load {
    what: &'static str,
    words: Vec<String>,
    unit: &'static str,
    /// From nanoseconds to the unit.
    scale: f64,
    rules: Option<f64>,
    races: f64,
}

/// Measures in processor time: each way in a process of its own, in turn.
pub(super) fn run(tree: &Path) -> Result<Figures> {
    let folder = target().join("bench-check");
    fs::create_dir_all(&folder)?;
    let bare = library_without_gate(&folder)?;
    let program = compile(tree, &folder)?;
    let model = convert(tree, &folder)?;
    let loads = [
        Load {
            what: "30,000 fills of 64 B and one wait, a task",
            words: vec!["tasks".into()],
            unit: "ns",
            scale: 1.0,
            rules: None,
            races: 10.0,
        },
        Load {
            what: "a digit read by a model: copy in, execute, copy out, wait",
            words: vec!["model".into(), model.display().to_string()],
            unit: "us",
            scale: 1e-3,
            rules: Some(1.3),
            races: 2.0,
        },
    ];
    let mut figures = Figures::default();
    for load in loads {
        let measure = |libraries: &Path, rules: Option<&str>| -> Result<f64> {
            let mut run = Command::new(&program);
            run.args(&load.words)
                .env("LD_LIBRARY_PATH", libraries)
                .env_remove("JUMAR_CHECK");
            if let Some(rules) = rules {
                run.env("JUMAR_CHECK", rules);
            }
            let output = run.stderr(Stdio::null()).output()?;
            ensure!(output.status.success(), "{} failed", program.display());
            Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
        };
        let lib64 = tree.join("lib64");
        let mut ways: [Vec<f64>; 4] = Default::default();
        for _ in 0..ROUNDS {
            ways[0].push(measure(&bare, None)?);
            ways[1].push(measure(&lib64, None)?);
            ways[2].push(measure(&lib64, Some(CALLS))?);
            ways[3].push(measure(&lib64, Some("1"))?);
        }
        let [bare, off, rules, races] = ways.map(|way| median(way) * load.scale);
        // Two percent or one nanosecond more.
        let most = ((bare + load.scale).max(bare * 1.02) / bare * 1000.0).round() / 1000.0;
        let mut line = |how: &str, value: f64, limit: (&str, f64), most: Option<f64>| {
            figures.lines.push(Line {
                what: format!("{}: {how}", load.what),
                value,
                unit: load.unit.to_owned(),
                limit: Some((limit.0.to_owned(), limit.1)),
                target: most.map(Target::Ratio),
                also: Vec::new(),
            });
        };
        line(
            "checks off",
            off,
            ("a library without the gate", bare),
            Some(most),
        );
        line("rules of calls and lives", rules, ("off", off), load.rules);
        line(
            "all rules, races too",
            races,
            ("off", off),
            Some(load.races),
        );
    }
    Ok(figures)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn compile(tree: &Path, folder: &Path) -> Result<PathBuf> {
    let program = folder.join("check");
    let mut compile = Command::new("cc");
    compile
        .args(["-std=c11", "-O2", "-g", "-I"])
        .arg(tree.join("include"))
        .arg(crate::root().join("benches/check.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(tree.join("lib64"))
        .arg("-lascendcl");
    progress::run_or_fail("compiling the program", &mut compile, &log("check"))?;
    Ok(program)
}

fn convert(tree: &Path, folder: &Path) -> Result<PathBuf> {
    let (onnx, model) = (
        crate::root().join("examples/digits/digits.onnx"),
        folder.join("digits"),
    );
    let mut convert = Command::new(tree.join("bin/atc"));
    convert
        .arg(format!("--model={}", onnx.display()))
        .args(["--framework=5", "--soc_version=Ascend310P3"])
        .arg(format!("--output={}", model.display()));
    progress::run_or_fail("converting the model", &mut convert, &log("check"))?;
    Ok(model.with_extension("om"))
}

/// Builds the library without the gate, which nothing ships, and returns its folder.
fn library_without_gate(folder: &Path) -> Result<PathBuf> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["build", "--locked", "--release"])
        .args(["-p", "jumar-capi", "-p", "jumar-py", "-p", "jumar-cli"])
        .args(["--features", "jumar-capi/bench-without-gate"])
        .current_dir(crate::root());
    progress::run_or_fail(
        "building a library without the gate",
        &mut build,
        &log("build"),
    )?;
    fs::copy(
        target().join("release/libascendcl.so"),
        folder.join("libascendcl.so"),
    )?;
    Ok(folder.to_owned())
}
