//! Models whose shapes are known only while they run, and models with control flow: executed node by node.
//!
//! Before each node its shapes are inferred from the real ones, with the values of the inputs that decide them; its kernel
//! is made, and its results lie in memory that a [`Workspace`] lends. Memory goes back when the last reader has run.

use std::rc::Rc;

use jumar_ops::view::{Layout, View, ViewMut};
use jumar_ops::{
    Aliasing, BufferKind, Call, InferCx, InputKind, Memory, Operand, PrepareCx, Tensor, TensorType,
    Workers,
};
use jumar_types::dtype::DataType;

use crate::control::{self, Scanning, axis_of};
use crate::passes::{clean, fold, fuse};
use crate::plan::{NodeObserver, Plan};
use crate::{Graph, GraphError, GraphErrorKind, Node, Region, Result, ValueId};

/// Memory that a workspace has lent.
#[derive(Clone, Copy, Debug)]
pub struct WorkspaceMemory<'m> {
    /// What the workspace knows it by.
    pub token: usize,
    /// The memory; it starts at a multiple of 64.
    pub region: Region<'m>,
}

/// Lends memory for the results of nodes.
pub trait Workspace<'m> {
    /// Lends `bytes` bytes.
    ///
    /// # Errors
    ///
    /// Whatever the memory's owner says.
    fn take(&mut self, bytes: usize) -> Result<WorkspaceMemory<'m>>;

    /// Takes memory back.
    fn give(&mut self, lent: WorkspaceMemory<'m>);

    /// Returns whether the execution is to end before the model does. Asked before each node, so that a loop of any length ends.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Returns the threads that kernels may use.
    fn workers(&self) -> Workers<'_> {
        Workers::ALONE
    }
}

/// A tensor while a model runs: its real type, and its bytes.
#[derive(Clone, Debug)]
pub struct Tensorlike<'m> {
    /// Type and shape.
    pub ty: TensorType,
    /// The bytes, densely packed.
    pub region: Region<'m>,
}

/// A model that is executed node by node.
#[derive(Debug)]
pub struct Dynamic {
    graph: Graph,
    last: Last,
    weight_bytes: usize,
}

/// The values that are not needed after each node, and the same of the graphs inside.
#[derive(Debug)]
struct Last {
    dying: Vec<Vec<ValueId>>,
    bodies: Vec<Vec<Last>>,
}

impl Last {
    fn of(graph: &Graph) -> Last {
        let mut seen = vec![false; graph.values.len()];
        for output in &graph.outputs {
            seen[output.value.0 as usize] = true;
        }
        let mut dying = Vec::with_capacity(graph.nodes.len());
        for node in graph.nodes.iter().rev() {
            let mut now = Vec::new();
            for &id in node.inputs.iter().flatten().chain(&node.outputs) {
                if !std::mem::replace(&mut seen[id.0 as usize], true) {
                    now.push(id);
                }
            }
            dying.push(now);
        }
        dying.reverse();
        let bodies = graph
            .nodes
            .iter()
            .map(|node| {
                node.bodies
                    .iter()
                    .map(|body| Last::of(&body.graph))
                    .collect()
            })
            .collect();
        Last { dying, bodies }
    }
}

/// Where an output goes, once its real type is known.
pub type Sink<'s, 'm> = dyn FnMut(usize, &TensorType) -> Result<Region<'m>> + 's;

impl Dynamic {
    pub(crate) fn new(graph: Graph, weight_bytes: usize) -> Dynamic {
        let last = Last::of(&graph);
        Dynamic {
            graph,
            last,
            weight_bytes,
        }
    }

    /// Returns whether the inputs leave dimensions open, so that a plan may be made once they are known.
    pub fn is_open(&self) -> bool {
        self.graph
            .inputs
            .iter()
            .any(|&id| self.graph.value(id).ty.elements().is_none())
    }

    /// Plans the model for given dimensions of its inputs; `None` where shapes depend on values even so.
    ///
    /// # Errors
    ///
    /// Data: dimensions that the model does not take. What inference and preparation of the operators say.
    pub fn specialise(&self, inputs: &[Vec<i64>]) -> Result<Option<Plan>> {
        specialise(&self.graph, inputs, self.weight_bytes)
    }

    /// Runs the model. `sink` says where each output goes.
    ///
    /// # Errors
    ///
    /// Data: inputs of impossible shapes, or values that cannot be computed on. Whatever the workspace and the sink say.
    pub fn run<'m>(
        &self,
        weights: Region<'m>,
        inputs: &[Tensorlike<'m>],
        workspace: &mut dyn Workspace<'m>,
        sink: &mut Sink<'_, 'm>,
        observer: Option<&dyn NodeObserver>,
    ) -> Result<()> {
        if inputs.len() != self.graph.inputs.len() {
            return Err(GraphError::new(
                GraphErrorKind::Buffer,
                format!(
                    "{} inputs are given, and the model has {}",
                    inputs.len(),
                    self.graph.inputs.len()
                ),
            ));
        }
        let mut run = Run {
            weights,
            workspace,
            observer,
        };
        let held = inputs
            .iter()
            .zip(&self.graph.inputs)
            .map(|(input, &id)| {
                fits(&input.ty, &self.graph.value(id).ty).map_err(|error| {
                    error.at(format_args!("input {}", self.graph.value(id).name))
                })?;
                Ok(RuntimeValue {
                    ty: input.ty.clone(),
                    region: input.region,
                    memory: None,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let outputs = run.graph(&self.graph, &self.last, held)?;
        let mut copied = Ok(());
        for (index, output) in outputs.into_iter().enumerate() {
            if copied.is_ok() {
                copied = sink(index, &output.ty).and_then(|to| run.copy(&output, to));
            }
            run.release(output);
        }
        copied
    }
}

/// Plans a graph for given dimensions of its inputs; `None` where shapes depend on values even so.
pub(crate) fn specialise(
    graph: &Graph,
    inputs: &[Vec<i64>],
    weight_bytes: usize,
) -> Result<Option<Plan>> {
    let mut graph = graph.clone();
    if inputs.len() != graph.inputs.len() {
        return Err(GraphError::internal("shapes for other inputs"));
    }
    for (dims, id) in inputs.iter().zip(graph.inputs.clone()) {
        let value = graph.value_mut(id);
        let real = TensorType::new(value.ty.dtype, dims.clone());
        fits(&real, &value.ty).map_err(|error| error.at(format_args!("input {}", value.name)))?;
        real.layout()?;
        value.ty = real;
    }
    fold::infer_and_fold(&mut graph)?;
    if !graph.is_static() {
        return Ok(None);
    }
    clean::remove_identities(&mut graph);
    fuse::fuse_convolutions(&mut graph);
    clean::remove_dead(&mut graph);
    clean::renumber(&mut graph);
    Plan::of(&graph, weight_bytes).map(Some)
}

/// Compares a real type with what the model declares.
fn fits(real: &TensorType, declared: &TensorType) -> Result<()> {
    let agrees = real.dtype == declared.dtype
        && (declared.rank().is_none()
            || (declared.rank() == real.rank()
                && declared
                    .shape
                    .iter()
                    .zip(&real.shape)
                    .all(|(&want, &is)| want < 0 || want == is)));
    if agrees {
        return Ok(());
    }
    Err(GraphError::new(
        GraphErrorKind::Data,
        format!("{real} was given where the model takes {declared}"),
    ))
}

/// A value of a running graph.
#[derive(Clone)]
struct RuntimeValue<'m> {
    ty: TensorType,
    region: Region<'m>,
    memory: Option<Rc<WorkspaceMemory<'m>>>,
}

struct Run<'r, 'm> {
    weights: Region<'m>,
    workspace: &'r mut dyn Workspace<'m>,
    observer: Option<&'r dyn NodeObserver>,
}

fn bytes_of(ty: &TensorType) -> Result<usize> {
    // The layout says what is wrong with a type that has no size.
    ty.layout()?;
    ty.bytes()
        .ok_or_else(|| GraphError::internal("a layout without a size"))
}

fn byte_row(bytes: usize) -> Result<Layout> {
    Layout::dense(&[bytes]).ok_or_else(|| GraphError::internal("a region that is too large"))
}

fn cut<'m>(region: &Region<'m>, offset: usize, bytes: usize) -> Result<Region<'m>> {
    if bytes == 0 {
        return Ok(Region::EMPTY);
    }
    region.part(offset, bytes).ok_or_else(|| {
        GraphError::new(
            GraphErrorKind::Buffer,
            format!(
                "{bytes} bytes from {offset} on are needed, and there are {}",
                region.bytes()
            ),
        )
    })
}

/// Copies the bytes of a region to another one, which is as long.
///
/// # Errors
///
/// Buffer: the regions differ in length, or the target cannot be written.
pub fn copy_region(from: Region<'_>, to: Region<'_>) -> Result<()> {
    if from.bytes() == 0 {
        return Ok(());
    }
    let layout = byte_row(from.bytes())?;
    let source = View::<u8>::new(from, &layout)?;
    ViewMut::<u8>::new(to, &layout)?
        .flat()
        .copy_from(source.flat());
    Ok(())
}

/// Returns a copy of the bytes of a region.
///
/// # Errors
///
/// Internal: the region is larger than an address can count.
pub fn read_bytes(region: Region<'_>) -> Result<Vec<u8>> {
    Ok(region.to_vec())
}

/// Returns a copy of the elements of an operand, side by side, however it lies.
///
/// # Errors
///
/// Buffer: its memory is smaller than it. Internal: it lies in a way that no plan makes.
pub fn read_tensor(operand: &Operand, memory: &Memory<'_>) -> Result<Vec<u8>> {
    let bytes = read_bytes(memory.find(operand)?)?;
    let layout = operand.layout();
    if layout.is_dense() {
        return Ok(bytes);
    }
    let (Some(batch_stride), Some(&entries), Some(size)) = (
        layout.batch_stride(),
        layout.shape().first(),
        operand.dtype().size(),
    ) else {
        return Err(GraphError::internal("a tensor whose elements lie apart"));
    };
    let each = layout.elements() / entries.max(1) * size;
    let mut dense = Vec::with_capacity(entries * each);
    for entry in 0..entries {
        dense.extend_from_slice(&bytes[entry * batch_stride * size..][..each]);
    }
    Ok(dense)
}

impl<'m> Run<'_, 'm> {
    fn release(&mut self, held: RuntimeValue<'m>) {
        if let Some(lent) = held.memory.and_then(Rc::into_inner) {
            self.workspace.give(lent);
        }
    }

    fn release_all(&mut self, list: impl IntoIterator<Item = RuntimeValue<'m>>) {
        for held in list {
            self.release(held);
        }
    }

    fn take(&mut self, ty: TensorType) -> Result<RuntimeValue<'m>> {
        let bytes = bytes_of(&ty)?;
        if bytes == 0 {
            return Ok(RuntimeValue {
                ty,
                region: Region::EMPTY,
                memory: None,
            });
        }
        let lent = self.workspace.take(bytes)?;
        Ok(RuntimeValue {
            ty,
            region: cut(&lent.region, 0, bytes)?,
            memory: Some(Rc::new(lent)),
        })
    }

    fn copy(&self, from: &RuntimeValue<'m>, to: Region<'m>) -> Result<()> {
        let bytes = bytes_of(&from.ty)?;
        copy_region(cut(&from.region, 0, bytes)?, cut(&to, 0, bytes)?)
    }

    /// Makes a tensor whose values inference can read.
    fn value(held: &RuntimeValue<'m>) -> Result<Tensor> {
        let copy = read_bytes(cut(&held.region, 0, bytes_of(&held.ty)?)?)?;
        let dims = held
            .ty
            .dims()
            .ok_or_else(|| GraphError::internal("a tensor of unknown shape"))?;
        Ok(Tensor::new(held.ty.dtype, &dims, copy)?)
    }

    fn scalar(&mut self, dtype: DataType, bytes: &[u8]) -> Result<RuntimeValue<'m>> {
        let held = self.take(TensorType::new(dtype, []))?;
        let layout = byte_row(bytes.len())?;
        let row = ViewMut::<u8>::new(cut(&held.region, 0, bytes.len())?, &layout)?.flat();
        for (index, &byte) in bytes.iter().enumerate() {
            row.set(index, byte);
        }
        Ok(held)
    }

    fn number(held: &RuntimeValue<'m>, what: &str) -> Result<i64> {
        let numbers = Self::value(held)?.ints();
        match numbers.as_deref() {
            Some([one]) => Ok(*one),
            _ => Err(GraphError::new(
                GraphErrorKind::Data,
                format!("{what} is {}, and has to be one integer", held.ty),
            )),
        }
    }

    fn graph(
        &mut self,
        graph: &Graph,
        last: &Last,
        inputs: Vec<RuntimeValue<'m>>,
    ) -> Result<Vec<RuntimeValue<'m>>> {
        let mut slots: Vec<Option<RuntimeValue<'m>>> = vec![None; graph.values.len()];
        for (index, value) in graph.values.iter().enumerate() {
            if let Some(offset) = value.weight {
                slots[index] = Some(RuntimeValue {
                    ty: value.ty.clone(),
                    region: cut(&self.weights, offset, bytes_of(&value.ty)?)?,
                    memory: None,
                });
            }
        }
        for (&id, held) in graph.inputs.iter().zip(inputs) {
            slots[id.0 as usize] = Some(held);
        }
        let done = self.nodes(graph, last, &mut slots);
        let outputs = done.and_then(|()| {
            graph
                .outputs
                .iter()
                .map(|output| {
                    slots[output.value.0 as usize].clone().ok_or_else(|| {
                        GraphError::internal(format!("{} was never computed", output.name))
                    })
                })
                .collect()
        });
        self.release_all(slots.into_iter().flatten());
        outputs
    }

    /// Ends the execution where its owner wants that.
    fn go_on(&self) -> Result<()> {
        match self.workspace.is_stopped() {
            false => Ok(()),
            true => Err(GraphError::new(
                GraphErrorKind::Stopped,
                "the execution was stopped",
            )),
        }
    }

    fn nodes(
        &mut self,
        graph: &Graph,
        last: &Last,
        slots: &mut [Option<RuntimeValue<'m>>],
    ) -> Result<()> {
        for (position, node) in graph.nodes.iter().enumerate() {
            self.go_on()?;
            let outputs = if node.bodies.is_empty() {
                self.node(graph, node, slots)
            } else {
                self.control(node, &last.bodies[position], slots)
            };
            let outputs = outputs.map_err(|error| {
                error.at(format_args!("node {} ({})", node.name, node.operator.name))
            })?;
            for (&id, held) in node.outputs.iter().zip(outputs) {
                if let Some(old) = slots[id.0 as usize].replace(held) {
                    self.release(old);
                }
            }
            for id in &last.dying[position] {
                if let Some(held) = slots[id.0 as usize].take() {
                    self.release(held);
                }
            }
        }
        Ok(())
    }

    fn node(
        &mut self,
        graph: &Graph,
        node: &Node,
        slots: &[Option<RuntimeValue<'m>>],
    ) -> Result<Vec<RuntimeValue<'m>>> {
        // An input that is only read while the model is planned may have no bytes here at all.
        let held: Vec<Option<&RuntimeValue<'m>>> = node
            .inputs
            .iter()
            .map(|input| input.and_then(|id| slots[id.0 as usize].as_ref()))
            .collect();
        let types: Vec<Option<&TensorType>> = node
            .inputs
            .iter()
            .zip(&held)
            .map(|(input, held)| {
                held.map(|held| &held.ty)
                    .or_else(|| input.map(|id| &graph.value(id).ty))
            })
            .collect();
        let mut read: Vec<Option<Tensor>> = vec![None; node.inputs.len()];
        let known = |index: usize| -> Result<Option<Tensor>> {
            match (
                node.inputs[index].and_then(|id| graph.value(id).constant.clone()),
                held[index],
            ) {
                (Some(tensor), _) => Ok(Some(tensor)),
                (None, Some(held)) => Self::value(held).map(Some),
                (None, None) => Ok(None),
            }
        };
        for (index, value) in read.iter_mut().enumerate() {
            let decides = matches!(
                node.operator.input(index).map(|def| def.kind),
                Some(InputKind::Constant | InputKind::OptionalConstant)
            );
            if decides {
                *value = known(index)?;
            }
        }
        let infer = |read: &[Option<Tensor>]| {
            let constants: Vec<Option<&Tensor>> = read.iter().map(Option::as_ref).collect();
            node.operator
                .infer(&InferCx::new(&types, &constants, &node.attrs))
        };
        let mut outputs = infer(&read)?;
        if outputs.iter().any(|ty| ty.elements().is_none()) {
            for (index, value) in read.iter_mut().enumerate() {
                if value.is_none() {
                    *value = known(index)?;
                }
            }
            outputs = infer(&read)?;
        }
        if let Some(open) = outputs.iter().find(|ty| ty.elements().is_none()) {
            return Err(GraphError::internal(format!(
                "its result stays {open} although all its inputs are known"
            )));
        }
        outputs.truncate(node.outputs.len());
        if node.operator.aliasing == Aliasing::View
            && outputs.len() == 1
            && let Some(Some(from)) = held.first()
            && from.ty.bytes() == outputs[0].bytes()
        {
            return Ok(vec![RuntimeValue {
                ty: outputs.remove(0),
                ..(*from).clone()
            }]);
        }
        let constants: Vec<Option<&Tensor>> = read.iter().map(Option::as_ref).collect();
        let cx = InferCx::new(&types, &constants, &node.attrs);
        let kernel = node.operator.prepare(&PrepareCx::new(cx, &outputs)?)?;
        let mut operands = Vec::with_capacity(node.inputs.len());
        let mut regions = Vec::with_capacity(node.inputs.len());
        for (index, held) in held.iter().enumerate() {
            let buffer = BufferKind::Input(index as u32);
            match held.filter(|_| Graph::reads_at_run(node, index)) {
                Some(held) => {
                    operands.push(Some(Operand::dense(buffer, 0, &held.ty)?));
                    regions.push(held.region);
                }
                None => {
                    operands.push(None);
                    regions.push(Region::EMPTY);
                }
            }
        }
        let mut results = Vec::with_capacity(outputs.len());
        let mut made: Vec<RuntimeValue<'m>> = Vec::with_capacity(outputs.len());
        for (index, ty) in outputs.into_iter().enumerate() {
            results.push(Operand::dense(BufferKind::Output(index as u32), 0, &ty)?);
            match self.take(ty) {
                Ok(held) => made.push(held),
                Err(error) => {
                    self.release_all(made);
                    return Err(error);
                }
            }
        }
        let scratch_bytes = kernel.scratch_bytes();
        let scratch = match scratch_bytes {
            0 => None,
            bytes => match self.workspace.take(bytes) {
                Ok(lent) => Some(lent),
                Err(error) => {
                    self.release_all(made);
                    return Err(error);
                }
            },
        };
        let into: Vec<Region<'m>> = made.iter().map(|held| held.region).collect();
        let memory = Memory {
            weights: Region::EMPTY,
            arena: scratch.map_or(Region::EMPTY, |lent| lent.region),
            constants: Region::EMPTY,
            inputs: &regions,
            outputs: &into,
            workers: Workers::ALONE,
        };
        if let Some(observer) = self.observer {
            observer.starts(&operands, &memory);
        }
        let ran = {
            let workers = self.workspace.workers();
            let memory = Memory { workers, ..memory };
            Call::new(&operands, &results, (0, scratch_bytes), &memory)
                .and_then(|call| kernel.run(&call))
        };
        if let Some(lent) = scratch {
            self.workspace.give(lent);
        }
        if let Err(error) = ran {
            if let Some(observer) = self.observer {
                observer.failed(&node.name, node.operator.name, &operands, &memory);
            }
            self.release_all(made);
            return Err(error.into());
        }
        if let Some(observer) = self.observer {
            observer.ran(&node.name, node.operator.name, &operands, &results, &memory);
        }
        Ok(made)
    }

    fn control(
        &mut self,
        node: &Node,
        last: &[Last],
        slots: &[Option<RuntimeValue<'m>>],
    ) -> Result<Vec<RuntimeValue<'m>>> {
        let inputs: Vec<Option<RuntimeValue<'m>>> = node
            .inputs
            .iter()
            .map(|input| input.and_then(|id| slots[id.0 as usize].clone()))
            .collect();
        match node.operator.name {
            "If" => self.branch(node, last, &inputs),
            "Loop" => self.repeat(node, last, &inputs),
            _ => self.scan(node, last, &inputs),
        }
    }

    fn given(inputs: &[Option<RuntimeValue<'m>>], index: usize) -> Result<RuntimeValue<'m>> {
        inputs
            .get(index)
            .cloned()
            .flatten()
            .ok_or_else(|| GraphError::invalid(format!("its input {index} is missing")))
    }

    fn body(
        &mut self,
        node: &Node,
        which: usize,
        last: &[Last],
        mut own: Vec<RuntimeValue<'m>>,
        inputs: &[Option<RuntimeValue<'m>>],
    ) -> Result<Vec<RuntimeValue<'m>>> {
        let body = &node.bodies[which];
        for &index in &body.captures {
            own.push(Self::given(inputs, index)?);
        }
        self.graph(&body.graph, &last[which], own)
    }

    fn branch(
        &mut self,
        node: &Node,
        last: &[Last],
        inputs: &[Option<RuntimeValue<'m>>],
    ) -> Result<Vec<RuntimeValue<'m>>> {
        let condition = Self::number(&Self::given(inputs, 0)?, "the condition")?;
        let which = usize::from(condition == 0);
        self.body(node, which, last, Vec::new(), inputs)
    }

    fn repeat(
        &mut self,
        node: &Node,
        last: &[Last],
        inputs: &[Option<RuntimeValue<'m>>],
    ) -> Result<Vec<RuntimeValue<'m>>> {
        let count = control::carried(node)?;
        let body = &node.bodies[0].graph;
        let optional = |index: usize| inputs.get(index).and_then(Option::as_ref);
        let most = match optional(0) {
            Some(held) => Self::number(held, "the trip count")?,
            None => i64::MAX,
        };
        let mut go = match optional(1) {
            Some(held) => Self::number(held, "the condition")? != 0,
            None => true,
        };
        let heeded = optional(1).is_some();
        let mut state = (0..count)
            .map(|index| Self::given(inputs, 2 + index))
            .collect::<Result<Vec<_>>>()?;
        let mut collected: Vec<Vec<RuntimeValue<'m>>> =
            vec![Vec::new(); body.outputs.len().saturating_sub(1 + count)];
        let mut round = 0;
        while go && round < most {
            // A body without nodes asks nowhere else.
            self.go_on()?;
            let mut own = vec![
                self.scalar(DataType::Int64, &round.to_le_bytes())?,
                self.scalar(DataType::Bool, &[u8::from(go)])?,
            ];
            own.append(&mut state);
            let mut results = self.body(node, 0, last, own, inputs)?;
            let mut rest = results.split_off(1);
            let condition = results.remove(0);
            let next = Self::number(&condition, "the condition")? != 0;
            self.release(condition);
            go = !heeded || next;
            let scanned = rest.split_off(count);
            state = rest;
            for (list, held) in collected.iter_mut().zip(scanned) {
                list.push(held);
            }
            round += 1;
        }
        for (list, output) in collected.into_iter().zip(&body.outputs[1 + count..]) {
            let empty = &body.value(output.value).ty;
            let stacked = self.stack(list, empty, 0, false)?;
            state.push(stacked);
        }
        Ok(state)
    }

    /// Joins tensors of one shape along a new axis. `empty` says what one would be where there is none.
    fn stack(
        &mut self,
        mut list: Vec<RuntimeValue<'m>>,
        empty: &TensorType,
        axis: i64,
        backwards: bool,
    ) -> Result<RuntimeValue<'m>> {
        if backwards {
            list.reverse();
        }
        let one = list.first().map_or_else(
            || {
                let known: Vec<i64> = match empty.rank() {
                    None => Vec::new(),
                    Some(_) => empty.shape.iter().map(|&dim| dim.max(0)).collect(),
                };
                TensorType::new(empty.dtype, known)
            },
            |held| held.ty.clone(),
        );
        if let Some(other) = list.iter().find(|held| held.ty != one) {
            return Err(GraphError::new(
                GraphErrorKind::Data,
                format!(
                    "its rounds give {one} and {}, which cannot be joined",
                    other.ty
                ),
            ));
        }
        let axis = axis_of(axis, one.shape.len() + 1)?;
        let mut shape = one.shape.clone();
        shape.insert(axis, list.len() as i64);
        let joined = self.take(TensorType::new(one.dtype, shape))?;
        let bytes = bytes_of(&one)?;
        let outer: usize = one.shape[..axis].iter().map(|&dim| dim as usize).product();
        if bytes > 0 {
            let inner = bytes / outer;
            for (index, held) in list.iter().enumerate() {
                for row in 0..outer {
                    copy_region(
                        cut(&held.region, row * inner, inner)?,
                        cut(&joined.region, (row * list.len() + index) * inner, inner)?,
                    )?;
                }
            }
        }
        self.release_all(list);
        Ok(joined)
    }

    /// Cuts one slice out along an axis.
    fn slice(
        &mut self,
        from: &RuntimeValue<'m>,
        axis: i64,
        index: usize,
    ) -> Result<RuntimeValue<'m>> {
        let axis = axis_of(axis, from.ty.shape.len())?;
        let mut shape = from.ty.shape.clone();
        let length = shape.remove(axis) as usize;
        let outer: usize = shape[..axis].iter().map(|&dim| dim as usize).product();
        let slice = self.take(TensorType::new(from.ty.dtype, shape))?;
        let bytes = bytes_of(&slice.ty)?;
        if bytes > 0 {
            let inner = bytes / outer;
            for row in 0..outer {
                copy_region(
                    cut(&from.region, (row * length + index) * inner, inner)?,
                    cut(&slice.region, row * inner, inner)?,
                )?;
            }
        }
        Ok(slice)
    }

    fn scan(
        &mut self,
        node: &Node,
        last: &[Last],
        inputs: &[Option<RuntimeValue<'m>>],
    ) -> Result<Vec<RuntimeValue<'m>>> {
        let scanning = Scanning::of(node)?;
        let body = &node.bodies[0].graph;
        let mut state = (0..scanning.states)
            .map(|index| Self::given(inputs, index))
            .collect::<Result<Vec<_>>>()?;
        let scanned = (0..scanning.input_axes.len())
            .map(|index| Self::given(inputs, scanning.states + index))
            .collect::<Result<Vec<_>>>()?;
        let mut length: Option<usize> = None;
        for (held, &axis) in scanned.iter().zip(&scanning.input_axes) {
            let own = held.ty.shape[axis_of(axis, held.ty.shape.len())?] as usize;
            if length.is_some_and(|length| length != own) {
                return Err(GraphError::new(
                    GraphErrorKind::Data,
                    format!("it scans tensors of {length:?} and {own} slices"),
                ));
            }
            length = Some(own);
        }
        let length = length.unwrap_or(0);
        let mut collected: Vec<Vec<RuntimeValue<'m>>> =
            vec![Vec::new(); scanning.output_axes.len()];
        for round in 0..length {
            let mut own = std::mem::take(&mut state);
            for ((held, &axis), &backwards) in scanned
                .iter()
                .zip(&scanning.input_axes)
                .zip(&scanning.input_backwards)
            {
                let at = if backwards { length - 1 - round } else { round };
                own.push(self.slice(held, axis, at)?);
            }
            let mut results = self.body(node, 0, last, own, inputs)?;
            let rest = results.split_off(scanning.states);
            state = results;
            for (list, held) in collected.iter_mut().zip(rest) {
                list.push(held);
            }
        }
        for (index, list) in collected.into_iter().enumerate() {
            let empty = &body.value(body.outputs[scanning.states + index].value).ty;
            let stacked = self.stack(
                list,
                empty,
                scanning.output_axes[index],
                scanning.output_backwards[index],
            )?;
            state.push(stacked);
        }
        Ok(state)
    }
}
