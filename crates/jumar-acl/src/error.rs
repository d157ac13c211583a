//! Last errors, error texts, and callbacks for failed tasks.

use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::generated::codes;
use crate::{Cx, Raw, message, refuse};

/// A function of the program that is told of a failed task; it gets the handle of an [`ExceptionInfo`].
pub type ExceptionCallback = Arc<dyn Fn(u64) + Send + Sync>;

/// What is told of a failed task. Valid while the callback runs.
pub struct ExceptionInfo {
    id: u64,
    device: u32,
    stream: u32,
    task: u32,
    code: u32,
}

/// Who is told of failed tasks.
pub struct Exceptions {
    callback: Mutex<Option<ExceptionCallback>>,
    infos: Table<ExceptionInfo>,
}

impl Default for Exceptions {
    fn default() -> Self {
        Exceptions {
            callback: Mutex::default(),
            infos: Table::new(IdKind::ExceptionInfo, Arc::default()),
        }
    }
}

/// Passes a result on; if it is the failure of a task, the program's exception callback hears of it first.
pub(crate) fn told(cx: &Cx<'_>, result: Result<()>) -> Result<()> {
    let Err(error) = &result else { return Ok(()) };
    let Some(site) = error.task() else {
        return result;
    };
    let callback = cx.process.exceptions.callback.lock().clone();
    if let Some(callback) = callback {
        let code = codes::code_for(cx.call, error.kind()) as u32;
        let infos = &cx.process.exceptions.infos;
        let info = infos.insert(|id| {
            Arc::new(ExceptionInfo {
                id,
                device: site.device,
                stream: site.stream,
                task: site.task,
                code,
            })
        })?;
        callback(info.id);
        infos.remove(info.id, "the end of the exception callback")?;
    }
    result
}

pub fn aclrtSetExceptionInfoCallback(
    cx: &Cx<'_>,
    callback: Option<ExceptionCallback>,
) -> Result<()> {
    *cx.process.exceptions.callback.lock() = callback;
    Ok(())
}

/// What the getters answer for null, and for an information that is over.
const NO_INFO: u32 = u32::MAX;

fn info(cx: &Cx<'_>, info: Raw, read: impl FnOnce(&ExceptionInfo) -> u32) -> Result<u32> {
    Ok(cx
        .process
        .exceptions
        .infos
        .get(info.0)
        .map_or(NO_INFO, |info| read(&info)))
}

pub fn aclrtGetTaskIdFromExceptionInfo(cx: &Cx<'_>, handle: Raw) -> Result<u32> {
    info(cx, handle, |info| info.task)
}

pub fn aclrtGetStreamIdFromExceptionInfo(cx: &Cx<'_>, handle: Raw) -> Result<u32> {
    info(cx, handle, |info| info.stream)
}

pub fn aclrtGetDeviceIdFromExceptionInfo(cx: &Cx<'_>, handle: Raw) -> Result<u32> {
    info(cx, handle, |info| info.device)
}

pub fn aclrtGetThreadIdFromExceptionInfo(cx: &Cx<'_>, handle: Raw) -> Result<u32> {
    info(cx, handle, |_| std::process::id())
}

pub fn aclrtGetErrorCodeFromExceptionInfo(cx: &Cx<'_>, handle: Raw) -> Result<u32> {
    info(cx, handle, |info| info.code)
}

fn check_level(level: u32) -> Result<()> {
    if level == 0 {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("the level is {level}; only 0 (thread) exists"),
    )
}

/// The result of these two is the last error itself, so it travels as an `Err` would not: the shim answers the number.
pub fn aclrtGetLastError(cx: &Cx<'_>, level: u32) -> Result<i32> {
    check_level(level)?;
    Ok(cx.thread.last_error.replace(0))
}

pub fn aclrtPeekAtLastError(cx: &Cx<'_>, level: u32) -> Result<i32> {
    check_level(level)?;
    Ok(cx.thread.last_error.get())
}

pub fn aclGetRecentErrMsg(cx: &Cx<'_>) -> Result<usize> {
    Ok(message::fetch(cx).unwrap_or(0))
}

/// An error for a handle that has to be there.
pub(crate) fn null(what: &str) -> Error {
    Error::new(ErrorKind::NullPointer, format!("{what} is null"))
}
