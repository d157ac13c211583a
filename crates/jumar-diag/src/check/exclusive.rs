//! What one task at a time may use: the operations of a communicator run one after the other.

use super::cells::{Access, Verb};
use super::conflict::line;
use super::order::{Actor, knows};
use super::race::Races;
use super::{Finding, SourceLocation};

impl Races {
    /// Notes that the last task of a stream uses what one task at a time may use. Returns a finding if no order puts it behind the
    /// last use on another stream.
    pub(super) fn uses_exclusively(
        &mut self,
        key: u64,
        stream: u32,
        location: SourceLocation,
        (rule, what): (&'static str, &str),
    ) -> Option<Finding> {
        let actor = self.order.known_stream(stream)?;
        let Actor { clock, blind, .. } = &self.order.actors[actor];
        let now = Access {
            actor: actor as u32,
            number: stream,
            at: clock.get(actor).copied().unwrap_or(0),
            ticket: 0,
            location,
            verb: Verb::Uses,
            program: 0,
            by_thread: false,
        };
        let earlier = self.exclusive.insert(key, now)?;
        if *blind || earlier.actor == now.actor || knows(clock, &earlier) {
            return None;
        }
        Some(
            line(rule, &now, format!("stream#{stream} uses {what}"))
                .and(
                    "earlier",
                    earlier.location,
                    format!("stream#{} uses it, and may not have ended", earlier.number),
                )
                .missing(format!(
                    "record an event on stream#{} after its operation, and let stream#{stream} wait for it",
                    earlier.number
                )),
        )
    }

    /// Forgets what is used exclusively: it is gone.
    pub(super) fn ends_exclusive_use(&mut self, key: u64) {
        self.exclusive.remove(&key);
    }
}
