//! Where the memory at an address begins and ends: the headers of kernels ask it for their checks.

use std::ffi::c_void;

/// `jumar_memory_extent` of `jumar/kernel.h`.
#[repr(C)]
pub struct MemoryExtent {
    begin: u64,
    end: u64,
    wanted_end: u64,
}

/// Finds the live memory of the runtime that holds an address, of a device or pinned. Returns whether there is any. Not part of the C
/// interface, and no call of it is traced.
///
/// # Safety
/// `extent` points to a structure that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_find_memory(
    address: *const c_void,
    extent: *mut MemoryExtent,
) -> bool {
    let find = || {
        let runtime = jumar_acl::frontend::runtime().ok()?;
        runtime.space().reach(address.addr(), usize::MAX)
    };
    // Nothing below panics; a panic must not cross the border to C all the same.
    let Ok(Some(block)) = std::panic::catch_unwind(find) else {
        return false;
    };
    let end = block.span.end() as u64;
    let found = MemoryExtent {
        begin: block.span.address() as u64,
        end,
        wanted_end: end - u64::from(block.padding),
    };
    // SAFETY: the caller's contract.
    unsafe { extent.write(found) };
    true
}
