//! Reads files that a program or another file names.
//!
//! A name may lead anywhere: opening a named pipe blocks until a writer opens it, and a device such as `/dev/zero` never
//! ends. Only regular files are read, and never more of one than its kind of file can hold.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest kernel binary, model or file of weights that is read into memory at once.
///
/// # Units
///
/// Bytes.
pub const LARGEST: u64 = 1 << 38;

/// The largest configuration or description that is read.
///
/// # Units
///
/// Bytes.
pub const LARGEST_TEXT: u64 = 16 << 20;

/// Opens a regular file and returns its length.
///
/// # Errors
///
/// InvalidInput: it is not a regular file. Otherwise what the system reports.
pub fn open(path: impl AsRef<Path>) -> io::Result<(File, u64)> {
    let regular = |data: &std::fs::Metadata| match data.is_file() {
        true => Ok(data.len()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        )),
    };
    let path = path.as_ref();
    // Asked before the file is opened: opening a pipe blocks. Asked again afterwards: another file may have the name by then.
    regular(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    let length = regular(&file.metadata()?)?;
    Ok((file, length))
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
///
/// As [`open`]. FileTooLarge: it has more bytes. OutOfMemory: there is no memory for them.
pub fn read(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    let too_large = |length: u64| {
        let text = format!("it has {length} bytes; at most {most} are allowed");
        io::Error::new(io::ErrorKind::FileTooLarge, text)
    };
    if length > most {
        return Err(too_large(length));
    }
    let mut bytes = Vec::new();
    let capacity = usize::try_from(length).unwrap_or(usize::MAX);
    bytes
        .try_reserve_exact(capacity)
        .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    // The file may grow while it is read.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        length if length > most => Err(too_large(length)),
        _ => Ok(bytes),
    }
}

/// Reads a regular file of text, as [`read`].
///
/// # Errors
///
/// As [`read`]. InvalidData: it is not UTF-8.
pub fn read_text(path: impl AsRef<Path>, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        assert_eq!(read_text(&path, 9).unwrap(), "four");
        let error = read(&path, 3).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has 4 bytes; at most 3 are allowed");
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(
            read_text(&path, 9).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }

    #[test]
    fn what_is_not_a_regular_file_is_neither_opened_nor_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            let error = read(path, LARGEST).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
            assert_eq!(error.to_string(), "it is not a regular file");
        }
        let missing = read(folder.path().join("none"), 1).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
