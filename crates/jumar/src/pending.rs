//! What a queued copy or execution will have given when it is done.

use std::fmt;
use std::sync::Arc;

use jumar_core::Signal;
use jumar_types::Result;

use crate::call::{self, by};
use crate::context::refuse_in_host_function;
use crate::stream::Stream;

/// A value that a queued task works with: it is had back when the task is done.
///
/// # Ownership
/// Dropping or forgetting it takes nothing from the task: the task is done in its turn, and memory is freed after that.
#[must_use = "the value is had back by waiting"]
pub struct Pending<T> {
    value: T,
    stream: Stream,
    done: Arc<Signal>,
}

impl<T> Pending<T> {
    pub(crate) fn new(value: T, stream: Stream, done: Arc<Signal>) -> Pending<T> {
        Pending {
            value,
            stream,
            done,
        }
    }

    /// Tells whether the task is done. Never blocks.
    pub fn is_done(&self) -> bool {
        self.done.is_set()
    }

    /// Waits for the task and gives the value back.
    ///
    /// # Threads
    /// Blocks the calling thread, which helps with the work meanwhile.
    ///
    /// # Errors
    /// What a task of the stream failed with, this one or one before it whose error nobody was told yet, as
    /// [`Stream::synchronize`]. `CallbackFailed`: called in a host function.
    pub fn wait(self) -> Result<T> {
        let (value, result) = self.wait_with_result();
        result.map(|()| value)
    }

    /// Waits as [`Pending::wait`] does, and gives the value back whatever happened.
    pub fn wait_with_result(self) -> (T, Result<()>) {
        let result = by(&call::PENDING, |caller| {
            refuse_in_host_function()?;
            self.stream.reach(&self.done, caller)?;
            self.stream.inner.take_error()
        });
        (self.value, result)
    }
}

impl<T: fmt::Debug> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("value", &self.value)
            .field("is_done", &self.is_done())
            .finish()
    }
}
