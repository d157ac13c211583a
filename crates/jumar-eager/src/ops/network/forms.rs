//! Convolutions with the parameters of particular layers: of each channel alone, and over time first.

use jumar_ops::Attrs;

use super::super::reduction::{accumulator, reduce};
use super::convolution::{Window, filter_gradient, input_gradient};
use crate::build::Cx;
use crate::view::View;
use crate::{Refusal, Scalar};

/// Returns two numbers of a parameter, each at least a limit.
fn both(cx: &Cx<'_>, param: &str, least: i64) -> Result<[i64; 2], Refusal> {
    let pair = super::pair(cx, param)?;
    match pair
        .iter()
        .all(|size| (least..=i64::from(i32::MAX)).contains(size))
    {
        true => Ok(pair),
        false => Err(cx.invalid(format_args!(
            "{param} is {pair:?}; both must be between {least} and {}",
            i32::MAX
        ))),
    }
}

/// Every channel has filters of its own.
pub(super) fn depthwise(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, weight, out) = (cx.tensor("self")?, cx.tensor("weight")?, cx.out("out")?);
    let (bias, kernel) = (cx.optional("bias")?, both(cx, "kernelSize", 1)?);
    let ([down, right], [rows, columns]) = (both(cx, "stride", 1)?, both(cx, "padding", 0)?);
    let [high, wide] = both(cx, "dilation", 1)?;
    let (&[_, channels, _, _], &[filters, one, own_rows, own_columns]) = (x.dims(), weight.dims())
    else {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?} and weight {:?}; both must have 4 dimensions",
            x.dims(),
            weight.dims()
        )));
    };
    let fits = one == 1
        && channels > 0
        && filters % channels == 0
        && [own_rows as i64, own_columns as i64] == kernel;
    if !fits {
        return Err(cx.invalid(format_args!(
            "weight has the shape {:?}; a multiple of {channels} filters with 1 channel and the kernelSize {kernel:?} are required",
            weight.dims()
        )));
    }
    let dtype = cx.promote(x.dtype(), weight.dtype())?;
    let (x, weight) = (cx.cast(x, dtype)?, cx.cast(weight, dtype)?);
    let bias = match bias {
        Some(bias) => Some(cx.cast(bias, dtype)?),
        None => None,
    };
    let attrs = Attrs::new()
        .with("strides", vec![1, 1, down, right])
        .with("pads", vec![rows, rows, columns, columns])
        .with("dilations", vec![1, 1, high, wide])
        .with("groups", channels as i64)
        .with("data_format", "NCHW");
    let inputs = [x.into(), weight.into(), bias.into()];
    cx.op("Conv2D", &inputs, &attrs, &[out])
}

/// Sees time, batch and channels as images of one row: batch, channels, 1, time.
fn as_images(view: View) -> View {
    view.permute(&[1, 2, 0]).unsqueeze(2)
}

/// Sees steps, input and output channels as filters of one row.
fn as_filters(view: View) -> View {
    view.permute(&[2, 1, 0]).unsqueeze(2)
}

/// What both directions of a convolution over time read.
struct Temporal {
    x: View,
    filters: View,
    pad: i64,
    /// The shape of the result: time, batch, channels.
    dims: [usize; 3],
}

impl Temporal {
    fn new(cx: &Cx<'_>, input: &str) -> Result<Temporal, Refusal> {
        let (x, weight) = (cx.tensor(input)?, cx.tensor("weight")?);
        let (bias, pad) = (cx.tensor("bias")?, cx.int("pad")?);
        let (&[time, batch, channels], &[steps, own, to]) = (x.dims(), weight.dims()) else {
            return Err(cx.invalid(format_args!(
                "{input} has the shape {:?} and weight {:?}; both must have 3 dimensions",
                x.dims(),
                weight.dims()
            )));
        };
        let padded = usize::try_from(pad)
            .ok()
            .filter(|&pad| pad <= i32::MAX as usize)
            .map(|pad| time + 2 * pad);
        let Some(padded) = padded.filter(|&padded| own == channels && steps > 0 && padded >= steps)
        else {
            return Err(cx.invalid(format_args!(
                "{input} has the shape {:?}, weight {:?}, and pad is {pad}; the channels must be equal, and the padded time at least as long as the filter",
                x.dims(),
                weight.dims()
            )));
        };
        cx.check_dims(&bias, &[to])?;
        Ok(Temporal {
            x,
            filters: as_filters(weight),
            pad,
            dims: [padded - steps + 1, batch, to],
        })
    }

    fn pads(&self) -> Vec<i64> {
        vec![0, 0, self.pad, self.pad]
    }
}

pub(super) fn temporal(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let parts = Temporal::new(cx, "self")?;
    let (bias, out) = (cx.tensor("bias")?, cx.out("output")?);
    cx.check_dims(&out, &parts.dims)?;
    let dtype = cx.promote(parts.x.dtype(), parts.filters.dtype())?;
    let x = cx.cast(as_images(parts.x), dtype)?;
    let (filters, bias) = (cx.cast(parts.filters, dtype)?, cx.cast(bias, dtype)?);
    let attrs = Attrs::new()
        .with("strides", vec![1, 1, 1, 1])
        .with("pads", parts.pads())
        .with("dilations", vec![1, 1, 1, 1])
        .with("groups", 1)
        .with("data_format", "NCHW");
    let inputs = [x.into(), filters.into(), bias.into()];
    cx.op("Conv2D", &inputs, &attrs, &[as_images(out)])
}

pub(super) fn temporal_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let parts = Temporal::new(cx, "input")?;
    let gradient = cx.tensor("self")?;
    cx.check_dims(&gradient, &parts.dims)?;
    let (to_x, to_weight) = (cx.out("gradInput")?, cx.out("gradWeight")?);
    let to_bias = cx.out("gradBias")?;
    cx.check_dims(&to_x, parts.x.dims())?;
    cx.check_dims(&to_weight, cx.tensor("weight")?.dims())?;
    cx.check_dims(&to_bias, &parts.dims[2..])?;
    let compute = accumulator(parts.x.dtype());
    let gradient = cx.cast(gradient, compute)?;
    if gradient.is_empty() {
        for out in [to_x, to_weight, to_bias] {
            cx.fill(Scalar::of_i64(0), out)?;
        }
        return Ok(());
    }
    reduce(cx, "ReduceSum", gradient, &[0, 1], false, to_bias)?;
    let (x, filters) = (cx.cast(parts.x, compute)?, cx.cast(parts.filters, compute)?);
    let (x, gradient) = (as_images(x), as_images(gradient));
    let window = Window {
        strides: [1, 1],
        pads: [0, 0, parts.pad, parts.pad],
        dilations: [1, 1],
        groups: 1,
    };
    input_gradient(cx, filters, gradient, &window, as_images(to_x))?;
    filter_gradient(cx, x, gradient, &window, as_filters(to_weight))
}
