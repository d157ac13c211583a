//! Inference over the whole graph, with everything computed that is constant.

use jumar_ops::{OpError, Tensor, TensorType, compute_known};

use crate::{Graph, GraphError, Node, Result};

/// Results beyond this are left to be computed while the model runs: a repeated constant may be far larger than what
/// it is made of.
const LARGEST: usize = 256 << 20;

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
    let small = outputs
        .iter()
        .all(|ty| ty.bytes().is_some_and(|bytes| bytes <= LARGEST));
    if !known || !small {
        return Ok(None);
    }
    compute_known(node.operator, &types, &constants, &node.attrs).map(Some)
}

/// Infers every type again, now that the inputs' shapes are fixed, and replaces nodes of constant result by it.
pub(crate) fn infer_and_fold(graph: &mut Graph) -> Result<()> {
    let nodes = std::mem::take(&mut graph.nodes);
    for node in nodes {
        let outputs = graph.infer(&node)?;
        let folded = evaluate(graph, &node, &outputs)
            .map_err(|error| GraphError::from(error).at(format_args!("node {}", node.name)))?;
        match folded {
            Some(tensors) => {
                for (&id, tensor) in node.outputs.iter().zip(tensors) {
                    let value = graph.value_mut(id);
                    value.ty = tensor.ty().clone();
                    value.constant = Some(tensor);
                }
            }
            None => {
                for (&id, ty) in node.outputs.iter().zip(outputs) {
                    if ty.elements().is_none() {
                        return Err(GraphError::unsupported(format!(
                            "node {} ({}): the shape of its result depends on values computed while the model runs, which \
                             is not supported yet",
                            node.name, node.operator.name
                        )));
                    }
                    graph.value_mut(id).ty = ty;
                }
                graph.nodes.push(node);
            }
        }
    }
    Ok(())
}
