//! Files that a program names.

use std::fs;
use std::io::{Error, Read};
use std::path::Path;

/// Reads a regular file of at most `limit` bytes. Other files are refused before they are opened: a pipe would wait for a writer,
/// and a device may have no end.
///
/// # Errors
/// The rest of a sentence that begins with the name of the file.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let unread = |error: Error| format!("cannot be read: {error}");
    let data = fs::metadata(path).map_err(unread)?;
    if !data.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if data.len() > limit {
        return Err(format!(
            "has {} bytes; at most {limit} are read",
            data.len()
        ));
    }
    let mut bytes = Vec::new();
    // The file may grow meanwhile. Memory is asked for in a way that can be refused.
    let length = usize::try_from(data.len()).unwrap_or(usize::MAX);
    bytes
        .try_reserve_exact(length.saturating_add(1))
        .map_err(|_| format!("has {length} bytes, for which there is no memory"))?;
    let file = fs::File::open(path).map_err(unread)?;
    file.take(limit).read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}

/// Reads a regular file of text; see [`read`].
///
/// # Errors
/// As [`read`], and where the file is not UTF-8 text.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, String> {
    String::from_utf8(read(path, limit)?).map_err(|_| "is not UTF-8 text".to_owned())
}
