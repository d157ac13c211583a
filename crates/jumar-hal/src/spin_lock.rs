//! A lock for a few instructions.
//!
//! A lock of the standard library takes two steps that stall the processor, one to take it and one to give it back, as
//! a thread may sleep on it. No thread sleeps on this one, so that giving it back is a plain store: half the price, on paths
//! where two such locks were half of a call. A thread that finds it taken spins for a moment, lets others run, and in the end
//! sleeps a little, in case the holder has lost its processor.
//!
//! It is for what is looked up or changed in less than a microsecond. Code that may wait or call other code takes a
//! [`Mutex`](crate::sync::Mutex).

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::sync::{AtomicBool, Ordering, spin_loop, thread};

/// A value behind a lock for a few instructions. A panic of a holder releases it: the value is valid between statements.
pub struct SpinLock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock lets one thread at a time at the value, which may be sent between threads.
unsafe impl<T: Send> Sync for SpinLock<T> {}

/// The value, until this is dropped.
pub struct SpinGuard<'a, T> {
    of: &'a SpinLock<T>,
    /// Given back by the thread that took it.
    here: PhantomData<*const ()>,
}

impl<T> SpinLock<T> {
    /// Makes a lock around a value.
    pub fn new(value: T) -> Self {
        SpinLock {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        if !self.take() {
            self.take_slowly();
        }
        SpinGuard {
            of: self,
            here: PhantomData,
        }
    }

    #[inline]
    fn take(&self) -> bool {
        self.held
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    fn take_slowly(&self) {
        /// Looks before others are let run, and before the thread sleeps between looks.
        const SPINS: u32 = 64;
        const YIELDS: u32 = 256;
        let mut attempts = 0u32;
        loop {
            if !self.held.load(Ordering::Relaxed) && self.take() {
                return;
            }
            attempts = attempts.saturating_add(1);
            match attempts {
                ..SPINS => spin_loop(),
                SPINS..YIELDS => thread::yield_now(),
                _ => pause(),
            }
        }
    }
}

#[cfg(not(loom))]
fn pause() {
    thread::sleep(std::time::Duration::from_micros(50));
}

/// In a model time stands still.
#[cfg(loom)]
fn pause() {
    thread::yield_now();
}

impl<T: Default> Default for SpinLock<T> {
    fn default() -> Self {
        SpinLock::new(T::default())
    }
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the lock: no other reference to the value exists during its lifetime.
        unsafe { &*self.of.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the lock: no other reference to the value exists during its lifetime.
        unsafe { &mut *self.of.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.of.held.store(false, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_is_at_the_value() {
        const TIMES: u64 = 20_000;
        let pair = SpinLock::new((0u64, 0u64));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..TIMES {
                        let mut pair = pair.lock();
                        assert_eq!(pair.0, pair.1);
                        pair.0 += 1;
                        pair.1 += 1;
                    }
                });
            }
        });
        assert_eq!(*pair.lock(), (4 * TIMES, 4 * TIMES));
    }

    #[test]
    fn a_panic_gives_it_back() {
        let value = SpinLock::new(7);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = value.lock();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(*value.lock(), 7);
    }
}
