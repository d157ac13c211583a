//! The checks' view of the interface: which calls make and end which objects, and what their codes say.
//!
//! The engine (findings, objects, the order of accesses) is jumar-diag's; here is what needs names of the interface. [`lifetimes`] is the
//! table of objects; [`memory`] has the rules for addresses; [`refusals`] explains codes; this file has the rules that check single calls.

pub(crate) mod collectives;
mod files;
pub(crate) mod frames;
mod image_portability;
mod lifetimes;
mod limits;
mod mapped;
mod media;
mod memory;
mod operators;
mod portability;
mod recent;
mod refusals;
mod table;
mod unread;

pub(crate) use unread::{answered, asked, failed_in_graph_engine, failed_in_script};

use std::cell::Cell;
use std::collections::BTreeSet;

use jumar::check::{Check, Finding, Query, Script, SourceLocation};
use jumar::engine::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, Ordering};

use crate::observers::MOST;
use crate::{Call, Cx, process};

use lifetimes::ObjectLifetime;
use table::{After, Before};

pub(crate) use files::is_about_to_be_written;

/// A call that is over.
pub(crate) struct CompletedCall {
    pub(crate) call: &'static Call,
    pub(crate) words: [u64; MOST],
    pub(crate) code: i32,
    pub(crate) returned: u64,
    pub(crate) written: [u64; MOST],
    /// What its error says.
    pub(crate) sentence: Option<Box<str>>,
    /// Whether the code is what the function returns.
    pub(crate) returns_code: bool,
}

/// What the process did that later calls are judged by.
struct Past {
    initialized: AtomicBool,
    finalized: AtomicBool,
    /// Reported once: runtime calls before aclInit.
    bare: AtomicBool,
    /// The process that called first.
    process: AtomicU64,
    /// Set and reset counts of each device.
    devices: Mutex<Vec<(i64, i64)>>,
    /// Where the last finalise was called.
    finalized_at: Mutex<SourceLocation>,
    /// Where the last initialisation was called.
    initialized_at: Mutex<SourceLocation>,
    /// The same as text, for a forked child, which has no source locations of its parent.
    origin: Mutex<Option<(SourceLocation, String)>>,
    /// Whether this process was reported as a fork.
    reported_forked: AtomicU64,
    /// The source location at which a thread last got a device or a context.
    set_up_at: Mutex<SourceLocation>,
    /// Streams whose captures were begun, and where; the newest last.
    captures: Mutex<Vec<(u64, SourceLocation)>>,
    /// The most severe finding since the last finalisation: 0 none, 1 a warning, 2 an error. Others have the same cause.
    reported_late: AtomicU32,
    /// The objects that a reset destroyed; reported at the end unless a more severe finding follows from it.
    swept: Mutex<Option<Finding>>,
    polls: Mutex<Polls>,
}

/// Polls that were refused. A thread polls in a loop, which begins before its number can be subscribed and ends after that is undone, so
/// that the mistake is a thread that is never subscribed.
struct Polls {
    /// The first refused poll of each thread, reported at the end unless the thread is subscribed later.
    early: Vec<(u64, Finding)>,
    /// The threads that were ever subscribed.
    subscribed: BTreeSet<u64>,
}

static PAST: Past = Past {
    initialized: AtomicBool::new(false),
    finalized: AtomicBool::new(false),
    bare: AtomicBool::new(false),
    process: AtomicU64::new(0),
    devices: Mutex::new(Vec::new()),
    finalized_at: Mutex::new(SourceLocation::UNKNOWN),
    initialized_at: Mutex::new(SourceLocation::UNKNOWN),
    origin: Mutex::new(None),
    reported_forked: AtomicU64::new(0),
    set_up_at: Mutex::new(SourceLocation::UNKNOWN),
    captures: Mutex::new(Vec::new()),
    reported_late: AtomicU32::new(0),
    swept: Mutex::new(None),
    polls: Mutex::new(Polls {
        early: Vec::new(),
        subscribed: BTreeSet::new(),
    }),
};

thread_local! {
    /// The source location at which the calling thread last got a device or a context.
    static CONTEXT_AT: Cell<SourceLocation> = const { Cell::new(SourceLocation::UNKNOWN) };
}

/// Prepares the text for the findings of a child that is about to be forked.
pub(crate) fn fork_prepared() {
    let Some(check) = crate::observers::watcher().and_then(|watcher| watcher.check.as_ref()) else {
        return;
    };
    let location = *PAST.initialized_at.lock();
    let mut origin = PAST.origin.lock();
    if PAST.initialized.load(Ordering::Relaxed)
        && origin.as_ref().is_none_or(|(known, _)| *known != location)
    {
        *origin = Some((location, check.describe(location)));
    }
}

/// Reports a call after the finalisation. Later ones have the same cause and are reported only if they are more severe.
fn find_late(check: &Check, finding: Finding) {
    let grade = 1 + u32::from(finding.rule == "JMR-ORDER-001");
    if PAST.reported_late.fetch_max(grade, Ordering::Relaxed) < grade {
        if grade > 1 {
            *PAST.swept.lock() = None;
        }
        check.find(finding);
    }
}

fn is(call: &Call, names: &[&str]) -> bool {
    names.contains(&call.name)
}

/// Calls that end something or give it back.
fn gives_back(name: &str) -> bool {
    ["Destroy", "aclrtFree", "Unload", "UnLoad"]
        .iter()
        .any(|word| name.contains(word))
        && !name.contains("Register")
}

/// Looks at a call before it is carried out.
pub(crate) fn before(cx: &Cx<'_>, check: &Check, words: &[u64; MOST]) {
    let call = cx.call;
    let known = table::known(call);
    if PAST.process.load(Ordering::Relaxed) == 0 {
        let own = u64::from(std::process::id());
        PAST.process.store(own, Ordering::Relaxed);
    }
    if process::is_forked() {
        forked(check);
    }
    if !PAST.initialized.load(Ordering::Relaxed) && known.needs_init {
        bare(check, call);
    }
    if PAST.finalized.load(Ordering::Relaxed)
        && gives_back(call.name)
        && too_late(check, known, words)
    {
        return;
    }
    for (index, lifetime) in &known.handles {
        let key = words[*index];
        if key != 0 && !recent::is_alive(check, key) {
            gone(check, call, lifetime, key);
        }
        lifetimes::set_ending(check, call.name, lifetime, key, true);
        if lifetime.kind == "stream" && submits(call) {
            almost_full(cx, check, key);
        }
    }
    frames::before(check, call, words[0]);
    match known.before {
        Before::Nothing => {}
        Before::Free { device } => memory::free(cx, check, words[0] as usize, device),
        Before::Copy { queued } => {
            let [to, capacity, from, count, kind] =
                [words[0], words[1], words[2], words[3], words[4]].map(|word| word as usize);
            memory::copy(cx, check, (to, capacity), (from, count), kind, queued);
        }
        Before::Fill => memory::reach(check, "target", words[0] as usize, words[3] as usize),
        Before::Buffer { first } => {
            memory::buffer(check, words[first] as usize, words[first + 1] as usize);
        }
        Before::SetDevice => replaces_context(cx, check, words),
        Before::QueryStream => {
            if let Some(number) = lifetimes::stream_number(words[0]) {
                check.query_begins(Query::Stream(number));
            }
        }
        Before::QueryEvent => {
            if let Some(number) = lifetimes::known_number(check, "event", words[0]) {
                check.query_begins(Query::Event(number));
            }
        }
        Before::DestroyStream => pending_stream(cx, check, words[0]),
        Before::ExecuteModel => memory::host_buffers(check, words),
        Before::WaitForEvent => unrecorded(check, call, words),
        // A wait with a limit ends by itself.
        Before::WaitForNotify if words[2] != 0 => check.may_be_released(),
        Before::WaitForNotify => {}
        Before::PlanOperator => operators::before_plan(check, call, words),
        Before::RunOperator => operators::before_run(check, call, words),
    }
}

fn forked(check: &Check) {
    let own = u64::from(std::process::id());
    let first = PAST.process.load(Ordering::Relaxed);
    if first != own && PAST.reported_forked.swap(own, Ordering::Relaxed) != own {
        let origin = PAST.origin.try_lock();
        let origin = origin.as_ref().and_then(|origin| origin.as_ref());
        let parent = match origin {
            Some((_, location)) => format!("which had called aclInit at {location}"),
            None => "which had used a device".to_owned(),
        };
        check.find(
            Finding::now(
                "JMR-FORK-001",
                format!("process {own} is a fork of process {first}, {parent}"),
            )
            .missing("an exec after the fork, or a fork before the first call"),
        );
    }
}

fn bare(check: &Check, call: &Call) {
    if !PAST.finalized.load(Ordering::Relaxed)
        && !check.is_of_framework(jumar::check::here())
        && !PAST.bare.swap(true, Ordering::Relaxed)
    {
        check.find(Finding::now(
            "JMR-INIT-009",
            format!("{} is called and aclInit was not", call.name),
        ));
    }
}

/// Finds what is given back after the finalise, whether it is still there or not.
fn too_late(check: &Check, known: &table::CallRecord, words: &[u64; MOST]) -> bool {
    let object = known
        .handles
        .iter()
        .find_map(|(index, lifetime)| {
            let object = check.object(lifetime.kind, words[*index])?;
            // The object ends, whatever the call returns.
            check.ended(lifetime.kind, words[*index], "aclFinalize");
            Some(object)
        })
        .map(|object| (object.name(), object.made));
    let memory = match known.before {
        Before::Free { .. } => {
            let address = words[0] as usize;
            let freed = || check.freed(address).map(|(allocation, _)| allocation);
            let found = check.allocation(address).or_else(freed);
            check.forget_allocation(address);
            found.map(|allocation| (allocation.name(), allocation.made))
        }
        _ => None,
    };
    let Some((name, made)) = object.or(memory) else {
        return false;
    };
    find_late(
        check,
        Finding::now(
            "JMR-ORDER-001",
            format!("{name} is given back after aclFinalize"),
        )
        .and(
            "earlier",
            *PAST.finalized_at.lock(),
            "everything is finalised",
        )
        .and("made", made, name),
    );
    true
}

fn gone(check: &Check, call: &Call, lifetime: &ObjectLifetime, key: u64) {
    let now = check.ends();
    let Some(object) = check.object(lifetime.kind, key) else {
        return recent::set_alive(key, now);
    };
    let Some((by, location)) = object.ended else {
        return recent::set_alive(key, now);
    };
    let after_finalize = PAST.finalized.load(Ordering::Relaxed) && gives_back(call.name);
    let twice = lifetime.ends.iter().any(|(name, _)| *name == call.name);
    let rule = match (by, twice) {
        _ if after_finalize => "JMR-ORDER-001",
        ("aclrtResetDevice" | "aclrtResetDeviceForce", _) => "JMR-DEV-009",
        (_, true) => lifetime.twice,
        (_, false) => lifetime.stale,
    };
    let finding = Finding::now(
        rule,
        format!("{} gets {}, which is gone", call.name, object.name()),
    )
    .and(
        "earlier",
        location,
        format!("{} is ended by {by}", object.name()),
    )
    .and("made", object.made, object.name());
    match after_finalize {
        true => find_late(check, finding),
        false => check.find(finding),
    }
}

/// aclrtSetDevice makes the device's primary context current, whatever was current before.
fn replaces_context(cx: &Cx<'_>, check: &Check, words: &[u64; MOST]) {
    let current = cx.thread.current_handle();
    if current == 0 {
        return;
    }
    if let Some(object) = check.object("context", current)
        && object.ended.is_none()
    {
        check.find(
            Finding::now(
                "JMR-CTX-003",
                format!(
                    "the primary context of device {} replaces {} on this thread",
                    words[0] as i32,
                    object.name()
                ),
            )
            .and("made", object.made, object.name()),
        );
    }
}

/// Calls that queue a task.
fn submits(call: &Call) -> bool {
    let name = call.name;
    name.ends_with("Async")
        || name.contains("Launch")
        || is_record_or_wait(name)
        || crate::aclnn::phase_of(call).is_some()
}

fn is_record_or_wait(name: &str) -> bool {
    name.starts_with("aclrtRecord") || name.starts_with("aclrtStreamWait")
}

/// From this many queued tasks on a stream is reported. A stream holds 1 << 20, and a submit to a full one waits.
const ALMOST_FULL: u64 = 1_000_000;

fn almost_full(cx: &Cx<'_>, check: &Check, handle: u64) {
    let Some(stream) = cx
        .runtime()
        .ok()
        .and_then(|runtime| runtime.streams().get(handle).ok())
    else {
        return;
    };
    let queued = stream.queued();
    if queued >= ALMOST_FULL
        && let Some(object) = check.object("stream", handle)
    {
        check.find(
            Finding::now(
                "JMR-STREAM-020",
                format!("{} has {queued} queued tasks", object.name()),
            )
            .and("made", object.made, object.name()),
        );
    }
}

fn pending_stream(cx: &Cx<'_>, check: &Check, handle: u64) {
    let Ok(runtime) = cx.runtime() else {
        return;
    };
    let Ok(stream) = runtime.streams().get(handle) else {
        return;
    };
    if check.is_pending(stream.number())
        && let Some(object) = check.object("stream", handle)
    {
        check.find(
            Finding::now(
                "JMR-STREAM-005",
                format!("{} has queued work that no call waited for", object.name()),
            )
            .and("made", object.made, object.name()),
        );
    }
}

/// Waits for events that were never recorded, since their last reset.
fn unrecorded(check: &Check, call: &Call, words: &[u64; MOST]) {
    const RECORDED: u64 = 1;
    let event = match call.name {
        "aclrtStreamWaitEvent" => words[1],
        _ => words[0],
    };
    let Some(object) = check.object("event", event) else {
        return;
    };
    if object.ended.is_some() || object.note & RECORDED != 0 || object.made_by.contains("Ipc") {
        return;
    }
    // A stream's wait for such an event lasts until the event is recorded; other waits return at once.
    if call.name == "aclrtStreamWaitEvent" && object.made_by == "aclrtCreateEventWithFlag" {
        return;
    }
    let rule = match call.name {
        "aclrtStreamWaitEvent" => "JMR-EVENT-001",
        _ => "JMR-EVENT-020",
    };
    check.find(
        Finding::now(rule, format!("{} was never recorded", object.name())).and(
            "made",
            object.made,
            object.name(),
        ),
    );
}

/// Returns whether a call that went well means anything.
pub(crate) fn checks_call(call: &'static Call) -> bool {
    let known = table::known(call);
    known.checks_lifetime
        || !matches!(known.after, After::Nothing)
        || known.counted.is_some()
        || !jumar::check::profiles().is_empty()
}

/// Looks at a call that was carried out.
pub(crate) fn after(check: &Check, seen: &CompletedCall) {
    let name = seen.call.name;
    let known = table::known(seen.call);
    if matches!(known.after, After::AskForErrors) {
        unread::asked();
        return;
    }
    if seen.code != 0 {
        for (index, lifetime) in &known.handles {
            lifetimes::set_ending(check, name, lifetime, seen.words[*index], false);
        }
        if PAST.finalized.load(Ordering::Relaxed) && gives_back(name) {
            // Already reported as a late call.
            return;
        }
        let is_explained = match known.after {
            After::PlanOperator => {
                operators::plan_refused(check, seen);
                false
            }
            After::RunOperator => {
                operators::run_refused(check, seen);
                false
            }
            _ => refusals::explain(check, seen),
        };
        // Another rule says more.
        let is_explained = is_explained || jumar::check::has_reported();
        if seen.returns_code && !is_explained && !refusals::is_question(seen.call) {
            unread::failed(check, seen);
        }
        if name == "aclmdlRICaptureEnd" {
            capture_ended(seen.words[0]);
        }
        if name != "aclInit" || seen.code != crate::generated::codes::ACL_ERROR_REPEAT_INITIALIZE {
            return;
        }
    }
    if known.checks_lifetime {
        lifetimes::after(check, seen);
    }
    portability::inspect(check, seen);
    if let Some(counted) = known.counted {
        limits::inspect(check, counted);
    }
    match known.after {
        After::Nothing | After::AskForErrors => {}
        After::Init => {
            PAST.initialized.store(true, Ordering::Relaxed);
            *PAST.initialized_at.lock() = jumar::check::here();
            PAST.finalized.store(false, Ordering::Relaxed);
            PAST.reported_late.store(0, Ordering::Relaxed);
        }
        After::Finalize => {
            if !PAST.initialized.load(Ordering::Relaxed) {
                check.find(Finding::now("JMR-INIT-012", "aclInit was never called"));
            }
            PAST.finalized.store(true, Ordering::Relaxed);
            *PAST.finalized_at.lock() = jumar::check::here();
            check.host_knows_all();
            lifetimes::destroyed_with_owner(check, name, None);
        }
        After::FinalizeReference => {
            if seen.written[0] == 0 {
                PAST.finalized.store(true, Ordering::Relaxed);
                *PAST.finalized_at.lock() = jumar::check::here();
                check.host_knows_all();
                lifetimes::destroyed_with_owner(check, name, None);
            }
        }
        After::Malloc => check.asked(seen.written[0] as usize, seen.words[1] as usize),
        After::SetDevice => {
            set_device(seen.words[0] as usize, |counts| counts.0 += 1);
            set_up();
        }
        After::SetContext => set_up(),
        After::BeginCapture => {
            PAST.captures
                .lock()
                .push((seen.words[0], jumar::check::here()));
        }
        After::EndCapture => capture_ended(seen.words[0]),
        After::ResetDevice => {
            set_device(seen.words[0] as usize, |counts| counts.1 += 1);
            check.host_knows_all();
            if PAST.finalized.load(Ordering::Relaxed) {
                find_late(
                    check,
                    Finding::now("JMR-ORDER-003", "the device is reset after aclFinalize").and(
                        "earlier",
                        *PAST.finalized_at.lock(),
                        "everything is finalised",
                    ),
                );
            }
            lifetimes::destroyed_with_owner(check, name, Some(seen.words[0] as u32));
        }
        After::DestroyContext => {
            check.host_knows_all();
            let context = check.object("context", seen.words[0]);
            let device = context.and_then(|context| context.device);
            lifetimes::destroyed_with_owner(check, name, device);
        }
        After::Query { when } => check.query_ended(seen.written[1] == when),
        After::RecordEvent => {
            if check
                .object("event", seen.words[0])
                .is_some_and(|event| event.note != 1)
            {
                check.note("event", seen.words[0], 1);
            }
        }
        After::ResetEvent => check.note("event", seen.words[0], 0),
        After::MayRelease => check.may_be_released(),
        After::DestroyChannel => media::channel_destroyed(seen),
        After::PlanOperator => {
            check.made("executor", seen.written[1], None, name, 0);
        }
        After::RunOperator => operators::ran(check, seen),
        After::Subscribe => {
            let mut polls = PAST.polls.lock();
            polls.subscribed.insert(seen.words[0]);
            polls.early.retain(|(thread, _)| *thread != seen.words[0]);
        }
        After::DestroyEvent => {
            if let Some(number) = lifetimes::known_number(check, "event", seen.words[0]) {
                check.event_ended(number);
            }
        }
        After::DestroyStream => {
            if let Some(number) = lifetimes::known_number(check, "stream", seen.words[0]) {
                check.stream_ended(number as u32);
            }
        }
    }
}

/// The calling thread has a context from now on.
fn set_up() {
    let location = jumar::check::here();
    let _ = CONTEXT_AT.try_with(|at| at.set(location));
    *PAST.set_up_at.lock() = location;
}

fn capture_ended(stream: u64) {
    PAST.captures.lock().retain(|(known, _)| *known != stream);
}

/// Keeps the finding of a reset until it is known whether a more severe one follows. An earlier one is reported.
fn reported_at_the_end(check: &Check, finding: Finding) {
    if let Some(earlier) = PAST.swept.lock().replace(finding) {
        check.find(earlier);
    }
}

fn set_device(device: usize, change: impl FnOnce(&mut (i64, i64))) {
    let mut devices = PAST.devices.lock();
    if device < 64 {
        if devices.len() <= device {
            devices.resize(device + 1, (0, 0));
        }
        change(&mut devices[device]);
    }
}

/// Writes where a program crashed: the stack of the thread, and the call that it made last. `fault` is the address of the instruction,
/// `script` is where the thread's interpreter is.
pub(crate) fn crashed(check: &Check, signal: i32, fault: Option<usize>, script: Option<Script>) {
    const NAMES: [(i32, &str); 5] = [
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (11, "SIGSEGV"),
    ];
    let name = NAMES.iter().find(|(number, _)| *number == signal);
    let name = name.map_or("a signal", |(_, name)| name);
    let mut text = format!("jumar check: the program crashes with {name} ({signal})\n");
    if script.is_some() {
        jumar::check::set_script(script);
    }
    for line in jumar::check::stack_text(fault).lines() {
        text.push_str(&format!("  at       {line}\n"));
    }
    // A crash inside the checks may have left their lock behind.
    let is_usable = check.is_usable();
    if is_usable && let Some((call, location)) = check.last_call() {
        text.push_str(&format!("  last     {location}\n           {call}\n"));
    }
    eprint!("{text}");
    if is_usable {
        unread::report(check);
    }
}

/// Looks at what is left when the process ends.
pub(crate) fn at_exit(check: &Check) {
    // A program that was killed does not release its objects, nor does one that ends because ranks failed, while other threads of it
    // still wait for these.
    if check.is_deadlocked() || collectives::have_failed() {
        return;
    }
    jumar::check::in_call(jumar::check::SourceLocation::UNKNOWN);
    if let Some(finding) = PAST.swept.lock().take() {
        check.find(finding);
    }
    unread::report(check);
    for (_, finding) in std::mem::take(&mut PAST.polls.lock().early) {
        check.find(finding);
    }
    lifetimes::leaks(check);
    if PAST.initialized.load(Ordering::Relaxed) && !PAST.finalized.load(Ordering::Relaxed) {
        jumar::check::in_call(*PAST.initialized_at.lock());
        check.find(Finding::now(
            "JMR-INIT-015",
            "the process that this initialises ends without aclFinalize",
        ));
    }
}
