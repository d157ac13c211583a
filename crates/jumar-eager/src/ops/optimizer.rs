//! Steps of optimisers.

use jumar_types::dtype::DataType;

use super::Table;
use super::operands::FLOATS;
use crate::Refusal;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnApplyAdam", adam),
    ("aclnnApplyAdamW", adam_w),
    ("aclnnApplyAdamWV2", adam_w_v2),
    ("aclnnFusedSgd", sgd),
];

/// Where the numbers of a step come from: the inputs behind the tensors, each with one element.
#[derive(Clone, Copy)]
enum Numbers {
    /// Inputs 4 to 10: the powers of both betas before the step, rate, decay, both betas, epsilon.
    Given,
    /// Input 4 is the number of steps before this one: the caller counts a step after it.
    Step {
        rate: f32,
        decay: f32,
        betas: (f32, f32),
        epsilon: f32,
    },
}

/// Where the largest second moment of all steps is kept. It replaces the second moment in the step of the values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Largest {
    /// Nowhere: the variant without it.
    Unused,
    /// In the second moment: the next step starts from it. The last input is what it is compared with.
    SecondMoment,
    /// In a tensor of its own, the last input and output 3.
    Own,
}

/// Adam with the decay of weights apart from the gradient.
struct AdamW {
    numbers: Numbers,
    maximize: bool,
    largest: Largest,
}

/// Returns the larger value, or NaN if one is NaN.
#[inline(always)]
fn larger(one: f32, two: f32) -> f32 {
    match one > two || one.is_nan() {
        true => one,
        false => two,
    }
}

impl RowFunction for AdamW {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let number = |input: usize| rows.input(input).get(0);
        let (powers, rate, decay, (one, two), epsilon) = match self.numbers {
            Numbers::Given => {
                let betas = (number(8), number(9));
                let powers = (number(4) * betas.0, number(5) * betas.1);
                (powers, number(6), number(7), betas, number(10))
            }
            Numbers::Step {
                rate,
                decay,
                betas,
                epsilon,
            } => {
                let step = f64::from(number(4)) + 1.0;
                let power = |beta: f32| f64::from(beta).powf(step) as f32;
                (
                    (power(betas.0), power(betas.1)),
                    rate,
                    decay,
                    betas,
                    epsilon,
                )
            }
        };
        let sign = if self.maximize { -1.0 } else { 1.0 };
        let (values, gradient) = (rows.input(0), rows.input(3));
        let (to_values, to_first, to_second) = (rows.output(0), rows.output(1), rows.output(2));
        to_first.map2(rows.input(1), gradient, |first, gradient| {
            one * first + (1.0 - one) * sign * gradient
        });
        to_second.map2(rows.input(2), gradient, |second, gradient| {
            two * second + (1.0 - two) * gradient * gradient
        });
        let largest_input = match self.numbers {
            Numbers::Given => 11,
            Numbers::Step { .. } => 5,
        };
        let root = match self.largest {
            Largest::Unused => to_second,
            Largest::SecondMoment => {
                let largest = rows.input(largest_input);
                to_second.update(largest, |own, largest| larger(largest, own));
                to_second
            }
            Largest::Own => {
                let (largest, to_largest) = (rows.input(largest_input), rows.output(3));
                to_largest.map2(largest, to_second.as_row(), larger);
                to_largest
            }
        };
        let (first_scale, second_scale) = (1.0 / (1.0 - powers.0), 1.0 / (1.0 - powers.1));
        to_values.map2(to_first.as_row(), root.as_row(), |first, second| {
            rate * first * first_scale / ((second * second_scale).sqrt() + epsilon)
        });
        to_values.update(values, |step, value| value - step - rate * decay * value);
    }
}

/// Adam as in TensorFlow: epsilon is added to the uncorrected root. Inputs: values, both moments, the gradient, the powers of both betas,
/// rate, both betas and epsilon. Output: the values; the moments are not written.
struct Adam {
    nesterov: bool,
}

impl RowFunction for Adam {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let number = |input: usize| rows.input(input).get(0);
        let (one, two, epsilon) = (number(7), number(8), number(9));
        let rate = number(6) * (1.0 - number(5)).sqrt() / (1.0 - number(4));
        let (values, first, second) = (rows.input(0), rows.input(1), rows.input(2));
        let (gradient, out) = (rows.input(3), rows.output(0));
        for at in 0..out.len() {
            let gradient = gradient.get(at);
            let first = one * first.get(at) + (1.0 - one) * gradient;
            let second = two * second.get(at) + (1.0 - two) * gradient * gradient;
            let step = match self.nesterov {
                true => one * first + (1.0 - one) * gradient,
                false => first,
            };
            out.set(at, values.get(at) - rate * step / (second.sqrt() + epsilon));
        }
    }
}

/// `useLocking` has no effect: the tasks of a stream run one after the other.
fn adam(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let views = tensors(cx, ["varRef", "m", "v", "grad"])?;
    for view in &views[1..] {
        cx.check_dtype(view, views[0].dtype())?;
    }
    let mut inputs: Vec<Option<View>> = views.into_iter().map(Some).collect();
    for param in [
        "beta1Power",
        "beta2Power",
        "lr",
        "beta1",
        "beta2",
        "epsilon",
    ] {
        let view = single(cx, param)?;
        cx.check_dtype(&view, DataType::Float32)?;
        inputs.push(Some(view));
    }
    let function = Adam {
        nesterov: cx.flag("useNesterov")?,
    };
    cx.rows(function, &inputs, &[Some(views[0])])
}

/// The tensors of a step under a shape with a last dimension.
fn tensors(cx: &Cx<'_>, names: [&str; 4]) -> Result<[View; 4], Refusal> {
    let mut views = [cx.tensor("varRef")?; 4];
    for (view, name) in views.iter_mut().zip(names) {
        *view = cx.tensor(name)?;
        cx.check_types(view, FLOATS)?;
    }
    let first = views[0];
    for view in &mut views {
        cx.check_dims(view, first.dims())?;
        if view.rank() == 0 {
            *view = view.unsqueeze(0);
        }
    }
    Ok(views)
}

/// Returns a tensor of one element as a row.
fn single(cx: &mut Cx<'_>, param: &str) -> Result<View, Refusal> {
    let view = cx.tensor(param)?;
    if view.elements() != 1 {
        return Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; expected one element",
            view.dims()
        )));
    }
    cx.reshaped(view, &[1])
}

/// Returns the tensor of the largest second moments where the step uses one.
fn largest(cx: &Cx<'_>, param: &str, values: &View) -> Result<Option<View>, Refusal> {
    if !cx.flag("amsgrad")? {
        return Ok(None);
    }
    let Some(view) = cx.optional(param)? else {
        return Err(cx.invalid(format_args!(
            "amsgrad is true and {param} is a null pointer; it has to hold the largest second moments"
        )));
    };
    let flat = match view.rank() {
        0 => view.unsqueeze(0),
        _ => view,
    };
    cx.check_types(&view, FLOATS)?;
    cx.check_dims(&flat, values.dims())?;
    Ok(Some(flat))
}

fn plan(
    cx: &mut Cx<'_>,
    views: [View; 4],
    function: AdamW,
    others: &[View],
) -> Result<(), Refusal> {
    let [values, first, second, gradient] = views;
    let mut inputs = vec![Some(values), Some(first), Some(second), Some(gradient)];
    inputs.extend(others.iter().map(|view| Some(*view)));
    let mut outputs = vec![Some(values), Some(first), Some(second)];
    if function.largest == Largest::Own {
        outputs.extend(others.last().map(|view| Some(*view)));
    }
    cx.rows(function, &inputs, &outputs)
}

/// Where `amsgrad` is true, the second moment is the larger of itself and `maxGradNormOptional`, as the document of the adapter's
/// `npu_apply_adam_w` states.
fn adam_w(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let views = tensors(cx, ["varRef", "mRef", "vRef", "grad"])?;
    let mut others = Vec::with_capacity(8);
    for param in [
        "beta1Power",
        "beta2Power",
        "lr",
        "weightDecay",
        "beta1",
        "beta2",
        "eps",
    ] {
        let view = single(cx, param)?;
        cx.check_types(&view, FLOATS)?;
        others.push(view);
    }
    let largest = largest(cx, "maxGradNormOptional", &views[0])?;
    others.extend(largest);
    let function = AdamW {
        numbers: Numbers::Given,
        maximize: cx.flag("maximize")?,
        largest: match largest {
            Some(_) => Largest::SecondMoment,
            None => Largest::Unused,
        },
    };
    plan(cx, views, function, &others)
}

/// Computes what PyTorch's fused AdamW does: `maxGradNormOptionalRef` keeps the largest second moment where `amsgrad` is true.
fn adam_w_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let views = tensors(cx, ["varRef", "mRef", "vRef", "grad"])?;
    let step = single(cx, "step")?;
    cx.check_types(&step, &[DataType::Float32, DataType::Int64])?;
    let largest = largest(cx, "maxGradNormOptionalRef", &views[0])?;
    let function = AdamW {
        numbers: Numbers::Step {
            rate: cx.float("lr")? as f32,
            decay: cx.float("weightDecay")? as f32,
            betas: (cx.float("beta1")? as f32, cx.float("beta2")? as f32),
            epsilon: cx.float("eps")? as f32,
        },
        maximize: cx.flag("maximize")?,
        largest: match largest {
            Some(_) => Largest::Own,
            None => Largest::Unused,
        },
    };
    let mut others = vec![step];
    others.extend(largest);
    plan(cx, views, function, &others)
}

/// Stochastic gradient descent with momentum, in place. Inputs: values, gradients, the momentum and the scale of the gradients.
struct Sgd {
    decay: f32,
    momentum: f32,
    rate: f32,
    dampening: f32,
    nesterov: bool,
    maximize: bool,
    first: bool,
}

impl RowFunction for Sgd {
    fn scratch(&self) -> usize {
        1
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (values, to_values) = (rows.input(0), rows.output(0));
        let gradient = rows.output(1);
        match rows.optional(3) {
            Some(scale) => {
                let scale = scale.get(0);
                gradient.map1(rows.input(1), |gradient| gradient / scale);
            }
            None => gradient.copy_from(rows.input(1)),
        }
        let sign = if self.maximize { -1.0 } else { 1.0 };
        let (decay, rate, momentum) = (self.decay, self.rate, self.momentum);
        let slope = |gradient: f32, value: f32| sign * gradient + decay * value;
        let Some(buffer) = rows.wanted(2) else {
            to_values.map2(values, gradient.as_row(), |value, gradient| {
                value - rate * slope(gradient, value)
            });
            return;
        };
        let (keep, share) = match self.first {
            true => (0.0, 1.0),
            false => (momentum, 1.0 - self.dampening),
        };
        // The first step ignores what the buffer holds, even NaN.
        match self.first {
            true => buffer.map2(gradient.as_row(), values, slope),
            false => {
                buffer.map1(rows.input(2), |own| keep * own);
                for at in 0..values.len() {
                    let slope = slope(gradient.get(at), values.get(at));
                    buffer.set(at, buffer.get(at) + share * slope);
                }
            }
        }
        match self.nesterov {
            true => {
                for at in 0..values.len() {
                    let value = values.get(at);
                    let step = slope(gradient.get(at), value) + momentum * buffer.get(at);
                    to_values.set(at, value - rate * step);
                }
            }
            false => to_values.map2(values, buffer.as_row(), |value, step| value - rate * step),
        }
    }
}

fn sgd(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (values, gradients) = (cx.tensors("paramsRef")?, cx.tensors("gradsRef")?);
    let buffers = cx.tensors("momentumBufferListOptionalRef")?;
    let momentum = cx.float("momentum")? as f32;
    let wanted = match momentum == 0.0 {
        true => 0,
        false => values.len(),
    };
    if gradients.len() != values.len() || buffers.len() < wanted {
        return Err(cx.invalid(format_args!(
            "paramsRef has {} tensors, gradsRef {} and momentumBufferListOptionalRef {}; the first two must have equally many, and the last as many where momentum is not 0",
            values.len(),
            gradients.len(),
            buffers.len()
        )));
    }
    let scale = match cx
        .optional("gradScaleOptional")?
        .filter(|scale| !scale.is_empty())
    {
        Some(_) => Some(single(cx, "gradScaleOptional")?),
        None => None,
    };
    let row = |view: View| match view.rank() {
        0 => view.unsqueeze(0),
        _ => view,
    };
    for (index, (&value, &gradient)) in values.iter().zip(&gradients).enumerate() {
        let buffer = buffers.get(index).copied().filter(|_| wanted > 0);
        for view in [Some(value), Some(gradient), buffer].into_iter().flatten() {
            cx.check_types(&view, FLOATS)?;
            cx.check_dims(&view, value.dims())?;
        }
        let function = Sgd {
            decay: cx.float("weightDecay")? as f32,
            momentum,
            rate: cx.float("lr")? as f32,
            dampening: cx.float("dampening")? as f32,
            nesterov: cx.flag("nesterov")?,
            maximize: cx.flag("maximize")?,
            first: cx.flag("isFirstStep")?,
        };
        let (value, gradient, buffer) = (row(value), row(gradient), buffer.map(row));
        cx.rows(
            function,
            &[Some(value), Some(gradient), buffer, scale],
            &[Some(value), Some(gradient), buffer],
        )?;
    }
    Ok(())
}
