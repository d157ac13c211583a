//! The notes of a version: its section of the changelog, and how to install it.

use anyhow::{Context, Result};

/// Returns the section of a version, without its heading.
///
/// # Errors
/// There is no such section, or nothing is in it.
pub(super) fn section<'a>(changelog: &'a str, version: &str) -> Result<&'a str> {
    let is_of_version = |line: &str| {
        let words = line.strip_prefix("## ")?;
        let first = words.split_whitespace().next()?;
        Some(first.trim_matches(['[', ']']) == version)
    };
    let mut lines = changelog.split_inclusive('\n');
    let mut start = 0;
    let heading = lines.find(|line| {
        start += line.len();
        is_of_version(line) == Some(true)
    });
    heading.with_context(|| {
        format!("CHANGELOG.md has no section `## {version} (date)`; the notes of a release are cut from it")
    })?;
    let rest = &changelog[start..];
    let end = rest.find("\n## ").unwrap_or(rest.len());
    let text = rest[..end].trim();
    (!text.is_empty())
        .then_some(text)
        .with_context(|| format!("the section `## {version}` of CHANGELOG.md is empty"))
}

/// Returns the notes: how to install the files, then what changed.
pub(super) fn text(section: &str, files: &[String]) -> String {
    let mut text = String::from("## Install\n\n");
    for file in files {
        let (command, what) = if file.ends_with(".whl") {
            (
                format!("pip install {file}"),
                "Python, commands, headers and libraries",
            )
        } else if file.ends_with("-runtime.tar.gz") {
            (format!("tar xf {file}"), "what built programs need")
        } else if file.ends_with(".tar.gz") {
            (format!("tar xf {file}"), "the install tree, with headers")
        } else {
            continue;
        };
        text.push_str(&format!("- `{command}`: {what}\n"));
    }
    text.push_str("\n`sha256sum --check SHA256SUMS` compares the files with their checksums; `*.cdx.json` list their parts and licences (CycloneDX).\n\n");
    // One level higher, as a page of its own.
    text.push_str("## Changes\n\n");
    text.push_str(&without_local_links(section));
    text.push('\n');
    text
}

/// Returns a text in which links to files of the repository are the names of these files: the page of a release has no such files.
fn without_local_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, link) = rest.split_at(start);
        plain.push_str(before);
        let parts = link[1..].split_once("](").and_then(|(label, behind)| {
            let (target, behind) = behind.split_once(')')?;
            let is_local = !target.contains("://") && !label.contains(['[', ']']);
            is_local.then_some((label, target, behind))
        });
        match parts {
            Some((label, target, behind)) => {
                if !target.ends_with(label) {
                    plain.push_str(label);
                    plain.push_str(": ");
                }
                plain.push_str(&format!("`{target}`"));
                rest = behind;
            }
            None => {
                plain.push('[');
                rest = &link[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\n## 0.2.0 (2027-01-31)\n\n- New.\n\n### Fixed\n\n- One.\n\n## [0.1.0] - 2026-11-28\n\n- First.\n";

    #[test]
    fn the_notes_are_the_section_of_the_version_and_no_other() {
        assert_eq!(
            section(CHANGELOG, "0.2.0").unwrap(),
            "- New.\n\n### Fixed\n\n- One."
        );
        assert_eq!(section(CHANGELOG, "0.1.0").unwrap(), "- First.");
        let error = section(CHANGELOG, "0.3.0").unwrap_err().to_string();
        assert!(error.contains("0.3.0"), "{error}");
        assert!(section("## 1.0.0\n\n## 0.9.0\n- x\n", "1.0.0").is_err());
    }

    #[test]
    fn links_to_files_of_the_repository_become_names() {
        let text = "- See [check.md](docs/check.md), [the page](docs/a.md#b) and [it](https://x.y/z). a[0] (b)";
        assert_eq!(
            without_local_links(text),
            "- See `docs/check.md`, the page: `docs/a.md#b` and [it](https://x.y/z). a[0] (b)"
        );
    }

    #[test]
    fn the_notes_name_each_file_that_can_be_installed() {
        let files = [
            "jumar-1-x.whl",
            "jumar-1-x-linux.tar.gz",
            "jumar-1-x-linux-runtime.tar.gz",
            "jumar-1.cdx.json",
        ];
        let text = text("- First.", &files.map(str::to_owned));
        for command in [
            "pip install jumar-1-x.whl",
            "tar xf jumar-1-x-linux.tar.gz",
            "tar xf jumar-1-x-linux-runtime.tar.gz",
        ] {
            assert!(text.contains(&format!("`{command}`")), "{text}");
        }
        assert!(text.ends_with("## Changes\n\n- First.\n"), "{text}");
    }
}
