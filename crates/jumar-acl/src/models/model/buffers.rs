//! The data buffers of an execution: their addresses and sizes, checked against the tensors of the model.

use jumar::engine::Span;
use jumar::offline::TensorInfo;
use jumar_types::{Error, ErrorKind, Result};
use smallvec::SmallVec;

use crate::dataset::Dataset;
use crate::{Cx, data_buffer, dataset};

/// Address and size of the buffers of a dataset, in order.
pub(super) type Buffers = SmallVec<[(usize, usize); 4]>;

/// Returns the entries of a dataset, and their buffers.
pub(super) fn buffers(cx: &Cx<'_>, dataset: &Dataset) -> Result<(dataset::Entries, Buffers)> {
    let entries = dataset.entries();
    let mut buffers = Buffers::new();
    for entry in &entries {
        buffers.push(data_buffer::content(cx, entry.buffer)?);
    }
    Ok((entries, buffers))
}

/// Allocates memory for an output buffer without one. The program owns the memory and frees it. Returns address and size of the buffer.
pub(super) fn provide(cx: &Cx<'_>, entry: &dataset::Entry, bytes: usize) -> Result<(usize, usize)> {
    let buffer = cx.process.data_buffers.get(entry.buffer.0)?;
    // An output before this one may have the same buffer, and another thread may provide for it, too.
    let already = *buffer.content.lock();
    if already.0 != 0 {
        return Ok(already);
    }
    let own = (crate::memory::aclrtMalloc(cx, bytes, 0)?, bytes);
    let now = {
        let mut content = buffer.content.lock();
        if content.0 == 0 {
            *content = own;
        }
        *content
    };
    if now != own {
        crate::memory::aclrtFree(cx, own.0)?;
    }
    Ok(now)
}

/// How many bytes smaller than its tensor a buffer's stated size may be.
const TOLERANCE: usize = 64;

/// Returns the device memory of one tensor, of which `needed` bytes are used.
///
/// # Errors
/// `ModelFailure`: the buffer has no memory, too little of it, or memory that is not the device's.
pub(super) fn span(
    cx: &Cx<'_>,
    (address, size): (usize, usize),
    (tensor, needed): (&TensorInfo, usize),
    (what, index): (&str, usize),
) -> Result<Span> {
    if needed == 0 {
        return Ok(Span::EMPTY);
    }
    let bad = |sentence: String, fix: &str| {
        let sentence = format!(
            "{what} {index} (\"{}\", {needed} bytes) {sentence}",
            tensor.name
        );
        Error::new(ErrorKind::ModelFailure, sentence).fix(fix)
    };
    if address == 0 {
        return Err(bad(
            "has a data buffer without memory".into(),
            "Give the data buffer an address from aclrtMalloc.",
        ));
    }
    if size.saturating_add(TOLERANCE) < needed {
        return Err(bad(
            format!("has a data buffer of {size} bytes"),
            "Get the size from aclmdlGetInputSizeByIndex or aclmdlGetOutputSizeByIndex.",
        ));
    }
    let space = cx.runtime()?.space();
    match space.reach(address, needed) {
        Some(block) if block.home.is_device() => {
            block.span.part(address - block.span.address(), needed).ok_or_else(|| {
                bad(
                    format!(
                        "does not fit: its data buffer is in allocation {} of {} bytes, at offset {}",
                        block.number,
                        block.span.bytes(),
                        address - block.span.address()
                    ),
                    "Allocate the size that the model description returns.",
                )
            })
        }
        Some(_) => Err(bad(
            format!("is in pinned host memory ({address:#x})"),
            "Copy it to memory from aclrtMalloc; a model reads and writes device memory.",
        )),
        None => Err(bad(
            format!("is at {address:#x}, which is not live device memory"),
            "Copy it to memory from aclrtMalloc; a model reads and writes device memory.",
        )),
    }
}
