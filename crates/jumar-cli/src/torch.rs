//! `jumar torch`: prepares an environment of Python for PyTorch's prebuilt Ascend adapter.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::doctor::Report;
use crate::doctor::frameworks;
use crate::doctor::torch::{self, Environment};
use crate::tree::Tree;

/// The file that makes Python import the module `jumar_torch`, which is beside it in a tree and on Python's path under `jumar run`.
const HOOK: &str = "jumar_torch.pth";
/// Where it lies in a tree.
const HOOKS: &str = "python/site-packages";

/// What the adapter imports and does not declare; the last two are for `torch.compile(backend="npu")`.
const UNDECLARED: &[&str] = &["numpy", "pyyaml", "packaging", "protobuf"];

/// Computes on the device.
const CHECK: &str = "
import torch, torch_npu
x = torch.ones(2, device='npu')
assert (x + x).cpu().tolist() == [2.0, 2.0]
print(f'torch {torch.__version__} with torch_npu {torch_npu.__version__} computes on {torch.npu.get_device_name()}, a software device')
";

/// What `jumar torch` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar torch                                    whether python3 can use the adapter, and what prevents it
  jumar torch --setup                            prepares the environment of python3
  jumar torch --setup --python venv/bin/python   that of another interpreter
  jumar run -- python train.py                   then runs programs with torch_npu

--setup downloads several gigabytes where PyTorch is not installed. It writes one file, jumar_torch.pth, into the folder of packages,
which lets the adapter load beside PyTorch's build for CUDA under `jumar run`, and has no effect without.")]
pub struct Options {
    /// Installs PyTorch and the adapter where they are missing, lets them load together, and computes with them.
    #[arg(long)]
    setup: bool,
    /// Removes what --setup wrote; the packages stay.
    #[arg(long, conflicts_with = "setup")]
    remove: bool,
    /// The interpreter of the environment.
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    python: PathBuf,
    /// The release of PyTorch and the adapter to install, where neither is there.
    #[arg(
        long,
        value_name = "RELEASE",
        default_value = "2.14.0",
        requires = "setup"
    )]
    release: String,
}

/// Prepares, restores or examines an environment.
pub fn run(options: &Options) -> Result<ExitCode> {
    let tree = Tree::own()?;
    let python = &options.python;
    let environment = torch::find(python).with_context(|| {
        format!(
            "{} does not run or is not Python; --python names the interpreter of an environment",
            python.display()
        )
    })?;
    if options.setup {
        return set_up(&tree, python, &options.release, environment);
    }
    if options.remove {
        let hook = environment.packages.join(HOOK);
        ensure!(
            tree.wheel_module().is_none(),
            "{} belongs to the package jumar: pip uninstall jumar",
            hook.display()
        );
        if environment.is_set_up {
            fs::remove_file(&hook).with_context(|| format!("removing {}", hook.display()))?;
            println!("removed {}", hook.display());
        } else {
            println!("nothing to remove: {} is not there", hook.display());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = Report::new();
    if environment.adapter.is_none() {
        // MindSpore needs no PyTorch.
        frameworks::examine(&mut report, python);
        if !report.is_empty() {
            return Ok(report.print());
        }
        bail!(
            "{} has no torch_npu; `jumar torch --setup` installs it",
            python.display()
        );
    }
    torch::examine(&mut report, &tree, python);
    frameworks::examine(&mut report, python);
    Ok(report.print())
}

fn set_up(tree: &Tree, python: &Path, release: &str, environment: Environment) -> Result<ExitCode> {
    install_hook(tree, python, &environment)?;
    let release = match (&environment.torch, &environment.adapter) {
        (Some(package), _) | (None, Some(package)) => package.release(),
        (None, None) => release,
    };
    if environment.torch.is_none() {
        let torch = format!("torch=={release}");
        pip(python, &[&[torch.as_str()], UNDECLARED].concat())?;
    }
    if environment.adapter.is_none() {
        let adapter = format!("torch-npu=={release}");
        // Releases before 2.10 require a build of PyTorch by a name that the package index does not have.
        pip(python, &["--no-deps", &adapter])?;
        pip(python, UNDECLARED)?;
    }
    let found = torch::find(python).context("the interpreter does not run any more")?;
    let (Some(torch), Some(adapter)) = (&found.torch, &found.adapter) else {
        bail!("pip has installed nothing that {} finds", python.display());
    };
    if let Some(problem) = torch::mismatch(torch, adapter) {
        bail!(
            "{problem}: pip install torch=={} in this environment",
            adapter.release()
        );
    }
    let status = Command::new(python)
        .args(["-c", CHECK])
        .envs(tree.environment(|name| std::env::var_os(name)))
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", python.display()))?;
    ensure!(
        status.success(),
        "the adapter is installed and does not work ({status}); `jumar torch` says more"
    );
    println!(
        "run programs with: jumar run -- {} PROGRAM",
        python.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Copies the file that makes Python import `jumar_torch`.
fn install_hook(tree: &Tree, python: &Path, environment: &Environment) -> Result<()> {
    let hook = environment.packages.join(HOOK);
    if let Some(module) = tree.wheel_module() {
        let own = module
            .parent()
            .and_then(|folder| folder.canonicalize().ok());
        ensure!(
            own.is_some() && own == environment.packages.canonicalize().ok(),
            "this jumar is a package of another environment than {}: {0} -m pip install jumar",
            python.display()
        );
        return Ok(());
    }
    let source = tree.root().join(HOOKS).join(HOOK);
    let text = fs::read(&source).with_context(|| format!("reading {}", source.display()))?;
    if fs::read(&hook).is_ok_and(|present| present == text) {
        return Ok(());
    }
    fs::write(&hook, text).with_context(|| {
        format!(
            "writing {}; a virtual environment is writable: python3 -m venv venv, and --python venv/bin/python",
            hook.display()
        )
    })?;
    println!("wrote {}", hook.display());
    Ok(())
}

/// Installs packages, and shows the command.
fn pip(python: &Path, packages: &[&str]) -> Result<()> {
    let mut command = Command::new(python);
    command
        .args(["-m", "pip", "install", "--disable-pip-version-check"])
        .args(packages);
    println!("{} -m pip install {}", python.display(), packages.join(" "));
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", python.display()))?;
    ensure!(
        status.success(),
        "pip could not install {} ({status})",
        packages.join(" ")
    );
    Ok(())
}
