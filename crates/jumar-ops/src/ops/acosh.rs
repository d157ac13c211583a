//! Inverse hyperbolic cosine.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Acosh",
    onnx: &[OnnxForm::new("Acosh", 9, LATEST, |builder, node| {
        plain(builder, node, "Acosh")
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
        x.acosh()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[4], &[1.0, 1.5, 2.0, 10.0]);
        check(
            "Acosh",
            &[x],
            none(),
            &f32s(&[4], &[0.0, 0.962_423_6, 1.316_958, 2.993_223]),
        );
    }
}
