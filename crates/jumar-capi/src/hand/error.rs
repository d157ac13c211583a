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
