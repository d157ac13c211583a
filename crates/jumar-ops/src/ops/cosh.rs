//! Hyperbolic cosine.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Cosh",
    onnx: &[OnnxForm::new("Cosh", 9, LATEST, |builder, node| {
        plain(builder, node, "Cosh")
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
        x.cosh()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-2.0, -0.5, 0.0, 0.7, 3.0]);
        check(
            "Cosh",
            &[x],
            none(),
            &f32s(&[5], &[3.762_195_6, 1.127_626, 1.0, 1.255_169, 10.067_662]),
        );
    }
}
