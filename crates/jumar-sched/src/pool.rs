//! The run queue, the timers and the workers.
//!
//! # Workers
//!
//! | a worker is | counted in | it polls the run queue |
//! |---|---|---|
//! | awake: starting, being woken, spinning or in a timed park | `awake` | by itself, within a timed park at the latest |
//! | busy | `busy` | when its stream is done |
//! | asleep | `asleep` | only when it is woken, or at its deadline |
//!
//! Two rules keep work from being forgotten. A worker falls asleep only under the lock, and only when the run queue
//! is empty or another worker is awake. And a thread that releases the lock with an entry in the run queue, or a timer that no parked worker will serve, and
//! without an awake worker, wakes or starts a worker ([`Inner::wanted`]). The one exception is a thread that runs tasks
//! and makes another stream runnable: it defers the wake-up, and performs it (`flush_wakes`) before long work, or is
//! spared it by taking the stream itself.
//!
//! At most one worker is in a timed park; the others park as soon as they have nothing to do and another worker is awake.
//!
//! # Grace
//!
//! The thread that filled a stream often waits for it next, and runs it fastest itself. So an entry that came from
//! a submit is left alone for 2 us after a worker first saw it, and for as long as another thread runs its stream.
//! Entries that came from a signal, a timer or a thread that gave a stream back are taken at once.
//!
//! # Sharing
//!
//! Work of one thread is shared only with free processors: as long as fewer threads run something than there are
//! workers and processors. Threads of the program count as soon as they run something large themselves. So two models on two
//! streams have a processor each, and one model alone has all. No more workers spin for such work than there are processors left.
//!
//! Two threads that run something large on one processor only stop each other, and the system may leave them so for long. So a worker that
//! finds the thread that it helps, or another that runs something large, on its own processor moves to another one, once a
//! millisecond at most. A helper that cannot move parks with a time limit instead, and no helper is woken for a while.
//!
//! # Shutdown
//!
//! `stopped` is set under the lock; all workers are unparked and joined; then the executor drops what is left in
//! the streams. A thread that waits may continue running streams by itself.
//!
//! # Without workers
//!
//! Where the system has no thread to give, threads that wait run everything that they wait for, timers included, and threads that ask
//! how far a stream has come run some of it ([`Pool::is_unserved`]). Each of them tries to start a worker first. With a schedule they
//! take the turns of its one worker ([`Pool::stand_in_scheduled`]).

mod parked;
mod scheduled;
mod share;
mod timer;

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use jumar_hal::Cost;
use jumar_hal::sync::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Instant, Mutex, Ordering, spin_loop, thread,
};

use crate::park::Parker;
use crate::runnable::{Runnable, is_same};
use crate::runner::Runner;
use crate::schedule::Schedule;
use crate::team::Job;
use crate::value_poller::ValuePoller;
use parked::{IdleWorker, ParkedWorker};
use share::count_worker;

/// Streams of the same hint are served in order; of different hints the smaller number comes first.
const PRIORITIES: usize = 8;
/// One pick in this many starts at the lowest priority, so that no stream starves.
const FAIRNESS: u32 = 16;
/// How many entries of one list a pick checks before it continues to the next list.
const GLANCES: usize = 16;
/// How long a fresh entry is left to the thread that made it.
const GRACE_NS: u64 = 2_000;
/// How long a worker spins after work.
const SPIN_NS: u64 = 30_000;
/// How long workers spin after work was shared: a model shares again as soon as its next large operator comes.
const SHARE_NS: u64 = 300_000;
/// How long no helper is woken after one was woken on the processor of the thread that it should have helped.
const ALONE_NS: u64 = 500_000;
/// How long a worker stays on a processor at least that it moved to.
const MOVED_NS: u64 = 1_000_000;
/// No processor.
const NOWHERE: u32 = u32::MAX;
/// The length of one timed park.
const TIMED_PARK_NS: u64 = 100_000;
/// How long the last worker keeps waking up when nothing happens.
const TIMED_PARKS_NS: u64 = 5_000_000;
/// How many tasks a worker runs of one stream while others wait.
const BUDGET: u32 = 256;
/// Returns whether a wait is satisfied.
pub(crate) type IsOver = Arc<dyn Fn() -> bool + Send + Sync>;

/// The threads that wait, for schedules.
#[derive(Default)]
struct Waits {
    count: u64,
    open: Vec<(u64, u32, IsOver)>,
}

/// How often a schedule that said "none yet" is asked again.
const ASK: Duration = Duration::from_millis(1);

const NEVER: u64 = u64::MAX;

struct Entry {
    stream: Arc<dyn Runnable>,
    /// No grace.
    hot: bool,
    /// When a worker first saw the entry, or saw that its stream had moved on; 0 before.
    seen_ns: u64,
    /// What the stream had completed then.
    done: u64,
    /// The processor that the thread ran on which put the stream here.
    cpu: Option<u32>,
}

/// What happens when a timer is due.
enum Timer {
    /// A stream's wait expires.
    Call(Arc<dyn Runnable>),
    /// The streams that wait for values are checked.
    PollValues,
}

struct Inner {
    lists: [VecDeque<Entry>; PRIORITIES],
    count: usize,
    jobs: Vec<Arc<Job>>,
    turn: u32,
    timers: BTreeMap<(Instant, u64), Timer>,
    timers_made: u64,
    awake: usize,
    timed_worker: Option<Arc<Parker>>,
    asleep: Vec<IdleWorker>,
    started: usize,
    threads: Vec<thread::JoinHandle<()>>,
    streams: Vec<Weak<dyn Runnable>>,
    stopped: bool,
}

/// What the workers of one executor share.
pub(crate) struct Pool {
    inner: Mutex<Inner>,
    /// Entries in the run queue, for those who look without the lock.
    count: AtomicUsize,
    /// When the first timer is due.
    first_timer_ns: AtomicU64,
    /// Workers that run a stream or a part of shared work.
    busy: AtomicUsize,
    /// Other threads that run something large.
    callers: AtomicUsize,
    stopped: AtomicBool,
    /// There is no worker, because the system had no thread to give.
    unserved: AtomicBool,
    /// Workers that spin, and threads that spin while they wait.
    spinners: AtomicUsize,
    /// When work was shared last.
    shared_ns: AtomicU64,
    /// The processor of the thread that shared then; [`NOWHERE`] if that is not known.
    shared_cpu: AtomicU32,
    /// Until when no helper is woken.
    alone_ns: AtomicU64,
    /// The processor on which a stream got its first task last; [`NOWHERE`] if that is not known.
    pushed_cpu: AtomicU32,
    /// Who began something large last (high half) and on which processor (low half); [`NOWHERE`] if that is not known.
    large: AtomicU64,
    epoch: Instant,
    /// How many workers there may be; `None` for as many as there are processors.
    workers: Option<usize>,
    /// How many processors the process may use.
    allowed_cpus: usize,
    /// How many of them it may use at a time. Not known before it is asked for: the answer takes tens of microseconds.
    cpus: OnceLock<usize>,
    pub(crate) value_poller: ValuePoller,
    pub(crate) runner: Arc<dyn Runner>,
    pub(crate) schedule: Option<Arc<dyn Schedule>>,
    /// With a schedule: whether a thread runs tasks now.
    has_turn: AtomicBool,
    waits: Mutex<Waits>,
}

/// What is known of the processors when an executor is made.
#[derive(Clone, Copy)]
pub(crate) enum Cpus {
    /// It may count on so many.
    Count(usize),
    /// The process may use so many, or less at a time.
    Most(usize),
}

/// A wake or start that is carried out after the lock is released.
#[must_use]
enum WakeRequest {
    Nobody,
    /// A worker in a timed park: it wakes by itself soon.
    Wake(Arc<Parker>),
    /// A worker that sleeps.
    WakeParked(ParkedWorker),
    Start(usize),
    /// Count the processors, and look again. That reads files, which is not done under the lock.
    Count,
}

/// What a worker found.
enum Pick {
    Stream {
        stream: Arc<dyn Runnable>,
        /// It was put here on the processor that the worker runs on now.
        near: bool,
    },
    /// Work of another thread that may be shared.
    Job(Arc<Job>),
    /// An entry whose grace runs.
    Soon,
    /// Entries that another thread works on.
    Moving,
    /// Work that may be shared, of a thread that was on this processor.
    Beside,
    Nothing,
}

thread_local! {
    /// The pool for whose stream this thread sets a signal, and whether it has deferred a wake-up there.
    static SETTING: Cell<usize> = const { Cell::new(0) };
    static WAKE_DEFERRED: Cell<bool> = const { Cell::new(false) };
}

/// Marks the calling thread as setting a signal for a stream of a pool, and as continuing with that pool's work afterwards.
pub(crate) struct Setting;

impl Setting {
    pub(crate) fn enter(pool: &Arc<Pool>) -> Setting {
        SETTING.set(Arc::as_ptr(pool).addr());
        Setting
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        SETTING.set(0);
    }
}

impl Inner {
    /// Finds the worker that has to be woken so that no entry is left without a worker.
    fn wanted(&mut self, pool: &Pool) -> WakeRequest {
        if self.stopped || self.awake > 0 {
            return WakeRequest::Nobody;
        }
        let kept = |expiry: Instant| {
            self.asleep
                .iter()
                .any(|s| s.deadline.is_some_and(|at| at <= expiry))
        };
        let forgotten = self
            .timers
            .first_key_value()
            .is_some_and(|((expiry, _), _)| !kept(*expiry));
        if !self.has_work(pool) && !forgotten {
            return WakeRequest::Nobody;
        }
        if let Some(idle) = self.asleep.pop() {
            self.awake += 1;
            return WakeRequest::WakeParked(idle.parked);
        }
        if self.started > 0 && !pool.knows_workers() {
            return WakeRequest::Count;
        }
        if self.started == 0 || self.started < pool.workers() {
            self.started += 1;
            self.awake += 1;
            return WakeRequest::Start(self.started - 1);
        }
        WakeRequest::Nobody
    }

    fn put(&mut self, pool: &Pool, stream: Arc<dyn Runnable>, hot: bool) {
        let cpu = pool.runner.processor();
        if !hot {
            let here = cpu.unwrap_or(NOWHERE);
            pool.pushed_cpu.store(here, Ordering::Relaxed);
        }
        self.lists[stream.priority()].push_back(Entry {
            stream,
            hot,
            seen_ns: 0,
            done: 0,
            cpu,
        });
        self.count += 1;
        self.note_count(pool);
    }

    fn has_work(&self, pool: &Pool) -> bool {
        // Work is shared once the processors are counted, so that `is_full` reads no files here.
        self.count > 0 || (self.jobs.iter().any(|job| job.is_open()) && !pool.is_full(0))
    }

    fn note_count(&self, pool: &Pool) {
        pool.count
            .store(self.count + self.jobs.len(), Ordering::Relaxed);
    }

    /// Finds something for a worker: a stream that may be run, or else a job to share. `own`: 1 if the worker counts as busy.
    fn find(&mut self, pool: &Pool, now_ns: u64, own: usize) -> Pick {
        match self.pick(pool, now_ns, pool.has_grace()) {
            found @ Pick::Stream { .. } => found,
            other if self.jobs.is_empty() || pool.is_full(own) => other,
            _ if pool.sharer_is_here() => Pick::Beside,
            other => match self.jobs.iter().find(|job| job.is_open()) {
                Some(job) => {
                    job.join();
                    Pick::Job(job.clone())
                }
                None => other,
            },
        }
    }

    /// Takes the first entry that may be run, by priority and age.
    fn pick(&mut self, pool: &Pool, now_ns: u64, grace: bool) -> Pick {
        let mut found = Pick::Nothing;
        if self.count == 0 {
            return found;
        }
        let here = pool.runner.processor();
        self.turn = self.turn.wrapping_add(1);
        let reverse = self.turn.is_multiple_of(FAIRNESS);
        for step in 0..PRIORITIES {
            let list = if reverse { PRIORITIES - 1 - step } else { step };
            let mut index = 0;
            for _ in 0..GLANCES.min(self.lists[list].len()) {
                let entry = &mut self.lists[list][index];
                let queued = entry.stream.is_queued();
                let done = entry.stream.completed();
                let first = entry.seen_ns == 0;
                let moved = !first && entry.done != done;
                let near = here.is_some() && entry.cpu == here;
                let ready = if grace && !(queued && (entry.hot || near)) {
                    if first || moved {
                        (entry.seen_ns, entry.done) = (now_ns, done);
                    }
                    if moved {
                        // Another thread works on it: leave it in the list, where its next push finds it, but behind.
                        let entry = self.lists[list].remove(index);
                        self.lists[list].extend(entry);
                        if matches!(found, Pick::Nothing) {
                            found = Pick::Moving;
                        }
                        continue;
                    }
                    !first && now_ns.saturating_sub(entry.seen_ns) >= GRACE_NS
                } else {
                    true
                };
                if ready {
                    // One that is not queued is taken too: the caller finds out and has cleared its mark.
                    let entry = self.lists[list].remove(index);
                    self.count -= 1;
                    self.note_count(pool);
                    if let Some(entry) = entry {
                        let near = here.is_some() && entry.cpu == here;
                        return Pick::Stream {
                            stream: entry.stream,
                            near,
                        };
                    }
                }
                found = Pick::Soon;
                index += 1;
            }
        }
        found
    }
}

impl Pool {
    pub(crate) fn new(
        workers: Option<usize>,
        cpus: Cpus,
        runner: Arc<dyn Runner>,
        schedule: Option<Arc<dyn Schedule>>,
    ) -> Pool {
        Pool {
            inner: Mutex::new(Inner {
                lists: Default::default(),
                count: 0,
                jobs: Vec::new(),
                turn: 0,
                timers: BTreeMap::new(),
                timers_made: 0,
                awake: 0,
                timed_worker: None,
                asleep: Vec::new(),
                started: 0,
                threads: Vec::new(),
                streams: Vec::new(),
                stopped: false,
            }),
            count: AtomicUsize::new(0),
            first_timer_ns: AtomicU64::new(NEVER),
            busy: AtomicUsize::new(0),
            callers: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            unserved: AtomicBool::new(false),
            spinners: AtomicUsize::new(0),
            shared_ns: AtomicU64::new(0),
            shared_cpu: AtomicU32::new(NOWHERE),
            alone_ns: AtomicU64::new(0),
            pushed_cpu: AtomicU32::new(NOWHERE),
            large: AtomicU64::new(u64::from(NOWHERE)),
            epoch: Instant::now(),
            workers: match schedule {
                Some(_) => Some(1),
                None => workers,
            },
            allowed_cpus: match cpus {
                Cpus::Count(cpus) | Cpus::Most(cpus) => cpus,
            },
            cpus: match cpus {
                Cpus::Count(cpus) => OnceLock::from(cpus),
                Cpus::Most(_) => OnceLock::new(),
            },
            value_poller: ValuePoller::new(),
            runner,
            schedule,
            has_turn: AtomicBool::new(false),
            waits: Mutex::new(Waits::default()),
        }
    }

    /// Reads the clock for spins and timed parks.
    #[cfg(not(loom))]
    pub(crate) fn now_ns(&self) -> u64 {
        self.ns(Instant::now())
    }

    /// In a model time stands still: every run has to take the same turns.
    #[cfg(loom)]
    pub(crate) fn now_ns(&self) -> u64 {
        1
    }

    fn ns(&self, at: Instant) -> u64 {
        // 1 at least: 0 means "not yet".
        u64::try_from(at.saturating_duration_since(self.epoch).as_nanos()).unwrap_or(NEVER - 1) + 1
    }

    /// Returns whether a thread that waits may burn time: not while a worker needs its processor, to take what it must not.
    pub(crate) fn may_spin_waiting(&self) -> bool {
        let needed = self.running() + usize::from(self.has_entries());
        self.cpus() > 1 && needed < self.cpus()
    }

    /// Returns whether the run queue holds anything, or a job is shared.
    pub(crate) fn has_entries(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Returns whether a timer is due.
    pub(crate) fn timer_expired(&self) -> bool {
        let first_ns = self.first_timer_ns.load(Ordering::Relaxed);
        first_ns != NEVER && first_ns <= self.now_ns()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Remembers a stream for the shutdown.
    pub(crate) fn adopt(&self, stream: Weak<dyn Runnable>) {
        let mut inner = self.inner.lock();
        if inner.streams.len() == inner.streams.capacity() {
            inner.streams.retain(|stream| stream.strong_count() > 0);
        }
        inner.streams.push(stream);
    }

    /// Puts a stream that was made queued into the run queue.
    pub(crate) fn push(self: &Arc<Self>, stream: Arc<dyn Runnable>, hot: bool, cost: Cost) {
        let wanted = {
            let mut inner = self.inner.lock();
            inner.put(self, stream, hot);
            if self.schedule.is_none() && SETTING.get() == Arc::as_ptr(self).addr() {
                WAKE_DEFERRED.set(true);
                WakeRequest::Nobody
            } else {
                // The next waiting thread runs one stream: programs on a second one are worth a wake.
                let second = !hot && cost == Cost::Unbounded && inner.count > 1;
                match &inner.timed_worker {
                    Some(timed_worker)
                        if cost == Cost::Large || second || self.schedule.is_some() =>
                    {
                        WakeRequest::Wake(timed_worker.clone())
                    }
                    _ => inner.wanted(self),
                }
            }
        };
        self.carry_out(wanted);
    }

    /// Wakes the worker in timed park: large work came to a stream that is in the run queue already.
    #[cold]
    pub(crate) fn wake_idle(self: &Arc<Self>) {
        let timed_worker = self.inner.lock().timed_worker.clone();
        if let Some(timed_worker) = timed_worker {
            timed_worker.unpark();
        }
    }

    /// Returns whether the calling thread has deferred a wake-up.
    #[inline]
    pub(crate) fn has_deferred_wakes() -> bool {
        WAKE_DEFERRED.get()
    }

    /// Performs the calling thread's deferred wake-up. A timed park is cut short only if the thread continues with something `long`.
    #[cold]
    pub(crate) fn flush_wakes(self: &Arc<Self>, long: bool) {
        WAKE_DEFERRED.set(false);
        let wanted = {
            let mut inner = self.inner.lock();
            match inner.wanted(self) {
                WakeRequest::Nobody if long && inner.count > 0 => inner
                    .timed_worker
                    .clone()
                    .map_or(WakeRequest::Nobody, WakeRequest::Wake),
                wanted => wanted,
            }
        };
        self.carry_out(wanted);
    }

    fn carry_out(self: &Arc<Self>, wanted: WakeRequest) {
        match wanted {
            WakeRequest::Nobody => {}
            WakeRequest::Wake(parker) => parker.unpark(),
            WakeRequest::WakeParked(parked) => self.wake_on_other_cpu(&parked),
            WakeRequest::Start(number) => self.start(number),
            WakeRequest::Count => {
                self.cpus();
                let wanted = self.inner.lock().wanted(self);
                self.carry_out(wanted);
            }
        }
    }

    #[cold]
    fn start(self: &Arc<Self>, number: usize) {
        let mut started = None;
        self.runner.spawning(&mut || {
            let pool = self.clone();
            started = thread::Builder::new()
                .name(format!("jumar-worker-{number}"))
                .spawn(move || pool.work(number))
                .ok();
        });
        let mut inner = self.inner.lock();
        match started {
            Some(thread) => {
                inner.threads.push(thread);
                self.unserved.store(false, Ordering::Relaxed);
            }
            // The system has no thread to give: the next push tries again, and threads that wait run what they wait for.
            None => {
                inner.awake -= 1;
                inner.started -= 1;
                let none = inner.started == 0;
                self.unserved.store(none, Ordering::Relaxed);
                // Another worker may have fallen asleep over an entry or a timer, because this one counted as awake.
                if !inner.asleep.is_empty() {
                    let wanted = inner.wanted(self);
                    drop(inner);
                    self.carry_out(wanted);
                }
            }
        }
    }

    /// Returns whether there is no worker, because the system had no thread to give when one was wanted last.
    #[inline]
    pub(crate) fn is_unserved(&self) -> bool {
        self.unserved.load(Ordering::Relaxed)
    }

    /// Tries once more to start a worker; otherwise acts on the timers that are due, as a worker would.
    #[cold]
    pub(crate) fn stand_in(self: &Arc<Self>) {
        self.flush_wakes(false);
        if self.is_unserved() && self.timer_expired() {
            let poll = self.inner.lock().fire(self);
            if poll {
                self.poll_on_timer();
            }
        }
    }

    /// Takes a queued stream for a thread that has time while it waits.
    pub(crate) fn steal(self: &Arc<Self>, not: &dyn Runnable) -> Option<Arc<dyn Runnable>> {
        let mut inner = self.inner.lock();
        for list in 0..PRIORITIES {
            let glances = GLANCES.min(inner.lists[list].len());
            for index in 0..glances {
                let stream = &inner.lists[list][index].stream;
                if stream.is_queued() && !is_same(&**stream, not) {
                    let entry = inner.lists[list].remove(index)?;
                    inner.count -= 1;
                    inner.note_count(self);
                    return Some(entry.stream);
                }
            }
        }
        None
    }

    /// Removes the entry of an unused stream: it would keep the stream until a worker comes across it.
    #[cold]
    pub(crate) fn forget_entry(self: &Arc<Self>, stream: &Arc<dyn Runnable>) {
        let entry = {
            let mut inner = self.inner.lock();
            // The entry is young most often.
            let index = inner.lists[stream.priority()]
                .iter()
                .rposition(|entry| is_same(&*entry.stream, &**stream));
            let Some(index) = index.filter(|_| !stream.is_queued()) else {
                return;
            };
            inner.count -= 1;
            inner.note_count(self);
            inner.lists[stream.priority()].remove(index)
        };
        if stream.unlist() {
            self.push(stream.clone(), true, Cost::Unbounded);
        }
        drop(entry);
    }

    /// Lives a worker's life.
    fn work(self: Arc<Self>, number: usize) {
        self.runner.worker_started(number);
        count_worker(number);
        match self.schedule.clone() {
            Some(schedule) => self.run_scheduled(&*schedule),
            None => self.run_unscheduled(number),
        }
    }

    fn run_unscheduled(self: &Arc<Self>, number: usize) {
        let parker = Arc::new(Parker::new());
        // Counted as awake here and at the top of each round.
        let mut spin_until = self.now_ns() + SPIN_NS;
        let mut timed_until = spin_until + TIMED_PARKS_NS;
        let (mut in_timed_park, mut spinning) = (false, false);
        while !self.is_stopped() {
            let now = self.now_ns();
            if self.has_entries() || self.first_timer_ns.load(Ordering::Relaxed) <= now {
                match self.leave_idle(now, &mut in_timed_park) {
                    found @ (Pick::Stream { .. } | Pick::Job(_)) => {
                        self.stop_spinning(&mut spinning);
                        let spins = self.be_busy(found, number, &parker);
                        spin_until = self.now_ns() + if spins { SPIN_NS } else { 0 };
                        timed_until = spin_until + TIMED_PARKS_NS;
                        continue;
                    }
                    Pick::Soon => {
                        timed_until = now + TIMED_PARKS_NS;
                        Self::relax();
                        continue;
                    }
                    Pick::Moving => timed_until = now + TIMED_PARKS_NS,
                    Pick::Beside if self.leave_processor() => continue,
                    Pick::Beside => self.alone_ns.store(now + ALONE_NS, Ordering::Relaxed),
                    Pick::Nothing => {}
                }
            }
            let worthwhile = now < spin_until || (self.shares_soon(now) && !self.sharer_is_here());
            if worthwhile && self.goes_on_spinning(&mut spinning) {
                Self::relax();
                continue;
            }
            self.stop_spinning(&mut spinning);
            if !in_timed_park {
                let mut inner = self.inner.lock();
                if inner.stopped {
                    // The stopping thread then woke the worker in timed park.
                    continue;
                }
                if inner.timed_worker.is_none() {
                    inner.timed_worker = Some(parker.clone());
                    in_timed_park = true;
                }
            }
            self.leave_pusher();
            if in_timed_park && now < timed_until {
                let timer = self
                    .first_timer_ns
                    .load(Ordering::Relaxed)
                    .saturating_sub(now);
                parker.park(Some(
                    Instant::now() + Duration::from_nanos(TIMED_PARK_NS.min(timer)),
                ));
                continue;
            }
            self.sleep(number, &parker, &mut in_timed_park);
            spin_until = self.now_ns() + SPIN_NS;
            timed_until = spin_until + TIMED_PARKS_NS;
        }
    }

    fn relax() {
        for _ in 0..8 {
            spin_loop();
        }
    }

    /// Looks for something to do and, if there is anything, counts as busy instead of awake.
    fn leave_idle(self: &Arc<Self>, now_ns: u64, in_timed_park: &mut bool) -> Pick {
        if self.timer_expired() {
            let poll = self.inner.lock().fire(self);
            if poll {
                self.poll_on_timer();
            }
        }
        let (pick, wanted) = {
            let mut inner = self.inner.lock();
            let pick = inner.find(self, now_ns, 0);
            if !matches!(pick, Pick::Stream { .. } | Pick::Job(_)) {
                return pick;
            }
            inner.awake -= 1;
            self.busy.fetch_add(1, Ordering::Relaxed);
            if std::mem::take(in_timed_park) {
                inner.timed_worker = None;
            }
            (pick, inner.wanted(self))
        };
        self.carry_out(wanted);
        pick
    }

    /// Does what was found, and more as long as there is some that needs no grace; then counts as awake again. Sleeps
    /// first if another worker is awake already. Returns whether it is worthwhile to spin: not where its work came from, since the
    /// thread that brought it cannot run there meanwhile, and not if other threads had done everything.
    fn be_busy(self: &Arc<Self>, first: Pick, number: usize, parker: &Arc<Parker>) -> bool {
        let (mut near, mut worked) = (false, false);
        let mut found = first;
        loop {
            match found {
                Pick::Stream { stream, near: here } => {
                    near |= here;
                    let left = stream.run(false, BUDGET, &|| self.is_stopped());
                    worked |= left.is_some();
                }
                Pick::Job(job) => {
                    job.help();
                    worked = true;
                }
                Pick::Soon | Pick::Moving | Pick::Beside | Pick::Nothing => {}
            }
            WAKE_DEFERRED.set(false);
            let now = self.now_ns();
            let mut inner = self.inner.lock();
            if inner.fire(self) {
                drop(inner);
                // Whatever is found is this worker's next, or is seen below.
                let setting = Setting::enter(self);
                self.poll_on_timer();
                drop(setting);
                WAKE_DEFERRED.set(false);
                inner = self.inner.lock();
            }
            found = match inner.stopped {
                true => Pick::Nothing,
                false => inner.find(self, now, 1),
            };
            if let Pick::Stream { .. } | Pick::Job(_) = found {
                let wanted = inner.wanted(self);
                drop(inner);
                self.carry_out(wanted);
                continue;
            }
            inner.awake += 1;
            self.busy.fetch_sub(1, Ordering::Relaxed);
            let others = inner.awake > 1
                && !inner.has_work(self)
                && !(self.shares_soon(now) && self.may_spin());
            drop(inner);
            if others {
                self.sleep(number, parker, &mut false);
            }
            return worked && !near;
        }
    }

    /// Lets the schedule know of a thread that waits, until [`Pool::waited`]. Returns the wait's number.
    #[cold]
    pub(crate) fn announce(self: &Arc<Self>, number: u32, is_over: IsOver) -> u64 {
        let mut waits = self.waits.lock();
        waits.count += 1;
        let id = waits.count;
        waits.open.push((id, number, is_over));
        drop(waits);
        if let Some(schedule) = &self.schedule {
            schedule.waiting(number);
            self.wake_idle();
        }
        id
    }

    /// Ends what [`Pool::announce`] began.
    #[cold]
    pub(crate) fn waited(&self, id: u64) {
        self.waits.lock().open.retain(|(other, ..)| *other != id);
    }

    /// Lists the queues that threads still wait for: a wait that is satisfied is over, whether its thread knows or not.
    pub(super) fn waited_for(&self) -> Vec<u32> {
        let waits = self.waits.lock();
        let open = waits.open.iter().filter(|(_, _, is_over)| !is_over());
        open.map(|(_, number, _)| *number).collect()
    }

    /// Ends the workers and returns the streams that are left.
    pub(crate) fn stop(&self) -> Vec<Arc<dyn Runnable>> {
        let mut inner = self.inner.lock();
        inner.stopped = true;
        self.stopped.store(true, Ordering::Relaxed);
        let timers = std::mem::take(&mut inner.timers);
        let idle: Vec<_> = inner
            .asleep
            .iter()
            .map(|idle| idle.parked.parker.clone())
            .collect();
        let timed_worker = inner.timed_worker.clone();
        let threads = std::mem::take(&mut inner.threads);
        let streams = std::mem::take(&mut inner.streams);
        drop(inner);
        for parker in idle.into_iter().chain(timed_worker) {
            parker.unpark();
        }
        let me = thread::current().id();
        for thread in threads {
            // A program that drops the last of its runtime does so on a worker, which cannot wait for itself.
            if thread.thread().id() != me {
                let _ = thread.join();
            }
        }
        drop(timers);
        streams.iter().filter_map(Weak::upgrade).collect()
    }

    /// Empties the run queue.
    pub(crate) fn forget_entries(&self) {
        let lists = std::mem::take(&mut self.inner.lock().lists);
        drop(lists);
    }
}
