//! Calls of fusion passes.

use std::collections::HashSet;

use crate::fusion::part::{self, Boundary};
use crate::fusion::pattern::{Exact, Pattern};
use crate::fusion::{is_constant, rewrite};
use crate::lowering as ge;
use crate::registry;
use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult, infer, session};

/// Reads an operator, and the number of one of its inputs or outputs.
fn port(from: &mut Reader<'_>) -> GeResult<(u64, usize)> {
    Ok((from.u64()?, from.index()?))
}

pub fn candidates(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (pattern, graph) = (from.u64()?, from.u64()?);
    let registry = registry::lock();
    let found = Pattern::of(&registry, pattern)?.candidates(&registry, graph)?;
    to.list(&found, |to, id| to.u64(*id));
    Ok(())
}

pub fn outline(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let outline = Pattern::of(&registry::lock(), from.u64()?)?.outline();
    let port = |to: &mut Writer, (id, index): &(u64, usize)| {
        to.u64(*id);
        to.u64(*index as u64);
    };
    to.list(&outline.inputs, |to, list| to.list(list, port));
    to.list(&outline.outputs, port);
    Ok(())
}

/// Returns whether there is a match, and which; the caller has a reference to each node.
pub fn find(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (pattern, graph) = (from.u64()?, from.u64()?);
    let exact = Exact {
        constants: from.u64()? != 0,
        attrs: from.u64()? != 0,
    };
    let (node, skipped) = (from.u64()?, from.index()?);
    let mut registry = registry::lock();
    let pattern = Pattern::of(&registry, pattern)?;
    let Some(found) = pattern.find(&registry, graph, exact, node, skipped) else {
        to.u64(0);
        return Ok(());
    };
    to.u64(1);
    for (own, id) in &found.nodes {
        registry.hold_op(*own);
        registry.hold_op(*id);
    }
    for (own, (id, _)) in &found.inputs {
        registry.hold_op(*own);
        registry.hold_op(*id);
    }
    to.list(&found.nodes, |to, (own, id)| {
        to.u64(*own);
        to.u64(*id);
    });
    to.list(&found.inputs, |to, (own, (id, position))| {
        to.u64(*own);
        to.u64(*id);
        to.u64(*position as u64);
    });
    Ok(())
}

pub fn circle(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let nodes: HashSet<u64> = from.list(8, Reader::u64)?.into_iter().collect();
    let registry = registry::lock();
    for id in &nodes {
        registry.op(*id)?;
    }
    to.u64(u64::from(part::would_circle(&registry, &nodes)));
    Ok(())
}

pub fn replace(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let boundary = Boundary {
        inputs: from.list(8, |from| from.list(16, port))?,
        outputs: from.list(16, port)?,
    };
    rewrite::replace(&mut registry::lock(), &boundary, from.u64()?)
}

/// Returns which passes are on, by their names.
pub fn switches(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (options, names) = (from.map()?, from.list(8, Reader::text)?);
    let switches = session::fusion_switches(&options)?;
    to.list(&names, |to, name| to.u64(u64::from(switches.is_on(name))));
    Ok(())
}

/// Infers the shapes of a replacement: its inputs are described as what these inputs of nodes read, or are that constant.
pub fn infer(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, inputs) = (from.u64()?, from.list(16, port)?);
    let mut registry = registry::lock();
    let ids = registry.graph(id)?.ops.clone();
    let mut source = registry.freeze(id, 0)?;
    let order = source.inputs();
    if order.len() != inputs.len() {
        return Err(GeError::new(format!(
            "the replacement {} has {} inputs, and the part of the graph that it replaces has {}",
            source.name,
            order.len(),
            inputs.len()
        )));
    }
    for (&at, &(op, input)) in order.iter().zip(&inputs) {
        let reader = registry.op(op)?;
        let read = reader.inputs.get(input).and_then(|input| input.from);
        let (from, position) = read.ok_or_else(|| {
            GeError::new(format!(
                "input {input} of the node {}, an input of the boundary, reads nothing",
                reader.name
            ))
        })?;
        let producer = registry.op(from)?;
        let described = producer.outputs[position].tensor_desc.clone();
        let value = producer
            .attrs
            .get("value")
            .filter(|_| is_constant(&producer.kind))
            .cloned();
        let node = &mut source.nodes[at];
        for output in &mut node.outputs {
            output.desc = described.desc.clone();
        }
        if let Some(value) = value {
            *node = ge::Node {
                name: node.name.clone(),
                kind: "Const".into(),
                attrs: [("value".to_owned(), value)].into(),
                outputs: node.outputs.clone(),
                ..ge::Node::default()
            };
        }
        let own = registry.op_mut(ids[at])?;
        for output in &mut own.outputs {
            output.tensor_desc = described.clone();
        }
    }
    drop(registry);
    let found = infer::all(&source, &[])?;
    registry::lock().describe(&ids, &found)
}
