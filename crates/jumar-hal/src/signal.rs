//! A latch that orders queues among each other and against the host.
//!
//! States of one signal, all in `word`: clear or set (with the time of the set), and while it is clear, whether
//! there are waiters. A queue that has to wait registers itself as a [`Waiter`] and releases its worker. Without waiters
//! every change is one compare-and-swap. With waiters the list is locked while the word changes: the thread that sets
//! the signal takes the list out in the same step and notifies each waiter afterwards, and a waiter that comes too
//! late is informed by [`Signal::register`]. A signal that is set has no waiters.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::SpinLock;
use crate::sync::{AtomicU64, Ordering, now_ns};

/// A latch: clear or set, with the time of the last set.
pub struct Signal {
    /// Twice the time of the last set (at least 1 ns) while set, or `UNTIMED`; 0 or `WAITED` while clear.
    word: AtomicU64,
    waiters: SpinLock<Waiters>,
    timed: bool,
    poller: Option<Arc<dyn Poller>>,
}

/// Those who wait for a signal: one most often.
pub type Waiters = SmallVec<[Arc<dyn Waiter>; 1]>;

/// Set in the word while the list of waiters is not empty.
const WAITED: u64 = 1;
/// The word of a signal that is set and keeps no time. The clock never reads as little.
const UNTIMED: u64 = 2;

/// A waiter for a signal.
pub trait Waiter: Send + Sync {
    /// Called when the signal was set. Must be quick and must not submit to the queue that is being run.
    fn signalled(self: Arc<Self>);
}

/// What brings a signal about that other threads or processes are to set soon. A thread that waits for a queue polls it for a
/// while before it sleeps: waking a thread takes longer than the others most often need.
pub trait Poller: Send + Sync {
    /// Polls until `goes_on` returns false. Its argument is whether the last poll had any effect. Leaves the processor to other
    /// threads between two polls.
    fn poll_while(&self, goes_on: &mut dyn FnMut(bool) -> bool);
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
            word: AtomicU64::new(0),
            waiters: SpinLock::default(),
            timed: true,
            poller: None,
        }
    }

    /// Makes a clear signal that keeps no time: reading the clock is half of what a set costs.
    pub fn untimed() -> Self {
        Signal {
            timed: false,
            ..Signal::new()
        }
    }

    /// As [`Signal::untimed`], for a signal that a waiting thread polls for.
    pub fn polled(poller: Arc<dyn Poller>) -> Self {
        Signal {
            poller: Some(poller),
            ..Signal::untimed()
        }
    }

    /// Returns what a waiting thread polls.
    pub fn poller(&self) -> Option<&Arc<dyn Poller>> {
        self.poller.as_ref()
    }

    /// Returns whether the signal is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.word.load(Ordering::Acquire) > WAITED
    }

    /// Returns the time of the last set, while the signal is set and if it keeps time.
    ///
    /// # Units
    /// Nanoseconds on the monotonic clock of [`now_ns`].
    pub fn stamp_ns(&self) -> Option<u64> {
        match self.word.load(Ordering::Acquire) {
            0 | WAITED | UNTIMED => None,
            word => Some(word / 2),
        }
    }

    /// Sets the signal and notifies all waiters, after the lock is released.
    #[inline]
    pub fn set(&self) {
        for waiter in self.set_quietly() {
            waiter.signalled();
        }
    }

    /// Sets the signal and returns its waiters. The caller notifies them once it holds no lock that they could need.
    #[inline]
    #[must_use = "the waiters have to be notified"]
    pub fn set_quietly(&self) -> Waiters {
        let set = match self.timed {
            true => now_ns().max(2) * 2,
            false => UNTIMED,
        };
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen != WAITED {
            match self
                .word
                .compare_exchange_weak(seen, set, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return Waiters::new(),
                Err(now) => seen = now,
            }
        }
        self.set_and_take(set)
    }

    #[cold]
    fn set_and_take(&self, set: u64) -> Waiters {
        let mut waiters = self.waiters.lock();
        self.word.swap(set, Ordering::AcqRel);
        std::mem::take(&mut *waiters)
    }

    /// Clears a signal without other references: a signal that is set has no waiters, and no other thread can set it.
    #[inline]
    pub fn renew(&self) {
        self.word.store(0, Ordering::Relaxed);
    }

    /// Clears the signal. Waiters keep waiting.
    #[inline]
    pub fn clear(&self) {
        self.take();
    }

    /// Clears the signal if it is set. Returns whether it was: the step of a semaphore's wait.
    #[inline]
    pub fn take(&self) -> bool {
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen > WAITED {
            match self
                .word
                .compare_exchange_weak(seen, 0, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Registers a waiter, unless the signal is set already. Returns whether it was registered.
    pub fn register(&self, waiter: Arc<dyn Waiter>) -> bool {
        let mut waiters = self.waiters.lock();
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen <= WAITED {
            match self
                .word
                .compare_exchange_weak(seen, WAITED, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => {
                    waiters.push(waiter);
                    return true;
                }
                Err(now) => seen = now,
            }
        }
        // A thread that finds the signal set also sees what happened before the set.
        self.word.load(Ordering::Acquire);
        false
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
        // Who sets the signal takes the list with the same step, and notifies all that are on it.
        if self.word.load(Ordering::Acquire) != WAITED {
            return false;
        }
        // Dropped after the lock is released: it may be the last reference.
        let forgotten = {
            let mut waiters = self.waiters.lock();
            // A queue registers once at a time.
            let at = waiters
                .iter()
                .position(|other| std::ptr::addr_eq(Arc::as_ptr(other), waiter));
            let forgotten = at.map(|at| waiters.remove(at));
            if waiters.is_empty() {
                // A signal that is set has no waiters, and then this changes nothing.
                self.word.fetch_and(!WAITED, Ordering::AcqRel);
            }
            forgotten
        };
        forgotten.is_some()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::AtomicUsize;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Waiter for Count {
        fn signalled(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_set_signal_has_a_time_and_no_waiters() {
        let signal = Signal::new();
        assert_eq!(signal.stamp_ns(), None);
        let before = now_ns();
        signal.set();
        let stamp = signal.stamp_ns().expect("is set");
        assert!((before..=now_ns()).contains(&stamp));
        assert!(!signal.register(Arc::new(Count::default())));
        signal.clear();
        assert_eq!((signal.is_set(), signal.stamp_ns()), (false, None));
    }

    #[test]
    fn an_untimed_signal_is_set_without_a_time() {
        let signal = Signal::untimed();
        signal.set();
        assert_eq!((signal.is_set(), signal.stamp_ns()), (true, None));
        assert!(signal.take());
        assert!(!signal.take());
    }

    #[test]
    fn waiters_are_notified_once_and_can_be_forgotten() {
        let signal = Signal::new();
        let counts: Vec<_> = (0..3).map(|_| Arc::new(Count::default())).collect();
        for count in &counts {
            assert!(signal.register(count.clone()));
        }
        let forgotten: Arc<dyn Waiter> = counts[1].clone();
        assert!(signal.forget(&forgotten));
        assert!(!signal.forget(&forgotten));
        signal.clear();
        signal.set();
        signal.set();
        let notified: Vec<_> = counts
            .iter()
            .map(|count| count.0.load(Ordering::Relaxed))
            .collect();
        assert_eq!(notified, [1, 0, 1]);
        assert_eq!(signal.waiters(), 0);
    }
}
