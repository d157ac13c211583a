//! Files as such: their length, their marks, and whether anything runs them.

use std::collections::{HashMap, HashSet};

use anyhow::Result;

use super::Problem;
use super::source::{File, Repository};

/// A longer file wants to be a folder.
const MOST_LINES: usize = 900;

/// Where generated files lie.
const GENERATED: &[&str] = &[
    "crates/jumar-capi/src/generated/",
    "crates/jumar-acl/src/generated/",
    "crates/jumar-eager/src/generated/",
    "include/acl/",
    "include/aclnn/",
    "include/aclnnop/",
    "include/hccl/",
    "include/toolchain/",
    "include/experiment/",
    "include/op_proto/",
    "docs/reference/",
];

/// Folders whose tests `cargo xtask ci` runs with pytest.
const PYTEST_FOLDERS: &[&str] = &[
    "tests/ascendc/",
    "tests/c/",
    "tests/cpp/",
    "tests/ge/",
    "tests/conventions/",
    "tests/diag/",
    "tests/page/",
    "tests/programs/",
    "tests/atb/",
    "tests/python/",
    "tests/models/",
    "tests/onnxruntime/",
    "tests/large/",
    "tests/wheel/",
];

/// No hand-written source is longer than a person reads at a sitting.
pub fn length(repository: &Repository) -> Result<Vec<Problem>> {
    let sources = repository.files.iter().filter(|file| {
        [".rs", ".py", ".c", ".cpp", ".h", ".hpp", ".sh", ".md"]
            .iter()
            .any(|end| file.path.ends_with(end))
            && !is_generated(file)
    });
    Ok(sources
        .filter(|file| file.text.lines().count() > MOST_LINES)
        .map(|file| {
            Problem::new(
                &file.path,
                format!("{} lines; make it a folder", file.text.lines().count()),
            )
        })
        .collect())
}

/// Returns whether a file's first line states that it is generated.
pub fn is_generated(file: &File) -> bool {
    let first = file.text.lines().next().unwrap_or("").to_lowercase();
    ["generated", "written by"]
        .iter()
        .any(|who| first.contains(who))
        && ["do not edit", "edits are lost"]
            .iter()
            .any(|warning| first.contains(warning))
}

/// What lies where generated files lie says that it is generated.
pub fn marks(repository: &Repository) -> Result<Vec<Problem>> {
    let generated = repository.files.iter().filter(|file| {
        GENERATED.iter().any(|folder| file.path.starts_with(folder)) || file.path.ends_with(".pyi")
    });
    Ok(generated
        .filter(|file| !is_generated(file))
        .map(|file| {
            Problem::new(
                &file.path,
                "its first line does not say that it is generated and by what",
            )
        })
        .collect())
}

/// What may lie in the root: anything else is what a program left behind.
const ROOT: &[&str] = &[
    ".cargo",
    ".ci",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "action.yml",
    "api",
    "ascendc",
    "benches",
    "cmake",
    "crates",
    "deny.toml",
    "docs",
    "examples",
    "include",
    "plugins",
    "python",
    "tests",
    "xtask",
];

/// What may lie in a crate.
const CRATE: &[&str] = &[
    "Cargo.toml",
    "benches",
    "build.rs",
    "cases",
    "cpp",
    "examples",
    "profiles",
    "rules.toml",
    "src",
    "tests",
];

/// The root and the crates hold what they are known to hold: what programs leave in the folder they run in stays out.
pub fn strays(repository: &Repository) -> Result<Vec<Problem>> {
    let problems = repository.files.iter().filter_map(|file| {
        let mut parts = file.path.split('/');
        let first = parts.next().unwrap_or("");
        if !ROOT.contains(&first) {
            return Some(Problem::new(
                &file.path,
                format!("{first} is not among what the root holds: left by a program?"),
            ));
        }
        let inside = parts.nth(1)?;
        (first == "crates" && !CRATE.contains(&inside)).then(|| {
            Problem::new(
                &file.path,
                format!("{inside} is not among what a crate holds: left by a program?"),
            )
        })
    });
    Ok(problems.collect())
}

/// Every test is run, and every program among the tests is compiled by one.
pub fn orphans(repository: &Repository) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mentions = Mentions::of(repository);
    for file in repository
        .files
        .iter()
        .filter(|file| file.path.starts_with("tests/"))
    {
        let name = file.path.rsplit('/').next().unwrap_or("");
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let folder = &file.path[..file.path.len() - name.len()];
        let by_pytest = PYTEST_FOLDERS
            .iter()
            .any(|root| file.path.starts_with(root));
        let run = match name.rsplit_once('.').map(|(_, end)| end) {
            Some("py") if stem.starts_with("test_") => by_pytest,
            Some("py") => {
                stem == "conftest" && by_pytest
                    || mentions.contain(file, stem)
                    || swept(repository, folder, name)
            }
            Some("c" | "cpp" | "cc" | "h" | "asc") => {
                mentions.contain(file, name) || swept(repository, folder, name)
            }
            Some("rs") => mentions.contain(file, name),
            _ => true,
        };
        if !run {
            problems.push(Problem::new(&file.path, "nothing runs it"));
        }
    }
    // A crate's tests/*.rs are found by cargo; deeper files have to be modules of one.
    let deep = repository.rust().filter(|file| {
        file.path.starts_with("crates/")
            && file
                .path
                .split_once("/tests/")
                .is_some_and(|(_, rest)| rest.contains('/'))
    });
    for file in deep {
        let name = file.path.rsplit('/').next().unwrap_or("");
        let stem = if name == "mod.rs" {
            file.path.rsplit('/').nth(1).unwrap_or("")
        } else {
            name.trim_end_matches(".rs")
        };
        let declared = repository
            .rust()
            .any(|other| other.code.contains(&format!("mod {stem};")));
        if stem != "main" && !declared {
            problems.push(Problem::new(&file.path, "no test names it as a module"));
        }
    }
    Ok(problems)
}

/// The words of tests and tools, and the files that have each.
struct Mentions<'a> {
    by_word: HashMap<&'a str, Vec<&'a File>>,
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

impl<'a> Mentions<'a> {
    fn of(repository: &'a Repository) -> Mentions<'a> {
        let readers = repository.files.iter().filter(|file| {
            [".py", ".rs", ".toml", ".c", ".cpp", ".asc", ".h", ".sh"]
                .iter()
                .any(|end| file.path.ends_with(end))
                && ["tests/", "crates/", "xtask/"]
                    .iter()
                    .any(|root| file.path.starts_with(root))
        });
        let mut by_word: HashMap<&str, Vec<&File>> = HashMap::new();
        for file in readers {
            let words: HashSet<&str> = file.text.split(|c| !is_word(c)).collect();
            for word in words {
                by_word.entry(word).or_default().push(file);
            }
        }
        Mentions { by_word }
    }

    /// Returns whether another test or tool names the file.
    fn contain(&self, file: &File, name: &str) -> bool {
        // Most files do not have the first word of the name, and need not be searched for all of it.
        let first = name.split(|c| !is_word(c)).next().unwrap_or(name);
        let readers = self.by_word.get(first).into_iter().flatten();
        readers
            .filter(|other| other.path != file.path)
            .any(|other| {
                other.text.match_indices(name).any(|(at, _)| {
                    !other.text[..at].ends_with(is_word)
                        && !other.text[at + name.len()..].starts_with(is_word)
                })
            })
    }
}

/// Returns whether a test takes every file of a kind: `glob("*.c")` beside the files, or in a folder above and naming theirs.
fn swept(repository: &Repository, folder: &str, name: &str) -> bool {
    let Some((_, end)) = name.rsplit_once('.') else {
        return false;
    };
    let pattern = format!("glob(\"*.{end}\")");
    let own_name = format!(
        "\"{}\"",
        folder
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or("")
    );
    let python = repository.files.iter();
    let mut python = python.filter(|file| file.path.ends_with(".py"));
    python.any(|other| {
        let beside = other
            .path
            .rsplit_once('/')
            .is_some_and(|(above, _)| format!("{above}/") == folder);
        let above = other
            .path
            .rsplit_once('/')
            .is_some_and(|(above, _)| folder.starts_with(&format!("{above}/")));
        other.text.contains(&pattern) && (beside || above && other.text.contains(&own_name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(files: &[(&str, &str)]) -> Repository {
        Repository {
            files: files
                .iter()
                .map(|(path, text)| File::new(path, text.to_string()))
                .collect(),
        }
    }

    fn locations(problems: &[Problem]) -> Vec<&str> {
        problems
            .iter()
            .map(|problem| problem.location.as_str())
            .collect()
    }

    #[test]
    fn a_test_that_nothing_runs_is_found() {
        let repository = repository(&[
            ("tests/python/test_a.py", "import shared"),
            ("tests/python/shared.py", ""),
            ("tests/python/forgotten.py", ""),
            ("tests/elsewhere/test_b.py", ""),
            ("tests/c/test_c.py", "compile('one.c')"),
            ("tests/c/one.c", ""),
            ("tests/c/two.c", ""),
            ("tests/conventions/test_all.py", "folder.glob(\"*.c\")"),
            ("tests/conventions/three.c", ""),
            (
                "tests/programs/test_p.py",
                "(HERE / \"small\").glob(\"*.c\")",
            ),
            ("tests/programs/small/four.c", ""),
        ]);
        let problems = orphans(&repository).unwrap();
        assert_eq!(
            locations(&problems),
            [
                "tests/python/forgotten.py",
                "tests/elsewhere/test_b.py",
                "tests/c/two.c"
            ]
        );
    }

    #[test]
    fn long_files_are_found_unless_a_program_wrote_them() {
        let long = "\n".repeat(MOST_LINES + 1);
        let generated = format!("// Generated by x; do not edit.\n{long}");
        let repository = repository(&[("a.rs", &long), ("b.rs", &generated)]);
        assert_eq!(locations(&length(&repository).unwrap()), ["a.rs"]);
    }

    #[test]
    fn what_programs_leave_behind_is_found() {
        let repository = repository(&[
            ("README.md", ""),
            ("PROF_000001/host/info.json", ""),
            ("crates/jumar-acl/src/lib.rs", ""),
            ("crates/jumar-acl/dumps/0", ""),
        ]);
        assert_eq!(
            locations(&strays(&repository).unwrap()),
            ["PROF_000001/host/info.json", "crates/jumar-acl/dumps/0"]
        );
    }
}
