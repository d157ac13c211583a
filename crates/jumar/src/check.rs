//! The checks, as the environment asks for them.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jumar_core::sync::thread;
use jumar_core::{Backend, Profile, Span};
use jumar_cpu::{CpuBackend, guard};
pub use jumar_diag::check::{
    Allocation, Check, DEPTH, Finding, Line, Options, Query, Rule, Script, Severity,
    SourceLocation, Touch, Walk, fork_ended, fork_prepared, has_reported, here, in_call,
    is_in_script, rules, set_outer_script, set_script, stack_text,
};

use crate::config::variable;
use crate::profile::built_in;

static CHECK: OnceLock<Option<Arc<Check>>> = OnceLock::new();

/// Returns the process's checks, if `JUMAR_CHECK` asks for them. They are made at the first call.
pub fn from_environment() -> Option<Arc<Check>> {
    let make = || {
        let check = make();
        if let Some(check) = check.clone() {
            start_observer(check);
        }
        check
    };
    CHECK.get_or_init(make).clone()
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
pub(crate) fn is_protecting() -> bool {
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

/// Makes checks of their own for a forked child, which knows nothing of the parent's.
pub fn anew() -> Option<Arc<Check>> {
    make()
}

fn make() -> Option<Arc<Check>> {
    let asked = variable("JUMAR_CHECK").filter(|text| text != "0")?;
    let rules = match asked.as_str() {
        "1" => Vec::new(),
        list => list.split(',').map(str::to_owned).collect(),
    };
    let baseline = variable("JUMAR_CHECK_BASELINE")
        .and_then(|path| std::fs::read_to_string(path).ok())
        .map(|text| text.lines().map(str::to_owned).collect())
        .unwrap_or_default();
    let options = Options {
        rules,
        report: variable("JUMAR_CHECK_REPORT").map(PathBuf::from),
        baseline,
        chinese: variable("JUMAR_CHECK_LANGUAGE").is_some_and(|text| text.starts_with("zh")),
        poison: crate::schedule::is_late(),
        protect: is_protecting(),
        replay: variable("JUMAR_CHECK_REPLAY").unwrap_or_default(),
    };
    match Check::new(options) {
        Ok(check) => Some(Arc::new(check)),
        Err(error) => {
            eprintln!("jumar: {error}");
            None
        }
    }
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

    fn touches(&self) -> Vec<Touch> {
        let touches = guard::touches().into_iter();
        touches
            .map(|touch| Touch {
                ticket: touch.ticket,
                address: touch.address,
                wrote: touch.wrote,
                frames: touch.frames,
                script: Script::of_dump(&touch.script),
            })
            .collect()
    }
}
