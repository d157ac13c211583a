//! Copies and fills.

use jumar::engine::Span;
use jumar_types::{Error, ErrorKind, Result};

use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

/// Checks what both kinds of copies check first. False when there is nothing to do.
#[inline]
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

#[inline]
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

/// One copy of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchCopy {
    /// What is written.
    pub to: Span,
    /// The room there.
    pub room: usize,
    /// What is read.
    pub from: Span,
}

/// What a batch answers when nothing failed at a copy of its own.
pub const NO_COPY_FAILED: usize = usize::MAX;

/// Copies a batch at once. The number beside an error is the copy that it belongs to, or [`NO_COPY_FAILED`].
pub fn batch(
    cx: &Cx<'_>,
    copies: &[BatchCopy],
    attributes: Option<&[types::aclrtMemcpyBatchAttr]>,
    indexes: Option<&[usize]>,
) -> std::result::Result<(), (usize, Error)> {
    let whole = |error| (NO_COPY_FAILED, error);
    check_batch(copies, attributes, indexes).map_err(whole)?;
    let runtime = cx.runtime().map_err(whole)?;
    cx.context().map_err(whole)?;
    let mut direction = None;
    for (index, copy) in copies
        .iter()
        .enumerate()
        .filter(|(_, copy)| !copy.from.is_empty())
    {
        let at = |error| (index, error);
        let homes = (
            runtime.space().home_of(copy.to.address()),
            runtime.space().home_of(copy.from.address()),
        );
        let to_device = match homes {
            (Some(to), Some(from)) if to.is_device() != from.is_device() => to.is_device(),
            _ => {
                let sentence =
                    format!("copy {index} of the batch does not go between host and device");
                return Err(at(Error::new(ErrorKind::InvalidValue, sentence)));
            }
        };
        if *direction.get_or_insert(to_device) != to_device {
            let sentence =
                format!("copy {index} of the batch goes the other way than the ones before it");
            return Err(at(Error::new(ErrorKind::InvalidValue, sentence)));
        }
    }
    for (index, copy) in copies
        .iter()
        .enumerate()
        .filter(|(_, copy)| !copy.from.is_empty())
    {
        runtime
            .copy_now(copy.to, copy.from, &cx.caller())
            .map_err(|error| (index, error))?;
    }
    Ok(())
}

fn check_batch(
    copies: &[BatchCopy],
    attributes: Option<&[types::aclrtMemcpyBatchAttr]>,
    indexes: Option<&[usize]>,
) -> Result<()> {
    let surface = |what: String| refuse(ErrorKind::InvalidArgument, what);
    if copies.is_empty() {
        return surface("the batch is empty".into());
    }
    let (Some(attributes), Some(indexes)) = (attributes, indexes) else {
        return surface("attrs or attrsIndexes is null".into());
    };
    let misplaced =
        "attrsIndexes has to begin with 0, to rise, and to stay below the number of copies";
    if attributes.len() > copies.len() {
        return refuse(ErrorKind::InvalidValue, misplaced);
    }
    if let Some(index) = attributes
        .iter()
        .position(|attribute| attribute.rsv.iter().any(|&byte| byte != 0))
    {
        return surface(format!("the reserved bytes of attribute {index} are not 0"));
    }
    if let Some(index) = copies.iter().position(|copy| copy.room < copy.from.bytes()) {
        let copy = copies[index];
        return surface(format!(
            "copy {index} has {} bytes and room for {}",
            copy.from.bytes(),
            copy.room
        ));
    }
    let ordered = indexes.first() == Some(&0)
        && indexes.is_sorted_by(|a, b| a < b)
        && indexes.last().is_some_and(|&last| last < copies.len());
    if !ordered {
        return refuse(ErrorKind::InvalidValue, misplaced);
    }
    Ok(())
}
