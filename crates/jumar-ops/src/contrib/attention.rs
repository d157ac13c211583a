//! Attention as the optimiser joins it, with a cache, masks and shared heads.

use jumar_types::dtype::DataType;

use super::{
    Values, add_if, form, ints, known_dim, one, plain, refuse_input, refuse_outputs, reshaped,
    scalar, sliced, standard, transposed, unsqueezed,
};
use crate::onnx::cast;
use crate::{Attrs, Builder, OnnxForm, OnnxNode, OpError, Tensor, ValueRef};

pub(super) static FORMS: &[OnnxForm] = &[
    form("Attention", |builder, node| {
        refuse_input(node, 6, "past_sequence_length")?;
        node.ignore("rotary_embedding_dim");
        let product = plain(builder, "MatMul", &[node.input(0)?, node.input(1)?])?;
        let joined = add_if(builder, product, node.optional(2))?;
        self_attention(
            builder,
            node,
            joined,
            [node.optional(3), node.optional(4), node.optional(5)],
        )
    }),
    form("QAttention", |builder, node| {
        let operands = (node.input(0)?, node.input(1)?);
        let scales = (node.input(3)?, node.input(4)?);
        let zeros = (node.optional(6), node.optional(7));
        let bias = node.optional(2);
        let joined = super::quantised::product(builder, operands, scales, zeros, bias)?[0];
        self_attention(
            builder,
            node,
            joined,
            [node.optional(5), node.optional(8), None],
        )
    }),
    form("MultiHeadAttention", multi_head),
    form("GroupQueryAttention", group_query),
    form("RotaryEmbedding", |builder, node| {
        if node.bool_or("is_packed_batching", false)? {
            return Err(OpError::unsupported("is_packed_batching is not supported"));
        }
        if node.float_or("scale", 1.0)? != 1.0 {
            return Err(OpError::unsupported(
                "a scale other than 1 is not supported",
            ));
        }
        let x = node.input(0)?;
        let mut positions = node.input(1)?;
        let mut attrs = node.rest(&["is_packed_batching", "scale", "num_heads"]);
        if builder.ty(positions).rank() != Some(2) {
            // One number: the position of the first element of every sequence.
            let axis = match builder.ty(x).rank() {
                Some(3) => 1,
                _ => 2,
            };
            let steps = known_dim(builder, x, axis, "the sequence of the input")?;
            let batch = known_dim(builder, x, 0, "the batch of the input")?;
            let count = ints(builder, &(0..steps).collect::<Vec<_>>());
            let row = plain(builder, "Add", &[count, positions])?;
            let shape = ints(builder, &[batch, steps]);
            positions = plain(builder, "Expand", &[row, shape])?;
        }
        // Without a number of heads, the tables say how many numbers one has.
        let heads = match (node.int_or("num_heads", 0)?, builder.ty(x).rank()) {
            (0, Some(3)) => {
                let half = known_dim(builder, node.input(2)?, 1, "the table of cosines")?;
                known_dim(builder, x, 2, "the input")? / (2 * half).max(1)
            }
            (heads, _) => heads,
        };
        attrs.set("num_heads", heads);
        let inputs = [
            Some(x),
            Some(node.input(2)?),
            Some(node.input(3)?),
            Some(positions),
        ];
        Ok(vec![one(builder, "RotaryEmbedding", &inputs, &attrs)?])
    }),
];

fn thirds(builder: &mut dyn Builder, value: ValueRef, axis: i64) -> Values {
    let attrs = Attrs::new().with("axis", axis).with("num_outputs", 3);
    standard(builder, "Split", &[Some(value)], &attrs, 3)
}

fn parted(builder: &mut dyn Builder, value: ValueRef, sizes: &[i64], axis: i64) -> Values {
    let count = sizes.len();
    let sizes = ints(builder, sizes);
    let attrs = Attrs::new().with("axis", axis);
    let inputs = [Some(value), Some(sizes)];
    standard(builder, "Split", &inputs, &attrs, count)
}

/// What is attended to, and how.
struct Attend {
    query: ValueRef,
    key: ValueRef,
    value: ValueRef,
    /// What is added to the scores.
    bias: Option<ValueRef>,
    past: Option<[ValueRef; 2]>,
    /// How many keys of each sequence count.
    lengths: Option<ValueRef>,
    /// A score of each head that takes weight from the keys.
    sinks: Option<ValueRef>,
    attrs: Attrs,
}

impl Attend {
    fn node(self, builder: &mut dyn Builder, outputs: usize) -> Values {
        let [past_key, past_value] = match self.past {
            Some(past) => past.map(Some),
            None => [None; 2],
        };
        let inputs = [
            Some(self.query),
            Some(self.key),
            Some(self.value),
            self.bias,
            past_key,
            past_value,
            self.lengths,
            self.sinks,
        ];
        builder.add_node("jumar.Attention", &inputs, self.attrs, outputs)
    }
}

/// The attributes that the operators of this file have alike.
fn attributes(node: &OnnxNode<'_>, heads: i64, kv_heads: i64) -> Result<Attrs, OpError> {
    let mut attrs = Attrs::new()
        .with("q_num_heads", heads)
        .with("kv_num_heads", kv_heads);
    let scale = node.float_or("scale", 0.0)?;
    if scale != 0.0 {
        attrs.set("scale", scale);
    }
    Ok(attrs)
}

/// Attention of a sequence to itself and to what is cached of it. `joined`: query, key and value side by side.
fn self_attention(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    joined: ValueRef,
    [mask, past, bias]: [Option<ValueRef>; 3],
) -> Values {
    refuse_outputs(node, 2)?;
    for name in ["do_rotary", "past_present_share_buffer"] {
        if node.bool_or(name, false)? {
            return Err(OpError::unsupported(format!("{name} is not supported")));
        }
    }
    let heads = node.int_or("num_heads", 0)?;
    let parts = match node.ints("qkv_hidden_sizes")? {
        None => thirds(builder, joined, -1)?,
        Some(sizes) if sizes.len() == 3 => parted(builder, joined, sizes, -1)?,
        Some(sizes) => {
            return Err(OpError::invalid(format!(
                "qkv_hidden_sizes holds {} numbers, not 3",
                sizes.len()
            )));
        }
    };
    let &[query, key, value] = &parts[..] else {
        return Err(OpError::internal("attention of other than three parts"));
    };
    let past = match past {
        None => None,
        Some(past) => {
            let attrs = Attrs::new().with("axis", 0).with("num_outputs", 2);
            let halves = standard(builder, "Split", &[Some(past)], &attrs, 2)?;
            let axis = ints(builder, &[0]);
            let mut halves = halves
                .into_iter()
                .map(|half| plain(builder, "Squeeze", &[half, axis]));
            match (halves.next(), halves.next()) {
                (Some(key), Some(value)) => Some([key?, value?]),
                _ => return Err(OpError::internal("a cache of other than two parts")),
            }
        }
    };
    let bias = masked(builder, node, mask, bias, query, (key, 1), past)?;
    let causal = node.bool_or("unidirectional", false)?;
    let attend = Attend {
        query,
        key,
        value,
        bias,
        past,
        lengths: None,
        sinks: None,
        attrs: attributes(node, heads, heads)?.with("is_causal", causal),
    };
    if !node.uses_output(1) {
        return attend.node(builder, 1);
    }
    let made = attend.node(builder, 3)?;
    let key = unsqueezed(builder, made[1], &[0])?;
    let value = unsqueezed(builder, made[2], &[0])?;
    let attrs = Attrs::new().with("axis", 0);
    let present = one(builder, "Concat", &[Some(key), Some(value)], &attrs)?;
    Ok(vec![made[0], present])
}

/// Joins a mask of keys (1 for those that count) with what is added to the scores. `keys`: a tensor of keys, and the axis of
/// positions.
fn masked(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    mask: Option<ValueRef>,
    bias: Option<ValueRef>,
    query: ValueRef,
    keys: (ValueRef, usize),
    past: Option<[ValueRef; 2]>,
) -> Result<Option<ValueRef>, OpError> {
    let filter = node.float_or("mask_filter_value", -10000.0)?;
    let Some(mask) = mask else {
        return Ok(bias);
    };
    let dtype = builder.ty(query).dtype;
    let keep = match builder.ty(mask).rank() {
        Some(1) => {
            let batch = known_dim(builder, query, 0, "the batch of the query")?;
            let count = known_dim(builder, mask, 0, "the mask")?;
            let mut total = known_dim(builder, keys.0, keys.1, "the sequence of keys")?;
            if let Some([past, _]) = past {
                total += known_dim(builder, past, 2, "the cache")?;
            }
            let positions = ints(builder, &(0..total).collect::<Vec<_>>());
            let column = |builder: &mut dyn Builder, first: i64| {
                let part = sliced(builder, mask, first, first + batch, 0)?;
                let part = cast(builder, part, DataType::Int64)?;
                unsqueezed(builder, part, &[1])
            };
            let ends = column(builder, 0)?;
            let before = plain(builder, "Less", &[positions, ends])?;
            if count == batch {
                before
            } else if count == 2 * batch {
                let starts = column(builder, batch)?;
                let behind = plain(builder, "GreaterOrEqual", &[positions, starts])?;
                plain(builder, "And", &[before, behind])?
            } else {
                return Err(OpError::unsupported(format!(
                    "a mask of {count} numbers for a batch of {batch} is not supported; it can have one or two for each sequence"
                )));
            }
        }
        Some(2 | 3) => cast(builder, mask, DataType::Bool)?,
        _ => {
            return Err(OpError::unsupported(format!(
                "the mask {} is not supported; it can have 1 to 3 dimensions",
                builder.ty(mask)
            )));
        }
    };
    let axes: &[i64] = match builder.ty(keep).rank() {
        Some(3) => &[1],
        _ => &[1, 2],
    };
    let zero = scalar(builder, dtype, 0.0)?;
    let filter = scalar(builder, dtype, filter.into())?;
    let scores = plain(builder, "Where", &[keep, zero, filter])?;
    let scores = unsqueezed(builder, scores, axes)?;
    Ok(Some(add_if(builder, scores, bias)?))
}

fn multi_head(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    refuse_input(node, 8, "past_sequence_length")?;
    refuse_input(node, 9, "cache_indirection")?;
    refuse_outputs(node, 3)?;
    let heads = node.int_or("num_heads", 0)?;
    if heads < 1 {
        return Err(OpError::invalid("num_heads has to be above 0"));
    }
    let query = node.input(0)?;
    let rank = |builder: &mut dyn Builder, value: Option<ValueRef>| {
        value.and_then(|value| builder.ty(value).rank())
    };
    // Parts that lie between the heads and the size of a head.
    let unpacked = |builder: &mut dyn Builder, packed: ValueRef, count: i64| {
        let attrs = Attrs::new().with("axis", 3).with("num_outputs", count);
        let parts = standard(builder, "Split", &[Some(packed)], &attrs, count as usize)?;
        let flat = |part: ValueRef| reshaped(builder, part, &[0, 0, -1]);
        parts.into_iter().map(flat).collect::<Values>()
    };
    let ranks = [0, 1, 2].map(|index| rank(builder, node.optional(index)));
    let mut parts = match ranks {
        [Some(3), Some(3), Some(3)] | [Some(3), Some(4), Some(4)] => {
            vec![query, node.input(1)?, node.input(2)?]
        }
        [Some(5), None, None] => unpacked(builder, query, 3)?,
        [Some(3), Some(5), None] => {
            let mut parts = vec![query];
            parts.extend(unpacked(builder, node.input(1)?, 2)?);
            parts
        }
        _ => {
            return Err(OpError::unsupported(
                "query, key and value have to have 3 dimensions each, or be packed into 5, or key and value have to have 4",
            ));
        }
    };
    let by_head = ranks[1] == Some(4);
    if let Some(bias) = node.optional(3) {
        let widths = [0, 1, 2].map(|index| builder.ty(parts[index]).shape.last().copied());
        let biases = match widths {
            [Some(q), Some(k), Some(v)] if !by_head && q > 0 && k > 0 && v > 0 => {
                parted(builder, bias, &[q, k, v], 0)?
            }
            _ => thirds(builder, bias, 0)?,
        };
        // Keys and values that come by heads have theirs already.
        let count = if by_head { 1 } else { 3 };
        for (part, bias) in parts.iter_mut().zip(biases).take(count) {
            *part = plain(builder, "Add", &[*part, bias])?;
        }
    }
    let &[mut query, key, value] = &parts[..] else {
        return Err(OpError::internal("attention of other than three parts"));
    };
    let past = match (node.optional(6), node.optional(7)) {
        (Some(key), Some(value)) => Some([key, value]),
        (None, None) => None,
        _ => {
            return Err(OpError::invalid(
                "past_key and past_value have to be given together",
            ));
        }
    };
    let axis = if by_head { 2 } else { 1 };
    let bias = masked(
        builder,
        node,
        node.optional(4),
        node.optional(5),
        query,
        (key, axis),
        past,
    )?;
    if by_head {
        query = to_heads(builder, query, heads)?;
    }
    let causal = node.bool_or("unidirectional", false)?;
    let attend = Attend {
        query,
        key,
        value,
        bias,
        past,
        lengths: None,
        sinks: None,
        attrs: attributes(node, heads, heads)?.with("is_causal", causal),
    };
    let wants_cache = node.uses_output(1) || node.uses_output(2);
    let mut made = attend.node(builder, if wants_cache { 3 } else { 1 })?;
    if by_head {
        made[0] = from_heads(builder, made[0])?;
    }
    Ok(made)
}

/// Splits the last dimension into heads, which come before the positions.
fn to_heads(builder: &mut dyn Builder, x: ValueRef, heads: i64) -> Result<ValueRef, OpError> {
    let split = reshaped(builder, x, &[0, 0, heads, -1])?;
    transposed(builder, split, vec![0, 2, 1, 3])
}

fn from_heads(builder: &mut dyn Builder, x: ValueRef) -> Result<ValueRef, OpError> {
    let turned = transposed(builder, x, vec![0, 2, 1, 3])?;
    reshaped(builder, turned, &[0, 0, -1])
}

/// Attention whose heads share keys, with a cache that each sequence fills from its own position on.
fn group_query(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    for (index, name) in [(12, "k_scale"), (13, "v_scale"), (16, "query_seqlens")] {
        refuse_input(node, index, name)?;
    }
    refuse_outputs(node, 3)?;
    for name in ["sliding_window_cache", "qk_output"] {
        if node.int_or(name, 0)? != 0 {
            return Err(OpError::unsupported(format!("{name} is not supported")));
        }
    }
    for name in ["k_quant_type", "v_quant_type"] {
        if node.str_or(name, "NONE")? != "NONE" {
            return Err(OpError::unsupported(
                "a cache of 8 or 4 bits is not supported",
            ));
        }
    }
    node.ignore("kv_cache_bit_width");
    let (heads, kv_heads) = (
        node.int_or("num_heads", 0)?,
        node.int_or("kv_num_heads", 0)?,
    );
    if heads < 1 || kv_heads < 1 {
        return Err(OpError::invalid(
            "num_heads and kv_num_heads have to be above 0",
        ));
    }
    let query = node.input(0)?;
    let steps = known_dim(builder, query, 1, "the sequence of the query")?;
    let parts = match (node.optional(1), node.optional(2)) {
        (Some(key), Some(value)) => vec![query, key, value],
        (None, None) => {
            let width = known_dim(builder, query, 2, "the query")?;
            let size = width / (heads + 2 * kv_heads);
            let sizes = [heads * size, kv_heads * size, kv_heads * size];
            parted(builder, query, &sizes, 2)?
        }
        _ => {
            return Err(OpError::invalid("key and value have to be given together"));
        }
    };
    let lengths = cast(builder, node.input(5)?, DataType::Int64)?;
    let lengths = reshaped(builder, lengths, &[-1])?;
    let total = node
        .optional(6)
        .and_then(|total| builder.constant(total)?.ints()?.first().copied());
    let past = match (node.optional(3), node.optional(4)) {
        (Some(key), Some(value)) => Some([key, value]),
        _ => None,
    };
    let held = match past {
        Some([key, _]) => known_dim(builder, key, 2, "the cache")?,
        None => 0,
    };
    // The first step of all: what the cache holds does not count.
    let is_first = total.map_or(held == 0, |total| total == steps);
    let one_more = ints(builder, &[1]);
    let valid = plain(builder, "Add", &[lengths, one_more])?;
    let new = ints(builder, &[steps]);
    let start = if is_first {
        plain(builder, "Sub", &[lengths, lengths])?
    } else {
        plain(builder, "Sub", &[valid, new])?
    };
    let mut by_heads = Vec::new();
    let epsilon = node.float_or("qk_norm_epsilon", 1e-6)?;
    for (index, part) in parts.into_iter().enumerate() {
        let count = if index == 0 { heads } else { kv_heads };
        let mut split = reshaped(builder, part, &[0, 0, count, -1])?;
        let (weight, name) = match index {
            0 => (node.optional(14), "q_norm_epsilon"),
            1 => (node.optional(15), "k_norm_epsilon"),
            _ => (None, ""),
        };
        if let Some(weight) = weight {
            let attrs = Attrs::new()
                .with("axis", -1)
                .with("epsilon", node.float_or(name, epsilon)?);
            let inputs = [Some(split), Some(weight)];
            split = one(builder, "RMSNormalization", &inputs, &attrs)?;
        }
        by_heads.push(transposed(builder, split, vec![0, 2, 1, 3])?);
    }
    for name in ["q_norm_epsilon", "k_norm_epsilon"] {
        node.ignore(name);
    }
    let interleaved = node.int_or("rotary_interleaved", 0)?;
    if node.bool_or("do_rotary", false)? {
        let positions = match node.optional(9) {
            Some(positions) => cast(builder, positions, DataType::Int64)?,
            None => {
                let first = unsqueezed(builder, start, &[1])?;
                let steps = ints(builder, &(0..steps).collect::<Vec<_>>());
                plain(builder, "Add", &[first, steps])?
            }
        };
        let size = builder.ty(by_heads[0]).shape[3];
        let half = known_dim(builder, node.input(7)?, 1, "the table of cosines")?;
        let mut attrs = Attrs::new().with("interleaved", interleaved);
        if 2 * half != size {
            attrs.set("rotary_embedding_dim", 2 * half);
        }
        for part in &mut by_heads[..2] {
            let inputs = [
                Some(*part),
                Some(node.input(7)?),
                Some(node.input(8)?),
                Some(positions),
            ];
            *part = one(builder, "RotaryEmbedding", &inputs, &attrs)?;
        }
    }
    let length = match (past, total) {
        (Some(_), None) => held + steps,
        (_, total) => total.unwrap_or(steps).max(held).max(steps),
    };
    let mut cache = [by_heads[1], by_heads[2]];
    let padded = |builder: &mut dyn Builder, value: ValueRef, by: i64| {
        if by == 0 {
            return Ok(value);
        }
        let pads = ints(builder, &[0, 0, 0, 0, 0, 0, by, 0]);
        plain(builder, "Pad", &[value, pads])
    };
    for (own, index) in cache.iter_mut().zip([0, 1]) {
        *own = match past {
            Some(past) if held > 0 => {
                let past = padded(builder, past[index], length - held)?;
                plain(builder, "TensorScatter", &[past, *own, start])?
            }
            _ => padded(builder, *own, length - steps)?,
        };
    }
    let sinks = match node.optional(11) {
        Some(sinks) => Some(sinks),
        None if node.int_or("smooth_softmax", 0)? == 1 => {
            let dtype = builder.ty(query).dtype;
            let zeros = Tensor::scalar(DataType::Float32, 0.0)?;
            let zeros = builder.add_constant(zeros);
            let shape = ints(builder, &[heads]);
            let zeros = plain(builder, "Expand", &[zeros, shape])?;
            Some(cast(builder, zeros, dtype)?)
        }
        None => None,
    };
    node.ignore("smooth_softmax");
    let causal = node.bool_or("causal", true)?;
    // It counts the key at the query's own position, too.
    let window = match node.int_or("local_window_size", -1)? {
        0 => {
            return Err(OpError::invalid(
                "local_window_size is 0; it has to be above 0, or -1 for all keys",
            ));
        }
        size => (size - 1).max(-1),
    };
    let attrs = attributes(node, 0, 0)?
        .with("is_causal", causal)
        .with("softcap", node.float_or("softcap", 0.0)?)
        .with("left_window_size", window);
    let attend = Attend {
        query: by_heads[0],
        key: if is_first { by_heads[1] } else { cache[0] },
        value: if is_first { by_heads[2] } else { cache[1] },
        bias: node.optional(10),
        past: None,
        // Queries behind the end of a sequence see what is there.
        lengths: (!is_first).then_some(valid),
        sinks,
        attrs,
    };
    let made = attend.node(builder, 1)?;
    Ok(vec![from_heads(builder, made[0])?, cache[0], cache[1]])
}
