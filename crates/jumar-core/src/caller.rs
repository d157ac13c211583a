//! Who asks: the public function that an operation came in through, and what its thread looked up last.

use jumar_hal::Call;

use crate::CaptureMode;
use crate::memory::Lookups;
use crate::runtime::SharedRuntime;

/// Travels with every operation. It replaces a thread-local: core never asks which thread it is on.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The public function.
    pub call: &'static Call,
    /// The calling thread's last few allocations, and what else core keeps for a thread.
    pub lookups: &'a Lookups,
}

impl<'a> Caller<'a> {
    /// Names the caller.
    pub fn new(call: &'static Call, lookups: &'a Lookups) -> Self {
        Caller { call, lookups }
    }

    /// Numbers the calling thread, from 1.
    pub(crate) fn thread(&self, shared: &SharedRuntime) -> u64 {
        self.lookups.thread(&shared.thread_numbers)
    }

    /// Returns how much the captures of others forbid the calling thread.
    pub fn capture_mode(&self) -> CaptureMode {
        self.lookups.capture_mode.get()
    }

    /// Changes how much the captures of others forbid the calling thread. Returns what it was.
    pub fn set_capture_mode(&self, mode: CaptureMode) -> CaptureMode {
        self.lookups.capture_mode.replace(mode)
    }
}
