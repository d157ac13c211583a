//! A notify's bit.
//!
//! Any process that has the notify may queue a record at any time, this one included. A wait is given up where a record is not likely any
//! more: the last of the other processes was killed, or ended without giving its notify back, and this process does not seem to record
//! the notify itself. It may do so
//!
//! - if it has recorded it before, or
//! - if it made the notify, and the others were gone before the wait began: then the wait can only be for this process.

use super::*;
use jumar_hal::sync::{AtomicBool, AtomicU32};

/// The bit of a notify that processes share.
pub(crate) struct SharedBit {
    control_page: Arc<IpcControlPage>,
    /// This process has recorded the notify.
    own_record: AtomicBool,
    /// What the last poll found, as a number.
    others: AtomicU32,
    /// How often the last of the other processes was found lost.
    desertions: AtomicU64,
    poll_limit: PollLimit,
}

impl SharedBit {
    pub(crate) fn new(control_page: Arc<IpcControlPage>) -> Arc<SharedBit> {
        Arc::new(SharedBit {
            control_page,
            own_record: AtomicBool::new(false),
            others: AtomicU32::new(Others::None as u32),
            desertions: AtomicU64::new(0),
            poll_limit: PollLimit::default(),
        })
    }

    pub(crate) fn control_page(&self) -> &Arc<IpcControlPage> {
        &self.control_page
    }

    /// Notes that a stream of this process records the notify.
    pub(crate) fn note_own_record(&self) {
        self.own_record.store(true, Ordering::Relaxed);
    }

    /// Checks whether the other processes run.
    fn poll_others(&self) -> Others {
        let found = others(&*self.control_page, self.control_page.slot);
        let before = self.others.swap(found as u32, Ordering::AcqRel);
        if found == Others::Lost && before != Others::Lost as u32 {
            self.desertions.fetch_add(1, Ordering::AcqRel);
        }
        found
    }
}

/// What is known of the other processes of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Others {
    /// There were none, or all of them left.
    None,
    /// One is there.
    Present,
    /// There were some, and one ended without leaving the list.
    Lost,
}

pub(super) fn others(words: &dyn Words, own: usize) -> Others {
    let mut lost = words.read(LOST) > 0;
    for slot in (0..SLOTS).filter(|slot| *slot != own) {
        if words.read(entry(slot)) == 0 {
            continue;
        }
        if is_alive(words, slot) {
            return Others::Present;
        }
        lost = true;
    }
    match lost {
        true => Others::Lost,
        false => Others::None,
    }
}

impl SharedLatch for SharedBit {
    fn is_set(&self) -> bool {
        self.control_page.read(VALUE) != 0
    }

    fn set(&self) {
        self.note_own_record();
        self.control_page.write(VALUE, 1);
    }

    fn take(&self) -> bool {
        self.control_page.exchange(VALUE, 1, 0)
    }

    fn address(&self) -> usize {
        self.control_page.word(VALUE).address()
    }

    fn begin_wait(&self) -> u64 {
        let found = self.poll_others();
        let desertions = self.desertions.load(Ordering::Acquire);
        match found == Others::Lost && self.control_page.adopted {
            // The process that made it is gone already, as are all others that had it.
            true => desertions.wrapping_sub(1),
            false => desertions,
        }
    }

    fn examine(&self) {
        if self.poll_limit.is_over() {
            self.poll_others();
        }
    }

    fn is_deserted(&self, wait: u64) -> bool {
        self.desertions.load(Ordering::Acquire) != wait && !self.own_record.load(Ordering::Relaxed)
    }

    fn desertion(&self) -> Error {
        gone("notify")
    }
}
