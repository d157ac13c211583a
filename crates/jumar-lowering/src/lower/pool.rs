//! Pooling.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::super::FORMAT_NCHW;
use super::filter::{backward, channels_last, forward, pads, spatial};
use super::formula::Formula;
use super::op::{Op, same};
use super::slice::numbers;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AvgPool", |cx, op| {
        padded(cx, op, "AvgPoolV2", op.ints("ksize")?, op.ints("strides")?)
    }),
    ("AvgPool1D", |cx, op| {
        let x = op.input("x")?;
        let rank = cx.rank(x)?;
        let (kernel, stride, around) = (op.int("ksize")?, op.int("strides")?, op.ints("pads")?);
        let &[before, after] = around else {
            return Err(invalid(format!(
                "its attribute pads is {around:?}; 2 numbers are required"
            )));
        };
        if rank < 3 {
            return Err(invalid(format!(
                "its input has {rank} dimensions; 3 at least are required, and the last one is pooled"
            )));
        }
        // The axes between the channels and the last one are not pooled.
        let other = rank - 3;
        let list = |first: i64, last: i64| [vec![first; other], vec![last]].concat();
        let attrs = Attrs::new()
            .with("kernel_shape", list(1, kernel))
            .with("strides", list(1, stride))
            .with("pads", [list(0, before), list(0, after)].concat())
            .with("ceil_mode", op.yes("ceil_mode")?)
            .with("count_include_pad", op.yes("count_include_pad")?);
        Ok(vec![cx.one("jumar.AveragePool", &[x], attrs)?])
    }),
    ("AvgPool3D", average),
    ("AvgPoolV2", |cx, op| windows(cx, op, "AvgPoolV2")),
    ("GlobalAveragePool", same),
    ("GlobalLpPool", |cx, op| {
        let x = op.input("x")?;
        Ok(vec![cx.one(
            "GlobalLpPool",
            &[x],
            Attrs::new().with("p", op.float("p")?),
        )?])
    }),
    ("MaxPool", |cx, op| {
        padded(cx, op, "MaxPoolV3", op.ints("ksize")?, op.ints("strides")?)
    }),
    ("MaxPool3D", maximum),
    ("MaxPoolV2", |cx, op| {
        let ksize = numbers(cx, op.input("ksize")?, "ksize")?;
        let strides = numbers(cx, op.input("strides")?, "strides")?;
        padded(cx, op, "MaxPoolV3", &ksize, &strides)
    }),
    ("MaxPoolV3", |cx, op| windows(cx, op, "MaxPoolV3")),
    ("MaxPoolWithArgmax", with_positions),
    ("MaxPoolWithArgmaxV1", |cx, op| with_argmax(cx, op)),
    ("Pooling", like_caffe),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// A pooling whose padding is a word.
fn padded(cx: &mut Cx, op: &Op<'_>, name: &'static str, ksize: &[i64], strides: &[i64]) -> Answer {
    let last = channels_last(op.image_format(2)?, 2)?;
    let attrs = Attrs::new()
        .with("ksize", four(ksize, last, "ksize")?)
        .with("strides", four(strides, last, "strides")?)
        .with("padding_mode", op.text("padding")?)
        .with("data_format", "NCHW");
    let x = forward(cx, op.input("x")?, last, 2)?;
    let y = cx.one(name, &[x], attrs)?;
    Ok(vec![backward(cx, y, last, 2)?])
}

/// A list with an entry for each axis, as it is where channels come first.
fn four(list: &[i64], last: bool, name: &str) -> Result<Vec<i64>, OpError> {
    Ok([vec![1, 1], spatial(list, 2, last, name)?].concat())
}

/// A pooling whose attributes are ours, but for channels that come last.
fn windows(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    if !channels_last(op.image_format(2)?, 2)? {
        let attrs = op.attrs_for(name)?.with("data_format", "NCHW");
        return cx.add_node(name, &op.in_order()?, attrs, op.outputs());
    }
    let attrs = op
        .attrs_for(name)?
        .with("ksize", four(op.ints("ksize")?, true, "ksize")?)
        .with("strides", four(op.ints("strides")?, true, "strides")?)
        .with("data_format", "NCHW");
    let x = forward(cx, op.input("x")?, true, 2)?;
    let y = cx.one(name, &[x], attrs)?;
    Ok(vec![backward(cx, y, true, 2)?])
}

/// Max pooling of images with channels first, whatever the order of its attributes suggests: they are `[1, height, width, 1]`.
fn with_argmax(cx: &mut Cx, op: &Op<'_>) -> Answer {
    if op.uses(1) {
        return Err(unsupported(
            "its output argmax is a mask in the order of the accelerator's memory, which is not supported; read only y",
        ));
    }
    let pads = spatial(op.ints("pads")?, 2, true, "pads")?;
    let attrs = Attrs::new()
        .with("ksize", four(op.ints("ksize")?, true, "ksize")?)
        .with("strides", four(op.ints("strides")?, true, "strides")?)
        .with("pads", vec![pads[0], pads[0], pads[1], pads[1]])
        .with("dilations", four(op.ints("dilation")?, true, "dilation")?)
        .with("ceil_mode", op.yes("ceil_mode")?);
    let y = cx.one("MaxPoolV3", &[op.input("x")?], attrs)?;
    // Nothing reads the second output.
    Ok(vec![y, y])
}

/// Max pooling with the positions of the maxima: among the elements of an image, or of a channel where channels come first.
fn with_positions(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let last = op.desc("x").is_none_or(|desc| desc.format != FORMAT_NCHW);
    let attrs = Attrs::new()
        .with(
            "kernel_shape",
            spatial(op.ints("ksize")?, 2, last, "ksize")?,
        )
        .with("strides", spatial(op.ints("strides")?, 2, last, "strides")?)
        .with(
            "auto_pad",
            match op.text("padding")? {
                "SAME" => "SAME_UPPER",
                "VALID" => "VALID",
                other => {
                    return Err(invalid(format!(
                        "its attribute padding is {other}; it must be SAME or VALID"
                    )));
                }
            },
        );
    let dtype = match op.int("Targmax")? {
        3 => DataType::Int32,
        7 | 9 => DataType::Int64,
        other => {
            return Err(invalid(format!(
                "its attribute Targmax is {other}; it must be 3 (int32) or 9 (int64)"
            )));
        }
    };
    let x = forward(cx, op.input("x")?, last, 2)?;
    let dims = cx.dims(x)?;
    let &[_, channels, height, width] = &dims[..] else {
        return Err(invalid(format!(
            "its input x has the shape {dims:?}; 4 dimensions are required"
        )));
    };
    let all = cx.add_node("jumar.MaxPool", &[Some(x)], attrs, 2)?;
    // The positions found count the elements of all images, channel after channel.
    let f = Formula::new(cx);
    let plane = f.number((height * width) as f64, all[1])?;
    let mut position = f.node("Mod", &[all[1], plane], Attrs::new())?;
    if last {
        let channel = f.node("Div", &[all[1], plane], Attrs::new())?;
        let channel = f.node(
            "Mod",
            &[channel, f.number(channels as f64, channel)?],
            Attrs::new(),
        )?;
        position = f.add(f.times(position, channels as f64)?, channel)?;
    }
    let position = f.cast(position, dtype)?;
    Ok(vec![
        backward(cx, all[0], last, 2)?,
        backward(cx, position, last, 2)?,
    ])
}

/// Reads a list with one, three or five entries.
fn three(list: &[i64], last: bool, name: &str) -> Result<Vec<i64>, OpError> {
    match list {
        [one] => Ok(vec![*one; 3]),
        _ => spatial(list, 3, last, name),
    }
}

fn maximum(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let last = channels_last(op.image_format(3)?, 3)?;
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
                "its attribute padding is {other}; it must be SAME, VALID or CALCULATED"
            )));
        }
    }
    let x = forward(cx, op.input("x")?, last, 3)?;
    let y = cx.one("jumar.MaxPool", &[x], attrs)?;
    Ok(vec![backward(cx, y, last, 3)?])
}

fn average(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let last = channels_last(op.image_format(3)?, 3)?;
    let divisor = op.int("divisor_override")?;
    if divisor != 0 && op.yes("ceil_mode")? {
        return Err(unsupported(
            "divisor_override together with ceil_mode is not supported",
        ));
    }
    let kernel = three(op.ints("ksize")?, last, "ksize")?;
    let taps: i64 = kernel.iter().product();
    let attrs = Attrs::new()
        .with("kernel_shape", kernel)
        .with("strides", three(op.ints("strides")?, last, "strides")?)
        .with("pads", pads(op.ints("pads")?, 3)?)
        .with("ceil_mode", op.yes("ceil_mode")?)
        .with(
            "count_include_pad",
            divisor != 0 || op.yes("count_include_pad")?,
        );
    let x = forward(cx, op.input("x")?, last, 3)?;
    let mut y = cx.one("jumar.AveragePool", &[x], attrs)?;
    if divisor != 0 {
        // The mean over the whole window becomes a sum again.
        let factor = taps as f32 / divisor as f32;
        y = cx.one("Muls", &[y], Attrs::new().with("value", factor))?;
    }
    Ok(vec![backward(cx, y, last, 3)?])
}

/// Pooling of Caffe: the maximum or the mean of windows, where padding counts as zeros of the mean.
fn like_caffe(cx: &mut Cx, op: &Op<'_>) -> Answer {
    op.only_default("dilation")?;
    let last = channels_last(op.image_format(2)?, 2)?;
    let own = cx.ty(op.input("x")?).dtype;
    let mode = op.int("mode")?;
    let name = match (mode, own) {
        (0, _) => "jumar.MaxPool",
        (1, DataType::Int8) => {
            return Err(unsupported(
                "the mean (mode 1) of int8 is not supported, because no document says how it is rounded",
            ));
        }
        (1, _) => "jumar.AveragePool",
        _ => {
            return Err(invalid(format!(
                "its attribute mode is {mode}; it must be 0 (maximum) or 1 (mean)"
            )));
        }
    };
    let ceil = op.int("ceil_mode")?;
    if !(0..=1).contains(&ceil) {
        return Err(invalid(format!(
            "its attribute ceil_mode is {ceil}; it must be 0 (upwards) or 1 (downwards)"
        )));
    }
    let x = forward(cx, op.input("x")?, last, 2)?;
    let mut attrs = Attrs::new();
    if op.yes("global_pooling")? {
        let dims = cx.dims(x)?;
        let window = dims.get(2..).unwrap_or(&[]).to_vec();
        attrs.set("kernel_shape", window);
    } else {
        let list = |name| spatial(op.ints(name)?, 2, last, name);
        attrs.set("kernel_shape", list("window")?);
        attrs.set("strides", list("stride")?);
        attrs.set("pads", pads(op.ints("pad")?, 2)?);
        attrs.set("ceil_mode", ceil == 0);
    }
    if mode == 1 {
        attrs.set("count_include_pad", true);
    }
    let y = cx.one(name, &[x], attrs)?;
    let y = match own {
        DataType::Int8 => cx.cast(y, DataType::Int32)?,
        _ => y,
    };
    Ok(vec![backward(cx, y, last, 2)?])
}
