//! The keys by which tests and data cite documents, against the page that says what each key means.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Problem;
use super::source::Repository;

const PAGE: &str = "docs/sources.md";
const MISUSE: &str = "tests/misuse.toml";
const OPERATORS: &str = "api/aclnn/operators.json";
const DIVERGENCES: &str = "docs/divergences.md";
const OPERATOR_SOURCES: &str = "crates/jumar-eager/src/ops/";
/// How a comment begins that states a convention which no document states.
const UNDOCUMENTED: &str = "Not documented:";
/// What follows a key whose rule no document states.
const INFERRED: &str = "(inferred)";

#[derive(Deserialize)]
struct Cases {
    #[serde(default)]
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    row: String,
}

#[derive(Deserialize)]
struct Operator {
    name: String,
    source: String,
}

/// Each source that a test or the interface's data cites is on the page of sources.
pub fn listed(repository: &Repository) -> Result<Vec<Problem>> {
    let page = repository
        .get(PAGE)
        .with_context(|| format!("{PAGE} is missing"))?;
    let keys = keys(&page.text);
    let misuse = repository
        .get(MISUSE)
        .with_context(|| format!("{MISUSE} is missing"))?;
    let rows: toml::Table = toml::from_str(&misuse.text).context(MISUSE)?;
    let mut problems = Vec::new();
    let mut refuse = |location: &str, source: &str| {
        let text = format!("\"{source}\" is not a key of {PAGE}");
        problems.push(Problem::new(location, text));
    };
    for file in &repository.files {
        let is_toml = file.path.ends_with(".toml");
        if is_toml && file.path.starts_with("tests/behaviour/") {
            let cases: Cases = toml::from_str(&file.text).with_context(|| file.path.clone())?;
            for case in cases.case {
                for row in case.row.split(',').map(str::trim) {
                    if !is_row(row, &keys, &rows) {
                        refuse(&file.path, row);
                    }
                }
            }
        } else if is_toml && file.path.starts_with("api/") {
            let lines = file.text.lines().enumerate();
            let sources =
                lines.filter_map(|(at, line)| Some((at, line.strip_prefix("source = ")?)));
            for (at, source) in sources {
                let source = source.trim().trim_matches('"');
                if !is_source(source, &keys) {
                    refuse(&format!("{}:{}", file.path, at + 1), source);
                }
            }
        } else if file.path == OPERATORS {
            let operators: Vec<Operator> = serde_json::from_str(&file.text).context(OPERATORS)?;
            for operator in operators {
                if !is_source(&operator.source, &keys) {
                    refuse(&format!("{OPERATORS}, {}", operator.name), &operator.source);
                }
            }
        }
    }
    Ok(problems)
}

/// The conventions that no document states are those that the page of divergences lists.
pub fn conventions(repository: &Repository) -> Result<Vec<Problem>> {
    let page = repository
        .get(DIVERGENCES)
        .with_context(|| format!("{DIVERGENCES} is missing"))?;
    let mut listed = first_column(&page.text, "source");
    let mut problems = Vec::new();
    for file in repository.rust() {
        let Some(name) = file.path.strip_prefix(OPERATOR_SOURCES) else {
            continue;
        };
        let is_marked = file.text.contains(UNDOCUMENTED);
        if is_marked && !listed.remove(name) {
            let text = format!("{DIVERGENCES} does not list its convention (`{UNDOCUMENTED}`)");
            problems.push(Problem::new(&file.path, text));
        }
    }
    for name in listed {
        let text = format!("{OPERATOR_SOURCES}{name} has no comment `{UNDOCUMENTED}`");
        problems.push(Problem::new(DIVERGENCES, text));
    }
    Ok(problems)
}

/// Returns the keys of the page of sources.
fn keys(page: &str) -> BTreeSet<String> {
    first_column(page, "key")
}

/// Returns the first column of each table in which it has this title.
fn first_column(page: &str, title: &str) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let mut in_table = false;
    for line in page.lines() {
        let first = line
            .strip_prefix('|')
            .and_then(|rest| rest.split('|').next());
        match first.map(str::trim) {
            None => in_table = false,
            Some(first) if first == title => in_table = true,
            Some(key) if in_table && !key.starts_with("---") => {
                keys.insert(key.to_owned());
            }
            Some(_) => {}
        }
    }
    keys
}

/// Returns whether a test's `row` is a chapter of the page, a row of the misuse tables, or inferred.
fn is_row(row: &str, keys: &BTreeSet<String>, misuse: &toml::Table) -> bool {
    let row = match row.strip_suffix(INFERRED) {
        None => row,
        Some(rest) if rest.trim().is_empty() => return true,
        Some(rest) => rest.trim(),
    };
    let Some((subject, number)) = row.split_once('§') else {
        return misuse.contains_key(row);
    };
    // `§10.3-10.4` is a range of sections: its chapters have to exist.
    number.split('-').all(|end| {
        let chapter = end.split('.').next().unwrap_or(end);
        let is_section = !number.starts_with(end) && !end.contains('.');
        is_section || keys.contains(&format!("{subject}§{chapter}"))
    })
}

/// Returns whether a source is a key, or names a file and then keys.
fn is_source(source: &str, keys: &BTreeSet<String>) -> bool {
    if keys.contains(source) {
        return true;
    }
    let is_file = |name: &str| name.ends_with(".h") && !name.contains(' ');
    let mut parts = source.split([',', ';']).map(str::trim);
    let is_known = |part: &str| {
        let part = part.strip_prefix("and ").unwrap_or(part);
        let (file, key) = match (part.split_once(" in "), part.split_once(" of ")) {
            (Some(pair), _) | (None, Some(pair)) if is_file(pair.0) => pair,
            _ => return keys.contains(part) || is_file(part),
        };
        is_file(file) && keys.contains(key)
    };
    // A file alone says nothing about where it is.
    !is_file(source) && parts.all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::File;

    const TEXT: &str = "# Sources\n\n| key | subject |\n|---|---|\n| §6 | Events |\n| dvpp §14 | Misuse |\n\nWords\n\n\
                        | name | key |\n|---|---|\n| other | x |\n\n| key | what |\n|---|---|\n| runtime@1 | headers |\n| documents | pages |\n";

    fn problems(path: &str, text: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File::new(path, text.to_owned());
        let repository = Repository {
            files: vec![
                file(PAGE, TEXT),
                file(MISUSE, "[92]\nparts = []\n[\"hccl 1\"]\nparts = []\n"),
                file(path, text),
            ],
        };
        let problems = listed(&repository).expect("read").into_iter();
        problems.map(|problem| problem.text).collect()
    }

    #[test]
    fn rows_of_cases_are_chapters_of_the_page_or_rows_of_misuse() {
        for row in [
            "§6",
            "§6.1",
            "dvpp §14.35-37",
            "92",
            "hccl 1",
            "(inferred)",
            "§6.2 (inferred)",
            "§6, 92",
        ] {
            let case = format!("[[case]]\nrow = \"{row}\"\n");
            assert!(
                problems("tests/behaviour/event.toml", &case).is_empty(),
                "{row}"
            );
        }
        for row in [
            "§7",
            "93",
            "hccl §6",
            "§6, §7.1",
            "dvpp §14.1, 35",
            "aclmdlLoad",
            "",
        ] {
            let case = format!("[[case]]\nrow = \"{row}\"\n");
            let found = problems("tests/behaviour/event.toml", &case);
            assert_eq!(found.len(), 1, "{row}: {found:?}");
            assert!(found[0].contains("is not a key of docs/sources.md"));
        }
    }

    #[test]
    fn sources_of_data_are_keys_or_files_and_keys() {
        for source in [
            "documents",
            "acl_rt.h in runtime@1",
            "prof.h, documents",
            "documents, and a.h of runtime@1",
        ] {
            let text = format!("[f]\nsource = \"{source}\"\n");
            assert!(problems("api/event.toml", &text).is_empty(), "{source}");
        }
        for source in [
            "acl_rt.h",
            "acl_rt.h in runtime@2",
            "hearsay",
            "documents, hearsay",
        ] {
            let text = format!("[f]\nsource = \"{source}\"\n");
            assert_eq!(problems("api/event.toml", &text).len(), 1, "{source}");
        }
        let json = r#"[{"name": "aclnnAdd", "source": "documents"}, {"name": "aclnnSub", "source": "hearsay"}]"#;
        assert_eq!(
            problems(OPERATORS, json),
            ["\"hearsay\" is not a key of docs/sources.md"]
        );
    }

    #[test]
    fn a_convention_without_a_document_is_listed_and_no_other() {
        let file = |path: &str, text: &str| File::new(path, text.to_owned());
        let table = "| source | operators |\n|---|---|\n| lora.rs | aclnnAddLora |\n| gone.rs | aclnnGone |\n";
        let repository = Repository {
            files: vec![
                file(
                    "crates/jumar-eager/src/ops/ffn.rs",
                    "// Not documented: the gate.\n",
                ),
                file(
                    "crates/jumar-eager/src/ops/lora.rs",
                    "// Not documented: a row.\n",
                ),
                file("crates/jumar-eager/src/ops/sort.rs", ""),
                file(DIVERGENCES, table),
            ],
        };
        let problems = conventions(&repository).expect("read").into_iter();
        let locations: Vec<String> = problems.map(|problem| problem.location).collect();
        assert_eq!(
            locations,
            ["crates/jumar-eager/src/ops/ffn.rs", DIVERGENCES]
        );
    }
}
