//! Inverse hyperbolic tangent.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Atanh",
    onnx: &[OnnxForm::new("Atanh", 9, LATEST, |builder, node| {
        plain(builder, node, "Atanh")
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
        x.atanh()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[4], &[-0.9, -0.5, 0.0, 0.7]);
        check(
            "Atanh",
            &[x],
            none(),
            &f32s(&[4], &[-1.472_219_3, -0.549_306_15, 0.0, 0.867_300_5]),
        );
    }
}
