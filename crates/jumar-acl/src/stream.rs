//! Streams.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{StreamOptions, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::generated::enums;
use crate::{Cx, Raw, limit_ms, refuse};

/// A configuration that streams can be made from.
#[derive(Default)]
pub struct StreamConfig {
    id: u64,
    options: Mutex<StreamOptions>,
}

/// The configurations by handle.
pub type StreamConfigs = Table<StreamConfig>;

pub(crate) fn table() -> StreamConfigs {
    Table::new(IdKind::StreamConfig, Arc::default())
}

/// Lowest priority; larger numbers are clamped to it.
const LOWEST_PRIORITY: u32 = 7;

mod flag {
    pub(super) const PERSISTENT: u32 = 0x4;
    pub(super) const HUGE: u32 = 0x8;
    pub(super) const CPU_SCHEDULE: u32 = 0x10;
    pub(super) const DEVICE_USE_ONLY: u32 = 0x20;
}

pub fn aclrtCreateStream(cx: &Cx<'_>) -> Result<Raw> {
    create(cx, StreamOptions::default())
}

pub fn aclrtCreateStreamWithConfig(cx: &Cx<'_>, priority: u32, flags: u32) -> Result<Raw> {
    create(
        cx,
        StreamOptions {
            priority: priority.min(LOWEST_PRIORITY) as u8,
            flags,
        },
    )
}

pub fn aclrtCreateStreamV2(cx: &Cx<'_>, config: Raw) -> Result<Raw> {
    let options = *cx.process.stream_configs.get(config.0)?.options.lock();
    create(cx, options)
}

fn create(cx: &Cx<'_>, options: StreamOptions) -> Result<Raw> {
    let context = cx.context()?;
    if options.flags & flag::DEVICE_USE_ONLY != 0 && options.flags != flag::DEVICE_USE_ONLY {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "flags {:#x} combine ACL_STREAM_DEVICE_USE_ONLY with others",
                options.flags
            ),
        );
    }
    for (bit, name) in [
        (flag::HUGE, "ACL_STREAM_HUGE"),
        (flag::DEVICE_USE_ONLY, "ACL_STREAM_DEVICE_USE_ONLY"),
    ] {
        if options.flags & bit != 0 {
            return refuse(
                ErrorKind::FeatureUnsupported,
                format!(
                    "{} has no streams of the kind {name}",
                    context.device().profile().soc_name
                ),
            );
        }
    }
    context
        .create_stream(options)
        .map(|stream| Raw(stream.id()))
}

pub fn aclrtCreateStreamConfigHandle(cx: &Cx<'_>) -> Result<Raw> {
    let config = cx.process.stream_configs.insert(|id| {
        Arc::new(StreamConfig {
            id,
            options: Mutex::default(),
        })
    })?;
    Ok(Raw(config.id))
}

pub fn aclrtDestroyStreamConfigHandle(cx: &Cx<'_>, config: Raw) -> Result<()> {
    cx.process
        .stream_configs
        .remove(config.0, cx.call.name)
        .map(drop)
}

pub fn aclrtDestroyStream(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    destroy(cx, stream, true)
}

pub fn aclrtDestroyStreamForce(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    destroy(cx, stream, false)
}

fn destroy(cx: &Cx<'_>, stream: Raw, wait: bool) -> Result<()> {
    if stream.is_null() {
        return refuse(
            ErrorKind::NullPointer,
            "the stream is null, and a default stream lives as long as its context",
        );
    }
    let found = cx.runtime()?.streams().get(stream.0)?;
    let context = cx.context()?;
    if found.context_id() != context.id() {
        return Err(crate::foreign_stream(&found, &context));
    }
    if found.is_default() {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "stream {} is the default stream of its context and lives as long as that",
                found.number()
            ),
        );
    }
    found.refuse_captured()?;
    found.refuse_bound(ErrorKind::StreamModel)?;
    context.destroy_stream(&found, wait, &cx.caller())
}

pub fn aclrtSynchronizeStream(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    synchronize(cx, stream, None)
}

pub fn aclrtSynchronizeStreamWithTimeout(cx: &Cx<'_>, stream: Raw, timeout: i32) -> Result<()> {
    synchronize(cx, stream, limit_ms(timeout, ErrorKind::InvalidValue)?)
}

fn synchronize(cx: &Cx<'_>, stream: Raw, limit: Option<std::time::Duration>) -> Result<()> {
    let stream = cx.any_stream(stream)?;
    stream.refuse_captured()?;
    // Streams whose tasks the device keeps (persistent) or starts itself have nothing that the host could wait for.
    if stream.options().flags & (flag::PERSISTENT | flag::CPU_SCHEDULE) != 0 {
        return Ok(());
    }
    crate::error::told(cx, stream.synchronize(limit, &cx.caller()))
}

pub fn aclrtStreamQuery(cx: &Cx<'_>, stream: Raw) -> Result<u32> {
    let stream = cx.any_stream(stream)?;
    stream.refuse_captured()?;
    Ok(if stream.is_idle() {
        enums::ACL_STREAM_STATUS_COMPLETE
    } else {
        enums::ACL_STREAM_STATUS_NOT_READY
    })
}

pub fn aclrtSetStreamFailureMode(cx: &Cx<'_>, stream: Raw, mode: u64) -> Result<()> {
    cx.with_stream(stream, |stream| {
        stream.refuse_bound(ErrorKind::FeatureUnsupported)?;
        stream.set_stop_on_failure(mode & 1 == 1)
    })
}

pub fn aclrtStreamGetId(cx: &Cx<'_>, stream: Raw) -> Result<i32> {
    cx.any_stream(stream).map(|stream| stream.number() as i32)
}

pub fn aclrtStreamGetPriority(cx: &Cx<'_>, stream: Raw) -> Result<u32> {
    cx.any_stream(stream)
        .map(|stream| u32::from(stream.options().priority))
}

pub fn aclrtStreamGetFlags(cx: &Cx<'_>, stream: Raw) -> Result<u32> {
    cx.any_stream(stream).map(|stream| stream.options().flags)
}

pub fn aclrtGetStreamAvailableNum(cx: &Cx<'_>) -> Result<u32> {
    cx.context()
        .map(|context| context.device().streams_available())
}

pub fn aclrtDeviceGetStreamPriorityRange(cx: &Cx<'_>) -> Result<(i32, i32)> {
    cx.context()?;
    Ok((LOWEST_PRIORITY as i32, 0))
}

pub fn aclrtCtxGetCurrentDefaultStream(cx: &Cx<'_>) -> Result<Raw> {
    cx.context()?
        .default_stream()
        .map(|stream| Raw(stream.id()))
}

pub fn aclrtStreamAbort(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    if stream.is_null() {
        return Err(Error::new(ErrorKind::NullPointer, "the stream is null"));
    }
    cx.with_stream(stream, |stream| {
        stream.refuse_bound(ErrorKind::RuntimeInternal)?;
        stream.abort();
        Ok(())
    })
}
