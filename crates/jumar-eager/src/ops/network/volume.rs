//! Convolutions over three dimensions, transposed ones, and their gradients.
//!
//! All of them are forward or transposed convolutions of jumar-ops. The gradient of the filter is a convolution of the
//! input with the gradient of the result, in which batch and channels, strides and dilations exchange their roles.

use jumar_ops::Attrs;

use super::super::reduction::reduce;
use super::convolution::compute_type;
use crate::build::Cx;
use crate::view::View;
use crate::{Refusal, Scalar};

/// Dimensions of space.
const SPACE: usize = 3;

/// The numbers of a window, an entry for each dimension of space.
#[derive(Clone, Copy)]
struct Window {
    strides: [i64; SPACE],
    before: [i64; SPACE],
    after: [i64; SPACE],
    dilations: [i64; SPACE],
    groups: i64,
}

impl Window {
    fn read(cx: &Cx<'_>) -> Result<Window, Refusal> {
        let entries = |param: &str| -> Result<[i64; SPACE], Refusal> {
            match cx.ints(param)? {
                [one] => Ok([*one; SPACE]),
                [depth, height, width] => Ok([*depth, *height, *width]),
                other => Err(cx.invalid(format_args!(
                    "{param} has {} entries for 3 dimensions of space; 1 or 3 are required",
                    other.len()
                ))),
            }
        };
        let (before, after) = match cx.ints("padding")? {
            &[front, back, top, bottom, left, right] => ([front, top, left], [back, bottom, right]),
            _ => (entries("padding")?, entries("padding")?),
        };
        let window = Window {
            strides: entries("stride")?,
            before,
            after,
            dilations: entries("dilation")?,
            groups: cx.int("groups")?,
        };
        let limit = i64::from(i32::MAX);
        let positive = (window.strides.iter().chain(&window.dilations))
            .chain([&window.groups])
            .all(|step| (1..=limit).contains(step));
        let padded = (before.iter().chain(&after)).all(|pad| (0..=limit).contains(pad));
        if !positive || !padded {
            return Err(cx.invalid(format_args!(
                "stride {:?}, dilation {:?} and groups {} must be positive, and padding {before:?} and {after:?} not negative",
                window.strides, window.dilations, window.groups
            )));
        }
        Ok(window)
    }

    /// Returns the size that a filter covers along a dimension.
    fn reach(&self, axis: usize, taps: usize) -> i64 {
        self.dilations[axis] * (taps as i64 - 1) + 1
    }

    /// Returns the number of positions of a filter in an image along a dimension; less than 1 where it does not fit.
    fn positions(&self, axis: usize, image: usize, taps: usize) -> i64 {
        let padded = image as i64 + self.before[axis] + self.after[axis];
        (padded - self.reach(axis, taps)).div_euclid(self.strides[axis]) + 1
    }

    /// Returns the size of the image that `positions` of a filter cover along a dimension, the padding left out.
    fn covered(&self, axis: usize, positions: usize, taps: usize) -> i64 {
        let last = (positions as i64 - 1) * self.strides[axis];
        last + self.reach(axis, taps) - self.before[axis] - self.after[axis]
    }

    /// Returns the attributes that jumar.Conv and jumar.ConvTranspose have in common.
    fn attrs(&self) -> Attrs {
        Attrs::new()
            .with("strides", self.strides.to_vec())
            .with("pads", [self.before, self.after].concat())
            .with("dilations", self.dilations.to_vec())
            .with("group", self.groups)
    }
}

fn space(view: &View) -> &[usize] {
    &view.dims()[2..]
}

/// Writes a convolution. Positions of the filter beyond the shape of `out` are left out.
fn forward(
    cx: &mut Cx<'_>,
    window: &Window,
    [image, filter]: [View; 2],
    bias: Option<View>,
    out: View,
) -> Result<(), Refusal> {
    let mut dims = vec![image.dims()[0], filter.dims()[0]];
    for axis in 0..SPACE {
        let count = window.positions(axis, space(&image)[axis], space(&filter)[axis]);
        dims.push(usize::try_from(count).unwrap_or(0));
    }
    let inputs = [image.into(), filter.into(), bias.into()];
    if dims == out.dims() {
        return cx.op("jumar.Conv", &inputs, &window.attrs(), &[out]);
    }
    let result = cx.temporary(image.dtype(), &dims)?;
    cx.op("jumar.Conv", &inputs, &window.attrs(), &[result])?;
    let mut part = result;
    for axis in 0..SPACE {
        part = part.slice(axis + 2, 0, space(&out)[axis], 1);
    }
    cx.copy(part, out)
}

/// Writes a transposed convolution. `out` may be larger than what the filter covers; the rest has the bias alone.
fn transposed(
    cx: &mut Cx<'_>,
    window: &Window,
    [image, filter]: [View; 2],
    bias: Option<View>,
    out: View,
) -> Result<(), Refusal> {
    let added: Vec<i64> = (0..SPACE)
        .map(|axis| {
            let covered = window.covered(axis, space(&image)[axis], space(&filter)[axis]);
            space(&out)[axis] as i64 - covered
        })
        .collect();
    let attrs = window.attrs().with("output_padding", added);
    let inputs = [image.into(), filter.into(), bias.into()];
    cx.op("jumar.ConvTranspose", &inputs, &attrs, &[out])
}

/// Writes the gradient of the filter of a convolution from `large` to `small`.
fn filter_gradient(
    cx: &mut Cx<'_>,
    window: &Window,
    [large, small]: [View; 2],
    out: View,
) -> Result<(), Refusal> {
    let exchanged = Window {
        strides: window.dilations,
        dilations: window.strides,
        groups: 1,
        ..*window
    };
    let groups = window.groups as usize;
    cx.check_planned("groups", groups)?;
    let group = |view: &View, axis: usize, index: usize| {
        let len = view.dims()[axis] / groups;
        view.slice(axis, index * len, len, 1)
    };
    for index in 0..groups {
        let image = group(&large, 1, index).transpose(0, 1);
        let filter = group(&small, 1, index).transpose(0, 1);
        let to = group(&out, 0, index).transpose(0, 1);
        forward(cx, &exchanged, [image, filter], None, to)?;
    }
    Ok(())
}

/// Checks the operands of a convolution from `large` to `small`, which is transposed where it is computed from `small` to
/// `large`: then entries of `large` behind the last position of the filter are part of the output padding.
fn check_shapes(
    cx: &Cx<'_>,
    window: &Window,
    is_transposed: bool,
    [large, filter, small]: [&View; 3],
) -> Result<(), Refusal> {
    let (groups, depth) = (window.groups as usize, filter.dims()[1]);
    let channels = filter.dims()[0] == small.dims()[1]
        && filter.dims()[0].is_multiple_of(groups)
        && depth.checked_mul(groups) == Some(large.dims()[1]);
    let fits = (0..SPACE).all(|axis| {
        let (from, taps, to) = (space(large)[axis], space(filter)[axis], space(small)[axis]);
        if is_transposed {
            let added = from as i64 - window.covered(axis, to, taps);
            let limit = window.strides[axis].max(window.dilations[axis]);
            return added == 0 || (0..limit).contains(&added);
        }
        window.positions(axis, from, taps) == to as i64
    });
    match large.dims()[0] == small.dims()[0] && channels && fits {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{} has the shape {:?}, {} has {:?} and weight has {:?}; they do not belong to one convolution with stride {:?}, \
             padding {:?} and {:?}, dilation {:?} and groups {}",
            cx.param_of(large),
            large.dims(),
            cx.param_of(small),
            small.dims(),
            filter.dims(),
            window.strides,
            window.before,
            window.after,
            window.dilations,
            window.groups
        ))),
    }
}

pub(super) fn convolution(
    cx: &mut Cx<'_>,
    [x, filter]: [View; 2],
    bias: Option<View>,
    out: View,
) -> Result<(), Refusal> {
    let is_transposed = cx.flag("transposed")?;
    let window = Window::read(cx)?;
    match is_transposed {
        false => check_shapes(cx, &window, false, [&x, &filter, &out])?,
        true => check_shapes(cx, &window, true, [&out, &filter, &x])?,
    }
    if let Some(bias) = &bias {
        cx.check_dims(bias, &[out.dims()[1]])?;
    }
    if out.is_empty() {
        return Ok(());
    }
    let compute = compute_type(cx.promote(x.dtype(), filter.dtype())?);
    let operands = [cx.cast(x, compute)?, cx.cast(filter, compute)?];
    let bias = match bias {
        Some(bias) => Some(cx.cast(bias, compute)?),
        None => None,
    };
    match is_transposed {
        false => forward(cx, &window, operands, bias, out),
        true => transposed(cx, &window, operands, bias, out),
    }
}

pub(super) fn convolution_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("input")?);
    let (filter, is_transposed) = (cx.tensor("weight")?, cx.flag("transposed")?);
    let window = Window::read(cx)?;
    let mask = cx.bools("outputMask")?;
    let &[to_input, to_weight, to_bias] = mask else {
        return Err(cx.invalid(format_args!(
            "outputMask has {} flags; 3 are wanted",
            mask.len()
        )));
    };
    match is_transposed {
        false => check_shapes(cx, &window, false, [&x, &filter, &gradient])?,
        true => check_shapes(cx, &window, true, [&gradient, &filter, &x])?,
    }
    let compute = compute_type(x.dtype());
    let (gradient, x) = (cx.cast(gradient, compute)?, cx.cast(x, compute)?);
    let filter = cx.cast(filter, compute)?;
    if let Some(out) = cx.optional("gradBias")?.filter(|_| to_bias) {
        cx.check_dims(&out, &[gradient.dims()[1]])?;
        let sum = cx.temporary(compute, out.dims())?;
        reduce(cx, "ReduceSum", gradient, &[0, 2, 3, 4], false, sum)?;
        cx.copy(sum, out)?;
    }
    if let Some(out) = cx.optional("gradInput")?.filter(|_| to_input) {
        cx.check_dims(&out, x.dims())?;
        if gradient.is_empty() {
            cx.fill(Scalar::of_i64(0), out)?;
        } else if is_transposed {
            forward(cx, &window, [gradient, filter], None, out)?;
        } else {
            transposed(cx, &window, [gradient, filter], None, out)?;
        }
    }
    if let Some(out) = cx.optional("gradWeight")?.filter(|_| to_weight) {
        cx.check_dims(&out, filter.dims())?;
        // The roles of input and gradient are exchanged in a transposed convolution.
        let [large, small] = match is_transposed {
            true => [gradient, x],
            false => [x, gradient],
        };
        match large.is_empty() || small.is_empty() {
            true => cx.fill(Scalar::of_i64(0), out)?,
            false => filter_gradient(cx, &window, [large, small], out)?,
        }
    }
    Ok(())
}
