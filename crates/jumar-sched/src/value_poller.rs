//! Streams that wait for a value in memory, which is not announced.
//!
//! A stream whose next task is such a wait stands in a list, by the address that it looks at, and holds no thread. It is
//! called when a thread finds that its condition is true: the thread that ran a task that wrote there checks that address; the thread that
//! ran a program with unknown writes checks all of them, unless that was done a moment ago; a thread
//! that waits and spins does too; and a timer makes a worker check all of them, as the host and other processes write
//! without a notification. The timer backs off while nothing happens, and is set anew when a stream begins to wait or continues.
//!
//! A stream stays in the list until its owner has seen that the wait is over, so that a call too many does no harm, as
//! with signals. The list's lock is never held while a stream is called.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{AtomicU64, AtomicUsize, Instant, Mutex, Ordering};
use jumar_hal::{Condition, Cost};

use crate::pool::Pool;
use crate::stream::Stream;

/// The delay after a change until the timer causes a check.
const FIRST_STEP: Duration = Duration::from_micros(20);
/// How long it waits at most.
const LAST_STEP: Duration = Duration::from_millis(1);
/// What part of the time may be spent on looking: one in so many.
const SHARE: u32 = 16;
/// The bytes of the largest word that a condition looks at.
const WORD: usize = 8;

/// The streams of one executor that wait for values.
pub(crate) struct ValuePoller {
    list: Mutex<List>,
    /// How many, for those who look without the lock.
    count: AtomicUsize,
    /// When the next look at all of them is worth its time.
    next_ns: AtomicU64,
}

#[derive(Default)]
struct List {
    /// By address, then by the stream's age.
    waiting: BTreeMap<(usize, u64), Waiting>,
    step: Duration,
    /// A timer stands.
    armed: bool,
}

struct Waiting {
    stream: Arc<Stream>,
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
    /// Puts a stream into the list. The caller looks once more afterwards.
    pub(crate) fn add_value_wait(
        self: &Arc<Self>,
        stream: &Arc<Stream>,
        condition: &Arc<dyn Condition>,
    ) {
        let arm = {
            let mut list = self.value_poller.list.lock();
            let entry = Waiting {
                stream: stream.clone(),
                condition: condition.clone(),
            };
            list.waiting
                .insert((condition.address(), stream.age), entry);
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

    /// Takes a stream out of the list.
    pub(crate) fn remove_value_wait(&self, stream: &Stream, condition: &Arc<dyn Condition>) {
        let mut list = self.value_poller.list.lock();
        // Dropped outside: it may be the last of its stream.
        let gone = list.waiting.remove(&(condition.address(), stream.age));
        self.value_poller
            .count
            .store(list.waiting.len(), Ordering::Relaxed);
        drop(list);
        drop(gone);
    }

    /// Calls the streams that wait for a value inside a range and may continue.
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

    /// Calls all streams that may continue, unless a check was done a moment ago.
    #[cold]
    pub(crate) fn poll_throttled(self: &Arc<Self>) {
        if self.now_ns() >= self.value_poller.next_ns.load(Ordering::Relaxed) {
            self.poll_all();
        }
    }

    /// Calls all streams that may continue, for the timer, and sets it anew.
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
            let worthwhile = self.value_poller.next_ns.load(Ordering::Relaxed);
            let pause = Duration::from_nanos(worthwhile.saturating_sub(self.now_ns()));
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

    fn call_all(self: &Arc<Self>, streams: Vec<Arc<Stream>>) {
        for stream in streams {
            if stream.call() {
                self.push(&stream, true, Cost::Bounded);
            }
        }
    }
}

impl List {
    fn conditions(&self) -> Vec<Arc<dyn Condition>> {
        let waiting = self.waiting.values();
        waiting.map(|waiting| waiting.condition.clone()).collect()
    }

    fn ready(&self, range: impl std::ops::RangeBounds<(usize, u64)>) -> Vec<Arc<Stream>> {
        self.waiting
            .range(range)
            .filter(|(_, waiting)| waiting.condition.holds())
            .map(|(_, waiting)| waiting.stream.clone())
            .collect()
    }
}
