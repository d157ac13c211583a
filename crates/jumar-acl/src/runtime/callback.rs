//! Host callbacks.

use jumar::engine::Role;
use jumar_types::{ErrorKind, Result};

use crate::{Cx, Raw, limit_ms, refuse};

/// A function of the program, with its argument.
pub type HostFunction = Box<dyn Fn() + Send + Sync>;

pub fn aclrtSubscribeReport(cx: &Cx<'_>, thread: u64, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .subscribe(Role::Callbacks, thread, stream)
    })
}

pub fn aclrtUnSubscribeReport(cx: &Cx<'_>, thread: u64, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .unsubscribe(Role::Callbacks, thread, stream, &cx.caller())
    })
}

/// `thread` is the calling thread's id as returned by `pthread_self`.
pub fn aclrtProcessReport(cx: &Cx<'_>, thread: u64, timeout: i32) -> Result<()> {
    let limit = limit_ms(timeout, ErrorKind::InvalidArgument)?;
    cx.runtime()?
        .reports()
        .process(Role::Callbacks, thread, limit)
}

pub fn aclrtLaunchCallback(
    cx: &Cx<'_>,
    function: Option<HostFunction>,
    block_type: u32,
    stream: Raw,
) -> Result<()> {
    if block_type > 1 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("blockType is {block_type}; it must be 0 (no block) or 1 (block)"),
        );
    }
    let Some(function) = function else {
        return refuse(ErrorKind::InvalidValue, "fn is null");
    };
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .launch(stream, function, block_type == 1, &cx.caller())
    })
}

pub fn aclrtLaunchHostFunc(cx: &Cx<'_>, stream: Raw, function: Option<HostFunction>) -> Result<()> {
    let Some(function) = function else {
        return refuse(ErrorKind::InvalidValue, "fn is null");
    };
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .launch_host_function(stream, function, &cx.caller())
    })
}

pub fn aclrtSubscribeHostFunc(cx: &Cx<'_>, thread: u64, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .subscribe(Role::HostFunctions, thread, stream)
    })
}

pub fn aclrtUnSubscribeHostFunc(cx: &Cx<'_>, thread: u64, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .unsubscribe(Role::HostFunctions, thread, stream, &cx.caller())
    })
}

/// `thread` is the calling thread's id as returned by `pthread_self`.
pub fn aclrtProcessHostFunc(cx: &Cx<'_>, thread: u64, timeout: i32) -> Result<()> {
    let limit = limit_ms(timeout, ErrorKind::InvalidArgument)?;
    cx.runtime()?
        .reports()
        .process(Role::HostFunctions, thread, limit)
}
