//! Host callbacks.

use jumar::engine::Role;
use jumar_types::{ErrorKind, Result};

use crate::{Cx, Raw, limit_ms, refuse};

/// A function of the program, with its argument.
pub type HostFunction = Box<dyn Fn() + Send + Sync>;

pub fn aclrtSubscribeReport(cx: &Cx<'_>, thread: u64, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .subscribe(Role::Callbacks, thread, stream)
    })
}

pub fn aclrtUnSubscribeReport(cx: &Cx<'_>, thread: u64, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .unsubscribe(Role::Callbacks, thread, stream, &cx.caller())
    })
}

/// A part of a wait for callbacks. Between two parts the thread may be cancelled.
#[derive(Clone, Copy, Debug)]
pub struct WaitPart {
    /// The time limit that the program states.
    timeout: i32,
    /// What is left of it after the earlier parts.
    left: i32,
}

/// The milliseconds of a part of a wait.
const PART_MS: i32 = 200;

impl WaitPart {
    /// Returns the first part of a wait.
    pub fn first(timeout: i32) -> WaitPart {
        WaitPart {
            timeout,
            left: timeout,
        }
    }

    /// Returns the time limit that the program states.
    pub fn timeout(self) -> i32 {
        self.timeout
    }

    /// Returns the limit of this part, and the part that follows it.
    fn split(self) -> (i32, Option<WaitPart>) {
        match self.left {
            -1 => (PART_MS, Some(self)),
            left if left > PART_MS => {
                let left = left - PART_MS;
                (PART_MS, Some(WaitPart { left, ..self }))
            }
            left => (left, None),
        }
    }

    /// Waits for callbacks in this part. Returns the part to continue with if none came in time.
    fn process(self, cx: &Cx<'_>, role: Role, thread: u64) -> Result<Option<WaitPart>> {
        limit_ms(self.timeout, ErrorKind::InvalidArgument)?;
        if cx.thread.reporter.replace(thread) != thread {
            cx.process.ended_reporters.lock().remove(&thread);
        }
        let (limit, next) = self.split();
        let limit = limit_ms(limit, ErrorKind::InvalidArgument)?;
        match cx.runtime()?.reports().process(role, thread, limit) {
            Err(error) if error.kind() == ErrorKind::ReportTimeout && next.is_some() => Ok(next),
            other => other.map(|()| None),
        }
    }
}

/// `thread` is the calling thread's id as returned by `pthread_self`.
pub fn aclrtProcessReport(cx: &Cx<'_>, thread: u64, timeout: i32) -> Result<()> {
    let mut part = Some(WaitPart::first(timeout));
    while let Some(now) = part {
        part = now.process(cx, Role::Callbacks, thread)?;
    }
    Ok(())
}

/// Waits for one part of [`aclrtProcessReport`]. Returns the part to continue with if no callback came in time.
///
/// # Errors
/// As [`aclrtProcessReport`].
pub fn process_report_part(cx: &Cx<'_>, thread: u64, part: WaitPart) -> Result<Option<WaitPart>> {
    part.process(cx, Role::Callbacks, thread)
}

pub fn aclrtLaunchCallback(
    cx: &Cx<'_>,
    function: Option<HostFunction>,
    block_type: u32,
    stream: Raw,
) -> Result<()> {
    if block_type > 1 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("blockType is {block_type}; it must be 0 (no block) or 1 (block)"),
        );
    }
    let Some(function) = function else {
        return refuse(ErrorKind::InvalidValue, "fn is null");
    };
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .launch(stream, function, block_type == 1, &cx.caller())
    })
}

pub fn aclrtLaunchHostFunc(cx: &Cx<'_>, stream: Raw, function: Option<HostFunction>) -> Result<()> {
    let Some(function) = function else {
        return refuse(ErrorKind::InvalidValue, "fn is null");
    };
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .launch_host_function(stream, function, &cx.caller())
    })
}

pub fn aclrtSubscribeHostFunc(cx: &Cx<'_>, thread: u64, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .subscribe(Role::HostFunctions, thread, stream)
    })
}

pub fn aclrtUnSubscribeHostFunc(cx: &Cx<'_>, thread: u64, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        cx.runtime()?
            .reports()
            .unsubscribe(Role::HostFunctions, thread, stream, &cx.caller())
    })
}

/// `thread` is the calling thread's id as returned by `pthread_self`.
pub fn aclrtProcessHostFunc(cx: &Cx<'_>, thread: u64, timeout: i32) -> Result<()> {
    let mut part = Some(WaitPart::first(timeout));
    while let Some(now) = part {
        part = now.process(cx, Role::HostFunctions, thread)?;
    }
    Ok(())
}

/// Waits for one part of [`aclrtProcessHostFunc`]. Returns the part to continue with if no callback came in time.
///
/// # Errors
/// As [`aclrtProcessHostFunc`].
pub fn process_host_func_part(
    cx: &Cx<'_>,
    thread: u64,
    part: WaitPart,
) -> Result<Option<WaitPart>> {
    part.process(cx, Role::HostFunctions, thread)
}
