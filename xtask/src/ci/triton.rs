//! Triton for Ascend devices, of the package index, on the installed tree.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Job, Outcome};
use crate::{progress, python_env};

/// Compiles and launches kernels over the operations of the language, and a script as it is.
pub(super) fn run(job: &Job) -> Result<Outcome> {
    let python = python_env::ensure_triton(&job.log)?;
    let programs: [&[&str]; 2] = [
        &["-m", "pytest", "-q", "tests/triton/language.py"],
        &["examples/triton/softmax.py"],
    ];
    for program in programs {
        let mut run = Command::new(job.jumar()?);
        run.args(["run", "--"])
            .arg(&python)
            .args(program)
            .current_dir(crate::root())
            .env(
                "TRITON_CACHE_DIR",
                crate::root().join("target/triton-cache"),
            )
            // A kernel's key does not contain the compiler's version.
            .env("TRITON_ALWAYS_COMPILE", "1");
        let limit = Duration::from_secs(3600);
        if let Some(problem) = progress::run_logged(job.name, &mut run, &job.log, limit)?.problem()
        {
            return Ok(Outcome::Failed(format!("{}: {problem}", program.join(" "))));
        }
    }
    Ok(Outcome::Passed(
        "kernels compute what PyTorch does on the CPU".into(),
    ))
}
