//! `cargo xtask demo`: the first thing a new user runs. It builds, installs into target/demo/jumar, and has three unmodified
//! programs read handwritten digits on a software device.
//!
//! The build is the one without optimization: a newcomer waits for the compiler, not for the programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::{dist, progress};

/// The oldest Python that the module supports.
const OLDEST_PYTHON: (u32, u32) = (3, 9);

/// One of the example programs.
struct Program {
    file: &'static str,
    what: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program {
        file: "sync.c",
        what: "C, one image after another",
    },
    Program {
        file: "streams.c",
        what: "C, a copy stream and a compute stream that meet in events",
    },
    Program {
        file: "digits.py",
        what: "Python, import acl",
    },
];

/// Builds unless there is a tree, converts the model, runs the programs, prints what they read and where the timelines lie.
///
/// # Errors
/// Reports a missing tool, or shows the end of a failing step's output.
pub fn run(tree: Option<PathBuf>) -> Result<()> {
    // Before the long build: what is missing would only be missed after it.
    let compiler = c_compiler()?;
    let python = python()?;

    let work = crate::root().join("target/demo");
    fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
    let is_unoptimized = tree.is_none();
    let tree = match tree {
        Some(tree) => tree,
        None => dist::run(None, dist::Build::Unoptimized)?,
    };
    ensure!(
        tree.join("bin/atc").exists(),
        "{} is not an install tree; `cargo xtask dist` creates one in target/jumar",
        shown(&tree)
    );
    println!("installed: {}", shown(&tree));

    let digits = crate::root().join("examples/digits");
    let log = work.join("log.txt");

    let model = work.join("digits.om");
    let mut atc = Command::new(tree.join("bin/atc"));
    atc.arg("--framework=5")
        .arg(format!("--model={}", digits.join("digits.onnx").display()))
        // atc appends the ending.
        .arg(format!("--output={}", model.with_extension("").display()))
        .arg("--soc_version=Ascend910B1");
    progress::run_or_fail("converting digits.onnx", &mut atc, &log)?;
    ensure!(
        model.exists(),
        "atc said that all went well, but {} is missing",
        shown(&model)
    );
    println!(
        "converted: {} -> {}",
        shown(&digits.join("digits.onnx")),
        shown(&model)
    );

    for program in PROGRAMS {
        let source = digits.join(program.file);
        let stem = program.file.split('.').next().unwrap_or(program.file);
        let mut words: Vec<PathBuf> = Vec::new();
        if program.file.ends_with(".c") {
            let binary = work.join(stem);
            compile(&compiler, &tree, &source, &binary, &log)?;
            words.push(binary);
        } else {
            words.extend([python.clone(), source]);
        }
        words.extend([
            model.clone(),
            digits.join("images.u8"),
            digits.join("labels.u8"),
        ]);

        let timeline = work.join(format!("{stem}.json"));
        let _ = fs::remove_file(&timeline);
        let mut jumar = Command::new(tree.join("bin/jumar"));
        jumar
            .args(["run", "--trace"])
            .arg(&timeline)
            .arg("--")
            .args(&words);
        progress::run_or_fail(&format!("running {}", program.file), &mut jumar, &log)?;

        println!("\n== {} ({})\n", program.file, program.what);
        let output =
            fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?;
        print!("{output}");
        ensure!(
            output.lines().any(|line| line.starts_with("accuracy: ")),
            "{} ended well, but printed no accuracy",
            program.file
        );
        ensure!(
            timeline.exists(),
            "{} ended well, but wrote no timeline to {}",
            program.file,
            shown(&timeline)
        );
        println!("timeline: {}", shown(&timeline));
    }
    println!("\nopen a timeline in https://ui.perfetto.dev or chrome://tracing");
    if is_unoptimized {
        println!(
            "this tree was built for the demo, without optimization; `cargo xtask dist` builds the fast one in target/jumar"
        );
    }
    Ok(())
}

fn compile(
    compiler: &[String],
    tree: &Path,
    source: &Path,
    binary: &Path,
    log: &Path,
) -> Result<()> {
    let mut cc = command(compiler);
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra"])
        .arg("-I")
        .arg(tree.join("include"))
        .arg("-o")
        .arg(binary)
        .arg(source)
        .arg("-L")
        .arg(tree.join("lib64"))
        .arg("-lascendcl");
    progress::run_or_fail(&format!("compiling {}", shown(source)), &mut cc, log)
}

/// Finds the system's C compiler: a command, which may have words of its own ("ccache gcc").
fn c_compiler() -> Result<Vec<String>> {
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let chosen = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty());
    let candidates = match &chosen {
        Some(cc) => vec![words(cc)],
        None => ["cc", "gcc", "clang"].map(words).to_vec(),
    };
    for candidate in candidates {
        if answers(command(&candidate).arg("--version")).is_some() {
            return Ok(candidate);
        }
    }
    match chosen {
        Some(cc) => bail!("CC names {cc:?}, which does not run"),
        None => bail!(
            "the example programs need a C compiler, and there is no cc, gcc or clang; \
             on Debian and Ubuntu: apt-get install build-essential; on Fedora: dnf install gcc"
        ),
    }
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Finds a Python that is new enough.
fn python() -> Result<PathBuf> {
    let (major, minor) = OLDEST_PYTHON;
    let script = "import sys; print(*sys.version_info[:2])";
    let Some(version) = answers(Command::new("python3").args(["-c", script])) else {
        bail!(
            "one of the example programs needs Python {major}.{minor} or newer, and there is no python3; \
             on Debian and Ubuntu: apt-get install python3; on Fedora: dnf install python3"
        );
    };
    let mut numbers = version
        .split_whitespace()
        .map_while(|word| word.parse::<u32>().ok());
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    ensure!(
        found >= OLDEST_PYTHON,
        "python3 is {}.{}; Python {major}.{minor} or newer is needed",
        found.0,
        found.1
    );
    Ok("python3".into())
}

/// Runs a command. Returns its output if it succeeds.
fn answers(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Writes a path as a person in the repository's root would.
fn shown(path: &Path) -> String {
    path.strip_prefix(crate::root())
        .unwrap_or(path)
        .display()
        .to_string()
}
