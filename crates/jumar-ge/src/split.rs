//! Graphs with custom operators and collectives, split at these: what lies between them becomes graphs of their own (segments), and a
//! run alternates between segments and calls of the program or of communicators.

use std::collections::{BTreeMap, BTreeSet};

use jumar_types::dtype::DataType;

use crate::collective::{self, Collective};
use crate::custom::{self, Operand, RegisteredOperator};
use crate::graph::{Products, TensorType};
use crate::lowering::{self as ge, Data, Desc, Graph, Input, Node, Output, Value};
use crate::plan::{Entry, Family, Source, State, type_of};
use crate::session::{Options, Session};
use crate::sync::Mutex;
use crate::{GeError, GeResult};

/// A graph that is split.
pub struct Split {
    /// The graph as the program built it.
    pub source: Graph,
    /// What a run does, in this order.
    pub steps: Vec<Step>,
    /// Where the outputs of the graph come from.
    pub outputs: Vec<ValueRef>,
    /// How many values lie between the steps.
    pub slots: usize,
    /// Constants that custom operators read, or that are outputs.
    pub constants: Vec<Data>,
}

/// A part of a run.
pub enum Step {
    /// A graph without such operators.
    Segment(Segment),
    /// A custom operator or a collective.
    Call(Call),
}

/// A graph between calls.
pub struct Segment {
    pub entry: Entry,
    pub inputs: Vec<ValueRef>,
    /// The slots of its outputs.
    pub outputs: Vec<usize>,
}

/// An operator that no segment has.
pub struct Call {
    pub node: Node,
    pub inputs: Vec<Option<ValueRef>>,
    /// The slots of its outputs.
    pub outputs: Vec<usize>,
    pub by: By,
}

/// Who performs a call.
pub enum By {
    /// Execute of the program.
    Program(RegisteredOperator),
    /// All ranks of a communicator.
    Ranks(Collective),
}

/// Where a value is found during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueRef {
    /// An input of the graph.
    Input(usize),
    /// A constant.
    Constant(usize),
    /// A value between the steps.
    Slot(usize),
}

/// Operators whose value is an attribute.
const CONSTANTS: &[&str] = &["Const", "Constant"];

/// Splits a graph at the operators that the program registered and at collectives; a graph without any stays as it is.
///
/// # Errors
///
/// FAILED: such an operator is in a graph inside an operator, the attributes of a collective are wrong, or the graph has a circle.
pub fn split(graph: Graph, number: u32, options: &Options, products: Products) -> GeResult<Source> {
    let mut found = BTreeMap::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        if let Some(registered) = custom::registered(node)? {
            found.insert(at, By::Program(registered));
        } else if let Some(collective) = Collective::of(node)? {
            found.insert(at, By::Ranks(collective));
        }
        node.bodies
            .values()
            .flatten()
            .try_for_each(|body| refuse_inside(body, node))?;
    }
    if found.is_empty() {
        return Ok(Source::Built(graph));
    }
    let splitter = Splitter::new(graph, &found)?;
    Ok(Source::Custom(Box::new(splitter.finish(found, |graph| {
        Entry {
            number,
            origin: 0,
            source: Source::Built(graph),
            options: options.clone(),
            products,
            state: Mutex::new(State::default()),
        }
    }))))
}

/// Refuses custom operators and collectives in a graph inside an operator.
fn refuse_inside(body: &Graph, outer: &Node) -> GeResult<()> {
    collective::refuse(
        body,
        format_args!(
            "is in a graph inside {} (node {}): call it outside of control flow",
            outer.kind, outer.name
        ),
    )?;
    for node in &body.nodes {
        if custom::registered(node)?.is_some() {
            return Err(GeError::new(format!(
                "the custom operator {} (node {}) is in a graph inside {} (node {}), which is not supported: call it outside of control flow",
                node.kind, node.name, outer.kind, outer.name
            )));
        }
        node.bodies
            .values()
            .flatten()
            .try_for_each(|inner| refuse_inside(inner, outer))?;
    }
    Ok(())
}

/// An output of a node.
type Port = (usize, usize);

struct Splitter {
    graph: Graph,
    order: Vec<usize>,
    /// For each node the number of the segment that it is in, or behind which it is called.
    stages: Vec<usize>,
    /// For each input of the graph, by its node, its position.
    inputs: BTreeMap<usize, usize>,
    constants: Vec<usize>,
    slots: BTreeMap<Port, usize>,
    /// What calls and the graph's end read.
    read_in_memory: BTreeSet<Port>,
}

impl Splitter {
    fn new(graph: Graph, found: &BTreeMap<usize, By>) -> GeResult<Splitter> {
        let order = graph.order()?;
        let positions = graph.inputs();
        let inputs = positions.iter().enumerate().map(|(at, &node)| (node, at));
        let inputs: BTreeMap<usize, usize> = inputs.collect();
        let mut stages = vec![0; graph.nodes.len()];
        for &at in &order {
            let node = &graph.nodes[at];
            let data = node.inputs.iter().filter_map(|input| input.from);
            let before = data.map(|(from, _)| from).chain(node.after.iter().copied());
            for from in before {
                let behind = found.contains_key(&from) && !found.contains_key(&at);
                stages[at] = stages[at].max(stages[from] + usize::from(behind));
            }
        }
        let calls = found.keys().flat_map(|&at| &graph.nodes[at].inputs);
        let read_in_memory = calls
            .filter_map(|input| input.from)
            .chain(graph.outputs.iter().copied())
            .collect();
        Ok(Splitter {
            read_in_memory,
            graph,
            order,
            stages,
            inputs,
            constants: Vec::new(),
            slots: BTreeMap::new(),
        })
    }

    /// Returns whether a node is copied into each segment that reads it: it has its value from itself.
    fn is_copied(&self, at: usize) -> bool {
        let node = &self.graph.nodes[at];
        !self.inputs.contains_key(&at)
            && node.after.is_empty()
            && node.inputs.iter().all(|input| input.from.is_none())
    }

    fn reference(&mut self, port: Port) -> ValueRef {
        if let Some(&input) = self.inputs.get(&port.0) {
            return ValueRef::Input(input);
        }
        if CONSTANTS.contains(&self.graph.nodes[port.0].kind.as_str()) {
            let known = self.constants.iter().position(|&own| own == port.0);
            return ValueRef::Constant(known.unwrap_or_else(|| {
                self.constants.push(port.0);
                self.constants.len() - 1
            }));
        }
        let next = self.slots.len();
        ValueRef::Slot(*self.slots.entry(port).or_insert(next))
    }

    fn finish(mut self, mut found: BTreeMap<usize, By>, entry: impl Fn(Graph) -> Entry) -> Split {
        let order = self.order.clone();
        let last = self.stages.iter().copied().max().unwrap_or(0);
        let outputs: Vec<ValueRef> = self
            .graph
            .outputs
            .clone()
            .into_iter()
            .map(|port| self.reference(port))
            .collect();
        let mut steps = Vec::new();
        for stage in 0..=last {
            let own = |at: &&usize| self.stages[**at] == stage;
            let (calls, nodes): (Vec<usize>, Vec<usize>) = order
                .iter()
                .filter(own)
                .partition(|at| found.contains_key(at));
            let is_own: BTreeSet<usize> = nodes
                .into_iter()
                .filter(|at| !self.inputs.contains_key(at))
                .collect();
            if let Some(segment) = self.segment(stage, &is_own, &entry) {
                steps.push(Step::Segment(segment));
            }
            for at in calls {
                let node = self.graph.nodes[at].clone();
                let inputs = node.inputs.iter();
                let inputs = inputs
                    .map(|input| Some(self.reference(input.from?)))
                    .collect();
                let outputs = (0..node.outputs.len())
                    .map(|position| self.slot((at, position)))
                    .collect();
                if let Some(by) = found.remove(&at) {
                    steps.push(Step::Call(Call {
                        node,
                        inputs,
                        outputs,
                        by,
                    }));
                }
            }
        }
        let value = |&at: &usize| match self.graph.nodes[at].attrs.get("value") {
            Some(Value::Tensor(data)) => data.clone(),
            _ => Data {
                desc: Desc::default(),
                bytes: Default::default(),
            },
        };
        Split {
            constants: self.constants.iter().map(value).collect(),
            slots: self.slots.len(),
            source: self.graph,
            steps,
            outputs,
        }
    }

    fn slot(&mut self, port: Port) -> usize {
        let next = self.slots.len();
        *self.slots.entry(port).or_insert(next)
    }

    /// Lists the outputs of a segment that something outside of it reads.
    fn read_outside(&self, stage: usize, own: &BTreeSet<usize>) -> BTreeSet<Port> {
        let nodes = self.graph.nodes.iter().enumerate();
        let outside = nodes.filter(|(at, _)| !own.contains(at) || self.stages[*at] != stage);
        outside
            .flat_map(|(_, node)| node.inputs.iter().filter_map(|input| input.from))
            .chain(self.graph.outputs.iter().copied())
            .filter(|(from, _)| own.contains(from))
            .collect()
    }

    /// Makes the graph of a segment: of these nodes, what they copy, and inputs for what they read from elsewhere.
    fn segment(
        &mut self,
        stage: usize,
        own: &BTreeSet<usize>,
        entry: &impl Fn(Graph) -> Entry,
    ) -> Option<Segment> {
        let mut outputs: Vec<Port> = self.read_outside(stage, own).into_iter().collect();
        // Another segment has its own copy, and a call reads a constant from memory.
        outputs.retain(|port| {
            let kind = self.graph.nodes[port.0].kind.as_str();
            !self.is_copied(port.0)
                || (!CONSTANTS.contains(&kind) && self.read_in_memory.contains(port))
        });
        if outputs.is_empty() && !own.iter().any(|&at| self.changes_a_variable(at)) {
            return None;
        }
        let mut own = own.clone();
        own.retain(|&at| !self.is_copied(at) || outputs.iter().any(|port| port.0 == at));
        let mut made = Graph {
            name: format!("{}/{stage}", self.graph.name),
            ..Graph::default()
        };
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let mut ports: BTreeMap<Port, usize> = BTreeMap::new();
        let mut inputs = Vec::new();
        for at in self.order.clone() {
            if !own.contains(&at) {
                continue;
            }
            let mut node = self.graph.nodes[at].clone();
            for input in &mut node.inputs {
                let Some(from) = input.from else { continue };
                input.from = Some(match (numbers.get(&from.0), ports.get(&from)) {
                    (Some(&number), _) => (number, from.1),
                    (None, Some(&number)) => (number, 0),
                    (None, None) if self.is_copied(from.0) => {
                        made.nodes.push(self.graph.nodes[from.0].clone());
                        numbers.insert(from.0, made.nodes.len() - 1);
                        (made.nodes.len() - 1, from.1)
                    }
                    (None, None) => {
                        made.nodes.push(self.input_node(from, inputs.len()));
                        inputs.push(self.reference(from));
                        ports.insert(from, made.nodes.len() - 1);
                        (made.nodes.len() - 1, 0)
                    }
                });
            }
            node.after = node
                .after
                .iter()
                .filter_map(|from| numbers.get(from).copied())
                .collect();
            made.nodes.push(node);
            numbers.insert(at, made.nodes.len() - 1);
        }
        made.outputs = outputs
            .iter()
            .filter_map(|&(at, position)| Some((*numbers.get(&at)?, position)))
            .collect();
        let outputs = outputs.into_iter().map(|port| self.slot(port)).collect();
        Some(Segment {
            entry: entry(made),
            inputs,
            outputs,
        })
    }

    /// Returns whether a node may have an effect although nothing reads its outputs.
    fn changes_a_variable(&self, at: usize) -> bool {
        let inputs = self.graph.nodes[at].inputs.iter();
        inputs
            .filter_map(|input| input.from)
            .any(|(from, _)| ge::VARIABLES.contains(&self.graph.nodes[from].kind.as_str()))
    }

    /// Makes the input of a segment for a value from elsewhere. Its type is that of the value during the run.
    fn input_node(&self, (at, position): Port, index: usize) -> Node {
        let source = &self.graph.nodes[at];
        let output = source.outputs.get(position);
        let declared = output.map_or(Desc::default(), |output| output.desc.clone());
        let mut attrs = BTreeMap::new();
        attrs.insert("index".to_owned(), Value::Int(index as i64));
        Node {
            name: format!("{}:{position}", source.name),
            kind: "Data".to_owned(),
            attrs,
            inputs: vec![Input {
                name: "x".to_owned(),
                ..Input::default()
            }],
            outputs: vec![Output {
                name: "y".to_owned(),
                desc: Desc {
                    dims: vec![-2],
                    ..declared
                },
            }],
            ..Node::default()
        }
    }
}

impl Split {
    /// Returns the types of the constants in memory. Texts, which no operator of the engine computes with, are among them.
    ///
    /// # Errors
    ///
    /// FAILED: an element type is unknown.
    pub fn constant_types(&self) -> GeResult<Vec<TensorType>> {
        let constants = self.constants.iter();
        constants
            .map(|data| match DataType::from_acl(data.desc.dtype) {
                Some(dtype) => Ok(TensorType::new(dtype, data.desc.dims.clone())),
                None => Err(GeError::new(format!(
                    "a custom operator reads a constant of the element type {}, which is not known",
                    ge::type_name(data.desc.dtype)
                ))),
            })
            .collect()
    }

    /// Finds the types of the outputs for inputs of these types, as far as they are known before a run, and builds the segments
    /// whose inputs are known.
    ///
    /// # Errors
    ///
    /// FAILED: a segment cannot be built; a function of the program that infers a shape fails.
    pub fn infer(
        &self,
        session: &Session,
        inputs: &[TensorType],
    ) -> GeResult<Vec<Option<TensorType>>> {
        let constants = self.constant_types()?;
        let mut slots: Vec<Option<TensorType>> = vec![None; self.slots];
        for step in &self.steps {
            let find = |reference: ValueRef| match reference {
                ValueRef::Input(at) => inputs.get(at).cloned(),
                ValueRef::Constant(at) => constants.get(at).cloned(),
                ValueRef::Slot(at) => slots.get(at).cloned().flatten(),
            };
            let (found, targets) = match step {
                Step::Segment(segment) => {
                    let given: Vec<_> = segment
                        .inputs
                        .iter()
                        .map(|&reference| find(reference))
                        .collect();
                    (segment.infer(session, &given)?, &segment.outputs)
                }
                Step::Call(call) => (call.infer(&self.constants, find)?, &call.outputs),
            };
            for (&slot, ty) in targets.iter().zip(found) {
                slots[slot] = ty;
            }
        }
        Ok(self
            .outputs
            .iter()
            .map(|&reference| match reference {
                ValueRef::Input(at) => inputs.get(at).cloned(),
                ValueRef::Constant(at) => constants.get(at).cloned(),
                ValueRef::Slot(at) => slots[at].clone(),
            })
            .collect())
    }
}

/// Returns whether all dimensions are known.
fn is_known(ty: &TensorType) -> bool {
    ty.rank().is_some() && ty.elements().is_some()
}

impl Segment {
    fn infer(
        &self,
        session: &Session,
        given: &[Option<TensorType>],
    ) -> GeResult<Vec<Option<TensorType>>> {
        let unknown = || vec![None; self.outputs.len()];
        if !given.iter().flatten().all(is_known) || given.iter().any(Option::is_none) {
            if let Source::Built(graph) = &self.entry.source {
                ge::refuse_unknown(graph)?;
            }
            return Ok(unknown());
        }
        let plan = self.entry.plan(session, given, Family::Fresh)?;
        let outputs = plan.description.outputs.iter().take(plan.outputs);
        Ok(outputs
            .map(|info| type_of(&info.dims, info.data_type).ok())
            .collect())
    }
}

impl Call {
    fn infer(
        &self,
        constants: &[Data],
        find: impl Fn(ValueRef) -> Option<TensorType>,
    ) -> GeResult<Vec<Option<TensorType>>> {
        let unknown = || Ok(vec![None; self.outputs.len()]);
        let registered = match &self.by {
            By::Program(registered) => registered,
            By::Ranks(collective) => {
                let input = self.inputs.first().copied().flatten().and_then(&find);
                let output = input.map(|input| collective.output(&self.node, &input));
                return Ok(vec![output.transpose()?; self.outputs.len()]);
            }
        };
        if !registered.infers {
            return unknown();
        }
        let mut operands = Vec::with_capacity(self.inputs.len());
        for (index, reference) in self.inputs.iter().enumerate() {
            let Some(reference) = *reference else {
                operands.push(None);
                continue;
            };
            let depends = registered.depends_on.contains(&index);
            let contents = match reference {
                ValueRef::Constant(at) if depends => constants[at].bytes.as_ref().clone(),
                ValueRef::Input(_) | ValueRef::Slot(_) if depends => return unknown(),
                _ => Vec::new(),
            };
            let Some(ty) = find(reference).filter(is_known) else {
                return unknown();
            };
            operands.push(Some(Operand {
                desc: Desc {
                    dims: ty.shape.clone(),
                    dtype: ty.dtype.acl(),
                    format: self.node.inputs[index].desc.format,
                },
                address: 0,
                bytes: 0,
                contents,
            }));
        }
        let found = custom::infer(&self.node, &operands)?;
        Ok(found
            .iter()
            .map(|desc| type_of(&desc.dims, desc.dtype).ok())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node that reads these outputs, with one output.
    fn node(kind: &str, inputs: &[Option<usize>]) -> Node {
        Node {
            name: kind.to_lowercase(),
            kind: kind.to_owned(),
            inputs: inputs
                .iter()
                .map(|from| Input {
                    name: "x".to_owned(),
                    from: from.map(|at| (at, 0)),
                    ..Input::default()
                })
                .collect(),
            outputs: vec![Output::default()],
            ..Node::default()
        }
    }

    fn made(nodes: Vec<Node>, outputs: &[usize]) -> Split {
        let graph = Graph {
            name: "graph".to_owned(),
            nodes,
            outputs: outputs.iter().map(|&at| (at, 0)).collect(),
        };
        let custom = graph.nodes.iter().enumerate();
        let custom: BTreeMap<usize, By> = custom
            .filter(|(_, node)| node.kind == "Own")
            .map(|(at, _)| {
                let registered = RegisteredOperator {
                    infers: false,
                    depends_on: Vec::new(),
                };
                (at, By::Program(registered))
            })
            .collect();
        let splitter = Splitter::new(graph, &custom).expect("no circle");
        splitter.finish(custom, |graph| Entry {
            number: 1,
            origin: 0,
            source: Source::Built(graph),
            options: Options::new(),
            products: Products::Float32,
            state: Mutex::default(),
        })
    }

    fn kinds(step: &Step) -> Vec<&str> {
        match step {
            Step::Call(call) => vec![call.node.kind.as_str()],
            Step::Segment(segment) => match &segment.entry.source {
                Source::Built(graph) => graph.nodes.iter().map(|node| node.kind.as_str()).collect(),
                _ => Vec::new(),
            },
        }
    }

    #[test]
    fn a_graph_is_cut_before_and_behind_its_custom_operators() {
        let nodes = vec![
            node("Data", &[]),
            node("Relu", &[Some(0)]),
            node("Own", &[Some(1)]),
            node("Neg", &[Some(2)]),
            node("Own", &[Some(3), Some(0)]),
        ];
        let split = made(nodes, &[4, 3]);
        let shown: Vec<_> = split.steps.iter().map(kinds).collect();
        assert_eq!(
            shown,
            [
                vec!["Data", "Relu"],
                vec!["Own"],
                vec!["Data", "Neg"],
                vec!["Own"]
            ]
        );
        let Step::Call(last) = &split.steps[3] else {
            panic!("a call");
        };
        assert_eq!(last.inputs[1], Some(ValueRef::Input(0)));
        assert_eq!(last.inputs[0], Some(split.outputs[1]));
    }

    #[test]
    fn operators_that_do_not_depend_on_a_call_run_before_it() {
        let nodes = vec![
            node("Data", &[]),
            node("Own", &[Some(0)]),
            node("Relu", &[Some(0)]),
            node("Add", &[Some(1), Some(2)]),
        ];
        let split = made(nodes, &[3]);
        let shown: Vec<_> = split.steps.iter().map(kinds).collect();
        assert_eq!(
            shown,
            [
                vec!["Data", "Relu"],
                vec!["Own"],
                vec!["Data", "Data", "Add"]
            ]
        );
    }

    #[test]
    fn a_constant_is_in_each_segment_that_reads_it_and_in_memory_for_calls() {
        let nodes = vec![
            node("Data", &[]),
            node("Const", &[]),
            node("Add", &[Some(0), Some(1)]),
            node("Own", &[Some(2), Some(1), None]),
            node("Mul", &[Some(3), Some(1)]),
        ];
        let split = made(nodes, &[4]);
        let shown: Vec<_> = split.steps.iter().map(kinds).collect();
        assert_eq!(
            shown,
            [
                vec!["Data", "Const", "Add"],
                vec!["Own"],
                vec!["Data", "Const", "Mul"]
            ]
        );
        let Step::Call(call) = &split.steps[1] else {
            panic!("a call");
        };
        assert_eq!(call.inputs[1], Some(ValueRef::Constant(0)));
        assert_eq!(call.inputs[2], None);
        assert_eq!(split.constants.len(), 1);
    }

    #[test]
    fn a_graph_of_one_call_has_no_segment() {
        let split = made(vec![node("Data", &[]), node("Own", &[Some(0)])], &[1]);
        assert_eq!(split.steps.len(), 1);
        assert_eq!(split.outputs, [ValueRef::Slot(0)]);
    }
}
