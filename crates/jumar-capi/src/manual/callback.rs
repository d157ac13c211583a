//! Host callbacks: functions of the program, with the pointer they want back.

use std::ffi::c_void;

use jumar_acl::callback::WaitPart;

use crate::acl::calls;
use crate::generated::callbacks;
use crate::raw::{self, UserData};

/// Queues a function of the program; a subscribed thread runs it.
///
/// # Safety
/// Called from C: the function may be called with `userData`, on any thread, until it was.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtLaunchCallback(
    r#fn: callbacks::aclrtCallback,
    userData: *mut c_void,
    blockType: u32,
    stream: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtLaunchCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(r#fn.map_or(0, |function| function as usize)),
                raw::ArgBits::word(userData),
                raw::ArgBits::word(blockType),
                raw::ArgBits::word(stream),
            ]
        })?;
        // SAFETY: the caller's contract.
        let function =
            r#fn.map(|function| unsafe { raw::closure(function, UserData::new(userData)) });
        jumar_acl::callback::aclrtLaunchCallback(cx, function, blockType, raw::handle(stream))
    })
}

/// Queues a function of the program; a thread of the runtime runs it.
///
/// # Safety
/// Called from C: the function may be called with `args`, on any thread, until it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchHostFunc(
    stream: *mut c_void,
    r#fn: callbacks::aclrtHostFunc,
    args: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtLaunchHostFunc, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stream),
                raw::ArgBits::word(r#fn.map_or(0, |function| function as usize)),
                raw::ArgBits::word(args),
            ]
        })?;
        // SAFETY: the caller's contract.
        let function = r#fn.map(|function| unsafe { raw::closure(function, UserData::new(args)) });
        jumar_acl::callback::aclrtLaunchHostFunc(cx, raw::handle(stream), function)
    })
}

/// Runs one callback that was launched on a stream this thread is subscribed to.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn aclrtProcessReport(timeout: i32) -> i32 {
    let mut part = Some(WaitPart::first(timeout));
    raw::with_cancellation_between(|| {
        let now = part?;
        let code = raw::status(&calls::aclrtProcessReport, |cx| {
            let thread = raw::this_thread();
            raw::trace(cx, || {
                [
                    raw::ArgBits::word(now.timeout()),
                    raw::ArgBits::word(thread),
                ]
            })?;
            part = None;
            part = jumar_acl::callback::process_report_part(cx, thread, now)?;
            Ok(())
        });
        part.is_none().then_some(code)
    })
}

/// Runs one host function of a stream whose host functions this thread runs.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn aclrtProcessHostFunc(timeout: i32) -> i32 {
    let mut part = Some(WaitPart::first(timeout));
    raw::with_cancellation_between(|| {
        let now = part?;
        let code = raw::status(&calls::aclrtProcessHostFunc, |cx| {
            let thread = raw::this_thread();
            raw::trace(cx, || {
                [
                    raw::ArgBits::word(now.timeout()),
                    raw::ArgBits::word(thread),
                ]
            })?;
            part = None;
            part = jumar_acl::callback::process_host_func_part(cx, thread, now)?;
            Ok(())
        });
        part.is_none().then_some(code)
    })
}
