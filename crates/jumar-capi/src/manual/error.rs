//! Callbacks for tasks that failed, and errors as data.

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use crate::acl::{Raw, calls};
use crate::generated::callbacks;
use crate::raw;

/// Sets the function that is called for failed tasks; null removes it.
///
/// # Safety
/// Called from C: the function may be called on any thread until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetExceptionInfoCallback(
    callback: callbacks::aclrtExceptionInfoCallback,
) -> i32 {
    raw::status(&calls::aclrtSetExceptionInfoCallback, |cx| {
        raw::trace(cx, || {
            [raw::ArgBits::word(
                callback.map_or(0, |function| function as usize),
            )]
        })?;
        let callback = callback.map(|function| {
            let callback: Arc<dyn Fn(u64) + Send + Sync> = Arc::new(move |info| {
                let info = raw::pointer(Raw(info));
                // SAFETY: the caller's contract; the handle is valid while the function runs, and is only a number.
                unsafe { function(info) }
            });
            callback
        });
        jumar_acl::error::aclrtSetExceptionInfoCallback(cx, callback)
    })
}

/// Adds a function that is called for failed tasks.
///
/// # Safety
/// Called from C: the function may be called on any thread until it is taken away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtExceptionInfoCallbackRegister(
    callback: callbacks::aclrtExceptionInfoCallback,
) -> i32 {
    raw::status(&calls::aclrtExceptionInfoCallbackRegister, |cx| {
        raw::trace(cx, || {
            [raw::ArgBits::word(
                callback.map_or(0, |function| function as usize),
            )]
        })?;
        let shared = callback.map(|function| {
            let callback: Arc<dyn Fn(u64) + Send + Sync> = Arc::new(move |info| {
                let info = raw::pointer(Raw(info));
                // SAFETY: the caller's contract; the handle is valid while the function runs, and is only a number.
                unsafe { function(info) }
            });
            callback
        });
        jumar_acl::error::aclrtExceptionInfoCallbackRegister(cx, key(callback), shared)
    })
}

/// Takes a function of aclrtExceptionInfoCallbackRegister away.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtExceptionInfoCallbackUnregister(
    callback: callbacks::aclrtExceptionInfoCallback,
) -> i32 {
    raw::status(&calls::aclrtExceptionInfoCallbackUnregister, |cx| {
        raw::trace(cx, || {
            [raw::ArgBits::word(
                callback.map_or(0, |function| function as usize),
            )]
        })?;
        jumar_acl::error::aclrtExceptionInfoCallbackUnregister(cx, key(callback))
    })
}

/// The number by which a function is known: its address, 0 for null.
fn key(callback: callbacks::aclrtExceptionInfoCallback) -> usize {
    callback.map_or(0, |function| function as usize)
}

/// Returns a field of the calling thread's last error, if that had this code: 0 the function, 1 the name of the code, 2 the
/// sentence, 3 what to do, 4 the object. Null otherwise. The text is valid until the thread's next error. 5 forgets the error.
/// Not part of the C interface: the Python module builds exceptions from it.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_last_error(code: i32, field: u32) -> *const c_char {
    ptr::with_exposed_provenance(jumar_acl::message::failure_field(code, field))
}
