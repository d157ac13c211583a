//! Addresses and memory kept apart: ranges that are reserved first, and physical memory that is mapped into them later.
//!
//! A reserved range is always mapped, to nothing in particular while no physical memory is: a span that is used too
//! long reads zeros and never faults. Ranges that were given back are kept for the next request of the same size.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::Arc;

use jumar_hal::sync::Mutex;
use jumar_hal::{Physical, Span};
use jumar_types::{Error, ErrorKind, Result};

use super::shared;

/// Physical memory: pages of a memory file, which arrive when they are touched.
pub(crate) struct PhysicalPages {
    file: File,
    bytes: usize,
}

impl Physical for PhysicalPages {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn map(&self, at: Span) -> Result<()> {
        let bytes = self.bytes.min(at.bytes());
        // SAFETY: the range was reserved by `Reservations`, so replacing its pages takes nothing away from anybody else.
        unsafe { map_over(&self.file, 0, at.address(), bytes) }
    }

    fn share(&self, listed_only: bool) -> Result<u64> {
        shared::publish(&self.file, self.bytes, listed_only)
    }

    fn admit(&self, processes: &[u32]) -> Result<()> {
        shared::admit(&self.file, self.bytes, processes)
    }

    fn withdraw(&self) -> Result<()> {
        shared::withdraw(&self.file, self.bytes)
    }
}

impl PhysicalPages {
    /// Maps the memory at an address of the system's choice, for the lifetime of the process.
    pub(crate) fn map_anew(&self, access: libc::c_int) -> Result<usize> {
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let descriptor = self.file.as_raw_fd();
        // SAFETY: a mapping at an address of the system's choice touches nothing that exists.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), self.bytes, access, flags, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return Err(refused("map memory twice"));
        }
        Ok(start.expose_provenance())
    }
}

/// Replaces the pages at an address by pages of a memory file.
///
/// # Errors
/// `OutOfMemory`: the system refused it.
///
/// # Safety
///
/// The pages are this module's, and nothing relies on what they held.
pub(super) unsafe fn map_over(file: &File, offset: usize, at: usize, bytes: usize) -> Result<()> {
    // SAFETY: the caller's.
    let mapped = unsafe {
        libc::mmap(
            ptr::without_provenance_mut(at),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_FIXED,
            file.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    if mapped == libc::MAP_FAILED {
        return Err(refused("map physical memory"));
    }
    Ok(())
}

/// Writes mapped pages into a memory file.
///
/// # Errors
/// `OutOfMemory`: the system refused it.
pub(super) fn write_pages(file: &File, offset: usize, pages: &Range<usize>) -> Result<()> {
    let mut done = 0;
    while done < pages.len() {
        // SAFETY: the range is mapped and readable; the kernel copies from it, and Rust makes no reference to it.
        let written = unsafe {
            libc::pwrite(
                file.as_raw_fd(),
                ptr::with_exposed_provenance(pages.start + done),
                pages.len() - done,
                (offset + done) as libc::off_t,
            )
        };
        match written {
            1.. => done += written.unsigned_abs(),
            _ => return Err(refused("copy memory that is to be shared")),
        }
    }
    Ok(())
}

/// Makes physical memory of `bytes` bytes.
///
/// # Errors
/// `OutOfMemory`: the system refused it.
pub(crate) fn pages(bytes: usize) -> Result<Arc<dyn Physical>> {
    file_of(bytes).map(|pages| Arc::new(pages) as Arc<dyn Physical>)
}

/// Exchanges mapped pages for physical memory with their content.
///
/// # Errors
/// `OutOfMemory`: the system refused it; the pages are as they were.
pub(crate) fn exchange(at: Span) -> Result<Arc<dyn Physical>> {
    let pages = file_of(at.bytes())?;
    write_pages(&pages.file, 0, &(at.address()..at.end()))?;
    // From here on the addresses mean pages of the file, with the same bytes in them.
    pages.map(at)?;
    Ok(Arc::new(pages))
}

pub(super) fn file_of(bytes: usize) -> Result<PhysicalPages> {
    let length = (bytes as u64).saturating_add(shared::TRAILER);
    let file = memory_file(c"jumar-device-memory", length, 0)?;
    Ok(PhysicalPages { file, bytes })
}

/// Makes a memory file whose length never changes.
///
/// # Errors
/// `OutOfMemory`: the system refused it.
pub(super) fn sealed_file(name: &CStr, bytes: usize) -> Result<File> {
    let file = memory_file(name, bytes as u64, libc::MFD_ALLOW_SEALING)?;
    let seals = libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: the descriptor is open.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } {
        0 => Ok(file),
        _ => Err(refused("make physical memory")),
    }
}

fn memory_file(name: &CStr, length: u64, flags: libc::c_uint) -> Result<File> {
    // SAFETY: the name is a C text; the call has no other effect than a new file descriptor.
    let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | flags) };
    if descriptor < 0 {
        return Err(refused("make physical memory"));
    }
    // SAFETY: the descriptor is new and not shared.
    let file = unsafe { File::from_raw_fd(descriptor) };
    file.set_len(length)
        .map_err(|_| refused("make physical memory"))?;
    Ok(file)
}

/// Takes physical memory that another process shares.
///
/// # Errors
/// `InvalidValue`: why it cannot be had.
pub(crate) fn adopt(number: u64) -> Result<Arc<dyn Physical>> {
    let (file, bytes) = shared::open(number)?;
    Ok(Arc::new(PhysicalPages { file, bytes }))
}

/// Ranges of addresses that are reserved, or were once.
#[derive(Default)]
pub(crate) struct Reservations {
    given_back: Mutex<Vec<Span>>,
}

impl Reservations {
    /// Reserves a range.
    ///
    /// # Errors
    /// `OutOfMemory`: the system has no such range.
    pub(crate) fn take(&self, bytes: usize) -> Result<Span> {
        let mut kept = self.given_back.lock();
        if let Some(index) = kept.iter().position(|span| span.bytes() == bytes) {
            return Ok(kept.swap_remove(index));
        }
        drop(kept);
        let padded = bytes
            .checked_add(super::HUGE)
            .ok_or_else(|| refused("reserve addresses"))?;
        let start = empty(ptr::null_mut(), padded, 0)?;
        let base = start.next_multiple_of(super::HUGE);
        // SAFETY: the range lies inside the mapping just made, which is never unmapped.
        Ok(unsafe { Span::trusted(base, bytes) })
    }

    /// Releases a range.
    pub(crate) fn give_back(&self, span: Span) {
        self.given_back.lock().push(span);
    }

    /// Takes physical memory out of a range.
    ///
    /// # Errors
    /// `OutOfMemory`: the system refused it; the memory stays mapped.
    pub(crate) fn unmap(&self, at: Span) -> Result<()> {
        empty(
            ptr::without_provenance_mut(at.address()),
            at.bytes(),
            libc::MAP_FIXED,
        )
        .map(drop)
    }
}

fn empty(at: *mut libc::c_void, bytes: usize, fixed: libc::c_int) -> Result<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
    // SAFETY: an address of the kernel's choice, or pages of a range that `Reservations` made.
    let start = unsafe { libc::mmap(at, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(refused("reserve addresses"));
    }
    Ok(start.expose_provenance())
}

fn refused(what: &str) -> Error {
    let system = io::Error::last_os_error();
    Error::new(
        ErrorKind::OutOfMemory,
        format!("the system did not {what}: {system}"),
    )
}
