//! The two phases of every operator.

use std::ffi::CStr;
use std::ops::Range;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Span, Stream};
use jumar_eager::{Access, Arg, Param, ParamKind, Plan, Region, Signature, TensorArg};
use jumar_types::{Error, ErrorKind};

use super::ReadyCollective;
use super::executor::{self, Executor, State, TensorSlot};
use super::lists::Array;
use super::ranges::CallRanges;
use super::status::PhaseError;
use super::task::{Run, Threads, Workspace};
use super::tensor::{self, known_type};
use crate::operators::memory;
use crate::{Cx, Raw};

/// An argument of a first phase as a shim passes it: the parameter's kind says what the bits are.
#[derive(Clone, Copy)]
pub enum RawArg<'a> {
    /// A handle, an integer, the bits of a double, a boolean, or a data type.
    Bits(u64),
    /// A text.
    Text(Option<&'a CStr>),
}

type Result<T> = std::result::Result<T, PhaseError>;

/// Returns the parameters of the operator with a number.
pub fn parameters(number: usize) -> &'static [Param] {
    signature(number).params
}

/// Reports whether a parameter is a text.
pub fn is_text(parameter: &Param) -> bool {
    parameter.kind == ParamKind::Text
}

fn signature(number: usize) -> &'static Signature {
    &jumar_eager::signatures::ALL[number]
}

/// Checks and plans a call. Returns the size of the workspace in bytes, and the executor.
///
/// # Errors
/// The operator is not computed; what the plan refuses; an argument that was destroyed.
pub fn first_phase(cx: &Cx<'_>, number: usize, raw: &[RawArg<'_>]) -> Result<(u64, Raw)> {
    planned(cx, number, raw).map_err(|refused| {
        let name = signature(number).name;
        // That there is no kernel is worth more than what is wrong with the arguments.
        match jumar_eager::is_computed(name) {
            true => refused,
            false => PhaseError::not_implemented(name),
        }
    })
}

fn planned(cx: &Cx<'_>, number: usize, raw: &[RawArg<'_>]) -> Result<(u64, Raw)> {
    let signature = signature(number);
    let mut reader = Reader {
        cx,
        signature,
        param: 0,
        slots: Vec::with_capacity(raw.len()),
        addresses: Vec::with_capacity(raw.len()),
    };
    let mut args = cx.thread.plans.arguments();
    args.reserve_exact(raw.len());
    for (at, arg) in raw.iter().enumerate() {
        reader.param = at;
        reader.read(*arg, &mut args)?;
    }
    let plan = cx
        .thread
        .plans
        .get(number, args, |args| jumar_eager::plan(signature, args))?;
    let workspace = plan.workspace_bytes() as u64;
    for access in plan.accesses().iter().filter(|one| one.beyond_storage) {
        reader.check_allocation(access)?;
    }
    let Reader {
        slots, addresses, ..
    } = reader;
    let executors = &cx.process.operators.executors;
    let executor = executors.keep(Arc::new(Executor {
        signature,
        plan,
        tensors: slots,
        state: Mutex::new(State {
            addresses,
            repeatable: false,
        }),
    }))?;
    Ok((workspace, Raw(executor)))
}

/// Turns raw arguments into typed ones, and keeps the tensors.
struct Reader<'a> {
    cx: &'a Cx<'a>,
    signature: &'static Signature,
    /// The index of the parameter that is read now.
    param: usize,
    slots: Vec<TensorSlot>,
    addresses: Vec<usize>,
}

impl Reader<'_> {
    /// Appends an argument. Tensors, which are long, move there directly.
    #[inline]
    fn read(&mut self, raw: RawArg<'_>, args: &mut Vec<Arg>) -> Result<()> {
        match (self.signature.params[self.param].kind, raw) {
            (ParamKind::Tensor, RawArg::Bits(bits)) => match self.tensor(Raw(bits), None)? {
                Some(tensor) => args.push(Arg::Tensor(tensor)),
                None => args.push(Arg::Null),
            },
            _ => args.push(self.argument(raw)?),
        }
        Ok(())
    }

    fn argument(&mut self, raw: RawArg<'_>) -> Result<Arg> {
        let kind = self.signature.params[self.param].kind;
        let bits = match raw {
            RawArg::Bits(bits) => bits,
            RawArg::Text(None) => return Ok(Arg::Null),
            RawArg::Text(Some(text)) => return Ok(self.text(&text.to_string_lossy())),
        };
        let object = Raw(bits);
        let objects = &self.cx.process.operators;
        Ok(match kind {
            ParamKind::Int => Arg::Int(bits as i64),
            ParamKind::Float => Arg::Float(f64::from_bits(bits)),
            ParamKind::Bool => Arg::Bool(bits != 0),
            ParamKind::Type => Arg::Type(self.of(known_type(bits as i32))?),
            _ if object.is_null() => Arg::Null,
            ParamKind::Tensors => {
                let list = self.of(objects.tensor_lists.get(bits))?;
                let members = list.members.iter().enumerate();
                let members = members
                    .map(|(at, member)| self.tensor(Raw(*member), Some(at)))
                    .collect::<Result<_>>()?;
                Arg::Tensors(members)
            }
            ParamKind::Scalar => Arg::Scalar(self.of(objects.scalars.get(bits))?.value),
            ParamKind::Scalars => {
                let list = self.of(objects.scalar_lists.get(bits))?;
                let members = list.members.iter();
                let members = members
                    .map(|member| Ok(self.of(objects.scalars.get(*member))?.value))
                    .collect::<Result<_>>()?;
                Arg::Scalars(members)
            }
            ParamKind::Ints => Arg::Ints(self.values(objects.ints.get(bits))?),
            ParamKind::Floats => Arg::Floats(self.values(objects.floats.get(bits))?),
            ParamKind::Bools => Arg::Bools(self.values(objects.bools.get(bits))?),
            // Each has its own form.
            ParamKind::Text | ParamKind::Tensor => Arg::Null,
        })
    }

    /// Reads a text: the name of a communicator, if the parameter is one and the communicator exists.
    fn text(&self, text: &str) -> Arg {
        let param = &self.signature.params[self.param];
        let named = self.cx.process.operators.communication.named;
        match param.is_group().then(|| named(self.cx, text)) {
            Some(Some(group)) => Arg::Group(group),
            _ => Arg::Text(text.to_owned()),
        }
    }

    /// Reads a tensor. A null one keeps its index.
    #[inline]
    fn tensor(&mut self, tensor: Raw, member: Option<usize>) -> Result<Option<TensorArg>> {
        let buffer = self.slots.len();
        self.slots.push(TensorSlot {
            param: self.param,
            member,
            handle: tensor.0,
        });
        if tensor.is_null() {
            self.addresses.push(0);
            return Ok(None);
        }
        let content = self.of(tensor::find(self.cx, tensor))?.content();
        self.addresses.push(content.address);
        Ok(Some(TensorArg {
            desc: content.desc,
            buffer,
        }))
    }

    /// Checks that the memory behind a tensor is larger than its described storage, which the tensor exceeds. Without an address, the second
    /// phase checks it.
    fn check_allocation(&self, access: &Access) -> Result<()> {
        let (address, bytes) = (self.addresses[access.buffer], access.bytes());
        if address == 0 {
            return Ok(());
        }
        let found = self.cx.runtime().ok();
        let found = found.and_then(|runtime| runtime.space().reach(address, bytes));
        let space = found.map(|block| block.span.end().saturating_sub(address));
        if space.is_some_and(|space| space >= bytes) {
            return Ok(());
        }
        let slot = &self.slots[access.buffer];
        let name = self.signature.params[slot.param].name;
        let behind = match space {
            Some(space) => format!("the allocation has {space} bytes from there on"),
            None => "nothing is allocated there".to_owned(),
        };
        let sentence = format!(
            "{name} does not lie inside its storage: it spans {bytes} bytes from its data pointer {address:#x} on, and {behind}"
        );
        Err(PhaseError::invalid(sentence)
            .fix("Check shape, strides and offset of the tensor against the memory behind it."))
    }

    fn values<T: Copy>(&self, array: jumar_types::Result<Arc<Array<T>>>) -> Result<Vec<T>> {
        Ok(self.of(array)?.values.to_vec())
    }

    /// Names the argument that an object was looked up for.
    fn of<T>(&self, found: jumar_types::Result<T>) -> Result<T> {
        found.map_err(|error| {
            let param = self.signature.params[self.param].name;
            let sentence = format!("{param}: {error}");
            PhaseError::from(Error::new(error.kind(), sentence))
        })
    }
}

/// Queues a planned call on a stream as one task.
///
/// The call returns at once, but for plans whose outputs have shapes that depend on data: these wait for the stream, so that
/// the caller finds the shapes in its tensors.
///
/// # Errors
/// The executor or the stream cannot be used; memory that the call needs is missing, too small or not of the device; what
/// the run failed with, where it was waited for.
pub fn second_phase(
    cx: &Cx<'_>,
    number: usize,
    workspace: (usize, u64),
    executor: Raw,
    stream: Raw,
) -> Result<()> {
    let name = signature(number).name;
    let handle = executor;
    let executor = executor::find(cx, handle).map_err(PhaseError::executor)?;
    if !std::ptr::eq(executor.signature, signature(number)) {
        return Err(PhaseError::executor(executor::of_another(&executor, name)));
    }
    let target = cx
        .with_stream(stream, |stream| Ok(stream.clone()))
        .map_err(PhaseError::runtime)?;
    let plan = &executor.plan;
    if plan.writes_shapes() && target.is_recorded() {
        let sentence = format!(
            "{name} has an output whose shape depends on data, so it cannot be recorded: stream {} is being captured",
            target.number()
        );
        return Err(PhaseError::runtime(Error::new(
            ErrorKind::StreamCaptured,
            sentence,
        )));
    }
    let memory = Memory {
        cx,
        executor: &executor,
        device: target.device(),
    };
    let workspace = memory.workspace(workspace)?;
    let state = executor.state.lock();
    let addresses = &state.addresses;
    let buffers = memory.buffers(addresses)?;
    let repeatable = state.repeatable;
    drop(state);
    let joined = join(cx, &executor, target.device(), (&buffers, workspace))?;
    if !repeatable {
        // Of two threads that run the same executor, one takes it.
        let executors = &cx.process.operators.executors;
        executors
            .remove(handle.0, cx.call.name)
            .map_err(PhaseError::executor)?;
    }
    let launch = Launch {
        cx,
        executor: &executor,
        target: &target,
        stream,
        workspace: Workspace::Given(workspace),
    };
    let mut first = 0;
    for (exchange, collective) in plan.exchanges().iter().zip(joined) {
        launch.steps(first..exchange.before(), buffers.clone().into())?;
        first = exchange.before();
        cx.with_stream(stream, |stream| collective(cx, stream))
            .map_err(PhaseError::runtime)?;
    }
    let run = launch.steps(first..plan.steps(), buffers.into())?;
    if plan.writes_shapes() {
        let done = target.synchronize(None, &cx.caller());
        crate::error::report_failure(cx, done).map_err(PhaseError::runtime)?;
        if let Some(run) = run {
            write_shapes(cx, &executor, &run);
        }
    }
    Ok(())
}

/// Queues a plan that no executor of the program holds, as one task on a stream. `tensors` has the parameter and the data pointer of
/// each tensor argument. The task owns the memory for intermediate results.
///
/// # Errors
/// Memory that the call needs is missing, too small or not of the device.
pub(in crate::operators) fn queue(
    cx: &Cx<'_>,
    signature: &'static Signature,
    plan: Arc<Plan>,
    tensors: &[(usize, usize)],
    stream: Raw,
) -> jumar_types::Result<()> {
    let slots = tensors.iter().map(|(param, _)| TensorSlot {
        param: *param,
        member: None,
        handle: 0,
    });
    let executor = Executor {
        signature,
        plan,
        tensors: slots.collect(),
        state: Mutex::new(State {
            addresses: Vec::new(),
            repeatable: false,
        }),
    };
    let target = cx.with_stream(stream, |stream| Ok(stream.clone()))?;
    let addresses: Vec<usize> = tensors.iter().map(|(_, address)| *address).collect();
    let memory = Memory {
        cx,
        executor: &executor,
        device: target.device(),
    };
    let queued = memory.buffers(&addresses).and_then(|buffers| {
        let launch = Launch {
            cx,
            executor: &executor,
            target: &target,
            stream,
            workspace: Workspace::Own(executor.plan.workspace_bytes()),
        };
        let steps = 0..executor.plan.steps();
        launch.steps(steps, buffers.into()).map(drop)
    });
    queued.map_err(PhaseError::into_error)
}

/// Prepares the collectives of a call.
///
/// # Errors
/// Arguments share memory; a communicator does not exist any longer.
fn join(
    cx: &Cx<'_>,
    executor: &Executor,
    device: u32,
    (buffers, workspace): (&[Span], Span),
) -> Result<Vec<ReadyCollective>> {
    let plan = &executor.plan;
    if plan.exchanges().is_empty() {
        return Ok(Vec::new());
    }
    let regions: Vec<Region<'_>> = buffers.iter().copied().map(Region::of).collect();
    if let Some((input, output)) = plan.conflict(&regions) {
        let sentence = format!(
            "{} and {} share memory, and the output would be written before the input is read",
            executor.name_of(input),
            executor.name_of(output)
        );
        return Err(PhaseError::invalid(sentence).fix("Pass tensors that do not overlap."));
    }
    let memory = |of: jumar_eager::Memory| match of {
        jumar_eager::Memory::Tensor(tensor) => buffers[tensor],
        jumar_eager::Memory::Workspace => workspace,
    };
    let exchanges = plan.exchanges().iter();
    let join = cx.process.operators.communication.join;
    let joined = exchanges.map(|exchange| join(cx, device, exchange, &memory));
    let joined: jumar_types::Result<Vec<_>> = joined.collect();
    joined.map_err(PhaseError::from)
}

/// A call whose tasks are being queued.
struct Launch<'a> {
    cx: &'a Cx<'a>,
    executor: &'a Executor,
    target: &'a Stream,
    stream: Raw,
    workspace: Workspace,
}

impl Launch<'_> {
    /// Queues some of the steps as one task. Nothing is queued for no steps beside a collective.
    fn steps(&self, steps: Range<usize>, buffers: Box<[Span]>) -> Result<Option<Arc<Run>>> {
        let (cx, plan) = (self.cx, &self.executor.plan);
        let joined = !plan.exchanges().is_empty();
        if joined && steps.is_empty() {
            return Ok(None);
        }
        // Only the checks, and captured models, use the list of ranges.
        let runtime = cx.runtime().map_err(PhaseError::runtime)?;
        let touched = if runtime.gate().is_observed() {
            let steps = steps.clone();
            CallRanges::exactly(self.executor, steps, &buffers, self.workspace.span())
        } else if self.target.is_recorded() {
            CallRanges::roughly(plan, &buffers, self.workspace.span())
        } else {
            CallRanges::default()
        };
        for span in &touched.vague {
            runtime.gate().may_be_written(*span);
        }
        let run = Arc::new(Run {
            name: self.executor.signature.name,
            plan: plan.clone(),
            steps,
            buffers,
            workspace: self.workspace,
            short: !joined && plan.is_short(),
            threads: threads(cx, self.target)?,
            shapes: Mutex::default(),
        });
        cx.with_stream(self.stream, |stream| {
            stream
                .launch(run.clone(), &touched.reads, &touched.writes, &cx.caller())
                .map(drop)
        })
        .map_err(PhaseError::runtime)?;
        Ok(Some(run))
    }
}

fn threads(cx: &Cx<'_>, stream: &Stream) -> Result<Threads> {
    let context = cx
        .runtime()
        .and_then(|runtime| runtime.contexts().get(stream.context_id()));
    Ok(Threads(context.map_err(PhaseError::runtime)?.team()))
}

/// Writes the shapes that a run found out into the caller's tensors. One that was destroyed in the meantime has no reader.
fn write_shapes(cx: &Cx<'_>, executor: &Executor, run: &Run) {
    let shapes = std::mem::take(&mut *run.shapes.lock());
    for (buffer, dims) in shapes {
        if let Ok(tensor) = tensor::find(cx, Raw(executor.tensors[buffer].handle)) {
            tensor.set_shape(dims);
        }
    }
}

/// Finds the memory of a call.
struct Memory<'a> {
    cx: &'a Cx<'a>,
    executor: &'a Executor,
    device: u32,
}

impl Memory<'_> {
    /// Finds the memory of each tensor argument; no bytes for one that the plan does not touch.
    fn buffers(&self, addresses: &[usize]) -> Result<Vec<Span>> {
        let mut buffers = vec![Span::EMPTY; addresses.len()];
        for access in self.executor.plan.accesses() {
            let bytes = access.bytes();
            if bytes == 0 {
                continue;
            }
            let region = self.tensor(access.buffer, addresses[access.buffer], bytes)?;
            if region.bytes() > buffers[access.buffer].bytes() {
                buffers[access.buffer] = region;
            }
        }
        Ok(buffers)
    }

    fn tensor(&self, buffer: usize, address: usize, bytes: usize) -> Result<Span> {
        let what = || self.executor.name_of(buffer);
        if address == 0 {
            let sentence = format!("the data pointer of {} is null", what());
            return Err(PhaseError::null(sentence).fix(
                "Create the tensor with an address, or set one with aclSetTensorAddr before the second phase.",
            ));
        }
        self.of_device(address, bytes, what)
    }

    fn workspace(&self, (address, given): (usize, u64)) -> Result<Span> {
        let name = self.executor.signature.name;
        let needed = self.executor.plan.workspace_bytes();
        if needed == 0 {
            return Ok(Span::EMPTY);
        }
        if given < needed as u64 {
            let sentence =
                format!("{name} needs a workspace of {needed} bytes, and workspaceSize is {given}");
            return Err(PhaseError::invalid(sentence)
                .fix("Allocate as many bytes as the first phase returned."));
        }
        if address == 0 {
            let sentence =
                format!("the workspace of {name} is null, and {needed} bytes are needed");
            return Err(PhaseError::null(sentence)
                .fix("Allocate device memory of the size that the first phase returned."));
        }
        self.of_device(address, needed, || format!("the workspace of {name}"))
    }

    /// Finds live memory of the stream's device.
    fn of_device(&self, address: usize, bytes: usize, what: impl Fn() -> String) -> Result<Span> {
        memory::of_device(self.cx, self.device, (address, bytes), what).map_err(PhaseError::from)
    }
}
