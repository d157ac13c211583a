//! Files of lines that the checks and fault injection append to, and the file that says whether all of them were written.
//!
//! A command that runs a program (`jumar check`, `explore`, `faults`) reads the lines when the program has ended. An absent line may
//! mean that there was nothing to report, or that the disk was full. So the command creates a [`RunStatus`] file beforehand, whose two
//! digits are overwritten in place: that needs no space on the disk.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::output_file;

/// What the processes of a run have done so far, in a file that they share.
#[derive(Debug)]
pub struct RunStatus {
    file: File,
}

/// The offset of the digit that says whether the checks of a process have started.
const STARTED: u64 = 0;
/// The offset of the digit that says whether a record could not be written.
const LOST: u64 = 1;

impl RunStatus {
    /// Creates the file, with nothing started and nothing lost.
    ///
    /// # Errors
    /// What the system answers.
    pub fn create(path: &Path) -> io::Result<()> {
        output_file::write(path, b"00\n")
    }

    /// Opens the file that another process has created.
    ///
    /// # Errors
    /// What the system answers; see [`output_file::open`].
    pub fn open(path: &Path) -> io::Result<RunStatus> {
        output_file::open(path).map(|file| RunStatus { file })
    }

    /// Reads whether the checks of a process have started, and whether a record was lost.
    ///
    /// # Errors
    /// `InvalidData`: the file does not hold a status.
    pub fn read(path: &Path) -> io::Result<(bool, bool)> {
        let mut digits = [0; 2];
        File::open(path)?.read_exact_at(&mut digits, 0)?;
        let digit = |offset: u64| match digits[offset as usize] {
            b'0' => Ok(false),
            b'1' => Ok(true),
            _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
        };
        Ok((digit(STARTED)?, digit(LOST)?))
    }

    /// States that the checks of a process have started.
    ///
    /// # Errors
    /// What the system answers.
    pub fn set_started(&self) -> io::Result<()> {
        self.file.write_all_at(b"1", STARTED)
    }

    /// States that a record could not be written.
    ///
    /// # Errors
    /// What the system answers.
    pub fn set_lost(&self) -> io::Result<()> {
        self.file.write_all_at(b"1", LOST)
    }
}

/// A file to which lines are appended, by one process or several.
#[derive(Debug)]
pub struct RecordFile {
    file: File,
    path: PathBuf,
    status: Option<RunStatus>,
    failed: bool,
}

impl RecordFile {
    /// Opens or creates the file. A line that cannot be written later is reported on standard error and in the file `status`.
    ///
    /// # Errors
    /// What the system answers for either file.
    pub fn open(path: &Path, status: Option<&Path>) -> io::Result<RecordFile> {
        let status = status.map(RunStatus::open).transpose()?;
        match output_file::append(path) {
            Ok(file) => Ok(RecordFile {
                file,
                path: path.to_owned(),
                status,
                failed: false,
            }),
            Err(error) => {
                if let Some(status) = status {
                    status.set_lost()?;
                }
                Err(error)
            }
        }
    }

    /// Appends a line with one write, so that a program that is killed leaves complete lines.
    pub fn append(&mut self, line: &str) {
        let Err(error) = self.file.write_all(format!("{line}\n").as_bytes()) else {
            return;
        };
        if let Some(Err(error)) = self.status.as_ref().map(RunStatus::set_lost) {
            eprintln!("jumar: the status of the run cannot be written: {error}");
        }
        if !std::mem::replace(&mut self.failed, true) {
            eprintln!(
                "jumar: {} is not complete: {error}; free space, or name a file on another disk",
                self.path.display()
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_written_is_stated_in_the_status() {
        let folder = tempfile::tempdir().expect("a folder");
        let (lines, status) = (folder.path().join("lines"), folder.path().join("status"));
        RunStatus::create(&status).expect("created");
        let mut record = RecordFile::open(&lines, Some(&status)).expect("opened");
        record.append("one");
        assert_eq!(RunStatus::read(&status).expect("a status"), (false, false));
        // Every write to this device answers that the disk is full.
        record.file = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("it opens");
        record.append("two");
        assert_eq!(RunStatus::read(&status).expect("a status"), (false, true));
        assert_eq!(std::fs::read_to_string(&lines).expect("lines"), "one\n");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_stated_in_the_status() {
        let folder = tempfile::tempdir().expect("a folder");
        let status = folder.path().join("status");
        RunStatus::create(&status).expect("created");
        assert!(RecordFile::open(&folder.path().join("no/lines"), Some(&status)).is_err());
        assert_eq!(RunStatus::read(&status).expect("a status"), (false, true));
    }

    #[test]
    fn a_status_that_was_cut_or_overwritten_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let status = folder.path().join("status");
        for content in ["", "0", "ab\n"] {
            std::fs::write(&status, content).expect("written");
            assert!(RunStatus::read(&status).is_err(), "{content:?}");
        }
    }
}
