//! Starts a process for each case, two at a time, and reads what it says.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use jumar_testkit::api::Api;
use jumar_testkit::run::{Outcome, Report};
use jumar_testkit::table::{self, Case};
use jumar_testkit::{models, root, tree};
use serde::{Deserialize, Serialize};

use crate::case_runner::{CaseRunner, End};
use crate::shared_forms::{self, SharedForm};

/// How many processes run side by side.
const SIDE_BY_SIDE: usize = 2;
/// How long a case may take.
const LIMIT: Duration = Duration::from_secs(10);

/// What the process of a case reads: to read the table and the interface would take longer than most cases.
#[derive(Serialize, Deserialize)]
struct Assignment {
    case: Case,
    /// The functions and constants that the case names.
    api: Api,
}

/// A case, or a form of it.
enum CaseForm<'a> {
    Case(&'a Case),
    Shared(Box<SharedForm<'a>>),
}

impl CaseForm<'_> {
    fn id(&self) -> &str {
        match self {
            CaseForm::Case(case) => &case.id,
            CaseForm::Shared(form) => form.id(),
        }
    }
}

/// Plays every case whose id has one of these parts, or all, and the forms of each with objects that processes share.
///
/// # Errors
/// The table cannot be read, or a process cannot be started.
pub fn table(driver: &Path, filters: &[String]) -> Result<Report> {
    let root = root();
    let api = Api::read(&root)?;
    let is_asked = |id: &str| filters.is_empty() || filters.iter().any(|part| id.contains(part));
    let table = table::read(&root, &api)?;
    let forms = table.iter().map(|case| shared_forms::derive(case, &api));
    let forms = forms.collect::<Result<Vec<_>>>()?.into_iter().flatten();
    let cases = table.iter().map(CaseForm::Case);
    let cases: Vec<CaseForm<'_>> = cases
        .chain(forms.map(|form| CaseForm::Shared(Box::new(form))))
        .filter(|played| is_asked(played.id()))
        .collect();
    let folder = tempfile::tempdir()?;
    // Where there is no tree, cases that need a model count as lacking it.
    let tree = tree();
    let made = folder.path().join("models");
    let missing = if tree.join("bin/atc").exists() {
        models::make(&tree, &made)?
    } else {
        models::make_kernels(&made)?
    };
    for (name, reason) in missing {
        eprintln!("{name} could not be made: {reason}");
    }
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(played) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = |case: &Case| outcome(driver, &api, case, folder.path(), &made);
                    let outcome = match played {
                        CaseForm::Case(case) => outcome(case),
                        CaseForm::Shared(form) => form.with(driver, outcome),
                    };
                    let outcome =
                        outcome.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
                    let mut all = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((played.id().to_string(), outcome));
                }
            });
        }
    });
    let mut cases = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Report { cases })
}

fn outcome(driver: &Path, api: &Api, case: &Case, folder: &Path, models: &Path) -> Result<Outcome> {
    let stubs = case.stubs(api);
    if !stubs.is_empty() {
        return Ok(Outcome::Waits(format!("for {}", stubs.join(", "))));
    }
    let missing = |model: &&str| !models.join(models::file_of(model)).exists();
    if let Some(model) = case.models().into_iter().find(missing) {
        return Ok(Outcome::NoModel(models::file_of(model)));
    }
    let own = folder.join(&case.id);
    std::fs::create_dir(&own)?;
    let file = folder.join(format!("{}.json", case.id));
    let assignment = Assignment {
        case: case.clone(),
        api: api.part(&case.names()),
    };
    std::fs::write(&file, serde_json::to_vec(&assignment)?)?;
    let mut command = Command::new(driver);
    command.args([OsStr::new("--case"), file.as_os_str()]);
    command.args([own.as_os_str(), models.as_os_str()]);
    // What the caller's shell configures is not what the table is about.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("ASCEND_") || text.starts_with("JUMAR_") {
            command.env_remove(name);
        }
    }
    let here = own.to_string_lossy();
    let env = case.env.iter();
    let output = command
        .current_dir(&own)
        .envs(env.map(|(name, value)| (name, value.replace("{folder}", &here))))
        .stdin(Stdio::null())
        .output()
        .with_context(|| driver.display().to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout);
    Ok(
        read(case, &printed, output.status.success()).unwrap_or_else(|| {
            let step = printed
                .lines()
                .rev()
                .find_map(|line| line.strip_prefix("@ "));
            let said = String::from_utf8_lossy(&output.stderr);
            Outcome::Failed(format!(
                "{}: expected an answer, got {}\n      {}",
                step.unwrap_or("the beginning"),
                output.status,
                said.trim().replace('\n', "\n      ")
            ))
        }),
    )
}

/// Reads what a process said last of its case.
fn read(case: &Case, printed: &str, ended_well: bool) -> Option<Outcome> {
    let after = |word: &str| {
        let mark = format!("{word} {}: ", case.id);
        let at = printed.find(&mark)?;
        Some(printed[at + mark.len()..].trim_end().to_string())
    };
    if let Some(reason) = after("FAIL") {
        return Some(Outcome::Failed(reason));
    }
    if let Some(reason) = after("n/a") {
        return Some(Outcome::NotApplicable(reason));
    }
    (ended_well && after("ok").is_some()).then_some(Outcome::Passed)
}

/// Plays the case of a file in this process, which ends as the case does.
///
/// # Errors
/// The file holds no case, or it cannot be prepared.
pub fn case(file: &Path, folder: PathBuf, models: PathBuf) -> Result<ExitCode> {
    let text = std::fs::read(file).with_context(|| file.display().to_string())?;
    let Assignment { case, api } =
        serde_json::from_slice(&text).with_context(|| file.display().to_string())?;
    let id = case.id.clone();
    let texts: Vec<String> = case.steps.iter().map(|step| step.text.clone()).collect();
    let stage: &'static CaseRunner =
        Box::leak(Box::new(CaseRunner::new(api, case, folder, models)?));
    let (done, over) = channel::<()>();
    let name = id.clone();
    std::thread::spawn(move || {
        if over.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            say(&format!(
                "FAIL {name}: expected an end within {LIMIT:?}, got none"
            ));
            std::process::exit(1);
        }
    });
    let played = stage.play(|at| say(&format!("@ step {} `{}`", at + 1, texts[at])));
    match played {
        Ok(()) => {
            jumar_acl::at_exit();
            jumar_acl::at_last();
            say(&format!("ok {id}: "));
        }
        Err(End::NotForRust(reason)) => say(&format!("n/a {id}: {reason}")),
        Err(End::Failed(reason)) => say(&format!("FAIL {id}: {reason}")),
    }
    // The timeout has passed; the parent notices a late end.
    drop(done);
    Ok(ExitCode::SUCCESS)
}

/// Prints a line at once: the process may die in the next moment.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A parent that is gone reads nothing.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Prints a report as the tests of the other frontends do. Returns whether it is as expected.
pub fn conclude(report: &Report) -> bool {
    for (id, outcome) in &report.cases {
        match outcome {
            Outcome::Passed => {}
            Outcome::Failed(reason) => println!("FAIL {id}: {reason}"),
            Outcome::Waits(functions) => println!("waits {id}: {functions}"),
            Outcome::NoModel(model) => println!("no model {id}: {model}"),
            Outcome::NotApplicable(reason) => println!("not for Rust {id}: {reason}"),
        }
    }
    println!("Rust: {}", report.summary());
    report.failures().is_empty() && report.count(|outcome| *outcome == Outcome::Passed) > 0
}
