//! A part of a graph: what lies between tensors that it reads and tensors that it computes.

use std::collections::{HashMap, HashSet};

use super::{EDGE, Tensor, is_constant, is_input};
use crate::registry::GraphRegistry;
use crate::{GeError, GeResult};

/// Names a part of a graph by its edge.
#[derive(Default)]
pub struct Boundary {
    /// For each tensor that the part reads, the inputs of nodes inside.
    pub inputs: Vec<Vec<(u64, usize)>>,
    /// The outputs of nodes inside that are used outside.
    pub outputs: Vec<Tensor>,
}

/// A part that was checked.
pub struct Part {
    pub graph: u64,
    /// The nodes inside, constants among them.
    pub nodes: HashSet<u64>,
    /// The tensors that it reads.
    pub reads: Vec<Tensor>,
}

impl Boundary {
    /// Finds the part of a graph.
    ///
    /// # Errors
    ///
    /// The boundary names no part that can be replaced; the text says why.
    pub fn part(&self, registry: &GraphRegistry) -> GeResult<Part> {
        let Some(&(first, _)) = self.outputs.first() else {
            return Err(GeError::new(
                "the boundary of a subgraph has no output: add the tensors that are used outside by AddOutput",
            ));
        };
        let graph = registry.op(first)?.graph;
        let reads = self.reads(registry, graph)?;
        let nodes = self.nodes(registry, graph)?;
        self.check_outputs(registry, graph, &nodes)?;
        if let Some(index) = reads.iter().position(|(id, _)| nodes.contains(id)) {
            return Err(GeError::new(format!(
                "input {index} of the boundary is {}, which lies inside of it",
                name(registry, reads[index].0)
            )));
        }
        Ok(Part {
            graph,
            nodes,
            reads,
        })
    }

    /// Returns the tensor that each input stands for.
    fn reads(&self, registry: &GraphRegistry, graph: u64) -> GeResult<Vec<Tensor>> {
        let mut reads = Vec::with_capacity(self.inputs.len());
        for (index, list) in self.inputs.iter().enumerate() {
            let mut tensor = None;
            for &(id, input) in list {
                let op = registry.op(id)?;
                check_graph(registry, id, graph)?;
                let from = op.inputs.get(input).and_then(|input| input.from).ok_or_else(|| {
                    GeError::new(format!(
                        "input {index} of the boundary is input {input} of {} ({}), which reads nothing",
                        op.name, op.kind
                    ))
                })?;
                if *tensor.get_or_insert(from) != from {
                    return Err(GeError::new(format!(
                        "input {index} of the boundary stands for two tensors: input {input} of {} ({}) reads another one than the inputs before it",
                        op.name, op.kind
                    )));
                }
            }
            reads.push(tensor.ok_or_else(|| {
                GeError::new(format!(
                    "input {index} of the boundary has no input of a node; add one by AddInput"
                ))
            })?);
        }
        Ok(reads)
    }

    /// Returns everything between the inputs and the outputs.
    fn nodes(&self, registry: &GraphRegistry, graph: u64) -> GeResult<HashSet<u64>> {
        let ends: HashSet<(u64, usize)> = self.inputs.iter().flatten().copied().collect();
        let starts = self.outputs.iter().chain(self.inputs.iter().flatten());
        let mut waiting: Vec<u64> = starts.map(|(id, _)| *id).collect();
        let mut nodes = HashSet::new();
        while let Some(id) = waiting.pop() {
            if !nodes.insert(id) {
                continue;
            }
            check_graph(registry, id, graph)?;
            let op = registry.op(id)?;
            if is_edge(&op.kind) {
                return Err(GeError::new(format!(
                    "{} ({}) lies inside of the boundary, and cannot be replaced",
                    op.name, op.kind
                )));
            }
            for (index, input) in op.inputs.iter().enumerate() {
                let Some((from, _)) = input.from.filter(|_| !ends.contains(&(id, index))) else {
                    continue;
                };
                let source = registry.op(from)?;
                if is_edge(&source.kind) {
                    return Err(GeError::new(format!(
                        "input {} of {} ({}) reads {} ({}), and no input of the boundary names it",
                        input.name, op.name, op.kind, source.name, source.kind
                    )));
                }
                waiting.push(from);
            }
        }
        Ok(nodes)
    }

    /// Checks that what is used outside is an output.
    fn check_outputs(
        &self,
        registry: &GraphRegistry,
        graph: u64,
        nodes: &HashSet<u64>,
    ) -> GeResult<()> {
        let mut shown = HashSet::new();
        for (index, &(id, position)) in self.outputs.iter().enumerate() {
            let op = registry.op(id)?;
            if position >= op.outputs.len() {
                return Err(GeError::new(format!(
                    "output {index} of the boundary is output {position} of {} ({}), which has {}",
                    op.name,
                    op.kind,
                    op.outputs.len()
                )));
            }
            if !shown.insert((id, position)) {
                return Err(GeError::new(format!(
                    "output {index} of the boundary is the same tensor as an output before it"
                )));
            }
        }
        let of_graph: HashSet<Tensor> = registry.graph(graph)?.outputs.iter().copied().collect();
        for &id in nodes {
            let op = registry.op(id)?;
            if is_constant(&op.kind) {
                continue;
            }
            for position in 0..op.outputs.len() {
                let tensor = (id, position);
                if shown.contains(&tensor) {
                    continue;
                }
                let outside = registry
                    .readers(tensor)
                    .into_iter()
                    .find(|(to, _)| !nodes.contains(to));
                if outside.is_some() || of_graph.contains(&tensor) {
                    let by = outside.map_or_else(
                        || "as an output of the graph".to_owned(),
                        |(to, _)| format!("by {}", name(registry, to)),
                    );
                    return Err(GeError::new(format!(
                        "output {position} of {} ({}) lies inside of the boundary, and is used outside {by}: make it an output of the boundary",
                        op.name, op.kind
                    )));
                }
            }
        }
        Ok(())
    }
}

fn is_edge(kind: &str) -> bool {
    is_input(kind) || EDGE.contains(&kind)
}

fn name(registry: &GraphRegistry, id: u64) -> &str {
    registry.op(id).map_or("", |op| &op.name)
}

fn check_graph(registry: &GraphRegistry, id: u64, graph: u64) -> GeResult<()> {
    let op = registry.op(id)?;
    if op.graph == graph && graph != 0 {
        return Ok(());
    }
    Err(GeError::new(if op.graph == 0 {
        format!(
            "{} ({}) is in no graph; it was removed, or never added",
            op.name, op.kind
        )
    } else {
        format!(
            "{} ({}) is in another graph than the other nodes of the boundary",
            op.name, op.kind
        )
    }))
}

/// Returns the operators directly behind an operator.
fn behind(registry: &GraphRegistry, id: u64) -> Vec<u64> {
    registry.op(id).map_or_else(
        |_| Vec::new(),
        |op| op.consumers.iter().chain(&op.after).copied().collect(),
    )
}

/// Returns the nodes outside of a part that run after something inside of it, seen from these nodes inside.
fn after(
    registry: &GraphRegistry,
    inside: &HashSet<u64>,
    from: impl IntoIterator<Item = u64>,
) -> HashSet<u64> {
    let mut waiting: Vec<u64> = from
        .into_iter()
        .flat_map(|id| behind(registry, id))
        .collect();
    let mut found = HashSet::new();
    while let Some(id) = waiting.pop() {
        if !inside.contains(&id) && found.insert(id) {
            waiting.extend(behind(registry, id));
        }
    }
    found
}

/// Returns whether a single node in place of these ones would wait for itself: something outside runs between two of them.
pub fn would_circle(registry: &GraphRegistry, inside: &HashSet<u64>) -> bool {
    let leaving: Vec<u64> = inside
        .iter()
        .copied()
        .filter(|&id| behind(registry, id).iter().any(|to| !inside.contains(to)))
        .filter(|&id| registry.op(id).is_ok_and(|op| !is_constant(&op.kind)))
        .collect();
    // All others run before the only one that is used outside, so that nothing outside can be between them.
    if leaving.len() < 2 && leads_to(registry, inside, leaving.first().copied()) {
        return false;
    }
    let outside = after(registry, inside, leaving);
    inside
        .iter()
        .filter_map(|&id| registry.op(id).ok())
        .any(|op| {
            let data = op.inputs.iter().filter_map(|input| Some(input.from?.0));
            data.chain(op.before.iter().copied())
                .any(|from| outside.contains(&from))
        })
}

/// Returns whether every node inside leads to one node.
fn leads_to(registry: &GraphRegistry, inside: &HashSet<u64>, to: Option<u64>) -> bool {
    let Some(to) = to else {
        return true;
    };
    let mut seen = HashSet::from([to]);
    let mut waiting = vec![to];
    while let Some(op) = waiting.pop().and_then(|id| registry.op(id).ok()) {
        let data = op.inputs.iter().filter_map(|input| Some(input.from?.0));
        for from in data.chain(op.before.iter().copied()) {
            if inside.contains(&from) && seen.insert(from) {
                waiting.push(from);
            }
        }
    }
    seen.len() == inside.len()
}

/// Returns for each output of a part which of its inputs wait for that output outside.
pub fn waits(registry: &GraphRegistry, part: &Part, outputs: &[Tensor]) -> Vec<Vec<bool>> {
    let mut known: HashMap<Tensor, HashSet<u64>> = HashMap::new();
    outputs
        .iter()
        .map(|&tensor| {
            let found = known.entry(tensor).or_insert_with(|| {
                let readers = registry
                    .readers(tensor)
                    .into_iter()
                    .map(|(to, _)| to)
                    .filter(|to| !part.nodes.contains(to));
                let readers: HashSet<u64> = readers.collect();
                let mut found = after(registry, &part.nodes, readers.iter().copied());
                found.extend(readers);
                found
            });
            part.reads
                .iter()
                .map(|(id, _)| found.contains(id))
                .collect()
        })
        .collect()
}
