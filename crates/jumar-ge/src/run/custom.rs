//! Runs of graphs with custom operators and collectives: segments are queued on the stream. Between them Execute of the program is called
//! on the thread that runs the graph, and what it queues on the stream follows the segment before; or the operation of a communicator is
//! queued.

use std::sync::Arc;

use jumar::engine::{Caller, Runtime, Signal, Span, Stream};
use jumar::offline::{
    Bindings, DeviceMemory, Dims, Execute, ExecuteOpen, Results, ShapedInput, SuppliedMemory,
    Targets,
};
use jumar_acl::frontend;

use crate::collective::Collective;
use crate::custom::{self, Execution, Operand, RegisteredOperator};
use crate::graph::TensorType;
use crate::lowering::{self as ge, Desc};
use crate::plan::{Family, Plan, type_of};
use crate::run::outputs::{self, tensor_on_device};
use crate::run::{HostTensor, too_short, types};
use crate::session::{Session, SessionDevice};
use crate::split::{By, Call, Segment, Split, Step, ValueRef};
use crate::wire::Writer;
use crate::{GeError, GeResult, session, variables};

/// A value of a run.
#[derive(Clone)]
struct Value {
    ty: TensorType,
    format: i32,
    span: Span,
    /// The memory, if the run allocated it for this value alone.
    memory: Option<Arc<DeviceMemory>>,
}

impl Value {
    fn desc(&self) -> Desc {
        Desc {
            dims: self.ty.shape.clone(),
            dtype: self.ty.dtype.acl(),
            format: self.format,
        }
    }

    fn bytes(&self) -> usize {
        // Texts have no size of their own.
        match self.ty.dtype.size() {
            Some(_) => self.ty.bytes().unwrap_or(0),
            None => self.span.bytes(),
        }
    }
}

/// One run.
pub struct Run<'a> {
    session: &'a Session,
    device: &'a SessionDevice,
    split: &'a Split,
    stream: &'a Arc<Stream>,
    /// The stream as Execute gets it.
    handle: u64,
    runtime: &'a Runtime,
    caller: &'a Caller<'a>,
}

/// What the steps of a run leave.
#[derive(Default)]
struct Progress {
    inputs: Vec<Value>,
    constants: Vec<Value>,
    slots: Vec<Option<Value>>,
    /// All memory that something on the stream may use.
    held: Vec<Arc<DeviceMemory>>,
}

impl Progress {
    fn value(&self, reference: ValueRef) -> GeResult<&Value> {
        let found = match reference {
            ValueRef::Input(at) => self.inputs.get(at),
            ValueRef::Constant(at) => self.constants.get(at),
            ValueRef::Slot(at) => self.slots.get(at).and_then(Option::as_ref),
        };
        found.ok_or_else(|| GeError::new("a value of the graph is read before it is there"))
    }
}

/// Runs a graph from host memory and returns the reply with its outputs.
pub fn from_host(
    session: &Session,
    device: &SessionDevice,
    split: &Split,
    plan: &Plan,
    inputs: &[HostTensor],
) -> GeResult<Vec<u8>> {
    session::with_runtime(|runtime, caller| {
        let stream = (&device.stream, device.stream.id());
        let run = Run::new((session, device), split, stream, runtime, caller);
        let mut staged = Vec::with_capacity(inputs.len());
        let mut spans = Vec::with_capacity(inputs.len());
        for tensor in inputs {
            let memory = run.allocate(tensor.bytes.len())?;
            let span = memory.span().part(0, tensor.bytes.len());
            if let Some(span) = span.filter(|span| !span.is_empty()) {
                device.context.write(span, &tensor.bytes, caller)?;
            }
            spans.push(span.unwrap_or(Span::EMPTY));
            staged.push(memory);
        }
        let (progress, found) = run.perform(plan, inputs, &spans, staged)?;
        device.stream.synchronize(None, caller)?;
        let mut reply = Writer::default();
        reply.u64(found.len() as u64);
        for value in &found {
            let mut contents = vec![0; value.bytes()];
            if let Some(span) = value.span.part(0, contents.len())
                && !contents.is_empty()
            {
                runtime.read(span, &mut contents, caller)?;
            }
            outputs::tensor(&mut reply, &value.desc(), 0, &contents);
        }
        drop(progress);
        outputs::saved(session, plan, runtime, &mut reply, caller)?;
        Ok(reply.bytes)
    })
}

impl<'a> Run<'a> {
    pub fn new(
        (session, device): (&'a Session, &'a SessionDevice),
        split: &'a Split,
        (stream, handle): (&'a Arc<Stream>, u64),
        runtime: &'a Runtime,
        caller: &'a Caller<'a>,
    ) -> Run<'a> {
        Run {
            session,
            device,
            split,
            stream,
            handle,
            runtime,
            caller,
        }
    }

    /// Queues a run on the stream and returns the reply with its outputs. The session keeps the memory of the run until the stream has
    /// passed its end.
    pub fn on_stream(
        &self,
        plan: &Plan,
        inputs: &[HostTensor],
        reads: &[Span],
        targets: &[Option<Span>],
        copied: Vec<Arc<DeviceMemory>>,
    ) -> GeResult<Vec<u8>> {
        self.stream.refuse_captured()?;
        let (mut progress, found) = self.perform(plan, inputs, reads, copied)?;
        let (reply, lent) = match self.deliver(&mut progress, found, targets) {
            Ok(delivered) => delivered,
            Err(error) => {
                drop(self.stream.synchronize(None, self.caller));
                return Err(error);
            }
        };
        let mut held = progress.held;
        held.retain(|memory| !lent.iter().any(|lent| Arc::ptr_eq(lent, memory)));
        let ended = Arc::new(Signal::new());
        self.stream.mark(ended.clone(), self.caller);
        self.session.lend(lent, self.stream, Some(&ended));
        self.session.keep(held, Some(ended));
        Ok(reply)
    }

    /// Copies the outputs to the memory of the program, or sees to it that each of the others has memory for itself, which is returned.
    fn deliver(
        &self,
        progress: &mut Progress,
        found: Vec<Value>,
        targets: &[Option<Span>],
    ) -> GeResult<(Vec<u8>, Vec<Arc<DeviceMemory>>)> {
        let mut reply = Writer::default();
        let mut lent: Vec<Arc<DeviceMemory>> = Vec::new();
        reply.u64(found.len() as u64);
        for (index, (value, target)) in found.into_iter().zip(targets).enumerate() {
            let bytes = value.bytes();
            let own = value.memory.clone();
            let target = match (target, own) {
                (Some(target), _) => target
                    .part(0, bytes)
                    .ok_or_else(|| too_short(index, "output", target.bytes(), bytes))?,
                (None, Some(own)) if !lent.iter().any(|lent| Arc::ptr_eq(lent, &own)) => {
                    lent.push(own);
                    value.span
                }
                (None, _) => {
                    let memory = self.allocate(bytes)?;
                    let span = memory.span();
                    progress.held.push(memory.clone());
                    lent.push(memory);
                    span
                }
            };
            if let (Some(to), Some(from)) = (target.part(0, bytes), value.span.part(0, bytes))
                && bytes > 0
                && to.address() != from.address()
            {
                self.stream.copy(to, from, self.caller)?;
            }
            tensor_on_device(&mut reply, &value.desc(), target.address(), bytes);
        }
        // A run on a stream collects no variables for the program's callback.
        reply.u64(0);
        Ok((reply.bytes, lent))
    }

    fn allocate(&self, bytes: usize) -> GeResult<Arc<DeviceMemory>> {
        let context = &self.device.context;
        let memory = DeviceMemory::allocate(context, bytes, self.caller)?;
        Ok(Arc::new(memory))
    }

    /// Performs the steps and returns the outputs. `held` is memory of the inputs. After a failure nothing on the stream uses memory of
    /// the run any more.
    fn perform(
        &self,
        plan: &Plan,
        inputs: &[HostTensor],
        spans: &[Span],
        held: Vec<Arc<DeviceMemory>>,
    ) -> GeResult<(Progress, Vec<Value>)> {
        let mut progress = Progress {
            slots: vec![None; self.split.slots],
            held,
            ..Progress::default()
        };
        let done = self.steps(plan, inputs, spans, &mut progress);
        if done.is_err() {
            drop(self.stream.synchronize(None, self.caller));
        }
        Ok((progress, done?))
    }

    fn steps(
        &self,
        plan: &Plan,
        inputs: &[HostTensor],
        spans: &[Span],
        progress: &mut Progress,
    ) -> GeResult<Vec<Value>> {
        let stated = types(inputs)?;
        for (index, (tensor, &span)) in inputs.iter().zip(spans).enumerate() {
            let stated = stated.get(index).cloned().flatten();
            let ty = stated.unwrap_or_else(|| plan.types[index].clone());
            let Some(bytes) = ty.bytes() else {
                return Err(GeError::new(format!(
                    "input {index} states no shape, and the graph has {ty}: pass a tensor with its dimensions"
                ))
                .code("E13025"));
            };
            let exact = span.part(0, bytes);
            progress.inputs.push(Value {
                span: exact.ok_or_else(|| too_short(index, "input", span.bytes(), bytes))?,
                ty,
                format: tensor.format,
                memory: None,
            });
        }
        self.constants(progress)?;
        for step in &self.split.steps {
            match step {
                Step::Segment(segment) => self.segment(segment, progress)?,
                Step::Call(call) => match &call.by {
                    By::Program(registered) => self.call(call, registered, progress)?,
                    By::Ranks(collective) => self.collective(call, collective, progress)?,
                },
            }
        }
        let outputs = self.split.outputs.iter();
        outputs
            .map(|&reference| progress.value(reference).cloned())
            .collect()
    }

    /// Puts the constants that calls read into memory. It is written anew for each run, as a call may change it.
    fn constants(&self, progress: &mut Progress) -> GeResult<()> {
        for (data, ty) in self
            .split
            .constants
            .iter()
            .zip(self.split.constant_types()?)
        {
            let memory = self.allocate(data.bytes.len())?;
            let span = memory.span().part(0, data.bytes.len());
            if let Some(span) = span.filter(|span| !span.is_empty()) {
                let context = &self.device.context;
                context.write(span, &data.bytes, self.caller)?;
            }
            progress.constants.push(Value {
                ty,
                format: data.desc.format,
                span: span.unwrap_or(Span::EMPTY),
                memory: None,
            });
            progress.held.push(memory);
        }
        Ok(())
    }

    /// Queues a segment; one whose shapes depend on data is waited for.
    fn segment(&self, segment: &Segment, progress: &mut Progress) -> GeResult<()> {
        let mut operands = Vec::with_capacity(segment.inputs.len());
        for &reference in &segment.inputs {
            operands.push(progress.value(reference)?.clone());
        }
        let given: Vec<_> = operands
            .iter()
            .map(|value| Some(value.ty.clone()))
            .collect();
        let plan = segment.entry.plan(self.session, &given, Family::Fresh)?;
        let model = plan.model(self.device, SuppliedMemory::default(), self.caller)?;
        let used = variables::of_plan(&self.session.variables, &plan, self.device, self.caller)?;
        let bindings = used.clone().map(|used| used as Arc<dyn Bindings>);
        let mut made = Vec::with_capacity(plan.outputs);
        if plan.description.open {
            let results = Arc::<Results>::default();
            let execute = ExecuteOpen {
                inputs: operands
                    .iter()
                    .map(|value| ShapedInput {
                        span: value.span,
                        dims: Dims::from_slice(&value.ty.shape),
                    })
                    .collect(),
                outputs: Targets::from_elem(None, plan.outputs),
                bindings,
                results: results.clone(),
                awaited: true,
                ..ExecuteOpen::default()
            };
            model.submit_open_with(self.stream, execute, self.caller)?;
            self.stream.synchronize(None, self.caller)?;
            for one in outputs::take(&results)?.into_iter().take(plan.outputs) {
                let ty = type_of(&one.dims, one.data_type)?;
                let memory = match one.allocated {
                    Some(memory) => Arc::new(memory),
                    None => self.allocate(0)?,
                };
                made.push((ty, memory));
            }
        } else {
            for info in plan.description.outputs.iter().take(plan.outputs) {
                let ty = type_of(&info.dims, info.data_type)?;
                made.push((ty, self.allocate(info.bytes)?));
            }
            let reads: Vec<Span> = operands.iter().map(|value| value.span).collect();
            let writes: Vec<Span> = made.iter().map(|(_, memory)| memory.span()).collect();
            let execute = Execute {
                inputs: &reads,
                outputs: &writes,
                bindings,
                ..Execute::default()
            };
            model.submit_with(self.stream, execute, self.caller)?;
        }
        if let Some(used) = used {
            used.note_assigned();
        }
        let held = made.iter().map(|(_, memory)| memory.clone());
        progress.held.extend(held);
        for (&slot, (ty, memory)) in segment.outputs.iter().zip(made) {
            progress.slots[slot] = Some(Value {
                ty,
                format: ge::FORMAT_ND,
                span: memory.span(),
                memory: Some(memory),
            });
        }
        Ok(())
    }

    /// Queues a collective.
    fn collective(
        &self,
        call: &Call,
        collective: &Collective,
        progress: &mut Progress,
    ) -> GeResult<()> {
        let (&[Some(reference)], &[slot]) = (&call.inputs[..], &call.outputs[..]) else {
            return Err(GeError::new(format!(
                "node {} ({}): one input and one output are required",
                call.node.name, call.node.kind
            )));
        };
        let value = progress.value(reference)?.clone();
        let ty = collective.output(&call.node, &value.ty)?;
        let memory = self.allocate(ty.bytes().unwrap_or(0))?;
        progress.held.push(memory.clone());
        let (from, to) = (value.span.part(0, value.bytes()), memory.span());
        let to = to.part(0, ty.bytes().unwrap_or(0));
        let [from, to] = [from, to].map(|span| span.unwrap_or(Span::EMPTY));
        collective.queue(&call.node, self.stream, (&value.ty, from), to)?;
        progress.slots[slot] = Some(Value {
            ty,
            format: value.format,
            span: memory.span(),
            memory: Some(memory),
        });
        Ok(())
    }

    /// Calls Execute of a custom operator.
    fn call(
        &self,
        call: &Call,
        registered: &RegisteredOperator,
        progress: &mut Progress,
    ) -> GeResult<()> {
        let depends = &registered.depends_on;
        // A constant is in memory already. Everything else is computed by what is on the stream.
        let waits = depends.iter().any(|&index| {
            matches!(
                call.inputs.get(index),
                Some(Some(ValueRef::Input(_) | ValueRef::Slot(_)))
            )
        });
        if waits {
            self.stream.synchronize(None, self.caller)?;
        }
        let mut operands = Vec::with_capacity(call.inputs.len());
        for (index, reference) in call.inputs.iter().enumerate() {
            let Some(reference) = *reference else {
                operands.push(None);
                continue;
            };
            let value = progress.value(reference)?;
            let mut contents = Vec::new();
            if registered.infers && depends.contains(&index) && value.bytes() > 0 {
                contents = vec![0; value.bytes()];
                let span = value.span.part(0, contents.len()).unwrap_or(Span::EMPTY);
                self.runtime.read(span, &mut contents, self.caller)?;
            }
            operands.push(Some(Operand {
                desc: value.desc(),
                address: value.span.address(),
                bytes: value.bytes(),
                contents,
            }));
        }
        let execution = Execution::begin(&self.device.context);
        let answer = frontend::in_context_of(self.stream, || {
            custom::execute(&call.node, &execution, self.handle, &operands)
        });
        let memory = execution.memory();
        drop(execution);
        progress.held.extend(memory.iter().cloned());
        for ((index, one), &slot) in answer?.into_iter().enumerate().zip(&call.outputs) {
            let ty = type_of(&one.desc.dims, one.desc.dtype)?;
            let shared = one
                .shares
                .and_then(|at| call.inputs.get(at).copied().flatten());
            let (span, own) = match shared {
                Some(reference) => {
                    let value = progress.value(reference)?;
                    (value.span, value.memory.clone())
                }
                None => {
                    let found = memory
                        .iter()
                        .find(|memory| memory.span().address() == one.address);
                    let found = found.ok_or_else(|| {
                        GeError::new(format!(
                            "Execute of the custom operator {} (node {}) gave output {index} memory that MallocOutputTensor did not return",
                            call.node.kind, call.node.name
                        ))
                    })?;
                    (found.span(), Some(found.clone()))
                }
            };
            progress.slots[slot] = Some(Value {
                ty,
                format: one.desc.format,
                span,
                memory: own,
            });
        }
        Ok(())
    }
}
