//! Output of findings: to people on standard error, to programs as lines of JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use jumar_types::{Error, ErrorKind, Result};
use serde_json::json;

use super::baseline::Baseline;
use super::rules::{Rule, Severity};
use super::source_location::SourceLocations;
use super::{Finding, Options};
use crate::record_file::{RecordFile, RunStatus};

/// A number for a value, the same in every run.
pub(super) fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

pub(super) struct Report {
    file: Option<RecordFile>,
    baseline: Baseline,
    chinese: bool,
    replay: String,
    again: BTreeMap<&'static str, u64>,
    pub(super) errors: u64,
    pub(super) all: u64,
    finished: bool,
}

impl Report {
    pub(super) fn new(options: &Options) -> Result<Report> {
        let open = |path: &std::path::PathBuf| {
            RecordFile::open(path, options.status.as_deref()).map_err(|error| {
                Error::new(
                    ErrorKind::InvalidFile,
                    format!("the report {} cannot be written: {error}", path.display()),
                )
            })
        };
        let file = options.report.as_ref().map(open).transpose()?;
        if let Some(path) = &options.status {
            RunStatus::open(path)
                .and_then(|status| status.set_started())
                .map_err(|error| {
                    let sentence =
                        format!("the status {} cannot be written: {error}", path.display());
                    Error::new(ErrorKind::InvalidFile, sentence)
                })?;
        }
        Ok(Report {
            file,
            baseline: Baseline::new(&options.baseline),
            chinese: options.chinese,
            replay: options.replay.clone(),
            again: BTreeMap::new(),
            errors: 0,
            all: 0,
            finished: false,
        })
    }

    /// Counts a repeated finding.
    pub(super) fn again(&mut self, rule: &'static str) {
        *self.again.entry(rule).or_default() += 1;
    }

    pub(super) fn add(
        &mut self,
        rule: &'static Rule,
        finding: &Finding,
        locations: &mut SourceLocations,
    ) {
        let is_of_pytorch = finding
            .lines
            .iter()
            .any(|line| locations.is_of_pytorch(line.location));
        let lines: Vec<_> = finding
            .lines
            .iter()
            .map(|line| {
                let (described, call) = (
                    locations.describe(line.location),
                    locations.call(line.location),
                );
                let mut line = line.clone();
                // The adapter allocates segments for the first tensor in them, and uses them for later ones.
                if line.label == "made"
                    && call.is_some_and(|call| call.starts_with("aclrtMalloc"))
                    && locations.is_of_pytorch(line.location)
                {
                    line.text.push_str(
                        ", a segment of the memory pool of PyTorch, allocated for the first tensor in it",
                    );
                }
                (line, described, call)
            })
            .collect();
        // What stays the same from run to run: the rule, and the lines of the program.
        let mut fingerprint = rule.id.to_owned();
        for (line, described, _) in &lines {
            let _ = write!(fingerprint, "|{} {}", line.label, described.short());
        }
        if self.baseline.take(&fingerprint) {
            return;
        }
        self.all += 1;
        self.errors += u64::from(rule.severity == Severity::Error);
        let fix = finding.fix.as_deref().unwrap_or(match self.chinese {
            true => rule.statement_zh,
            false if is_of_pytorch && !rule.fix_pytorch.is_empty() => rule.fix_pytorch,
            false => rule.fix,
        });
        let title = match self.chinese {
            true => rule.statement_zh,
            false => rule.title,
        };
        let mut text = format!("{} [{}] {title}\n", rule.id, rule.severity.name());
        for (line, described, call) in &lines {
            let location = described.short();
            let call = match call {
                None | Some("") => String::new(),
                Some(call) => format!("{call}: "),
            };
            let _ = writeln!(text, "  {:<8} {location}", line.label);
            let _ = writeln!(text, "           {call}{}", line.text);
        }
        if let Some(missing) = &finding.missing {
            let _ = writeln!(text, "  missing  {missing}");
        }
        let _ = writeln!(text, "  fix      {fix}");
        if !self.replay.is_empty() {
            let _ = writeln!(text, "  replay   {}", self.replay);
        }
        super::source_location::outside(|| eprint!("{text}"));
        if let Some(file) = &mut self.file {
            let lines: Vec<_> = lines
                .iter()
                .map(|(line, described, call)| {
                    json!({
                        "label": line.label, "file": described.file, "line": described.line,
                        "function": described.function, "call": call, "text": line.text,
                    })
                })
                .collect();
            let value = json!({
                "rule": rule.id, "severity": rule.severity.name(), "title": rule.title, "fix": fix,
                "missing": finding.missing, "lines": lines, "fingerprint": fingerprint,
                "process": std::process::id(),
            });
            super::source_location::outside(|| file.append(&value.to_string()));
        }
    }

    /// Writes the summary.
    pub(super) fn finish(&mut self) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        if self.file.is_none() {
            eprintln!("{}", summary(self.errors, self.all));
        }
    }
}

/// Writes the summary.
fn summary(errors: u64, all: u64) -> String {
    match all {
        0 => "jumar check: nothing found".to_owned(),
        1 => format!("jumar check: 1 finding, {errors} of severity error"),
        _ => format!("jumar check: {all} findings, {errors} of severity error"),
    }
}
