//! One step of an LSTM layer, and the LSTM layer of Caffe, whose sequences begin anew where its input cont is 0.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[("BasicLSTMCell", cell), ("LSTM", layer)];

type Answer<T> = Result<T, OpError>;

/// Returns the part of the second axis that a gate has.
fn gate(f: &Formula<'_>, sums: ValueId, which: i64, hidden: i64) -> Answer<ValueId> {
    f.part(sums, 1, which * hidden, (which + 1) * hidden)
}

/// Returns `x` times the transposed weights.
fn product(f: &Formula<'_>, x: ValueId, weights: ValueId) -> Answer<ValueId> {
    let attrs = Attrs::new().with("transpose_x2", true);
    f.node("MatMulV2", &[x, weights], attrs)
}

/// Refuses an input whose shape is not the one that the others ask for.
fn expect(cx: &Cx, value: ValueId, name: &str, wanted: &[i64]) -> Answer<()> {
    match cx.dims(value)? == wanted {
        true => Ok(()),
        false => Err(invalid(format!(
            "its input {name} is {}; the shape {wanted:?} is required",
            cx.ty(value)
        ))),
    }
}

/// Returns ct, ht, it, jt, ft, ot and tanhct: the new states and the gates after their functions.
fn cell(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    let checks = [
        ("keep_prob", op.float("keep_prob")? == 1.0, "1"),
        ("state_is_tuple", op.yes("state_is_tuple")?, "true"),
        ("activation", op.text("activation")? == "tanh", "tanh"),
    ];
    for (name, holds, wanted) in checks {
        if !holds {
            return Err(unsupported(format!(
                "its attribute {name} must be {wanted}; other values are not supported"
            )));
        }
    }
    if op.maybe("mask").is_some() {
        return Err(unsupported("its input mask is not supported"));
    }
    let names = ["x", "h", "c", "w", "b"];
    let [x, h, c, w, b] = names.map(|name| op.input(name));
    let (x, h, c, w, b) = (x?, h?, c?, w?, b?);
    let (of_x, of_h) = (cx.dims(x)?, cx.dims(h)?);
    let (&[batch, input], &[_, hidden]) = (&of_x[..], &of_h[..]) else {
        return Err(invalid(format!(
            "its inputs x and h have the shapes {of_x:?} and {of_h:?}; 2 dimensions are required"
        )));
    };
    expect(cx, h, "h", &[batch, hidden])?;
    expect(cx, c, "c", &[batch, hidden])?;
    expect(cx, w, "w", &[input + hidden, 4 * hidden])?;
    expect(cx, b, "b", &[4 * hidden])?;
    let bias = f64::from(op.float("forget_bias")?);
    let (of_state, of_output) = (cx.ty(c).dtype, cx.ty(h).dtype);
    let f = Formula::new(cx);
    let [x, h, c, w, b] = [x, h, c, w, b].map(|value| f.cast(value, DataType::Float32));
    let both = f.joined(&[x?, h?], 1)?;
    let sums = f.add(f.node("MatMulV2", &[both, w?], Attrs::new())?, b?)?;
    let part = |which: i64| gate(&f, sums, which, hidden);
    let i = f.of("Sigmoid", part(0)?)?;
    let j = f.of("Tanh", part(1)?)?;
    let forget = f.of("Sigmoid", f.plus(part(2)?, bias)?)?;
    let o = f.of("Sigmoid", part(3)?)?;
    let new = f.add(f.mul(c?, forget)?, f.mul(i, j)?)?;
    let squashed = f.of("Tanh", new)?;
    let output = f.mul(squashed, o)?;
    let types = [of_state, of_output];
    [
        (new, 0),
        (output, 1),
        (i, 0),
        (j, 0),
        (forget, 0),
        (o, 0),
        (squashed, 0),
    ]
    .into_iter()
    .map(|(value, which)| f.cast(value, types[which]))
    .collect()
}

/// Returns h, h_t and c_t.
fn layer(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    let (x, cont, bias) = (op.input("x")?, op.input("cont")?, op.input("bias")?);
    let (w_x, w_h) = (op.input("w_x")?, op.input("w_h")?);
    let (of_x, of_state) = (cx.dims(x)?, cx.dims(w_h)?);
    let (&[times, batch, input], &[_, hidden]) = (&of_x[..], &of_state[..]) else {
        return Err(invalid(format!(
            "its inputs x and w_h have the shapes {of_x:?} and {of_state:?}; 3 and 2 dimensions are required"
        )));
    };
    expect(cx, cont, "cont", &[times, batch])?;
    expect(cx, w_x, "w_x", &[4 * hidden, input])?;
    expect(cx, w_h, "w_h", &[4 * hidden, hidden])?;
    expect(cx, bias, "bias", &[4 * hidden])?;
    let count = op.int("num_output")?;
    if times == 0 || (count != 0 && count != hidden) {
        return Err(invalid(format!(
            "it has {times} times, its attribute num_output is {count}, and w_h has {hidden} columns; 1 time at least is required, and num_output must be 0 or {hidden}"
        )));
    }
    let dtype = cx.ty(bias).dtype;
    if !dtype.is_float() {
        return Err(unsupported(format!(
            "its input bias is {dtype}; only float16 and float32 are supported, because no document says what others stand for"
        )));
    }
    // The states that a sequence begins with are inputs where they are shown, and zeros elsewhere.
    let shown = op.yes("expose_hidden")?;
    for name in ["h_0", "c_0"] {
        match op.maybe(name) {
            Some(state) if shown => expect(cx, state, name, &[1, batch, hidden])?,
            None if shown => {
                return Err(invalid(format!(
                    "its input {name} is missing, which expose_hidden asks for"
                )));
            }
            _ => {}
        }
    }
    let constant = match (op.maybe("x_static"), op.maybe("w_x_static")) {
        (Some(x), Some(w)) => {
            let width = cx.dims(x)?.last().copied().unwrap_or(0);
            expect(cx, x, "x_static", &[batch, width])?;
            expect(cx, w, "w_x_static", &[4 * hidden, width])?;
            Some((x, w))
        }
        (None, None) => None,
        _ => {
            return Err(invalid(
                "only one of its inputs x_static and w_x_static is there; both or none are required",
            ));
        }
    };
    let f = Formula::new(cx);
    let float = |value: ValueId| f.cast(value, DataType::Float32);
    let w_h = float(w_h)?;
    let rows = f.reshape(float(x)?, &[times * batch, input])?;
    let sums = f.add(product(&f, rows, float(w_x)?)?, float(bias)?)?;
    let mut sums = f.reshape(sums, &[times, batch, 4 * hidden])?;
    if let Some((x, w)) = constant {
        sums = f.add(sums, product(&f, float(x)?, float(w)?)?)?;
    }
    let kept = f.reshape(float(cont)?, &[times, batch, 1])?;
    let start = |name: &str| match op.maybe(name) {
        Some(state) if shown => f.reshape(float(state)?, &[batch, hidden]),
        _ => {
            let inputs = [f.ints(&[batch, hidden]), f.number(0.0, kept)?];
            f.node("Fill", &inputs, Attrs::new())
        }
    };
    let (mut h, mut c) = (start("h_0")?, start("c_0")?);
    let mut states = Vec::new();
    for time in 0..times {
        let at = |value: ValueId| {
            let inputs = [
                value,
                super::formula::scalar(&f, time)?,
                super::formula::scalar(&f, 0)?,
            ];
            f.node("GatherV2", &inputs, Attrs::new())
        };
        let own = at(kept)?;
        let all = f.add(at(sums)?, product(&f, f.mul(h, own)?, w_h)?)?;
        let part = |which: i64| gate(&f, all, which, hidden);
        let i = f.of("Sigmoid", part(0)?)?;
        let forget = f.mul(f.of("Sigmoid", part(1)?)?, own)?;
        let o = f.of("Sigmoid", part(2)?)?;
        let j = f.of("Tanh", part(3)?)?;
        c = f.add(f.mul(forget, c)?, f.mul(i, j)?)?;
        h = f.mul(o, f.of("Tanh", c)?)?;
        states.push(f.reshape(h, &[1, batch, hidden])?);
    }
    let last = [
        f.joined(&states, 0)?,
        f.reshape(h, &[1, batch, hidden])?,
        f.reshape(c, &[1, batch, hidden])?,
    ];
    last.into_iter().map(|value| f.cast(value, dtype)).collect()
}
