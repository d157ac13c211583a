//! Grey-scale dilation.

use jumar_ops::{Attrs, OpError};

use super::filter::{backward, channels_last, forward, spatial};
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Dilation2D", |cx, op| {
        dilation(cx, op, "jumar.Dilation2D", &["x", "filter"], true)
    }),
    ("Dilation2DBackpropFilter", |cx, op| {
        let inputs = ["x", "filter", "out_backprop"];
        dilation(cx, op, "jumar.Dilation2DFilterGrad", &inputs, false)
    }),
    ("Dilation2DBackpropInput", |cx, op| {
        let inputs = ["x", "filter", "out_backprop"];
        dilation(cx, op, "jumar.Dilation2DInputGrad", &inputs, true)
    }),
];

/// Lowers to a node for images with channels last. `is_image` states that its result is one.
fn dilation(
    cx: &mut Cx,
    op: &Op<'_>,
    name: &'static str,
    inputs: &[&str],
    is_image: bool,
) -> Result<Vec<ValueId>, OpError> {
    let last = channels_last(op.image_format(2)?, 2)?;
    let mut given = Vec::with_capacity(inputs.len());
    for &name in inputs {
        let value = op.input(name)?;
        given.push(match (name, last) {
            ("filter", false) => cx.transpose(value, &[1, 2, 0])?,
            _ => backward(cx, value, !last, 2)?,
        });
    }
    let strides = spatial(op.ints("strides")?, 2, last, "strides")?;
    let rates = spatial(op.ints("rates")?, 2, last, "rates")?;
    if strides.iter().chain(&rates).any(|&step| step < 1) {
        return Err(invalid(format!(
            "its attributes strides and rates are {strides:?} and {rates:?}; they must be positive"
        )));
    }
    let (image, filter) = (cx.dims(given[0])?, cx.dims(given[1])?);
    let (&[_, height, width, _], &[rows, columns, _]) = (&image[..], &filter[..]) else {
        return Err(invalid(format!(
            "its inputs x and filter have the shapes {image:?} and {filter:?}; 4 and 3 dimensions are required"
        )));
    };
    let around = op.ints("pads")?;
    let mut pads = Vec::with_capacity(4);
    for (axis, (len, window)) in [(height, rows), (width, columns)].into_iter().enumerate() {
        let (span, step) = ((window - 1) * rates[axis] + 1, strides[axis]);
        match (op.text("padding_mode")?, around) {
            ("SAME", _) => {
                let total = ((len - 1) / step * step + span - len).max(0);
                pads.extend([total / 2, total - total / 2]);
            }
            ("VALID", _) => pads.extend([0, 0]),
            ("CALCULATED", &[top, bottom, left, right]) => {
                let (before, mut behind) = [(top, bottom), (left, right)][axis];
                let rest = len + before + behind - span;
                // The last window may reach over the border.
                if op.yes("ceil_mode")? && rest > 0 && rest % step != 0 {
                    behind += step - rest % step;
                }
                pads.extend([before, behind]);
            }
            (mode, _) => {
                return Err(invalid(format!(
                    "its attributes padding_mode and pads are {mode} and {around:?}; SAME, VALID, or CALCULATED with 4 numbers are required"
                )));
            }
        }
    }
    let attrs = Attrs::new()
        .with("strides", strides)
        .with("rates", rates)
        .with("pads", pads);
    let y = cx.one(name, &given, attrs)?;
    Ok(vec![match (is_image, last) {
        (true, _) => forward(cx, y, !last, 2)?,
        (false, true) => y,
        (false, false) => cx.transpose(y, &[2, 0, 1])?,
    }])
}
