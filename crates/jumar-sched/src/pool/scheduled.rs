//! A worker whose next task somebody else chooses.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{Instant, Ordering};

use super::{ASK, Entry, NEVER, Pool};
use crate::park::Parker;
use crate::schedule::Schedule;
use crate::stream::Stream;

impl Pool {
    /// Runs tasks one by one as a schedule says.
    pub(super) fn run_scheduled(self: &Arc<Self>, schedule: &dyn Schedule, number: usize) {
        let parker = Arc::new(Parker::new());
        self.inner.lock().napper = Some(parker.clone());
        let _ = number;
        while !self.is_stopped() {
            let mut inner = self.inner.lock();
            if inner.fire(self) {
                drop(inner);
                self.poll_on_timer();
                inner = self.inner.lock();
            }
            let mut runnable: Vec<Arc<Stream>> = Vec::new();
            let mut stale = Vec::new();
            for list in &mut inner.lists {
                for entry in std::mem::take(list) {
                    if entry.stream.ring.is_queued() {
                        runnable.push(entry.stream)
                    } else {
                        stale.push(entry.stream)
                    }
                }
            }
            runnable.sort_by_key(|stream| (stream.number, stream.age));
            let numbers: Vec<u32> = runnable.iter().map(|stream| stream.number).collect();
            drop(inner);
            let picked = if numbers.is_empty() {
                None
            } else {
                schedule.next(&numbers, &self.waited_for())
            };
            let picked = picked
                .filter(|index| *index < runnable.len())
                .map(|index| runnable.remove(index));
            let idle = picked.is_none();
            // Nobody else takes streams here, so that those that were queued still are.
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
            for stream in stale.into_iter().chain(picked) {
                if let Some(owner) = stream.ring.unlist() {
                    stream.drive(owner, false, 1, || self.is_stopped());
                }
            }
            if idle {
                let timer = self.first_timer_ns.load(Ordering::Relaxed);
                let waiting = !numbers.is_empty();
                let until = (timer != NEVER || waiting).then(|| {
                    let due = Duration::from_nanos(timer.saturating_sub(self.now_ns()));
                    Instant::now() + if waiting { due.min(ASK) } else { due }
                });
                parker.park(until);
            }
        }
    }
}
