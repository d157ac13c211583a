//! The cross entropy of logits against classes, with smoothed labels, and its gradient.

use std::sync::OnceLock;

use jumar_ops::{Attrs, Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::super::dense::bad_data;
use super::super::reduction::{reduce, reduce_kept, without_dims};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::operands::FLOATS;
use crate::view::View;
use crate::{Refusal, Scalar};

/// Parts that the rows are split into.
const PARTS: usize = 16;

/// The loss and the weight of each row; or, backward, the gradient of its logits for a gradient of the loss.
#[derive(Clone, Copy)]
struct Rows {
    classes: usize,
    ignored: i64,
    smoothing: f32,
    weighted: bool,
    backward: bool,
}

impl Kernel for Rows {
    /// Inputs: logarithms of probabilities, classes, weights; backward, the gradient of the loss of each row before the weights.
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (logs, target) = (call.input::<f32>(0)?.flat(), call.input::<i64>(1)?.flat());
        let weights = match self.weighted {
            true => Some(call.input::<f32>(2)?.flat()),
            false => None,
        };
        let gradient = match self.backward {
            true => Some(call.input::<f32>(2 + usize::from(self.weighted))?.flat()),
            false => None,
        };
        let first = call.output::<f32>(0)?.flat();
        let second = match self.backward {
            true => None,
            false => Some(call.output::<f32>(1)?.flat()),
        };
        let classes = self.classes;
        let weight = |class: usize| weights.map_or(1.0, |weights| weights.get(class));
        let all: f32 = (0..classes).map(weight).sum();
        let share = self.smoothing / classes as f32;
        let failure = OnceLock::new();
        let (count, parts) = (target.len(), PARTS.min(target.len()));
        call.workers().each(parts, |part| {
            for row in count * part / parts..count * (part + 1) / parts {
                let class = target.get(row);
                let own = logs.slice(row * classes, classes);
                let known = usize::try_from(class).ok().filter(|&class| class < classes);
                if class != self.ignored && known.is_none() {
                    let _ = failure.set(bad_data(format!(
                        "target[{row}] is {class}; it must be between 0 and {}, or {} to be ignored",
                        classes - 1,
                        self.ignored
                    )));
                    return;
                }
                let known = known.filter(|_| class != self.ignored);
                let (Some(class), Some(gradient)) = (known, gradient) else {
                    let (mut loss, mut total) = (0.0, 0.0);
                    if let Some(class) = known {
                        total = weight(class);
                        loss = (self.smoothing - 1.0) * total * own.get(class);
                        if share > 0.0 {
                            let sum: f32 = (0..classes).map(|at| weight(at) * own.get(at)).sum();
                            loss -= share * sum;
                        }
                    }
                    match second {
                        Some(second) => {
                            first.set(row, loss);
                            second.set(row, total);
                        }
                        None => first.slice(row * classes, classes).fill(0.0),
                    }
                    continue;
                };
                let factor = gradient.get(row);
                let to = first.slice(row * classes, classes);
                let certain = (1.0 - self.smoothing) * weight(class);
                to.map1(own, |log| factor * (certain + share * all) * log.exp());
                for at in 0..classes {
                    let mut less = share * weight(at);
                    if at == class {
                        less += certain;
                    }
                    if less != 0.0 {
                        to.set(at, to.get(at) - factor * less);
                    }
                }
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    None,
    Mean,
    Sum,
}

/// What both directions share.
struct Parts {
    kernel: Rows,
    /// Rows and classes.
    dims: [usize; 2],
    target: View,
    weight: Option<View>,
    reduction: Reduction,
}

fn parts(cx: &mut Cx<'_>, x: &View, backward: bool) -> Result<Parts, Refusal> {
    cx.check_types(x, FLOATS)?;
    let &[rows, classes] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; rows and classes are required",
            cx.param_of(x),
            x.dims()
        )));
    };
    if classes == 0 {
        return Err(cx.invalid(format_args!("{} has no classes", cx.param_of(x))));
    }
    let target = cx.tensor("target")?;
    cx.check_types(&target, &[DataType::Int64, DataType::Int32])?;
    cx.check_dims(&target, &[rows])?;
    let target = cx.cast(target, DataType::Int64)?;
    let target = cx.dense(target)?;
    let mut weight = cx
        .optional("weightOptional")?
        .filter(|weight| !weight.is_empty());
    if let Some(given) = weight {
        cx.check_dims(&given, &[classes])?;
        let given = cx.cast(given, DataType::Float32)?;
        weight = Some(cx.dense(given)?);
    }
    let arg = cx.arg("reductionOptional")?;
    let reduction = match arg {
        crate::Arg::Null => Reduction::Mean,
        _ => match cx.text("reductionOptional")? {
            "none" => Reduction::None,
            "mean" | "" => Reduction::Mean,
            "sum" => Reduction::Sum,
            other => {
                return Err(cx.invalid(format_args!(
                    "reductionOptional is {other:?}; it must be \"none\", \"mean\" or \"sum\""
                )));
            }
        },
    };
    let smoothing = cx.float("labelSmoothing")?;
    if !(0.0..=1.0).contains(&smoothing) {
        return Err(cx.invalid(format_args!(
            "labelSmoothing is {smoothing}; it must be between 0 and 1"
        )));
    }
    if cx.float("lseSquareScaleForZloss")? != 0.0 {
        return Err(cx.unsupported("lseSquareScaleForZloss other than 0 is not computed"));
    }
    Ok(Parts {
        kernel: Rows {
            classes,
            ignored: cx.int("ignoreIndex")?,
            smoothing: smoothing as f32,
            weighted: weight.is_some(),
            backward,
        },
        dims: [rows, classes],
        target,
        weight,
        reduction,
    })
}

pub(super) fn cross_entropy(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, loss, logs_out) = (
        cx.tensor("input")?,
        cx.out("lossOut")?,
        cx.out("logProbOut")?,
    );
    if cx.flag("returnZloss")? {
        return Err(cx.unsupported("returnZloss is not computed"));
    }
    let parts = parts(cx, &x, false)?;
    let [rows, _] = parts.dims;
    cx.check_dims(&logs_out, x.dims())?;
    let reduction = parts.reduction;
    let loss = match reduction {
        Reduction::None => loss,
        _ => without_dims(loss),
    };
    match reduction {
        Reduction::None => cx.check_dims(&loss, &[rows])?,
        _ => cx.check_dims(&loss, &[])?,
    }
    if rows == 0 {
        let empty = if reduction == Reduction::Mean {
            f64::NAN
        } else {
            0.0
        };
        return cx.fill(Scalar::of_f64(empty), loss);
    }
    let compute = DataType::Float32;
    let wide = cx.cast(x, compute)?;
    let logs = cx.temporary(compute, x.dims())?;
    let attrs = Attrs::new().with("axes", vec![1i64]);
    cx.op("LogSoftmaxV2", &[wide.into()], &attrs, &[logs])?;
    cx.copy(logs, logs_out)?;
    let (each, weights) = (
        cx.temporary(compute, &[rows])?,
        cx.temporary(compute, &[rows])?,
    );
    let mut inputs = vec![Some(logs), Some(parts.target)];
    inputs.extend(parts.weight.map(Some));
    cx.kernel(Box::new(parts.kernel), &inputs, &[each, weights], false)?;
    match reduction {
        Reduction::None => cx.copy(each, loss),
        Reduction::Sum => reduce(cx, "ReduceSum", each, &[0], false, loss),
        Reduction::Mean => {
            let (sum, total) = (cx.temporary(compute, &[])?, cx.temporary(compute, &[])?);
            reduce(cx, "ReduceSum", each, &[0], false, sum)?;
            reduce(cx, "ReduceSum", weights, &[0], false, total)?;
            let operands = [Operand::Tensor(sum), Operand::Tensor(total)];
            cx.map(F::Div, compute, &operands, loss)
        }
    }
}

pub(super) fn cross_entropy_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, logs, out) = (
        cx.tensor("gradLoss")?,
        cx.tensor("logProb")?,
        cx.out("out")?,
    );
    let parts = parts(cx, &logs, true)?;
    let [rows, _] = parts.dims;
    cx.check_dims(&out, logs.dims())?;
    if cx
        .optional("gradZlossOptional")?
        .is_some_and(|given| !given.is_empty())
    {
        return Err(cx.unsupported("gradZlossOptional is not computed"));
    }
    let gradient = match parts.reduction {
        Reduction::None => gradient,
        _ => without_dims(gradient),
    };
    match parts.reduction {
        Reduction::None => cx.check_dims(&gradient, &[rows])?,
        _ => cx.check_dims(&gradient, &[])?,
    }
    if out.is_empty() {
        return Ok(());
    }
    let compute = DataType::Float32;
    let (logs, gradient) = (cx.cast(logs, compute)?, cx.cast(gradient, compute)?);
    let logs = cx.dense(logs)?;
    let each = cx.temporary(compute, &[rows])?;
    match parts.reduction {
        Reduction::Mean => {
            // The weights of the rows that count.
            let (unused, weights) = (
                cx.temporary(compute, &[rows])?,
                cx.temporary(compute, &[rows])?,
            );
            let kernel = Rows {
                backward: false,
                ..parts.kernel
            };
            let mut inputs = vec![Some(logs), Some(parts.target)];
            inputs.extend(parts.weight.map(Some));
            cx.kernel(Box::new(kernel), &inputs, &[unused, weights], false)?;
            let total = reduce_kept(cx, "ReduceSum", weights, &[0])?;
            let operands = [Operand::Tensor(gradient), Operand::Tensor(total)];
            cx.map(F::Div, compute, &operands, each)?;
        }
        _ => cx.copy(gradient, each)?,
    }
    let mut inputs = vec![Some(logs), Some(parts.target)];
    inputs.extend(parts.weight.map(Some));
    inputs.push(Some(each));
    let result = cx.temporary(compute, out.dims())?;
    let kernel = Rows {
        backward: true,
        ..parts.kernel
    };
    cx.kernel(Box::new(kernel), &inputs, &[result], false)?;
    cx.copy(result, out)
}
