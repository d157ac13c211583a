//! The streams of executions that the host waits for, one for each priority that was asked for.

use std::sync::{Arc, OnceLock};

use jumar_core::sync::Mutex;
use jumar_core::{Context, Stream, StreamOptions};
use jumar_types::{Error, ErrorKind, Result};

/// How many priorities a stream can have.
const PRIORITIES: usize = 8;

/// A model's own streams; each is made when it is first needed.
#[derive(Default)]
pub(crate) struct OwnStreams {
    streams: [OnceLock<Arc<Stream>>; PRIORITIES],
    /// Whether the model was unloaded. Held while a stream is made: a second thread would make another one, which nothing
    /// would destroy.
    closed: Mutex<bool>,
}

impl OwnStreams {
    /// Returns the stream of a priority; 0 is served first, and 7 is the last there is.
    ///
    /// # Errors
    /// What the context answers; `ModelExecute`: the model was unloaded.
    pub(crate) fn of(&self, context: &Arc<Context>, priority: u8) -> Result<Arc<Stream>> {
        let priority = usize::from(priority).min(PRIORITIES - 1);
        let own = &self.streams[priority];
        if let Some(stream) = own.get() {
            return Ok(stream.clone());
        }
        let closed = self.closed.lock();
        if let Some(stream) = own.get() {
            return Ok(stream.clone());
        }
        if *closed {
            return Err(Error::new(
                ErrorKind::ModelExecute,
                "the model was unloaded, and has no stream any more",
            ));
        }
        let stream = context.create_stream(StreamOptions {
            priority: priority as u8,
            ..StreamOptions::default()
        })?;
        Ok(own.get_or_init(|| stream).clone())
    }

    /// Returns the streams that were made; no more are made afterwards.
    pub(crate) fn close(&self) -> impl Iterator<Item = &Arc<Stream>> {
        *self.closed.lock() = true;
        self.made()
    }

    /// Returns the streams that were made.
    pub(crate) fn made(&self) -> impl Iterator<Item = &Arc<Stream>> {
        self.streams.iter().filter_map(OnceLock::get)
    }
}
