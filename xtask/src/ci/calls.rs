//! Generated calls of single operators (`tests/calls`).

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Job, Outcome, long};
use crate::{progress, python_env};

/// How many calls a run of every day makes, the same on every machine: about 20 seconds.
const SHORT: &str = "20000";
/// How long a run of every night makes calls.
const LONG: Duration = Duration::from_secs(600);
/// What making failing calls small may take.
const EXTRA: Duration = Duration::from_secs(300);
/// How many calls have large tensors.
const LARGE_CALLS: &str = "8";
/// The seed of a run of every day: the same calls each time.
const SEED: u64 = 1;

/// Makes calls for some seconds, and compares the page that lists the operators.
pub(super) fn short(job: &Job) -> Result<Outcome> {
    let mut page = python(job)?;
    let outcome = job.simple(page.arg("--check-page"))?;
    match outcome {
        Outcome::Passed(_) => run(job, &["--calls", SHORT], SEED),
        other => Ok(other),
    }
}

/// Makes calls with large tensors, then others for minutes. `JUMAR_CHAOS_SEED` sets the seed.
pub(super) fn long(job: &Job) -> Result<Outcome> {
    let mut large = python(job)?;
    large.args(["--large", "--calls", LARGE_CALLS, "--processes", "1"]);
    if let outcome @ (Outcome::Failed(_) | Outcome::Skipped(_)) = job.simple(&mut large)? {
        return Ok(outcome);
    }
    let seconds = LONG.as_secs().to_string();
    run(job, &["--seconds", &seconds], long::chaos_seed()?)
}

fn python(job: &Job) -> Result<Command> {
    let mut command = Command::new(python_env::ensure(&job.log)?);
    command
        .arg(crate::root().join("tests/calls/run.py"))
        .env("JUMAR_PREFIX", job.tree())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

fn run(job: &Job, how_much: &[&str], seed: u64) -> Result<Outcome> {
    let mut command = python(job)?;
    command.args(how_much);
    command.args(["--seed", &seed.to_string()]);
    let done = progress::run_logged(job.name, &mut command, &job.log, LONG + EXTRA)?;
    let log = fs::read_to_string(&job.log).unwrap_or_default();
    let last = log.lines().last().unwrap_or("no output").to_owned();
    Ok(match done.problem() {
        Some(problem) => Outcome::Failed(format!("{last} ({problem})")),
        None => Outcome::Passed(last),
    })
}
