//! The error function.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Erf",
    onnx: &[OnnxForm::new("Erf", 9, LATEST, |builder, node| {
        plain(builder, node, "Erf")
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
        x.erf()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[7], &[-3.0, -1.0, -0.1, 0.0, 0.5, 1.0, 2.5]);
        check(
            "Erf",
            &[x],
            none(),
            &f32s(
                &[7],
                &[
                    -0.999_977_9,
                    -0.842_700_8,
                    -0.112_462_915,
                    0.0,
                    0.520_499_9,
                    0.842_700_8,
                    0.999_593,
                ],
            ),
        );
    }
}
