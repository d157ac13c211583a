//! Parametric rectified linear unit: `x` above zero, `slope * x` below, with a slope for each channel or element.

use crate::kernels::elementwise::{PairFunction, infer_pair, pair};
use crate::kernels::number::Number;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InferCx, InputDef, OnnxForm, OpError, Operator, TensorType, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "PRelu",
    onnx: &[OnnxForm::new("PRelu", 7, LATEST, |builder, node| {
        plain(builder, node, "PRelu")
    })],
    inputs: &[
        InputDef::required("x", Types::NUMBER),
        InputDef::required("weight", Types::NUMBER),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer,
    prepare: |cx| pair(cx, Function),
}];

/// The factor is repeated to the input's shape, and never the other way round.
fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let input = cx.input(0)?;
    let joined = infer_pair(cx)?.remove(0);
    let grows = |(own, joined): (&i64, &i64)| *own >= 0 && *joined >= 0 && own != joined;
    let wider = input
        .rank()
        .zip(joined.rank())
        .is_some_and(|(own, joined)| joined > own);
    if wider || input.shape.iter().zip(&joined.shape).any(grows) {
        return Err(OpError::invalid(format!(
            "the weight {} is larger than the input {input}",
            cx.input(1)?
        )));
    }
    Ok(vec![input.clone()])
}

#[derive(Clone, Copy)]
struct Function;

impl PairFunction for Function {
    #[inline(always)]
    fn apply<T: Number>(&self, a: T, b: T) -> T {
        if a < T::default() { a.mul(b) } else { a }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 2], &[-1.0, -2.0, 3.0, -4.0]);
        let weight = f32s(&[2], &[0.5, 0.25]);
        check(
            "PRelu",
            &[x.clone(), weight],
            none(),
            &f32s(&[2, 2], &[-0.5, -0.5, 3.0, -1.0]),
        );
        refuse(
            "PRelu",
            &[f32s(&[2], &[1.0, 2.0]), x],
            none(),
            "larger than the input",
        );
    }
}
