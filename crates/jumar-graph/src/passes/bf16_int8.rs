//! Rounds what products multiply to bfloat16, where the caller's precision mode allows it.
//!
//! Products with packed constants become products of bfloat16 whose sums stay in float32: convolutions of images in
//! blocks, and products with a matrix. An image that only such convolutions read is written in bfloat16 at once, so that
//! it is rounded once and takes half the memory. Everything else stays in float32.

use jumar_ops::Attr;
use jumar_ops::packing::{bf16_filter, bf16_matrix};
use jumar_types::dtype::DataType;

use super::fuse::Uses;
use crate::{Graph, Node};

const CONVOLUTION: &str = "jumar.BlockedConv2D";
const LINEAR: &str = "jumar.Linear";

/// Rounds the constants of products.
pub(crate) fn lower_product_precision(graph: &mut Graph) {
    for index in 0..graph.nodes.len() {
        let node = &graph.nodes[index];
        let (Some(&Some(x)), Some(&Some(weights))) = (node.inputs.first(), node.inputs.get(1))
        else {
            continue;
        };
        let Some(packed) = &graph.value(weights).constant else {
            continue;
        };
        let rounded = match node.operator.name {
            // Images in planes are read as they are.
            CONVOLUTION if graph.value(x).ty.rank() == Some(5) => {
                let groups = match node.attrs.get("groups") {
                    Some(&Attr::Int(groups)) => groups.max(1) as usize,
                    _ => 1,
                };
                bf16_filter(packed, groups)
            }
            LINEAR => bf16_matrix(packed),
            _ => None,
        };
        let Some(rounded) = rounded else { continue };
        let name = format!("{}/bfloat16", graph.value(weights).name);
        let id = graph.add_constant(name, rounded);
        graph.nodes[index].inputs[1] = Some(id);
    }
    lower_image_precision(graph);
}

fn is_low_precision(graph: &Graph, node: &Node) -> bool {
    let weights = node.inputs.get(1).copied().flatten();
    node.operator.name == CONVOLUTION
        && weights.is_some_and(|id| graph.value(id).ty.dtype == DataType::BFloat16)
}

/// Makes images bfloat16 if no operator reads them otherwise.
fn lower_image_precision(graph: &mut Graph) {
    let uses = Uses::of(graph);
    for index in 0..graph.nodes.len() {
        let node = &graph.nodes[index];
        let output = node.outputs[0];
        let readers = &uses.readers[output.0 as usize];
        let only_products = readers.iter().all(|&reader| {
            let reader = &graph.nodes[reader];
            // As the image, and not as what is added.
            is_low_precision(graph, reader) && !reader.inputs[2..].contains(&Some(output))
        });
        if !is_low_precision(graph, node)
            || readers.is_empty()
            || uses.is_output(output)
            || !only_products
        {
            continue;
        }
        graph.nodes[index].attrs.set("narrow", true);
        graph.value_mut(output).ty.dtype = DataType::BFloat16;
    }
}
