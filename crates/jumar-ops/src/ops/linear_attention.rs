//! Attention without softmax: a state for each head that every position updates and reads. And the causal convolution over a few
//! positions that models with such a state have in front of it. The attributes are ONNX's.

use crate::contrib::{ints, one, plain};
use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::{LATEST, attrs_alike};
use crate::operator::OUTPUT_Y;
use crate::view::{Row, RowMut};
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InferCx, InputDef, OnnxForm, OnnxNode, OpError, Operator,
    OutputDef, PrepareCx, TensorType, Types, UNKNOWN, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.LinearAttention",
    onnx: &[
        OnnxForm::new("LinearAttention", 27, LATEST, |builder, node| {
            // How many positions an implementation may take at once; it does not change results.
            node.ignore("chunk_size");
            let attrs = attrs_alike(node, "jumar.LinearAttention")?;
            builder.add_node("jumar.LinearAttention", node.inputs(), attrs, 2)
        }),
        OnnxForm::new("CausalConvWithState", 27, LATEST, causal_convolution),
    ],
    inputs: &[
        InputDef::required("query", Types::FLOAT),
        InputDef::required("key", Types::FLOAT),
        InputDef::required("value", Types::FLOAT),
        InputDef::optional("past_state", Types::FLOAT),
        InputDef::optional("decay", Types::FLOAT),
        InputDef::optional("beta", Types::FLOAT),
    ],
    outputs: &[
        OUTPUT_Y[0],
        OutputDef {
            name: "present_state",
        },
    ],
    attrs: &[
        AttrDef::int("q_num_heads", 0),
        AttrDef::int("kv_num_heads", 0),
        // 0: one over the root of the size of a key.
        AttrDef::float("scale", 0.0),
        AttrDef::str("update_rule", "gated_delta"),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| infer(cx),
    prepare: |cx| generic_kernel(cx, LinearAttention::new(cx)?, &[0, 1, 2, 3, 4, 5], &[0, 1]),
}];

/// Whether the state fades, and whether what it holds already is subtracted from what is written.
fn rule(cx: &InferCx<'_>) -> Result<(bool, bool), OpError> {
    match cx.attrs().str("update_rule")? {
        "linear" => Ok((false, false)),
        "gated" => Ok((true, false)),
        "delta" => Ok((false, true)),
        "gated_delta" => Ok((true, true)),
        other => Err(OpError::invalid(format!(
            "update_rule is {other:?}; it can be linear, gated, delta and gated_delta"
        ))),
    }
}

fn heads(cx: &InferCx<'_>) -> Result<(i64, i64), OpError> {
    let (queries, keys) = (
        cx.attrs().int("q_num_heads")?,
        cx.attrs().int("kv_num_heads")?,
    );
    if queries < 1 || keys < 1 || queries % keys != 0 {
        return Err(OpError::invalid(format!(
            "{queries} heads of queries cannot share {keys} of keys"
        )));
    }
    Ok((queries, keys))
}

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    cx.same_types([0, 1, 2])?;
    let (fades, corrects) = rule(cx)?;
    for (index, name, wanted) in [(4, "decay", fades), (5, "beta", corrects)] {
        if cx.has(index) != wanted {
            return Err(OpError::invalid(format!(
                "update_rule {} {} the input {name}",
                cx.attrs().str("update_rule")?,
                if wanted { "needs" } else { "does not take" }
            )));
        }
    }
    let (q_heads, kv_heads) = heads(cx)?;
    let (query, key, value) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let state_type = match cx.has(3) {
        true => cx.input(3)?.dtype,
        false => query.dtype,
    };
    let of = TensorType::of_unknown_rank;
    let (&[batch, steps, q], &[k_batch, k_steps, k], &[v_batch, v_steps, v]) =
        (&query.shape[..], &key.shape[..], &value.shape[..])
    else {
        if [query, key, value].iter().any(|ty| ty.rank().is_none()) {
            return Ok(vec![of(query.dtype), of(state_type)]);
        }
        return Err(OpError::invalid(format!(
            "{query}, {key} and {value} have to have 3 dimensions each"
        )));
    };
    let differ = |a: i64, b: i64| a >= 0 && b >= 0 && a != b;
    let split = |size: i64, heads: i64| match size {
        ..0 => Ok(UNKNOWN),
        _ if size % heads == 0 => Ok(size / heads),
        _ => Err(OpError::invalid(format!(
            "{size} numbers cannot be split into {heads} heads"
        ))),
    };
    let (q_size, size, v_size) = (split(q, q_heads)?, split(k, kv_heads)?, split(v, kv_heads)?);
    if differ(batch, k_batch)
        || differ(batch, v_batch)
        || differ(steps, k_steps)
        || differ(steps, v_steps)
        || differ(q_size, size)
    {
        return Err(OpError::invalid(format!(
            "{query}, {key} and {value} do not fit each other"
        )));
    }
    let state = [batch, kv_heads, size, v_size];
    let fits = |index: usize, wanted: &[i64]| -> Result<bool, OpError> {
        let own = cx.input(index)?;
        Ok(own.rank().is_none()
            || own.shape.len() == wanted.len()
                && own.shape.iter().zip(wanted).all(|(&a, &b)| !differ(a, b)))
    };
    if cx.has(3) && !fits(3, &state)? {
        return Err(OpError::invalid(format!(
            "past_state is {}; it has to have the shape {state:?}",
            cx.input(3)?
        )));
    }
    for (index, sizes) in [(4, [kv_heads, k]), (5, [kv_heads, 1])] {
        if cx.has(index)
            && !fits(index, &[batch, steps, sizes[0]])?
            && !fits(index, &[batch, steps, sizes[1]])?
        {
            return Err(OpError::invalid(format!(
                "{} does not fit {query}: its last dimension has to be {} or {}",
                cx.input(index)?,
                sizes[0],
                sizes[1]
            )));
        }
    }
    let width = match v_size {
        ..0 => UNKNOWN,
        _ => q_heads.saturating_mul(v_size),
    };
    Ok(vec![
        TensorType::new(query.dtype, [batch, steps, width]),
        TensorType::new(state_type, state),
    ])
}

struct LinearAttention {
    batch: usize,
    steps: usize,
    heads: usize,
    kv_heads: usize,
    size: usize,
    v_size: usize,
    scale: f64,
    corrects: bool,
    /// How many numbers of decay and of the rate each position has.
    decays: usize,
    rates: usize,
}

impl LinearAttention {
    fn new(cx: &PrepareCx<'_>) -> Result<LinearAttention, OpError> {
        let (heads, kv_heads) = heads(cx.infer())?;
        let (heads, kv_heads) = (heads as usize, kv_heads as usize);
        let (query, value) = (cx.shape(0)?, cx.shape(2)?);
        let size = query[2] / heads;
        let last = |index: usize| match cx.has(index) {
            true => Ok(cx.shape(index)?[2]),
            false => Ok(0),
        };
        Ok(LinearAttention {
            batch: query[0],
            steps: query[1],
            heads,
            kv_heads,
            size,
            v_size: value[2] / kv_heads,
            scale: match cx.attrs().float("scale")? {
                0.0 => 1.0 / (size as f64).sqrt(),
                scale => scale.into(),
            },
            corrects: rule(cx.infer())?.1,
            decays: last(4)?,
            rates: last(5)?,
        })
    }

    /// Takes one position of one head into its state. `written`: scratch for what is written.
    fn update<W: Working>(
        &self,
        state: RowMut<'_, W>,
        [key, value]: [Row<'_, W>; 2],
        decay: Option<Row<'_, W>>,
        rate: Option<W>,
        written: RowMut<'_, W>,
    ) {
        let width = self.v_size;
        let row = |index: usize| state.slice(index * width, width);
        if let Some(decay) = decay {
            for index in 0..self.size {
                let by = decay.get(if decay.len() == 1 { 0 } else { index }).exp();
                row(index).map1(row(index).as_row(), |x| x * by);
            }
        }
        written.copy_from(value);
        if let (true, Some(rate)) = (self.corrects, rate) {
            for index in 0..self.size {
                let own = key.get(index);
                written.update(row(index).as_row(), |sum, x| sum - x * own);
            }
            written.map1(written.as_row(), |x| x * rate);
        }
        for index in 0..self.size {
            let own = key.get(index);
            row(index).update(written.as_row(), |x, new| x + own * new);
        }
    }
}

impl Algorithm for LinearAttention {
    fn scratch(&self) -> usize {
        self.v_size * (self.size + 1)
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (query, key, value) = (io.input(0)?, io.input(1)?, io.input(2)?);
        let (past, decay, rate) = (io.optional(3)?, io.optional(4)?, io.optional(5)?);
        let (out, present) = (io.output(0)?, io.wanted(1)?);
        let (size, v_size) = (self.size, self.v_size);
        let matrix = size * v_size;
        let scratch = io.scratch()?;
        let (state, written) = (scratch.slice(0, matrix), scratch.slice(matrix, v_size));
        let group = self.heads / self.kv_heads;
        let scale = W::of(self.scale);
        for unit in 0..self.batch * self.kv_heads {
            let (batch, head) = (unit / self.kv_heads, unit % self.kv_heads);
            match past {
                Some(past) => state.copy_from(past.slice(unit * matrix, matrix)),
                None => state.fill(W::zero()),
            }
            for step in batch * self.steps..(batch + 1) * self.steps {
                let at = step * self.kv_heads + head;
                let decay = decay.map(|decay| {
                    let each = self.decays / self.kv_heads;
                    decay.slice(step * self.decays + head * each, each)
                });
                let rate = rate.map(|rate| match self.rates {
                    1 => rate.get(step),
                    rates => rate.get(step * rates + head),
                });
                let operands = [key.slice(at * size, size), value.slice(at * v_size, v_size)];
                self.update(state, operands, decay, rate, written);
                for own in head * group..(head + 1) * group {
                    let at = step * self.heads + own;
                    let to = out.slice(at * v_size, v_size);
                    to.fill(W::zero());
                    for index in 0..size {
                        let by = query.get(at * size + index) * scale;
                        to.update(state.slice(index * v_size, v_size).as_row(), |sum, x| {
                            sum + by * x
                        });
                    }
                }
            }
            if let Some(present) = present {
                present
                    .slice(unit * matrix, matrix)
                    .copy_from(state.as_row());
            }
        }
        Ok(())
    }
}

/// Joins the positions before the first one with the input, convolves each channel, and keeps the last positions.
fn causal_convolution(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
) -> Result<Vec<ValueRef>, OpError> {
    let activation = node.str_or("activation", "none")?;
    if !["none", "silu", "swish"].contains(&activation) {
        return Err(OpError::invalid(format!(
            "the activation is {activation:?}; it can be none, silu and swish"
        )));
    }
    let (x, weight) = (node.input(0)?, node.input(1)?);
    let &[channels, 1, taps] = &builder.ty(weight).shape[..] else {
        return Err(OpError::invalid(format!(
            "the weight is {}; it has to have the shape [channels, 1, k]",
            builder.ty(weight)
        )));
    };
    if channels < 1 || taps < 1 {
        return Err(OpError::unsupported(
            "a weight whose shape is not known is not supported",
        ));
    }
    let joined = match node.optional(3) {
        Some(past) => {
            let attrs = Attrs::new().with("axis", 2);
            one(builder, "Concat", &[Some(past), Some(x)], &attrs)?
        }
        None => {
            let pads = ints(builder, &[0, 0, taps - 1, 0, 0, 0]);
            plain(builder, "Pad", &[x, pads])?
        }
    };
    let attrs = Attrs::new().with("group", channels);
    let inputs = [Some(joined), Some(weight), node.optional(2)];
    let given = if inputs[2].is_some() { 3 } else { 2 };
    let mut y = one(builder, "Conv", &inputs[..given], &attrs)?;
    if activation != "none" {
        y = plain(builder, "Swish", &[y])?;
    }
    let first = if taps == 1 { i64::MAX } else { 1 - taps };
    let [first, last, axis] = [first, i64::MAX, 2].map(|bound| ints(builder, &[bound]));
    let state = plain(builder, "Slice", &[joined, first, last, axis])?;
    Ok(vec![y, state])
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    /// The definition, for one head: decay, correction, outer product, and the product with the query.
    #[test]
    fn the_state_follows_its_definition() {
        let (steps, size, width) = (3, 2, 3);
        let (query, key, value) = (
            noise(&[1, steps, size], 1),
            noise(&[1, steps, size], 2),
            noise(&[1, steps, width], 3),
        );
        let (decay, rate) = (noise(&[1, steps, size], 4), noise(&[1, steps, 1], 5));
        let [q, k, v, g, b] = [&query, &key, &value, &decay, &rate].map(|t| t.floats().unwrap());
        let mut state = vec![vec![0.0; width]; size];
        let mut wanted = Vec::new();
        for step in 0..steps {
            for (i, own) in state.iter_mut().enumerate() {
                for x in own {
                    *x *= g[step * size + i].exp();
                }
            }
            let row = |i: usize, j: usize| state[i][j];
            let new: Vec<f64> = (0..width)
                .map(|j| {
                    let held: f64 = (0..size).map(|i| row(i, j) * k[step * size + i]).sum();
                    b[step] * (v[step * width + j] - held)
                })
                .collect();
            for (i, own) in state.iter_mut().enumerate() {
                for (x, new) in own.iter_mut().zip(&new) {
                    *x += k[step * size + i] * new;
                }
            }
            wanted.extend((0..width).map(|j| {
                let products = state.iter().enumerate();
                let sum: f64 = products.map(|(i, own)| own[j] * q[step * size + i]).sum();
                (sum / (size as f64).sqrt()) as f32
            }));
        }
        // The past is left out; inputs of a test lie side by side, so it is given as zeros.
        let past = f32s(&[1, 1, size, width], &vec![0.0; size * width]);
        let attrs = none().with("q_num_heads", 1).with("kv_num_heads", 1);
        let inputs = [query, key, value, past, decay, rate];
        check_within(
            "jumar.LinearAttention",
            &inputs,
            attrs.clone(),
            &f32s(&[1, steps, width], &wanted),
            1e-5,
        );
        refuse(
            "jumar.LinearAttention",
            &inputs,
            attrs.with("update_rule", "linear"),
            "does not take the input decay",
        );
    }
}
