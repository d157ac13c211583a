//! Inverse hyperbolic sine.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Asinh",
    onnx: &[OnnxForm::new("Asinh", 9, LATEST, |builder, node| {
        plain(builder, node, "Asinh")
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
        x.asinh()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-2.0, -0.5, 0.0, 0.7, 10.0]);
        check(
            "Asinh",
            &[x],
            none(),
            &f32s(
                &[5],
                &[-1.443_635_5, -0.481_211_8, 0.0, 0.652_666_57, 2.998_223],
            ),
        );
    }
}
