//! Batched copies.

use std::cell::Cell;

use jumar::engine::{Runtime, Span};
use jumar_types::{Error, ErrorKind, Result};

use crate::generated::types;
use crate::{Cx, Raw, refuse};

/// One copy of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchCopy {
    /// What is written.
    pub to: Span,
    /// The capacity of the destination.
    pub capacity: usize,
    /// What is read.
    pub from: Span,
}

/// What a batch answers when nothing failed at a copy of its own.
pub const NO_COPY_FAILED: usize = usize::MAX;

/// Why a batch was refused, and the copy that it belongs to, or [`NO_COPY_FAILED`].
pub type BatchResult = std::result::Result<(), (usize, Error)>;

/// Copies a batch at once.
///
/// # Errors
/// The number beside an error is the copy that it belongs to, or [`NO_COPY_FAILED`].
pub fn batch(
    cx: &Cx<'_>,
    copies: &[BatchCopy],
    attributes: Option<&[types::aclrtMemcpyBatchAttr]>,
    indexes: Option<&[usize]>,
) -> BatchResult {
    let batch_error = |error| (NO_COPY_FAILED, error);
    check_batch(copies, attributes, indexes).map_err(batch_error)?;
    check_length(cx, copies.len()).map_err(batch_error)?;
    let runtime = cx.runtime().map_err(batch_error)?;
    let context = cx.context().map_err(batch_error)?;
    context
        .forbid_while_captured(&cx.caller())
        .map_err(batch_error)?;
    let Pieces { pieces, numbers } = check_directions(runtime, copies)?;
    runtime
        .copy_batch_now(&pieces, &cx.caller())
        .map_err(|(at, error)| (numbered(&numbers, at), error))
}

/// Queues a batch on a stream.
///
/// # Errors
/// As [`batch`].
pub fn batch_async(
    cx: &Cx<'_>,
    copies: &[BatchCopy],
    attributes: Option<&[types::aclrtMemcpyBatchAttr]>,
    indexes: Option<&[usize]>,
    stream: Raw,
) -> BatchResult {
    let batch_error = |error| (NO_COPY_FAILED, error);
    check_batch(copies, attributes, indexes).map_err(batch_error)?;
    check_length(cx, copies.len()).map_err(batch_error)?;
    let runtime = cx.runtime().map_err(batch_error)?;
    let failed = Cell::new(NO_COPY_FAILED);
    let done = cx.with_stream(stream, |stream| {
        let Pieces { pieces, numbers } =
            check_directions(runtime, copies).map_err(|(at, error)| {
                failed.set(at);
                error
            })?;
        stream
            .copy_batch(pieces, &cx.caller())
            .map_err(|(at, error)| {
                failed.set(numbered(&numbers, at));
                error
            })
    });
    crate::error::report_failure(cx, done).map_err(|error| (failed.get(), error))
}

/// Refuses a batch with more copies than the device takes.
fn check_length(cx: &Cx<'_>, copies: usize) -> Result<()> {
    let limit = cx.context()?.device().profile().limits.batch_copies;
    if copies as u64 <= u64::from(limit) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidValue,
        format!("the batch has {copies} copies; the device takes at most {limit} in one"),
    )
    .fix("Make several batches of it."))
}

/// The copies that have something to copy, and their numbers in the batch.
struct Pieces {
    pieces: Vec<(Span, Span)>,
    numbers: Vec<usize>,
}

fn numbered(numbers: &[usize], at: Option<usize>) -> usize {
    at.and_then(|at| numbers.get(at).copied())
        .unwrap_or(NO_COPY_FAILED)
}

fn check_directions(
    runtime: &Runtime,
    copies: &[BatchCopy],
) -> std::result::Result<Pieces, (usize, Error)> {
    let mut found = Pieces {
        pieces: Vec::with_capacity(copies.len()),
        numbers: Vec::with_capacity(copies.len()),
    };
    let mut direction = None;
    for (index, copy) in copies
        .iter()
        .enumerate()
        .filter(|(_, copy)| !copy.from.is_empty())
    {
        let bad = |what: String| Err((index, Error::new(ErrorKind::InvalidValue, what)));
        let homes = (
            runtime.space().home_of(copy.to.address()),
            runtime.space().home_of(copy.from.address()),
        );
        let to_device = match homes {
            (Some(to), Some(from)) if to.is_device() != from.is_device() => to.is_device(),
            _ => {
                return bad(format!(
                    "copy {index} of the batch does not go between host and device"
                ));
            }
        };
        if *direction.get_or_insert(to_device) != to_device {
            return bad(format!(
                "copy {index} of the batch goes the other way than the ones before it"
            ));
        }
        found.pieces.push((copy.to, copy.from));
        found.numbers.push(index);
    }
    Ok(found)
}

fn check_batch(
    copies: &[BatchCopy],
    attributes: Option<&[types::aclrtMemcpyBatchAttr]>,
    indexes: Option<&[usize]>,
) -> Result<()> {
    let invalid = |what: String| refuse(ErrorKind::InvalidArgument, what);
    if copies.is_empty() {
        return invalid("the batch is empty".into());
    }
    let (Some(attributes), Some(indexes)) = (attributes, indexes) else {
        return invalid("attrs or attrsIndexes is null".into());
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
        return invalid(format!("the reserved bytes of attribute {index} are not 0"));
    }
    if let Some(index) = copies
        .iter()
        .position(|copy| copy.capacity < copy.from.bytes())
    {
        let copy = copies[index];
        return invalid(format!(
            "copy {index} has {} bytes and a destination of {}",
            copy.from.bytes(),
            copy.capacity
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
