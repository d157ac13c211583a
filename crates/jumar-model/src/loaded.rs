//! A model on a device: weights and work memory in place, ready to be executed.
//!
//! One model has one work memory, so that two executions must not overlap. Each execution is queued as one program;
//! when it goes to another stream than the one before, it first waits for the signal that the one before sets. Nobody is
//! blocked by this: the second stream is held by an ordinary wait.

use std::sync::{Arc, OnceLock};

use jumar_core::sync::Mutex;
use jumar_core::{Block, Caller, Context, Cost, Program, Signal, Span, Stream, StreamOptions};
use jumar_graph::{Operands, Region};
use jumar_types::{Error, ErrorKind, Result};

use crate::package::{Description, Executable, Package};

/// Memory that the program under test gives for a model; `None` lets the runtime allocate it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Supplied {
    /// Work memory; one execution at a time uses it.
    pub work: Option<Span>,
    /// Memory for the weights.
    pub weights: Option<Span>,
}

/// A loaded model.
pub struct Model {
    shared: Arc<Shared>,
    context: Arc<Context>,
    /// Memory that was allocated here, to be freed at unload.
    owned: Mutex<Vec<Block>>,
    /// The device's count of memory resets when the model was loaded; a later one took the weights away.
    resets: u64,
    /// The stream of executions that the host waits for.
    own_stream: OnceLock<Arc<Stream>>,
    last: Mutex<Option<Last>>,
}

/// What a queued execution needs; it outlives an unload.
struct Shared {
    executable: Executable,
    description: Arc<Description>,
    weights: Span,
    work: Span,
}

struct Last {
    stream: u64,
    done: Arc<Signal>,
}

impl Model {
    /// Puts a model on the context's device.
    ///
    /// # Errors
    /// `NoContext`; `ModelMemory`: the device's memory is exhausted.
    pub fn load(
        package: &Package,
        context: &Arc<Context>,
        supplied: Supplied,
        caller: &Caller<'_>,
    ) -> Result<Arc<Model>> {
        let mut owned = Vec::new();
        let loaded = Self::place(package, context, supplied, caller, &mut owned);
        if loaded.is_err() {
            free(context, &owned, caller);
        }
        let (weights, work) = loaded?;
        Ok(Arc::new(Model {
            shared: Arc::new(Shared {
                executable: package.executable(),
                description: package.description().clone(),
                weights,
                work,
            }),
            context: context.clone(),
            owned: Mutex::new(owned),
            resets: context.device().resets(),
            own_stream: OnceLock::new(),
            last: Mutex::new(None),
        }))
    }

    fn place(
        package: &Package,
        context: &Arc<Context>,
        supplied: Supplied,
        caller: &Caller<'_>,
        owned: &mut Vec<Block>,
    ) -> Result<(Span, Span)> {
        let mut memory = |given: Option<Span>, bytes: usize, what: &str| match given {
            _ if bytes == 0 => Ok(Span::EMPTY),
            Some(span) => Ok(span),
            None => {
                let block = context
                    .allocate(bytes, bytes, caller)
                    .map_err(|cause| no_room(cause, bytes, what))?;
                owned.push(block);
                Ok(block.span)
            }
        };
        let weights = memory(supplied.weights, package.weight_bytes(), "weight")?;
        let work = memory(supplied.work, package.work_bytes(), "work")?;
        package.write_weights(weights, context, caller)?;
        Ok((weights, work))
    }

    /// Describes inputs and outputs.
    pub fn description(&self) -> &Arc<Description> {
        &self.shared.description
    }

    /// Queues one execution on a stream. Inputs and outputs are device memory of the described sizes, in order.
    ///
    /// # Ownership
    /// The memory has to stay allocated until the stream was waited for.
    ///
    /// # Errors
    /// `ModelExecute`: the device was reset since the model was loaded; what the stream answers.
    pub fn submit(
        &self,
        stream: &Arc<Stream>,
        inputs: &[Span],
        outputs: &[Span],
        caller: &Caller<'_>,
    ) -> Result<()> {
        if self.context.device().resets() != self.resets {
            return Err(Error::new(
                ErrorKind::ModelExecute,
                format!(
                    "model \"{}\" lost its weights when device {} was reset",
                    self.shared.description.name,
                    self.context.device().number()
                ),
            )
            .fix("Load the model again."));
        }
        let program = Arc::new(Execution {
            model: self.shared.clone(),
            inputs: inputs.into(),
            outputs: outputs.into(),
        });
        let reads: Vec<Span> = inputs
            .iter()
            .copied()
            .chain([self.shared.weights])
            .collect();
        let writes: Vec<Span> = outputs.iter().copied().chain([self.shared.work]).collect();
        if stream.is_recorded() {
            // What runs now is no part of a captured model, and nothing is queued that an unload could wait for.
            return stream.launch(program, &reads, &writes, caller).map(drop);
        }
        // The lock is held while the tasks are queued, so that two threads cannot both follow the same execution.
        let mut last = self.last.lock();
        if let Some(before) = last.as_ref()
            && before.stream != stream.id()
            && !before.done.is_set()
        {
            stream.follow(before.done.clone(), caller);
        }
        stream.launch(program, &reads, &writes, caller)?;
        let done = Arc::new(Signal::untimed());
        stream.mark(done.clone(), caller);
        *last = Some(Last {
            stream: stream.id(),
            done,
        });
        Ok(())
    }

    /// Executes once and waits. In no order with the program's own streams.
    ///
    /// # Errors
    /// As [`Model::submit`]; what the execution failed with.
    pub fn execute(&self, inputs: &[Span], outputs: &[Span], caller: &Caller<'_>) -> Result<()> {
        let stream = self.own_stream()?;
        self.submit(&stream, inputs, outputs, caller)?;
        stream.synchronize(None, caller)
    }

    fn own_stream(&self) -> Result<Arc<Stream>> {
        if let Some(stream) = self.own_stream.get() {
            return Ok(stream.clone());
        }
        let stream = self.context.create_stream(StreamOptions::default())?;
        Ok(self.own_stream.get_or_init(|| stream).clone())
    }

    /// Waits for queued executions and frees the memory that the load allocated. Executing it later answers an error.
    pub fn unload(&self, caller: &Caller<'_>) {
        if let Some(last) = self.last.lock().take()
            && !last.done.is_set()
            && let Some(stream) = self.any_stream()
        {
            stream.wait_for(&last.done);
        }
        if let Some(stream) = self.own_stream.get() {
            // A context that was destroyed has taken its streams along.
            drop(self.context.destroy_stream(stream, true, caller));
        }
        let owned = std::mem::take(&mut *self.owned.lock());
        if self.context.device().resets() == self.resets {
            free(&self.context, &owned, caller);
        }
    }

    fn any_stream(&self) -> Option<Arc<Stream>> {
        self.own_stream
            .get()
            .cloned()
            .or_else(|| self.context.default_stream().ok())
    }
}

/// Says which memory of a model there was no room for.
fn no_room(cause: Error, bytes: usize, what: &str) -> Error {
    if cause.kind() != ErrorKind::OutOfMemory {
        return cause;
    }
    let sentence = format!("there is no room for the model's {bytes} bytes of {what} memory");
    Error::new(ErrorKind::ModelMemory, sentence).caused_by(cause)
}

fn free(context: &Context, blocks: &[Block], caller: &Caller<'_>) {
    for block in blocks {
        // Memory that a program freed by mistake is gone already; there is nobody left to tell.
        drop(context.free(block.span.address(), caller));
    }
}

/// Up to this many inputs or outputs an execution allocates nothing.
const FEW: usize = 8;

/// Turns spans into regions, which name the same memory but stay on one thread.
fn regions<'a>(
    spans: &[Span],
    few: &'a mut [Region<'static>; FEW],
    many: &'a mut Vec<Region<'static>>,
) -> &'a [Region<'static>] {
    let all = spans.iter().copied().map(Region::of);
    if spans.len() > FEW {
        many.extend(all);
        return many;
    }
    few.iter_mut()
        .zip(all)
        .for_each(|(place, region)| *place = region);
    &few[..spans.len()]
}

/// One queued execution.
struct Execution {
    model: Arc<Shared>,
    inputs: Box<[Span]>,
    outputs: Box<[Span]>,
}

impl Program for Execution {
    fn run(&self) -> Result<()> {
        let model = &self.model;
        let (mut few_inputs, mut few_outputs) = ([Region::EMPTY; FEW], [Region::EMPTY; FEW]);
        let (mut many_inputs, mut many_outputs) = (Vec::new(), Vec::new());
        let memory = Operands {
            weights: Region::of(model.weights),
            arena: Region::of(model.work),
            inputs: regions(&self.inputs, &mut few_inputs, &mut many_inputs),
            outputs: regions(&self.outputs, &mut few_outputs, &mut many_outputs),
        };
        model.executable.run(&memory).map_err(|cause| {
            Error::new(
                ErrorKind::ModelExecute,
                format!("model \"{}\" failed", model.description.name),
            )
            .caused_by(cause)
        })
    }

    fn cost(&self) -> Cost {
        Cost::Large
    }

    fn name(&self) -> &str {
        &self.model.description.name
    }
}
