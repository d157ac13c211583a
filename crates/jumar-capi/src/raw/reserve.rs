//! The allocator of the library: the system's, and a reserve for the moment when that has nothing left.
//!
//! A process may have a limit of its address space or its memory. Rust ends a process where a small allocation fails. So the first
//! allocations that fail are served from memory that was set aside when the library was loaded, which lets the call that needs them end in
//! order. From then on calls are refused ([`is_exhausted`]), except those that release something, until the system has memory again.
//!
//! Large allocations do not use the reserve: code that makes them on behalf of a program asks whether they succeed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;

use jumar_hal::sync::{AtomicBool, Ordering, spin_loop};

/// The bytes of the reserve. They take addresses, and no memory until they are used.
const BYTES: usize = 2 << 20;
/// The largest allocation that the reserve serves.
const LARGEST: usize = 256 << 10;
/// What the system has to have before calls are accepted again.
const ENOUGH: usize = 512 << 10;

/// Parts of the names of calls that are never refused: they release something, or say what went wrong.
const RELEASES: &[&str] = &[
    "Abort", "Close", "Destroy", "Error", "ErrMsg", "Finalize", "Free", "Release", "Reset",
    "Unload", "UnLoad",
];

/// Memory in which allocations follow each other. It begins anew when none is left.
struct Reserve<const SIZE: usize> {
    bytes: Bytes<SIZE>,
    locked: AtomicBool,
    state: UnsafeCell<State>,
}

#[repr(align(4096))]
struct Bytes<const SIZE: usize>(UnsafeCell<[u8; SIZE]>);

struct State {
    used: usize,
    live: usize,
}

// SAFETY: the state is touched under the lock alone, and each byte belongs to the allocation that it was handed out for.
unsafe impl<const SIZE: usize> Sync for Reserve<SIZE> {}

static RESERVE: Reserve<BYTES> = Reserve::new();
/// Whether the reserve was used since the system last had memory.
static EXHAUSTED: AtomicBool = AtomicBool::new(false);
/// Whether a refused call has left its text since then.
static EXPLAINED: AtomicBool = AtomicBool::new(false);

impl<const SIZE: usize> Reserve<SIZE> {
    const fn new() -> Self {
        Reserve {
            bytes: Bytes(UnsafeCell::new([0; SIZE])),
            locked: AtomicBool::new(false),
            state: UnsafeCell::new(State { used: 0, live: 0 }),
        }
    }

    /// Changes the state. A lock that sleeps might allocate.
    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        while self.locked.swap(true, Ordering::Acquire) {
            spin_loop();
        }
        // SAFETY: the lock is held, and the reference ends before it is released; `change` does not come back here.
        let result = change(unsafe { &mut *self.state.get() });
        self.locked.store(false, Ordering::Release);
        result
    }

    fn base(&self) -> *mut u8 {
        self.bytes.0.get().cast()
    }

    fn owns(&self, address: *mut u8) -> bool {
        address.addr().wrapping_sub(self.base().addr()) < SIZE
    }

    /// Hands out memory; null where there is none.
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > 4096 {
            return ptr::null_mut();
        }
        let offset = self.with(|state| {
            let start = state.used.next_multiple_of(layout.align());
            let end = start.checked_add(layout.size().max(1))?;
            if end > SIZE {
                return None;
            }
            state.used = end;
            state.live += 1;
            Some(start)
        });
        offset.map_or(ptr::null_mut(), |offset| self.base().wrapping_add(offset))
    }

    /// Takes memory back that was handed out for a layout.
    fn give_back(&self, memory: *mut u8, layout: Layout) {
        let start = memory.addr() - self.base().addr();
        self.with(|state| {
            state.live -= 1;
            // What a call allocates it frees in the reverse order, mostly.
            if state.live == 0 {
                state.used = 0;
            } else if start + layout.size().max(1) == state.used {
                state.used = start;
            }
        });
    }
}

/// The system's allocator with the reserve behind it.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

#[cold]
fn from_reserve(layout: Layout) -> *mut u8 {
    let memory = RESERVE.take(layout);
    EXHAUSTED.store(true, Ordering::Relaxed);
    memory
}

// SAFETY: each method passes the caller's contract to the system's allocator; memory of the reserve is apart from that, and is handed out
// once at a time.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        let memory = unsafe { System.alloc(layout) };
        match memory.is_null() {
            true => from_reserve(layout),
            false => memory,
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if !memory.is_null() {
            return memory;
        }
        let memory = from_reserve(layout);
        if !memory.is_null() {
            // SAFETY: memory of this layout that only this call has.
            unsafe { memory.write_bytes(0, layout.size()) };
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if RESERVE.owns(memory) {
            return RESERVE.give_back(memory, layout);
        }
        // SAFETY: the caller's contract, and the memory is the system's.
        unsafe { System.dealloc(memory, layout) };
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.owns(memory) {
            // SAFETY: the caller's contract, and the memory is the system's.
            let moved = unsafe { System.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller guarantees that the size, rounded up to the alignment, is one that a layout can have.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the caller guarantees a size above 0.
        let moved = unsafe { self.alloc(new) };
        if moved.is_null() {
            return moved;
        }
        // SAFETY: both have so many bytes, and the new memory is another.
        unsafe { ptr::copy_nonoverlapping(memory, moved, layout.size().min(size)) };
        // SAFETY: the caller's contract; the contents were copied.
        unsafe { self.dealloc(memory, layout) };
        moved
    }
}

/// Returns whether a call has to be refused: the system had no memory left a moment ago, and still has none.
#[inline]
pub fn is_exhausted(call: &str) -> bool {
    EXHAUSTED.load(Ordering::Relaxed) && refuses(call)
}

#[cold]
fn refuses(call: &str) -> bool {
    let layout = Layout::new::<[u8; ENOUGH]>();
    // SAFETY: the layout has a size.
    let memory = unsafe { System.alloc(layout) };
    // An optimiser leaves out an allocation that is freed at once, and takes it that it succeeds.
    let memory = std::hint::black_box(memory);
    if memory.is_null() {
        return !RELEASES.iter().any(|part| call.contains(part));
    }
    // SAFETY: allocated above, with this layout.
    unsafe { System.dealloc(memory, layout) };
    EXHAUSTED.store(false, Ordering::Relaxed);
    EXPLAINED.store(false, Ordering::Relaxed);
    false
}

/// Returns whether a refused call leaves a text: the first one alone, as texts take memory.
pub fn explains() -> bool {
    !EXPLAINED.swap(true, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    #[test]
    fn a_reserve_hands_each_byte_out_once_and_begins_anew_when_all_is_back() {
        let reserve = Box::new(Reserve::<65536>::new());
        let first = reserve.take(layout(3, 1));
        let second = reserve.take(layout(1000, 64));
        assert!(reserve.owns(first) && reserve.owns(second));
        assert!(second.addr().is_multiple_of(64) && second.addr() - first.addr() >= 3);
        assert!(reserve.take(layout(65536, 1)).is_null());
        assert!(reserve.take(layout(LARGEST + 1, 1)).is_null());
        // The latest allocation leaves its bytes to the next; an earlier one does not.
        reserve.give_back(second, layout(1000, 64));
        assert_eq!(reserve.take(layout(1000, 64)), second);
        reserve.give_back(first, layout(3, 1));
        let third = reserve.take(layout(8, 8));
        assert!(third.addr() >= second.addr() + 1000);
        reserve.give_back(second, layout(1000, 64));
        reserve.give_back(third, layout(8, 8));
        assert_eq!(reserve.take(layout(3, 1)), first);
        assert!(!reserve.owns(ptr::from_ref(&reserve).cast_mut().cast()));
    }
}
