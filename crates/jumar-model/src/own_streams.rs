//! The streams of executions that the host waits for, one for each priority that was asked for.

use std::sync::{Arc, OnceLock};

use jumar_core::{Context, Stream, StreamOptions};
use jumar_types::Result;

/// How many priorities a stream can have.
const PRIORITIES: usize = 8;

/// A model's own streams; each is made when it is first needed.
#[derive(Default)]
pub(crate) struct OwnStreams([OnceLock<Arc<Stream>>; PRIORITIES]);

impl OwnStreams {
    /// Gives the stream of a priority; 0 is served first, and 7 is the last there is.
    ///
    /// # Errors
    /// What the context answers.
    pub(crate) fn of(&self, context: &Arc<Context>, priority: u8) -> Result<Arc<Stream>> {
        let priority = usize::from(priority).min(PRIORITIES - 1);
        let own = &self.0[priority];
        if let Some(stream) = own.get() {
            return Ok(stream.clone());
        }
        let stream = context.create_stream(StreamOptions {
            priority: priority as u8,
            ..StreamOptions::default()
        })?;
        Ok(own.get_or_init(|| stream).clone())
    }

    /// Gives those that were made.
    pub(crate) fn made(&self) -> impl Iterator<Item = &Arc<Stream>> {
        self.0.iter().filter_map(OnceLock::get)
    }
}
