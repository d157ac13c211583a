//! Functions of the driver, whose output may be null.
#![expect(non_snake_case, reason = "the C interface sets names and signatures")]

use std::ffi::c_void;

use jumar_acl::generated::enums;
use jumar_acl::memory;

use crate::acl::calls;
use crate::raw;

/// The answer to what is refused.
const REFUSED: u32 = enums::DRV_ERROR_INVALID_VALUE;

/// Registers host memory for a device.
///
/// # Safety
/// Called from C: `srcPtr` is the address of `size` bytes, `dstPtr` is null or the address of a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halHostRegister(
    srcPtr: *mut c_void,
    size: u64,
    flag: u32,
    devid: u32,
    dstPtr: *mut *mut c_void,
) -> u32 {
    raw::value(&calls::halHostRegister, REFUSED, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(srcPtr),
                raw::ArgBits::word(size),
                raw::ArgBits::word(flag),
                raw::ArgBits::word(devid),
                raw::ArgBits::word(dstPtr),
            ]
        })?;
        // SAFETY: the caller's contract.
        let range = unsafe { raw::span(srcPtr, raw::count(size), "srcPtr") }?;
        memory::register_for_device(cx, range, flag, devid)?;
        if !dstPtr.is_null() {
            // Host and device share one address space here, so that the device's address is the host's.
            // SAFETY: not null, and the caller's contract.
            unsafe { dstPtr.write(srcPtr) };
        }
        Ok(enums::DRV_ERROR_NONE)
    })
}
