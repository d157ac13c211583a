//! The logistic function.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Sigmoid",
    onnx: &[OnnxForm::new("Sigmoid", 6, LATEST, |builder, node| {
        plain(builder, node, "Sigmoid")
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| real_map(cx, Function),
}];

/// The logistic function of one number.
#[inline(always)]
pub(super) fn logistic<A: Float>(x: A) -> A {
    // exp of minus the size never overflows.
    let e = (-x.abs()).exp();
    let y = A::of(1.0) / (A::of(1.0) + e);
    if x < A::of(0.0) { e * y } else { y }
}

#[derive(Clone, Copy)]
struct Function;

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        logistic(x)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[4], &[0.0, 2.0, -2.0, -200.0]);
        check(
            "Sigmoid",
            &[x],
            none(),
            &f32s(&[4], &[0.5, 0.880_797_1, 0.119_202_92, 0.0]),
        );
    }
}
