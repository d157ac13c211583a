//! The paths that the pages for newcomers name.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::Problem;
use super::source::Repository;

const PAGES: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md"];

/// Each path in the pages for newcomers exists: from the root, or as the end of a path.
pub fn paths(repository: &Repository) -> Result<Vec<Problem>> {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for file in &repository.files {
        // The file and each folder above it, from the root and from each folder below.
        let mut end = file.path.len();
        loop {
            let path = &file.path[..end];
            known.insert(path);
            known.extend(path.match_indices('/').map(|(at, _)| &path[at + 1..]));
            match path.rfind('/') {
                Some(at) => end = at,
                None => break,
            }
        }
    }
    let mut problems = Vec::new();
    for page in PAGES {
        let file = repository
            .get(page)
            .with_context(|| format!("{page} is missing"))?;
        for (at, line) in file.text.lines().enumerate() {
            // Every second part of a line lies between backquotes.
            for word in line.split('`').skip(1).step_by(2) {
                for path in alternatives(word) {
                    if is_path(&path) && !known.contains(path.trim_end_matches('/')) {
                        let text = format!("there is no {path}");
                        problems.push(Problem::new(format!("{page}:{}", at + 1), text));
                    }
                }
            }
        }
    }
    Ok(problems)
}

/// Returns whether a word is a path of the repository: with a slash, and without blanks, placeholders and options.
fn is_path(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    word.trim_end_matches('/').contains('/')
        && word.chars().all(is_part)
        && !word.starts_with(['/', '-', '.'])
        && !word.starts_with("target/")
}

/// Returns the paths for which `a/{b,c}.rs` stands.
fn alternatives(word: &str) -> Vec<String> {
    let parts = word
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        None => vec![word.to_owned()],
        Some((before, (names, after))) => names
            .split(',')
            .flat_map(|name| alternatives(&format!("{before}{}{after}", name.trim())))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::File;

    fn problems(text: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File::new(path, text.to_owned());
        let repository = Repository {
            files: vec![
                file("ARCHITECTURE.md", ""),
                file("CONTRIBUTING.md", text),
                file("crates/jumar-core/src/event/mod.rs", ""),
                file("tests/README.md", ""),
            ],
        };
        let problems = paths(&repository).expect("read").into_iter();
        problems.map(|problem| problem.text).collect()
    }

    #[test]
    fn paths_that_exist_and_words_that_are_no_paths_are_accepted() {
        for text in [
            "see `crates/jumar-core/src/event/mod.rs`",
            "`crates/jumar-core/src/`, `src/event/`, `event/mod.rs`",
            "`crates/jumar-{core}/src/event/{mod}.rs`",
            "`crates/<name>/src`, `cargo run -- a/b`, `target/jumar/lib`, `/proc/self`, `./a/b`, `event.rs`",
        ] {
            assert!(problems(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn paths_that_do_not_exist_are_refused() {
        assert_eq!(
            problems("`event/gone.rs` and `event/{mod,old}.rs`"),
            ["there is no event/gone.rs", "there is no event/old.rs"]
        );
    }
}
