//! Who may take parts of a thread's work, and how many threads run something.

use std::cell::Cell;
use std::sync::Arc;

use jumar_hal::sync::Ordering;

use super::{MOVED_NS, NOWHERE, Pool, SHARE_NS, Wanted};
use crate::team::Job;

thread_local! {
    /// This thread is a worker, or runs something large already: it is counted.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
    /// The number of the worker that this thread is, from 1 on; 0 for another thread.
    static WORKER: Cell<u32> = const { Cell::new(0) };
    /// When this thread moved to another processor last.
    static MOVED_AT_NS: Cell<u64> = const { Cell::new(0) };
}

/// Has the calling thread counted as a worker from now on.
pub(super) fn count_worker(number: usize) {
    COUNTED.set(true);
    WORKER.set(number as u32 + 1);
}

/// Counts the calling thread as one that runs something large.
pub(crate) struct Running<'a>(Option<&'a Pool>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(pool) = self.0 {
            COUNTED.set(false);
            pool.callers.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Counts the calling thread as one that spins while it waits.
pub(crate) struct SpinWaiting<'a>(&'a Pool);

impl Drop for SpinWaiting<'_> {
    fn drop(&mut self) {
        self.0.spinners.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pool {
    /// Tells whether others may take parts of what a thread does.
    pub(crate) fn may_share(&self) -> bool {
        self.cpus() > 1 && self.schedule.is_none() && !self.is_stopped()
    }

    /// Counts the threads that run something.
    pub(super) fn running(&self) -> usize {
        self.busy.load(Ordering::Relaxed) + self.callers.load(Ordering::Relaxed)
    }

    /// Tells whether as many threads run something as are to, `own` of them left out.
    pub(crate) fn is_full(&self, own: usize) -> bool {
        self.running().saturating_sub(own) >= self.workers().min(self.cpus())
    }

    /// Counts the calling thread as one that runs something large, unless it is counted already.
    pub(crate) fn run_large(&self) -> Running<'_> {
        self.part_from_others();
        if COUNTED.replace(true) {
            return Running(None);
        }
        self.callers.fetch_add(1, Ordering::Relaxed);
        Running(Some(self))
    }

    /// Moves a worker off the processor on which another thread began something large last.
    fn part_from_others(&self) {
        if self.cpus() < 2 {
            return;
        }
        let Some(here) = self.runner.processor() else {
            return;
        };
        let (me, word) = (WORKER.get(), u64::from(here));
        let before = self
            .large
            .swap(word | u64::from(me) << 32, Ordering::Relaxed);
        let other = before >> 32 != u64::from(me) && before as u32 == here;
        if me != 0 && other && self.running() > 1 {
            self.leave_processor();
        }
    }

    /// Moves the calling worker to another processor, unless it moved lately. Tells whether it did.
    pub(super) fn leave_processor(&self) -> bool {
        let now = self.now_ns();
        if now < MOVED_AT_NS.get().saturating_add(MOVED_NS) {
            return false;
        }
        MOVED_AT_NS.set(now);
        self.runner.leave_processor();
        true
    }

    /// Tells whether work was shared so lately that more is likely to come.
    pub(super) fn shares_soon(&self, now_ns: u64) -> bool {
        now_ns
            < self
                .shared_ns
                .load(Ordering::Relaxed)
                .saturating_add(SHARE_NS)
    }

    /// Tells whether one more worker may burn time: never on the only processor, nor when others have all of them.
    pub(super) fn has_room_to_spin(&self) -> bool {
        self.cpus() > 1 && self.running() + self.spinners.load(Ordering::Relaxed) < self.cpus()
    }

    /// Counts the calling worker as one that burns time, if it may begin or go on to.
    pub(super) fn goes_on_spinning(&self, spinning: &mut bool) -> bool {
        if !*spinning && self.has_room_to_spin() {
            *spinning = true;
            self.spinners.fetch_add(1, Ordering::Relaxed);
        }
        *spinning && self.running() + self.spinners.load(Ordering::Relaxed) <= self.cpus()
    }

    /// Ends what [`Pool::goes_on_spinning`] began.
    pub(super) fn stop_spinning(&self, spinning: &mut bool) {
        if std::mem::take(spinning) {
            self.spinners.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Counts the calling thread as one that spins while it waits: no worker is to spin beside it where that takes its processor.
    pub(crate) fn spin_waiting(&self) -> SpinWaiting<'_> {
        self.spinners.fetch_add(1, Ordering::Relaxed);
        SpinWaiting(self)
    }

    /// Tells whether the thread that shared last did so on the processor that the calling thread runs on now.
    pub(super) fn sharer_is_here(&self) -> bool {
        let there = self.shared_cpu.load(Ordering::Relaxed);
        there != NOWHERE && self.runner.processor() == Some(there)
    }

    /// Lets workers that are free take parts of a job, and wakes one; each wakes the next.
    pub(crate) fn offer(self: &Arc<Self>, job: &Arc<Job>) {
        let now = self.now_ns();
        self.shared_ns.store(now, Ordering::Relaxed);
        let here = self.runner.processor().unwrap_or(NOWHERE);
        self.shared_cpu.store(here, Ordering::Relaxed);
        let alone = now < self.alone_ns.load(Ordering::Relaxed);
        let wanted = {
            let mut inner = self.inner.lock();
            inner.jobs.push(job.clone());
            inner.note_count(self);
            if alone && inner.count == 0 {
                // The thread that shares does all of it if it must.
                return;
            }
            match inner.wanted(self) {
                Wanted::Nobody => inner.napper.clone().map_or(Wanted::Nobody, Wanted::Wake),
                wanted => wanted,
            }
        };
        self.carry_out(wanted);
    }

    /// Takes a job off the list.
    pub(crate) fn withdraw(&self, job: &Arc<Job>) {
        let mut inner = self.inner.lock();
        inner.jobs.retain(|other| !Arc::ptr_eq(other, job));
        inner.note_count(self);
    }
}
