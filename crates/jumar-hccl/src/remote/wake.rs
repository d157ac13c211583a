//! The page on which a process sleeps until another one has done something for it.

use std::io;
use std::time::Duration;

use jumar_hal::sync::{AtomicU64, Ordering, fence};

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
pub(super) struct WakePage {
    page: Mapping,
    /// How many operations have come to this process's ranks.
    arrivals: AtomicU64,
}

impl WakePage {
    pub(super) fn create() -> io::Result<WakePage> {
        let page = Mapping::create(WAKE_PAGE, BYTES)?;
        page.store(0, MAGIC);
        Ok(WakePage::of(page))
    }

    fn of(page: Mapping) -> WakePage {
        WakePage {
            page,
            arrivals: AtomicU64::new(0),
        }
    }

    pub(super) fn open(process: u32, descriptor: u32) -> io::Result<WakePage> {
        let page = Mapping::open(process, descriptor, WAKE_PAGE, BYTES, true)?;
        match page.load(0) {
            MAGIC => Ok(WakePage::of(page)),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is of another version",
            )),
        }
    }

    pub(super) fn descriptor(&self) -> u32 {
        self.page.descriptor()
    }

    pub(super) fn announce(&self) {
        protocol::announce(&self.page);
    }

    /// Announces a change to several processes.
    pub(super) fn announce_to_all<'a>(pages: impl Iterator<Item = &'a WakePage> + Clone) {
        protocol::announce_to_all(pages.map(|page| &page.page));
    }

    /// Notes that an operation has come to a rank of this process, whose own thread is to watch it.
    pub(super) fn note_arrival(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
        self.announce();
    }

    /// Returns how many operations have come.
    pub(super) fn arrivals(&self) -> u64 {
        self.arrivals.load(Ordering::Relaxed)
    }

    /// Sleeps for `limit`, or until [`WakePage::interrupt`] is called.
    pub(super) fn sleep_briefly(&self, limit: Duration) {
        self.page
            .sleep(INTERRUPTS, self.page.load(INTERRUPTS), limit);
    }

    /// Ends a brief sleep.
    pub(super) fn interrupt(&self) {
        self.page.add(INTERRUPTS, 1);
        self.page.wake(INTERRUPTS);
    }

    /// Sleeps until there is a change, or for `limit`. `is_over` handles changes that were there before; it returns whether there were any.
    pub(super) fn sleep(&self, is_over: impl FnOnce() -> bool, limit: Duration) {
        protocol::sleep(&self.page, is_over, limit);
    }
}
