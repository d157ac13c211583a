//! Mish: `x * tanh(softplus(x))`.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Mish",
    onnx: &[OnnxForm::new("Mish", 18, LATEST, |builder, node| {
        plain(builder, node, "Mish")
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
        // tanh(ln(1 + e^x)) = (e^2x + 2e^x) / (e^2x + 2e^x + 2), which overflows only where it is one.
        if x > A::of(20.0) {
            return x;
        }
        let e = x.exp();
        let most = e * (e + A::of(2.0));
        x * (most / (most + A::of(2.0)))
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[7], &[-9.0, -4.0, -0.5, 0.0, 0.7, 4.0, 100.0]);
        check(
            "Mish",
            &[x],
            none(),
            &f32s(
                &[7],
                &[
                    -0.001_110_619_7,
                    -0.072_591_744,
                    -0.220_743_78,
                    0.0,
                    0.561_148_35,
                    3.997_413,
                    100.0,
                ],
            ),
        );
    }
}
