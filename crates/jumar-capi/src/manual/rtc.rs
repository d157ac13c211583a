//! The run-time compiler: buffers whose sizes another call returns.

use std::ffi::{c_char, c_void};

use crate::acl::{Error, ErrorKind, Result, calls};
use crate::raw;

/// Writes bytes unless the buffer is null.
///
/// # Safety
/// `into` is null or a buffer for all of them.
unsafe fn write(into: *mut c_char, bytes: &[u8], name: &'static str) -> Result<()> {
    if into.is_null() {
        return Err(Error::new(
            ErrorKind::CompilerInput,
            format!("{name} is null"),
        ));
    }
    // SAFETY: the caller's contract.
    let out = unsafe { raw::OutArray::<u8>::new(into.cast(), bytes.len(), name) }?;
    out.set(bytes)
}

/// Writes the compiled binary.
///
/// # Safety
/// Called from C: the buffer has as many bytes as aclrtcGetBinDataSize returns.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtcGetBinData(prog: *mut c_void, binData: *mut c_char) -> i32 {
    raw::status(&calls::aclrtcGetBinData, |cx| {
        raw::trace(cx, || {
            [raw::ArgBits::word(prog), raw::ArgBits::word(binData)]
        })?;
        let bytes = jumar_acl::rtc::binary(cx, raw::handle(prog))?;
        // SAFETY: the caller's contract.
        unsafe { write(binData, &bytes, "binData") }
    })
}

/// Writes the compiler's output.
///
/// # Safety
/// Called from C: the buffer has as many bytes as aclrtcGetCompileLogSize returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtcGetCompileLog(prog: *mut c_void, log: *mut c_char) -> i32 {
    raw::status(&calls::aclrtcGetCompileLog, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(prog), raw::ArgBits::word(log)])?;
        let text = jumar_acl::rtc::log(cx, raw::handle(prog))?;
        // SAFETY: the caller's contract.
        unsafe { write(log, &text, "log") }
    })
}
