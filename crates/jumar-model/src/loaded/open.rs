//! Executions whose shapes are found while they run, and the memory that they are lent.

use std::borrow::Cow;
use std::sync::Arc;

use jumar_core::sync::Ordering;
use jumar_core::{Call, Caller, Context, Cost, Lookups, Program, Span, SpinLock, StopToken};
use jumar_graph::{
    Dynamic, Executable, GraphError, GraphErrorKind, NodeObserver, Operands, Plan, Region, Sink,
    TensorType, Tensorlike, Workers, Workspace, WorkspaceMemory,
};
use jumar_types::dtype::DataType;
use jumar_types::{Error, ErrorKind, Result};

use super::bindings::Binding;
use super::{
    Dims, ExecuteOpen, PLANS, ProducedOutput, Regions, ShapePlan, ShapedInput, SharedModel, Spans,
    Threads, regions,
};
use crate::memory::DeviceMemory;

/// One queued execution of a model whose shapes are found while it runs.
pub(super) struct OpenExecution {
    pub(super) model: Arc<SharedModel>,
    pub(super) stream: u32,
    pub(super) call: &'static Call,
    pub(super) stop: StopToken,
    pub(super) execute: ExecuteOpen,
}

impl Program for OpenExecution {
    fn run(&self) -> Result<()> {
        let model = &self.model;
        let _in_use = model.enter()?;
        let Executable::Dynamic(dynamic) = &*model.executable else {
            return Err(Error::new(
                ErrorKind::Internal,
                "a model of known sizes was run as one of unknown sizes",
            ));
        };
        let execute = &self.execute;
        let binding = Binding::begin(execute.bindings.as_deref(), &model.description.name)?;
        let mut inputs = Cow::Borrowed(&*execute.inputs);
        let mut targets = Cow::Borrowed(&*execute.outputs);
        if let Some(bound) = binding.bound() {
            inputs.to_mut().extend_from_slice(&bound.inputs);
            targets
                .to_mut()
                .extend(bound.outputs.iter().copied().map(Some));
        }
        let lookups = Lookups::default();
        let caller = Caller::new(self.call, &lookups);
        let memory = (&model.pool, &model.team);
        let mut lender = Lender::new(&model.context, &caller, memory, &self.stop);
        let mut produced = Vec::with_capacity(targets.len());
        let mut sink = |index: usize, ty: &TensorType| {
            let bytes = ty.bytes().unwrap_or(usize::MAX);
            let (span, allocated) = match targets.get(index) {
                Some(Some(span)) if span.bytes() >= bytes => (*span, None),
                Some(Some(span)) => {
                    return Err(GraphError::new(
                        GraphErrorKind::Buffer,
                        format!(
                            "output {index} is {ty}, {bytes} bytes, and its buffer has {}",
                            span.bytes()
                        ),
                    ));
                }
                _ if bytes == 0 => (Span::EMPTY, None),
                _ => {
                    let memory = DeviceMemory::allocate(&model.context, bytes, &caller)
                        .map_err(|error| no_memory(&error))?;
                    (memory.span(), Some(memory))
                }
            };
            produced.push(ProducedOutput {
                data_type: ty.dtype.acl(),
                dims: Dims::from_slice(&ty.shape),
                allocated,
            });
            Ok(Region::of(span))
        };
        let observer = model.observer(self.stream);
        let mut stopped = false;
        let ran = model.guarded(|| {
            let ran = match model.plan_for(dynamic, &inputs)? {
                Some(shaped) => self.planned(
                    &shaped,
                    &inputs,
                    &mut lender,
                    &mut sink,
                    observer.as_deref(),
                ),
                None => self.typed(&inputs).and_then(|inputs| {
                    let weights = Region::of(model.weights);
                    dynamic.run(
                        weights,
                        &inputs,
                        &mut lender,
                        &mut sink,
                        observer.as_deref(),
                    )
                }),
            };
            ran.inspect_err(|error| stopped = error.kind() == GraphErrorKind::Stopped)
        });
        drop(lender);
        if stopped {
            // As a task that was dropped before it started: the caller that aborted the stream knows.
            return Ok(());
        }
        ran?;
        binding.commit();
        *execute.results.produced.lock() = Some(produced);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        self.model.check()
    }

    fn cost(&self) -> Cost {
        Cost::Large
    }

    fn is_awaited(&self) -> bool {
        self.execute.awaited
    }

    fn name(&self) -> &str {
        &self.model.description.name
    }
}

impl OpenExecution {
    fn typed(&self, inputs: &[ShapedInput]) -> jumar_graph::Result<Vec<Tensorlike<'static>>> {
        inputs
            .iter()
            .zip(&self.model.description.inputs)
            .map(|(input, info)| {
                let dtype = DataType::from_acl(info.data_type).ok_or_else(|| {
                    GraphError::new(GraphErrorKind::Internal, "an unknown data type")
                })?;
                Ok(Tensorlike {
                    ty: TensorType::new(dtype, &*input.dims),
                    region: Region::of(input.span),
                })
            })
            .collect()
    }

    /// Runs a plan that was made for the dimensions that came.
    fn planned(
        &self,
        shaped: &ShapePlan,
        inputs: &[ShapedInput],
        lender: &mut Lender<'_>,
        sink: &mut Sink<'_, 'static>,
        observer: Option<&dyn NodeObserver>,
    ) -> jumar_graph::Result<()> {
        let plan = &shaped.plan;
        let mut outputs = Regions::new();
        for (index, ty) in shaped.outputs.iter().enumerate() {
            outputs.push(sink(index, ty)?);
        }
        let work = self
            .execute
            .work
            .filter(|work| work.bytes() >= plan.arena_bytes);
        let arena = match plan.arena_bytes {
            bytes if bytes > 0 && work.is_none() => Some(lender.take(bytes)?),
            _ => None,
        };
        let own = work.map_or(Region::EMPTY, Region::of);
        let memory = Operands {
            weights: Region::of(self.model.weights),
            arena: arena.map_or(own, |lent| lent.region),
            constants: Region::EMPTY,
            inputs: &regions(inputs.iter().map(|input| input.span)),
            outputs: &outputs,
            workers: Workers::of(&self.model.team),
        };
        let ran = match observer {
            None => plan.run(&memory),
            Some(observer) => plan.run_observed(&memory, observer),
        };
        if let Some(lent) = arena {
            lender.give(lent);
        }
        ran
    }
}

impl SharedModel {
    /// Returns the plan that an earlier execution made for these dimensions.
    pub(super) fn known_plan(&self, inputs: &[ShapedInput]) -> Option<Arc<ShapePlan>> {
        let mut plans = self.plans.lock();
        // The latest is the last: most executions have the dimensions of the one before.
        let at = plans.iter().rposition(|known| known.is_for(inputs))?;
        if at + 1 != plans.len() {
            plans[at..].rotate_left(1);
        }
        plans.last().cloned()
    }

    /// Returns a plan for the dimensions that came, if knowing them is enough for one.
    pub(super) fn plan_for(
        &self,
        dynamic: &Dynamic,
        inputs: &[ShapedInput],
    ) -> jumar_graph::Result<Option<Arc<ShapePlan>>> {
        if self.unplannable.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if let Some(known) = self.known_plan(inputs) {
            return Ok(Some(known));
        }
        if !dynamic.is_open() {
            return Ok(None);
        }
        let dims: Vec<Vec<i64>> = inputs.iter().map(|input| input.dims.to_vec()).collect();
        let Some(plan) = dynamic.specialise(&dims)? else {
            self.unplannable.store(true, Ordering::Relaxed);
            return Ok(None);
        };
        let plan = Arc::new(ShapePlan::new(dims, plan));
        let mut plans = self.plans.lock();
        let evicted = (plans.len() >= PLANS).then(|| plans.remove(0));
        plans.push(plan.clone());
        drop(plans);
        drop(evicted);
        Ok(Some(plan))
    }
}

impl ShapePlan {
    fn new(inputs: Vec<Vec<i64>>, plan: Plan) -> ShapePlan {
        let outputs: Vec<TensorType> = plan
            .outputs
            .iter()
            .map(|port| {
                let dims: Vec<i64> = port.dims.iter().map(|&dim| dim as i64).collect();
                TensorType::new(port.dtype, dims)
            })
            .collect();
        let output_bytes = outputs.iter().map(|ty| ty.bytes().unwrap_or(usize::MAX));
        ShapePlan {
            inputs,
            plan,
            output_bytes: output_bytes.collect(),
            outputs,
        }
    }

    /// Returns the number of the data type in the ACL interface and the dimensions of each output.
    pub fn outputs(&self) -> impl Iterator<Item = (i32, &[i64])> {
        self.outputs
            .iter()
            .map(|ty| (ty.dtype.acl(), &ty.shape[..]))
    }

    /// Returns the memory of the outputs, if all of it was given and is large enough.
    pub(super) fn targets(&self, given: &[Option<Span>]) -> Option<Spans> {
        let all = given.iter().zip(&self.output_bytes);
        let spans = all.map(|(target, bytes)| target.filter(|span| span.bytes() >= *bytes));
        spans
            .collect::<Option<Spans>>()
            .filter(|spans| spans.len() == self.outputs.len())
    }

    /// Returns whether the plan was made for the dimensions of these inputs.
    fn is_for(&self, inputs: &[ShapedInput]) -> bool {
        let known = self.inputs.iter();
        self.inputs.len() == inputs.len()
            && known
                .zip(inputs)
                .all(|(known, input)| known[..] == input.dims[..])
    }
}

pub(super) fn no_memory(error: &Error) -> GraphError {
    GraphError::new(GraphErrorKind::NoMemory, error.sentence())
}

/// A block of device memory, and whether it is lent; `None` where it was freed.
type LentBlock = (Option<Box<DeviceMemory>>, bool);

/// Device memory that earlier executions left for the next one.
#[derive(Default)]
pub(crate) struct Pool(SpinLock<Vec<LentBlock>>);

impl Pool {
    /// Frees the memory.
    pub(super) fn empty(&self) {
        let blocks = std::mem::take(&mut *self.0.lock());
        drop(blocks);
    }

    /// Lends the work memory of one execution.
    ///
    /// # Errors
    /// `OutOfMemory`, also when all that is idle was freed.
    pub(super) fn lend(
        &self,
        context: &Arc<Context>,
        bytes: usize,
        call: &'static Call,
    ) -> Result<Arena<'_>> {
        let idle = {
            let mut blocks = self.0.lock();
            let fitting = blocks.iter().position(|(block, _)| {
                block
                    .as_ref()
                    .is_some_and(|block| fits(block.span(), bytes))
            });
            fitting.and_then(|index| blocks.swap_remove(index).0)
        };
        let memory = match idle {
            Some(memory) => memory,
            None => {
                let lookups = Lookups::default();
                let caller = Caller::new(call, &lookups);
                allocate(context, bytes, &caller, || self.empty())?
            }
        };
        Ok(Arena {
            pool: self,
            span: memory.span(),
            memory: Some(memory),
        })
    }
}

/// Work memory that is lent to one execution; the next one takes it from the pool.
pub(super) struct Arena<'a> {
    pool: &'a Pool,
    pub(super) span: Span,
    memory: Option<Box<DeviceMemory>>,
}

impl Drop for Arena<'_> {
    fn drop(&mut self) {
        self.pool.0.lock().push((self.memory.take(), false));
    }
}

/// Lends device memory to one execution, first what earlier ones left.
pub(crate) struct Lender<'a> {
    context: &'a Arc<Context>,
    caller: &'a Caller<'a>,
    pool: &'a Pool,
    team: &'a Threads,
    stop: &'a StopToken,
    blocks: Vec<LentBlock>,
}

/// Memory is lent in multiples of this.
const GRAIN: usize = 4096;

fn rounded(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(GRAIN).unwrap_or(bytes)
}

/// Allocates a block. What lies idle is freed before the device is reported as exhausted.
fn allocate(
    context: &Arc<Context>,
    bytes: usize,
    caller: &Caller<'_>,
    free_idle: impl FnOnce(),
) -> Result<Box<DeviceMemory>> {
    let allocate = || DeviceMemory::allocate(context, rounded(bytes), caller);
    let memory = allocate().or_else(|_| {
        free_idle();
        allocate()
    });
    memory.map(Box::new)
}

/// Returns whether a block is large enough for so many bytes, and not much too large.
fn fits(block: Span, bytes: usize) -> bool {
    block.bytes() >= bytes && block.bytes() / 4 <= bytes.max(GRAIN)
}

impl<'a> Lender<'a> {
    /// Creates a lender over a pool of blocks and the device's workers.
    pub(crate) fn new(
        context: &'a Arc<Context>,
        caller: &'a Caller<'a>,
        (pool, team): (&'a Pool, &'a Threads),
        stop: &'a StopToken,
    ) -> Self {
        Lender {
            context,
            caller,
            pool,
            team,
            stop,
            blocks: std::mem::take(&mut *pool.0.lock()),
        }
    }
}

impl Drop for Lender<'_> {
    /// Leaves the memory to the next execution, also where this one panics.
    fn drop(&mut self) {
        self.blocks.retain_mut(|(block, lent)| {
            *lent = false;
            block.is_some()
        });
        let mut pool = self.pool.0.lock();
        if pool.is_empty() {
            std::mem::swap(&mut *pool, &mut self.blocks);
        } else {
            pool.append(&mut self.blocks);
        }
    }
}

impl<'m> Workspace<'m> for Lender<'_> {
    fn take(&mut self, bytes: usize) -> jumar_graph::Result<WorkspaceMemory<'m>> {
        let fitting = self
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, (_, lent))| !lent)
            .filter_map(|(index, (block, _))| Some((index, block.as_ref()?.span())))
            .filter(|(_, span)| fits(*span, bytes))
            .min_by_key(|(_, span)| span.bytes());
        if let Some((index, span)) = fitting {
            self.blocks[index].1 = true;
            return Ok(WorkspaceMemory {
                token: index,
                region: Region::of(span),
            });
        }
        let block = allocate(self.context, bytes, self.caller, || {
            for (block, _) in self.blocks.iter_mut().filter(|(_, lent)| !lent) {
                *block = None;
            }
        });
        let block = block.map_err(|error| no_memory(&error))?;
        let span = block.span();
        self.blocks.push((Some(block), true));
        Ok(WorkspaceMemory {
            token: self.blocks.len() - 1,
            region: Region::of(span),
        })
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }

    fn workers(&self) -> Workers<'_> {
        Workers::of(self.team)
    }

    fn give(&mut self, lent: WorkspaceMemory<'m>) {
        if let Some(block) = self.blocks.get_mut(lent.token) {
            block.1 = false;
        }
    }
}
