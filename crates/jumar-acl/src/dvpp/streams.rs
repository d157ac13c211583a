//! Descriptions of coded video streams.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_types::{ErrorKind, Result};

use super::{fields, find, remove};
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// A description of coded data. The memory belongs to the program.
pub struct StreamDesc {
    id: u64,
    pub(super) fields: Mutex<StreamFields>,
}

/// What a program states about coded data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamFields {
    data: usize,
    size: u32,
    format: u32,
    timestamp: u64,
    ret_code: u32,
    eos: u8,
}

pub fn acldvppCreateStreamDesc(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.dvpp.streams.insert(|id| {
        Arc::new(StreamDesc {
            id,
            fields: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acldvppDestroyStreamDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
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
            format!("{format} is not a value of acldvppStreamFormat"),
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
