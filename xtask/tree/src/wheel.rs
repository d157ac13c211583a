//! `cargo xtask wheel`: one wheel with the module `acl`, the package `jumar`, the commands, headers and libraries.
//!
//! A wheel keeps no links, so the many names of the libraries are filter objects: small libraries with the same dynamic
//! symbols, for each of which the loader takes the definition of `libascendcl.so` or `libjumar_ge.so` beside it. `import acl` finds that library
//! relative to itself, the commands find their tree the same way; nothing has to be set.
//!
//! The tag says which glibc the files need; it is read from the files. `--portable` builds them against an older one
//! ([`crate::platform`]).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::dist::filter::{self, tool};
use crate::dist::{atb, graph_engine};
use crate::platform::{PORTABLE_GLIBC, PORTABLE_GLIBCXX, Platform, source_date};
use crate::release::materials::Materials;
use crate::release::strip;
use crate::{dist, progress, python_env};

/// A wheel above this has something in it that does not belong there.
const LARGEST: u64 = 32 << 20;
/// Where the tree lies in the wheel. Programs look for this word in the path of the runtime, as for [`dist::LIBRARIES`].
const TREE: &str = "jumar/cann";

/// What `cargo xtask wheel` takes.
#[derive(clap::Args)]
pub struct Options {
    /// Builds against glibc 2.28 instead of this machine's (needs a package index once, for zig).
    #[arg(long)]
    portable: bool,
    /// Takes the libraries that `cargo test` compiles, without optimization.
    #[arg(long, conflicts_with = "portable")]
    tests: bool,
    /// The folder of the wheel. Default: target/wheels.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Builds the wheel and returns its path.
///
/// # Errors
/// The build fails, a tool is missing (the error names it), or the wheel is larger than it may be.
pub fn run(options: &Options, callers_folder: &Path) -> Result<PathBuf> {
    let root = crate::root();
    let out = match &options.out {
        Some(out) => callers_folder.join(out),
        None => root.join("target/wheels"),
    };
    let log = root.join("target/dist/wheel.log");
    let _ = fs::remove_file(&log);
    let built = if options.tests {
        dist::build(dist::Build::Tests)?
    } else {
        let platform = Platform {
            is_portable: options.portable,
            ..Platform::of_this_machine()?
        };
        platform.build(&log)?
    };
    pack(&built, &out, date()?, &log)
}

/// Returns the time of the files: that of a release, or the present time where the sources have none (an archive of them).
fn date() -> Result<u64> {
    let is_named = std::env::var_os("SOURCE_DATE_EPOCH").is_some();
    source_date().or_else(|error| match is_named {
        true => Err(error),
        false => Ok(SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)?
            .as_secs()),
    })
}

/// Packs what was built into a wheel in `out`, with `date` as the time of every file. Returns its path.
pub(crate) fn pack(built: &dist::Built, out: &Path, date: u64, log: &Path) -> Result<PathBuf> {
    let root = crate::root();
    let platform = built.platform;
    let python = python_env::ensure(log)?;
    let stage = root.join("target/dist/wheel");
    let _ = fs::remove_dir_all(&stage);
    lay_out(built, root, &stage)?;
    let tag = format!("cp39-abi3-{}", platform_tag(platform, &stage)?);
    write_metadata(&stage, &tag)?;
    let materials = Materials::of(platform)?;
    let info = stage.join(info_folder());
    materials.write_licences(&info.join("licenses"))?;
    dist::write(&info.join("sboms/jumar.cdx.json"), &materials.bill(date)?)?;
    set_permissions(&stage)?;
    fs::create_dir_all(out)?;
    let mut pack = Command::new(&python);
    pack.args(["-m", "wheel", "pack", "--dest-dir"])
        .arg(out)
        .arg(&stage)
        .env("SOURCE_DATE_EPOCH", date.to_string());
    progress::run_or_fail("packing the wheel", &mut pack, log)?;
    let wheel = out.join(format!("jumar-{}-{tag}.whl", python_version()));
    let bytes = fs::metadata(&wheel)
        .with_context(|| format!("{} was not made", wheel.display()))?
        .len();
    if bytes > LARGEST && built.how == dist::Build::Release {
        bail!(
            "{} has {bytes} bytes; {LARGEST} are the limit",
            wheel.display()
        );
    }
    Ok(wheel)
}

/// Returns the part of the tag that names the system: what the files need, as read from them.
///
/// # Errors
/// A portable build needs a newer glibc or libstdc++ than it may.
fn platform_tag(platform: Platform, stage: &Path) -> Result<String> {
    let libraries_in_cpp = [
        stage.join(TREE).join("lib64").join(graph_engine::FILE),
        stage.join(TREE).join("lib64").join(atb::FILE),
        stage.join(TREE).join(dist::torch::FILE),
    ];
    let mut files = vec![
        stage.join("acl.abi3.so"),
        stage.join(TREE).join("lib64/libascendcl.so"),
        stage.join(TREE).join("bin/jumar"),
    ];
    files.extend(libraries_in_cpp.clone());
    let glibc = match newest_version(platform, &files, "GLIBC_")?.as_slice() {
        [major, minor, ..] => (*major, *minor).max((2, 17)),
        _ => (2, 17),
    };
    let standard = newest_version(platform, &libraries_in_cpp, "GLIBCXX_")?;
    if platform.is_portable && standard.as_slice() > PORTABLE_GLIBCXX.as_slice() {
        bail!(
            "a C++ library needs version {standard:?} of libstdc++, and {PORTABLE_GLIBCXX:?} is the newest that older systems have; build with an older compiler (CXX)"
        );
    }
    if platform.is_portable && glibc > PORTABLE_GLIBC {
        bail!(
            "the portable build needs glibc {}.{}; a function that moved there since {}.{} belongs into OLD_NAMES of xtask/tree/src/platform.rs",
            glibc.0,
            glibc.1,
            PORTABLE_GLIBC.0,
            PORTABLE_GLIBC.1
        );
    }
    // A portable build bears the tag that it promises, though its files may need less.
    let (major, minor) = match platform.is_portable {
        true => PORTABLE_GLIBC,
        false => glibc,
    };
    Ok(format!(
        "manylinux_{major}_{minor}_{}",
        platform.processor.name()
    ))
}

/// Makes permissions what they are on every machine: those of a checkout depend on the user's mask.
fn set_permissions(folder: &Path) -> Result<()> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        let data = fs::symlink_metadata(&path)?;
        if data.is_dir() {
            set_permissions(&path)?;
        } else {
            let mode = match data.permissions().mode() & 0o100 {
                0 => 0o644,
                _ => 0o755,
            };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))
                .with_context(|| format!("cannot change {}", path.display()))?;
        }
    }
    Ok(())
}

/// Returns the version as Python writes it: 0.1.0rc1 for 0.1.0-rc.1.
fn python_version() -> String {
    as_python(env!("CARGO_PKG_VERSION"))
}

fn as_python(version: &str) -> String {
    let Some((release, stage)) = version.split_once('-') else {
        return version.to_owned();
    };
    let stage = stage
        .replace("alpha", "a")
        .replace("beta", "b")
        .replace('.', "");
    format!("{release}{stage}")
}

fn info_folder() -> String {
    format!("jumar-{}.dist-info", python_version())
}

/// Writes everything that the wheel holds, its metadata excepted.
fn lay_out(built: &dist::Built, source: &Path, stage: &Path) -> Result<()> {
    let tree = stage.join(TREE);
    dist::copy_folder(&source.join("include"), &tree.join("include"))?;
    dist::copy_ascendc_headers(source, &tree)?;
    dist::write_profile_tool(&tree)?;
    dist::copy_folder(&source.join("python"), stage)?;
    dist::copy(&built.python, &stage.join("acl.abi3.so"))?;
    dist::copy(&built.command, &tree.join("bin/jumar"))?;
    dist::copy(&built.allocator_keys, &tree.join(dist::torch::FILE))?;
    // One file under two names would be two files in a wheel: a script that looks at the name it was called by.
    dist::write(&tree.join("bin/atc"), ATC)?;
    dist::executable(&tree.join("bin/atc"))?;
    dist::copy_headers(&built.es_headers, &tree.join("include/es"))?;
    dist::write_versions(&tree)?;
    let runtime = tree.join("lib64/libascendcl.so");
    dist::copy(&built.runtime, &runtime)?;
    let graph_engine = runtime.with_file_name(graph_engine::FILE);
    dist::copy(&built.graph_engine, &graph_engine)?;
    let transformers = runtime.with_file_name(atb::FILE);
    dist::copy(&built.transformers, &transformers)?;
    for file in [
        &stage.join("acl.abi3.so"),
        &tree.join("bin/jumar"),
        &runtime,
        &graph_engine,
        &transformers,
    ] {
        strip(built.platform, file)?;
    }
    let names = dist::LIBRARY_NAMES
        .iter()
        .filter(|name| **name != "ascendcl");
    for name in names {
        filter_object(built.platform, &[&runtime], name)?;
    }
    let names = dist::GRAPH_ENGINE_NAMES
        .iter()
        .filter(|name| **name != "jumar_ge");
    for name in names {
        filter_object(built.platform, &[&graph_engine, &runtime], name)?;
    }
    Ok(())
}

/// Makes the filter object of a name beside the libraries.
fn filter_object(platform: Platform, libraries: &[&Path], name: &str) -> Result<()> {
    let folder = libraries[0].parent().unwrap_or(Path::new("."));
    let mut symbols = Vec::new();
    for library in libraries {
        symbols.extend(filter::exported(library)?);
    }
    symbols.sort_by(|one, other| one.name.cmp(&other.name));
    symbols.dedup_by(|one, other| one.name == other.name);
    let source = folder.join("filter.s");
    fs::write(&source, filter::source(&symbols)?)?;
    let file = format!("lib{name}.so");
    let filtered = libraries.iter().map(|library| {
        let library = library.file_name().unwrap_or_default().to_string_lossy();
        format!("-Wl,-F,{library}")
    });
    let compiler = platform.cc();
    tool(
        &compiler,
        Command::new(&compiler)
            .args(["-shared", "-nostdlib", "-s", "-Wl,--hash-style=gnu"])
            .arg(format!("-Wl,-soname,{file}"))
            .args(filtered)
            .args(["-Wl,-rpath,$ORIGIN", "-Wl,-z,nodelete"])
            .arg(&source)
            .arg("-o")
            .arg(folder.join(&file)),
    )?;
    fs::remove_file(&source).context("the source of the filter objects")
}

/// Finds the newest version of a library's symbols that one of the files needs, such as 2.28 for `GLIBC_`.
fn newest_version(platform: Platform, files: &[PathBuf], prefix: &str) -> Result<Vec<u32>> {
    let mut newest = Vec::new();
    for file in files {
        let name = platform.tool("objdump");
        let text = tool(&name, Command::new(&name).arg("-T").arg(file))?;
        let versions = text.split(prefix).skip(1).map(|rest| {
            rest.split(|c: char| c != '.' && !c.is_ascii_digit())
                .next()
                .unwrap_or_default()
                .split('.')
                .map_while(|number| number.parse().ok())
                .collect::<Vec<u32>>()
        });
        newest = versions.fold(newest, std::cmp::max);
    }
    Ok(newest)
}

fn write_metadata(stage: &Path, tag: &str) -> Result<()> {
    let version = python_version();
    let info = stage.join(info_folder());
    let readme = fs::read_to_string(crate::root().join("README.md"))?;
    dist::write(
        &info.join("METADATA"),
        &format!(
            "Metadata-Version: 2.1\n\
             Name: jumar\n\
             Version: {version}\n\
             Summary: Runs Ascend programs where there is no Ascend card\n\
             License: {license}\n\
             Requires-Python: >=3.9\n\
             Provides-Extra: numpy\n\
             Requires-Dist: numpy; extra == \"numpy\"\n\
             Description-Content-Type: text/markdown\n\n{readme}",
            license = env!("CARGO_PKG_LICENSE"),
        ),
    )?;
    dist::write(
        &info.join("WHEEL"),
        &format!(
            "Wheel-Version: 1.0\nGenerator: jumar xtask ({version})\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ),
    )?;
    dist::write(
        &info.join("entry_points.txt"),
        "[console_scripts]\njumar = jumar._command:jumar\natc = jumar._command:atc\n",
    )?;
    dist::write(
        &info.join("top_level.txt"),
        "acl\nhccl\njumar\njumar_torch\n",
    )
}

/// bin/atc of a wheel.
const ATC: &str = r#"#!/bin/sh
exec "${0%/*}/jumar" atc "$@"
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_written_as_python_orders_them() {
        assert_eq!(as_python("0.1.0"), "0.1.0");
        assert_eq!(as_python("0.2.0-rc.1"), "0.2.0rc1");
        assert_eq!(as_python("1.0.0-alpha.3"), "1.0.0a3");
        assert_eq!(as_python("1.0.0-beta.2"), "1.0.0b2");
    }

    #[test]
    fn permissions_do_not_depend_on_those_of_the_checkout() {
        let folder = std::env::temp_dir().join(format!("xtask-modes-{}", std::process::id()));
        for (name, mode) in [("text", 0o600), ("shared", 0o664), ("program", 0o700)] {
            let file = folder.join("in").join(name);
            dist::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        }
        set_permissions(&folder).unwrap();
        let mode = |name: &str| {
            let data = fs::metadata(folder.join("in").join(name)).unwrap();
            data.permissions().mode() & 0o777
        };
        assert_eq!(
            [mode("text"), mode("shared"), mode("program")],
            [0o644, 0o644, 0o755]
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
