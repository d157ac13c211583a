//! Losses: functions of elements that are reduced, margins, and alignments of sequences; each with its gradient.

mod alignment;
mod classes;
mod margin;
mod parallel;

use super::Table;
use super::normalization::{computed, number, reduction};
use super::reduction::{accumulator, reduce, without_dims};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar, promote};
use jumar_types::dtype::DataType;

pub(crate) static TABLE: &Table = &[
    ("aclnnBinaryCrossEntropy", |cx| {
        let weight = cx.optional("weight")?;
        pointwise(cx, "out", F::CrossEntropy, None, weight)
    }),
    ("aclnnBinaryCrossEntropyBackward", |cx| {
        let weight = cx.optional("weightOptional")?;
        pointwise_backward(cx, "out", F::CrossEntropyBackward, None, weight)
    }),
    ("aclnnBinaryCrossEntropyWithLogits", |cx| {
        let (positive, weight) = logit_weights(cx)?;
        pointwise(cx, "out", F::LogitEntropy, Some(positive), weight)
    }),
    ("aclnnBinaryCrossEntropyWithLogitsBackward", |cx| {
        let (positive, weight) = logit_weights(cx)?;
        pointwise_backward(cx, "out", F::LogitEntropyBackward, Some(positive), weight)
    }),
    (
        "aclnnBinaryCrossEntropyWithLogitsTargetBackward",
        logit_target_backward,
    ),
    ("aclnnCrossEntropyLoss", classes::cross_entropy),
    ("aclnnCrossEntropyLossGrad", classes::cross_entropy_backward),
    ("aclnnCtcLoss", alignment::loss),
    ("aclnnCtcLossBackward", alignment::loss_backward),
    (
        "aclnnFusedCrossEntropyLossWithMaxSum",
        parallel::with_max_sum,
    ),
    (
        "aclnnFusedLinearCrossEntropyLossGrad",
        parallel::linear_backward,
    ),
    ("aclnnFusedLinearOnlineMaxSum", parallel::online_max_sum),
    ("aclnnKlDiv", |cx| {
        let function = by_target(cx, F::Divergence, F::LogDivergence)?;
        pointwise(cx, "out", function, None, None)
    }),
    ("aclnnKlDivBackward", divergence_backward),
    ("aclnnKlDivTargetBackward", |cx| {
        let function = by_target(cx, F::DivergenceTarget, F::LogDivergenceTarget)?;
        pointwise_backward(cx, "gradTarget", function, None, None)
    }),
    ("aclnnL1Loss", l1_loss),
    ("aclnnL1LossBackward", l1_loss_backward),
    ("aclnnMultilabelMarginLoss", margin::multilabel),
    ("aclnnSmoothL1Loss", smooth_l1_loss),
    ("aclnnSmoothL1LossBackward", smooth_l1_loss_backward),
    ("aclnnSoftMarginLoss", |cx| {
        pointwise(cx, "out", F::SoftMargin, None, None)
    }),
    ("aclnnSoftMarginLossBackward", |cx| {
        pointwise_backward(cx, "out", F::SoftMarginBackward, None, None)
    }),
];

/// Returns the shape that operands are broadcast to.
fn joint_dims(cx: &Cx<'_>, operands: &[Operand]) -> Result<Vec<usize>, Refusal> {
    let views: Vec<View> = operands
        .iter()
        .filter_map(|operand| match operand {
            Operand::Tensor(view) => Some(*view),
            Operand::Scalar(_) => None,
        })
        .collect();
    let (dims, rank) = cx.broadcast(&views)?;
    Ok(dims[..rank].to_vec())
}

/// Reads the two tensors of a loss, and the type in which it is computed.
fn operands(cx: &Cx<'_>) -> Result<(View, View, DataType), Refusal> {
    let (x, target) = (cx.tensor("self")?, cx.tensor("target")?);
    let dtype = cx.promote(x.dtype(), target.dtype())?;
    if promote::is_complex(dtype) {
        return Err(cx.refuse_type("self", dtype, "a real type"));
    }
    Ok((x, target, accumulator(dtype)))
}

/// Writes a function of elements, reduced as the call says.
fn reduced(
    cx: &mut Cx<'_>,
    function: F,
    compute: DataType,
    operands: &[Operand],
    weight: Option<View>,
    out: View,
) -> Result<(), Refusal> {
    let kind = reduction(cx)?;
    let mut all = operands.to_vec();
    all.extend(weight.map(Operand::Tensor));
    let dims = joint_dims(cx, &all)?;
    if kind == 0 {
        cx.check_dims(&out, &dims)?;
    }
    let out = match kind {
        0 => out,
        _ => without_dims(out),
    };
    if kind != 0 {
        cx.check_dims(&out, &[])?;
        if dims.contains(&0) {
            let empty = if kind == 1 { f64::NAN } else { 0.0 };
            return cx.fill(Scalar::of_f64(empty), out);
        }
    }
    let losses = match (kind, weight) {
        (0, None) => return cx.map(function, compute, operands, out),
        _ => computed(cx, function, compute, operands, &dims)?,
    };
    let weighted = match weight {
        Some(weight) => {
            let both = [Operand::Tensor(losses), Operand::Tensor(weight)];
            if kind == 0 {
                return cx.map(F::Mul, compute, &both, out);
            }
            computed(cx, F::Mul, compute, &both, &dims)?
        }
        None => losses,
    };
    let axes: Vec<usize> = (0..dims.len()).collect();
    let operator = if kind == 1 { "ReduceMean" } else { "ReduceSum" };
    reduce(cx, operator, weighted, &axes, false, out)
}

/// A loss that is a function of an element and its target.
fn pointwise(
    cx: &mut Cx<'_>,
    out: &str,
    function: F,
    third: Option<Operand>,
    weight: Option<View>,
) -> Result<(), Refusal> {
    let (x, target, compute) = operands(cx)?;
    let out = cx.out(out)?;
    let mut all = vec![Operand::Tensor(x), Operand::Tensor(target)];
    all.extend(third);
    reduced(cx, function, compute, &all, weight, out)
}

/// Writes `gradient * derivative`, divided by the number of elements for a mean.
fn chained(
    cx: &mut Cx<'_>,
    compute: DataType,
    derivative: View,
    weight: Option<View>,
    gradient: View,
    out: View,
) -> Result<(), Refusal> {
    let (kind, dims) = (reduction(cx)?, derivative.dims().to_vec());
    cx.check_dims(&out, &dims)?;
    if out.is_empty() {
        return Ok(());
    }
    let mut product = derivative;
    if let Some(weight) = weight {
        let both = [Operand::Tensor(product), Operand::Tensor(weight)];
        product = computed(cx, F::Mul, compute, &both, &dims)?;
    }
    if kind == 1 {
        let share = number((out.elements() as f64).recip());
        product = computed(
            cx,
            F::Mul,
            compute,
            &[Operand::Tensor(product), share],
            &dims,
        )?;
    }
    let gradient = match gradient.elements() {
        // Gradients of a reduced loss may have any number of dimensions.
        1 => cx.reshaped(gradient, &[])?,
        _ => gradient,
    };
    let both = [Operand::Tensor(product), Operand::Tensor(gradient)];
    cx.map(F::Mul, compute, &both, out)
}

/// The gradient of [`pointwise`], by either of its tensors.
fn pointwise_backward(
    cx: &mut Cx<'_>,
    out: &str,
    function: F,
    third: Option<Operand>,
    weight: Option<View>,
) -> Result<(), Refusal> {
    let (x, target, compute) = operands(cx)?;
    let (gradient, out) = (cx.tensor("gradOutput")?, cx.out(out)?);
    let mut all = vec![Operand::Tensor(x), Operand::Tensor(target)];
    all.extend(third);
    let mut shaping = all.clone();
    shaping.extend(weight.map(Operand::Tensor));
    let dims = joint_dims(cx, &shaping)?;
    let derivative = computed(cx, function, compute, &all, &dims)?;
    chained(cx, compute, derivative, weight, gradient, out)
}

/// Returns the weight of positive answers, 1 without one, and the weight of elements.
fn logit_weights(cx: &Cx<'_>) -> Result<(Operand, Option<View>), Refusal> {
    let positive = cx.optional("posWeightOptional")?;
    let positive = positive.map_or(number(1.0), Operand::Tensor);
    Ok((positive, cx.optional("weightOptional")?))
}

fn logit_target_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, target, compute) = operands(cx)?;
    let (gradient, out) = (cx.tensor("gradOutput")?, cx.out("gradTarget")?);
    let (positive, weight) = logit_weights(cx)?;
    let all = [Operand::Tensor(x), positive];
    let dims = joint_dims(cx, &[Operand::Tensor(x), Operand::Tensor(target), positive])?;
    let derivative = computed(cx, F::LogitEntropyTarget, compute, &all, &dims)?;
    chained(cx, compute, derivative, weight, gradient, out)
}

/// Returns a function for targets that are numbers or logarithms.
fn by_target(cx: &Cx<'_>, plain: F, logarithm: F) -> Result<F, Refusal> {
    Ok(match cx.flag("logTarget")? {
        true => logarithm,
        false => plain,
    })
}

fn divergence_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, target, compute) = operands(cx)?;
    let (gradient, out) = (cx.tensor("gradOutput")?, cx.out("out")?);
    let dims = joint_dims(cx, &[Operand::Tensor(x), Operand::Tensor(target)])?;
    let share = match cx.flag("logTarget")? {
        true => computed(cx, F::Exp, compute, &[Operand::Tensor(target)], &dims)?,
        false => target,
    };
    let derivative = computed(cx, F::Neg, compute, &[Operand::Tensor(share)], &dims)?;
    chained(cx, compute, derivative, None, gradient, out)
}

/// Returns the distances of a tensor from its target.
fn distances(cx: &mut Cx<'_>) -> Result<(View, DataType), Refusal> {
    let (x, target) = (cx.tensor("self")?, cx.tensor("target")?);
    let dtype = cx.promote(x.dtype(), target.dtype())?;
    let compute = match promote::is_complex(dtype) {
        true => dtype,
        false => accumulator(dtype),
    };
    let both = [Operand::Tensor(x), Operand::Tensor(target)];
    let dims = joint_dims(cx, &both)?;
    let distances = computed(cx, F::Sub, compute, &both, &dims)?;
    Ok((distances, compute))
}

fn l1_loss(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("out")?;
    let (distances, dtype) = distances(cx)?;
    if promote::is_complex(dtype) {
        let compute = match dtype {
            DataType::Complex128 => DataType::Float64,
            _ => DataType::Float32,
        };
        let sizes = cx.temporary(compute, distances.dims())?;
        cx.map(F::ComplexAbs, dtype, &[Operand::Tensor(distances)], sizes)?;
        return reduced(cx, F::Abs, compute, &[Operand::Tensor(sizes)], None, out);
    }
    reduced(cx, F::Abs, dtype, &[Operand::Tensor(distances)], None, out)
}

fn l1_loss_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, out) = (cx.tensor("gradOutput")?, cx.out("gradInput")?);
    let (distances, compute) = distances(cx)?;
    let function = match promote::is_complex(compute) {
        true => F::ComplexSign,
        false => F::Sign,
    };
    let dims = distances.dims().to_vec();
    let signs = computed(cx, function, compute, &[Operand::Tensor(distances)], &dims)?;
    chained(cx, compute, signs, None, gradient, out)
}

fn beta(cx: &Cx<'_>) -> Result<Operand, Refusal> {
    let beta = cx.float("beta")?;
    match beta >= 0.0 {
        true => Ok(number(beta)),
        false => Err(cx.invalid(format_args!("beta is {beta}; it must not be negative"))),
    }
}

fn smooth_l1_loss(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, beta) = (cx.out("result")?, beta(cx)?);
    operands(cx)?;
    let (distances, compute) = distances(cx)?;
    let all = [Operand::Tensor(distances), beta];
    reduced(cx, F::SmoothL1, compute, &all, None, out)
}

fn smooth_l1_loss_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, out) = (cx.tensor("gradOut")?, cx.out("gradInput")?);
    let beta = beta(cx)?;
    operands(cx)?;
    let (distances, compute) = distances(cx)?;
    let (all, dims) = (
        [Operand::Tensor(distances), beta],
        distances.dims().to_vec(),
    );
    let derivative = computed(cx, F::SmoothL1Backward, compute, &all, &dims)?;
    chained(cx, compute, derivative, None, gradient, out)
}
