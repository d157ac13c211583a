//! Shareable handles behind a `void *`: the type that is passed beside it says what it points to.

use std::ffi::c_void;

use jumar_acl::ipc::{self, Shape};

use crate::acl::{Raw, Result, calls, types};
use crate::raw;

type Fabric = [u8; size_of::<types::aclrtMemFabricHandle>()];

const NAME: &str = "shareableHandle";

/// Makes a handle by which other processes can import memory.
///
/// # Safety
/// Called from C: the output holds a handle of the type.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtMemExportToShareableHandleV2(
    handle: *mut c_void,
    flags: u64,
    shareType: u32,
    shareableHandle: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtMemExportToShareableHandleV2, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(handle),
                raw::ArgBits::word(flags),
                raw::ArgBits::word(shareType),
                raw::ArgBits::word(shareableHandle),
            ]
        })?;
        match Shape::of(shareType)? {
            Shape::Number => {
                // SAFETY: the program guarantees it: null or the address of a `uint64_t`, as the type says.
                let out = unsafe { raw::Out::<u64>::new(shareableHandle.cast(), NAME) }?;
                out.set(ipc::export(cx, raw::handle(handle), flags)?);
            }
            Shape::Fabric => {
                // SAFETY: the program guarantees it: null or the address of a fabric handle, as the type says.
                let out = unsafe { raw::Out::<Fabric>::new(shareableHandle.cast(), NAME) }?;
                out.set(ipc::fabric(ipc::export(cx, raw::handle(handle), flags)?));
            }
        }
        Ok(())
    })
}

/// Imports memory of another process.
///
/// # Safety
/// Called from C: the handle is one of the type.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtMemImportFromShareableHandleV2(
    shareableHandle: *mut c_void,
    shareType: u32,
    flags: u64,
    handle: *mut *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtMemImportFromShareableHandleV2, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(shareableHandle),
                raw::ArgBits::word(shareType),
                raw::ArgBits::word(flags),
                raw::ArgBits::word(handle),
            ]
        })?;
        // SAFETY: the program guarantees `handle`: null or the address of a variable, as the C declaration says.
        let out = unsafe { raw::Out::<Raw>::new(handle.cast(), "handle") }?;
        // SAFETY: the program guarantees it: null or a handle of that type.
        let number = unsafe { number(shareableHandle, shareType) }?;
        out.set(ipc::import_here(cx, number, flags)?);
        Ok(())
    })
}

/// Sets which processes may import memory that was exported with a handle.
///
/// # Safety
/// Called from C: the handle is one of the type, and `pid` as long as its count says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtMemSetPidToShareableHandleV2(
    shareableHandle: *mut c_void,
    shareType: u32,
    pid: *mut i32,
    pidNum: usize,
) -> i32 {
    raw::status(&calls::aclrtMemSetPidToShareableHandleV2, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(shareableHandle),
                raw::ArgBits::word(shareType),
                raw::ArgBits::word(pid),
                raw::ArgBits::word(pidNum),
            ]
        })?;
        // SAFETY: the program guarantees it: null or a handle of that type.
        let number = unsafe { number(shareableHandle, shareType) }?;
        // SAFETY: the program guarantees `pid`: null or that many numbers, as the C declaration says.
        let processes = unsafe { raw::slice::<i32>(pid, pidNum, "pid") }?;
        ipc::aclrtMemSetPidToShareableHandle(cx, number, processes, pidNum)
    })
}

/// Reads the number in a shareable handle of either type, wherever it lies.
///
/// # Safety
/// The pointer is null or points to a handle of that type.
unsafe fn number(handle: *mut c_void, share_type: u32) -> Result<u64> {
    match Shape::of(share_type)? {
        Shape::Number => {
            // SAFETY: the caller's contract.
            let number = unsafe { raw::InOut::<u64>::new(handle.cast(), NAME) }?;
            Ok(number.get())
        }
        Shape::Fabric => {
            // SAFETY: the caller's contract.
            let fabric = unsafe { raw::InOut::<Fabric>::new(handle.cast(), NAME) }?;
            ipc::number(&fabric.get())
        }
    }
}
