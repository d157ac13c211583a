//! Who asks: the public function that an operation came in through, and what its thread looked up last.

use jumar_hal::Call;

use crate::memory::Lookups;

/// Travels with every operation. It replaces a thread-local: core never asks which thread it is on.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The public function.
    pub call: &'static Call,
    /// The calling thread's last few allocations.
    pub lookups: &'a Lookups,
}

impl<'a> Caller<'a> {
    /// Names the caller.
    pub fn new(call: &'static Call, lookups: &'a Lookups) -> Self {
        Caller { call, lookups }
    }
}
