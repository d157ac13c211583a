//! How a worker falls asleep, and how it is woken.

use std::sync::Arc;

use jumar_hal::sync::Instant;

use super::Pool;
use crate::park::Parker;

/// A worker that sleeps.
pub(super) struct IdleWorker {
    worker: usize,
    pub(super) parked: ParkedWorker,
    pub(super) deadline: Option<Instant>,
}

/// Where a worker sleeps.
#[derive(Clone)]
pub(super) struct ParkedWorker {
    pub(super) parker: Arc<Parker>,
    /// The number by which the system knows the worker.
    pub(super) thread: Option<u32>,
}

impl Pool {
    /// Wakes a worker that sleeps, on another processor than that of the calling thread, which continues with something else: the worker would
    /// wait there for the end of its time slice. The processor on which it slept does not matter. In a virtual machine the system takes an idle processor
    /// for one that is not to be had, and wakes a thread beside its waker though it slept elsewhere.
    #[cold]
    pub(super) fn wake_on_other_cpu(&self, parked: &ParkedWorker) {
        match parked.thread {
            Some(thread) if self.allowed_cpus > 1 => {
                self.runner
                    .wake_elsewhere(thread, &mut || parked.parker.unpark());
            }
            _ => parked.parker.unpark(),
        }
    }

    /// Falls asleep, unless no other worker is awake and there is work. The last one serves the first timer.
    pub(super) fn sleep(
        self: &Arc<Self>,
        number: usize,
        parker: &Arc<Parker>,
        in_timed_park: &mut bool,
    ) {
        let deadline = {
            let mut inner = self.inner.lock();
            if inner.stopped || (inner.awake == 1 && inner.has_work(self)) {
                // Entries without a worker are removed by the next polls.
                drop(inner);
                Self::relax();
                return;
            }
            if std::mem::take(in_timed_park) {
                inner.timed_worker = None;
            }
            inner.awake -= 1;
            let deadline = match inner.awake {
                0 => inner
                    .timers
                    .first_key_value()
                    .map(|((expiry, _), _)| *expiry),
                _ => None,
            };
            inner.asleep.push(IdleWorker {
                worker: number,
                parked: ParkedWorker {
                    parker: parker.clone(),
                    thread: self.runner.thread(),
                },
                deadline,
            });
            deadline
        };
        loop {
            parker.park(deadline);
            let mut inner = self.inner.lock();
            let Some(index) = inner.asleep.iter().position(|idle| idle.worker == number) else {
                return;
            };
            // Not woken by anybody: a timer is due, or the park returned for no reason.
            if inner.stopped || deadline.is_some_and(|expiry| expiry <= Instant::now()) {
                inner.asleep.swap_remove(index);
                inner.awake += 1;
                return;
            }
        }
    }
}
