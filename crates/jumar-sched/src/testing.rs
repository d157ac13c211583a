//! What the tests of several modules use.

use jumar_hal::{QueueObserver, Tag, Verdict};
use jumar_types::Error;

/// Watches nothing.
pub(crate) struct NoObserver;

impl QueueObserver for NoObserver {
    fn started(&self, _tag: Tag) {}
    fn finished(&self, _tag: Tag) {}
    fn failed(&self, _tag: Tag, _error: Error) -> Verdict {
        Verdict::Continue
    }
}
