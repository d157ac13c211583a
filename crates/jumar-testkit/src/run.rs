//! Builds the drivers, runs them against an install tree, and reads what they print.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::api::Api;
use crate::table::Case;
use crate::{c, python, zero};

/// What a driver said of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every step was answered as the table says.
    Passed,
    /// A step was not; which, what was expected and what came.
    Failed(String),
    /// It calls functions that are not implemented.
    Waits(String),
    /// A model that it needs is not there.
    NoModel(String),
    /// The frontend cannot express it.
    NotApplicable(String),
}

/// The cases of a run, in the order in which they ran.
#[derive(Debug, Default)]
pub struct Report {
    /// Id and outcome.
    pub cases: Vec<(String, Outcome)>,
}

impl Report {
    /// Counts the cases with an outcome that answers yes.
    pub fn count(&self, belongs: impl Fn(&Outcome) -> bool) -> usize {
        self.cases
            .iter()
            .filter(|(_, outcome)| belongs(outcome))
            .count()
    }

    /// The cases that failed, with their reasons.
    pub fn failures(&self) -> Vec<(&str, &str)> {
        self.cases
            .iter()
            .filter_map(|(id, outcome)| match outcome {
                Outcome::Failed(reason) => Some((id.as_str(), reason.as_str())),
                Outcome::Passed
                | Outcome::Waits(_)
                | Outcome::NoModel(_)
                | Outcome::NotApplicable(_) => None,
            })
            .collect()
    }

    /// The functions that cases wait for, with how many wait, and the models that they lack.
    pub fn lacking(&self) -> BTreeMap<&str, usize> {
        let mut lacking = BTreeMap::new();
        for (_, outcome) in &self.cases {
            let (Outcome::Waits(names) | Outcome::NoModel(names)) = outcome else {
                continue;
            };
            for name in names.trim_start_matches("for ").split(", ") {
                *lacking.entry(name).or_default() += 1;
            }
        }
        lacking
    }

    /// One line of numbers.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} passed, {} failed",
            self.count(|o| *o == Outcome::Passed),
            self.failures().len()
        );
        let rest = [
            (
                self.count(|o| matches!(o, Outcome::Waits(_))),
                "wait for functions",
            ),
            (
                self.count(|o| matches!(o, Outcome::NoModel(_))),
                "lack a model",
            ),
            (
                self.count(|o| matches!(o, Outcome::NotApplicable(_))),
                "not applicable",
            ),
        ];
        for (count, what) in rest.iter().filter(|(count, _)| *count > 0) {
            text += &format!(", {count} {what}");
        }
        text
    }
}

/// What is run, and how.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Also cases whose functions are not implemented.
    pub all: bool,
    /// `works` or `refused`, or both.
    pub kind: Option<String>,
    /// Parts of ids; none means every case.
    pub filters: Vec<String>,
    /// A program, with its arguments, that the C driver runs under; a case has ten minutes then.
    pub under: Vec<String>,
    /// A folder: the cases run under the checks, and each leaves its findings there, in a file of its id.
    pub reports: Option<PathBuf>,
    /// With `reports`: tasks are delayed as long as possible.
    pub late: bool,
}

/// Runs the table through C against the tree.
///
/// # Errors
/// When there is no tree, when the driver does not compile, or when it ends without having run its cases.
pub fn c(
    api: &Api,
    cases: &[Case],
    tree: &Path,
    models: Option<&Path>,
    selection: &Selection,
) -> Result<Report> {
    ensure!(
        tree.join("lib64/libascendcl.so").exists(),
        "there is no install tree at {}; `cargo xtask dist` makes one",
        tree.display()
    );
    let folder = tempfile::tempdir()?;
    let driver = build_c(
        api,
        cases,
        &tree.join("include"),
        &tree.join("lib64"),
        folder.path(),
    )?;
    let mut command = match selection.under.split_first() {
        None => Command::new(driver),
        Some((program, args)) => {
            let mut command = Command::new(program);
            command
                .args(args)
                .arg(driver)
                .env("JUMAR_TEST_LIMIT_S", "600")
                .env("JUMAR_TEST_PATIENCE_MS", "300000");
            command
        }
    };
    command.env("LD_LIBRARY_PATH", tree.join("lib64"));
    run(command, folder.path(), models, selection)
}

/// Runs the cases of the kind "works" against a library whose every call returns 0. Returns those that pass.
///
/// # Errors
/// As [`c`].
pub fn against_zero(api: &Api, cases: &[Case], include: &Path) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    zero::build(api, folder.path())?;
    let driver = build_c(api, cases, include, folder.path(), folder.path())?;
    // Whatever a model's file holds, this library does not look at it.
    let models = folder.path().join("models");
    fs::create_dir(&models)?;
    for model in cases.iter().flat_map(Case::models) {
        fs::write(models.join(format!("{model}.om")), [b'x'; 4096])?;
    }
    let mut command = Command::new(driver);
    command
        .env("LD_LIBRARY_PATH", folder.path())
        .env("JUMAR_TEST_PATIENCE_MS", "50");
    let selection = Selection {
        all: true,
        kind: Some("works".into()),
        ..Selection::default()
    };
    let report = run(command, folder.path(), Some(&models), &selection)?;
    Ok(report
        .cases
        .into_iter()
        .filter(|(_, outcome)| *outcome == Outcome::Passed)
        .map(|(id, _)| id)
        .collect())
}

/// Runs the table through Python against the tree.
///
/// # Errors
/// As [`c`].
pub fn python(
    api: &Api,
    cases: &[Case],
    tree: &Path,
    interpreter: &Path,
    models: Option<&Path>,
    selection: &Selection,
) -> Result<Report> {
    let packages = tree.join("python/site-packages");
    ensure!(
        packages.is_dir(),
        "there is no Python module at {}; `cargo xtask dist` makes it",
        packages.display()
    );
    let folder = tempfile::tempdir()?;
    let plan = folder.path().join("plan.json");
    fs::write(&plan, serde_json::to_string(&python::plan(api, cases))?)?;
    let runner = folder.path().join("runner.py");
    fs::write(&runner, python::RUNNER)?;
    let mut command = Command::new(interpreter);
    command
        .arg(runner)
        .arg(plan)
        .env("PYTHONPATH", packages)
        .env("LD_LIBRARY_PATH", tree.join("lib64"));
    run(command, folder.path(), models, selection)
}

/// Writes and compiles the C driver. Returns its path.
///
/// # Errors
/// What the compiler says.
pub fn build_c(
    api: &Api,
    cases: &[Case],
    include: &Path,
    libraries: &Path,
    folder: &Path,
) -> Result<PathBuf> {
    for (name, text) in c::DRIVER {
        fs::write(folder.join(name), text)?;
    }
    fs::write(folder.join("cases.c"), c::cases(api, cases)?)?;
    let driver = folder.join("behaviour");
    let mut compiler = Command::new("cc");
    compiler
        .current_dir(folder)
        .args([
            "-std=c11",
            "-D_GNU_SOURCE",
            "-O0",
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        // The interface's deprecated functions are part of the table.
        .arg("-Wno-deprecated-declarations")
        .arg("-I")
        .arg(include)
        .args(["-o", "behaviour", "driver.c", "cases.c", "-L"])
        .arg(libraries)
        .args(["-lascendcl", "-lpthread", "-lm"]);
    check_output("cc", &mut compiler)?;
    Ok(driver)
}

fn run(
    mut command: Command,
    folder: &Path,
    models: Option<&Path>,
    selection: &Selection,
) -> Result<Report> {
    let files = folder.join("files");
    fs::create_dir_all(&files)?;
    command.env("JUMAR_TEST_FOLDER", &files);
    if let Some(models) = models {
        command.env("JUMAR_TEST_MODELS", models);
    }
    // What the caller's shell configures is not what the table is about.
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        let configures = name_text.starts_with("ASCEND_")
            || name_text.starts_with("JUMAR_") && !name_text.starts_with("JUMAR_TEST_");
        if configures {
            command.env_remove(name);
        }
    }
    if let Some(reports) = &selection.reports {
        command.env("JUMAR_TEST_REPORTS", reports);
        if selection.late {
            command.env("JUMAR_TEST_LATE", "1");
        }
    }
    if selection.all {
        command.arg("--all");
    }
    if let Some(kind) = &selection.kind {
        command.args(["--kind", kind]);
    }
    let output = command
        .args(&selection.filters)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{:?}", command.get_program()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let report = read_report(&printed);
    ensure!(
        printed.lines().any(|line| line.contains(" passed, ")),
        "the driver ended ({}) without a summary:\n{printed}",
        output.status
    );
    Ok(report)
}

/// Reads the lines of a driver. A line that begins with a blank belongs to the failure before it.
fn read_report(printed: &str) -> Report {
    let mut report = Report::default();
    for line in printed.lines() {
        if line.starts_with(' ') {
            if let Some((_, Outcome::Failed(reason))) = report.cases.last_mut() {
                reason.push('\n');
                reason.push_str(line);
            }
            continue;
        }
        let parse = |word: &str| {
            let (id, reason) = line.strip_prefix(word)?.split_once(": ")?;
            Some((id.to_string(), reason.to_string()))
        };
        let case = if let Some(id) = line.strip_prefix("ok ") {
            (id.to_string(), Outcome::Passed)
        } else if let Some((id, reason)) = parse("FAIL ") {
            (id, Outcome::Failed(reason))
        } else if let Some((id, reason)) = parse("waits ") {
            (id, Outcome::Waits(reason))
        } else if let Some((id, reason)) = parse("no model ") {
            (id, Outcome::NoModel(reason))
        } else if let Some((id, reason)) = parse("n/a ") {
            (id, Outcome::NotApplicable(reason))
        } else {
            continue;
        };
        report.cases.push(case);
    }
    report
}

/// Runs a command that is silent when all is well.
pub(crate) fn check_output(name: &str, command: &mut Command) -> Result<()> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{name} could not be started; a C compiler is needed"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let beginning: Vec<&str> = said.lines().take(40).collect();
        bail!("{name}: {}\n{}", output.status, beginning.join("\n"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_line_by_line() {
        let report = read_report(
            "ok a.b\nFAIL c: step 1 `x`: expected 0, got 1\n      the library says: no\nwaits d: for aclX\n\
             no model e: add.om\nn/a f: null\n1 passed, 1 failed\n",
        );
        assert_eq!(report.cases.len(), 5);
        assert_eq!(report.cases[0].1, Outcome::Passed);
        assert!(
            matches!(&report.cases[1].1, Outcome::Failed(reason) if reason.contains("library says: no"))
        );
        assert_eq!(
            report.summary(),
            "1 passed, 1 failed, 1 wait for functions, 1 lack a model, 1 not applicable"
        );
    }
}
