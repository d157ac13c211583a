//! What a tree or a wheel is built for: this machine, or Linux on a processor with an older glibc.
//!
//! A portable build links Rust code with zig (`cargo-zigbuild`, in an environment of its own), which has the symbols of every
//! glibc. The C++ libraries come from the system's compiler, whose classes of the standard library programs expect; they name old
//! versions of the few functions that newer systems define anew (`OLD_NAMES`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::dist::{self, filter::tool};
use crate::progress;

/// What a portable build is linked against: Debian 10, Ubuntu 20.04, RHEL 8 and everything newer.
pub(crate) const PORTABLE_GLIBC: (u32, u32) = (2, 28);
/// The version of libstdc++ on these systems.
pub(crate) const PORTABLE_GLIBCXX: [u32; 3] = [3, 4, 25];
/// The packages that link portable builds.
const LINKER: [&str; 2] = ["cargo-zigbuild==0.24.0", "ziglang==0.15.2"];
/// Functions that moved into libc.so.6 with glibc 2.34 under a new version. Under the first version of the processor they are in every
/// glibc, for programs that were linked earlier.
const OLD_NAMES: &[&str] = &[
    "dladdr",
    "dlclose",
    "dlerror",
    "dlopen",
    "dlsym",
    "pthread_create",
    "pthread_detach",
    "pthread_join",
    "pthread_key_create",
    "pthread_key_delete",
    "pthread_once",
    "sem_post",
    "sem_wait",
];

/// A processor that Jumar is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Processor {
    /// AMD64.
    #[value(name = "x86_64")]
    X86_64,
    /// 64-bit Arm.
    #[value(name = "aarch64")]
    Aarch64,
}

impl Processor {
    /// Returns the processor of this machine.
    ///
    /// # Errors
    /// Jumar is not built for it.
    pub fn of_this_machine() -> Result<Processor> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Processor::X86_64),
            "aarch64" => Ok(Processor::Aarch64),
            other => bail!("Jumar is built for x86_64 and aarch64, and this machine is {other}"),
        }
    }

    /// Returns its name in folders, tags of wheels and triples.
    pub fn name(self) -> &'static str {
        match self {
            Processor::X86_64 => "x86_64",
            Processor::Aarch64 => "aarch64",
        }
    }

    /// Returns the first version of glibc for it, under which `OLD_NAMES` are known everywhere.
    fn first_glibc(self) -> &'static str {
        match self {
            Processor::X86_64 => "2.2.5",
            Processor::Aarch64 => "2.17",
        }
    }

    fn is_of_this_machine(self) -> bool {
        self.name() == std::env::consts::ARCH
    }
}

/// What a build is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    pub processor: Processor,
    /// Whether an older glibc than this machine's has to do.
    pub is_portable: bool,
}

impl Platform {
    /// Returns the platform of a build for this machine alone.
    pub fn of_this_machine() -> Result<Platform> {
        Ok(Platform {
            processor: Processor::of_this_machine()?,
            is_portable: false,
        })
    }

    /// Returns the name of Rust's target.
    pub fn triple(self) -> String {
        format!("{}-unknown-linux-gnu", self.processor.name())
    }

    /// Returns the name of a tool of the compiler, such as `strip`, for this platform's files.
    pub fn tool(self, name: &str) -> String {
        match self.processor.is_of_this_machine() {
            true => name.to_owned(),
            false => format!("{}-linux-gnu-{name}", self.processor.name()),
        }
    }

    /// Returns the C++ compiler.
    pub fn cxx(self) -> OsString {
        match (std::env::var_os("CXX"), self.processor.is_of_this_machine()) {
            (Some(named), true) => named,
            (None, true) => "c++".into(),
            (_, false) => self.tool("g++").into(),
        }
    }

    /// Returns the C compiler, which links the filter objects.
    pub fn cc(self) -> String {
        match self.processor.is_of_this_machine() {
            true => "cc".to_owned(),
            false => self.tool("gcc"),
        }
    }

    /// Makes a command that runs a program of this platform: in an emulator, if it is of another processor.
    ///
    /// # Errors
    /// There is no emulator.
    pub fn run(self, program: &Path) -> Result<Command> {
        if self.processor.is_of_this_machine() {
            return Ok(Command::new(program));
        }
        let name = self.processor.name();
        let names = [format!("qemu-{name}"), format!("qemu-{name}-static")];
        let is_there = |emulator: &&String| {
            let mut command = Command::new(emulator);
            command.arg("--version");
            command.output().is_ok_and(|output| output.status.success())
        };
        let emulator = names.iter().find(is_there).with_context(|| {
            format!(
                "there is no {}; on Debian and Ubuntu: apt-get install qemu-user",
                names[0]
            )
        })?;
        let mut command = Command::new(emulator);
        command
            .arg("-L")
            .arg(format!("/usr/{name}-linux-gnu"))
            .arg(program);
        Ok(command)
    }

    /// Returns the options of the C++ compiler that keep the libraries loadable on older systems.
    pub fn cxx_options(self) -> Vec<String> {
        match self.is_portable {
            true => vec![
                "-include".to_owned(),
                self.old_names_header().display().to_string(),
            ],
            false => Vec::new(),
        }
    }

    fn old_names_header(self) -> PathBuf {
        let name = format!("old_names_{}.h", self.processor.name());
        crate::root().join("target/dist").join(name)
    }

    /// Writes the header of [`Platform::cxx_options`].
    fn write_old_names(self) -> Result<()> {
        let version = self.processor.first_glibc();
        let lines = OLD_NAMES
            .iter()
            .map(|name| format!("__asm__(\".symver {name},{name}@GLIBC_{version}\");\n"));
        dist::write(&self.old_names_header(), &lines.collect::<String>())
    }

    /// Builds everything for the platform in release mode. The result depends neither on the folder of the repository nor on the user.
    ///
    /// # Errors
    /// The build fails, or a tool is missing; the error names it.
    pub fn build(self, log: &Path) -> Result<dist::Built> {
        if !self.is_portable {
            return dist::build(dist::Build::Release);
        }
        self.require_tools()?;
        self.write_old_names()?;
        let root = crate::root();
        let bin = linker(log)?;
        let mut paths = vec![bin.clone()];
        paths.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let triple = self.triple();
        let (major, minor) = PORTABLE_GLIBC;
        let target = root.join("target/portable");
        let renamed = renamed_folders()?;
        let c_options = renamed
            .iter()
            .map(|(from, to)| format!("-ffile-prefix-map={from}={to}"));
        let rust_options = renamed
            .iter()
            .map(|(from, to)| format!("--remap-path-prefix={from}={to}"));
        let mut build = Command::new(bin.join("cargo-zigbuild"));
        build
            .args(["zigbuild", "--release", "--locked", "--target"])
            .arg(format!("{triple}.{major}.{minor}"))
            .args(dist::PACKAGES)
            .env("PATH", std::env::join_paths(paths)?)
            .env("CARGO_TARGET_DIR", &target)
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                rust_options.collect::<Vec<_>>().join("\u{1f}"),
            )
            .env(
                format!("CFLAGS_{}", triple.replace('-', "_")),
                c_options.collect::<Vec<_>>().join(" "),
            )
            .env("SOURCE_DATE_EPOCH", source_date()?.to_string())
            .current_dir(root);
        progress::run_or_fail("building for older systems", &mut build, log)?;
        let folder = target.join(triple).join("release");
        dist::Built::at(&folder, dist::Build::Release, self)
    }

    /// Checks the tools for another processor before anything is compiled.
    fn require_tools(self) -> Result<()> {
        if self.processor.is_of_this_machine() {
            return Ok(());
        }
        let name = self.processor.name();
        tool(
            &self.tool("g++"),
            Command::new(self.tool("g++")).arg("--version"),
        )
        .with_context(|| {
            format!("building for {name} needs its compiler: apt-get install g++-{name}-linux-gnu")
        })?;
        self.run(Path::new("/bin/true")).map(|_| ())?;
        let mut libraries = Command::new("rustc");
        libraries
            .args(["--print", "target-libdir", "--target"])
            .arg(self.triple());
        let folder = tool("rustc", &mut libraries)?;
        ensure!(
            Path::new(folder.trim()).is_dir(),
            "Rust's library for {name} is missing: rustup target add {}",
            self.triple()
        );
        Ok(())
    }
}

/// Returns the folder of cargo-zigbuild and zig, and installs them first where needed.
fn linker(log: &Path) -> Result<PathBuf> {
    let venv = crate::root().join("target/venv-zig");
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
        install.args(LINKER);
        progress::run_or_fail("installing zig and cargo-zigbuild", &mut install, log)?;
    }
    Ok(bin)
}

/// Returns the folders whose names compilers would write into files, with what they write instead.
fn renamed_folders() -> Result<[(String, &'static str); 3]> {
    let sysroot = tool("rustc", Command::new("rustc").args(["--print", "sysroot"]))?;
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(
        || std::env::home_dir().unwrap_or_default().join(".cargo"),
        PathBuf::from,
    );
    Ok([
        (crate::root().display().to_string(), "/jumar"),
        (cargo.join("registry/src").display().to_string(), "/cargo"),
        (sysroot.trim().to_owned(), "/rust"),
    ])
}

/// Returns the time that every file of a release bears, in seconds since 1970: `SOURCE_DATE_EPOCH`, or the time of the newest commit.
///
/// # Errors
/// The variable is not a number, or it is not set and this is not a checkout.
pub(crate) fn source_date() -> Result<u64> {
    if let Ok(text) = std::env::var("SOURCE_DATE_EPOCH") {
        return text.trim().parse().with_context(|| {
            format!("SOURCE_DATE_EPOCH is {text:?}; it must be a number of seconds since 1970")
        });
    }
    let mut log = Command::new("git");
    log.args(["log", "-1", "--format=%ct"])
        .current_dir(crate::root());
    let text = tool("git", &mut log).context(
        "the date of the sources is not known; set SOURCE_DATE_EPOCH to seconds since 1970",
    )?;
    text.trim().parse().context("the date of the newest commit")
}
