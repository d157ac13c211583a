//! The steps by which processes see each other's words in the right order, over any kind of words, so that a model checker
//! runs the same code as the transport.
//!
//! *Sleeping.* Who changes something that another process may wait for adds one to a word of that process's page afterwards,
//! and wakes it if it sleeps. The process that is to sleep reads the word, looks at everything that it waits for, says that it sleeps, and
//! looks at the word once more. Both sides write first and read then, with a barrier in between, so that one of them sees the
//! other.
//!
//! *Polling.* A thread that waits for an operation polls for a while, and is not woken meanwhile: who announces a change to a
//! process in which a thread polls leaves it at the change. The thread that ends its polling announces to its own process
//! afterwards, so that the process's own thread looks at what it did not poll for.
//!
//! *Slots.* A slot has a state, even while it is free, that changes with each use. Its owner writes the words while the state
//! is even. A reader looks at the state before and after the words: if both are the same odd number, they belong together.

use std::time::Duration;

/// Words that several processes share.
pub(crate) trait Words {
    /// Reads a word; what its writer wrote before is visible.
    fn load(&self, index: usize) -> u64;
    /// Writes a word, after all that was written before.
    fn store(&self, index: usize, value: u64);
    /// Adds to a word.
    fn add(&self, index: usize, value: u64);
    /// Orders all accesses before with all accesses behind.
    fn order(&self);
    /// Sleeps until a word is changed and its waiters are woken, unless it has changed already; or for `limit`.
    fn sleep(&self, index: usize, seen: u64, limit: Duration);
    /// Wakes all that sleep on a word.
    fn wake(&self, index: usize);
}

/// The word that counts changes.
const CHANGES: usize = 1;
/// The word that is 1 while the process may sleep.
const SLEEPS: usize = 2;

/// The word that counts the threads that poll.
const POLLERS: usize = 3;

/// Announces a change to the process whose page it is.
pub(crate) fn announce(page: &impl Words) {
    page.order();
    page.add(CHANGES, 1);
    page.order();
    if page.load(POLLERS) == 0 && page.load(SLEEPS) != 0 {
        page.wake(CHANGES);
    }
}

/// Begins to poll, in the process whose page it is.
pub(crate) fn begin_polling(page: &impl Words) {
    page.add(POLLERS, 1);
    page.order();
}

/// Ends what [`begin_polling`] began.
pub(crate) fn end_polling(page: &impl Words) {
    page.add(POLLERS, 1_u64.wrapping_neg());
    announce(page);
}

/// Returns whether a thread polls in the process whose page it is.
pub(crate) fn is_polled(page: &impl Words) -> bool {
    page.load(POLLERS) != 0
}

/// Returns how many changes there were. Read before looking at what may have changed.
pub(crate) fn changes(page: &impl Words) -> u64 {
    let seen = page.load(CHANGES);
    page.order();
    seen
}

/// Sleeps until there is a change after `seen`, or for `limit`.
pub(crate) fn sleep(page: &impl Words, seen: u64, limit: Duration) {
    page.store(SLEEPS, 1);
    page.order();
    if page.load(CHANGES) == seen {
        page.sleep(CHANGES, seen, limit);
    }
    page.store(SLEEPS, 0);
}

/// Opens a slot, after `fill` has written its words.
pub(crate) fn open_slot(words: &impl Words, state: usize, generation: u64, fill: impl FnOnce()) {
    fill();
    words.store(state, generation << 1 | 1);
}

/// Closes a slot, before its words are written again.
pub(crate) fn close_slot(words: &impl Words, state: usize, generation: u64) {
    words.store(state, generation << 1);
}

/// Reads the words of a slot with `read`, and returns them with the slot's generation if they belong together.
pub(crate) fn read_slot<T>(
    load: impl Fn(usize) -> u64,
    state: usize,
    read: impl FnOnce() -> Option<T>,
) -> Option<(u64, T)> {
    let before = load(state);
    if before & 1 == 0 {
        return None;
    }
    let content = read()?;
    (load(state) == before).then_some((before >> 1, content))
}

#[cfg(all(test, loom))]
mod tests {
    use std::sync::Arc;

    use jumar_hal::sync::{AtomicU64, Condvar, Mutex, Ordering, fence, thread};

    use super::*;

    /// Words of one process, with a futex made of a lock.
    struct Model {
        words: [AtomicU64; 4],
        waiters: (Mutex<()>, Condvar),
    }

    impl Model {
        fn new() -> Arc<Model> {
            Arc::new(Model {
                words: std::array::from_fn(|_| AtomicU64::new(0)),
                waiters: Default::default(),
            })
        }
    }

    impl Words for Model {
        fn load(&self, index: usize) -> u64 {
            self.words[index].load(Ordering::Acquire)
        }

        fn store(&self, index: usize, value: u64) {
            self.words[index].store(value, Ordering::Release);
        }

        fn add(&self, index: usize, value: u64) {
            self.words[index].fetch_add(value, Ordering::AcqRel);
        }

        fn order(&self) {
            fence(Ordering::SeqCst);
        }

        fn sleep(&self, index: usize, seen: u64, _limit: Duration) {
            // The system compares and sleeps in one step. Only a wake ends the sleep here: a lost wake is a deadlock.
            let waiters = self.waiters.0.lock();
            if self.load(index) == seen {
                drop(self.waiters.1.wait(waiters));
            }
        }

        fn wake(&self, _index: usize) {
            let waiters = self.waiters.0.lock();
            self.waiters.1.notify_all();
            drop(waiters);
        }
    }

    const FOREVER: Duration = Duration::MAX;

    #[test]
    fn loom_no_change_is_slept_through() {
        loom::model(|| {
            let (page, data) = (Model::new(), Arc::new(AtomicU64::new(0)));
            let (other_page, other_data) = (page.clone(), data.clone());
            let changer = thread::spawn(move || {
                other_data.store(1, Ordering::Relaxed);
                announce(&*other_page);
            });
            loop {
                let seen = changes(&*page);
                if data.load(Ordering::Relaxed) == 1 {
                    break;
                }
                sleep(&*page, seen, FOREVER);
            }
            changer.join().expect("no panic");
        });
    }

    #[test]
    fn loom_a_change_that_a_poller_leaves_is_not_slept_through() {
        loom::model(|| {
            let (page, data) = (Model::new(), Arc::new(AtomicU64::new(0)));
            let (other_page, other_data) = (page.clone(), data.clone());
            let changer = thread::spawn(move || {
                other_data.store(1, Ordering::Relaxed);
                announce(&*other_page);
            });
            let (poller_page, poller_data) = (page.clone(), data.clone());
            let poller = thread::spawn(move || {
                begin_polling(&*poller_page);
                assert!(is_polled(&*poller_page));
                poller_data.load(Ordering::Relaxed);
                end_polling(&*poller_page);
            });
            loop {
                let seen = changes(&*page);
                if data.load(Ordering::Relaxed) == 1 {
                    break;
                }
                sleep(&*page, seen, FOREVER);
            }
            changer.join().expect("no panic");
            poller.join().expect("no panic");
        });
    }

    #[test]
    fn loom_words_of_a_slot_belong_together() {
        const STATE: usize = 0;
        loom::model(|| {
            let segment = Model::new();
            let owner = segment.clone();
            let writing = thread::spawn(move || {
                for generation in 1..=2 {
                    open_slot(&*owner, STATE, generation, || {
                        owner.store(1, generation);
                        owner.store(2, generation);
                    });
                    close_slot(&*owner, STATE, generation);
                }
            });
            let found = read_slot(
                |index| segment.load(index),
                STATE,
                || Some((segment.load(1), segment.load(2))),
            );
            if let Some((generation, words)) = found {
                assert_eq!(words, (generation, generation));
            }
            writing.join().expect("no panic");
        });
    }
}
