//! Records that take no lock.

use jumar_hal::sync::{AtomicU64, Ordering};

use super::State;

/// Records of an event that is a level and keeps no time, on the stream that it was recorded on before, take no lock: how far
/// the stream was is noted beside the state, and whoever takes the lock takes it over.
///
/// A stretch of such records ends when anything else of the newest record changes. A note carries the stretch's number, so that
/// one which comes late, of a record that such a change has overtaken, counts as made before the change.
#[derive(Default)]
pub(super) struct Quick {
    /// The number of the stretch, or 0 outside of one. Changed under the lock alone.
    pub(super) open: AtomicU64,
    /// The stream of the stretch. Changed under the lock alone, before `open`.
    pub(super) stream: AtomicU64,
    /// The number of a stretch, above [`Quick::POSITION`], and the position of its last record.
    pub(super) last: AtomicU64,
}

impl Quick {
    /// How many bits a position has.
    pub(super) const POSITION: u32 = 44;
    /// The highest number of a stretch; then they begin anew.
    pub(super) const MOST: u64 = (1 << (64 - Quick::POSITION)) - 1;

    pub(super) fn end(&self) {
        self.open.store(0, Ordering::Release);
    }

    /// Begins a stretch behind a record on the stream.
    pub(super) fn begin(&self, state: &mut State, stream: u64) {
        state.stretch = state.stretch % Quick::MOST + 1;
        self.stream.store(stream, Ordering::Relaxed);
        self.open.store(state.stretch, Ordering::Release);
    }
}
