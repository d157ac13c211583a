//! Cancellation (`pthread_cancel`) of threads that wait for callbacks.
//!
//! A thread is cancelled by unwinding it from a cancellation point, such as a write to a log file. Frames of Rust with destructors
//! cannot be unwound like that: the process would abort. A wait is therefore cut into parts, during which cancellation is deferred,
//! and the thread can be cancelled between two of them.

use std::ffi::c_int;

unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_testcancel();
}

/// `PTHREAD_CANCEL_DISABLE`.
const DISABLE: c_int = 1;

/// Repeats a part of a wait until it returns a code. A thread that was cancelled ends after the part that it was in.
#[inline]
pub fn with_cancellation_between(mut part: impl FnMut() -> Option<i32>) -> i32 {
    loop {
        let mut before = 0;
        // SAFETY: `before` is valid for a write.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
        let code = part();
        // SAFETY: the state is one that the function returned; no old state is asked for.
        unsafe { pthread_setcancelstate(before, std::ptr::null_mut()) };
        // SAFETY: nothing with a destructor is alive in this frame or its caller, which C calls.
        unsafe { pthread_testcancel() };
        if let Some(code) = code {
            return code;
        }
    }
}
