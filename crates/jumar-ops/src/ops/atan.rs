//! Arc tangent, in radians.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Atan",
    onnx: &[OnnxForm::new("Atan", 7, LATEST, |builder, node| {
        plain(builder, node, "Atan")
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
        x.atan()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-2.0, -0.5, 0.0, 0.7, 10.0]);
        check(
            "Atan",
            &[x],
            none(),
            &f32s(
                &[5],
                &[-1.107_148_8, -0.463_647_6, 0.0, 0.610_725_94, 1.471_127_6],
            ),
        );
    }
}
