//! Variables by the address of the host symbol that stands for them.

use jumar::engine::Span;
use jumar_types::{ErrorKind, Result};

use super::{device, value};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// Finds the variable behind a symbol. Here the host's variable and the device's are one.
fn symbol(cx: &Cx<'_>, symbol: usize) -> Result<Span> {
    if symbol == 0 {
        return Err(null("symbol"));
    }
    cx.runtime()?.variable_of_symbol(symbol, device(cx)?)
}

/// A part of the variable behind a symbol.
fn symbol_part(cx: &Cx<'_>, address: usize, offset: usize, count: usize) -> Result<Span> {
    let full = symbol(cx, address)?;
    match full.part(offset, count) {
        Some(part) => Ok(part),
        None => value(format!(
            "{count} bytes at {offset} leave the {} bytes of the variable",
            full.bytes()
        )),
    }
}

pub fn aclrtGetSymbolAddress(cx: &Cx<'_>, address: usize) -> Result<usize> {
    symbol(cx, address).map(Span::address)
}

pub fn aclrtGetSymbolSize(cx: &Cx<'_>, address: usize) -> Result<usize> {
    symbol(cx, address).map(Span::bytes)
}

fn fits(count: usize, capacity: usize) -> Result<()> {
    if count > capacity {
        return value(format!(
            "{count} bytes are to be copied into a destination of {capacity} (dstMax)"
        ));
    }
    Ok(())
}

fn check_kind(kind: u32) -> Result<()> {
    if kind > enums::ACL_MEMCPY_DEFAULT {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("{kind} is not a value of aclrtMemcpyKind that a variable can be copied with"),
        );
    }
    Ok(())
}

/// What a copy out of a variable goes from; `None` when there is nothing to copy.
fn source(
    cx: &Cx<'_>,
    to: Span,
    capacity: usize,
    address: usize,
    (count, offset, kind): (usize, usize, u32),
) -> Result<Option<Span>> {
    check_kind(kind)?;
    fits(count, capacity)?;
    let from = symbol_part(cx, address, offset, count)?;
    Ok((!to.is_empty()).then_some(from))
}

pub fn aclrtMemcpyFromSymbol(
    cx: &Cx<'_>,
    to: Span,
    capacity: usize,
    address: usize,
    count: usize,
    offset: usize,
    kind: u32,
) -> Result<()> {
    match source(cx, to, capacity, address, (count, offset, kind))? {
        Some(from) => cx.runtime()?.copy_now(to, from, &cx.caller()),
        None => Ok(()),
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the signature"
)]
pub fn aclrtMemcpyFromSymbolAsync(
    cx: &Cx<'_>,
    to: Span,
    capacity: usize,
    address: usize,
    count: usize,
    offset: usize,
    kind: u32,
    stream: Raw,
) -> Result<()> {
    let Some(from) = source(cx, to, capacity, address, (count, offset, kind))? else {
        return Ok(());
    };
    let done = cx.with_stream(stream, |stream| stream.copy(to, from, &cx.caller()));
    crate::error::report_failure(cx, done)
}

pub fn aclrtMemcpyToSymbol(
    cx: &Cx<'_>,
    address: usize,
    from: Span,
    count: usize,
    offset: usize,
    kind: u32,
) -> Result<()> {
    check_kind(kind)?;
    let to = symbol_part(cx, address, offset, count)?;
    if from.is_empty() {
        return Ok(());
    }
    cx.runtime()?.copy_now(to, from, &cx.caller())
}

pub fn aclrtMemcpyToSymbolAsync(
    cx: &Cx<'_>,
    address: usize,
    from: Span,
    count: usize,
    offset: usize,
    kind: u32,
    stream: Raw,
) -> Result<()> {
    check_kind(kind)?;
    let to = symbol_part(cx, address, offset, count)?;
    if from.is_empty() {
        return Ok(());
    }
    let done = cx.with_stream(stream, |stream| stream.copy(to, from, &cx.caller()));
    crate::error::report_failure(cx, done)
}
