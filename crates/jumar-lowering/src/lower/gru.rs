//! The GRU layer over sequences, as it is trained: the states, and the gates that the gradient reads; and the gradient.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] =
    &[("DynamicGRUV2", gru), ("DynamicGRUV2Grad", gradient)];

type Answer<T> = Result<T, OpError>;

/// Refuses what no document describes. `depth` is what the attribute for the depth of cells has to be.
fn check(op: &Op<'_>, depth: &[i64], activation: &str) -> Answer<()> {
    let keep = op.float("keep_prob")?;
    let checks = [
        (
            "direction",
            op.text("direction")? == "UNIDIRECTIONAL",
            "UNIDIRECTIONAL",
        ),
        ("cell_depth", depth.contains(&op.int("cell_depth")?), "1"),
        ("keep_prob", keep >= 1.0 || keep <= 0.0, "1"),
        ("cell_clip", op.float("cell_clip")? <= 0.0, "0 or less"),
        ("num_proj", op.int("num_proj")? == 0, "0"),
        ("time_major", op.yes("time_major")?, "true"),
        ("activation", activation == "tanh", "tanh"),
        ("reset_after", op.yes("reset_after")?, "true"),
    ];
    for (name, holds, wanted) in checks {
        if !holds {
            return Err(unsupported(format!(
                "its attribute {name} must be {wanted}; other values are not supported"
            )));
        }
    }
    match op.maybe("seq_length") {
        Some(_) => Err(unsupported(
            "its input seq_length is not supported: all sequences are as long as x",
        )),
        None => Ok(()),
    }
}

/// Returns the positions of the gates for update, reset and the new state.
fn gates(op: &Op<'_>) -> Answer<[i64; 3]> {
    match op.text("gate_order")? {
        "zrh" => Ok([0, 1, 2]),
        "rzh" => Ok([1, 0, 2]),
        other => Err(invalid(format!(
            "its attribute gate_order is {other}; it must be zrh or rzh"
        ))),
    }
}

/// Returns y, output_h, update, reset, new and hidden_new. The states are computed step by step; the gates of all steps at once, from
/// the states before them.
fn gru(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    check(op, &[1], op.text("activation")?)?;
    let order = gates(op)?;
    let x = op.input("x")?;
    let &[times, batch, input] = &cx.dims(x)?[..] else {
        return Err(invalid(format!(
            "its input x is {}; 3 dimensions are required",
            cx.ty(x)
        )));
    };
    let (w, r) = (op.input("weight_input")?, op.input("weight_hidden")?);
    let hidden = match cx.dims(r)?[..] {
        [hidden, all] if all == 3 * hidden => hidden,
        _ => {
            return Err(invalid(format!(
                "its input weight_hidden is {}; the second dimension must be 3 times the first",
                cx.ty(r)
            )));
        }
    };
    if cx.dims(w)? != [input, 3 * hidden] {
        return Err(invalid(format!(
            "its input weight_input is {}; {input} rows of {} are required",
            cx.ty(w),
            3 * hidden
        )));
    }
    let typed = ["bias_input", "bias_hidden", "init_h", "x"];
    let typed = typed.iter().find_map(|name| op.maybe(name)).unwrap_or(x);
    let dtype = cx.ty(typed).dtype;
    let f = Formula::new(cx);
    let float = |value: ValueId| f.cast(value, DataType::Float32);
    let (x, w, r) = (float(x)?, float(w)?, float(r)?);
    // An input that may be left out is 0 then.
    let given = |name: &str, dims: &[i64]| match op.maybe(name) {
        Some(value) => f.reshape(float(value)?, dims),
        None => f.node("Fill", &[f.ints(dims), f.number(0.0, x)?], Attrs::new()),
    };
    let of_input = given("bias_input", &[3 * hidden])?;
    let of_hidden = given("bias_hidden", &[3 * hidden])?;
    let start = given("init_h", &[1, batch, hidden])?;
    // The columns of a gate.
    let gate = |value: ValueId, which: usize, axis: i64| {
        let from = order[which] * hidden;
        f.part(value, axis, from, from + hidden)
    };
    let sorted = |value: ValueId, axis: i64| {
        let parts = [
            gate(value, 0, axis)?,
            gate(value, 1, axis)?,
            gate(value, 2, axis)?,
        ];
        f.joined(&parts, axis)
    };
    let rows_of = |weights: ValueId, columns: i64| {
        let turned = f.transpose(sorted(weights, 1)?, &[1, 0])?;
        f.reshape(turned, &[1, 3 * hidden, columns])
    };
    let biases = f.joined(&[sorted(of_input, 0)?, sorted(of_hidden, 0)?], 0)?;
    let inputs = [
        Some(x),
        Some(rows_of(w, input)?),
        Some(rows_of(r, hidden)?),
        Some(f.reshape(biases, &[1, 6 * hidden])?),
        None,
        Some(start),
    ];
    let attrs = Attrs::new()
        .with("hidden_size", hidden)
        .with("linear_before_reset", 1i64);
    let states = f.nodes("CommonGRU", &inputs, attrs, 2)?[0];
    let states = f.reshape(states, &[times, batch, hidden])?;
    let before = f.joined(&[start, f.part(states, 0, 0, times - 1)?], 0)?;
    let from_input = f.add(f.node("BatchMatMulV2", &[x, w], Attrs::new())?, of_input)?;
    let from_state = f.add(
        f.node("BatchMatMulV2", &[before, r], Attrs::new())?,
        of_hidden,
    )?;
    let sum = |which: usize| f.add(gate(from_input, which, 2)?, gate(from_state, which, 2)?);
    let update = f.of("Sigmoid", sum(0)?)?;
    let reset = f.of("Sigmoid", sum(1)?)?;
    let hidden_new = gate(from_state, 2, 2)?;
    let new = f.add(gate(from_input, 2, 2)?, f.mul(reset, hidden_new)?)?;
    let new = f.of("Tanh", new)?;
    let outputs = [states, states, update, reset, new, hidden_new];
    outputs
        .into_iter()
        .map(|value| f.cast(value, dtype))
        .collect()
}

/// Returns dw_input, dw_hidden, db_input, db_hidden, dx and dh_prev. The gradient goes from the last step to the first; the weights get
/// their share of all steps at once.
fn gradient(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    check(op, &[0, 1], "tanh")?;
    if op.maybe("mask").is_some() {
        return Err(unsupported(
            "its input mask is not supported: all sequences are as long as x",
        ));
    }
    let order = gates(op)?;
    let (x, w, r) = (
        op.input("x")?,
        op.input("weight_input")?,
        op.input("weight_hidden")?,
    );
    let h = op.input("h")?;
    let (&[times, batch, input], &[_, _, hidden]) = (&cx.dims(x)?[..], &cx.dims(h)?[..]) else {
        return Err(invalid(format!(
            "its inputs x and h are {} and {}; 3 dimensions are required",
            cx.ty(x),
            cx.ty(h)
        )));
    };
    let states = vec![times, batch, hidden];
    let mut wanted = vec![
        ("weight_input", vec![input, 3 * hidden]),
        ("weight_hidden", vec![hidden, 3 * hidden]),
    ];
    for name in ["y", "h", "dy", "update", "reset", "new", "hidden_new"] {
        wanted.push((name, states.clone()));
    }
    for (name, dims) in wanted {
        let own = cx.dims(op.input(name)?)?;
        if own != dims {
            return Err(invalid(format!(
                "its input {name} has the shape {own:?}; {dims:?} is required"
            )));
        }
    }
    let start = op.input("init_h")?;
    let start_dims = cx.dims(start)?;
    for name in ["init_h", "dh"] {
        let own = cx.dims(op.input(name)?)?;
        if own != [batch, hidden] && own != [1, batch, hidden] {
            return Err(invalid(format!(
                "its input {name} has the shape {own:?}; [{batch}, {hidden}] is required"
            )));
        }
    }
    let types = [w, r, w, r, x, start].map(|value| cx.ty(value).dtype);
    let f = Formula::new(cx);
    let float = |value: ValueId| f.cast(value, DataType::Float32);
    let of = |name: &str| float(op.input(name)?);
    let product = |a: ValueId, b: ValueId| f.node("BatchMatMulV2", &[a, b], Attrs::new());
    let (x, start) = (float(x)?, f.reshape(float(start)?, &[1, batch, hidden])?);
    let before = match times {
        1 => start,
        _ => f.joined(&[start, f.part(of("h")?, 0, 0, times - 1)?], 0)?,
    };
    let (update, reset, new) = (of("update")?, of("reset")?, of("new")?);
    let (of_state, by_y) = (of("hidden_new")?, of("dy")?);
    let turned = |weights: ValueId| f.transpose(float(weights)?, &[1, 0]);
    let (w, r) = (turned(w)?, turned(r)?);
    let step = |value: ValueId, at: i64| {
        let one = f.part(value, 0, at, at + 1)?;
        f.reshape(one, &[batch, hidden])
    };
    // The gradients of the three gates in the order of the weights' columns.
    let gates = |parts: [ValueId; 3]| {
        let mut sorted = parts;
        for (part, &at) in parts.iter().zip(&order) {
            sorted[at as usize] = *part;
        }
        f.joined(&sorted, 1)
    };
    let mut carried = f.reshape(of("dh")?, &[batch, hidden])?;
    let (mut by_input, mut by_state) = (Vec::new(), Vec::new());
    for at in (0..times).rev() {
        let [z, reset, new, own] = [update, reset, new, of_state].map(|value| step(value, at));
        let (z, reset, new, own) = (z?, reset?, new?, own?);
        let by_h = f.add(step(by_y, at)?, carried)?;
        let by_new = f.mul(f.mul(by_h, f.from(1.0, z)?)?, f.from(1.0, f.square(new)?)?)?;
        let slope = |gate: ValueId| f.mul(gate, f.from(1.0, gate)?);
        let by_z = f.mul(f.mul(by_h, f.sub(step(before, at)?, new)?)?, slope(z)?)?;
        let by_reset = f.mul(f.mul(by_new, own)?, slope(reset)?)?;
        by_input.push(gates([by_z, by_reset, by_new])?);
        let back = gates([by_z, by_reset, f.mul(by_new, reset)?])?;
        by_state.push(back);
        carried = f.add(f.mul(by_h, z)?, product(back, r)?)?;
    }
    let all = |mut steps: Vec<ValueId>| {
        steps.reverse();
        match steps[..] {
            [one] => Ok(one),
            _ => f.joined(&steps, 0),
        }
    };
    let (by_input, by_state) = (all(by_input)?, all(by_state)?);
    let flat = |value: ValueId, columns: i64| {
        let rows = f.reshape(value, &[times * batch, columns])?;
        f.transpose(rows, &[1, 0])
    };
    let results = [
        product(flat(x, input)?, by_input)?,
        product(flat(before, hidden)?, by_state)?,
        f.sum(by_input, &[0], false)?,
        f.sum(by_state, &[0], false)?,
        f.reshape(product(by_input, w)?, &[times, batch, input])?,
        f.reshape(carried, &start_dims)?,
    ];
    let results = results.into_iter().zip(types);
    results.map(|(value, dtype)| f.cast(value, dtype)).collect()
}
