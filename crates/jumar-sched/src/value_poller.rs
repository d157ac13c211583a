//! Polling for streams that wait for a value in memory. No notification announces a write.
//!
//! A stream whose next task is such a wait is an entry of a list, sorted by address, and occupies no thread. A thread that finds the
//! condition of an entry true calls the stream. These threads check:
//!
//! - the thread that ran a task checks the addresses that the task wrote;
//! - the thread that ran a program whose writes are unknown checks all entries, at a limited rate;
//! - a thread that spins while it waits for a stream does the same;
//! - a timer makes a worker check all entries, since the host and other processes write as well. Its interval doubles while nothing
//!   happens, and returns to the shortest when a stream begins to wait or resumes.
//!
//! A stream stays in the list until the thread that runs it has seen that the wait has ended. So a superfluous call does no harm. No
//! thread holds the list's lock while it calls a stream.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{AtomicU64, AtomicUsize, Instant, Mutex, Ordering};
use jumar_hal::{Condition, Cost};

use crate::pool::Pool;
use crate::runnable::Runnable;

/// The shortest interval of the timer: the delay from a change to the first check.
const FIRST_STEP: Duration = Duration::from_micros(20);
/// The longest interval of the timer.
const LAST_STEP: Duration = Duration::from_millis(1);
/// The pause after a check of all entries, as a multiple of the check's duration. It bounds the time that checks take.
const SHARE: u32 = 16;
/// The size of the largest word that a condition reads, in bytes.
const WORD: usize = 8;

/// The streams of one executor that wait for values.
pub(crate) struct ValuePoller {
    list: Mutex<List>,
    /// The number of entries, for threads that do not hold the lock.
    count: AtomicUsize,
    /// The time before which a check of all entries is skipped, in nanoseconds of the executor's clock.
    next_ns: AtomicU64,
}

#[derive(Default)]
struct List {
    /// The entries by address, then by the stream's age.
    waiting: BTreeMap<(usize, u64), Waiting>,
    /// The current interval of the timer.
    step: Duration,
    /// Whether a timer is set.
    armed: bool,
}

struct Waiting {
    stream: Arc<dyn Runnable>,
    condition: Arc<dyn Condition>,
}

impl ValuePoller {
    pub(crate) fn new() -> ValuePoller {
        ValuePoller {
            list: Mutex::new(List::default()),
            count: AtomicUsize::new(0),
            next_ns: AtomicU64::new(0),
        }
    }

    /// Returns whether any stream waits for a value.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }
}

impl Pool {
    /// Adds a stream to the list. The caller has to check the condition once more afterwards: the value may have been written before.
    pub(crate) fn add_value_wait(
        self: &Arc<Self>,
        stream: Arc<dyn Runnable>,
        condition: &Arc<dyn Condition>,
    ) {
        let arm = {
            let mut list = self.value_poller.list.lock();
            let key = (condition.address(), stream.age());
            let condition = condition.clone();
            list.waiting.insert(key, Waiting { stream, condition });
            self.value_poller
                .count
                .store(list.waiting.len(), Ordering::Relaxed);
            list.step = FIRST_STEP;
            !std::mem::replace(&mut list.armed, true)
        };
        if arm {
            self.add_poll_timer(Instant::now() + FIRST_STEP);
        }
    }

    /// Removes the stream of that age from the list.
    pub(crate) fn remove_value_wait(&self, age: u64, condition: &Arc<dyn Condition>) {
        let mut list = self.value_poller.list.lock();
        // Dropped after the lock is released: this may be the last reference to the stream.
        let removed = list.waiting.remove(&(condition.address(), age));
        self.value_poller
            .count
            .store(list.waiting.len(), Ordering::Relaxed);
        drop(list);
        drop(removed);
    }

    /// Calls the streams that wait for a value inside a range of `bytes` bytes and may continue.
    #[cold]
    pub(crate) fn poll_range(self: &Arc<Self>, address: usize, bytes: usize) {
        let first = (address.saturating_sub(WORD - 1), 0);
        let end = (address.saturating_add(bytes), 0);
        if bytes == 0 {
            return;
        }
        let found = self.value_poller.list.lock().ready(first..end);
        self.call_all(found);
    }

    /// Calls all streams that may continue, unless the last check of all entries was too recent.
    #[cold]
    pub(crate) fn poll_throttled(self: &Arc<Self>) {
        if self.now_ns() >= self.value_poller.next_ns.load(Ordering::Relaxed) {
            self.poll_all();
        }
    }

    /// Calls all streams that may continue when the timer expires, and sets the timer again.
    #[cold]
    pub(crate) fn poll_on_timer(self: &Arc<Self>) {
        let conditions = self.value_poller.list.lock().conditions();
        for condition in conditions {
            condition.examine();
        }
        let found_any = self.poll_all();
        let next = {
            let mut list = self.value_poller.list.lock();
            list.armed = !list.waiting.is_empty();
            list.step = match found_any {
                true => FIRST_STEP,
                false => (list.step * 2).min(LAST_STEP),
            };
            list.armed.then_some(list.step)
        };
        if let Some(step) = next {
            let next_ns = self.value_poller.next_ns.load(Ordering::Relaxed);
            let pause = Duration::from_nanos(next_ns.saturating_sub(self.now_ns()));
            self.add_poll_timer(Instant::now() + step.max(pause));
        }
    }

    fn poll_all(self: &Arc<Self>) -> bool {
        let start = self.now_ns();
        let found = self.value_poller.list.lock().ready(..);
        let found_any = !found.is_empty();
        self.call_all(found);
        let end = self.now_ns();
        let pause = u64::from(SHARE) * end.saturating_sub(start);
        self.value_poller
            .next_ns
            .store(end + pause, Ordering::Relaxed);
        found_any
    }

    fn call_all(self: &Arc<Self>, streams: Vec<Arc<dyn Runnable>>) {
        for stream in streams {
            if stream.call() {
                self.push(stream, true, Cost::Bounded);
            }
        }
    }
}

impl List {
    fn conditions(&self) -> Vec<Arc<dyn Condition>> {
        let waiting = self.waiting.values();
        waiting.map(|waiting| waiting.condition.clone()).collect()
    }

    fn ready(&self, range: impl std::ops::RangeBounds<(usize, u64)>) -> Vec<Arc<dyn Runnable>> {
        self.waiting
            .range(range)
            .filter(|(_, waiting)| waiting.condition.holds())
            .map(|(_, waiting)| waiting.stream.clone())
            .collect()
    }
}
