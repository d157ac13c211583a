//! Logging: lines of programs (`aclAppLog`) and of the runtime, in files or on standard output.
//!
//! Level, folder and format follow the variables that programs set for the vendor's library. Lines go to `debug/plog`; what a
//! run is about, once a run, goes to `run/plog`. `security/plog` is made beside them, and nothing is written there.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jumar::engine::sync::{Mutex, SystemTime, UNIX_EPOCH};
use jumar_types::Result;

use crate::Cx;

const NAMES: [&str; 4] = ["DEBUG", "INFO", "WARNING", "ERROR"];
const ERROR: u32 = 3;
/// Longest text of a line of a program.
const LONGEST: usize = 1023;
const CUT: &str = "...[truncated]";
/// A file that grew to this is closed and the next one begun.
const FILE_BYTES: u64 = 20 << 20;

struct Log {
    /// Its name is asked for when the first line is written.
    program: OnceLock<String>,
    settings: jumar::config::LogSettings,
    debug: Mutex<Files>,
    run: Mutex<Files>,
}

/// The files of one kind.
#[derive(Default)]
struct Files {
    /// The one that is written, and how long it is.
    current: Option<(File, u64)>,
    /// All that this process has, the oldest first.
    paths: VecDeque<PathBuf>,
}

impl Files {
    /// Writes a line, to the next file where this one is full. Where nothing can be written, nothing is.
    fn write(&mut self, folder: &Path, line: &str, full: u64, most: usize, micros: u128) {
        if self
            .current
            .as_ref()
            .is_none_or(|(_, bytes)| *bytes >= full)
        {
            self.current = self.next(folder, most, micros);
        }
        if let Some((file, bytes)) = &mut self.current
            && file.write_all(line.as_bytes()).is_ok()
        {
            *bytes += line.len() as u64;
        }
    }

    fn next(&mut self, folder: &Path, most: usize, micros: u128) -> Option<(File, u64)> {
        fs::create_dir_all(folder).ok()?;
        while self.paths.len() >= most {
            let oldest = self.paths.pop_front()?;
            // Another process may have removed it.
            let _ = fs::remove_file(oldest);
        }
        let process = std::process::id();
        // Two files of a process never have the same name, however quickly the first is full.
        let path = (micros / 1000..)
            .map(|millis| folder.join(format!("plog-{process}_{millis}.log")))
            .find(|path| !self.paths.contains(path))?;
        let file = jumar::output_file::append(&path);
        self.paths.push_back(path);
        file.ok().map(|file| (file, 0))
    }
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
        program: OnceLock::new(),
        settings: jumar::config::LogSettings::from_environment(),
        debug: Mutex::default(),
        run: Mutex::default(),
    })
}

/// Returns whether a line of a program at this level is written at all.
pub fn wanted(level: u32) -> bool {
    (level as usize) < NAMES.len() && level >= log().settings.level_of("ASCENDCL")
}

/// Writes one line of a program, formatted already; below the level it is dropped.
pub fn app_log(
    cx: &Cx<'_>,
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
        "{} {}:{}:{line}: \"{text}\"",
        cx.thread.system_number(),
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
    write(Kind::Level(level), "APP", &shown);
    Ok(())
}

/// Writes down an error that a call answered.
pub(crate) fn error(_cx: &Cx<'_>, text: &str) {
    if ERROR >= log().settings.level_of("ASCENDCL") {
        write(Kind::Level(ERROR), "ASCENDCL", text);
    }
}

/// Writes an error that a call of the Graph Engine returned.
pub(crate) fn graph_engine_error(text: &str) {
    if ERROR >= log().settings.level_of("GE") {
        write(Kind::Level(ERROR), "GE", text);
    }
}

/// Writes down what went wrong where no call can answer it.
pub(crate) fn problem(text: &str) {
    if ERROR >= log().settings.level_of("IDEDD") {
        write(Kind::Level(ERROR), "IDEDD", text);
    }
}

/// Logs the cause of a failure that the program gets as a code outside of a call.
pub(crate) fn reported(text: &str) {
    if ERROR >= log().settings.level_of("ASCENDCL") {
        write(Kind::Level(ERROR), "ASCENDCL", text);
    }
}

/// Logs which library was loaded, if events are logged. Otherwise the first other line logs it: a program that
/// has nothing to log leaves no file in its user's home.
pub(crate) fn loaded(_cx: &Cx<'_>) {
    if log().settings.events == Some(true) {
        say_once();
    }
}

/// Logs once which library this is.
fn say_once() {
    static SAID: OnceLock<()> = OnceLock::new();
    if SAID.set(()).is_ok() {
        let text = format!(
            "Jumar {}, a software device, is the AscendCL of this process",
            env!("CARGO_PKG_VERSION")
        );
        write(Kind::Event, "RUNTIME", &text);
    }
}

/// What kind of line it is.
#[derive(Clone, Copy)]
enum Kind {
    /// One of a level.
    Level(u32),
    /// Something that a run is about.
    Event,
}

fn write(kind: Kind, module: &str, text: &str) {
    if matches!(kind, Kind::Level(_)) && log().settings.events != Some(false) {
        say_once();
    }
    let log = log();
    let mut line = String::with_capacity(text.len() + 80);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let program = log.program.get_or_init(program_name);
    let level = match kind {
        Kind::Event => "EVENT",
        Kind::Level(level) => NAMES.get(level as usize).unwrap_or(&"ERROR"),
    };
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
    let Some(root) = &log.settings.root else {
        return;
    };
    let (files, folder) = match kind {
        Kind::Event => (&log.run, "run"),
        Kind::Level(_) => (&log.debug, "debug"),
    };
    let folder = root.join(folder).join("plog");
    let mut files = files.lock();
    if files.paths.is_empty() {
        // Scripts that collect logs look for it, although nothing is written there.
        let _ = fs::create_dir_all(root.join("security").join("plog"));
    }
    let most = log.settings.files;
    files.write(&folder, &line, FILE_BYTES, most, now.as_micros());
}

fn program_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
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
    fn a_full_file_is_followed_by_the_next_and_the_oldest_goes() {
        let name = format!("jumar-log-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let mut files = Files::default();
        for line in 0..12 {
            // Three lines fill a file; the clock stands still.
            files.write(&folder, &format!("line {line:02}\n"), 24, 3, 5_000);
        }
        let mut left: Vec<_> = fs::read_dir(&folder)
            .expect("the folder was made")
            .map(|entry| fs::read_to_string(entry.expect("it can be listed").path()))
            .map(|text| text.expect("it can be read"))
            .collect();
        left.sort();
        fs::remove_dir_all(&folder).expect("the folder is the test's own");
        let lines = |from: u32| -> String {
            (from..from + 3)
                .map(|line| format!("line {line:02}\n"))
                .collect()
        };
        assert_eq!(left, [lines(3), lines(6), lines(9)]);
    }

    #[test]
    fn known_days_have_their_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_778), (2026, 11, 21));
    }
}
