//! Operations of the transformer library: created, set up, queued.
//!
//! An operation holds its parameters and nothing of a call ([`jumar_eager::atb`]). A call is checked and planned from its own tensors,
//! each time; the plans of a thread's last calls are kept, as those of single operators. The task owns all that it needs: an operation
//! may be destroyed as soon as a call has returned.
//!
//! The functions of the library that take tensors of single operators are prepared first: what a call found is kept in the operation
//! until it is queued.

use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_eager::atb::{self, Bound, Description, Fields, Rejection, Source};
pub use jumar_eager::atb::{Number, Status, Tensor};
use jumar_eager::{Dims, ParamKind, Plan, Signature};
use jumar_types::{Error, ErrorKind, IdKind};

use super::{aclnn, memory};
use crate::{Cx, Raw};

type Result<T> = std::result::Result<T, Failure>;

/// A tensor of a call, as a shim passes it.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Type, format, dimensions, and the contents where they lie in host memory.
    pub tensor: Tensor<'a>,
    /// The address in device memory; 0 for none.
    pub address: usize,
}

/// The operations of a process.
pub(crate) struct Operations {
    table: Table<Operation>,
}

impl Default for Operations {
    fn default() -> Self {
        Operations {
            table: Table::without_epoch(IdKind::Operation),
        }
    }
}

/// An operation that a program holds.
pub(crate) struct Operation {
    inner: atb::Operation,
    /// What the last preparation found, for functions whose second part has no tensors.
    prepared: Mutex<Option<PreparedCall>>,
}

/// A call that is ready.
#[derive(Clone)]
struct PreparedCall {
    signature: &'static Signature,
    plan: Arc<Plan>,
    /// The parameter and the address of each tensor argument.
    tensors: Vec<(usize, usize)>,
}

/// An error with the status that a call returns for it.
pub struct Failure {
    status: Status,
    error: Error,
}

impl Failure {
    fn of(status: Status, error: Error) -> Failure {
        Failure { status, error }
    }

    /// Wraps an error of the boundary between C and Rust.
    pub fn internal(error: Error) -> Failure {
        Failure::of(Status::Internal, error)
    }

    /// Refuses a call without something that the library passes always.
    pub fn missing(what: &str) -> Failure {
        Failure::new(Status::Internal, format!("{what} is missing"))
    }

    /// Refuses a number of dimensions.
    pub fn dims(count: u64) -> Failure {
        Failure::new(
            Status::TensorDimNum,
            format!("a tensor has {count} dimensions (dimNum); at most 8 are possible"),
        )
    }

    fn new(status: Status, sentence: String) -> Failure {
        Failure::of(status, Error::new(ErrorKind::InvalidArgument, sentence))
    }

    fn fix(mut self, advice: &str) -> Failure {
        self.error = self.error.fix(advice);
        self
    }
}

/// Names the operation of a refusal.
fn named(name: &str) -> impl Fn(Rejection) -> Failure + '_ {
    move |refused| {
        let sentence = format!("{name}: {}", refused.text);
        Failure::new(refused.status, sentence).fix(refused.fix)
    }
}

/// Runs a call, and sets the code that its error has.
///
/// # Errors
/// What `work` returns.
pub fn answer<T>(cx: &Cx<'_>, work: impl FnOnce() -> Result<T>) -> jumar_types::Result<T> {
    work().map_err(|failure| {
        cx.thread.foreign_code.set(failure.status as i32);
        failure.error
    })
}

/// Creates an operation.
///
/// # Errors
/// A parameter has no meaning, or its combination with others is not supported.
pub fn create(cx: &Cx<'_>, name: &str, fields: &[(&str, Number)]) -> Result<Raw> {
    let fields = Fields { values: fields };
    let inner = atb::Operation::new(name, &fields).map_err(named(name))?;
    let operation = Arc::new(Operation {
        inner,
        prepared: Mutex::new(None),
    });
    let kept = cx.process.operations.table.keep(operation);
    kept.map(Raw)
        .map_err(|error| Failure::of(Status::Internal, error))
}

fn find(cx: &Cx<'_>, operation: Raw) -> Result<Arc<Operation>> {
    let found = cx.process.operations.table.get(operation.0);
    found.map_err(|error| Failure::of(Status::OperationAddress, error))
}

/// Destroys an operation. Its calls that were queued run nevertheless.
///
/// # Errors
/// It was destroyed before.
pub fn destroy(cx: &Cx<'_>, operation: Raw) -> Result<()> {
    let operations = &cx.process.operations.table;
    let removed = operations.remove(operation.0, cx.call.name);
    removed
        .map(drop)
        .map_err(|error| Failure::of(Status::OperationAddress, error))
}

/// Returns the name of an operation, and how many inputs and outputs it has.
///
/// # Errors
/// It was destroyed.
pub fn describe(cx: &Cx<'_>, operation: Raw) -> Result<(&'static str, usize, usize)> {
    let operation = find(cx, operation)?;
    let inner = &operation.inner;
    Ok((inner.name(), inner.inputs(), inner.outputs()))
}

/// Finds the descriptions of the outputs.
///
/// # Errors
/// The inputs are not those of the operation.
pub fn infer_shape(cx: &Cx<'_>, operation: Raw, inputs: &[Tensor<'_>]) -> Result<Vec<Description>> {
    let operation = find(cx, operation)?;
    let found = operation.inner.infer(inputs);
    found.map_err(named(operation.inner.name()))
}

/// Checks and plans a call.
fn plan(cx: &Cx<'_>, operation: &atb::Operation, bound: Bound) -> Result<(Arc<Plan>, Bound)> {
    let mut bound = bound;
    let args = std::mem::take(&mut bound.args);
    // The address of a signature is not the number of a single operator.
    let number = std::ptr::from_ref(bound.signature).addr();
    let plan = cx
        .thread
        .plans
        .get(number, args, |args| bound.plan(args))
        .map_err(named(operation.name()))?;
    Ok((plan, bound))
}

fn bind(operation: &atb::Operation, inputs: &[Given<'_>], outputs: &[Given<'_>]) -> Result<Bound> {
    let inputs: Vec<Tensor<'_>> = inputs.iter().map(|given| given.tensor).collect();
    let outputs: Vec<Tensor<'_>> = outputs.iter().map(|given| given.tensor).collect();
    let bound = operation.bind(&inputs, &outputs);
    bound.map_err(named(operation.name()))
}

/// Checks a call.
///
/// # Errors
/// The tensors are not those of the operation.
pub fn setup(
    cx: &Cx<'_>,
    operation: Raw,
    inputs: &[Given<'_>],
    outputs: &[Given<'_>],
) -> Result<()> {
    let operation = find(cx, operation)?;
    let bound = bind(&operation.inner, inputs, outputs)?;
    plan(cx, &operation.inner, bound).map(drop)
}

/// Returns the parameter and the address of each tensor argument.
fn addresses(bound: &Bound, inputs: &[Given<'_>], outputs: &[Given<'_>]) -> Vec<(usize, usize)> {
    let params = bound.signature.params.iter().enumerate();
    let tensors = params.filter(|(_, param)| param.kind == ParamKind::Tensor);
    let bound = tensors.zip(&bound.sources);
    bound
        .map(|((param, _), source)| match *source {
            Source::None => (param, 0),
            Source::In(index) => (param, inputs[index].address),
            Source::Out(index) => (param, outputs[index].address),
        })
        .collect()
}

/// Refuses outputs that have to be the memory of an input and are not.
fn check_in_place(
    operation: &atb::Operation,
    bound: &Bound,
    inputs: &[Given<'_>],
    outputs: &[Given<'_>],
) -> Result<()> {
    for &(input, output) in &bound.in_place {
        let (from, to) = (inputs[input].address, outputs[output].address);
        if from != to {
            return Err(Failure::new(
                Status::TensorAddress,
                format!(
                    "{}: output {output} is at {to:#x} and input {input} at {from:#x}; the operation changes the input in place, so that both are the same memory",
                    operation.name()
                ),
            )
            .fix("Pass the address of the input as that of the output."));
        }
    }
    Ok(())
}

/// Queues a call on a stream. Values of host tensors are read before it returns. The task owns the memory for intermediate results: the
/// adapter of PyTorch frees a workspace after this call, also where a captured model executes the task later.
///
/// # Errors
/// The tensors are not those of the operation; an address cannot be used; the stream does not exist.
pub fn execute(
    cx: &Cx<'_>,
    operation: Raw,
    inputs: &[Given<'_>],
    outputs: &[Given<'_>],
    stream: Raw,
) -> Result<()> {
    let operation = find(cx, operation)?;
    let inner = &operation.inner;
    let bound = bind(inner, inputs, outputs)?;
    check_in_place(inner, &bound, inputs, outputs)?;
    let (plan, bound) = plan(cx, inner, bound)?;
    let call = PreparedCall {
        signature: bound.signature,
        plan,
        tensors: addresses(&bound, inputs, outputs),
    };
    queue(cx, call, stream)
}

/// Queues a call that was planned.
fn queue(cx: &Cx<'_>, call: PreparedCall, stream: Raw) -> Result<()> {
    let exists = cx.with_stream(stream, |_| Ok(()));
    exists.map_err(|error| Failure::of(Status::Stream, error))?;
    let queued = aclnn::queue(cx, call.signature, call.plan, &call.tensors, stream);
    queued.map_err(|error| {
        let address = [ErrorKind::InvalidArgument, ErrorKind::NullPointer];
        let status = match address.contains(&error.kind()) {
            true => Status::TensorAddress,
            false => Status::Runtime,
        };
        Failure::of(status, error)
    })
}

/// A tensor of single operators that was read.
struct Read {
    desc: Option<(i32, i32, Dims)>,
    address: usize,
    host: Option<Vec<u8>>,
}

impl Read {
    fn given(&self) -> Given<'_> {
        let tensor = match &self.desc {
            Some((dtype, format, dims)) => Tensor {
                dtype: *dtype,
                format: *format,
                dims,
                bytes: None,
                host: self.host.as_deref(),
                on_device: self.host.is_none() && self.address != 0,
            },
            None => Tensor {
                dtype: -1,
                format: -1,
                dims: &[],
                bytes: None,
                host: None,
                on_device: false,
            },
        };
        Given {
            tensor,
            address: self.address,
        }
    }
}

/// Reads a tensor of single operators: its contents as well where it lies in host memory.
fn read(cx: &Cx<'_>, tensor: Raw, (what, on_host): (String, bool)) -> Result<Read> {
    if tensor.is_null() {
        return Ok(Read {
            desc: None,
            address: 0,
            host: None,
        });
    }
    let content = aclnn::dense_content(cx, tensor);
    let (desc, address) = content.map_err(|error| {
        let sentence = format!("{what}: {error}");
        Failure::of(Status::TensorAddress, Error::new(error.kind(), sentence))
    })?;
    let elements = desc.dims.iter().product::<i64>();
    let bytes = usize::try_from(elements).unwrap_or(0) * desc.dtype.bits() / 8;
    let host = match on_host && address != 0 {
        true => {
            let copied = memory::copy_host((address, bytes), || what.clone());
            Some(copied.map_err(|error| Failure::of(Status::TensorAddress, error))?)
        }
        false => None,
    };
    Ok(Read {
        desc: Some((desc.dtype.acl(), desc.format, desc.dims)),
        address,
        host,
    })
}

/// Prepares a call of a function that takes tensors of single operators. A null operation is created; another one is used again, and
/// its earlier preparation is forgotten. Returns the operation.
///
/// # Errors
/// As those of [`create`] and [`setup`].
pub fn prepare(
    cx: &Cx<'_>,
    operation: Raw,
    (name, fields): (&str, &[(&str, Number)]),
    inputs: &[Raw],
    outputs: &[Raw],
) -> Result<Raw> {
    // The form is that of these parameters, whichever an operation that is used again was created with.
    let inner = atb::Operation::new(name, &Fields { values: fields }).map_err(named(name))?;
    let existing = match operation.is_null() {
        true => None,
        false => Some(find(cx, operation)?),
    };
    if let Some(existing) = &existing
        && existing.inner.name() != inner.name()
    {
        return Err(Failure::new(
            Status::OperationAddress,
            format!(
                "the operation was created for {}, so {} cannot use it",
                existing.inner.name(),
                inner.name()
            ),
        )
        .fix("Pass the address of a null pointer, or of an operation that the same function created."));
    }
    let list = |tensors: &[Raw], what: &str| {
        let tensors = tensors.iter().enumerate();
        tensors
            .map(|(index, tensor)| {
                let on_host = what == "input" && inner.is_host(index);
                read(
                    cx,
                    *tensor,
                    (format!("{what} {index} of {}", inner.name()), on_host),
                )
            })
            .collect::<Result<Vec<Read>>>()
    };
    // Outputs that an operation of these parameters does not have are null.
    let kept = &outputs[..outputs.len().min(inner.outputs())];
    let (inputs, outputs) = (list(inputs, "input")?, list(kept, "output")?);
    let inputs: Vec<Given<'_>> = inputs.iter().map(Read::given).collect();
    let outputs: Vec<Given<'_>> = outputs.iter().map(Read::given).collect();
    let bound = bind(&inner, &inputs, &outputs)?;
    check_in_place(&inner, &bound, &inputs, &outputs)?;
    let (plan, bound) = plan(cx, &inner, bound)?;
    let prepared = PreparedCall {
        signature: bound.signature,
        plan,
        tensors: addresses(&bound, &inputs, &outputs),
    };
    match existing {
        Some(existing) => {
            *existing.prepared.lock() = Some(prepared);
            Ok(operation)
        }
        None => {
            let operation = Arc::new(Operation {
                inner,
                prepared: Mutex::new(Some(prepared)),
            });
            let kept = cx.process.operations.table.keep(operation);
            let kept = kept.map_err(|error| Failure::of(Status::Internal, error))?;
            Ok(Raw(kept))
        }
    }
}

/// Queues the call that was prepared last.
///
/// # Errors
/// Nothing was prepared; as those of [`execute`].
pub fn run_prepared(cx: &Cx<'_>, operation: Raw, stream: Raw) -> Result<()> {
    let operation = find(cx, operation)?;
    let prepared = operation.prepared.lock().clone();
    let Some(prepared) = prepared else {
        return Err(Failure::new(
            Status::OperationAddress,
            format!("{} was not prepared", operation.inner.name()),
        )
        .fix("Call the function that returns the size of the workspace first."));
    };
    queue(cx, prepared, stream)
}

/// Refuses a call for a reason that the library found itself.
///
/// # Errors
/// Always.
pub fn refuse(status: i32, sentence: &str) -> Result<()> {
    let known = Status::ALL.iter().find(|known| **known as i32 == status);
    Err(Failure::new(
        known.copied().unwrap_or(Status::Internal),
        sentence.to_owned(),
    ))
}

/// Reports whether a function belongs to the transformer library.
pub(crate) fn is_named(function: &str) -> bool {
    function.starts_with("atb::") || function.starts_with("Atb")
}

/// Returns the name of a status.
pub(crate) fn status_name(code: i32) -> Option<&'static str> {
    let mut known = Status::ALL.iter();
    known
        .find(|known| **known as i32 == code)
        .map(|status| status.name())
}
