//! Arc sine, in radians.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Asin",
    onnx: &[OnnxForm::new("Asin", 7, LATEST, |builder, node| {
        plain(builder, node, "Asin")
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
        x.asin()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[4], &[-0.9, -0.6, 0.0, 0.7]);
        check(
            "Asin",
            &[x],
            none(),
            &f32s(&[4], &[-1.119_769_5, -0.643_501_16, 0.0, 0.775_397_5]),
        );
    }
}
