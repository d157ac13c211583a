//! Streams.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Context, Stream, StreamOptions, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::hooks::StreamStateHook;
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
    let stream = Raw(context.create_stream(options)?.id());
    notify(cx, stream.0, enums::ACL_RT_STREAM_STATE_CREATE_POST);
    Ok(stream)
}

/// Calls the registered functions for streams.
fn notify(cx: &Cx<'_>, stream: u64, state: u32) {
    for callback in cx.process.hooks.streams.all() {
        callback(stream, state);
    }
}

/// Calls the registered functions for every stream of a context that is about to be destroyed, and forgets the stream.
pub(crate) fn notify_all(cx: &Cx<'_>, context: &Context) {
    for stream in context.stream_ids() {
        notify(cx, stream, enums::ACL_RT_STREAM_STATE_DESTROY_PRE);
        forget(cx, stream);
    }
}

/// Drops what this crate keeps for a stream.
fn forget(cx: &Cx<'_>, stream: u64) {
    crate::device::reset_stream_cores(cx, stream);
    let mut kept = cx.process.stream_attributes.lock();
    kept.retain(|(of, _), _| *of != stream);
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
            "the stream is null; a default stream exists as long as its context and cannot be destroyed",
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
                "stream {} is the default stream of its context; it exists as long as the context and cannot be destroyed",
                found.number()
            ),
        );
    }
    found.refuse_captured()?;
    found.refuse_bound(ErrorKind::StreamModel)?;
    notify(cx, found.id(), enums::ACL_RT_STREAM_STATE_DESTROY_PRE);
    forget(cx, found.id());
    context.destroy_stream(&found, wait, &cx.caller())
}

pub fn aclrtSynchronizeStream(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    synchronize(cx, stream, None)
}

pub fn aclrtSynchronizeStreamWithTimeout(cx: &Cx<'_>, stream: Raw, timeout: i32) -> Result<()> {
    let limit = limit_ms(timeout, ErrorKind::InvalidValue)?;
    crate::message::polled(cx, timeout, synchronize(cx, stream, limit))
}

fn synchronize(cx: &Cx<'_>, stream: Raw, limit: Option<std::time::Duration>) -> Result<()> {
    let done = cx.with_any_stream(stream, |stream| {
        stream.refuse_captured()?;
        // Streams whose tasks the device keeps (persistent) or starts itself have nothing that the host could wait for.
        if stream.options().flags & (flag::PERSISTENT | flag::CPU_SCHEDULE) != 0 {
            return Ok(());
        }
        stream.synchronize(limit, &cx.caller())
    });
    crate::error::report_failure(cx, done)
}

pub fn aclrtStreamQuery(cx: &Cx<'_>, stream: Raw) -> Result<u32> {
    cx.with_any_stream(stream, |stream| {
        stream.refuse_captured()?;
        stream.refuse_stopped()?;
        Ok(match stream.is_idle() {
            true => enums::ACL_STREAM_STATUS_COMPLETE,
            false => enums::ACL_STREAM_STATUS_NOT_READY,
        })
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
    cx.any_stream(stream).map(|stream| priority(cx, &stream))
}

/// The priority that was set last: when the stream was made, or by its attribute.
fn priority(cx: &Cx<'_>, stream: &Stream) -> u32 {
    kept(cx, stream, enums::ACL_STREAM_ATTR_PRIORITY).unwrap_or(stream.options().priority.into())
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

/// Ends the stream's current wait; the tasks behind it run. A task that already runs
/// runs to its end.
pub fn aclrtStreamStop(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    if stream.is_null() {
        return refuse(ErrorKind::InvalidValue, "the stream is null");
    }
    cx.with_stream(stream, |stream| {
        stream.drop_wait();
        Ok(())
    })
}

pub fn aclrtRegStreamStateCallback(
    cx: &Cx<'_>,
    name: Option<&CStr>,
    function: Option<StreamStateHook>,
) -> Result<()> {
    cx.process.hooks.streams.set(name, function)
}

/// Reads a number of four or eight bytes: programs keep flags in either.
fn number(value: &[u8]) -> Option<u64> {
    match *value {
        [a, b, c, d] => Some(u32::from_ne_bytes([a, b, c, d]).into()),
        [a, b, c, d, e, f, g, h] => Some(u64::from_ne_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    }
}

pub fn aclrtSetStreamConfigOpt(
    cx: &Cx<'_>,
    config: Raw,
    attribute: u32,
    value: Option<&[u8]>,
    bytes: usize,
) -> Result<()> {
    let config = cx.process.stream_configs.get(config.0)?;
    let value = value.ok_or_else(|| null("attrValue"))?;
    if attribute > enums::ACL_RT_STREAM_PRIORITY {
        return refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("aclrtStreamConfigAttr", attribute),
        );
    }
    let Some(value) = number(value) else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("valueSize is {bytes}; the value of attribute {attribute} has 4 or 8 bytes"),
        );
    };
    let small = u32::try_from(value).map_err(|_| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the value of attribute {attribute} is {value}; it has 32 bits at most"),
        )
    });
    let mut options = config.options.lock();
    match attribute {
        enums::ACL_RT_STREAM_FLAG => options.flags = small?,
        enums::ACL_RT_STREAM_PRIORITY => options.priority = small?.min(LOWEST_PRIORITY) as u8,
        // Memory that the program offers for the stream's own needs: streams here need none.
        _ => {}
    }
    Ok(())
}

/// Attributes of streams that are kept for programs to read back, by the stream's handle and the attribute.
pub type Attributes = HashMap<(u64, u32), u32>;

fn kept(cx: &Cx<'_>, stream: &Stream, attribute: u32) -> Option<u32> {
    let attributes = cx.process.stream_attributes.lock();
    attributes.get(&(stream.id(), attribute)).copied()
}

fn keep(cx: &Cx<'_>, stream: &Stream, attribute: u32, value: u32) {
    let mut attributes = cx.process.stream_attributes.lock();
    attributes.insert((stream.id(), attribute), value);
}

/// Returns whether recorded tasks of a stream keep information on their operators.
pub(crate) fn caches_operators(cx: &Cx<'_>, stream: u64) -> bool {
    let attributes = cx.process.stream_attributes.lock();
    attributes.get(&(stream, enums::ACL_STREAM_ATTR_CACHE_OP_INFO)) == Some(&1)
}

fn unknown_attribute<T>(attribute: u32) -> Result<T> {
    refuse(
        ErrorKind::InvalidValue,
        crate::not_a_value("aclrtStreamAttr", attribute),
    )
}

fn switch(value: u32, what: &str) -> Result<u32> {
    if value <= 1 {
        return Ok(value);
    }
    refuse(
        ErrorKind::InvalidValue,
        format!("{what} is {value}; it must be 0 or 1"),
    )
}

pub fn aclrtSetStreamAttribute(
    cx: &Cx<'_>,
    stream: Raw,
    attribute: u32,
    value: Option<&types::aclrtStreamAttrValue>,
) -> Result<()> {
    let value = value.ok_or_else(|| null("value"))?;
    if stream.is_null() && attribute == enums::ACL_STREAM_ATTR_PRIORITY {
        return refuse(
            ErrorKind::InvalidValue,
            "the stream is null: the priority of a default stream cannot be set",
        );
    }
    cx.with_stream(stream, |stream| {
        let value = match attribute {
            enums::ACL_STREAM_ATTR_FAILURE_MODE => {
                return stream.set_stop_on_failure(value.failureMode() & 1 == 1);
            }
            enums::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => {
                switch(value.overflowSwitch(), "overflowSwitch")?
            }
            enums::ACL_STREAM_ATTR_USER_CUSTOM_TAG => value.userCustomTag(),
            enums::ACL_STREAM_ATTR_CACHE_OP_INFO => {
                switch(value.cacheOpInfoSwitch(), "cacheOpInfoSwitch")?
            }
            enums::ACL_STREAM_ATTR_PRIORITY => value.streamPriority().min(LOWEST_PRIORITY),
            _ => return unknown_attribute(attribute),
        };
        keep(cx, stream, attribute, value);
        Ok(())
    })
}

pub fn aclrtGetStreamAttribute(
    cx: &Cx<'_>,
    stream: Raw,
    attribute: u32,
) -> Result<types::aclrtStreamAttrValue> {
    let stream = cx.any_stream(stream)?;
    let mut value = types::aclrtStreamAttrValue::ZERO;
    let set = kept(cx, &stream, attribute);
    match attribute {
        enums::ACL_STREAM_ATTR_FAILURE_MODE => {
            value.set_failureMode(u64::from(stream.stops_on_failure()));
        }
        enums::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => value.set_overflowSwitch(set.unwrap_or(0)),
        enums::ACL_STREAM_ATTR_USER_CUSTOM_TAG => value.set_userCustomTag(set.unwrap_or(0)),
        enums::ACL_STREAM_ATTR_CACHE_OP_INFO => value.set_cacheOpInfoSwitch(set.unwrap_or(0)),
        enums::ACL_STREAM_ATTR_PRIORITY => {
            value.set_streamPriority(priority(cx, &stream));
        }
        _ => return unknown_attribute(attribute),
    }
    Ok(value)
}

pub fn aclrtSetStreamResLimit(cx: &Cx<'_>, stream: Raw, resource: u32, value: u32) -> Result<()> {
    let stream = cx.any_stream(stream)?;
    crate::device::set_stream_cores(cx, &stream, resource, value)
}

pub fn aclrtGetStreamResLimit(cx: &Cx<'_>, stream: Raw, resource: u32) -> Result<u32> {
    let stream = cx.any_stream(stream)?;
    crate::device::stream_cores(cx, &stream, resource)
}

pub fn aclrtResetStreamResLimit(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    let stream = cx.any_stream(stream)?;
    crate::device::reset_stream_cores(cx, stream.id());
    Ok(())
}
