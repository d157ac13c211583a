//! The public tools that the compiler calls, and where they are found: beside the Triton that called it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The programs and libraries of a Python environment.
pub struct Tools {
    /// The interpreter that can load `library`.
    pub python: PathBuf,
    /// Triton's library, `libtriton.so`.
    pub library: PathBuf,
    /// MLIR's passes: `bishengir-opt`.
    pub passes: PathBuf,
}

const PASSES: &str = "ascendnpuir/bin/bishengir-opt";

/// Returns the process that started a process.
fn parent_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok().filter(|parent| *parent > 1)
}

/// Returns a process's interpreter and its copy of Triton's library.
fn triton_of(process: u32) -> Option<(PathBuf, PathBuf)> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    let library = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .find(|path| path.ends_with("/triton/_C/libtriton.so"))?;
    let python = fs::read_link(format!("/proc/{process}/exe")).ok()?;
    Some((python, library.into()))
}

/// Finds the Triton of a process that is an ancestor of this one.
fn of_ancestors() -> Option<(PathBuf, PathBuf)> {
    let mut process = std::process::id();
    for _ in 0..4 {
        process = parent_of(process)?;
        if let Some(found) = triton_of(process) {
            return Some(found);
        }
    }
    None
}

/// Returns the interpreter and the library of a folder of packages, `lib/python3.11/site-packages`.
fn of_packages(packages: &Path) -> Result<(PathBuf, PathBuf)> {
    let library = packages.join("triton/_C/libtriton.so");
    if !library.exists() {
        bail!(
            "{} is missing; install it: pip install --no-deps triton-ascend==3.2.0",
            library.display()
        );
    }
    let python = packages
        .ancestors()
        .nth(3)
        .map(|root| root.join("bin/python"));
    let python = python.filter(|path| path.exists());
    let python =
        python.with_context(|| format!("no interpreter belongs to {}", packages.display()))?;
    Ok((python, library))
}

impl Tools {
    /// Finds the tools: those of the Triton that called, or of a folder of packages.
    ///
    /// # Errors
    /// A package is missing; the text has the command that installs it.
    pub fn find(packages: Option<&Path>) -> Result<Tools> {
        let (python, library) = match packages {
            Some(packages) => of_packages(packages)?,
            None => of_ancestors().context(
                "no Triton has called this program, and no option --packages=<site-packages> names one",
            )?,
        };
        let site = library
            .ancestors()
            .nth(3)
            .context("Triton's library lies in no package")?;
        let beside = site.join(PASSES);
        let passes = if beside.exists() {
            beside
        } else {
            in_path("bishengir-opt").with_context(|| {
                format!(
                    "{} is missing, and no bishengir-opt is in PATH; install it: pip install --no-deps ascendnpu-ir==1.2.0",
                    beside.display()
                )
            })?
        };
        Ok(Tools {
            python,
            library,
            passes,
        })
    }
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
