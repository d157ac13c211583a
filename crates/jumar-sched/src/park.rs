//! Parks a thread until another thread wakes it.
//!
//! A parker belongs to one thread, which alone parks on it; anybody may unpark it. It is not the standard library's
//! thread parker: that one belongs to the program, whose own tokens must not be eaten here.

use std::sync::Arc;

use jumar_hal::sync::{AtomicU32, Condvar, Instant, Mutex, Ordering};

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

/// Where one thread sleeps.
pub(crate) struct Parker {
    state: AtomicU32,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Parker {
    pub(crate) fn new() -> Parker {
        Parker {
            state: AtomicU32::new(EMPTY),
            lock: Mutex::new(()),
            condvar: Condvar::new(),
        }
    }

    /// Parks until an unpark, or until a moment; an earlier unpark counts. May return for no reason.
    pub(crate) fn park(&self, until: Option<Instant>) {
        if self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED {
            return;
        }
        let mut guard = self.lock.lock();
        if self
            .state
            .compare_exchange(EMPTY, PARKED, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
        {
            // A swap, not a store: a second notice may have come since the exchange failed. Taking it off without acquiring it
            // would hide what its thread wrote before.
            self.state.swap(EMPTY, Ordering::Acquire);
            return;
        }
        loop {
            match until {
                None => guard = self.condvar.wait(guard),
                Some(until) => {
                    let now = Instant::now();
                    if now < until {
                        guard = self.condvar.wait_for(guard, until - now).0;
                    }
                }
            }
            let late = until.is_some_and(|until| Instant::now() >= until);
            if late || self.state.load(Ordering::Acquire) == NOTIFIED {
                self.state.swap(EMPTY, Ordering::AcqRel);
                return;
            }
        }
    }

    /// Returns whether the thread was woken since it parked last.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_notified(&self) -> bool {
        self.state.load(Ordering::Acquire) == NOTIFIED
    }

    /// Wakes the thread, or lets its next park return at once.
    pub(crate) fn unpark(&self) {
        if self.state.swap(NOTIFIED, Ordering::AcqRel) == PARKED {
            // The parking thread keeps the lock from its mark to its sleep: otherwise the wake-up could fall between.
            drop(self.lock.lock());
            self.condvar.notify_one();
        }
    }
}

/// Returns the calling thread's parker.
#[cfg(not(loom))]
pub(crate) fn mine() -> Arc<Parker> {
    thread_local!(static MINE: Arc<Parker> = Arc::new(Parker::new()));
    // A thread that is ending may wait once more, in a destructor.
    MINE.try_with(Arc::clone)
        .unwrap_or_else(|_| Arc::new(Parker::new()))
}

/// Returns a parker for the calling thread.
#[cfg(loom)]
pub(crate) fn mine() -> Arc<Parker> {
    Arc::new(Parker::new())
}
