//! The steps of a compilation.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::lowered::{self, Layout};
use super::options::{HELP, Options};
use super::tools::Tools;
use super::{atomics, module, prepare, wrapper};
use crate::tree::Tree;

/// The runtime of kernels, which each binary holds.
static RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libjumar_triton.a"));
/// Calls LLVM's code generator in Triton's library.
const GENERATE: &str = include_str!("generate.py");

/// MLIR's passes, down to its LLVM dialect.
const PASSES: &[&str] = &[
    "--allow-unregistered-dialect",
    "--execution-engine-convert-hfusion-to-upstream",
    "--execution-engine-convert-hivm-to-upstream",
    "--inline",
    "--convert-elementwise-to-linalg",
    "--eliminate-empty-tensors",
    "--empty-tensor-to-alloc-tensor",
    "--one-shot-bufferize=allow-return-allocs-from-loops=true bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map",
    "--buffer-loop-hoisting",
    "--expand-realloc",
    "--ownership-based-buffer-deallocation",
    "--canonicalize",
    "--buffer-deallocation-simplification",
    "--bufferization-lower-deallocations",
    "--cse",
    "--canonicalize",
    "--convert-bufferization-to-memref",
    "--annotation-lowering",
    "--math-legalize-to-f32",
    "--arith-emulate-unsupported-floats=source-types=bf16 target-type=f32",
    "--convert-linalg-to-loops",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--memref-expand",
    "--expand-strided-metadata",
    "--lower-affine",
    "--arith-expand=include-bf16=true",
    "--convert-vector-to-llvm",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--convert-complex-to-llvm",
    "--convert-arith-to-llvm",
    "--finalize-memref-to-llvm=use-generic-functions=true",
    "--convert-cf-to-llvm",
    "--convert-func-to-llvm",
    "--convert-index-to-llvm",
    "--convert-ub-to-llvm",
    "--canonicalize",
    "--cse",
    "--reconcile-unrealized-casts",
];

/// Passes that release local memory before a program of the grid ends. Where they cannot lower a kernel, it is released then.
const RELEASE: &[&str] = &[
    "--ownership-based-buffer-deallocation",
    "--buffer-deallocation-simplification",
    "--bufferization-lower-deallocations",
];

/// Runs the compiler.
///
/// # Errors
/// The module is not supported, a tool is missing, or a tool fails.
pub fn run(arguments: Vec<std::ffi::OsString>) -> Result<()> {
    let options = Options::parse(arguments)?;
    if options.help {
        print!("{HELP}");
        return Ok(());
    }
    if options.version {
        println!("{} (Jumar {})", super::NAME, env!("CARGO_PKG_VERSION"));
        return Ok(());
    }
    if !cfg!(target_arch = "x86_64") {
        bail!("Triton's packages have programs for x86-64 alone, and this machine is another one");
    }
    let source = fs::read_to_string(&options.source)
        .with_context(|| format!("cannot read {}", options.source.display()))?;
    let tools = Tools::find(options.packages.as_deref())?;
    let folder = tempfile::Builder::new()
        .prefix("jumar-triton-")
        .tempdir()
        .context("no temporary folder")?;
    compile(&source, &options, &tools, folder.path())
}

fn compile(source: &str, options: &Options, tools: &Tools, folder: &Path) -> Result<()> {
    let kernel = module::kernel(source)?;
    let layout = Layout::of(&kernel, options.has_sync_address());
    let prepared = prepare::prepare(&atomics::make_atomic(source)?)?;
    // The functions are checked before the passes run, whose messages do not name them.
    let c = wrapper::write(&kernel, &layout, &prepared.outside)?;
    let (input, output) = (folder.join("module.mlir"), folder.join("lowered.mlir"));
    fs::write(&input, &prepared.text)?;
    lower(tools, &input, &output)
        .with_context(|| format!("kernel \"{}\" cannot be lowered", kernel.name))?;
    let lowered = lowered::rewrite(&fs::read_to_string(&output)?, &kernel, &layout)?;
    fs::write(&output, lowered)?;

    let (script, object) = (folder.join("generate.py"), folder.join("kernel.o"));
    fs::write(&script, GENERATE)?;
    execute(
        Command::new(&tools.python)
            .args(["-I", "-S"])
            .args([&script, &tools.library, &output, &object])
            .arg(processor()),
        "LLVM's code generator",
    )?;

    let (c_file, runtime) = (folder.join("kernel.c"), folder.join("libjumar_triton.a"));
    fs::write(&c_file, c)?;
    fs::write(&runtime, RUNTIME)?;
    let names = folder.join("names");
    let kept = format!(
        "{{ global: {}; jumar_kernel_info_*; local: *; }};\n",
        kernel.name
    );
    fs::write(&names, kept)?;
    let mut versions = std::ffi::OsString::from("-Wl,--version-script=");
    versions.push(&names);
    let mut result = options.output.clone().into_os_string();
    result.push(".o");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    execute(
        Command::new(&compiler)
            .args(["-O1", "-w", "-fPIC", "-shared", "-x", "c", "-I"])
            .arg(Tree::own()?.root().join("include"))
            .arg(&c_file)
            .args(["-x", "none"])
            .args([&object, &runtime])
            .arg(&versions)
            .args(["-Wl,--gc-sections", "-lm", "-o"])
            .arg(&result),
        "the C compiler",
    )
}

/// Runs MLIR's passes.
fn lower(tools: &Tools, input: &Path, output: &Path) -> Result<()> {
    let passes = |without: &[&str]| {
        let mut command = Command::new(&tools.passes);
        command.arg(input);
        command.args(PASSES.iter().filter(|pass| !without.contains(pass)));
        command.arg("-o").arg(output);
        execute(&mut command, "bishengir-opt")
    };
    passes(&[]).or_else(|first| passes(RELEASE).map_err(|_| first))
}

/// Returns the processor to generate code for.
fn processor() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        let has_vectors = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("f16c")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt");
        if has_vectors {
            return "x86-64-v3";
        }
    }
    "x86-64"
}

/// Runs a command up to its end, and returns what it reported if it failed.
fn execute(command: &mut Command, what: &str) -> Result<()> {
    let program = command.get_program().to_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot start {what} ({})", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // The report continues with the full module.
    let said: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("error:") || !line.contains("note:"))
        .take(12)
        .collect();
    bail!("{what} failed ({}): {}", output.status, said.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_reported_with_what_it_said() {
        let error = execute(
            Command::new("sh").args(["-c", "echo error: no >&2; exit 3"]),
            "a test",
        )
        .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("a test failed (exit status: 3)") && text.contains("error: no"),
            "{text}"
        );
    }
}
