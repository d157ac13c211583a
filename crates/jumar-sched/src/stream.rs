//! One stream: a ring, what holds it, who waits for it, and the loop that runs its tasks.
//!
//! `drive` is the only loop that runs tasks, for every kind of thread: a worker, a thread that waits for the stream, or
//! one that helps while it waits for another. What it may run is an argument.
//!
//! A wait whose signal is clear ends the loop: the stream registers with the signal (and with the timers), becomes
//! blocked, and the thread is free. Registration and timer are undone by the owner that finds the wait over. A call
//! that comes late, for a wait that is over already, only makes some owner look again.

mod handle;
mod waiting;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, AtomicU32, AtomicU64, Instant, Mutex, Ordering};
use jumar_hal::{
    Condition, Cost, Joining, Program, QueueConfig, QueueObserver, SharedLatch, Signal, Tag, Task,
    Verdict, WaitThen, Waiter, Waiters, unwind,
};
use jumar_types::{Error, ErrorKind};

use crate::pool::{IsOver, Pool, Setting};
use crate::ring::{CallOutcome, Entry, Owner, PushPermit, Ring, Sizes};
use crate::runnable::{DriveOutcome, Runnable};
use crate::team::Team;
pub(crate) use handle::Handle;
use waiting::{ParkedWaiter, UNPOLLED};

/// How many bounded tasks of another stream a waiting thread runs before it looks after its own.
const HELP: u32 = 64;
/// The number of bounded tasks after which a deferred wake-up is performed.
const WAKE_AFTER: u32 = 8;
/// The number of waiting tasks from which a worker in timed park is woken.
const BACKLOG: u64 = 4096;

/// A stream.
pub(crate) struct Stream {
    pub(crate) ring: Ring,
    /// Tasks up to here are dropped.
    drop_to: AtomicU64,
    /// The position of the last wait that was dropped alone.
    wait_dropped: AtomicU64,
    /// The position of the wait that holds the stream; 0 if none does. Written by the owner.
    held_at: AtomicU64,
    held: Mutex<Option<UnsatisfiedWait>>,
    /// Whether that wait clears its signal. Written by the owner before the stream is blocked.
    held_clears: AtomicBool,
    /// The first position that a parked thread waits for.
    first_waited: AtomicU64,
    parked: Mutex<Vec<ParkedWaiter>>,
    watcher: Arc<dyn QueueObserver>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) number: u32,
    pub(crate) age: u64,
    pub(crate) priority: usize,
    /// A schedule decides what runs.
    scheduled: bool,
    /// Whether a waiting thread polls for the signal that holds the stream.
    polled: AtomicU32,
}

/// A wait that was not satisfied when an owner came to it.
struct UnsatisfiedWait {
    cause: Cause,
    /// The key of the timer; its moment is when the wait expires.
    timer: Option<(Instant, u64)>,
    /// What is polled besides, where other processes set the signal too.
    latch: Option<Arc<LatchWait>>,
}

/// A wait for a signal that other processes set too.
struct LatchWait {
    latch: Arc<dyn SharedLatch>,
    /// What the latch answered when the wait began.
    wait: u64,
}

impl Condition for LatchWait {
    fn holds(&self) -> bool {
        self.latch.is_set() || self.latch.is_deserted(self.wait)
    }

    fn examine(&self) {
        self.latch.examine();
    }

    fn address(&self) -> usize {
        self.latch.address()
    }
}

/// What a stream waits for.
enum Cause {
    Signal(Arc<Signal>),
    Condition(Arc<dyn Condition>),
}

impl Cause {
    fn of(task: &Task) -> Option<Cause> {
        match task {
            Task::Wait { signal, .. } => Some(Cause::Signal(signal.clone())),
            Task::Until { condition, .. } => Some(Cause::Condition(condition.clone())),
            Task::Join(joint) => Some(Cause::Signal(joint.signal().clone())),
            Task::Copy(_) | Task::Fill { .. } | Task::Set(_) | Task::Clear(_) | Task::Run(_) => {
                None
            }
        }
    }
}

/// How a wait ended.
enum WaitOutcome {
    Over,
    Expired,
    Dropped,
    /// What was to be waited for did not begin, or can no longer come.
    Failed(Error),
}

impl Stream {
    pub(crate) fn new(
        pool: Arc<Pool>,
        config: QueueConfig,
        age: u64,
        sizes: Sizes,
        watcher: Arc<dyn QueueObserver>,
    ) -> Arc<Stream> {
        let scheduled = pool.schedule.is_some();
        Arc::new(Stream {
            scheduled,
            polled: AtomicU32::new(UNPOLLED),
            ring: Ring::new(sizes),
            drop_to: AtomicU64::new(0),
            wait_dropped: AtomicU64::new(0),
            held_at: AtomicU64::new(0),
            held: Mutex::new(None),
            held_clears: AtomicBool::new(false),
            first_waited: AtomicU64::new(u64::MAX),
            parked: Mutex::new(Vec::new()),
            watcher,
            pool,
            number: config.number,
            age,
            priority: usize::from(config.priority.min(7)),
        })
    }

    /// Runs tasks until there is none, the stream is blocked, `stop` returns true or the budget is used up. With `bounded`
    /// it stops before any task that may take long.
    pub(crate) fn drive(
        self: &Arc<Self>,
        mut owner: Owner<'_>,
        bounded: bool,
        budget: u32,
        stop: impl Fn() -> bool,
    ) -> DriveOutcome {
        let mut run = 0u32;
        let mut until_wake = WAKE_AFTER;
        loop {
            let Some(entry) = owner.peek() else {
                match owner.idle() {
                    Ok(()) => return DriveOutcome::Drained,
                    Err(again) => owner = again,
                }
                continue;
            };
            let mut cost = entry.task.cost();
            let is_wait = matches!(
                entry.task,
                Task::Wait { .. } | Task::Until { .. } | Task::Join(_)
            );
            let position = owner.position();
            if is_wait && self.held_at.load(Ordering::Relaxed) == position {
                // What has begun only waits.
                cost = Cost::Bounded;
            }
            if position <= self.drop_to.load(Ordering::Acquire) {
                self.drop_next(&mut owner, position);
                continue;
            }
            let out_of_budget = run >= budget
                && (self.pool.has_entries()
                    || self.pool.timer_expired()
                    || self.pool.schedule.is_some());
            if out_of_budget || stop() {
                return self.give_back(owner, DriveOutcome::Stopped);
            }
            if bounded && cost != Cost::Bounded {
                return self.give_back(owner, DriveOutcome::Refused);
            }
            if Pool::has_deferred_wakes() {
                until_wake = until_wake.saturating_sub(1);
                if until_wake == 0 || cost != Cost::Bounded {
                    self.pool.flush_wakes(cost != Cost::Bounded);
                    until_wake = WAKE_AFTER;
                }
            }
            run += 1;
            let mut failed = None;
            if is_wait {
                let hold;
                (owner, hold) = match self.hold(owner, position) {
                    Some(kept) => kept,
                    None => return DriveOutcome::Blocked,
                };
                match hold {
                    WaitOutcome::Over => {}
                    WaitOutcome::Dropped => continue,
                    WaitOutcome::Expired => {
                        failed = Some(Error::new(
                            ErrorKind::WaitTimeout,
                            format!(
                                "a wait on stream {} expired: its signal or value was not set in time",
                                self.number
                            ),
                        ));
                    }
                    WaitOutcome::Failed(error) => failed = Some(error),
                }
            }
            let Some(Entry { tag, task }) = owner.next() else {
                continue;
            };
            self.perform(tag, task, is_wait, failed);
            self.publish(&mut owner);
        }
    }

    /// Releases a stream that holds tasks.
    fn give_back(self: &Arc<Self>, owner: Owner<'_>, left: DriveOutcome) -> DriveOutcome {
        if owner.queue() {
            self.pool.push(self.clone(), true, Cost::Unbounded);
        }
        left
    }

    /// Runs one task that was taken out. A wait is over when it comes here, and started already.
    fn perform(&self, tag: Tag, task: Task, is_wait: bool, failed: Option<Error>) {
        let observed = tag.ticket != 0;
        if observed && !is_wait {
            guarded(|| self.watcher.started(tag));
        }
        let error = match &task {
            Task::Copy(copy) => {
                self.pool.runner.copy(*copy, &Team::new(&self.pool));
                self.wrote(Some((copy.target().address(), copy.bytes())));
                None
            }
            Task::Fill { to, value } => {
                self.pool.runner.fill(*to, *value);
                self.wrote(Some((to.address(), to.bytes())));
                None
            }
            Task::Set(signal) => {
                let _setting = Setting::enter(&self.pool);
                signal.set();
                None
            }
            Task::Clear(signal) => {
                signal.clear();
                None
            }
            Task::Wait { .. } | Task::Until { .. } => failed,
            Task::Join(joint) => failed.or_else(|| join(joint)),
            Task::Run(program) => self.run_program(&**program),
        };
        drop_task(task);
        match error {
            None if observed => guarded(|| self.watcher.finished(tag)),
            None => {}
            Some(error) => self.fail(tag, error),
        }
    }

    /// Begins what others end. Returns the error with which it did not. The loop over tasks calls it, and stays short.
    #[inline(never)]
    fn begin(&self, joint: &Joining) -> Option<Error> {
        self.run_program(&**joint)
    }

    /// Runs a program. Returns its error.
    #[inline(always)]
    fn run_program(&self, program: &dyn Program) -> Option<Error> {
        let inside = Inside::enter();
        let large = (program.cost() == Cost::Large).then(|| self.pool.run_large());
        let result = unwind::catch(|| self.pool.runner.run(program));
        drop(large);
        drop(inside);
        if self.pool.value_poller.any() {
            let range = program.writes().map(|span| (span.address(), span.bytes()));
            self.wrote(range);
        }
        of_program(program, result)
    }

    /// Looks after streams that wait for a value where a task wrote; `None`: anywhere.
    #[inline]
    fn wrote(&self, range: Option<(usize, usize)>) {
        if self.pool.value_poller.any() {
            let _setting = Setting::enter(&self.pool);
            match range {
                Some((address, bytes)) => self.pool.poll_range(address, bytes),
                None => self.pool.poll_throttled(),
            }
        }
    }

    #[cold]
    fn fail(&self, tag: Tag, error: Error) {
        let error = error.operation(tag.call.name);
        let mut verdict = Verdict::Continue;
        guarded(|| verdict = self.watcher.failed(tag, error));
        match verdict {
            Verdict::Continue => {}
            Verdict::Discard => {
                self.drop_to
                    .fetch_max(self.ring.submitted(), Ordering::AcqRel);
            }
        }
    }

    /// Drops the next task without running it.
    #[cold]
    fn drop_next(&self, owner: &mut Owner<'_>, position: u64) {
        self.cancel_wait(position);
        let Some(Entry { tag, task }) = owner.next() else {
            return;
        };
        let error = match &task {
            // What is behind its wait still runs.
            Task::Join(joint) if self.wait_dropped.load(Ordering::Acquire) == position => {
                join(joint)
            }
            Task::Set(signal) => {
                let _setting = Setting::enter(&self.pool);
                signal.set();
                None
            }
            _ => None,
        };
        drop_task(task);
        if let Some(error) = error {
            self.fail(tag, error);
        }
        self.publish(owner);
    }

    /// Sees whether the wait at the head is over; otherwise arranges to be called, and blocks the stream.
    fn hold<'a>(
        self: &Arc<Self>,
        mut owner: Owner<'a>,
        position: u64,
    ) -> Option<(Owner<'a>, WaitOutcome)> {
        let fresh = self.held_at.load(Ordering::Relaxed) != position;
        let Some(Entry { tag, task }) = owner.peek() else {
            return Some((owner, WaitOutcome::Over));
        };
        let tag = *tag;
        if fresh && tag.ticket != 0 {
            guarded(|| self.watcher.started(tag));
        }
        if fresh
            && let Task::Join(joint) = task
            && let Some(error) = self.begin(joint)
        {
            return Some((owner, WaitOutcome::Failed(error)));
        }
        if is_over(task) {
            self.cancel_wait(position);
            return Some((owner, WaitOutcome::Over));
        }
        loop {
            let Some(Entry { task, .. }) = owner.peek() else {
                return Some((owner, WaitOutcome::Over));
            };
            let (registered, until) = self.hold_on(position, task);
            // A signal notifies registered waiters; a value has to be checked once more.
            let mut stays = match task {
                Task::Until { condition, .. } => !condition.holds(),
                _ => true,
            };
            if let Task::Wait { signal, .. } = task
                && let Some(latch) = signal.shared_latch()
            {
                let wait = self.poll_latch(latch);
                stays = !wait.holds();
                // What was set before the others went counts.
                let over = !stays && is_over(task);
                if over || latch.is_deserted(wait.wait) {
                    self.cancel_wait(position);
                    let outcome = match over {
                        true => WaitOutcome::Over,
                        false => WaitOutcome::Failed(latch.desertion()),
                    };
                    return Some((owner, outcome));
                }
            }
            if registered {
                if until.is_some_and(|until| Instant::now() >= until) {
                    self.cancel_wait(position);
                    return Some((owner, WaitOutcome::Expired));
                }
                if position <= self.drop_to.load(Ordering::Acquire) {
                    return Some((owner, WaitOutcome::Dropped));
                }
                if stays {
                    match owner.block() {
                        Ok(()) => return None,
                        Err(again) => owner = again,
                    }
                }
            }
            if owner.peek().is_none_or(|entry| is_over(&entry.task)) {
                self.cancel_wait(position);
                return Some((owner, WaitOutcome::Over));
            }
        }
    }

    /// Registers with what the stream waits for and with the timers. Returns whether it did (it was not there yet), and when
    /// the wait expires.
    fn hold_on(self: &Arc<Self>, position: u64, task: &Task) -> (bool, Option<Instant>) {
        let me: Arc<dyn Waiter> = self.clone();
        let mut held = self.held.lock();
        let again = held.is_some();
        if held.is_none() {
            let Some(cause) = Cause::of(task) else {
                return (false, None);
            };
            let clears = matches!(task, Task::Wait { then, .. } if *then == WaitThen::Clear);
            self.held_clears.store(clears, Ordering::Relaxed);
            self.held_at.store(position, Ordering::Release);
            // A limit beyond the clock's end is none.
            let limit = limit_of(task);
            let expiry = limit.and_then(|limit| Instant::now().checked_add(limit));
            let timer = expiry.map(|expiry| self.pool.add_timer(expiry, self.clone()));
            *held = Some(UnsatisfiedWait {
                cause,
                timer,
                latch: None,
            });
        }
        let Some(held) = &*held else {
            return (false, None);
        };
        let until = held.timer.map(|(expiry, _)| expiry);
        let registered = match &held.cause {
            // An earlier look registered, where the call that brought us here was another's.
            Cause::Signal(signal) => signal.register(me),
            Cause::Condition(condition) => {
                if !again {
                    self.pool.add_value_wait(self.clone(), condition);
                }
                true
            }
        };
        (registered, until)
    }

    /// Has the signal polled that holds the stream, once for each wait: no notification announces what other processes set.
    #[cold]
    fn poll_latch(self: &Arc<Self>, latch: &Arc<dyn SharedLatch>) -> Arc<LatchWait> {
        let polled = self
            .held
            .lock()
            .as_ref()
            .and_then(|held| held.latch.clone());
        if let Some(wait) = polled {
            return wait;
        }
        let wait = Arc::new(LatchWait {
            latch: latch.clone(),
            wait: latch.begin_wait(),
        });
        self.begin_to_poll(wait)
    }

    /// Has the latch polled, unless it is polled already or the signal that it belongs to does not hold the stream any more. Returns what
    /// is polled.
    fn begin_to_poll(self: &Arc<Self>, wait: Arc<LatchWait>) -> Arc<LatchWait> {
        // Under the lock: who ends the wait meanwhile takes both away, or neither is there.
        let mut held = self.held.lock();
        let Some(UnsatisfiedWait {
            cause: Cause::Signal(signal),
            latch,
            ..
        }) = &mut *held
        else {
            return wait;
        };
        if let Some(polled) = latch {
            return polled.clone();
        }
        let holds_it = |latch: &Arc<dyn SharedLatch>| Arc::ptr_eq(latch, &wait.latch);
        if signal.shared_latch().is_some_and(holds_it) {
            let condition: Arc<dyn Condition> = wait.clone();
            self.pool.add_value_wait(self.clone(), &condition);
            *latch = Some(wait.clone());
        }
        wait
    }

    /// Undoes what `hold_on` and `poll_latch` did.
    fn cancel_wait(self: &Stream, position: u64) {
        if self.held_at.load(Ordering::Relaxed) != position {
            return;
        }
        self.held_at.store(0, Ordering::Relaxed);
        let Some(held) = self.held.lock().take() else {
            return;
        };
        if let Some(key) = held.timer {
            self.pool.cancel_timer(key);
        }
        if let Some(wait) = held.latch {
            let condition: Arc<dyn Condition> = wait;
            self.pool.remove_value_wait(self.age, &condition);
        }
        match held.cause {
            Cause::Signal(signal) => {
                signal.forget_at(std::ptr::from_ref(self).cast());
            }
            Cause::Condition(condition) => self.pool.remove_value_wait(self.age, &condition),
        }
    }

    /// Ends a wait that clears its signal on the thread that set it: set again before a worker came here, the signal would be set once
    /// for two sets, and the second wait that they are for would never end. Called when the stream was made queued, and has to be put
    /// into the run queue. Returns whether it still has to.
    #[cold]
    fn clear_at_once(self: &Arc<Self>) -> bool {
        // Another thread may have taken the stream, and then it does all that is pending.
        let Some(mut owner) = self.ring.unlist() else {
            return false;
        };
        let position = owner.position();
        let is_head = self.held_at.load(Ordering::Relaxed) == position
            && position > self.drop_to.load(Ordering::Acquire);
        let is_cleared =
            |entry: &Entry| matches!(entry.task, Task::Wait { .. }) && is_over(&entry.task);
        if is_head && owner.peek().is_some_and(is_cleared) {
            self.cancel_wait(position);
            if let Some(Entry { tag, task }) = owner.next() {
                self.perform(tag, task, true, None);
                self.publish(&mut owner);
            }
        }
        let owner = match owner.ready() {
            true => owner,
            false => match owner.idle() {
                Ok(()) => return false,
                Err(owner) => owner,
            },
        };
        owner.queue()
    }

    #[inline]
    fn publish(&self, owner: &mut Owner<'_>) {
        if owner.publish() {
            self.notify_parked();
        }
    }

    /// Does a task at once if the stream is empty and idle and the difference is not observable. Returns its position.
    fn at_once(self: &Arc<Self>, task: &Task) -> Option<u64> {
        let worthwhile = match task {
            Task::Copy(_) | Task::Fill { .. } | Task::Run(_) | Task::Join(_) => false,
            Task::Set(_) | Task::Clear(_) => true,
            Task::Wait { signal, .. } => signal.is_set(),
            Task::Until { condition, .. } => condition.holds(),
        };
        if !worthwhile {
            return None;
        }
        let rest = self.ring.rest()?;
        let mut waiters = Waiters::new();
        let over = match task {
            Task::Copy(_) | Task::Fill { .. } | Task::Run(_) | Task::Join(_) => false,
            Task::Set(signal) => {
                waiters = signal.set_quietly();
                true
            }
            Task::Clear(signal) => {
                signal.clear();
                true
            }
            // Looked at again: what ran before may have cleared it.
            Task::Wait { signal, then, .. } => passes(signal, *then),
            Task::Until { condition, .. } => condition.pass(),
        };
        if !over {
            rest.leave();
            return None;
        }
        let (position, waited) = rest.done();
        if waited {
            self.notify_parked();
        }
        for waiter in waiters {
            waiter.signalled();
        }
        Some(position)
    }

    /// Creates a check of whether the stream has reached a position.
    fn reached(self: &Arc<Self>, position: u64) -> impl Fn() -> IsOver {
        move || {
            let stream = self.clone();
            Arc::new(move || stream.ring.completed() >= position)
        }
    }

    /// Puts a task into the ring, and the stream into the run queue if it was idle. A part of each caller, so that the task is
    /// constructed in place.
    #[inline(always)]
    fn append(self: &Arc<Self>, cost: Cost, tag: Tag, task: Task) -> u64 {
        let entrance = match self.ring.enter(false) {
            Some(entrance) => entrance,
            None => self.enter_full(),
        };
        let pushed = entrance.push(tag, task);
        if pushed.list {
            self.pool.push(self.clone(), false, cost);
        } else if cost == Cost::Large || pushed.position.is_multiple_of(BACKLOG) {
            self.push_more(pushed.position, cost);
        }
        pushed.position
    }

    /// Returns whether a submit runs a task itself, if it is short, where the stream is idle. An observer is never called inside a submit, a
    /// schedule decides about everything, and a task must not run what is behind itself.
    #[inline]
    fn runs_at_once(&self, is_short: bool, tag: Tag) -> bool {
        is_short && tag.ticket == 0 && !self.scheduled && !Inside::is()
    }

    /// Appends a short program, or a wait, and, if the stream was idle, runs it on the calling thread: that takes less time than
    /// waking a worker. Whatever other threads append meanwhile is left to the workers.
    pub(crate) fn append_short(self: &Arc<Self>, tag: Tag, task: Task) -> u64 {
        let entrance = match self.ring.enter(false) {
            Some(entrance) => entrance,
            None => self.enter_full(),
        };
        let pushed = entrance.push(tag, task);
        if pushed.list {
            let over = || self.ring.completed() >= pushed.position;
            if let Some(owner) = self.ring.unlist() {
                self.drive(owner, true, u32::MAX, over);
            }
            if Pool::has_deferred_wakes() {
                self.pool.flush_wakes(false);
            }
        }
        pushed.position
    }

    /// Waits for space in a full ring.
    #[cold]
    fn enter_full(self: &Arc<Self>) -> PushPermit<'_> {
        loop {
            // A task that fills its own queue cannot wait for itself.
            if let Some(entrance) = self.ring.enter(Inside::is()) {
                return entrance;
            }
            let position = self.ring.submitted().saturating_sub(Sizes::USUAL.limit / 2);
            let done = || self.ring.completed() >= position;
            self.wait_for(&done, &self.reached(position), None, &|until| {
                self.park(position, until)
            });
        }
    }

    /// Notifies a worker in timed park of a stream that is in the run queue already, if it is worth the call.
    #[cold]
    fn push_more(self: &Arc<Self>, position: u64, cost: Cost) {
        if cost == Cost::Large || position - self.ring.completed().min(position) >= BACKLOG {
            self.pool.wake_idle();
        }
    }

    /// Has everything dropped that is queued now. Returns whether the caller has to put the stream into the run queue.
    pub(crate) fn drop_all(&self) -> bool {
        self.drop_to
            .fetch_max(self.ring.submitted(), Ordering::AcqRel);
        self.call()
    }

    /// Has the wait dropped that holds the stream. Returns whether the caller has to put the stream into the run queue.
    pub(crate) fn drop_wait(&self) -> bool {
        let position = self.held_at.load(Ordering::Acquire);
        if position == 0 {
            return false;
        }
        // Earlier tasks are done, so that nothing but the wait is dropped.
        self.wait_dropped.store(position, Ordering::Release);
        self.drop_to.fetch_max(position, Ordering::AcqRel);
        self.call()
    }
}

impl Runnable for Stream {
    fn number(&self) -> u32 {
        self.number
    }

    fn age(&self) -> u64 {
        self.age
    }

    fn priority(&self) -> usize {
        self.priority
    }

    fn is_queued(&self) -> bool {
        self.ring.is_queued()
    }

    fn completed(&self) -> u64 {
        self.ring.completed()
    }

    fn call(&self) -> bool {
        matches!(self.ring.call(), CallOutcome::Queued { list: true })
    }

    fn run(
        self: Arc<Self>,
        bounded: bool,
        budget: u32,
        stop: &dyn Fn() -> bool,
    ) -> Option<DriveOutcome> {
        let owner = self.ring.unlist()?;
        Some(self.drive(owner, bounded, budget, stop))
    }

    fn unlist(&self) -> bool {
        self.ring.unlist().is_some_and(Owner::queue)
    }

    fn clear_out(self: Arc<Self>) {
        self.drop_all();
        if let Some(owner) = self.ring.unlist() {
            self.drive(owner, true, u32::MAX, || true);
        }
        // What came after the drop stays where it is; the run queue must not keep it.
    }
}

impl Waiter for Stream {
    fn signalled(self: Arc<Self>) {
        if !self.call() || self.leave_to_poller() {
            return;
        }
        let clears = self.held_clears.load(Ordering::Relaxed) && !self.scheduled;
        if clears && !self.clear_at_once() {
            return;
        }
        self.pool.push(self.clone(), true, Cost::Bounded);
        self.call_parked();
    }

    fn shared(self: Arc<Self>, latch: &Arc<dyn SharedLatch>) {
        self.poll_latch(latch);
    }
}

/// Returns the error of a program, which may be that it panicked.
#[inline]
fn of_program(program: &dyn Program, result: Result<Result<(), Error>, String>) -> Option<Error> {
    match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error),
        Err(text) => Some(Error::new(
            ErrorKind::Internal,
            format!("{} panicked: {text}", program.name()),
        )),
    }
}

/// Returns the error with which something ended that others ended.
#[inline(never)]
fn join(joint: &Joining) -> Option<Error> {
    of_program(&**joint, unwind::catch(|| joint.end()))
}

/// Reports whether a task that waits may continue, and lets it.
fn is_over(task: &Task) -> bool {
    match task {
        Task::Wait { signal, then, .. } => passes(signal, *then),
        Task::Until { condition, .. } => condition.pass(),
        Task::Join(joint) => passes(joint.signal(), WaitThen::Clear),
        Task::Copy(_) | Task::Fill { .. } | Task::Set(_) | Task::Clear(_) | Task::Run(_) => true,
    }
}

/// Returns how long a task waits at most.
fn limit_of(task: &Task) -> Option<Duration> {
    match task {
        Task::Wait { limit, .. } | Task::Until { limit, .. } => *limit,
        _ => None,
    }
}

fn passes(signal: &Signal, then: WaitThen) -> bool {
    match then {
        WaitThen::Keep => signal.is_set(),
        WaitThen::Clear => signal.is_set() && signal.take(),
    }
}

/// Calls what belongs to others. A panic in there is a defect that must not stop the stream.
fn guarded(f: impl FnOnce()) {
    let _ = unwind::catch(f);
}

/// Drops a task; a program's destructor belongs to others.
#[inline]
fn drop_task(task: Task) {
    match task {
        Task::Run(program) => guarded(|| drop(program)),
        Task::Join(joint) => drop_joint(joint),
        other => drop(other),
    }
}

/// Drops what may have to be abandoned.
#[inline(never)]
fn drop_joint(joint: Joining) {
    guarded(|| drop(joint));
}

thread_local!(static INSIDE: Cell<u32> = const { Cell::new(0) });

/// Marks the calling thread as being inside a program.
struct Inside;

impl Inside {
    fn enter() -> Inside {
        INSIDE.set(INSIDE.get() + 1);
        Inside
    }

    fn is() -> bool {
        INSIDE.get() > 0
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(INSIDE.get() - 1);
    }
}
