//! The subjects of commits.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Problem;
use super::source::Repository;

/// A longer subject is cut by most tools that show it.
const MOST_CHARACTERS: usize = 72;

/// The file whose commit introduced the check. Earlier commits are not checked.
const INTRODUCED_WITH: &str = "xtask/vocabulary.tsv";

/// Commits with a longer subject that others have built on, so that they cannot be reworded.
const ACCEPTED: &[&str] = &[
    "4a167718827de913f55e5ec98d70a02a9f3aa5d1",
    "ebd8ed5daa8e7965b4ea9736788018f7e6ed71c0",
];

/// A commit's subject has at most 72 characters.
pub fn subjects(_: &Repository) -> Result<Vec<Problem>> {
    let introduced = git(&[
        "log",
        "--diff-filter=A",
        "--format=%H",
        "--",
        INTRODUCED_WITH,
    ])?;
    let Some(first) = introduced.lines().last() else {
        // The commit that introduces the check is still to be made.
        return Ok(Vec::new());
    };
    let log = git(&["log", "--format=%H %s", &format!("{first}..HEAD")])?;
    Ok(too_long(&log))
}

fn too_long(log: &str) -> Vec<Problem> {
    let commits = log.lines().filter_map(|line| line.split_once(' '));
    commits
        .filter(|(hash, _)| !ACCEPTED.contains(hash))
        .filter(|(_, subject)| subject.chars().count() > MOST_CHARACTERS)
        .map(|(hash, subject)| {
            Problem::new(
                format!("commit {}", &hash[..hash.len().min(12)]),
                format!(
                    "the subject has {} characters, at most {MOST_CHARACTERS} are allowed; move details into the body: {subject}",
                    subject.chars().count()
                ),
            )
        })
        .collect()
}

fn git(arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(crate::root())
        .stdin(Stdio::null())
        .output()
        .context("running git")?;
    ensure!(
        output.status.success(),
        "git {} failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let subject = |count: usize| format!("0123456789abcdef {}", "é".repeat(count));
        assert!(too_long(&subject(72)).is_empty());
        let problems = too_long(&subject(73));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].location, "commit 0123456789ab");
        assert!(
            problems[0].text.contains("73 characters"),
            "{}",
            problems[0].text
        );
    }
}
