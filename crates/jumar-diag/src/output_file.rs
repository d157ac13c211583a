//! Files that a program names and the runtime writes.
//!
//! A path comes from the program, its environment or a predictable name, and the folder may belong to others, as `/tmp` does. So
//! only regular files are written: never through a symbolic link, which another user may have put there, and never into a
//! pipe or a device.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

/// Opens a file to be written from its start; its content stays until it is overwritten or cut.
///
/// # Errors
/// What the system answers; `InvalidInput`: the path names something else than a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OpenOptions::new().write(true)).map(|(file, _)| file)
}

/// Opens a file to be written at its end.
///
/// # Errors
/// As [`open`].
pub fn append(path: &Path) -> io::Result<File> {
    open_with(path, OpenOptions::new().append(true)).map(|(file, _)| file)
}

/// Writes a complete file. One that is made and cannot be written to its end, as on a full disk, is removed.
///
/// # Errors
/// As [`open`]; what the system answers to the write.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (file, made) = open_with(path, OpenOptions::new().write(true))?;
    fill(path, file, made, bytes)
}

fn fill(path: &Path, mut file: File, made: bool, bytes: &[u8]) -> io::Result<()> {
    if !made {
        file.set_len(0)?;
        return file.write_all(bytes);
    }
    file.write_all(bytes).inspect_err(|_| {
        // The error of the write says more than that of the removal.
        let _ = fs::remove_file(path);
    })
}

/// Opens a file. Returns whether it is new.
fn open_with(path: &Path, options: &mut OpenOptions) -> io::Result<(File, bool)> {
    // A file that is made is never found through a link.
    match options.clone().create_new(true).open(path) {
        Ok(file) => return Ok((file, true)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let named = fs::symlink_metadata(path)?;
    refuse_other_kinds(named.file_type())?;
    let file = options.open(path)?;
    // The name may have been given to something else between the two calls.
    let opened = file.metadata()?;
    if (named.dev(), named.ino()) != (opened.dev(), opened.ino()) {
        return Err(refused("was replaced while it was opened"));
    }
    Ok((file, false))
}

fn refuse_other_kinds(kind: fs::FileType) -> io::Result<()> {
    Err(refused(match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_symlink() => "is a symbolic link",
        kind if kind.is_dir() => "is a folder",
        kind if kind.is_fifo() => "is a pipe",
        kind if kind.is_socket() => "is a socket",
        _ => "is a device",
    }))
}

fn refused(what: &str) -> io::Error {
    let sentence = format!("it {what}, and only regular files are written");
    io::Error::new(io::ErrorKind::InvalidInput, sentence)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_made_overwritten_and_continued() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        write(&path, b"the first, longer text").expect("made");
        write(&path, b"second").expect("overwritten");
        let mut file = append(&path).expect("opened");
        file.write_all(b" text").expect("continued");
        assert_eq!(fs::read(&path).expect("it is there"), b"second text");
        let mut file = open(&path).expect("opened");
        file.write_all(b"S").expect("written");
        assert_eq!(fs::read(&path).expect("it is there"), b"Second text");
    }

    #[test]
    fn nothing_but_a_regular_file_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("target"), "kept").expect("written");
        symlink(path("target"), path("link")).expect("made");
        symlink(path("nowhere"), path("dangling")).expect("made");
        std::os::unix::net::UnixListener::bind(path("socket")).expect("bound");
        let cases = [
            (path("link"), "it is a symbolic link"),
            (path("dangling"), "it is a symbolic link"),
            (path("socket"), "it is a socket"),
            (folder.path().to_owned(), "it is a folder"),
            (Path::new("/dev/null").to_owned(), "it is a device"),
        ];
        for (path, wanted) in cases {
            let answers = [
                write(&path, b"lost"),
                open(&path).map(drop),
                append(&path).map(drop),
            ];
            for answer in answers {
                let error = answer.expect_err("it is not a regular file").to_string();
                assert!(error.starts_with(wanted), "{}: {error}", path.display());
            }
        }
        assert_eq!(fs::read(path("target")).expect("it is there"), b"kept");
        assert!(!path("nowhere").exists());
    }

    #[test]
    fn a_file_that_does_not_fit_on_the_disk_is_not_left_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "").expect("made");
        // Every write to this device answers that the disk is full.
        let full = OpenOptions::new().write(true).open("/dev/full");
        let written = fill(&path, full.expect("it opens"), true, b"bytes");
        assert_eq!(
            written.map_err(|error| error.kind()),
            Err(io::ErrorKind::StorageFull)
        );
        assert!(!path.exists());
    }
}
