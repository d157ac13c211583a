//! Attention as the optimiser joins it.

use jumar_types::dtype::DataType;

use super::{Values, add_if, form, ints, one, plain, refuse_input, refuse_outputs, standard};
use crate::onnx::cast;
use crate::{Attrs, Builder, OnnxForm, OnnxNode, OpError, Tensor, ValueRef};

pub(super) static FORMS: &[OnnxForm] = &[
    form("Attention", |builder, node| {
        for (index, name) in [(4, "past"), (6, "past_sequence_length")] {
            refuse_input(node, index, name)?;
        }
        refuse_outputs(node, 1)?;
        for name in ["do_rotary", "past_present_share_buffer"] {
            if node.bool_or(name, false)? {
                return Err(OpError::unsupported(format!("{name} is not supported")));
            }
        }
        node.ignore("rotary_embedding_dim");
        let product = plain(builder, "MatMul", &[node.input(0)?, node.input(1)?])?;
        let joined = add_if(builder, product, node.optional(2))?;
        let parts = match node.ints("qkv_hidden_sizes")? {
            None => thirds(builder, joined, -1)?,
            Some(sizes) if sizes.len() == 3 => {
                let sizes = ints(builder, sizes);
                let attrs = Attrs::new().with("axis", -1);
                standard(builder, "Split", &[Some(joined), Some(sizes)], &attrs, 3)?
            }
            Some(sizes) => {
                return Err(OpError::invalid(format!(
                    "qkv_hidden_sizes holds {} numbers, not 3",
                    sizes.len()
                )));
            }
        };
        attend(builder, node, &parts, node.optional(3), node.optional(5))
    }),
    form("MultiHeadAttention", |builder, node| {
        for (index, name) in [
            (6, "past_key"),
            (7, "past_value"),
            (8, "past_sequence_length"),
        ] {
            refuse_input(node, index, name)?;
        }
        refuse_outputs(node, 1)?;
        let mut parts = vec![node.input(0)?, node.input(1)?, node.input(2)?];
        if parts.iter().any(|&part| builder.ty(part).rank() != Some(3)) {
            return Err(OpError::unsupported(
                "query, key and value have to have 3 dimensions each",
            ));
        }
        if let Some(bias) = node.optional(3) {
            let biases = thirds(builder, bias, 0)?;
            for (part, bias) in parts.iter_mut().zip(biases) {
                *part = plain(builder, "Add", &[*part, bias])?;
            }
        }
        attend(builder, node, &parts, node.optional(4), node.optional(5))
    }),
    form("RotaryEmbedding", |builder, node| {
        let positions = node.input(1)?;
        if builder.ty(positions).rank() != Some(2) {
            return Err(OpError::unsupported(
                "position_ids has to have 2 dimensions",
            ));
        }
        for name in ["is_packed_batching"] {
            if node.bool_or(name, false)? {
                return Err(OpError::unsupported(format!("{name} is not supported")));
            }
        }
        if node.float_or("scale", 1.0)? != 1.0 {
            return Err(OpError::unsupported(
                "a scale other than 1 is not supported",
            ));
        }
        let inputs = [
            Some(node.input(0)?),
            Some(node.input(2)?),
            Some(node.input(3)?),
            Some(positions),
        ];
        let attrs = node.rest(&["is_packed_batching", "scale"]);
        Ok(vec![one(builder, "RotaryEmbedding", &inputs, &attrs)?])
    }),
];

fn thirds(builder: &mut dyn Builder, value: ValueRef, axis: i64) -> Values {
    let attrs = Attrs::new().with("axis", axis).with("num_outputs", 3);
    standard(builder, "Split", &[Some(value)], &attrs, 3)
}

/// Attends with a mask of keys (1 for those that count) and with what is added to the scores.
fn attend(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    parts: &[ValueRef],
    mask: Option<ValueRef>,
    bias: Option<ValueRef>,
) -> Values {
    let [query, key, value] = *parts else {
        return Err(OpError::internal("attention of other than three parts"));
    };
    let heads = node.int_or("num_heads", 0)?;
    let filter = node.float_or("mask_filter_value", -10000.0)?;
    let dtype = builder.ty(query).dtype;
    let mut added = bias;
    if let Some(mask) = mask {
        if builder.ty(mask).rank() != Some(2) {
            return Err(OpError::unsupported(
                "a mask of other than 2 dimensions (batch and key) is not supported",
            ));
        }
        let keep = cast(builder, mask, DataType::Bool)?;
        let zero = builder.add_constant(Tensor::scalar(dtype, 0.0)?);
        let filter = builder.add_constant(Tensor::scalar(dtype, filter.into())?);
        let scores = plain(builder, "Where", &[keep, zero, filter])?;
        let axes = ints(builder, &[1, 2]);
        let scores = plain(builder, "Unsqueeze", &[scores, axes])?;
        added = Some(add_if(builder, scores, added)?);
    }
    let mut attrs = Attrs::new()
        .with("q_num_heads", heads)
        .with("kv_num_heads", heads)
        .with(
            "is_causal",
            i64::from(node.bool_or("unidirectional", false)?),
        );
    let scale = node.float_or("scale", 0.0)?;
    if scale != 0.0 {
        attrs.set("scale", scale);
    }
    let inputs = [Some(query), Some(key), Some(value), added];
    let given = if added.is_some() { 4 } else { 3 };
    Ok(vec![one(builder, "Attention", &inputs[..given], &attrs)?])
}
