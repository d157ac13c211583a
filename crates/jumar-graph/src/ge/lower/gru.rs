//! The GRU layer over sequences, as it is trained: the states, and the gates that the gradient reads.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use crate::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[("DynamicGRUV2", gru)];

type Answer<T> = Result<T, OpError>;

/// Refuses what no document describes.
fn check(op: &Op<'_>) -> Answer<()> {
    let keep = op.float("keep_prob")?;
    let checks = [
        (
            "direction",
            op.text("direction")? == "UNIDIRECTIONAL",
            "UNIDIRECTIONAL",
        ),
        ("cell_depth", op.int("cell_depth")? == 1, "1"),
        ("keep_prob", keep >= 1.0 || keep <= 0.0, "1"),
        ("cell_clip", op.float("cell_clip")? <= 0.0, "0 or less"),
        ("num_proj", op.int("num_proj")? == 0, "0"),
        ("time_major", op.yes("time_major")?, "true"),
        ("activation", op.text("activation")? == "tanh", "tanh"),
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
    check(op)?;
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
