//! Models in the newer format (OM2).

use std::ffi::{CStr, OsStr};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jumar::offline::graph::files;
use jumar_types::{Error, ErrorKind, Result};

/// The first bytes of a model of the newer format (OM2), a zip archive.
const ARCHIVE: [u8; 4] = *b"PK\x03\x04";

/// Refuses an OM2 model for bundles and queues, which the executor of that format does not support.
pub(crate) fn refuse_archive(bytes: &[u8]) -> Result<()> {
    if !bytes.starts_with(&ARCHIVE) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::NotImplemented,
        "the model is an OM2 archive, which supports neither bundles nor queues",
    )
    .fix("Convert the ONNX model with this Jumar's atc."))
}

/// As [`refuse_archive`], for a file; an unreadable file is refused when it is opened.
pub(crate) fn refuse_archive_at(path: Option<&CStr>) -> Result<()> {
    let mut head = [0; ARCHIVE.len()];
    let read = path.and_then(|path| {
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        files::open(path).ok()?.0.read_exact(&mut head).ok()
    });
    read.map_or(Ok(()), |()| refuse_archive(&head))
}
