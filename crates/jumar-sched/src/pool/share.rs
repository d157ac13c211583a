//! Who may take parts of a thread's work, and how many threads run something.

use std::cell::Cell;
use std::sync::Arc;

use jumar_hal::sync::Ordering;

use super::{MOVED_NS, NOWHERE, Pool, SHARE_NS, WakeRequest};
use crate::team::Job;

thread_local! {
    /// This thread is a worker, or runs something large already: it is counted.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
    /// The number of the worker that this thread is, from 1 on; 0 for another thread.
    static WORKER: Cell<u32> = const { Cell::new(0) };
    /// When this thread moved to another processor last; 0 if it never did.
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
    /// Returns whether others may take parts of what a thread does.
    pub(crate) fn may_share(&self) -> bool {
        self.cpus() > 1 && self.schedule.is_none() && !self.is_stopped()
    }

    /// Returns how many workers there may be.
    pub(crate) fn workers(&self) -> usize {
        self.workers.unwrap_or_else(|| self.cpus().max(2))
    }

    /// Returns whether [`Pool::workers`] reads no files.
    pub(super) fn knows_workers(&self) -> bool {
        self.workers.is_some() || self.cpus.get().is_some()
    }

    /// Returns how many processors may be used at a time.
    #[inline]
    pub(super) fn cpus(&self) -> usize {
        match self.cpus.get() {
            Some(cpus) => *cpus,
            None => self.count_cpus(),
        }
    }

    #[cold]
    fn count_cpus(&self) -> usize {
        *self.cpus.get_or_init(|| {
            let most = self.runner.processor_time().unwrap_or(usize::MAX);
            self.allowed_cpus.min(most).max(1)
        })
    }

    /// Returns whether fresh entries are left alone for a while. The first of them is not to wait for a count of processors.
    pub(super) fn has_grace(&self) -> bool {
        self.cpus.get().is_none_or(|cpus| *cpus > 1)
    }

    /// Counts the threads that run something.
    pub(super) fn running(&self) -> usize {
        self.busy.load(Ordering::Relaxed) + self.callers.load(Ordering::Relaxed)
    }

    /// Returns whether as many threads run something as are to, `own` of them left out.
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

    /// Moves the calling worker to another processor, unless it moved lately. Returns whether it did.
    pub(super) fn leave_processor(&self) -> bool {
        let now = self.now_ns();
        let last = MOVED_AT_NS.get();
        if last != 0 && now < last.saturating_add(MOVED_NS) {
            return false;
        }
        MOVED_AT_NS.set(now);
        self.runner.leave_processor();
        true
    }

    /// Moves a worker that is about to rest off the processor on which the program queues its work. At the end of its rest it would
    /// wait there for the end of a time slice, while that thread continues.
    pub(super) fn leave_pusher(&self) {
        let there = self.pushed_cpu.load(Ordering::Relaxed);
        if there != NOWHERE && self.allowed_cpus > 1 && self.runner.processor() == Some(there) {
            self.leave_processor();
        }
    }

    /// Returns whether work was shared so lately that more is likely to come.
    pub(super) fn shares_soon(&self, now_ns: u64) -> bool {
        now_ns
            < self
                .shared_ns
                .load(Ordering::Relaxed)
                .saturating_add(SHARE_NS)
    }

    /// Returns whether one more worker may burn time: never on the only processor, nor when others have all of them.
    pub(super) fn may_spin(&self) -> bool {
        self.cpus() > 1 && self.running() + self.spinners.load(Ordering::Relaxed) < self.cpus()
    }

    /// Counts the calling worker as one that burns time, if it may begin or continue to.
    pub(super) fn goes_on_spinning(&self, spinning: &mut bool) -> bool {
        if !*spinning && self.may_spin() {
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

    /// Returns whether the thread that shared last did so on the processor that the calling thread runs on now.
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
                WakeRequest::Nobody => inner
                    .timed_worker
                    .clone()
                    .map_or(WakeRequest::Nobody, WakeRequest::Wake),
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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicU32, AtomicUsize};

    use jumar_hal::{Call, Cost, Program, Queue, QueueConfig, Span, Tag, Task, Transfer};
    use jumar_types::Error;

    use super::super::Cpus;
    use super::super::parked::ParkedWorker;
    use super::*;
    use crate::park::Parker;
    use crate::ring::Sizes;
    use crate::runner::Runner;
    use crate::stream::{Handle, Stream};
    use crate::team::Team;
    use crate::testing::NoObserver;

    /// Reports the configured processor, and counts the calls.
    #[derive(Default)]
    struct FakePlacement {
        here: AtomicU32,
        woken_elsewhere: AtomicU32,
        left: AtomicUsize,
        counted: AtomicUsize,
    }

    struct FakeCpuSource(Arc<FakePlacement>);

    impl Runner for FakeCpuSource {
        fn copy(&self, _copy: Transfer, _team: &Team<'_>) {}
        fn fill(&self, _to: Span, _value: u8) {}
        fn processor(&self) -> Option<u32> {
            Some(self.0.here.load(Ordering::Relaxed))
        }
        fn processor_time(&self) -> Option<usize> {
            self.0.counted.fetch_add(1, Ordering::Relaxed);
            Some(3)
        }
        fn leave_processor(&self) {
            self.0.left.fetch_add(1, Ordering::Relaxed);
        }
        fn wake_elsewhere(&self, thread: u32, wake: &mut dyn FnMut()) {
            self.0.woken_elsewhere.fetch_add(thread, Ordering::Relaxed);
            wake();
        }
    }

    fn pool(placement: &Arc<FakePlacement>, cpus: Cpus) -> Pool {
        Pool::new(None, cpus, Arc::new(FakeCpuSource(placement.clone())), None)
    }

    #[test]
    fn a_worker_is_woken_elsewhere_where_there_is_another_processor() {
        let placement = Arc::new(FakePlacement::default());
        for (cpus, thread, elsewhere) in [(2, Some(100), 100), (2, None, 0), (1, Some(100), 0)] {
            placement.woken_elsewhere.store(0, Ordering::Relaxed);
            let parked = ParkedWorker {
                parker: Arc::new(Parker::new()),
                thread,
            };
            pool(&placement, Cpus::Most(cpus)).wake_on_other_cpu(&parked);
            let woken = placement.woken_elsewhere.load(Ordering::Relaxed);
            assert_eq!(woken, elsewhere, "{cpus} processors, thread {thread:?}");
            // It was notified either way, or this would not return.
            parked.parker.park(None);
        }
    }

    /// A program that takes long.
    struct Long {
        awaited: bool,
    }

    impl Program for Long {
        fn run(&self) -> Result<(), Error> {
            Ok(())
        }

        fn cost(&self) -> Cost {
            Cost::Large
        }

        fn is_awaited(&self) -> bool {
            self.awaited
        }

        fn name(&self) -> &str {
            "long"
        }
    }

    #[test]
    fn a_program_that_its_submitter_awaits_wakes_no_worker_in_timed_park() {
        static CALL: Call = Call {
            name: "test",
            number: 0,
        };
        let tag = Tag {
            ticket: 0,
            call: &CALL,
        };
        // Into an empty run queue, and to a stream that is in it already.
        for (tasks, awaited, woken) in [(1, true, false), (2, true, false), (1, false, true)] {
            let pool = Arc::new(pool(&Arc::default(), Cpus::Count(2)));
            let parker = Arc::new(Parker::new());
            {
                let mut inner = pool.inner.lock();
                (inner.started, inner.awake) = (1, 1);
                inner.timed_worker = Some(parker.clone());
            }
            let observer = Arc::new(NoObserver);
            let stream = Stream::new(
                pool.clone(),
                QueueConfig::default(),
                0,
                Sizes::USUAL,
                observer,
            );
            let queue = Handle(stream);
            for _ in 0..tasks {
                queue.submit(Task::Run(Arc::new(Long { awaited })), tag);
            }
            assert_eq!(parker.is_notified(), woken, "awaited: {awaited}");
            queue.submit_run(Arc::new(Long { awaited: false }), tag);
            assert!(parker.is_notified(), "another thread may run it at once");
            assert!(queue.wait(tasks + 1, None));
        }
    }

    #[test]
    fn a_worker_does_not_rest_where_the_program_queues() {
        for (cpus, rests, leaves) in [(2, 0, 1), (2, 1, 0), (1, 0, 0)] {
            let placement = Arc::new(FakePlacement::default());
            let pool = pool(&placement, Cpus::Most(cpus));
            pool.leave_pusher();
            assert_eq!(
                placement.left.load(Ordering::Relaxed),
                0,
                "nothing queued yet"
            );
            pool.pushed_cpu.store(0, Ordering::Relaxed);
            placement.here.store(rests, Ordering::Relaxed);
            // A thread moves once in a while only: another for each case.
            std::thread::scope(|scope| {
                scope.spawn(|| pool.leave_pusher());
            });
            let left = placement.left.load(Ordering::Relaxed);
            assert_eq!(left, leaves, "{cpus} processors, rests on {rests}");
        }
    }

    #[test]
    fn no_worker_spins_where_threads_that_wait_have_all_processors() {
        let placement = Arc::new(FakePlacement::default());
        let pool = pool(&placement, Cpus::Count(2));
        let mut worker = false;
        assert!(pool.goes_on_spinning(&mut worker));
        let one = pool.spin_waiting();
        assert!(pool.goes_on_spinning(&mut worker));
        let two = pool.spin_waiting();
        assert!(!pool.goes_on_spinning(&mut worker));
        pool.stop_spinning(&mut worker);
        assert!(!pool.may_spin());
        drop((one, two));
        assert!(pool.may_spin());
    }

    #[test]
    fn processors_are_not_counted_under_the_lock_of_the_run_queue() {
        let placement = Arc::new(FakePlacement::default());
        let pool = pool(&placement, Cpus::Most(8));
        let counted = || placement.counted.load(Ordering::Relaxed);
        {
            let mut inner = pool.inner.lock();
            // One worker, busy, and another entry in the run queue.
            (inner.started, inner.count) = (1, 1);
            assert!(matches!(inner.wanted(&pool), WakeRequest::Count));
            assert_eq!(counted(), 0);
        }
        assert_eq!(pool.cpus(), 3);
        let mut inner = pool.inner.lock();
        assert!(matches!(inner.wanted(&pool), WakeRequest::Start(1)));
        assert_eq!(counted(), 1);
    }

    #[test]
    fn processors_are_counted_when_somebody_asks_and_once() {
        let placement = Arc::new(FakePlacement::default());
        let pool = pool(&placement, Cpus::Most(8));
        assert_eq!(placement.counted.load(Ordering::Relaxed), 0);
        assert_eq!((pool.cpus(), pool.workers(), pool.cpus()), (3, 3, 3));
        assert_eq!(placement.counted.load(Ordering::Relaxed), 1);
    }
}
