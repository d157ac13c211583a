//! Captured and built models.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use jumar::engine::{
    CaptureMode, CaptureStatus, Comparison, Condition, ConditionKind, Graph, Origin, Span,
    TaskGroup, TaskKind, Width,
};
use jumar_types::{Error, ErrorKind, Result};

use crate::generated::{enums, types};
use crate::{Cx, Raw, limit_ms, refuse};

mod parameters;
mod print;

pub use parameters::*;
pub use print::{aclmdlRIDebugJsonPrint, aclmdlRIDebugPrint};

/// Flags of streams that this group looks at.
mod flag {
    pub(super) const FAST_LAUNCH: u32 = 0x1;
    pub(super) const PERSISTENT: u32 = 0x4;
    pub(super) const CPU_SCHEDULE: u32 = 0x10;
    pub(super) const DEVICE_USE_ONLY: u32 = 0x20;
}

/// A bound stream starts with its model.
const HEAD: u32 = 0;
/// A bound stream starts when something activates it.
const DEFAULT: u32 = 0x7FFF_FFFF;

fn mode_of(mode: u32) -> Result<CaptureMode> {
    match mode {
        enums::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL => Ok(CaptureMode::Global),
        enums::ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL => Ok(CaptureMode::ThreadLocal),
        enums::ACL_MODEL_RI_CAPTURE_MODE_RELAXED => Ok(CaptureMode::Relaxed),
        _ => refuse(
            ErrorKind::InvalidValue,
            format!(
                "the capture mode is {mode}; it must be 0 (global), 1 (thread local) or 2 (relaxed)"
            ),
        ),
    }
}

fn not_null(handle: Raw, name: &str) -> Result<()> {
    if handle.is_null() {
        return refuse(ErrorKind::NullPointer, format!("{name} is null"));
    }
    Ok(())
}

impl Cx<'_> {
    /// Finds a model of the current context.
    ///
    /// # Errors
    /// `NullPointer`, `InvalidHandle`, `NoContext`, `ModelContext`.
    fn graph(&self, model: Raw) -> Result<Arc<Graph>> {
        let graph = self.runtime()?.graphs().get(model.0)?;
        let context = self.context()?;
        if graph.context_id() != context.id() {
            return refuse(
                ErrorKind::ModelContext,
                format!(
                    "model {} belongs to another context than this thread's current one",
                    graph.number()
                ),
            );
        }
        Ok(graph)
    }

    /// As [`Cx::graph`], for calls that take null for a bad value.
    fn graph_value(&self, model: Raw) -> Result<Arc<Graph>> {
        if model.is_null() {
            return refuse(ErrorKind::InvalidValue, "modelRI is null");
        }
        self.graph(model)
    }
}

pub fn aclmdlRICaptureBegin(cx: &Cx<'_>, stream: Raw, mode: u32) -> Result<()> {
    not_null(stream, "stream")?;
    let mode = mode_of(mode)?;
    let context = cx.context()?;
    cx.with_stream(stream, |stream| {
        capturable(stream)?;
        Graph::begin(&context, stream, mode, &cx.caller()).map(drop)
    })
}

pub fn aclmdlRICaptureToModelRIBegin(
    cx: &Cx<'_>,
    stream: Raw,
    model: Raw,
    mode: u32,
) -> Result<()> {
    not_null(stream, "stream")?;
    not_null(model, "modelRI")?;
    let mode = mode_of(mode)?;
    let graph = cx.graph(model)?;
    cx.with_stream(stream, |stream| {
        capturable(stream)?;
        graph.begin_into(stream, mode, &cx.caller())
    })
}

fn capturable(stream: &jumar::engine::Stream) -> Result<()> {
    if stream.options().flags & (flag::CPU_SCHEDULE | flag::DEVICE_USE_ONLY) != 0 {
        return refuse(
            ErrorKind::RuntimeInternal,
            format!(
                "stream {} has flags {:#x}; a stream that the device schedules is not captured",
                stream.number(),
                stream.options().flags
            ),
        );
    }
    Ok(())
}

pub fn aclmdlRICaptureEnd(cx: &Cx<'_>, stream: Raw) -> Result<Raw> {
    cx.with_stream(stream, |stream| {
        Graph::end(stream, &cx.caller()).map(|graph| Raw(graph.id()))
    })
}

/// Returns the status of a stream's capture, and its model.
pub fn aclmdlRICaptureGetInfo(cx: &Cx<'_>, stream: Raw) -> Result<(u32, Raw)> {
    let stream = cx.any_stream(stream)?;
    let (status, graph) = Graph::capture_of(&stream);
    let status = match status {
        CaptureStatus::None => enums::ACL_MODEL_RI_CAPTURE_STATUS_NONE,
        CaptureStatus::Active => enums::ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
        CaptureStatus::Invalidated => enums::ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED,
    };
    Ok((status, Raw(graph.map_or(0, |graph| graph.id()))))
}

pub fn aclmdlRICaptureThreadExchangeMode(cx: &Cx<'_>, mode: u32) -> Result<u32> {
    let mode = mode_of(mode)?;
    Ok(match cx.caller().set_capture_mode(mode) {
        CaptureMode::Global => enums::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL,
        CaptureMode::ThreadLocal => enums::ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
        CaptureMode::Relaxed => enums::ACL_MODEL_RI_CAPTURE_MODE_RELAXED,
    })
}

pub fn aclmdlRIExecuteAsync(cx: &Cx<'_>, model: Raw, stream: Raw) -> Result<()> {
    let graph = cx.graph(model)?;
    cx.with_stream(stream, |stream| {
        executable(&graph, stream)?;
        graph.execute(stream, &cx.caller())
    })
}

fn executable(graph: &Graph, stream: &jumar::engine::Stream) -> Result<()> {
    if graph.origin() == Origin::Branch {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "model {} is a branch of a condition; only the model that contains the condition can execute it",
                graph.number()
            ),
        );
    }
    if stream.options().flags & flag::PERSISTENT != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "stream {} was made with ACL_STREAM_PERSISTENT; such a stream cannot execute models",
                stream.number()
            ),
        );
    }
    Ok(())
}

pub fn aclmdlRIExecute(cx: &Cx<'_>, model: Raw, timeout: i32) -> Result<()> {
    let graph = cx.graph(model)?;
    let limit = limit_ms(timeout, ErrorKind::InvalidValue)?;
    if graph.is_capturing() {
        return refuse(
            ErrorKind::CaptureOpen,
            format!("model {} is still being captured", graph.number()),
        );
    }
    if graph.origin() != Origin::Built {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            format!(
                "model {} was captured; such a model can only be executed asynchronously",
                graph.number()
            ),
        )
        .fix("Use aclmdlRIExecuteAsync and synchronise the stream."));
    }
    let stream = cx.context()?.default_stream()?;
    graph.execute(&stream, &cx.caller())?;
    crate::error::report_failure(cx, stream.synchronize(limit, &cx.caller()))
}

pub fn aclmdlRIDestroy(cx: &Cx<'_>, model: Raw) -> Result<()> {
    cx.graph(model)?.destroy(&cx.caller())
}

pub fn aclmdlRIAbort(cx: &Cx<'_>, model: Raw) -> Result<()> {
    cx.graph_value(model)?.abort()
}

pub fn aclmdlRIUpdate(cx: &Cx<'_>, model: Raw) -> Result<()> {
    cx.graph_value(model)?.update()
}

pub fn aclmdlRISetName(cx: &Cx<'_>, model: Raw, name: Option<&CStr>) -> Result<()> {
    let graph = cx.graph(model)?;
    let Some(name) = name else {
        return refuse(ErrorKind::NullPointer, "name is null");
    };
    graph.set_name(&name.to_string_lossy());
    Ok(())
}

pub fn aclmdlRIGetName(cx: &Cx<'_>, model: Raw, capacity: u32) -> Result<CString> {
    let graph = cx.graph(model)?;
    if capacity == 0 {
        return refuse(
            ErrorKind::InvalidValue,
            "maxLen is 0; a name needs space for its terminating zero at least",
        );
    }
    let name = graph.name();
    if name.len() >= capacity as usize {
        return refuse(
            ErrorKind::RuntimeInternal,
            format!(
                "the name has {} bytes and its terminating zero, and the buffer has {capacity} (maxLen)",
                name.len()
            ),
        );
    }
    CString::new(name).map_err(|_| {
        Error::new(
            ErrorKind::Internal,
            "the name contains a zero byte".to_owned(),
        )
    })
}

pub fn aclmdlRIGetId(cx: &Cx<'_>, model: Raw) -> Result<u32> {
    cx.graph(model).map(|graph| graph.number())
}

pub fn aclmdlRIBuildBegin(cx: &Cx<'_>, flags: u32) -> Result<Raw> {
    if flags != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("flag is {flags}; it must be 0"),
        );
    }
    Graph::build(&*cx.context()?).map(|graph| Raw(graph.id()))
}

pub fn aclmdlRIBindStream(cx: &Cx<'_>, model: Raw, stream: Raw, flags: u32) -> Result<()> {
    let graph = cx.graph(model)?;
    let bad = |sentence: String| refuse(ErrorKind::InvalidValue, sentence);
    if flags != HEAD && flags != DEFAULT {
        return bad(format!(
            "flag is {flags:#x}; it must be 0 (the stream starts with the model) or {DEFAULT:#x} (something activates it)"
        ));
    }
    if stream.is_null() {
        return bad("stream is null; a default stream cannot be bound to a model".into());
    }
    cx.with_stream(stream, |stream| {
        let with = stream.options().flags;
        if with & flag::DEVICE_USE_ONLY != 0 {
            return refuse(
                ErrorKind::RuntimeInternal,
                format!(
                    "stream {} was made with ACL_STREAM_DEVICE_USE_ONLY",
                    stream.number()
                ),
            );
        }
        if with & flag::PERSISTENT == 0 {
            return bad(format!(
                "stream {} was made without ACL_STREAM_PERSISTENT, which a bound stream needs",
                stream.number()
            ));
        }
        if with & flag::FAST_LAUNCH != 0 {
            return refuse(
                ErrorKind::FeatureUnsupported,
                format!(
                    "stream {} was made with ACL_STREAM_FAST_LAUNCH; such a stream cannot be bound to a model",
                    stream.number()
                ),
            );
        }
        graph.bind(stream, flags == HEAD)
    })
}

pub fn aclmdlRIUnbindStream(cx: &Cx<'_>, model: Raw, stream: Raw) -> Result<()> {
    let graph = cx.graph(model)?;
    not_null(stream, "stream")?;
    cx.with_stream(stream, |stream| graph.unbind(stream))
}

pub fn aclmdlRIEndTask(cx: &Cx<'_>, model: Raw, stream: Raw) -> Result<()> {
    let graph = cx.graph(model)?;
    not_null(stream, "stream")?;
    cx.with_stream(stream, |stream| graph.mark_end(stream, &cx.caller()))
}

pub fn aclmdlRIBuildEnd(cx: &Cx<'_>, model: Raw, reserve: usize) -> Result<()> {
    not_null(model, "modelRI")?;
    if reserve != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("reserve is {reserve:#x}; it must be null"),
        );
    }
    cx.graph(model)?.finish()
}

pub fn aclmdlRICaptureTaskGrpBegin(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| TaskGroup::begin(stream))
}

pub fn aclmdlRICaptureTaskGrpEnd(cx: &Cx<'_>, stream: Raw) -> Result<Raw> {
    cx.with_stream(stream, |stream| {
        TaskGroup::end(stream).map(|group| Raw(group.id()))
    })
}

pub fn aclmdlRICaptureTaskUpdateBegin(cx: &Cx<'_>, stream: Raw, group: Raw) -> Result<()> {
    let group = cx.runtime()?.task_groups().get(group.0)?;
    cx.with_stream(stream, |stream| group.update(stream))
}

pub fn aclmdlRICaptureTaskUpdateEnd(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| TaskGroup::end_update(stream, &cx.caller()))
}

/// Lists the streams of a model.
pub fn streams(cx: &Cx<'_>, model: Raw) -> Result<Vec<u64>> {
    cx.graph_value(model)?.streams(&cx.context()?)
}

/// Lists the tasks of a model's stream.
pub fn tasks(cx: &Cx<'_>, stream: Raw) -> Result<Vec<u64>> {
    if stream.is_null() {
        return refuse(ErrorKind::InvalidValue, "stream is null");
    }
    cx.any_stream(stream)?.recorded_tasks()
}

/// Refuses an array that is too small for all there is.
pub fn array_too_small(capacity: usize, there: usize, what: &str) -> Error {
    Error::new(
        ErrorKind::ArrayTooSmall,
        format!("the array has space for {capacity} {what}, but the model has {there}"),
    )
}

pub fn aclmdlRITaskGetType(cx: &Cx<'_>, task: Raw) -> Result<u32> {
    let task = cx.runtime()?.graph_tasks().get(task.0)?;
    Ok(type_of(task.describe()?.kind))
}

/// Returns the interface's number for a kind of task.
fn type_of(kind: TaskKind) -> u32 {
    match kind {
        TaskKind::Other => enums::ACL_MODEL_RI_TASK_DEFAULT,
        TaskKind::Kernel => enums::ACL_MODEL_RI_TASK_KERNEL,
        TaskKind::Record => enums::ACL_MODEL_RI_TASK_EVENT_RECORD,
        TaskKind::Wait => enums::ACL_MODEL_RI_TASK_EVENT_WAIT,
        TaskKind::Reset => enums::ACL_MODEL_RI_TASK_EVENT_RESET,
        TaskKind::ValueWrite => enums::ACL_MODEL_RI_TASK_VALUE_WRITE,
        TaskKind::ValueWait => enums::ACL_MODEL_RI_TASK_VALUE_WAIT,
    }
}

pub fn aclmdlRITaskGetSeqId(cx: &Cx<'_>, task: Raw) -> Result<u32> {
    let task = cx.runtime()?.graph_tasks().get(task.0)?;
    Ok(task.describe()?.position)
}

pub fn aclmdlRITaskDisable(cx: &Cx<'_>, task: Raw) -> Result<()> {
    cx.runtime()?.graph_tasks().get(task.0)?.disable()
}

pub fn aclmdlRICondHandleCreate(cx: &Cx<'_>, model: Raw, default: u32, flags: u32) -> Result<Raw> {
    let graph = cx.graph(model)?;
    if flags > enums::ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "flag is {flags}; it must be 0 (the program sets the value) or 1 (each execution begins with the default)"
            ),
        );
    }
    let reset = flags == enums::ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
    let context = cx.context()?;
    Condition::create(&context, &graph, default, reset, &cx.caller())
        .map(|condition| Raw(condition.id()))
}

pub fn aclmdlRICondHandleGetCondPtr(cx: &Cx<'_>, condition: Raw) -> Result<usize> {
    let condition = cx.runtime()?.conditions().get(condition.0)?;
    Ok(condition.memory().address())
}

/// Queues a choice among branches. Returns the branches.
pub fn choose(
    cx: &Cx<'_>,
    params: &types::aclmdlRICondTaskParams,
    stream: Raw,
    flags: u32,
) -> Result<Vec<Raw>> {
    let bad = |sentence: String| refuse(ErrorKind::InvalidValue, sentence);
    if flags != 0 {
        return bad(format!("flags is {flags}; it must be 0"));
    }
    let condition = cx.runtime()?.conditions().get(params.handle.0)?;
    let (kind, fits, sizes) = match params.r#type {
        enums::ACL_MODEL_RI_COND_TYPE_IF => {
            (ConditionKind::If, (1..=2).contains(&params.size), "1 or 2")
        }
        enums::ACL_MODEL_RI_COND_TYPE_WHILE => (ConditionKind::While, params.size == 1, "1"),
        enums::ACL_MODEL_RI_COND_TYPE_SWITCH => (
            ConditionKind::Switch,
            (1..=MOST_BRANCHES).contains(&params.size),
            "1 to 65535",
        ),
        other => {
            return bad(format!(
                "the type is {other}; it must be 0 (if), 1 (while) or 2 (switch)"
            ));
        }
    };
    if !fits {
        return bad(format!(
            "size is {}; a condition of this type has {sizes} branches",
            params.size
        ));
    }
    let context = cx.context()?;
    cx.with_stream(stream, |stream| {
        let branches = condition.choose(&context, stream, kind, params.size, &cx.caller())?;
        Ok(branches.iter().map(|branch| Raw(branch.id())).collect())
    })
}

/// More branches than any program has; a count beyond it is a mistake.
const MOST_BRANCHES: u32 = 65535;

/// Names a function to be called once the model was destroyed.
pub fn aclmdlRIDestroyRegisterCallback(
    cx: &Cx<'_>,
    model: Raw,
    key: usize,
    function: Option<crate::callback::HostFunction>,
) -> Result<()> {
    let graph = cx.graph_value(model)?;
    match function {
        Some(function) => graph.on_destroy(key, function),
        None => refuse(ErrorKind::InvalidValue, "func is null"),
    }
}

/// Takes a function of `aclmdlRIDestroyRegisterCallback` away; the key is its address.
pub fn aclmdlRIDestroyUnregisterCallback(cx: &Cx<'_>, model: Raw, key: usize) -> Result<()> {
    let graph = cx.graph_value(model)?;
    if key == 0 {
        return refuse(ErrorKind::InvalidValue, "func is null");
    }
    graph.forget_on_destroy(key)
}

pub fn aclrtActiveStream(cx: &Cx<'_>, target: Raw, stream: Raw) -> Result<()> {
    not_null(target, "activeStream")?;
    not_null(stream, "stream")?;
    let target = cx.any_stream(target)?;
    cx.with_stream(stream, |stream| stream.activate(&target, &cx.caller()))
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclrtSwitchStream(
    cx: &Cx<'_>,
    left: Span,
    condition: u32,
    right: Span,
    data_type: u32,
    when_true: Raw,
    when_false: Raw,
    stream: Raw,
) -> Result<()> {
    not_null(when_true, "trueStream")?;
    not_null(stream, "stream")?;
    if !when_false.is_null() {
        return refuse(
            ErrorKind::InvalidArgument,
            "falseStream is not null; when the condition does not hold, the stream itself continues",
        );
    }
    let how = match condition {
        enums::ACL_RT_EQUAL => Comparison::Equal,
        enums::ACL_RT_NOT_EQUAL => Comparison::NotEqual,
        enums::ACL_RT_GREATER => Comparison::Greater,
        enums::ACL_RT_GREATER_OR_EQUAL => Comparison::GreaterOrEqual,
        enums::ACL_RT_LESS => Comparison::Less,
        enums::ACL_RT_LESS_OR_EQUAL => Comparison::LessOrEqual,
        _ => {
            return refuse(
                ErrorKind::InvalidValue,
                format!("cond is {condition}; it must be 0 (equal) to 5 (less or equal)"),
            );
        }
    };
    let width = match data_type {
        enums::ACL_RT_SWITCH_INT32 => Width::Four,
        enums::ACL_RT_SWITCH_INT64 => Width::Eight,
        _ => {
            return refuse(
                ErrorKind::InvalidValue,
                format!("dataType is {data_type}; it must be 0 (INT32) or 1 (INT64)"),
            );
        }
    };
    let operand = |span: Span| {
        span.part(0, width.bytes())
            .expect("the shim returns the widest of the two")
    };
    let target = cx.any_stream(when_true)?;
    cx.with_stream(stream, |stream| {
        let compared = (operand(left), how, operand(right));
        stream.compare(compared, width, &target, &cx.caller())
    })
}

pub fn aclrtPersistentTaskClean(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    if stream.is_null() {
        return refuse(ErrorKind::InvalidValue, "stream is null");
    }
    cx.with_stream(stream, |stream| {
        let with = stream.options().flags;
        if with & flag::PERSISTENT == 0 || with & flag::CPU_SCHEDULE != 0 {
            return refuse(
                ErrorKind::RuntimeInternal,
                format!(
                    "stream {} was made with flags {with:#x}; only streams made with ACL_STREAM_PERSISTENT keep tasks",
                    stream.number()
                ),
            );
        }
        Graph::clean(stream)
    })
}
