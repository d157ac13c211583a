//! What lets PyTorch's adapter load: a small library, called by `python/jumar_torch.py`, and the file that makes Python import that
//! module.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::filter::tool;
use crate::platform::Platform;

/// The library, below the root of a tree.
pub(crate) const FILE: &str = "tools/torch/liballocator_keys.so";
const SOURCE: &str = "plugins/torch/allocator_keys.cpp";

/// Builds the library in `folder`. Returns its path.
///
/// # Errors
/// There is no C++ compiler, or it refuses the source.
pub(crate) fn build(root: &Path, folder: &Path, platform: Platform) -> Result<PathBuf> {
    let library = folder.join("liballocator_keys.so");
    tool(
        "c++",
        Command::new(platform.cxx())
            .args(platform.cxx_options())
            .args([
                "-std=c++17",
                "-O2",
                "-fPIC",
                "-shared",
                "-s",
                "-Wall",
                "-Wextra",
            ])
            .arg(root.join(SOURCE))
            .arg("-o")
            .arg(&library),
    )?;
    Ok(library)
}
