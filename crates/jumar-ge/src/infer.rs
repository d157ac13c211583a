//! Shapes and types without building: of one operator, or of all nodes of a graph.

use crate::graph::TensorType;
use crate::lowering::{self as ge, Desc, Graph};
use crate::{GeError, GeResult};

/// What is found of a node's outputs; nothing where the node or the output is not reached.
pub type Found = Vec<Option<Desc>>;

fn desc(ty: &TensorType) -> Desc {
    let dims = if ty.rank().is_none() {
        vec![-2]
    } else {
        ty.shape.clone()
    };
    Desc {
        dims,
        dtype: ty.dtype.acl(),
        format: ge::FORMAT_ND,
    }
}

/// Finds the outputs of the last node of a graph, which has nothing else but what that node reads.
pub fn one(source: &Graph) -> GeResult<Found> {
    let mut source = source.clone();
    let Some(at) = source.nodes.len().checked_sub(1) else {
        return Err(GeError::new("there is no operator"));
    };
    source.outputs = (0..source.nodes[at].outputs.len())
        .map(|position| (at, position))
        .collect();
    let lowered = ge::lower(&source, &[])?;
    Ok(lowered.graph.outputs[..lowered.outputs]
        .iter()
        .map(|output| Some(desc(&lowered.graph.value(output.value).ty)))
        .collect())
}

/// Finds the outputs of all nodes that something reads, or that are outputs of the graph; the inputs have these shapes.
pub fn all(source: &Graph, shapes: &[Vec<i64>]) -> GeResult<Vec<Found>> {
    let inputs = source.inputs();
    if !shapes.is_empty() && shapes.len() != inputs.len() {
        return Err(GeError::new(format!(
            "graph {} has {} inputs, and {} shapes are given",
            source.name,
            inputs.len(),
            shapes.len()
        )));
    }
    let given = inputs
        .iter()
        .zip(shapes)
        .map(|(&at, shape)| {
            let dtype = source.nodes[at].outputs.first().map_or(0, |o| o.desc.dtype);
            crate::plan::type_of(shape, dtype).map(Some)
        })
        .collect::<GeResult<Vec<_>>>()?;
    let mut all = source.clone();
    let mut positions: Vec<(usize, usize)> = source
        .nodes
        .iter()
        .flat_map(|node| node.inputs.iter().filter_map(|input| input.from))
        .chain(source.outputs.iter().copied())
        .collect();
    positions.sort_unstable();
    positions.dedup();
    all.outputs.clone_from(&positions);
    let lowered = ge::lower(&all, &given)?;
    let mut found: Vec<Found> = source
        .nodes
        .iter()
        .map(|node| vec![None; node.outputs.len()])
        .collect();
    for (&(at, position), output) in positions.iter().zip(&lowered.graph.outputs) {
        if let Some(slot) = found.get_mut(at).and_then(|node| node.get_mut(position)) {
            *slot = Some(desc(&lowered.graph.value(output.value).ty));
        }
    }
    Ok(found)
}
