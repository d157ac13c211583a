//! The plan of a model: which kernel runs when, and where every tensor lies.
//!
//! Inputs and outputs are used where the caller put them. A tensor that is only another's bytes under another shape
//! shares its memory; an operator that may work in place does so where its input is read for the last time; parts of joins lie
//! in them, and cuts in what is cut (`views`). All other results, and the scratch memory of kernels, lie in one arena:
//! tensors that are never needed at once share bytes.

mod arena;
#[cfg(test)]
mod tests;
mod views;

use jumar_ops::view::Block;
use jumar_ops::{
    Aliasing, BufferKind, Call, InferCx, Kernel, Memory, Operand, PrepareCx, TensorType, find,
};
use jumar_types::dtype::DataType;

use self::arena::{Owner, Request, assign};
use self::views::{Location, Sharing};
use crate::compile::ALIGNMENT;
use crate::{FailedStep, Graph, GraphError, GraphErrorKind, Model, Node, Result, ValueId};

/// One kernel with its operands' offsets.
pub struct Step {
    name: String,
    operator: &'static str,
    kernel: Box<dyn Kernel>,
    inputs: Vec<Option<Operand>>,
    outputs: Vec<Operand>,
    scratch: (usize, usize),
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Step")
            .field("name", &self.name)
            .field("operator", &self.operator)
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .field("scratch", &self.scratch)
            .finish_non_exhaustive()
    }
}

impl Step {
    /// Returns the node's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the operator's name.
    pub fn operator(&self) -> &'static str {
        self.operator
    }

    /// Returns the locations of the inputs that are read while the step runs.
    pub fn inputs(&self) -> impl Iterator<Item = &Operand> {
        self.inputs.iter().flatten()
    }

    /// Returns the locations of the outputs.
    pub fn outputs(&self) -> &[Operand] {
        &self.outputs
    }

    /// Returns offset and length of the scratch memory in the arena.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn scratch(&self) -> (usize, usize) {
        self.scratch
    }
}

/// An input or output of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPort {
    /// The element type.
    pub dtype: DataType,
    /// The dimensions.
    pub dims: Vec<usize>,
    /// The size.
    ///
    /// # Units
    ///
    /// Bytes.
    pub bytes: usize,
}

/// What it takes to run a model.
///
/// # Threads
///
/// A plan is never changed by running it: several executions may share it, each with an arena of its own.
#[derive(Debug)]
pub struct Plan {
    /// The steps, in the order in which they run.
    pub steps: Vec<Step>,
    /// The size of the work memory of one execution; it starts at a multiple of 64.
    ///
    /// # Units
    ///
    /// Bytes.
    pub arena_bytes: usize,
    /// The size of the weights; they start at a multiple of 64.
    ///
    /// # Units
    ///
    /// Bytes.
    pub weight_bytes: usize,
    /// The inputs.
    pub inputs: Vec<PlannedPort>,
    /// The outputs.
    pub outputs: Vec<PlannedPort>,
    /// What was computed while this plan was made and is read while it runs.
    constants: Block,
}

/// Runs one step on the memory of one execution. Allocates nothing, unless it fails.
///
/// # Errors
///
/// Buffer: a region is smaller than its tensor. Data: values that the operator cannot compute on.
pub fn run_step(step: &Step, operands: &Memory<'_>) -> Result<()> {
    let run = || {
        step.kernel.run(&Call::new(
            &step.inputs,
            &step.outputs,
            step.scratch,
            operands,
        )?)
    };
    run().map_err(|error| {
        GraphError::from(error)
            .at(format_args!("node {} ({})", step.name, step.operator))
            .of_step(FailedStep {
                name: step.name.clone(),
                inputs: step.inputs.iter().flatten().cloned().collect(),
                outputs: step.outputs.clone(),
            })
    })
}

/// Watches a model run, node by node.
pub trait NodeObserver: Send + Sync {
    /// Called before a node runs, which may write over its inputs.
    fn starts(&self, _inputs: &[Option<Operand>], _memory: &Memory<'_>) {}

    /// Called after a node has run; its operands lie in `memory`, inputs perhaps written over. Inputs that are only read while a model is planned
    /// are absent.
    fn ran(
        &self,
        name: &str,
        operator: &str,
        inputs: &[Option<Operand>],
        outputs: &[Operand],
        memory: &Memory<'_>,
    );

    /// Called after a node has failed; its inputs lie in `memory`.
    fn failed(
        &self,
        _name: &str,
        _operator: &str,
        _inputs: &[Option<Operand>],
        _memory: &Memory<'_>,
    ) {
    }
}

/// A set of values that share their bytes.
#[derive(Clone, Debug)]
struct Storage {
    buffer: Option<BufferKind>,
    bytes: usize,
    /// The first step that writes it, and the last that reads it.
    first: usize,
    last: usize,
}

struct Planner<'a> {
    graph: &'a Graph,
    storage: Vec<Storage>,
    /// Constants that are not in the weights, and where each begins.
    constants: Block,
    constant_at: Vec<usize>,
}

/// Stands for the end of the model, after all steps.
const END: usize = usize::MAX;

impl Plan {
    pub(crate) fn new(model: &Model) -> Result<Plan> {
        Plan::of(model.graph(), model.weights_len())
    }

    /// Plans a graph whose shapes are all known.
    pub(crate) fn of(graph: &Graph, weight_bytes: usize) -> Result<Plan> {
        Planner::new(graph)?.plan(weight_bytes, true)
    }

    /// Runs all steps.
    ///
    /// # Errors
    ///
    /// As [`run_step`].
    pub fn run(&self, operands: &Memory<'_>) -> Result<()> {
        let operands = self.with_constants(operands);
        self.steps
            .iter()
            .try_for_each(|step| run_step(step, &operands))
    }

    fn with_constants<'a>(&'a self, operands: &Memory<'a>) -> Memory<'a> {
        Memory {
            constants: self.constants.shared(),
            ..*operands
        }
    }

    /// Runs all steps, and shows each to an observer.
    ///
    /// # Errors
    ///
    /// As [`run_step`].
    pub fn run_observed(&self, operands: &Memory<'_>, observer: &dyn NodeObserver) -> Result<()> {
        let operands = self.with_constants(operands);
        self.steps.iter().try_for_each(|step| {
            observer.starts(&step.inputs, &operands);
            run_step(step, &operands).inspect_err(|_| {
                observer.failed(&step.name, step.operator, &step.inputs, &operands);
            })?;
            observer.ran(
                &step.name,
                step.operator,
                &step.inputs,
                &step.outputs,
                &operands,
            );
            Ok(())
        })
    }
}

fn too_large() -> GraphError {
    GraphError::new(
        GraphErrorKind::TooLarge,
        "the model needs more memory than an address can count",
    )
}

/// Names the node that makes a value, for a sentence.
fn maker(graph: &Graph, value: usize) -> String {
    let makes = |node: &&Node| node.outputs.iter().any(|id| id.0 as usize == value);
    let node = graph.nodes.iter().find(makes);
    node.map_or(String::new(), |node| format!("node {}: ", node.name))
}

impl<'a> Planner<'a> {
    fn new(graph: &'a Graph) -> Result<Planner<'a>> {
        let mut storage = Vec::with_capacity(graph.values.len());
        for (index, value) in graph.values.iter().enumerate() {
            let bytes = if value.weight.is_some() || value.constant.is_some() {
                0
            } else {
                value.ty.bytes().ok_or_else(|| {
                    GraphError::new(
                        GraphErrorKind::TooLarge,
                        format!(
                            "{}the tensor {} is {}, which is too large",
                            maker(graph, index),
                            value.name,
                            value.ty
                        ),
                    )
                })?
            };
            let buffer = value.weight.map(|_| BufferKind::Weight);
            storage.push(Storage {
                buffer,
                bytes,
                first: END,
                last: 0,
            });
        }
        // Known only since the shapes are: the file's weights do not hold them.
        let mut bytes = Vec::new();
        let mut constant_at = vec![0; graph.values.len()];
        for (index, value) in graph.values.iter().enumerate() {
            if let (Some(tensor), None) = (&value.constant, value.weight) {
                bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
                constant_at[index] = bytes.len();
                bytes.extend_from_slice(tensor.bytes());
                storage[index].buffer = Some(BufferKind::Constant);
            }
        }
        for (index, id) in graph.inputs.iter().enumerate() {
            let index = u32::try_from(index).map_err(|_| too_large())?;
            storage[id.0 as usize].buffer = Some(BufferKind::Input(index));
        }
        for (step, node) in graph.nodes.iter().enumerate() {
            for id in node.inputs.iter().flatten() {
                storage[id.0 as usize].last = step;
            }
        }
        for output in &graph.outputs {
            storage[output.value.0 as usize].last = END;
        }
        Ok(Planner {
            graph,
            storage,
            constants: Block::of(&bytes),
            constant_at,
        })
    }

    /// `views`: parts of joins, and cuts, lie inside others.
    fn plan(self, weight_bytes: usize, views: bool) -> Result<Plan> {
        let graph = self.graph;
        let prepared = graph.nodes.iter().map(|node| prepare(graph, node));
        let kernels = prepared.collect::<Result<Vec<_>>>()?;
        let mut sharing = Sharing::new(graph, &kernels, self.storage);
        sharing.decide(views)?;
        let located = (0..graph.values.len()).map(|value| sharing.locate(value));
        let locations: Vec<Option<Location>> = located.collect();
        let complete = |sharing: &Sharing<'_>, id: ValueId| sharing.is_complete(id.0 as usize);
        // Computed outputs go where the caller wants them; the others are copied there.
        let mut copies = Vec::new();
        for (index, output) in graph.outputs.iter().enumerate() {
            let index = u32::try_from(index).map_err(|_| too_large())?;
            let root = locations[output.value.0 as usize].map(|location| location.root);
            match root {
                Some(root)
                    if sharing.storage[root].buffer.is_none()
                        && complete(&sharing, output.value) =>
                {
                    sharing.storage[root].buffer = Some(BufferKind::Output(index));
                }
                _ => copies.push((index, output.value)),
            }
        }
        let (done, storage) = (sharing.done, sharing.storage);
        let mut requests = Vec::new();
        for (step, kernel) in kernels.iter().enumerate() {
            let bytes = kernel.scratch_bytes();
            if bytes > 0 {
                requests.push(Request {
                    bytes,
                    first: step,
                    last: step,
                    owner: Owner::Scratch(step),
                });
            }
        }
        let is_root = |value: usize| locations[value].is_none_or(|found| found.root == value);
        for (root, storage) in storage.iter().enumerate() {
            if is_root(root)
                && storage.buffer.is_none()
                && storage.first != END
                && storage.bytes > 0
            {
                requests.push(Request {
                    bytes: storage.bytes,
                    first: storage.first,
                    last: storage.last,
                    owner: Owner::Storage(root),
                });
            }
        }
        let (offsets, arena_bytes) = assign(&requests)?;
        let mut scratch = vec![(0, 0); self.graph.nodes.len()];
        let mut storage_offset = vec![0; storage.len()];
        for (request, offset) in requests.iter().zip(offsets) {
            match request.owner {
                Owner::Scratch(step) => scratch[step] = (offset, request.bytes),
                Owner::Storage(root) => storage_offset[root] = offset,
            }
        }
        let operand = |id: ValueId| -> Result<Operand> {
            let ty = &graph.value(id).ty;
            let Some(location) = &locations[id.0 as usize] else {
                // Reports the error of the type.
                return Err(ty.layout().err().map_or_else(
                    || GraphError::internal("a value that lies nowhere"),
                    GraphError::from,
                ));
            };
            let root = location.root;
            let (buffer, start) = match storage[root].buffer {
                Some(BufferKind::Weight) => {
                    (BufferKind::Weight, graph.values[root].weight.unwrap_or(0))
                }
                Some(BufferKind::Constant) => (BufferKind::Constant, self.constant_at[root]),
                Some(buffer) => (buffer, 0),
                // Without this check the value would be read from whatever the arena holds at offset 0.
                None if storage[root].first == END => {
                    return Err(GraphError::internal(format!(
                        "nothing produces the tensor {}",
                        graph.values[root].name
                    )));
                }
                None => (BufferKind::Arena, storage_offset[root]),
            };
            let offset = start + location.offset(graph);
            Ok(Operand::strided(buffer, offset, ty.dtype, location.layout))
        };
        let mut steps = Vec::with_capacity(kernels.len());
        let nodes = graph.nodes.iter().zip(done);
        for (((node, done), kernel), scratch) in nodes.zip(kernels).zip(scratch) {
            let inputs = node
                .inputs
                .iter()
                .enumerate()
                .map(|(index, id)| {
                    id.filter(|_| Graph::reads_at_run(node, index))
                        .map(operand)
                        .transpose()
                })
                .collect::<Result<Vec<_>>>()?;
            let outputs = node
                .outputs
                .iter()
                .map(|&id| operand(id))
                .collect::<Result<Vec<_>>>()?;
            let same_memory = |one: &Operand, two: &Operand| {
                one.buffer() == two.buffer() && one.offset() == two.offset()
            };
            let nothing_to_do = node.operator.aliasing == Aliasing::View
                && matches!((&inputs[..], &outputs[..]), ([Some(from), ..], [to]) if same_memory(from, to));
            if nothing_to_do || done {
                continue;
            }
            steps.push(Step {
                name: node.name.clone(),
                operator: node.operator.name,
                kernel,
                inputs,
                outputs,
                scratch,
            });
        }
        for (index, id) in copies {
            let ty = &self.graph.value(id).ty;
            steps.push(copy(
                self.graph.value(id).name.clone(),
                operand(id)?,
                index,
                ty,
            )?);
        }
        let port = |id: ValueId| -> Result<PlannedPort> {
            let ty = &self.graph.value(id).ty;
            let (Some(dims), Some(bytes)) = (ty.dims(), ty.bytes()) else {
                return Err(GraphError::internal("a port without a fixed size"));
            };
            Ok(PlannedPort {
                dtype: ty.dtype,
                dims,
                bytes,
            })
        };
        Ok(Plan {
            steps,
            arena_bytes,
            weight_bytes,
            constants: self.constants,
            inputs: self
                .graph
                .inputs
                .iter()
                .map(|&id| port(id))
                .collect::<Result<_>>()?,
            outputs: self
                .graph
                .outputs
                .iter()
                .map(|output| port(output.value))
                .collect::<Result<_>>()?,
        })
    }
}

fn prepare(graph: &Graph, node: &Node) -> Result<Box<dyn Kernel>> {
    let (types, constants) = graph.operands(node);
    let outputs: Vec<TensorType> = node
        .outputs
        .iter()
        .map(|&id| graph.value(id).ty.clone())
        .collect();
    let prepare = || {
        node.operator.prepare(&PrepareCx::new(
            InferCx::new(&types, &constants, &node.attrs),
            &outputs,
        )?)
    };
    prepare().map_err(|error| GraphError::from(error).at(format_args!("node {}", node.name)))
}

/// A step that copies a value to an output.
fn copy(name: String, from: Operand, output: u32, ty: &TensorType) -> Result<Step> {
    let operator = find("Identity").ok_or_else(|| GraphError::internal("there is no Identity"))?;
    let attrs = jumar_ops::Attrs::new();
    let types = [Some(ty)];
    let cx = PrepareCx::new(
        InferCx::new(&types, &[None], &attrs),
        std::slice::from_ref(ty),
    )?;
    Ok(Step {
        name,
        operator: operator.name,
        kernel: operator.prepare(&cx)?,
        inputs: vec![Some(from)],
        outputs: vec![Operand::dense(BufferKind::Output(output), 0, ty)?],
        scratch: (0, 0),
    })
}
