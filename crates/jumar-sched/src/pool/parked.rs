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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::{Mutex, OnceLock};
    use std::time::Duration;

    use jumar_hal::{Cost, QueueConfig, Span, Transfer};

    use super::super::Cpus;
    use super::*;
    use crate::ring::Sizes;
    use crate::runner::Runner;
    use crate::stream::Stream;
    use crate::team::Team;
    use crate::testing::NoObserver;

    /// Has no thread to give. While the pool asks for one, the only worker falls asleep.
    #[derive(Default)]
    struct NoThread {
        pool: OnceLock<Arc<Pool>>,
        falls_asleep: Mutex<Option<IdleWorker>>,
    }

    impl Runner for NoThread {
        fn copy(&self, _copy: Transfer, _team: &Team<'_>) {}
        fn fill(&self, _to: Span, _value: u8) {}
        fn spawning(&self, _spawn: &mut dyn FnMut()) {
            let idle = self.falls_asleep.lock().unwrap().take();
            let pool = self.pool.get().expect("the pool");
            let mut inner = pool.inner.lock();
            assert_eq!(inner.awake, 1, "the worker that is being started");
            inner.asleep.extend(idle);
        }
    }

    /// Creates a pool with one of two workers, which is busy and falls asleep while the second one cannot be started.
    fn pool() -> (Arc<Pool>, Arc<Parker>) {
        let runner = Arc::new(NoThread::default());
        let pool = Arc::new(Pool::new(Some(2), Cpus::Count(2), runner.clone(), None));
        let parker = Arc::new(Parker::new());
        pool.inner.lock().started = 1;
        *runner.falls_asleep.lock().unwrap() = Some(IdleWorker {
            worker: 0,
            parked: ParkedWorker {
                parker: parker.clone(),
                thread: None,
            },
            deadline: None,
        });
        assert!(runner.pool.set(pool.clone()).is_ok());
        (pool, parker)
    }

    fn stream(pool: &Arc<Pool>) -> Arc<Stream> {
        let config = QueueConfig::default();
        Stream::new(pool.clone(), config, 0, Sizes::USUAL, Arc::new(NoObserver))
    }

    #[test]
    fn a_worker_that_sleeps_is_woken_for_an_entry_if_no_other_could_be_started() {
        let (pool, parker) = pool();
        pool.push(stream(&pool), false, Cost::Bounded);
        assert!(parker.is_notified());
        let inner = pool.inner.lock();
        assert_eq!((inner.awake, inner.started, inner.asleep.len()), (1, 1, 0));
        assert!(!pool.is_unserved());
    }

    #[test]
    fn a_worker_that_sleeps_is_woken_for_a_timer_if_no_other_could_be_started() {
        let (pool, parker) = pool();
        let expiry = Instant::now() + Duration::from_secs(60);
        let _ = pool.add_timer(expiry, stream(&pool));
        assert!(parker.is_notified());
        assert_eq!(pool.inner.lock().asleep.len(), 0);
    }
}

#[cfg(all(test, loom))]
mod model {
    use jumar_hal::sync::thread;
    use jumar_hal::{Cost, QueueConfig};

    use super::super::Cpus;
    use super::*;
    use crate::model::{Alone, TINY, check, nothing, tag};
    use crate::stream::Stream;
    use crate::testing::NoObserver;

    /// A stream is pushed while the only worker ends its work. The pool may ask for a second worker, which the system does not give;
    /// a worker that fell asleep meanwhile and is not woken leaves the model without a thread that can run.
    #[test]
    fn loom_the_only_worker_runs_what_is_pushed_while_a_second_one_cannot_be_started() {
        check(|| {
            let pool = Arc::new(Pool::new(Some(2), Cpus::Count(2), Arc::new(Alone), None));
            pool.inner.lock().started = 1;
            let [stream, another] = [0, 1].map(|age| {
                let config = QueueConfig::default();
                Stream::new(pool.clone(), config, age, TINY, Arc::new(NoObserver))
            });
            let worker = {
                let (pool, another) = (pool.clone(), another.clone());
                thread::spawn(move || {
                    let parker = Arc::new(Parker::new());
                    pool.inner.lock().awake += 1;
                    loop {
                        pool.sleep(0, &parker, &mut false);
                        if let Some(found) = pool.steal(&*another) {
                            return found.run(false, u32::MAX, &|| false);
                        }
                        thread::yield_now();
                    }
                })
            };
            let pushed = stream.ring.enter(false).expect("there is space");
            assert!(pushed.push(tag(0), nothing()).list);
            pool.push(stream.clone(), false, Cost::Bounded);
            worker.join().unwrap();
            assert_eq!(stream.ring.completed(), 1);
            pool.forget_entries();
        });
    }
}
