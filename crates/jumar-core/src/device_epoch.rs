//! The lives of a device: what a reset takes along, and what it leaves alone.
//!
//! A device's memory is dropped when its last use ends while no other context is alive. That moment, under the locks of
//! the primary slot and of the count, ends one life of the device and begins the next. The work of the old life is
//! waited for afterwards, with no lock held, and its memory is dropped then; meanwhile other threads may have set the
//! device again. So contexts, memory, pools and mappings know the life that they were made in, and a life that ends takes
//! along what is of it or older, and nothing else. What is made while its life ends is found by the one that drops, or
//! sees, when it looks once more after it was put where the dropper looks, that the life has ended, and takes itself back.

use jumar_hal::sync::{AtomicU64, Mutex, Ordering};

/// Which life a device is in, and how many live it.
#[derive(Default)]
pub(crate) struct DeviceEpoch {
    living: Mutex<Living>,
    /// The number of the life, for those who look without the lock. Written under it.
    number: AtomicU64,
}

#[derive(Default)]
struct Living {
    number: u64,
    /// Contexts alive on the device, the primary one included until its last use ends.
    contexts: u32,
}

impl DeviceEpoch {
    /// Returns the number of the life.
    pub(crate) fn now(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    /// Counts a context that is about to be made. Returns the life that it belongs to.
    pub(crate) fn enter(&self) -> u64 {
        let mut living = self.living.lock();
        living.contexts += 1;
        living.number
    }

    /// Counts a context no longer that is gone.
    pub(crate) fn leave(&self) {
        self.living.lock().contexts -= 1;
    }

    /// Counts the primary context no longer, and ends the life if no other context is alive. Returns the life that ended.
    pub(crate) fn end(&self) -> Option<u64> {
        let mut living = self.living.lock();
        living.contexts -= 1;
        if living.contexts != 0 {
            return None;
        }
        let ended = living.number;
        living.number += 1;
        self.number.store(living.number, Ordering::Release);
        Some(ended)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_ends_with_the_last_context_and_not_before() {
        let epoch = DeviceEpoch::default();
        assert_eq!((epoch.enter(), epoch.enter()), (0, 0));
        assert_eq!(epoch.end(), None, "another context is alive");
        epoch.leave();
        assert_eq!(
            epoch.now(),
            0,
            "only the end of the primary one drops memory"
        );
        assert_eq!(epoch.enter(), 0);
        assert_eq!(epoch.end(), Some(0));
        assert_eq!((epoch.now(), epoch.enter()), (1, 1));
    }
}
