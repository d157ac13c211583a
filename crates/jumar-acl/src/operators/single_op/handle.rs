//! Handles of operators: a look-up that is done once.

use std::ffi::CStr;
use std::sync::Arc;

use jumar_types::{ErrorKind, Result};

use super::execute::{Mode, both, cast_request, run};
use super::kind_of;
use super::registry;
use super::request::Request;
use crate::{Cx, Raw, refuse};

/// An operator with its descriptions and attributes.
pub struct Handle {
    id: u64,
    request: Request,
}

pub fn aclopCreateHandle(
    cx: &Cx<'_>,
    kind: Option<&CStr>,
    input_count: i32,
    input_descs: Option<&[Raw]>,
    output_count: i32,
    output_descs: Option<&[Raw]>,
    attributes: Raw,
) -> Result<Raw> {
    let request = Request::read(
        cx,
        kind_of(kind)?,
        (input_count, input_descs),
        (output_count, output_descs),
        attributes,
    )?;
    create(cx, request, Mode::Find)
}

pub fn aclopCreateHandleForCast(cx: &Cx<'_>, from: Raw, to: Raw, _truncate: u8) -> Result<Raw> {
    create(cx, cast_request(cx, from, to)?, Mode::Compile)
}

/// Creates a handle of an operator that every device has.
///
/// # Errors
/// As [`aclopCreateHandle`].
pub(crate) fn create_known(cx: &Cx<'_>, request: Request) -> Result<Raw> {
    create(cx, request, Mode::Compile)
}

fn create(cx: &Cx<'_>, request: Request, mode: Mode) -> Result<Raw> {
    let tensors = request.inputs.iter().chain(&request.outputs);
    let open = tensors.clone().position(|tensor| tensor.bytes().is_none());
    if let Some(index) = open {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "{}: tensor {index} has dynamic dimensions, and a handle is for fixed shapes",
                request.operator.kind
            ),
        );
    }
    registry::find(cx, &request, &request.operator, mode == Mode::Compile)?;
    let handles = &cx.process.single_operators.handles;
    let made = handles.insert(|id| Arc::new(Handle { id, request }))?;
    Ok(Raw(made.id))
}

/// Null is ignored. Executions that are queued run to their end.
pub fn aclopDestroyHandle(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    if handle.is_null() {
        return Ok(());
    }
    let handles = &cx.process.single_operators.handles;
    handles.remove(handle.0, cx.call.name).map(drop)
}

pub fn aclopExecWithHandle(
    cx: &Cx<'_>,
    handle: Raw,
    input_count: i32,
    inputs: Option<&[Raw]>,
    output_count: i32,
    outputs: Option<&[Raw]>,
    stream: Raw,
) -> Result<()> {
    let handle = cx.process.single_operators.handles.get(handle.0)?;
    let kind = &handle.request.operator.kind;
    let (inputs, outputs) = both(cx, kind, (input_count, inputs), (output_count, outputs))?;
    // The handle was found to be available; a registry that dropped its operator since compiles it again.
    run(
        cx,
        &handle.request,
        (&inputs, &outputs),
        stream,
        (Mode::Compile, false),
    )
    .map(drop)
}
