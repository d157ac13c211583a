//! A latch that orders queues among each other and against the host.
//!
//! States of one signal, all in `state`: clear or set. A queue that has to wait registers itself as a [`Waiter`]
//! and gives up its worker; whoever sets the signal takes the list out and tells each waiter. A waiter that
//! registers while the signal is being set is told by the return value of [`Signal::register`]: the list's lock
//! orders the two. Time stamps are written before the state and are valid once the signal was seen set.

use std::sync::Arc;

use crate::sync::{AtomicU64, Mutex, Ordering, now_ns};

/// A latch: clear or set, with the time of the last set.
pub struct Signal {
    /// 0 while clear; otherwise the time of the last set in nanoseconds, at least 1.
    stamp: AtomicU64,
    waiters: Mutex<Vec<Arc<dyn Waiter>>>,
}

/// Somebody who wants to know when a signal is set.
pub trait Waiter: Send + Sync {
    /// Tells that the signal was set. Must be quick and must not submit to the queue that is being run.
    fn signalled(self: Arc<Self>);
}

impl Default for Signal {
    fn default() -> Self {
        Self::new()
    }
}

impl Signal {
    /// Makes a clear signal.
    pub fn new() -> Self {
        Signal {
            stamp: AtomicU64::new(0),
            waiters: Mutex::new(Vec::new()),
        }
    }

    /// Tells whether the signal is set.
    pub fn is_set(&self) -> bool {
        self.stamp.load(Ordering::Acquire) != 0
    }

    /// Gives the time of the last set, while the signal is set.
    ///
    /// # Units
    /// Nanoseconds on the monotonic clock of [`now_ns`].
    pub fn stamp_ns(&self) -> Option<u64> {
        match self.stamp.load(Ordering::Acquire) {
            0 => None,
            stamp => Some(stamp),
        }
    }

    /// Sets the signal and tells everybody who waits. The waiters are told after the lock is released.
    pub fn set(&self) {
        let told = {
            let mut waiters = self.waiters.lock();
            self.stamp.store(now_ns().max(1), Ordering::SeqCst);
            std::mem::take(&mut *waiters)
        };
        for waiter in told {
            waiter.signalled();
        }
    }

    /// Clears the signal. Whoever waits goes on waiting.
    pub fn clear(&self) {
        let _order = self.waiters.lock();
        self.stamp.store(0, Ordering::SeqCst);
    }

    /// Clears the signal if it is set, and tells whether it was: the step of a semaphore's wait.
    pub fn take(&self) -> bool {
        let _order = self.waiters.lock();
        self.stamp.swap(0, Ordering::SeqCst) != 0
    }

    /// Registers a waiter, unless the signal is set already. Returns whether it was registered.
    pub fn register(&self, waiter: Arc<dyn Waiter>) -> bool {
        let mut waiters = self.waiters.lock();
        if self.stamp.load(Ordering::SeqCst) != 0 {
            return false;
        }
        waiters.push(waiter);
        true
    }

    /// Counts who waits now.
    pub fn waiters(&self) -> usize {
        self.waiters.lock().len()
    }

    /// Takes a waiter off the list, by identity. Returns whether it was there.
    pub fn forget(&self, waiter: &Arc<dyn Waiter>) -> bool {
        self.forget_at(Arc::as_ptr(waiter).cast())
    }

    /// Takes a waiter off the list, by its address. Returns whether it was there.
    pub fn forget_at(&self, waiter: *const ()) -> bool {
        // Dropped after the lock is released: it may be the last reference.
        let forgotten: Vec<_> = {
            let mut waiters = self.waiters.lock();
            waiters
                .extract_if(.., |other| std::ptr::addr_eq(Arc::as_ptr(other), waiter))
                .collect()
        };
        !forgotten.is_empty()
    }
}
