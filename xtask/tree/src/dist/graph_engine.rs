//! The C++ library of the Graph Engine, `libjumar_ge.so`: compiled once from `crates/jumar-ge/cpp`, for a tree and a wheel.
//!
//! It defines the public classes and functions. Prebuilt programs look for these by their mangled names, so they have to come from a
//! C++ compiler. The library has the symbols of `libascendcl.so` as well and is an auxiliary filter of it: a program that names
//! `-lge_runner` alone finds all functions, and still there is one runtime.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result};

use super::Build;
use super::filter::{self, tool};
use crate::platform::Platform;

/// The name of the library.
pub(crate) const FILE: &str = "libjumar_ge.so";
/// The sources, below the repository.
const SOURCES: &str = "crates/jumar-ge/cpp";
/// Units without std::string in the signatures that they define.
const UNITS: &[&str] = &[
    "attributes",
    "build",
    "compatible",
    "custom",
    "engine",
    "es",
    "fusion",
    "fusion_pass",
    "graph",
    "operator",
    "passes",
    "session",
    "tensor",
];
/// The unit that is compiled for each layout of std::string.
const STRINGS: &str = "strings";
/// The unit of functions that exist for the old layout of std::string alone.
const OLD_STRINGS: &str = "platform";
/// Public headers that the sources include.
const HEADERS: &[&str] = &[
    "ge",
    "ge/fusion",
    "ge/fusion/pass",
    "graph",
    "parser",
    "exe_graph/runtime",
    "register",
];
/// What the linker exports of the sources, besides the functions that are filtered.
const EXPORTS: &str = "_ZN2fe*; _ZNK2fe*; _ZN2ge*; _ZNK2ge*; _ZT?N2ge*; _ZN4gert*; _ZNK4gert*; Es*; _ZN15EsCTensorHolder*; _ZNK15EsCTensorHolder*; _ZN15EsCGraphBuilder*; GetRegisteredIrDef;";
/// The generated unit with a function for each operator.
const FUNCTIONS: &str = "es_all_ops";

/// Builds the library beside `runtime`, which is a libascendcl.so, in `folder`, unless the one there is newer than everything
/// that it is made of. Returns its path.
///
/// # Errors
/// There is no C++ compiler, or it refuses a source.
pub(crate) fn build(
    root: &Path,
    runtime: &Path,
    folder: &Path,
    functions: &Path,
    how: Build,
    platform: Platform,
) -> Result<PathBuf> {
    let library = folder.join(FILE);
    if up_to_date(root, runtime, functions, &library)? {
        return Ok(library);
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut jobs: Vec<(&str, &str, PathBuf)> = UNITS
        .iter()
        .chain(std::iter::once(&FUNCTIONS))
        .map(|unit| (*unit, "1", folder.join(format!("{unit}.o"))))
        .collect();
    for layout in ["0", "1"] {
        let object = folder.join(format!("{STRINGS}-{layout}.o"));
        jobs.push((STRINGS, layout, object));
    }
    jobs.push((OLD_STRINGS, "0", folder.join(format!("{OLD_STRINGS}.o"))));
    let done = std::thread::scope(|scope| {
        let running: Vec<_> = jobs
            .iter()
            .map(|(unit, layout, object)| {
                scope.spawn(|| compile(root, functions, unit, layout, object, how, platform))
            })
            .collect();
        running
            .into_iter()
            .map(|job| {
                job.join()
                    .unwrap_or_else(|_| panic!("the compiler's thread"))
            })
            .collect::<Result<Vec<()>>>()
    });
    done?;
    let functions: Vec<_> = filter::exported(runtime)?
        .into_iter()
        // The library calls these itself.
        .filter(|symbol| !symbol.name.starts_with("jumar_") && symbol.object.is_none())
        .collect();
    let (stubs, map) = (folder.join("filter.s"), folder.join("exports.map"));
    fs::write(&stubs, filter::source(&functions)?)?;
    let names: String = functions
        .iter()
        .map(|symbol| format!("{}; ", symbol.name))
        .collect();
    fs::write(&map, format!("{{ global: {EXPORTS} {names}local: *; }};\n"))?;
    let partial = folder.join(format!("{FILE}.new"));
    tool(
        "c++",
        Command::new(platform.cxx())
            .args(["-shared", "-o"])
            .arg(&partial)
            .args(jobs.iter().map(|(.., object)| object))
            .arg(&stubs)
            .arg(runtime)
            .arg(format!("-Wl,-soname,{FILE}"))
            .arg(format!("-Wl,--version-script={}", map.display()))
            .args([
                "-Wl,-f,libascendcl.so",
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

/// Writes the functions that build graphs of the built-in operators: headers, and the unit of the library.
///
/// # Errors
/// The command cannot run, or it fails.
pub(crate) fn generate_functions(command: &Path, folder: &Path, platform: Platform) -> Result<()> {
    let link = folder.with_file_name("gen_esb");
    let _ = fs::remove_file(&link);
    if let Some(parent) = link.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    // The command is a generator under this name.
    std::os::unix::fs::symlink(command, &link)
        .with_context(|| format!("cannot make {}", link.display()))?;
    tool(
        "gen_esb",
        platform
            .run(&link)?
            .arg(format!("--output_dir={}", folder.display())),
    )
    .map(|_| ())
}

/// Compiles a unit for a layout of std::string.
fn compile(
    root: &Path,
    functions: &Path,
    unit: &str,
    layout: &str,
    object: &Path,
    how: Build,
    platform: Platform,
) -> Result<()> {
    let folder = if unit == FUNCTIONS {
        functions.to_owned()
    } else {
        root.join(SOURCES)
    };
    let source = folder.join(unit).with_extension("cpp");
    tool(
        "c++",
        Command::new(platform.cxx())
            .args(platform.cxx_options())
            .args([
                "-std=c++17",
                how.cxx_level(),
                "-fPIC",
                "-fvisibility=hidden",
                "-c",
            ])
            .args(["-Wall", "-Wextra", "-DJUMAR_GE_LIBRARY"])
            .arg(format!("-D_GLIBCXX_USE_CXX11_ABI={layout}"))
            .arg("-I")
            .arg(root.join("include"))
            .arg("-I")
            .arg(root.join("ascendc/include"))
            .arg(&source)
            .arg("-o")
            .arg(object),
    )
    .map(|_| ())
}

/// Compares the library's time with those of its parts.
fn up_to_date(root: &Path, runtime: &Path, functions: &Path, library: &Path) -> Result<bool> {
    let Ok(built) = time_of(library) else {
        return Ok(false);
    };
    let folders = HEADERS
        .iter()
        .map(|folder| root.join("include").join(folder))
        .chain([root.join(SOURCES)]);
    for folder in folders {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            if time_of(&entry?.path())? >= built {
                return Ok(false);
            }
        }
    }
    let source = functions.join(FUNCTIONS).with_extension("cpp");
    Ok(time_of(runtime)? < built && time_of(&source)? < built)
}

pub(crate) fn time_of(path: &Path) -> Result<SystemTime> {
    fs::metadata(path)
        .and_then(|data| data.modified())
        .with_context(|| format!("cannot read the time of {}", path.display()))
}
