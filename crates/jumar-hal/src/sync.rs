//! The only module that names locks, atomics, threads and clocks.
//!
//! Beside them stands [`SpinLock`](crate::SpinLock), a lock for a few instructions. Everything else in the workspace takes them from here (`Arc` and `OnceLock` are free), so that a model checker or a
//! test clock has one interception point. Under `--cfg loom` the primitives are loom's.
//!
//! Lock order, outermost first; a thread that holds a lock takes only locks further down:
//!
//! | rank | lock |
//! |---|---|
//! | 1 | the frontend's init state |
//! | 2 | a device's primary-context slot |
//! | 3 | a context's lists of objects |
//! | 4 | object tables |
//! | 5 | allocation map |
//! | 6 | an event's current record, a stream's error |
//! | 7 | report queues |
//! | 8 | signals |
//! | 9 | run queue, timers |
//! | 10 | parkers |

#[cfg(loom)]
pub use loom::hint::spin_loop;
#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
/// Threads; what the model checker has none of is the system's, and no model comes there.
#[cfg(loom)]
pub mod thread {
    pub use loom::thread::*;
    pub use std::thread::{scope, sleep};
}
#[cfg(not(loom))]
pub use std::hint::spin_loop;
#[cfg(not(loom))]
pub use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(not(loom))]
pub use std::thread;

use std::time::Duration;
pub use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[cfg(loom)]
use loom::sync as raw;
#[cfg(not(loom))]
use std::sync as raw;

pub use raw::MutexGuard;
#[cfg(not(loom))]
pub use std::sync::{RwLockReadGuard, RwLockWriteGuard};

/// A lock. A panic of a holder does not poison it: the state under our locks is valid between statements.
pub struct Mutex<T>(raw::Mutex<T>);

impl<T> Mutex<T> {
    /// Makes a lock around a value.
    #[cfg(not(loom))]
    pub const fn new(value: T) -> Self {
        Mutex(raw::Mutex::new(value))
    }

    /// Makes a lock around a value.
    #[cfg(loom)]
    pub fn new(value: T) -> Self {
        Mutex(raw::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the value. The exclusive reference proves that no thread holds the lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.0
            .get_mut()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

/// A condition variable for [`Mutex`].
#[derive(Default)]
pub struct Condvar(raw::Condvar);

impl Condvar {
    /// Makes a condition variable.
    pub fn new() -> Self {
        Condvar(raw::Condvar::new())
    }

    /// Releases the lock and waits for a notification.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0
            .wait(guard)
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Releases the lock and waits for a notification, or for `limit`. The second value states whether the time ran out.
    pub fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        let (guard, result) = self
            .0
            .wait_timeout(guard, limit)
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        (guard, result.timed_out())
    }

    /// Notifies one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Notifies every waiter.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A lock that many readers share.
pub struct RwLock<T>(raw::RwLock<T>);

impl<T> RwLock<T> {
    /// Makes a lock around a value.
    pub fn new(value: T) -> Self {
        RwLock(raw::RwLock::new(value))
    }

    /// Waits for shared access.
    pub fn read(&self) -> raw::RwLockReadGuard<'_, T> {
        self.0
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits for exclusive access.
    pub fn write(&self) -> raw::RwLockWriteGuard<'_, T> {
        self.0
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Returns a number, never 0, that no other living thread has: cheaper than the identity of the standard library,
/// whose references are counted.
pub fn thread_token() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Reads the clock that no time service adjusts, `CLOCK_MONOTONIC_RAW`. Other programs' records are compared by it.
///
/// # Units
/// Nanoseconds since a moment that is the same for all processes until the next boot.
pub fn raw_monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicRaw);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Reads the monotonic clock.
///
/// # Units
/// Nanoseconds since a moment before the first call; comparable within a process only.
pub fn now_ns() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let start = *START.get_or_init(Instant::now);
    // The device was switched on a second before anybody looked at its clock: 0 means "never" in a signal, and a time
    // in whole microseconds is not 0 either.
    start.elapsed().as_nanos() as u64 + 1_000_000_000
}
