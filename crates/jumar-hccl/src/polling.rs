//! How a thread that waits for other ranks leaves the processor to them.
//!
//! To yield takes about a microsecond, as long as a small operation. It helps only where a rank that is awaited needs the
//! processor of the thread that waits. If all of them run on other processors, what they do becomes visible sooner to a thread
//! that polls on.
//!
//! The system leaves threads that yield to each other on one processor although another one is free: it takes each of them for busy, and what
//! they have in the caches for worth more. So a rank that shares its processor with more ranks than it has to moves to another one.

use std::time::Duration;

use jumar_hal::sync::{AtomicU32, Instant, Ordering, spin_loop, thread};

use crate::os;

/// How long a thread polls before it yields: ranks that are awaited elsewhere may have to wait for their processor.
const SPIN: Duration = Duration::from_micros(20);
/// After how many pauses the clock is read, which takes about as long as one.
const UNTIMED_PAUSES: u32 = 16;

/// After how many yields a rank looks whether it runs where too many ranks do.
const UNCHECKED_YIELDS: u32 = 256;

/// The pauses of one thread that polls.
#[derive(Default)]
pub(crate) struct Pauses {
    /// The pauses since the thread yielded last, and since when time is counted.
    pauses: u32,
    since: Option<Instant>,
}

impl Pauses {
    /// Waits a moment: yields if `is_needed_here` or if the thread has polled for long, and otherwise pauses.
    pub(crate) fn pause(&mut self, is_needed_here: bool) {
        self.pauses += 1;
        let mut is_over = || {
            let now = Instant::now();
            now.duration_since(*self.since.get_or_insert(now)) >= SPIN
        };
        if is_needed_here || (self.pauses.is_multiple_of(UNTIMED_PAUSES) && is_over()) {
            self.reset();
            thread::yield_now();
        } else {
            spin_loop();
        }
    }

    /// Notes that there was something to do.
    pub(crate) fn reset(&mut self) {
        *self = Pauses::default();
    }
}

/// Where one rank runs among others, as it sees that while it waits.
#[derive(Default)]
pub(crate) struct Placement {
    /// How often it yielded to a rank that needed its processor.
    yields: AtomicU32,
}

impl Placement {
    /// Notes that a rank has yielded to another one. Now and then moves the calling thread to another processor, if more ranks run on its own
    /// than have to. Returns whether it did. `processors` are those on which all ranks were last.
    pub(crate) fn has_yielded(
        &self,
        rank: usize,
        processors: impl Iterator<Item = u64> + Clone,
    ) -> bool {
        // Only a hint, and most often one thread polls for a rank.
        let yields = self.yields.load(Ordering::Relaxed).wrapping_add(1);
        self.yields.store(yields, Ordering::Relaxed);
        yields.is_multiple_of(UNCHECKED_YIELDS) && moves(rank, processors)
    }
}

/// Moves the calling thread if it is the one among the ranks of its processor that is to go elsewhere.
#[cold]
fn moves(rank: usize, processors: impl Iterator<Item = u64> + Clone) -> bool {
    let (ranks, available) = (processors.clone().count(), os::processors());
    is_to_move(rank, processors, available)
        // Beside another program it would wait for the end of that one's time slices.
        && os::runnable_threads().is_some_and(|all| all <= ranks || all < available)
        && os::leave_processor()
}

/// Reports whether a rank is the last of those on its processor, and they are more than there have to be on one of so many.
fn is_to_move(
    rank: usize,
    processors: impl Iterator<Item = u64> + Clone,
    available: usize,
) -> bool {
    let Some(here) = processors.clone().nth(rank) else {
        return false;
    };
    let ranks = processors.clone().count();
    let most = ranks.div_ceil(available.max(1));
    let mut beside = processors
        .enumerate()
        .filter(|(_, processor)| *processor == here);
    let last = beside.clone().last();
    beside.nth(most).is_some() && last.is_some_and(|(other, _)| other == rank)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::is_to_move;

    fn moving(processors: &[u64], available: usize) -> Vec<usize> {
        let ranks = 0..processors.len();
        ranks
            .filter(|rank| is_to_move(*rank, processors.iter().copied(), available))
            .collect()
    }

    #[test]
    fn the_last_rank_of_a_crowded_processor_moves() {
        assert_eq!(moving(&[0, 0, 0, 0], 2), [3]);
        assert_eq!(moving(&[0, 1, 0, 0], 2), [3]);
        assert_eq!(moving(&[1, 1, 1, 0], 2), [2]);
        assert_eq!(moving(&[0, 0, 1, 1, 1, 0], 4), [4, 5]);
    }

    #[test]
    fn ranks_that_are_spread_stay() {
        assert!(moving(&[0, 1, 1, 0], 2).is_empty());
        assert!(moving(&[0, 1, 1], 2).is_empty());
        assert!(moving(&[0, 0, 0, 0], 1).is_empty());
        assert!(moving(&[0, 1, 2, 3], 64).is_empty());
    }
}
