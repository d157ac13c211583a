//! The steps by which processes see each other's words in the right order, over any kind of words, so that a model checker
//! runs the same code as the transport.
//!
//! *Sleeping.* Who changes something that another process may wait for looks afterwards whether that process says that it sleeps. If so, it
//! adds one to a word of that process's page and wakes it. The process that is to sleep reads the word, says that it sleeps, and looks at
//! everything that it waits for. Both sides write first and read then, with a barrier in between, so that one of them sees the other. As
//! long as both are awake, no process writes to the page of another one.
//!
//! *Polling.* A thread that waits for an operation polls for a while, and the process's own thread leaves the operations to it. The thread
//! that ends its polling announces that to its own process, so that the process's own thread looks at them again.
//!
//! *Slots.* A slot has a state, even while it is free, that changes with each use. Its owner writes the words while the state
//! is even. A reader looks at the state before and after the words: if both are the same odd number, they belong together.

use std::time::Duration;

use jumar_hal::sync::{Ordering, fence};

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

/// Announces a change to the process whose page it is.
pub(crate) fn announce(page: &impl Words) {
    announce_to_all(std::iter::once(page));
}

/// Announces a change to several processes.
pub(crate) fn announce_to_all<'a, W: Words + 'a>(pages: impl Iterator<Item = &'a W> + Clone) {
    // The barrier orders the change with the accesses to all pages.
    if let Some(first) = pages.clone().next() {
        first.order();
    }
    for page in pages {
        if page.load(SLEEPS) != 0 {
            page.add(CHANGES, 1);
            page.wake(CHANGES);
        }
    }
}

/// Sleeps until there is a change, or for `limit`. `is_over` handles changes that were there before; it returns whether there were any.
pub(crate) fn sleep(page: &impl Words, is_over: impl FnOnce() -> bool, limit: Duration) {
    let seen = page.load(CHANGES);
    page.store(SLEEPS, 1);
    page.order();
    if !is_over() {
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

/// Reports whether a slot has stayed open since [`read_slot`] found it in a generation: what was read of its owner's memory meanwhile is of
/// that time.
pub(crate) fn is_still_open(load: impl Fn(usize) -> u64, state: usize, generation: u64) -> bool {
    fence(Ordering::Acquire);
    load(state) == generation << 1 | 1
}

#[cfg(all(test, loom))]
mod tests {
    use std::sync::Arc;

    use jumar_hal::sync::{AtomicU64, Condvar, Mutex, thread};

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
            let has_changed = || data.load(Ordering::Relaxed) == 1;
            while !has_changed() {
                sleep(&*page, has_changed, FOREVER);
            }
            changer.join().expect("no panic");
        });
    }

    #[test]
    fn loom_a_change_that_a_poller_leaves_is_not_slept_through() {
        loom::model(|| {
            let (page, data) = (Model::new(), Arc::new(AtomicU64::new(0)));
            let pollers = Arc::new(AtomicU64::new(1));
            let (other_page, other_data) = (page.clone(), data.clone());
            let changer = thread::spawn(move || {
                other_data.store(1, Ordering::Relaxed);
                announce(&*other_page);
            });
            let (poller_page, poller_data) = (page.clone(), data.clone());
            let polling = pollers.clone();
            let poller = thread::spawn(move || {
                poller_data.load(Ordering::Relaxed);
                polling.store(0, Ordering::Relaxed);
                announce(&*poller_page);
            });
            let has_changed = || data.load(Ordering::Relaxed) == 1;
            while !has_changed() {
                // It looks only at what no other thread polls for.
                let is_over = || pollers.load(Ordering::Relaxed) == 0 && has_changed();
                sleep(&*page, is_over, FOREVER);
            }
            changer.join().expect("no panic");
            poller.join().expect("no panic");
        });
    }

    /// A rank that abandons an operation closes its slot, and its memory then holds something else.
    #[test]
    fn loom_memory_of_an_open_slot_is_of_its_operation() {
        const STATE: usize = 0;
        const MEMORY: usize = 1;
        loom::model(|| {
            let segment = Model::new();
            segment.words[MEMORY].store(7, Ordering::Relaxed);
            open_slot(&*segment, STATE, 1, || {});
            let owner = segment.clone();
            let writing = thread::spawn(move || {
                close_slot(&*owner, STATE, 1);
                owner.store(MEMORY, 8);
            });
            let load = |index| segment.load(index);
            if let Some((generation, ())) = read_slot(load, STATE, || Some(())) {
                let read = segment.words[MEMORY].load(Ordering::Relaxed);
                if is_still_open(load, STATE, generation) {
                    assert_eq!(read, 7);
                }
            }
            writing.join().expect("no panic");
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
