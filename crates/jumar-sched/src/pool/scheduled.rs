//! An executor whose next task a schedule chooses: one worker runs the tasks one at a time.
//!
//! Where the system has no thread for the worker, the threads that wait or poll take its turns ([`Pool::stand_in_scheduled`]).

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{Instant, Ordering};

use super::{ASK, Entry, NEVER, Pool};
use crate::park::Parker;
use crate::runnable::Runnable;
use crate::schedule::Schedule;

/// What one turn did.
enum RunOutcome {
    /// It ran a task.
    Ran,
    /// Another thread has the turn.
    Busy,
    /// The schedule chose nothing; whether a stream could run.
    Idle { runnable: bool },
}

/// The right to run tasks of a scheduled executor, which one thread at a time has.
struct RunGuard<'a>(&'a Pool);

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        self.0.has_turn.store(false, Ordering::Release);
    }
}

impl Pool {
    /// Runs tasks one by one as a schedule says.
    pub(super) fn run_scheduled(self: &Arc<Self>, schedule: &dyn Schedule) {
        let parker = Arc::new(Parker::new());
        self.inner.lock().timed_worker = Some(parker.clone());
        while !self.is_stopped() {
            let ask_again = match self.take_turn(schedule) {
                RunOutcome::Ran => continue,
                RunOutcome::Busy => true,
                RunOutcome::Idle { runnable } => runnable,
            };
            let timer = self.first_timer_ns.load(Ordering::Relaxed);
            let until = (timer != NEVER || ask_again).then(|| {
                let remaining = Duration::from_nanos(timer.saturating_sub(self.now_ns()));
                Instant::now()
                    + if ask_again {
                        remaining.min(ASK)
                    } else {
                        remaining
                    }
            });
            parker.park(until);
        }
    }

    /// Takes one turn on a thread that waits or polls, because the system has no thread for a worker. Returns whether it ran a task.
    #[cold]
    pub(crate) fn stand_in_scheduled(self: &Arc<Self>) -> bool {
        // Tries once more to start the worker.
        self.flush_wakes(false);
        match &self.schedule {
            Some(schedule) if self.is_unserved() => {
                matches!(self.take_turn(&**schedule), RunOutcome::Ran)
            }
            _ => false,
        }
    }

    /// Runs the next task that the schedule chooses. No lock is held while it runs.
    fn take_turn(self: &Arc<Self>, schedule: &dyn Schedule) -> RunOutcome {
        if self.has_turn.swap(true, Ordering::Acquire) {
            return RunOutcome::Busy;
        }
        let _turn = RunGuard(self);
        let mut inner = self.inner.lock();
        if inner.fire(self) {
            drop(inner);
            self.poll_on_timer();
            inner = self.inner.lock();
        }
        let mut runnable: Vec<Arc<dyn Runnable>> = Vec::new();
        let mut stale = Vec::new();
        for list in &mut inner.lists {
            for entry in std::mem::take(list) {
                if entry.stream.is_queued() {
                    runnable.push(entry.stream)
                } else {
                    stale.push(entry.stream)
                }
            }
        }
        runnable.sort_by_key(|stream| (stream.number(), stream.age()));
        let numbers: Vec<u32> = runnable.iter().map(|stream| stream.number()).collect();
        drop(inner);
        let chosen = if numbers.is_empty() {
            None
        } else {
            schedule.next(&numbers, &self.waited_for())
        };
        let chosen = chosen
            .filter(|index| *index < runnable.len())
            .map(|index| runnable.remove(index));
        let idle = chosen.is_none();
        // No other thread takes streams here, so that those that were queued still are.
        let mut inner = self.inner.lock();
        inner.count -= stale.len() + usize::from(!idle);
        for stream in runnable {
            inner.lists[0].push_back(Entry {
                stream,
                hot: true,
                seen_ns: 0,
                done: 0,
                cpu: None,
            });
        }
        drop(inner);
        for stream in stale.into_iter().chain(chosen) {
            stream.run(false, 1, &|| self.is_stopped());
        }
        match idle {
            true => RunOutcome::Idle {
                runnable: !numbers.is_empty(),
            },
            false => RunOutcome::Ran,
        }
    }
}
