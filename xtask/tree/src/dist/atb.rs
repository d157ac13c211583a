//! The C++ library of transformers, `libatb.so`: compiled once from `crates/jumar-capi/atb`, for a tree and a wheel.
//!
//! It defines the public classes and templates, whose mangled names prebuilt programs look for, and sends each call to functions of
//! `libascendcl.so`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::Build;
use super::filter::tool;
use super::graph_engine::time_of;
use crate::platform::Platform;

/// The name of the library.
pub(crate) const FILE: &str = "libatb.so";
/// The sources, below the repository.
const SOURCES: &str = "crates/jumar-capi/atb";
/// The public headers, below the repository.
const HEADERS: &str = "include/atb";
/// Units whose code does not depend on the layout of std::string.
const UNITS: &[&str] = &[
    "caller",
    "context",
    "create",
    "functions",
    "graph",
    "operation",
    "utils",
];
/// The unit that is compiled for each layout of std::string.
const STRINGS: &str = "strings";
/// What the linker exports.
const EXPORTS: &str = "_ZN3atb13CreateContext*; _ZN3atb14DestroyContext*; _ZN3atb16DestroyOperation*; _ZN3atb5Utils*; \
    _ZN3atb15CreateOperation*; _ZN3atb19CloneOperationParam*; _ZN3atb20UpdateOperationParam*; \
    _ZTIN3atb7ContextE; _ZTSN3atb7ContextE; _ZTIN3atb9OperationE; _ZTSN3atb9OperationE; Atb*;";

/// Builds the library beside `runtime`, which is a libascendcl.so, in `folder`, unless the one there is newer than everything
/// that it is made of. Returns its path.
///
/// # Errors
/// There is no C++ compiler, or it refuses a source.
pub(crate) fn build(
    root: &Path,
    runtime: &Path,
    folder: &Path,
    how: Build,
    platform: Platform,
) -> Result<PathBuf> {
    let library = folder.join(FILE);
    if up_to_date(root, runtime, &library)? {
        return Ok(library);
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut objects = Vec::new();
    let units = UNITS.iter().map(|unit| (*unit, "1"));
    for (unit, layout) in units.chain([(STRINGS, "0"), (STRINGS, "1")]) {
        let object = folder.join(format!("atb-{unit}-{layout}.o"));
        compile(root, unit, layout, &object, how, platform)?;
        objects.push(object);
    }
    let map = folder.join("atb-exports.map");
    fs::write(&map, format!("{{ global: {EXPORTS} local: *; }};\n"))?;
    let partial = folder.join(format!("{FILE}.new"));
    tool(
        "c++",
        Command::new(platform.cxx())
            .args(["-shared", "-o"])
            .arg(&partial)
            .args(&objects)
            .arg(runtime)
            .arg("-ldl")
            .arg(format!("-Wl,-soname,{FILE}"))
            .arg(format!("-Wl,--version-script={}", map.display()))
            .args([
                "-Wl,-rpath,$ORIGIN",
                "-Wl,-Bsymbolic-functions",
                "-Wl,--hash-style=gnu",
                "-Wl,-z,relro,-z,now,-z,nodelete",
                "-Wl,--no-undefined",
            ]),
    )?;
    fs::rename(&partial, &library).with_context(|| format!("cannot make {}", library.display()))?;
    Ok(library)
}

/// Compiles a unit for a layout of std::string.
fn compile(
    root: &Path,
    unit: &str,
    layout: &str,
    object: &Path,
    how: Build,
    platform: Platform,
) -> Result<()> {
    let source = root.join(SOURCES).join(unit).with_extension("cpp");
    let version = concat!(
        "-DJUMAR_ATB_VERSION=\"Jumar ",
        env!("CARGO_PKG_VERSION"),
        "\""
    );
    tool(
        "c++",
        Command::new(platform.cxx())
            .args(platform.cxx_options())
            .args([
                "-std=c++17",
                how.cxx_level(),
                "-fPIC",
                "-c",
                "-Wall",
                "-Wextra",
            ])
            .args(["-DJUMAR_ATB_LIBRARY", "-D_GNU_SOURCE", version])
            .arg(format!("-D_GLIBCXX_USE_CXX11_ABI={layout}"))
            .arg("-I")
            .arg(root.join("include"))
            .arg(&source)
            .arg("-o")
            .arg(object),
    )
    .map(|_| ())
}

/// Compares the library's time with those of its parts.
fn up_to_date(root: &Path, runtime: &Path, library: &Path) -> Result<bool> {
    let Ok(built) = time_of(library) else {
        return Ok(false);
    };
    for folder in [SOURCES, HEADERS] {
        let folder = root.join(folder);
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            if time_of(&entry?.path())? >= built {
                return Ok(false);
            }
        }
    }
    Ok(time_of(runtime)? < built)
}
