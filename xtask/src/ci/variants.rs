//! Tests that every run leaves out: variants of others, marked with `pytest.mark.long`.

use anyhow::Result;

use super::{Job, Outcome};

/// The folders of such tests.
const FOLDERS: &[&str] = &[
    "tests/ascendc",
    "tests/ge",
    "tests/models",
    "tests/programs",
    "tests/python",
];

/// Runs them, one folder after the other: names of files are unique within a folder.
pub(super) fn run(job: &Job) -> Result<Outcome> {
    let mut summaries = Vec::new();
    for folder in FOLDERS {
        match job.pytest_of(folder, "long")? {
            Outcome::Passed(summary) => summaries.push(format!("{folder}: {summary}")),
            other => return Ok(other),
        }
    }
    Ok(Outcome::Passed(summaries.join("; ")))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn a_test_that_every_run_leaves_out_is_in_a_folder_that_the_step_variants_runs() {
        let mut folders: Vec<String> = Vec::new();
        for entry in walk(&crate::root().join("tests")) {
            let text = fs::read_to_string(&entry).expect("a test");
            if text.contains("pytest.mark.long") {
                let folder = entry.parent().and_then(|folder| {
                    let folder = folder.strip_prefix(crate::root()).ok()?;
                    folder.to_str()
                });
                folders.push(folder.expect("a folder of tests").to_owned());
            }
        }
        folders.sort_unstable();
        folders.dedup();
        assert_eq!(folders, FOLDERS);
    }

    /// Returns the Python files below a folder.
    fn walk(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths
            .flat_map(|path| match path.is_dir() {
                true => walk(&path),
                false => vec![path],
            })
            .filter(|path| path.extension().is_some_and(|end| end == "py"))
            .collect()
    }
}
