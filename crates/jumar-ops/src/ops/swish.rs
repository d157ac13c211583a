//! Swish: `x * sigmoid(scale * x)`.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Swish",
    onnx: &[],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::float("scale", 1.0)],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        real_map(
            cx,
            Function {
                scale: cx.attrs().float("scale")?,
            },
        )
    },
}];

#[derive(Clone, Copy)]
struct Function {
    scale: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        x * super::sigmoid::logistic(A::of(self.scale.into()) * x)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-4.0, -0.5, 0.0, 0.7, 4.0]);
        check(
            "Swish",
            &[x],
            none().with("scale", 2.0f32),
            &f32s(
                &[5],
                &[
                    -0.001_341_400_6,
                    -0.134_470_72,
                    0.0,
                    0.561_528_7,
                    3.998_658_7,
                ],
            ),
        );
    }
}
