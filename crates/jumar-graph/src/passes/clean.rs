//! Removes unused nodes.

use std::collections::HashMap;

use jumar_ops::Aliasing;

use crate::{Graph, ValueId};

/// Removes nodes that give their input as it is, by letting everybody read the input instead.
pub(crate) fn remove_identities(graph: &mut Graph) {
    let mut instead: HashMap<ValueId, ValueId> = HashMap::new();
    let nodes = std::mem::take(&mut graph.nodes);
    for mut node in nodes {
        for input in node.inputs.iter_mut().flatten() {
            *input = *instead.get(input).unwrap_or(input);
        }
        if let (Aliasing::View, Some(&Some(input)), &[output]) = (
            node.operator.aliasing,
            node.inputs.first(),
            &node.outputs[..],
        ) && graph.value(input).ty == graph.value(output).ty
            // An input whose value is not known yet may still say that more has to happen, or that nothing can.
            && node.inputs[1..].iter().flatten().all(|id| graph.value(*id).constant.is_some())
            && (node.operator.name == "Identity" || graph.value(input).ty.elements().is_some())
        {
            instead.insert(output, input);
            continue;
        }
        graph.nodes.push(node);
    }
    for output in &mut graph.outputs {
        output.value = *instead.get(&output.value).unwrap_or(&output.value);
    }
}

/// Removes nodes whose results are not read.
pub(crate) fn remove_dead(graph: &mut Graph) {
    let mut needed = vec![false; graph.values.len()];
    for output in &graph.outputs {
        needed[output.value.0 as usize] = true;
    }
    let nodes = std::mem::take(&mut graph.nodes);
    let mut kept = Vec::with_capacity(nodes.len());
    for node in nodes.into_iter().rev() {
        if node.outputs.iter().any(|id| needed[id.0 as usize]) {
            for input in node.inputs.iter().flatten() {
                needed[input.0 as usize] = true;
            }
            kept.push(node);
        }
    }
    kept.reverse();
    graph.nodes = kept;
}

/// Drops values that nothing refers to and numbers the others anew, so that a stored model holds nothing unused.
pub(crate) fn renumber(graph: &mut Graph) {
    let mut used = vec![false; graph.values.len()];
    let inner = graph
        .nodes
        .iter()
        .flat_map(|node| node.inputs.iter().flatten().chain(&node.outputs));
    for id in inner
        .chain(&graph.inputs)
        .chain(graph.outputs.iter().map(|output| &output.value))
    {
        used[id.0 as usize] = true;
    }
    let mut next = 0;
    let numbers: Vec<ValueId> = used
        .iter()
        .map(|&used| {
            let id = ValueId(next);
            next += u32::from(used);
            id
        })
        .collect();
    let mut index = 0;
    graph.values.retain(|_| {
        index += 1;
        used[index - 1]
    });
    let renew = |id: &mut ValueId| *id = numbers[id.0 as usize];
    for node in &mut graph.nodes {
        node.inputs.iter_mut().flatten().for_each(renew);
        node.outputs.iter_mut().for_each(renew);
    }
    graph.inputs.iter_mut().for_each(renew);
    graph
        .outputs
        .iter_mut()
        .for_each(|output| renew(&mut output.value));
}
