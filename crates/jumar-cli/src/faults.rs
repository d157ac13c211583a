//! `jumar faults`: each call of a program fails once, and each task that it queues, one run at a time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::check::{
    Outcome, Records, Scratch, command, refuse_misspelt_option, run_within, without_device,
};

/// What `jumar faults` takes.
#[derive(clap::Args)]
#[command(
    after_help = "The first run records which calls the program makes and which tasks it queues. Then the program runs once for \
each call that can fail, and this call fails; and once for each task (task:NAME, for tasks that NAME queues), and this task fails on the \
device although the call succeeded. Runs are parallel, so they must not write the same files.

  handled   status or output differ from the first run, and nothing is left behind
  ignored   status and output are those of the first run
  leaks     status or output differ, and objects are left that the first run released
  crash     the program ended by a signal; the stack follows
  hangs     the program was ended after --limit

Exit status 0: every failure was handled."
)]
pub struct Faults {
    /// Only calls whose name contains this text; `task:` for tasks only.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Maximum number of failures of one function.
    #[arg(long, value_name = "N", default_value_t = 50)]
    each: u64,
    /// Time limit of one run, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    limit: u64,
    /// Number of parallel runs. Default: the number of processors.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM [ARGUMENTS]"
    )]
    program: Vec<OsString>,
}

/// What a run without a fault did.
struct Normal {
    code: i32,
    output: Vec<u8>,
    findings: Vec<String>,
}

/// How a program took a fault, and what shows it.
struct Taken {
    word: &'static str,
    status: String,
    harm: bool,
    evidence: Vec<String>,
}

/// The evidence that runs left, each kind of it once: a program that releases nothing after a failure leaves the same objects,
/// whichever call fails.
#[derive(Default)]
struct Causes(Vec<(Vec<String>, u64)>);

impl Causes {
    /// Returns the lines for the evidence of one run: all of them the first time, then a reference.
    fn lines(&mut self, evidence: &[String]) -> Vec<String> {
        if evidence.is_empty() {
            return Vec::new();
        }
        if let Some(at) = self.0.iter().position(|(known, _)| known == evidence) {
            self.0[at].1 += 1;
            return vec![format!("cause {}, shown above", at + 1)];
        }
        self.0.push((evidence.to_vec(), 1));
        let title = format!("cause {}:", self.0.len());
        std::iter::once(title)
            .chain(evidence.iter().cloned())
            .collect()
    }

    /// Returns how many runs share each cause that more than one has.
    fn summary(&self) -> Vec<String> {
        let shared = self
            .0
            .iter()
            .enumerate()
            .filter(|(_, (_, count))| *count > 1);
        shared
            .map(|(at, (lines, count))| {
                format!(
                    "cause {} in {count} runs: {} and {} more",
                    at + 1,
                    lines[0],
                    lines.len() - 1
                )
            })
            .collect()
    }
}

/// Runs `jumar faults`.
pub fn run(options: &Faults) -> Result<ExitCode> {
    refuse_misspelt_option("faults", &options.program)?;
    let scratch = Scratch::new()?;
    let (normal, sites) = find_sites(options, &scratch)?;
    println!(
        "{} runs; without a fault the program ends with {}",
        sites.len(),
        normal.code
    );
    println!("{:<39} {:>6}  what happened", "call", "number");
    let taken = inject_faults(options, &scratch, &normal, &sites)?;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut bad = 0;
    let mut causes = Causes::default();
    for ((name, turn), taken) in sites.iter().zip(&taken) {
        *counts.entry(taken.word).or_default() += 1;
        bad += u64::from(taken.harm);
        println!("{name:<40} {turn:>5}  {}{}", taken.word, taken.status);
        for line in causes.lines(&taken.evidence) {
            println!("{:<48}{line}", "");
        }
    }
    for line in causes.summary() {
        println!("{line}");
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    println!("{}", counts.join(", "));
    println!("{bad} of {} need a look", sites.len());
    Ok(if bad == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs the program as it is, and lists the calls and tasks that can fail, each with its turn.
fn find_sites(options: &Faults, scratch: &Scratch) -> Result<(Normal, Vec<(String, u64)>)> {
    let log = scratch.file("calls");
    let mut command = command(&options.program)?;
    command.env("JUMAR_FAULT_LOG", &log).env("JUMAR_CHECK", "1");
    let records = Records::prepare(scratch, "first", &mut command)?;
    let limit = Duration::from_secs(options.limit);
    let outcome = run_within(&mut command, limit)?;
    let Some(code) = outcome.code else {
        anyhow::bail!(
            "the program does not end within {} s by itself",
            options.limit
        );
    };
    let Some(found) = records.read().context("the run without a fault")? else {
        anyhow::bail!("{}", without_device(&options.program));
    };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let calls = fs::read_to_string(&log).context("the calls of the run without a fault")?;
    for name in calls.lines() {
        let wanted = options
            .only
            .as_deref()
            .is_none_or(|only| name.contains(only));
        if wanted && !name.starts_with('!') {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    let sites = counts
        .into_iter()
        .flat_map(|(name, count)| {
            (1..=count.min(options.each)).map(move |turn| (name.clone(), turn))
        })
        .collect();
    let normal = Normal {
        code,
        output: outcome.output,
        findings: found.iter().filter_map(fingerprint).collect(),
    };
    Ok((normal, sites))
}

fn fingerprint(finding: &Value) -> Option<String> {
    finding["fingerprint"].as_str().map(str::to_owned)
}

/// Runs the program once for each site, several at a time. Returns the answers in the sites' order.
fn inject_faults(
    options: &Faults,
    scratch: &Scratch,
    normal: &Normal,
    sites: &[(String, u64)],
) -> Result<Vec<Taken>> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = options
        .jobs
        .unwrap_or(processors)
        .clamp(1, sites.len().max(1));
    let (next, over) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let answers: Mutex<Vec<Option<Result<Taken>>>> =
        Mutex::new(sites.iter().map(|_| None).collect());
    let is_terminal = std::io::stderr().is_terminal();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let site = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, turn)) = sites.get(site) else {
                        break;
                    };
                    let taken = one(options, scratch, normal, site, name, *turn);
                    if let Ok(mut answers) = answers.lock() {
                        answers[site] = Some(taken);
                    }
                    let over = over.fetch_add(1, Ordering::Relaxed) + 1;
                    progress(over, sites.len(), name, *turn, is_terminal);
                }
            });
        }
    });
    let answers = answers
        .into_inner()
        .unwrap_or_else(|broken| broken.into_inner());
    answers.into_iter().flatten().collect()
}

/// Prints the progress of the run: on a terminal in one line that changes, otherwise a line for every tenth part.
fn progress(over: usize, all: usize, name: &str, turn: u64, is_terminal: bool) {
    let mut stderr = std::io::stderr();
    let _ignored = if is_terminal {
        let end = if over == all { "\r\x1b[K" } else { "" };
        write!(stderr, "\r\x1b[K{over} of {all}: {name}#{turn}{end}")
    } else if over == all || over * 10 / all != (over - 1) * 10 / all {
        writeln!(stderr, "jumar faults: {over} of {all}")
    } else {
        Ok(())
    };
}

fn one(
    options: &Faults,
    scratch: &Scratch,
    normal: &Normal,
    site: usize,
    name: &str,
    turn: u64,
) -> Result<Taken> {
    let file = |what: &str| scratch.file(&format!("{what}-{site}"));
    let crash = file("crash");
    let mut command = command(&options.program)?;
    command
        .env("JUMAR_FAULT", format!("{name}#{turn}"))
        .env("JUMAR_CRASH_REPORT", &crash)
        .env("JUMAR_CHECK", "1");
    let records = Records::prepare(scratch, &site.to_string(), &mut command)?;
    let limit = Duration::from_secs(options.limit);
    let outcome = run_within(&mut command, limit)?;
    let found = records
        .read()
        .with_context(|| format!("the run in which {name}#{turn} fails"))?;
    // A program whose first call of a device fails may use none.
    let new: Vec<Value> = found
        .unwrap_or_default()
        .into_iter()
        .filter(|finding| {
            fingerprint(finding).is_none_or(|print| !normal.findings.contains(&print))
        })
        .collect();
    let stack = fs::read_to_string(&crash).unwrap_or_default();
    Ok(judge(&outcome, normal, &new, &stack))
}

fn judge(outcome: &Outcome, normal: &Normal, new: &[Value], stack: &str) -> Taken {
    let leaks: Vec<String> = new
        .iter()
        .filter(|finding| finding["lines"][0]["label"] == "made" && finding["severity"] != "lint")
        .map(leak)
        .collect();
    let taken = |word, status: String, harm, evidence| Taken {
        word,
        status,
        harm,
        evidence,
    };
    match outcome.code {
        None => taken("hangs", String::new(), true, Vec::new()),
        Some(code) if code >= 128 => taken(
            "crash",
            format!(" (signal {})", code - 128),
            true,
            stack.lines().map(str::to_owned).collect(),
        ),
        Some(code) if code == normal.code && outcome.output == normal.output => taken(
            "ignored",
            ": it ends as if nothing had happened".to_owned(),
            true,
            leaks,
        ),
        Some(code) if leaks.is_empty() => {
            taken("handled", format!(" (status {code})"), false, Vec::new())
        }
        Some(code) => taken("leaks", format!(" (handled, status {code})"), true, leaks),
    }
}

fn leak(finding: &Value) -> String {
    let line = &finding["lines"][0];
    let file = line["file"]
        .as_str()
        .and_then(|file| file.rsplit('/').next());
    format!(
        "{} {}:{} {}",
        finding["rule"].as_str().unwrap_or(""),
        file.unwrap_or("?"),
        line["line"],
        line["text"].as_str().unwrap_or("")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn normal() -> Normal {
        Normal {
            code: 0,
            output: b"7".to_vec(),
            findings: Vec::new(),
        }
    }

    fn outcome(code: Option<i32>, output: &[u8]) -> Outcome {
        Outcome {
            code,
            output: output.to_vec(),
        }
    }

    #[test]
    fn evidence_that_repeats_is_shown_once_and_counted() {
        let mut causes = Causes::default();
        let (one, other) = (["a".to_owned(), "b".to_owned()], ["c".to_owned()]);
        assert_eq!(causes.lines(&one), ["cause 1:", "a", "b"]);
        assert_eq!(causes.lines(&other), ["cause 2:", "c"]);
        assert_eq!(causes.lines(&one), ["cause 1, shown above"]);
        assert_eq!(causes.lines(&[]), [""; 0]);
        assert_eq!(causes.summary(), ["cause 1 in 2 runs: a and 1 more"]);
    }

    #[test]
    fn each_way_to_take_a_fault_has_its_word() {
        let leak = json!({"rule": "JMR-MEM-008", "severity": "warning",
            "lines": [{"label": "made", "file": "/a/b.c", "line": 3, "text": "memory#1"}]});
        let word = |code, output: &[u8], new: &[Value]| {
            let taken = judge(&outcome(code, output), &normal(), new, "b.c:4  main\n");
            (taken.word, taken.harm, taken.evidence.join("|"))
        };
        assert_eq!(word(Some(3), b"", &[]), ("handled", false, String::new()));
        assert_eq!(
            word(Some(3), b"", std::slice::from_ref(&leak)),
            ("leaks", true, "JMR-MEM-008 b.c:3 memory#1".to_owned())
        );
        assert_eq!(word(Some(0), b"7", &[]).0, "ignored");
        assert_eq!(word(Some(0), b"8", &[]).0, "handled");
        assert_eq!(
            word(Some(139), b"", &[]),
            ("crash", true, "b.c:4  main".to_owned())
        );
        assert_eq!(word(None, b"", &[]).0, "hangs");
    }
}
