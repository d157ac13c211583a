//! What the steps share: commands, tests with cargo and with pytest, and how they ended.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::summary::{count_cargo_tests, passed_any, pytest_summary, skip_reason};
use super::{Job, Outcome};
use crate::{progress, python_env};

/// No step may take longer, beside others; all of them together take less than twenty minutes on two cores.
const LIMIT: Duration = Duration::from_secs(20 * 60);
const LONG_LIMIT: Duration = Duration::from_secs(60 * 60);

impl Job {
    fn limit(&self) -> Duration {
        if self.long { LONG_LIMIT } else { LIMIT }
    }

    /// Returns the install tree under test.
    pub(super) fn tree(&self) -> PathBuf {
        crate::root().join(self.build.tree())
    }

    /// Returns the command of the install tree under test.
    ///
    /// # Errors
    /// There is no tree.
    pub(super) fn jumar(&self) -> Result<PathBuf> {
        let path = self.tree().join("bin/jumar");
        anyhow::ensure!(
            path.exists(),
            "{} is missing: cargo xtask ci --only dist",
            path.display()
        );
        Ok(path)
    }

    /// Runs a command whose status says everything. Tests learn from its environment which tree they test, and how cargo builds what
    /// they need beside it.
    pub(super) fn simple(&self, command: &mut Command) -> Result<Outcome> {
        command
            .env("JUMAR_PREFIX", self.tree())
            .env("JUMAR_TEST_PROFILE", self.build.profile())
            // Tests compute with the loops for each level of instructions.
            .env("JUMAR_EVERY_LEVEL", "1");
        // Tests of errors write gigabytes of application logs, by default into the home directory.
        let application_logs = self.log.with_extension("plog");
        command.env("ASCEND_PROCESS_LOG_PATH", &application_logs);
        let ended = progress::run_logged(self.name, command, &self.log, self.limit())?;
        // A process that outlives the step may still write; what remains is small.
        let _ = fs::remove_dir_all(&application_logs);
        Ok(match ended.problem() {
            None => Outcome::Passed(String::new()),
            Some(problem) => Outcome::Failed(problem),
        })
    }

    /// Runs cargo test and counts. A run that tested nothing has not passed.
    pub(super) fn cargo_test(&self, command: &mut Command) -> Result<Outcome> {
        let outcome = self.simple(command)?;
        let counts = count_cargo_tests(&fs::read_to_string(&self.log).unwrap_or_default());
        Ok(match outcome {
            Outcome::Passed(_) if counts.passed == 0 => Outcome::Failed("no test ran".into()),
            Outcome::Passed(_) => Outcome::Passed(counts.to_string()),
            Outcome::Failed(problem) => Outcome::Failed(format!("{problem}; {counts}")),
            Outcome::Skipped(reason) => Outcome::Skipped(reason),
        })
    }

    /// Notes what the programs that read digits say; one that says nothing has not passed.
    pub(super) fn with_accuracies(&self, outcome: Outcome) -> Outcome {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let accuracies: Vec<&str> = log
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("accuracy:"))
            .collect();
        match outcome {
            Outcome::Passed(_) if accuracies.is_empty() => {
                Outcome::Failed("no program printed an accuracy".into())
            }
            Outcome::Passed(_) => Outcome::Passed(accuracies.join("; ")),
            other => other,
        }
    }

    /// Runs the tests of a folder but for those that are marked as long, in the environment that `jumar run` makes.
    pub(super) fn pytest(&self, folder: &str) -> Result<Outcome> {
        self.pytest_of(folder, "not long")
    }

    /// Runs the tests of a folder whose markers are as `markers` says.
    pub(super) fn pytest_of(&self, folder: &str, markers: &str) -> Result<Outcome> {
        if !crate::root().join(folder).is_dir() {
            return Ok(Outcome::Failed(format!("{folder} does not exist")));
        }
        let python = python_env::ensure(&self.log)?;
        let mut command = Command::new(self.jumar()?);
        command.arg("run").arg("--").arg(python);
        command.args([
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            // The models of a test that passed are removed, some have hundreds of megabytes.
            "-o",
            "tmp_path_retention_policy=failed",
            "--timeout=300",
            "--durations=5",
            "-rs",
            "-m",
            markers,
            folder,
        ]);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let outcome = self.simple(&mut command)?;
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let summary = pytest_summary(&log);
        Ok(match outcome {
            Outcome::Passed(_) if !passed_any(&summary) => {
                Outcome::Skipped(format!("{summary}: {}", skip_reason(&log)))
            }
            Outcome::Passed(_) => Outcome::Passed(summary),
            Outcome::Failed(problem) => Outcome::Failed(format!("{problem}; {summary}")),
            Outcome::Skipped(reason) => Outcome::Skipped(reason),
        })
    }
}
