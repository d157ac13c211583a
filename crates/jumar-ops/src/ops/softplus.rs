//! Softplus: `log(1 + exp(x))`.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Softplus",
    onnx: &[OnnxForm::new("Softplus", 1, LATEST, |builder, node| {
        plain(builder, node, "Softplus")
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
        let low = if x < A::of(0.0) { x } else { -x };
        let high = if x > A::of(0.0) { x } else { A::of(0.0) };
        // exp of minus the size never overflows.
        high + low.exp().ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-10.0, -0.5, 0.1, 0.7, 200.0]);
        check(
            "Softplus",
            &[x],
            none(),
            &f32s(
                &[5],
                &[0.000_045_398_898, 0.474_077, 0.744_396_7, 1.103_186, 200.0],
            ),
        );
    }
}
