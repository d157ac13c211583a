//! Names of types: noun phrases.

use anyhow::Result;

use super::Problem;
use super::source::Repository;

/// Words that say nothing of what a value is: participles, and parts of sentences.
const BANNED: &[&str] = &[
    "Laid", "Lent", "Made", "Met", "Outside", "Pages", "Ran", "Seen", "Then", "Touch", "Use",
    "Ways",
];

/// Words that end in "ed" and are names of their own: a noun, and the trait that keeps others from implementing a trait.
const NO_PARTICIPLES: &[&str] = &["Seed", "Sealed"];

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
    !NO_PARTICIPLES.contains(&name)
        && name.ends_with("ed")
        && name
            .chars()
            .skip(1)
            .all(|letter| letter.is_ascii_lowercase())
}

/// A type is named by a noun phrase.
pub fn noun_phrases(repository: &Repository) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for file in repository.files.iter().filter(|f| f.path.ends_with(".rs")) {
        for name in types(&file.code) {
            if BANNED.contains(&name) || is_participle(name) {
                problems.push(Problem::new(
                    &file.path,
                    format!("the type {name} has no noun in its name; say what it is"),
                ));
            }
        }
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
        assert!(!is_participle("Seed"));
    }
}
