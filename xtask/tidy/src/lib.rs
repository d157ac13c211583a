//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//!
//! Each check looks at text or data alone, so all of them together take about a second.

mod boundaries;
mod commits;
mod coverage;
mod dependencies;
mod files;
mod folders;
mod guidance;
mod misuse;
mod names;
mod size;
mod source;
mod sources;
mod vocabulary;

use std::time::Instant;

use anyhow::Result;
use xtask_base::root;

use source::Repository;

/// Something that breaks a rule: where, and what.
pub struct Problem {
    location: String,
    text: String,
}

impl Problem {
    fn new(location: impl Into<String>, text: impl Into<String>) -> Self {
        Problem {
            location: location.into(),
            text: text.into(),
        }
    }
}

type Check = fn(&Repository) -> Result<Vec<Problem>>;

/// Every check, with the sentence that it enforces.
const CHECKS: &[(&str, Check)] = &[
    (
        "a crate uses only the crates that the architecture lets it use",
        dependencies::allowed,
    ),
    (
        "folders of a crate do not depend on each other in circles",
        folders::circles,
    ),
    (
        "only the synchronisation module names locks, atomics, threads and clocks",
        boundaries::synchronisation,
    ),
    ("unsafe code stays in its modules", boundaries::unsafety),
    (
        "no leftovers: todo!, #[ignore], machine paths",
        boundaries::leftovers,
    ),
    (
        "no wildcard arm in matches on kinds of errors",
        boundaries::wildcards,
    ),
    ("no file is longer than 900 lines", files::length),
    ("generated files say so in their first line", files::marks),
    ("every test file is run by something", files::orphans),
    (
        "the root and the crates hold nothing that a program left behind",
        files::strays,
    ),
    (
        "errors.toml lists the kinds of errors, all of them and no other",
        coverage::kinds,
    ),
    (
        "every implemented function has a case that works and one that is refused",
        coverage::behaviour,
    ),
    (
        "each misuse that the specification lists is shown by a case of its row",
        misuse::shown,
    ),
    (
        "each source that a test or the interface's data cites is on docs/sources.md",
        sources::listed,
    ),
    (
        "docs/divergences.md lists the conventions that no document states",
        sources::conventions,
    ),
    (
        "each path that the pages for newcomers name exists",
        guidance::paths,
    ),
    (
        "the page of environment variables names what the sources read",
        coverage::variables,
    ),
    (
        "docs/not-supported.md lists what stays not supported of the runtime",
        coverage::not_supported,
    ),
    (
        "the words that docs/glossary.md bans are used no more often than recorded",
        vocabulary::ratchet,
    ),
    ("types are named by noun phrases", names::noun_phrases),
    (
        "the sources have no more lines than xtask/size.toml allows",
        size::limits,
    ),
    (
        "the subject of a commit has at most 72 characters",
        commits::subjects,
    ),
];

/// Writes the counts of banned words, which may only become smaller.
///
/// # Errors
/// A word is used more often than recorded, or a file cannot be read or written.
pub fn update_vocabulary() -> Result<()> {
    vocabulary::update(&Repository::read(crate::root())?)
}

/// Prints the lines of the sources by crate, the sizes of the libraries, and the processor time of the last builds and runs.
///
/// # Errors
/// The sources cannot be read.
pub fn print_size() -> Result<()> {
    size::print()
}

/// Runs every check. Returns whether all passed.
pub fn run() -> Result<bool> {
    let start = Instant::now();
    let repository = Repository::read(crate::root())?;
    let mut broken = 0;
    for (rule, check) in CHECKS {
        let problems = check(&repository)?;
        if problems.is_empty() {
            continue;
        }
        broken += 1;
        println!("{rule}:");
        for problem in problems {
            println!("  {}: {}", problem.location, problem.text);
        }
    }
    println!(
        "tidy: {} rules, {broken} broken, {} files, {:.1} s",
        CHECKS.len(),
        repository.files.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(broken == 0)
}
