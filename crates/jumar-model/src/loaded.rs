//! A model on a device: weights and work memory in place, ready to be executed.
//!
//! One model has one work memory, so that two executions must not overlap. Each execution is queued as one program;
//! when it goes to another stream than the one before, it first waits for the signal that the one before sets. No thread is
//! blocked by this: the second stream is blocked by an ordinary wait.

mod bindings;
mod gears;
mod open;
mod usage;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use jumar_core::sync::{AtomicBool, AtomicU32, Mutex, Ordering};
use jumar_core::{
    Block, Call, Caller, Context, Cost, Lookups, Program, Signal, Span, SpinLock, Stream, Team,
};
use jumar_graph::{
    BufferKind, Executable, FailedStep, GraphError, NodeObserver, Operand, Operands, Plan, Region,
    Share, TensorType, Workers,
};
use jumar_types::{Error, ErrorKind, FailedOperator, FailedTensor, Result};
use smallvec::SmallVec;

use crate::file::Backing;
use crate::memory::DeviceMemory;
use crate::own_streams::OwnStreams;
use crate::package::{Description, ExternalWeight, Package, refused};
use bindings::Binding;
pub use bindings::{Bindings, Bound};
use gears::chosen;
pub use gears::gear_values;
use open::OpenExecution;
pub(crate) use open::{Lender, Pool};
use usage::{InUse, Usage};

/// Memory that the program provides for a model; `None` lets the runtime allocate it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SuppliedMemory<'a> {
    /// Work memory; one execution at a time uses it.
    pub work: Option<Span>,
    /// Memory for the weights.
    pub weights: Option<Span>,
    /// Whether a failed execution may omit its operator.
    pub forgetful: bool,
    /// Files of weights that are in the device's memory already, by name; the last of a name counts. Each is as long as the
    /// file at least.
    ///
    /// # Ownership
    /// Where one holds all the weights, it is used where it lies and has to stay until the unload.
    pub external_weights: &'a [ExternalWeight],
}

/// A loaded model.
pub struct Model {
    shared: Arc<SharedModel>,
    /// Memory that was allocated here, to be freed at unload.
    owned: Mutex<Vec<Block>>,
    /// The life of the device that the model was loaded in; its end took the weights away.
    epoch: u64,
    /// The streams of executions that the host waits for, one for each priority.
    own_streams: OwnStreams,
    /// The priority of executions that name none: 0 is served first, 7 last.
    priority: AtomicU32,
    submissions: Mutex<Submissions>,
}

/// The name under which the runtime releases a model that was not unloaded.
static RELEASE: Call = Call {
    name: "the release of a model",
    number: u16::MAX,
};

/// What a queued execution needs; it outlives an unload.
struct SharedModel {
    context: Arc<Context>,
    executable: Arc<Executable>,
    description: Arc<Description>,
    weights: Span,
    work: Span,
    forgetful: bool,
    /// The file that the weights are used in, where they were not copied.
    backing: Option<Backing>,
    /// Device memory that earlier executions of unknown sizes took, for the next one.
    pool: Pool,
    observer: OnceLock<Arc<dyn Observer>>,
    /// The device's workers.
    team: Threads,
    /// Plans that were made for dimensions that came, the latest last.
    plans: SpinLock<Vec<Arc<ShapePlan>>>,
    /// Whether knowing the inputs' dimensions is not enough for a plan.
    unplannable: AtomicBool,
    /// The executions that run: captured ones may begin after the unload.
    usage: Usage,
}

/// The device's workers, as kernels see them.
pub(crate) struct Threads(pub(crate) Team);

impl Share for Threads {
    fn threads(&self) -> usize {
        self.0.threads()
    }

    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.0.share(parts, work);
    }
}

/// An observer of a model's executions, node by node.
pub trait Observer: Send + Sync {
    /// Sees an execution begin on the stream of that number; none lets it run unwatched.
    fn begin(&self, stream: u32) -> Option<Box<dyn NodeObserver>>;
}

/// A plan for dimensions that the inputs of a model of unknown sizes had.
pub struct ShapePlan {
    inputs: Vec<Vec<i64>>,
    plan: Plan,
    /// The types of the outputs.
    outputs: Vec<TensorType>,
    /// The bytes of each output.
    output_bytes: Vec<usize>,
}

/// How many plans a model of dynamic dimensions keeps.
const PLANS: usize = 16;

/// Dimensions of a tensor. Those of most tensors need no allocation.
pub type Dims = SmallVec<[i64; 4]>;

/// Memory of the inputs or the outputs of an execution. Most models have so few that they need no allocation.
pub type Spans = SmallVec<[Span; 4]>;

/// Memory of the outputs of an execution of unknown sizes, in order; `None` lets the execution allocate it.
pub type Targets = SmallVec<[Option<Span>; 2]>;

/// An output of a model whose shapes are found while it runs.
#[derive(Debug)]
pub struct ProducedOutput {
    /// The number of the element type in the ACL interface.
    pub data_type: i32,
    /// The real dimensions.
    pub dims: Dims,
    /// Memory that was allocated for it, where none was given.
    pub allocated: Option<DeviceMemory>,
}

/// Where an execution of unknown sizes leaves what it found; empty until it has run.
#[derive(Default)]
pub struct Results {
    produced: Mutex<Option<Vec<ProducedOutput>>>,
}

impl Results {
    /// Takes what the execution found.
    pub fn take(&self) -> Option<Vec<ProducedOutput>> {
        self.produced.lock().take()
    }
}

/// An input with the dimensions that it really has.
#[derive(Clone, Debug)]
pub struct ShapedInput {
    /// The memory.
    pub span: Span,
    /// The dimensions.
    pub dims: Dims,
}

/// What was submitted to a model, and whether more may be.
#[derive(Default)]
struct Submissions {
    last: Option<Last>,
    unloaded: bool,
}

/// The execution that was submitted last.
struct Last {
    stream: u64,
    done: Arc<Signal>,
}

/// What one execution of a model of known sizes works on.
#[derive(Clone, Default)]
pub struct Execute<'a> {
    /// Device memory of the described sizes, in order.
    pub inputs: &'a [Span],
    /// Device memory of the described sizes, in order.
    pub outputs: &'a [Span],
    /// Work memory of the caller's, in place of the model's own.
    pub work: Option<Span>,
    /// Inputs and outputs that are chosen when the execution begins; they follow the others.
    pub bindings: Option<Arc<dyn Bindings>>,
    /// Whether the calling thread waits for the stream next. It then runs the execution, and wakes no worker for it.
    pub awaited: bool,
}

/// What one execution of a model of unknown sizes works on.
#[derive(Clone, Default)]
pub struct ExecuteOpen {
    /// Device memory and dimensions, in order.
    pub inputs: Vec<ShapedInput>,
    /// Device memory, in order; `None` lets the execution allocate it.
    pub outputs: Targets,
    /// Work memory of the caller's, as much as the plan for these inputs takes.
    pub work: Option<Span>,
    /// Inputs and outputs that are chosen when the execution begins; they follow the others.
    pub bindings: Option<Arc<dyn Bindings>>,
    /// Where the execution leaves what came out.
    pub results: Arc<Results>,
    /// As [`Execute::awaited`].
    pub awaited: bool,
}

impl Model {
    /// Puts a model on the context's device.
    ///
    /// # Errors
    /// `NoContext`; `ModelMemory`: the device's memory is exhausted.
    pub fn load(
        package: &Package,
        context: &Arc<Context>,
        supplied: SuppliedMemory<'_>,
        caller: &Caller<'_>,
    ) -> Result<Arc<Model>> {
        let mut owned = Vec::new();
        let loaded = Self::allocate(package, context, supplied, caller, &mut owned);
        if loaded.is_err() {
            free(context, &owned, caller);
        }
        let (weights, work, backing) = loaded?;
        Ok(Arc::new(Model {
            shared: Arc::new(SharedModel {
                context: context.clone(),
                executable: package.executable(),
                description: package.description().clone(),
                weights,
                work,
                forgetful: supplied.forgetful,
                backing,
                pool: Pool::default(),
                observer: OnceLock::new(),
                team: Threads(context.team()),
                plans: SpinLock::default(),
                unplannable: AtomicBool::new(false),
                usage: Usage::default(),
            }),
            owned: Mutex::new(owned),
            epoch: context.epoch(),
            own_streams: OwnStreams::default(),
            priority: AtomicU32::new(0),
            submissions: Mutex::default(),
        }))
    }

    fn allocate(
        package: &Package,
        context: &Arc<Context>,
        supplied: SuppliedMemory<'_>,
        caller: &Caller<'_>,
        owned: &mut Vec<Block>,
    ) -> Result<(Span, Span, Option<Backing>)> {
        let mut memory = |given: Option<Span>, bytes: usize, what: &str| match given {
            _ if bytes == 0 => Ok(Span::EMPTY),
            Some(span) => Ok(span),
            None => {
                let block = context
                    .allocate(bytes, bytes, caller)
                    .map_err(|cause| no_memory(cause, bytes, what))?;
                owned.push(block);
                Ok(block.span)
            }
        };
        let work = memory(supplied.work, package.work_bytes(), "work")?;
        if let (None, Some(span)) = (
            supplied.weights,
            package.weights_in_place(supplied.external_weights),
        ) {
            return Ok((span, work, None));
        }
        let in_file = match supplied.weights {
            Some(_) => None,
            None => package.weights_in_file()?,
        };
        if let Some((image, backing)) = in_file {
            match context.allocate_file(&image, caller) {
                Ok((block, mapping)) => {
                    owned.push(block);
                    return Ok((block.span, work, Some(backing.mapped(mapping))));
                }
                // Another kind of device, or more files than it can watch: the weights are copied.
                Err(error) if error.kind() == ErrorKind::FeatureUnsupported => {}
                Err(error) => return Err(no_memory(error, image.bytes, "weight")),
            }
        }
        let weights = memory(supplied.weights, package.weight_bytes(), "weight")?;
        package.write_weights(weights, supplied.external_weights, context, caller)?;
        Ok((weights, work, None))
    }

    /// Has the executions from now on watched. The first observer stays.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        // There is one slot for an observer, and no caller sets a second one.
        let _ = self.shared.observer.set(observer);
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
        let execute = Execute {
            inputs,
            outputs,
            ..Execute::default()
        };
        self.submit_with(stream, execute, caller).map(drop)
    }

    /// Queues one execution. Returns the signal of its end; `None` on a stream that is captured, where nothing runs now.
    ///
    /// # Ownership
    /// The memory has to stay allocated until the execution has ended, and where it was captured as long as the captured model.
    ///
    /// # Errors
    /// As [`Model::submit`].
    pub fn submit_with(
        &self,
        stream: &Arc<Stream>,
        execute: Execute<'_>,
        caller: &Caller<'_>,
    ) -> Result<Option<Arc<Signal>>> {
        self.submit_planned(stream, execute, None, caller)
    }

    /// As [`Model::submit_with`]. A model of unknown sizes needs the plan for the dimensions of the inputs.
    fn submit_planned(
        &self,
        stream: &Arc<Stream>,
        execute: Execute<'_>,
        plan: Option<Arc<ShapePlan>>,
        caller: &Caller<'_>,
    ) -> Result<Option<Arc<Signal>>> {
        let work = execute.work.unwrap_or(self.shared.work);
        let (mut reads, mut writes) = gears::used(&self.shared.description, stream, &execute);
        reads.push(self.shared.weights);
        writes.push(work);
        if let Some(bindings) = &execute.bindings {
            bindings.touches(&mut reads, &mut writes);
        }
        let program = Arc::new(Execution {
            model: self.shared.clone(),
            stream: stream.number(),
            inputs: Spans::from_slice(execute.inputs),
            outputs: Spans::from_slice(execute.outputs),
            work,
            plan,
            call: caller.call,
            bindings: execute.bindings,
            awaited: execute.awaited,
        });
        self.queue(stream, program, &reads, &writes, caller)
    }

    /// Queues one execution of a model whose shapes are found while it runs. An output without memory gets some from the
    /// device; what came out is left in `results`.
    ///
    /// # Ownership
    /// As [`Model::submit`]. Memory that was allocated for an output is freed with the results.
    ///
    /// # Errors
    /// As [`Model::submit`].
    pub fn submit_open(
        &self,
        stream: &Arc<Stream>,
        inputs: Vec<ShapedInput>,
        outputs: Targets,
        results: Arc<Results>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let execute = ExecuteOpen {
            inputs,
            outputs,
            results,
            ..ExecuteOpen::default()
        };
        self.submit_open_with(stream, execute, caller).map(drop)
    }

    /// Returns the work memory that an execution with inputs of these dimensions takes, for [`ExecuteOpen::work`].
    /// `None`: it depends on more than dimensions, or there is no such execution, as the execution itself will say.
    ///
    /// # Units
    /// Bytes.
    pub fn open_work_bytes(&self, inputs: &[ShapedInput]) -> Option<usize> {
        let Executable::Dynamic(dynamic) = &*self.shared.executable else {
            return None;
        };
        let plan = self.shared.plan_for(dynamic, inputs).ok().flatten()?;
        Some(plan.plan.arena_bytes)
    }

    /// Queues one execution of a model whose shapes are found while it runs. Returns the signal of its end; `None` on a
    /// stream that is captured, where nothing runs now.
    ///
    /// # Ownership
    /// As [`Model::submit_open`]. What is queued on the stream later may use the work memory again.
    ///
    /// # Errors
    /// As [`Model::submit`].
    pub fn submit_open_with(
        &self,
        stream: &Arc<Stream>,
        execute: ExecuteOpen,
        caller: &Caller<'_>,
    ) -> Result<Option<Arc<Signal>>> {
        let mut reads: Spans = execute.inputs.iter().map(|input| input.span).collect();
        reads.push(self.shared.weights);
        let mut writes: Spans = execute.outputs.iter().copied().flatten().collect();
        writes.extend(execute.work);
        if let Some(bindings) = &execute.bindings {
            bindings.touches(&mut reads, &mut writes);
        }
        let program = Arc::new(OpenExecution {
            model: self.shared.clone(),
            stream: stream.number(),
            call: caller.call,
            stop: stream.stop_token(),
            execute,
        });
        self.queue(stream, program, &reads, &writes, caller)
    }

    fn queue(
        &self,
        stream: &Arc<Stream>,
        program: Arc<dyn Program>,
        reads: &[Span],
        writes: &[Span],
        caller: &Caller<'_>,
    ) -> Result<Option<Arc<Signal>>> {
        if self.shared.context.device().epoch() != self.epoch {
            return Err(Error::new(
                ErrorKind::ModelExecute,
                format!(
                    "model \"{}\" lost its weights when device {} was reset",
                    self.shared.description.name,
                    self.shared.context.device().number()
                ),
            )
            .fix("Load the model again."));
        }
        // The lock is held while the tasks are queued, so that two threads cannot both follow the same execution, and so
        // that an unload waits for all of them.
        let mut submissions = self.submissions.lock();
        if submissions.unloaded {
            return Err(self.shared.unloaded());
        }
        let before = submissions
            .last
            .as_ref()
            .filter(|before| before.stream != stream.id() && !before.done.is_set())
            .map(|before| before.done.clone());
        let done = Arc::new(Signal::untimed());
        let queued =
            stream.launch_in_turn(program, (reads, writes), before, done.clone(), caller)?;
        // An execution that was recorded does not run now, so there is nothing that an unload could wait for.
        if !queued {
            return Ok(None);
        }
        submissions.last = Some(Last {
            stream: stream.id(),
            done: done.clone(),
        });
        Ok(Some(done))
    }

    /// Executes a model of unknown sizes once and waits, if an earlier execution had inputs of the same dimensions and every output has
    /// memory that is large enough. Returns what describes the outputs; `None`: nothing was executed, and [`Model::execute_open`] does it.
    ///
    /// # Errors
    /// As [`Model::execute`].
    pub fn execute_again(
        &self,
        inputs: &[ShapedInput],
        outputs: &[Option<Span>],
        caller: &Caller<'_>,
    ) -> Result<Option<Arc<ShapePlan>>> {
        let Some(plan) = self.shared.known_plan(inputs) else {
            return Ok(None);
        };
        let Some(outputs) = plan.targets(outputs) else {
            return Ok(None);
        };
        let inputs: Spans = inputs.iter().map(|input| input.span).collect();
        let execute = Execute {
            inputs: &inputs,
            outputs: &outputs,
            awaited: true,
            ..Execute::default()
        };
        self.run_awaited(execute, Some(plan.clone()), caller)?;
        Ok(Some(plan))
    }

    /// Executes a model of unknown sizes once and waits, as [`Model::submit_open`].
    ///
    /// # Errors
    /// As [`Model::submit_open`]; what the execution failed with.
    pub fn execute_open(
        &self,
        inputs: Vec<ShapedInput>,
        outputs: Targets,
        results: Arc<Results>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let stream = self.own_stream()?;
        let execute = ExecuteOpen {
            inputs,
            outputs,
            results,
            awaited: true,
            ..ExecuteOpen::default()
        };
        self.submit_open_with(&stream, execute, caller)?;
        stream.synchronize(None, caller)
    }

    /// Executes once and waits. In no order with the program's own streams.
    ///
    /// # Errors
    /// As [`Model::submit`]; what the execution failed with.
    pub fn execute(&self, inputs: &[Span], outputs: &[Span], caller: &Caller<'_>) -> Result<()> {
        let execute = Execute {
            inputs,
            outputs,
            awaited: true,
            ..Execute::default()
        };
        self.run_awaited(execute, None, caller)
    }

    fn run_awaited(
        &self,
        execute: Execute<'_>,
        plan: Option<Arc<ShapePlan>>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let stream = self.own_stream()?;
        self.submit_planned(&stream, execute, plan, caller)?;
        stream.synchronize(None, caller)
    }

    /// Sets the priority of executions that the host waits for. It counts from the next one on.
    pub fn set_priority(&self, priority: u8) {
        self.priority.store(priority.into(), Ordering::Relaxed);
    }

    /// Returns the size of the work memory.
    ///
    /// # Units
    /// Bytes.
    pub fn work_bytes(&self) -> usize {
        self.shared.work.bytes()
    }

    /// Returns the stream of executions that the host waits for.
    ///
    /// # Errors
    /// What the context answers.
    pub fn own_stream(&self) -> Result<Arc<Stream>> {
        self.own_stream_of(self.priority.load(Ordering::Relaxed).min(7) as u8)
    }

    /// Returns the stream of executions of one priority that the host waits for; 0 is served first, and 7 is the last there is.
    ///
    /// # Errors
    /// What the context answers.
    pub fn own_stream_of(&self, priority: u8) -> Result<Arc<Stream>> {
        self.own_streams.of(&self.shared.context, priority)
    }

    /// Returns whether every execution that was queued is over.
    pub fn is_idle(&self) -> bool {
        let submissions = self.submissions.lock();
        submissions
            .last
            .as_ref()
            .is_none_or(|last| last.done.is_set())
    }

    /// Waits for queued executions and frees the memory that the load allocated. Executing the model later answers
    /// `ModelExecute`, also as a part of a captured model. Only the first call does something; dropping the model calls it, too.
    pub fn unload(&self, caller: &Caller<'_>) {
        let last = {
            let mut submissions = self.submissions.lock();
            if std::mem::replace(&mut submissions.unloaded, true) {
                return;
            }
            submissions.last.take()
        };
        if let Some(last) = last
            && !last.done.is_set()
            && let Some(stream) = self.any_stream()
        {
            stream.wait_for(&last.done);
        }
        self.shared.usage.close();
        self.shared.context.recheck_captured();
        for stream in self.own_streams.close() {
            // A context that was destroyed has taken its streams along.
            drop(self.shared.context.destroy_stream(stream, true, caller));
        }
        self.shared.pool.empty();
        let owned = std::mem::take(&mut *self.owned.lock());
        if self.shared.context.device().epoch() == self.epoch {
            free(&self.shared.context, &owned, caller);
        }
    }

    fn any_stream(&self) -> Option<Arc<Stream>> {
        self.own_streams
            .made()
            .next()
            .cloned()
            .or_else(|| self.shared.context.default_stream().ok())
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let lookups = Lookups::default();
        self.unload(&Caller::new(&RELEASE, &lookups));
    }
}

impl SharedModel {
    /// Marks the beginning of an execution. The memory of the model stays until the returned value is dropped.
    ///
    /// # Errors
    /// `ModelExecute`: the model was unloaded.
    fn enter(&self) -> Result<InUse<'_>> {
        self.usage.enter().ok_or_else(|| self.unloaded())
    }

    /// Reports an execution after the unload.
    fn unloaded(&self) -> Error {
        Error::new(
            ErrorKind::ModelExecute,
            format!("model \"{}\" was unloaded", self.description.name),
        )
        .object(format!("model \"{}\"", self.description.name))
        .fix("Unload a model after its last execution, and after the last execution of each captured model that contains it.")
    }

    /// Returns why executions are refused, if they are.
    fn check(&self) -> Result<()> {
        match self.usage.is_closed() {
            true => Err(self.unloaded()),
            false => Ok(()),
        }
    }

    /// Runs with weights that are what was written, or not at all.
    fn guarded(&self, run: impl FnOnce() -> jumar_graph::Result<()>) -> Result<()> {
        let unsound = |error: Error| {
            let name = format!("model \"{}\" failed", self.description.name);
            Error::new(ErrorKind::ModelExecute, name).caused_by(error)
        };
        if let Some(backing) = &self.backing {
            backing.before().map_err(unsound)?;
        }
        let ran = run();
        // A result from weights that changed meanwhile is invalid, and is not an error of the model either.
        if let Some(backing) = &self.backing {
            backing.after().map_err(unsound)?;
        }
        ran.map_err(|error| failed(self, &error))
    }

    /// Describes the step of a plan that failed, with its tensors where they lie in this execution.
    fn failed_operator(
        &self,
        step: &FailedStep,
        (inputs, outputs): (&[Span], &[Span]),
        work: Span,
    ) -> FailedOperator {
        let tensor = |operand: &Operand| {
            let span = match operand.buffer() {
                BufferKind::Input(index) => inputs.get(index as usize).copied(),
                BufferKind::Output(index) => outputs.get(index as usize).copied(),
                BufferKind::Weight => Some(self.weights),
                BufferKind::Arena => Some(work),
                // It is in no memory of the device.
                BufferKind::Constant => None,
            };
            FailedTensor {
                data_type: operand.dtype().acl(),
                dims: operand
                    .layout()
                    .shape()
                    .iter()
                    .map(|&dim| dim as i64)
                    .collect(),
                address: span.map_or(0, |span| span.address() + operand.offset()),
            }
        };
        FailedOperator {
            name: step.name.clone(),
            inputs: step.inputs.iter().map(tensor).collect(),
            outputs: step.outputs.iter().map(tensor).collect(),
        }
    }

    /// Starts the observation of an execution, if there is an observer.
    fn observer(&self, stream: u32) -> Option<Box<dyn NodeObserver>> {
        self.observer.get()?.begin(stream)
    }
}

/// Names the memory of a model that could not be allocated.
fn no_memory(cause: Error, bytes: usize, what: &str) -> Error {
    if cause.kind() != ErrorKind::OutOfMemory {
        return cause;
    }
    let sentence =
        format!("the device has not enough memory for the model's {bytes} bytes of {what} memory");
    Error::new(ErrorKind::ModelMemory, sentence).caused_by(cause)
}

fn free(context: &Context, blocks: &[Block], caller: &Caller<'_>) {
    for block in blocks {
        // Memory that a program freed by mistake is gone already; there is no caller left to report it to.
        drop(context.free(block.span.address(), caller));
    }
}

/// Memory as kernels see it.
type Regions = SmallVec<[Region<'static>; 8]>;

/// Turns spans into regions, which name the same memory but stay on one thread.
fn regions(spans: impl ExactSizeIterator<Item = Span>) -> Regions {
    spans.map(Region::of).collect()
}

/// Adds the model to an error.
fn failed(model: &SharedModel, error: &GraphError) -> Error {
    let name = format!("model \"{}\" failed", model.description.name);
    Error::new(ErrorKind::ModelExecute, name).caused_by(refused(error, None))
}

/// One queued execution.
struct Execution {
    model: Arc<SharedModel>,
    stream: u32,
    inputs: Spans,
    outputs: Spans,
    work: Span,
    /// The plan for the dimensions of the inputs, of a model of unknown sizes.
    plan: Option<Arc<ShapePlan>>,
    call: &'static Call,
    bindings: Option<Arc<dyn Bindings>>,
    awaited: bool,
}

impl Program for Execution {
    fn run(&self) -> Result<()> {
        let model = &self.model;
        let _in_use = model.enter()?;
        let binding = Binding::begin(self.bindings.as_deref(), &model.description.name)?;
        let mut inputs = Cow::Borrowed(&*self.inputs);
        let mut outputs = Cow::Borrowed(&*self.outputs);
        if let Some(bound) = binding.bound() {
            inputs
                .to_mut()
                .extend(bound.inputs.iter().map(|input| input.span));
            outputs.to_mut().extend(&bound.outputs);
        }
        let plan = match (&*model.executable, &self.plan) {
            (Executable::Planned(plan), _) => plan,
            (Executable::Geared(plans), _) => chosen(&model.description, plans, &inputs)?,
            (Executable::Dynamic(_), Some(shaped)) => &shaped.plan,
            (Executable::Dynamic(_), None) => {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "a model of unknown sizes was run as one of known sizes",
                ));
            }
        };
        let lent = match &self.plan {
            Some(_) if plan.arena_bytes > 0 => {
                let lent = model.pool.lend(&model.context, plan.arena_bytes, self.call);
                Some(lent.map_err(|error| failed(model, &open::no_memory(&error)))?)
            }
            _ => None,
        };
        let work = lent.as_ref().map_or(self.work, |lent| lent.span);
        let memory = Operands {
            weights: Region::of(model.weights),
            arena: Region::of(work),
            constants: Region::EMPTY,
            inputs: &regions(inputs.iter().copied()),
            outputs: &regions(outputs.iter().copied()),
            workers: Workers::of(&model.team),
        };
        let mut operator = None;
        let ran = model.guarded(|| {
            let ran = match model.observer(self.stream) {
                None => plan.run(&memory),
                Some(observer) => plan.run_observed(&memory, &*observer),
            };
            ran.inspect_err(|error| {
                operator = error
                    .step()
                    .filter(|_| !model.forgetful)
                    .map(|step| Arc::new(model.failed_operator(step, (&inputs, &outputs), work)));
            })
        });
        ran.map_err(|error| match operator {
            None => error,
            Some(operator) => error.at_operator(operator),
        })?;
        binding.commit();
        Ok(())
    }

    fn check(&self) -> Result<()> {
        self.model.check()
    }

    fn cost(&self) -> Cost {
        Cost::Large
    }

    fn is_awaited(&self) -> bool {
        self.awaited
    }

    fn name(&self) -> &str {
        &self.model.description.name
    }
}
