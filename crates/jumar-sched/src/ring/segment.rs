//! A block of slots.

use std::mem::MaybeUninit;
use std::ptr;

use jumar_hal::sync::{AtomicPtr, AtomicU64, Ordering};
use jumar_hal::{Tag, Task};

use super::cell::UnsafeCell;

/// What a slot holds.
pub(crate) struct Entry {
    pub(crate) tag: Tag,
    pub(crate) task: Task,
}

/// One cache line of the ring: an entry, and the position that it belongs to once it is complete.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// The position of the entry in here, stored after the entry was written; 0 before the first.
    sequence: AtomicU64,
    entry: UnsafeCell<MaybeUninit<Entry>>,
}

#[cfg(all(not(loom), target_pointer_width = "64"))]
const _: () = assert!(size_of::<Slot>() == 64);

impl Slot {
    fn new() -> Slot {
        Slot {
            sequence: AtomicU64::new(0),
            entry: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Puts an entry in and makes it known.
    ///
    /// # Safety
    ///
    /// The caller is the only producer, and the entry that was in here before has been taken.
    #[inline]
    pub(super) unsafe fn write(&self, position: u64, tag: Tag, task: Task) {
        self.entry.with_mut(|entry| {
            // SAFETY: no one else touches the entry: the caller is the only producer, and the owner does not
            // look at it before the sequence number allows it.
            unsafe { (*entry).write(Entry { tag, task }) };
        });
        self.sequence.store(position, Ordering::Release);
    }

    /// Returns whether the entry of a position is here.
    #[inline]
    pub(super) fn holds(&self, position: u64) -> bool {
        self.sequence.load(Ordering::Acquire) == position
    }

    /// Returns the entry.
    ///
    /// # Safety
    ///
    /// The caller owns the stream; `holds` was true for its position, whose entry has not been taken.
    #[inline]
    pub(super) unsafe fn entry(&self) -> &Entry {
        self.entry.with(|entry| {
            // SAFETY: the entry was written before its sequence number, and it is not written before it is taken.
            unsafe { (*entry).assume_init_ref() }
        })
    }

    /// Moves the entry out.
    ///
    /// # Safety
    ///
    /// As for `entry`; the entry counts as taken from now on.
    #[inline]
    pub(super) unsafe fn take(&self) -> Entry {
        self.entry.with(|entry| {
            // SAFETY: the entry is complete, and the caller does not look at it again.
            unsafe { (*entry).assume_init_read() }
        })
    }
}

/// A circular block of slots, and where it continues when it became too small.
pub(super) struct Segment {
    slots: Box<[Slot]>,
    next: AtomicPtr<Segment>,
    /// The first position that lies in the next segment; written before `next`.
    end: AtomicU64,
}

impl Segment {
    /// Creates a segment and releases its box: the owner of the stream frees it when it has read it to the end.
    pub(super) fn leak(slots: usize) -> *mut Segment {
        debug_assert!(slots.is_power_of_two());
        Box::into_raw(Box::new(Segment {
            slots: (0..slots).map(|_| Slot::new()).collect(),
            next: AtomicPtr::new(ptr::null_mut()),
            end: AtomicU64::new(0),
        }))
    }

    pub(super) fn slots(&self) -> *const Slot {
        self.slots.as_ptr()
    }

    pub(super) fn mask(&self) -> u64 {
        self.slots.len() as u64 - 1
    }

    /// Links the segment that holds the positions from `end` on.
    pub(super) fn link(&self, end: u64, next: *mut Segment) {
        self.end.store(end, Ordering::Relaxed);
        self.next.store(next, Ordering::Release);
    }

    /// Returns the next segment and the first position in it.
    pub(super) fn next(&self) -> Option<(*mut Segment, u64)> {
        let next = self.next.load(Ordering::Acquire);
        (!next.is_null()).then(|| (next, self.end.load(Ordering::Relaxed)))
    }
}
