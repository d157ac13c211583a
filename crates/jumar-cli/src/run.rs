//! `jumar run`: the environment for one program.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::doctor::ffmpeg;
use crate::tree::Tree;

/// What `jumar run` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar run -- ./app --its --own --flags
  jumar run -- python app.py
  jumar run --trace timeline.json -- ./app
  jumar run --devices 4 --profile Ascend310P3 -- ./app

The program replaces this process and keeps its exit status, signals and terminal, except when a web page is written.
Exit status 126: the program cannot be run; 127: it does not exist.")]
pub struct Options {
    /// Writes a timeline for Perfetto (ui.perfetto.dev) or chrome://tracing; with a name that ends in .html, a web page.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Number of devices.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    devices: Option<u32>,
    /// The product to imitate, for example Ascend910B1 or Ascend310P3.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The release of CANN that the program sees, for example 8.3.RC1.
    #[arg(long, value_name = "RELEASE")]
    cann_version: Option<String>,
    /// Number of threads that run the work of all devices.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    workers: Option<u32>,
    /// Neither uses nor requests the processor's matrix unit (AMX).
    #[arg(long)]
    no_matrix_unit: bool,
    /// The most vector instructions that operators may use: portable, avx2 or avx512.
    #[arg(long, value_name = "LEVEL", value_parser = ["portable", "avx2", "avx512"])]
    instructions: Option<String>,
    /// Does not list, at the end of the program, the functions that it called and that Jumar does not implement.
    #[arg(long)]
    no_summary: bool,
    /// The C++ compiler for kernels that are compiled at run time, for example clang++.
    #[arg(long, value_name = "COMPILER")]
    cxx: Option<OsString>,
    /// Decodes video with FFmpeg's libavcodec where it is installed, or with the one at a path.
    #[arg(
        long,
        value_name = "LIBRARY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1"
    )]
    ffmpeg: Option<PathBuf>,
    /// The devices that the program sees, for example 0,2.
    #[arg(long, value_name = "LIST")]
    visible_devices: Option<String>,
    /// Makes each asynchronous call wait until its work is done.
    #[arg(long)]
    launch_blocking: bool,
    /// How many seconds ranks of a collective wait for each other.
    #[arg(long, value_name = "SECONDS")]
    collective_timeout: Option<f64>,
    /// Distinguishes this job from others that use the same rank table on this machine.
    #[arg(long, value_name = "NAME")]
    job: Option<String>,
    /// The lowest level that is logged.
    #[arg(long, value_name = "LEVEL", value_enum)]
    log_level: Option<Level>,
    /// Writes log lines to standard output.
    #[arg(long)]
    log_to_stdout: bool,
    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM [ARGUMENTS]"
    )]
    program: Vec<OsString>,
}

/// Log levels, in the order of their numbers.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Level {
    Debug,
    Info,
    Warning,
    Error,
    None,
}

/// Replaces this process by the program.
pub fn run(options: &Options) -> Result<ExitCode> {
    crate::check::refuse_misspelt_option("run", &options.program)?;
    let tree = Tree::own()?;
    let mut command = command(options, &tree)?;
    if let Some(page) = options.trace.as_deref().filter(|file| is_page(file)) {
        return run_and_write(&mut command, page);
    }
    let error = command.exec();
    eprintln!(
        "jumar: cannot run {}: {error}",
        options.program[0].display()
    );
    Ok(ExitCode::from(if error.kind() == ErrorKind::NotFound {
        127
    } else {
        126
    }))
}

/// Returns whether the timeline is to be a page for a browser.
pub(crate) fn is_page(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "html")
}

/// Runs the program to its end, and then turns its timeline into a page.
fn run_and_write(command: &mut Command, page: &Path) -> Result<ExitCode> {
    use std::os::unix::process::ExitStatusExt as _;
    let timeline = page.with_extension("html.json");
    command.env("JUMAR_TRACE", std::path::absolute(&timeline)?);
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    crate::report::write(&[&timeline], None, page)?;
    std::fs::remove_file(&timeline).with_context(|| format!("removing {}", timeline.display()))?;
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(ExitCode::from(code as u8))
}

fn command(options: &Options, tree: &Tree) -> Result<Command> {
    let mut command = Command::new(&options.program[0]);
    command.args(&options.program[1..]);
    for (name, value) in tree.environment(|name| std::env::var_os(name)) {
        command.env(name, value);
    }
    if !options.no_summary {
        command.env("JUMAR_SUMMARY", "1");
    }
    for (name, value) in chosen(options)? {
        if name == "JUMAR_FFMPEG"
            && let Err(sentence) = ffmpeg::find(tree, &value.to_string_lossy())
        {
            eprintln!("jumar: {sentence}");
        }
        command.env(name, value);
    }
    Ok(command)
}

/// Turns flags into variables. A flag that was not given leaves its variable as the caller has it.
fn chosen(options: &Options) -> Result<Vec<(&'static str, OsString)>> {
    let mut set: Vec<(&'static str, OsString)> = Vec::new();
    if let Some(file) = &options.trace {
        // The program may change its folder before it ends.
        set.push((
            "JUMAR_TRACE",
            std::path::absolute(file).context("--trace")?.into(),
        ));
    }
    if let Some(count) = options.devices {
        set.push(("JUMAR_DEVICES", count.to_string().into()));
    }
    if let Some(name) = &options.profile {
        jumar::profile::find(name).map_err(|error| anyhow::anyhow!("--profile: {error}"))?;
        set.push(("JUMAR_PROFILE", name.into()));
    }
    if let Some(release) = &options.cann_version {
        set.push(("JUMAR_CANN_VERSION", release.into()));
    }
    if let Some(count) = options.workers {
        set.push(("JUMAR_WORKERS", count.to_string().into()));
    }
    if options.no_matrix_unit {
        set.push(("JUMAR_MATRIX_UNIT", "0".into()));
    }
    if let Some(level) = &options.instructions {
        set.push(("JUMAR_INSTRUCTIONS", level.into()));
    }
    if let Some(compiler) = &options.cxx {
        set.push(("JUMAR_CXX", compiler.clone()));
    }
    if let Some(library) = &options.ffmpeg {
        let value = match library.as_os_str() == "1" {
            true => "1".into(),
            // The program may change its folder before it decodes.
            false => std::path::absolute(library).context("--ffmpeg")?.into(),
        };
        set.push(("JUMAR_FFMPEG", value));
    }
    if let Some(list) = &options.visible_devices {
        set.push(("ASCEND_RT_VISIBLE_DEVICES", list.into()));
    }
    if options.launch_blocking {
        set.push(("ASCEND_LAUNCH_BLOCKING", "1".into()));
    }
    if let Some(seconds) = options.collective_timeout {
        set.push(("JUMAR_HCCL_TIMEOUT", seconds.to_string().into()));
    }
    if let Some(job) = &options.job {
        set.push(("JUMAR_JOB", job.into()));
    }
    if let Some(level) = options.log_level {
        set.push(("ASCEND_GLOBAL_LOG_LEVEL", (level as u8).to_string().into()));
    }
    if options.log_to_stdout {
        set.push(("ASCEND_SLOG_PRINT_TO_STDOUT", "1".into()));
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::Parser as _;

    fn parse(arguments: &[&str]) -> Options {
        match Cli::try_parse_from([&["jumar", "run"], arguments].concat()).map(|cli| cli.command) {
            Ok(crate::Command::Run(options)) => options,
            Ok(_) => panic!("another command"),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn the_programs_flags_are_its_own_with_and_without_dashes() {
        for arguments in [
            &["--", "./app", "--trace", "x"][..],
            &["./app", "--trace", "x"],
        ] {
            let options = parse(arguments);
            assert_eq!(options.program, ["./app", "--trace", "x"]);
            assert!(options.trace.is_none());
        }
    }

    #[test]
    fn each_flag_sets_its_variable_and_nothing_else_is_set() {
        assert!(chosen(&parse(&["app"])).unwrap().is_empty());
        let options = parse(&[
            "--trace",
            "/t/out.json",
            "--devices",
            "4",
            "--profile",
            "Ascend310P3",
            "--cann-version",
            "8.3.RC1",
            "--workers",
            "2",
            "--no-matrix-unit",
            "--instructions",
            "avx2",
            "--ffmpeg",
            "--visible-devices",
            "0,2",
            "--launch-blocking",
            "--collective-timeout",
            "2.5",
            "--job",
            "night",
            "--log-level",
            "info",
            "--log-to-stdout",
            "--",
            "app",
        ]);
        let set = chosen(&options).unwrap();
        let flat: Vec<String> = set
            .iter()
            .map(|(n, v)| format!("{n}={}", v.to_str().unwrap()))
            .collect();
        assert_eq!(
            flat,
            [
                "JUMAR_TRACE=/t/out.json",
                "JUMAR_DEVICES=4",
                "JUMAR_PROFILE=Ascend310P3",
                "JUMAR_CANN_VERSION=8.3.RC1",
                "JUMAR_WORKERS=2",
                "JUMAR_MATRIX_UNIT=0",
                "JUMAR_INSTRUCTIONS=avx2",
                "JUMAR_FFMPEG=1",
                "ASCEND_RT_VISIBLE_DEVICES=0,2",
                "ASCEND_LAUNCH_BLOCKING=1",
                "JUMAR_HCCL_TIMEOUT=2.5",
                "JUMAR_JOB=night",
                "ASCEND_GLOBAL_LOG_LEVEL=1",
                "ASCEND_SLOG_PRINT_TO_STDOUT=1",
            ]
        );
    }

    #[test]
    fn the_library_for_video_may_be_named() {
        let set = chosen(&parse(&["--ffmpeg=/l/libavcodec.so.61", "app"])).unwrap();
        assert_eq!(set, [("JUMAR_FFMPEG", "/l/libavcodec.so.61".into())]);
        // A word behind a space is the program.
        let options = parse(&["--ffmpeg", "app"]);
        assert_eq!(options.program, ["app"]);
    }

    #[test]
    fn a_profile_that_does_not_exist_is_refused_before_the_program_starts() {
        for (name, sentence) in [
            ("Ascend310", "no profile describes the chip Ascend310"),
            ("Ascend910_9391", "no profile describes the chip"),
            ("Pentium", "is not the name of a chip"),
            ("./nowhere.toml", "cannot be read"),
        ] {
            let error = chosen(&parse(&["--profile", name, "app"])).unwrap_err();
            assert!(format!("{error:#}").contains(sentence), "{error:#}");
        }
    }

    #[test]
    fn a_misspelt_option_is_not_run_as_a_program() {
        let refused = |arguments: &[&str]| {
            let options = parse(arguments);
            let error = crate::check::refuse_misspelt_option("run", &options.program);
            error.expect_err("an option").to_string()
        };
        assert!(refused(&["--device", "3", "app"]).contains("did you mean --devices?"));
        assert!(refused(&["--nonsense", "app"]).contains("`jumar run --help`"));
        let options = parse(&["app", "--device"]);
        assert!(crate::check::refuse_misspelt_option("run", &options.program).is_ok());
    }

    #[test]
    fn a_device_count_that_no_machine_has_is_refused() {
        for count in ["0", "65", "many"] {
            assert!(
                Cli::try_parse_from(["jumar", "run", "--devices", count, "app"]).is_err(),
                "{count}"
            );
        }
    }
}
