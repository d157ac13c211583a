//! `msprof`: exports the tables of a profile, with the options that scripts and PyTorch's adapter pass to the vendor's tool.
//!
//! The runtime writes the tables when a profile ends, and keeps a copy in the folder. Exporting is copying them back.
//!
//! PyTorch's adapter starts the export and polls for the tables every 100 ms from another thread. Its scheduler stops when that
//! thread is the only one of its parsers that still runs, and then writes neither `kernel_details.csv` nor any other table that
//! depends on the timeline. The vendor's export takes seconds, so that the thread finds the tables earlier than the export ends.
//! Here an export that a program started ends after the first reader has opened the tables.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Parser, ValueEnum};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

/// Where the runtime keeps the copy, below a profile's folder.
const KEPT: &str = "host/data/tables";
/// Where tools look for the tables.
const TABLES: &str = "mindstudio_profiler_output";
/// How long an export waits for a reader of the tables.
const READER_LIMIT: Duration = Duration::from_secs(2);
/// The time between two looks for a reader.
const READER_POLL: Duration = Duration::from_millis(20);
/// How long a reader that has opened the tables has to report them. Its thread may have to wait for a processor, and for Python's
/// lock, before it can.
const READER_REPORT: Duration = Duration::from_millis(300);

/// Exports the tables of a profile that a program took.
#[derive(Parser)]
#[command(
    name = "msprof",
    after_help = "Example:
  msprof --export=on --output=./PROF_000001_20261122214405292_HLJDLBEC

A program takes a profile with aclprofStart, PyTorch's profiler, or the profiler section of aclInit's configuration.
Collecting with msprof itself is not supported."
)]
struct Options {
    /// Writes the tables and the timeline to mindstudio_profiler_output.
    #[arg(long, value_enum, value_name = "SWITCH", default_value = "off")]
    export: Switch,
    /// Summarises collective operations, which is not supported: fails for a profile that has any.
    #[arg(long, value_enum, value_name = "SWITCH", default_value = "off")]
    analyze: Switch,
    /// The folder of a profile, or a folder with several.
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    // PyTorch's adapter takes a help text with this option for support of databases.
    #[arg(long, hide = true, value_enum, default_value = "text")]
    r#type: Type,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Type {
    Text,
    Db,
}

/// Runs the command with its arguments.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let options = Options::parse_from(std::iter::once("msprof".into()).chain(arguments));
    // A person who calls the command has nothing that polls for the tables.
    let reader_limit = match io::stdout().is_terminal() {
        true => Duration::ZERO,
        false => READER_LIMIT,
    };
    match run(&options, reader_limit) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("msprof: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options, reader_limit: Duration) -> Result<()> {
    ensure!(
        options.export == Switch::On || options.analyze == Switch::On,
        "nothing to do; pass --export=on"
    );
    ensure!(
        options.r#type == Type::Text,
        "--type=db is not supported: profiles are exported as CSV and JSON; pass --type=text"
    );
    let readers = Readers::new();
    for profile in profiles(&options.output)? {
        if options.export == Switch::On {
            export(&profile, &readers)?;
        }
        if options.analyze == Switch::On {
            analyze(&profile)?;
        }
    }
    if options.export == Switch::On {
        readers.wait(reader_limit);
    }
    Ok(())
}

/// Notices processes that open exported tables.
struct Readers {
    /// None where the system has no more instances of inotify: then nothing is noticed.
    events: Option<OwnedFd>,
}

impl Readers {
    fn new() -> Readers {
        let flags = CreateFlags::NONBLOCK | CreateFlags::CLOEXEC;
        Readers {
            events: inotify::init(flags).ok(),
        }
    }

    /// Adds a folder. The registration stays with the folder when it gets another name.
    fn add(&self, folder: &Path) {
        if let Some(events) = &self.events {
            // Without the registration the wait lasts until its limit, which is as good for the reader.
            let _ = inotify::add_watch(events, folder, WatchFlags::OPEN | WatchFlags::ONLYDIR);
        }
    }

    /// Waits until a process has opened one of the folders, and no longer than the limit.
    fn wait(&self, limit: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < limit {
            if self.was_opened() {
                thread::sleep(READER_REPORT);
                return;
            }
            thread::sleep(READER_POLL);
        }
    }

    fn was_opened(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 512];
        self.events.as_ref().is_some_and(|descriptor| {
            let next = inotify::Reader::new(descriptor, &mut buffer)
                .next()
                .map(drop);
            !matches!(next, Err(Errno::WOULDBLOCK))
        })
    }
}

/// Returns the profiles that a path names.
fn profiles(output: &Path) -> Result<Vec<PathBuf>> {
    if output.join(KEPT).is_dir() {
        return Ok(vec![output.to_owned()]);
    }
    let entries = fs::read_dir(output).with_context(|| format!("reading {}", output.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.join(KEPT).is_dir() {
            found.push(path);
        }
    }
    found.sort();
    ensure!(
        !found.is_empty(),
        "{} is not the folder of a profile that Jumar wrote: it has no {KEPT}",
        output.display()
    );
    Ok(found)
}

/// Returns the files that the runtime kept.
fn kept(profile: &Path) -> Result<Vec<PathBuf>> {
    let folder = profile.join(KEPT);
    let entries = fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Copies the tables. They appear all at once: PyTorch's parser reads the timeline as soon as there is a table.
fn export(profile: &Path, readers: &Readers) -> Result<()> {
    let tables = profile.join(TABLES);
    let copies = profile.join(format!(".{TABLES}.{}", std::process::id()));
    fs::create_dir(&copies).with_context(|| format!("creating {}", copies.display()))?;
    for file in kept(profile)? {
        let Some(name) = file.file_name() else {
            continue;
        };
        let to = copies.join(name);
        fs::copy(&file, &to).with_context(|| format!("writing {}", to.display()))?;
    }
    readers.add(&copies);
    if tables.exists() {
        fs::remove_dir_all(&tables).with_context(|| format!("replacing {}", tables.display()))?;
    }
    fs::rename(&copies, &tables).with_context(|| format!("creating {}", tables.display()))?;
    println!("{}", tables.display());
    Ok(())
}

fn analyze(profile: &Path) -> Result<()> {
    for file in kept(profile)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("task_time_") {
            continue;
        }
        let text =
            fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        if text.lines().any(|line| {
            line.split(',')
                .nth(1)
                .is_some_and(|name| name.starts_with("Hccl"))
        }) {
            bail!(
                "{}: a summary of collective operations is not supported; task_time_*.csv has their times",
                profile.display()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(tasks: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("PROF_1").join(KEPT);
        fs::create_dir_all(&kept).unwrap();
        fs::write(kept.join("task_time_1.csv"), tasks).unwrap();
        folder
    }

    fn with(folder: &Path, arguments: &[&str]) -> Result<()> {
        let output = format!("--output={}", folder.display());
        let all = ["msprof", &output]
            .into_iter()
            .chain(arguments.iter().copied());
        run(&Options::try_parse_from(all)?, Duration::ZERO)
    }

    /// An export that ends while PyTorch's parser has not seen the tables loses the tables that depend on them.
    #[test]
    fn an_export_ends_after_a_reader_has_opened_the_tables() {
        let folder = profile("Device_id,kernel_name\n0,aclnnAdd\n");
        let made = folder.path().join("PROF_1").join(TABLES);
        let output = format!("--output={}", folder.path().display());
        let options = Options::try_parse_from(["msprof", "--export=on", &output]).unwrap();
        let (ended, end) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            // The limit is never reached: an export without a reader would not end.
            scope.spawn(move || ended.send(run(&options, Duration::MAX)));
            while !made.exists() {
                thread::yield_now();
            }
            let early = end.try_recv();
            assert!(early.is_err(), "the export ended without a reader");
            assert_eq!(fs::read_dir(&made).unwrap().count(), 1);
            end.recv().unwrap().unwrap();
        });
    }

    #[test]
    fn an_export_without_a_reader_ends_at_the_limit() {
        let folder = profile("Device_id,kernel_name\n0,aclnnAdd\n");
        let output = format!("--output={}", folder.path().display());
        let options = Options::try_parse_from(["msprof", "--export=on", &output]).unwrap();
        run(&options, READER_POLL).unwrap();
        let tables = folder.path().join("PROF_1").join(TABLES);
        assert!(tables.join("task_time_1.csv").exists());
    }

    #[test]
    fn tables_that_were_deleted_are_exported_again() {
        let folder = profile("Device_id,kernel_name\n0,aclnnAdd\n");
        let made = folder
            .path()
            .join("PROF_1")
            .join(TABLES)
            .join("task_time_1.csv");
        for output in [folder.path().to_owned(), folder.path().join("PROF_1")] {
            with(&output, &["--export=on", "--analyze=on"]).unwrap();
            assert!(fs::read_to_string(&made).unwrap().contains("aclnnAdd"));
            // Once more over tables that are there, and from nothing.
            with(&output, &["--export=on"]).unwrap();
            fs::remove_dir_all(made.parent().unwrap()).unwrap();
        }
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let folder = profile("Device_id,kernel_name\n0,HcclAllReduce\n");
        let refused = |arguments: &[&str], text: &str| {
            let error = with(folder.path(), arguments).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        };
        refused(&[], "--export=on");
        refused(&["--export=on", "--type=db"], "--type=db is not supported");
        refused(&["--analyze=on"], "collective operations is not supported");
        let empty = tempfile::tempdir().unwrap();
        let error = with(empty.path(), &["--export=on"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("not the folder of a profile"), "{error}");
    }

    #[test]
    fn the_help_does_not_promise_databases() {
        use clap::CommandFactory as _;
        assert!(
            !Options::command()
                .render_long_help()
                .to_string()
                .contains("--type")
        );
    }
}
