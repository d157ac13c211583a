//! The checks, as the environment asks for them.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jumar_core::sync::thread;
use jumar_core::{Backend, Profile, Span};
use jumar_cpu::{CpuBackend, guard};
use jumar_types::{Error, ErrorKind, Result};

pub use jumar_diag::check::{
    Allocation, Check, DEPTH, EarlyAccess, Finding, Line, Options, Query, Rule, Script, Severity,
    SourceLocation, Walk, fork_ended, fork_prepared, has_reported, here, in_call, is_in_script,
    rules, set_outer_script, set_script, stack_text,
};

use crate::config::{path, variable};
use crate::profile::built_in;

static CHECK: OnceLock<Result<Option<Arc<Check>>>> = OnceLock::new();

/// Returns the process's checks, if `JUMAR_CHECK` asks for them. The first call creates them.
///
/// # Errors
/// `InvalidFile`: the report cannot be written, or the baseline cannot be read. A program that was to be checked does not run
/// unchecked: its runtime is not built, with this error.
pub fn from_environment() -> Result<Option<Arc<Check>>> {
    let make = || {
        let check = make()?;
        if let Some(check) = check.clone() {
            start_observer(check);
        }
        Ok(check)
    };
    CHECK.get_or_init(make).clone()
}

/// Returns the process's checks, if there are any. Where they could not be created, the runtime is not built either, and the first
/// call that uses a device answers the error.
pub fn of_process() -> Option<Arc<Check>> {
    from_environment().ok().flatten()
}

/// The status of a program that was ended because it stood still forever.
const DEADLOCK_STATUS: i32 = 70;
/// How often it is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Looks now and then whether the program stands still forever; then nothing is left but to end it.
fn start_observer(check: Arc<Check>) {
    let observe = move || {
        while !check.poll(asleep) {
            thread::sleep(POLL_INTERVAL);
        }
        std::process::exit(DEADLOCK_STATUS);
    };
    // Without the thread the other checks continue.
    let _ = thread::Builder::new()
        .name("jumar-watch".into())
        .spawn(observe);
}

/// Counts the threads of the program. Returns whether every thread of the process but this one sleeps.
fn asleep() -> (usize, bool) {
    let (mut program, mut asleep) = (0, true);
    let folder = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    for entry in folder.flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // "12 (a name) S 1 ..."
        let (Some(name), Some(end)) = (stat.find('('), stat.rfind(')')) else {
            return (0, false);
        };
        let name = &stat[name + 1..end];
        program += usize::from(!name.starts_with("jumar-"));
        asleep &= name == "jumar-watch" || stat[end..].starts_with(") S");
    }
    (program, asleep)
}

/// Returns whether the program's pages of pinned memory are guarded while copies are pending.
pub fn is_protecting() -> bool {
    from_variable("JUMAR_CHECK") && from_variable("JUMAR_CHECK_PROTECT")
}

fn from_variable(name: &str) -> bool {
    variable(name).is_some_and(|text| !text.is_empty() && text != "0")
}

/// Returns the profiles of products on which the program is to run as well: what `JUMAR_CHECK_PROFILES` names.
pub fn profiles() -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| match variable("JUMAR_CHECK_PROFILES") {
        None => Vec::new(),
        Some(list) => profiles_of(&list).unwrap_or_else(|name| {
            eprintln!("jumar: JUMAR_CHECK_PROFILES names \"{name}\", which is not a profile");
            Vec::new()
        }),
    })
}

/// Finds profiles by their names, with commas between, with or without "Ascend"; `all` stands for the built-in ones.
///
/// # Errors
/// The name that is none.
pub fn profiles_of(list: &str) -> std::result::Result<Vec<Profile>, String> {
    if list == "all" {
        let names = crate::profile::names();
        return Ok(names.iter().filter_map(|name| built_in(name)).collect());
    }
    let find = |name: &str| {
        built_in(name)
            .or_else(|| built_in(&format!("Ascend{name}")))
            .ok_or_else(|| name.to_owned())
    };
    list.split(',').map(|name| find(name.trim())).collect()
}

/// Takes note of the signal on which the process's interpreter writes the stack of the thread that gets it, and of the file.
pub fn set_script_signal(signal: u32, file: u32) {
    guard::set_script(signal, file);
}

/// Creates checks for a forked child, which does not share those of its parent.
///
/// # Errors
/// As [`from_environment`].
pub fn anew() -> Result<Option<Arc<Check>>> {
    make()
}

/// Reads a list of rules, as `JUMAR_CHECK` and `jumar check --rules` hold it. The empty list stands for all rules but the lints.
///
/// # Errors
/// What the list must be.
pub fn rules_of(list: &str) -> std::result::Result<Vec<String>, String> {
    if list == "1" {
        return Ok(Vec::new());
    }
    rules::list(list).map_err(|entry| {
        format!(
            "1, `all`, or ids of rules with commas between them, and no id of a rule begins with \"{entry}\"; docs/rules lists them, \
             for example JMR-SYNC-001"
        )
    })
}

fn make() -> Result<Option<Arc<Check>>> {
    let asked = variable("JUMAR_CHECK").filter(|text| text != "0");
    // An invalid list was refused by `Settings::from_environment`.
    let Some(rules) = asked.and_then(|list| rules_of(&list).ok()) else {
        return Ok(None);
    };
    let baseline = match path("JUMAR_CHECK_BASELINE") {
        None => Vec::new(),
        Some(file) => baseline(&file)?,
    };
    let options = Options {
        rules,
        report: path("JUMAR_CHECK_REPORT"),
        status: path("JUMAR_CHECK_STATUS"),
        baseline,
        chinese: variable("JUMAR_CHECK_LANGUAGE").is_some_and(|text| text.starts_with("zh")),
        poison: crate::schedule::is_late(),
        protect: is_protecting(),
        replay: variable("JUMAR_CHECK_REPLAY").unwrap_or_default(),
    };
    Check::new(options).map(|check| Some(Arc::new(check)))
}

/// The most that a file of known findings may hold, so that a device named by mistake is an error.
const MAX_BASELINE_BYTES: u64 = 64 << 20;

/// Reads the fingerprints of known findings.
fn baseline(file: &Path) -> Result<Vec<String>> {
    let text = crate::input_file::read_text(file, MAX_BASELINE_BYTES).map_err(|error| {
        let sentence = format!("the baseline {} cannot be read: {error}", file.display());
        Error::new(ErrorKind::InvalidFile, sentence)
            .fix("Name a file that `jumar check --save-baseline` has written.")
    })?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Reads and fills memory for the checks.
pub(crate) struct Memory(pub(crate) Arc<CpuBackend>);

impl jumar_diag::check::Memory for Memory {
    fn read(&self, from: Span, into: &mut [u8]) {
        self.0.read_now(from, into);
    }

    fn fill(&self, to: Span, value: u8) {
        self.0.fill_now(to, value);
    }

    fn guard(&self, ticket: u64, span: Span, writes: bool) {
        guard::guard(ticket, span, writes);
    }

    fn release(&self, ticket: u64) {
        guard::release(ticket);
    }

    fn touches(&self) -> Vec<EarlyAccess> {
        let touches = guard::touches().into_iter();
        touches
            .map(|touch| EarlyAccess {
                ticket: touch.ticket,
                address: touch.address,
                wrote: touch.wrote,
                frames: touch.frames,
                script: Script::of_dump(&touch.script),
            })
            .collect()
    }
}
