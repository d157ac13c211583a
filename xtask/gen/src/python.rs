//! Writes the pyACL wrappers and their type stubs from `api/pyacl/*.toml`.
//!
//! `data` reads and checks the tables, `wrappers` writes Rust, `stubs` writes `.pyi`. The keys of a table are described in
//! `api/pyacl/README.md`.

mod data;
mod structures;
mod stubs;
mod wrappers;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::model::Api;

const WRAPPERS: &str = "crates/jumar-py/src/raw/generated.rs";
const STUBS: &str = "python/acl-stubs";

/// Writes the files, or with `check` only says which of them are not what the data would give.
pub fn generate(api: &Api, check: bool) -> anyhow::Result<()> {
    let root = repository()?;
    let modules = data::read(&root.join("api/pyacl"))?;
    let mut files = vec![(PathBuf::from(WRAPPERS), wrappers::file(&modules, api)?)];
    for (name, text) in stubs::files(&modules) {
        files.push((Path::new(STUBS).join(name), text));
    }
    let mut stale = Vec::new();
    for (path, text) in files {
        let full = root.join(&path);
        let old = fs::read_to_string(&full).unwrap_or_default();
        if old == text {
            continue;
        }
        if check {
            stale.push(path.display().to_string());
            continue;
        }
        if let Some(folder) = full.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        fs::write(&full, text).with_context(|| format!("cannot write {}", full.display()))?;
    }
    if !stale.is_empty() {
        bail!("not what `cargo xtask gen` writes: {}", stale.join(", "));
    }
    Ok(())
}

/// The nearest folder above the current one that holds the data: cargo runs this program from anywhere in the tree.
fn repository() -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    here.ancestors()
        .find(|folder| folder.join("api/pyacl").is_dir())
        .map(Path::to_path_buf)
        .with_context(|| format!("{} is not inside the repository", here.display()))
}
