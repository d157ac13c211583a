//! Inference over the whole graph, with everything computed that is constant.

use jumar_ops::{OpError, OpErrorKind, Tensor, TensorType, compute_known};

use crate::{Graph, GraphError, Node, Result, ValueId, control};

/// Results beyond this are left to be computed while the model runs: a repeated constant may be far larger than what
/// it is made of.
const LARGEST: usize = 256 << 20;

/// Results up to this size are always computed: shapes, axes and other parameters of operators.
const SMALL: usize = 1 << 10;

/// Computes a node whose result is constant; `None` where it is not.
pub(crate) fn evaluate(
    graph: &Graph,
    node: &Node,
    outputs: &[TensorType],
) -> std::result::Result<Option<Vec<Tensor>>, OpError> {
    let (types, constants) = graph.operands(node);
    let known = if node.operator.reads_only_shapes {
        types.iter().flatten().all(|ty| ty.elements().is_some())
    } else {
        !types.is_empty()
            && types
                .iter()
                .zip(&constants)
                .all(|(ty, constant)| ty.is_none() || constant.is_some())
    };
    let small = outputs.iter().all(|ty| {
        let left = graph.folding.left().max(SMALL);
        ty.bytes().is_some_and(|bytes| bytes <= LARGEST.min(left))
    });
    if !known || !small {
        return Ok(None);
    }
    match compute_known(node.operator, &types, &constants, &node.attrs) {
        // The device, which reports what it cannot allocate, computes it while the model runs.
        Err(error) if error.kind() == OpErrorKind::TooLarge => Ok(None),
        computed => computed.map(Some),
    }
}

/// Infers every type again, now that the inputs' shapes are fixed, and replaces nodes of constant result by it. A branch
/// whose condition is constant is taken here.
pub fn infer_and_fold(graph: &mut Graph) -> Result<()> {
    let mut waiting: Vec<Node> = std::mem::take(&mut graph.nodes);
    waiting.reverse();
    while let Some(mut node) = waiting.pop() {
        if control::is_control(node.operator) {
            if let Some(which) = constant_branch(graph, &node) {
                let inlined = inline(graph, &node, which)?;
                waiting.extend(inlined.into_iter().rev());
                continue;
            }
            let inferred = {
                let (types, _) = graph.operands(&node);
                control::infer(&node, &types)
                    .map_err(|error| error.at(format_args!("node {}", node.name)))?
            };
            for (body, graph) in node.bodies.iter_mut().zip(inferred.bodies) {
                body.graph = graph;
            }
            for (&id, ty) in node.outputs.iter().zip(inferred.outputs) {
                graph.value_mut(id).ty = ty;
            }
            graph.nodes.push(node);
            continue;
        }
        let outputs = graph.infer(&node)?;
        let folded = evaluate(graph, &node, &outputs)
            .map_err(|error| GraphError::from(error).at(format_args!("node {}", node.name)))?;
        match folded {
            Some(tensors) => {
                graph.count_folded(&tensors);
                for (&id, tensor) in node.outputs.iter().zip(tensors) {
                    let value = graph.value_mut(id);
                    value.ty = tensor.ty().clone();
                    value.constant = Some(tensor);
                }
            }
            None => {
                for (&id, ty) in node.outputs.iter().zip(outputs) {
                    graph.value_mut(id).ty = ty;
                }
                graph.nodes.push(node);
            }
        }
    }
    Ok(())
}

/// Returns the branch of an If that is taken, if it is known.
fn constant_branch(graph: &Graph, node: &Node) -> Option<usize> {
    if node.operator.name != control::IF.name {
        return None;
    }
    let condition = graph.value(node.inputs.first().copied()??);
    match condition.constant.as_ref()?.ints()?[..] {
        [value] => Some(usize::from(value == 0)),
        _ => None,
    }
}

/// Replaces a node by its branch. Returns its nodes.
fn inline(graph: &mut Graph, node: &Node, which: usize) -> Result<Vec<Node>> {
    let body = node
        .bodies
        .get(which)
        .ok_or_else(|| GraphError::internal("a branch that is not there"))?;
    let inner = &body.graph;
    let mut outer: Vec<Option<ValueId>> = vec![None; inner.values.len()];
    for (&id, &index) in inner.inputs.iter().zip(&body.captures) {
        outer[id.0 as usize] = node.inputs.get(index).copied().flatten();
    }
    let mut copied = |graph: &mut Graph, id: ValueId| -> ValueId {
        *outer[id.0 as usize].get_or_insert_with(|| {
            let value = inner.value(id);
            let new = graph.add_value(value.name.clone(), value.ty.clone());
            let copy = graph.value_mut(new);
            copy.constant = value.constant.clone();
            // In a compiled model a large constant lies in the weights alone.
            copy.weight = value.weight;
            new
        })
    };
    let mut nodes = Vec::with_capacity(inner.nodes.len() + node.outputs.len());
    for own in &inner.nodes {
        nodes.push(Node {
            name: format!("{}/{}", node.name, own.name),
            inputs: own
                .inputs
                .iter()
                .map(|input| input.map(|id| copied(graph, id)))
                .collect(),
            outputs: own.outputs.iter().map(|&id| copied(graph, id)).collect(),
            ..own.clone()
        });
    }
    let identity =
        jumar_ops::find("Identity").ok_or_else(|| GraphError::internal("there is no Identity"))?;
    for (output, &to) in inner.outputs.iter().zip(&node.outputs) {
        let from = copied(graph, output.value);
        nodes.push(Node {
            name: format!("{}/{}", node.name, output.name),
            operator: identity,
            inputs: vec![Some(from)],
            outputs: vec![to],
            attrs: jumar_ops::Attrs::new(),
            bodies: Vec::new(),
        });
    }
    Ok(nodes)
}
