//! Single operators: a compiled operator with its constants, and executions of it that own all that they need.
//!
//! Work memory belongs to an execution while it runs, so that executions on several streams do not wait for each other and
//! a captured one may run at any time. An operator has no device: it lives in host memory and runs on memory of any device.

use std::sync::Arc;

use jumar_core::sync::{AtomicU64, Mutex, Ordering};
use jumar_core::{Call, Caller, Context, Cost, Lookups, Program, Span, StopToken};
use jumar_graph::{
    Block, Executable, GraphError, GraphErrorKind, Operands, Plan, Region, TensorType, Tensorlike,
    Workers, copy_region,
};
use jumar_lowering::{CompiledOperator, SingleSource, SingleTarget};
use jumar_types::{Error, ErrorKind, Result};

use crate::loaded::{Lender, Pool, Threads};
use crate::package::refused;

/// A compiled operator.
///
/// # Threads
/// Executions may run at the same time.
pub struct Operator {
    name: String,
    executable: Executable,
    constants: Block,
    sources: Vec<SingleSource>,
    targets: Vec<SingleTarget>,
    /// The types of the outputs, as far as they are known before an execution.
    types: Vec<TensorType>,
    /// How many executions have drawn random numbers.
    draws: AtomicU64,
    /// Host memory of executions that have ended.
    spare: Mutex<Vec<Block>>,
}

/// At most so many blocks of work memory are kept, and none that is larger.
const SPARE_BLOCKS: usize = 4;
const SPARE_BYTES: usize = 16 << 20;

impl Operator {
    /// Prepares a compiled operator.
    ///
    /// # Errors
    /// `ModelInvalid`: no plan can be made.
    pub fn new(compiled: &CompiledOperator) -> Result<Operator> {
        let model = &compiled.model;
        let executable = model.executable().map_err(|error| refused(&error, None))?;
        let constants = model
            .weight_bytes(&[])
            .map_err(|error| refused(&error, None))?;
        let graph = model.graph();
        Ok(Operator {
            name: model.description().name.clone(),
            executable,
            constants: Block::of(&constants),
            sources: compiled.sources.clone(),
            targets: compiled.targets.clone(),
            types: graph
                .outputs
                .iter()
                .map(|output| graph.value(output.value).ty.clone())
                .collect(),
            draws: AtomicU64::new(0),
            spare: Mutex::default(),
        })
    }

    /// Reports whether shapes of outputs are found by an execution.
    pub fn finds_shapes(&self) -> bool {
        matches!(self.executable, Executable::Dynamic(_))
    }

    /// Reports whether an execution reads an input.
    pub fn reads(&self, input: usize) -> bool {
        self.sources.contains(&SingleSource::Input(input))
    }

    /// Reports whether an execution writes an input.
    pub fn updates(&self, input: usize) -> bool {
        self.targets.contains(&SingleTarget::Input(input))
    }

    /// Returns the type of an output, where it is known before an execution.
    pub fn output_type(&self, output: usize) -> Option<&TensorType> {
        let own = SingleTarget::Output(output);
        let index = self.targets.iter().position(|target| *target == own)?;
        self.types.get(index)
    }

    fn take(&self, bytes: usize) -> Block {
        let mut spare = self.spare.lock();
        let fitting = spare.iter().position(|block| block.bytes().len() >= bytes);
        let taken = fitting.map(|index| spare.swap_remove(index));
        drop(spare);
        taken.unwrap_or_else(|| Block::zeroed(bytes))
    }

    fn give(&self, blocks: Vec<Block>) {
        let mut spare = self.spare.lock();
        for block in blocks {
            if spare.len() < SPARE_BLOCKS && block.bytes().len() <= SPARE_BYTES {
                spare.push(block);
            }
        }
    }
}

/// An input of an execution.
#[derive(Debug)]
pub struct OperatorInput {
    /// The memory, as long as the tensor; empty where the execution has a copy.
    span: Span,
    copy: Option<Block>,
    ty: TensorType,
}

impl OperatorInput {
    /// Creates an input in memory of the device.
    pub fn new(span: Span, ty: TensorType) -> OperatorInput {
        let copy = None;
        OperatorInput { span, copy, ty }
    }

    /// Creates an input that the execution owns.
    pub fn copied(bytes: &[u8], ty: TensorType) -> OperatorInput {
        OperatorInput {
            span: Span::EMPTY,
            copy: Some(Block::of(bytes)),
            ty,
        }
    }

    fn region(&self) -> Region<'_> {
        match &self.copy {
            Some(copy) => copy.shared(),
            None => Region::of(self.span),
        }
    }
}

/// An output of an execution.
#[derive(Clone, Debug)]
pub struct OperatorOutput {
    /// The memory, at least as long as the tensor.
    pub span: Span,
    /// The size of an exact description, in bytes; an execution that finds another size fails.
    pub exact: Option<usize>,
}

/// One execution of an operator.
pub struct OperatorRun {
    operator: Arc<Operator>,
    context: Arc<Context>,
    call: &'static Call,
    stop: StopToken,
    threads: Threads,
    inputs: Vec<Option<OperatorInput>>,
    /// The destination of each output of the model.
    targets: Vec<Target>,
    shapes: Mutex<Vec<(usize, Vec<i64>)>>,
}

/// The destination of an output of the model.
struct Target {
    span: Span,
    /// Whether it is written to other memory first, because an input or another output shares this.
    staged: bool,
    exact: Option<usize>,
    /// The index among the operator's outputs, if it is one.
    output: Option<usize>,
}

impl OperatorRun {
    /// Binds an operator to memory. `inputs` and `outputs` are those of the call, in order; `None` is one that the operator does not
    /// use.
    ///
    /// # Ownership
    /// The memory has to stay allocated until the execution has ended, and where it was captured as long as the captured model.
    ///
    /// # Errors
    /// `Internal`: the operator uses a tensor that is not given.
    pub fn new(
        operator: Arc<Operator>,
        (context, stop): (&Arc<Context>, StopToken),
        inputs: Vec<Option<OperatorInput>>,
        outputs: &[Option<OperatorOutput>],
        caller: &Caller<'_>,
    ) -> Result<OperatorRun> {
        let missing = || {
            let sentence = format!("{} was run without one of its tensors", operator.name);
            Error::new(ErrorKind::Internal, sentence)
        };
        let mut targets: Vec<Target> = Vec::with_capacity(operator.targets.len());
        for target in &operator.targets {
            let (span, exact, output) = match *target {
                SingleTarget::Output(index) => {
                    let output = outputs.get(index).and_then(Option::as_ref);
                    let output = output.ok_or_else(missing)?;
                    (output.span, output.exact, Some(index))
                }
                SingleTarget::Input(index) => {
                    let input = inputs.get(index).and_then(Option::as_ref);
                    let input = input.ok_or_else(missing)?;
                    (input.span, Some(input.span.bytes()), None)
                }
                SingleTarget::Draws => (Span::EMPTY, None, None),
            };
            let read = |source: &SingleSource| match *source {
                SingleSource::Input(index) => inputs
                    .get(index)
                    .and_then(Option::as_ref)
                    .is_some_and(|input| input.span.overlaps(span)),
                SingleSource::Draws => false,
            };
            let staged = *target == SingleTarget::Draws
                || operator.sources.iter().any(read)
                || targets.iter().any(|other| other.span.overlaps(span));
            targets.push(Target {
                span,
                staged,
                exact,
                output,
            });
        }
        let all_given = operator.sources.iter().all(|source| match *source {
            SingleSource::Input(index) => inputs.get(index).is_some_and(Option::is_some),
            SingleSource::Draws => true,
        });
        if !all_given {
            return Err(missing());
        }
        Ok(OperatorRun {
            context: context.clone(),
            call: caller.call,
            stop,
            threads: Threads(context.team()),
            inputs,
            targets,
            shapes: Mutex::default(),
            operator,
        })
    }

    /// Returns the memory that the execution reads, and the memory that it writes.
    pub fn touches(&self) -> (Vec<Span>, Vec<Span>) {
        let inputs = self
            .operator
            .sources
            .iter()
            .filter_map(|source| match *source {
                SingleSource::Input(index) => Some(self.inputs.get(index)?.as_ref()?.span),
                SingleSource::Draws => None,
            });
        let outputs = self.targets.iter().map(|target| target.span);
        let touched = |span: &Span| !span.is_empty();
        (
            inputs.filter(touched).collect(),
            outputs.filter(touched).collect(),
        )
    }

    /// Returns the shapes of the outputs, with the index of each: those that are known, and behind them those that the execution
    /// found.
    pub fn shapes(&self) -> Vec<(usize, Vec<i64>)> {
        let targets = self.targets.iter().zip(&self.operator.types);
        let known = targets.filter_map(|(target, ty)| {
            ty.dims()?;
            Some((target.output?, ty.shape.clone()))
        });
        known.chain(self.shapes.lock().iter().cloned()).collect()
    }

    fn planned(
        &self,
        plan: &Plan,
        inputs: &[Region<'_>],
        outputs: &[Region<'_>],
        arena: Region<'_>,
    ) -> jumar_graph::Result<()> {
        plan.run(&Operands {
            weights: self.operator.constants.shared(),
            arena,
            constants: Region::EMPTY,
            inputs,
            outputs,
            workers: Workers::of(&self.threads),
        })
    }

    fn dynamic<'m>(
        &self,
        dynamic: &jumar_graph::Dynamic,
        constants: Region<'m>,
        inputs: &[Region<'m>],
        outputs: &[Region<'m>],
    ) -> jumar_graph::Result<()> {
        let typed: Vec<Tensorlike<'m>> = self
            .operator
            .sources
            .iter()
            .zip(inputs)
            .map(|(source, region)| {
                let ty = match *source {
                    SingleSource::Input(index) => {
                        self.inputs[index].as_ref().map(|input| &input.ty)
                    }
                    SingleSource::Draws => None,
                };
                Tensorlike {
                    ty: ty.cloned().unwrap_or_else(count_type),
                    region: *region,
                }
            })
            .collect();
        let lookups = Lookups::default();
        let caller = Caller::new(self.call, &lookups);
        let pool = Pool::default();
        let mut lender = Lender::new(&self.context, &caller, (&pool, &self.threads), &self.stop);
        let mut shapes = Vec::new();
        let mut sink = |index: usize, ty: &TensorType| {
            let bytes = ty.bytes().unwrap_or(usize::MAX);
            let target = self.targets.get(index);
            let region = outputs.get(index).copied().unwrap_or(Region::EMPTY);
            let described = target.and_then(|target| target.exact);
            if described.is_some_and(|described| described != bytes) {
                let text = format!(
                    "output {index} is {ty}, {bytes} bytes, and its description has {}",
                    described.unwrap_or(0)
                );
                return Err(GraphError::new(GraphErrorKind::Buffer, text));
            }
            let part = region.part(0, bytes).ok_or_else(|| {
                let text = format!(
                    "output {index} is {ty}, {bytes} bytes, and its data buffer has {}",
                    region.bytes()
                );
                GraphError::new(GraphErrorKind::Buffer, text)
            })?;
            if let Some(output) = target.and_then(|target| target.output) {
                shapes.push((output, ty.shape.clone()));
            }
            Ok(part)
        };
        dynamic.run(constants, &typed, &mut lender, &mut sink, None)?;
        *self.shapes.lock() = shapes;
        Ok(())
    }
}

/// The type of the count of draws.
fn count_type() -> TensorType {
    TensorType::new(jumar_types::dtype::DataType::Int64, Vec::new())
}

const COUNT_BYTES: usize = size_of::<u64>();

impl Program for OperatorRun {
    fn run(&self) -> Result<()> {
        let operator = &*self.operator;
        let draws = Block::of(&operator.draws.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        let inputs: Vec<Region<'_>> = operator
            .sources
            .iter()
            .map(|source| match *source {
                SingleSource::Input(index) => self.inputs[index]
                    .as_ref()
                    .map_or(Region::EMPTY, OperatorInput::region),
                SingleSource::Draws => draws.shared(),
            })
            .collect();
        let sizes = self.targets.iter().map(|target| match target.staged {
            true => target.span.bytes().max(COUNT_BYTES),
            false => 0,
        });
        let mut staged: Vec<Option<Block>> = sizes
            .map(|bytes| (bytes > 0).then(|| operator.take(bytes)))
            .collect();
        let outputs: Vec<Region<'_>> = self
            .targets
            .iter()
            .zip(&mut staged)
            .map(|(target, block)| match block {
                Some(block) => {
                    let bytes = target.span.bytes().max(COUNT_BYTES);
                    let region = block.region();
                    region.part(0, bytes).unwrap_or(region)
                }
                None => Region::of(target.span),
            })
            .collect();
        let ran = match &operator.executable {
            Executable::Planned(plan) => {
                let mut arena = operator.take(plan.arena_bytes);
                let ran = self.planned(plan, &inputs, &outputs, arena.region());
                operator.give(vec![arena]);
                ran
            }
            Executable::Dynamic(dynamic) => {
                self.dynamic(dynamic, operator.constants.shared(), &inputs, &outputs)
            }
            Executable::Geared(_) => Err(GraphError::new(
                GraphErrorKind::Internal,
                "an operator has no gears",
            )),
        };
        drop(outputs);
        let done = ran.and_then(|()| {
            for (target, block) in self.targets.iter().zip(&staged) {
                let Some(block) = block else { continue };
                let bytes = target.span.bytes();
                if let Some(from) = block.shared().part(0, bytes) {
                    copy_region(from, Region::of(target.span))?;
                }
            }
            Ok(())
        });
        operator.give(staged.into_iter().flatten().collect());
        match done {
            // As a task that was dropped before it started: the caller that aborted the stream knows.
            Err(error) if error.kind() == GraphErrorKind::Stopped => Ok(()),
            done => done.map_err(|error| {
                let sentence = format!("{} failed: {error}", operator.name);
                Error::new(ErrorKind::KernelFailed, sentence)
            }),
        }
    }

    fn cost(&self) -> Cost {
        Cost::Unbounded
    }

    fn name(&self) -> &str {
        &self.operator.name
    }
}
