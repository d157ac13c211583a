//! One step of training: Adagrad, Adam and momentum. An ONNX node for several tensors becomes a node for each.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::attrs_alike;
use crate::{
    Aliasing, AttrDef, Builder, InferCx, InputDef, OnnxForm, OnnxNode, OpError, Operator,
    OutputDef, TensorType, Types, ValueRef,
};

const REAL: Types = Types::of(&[DataType::Float32, DataType::Float64]);
const R: InputDef = InputDef::required("r", REAL);
const T: InputDef = InputDef::required("t", Types::of(&[DataType::Int64]));
const X: InputDef = InputDef::required("x", REAL);
const G: InputDef = InputDef::required("gradient", REAL);
const STATE: InputDef = InputDef::required("state", REAL);
const X_NEW: OutputDef = OutputDef { name: "x_new" };
const STATE_NEW: OutputDef = OutputDef { name: "state_new" };
const NORM: AttrDef = AttrDef::float("norm_coefficient", 0.0);
const EPSILON: AttrDef = AttrDef::float("epsilon", 1e-6);

// Named after ONNX's: the Graph Engine's operators of these kinds write their inputs, and take other numbers.
pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.Adagrad",
        onnx: &[OnnxForm::new(
            "Adagrad",
            1,
            crate::onnx::LATEST,
            |builder, node| lower(builder, node, "jumar.Adagrad", 1),
        )],
        inputs: &[R, T, X, G, STATE],
        outputs: &[X_NEW, STATE_NEW],
        attrs: &[AttrDef::float("decay_factor", 0.0), EPSILON, NORM],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx, 1),
        prepare: |cx| {
            let (attrs, decay) = (cx.attrs(), cx.attrs().float("decay_factor")?.into());
            let rule = Rule::Adagrad {
                decay,
                epsilon: attrs.float("epsilon")?.into(),
            };
            generic_kernel(
                cx,
                Update {
                    rule,
                    norm: attrs.float("norm_coefficient")?.into(),
                },
                &[0, 2, 3, 4],
                &[0, 1],
            )
        },
    },
    &Operator {
        name: "jumar.Momentum",
        onnx: &[OnnxForm::new(
            "Momentum",
            1,
            crate::onnx::LATEST,
            |builder, node| lower(builder, node, "jumar.Momentum", 1),
        )],
        inputs: &[R, T, X, G, STATE],
        outputs: &[X_NEW, STATE_NEW],
        attrs: &[
            AttrDef::float("alpha", 0.0),
            AttrDef::float("beta", 0.0),
            NORM,
            AttrDef::str("mode", "standard"),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx, 1),
        prepare: |cx| {
            let attrs = cx.attrs();
            let nesterov = match attrs.str("mode")? {
                "standard" => false,
                "nesterov" => true,
                other => {
                    return Err(OpError::invalid(format!(
                        "mode is {other}; it must be standard or nesterov"
                    )));
                }
            };
            let rule = Rule::Momentum {
                alpha: attrs.float("alpha")?.into(),
                beta: attrs.float("beta")?.into(),
                nesterov,
            };
            generic_kernel(
                cx,
                Update {
                    rule,
                    norm: attrs.float("norm_coefficient")?.into(),
                },
                &[0, 2, 3, 4],
                &[0, 1],
            )
        },
    },
    &Operator {
        name: "jumar.Adam",
        onnx: &[OnnxForm::new(
            "Adam",
            1,
            crate::onnx::LATEST,
            |builder, node| lower(builder, node, "jumar.Adam", 2),
        )],
        inputs: &[R, T, X, G, STATE, InputDef::required("squares", REAL)],
        outputs: &[
            X_NEW,
            STATE_NEW,
            OutputDef {
                name: "squares_new",
            },
        ],
        attrs: &[
            AttrDef::float("alpha", 0.9),
            AttrDef::float("beta", 0.999),
            EPSILON,
            NORM,
            AttrDef::float("norm_coefficient_post", 0.0),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx, 2),
        prepare: |cx| {
            let attrs = cx.attrs();
            let rule = Rule::Adam {
                alpha: attrs.float("alpha")?.into(),
                beta: attrs.float("beta")?.into(),
                epsilon: attrs.float("epsilon")?.into(),
                post: attrs.float("norm_coefficient_post")?.into(),
            };
            generic_kernel(
                cx,
                Update {
                    rule,
                    norm: attrs.float("norm_coefficient")?.into(),
                },
                &[0, 2, 3, 4, 5],
                &[0, 1, 2],
            )
        },
    },
];

fn infer(cx: &InferCx<'_>, states: usize) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.same_types(2..4 + states)?;
    for index in 0..2 {
        if cx.input(index)?.elements().is_some_and(|count| count != 1) {
            return Err(OpError::invalid(format!(
                "input {index} is {}; it has to hold one number",
                cx.input(index)?
            )));
        }
    }
    let x = cx.input(2)?;
    for index in 3..4 + states {
        let other = cx.input(index)?;
        if x.elements().is_some() && other.elements().is_some() && x.shape != other.shape {
            return Err(OpError::invalid(format!(
                "input {index} is {other}; it must have the shape of {x}"
            )));
        }
    }
    Ok(vec![
        TensorType {
            dtype,
            shape: x.shape.clone()
        };
        1 + states
    ])
}

/// Inputs come as rate and count, all tensors, all gradients, all states; outputs likewise.
fn lower(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
    states: usize,
) -> Result<Vec<ValueRef>, OpError> {
    let attrs = attrs_alike(node, operator)?;
    let given = node.inputs().len();
    let (parts, rest) = (
        given.saturating_sub(2) / (2 + states),
        given.saturating_sub(2) % (2 + states),
    );
    if parts == 0 || rest != 0 {
        return Err(OpError::invalid(format!(
            "{given} inputs are not a rate, a count and {} for each tensor",
            2 + states
        )));
    }
    let mut results = vec![Vec::new(); 1 + states];
    for part in 0..parts {
        let mut inputs = vec![node.optional(0), node.optional(1)];
        inputs.extend((0..2 + states).map(|kind| node.optional(2 + kind * parts + part)));
        let outputs = builder.add_node(operator, &inputs, attrs.clone(), 1 + states)?;
        results
            .iter_mut()
            .zip(outputs)
            .for_each(|(list, value)| list.push(value));
    }
    Ok(results.concat())
}

enum Rule {
    Adagrad {
        decay: f64,
        epsilon: f64,
    },
    Momentum {
        alpha: f64,
        beta: f64,
        nesterov: bool,
    },
    Adam {
        alpha: f64,
        beta: f64,
        epsilon: f64,
        post: f64,
    },
}

struct Update {
    rule: Rule,
    norm: f64,
}

impl Algorithm for Update {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (rate, count) = (io.input(0)?.get(0).f64(), io.ints(1)?.get(0) as f64);
        let (x, gradient, state) = (io.input(2)?, io.input(3)?, io.input(4)?);
        let squares = io.optional(5)?;
        let (x_new, state_new, squares_new) = (io.output(0)?, io.wanted(1)?, io.wanted(2)?);
        let rate = W::of(match self.rule {
            Rule::Adagrad { decay, .. } => rate / (1.0 + count * decay),
            Rule::Adam { alpha, beta, .. } if count > 0.0 => {
                rate * (1.0 - beta.powf(count)).sqrt() / (1.0 - alpha.powf(count))
            }
            _ => rate,
        });
        for at in 0..x.len() {
            let (x, old) = (x.get(at), state.get(at));
            let gradient = W::of(self.norm) * x + gradient.get(at);
            let (new, next) = match self.rule {
                Rule::Adagrad { epsilon, .. } => {
                    let new = old + gradient * gradient;
                    (new, x - rate * gradient / (new.sqrt() + W::of(epsilon)))
                }
                Rule::Momentum {
                    alpha,
                    beta,
                    nesterov,
                } => {
                    let weight = if count > 0.0 { W::of(beta) } else { W::one() };
                    let new = W::of(alpha) * old + weight * gradient;
                    (
                        new,
                        x - rate
                            * if nesterov {
                                gradient + W::of(alpha) * new
                            } else {
                                new
                            },
                    )
                }
                Rule::Adam {
                    alpha,
                    beta,
                    epsilon,
                    post,
                } => {
                    let new = W::of(alpha) * old + W::of(1.0 - alpha) * gradient;
                    let old = squares.map_or(W::zero(), |squares| squares.get(at));
                    let square = W::of(beta) * old + W::of(1.0 - beta) * gradient * gradient;
                    if let Some(to) = squares_new {
                        to.set(at, square);
                    }
                    (
                        new,
                        (x - rate * new / (square.sqrt() + W::of(epsilon))) * W::of(1.0 - post),
                    )
                }
            };
            x_new.set(at, next);
            if let Some(to) = state_new {
                to.set(at, new);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::cases;

    #[test]
    fn agrees_with_onnx_reference() {
        cases("optimizers");
    }
}
