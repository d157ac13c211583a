//! A latch that orders queues among each other and against the host.
//!
//! States of one signal, all in `word`: clear or set (with the time of the set), and while it is clear, whether
//! there are waiters. A queue that has to wait registers itself as a [`Waiter`] and releases its worker. Without waiters
//! every change is one compare-and-swap. With waiters the list is locked while the word changes: the thread that sets
//! the signal takes the list out in the same step and notifies each waiter afterwards, and a waiter that comes too
//! late is informed by [`Signal::register`]. A signal that is set has no waiters.
//!
//! A signal can be moved to a [`SharedLatch`], which other processes see too, at any time and whatever is queued for it. From then on
//! `word` is `SHARED` and the latch has the state; the signal only keeps the waiters of this process. So a task refers to the same
//! signal before and after, and finds out what it is when its turn comes.

use std::sync::{Arc, OnceLock};

use jumar_types::Error;

use smallvec::SmallVec;

use crate::SpinLock;
use crate::sync::{AtomicU64, Ordering, now_ns};

/// A latch: clear or set, with the time of the last set.
pub struct Signal {
    /// Twice the time of the last set (at least 1 ns) while set, or `UNTIMED`; 0 or `WAITED` while clear; or `SHARED`.
    word: AtomicU64,
    waiters: SpinLock<Waiters>,
    timed: bool,
    poller: Option<Arc<dyn Poller>>,
    /// Where the state lies once `word` is `SHARED`.
    latch: OnceLock<Arc<dyn SharedLatch>>,
}

/// Those who wait for a signal: one most often.
pub type Waiters = SmallVec<[Arc<dyn Waiter>; 1]>;

/// Set in the word while the list of waiters is not empty.
const WAITED: u64 = 1;
/// The word of a signal that is set and keeps no time. The clock never reads as little.
const UNTIMED: u64 = 2;
/// The word of a signal whose state lies in a latch. It changes no more, and is written under the list's lock alone.
const SHARED: u64 = u64::MAX;

/// The state of a signal in memory that several processes share.
///
/// # Threads
/// Any thread may call any of these at any time. All but `begin_wait` and `examine` take no lock and make no system call.
pub trait SharedLatch: Send + Sync {
    /// Returns whether the latch is set.
    fn is_set(&self) -> bool;

    /// Sets the latch.
    fn set(&self);

    /// Clears the latch if it is set. Returns whether it was.
    fn take(&self) -> bool;

    /// Returns the address of the word that changes when the latch is set.
    fn address(&self) -> usize;

    /// Begins a wait. Returns what [`SharedLatch::is_deserted`] takes.
    fn begin_wait(&self) -> u64;

    /// Checks whether the processes that could set the latch exist, every now and then.
    fn examine(&self);

    /// Returns whether the last examination found that no process is left that could end the wait.
    fn is_deserted(&self, wait: u64) -> bool;

    /// Returns the error of a wait that is deserted.
    fn desertion(&self) -> Error;
}

/// A waiter for a signal.
pub trait Waiter: Send + Sync {
    /// Called when the signal was set. Must be quick and must not submit to the queue that is being run.
    fn signalled(self: Arc<Self>);

    /// Called when the state of the signal was moved to a latch, which the waiter polls from now on. It stays registered.
    fn shared(self: Arc<Self>, _latch: &Arc<dyn SharedLatch>) {
        self.signalled();
    }
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
            latch: OnceLock::new(),
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

    /// Makes a signal whose state lies in a latch.
    pub fn shared(latch: Arc<dyn SharedLatch>) -> Self {
        Signal {
            word: AtomicU64::new(SHARED),
            latch: OnceLock::from(latch),
            ..Signal::untimed()
        }
    }

    /// Moves the state of an untimed signal to a latch, which is clear and which no other process has yet. Waiters stay registered, so that
    /// they hear a set that comes next. Does nothing where the signal has a latch already.
    pub fn share(&self, latch: Arc<dyn SharedLatch>) {
        let waiters = {
            let waiters = self.waiters.lock();
            if self.latch.set(latch).is_err() {
                return;
            }
            let latch = self.latch();
            let mut seen = self.word.load(Ordering::Relaxed);
            loop {
                match seen > WAITED {
                    true => latch.set(),
                    false => drop(latch.take()),
                }
                match self
                    .word
                    .compare_exchange(seen, SHARED, Ordering::AcqRel, Ordering::Acquire)
                {
                    Ok(_) => break,
                    Err(now) => seen = now,
                }
            }
            waiters.clone()
        };
        for waiter in waiters {
            waiter.shared(self.latch());
        }
    }

    /// Returns where the state lies if other processes see it.
    #[inline]
    pub fn shared_latch(&self) -> Option<&Arc<dyn SharedLatch>> {
        match self.word.load(Ordering::Acquire) {
            SHARED => Some(self.latch()),
            _ => None,
        }
    }

    #[cold]
    fn latch(&self) -> &Arc<dyn SharedLatch> {
        self.latch
            .get()
            .expect("the word of a signal says that it is shared once its latch is there")
    }

    /// Returns what a waiting thread polls.
    pub fn poller(&self) -> Option<&Arc<dyn Poller>> {
        self.poller.as_ref()
    }

    /// Returns whether the signal is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        match self.word.load(Ordering::Acquire) {
            SHARED => self.latch().is_set(),
            word => word > WAITED,
        }
    }

    /// Returns the time of the last set, while the signal is set and if it keeps time.
    ///
    /// # Units
    /// Nanoseconds on the monotonic clock of [`now_ns`].
    pub fn stamp_ns(&self) -> Option<u64> {
        match self.word.load(Ordering::Acquire) {
            0 | WAITED | UNTIMED | SHARED => None,
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
        while seen != WAITED && seen != SHARED {
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
        match self.word.load(Ordering::Acquire) {
            SHARED => self.latch().set(),
            _ => drop(self.word.swap(set, Ordering::AcqRel)),
        }
        std::mem::take(&mut *waiters)
    }

    /// Clears a signal of this process without other references: a signal that is set has no waiters, and no other thread can set it.
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
            if seen == SHARED {
                return self.latch().take();
            }
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

    /// Registers a waiter, once, unless the signal is set already. Returns whether it is registered. What another process sets notifies
    /// no waiter: one for a signal with a [`Signal::shared_latch`] polls it besides.
    pub fn register(&self, waiter: Arc<dyn Waiter>) -> bool {
        let mut waiters = self.waiters.lock();
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen <= WAITED {
            match self
                .word
                .compare_exchange_weak(seen, WAITED, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => {
                    push_once(&mut waiters, waiter);
                    return true;
                }
                Err(now) => seen = now,
            }
        }
        // A thread that finds the signal set also sees what happened before the set.
        if self.word.load(Ordering::Acquire) == SHARED && !self.latch().is_set() {
            push_once(&mut waiters, waiter);
            return true;
        }
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
        if !matches!(self.word.load(Ordering::Acquire), WAITED | SHARED) {
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
                let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
                let _ = self.word.compare_exchange(WAITED, 0, success, failure);
            }
            forgotten
        };
        forgotten.is_some()
    }
}

fn push_once(waiters: &mut Waiters, waiter: Arc<dyn Waiter>) {
    let is_waiter =
        |other: &Arc<dyn Waiter>| std::ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(&waiter));
    if !waiters.iter().any(is_waiter) {
        waiters.push(waiter);
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

    /// A latch whose other processes never end.
    #[derive(Default)]
    struct Plain(AtomicUsize);

    impl SharedLatch for Plain {
        fn is_set(&self) -> bool {
            self.0.load(Ordering::Acquire) != 0
        }

        fn set(&self) {
            self.0.store(1, Ordering::Release);
        }

        fn take(&self) -> bool {
            self.0.swap(0, Ordering::AcqRel) != 0
        }

        fn address(&self) -> usize {
            self.0.as_ptr().addr()
        }

        fn begin_wait(&self) -> u64 {
            0
        }

        fn examine(&self) {}

        fn is_deserted(&self, _: u64) -> bool {
            false
        }

        fn desertion(&self) -> Error {
            unreachable!("its other processes never end")
        }
    }

    #[test]
    fn a_signal_that_is_shared_while_it_is_set_stays_set() {
        let (signal, latch) = (Signal::untimed(), Arc::new(Plain::default()));
        signal.set();
        signal.share(latch.clone());
        assert!(latch.is_set() && signal.is_set());
        assert!(signal.take() && !latch.is_set());
        // What another process sets is seen here, and the reverse.
        latch.set();
        assert!(signal.is_set());
        signal.clear();
        assert!(!latch.is_set());
        signal.set();
        assert!(latch.is_set());
    }

    #[test]
    fn waiters_of_a_signal_are_notified_when_it_is_shared_and_of_the_next_set() {
        let (signal, latch) = (Signal::untimed(), Arc::new(Plain::default()));
        let count = Arc::new(Count::default());
        assert!(signal.register(count.clone()));
        signal.share(latch);
        assert_eq!(count.0.load(Ordering::Relaxed), 1, "notified of the latch");
        assert!(!signal.is_set());
        assert!(signal.register(count.clone()));
        signal.set();
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
        let waiter: Arc<dyn Waiter> = count.clone();
        assert!(!signal.register(waiter.clone()), "it is set");
        assert!(signal.take() && signal.register(waiter.clone()));
        assert!(signal.forget(&waiter) && !signal.forget(&waiter));
        signal.set();
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
    }
}
