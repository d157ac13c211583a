//! Gated units: two halves of a tensor along a dimension, one of which gates the other.

use super::{Row, check_exists};
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;

pub(crate) static GATE: &[Row] = &[
    ("aclnnGeGlu", |cx| ge_glu(cx, false)),
    ("aclnnGeGluBackward", |cx| ge_glu_backward(cx, false)),
    ("aclnnGeGluV3", |cx| {
        let left = cx.flag("activateLeft")?;
        ge_glu(cx, left)
    }),
    ("aclnnGeGluV3Backward", |cx| {
        let left = cx.flag("activateLeft")?;
        ge_glu_backward(cx, left)
    }),
    ("aclnnGlu", glu),
    ("aclnnGluBackward", glu_backward),
    ("aclnnSwiGlu", swi_glu),
    ("aclnnSwiGluGrad", swi_glu_grad),
];

/// Returns the two halves of a view along a dimension, and the shape of each.
fn halves(cx: &Cx<'_>, view: &View) -> Result<[View; 2], Refusal> {
    let dim = cx.int("dim")?;
    if view.rank() == 0 {
        return Err(cx.invalid(format_args!(
            "{} has no dimensions; it must have at least one",
            cx.param_of(view)
        )));
    }
    let axis = cx.axis("dim", dim, view.rank())?;
    let size = view.dims()[axis];
    if !size.is_multiple_of(2) {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; the size of dimension {dim} must be even",
            cx.param_of(view),
            view.dims()
        )));
    }
    let half = size / 2;
    Ok([
        view.slice(axis, 0, half, 1),
        view.slice(axis, half, half, 1),
    ])
}

/// Plans a function of views of one shape.
fn plan(cx: &mut Cx<'_>, function: F, views: &[View], out: View) -> Result<(), Refusal> {
    let dtype = views[0].dtype();
    check_exists(cx, function, dtype)?;
    cx.check_converts(dtype, &out)?;
    let mut operands = [Operand::Tensor(out); 3];
    for (operand, view) in operands.iter_mut().zip(views) {
        cx.check_dims(view, out.dims())?;
        *operand = Operand::Tensor(*view);
    }
    cx.map(function, dtype, &operands[..views.len()], out)
}

/// The first half times the logistic function of the second.
fn glu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let [value, gate] = halves(cx, &x)?;
    cx.check_dims(&out, value.dims())?;
    plan(cx, F::Glu, &[value, gate], out)
}

fn glu_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x, out) = (cx.tensor("gradOut")?, cx.tensor("self")?, cx.out("out")?);
    cx.check_dims(&out, x.dims())?;
    let ([value, gate], [to_value, to_gate]) = (halves(cx, &x)?, halves(cx, &out)?);
    plan(cx, F::Glu, &[gradient, gate], to_value)?;
    plan(cx, F::GluGate, &[gradient, value, gate], to_gate)
}

/// The second half times the SiLU of the first.
fn swi_glu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("out")?);
    let [gate, value] = halves(cx, &x)?;
    cx.check_dims(&out, value.dims())?;
    plan(cx, F::SwiGlu, &[gate, value], out)
}

fn swi_glu_grad(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x, out) = (cx.tensor("yGrad")?, cx.tensor("x")?, cx.out("out")?);
    cx.check_dims(&out, x.dims())?;
    let ([gate, value], [to_gate, to_value]) = (halves(cx, &x)?, halves(cx, &out)?);
    plan(cx, F::SwiGluGate, &[gradient, gate, value], to_gate)?;
    plan(cx, F::SwiGlu, &[gate, gradient], to_value)
}

/// Writes a value times the GELU of a gate.
pub(crate) fn gelu_gate(
    cx: &mut Cx<'_>,
    tanh: bool,
    value: View,
    gate: View,
    out: View,
) -> Result<(), Refusal> {
    let function = match tanh {
        true => F::GeGluTanh,
        false => F::GeGlu,
    };
    plan(cx, function, &[value, gate], out)
}

/// Returns the exact form of a function, or the one with tanh.
fn form(cx: &Cx<'_>, exact: F, tanh: F) -> Result<F, Refusal> {
    match cx.int("approximate")? {
        0 => Ok(exact),
        1 => Ok(tanh),
        other => Err(cx.invalid(format_args!("approximate is {other}; it must be 0 or 1"))),
    }
}

/// One half times the GELU of the other, and the GELU by itself.
fn ge_glu(cx: &mut Cx<'_>, left: bool) -> Result<(), Refusal> {
    let (x, out, gelu) = (cx.tensor("self")?, cx.out("out")?, cx.out("outGelu")?);
    let function = form(cx, F::Gelu, F::GeluTanh)?;
    let gated = form(cx, F::GeGlu, F::GeGluTanh)?;
    let mut sides = halves(cx, &x)?;
    if left {
        sides.swap(0, 1);
    }
    let [value, gate] = sides;
    for view in [&out, &gelu] {
        cx.check_dims(view, value.dims())?;
    }
    plan(cx, gated, &[value, gate], out)?;
    plan(cx, function, &[gate], gelu)
}

fn ge_glu_backward(cx: &mut Cx<'_>, left: bool) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let (gelu, out) = (cx.tensor("gelu")?, cx.out("gradInput")?);
    let function = form(cx, F::GeGluGate, F::GeGluTanhGate)?;
    cx.check_dims(&out, x.dims())?;
    let (mut sides, mut targets) = (halves(cx, &x)?, halves(cx, &out)?);
    if left {
        sides.swap(0, 1);
        targets.swap(0, 1);
    }
    let ([value, gate], [to_value, to_gate]) = (sides, targets);
    plan(cx, F::Mul, &[gradient, gelu], to_value)?;
    plan(cx, function, &[gradient, value, gate], to_gate)
}
