//! One piece of work in parts, shared with workers that have nothing to do.
//!
//! A job stands in the pool's list while parts of it have not been taken. A thread takes a part by counting
//! `taken` up, and counts `done` up when it is finished. The thread that brought the job works on it too, takes it off the
//! list when no part is left to take, and waits for those that others are still doing: at most one part's time each. It takes
//! parts from the front, and the others from the back: parts that lie at one end are done by one thread in one job after the
//! other, and find in its caches what it wrote there before.
//!
//! The work is borrowed: it is not called after the last part was counted as done, and the thread that brought it leaves
//! only then, whether parts panicked or not. A job is used again as soon as it has no other reference, so that sharing
//! allocates nothing once as many jobs were made as threads held one at once.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use jumar_hal::sync::{AtomicU64, AtomicUsize, Ordering, spin_loop};
use jumar_hal::unwind;

use crate::park::{self, Parker};
use crate::pool::Pool;

/// How often the thread that brought the job looks without looking at the clock.
const POLLS: usize = 1000;
/// How long it continues looking before it parks: waking it takes longer than most parts do.
#[cfg(not(loom))]
const PATIENCE_NS: u64 = 200_000;
/// In a model time stands still.
#[cfg(loom)]
const PATIENCE_NS: u64 = 0;
/// Who did not run for so long between two looks shares its processor with other programs.
const STOPPED_NS: u64 = 20_000;
/// One part taken from the back, in [`Job::taken`].
const FROM_BACK: u64 = 1 << 32;
/// More parts than the halves of [`Job::taken`] count are not shared.
const MOST_PARTS: usize = 1 << 24;

/// The workers that may take parts of a job.
pub struct Team<'a> {
    pool: &'a Arc<Pool>,
}

/// What is done for each part, without the time for which it is borrowed.
struct Work(*const (dyn Fn(usize) + Sync));

// SAFETY: what it points to may be called by several threads at once (`Sync`), and is alive while parts are left.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

/// Work in parts.
pub(crate) struct Job {
    /// How many parts were taken from the front (low half) and from the back (high half).
    taken: AtomicU64,
    done: AtomicUsize,
    /// How many more workers may join.
    seats: AtomicUsize,
    /// The text of the first panic of a part.
    panicked: OnceLock<String>,
    parts: usize,
    work: Work,
    parker: Arc<Parker>,
}

thread_local! {
    /// Jobs that this thread made earlier.
    static JOBS: RefCell<Vec<Arc<Job>>> = const { RefCell::new(Vec::new()) };
}

impl Job {
    /// Returns whether there are untaken parts, and one more worker may join.
    pub(crate) fn is_open(&self) -> bool {
        let (front, back) = halves(self.taken.load(Ordering::Relaxed));
        front + back < self.parts && self.seats.load(Ordering::Relaxed) > 0
    }

    /// Joins as a worker. Called under the pool's lock, of a job that is open.
    pub(crate) fn join(&self) {
        self.seats.fetch_sub(1, Ordering::Relaxed);
    }

    /// Does parts until none is left to take, those at the back first.
    pub(crate) fn help(&self) {
        self.work(FROM_BACK);
    }

    /// Does parts until none is left to take. `end` is what counts one from the end that they are taken from.
    fn work(&self, end: u64) {
        loop {
            let (front, back) = halves(self.taken.fetch_add(end, Ordering::Relaxed));
            if front + back >= self.parts {
                return;
            }
            let part = match end {
                FROM_BACK => self.parts - 1 - back,
                _ => front,
            };
            let call = || {
                // SAFETY: this part is not done, so that `share_borrowed` has not returned, and it borrows the work for as long.
                unsafe { (*self.work.0)(part) }
            };
            // Nothing may unwind from here: others still call the work that `share_borrowed` lent.
            if let Err(text) = unwind::catch(call) {
                let _ = self.panicked.set(text);
            }
            if self.done.fetch_add(1, Ordering::AcqRel) + 1 == self.parts {
                self.parker.unpark();
            }
        }
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.parts
    }
}

impl<'a> Team<'a> {
    pub(crate) fn new(pool: &'a Arc<Pool>) -> Team<'a> {
        Team { pool }
    }

    /// Returns how many threads [`share_borrowed`](Team::share_borrowed) uses at most.
    pub fn threads(&self) -> usize {
        match self.pool.may_share() {
            true => self.pool.workers(),
            false => 1,
        }
    }

    /// Calls `work` once for each part from 0 on, on this thread and on workers that are free, in no order, and returns
    /// when all calls have returned. `work` must not wait for anything.
    pub fn share(&self, parts: usize, work: Arc<dyn Fn(usize) + Send + Sync>) {
        self.share_among(usize::MAX, parts, &*work);
    }

    /// Does as [`share`](Team::share) with work that is only lent, on as many threads as there are workers, this one
    /// counted. Panics after the last part if one panicked.
    pub fn share_borrowed(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.share_among(self.pool.workers() - 1, parts, work);
    }

    fn share_among(&self, seats: usize, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let _counted = self.pool.run_large();
        // This thread is counted, and does not keep others from helping it.
        if !(2..MOST_PARTS).contains(&parts)
            || seats == 0
            || !self.pool.may_share()
            || self.pool.is_full(0)
        {
            (0..parts).for_each(work);
            return;
        }
        // SAFETY: only the lifetime changes. The work is not called after part `parts - 1` was counted as done, and this
        // function returns after that.
        let work = Work(unsafe {
            std::mem::transmute::<
                *const (dyn Fn(usize) + Sync + '_),
                *const (dyn Fn(usize) + Sync + 'static),
            >(work)
        });
        let job = Job::offered(seats, parts, work);
        self.pool.offer(&job);
        job.work(1);
        self.pool.withdraw(&job);
        self.wait_for(&job);
        let panicked = job.panicked.get().cloned();
        job.keep();
        if let Some(text) = panicked {
            panic!("a part of shared work panicked: {text}");
        }
    }

    /// Waits for the parts that others are still doing.
    fn wait_for(&self, job: &Job) {
        for _ in 0..POLLS {
            if job.is_done() {
                return;
            }
            spin_loop();
        }
        let mut now = self.pool.now_ns();
        let until = now + PATIENCE_NS;
        while !job.is_done() && now < until && !self.pool.has_entries() {
            for _ in 0..8 {
                spin_loop();
            }
            let last = std::mem::replace(&mut now, self.pool.now_ns());
            if now - last > STOPPED_NS {
                // Others want this processor, and need it more.
                break;
            }
        }
        while !job.is_done() {
            job.parker.park(None);
        }
    }
}

/// Returns how many parts were taken from the front and from the back.
fn halves(taken: u64) -> (usize, usize) {
    (
        (taken & (FROM_BACK - 1)) as usize,
        (taken / FROM_BACK) as usize,
    )
}

impl Job {
    /// Creates a job, from an unreferenced one if there is one.
    fn offered(seats: usize, parts: usize, work: Work) -> Arc<Job> {
        let new = |parker| Job {
            taken: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            seats: AtomicUsize::new(seats),
            panicked: OnceLock::new(),
            parts,
            work,
            parker,
        };
        // A thread that is ending may share once more, in a destructor.
        let free = JOBS.try_with(|jobs| {
            let mut jobs = jobs.try_borrow_mut().ok()?;
            let index = jobs
                .iter_mut()
                .position(|job| Arc::get_mut(job).is_some())?;
            Some(jobs.swap_remove(index))
        });
        match free.ok().flatten() {
            Some(mut job) => {
                if let Some(old) = Arc::get_mut(&mut job) {
                    *old = new(old.parker.clone());
                    return job;
                }
                Arc::new(new(park::mine()))
            }
            None => Arc::new(new(park::mine())),
        }
    }

    /// Leaves a job to the next one who shares on this thread.
    fn keep(self: Arc<Self>) {
        let _ = JOBS.try_with(|jobs| {
            if let Ok(mut jobs) = jobs.try_borrow_mut() {
                jobs.push(self);
            }
        });
    }
}
