//! Writes the file of a timeline. After each write the file is a complete JSON document.

use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jumar_types::{Error, ErrorKind, Result};

use crate::output_file;

/// The end of the JSON document.
const END: &str = "\n]}\n";
/// The largest number of timelines with one name that processes may write at the same time.
const MAX_FILES: u32 = 99;

pub(super) struct Output {
    file: File,
    /// The offset behind the last event that has ended. The next write starts here.
    ended_bytes: u64,
    failed: Option<Error>,
}

impl Output {
    pub(super) fn create(path: &Path, header: &str) -> Result<(Output, PathBuf)> {
        let refuse = |path: &Path, error: io::Error| {
            let sentence = format!("the timeline {} cannot be written: {error}", path.display());
            Error::new(ErrorKind::InvalidFile, sentence)
                .fix("Name a file in a folder that exists and can be written.")
        };
        for number in 1..=MAX_FILES {
            let path = numbered(path, number);
            let Some(file) = open(&path).map_err(|error| refuse(&path, error))? else {
                continue;
            };
            let mut output = Output {
                file,
                ended_bytes: 0,
                failed: None,
            };
            output.append(&path, header, "")?;
            return Ok((output, path));
        }
        let sentence = format!(
            "{MAX_FILES} timelines named {} are being written already",
            path.display()
        );
        Err(Error::new(ErrorKind::InvalidFile, sentence).fix("Name another file."))
    }

    /// Appends events that have ended. Behind them it writes the unfinished events, which the next call overwrites.
    pub(super) fn append(&mut self, path: &Path, ended: &str, unfinished: &str) -> Result<()> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.write(ended, unfinished).map_err(|error| {
            let sentence = format!(
                "the timeline {} could not be written completely: {error}",
                path.display()
            );
            let error = Error::new(ErrorKind::InvalidFile, sentence);
            self.failed.insert(error).clone()
        })
    }

    fn write(&mut self, ended: &str, unfinished: &str) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.ended_bytes))?;
        // A single write, so that the file is very likely complete if the process is killed.
        let text = [ended, unfinished, END].concat();
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(self.ended_bytes + text.len() as u64)?;
        self.ended_bytes += ended.len() as u64;
        Ok(())
    }
}

/// Opens and truncates a file. Returns `None` if another process is writing it.
fn open(path: &Path) -> io::Result<Option<File>> {
    let file = output_file::open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // A file system without locks: two processes may then write one file, which is better than no timeline.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    file.set_len(0)?;
    Ok(Some(file))
}

/// Inserts a number before the extension of a path. The first path has no number.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    match path.extension() {
        Some(extension) => path.with_extension(format!("{number}.{}", extension.display())),
        None => path.with_extension(number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_before_the_extension() {
        assert_eq!(
            numbered(Path::new("a/out.json"), 1),
            Path::new("a/out.json")
        );
        assert_eq!(
            numbered(Path::new("a/out.json"), 2),
            Path::new("a/out.2.json")
        );
        assert_eq!(numbered(Path::new("a/out"), 3), Path::new("a/out.3"));
    }
}
