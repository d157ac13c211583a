//! The processor time that a command of xtask used, with all programs that it started.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Linux counts in these, whatever the frequency of its timer.
const TICKS_A_SECOND: f64 = 100.0;

/// Returns the seconds that this process and the programs that it waited for have used.
///
/// # Errors
/// `/proc` is missing or has another form.
pub fn used() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat").context("/proc/self/stat")?;
    // The name of the program, in parentheses, may hold blanks.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(4)
        .map(|field| field.parse::<u64>().context("/proc/self/stat"))
        .sum::<Result<u64>>()?;
    Ok(ticks as f64 / TICKS_A_SECOND)
}

/// Stores what a command used. `cargo xtask size` prints it.
///
/// # Errors
/// The file cannot be written.
pub fn record(command: &str, seconds: f64) -> Result<()> {
    let file = file(command);
    let folder = file.parent().context("a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(&file, format!("{seconds:.1}\n")).with_context(|| file.display().to_string())
}

/// Returns what the last complete run of a command used, in seconds; `None` if it has not run here.
pub fn recorded(command: &str) -> Option<f64> {
    fs::read_to_string(file(command)).ok()?.trim().parse().ok()
}

fn file(command: &str) -> PathBuf {
    crate::root().join(format!("target/processor-time/{command}.txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_this_process_and_of_its_children_counts() {
        let before = used().unwrap();
        let status = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
            .status()
            .unwrap();
        assert!(status.success());
        assert!(used().unwrap() > before);
    }
}
