//! The size of the sources: lines by crate and kind, and the limits of `xtask/size.toml`.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;
use xtask_base::{processor_time, root};

use super::Problem;
use super::files::is_generated;
use super::source::{File, Repository};

const LIMITS: &str = "xtask/size.toml";

/// How many lines the workspace may have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    /// Of Rust that people write, without tests.
    product: usize,
    /// Of Rust that `cargo xtask gen` writes.
    generated: usize,
}

/// Lines of Rust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    product: usize,
    generated: usize,
    tests: usize,
}

impl Lines {
    fn total(self) -> usize {
        self.product + self.generated + self.tests
    }

    fn add(&mut self, other: Lines) {
        self.product += other.product;
        self.generated += other.generated;
        self.tests += other.tests;
    }
}

/// Counts a file. A module of unit tests lasts to the end of its file.
fn lines_of(file: &File) -> Lines {
    let all = file.text.lines().count();
    if is_generated(file) {
        return Lines {
            generated: all,
            ..Lines::default()
        };
    }
    let is_test = file.path.contains("/tests/") || file.path.ends_with("/tests.rs");
    let tests = match is_test {
        true => all,
        false => file
            .text
            .lines()
            .position(|line| line == "#[cfg(test)]")
            .map_or(0, |at| all - at),
    };
    Lines {
        product: all - tests,
        generated: 0,
        tests,
    }
}

/// Counts the lines of Rust by crate.
fn by_crate(repository: &Repository) -> BTreeMap<&str, Lines> {
    let mut crates: BTreeMap<&str, Lines> = BTreeMap::new();
    for file in repository.files.iter().filter(|f| f.path.ends_with(".rs")) {
        let mut folders = file.path.split('/');
        let name = match (folders.next(), folders.next()) {
            (Some("crates"), Some(name)) => name,
            (Some(name), _) => name,
            (None, _) => continue,
        };
        crates.entry(name).or_default().add(lines_of(file));
    }
    crates
}

fn total(crates: &BTreeMap<&str, Lines>) -> Lines {
    let mut sum = Lines::default();
    for lines in crates.values() {
        sum.add(*lines);
    }
    sum
}

/// Prints the lines by crate, the sizes of the built libraries, and the processor time of the last runs.
///
/// # Errors
/// The sources cannot be read.
pub fn print() -> Result<()> {
    let repository = Repository::read(root())?;
    let crates = by_crate(&repository);
    let row = |name: &str, of: Lines| {
        println!(
            "{name:<18} {:>9} {:>9} {:>9} {:>9}",
            of.product,
            of.generated,
            of.tests,
            of.total()
        );
    };
    println!("lines of Rust        product generated     tests     total");
    for (name, lines) in &crates {
        row(name, *lines);
    }
    row("all", total(&crates));

    println!();
    for path in [
        "lib64/libascendcl.so",
        "lib64/libjumar_ge.so",
        "lib64/libatb.so",
        "bin/jumar",
        "python/site-packages/acl.so",
    ] {
        match fs::metadata(root().join("target/jumar").join(path)) {
            Ok(of) => println!("{path:<30} {:>8.1} MB", of.len() as f64 / 1e6),
            Err(_) => println!("{path:<30} not built (cargo xtask dist)"),
        }
    }

    println!();
    for command in ["demo", "dist", "ci"] {
        match processor_time::recorded(command) {
            Some(seconds) => {
                println!("{command:<6} {seconds:>8.0} s of processor time in its last run");
            }
            None => println!("{command:<6} has not run in this folder"),
        }
    }
    Ok(())
}

/// The sources stay within the recorded size.
pub fn limits(repository: &Repository) -> Result<Vec<Problem>> {
    let text = repository
        .files
        .iter()
        .find(|file| file.path == LIMITS)
        .map(|file| file.text.as_str())
        .context(LIMITS)?;
    let limits: Limits = toml::from_str(text).context(LIMITS)?;
    let found = total(&by_crate(repository));
    Ok([
        ("product", found.product, limits.product),
        ("generated", found.generated, limits.generated),
    ]
    .into_iter()
    .filter(|(_, found, limit)| found > limit)
    .map(|(kind, found, limit)| {
        Problem::new(
            LIMITS,
            format!(
                "{found} lines of {kind} Rust, and the limit is {limit}; make it smaller, or raise the limit and say why in the commit"
            ),
        )
    })
    .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File::new(path, text.to_owned())
    }

    #[test]
    fn lines_count_by_kind() {
        let product = "a\nb\n#[cfg(test)]\nmod tests {\n}\n";
        let of = |path, text| lines_of(&file(path, text));
        let wanted = |product, generated, tests| Lines {
            product,
            generated,
            tests,
        };
        assert_eq!(of("crates/x/src/a.rs", product), wanted(2, 0, 3));
        assert_eq!(of("crates/x/tests/a.rs", product), wanted(0, 0, 5));
        let generated = "// Generated by `cargo xtask gen` from api/; edits are lost.\nx\n";
        assert_eq!(of("crates/x/src/g.rs", generated), wanted(0, 2, 0));
    }

    #[test]
    fn more_lines_than_the_limit_are_a_problem() {
        let limits_file = file(LIMITS, "product = 2\ngenerated = 0\n");
        let small = Repository {
            files: vec![limits_file, file("crates/x/src/a.rs", "a\nb\n")],
        };
        assert_eq!(limits(&small).unwrap().len(), 0);
        let limits_file = file(LIMITS, "product = 1\ngenerated = 0\n");
        let large = Repository {
            files: vec![limits_file, file("crates/x/src/a.rs", "a\nb\n")],
        };
        assert_eq!(limits(&large).unwrap().len(), 1);
    }
}
