//! What takes long and is run by `cargo xtask ci --long`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::steps::cargo;
use super::{Job, Outcome};
use crate::progress;

/// How long damaged models are tried.
const FUZZ: Duration = Duration::from_secs(180);
/// How long the programs are repeated.
const SOAK: Duration = Duration::from_secs(300);
/// How long many threads do anything, unless a variable says otherwise.
const CHAOS: Duration = Duration::from_secs(600);
/// A program that takes longer hangs.
const PROGRAM_LIMIT: Duration = Duration::from_secs(120);

pub(super) fn loom(job: &Job) -> Result<Outcome> {
    let mut command = cargo(&[
        "test",
        "--locked",
        "--release",
        "-p",
        "jumar-hal",
        "-p",
        "jumar-sched",
        "-p",
        "jumar-core",
        "--lib",
        "--target-dir",
        "target/loom",
        "loom_",
    ]);
    // A model checker runs the same few threads through every order; more preemptions than three find nothing new in
    // structures this small and take hours.
    command
        .env("RUSTFLAGS", "--cfg loom")
        .env("LOOM_MAX_PREEMPTIONS", "3");
    job.cargo_test(&mut command)
}

pub(super) fn asan(job: &Job) -> Result<Outcome> {
    let target = host_target()?;
    let mut command = cargo(&[
        "test",
        "--locked",
        "--lib",
        "--target-dir",
        "target/asan",
        "--target",
        &target,
    ]);
    for package in ["jumar-sched", "jumar-cpu", "jumar-ops", "jumar-capi"] {
        command.args(["-p", package]);
    }
    // The sanitizer is in the stable toolchain but behind an unstable flag.
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("ASAN_OPTIONS", "detect_leaks=0");
    job.cargo_test(&mut command)
}

fn host_target() -> Result<String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let target = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(target
        .ok_or_else(|| anyhow::anyhow!("rustc -vV names no host"))?
        .to_string())
}

/// Runs every C program of the tests that takes no arguments under memcheck.
///
/// Valgrind runs one thread at a time, so what measures overlap is left out.
pub(super) fn valgrind(job: &Job) -> Result<Outcome> {
    if !answers(Command::new("valgrind").arg("--version")) {
        return Ok(Outcome::Skipped("valgrind is not installed".into()));
    }
    let mut programs = c_programs(job)?;
    programs.retain(|program| !name(program).starts_with("overlap"));
    for program in &programs {
        let mut command = Command::new(jumar());
        command
            .args([
                "run",
                "--",
                "valgrind",
                "-q",
                // Threads take turns there: without this, one that polls can keep the others out for long.
                "--fair-sched=try",
                "--error-exitcode=99",
                "--leak-check=no",
            ])
            .arg(program);
        if let Some(problem) = run_one(job, &mut command)? {
            return Ok(Outcome::Failed(format!("{}: {problem}", name(program))));
        }
    }
    Ok(Outcome::Passed(format!("{} programs", programs.len())))
}

/// Repeats the same programs with different numbers of workers, on all cores and on one.
pub(super) fn soak(job: &Job) -> Result<Outcome> {
    let programs = c_programs(job)?;
    let one_core = answers(Command::new("taskset").args(["-c", "0", "true"]));
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < SOAK {
        for program in &programs {
            let workers = ["1", "2", "3", "8"][runs % 4];
            // Five and four have no common factor: each number of workers meets each placement.
            let pinned = one_core && runs % 5 == 0;
            let mut command = Command::new(jumar());
            command.args(["run", "--workers", workers, "--"]);
            if pinned {
                command.args(["taskset", "-c", "0"]);
            }
            if let Some(problem) = run_one(job, command.arg(program))? {
                let place = if pinned { "one core" } else { "all cores" };
                return Ok(Outcome::Failed(format!(
                    "{}: {problem} (run {runs}, {workers} workers, {place})",
                    name(program)
                )));
            }
            runs += 1;
        }
    }
    Ok(Outcome::Passed(format!(
        "{runs} runs of {} programs",
        programs.len()
    )))
}

/// Many threads do anything to shared and own streams; then, for a shorter time, on one core and with one worker.
///
/// `JUMAR_CHAOS_SECONDS` and `JUMAR_CHAOS_SEED` set how long and which; the seed is printed.
pub(super) fn chaos(job: &Job) -> Result<Outcome> {
    let program = c_program(job, "chaos")?;
    let number = |name: &str, usual: u64| -> Result<u64> {
        match std::env::var(name) {
            Ok(text) => text.parse().with_context(|| format!("{name}={text}")),
            Err(_) => Ok(usual),
        }
    };
    let seconds = number("JUMAR_CHAOS_SECONDS", CHAOS.as_secs())?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let seed = number("JUMAR_CHAOS_SEED", now.as_secs())?;
    println!("chaos: seed {seed}, {seconds} s");
    let one_core = answers(Command::new("taskset").args(["-c", "0", "true"]));
    let short = (seconds / 10).max(1);
    let mut runs = vec![(seconds, "0", false), (short, "1", false)];
    if one_core {
        runs.push((short, "0", true));
    }
    for (seconds, workers, pinned) in runs {
        let mut command = Command::new(jumar());
        command.arg("run");
        if workers != "0" {
            command.args(["--workers", workers]);
        }
        command.arg("--");
        if pinned {
            command.args(["taskset", "-c", "0"]);
        }
        let threads = "64";
        command.arg(&program).arg(seconds.to_string()).arg(threads);
        command.arg(seed.to_string());
        let limit = Duration::from_secs(seconds) + PROGRAM_LIMIT;
        let done = progress::run_logged(job.name, &mut command, &job.log, limit)?;
        if let Some(problem) = done.problem() {
            return Ok(Outcome::Failed(format!("seed {seed}: {problem}")));
        }
    }
    Ok(Outcome::Passed(format!("64 threads, seed {seed}")))
}

/// Makes and releases objects of each kind ten thousand times.
pub(super) fn kinds(job: &Job) -> Result<Outcome> {
    let program = c_program(job, "each_kind")?;
    let mut command = Command::new(jumar());
    command.args(["run", "--"]).arg(program).arg("10000");
    let limit = Duration::from_secs(1200);
    let done = progress::run_logged(job.name, &mut command, &job.log, limit)?;
    Ok(match done.problem() {
        Some(problem) => Outcome::Failed(problem),
        None => Outcome::Passed("10000 cycles of each kind".into()),
    })
}

/// Offers damaged copies of a model to atc and to inspect. A refusal is right, a signal or a panic is not.
pub(super) fn fuzz(job: &Job) -> Result<Outcome> {
    let folder = crate::root().join("target/ci/fuzz");
    fs::create_dir_all(&folder)?;
    let onnx = crate::root().join("examples/digits/digits.onnx");
    let om = folder.join("whole.om");
    let atc = |model: &Path, output: &Path| {
        let mut command = Command::new(crate::root().join("target/jumar/bin/atc"));
        command
            .arg("--framework=5")
            .arg(format!("--model={}", model.display()))
            .arg(format!("--output={}", output.display()))
            .arg("--soc_version=Ascend910B1");
        command
    };
    if let Some(problem) = run_one(job, &mut atc(&onnx, &om.with_extension("")))? {
        return Ok(Outcome::Failed(format!("the whole model: {problem}")));
    }
    let sources = [
        fs::read(&onnx).context("digits.onnx")?,
        fs::read(&om).context("whole.om")?,
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let start = Instant::now();
    let mut tried = 0_u32;
    while start.elapsed() < FUZZ {
        for (source, ending) in sources.iter().zip(["onnx", "om"]) {
            let damaged = folder.join(format!("damaged.{ending}"));
            fs::write(&damaged, random.damage(source))?;
            let mut commands = vec![{
                let mut inspect = Command::new(jumar());
                inspect.arg("inspect").arg(&damaged);
                inspect
            }];
            if ending == "onnx" {
                commands.push(atc(&damaged, &folder.join("out")));
            }
            for mut command in commands {
                let output = command.stdin(Stdio::null()).output()?;
                if !matches!(output.status.code(), Some(0 | 1)) {
                    let kept = folder.join(format!("found-{tried}.{ending}"));
                    fs::copy(&damaged, &kept)?;
                    fs::write(&job.log, [output.stdout, output.stderr].concat())?;
                    return Ok(Outcome::Failed(format!(
                        "{}: {}",
                        kept.display(),
                        output.status
                    )));
                }
            }
            tried += 1;
        }
    }
    Ok(Outcome::Passed(format!("{tried} damaged files")))
}

/// A small generator: the same files in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Cuts the file, or changes a few bytes; headers more often than what comes after them.
    fn damage(&mut self, source: &[u8]) -> Vec<u8> {
        let mut bytes = source.to_vec();
        if self.below(8) == 0 {
            bytes.truncate(self.below(source.len()));
            return bytes;
        }
        for _ in 0..=self.below(6) {
            let reach = if self.below(2) == 0 {
                bytes.len().min(1024)
            } else {
                bytes.len()
            };
            let at = self.below(reach);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = match self.below(4) {
                    0 => 0,
                    1 => 0xFF,
                    2 => *byte ^ (1 << self.below(8)),
                    _ => self.next() as u8,
                };
            }
        }
        bytes
    }
}

/// Compiles the C programs of the tests that take no arguments.
fn c_programs(job: &Job) -> Result<Vec<PathBuf>> {
    let root = crate::root();
    let sources = root.join("tests/programs/c");
    let mut programs = Vec::new();
    for entry in fs::read_dir(&sources).context("tests/programs/c")? {
        let source = entry?.path();
        let is_c = source.extension().is_some_and(|ending| ending == "c");
        if !is_c || !fs::read_to_string(&source)?.contains("int main(void)") {
            continue;
        }
        programs.push(compiled(job, &source)?);
    }
    programs.sort();
    ensure!(
        !programs.is_empty(),
        "there are no programs in {}",
        sources.display()
    );
    Ok(programs)
}

/// Compiles one of the programs.
fn c_program(job: &Job, name: &str) -> Result<PathBuf> {
    let sources = crate::root().join("tests/programs/c");
    compiled(job, &sources.join(name).with_extension("c"))
}

fn compiled(job: &Job, source: &Path) -> Result<PathBuf> {
    let root = crate::root();
    let tree = root.join("target/jumar");
    let folder = root.join("target/ci/programs");
    fs::create_dir_all(&folder)?;
    let program = folder.join(source.file_stem().unwrap_or_default());
    let mut compile = Command::new("cc");
    compile
        .args(["-std=gnu11", "-g", "-O1", "-I"])
        .arg(tree.join("include"))
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(tree.join("lib64"))
        .args(["-lascendcl", "-lpthread", "-ldl"]);
    let problem = run_one(job, &mut compile)?;
    ensure!(problem.is_none(), "{} does not compile", source.display());
    Ok(program)
}

fn run_one(job: &Job, command: &mut Command) -> Result<Option<String>> {
    Ok(progress::run_logged(job.name, command, &job.log, PROGRAM_LIMIT)?.problem())
}

fn jumar() -> PathBuf {
    crate::root().join("target/jumar/bin/jumar")
}

fn name(program: &Path) -> String {
    program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn answers(command: &mut Command) -> bool {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
