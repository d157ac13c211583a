//! Descriptions of coded video streams.

use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_types::{ErrorKind, Result};

use super::{fields, find, remove};
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// A description of coded data. The memory belongs to the program.
pub struct StreamDesc {
    id: u64,
    /// It belongs to an encoding channel, for the time of a callback.
    is_lent: bool,
    pub(super) fields: Mutex<StreamFields>,
}

/// What a program states about coded data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamFields {
    pub(super) data: usize,
    pub(super) size: u32,
    pub(super) format: u32,
    pub(super) timestamp: u64,
    pub(super) ret_code: u32,
    pub(super) eos: u8,
}

pub fn acldvppCreateStreamDesc(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.dvpp.streams.insert(|id| {
        Arc::new(StreamDesc {
            id,
            is_lent: false,
            fields: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

/// Creates the description of a coded frame that a callback gets. Returns its handle.
///
/// # Errors
/// `OutOfMemory`.
pub(super) fn lend(table: &Table<StreamDesc>, fields: StreamFields) -> Result<u64> {
    let made = table.insert(|id| {
        Arc::new(StreamDesc {
            id,
            is_lent: true,
            fields: Mutex::new(fields),
        })
    })?;
    Ok(made.id)
}

/// Destroys a description that was lent.
pub(super) fn take_back(table: &Table<StreamDesc>, handle: u64) {
    // It is removed here alone.
    let _ = table.remove(handle, "aclrtProcessReport");
}

pub fn acldvppDestroyStreamDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    // The channel destroys what it lent, when the callback has returned.
    if find(&cx.process.dvpp.streams, desc, "streamDesc")?.is_lent {
        return Ok(());
    }
    remove(cx, &cx.process.dvpp.streams, desc, "streamDesc").map(drop)
}

fields! {
    streams, "streamDesc";
    acldvppSetStreamDescData acldvppGetStreamDescData data: usize;
    acldvppSetStreamDescSize acldvppGetStreamDescSize size: u32;
    acldvppSetStreamDescTimestamp acldvppGetStreamDescTimestamp timestamp: u64;
    acldvppSetStreamDescRetCode acldvppGetStreamDescRetCode ret_code: u32;
    acldvppSetStreamDescEos acldvppGetStreamDescEos eos: u8;
}

pub fn acldvppSetStreamDescFormat(cx: &Cx<'_>, desc: Raw, format: u32) -> Result<()> {
    let found = find(&cx.process.dvpp.streams, desc, "streamDesc")?;
    if enums::name_of("acldvppStreamFormat", i64::from(format)).is_none() {
        return refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("acldvppStreamFormat", format),
        );
    }
    found.fields.lock().format = format;
    Ok(())
}

pub fn acldvppGetStreamDescFormat(cx: &Cx<'_>, desc: Raw) -> Result<u32> {
    let found = find(&cx.process.dvpp.streams, desc, "streamDesc")?;
    let format = found.fields.lock().format;
    Ok(format)
}
