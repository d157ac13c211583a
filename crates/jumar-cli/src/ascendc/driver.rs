//! The steps of a compilation: the system's preprocessor, the rewriter, the system's compiler, the linker.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use super::options::{Options, Output, Source};
use super::rewrite::{self, Rewritten};
use crate::tree::Tree;

/// Runs the driver.
///
/// # Errors
/// A file cannot be read or written, an option is wrong, or the compiler cannot be started. What the compiler reports of the program
/// is not an error: its exit status is returned.
pub fn run(name: &str, arguments: Vec<OsString>) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    if options.version {
        println!(
            "{name} (Jumar {}): Ascend C with the system's compiler\n{}",
            env!("CARGO_PKG_VERSION"),
            Compiler::find()?.version.trim_end()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let driver = Driver {
        tree: Tree::own()?,
        compiler: Compiler::find()?,
        options,
        folder: tempfile::Builder::new()
            .prefix("jumar-ascendc-")
            .tempdir()
            .context("no temporary folder")?,
    };
    driver.run()
}

/// The system's C++ compiler.
struct Compiler {
    command: OsString,
    version: String,
    is_clang: bool,
}

impl Compiler {
    fn find() -> Result<Compiler> {
        let command = std::env::var_os("JUMAR_CXX").unwrap_or_else(|| "c++".into());
        let output = Command::new(&command)
            .arg("--version")
            .output()
            .with_context(|| format!("cannot start the compiler {}", command.display()))?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Compiler {
            is_clang: version.contains("clang"),
            command,
            version,
        })
    }
}

struct Driver {
    tree: Tree,
    compiler: Compiler,
    options: Options,
    folder: tempfile::TempDir,
}

/// How a step ended: the compiler has reported why it failed.
type Step<T> = Result<std::result::Result<T, ExitCode>>;

impl Driver {
    fn run(&self) -> Result<ExitCode> {
        let options = &self.options;
        if options.sources.is_empty()
            && (options.link.is_empty() || options.output != Output::Linked)
        {
            bail!("no source files");
        }
        if options.file.is_some()
            && options.sources.len() > 1
            && matches!(options.output, Output::Object | Output::Text)
        {
            bail!(
                "-o names one file, and there are {} sources",
                options.sources.len()
            );
        }
        let mut objects = Vec::new();
        for (number, source) in options.sources.iter().enumerate() {
            let object = match (options.output, &options.file) {
                (Output::Object, Some(file)) => file.clone(),
                (Output::Object, None) => {
                    PathBuf::from(source.path.file_stem().unwrap_or_default()).with_extension("o")
                }
                _ => self.folder.path().join(format!("{number}.o")),
            };
            if let Err(status) = self.compile(source, number, &object)? {
                return Ok(status);
            }
            objects.push(object);
        }
        let status = match options.output {
            Output::Object | Output::Text => ExitCode::SUCCESS,
            Output::Archive => self.archive(&objects)?,
            Output::Linked => self.link(&objects)?,
        };
        Ok(status)
    }

    /// Compiles a source to an object.
    fn compile(&self, source: &Source, number: usize, object: &Path) -> Step<()> {
        if !source.is_device {
            let mut command = self.command(&[]);
            command
                .args(self.preprocessing())
                .args(&self.options.compile)
                .arg("-c");
            command.arg(&source.path).arg("-o").arg(object);
            return self.execute(&mut command);
        }
        let plain = self.folder.path().join(format!("{number}.ii"));
        let mut command = self.command(&["-E", "-x", "c++", "-include", "ascendc/launch.h"]);
        command
            .args(self.preprocessing())
            .args(self.language())
            .args(&self.options.compile);
        command.arg(&source.path).arg("-o").arg(&plain);
        if let Err(status) = self.execute(&mut command)? {
            return Ok(Err(status));
        }
        let text = fs::read(&plain).with_context(|| format!("cannot read {}", plain.display()))?;
        let text = String::from_utf8_lossy(&text);
        let library = self.headers().display().to_string();
        let rewritten = match rewrite::rewrite(&text, &library) {
            Ok(rewritten) => rewritten,
            Err(problem) => {
                let (location, what) = problem.rsplit_once(": ").unwrap_or(("", &problem));
                eprintln!("{location}: error: {what}");
                return Ok(Err(ExitCode::FAILURE));
            }
        };
        let text = self.with_entries(&rewritten);
        if let Some(folder) = &self.options.headers {
            write_headers(folder, &rewritten)?;
        }
        if self.options.output == Output::Text {
            match &self.options.file {
                Some(file) => fs::write(file, text)
                    .with_context(|| format!("cannot write {}", file.display()))?,
                None => print!("{text}"),
            }
            return Ok(Ok(()));
        }
        let changed = self.folder.path().join(format!("{number}.rewritten.ii"));
        fs::write(&changed, text).with_context(|| format!("cannot write {}", changed.display()))?;
        let mut command = self.command(&["-c", "-x", "c++-cpp-output"]);
        command.args(self.language()).args(&self.options.compile);
        command.arg(&changed).arg("-o").arg(object);
        self.execute(&mut command)
    }

    /// Adds what the options request for each kernel.
    fn with_entries(&self, rewritten: &Rewritten) -> String {
        let mut text = rewritten.text.clone();
        if self.options.entries || self.options.binary {
            text.push_str("\n# 1 \"<entries of kernels>\"\n");
        }
        for kernel in &rewritten.kernels {
            if self.options.entries {
                text.push_str(&kernel.entry(rewritten.waits));
            }
            if self.options.binary {
                text.push_str(&kernel.binary(rewritten.waits));
            }
        }
        text
    }

    /// The library's own headers.
    fn headers(&self) -> PathBuf {
        self.tree.root().join("include/ascendc")
    }

    fn preprocessing(&self) -> Vec<OsString> {
        let mut all = self.options.preprocess.clone();
        for folder in [self.headers(), self.tree.root().join("include")] {
            all.push("-I".into());
            all.push(folder.into());
        }
        all.push(format!("-D__NPU_ARCH__={}", self.options.chip.number()).into());
        all
    }

    /// The options that the library's arithmetic and the loader need.
    fn language(&self) -> Vec<OsString> {
        let given = |prefix: &str| {
            let options = self.options.compile.iter();
            options
                .map(|option| option.to_string_lossy())
                .any(|option| option.starts_with(prefix))
        };
        let mut all: Vec<&str> = vec![
            "-ffp-contract=off",
            "-fno-strict-aliasing",
            "-fvisibility-inlines-hidden",
            "-Wno-unknown-pragmas",
        ];
        if self.compiler.is_clang {
            all.push("-ffloat16-excess-precision=none");
        } else {
            all.extend(["-fexcess-precision=16", "-fno-gnu-unique"]);
        }
        if !given("-std=") {
            all.push("-std=c++17");
        }
        if !given("-march=") {
            all.extend(processor());
        }
        all.into_iter().map(OsString::from).collect()
    }

    fn archive(&self, objects: &[PathBuf]) -> Result<ExitCode> {
        let file = self.options.file.clone().unwrap_or_else(|| "a.a".into());
        let _ = fs::remove_file(&file);
        let mut command = Command::new("ar");
        command.arg("rcs").arg(&file).args(objects);
        Ok(self
            .execute(&mut command)?
            .err()
            .unwrap_or(ExitCode::SUCCESS))
    }

    fn link(&self, objects: &[PathBuf]) -> Result<ExitCode> {
        let mut command = self.command(&[]);
        command
            .args(&self.options.compile)
            .args(objects)
            .args(&self.options.link);
        if let Some(file) = &self.options.file {
            command.arg("-o").arg(file);
        }
        command
            .arg("-L")
            .arg(self.tree.root().join("lib64"))
            .arg("-lascendcl");
        Ok(self
            .execute(&mut command)?
            .err()
            .unwrap_or(ExitCode::SUCCESS))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.compiler.command);
        command.args(arguments);
        command
    }

    fn execute(&self, command: &mut Command) -> Step<()> {
        if self.options.verbose {
            let words: Vec<_> = std::iter::once(command.get_program())
                .chain(command.get_args())
                .map(OsStr::to_string_lossy)
                .collect();
            eprintln!("{}", words.join(" "));
        }
        let status = command
            .status()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(match status.success() {
            true => Ok(()),
            false => Err(ExitCode::FAILURE),
        })
    }
}

/// Conversions of half need an instruction that not every x86-64 processor has. Kernels are compiled for the machine that they run on.
fn processor() -> Vec<&'static str> {
    let mut all = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("f16c") {
            all.push("-mf16c");
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            all.push("-mavx2");
        }
        if std::arch::is_x86_feature_detected!("fma") {
            all.push("-mfma");
        }
    }
    all
}

/// Writes `aclrtlaunch_<kernel>.h` for each kernel, and one header that declares launches in general.
fn write_headers(folder: &Path, rewritten: &Rewritten) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let write = |name: String, text: String| {
        let path = folder.join(name);
        // An unchanged header keeps its time, so that nothing is compiled again.
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    for kernel in &rewritten.kernels {
        write(format!("aclrtlaunch_{}.h", kernel.name), kernel.header())?;
    }
    let general = "#ifndef HEADER_ACLRTLAUNCH_TRIPLE_CHEVRONS_FUNC_H\n#define HEADER_ACLRTLAUNCH_TRIPLE_CHEVRONS_FUNC_H\n#include \"acl/acl_base.h\"\n#endif\n";
    write(
        "aclrtlaunch_triple_chevrons_func.h".to_owned(),
        general.to_owned(),
    )
}
