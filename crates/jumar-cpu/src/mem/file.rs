//! Files that stand in a device's range: an allocation whose pages come from a file instead of from fresh memory.

use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::Arc;

use jumar_hal::sync::{AtomicUsize, Mutex, Ordering};
use jumar_hal::{FileImage, FileMapping, Span};
use jumar_types::{Error, ErrorKind, Result};

use super::OWN_PAGES;
use crate::PAGE;
use crate::fault::MappedRange;

/// The files that stand in one range.
#[derive(Default)]
pub(super) struct Files {
    mapped: Mutex<Vec<(usize, MappedRange)>>,
    /// How many there are, so that freeing other memory takes no lock.
    count: AtomicUsize,
}

struct Mapping(MappedRange);

impl FileMapping for Mapping {
    fn is_intact(&self) -> bool {
        !self.0.has_lost()
    }
}

impl Files {
    pub(super) fn map(&self, at: Span, image: &FileImage) -> Result<Arc<dyn FileMapping>> {
        let cannot = |what: &str| Err(Error::new(ErrorKind::FeatureUnsupported, what));
        // Smaller allocations share their pages with others.
        if at.bytes() < OWN_PAGES || image.bytes != at.bytes() {
            return cannot("so small a part of a file is not worth pages of its own");
        }
        let offset = libc::off_t::try_from(image.offset);
        let (Ok(offset), true, true) = (
            offset,
            at.address().is_multiple_of(PAGE),
            image.offset.is_multiple_of(PAGE as u64),
        ) else {
            return cannot("the part of the file does not begin at a page");
        };
        let bytes = at.bytes().next_multiple_of(PAGE);
        let Some(guard) = MappedRange::open(at.address(), at.address() + bytes) else {
            return cannot("more parts of files than can be watched are in use");
        };
        let flags = libc::MAP_PRIVATE | libc::MAP_NORESERVE | libc::MAP_FIXED;
        let start = ptr::without_provenance_mut(at.address());
        // SAFETY: the pages belong to a live allocation of the range (`Space::allocate` returns whole pages from this length on),
        // which are unused so far; the file's descriptor is open.
        let mapped = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(start, bytes, access, flags, image.file.as_raw_fd(), offset)
        };
        if mapped == libc::MAP_FAILED {
            guard.close();
            let system = io::Error::last_os_error();
            return Err(Error::new(
                ErrorKind::OutOfMemory,
                format!("the system did not map {bytes} bytes of a file: {system}"),
            ));
        }
        self.mapped.lock().push((at.address(), guard));
        self.count.fetch_add(1, Ordering::Release);
        Ok(Arc::new(Mapping(guard)))
    }

    /// Takes the file out of an allocation that is freed. Returns `None` if none stands there, and false if the system refused it.
    pub(super) fn unmap(&self, span: Span) -> Option<bool> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut mapped = self.mapped.lock();
        let at = mapped
            .iter()
            .position(|(start, _)| *start == span.address())?;
        let (start, guard) = mapped.swap_remove(at);
        self.count.fetch_sub(1, Ordering::Release);
        drop(mapped);
        let emptied = super::refresh(start, span.bytes().next_multiple_of(PAGE));
        guard.close();
        Some(emptied.is_ok())
    }
}
