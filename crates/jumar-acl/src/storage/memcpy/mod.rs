//! Copies and fills.

mod batch;
mod cmo;
mod indirect;
mod reduce;
mod rows;

use std::sync::Arc;

use jumar::engine::{Context, MemoryKind, Span};
use jumar_types::{Error, ErrorKind, Result};

pub use batch::{BatchCopy, NO_COPY_FAILED, batch, batch_async};
pub use cmo::{
    aclrtCmoAsync, aclrtCmoAsyncWithBarrier, aclrtCmoAsyncWithDesc, aclrtCmoGetDescSize,
    aclrtCmoSetDesc, aclrtCmoWaitBarrier,
};
pub use indirect::{
    aclrtGetMemcpyDescSize, aclrtMemcpyAsyncWithDesc, aclrtMemcpyAsyncWithOffset,
    aclrtSetMemcpyDesc,
};
pub use reduce::aclrtReduceAsync;
pub use rows::{aclrtMemcpy2d, aclrtMemcpy2dAsync};

use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// Checks what both kinds of copies check first. False when there is nothing to do.
#[inline]
fn check(to: Span, capacity: usize, from: Span, count: usize, kind: u32) -> Result<bool> {
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
            format!("the kind is {kind} ({name}), which this copy does not support"),
        );
    }
    if count > capacity {
        return refuse(
            ErrorKind::InvalidValue,
            format!("{count} bytes are to be copied into a destination of {capacity} (destMax)"),
        );
    }
    Ok(true)
}

pub fn aclrtMemcpy(
    cx: &Cx<'_>,
    to: Span,
    capacity: usize,
    from: Span,
    count: usize,
    kind: u32,
) -> Result<()> {
    if !check(to, capacity, from, count, kind)? || to.address() == from.address() {
        return Ok(());
    }
    let forbid = |context: &Arc<Context>| context.forbid_while_captured(&cx.caller());
    cx.thread.with_context(cx, forbid)??;
    cx.runtime()?.copy_now(to, from, &cx.caller())
}

#[inline]
pub fn aclrtMemcpyAsync(
    cx: &Cx<'_>,
    to: Span,
    capacity: usize,
    from: Span,
    count: usize,
    kind: u32,
    stream: Raw,
) -> Result<()> {
    if !check(to, capacity, from, count, kind)? {
        return Ok(());
    }
    let done = if kind == enums::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE {
        cx.with_stream(stream, |stream| {
            stream.copy_buffered(to, from, &cx.caller())
        })
    } else {
        cx.with_stream(stream, |stream| stream.copy(to, from, &cx.caller()))
    };
    crate::error::report_failure(cx, done)
}

pub fn aclrtMemset(cx: &Cx<'_>, to: Span, capacity: usize, value: i32, count: usize) -> Result<()> {
    if !check_fill(to, capacity, count)? {
        return Ok(());
    }
    let forbid = |context: &Arc<Context>| context.forbid_while_captured(&cx.caller());
    cx.thread.with_context(cx, forbid)??;
    cx.runtime()?.fill_now(to, value as u8, &cx.caller())
}

pub fn aclrtMemsetAsync(
    cx: &Cx<'_>,
    to: Span,
    capacity: usize,
    value: i32,
    count: usize,
    stream: Raw,
) -> Result<()> {
    if !check_fill(to, capacity, count)? {
        return Ok(());
    }
    // Only the low eight bits are the value.
    let done = cx.with_stream(stream, |stream| stream.fill(to, value as u8, &cx.caller()));
    crate::error::report_failure(cx, done)
}

#[inline]
fn check_fill(to: Span, capacity: usize, count: usize) -> Result<bool> {
    if count == 0 {
        return Ok(false);
    }
    if to.address() == 0 {
        return refuse(ErrorKind::NullPointer, "devPtr is null");
    }
    if count > capacity {
        return refuse(
            ErrorKind::InvalidValue,
            format!("{count} bytes are to be set in a destination of {capacity} (maxCount)"),
        );
    }
    Ok(true)
}

/// The conditions of the name are hardware's; a copy here has none, so that it is a plain one.
pub fn aclrtMemcpyAsyncWithCondition(
    cx: &Cx<'_>,
    to: Span,
    capacity: usize,
    from: Span,
    count: usize,
    kind: u32,
    stream: Raw,
) -> Result<()> {
    aclrtMemcpyAsync(cx, to, capacity, from, count, kind, stream)
}

/// Finds what a fill with words goes to; `None` when there is nothing to do.
fn words(cx: &Cx<'_>, address: usize, capacity: usize, count: usize) -> Result<Option<Span>> {
    if count == 0 {
        return Ok(None);
    }
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "ptr is null");
    }
    if !address.is_multiple_of(4) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("ptr is {address:#x}, which is not a multiple of 4"),
        );
    }
    let Some(bytes) = count.checked_mul(4).filter(|&bytes| bytes <= capacity) else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("{count} words are to be set in a destination of {capacity} bytes (memSize)"),
        );
    };
    cx.context()?;
    let block = cx.runtime()?.space().reach(address, bytes);
    let block = block.filter(|block| match block.home {
        MemoryKind::Device(_) | MemoryKind::Variable(_) | MemoryKind::Pinned => true,
        MemoryKind::Registered | MemoryKind::Host => false,
    });
    let Some(block) = block else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("{address:#x} is not in live memory of the runtime"),
        );
    };
    let part = block.span.part(address - block.span.address(), bytes);
    part.map(Some).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!(
                "{count} words at {address:#x} leave allocation {} ({} bytes at {:#x}, made by {})",
                block.number,
                block.span.bytes(),
                block.span.address(),
                block.made_by
            ),
        )
    })
}

pub fn aclrtMemsetD32(
    cx: &Cx<'_>,
    address: usize,
    capacity: usize,
    value: u32,
    count: usize,
) -> Result<()> {
    match words(cx, address, capacity, count)? {
        Some(to) => {
            let forbid = |context: &Arc<Context>| context.forbid_while_captured(&cx.caller());
            cx.thread.with_context(cx, forbid)??;
            cx.runtime()?.fill_words_now(to, value, &cx.caller())
        }
        None => Ok(()),
    }
}

pub fn aclrtMemsetD32Async(
    cx: &Cx<'_>,
    address: usize,
    capacity: usize,
    value: u32,
    count: usize,
    stream: Raw,
) -> Result<()> {
    match words(cx, address, capacity, count)? {
        Some(to) => cx.with_stream(stream, |stream| stream.fill_words(to, value, &cx.caller())),
        None => Ok(()),
    }
}
