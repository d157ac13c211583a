//! The ring of one stream: tasks in order, many producers, one owner at a time.
//!
//! # States
//!
//! | state | meaning | who leaves it |
//! |---|---|---|
//! | idle | the stream has no owner and it holds no task | the producer that holds the lock: to queued with its push, or it does the task itself (`IdleGuard`) |
//! | queued | it holds tasks and waits for an owner | its taker: to running |
//! | running | one thread owns it (`Owner`) | that thread: to queued or blocked, and under the lock to idle |
//! | blocked | its first task waits for a signal, at which the stream is registered | the caller (signal, timer, discard): to queued |
//!
//! | flag | meaning |
//! |---|---|
//! | listed | the stream is in the run queue; set by the thread that makes it queued, which also inserts it; cleared by the thread that removes it from the list |
//! | called | a call came while the stream was running, so that the owner looks again before it blocks |
//!
//! State and flags are one word, changed by read-modify-write alone, so that its modification order decides every
//! race. Listed is a flag of its own, because a thread that waits takes a queued stream without looking for it in
//! the run queue: the entry stays there, and is of use again when the stream is queued anew before anybody came
//! across it.
//!
//! # The lock
//!
//! Producers take turns by a lock in `ticket`, the word that also counts the tasks that were ever pushed; a push ends
//! with one plain store that counts its task and releases the lock. Two things happen only under the lock: a push,
//! and the step from running to idle. So an idle stream is empty, a producer that finds the stream in any other
//! state may leave it to its owner, and no fence is needed: an owner that goes idle either sees the task or is seen
//! to be idle. The lock is held for a few stores, never while anything is called.
//!
//! # Halves
//!
//! `front` belongs to the producer that holds the lock, `back` to the owner, and to the lock's holder while the
//! stream is idle. The owner reads slots by their sequence number and looks at the count only when it finds none. A
//! slot is written again only after its position was published in `progress`, which the owner does when the task has
//! run and has been dropped. A task may finish a moment before it is counted.
//!
//! `progress` is the number of finished tasks, times two, plus one if a thread is parked until some position is
//! finished. Both sides change it by read-modify-write, so that either the owner sees the mark or the thread that
//! is about to park sees the position.

mod cell;
mod segment;

use jumar_hal::sync::{AtomicU32, AtomicU64, Ordering, spin_loop, thread};
use jumar_hal::{Tag, Task};

use cell::UnsafeCell;
pub(crate) use segment::Entry;
use segment::{Segment, Slot};

const STATE: u32 = 0b11;
const IDLE: u32 = 0;
const QUEUED: u32 = 1;
const RUNNING: u32 = 2;
const BLOCKED: u32 = 3;
const LISTED: u32 = 1 << 2;
const CALLED: u32 = 1 << 3;

const LOCK: u64 = 1;
const TASK: u64 = 2;

const WAITED: u64 = 1;
const DONE_ONE: u64 = 2;

/// How large the segments of a ring are, and how many tasks it takes in all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Slots of the first segment; a power of two.
    pub(crate) first: usize,
    /// Slots of the largest segment; a power of two.
    pub(crate) largest: usize,
    /// Tasks that the ring holds at most.
    pub(crate) limit: u64,
}

impl Sizes {
    /// 1 KiB for a stream without a waiting thread; a million tasks at most.
    pub(crate) const USUAL: Sizes = Sizes {
        first: 16,
        largest: 1 << 16,
        limit: 1 << 20,
    };
}

/// Keeps the two halves on cache lines (and prefetched pairs of them) of their own.
#[repr(align(128))]
struct PaddedHalf<T>(T);

/// The ring of one stream.
pub(crate) struct Ring {
    front: PaddedHalf<Front>,
    state: PaddedHalf<AtomicU32>,
    back: PaddedHalf<Back>,
    sizes: Sizes,
}

struct Front {
    /// The number of tasks pushed, times two, plus one while a producer or an owner about to go idle holds the lock.
    ticket: AtomicU64,
    producer: UnsafeCell<Producer>,
}

/// What the producer that holds the lock needs.
struct Producer {
    slots: *const Slot,
    mask: u64,
    /// The last position that is known to fit into the segment.
    capacity: u64,
    /// The last position before the segment.
    base: u64,
    segment: *mut Segment,
}

struct Back {
    progress: AtomicU64,
    reader: UnsafeCell<Reader>,
}

/// What the owner needs.
struct Reader {
    slots: *const Slot,
    mask: u64,
    /// The last position that was taken.
    head: u64,
    segment: *mut Segment,
}

// SAFETY: the cells are touched only under the lock or in the running state, and tasks may be sent between threads.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

/// What a push did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushOutcome {
    /// The task's position.
    pub(crate) position: u64,
    /// The stream was idle and is queued now, and the caller has to put it into the run queue.
    pub(crate) list: bool,
}

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// The stream was blocked and is queued now; if the field is true, the caller has to put it into the run queue.
    Queued {
        /// Whether the stream has to be put into the run queue.
        list: bool,
    },
    /// Nothing to do: another thread checks it, or will.
    AlreadyHandled,
}

/// How many slots ahead of the one that is written the producer asks for.
const AHEAD: u64 = 4;

/// Asks for the cache line of a slot that is going to be written: the owner on another core has had it, and a push that waits
/// for it takes as long as ten that do not.
#[inline]
fn claim_soon(slot: *const Slot) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: a hint, which changes no byte and faults on no address; processors without it do nothing.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) slot, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(not(target_arch = "x86_64"), loom))]
    let _ = slot;
}

impl Ring {
    pub(crate) fn new(sizes: Sizes) -> Ring {
        let segment = Segment::leak(sizes.first);
        // SAFETY: the segment was just created and only the ring's owner frees it.
        let (slots, mask) = unsafe { ((*segment).slots(), (*segment).mask()) };
        let producer = Producer {
            slots,
            mask,
            capacity: sizes.first as u64,
            base: 0,
            segment,
        };
        Ring {
            front: PaddedHalf(Front {
                ticket: AtomicU64::new(0),
                producer: UnsafeCell::new(producer),
            }),
            state: PaddedHalf(AtomicU32::new(IDLE)),
            back: PaddedHalf(Back {
                progress: AtomicU64::new(0),
                reader: UnsafeCell::new(Reader {
                    slots,
                    mask,
                    head: 0,
                    segment,
                }),
            }),
            sizes,
        }
    }

    /// Returns the number of tasks pushed so far.
    pub(crate) fn submitted(&self) -> u64 {
        self.front.0.ticket.load(Ordering::Acquire) / TASK
    }

    /// Returns the position up to which everything is finished.
    #[inline]
    pub(crate) fn completed(&self) -> u64 {
        self.back.0.progress.load(Ordering::Acquire) / DONE_ONE
    }

    /// Returns whether an owner is wanted.
    #[inline]
    pub(crate) fn is_queued(&self) -> bool {
        self.state.0.load(Ordering::Relaxed) & STATE == QUEUED
    }

    /// Returns whether the stream has no owner and no task.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.state.0.load(Ordering::Relaxed) & STATE == IDLE
    }

    /// Returns whether the stream stands in the run queue for nothing: it has no task.
    pub(crate) fn is_listed_idle(&self) -> bool {
        self.state.0.load(Ordering::Acquire) & (STATE | LISTED) == IDLE | LISTED
    }

    /// Returns whether the first task waits for something.
    pub(crate) fn is_blocked(&self) -> bool {
        self.state.0.load(Ordering::Relaxed) & STATE == BLOCKED
    }

    /// Marks that a thread is about to park. Returns the position completed. The thread that completes a later one sees the mark.
    pub(crate) fn mark_waited(&self) -> u64 {
        self.back.0.progress.fetch_or(WAITED, Ordering::AcqRel) / DONE_ONE
    }

    /// Takes the mark away. The caller ensures that no other thread marks at the same time.
    pub(crate) fn unmark_waited(&self) {
        self.back.0.progress.fetch_and(!WAITED, Ordering::AcqRel);
    }

    /// Takes the lock. Returns the number of tasks pushed.
    #[inline]
    fn lock(&self) -> u64 {
        let ticket = &self.front.0.ticket;
        let seen = ticket.load(Ordering::Relaxed);
        if seen & LOCK == 0
            && ticket
                .compare_exchange(seen, seen | LOCK, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        {
            return seen / TASK;
        }
        self.lock_slowly()
    }

    #[cold]
    fn lock_slowly(&self) -> u64 {
        let ticket = &self.front.0.ticket;
        let mut tries = 0u32;
        loop {
            let seen = ticket.load(Ordering::Relaxed);
            if seen & LOCK == 0
                && ticket
                    .compare_exchange_weak(seen, seen | LOCK, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                return seen / TASK;
            }
            tries += 1;
            // A holder that lost its processor keeps the lock for a whole time slice.
            if tries.is_multiple_of(64) {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
    }

    /// Releases the lock, with the number of tasks pushed.
    #[inline]
    fn unlock(&self, pushed: u64) {
        self.front.0.ticket.store(pushed * TASK, Ordering::Release);
    }

    /// Changes the state word. Returns what it was.
    #[inline]
    fn change(&self, success: Ordering, next: impl Fn(u32) -> u32) -> u32 {
        let mut seen = self.state.0.load(Ordering::Relaxed);
        loop {
            match self
                .state
                .0
                .compare_exchange_weak(seen, next(seen), success, Ordering::Relaxed)
            {
                Ok(_) => return seen,
                Err(now) => seen = now,
            }
        }
    }

    #[cold]
    fn extend_capacity(&self, producer: &mut Producer, position: u64, more: bool) -> bool {
        let done = self.completed();
        if position - done > self.sizes.limit && !more {
            return false;
        }
        producer.capacity = done.max(producer.base) + producer.mask + 1;
        if position <= producer.capacity {
            return true;
        }
        let slots = ((producer.mask as usize + 1) * 4).min(self.sizes.largest);
        let segment = Segment::leak(slots);
        // SAFETY: the producer's segment is the last one, which the owner does not free before it is linked.
        unsafe { (*producer.segment).link(position, segment) };
        // SAFETY: the segment was just made; the owner does not free it before it has a successor.
        let (slots, mask) = unsafe { ((*segment).slots(), (*segment).mask()) };
        *producer = Producer {
            slots,
            mask,
            capacity: position + mask,
            base: position - 1,
            segment,
        };
        true
    }

    /// Begins to append a task. With `more` the limit does not count. `None`: the ring holds as many as it may.
    #[inline]
    pub(crate) fn enter(&self, more: bool) -> Option<PushPermit<'_>> {
        let pushed = self.lock();
        let position = pushed + 1;
        let capacity = self.front.0.producer.with_mut(|producer| {
            // SAFETY: the lock makes this thread the only one in this half.
            let producer = unsafe { &mut *producer };
            position <= producer.capacity || self.extend_capacity(producer, position, more)
        });
        if capacity {
            return Some(PushPermit {
                ring: self,
                position,
            });
        }
        self.unlock(pushed);
        None
    }

    /// Writes a task into the slot of its position.
    ///
    /// # Safety
    ///
    /// The caller holds the lock, `position` is the next one, and there is space.
    #[inline]
    unsafe fn write(&self, position: u64, tag: Tag, task: Task) {
        self.front.0.producer.with_mut(|producer| {
            // SAFETY: the lock makes this thread the only one in this half.
            let producer = unsafe { &*producer };
            // SAFETY: the mask keeps the index inside the segment, which lives until the owner has read it to its end.
            let slot = unsafe { &*producer.slots.add((position & producer.mask) as usize) };
            // SAFETY: this thread is the only producer; there is space, so the slot's last entry was taken.
            unsafe { slot.write(position, tag, task) };
            let soon = ((position + AHEAD) & producer.mask) as usize;
            // SAFETY: the mask keeps the index inside the segment.
            claim_soon(unsafe { producer.slots.add(soon) });
        });
    }

    /// Takes an idle stream together with the lock, to do one task at once that never comes to a slot.
    #[inline]
    pub(crate) fn rest(&self) -> Option<IdleGuard<'_>> {
        if self.state.0.load(Ordering::Relaxed) & STATE != IDLE {
            return None;
        }
        let pushed = self.lock();
        if self.state.0.load(Ordering::Relaxed) & STATE != IDLE {
            self.unlock(pushed);
            return None;
        }
        Some(IdleGuard { ring: self, pushed })
    }

    /// Takes a queued stream and leaves its entry in the run queue.
    #[inline]
    pub(crate) fn take(&self) -> Option<Owner<'_>> {
        let state = &self.state.0;
        let mut seen = state.load(Ordering::Relaxed);
        while seen & STATE == QUEUED {
            let next = (seen & !STATE) | RUNNING;
            match state.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(Owner { ring: self }),
                Err(now) => seen = now,
            }
        }
        None
    }

    /// Notes that the stream's entry was taken out of the run queue, and takes the stream if it is queued.
    pub(crate) fn unlist(&self) -> Option<Owner<'_>> {
        let before = self.change(Ordering::AcqRel, |seen| match seen & STATE {
            QUEUED => (seen & !(STATE | LISTED)) | RUNNING,
            _ => seen & !LISTED,
        });
        (before & STATE == QUEUED).then_some(Owner { ring: self })
    }

    /// Calls a stream that may be blocked: its signal was set, its time is over, or its tasks are to be dropped.
    pub(crate) fn call(&self) -> CallOutcome {
        let before = self.change(Ordering::AcqRel, |seen| match seen & STATE {
            BLOCKED => (seen & !STATE) | QUEUED | LISTED,
            RUNNING => seen | CALLED,
            // Its next owner looks at everything anew; the empty exchange orders the caller's reasons before that.
            _ => seen,
        });
        match before & STATE {
            BLOCKED => CallOutcome::Queued {
                list: before & LISTED == 0,
            },
            _ => CallOutcome::AlreadyHandled,
        }
    }
}

/// The right to append one task.
#[must_use = "no other thread can append before the task is"]
pub(crate) struct PushPermit<'a> {
    ring: &'a Ring,
    position: u64,
}

impl PushPermit<'_> {
    /// Appends the task.
    #[inline]
    pub(crate) fn push(self, tag: Tag, task: Task) -> PushOutcome {
        let PushPermit { ring, position } = self;
        // SAFETY: `enter` took the lock and made space, and the count under the lock says which position is next.
        unsafe { ring.write(position, tag, task) };
        // Under the lock no stream becomes idle: what is not idle now has an owner, or will have one, that finds the task.
        let list = ring.state.0.load(Ordering::Relaxed) & STATE == IDLE
            && ring.change(Ordering::AcqRel, |seen| seen | QUEUED | LISTED) & LISTED == 0;
        ring.unlock(position);
        PushOutcome { position, list }
    }
}

/// An idle stream held with the lock: both halves are the holder's.
#[must_use = "no other thread can append before it is released"]
pub(crate) struct IdleGuard<'a> {
    ring: &'a Ring,
    pushed: u64,
}

impl IdleGuard<'_> {
    /// Counts a task as pushed and finished. Returns its position, and whether a thread is parked for some position.
    #[inline]
    pub(crate) fn done(self) -> (u64, bool) {
        let mut owner = Owner { ring: self.ring };
        owner.skip();
        let waited = owner.publish();
        self.ring.unlock(self.pushed + 1);
        (self.pushed + 1, waited)
    }

    /// Leaves the stream as it was.
    pub(crate) fn leave(self) {
        self.ring.unlock(self.pushed);
    }
}

/// The right to run a stream's tasks. It is given back by `idle`, `block` or `queue`.
#[must_use = "a stream whose owner is lost never runs again"]
pub(crate) struct Owner<'a> {
    ring: &'a Ring,
}

impl<'a> Owner<'a> {
    /// Returns the position of the next task.
    #[inline]
    pub(crate) fn position(&self) -> u64 {
        self.ring.back.0.reader.with(|reader| {
            // SAFETY: the owner is the only one in this half.
            unsafe { (*reader).head + 1 }
        })
    }

    /// Returns whether there is a next task.
    #[inline]
    pub(crate) fn ready(&mut self) -> bool {
        self.ring.back.0.reader.with_mut(|reader| {
            // SAFETY: the owner is the only one in this half.
            let reader = unsafe { &mut *reader };
            let position = reader.head + 1;
            loop {
                // SAFETY: the mask keeps the index inside the segment, which only the owner frees.
                let slot = unsafe { &*reader.slots.add((position & reader.mask) as usize) };
                if slot.holds(position) {
                    return true;
                }
                // SAFETY: only the owner frees segments.
                let Some((segment, first)) = (unsafe { &*reader.segment }).next() else {
                    return false;
                };
                // Everything before the link was written before it: another look finds the slot.
                if first != position {
                    continue;
                }
                // SAFETY: the segment was made by `leak`; the producers left it when they linked the next one, and
                // every entry in it was taken.
                drop(unsafe { Box::from_raw(reader.segment) });
                reader.segment = segment;
                // SAFETY: the segment is linked, and only the owner frees it.
                (reader.slots, reader.mask) = unsafe { ((*segment).slots(), (*segment).mask()) };
            }
        })
    }

    #[inline]
    fn slot(&self) -> &Slot {
        self.ring.back.0.reader.with(|reader| {
            // SAFETY: the owner is the only one in this half.
            let reader = unsafe { &*reader };
            // SAFETY: the mask keeps the index inside the segment, which only the owner frees.
            unsafe { &*reader.slots.add(((reader.head + 1) & reader.mask) as usize) }
        })
    }

    /// Looks at the next task, if it is there.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<&Entry> {
        if !self.ready() {
            return None;
        }
        // SAFETY: this is the owner, and `ready` found the entry, which is not taken before `take` moves on.
        Some(unsafe { self.slot().entry() })
    }

    /// Takes the next task out, if it is there. `publish` follows once it has run.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Entry> {
        if !self.ready() {
            return None;
        }
        // SAFETY: this is the owner, and `ready` found the entry; `skip` moves on so that it is not read again.
        let entry = unsafe { self.slot().take() };
        self.skip();
        Some(entry)
    }

    /// Moves past the next position.
    #[inline]
    fn skip(&mut self) {
        self.ring.back.0.reader.with_mut(|reader| {
            // SAFETY: the owner is the only one in this half.
            unsafe { (*reader).head += 1 };
        });
    }

    /// Makes known that one more task has finished. Returns whether a thread is parked for some position.
    #[inline]
    pub(crate) fn publish(&mut self) -> bool {
        self.ring
            .back
            .0
            .progress
            .fetch_add(DONE_ONE, Ordering::AcqRel)
            & WAITED
            != 0
    }

    /// Returns an empty stream back.
    ///
    /// # Errors
    /// The owner itself, when there is another task.
    #[inline]
    pub(crate) fn idle(self) -> Result<(), Self> {
        let pushed = self.ring.lock();
        let empty = self.position() > pushed;
        if empty {
            self.ring
                .state
                .0
                .fetch_and(!(STATE | CALLED), Ordering::AcqRel);
        }
        self.ring.unlock(pushed);
        if empty { Ok(()) } else { Err(self) }
    }

    /// Releases the stream until it is called.
    ///
    /// # Errors
    /// The owner itself, when it was called in the meantime.
    pub(crate) fn block(self) -> Result<(), Self> {
        let before = self
            .ring
            .change(Ordering::AcqRel, |seen| match seen & CALLED {
                0 => (seen & !STATE) | BLOCKED,
                _ => seen & !CALLED,
            });
        if before & CALLED == 0 {
            Ok(())
        } else {
            Err(self)
        }
    }

    /// Releases a stream that holds tasks. Returns whether the caller has to put it into the run queue.
    pub(crate) fn queue(self) -> bool {
        let before = self.ring.change(Ordering::AcqRel, |seen| {
            (seen & !(STATE | CALLED)) | QUEUED | LISTED
        });
        before & LISTED == 0
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let mut owner = Owner { ring: self };
        while let Some(entry) = owner.next() {
            drop(entry);
        }
        self.back.0.reader.with(|reader| {
            // SAFETY: no other reference is left; every segment but the last was freed when it was left.
            drop(unsafe { Box::from_raw((*reader).segment) });
        });
    }
}
