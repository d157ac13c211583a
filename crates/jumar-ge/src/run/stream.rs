//! Runs on a stream: device memory is used in place, and the call returns when the work is queued.

use std::sync::Arc;

use jumar::engine::{Caller, Runtime, Span, Stream};
use jumar::offline::{
    Bindings, DeviceMemory, Dims, Execute, ExecuteOpen, Model, Results, ShapedInput, Spans,
    SuppliedMemory, Targets,
};

use crate::plan::{Entry, Family, Plan, Source};
use crate::run::outputs::{self, desc_of, tensor_on_device};
use crate::run::supplied::{device_memory, tensor_memory};
use crate::run::{HostTensor, check_count, custom, too_short, types};
use crate::session::{self, Session, SessionDevice};
use crate::variables::{self, PlanVariables};
use crate::wire::Writer;
use crate::{GeError, GeResult};

/// Queues a run and returns the reply with its outputs; a graph whose shapes depend on data is waited for.
pub fn run(
    session: &Arc<Session>,
    graph: u32,
    stream: u64,
    inputs: &[HostTensor],
    outputs: &[HostTensor],
    loaded: bool,
) -> GeResult<Vec<u8>> {
    let entry = session.graph(graph)?;
    if loaded && !entry.state.lock().loaded {
        return Err(GeError::new(format!(
            "graph {graph} was not loaded: call LoadGraph first"
        )));
    }
    let handle = stream;
    let stream = session::find_stream(handle)?;
    let fresh = session.needs_build(graph);
    let plan = entry.plan(session, &types(inputs)?, Family::Fresh)?;
    check_count(&entry, &plan, inputs.len())?;
    if outputs.len() != plan.outputs && (!outputs.is_empty() || fresh) {
        return Err(GeError::new(format!(
            "graph {graph} has {} outputs, and {} are given{}",
            plan.outputs,
            outputs.len(),
            if fresh {
                "; only a graph that was built may get none"
            } else {
                ""
            }
        )));
    }
    let device = session.device()?;
    let number = device.context.device().number();
    if stream.device() != number {
        return Err(GeError::new(format!(
            "the stream is of device {}, and the session of device {number}",
            stream.device()
        )));
    }
    session::with_runtime(|runtime, caller| {
        let run = Run {
            session,
            entry: &entry,
            plan: &plan,
            device,
            stream: &stream,
            runtime,
            caller,
        };
        let mut copied = Vec::new();
        let reads = run.inputs(inputs, &mut copied)?;
        let (targets, lent) = run.targets(outputs)?;
        if let Source::Custom(split) = &entry.source {
            let run =
                custom::Run::new((session, device), split, (&stream, handle), runtime, caller);
            session.uses(&stream);
            return run.on_stream(&plan, inputs, &reads, &targets, copied);
        }
        let (supplied, work) = supplied(runtime, &entry, &plan)?;
        let model = plan.model(device, supplied, caller)?;
        let used = variables::of_plan(&session.variables, &plan, device, caller)?;
        session.uses(&stream);
        let mut reply = if plan.description.open {
            run.open(&model, inputs, &reads, targets, used, copied)?
        } else {
            run.fixed(&model, &reads, (&targets, lent), work, used, copied)?
        };
        // A run on a stream collects no variables for the program's callback.
        reply.u64(0);
        Ok(reply.bytes)
    })
}

/// Returns the memory that the program gave the graph, for its load and for this run.
fn supplied(
    runtime: &Runtime,
    entry: &Entry,
    plan: &Plan,
) -> GeResult<(SuppliedMemory<'static>, Option<Span>)> {
    let bases = entry.state.lock().bases;
    let given = |base: Option<(usize, usize)>, needs: usize, what: &str| match base {
        Some((_, bytes)) if bytes < needs => Err(GeError::new(format!(
            "the {what} has {bytes} bytes, and graph {} needs {needs} for these inputs",
            entry.number
        ))),
        Some((address, _)) => device_memory(runtime, address, needs, what).map(Some),
        None => Ok(None),
    };
    let work = given(bases.work, plan.sizes.0, "feature memory")?;
    let supplied = SuppliedMemory {
        weights: given(bases.constants, plan.sizes.1, "constant memory")?,
        work,
        ..SuppliedMemory::default()
    };
    Ok((supplied, work))
}

/// Memory that the session allocated for outputs of a run.
type OutputAllocations = Vec<Arc<DeviceMemory>>;

struct Run<'a> {
    session: &'a Session,
    entry: &'a Entry,
    plan: &'a Plan,
    device: &'a SessionDevice,
    stream: &'a Arc<Stream>,
    runtime: &'a Runtime,
    caller: &'a Caller<'a>,
}

impl Run<'_> {
    /// Finds the memory of the inputs. Those that the program may leave on the host are copied to memory of the run.
    fn inputs(
        &self,
        inputs: &[HostTensor],
        copied: &mut Vec<Arc<DeviceMemory>>,
    ) -> GeResult<Vec<Span>> {
        let description = &self.plan.description;
        let on_host = session::host_inputs(self.session, self.entry);
        let mut spans = Vec::with_capacity(inputs.len());
        for (index, tensor) in inputs.iter().enumerate() {
            let needs = if description.open {
                tensor.span.bytes()
            } else {
                description.inputs[index].bytes
            };
            if !on_host.contains(&index) {
                let span = tensor_memory(self.runtime, tensor, needs, index, "input")?;
                spans.push(span);
                continue;
            }
            if tensor.bytes.len() < needs {
                return Err(too_short(index, "input", tensor.bytes.len(), needs));
            }
            let memory = DeviceMemory::allocate(&self.device.context, needs, self.caller)?;
            if let Some(span) = memory.span().part(0, needs)
                && needs > 0
            {
                let context = &self.device.context;
                context.write(span, &tensor.bytes[..needs], self.caller)?;
            }
            spans.push(memory.span());
            copied.push(Arc::new(memory));
        }
        Ok(spans)
    }

    /// Finds the memory of the outputs, and allocates those that the program does not provide if their sizes are known.
    fn targets(&self, outputs: &[HostTensor]) -> GeResult<(Targets, OutputAllocations)> {
        let description = &self.plan.description;
        let mut targets = Targets::with_capacity(self.plan.outputs);
        let mut lent = Vec::new();
        for index in 0..self.plan.outputs {
            let tensor = outputs
                .get(index)
                .filter(|tensor| tensor.span.address() != 0);
            let needs = if description.open {
                tensor.map_or(0, |tensor| tensor.span.bytes())
            } else {
                description.outputs[index].bytes
            };
            targets.push(match tensor {
                Some(tensor) => Some(tensor_memory(self.runtime, tensor, needs, index, "output")?),
                None if description.open => None,
                None => {
                    let context = &self.device.context;
                    let memory = DeviceMemory::allocate(context, needs, self.caller)?;
                    let span = memory.span();
                    lent.push(Arc::new(memory));
                    Some(span)
                }
            });
        }
        Ok((targets, lent))
    }

    /// Queues a run of known shapes and returns the outputs.
    fn fixed(
        &self,
        model: &Model,
        reads: &[Span],
        (targets, lent): (&[Option<Span>], OutputAllocations),
        work: Option<Span>,
        used: Option<Arc<PlanVariables>>,
        copied: Vec<Arc<DeviceMemory>>,
    ) -> GeResult<Writer> {
        let writes: Spans = targets.iter().copied().flatten().collect();
        let execute = Execute {
            inputs: reads,
            outputs: &writes,
            work,
            bindings: bindings(used.as_ref()),
            ..Execute::default()
        };
        let done = model.submit_with(self.stream, execute, self.caller)?;
        self.session.lend(lent, self.stream, done.as_ref());
        self.session.keep(copied, done);
        if let Some(used) = used {
            used.note_assigned();
        }
        let mut reply = Writer::default();
        reply.u64(self.plan.outputs as u64);
        for (info, target) in self.plan.description.outputs.iter().zip(targets) {
            let address = target.map_or(0, Span::address);
            tensor_on_device(&mut reply, &desc_of(info), address, info.bytes);
        }
        Ok(reply)
    }

    /// Performs a run whose shapes depend on the data: the caller has to wait for them.
    fn open(
        &self,
        model: &Model,
        inputs: &[HostTensor],
        reads: &[Span],
        targets: Targets,
        used: Option<Arc<PlanVariables>>,
        copied: Vec<Arc<DeviceMemory>>,
    ) -> GeResult<Writer> {
        let results = Arc::<Results>::default();
        let execute = ExecuteOpen {
            inputs: inputs
                .iter()
                .zip(reads)
                .map(|(tensor, span)| ShapedInput {
                    span: *span,
                    dims: Dims::from_slice(&tensor.dims),
                })
                .collect(),
            outputs: targets.clone(),
            bindings: bindings(used.as_ref()),
            results: results.clone(),
            awaited: true,
            ..ExecuteOpen::default()
        };
        let done = model.submit_open_with(self.stream, execute, self.caller)?;
        self.session.keep(copied, done.clone());
        self.stream.synchronize(None, self.caller)?;
        let produced = outputs::take(&results)?;
        let mut reply = Writer::default();
        reply.u64(self.plan.outputs as u64);
        for (mut one, target) in produced.into_iter().take(self.plan.outputs).zip(targets) {
            let (desc, bytes) = outputs::described(&one)?;
            let address = match (one.allocated.take(), target) {
                (Some(memory), _) => {
                    let address = memory.span().address();
                    let memory = [Arc::new(memory)];
                    self.session.lend(memory, self.stream, done.as_ref());
                    address
                }
                (None, target) => target.map_or(0, Span::address),
            };
            tensor_on_device(&mut reply, &desc, address, bytes);
        }
        Ok(reply)
    }
}

fn bindings(used: Option<&Arc<PlanVariables>>) -> Option<Arc<dyn Bindings>> {
    used.map(|used| used.clone() as Arc<dyn Bindings>)
}
