//! Operators and graphs while a program builds them.
//!
//! An operator exists as long as a reference to it or to any operator linked with it exists, in either direction: a consumer that a
//! program has dropped still belongs to the graph.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, OnceLock};

use crate::lowering::{self as ge, Desc, Occurs, Value};
use crate::sync::{Mutex, MutexGuard};
use crate::wire::TensorDescExt;
use crate::{GeError, GeResult, graph, message};

/// An input of an operator.
#[derive(Clone, Default)]
pub struct Input {
    pub name: String,
    /// The name of the group that it is one of, if there are several.
    pub group: Option<String>,
    pub from: Option<(u64, usize)>,
    pub tensor_desc: TensorDescExt,
    /// Whether the program described it itself.
    pub described: bool,
}

/// An output of an operator.
#[derive(Clone, Default)]
pub struct Output {
    pub name: String,
    pub group: Option<String>,
    pub tensor_desc: TensorDescExt,
}

/// An operator.
#[derive(Clone, Default)]
pub struct Op {
    pub name: String,
    pub kind: String,
    pub attrs: BTreeMap<String, Value>,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    pub consumers: Vec<u64>,
    pub before: Vec<u64>,
    pub after: Vec<u64>,
    pub bodies: BTreeMap<String, Vec<Option<u64>>>,
    /// The graph that it is a node of; 0 if it is in none.
    pub graph: u64,
    holders: usize,
}

/// A graph.
#[derive(Clone, Default)]
pub struct Graph {
    pub name: String,
    pub ops: Vec<u64>,
    pub outputs: Vec<(u64, usize)>,
    pub valid: bool,
    pub begun: bool,
    pub added: bool,
    pub table: BTreeMap<String, u64>,
    /// A graph that came from a model file, as it is run.
    pub imported: Option<Arc<graph::Graph>>,
    /// How many parts of it were replaced.
    pub replaced: usize,
    holders: usize,
}

/// All operators and graphs of the process.
#[derive(Default)]
pub struct GraphRegistry {
    ops: HashMap<u64, Op>,
    graphs: HashMap<u64, Graph>,
    last: u64,
    names: u64,
}

static WORLD: OnceLock<Mutex<GraphRegistry>> = OnceLock::new();

/// Locks the world. Nothing else is locked or called meanwhile.
pub fn lock() -> MutexGuard<'static, GraphRegistry> {
    WORLD
        .get_or_init(|| Mutex::new(GraphRegistry::default()))
        .lock()
}

impl GraphRegistry {
    fn id(&mut self) -> u64 {
        self.last += 1;
        // Beyond what an address can be, so that a number is never taken for a pointer.
        self.last | 0x6e00_0000_0000_0000
    }

    pub fn op(&self, id: u64) -> GeResult<&Op> {
        self.ops
            .get(&id)
            .ok_or_else(|| GeError::new("the operator is empty: it was made without a type"))
    }

    pub fn op_mut(&mut self, id: u64) -> GeResult<&mut Op> {
        self.ops
            .get_mut(&id)
            .ok_or_else(|| GeError::new("the operator is empty: it was made without a type"))
    }

    pub fn graph(&self, id: u64) -> GeResult<&Graph> {
        self.graphs
            .get(&id)
            .ok_or_else(|| GeError::new("the graph is empty: it was made without a name"))
    }

    pub fn graph_mut(&mut self, id: u64) -> GeResult<&mut Graph> {
        self.graphs
            .get_mut(&id)
            .ok_or_else(|| GeError::new("the graph is empty: it was made without a name"))
    }

    pub fn new_op(&mut self, name: &str, kind: &str) -> u64 {
        let id = self.id();
        self.names += 1;
        let name = if name.is_empty() {
            format!("{kind}_{}", self.names)
        } else {
            name.to_owned()
        };
        let op = Op {
            name,
            kind: kind.to_owned(),
            holders: 1,
            ..Op::default()
        };
        self.ops.insert(id, op);
        id
    }

    pub fn new_graph(&mut self, name: &str) -> u64 {
        let id = self.id();
        let graph = Graph {
            name: name.to_owned(),
            holders: 1,
            ..Graph::default()
        };
        self.graphs.insert(id, graph);
        id
    }

    /// Adds the inputs, outputs and defaults of the headers to an operator.
    pub fn init_from_prototype(&mut self, id: u64) -> GeResult<()> {
        let op = self.op_mut(id)?;
        let prototype = ge::prototype(&op.kind)
            .ok_or_else(|| GeError::new(format!("there is no operator {}", op.kind)))?;
        for (name, default) in prototype.attrs {
            if let Some(value) = default.value() {
                op.attrs.insert((*name).to_owned(), value);
            }
        }
        for (name, occurs) in prototype.inputs {
            if *occurs != Occurs::Often {
                op.inputs.push(Input {
                    name: (*name).to_owned(),
                    ..Input::default()
                });
            }
        }
        for (name, occurs) in prototype.outputs {
            if *occurs != Occurs::Often {
                op.outputs.push(Output {
                    name: (*name).to_owned(),
                    ..Output::default()
                });
            }
        }
        Ok(())
    }

    pub fn hold_op(&mut self, id: u64) {
        if let Some(op) = self.ops.get_mut(&id) {
            op.holders += 1;
        }
    }

    pub fn drop_op(&mut self, id: u64) {
        let Some(op) = self.ops.get_mut(&id) else {
            return;
        };
        op.holders = op.holders.saturating_sub(1);
        if op.holders > 0 {
            return;
        }
        // This operator has no reference; if none of its linked operators has one, all are removed.
        let mut seen = HashSet::from([id]);
        let mut waiting = VecDeque::from([id]);
        while let Some(at) = waiting.pop_front() {
            for next in self.neighbours(at) {
                if self.ops.get(&next).is_some_and(|op| op.holders > 0) {
                    return;
                }
                if seen.insert(next) {
                    waiting.push_back(next);
                }
            }
        }
        let mut bodies = Vec::new();
        for id in seen {
            if let Some(op) = self.ops.remove(&id) {
                bodies.extend(op.bodies.into_values().flatten().flatten());
            }
        }
        for body in bodies {
            self.drop_graph(body);
        }
    }

    pub fn hold_graph(&mut self, id: u64) {
        if let Some(graph) = self.graphs.get_mut(&id) {
            graph.holders += 1;
        }
    }

    pub fn drop_graph(&mut self, id: u64) {
        let Some(graph) = self.graphs.get_mut(&id) else {
            return;
        };
        graph.holders = graph.holders.saturating_sub(1);
        if graph.holders > 0 {
            return;
        }
        if let Some(graph) = self.graphs.remove(&id) {
            for op in graph.ops.into_iter().chain(graph.table.into_values()) {
                self.drop_op(op);
            }
        }
    }

    fn neighbours(&self, id: u64) -> Vec<u64> {
        let Some(op) = self.ops.get(&id) else {
            return Vec::new();
        };
        let producers = op.inputs.iter().filter_map(|input| input.from);
        producers
            .map(|(from, _)| from)
            .chain(op.before.iter().copied())
            .chain(op.consumers.iter().copied())
            .chain(op.after.iter().copied())
            .collect()
    }

    /// Links an input with an output: by name, by number, or (`None`) with the only one.
    pub fn link(&mut self, to: u64, input: &str, from: u64, output: Port<'_>) -> GeResult<()> {
        let source = self.op(from)?;
        let position = match output {
            Port::Only if source.outputs.len() == 1 => 0,
            Port::Only => {
                return Err(GeError::new(format!(
                    "{} ({}) has {} outputs, so that the one for input {input} has to be named: the link is not made",
                    source.name,
                    source.kind,
                    source.outputs.len()
                )));
            }
            Port::Named(name) => source
                .outputs
                .iter()
                .position(|one| one.name == name)
                .ok_or_else(|| {
                    let known: Vec<_> = source.outputs.iter().map(|o| o.name.as_str()).collect();
                    GeError::new(format!(
                        "{} ({}) has no output {name}; it has {}",
                        source.name,
                        source.kind,
                        known.join(", ")
                    ))
                })?,
            Port::Number(number) if number < source.outputs.len() => number,
            Port::Number(number) => {
                return Err(GeError::new(format!(
                    "{} ({}) has no output {number}; it has {}",
                    source.name,
                    source.kind,
                    source.outputs.len()
                )));
            }
        };
        let tensor_desc = source.outputs[position].tensor_desc.clone();
        let op = self.op_mut(to)?;
        let (name, kind) = (op.name.clone(), op.kind.clone());
        // Asked of the inputs, which are few: a constant may have as many consumers as the graph has nodes.
        let reads = op
            .inputs
            .iter()
            .any(|one| one.from.is_some_and(|(own, _)| own == from));
        let Some(slot) = op.inputs.iter_mut().find(|one| one.name == input) else {
            return Err(GeError::new(format!(
                "{name} ({kind}) has no input {input}"
            )));
        };
        let before = slot.from.replace((from, position));
        let format = slot.tensor_desc.desc.format;
        if slot.described && format != ge::FORMAT_ND {
            slot.tensor_desc = tensor_desc;
            slot.tensor_desc.desc.format = format;
        } else {
            slot.tensor_desc = tensor_desc;
        }
        if let Some((old, _)) = before
            && old != from
        {
            self.forget_consumer(old, to);
        }
        if !reads && let Some(source) = self.ops.get_mut(&from) {
            source.consumers.push(to);
        }
        Ok(())
    }

    /// Returns the inputs that read an output.
    pub fn readers(&self, (id, number): (u64, usize)) -> Vec<(u64, usize)> {
        let mut found = Vec::new();
        for &consumer in self.ops.get(&id).map_or(&[][..], |op| &op.consumers) {
            let inputs = self.ops.get(&consumer).map_or(&[][..], |op| &op.inputs);
            let reads = |input: &Input| input.from == Some((id, number));
            found.extend(
                (0..inputs.len())
                    .filter(|&at| reads(&inputs[at]))
                    .map(|at| (consumer, at)),
            );
        }
        found
    }

    /// Strikes a consumer off an operator, unless it still reads another output.
    fn forget_consumer(&mut self, from: u64, to: u64) {
        let reads = self.ops.get(&to).is_some_and(|op| {
            op.inputs
                .iter()
                .any(|input| input.from.is_some_and(|(own, _)| own == from))
        });
        if !reads && let Some(source) = self.ops.get_mut(&from) {
            source.consumers.retain(|own| *own != to);
        }
    }

    pub fn unlink(&mut self, to: u64, input: usize) -> GeResult<()> {
        let op = self.op_mut(to)?;
        let name = op.name.clone();
        let slot = op
            .inputs
            .get_mut(input)
            .ok_or_else(|| GeError::new(format!("{name} has no input {input}")))?;
        if let Some((from, _)) = slot.from.take() {
            self.forget_consumer(from, to);
        }
        Ok(())
    }

    /// Orders one operator behind another.
    pub fn order(&mut self, to: u64, from: u64) -> GeResult<()> {
        self.op(from)?;
        let op = self.op_mut(to)?;
        if !op.before.contains(&from) {
            op.before.push(from);
        }
        let source = self.op_mut(from)?;
        if !source.after.contains(&to) {
            source.after.push(to);
        }
        Ok(())
    }

    pub fn unorder(&mut self, to: u64, from: u64) {
        if let Some(op) = self.ops.get_mut(&to) {
            op.before.retain(|own| *own != from);
        }
        if let Some(op) = self.ops.get_mut(&from) {
            op.after.retain(|own| *own != to);
        }
    }

    /// Takes all links of an operator away.
    pub fn cut(&mut self, id: u64) -> GeResult<()> {
        let op = self.op(id)?.clone();
        for index in 0..op.inputs.len() {
            self.unlink(id, index)?;
        }
        for from in op.before {
            self.unorder(id, from);
        }
        for to in op.after {
            self.unorder(to, id);
        }
        for to in op.consumers {
            let inputs = self.op(to)?.inputs.clone();
            for (index, input) in inputs.iter().enumerate() {
                if input.from.is_some_and(|(from, _)| from == id) {
                    self.unlink(to, index)?;
                }
            }
        }
        Ok(())
    }

    /// Makes a graph of everything that is linked with these operators, in either direction.
    pub fn set_inputs(&mut self, graph: u64, inputs: &[u64]) -> GeResult<()> {
        let own = self.graph(graph)?;
        if own.begun {
            return Err(GeError::new(format!(
                "the inputs of graph {} are set already",
                own.name
            )));
        }
        if inputs.is_empty() {
            return Err(GeError::new(format!(
                "the inputs of graph {} are to be none",
                own.name
            )));
        }
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        for &id in inputs {
            let op = self.op(id)?;
            if op.inputs.iter().any(|input| input.from.is_some()) || op.outputs.is_empty() {
                message::warn(format!(
                    "{} ({}) is not an input of a graph: it reads something, or it has no output",
                    op.name, op.kind
                ));
                continue;
            }
            if seen.insert(id) {
                order.push(id);
            }
        }
        if order.is_empty() {
            return Err(GeError::new(
                "none of the operators can be an input of a graph",
            ));
        }
        let mut at = 0;
        while at < order.len() {
            let next = self.neighbours(order[at]);
            order.extend(next.into_iter().filter(|id| seen.insert(*id)));
            at += 1;
        }
        for &id in &order {
            self.hold_op(id);
            self.op_mut(id)?.graph = graph;
        }
        let own = self.graph_mut(graph)?;
        own.ops = order;
        own.begun = true;
        own.valid = true;
        Ok(())
    }

    /// Copies a graph into plain data, as it is now.
    pub fn freeze(&self, id: u64, depth: usize) -> GeResult<ge::Graph> {
        let graph = self.graph(id)?;
        if depth > 8 {
            return Err(GeError::new(format!(
                "the graph {} lies more than 8 graphs deep",
                graph.name
            )));
        }
        let indices: HashMap<u64, usize> = graph
            .ops
            .iter()
            .enumerate()
            .map(|(at, &id)| (id, at))
            .collect();
        let mut nodes = Vec::with_capacity(graph.ops.len());
        for &id in &graph.ops {
            let op = self.op(id)?;
            let mut bodies = BTreeMap::new();
            for (name, list) in &op.bodies {
                let list = list
                    .iter()
                    .flatten()
                    .map(|&body| self.freeze(body, depth + 1))
                    .collect::<GeResult<Vec<_>>>()?;
                bodies.insert(name.clone(), list);
            }
            let mut inputs = Vec::with_capacity(op.inputs.len());
            for input in &op.inputs {
                let from = match input.from {
                    None => None,
                    Some((from, position)) => {
                        let at = indices.get(&from).copied().ok_or_else(|| {
                            GeError::new(format!(
                                "{} reads an operator that is not in graph {}",
                                op.name, graph.name
                            ))
                        })?;
                        Some((at, position))
                    }
                };
                inputs.push(ge::Input {
                    name: input.name.clone(),
                    from,
                    desc: input.tensor_desc.desc.clone(),
                });
            }
            nodes.push(ge::Node {
                name: op.name.clone(),
                kind: op.kind.clone(),
                attrs: op.attrs.clone(),
                inputs,
                outputs: op
                    .outputs
                    .iter()
                    .map(|output| ge::Output {
                        name: output.name.clone(),
                        desc: output.tensor_desc.desc.clone(),
                    })
                    .collect(),
                after: op
                    .before
                    .iter()
                    .filter_map(|id| indices.get(id).copied())
                    .collect(),
                bodies,
            });
        }
        let outputs = graph
            .outputs
            .iter()
            .filter_map(|(id, position)| Some((*indices.get(id)?, *position)))
            .collect();
        Ok(ge::Graph {
            name: graph.name.clone(),
            nodes,
            outputs,
        })
    }

    /// Copies an operator with the constants that it reads; its other inputs are inputs as it describes them.
    pub fn alone(&self, id: u64) -> GeResult<ge::Graph> {
        let op = self.op(id)?;
        let mut graph = ge::Graph {
            name: op.name.clone(),
            ..ge::Graph::default()
        };
        let mut node = ge::Node {
            name: op.name.clone(),
            kind: op.kind.clone(),
            attrs: op.attrs.clone(),
            outputs: op
                .outputs
                .iter()
                .map(|output| ge::Output {
                    name: output.name.clone(),
                    desc: output.tensor_desc.desc.clone(),
                })
                .collect(),
            ..ge::Node::default()
        };
        for input in &op.inputs {
            let source = input.from.and_then(|(from, _)| self.ops.get(&from));
            let constant = source.filter(|op| op.kind == "Const" || op.kind == "Constant");
            let given = input.from.is_some() || input.described;
            if given {
                let index = graph.nodes.len();
                graph.nodes.push(match constant {
                    Some(op) => ge::Node {
                        name: op.name.clone(),
                        kind: op.kind.clone(),
                        attrs: op.attrs.clone(),
                        outputs: vec![ge::Output {
                            name: "y".into(),
                            desc: input.tensor_desc.desc.clone(),
                        }],
                        ..ge::Node::default()
                    },
                    None => ge::Node {
                        name: input.name.clone(),
                        kind: "Data".into(),
                        outputs: vec![ge::Output {
                            name: "y".into(),
                            desc: input.tensor_desc.desc.clone(),
                        }],
                        ..ge::Node::default()
                    },
                });
                node.inputs.push(ge::Input {
                    name: input.name.clone(),
                    from: Some((index, 0)),
                    desc: input.tensor_desc.desc.clone(),
                });
            } else {
                node.inputs.push(ge::Input {
                    name: input.name.clone(),
                    from: None,
                    desc: input.tensor_desc.desc.clone(),
                });
            }
        }
        graph.nodes.push(node);
        Ok(graph)
    }

    /// Writes what was found of the outputs of operators, and to the inputs that read them.
    pub fn describe(&mut self, ids: &[u64], found: &[Vec<Option<Desc>>]) -> GeResult<()> {
        for (&id, found) in ids.iter().zip(found) {
            self.set_descs(id, found)?;
        }
        for &id in ids {
            for number in 0..self.op(id)?.inputs.len() {
                let Some((from, position)) = self.op(id)?.inputs[number].from else {
                    continue;
                };
                let read = self.op(from)?.outputs[position].tensor_desc.desc.clone();
                let own = &mut self.op_mut(id)?.inputs[number].tensor_desc.desc;
                (own.dims, own.dtype) = (read.dims, read.dtype);
            }
        }
        Ok(())
    }

    /// Writes what was found of an operator's outputs; their formats stay.
    pub fn set_descs(&mut self, id: u64, found: &[Option<Desc>]) -> GeResult<()> {
        let op = self.op_mut(id)?;
        for (output, found) in op.outputs.iter_mut().zip(found) {
            if let Some(desc) = found {
                let format = output.tensor_desc.desc.format;
                output.tensor_desc.desc = desc.clone();
                output.tensor_desc.desc.format = format;
            }
        }
        Ok(())
    }

    /// Makes operators of plain data: the contents of a graph that was loaded.
    pub fn thaw(&mut self, id: u64, source: &ge::Graph) -> GeResult<()> {
        let mut ids = Vec::with_capacity(source.nodes.len());
        for node in &source.nodes {
            let id = self.new_op(&node.name, &node.kind);
            ids.push(id);
        }
        for (node, &own) in source.nodes.iter().zip(&ids) {
            let mut bodies = BTreeMap::new();
            for (name, list) in &node.bodies {
                let mut made = Vec::new();
                for body in list {
                    let inner = self.new_graph(&body.name);
                    self.thaw(inner, body)?;
                    made.push(Some(inner));
                }
                bodies.insert(name.clone(), made);
            }
            let index_of = |at: usize| {
                ids.get(at).copied().ok_or_else(|| {
                    GeError::new(format!(
                        "the graph {} is damaged: it names the node {at} of {}",
                        source.name,
                        source.nodes.len()
                    ))
                })
            };
            let mut inputs = Vec::new();
            for input in &node.inputs {
                let from = match input.from {
                    None => None,
                    Some((at, position)) => Some((index_of(at)?, position)),
                };
                inputs.push(Input {
                    name: input.name.clone(),
                    from,
                    tensor_desc: TensorDescExt {
                        desc: input.desc.clone(),
                        rest: Vec::new(),
                    },
                    ..Input::default()
                });
            }
            let before = node
                .after
                .iter()
                .map(|&at| index_of(at))
                .collect::<GeResult<Vec<_>>>()?;
            let producers: BTreeSet<u64> = inputs.iter().filter_map(|i| Some(i.from?.0)).collect();
            let op = self.op_mut(own)?;
            op.graph = id;
            op.attrs = node.attrs.clone();
            op.inputs = inputs;
            op.outputs = node
                .outputs
                .iter()
                .map(|output| Output {
                    name: output.name.clone(),
                    tensor_desc: TensorDescExt {
                        desc: output.desc.clone(),
                        rest: Vec::new(),
                    },
                    ..Output::default()
                })
                .collect();
            op.before.clone_from(&before);
            op.bodies = bodies;
            for from in producers {
                self.op_mut(from)?.consumers.push(own);
            }
            for from in before {
                self.op_mut(from)?.after.push(own);
            }
        }
        let outputs = source
            .outputs
            .iter()
            .map(|&(at, position)| {
                let id = ids.get(at).copied().ok_or_else(|| {
                    GeError::new(format!(
                        "the graph {} is damaged: it names the node {at} of {}",
                        source.name,
                        source.nodes.len()
                    ))
                })?;
                Ok((id, position))
            })
            .collect::<GeResult<Vec<_>>>()?;
        let graph = self.graph_mut(id)?;
        graph.name.clone_from(&source.name);
        graph.ops = ids;
        graph.outputs = outputs;
        graph.valid = true;
        graph.begun = true;
        Ok(())
    }
}

/// Which output a link is to.
#[derive(Clone, Copy)]
pub enum Port<'a> {
    /// The only one.
    Only,
    /// The one of this name.
    Named(&'a str),
    /// The one at this index.
    Number(usize),
}

/// The description of nothing.
pub const NOTHING: Desc = Desc {
    dims: Vec::new(),
    dtype: 0,
    format: ge::FORMAT_ND,
};
