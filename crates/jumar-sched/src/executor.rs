//! The executor: one pool of workers, and the queues that it serves.

use std::sync::Arc;

use jumar_hal::sync::{AtomicU64, Ordering, thread};
use jumar_hal::{Queue, QueueConfig, QueueObserver};

use crate::pool::{Cpus, Pool};
use crate::ring::Sizes;
use crate::runner::Runner;
use crate::schedule::Schedule;
use crate::stream::{Handle, Stream};
use crate::team::Team;

/// How an executor is made.
#[derive(Clone, Default)]
pub struct ExecutorConfig {
    /// How many workers it may start; 0 for as many as there are processors, and two at least. None is started before
    /// the first task needs one.
    pub workers: usize,
    /// How many processors it may count on when it decides whether to spin; 0 to ask the system.
    pub cpus: usize,
    /// Who decides what runs next; `None` for the fast path.
    pub schedule: Option<Arc<dyn Schedule>>,
}

/// A pool of workers and the queues that it serves.
///
/// # Ownership
/// Dropping it ends the workers, after the tasks that they are running, and drops the tasks that have not started;
/// signals among them are still set. Queues may outlive it: then only threads that wait run what they wait for.
///
/// # Threads
/// A child made by fork(2) has no workers, whatever the counts say: an executor must not be used there.
pub struct Executor {
    pool: Arc<Pool>,
    queues: AtomicU64,
}

impl Executor {
    /// Makes an executor. Starts no thread.
    pub fn new(config: ExecutorConfig, runner: Arc<dyn Runner>) -> Executor {
        let cpus = match config.cpus {
            0 => runner.processors().map_or_else(count_cpus, Cpus::Most),
            cpus => Cpus::Count(cpus),
        };
        let workers = (config.workers > 0).then_some(config.workers);
        Executor {
            pool: Arc::new(Pool::new(workers, cpus, runner, config.schedule)),
            queues: AtomicU64::new(0),
        }
    }

    /// Returns the workers that may share what the calling thread does.
    pub fn team(&self) -> Team<'_> {
        Team::new(&self.pool)
    }

    /// Reports that the calling thread wrote memory, for the queues that wait for a value there.
    #[inline]
    pub fn wrote(&self, address: usize, bytes: usize) {
        if self.pool.value_poller.any() {
            self.pool.poll_range(address, bytes);
        }
    }

    /// Makes a queue.
    pub fn queue(&self, config: QueueConfig, watcher: Arc<dyn QueueObserver>) -> Arc<dyn Queue> {
        let age = self.queues.fetch_add(1, Ordering::Relaxed);
        let stream = Stream::new(self.pool.clone(), config, age, Sizes::USUAL, watcher);
        let weak = Arc::downgrade(&stream);
        self.pool.adopt(weak);
        Arc::new(Handle(stream))
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        let streams = self.pool.stop();
        self.pool.forget_entries();
        for stream in streams {
            stream.clear_out();
        }
        self.pool.forget_entries();
    }
}

/// Counts the processors that this process may use at a time (affinity, quota).
fn count_cpus() -> Cpus {
    #[cfg(not(loom))]
    return Cpus::Count(thread::available_parallelism().map_or(1, std::num::NonZero::get));
    #[cfg(loom)]
    {
        let _ = thread::current();
        Cpus::Count(2)
    }
}
