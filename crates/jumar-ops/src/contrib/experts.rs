//! Experts of which each position takes a few, and rows of a table whose numbers have few bits.

use jumar_types::dtype::DataType;

use super::{
    Values, form, ints, known_dim, one, plain, reshaped, scalar, sliced, standard, transposed,
    unsqueezed,
};
use crate::onnx::cast;
use crate::{Attrs, Builder, OnnxForm, OnnxNode, OpError, ValueRef};

pub(super) static FORMS: &[OnnxForm] = &[
    form("MoE", experts),
    form("GatherBlockQuantized", gather_blocks),
];

/// Every expert computes every position; the weights of those that a position does not take are 0.
fn experts(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    if node.bool_or("use_sparse_mixer", false)? {
        return Err(OpError::unsupported("use_sparse_mixer is not supported"));
    }
    let x = node.input(0)?;
    let dtype = builder.ty(x).dtype;
    let width = known_dim(builder, x, -1, "the input")?;
    let rows = reshaped(builder, x, &[1, -1, width])?;
    let layer = |builder: &mut dyn Builder, x: ValueRef, index: usize| {
        let weights = transposed(builder, node.input(index)?, vec![0, 2, 1])?;
        let product = plain(builder, "MatMul", &[x, weights])?;
        match node.optional(index + 1) {
            None => Ok(product),
            Some(bias) => {
                let bias = unsqueezed(builder, bias, &[1])?;
                plain(builder, "Add", &[product, bias])
            }
        }
    };
    let hidden = layer(builder, rows, 2)?;
    let hidden = match node.str_or("activation_type", "relu")? {
        "identity" => hidden,
        "relu" => plain(builder, "Relu", &[hidden])?,
        "gelu" => {
            let attrs = Attrs::new().with("approximate", "tanh");
            one(builder, "Gelu", &[Some(hidden)], &attrs)?
        }
        "silu" => plain(builder, "Swish", &[hidden])?,
        "swiglu" => {
            let (gate, linear) = match node.int_or("swiglu_fusion", 0)? {
                0 => (hidden, layer(builder, rows, 6)?),
                1 => {
                    let pairs = reshaped(builder, hidden, &[0, 0, -1, 2])?;
                    let [gate, linear] = [0, 1].map(|at| {
                        let part = sliced(builder, pairs, at, at + 1, 3)?;
                        let axis = ints(builder, &[3]);
                        plain(builder, "Squeeze", &[part, axis])
                    });
                    (gate?, linear?)
                }
                2 => {
                    let attrs = Attrs::new().with("axis", -1).with("num_outputs", 2);
                    let halves = standard(builder, "Split", &[Some(hidden)], &attrs, 2)?;
                    (halves[0], halves[1])
                }
                other => {
                    return Err(OpError::invalid(format!(
                        "swiglu_fusion is {other}; it can be 0, 1 and 2"
                    )));
                }
            };
            gated(builder, node, gate, linear)?
        }
        other => {
            return Err(OpError::unsupported(format!(
                "the activation {other} is not supported"
            )));
        }
    };
    let is_gated = node.str_or("activation_type", "relu")? == "swiglu";
    let hidden = match node.optional(6) {
        Some(_) if !is_gated => {
            let linear = layer(builder, rows, 6)?;
            plain(builder, "Mul", &[hidden, linear])?
        }
        _ => hidden,
    };
    for name in [
        "swiglu_fusion",
        "swiglu_limit",
        "swiglu_limit_after_activation",
        "activation_alpha",
        "activation_beta",
    ] {
        node.ignore(name);
    }
    let results = layer(builder, hidden, 4)?;
    // The weight of each expert for each position, in float32.
    let router = cast(builder, node.input(1)?, DataType::Float32)?;
    let last = Attrs::new().with("axis", -1);
    let weights = one(builder, "Softmax", &[Some(router)], &last)?;
    let count = ints(builder, &[node.int_or("k", 1)?]);
    let best = standard(builder, "TopK", &[Some(weights), Some(count)], &last, 2)?;
    let mut taken = best[0];
    if node.bool_or("normalize_routing_weights", false)? {
        let axis = ints(builder, &[-1]);
        let sum = plain(builder, "ReduceSum", &[taken, axis])?;
        taken = plain(builder, "Div", &[taken, sum])?;
    }
    let none = plain(builder, "Sub", &[weights, weights])?;
    let inputs = [Some(none), Some(best[1]), Some(taken)];
    let weights = one(builder, "ScatterElements", &inputs, &last)?;
    let weights = transposed(builder, weights, vec![1, 0])?;
    let weights = unsqueezed(builder, weights, &[2])?;
    let weights = cast(builder, weights, dtype)?;
    let parts = plain(builder, "Mul", &[results, weights])?;
    let first = ints(builder, &[0]);
    let attrs = Attrs::new().with("keepdims", 0);
    let sum = one(builder, "ReduceSum", &[Some(parts), Some(first)], &attrs)?;
    let shape = plain(builder, "Shape", &[x])?;
    Ok(vec![plain(builder, "Reshape", &[sum, shape])?])
}

fn gated(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    mut gate: ValueRef,
    mut linear: ValueRef,
) -> Result<ValueRef, OpError> {
    let dtype = builder.ty(gate).dtype;
    if node.bool_or("swiglu_limit_after_activation", false)? {
        return Err(OpError::unsupported(
            "swiglu_limit_after_activation is not supported",
        ));
    }
    if let Some(limit) = node.float("swiglu_limit")? {
        let high = scalar(builder, dtype, limit.into())?;
        let low = scalar(builder, dtype, f64::from(-limit))?;
        gate = plain(builder, "Min", &[gate, high])?;
        linear = plain(builder, "Clip", &[linear, low, high])?;
    }
    let attrs = Attrs::new().with("alpha", node.float_or("activation_alpha", 1.0)?);
    let gate = one(builder, "Swish", &[Some(gate)], &attrs)?;
    let beta = node.float_or("activation_beta", 0.0)?;
    let beta = scalar(builder, dtype, beta.into())?;
    let linear = plain(builder, "Add", &[linear, beta])?;
    plain(builder, "Mul", &[gate, linear])
}

/// Takes rows with their scales, and turns them into numbers afterwards: the table stays as it is.
fn gather_blocks(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    let (data, indices, scales) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let (Some(rank), Some(indices_rank)) = (builder.ty(data).rank(), builder.ty(indices).rank())
    else {
        return Err(OpError::unsupported(
            "a table or indices of an unknown number of dimensions are not supported",
        ));
    };
    let from_front = |axis: i64| if axis < 0 { axis + rank as i64 } else { axis };
    let (gather, quantize) = (
        from_front(node.int_or("gather_axis", 0)?),
        from_front(node.int_or("quantize_axis", 1)?),
    );
    if gather == quantize {
        return Err(OpError::unsupported(
            "gather_axis and quantize_axis have to be two axes",
        ));
    }
    let storage = builder.storage(data);
    if storage.is_some_and(|storage| !storage.is_integer()) {
        return Err(OpError::unsupported(
            "a table of floating-point numbers of few bits is not supported",
        ));
    }
    let bits = node.int_or("bits", 4)?;
    let bits = match storage {
        Some(storage) => storage.bits() as i64,
        None => bits,
    };
    let packed = storage.is_none() && bits < 8;
    let taken = |builder: &mut dyn Builder, table: ValueRef| {
        let attrs = Attrs::new().with("axis", gather);
        one(builder, "Gather", &[Some(table), Some(indices)], &attrs)
    };
    // The axis after the rows were taken.
    let axis = match quantize > gather {
        true => quantize + indices_rank as i64 - 1,
        false => quantize,
    };
    let scales = taken(builder, scales)?;
    let blocks = known_dim(builder, scales, axis, "the scales")?;
    let rows = taken(builder, data)?;
    let rows = match packed {
        true => unpacked(builder, rows, bits)?,
        false => rows,
    };
    let zeros = match node.optional(3) {
        Some(zeros) => {
            let zeros = taken(builder, zeros)?;
            match packed {
                true => {
                    let zeros = unpacked(builder, zeros, bits)?;
                    sliced(builder, zeros, 0, blocks, axis)?
                }
                false => zeros,
            }
        }
        None => {
            let dtype = builder.ty(rows).dtype;
            let middle = match storage {
                Some(_) => 0.0,
                None => f64::from(1u16 << (bits - 1)),
            };
            let middle = scalar(builder, dtype, middle)?;
            let shape = plain(builder, "Shape", &[scales])?;
            plain(builder, "Expand", &[middle, shape])?
        }
    };
    let attrs = Attrs::new()
        .with("axis", axis)
        .with("block_size", node.int_or("block_size", 128)?);
    let inputs = [Some(rows), Some(scales), Some(zeros)];
    builder.add_node("jumar.DequantizeLinear", &inputs, attrs, 1)
}

/// Numbers that lie several in a byte along the last axis, the first in the lowest bits.
fn unpacked(builder: &mut dyn Builder, packed: ValueRef, bits: i64) -> Result<ValueRef, OpError> {
    let mask = scalar(builder, DataType::UInt8, f64::from((1u16 << bits) - 1))?;
    let last = builder.ty(packed).rank().map_or(0, |rank| rank as i64);
    let mut parts = Vec::new();
    for shift in (0..8).step_by(bits as usize) {
        let distance = scalar(builder, DataType::UInt8, f64::from(shift))?;
        let attrs = Attrs::new().with("direction", "RIGHT");
        let moved = one(builder, "BitShift", &[Some(packed), Some(distance)], &attrs)?;
        let part = plain(builder, "BitwiseAnd", &[moved, mask])?;
        parts.push(Some(unsqueezed(builder, part, &[last])?));
    }
    let attrs = Attrs::new().with("axis", last);
    let joined = one(builder, "Concat", &parts, &attrs)?;
    let mut shape = vec![0; last.max(1) as usize];
    if let Some(last) = shape.last_mut() {
        *last = -1;
    }
    reshaped(builder, joined, &shape)
}
