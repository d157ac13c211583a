//! Who may use whom.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::Problem;
use super::source::Repository;

/// The allowed dependencies of the architecture. A crate that is not listed may use anything, and nothing may use it.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("jumar-types", &[]),
    ("jumar-hal", &["jumar-types"]),
    ("jumar-sched", &["jumar-hal", "jumar-types"]),
    ("jumar-cpu", &["jumar-sched", "jumar-hal", "jumar-types"]),
    ("jumar-pixels", &[]),
    ("jumar-ops", &["jumar-pixels", "jumar-types"]),
    ("jumar-eager", &["jumar-ops", "jumar-types"]),
    // Single operators are operators of graphs, too.
    ("jumar-graph", &["jumar-eager", "jumar-ops", "jumar-types"]),
    (
        "jumar-lowering",
        &["jumar-graph", "jumar-ops", "jumar-types"],
    ),
    ("jumar-core", &["jumar-hal", "jumar-types"]),
    ("jumar-diag", &["jumar-core", "jumar-types"]),
    (
        "jumar-model",
        &[
            "jumar-core",
            "jumar-graph",
            "jumar-lowering",
            "jumar-ops",
            "jumar-types",
        ],
    ),
    (
        "jumar",
        &[
            "jumar-core",
            "jumar-model",
            "jumar-diag",
            "jumar-cpu",
            "jumar-types",
        ],
    ),
    // Codecs and image processing, without a runtime.
    ("jumar-dvpp", &["jumar-pixels", "jumar-types"]),
    // Ranks and transports know neither streams nor gates.
    ("jumar-hccl", &["jumar-hal", "jumar-types"]),
    (
        "jumar-acl",
        &[
            "jumar",
            "jumar-dvpp",
            "jumar-eager",
            "jumar-hccl",
            "jumar-types",
        ],
    ),
    // It runs graphs on the streams of the process's one runtime.
    ("jumar-ge", &["jumar-acl", "jumar", "jumar-types"]),
    // Spans are created here, from memory that the program guarantees, and locks come from the one module that names them.
    (
        "jumar-capi",
        &["jumar-acl", "jumar-ge", "jumar-hal", "jumar-types"],
    ),
    // Model files are converted and shown without a runtime.
    ("jumar-cli", &["jumar"]),
    // It reaches the runtime through the shared library alone, so that a process has one runtime.
    ("jumar-py", &[]),
];

/// Crates that may use anything: tests and tools.
const FREE: &[&str] = &["jumar-testkit", "jumar-behaviour", "jumar-bench"];

/// Returns whether a crate is a part of `cargo xtask`. Those use each other, and anything else.
fn is_xtask(name: &str) -> bool {
    name == "xtask" || name.starts_with("xtask-")
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

/// Compares the manifests with the table.
pub fn allowed(_: &Repository) -> Result<Vec<Problem>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(crate::root())
        .stdin(Stdio::null())
        .output()?;
    ensure!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    Ok(compare(&metadata))
}

fn compare(metadata: &Metadata) -> Vec<Problem> {
    let table: BTreeMap<&str, &[&str]> = DEPENDENCIES.iter().copied().collect();
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let allowed = table.get(name);
        let is_free = FREE.contains(&name) || is_xtask(name);
        if allowed.is_none() && !is_free {
            problems.push(Problem::new(
                name,
                "a new crate: give it its line in xtask/tidy/src/dependencies.rs",
            ));
            continue;
        }
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some())
        {
            let for_tests = dependency.kind.as_deref() == Some("dev");
            let target = dependency.name.as_str();
            if target == "jumar-testkit" && (for_tests || is_free)
                || is_xtask(target) && is_xtask(name)
            {
                continue;
            }
            if FREE.contains(&target) || is_xtask(target) {
                problems.push(Problem::new(
                    name,
                    format!("uses {target}, which nothing may use"),
                ));
            } else if !for_tests && allowed.is_some_and(|allowed| !allowed.contains(&target)) {
                problems.push(Problem::new(
                    name,
                    format!("uses {target}; the architecture does not allow it"),
                ));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependency = |(name, kind): &(&str, Option<&str>)| Dependency {
            name: name.to_string(),
            kind: kind.map(String::from),
            path: Some("x".into()),
        };
        Package {
            name: name.into(),
            dependencies: dependencies.iter().map(dependency).collect(),
        }
    }

    #[test]
    fn a_dependency_that_is_not_in_the_table_is_a_problem_unless_only_tests_use_it() {
        let metadata = Metadata {
            packages: vec![
                package("jumar-core", &[("jumar-hal", None), ("jumar-cpu", None)]),
                package(
                    "jumar-model",
                    &[("jumar-cpu", Some("dev")), ("jumar-testkit", Some("dev"))],
                ),
                package("jumar-diag", &[("xtask", None)]),
                package("jumar-bench", &[("xtask-base", None)]),
                package("xtask-gen", &[("xtask-base", None), ("jumar-core", None)]),
                package("jumar-new", &[]),
            ],
        };
        let found: Vec<String> = compare(&metadata)
            .iter()
            .map(|p| format!("{}: {}", p.location, p.text))
            .collect();
        assert_eq!(
            found,
            [
                "jumar-core: uses jumar-cpu; the architecture does not allow it",
                "jumar-diag: uses xtask, which nothing may use",
                "jumar-bench: uses xtask-base, which nothing may use",
                "jumar-new: a new crate: give it its line in xtask/tidy/src/dependencies.rs",
            ]
        );
    }

    #[test]
    fn the_table_has_no_circle() {
        // Each crate uses only crates that stand above it in some order: take away leaves until nothing is left.
        let mut left: Vec<_> = DEPENDENCIES.to_vec();
        while !left.is_empty() {
            let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
            let before = left.len();
            left.retain(|(_, uses)| uses.iter().any(|used| names.contains(used)));
            assert!(left.len() < before, "a circle among {names:?}");
        }
    }
}
