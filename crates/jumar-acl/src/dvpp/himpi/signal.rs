//! The descriptor of a channel: readable while the program can fetch something from it.

use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use jumar_types::{Error, ErrorKind, Result};

/// The descriptor of the program, and the other end of its connection; none until the program asks for it.
#[derive(Debug, Default)]
pub(super) struct Signal(Option<(UnixStream, UnixStream)>);

/// The bytes that are read at a time.
const CHUNK: usize = 64;

impl Signal {
    /// Makes the descriptor readable or not.
    pub(super) fn show(&mut self, is_ready: bool) {
        let Some((near, far)) = &mut self.0 else {
            return;
        };
        // Neither blocks: a program that reads or fills the connection itself only disturbs its own waiting.
        if is_ready {
            let _ = far.write(&[1]);
        } else {
            let mut bytes = [0; CHUNK];
            while near.read(&mut bytes).is_ok_and(|read| read > 0) {}
        }
    }

    /// Returns the descriptor if it is that one.
    pub(super) fn borrow(&self, descriptor: i32) -> Option<BorrowedFd<'_>> {
        let (near, _) = self.0.as_ref()?;
        (near.as_raw_fd() == descriptor).then(|| near.as_fd())
    }

    /// Returns the descriptor, which the first call creates.
    ///
    /// # Errors
    /// `NoStreamResource`: the process has no more descriptors.
    pub(super) fn descriptor(&mut self, is_ready: bool, channel: &str) -> Result<i32> {
        if self.0.is_none() {
            let failed = |error: std::io::Error| {
                Error::new(
                    ErrorKind::NoStreamResource,
                    format!("no file descriptor for {channel}: {error}"),
                )
                .fix("Close files, or raise the limit of open files (ulimit -n).")
            };
            let (near, far) = UnixStream::pair().map_err(failed)?;
            near.set_nonblocking(true).map_err(failed)?;
            far.set_nonblocking(true).map_err(failed)?;
            self.0 = Some((near, far));
            if is_ready {
                self.show(true);
            }
        }
        Ok(self.0.as_ref().map_or(-1, |(near, _)| near.as_raw_fd()))
    }
}
