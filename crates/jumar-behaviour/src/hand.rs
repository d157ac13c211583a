//! The calls whose C shims are written by hand: functions of the program become closures, as a Rust program has them.

use std::sync::Arc;

use jumar_acl::enter;
use jumar_acl::error::ExceptionCallback;
use jumar_acl::generated::calls;

use crate::callbacks;
use crate::generated::calls::Player;
use crate::raw;
use crate::words::{Played, Words, status};

/// The calls by name.
pub const CALLS: &[(&str, Player)] = &[
    ("aclrtLaunchCallback", launch_callback),
    ("aclrtLaunchHostFunc", launch_host_function),
    ("aclrtProcessReport", process_report),
    ("aclrtSetExceptionInfoCallback", set_exception_callback),
];

fn launch_callback(w: &Words<'_>) -> Played {
    let function = callbacks::closure(w.plain(0), w.plain(1));
    status(enter(&calls::aclrtLaunchCallback, |cx| {
        jumar_acl::callback::aclrtLaunchCallback(cx, function, w.plain(2), w.plain(3))
    }))
}

fn launch_host_function(w: &Words<'_>) -> Played {
    let function = callbacks::closure(w.plain(1), w.plain(2));
    status(enter(&calls::aclrtLaunchHostFunc, |cx| {
        jumar_acl::callback::aclrtLaunchHostFunc(cx, w.plain(0), function)
    }))
}

fn process_report(w: &Words<'_>) -> Played {
    status(enter(&calls::aclrtProcessReport, |cx| {
        jumar_acl::callback::aclrtProcessReport(cx, raw::this_thread(), w.plain(0))
    }))
}

fn set_exception_callback(w: &Words<'_>) -> Played {
    let function: Option<ExceptionCallback> = (w.plain::<u64>(0) != 0).then(|| {
        let told: ExceptionCallback = Arc::new(|_info| callbacks::counted());
        told
    });
    status(enter(&calls::aclrtSetExceptionInfoCallback, |cx| {
        jumar_acl::error::aclrtSetExceptionInfoCallback(cx, function)
    }))
}
