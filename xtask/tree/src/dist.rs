//! `cargo xtask dist`: builds Jumar and lays out the install tree.
//!
//! The tree has the shape of the toolkit that programs were written for, so that an unmodified Makefile, CMakeLists.txt or
//! run script finds what it looks for. It holds no absolute path and can be moved. There are three library files: the runtime,
//! and above it the C++ classes of the Graph Engine and of the transformer library. Every other name, in every folder, is a symbolic link to one of them, so
//! that a process has one runtime whichever name it used.

pub(crate) mod atb;
pub(crate) mod filter;
pub(crate) mod graph_engine;
pub(crate) mod torch;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::platform::Platform;
use crate::progress;

/// The runtime, below the root.
pub(crate) const RUNTIME: &str = "lib64/libascendcl.so";
/// The folder of the libraries in `LD_LIBRARY_PATH`: a link to `lib64`. Programs, MindSpore among them, stop unless the path by which
/// the runtime was loaded contains the word `cann` or `latest`, which the path of a toolkit does.
pub(crate) const LIBRARIES: &str = "cann/lib64";
/// The C++ library of the Graph Engine, below the root.
const GRAPH_ENGINE: &str = "lib64/libjumar_ge.so";
/// The C++ library of transformers, below the root.
const TRANSFORMERS: &str = "lib64/libatb.so";

/// Folders in which programs look for libraries. `{arch}` is the machine's.
const LIBRARY_FOLDERS: &[&str] = &[
    "lib64",
    "devlib",
    "runtime/lib64",
    "runtime/lib64/stub",
    "compiler/lib64",
    "compiler/lib64/stub",
    "acllib/lib64",
    "acllib/lib64/stub",
    "{arch}-linux/lib64",
    "{arch}-linux/devlib",
    "opp/built-in/op_proto/lib/linux/{arch}",
];

/// Names on programs' link lines that lead to the runtime, without `lib` and `.so`.
pub(crate) const LIBRARY_NAMES: &[&str] = &[
    "ascendcl",
    "acl_rt",
    "acl_rt_impl",
    "acl_rtc",
    "acl_mdl",
    "acl_op_compiler",
    "acl_op_executor",
    "acl_cblas",
    "acl_dvpp",
    "acl_dvpp_mpi",
    "nnopbase",
    "opapi",
    "opapi_nn",
    "opapi_math",
    "opapi_cv",
    "opapi_transformer",
    "runtime",
    "error_manager",
    "c_sec",
    // Collective communication.
    "hccl",
    "hcomm",
    // Transfer between host and device.
    "acl_tdt_channel",
    "acl_tdt_queue",
    // Profiles and dumps.
    "msprofiler",
    "profapi",
    "mspti",
    "ascend_dump",
    // What projects of Ascend C link; the functions themselves are in headers.
    "tiling_api",
    "platform",
    "ascendc_runtime",
    "mmpa",
    "unified_dlog",
    "ascendalog",
    // What frameworks and older builds name on their link lines.
    "ascend_hal",
    "ascend_protobuf",
];

/// Names that lead to the C++ library of the Graph Engine.
pub(crate) const GRAPH_ENGINE_NAMES: &[&str] = &[
    "jumar_ge",
    "graph",
    "graph_base",
    "ge_runner",
    "ge_runner_v2",
    "ge_compiler",
    "ge_common",
    "ge_common_base",
    "ge_executor",
    "fmk_parser",
    "fmk_onnx_parser",
    "opsproto",
    "exe_graph",
    "register",
    "lowering",
    "eager_style_graph_builder_base",
    "es_all",
    "es_math",
    "es_nn",
    "es_cv",
    "es_transformer",
    "dflow_runner",
    "flow_graph",
    "opp_registry",
];

/// Folders that are the include folder under another name.
const INCLUDE_FOLDERS: &[&str] = &[
    "runtime/include",
    "acllib/include",
    "compiler/include",
    "{arch}-linux/include",
];

/// Where programs of several years look for the classes of the Graph Engine's operators.
const PROTOTYPE_FOLDERS: &[&str] = &[
    "opp/op_proto/built-in/inc",
    "opp/built-in/op_proto/inc",
    "opp/built-in/op_graph/inc",
];

/// Where operator projects look for the CMake module of Ascend C.
const KERNEL_CMAKE_FOLDERS: &[&str] = &[
    "ascendc_devkit/tikcpp/samples/cmake",
    "compiler/tikcpp/ascendc_kernel_cmake",
    "tools/tikcpp/ascendc_kernel_cmake",
    "tikcpp/ascendc_kernel_cmake",
    "x86_64-linux/tikcpp/ascendc_kernel_cmake",
    "aarch64-linux/tikcpp/ascendc_kernel_cmake",
];

/// Where operator projects look for the CMake package and the headers of tests on the CPU.
const CPU_KERNEL_FOLDERS: &[&str] = &["tools/tikicpulib/lib", "toolkit/tools/tikicpulib/lib"];

/// The toolkit version whose interface is offered, as the runtime answers it. Scripts compare it; the implementation's name stands
/// in a line of its own.
const INTERFACE_VERSION: &str = include_str!("../../../api/toolkit-version.txt").trim_ascii();
/// The line by which a tree of ours is known before it is replaced.
const MARK: &str = "Implementation=Jumar";

/// What the build made.
pub(crate) struct Built {
    /// How it was built.
    pub how: Build,
    /// What it runs on.
    pub platform: Platform,
    pub runtime: PathBuf,
    pub graph_engine: PathBuf,
    pub transformers: PathBuf,
    /// Headers of functions that build graphs.
    pub es_headers: PathBuf,
    pub python: PathBuf,
    pub command: PathBuf,
    /// What PyTorch's adapter needs beside PyTorch's build for CUDA.
    pub allocator_keys: PathBuf,
}

impl Built {
    /// Finds the files in cargo's folder of a profile, and builds the C++ library above them.
    pub fn at(folder: &Path, build: Build, platform: Platform) -> Result<Built> {
        let runtime = folder.join("libascendcl.so");
        let command = folder.join("jumar");
        let own = folder.join("graph-engine");
        let es_headers = own.join("es");
        graph_engine::generate_functions(&command, &es_headers, platform)?;
        let graph_engine =
            graph_engine::build(crate::root(), &runtime, &own, &es_headers, build, platform)?;
        let transformers = atb::build(crate::root(), &runtime, &own, build, platform)?;
        Ok(Built {
            how: build,
            platform,
            runtime,
            graph_engine,
            transformers,
            es_headers,
            python: folder.join("libacl.so"),
            command,
            allocator_keys: torch::build(crate::root(), &own, platform)?,
        })
    }
}

/// How the libraries and commands are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Optimized, for users.
    Release,
    /// Without optimization where it matters little: in less than half of the processor time, for a first look.
    Unoptimized,
    /// Of the libraries that `cargo test` compiles, with its assertions and checks of overflow.
    Tests,
}

impl Build {
    /// Returns the name of cargo's profile.
    pub fn profile(self) -> &'static str {
        match self {
            Build::Release => "release",
            Build::Unoptimized => "unoptimized",
            Build::Tests => "dev",
        }
    }

    /// Returns the name of the profile's folder, below cargo's target folder.
    fn folder(self) -> &'static str {
        match self {
            Build::Release | Build::Unoptimized => self.profile(),
            Build::Tests => "debug",
        }
    }

    /// Returns where the install tree lies unless the caller names a folder, below the repository's root.
    pub fn tree(self) -> &'static str {
        match self {
            Build::Release => "target/jumar",
            Build::Unoptimized => "target/demo/jumar",
            Build::Tests => "target/tests/jumar",
        }
    }

    /// Returns the option of the C++ compiler.
    pub(crate) fn cxx_level(self) -> &'static str {
        match self {
            // What the library exports, and what it needs, depends on what the compiler inlines: tests look at both.
            Build::Release | Build::Tests => "-O2",
            Build::Unoptimized => "-O0",
        }
    }
}

/// What is built for a tree or a wheel, as arguments of cargo.
pub const PACKAGES: &[&str] = &["-p", "jumar-capi", "-p", "jumar-py", "-p", "jumar-cli"];

/// Builds everything and lays out the install tree in `prefix`, by default where trees of this build lie.
///
/// Returns the absolute path of the tree. A tree that was there before is replaced in one step; programs that run
/// from it keep the files that they opened.
///
/// # Errors
/// The build fails, or `prefix` exists and is not a tree that this command made.
pub fn run(prefix: Option<PathBuf>, how: Build) -> Result<PathBuf> {
    let prefix = std::path::absolute(prefix.unwrap_or_else(|| crate::root().join(how.tree())))?;
    // What lies in target is this project's own: `gen` has written its page there before the first tree.
    if !prefix.starts_with(crate::root().join("target")) {
        replaceable(&prefix)?;
    }
    let built = build(how)?;
    replace(&prefix, |stage| {
        lay_out(&built, crate::root(), stage)?;
        xtask_gen::write_coverage(stage)
    })?;
    Ok(prefix)
}

/// Returns whether cmake, which builds libjpeg-turbo, can be started.
pub fn has_cmake() -> bool {
    let mut cmake = Command::new("cmake");
    cmake.arg("--version").stdin(Stdio::null());
    cmake.output().is_ok_and(|output| output.status.success())
}

/// Builds what a tree or a wheel holds.
pub(crate) fn build(how: Build) -> Result<Built> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || crate::root().join("target"),
        |dir| crate::root().join(dir),
    );
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--locked", "--profile", how.profile()])
        .args(PACKAGES)
        .current_dir(crate::root());
    progress::run_or_fail(
        match how {
            Build::Release => "building the release libraries and commands",
            Build::Unoptimized => "building the libraries and commands, without optimization",
            Build::Tests => "building the libraries and commands, as the tests are built",
        },
        &mut cargo,
        &crate::root().join("target/dist/build.log"),
    )?;
    Built::at(
        &target.join(how.folder()),
        how,
        Platform::of_this_machine()?,
    )
}

/// Refuses to replace a folder that holds something else.
fn replaceable(prefix: &Path) -> Result<()> {
    let ours = fs::read_to_string(prefix.join("version.info"))
        .is_ok_and(|text| text.lines().any(|line| line.starts_with(MARK)));
    let empty = match fs::read_dir(prefix) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => {
            return Err(error).with_context(|| format!("cannot look into {}", prefix.display()));
        }
    };
    if !ours && !empty {
        bail!(
            "{} holds something that is not an install tree of Jumar; \
             name a folder that is empty or does not exist",
            prefix.display()
        );
    }
    Ok(())
}

/// Calls `fill` to create a new folder beside `prefix`, which replaces `prefix` when it is complete.
fn replace(prefix: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let beside = |what: &str| {
        let mut name = prefix.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{what}-{}", std::process::id()));
        prefix.with_file_name(name)
    };
    let (stage, old) = (beside("new"), beside("old"));
    remove(&stage)?;
    fs::create_dir_all(&stage).with_context(|| format!("cannot make {}", stage.display()))?;
    let done = fill(&stage).and_then(|()| {
        if prefix.exists() {
            fs::rename(prefix, &old)
                .with_context(|| format!("cannot move {}", prefix.display()))?;
        }
        fs::rename(&stage, prefix).with_context(|| format!("cannot make {}", prefix.display()))
    });
    if done.is_err() {
        // What failed is reported; half a tree would only be in the way of the next try.
        let _ = remove(&stage);
        if old.exists() && !prefix.exists() {
            let _ = fs::rename(&old, prefix);
        }
    }
    done?;
    remove(&old)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Writes the whole tree into an empty folder. `source` is the repository.
pub(crate) fn lay_out(built: &Built, source: &Path, tree: &Path) -> Result<()> {
    let with_arch = |path: &str| with_arch(path, built.platform);
    copy_folder(&source.join("include"), &tree.join("include"))?;
    for folder in INCLUDE_FOLDERS {
        link(tree, &with_arch(folder), "include")?;
    }

    for folder in PROTOTYPE_FOLDERS {
        link(tree, folder, "include/op_proto")?;
    }

    copy(&built.runtime, &tree.join(RUNTIME))?;
    copy(&built.graph_engine, &tree.join(GRAPH_ENGINE))?;
    copy(&built.transformers, &tree.join(TRANSFORMERS))?;
    link(tree, LIBRARIES, "lib64")?;
    for folder in LIBRARY_FOLDERS {
        for (names, file) in [
            (LIBRARY_NAMES, RUNTIME),
            (GRAPH_ENGINE_NAMES, GRAPH_ENGINE),
            (&["atb"][..], TRANSFORMERS),
        ] {
            for name in names {
                let path = format!("{}/lib{name}.so", with_arch(folder));
                if path != file {
                    link(tree, &path, file)?;
                }
            }
        }
    }

    copy(&built.command, &tree.join("bin/jumar"))?;
    copy_headers(&built.es_headers, &tree.join("include/es"))?;
    for name in [
        "atc",
        "bisheng",
        "ccec",
        "asc-c++",
        "gen_esb",
        "bishengir-compile",
    ] {
        link(tree, &format!("bin/{name}"), "bin/jumar")?;
    }
    copy_ascendc_headers(source, tree)?;
    copy_folder(&source.join("ascendc/cmake"), &tree.join("lib/cmake/ASC"))?;
    write_profile_tool(tree)?;
    link(tree, "bin/msprof", MSPROF_FILE)?;
    copy(&built.python, &tree.join("python/site-packages/acl.so"))?;
    copy_folder(&source.join("python"), &tree.join("python/site-packages"))?;
    copy(&built.allocator_keys, &tree.join(torch::FILE))?;

    // CMake looks into lib64 on some systems alone, and into share on all.
    for folder in ["lib64/cmake/jumar", "share/cmake/jumar"] {
        copy_folder(&source.join("cmake"), &tree.join(folder))?;
    }
    write(&tree.join("set_env.sh"), SET_ENV)?;
    write(&tree.join("bin/setenv.bash"), SETENV_BASH)?;
    for folder in KERNEL_CMAKE_FOLDERS {
        for module in ["ascendc.cmake", "ASCConfig.cmake"] {
            let file = format!("lib/cmake/ASC/{module}");
            link(tree, &format!("{folder}/{module}"), &file)?;
        }
    }
    for folder in CPU_KERNEL_FOLDERS {
        link(
            tree,
            &format!("{folder}/cmake/tikicpulib-config.cmake"),
            "lib/cmake/ASC/tikicpulib-config.cmake",
        )?;
        link(tree, &format!("{folder}/include"), "include/ascendc")?;
    }
    write_versions(tree)
}

/// Writes the files that scripts read the toolkit's version from.
pub(crate) fn write_versions(tree: &Path) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let text =
        format!("Version={INTERFACE_VERSION}\nversion_dir={INTERFACE_VERSION}\n{MARK} {version}\n");
    // Programs look for these folders, PyTorch's adapter among them, and a wheel keeps no folder without a file.
    for folder in ["", "runtime/", "compiler/", "opp/"] {
        write(&tree.join(format!("{folder}version.info")), &text)?;
    }
    write(
        &tree.join("version.cfg"),
        &format!(
            "# Jumar {version}\n\
             runtime_running_version=[{INTERFACE_VERSION}]\n\
             compiler_running_version=[{INTERFACE_VERSION}]\n\
             toolkit_running_version=[{INTERFACE_VERSION}]\n"
        ),
    )
}

fn with_arch(path: &str, platform: Platform) -> String {
    path.replace("{arch}", platform.processor.name())
}

/// Makes the link `path`, which leads to `target`; both are below `tree`, and the link is relative.
fn link(tree: &Path, path: &str, target: &str) -> Result<()> {
    let at = tree.join(path);
    let folders = Path::new(path).components().count() - 1;
    let mut relative: PathBuf = std::iter::repeat_n(Component::ParentDir, folders).collect();
    relative.push(target);
    // Within one folder the name alone reads better.
    if Path::new(path).parent() == Path::new(target).parent() {
        relative = PathBuf::from(Path::new(target).file_name().unwrap_or_default());
    }
    make_parent(&at)?;
    symlink(&relative, &at).with_context(|| format!("cannot make the link {}", at.display()))
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    make_parent(to)?;
    fs::copy(from, to)
        .map(|_| ())
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Copies a folder that may be missing, without what Python leaves behind.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    if !from.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            if entry.file_name() != "__pycache__" {
                copy_folder(&source, &target)?;
            }
        } else {
            copy(&source, &target)?;
        }
    }
    Ok(())
}

/// Copies the headers of a folder.
pub(crate) fn copy_headers(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let source = entry?.path();
        if source.extension().is_some_and(|ending| ending == "h") {
            copy(&source, &to.join(source.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    make_parent(path)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))?;
    Ok(())
}

/// Lets everybody run a file.
pub(crate) fn executable(path: &Path) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot change {}", path.display()))
}

fn make_parent(path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))
}

/// Sourced by bash and zsh, also under `set -u` and `set -e`, and more than once.
const SET_ENV: &str = r#"# Sets the shell up to build and run Ascend programs with Jumar: source <here>/set_env.sh
if [ -n "${BASH_SOURCE:-}" ]; then
    _jumar_here="${BASH_SOURCE}"
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_jumar_here="${(%):-%x}"'
else
    _jumar_here=
    echo 'set_env.sh: this shell does not report the path of the script; use: eval "$(<here>/bin/jumar env)"' >&2
fi

if [ -n "$_jumar_here" ]; then
    case "$_jumar_here" in */*) ;; *) _jumar_here="./$_jumar_here" ;; esac
    _jumar_here="$(cd "${_jumar_here%/*}" > /dev/null && pwd -P)"

    export ASCEND_HOME_PATH="$_jumar_here"
    export ASCEND_TOOLKIT_HOME="$_jumar_here"
    export ASCEND_INSTALL_PATH="$_jumar_here"
    export ASCEND_OPP_PATH="$_jumar_here/opp"
    # A folder that stands at the head already is not added again.
    case ":${LD_LIBRARY_PATH:-}:" in
        ":$_jumar_here/cann/lib64:"*) ;;
        *) LD_LIBRARY_PATH="$_jumar_here/cann/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
    esac
    case ":${PYTHONPATH:-}:" in
        ":$_jumar_here/python/site-packages:"*) ;;
        *) PYTHONPATH="$_jumar_here/python/site-packages${PYTHONPATH:+:$PYTHONPATH}" ;;
    esac
    case ":${PATH:-}:" in
        ":$_jumar_here/bin:"*) ;;
        *) PATH="$_jumar_here/bin${PATH:+:$PATH}" ;;
    esac
    export LD_LIBRARY_PATH PYTHONPATH PATH
fi
unset _jumar_here
"#;

/// The command that exports profiles. PyTorch's adapter asks for this folder, and for a script in a folder beside it.
const MSPROF_FILE: &str = "tools/profiler/bin/msprof";
const MSPROF: &str = r#"#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../../../bin/jumar" msprof "$@"
"#;
const MSPROF_SCRIPT_FILE: &str = "tools/profiler/profiler_tool/analysis/msprof/msprof.py";
const MSPROF_SCRIPT: &str = r#""""Exports the tables of a profile; `msprof.py --help` lists the options."""

import os
import sys
from pathlib import Path

jumar = Path(__file__).resolve().parents[5] / "bin/jumar"
os.execv(jumar, [str(jumar), "msprof", *sys.argv[1:]])
"#;

/// Writes the command that exports profiles.
pub(crate) fn write_profile_tool(tree: &Path) -> Result<()> {
    write(&tree.join(MSPROF_FILE), MSPROF)?;
    executable(&tree.join(MSPROF_FILE))?;
    write(&tree.join(MSPROF_SCRIPT_FILE), MSPROF_SCRIPT)
}

/// Copies the headers of Ascend C.
pub(crate) fn copy_ascendc_headers(source: &Path, tree: &Path) -> Result<()> {
    copy_folder(
        &source.join("ascendc/include"),
        &tree.join("include/ascendc"),
    )
}

/// The name under which older scripts source the same.
const SETENV_BASH: &str = r#"# The same as ../set_env.sh, under the name that older scripts use.
source "$(cd "$(dirname "${BASH_SOURCE[0]}")" > /dev/null && pwd -P)/../set_env.sh"
"#;

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree made from files that hold nothing, in a folder that goes when the test ends.
    struct Small(PathBuf);

    impl Small {
        fn new(name: &str) -> Self {
            let folder =
                std::env::temp_dir().join(format!("xtask-dist-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            for file in [
                "repo/include/acl/acl.h",
                "repo/python/acl-stubs/rt.pyi",
                "repo/ascendc/cmake/ASCConfig.cmake",
                "repo/ascendc/cmake/ascendc.cmake",
                "repo/ascendc/cmake/tikicpulib-config.cmake",
                "repo/ascendc/include/kernel_operator.h",
                "built",
                "repo/es/es_Add.h",
            ] {
                write(&folder.join(file), file).unwrap();
            }
            Small(folder)
        }

        fn install(&self, prefix: &str) -> PathBuf {
            let prefix = self.0.join(prefix);
            replaceable(&prefix).unwrap();
            let file = || self.0.join("built");
            let built = Built {
                how: Build::Release,
                platform: Platform::of_this_machine().unwrap(),
                runtime: file(),
                graph_engine: file(),
                transformers: file(),
                es_headers: self.0.join("repo/es"),
                python: file(),
                command: file(),
                allocator_keys: file(),
            };
            replace(&prefix, |stage| {
                lay_out(&built, &self.0.join("repo"), stage)
            })
            .unwrap();
            prefix
        }
    }

    impl Drop for Small {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn sourced(script: &Path, print: &str, held: Option<&str>) -> String {
        let mut bash = Command::new("bash");
        let line = format!(
            "set -eu; source '{0}'; source '{0}'; printf %s \"{print}\"",
            script.display()
        );
        bash.args(["-c", &line]).env_remove("PYTHONPATH");
        match held {
            Some(held) => bash.env("LD_LIBRARY_PATH", held),
            None => bash.env_remove("LD_LIBRARY_PATH"),
        };
        let output = bash.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn every_library_name_in_every_folder_is_its_file_also_after_a_move() {
        let small = Small::new("names");
        let platform = Platform::of_this_machine().unwrap();
        let moved = small.0.join("elsewhere");
        fs::rename(small.install("tree"), &moved).unwrap();
        for (names, file) in [(LIBRARY_NAMES, RUNTIME), (GRAPH_ENGINE_NAMES, GRAPH_ENGINE)] {
            let file = fs::canonicalize(moved.join(file)).unwrap();
            for folder in LIBRARY_FOLDERS {
                for name in names {
                    let path = moved
                        .join(with_arch(folder, platform))
                        .join(format!("lib{name}.so"));
                    assert_eq!(fs::canonicalize(&path).unwrap(), file, "{}", path.display());
                }
            }
        }
        for folder in INCLUDE_FOLDERS {
            assert!(
                moved
                    .join(with_arch(folder, platform))
                    .join("acl/acl.h")
                    .is_file(),
                "{folder}"
            );
        }
        // Public build scripts look for the kernels' CMake module in these folders, in this order.
        for folder in [
            "x86_64-linux/tikcpp",
            "aarch64-linux/tikcpp",
            "tikcpp",
            "tools/tikcpp",
        ] {
            let modules = moved.join(folder).join("ascendc_kernel_cmake");
            for module in ["ascendc.cmake", "ASCConfig.cmake"] {
                assert!(modules.join(module).is_file(), "{folder}");
            }
        }
        for folder in ["tools/tikicpulib/lib", "toolkit/tools/tikicpulib/lib"] {
            let folder = moved.join(folder);
            assert!(folder.join("cmake/tikicpulib-config.cmake").is_file());
            assert!(folder.join("include/kernel_operator.h").is_file());
        }
        assert!(
            moved.join("bin/atc").exists() && moved.join("python/site-packages/acl.so").exists()
        );
        assert!(moved.join("python/site-packages/acl-stubs/rt.pyi").exists());
        // PyTorch's adapter looks for the script from the real path of the command.
        let tool = fs::canonicalize(moved.join("bin/msprof")).unwrap();
        assert!(tool.ends_with(MSPROF_FILE) && moved.join(MSPROF_SCRIPT_FILE).is_file());
    }

    #[test]
    fn a_tree_is_replaced_completely_and_a_foreign_folder_is_not() {
        let small = Small::new("replace");
        let tree = small.install("tree");
        write(&tree.join("include/acl/gone.h"), "").unwrap();
        small.install("tree");
        assert!(!tree.join("include/acl/gone.h").exists());
        let names: Vec<_> = fs::read_dir(&small.0)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), 3, "{names:?}");

        let error = replaceable(&small.0).unwrap_err().to_string();
        assert!(error.contains("not an install tree"), "{error}");
    }

    #[test]
    fn the_scripts_can_be_sourced_under_set_u_and_add_nothing_twice() {
        let small = Small::new("blank in it");
        let tree = fs::canonicalize(small.install("a tree")).unwrap();
        let here = tree.display().to_string();
        for script in ["set_env.sh", "bin/setenv.bash"] {
            let script = tree.join(script);
            assert_eq!(sourced(&script, "$ASCEND_HOME_PATH", None), here);
            assert_eq!(
                sourced(&script, "$LD_LIBRARY_PATH", None),
                format!("{here}/{LIBRARIES}")
            );
            let held = sourced(&script, "$LD_LIBRARY_PATH", Some("/a:/b"));
            assert_eq!(held, format!("{here}/{LIBRARIES}:/a:/b"));
            assert_eq!(
                sourced(&script, "$PYTHONPATH", None),
                format!("{here}/python/site-packages")
            );
        }
    }
}
