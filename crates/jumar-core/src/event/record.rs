//! One record of an event, and the signals that serve again.

use std::collections::VecDeque;
use std::sync::Arc;

use jumar_hal::{Queue, Signal};

/// A record.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) number: u64,
    pub(super) point: Point,
    pub(super) stream_id: u64,
    pub(super) queue: Arc<dyn Queue>,
}

/// How one knows that a record was reached.
#[derive(Clone)]
pub(super) enum Point {
    /// By a signal of its own, for which streams wait, or which keeps the time.
    Signal(Arc<Signal>),
    /// By how far its queue has come: streams wait for the event's level.
    Position(u64),
}

impl Record {
    pub(super) fn is_reached(&self) -> bool {
        match &self.point {
            Point::Signal(signal) => signal.is_set(),
            Point::Position(position) => self.queue.completed() >= *position,
        }
    }
}

/// How many signals an event keeps for records to come.
const MOST: usize = 1024;

/// Signals of earlier records, oldest first: one that is set and has no other reference is reused.
#[derive(Default)]
pub(super) struct SignalFreeList(VecDeque<Arc<Signal>>);

impl SignalFreeList {
    /// Returns a clear signal.
    pub(super) fn take(&mut self, timed: bool) -> Arc<Signal> {
        let free = |signal: &Arc<Signal>| signal.is_set() && Arc::strong_count(signal) == 1;
        if self.0.front().is_some_and(free)
            && let Some(signal) = self.0.pop_front()
        {
            signal.renew();
            return signal;
        }
        Arc::new(match timed {
            true => Signal::new(),
            false => Signal::untimed(),
        })
    }

    /// Keeps the signal of a record that a newer one has replaced.
    pub(super) fn keep(&mut self, point: Point) {
        if let Point::Signal(signal) = point
            && self.0.len() < MOST
            && signal.shared_latch().is_none()
        {
            self.0.push_back(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_serves_again_once_it_is_set_and_nobody_else_has_it() {
        let mut spare = SignalFreeList::default();
        let first = spare.take(true);
        let address = Arc::as_ptr(&first);
        spare.keep(Point::Signal(first.clone()));
        // Not set yet; then set, but still referenced.
        assert_ne!(Arc::as_ptr(&spare.take(true)), address);
        first.set();
        assert_ne!(Arc::as_ptr(&spare.take(true)), address);
        drop(first);
        let again = spare.take(true);
        assert_eq!((Arc::as_ptr(&again), again.is_set()), (address, false));
    }
}
