//! The ring of one stream: tasks in order, many producers, one owner at a time.
//!
//! # States
//!
//! One word says everything that more than one thread has to agree on: the state, three flags, and how many tasks
//! were ever pushed. Every change is one compare-and-swap on that word, so that its modification order decides
//! every race, and no fence is needed anywhere.
//!
//! | state | meaning | who leaves it |
//! |---|---|---|
//! | idle | nobody owns the stream and it holds no task | a producer: to queued with its push; to running when it does the task at once (`Claim`) |
//! | queued | it holds tasks and waits for an owner | whoever takes it: to running |
//! | running | one thread owns it (`Owner`) | that thread: to idle, queued or blocked |
//! | blocked | its first task waits for a signal, at which the stream is registered | whoever calls it (signal, timer, discard): to queued |
//!
//! | flag | meaning |
//! |---|---|
//! | lock | a producer is writing a slot; the producer's half may be touched by it alone |
//! | listed | the stream stands in the run queue; set by whoever makes it queued, and that one puts it there; cleared by whoever takes it out of the list |
//! | called | a call came while the stream was running, so that the owner looks again before it blocks |
//!
//! Idle means empty: an owner goes idle only if the word says that nothing was pushed beyond what it took, and a
//! producer that pushes to an idle stream makes it queued in the same step. Listed is a flag of its own, because a
//! thread that waits takes a queued stream without looking for it in the run queue: the entry stays there, and is
//! of use again when the stream is queued anew before anybody came across it.
//!
//! # Halves
//!
//! `front` belongs to the producer that holds the lock, `back` to the owner. The owner reads slots by their sequence
//! number and looks at the word only when it finds none. A slot is written again only after its position was
//! published in `progress`, which the owner does when the task has run and has been dropped.
//!
//! `progress` is the number of finished tasks, times two, plus one if a thread is parked until some position is
//! finished. Both sides change it by read-modify-write, so that either the owner sees the mark or the thread that
//! is about to park sees the position.

mod cell;
mod segment;

use jumar_hal::sync::{AtomicU64, Ordering, spin_loop, thread};
use jumar_hal::{Tag, Task};

use cell::UnsafeCell;
pub(crate) use segment::Entry;
use segment::{Segment, Slot};

const STATE: u64 = 0b11;
const IDLE: u64 = 0;
const QUEUED: u64 = 1;
const RUNNING: u64 = 2;
const BLOCKED: u64 = 3;
const LOCK: u64 = 1 << 2;
const LISTED: u64 = 1 << 3;
const CALLED: u64 = 1 << 4;
const TAIL_SHIFT: u32 = 8;
const TAIL_ONE: u64 = 1 << TAIL_SHIFT;

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
    /// 1 KiB for a stream that nobody hurries; a million tasks at most.
    pub(crate) const USUAL: Sizes = Sizes {
        first: 16,
        largest: 1 << 16,
        limit: 1 << 20,
    };
}

/// Keeps the two halves on cache lines (and prefetched pairs of them) of their own.
#[repr(align(128))]
struct Padded<T>(T);

/// The ring of one stream.
pub(crate) struct Ring {
    front: Padded<Front>,
    back: Padded<Back>,
    sizes: Sizes,
}

struct Front {
    word: AtomicU64,
    producer: UnsafeCell<Producer>,
}

/// What the producer that holds the lock needs.
struct Producer {
    slots: *const Slot,
    mask: u64,
    /// The last position that is known to fit into the segment.
    room: u64,
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

// SAFETY: the cells are touched only under the word's lock or running state, and tasks may be sent between threads.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

/// What a push did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pushed {
    /// The task's position.
    pub(crate) position: u64,
    /// The stream was idle and is queued now, and the caller has to put it into the run queue.
    pub(crate) list: bool,
}

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// The stream was blocked and is queued now; the caller has to put it into the run queue if told so.
    Queued {
        /// Whether the stream has to be put into the run queue.
        list: bool,
    },
    /// Nothing to do: somebody is looking at it, or will.
    Noted,
}

const fn tail(word: u64) -> u64 {
    word >> TAIL_SHIFT
}

impl Ring {
    pub(crate) fn new(sizes: Sizes) -> Ring {
        let segment = Segment::leak(sizes.first);
        // SAFETY: the segment was just made and nobody frees it before the ring's owner.
        let (slots, mask) = unsafe { ((*segment).slots(), (*segment).mask()) };
        let producer = Producer {
            slots,
            mask,
            room: sizes.first as u64,
            base: 0,
            segment,
        };
        Ring {
            front: Padded(Front {
                word: AtomicU64::new(IDLE),
                producer: UnsafeCell::new(producer),
            }),
            back: Padded(Back {
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

    /// Gives the number of tasks pushed so far.
    pub(crate) fn submitted(&self) -> u64 {
        tail(self.front.0.word.load(Ordering::Acquire))
    }

    /// Gives the position up to which everything is finished.
    #[inline]
    pub(crate) fn completed(&self) -> u64 {
        self.back.0.progress.load(Ordering::Acquire) / DONE_ONE
    }

    /// Tells whether an owner is wanted.
    #[inline]
    pub(crate) fn is_queued(&self) -> bool {
        self.front.0.word.load(Ordering::Relaxed) & STATE == QUEUED
    }

    /// Marks that a thread is about to park, and gives the position completed. Whoever completes a later one sees the mark.
    pub(crate) fn mark_waited(&self) -> u64 {
        self.back.0.progress.fetch_or(WAITED, Ordering::AcqRel) / DONE_ONE
    }

    /// Takes the mark away. The caller makes sure that nobody marks at the same time.
    pub(crate) fn unmark_waited(&self) {
        self.back.0.progress.fetch_and(!WAITED, Ordering::AcqRel);
    }

    fn lock(&self) -> u64 {
        let word = &self.front.0.word;
        let mut seen = word.load(Ordering::Relaxed);
        let mut tries = 0u32;
        loop {
            if seen & LOCK == 0 {
                match word.compare_exchange_weak(
                    seen,
                    seen | LOCK,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => return seen | LOCK,
                    Err(now) => seen = now,
                }
                continue;
            }
            tries += 1;
            // A producer that lost its processor holds the lock for a whole time slice.
            if tries.is_multiple_of(64) {
                thread::yield_now();
            } else {
                spin_loop();
            }
            seen = word.load(Ordering::Relaxed);
        }
    }

    #[cold]
    fn make_room(&self, producer: &mut Producer, position: u64, more: bool) -> bool {
        let done = self.completed();
        if position - done > self.sizes.limit && !more {
            return false;
        }
        producer.room = done.max(producer.base) + producer.mask + 1;
        if position <= producer.room {
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
            room: position + mask,
            base: position - 1,
            segment,
        };
        true
    }

    /// Begins to append a task. With `more` the limit does not count. `None`: the ring holds as many as it may.
    #[inline]
    pub(crate) fn enter(&self, more: bool) -> Option<Entrance<'_>> {
        let seen = self.lock();
        let position = tail(seen) + 1;
        self.front.0.producer.with_mut(|producer| {
            // SAFETY: the lock makes this thread the only one in this half.
            let producer = unsafe { &mut *producer };
            if position > producer.room && !self.make_room(producer, position, more) {
                self.front.0.word.fetch_and(!LOCK, Ordering::Release);
                return None;
            }
            Some(Entrance { ring: self, seen })
        })
    }

    /// Writes a task into the slot of its position.
    ///
    /// # Safety
    ///
    /// The caller holds the lock, `position` is the next one, and there is room.
    #[inline]
    unsafe fn write(&self, position: u64, tag: Tag, task: Task) {
        self.front.0.producer.with_mut(|producer| {
            // SAFETY: the lock makes this thread the only one in this half.
            let producer = unsafe { &*producer };
            // SAFETY: the mask keeps the index inside the segment, which lives until the owner has read it to its end.
            let slot = unsafe { &*producer.slots.add((position & producer.mask) as usize) };
            // SAFETY: this thread is the only producer; there is room, so the slot's last entry was taken.
            unsafe { slot.write(position, tag, task) };
        });
    }

    /// Takes an idle stream, to do one task at once that is never written to a slot. Its position is taken too.
    #[inline]
    pub(crate) fn claim_next(&self) -> Option<Owner<'_>> {
        let word = &self.front.0.word;
        let seen = word.load(Ordering::Relaxed);
        if seen & (STATE | LOCK) != IDLE {
            return None;
        }
        let next = (seen | RUNNING) + TAIL_ONE;
        word.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed)
            .ok()?;
        Some(Owner { ring: self })
    }

    /// Takes an idle stream together with the producers' lock, to see whether its next task can be done at once.
    #[inline]
    pub(crate) fn claim(&self) -> Option<Claim<'_>> {
        let word = &self.front.0.word;
        let seen = word.load(Ordering::Relaxed);
        if seen & (STATE | LOCK) != IDLE {
            return None;
        }
        let next = seen | RUNNING | LOCK;
        word.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed)
            .ok()?;
        Some(Claim { ring: self })
    }

    /// Takes a queued stream and leaves its entry in the run queue.
    #[inline]
    pub(crate) fn take(&self) -> Option<Owner<'_>> {
        let word = &self.front.0.word;
        let mut seen = word.load(Ordering::Relaxed);
        while seen & STATE == QUEUED {
            let next = (seen & !STATE) | RUNNING;
            match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(Owner { ring: self }),
                Err(now) => seen = now,
            }
        }
        None
    }

    /// Notes that the stream's entry was taken out of the run queue, and takes the stream if it is queued.
    pub(crate) fn unlist(&self) -> Option<Owner<'_>> {
        let word = &self.front.0.word;
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let queued = seen & STATE == QUEUED;
            let next = if queued {
                (seen & !(STATE | LISTED)) | RUNNING
            } else {
                seen & !LISTED
            };
            match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return queued.then_some(Owner { ring: self }),
                Err(now) => seen = now,
            }
        }
    }

    /// Calls a stream that may be blocked: its signal was set, its time is over, or its tasks are to be dropped.
    pub(crate) fn call(&self) -> Called {
        let word = &self.front.0.word;
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let next = match seen & STATE {
                BLOCKED => (seen & !STATE) | QUEUED | LISTED,
                RUNNING => seen | CALLED,
                // Its next owner looks at everything anew; the empty exchange orders the caller's reasons before that.
                _ => seen,
            };
            match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if seen & STATE == BLOCKED => {
                    return Called::Queued {
                        list: seen & LISTED == 0,
                    };
                }
                Ok(_) => return Called::Noted,
                Err(now) => seen = now,
            }
        }
    }
}

/// The right to append one task.
#[must_use = "nobody else can append before the task is"]
pub(crate) struct Entrance<'a> {
    ring: &'a Ring,
    seen: u64,
}

impl Entrance<'_> {
    /// Appends the task.
    #[inline]
    pub(crate) fn push(self, tag: Tag, task: Task) -> Pushed {
        let mut seen = self.seen;
        let position = tail(seen) + 1;
        // SAFETY: `enter` took the lock and made room, and the word under the lock says which position is next.
        unsafe { self.ring.write(position, tag, task) };
        let word = &self.ring.front.0.word;
        loop {
            let woke = seen & STATE == IDLE;
            let more = if woke { QUEUED | LISTED } else { 0 };
            let next = ((seen & !LOCK) | more) + TAIL_ONE;
            match word.compare_exchange_weak(seen, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => {
                    return Pushed {
                        position,
                        list: woke && seen & LISTED == 0,
                    };
                }
                Err(now) => seen = now,
            }
        }
    }
}

/// An idle stream held with the producers' lock.
pub(crate) struct Claim<'a> {
    ring: &'a Ring,
}

impl<'a> Claim<'a> {
    /// Takes the position for a task that is done without a slot.
    #[inline]
    pub(crate) fn done(self) -> Owner<'a> {
        // Nobody else changes lock or state while both are held, but a call may add its flag.
        self.ring
            .front
            .0
            .word
            .fetch_add(TAIL_ONE - LOCK, Ordering::AcqRel);
        Owner { ring: self.ring }
    }

    /// Lets the idle stream go as it was.
    pub(crate) fn give_up(self) {
        // Nothing was pushed under the lock, and a call has nothing to say to an empty stream.
        self.ring
            .front
            .0
            .word
            .fetch_and(!(LOCK | STATE | CALLED), Ordering::Release);
    }
}

/// The right to run a stream's tasks. It is given back by `idle`, `block` or `queue`.
#[must_use = "a stream whose owner is lost never runs again"]
pub(crate) struct Owner<'a> {
    ring: &'a Ring,
}

impl<'a> Owner<'a> {
    /// Gives the position of the next task.
    #[inline]
    pub(crate) fn position(&self) -> u64 {
        self.ring.back.0.reader.with(|reader| {
            // SAFETY: the owner is the only one in this half.
            unsafe { (*reader).head + 1 }
        })
    }

    /// Tells whether there is a next task.
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
        // SAFETY: this is the owner, and `ready` found the entry; `skip` moves on so that nobody looks at it again.
        let entry = unsafe { self.slot().take() };
        self.skip();
        Some(entry)
    }

    /// Moves past the next position, which has no slot because it was claimed.
    #[inline]
    pub(crate) fn skip(&mut self) {
        self.ring.back.0.reader.with_mut(|reader| {
            // SAFETY: the owner is the only one in this half.
            unsafe { (*reader).head += 1 };
        });
    }

    /// Makes known that one more task has finished. Tells whether a thread is parked for some position.
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

    fn head(&self) -> u64 {
        self.position() - 1
    }

    /// Gives an empty stream back.
    ///
    /// # Errors
    /// The owner itself, when there is another task.
    #[inline]
    pub(crate) fn idle(self) -> Result<(), Self> {
        let head = self.head();
        let word = &self.ring.front.0.word;
        let mut seen = word.load(Ordering::Acquire);
        // The tail may be one behind: a producer has written its slot and is about to count it. It finds the stream
        // idle then and queues it, for nothing.
        while tail(seen) <= head {
            let next = (seen & !(STATE | CALLED)) | IDLE;
            match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => seen = now,
            }
        }
        Err(self)
    }

    /// Gives the stream back until it is called.
    ///
    /// # Errors
    /// The owner itself, when it was called in the meantime.
    pub(crate) fn block(self) -> Result<(), Self> {
        let word = &self.ring.front.0.word;
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let called = seen & CALLED != 0;
            let next = if called {
                seen & !CALLED
            } else {
                (seen & !STATE) | BLOCKED
            };
            match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if called => return Err(self),
                Ok(_) => return Ok(()),
                Err(now) => seen = now,
            }
        }
    }

    /// Gives back a stream that holds tasks. Tells whether the caller has to put it into the run queue.
    pub(crate) fn queue(self) -> bool {
        let word = &self.ring.front.0.word;
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let next = (seen & !(STATE | CALLED)) | QUEUED | LISTED;
            match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return seen & LISTED == 0,
                Err(now) => seen = now,
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let mut owner = Owner { ring: self };
        while let Some(entry) = owner.next() {
            drop(entry);
        }
        self.back.0.reader.with(|reader| {
            // SAFETY: nobody else is left; every segment but the last was freed when it was left.
            drop(unsafe { Box::from_raw((*reader).segment) });
        });
    }
}
