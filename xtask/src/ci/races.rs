//! Data races and undefined behaviour, as tools see them that instrument what they run: ThreadSanitizer and Miri.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::long::answers;
use super::steps::cargo;
use super::{Job, Outcome};
use crate::progress;

/// A program that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(300);
/// How often the threads meet.
const RUNS: usize = 5;

/// Compiles the C++ library of the Graph Engine into its test of threads with ThreadSanitizer, and runs it.
///
/// The sanitizer sees what both have compiled in. It does not see the atomics of `libascendcl.so`, so that what this library does itself is
/// left out: the models (`loom`) are for it.
pub(super) fn tsan(job: &Job) -> Result<Outcome> {
    let root = crate::root();
    let folder = root.join("target/ci/tsan");
    fs::create_dir_all(&folder)?;
    let compiler = || {
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-g", "-O1", "-fsanitize=thread", "-pthread"]);
        command
    };
    let empty = folder.join("empty.cpp");
    fs::write(&empty, "int main() { return 0; }\n")?;
    let probe = folder.join("empty");
    if !answers(compiler().arg(&empty).arg("-o").arg(&probe)) || !answers(&mut Command::new(&probe))
    {
        return Ok(Outcome::Skipped(
            "the C++ compiler has no thread sanitizer".into(),
        ));
    }
    let objects = match library(job, &folder, compiler)? {
        Ok(objects) => objects,
        Err(problem) => return Ok(Outcome::Failed(problem)),
    };
    let tree = root.join("target/jumar");
    let program = folder.join("threads");
    let mut link = compiler();
    link.arg("-I")
        .arg(tree.join("include"))
        .arg("-I")
        .arg(tree.join("opp/built-in/op_proto/inc"))
        .arg(root.join("tests/ge/threads.cpp"))
        .args(objects)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(tree.join("lib64"))
        .arg("-lascendcl");
    if let Some(problem) = progress::run_logged(job.name, &mut link, &job.log, LIMIT)?.problem() {
        return Ok(Outcome::Failed(format!("tests/ge/threads.cpp: {problem}")));
    }
    let known = folder.join("suppressions");
    fs::write(&known, "called_from_lib:libascendcl.so\n")?;
    for _ in 0..RUNS {
        let mut run = Command::new(&program);
        run.env("LD_LIBRARY_PATH", tree.join("lib64")).env(
            "TSAN_OPTIONS",
            format!(
                "suppressions={}:second_deadlock_stack=1:exitcode=66",
                known.display()
            ),
        );
        if let Some(problem) = progress::run_logged(job.name, &mut run, &job.log, LIMIT)?.problem()
        {
            return Ok(Outcome::Failed(problem));
        }
    }
    Ok(Outcome::Passed(format!(
        "{RUNS} runs of the threads of a session"
    )))
}

/// Compiles each unit of the library. Returns the objects, or what went wrong.
fn library(
    job: &Job,
    folder: &Path,
    compiler: impl Fn() -> Command,
) -> Result<std::result::Result<Vec<PathBuf>, String>> {
    let root = crate::root();
    let sources = root.join("crates/jumar-ge/cpp");
    let mut objects = Vec::new();
    for entry in fs::read_dir(&sources).context("crates/jumar-ge/cpp")? {
        let source = entry?.path();
        if source.extension().is_none_or(|ending| ending != "cpp") {
            continue;
        }
        let object = folder
            .join(source.file_stem().unwrap_or_default())
            .with_extension("o");
        let mut compile = compiler();
        compile
            .args(["-fPIC", "-c", "-DJUMAR_GE_LIBRARY", "-I"])
            .arg(root.join("include"))
            .arg(&source)
            .arg("-o")
            .arg(&object);
        let done = progress::run_logged(job.name, &mut compile, &job.log, LIMIT)?;
        if let Some(problem) = done.problem() {
            return Ok(Err(format!("{}: {problem}", source.display())));
        }
        objects.push(object);
    }
    Ok(Ok(objects))
}

/// Runs the unit tests of the executor and of the backend's contract in Miri, where a toolchain has it.
pub(super) fn miri(job: &Job) -> Result<Outcome> {
    let mut found = Command::new("cargo");
    if !answers(found.args(["+nightly", "miri", "--version"])) {
        return Ok(Outcome::Skipped(
            "Miri is not installed: rustup component add --toolchain nightly miri rust-src".into(),
        ));
    }
    let mut command = cargo(&["+nightly", "miri", "test", "--locked", "--lib"]);
    command.args(["-p", "jumar-hal", "-p", "jumar-sched"]);
    command.args(["--no-fail-fast", "--target-dir", "target/miri"]);
    command.env(
        "MIRIFLAGS",
        // Addresses of the program come as integers, and tests measure time.
        "-Zmiri-permissive-provenance -Zmiri-disable-isolation",
    );
    job.cargo_test(&mut command)
}
