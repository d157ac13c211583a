//! What the parts of `cargo xtask` have in common: the repository, commands with a log and a time limit, Python environments.

use std::path::Path;

pub mod processor_time;
pub mod progress;
pub mod python_env;

/// Returns the repository's root folder.
///
/// # Panics
/// The crate was moved to another depth of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .and_then(Path::parent)
        .expect("the manifest lies in <root>/xtask/base")
}
