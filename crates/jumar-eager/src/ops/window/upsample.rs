//! Images of another size by interpolation, and the gradients.

use super::linear::{Axis, Rule, Scale, apply};
use super::sizes_from;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::reduction::accumulator;
use crate::view::View;

/// The parameters of scales: the last ones, as many as there are dimensions of space.
pub(super) const SCALES: [&str; 3] = ["scalesD", "scalesH", "scalesW"];

/// The parameters of the scales of an operator that interpolates.
fn scales_of(space: usize) -> &'static [&'static str] {
    match space {
        1 => &["scales"],
        _ => &SCALES[3 - space..],
    }
}

/// Reads scales; one that is not positive follows from the sizes.
fn scales(cx: &Cx<'_>, params: &[&str]) -> Result<Vec<Scale>, Refusal> {
    params
        .iter()
        .map(|param| match *param {
            "" => Ok(None),
            param => {
                let scale = cx.float(param)?;
                Ok(Some(scale).filter(|scale| *scale > 0.0 && scale.is_finite()))
            }
        })
        .collect()
}

fn maps(from: &[usize], to: &[usize], scales: &[Scale], rule: impl Fn(Scale) -> Rule) -> Vec<Axis> {
    let axis = |index: usize| Axis {
        rule: rule(scales[index]),
        from: from[index],
        to: to[index],
    };
    (0..scales.len()).map(axis).collect()
}

fn forward(
    cx: &mut Cx<'_>,
    x: View,
    params: &[&str],
    rule: impl Fn(Scale) -> Rule,
) -> Result<(), Refusal> {
    let (out, space) = (cx.out("out")?, params.len());
    let scales = scales(cx, params)?;
    let to = sizes_from(cx, "outputSize", space, 1)?;
    if x.rank() != space + 2 || x.dims()[1..].contains(&0) {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; {} dimensions are required, of which only the batch may be 0",
            cx.param_of(&x),
            x.dims(),
            space + 2
        )));
    }
    cx.check_dims(&out, &super::resized(&x, &to))?;
    let axes = maps(&x.dims()[2..], &to, &scales, rule);
    apply(cx, accumulator(x.dtype()), &axes, false, x, out)
}

fn backward(
    cx: &mut Cx<'_>,
    [gradient, out]: [&str; 2],
    params: &[&str],
    rule: impl Fn(Scale) -> Rule,
) -> Result<(), Refusal> {
    let (gradient, out) = (cx.tensor(gradient)?, cx.out(out)?);
    let space = params.len();
    let scales = scales(cx, params)?;
    let to = sizes_from(cx, "outputSize", space, 1)?;
    let dims = cx.ints("inputSize")?.to_vec();
    let sizes: Vec<usize> = dims
        .iter()
        .filter_map(|&size| usize::try_from(size).ok())
        .collect();
    if dims.len() != space + 2 || sizes.len() != dims.len() || sizes[1..].contains(&0) {
        return Err(cx.invalid(format_args!(
            "inputSize is {dims:?}; {} entries are required, of which only the first may be 0",
            space + 2
        )));
    }
    cx.check_dims(&out, &sizes)?;
    cx.check_dims(&gradient, &super::resized(&out, &to))?;
    let axes = maps(&sizes[2..], &to, &scales, rule);
    apply(cx, accumulator(out.dtype()), &axes, true, gradient, out)
}

pub(super) fn nearest(cx: &mut Cx<'_>, params: &[&str], exact: bool) -> Result<(), Refusal> {
    let x = cx.tensor("self")?;
    forward(cx, x, params, |scale| Rule::Nearest { scale, exact })
}

/// Returns the names of the gradients, which differ among the operators.
fn gradients(cx: &Cx<'_>) -> [&'static str; 2] {
    let named = |name: &'static str| cx.params().iter().any(|param| param.name == name);
    let choice = |one, two| if named(one) { one } else { two };
    [choice("gradOut", "gradOutput"), choice("out", "gradInput")]
}

pub(super) fn nearest_backward(
    cx: &mut Cx<'_>,
    params: &[&str],
    exact: bool,
) -> Result<(), Refusal> {
    let names = gradients(cx);
    backward(cx, names, params, |scale| Rule::Nearest { scale, exact })
}

pub(super) fn linear(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (x, aligned) = (cx.tensor("self")?, cx.flag("alignCorners")?);
    let params = scales_of(space);
    forward(cx, x, params, |scale| Rule::Linear { scale, aligned })
}

pub(super) fn linear_backward(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (names, aligned) = (gradients(cx), cx.flag("alignCorners")?);
    let params = scales_of(space);
    backward(cx, names, params, |scale| Rule::Linear { scale, aligned })
}

pub(super) fn cubic(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, aligned) = (cx.tensor("self")?, cx.flag("alignCorners")?);
    forward(cx, x, scales_of(2), |scale| Rule::Cubic { scale, aligned })
}

pub(super) fn cubic_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (names, aligned) = (gradients(cx), cx.flag("alignCorners")?);
    backward(cx, names, scales_of(2), |scale| Rule::Cubic {
        scale,
        aligned,
    })
}

pub(super) fn smoothed(cx: &mut Cx<'_>, cubic: bool) -> Result<(), Refusal> {
    let x = cx.tensor(if cubic { "x" } else { "input" })?;
    let aligned = cx.flag("alignCorners")?;
    forward(cx, x, scales_of(2), |scale| Rule::Smoothed {
        scale,
        aligned,
        cubic,
    })
}

pub(super) fn smoothed_backward(cx: &mut Cx<'_>, cubic: bool) -> Result<(), Refusal> {
    let (names, aligned) = (gradients(cx), cx.flag("alignCorners")?);
    backward(cx, names, scales_of(2), |scale| Rule::Smoothed {
        scale,
        aligned,
        cubic,
    })
}
