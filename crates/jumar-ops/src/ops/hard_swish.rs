//! Hard swish: the product of `x` and its hard sigmoid.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, between, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "HardSwish",
    onnx: &[OnnxForm::new("HardSwish", 14, LATEST, |builder, node| {
        plain(builder, node, "HardSwish")
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
        x * between(x / A::of(6.0) + A::of(0.5), A::of(0.0), A::of(1.0))
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-4.0, -0.5, 0.0, 0.7, 4.0]);
        check(
            "HardSwish",
            &[x],
            none(),
            &f32s(&[5], &[-0.0, -0.208_333_33, 0.0, 0.431_666_67, 4.0]),
        );
    }
}
