//! MindSpore of the package index on the installed tree.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Job, Outcome};
use crate::{progress, python_env};

/// Trains networks, and runs the examples in MindSpore's documentation: no function may be worse than in the stored result.
pub(super) fn run(job: &Job) -> Result<Outcome> {
    let python = python_env::ensure_mindspore(&job.log)?;
    let programs = [
        "examples/mindspore/train.py",
        "tests/mindspore/networks.py",
        "tests/mindspore/ranks.py",
        "tests/mindspore/operators.py",
    ];
    for program in programs {
        let mut run = Command::new(job.jumar()?);
        run.args(["run", "--"])
            .arg(&python)
            .arg(crate::root().join(program))
            .env("OMP_NUM_THREADS", "1")
            .env("JUMAR_DEVICES", "2");
        let limit = Duration::from_secs(3600);
        if let Some(problem) = progress::run_logged(job.name, &mut run, &job.log, limit)?.problem()
        {
            return Ok(Outcome::Failed(format!("{program}: {problem}")));
        }
    }
    Ok(Outcome::Passed(
        "networks trained as on the CPU; no function is worse than in docs/mindspore-operators.md"
            .into(),
    ))
}
