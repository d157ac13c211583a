//! What happens when a page of a mapped file is not there: the file was cut short, or its disk failed.
//!
//! The system sends SIGBUS to the thread that touched the page. The handler here replaces that page and
//! all after it by zeros and records that for the owner of the mapping, so that the thread continues and the execution that read zeros is
//! answered with an error. A fault anywhere else is forwarded to the handler that was installed before.
//!
//! A handler can find what it needs only through the process, so the list of mapped ranges is one of the process. It is
//! installed when the first file is mapped, and stays.

mod chain;
pub mod guard;
pub(crate) mod kernel;

use std::io;
use std::ptr;

use chain::Chain;
use jumar_hal::sync::{AtomicUsize, Mutex, Ordering};

/// How many ranges there may be at once.
const MOST: usize = 512;

/// A range in which faults are answered. Empty while `start` is 0.
struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
    /// Counts the uses of this entry; a mapping knows its own.
    uses: AtomicUsize,
    /// The use during which a page was missing.
    lost: AtomicUsize,
}

static RANGES: [Range; MOST] = [const {
    Range {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        uses: AtomicUsize::new(0),
        lost: AtomicUsize::new(0),
    }
}; MOST];

/// Held while entries are taken and given back; never by the handler.
static CHANGE: Mutex<()> = Mutex::new(());

static CHAIN: Chain = Chain::new(libc::SIGBUS);

/// A range in which missing pages become zeros, until it is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappedRange {
    entry: usize,
    number: usize,
}

impl MappedRange {
    /// Answers faults in a range of whole pages from now on. `None` if there are too many ranges, or signals cannot be handled.
    pub(crate) fn open(start: usize, end: usize) -> Option<MappedRange> {
        if !CHAIN.install(on_fault) {
            return None;
        }
        let _change = CHANGE.lock();
        let entry = RANGES
            .iter()
            .position(|range| range.start.load(Ordering::Relaxed) == 0)?;
        let range = &RANGES[entry];
        let number = range.uses.fetch_add(1, Ordering::Relaxed) + 1;
        range.end.store(end, Ordering::Relaxed);
        // The handler reads the start first.
        range.start.store(start, Ordering::Release);
        Some(MappedRange { entry, number })
    }

    /// Answers no fault there any more.
    pub(crate) fn close(self) {
        let _change = CHANGE.lock();
        RANGES[self.entry].start.store(0, Ordering::Release);
    }

    /// Returns whether a page was missing.
    pub(crate) fn has_lost(self) -> bool {
        RANGES[self.entry].lost.load(Ordering::Acquire) == self.number
    }
}

/// Finds the entry of a range that holds an address.
fn holding(address: usize) -> Option<(&'static Range, usize)> {
    RANGES.iter().find_map(|range| {
        let start = range.start.load(Ordering::Acquire);
        let end = range.end.load(Ordering::Relaxed);
        (start != 0 && (start..end).contains(&address)).then_some((range, end))
    })
}

extern "C" fn on_fault(
    _signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the system hands a handler of this form a valid structure.
    let address = unsafe { (*info).si_addr() }.addr();
    // A signal that was sent has no address: the process that sent it stands there.
    if !chain::was_sent(info)
        && let Some((range, end)) = holding(address)
        && zeros(address & !(crate::PAGE - 1), end).is_ok()
    {
        let number = range.uses.load(Ordering::Relaxed);
        range.lost.store(number, Ordering::Release);
        return;
    }
    CHAIN.forward(info, context);
}

/// Replaces pages that cannot be read by fresh memory.
fn zeros(start: usize, end: usize) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let at = ptr::without_provenance_mut(start);
    // SAFETY: the pages are part of a range that `Space::map_file` mapped, and whose owner is notified.
    let mapped = unsafe { libc::mmap(at, end - start, access, flags, -1, 0) };
    match mapped == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}
