//! The steps of a compilation: the system's preprocessor, the rewriter, the system's compiler, the linker.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use super::options::{Chip, Options, Output, Source};
use super::passes;
use super::rewrite::{Facts, Pass, Rewritten, Unit};
use crate::tree::Tree;

/// Runs the driver.
///
/// # Errors
/// A file cannot be read or written, an option is wrong, or the compiler cannot be started. What the compiler reports of the program
/// is not an error: its exit status is returned.
pub fn run(name: &str, arguments: Vec<OsString>) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    if options.help {
        println!("{}", help(name));
        return Ok(ExitCode::SUCCESS);
    }
    if options.targets {
        // Triton takes a driver that knows the processor `hiipu64` for a toolkit of Ascend.
        println!(
            "  Registered Targets:\n    hiipu64 - cores of an Ascend processor, whose kernels run on this machine's CPU"
        );
        return Ok(ExitCode::SUCCESS);
    }
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

fn help(name: &str) -> String {
    format!(
        "{name}: compiles Ascend C for Jumar with the system's C++ compiler

Usage: {name} [options] file...

Files that end in .asc or .cce hold kernels or launches; other sources are compiled as C++.

  -x <language>         asc: the files that follow hold kernels or launches; none: their suffix decides; else C++
  -o <file>             writes the result to a file
  -c                    writes an object for each source
  -lib                  writes a static library
  -shared               writes a shared library
  -E                    writes the rewritten text
  -I, -D, -U, -include  as for the system's preprocessor
  -L, -l, -Wl,          as for the system's linker
  --npu-arch=<chip>     the chip: dav-2201 (Ascend910B, Ascend910_93) or dav-2002 (Ascend310P)
  --sanitizer           checks memory and order while kernels run
  --run-mode=cpu        defines the macros by which a source recognises a test on the CPU
  -v                    prints each command
  -print-targets        prints the processors that code can be for
  --version             prints the version
  -h, --help            prints this text

Options that tune the card's code (--cce-..., --npu-..., -mllvm) are accepted and have no effect. All others go to
the system's compiler, which JUMAR_CXX names (default: c++)."
    )
}

/// The system's C++ compiler.
struct Compiler {
    command: OsString,
    version: String,
    /// The release of Clang; `None` for another compiler.
    clang: Option<u32>,
}

/// Finds the release of Clang in what `--version` prints.
fn clang_release(version: &str) -> Option<u32> {
    let digits = version.split("clang version ").nth(1)?;
    digits.split('.').next()?.parse().ok()
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
            clang: clang_release(&version),
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
            bail!("no source files; --help lists the options");
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
        let unit = passes::unit(&source.path, object);
        let library = self.headers().display().to_string();
        let text = match self.preprocess(source, number, Pass::All, &unit)? {
            Ok(text) => text,
            Err(status) => return Ok(Err(status)),
        };
        let single = match read(&text, &library) {
            Ok(unit) => unit,
            Err(status) => return Ok(Err(status)),
        };
        let separate = match self.separate(source, number, &unit, &single)? {
            Ok(separate) => separate,
            Err(status) => return Ok(Err(status)),
        };
        if separate.is_empty() {
            let rewritten = match single.rewrite(single.facts(), Pass::All, &[]) {
                Ok(rewritten) => rewritten,
                Err(problem) => return Ok(Err(report(&problem))),
            };
            if let Err(status) = self.write_first(&rewritten, number, object)? {
                return Ok(Err(status));
            }
        } else if let Err(status) = self.compile_passes(number, object, &unit, &separate)? {
            return Ok(Err(status));
        }
        match &self.options.operator {
            Some((_, symbol)) if self.options.output != Output::Text => {
                self.isolate(object, symbol)
            }
            _ => Ok(Ok(())),
        }
    }

    /// Removes the global symbols of the kernel of a custom operator. Kernels of the same operator for other types define the same names.
    fn isolate(&self, object: &Path, symbol: &str) -> Step<()> {
        let own = self.folder.path().join("own.o");
        if let Err(status) = self.ungroup(object, &own)? {
            return Ok(Err(status));
        }
        let mut command = keep_global(symbol);
        command.arg(&own).arg(object);
        self.execute(&mut command)
    }

    /// Makes ordinary sections of the groups of templates, so that no linker merges them with those of other objects.
    fn ungroup(&self, object: &Path, own: &Path) -> Step<()> {
        let mut command = self.command(&["-r", "-nostdlib", "-Wl,--force-group-allocation"]);
        command.arg(object).arg("-o").arg(own);
        self.execute(&mut command)
    }

    /// Returns the passes of a source that cannot be compiled for all cores at once, with their preprocessed texts. The first pass is
    /// that of the host.
    fn separate(
        &self,
        source: &Source,
        number: usize,
        unit: &str,
        single: &Unit<'_>,
    ) -> Step<Vec<(Pass, String)>> {
        if self.options.chip != Chip::A2201 {
            return Ok(Ok(Vec::new()));
        }
        let own: Vec<Vec<u8>> = single
            .files()
            .into_iter()
            .filter_map(|file| fs::read(file).ok())
            .collect();
        let names = |macros: &[&str]| {
            let mut words = macros.iter();
            words.any(|word| own.iter().any(|text| contains(text, word)))
        };
        let mut separate = Vec::new();
        let library = self.headers().display().to_string();
        let preprocess = |pass| self.preprocess(source, number, pass, unit);
        // A source whose host code differs from its device code has a pass of the host. One that cannot be preprocessed without macros of
        // the device has none.
        if names(passes::DEVICE_MACROS) {
            let mut command = self.preprocessor(source, number, Pass::Host, unit);
            command.stderr(Stdio::null());
            if self.execute(&mut command)?.is_ok() {
                let host = self.preprocessed(number, Pass::Host)?;
                let is_other =
                    Unit::read(&host, &library).is_ok_and(|unit| !unit.has_host_code_of(single));
                if is_other {
                    separate.push((Pass::Host, host));
                }
            }
        }
        let needs_host = !separate.is_empty();
        if !needs_host && !names(passes::CORE_MACROS) && !single.has_constant_of_core() {
            return Ok(Ok(Vec::new()));
        }
        let cube = match preprocess(Pass::Cube)? {
            Ok(cube) => cube,
            Err(status) => return Ok(Err(status)),
        };
        if !needs_host && !single.has_constant_of_core() {
            let unit = match read(&cube, &library) {
                Ok(unit) => unit,
                Err(status) => return Ok(Err(status)),
            };
            if unit.has_code_of(single) {
                return Ok(Ok(Vec::new()));
            }
        }
        let vector = match needs_host {
            true => Pass::Vector,
            false => Pass::VectorAndHost,
        };
        match preprocess(vector)? {
            Ok(text) => separate.push((vector, text)),
            Err(status) => return Ok(Err(status)),
        }
        separate.push((Pass::Cube, cube));
        Ok(Ok(separate))
    }

    /// Compiles the passes of a source to one object.
    fn compile_passes(
        &self,
        number: usize,
        object: &Path,
        unit: &str,
        passes: &[(Pass, String)],
    ) -> Step<()> {
        let library = self.headers().display().to_string();
        let mut units = Vec::new();
        for (_, text) in passes {
            match read(text, &library) {
                Ok(unit) => units.push(unit),
                Err(status) => return Ok(Err(status)),
            }
        }
        let facts = Facts {
            waits: units.iter().any(|unit| unit.facts().waits),
            uses_both: units.iter().any(Unit::uses_cube),
        };
        // The host's pass launches by name what it does not define.
        let mut named = Vec::new();
        for (number, one) in units.iter().enumerate().skip(1) {
            if passes[0].0 == Pass::Host && passes[number].0 != Pass::Host {
                named.extend(one.kernels());
            }
        }
        let defined = units[0].kernels();
        named.retain(|kernel| !defined.iter().any(|other| other.path == kernel.path));
        let mut objects = Vec::new();
        for ((pass, _), one) in passes.iter().zip(&units) {
            let named = if *pass == Pass::Host { &named[..] } else { &[] };
            let rewritten = match one.rewrite(facts, *pass, named) {
                Ok(rewritten) => rewritten,
                Err(problem) => return Ok(Err(report(&problem))),
            };
            let part = self.folder.path().join(format!("{number}.{pass:?}.o"));
            let step = match pass.table(unit) {
                None => self.write_first(&rewritten, number, &part)?,
                Some(table) => self.write_other(&rewritten, &part, &table)?,
            };
            if let Err(status) = step {
                return Ok(Err(status));
            }
            objects.push(part);
        }
        if self.options.output == Output::Text {
            return Ok(Ok(()));
        }
        let mut command = self.command(&["-r", "-nostdlib"]);
        command.args(&objects).arg("-o").arg(object);
        self.execute(&mut command)
    }

    /// Runs the preprocessor.
    fn preprocess(&self, source: &Source, number: usize, pass: Pass, unit: &str) -> Step<String> {
        let mut command = self.preprocessor(source, number, pass, unit);
        if let Err(status) = self.execute(&mut command)? {
            return Ok(Err(status));
        }
        Ok(Ok(self.preprocessed(number, pass)?))
    }

    fn preprocessor(&self, source: &Source, number: usize, pass: Pass, unit: &str) -> Command {
        let mut command = self.command(&["-E", "-x", "c++", "-include", "ascendc/launch.h"]);
        command
            .args(self.preprocessing())
            .args(pass.definitions(self.options.chip.number(), unit));
        if pass == Pass::Cube {
            command.arg("-D__DAV_C220_CUBE__=1");
        }
        command.args(self.language()).args(&self.options.compile);
        command.arg(&source.path);
        command.arg("-o").arg(self.preprocessed_file(number, pass));
        command
    }

    fn preprocessed_file(&self, number: usize, pass: Pass) -> PathBuf {
        self.folder.path().join(format!("{number}.{pass:?}.ii"))
    }

    fn preprocessed(&self, number: usize, pass: Pass) -> Result<String> {
        let file = self.preprocessed_file(number, pass);
        let text = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Compiles the pass of the host, which has the functions that launch kernels.
    fn write_first(&self, rewritten: &Rewritten, number: usize, object: &Path) -> Step<()> {
        let text = self.with_entries(rewritten)?;
        if let Some(folder) = &self.options.headers {
            write_headers(folder, rewritten)?;
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

    /// Compiles the pass of a kind of core: an object whose only symbols are its table and the state that all passes share.
    fn write_other(&self, rewritten: &Rewritten, object: &Path, table: &str) -> Step<()> {
        if self.options.output == Output::Text {
            return Ok(Ok(()));
        }
        let mut text = rewritten.text.clone();
        text.push_str("\n# 1 \"<kernels of a pass>\"\n");
        for kernel in &rewritten.kernels {
            text.push_str(&kernel.pass_entry());
        }
        let file = |suffix: &str| object.with_extension(suffix);
        let write = |path: &Path, text: String| {
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        write(&file("ii"), text)?;
        let mut command = self.command(&["-S", "-x", "c++-cpp-output"]);
        command.args(self.language()).args(&self.options.compile);
        // The text is needed in assembler.
        command.arg("-fno-lto").arg(file("ii"));
        command.arg("-o").arg(file("s"));
        if let Err(status) = self.execute(&mut command)? {
            return Ok(Err(status));
        }
        let assembly = fs::read_to_string(file("s"))
            .with_context(|| format!("cannot read {}", file("s").display()))?;
        let rows = passes::table(&assembly, table);
        write(&file("s"), assembly + &rows)?;
        let mut command = self.command(&["-c", "-Wa,--no-warn"]);
        command.arg(file("s")).arg("-o").arg(file("mixed.o"));
        if let Err(status) = self.execute(&mut command)? {
            return Ok(Err(status));
        }
        if let Err(status) = self.ungroup(&file("mixed.o"), &file("own.o"))? {
            return Ok(Err(status));
        }
        let mut command = keep_global(table);
        // The host's pass has the program's own initializers.
        for section in [".init_array*", ".ctors*", ".fini_array*", ".dtors*"] {
            command.arg(format!("--remove-section={section}"));
        }
        command.arg(file("own.o")).arg(object);
        self.execute(&mut command)
    }

    /// Adds what the options request for each kernel.
    fn with_entries(&self, rewritten: &Rewritten) -> Result<String> {
        let mut text = rewritten.text.clone();
        if self.options.entries || self.options.binary || self.options.operator.is_some() {
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
        if let Some((name, symbol)) = &self.options.operator {
            let mut kernels = rewritten.kernels.iter();
            match kernels.find(|kernel| kernel.name == *name) {
                Some(kernel) => text.push_str(&kernel.operator(rewritten.waits, symbol)),
                None => {
                    bail!("the source defines no kernel {name}, which its operator is named after")
                }
            }
        }
        Ok(text)
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
        if self.compiler.clang.is_some() {
            // Clang reports each loop of the library that an operation keeps from becoming vector code.
            all.push("-Wno-pass-failed");
        }
        match self.compiler.clang {
            // Clang 15 rounds each operation of half, and has no option for it.
            Some(..=15) => {}
            Some(_) => all.extend(["-Xclang", "-ffloat16-excess-precision=none"]),
            None => all.extend(["-fexcess-precision=16", "-fno-gnu-unique"]),
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

/// Returns the command that makes all symbols of an object local but one and those that all passes share.
fn keep_global(symbol: &str) -> Command {
    let mut command = Command::new("objcopy");
    command.arg("--wildcard");
    for name in passes::SHARED.iter().copied().chain([symbol]) {
        command.arg(format!("--keep-global-symbol={name}"));
    }
    command
}

/// Reads a preprocessed source, and reports what is wrong with it.
fn read<'a>(text: &'a str, library: &'a str) -> std::result::Result<Unit<'a>, ExitCode> {
    Unit::read(text, library).map_err(|problem| report(&problem))
}

/// Prints what is wrong with a source as a compiler does.
fn report(problem: &str) -> ExitCode {
    let (location, what) = problem.rsplit_once(": ").unwrap_or(("", problem));
    eprintln!("{location}: error: {what}");
    ExitCode::FAILURE
}

/// Returns whether a file has a word.
fn contains(text: &[u8], word: &str) -> bool {
    text.windows(word.len())
        .any(|window| window == word.as_bytes())
}

/// Conversions of half need an instruction that not every x86-64 processor has. Kernels are compiled for the machine that they run on.
#[cfg(target_arch = "x86_64")]
fn processor() -> Vec<&'static str> {
    let mut all = Vec::new();
    if std::arch::is_x86_feature_detected!("f16c") {
        all.push("-mf16c");
    }
    if std::arch::is_x86_feature_detected!("avx2") {
        all.push("-mavx2");
    }
    if std::arch::is_x86_feature_detected!("fma") {
        all.push("-mfma");
    }
    all
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> Vec<&'static str> {
    Vec::new()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_of_clang_is_read_and_gcc_has_none() {
        let debian = "Debian clang version 15.0.6\nTarget: x86_64-pc-linux-gnu\n";
        assert_eq!(clang_release(debian), Some(15));
        assert_eq!(clang_release("clang version 20.1.0-rc2\n"), Some(20));
        let gcc = "c++ (Debian 12.2.0-14+deb12u1) 12.2.0\n";
        assert_eq!(clang_release(gcc), None);
    }
}
