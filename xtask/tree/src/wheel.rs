//! `cargo xtask wheel`: one wheel with the module `acl`, the package `jumar`, the commands, headers and libraries.
//!
//! A wheel keeps no links, so the many names of the libraries are filter objects: small libraries with the same dynamic
//! symbols, for each of which the loader takes the definition of `libascendcl.so` or `libjumar_ge.so` beside it. `import acl` finds that library
//! relative to itself, the commands find their tree the same way; nothing has to be set.
//!
//! The tag says which glibc the files need; it is read from the files. `--portable` builds them against an older one, with
//! zig as the linker (`cargo-zigbuild`, installed into an environment of its own).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::dist::filter::{self, tool};
use crate::dist::graph_engine;
use crate::{dist, progress, python_env};

/// What a portable wheel is built against: Debian 10, Ubuntu 20.04, RHEL 8 and everything newer.
const PORTABLE_GLIBC: (u32, u32) = (2, 28);
/// The version of libstdc++ on these systems.
const PORTABLE_GLIBCXX: [u32; 3] = [3, 4, 25];
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
    let python = python_env::ensure(&log)?;
    let built = match options.portable {
        false => dist::build(dist::Build::Release)?,
        true => build_portable(&log)?,
    };
    let stage = root.join("target/dist/wheel");
    let _ = fs::remove_dir_all(&stage);
    lay_out(&built, root, &stage)?;
    let glibc = newest_version(
        &[
            stage.join("acl.abi3.so"),
            stage.join(TREE).join("lib64/libascendcl.so"),
            stage.join(TREE).join("lib64").join(graph_engine::FILE),
            stage.join(TREE).join("bin/jumar"),
            stage.join(TREE).join(dist::torch::FILE),
        ],
        "GLIBC_",
    )?;
    let glibc = match glibc.as_slice() {
        [major, minor, ..] => (*major, *minor).max((2, 17)),
        _ => (2, 17),
    };
    let standard = newest_version(
        &[
            stage.join(TREE).join("lib64").join(graph_engine::FILE),
            stage.join(TREE).join(dist::torch::FILE),
        ],
        "GLIBCXX_",
    )?;
    if options.portable && standard.as_slice() > PORTABLE_GLIBCXX.as_slice() {
        bail!(
            "a C++ library needs version {standard:?} of libstdc++, and {PORTABLE_GLIBCXX:?} is the newest that older systems have"
        );
    }
    if options.portable && glibc > PORTABLE_GLIBC {
        bail!("the portable build needs glibc {}.{}", glibc.0, glibc.1);
    }
    let tag = format!(
        "cp39-abi3-manylinux_{}_{}_{}",
        glibc.0,
        glibc.1,
        std::env::consts::ARCH
    );
    write_metadata(&stage, &tag)?;
    fs::create_dir_all(&out)?;
    let mut pack = Command::new(&python);
    pack.args(["-m", "wheel", "pack", "--dest-dir"])
        .arg(&out)
        .arg(&stage);
    progress::run_or_fail("packing the wheel", &mut pack, &log)?;
    let wheel = out.join(format!("jumar-{}-{tag}.whl", env!("CARGO_PKG_VERSION")));
    let bytes = fs::metadata(&wheel)
        .with_context(|| format!("{} was not made", wheel.display()))?
        .len();
    if bytes > LARGEST {
        bail!(
            "{} has {bytes} bytes; {LARGEST} are the limit",
            wheel.display()
        );
    }
    Ok(wheel)
}

/// Builds in release mode against an older glibc.
fn build_portable(log: &Path) -> Result<dist::Built> {
    let root = crate::root();
    let venv = root.join("target/venv-zig");
    let bin = venv.join("bin");
    if !bin.join("cargo-zigbuild").exists() {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(&venv);
        progress::run_or_fail("making target/venv-zig", &mut make, log)?;
        let mut install = Command::new(bin.join("python"));
        install.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        install.args(["cargo-zigbuild==0.24.0", "ziglang==0.15.2"]);
        progress::run_or_fail("installing zig and cargo-zigbuild", &mut install, log)?;
    }
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut paths = vec![bin.clone()];
    paths.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let mut build = Command::new(bin.join("cargo-zigbuild"));
    build
        .args(["zigbuild", "--release", "--locked", "--target"])
        .arg(format!(
            "{triple}.{}.{}",
            PORTABLE_GLIBC.0, PORTABLE_GLIBC.1
        ))
        .args(dist::PACKAGES)
        .env("PATH", std::env::join_paths(paths)?)
        .env("CARGO_TARGET_DIR", root.join("target/portable"))
        .current_dir(root);
    progress::run_or_fail("building for older systems", &mut build, log)?;
    dist::Built::at(
        &root.join("target/portable").join(triple).join("release"),
        dist::Build::Release,
    )
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
    for file in [
        &stage.join("acl.abi3.so"),
        &tree.join("bin/jumar"),
        &runtime,
        &graph_engine,
    ] {
        // Names of functions stay, for stack traces; lines of source do not travel.
        tool(
            "strip",
            Command::new("strip").arg("--strip-debug").arg(file),
        )?;
    }
    let names = dist::LIBRARY_NAMES
        .iter()
        .filter(|name| **name != "ascendcl");
    for name in names {
        filter_object(&[&runtime], name)?;
    }
    let names = dist::GRAPH_ENGINE_NAMES
        .iter()
        .filter(|name| **name != "jumar_ge");
    for name in names {
        filter_object(&[&graph_engine, &runtime], name)?;
    }
    Ok(())
}

/// Makes the filter object of a name beside the libraries.
fn filter_object(libraries: &[&Path], name: &str) -> Result<()> {
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
    tool(
        "cc",
        Command::new("cc")
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
fn newest_version(files: &[PathBuf], prefix: &str) -> Result<Vec<u32>> {
    let mut newest = Vec::new();
    for file in files {
        let text = tool("objdump", Command::new("objdump").arg("-T").arg(file))?;
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
    let version = env!("CARGO_PKG_VERSION");
    let info = stage.join(format!("jumar-{version}.dist-info"));
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
