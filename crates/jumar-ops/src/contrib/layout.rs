//! Operators on images whose channels come last, norms and embeddings that the optimiser joins, and small operators of its own.

use jumar_types::dtype::DataType;

use super::{
    Values, add_if, form, ints, known_dim, one, plain, refuse_input, reshaped, scaled, sliced,
    standard, transposed, unsqueezed,
};
use crate::onnx::cast;
use crate::{Attrs, Builder, OnnxForm, OnnxNode, OpError, ValueRef};

pub(super) static FORMS: &[OnnxForm] = &[
    form("NhwcConv", |builder, node| {
        channels_last(builder, node.input(0)?, |builder, x| {
            let inputs = [Some(x), Some(node.input(1)?), node.optional(2)];
            let given = if inputs[2].is_some() { 3 } else { 2 };
            one(builder, "Conv", &inputs[..given], &node.rest(&[]))
        })
    }),
    form("NhwcFusedConv", |builder, node| {
        let own = super::float::ACTIVATION;
        let conv = channels_last(builder, node.input(0)?, |builder, x| {
            let inputs = [Some(x), Some(node.input(1)?), node.optional(2)];
            let given = if inputs[2].is_some() { 3 } else { 2 };
            one(builder, "Conv", &inputs[..given], &node.rest(own))
        })?[0];
        let sum = add_if(builder, conv, node.optional(3))?;
        Ok(vec![super::float::activated(builder, node, sum)?])
    }),
    form("NhwcMaxPool", |builder, node| {
        channels_last(builder, node.input(0)?, |builder, x| {
            one(builder, "MaxPool", &[Some(x)], &node.rest(&[]))
        })
    }),
    form("QLinearConv", |builder, node| {
        let compute = |builder: &mut dyn Builder, x: ValueRef| {
            let mut inputs = node.inputs().to_vec();
            inputs[0] = Some(x);
            let attrs = node.rest(&["channels_last"]);
            one(builder, "QLinearConv", &inputs, &attrs)
        };
        match node.bool_or("channels_last", false)? {
            true => channels_last(builder, node.input(0)?, compute),
            false => Ok(vec![compute(builder, node.input(0)?)?]),
        }
    }),
    form("GroupNorm", |builder, node| {
        group_norm(builder, node, node.input(0)?)
    }),
    form("SkipGroupNorm", |builder, node| {
        let (x, mut skip) = (node.input(0)?, node.input(3)?);
        if builder.ty(skip).rank() == Some(2) {
            let axes: &[i64] = match node.bool_or("channels_last", true)? {
                true => &[1, 2],
                false => &[2, 3],
            };
            skip = unsqueezed(builder, skip, axes)?;
        }
        let sum = plain(builder, "Add", &[x, skip])?;
        let bias = match node.optional(4) {
            Some(bias) if !node.bool_or("channels_last", true)? => {
                Some(unsqueezed(builder, bias, &[1, 2])?)
            }
            bias => bias,
        };
        let sum = add_if(builder, sum, bias)?;
        let mut made = group_norm(builder, node, sum)?;
        made.push(sum);
        Ok(made)
    }),
    form("EmbedLayerNormalization", embedding),
    form("BiasAdd", |builder, node| {
        let sum = plain(builder, "Add", &[node.input(0)?, node.input(1)?])?;
        Ok(vec![plain(builder, "Add", &[sum, node.input(2)?])?])
    }),
    form("BiasSplitGelu", |builder, node| {
        let sum = plain(builder, "Add", &[node.input(0)?, node.input(1)?])?;
        let attrs = Attrs::new().with("axis", -1).with("num_outputs", 2);
        let halves = standard(builder, "Split", &[Some(sum)], &attrs, 2)?;
        let gate = plain(builder, "Gelu", &[halves[1]])?;
        Ok(vec![plain(builder, "Mul", &[halves[0], gate])?])
    }),
    form("BiasSoftmax", |builder, node| {
        let sum = plain(builder, "Add", &[node.input(0)?, node.input(1)?])?;
        // Which of the two the bias repeats follows from the shapes.
        node.ignore("is_inner_broadcast");
        let attrs = Attrs::new().with("axis", node.int_or("axis", 1)?);
        Ok(vec![one(builder, "Softmax", &[Some(sum)], &attrs)?])
    }),
    form("ScaledSiLU", |builder, node| {
        let x = match node.optional(1) {
            Some(scale) => plain(builder, "Mul", &[node.input(0)?, scale])?,
            None => scaled(builder, node.input(0)?, node.float_or("alpha", 1.0)?)?,
        };
        node.ignore("alpha");
        Ok(vec![plain(builder, "Swish", &[x])?])
    }),
    form("CausalConvWithState", |builder, node| {
        standard(
            builder,
            "CausalConvWithState",
            node.inputs(),
            &node.rest(&[]),
            2,
        )
    }),
    form("LinearAttention", |builder, node| {
        standard(
            builder,
            "LinearAttention",
            node.inputs(),
            &node.rest(&[]),
            2,
        )
    }),
    form("GemmFastGelu", |builder, node| {
        let product = plain(builder, "MatMul", &[node.input(0)?, node.input(1)?])?;
        let sum = add_if(builder, product, node.optional(2))?;
        let attrs = Attrs::new().with("approximate", "tanh");
        Ok(vec![one(builder, "Gelu", &[Some(sum)], &attrs)?])
    }),
    form("ExpandDims", |builder, node| {
        let axis = reshaped(builder, node.input(1)?, &[1])?;
        let axis = cast(builder, axis, DataType::Int64)?;
        Ok(vec![plain(builder, "Unsqueeze", &[node.input(0)?, axis])?])
    }),
    form("Trilu", |builder, node| alike(builder, node, "Trilu", 1)),
    form("GatherND", |builder, node| {
        alike(builder, node, "GatherND", 1)
    }),
    form("Pad", |builder, node| alike(builder, node, "Pad", 1)),
    form("Unique", |builder, node| {
        let first = Attrs::new().with("sorted", 0);
        let made = standard(builder, "Unique", node.inputs(), &first, 4)?;
        Ok(vec![made[0], made[2], made[3]])
    }),
    form("Range", |builder, node| {
        let delta = match node.optional(2) {
            Some(delta) => delta,
            None => {
                let dtype = builder.ty(node.input(0)?).dtype;
                super::scalar(builder, dtype, 1.0)?
            }
        };
        let inputs = [node.input(0)?, node.input(1)?, delta];
        let scalars = inputs
            .into_iter()
            .map(|value| reshaped(builder, value, &[]))
            .collect::<Values>()?;
        Ok(vec![plain(builder, "Range", &scalars)?])
    }),
    form("GridSample", |builder, node| {
        let mode = match node.str_or("mode", "bilinear")? {
            "bilinear" => "linear",
            "bicubic" => "cubic",
            other => other,
        };
        let attrs = node.rest(&["mode"]).with("mode", mode);
        Ok(vec![one(builder, "GridSample", node.inputs(), &attrs)?])
    }),
    form("MatMulInteger16", |builder, node| {
        let [a, b] = [0, 1].map(|index| {
            let value = node.input(index)?;
            cast(builder, value, DataType::Int32)
        });
        Ok(vec![plain(builder, "MatMul", &[a?, b?])?])
    }),
    form("ConvTransposeWithDynamicPads", |builder, node| {
        let pads = match node.optional(2) {
            None => None,
            Some(pads) => {
                let pads = builder.constant(pads).and_then(|pads| pads.ints());
                Some(pads.ok_or_else(|| {
                    OpError::unsupported("Pads that are not a constant are not supported")
                })?)
            }
        };
        let mut attrs = node.rest(&[]);
        if let Some(pads) = pads {
            attrs.set("pads", pads);
        }
        let inputs = [Some(node.input(0)?), Some(node.input(1)?), node.optional(3)];
        let given = if inputs[2].is_some() { 3 } else { 2 };
        Ok(vec![one(
            builder,
            "ConvTranspose",
            &inputs[..given],
            &attrs,
        )?])
    }),
];

fn alike(builder: &mut dyn Builder, node: &OnnxNode<'_>, name: &str, outputs: usize) -> Values {
    standard(builder, name, node.inputs(), &node.rest(&[]), outputs)
}

/// Computes on an image whose channels come last with what wants them behind the batch.
pub(super) fn channels_last(
    builder: &mut dyn Builder,
    x: ValueRef,
    compute: impl FnOnce(&mut dyn Builder, ValueRef) -> Result<ValueRef, OpError>,
) -> Values {
    let rank = builder.ty(x).rank().filter(|&rank| rank > 2);
    let rank = rank.ok_or_else(|| {
        OpError::unsupported(format!(
            "{} is not supported: an image has 3 dimensions or more, and their number has to be known",
            builder.ty(x)
        ))
    })? as i64;
    let mut first = vec![0, rank - 1];
    first.extend(1..rank - 1);
    let mut last = vec![0];
    last.extend(2..rank);
    last.push(1);
    let x = transposed(builder, x, first)?;
    let y = compute(builder, x)?;
    Ok(vec![transposed(builder, y, last)?])
}

fn group_norm(builder: &mut dyn Builder, node: &OnnxNode<'_>, x: ValueRef) -> Values {
    let groups = node
        .int("groups")?
        .ok_or_else(|| OpError::invalid("the attribute groups is missing"))?;
    let attrs = Attrs::new()
        .with("num_groups", groups)
        .with("epsilon", node.float_or("epsilon", 1e-5)?);
    let (gamma, beta) = (node.input(1)?, node.input(2)?);
    let dtype = builder.ty(x).dtype;
    let gamma = cast(builder, gamma, dtype)?;
    let beta = cast(builder, beta, dtype)?;
    let swish = match node.int_or("activation", 0)? {
        0 => false,
        1 => true,
        other => {
            return Err(OpError::invalid(format!(
                "the activation is {other}; it can be 0 and 1"
            )));
        }
    };
    let compute = |builder: &mut dyn Builder, x: ValueRef| {
        let inputs = [Some(x), Some(gamma), Some(beta)];
        let y = one(builder, "GroupNormalization", &inputs, &attrs)?;
        match swish {
            true => plain(builder, "Swish", &[y]),
            false => Ok(y),
        }
    };
    match node.bool_or("channels_last", true)? {
        true => channels_last(builder, x, compute),
        false => Ok(vec![compute(builder, x)?]),
    }
}

/// The sum of the embeddings of words, positions and segments, normalised.
fn embedding(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    node.ignore("mask_index_type");
    let words = node.input(0)?;
    let steps = known_dim(builder, words, 1, "the sequence of words")?;
    let own = plain(builder, "Gather", &[node.input(2)?, words])?;
    let positions = match node.optional(8) {
        Some(positions) => plain(builder, "Gather", &[node.input(3)?, positions])?,
        None => sliced(builder, node.input(3)?, 0, steps, 0)?,
    };
    let mut sum = plain(builder, "Add", &[own, positions])?;
    if let Some(segments) = node.optional(1) {
        let segments = plain(builder, "Gather", &[node.input(4)?, segments])?;
        sum = plain(builder, "Add", &[sum, segments])?;
    } else {
        refuse_input(node, 4, "segment_embedding without segment_ids")?;
    }
    let attrs = Attrs::new()
        .with("axis", -1)
        .with("epsilon", node.float_or("epsilon", 1e-12)?);
    let inputs = [Some(sum), Some(node.input(5)?), Some(node.input(6)?)];
    let y = one(builder, "LayerNormalization", &inputs, &attrs)?;
    // How many words count; without a mask the definition says 0.
    let counted = match node.optional(7) {
        Some(mask) => cast(builder, mask, DataType::Int32)?,
        None => {
            let words = cast(builder, words, DataType::Int32)?;
            plain(builder, "Sub", &[words, words])?
        }
    };
    let axis = ints(builder, &[1]);
    let attrs = Attrs::new().with("keepdims", 0);
    let index = one(builder, "ReduceSum", &[Some(counted), Some(axis)], &attrs)?;
    Ok(vec![y, index, sum])
}
