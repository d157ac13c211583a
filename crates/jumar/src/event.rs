//! An event: a point in a stream that other streams and the host can wait for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jumar_core::EventStatus;
use jumar_types::{Error, ErrorKind, Result};

use crate::call::{self, by};
use crate::context::{self, refuse_in_host_function};

/// An event. A clone refers to the same event.
///
/// [`Stream::record`](crate::Stream::record) makes it stand for everything submitted to that stream so far;
/// [`Stream::wait`](crate::Stream::wait) holds another stream until that is done. Recording it again moves it on, and leaves
/// the waits alone that are queued.
///
/// # Ownership
/// It holds its context. What is queued needs no event: it may be dropped at once.
#[derive(Clone)]
pub struct Event {
    pub(crate) inner: Arc<SharedEvent>,
}

/// What the names of an event share.
pub(crate) struct SharedEvent {
    pub(crate) context: Arc<context::SharedContext>,
    pub(crate) core: Arc<jumar_core::Event>,
}

impl Event {
    pub(crate) fn new(context: Arc<context::SharedContext>, core: Arc<jumar_core::Event>) -> Event {
        Event {
            inner: Arc::new(SharedEvent { context, core }),
        }
    }

    /// Returns the event's number, which messages and timelines name it by.
    pub fn number(&self) -> u64 {
        self.inner.core.number()
    }

    /// Returns whether the event was ever recorded.
    pub fn is_recorded(&self) -> bool {
        self.inner.core.status() != EventStatus::NotRecorded
    }

    /// Returns whether the newest record was reached. Never blocks. An event that was never recorded is not done.
    pub fn is_done(&self) -> bool {
        self.inner.core.status() == EventStatus::Complete
    }

    /// Waits until the newest record was reached, at most for `limit`. Errors of tasks are left to the stream's own synchronise.
    ///
    /// # Threads
    /// Blocks the calling thread, which helps with the work meanwhile.
    ///
    /// # Errors
    /// `EventNotRecorded`: there is no record to wait for; `EventTimeout`: not reached within `limit`; `CallbackFailed`: called
    /// in a host function.
    pub fn synchronize(&self, limit: Option<Duration>) -> Result<()> {
        by(&call::SYNCHRONIZE_EVENT, |caller| {
            refuse_in_host_function()?;
            self.needs_record()?;
            self.inner.core.synchronize(limit, caller)
        })
    }

    /// Returns the time from another event's newest record to this one's, which came later.
    ///
    /// # Errors
    /// `EventNotRecorded`: one of them was never recorded; `EventTimestamp`: one of them is not done yet; `InvalidValue`: the
    /// other one came later.
    pub fn time_since(&self, earlier: &Event) -> Result<Duration> {
        let (start, end) = (earlier.inner.core.time_ns()?, self.inner.core.time_ns()?);
        end.checked_sub(start)
            .map(Duration::from_nanos)
            .ok_or_else(|| {
                let sentence = format!(
                    "event {} came {} ns before event {}",
                    self.number(),
                    start - end,
                    earlier.number()
                );
                Error::new(ErrorKind::InvalidValue, sentence).fix("Swap the two events.")
            })
    }

    pub(crate) fn needs_record(&self) -> Result<()> {
        if self.is_recorded() {
            return Ok(());
        }
        let sentence = format!(
            "event {} was never recorded, so there is nothing to wait for",
            self.number()
        );
        Err(Error::new(ErrorKind::EventNotRecorded, sentence)
            .fix("Record it with Stream::record first."))
    }
}

impl Drop for SharedEvent {
    fn drop(&mut self) {
        drop(by(&call::DROP_EVENT, |caller| self.core.destroy(caller)));
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.inner.core.status();
        let device = self.inner.context.core.device().number();
        f.debug_struct("Event")
            .field("number", &self.number())
            .field("device", &device)
            .field("status", &status)
            .finish()
    }
}
