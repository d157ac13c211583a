//! `cargo xtask gen`: writes what follows from the API data.
//!
//! `api/*.toml` is the one source of the C headers, the shims, the Rust types and codes, the Python module and the
//! reference pages. Each part has a file here that turns an [`model::Api`] into texts; this file writes or compares them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use xtask_base::root;

mod aclnn;
mod behaviour;
pub mod check;
mod ge;
mod ge_calls;
mod headers;
mod model;
mod pages;
mod profiles;
mod python;
mod rules;
mod rust;
mod shims;

/// Folders in which every file is generated: files that are no longer written are removed.
const OWNED: &[&str] = &[
    "crates/jumar-capi/src/generated",
    "crates/jumar-acl/src/generated",
    "crates/jumar-behaviour/src/generated",
    "crates/jumar-eager/src/generated",
    "docs/reference",
    "include/aclnnop",
    "include/aclnnop/level2",
    "include/op_proto",
    "docs/rules",
];

/// Writes the generated files, or with `check` compares them with what is there.
///
/// # Errors
/// The data is wrong, a file cannot be written or, with `check`, a file differs.
pub fn run(check: bool) -> Result<()> {
    let root = root();
    let api = model::Api::load(root)?;
    let files = everything(root, &api)?;
    let stale = stale(root, &files)?;
    if check {
        let differing: Vec<String> = files
            .iter()
            .filter(|(path, text)| fs::read_to_string(root.join(path)).ok().as_ref() != Some(text))
            .map(|(path, _)| path.display().to_string())
            .chain(
                stale
                    .iter()
                    .map(|path| format!("{} (nothing generates it)", path.display())),
            )
            .collect();
        ensure!(
            differing.is_empty(),
            "{} generated files are out of date; run `cargo xtask gen`:\n  {}",
            differing.len(),
            differing.join("\n  ")
        );
        python::generate(&api, true)?;
        println!("gen: {} generated files are up to date", files.len());
        return Ok(());
    }
    let mut written = 0;
    for (path, text) in &files {
        written += usize::from(write(&root.join(path), text)?);
    }
    for path in &stale {
        fs::remove_file(root.join(path)).with_context(|| format!("removing {}", path.display()))?;
    }
    python::generate(&api, false)?;
    write_coverage(&root.join("target"))?;
    let stubs = api.functions().filter(|(_, f)| f.stub).count();
    let all = api.functions().count();
    println!(
        "gen: {} files, {written} changed; {} of {all} functions are implemented",
        files.len(),
        all - stubs
    );
    Ok(())
}

/// Writes the pages about all modules: which functions are implemented, and what each refuses. They go to `docs/`
/// below `tree`, an install tree or `target`.
///
/// # Errors
/// The data is wrong, or a page cannot be written.
pub fn write_coverage(tree: &Path) -> Result<()> {
    let root = root();
    let api = model::Api::load(root)?;
    let operators = fs::read_to_string(root.join("docs/graph-engine-operators.md"))?;
    let single = aclnn::coverage(&aclnn::Aclnn::load(root)?);
    write(
        &tree.join("docs/coverage.md"),
        &format!("{}\n{single}\n{operators}", pages::coverage(&api)),
    )?;
    write(
        &tree.join("docs/refusals.md"),
        &pages::refusals(root, &api)?,
    )?;
    Ok(())
}

/// Makes every generated file: its path below the root, and its text.
fn everything(root: &Path, api: &model::Api) -> Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    headers::write(root, api, &mut files)?;
    rust::write(api, &mut files)?;
    shims::write(api, &mut files)?;
    behaviour::write(api, &mut files)?;
    pages::write(api, &mut files);
    ge::write(root, &mut files)?;
    aclnn::write(root, &mut files)?;
    ge_calls::write(root, &mut files)?;
    rules::write(root, &mut files)?;
    profiles::write(root, &mut files)?;
    format_rust(root, &mut files)?;
    Ok(files)
}

fn stale(root: &Path, files: &[(PathBuf, String)]) -> Result<Vec<PathBuf>> {
    let known: BTreeSet<&PathBuf> = files.iter().map(|(path, _)| path).collect();
    let mut stale = Vec::new();
    for folder in OWNED {
        let Ok(entries) = fs::read_dir(root.join(folder)) else {
            continue;
        };
        for entry in entries {
            let entry = entry?;
            let path = Path::new(folder).join(entry.file_name());
            if !known.contains(&path) && !entry.file_type()?.is_dir() {
                stale.push(path);
            }
        }
    }
    stale.sort();
    Ok(stale)
}

/// Writes a file unless it says the same already, so that builds are not disturbed.
fn write(path: &Path, text: &str) -> Result<bool> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(true)
}

/// Formats the Rust texts, so that `cargo fmt --check` finds nothing in them.
fn format_rust(root: &Path, files: &mut [(PathBuf, String)]) -> Result<()> {
    for (path, text) in files
        .iter_mut()
        .filter(|(path, _)| path.extension().is_some_and(|e| e == "rs"))
    {
        let mut child = Command::new("rustfmt")
            .args(["--edition", "2024", "--emit", "stdout", "--quiet"])
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("starting rustfmt; is the rustfmt component installed?")?;
        let mut stdin = child.stdin.take().context("rustfmt has no input")?;
        let input = std::mem::take(text);
        let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()).map(|()| input));
        let output = child.wait_with_output()?;
        let input = feeder
            .join()
            .map_err(|_| anyhow::anyhow!("feeding rustfmt failed"))??;
        if !output.status.success() {
            bail!(
                "rustfmt refuses {}:\n{}\n{input}",
                path.display(),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        *text = String::from_utf8(output.stdout)?;
    }
    Ok(())
}
