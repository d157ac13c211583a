//! Threads that wait for a stream: they run it, help others, poll for the signal that holds it, spin, and park at last.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Poller;
use jumar_hal::sync::{Instant, Ordering, fence, spin_loop};

use super::{Cause, HELP, Inside, Stream};
use crate::park::{self, Parker};
use crate::pool::{IsOver, Pool, Setting};
use crate::runnable::DriveOutcome;

/// How long a thread that waits spins before it parks.
const SPIN: Duration = Duration::from_micros(20);
/// How long a thread that waits polls for a signal without effect before it parks.
const POLL: Duration = Duration::from_micros(200);
/// After how many polls without effect it reads the clock, which may take longer than a poll.
const UNTIMED_POLLS: u32 = 16;
/// How long a thread that waits sleeps where no worker keeps the timers.
const UNSERVED_PARK: Duration = Duration::from_millis(1);

// Values of `Stream::polled`.
pub(super) const UNPOLLED: u32 = 0;
const POLLED: u32 = 1;
/// The signal was set, and the thread that polls runs the stream: the stream is not put into the run queue.
const LEFT_TO_POLLER: u32 = 2;

pub(super) struct ParkedWaiter {
    position: u64,
    parker: Arc<Parker>,
}

impl Stream {
    /// Wakes the threads whose position was reached.
    #[cold]
    pub(super) fn notify_parked(&self) {
        if self.first_waited.load(Ordering::Acquire) > self.ring.completed() {
            return;
        }
        let mut woken = Vec::new();
        {
            let mut parked = self.parked.lock();
            let done = self.ring.completed();
            parked.retain(|parked| {
                let reached = parked.position <= done;
                if reached {
                    woken.push(parked.parker.clone());
                }
                !reached
            });
            self.note_waited(&parked);
        }
        for parker in woken {
            parker.unpark();
        }
    }

    /// Wakes a thread that waits for the stream, now that it may continue: it runs what it waits for, while a worker in timed park would
    /// notice it only at the end of its park.
    pub(super) fn call_parked(&self) {
        if self.scheduled {
            return;
        }
        // The stream was queued before this; who parks looks whether it is after it can be seen.
        fence(Ordering::SeqCst);
        if self.first_waited.load(Ordering::Acquire) == u64::MAX {
            return;
        }
        let first = {
            let parked = self.parked.lock();
            let first = parked.iter().min_by_key(|parked| parked.position);
            first.map(|parked| parked.parker.clone())
        };
        if let Some(parker) = first {
            parker.unpark();
        }
    }

    fn note_waited(&self, parked: &[ParkedWaiter]) {
        let first = parked.iter().map(|parked| parked.position).min();
        self.first_waited
            .store(first.unwrap_or(u64::MAX), Ordering::Release);
        if first.is_none() {
            self.ring.unmark_waited();
        }
    }

    /// Parks the calling thread until a position is finished, or until a moment. May return early.
    pub(crate) fn park(&self, position: u64, until: Option<Instant>) {
        let parker = park::mine();
        {
            let mut parked = self.parked.lock();
            parked.push(ParkedWaiter {
                position,
                parker: parker.clone(),
            });
            let first = self.first_waited.load(Ordering::Relaxed);
            self.first_waited
                .store(first.min(position), Ordering::Release);
            let over = self.ring.mark_waited() >= position;
            // This thread is not called for what was queued before it became visible. With a time limit it may not run everything, and
            // leaves that to the workers.
            fence(Ordering::SeqCst);
            let may_go_on = until.is_none() && !self.scheduled && self.ring.is_queued();
            if over || may_go_on {
                parked.pop();
                self.note_waited(&parked);
                return;
            }
        }
        parker.park(until);
        let mut parked = self.parked.lock();
        if let Some(index) = parked
            .iter()
            .position(|parked| Arc::ptr_eq(&parked.parker, &parker))
        {
            parked.swap_remove(index);
            self.note_waited(&parked);
        }
    }

    /// Returns what a waiting thread polls for the signal that holds the stream.
    fn poller(&self) -> Option<Arc<dyn Poller>> {
        if self.held_at.load(Ordering::Relaxed) == 0 {
            return None;
        }
        match &self.held.lock().as_ref()?.cause {
            Cause::Signal(signal) => signal.poller().cloned(),
            Cause::Condition(_) => None,
        }
    }

    /// Leaves the stream, whose signal was set, to the thread that polls for it. Returns false if none does.
    pub(super) fn leave_to_poller(&self) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        self.polled.load(Ordering::Relaxed) == POLLED
            && self
                .polled
                .compare_exchange(POLLED, LEFT_TO_POLLER, success, failure)
                .is_ok()
    }

    /// Polls for the signal that holds the stream, until the stream may continue or `stop` returns true. Returns whether it was
    /// worth it: otherwise the thread parks.
    pub(crate) fn poll(
        self: &Arc<Self>,
        poller: &dyn Poller,
        bounded: bool,
        stop: &dyn Fn() -> bool,
    ) -> bool {
        let exchange = |from, to| {
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            self.polled.compare_exchange(from, to, success, failure)
        };
        if exchange(UNPOLLED, POLLED).is_err() {
            return false;
        }
        let over = || {
            self.polled.load(Ordering::Acquire) == LEFT_TO_POLLER || self.ring.is_queued() || stop()
        };
        // The clock is not read for what comes soon.
        let mut until = None;
        let mut polls = 0_u32;
        // Other streams that the poll makes runnable are this thread's next, or a worker's once it flushes its wake-ups.
        let setting = Setting::enter(&self.pool);
        poller.poll_while(&mut |effect| {
            if over() {
                return false;
            }
            polls = polls.wrapping_add(1);
            if !effect && !polls.is_multiple_of(UNTIMED_POLLS) {
                return true;
            }
            let now = Instant::now();
            if effect {
                until = None;
            }
            now < *until.get_or_insert(now + POLL)
        });
        drop(setting);
        if self.polled.swap(UNPOLLED, Ordering::AcqRel) == LEFT_TO_POLLER {
            if let Some(owner) = self.ring.unlist() {
                self.drive(owner, bounded, u32::MAX, stop);
            }
            return true;
        }
        over()
    }

    /// Waits: runs this stream, helps others, polls, spins, parks.
    pub(super) fn wait_for(
        self: &Arc<Self>,
        done: &dyn Fn() -> bool,
        is_over: &dyn Fn() -> IsOver,
        until: Option<Instant>,
        park: &dyn Fn(Option<Instant>),
    ) -> bool {
        let late = || until.is_some_and(|until| Instant::now() >= until);
        let stop = || done() || late();
        let over = |result: bool| {
            if Pool::has_deferred_wakes() {
                self.pool.flush_wakes(false);
            }
            result
        };
        if self.pool.schedule.is_some() {
            let wait = self.pool.announce(self.number, is_over());
            while !done() && !late() {
                if !self.pool.is_unserved() {
                    park(until);
                } else if Inside::is() || !self.pool.stand_in_scheduled() {
                    let soon = Instant::now() + UNSERVED_PARK;
                    park(Some(until.map_or(soon, |until| until.min(soon))));
                }
            }
            self.pool.waited(wait);
            return done();
        }
        loop {
            // What this thread may not run while it has a time limit is left to the workers, if there are any.
            let bounded = until.is_some() && !self.pool.is_unserved();
            // What was refused once is left to the workers until the stream has moved on.
            let mut refused_at = u64::MAX;
            let mut help = true;
            let mut spin_until = None;
            let mut spinning = None;
            loop {
                if done() {
                    return over(true);
                }
                if late() {
                    return over(false);
                }
                if self.ring.is_queued()
                    && self.ring.completed() != refused_at
                    && let Some(owner) = self.ring.take()
                {
                    spinning = None;
                    if self.drive(owner, bounded, u32::MAX, stop) == DriveOutcome::Refused {
                        refused_at = self.ring.completed();
                    }
                    continue;
                }
                if help && self.pool.has_entries() {
                    spinning = None;
                    help = self.help(stop);
                    continue;
                }
                if Pool::has_deferred_wakes() {
                    self.pool.flush_wakes(false);
                }
                if self.pool.value_poller.any() {
                    self.pool.poll_throttled();
                }
                if let Some(poller) = self.poller() {
                    spinning = None;
                    if self.poll(&*poller, bounded, &stop) {
                        continue;
                    }
                    break;
                }
                if !self.pool.may_spin_waiting() {
                    break;
                }
                let now = Instant::now();
                if now >= *spin_until.get_or_insert(now + SPIN) {
                    break;
                }
                spinning.get_or_insert_with(|| self.pool.spin_waiting());
                for _ in 0..4 {
                    spin_loop();
                }
            }
            drop(spinning);
            if self.pool.is_unserved() {
                self.pool.stand_in();
                let soon = Instant::now() + UNSERVED_PARK;
                park(Some(until.map_or(soon, |until| until.min(soon))));
            } else {
                park(until);
            }
        }
    }

    /// Runs a few tasks of this stream, or of one that it may wait for, as a worker would.
    #[cold]
    pub(super) fn stand_in(self: &Arc<Self>) {
        // A task that asks about its own stream must not run what is behind it.
        if Inside::is() {
            return;
        }
        if self.scheduled {
            self.pool.stand_in_scheduled();
            return;
        }
        self.pool.stand_in();
        if !self.pool.is_unserved() {
            return;
        }
        let left = Cell::new(HELP);
        let stop = || {
            left.set(left.get() - 1);
            left.get() == 0
        };
        match self.ring.take() {
            Some(owner) => {
                self.drive(owner, false, u32::MAX, stop);
            }
            None => {
                self.help(stop);
            }
        }
        if Pool::has_deferred_wakes() {
            self.pool.flush_wakes(false);
        }
    }

    /// Runs tasks of another stream, bounded ones where there are workers for the rest. Returns false if there was none.
    fn help(self: &Arc<Self>, stop: impl Fn() -> bool) -> bool {
        let Some(other) = self.pool.steal(&**self) else {
            return false;
        };
        let bounded = !self.pool.is_unserved();
        other.run(bounded, HELP, &stop) != Some(DriveOutcome::Refused)
    }
}
