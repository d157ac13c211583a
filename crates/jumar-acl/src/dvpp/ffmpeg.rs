//! The library that decodes video instead of the built-in decoders, where the user wants that.

use jumar::config;
use jumar::engine::sync::Mutex;
use jumar_dvpp::video::{Codec, Ffmpeg};
use jumar_types::Result;

use crate::Cx;

/// The library that was loaded for a choice of the user.
#[derive(Default)]
pub(super) struct Libraries(Mutex<Option<LoadedLibrary>>);

struct LoadedLibrary {
    names: Vec<String>,
    /// Why there is none was logged.
    library: Option<Ffmpeg>,
}

/// Returns the library for a channel. `None`: the built-in decoder is used, and the log names why if the user wanted another one.
///
/// # Errors
/// `InvalidArgument`: the variable that chooses has an unknown value.
pub(super) fn library(cx: &Cx<'_>, codec: Codec) -> Result<Option<Ffmpeg>> {
    let names = config::ffmpeg()?;
    if names.is_empty() {
        return Ok(None);
    }
    let mut loaded = cx.process.dvpp.ffmpeg.0.lock();
    if loaded.as_ref().is_none_or(|loaded| loaded.names != names) {
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        let library = Ffmpeg::load(&wanted)
            .map_err(|error| built_in(&error.to_string()))
            .ok();
        *loaded = Some(LoadedLibrary { names, library });
    }
    let library = loaded.as_ref().and_then(|loaded| loaded.library.clone());
    drop(loaded);
    Ok(library.filter(|library| {
        library
            .check(codec)
            .map_err(|error| built_in(&error.to_string()))
            .is_ok()
    }))
}

/// Logs that a built-in decoder is used.
fn built_in(cause: &str) {
    crate::log::reported(&format!(
        "{cause}; the built-in decoders are used (JUMAR_FFMPEG)"
    ));
}
