//! The options of `bishengir-compile`.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};

/// What a call asks for.
#[derive(Debug, Default)]
pub struct Options {
    pub help: bool,
    pub version: bool,
    pub source: PathBuf,
    pub output: PathBuf,
    /// The folder of the packages triton-ascend and ascendnpu-ir, if Triton has not called.
    pub packages: Option<PathBuf>,
    /// The chip, as `--target=` names it.
    pub target: String,
}

/// Options that ask for another kind of code, with what they stand for.
const REFUSED: &[(&str, &str)] = &[
    (
        "--enable-triton-ir-compile",
        "compile_mode=\"simt_only\" is not supported: the kernel arrives as Triton's own IR; use compile_mode=\"simd\", the default",
    ),
    (
        "--pure-simt",
        "compile_mode=\"simt_only\" is not supported; use compile_mode=\"simd\", the default",
    ),
];

/// The text of `--help`. Triton reads it twice for each kernel: `limit-auto-multi-buffer-buffer` lets it take the result from `<output>.o`.
pub const HELP: &str = "bishengir-compile: compiles a kernel of Triton (MLIR) for Jumar

Usage: bishengir-compile <module.mlir> [options] -o <output>

Writes <output>.o, a kernel binary for rtDevBinaryRegister.

  -o <output>           the file to write, without the suffix .o
  --target=<chip>       the chip: Ascend910B1 and others; it decides the layout of arguments
  --packages=<folder>   the folder of the packages triton-ascend and ascendnpu-ir; by default those of the calling process
  --version             prints the version
  -h, --help            prints this text

Options that tune the code of a card have no effect: --enable-auto-multi-buffer, --enable-auto-bind-sub-block, --enable-hfusion-compile,
--enable-hivm-compile, --enable-triton-kernel-compile, --limit-auto-multi-buffer-buffer, --set-workspace-multibuffer, --tile-mix-vector-loop,
--tile-mix-cube-loop, --enable-sanitizer, --enable-debug-info, and all others that begin with -- and are not named above.
";

impl Options {
    /// Reads the arguments.
    ///
    /// # Errors
    /// An option is refused, or a file is missing.
    pub fn parse(arguments: Vec<OsString>) -> Result<Options> {
        let mut options = Options::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            if let Some((_, why)) = REFUSED
                .iter()
                .find(|(name, _)| text == *name || text.starts_with(&format!("{name}=")))
            {
                bail!("{why}");
            }
            match &*text {
                "-h" | "--help" => options.help = true,
                "--version" => options.version = true,
                "-o" => match arguments.next() {
                    Some(file) => options.output = file.into(),
                    None => bail!("-o wants a file"),
                },
                _ => {
                    if let Some(chip) = text.strip_prefix("--target=") {
                        chip.clone_into(&mut options.target);
                    } else if let Some(folder) = text.strip_prefix("--packages=") {
                        options.packages = Some(folder.into());
                    } else if !text.starts_with('-') {
                        if !options.source.as_os_str().is_empty() {
                            bail!(
                                "there are two sources: {} and {text}",
                                options.source.display()
                            );
                        }
                        options.source = argument.into();
                    }
                }
            }
        }
        if options.help || options.version {
            return Ok(options);
        }
        if options.source.as_os_str().is_empty() {
            bail!("no source file; --help lists the options");
        }
        if options.output.as_os_str().is_empty() {
            bail!("no output file: -o is missing");
        }
        Ok(options)
    }

    /// Returns whether the argument block begins with the address by which cores synchronise.
    pub fn has_sync_address(&self) -> bool {
        let is_off = std::env::var("TRITON_DISABLE_FFTS")
            .is_ok_and(|value| matches!(value.to_ascii_lowercase().as_str(), "1" | "true"));
        !is_off && !matches!(self.target.as_str(), "Ascend910A" | "Ascend310B4")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Options> {
        Options::parse(words.iter().map(OsString::from).collect())
    }

    #[test]
    fn the_options_of_triton_are_accepted() {
        let words = "k.mlir --target=Ascend910B1 --enable-auto-multi-buffer=True --enable-hfusion-compile=true -o k";
        let options = parsed(&words.split(' ').collect::<Vec<_>>()).unwrap();
        assert_eq!(options.source, PathBuf::from("k.mlir"));
        assert_eq!(options.output, PathBuf::from("k"));
        assert_eq!(options.target, "Ascend910B1");
        assert!(HELP.contains("limit-auto-multi-buffer-buffer") && !HELP.contains("reg-based"));
    }

    #[test]
    fn another_kind_of_code_is_refused_by_its_name() {
        let error = parsed(&["k.mlir", "--pure-simt", "-o", "k"]).unwrap_err();
        assert!(error.to_string().contains("simt_only"), "{error}");
    }
}
