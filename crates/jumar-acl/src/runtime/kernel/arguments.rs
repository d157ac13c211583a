//! Argument lists: values and place holders in the order of a kernel's parameters.
//!
//! A list lives in memory of the runtime's own, also where the program offers memory for it: the program's memory is then
//! the measure of how much fits. Each thread has one hidden list, which every aclrtKernelArgsInit takes over.

use std::sync::Arc;

use jumar::engine::sync::{Mutex, MutexGuard};
use jumar::engine::{ArgumentBuffer, Function};
use jumar_types::{Error, ErrorKind, Result};

use super::value;
use crate::error::null;
use crate::process::Process;
use crate::{Cx, Raw, refuse};

/// How much fits into a thread's own list.
const ARGUMENT_BYTES: usize = 64 << 10;
const MOST_PARAMETERS: usize = 128;
/// What stands before the parameters on the card, and beside each of them: counted, and not used here.
const SYSTEM_BYTES: usize = 64;
const BYTES_PER_PARAMETER: usize = 8;
/// How much memory a program is to set aside for the object itself.
const HANDLE_BYTES: usize = 4096;

/// A list of arguments.
pub(crate) struct List {
    id: u64,
    function: Arc<Function>,
    buffer: ArgumentBuffer,
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    parameters: Vec<Entry>,
    /// The handles of the arguments, which go with the list.
    handles: Vec<u64>,
    /// Where the next value, or the next data of a place holder, goes.
    end: usize,
    has_data: bool,
    is_final: bool,
    /// Whether it was final when it was changed last.
    is_current: bool,
}

#[derive(Clone, Copy)]
struct Entry {
    offset: usize,
    bytes: usize,
    /// For a place holder: where its data lies.
    data: Option<usize>,
    is_place_holder: bool,
}

/// One argument, as its handle names it.
pub(super) struct Parameter {
    id: u64,
    index: usize,
}

/// A list that is ready to be launched.
pub(super) struct Ready {
    pub(super) list: Arc<List>,
    pub(super) bytes: usize,
    pub(super) addresses: Vec<(usize, usize)>,
}

impl List {
    pub(super) fn function(&self) -> &Arc<Function> {
        &self.function
    }

    pub(super) fn span(&self, bytes: usize) -> jumar::engine::Span {
        self.buffer
            .span()
            .part(0, bytes)
            .unwrap_or(jumar::engine::Span::EMPTY)
    }

    /// Values begin at multiples of 8 bytes, but for the device's own CPU, which packs them.
    fn align(&self, at: usize) -> usize {
        match self.function.is_of_cpu() {
            true => at,
            false => at.next_multiple_of(8),
        }
    }

    fn open(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.state.lock();
        let what = match (state.has_data, state.is_final) {
            (_, true) => "it is final",
            (true, false) => "a place holder's buffer was taken",
            (false, false) => return Ok(state),
        };
        refuse(
            ErrorKind::FeatureUnsupported,
            format!("no argument can be appended to the argument list: {what}"),
        )
    }

    /// Reserves bytes. Returns their offset.
    fn take(&self, state: &mut State, bytes: usize) -> Result<usize> {
        let offset = self.align(state.end);
        let end = offset
            .checked_add(bytes)
            .filter(|end| *end <= self.buffer.span().bytes());
        let Some(end) = end else {
            return value(format!(
                "{bytes} more bytes do not fit into an argument list of {} bytes that holds {offset}",
                self.buffer.span().bytes()
            ));
        };
        state.end = end;
        Ok(offset)
    }
}

fn declared(function: &Function) -> Result<usize> {
    let described = function.parameters()?.map(|parameters| parameters.len());
    Ok(match (function.is_of_cpu(), described) {
        (true, _) | (false, None) => MOST_PARAMETERS,
        (false, Some(count)) => count,
    })
}

pub fn aclrtKernelArgsGetHandleMemSize(cx: &Cx<'_>, function: Raw) -> Result<usize> {
    cx.runtime()?.function(function.0)?;
    Ok(HANDLE_BYTES)
}

pub fn aclrtKernelArgsGetMemSize(cx: &Cx<'_>, function: Raw, user_bytes: usize) -> Result<usize> {
    let function = cx.runtime()?.function(function.0)?;
    if function.is_of_cpu() {
        return Ok(user_bytes);
    }
    let more = SYSTEM_BYTES + BYTES_PER_PARAMETER * declared(&function)?;
    user_bytes.checked_add(more).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("userArgsSize is {user_bytes}, which exceeds all memory"),
        )
    })
}

fn make(
    cx: &Cx<'_>,
    function: Raw,
    bytes: usize,
    most: impl FnOnce(&Function) -> Result<usize>,
) -> Result<List> {
    let function = cx.runtime()?.function(function.0)?;
    let most = most(&function)?;
    Ok(List {
        id: 0,
        buffer: cx.runtime()?.argument_buffer(bytes)?,
        most,
        function,
        state: Mutex::default(),
    })
}

pub fn aclrtKernelArgsInit(cx: &Cx<'_>, function: Raw) -> Result<Raw> {
    let made = make(cx, function, ARGUMENT_BYTES, |_| Ok(MOST_PARAMETERS))?;
    let lists = &cx.process.kernels.lists;
    let list = lists.insert(|id| Arc::new(List { id, ..made }))?;
    forget(
        cx.process,
        cx.thread.argument_list.replace(list.id),
        cx.call.name,
    );
    Ok(Raw(list.id))
}

/// Drops a thread's list; 0 is none.
pub(crate) fn forget(process: &Process, list: u64, by: &'static str) {
    if list == 0 {
        return;
    }
    if let Ok(list) = process.kernels.lists.remove(list, by) {
        forget_parameters(process, &list, by);
    }
}

fn forget_parameters(process: &Process, list: &List, by: &'static str) {
    for handle in std::mem::take(&mut list.state.lock().handles) {
        // Each was created with the list, and only this call removes it.
        drop(process.kernels.parameters.remove(handle, by));
    }
}

/// The handle is the address of memory that the program set aside for it; it is only a number here.
pub fn aclrtKernelArgsInitByUserMem(
    cx: &Cx<'_>,
    function: Raw,
    list: Raw,
    memory: usize,
    bytes: usize,
) -> Result<()> {
    if list.is_null() || memory == 0 || bytes == 0 {
        return refuse(
            ErrorKind::NullPointer,
            "argsHandle or userHostMem is null, or actualArgsSize is 0",
        );
    }
    // A size beyond all memory fails here; for smaller ones the check of the buffer refuses.
    let made = make(cx, function, bytes, declared)?;
    let list_object = Arc::new(List { id: list.0, ..made });
    let before = cx
        .process
        .kernels
        .caller_lists
        .lock()
        .insert(list.0, list_object);
    if let Some(before) = before {
        forget_parameters(cx.process, &before, cx.call.name);
    }
    Ok(())
}

/// Finds a list by its handle.
pub(super) fn list(cx: &Cx<'_>, handle: Raw) -> Result<Arc<List>> {
    if handle.is_null() {
        return Err(null("argsHandle"));
    }
    if let Some(found) = cx.process.kernels.caller_lists.lock().get(&handle.0) {
        return Ok(found.clone());
    }
    cx.process.kernels.lists.get(handle.0)
}

fn append(cx: &Cx<'_>, handle: Raw, bytes: Option<&[u8]>) -> Result<Raw> {
    let list = list(cx, handle)?;
    let mut state = list.open()?;
    if state.parameters.len() >= list.most {
        return value(format!(
            "the argument list has {} arguments, and kernel \"{}\" has no more parameters",
            list.most,
            list.function.name()
        ));
    }
    let length = bytes.map_or(8, <[u8]>::len);
    let offset = list.take(&mut state, length)?;
    if let Some(bytes) = bytes {
        list.buffer.write(offset, bytes)?;
    }
    let index = state.parameters.len();
    state.parameters.push(Entry {
        offset,
        bytes: length,
        data: None,
        is_place_holder: bytes.is_none(),
    });
    let parameter = cx
        .process
        .kernels
        .parameters
        .insert(|id| Arc::new(Parameter { id, index }))?;
    state.handles.push(parameter.id);
    Ok(Raw(parameter.id))
}

fn not_empty(bytes: Option<&[u8]>) -> Result<&[u8]> {
    match bytes {
        Some(bytes) if !bytes.is_empty() => Ok(bytes),
        _ => refuse(ErrorKind::NullPointer, "param is null or paramSize is 0"),
    }
}

pub fn aclrtKernelArgsAppend(
    cx: &Cx<'_>,
    list: Raw,
    bytes: Option<&[u8]>,
    _length: usize,
) -> Result<Raw> {
    append(cx, list, Some(not_empty(bytes)?))
}

pub fn aclrtKernelArgsAppendPlaceHolder(cx: &Cx<'_>, list: Raw) -> Result<Raw> {
    append(cx, list, None)
}

/// Finds an argument of a list; the handle is not checked to be of this very list, but has to fit it.
fn entry<'a>(cx: &Cx<'_>, state: &'a mut State, parameter: Raw) -> Result<&'a mut Entry> {
    let index = cx.process.kernels.parameters.get(parameter.0)?.index;
    let count = state.parameters.len();
    state.parameters.get_mut(index).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!(
                "argument {index} does not exist: the number of arguments in the list is {count}"
            ),
        )
    })
}

pub fn aclrtKernelArgsGetPlaceHolderBuffer(
    cx: &Cx<'_>,
    handle: Raw,
    parameter: Raw,
    bytes: usize,
) -> Result<usize> {
    let list = list(cx, handle)?;
    if bytes == 0 {
        return refuse(ErrorKind::InvalidArgument, "dataSize is 0");
    }
    let mut state = list.state.lock();
    if state.is_final {
        return refuse(
            ErrorKind::FeatureUnsupported,
            format!("argument list {:#x} is final", handle.0),
        );
    }
    if !entry(cx, &mut state, parameter)?.is_place_holder {
        return value(format!(
            "argument {:#x} is a value, and not a place holder",
            parameter.0
        ));
    }
    let at = list.take(&mut state, bytes)?;
    state.has_data = true;
    entry(cx, &mut state, parameter)?.data = Some(at);
    Ok(list.buffer.span().address() + at)
}

pub fn aclrtKernelArgsParaUpdate(
    cx: &Cx<'_>,
    handle: Raw,
    parameter: Raw,
    bytes: Option<&[u8]>,
    _length: usize,
) -> Result<()> {
    let list = list(cx, handle)?;
    let bytes = not_empty(bytes)?;
    let mut state = list.state.lock();
    let found = *entry(cx, &mut state, parameter)?;
    if found.is_place_holder {
        return value(format!(
            "argument {:#x} is a place holder, and has no value",
            parameter.0
        ));
    }
    if found.bytes != bytes.len() {
        return value(format!(
            "argument {:#x} has {} bytes, and {} were given",
            parameter.0,
            found.bytes,
            bytes.len()
        ));
    }
    state.is_current = false;
    list.buffer.write(found.offset, bytes)
}

pub fn aclrtKernelArgsFinalize(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    let list = list(cx, handle)?;
    cx.context()?;
    let mut state = list.state.lock();
    state.is_final = true;
    state.is_current = true;
    Ok(())
}

/// Takes a list for a launch.
pub(super) fn ready(cx: &Cx<'_>, handle: Raw) -> Result<Ready> {
    let list = list(cx, handle)?;
    let state = list.state.lock();
    if !state.is_final {
        return value(format!(
            "argument list {:#x} is not final; call aclrtKernelArgsFinalize",
            handle.0
        ));
    }
    if !state.is_current {
        return value(format!(
            "argument list {:#x} was changed since it was made final; call aclrtKernelArgsFinalize again",
            handle.0
        ));
    }
    if state.parameters.is_empty() {
        return value(format!("argument list {:#x} is empty", handle.0));
    }
    let holders = state
        .parameters
        .iter()
        .filter(|entry| entry.is_place_holder);
    let addresses = holders
        .map(|entry| (entry.offset, entry.data.unwrap_or(0)))
        .collect();
    let bytes = state.end;
    drop(state);
    Ok(Ready {
        list,
        bytes,
        addresses,
    })
}
