//! Softsign: `x / (1 + abs(x))`.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Softsign",
    onnx: &[OnnxForm::new("Softsign", 1, LATEST, |builder, node| {
        plain(builder, node, "Softsign")
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| real_map(cx, Function),
}];

#[derive(Clone, Copy)]
struct Function;

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        x / (A::of(1.0) + x.abs())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-4.0, -0.5, 0.0, 0.7, 4.0]);
        check(
            "Softsign",
            &[x],
            none(),
            &f32s(&[5], &[-0.8, -0.333_333_34, 0.0, 0.411_764_7, 0.8]),
        );
    }
}
