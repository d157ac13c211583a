//! Memory behind addresses. A case guarantees the addresses it passes, as a C program does: the table's memory is kept
//! until the process ends, and a case that names other memory is wrong and ends its process.

#![expect(
    unsafe_code,
    reason = "the table's cases pass addresses and look behind them"
)]

use std::ffi::{CStr, CString};

use jumar_acl::Span;

/// Copies bytes out of memory.
pub fn read(address: usize, bytes: usize) -> Vec<u8> {
    let mut copy = vec![0_u8; bytes];
    let from = std::ptr::with_exposed_provenance::<u8>(address);
    if bytes > 0 {
        // SAFETY: the case guarantees the range; the copy is ours and does not overlap it.
        unsafe { from.copy_to_nonoverlapping(copy.as_mut_ptr(), bytes) };
    }
    copy
}

/// Copies bytes into memory.
pub fn write(address: usize, bytes: &[u8]) {
    let to = std::ptr::with_exposed_provenance_mut::<u8>(address);
    if !bytes.is_empty() {
        // SAFETY: the case guarantees the range; there is no other reference to it, and the bytes are ours.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
}

/// Copies a text that ends in a zero byte; null is none.
pub fn text(address: usize) -> Option<CString> {
    if address == 0 {
        return None;
    }
    // SAFETY: the case guarantees a text at this address.
    let text = unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(address)) };
    Some(text.to_owned())
}

/// Returns a text that lies in the memory of a case; null is none.
pub fn text_of_case(address: usize) -> Option<&'static CStr> {
    if address == 0 {
        return None;
    }
    // SAFETY: the case guarantees a text at this address, in memory that is kept until the process ends.
    Some(unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(address)) })
}

/// Creates a span; `None` if the range wraps, which no caller can guarantee.
pub fn span(address: usize, bytes: usize) -> Option<Span> {
    isize::try_from(bytes).ok()?;
    address.checked_add(bytes)?;
    // SAFETY: the range does not wrap; the case guarantees the rest.
    Some(unsafe { Span::trusted(address, bytes) })
}

/// Returns the calling thread's number as `pthread_self` has it: programs subscribe threads by it.
pub fn this_thread() -> u64 {
    // SAFETY: it has no preconditions.
    let thread = unsafe { libc::pthread_self() };
    thread as u64
}

/// Returns zeroed memory for the lifetime of the process, page-aligned if `aligned`.
pub fn keep(bytes: usize, aligned: bool) -> usize {
    const PAGE: usize = 4096;
    let capacity = bytes.max(1) + if aligned { PAGE } else { 0 };
    // Words, so that whatever a C variable holds lies on its boundary.
    let memory = vec![0_u64; capacity.div_ceil(8)].leak();
    let address = memory.as_mut_ptr().expose_provenance();
    if aligned {
        address.next_multiple_of(PAGE)
    } else {
        address
    }
}
