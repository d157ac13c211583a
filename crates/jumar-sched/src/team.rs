//! One piece of work in parts, shared with workers that have nothing to do.
//!
//! A job stands in the pool's list while parts of it have not been taken. Whoever takes a part takes it by counting
//! `next` up, and counts `done` up when it is finished. The thread that brought the job works on it too, takes it off the
//! list when no part is left to take, and waits for those that others are still doing: at most one part's time each.

use std::sync::Arc;

use jumar_hal::sync::{AtomicUsize, Ordering, spin_loop};

use crate::park::{self, Parker};
use crate::pool::Pool;

/// How often the thread that brought the job looks before it parks.
const LOOKS: usize = 1000;

/// The workers that may take parts of a job.
pub struct Team<'a> {
    pool: &'a Arc<Pool>,
}

/// Work in parts.
pub(crate) struct Job {
    next: AtomicUsize,
    done: AtomicUsize,
    parts: usize,
    work: Arc<dyn Fn(usize) + Send + Sync>,
    parker: Arc<Parker>,
}

impl Job {
    /// Tells whether there are parts that nobody has taken.
    pub(crate) fn is_open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.parts
    }

    /// Does parts until none is left to take.
    pub(crate) fn work(&self) {
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts {
                return;
            }
            (self.work)(part);
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

    /// Calls `work` once for each part from 0 on, on this thread and on workers that are free, in no order, and returns
    /// when all calls have returned. `work` must not panic and must not wait for anything.
    pub fn share(&self, parts: usize, work: Arc<dyn Fn(usize) + Send + Sync>) {
        if parts < 2 || !self.pool.may_share() {
            (0..parts).for_each(|part| work(part));
            return;
        }
        let job = Arc::new(Job {
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            parts,
            work,
            parker: park::mine(),
        });
        self.pool.offer(&job);
        job.work();
        self.pool.withdraw(&job);
        let mut looks = 0;
        while !job.is_done() {
            looks += 1;
            if looks < LOOKS {
                spin_loop();
            } else {
                job.parker.park(None);
            }
        }
    }
}
