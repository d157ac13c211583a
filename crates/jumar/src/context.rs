//! A context: where streams, events, buffers and models are made.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jumar_core::{EventFamily, StreamOptions};
use jumar_types::{Error, ErrorKind, Result};

use crate::call::{self, by};
use crate::device::Device;
use crate::event::Event;
use crate::runtime::{InHostFunction, Inner, wait_elsewhere};
use crate::stream::Stream;

/// A context on a device. A clone refers to the same context.
///
/// There is no current context: whatever is made names its context, and may be used from any thread.
///
/// # Ownership
/// It ends when its last name, stream, event and model are dropped.
#[derive(Clone)]
pub struct Context {
    pub(crate) inner: Arc<SharedContext>,
}

/// What the names of a context share.
pub(crate) struct SharedContext {
    pub(crate) runtime: Arc<Inner>,
    pub(crate) core: Arc<jumar_core::Context>,
}

impl Context {
    pub(crate) fn new(runtime: Arc<Inner>, core: Arc<jumar_core::Context>) -> Context {
        Context {
            inner: Arc::new(SharedContext { runtime, core }),
        }
    }

    /// Returns the device.
    pub fn device(&self) -> Device {
        Device {
            runtime: self.inner.runtime.clone(),
            core: self.inner.core.device().clone(),
        }
    }

    /// Makes a stream.
    ///
    /// # Errors
    /// `NoStreamResource`: the device has no stream left.
    pub fn stream(&self) -> Result<Stream> {
        self.stream_with_priority(0)
    }

    /// Makes a stream with a priority: 0 is served first, 7 last.
    ///
    /// # Errors
    /// `InvalidValue`: the priority is above 7; `NoStreamResource`: the device has no stream left.
    pub fn stream_with_priority(&self, priority: u8) -> Result<Stream> {
        by(&call::STREAM, |_| {
            if priority > 7 {
                let sentence = format!(
                    "the priority is {priority}; priorities are 0 (served first) to 7 (served last)"
                );
                return Err(Error::new(ErrorKind::InvalidValue, sentence));
            }
            let core = self
                .inner
                .core
                .create_stream(StreamOptions { priority, flags: 0 })?;
            Ok(Stream::new(self.inner.clone(), core))
        })
    }

    /// Makes an event that streams and the host can wait for, and that keeps the time of its record.
    ///
    /// # Errors
    /// `NoEventResource`: the device has no event left.
    pub fn event(&self) -> Result<Event> {
        let core = by(&call::EVENT, |_| {
            self.inner.core.create_event(EventFamily::Default, 0)
        })?;
        Ok(Event::new(self.inner.clone(), core))
    }

    /// Waits for everything that was submitted to any stream of the context.
    ///
    /// # Threads
    /// Blocks the calling thread, which helps with the work meanwhile.
    ///
    /// # Errors
    /// The error of a failed task; each is reported once. `StreamTimeout`: not done within `limit`. `CallbackFailed`: called
    /// in a host function.
    pub fn synchronize(&self, limit: Option<Duration>) -> Result<()> {
        by(&call::SYNCHRONIZE_CONTEXT, |caller| {
            refuse_in_host_function()?;
            self.inner.core.synchronize(limit, caller)
        })
    }
}

/// Refuses to wait where a stream waits for the calling thread.
pub(crate) fn refuse_in_host_function() -> Result<()> {
    if !InHostFunction::is_here() {
        return Ok(());
    }
    let sentence = "a host function waits for a stream, but its own stream waits until it returned";
    Err(Error::new(ErrorKind::CallbackFailed, sentence)
        .fix("Hand the result to another thread, and wait for the stream there."))
}

impl Drop for SharedContext {
    fn drop(&mut self) {
        let (core, runtime) = (self.core.clone(), self.runtime.clone());
        wait_elsewhere(move || {
            // Only a context that is gone refuses this, and then there is nothing to do.
            drop(by(&call::DROP_CONTEXT, |caller| core.destroy(caller)));
            drop(core);
            runtime.reclaim();
        });
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.inner.core.device().number())
            .finish()
    }
}
