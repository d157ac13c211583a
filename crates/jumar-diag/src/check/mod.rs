//! The checks: the mistakes of a program, with source locations and fixes.
//!
//! A [`Check`] is a probe: from the operations at the gate it keeps the order that the program established. A frontend
//! also reports calls, objects and threads to it. [`Check::find`] takes a finding, which is reported at once,
//! one for each rule and pair of source locations, and again in the summary.
//!
//! One lock (`state`) guards everything; each admitted operation takes it for a moment, and nothing is called under
//! it but the reading of debug information, when something was found. The phases of most operations are irrelevant: a table of
//! counters ([`Interest`]) shows without the lock which ones are not.

mod baseline;
mod callbacks;
mod cells;
mod conflict;
mod deadlock;
mod exclusive;
mod finding;
mod leaks;
mod order;
mod race;
mod report;
pub mod rules;
mod signals;
mod source_location;
mod watchpoints;

use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use jumar_core::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};
use jumar_core::{Admission, Op, Phase, Probe, Span};
use jumar_types::Result;

pub use finding::{EarlyAccess, Finding, Line, Object};
pub use rules::{Rule, Severity};
pub use source_location::{
    DEPTH, Script, SourceLocation, Walk, fork_ended, fork_prepared, has_reported, here, in_call,
    is_in_script, set_outer_script, set_script, stack_text,
};

use race::{OpContext, Races};
use report::Report;
use source_location::{LOCAL, Local, SourceLocations};

/// What is checked, and where findings go.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Ids of rules, or their beginnings; empty for all but the lints.
    pub rules: Vec<String>,
    /// A file to which each finding is appended as a line of JSON.
    pub report: Option<PathBuf>,
    /// The file of the run's status ([`crate::record_file::RunStatus`]): the checks state there that they started, and that a finding could not be
    /// written to `report`.
    pub status: Option<PathBuf>,
    /// Fingerprints of findings that are known and not reported.
    pub baseline: Vec<String>,
    /// Findings are printed in Chinese if there is a text.
    pub chinese: bool,
    /// Targets of copies to the host are overwritten before the copy runs.
    pub poison: bool,
    /// The program's pages of pinned memory are guarded while copies are pending.
    pub protect: bool,
    /// The line that runs the program again.
    pub replay: String,
}

/// Access to the memory that spans name, for checks that compare or overwrite bytes.
pub trait Memory: Send + Sync {
    /// Copies the span's bytes.
    fn read(&self, from: Span, into: &mut [u8]);
    /// Fills the span.
    fn fill(&self, to: Span, value: u8);
    /// Guards bytes that a copy reads, or writes, from the program, as long as the copy is pending.
    fn guard(&self, _ticket: u64, _span: Span, _writes: bool) {}
    /// Ends that.
    fn release(&self, _ticket: u64) {}
    /// Takes what the program touched of guarded bytes since the last time.
    fn touches(&self) -> Vec<EarlyAccess> {
        Vec::new()
    }
}

/// What a program asks about.
#[derive(Clone, Copy, Debug)]
pub enum Query {
    /// A stream, by its number: all that was queued.
    Stream(u32),
    /// An event, by its number: its newest record.
    Event(u64),
}

/// How many ended objects of one kind are remembered.
const MOST_ENDED: usize = 1 << 12;

/// Operations whose phases have to be heard of, by the last digits of their numbers: a count that is not zero may mean another
/// operation, zero means none.
struct Interest(Box<[AtomicU32]>);

impl Interest {
    fn new() -> Interest {
        Interest((0..1 << 12).map(|_| AtomicU32::new(0)).collect())
    }

    fn of(&self, ticket: u64) -> &AtomicU32 {
        &self.0[ticket as usize % self.0.len()]
    }

    // The submit that follows makes the change known to the thread that runs the operation.
    fn found(&self, ticket: u64) {
        self.of(ticket).fetch_add(1, Ordering::Relaxed);
    }

    fn lost(&self, ticket: u64) {
        self.of(ticket).fetch_sub(1, Ordering::Relaxed);
    }

    fn is_there(&self, ticket: u64) -> bool {
        self.of(ticket).load(Ordering::Relaxed) != 0
    }
}

/// A thread's index among the actors of a check.
struct Seat {
    /// Releases the indices of threads that ended; also identifies the check.
    released: Arc<Mutex<Vec<usize>>>,
    location: usize,
    /// The version of what everybody knows that the thread heard last.
    heard: Cell<u64>,
    /// Whether it did something that it has not published.
    dirty: Cell<bool>,
    /// How many calls it is in.
    depth: Cell<u32>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        // In a forked child the lock may be held by a thread that is not there.
        if let Some(mut released) = self.released.try_lock() {
            released.push(self.location);
        }
    }
}

/// The index of threads that are being destroyed.
const NOBODY: usize = 0;

/// Rules that check accesses to memory.
const OF_ACCESSES: &[&str] = &[
    "JMR-SYNC-001",
    "JMR-SYNC-002",
    "JMR-SYNC-003",
    "JMR-SYNC-005",
    "JMR-SYNC-006",
    "JMR-SYNC-007",
    "JMR-SYNC-008",
    "JMR-SYNC-009",
    "JMR-SYNC-023",
    "JMR-SYNC-024",
    "JMR-MODEL-010",
    "JMR-MEM-009",
    "JMR-MEM-016",
    "JMR-THREAD-004",
];

struct State {
    locations: SourceLocations,
    report: Report,
    objects: HashMap<(&'static str, u64), Object>,
    /// By kind, so that objects which come and go with each operator do not displace the others.
    ended: HashMap<&'static str, VecDeque<u64>>,
    counts: HashMap<&'static str, u64>,
    races: Races,
    reported: HashSet<(&'static str, usize, usize, u64)>,
}

/// In lines of the caches of its own: the lock's owner does not slow down readers of neighbouring data.
#[repr(align(128))]
struct CacheLinePadded<T>(T);

/// The checks of a process.
///
/// # Threads
/// Any. In a forked child it continues with what the parent knew.
pub struct Check {
    state: CacheLinePadded<Mutex<State>>,
    options: Options,
    memory: Mutex<Option<Arc<dyn Memory>>>,
    process: u32,
    interest: Interest,
    released: Arc<Mutex<Vec<usize>>>,
    /// Changes whenever there is news for threads that begin a call.
    news: Arc<AtomicU64>,
    /// Whether there is more than one thread.
    many: AtomicBool,
    /// Whether a rule that checks accesses is enabled.
    accesses: bool,
    /// Changes whenever an object ends.
    ends: AtomicU64,
    /// Changes whenever memory is handed out or given back.
    moves: AtomicU64,
    /// Whether the program was found to stand still forever.
    deadlocked: AtomicBool,
    explainer: OnceLock<Explainer>,
}

/// Returns why a program is blocked forever, where the operations that passed the gate do not explain it. The argument is where the
/// host waits. Called without a lock of the check.
pub type Explainer = fn(SourceLocation) -> Option<Finding>;

impl Check {
    /// Makes a check.
    ///
    /// # Errors
    /// `InvalidFile`: the report cannot be made.
    pub fn new(options: Options) -> Result<Check> {
        let races = Races::default();
        let mut check = Check {
            news: races.order.common_version.clone(),
            state: CacheLinePadded(Mutex::new(State {
                locations: SourceLocations::default(),
                report: Report::new(&options)?,
                objects: HashMap::new(),
                ended: HashMap::new(),
                counts: HashMap::new(),
                races,
                reported: HashSet::new(),
            })),
            options,
            memory: Mutex::new(None),
            process: std::process::id(),
            interest: Interest::new(),
            released: Arc::default(),
            many: AtomicBool::new(false),
            accesses: false,
            ends: AtomicU64::new(1),
            moves: AtomicU64::new(1),
            deadlocked: AtomicBool::new(false),
            explainer: OnceLock::new(),
        };
        check.accesses = OF_ACCESSES.iter().any(|rule| check.wants(rule));
        Ok(check)
    }

    /// Returns the calling thread's index among the actors, with what it has to do before and after it uses it.
    #[inline]
    fn seated<R>(&self, use_it: impl FnOnce(&Seat, &Local) -> R) -> Option<R> {
        LOCAL
            .try_with(|local| {
                if let Some(seat) = &*local.seat.borrow()
                    && Arc::ptr_eq(&seat.released, &self.released)
                {
                    return use_it(seat, local);
                }
                self.sit_down(local);
                let seat = local.seat.borrow();
                use_it(seat.as_ref().expect("it was put there above"), local)
            })
            .ok()
    }

    #[cold]
    fn sit_down(&self, local: &Local) {
        let mut state = self.state();
        let order = &mut state.races.order;
        for location in std::mem::take(&mut *self.released.lock()) {
            order.thread_ended(location);
        }
        let new = Seat {
            released: self.released.clone(),
            location: order.thread_begins(),
            heard: Cell::new(self.news.load(Ordering::Acquire)),
            dirty: Cell::new(false),
            depth: Cell::new(0),
        };
        self.many.store(order.has_many(), Ordering::Relaxed);
        drop(state);
        // The seat of an earlier check goes here, outside the lock of this one.
        let _earlier = local.seat.replace(Some(new));
    }

    /// Runs something as the calling thread, with the state locked. Outside a call whatever others did is known first, and
    /// whatever it does is published at once.
    #[inline]
    fn as_thread<R>(&self, act: impl FnOnce(&mut State, usize, SourceLocation) -> R) -> R {
        let mut act = Some(act);
        let done = self.seated(|seat, local| {
            let here = local.location.get();
            let act = act.take().expect("taken once");
            let mut state = self.state();
            if seat.depth.get() > 0 {
                seat.dirty.set(true);
                return act(&mut state, seat.location, here);
            }
            if seat.heard.get() != self.news.load(Ordering::Acquire) {
                seat.heard.set(state.races.order.hear(seat.location));
            }
            let done = act(&mut state, seat.location, here);
            if self.many.load(Ordering::Relaxed) {
                seat.heard.set(state.races.order.publish(seat.location));
            }
            done
        });
        match (done, act) {
            (Some(done), _) => done,
            (None, Some(act)) => {
                let mut state = self.state();
                state.races.order.hear(NOBODY);
                let done = act(&mut state, NOBODY, here());
                state.races.order.publish(NOBODY);
                done
            }
            (None, None) => unreachable!("it was taken where there is a seat"),
        }
    }

    /// Lets the checks read and fill memory.
    pub fn set_memory(&self, memory: Arc<dyn Memory>) {
        *self.memory.lock() = Some(memory);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock()
    }

    /// Returns whether a rule is enabled: by default all rules but the lints, otherwise the rules that the user named.
    pub fn wants(&self, rule: &str) -> bool {
        let Some(rule) = rules::find(rule) else {
            return false;
        };
        match self.options.rules.as_slice() {
            [] => rule.severity != Severity::Lint,
            named => named
                .iter()
                .any(|name| name == "all" || rule.id.starts_with(name.as_str())),
        }
    }

    /// Begins a call of the calling thread: it knows from now on whatever calls that returned have done. `known` is where in the
    /// program it is, if an earlier walk of the same stack found it; otherwise the stack is walked. Returns the location where the thread
    /// was, for [`Check::end_call`], and what the walk saw.
    pub fn begin_call(
        &self,
        call: &'static str,
        known: Option<SourceLocation>,
    ) -> (SourceLocation, Option<Walk>) {
        let begun = self.seated(|seat, local| {
            if seat.heard.get() != self.news.load(Ordering::Acquire) {
                seat.heard.set(self.state().races.order.hear(seat.location));
            }
            seat.depth.set(seat.depth.get() + 1);
            local.has_reported.set(false);
            let known = known.filter(|_| !local.is_in_script());
            let before = local.location.get();
            if let Some(location) = known {
                local.location.set(location);
            }
            (before, known.is_some())
        });
        let (before, is_known) = begun.unwrap_or_default();
        if is_known {
            return (before, None);
        }
        let (stack, slots) = source_location::walk();
        let frames = stack.frames();
        let location = self.state().locations.intern(call, stack);
        source_location::enter(location);
        let mut walk = Walk {
            location,
            frames: [(0, 0); DEPTH],
        };
        for (to, (frame, slot)) in walk.frames.iter_mut().zip(frames.into_iter().zip(slots)) {
            *to = (frame, slot);
        }
        (before, Some(walk))
    }

    /// Sets the source location of the call under way to the line of a script that began the work, if the calling thread runs no script:
    /// frameworks plan on the thread of the script, and submit on a thread of their own.
    pub fn continue_script(&self, call: &'static str, planned: SourceLocation) {
        let mut state = self.state();
        if let Some(location) = state.locations.of_script(call, planned, here()) {
            drop(state);
            source_location::enter(location);
        }
    }

    /// Ends the call that the calling thread began last: it is back at the location `before`.
    pub fn end_call(&self, before: SourceLocation) {
        let _no_seat = self.seated(|seat, local| {
            local.last.set(local.location.replace(before));
            seat.depth.set(seat.depth.get().saturating_sub(1));
            if seat.dirty.get() && self.many.load(Ordering::Relaxed) {
                seat.dirty.set(false);
                let version = self.state().races.order.publish(seat.location);
                // What others published while this call ran has not been taken in: the next call does that.
                if seat.heard.get() + 1 == version {
                    seat.heard.set(version);
                }
            }
        });
    }

    /// Returns a number that changes whenever an object ends: what was alive is alive while it stands still.
    pub fn ends(&self) -> u64 {
        self.ends.load(Ordering::Acquire)
    }

    /// Returns a number that changes whenever memory is handed out or given back.
    pub fn moves(&self) -> u64 {
        self.moves.load(Ordering::Acquire)
    }

    #[cold]
    fn report_all(&self, state: &mut State, found: Vec<Finding>) {
        for finding in found {
            if self.wants(finding.rule) {
                source_location::set_reported(true);
                state.report_finding(finding);
            }
        }
    }

    /// Takes a finding. Reported once for each rule and pair of source locations.
    pub fn find(&self, finding: Finding) {
        if self.wants(finding.rule) {
            source_location::set_reported(true);
            self.state().report_finding(finding);
        }
    }

    /// Notes a new object and returns its number.
    pub fn made(
        &self,
        kind: &'static str,
        key: u64,
        number: Option<u64>,
        made_by: &'static str,
        note: u64,
    ) -> u64 {
        let mut state = self.state();
        let count = state.counts.entry(kind).or_default();
        *count += 1;
        let number = number.unwrap_or(*count);
        let object = Object {
            kind,
            number,
            made_by,
            made: here(),
            ended: None,
            note,
            device: None,
            is_ending: false,
        };
        state.objects.insert((kind, key), object);
        // The key may have been that of an object that ended.
        self.ends.fetch_add(1, Ordering::Release);
        number
    }

    /// Notes the end of an object.
    pub fn ended(&self, kind: &'static str, key: u64, by: &'static str) {
        self.state().end((kind, key), by);
        self.ends.fetch_add(1, Ordering::Release);
    }

    /// Records the device that an object belongs to.
    pub fn belongs_to(&self, kind: &'static str, key: u64, device: u32) {
        if let Some(object) = self.state().objects.get_mut(&(kind, key)) {
            object.device = Some(device);
        }
    }

    /// Records that a call which ends an object begins, or that it was refused. Until [`Check::ended`] the runtime may have lost the
    /// object already: its end belongs to that call.
    pub fn set_ending(&self, kind: &'static str, key: u64, is_ending: bool) {
        if let Some(object) = self.state().objects.get_mut(&(kind, key)) {
            object.is_ending = is_ending;
        }
    }

    /// Notes that a reset ended an object with its device, and returns the object. Returns none if the object ended before, if a call of
    /// another thread is ending it, or if it belongs to another device.
    pub fn swept(
        &self,
        kind: &'static str,
        key: u64,
        device: Option<u32>,
        by: &'static str,
    ) -> Option<Object> {
        let mut state = self.state();
        let object = state.objects.get(&(kind, key))?.clone();
        let is_elsewhere = matches!((device, object.device), (Some(a), Some(b)) if a != b);
        if object.ended.is_some() || object.is_ending || is_elsewhere {
            return None;
        }
        state.end((kind, key), by);
        drop(state);
        self.ends.fetch_add(1, Ordering::Release);
        Some(object)
    }

    /// Finds an object, alive or gone.
    pub fn object(&self, kind: &'static str, key: u64) -> Option<Object> {
        self.state().objects.get(&(kind, key)).cloned()
    }

    /// Changes an object's note.
    pub fn note(&self, kind: &'static str, key: u64, note: u64) {
        if let Some(object) = self.state().objects.get_mut(&(kind, key)) {
            object.note = note;
        }
    }

    /// Lists the objects of a kind that are alive, by number.
    pub fn alive(&self, kind: &'static str) -> Vec<(u64, Object)> {
        let state = self.state();
        let mut alive: Vec<_> = state
            .objects
            .iter()
            .filter(|((of, _), object)| *of == kind && object.ended.is_none())
            .map(|((_, key), object)| (*key, object.clone()))
            .collect();
        alive.sort_by_key(|(_, object)| object.number);
        alive
    }

    /// Returns whether a framework's library made a call itself. What it creates lives as long as the process: the program cannot
    /// release it, and neither initialises nor finalises the runtime.
    pub fn is_of_framework(&self, location: SourceLocation) -> bool {
        self.state().locations.is_of_framework(location)
    }

    /// Returns the address that the call at a location returns to, if it is known.
    pub fn return_address(&self, location: SourceLocation) -> Option<usize> {
        self.state().locations.return_address(location)
    }

    /// Returns the function through which the program entered a library that made a call, and the address that the function returns to.
    pub fn entry(&self, location: SourceLocation, library: &str) -> Option<(String, usize)> {
        self.state().locations.entry(location, library)
    }

    /// Returns whether no thread is in the middle of a report to the checks.
    pub fn is_usable(&self) -> bool {
        self.state.0.try_lock().is_some()
    }

    /// Returns the call that the calling thread is in or made last, and where it made it.
    pub fn last_call(&self) -> Option<(&'static str, String)> {
        let now = here();
        let last = LOCAL.try_with(|local| local.last.get()).unwrap_or_default();
        let location = if now == SourceLocation::UNKNOWN {
            last
        } else {
            now
        };
        let mut state = self.state();
        let call = state.locations.call(location)?;
        Some((call, state.locations.describe(location).short()))
    }

    /// Formats a source location as `file:line function`.
    pub fn describe(&self, location: SourceLocation) -> String {
        self.state().locations.describe(location).short()
    }

    /// Records that the host knows all of a stream's work to be done (by a query, or by destroying the stream).
    pub fn host_knows_stream(&self, stream: u32) {
        self.as_thread(|state, me, _| state.races.host_knows_stream(me, stream));
    }

    /// Records that the calling thread has waited for functions of the program on other threads: it knows what their calls did, though
    /// its own call began before they returned.
    pub fn host_knows_returned(&self) {
        self.as_thread(|state, me, _| {
            state.races.order.hear(me);
        });
    }

    /// Records that a stream is gone, with all its work done.
    pub fn stream_ended(&self, stream: u32) {
        let memory = self.guarding();
        self.as_thread(|state, me, _| {
            self.release_guards(state, memory.as_deref(), |guarded| guarded.stream == stream);
            state.races.stream_ended(me, stream, &self.interest);
        });
    }

    /// Records that the current copy has copied its source, so that the program may change it.
    pub fn source_is_read_at_once(&self) {
        let _ = AT_ONCE.try_with(|cell| cell.set(true));
    }

    /// Records that an event is gone.
    pub fn event_ended(&self, event: u64) {
        self.state().races.event_ended(event);
    }

    /// Records that a call of the calling thread begins to ask whether something is done.
    pub fn query_begins(&self, of: Query) {
        self.as_thread(|state, me, _| state.races.query_begins(me, of));
    }

    /// Records the answer of that call.
    pub fn query_ended(&self, is_done: bool) {
        self.as_thread(|state, me, _| state.races.query_ended(me, is_done));
    }

    /// Records that the host knows everything to be done (a reset, a finalise).
    pub fn host_knows_all(&self) {
        self.as_thread(|state, me, _| state.races.host_knows_all(me));
    }

    /// Returns whether a stream has work that the host has not waited for.
    pub fn is_pending(&self, stream: u32) -> bool {
        self.as_thread(|state, me, _| state.races.is_pending(me, stream))
    }

    /// Finds the allocation around an address: its start, its bytes, its device (`None`: pinned host memory), its number
    /// and where it was made.
    pub fn allocation(&self, address: usize) -> Option<Allocation> {
        self.state().races.allocation(address)
    }

    /// Finds the last freed allocation that held an address.
    pub fn freed(&self, address: usize) -> Option<(Allocation, SourceLocation)> {
        self.state().races.freed(address)
    }

    /// Lists the allocations that are alive.
    pub fn allocations(&self) -> Vec<Allocation> {
        self.state().races.allocations()
    }

    /// Forgets an allocation that went with its device.
    pub fn forget_allocation(&self, start: usize) {
        self.state().races.forget(start);
        self.moves.fetch_add(1, Ordering::Release);
    }

    /// Records the requested size if more was allocated.
    pub fn asked(&self, start: usize, bytes: usize) {
        self.state().races.asked(start, bytes);
        self.moves.fetch_add(1, Ordering::Release);
    }

    /// Takes the task that failed last.
    pub fn last_failed(&self) -> Option<FailedTask> {
        self.state().races.failed.take()
    }

    /// Lists how much of each kind is kept, for tests that compare.
    pub fn sizes(&self) -> Vec<(&'static str, usize)> {
        let state = self.state();
        let mut sizes = state.races.sizes();
        sizes.extend([
            ("objects", state.objects.len()),
            ("locations", state.locations.len()),
            ("reported", state.reported.len()),
        ]);
        sizes
    }

    /// Records that something outside the program's threads may end waits: another process, or a limit for all waits.
    pub fn may_be_released(&self) {
        self.state().races.deadlock.open = true;
    }

    /// Checks for a deadlock of the program, and reports it. To be called every few hundredths of a second, on a thread of
    /// its own; `asleep` returns how many threads of the program there are, and whether all threads sleep but the calling one.
    pub fn poll(&self, asleep: impl FnOnce() -> (usize, bool)) -> bool {
        self.report_touches();
        let waiting = self.state().races.deadlock.waiting();
        let Some(waiting) = waiting else {
            return false;
        };
        let (threads, asleep) = asleep();
        let mut state = self.state();
        if !state.races.deadlock.looked(asleep && threads == waiting) {
            return false;
        }
        let host = state.races.deadlock.waiting_host();
        let finding = match (state.races.deadlock.explain(), self.explainer.get()) {
            (None, Some(explain)) => {
                drop(state);
                let finding = explain(host);
                state = self.state();
                finding
            }
            (finding, _) => finding,
        };
        let Some(finding) = finding.filter(|finding| self.wants(finding.rule)) else {
            return false;
        };
        state.report_finding(finding);
        self.deadlocked.store(true, Ordering::Release);
        true
    }

    /// Sets what explains a blocked program where the operations at the gate do not. The first one stays.
    pub fn set_explainer(&self, explainer: Explainer) {
        let _ = self.explainer.set(explainer);
    }

    /// Notes that the task queued last on a stream uses what one task at a time may use, and reports `rule` if no order puts it
    /// behind the last use on another stream. `what` names it.
    pub fn uses_exclusively(&self, key: u64, stream: u32, rule: &'static str, what: &str) {
        self.as_thread(|state, _, location| {
            let races = &mut state.races;
            let found = races.uses_exclusively(key, stream, location, (rule, what));
            self.report_all(state, found.into_iter().collect());
        });
    }

    /// Forgets what was used exclusively: it is gone.
    pub fn ends_exclusive_use(&self, key: u64) {
        self.state().races.ends_exclusive_use(key);
    }

    /// Returns whether the program was found to stand still forever.
    pub fn is_deadlocked(&self) -> bool {
        self.deadlocked.load(Ordering::Acquire)
    }

    /// Returns the number of reported findings: of severity error, and all.
    pub fn totals(&self) -> (u64, u64) {
        let state = self.state();
        (state.report.errors, state.report.all)
    }

    /// Writes the summary, once, where no file takes the findings.
    pub fn finish(&self) {
        if std::process::id() == self.process {
            self.report_touches();
            self.state().report.finish();
        }
    }
}

/// A task that failed.
#[derive(Clone, Debug)]
pub struct FailedTask {
    /// The operation's number.
    pub ticket: u64,
    /// Where it was queued.
    pub location: SourceLocation,
    /// Why it failed.
    pub sentence: String,
}

/// A live or freed allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// The first byte.
    pub start: usize,
    /// The length that was set aside.
    pub bytes: usize,
    /// The length that the program asked for.
    pub asked: usize,
    /// The device, or `None` for pinned host memory.
    pub device: Option<u32>,
    /// Its number among its kind.
    pub number: u64,
    /// The call that made it.
    pub made_by: &'static str,
    /// Where.
    pub made: SourceLocation,
}

impl Allocation {
    /// Names the allocation.
    pub fn name(&self) -> String {
        match self.device {
            Some(_) => format!("memory#{}", self.number),
            None => format!("pinned#{}", self.number),
        }
    }
}

impl State {
    fn report_finding(&mut self, finding: Finding) {
        let key = |line: Option<&Line>| line.map_or(0, |line| self.locations.key(line.location));
        let first = key(finding.lines.first());
        let second = key(finding.lines.get(1));
        // Without a source location two findings differ by their text.
        let words = match first {
            0 => report::hash(&finding.lines.first().map_or("", |line| &line.text)),
            _ => 0,
        };
        if !self.reported.insert((finding.rule, first, second, words)) {
            self.report.again(finding.rule);
            return;
        }
        let Some(rule) = rules::find(finding.rule) else {
            return;
        };
        self.report.add(rule, &finding, &mut self.locations);
    }

    fn end(&mut self, key: (&'static str, u64), by: &'static str) {
        let Some(object) = self.objects.get_mut(&key) else {
            return;
        };
        object.ended = Some((by, here()));
        let ended = self.ended.entry(key.0).or_default();
        ended.push_back(key.1);
        if ended.len() > MOST_ENDED
            && let Some(oldest) = ended.pop_front()
            && let Entry::Occupied(oldest) = self.objects.entry((key.0, oldest))
            && oldest.get().ended.is_some()
        {
            oldest.remove();
        }
    }
}

thread_local! {
    /// Whether the copy that comes next takes its source with it.
    static AT_ONCE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl Probe for Check {
    /// Notes that something may write these bytes, or read only some of them: reading them is not reported from then on.
    fn may_be_written(&self, span: Span) {
        self.state().races.mark_written(span);
    }

    fn before(&self, admission: &Admission<'_>) -> Result<()> {
        // Only copies between the host and a device compare bytes, unless they have copied them already.
        let taken = AT_ONCE.try_with(|cell| cell.take()).unwrap_or(false);
        let memory = match admission.op {
            Op::Copy { .. } if self.accesses && admission.stream.is_some() && !taken => {
                self.memory.lock().clone()
            }
            Op::CopyRows { .. } | Op::CopyBatch { .. } | Op::Free { .. } => self.guarding(),
            _ => None,
        };
        self.as_thread(|state, thread, location| {
            if let (Op::Free { span, .. }, Some(_)) = (&admission.op, &memory) {
                self.release_guards(state, memory.as_deref(), |guarded| {
                    guarded.span.overlaps(*span)
                });
            }
            let context = OpContext {
                thread,
                location,
                memory: memory.as_deref(),
                poison: self.options.poison,
                interest: &self.interest,
                accesses: self.accesses,
            };
            let found = state.races.admitted(admission, &context);
            if let (true, Some(memory)) = (self.options.protect, &memory) {
                state.races.guard(admission, &context, memory.as_ref());
            }
            if !found.is_empty() {
                self.report_all(state, found);
            }
        });
        if let Op::Allocate { .. } | Op::Free { .. } = admission.op {
            self.moves.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }

    fn reported(&self, ticket: u64, phase: &Phase, _at_ns: u64) {
        if !self.interest.is_there(ticket) && !matches!(phase, Phase::Failed(_)) {
            return;
        }
        let mut state = self.state();
        if state.races.guards_any() {
            self.hear_guards(&mut state, ticket, phase);
        }
        let memory = match phase {
            Phase::Started if state.races.watches_bytes(ticket) => self.memory.lock().clone(),
            _ => None,
        };
        let found = state
            .races
            .reported(ticket, phase, memory.as_deref(), &self.interest);
        self.report_all(&mut state, found);
    }

    fn needs_times(&self) -> bool {
        false
    }
}
