//! Pooling.

use jumar_ops::{Attrs, OpError};

use super::filter::{backward, channels_last, forward, pads, spatial};
use super::op::{Op, same};
use super::{Cx, Lowering, invalid, unsupported};
use crate::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AvgPool", |cx, op| padded(cx, op, "AvgPoolV2")),
    ("AvgPool3D", average),
    ("AvgPoolV2", same),
    ("GlobalAveragePool", same),
    ("GlobalLpPool", |cx, op| {
        let x = op.input("x")?;
        Ok(vec![cx.one(
            "GlobalLpPool",
            &[x],
            Attrs::new().with("p", op.float("p")?),
        )?])
    }),
    ("MaxPool", |cx, op| padded(cx, op, "MaxPoolV3")),
    ("MaxPool3D", maximum),
    ("MaxPoolV3", same),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// A pooling whose padding is a word.
fn padded(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    let x = op.input("x")?;
    let attrs = Attrs::new()
        .with("ksize", op.ints("ksize")?.to_vec())
        .with("strides", op.ints("strides")?.to_vec())
        .with("padding_mode", op.text("padding")?)
        .with("data_format", op.text("data_format")?);
    Ok(vec![cx.one(name, &[x], attrs)?])
}

/// Reads a list with one, three or five entries.
fn three(list: &[i64], last: bool, name: &str) -> Result<Vec<i64>, OpError> {
    match list {
        [one] => Ok(vec![*one; 3]),
        _ => spatial(list, 3, last, name),
    }
}

fn maximum(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let last = channels_last(op.text("data_format")?, 3)?;
    let mut attrs = Attrs::new()
        .with("kernel_shape", three(op.ints("ksize")?, last, "ksize")?)
        .with("strides", three(op.ints("strides")?, last, "strides")?)
        .with("dilations", three(op.ints("dilation")?, last, "dilation")?)
        .with("ceil_mode", op.int("ceil_mode")? != 0);
    match op.text("padding")? {
        "SAME" => attrs.set("auto_pad", "SAME_UPPER"),
        "VALID" => attrs.set("auto_pad", "VALID"),
        "CALCULATED" => attrs.set("pads", pads(op.ints("pads")?, 3)?),
        other => {
            return Err(invalid(format!(
                "its attribute padding is {other}; SAME, VALID and CALCULATED are known"
            )));
        }
    }
    let x = forward(cx, op.input("x")?, last, 3)?;
    let y = cx.one("jumar.MaxPool", &[x], attrs)?;
    Ok(vec![backward(cx, y, last, 3)?])
}

fn average(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let last = channels_last(op.text("data_format")?, 3)?;
    if op.int("divisor_override")? != 0 {
        return Err(unsupported(
            "divisor_override other than 0 is not supported",
        ));
    }
    let attrs = Attrs::new()
        .with("kernel_shape", three(op.ints("ksize")?, last, "ksize")?)
        .with("strides", three(op.ints("strides")?, last, "strides")?)
        .with("pads", pads(op.ints("pads")?, 3)?)
        .with("ceil_mode", op.yes("ceil_mode")?)
        .with("count_include_pad", op.yes("count_include_pad")?);
    let x = forward(cx, op.input("x")?, last, 3)?;
    let y = cx.one("jumar.AveragePool", &[x], attrs)?;
    Ok(vec![backward(cx, y, last, 3)?])
}
