//! How a thread that waits for other ranks leaves the processor to them.
//!
//! To yield takes about a microsecond, as long as a small operation. It helps only where a rank that is awaited needs the
//! processor of the thread that waits. If all of them run on other processors, what they do becomes visible sooner to a thread
//! that polls on.

use std::time::Duration;

use jumar_hal::sync::{Instant, spin_loop, thread};

/// How long a thread polls before it yields: ranks that are awaited elsewhere may have to wait for their processor.
const SPIN: Duration = Duration::from_micros(20);
/// After how many pauses the clock is read, which takes about as long as one.
const UNTIMED_PAUSES: u32 = 16;

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
