//! Logging: lines of programs (`aclAppLog`) and of the runtime, in files or on standard output.
//!
//! Level, place and format follow the variables that programs set for the vendor's library.

use std::ffi::CStr;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use jumar::engine::sync::{Mutex, SystemTime, UNIX_EPOCH, thread};
use jumar_types::Result;

use crate::Cx;

const NAMES: [&str; 4] = ["DEBUG", "INFO", "WARNING", "ERROR"];
const ERROR: u32 = 3;
const INFO: u32 = 1;
/// Longest text of a line of a program.
const LONGEST: usize = 1023;
const CUT: &str = "...[truncated]";
/// A file that grew to this is closed and the next one begun.
const FILE_BYTES: u64 = 20 << 20;

struct Log {
    program: String,
    settings: jumar::config::LogSettings,
    file: Mutex<Option<Output>>,
}

struct Output {
    file: File,
    bytes: u64,
}

fn log() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    // The parent's may be locked by a thread that is not in this process.
    static OF_A_CHILD: OnceLock<Log> = OnceLock::new();
    let log = match crate::process::is_forked() {
        true => &OF_A_CHILD,
        false => &LOG,
    };
    log.get_or_init(|| Log {
        program: program_name(),
        settings: jumar::config::LogSettings::from_environment(),
        file: Mutex::new(None),
    })
}

/// Tells whether a line of a program at this level is written at all.
pub fn wanted(level: u32) -> bool {
    (level as usize) < NAMES.len() && level >= log().settings.level_of("ASCENDCL")
}

/// Writes one line of a program, formatted already; below the level it is dropped.
pub fn app_log(
    _cx: &Cx<'_>,
    level: u32,
    function: &CStr,
    file: &CStr,
    line: u32,
    text: &[u8],
) -> Result<()> {
    if !wanted(level) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(text);
    let mut shown = format!(
        "{:?} {}:{}:{line}: \"{text}\"",
        thread::current().id(),
        function.to_string_lossy(),
        file.to_string_lossy()
    );
    if shown.len() > LONGEST {
        let cut = (0..=LONGEST - CUT.len())
            .rev()
            .find(|&at| shown.is_char_boundary(at))
            .unwrap_or(0);
        shown.truncate(cut);
        shown.push_str(CUT);
    }
    write(level, "APP", &shown);
    Ok(())
}

/// Writes down an error that a call answered.
pub(crate) fn error(_cx: &Cx<'_>, text: &str) {
    if ERROR >= log().settings.level_of("ASCENDCL") {
        write(ERROR, "ASCENDCL", text);
    }
}

/// Writes down what went wrong where no call can answer it.
pub(crate) fn problem(text: &str) {
    if ERROR >= log().settings.level_of("IDEDD") {
        write(ERROR, "IDEDD", text);
    }
}

/// Says once which library was loaded, so that it is never a mystery.
pub(crate) fn loaded_once(_cx: &Cx<'_>) {
    static SAID: OnceLock<()> = OnceLock::new();
    if INFO >= log().settings.level_of("RUNTIME") && SAID.set(()).is_ok() {
        let text = format!(
            "Jumar {}, a software device, is the AscendCL of this process",
            env!("CARGO_PKG_VERSION")
        );
        write(INFO, "RUNTIME", &text);
    }
}

fn write(level: u32, module: &str, text: &str) {
    let log = log();
    let mut line = String::with_capacity(text.len() + 80);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let program = &log.program;
    let level = NAMES.get(level as usize).unwrap_or(&"ERROR");
    let _ = writeln!(
        line,
        "[{level}] {module}({},{program}):{}{text}",
        std::process::id(),
        stamp(now.as_micros())
    );
    if log.settings.to_stdout {
        // A closed standard output must not end the program.
        let _ = std::io::stdout().write_all(line.as_bytes());
        return;
    }
    let mut output = log.file.lock();
    if output
        .as_ref()
        .is_none_or(|output| output.bytes > FILE_BYTES)
    {
        *output = open(&log.settings.root, now.as_millis());
    }
    if let Some(output) = output.as_mut()
        && output.file.write_all(line.as_bytes()).is_ok()
    {
        output.bytes += line.len() as u64;
    }
}

fn program_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn open(root: &Option<PathBuf>, millis: u128) -> Option<Output> {
    let folder = root.as_ref()?.join("debug").join("plog");
    fs::create_dir_all(&folder).ok()?;
    let path = folder.join(format!("plog-{}_{millis}.log", std::process::id()));
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .ok()?;
    Some(Output { file, bytes: 0 })
}

/// Writes a time as `YYYY-MM-DD-hh:mm:ss.mmm.uuu ` in UTC.
pub(crate) fn stamp(micros: u128) -> String {
    let (seconds, micros) = ((micros / 1_000_000) as i64, micros % 1_000_000);
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    format!(
        "{year:04}-{month:02}-{day:02}-{:02}:{:02}:{:02}.{:03}.{:03} ",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60,
        micros / 1000,
        micros % 1000
    )
}

/// Turns days since 1970 into a date of the Gregorian calendar (years that begin in March, eras of 400 years).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_have_their_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_778), (2026, 11, 21));
    }
}
