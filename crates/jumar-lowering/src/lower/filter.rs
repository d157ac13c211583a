//! Convolutions, forwards and backwards.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::super::{FORMAT_HWCN, FORMAT_ND, FORMAT_NHWC};
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Conv2D", |cx, op| convolution(cx, op, 2, Groups::Attribute)),
    ("Conv2DBackpropFilter", |cx, op| {
        let size = sizes(cx, op, "filter_size")?;
        backprop_filter(cx, op, &size)
    }),
    ("Conv2DBackpropFilterD", |cx, op| {
        backprop_filter(cx, op, op.ints("filter_size")?)
    }),
    ("Conv2DBackpropInput", |cx, op| {
        let size = sizes(cx, op, "input_size")?;
        transposed(cx, op, 2, "out_backprop", Some(&size))
    }),
    ("Conv2DBackpropInputD", |cx, op| {
        transposed(cx, op, 2, "out_backprop", Some(op.ints("input_size")?))
    }),
    ("Conv2DTranspose", |cx, op| {
        let size = sizes(cx, op, "input_size")?;
        transposed(cx, op, 2, "x", Some(&size))
    }),
    ("Conv2DTransposeD", |cx, op| {
        transposed(cx, op, 2, "x", Some(op.ints("input_size")?))
    }),
    ("Conv3D", |cx, op| convolution(cx, op, 3, Groups::Attribute)),
    ("Conv3DBackpropInput", |cx, op| {
        let size = sizes(cx, op, "input_size")?;
        transposed(cx, op, 3, "out_backprop", Some(&size))
    }),
    ("Conv3DBackpropInputD", |cx, op| {
        transposed(cx, op, 3, "out_backprop", Some(op.ints("input_size")?))
    }),
    ("Conv3DTranspose", |cx, op| {
        let size = sizes(cx, op, "input_size")?;
        transposed(cx, op, 3, "x", Some(&size))
    }),
    ("Conv3DTransposeD", |cx, op| {
        transposed(cx, op, 3, "x", Some(op.ints("input_size")?))
    }),
    ("Deconvolution", |cx, op| transposed(cx, op, 2, "x", None)),
    ("DepthwiseConv2D", |cx, op| {
        convolution(cx, op, 2, Groups::Depthwise)
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

#[derive(Clone, Copy, PartialEq)]
enum Groups {
    Attribute,
    Depthwise,
}

/// Where the axes of images are, and the numbers of a window in the order of the spatial axes.
pub(super) struct Window {
    /// Whether channels come last.
    pub last: bool,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    /// All that is added before, then all that is added behind.
    pub pads: Vec<i64>,
}

/// Returns whether channels come last in a format's name, for images of this many dimensions.
pub(super) fn channels_last(format: &str, spatial: usize) -> Result<bool, OpError> {
    match (format, spatial) {
        ("NCHW", 2) | ("NCDHW", 3) => Ok(false),
        ("NHWC", 2) | ("NDHWC", 3) => Ok(true),
        _ => Err(invalid(format!(
            "its attribute data_format is {format}; {} are known",
            if spatial == 2 {
                "NCHW and NHWC"
            } else {
                "NCDHW and NDHWC"
            }
        ))),
    }
}

/// Takes the spatial entries out of a list with an entry for each axis.
pub(super) fn spatial(
    list: &[i64],
    spatial: usize,
    last: bool,
    name: &str,
) -> Result<Vec<i64>, OpError> {
    if list.len() == spatial {
        return Ok(list.to_vec());
    }
    if list.len() != spatial + 2 {
        return Err(invalid(format!(
            "its attribute {name} is {list:?}; it must have {} entries",
            spatial + 2
        )));
    }
    let from = if last { 1 } else { 2 };
    let others = if last {
        [list[0], list[spatial + 1]]
    } else {
        [list[0], list[1]]
    };
    if others != [1, 1] {
        return Err(unsupported(format!(
            "its attribute {name} is {list:?}; over batch and channels it has to be 1"
        )));
    }
    Ok(list[from..from + spatial].to_vec())
}

/// Turns pads that stand in pairs into ours.
pub(super) fn pads(list: &[i64], dims: usize) -> Result<Vec<i64>, OpError> {
    if list.len() != 2 * dims {
        return Err(invalid(format!(
            "its attribute pads is {list:?}; it must have {} entries",
            2 * dims
        )));
    }
    let before = list.iter().step_by(2);
    let behind = list.iter().skip(1).step_by(2);
    Ok(before.chain(behind).copied().collect())
}

impl Window {
    fn read(op: &Op<'_>, dims: usize) -> Result<Window, OpError> {
        let last = channels_last(op.image_format(dims)?, dims)?;
        Ok(Window {
            last,
            strides: spatial(op.ints("strides")?, dims, last, "strides")?,
            dilations: spatial(op.ints("dilations")?, dims, last, "dilations")?,
            pads: pads(op.ints("pads")?, dims)?,
        })
    }

    fn attrs(&self) -> Attrs {
        Attrs::new()
            .with("strides", self.strides.clone())
            .with("dilations", self.dilations.clone())
            .with("pads", self.pads.clone())
    }
}

/// The order that brings channels to the front.
fn to_front(rank: usize) -> Vec<i64> {
    let rank = rank as i64;
    [0, rank - 1].into_iter().chain(1..rank - 1).collect()
}

/// The order that brings channels to the back.
fn to_back(rank: usize) -> Vec<i64> {
    let rank = rank as i64;
    [0].into_iter().chain(2..rank).chain([1]).collect()
}

/// Brings channels to the front where they come last.
pub(super) fn forward(
    cx: &mut Cx,
    x: ValueId,
    last: bool,
    dims: usize,
) -> Result<ValueId, OpError> {
    if last {
        cx.transpose(x, &to_front(dims + 2))
    } else {
        Ok(x)
    }
}

/// Brings channels to the back again.
pub(super) fn backward(
    cx: &mut Cx,
    y: ValueId,
    last: bool,
    dims: usize,
) -> Result<ValueId, OpError> {
    if last {
        cx.transpose(y, &to_back(dims + 2))
    } else {
        Ok(y)
    }
}

/// How a filter lies: by its description, and where that says nothing, by the format of the images.
fn layout(op: &Op<'_>, name: &str, last: bool) -> i32 {
    match op.desc(name).map(|desc| desc.format) {
        None | Some(FORMAT_ND) => {
            if last {
                FORMAT_HWCN
            } else {
                0
            }
        }
        Some(format) => format,
    }
}

/// The order of axes that makes a filter `[outputs, inputs, space..]`.
fn filter_order(format: i32, dims: usize) -> Result<Option<Vec<i64>>, OpError> {
    let rank = dims as i64 + 2;
    match format {
        // NCHW, NCDHW.
        0 | 30 => Ok(None),
        // NHWC, NDHWC.
        FORMAT_NHWC | 27 => Ok(Some(to_front(dims + 2))),
        // HWCN, DHWCN.
        FORMAT_HWCN | 31 => Ok(Some(
            [rank - 1, rank - 2]
                .into_iter()
                .chain(0..rank - 2)
                .collect(),
        )),
        other => Err(unsupported(format!(
            "filters of format {other} are not supported"
        ))),
    }
}

fn inverse(order: &[i64]) -> Vec<i64> {
    let mut inverse = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        inverse[from as usize] = to as i64;
    }
    inverse
}

pub(super) fn plain_filter(
    cx: &mut Cx,
    op: &Op<'_>,
    name: &str,
    dims: usize,
    last: bool,
) -> Result<ValueId, OpError> {
    let filter = op.input(name)?;
    match filter_order(layout(op, name, last), dims)? {
        Some(order) => cx.transpose(filter, &order),
        None => Ok(filter),
    }
}

fn no_offset(op: &Op<'_>) -> Result<(), OpError> {
    if op.maybe("offset_w").is_some() {
        return Err(unsupported("its input offset_w is not supported"));
    }
    Ok(())
}

/// Brings what is multiplied to one type. Integers go to float64, where sums of products of 8 bits are exact; whether they
/// did is returned, and their sums are int32.
fn factors(cx: &mut Cx, all: &mut [ValueId]) -> Result<bool, OpError> {
    let integer = all.iter().all(|&value| cx.ty(value).dtype.is_integer());
    if integer {
        for value in all.iter_mut() {
            *value = cx.cast(*value, DataType::Float64)?;
        }
    }
    cx.promote(all)?;
    Ok(integer)
}

fn convolution(cx: &mut Cx, op: &Op<'_>, dims: usize, groups: Groups) -> Answer {
    no_offset(op)?;
    let window = Window::read(op, dims)?;
    let x = forward(cx, op.input("x")?, window.last, dims)?;
    let mut filter = plain_filter(cx, op, "filter", dims, window.last)?;
    let mut count = 1;
    if groups == Groups::Depthwise {
        // The filter is [multiplier, channels, ..]: each channel is a group of its own.
        let shape = cx.dims(filter)?;
        filter = cx.transpose(filter, &[1, 0, 2, 3])?;
        count = shape[1];
        filter = cx.reshape(filter, &[shape[0] * shape[1], 1, shape[2], shape[3]])?;
    } else {
        count = count.max(op.int("groups")?);
    }
    let mut all = vec![x, filter];
    all.extend(op.maybe("bias"));
    let integer = factors(cx, &mut all)?;
    let mut y = if dims == 2 {
        let four = |list: &[i64]| [vec![1, 1], list.to_vec()].concat();
        let [top, left, bottom, right] = window.pads[..] else {
            return Err(invalid("its attribute pads has to have 4 entries"));
        };
        let attrs = Attrs::new()
            .with("strides", four(&window.strides))
            .with("dilations", four(&window.dilations))
            .with("pads", vec![top, bottom, left, right])
            .with("groups", count)
            .with("data_format", "NCHW");
        cx.one("Conv2D", &all, attrs)?
    } else {
        cx.one("jumar.Conv", &all, window.attrs().with("group", count))?
    };
    if integer {
        y = cx.cast(y, DataType::Int32)?;
    }
    Ok(vec![backward(cx, y, window.last, dims)?])
}

/// The numbers of an input that says a size.
fn sizes(cx: &Cx, op: &Op<'_>, name: &str) -> Result<Vec<i64>, OpError> {
    let value = op.input(name)?;
    cx.constant(value)
        .and_then(Tensor::ints)
        .ok_or_else(|| cx.wants_constant(name))
}

/// A convolution that spreads each element, which is also the gradient of a convolution with respect to its input.
fn transposed(cx: &mut Cx, op: &Op<'_>, dims: usize, name: &str, size: Option<&[i64]>) -> Answer {
    no_offset(op)?;
    let window = Window::read(op, dims)?;
    let x = forward(cx, op.input(name)?, window.last, dims)?;
    let filter = plain_filter(cx, op, "filter", dims, window.last)?;
    let mut all = vec![x, filter];
    all.extend(op.maybe("bias"));
    let integer = factors(cx, &mut all)?;
    let mut attrs = window.attrs().with("group", op.int("groups")?);
    // A size of zeros says nothing: the attributes decide.
    if let Some(size) = size.filter(|size| size.iter().any(|&dim| dim > 0)) {
        if size.len() != dims + 2 {
            return Err(invalid(format!(
                "input_size is {size:?}; it must have {} entries",
                dims + 2
            )));
        }
        let from = if window.last { 1 } else { 2 };
        let wanted = &size[from..from + dims];
        let (own, kernel) = (cx.dims(all[0])?, cx.dims(all[1])?);
        let mut rest = Vec::with_capacity(dims);
        for at in 0..dims {
            let full =
                (own[at + 2] - 1) * window.strides[at] - window.pads[at] - window.pads[at + dims]
                    + window.dilations[at] * (kernel[at + 2] - 1)
                    + 1;
            let more = wanted[at] - full;
            if more < 0 {
                return Err(invalid(format!(
                    "input_size is {size:?}, and the window produces at least {full} there"
                )));
            }
            rest.push(more);
        }
        attrs.set("output_padding", rest);
    } else if let Some(list) = op.node.attrs.get("output_padding") {
        let super::Value::Ints(list) = list else {
            return Err(invalid(
                "its attribute output_padding has to be a list of integers",
            ));
        };
        let list: Vec<i64> = if list.len() == dims + 2 {
            let from = if window.last { 1 } else { 2 };
            list[from..from + dims].to_vec()
        } else {
            list.clone()
        };
        attrs.set("output_padding", list);
    }
    let mut y = cx.one("jumar.ConvTranspose", &all, attrs)?;
    if integer {
        y = cx.cast(y, DataType::Int32)?;
    }
    Ok(vec![backward(cx, y, window.last, dims)?])
}

/// The gradient of a convolution with respect to its filter.
fn backprop_filter(cx: &mut Cx, op: &Op<'_>, size: &[i64]) -> Answer {
    let window = Window::read(op, 2)?;
    let groups = op.int("groups")?.max(1);
    if size.len() != 4 {
        return Err(invalid(format!(
            "filter_size is {size:?}; it must have 4 entries"
        )));
    }
    let format = match op.node.outputs.first().map(|output| output.desc.format) {
        None | Some(FORMAT_ND) => {
            if window.last {
                FORMAT_HWCN
            } else {
                0
            }
        }
        Some(format) => format,
    };
    let order = filter_order(format, 2)?;
    let plain: Vec<i64> = match &order {
        Some(order) => order.iter().map(|&axis| size[axis as usize]).collect(),
        None => size.to_vec(),
    };
    let x = forward(cx, op.input("x")?, window.last, 2)?;
    let gradient = forward(cx, op.input("out_backprop")?, window.last, 2)?;
    // The gradient of a filter is float32, whatever the images are.
    let x = cx.cast(x, DataType::Float32)?;
    let gradient = cx.cast(gradient, DataType::Float32)?;
    let [top, left, bottom, right] = window.pads[..] else {
        return Err(invalid("its attribute pads has to have 4 entries"));
    };
    let four = |list: &[i64]| [vec![1, 1], list.to_vec()].concat();
    let attrs = Attrs::new()
        .with("kernel", plain[2..].to_vec())
        .with("strides", four(&window.strides))
        .with("dilations", four(&window.dilations))
        .with("pads", vec![top, bottom, left, right])
        .with("groups", groups)
        .with("data_format", "NCHW");
    let filter = cx.one("jumar.Conv2DFilterGradient", &[x, gradient], attrs)?;
    Ok(vec![match order {
        Some(order) => cx.transpose(filter, &inverse(&order))?,
        None => filter,
    }])
}
