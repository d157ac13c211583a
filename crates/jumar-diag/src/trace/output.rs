//! The file of a timeline: complete between any two writes.

use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jumar_types::{Error, ErrorKind, Result};

use crate::output_file;

/// What makes the file complete.
const END: &str = "\n]}\n";
/// How many timelines of one name are written at once at most.
const MOST: u32 = 99;

pub(super) struct Output {
    file: File,
    /// Where the events that have ended stop; the next write starts here.
    written: u64,
    failed: Option<Error>,
}

impl Output {
    pub(super) fn create(path: &Path, header: &str) -> Result<(Output, PathBuf)> {
        let refuse = |path: &Path, error: io::Error| {
            let sentence = format!("the timeline {} cannot be written: {error}", path.display());
            Error::new(ErrorKind::InvalidFile, sentence)
                .fix("Name a file in a folder that exists and can be written.")
        };
        for number in 1..=MOST {
            let path = numbered(path, number);
            let Some(file) = open(&path).map_err(|error| refuse(&path, error))? else {
                continue;
            };
            let mut output = Output {
                file,
                written: 0,
                failed: None,
            };
            output.append(&path, header, "")?;
            return Ok((output, path));
        }
        let sentence = format!(
            "{MOST} timelines named {} are being written already",
            path.display()
        );
        Err(Error::new(ErrorKind::InvalidFile, sentence).fix("Name another file."))
    }

    /// Appends events that have ended, and puts behind them what the next call overwrites.
    pub(super) fn append(&mut self, path: &Path, ended: &str, going_on: &str) -> Result<()> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.write(ended, going_on).map_err(|error| {
            let sentence = format!(
                "the timeline {} could not be written to its end: {error}",
                path.display()
            );
            let error = Error::new(ErrorKind::InvalidFile, sentence);
            self.failed.insert(error).clone()
        })
    }

    fn write(&mut self, ended: &str, going_on: &str) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.written))?;
        // One write, so that a process that is killed leaves a complete file with all likelihood.
        let text = [ended, going_on, END].concat();
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(self.written + text.len() as u64)?;
        self.written += ended.len() as u64;
        Ok(())
    }
}

/// Opens and empties a file; `None` if another process writes it.
fn open(path: &Path) -> io::Result<Option<File>> {
    let file = output_file::open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // A file system without locks: then no process is excluded, which is better than no timeline.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    file.set_len(0)?;
    Ok(Some(file))
}

/// Puts a number before the extension, from 2 on.
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
