//! Last errors, error texts, and callbacks for failed tasks.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{MemoryKind, Table};
use jumar_types::{Error, ErrorKind, FailedOperator, IdKind, Result};

use crate::generated::{codes, enums, types};
use crate::{Cx, Raw, message, refuse};

/// A function of the program that is called for a failed task, with the handle of an [`ExceptionInfo`].
pub type ExceptionCallback = Arc<dyn Fn(u64) + Send + Sync>;

/// The description of a failed task. Valid while the callback runs.
pub struct ExceptionInfo {
    id: u64,
    device: u32,
    stream: u32,
    task: u32,
    thread: u32,
    code: u32,
    function: u64,
    arguments: (usize, usize),
}

/// The callbacks for failed tasks.
pub struct Exceptions {
    callback: Mutex<Option<ExceptionCallback>>,
    /// The registered ones, by the number that names each: the address of the program's function.
    registered: Mutex<BTreeMap<usize, ExceptionCallback>>,
    infos: Table<ExceptionInfo>,
    /// The operators of models that failed, by device, stream and task; the latest last.
    operators: Mutex<VecDeque<(Task, Arc<FailedOperator>)>>,
}

/// A task's device, stream and number.
type Task = (u32, u32, u32);

/// How many failed operators are kept.
const KEPT_OPERATORS: usize = 64;

impl Default for Exceptions {
    fn default() -> Self {
        Exceptions {
            callback: Mutex::default(),
            registered: Mutex::default(),
            infos: Table::new(IdKind::ExceptionInfo, Arc::default()),
            operators: Mutex::default(),
        }
    }
}

impl Exceptions {
    fn keep(&self, task: Task, operator: Arc<FailedOperator>) {
        let mut operators = self.operators.lock();
        if operators.len() >= KEPT_OPERATORS {
            operators.pop_front();
        }
        operators.push_back((task, operator));
    }

    /// Finds the operator of a model at which a task failed.
    pub(crate) fn operator(
        &self,
        device: u32,
        stream: u32,
        task: u32,
    ) -> Option<Arc<FailedOperator>> {
        let operators = self.operators.lock();
        let mut latest = operators.iter().rev();
        let found = latest.find(|(known, _)| *known == (device, stream, task));
        found.map(|(_, operator)| operator.clone())
    }
}

/// Passes a result on; if it is the failure of a task, the program's exception callback hears of it first.
#[inline]
pub(crate) fn report_failure(cx: &Cx<'_>, result: Result<()>) -> Result<()> {
    match result {
        Ok(()) => Ok(()),
        failed => report_task_failure(cx, failed),
    }
}

#[cold]
fn report_task_failure(cx: &Cx<'_>, result: Result<()>) -> Result<()> {
    let Err(error) = &result else { return Ok(()) };
    let Some(site) = error.task() else {
        return result;
    };
    if site.function != 0 {
        crate::dump::kernel_failed(cx, &site);
    }
    let exceptions = &cx.process.exceptions;
    if let Some(operator) = error.failed_operator() {
        exceptions.keep((site.device, site.stream, site.task), operator.clone());
    }
    // The binary's own callback comes last: it may take things away that the others look at.
    let of_binary = match site.function {
        0 => None,
        function => cx.runtime()?.function(function).ok().and_then(|function| {
            cx.process
                .kernels
                .watchers
                .lock()
                .get(&function.binary())
                .cloned()
        }),
    };
    // Taken out before any is called: a callback may register or take away.
    let single = exceptions.callback.lock().clone();
    let registered: Vec<_> = exceptions.registered.lock().values().cloned().collect();
    let callbacks: Vec<_> = single
        .into_iter()
        .chain(registered)
        .chain(of_binary)
        .collect();
    if !callbacks.is_empty() {
        let code = codes::code_for(cx.call, error.kind()) as u32;
        let infos = &cx.process.exceptions.infos;
        let info = infos.insert(|id| {
            Arc::new(ExceptionInfo {
                id,
                device: site.device,
                stream: site.stream,
                task: site.task,
                thread: match site.thread {
                    0 => std::process::id(),
                    thread => thread,
                },
                code,
                function: site.function,
                arguments: site.arguments,
            })
        })?;
        callbacks.iter().for_each(|callback| callback(info.id));
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
    info(cx, handle, |info| info.thread)
}

pub fn aclrtGetErrorCodeFromExceptionInfo(cx: &Cx<'_>, handle: Raw) -> Result<u32> {
    info(cx, handle, |info| info.code)
}

/// `function` is the address of the program's function: a number, by which it is registered once.
pub fn aclrtExceptionInfoCallbackRegister(
    cx: &Cx<'_>,
    function: usize,
    callback: Option<ExceptionCallback>,
) -> Result<()> {
    let Some(callback) = callback else {
        return refuse(ErrorKind::InvalidValue, "callback is null");
    };
    let mut registered = cx.process.exceptions.registered.lock();
    registered.insert(function, callback);
    Ok(())
}

pub fn aclrtExceptionInfoCallbackUnregister(cx: &Cx<'_>, function: usize) -> Result<()> {
    if function == 0 {
        return refuse(ErrorKind::InvalidValue, "callback is null");
    }
    cx.process.exceptions.registered.lock().remove(&function);
    Ok(())
}

pub fn aclrtGetArgsFromExceptionInfo(cx: &Cx<'_>, handle: Raw) -> Result<(usize, u32)> {
    let info = cx.process.exceptions.infos.get(handle.0)?;
    let (address, bytes) = info.arguments;
    Ok((address, u32::try_from(bytes).unwrap_or(u32::MAX)))
}

pub fn aclrtGetFuncHandleFromExceptionInfo(cx: &Cx<'_>, handle: Raw) -> Result<Raw> {
    Ok(Raw(cx.process.exceptions.infos.get(handle.0)?.function))
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

/// How many entries an `aclrtErrorInfo` and a list of broken memory have at most.
const MOST_UCE: usize = 20;

/// Memory of a software device has no errors of its own: the machine's would end the process.
pub fn aclrtGetMemUceInfo(
    cx: &Cx<'_>,
    device: i32,
    capacity: usize,
) -> Result<(Vec<types::aclrtMemUceInfo>, usize)> {
    if capacity == 0 || capacity > MOST_UCE {
        return refuse(
            ErrorKind::InvalidValue,
            format!("arraySize is {capacity}; it must be 1 to {MOST_UCE}"),
        );
    }
    cx.runtime()?.device(i64::from(device))?;
    Ok((Vec::new(), 0))
}

/// Nothing is broken, so that there is nothing to do once the ranges turned out to be memory of the device.
pub fn aclrtMemUceRepair(
    cx: &Cx<'_>,
    device: i32,
    ranges: Option<&[types::aclrtMemUceInfo]>,
    count: usize,
) -> Result<()> {
    let ranges = ranges.ok_or_else(|| null("memUceInfoArray"))?;
    if count == 0 || count > MOST_UCE {
        return refuse(
            ErrorKind::InvalidValue,
            format!("arraySize is {count}; it must be 1 to {MOST_UCE}"),
        );
    }
    let runtime = cx.runtime()?;
    let number = runtime.device(i64::from(device))?.number();
    for range in ranges {
        let inside = runtime.space().find(range.addr).is_some_and(|block| {
            let offset = range.addr - block.span.address();
            block.home == MemoryKind::Device(number)
                && range.len > 0
                && block.span.part(offset, range.len).is_some()
        });
        if !inside {
            return refuse(
                ErrorKind::InvalidValue,
                format!(
                    "{} bytes at {:#x} are not memory of device {device}",
                    range.len, range.addr
                ),
            );
        }
    }
    Ok(())
}

/// A device whose current context stopped on a failure had one of software; there is no other kind.
pub fn aclrtGetErrorVerbose(cx: &Cx<'_>, device: i32) -> Result<Box<types::aclrtErrorInfo>> {
    let device = cx.runtime()?.device(i64::from(device))?;
    let mut info = Box::new(types::aclrtErrorInfo::ZERO);
    info.errorType = enums::ACL_RT_NO_ERROR;
    let stopped = device.primary().and_then(|context| context.failure());
    if stopped.is_some() {
        info.errorType = enums::ACL_RT_ERROR_AICORE;
        info.hasDetail = 1;
        info.detail.set_aicoreErrType(enums::ACL_RT_AICORE_ERROR_SW);
    }
    Ok(info)
}

pub fn aclrtRepairError(
    cx: &Cx<'_>,
    device: i32,
    info: Option<&types::aclrtErrorInfo>,
) -> Result<()> {
    let info = info.ok_or_else(|| null("errorInfo"))?;
    cx.runtime()?.device(i64::from(device))?;
    match info.errorType {
        enums::ACL_RT_NO_ERROR => Ok(()),
        enums::ACL_RT_ERROR_MEMORY
        | enums::ACL_RT_ERROR_L2
        | enums::ACL_RT_ERROR_AICORE
        | enums::ACL_RT_ERROR_LINK
        | enums::ACL_RT_ERROR_L3_PORT
        | enums::ACL_RT_ERROR_OTHERS => Err(Error::new(
            ErrorKind::FeatureUnsupported,
            format!(
                "an error of type {} cannot be repaired by device {device}",
                info.errorType
            ),
        )
        .fix("Reset the device: a software device has no broken parts, so that its failures are the program's.")),
        other => refuse(
            ErrorKind::InvalidValue,
            crate::not_a_value("aclrtErrorType", other),
        ),
    }
}
