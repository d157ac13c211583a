//! Records that take no lock.

use jumar_hal::sync::{AtomicU64, Ordering};

/// Records of an event that is a level and keeps no time, on the stream that it was recorded on before, take no lock: how far
/// the stream was is stored beside the state, and the next owner of the lock merges it.
///
/// A stretch of such records ends when anything else of the newest record changes. A note carries the stretch's number, so that
/// one which comes late, of a record that such a change has overtaken, counts as made before the change.
#[derive(Default)]
pub(super) struct FastRecord {
    /// The number of the stretch, or 0 outside of one. Changed under the lock alone.
    open: AtomicU64,
    /// The stream of the stretch. Changed under the lock alone, before `open`.
    stream: AtomicU64,
    /// The number of a stretch, above [`Self::POSITION`], and the highest position that was noted in it.
    last: AtomicU64,
}

impl FastRecord {
    /// How many bits a position has.
    const POSITION: u32 = 44;
    /// The highest number of a stretch; then they begin anew.
    const MOST: u64 = (1 << (64 - FastRecord::POSITION)) - 1;

    /// Returns whether a position can be noted. A stream that is given a task each nanosecond for hours comes to one that cannot.
    pub(super) fn holds(position: u64) -> bool {
        position >> FastRecord::POSITION == 0
    }

    /// Returns the number of the stretch on the stream, if there is one.
    #[inline]
    pub(super) fn stretch_on(&self, stream: u64) -> Option<u64> {
        let stretch = self.open.load(Ordering::Acquire);
        (stretch != 0 && self.stream.load(Ordering::Relaxed) == stream).then_some(stretch)
    }

    /// Notes a record of a stretch. Of several threads' the one furthest on the stream stays; that of a stretch which has ended
    /// is left out.
    #[inline]
    pub(super) fn note(&self, stretch: u64, position: u64) {
        let note = stretch << FastRecord::POSITION | position;
        let mut last = self.last.load(Ordering::Acquire);
        while last >> FastRecord::POSITION != stretch || last < note {
            // Looked at behind `last`: a note of a later stretch shows that this one has ended.
            if self.open.load(Ordering::Acquire) != stretch {
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

    /// Returns the furthest position that was noted in the stretch. Called under the lock.
    pub(super) fn noted(&self) -> Option<u64> {
        let open = self.open.load(Ordering::Relaxed);
        let last = self.last.load(Ordering::Acquire);
        (open != 0 && last >> FastRecord::POSITION == open)
            .then_some(last & ((1 << FastRecord::POSITION) - 1))
    }

    /// Ends the stretch. Called under the lock.
    pub(super) fn end(&self) {
        self.open.store(0, Ordering::Release);
    }

    /// Begins a stretch behind a record on the stream. `stretch` is the number of the one before, and becomes this one's.
    /// Called under the lock.
    pub(super) fn begin(&self, stretch: &mut u64, stream: u64) {
        *stretch = *stretch % FastRecord::MOST + 1;
        // Numbers come again: what an earlier stretch of this number left is not this one's.
        if self.last.load(Ordering::Relaxed) >> FastRecord::POSITION == *stretch {
            self.last.store(0, Ordering::Relaxed);
        }
        self.stream.store(stream, Ordering::Relaxed);
        self.open.store(*stretch, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_stretches_come_again_without_their_notes() {
        let quick = FastRecord::default();
        let mut stretch = 0;
        quick.begin(&mut stretch, 7);
        quick.note(stretch, 1_000);
        assert_eq!(quick.noted(), Some(1_000));
        let first = stretch;
        for _ in 0..FastRecord::MOST {
            quick.end();
            quick.begin(&mut stretch, 8);
        }
        assert_eq!(stretch, first);
        assert_eq!(quick.noted(), None);
        quick.note(stretch, 3);
        assert_eq!(quick.noted(), Some(3));
    }

    #[test]
    fn the_furthest_note_stays() {
        let quick = FastRecord::default();
        let mut stretch = 0;
        quick.begin(&mut stretch, 7);
        quick.note(stretch, 9);
        quick.note(stretch, 8);
        assert_eq!(quick.noted(), Some(9));
        assert_eq!(quick.stretch_on(7), Some(stretch));
        assert_eq!(quick.stretch_on(8), None);
        quick.end();
        quick.note(stretch, 10);
        assert_eq!(quick.noted(), None);
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
            let quick = Arc::new(FastRecord::default());
            quick.begin(&mut 0, 7);
            let other = quick.clone();
            let late = thread::spawn(move || other.note(1, 1));
            quick.note(1, 2);
            assert_eq!(quick.noted(), Some(2), "what this thread noted");
            late.join().unwrap();
            assert_eq!(quick.noted(), Some(2));
        });
    }

    #[test]
    fn loom_a_late_note_does_not_reach_the_next_stretch() {
        loom::model(|| {
            let quick = Arc::new(FastRecord::default());
            let stretch = Arc::new(Mutex::new(0));
            quick.begin(&mut stretch.lock(), 7);
            let other = quick.clone();
            let late = thread::spawn(move || other.note(1, 9));
            {
                let mut stretch = stretch.lock();
                quick.end();
                quick.begin(&mut stretch, 8);
            }
            quick.note(2, 3);
            assert_eq!(quick.noted(), Some(3));
            late.join().unwrap();
            assert_eq!(quick.noted(), Some(3));
        });
    }
}
