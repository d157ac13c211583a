//! Events.

use std::time::Duration;

use jumar::engine::{EventFamily, EventStatus, elapsed_ms, event_flags as flags};
use jumar_types::{Error, ErrorKind, Result};

use crate::generated::{enums, types};
use crate::{Cx, Raw, limit_ms, refuse};

pub fn aclrtCreateEvent(cx: &Cx<'_>) -> Result<Raw> {
    let event = cx.context()?.create_event(
        EventFamily::Default,
        flags::CAPTURE_PROGRESS | flags::TIME_LINE,
    )?;
    Ok(Raw(event.id()))
}

/// Flags that can be combined; 0x4 is known and has no public name.
const COMBINABLE: u32 = flags::SYNC | flags::CAPTURE_PROGRESS | 0x4 | flags::TIME_LINE;

fn bad_flags(given: u32, allowed: &str) -> Error {
    Error::new(
        ErrorKind::InvalidValue,
        format!("event flags {given:#x} are not allowed here; {allowed}"),
    )
}

pub fn aclrtCreateEventWithFlag(cx: &Cx<'_>, given: u32) -> Result<Raw> {
    let alone = given == flags::DEVICE_USE_ONLY || given == flags::EXTERNAL;
    if given == 0 || (given & !COMBINABLE != 0 && !alone) {
        return Err(bad_flags(
            given,
            "SYNC, CAPTURE_STREAM_PROGRESS and TIME_LINE can be combined, DEVICE_USE_ONLY and EXTERNAL stand alone",
        ));
    }
    let event = cx.context()?.create_event(EventFamily::Classic, given)?;
    Ok(Raw(event.id()))
}

pub fn aclrtCreateEventExWithFlag(cx: &Cx<'_>, given: u32) -> Result<Raw> {
    if given == 0 || (given & !COMBINABLE != 0 && given != flags::IPC) {
        return Err(bad_flags(
            given,
            "SYNC, CAPTURE_STREAM_PROGRESS and TIME_LINE can be combined, IPC stands alone",
        ));
    }
    let event = cx.context()?.create_event(EventFamily::Ex, given)?;
    Ok(Raw(event.id()))
}

pub fn aclrtDestroyEvent(cx: &Cx<'_>, event: Raw) -> Result<()> {
    cx.event(event)?.destroy(&cx.caller())
}

pub fn aclrtRecordEvent(cx: &Cx<'_>, event: Raw, stream: Raw) -> Result<()> {
    cx.thread.event(cx, event, |event| {
        host_may_use(event)?;
        cx.with_stream(stream, |stream| event.record(stream, &cx.caller()))
    })?
}

/// External events order a captured graph with the outside; the host does not ask for them.
fn not_external(event: &jumar::engine::Event) -> Result<()> {
    if event.flags() & flags::EXTERNAL != 0 {
        return refuse(
            ErrorKind::FeatureUnsupported,
            format!(
                "event {} is external: it orders a captured model with other work, and the host cannot query it",
                event.number()
            ),
        );
    }
    Ok(())
}

fn host_may_use(event: &jumar::engine::Event) -> Result<()> {
    if event.flags() & flags::DEVICE_USE_ONLY != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "event {} was made with ACL_EVENT_DEVICE_USE_ONLY, so the host cannot query it or wait for it",
                event.number()
            ),
        );
    }
    Ok(())
}

pub fn aclrtStreamWaitEvent(cx: &Cx<'_>, stream: Raw, event: Raw) -> Result<()> {
    wait(cx, stream, event, None)
}

pub fn aclrtStreamWaitEventWithTimeout(
    cx: &Cx<'_>,
    stream: Raw,
    event: Raw,
    timeout: i32,
) -> Result<()> {
    let Ok(seconds) = u64::try_from(timeout) else {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the timeout is {timeout} s; it must be 0 (no limit) or more"),
        );
    };
    wait(
        cx,
        stream,
        event,
        (seconds != 0).then(|| Duration::from_secs(seconds)),
    )
}

fn wait(cx: &Cx<'_>, stream: Raw, event: Raw, limit: Option<Duration>) -> Result<()> {
    cx.thread.event(cx, event, |event| {
        host_may_use(event)?;
        cx.with_stream(stream, |stream| event.wait(stream, limit, &cx.caller()))
    })?
}

pub fn aclrtResetEvent(cx: &Cx<'_>, event: Raw, stream: Raw) -> Result<()> {
    let event = cx.event(event)?;
    cx.with_stream(stream, |stream| event.reset(stream, &cx.caller()))
}

fn not_ex(event: &jumar::engine::Event, instead: &str) -> Result<()> {
    if event.family() == EventFamily::Ex {
        return Err(Error::new(
            ErrorKind::FeatureUnsupported,
            format!(
                "event {} was made by aclrtCreateEventExWithFlag; this query does not support such events",
                event.number()
            ),
        )
        .fix(instead));
    }
    Ok(())
}

pub fn aclrtQueryEvent(cx: &Cx<'_>, event: Raw) -> Result<u32> {
    let event = cx.event(event)?;
    not_ex(&event, "Use aclrtQueryEventStatus.")?;
    not_external(&event)?;
    event.refuse_captured()?;
    event.refuse_stopped()?;
    Ok(match event.status() {
        EventStatus::NotRecorded | EventStatus::Complete => enums::ACL_EVENT_STATUS_COMPLETE,
        EventStatus::Pending => enums::ACL_EVENT_STATUS_NOT_READY,
    })
}

pub fn aclrtQueryEventStatus(cx: &Cx<'_>, event: Raw) -> Result<u32> {
    let event = cx.event(event)?;
    not_external(&event)?;
    event.refuse_captured()?;
    event.refuse_stopped()?;
    Ok(match (event.status(), event.family()) {
        (EventStatus::Complete, _) | (EventStatus::NotRecorded, EventFamily::Ex) => {
            enums::ACL_EVENT_RECORDED_STATUS_COMPLETE
        }
        (EventStatus::Pending, _)
        | (EventStatus::NotRecorded, EventFamily::Default | EventFamily::Classic) => {
            enums::ACL_EVENT_RECORDED_STATUS_NOT_READY
        }
    })
}

pub fn aclrtQueryEventWaitStatus(cx: &Cx<'_>, event: Raw) -> Result<u32> {
    let event = cx.event(event)?;
    not_ex(
        &event,
        "Ask for the stream that waits with aclrtStreamQuery.",
    )?;
    Ok(if event.waits_have_passed() {
        enums::ACL_EVENT_WAIT_STATUS_COMPLETE
    } else {
        enums::ACL_EVENT_WAIT_STATUS_NOT_READY
    })
}

pub fn aclrtSynchronizeEvent(cx: &Cx<'_>, event: Raw) -> Result<()> {
    synchronize(cx, event, None)
}

pub fn aclrtSynchronizeEventWithTimeout(cx: &Cx<'_>, event: Raw, timeout: i32) -> Result<()> {
    let limit = limit_ms(timeout, ErrorKind::InvalidValue)?;
    crate::message::polled(cx, timeout, synchronize(cx, event, limit))
}

fn synchronize(cx: &Cx<'_>, event: Raw, limit: Option<Duration>) -> Result<()> {
    let event = cx.event(event)?;
    cx.context()?;
    not_external(&event)?;
    event.refuse_captured()?;
    if event.is_in_model() {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "event {} was recorded on a stream that is bound to a model; the host does not wait for it",
                event.number()
            ),
        );
    }
    event.synchronize(limit, &cx.caller())
}

pub fn aclrtEventElapsedTime(cx: &Cx<'_>, start: Raw, end: Raw) -> Result<f32> {
    let (start, end) = (cx.event(start)?, cx.event(end)?);
    not_external(&start)?;
    not_external(&end)?;
    start.refuse_captured()?;
    end.refuse_captured()?;
    not_shared(&start)?;
    not_shared(&end)?;
    elapsed_ms(&start, &end)
}

pub fn aclrtEventGetTimestamp(cx: &Cx<'_>, event: Raw) -> Result<u64> {
    let event = cx.event(event)?;
    not_external(&event)?;
    not_shared(&event)?;
    Ok(event.time_ns()? / 1000)
}

pub fn aclrtGetEventAvailNum(cx: &Cx<'_>) -> Result<u32> {
    cx.context()
        .map(|context| context.device().events_available())
}

pub fn aclrtGetEventId(cx: &Cx<'_>, event: Raw) -> Result<u32> {
    let event = cx.event(event)?;
    not_shared(&event)?;
    if event.status() == EventStatus::NotRecorded && event.family() != EventFamily::Classic {
        return refuse(
            ErrorKind::EventNotRecorded,
            format!("event {} has no id before it is recorded", event.number()),
        );
    }
    Ok(event.number() as u32)
}

/// Sets how long later waits of streams for events may last; 0 is forever.
pub fn aclrtSetOpWaitTimeout(cx: &Cx<'_>, seconds: u32) -> Result<()> {
    cx.context()?;
    cx.runtime()?
        .set_wait_limit((seconds != 0).then(|| Duration::from_secs(u64::from(seconds))));
    Ok(())
}

/// What events of several processes do not have: a time, a number.
fn not_shared(event: &jumar::engine::Event) -> Result<()> {
    if event.flags() & flags::IPC != 0 {
        return refuse(
            ErrorKind::FeatureUnsupported,
            format!(
                "event {} is shared between processes: it has neither a time nor an id",
                event.number()
            ),
        );
    }
    Ok(())
}

pub fn aclrtIpcGetEventHandle(cx: &Cx<'_>, event: Raw) -> Result<types::aclrtIpcEventHandle> {
    let event = cx.event(event)?;
    event.export().map(crate::ipc::event_handle)
}

pub fn aclrtIpcOpenEventHandle(cx: &Cx<'_>, handle: types::aclrtIpcEventHandle) -> Result<Raw> {
    let number = crate::ipc::event_number(&handle)?;
    let event = cx.context()?.import_event(number)?;
    Ok(Raw(event.id()))
}

fn external(flag: u32) -> Result<bool> {
    match flag {
        0 => Ok(false),
        1 => Ok(true),
        _ => refuse(
            ErrorKind::InvalidArgument,
            format!("flag is {flag}; it must be 0 (default) or 1 (external)"),
        ),
    }
}

pub fn aclrtRecordEventWithFlag(cx: &Cx<'_>, event: Raw, stream: Raw, flag: u32) -> Result<()> {
    let event = cx.event(event)?;
    let external = external(flag)?;
    host_may_use(&event)?;
    cx.with_stream(stream, |stream| {
        event.record_with(stream, external, &cx.caller())
    })
}

pub fn aclrtStreamWaitEventWithFlag(
    cx: &Cx<'_>,
    stream: Raw,
    event: Raw,
    seconds: u32,
    flag: u32,
) -> Result<()> {
    let event = cx.event(event)?;
    let external = external(flag)?;
    if external && seconds != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the timeout is {seconds} s; it must be 0 for an external wait"),
        );
    }
    host_may_use(&event)?;
    let limit = (seconds != 0).then(|| Duration::from_secs(u64::from(seconds)));
    cx.with_stream(stream, |stream| {
        event.wait_with(stream, external, limit, &cx.caller())
    })
}
