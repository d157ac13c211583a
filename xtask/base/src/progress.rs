//! Runs a command with its output in a file, and shows that something is happening.

use std::fs::{self, File};
use std::io::{IsTerminal, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Shorter waits need no explanation.
const SILENT: Duration = Duration::from_secs(2);
/// The interval at which a log without a terminal reports that the work continues.
const HEARTBEAT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
/// The lines of all commands that run at the same time.
static LINES: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// How a command ended.
pub struct CommandEnd {
    /// Its status.
    pub status: ExitStatus,
    /// Whether it was stopped because it took longer than it may.
    pub timed_out: bool,
}

impl CommandEnd {
    /// Returns the problem, if there was one.
    pub fn problem(&self) -> Option<String> {
        use std::os::unix::process::ExitStatusExt;
        if self.timed_out {
            return Some("stopped: it took longer than it may".into());
        }
        match (
            self.status.success(),
            self.status.code(),
            self.status.signal(),
        ) {
            (true, ..) => None,
            (_, Some(code), _) => Some(format!("exit status {code}")),
            (_, None, Some(signal)) => Some(format!("ended by signal {signal}")),
            (_, None, None) => Some("failed".into()),
        }
    }
}

/// Prints a line to the standard error output, between the lines of commands that run.
pub fn print_line(line: &str) {
    LINES.suspend(|| eprintln!("{line}"));
}

/// Runs a command, appends what it prints to `log`, and stops it after `limit`.
///
/// On a terminal a line shows the time and the newest line of the log; elsewhere a line is printed every half minute.
pub fn run_logged(
    label: &str,
    command: &mut Command,
    log: &Path,
    limit: Duration,
) -> Result<CommandEnd> {
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder)?;
    }
    let out = File::options()
        .create(true)
        .append(true)
        .open(log)
        .with_context(|| format!("cannot write {}", log.display()))?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))?;

    let mut display = Display::new(label, start);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(CommandEnd {
                status,
                timed_out: false,
            });
        }
        if start.elapsed() > limit {
            stop_with_descendants(child.id());
            let status = child.wait()?;
            return Ok(CommandEnd {
                status,
                timed_out: true,
            });
        }
        display.update(|| last_line(log));
        std::thread::sleep(POLL);
    }
}

/// Runs a command quietly, shows that it is at work, and fails with the end of its output if it fails.
pub fn run_or_fail(label: &str, command: &mut Command, log: &Path) -> Result<()> {
    let _ = fs::remove_file(log);
    let ended = run_logged(label, command, log, Duration::from_secs(3600))?;
    match ended.problem() {
        None => Ok(()),
        Some(problem) => bail!(
            "{label}: {problem}\n{}\n(all of it: {})",
            tail(log, 40),
            log.display()
        ),
    }
}

/// Returns the last lines of a file.
pub fn tail(path: &Path, lines: usize) -> String {
    let text = fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

struct Display {
    label: String,
    start: Instant,
    bar: Option<ProgressBar>,
    next_heartbeat: Duration,
}

impl Display {
    fn new(label: &str, start: Instant) -> Self {
        Display {
            label: label.into(),
            start,
            bar: None,
            next_heartbeat: HEARTBEAT,
        }
    }

    fn update(&mut self, newest: impl FnOnce() -> String) {
        let elapsed = self.start.elapsed();
        if elapsed < SILENT {
            return;
        }
        if std::io::stderr().is_terminal() {
            let label = &self.label;
            let bar = self.bar.get_or_insert_with(|| {
                let bar = LINES.add(ProgressBar::new_spinner());
                bar.set_style(
                    ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg}")
                        .expect("a constant template"),
                );
                bar.set_prefix(label.clone());
                bar
            });
            bar.set_message(newest());
            bar.tick();
        } else if elapsed >= self.next_heartbeat {
            self.next_heartbeat += HEARTBEAT;
            print_line(&format!(
                "      {}: {} s, {}",
                self.label,
                elapsed.as_secs(),
                newest()
            ));
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Reads the newest line of a growing file without reading all of it.
fn last_line(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(2048)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let line = text
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("")
        .trim();
    line.chars().filter(|c| !c.is_control()).take(100).collect()
}

/// Kills a process and everything that it started: a test that hangs is a grandchild of cargo.
fn stop_with_descendants(root: u32) {
    let mut doomed = vec![root];
    let parents = parents();
    let mut next = 0;
    while next < doomed.len() {
        let parent = doomed[next];
        doomed.extend(
            parents
                .iter()
                .filter(|(_, p)| *p == parent)
                .map(|(child, _)| *child),
        );
        next += 1;
    }
    let _ = Command::new("kill")
        .arg("-KILL")
        .args(doomed.iter().map(u32::to_string))
        .stderr(Stdio::null())
        .status();
}

/// Lists (process, parent) for every process that can be seen.
fn parents() -> Vec<(u32, u32)> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    folder
        .flatten()
        .filter_map(|entry| {
            let process: u32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The second field is the name in parentheses and may hold anything; the parent is the second field after it.
            let parent = stat
                .rsplit_once(')')?
                .1
                .split_whitespace()
                .nth(1)?
                .parse()
                .ok()?;
            Some((process, parent))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_takes_too_long_is_stopped_with_its_children() {
        let folder = std::env::temp_dir().join(format!("xtask-progress-{}", std::process::id()));
        let log = folder.join("log");
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo started; wait"]);
        let ended = run_logged("sleep", &mut command, &log, Duration::from_millis(300)).unwrap();
        assert!(ended.timed_out);
        assert_eq!(tail(&log, 5), "started");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_exit_status_is_named() {
        let folder = std::env::temp_dir().join(format!("xtask-status-{}", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "exit 3"]);
        let ended = run_logged(
            "three",
            &mut command,
            &folder.join("log"),
            Duration::from_secs(60),
        )
        .unwrap();
        assert_eq!(ended.problem().as_deref(), Some("exit status 3"));
        fs::remove_dir_all(folder).unwrap();
    }
}
