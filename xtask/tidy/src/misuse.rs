//! The specification's misuse tables against the cases of the behaviour table.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Problem;
use super::source::Repository;

const TABLE: &str = "tests/misuse.toml";

/// A row of the misuse tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    parts: Vec<(String, Answer)>,
    /// Parts that no case can show, by name, with the file that does.
    #[serde(default)]
    elsewhere: BTreeMap<String, String>,
    /// Parts that nothing shows yet: their functions are not implemented, or the case is still to be written.
    #[serde(default)]
    open: Vec<String>,
}

#[derive(Deserialize, PartialEq)]
#[serde(untagged)]
enum Answer {
    Code(u32),
    /// "none": a neutral value instead of a code.
    Neutral(String),
}

#[derive(Deserialize)]
struct Cases {
    #[serde(default)]
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    row: String,
    steps: String,
}

/// Each misuse that the specification lists is answered by a case of its row as the specification says.
pub fn shown(repository: &Repository) -> Result<Vec<Problem>> {
    let file = repository
        .get(TABLE)
        .with_context(|| format!("{TABLE} is missing"))?;
    let rows: BTreeMap<String, Row> = toml::from_str(&file.text).context(TABLE)?;
    let answers = answers_by_row(repository)?;
    let none = Vec::new();
    let mut problems = Vec::new();
    for (number, row) in &rows {
        let mut unused = answers.get(number).unwrap_or(&none).clone();
        for (part, answer) in &row.parts {
            if let Some(path) = row.elsewhere.get(part) {
                if repository.get(path).is_none() {
                    let text = format!("row {number}, {part}: there is no {path}");
                    problems.push(Problem::new(TABLE, text));
                }
                continue;
            }
            let found = match answer {
                // Whatever is accepted, or answers a value, is judged by the case's other lines.
                Answer::Code(0) | Answer::Neutral(_) => (!unused.is_empty()).then_some(None),
                Answer::Code(code) => unused.iter().position(|other| other == code).map(Some),
            };
            let is_open = row.open.contains(part);
            match found {
                Some(_) if is_open => problems.push(Problem::new(
                    TABLE,
                    format!("row {number}, {part}: a case shows it, so it is not open any more"),
                )),
                None if is_open => {}
                Some(Some(at)) => drop(unused.swap_remove(at)),
                Some(None) => {}
                None => problems.push(Problem::new(
                    TABLE,
                    format!("row {number}, {part}: no case of the row shows it"),
                )),
            }
        }
        for part in row.elsewhere.keys().chain(&row.open) {
            if !row.parts.iter().any(|(other, _)| other == part) {
                let text = format!("row {number} has no part {part}");
                problems.push(Problem::new(TABLE, text));
            }
        }
    }
    Ok(problems)
}

/// Returns the codes that calls return in the cases of each row.
fn answers_by_row(repository: &Repository) -> Result<BTreeMap<String, Vec<u32>>> {
    let mut answers: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let tables = repository.files.iter().filter(|file| {
        file.path.starts_with("tests/behaviour/")
            && file.path.ends_with(".toml")
            && !file.path.ends_with("setups.toml")
    });
    for file in tables {
        let cases: Cases = toml::from_str(&file.text).with_context(|| file.path.clone())?;
        for case in cases.case {
            let codes: Vec<u32> = case
                .steps
                .lines()
                .filter_map(|line| line.rsplit_once("->"))
                .filter_map(|(_, answer)| answer.split(';').next()?.trim().parse().ok())
                .collect();
            for row in case.row.split(',') {
                answers
                    .entry(row.trim().to_string())
                    .or_default()
                    .extend(&codes);
            }
        }
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::File;

    #[test]
    fn a_part_needs_a_line_of_its_own_with_the_code() {
        let case = |steps: &str| format!("[[case]]\nrow = \"3, 4\"\nsteps = '''\n{steps}\n'''\n");
        let repository = Repository {
            files: [
                (
                    TABLE,
                    "[3]\nparts = [[\"a\", 107000], [\"b\", 107000], [\"c\", 0]]\n\
                     [4]\nparts = [[\"d\", 107000], [\"e\", 5], [\"g\", 6]]\n\
                     elsewhere = { e = \"tests/e.c\", f = \"tests/e.c\" }\nopen = [\"d\", \"g\"]\n"
                        .to_string(),
                ),
                ("tests/e.c", String::new()),
                ("tests/behaviour/x.toml", case("f(1) -> 107000\ng() -> 0")),
            ]
            .into_iter()
            .map(|(path, text)| File::new(path, text))
            .collect(),
        };
        let found: Vec<String> = shown(&repository)
            .unwrap()
            .into_iter()
            .map(|problem| problem.text)
            .collect();
        assert_eq!(
            found,
            [
                "row 3, b: no case of the row shows it",
                "row 4, d: a case shows it, so it is not open any more",
                "row 4 has no part f",
            ]
        );
    }
}
