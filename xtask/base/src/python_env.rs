//! The Python environments: target/venv of the tests, made from tests/requirements.txt, and target/venv-bench of the
//! benchmarks with the engines that they compare with. One is made anew when its file changes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::progress;

/// The oldest Python that the tests and the module support.
const OLDEST: (u32, u32) = (3, 9);

/// Returns the interpreter of an environment with all packages that the tests import; creates it if needed.
///
/// # Errors
/// One sentence names what is missing: Python, its venv module, or access to the packages.
pub fn ensure(log: &Path) -> Result<PathBuf> {
    make("target/venv", "tests/requirements.txt", log)
}

/// Returns the interpreter of an environment that also has the engines of the benchmarks.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_bench(log: &Path) -> Result<PathBuf> {
    make("target/venv-bench", "benches/requirements.txt", log)
}

/// Returns the interpreter of an environment that has PyTorch and its Ascend adapter, and creates it first where needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_torch(log: &Path) -> Result<PathBuf> {
    make(
        "target/venv-torch",
        "examples/pytorch/requirements.txt",
        log,
    )
}

/// Returns the interpreter of an environment that has vLLM and its plug-in for Ascend devices, and creates it first where needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_vllm(log: &Path) -> Result<PathBuf> {
    ensure_alone("target/venv-vllm", "examples/vllm", &[], log)
}

/// Returns the interpreter of an environment that has Triton for Ascend devices, and creates it first where needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_triton(log: &Path) -> Result<PathBuf> {
    // PyTorch's own Triton lies in the same folder of packages.
    ensure_alone("target/venv-triton", "examples/triton", &["triton"], log)
}

/// Makes an environment from an example's `requirements.txt`, and then installs its `packages.txt` without what these require. The
/// packages `removed` are removed in between.
fn ensure_alone(folder: &str, example: &str, removed: &[&str], log: &Path) -> Result<PathBuf> {
    let python = make(folder, &format!("{example}/requirements.txt"), log)?;
    let list = crate::root().join(example).join("packages.txt");
    let wanted = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    let mark = crate::root().join(folder).join("packages.txt");
    if fs::read_to_string(&mark).is_ok_and(|made_from| made_from == wanted) {
        return Ok(python);
    }
    let pip = || {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "--quiet", "--no-input"])
            .arg("--disable-pip-version-check");
        pip
    };
    if !removed.is_empty() {
        let mut remove = pip();
        remove.args(["uninstall", "--yes"]).args(removed);
        progress::run_or_fail("removing packages", &mut remove, log)?;
    }
    let mut install = pip();
    install
        .args(["install", "--only-binary=:all:", "--no-deps", "-r"])
        .arg(&list);
    progress::run_or_fail("installing packages", &mut install, log).with_context(|| {
        format!(
            "the packages of {} could not be installed; is a package index reachable?",
            list.display()
        )
    })?;
    fs::write(&mark, wanted)?;
    Ok(python)
}

/// Returns the interpreter of an environment that has MindSpore, and creates it first where needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_mindspore(log: &Path) -> Result<PathBuf> {
    make(
        "target/venv-mindspore",
        "examples/mindspore/requirements.txt",
        log,
    )
}

/// Returns the folder with the published models that are trained by PyTorch's adapter, and installs them first where needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_architectures(python: &Path, log: &Path) -> Result<PathBuf> {
    ensure_site(
        python,
        "tests/pytorch/architectures.txt",
        "target/site-architectures",
        log,
    )
}

/// Returns the folder with what PyTorch's exporters to ONNX need, and installs it first where needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_exporters(python: &Path, log: &Path) -> Result<PathBuf> {
    ensure_site(
        python,
        "tests/pytorch/exporters.txt",
        "target/site-exporters",
        log,
    )
}

/// Installs the packages of a list, without their dependencies, in a folder of their own.
fn ensure_site(python: &Path, list: &str, folder: &str, log: &Path) -> Result<PathBuf> {
    let root = crate::root();
    let folder = root.join(folder);
    let wanted = fs::read_to_string(root.join(list)).with_context(|| list.to_owned())?;
    let mark = folder.join("made-from.txt");
    if fs::read_to_string(&mark).is_ok_and(|made_from| made_from == wanted) {
        return Ok(folder);
    }
    let _ = fs::remove_dir_all(&folder);
    let mut install = Command::new(python);
    install
        .args(["-m", "pip", "install", "--quiet", "--no-input"])
        .args(["--disable-pip-version-check", "--only-binary=:all:"])
        .args(["--no-deps", "--target"])
        .arg(&folder)
        .arg("-r")
        .arg(root.join(list));
    progress::run_or_fail("installing packages", &mut install, log).with_context(|| {
        format!("the packages of {list} could not be installed; is a package index reachable?")
    })?;
    fs::write(&mark, wanted)?;
    Ok(folder)
}

/// Returns the interpreter of an environment that has ONNX Runtime with its prebuilt CANN provider, and creates it first where
/// needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_onnxruntime(log: &Path) -> Result<PathBuf> {
    make(
        "target/venv-onnxruntime",
        "tests/onnxruntime/requirements.txt",
        log,
    )
}

/// Returns the folder of a cmake from the package index, and installs it first where needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_cmake(log: &Path) -> Result<PathBuf> {
    let python = make("target/venv-cmake", "xtask/cmake.txt", log)?;
    Ok(python.with_file_name(""))
}

/// Returns the interpreter of an environment that builds the site of the documentation, and creates it first where needed.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_pages(log: &Path) -> Result<PathBuf> {
    make("target/venv-site", "xtask/site/requirements.txt", log)
}

/// Returns the folder that an interpreter's packages are installed into.
///
/// # Errors
/// The interpreter does not run.
pub fn packages(python: &Path) -> Result<PathBuf> {
    let script = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let output = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} does not run", python.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().into())
}

fn make(folder: &str, list: &str, log: &Path) -> Result<PathBuf> {
    let root = crate::root();
    let venv = root.join(folder);
    let python = venv.join("bin/python");
    let requirements = root.join(list);
    let wanted = format!(
        "{}\n{}",
        system_python()?,
        fs::read_to_string(&requirements).with_context(|| list.to_owned())?
    );
    // Two steps of `cargo xtask ci` may ask for the same environment at the same time.
    fs::create_dir_all(root.join("target"))?;
    let lock = File::create(venv.with_extension("lock")).context(folder.to_owned())?;
    lock.lock()?;
    let mark = venv.join("made-from.txt");
    if python.exists() && fs::read_to_string(&mark).is_ok_and(|made_from| made_from == wanted) {
        return Ok(python);
    }

    let _ = fs::remove_dir_all(&venv);
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&venv);
    progress::run_or_fail(&format!("making {folder}"), &mut make, log).context(
        "python3 cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv",
    )?;
    let mut install = Command::new(&python);
    install
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
            "--only-binary=:all:",
            "-r",
        ])
        .arg(&requirements);
    progress::run_or_fail("installing the Python packages", &mut install, log).with_context(
        || format!("the packages of {list} could not be installed; is a package index reachable?"),
    )?;
    fs::write(&mark, wanted)?;
    Ok(python)
}

/// Finds python3. Returns its version and path, which the environment depends on.
fn system_python() -> Result<String> {
    let script = "import sys; print(sys.version_info[0], sys.version_info[1], sys.version_info[2], sys.executable)";
    let output = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        bail!("there is no python3; on Debian and Ubuntu: apt-get install python3 python3-venv");
    };
    let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
    let mut numbers = text.split(' ').map_while(|word| word.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= OLDEST => Ok(text),
        (Some(major), Some(minor)) => {
            bail!(
                "python3 is {major}.{minor}, but {}.{} or newer is needed",
                OLDEST.0,
                OLDEST.1
            )
        }
        _ => bail!(
            "python3 does not report its version: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ),
    }
}
