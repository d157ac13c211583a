//! Keeps executions and the release of a model's memory apart.
//!
//! An unload waits for the executions that were submitted to the model. It does not know the executions of captured models: those
//! are queued by the captured model, on any stream and at any time. So each execution enters here when it begins to run, and an
//! unload closes the entrance and waits until the last one has left, before it frees the weights and the work memory.

use jumar_core::sync::{AtomicU32, Condvar, Mutex, Ordering};

/// The bit of [`Usage::state`] that refuses new executions. The others count those that run.
const CLOSED: u32 = 1 << 31;

/// Counts the executions of a model that run.
#[derive(Default)]
pub(super) struct Usage {
    state: AtomicU32,
    lock: Mutex<()>,
    left: Condvar,
}

/// An execution that runs. The model's memory stays until this is dropped.
pub(super) struct InUse<'a>(&'a Usage);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Usage {
    /// Marks the beginning of an execution; `None` after [`Usage::close`].
    pub(super) fn enter(&self) -> Option<InUse<'_>> {
        // Counted before the look, so that a close either sees the count or is seen here.
        if self.state.fetch_add(1, Ordering::AcqRel) & CLOSED != 0 {
            self.leave();
            return None;
        }
        Some(InUse(self))
    }

    fn leave(&self) {
        if self.state.fetch_sub(1, Ordering::AcqRel) == CLOSED | 1 {
            // The closing thread holds the lock from its look at the count until it sleeps.
            drop(self.lock.lock());
            self.left.notify_all();
        }
    }

    /// Returns whether executions are refused.
    pub(super) fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Refuses executions from now on, and waits for those that run.
    pub(super) fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
        let mut guard = self.lock.lock();
        while self.state.load(Ordering::Acquire) != CLOSED {
            guard = self.left.wait(guard);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc;

    use jumar_core::sync::thread;

    use super::*;

    #[test]
    fn a_close_waits_for_what_runs_and_refuses_what_comes() {
        let usage = Arc::new(Usage::default());
        let running = usage.enter().expect("open");
        let (closed, closes) = mpsc::channel();
        let closing = {
            let usage = usage.clone();
            thread::spawn(move || {
                usage.close();
                closed.send(()).expect("a receiver");
            })
        };
        while !usage.is_closed() {
            thread::yield_now();
        }
        assert!(usage.enter().is_none());
        // The close cannot have returned: an execution runs.
        assert!(closes.try_recv().is_err());
        drop(running);
        closing.join().expect("no panic");
        assert!(closes.try_recv().is_ok());
        assert!(usage.enter().is_none());
    }
}
