//! Host callbacks: functions of the program, with the pointer they want back.

use std::ffi::c_void;

use jumar_acl::callback::WaitPart;

use crate::acl::calls;
use crate::generated::callbacks;
use crate::raw::{self, Release, UserData};

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
    // SAFETY: the caller's contract.
    unsafe { launch_callback(r#fn, UserData::new(userData), None, blockType, stream) }
}

/// Queues a function of the program as `aclrtLaunchCallback` does, and calls another one with `userData` once: when no call of
/// the first will follow, whether it ran, was dropped with its stream, or was refused. For bindings of languages whose
/// objects `userData` keeps alive.
///
/// # Safety
/// Called from C: as `aclrtLaunchCallback`; `release` may be called with `userData` on any thread, within a call of the runtime,
/// and calls nothing of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_launch_callback(
    r#fn: callbacks::aclrtCallback,
    user_data: *mut c_void,
    release: callbacks::aclrtCallback,
    block_type: u32,
    stream: *mut c_void,
) -> i32 {
    let user = UserData::new(user_data);
    // SAFETY: the caller's contract.
    let release = release.map(|release| unsafe { Release::new(release, user) });
    // SAFETY: the caller's contract.
    unsafe { launch_callback(r#fn, user, release, block_type, stream) }
}

/// # Safety
/// The function may be called with `user`, on any thread, until `release` is dropped or, without one, until it was called.
unsafe fn launch_callback(
    function: callbacks::aclrtCallback,
    user: UserData,
    mut release: Option<Release>,
    block_type: u32,
    stream: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtLaunchCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(function.map_or(0, |function| function as usize)),
                raw::ArgBits::word(user.pointer()),
                raw::ArgBits::word(block_type),
                raw::ArgBits::word(stream),
            ]
        })?;
        let function = function.map(|function| {
            // SAFETY: the caller's contract.
            let call = unsafe { raw::closure(function, user) };
            let release = release.take();
            let call: jumar_acl::callback::HostFunction = Box::new(move || {
                // The closure owns it, and so lasts as long as the runtime keeps the function.
                let _kept = &release;
                call();
            });
            call
        });
        jumar_acl::callback::aclrtLaunchCallback(cx, function, block_type, raw::handle(stream))
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
