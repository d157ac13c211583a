//! Which callbacks of the program may run now: they read and write host memory in the order of their streams.

/// The callbacks that were queued, or have begun.
#[derive(Default)]
pub(super) struct Callbacks {
    /// How many have not begun.
    queued: u64,
    /// The streams that wait for one that has begun, and its ticket. Nothing reports when it has returned: the host knows once it has waited
    /// for the stream.
    begun: Vec<(u32, u64)>,
}

impl Callbacks {
    /// Reports whether one may run before what is queued now.
    pub(super) fn may_run(&self) -> bool {
        self.queued > 0 || !self.begun.is_empty()
    }

    /// Notes one that was queued.
    pub(super) fn queue(&mut self) {
        self.queued += 1;
    }

    /// Notes that one begins on a stream, which `blocks` until it returns. What others do is in no order with what is queued later.
    pub(super) fn begin(&mut self, ticket: u64, stream: u32, blocks: bool) {
        self.remove(1);
        if blocks {
            // Those before it on the stream have returned.
            self.wait_for(stream, ticket);
            self.begun.push((stream, ticket));
        }
    }

    /// Notes that so many will not begin.
    pub(super) fn remove(&mut self, count: u64) {
        self.queued = self.queued.saturating_sub(count);
    }

    /// Notes that the host has waited for what was queued on a stream before a ticket.
    pub(super) fn wait_for(&mut self, stream: u32, before: u64) {
        self.begun
            .retain(|(other, ticket)| *other != stream || *ticket > before);
    }
}
