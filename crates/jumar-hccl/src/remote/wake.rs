//! The page on which a process sleeps until another one has done something for it.

use std::io;
use std::time::Duration;

use jumar_hal::sync::{Ordering, fence};

use super::layout::{MAGIC, WAKE_PAGE};
use crate::os::Mapping;
use crate::protocol::{self, Words};

const BYTES: usize = 4096;
/// The word on which the process's own thread sleeps briefly.
const INTERRUPTS: usize = 8;

impl Words for Mapping {
    fn load(&self, index: usize) -> u64 {
        Mapping::load(self, index)
    }

    fn store(&self, index: usize, value: u64) {
        Mapping::store(self, index, value);
    }

    fn add(&self, index: usize, value: u64) {
        Mapping::add(self, index, value);
    }

    fn order(&self) {
        fence(Ordering::SeqCst);
    }

    fn sleep(&self, index: usize, seen: u64, limit: Duration) {
        Mapping::sleep(self, index, seen, limit);
    }

    fn wake(&self, index: usize) {
        Mapping::wake(self, index);
    }
}

/// A page of this process, or of another one.
pub(super) struct WakePage(Mapping);

impl WakePage {
    pub(super) fn create() -> io::Result<WakePage> {
        let page = Mapping::create(WAKE_PAGE, BYTES)?;
        page.store(0, MAGIC);
        Ok(WakePage(page))
    }

    pub(super) fn open(process: u32, descriptor: u32) -> io::Result<WakePage> {
        let page = Mapping::open(process, descriptor, WAKE_PAGE, BYTES, true)?;
        match page.load(0) {
            MAGIC => Ok(WakePage(page)),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is of another version",
            )),
        }
    }

    pub(super) fn descriptor(&self) -> u32 {
        self.0.descriptor()
    }

    pub(super) fn announce(&self) {
        protocol::announce(&self.0);
    }

    /// Begins to poll, until the returned value is dropped.
    pub(super) fn poll(&self) -> Polling<'_> {
        protocol::begin_polling(&self.0);
        Polling(self)
    }

    /// Returns whether a thread of the process polls.
    pub(super) fn is_polled(&self) -> bool {
        protocol::is_polled(&self.0)
    }

    /// Sleeps for `limit`, or until [`WakePage::interrupt`] is called.
    pub(super) fn sleep_briefly(&self, limit: Duration) {
        self.0.sleep(INTERRUPTS, self.0.load(INTERRUPTS), limit);
    }

    /// Ends a brief sleep.
    pub(super) fn interrupt(&self) {
        self.0.add(INTERRUPTS, 1);
        self.0.wake(INTERRUPTS);
    }

    pub(super) fn changes(&self) -> u64 {
        protocol::changes(&self.0)
    }

    pub(super) fn sleep(&self, seen: u64, limit: Duration) {
        protocol::sleep(&self.0, seen, limit);
    }
}

/// A thread that polls.
pub(super) struct Polling<'a>(&'a WakePage);

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        protocol::end_polling(&self.0.0);
    }
}
