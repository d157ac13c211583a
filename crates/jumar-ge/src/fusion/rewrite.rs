//! Replacing a part of a graph by the nodes of another graph.

use std::collections::{HashMap, HashSet};

use super::part::{self, Boundary, Part};
use super::{Tensor, is_constant, is_input};
use crate::lowering as ge;
use crate::registry::{GraphRegistry, Port};
use crate::{GeError, GeResult};

/// Replaces the part inside of a boundary by a copy of the nodes of a graph, whose inputs and outputs are those of the boundary.
///
/// # Errors
///
/// The boundary or the graph does not fit, or a node would wait for itself; nothing is changed then.
pub fn replace(registry: &mut GraphRegistry, boundary: &Boundary, by: u64) -> GeResult<()> {
    let part = boundary.part(registry)?;
    let graph = registry.graph(part.graph)?;
    if graph.imported.is_some() {
        return Err(GeError::new(format!(
            "graph {} was read from an ONNX model; its nodes cannot be changed",
            graph.name
        )));
    }
    let new = registry.freeze(by, 0)?;
    check(registry, boundary, &part, &new)?;
    let put = insert(registry, &part, &new)?;
    for (&(id, position), &tensor) in boundary.outputs.iter().zip(&put.outputs) {
        for (to, input) in registry.readers((id, position)) {
            if !part.nodes.contains(&to) {
                let name = registry.op(to)?.inputs[input].name.clone();
                registry.link(to, &name, tensor.0, Port::Number(tensor.1))?;
            }
        }
        for output in &mut registry.graph_mut(part.graph)?.outputs {
            if *output == (id, position) {
                *output = tensor;
            }
        }
    }
    move_control_edges(registry, &part, &put)?;
    remove(registry, &part)
}

/// Checks the graph that replaces a part.
fn check(
    registry: &GraphRegistry,
    boundary: &Boundary,
    part: &Part,
    new: &ge::Graph,
) -> GeResult<()> {
    let inputs = new.inputs();
    let count = |what: &str, own: usize, of: usize| {
        GeError::new(format!(
            "the replacement {} has {own} {what}, and the part of graph {} that it replaces has {of}",
            new.name,
            registry.graph(part.graph).map_or("", |graph| &graph.name)
        ))
    };
    if inputs.len() != boundary.inputs.len() {
        return Err(count("inputs", inputs.len(), boundary.inputs.len()));
    }
    if new.outputs.len() != boundary.outputs.len() {
        return Err(count("outputs", new.outputs.len(), boundary.outputs.len()));
    }
    new.order()?;
    if part::would_circle(registry, &part.nodes) {
        check_circle(registry, boundary, part, new)?;
    }
    Ok(())
}

/// Checks that no input of the part waits outside for an output that is computed from it.
fn check_circle(
    registry: &GraphRegistry,
    boundary: &Boundary,
    part: &Part,
    new: &ge::Graph,
) -> GeResult<()> {
    let circle = || {
        let names: Vec<&str> = boundary
            .outputs
            .iter()
            .map(|(id, _)| registry.op(*id).map_or("", |op| op.name.as_str()))
            .collect();
        GeError::new(format!(
            "the replacement {} in place of {} would wait for itself: a node outside reads one of its outputs, and one of its inputs waits for that node",
            new.name,
            names.join(", ")
        ))
    };
    // With control edges everything inside waits for everything else.
    let has_controls = |id: &u64| {
        registry
            .op(*id)
            .is_ok_and(|op| !op.before.is_empty() || !op.after.is_empty())
    };
    if part.nodes.iter().any(has_controls) {
        return Err(circle());
    }
    let inputs = new.inputs();
    let reads = reads(new)?;
    let waits = part::waits(registry, part, &boundary.outputs);
    // Which outputs each output waits for; a circle among them is one of nodes.
    let next: Vec<Vec<usize>> = (0..new.outputs.len())
        .map(|from| {
            let fed = |input: usize| waits[from][input];
            (0..new.outputs.len())
                .filter(|&to| {
                    (0..inputs.len()).any(|input| {
                        fed(input) && reads[new.outputs[to].0].contains(&inputs[input])
                    })
                })
                .collect()
        })
        .collect();
    for start in 0..next.len() {
        let mut seen = HashSet::new();
        let mut waiting = next[start].clone();
        while let Some(at) = waiting.pop() {
            if at == start {
                return Err(circle());
            }
            if seen.insert(at) {
                waiting.extend(&next[at]);
            }
        }
    }
    Ok(())
}

/// Returns for each node the nodes that it is computed from, itself among them.
fn reads(new: &ge::Graph) -> GeResult<Vec<HashSet<usize>>> {
    let mut all: Vec<HashSet<usize>> = vec![HashSet::new(); new.nodes.len()];
    for at in new.order()? {
        let node = &new.nodes[at];
        let before = node
            .inputs
            .iter()
            .filter_map(|input| Some(input.from?.0))
            .chain(node.after.iter().copied());
        let mut own: HashSet<usize> = before.flat_map(|from| all[from].iter().copied()).collect();
        own.insert(at);
        all[at] = own;
    }
    Ok(all)
}

/// What a replacement put into a graph.
struct Put {
    nodes: Vec<u64>,
    /// The tensors of its outputs.
    outputs: Vec<Tensor>,
}

/// Adds a copy of the nodes of a graph, which read what the part reads.
fn insert(registry: &mut GraphRegistry, part: &Part, new: &ge::Graph) -> GeResult<Put> {
    let copy = registry.new_graph(&new.name);
    registry.thaw(copy, new)?;
    let graph = registry.graph_mut(copy)?;
    let (ops, outputs) = (
        std::mem::take(&mut graph.ops),
        std::mem::take(&mut graph.outputs),
    );
    registry.drop_graph(copy);
    let order = new.inputs();
    let tensor_of: HashMap<u64, Tensor> = order
        .iter()
        .zip(&part.reads)
        .map(|(&at, &tensor)| (ops[at], tensor))
        .collect();
    for (&input, &tensor) in &tensor_of {
        for (to, number) in registry.readers((input, 0)) {
            let name = registry.op(to)?.inputs[number].name.clone();
            registry.link(to, &name, tensor.0, Port::Number(tensor.1))?;
        }
    }
    let outputs = outputs
        .into_iter()
        .map(|(id, position)| tensor_of.get(&id).copied().unwrap_or((id, position)))
        .collect();
    let graph = registry.graph_mut(part.graph)?;
    graph.replaced += 1;
    let prefix = format!("{}_{}", new.name, graph.replaced);
    let mut nodes = Vec::new();
    for id in ops {
        if is_input(&registry.op(id)?.kind) {
            registry.cut(id)?;
            registry.drop_op(id);
            continue;
        }
        let op = registry.op_mut(id)?;
        op.graph = part.graph;
        op.name = format!("{prefix}/{}", op.name);
        nodes.push(id);
    }
    registry.graph_mut(part.graph)?.ops.extend(&nodes);
    Ok(Put { nodes, outputs })
}

/// What ran before the part runs before all of its replacement, and what ran after it runs after all of that.
fn move_control_edges(registry: &mut GraphRegistry, part: &Part, put: &Put) -> GeResult<()> {
    let (mut before, mut after) = (HashSet::new(), HashSet::new());
    for &id in &part.nodes {
        let op = registry.op(id)?;
        before.extend(
            op.before
                .iter()
                .copied()
                .filter(|id| !part.nodes.contains(id)),
        );
        after.extend(
            op.after
                .iter()
                .copied()
                .filter(|id| !part.nodes.contains(id)),
        );
    }
    let is_computed = |id: &&u64| registry.op(**id).is_ok_and(|op| !is_constant(&op.kind));
    let computed: Vec<u64> = put.nodes.iter().filter(is_computed).copied().collect();
    for &own in &computed {
        for &from in &before {
            registry.order(own, from)?;
        }
        for &to in &after {
            registry.order(to, own)?;
        }
    }
    // Nothing is left of the part: what came after it waits itself.
    if computed.is_empty() {
        for &to in &after {
            let reads: Vec<u64> = part.reads.iter().map(|(id, _)| *id).collect();
            for from in reads.into_iter().chain(before.iter().copied()) {
                registry.order(to, from)?;
            }
        }
    }
    Ok(())
}

/// Removes the nodes of a part; constants that are used outside stay.
fn remove(registry: &mut GraphRegistry, part: &Part) -> GeResult<()> {
    let shown: HashSet<Tensor> = registry
        .graph(part.graph)?
        .outputs
        .iter()
        .copied()
        .collect();
    let mut gone = Vec::new();
    for &id in &part.nodes {
        let op = registry.op(id)?;
        let used = shown.contains(&(id, 0))
            || op
                .consumers
                .iter()
                .chain(&op.after)
                .any(|to| !part.nodes.contains(to));
        if !(is_constant(&op.kind) && used) {
            gone.push(id);
        }
    }
    for &id in &gone {
        registry.cut(id)?;
        registry.op_mut(id)?.graph = 0;
    }
    gone.sort_unstable();
    registry
        .graph_mut(part.graph)?
        .ops
        .retain(|id| gone.binary_search(id).is_err());
    for id in gone {
        registry.drop_op(id);
    }
    Ok(())
}
