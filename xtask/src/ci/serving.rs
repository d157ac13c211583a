//! Servers of language models that are installed from the package index.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Job, Outcome};
use crate::{progress, python_env};

/// Runs vLLM with its plug-in on small models, in each mode, and compares with transformers on the CPU.
pub(super) fn vllm(job: &Job) -> Result<Outcome> {
    let python = python_env::ensure_vllm(&job.log)?;
    let mut run = Command::new(job.jumar()?);
    run.args(["run", "--"])
        .arg(&python)
        .arg(crate::root().join("tests/vllm/run.py"))
        .arg("--folder")
        .arg(crate::root().join("target/vllm-models"))
        .env("OMP_NUM_THREADS", "1");
    let limit = Duration::from_secs(3 * 3600);
    match progress::run_logged(job.name, &mut run, &job.log, limit)?.problem() {
        Some(problem) => Ok(Outcome::Failed(format!("tests/vllm/run.py: {problem}"))),
        None => Ok(Outcome::Passed(
            "vLLM generates what transformers does on the CPU, in each mode".into(),
        )),
    }
}
