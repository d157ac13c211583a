//! Files that a program or its environment names and the runtime reads.
//!
//! The name may be that of a device that never ends, or of a pipe that nothing writes to. So only regular files are read, up to a
//! limit that the reader states.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a text of at most `most` bytes.
///
/// # Errors
/// What the system answers; `InvalidInput`: the path does not name a regular file, or the file is larger; `InvalidData`: it is not
/// UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let refused = |sentence: String| io::Error::new(io::ErrorKind::InvalidInput, sentence);
    // Asked before the file is opened: a pipe without a writer would block the call.
    if !std::fs::metadata(path)?.is_file() {
        return Err(refused("it is not a regular file".to_owned()));
    }
    let mut text = String::new();
    let read = File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if read as u64 > most {
        return Err(refused(format!("it is larger than {most} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_up_to_the_limit_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        std::fs::write(&path, "four").expect("written");
        assert_eq!(read_text(&path, 4).expect("read"), "four");
        assert!(read_text(&path, 3).is_err());
    }

    #[test]
    fn devices_folders_and_pipes_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        for path in [Path::new("/dev/zero"), folder.path(), &pipe] {
            let error = read_text(path, 10).expect_err("it is not a regular file");
            assert_eq!(
                error.kind(),
                io::ErrorKind::InvalidInput,
                "{}",
                path.display()
            );
        }
    }
}
