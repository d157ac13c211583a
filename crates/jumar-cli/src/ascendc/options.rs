//! The driver's command line: options of the card's compiler, sorted by the step that they belong to.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};

/// What is produced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A program or a shared library.
    #[default]
    Linked,
    /// A static library.
    Archive,
    /// An object for each source.
    Object,
    /// The rewritten text.
    Text,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its path.
    pub path: PathBuf,
    /// Whether it holds kernels or launches, so that it is rewritten.
    pub is_device: bool,
}

/// The options, sorted.
#[derive(Debug, Default)]
pub struct Options {
    /// What is produced.
    pub output: Output,
    /// The file that is produced.
    pub file: Option<PathBuf>,
    /// The sources, in order.
    pub sources: Vec<Source>,
    /// Options of the preprocessor.
    pub preprocess: Vec<OsString>,
    /// Options of preprocessor and compiler.
    pub compile: Vec<OsString>,
    /// Options and files of the linker, in order.
    pub link: Vec<OsString>,
    /// The number of the chip.
    pub chip: Chip,
    /// Prints the version and ends.
    pub version: bool,
    /// Prints the options and ends.
    pub help: bool,
    /// Whether the processors are asked for that code can be for.
    pub targets: bool,
    /// Prints each command.
    pub verbose: bool,
    /// Defines `aclrtlaunch_<kernel>` for each kernel.
    pub entries: bool,
    /// Exports the description of each kernel, for a kernel binary.
    pub binary: bool,
    /// The kernel of a custom operator, and the function that returns its description. The object has no other symbols.
    pub operator: Option<(String, String)>,
    /// The folder for the headers `aclrtlaunch_<kernel>.h`.
    pub headers: Option<PathBuf>,
}

/// A chip that kernels can be compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chip {
    /// 910B and 910C.
    #[default]
    A2201,
    /// 310P.
    A2002,
}

impl Chip {
    /// Returns the value of `__NPU_ARCH__`.
    pub fn number(self) -> u32 {
        match self {
            Chip::A2201 => 2201,
            Chip::A2002 => 2002,
        }
    }

    fn named(name: &str) -> Result<Chip> {
        let lower = name.to_lowercase();
        if ["2201", "c220", "910b", "910_93"]
            .iter()
            .any(|part| lower.contains(part))
        {
            Ok(Chip::A2201)
        } else if ["2002", "m200", "310p"]
            .iter()
            .any(|part| lower.contains(part))
        {
            Ok(Chip::A2002)
        } else {
            bail!(
                "the chip {name} is not supported; kernels can be compiled for dav-2201 (Ascend910B, Ascend910_93) and dav-2002 (Ascend310P)"
            )
        }
    }
}

/// Options whose value is the next argument.
const PREPROCESS_PAIRS: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "-MF",
    "-MT",
    "-MQ",
];
const LINK_PAIRS: &[&str] = &["-L", "-l", "-Xlinker", "-u", "-T", "-z"];

impl Options {
    /// Sorts a command line.
    ///
    /// # Errors
    /// An option lacks its value, or names a chip that is not supported.
    pub fn parse(arguments: Vec<OsString>) -> Result<Options> {
        let mut options = Options::default();
        let mut language: Option<bool> = None;
        let mut left = arguments.into_iter();
        while let Some(argument) = left.next() {
            let text = argument.to_string_lossy().into_owned();
            let mut value = |name: &str| match left.next() {
                Some(value) => Ok(value),
                None => bail!("{name} needs a value"),
            };
            match text.as_str() {
                "--version" => options.version = true,
                "-print-targets" | "--print-targets" => options.targets = true,
                "--help" | "-help" | "-h" => options.help = true,
                "-v" => options.verbose = true,
                "-c" | "-dc" => options.output = Output::Object,
                "-E" => options.output = Output::Text,
                "-lib" | "--lib" => options.output = Output::Archive,
                "-o" => options.file = Some(value("-o")?.into()),
                "-x" => {
                    language = match value("-x")?.to_string_lossy().as_ref() {
                        "asc" | "cce" => Some(true),
                        "none" => None,
                        _ => Some(false),
                    };
                }
                "-xasc" | "-xcce" => language = Some(true),
                "-mllvm" | "-Xclang" | "-Xaicore" | "-Xhost" => drop(value(&text)?),
                "-forward-options-to-host-compiler" | "--enable-simt" => {}
                // The checks of order are those that are off by default.
                "--sanitizer" | "-sanitizer" => {
                    options.preprocess.push("-DJUMAR_ASCENDC_CHECK=2".into());
                }
                // A source distinguishes tests on the CPU by these macros.
                "--run-mode=cpu" => options
                    .preprocess
                    .extend(["-DASCENDC_CPU_DEBUG=1", "-D__CCE_KT_TEST__=1"].map(OsString::from)),
                "--jumar-entries" => options.entries = true,
                "--jumar-binary" => options.binary = true,
                "--jumar-headers" => options.headers = Some(value(&text)?.into()),
                name if name.starts_with("--jumar-operator=") => {
                    let Some((kernel, symbol)) = name["--jumar-operator=".len()..].split_once(':')
                    else {
                        bail!("{name} needs a kernel and a symbol, separated by a colon");
                    };
                    options.operator = Some((kernel.to_owned(), symbol.to_owned()));
                }
                name if PREPROCESS_PAIRS.contains(&name) => {
                    options.preprocess.push(argument);
                    options.preprocess.push(value(name)?);
                }
                name if LINK_PAIRS.contains(&name) => {
                    options.link.push(argument);
                    options.link.push(value(name)?);
                }
                name => {
                    if let Some(chip) = [
                        "--npu-arch=",
                        "--npu-soc=",
                        "--cce-soc-version=",
                        "--cce-aicore-arch=",
                    ]
                    .iter()
                    .find_map(|prefix| name.strip_prefix(prefix))
                    {
                        options.chip = Chip::named(chip)?;
                    } else if ["--cce-", "--npu-", "--run-mode"]
                        .iter()
                        .any(|prefix| name.starts_with(prefix))
                    {
                        // They tune the card's code.
                    } else if ["-I", "-D", "-U", "-M", "-isystem", "-iquote"]
                        .iter()
                        .any(|prefix| name.starts_with(prefix))
                    {
                        options.preprocess.push(argument);
                    } else if [
                        "-L",
                        "-l",
                        "-Wl,",
                        "-shared",
                        "-static",
                        "-rdynamic",
                        "-pie",
                        "-no-pie",
                        "-nostdlib",
                        "-fuse-ld",
                    ]
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
                    {
                        options.link.push(argument);
                    } else if name.starts_with('-') && name != "-" {
                        options.compile.push(argument);
                    } else {
                        options.file_argument(argument, language);
                    }
                }
            }
        }
        Ok(options)
    }

    fn file_argument(&mut self, argument: OsString, language: Option<bool>) {
        let path = PathBuf::from(&argument);
        let extension = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_source = matches!(
            extension.as_str(),
            "asc" | "cce" | "c" | "cc" | "cpp" | "cxx" | "C"
        );
        if is_source || language.is_some() {
            let is_device = language.unwrap_or(matches!(extension.as_str(), "asc" | "cce"));
            self.sources.push(Source { path, is_device });
        } else {
            self.link.push(argument);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn options_are_sorted_by_step() {
        let options = parse("a.asc main.cpp -o demo --npu-arch=dav-2201 -O2 -g -DX=1 -I inc -L lib -lfoo --cce-auto-sync -mllvm y z.o").unwrap();
        assert_eq!(options.output, Output::Linked);
        let kinds: Vec<bool> = options
            .sources
            .iter()
            .map(|source| source.is_device)
            .collect();
        assert_eq!(kinds, [true, false]);
        assert_eq!(options.preprocess, ["-DX=1", "-I", "inc"]);
        assert_eq!(options.compile, ["-O2", "-g"]);
        assert_eq!(options.link, ["-L", "lib", "-lfoo", "z.o"]);
    }

    #[test]
    fn the_kernel_of_a_custom_operator_has_a_symbol() {
        let options = parse("-c --jumar-operator=add:jumar_operator_Add_0 add.cpp").unwrap();
        let wanted = ("add".to_owned(), "jumar_operator_Add_0".to_owned());
        assert_eq!(options.operator, Some(wanted));
        assert!(parse("-c --jumar-operator=add add.cpp").is_err());
    }

    #[test]
    fn the_language_option_decides_over_the_suffix() {
        let options = parse("-c -x asc k.cpp -o k.o").unwrap();
        assert!(options.sources[0].is_device);
        assert_eq!(options.output, Output::Object);
    }

    #[test]
    fn a_chip_that_is_not_supported_is_refused_by_name() {
        assert_eq!(
            parse("a.asc --npu-arch=dav-2002").unwrap().chip.number(),
            2002
        );
        let error = parse("a.asc --npu-arch=dav-3510").unwrap_err().to_string();
        assert!(
            error.starts_with("the chip dav-3510 is not supported"),
            "{error}"
        );
    }

    #[test]
    fn help_and_version_need_no_source() {
        for line in ["--help", "-h", "-help"] {
            assert!(parse(line).unwrap().help, "{line}");
        }
        assert!(parse("--version").unwrap().version);
        assert!(parse("-print-targets").unwrap().targets);
        assert!(!parse("a.asc -hello").unwrap().help);
    }

    #[test]
    fn an_option_without_its_value_is_refused() {
        assert_eq!(
            parse("a.asc -o").unwrap_err().to_string(),
            "-o needs a value"
        );
    }
}
