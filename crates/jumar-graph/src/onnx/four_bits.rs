//! Tensors of 4 bits: they become tensors of 8 bits when a file is read, and what rounds to 4 bits is marked.

use std::collections::HashSet;

use jumar_ops::Tensor;
use jumar_types::dtype::DataType;

use super::proto::{AttributeProto, GraphProto, NodeProto, TensorProto};
use crate::{GraphError, Result};

/// TensorProto.DataType of unsigned and of signed integers of 4 bits.
const UINT4: i32 = 21;
const INT4: i32 = 22;
/// AttributeProto.AttributeType.INT.
const INT: i32 = 2;

/// Returns the type of 8 bits that a tensor of 4 bits has here.
pub(super) fn widened(data_type: i32) -> Option<DataType> {
    match data_type {
        UINT4 => Some(DataType::UInt8),
        INT4 => Some(DataType::Int8),
        _ => None,
    }
}

/// Makes a tensor of 8 bits from elements that lie two in a byte, the first one in the lower half.
///
/// # Errors
///
/// Invalid: there are too few or too many bytes.
pub(super) fn unpack(dtype: DataType, dims: &[usize], packed: &[u8]) -> Result<Tensor> {
    let count = dims
        .iter()
        .try_fold(1usize, |product, &dim| product.checked_mul(dim));
    let count = count.filter(|count| packed.len() == count.div_ceil(2));
    let Some(count) = count else {
        return Err(GraphError::invalid(format!(
            "it has {} bytes, which are not those of the shape {dims:?} with two elements of 4 bits in each",
            packed.len()
        )));
    };
    let halves = packed.iter().flat_map(|&byte| [byte & 15, byte >> 4]);
    let element = |half: u8| match dtype {
        DataType::Int8 => ((half << 4).cast_signed() >> 4).cast_unsigned(),
        _ => half,
    };
    let bytes: Vec<u8> = halves.take(count).map(element).collect();
    Ok(Tensor::new(dtype, dims, bytes)?)
}

/// Collects the elements of a tensor without raw data: each number holds one byte.
pub(super) fn typed(proto: &TensorProto) -> Vec<u8> {
    proto.int32_data.iter().map(|&value| value as u8).collect()
}

/// Marks the nodes that round to 4 bits: the type of their zero point does not show it any longer.
pub(super) fn mark(graph: &mut GraphProto) {
    mark_inside(graph, &HashSet::new());
}

fn mark_inside(graph: &mut GraphProto, around: &HashSet<String>) {
    let mut names = around.clone();
    for initializer in &graph.initializer {
        if widened(initializer.data_type).is_some() {
            names.insert(initializer.name.clone());
        }
    }
    for node in &graph.node {
        let tensors = node.attribute.iter().filter_map(|one| one.t.as_ref());
        if node.op_type == "Constant" && tensors.clone().any(|one| widened(one.data_type).is_some())
        {
            names.extend(node.output.iter().cloned());
        }
    }
    for node in &mut graph.node {
        for inner in node.attribute.iter_mut().filter_map(|one| one.g.as_mut()) {
            mark_inside(inner, &names);
        }
        if node.op_type == "QuantizeLinear" {
            mark_node(node, &names);
        }
    }
}

fn mark_node(node: &mut NodeProto, names: &HashSet<String>) {
    let mut is_marked = node.input.get(2).is_some_and(|zero| names.contains(zero));
    let types = node
        .attribute
        .iter_mut()
        .filter(|one| one.name == "output_dtype");
    for attribute in types {
        let dtype = i32::try_from(attribute.i).ok().and_then(widened);
        if let Some(number) = dtype.and_then(DataType::onnx) {
            attribute.i = i64::from(number);
            is_marked = true;
        }
    }
    if is_marked {
        node.attribute.push(AttributeProto {
            name: "bits".to_owned(),
            r#type: INT,
            i: 4,
            ..AttributeProto::default()
        });
    }
}
