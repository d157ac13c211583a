//! `cargo xtask ci`: everything that has to pass, three steps at a time, and a table at the end.
//!
//! The tree under test is the one that users get. With `--quick` it is built of what `cargo test` compiles anyway: sooner there, with
//! assertions and checks of overflow, and several times as slow.
//!
//! Most steps use one processor for much of their time: tests of the install tree, and the last crates of a build; and tests wait, for
//! time limits and for other processes. A step starts when those that it needs have ended, and no other step uses what it needs for
//! itself. A step's whole output lies in target/ci/<step>.log; of a failed one the end is shown. A step that cannot run because another
//! one failed, or because the machine lacks a tool, is skipped with the reason; skipped is never passed.

mod bare;
mod calls;
mod deny;
mod job;
mod levels;
mod long;
mod mindspore;
mod races;
mod serving;
mod steps;
mod summary;
mod triton;
mod variants;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum as _;

use crate::{dist, progress};

/// What `cargo xtask ci` takes.
#[derive(clap::Args)]
pub struct Options {
    /// Adds the long steps: model checking, valgrind, sanitizers, soak tests, advisories.
    #[arg(long)]
    long: bool,
    /// Runs one part of the long steps alone, with the steps that it needs; each part takes less than an hour.
    #[arg(long, value_enum, conflicts_with_all = ["long", "only"])]
    part: Option<Part>,
    /// Runs only these steps. Whatever they need from other steps must exist from an earlier run.
    #[arg(long, value_name = "STEP,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Tests a tree of the libraries that `cargo test` compiles, without optimization. Tests with time limits may exceed them.
    #[arg(long)]
    quick: bool,
    /// Lists the steps and runs none.
    #[arg(long)]
    list: bool,
}

impl Options {
    /// Returns whether these are the steps that every change has to pass, all of them and no other.
    pub fn is_complete(&self) -> bool {
        !self.long && !self.quick && self.part.is_none() && self.only.is_empty() && !self.list
    }
}

/// A part of the long steps, small enough for one job of a hosted service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Address and thread sanitizer, Miri, memcheck, helgrind.
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
    /// What no other step may use at the same time.
    uses: Uses,
    /// What it does.
    run: fn(&Job) -> Result<Outcome>,
}

/// What a step needs for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Uses {
    /// Nothing.
    Nothing,
    /// Cargo's folder of debug builds, which cargo locks while it compiles.
    DebugBuilds,
    /// The whole machine: it measures time, or starts more threads than there are processors.
    Machine,
}

impl Uses {
    /// Returns whether steps that need these may not run at the same time.
    fn excludes(self, other: Uses) -> bool {
        self == Uses::Machine
            || other == Uses::Machine
            || self == Uses::DebugBuilds && other == Uses::DebugBuilds
    }
}

/// What a step needs to know.
struct Job {
    name: &'static str,
    log: PathBuf,
    long: bool,
    /// How the install tree under test is built.
    build: dist::Build,
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

    // What the long steps measure and strain is what users get.
    let build = if options.quick && chosen.iter().all(|step| step.part.is_none()) {
        dist::Build::Tests
    } else {
        dist::Build::Release
    };
    let logs = crate::root().join("target/ci");
    fs::create_dir_all(&logs)?;
    let start = Instant::now();
    let schedule = Schedule::new(chosen);
    let job = |name: &'static str| Job {
        name,
        log: logs.join(format!("{name}.log")),
        long: options.long || options.part.is_some(),
        build,
    };
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| schedule.work(&job));
        }
    });
    let rows = schedule.into_rows();
    print!("{}", table(&rows, start.elapsed().as_secs_f64()));
    Ok(!rows
        .iter()
        .any(|row| matches!(row.outcome, Outcome::Failed(_))))
}

/// How many steps run at the same time: one more than there are processors where this has to be quick.
const SIDE_BY_SIDE: usize = 3;

/// The steps of a run, and how far they are.
struct Schedule {
    steps: Vec<&'static Step>,
    progress: Mutex<Vec<Progress>>,
    changed: Condvar,
}

/// How far a step is.
enum Progress {
    Waiting,
    Running,
    Ended(Row),
}

impl Schedule {
    fn new(steps: Vec<&'static Step>) -> Self {
        let progress = steps.iter().map(|_| Progress::Waiting).collect();
        Schedule {
            steps,
            progress: Mutex::new(progress),
            changed: Condvar::new(),
        }
    }

    /// Runs steps until none is left that has not started.
    fn work(&self, job: &dyn Fn(&'static str) -> Job) {
        while let Some(index) = self.take() {
            let step = self.steps[index];
            let number = format!("[{:>2}/{}]", index + 1, self.steps.len());
            progress::print_line(&format!("{number} {}: {}", step.name, step.what));
            let job = job(step.name);
            let start = Instant::now();
            let outcome = match self.unmet(step) {
                Some(needed) => Outcome::Skipped(format!("needs {needed}, which did not pass")),
                None => {
                    let _ = fs::remove_file(&job.log);
                    // The other thread waits for steps that this one runs: a panic must not leave one running forever.
                    let ended = panic::catch_unwind(AssertUnwindSafe(|| (step.run)(&job)));
                    ended
                        .unwrap_or_else(|_| Err(anyhow!("the step panicked")))
                        .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
                }
            };
            let row = Row {
                name: step.name,
                outcome,
                seconds: start.elapsed().as_secs_f64(),
            };
            report(&row, &job);
            self.locked()[index] = Progress::Ended(row);
            self.changed.notify_all();
        }
    }

    /// Waits for a step that can start, and marks it as running. Returns `None` when every step has started.
    fn take(&self) -> Option<usize> {
        let mut progress = self.locked();
        loop {
            if !progress.iter().any(|one| matches!(one, Progress::Waiting)) {
                return None;
            }
            if let Some(index) = next(&self.steps, &progress) {
                progress[index] = Progress::Running;
                return Some(index);
            }
            progress = self
                .changed
                .wait(progress)
                .expect("no step runs under the lock");
        }
    }

    /// Returns the first step that has to pass before this one and ran without passing.
    fn unmet(&self, step: &Step) -> Option<&'static str> {
        unmet(
            step,
            self.locked().iter().filter_map(|one| match one {
                Progress::Ended(row) => Some(row),
                _ => None,
            }),
        )
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Vec<Progress>> {
        self.progress.lock().expect("no step runs under the lock")
    }

    /// Returns the results in the order of the steps.
    fn into_rows(self) -> Vec<Row> {
        let progress = self
            .progress
            .into_inner()
            .expect("no step runs under the lock");
        progress
            .into_iter()
            .filter_map(|one| match one {
                Progress::Ended(row) => Some(row),
                _ => None,
            })
            .collect()
    }
}

/// Returns the first waiting step whose needs have ended and that no running step excludes.
///
/// A step that needs the whole machine is not overtaken, because it would wait until all others have ended.
fn next(steps: &[&Step], progress: &[Progress]) -> Option<usize> {
    let running = || {
        steps
            .iter()
            .zip(progress)
            .filter(|(_, one)| matches!(one, Progress::Running))
            .map(|(step, _)| step.uses)
    };
    let has_ended = |name: &str| {
        !steps
            .iter()
            .zip(progress)
            .any(|(step, one)| step.name == name && !matches!(one, Progress::Ended(_)))
    };
    for (index, (step, one)) in steps.iter().zip(progress).enumerate() {
        if !matches!(one, Progress::Waiting) || !step.needs.iter().all(|name| has_ended(name)) {
            continue;
        }
        if !running().any(|uses| uses.excludes(step.uses)) {
            return Some(index);
        }
        if step.uses == Uses::Machine {
            return None;
        }
    }
    None
}

/// Prints how a step ended, and the end of its log if it failed.
fn report(row: &Row, job: &Job) {
    let (name, seconds) = (row.name, row.seconds);
    progress::print_line(&match &row.outcome {
        Outcome::Passed(note) => {
            format!(
                "        {name}: passed, {seconds:.1} s{}",
                after_comma(note)
            )
        }
        Outcome::Skipped(reason) => format!("        {name}: SKIPPED: {reason}"),
        Outcome::Failed(reason) => {
            let end = match progress::tail(&job.log, 80) {
                end if end.is_empty() => end,
                end => format!("\n----- the end of {}\n{end}\n-----", job.log.display()),
            };
            format!("        {name}: FAILED, {seconds:.1} s: {reason}{end}")
        }
    });
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
fn unmet<'a>(step: &Step, rows: impl Iterator<Item = &'a Row>) -> Option<&'static str> {
    let failed: Vec<&str> = rows
        .filter(|row| !matches!(row.outcome, Outcome::Passed(_)))
        .map(|row| row.name)
        .collect();
    step.needs
        .iter()
        .find(|needed| failed.contains(needed))
        .copied()
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
            uses: Uses::Nothing,
            run: |_| unreachable!(),
        };
        let rows = [row("dist", Outcome::Failed("x".into()))];
        assert_eq!(unmet(&step, rows.iter()), Some("dist"));
        let rows = [row("dist", Outcome::Passed(String::new()))];
        assert_eq!(unmet(&step, rows.iter()), None);
        let none = [].iter();
        assert_eq!(unmet(&step, none), None, "--only counts on earlier runs");
    }

    #[test]
    fn a_step_that_panics_has_failed_and_what_needs_it_is_skipped() {
        static FIRST: Step = Step {
            name: "first",
            what: "",
            part: None,
            needs: &[],
            uses: Uses::Nothing,
            run: |_| panic!("expected by the test"),
        };
        static SECOND: Step = Step {
            name: "second",
            needs: &["first"],
            ..FIRST
        };
        let schedule = Schedule::new(vec![&FIRST, &SECOND]);
        let job = |name| Job {
            name,
            log: std::env::temp_dir().join(format!("xtask-{}-{name}", std::process::id())),
            long: false,
            build: dist::Build::Tests,
        };
        thread::scope(|scope| {
            for _ in 0..SIDE_BY_SIDE {
                scope.spawn(|| schedule.work(&job));
            }
        });
        let rows = schedule.into_rows();
        assert!(matches!(&rows[0].outcome, Outcome::Failed(why) if why.contains("panicked")));
        assert!(matches!(&rows[1].outcome, Outcome::Skipped(_)));
    }

    #[test]
    fn a_step_starts_when_its_needs_have_ended_and_nothing_excludes_it() {
        const fn step(name: &'static str, needs: &'static [&'static str], uses: Uses) -> Step {
            Step {
                name,
                what: "",
                part: None,
                needs,
                uses,
                run: |_| unreachable!(),
            }
        }
        static CLIPPY: Step = step("clippy", &[], Uses::DebugBuilds);
        static TEST: Step = step("test", &[], Uses::DebugBuilds);
        static DIST: Step = step("dist", &[], Uses::Nothing);
        static HEADERS: Step = step("headers", &["dist"], Uses::Nothing);
        static CHAOS: Step = step("chaos", &["dist"], Uses::Machine);
        static DENY: Step = step("deny", &[], Uses::Nothing);
        let steps = [&CLIPPY, &TEST, &DIST, &HEADERS, &CHAOS, &DENY];
        let ended = || Progress::Ended(row("", Outcome::Passed(String::new())));
        let mut progress: Vec<Progress> = steps.iter().map(|_| Progress::Waiting).collect();
        assert_eq!(next(&steps, &progress), Some(0));
        progress[0] = Progress::Running;
        assert_eq!(next(&steps, &progress), Some(2), "test waits for clippy");
        progress[2] = Progress::Running;
        assert_eq!(
            next(&steps, &progress),
            Some(5),
            "headers and chaos need dist"
        );
        progress[2] = ended();
        progress[3] = Progress::Running;
        assert_eq!(
            next(&steps, &progress),
            None,
            "chaos waits for the machine, and deny for it"
        );
        progress[0] = ended();
        progress[1] = ended();
        progress[3] = ended();
        assert_eq!(next(&steps, &progress), Some(4));
        progress[4] = Progress::Running;
        assert_eq!(next(&steps, &progress), None, "nothing runs beside chaos");
    }

    #[test]
    fn a_part_runs_its_steps_and_what_they_need_and_the_parts_together_run_all() {
        let names = |part| -> Vec<&str> {
            let options = Options {
                long: false,
                part: Some(part),
                only: Vec::new(),
                quick: false,
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
