//! Callbacks for tasks that failed.

use std::sync::Arc;

use crate::acl::{Raw, calls};
use crate::generated::callbacks;
use crate::raw;

/// Sets the function that is told of tasks that failed; null takes it away.
///
/// # Safety
/// Called from C: the function may be called on any thread until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSetExceptionInfoCallback(
    callback: callbacks::aclrtExceptionInfoCallback,
) -> i32 {
    raw::status(&calls::aclrtSetExceptionInfoCallback, |cx| {
        raw::trace(cx, || {
            [raw::Word::word(
                callback.map_or(0, |function| function as usize),
            )]
        })?;
        let callback = callback.map(|function| {
            let told: Arc<dyn Fn(u64) + Send + Sync> = Arc::new(move |info| {
                let info = raw::pointer(Raw(info));
                // SAFETY: the caller's contract; the handle is valid while the function runs, and is only a number.
                unsafe { function(info) }
            });
            told
        });
        jumar_acl::error::aclrtSetExceptionInfoCallback(cx, callback)
    })
}

/// Adds a function that is told of tasks that failed.
///
/// # Safety
/// Called from C: the function may be called on any thread until it is taken away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtExceptionInfoCallbackRegister(
    callback: callbacks::aclrtExceptionInfoCallback,
) -> i32 {
    raw::status(&calls::aclrtExceptionInfoCallbackRegister, |cx| {
        raw::trace(cx, || {
            [raw::Word::word(
                callback.map_or(0, |function| function as usize),
            )]
        })?;
        let told = callback.map(|function| {
            let told: Arc<dyn Fn(u64) + Send + Sync> = Arc::new(move |info| {
                let info = raw::pointer(Raw(info));
                // SAFETY: the caller's contract; the handle is valid while the function runs, and is only a number.
                unsafe { function(info) }
            });
            told
        });
        jumar_acl::error::aclrtExceptionInfoCallbackRegister(cx, key(callback), told)
    })
}

/// Takes a function of aclrtExceptionInfoCallbackRegister away.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtExceptionInfoCallbackUnregister(
    callback: callbacks::aclrtExceptionInfoCallback,
) -> i32 {
    raw::status(&calls::aclrtExceptionInfoCallbackUnregister, |cx| {
        raw::trace(cx, || {
            [raw::Word::word(
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
