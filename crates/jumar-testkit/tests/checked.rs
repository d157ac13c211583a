//! The table under the checks, through C: cases that keep the rules have no finding, and the findings of the others name what
//! they do. tests/diag/corpus.toml says which rule each refusal breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use jumar_testkit::api::Api;
use jumar_testkit::language::{Action, Expr};
use jumar_testkit::run::{self, Outcome, Report, Selection};
use jumar_testkit::table::{self, Case, Kind};
use jumar_testkit::{models, root, tree};
use serde::Deserialize;

/// What may be said, as tests/diag/corpus.toml has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    /// Rules about what is left over where a case ends in the middle.
    untidy: BTreeSet<String>,
    /// A rule, and the answers of the calls that break it.
    answers: BTreeMap<String, Vec<String>>,
    /// Cases that do something wrong and are answered well.
    case: Vec<Shown>,
    /// Cases that look at what late mode changes.
    late: Vec<Shown>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    id: String,
    #[serde(default)]
    rules: BTreeSet<String>,
    #[expect(dead_code, reason = "for readers")]
    why: String,
}

#[derive(Deserialize)]
struct Finding {
    rule: String,
    severity: String,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    call: Option<String>,
    text: String,
}

fn corpus() -> Corpus {
    let file = root().join("tests/diag/corpus.toml");
    let text = fs::read_to_string(&file).expect("tests/diag/corpus.toml");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn run_checked(folder: &Path, kind: Option<&str>, late: bool) -> (Vec<Case>, Report) {
    let api = Api::read(&root()).expect("the API data");
    let cases = table::read(&root(), &api).expect("the table");
    let made = root().join(format!("target/test-models-checked{}", u8::from(late)));
    for (name, reason) in models::make(&tree(), &made).unwrap_or_else(|error| panic!("{error:#}")) {
        eprintln!("{name} could not be made: {reason}");
    }
    let selection = Selection {
        kind: kind.map(str::to_owned),
        reports: Some(folder.to_owned()),
        late,
        ..Selection::default()
    };
    let report = run::c(&api, &cases, &tree(), Some(&made), &selection)
        .unwrap_or_else(|error| panic!("{error:#}"));
    (cases, report)
}

fn findings(folder: &Path, id: &str) -> Vec<Finding> {
    let text = fs::read_to_string(folder.join(id)).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a finding a line"))
        .collect()
}

/// The error codes that a case expects of calls of a function.
fn refusals<'a>(case: &'a Case, function: &'a str) -> impl Iterator<Item = String> + 'a {
    case.steps.iter().filter_map(move |step| {
        let Action::Call(call) = &step.action else {
            return None;
        };
        if call.function != function {
            return None;
        }
        match call.answer.as_ref()? {
            Expr::Number(0) => None,
            Expr::Number(code) => Some(code.to_string()),
            Expr::Null => Some("NULL".to_owned()),
            // The codes of the second interface of images and video have names.
            Expr::Name(code) if code.starts_with("HI_ERR_") => Some(code.clone()),
            _ => None,
        }
    })
}

/// What wants the install tree; the step `test` of `cargo xtask ci` leaves it to steps of its own.
mod install_tree {
    use super::*;

    #[test]
    fn the_table_is_clean_or_its_findings_name_the_misuse() {
        let corpus = corpus();
        let folder = tempfile::tempdir().expect("a folder");
        let (cases, report) = run_checked(folder.path(), None, false);
        assert!(report.failures().is_empty(), "{:?}", report.failures());
        let mut unexplained = Vec::new();
        let mut used: BTreeSet<(String, String)> = BTreeSet::new();
        let (mut clean, mut broken, mut named) = (0, 0, 0);
        let passed = |id: &str| {
            let of = report.cases.iter().find(|(case, _)| case == id);
            of.is_some_and(|(_, outcome)| *outcome == Outcome::Passed)
        };
        for case in cases.iter().filter(|case| passed(&case.id)) {
            let shown = corpus.case.iter().find(|shown| shown.id == case.id);
            let (mut errors, mut reported) = (0, 0);
            for finding in findings(folder.path(), &case.id) {
                if corpus.untidy.contains(&finding.rule) {
                    continue;
                }
                reported += 1;
                errors += u64::from(finding.severity == "error");
                let call = finding.lines[0].call.as_deref().unwrap_or("");
                let answers = corpus.answers.get(&finding.rule);
                let known = |answer: &String| answers.is_some_and(|known| known.contains(answer));
                let by_answer: Vec<String> = refusals(case, call).filter(known).collect();
                if !by_answer.is_empty() {
                    let seen = by_answer.into_iter();
                    used.extend(seen.map(|answer| (finding.rule.clone(), answer)));
                } else if shown.is_some_and(|shown| shown.rules.contains(&finding.rule)) {
                    used.insert((case.id.clone(), finding.rule));
                } else {
                    unexplained.push(format!(
                        "{}: {} {call}: {}",
                        case.id, finding.rule, finding.lines[0].text
                    ));
                }
            }
            match case.kind {
                Kind::Works if errors == 0 => clean += 1,
                Kind::Works | Kind::Refused => {
                    broken += 1;
                    named += usize::from(reported > 0);
                }
            }
        }
        println!(
            "checked: {clean} cases without a finding of severity error, {broken} that break a rule, {named} of them reported with it"
        );
        assert!(unexplained.is_empty(), "\n{}", unexplained.join("\n"));
        assert!(clean >= 150, "{clean} clean cases");
        // What is in the list and never seen hides a mistake of tomorrow.
        let mut idle = Vec::new();
        for (rule, answers) in &corpus.answers {
            let unseen = |answer: &&String| !used.contains(&(rule.clone(), (*answer).clone()));
            idle.extend(answers.iter().filter(unseen).map(|a| format!("{rule} {a}")));
        }
        for shown in &corpus.case {
            let unseen = |rule: &&String| !used.contains(&(shown.id.clone(), (*rule).clone()));
            let rules = shown.rules.iter().filter(unseen);
            idle.extend(rules.map(|rule| format!("{} {rule}", shown.id)));
        }
        assert!(idle.is_empty(), "never seen: {}", idle.join(", "));
    }

    #[test]
    fn late_mode_answers_clean_cases_as_ever() {
        let corpus = corpus();
        let folder = tempfile::tempdir().expect("a folder");
        let (_, report) = run_checked(folder.path(), Some("works"), true);
        let failed: BTreeSet<&str> = report.failures().iter().map(|(id, _)| *id).collect();
        let known: BTreeSet<&str> = corpus.late.iter().map(|shown| shown.id.as_str()).collect();
        println!(
            "late: {} cases of the kind \"works\" as ever, {} that look at what is not there yet",
            report.count(|outcome| *outcome == Outcome::Passed),
            known.len()
        );
        assert_eq!(failed, known, "{:?}", report.failures());
    }
}
