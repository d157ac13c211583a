//! `cargo xtask ci`: everything that has to pass, one step after another, and a table at the end.
//!
//! A step's whole output lies in target/ci/<step>.log; of a failed one the end is shown. A step that cannot run because
//! another one failed, or because the machine lacks a tool, is skipped with the reason; skipped is never passed.

mod deny;
mod long;
mod steps;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum as _;

use crate::progress;

/// What `cargo xtask ci` takes.
#[derive(clap::Args)]
pub struct Options {
    /// Adds what takes long: model checking, valgrind, address sanitizer, soak, advisories.
    #[arg(long)]
    long: bool,
    /// Runs one part of the long steps alone, with the steps that it needs; each part takes less than an hour.
    #[arg(long, value_enum, conflicts_with_all = ["long", "only"])]
    part: Option<Part>,
    /// Runs these steps alone, and counts on what earlier runs left behind for the rest.
    #[arg(long, value_name = "STEP,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Lists the steps and ends.
    #[arg(long)]
    list: bool,
}

/// A part of the long steps, small enough for one job of a hosted service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Address sanitizer, memcheck, helgrind.
    Sanitizers,
    /// Damaged files, soak, chaos, large models.
    Endurance,
    /// Model checking, other processors, browsers, advisories.
    Portability,
}

/// One thing that has to pass.
struct Step {
    /// The name in the table, in --only and of the log.
    name: &'static str,
    /// What it shows, in a few words.
    what: &'static str,
    /// The part of the long steps that it belongs to; `None` for a step of every run.
    part: Option<Part>,
    /// The steps that have to pass first.
    needs: &'static [&'static str],
    /// What it does.
    run: fn(&Job) -> Result<Outcome>,
}

/// What a step needs to know.
struct Job {
    name: &'static str,
    log: PathBuf,
    long: bool,
}

/// How a step ended; each with a few words.
enum Outcome {
    Passed(String),
    Failed(String),
    Skipped(String),
}

struct Row {
    name: &'static str,
    outcome: Outcome,
    seconds: f64,
}

/// Runs the steps. Returns whether all that ran passed.
pub fn run(options: &Options) -> Result<bool> {
    let all = steps::ALL;
    if options.list {
        for step in all {
            println!(
                "{:<12} {}{}",
                step.name,
                step.what,
                match step.part {
                    Some(part) => format!(" (--long, --part {})", name_of(part)),
                    None => String::new(),
                }
            );
        }
        return Ok(true);
    }
    if let Some(unknown) = options
        .only
        .iter()
        .find(|name| !all.iter().any(|step| step.name == name.as_str()))
    {
        bail!(
            "there is no step {unknown:?}; the steps are: {}",
            all.iter().map(|s| s.name).collect::<Vec<_>>().join(", ")
        );
    }
    let chosen = choose(options);

    let logs = crate::root().join("target/ci");
    fs::create_dir_all(&logs)?;
    let start = Instant::now();
    let mut rows: Vec<Row> = Vec::new();
    for (number, step) in chosen.iter().enumerate() {
        eprintln!(
            "[{:>2}/{}] {}: {}",
            number + 1,
            chosen.len(),
            step.name,
            step.what
        );
        let job = Job {
            name: step.name,
            log: logs.join(format!("{}.log", step.name)),
            long: options.long || options.part.is_some(),
        };
        let step_start = Instant::now();
        let outcome = match unmet(step, &rows) {
            Some(needed) => Outcome::Skipped(format!("needs {needed}, which did not pass")),
            None => {
                let _ = fs::remove_file(&job.log);
                (step.run)(&job).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
            }
        };
        let seconds = step_start.elapsed().as_secs_f64();
        match &outcome {
            Outcome::Passed(note) => {
                eprintln!("        passed, {seconds:.1} s{}", after_comma(note))
            }
            Outcome::Skipped(reason) => eprintln!("        SKIPPED: {reason}"),
            Outcome::Failed(reason) => {
                eprintln!("        FAILED, {seconds:.1} s: {reason}");
                let end = progress::tail(&job.log, 80);
                if !end.is_empty() {
                    eprintln!("----- the end of {}", job.log.display());
                    eprintln!("{end}\n-----");
                }
            }
        }
        rows.push(Row {
            name: step.name,
            outcome,
            seconds,
        });
    }
    print!("{}", table(&rows, start.elapsed().as_secs_f64()));
    Ok(!rows
        .iter()
        .any(|row| matches!(row.outcome, Outcome::Failed(_))))
}

/// Returns the steps that the options select, in order.
fn choose(options: &Options) -> Vec<&'static Step> {
    let of_part = |step: &Step| step.part.is_some() && step.part == options.part;
    let needed = |step: &Step| {
        steps::ALL
            .iter()
            .any(|other| of_part(other) && other.needs.contains(&step.name))
    };
    steps::ALL
        .iter()
        .filter(|step| {
            if !options.only.is_empty() {
                options.only.iter().any(|name| name == step.name)
            } else if options.part.is_some() {
                of_part(step) || needed(step)
            } else {
                options.long || step.part.is_none()
            }
        })
        .collect()
}

/// Returns the name of a part on the command line.
fn name_of(part: Part) -> String {
    part.to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns the first step that has to pass before this one and ran without passing.
fn unmet(step: &Step, rows: &[Row]) -> Option<&'static str> {
    let failed = |needed: &&&'static str| {
        rows.iter()
            .any(|row| row.name == **needed && !matches!(row.outcome, Outcome::Passed(_)))
    };
    step.needs.iter().find(failed).copied()
}

/// Lays the results out. The last line is for machines and people alike.
fn table(rows: &[Row], total_seconds: f64) -> String {
    let mut text = format!(
        "\n{:<12} {:<8} {:>8}  {}\n",
        "step", "result", "seconds", ""
    );
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for row in rows {
        let (result, note) = match &row.outcome {
            Outcome::Passed(note) => (&mut passed, ("passed", note)),
            Outcome::Failed(note) => (&mut failed, ("FAILED", note)),
            Outcome::Skipped(note) => (&mut skipped, ("skipped", note)),
        };
        *result += 1;
        let first_line = note.1.lines().next().unwrap_or("");
        let line = format!(
            "{:<12} {:<8} {:>8.1}  {first_line}",
            row.name, note.0, row.seconds
        );
        text += line.trim_end();
        text.push('\n');
    }
    text += &format!("{:<12} {:<8} {total_seconds:>8.1}\n\n", "all", "");
    text += &format!("{passed} passed, {failed} failed");
    if skipped > 0 {
        text += &format!(", {skipped} skipped");
    }
    text.push('\n');
    text
}

fn after_comma(note: &str) -> String {
    if note.is_empty() {
        String::new()
    } else {
        format!(", {note}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, outcome: Outcome) -> Row {
        Row {
            name,
            outcome,
            seconds: 1.25,
        }
    }

    #[test]
    fn a_skipped_step_is_shown_with_its_reason_and_counted_separately() {
        let text = table(
            &[
                row("a", Outcome::Passed(String::new())),
                row("b", Outcome::Skipped("no valgrind".into())),
            ],
            2.5,
        );
        assert!(text.contains("skipped"), "{text}");
        assert!(text.contains("no valgrind"), "{text}");
        assert!(
            text.ends_with("\n1 passed, 0 failed, 1 skipped\n"),
            "{text}"
        );
    }

    #[test]
    fn a_step_is_not_run_when_what_it_needs_failed() {
        let step = Step {
            name: "demo",
            what: "",
            part: None,
            needs: &["dist"],
            run: |_| unreachable!(),
        };
        let rows = [row("dist", Outcome::Failed("x".into()))];
        assert_eq!(unmet(&step, &rows), Some("dist"));
        assert_eq!(
            unmet(&step, &[row("dist", Outcome::Passed(String::new()))]),
            None
        );
        assert_eq!(unmet(&step, &[]), None, "--only counts on earlier runs");
    }

    #[test]
    fn a_part_runs_its_steps_and_what_they_need_and_the_parts_together_run_all() {
        let names = |part| -> Vec<&str> {
            let options = Options {
                long: false,
                part: Some(part),
                only: Vec::new(),
                list: false,
            };
            choose(&options).iter().map(|step| step.name).collect()
        };
        let sanitizers = names(Part::Sanitizers);
        assert!(sanitizers.contains(&"valgrind"), "{sanitizers:?}");
        assert!(sanitizers.contains(&"dist"), "valgrind needs it");
        assert!(!sanitizers.contains(&"soak"), "{sanitizers:?}");
        let all: Vec<&str> = Part::value_variants()
            .iter()
            .flat_map(|part| names(*part))
            .collect();
        for step in steps::ALL.iter().filter(|step| step.part.is_some()) {
            assert!(all.contains(&step.name), "no part runs {}", step.name);
        }
    }

    #[test]
    fn every_need_names_an_earlier_step() {
        for (index, step) in steps::ALL.iter().enumerate() {
            for need in step.needs {
                assert!(
                    steps::ALL[..index]
                        .iter()
                        .any(|earlier| earlier.name == *need),
                    "{} needs {need}",
                    step.name
                );
            }
        }
    }
}
