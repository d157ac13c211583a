//! Patterns: small graphs whose structure is found in another graph.

use std::collections::{HashMap, HashSet};

use super::{EDGE, Tensor, is_constant, is_input};
use crate::lowering as ge;
use crate::registry::{GraphRegistry, Op};
use crate::wire::Writer;
use crate::{GeError, GeResult};

/// What an input of a node of a pattern reads.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Nothing,
    /// An input of the pattern, by its index.
    Input(usize),
    /// An output of a node of the pattern.
    Node(usize, usize),
}

/// A node of a pattern.
struct Node {
    id: u64,
    sources: Vec<Source>,
    /// The inputs of the pattern's nodes that read each output.
    readers: Vec<Vec<(usize, usize)>>,
    /// Which outputs are outputs of the pattern.
    shown: Vec<bool>,
    constant: bool,
}

/// A pattern that was checked.
pub struct Pattern {
    nodes: Vec<Node>,
    /// The inputs of the pattern, by index.
    inputs: Vec<u64>,
    outputs: Vec<(usize, usize)>,
    /// An order in which each node but the first has a neighbour before it.
    order: Vec<usize>,
}

/// What a node has to have besides its type and its edges.
#[derive(Clone, Copy, Default)]
pub struct Exact {
    /// The values of constants.
    pub constants: bool,
    /// The attributes of its prototype.
    pub attrs: bool,
}

/// The nodes and tensors that a pattern matched.
pub struct Match {
    /// The nodes of the pattern that are no inputs, each with the node of the graph.
    pub nodes: Vec<(u64, u64)>,
    /// The inputs of the pattern, each with the tensor of the graph.
    pub inputs: Vec<(u64, Tensor)>,
}

/// The inputs and outputs of a pattern, by the nodes of the pattern inside.
pub struct Outline {
    pub inputs: Vec<Vec<(u64, usize)>>,
    pub outputs: Vec<Tensor>,
}

impl Pattern {
    /// Reads the graph of a pattern.
    ///
    /// # Errors
    ///
    /// The graph is not a pattern; the text says why.
    pub fn of(registry: &GraphRegistry, id: u64) -> GeResult<Pattern> {
        let graph = registry.graph(id)?;
        let refuse = |text: String| GeError::new(format!("pattern {}: {text}", graph.name));
        let mut inputs = Vec::new();
        let mut ids = Vec::new();
        for &id in &graph.ops {
            let op = registry.op(id)?;
            check_node(op).map_err(refuse)?;
            if is_input(&op.kind) {
                inputs.push(id);
            } else {
                ids.push(id);
            }
        }
        let inputs = sorted(registry, inputs).map_err(refuse)?;
        let input_at: HashMap<u64, usize> = inputs
            .iter()
            .enumerate()
            .map(|(at, &id)| (id, at))
            .collect();
        let node_at: HashMap<u64, usize> =
            ids.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        let mut nodes = Vec::with_capacity(ids.len());
        for &id in &ids {
            let op = registry.op(id)?;
            let mut sources = Vec::with_capacity(op.inputs.len());
            for input in &op.inputs {
                sources.push(match input.from {
                    None => Source::Nothing,
                    Some((from, position)) => match (input_at.get(&from), node_at.get(&from)) {
                        (Some(&at), _) => Source::Input(at),
                        (_, Some(&at)) => Source::Node(at, position),
                        _ => {
                            return Err(refuse(format!(
                                "its node {} reads a node that is not in it",
                                op.name
                            )));
                        }
                    },
                });
            }
            nodes.push(Node {
                id,
                sources,
                readers: vec![Vec::new(); op.outputs.len()],
                shown: vec![false; op.outputs.len()],
                constant: is_constant(&op.kind),
            });
        }
        let mut outputs = Vec::new();
        for (at, &(id, position)) in graph.outputs.iter().enumerate() {
            let Some(&node) = node_at.get(&id) else {
                return Err(refuse(format!(
                    "its output {at} is one of its inputs; an output is a tensor that a node of the pattern computes"
                )));
            };
            if std::mem::replace(&mut nodes[node].shown[position], true) {
                return Err(refuse(format!(
                    "its output {at} is the same tensor as an output before it"
                )));
            }
            outputs.push((node, position));
        }
        let edges: Vec<_> = nodes
            .iter()
            .enumerate()
            .flat_map(|(to, node)| {
                node.sources
                    .iter()
                    .enumerate()
                    .map(move |(input, source)| (to, input, *source))
            })
            .collect();
        for (to, input, source) in edges {
            if let Source::Node(from, position) = source {
                nodes[from].readers[position].push((to, input));
            }
        }
        let mut pattern = Pattern {
            nodes,
            inputs,
            outputs,
            order: Vec::new(),
        };
        pattern.check(registry).map_err(refuse)?;
        Ok(pattern)
    }

    fn name<'r>(&self, registry: &'r GraphRegistry, at: usize) -> &'r str {
        registry.op(self.nodes[at].id).map_or("", |op| &op.name)
    }

    /// Checks that the pattern is one connected part, and finds the order of the search.
    fn check(&mut self, registry: &GraphRegistry) -> Result<(), String> {
        if self.outputs.is_empty() {
            return Err("it has no output; name the tensors that are used outside by SetOutputs or BuildAndReset".into());
        }
        for (index, &input) in self.inputs.iter().enumerate() {
            if self.readers_of_input(index).is_empty() {
                let name = registry.op(input).map_or("", |op| &op.name);
                return Err(format!("no node reads its input {index} ({name})"));
            }
        }
        // The node of the first output is the one that is looked for in the graph.
        let mut order = vec![self.outputs[0].0];
        let mut seen: HashSet<usize> = order.iter().copied().collect();
        let mut at = 0;
        while at < order.len() {
            let near = self.neighbours(order[at]);
            order.extend(near.into_iter().filter(|next| seen.insert(*next)));
            at += 1;
        }
        if let Some(lost) = (0..self.nodes.len()).find(|at| !seen.contains(at)) {
            return Err(format!(
                "its nodes {} and {} are not connected; a pattern is one part of a graph, and two parts are two patterns",
                self.name(registry, order[0]),
                self.name(registry, lost)
            ));
        }
        self.order = order;
        Ok(())
    }

    fn readers_of_input(&self, index: usize) -> Vec<(usize, usize)> {
        let reads = |(at, node): (usize, &Node)| {
            let list: Vec<_> = (0..node.sources.len())
                .filter(|&input| node.sources[input] == Source::Input(index))
                .map(|input| (at, input))
                .collect();
            list
        };
        self.nodes.iter().enumerate().flat_map(reads).collect()
    }

    /// Returns the nodes that a node reads, that read it, or that read the same input of the pattern.
    fn neighbours(&self, at: usize) -> Vec<usize> {
        let node = &self.nodes[at];
        let mut near: Vec<usize> = Vec::new();
        for source in &node.sources {
            match *source {
                Source::Nothing => {}
                Source::Node(from, _) => near.push(from),
                Source::Input(index) => {
                    near.extend(self.readers_of_input(index).iter().map(|(to, _)| *to))
                }
            }
        }
        near.extend(node.readers.iter().flatten().map(|(to, _)| *to));
        near
    }

    /// Returns the nodes of a graph that may be the node of the first output, in topological order.
    ///
    /// # Errors
    ///
    /// The graph is empty or has a circle.
    pub fn candidates(&self, registry: &GraphRegistry, graph: u64) -> GeResult<Vec<u64>> {
        let kind = &registry.op(self.nodes[self.order[0]].id)?.kind;
        let ops = &registry.graph(graph)?.ops;
        let sorted = registry.freeze(graph, 0)?.order()?;
        let is_wanted = |id: &u64| registry.op(*id).is_ok_and(|op| same_kind(&op.kind, kind));
        Ok(sorted
            .into_iter()
            .map(|at| ops[at])
            .filter(is_wanted)
            .collect())
    }

    /// Finds the match, after the first `skipped` ones, whose node of the first output is the given one.
    pub fn find(
        &self,
        registry: &GraphRegistry,
        graph: u64,
        exact: Exact,
        node: u64,
        skipped: usize,
    ) -> Option<Match> {
        let mut search = Search {
            registry,
            pattern: self,
            graph,
            exact,
            shown: registry
                .graph(graph)
                .ok()?
                .outputs
                .iter()
                .copied()
                .collect(),
            nodes: vec![None; self.nodes.len()],
            inputs: vec![None; self.inputs.len()],
            skipped,
        };
        search.take(0, node).then(|| search.result())?
    }

    pub fn outline(&self) -> Outline {
        let own = |list: Vec<(usize, usize)>| {
            list.into_iter()
                .map(|(at, index)| (self.nodes[at].id, index))
                .collect()
        };
        Outline {
            inputs: (0..self.inputs.len())
                .map(|index| own(self.readers_of_input(index)))
                .collect(),
            outputs: own(self.outputs.clone()),
        }
    }
}

/// Refuses a node that patterns cannot have.
fn check_node(op: &Op) -> Result<(), String> {
    let named = format!("its node {} ({})", op.name, op.kind);
    if !op.before.is_empty() || !op.after.is_empty() {
        return Err(format!(
            "{named} has a control edge; patterns are matched by their data edges alone"
        ));
    }
    if !op.bodies.is_empty() {
        return Err(format!(
            "{named} has a graph inside, which patterns cannot have"
        ));
    }
    if EDGE.contains(&op.kind.as_str()) {
        return Err(format!(
            "{named} cannot be replaced; declare its tensor as an input of the pattern"
        ));
    }
    let often =
        |list: &[(&str, ge::Occurs)]| list.iter().any(|(_, occurs)| *occurs == ge::Occurs::Often);
    let dynamic = match ge::prototype(&op.kind) {
        Some(prototype) => often(prototype.inputs) || often(prototype.outputs),
        None => {
            op.inputs.iter().any(|one| one.group.is_some())
                || op.outputs.iter().any(|one| one.group.is_some())
        }
    };
    if dynamic {
        return Err(format!(
            "{named} has a dynamic number of inputs or outputs, which patterns cannot have; find the node by a DecomposePass or a FusionBasePass"
        ));
    }
    Ok(())
}

/// Sorts the inputs of a pattern by their indexes.
fn sorted(registry: &GraphRegistry, ids: Vec<u64>) -> Result<Vec<u64>, String> {
    let mut by_index = vec![None; ids.len()];
    for &id in &ids {
        let Ok(op) = registry.op(id) else { continue };
        let index = match op.attrs.get("index") {
            Some(ge::Value::Int(index)) => *index,
            _ => 0,
        };
        match usize::try_from(index)
            .ok()
            .and_then(|index| by_index.get_mut(index))
        {
            Some(slot @ None) => *slot = Some(id),
            _ => {
                return Err(format!(
                    "its input {} has the index {index}; its {} inputs need the indexes 0 to {}, one each",
                    op.name,
                    ids.len(),
                    ids.len() - 1
                ));
            }
        }
    }
    Ok(by_index.into_iter().flatten().collect())
}

fn same_kind(one: &str, other: &str) -> bool {
    one == other || (is_constant(one) && is_constant(other))
}

/// A search for a pattern, which takes back what does not fit.
struct Search<'a> {
    registry: &'a GraphRegistry,
    pattern: &'a Pattern,
    graph: u64,
    exact: Exact,
    /// The outputs of the graph.
    shown: HashSet<Tensor>,
    nodes: Vec<Option<u64>>,
    inputs: Vec<Option<Tensor>>,
    skipped: usize,
}

impl Search<'_> {
    /// Takes a node for the pattern's node at a position of the order, and continues with the next.
    fn take(&mut self, depth: usize, id: u64) -> bool {
        let at = self.pattern.order[depth];
        let before = self.inputs.clone();
        if self.fits(at, id) {
            self.nodes[at] = Some(id);
            if self.next(depth + 1) {
                return true;
            }
            self.nodes[at] = None;
        }
        self.inputs = before;
        false
    }

    fn next(&mut self, depth: usize) -> bool {
        if depth == self.pattern.order.len() {
            if !self.is_closed() {
                return false;
            }
            let left = self.skipped.checked_sub(1);
            self.skipped = left.unwrap_or(0);
            return left.is_none();
        }
        let candidates = self.candidates(self.pattern.order[depth]);
        candidates.into_iter().any(|id| self.take(depth, id))
    }

    /// Returns the nodes that have the edge to a neighbour that was taken.
    fn candidates(&self, at: usize) -> Vec<u64> {
        let node = &self.pattern.nodes[at];
        for (position, readers) in node.readers.iter().enumerate() {
            for &(to, input) in readers {
                if let Some(op) = self.nodes[to].and_then(|id| self.registry.op(id).ok()) {
                    let from = op.inputs.get(input).and_then(|input| input.from);
                    return from
                        .filter(|(_, output)| *output == position)
                        .map(|(id, _)| id)
                        .into_iter()
                        .collect();
                }
            }
        }
        for (input, source) in node.sources.iter().enumerate() {
            let tensor = match *source {
                Source::Nothing => None,
                Source::Input(index) => self.inputs[index],
                Source::Node(from, position) => self.nodes[from].map(|id| (id, position)),
            };
            if let Some(tensor) = tensor {
                return self
                    .readers(tensor)
                    .into_iter()
                    .filter(|(_, own)| *own == input)
                    .map(|(id, _)| id)
                    .collect();
            }
        }
        Vec::new()
    }

    fn readers(&self, tensor: Tensor) -> Vec<(u64, usize)> {
        self.registry.readers(tensor)
    }

    /// Returns whether a node has the type and the edges of the pattern's node, and notes the inputs of the pattern.
    fn fits(&mut self, at: usize, id: u64) -> bool {
        let node = &self.pattern.nodes[at];
        let (Ok(own), Ok(op)) = (self.registry.op(node.id), self.registry.op(id)) else {
            return false;
        };
        if op.graph != self.graph
            || !same_kind(&op.kind, &own.kind)
            || self.nodes.contains(&Some(id))
        {
            return false;
        }
        for input in 0..op.inputs.len().max(node.sources.len()) {
            let wanted = node.sources.get(input).copied().unwrap_or(Source::Nothing);
            let from = op.inputs.get(input).and_then(|input| input.from);
            let good = match (wanted, from) {
                (Source::Nothing, None) => true,
                (Source::Node(source, position), Some((from, output))) => {
                    output == position && self.nodes[source].is_none_or(|taken| taken == from)
                }
                (Source::Input(index), Some(tensor)) => {
                    *self.inputs[index].get_or_insert(tensor) == tensor
                }
                _ => false,
            };
            if !good {
                return false;
            }
        }
        let is_inside = |position: usize, readers: &Vec<(usize, usize)>| {
            let tensor = (id, position);
            node.shown[position]
                || (!self.shown.contains(&tensor) && self.readers(tensor).len() == readers.len())
        };
        if !node.constant
            && !node
                .readers
                .iter()
                .enumerate()
                .all(|(position, readers)| is_inside(position, readers))
        {
            return false;
        }
        op.outputs.len() == own.outputs.len() && self.has_values(own, op)
    }

    fn has_values(&self, own: &Op, op: &Op) -> bool {
        if is_constant(&own.kind) {
            return !self.exact.constants
                || own
                    .attrs
                    .get("value")
                    .is_none_or(|value| same(Some(value), op.attrs.get("value")));
        }
        if !self.exact.attrs {
            return true;
        }
        let Some(prototype) = ge::prototype(&own.kind) else {
            return own.attrs.keys().eq(op.attrs.keys())
                && own
                    .attrs
                    .iter()
                    .all(|(name, value)| same(Some(value), op.attrs.get(name)));
        };
        prototype.attrs.iter().all(|(name, default)| {
            let default = default.value();
            let of = |op: &Op| op.attrs.get(*name).cloned().or_else(|| default.clone());
            same(of(own).as_ref(), of(op).as_ref())
        })
    }

    /// Returns whether no tensor that comes from outside is computed inside.
    fn is_closed(&self) -> bool {
        let inside: HashSet<u64> = self.nodes.iter().copied().flatten().collect();
        self.inputs
            .iter()
            .flatten()
            .all(|(id, _)| !inside.contains(id))
    }

    fn result(&self) -> Option<Match> {
        let nodes = self
            .pattern
            .nodes
            .iter()
            .zip(&self.nodes)
            .map(|(node, id)| Some((node.id, (*id)?)));
        let inputs = self
            .pattern
            .inputs
            .iter()
            .zip(&self.inputs)
            .map(|(input, tensor)| Some((*input, (*tensor)?)));
        Some(Match {
            nodes: nodes.collect::<Option<_>>()?,
            inputs: inputs.collect::<Option<_>>()?,
        })
    }
}

/// Compares values bit by bit.
fn same(one: Option<&ge::Value>, other: Option<&ge::Value>) -> bool {
    let bytes = |value: Option<&ge::Value>| {
        let mut to = Writer::default();
        if let Some(value) = value {
            to.value(value);
        }
        to.bytes
    };
    bytes(one) == bytes(other)
}
