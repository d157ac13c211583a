//! Executions of operators.

#![expect(clippy::too_many_arguments, reason = "the C interface sets them")]

use std::ffi::CStr;
use std::sync::Arc;

use jumar::engine::{Context, Span, Stream};
use jumar::offline::graph::TensorType;
use jumar::offline::lowering::{SingleOperator, Value, infer_single};
use jumar::offline::{Operator, OperatorInput, OperatorOutput, OperatorRun};
use jumar_types::{Error, ErrorKind, Result};

use super::describe;
use super::registry::{self, Ready};
use super::request::{Descs, Request, Tensor, handles};
use super::{check_compilation, kind_of};
use crate::operators::memory;
use crate::{Cx, Raw, refuse};

/// The memory of a tensor: address and length in bytes.
pub(crate) type Memory = (usize, usize);

/// How an operator is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It was compiled or loaded before.
    Find,
    /// It is compiled where that is needed.
    Compile,
}

/// The most bytes of host memory that an operator is compiled for.
const COMPILED_BYTES: usize = 32 << 10;

/// Reads the data buffers of a call.
fn buffers(cx: &Cx<'_>, kind: &str, handles: &[Raw], what: &str) -> Result<Vec<Memory>> {
    let read = |(index, buffer): (usize, &Raw)| {
        let found = cx.process.data_buffers.get(buffer.0).map_err(|error| {
            let sentence = format!("{kind}: {what}[{index}]: {}", error.sentence());
            Error::new(error.kind(), sentence)
        })?;
        let content = *found.content.lock();
        Ok(content)
    };
    handles.iter().enumerate().map(read).collect()
}

/// Reads the data buffers of a call that has descriptions.
pub(super) fn both(
    cx: &Cx<'_>,
    kind: &str,
    inputs: Descs<'_>,
    outputs: Descs<'_>,
) -> Result<(Vec<Memory>, Vec<Memory>)> {
    Ok((
        buffers(cx, kind, handles(inputs, "inputs")?, "inputs")?,
        buffers(cx, kind, handles(outputs, "outputs")?, "outputs")?,
    ))
}

/// Runs an operator that every device has.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_known(
    cx: &Cx<'_>,
    request: &Request,
    inputs: &[Memory],
    outputs: &[Memory],
    stream: Raw,
) -> Result<()> {
    let memory = (inputs, outputs);
    run(cx, request, memory, stream, (Mode::Compile, false)).map(drop)
}

/// Queues an operator.
///
/// # Errors
/// `InvalidArgument`: memory that is missing, too small or not of the stream's device; dynamic dimensions. What the registry
/// and the stream answer.
pub(super) fn run(
    cx: &Cx<'_>,
    request: &Request,
    (inputs, outputs): (&[Memory], &[Memory]),
    stream: Raw,
    (mode, reports): (Mode, bool),
) -> Result<QueuedOperator> {
    let target = cx.with_stream(stream, |stream| Ok(stream.clone()))?;
    let context = cx.runtime()?.contexts().get(target.context_id())?;
    let call = Call {
        cx,
        request,
        inputs,
        outputs,
        target: &target,
        context: &context,
        mode,
        reports,
    };
    let (run, found) = call.bind()?;
    let (reads, writes) = run.touches();
    let queued = run.clone();
    cx.with_stream(stream, |stream| {
        stream
            .launch(queued, &reads, &writes, &cx.caller())
            .map(drop)
    })?;
    Ok(QueuedOperator { run, target, found })
}

/// A queued operator.
pub(super) struct QueuedOperator {
    run: Arc<OperatorRun>,
    target: Arc<Stream>,
    /// The outputs whose shapes the run finds.
    found: Vec<usize>,
}

/// One call.
struct Call<'a> {
    cx: &'a Cx<'a>,
    request: &'a Request,
    inputs: &'a [Memory],
    outputs: &'a [Memory],
    target: &'a Arc<Stream>,
    context: &'a Arc<Context>,
    mode: Mode,
    /// Whether the call writes shapes that the run finds into the descriptions of the outputs.
    reports: bool,
}

impl Call<'_> {
    fn kind(&self) -> &str {
        &self.request.operator.kind
    }

    fn refuse<T>(&self, sentence: impl std::fmt::Display) -> Result<T> {
        refuse(
            ErrorKind::InvalidArgument,
            format!("{}: {sentence}", self.kind()),
        )
    }

    /// Checks the call, finds its operator, and binds that to memory.
    fn bind(&self) -> Result<(Arc<OperatorRun>, Vec<usize>)> {
        let Request {
            operator,
            inputs,
            outputs,
        } = self.request;
        for (what, given, wanted) in [
            ("inputs", self.inputs.len(), inputs.len()),
            ("outputs", self.outputs.len(), outputs.len()),
        ] {
            if given != wanted {
                return self.refuse(format_args!(
                    "{given} data buffers of {what} are given, and {wanted} descriptions"
                ));
            }
        }
        let mut operator = operator.clone();
        let mut copies: Vec<Option<Vec<u8>>> = Vec::with_capacity(inputs.len());
        for (index, tensor) in inputs.iter().enumerate() {
            let mut copy = None;
            if tensor.on_host && tensor.ty.is_some() && operator.inputs[index].value.is_none() {
                let bytes = self.host_value(index, tensor)?;
                // What is larger decides no shape, and is an input like others.
                if bytes.len() <= COMPILED_BYTES && !tensor.is_input {
                    operator.inputs[index].value = Some(Arc::new(bytes));
                } else {
                    copy = Some(bytes);
                }
            }
            copies.push(copy);
        }
        let compile = self.mode == Mode::Compile;
        let mut ready = registry::find(self.cx, self.request, &operator, compile)?;
        let compiled = loop {
            match ready {
                Ready::Operator(compiled) => break compiled,
                // Each turn knows the values of further inputs.
                Ready::ForValues(needed) => {
                    for (index, value) in self.values(&needed)? {
                        operator.inputs[index].value = Some(Arc::new(value));
                    }
                    ready = registry::find(self.cx, self.request, &operator, compile)?;
                }
            }
        };
        let bound = self.bind_inputs(&compiled, copies)?;
        let (results, found) = self.bind_outputs(&compiled, &operator)?;
        let stop = self.target.stop_token();
        let run = OperatorRun::new(
            compiled,
            (self.context, stop),
            bound,
            &results,
            &self.cx.caller(),
        )?;
        Ok((Arc::new(run), found))
    }

    /// Copies an input that lies in host memory.
    fn host_value(&self, index: usize, tensor: &Tensor) -> Result<Vec<u8>> {
        let (address, size) = self.inputs[index];
        let needed = self.known_bytes(index, tensor, "input")?;
        self.check_size(("input", index), (address, size), needed)?;
        memory::copy_host((address, needed), || {
            format!("{}: input {index}", self.kind())
        })
    }

    fn known_bytes(&self, index: usize, tensor: &Tensor, what: &str) -> Result<usize> {
        match tensor.bytes() {
            Some(bytes) => Ok(bytes),
            None => {
                let ty = tensor.ty.as_ref().map(TensorType::to_string);
                self.refuse(format_args!(
                    "{what} {index} is described as {}; its dimensions have to be known when it runs",
                    ty.unwrap_or_default()
                ))
            }
        }
    }

    fn check_size(
        &self,
        (what, index): (&str, usize),
        (address, size): Memory,
        needed: usize,
    ) -> Result<()> {
        if needed > 0 && address == 0 {
            return self.refuse(format_args!(
                "the data buffer of {what} {index} has a null address, and {needed} bytes are needed"
            ));
        }
        if size < needed {
            return self.refuse(format_args!(
                "the data buffer of {what} {index} has {size} bytes, and {needed} are needed"
            ));
        }
        Ok(())
    }

    fn span(&self, (what, index): (&str, usize), memory: Memory, needed: usize) -> Result<Span> {
        self.check_size((what, index), memory, needed)?;
        if needed == 0 {
            return Ok(Span::EMPTY);
        }
        memory::of_device(self.cx, self.target.device(), (memory.0, needed), || {
            format!("{}: {what} {index}", self.kind())
        })
    }

    fn bind_inputs(
        &self,
        compiled: &Operator,
        copies: Vec<Option<Vec<u8>>>,
    ) -> Result<Vec<Option<OperatorInput>>> {
        let mut bound = Vec::with_capacity(copies.len());
        for (index, (tensor, copy)) in self.request.inputs.iter().zip(copies).enumerate() {
            let Some(ty) = tensor.ty.as_ref().filter(|_| compiled.reads(index)) else {
                bound.push(None);
                continue;
            };
            let needed = self.known_bytes(index, tensor, "input")?;
            let input = match copy {
                Some(copy) => OperatorInput::copied(&copy, ty.clone()),
                None => {
                    let span = self.span(("input", index), self.inputs[index], needed)?;
                    OperatorInput::new(span, ty.clone())
                }
            };
            bound.push(Some(input));
        }
        Ok(bound)
    }

    /// Binds the outputs. Returns with them those whose shapes the run finds: where the call reports them, a description is an
    /// upper bound.
    fn bind_outputs(
        &self,
        compiled: &Operator,
        operator: &SingleOperator,
    ) -> Result<(Vec<Option<OperatorOutput>>, Vec<usize>)> {
        let mut bound = Vec::with_capacity(self.request.outputs.len());
        let mut found = Vec::new();
        let mut inferred = None;
        for (index, tensor) in self.request.outputs.iter().enumerate() {
            if tensor.ty.is_none() {
                bound.push(None);
                continue;
            }
            if tensor.on_host {
                return self.refuse(format_args!(
                    "output {index} lies in host memory; operators write memory of their stream's device"
                ));
            }
            let own = compiled.output_type(index).and_then(TensorType::bytes);
            let described = tensor.bytes();
            if own.is_none() && self.reports && !self.target.is_recorded() {
                // An operator that was compiled for inputs of any size knows its outputs when the inputs are known.
                let types = inferred.get_or_insert_with(|| infer_single(operator));
                let wanted = self.request.outputs[..index].iter();
                let position = wanted.filter(|tensor| tensor.ty.is_some()).count();
                let types = types.as_ref().ok();
                let ty = types.and_then(|types| types.get(position));
                if described.is_none() || ty.is_some_and(|ty| ty.bytes().is_none()) {
                    found.push(index);
                }
            }
            // Where neither is known, the full buffer is offered.
            let needed = own.or(described).unwrap_or(self.outputs[index].1);
            let span = self.span(("output", index), self.outputs[index], needed)?;
            bound.push(Some(OperatorOutput {
                span,
                exact: described.filter(|_| !found.contains(&index)),
            }));
        }
        Ok((bound, found))
    }

    /// Waits for the stream, and reads the values of inputs in device memory.
    fn values(&self, needed: &[usize]) -> Result<Vec<(usize, Vec<u8>)>> {
        if self.target.is_recorded() {
            return refuse(
                ErrorKind::StreamCaptured,
                format!(
                    "{} is compiled for the values of inputs {needed:?}, which are not known while stream {} is being captured; set them with aclSetTensorConst",
                    self.kind(),
                    self.target.number()
                ),
            );
        }
        let done = self.target.synchronize(None, &self.cx.caller());
        crate::error::report_failure(self.cx, done)?;
        let mut values = Vec::with_capacity(needed.len());
        for &index in needed {
            let tensor = &self.request.inputs[index];
            let bytes = self.known_bytes(index, tensor, "input")?;
            let span = self.span(("input", index), self.inputs[index], bytes)?;
            let mut value = vec![0; bytes];
            self.context.read(span, &mut value, &self.cx.caller())?;
            values.push((index, value));
        }
        Ok(values)
    }
}

/// Refuses open outputs where the call cannot report their shapes.
fn refuse_open(request: &Request) -> Result<()> {
    let open = |tensor: &Tensor| tensor.ty.is_some() && tensor.bytes().is_none();
    match request.outputs.iter().position(open) {
        None => Ok(()),
        Some(index) => refuse(
            ErrorKind::InvalidArgument,
            format!(
                "{}: output {index} has dynamic dimensions, and this call cannot report its shape",
                request.operator.kind
            ),
        )
        .map_err(|error: Error| {
            error.fix("Call the V2 of the function, which writes the shape into the description.")
        }),
    }
}

/// Runs an operator and writes the shapes of outputs with dynamic dimensions into their descriptions.
fn run_and_report(
    cx: &Cx<'_>,
    request: &Request,
    (inputs, outputs): (&[Memory], &[Memory]),
    stream: Raw,
    mode: Mode,
    descs: &[Raw],
) -> Result<()> {
    let is_open = |tensor: &Tensor| tensor.ty.is_some() && tensor.bytes().is_none();
    if request.outputs.iter().any(is_open) {
        let recorded = cx.with_stream(stream, |stream| Ok(stream.is_recorded()))?;
        if recorded {
            return refuse(
                ErrorKind::StreamCaptured,
                format!(
                    "{} has an output with dynamic dimensions, so it cannot be recorded",
                    request.operator.kind
                ),
            );
        }
    }
    let queued = run(cx, request, (inputs, outputs), stream, (mode, true))?;
    let QueuedOperator { run, target, found } = queued;
    let reported =
        |index: usize| found.contains(&index) || request.outputs.get(index).is_some_and(is_open);
    if !(0..request.outputs.len()).any(reported) {
        return Ok(());
    }
    let done = target.synchronize(None, &cx.caller());
    crate::error::report_failure(cx, done)?;
    for (output, dims) in run.shapes() {
        if reported(output)
            && let Some(desc) = descs.get(output)
        {
            describe::write_shape(cx, *desc, &dims)?;
        }
    }
    Ok(())
}

/// The arrays of a call that runs an operator.
struct Arrays<'a> {
    input_descs: Descs<'a>,
    inputs: Descs<'a>,
    output_descs: Descs<'a>,
    outputs: Descs<'a>,
}

fn execute(
    cx: &Cx<'_>,
    kind: Option<&CStr>,
    arrays: &Arrays<'_>,
    attributes: Raw,
    stream: Raw,
    (mode, reports): (Mode, bool),
) -> Result<()> {
    let kind = kind_of(kind)?;
    let request = Request::read(
        cx,
        kind,
        arrays.input_descs,
        arrays.output_descs,
        attributes,
    )?;
    let (inputs, outputs) = both(cx, kind, arrays.inputs, arrays.outputs)?;
    let memory = (&inputs[..], &outputs[..]);
    if reports {
        let descs = arrays.output_descs.1.unwrap_or_default();
        return run_and_report(cx, &request, memory, stream, mode, descs);
    }
    refuse_open(&request)?;
    run(cx, &request, memory, stream, (mode, false)).map(drop)
}

macro_rules! executions {
    ($($name:ident: $reports:literal;)*) => {$(
        pub fn $name(
            cx: &Cx<'_>,
            kind: Option<&CStr>,
            input_count: i32,
            input_descs: Option<&[Raw]>,
            inputs: Option<&[Raw]>,
            output_count: i32,
            output_descs: Option<&[Raw]>,
            outputs: Option<&[Raw]>,
            attributes: Raw,
            stream: Raw,
        ) -> Result<()> {
            let arrays = Arrays {
                input_descs: (input_count, input_descs),
                inputs: (input_count, inputs),
                output_descs: (output_count, output_descs),
                outputs: (output_count, outputs),
            };
            execute(cx, kind, &arrays, attributes, stream, (Mode::Find, $reports))
        }
    )*};
}

executions! {
    aclopExecute: false;
    aclopExecuteV2: true;
}

macro_rules! compilations {
    ($($name:ident: $reports:literal;)*) => {$(
        pub fn $name(
            cx: &Cx<'_>,
            kind: Option<&CStr>,
            input_count: i32,
            input_descs: Option<&[Raw]>,
            inputs: Option<&[Raw]>,
            output_count: i32,
            output_descs: Option<&[Raw]>,
            outputs: Option<&[Raw]>,
            attributes: Raw,
            engine: u32,
            flag: u32,
            path: Option<&CStr>,
            stream: Raw,
        ) -> Result<()> {
            check_compilation(engine, flag, path)?;
            let arrays = Arrays {
                input_descs: (input_count, input_descs),
                inputs: (input_count, inputs),
                output_descs: (output_count, output_descs),
                outputs: (output_count, outputs),
            };
            execute(cx, kind, &arrays, attributes, stream, (Mode::Compile, $reports))
        }
    )*};
}

compilations! {
    aclopCompileAndExecute: false;
    aclopCompileAndExecuteV2: true;
}

/// The request of a conversion between data types.
pub(super) fn cast_request(cx: &Cx<'_>, from: Raw, to: Raw) -> Result<Request> {
    let (from, to) = ([from], [to]);
    let mut request = Request::read(cx, "Cast", (1, Some(&from)), (1, Some(&to)), Raw(0))?;
    let Some(ty) = &request.outputs[0].ty else {
        return refuse(
            ErrorKind::InvalidArgument,
            "Cast: the description of the result has no data type",
        );
    };
    let number = Value::Int(i64::from(ty.dtype.acl()));
    request.operator.attrs.insert("dst_type".to_owned(), number);
    Ok(request)
}

/// Values are always truncated to an integer's range as the operator says.
pub fn aclopCast(
    cx: &Cx<'_>,
    from_desc: Raw,
    from: Raw,
    to_desc: Raw,
    to: Raw,
    _truncate: u8,
    stream: Raw,
) -> Result<()> {
    let request = cast_request(cx, from_desc, to_desc)?;
    let (from, to) = ([from], [to]);
    let (inputs, outputs) = both(cx, "Cast", (1, Some(&from)), (1, Some(&to)))?;
    refuse_open(&request)?;
    run_known(cx, &request, &inputs, &outputs, stream)
}

pub fn aclopInferShape(
    cx: &Cx<'_>,
    kind: Option<&CStr>,
    input_count: i32,
    input_descs: Option<&[Raw]>,
    inputs: Option<&[Raw]>,
    output_count: i32,
    output_descs: Option<&[Raw]>,
    attributes: Raw,
) -> Result<()> {
    let kind = kind_of(kind)?;
    let outputs = (output_count, output_descs);
    let request = Request::read(cx, kind, (input_count, input_descs), outputs, attributes)?;
    let inputs = handles((input_count, inputs), "inputs")?;
    let inputs = buffers(cx, kind, inputs, "inputs")?;
    describe::infer(cx, request, &inputs, handles(outputs, "outputDesc")?)
}
