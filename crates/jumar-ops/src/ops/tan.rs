//! Tangent of an angle in radians.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Tan",
    onnx: &[OnnxForm::new("Tan", 7, LATEST, |builder, node| {
        plain(builder, node, "Tan")
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
        x.tan()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-1.0, -0.5, 0.0, 0.7, 1.2]);
        check(
            "Tan",
            &[x],
            none(),
            &f32s(
                &[5],
                &[-1.557_407_7, -0.546_302_5, 0.0, 0.842_288_4, 2.572_152],
            ),
        );
    }
}
