//! Reciprocal: `1 / x`.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Reciprocal",
    onnx: &[OnnxForm::new("Reciprocal", 6, LATEST, |builder, node| {
        plain(builder, node, "Reciprocal")
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
        A::of(1.0) / x
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[4], &[-4.0, -0.5, 0.7, 4.0]);
        check(
            "Reciprocal",
            &[x],
            none(),
            &f32s(&[4], &[-0.25, -2.0, 1.428_571_5, 0.25]),
        );
    }
}
