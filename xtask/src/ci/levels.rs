//! The numeric suites with fewer vector instructions than this processor has (`JUMAR_INSTRUCTIONS`).
//!
//! The other steps compute with the most that the processor has, and programs of users run on processors that have less.

use std::fs;
use std::process::Command;

use anyhow::Result;

use super::{Job, Outcome};
use crate::python_env;

/// Operators of the extract: at least one of each kind of kernel that is written for several levels.
const EXTRACT: [&str; 15] = [
    "Add",
    "BatchNormalization",
    "Conv",
    "ConvTranspose",
    "Div",
    "Erf",
    "Exp",
    "Gemm",
    "LSTM",
    "LayerNormalization",
    "MatMul",
    "MaxPool",
    "QLinearMatMul",
    "ReduceSum",
    "Softmax",
];
/// How many seconds of generated calls belong to the extract, and to the long run.
const SHORT_SECONDS: &str = "5";
const LONG_SECONDS: &str = "60";
const SEED: &str = "1";

/// Runs an extract of the suites at each level that this processor does not choose by itself.
pub(super) fn short(job: &Job) -> Result<Outcome> {
    let nodes: Vec<&str> = ["tests/nodes/run.py"].into_iter().chain(EXTRACT).collect();
    at_each(job, &[&nodes, &calls(SHORT_SECONDS)])
}

/// Runs every suite at each of these levels.
pub(super) fn long(job: &Job) -> Result<Outcome> {
    let pytest = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "tmp_path_retention_policy=failed",
    ];
    let tests = |path| pytest.into_iter().chain([path]).collect::<Vec<&str>>();
    at_each(
        job,
        &[
            &["tests/nodes/run.py"],
            &calls(LONG_SECONDS),
            &["tests/ge/ops/run.py"],
            &tests("tests/programs/test_operator_cases.py"),
            &tests("tests/models"),
        ],
    )
}

fn calls(seconds: &'static str) -> [&'static str; 5] {
    ["tests/calls/run.py", "--seconds", seconds, "--seed", SEED]
}

fn at_each(job: &Job, suites: &[&[&str]]) -> Result<Outcome> {
    let levels = below_the_best();
    if levels.is_empty() {
        return Ok(Outcome::Skipped(
            "this processor has one level of vector instructions".into(),
        ));
    }
    let mut logs = String::new();
    for level in &levels {
        for suite in suites {
            let mut command = Command::new(job.jumar()?);
            command.args(["run", "--instructions", level, "--"]);
            command.arg(python_env::ensure(&job.log)?).args(*suite);
            command
                .current_dir(crate::root())
                .env("PYTHONDONTWRITEBYTECODE", "1");
            let outcome = job.simple(&mut command)?;
            logs += &fs::read_to_string(&job.log).unwrap_or_default();
            fs::write(&job.log, &logs)?;
            if let Outcome::Failed(problem) | Outcome::Skipped(problem) = outcome {
                return Ok(Outcome::Failed(format!(
                    "{level}: {}: {problem}",
                    suite.join(" ")
                )));
            }
        }
    }
    Ok(Outcome::Passed(format!(
        "{} suites with {}",
        suites.len(),
        levels.join(" and ")
    )))
}

/// Lists the levels that this processor has and does not choose by itself.
fn below_the_best() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let avx512 =
            avx2 && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512dq");
        let lower = [("portable", avx2), ("avx2", avx512)];
        lower
            .into_iter()
            .filter(|(_, more)| *more)
            .map(|(name, _)| name)
            .collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        Vec::new()
    }
}
