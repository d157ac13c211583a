//! Classification losses: negative log likelihood and cross entropy.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::{LATEST, attrs_alike};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, InferCx, InputDef, OnnxForm, OnnxNode, OpError, Operator, OutputDef,
    PrepareCx, TensorType, Types,
};

/// No class is named by this number: ONNX may leave out which one to ignore.
const NOTHING: i64 = i64::MIN;

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "NLLLoss",
        onnx: &[OnnxForm::new(
            "NegativeLogLikelihoodLoss",
            12,
            LATEST,
            |builder, node| {
                Ok(vec![builder.node(
                    "NLLLoss",
                    node.inputs(),
                    attrs(node, "NLLLoss")?,
                )?])
            },
        )],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("target", Types::INDEX),
            InputDef::optional("weight", Types::FLOAT),
        ],
        // The Graph Engine's operator returns the sum of the weights, too; it is not supported yet.
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::str("reduction", "mean"),
            AttrDef::int("ignore_index", -100),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| Ok(vec![infer(cx)?]),
        prepare: |cx| generic_kernel(cx, Loss::new(cx, false)?, &[0, 2], &[0]),
    },
    &Operator {
        name: "SoftmaxCrossEntropyLoss",
        onnx: &[OnnxForm::new(
            "SoftmaxCrossEntropyLoss",
            12,
            LATEST,
            |builder, node| {
                let attrs = attrs(node, "SoftmaxCrossEntropyLoss")?;
                builder.add_node(
                    "SoftmaxCrossEntropyLoss",
                    node.inputs(),
                    attrs,
                    node.outputs.max(1),
                )
            },
        )],
        inputs: &[
            InputDef::required("scores", Types::FLOAT),
            InputDef::required("labels", Types::INDEX),
            InputDef::optional("weights", Types::FLOAT),
        ],
        outputs: &[OutputDef { name: "loss" }, OutputDef { name: "log_prop" }],
        attrs: &[
            AttrDef::int("ignore_index", 0),
            AttrDef::str("reduction", "mean"),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| Ok(vec![infer(cx)?, cx.input(0)?.clone()]),
        prepare: |cx| generic_kernel(cx, Loss::new(cx, true)?, &[0, 2], &[0, 1]),
    },
];

fn attrs(node: &OnnxNode<'_>, operator: &'static str) -> Result<Attrs, OpError> {
    let attrs = attrs_alike(node, operator)?;
    Ok(match attrs.get("ignore_index") {
        Some(_) => attrs,
        None => attrs.with("ignore_index", NOTHING),
    })
}

fn infer(cx: &InferCx<'_>) -> Result<TensorType, OpError> {
    let (x, target) = (cx.input(0)?, cx.input(1)?);
    let dtype: DataType = cx.same_types([0, 2])?;
    let reduced = match cx.attrs().str("reduction")? {
        "none" => false,
        "mean" | "sum" => true,
        other => {
            return Err(OpError::invalid(format!(
                "reduction is {other}; it must be none, mean or sum"
            )));
        }
    };
    if let (Some(rank), Some(own)) = (x.rank(), target.rank()) {
        let wanted: Vec<i64> = x
            .shape
            .iter()
            .enumerate()
            .filter(|(axis, _)| *axis != 1)
            .map(|(_, &dim)| dim)
            .collect();
        let differ = |a: i64, b: i64| a >= 0 && b >= 0 && a != b;
        if rank < 2
            || own != rank - 1
            || target
                .shape
                .iter()
                .zip(&wanted)
                .any(|(&a, &b)| differ(a, b))
        {
            return Err(OpError::invalid(format!(
                "targets of {target} do not fit predictions of {x}"
            )));
        }
        let weights =
            |ty: &TensorType| !matches!(ty.shape[..], [size] if !differ(size, x.shape[1]));
        if cx.has(2) && cx.input(2)?.rank().is_some() && weights(cx.input(2)?) {
            return Err(OpError::invalid(format!(
                "the weights are {}, and there are {} classes",
                cx.input(2)?,
                x.shape[1]
            )));
        }
    }
    Ok(if reduced {
        TensorType::new(dtype, [])
    } else {
        TensorType {
            dtype,
            shape: target.shape.clone(),
        }
    })
}

struct Loss {
    batch: usize,
    classes: usize,
    inner: usize,
    ignore: i64,
    /// Whether each loss is kept, and whether their sum is divided by the weights.
    each: bool,
    mean: bool,
    /// Whether scores become logarithms of probabilities first.
    softmax: bool,
}

impl Loss {
    fn new(cx: &PrepareCx<'_>, softmax: bool) -> Result<Loss, OpError> {
        let shape = cx.shape(0)?;
        Ok(Loss {
            batch: shape[0],
            classes: shape[1],
            inner: shape[2..].iter().product(),
            ignore: cx.attrs().int("ignore_index")?,
            each: cx.attrs().str("reduction")? == "none",
            mean: cx.attrs().str("reduction")? == "mean",
            softmax,
        })
    }
}

impl Algorithm for Loss {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, targets, weights, out) =
            (io.input(0)?, io.ints(1)?, io.optional(2)?, io.output(0)?);
        let logs = io.wanted(1)?;
        let (mut sum, mut total) = (W::zero(), W::zero());
        for batch in 0..self.batch {
            for inner in 0..self.inner {
                let row = x.stepped(
                    batch * self.classes * self.inner + inner,
                    self.classes,
                    self.inner,
                );
                let mut shift = W::zero();
                if self.softmax {
                    let most = row.fold(W::LOWEST, |most, x| most.most(x));
                    shift = most + row.fold(W::zero(), |sum, x| sum + (x - most).exp()).ln();
                }
                if let Some(logs) = logs {
                    let to = logs.stepped(
                        batch * self.classes * self.inner + inner,
                        self.classes,
                        self.inner,
                    );
                    to.map1(row, |x| x - shift);
                }
                let at = batch * self.inner + inner;
                let target = targets.get(at);
                let mut loss = W::zero();
                if target != self.ignore {
                    let class = usize::try_from(target)
                        .ok()
                        .filter(|&class| class < self.classes);
                    let class = class.ok_or_else(|| {
                        OpError::data(format!(
                            "the target {target} is not one of {} classes",
                            self.classes
                        ))
                    })?;
                    let weight = weights.map_or(W::one(), |weights| weights.get(class));
                    loss = (shift - row.get(class)) * weight;
                    sum += loss;
                    total += weight;
                }
                if self.each {
                    out.set(at, loss);
                }
            }
        }
        if !self.each {
            out.set(0, if self.mean { sum / total } else { sum });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("losses");
    }

    #[test]
    fn classes_that_are_not_there_are_refused() {
        refuse(
            "NLLLoss",
            &[noise(&[1, 3], 1), i64s(&[1], &[3])],
            none(),
            "target 3",
        );
        refuse(
            "NLLLoss",
            &[noise(&[1, 3], 1), i64s(&[2], &[0, 0])],
            none(),
            "do not fit",
        );
    }
}
