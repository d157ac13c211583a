//! The margin of the labels of an example above its other classes.

use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use super::super::dense::{Body, Real, bad_data, run};
use super::super::normalization::reduction;
use super::super::reduction::{accumulator, without_dims};
use crate::Refusal;
use crate::build::Cx;

/// Inputs: scores and labels of examples; a negative label ends the list. Outputs: the loss of each example or of all, and for
/// each class whether it is a label.
struct Multilabel {
    classes: usize,
    kind: i64,
}

impl Body for Multilabel {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, target) = (call.input::<T>(0)?.flat(), call.input::<i64>(1)?.flat());
        let (out, labels) = (call.output::<T>(0)?.flat(), call.output::<T>(1)?.flat());
        labels.fill(T::of(0.0));
        let classes = self.classes;
        let examples = x.len() / classes;
        let mut total = 0.0;
        for example in 0..examples {
            let first = example * classes;
            let mut count = 0;
            while count < classes && target.get(first + count) >= 0 {
                let label = target.get(first + count);
                let Some(class) = usize::try_from(label).ok().filter(|&own| own < classes) else {
                    return Err(bad_data(format!(
                        "aclnnMultilabelMarginLoss: the label {label} names none of {classes} classes"
                    )));
                };
                labels.set(first + class, T::of(1.0));
                count += 1;
            }
            let mut sum = 0.0;
            for entry in 0..count {
                let own = x.get(first + target.get(first + entry) as usize).number();
                for class in 0..classes {
                    if labels.get(first + class).number() == 0.0 {
                        sum += (1.0 - own + x.get(first + class).number()).max(0.0);
                    }
                }
            }
            let loss = sum / classes as f64;
            if self.kind == 0 {
                out.set(example, T::of(loss));
            }
            total += loss;
        }
        match self.kind {
            0 => {}
            1 => out.set(0, T::of(total / examples as f64)),
            _ => out.set(0, T::of(total)),
        }
        Ok(())
    }
}

pub(super) fn multilabel(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, target) = (cx.tensor("self")?, cx.tensor("target")?);
    let (out, labels) = (cx.out("out")?, cx.out("isTarget")?);
    cx.check_dims(&target, x.dims())?;
    cx.check_dims(&labels, x.dims())?;
    if x.rank() > 2 || x.is_empty() {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}; at most 2 dimensions, none of them 0, are required",
            x.dims()
        )));
    }
    let classes = x.dims().last().copied().unwrap_or(1);
    cx.check_types(&target, &[DataType::Int64, DataType::Int32])?;
    let kind = reduction(cx)?;
    let examples = &x.dims()[..x.rank().saturating_sub(1)];
    let out = match kind {
        0 => out,
        _ => without_dims(out),
    };
    cx.check_dims(&out, if kind == 0 { examples } else { &[] })?;
    let compute = accumulator(x.dtype());
    run(
        cx,
        compute,
        Multilabel { classes, kind },
        &[(x, compute), (target, DataType::Int64)],
        &[(out, compute), (labels, compute)],
    )
}
