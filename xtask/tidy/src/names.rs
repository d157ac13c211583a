//! Names of types: noun phrases.

use anyhow::Result;

use super::Problem;
use super::source::Repository;

/// Words that say nothing of what a value is: participles, and parts of sentences.
const BANNED: &[&str] = &[
    "Laid", "Lent", "Made", "Met", "Outside", "Pages", "Ran", "Seen", "Then", "Touch", "Use",
    "Ways",
];

/// How many types are still named by one participle that ends in "ed". The number may only become smaller.
const MOST_PARTICIPLES: usize = 155;

/// Lists the types that a file defines.
fn types(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let mut words = line
            .split_whitespace()
            .skip_while(|word| word.starts_with("pub"));
        let word = words.next()?;
        if !matches!(word, "struct" | "enum" | "trait" | "type") {
            return None;
        }
        let name = words.next()?;
        let end = name
            .find(|letter: char| !letter.is_ascii_alphanumeric())
            .unwrap_or(name.len());
        Some(&name[..end])
    })
}

/// Whether a name is one participle: a capital, small letters, and "ed" at the end.
fn is_participle(name: &str) -> bool {
    name.ends_with("ed")
        && name
            .chars()
            .skip(1)
            .all(|letter| letter.is_ascii_lowercase())
}

/// A type is named by a noun phrase.
pub fn noun_phrases(repository: &Repository) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut participles = Vec::new();
    for file in repository.files.iter().filter(|f| f.path.ends_with(".rs")) {
        for name in types(&file.code) {
            if BANNED.contains(&name) {
                problems.push(Problem::new(
                    &file.path,
                    format!("the type {name} has no noun in its name; say what it is"),
                ));
            } else if is_participle(name) {
                participles.push(format!("{name} ({})", file.path));
            }
        }
    }
    if participles.len() > MOST_PARTICIPLES {
        problems.push(Problem::new(
            "xtask/tidy/src/names.rs",
            format!(
                "{} types are named by a participle, and MOST_PARTICIPLES is {MOST_PARTICIPLES}; name new ones by a noun: {}",
                participles.len(),
                participles.join(", ")
            ),
        ));
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_types_are_found() {
        let code = "pub(crate) struct Lent<'a> {\nenum Kind {}\n    type Output = u8;\nlet structure = 1;\npub trait Seen: Sized {\n";
        let found: Vec<&str> = types(code).collect();
        assert_eq!(found, ["Lent", "Kind", "Output", "Seen"]);
    }

    #[test]
    fn one_word_that_ends_in_ed_is_a_participle() {
        assert!(is_participle("Parked"));
        assert!(!is_participle("ParkedWorker"));
        assert!(!is_participle("Worker"));
    }
}
