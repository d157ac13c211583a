//! LSTM layers over sequences, as they are trained: forward with all gates, and the gradient.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("DynamicRNN", |cx, op| {
        if op.text("cell_type")? != "LSTM" {
            return Err(refused(op, "cell_type", "LSTM"));
        }
        let input = size(cx, op, 2)?;
        let (w_x, w_h) = split(cx, op.input("w")?, input)?;
        forward(cx, op, [w_x, w_h], "b")
    }),
    ("DynamicRNNGrad", |cx, op| {
        // Programs set `cell_type` and `cell_depth` to values that mean nothing, and nothing depends on them.
        let input = size(cx, op, 2)?;
        let (w_x, w_h) = split(cx, op.input("w")?, input)?;
        let [of_input, of_state, rest @ ..] = gradient(cx, op, [w_x, w_h])?;
        let dw = joined(cx, &[of_input, of_state], 0)?;
        Ok([&[dw][..], &rest[..]].concat())
    }),
    ("DynamicRNNV2", |cx, op| {
        if op.text("cell_type")? != "LSTM" {
            return Err(refused(op, "cell_type", "LSTM"));
        }
        sigmoid_gates(op)?;
        let weights = [op.input("weight_input")?, op.input("weight_hidden")?];
        forward(cx, op, weights, "b")
    }),
    ("DynamicRNNV2Grad", |cx, op| {
        sigmoid_gates(op)?;
        let weights = [op.input("w_x")?, op.input("w_h")?];
        Ok(gradient(cx, op, weights)?.to_vec())
    }),
];

type Answer<T> = Result<T, OpError>;

fn refused(op: &Op<'_>, name: &str, wanted: &str) -> OpError {
    match op.text(name) {
        Ok(text) => unsupported(format!(
            "its attribute {name} is {text}; only {wanted} is supported"
        )),
        Err(error) => error,
    }
}

fn sigmoid_gates(op: &Op<'_>) -> Answer<()> {
    match op.text("recurrent_activation")? {
        "sigmoid" => Ok(()),
        _ => Err(refused(op, "recurrent_activation", "sigmoid")),
    }
}

/// Returns the last dimension of `x`, which may lack the times in front where there is one.
fn size(cx: &Cx, op: &Op<'_>, least: usize) -> Answer<i64> {
    let dims = cx.dims(op.input("x")?)?;
    match dims[..] {
        [.., last] if (least..=3).contains(&dims.len()) => Ok(last),
        _ => Err(invalid(format!(
            "its input x has the shape {dims:?}; 3 dimensions are required"
        ))),
    }
}

/// Returns an optional input. A tensor without dimensions stands for one that is left out.
fn given(cx: &Cx, op: &Op<'_>, name: &str) -> Option<ValueId> {
    op.maybe(name)
        .filter(|&value| !cx.ty(value).shape.is_empty() || cx.ty(value).rank().is_none())
}

/// Slices rows off the first axis.
fn rows(cx: &mut Cx, x: ValueId, from: i64, to: i64) -> Answer<ValueId> {
    let [from, to, axis] = [from, to, 0].map(|value| cx.ints(&[value]));
    let inputs = [Some(x), Some(from), Some(to), Some(axis)];
    Ok(cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)?[0])
}

/// Splits the weights `[input + hidden, 4 * hidden]` into those of the input and those of the state.
fn split(cx: &mut Cx, w: ValueId, input: i64) -> Answer<(ValueId, ValueId)> {
    let &[all, _] = &cx.dims(w)?[..] else {
        return Err(invalid("its input w must have 2 dimensions"));
    };
    if all < input {
        return Err(invalid(format!(
            "its input w has {all} rows; those of the input alone are {input}"
        )));
    }
    Ok((rows(cx, w, 0, input)?, rows(cx, w, input, all)?))
}

fn joined(cx: &mut Cx, parts: &[ValueId], axis: i64) -> Answer<ValueId> {
    let attrs = Attrs::new()
        .with("concat_dim", axis)
        .with("N", parts.len() as i64);
    cx.one("ConcatD", parts, attrs)
}

/// The sizes of a layer, and the type that it is computed in.
struct Layer {
    times: i64,
    batch: i64,
    input: i64,
    hidden: i64,
    compute: DataType,
    attrs: Attrs,
}

impl Layer {
    /// Reads the sizes and the attributes.
    fn of(cx: &Cx, op: &Op<'_>, w_h: ValueId) -> Answer<Layer> {
        let reversed = match op.text("direction")? {
            "UNIDIRECTIONAL" => 0i64,
            "REDIRECTIONAL" => 1,
            _ => return Err(refused(op, "direction", "UNIDIRECTIONAL or REDIRECTIONAL")),
        };
        let has = |name: &str| {
            let attrs = op.prototype.map_or(&[][..], |prototype| prototype.attrs);
            attrs.iter().any(|(own, _)| *own == name)
        };
        if has("activation") && op.text("activation")? != "tanh" {
            return Err(refused(op, "activation", "tanh"));
        }
        let keep = op.float("keep_prob")?;
        let checks = [
            ("use_peephole", !op.yes("use_peephole")?, "false"),
            ("cell_clip", op.float("cell_clip")? <= 0.0, "0 or less"),
            ("num_proj", op.int("num_proj")? == 0, "0"),
            ("time_major", op.yes("time_major")?, "true"),
            ("keep_prob", keep >= 1.0 || keep <= 0.0, "1"),
        ];
        for (name, holds, wanted) in checks {
            if !holds {
                return Err(unsupported(format!(
                    "its attribute {name} must be {wanted}; other values are not supported"
                )));
            }
        }
        for name in ["mask", "wci", "wcf", "wco"] {
            if given(cx, op, name).is_some() {
                return Err(unsupported(format!("its input {name} is not supported")));
            }
        }
        let (x, w_h) = (op.input("x")?, cx.dims(w_h)?);
        let dims = cx.dims(x)?;
        let (times, batch, input) = match dims[..] {
            [times, batch, input] => (times, batch, input),
            [batch, input] => (1, batch, input),
            _ => {
                return Err(invalid(format!(
                    "its input x has the shape {dims:?}; 3 dimensions are required"
                )));
            }
        };
        let hidden = match w_h[..] {
            [hidden, all] if all == 4 * hidden => hidden,
            _ => {
                return Err(invalid(format!(
                    "the weights of its state have the shape {w_h:?}; the second dimension must be 4 times the first"
                )));
            }
        };
        let dtype = cx.ty(x).dtype;
        Ok(Layer {
            times,
            batch,
            input,
            hidden,
            compute: match dtype {
                DataType::Float64 => dtype,
                _ => DataType::Float32,
            },
            attrs: Attrs::new()
                .with("reversed", reversed)
                .with("gate_order", op.text("gate_order")?),
        })
    }

    /// Returns a value in the type of the computation, as a matrix.
    fn matrix(&self, cx: &mut Cx, value: ValueId, rows: i64, columns: i64) -> Answer<ValueId> {
        let count: i64 = cx.dims(value)?.iter().product();
        if count != rows.saturating_mul(columns) {
            return Err(invalid(format!(
                "an input is {}; it must have {rows} x {columns} elements",
                cx.ty(value)
            )));
        }
        let value = cx.cast(value, self.compute)?;
        cx.reshape(value, &[rows, columns])
    }

    /// Returns an input with a row for each time and sequence.
    fn all(&self, cx: &mut Cx, op: &Op<'_>, name: &str) -> Answer<ValueId> {
        let value = op.input(name)?;
        self.matrix(cx, value, self.times * self.batch, self.hidden)
    }

    /// Returns the input with the first state, or zeros.
    fn state(&self, cx: &mut Cx, op: &Op<'_>, name: &str) -> Answer<ValueId> {
        if let Some(value) = given(cx, op, name) {
            return self.matrix(cx, value, self.batch, self.hidden);
        }
        let (zero, dims) = (
            Tensor::scalar(self.compute, 0.0)?,
            cx.ints(&[self.batch, self.hidden]),
        );
        let zero = cx.add_constant(zero);
        cx.one("Expand", &[zero, dims], Attrs::new())
    }

    /// Returns which elements of the times belong to a sequence, as numbers: from the input `seq_length`, which has such numbers
    /// or the length of each sequence.
    fn mask(&self, cx: &mut Cx, op: &Op<'_>) -> Answer<Option<ValueId>> {
        let Some(lengths) = given(cx, op, "seq_length") else {
            return Ok(None);
        };
        let rows = self.times * self.batch;
        if cx.ty(lengths).dtype.is_float() {
            return self.matrix(cx, lengths, rows, self.hidden).map(Some);
        }
        if cx.dims(lengths)? != [self.batch] {
            return Err(invalid(format!(
                "its input seq_length is {}; the length of each of {} sequences is required",
                cx.ty(lengths),
                self.batch
            )));
        }
        let lengths = cx.cast(lengths, DataType::Int64)?;
        let times: Vec<i64> = (0..self.times).collect();
        let times = cx.ints(&times);
        let times = cx.reshape(times, &[self.times, 1])?;
        let belongs = cx.one("Less", &[times, lengths], Attrs::new())?;
        let belongs = cx.cast(belongs, self.compute)?;
        let belongs = cx.reshape(belongs, &[rows, 1])?;
        let dims = cx.ints(&[rows, self.hidden]);
        cx.one("Expand", &[belongs, dims], Attrs::new()).map(Some)
    }
}

/// Returns y, output_h, output_c, i, j, f, o, tanhc.
fn forward(cx: &mut Cx, op: &Op<'_>, [w_x, w_h]: [ValueId; 2], bias: &str) -> Answer<Vec<ValueId>> {
    let x = op.input("x")?;
    let dtype = cx.ty(x).dtype;
    let layer = Layer::of(cx, op, w_h)?;
    let rows = layer.times * layer.batch;
    let gates = 4 * layer.hidden;
    let mut factors = vec![
        layer.matrix(cx, x, rows, layer.input)?,
        layer.matrix(cx, w_x, layer.input, gates)?,
    ];
    if let Some(bias) = given(cx, op, bias) {
        let bias = layer.matrix(cx, bias, 1, gates)?;
        factors.push(cx.reshape(bias, &[gates])?);
    }
    let sums = cx.one("MatMulV2", &factors, Attrs::new())?;
    let weights = cx.cast(w_h, layer.compute)?;
    let inputs = [
        Some(sums),
        Some(cx.transpose(weights, &[1, 0])?),
        Some(layer.state(cx, op, "init_h")?),
        Some(layer.state(cx, op, "init_c")?),
        layer.mask(cx, op)?,
    ];
    let attrs = layer
        .attrs
        .clone()
        .with("forget_bias", op.float("forget_bias")?);
    // Without a mask, y is output_h.
    let masked = inputs[4].is_some();
    let found = cx.add_node(
        "jumar.LstmSteps",
        &inputs,
        attrs,
        if masked { 10 } else { 9 },
    )?;
    let y = if masked { found[9] } else { found[4] };
    let mut outputs = Vec::with_capacity(8);
    for value in [
        y, found[4], found[5], found[0], found[1], found[2], found[3], found[6],
    ] {
        let value = cx.reshape(value, &[layer.times, layer.batch, layer.hidden])?;
        outputs.push(cx.cast(value, dtype)?);
    }
    Ok(outputs)
}

/// Returns the gradients of the weights of the input and of the state, of the biases, of x, init_h and init_c.
fn gradient(cx: &mut Cx, op: &Op<'_>, [w_x, w_h]: [ValueId; 2]) -> Answer<[ValueId; 6]> {
    let x = op.input("x")?;
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x)?);
    let layer = Layer::of(cx, op, w_h)?;
    let rows = layer.times * layer.batch;
    let (weights, w_x) = (cx.cast(w_h, layer.compute)?, cx.cast(w_x, layer.compute)?);
    let mut inputs = vec![Some(layer.all(cx, op, "dy")?)];
    for name in ["dh", "dc"] {
        inputs.push(Some(layer.state(cx, op, name)?));
    }
    for name in ["i", "j", "f", "o", "h", "c", "tanhct"] {
        inputs.push(Some(layer.all(cx, op, name)?));
    }
    for name in ["init_h", "init_c"] {
        inputs.push(Some(layer.state(cx, op, name)?));
    }
    inputs.push(Some(weights));
    inputs.push(layer.mask(cx, op)?);
    let found = cx.add_node("jumar.LstmStepsGrad", &inputs, layer.attrs.clone(), 4)?;
    let (sums, starts) = (found[0], found[3]);
    let x = layer.matrix(cx, x, rows, layer.input)?;
    let left = || Attrs::new().with("transpose_x1", true);
    let of_input = cx.one("MatMulV2", &[x, sums], left())?;
    let of_state = cx.one("MatMulV2", &[starts, sums], left())?;
    let axis = cx.ints(&[0]);
    let of_bias = cx.one("ReduceSum", &[sums, axis], Attrs::new())?;
    let right = Attrs::new().with("transpose_x2", true);
    let of_x = cx.one("MatMulV2", &[sums, w_x], right)?;
    let of_x = cx.reshape(of_x, &dims)?;
    let mut outputs = [of_input, of_state, of_bias, of_x, found[1], found[2]];
    for (output, name) in outputs.iter_mut().skip(4).zip(["init_h", "init_c"]) {
        let dims = cx.dims(op.input(name)?)?;
        *output = cx.reshape(*output, &dims)?;
    }
    for output in &mut outputs {
        *output = cx.cast(*output, dtype)?;
    }
    Ok(outputs)
}
