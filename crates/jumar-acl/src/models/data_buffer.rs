//! Data buffers: an address and a length; the memory is not owned.

use std::sync::Arc;

use jumar::engine::{SpinLock, Table};
use jumar_types::{ErrorKind, IdKind, Result};

use crate::{Cx, Raw, refuse};

/// An address and a length in bytes. The memory belongs to the program.
pub struct DataBuffer {
    id: u64,
    pub(crate) content: SpinLock<(usize, usize)>,
}

/// The data buffers by handle.
pub type DataBuffers = Table<DataBuffer>;

pub(crate) fn table() -> DataBuffers {
    Table::new(IdKind::DataBuffer, Arc::default())
}

pub fn aclCreateDataBuffer(cx: &Cx<'_>, address: usize, size: usize) -> Result<Raw> {
    let content = SpinLock::new((address, size));
    let buffer = cx
        .process
        .data_buffers
        .insert(|id| Arc::new(DataBuffer { id, content }))?;
    Ok(Raw(buffer.id))
}

pub fn aclDestroyDataBuffer(cx: &Cx<'_>, buffer: Raw) -> Result<()> {
    cx.process
        .data_buffers
        .remove(buffer.0, cx.call.name)
        .map(drop)
}

pub fn aclUpdateDataBuffer(cx: &Cx<'_>, buffer: Raw, address: usize, size: usize) -> Result<()> {
    if buffer.is_null() {
        return refuse(ErrorKind::NullPointer, "dataBuffer is null");
    }
    *cx.process.data_buffers.get(buffer.0)?.content.lock() = (address, size);
    Ok(())
}

/// Returns address and size of a buffer.
///
/// # Errors
/// `NullPointer`, `InvalidHandle`.
pub(crate) fn content(cx: &Cx<'_>, buffer: Raw) -> Result<(usize, usize)> {
    Ok(*cx.process.data_buffers.get(buffer.0)?.content.lock())
}

pub fn aclGetDataBufferAddr(cx: &Cx<'_>, buffer: Raw) -> Result<usize> {
    content(cx, buffer).map(|(address, _)| address)
}

/// The old getter is 32 bits wide and cuts longer sizes.
pub fn aclGetDataBufferSize(cx: &Cx<'_>, buffer: Raw) -> Result<u32> {
    content(cx, buffer).map(|(_, size)| size as u32)
}

pub fn aclGetDataBufferSizeV2(cx: &Cx<'_>, buffer: Raw) -> Result<usize> {
    content(cx, buffer).map(|(_, size)| size)
}
