//! Records that take no lock.

use jumar_hal::sync::{AtomicU64, Ordering};

/// Records of an event that is a level and keeps no time, on the stream that it was recorded on before, take no lock: how far
/// the stream was is stored beside the state, and the next owner of the lock merges it.
///
/// An epoch of such records ends when anything else of the newest record changes. A note carries the epoch's number, so that
/// one which comes late, of a record that such a change has overtaken, counts as made before the change.
#[derive(Default)]
pub(super) struct FastRecord {
    /// The number of the epoch, or 0 outside of one. Changed under the lock alone.
    open: AtomicU64,
    /// The stream of the epoch. Changed under the lock alone, before `open`.
    stream: AtomicU64,
    /// The number of an epoch, above [`Self::POSITION`], and the highest position that was noted in it.
    last: AtomicU64,
}

impl FastRecord {
    /// How many bits a position has.
    const POSITION: u32 = 44;
    /// The highest number of an epoch; then they begin anew.
    const MOST: u64 = (1 << (64 - FastRecord::POSITION)) - 1;

    /// Returns whether a position can be noted. A stream that is given a task each nanosecond for hours comes to one that cannot.
    pub(super) fn holds(position: u64) -> bool {
        position >> FastRecord::POSITION == 0
    }

    /// Returns the number of the epoch on the stream, if there is one.
    #[inline]
    pub(super) fn epoch_on(&self, stream: u64) -> Option<u64> {
        let epoch = self.open.load(Ordering::Acquire);
        (epoch != 0 && self.stream.load(Ordering::Relaxed) == stream).then_some(epoch)
    }

    /// Notes a record of an epoch. Of several threads' the one furthest on the stream stays; that of an epoch which has ended
    /// is left out.
    #[inline]
    pub(super) fn note(&self, epoch: u64, position: u64) {
        let note = epoch << FastRecord::POSITION | position;
        let mut last = self.last.load(Ordering::Acquire);
        while last >> FastRecord::POSITION != epoch || last < note {
            // Looked at behind `last`: a note of a later epoch shows that this one has ended.
            if self.open.load(Ordering::Acquire) != epoch {
                return;
            }
            match self
                .last
                .compare_exchange_weak(last, note, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return,
                Err(now) => last = now,
            }
        }
    }

    /// Returns the furthest position that was noted in the epoch. Called under the lock.
    pub(super) fn last_position(&self) -> Option<u64> {
        let open = self.open.load(Ordering::Relaxed);
        let last = self.last.load(Ordering::Acquire);
        (open != 0 && last >> FastRecord::POSITION == open)
            .then_some(last & ((1 << FastRecord::POSITION) - 1))
    }

    /// Ends the epoch. Called under the lock.
    pub(super) fn end(&self) {
        self.open.store(0, Ordering::Release);
    }

    /// Begins an epoch behind a record on the stream. `epoch` is the number of the one before, and becomes this one's.
    /// Called under the lock.
    pub(super) fn begin(&self, epoch: &mut u64, stream: u64) {
        *epoch = *epoch % FastRecord::MOST + 1;
        // Numbers come again: what an earlier epoch of this number left is not this one's.
        if self.last.load(Ordering::Relaxed) >> FastRecord::POSITION == *epoch {
            self.last.store(0, Ordering::Relaxed);
        }
        self.stream.store(stream, Ordering::Relaxed);
        self.open.store(*epoch, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_epoches_come_again_without_their_notes() {
        let fast_record = FastRecord::default();
        let mut epoch = 0;
        fast_record.begin(&mut epoch, 7);
        fast_record.note(epoch, 1_000);
        assert_eq!(fast_record.last_position(), Some(1_000));
        let first = epoch;
        for _ in 0..FastRecord::MOST {
            fast_record.end();
            fast_record.begin(&mut epoch, 8);
        }
        assert_eq!(epoch, first);
        assert_eq!(fast_record.last_position(), None);
        fast_record.note(epoch, 3);
        assert_eq!(fast_record.last_position(), Some(3));
    }

    #[test]
    fn the_furthest_note_stays() {
        let fast_record = FastRecord::default();
        let mut epoch = 0;
        fast_record.begin(&mut epoch, 7);
        fast_record.note(epoch, 9);
        fast_record.note(epoch, 8);
        assert_eq!(fast_record.last_position(), Some(9));
        assert_eq!(fast_record.epoch_on(7), Some(epoch));
        assert_eq!(fast_record.epoch_on(8), None);
        fast_record.end();
        fast_record.note(epoch, 10);
        assert_eq!(fast_record.last_position(), None);
    }
}

/// Under every interleaving: `RUSTFLAGS="--cfg loom" cargo test -p jumar-core --lib loom_`.
#[cfg(all(test, loom))]
mod model {
    use std::sync::Arc;

    use jumar_hal::sync::{Mutex, thread};

    use super::*;

    #[test]
    fn loom_a_record_that_returned_is_not_undone_by_a_late_note() {
        loom::model(|| {
            let fast_record = Arc::new(FastRecord::default());
            fast_record.begin(&mut 0, 7);
            let other = fast_record.clone();
            let late = thread::spawn(move || other.note(1, 1));
            fast_record.note(1, 2);
            assert_eq!(
                fast_record.last_position(),
                Some(2),
                "what this thread noted"
            );
            late.join().unwrap();
            assert_eq!(fast_record.last_position(), Some(2));
        });
    }

    #[test]
    fn loom_a_late_note_does_not_reach_the_next_epoch() {
        loom::model(|| {
            let fast_record = Arc::new(FastRecord::default());
            let epoch = Arc::new(Mutex::new(0));
            fast_record.begin(&mut epoch.lock(), 7);
            let other = fast_record.clone();
            let late = thread::spawn(move || other.note(1, 9));
            {
                let mut epoch = epoch.lock();
                fast_record.end();
                fast_record.begin(&mut epoch, 8);
            }
            fast_record.note(2, 3);
            assert_eq!(fast_record.last_position(), Some(3));
            late.join().unwrap();
            assert_eq!(fast_record.last_position(), Some(3));
        });
    }
}
