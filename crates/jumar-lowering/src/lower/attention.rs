//! Attention, and products with weights that are restored on the way.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AddLora", |cx, op| {
        let mut attrs = op.attrs_for("jumar.AddLora")?;
        if op.int("y_slice_size")? == -1 {
            // As many columns as the matrices have.
            let columns = cx.dims(op.input("weightB")?)?;
            attrs.set("y_slice_size", columns.get(2).copied().unwrap_or(-1));
        }
        cx.add_node("jumar.AddLora", &op.in_order()?, attrs, 1)
    }),
    ("FlashAttentionScore", |cx, op| {
        refuse(
            op,
            &["padding_mask", "prefix", "q_start_idx", "kv_start_idx"],
        )?;
        // Joined sequences have another function.
        let name = match op.text("input_layout")? {
            "TND" => "jumar.FlashAttentionVarLenScore",
            _ => "jumar.FlashAttentionScore",
        };
        let attrs = op.attrs_for(name)?;
        cx.add_node(name, &op.in_order()?, attrs, 4)
    }),
    ("FusedInferAttentionScore", |cx, op| {
        refuse(op, SCALES)?;
        refuse(op, &["query_padding_size", "kv_padding_size"])?;
        refuse(op, FUSED_SCALES)?;
        let own = cx.ty(op.input("query")?).dtype;
        let parts = ["query_rope", "key_rope"];
        for (name, other) in [(parts[0], parts[1]), (parts[1], parts[0])] {
            let Some(part) = op.maybe(name) else {
                continue;
            };
            if op.maybe(other).is_none() || cx.ty(part).dtype != own {
                return Err(invalid(format!(
                    "its input {name} is {}, and {other} is {}; both must be given with the type of query, {own}, or none",
                    cx.ty(part),
                    op.maybe(other)
                        .map_or("missing".to_owned(), |other| cx.ty(other).to_string())
                )));
            }
        }
        cached(cx, op, "jumar.FusedInferAttentionScore", 2)
    }),
    ("IncreFlashAttention", |cx, op| {
        refuse(op, SCALES)?;
        refuse(op, &["kv_padding_size"])?;
        cached(cx, op, "jumar.IncreFlashAttention", 1)
    }),
    ("PromptFlashAttention", |cx, op| {
        refuse(op, SCALES)?;
        let name = "jumar.PromptFlashAttention";
        let attrs = op.attrs_for(name)?;
        cx.add_node(name, &op.in_order()?, attrs, 1)
    }),
    ("WeightQuantBatchMatmulV2", restored_product),
];

/// Scales and offsets of quantised attention.
const SCALES: &[&str] = &[
    "deq_scale1",
    "deq_scale2",
    "dequant_scale1",
    "dequant_scale2",
    "quant_scale1",
    "quant_scale2",
    "quant_offset2",
    "antiquant_scale",
    "antiquant_offset",
];

/// Those that only one operator has, and parts that all sequences share.
const FUSED_SCALES: &[&str] = &[
    "key_antiquant_scale",
    "key_antiquant_offset",
    "value_antiquant_scale",
    "value_antiquant_offset",
    "key_shared_prefix",
    "value_shared_prefix",
    "actual_shared_prefix_len",
    "key_rope_antiquant_scale",
];

/// Refuses inputs whose effect is not computed.
fn refuse(op: &Op<'_>, names: &[&str]) -> Result<(), OpError> {
    match names.iter().find(|name| op.maybe(name).is_some()) {
        Some(name) => Err(unsupported(format!(
            "its input {name} is given, which is not supported"
        ))),
        None => Ok(()),
    }
}

type Answer = Result<Vec<ValueId>, OpError>;

/// Lowers to the operator whose keys and values, which are lists, stand behind all other inputs.
fn cached(cx: &mut Cx, op: &Op<'_>, name: &'static str, outputs: usize) -> Answer {
    let (keys, values) = (op.list("key")?, op.list("value")?);
    if keys.is_empty() || keys.len() != values.len() {
        return Err(invalid(format!(
            "its inputs key and value have {} and {} tensors; they must have equally many, and 1 at least",
            keys.len(),
            values.len()
        )));
    }
    let mut inputs = Vec::new();
    if let Some(prototype) = op.prototype {
        for (own, _) in prototype.inputs {
            if !matches!(*own, "key" | "value") {
                inputs.push(op.maybe(own));
            }
        }
    }
    inputs.extend(keys.into_iter().chain(values).map(Some));
    let attrs = op.attrs_for(name)?;
    cx.add_node(name, &inputs, attrs, outputs)
}

fn restored_product(cx: &mut Cx, op: &Op<'_>) -> Answer {
    refuse(op, &["quant_scale", "quant_offset"])?;
    let weight = cx.ty(op.input("weight")?).dtype;
    if weight != DataType::Int8 {
        return Err(unsupported(format!(
            "its input weight is {weight}, which is not supported: it must be int8"
        )));
    }
    for name in ["antiquant_scale", "antiquant_offset"] {
        if let Some(value) = op.maybe(name)
            && !cx.ty(value).dtype.is_float()
        {
            return Err(unsupported(format!(
                "its input {name} is {}, which is not supported: it must have the type of x",
                cx.ty(value).dtype
            )));
        }
    }
    let dtype = op.int("dtype")?;
    let mut inputs = op.in_order()?;
    // What is transposed, and with it the factors of its groups.
    let turned: &[(bool, &[usize])] = &[
        (op.yes("transpose_x")?, &[0]),
        (op.yes("transpose_weight")?, &[1, 2, 3]),
    ];
    for &(is_turned, indices) in turned {
        for &index in indices.iter().filter(|_| is_turned) {
            let Some(Some(value)) = inputs.get(index).copied() else {
                continue;
            };
            let rank = cx.rank(value)?;
            if rank >= 2 {
                let mut order: Vec<i64> = (0..rank as i64).collect();
                order.swap(rank - 2, rank - 1);
                inputs[index] = Some(cx.transpose(value, &order)?);
            }
        }
    }
    let attrs = Attrs::new()
        .with("antiquant_group_size", op.int("antiquant_group_size")?)
        .with("inner_precise", op.int("inner_precise")?);
    let y = cx.add_node("jumar.WeightQuantBatchMatmul", &inputs, attrs, 1)?[0];
    let own = cx.ty(y).dtype;
    if dtype >= 0 && i64::from(own.acl()) != dtype {
        let wanted = op.dtype("dtype")?;
        return Err(invalid(format!(
            "its attribute dtype is {wanted}; the result is {own}"
        )));
    }
    Ok(vec![y])
}
