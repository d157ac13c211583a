//! Drives the behaviour table (`tests/behaviour/*.toml`) through the frontends of an install tree.
//!
//! The table has the calls of a program and their expected results, in a small language of its own. This crate reads it
//! ([`table`], [`language`]), checks it against the API data ([`api`]), writes a C program and a plan for a Python
//! runner from it ([`c`], [`python`]), runs both against a tree ([`run`]), and reports which functions and rows the
//! table covers ([`coverage`]). It looks at the library only from outside: nothing of Jumar is linked here.

#![forbid(unsafe_code)]

pub mod api;
pub mod c;
pub mod coverage;
pub mod language;
pub mod models;
pub mod python;
pub mod run;
pub mod table;
pub mod zero;

use std::path::{Path, PathBuf};

/// Returns the install tree under test: what `JUMAR_PREFIX` names, or `target/jumar`.
pub fn tree() -> PathBuf {
    match std::env::var_os("JUMAR_PREFIX") {
        Some(tree) => root().join(tree),
        None => root().join("target/jumar"),
    }
}

/// Returns the repository's root folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the manifest lies in <root>/crates/jumar-testkit")
        .to_path_buf()
}
