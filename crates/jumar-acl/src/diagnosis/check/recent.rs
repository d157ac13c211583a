//! What a thread asked the checks lately, so that it need not ask again while nothing has changed.

use std::cell::RefCell;

use jumar::check::{Allocation, Check};

/// Two questions whose numbers here are the same push each other out.
const SLOTS: usize = 64;

struct Recent {
    /// A handle that was alive when so many objects had ended.
    alive: [(u64, u64); SLOTS],
    /// What lay around an address after so many allocations and frees.
    memory: [(usize, u64, Option<Allocation>); SLOTS],
}

thread_local! {
    static RECENT: RefCell<Option<Box<Recent>>> = const { RefCell::new(None) };
}

fn slot(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SLOTS
}

fn with<R>(ask: impl FnOnce(&mut Recent) -> R) -> Option<R> {
    let asked = RECENT.try_with(|recent| {
        let mut recent = recent.borrow_mut();
        let recent = recent.get_or_insert_with(|| {
            Box::new(Recent {
                alive: [(0, 0); SLOTS],
                memory: [const { (0, 0, None) }; SLOTS],
            })
        });
        ask(recent)
    });
    asked.ok()
}

/// Returns whether an object was alive lately, and nothing has ended since.
pub(super) fn is_alive(check: &Check, key: u64) -> bool {
    with(|recent| recent.alive[slot(key)] == (key, check.ends())).unwrap_or(false)
}

/// Notes that an object was alive when [`Check::ends`] gave `then`.
pub(super) fn set_alive(key: u64, then: u64) {
    with(|recent| recent.alive[slot(key)] = (key, then));
}

/// Finds the allocation around an address.
pub(super) fn allocation(check: &Check, address: usize) -> Option<Allocation> {
    let moves = check.moves();
    let kept = with(|recent| {
        let (of, then, allocation) = &recent.memory[slot(address as u64)];
        (*of == address && *then == moves).then(|| allocation.clone())
    });
    if let Some(kept) = kept.flatten() {
        return kept;
    }
    let found = check.allocation(address);
    with(|recent| recent.memory[slot(address as u64)] = (address, moves, found.clone()));
    found
}

/// Returns whether a range is known to lie inside its allocation, as the program asked for it.
pub(super) fn fits(check: &Check, address: usize, bytes: usize) -> bool {
    let fits = with(|recent| {
        let (of, then, allocation) = &recent.memory[slot(address as u64)];
        *of == address
            && *then == check.moves()
            && allocation
                .as_ref()
                .is_some_and(|known| bytes <= super::memory::left(known, address))
    });
    fits.unwrap_or(false)
}
