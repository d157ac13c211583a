//! Brings nodes into an order in which they can run. They are meant to come in one; files exist in which they do not.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::proto::{GraphProto, NodeProto};
use crate::{GraphError, Result};

/// Sorts nodes so that each comes after those whose results it reads, as near to the file's order as that allows. Each
/// keeps the number that it has in the file.
pub(super) fn sorted(nodes: Vec<NodeProto>) -> Result<Vec<(usize, NodeProto)>> {
    let mut producer: HashMap<String, usize> = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            if producer.insert(name.clone(), index).is_some() {
                return Err(GraphError::invalid(format!(
                    "the tensor {name} is defined twice"
                )));
            }
        }
    }
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut missing: Vec<usize> = vec![0; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let mut names: HashSet<&str> = node.input.iter().map(String::as_str).collect();
        for graph in node.attribute.iter().filter_map(|one| one.g.as_ref()) {
            outer_names(graph, &mut names);
        }
        let mut from: Vec<usize> = names
            .into_iter()
            .filter_map(|name| producer.get(name).copied())
            .collect();
        from.sort_unstable();
        from.dedup();
        missing[index] = from.len();
        for one in from {
            readers[one].push(index);
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> = missing
        .iter()
        .enumerate()
        .filter(|&(_, &missing)| missing == 0)
        .map(|(index, _)| Reverse(index))
        .collect();
    let mut slots: Vec<Option<NodeProto>> = nodes.into_iter().map(Some).collect();
    let mut sorted = Vec::with_capacity(slots.len());
    while let Some(Reverse(index)) = ready.pop() {
        for &reader in &readers[index] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
        if let Some(node) = slots[index].take() {
            sorted.push((index, node));
        }
    }
    match slots
        .into_iter()
        .enumerate()
        .find_map(|(index, node)| Some((index, node?)))
    {
        None => Ok(sorted),
        Some((index, node)) => {
            let name = if node.name.is_empty() {
                format!("{}_{index}", node.op_type)
            } else {
                node.name
            };
            Err(GraphError::invalid(format!(
                "node {name} depends on its own result"
            )))
        }
    }
}

/// Collects names that a graph reads and may take from around it.
fn outer_names<'a>(graph: &'a GraphProto, names: &mut HashSet<&'a str>) {
    let mut read = HashSet::new();
    for node in &graph.node {
        read.extend(node.input.iter().map(String::as_str));
        for inner in node.attribute.iter().filter_map(|one| one.g.as_ref()) {
            outer_names(inner, &mut read);
        }
    }
    read.extend(graph.output.iter().map(|output| output.name.as_str()));
    for node in &graph.node {
        for name in &node.output {
            read.remove(name.as_str());
        }
    }
    for own in &graph.input {
        read.remove(own.name.as_str());
    }
    for own in &graph.initializer {
        read.remove(own.name.as_str());
    }
    names.extend(read);
}
