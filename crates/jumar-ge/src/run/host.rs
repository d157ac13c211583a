//! Runs from host memory: inputs are copied to the device, the run is waited for, and outputs are copied back.

use std::sync::Arc;

use jumar::engine::{Caller, Runtime, Span};
use jumar::offline::{
    Bindings, DeviceMemory, Dims, Execute, ExecuteOpen, Model, Results, ShapedInput,
    SuppliedMemory, Targets, TensorInfo,
};

use crate::plan::{Entry, Family, Plan, Source, Staging};
use crate::run::outputs::{self, desc_of};
use crate::run::{HostTensor, check_count, custom, too_short, types};
use crate::session::{self, Session, SessionDevice};
use crate::variables::{self, PlanVariables};
use crate::wire::Writer;
use crate::{GeError, GeResult};

/// Runs a graph and returns the reply with its outputs. The caller holds the session's turn.
pub fn run(
    session: &Arc<Session>,
    entry: &Entry,
    inputs: &[HostTensor],
    family: Family,
) -> GeResult<Vec<u8>> {
    let plan = entry.plan(session, &types(inputs)?, family)?;
    check_count(entry, &plan, inputs.len())?;
    let device = session.device()?;
    if let Source::Custom(split) = &entry.source {
        return custom::from_host(session, device, split, &plan, inputs);
    }
    session::with_runtime(|runtime, caller| {
        let run = Run {
            model: plan.model(device, SuppliedMemory::default(), caller)?,
            variables: variables::of_plan(&session.variables, &plan, device, caller)?,
            plan: &plan,
            device,
            runtime,
            caller,
        };
        let mut reply = Writer::default();
        if plan.description.open {
            run.open(inputs, &mut reply)?;
        } else {
            run.fixed(inputs, &mut reply)?;
        }
        outputs::saved(session, &plan, runtime, &mut reply, caller)?;
        Ok(reply.bytes)
    })
}

struct Run<'a> {
    model: Arc<Model>,
    variables: Option<Arc<PlanVariables>>,
    plan: &'a Plan,
    device: &'a SessionDevice,
    runtime: &'a Runtime,
    caller: &'a Caller<'a>,
}

impl Run<'_> {
    /// Runs a graph of known shapes.
    fn fixed(&self, inputs: &[HostTensor], reply: &mut Writer) -> GeResult<()> {
        let description = &self.plan.description;
        for (index, (tensor, info)) in inputs.iter().zip(&description.inputs).enumerate() {
            if tensor.bytes.len() < info.bytes {
                return Err(too_short(index, "input", tensor.bytes.len(), info.bytes));
            }
        }
        // The memory serves the next run as well, unless this one fails before it is queued.
        let kept = self.plan.staging.lock().take();
        let staging = match kept {
            Some(staging) => staging,
            None => self.stage()?,
        };
        for ((tensor, memory), info) in inputs.iter().zip(&staging.inputs).zip(&description.inputs)
        {
            self.write(memory, &tensor.bytes[..info.bytes])?;
        }
        let spans = |all: &[DeviceMemory]| all.iter().map(DeviceMemory::span).collect::<Vec<_>>();
        let execute = Execute {
            inputs: &spans(&staging.inputs),
            outputs: &spans(&staging.outputs),
            bindings: self.bindings(),
            awaited: true,
            ..Execute::default()
        };
        let ended = self
            .model
            .submit_with(&self.device.stream, execute, self.caller)
            .and_then(|_| self.device.stream.synchronize(None, self.caller));
        let read = ended.map_err(GeError::from).and_then(|()| {
            reply.u64(self.plan.outputs as u64);
            for (memory, info) in staging.outputs.iter().zip(&description.outputs) {
                let contents = self.read(memory.span(), info.bytes)?;
                outputs::tensor(reply, &desc_of(info), 0, &contents);
            }
            Ok(())
        });
        *self.plan.staging.lock() = Some(staging);
        read
    }

    /// Runs a graph whose shapes are found while it runs.
    fn open(&self, inputs: &[HostTensor], reply: &mut Writer) -> GeResult<()> {
        let mut staged = Vec::with_capacity(inputs.len());
        for tensor in inputs {
            let memory = self.allocate(tensor.bytes.len())?;
            self.write(&memory, &tensor.bytes)?;
            staged.push(memory);
        }
        let results = Arc::<Results>::default();
        let execute = ExecuteOpen {
            inputs: inputs
                .iter()
                .zip(&staged)
                .map(|(tensor, memory)| ShapedInput {
                    span: memory.span(),
                    dims: Dims::from_slice(&tensor.dims),
                })
                .collect(),
            outputs: Targets::from_elem(None, self.plan.outputs),
            bindings: self.bindings(),
            results: results.clone(),
            awaited: true,
            ..ExecuteOpen::default()
        };
        self.model
            .submit_open_with(&self.device.stream, execute, self.caller)?;
        self.device.stream.synchronize(None, self.caller)?;
        let produced = outputs::take(&results)?;
        reply.u64(self.plan.outputs as u64);
        for one in produced.iter().take(self.plan.outputs) {
            let (desc, bytes) = outputs::described(one)?;
            let span = one
                .allocated
                .as_ref()
                .map_or(Span::EMPTY, DeviceMemory::span);
            let contents = self.read(span, bytes)?;
            outputs::tensor(reply, &desc, 0, &contents);
        }
        Ok(())
    }

    fn bindings(&self) -> Option<Arc<dyn Bindings>> {
        self.variables.clone().map(|used| used as Arc<dyn Bindings>)
    }

    fn allocate(&self, bytes: usize) -> GeResult<DeviceMemory> {
        let context = &self.device.context;
        Ok(DeviceMemory::allocate(context, bytes, self.caller)?)
    }

    /// Allocates memory for inputs and outputs of known sizes.
    fn stage(&self) -> GeResult<Staging> {
        let description = &self.plan.description;
        let each = |tensors: &[TensorInfo]| {
            tensors
                .iter()
                .map(|tensor| self.allocate(tensor.bytes))
                .collect::<GeResult<Vec<_>>>()
        };
        Ok(Staging {
            inputs: each(&description.inputs[..self.plan.inputs])?,
            outputs: each(&description.outputs[..self.plan.outputs])?,
        })
    }

    fn write(&self, memory: &DeviceMemory, bytes: &[u8]) -> GeResult<()> {
        match memory.span().part(0, bytes.len()) {
            Some(span) if !bytes.is_empty() => {
                Ok(self.device.context.write(span, bytes, self.caller)?)
            }
            _ => Ok(()),
        }
    }

    fn read(&self, span: Span, bytes: usize) -> GeResult<Vec<u8>> {
        let mut contents = vec![0; bytes];
        if let Some(span) = span.part(0, bytes)
            && bytes > 0
        {
            self.runtime.read(span, &mut contents, self.caller)?;
        }
        Ok(contents)
    }
}
