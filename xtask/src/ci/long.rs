//! What takes long and is run by `cargo xtask ci --long`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::steps::{cargo, xtask};
use super::{Job, Outcome};
use crate::{progress, python_env};

/// How long damaged models are tried.
const FUZZ: Duration = Duration::from_secs(180);
/// How long the programs are repeated.
const SOAK: Duration = Duration::from_secs(300);
/// How long many threads do anything, unless a variable says otherwise.
const CHAOS: Duration = Duration::from_secs(600);
/// For how many seconds they do so under tools that make everything slow.
const SHORT_CHAOS: &str = "20";
/// A program that takes longer hangs.
const PROGRAM_LIMIT: Duration = Duration::from_secs(120);

pub(super) fn loom(job: &Job) -> Result<Outcome> {
    let mut command = cargo(&[
        "test",
        "--locked",
        "--release",
        "-p",
        "jumar-hal",
        "-p",
        "jumar-sched",
        "-p",
        "jumar-core",
        "-p",
        "jumar-hccl",
        "--lib",
        "--no-fail-fast",
        "--target-dir",
        "target/loom",
        "loom_",
    ]);
    // A model checker runs the same few threads through every order; more preemptions than three find nothing new in
    // structures this small and take hours.
    command
        .env("RUSTFLAGS", "--cfg loom")
        .env("LOOM_MAX_PREEMPTIONS", "3");
    job.cargo_test(&mut command)
}

/// Collectives over the plug-in for Gloo, between network namespaces if this user may create them.
pub(super) fn machines(job: &Job) -> Result<Outcome> {
    if !Path::new("/usr/include/gloo/context.h").exists() {
        return Ok(Outcome::Skipped("libgloo-dev is not installed".into()));
    }
    let plugin = crate::root().join("plugins/gloo");
    if let Some(problem) = run_one(job, Command::new("make").arg("-C").arg(&plugin))? {
        return Ok(Outcome::Failed(format!("the plug-in: {problem}")));
    }
    let namespace = "jumar-ci";
    let namespaces = answers(Command::new("ip").args(["netns", "add", namespace]));
    if namespaces {
        answers(Command::new("ip").args(["netns", "delete", namespace]));
    }
    let mut command = cargo(&["test", "--locked", "-p", "jumar-hccl", "--test", "ranks"]);
    command.env("LD_LIBRARY_PATH", &plugin).env(
        "JUMAR_TEST_GLOO",
        if namespaces { "machines" } else { "loopback" },
    );
    Ok(match job.cargo_test(&mut command)? {
        Outcome::Passed(counts) if !namespaces => Outcome::Passed(format!(
            "{counts}; on one machine, without network namespaces"
        )),
        other => other,
    })
}

pub(super) fn asan(job: &Job) -> Result<Outcome> {
    let target = host_target()?;
    let mut command = cargo(&[
        "test",
        "--locked",
        "--lib",
        "--no-fail-fast",
        "--target-dir",
        "target/asan",
        "--target",
        &target,
    ]);
    for package in ["jumar-sched", "jumar-cpu", "jumar-ops", "jumar-capi"] {
        command.args(["-p", package]);
    }
    // The sanitizer is in the stable toolchain but behind an unstable flag.
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        // The emulator of the matrix unit judges by address what lies on the stack, so that locals have to lie there.
        .env(
            "ASAN_OPTIONS",
            "detect_leaks=0:detect_stack_use_after_return=0",
        );
    job.cargo_test(&mut command)
}

/// The chaos, shorter, with a library and a program that the address sanitizer watches.
///
/// `JUMAR_CHAOS_SEED` sets which. A program of its own brings the sanitizer in; the library finds it there.
pub(super) fn chaos_asan(job: &Job) -> Result<Outcome> {
    let target = host_target()?;
    let mut build = cargo(&[
        "build",
        "--locked",
        "--lib",
        "-p",
        "jumar-capi",
        "--target-dir",
        "target/asan",
        "--target",
        &target,
    ]);
    build
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address");
    let limit = Duration::from_secs(3600);
    if let Some(problem) = progress::run_logged(job.name, &mut build, &job.log, limit)?.problem() {
        return Ok(Outcome::Failed(format!("the library: {problem}")));
    }
    let library = crate::root()
        .join("target/asan")
        .join(&target)
        .join("debug");
    let program = library.join("chaos");
    let mut compile = Command::new("cc");
    compile
        .args(["-std=gnu11", "-g", "-O1", "-fsanitize=address", "-I"])
        .arg(crate::root().join("include"))
        .arg(crate::root().join("tests/programs/c/chaos.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&library)
        .args(["-lascendcl", "-lpthread"]);
    if run_one(job, &mut compile)?.is_some() {
        return Ok(Outcome::Skipped(
            "the C compiler has no address sanitizer".into(),
        ));
    }
    let seed = chaos_seed()?;
    let mut command = Command::new(&program);
    command
        .args([SHORT_CHAOS, "32", &seed.to_string()])
        .env("LD_LIBRARY_PATH", &library)
        .env("ASAN_OPTIONS", "detect_leaks=0");
    Ok(match run_one(job, &mut command)? {
        Some(problem) => Outcome::Failed(format!("seed {seed}: {problem}")),
        None => Outcome::Passed(format!("32 threads for {SHORT_CHAOS} s, seed {seed}")),
    })
}

/// The chaos, shorter, under helgrind: the order of locks, and what threads do with them.
///
/// It knows locks and no atomics, by which the library orders nearly everything; so what it says of memory that the library
/// touches is left out, and is for the models (`loom`) to show.
pub(super) fn chaos_helgrind(job: &Job) -> Result<Outcome> {
    if !answers(Command::new("valgrind").arg("--version")) {
        return Ok(Outcome::Skipped("valgrind is not installed".into()));
    }
    let program = c_program(job, "chaos")?;
    let known = crate::root().join("target/ci/helgrind.supp");
    let suppression =
        "{\n  ordered by atomics\n  Helgrind:Race\n  ...\n  obj:*/libascendcl.so*\n}\n";
    fs::write(&known, suppression)?;
    let seed = chaos_seed()?;
    let mut command = Command::new(jumar());
    command
        .args(["run", "--", "valgrind", "-q", "--tool=helgrind"])
        .args(["--fair-sched=try", "--history-level=none"])
        .arg(format!("--suppressions={}", known.display()))
        .arg("--error-exitcode=99")
        .arg(program)
        .args([SHORT_CHAOS, "8", &seed.to_string()]);
    Ok(match run_one(job, &mut command)? {
        Some(problem) => Outcome::Failed(format!("seed {seed}: {problem}")),
        None => Outcome::Passed(format!("8 threads for {SHORT_CHAOS} s, seed {seed}")),
    })
}

fn host_target() -> Result<String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let target = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(target
        .ok_or_else(|| anyhow::anyhow!("rustc -vV names no host"))?
        .to_string())
}

/// Aarch64, as Rust names it for Linux.
const AARCH64: &str = "aarch64-unknown-linux-gnu";
/// The crates whose code depends on the processor, and those that need no file of this machine to be tested.
const ON_AARCH64: [&str; 7] = [
    "jumar-types",
    "jumar-hal",
    "jumar-sched",
    "jumar-cpu",
    "jumar-core",
    "jumar-ops",
    "jumar-graph",
];
/// Asks the system below the emulator what it cannot know: the signals of its threads.
const BELOW_THE_EMULATOR: &str = "workers_start_late_have_a_name_take_no_signals_and_end";

/// Builds for another processor, and runs the tests of what depends on the processor in an emulator.
pub(super) fn aarch64(job: &Job) -> Result<Outcome> {
    let (linker, compiler) = ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++");
    let lacks = |what: &str| Ok(Outcome::Skipped(format!("{what} is not installed")));
    // The encoder of video is in C++.
    for tool in [linker, compiler] {
        if !answers(Command::new(tool).arg("--version")) {
            return lacks(tool);
        }
    }
    if !answers(Command::new("qemu-aarch64").arg("--version")) {
        return lacks("qemu-aarch64 (qemu-user)");
    }
    let libraries = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", AARCH64])
        .stdin(Stdio::null())
        .output()?;
    let libraries = String::from_utf8_lossy(&libraries.stdout).into_owned();
    if !Path::new(libraries.trim()).is_dir() {
        return lacks("Rust's library for aarch64 (rustup target add aarch64-unknown-linux-gnu)");
    }
    let for_it = |verb: &str| {
        let mut command = cargo(&[verb, "--locked", "--target", AARCH64]);
        command
            .args(["--target-dir", "target/aarch64"])
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", linker)
            .env(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
                "qemu-aarch64 -L /usr/aarch64-linux-gnu",
            );
        command
    };
    let mut build = for_it("build");
    build.args(["-p", "jumar-capi", "-p", "jumar-cli"]);
    let limit = Duration::from_secs(3600);
    if let Some(problem) = progress::run_logged(job.name, &mut build, &job.log, limit)?.problem() {
        return Ok(Outcome::Failed(format!(
            "the library and the commands: {problem}"
        )));
    }
    let mut test = for_it("test");
    // Kernels that a test compiles and loads are of the emulated processor.
    test.env("JUMAR_TEST_CXX", compiler).arg("--no-fail-fast");
    for package in ON_AARCH64 {
        test.args(["-p", package]);
    }
    test.args(["--", "--skip", BELOW_THE_EMULATOR]);
    job.cargo_test(&mut test)
}

/// Prepares a program that uses PyTorch's prebuilt adapter on the installed tree.
fn with_adapter(job: &Job, program: &str) -> Result<std::result::Result<Command, Outcome>> {
    let python = python_env::ensure_torch(&job.log)?;
    let mut set_up = Command::new(jumar());
    set_up.args(["torch", "--setup", "--python"]).arg(&python);
    if let Some(problem) = run_one(job, &mut set_up)? {
        return Ok(Err(Outcome::Failed(format!(
            "jumar torch --setup: {problem}"
        ))));
    }
    let mut command = Command::new(jumar());
    command
        .args(["run", "--"])
        .arg(&python)
        .arg(crate::root().join(program))
        .env("OMP_NUM_THREADS", "1");
    Ok(Ok(command))
}

/// The published models that are trained for a step.
const ARCHITECTURES: &str = "tests/pytorch/architectures.py";
/// Trainings by packages of others, which need the same packages.
const TRAINERS: &str = "tests/pytorch/trainers.py";

/// Exports to ONNX, which need packages of their own as well.
const EXPORTERS: &str = "tests/pytorch/exporters.py";

/// Trains models with PyTorch's prebuilt adapter on the installed tree, compares the losses with those of the CPU, and checks
/// features of the adapter.
pub(super) fn pytorch(job: &Job) -> Result<Outcome> {
    let programs: [(&str, &[&str]); 11] = [
        ("examples/pytorch/train.py", &[]),
        ("tests/pytorch/models.py", &[]),
        ("tests/pytorch/models.py", &["--check", "--steps", "5"]),
        ("tests/pytorch/features.py", &[]),
        ("tests/pytorch/optimizers.py", &[]),
        ("tests/pytorch/modules.py", &[]),
        (ARCHITECTURES, &[]),
        (TRAINERS, &[]),
        (EXPORTERS, &[]),
        ("tests/pytorch/collectives.py", &[]),
        ("tests/pytorch/distributed.py", &[]),
    ];
    for (program, arguments) in programs {
        let mut run = match with_adapter(job, program)? {
            Ok(run) => run,
            Err(outcome) => return Ok(outcome),
        };
        run.args(arguments);
        if [ARCHITECTURES, TRAINERS, EXPORTERS].contains(&program) {
            let python = python_env::ensure_torch(&job.log)?;
            let mut packages = vec![python_env::ensure_architectures(&python, &job.log)?];
            if program == EXPORTERS {
                packages.push(python_env::ensure_exporters(&python, &job.log)?);
            }
            run.env("PYTHONPATH", std::env::join_paths(packages)?);
        }
        let limit = Duration::from_secs(1800);
        if let Some(problem) = progress::run_logged(job.name, &mut run, &job.log, limit)?.problem()
        {
            return Ok(Outcome::Failed(format!("{program}: {problem}")));
        }
    }
    if let Some(problem) = with_package(job)? {
        return Ok(Outcome::Failed(format!("the package jumar: {problem}")));
    }
    Ok(Outcome::Passed(
        "models trained as on the CPU, in each mode of the queue; published architectures".into(),
    ))
}

/// Trains in an environment that has PyTorch, the adapter and the package `jumar`, without any variable or command.
fn with_package(job: &Job) -> Result<Option<String>> {
    let limit = Duration::from_secs(1800);
    let mut wheel = xtask(&["wheel"]);
    if let Some(problem) = progress::run_logged(job.name, &mut wheel, &job.log, limit)?.problem() {
        return Ok(Some(problem));
    }
    let root = crate::root();
    let venv = root.join("target/venv-torch-package");
    let _ = fs::remove_dir_all(&venv);
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&venv);
    if let Some(problem) = run_one(job, &mut make)? {
        return Ok(Some(problem));
    }
    let python = venv.join("bin/python");
    // The large packages are those of the other environment.
    let packages = python_env::packages(&python_env::ensure_torch(&job.log)?)?;
    let own = python_env::packages(&python)?;
    fs::write(own.join("others.pth"), packages.display().to_string())?;
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet", "--no-input"])
        .args(["--disable-pip-version-check", "--no-deps", "--no-index"])
        .arg("--find-links")
        .arg(root.join("target/wheels"))
        .arg("jumar");
    if let Some(problem) = run_one(job, &mut install)? {
        return Ok(Some(problem));
    }
    let mut train = Command::new(&python);
    train
        .arg(root.join("examples/pytorch/train.py"))
        .env("OMP_NUM_THREADS", "1");
    for name in ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "LD_LIBRARY_PATH"] {
        train.env_remove(name);
    }
    Ok(progress::run_logged(job.name, &mut train, &job.log, limit)?.problem())
}

/// Runs PyTorch's operator database through the adapter. No entry may be worse than in the stored result.
pub(super) fn pytorch_operators(job: &Job) -> Result<Outcome> {
    const DRIVER: &str = "tests/pytorch/opinfo.py";
    let result = crate::root().join("target/opinfo.json");
    let stored = crate::root().join("tests/pytorch/opinfo.json");
    let mut run = match with_adapter(job, DRIVER)? {
        Ok(run) => run,
        Err(outcome) => return Ok(outcome),
    };
    run.arg("run").arg(&result);
    let limit = Duration::from_secs(3 * 3600);
    if let Some(problem) = progress::run_logged(job.name, &mut run, &job.log, limit)?.problem() {
        return Ok(Outcome::Failed(format!("the database: {problem}")));
    }
    let mut check = match with_adapter(job, DRIVER)? {
        Ok(check) => check,
        Err(outcome) => return Ok(outcome),
    };
    check.arg("check").arg(&result).arg(&stored);
    match run_one(job, &mut check)? {
        Some(problem) => Ok(Outcome::Failed(format!("worse than stored: {problem}"))),
        None => Ok(Outcome::Passed(
            "no operator is worse than in docs/pytorch-operators.md".into(),
        )),
    }
}

/// Runs every C program of the tests that takes no arguments under memcheck.
///
/// Valgrind runs one thread at a time, so what measures overlap is left out.
pub(super) fn valgrind(job: &Job) -> Result<Outcome> {
    if !answers(Command::new("valgrind").arg("--version")) {
        return Ok(Outcome::Skipped("valgrind is not installed".into()));
    }
    let mut programs = c_programs(job)?;
    programs.retain(|program| !TIMES_OR_LIMITS_ITSELF.contains(&name(program).as_str()));
    for program in &programs {
        let mut command = Command::new(jumar());
        command
            .args([
                "run",
                "--",
                "valgrind",
                "-q",
                // Threads take turns there: without this, one that polls can keep the others out for long.
                "--fair-sched=try",
                // A program that brings an allocator keeps it.
                "--soname-synonyms=somalloc=nouserintercepts",
                "--error-exitcode=99",
                "--leak-check=no",
            ])
            .arg(program);
        if let Some(problem) = run_one(job, &mut command)? {
            return Ok(Outcome::Failed(format!("{}: {problem}", name(program))));
        }
    }
    Ok(Outcome::Passed(format!("{} programs", programs.len())))
}

/// What valgrind's own threads and memory would spoil: a program that compares times, and one that limits its address space.
const TIMES_OR_LIMITS_ITSELF: [&str; 2] = ["overlap", "cannot_open"];
/// Waits ten seconds for what does not come: again and again, that would be all that happens.
const WAITS_LONG: &str = "destroy_running";

/// Repeats the same programs with different numbers of workers, on all cores and on one.
pub(super) fn soak(job: &Job) -> Result<Outcome> {
    let mut programs = c_programs(job)?;
    programs.retain(|program| name(program) != WAITS_LONG);
    let one_core = answers(Command::new("taskset").args(["-c", "0", "true"]));
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < SOAK {
        for program in &programs {
            let workers = ["1", "2", "3", "8"][runs % 4];
            // Five and four have no common factor: each number of workers meets each placement.
            let pinned = one_core && runs % 5 == 0;
            let mut command = Command::new(jumar());
            command.args(["run", "--workers", workers, "--"]);
            if pinned {
                command.args(["taskset", "-c", "0"]);
            }
            if let Some(problem) = run_one(job, command.arg(program))? {
                let cores = if pinned { "one core" } else { "all cores" };
                return Ok(Outcome::Failed(format!(
                    "{}: {problem} (run {runs}, {workers} workers, {cores})",
                    name(program)
                )));
            }
            runs += 1;
        }
    }
    Ok(Outcome::Passed(format!(
        "{runs} runs of {} programs",
        programs.len()
    )))
}

/// Many threads do anything to shared and own streams; then, for a shorter time, on one core and with one worker.
///
/// `JUMAR_CHAOS_SECONDS` and `JUMAR_CHAOS_SEED` set how long and which; the seed is printed.
pub(super) fn chaos(job: &Job) -> Result<Outcome> {
    let program = c_program(job, "chaos")?;
    let seconds = number_of("JUMAR_CHAOS_SECONDS", CHAOS.as_secs())?;
    let seed = chaos_seed()?;
    println!("chaos: seed {seed}, {seconds} s");
    let one_core = answers(Command::new("taskset").args(["-c", "0", "true"]));
    let short = (seconds / 10).max(1);
    let mut runs = vec![(seconds, "0", false), (short, "1", false)];
    if one_core {
        runs.push((short, "0", true));
    }
    for (seconds, workers, pinned) in runs {
        let mut command = Command::new(jumar());
        command.arg("run");
        if workers != "0" {
            command.args(["--workers", workers]);
        }
        command.arg("--");
        if pinned {
            command.args(["taskset", "-c", "0"]);
        }
        let threads = "64";
        command.arg(&program).arg(seconds.to_string()).arg(threads);
        command.arg(seed.to_string());
        let limit = Duration::from_secs(seconds) + PROGRAM_LIMIT;
        let done = progress::run_logged(job.name, &mut command, &job.log, limit)?;
        if let Some(problem) = done.problem() {
            return Ok(Outcome::Failed(format!("seed {seed}: {problem}")));
        }
    }
    Ok(Outcome::Passed(format!("64 threads, seed {seed}")))
}

fn number_of(name: &str, usual: u64) -> Result<u64> {
    match std::env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name}={text}")),
        Err(_) => Ok(usual),
    }
}

/// Returns the seed of an environment variable, or one from the clock.
pub(super) fn chaos_seed() -> Result<u64> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    number_of("JUMAR_CHAOS_SEED", now.as_secs())
}

/// Makes and releases objects of each kind ten thousand times.
pub(super) fn kinds(job: &Job) -> Result<Outcome> {
    let program = c_program(job, "each_kind")?;
    let kernels = kernel_binary(job)?;
    let mut command = Command::new(jumar());
    command.args(["run", "--"]).arg(program).arg("10000");
    command.env("KERNELS", kernels);
    let limit = Duration::from_secs(1200);
    let done = progress::run_logged(job.name, &mut command, &job.log, limit)?;
    Ok(match done.problem() {
        Some(problem) => Outcome::Failed(problem),
        None => Outcome::Passed("10000 cycles of each kind".into()),
    })
}

/// Calls single operators a million times.
pub(super) fn operators(job: &Job) -> Result<Outcome> {
    const CALLS: &str = "1000000";
    let tests = crate::root().join("tests/aclnn");
    let program = compiled(job, &tests.join("endurance.cpp"))?;
    let mut command = Command::new(jumar());
    command.args(["run", "--"]).arg(program).arg(CALLS);
    let limit = Duration::from_secs(1200);
    let done = progress::run_logged(job.name, &mut command, &job.log, limit)?;
    Ok(match done.problem() {
        Some(problem) => Outcome::Failed(problem),
        None => Outcome::Passed(format!("{CALLS} calls")),
    })
}

/// Creates a thousand communicators and runs a million collectives, of threads and of processes, and kills ranks at random moments.
///
/// `JUMAR_CHAOS_SEED` sets which moments.
pub(super) fn collectives(job: &Job) -> Result<Outcome> {
    const KILLS: &str = "200";
    let program = c_program(job, "collectives_endurance")?;
    let seed = chaos_seed()?;
    let mut command = Command::new(jumar());
    command.args(["run", "--"]).arg(program);
    command.args(["1000", "1000000", KILLS, &seed.to_string()]);
    let limit = Duration::from_secs(1800);
    let done = progress::run_logged(job.name, &mut command, &job.log, limit)?;
    Ok(match done.problem() {
        Some(problem) => Outcome::Failed(format!("seed {seed}: {problem}")),
        None => Outcome::Passed(format!("{KILLS} kills, seed {seed}")),
    })
}

/// How long each reader is given damaged input inside one process.
const TARGET: Duration = Duration::from_secs(60);
/// The addresses that it may have meanwhile, in KiB: what a damaged file says it needs is not to be believed.
const TARGET_KIB: u64 = 6 << 20;

/// Passes damaged input to each reader. Input that makes it panic, exceed the time limit or exceed the memory limit is kept in the step's folder.
fn targets(job: &Job, folder: &Path) -> Result<Option<String>> {
    let mut build = cargo(&["build", "--locked", "--release", "-p", "jumar-graph"]);
    // With the packages of the install tree beside it, nothing below is compiled once more.
    build
        .args(crate::dist::PACKAGES)
        .args(["--example", "fuzz"]);
    let built = progress::run_logged(job.name, &mut build, &job.log, Duration::from_secs(1800))?;
    if let Some(problem) = built.problem() {
        return Ok(Some(problem));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| crate::root().join("target"), PathBuf::from);
    let built = target.join("release/examples/fuzz");
    // Another user reads the program there, wherever the repository lies.
    let scratch = tempfile::Builder::new().prefix("jumar-fuzz-").tempdir()?;
    fs::set_permissions(scratch.path(), Permissions::from_mode(0o777))?;
    let program = scratch.path().join("fuzz");
    fs::copy(&built, &program).with_context(|| format!("{}", built.display()))?;
    for name in ["onnx", "om", "aipp", "gears", "bombs"] {
        let mut command = Command::new("sh");
        unprivileged(&mut command)?;
        let script = format!(
            "ulimit -v {TARGET_KIB}; exec \"$0\" {name} {}",
            TARGET.as_secs()
        );
        command
            .arg("-c")
            .arg(script)
            .arg(&program)
            .current_dir(scratch.path());
        let limit = TARGET + PROGRAM_LIMIT;
        let done = progress::run_logged(job.name, &mut command, &job.log, limit)?;
        if let Some(problem) = done.problem() {
            for entry in fs::read_dir(scratch.path())?.flatten() {
                if entry.path() != program {
                    fs::copy(entry.path(), folder.join(entry.file_name()))?;
                }
            }
            return Ok(Some(format!(
                "{name}: {problem}; see fuzz-{name}.case in {}",
                folder.display()
            )));
        }
    }
    Ok(None)
}

/// Has a command run as the user that owns nothing, where this process is root.
fn unprivileged(command: &mut Command) -> Result<()> {
    const NOBODY: u32 = 65534;
    if fs::metadata("/proc/self")?.uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    Ok(())
}

/// How long the functions of the C interface are called at random, and how long under limits of memory.
const CALLS: Duration = Duration::from_secs(60);

/// Calls most functions of the C interface at random, in processes of a user that owns nothing.
pub(super) fn fuzz_calls(job: &Job) -> Result<Outcome> {
    fuzz_interface(job, "calls")
}

/// Makes random sequences of calls under limits of the address space.
pub(super) fn fuzz_limits(job: &Job) -> Result<Outcome> {
    fuzz_interface(job, "limits")
}

fn fuzz_interface(job: &Job, which: &str) -> Result<Outcome> {
    let mut command = Command::new(python_env::ensure(&job.log)?);
    command
        .arg(crate::root().join("tests/fuzz/run.py"))
        .args([which, &CALLS.as_secs().to_string()])
        .env("JUMAR_PREFIX", crate::root().join("target/jumar"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let limit = 4 * CALLS + PROGRAM_LIMIT;
    let done = progress::run_logged(job.name, &mut command, &job.log, limit)?;
    let log = fs::read_to_string(&job.log).unwrap_or_default();
    let last = log.lines().last().unwrap_or("no output").to_owned();
    Ok(match done.problem() {
        Some(problem) => Outcome::Failed(format!("{last} ({problem})")),
        None => Outcome::Passed(last),
    })
}

/// Offers damaged input to each reader; damaged copies of a model to atc and to inspect. A refusal is right, a signal or a panic is not.
pub(super) fn fuzz(job: &Job) -> Result<Outcome> {
    let folder = crate::root().join("target/ci/fuzz");
    fs::create_dir_all(&folder)?;
    if let Some(problem) = targets(job, &folder)? {
        return Ok(Outcome::Failed(problem));
    }
    let onnx = crate::root().join("examples/digits/digits.onnx");
    let om = folder.join("whole.om");
    let atc = |model: &Path, output: &Path| {
        let mut command = Command::new(crate::root().join("target/jumar/bin/atc"));
        command
            .arg("--framework=5")
            .arg(format!("--model={}", model.display()))
            .arg(format!("--output={}", output.display()))
            .arg("--soc_version=Ascend910B1");
        command
    };
    if let Some(problem) = run_one(job, &mut atc(&onnx, &om.with_extension("")))? {
        return Ok(Outcome::Failed(format!("the whole model: {problem}")));
    }
    let sources = [
        fs::read(&onnx).context("digits.onnx")?,
        fs::read(&om).context("whole.om")?,
    ];
    let mut random = Random(fastrand::Rng::with_seed(1));
    let start = Instant::now();
    let mut tried = 0_u32;
    while start.elapsed() < FUZZ {
        for (source, ending) in sources.iter().zip(["onnx", "om"]) {
            let damaged = folder.join(format!("damaged.{ending}"));
            fs::write(&damaged, random.damage(source))?;
            let mut commands = vec![{
                let mut inspect = Command::new(jumar());
                inspect.arg("inspect").arg(&damaged);
                inspect
            }];
            if ending == "onnx" {
                commands.push(atc(&damaged, &folder.join("out")));
            }
            for mut command in commands {
                let output = command.stdin(Stdio::null()).output()?;
                if !matches!(output.status.code(), Some(0 | 1)) {
                    let kept = folder.join(format!("found-{tried}.{ending}"));
                    fs::copy(&damaged, &kept)?;
                    fs::write(&job.log, [output.stdout, output.stderr].concat())?;
                    return Ok(Outcome::Failed(format!(
                        "{}: {}",
                        kept.display(),
                        output.status
                    )));
                }
            }
            tried += 1;
        }
    }
    Ok(Outcome::Passed(format!("{tried} damaged files")))
}

/// Damages files, the same way in every run.
struct Random(fastrand::Rng);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end.max(1))
    }

    /// Cuts the file, or changes a few bytes; headers more often than what comes after them.
    fn damage(&mut self, source: &[u8]) -> Vec<u8> {
        let mut bytes = source.to_vec();
        if self.below(8) == 0 {
            bytes.truncate(self.below(source.len()));
            return bytes;
        }
        for _ in 0..=self.below(6) {
            let reach = if self.below(2) == 0 {
                bytes.len().min(1024)
            } else {
                bytes.len()
            };
            let at = self.below(reach);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = match self.below(4) {
                    0 => 0,
                    1 => 0xFF,
                    2 => *byte ^ (1 << self.below(8)),
                    _ => self.0.u8(..),
                };
            }
        }
        bytes
    }
}

/// ONNX Runtime's prebuilt CANN provider, in an environment that has it beside NumPy 1.
pub(super) fn onnxruntime(job: &Job) -> Result<Outcome> {
    if std::env::consts::ARCH != "x86_64" {
        return Ok(Outcome::Skipped(
            "the provider is prebuilt for x86-64 only".into(),
        ));
    }
    let python = python_env::ensure_onnxruntime(&job.log)?;
    let folder = crate::root().join("tests/onnxruntime");
    let run = |arguments: &[&str], file: &Path| {
        let mut command = Command::new(jumar());
        command.args(["run", "--"]).arg(&python).args(arguments);
        command.arg(file).env("PYTHONDONTWRITEBYTECODE", "1");
        job.simple(&mut command)
    };
    let retention = "tmp_path_retention_policy=failed";
    let pytest = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        retention,
    ];
    match run(&pytest, &folder)? {
        Outcome::Passed(_) => {}
        other => return Ok(other),
    }
    let outcome = run(&[], &folder.join("nodes.py"))?;
    // The program's last line counts the cases.
    let log = fs::read_to_string(&job.log).unwrap_or_default();
    let counts = log.lines().rfind(|line| line.contains(" right, "));
    Ok(match (outcome, counts) {
        (Outcome::Passed(_), Some(counts)) => Outcome::Passed(counts.to_owned()),
        (Outcome::Passed(_), None) => Outcome::Failed("no case ran".into()),
        (other, _) => other,
    })
}

/// Compiles the C programs of the tests that take no arguments.
fn c_programs(job: &Job) -> Result<Vec<PathBuf>> {
    let root = crate::root();
    let sources = root.join("tests/programs/c");
    let mut programs = Vec::new();
    for entry in fs::read_dir(&sources).context("tests/programs/c")? {
        let source = entry?.path();
        let is_c = source.extension().is_some_and(|ending| ending == "c");
        if !is_c || !fs::read_to_string(&source)?.contains("int main(void)") {
            continue;
        }
        programs.push(compiled(job, &source)?);
    }
    programs.sort();
    ensure!(
        !programs.is_empty(),
        "there are no programs in {}",
        sources.display()
    );
    Ok(programs)
}

/// Compiles one of the programs.
fn c_program(job: &Job, name: &str) -> Result<PathBuf> {
    let sources = crate::root().join("tests/programs/c");
    compiled(job, &sources.join(name).with_extension("c"))
}

fn compiled(job: &Job, source: &Path) -> Result<PathBuf> {
    let root = crate::root();
    let tree = root.join("target/jumar");
    let folder = root.join("target/ci/programs");
    fs::create_dir_all(&folder)?;
    let program = folder.join(source.file_stem().unwrap_or_default());
    let is_c = source.extension().is_some_and(|ending| ending == "c");
    let (compiler, standard) = match is_c {
        true => ("cc", "-std=gnu11"),
        false => ("c++", "-std=c++17"),
    };
    let mut compile = Command::new(compiler);
    compile
        .args([standard, "-g", "-O1", "-I"])
        .arg(tree.join("include"))
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(tree.join("lib64"))
        .args(["-lascendcl", "-lpthread", "-ldl"]);
    let problem = run_one(job, &mut compile)?;
    ensure!(problem.is_none(), "{} does not compile", source.display());
    Ok(program)
}

/// Compiles the kernels of the behaviour table.
fn kernel_binary(job: &Job) -> Result<PathBuf> {
    let root = crate::root();
    let folder = root.join("target/ci/programs");
    fs::create_dir_all(&folder)?;
    let binary = folder.join("kernels.so");
    let mut compile = Command::new("cc");
    compile
        .args(["-std=gnu11", "-g", "-O1", "-shared", "-fPIC", "-I"])
        .arg(root.join("target/jumar/include"))
        .arg(root.join("tests/behaviour/kernels.c"))
        .arg("-o")
        .arg(&binary);
    let problem = run_one(job, &mut compile)?;
    ensure!(
        problem.is_none(),
        "the kernels of the behaviour table do not compile"
    );
    Ok(binary)
}

fn run_one(job: &Job, command: &mut Command) -> Result<Option<String>> {
    Ok(progress::run_logged(job.name, command, &job.log, PROGRAM_LIMIT)?.problem())
}

pub(super) fn jumar() -> PathBuf {
    crate::root().join("target/jumar/bin/jumar")
}

fn name(program: &Path) -> String {
    program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

pub(super) fn answers(command: &mut Command) -> bool {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
