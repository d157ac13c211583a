//! What single tasks of a model are given: read and changed as structures, and noted beside them.

use std::sync::Arc;

use jumar::engine::{
    ArgumentBuffer, Arguments, Attribute, GraphTask, LaunchParameters, Span, TaskKind,
    TaskParameters,
};
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::kernel::{self, Configuration};
use crate::{Cx, Raw, refuse};

fn task(cx: &Cx<'_>, task: Raw) -> Result<Arc<GraphTask>> {
    cx.runtime()?.graph_tasks().get(task.0)
}

/// Writes a member of the union.
fn put<const N: usize>(params: &mut types::aclmdlRITaskParams, offset: usize, bytes: [u8; N]) {
    params.anonymous.bytes[offset..offset + N].copy_from_slice(&bytes);
}

/// Reads a member of the union.
fn member<const N: usize>(params: &types::aclmdlRITaskParams, offset: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&params.anonymous.bytes[offset..offset + N]);
    bytes
}

fn word(params: &types::aclmdlRITaskParams, offset: usize) -> u64 {
    u64::from_ne_bytes(member(params, offset))
}

fn half(params: &types::aclmdlRITaskParams, offset: usize) -> u32 {
    u32::from_ne_bytes(member(params, offset))
}

/// Where the members of the structures in the union lie.
mod at {
    use std::mem::offset_of;

    use super::types::{
        aclmdlRIEventRecordTaskParams as Event, aclmdlRIKernelTaskParams as Kernel,
        aclmdlRIValueWaitTaskParams as Wait,
    };

    pub(super) const FUNCTION: usize = offset_of!(Kernel, funcHandle);
    pub(super) const CONFIGURATION: usize = offset_of!(Kernel, cfg);
    pub(super) const ARGUMENTS: usize = offset_of!(Kernel, args);
    pub(super) const ON_HOST: usize = offset_of!(Kernel, isHostArgs);
    pub(super) const BYTES: usize = offset_of!(Kernel, argsSize);
    pub(super) const BLOCKS: usize = offset_of!(Kernel, numBlocks);
    // The three structures of events are laid out alike.
    pub(super) const EVENT: usize = offset_of!(Event, event);
    pub(super) const EVENT_FLAG: usize = offset_of!(Event, eventFlag);
    pub(super) const USE_FLAG: usize = offset_of!(Event, recordFlag);
    // So are the first members of the two of values.
    pub(super) const WORD: usize = offset_of!(Wait, devAddr);
    pub(super) const VALUE: usize = offset_of!(Wait, value);
    pub(super) const TEST: usize = offset_of!(Wait, flag);
}

/// Lays a configuration out in memory that the task keeps. Returns its address; 0 without attributes.
fn configuration(cx: &Cx<'_>, task: &GraphTask, attributes: &[Attribute]) -> Result<usize> {
    if attributes.is_empty() {
        return Ok(0);
    }
    const HEAD: usize = size_of::<types::aclrtLaunchKernelCfg>();
    const EACH: usize = size_of::<types::aclrtLaunchKernelAttr>();
    let memory = cx
        .runtime()?
        .argument_buffer(HEAD + EACH * attributes.len())?;
    let address = memory.span().address();
    memory.write(0, &((address + HEAD) as u64).to_ne_bytes())?;
    memory.write(8, &(attributes.len() as u64).to_ne_bytes())?;
    for (index, (id, value)) in attributes.iter().enumerate() {
        memory.write(HEAD + EACH * index, &id.to_ne_bytes())?;
        memory.write(HEAD + EACH * index + 4, value)?;
    }
    task.keep(memory)?;
    Ok(address)
}

/// Returns the parameters of a task. Arguments that the launch copied, its configuration and the information beside it belong to the
/// task, and stay until its parameters are read or changed again.
pub fn aclmdlRITaskGetParams(cx: &Cx<'_>, handle: Raw) -> Result<types::aclmdlRITaskParams> {
    let task = task(cx, handle)?;
    let mut params = types::aclmdlRITaskParams::ZERO;
    let (kind, given, group) = task.parameters()?;
    params.r#type = super::type_of(kind);
    params.taskGrp = Raw(group);
    if let Some(information) = task.information()? {
        params.opInfoPtr = information.address();
        params.opInfoSize = information.bytes();
    }
    match given {
        TaskParameters::Other => {}
        TaskParameters::Launch(launch) => {
            let LaunchParameters {
                function,
                arguments,
                copied,
                grid,
                attributes,
            } = *launch;
            let configuration = configuration(cx, &task, &attributes)? as u64;
            // A launch has no more blocks than this type counts.
            let blocks = grid.iter().product::<u32>();
            put(&mut params, at::FUNCTION, function.id().to_ne_bytes());
            put(&mut params, at::CONFIGURATION, configuration.to_ne_bytes());
            let address = (arguments.address() as u64).to_ne_bytes();
            put(&mut params, at::ARGUMENTS, address);
            put(&mut params, at::ON_HOST, u32::from(copied).to_ne_bytes());
            put(&mut params, at::BYTES, arguments.bytes().to_ne_bytes());
            put(&mut params, at::BLOCKS, blocks.to_ne_bytes());
        }
        TaskParameters::Event(event) => {
            put(&mut params, at::EVENT, event.event.to_ne_bytes());
            put(&mut params, at::EVENT_FLAG, event.event_flags.to_ne_bytes());
            put(&mut params, at::USE_FLAG, event.flag.to_ne_bytes());
        }
        TaskParameters::Write(target, value) => {
            put(&mut params, at::WORD, target.address().to_ne_bytes());
            put(&mut params, at::VALUE, value.to_ne_bytes());
        }
        TaskParameters::Wait(target, test, value) => {
            let flag = crate::value_sync::flag_of(test);
            put(&mut params, at::WORD, target.address().to_ne_bytes());
            put(&mut params, at::VALUE, value.to_ne_bytes());
            put(&mut params, at::TEST, flag.to_ne_bytes());
        }
    }
    Ok(params)
}

/// The addresses that stand in the structure: of the configuration, of the arguments with their length, and of the word that a
/// value is written to or waited for.
pub struct Addresses {
    /// The configuration of a kernel.
    pub configuration: usize,
    /// The argument block of a kernel, and how many bytes it has.
    pub arguments: (usize, usize),
    /// The word of a value.
    pub word: usize,
}

/// Takes the addresses out of the structure, which the shim turns into memory; 0 where the task has none.
pub fn addresses(params: &types::aclmdlRITaskParams) -> Addresses {
    let kernel = params.r#type == enums::ACL_MODEL_RI_TASK_KERNEL;
    let value = matches!(
        params.r#type,
        enums::ACL_MODEL_RI_TASK_VALUE_WRITE | enums::ACL_MODEL_RI_TASK_VALUE_WAIT
    );
    let of = |on: bool, offset| match on {
        true => word(params, offset) as usize,
        false => 0,
    };
    Addresses {
        configuration: of(kernel, at::CONFIGURATION),
        arguments: (of(kernel, at::ARGUMENTS), of(kernel, at::BYTES)),
        word: of(value, at::WORD),
    }
}

/// What stands behind the addresses of the structure.
pub struct Behind<'a> {
    /// The configuration of a kernel.
    pub configuration: Configuration<'a>,
    /// The argument block of a kernel.
    pub arguments: Option<Span>,
    /// The word of a value.
    pub word: Option<Span>,
    /// The information beside the task.
    pub information: Option<&'a [u8]>,
}

/// Changes what a task is given, from the next update of its model on.
pub fn set_parameters(
    cx: &Cx<'_>,
    handle: Raw,
    params: &types::aclmdlRITaskParams,
    behind: &Behind<'_>,
) -> Result<()> {
    let task = task(cx, handle)?;
    let (kind, _, group) = task.parameters()?;
    let bad = |sentence: String| refuse(ErrorKind::InvalidValue, sentence);
    if super::type_of(kind) != params.r#type {
        return bad(format!(
            "the type is {}, and the task's is {}; a task keeps its type",
            params.r#type,
            super::type_of(kind)
        ));
    }
    if params.taskGrp.0 != group && !params.taskGrp.is_null() {
        return bad("taskGrp is another group than the task's; a task keeps its group".to_owned());
    }
    match kind {
        TaskKind::Kernel => set_launch(cx, &task, params, behind)?,
        TaskKind::ValueWrite => {
            let target = behind.word.ok_or_else(|| null("devAddr"))?;
            task.set_write(target, word(params, at::VALUE), &cx.caller())?;
        }
        TaskKind::ValueWait => {
            let target = behind.word.ok_or_else(|| null("devAddr"))?;
            let test = crate::value_sync::test_of(half(params, at::TEST))?;
            task.set_wait(target, test, word(params, at::VALUE), &cx.caller())?;
        }
        TaskKind::Record | TaskKind::Wait | TaskKind::Reset | TaskKind::Other => {
            return Err(Error::new(
                ErrorKind::TaskTypeUnsupported,
                format!(
                    "a task of type {} has no parameters that can be changed",
                    params.r#type
                ),
            )
            .fix(
                "Change kernels, writes and waits of values; capture the model again for the rest.",
            ));
        }
    }
    if let Some(bytes) = behind.information.filter(|bytes| !bytes.is_empty()) {
        task.inform(kept(cx, bytes)?)?;
    }
    Ok(())
}

fn set_launch(
    cx: &Cx<'_>,
    task: &GraphTask,
    params: &types::aclmdlRITaskParams,
    behind: &Behind<'_>,
) -> Result<()> {
    let bad = |sentence: String| refuse(ErrorKind::InvalidValue, sentence);
    let function = cx.runtime()?.function(word(params, at::FUNCTION))?;
    let Some(arguments) = behind.arguments else {
        return Err(null("args"));
    };
    if arguments.is_empty() {
        return bad("argsSize is 0".to_owned());
    }
    let arguments = match half(params, at::ON_HOST) {
        0 => Arguments::InPlace(arguments),
        1 => Arguments::Copied(arguments, &[]),
        other => return bad(format!("isHostArgs is {other}; it must be 0 or 1")),
    };
    let blocks = half(params, at::BLOCKS);
    kernel::change(cx, task, &function, blocks, arguments, behind.configuration)
}

fn kept(cx: &Cx<'_>, bytes: &[u8]) -> Result<ArgumentBuffer> {
    let memory = cx.runtime()?.argument_buffer(bytes.len())?;
    memory.write(0, bytes)?;
    Ok(memory)
}

/// Reads an attribute of a recorded launch; one that the launch did not set is all zero.
pub fn aclmdlRIKernelTaskGetAttribute(
    cx: &Cx<'_>,
    handle: Raw,
    attribute: u32,
) -> Result<types::aclrtLaunchKernelAttrValue> {
    let task = task(cx, handle)?;
    if !(enums::ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE..=MOST_ATTRIBUTE).contains(&attribute) {
        return refuse(
            ErrorKind::InvalidValue,
            crate::not_a_value("aclrtLaunchKernelAttrId", attribute),
        );
    }
    let TaskParameters::Launch(launch) = task.parameters()?.1 else {
        return Err(Error::new(
            ErrorKind::TaskTypeUnsupported,
            "the task does not launch a kernel of a loaded binary",
        ));
    };
    let mut value = types::aclrtLaunchKernelAttrValue::ZERO;
    if let Some((_, bytes)) = launch.attributes.iter().find(|(id, _)| *id == attribute) {
        value.bytes = *bytes;
    }
    Ok(value)
}

const MOST_ATTRIBUTE: u32 = enums::ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING;

/// Refuses what is noted beside a task whose stream does not want it.
fn wants_information(cx: &Cx<'_>) -> Result<()> {
    let stream = cx.runtime()?.stream_of_last_recorded(&cx.thread.lookups)?;
    if crate::stream::caches_operators(cx, stream) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::RuntimeInternal,
        "the stream of the last task keeps no information on operators",
    )
    .fix("Set ACL_STREAM_ATTR_CACHE_OP_INFO of the stream to 1 with aclrtSetStreamAttribute."))
}

fn given<'a>(bytes: Option<&'a [u8]>, name: &str) -> Result<&'a [u8]> {
    match bytes {
        None => Err(null(name)),
        Some([]) => refuse(ErrorKind::InvalidArgument, "infoSize is 0"),
        Some(bytes) => Ok(bytes),
    }
}

/// Keeps information on an operator with the thread's last recorded task; the task's parameters give it back.
pub fn aclrtCacheLastTaskOpInfo(cx: &Cx<'_>, bytes: Option<&[u8]>, _size: usize) -> Result<()> {
    let bytes = given(bytes, "infoPtr")?;
    wants_information(cx)?;
    let memory = kept(cx, bytes)?;
    cx.runtime()?
        .inform_last_recorded(&cx.thread.lookups, memory)
}

/// Attaches a text to the thread's last captured task, for the printed model.
pub fn aclrtCacheLastTaskExtendInfo(cx: &Cx<'_>, bytes: Option<&[u8]>, _size: usize) -> Result<()> {
    let bytes = given(bytes, "extendInfoPtr")?;
    wants_information(cx)?;
    let end = bytes.iter().position(|&byte| byte == 0);
    let text = String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]);
    cx.runtime()?
        .remark_last_recorded(&cx.thread.lookups, &text)
}

/// Lets a recorded launch run another kernel of a binary, as device memory says when the change has its turn.
pub fn aclrtTaskUpdateAsync(
    cx: &Cx<'_>,
    of: Raw,
    position: u32,
    info: Option<&types::aclrtTaskUpdateInfo>,
    stream: Raw,
) -> Result<()> {
    let info = info.ok_or_else(|| null("info"))?;
    match info.id {
        enums::ACL_RT_UPDATE_AIC_AIV_TASK => {}
        enums::ACL_RT_UPDATE_RANDOM_TASK => {
            return Err(Error::new(
                ErrorKind::TaskTypeUnsupported,
                "random numbers are not updated: how a card lays their parameters out is not public",
            )
            .fix("Let the random numbers take seed, counter and parameters from device memory (isAddr 1), and change that."));
        }
        other => {
            return refuse(
                ErrorKind::InvalidValue,
                crate::not_a_value("aclrtUpdateTaskAttrId", other),
            );
        }
    }
    let member = |offset: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&info.val.bytes[offset..offset + 8]);
        u64::from_ne_bytes(bytes)
    };
    use types::aclrtAicAivTaskUpdateAttr as Update;
    let binary = member(std::mem::offset_of!(Update, binHandle));
    let entry = member(std::mem::offset_of!(Update, funcEntryAddr)) as usize;
    let blocks = member(std::mem::offset_of!(Update, blockDimAddr)) as usize;
    let binary = cx.runtime()?.binary(binary)?;
    let of = cx.any_stream(of)?;
    cx.with_stream(stream, |stream| {
        let entry = stream.device_range(entry, 8, "funcEntryAddr")?;
        let blocks = stream.device_range(blocks, 4, "blockDimAddr")?;
        stream.patch_launch(
            &of,
            u64::from(position),
            &binary,
            (entry, blocks),
            &cx.caller(),
        )
    })
}
