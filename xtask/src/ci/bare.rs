//! The files of a release where users are: systems made from a distribution's packages alone, without anything of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::long::answers;
use super::steps::xtask;
use super::{Job, Outcome};
use crate::progress;

/// The largest wheel, and what it may take when it is installed.
const LARGEST_WHEEL: u64 = 35 << 20;
const LARGEST_INSTALLED: u64 = 100 << 20;
/// How long it may take from `pip install` to the last line of the smoke test, a finding of `jumar check` among them.
const LONGEST: Duration = Duration::from_secs(60);

/// Releases of Debian: name, version of Python.
const SYSTEMS: &[(&str, &str)] = &[
    ("bullseye", "3.9"),
    ("bookworm", "3.11"),
    ("trixie", "3.13"),
];
const MIRROR: &str = "http://deb.debian.org/debian";
/// What a user's machine has: an interpreter, and the compilers.
const PACKAGES: &str = "python3,python3-venv,python3-pip,gcc,g++,libc6-dev";

/// What the smoke test reads.
const FILES: &[&str] = &[
    "examples/ci",
    "examples/digits",
    "tests/diag/corpus/corpus.h",
    "tests/diag/corpus/04_freed_too_early.c",
    "tests/diag/corpus/04_freed_too_early.py",
    "tests/release/smoke.sh",
];

/// Installs the wheel and unpacks the archive in each system, and does what a user does first.
const SCRIPT: &str = r#"set -eu
mount -t proc proc "$1/proc"
# Random bytes and shared memory.
mount --rbind /dev "$1/dev"
exec chroot "$1" /bin/sh -eu -c '
cd /jumar
start=$(date +%s)
python3 -m venv --clear /opt/wheel
/opt/wheel/bin/pip install --quiet --disable-pip-version-check --no-index /jumar/*.whl
PATH=/opt/wheel/bin:$PATH sh tests/release/smoke.sh
echo "seconds: $(($(date +%s) - start))"
echo "installed: $(du --summarize --bytes /opt/wheel/lib/python3*/site-packages/jumar | cut -f 1)"
rm -rf /opt/tree
mkdir /opt/tree
tar -x -f /jumar/tree.tar.gz -C /opt/tree --strip-components 1
PATH=/opt/tree/bin:$PATH SMOKE_PYTHON=/usr/bin/python3 sh tests/release/smoke.sh
rm -rf /opt/tree/* /opt/tree/.[!.]*
tar -x -f /jumar/runtime.tar.gz -C /opt/tree --strip-components 1
PATH=/opt/tree/bin:$PATH SMOKE_PYTHON=/usr/bin/python3 sh tests/release/smoke.sh
'"#;

/// Builds the files of a release for this machine's processor.
pub(super) fn release(job: &Job) -> Result<Outcome> {
    let outcome = job.simple(&mut xtask(&["release"]))?;
    let Outcome::Passed(_) = outcome else {
        return Ok(outcome);
    };
    let wheel = file("_", ".whl")?;
    let bytes = fs::metadata(&wheel)?.len();
    Ok(match bytes {
        0..=LARGEST_WHEEL => Outcome::Passed(format!("a wheel of {} MB", bytes >> 20)),
        _ => Outcome::Failed(format!("the wheel has {} MB", bytes >> 20)),
    })
}

/// Builds the files of a release for aarch64, and runs the demo of their archive in an emulator.
pub(super) fn release_aarch64(job: &Job) -> Result<Outcome> {
    let emulator = ["qemu-aarch64", "qemu-aarch64-static"]
        .into_iter()
        .find(|name| answers(Command::new(name).arg("--version")));
    let Some(emulator) = emulator else {
        return Ok(Outcome::Skipped("qemu-user is not installed".into()));
    };
    let compiler = "aarch64-linux-gnu-gcc";
    if !answers(Command::new(compiler).arg("--version")) {
        return Ok(Outcome::Skipped(format!("{compiler} is not installed")));
    }
    let root = crate::root();
    let files = "target/release-files-aarch64";
    let outcome = job.simple(&mut xtask(&[
        "release",
        "--processors",
        "aarch64",
        "--out",
        files,
    ]))?;
    let Outcome::Passed(_) = outcome else {
        return Ok(outcome);
    };
    let folder = tempfile::tempdir()?;
    let tree = folder.path();
    let digits = root.join("examples/digits");
    let mut unpack = Command::new("tar");
    unpack
        .args(["--extract", "--strip-components=1", "--file"])
        .arg(file_in(&root.join(files), "-aarch64-linux.tar.gz")?)
        .arg("--directory")
        .arg(tree);
    let mut compile = Command::new(compiler);
    compile
        .arg(digits.join("sync.c"))
        .args(["-o", "sync", "-I", "include", "-L", "lib64", "-lascendcl"])
        .current_dir(tree);
    let emulated = |program: &str| {
        let mut command = Command::new(emulator);
        command
            .args(["-L", "/usr/aarch64-linux-gnu", "-E"])
            .arg(format!("LD_LIBRARY_PATH={}", tree.join("lib64").display()))
            .arg(tree.join(program))
            .current_dir(tree);
        command
    };
    let mut convert = emulated("bin/atc");
    convert
        .args([
            "--framework=5",
            "--output=digits",
            "--soc_version=Ascend910B1",
        ])
        .arg(format!("--model={}", digits.join("digits.onnx").display()));
    let mut run = emulated("sync");
    run.arg("digits.om")
        .arg(digits.join("images.u8"))
        .arg(digits.join("labels.u8"));
    for command in [&mut unpack, &mut compile, &mut convert, &mut run] {
        let limit = Duration::from_secs(600);
        let ended = progress::run_logged(job.name, command, &job.log, limit)?;
        if let Some(problem) = ended.problem() {
            let name = command.get_program().display();
            return Ok(Outcome::Failed(format!("{name}: {problem}")));
        }
    }
    Ok(job.with_accuracies(Outcome::Passed(String::new())))
}

/// Finds a file of the release for this machine's processor.
fn file(before: &str, after: &str) -> Result<PathBuf> {
    let folder = crate::root().join("target/release-files");
    file_in(
        &folder,
        &format!("{before}{}{after}", std::env::consts::ARCH),
    )
}

/// Finds the file of a folder whose name ends in a certain way.
fn file_in(folder: &Path, end: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("{} is missing: cargo xtask release", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(end) {
            return Ok(path);
        }
    }
    bail!("{} has no file that ends with {end}", folder.display())
}

/// Runs the smoke test in each system.
pub(super) fn run(job: &Job) -> Result<Outcome> {
    if !answers(Command::new("debootstrap").arg("--version")) {
        return Ok(Outcome::Skipped(
            "debootstrap is not installed: apt-get install debootstrap".into(),
        ));
    }
    if !answers(Command::new("unshare").args(["--mount", "true"])) {
        return Ok(Outcome::Skipped(
            "only root may mount and change the root folder".into(),
        ));
    }
    let mut notes = Vec::new();
    for (system, python) in SYSTEMS {
        let root = crate::root().join("target/bare").join(system);
        if let Some(reason) = make(job, system, &root)? {
            notes.push(format!("{system}: skipped, {reason}"));
            continue;
        }
        match test(job, &root)? {
            Ok(note) => notes.push(format!("{system}, Python {python}: {note}")),
            Err(problem) => return Ok(Outcome::Failed(format!("{system}: {problem}"))),
        }
    }
    let all = notes.join("; ");
    Ok(
        match notes.iter().all(|note| note.contains(": skipped, ")) {
            true => Outcome::Skipped(all),
            false => Outcome::Passed(all),
        },
    )
}

/// Makes a system, unless it is there. Returns why not.
fn make(job: &Job, system: &str, root: &Path) -> Result<Option<String>> {
    let mark = root.join("made-of.txt");
    let made_of = format!("{system} {PACKAGES}\n");
    if fs::read_to_string(&mark).is_ok_and(|text| text == made_of) {
        return Ok(None);
    }
    let _ = fs::remove_dir_all(root);
    fs::create_dir_all(root)?;
    let mut debootstrap = Command::new("debootstrap");
    debootstrap
        .args([
            "--variant=minbase",
            &format!("--include={PACKAGES}"),
            system,
        ])
        .arg(root)
        .arg(MIRROR);
    let limit = Duration::from_secs(1200);
    let ended = progress::run_logged(job.name, &mut debootstrap, &job.log, limit)?;
    if let Some(problem) = ended.problem() {
        return Ok(Some(format!("debootstrap: {problem}")));
    }
    fs::write(&mark, made_of)?;
    Ok(None)
}

/// Copies the files into a system and tests them. Returns how long it took and how large it is, or the problem.
fn test(job: &Job, root: &Path) -> Result<std::result::Result<String, String>> {
    let inside = root.join("jumar");
    let _ = fs::remove_dir_all(&inside);
    for name in FILES {
        let to = inside.join(name);
        fs::create_dir_all(to.parent().context("a file in a folder")?)?;
        let from = crate::root().join(name);
        let copied = Command::new("cp")
            .arg("-r")
            .arg(&from)
            .arg(&to)
            .status()?
            .success();
        if !copied {
            bail!("cannot copy {}", from.display());
        }
    }
    let wheel = file("_", ".whl")?;
    fs::copy(&wheel, inside.join(wheel.file_name().unwrap_or_default()))?;
    fs::copy(file("-", "-linux.tar.gz")?, inside.join("tree.tar.gz"))?;
    fs::copy(
        file("-", "-linux-runtime.tar.gz")?,
        inside.join("runtime.tar.gz"),
    )?;
    let before = fs::read_to_string(&job.log).unwrap_or_default().len();
    let begin = Instant::now();
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", SCRIPT, "sh"])
        .arg(root)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .env("LC_ALL", "C.UTF-8");
    let limit = Duration::from_secs(600);
    let ended = progress::run_logged(job.name, &mut command, &job.log, limit)?;
    let log = fs::read_to_string(&job.log).unwrap_or_default();
    let log = log.get(before..).unwrap_or_default();
    if let Some(problem) = ended.problem() {
        return Ok(Err(problem));
    }
    let number = |name: &str| {
        let line = log.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|text| text.trim().parse::<u64>().ok())
            .with_context(|| format!("the test printed no line {name}"))
    };
    let (seconds, installed) = (number("seconds:")?, number("installed:")?);
    if Duration::from_secs(seconds) > LONGEST {
        return Ok(Err(format!(
            "{seconds} s from pip install to the end of the smoke test"
        )));
    }
    if installed > LARGEST_INSTALLED {
        return Ok(Err(format!("{} MB installed", installed >> 20)));
    }
    Ok(Ok(format!(
        "installed and tested in {seconds} s, {} MB; with archives {} s",
        installed >> 20,
        begin.elapsed().as_secs()
    )))
}
