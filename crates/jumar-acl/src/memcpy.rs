//! Copies and fills.

use jumar::engine::Span;
use jumar_types::{ErrorKind, Result};

use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// Checks what both kinds of copies check first. False when there is nothing to do.
fn check(to: Span, room: usize, from: Span, count: usize, kind: u32) -> Result<bool> {
    if count == 0 {
        return Ok(false);
    }
    if to.address() == 0 || from.address() == 0 {
        let which = if to.address() == 0 { "dst" } else { "src" };
        return refuse(ErrorKind::NullPointer, format!("{which} is null"));
    }
    if kind > enums::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE {
        let name = enums::name_of("aclrtMemcpyKind", i64::from(kind))
            .unwrap_or("no value of aclrtMemcpyKind");
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the kind is {kind} ({name}), which this copy does not take"),
        );
    }
    if count > room {
        return refuse(
            ErrorKind::InvalidValue,
            format!("{count} bytes are to be copied into room for {room} (destMax)"),
        );
    }
    Ok(true)
}

pub fn aclrtMemcpy(
    cx: &Cx<'_>,
    to: Span,
    room: usize,
    from: Span,
    count: usize,
    kind: u32,
) -> Result<()> {
    if !check(to, room, from, count, kind)? || to.address() == from.address() {
        return Ok(());
    }
    cx.context()?;
    cx.runtime()?.copy_now(to, from, &cx.caller())
}

#[inline]
pub fn aclrtMemcpyAsync(
    cx: &Cx<'_>,
    to: Span,
    room: usize,
    from: Span,
    count: usize,
    kind: u32,
    stream: Raw,
) -> Result<()> {
    if !check(to, room, from, count, kind)? {
        return Ok(());
    }
    let done = if kind == enums::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE {
        cx.with_stream(stream, |stream| {
            stream.copy_buffered(to, from, &cx.caller())
        })
    } else {
        cx.with_stream(stream, |stream| stream.copy(to, from, &cx.caller()))
    };
    crate::error::told(cx, done)
}

pub fn aclrtMemset(cx: &Cx<'_>, to: Span, room: usize, value: i32, count: usize) -> Result<()> {
    if !check_fill(to, room, count)? {
        return Ok(());
    }
    cx.context()?;
    cx.runtime()?.fill_now(to, value as u8, &cx.caller())
}

pub fn aclrtMemsetAsync(
    cx: &Cx<'_>,
    to: Span,
    room: usize,
    value: i32,
    count: usize,
    stream: Raw,
) -> Result<()> {
    if !check_fill(to, room, count)? {
        return Ok(());
    }
    // Only the low eight bits are the value.
    let done = cx.with_stream(stream, |stream| stream.fill(to, value as u8, &cx.caller()));
    crate::error::told(cx, done)
}

fn check_fill(to: Span, room: usize, count: usize) -> Result<bool> {
    if count == 0 {
        return Ok(false);
    }
    if to.address() == 0 {
        return refuse(ErrorKind::NullPointer, "devPtr is null");
    }
    if count > room {
        return refuse(
            ErrorKind::InvalidValue,
            format!("{count} bytes are to be set in room for {room} (maxCount)"),
        );
    }
    Ok(true)
}
