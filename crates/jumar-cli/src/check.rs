//! `jumar check` and `jumar explore`: run a program once, or many times, under the checks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

use jumar::record_file::RunStatus;

use crate::decisive;
use crate::export::{self, Sources};
use crate::tree::Tree;

/// What `jumar check` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar check -- ./app
  jumar check --late -- python app.py        delays tasks, so that a missing wait produces a wrong result
  jumar check --protect --late -- ./app      also finds accesses to pinned memory during a pending copy
  jumar check --rules all -- ./app           with lints (silent synchronisation)
  jumar check --save-baseline known.txt -- ./app; jumar check --baseline known.txt -- ./app
  jumar check --sarif findings.sarif -- ./app

Exit status: that of the program; 1 if the program's is 0 and there are findings.")]
pub struct Check {
    /// Rules to check, by id or prefix, separated by commas; `all` adds the lints.
    #[arg(long, value_name = "LIST")]
    rules: Option<String>,
    /// Delays every task until the program waits for it.
    #[arg(long)]
    late: bool,
    /// Protects the pages of pinned memory during a pending copy, to find accesses by the program.
    #[arg(long)]
    protect: bool,
    /// Chooses the order of streams; the same number repeats the same run.
    #[arg(long, value_name = "N", conflicts_with = "late")]
    seed: Option<u64>,
    /// Reports what other products refuse: profile names separated by commas (310P3,910B1), or `all`.
    #[arg(long, value_name = "LIST")]
    profiles: Option<String>,
    /// Does not report the findings in this file.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Writes the findings to a file for --baseline.
    #[arg(long, value_name = "FILE")]
    save_baseline: Option<PathBuf>,
    /// Writes the findings as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the findings as SARIF 2.1.0.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Writes the findings as JUnit XML: a failed test for each.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Writes the findings as a report of code quality for GitLab.
    #[arg(long, value_name = "FILE")]
    code_quality: Option<PathBuf>,
    /// Prints an annotation of GitHub Actions (`::error file=...`) for each finding.
    #[arg(long)]
    annotations: bool,
    /// The folder from which these name files. Default: the next folder with .git, or the current one.
    #[arg(long, value_name = "DIR")]
    source_root: Option<PathBuf>,
    /// Writes a timeline as well, as `jumar run --trace` does; a web page (.html) includes the findings.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Prints findings in Chinese.
    #[arg(long)]
    chinese: bool,
    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM [ARGUMENTS]"
    )]
    program: Vec<OsString>,
}

/// What `jumar explore` takes.
#[derive(clap::Args)]
#[command(
    after_help = "Each run has another seed, which chooses the next stream wherever several can run. Runs are grouped by exit \
status, output and findings. If runs end differently without a finding, more runs find two tasks whose order decides.

Exit status 0: all runs are equal, and there are no findings."
)]
pub struct Explore {
    /// Number of seeds.
    #[arg(short, long, value_name = "N", default_value_t = 20)]
    number: u64,
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Time limit of one run, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM [ARGUMENTS]"
    )]
    program: Vec<OsString>,
}

/// Refuses a program's name that begins with a dash: the caller misspelt an option of the command, which would be run as a program.
pub(crate) fn refuse_misspelt_option(command: &str, program: &[OsString]) -> Result<()> {
    use clap::CommandFactory as _;
    let name = program[0].to_string_lossy();
    if !name.starts_with('-') {
        return Ok(());
    }
    let cli = crate::Cli::command();
    let options = cli
        .find_subcommand(command)
        .map(clap::Command::get_arguments);
    let word = name.trim_start_matches('-').split('=').next().unwrap_or("");
    let similar = options
        .into_iter()
        .flatten()
        .filter_map(clap::Arg::get_long)
        .find(|long| !word.is_empty() && (long.starts_with(word) || word.starts_with(long)));
    let advice = match similar {
        Some(long) => format!("did you mean --{long}?"),
        None => format!("`jumar {command} --help` lists the options"),
    };
    anyhow::bail!(
        "{name} is not an option of `jumar {command}`; {advice} A program whose name begins with a dash is written ./{name}"
    );
}

pub(crate) fn command(program: &[OsString]) -> Result<Command> {
    let tree = Tree::own()?;
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]);
    for (name, value) in tree.environment(|name| std::env::var_os(name)) {
        command.env(name, value);
    }
    Ok(command)
}

/// A command line as a shell reads it.
fn words(program: &[OsString]) -> String {
    let word = |word: &OsString| {
        let text = word.to_string_lossy();
        let plain = |c: char| c.is_alphanumeric() || "_-./=:,@%+".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.into_owned()
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let all: Vec<String> = program.iter().map(word).collect();
    all.join(" ")
}

fn start(command: &mut Command) -> Result<Child> {
    let name = command.get_program().to_owned();
    command
        .spawn()
        .with_context(|| format!("cannot run {}", name.display()))
}

/// A folder for the files of runs, which is removed at the end. No other user can read it, and no other process has its name.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new() -> Result<Scratch> {
        let folder = tempfile::Builder::new()
            .prefix("jumar-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir();
        folder.map(Scratch).with_context(|| {
            let parent = std::env::temp_dir();
            format!(
                "cannot create a folder in {}; set TMPDIR to one with space that can be written",
                parent.display()
            )
        })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// What the checks of one run record: their findings, and whether all of them were written.
pub(crate) struct Records {
    report: PathBuf,
    status: PathBuf,
}

impl Records {
    /// Prepares the files of a run, and names them to the program.
    pub(crate) fn prepare(scratch: &Scratch, run: &str, command: &mut Command) -> Result<Records> {
        let file = |what: &str| scratch.file(&format!("{what}-{run}"));
        let records = Records {
            report: file("findings"),
            status: file("status"),
        };
        RunStatus::create(&records.status)
            .with_context(|| format!("cannot write {}", records.status.display()))?;
        command
            .env("JUMAR_CHECK_REPORT", &records.report)
            .env("JUMAR_CHECK_STATUS", &records.status);
        Ok(records)
    }

    /// Returns the findings of a run that has ended; `None` if no process of it used the runtime.
    ///
    /// # Errors
    /// A finding, or a record of fault injection, was not written, or cannot be read.
    pub(crate) fn read(&self) -> Result<Option<Vec<Value>>> {
        let (started, lost) = RunStatus::read(&self.status)
            .with_context(|| format!("the run's status {}", self.status.display()))?;
        anyhow::ensure!(
            !lost,
            "findings could not be written to {}, so the result is not known; is the disk full? TMPDIR chooses another folder",
            self.report.display()
        );
        if !started {
            return Ok(None);
        }
        let unreadable = || format!("the findings in {} cannot be read", self.report.display());
        let text = fs::read_to_string(&self.report).with_context(unreadable)?;
        let found: serde_json::Result<Vec<Value>> =
            text.lines().map(serde_json::from_str).collect();
        found.map(Some).with_context(unreadable)
    }

    /// Removes the findings, so that another run can use the files.
    pub(crate) fn remove(&self) -> Result<()> {
        fs::remove_file(&self.report)
            .with_context(|| format!("cannot remove {}", self.report.display()))
    }
}

/// Returns the sentence for a program that used no device, with the command that shows why.
pub(crate) fn without_device(program: &[OsString]) -> String {
    let name = program[0].display();
    format!(
        "nothing was checked: no process of {name} used a device of Jumar; `jumar doctor {name}` shows which library it loads"
    )
}

fn status_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Runs `jumar check`.
pub fn check(options: &Check) -> Result<ExitCode> {
    refuse_misspelt_option("check", &options.program)?;
    let scratch = Scratch::new()?;
    let rules = options.rules.as_deref().unwrap_or("1");
    if let Err(wanted) = jumar::check::rules_of(rules) {
        anyhow::bail!("--rules is \"{rules}\"; it must be {wanted}");
    }
    let mut command = command(&options.program)?;
    command.env("JUMAR_CHECK", rules).env("JUMAR_SUMMARY", "1");
    let records = Records::prepare(&scratch, "check", &mut command)?;
    // PyTorch's adapter makes calls on a thread of its own, which has no Python stack, unless this variable is 0.
    if std::env::var_os("TASK_QUEUE_ENABLE").is_none() {
        command.env("TASK_QUEUE_ENABLE", "0");
    }
    let mut replay = String::from("jumar check");
    if options.late {
        command.env("JUMAR_LATE", "1");
        replay.push_str(" --late");
    }
    if options.protect {
        command.env("JUMAR_CHECK_PROTECT", "1");
        replay.push_str(" --protect");
    }
    if let Some(seed) = options.seed {
        command.env("JUMAR_SEED", seed.to_string());
        replay.push_str(&format!(" --seed {seed}"));
    }
    if let Some(list) = &options.profiles {
        if let Err(name) = jumar::check::profiles_of(list) {
            anyhow::bail!("--profiles: {name} is not a profile; `jumar info` lists them");
        }
        command.env("JUMAR_CHECK_PROFILES", list);
        replay.push_str(&format!(" --profiles {list}"));
    }
    replay.push_str(" -- ");
    replay.push_str(&words(&options.program));
    command.env("JUMAR_CHECK_REPLAY", replay);
    if let Some(file) = &options.baseline {
        let file = std::path::absolute(file).context("--baseline")?;
        anyhow::ensure!(
            file.is_file(),
            "--baseline {}: there is no such file; --save-baseline writes one",
            file.display()
        );
        command.env("JUMAR_CHECK_BASELINE", file);
    }
    if options.chinese {
        command.env("JUMAR_CHECK_LANGUAGE", "zh");
    }
    let page = options
        .trace
        .as_deref()
        .filter(|file| crate::run::is_page(file));
    let timeline = match page {
        Some(_) => Some(scratch.file("timeline")),
        None => options
            .trace
            .as_deref()
            .map(std::path::absolute)
            .transpose()
            .context("--trace")?,
    };
    if let Some(file) = &timeline {
        command.env("JUMAR_TRACE", file);
    }
    let status = start(&mut command)?.wait().context("waiting")?;
    let code = status_code(status);
    let Some(found) = records.read()? else {
        eprintln!(
            "jumar check: {}; the program ended with {code}",
            without_device(&options.program)
        );
        return Ok(ExitCode::from(if code == 0 { 1 } else { code as u8 }));
    };
    if let Some(file) = &options.json {
        write(file, &serde_json::to_string_pretty(&found)?)?;
    }
    if let (Some(page), Some(timeline)) = (page, &timeline) {
        let all = scratch.file("all");
        write(&all, &Value::from(found.clone()).to_string())?;
        crate::report::write(&[timeline], Some(&all), page)?;
    }
    export(options, &found)?;
    if let Some(file) = &options.save_baseline {
        let lines: Vec<&str> = found
            .iter()
            .filter_map(|finding| finding["fingerprint"].as_str())
            .collect();
        write(file, &(lines.join("\n") + "\n"))?;
    }
    let errors = found
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .count();
    eprintln!(
        "jumar check: {} finding{}, {errors} of severity error; the program ended with {code}",
        found.len(),
        if found.len() == 1 { "" } else { "s" }
    );
    Ok(match (code, found.is_empty()) {
        (0, true) => ExitCode::SUCCESS,
        (0, false) => ExitCode::FAILURE,
        (code, _) => ExitCode::from(code as u8),
    })
}

/// Writes the findings in the formats of other tools.
fn export(options: &Check, found: &[Value]) -> Result<()> {
    let sources = Sources::new(options.source_root.as_deref());
    if let Some(file) = &options.sarif {
        let sarif = export::sarif(found, &sources);
        write(file, &serde_json::to_string_pretty(&sarif)?)?;
    }
    if let Some(file) = &options.junit {
        write(file, &export::junit(found, &sources))?;
    }
    if let Some(file) = &options.code_quality {
        let report = export::code_quality(found, &sources);
        write(file, &serde_json::to_string_pretty(&report)?)?;
    }
    if options.annotations {
        print!("{}", export::annotations(found, &sources));
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<()> {
    crate::output::write(file, text.as_bytes())
}

/// What a run did.
pub(crate) struct Outcome {
    /// The exit status; `None`: it was ended after the limit.
    pub(crate) code: Option<i32>,
    pub(crate) output: Vec<u8>,
}

/// Runs a program to its end, or to the limit, with its output kept.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<Outcome> {
    // In memory: on a full disk the program would lose output without a word, and runs would seem to differ.
    let output = rustix::fs::memfd_create("jumar-output", rustix::fs::MemfdFlags::CLOEXEC)
        .context("keeping the output")?;
    let mut output = fs::File::from(output);
    let file = output.try_clone().context("keeping the output")?;
    let mut child = start(
        command
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(Stdio::null()),
    )?;
    let begin = Instant::now();
    let mut pause = Duration::from_millis(2);
    let status = loop {
        if let Some(status) = child.try_wait().context("waiting")? {
            break Some(status);
        }
        if begin.elapsed() > limit {
            child.kill().context("ending a run that hangs")?;
            child.wait().context("waiting")?;
            break None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    let mut kept = Vec::new();
    output
        .rewind()
        .and_then(|()| output.read_to_end(&mut kept))
        .context("reading the output")?;
    Ok(Outcome {
        code: status.map(status_code),
        output: kept,
    })
}

/// The file of a run's record of tasks and turns, and that of the turns it is to take.
const ORDER_FILES: [&str; 2] = ["turns", "order"];

/// How a run of `jumar explore` ended: its status and output.
fn end_of(outcome: &Outcome) -> String {
    let status = outcome
        .code
        .map_or("hangs".to_owned(), |code| format!("status {code}"));
    format!(
        "{status}, {} bytes of output (sum {:08x})",
        outcome.output.len(),
        sum(&outcome.output)
    )
}

/// Runs a program with its tasks recorded: with a seed, or with turns in an order.
fn run_recorded(
    options: &Explore,
    scratch: &Scratch,
    variable: (&str, &std::ffi::OsStr),
) -> Result<decisive::Run> {
    let turns = scratch.file(ORDER_FILES[0]);
    let mut command = command(&options.program)?;
    command
        .env(variable.0, variable.1)
        .env("JUMAR_CHECK", "1")
        .env("JUMAR_ORDER_LOG", &turns);
    let records = Records::prepare(scratch, "recorded", &mut command)?;
    let outcome = run_within(&mut command, Duration::from_secs(options.limit))?;
    // States whether all was written.
    records.read()?;
    records.remove()?;
    let text = fs::read_to_string(&turns).context("reading the tasks of a run")?;
    fs::remove_file(&turns).context("removing the tasks of a run")?;
    Ok(decisive::Run {
        end: end_of(&outcome),
        record: decisive::Record::of(&text),
    })
}

/// Explains why runs without findings end differently: finds two tasks whose order decides. `seeds` are those of two such runs.
fn explain(options: &Explore, scratch: &Scratch, seeds: [u64; 2]) -> Result<()> {
    let seeded =
        |seed: u64| run_recorded(options, scratch, ("JUMAR_SEED", seed.to_string().as_ref()));
    let (one, other) = (seeded(seeds[0])?, seeded(seeds[1])?);
    let turns = one.record.len().max(other.record.len());
    let steps = 2 * (usize::BITS - turns.leading_zeros()) + 2;
    eprintln!(
        "jumar explore: no rule finds a mistake; looking for the tasks whose order decides, in up to {steps} further runs"
    );
    let order = scratch.file(ORDER_FILES[1]);
    let found = decisive::pair(&one, &other, |turns| {
        let lines: Vec<String> = turns.iter().map(|(stream, _)| stream.to_string()).collect();
        write(&order, &(lines.join("\n") + "\n"))?;
        run_recorded(options, scratch, ("JUMAR_ORDER", order.as_os_str()))
    })?;
    match found {
        Some(pair) => print!("{}", pair.text()),
        None => println!(
            "The outcome does not depend on the order of tasks alone: the same order ends differently. \
             Time, random numbers, threads (those that run functions of the host among them) and other processes may decide as well."
        ),
    }
    Ok(())
}

/// Runs `jumar explore`.
pub fn explore(options: &Explore) -> Result<ExitCode> {
    refuse_misspelt_option("explore", &options.program)?;
    let scratch = Scratch::new()?;
    let limit = Duration::from_secs(options.limit);
    let mut classes: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for seed in options.seed..options.seed.saturating_add(options.number) {
        let mut command = command(&options.program)?;
        command
            .env("JUMAR_SEED", seed.to_string())
            .env("JUMAR_CHECK", "1");
        let records = Records::prepare(&scratch, "seed", &mut command)?;
        let outcome = run_within(&mut command, limit)?;
        let found = records
            .read()
            .with_context(|| format!("the run with seed {seed}"))?;
        let Some(found) = found else {
            anyhow::bail!("{}", without_device(&options.program));
        };
        records.remove()?;
        let mut rules: Vec<String> = found
            .iter()
            .filter_map(|finding| finding["fingerprint"].as_str().map(str::to_owned))
            .collect();
        rules.sort();
        let mut class = end_of(&outcome);
        for rule in rules {
            class.push_str(&format!("\n    {rule}"));
        }
        classes.entry(class).or_default().push(seed);
    }
    let kinds = if classes.len() == 1 { "kind" } else { "kinds" };
    println!("{} runs, {} {kinds}:", options.number, classes.len());
    let mut clean = classes.len() == 1;
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|(_, seeds)| std::cmp::Reverse(seeds.len()));
    for (class, seeds) in &classes {
        println!("  {:>4} x {class}", seeds.len());
        println!(
            "         jumar check --seed {} -- {}",
            seeds[0],
            words(&options.program)
        );
        clean &= class.starts_with("status 0,") && !class.contains("JMR-");
    }
    let unexplained: Vec<u64> = classes
        .iter()
        .filter(|(class, _)| !class.contains("JMR-"))
        .map(|(_, seeds)| seeds[0])
        .collect();
    if let ([one, other, ..], true) = (&unexplained[..], unexplained.len() == classes.len()) {
        explain(options, &scratch, [*one, *other])?;
    }
    Ok(if clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A number for bytes, the same in every run (FNV-1a).
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_differ_where_bytes_do() {
        assert_ne!(sum(b"12"), sum(b"21"));
        assert_eq!(sum(b"12"), sum(b"12"));
    }
}
