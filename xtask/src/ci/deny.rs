//! Licences, bans and sources of the dependencies, as deny.toml says; and cargo-deny itself for the advisories.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::steps::cargo;
use super::{Job, Outcome};
use crate::progress;

#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<BannedPackage>,
}

#[derive(Deserialize)]
struct BannedPackage {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

/// Checks every package of the lock file, without the network.
pub(super) fn run(job: &Job) -> Result<Outcome> {
    let rules: Rules = toml::from_str(&fs::read_to_string(crate::root().join("deny.toml"))?)
        .context("deny.toml")?;
    let output = cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--all-features",
    ])
    .stdin(Stdio::null())
    .stderr(Stdio::null())
    .output()?;
    if !output.status.success() {
        bail!("cargo metadata failed; does Cargo.lock fit the manifests?");
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let problems: Vec<String> = metadata
        .packages
        .iter()
        .filter_map(|package| problem(package, &rules))
        .collect();
    fs::write(&job.log, problems.join("\n"))?;
    Ok(match problems.len() {
        0 => Outcome::Passed(format!("{} packages", metadata.packages.len())),
        n => Outcome::Failed(format!("{n} packages break a rule of deny.toml")),
    })
}

fn problem(package: &Package, rules: &Rules) -> Option<String> {
    let who = format!("{} {}", package.name, package.version);
    if rules
        .bans
        .deny
        .iter()
        .any(|banned| banned.name == package.name)
    {
        return Some(format!("{who}: banned"));
    }
    let allowed = |source: &String| {
        rules
            .sources
            .allow_registry
            .iter()
            .any(|registry| *source == format!("registry+{registry}"))
    };
    if let Some(source) = package.source.as_ref().filter(|source| !allowed(source)) {
        return Some(format!("{who}: comes from {source}"));
    }
    match &package.license {
        None => Some(format!("{who}: names no licence")),
        Some(license) if accepts(license, &rules.licenses.allow) => None,
        Some(license) => Some(format!("{who}: licence {license} is not on the list")),
    }
}

/// Returns whether an SPDX expression can be met with the allowed licences alone.
fn accepts(expression: &str, allowed: &[String]) -> bool {
    // The slash is how old manifests write OR.
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = any_of(&words, &mut at, allowed);
    met && at == words.len()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all_of(words, at, allowed);
    }
    met
}

fn all_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(&word) = words.get(*at) else {
        return false;
    };
    *at += 1;
    if word == "(" {
        let met = any_of(words, at, allowed);
        if words.get(*at) != Some(&")") {
            return false;
        }
        *at += 1;
        return met;
    }
    let mut name = word.to_string();
    if words.get(*at) == Some(&"WITH") {
        name += &format!(" WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
    }
    allowed.contains(&name)
}

/// Runs cargo-deny, and installs it first where it is missing.
pub(super) fn advisories(job: &Job) -> Result<Outcome> {
    if !installed() {
        let mut install = cargo(&["install", "--locked", "cargo-deny"]);
        let ended = progress::run_logged(
            "installing cargo-deny",
            &mut install,
            &job.log,
            Duration::from_secs(1800),
        )?;
        if let Some(problem) = ended.problem() {
            return Ok(Outcome::Skipped(format!(
                "cargo-deny cannot be installed here ({problem})"
            )));
        }
    }
    let outcome = job.simple(&mut cargo(&["deny", "--all-features", "check"]))?;
    // A machine without a way to the database learns nothing about advisories; the rest was checked by `deny`.
    let unreachable = "failed to fetch advisory database";
    let output = fs::read_to_string(&job.log).unwrap_or_default();
    match outcome {
        Outcome::Failed(_) if output.contains(unreachable) => Ok(Outcome::Skipped(
            "the advisory database cannot be reached from this machine".to_owned(),
        )),
        outcome => Ok(outcome),
    }
}

fn installed() -> bool {
    let version = Command::new("cargo")
        .args(["deny", "--version"])
        .stdin(Stdio::null())
        .output();
    version.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions_are_judged_by_their_logic() {
        let allowed = [
            "MIT",
            "Apache-2.0",
            "Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ]
        .map(String::from);
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(accepts(good, &allowed), "{good}");
        }
        for bad in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT",
            "",
            "MPL-2.0 WITH x",
            "MIT MIT",
        ] {
            assert!(!accepts(bad, &allowed), "{bad}");
        }
    }
}
